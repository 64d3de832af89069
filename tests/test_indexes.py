"""Pandas indexes: rows in another order are aligned, rows of other examples are refused."""

import numpy as np
import pandas as pd
import pytest

from stakes import (
    BinnedScoreCounts,
    Confusion,
    CostCurve,
    CostCurveDifference,
    CostMatrix,
    CostSample,
    DecisionCurve,
    ExampleCosts,
    GroupedConfusion,
    JointConfusion,
    PairedAccumulator,
    PairedConfusion,
    PairedScoreCounts,
    ScoreCounts,
    choose_threshold,
    compare,
    compare_by,
    compare_many,
    evaluate,
    evaluate_by,
    evaluate_over,
    evaluate_rates,
    find_slices,
    study_of,
)
from stakes.errors import InputError
from stakes.learn.scorer import ExpectedCost
from stakes.measures import quadratic_loss

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=10)
OWN = ExampleCosts([[0, 1], [10, 0], [0, 1]], decisions=[0, 1])
A = pd.Series([0, 1, 0], index=[5, 6, 7])
B = pd.Series([1, 0, 0], index=[6, 5, 8])
TURNED = pd.Series([1, 0, 0], index=[6, 5, 7])
LIST = [0, 1, 0]
SCORE = pd.Series([0.1, 0.8, 0.3], index=A.index)
INDEXED = ExampleCosts.from_matrix(COSTS, A, [1, 2, 4])
ELSEWHERE = ExampleCosts(pd.DataFrame(OWN.values, index=B.index))
PROBA = pd.DataFrame([[0.5, 0.5]] * 3, index=B.index)

CASES = {
    "evaluate": ("y_pred", lambda: evaluate(A, B, COSTS)),
    "evaluate weights": ("sample_weight", lambda: evaluate(A, LIST, COSTS, sample_weight=B)),
    "evaluate groups": ("groups", lambda: evaluate(LIST, A, COSTS, groups=B)),
    "evaluate example costs": ("y_pred", lambda: evaluate(A, B, OWN)),
    "evaluate indexed costs": ("costs", lambda: evaluate(LIST, B, INDEXED)),
    "evaluate costs of a frame": ("costs", lambda: evaluate(None, A, ELSEWHERE)),
    "costs of": ("y_pred", lambda: INDEXED.of(B)),
    "decide": ("proba", lambda: INDEXED.decide(PROBA)),
    "compare": ("y_pred_2", lambda: compare(A, LIST, B, COSTS)),
    "compare example costs": ("y_pred_2", lambda: compare(A, A, B, OWN)),
    "compare_many": (
        "predictions['b']",
        lambda: compare_many(A, {"a": A, "b": B}, COSTS),
    ),
    "compare_many example costs": (
        "predictions['b']",
        lambda: compare_many(A, {"a": A, "b": B}, OWN),
    ),
    "Confusion": ("y_pred", lambda: Confusion.from_labels(A, B)),
    "PairedConfusion": ("y_pred_1", lambda: PairedConfusion.from_labels(A, B, B)),
    "GroupedConfusion": ("groups", lambda: GroupedConfusion.from_labels(A, A, B)),
    "JointConfusion": ("predictions['b']", lambda: JointConfusion.from_labels(A, {"b": B})),
    "CostSample of costs": ("groups", lambda: CostSample(A, groups=B)),
    "CostSample": ("y_pred_2", lambda: CostSample.from_labels(OWN, A, B)),
    "ExampleCosts": ("factor", lambda: ExampleCosts.from_matrix(COSTS, A, B)),
    "ScoreCounts": ("y_score", lambda: ScoreCounts.from_scores(A, B)),
    "ScoreCounts weights": (
        "sample_weight",
        lambda: ScoreCounts.from_scores(A, A, sample_weight=B),
    ),
    "PairedScoreCounts": ("y_score_2", lambda: PairedScoreCounts.from_scores(A, A, B)),
    "BinnedScoreCounts": ("y_score", lambda: BinnedScoreCounts.from_scores(A, B)),
    "CostCurve": ("y_score", lambda: CostCurve.from_scores(A, B)),
    "one_versus_rest": ("proba", lambda: CostCurve.one_versus_rest(A, PROBA, labels=[0, 1])),
    "CostCurveDifference": ("y_score_2", lambda: CostCurveDifference.from_scores(A, A, B)),
    "DecisionCurve": ("y_score", lambda: DecisionCurve.from_scores(A, B)),
    "DecisionCurve survival": (
        "event",
        lambda: DecisionCurve.from_survival(A, B, [0.1, 0.2, 0.3], at=1),
    ),
    "evaluate_rates": ("y_pred", lambda: evaluate_rates(A, B)),
    "evaluate_by": ("by", lambda: evaluate_by(A, A, COSTS, by=B)),
    "evaluate_by columns": ("by['b']", lambda: evaluate_by(A, A, COSTS, by={"b": B})),
    "evaluate_by classes": ("by", lambda: evaluate_by(A, LIST, COSTS, by=TURNED)),
    "evaluate_by costs": ("costs", lambda: evaluate_by(LIST, A, ELSEWHERE, by=A)),
    "compare_by": ("by", lambda: compare_by(A, A, A, COSTS, by=B)),
    "compare_by second": ("y_pred_2", lambda: compare_by(A, A, B, COSTS, by=A)),
    "compare_by classes": ("y_pred_2", lambda: compare_by(LIST, A, TURNED, COSTS, by=A)),
    "evaluate_over": ("time", lambda: evaluate_over(A, A, COSTS, time=B)),
    "evaluate_over costs": ("costs", lambda: evaluate_over(A, A, ELSEWHERE, time=LIST)),
    "find_slices costs": ("costs", lambda: find_slices({"b": A}, LIST, A, ELSEWHERE)),
    "choose_threshold": ("costs", lambda: choose_threshold(SCORE, ELSEWHERE, rule="minimum")),
    "find_slices": ("frame['b']", lambda: find_slices({"b": B}, LIST, A, COSTS)),
    "quadratic_loss": ("proba", lambda: quadratic_loss(A, PROBA, labels=[0, 1])),
    "study_of": ("y_pred['m']", lambda: study_of(A, {"m": B}, COSTS)),
    "study_of costs": ("costs", lambda: study_of(A, {"m": A}, ELSEWHERE)),
    "study_of costs of columns": (
        "costs",
        lambda: study_of({"y": LIST, "pred": TURNED}, INDEXED),
    ),
    "study_of list": ("costs", lambda: study_of(LIST, {"m": TURNED}, INDEXED)),
    "study_of columns": ("pred", lambda: study_of({"y": A, "pred": B}, COSTS)),
    "accumulator": ("y_pred_2", lambda: PairedAccumulator(COSTS).update(A, A, B)),
    "scorer": (
        "y_pred",
        lambda: ExpectedCost(COSTS)(A, B, example_costs=np.ones((3, 2))),
    ),
    "scorer costs": (
        "example_costs",
        lambda: ExpectedCost(COSTS)(A, A, example_costs=PROBA),
    ),
}


