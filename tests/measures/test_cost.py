import numpy as np
import pytest
from _helpers.strategies import confusions, cost_matrices
from hypothesis import assume, given
from hypothesis import strategies as st

from stakes import Confusion, CostMatrix, expected_cost
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.measures import constant_costs, normalized_cost, savings, total_cost

# Table 1 of Margineantu & Dietterich (2000), and a confusion matrix of their four classes.
TABLE_1 = CostMatrix(
    [[0, 3.2, 2.5, 12.7], [1, 0, 3, 100], [40.5, 2.2, 0, 5.5], [1, 0.1, 7.1, 0]],
    rows="predicted",
    labels=[1, 2, 3, 4],
)
COUNTS = [[240, 10, 5, 2], [8, 300, 12, 1], [3, 15, 200, 4], [6, 9, 5, 180]]


def test_table_1_costs_by_hand():
    # Row by row: 69.9, 144, 176.5, 42.4 …
    by_hand = sum(COUNTS[i][j] * TABLE_1.values[i, j] for i in range(4) for j in range(4))
    confusion = Confusion(COUNTS, TABLE_1.labels)
    assert total_cost(confusion, TABLE_1) == pytest.approx(by_hand)
    assert expected_cost(confusion, TABLE_1) == pytest.approx(by_hand / 1000)


@given(st.data())
def test_the_average_is_that_of_the_examples(data):
    costs = data.draw(cost_matrices())
    n = data.draw(st.integers(1, 30))
    y_true = data.draw(st.lists(st.sampled_from(costs.labels), min_size=n, max_size=n))
    y_pred = data.draw(st.lists(st.sampled_from(costs.decisions), min_size=n, max_size=n))
    confusion = Confusion.from_labels(
        y_true, y_pred, labels=costs.labels, decisions=costs.decisions
    )
    each = [
        costs.values[costs.decisions.index(p), costs.labels.index(t)]
        for t, p in zip(y_true, y_pred, strict=True)
    ]
    assert expected_cost(confusion, costs) == pytest.approx(np.mean(each), rel=1e-9, abs=1e-6)

    constant = constant_costs(confusion, costs)
    for decision in costs.decisions:
        row = costs.values[costs.decisions.index(decision)]
        alike = np.mean([row[costs.labels.index(t)] for t in y_true])
        assert constant[decision] == pytest.approx(alike, rel=1e-9, abs=1e-6)


@given(st.data(), st.floats(0.01, 100))
def test_normalized_cost_is_the_same_for_equivalent_costs(data, scale):
    costs = data.draw(cost_matrices())
    confusion = data.draw(confusions(costs))
    assume(min(constant_costs(confusion, costs.nonnegative()).values()) > 1)
    shift = data.draw(
        st.lists(st.integers(-99, 99), min_size=len(costs.labels), max_size=len(costs.labels))
    )
    other = CostMatrix(
        costs.values * scale + shift,
        rows="predicted",
        labels=costs.labels,
        decisions=costs.decisions,
    )
    assert normalized_cost(confusion, other) == pytest.approx(
        normalized_cost(confusion, costs), rel=1e-6
    )


def test_normalized_cost_runs_from_no_mistake_to_the_best_constant_decision():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10, true_negative=-3)
    perfect = Confusion([[60, 0], [0, 40]], labels=[0, 1])
    always_1 = Confusion([[0, 0], [60, 40]], labels=[0, 1])
    worse = Confusion([[0, 40], [60, 0]], labels=[0, 1])
    assert normalized_cost(perfect, costs) == 0
    assert normalized_cost(always_1, costs) == 1
    assert savings(always_1, costs) == 0
    assert savings(perfect, costs) == 1
    assert savings(worse, costs) < 0


def test_labels_of_counts_and_costs_are_matched_by_name():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    turned = Confusion([[40, 8], [2, 50]], labels=[1, 0])
    assert total_cost(turned, costs) == 28
    assert constant_costs(turned, costs) == {0: 4.2, 1: pytest.approx(0.58)}


def test_bad_input():
    confusion = Confusion([[1, 2], [3, 4]], labels=["a", "b"])
    with pytest.raises(LabelError, match="costs: there is no decision 'a'; there are 0, 1"):
        expected_cost(confusion, CostMatrix.zero_one([0, 1]))
    with pytest.raises(LabelError, match="costs: there is no class 'b'"):
        constant_costs(confusion, CostMatrix.zero_one(["a", "c"]))
    with pytest.raises(InputError, match="confusion: the same decision is the cheapest"):
        normalized_cost(
            Confusion([[5, 0], [1, 0]], labels=[0, 1]),
            CostMatrix.from_errors(false_positive=1, false_negative=10),
        )


@pytest.mark.parametrize(
    "measure", [expected_cost, total_cost, constant_costs, normalized_cost, savings]
)
def test_arguments_in_the_wrong_order(measure):
    confusion, costs = Confusion([[1, 2], [3, 4]], labels=[0, 1]), CostMatrix.zero_one([0, 1])
    with pytest.raises(InputTypeError, match="confusion: expected a Confusion, got a CostMatrix"):
        measure(costs, confusion)
    with pytest.raises(InputTypeError, match="costs: expected a CostMatrix, got a ndarray"):
        measure(confusion, costs.values)
