"""The study of the UCI data sets, on made-up data of their kind."""

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = Path(__file__).parents[2] / "examples" / "uci_trees.py"


@pytest.fixture(scope="module")
def script():
    return runpy.run_path(str(SCRIPT))


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    size = rng.normal(size=40)
    lines = ["size,colour,class"]
    for number, value in enumerate(size):
        colour = "" if number % 9 == 0 else ["red", "blue"][int(value + rng.normal() > 0)]
        field = "" if number == 3 else f"{value:.2f}"
        lines.append(f"{field},{colour},{1 + int(value > 0)}")
    (tmp_path / "iris.csv").write_text("\n".join(lines) + "\n")
    rare = ["x,class", *["1,a"] * 6, *["2,b"] * 5, *["3,c"] * 7]
    (tmp_path / "abalone.csv").write_text("\n".join(rare) + "\n")
    return tmp_path


def test_reads_discrete_and_missing_values(script, folder):
    data = script["read"](folder, "iris")
    assert data.discrete.tolist() == [False, True]
    assert np.isnan(data.X).sum(axis=0).tolist() == [1, 5]
    assert set(data.y) == {"1", "2"}
    encoded = data.one_hot()
    assert encoded.shape == (40, 3)
    assert (encoded[:, 1:].sum(axis=1) == ~np.isnan(data.X[:, 1])).all()


def test_leaves_out_rare_classes(script, folder):
    assert script["read"](folder, "abalone").y.tolist() == ["a"] * 6 + ["c"] * 7


def test_draws_the_cost_models_of_the_thesis(script):
    y = np.array(["a"] * 90 + ["b"] * 10)
    drawn = list(script["cost_matrices"](y, 0))
    assert len(drawn) == 200
    highest = {}
    for model, costs in drawn:
        highest[model] = np.maximum(highest.get(model, 0), costs.values)
    assert highest["M1"] == pytest.approx(np.array([[0, 10], [10, 0]]), rel=0.2)
    # Calling a rare b an a is dear in M5, and cheap in M6.
    assert highest["M5"] == pytest.approx(np.array([[0, 9000], [1000 / 9, 0]]), rel=0.2)
    assert highest["M6"] == pytest.approx(np.array([[0, 1000 / 9], [9000, 0]]), rel=0.2)
    assert highest["M8"] == pytest.approx(np.array([[10, 100], [100, 10]]), rel=0.2)


def test_counts_verdicts(script, folder, tmp_path, monkeypatch, capsys):
    pytest.importorskip("numba")
    out = tmp_path / "results.json"
    options = ["--sets", "iris", "--folds", "2", "--bags", "2", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["uci_trees.py", str(folder), *options])
    script["main"]()
    result = json.loads(out.read_text())["iris"]
    assert (result["rows"], result["classes"]) == (40, 2)
    for counts in result["verdicts"].values():
        assert sum(counts.pop("all")) == 400
        assert all(sum(each) == 50 for each in counts.values())
    told = capsys.readouterr().out
    assert "B-LOT / B-PET λ=1/K" in told
    assert "information" not in told


def test_counts_verdicts_by_information(script, folder, tmp_path, monkeypatch, capsys):
    pytest.importorskip("numba")
    out = tmp_path / "results.json"
    options = ["--sets", "iris", "--folds", "2", "--bags", "2", "--matrices", "2"]
    options += ["--information", "10", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["uci_trees.py", str(folder), *options])
    script["main"]()
    verdicts = json.loads(out.read_text())["iris"]["verdicts"]
    assert [sum(counts["all"]) for counts in verdicts.values()] == [32] * 9
    assert "B-LOT information / B-LOT" in capsys.readouterr().out