@pytest.mark.parametrize(("argument", "call"), CASES.values(), ids=CASES)
def test_other_indexes_are_refused_wherever_rows_are_paired(argument, call):
    with pytest.raises(InputError, match="its index differs from that of") as caught:
        call()
    assert caught.value.argument == argument


BOTH = pd.DataFrame({0: 1 - SCORE, 1: SCORE})
DAYS = pd.Series(["2026-01-01", "2026-01-02", "2026-01-03"], index=A.index)
MANY = np.arange(120)
ALIGNED = {
    "evaluate": lambda x: evaluate(A, x(A), COSTS).confusion,
    "evaluate weights": lambda x: evaluate(A, x(A), COSTS, sample_weight=x(SCORE)).confusion,
    "evaluate groups": lambda x: evaluate(A, A, COSTS, groups=x(A)).confusion,
    "evaluate example costs": lambda x: evaluate(x(A), x(1 - A), INDEXED).cost,
    "costs of weights": lambda x: evaluate(A, x(1 - A), INDEXED, sample_weight=x(SCORE)).cost,
    "ExampleCosts": lambda x: ExampleCosts.from_matrix(COSTS, A, x(SCORE)),
    "compare example costs": lambda x: compare(A, A, x(1 - A), INDEXED).difference,
    "compare_many example costs": lambda x: (
        compare_many(A, {"a": A, "b": x(1 - A)}, INDEXED).difference("a", "b").difference
    ),
    "costs of": lambda x: dict(zip(x(A).index, INDEXED.of(x(1 - A)), strict=True)),
    "decide": lambda x: dict(zip(x(A).index, INDEXED.decide(x(BOTH)), strict=True)),
    "evaluate_by": lambda x: evaluate_by(x(A), A, COSTS, by={"b": x(A)}).to_dict(),
    "evaluate_by costs": lambda x: evaluate_by(
        x(A), x(1 - A), INDEXED, by=A, sample_weight=x(SCORE)
    ).to_dict(),
    "compare_by costs": lambda x: compare_by(A, A, x(1 - A), INDEXED, by=x(A)).to_dict(),
    "evaluate_over costs": lambda x: evaluate_over(
        A, x(1 - A), INDEXED, time=x(DAYS), every="day"
    ).to_dict(),
    "find_slices costs": lambda x: (
        find_slices(
            {"b": x(pd.Series(MANY, MANY))},
            None,
            pd.Series(np.repeat([0, 1], 60), MANY),
            ExampleCosts(x(pd.DataFrame({0: 0, 1: MANY}, MANY))),
            least=2,
            rng=0,
        ).slices
    ),
    "choose_threshold": lambda x: choose_threshold(x(SCORE), INDEXED, rule="minimum").cost,
    "study_of example costs": lambda x: study_of(x(A), {"m": x(1 - A)}, INDEXED).verdict().cost,
    "compare": lambda x: compare(A, A, x(1 - A), COSTS).paired,
    "compare_many": lambda x: compare_many(A, {"a": A, "b": x(A)}, COSTS).tables,
    "joint weights": lambda x: JointConfusion.from_labels(A, {"a": A}, sample_weight=x(SCORE)),
    "ScoreCounts": lambda x: ScoreCounts.from_scores(A, x(SCORE)),
    "score groups": lambda x: ScoreCounts.from_scores(A, SCORE, groups=x(A)),
    "PairedScoreCounts": lambda x: PairedScoreCounts.from_scores(A, SCORE, x(SCORE)),
    "one_versus_rest": lambda x: CostCurve.one_versus_rest(A, x(BOTH), labels=[0, 1])[1].counts,
    "quadratic_loss": lambda x: quadratic_loss(A, x(BOTH), labels=[0, 1]),
    "study_of": lambda x: study_of(A, {"m": x(A)}, COSTS, y_score={"m": x(SCORE)}).joint,
    "study_of columns": lambda x: study_of({"y": A, "pred": x(A)}, COSTS).joint,
    "study_of groups": lambda x: study_of(A, {"m": A}, COSTS, groups=x(A)).joint,
}


