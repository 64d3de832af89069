"""What the README and the reference say is so."""

import re
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pyarrow.parquet
import pytest
from pages import written

import stakes
from stakes import CostMatrix, evaluate
from stakes.cli.main import main

ROOT = Path(__file__).parent.parent
MODULES = {name for name in stakes.__all__ if isinstance(getattr(stakes, name), ModuleType)}
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_readme_shows_the_real_output_of_the_demo(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo"]) == 0
    assert (tmp_path / "stakes-demo.html").stat().st_size > 500_000
    shown = re.search(r"```text\n(.*?)```", README, flags=re.DOTALL)
    assert shown is not None
    assert f"\n\n{shown[1]}\n" in capsys.readouterr().out  # the whole table


def test_the_readme_shows_the_coverage_that_the_lab_measured():
    kept = pyarrow.parquet.read_table(ROOT / "docs" / "lab_results" / "bcost-coverage.parquet")
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


def test_every_command_of_the_documents_is_a_target_of_make():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, flags=re.MULTILINE))
    for document in (README, (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")):
        named = set(re.findall(r"^\$ make ([a-z-]+)", document, flags=re.MULTILINE))
        assert named
        assert named <= targets


def test_every_public_name_has_a_reference_entry():
    reference = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    entries = set(re.findall(r"^   (\w+)$", reference, flags=re.MULTILINE))
    assert set(stakes.__all__) - MODULES - entries == set()
    assert all(f"show.{name}" in reference for name in stakes.show.__all__)
    assert all(f"learn.{name}" in reference for name in stakes.learn.__all__)
    assert all(f"lab.{name}" in reference for name in stakes.lab.__all__)
    assert "automodule:: stakes.errors" in reference


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


# Made by a function or a method, whose example shows them.
RESULTS = {
    "AverageCurve",
    "Band",
    "BestCurve",
    "CheapestProbability",
    "CostAt",
    "CostSensitivity",
    "Design",
    "Flip",
    "FlipRegion",
    "Pair",
    "Plan",
    "Power",
    "Range",
    "Rates",
    "RocPoints",
    "TestResult",
    "ThresholdChoice",
}


@pytest.mark.parametrize("name", sorted(set(stakes.__all__) - MODULES))
def test_every_public_name_has_a_runnable_example(name):
    text = getattr(stakes, name).__doc__
    assert ">>> " in text or name in RESULTS


def test_the_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {stakes.__version__}\n" in citation
    assert version("stakes") == stakes.__version__
