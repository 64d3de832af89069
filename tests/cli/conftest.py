"""Fixtures: a folder with predictions and costs, and the command line, run in this process."""

import io
import sys
import warnings
from dataclasses import dataclass
from importlib import import_module

import numpy as np
import pytest

from stakes.cli.main import main

COSTS = "predicted\\actual,ok,fraud\nok,0,100\nfraud,10,0\n"
MODELS = {"old": 1.0, "logistic": 0.6, "tree": 0.8}


@dataclass(frozen=True)
class Said:
    """Exit code and output of a command."""

    code: int
    out: str
    err: str


def predictions(n, seed, models=MODELS):
    """Return the text of a CSV file of payments, some of them fraud."""
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < 0.3
    columns = {"id": [f"p{i}" for i in range(n)], "actual": names(fraud)}
    for model, noise in models.items():
        score = (1 / (1 + np.exp(-2 * (fraud - 0.5 + rng.normal(0, noise, n))))).round(4)
        columns[model] = names(score > 0.5)
        columns[f"{model}_score"] = score
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


def names(fraud):
    return np.where(fraud, "fraud", "ok").tolist()


@pytest.fixture
def payments():
    """Return the function that generates predictions."""
    return predictions


@pytest.fixture
def drawn():
    """Return a function that generates predictions of rows with groups, weights and amounts."""

    def made(n, seed, *, divided=False):
        header, *rows = predictions(n, seed).splitlines()
        more = [f"{row},p{i // 2},c{i // 3},{1 + i % 4},{20 + i}" for i, row in enumerate(rows)]
        header += ",patient,customer,weight,amount"
        if divided:
            header += ",decided_at,region,channel"
            when = [f"2026-0{1 + i % 3}-11,{'ab'[i % 2]},{'cde'[i % 3]}" for i in range(n)]
            more = [f"{row},{each}" for row, each in zip(more, when, strict=True)]
        return "\n".join([header, *more]) + "\n"

    return made


def decided(n, seed):
    """Return the text of a CSV file of scores and two models' decisions, few of them fraud."""
    rng = np.random.default_rng(seed)
    score = rng.beta(0.1, 20, n).round(6)
    columns = zip(range(n), score, names(score > 0.1), names(score > 0.01), strict=True)
    return "\n".join(["id,score,a,b", *(",".join(map(str, row)) for row in columns)]) + "\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the working folder, which has predictions.csv and costs.csv."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("NO_COLOR", raising=False)
    (tmp_path / "predictions.csv").write_text(predictions(60, seed=1))
    (tmp_path / "costs.csv").write_text(COSTS)
    return tmp_path


@pytest.fixture(scope="session", autouse=True)
def _matplotlib():
    """Load matplotlib without the warnings of old versions about new dependencies."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import_module("matplotlib.pyplot")


@pytest.fixture
def stakes(folder, capsys, monkeypatch):  # noqa: ARG001 - commands run in the folder
    """Return a function that runs a command, and returns its exit code and output."""

    def run(*arguments, stdin=b""):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        code = main([str(each) for each in arguments])
        return Said(code, *capsys.readouterr())

    return run


@pytest.fixture
def label_file(folder, stakes):
    """Return a function that writes a file of decisions, and a file of labels of some rows."""

    def made(n, name):
        (folder / "rows.csv").write_text(decided(n, seed=3))
        plan = f"-q audit plan rows.csv -c costs.csv -m a -s score --id id --labels 60 -o {name}"
        assert stakes(*plan.split()).code == 0
        header, *rows = (folder / name).read_text().splitlines()
        (folder / name).write_text("\n".join([header, *(f"{row}ok" for row in rows)]) + "\n")

    return made
