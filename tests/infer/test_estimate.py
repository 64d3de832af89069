import numpy as np
import pandas as pd
import pytest
from _helpers.strategies import confusions, cost_matrices
from hypothesis import given
from hypothesis import strategies as st

from stakes import (
    Confusion,
    CostEstimate,
    CostMatrix,
    CostSample,
    Design,
    ExampleCosts,
    evaluate,
)
from stakes.errors import (
    ConstantCostWarning,
    DesignError,
    InputError,
    InputTypeError,
    LabelError,
)
from stakes.infer._inference import outcomes_behind

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
    assert estimate.best_constant()[1].n == pytest.approx(3.5)


def test_the_best_constant_decision_may_be_one_that_was_never_made():
    costs = CostMatrix(
        [[0, 10], [1, 0], [0.1, 0.1]],
        rows="predicted",
        labels=["ok", "fraud"],
        decisions=["ok", "fraud", "ask"],
    )
    estimate = CostEstimate(Confusion([[5, 1], [1, 3]], ["ok", "fraud"]), costs)
    decision, always = estimate.best_constant()
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
        "100 decisions cost 0.32 each (0.08064 to 0.8302 with 95% confidence), 32 in total; 94% "
        "of it is from predicting 'ok' when it was 'fraud'."
    )
    assert repr(estimate) == "CostEstimate(cost=0.32, total=32, n=100)"
    assert "94% of it" in estimate._repr_html_()
    as_dict = estimate.to_dict()
    assert as_dict["cost"] == pytest.approx(0.32)
    assert as_dict["costs"]["labels"] == ["ok", "fraud"]


def test_summary_without_costs_or_with_gains_names_no_worst_cell():
    free = evaluate(["ok"], ["ok"], COSTS)
    assert free.summary() == "1 decision costs 0 each (0 to 9.645 with 95% confidence), 0 in total."
    gains = CostMatrix.from_gains([[0, 0], [-2, 30]], rows="predicted", labels=["ok", "fraud"])
    assert evaluate(["ok", "fraud"], ["fraud", "fraud"], gains).summary() == (
        "2 decisions cost -14 each (-29.53 to 1.527 with 95% confidence), -28 in total."
    )


def test_bad_input():
    with pytest.raises(LabelError, match=r"y_pred: the label 'maybe' at position 1 .*decisions"):
        evaluate(["ok", "ok"], ["ok", "maybe"], COSTS)
    with pytest.raises(LabelError, match="costs: there is no decision 0"):
        CostEstimate(Confusion([[1, 2], [3, 4]], [0, 1]), COSTS)


def test_priors_reach_every_part_of_an_estimate():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    confusion = Confusion([[50, 2], [8, 40]], [0, 1])
    estimate = CostEstimate(confusion, costs, Design(class_priors=[0.99, 0.01]))
    assert estimate.cost == pytest.approx(0.99 * 8 / 58 + 0.01 * 10 * 2 / 42)
    assert estimate.contributions().sum() == pytest.approx(estimate.cost)
    assert "97% of it is from predicting 1 when it was 0" in estimate.summary()
    decision, always = estimate.best_constant()
    assert decision == 0
    assert always.cost == pytest.approx(0.1)
    error = estimate.interval(method="normal").width / 2 / 1.959964
    assert estimate.variance_contributions().sum() == pytest.approx(error**2, rel=0.03)


def test_groups_reach_every_part_of_an_estimate():
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 100)
    estimate = evaluate(
        y_true, 1 - y_true, CostMatrix.zero_one([0, 1]), groups=np.repeat(range(20), 5)
    )
    _, always = estimate.best_constant()
    assert outcomes_behind(always).design == "grouped"
    with pytest.raises(DesignError, match="groups: with them the cells do not vary independently"):
        estimate.variance_contributions()


def test_weights_reach_the_constant_prediction():
    estimate = evaluate(["ok", "fraud"], ["fraud", "ok"], COSTS, sample_weight=[3, 0.5])
    assert outcomes_behind(estimate.best_constant()[1]).design == "weighted"


def test_bad_designs():
    table = Confusion([[5, 1], [1, 3]], ["ok", "fraud"])
    with pytest.raises(InputError, match="strata: expected 'class'"):
        CostEstimate(table, COSTS, Design(strata="foo"))
    with pytest.raises(InputError, match="counts: intervals need whole numbers"):
        CostEstimate(Confusion([[1.5, 2.5], [3.2, 4]], ["ok", "fraud"]), COSTS)
    with pytest.raises(InputError, match="y_true has 1 rows, costs has 2 rows"):
        evaluate(["ok"], ["ok", "ok"], ExampleCosts([[0, 5], [7, 5]], decisions=["ok", "fraud"]))
    with pytest.raises(InputTypeError, match="costs: expected a CostMatrix or ExampleCosts"):
        evaluate(["ok"], ["ok"], [[0, 1], [5, 0]])


def test_impossible_cells_of_evaluate():
    y_true, y_pred = ["ok"] * 50, ["ok"] * 50
    wide = evaluate(y_true, y_pred, COSTS).interval()
    narrow = evaluate(y_true, y_pred, COSTS, impossible=[("ok", "fraud")]).interval()
    assert narrow.high < wide.high


def test_a_warning_points_at_the_users_line():
    flat = CostMatrix([[4, 4], [4, 4]], rows="predicted", labels=["ok", "fraud"])
    with pytest.warns(ConstantCostWarning) as caught:
        evaluate(["ok", "fraud"], ["ok", "ok"], flat).interval()
    assert caught[0].filename == __file__


