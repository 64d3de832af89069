"""Every command shown on the pages on replications runs, with few replicates."""

import shlex
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np
import pytest
from _helpers.made_up_sets import write_set
from _helpers.pages import DOCS, commands, text_of

from replications.__main__ import main
from replications.catalogue import find
from replications.experiments import blot_uci, exact_band_coverage, weighting_uci
from replications.experiments.shared import classifier
from replications.store import RESULTS, kept_results

GUIDES = ("docs/howto/reproduce.md", "docs/explanation/what_we_found.md")
SHOWN = [(guide, command) for guide in GUIDES for command in commands(text_of(guide))]
ON_DATA = [command for _, command in SHOWN if "--data" in command]
FEW = ("--scale", "0.002", "--jobs", "1")


def few(command):
    """Return what to hand to the command line, with few replicates where it measures."""
    program, arguments = shlex.split(command)[:3], shlex.split(command)[3:]
    assert program == ["python", "-m", "replications"]
    if arguments[0] != "run":
        return arguments
    if "--scale" in arguments:
        at = arguments.index("--scale")
        del arguments[at : at + 2]
    return [*arguments, *FEW]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """Return one folder for all commands: what was measured is there for the next."""
    return tmp_path_factory.mktemp("runs")


def test_the_guides_show_commands():
    assert len(SHOWN) >= 10
    assert len(ON_DATA) == 2


@pytest.mark.parametrize(
    ("guide", "command"), [each for each in SHOWN if each[1] not in ON_DATA], ids=str
)
def test_a_command_runs(guide, command, kept, monkeypatch, capsys):  # noqa: ARG001 - guide names it
    monkeypatch.chdir(kept)
    # The scale does not shorten these.
    monkeypatch.setattr(classifier, "MATRICES", 2)
    for name in ("CONDITIONS", "FINE", "WIDE"):
        monkeypatch.setattr(exact_band_coverage, name, np.array([0.05, 0.5]))
    code = main(few(command))
    said = capsys.readouterr()
    assert code == 0, said.err
    assert said.out or "Wrote" in said.err


def test_figures_are_where_the_guide_draws_them(kept):
    assert list(kept.rglob("*.svg"))


@pytest.mark.parametrize("command", ON_DATA)
def test_a_command_that_reads_data_names_the_file_that_is_missing(command, folder, replications):
    arguments = few(command)
    (folder / arguments[arguments.index("--data") + 1]).mkdir()
    said = replications(*arguments)
    assert said.code == 2
    assert "lung.csv: there is no such file" in said.err
    assert "archive.ics.uci.edu" in said.err


@pytest.mark.parametrize("command", ON_DATA)
def test_a_command_that_reads_data_runs_on_made_up_data(command, folder, replications, monkeypatch):
    for module in (weighting_uci, blot_uci):
        one = {"dataset": ("iris",), "fold": (0, 1)}
        smaller = replace(module.EXPERIMENT, varies=one, printed=())
        monkeypatch.setattr(module, "EXPERIMENT", smaller)
    weighting_uci.loaded.cache_clear()
    arguments = few(command)
    data = folder / arguments[arguments.index("--data") + 1]
    data.mkdir()
    write_set(data, "iris")
    said = replications(*arguments)
    assert said.code == 0, said.err
    assert "2 cells" in said.out


@pytest.mark.parametrize("name", sorted(path.stem for path in RESULTS.glob("*.parquet")))
def test_the_command_of_a_page_of_results_is_understood(name, folder, replications, monkeypatch):
    spec = spec_from_file_location("results_page", DOCS / "results_page.py")
    results_page = module_from_spec(spec)
    spec.loader.exec_module(results_page)
    results = kept_results(name)
    (command,) = commands(results_page.page_of(find(name), results, {}))
    asked = []

    def answered(experiment, **options):
        asked.append((experiment.name, options["scale"], options["seed"]))
        return results

    monkeypatch.setattr("replications.__main__.run", answered)
    (folder / "FOLDER").mkdir()
    said = replications(*shlex.split(command)[3:])
    assert said.code == 0, said.err
    assert asked == [(name, results.scale, results.seed)]
