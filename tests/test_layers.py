"""Imports go one way, without cycles, and importing stakes loads nothing heavy."""

import ast
import subprocess
import sys

from _helpers.sources import SOURCE, cycles, imports, tree

import stakes

# Each layer may import those before it, and itself.
LAYERS = [
    {"errors", "_core"},
    {"read"},
    {"costs"},
    {"counts"},
    # Predictions are turned into counts: they import the counts, and the counts do not import them.
    {"predictions"},
    {"measures"},
    {"infer", "curves"},
    {"learn", "simulate", "datasets", "audit"},
    {"policies"},
    {"study"},
    {"findings"},
    {"show"},
    {"cli", "track", "__main__", "_pytest"},
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
    """Return the number of a module's layer; the package itself is above all."""
    room = module.split(".")[1] if "." in module else None
    return next((i for i, names in enumerate(LAYERS) if room in names), len(LAYERS) - 1)


def test_every_room_has_a_layer():
    rooms = {module.split(".")[1] for module in imports() if "." in module}
    assert rooms <= set().union(*LAYERS)


def test_a_module_imports_only_its_own_layer_and_those_below():
    upward = [
        f"{module} imports {each}"
        for module in sorted(set(imports()) - {"stakes"})
        for each in sorted(imports()[module])
        if layer_of(each) > layer_of(module)
    ]
    assert upward == []


def test_no_modules_import_one_another():
    assert cycles(imports()) == []


def test_cycles_are_found():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set(), "e": {"d", "f"}, "f": {"e"}}
    assert cycles(graph) == [["b", "c"], ["e", "f"]]


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


def test_a_command_loads_only_what_it_needs(tmp_path):
    (tmp_path / "a.csv").write_text("actual,a\nok,ok\nfraud,ok\nfraud,fraud\n")
    unneeded = [
        "pandas",
        "pyarrow.compute",
        "pydantic",
        "rich",
        "scipy.optimize",
        "stakes.audit",
        "stakes.infer.slices",
        "stakes.show.report",
    ]
    code = (
        "import sys; from stakes.cli.main import main; "
        "assert not main('evaluate a.csv --fp 1 --fn 9 --pos-label fraud'.split()); "
        f"print([name for name in {unneeded} if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert result.stdout.splitlines()[-1] == "[]"


def test_modules_import_names_from_where_they_are_defined():
    """A name of a room that loads its names when they are used would load all of them."""
    rooms = {f"stakes.{path.parent.name}" for path in SOURCE.glob("*/__init__.pyi")} | {"stakes"}
    assert "stakes.infer" in rooms
    for path in SOURCE.rglob("*.py"):
        for node in tree(path).body:
            assert getattr(node, "module", None) not in rooms, (path, node.lineno)


def test_results_of_other_rooms_name_arguments():
    code = (
        "import stakes; stakes.study_of; from stakes.infer.estimate import CostEstimate; "
        "print(hasattr(CostEstimate.interval, '__wrapped__'))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.split() == ["True"]


def test_every_public_name_exists_and_is_documented():
    assert stakes.__all__ == sorted(stakes.__all__)
    for name in stakes.__all__:
        assert getattr(stakes, name).__doc__, name


def file_access(path):
    """Iterate over calls that open files, and over what of pyarrow reads and writes them."""
    for node in ast.walk(tree(path)):
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
