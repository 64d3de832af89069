"""The tutorial works as written, in an empty folder; its Python runs with the other pages.

`make reader-test` does the same with the wheel, in a separate environment.
"""

import importlib.util
import re
import shlex
import sys
from pathlib import Path

import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB

from stakes.cli.main import main

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tutorial" / "index.md").read_text(encoding="utf-8")

spec = importlib.util.spec_from_file_location("reader_test", ROOT / "tools" / "reader_test.py")
reader_test = importlib.util.module_from_spec(spec)
sys.modules["reader_test"] = reader_test  # its dataclasses look up their module here
spec.loader.exec_module(reader_test)


def test_its_commands_print_what_it_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, *others = reader_test.steps(PAGE)
    assert first.command == "pip install 'stakes[cli,report]'"
    assert len(others) >= 5
    for step in others:
        name, *arguments = shlex.split(step.command)
        assert name == "stakes"
        assert main(arguments) == 0
        printed = capsys.readouterr().out
        assert step.agrees(printed), f"$ {step.command}\n{printed}"
    assert (tmp_path / "report.html").stat().st_size > 500_000


def test_the_files_that_it_shows_begin_like_this(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--files"]) == 0
    predictions, costs = re.findall(r"```text\n(.*?)```", PAGE, flags=re.DOTALL)
    assert Path("breast_cancer.csv").read_text(encoding="utf-8").startswith(predictions)
    assert Path("breast_cancer_costs.csv").read_text(encoding="utf-8") == costs


def test_what_it_writes_from_scikit_learn_is_a_file_of_predictions(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (shown,) = re.findall(r"```py\n(.*?)```", PAGE, flags=re.DOTALL)
    data = load_breast_cancer()
    X_test, y_test = data.data[:100], data.target_names[data.target[:100]]  # noqa: N806
    model = GaussianNB().fit(X_test, y_test)
    exec(shown, {"pd": pd, "model": model, "X_test": X_test, "y_test": y_test})  # noqa: S102 - ours
    assert main(["demo", "--files"]) == 0
    assert main(["report", "predictions.csv", "--costs", "breast_cancer_costs.csv"]) == 0


@pytest.mark.parametrize(
    ("shown", "printed", "agree"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "b\n", False),
        ("...\nb\n", "1\n2\nb\n", True),
        ("...\nb\n", "1\n2\nc\n", False),
        ("", "", True),
        ("", "a\n", False),
    ],
)
def test_a_page_that_shows_something_else_is_found_out(shown, printed, agree):
    (step,) = reader_test.steps(f"```console\n$ stakes demo\n{shown}```\n")
    assert step.command == "stakes demo"
    assert step.agrees(printed) == agree
