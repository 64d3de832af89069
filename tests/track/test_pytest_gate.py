"""The pytest plug-in: its verdicts, its fast start, and its results in pytest's output."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import junitparser
from _helpers.pages import blocks, text_of

ROOT = Path(__file__).parents[2]
TESTS = """
COSTS = {"false_positive": 1, "false_negative": 10}

def test_cheaper(cost_gate):
    cost_gate.cheaper("new", than="old", file="predictions.csv", costs=COSTS)

def test_within_a_margin(cost_gate):
    cost_gate.cheaper("same", than="old", file="predictions.csv", costs="costs.csv", margin=5)

def test_not_shown_to_be_cheaper(cost_gate):
    cost_gate.cheaper("same", than="old", file="predictions.csv", costs=COSTS)

def test_costlier(cost_gate):
    cost_gate.not_costlier("bad", than="old", file="predictions.csv", costs=COSTS)

def test_no_such_model(cost_gate):
    cost_gate.cheaper("nobody", than="old", file="predictions.csv", costs=COSTS)

def test_columns(cost_gate):
    columns = {"is_bad": [0, 1] * 200, "pred_a": [0, 1] * 200, "pred_b": [1, 0] * 200}
    cost_gate.cheaper("a", than="b", file=columns, costs=COSTS)

def test_missing_decisions(cost_gate):
    old, new = [0, 1] * 100 + [1] * 200, [0, 1] * 150 + [None] * 100
    gaps = {"actual": [0, 1] * 200, "old": old, "new": new}
    cost_gate.not_costlier("new", than="old", file=gaps, costs=COSTS, drop_missing=True)

def test_missing_decisions_of_the_baseline(cost_gate):
    gaps = {"actual": [0, 1] * 200, "new": [0, 1] * 200, "old": [1, 0] * 150 + [None] * 100}
    cost_gate.cheaper("new", than="old", file=gaps, costs=COSTS, drop_missing=True)
"""


def environment(folder):
    """Return variables with which pytest finds the plug-in as `pyproject.toml` declares it.

    A plug-in named by `-p` as well as by installed metadata stops pytest, and metadata may be older
    than the entry point. A second distribution does neither: pytest registers a name once.
    """
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    plugins = project["entry-points"]["pytest11"]
    declared = [f"{name} = {module}" for name, module in plugins.items()]
    metadata = folder / "stakes_of_this_copy-0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Name: stakes-of-this-copy\nVersion: 0\n")
    (metadata / "entry_points.txt").write_text("\n".join(["[pytest11]", *declared]) + "\n")
    outer = {name: each for name, each in os.environ.items() if not name.startswith("PYTEST_")}
    return {**outer, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(folder)])}


def test_the_fixture_judges_and_pytest_writes_junit(tmp_path):
    rows = ["actual,pred_old,pred_new,pred_same,pred_bad"]
    rows += ["0,0,0,0,0"] * 600 + ["1,0,1,0,0"] * 60 + ["1,1,1,1,0"] * 90 + ["1,1,1,1,1"] * 50
    (tmp_path / "predictions.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "costs.csv").write_text("predicted\\actual,0,1\n0,0,10\n1,1,0\n")
    (guide,) = blocks(text_of("docs/howto/ci_gate.md"), "py")
    (tmp_path / "test_ship.py").write_text(TESTS + guide)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--junitxml=junit.xml"],
        cwd=tmp_path,
        env=environment(tmp_path / "installed"),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stdout + done.stderr
    (suite,) = junitparser.JUnitXml.fromfile(str(tmp_path / "junit.xml"))
    failed = {case.name for case in suite if case.result}
    unjudged = {"test_missing_decisions", "test_missing_decisions_of_the_baseline"}
    assert failed == {
        "test_not_shown_to_be_cheaper", "test_costlier", "test_no_such_model", *unjudged
    }  # fmt: skip
    assert done.stdout.count("could not judge") >= len(unjudged)
    assert "bad failed." in done.stdout


def test_the_plug_in_imports_nothing_heavy():
    script = (
        "import sys, stakes._pytest; "
        "print(sorted({'numpy', 'scipy', 'sklearn', 'pyarrow', 'pandas'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.strip() == "[]"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["entry-points"]["pytest11"] == {"stakes": "stakes._pytest"}
