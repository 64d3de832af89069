"""Errors name the arguments that cannot be used, whatever their content."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import stakes
from stakes import (
    CostCurve,
    CostMatrix,
    CostRanges,
    DecisionCurve,
    ExampleCosts,
    ScoreCounts,
    cost_sensitivity,
    evaluate,
    evaluate_by,
    evaluate_over,
    find_slices,
    simulate,
    study_of,
)
from stakes.curves import best_of
from stakes.errors import InputError, InputTypeError, LabelError, RefusedInputError
from stakes.learn import class_weights

Y = np.tile([0, 1, 1], 20)
PRED = np.tile([0, 1, 0, 1, 1], 12)
COSTS = CostMatrix.from_errors(false_positive=1, false_negative=5)
EACH = ExampleCosts.from_matrix(COSTS, Y, np.ones(60))
FRAME = pd.DataFrame({"actual": Y, "pred_a": PRED})
ALONE = np.array(1)
COUNTS = ScoreCounts.from_scores(Y, np.linspace(0, 1, 60))
TABLE = stakes.Confusion([[50, 3], [4, 30]], labels=[0, 1])


@pytest.mark.parametrize("name", ["groups", "strata", "sample_weight"])
@pytest.mark.parametrize("given", [np.arange(60), pd.Series(np.arange(60)), ["a"] * 60, 3])
def test_with_a_frame_rows_are_described_by_columns(name, given):
    with pytest.raises(InputTypeError, match="expected the name of a column") as caught:
        study_of(FRAME, costs=COSTS, **{name: given})
    assert caught.value.argument == name


@pytest.mark.parametrize("path", ["p.csv", stakes.read.files.Path("p.csv")])
def test_paths_are_no_predictions(path, tmp_path):
    said = r"got the path 'p\.csv'\. Read the file into a data frame"
    for call, name in (
        (lambda: study_of(path, costs=COSTS), "y_true"),
        (lambda: study_of(path, COSTS), "y_true"),
        (lambda: stakes.report(path, COSTS, out=tmp_path / "r.html"), "data"),
    ):
        with pytest.raises(InputTypeError, match=said) as caught:
            call()
        assert caught.value.argument == name


@pytest.mark.parametrize("columns", [dict, pd.DataFrame])
def test_whole_numbers_that_no_column_holds_are_refused(columns):
    rows = columns({"actual": Y, "pred_a": PRED, "unused": [10**30, *[1] * 59]})
    with pytest.raises(InputError, match="a column cannot be read"):
        study_of(rows, costs=COSTS)


def test_a_frame_is_no_column():
    with pytest.raises(InputTypeError, match=r"column 'pred_a': .*got a data frame"):
        study_of({"actual": Y, "pred_a": FRAME}, costs=COSTS)


UNFIT = {
    "y_true": lambda: evaluate(3, PRED, EACH),
    "y_pred": lambda: evaluate(Y, ALONE, COSTS),
    "by": lambda: evaluate_by(Y, PRED, COSTS, by=ALONE),
    "columns": lambda: evaluate_by(Y, PRED, COSTS, by={"a": Y}, columns=ALONE),
    "time": lambda: evaluate_over(Y, PRED, COSTS, time=ALONE),
    "frame": lambda: find_slices(ALONE, Y, PRED, COSTS),
    "curves": lambda: best_of(ALONE),
    "prevalence": lambda: DecisionCurve(COUNTS, prevalence=5e-324),
    "harm": lambda: DecisionCurve(COUNTS, harm=1e308),
    "smooth": lambda: simulate.coverage("normal", TABLE, COSTS, n=50, smooth=1e308),
    "steps": lambda: cost_sensitivity(
        Y, {"a": PRED}, CostRanges.around(COSTS, 2), cell=(0, 1), steps=10**6
    ),
    "confidence": lambda: evaluate(Y, PRED, COSTS).interval(1e-300),
}


@pytest.mark.parametrize("name", UNFIT)
def test_unfit_arguments_are_named(name):
    with pytest.raises(RefusedInputError) as caught:
        UNFIT[name]()
    assert caught.value.argument == name


@pytest.mark.parametrize(
    "y", [[0, 1, float("nan"), 1], [Decimal(0), Decimal(1), Decimal("nan"), Decimal(1)]]
)
def test_classes_to_weigh_are_known(y):
    with pytest.raises(LabelError, match="y: the label at position 2 is missing"):
        class_weights(y, COSTS)


def test_a_confidence_may_be_a_fraction():
    third = Fraction(1, 3)
    ranges = CostRanges.around(COSTS, 2)
    path = {"cell": (0, 1), "rng": 0}
    found, same = (
        cost_sensitivity(Y, {"a": PRED, "b": Y}, ranges, confidence=each, **path)
        for each in (third, float(third))
    )
    assert found.summary() == same.summary()
    assert found.to_dict() == same.to_dict()
    at = CostCurve(COUNTS).at(0.3, confidence=third)
    assert type(at.confidence) is float
    assert "33.33% confidence" in at.summary()


def test_rows_of_one_example_that_disagree_are_numbered():
    rows = {
        "model": ["a"] * 40 + ["b"] * 40,
        "actual": [0, 1] * 20 + [0, 1] * 19 + [0, 0],
        "pred": [0, 1] * 40,
    }
    with pytest.raises(RefusedInputError, match="for the row 40 one has"):
        study_of(rows, costs=COSTS, model_column="model")


def test_results_have_no_minus_zero():
    study = study_of(
        {"actual": Y, "pred_a": Y, "stratum": np.arange(60)}, costs=COSTS, strata="stratum"
    )
    text = study.verdict().text
    assert "the cheapest, 0 per decision (0 to" in text


def test_long_values_are_cut_in_errors():
    long = "x" * 3_000_000
    with pytest.raises(LabelError) as caught:
        evaluate(["ok", long], ["ok", "bad"], CostMatrix.zero_one(["ok", "bad"]))
    assert len(str(caught.value)) < 5_000
    assert "'xxx" in str(caught.value)
    assert "is not among the classes: 'ok', 'bad'" in str(caught.value)