@pytest.mark.parametrize("call", ALIGNED.values(), ids=ALIGNED)
def test_the_same_index_in_another_order_is_aligned(call):
    def turned(rows):
        return pd.concat([rows.iloc[2:], rows.iloc[:2]])

    assert call(turned) == call(lambda rows: rows)


def test_what_has_no_index_is_not_paired_with_two_orders():
    with pytest.raises(InputError, match="not clear to which of them sample_weight"):
        evaluate(A, TURNED, COSTS, sample_weight=[1, 2, 3])
    with pytest.raises(InputError, match="its index differs"):
        evaluate(A, pd.Series([0, 1, 0], index=[5, 6, 6]), COSTS)


def test_the_error_says_what_differs_and_what_to_do():
    with pytest.raises(InputError) as caught:
        evaluate(A, B, COSTS)
    assert str(caught.value) == (
        "y_pred: its index differs from that of y_true: at position 0 it is 6, there 5. Pair them "
        "by index with y_pred.reindex(y_true.index), or by position with .reset_index(drop=True) "
        "on both."
    )
    assert evaluate(A, TURNED, COSTS).cost == 0
    paired = evaluate(A.reset_index(drop=True), TURNED.reset_index(drop=True), COSTS)
    assert paired.cost == pytest.approx(11 / 3)


def test_the_same_index_and_no_index_are_paired():
    copied = pd.Series([0, 1, 0], index=[5.0, 6.0, 7.0])
    ranged = pd.Series([0, 1, 0])
    for other in (A, copied, LIST, np.array(LIST), pd.Index(LIST), pd.Categorical(LIST)):
        assert evaluate(A, other, COSTS).cost == 0
    assert evaluate(ranged, pd.Series(LIST, index=np.arange(3)), COSTS).cost == 0


def test_missing_keys_of_an_index_equal_each_other():
    one = pd.Series([0, 1], index=[np.nan, 1.0])
    other = pd.Series([0, 1], index=[np.nan, 2.0])
    assert evaluate(one, one.copy(), COSTS).cost == 0
    with pytest.raises(InputError, match=r"at position 1 it is 2\.0, there 1\.0"):
        evaluate(one, other, COSTS)


def test_another_length_is_told_as_such():
    with pytest.raises(InputError, match="y_true has 3 rows"):
        evaluate(A, pd.Series([0, 1], index=[6, 5]), COSTS)
    short = pd.Series([1, 1], index=[6, 5])
    with pytest.raises(InputError, match="y_true has 3 rows"):
        evaluate(A, TURNED, COSTS, groups=short)
    with pytest.raises(InputError, match="groups has 2 rows"):
        study_of(A, {"m": TURNED}, INDEXED, groups=short)
