"""What the README and the reference say is so."""

import re
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

import stakes
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
    assert capsys.readouterr().out == shown[1]


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
    assert "automodule:: stakes.errors" in reference


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
