"""The claims of the README and the reference are true."""

import ast
import inspect
import re
from importlib import import_module
from pathlib import Path

import pyarrow.parquet
import pytest
from _helpers.pages import written
from _helpers.sources import SOURCE, tree

import stakes
from stakes import CostMatrix, evaluate
from stakes.cli.main import main

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
DIRECTIVE = r"\.\. (?:currentmodule|automodule):: (\S+)"
MODULES = re.findall(f"^{DIRECTIVE}$", REFERENCE, flags=re.MULTILINE)


def exported():
    """Return the classes and functions that stakes and its rooms export, by their full names."""
    rooms = [f"stakes.{each}" for each in stakes.__all__ if inspect.ismodule(getattr(stakes, each))]
    modules = map(import_module, dict.fromkeys(["stakes", *rooms, *MODULES]))
    every = {}
    for module in modules:
        names = getattr(module, "__all__", None) or [
            name
            for name, each in vars(module).items()
            if getattr(each, "__module__", "") == module.__name__ and not name.startswith("_")
        ]
        every |= {f"{module.__name__}.{name}": getattr(module, name) for name in names}
    return {
        name: each
        for name, each in every.items()
        if inspect.isroutine(each) or inspect.isclass(each)
    }


def documented():
    """Return what the reference has entries for."""
    every = []
    module = ""
    for line in REFERENCE.splitlines():
        if current := re.fullmatch(DIRECTIVE, line):
            module = current[1]
        elif entry := re.fullmatch(r"   (\w+)", line):
            every.append(getattr(import_module(module), entry[1]))
    return [*every, *(each for each in vars(stakes.errors).values() if inspect.isclass(each))]


def test_the_readme_shows_the_real_output_of_the_demo(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    assert (tmp_path / "stakes-demo.html").stat().st_size > 500_000
    shown = re.search(r"```text\n(.*?)```", README, flags=re.DOTALL)
    assert shown is not None
    assert f"\n\n{shown[1]}\n" in capsys.readouterr().out  # the whole table


def test_the_readme_shows_the_coverage_that_was_measured():
    kept = pyarrow.parquet.read_table(ROOT / "replications" / "results" / "bcost-coverage.parquet")
    rows = kept.select(["method", "measure", "value"]).to_pylist()

    def values(method, measure):
        return [
            100 * row["value"]
            for row in rows
            if (row["method"], row["measure"]) == (method, measure)
        ]

    rare = "coverage where rare mistakes cost more than λ allows for"
    measured = {}
    for method, name in [("extremal", "the default"), ("bcost", "BCOST"), ("normal", "mean")]:
        every = values(method, "coverage of a matrix")
        assert len(every) == 260
        shown = (sum(every) / len(every), *values(method, rare), min(every))
        measured[name] = [f"{each:.1f}" for each in shown]
    assert evaluate([0, 1], [0, 1], CostMatrix.zero_one([0, 1])).interval().method == "extremal"
    row = r"^\| (the default|BCOST|mean)[^|]*\|([^|]+)\|([^|]+)\|([^|]+)\|$"
    table = re.findall(row, README, flags=re.MULTILINE)
    assert {name: [each.strip() for each in numbers] for name, *numbers in table} == measured


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_and_pictures_lead_to_files_that_exist(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)|(?:src|href)=\"([^\"]+)\"", text)
    inside = [link for pair in targets for link in pair if link and "://" not in link]
    assert name != "README.md" or len(inside) > 10
    assert [link for link in inside if not (ROOT / link).exists()] == []


def section(link):
    """Return the part of a page that a link of the table of peers leads to."""
    page, _, anchor = link.partition("#")
    text = (ROOT / "docs" / "explanation" / page).read_text(encoding="utf-8")
    if not anchor:
        return text
    parts = re.split(r"^#+ (.+)$", text, flags=re.MULTILINE)
    anchors = [re.sub(r"[^\w -]", "", each).lower().replace(" ", "-") for each in parts[1::2]]
    return parts[2 + 2 * anchors.index(anchor)]


def test_every_entry_of_the_table_of_peers_leads_to_what_it_claims():
    page = (ROOT / "docs" / "explanation" / "peers.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1:-1] for line in page.splitlines() if line.startswith("| ")][1:]
    links = [[re.findall(r"\]\((.+?)\)", cell) for cell in row] for row in rows]
    for (what, ours, *others), (_, *marks) in zip(links, rows, strict=True):
        assert not what
        assert all(mark.strip() == "–" or "](" in mark for mark in marks)
        assert re.search(r"^(>>>|\$ stakes) ", section(*ours), flags=re.MULTILINE)
        for link in (link for cell in others for link in cell):
            assert link.startswith("../howto/coming_from.md#")
            assert "| you used |" in section(link)


def test_every_command_of_the_documents_is_a_target_of_make():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    for document in (README, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        named = set(re.findall(r"^\$ make ([a-z-]+)", document, flags=re.MULTILINE))
        assert named
        assert named <= targets


def test_the_map_of_the_code_names_every_room_once():
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rooms = re.findall(r"^\| `(\w+)/` \|", text, flags=re.MULTILINE)
    packages = {path.parent.name for path in ROOT.glob("src/stakes/*/__init__.py")}
    assert len(rooms) == len(set(rooms))
    assert set(rooms) == packages
    named = re.findall(r"`([\w/]+/(?:\w+\.\w+)?|\w+\.py)`", text)
    places = [ROOT, ROOT / "src" / "stakes"]
    missing = [path for path in named if not any((each / path).exists() for each in places)]
    assert missing == []


def test_every_public_name_has_a_reference_entry():
    entries = documented()
    assert [name for name, each in exported().items() if each not in entries] == []
    assert "automodule:: stakes.errors" in REFERENCE


def test_what_people_copy_uses_nothing_private():
    scripts = [
        *ROOT.glob("docs/gallery_src/*.py"),
        *ROOT.glob("docs/case_studies_src/*.py"),
        *ROOT.glob("examples/*.py"),
    ]
    assert len(scripts) > 15
    for path in (*scripts, *(ROOT / page for page in written())):
        private = r"(?:from|import) stakes[\w.]*\._\w+|from stakes[\w.]* import \(?\s*_\w+"
        assert re.findall(private, path.read_text(encoding="utf-8")) == [], path


def cited(text):
    """Return the first author and the year of each source that a docstring has under References."""
    section = re.search(
        r"^References\n-+\n(.*?)(?=^\w[\w ]*\n-{3,}|\Z)", text, re.DOTALL | re.MULTILINE
    )
    items = re.split(r"\n\s*\n", section[1].strip()) if section else []
    parts = [re.match(r"(.+?)(?:,| &| et al\.| \()[^(]*\(?(\d{4})\)", each) for each in items]
    return [part.groups() for part in parts]


def test_the_bibliography_has_what_the_docstrings_cite():
    page = (ROOT / "docs" / "reference" / "bibliography.md").read_text(encoding="utf-8")
    known = set(re.findall(r"^: ([^,]+),[^(]*\((\d{4})\)", page, flags=re.MULTILINE))
    assert len(known) == page.count("\n: ")
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    found = {
        each
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(tree(path))
        if isinstance(node, documented)
        for each in cited(ast.get_docstring(node) or "")
    }
    assert len(found) > 30
    assert found - known == set()
