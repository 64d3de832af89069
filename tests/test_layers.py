"""Imports go one way, and importing stakes loads nothing heavy."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import stakes

SOURCE = Path(stakes.__file__).parent

# Each layer may import those before it, and itself.
LAYERS = [
    {"errors", "_core"},
    {"read"},
    {"costs", "counts"},
    {"measures"},
    {"infer", "curves"},
    {"study"},
    {"findings"},
    {"show"},
    {"learn", "simulate"},
    {"cli", "track"},
]
HEAVY = [
    "altair",
    "jinja2",
    "matplotlib",
    "narwhals",
    "numba",
    "pandas",
    "polars",
    "pyarrow",
    "pyspark",
    "scipy",
    "sklearn",
    "typer",
]
ARROW_FILES = {"csv", "dataset", "feather", "fs", "ipc", "json", "orc", "parquet"}


def layer_of(module):
    return next(i for i, names in enumerate(LAYERS) if module.split(".")[1] in names)


def imported_by(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("stakes"):
            if node.module == "stakes":
                yield from (f"stakes.{name.name}" for name in node.names)
            else:
                yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names if name.name.startswith("stakes."))


@pytest.mark.parametrize(
    "path",
    [path for path in SOURCE.rglob("*.py") if path.parent / path.name != SOURCE / "__init__.py"],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_a_module_imports_only_its_own_layer_and_those_below(path):
    module = ".".join(["stakes", *path.relative_to(SOURCE).with_suffix("").parts])
    for imported in imported_by(path):
        assert layer_of(imported) <= layer_of(module), f"{module} imports {imported}"


def test_the_package_knows_nothing_of_the_replications():
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [each.name for each in getattr(node, "names", [])]
            named = [getattr(node, "module", None) or "", *names]
            assert not any(name.split(".")[0] == "replications" for name in named), path


def test_importing_stakes_loads_no_heavy_library():
    code = f"import sys, stakes; print([name for name in {HEAVY} if name in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"


def test_submodules_load_when_they_are_first_used():
    code = "import stakes; print(stakes.errors.__name__, stakes.show.cost_table.__name__)"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["stakes.errors", "cost_table"]
    assert {"errors", "show"} <= set(stakes.__all__)


def test_every_public_name_exists_and_is_documented():
    assert stakes.__all__ == sorted(stakes.__all__)
    for name in stakes.__all__:
        assert getattr(stakes, name).__doc__, name


def file_access(path):
    """Iterate over calls that open files, and over what of pyarrow reads and writes them."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call):
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            yield from {called} & {"open", "read_bytes", "write_bytes"}
        elif isinstance(node, ast.Import | ast.ImportFrom):
            module = getattr(node, "module", None) or ""
            for each in node.names:
                package, *names = f"{module}.{each.name}".strip(".").split(".")
                if package == "pyarrow":
                    yield from set(names) & ARROW_FILES


def test_only_read_touches_files():
    for path in SOURCE.rglob("*.py"):
        if path.parent.name != "read":
            assert not list(file_access(path)), path
    assert "parquet" in file_access(SOURCE / "read" / "checksums.py")
