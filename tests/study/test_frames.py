"""Data frames of any library give the same study as the file, with the same notes."""

import warnings

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import stakes
from stakes import CostMatrix, datasets, study_of
from stakes.errors import InputError, InputTypeError, InputWarning
from stakes.predictions import Columns
from stakes.study import study_of_files

COSTS = datasets.load_breast_cancer_costs()


class Quiet:
    """Is told the progress and does nothing."""

    def expect(self, steps):
        pass

    step = reach = expect


@pytest.fixture(scope="module")
def of_file():
    return study_of_files(["examples/breast_cancer.csv"], COSTS, Columns(), Quiet())


FRAMES = {
    "dict": lambda _: datasets.load_breast_cancer_predictions(),
    "pandas": lambda frame: frame,
    "pandas with an index": lambda frame: frame.sample(frac=1, random_state=0),
    "pandas categories": lambda frame: frame.astype({"actual": "category"}),
    "polars": pl.from_pandas,
    "polars lazy": lambda frame: pl.from_pandas(frame).lazy(),
    "pyarrow": pa.Table.from_pandas,
    "duckdb": lambda frame: duckdb.from_arrow(pa.Table.from_pandas(frame)),
}


@pytest.mark.parametrize("made", FRAMES.values(), ids=FRAMES)
def test_every_frame_gives_what_the_file_gives(of_file, made):
    frame = datasets.load_breast_cancer_predictions(as_frame=True)
    study = study_of(made(frame), COSTS)
    assert study.joint == of_file.joint
    assert study.joint_scores == of_file.joint_scores
    assert study.roles == of_file.roles
    assert study.notes == of_file.notes


def test_columns_and_designs_are_named():
    frame = pd.DataFrame({
        "is_bad": [0, 1, 0, 1] * 30, "rule": [0, 1, 1, 1] * 30, "who": np.repeat(range(60), 2),
        "weight": [1.0, 2.0] * 60, "loss": [5.0, 7.0] * 60,
    })  # fmt: skip
    costs = {"false_positive": 1, "false_negative": "loss"}
    study = study_of(
        frame, costs, actual="is_bad", models=["rule"], groups="who", sample_weight="weight",
        class_names={0: "good", 1: "bad"},
    )  # fmt: skip
    assert study.roles.design.used() == {
        "groups": "who", "sample_weight": "weight", "false_negative": "loss",
    }  # fmt: skip
    assert study.costs.labels == ("good", "bad")
    assert study.names == ("rule",)


def test_what_may_be_wrong_is_a_warning():
    frame = {"patient": [1, 1, 2, 2] * 9, "actual": [0, 0, 0, 1] * 9, "pred": [0, 0, 1, 1] * 9}
    mistakes = {"false_positive": 1, "false_negative": 5}
    with pytest.warns(InputWarning, match="values of 'patient' repeat"):
        study_of(frame, mistakes)
    reversed_scores = {"y": [0, 1] * 30, "score": [0.9, 0.2] * 30}
    with pytest.warns(InputWarning, match="rank worse than chance"):
        study_of(reversed_scores, mistakes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        study_of(frame, mistakes, groups="patient")
        study_of(reversed_scores, mistakes, lower_is_positive=["score"])


def test_what_cannot_be_is_refused():
    with pytest.raises(InputError, match=r"which column has the actual classes.*actual="):
        study_of({"a": [0, 1], "b": [1, 0]}, {"false_positive": 1, "false_negative": 5})
    with pytest.raises(InputTypeError, match="costs are missing"):
        study_of({"y": [0, 1], "pred": [1, 0]})
    with pytest.raises(InputTypeError, match="it is about the columns of a data frame"):
        study_of([0, 1], {"m": [0, 1]}, COSTS, actual="y")
    with pytest.raises(InputError, match="a column cannot be read"):
        study_of({"y": [0, 1], "pred": [1]}, COSTS)
    with pytest.raises(InputTypeError, match="a study has its costs"):
        stakes.report(study_of({"y": [0, 1], "pred": [1, 0]}, CostMatrix.zero_one([0, 1])), COSTS)
    as_text = pd.DataFrame({"y": ["0", "1"], "pred": [0, 1]})  # in a frame, text is not a number
    with pytest.raises(InputError):
        study_of(as_text, CostMatrix.zero_one([0, 1]))


def test_one_call_writes_the_report(tmp_path):
    frame = datasets.load_breast_cancer_predictions(as_frame=True)
    page = tmp_path / "report.html"
    study = stakes.report(
        frame, COSTS, out=page, unit="USD", title="Tumours", noun="tumours", baseline="tree"
    )
    text = page.read_text(encoding="utf-8")
    assert '<h1 class="name">Tumours</h1>' in text
    assert "285 tumours" in text
    assert study.policies.reference == "tree"
    assert study.report(tmp_path / "again.html", unit="USD") is study
    shown = study.show(height=500, unit="USD")._repr_html_()
    assert 'height="500"' in shown
    assert "<script" not in shown  # the page is the text of an attribute


def test_a_study_is_shown_in_ten_lines():
    rows = {"y": [0, 1] * 20} | {f"pred_{name}": [0, 1] * 20 for name in "abcdefghij"}
    study = study_of(rows, {"false_positive": 1, "false_negative": 5})
    assert len(repr(study).splitlines()) <= 10
    assert "and 4 more" in repr(study)
    assert study._repr_html_().count("<tr>") == 11
