"""Every command that the pages on the lab show runs, with few replicates."""

import shlex
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest
from _helpers.made_up_sets import write_set
from _helpers.pages import DOCS, commands, text_of

from stakes.cli.main import main
from stakes.lab.catalogue import find
from stakes.lab.replicate import blot_uci, exact_band_coverage, weighting_uci
from stakes.lab.shipped import FOLDER, shipped

GUIDES = ("docs/howto/reproduce.md", "docs/explanation/what_we_found.md")
SHOWN = [(guide, command) for guide in GUIDES for command in commands(text_of(guide))]
ON_DATA = [command for _, command in SHOWN if "--data" in command]
FEW = ("--scale", "0.002", "--jobs", "1")


def few(command):
    """Return what to hand to the command line, with few replicates where it measures."""
    name, *arguments = shlex.split(command)
    assert name == "stakes"
    if arguments[:2] != ["lab", "run"]:
        return arguments
    if "--scale" in arguments:
        at = arguments.index("--scale")
        del arguments[at : at + 2]
    return [*arguments, *FEW]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return one folder for all commands: what was measured is there for the next."""
    return tmp_path_factory.mktemp("lab")


def test_the_guides_show_commands():
    assert len(SHOWN) >= 10
    assert len(ON_DATA) == 2


@pytest.mark.parametrize(
    ("guide", "command"), [each for each in SHOWN if each[1] not in ON_DATA], ids=str
)
def test_a_command_runs(guide, command, kept, monkeypatch, capsys):  # noqa: ARG001 - guide names it
    monkeypatch.chdir(kept)
    for name in ("CONDITIONS", "FINE", "WIDE"):  # which take the same time at any scale
        monkeypatch.setattr(exact_band_coverage, name, np.array([0.05, 0.5]))
    code = main(few(command))
    said = capsys.readouterr()
    assert code == 0, said.err
    assert said.out or "Wrote" in said.err


def test_figures_are_where_the_guide_draws_them(kept):
    assert list(kept.rglob("*.svg"))


@pytest.mark.parametrize("command", ON_DATA)
def test_a_command_that_reads_data_names_the_file_that_is_missing(command, folder, stakes):
    arguments = few(command)
    (folder / arguments[arguments.index("--data") + 1]).mkdir()
    said = stakes(*arguments)
    assert said.code == 2
    assert "lung.csv: there is no such file" in said.err
    assert "archive.ics.uci.edu" in said.err


@pytest.mark.parametrize("command", ON_DATA)
def test_a_command_that_reads_data_runs_on_made_up_data(command, folder, stakes, monkeypatch):
    for module in (weighting_uci, blot_uci):
        one = {"dataset": ("iris",), "fold": (0, 1)}
        smaller = replace(module.EXPERIMENT, varies=one, printed=())
        monkeypatch.setattr(module, "EXPERIMENT", smaller)
    weighting_uci.loaded.cache_clear()
    arguments = few(command)
    data = folder / arguments[arguments.index("--data") + 1]
    data.mkdir()
    write_set(data, "iris")
    said = stakes(*arguments)
    assert said.code == 0, said.err
    assert "2 cells" in said.out


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.parquet")))
def test_the_command_of_a_page_of_results_is_understood(name, folder, stakes, monkeypatch):
    spec = spec_from_file_location("results_page", DOCS / "results_page.py")
    results_page = module_from_spec(spec)
    spec.loader.exec_module(results_page)
    results = shipped(name)
    (command,) = commands(results_page.page_of(find(name), results, {}))
    asked = []

    def answered(experiment, **options):
        asked.append((experiment.name, options["scale"], options["seed"]))
        return results

    monkeypatch.setattr("stakes.lab.engine.run", answered)
    (folder / "FOLDER").mkdir()
    said = stakes(*shlex.split(command)[1:])
    assert said.code == 0, said.err
    assert asked == [(name, results.scale, results.seed)]
