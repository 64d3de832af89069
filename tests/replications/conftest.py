"""Fixtures: a working folder, a toy experiment, and the command, run in this process."""

import sys
import warnings
from dataclasses import dataclass, replace
from importlib import import_module
from types import SimpleNamespace

import pytest
from _helpers.toy_experiment import TOY

from replications.__main__ import main


@dataclass(frozen=True)
class Said:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the working folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    return tmp_path


@pytest.fixture(scope="session", autouse=True)
def _matplotlib():
    """Load matplotlib without the warnings of old versions about new dependencies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module("matplotlib.pyplot")


@pytest.fixture
def replications(folder, capsys):  # noqa: ARG001 - commands run in the folder
    """Return a function that runs a command, and returns its exit code and output."""

    def run(*arguments):
        capsys.readouterr()
        try:
            code = main([str(each) for each in arguments])
        except SystemExit as stop:  # raised by argparse
            code = stop.code
        return Said(code, *capsys.readouterr())

    return run


def draw_toy(results):
    """Draw the toy experiment, for the commands that draw figures."""
    plt = import_module("matplotlib.pyplot")
    figure, axes = plt.subplots()
    axes.plot([row["value"] for row in results.rows])
    return {"figure-1": figure}


@pytest.fixture
def toy(monkeypatch, tmp_path_factory):
    """Replace all experiments by the toy experiment, and return it."""
    experiment = replace(TOY, draw=draw_toy, stand_ins=["A random number stands in for the coin."])
    module = SimpleNamespace(EXPERIMENT=experiment)
    monkeypatch.setitem(sys.modules, "replications.experiments.toy", module)
    monkeypatch.setattr("replications.catalogue.NAMES", ("toy",))
    findings = tmp_path_factory.mktemp("findings")
    text = "# Findings of toy\n\n- Two \\*sides\\* are both up\n  a quarter of the time.\n"
    (findings / "toy.md").write_text(text)
    monkeypatch.setattr("replications.store.FINDINGS", findings)
    return experiment
