import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import confusions, cost_matrices

from stakes import Confusion, CostEstimate, CostMatrix, evaluate
from stakes.errors import LabelError

COSTS = CostMatrix.from_errors(
    false_positive=1, false_negative=10, pos_label="fraud", neg_label="ok"
)


@given(st.data())
def test_contributions_add_up_to_the_cost(data):
    costs = data.draw(cost_matrices())
    estimate = CostEstimate(data.draw(confusions(costs)), costs)
    assert estimate.contributions().sum() == pytest.approx(estimate.cost, rel=1e-9, abs=1e-6)
    assert estimate.total == pytest.approx(estimate.cost * estimate.n, rel=1e-9, abs=1e-6)


def test_evaluate_counts_with_the_labels_of_the_costs():
    estimate = evaluate(["ok", "ok", "fraud"], ["ok", "fraud", "ok"], COSTS)
    assert estimate.confusion.labels == ("ok", "fraud")
    assert estimate.total == 11
    assert estimate == CostEstimate(estimate.confusion, COSTS)


def test_weights_weigh():
    estimate = evaluate(["ok", "fraud"], ["fraud", "ok"], COSTS, sample_weight=[3, 0.5])
    assert estimate.total == pytest.approx(3 * 1 + 0.5 * 10)
    assert estimate.cost == pytest.approx(8 / 3.5)
    assert estimate.best_trivial()[1].n == pytest.approx(3.5)


def test_the_best_trivial_decision_may_be_one_that_was_never_made():
    costs = CostMatrix(
        [[0, 10], [1, 0], [0.1, 0.1]],
        rows="predicted",
        labels=["ok", "fraud"],
        decisions=["ok", "fraud", "ask"],
    )
    estimate = CostEstimate(Confusion([[5, 1], [1, 3]], ["ok", "fraud"]), costs)
    decision, always = estimate.best_trivial()
    assert decision == "ask"
    assert always.total == pytest.approx(1)
    assert always.confusion.counts.dtype == np.int64


def test_summary_is_a_sentence():
    estimate = evaluate(
        ["ok"] * 90 + ["fraud"] * 10,
        ["ok"] * 88 + ["fraud"] * 2 + ["ok"] * 3 + ["fraud"] * 7,
        COSTS,
    )
    assert estimate.summary() == (
        "100 decisions cost 0.32 each (0.08064 to 0.8302 with 95 % confidence), 32 in total; 94 % "
        "of it is from predicting 'ok' when it was 'fraud'."
    )
    assert repr(estimate) == "CostEstimate(cost=0.32, total=32, n=100)"
    assert "94 % of it" in estimate._repr_html_()
    as_dict = estimate.to_dict()
    assert as_dict["cost"] == pytest.approx(0.32)
    assert as_dict["costs"]["labels"] == ["ok", "fraud"]


def test_summary_without_costs_or_with_gains_names_no_worst_cell():
    free = evaluate(["ok"], ["ok"], COSTS)
    assert (
        free.summary() == "1 decisions cost 0 each (0 to 9.645 with 95 % confidence), 0 in total."
    )
    gains = CostMatrix.from_gains([[0, 0], [-2, 30]], rows="predicted", labels=["ok", "fraud"])
    assert evaluate(["ok", "fraud"], ["fraud", "fraud"], gains).summary() == (
        "2 decisions cost -14 each (-29.53 to 1.527 with 95 % confidence), -28 in total."
    )


def test_bad_input():
    with pytest.raises(LabelError, match=r"y_pred: the label 'maybe' at row 1 .*decisions"):
        evaluate(["ok", "ok"], ["ok", "maybe"], COSTS)
    with pytest.raises(LabelError, match="costs: there is no decision 0"):
        CostEstimate(Confusion([[1, 2], [3, 4]], [0, 1]), COSTS)
