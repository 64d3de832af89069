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


def test_what_is_not_judged_is_a_warning_and_in_what_is_shown():
    frame = {"y": [0, 1] * 20, "pred_a": [0, 1] * 20, "python": [0, 1, 1, 0] * 10}
    mistakes = {"false_positive": 1, "false_negative": 5}
    with pytest.warns(InputWarning, match=r"Not judged: python \(it could be .* with models=") as w:
        study = study_of(frame, mistakes)
    assert len(w) == 1
    assert w[0].filename == __file__
    assert "Not judged: python (it could be a model's decisions or a feature)." in repr(study)
    assert "Not judged: python (it could be a model" in study._repr_html_()
    assert study.policies.unjudged == {"python": "it could be a model's decisions or a feature"}
    assert "Not judged" not in repr(study_of(frame, mistakes, models=["pred_a"]))


@pytest.mark.parametrize("as_mapping", [False, True])
def test_decisions_and_scores_are_paired_by_a_name(as_mapping):
    frame = {"y": [0, 1] * 20, "today": [0, 1] * 20, "points": range(40), "risk": range(40)}
    given = {"models": ["old=today"], "scores": ["old=points", "new=risk"]}
    if as_mapping:
        given = {"models": {"old": "today"}, "scores": {"old": "points", "new": "risk"}}
    study = study_of(frame, {"false_positive": 1, "false_negative": 5}, **given)
    assert [(each.name, each.decisions, each.scores) for each in study.roles.models] == [
        ("old", "today", "points"), ("new", None, "risk"),
    ]  # fmt: skip


def test_names_of_models_have_no_equals_sign():
    for given in ({"a=b": "pred"}, {"": "pred"}):
        with pytest.raises((InputError, InputTypeError), match=r"models|there is no column"):
            study_of({"y": [0, 1], "pred": [1, 0]}, COSTS, models=given)


def test_rows_that_are_left_out_are_counted_by_reason():
    frame = pd.DataFrame({"y": [0, 1, None, 1] * 20, "pred": [0, 1, 1, None] * 20})
    study = study_of(frame, {"false_positive": 1, "false_negative": 5}, drop_missing=True)
    assert study.n == 40
    assert study.rows_left_out == {"another missing value": 20, "no actual class": 20}
    again = type(study).from_counts(study.counts(), "counts", study.costs)
    assert again.rows_left_out == study.rows_left_out
    assert "40 of 80 rows lack a value and are left out." in again.notes
    assert "40 examples (40 rows left out), 1 model" in repr(study)


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
    with pytest.warns(InputWarning, match="Not judged: python"):
        study = study_of(rows | {"python": [0] * 40}, {"false_positive": 1, "false_negative": 5})
    assert len(repr(study).splitlines()) <= 10
    assert "and 5 more" in repr(study)