def test_costs_too_large_to_compute_with_are_named():
    costs = CostMatrix([[0, 1e-300], [1e300, 0]], rows="predicted", labels=[0, 1])
    with pytest.raises(InputError, match=r"at most 1e\+100, got 1e\+300"):
        evaluate([0, 1, 1], [1, 1, 0], costs).interval()


def test_one_decision_is_one():
    costs = CostMatrix([[0, 9], [2, 0]], rows="predicted", labels=[0, 1])
    assert evaluate([0], [1], costs).summary().startswith("1 decision costs 2 each")


def test_priors_of_one_class_only():
    confusion = Confusion([[50, 2], [8, 40]], labels=[0, 1])
    steep = CostMatrix.from_errors(false_positive=1, false_negative=10)
    estimate = CostEstimate(confusion, steep, Design({0: 0.0, 1: 1.0}))
    assert estimate.total == pytest.approx(100 * estimate.cost)
    assert estimate.error_rate == pytest.approx(2 / 42)


def test_the_error_rate_is_that_where_the_classifier_is_used():
    confusion = Confusion([[50, 2], [8, 40]], labels=[0, 1])
    steep = CostMatrix.from_errors(false_positive=1, false_negative=10)
    zero_one = CostMatrix.zero_one([0, 1])
    for priors in (None, {0: 0.9, 1: 0.1}, {0: 0.2, 1: 0.8}):
        design = Design(priors)
        expected = CostEstimate(confusion, zero_one, design).cost
        assert CostEstimate(confusion, steep, design).error_rate == pytest.approx(expected)


def test_a_huge_cost_of_what_did_not_happen_leaves_the_others_as_they_are():
    costs = CostMatrix(
        [[0, 1, 1e16], [1, 0, 1e16], [5, 7, 0]], rows="predicted", labels=["a", "b", "c"]
    )
    actual = ["a"] * 50 + ["b"] * 50
    decided = ["b"] * 30 + ["a"] * 20 + ["c"] * 50
    estimate = evaluate(actual, decided, costs)
    assert estimate.cost == pytest.approx(3.8)
    assert estimate.contributions().sum() == pytest.approx(3.8)
    assert CostEstimate(CostSample([1, 2, 3], high=1e17)).cost == pytest.approx(2)


def test_costs_too_small_to_square():
    tiny = CostMatrix.from_errors(false_positive=1e-200, false_negative=1e-199)
    with pytest.raises(InputError, match="costs: expected a cost of at least 1e-100, or none"):
        evaluate([0, 1] * 5, [0, 1, 1, 0, 0] * 2, tiny).interval()


def test_costs_that_arithmetic_does_not_keep():
    """Beside a larger one: dividing by it would give infinity, and then NaN."""
    tiny = CostMatrix.from_errors(false_positive=1e-320, false_negative=1)
    with pytest.raises(InputError, match="at least 1e-100, or none; the smallest is 9"):
        evaluate([0, 1] * 5, [0, 1, 1, 0, 0] * 2, tiny).interval()


def test_priors_by_name_as_pandas_counts_them():
    actual = pd.Series(["ok"] * 90 + ["fraud"] * 10)
    decided = pd.Series(["ok"] * 85 + ["fraud"] * 10 + ["ok"] * 5)
    costs = CostMatrix([[0, 1], [10, 0]], rows="predicted", labels=["fraud", "ok"])
    shares = actual.value_counts(normalize=True)
    expected = evaluate(actual, decided, costs).cost
    assert evaluate(actual, decided, costs, class_priors=shares).cost == pytest.approx(expected)
    by_place = pd.Series([0.1, 0.9])  # default index of pandas: in the order of the labels
    assert evaluate(actual, decided, costs, class_priors=by_place).cost == pytest.approx(expected)


def test_impossible_cells_may_come_from_an_iterator():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    listed = evaluate([0, 1] * 10, [0, 1] * 10, costs, impossible=[(0, 1)])
    iterated = evaluate([0, 1] * 10, [0, 1] * 10, costs, impossible=zip([0], [1], strict=True))
    assert iterated.interval() == listed.interval()


def test_what_an_impossible_cell_costs_does_not_matter_with_weights_either():
    actual, weights = ["A"] * 20 + ["B"] * 200, [10.0] * 20 + [1.0] * 200

    def upper_limit(cost):
        costs = CostMatrix([[0, cost], [100, 0]], rows="predicted", labels=["A", "B"])
        settings = {"sample_weight": weights, "impossible": [("A", "B")]}
        return evaluate(actual, actual, costs, **settings).interval().high

    assert upper_limit(0) == upper_limit(50) == upper_limit(1000)


def test_a_correction_for_each_cell_of_classes_that_vary_by_themselves():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    estimate = evaluate([0, 1] * 20, [0, 1, 1, 0] * 10, costs, strata="class")
    corrections = [0.1, 4, 0.2, 0.3]
    flat = estimate.interval(method="exact", laplace=corrections)
    assert flat == estimate.interval(method="exact", laplace=np.reshape(corrections, (2, 2)))
    assert flat != estimate.interval(method="exact", laplace=[0.1, 0.2, 4, 0.3])
    with pytest.raises(InputError, match="laplace: expected numbers that are not negative"):
        estimate.interval(method="exact", laplace=[[0.1, 0.2], [0.3]])


def test_a_confidence_too_close_to_one():
    estimate = CostEstimate(Confusion([[50, 2], [8, 40]], labels=["ok", "fraud"]), COSTS)
    for method in ("extremal", "guaranteed", "bca", "bcost"):
        with pytest.raises(InputError, match="too close to 1"):
            estimate.interval(0.9999999999999999, method)
    with pytest.raises(InputError, match="at least 2000000000 are needed"):
        estimate.interval(1 - 1e-9, "bcost")
