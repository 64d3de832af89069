"""Costs along a path, against a look-up of each example's cost at each place."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import gamma

from stakes import (
    CostMatrix,
    CostRanges,
    JointConfusion,
    compare,
    cost_sensitivity,
    evaluate,
)
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.infer.sensitivity import CostSensitivity, intervals_at, p_values_at

LABELS = ["a", "b", "c"]
Y_TRUE = ["a"] * 50 + ["b"] * 30 + ["c"] * 20
PREDICTIONS = {
    "left": ["a"] * 60 + ["b"] * 20 + ["c"] * 20,
    "right": ["a"] * 50 + ["b"] * 20 + ["c"] * 30,
}


def matrix(values, labels=LABELS, **options):
    return CostMatrix(values, rows="predicted", labels=labels, **options)


MILD = matrix([[0, 1, 2], [1, 0, 1], [1, 3, 0]])
HARSH = matrix([[0, 9, 2], [1, 0, 1], [1, 3, 0]])
RANGES = CostRanges.from_cells(
    {("a", "b"): (1, 9), ("c", "b"): (2, 4), ("b", "a"): 1, ("c", "a"): 1}, labels=LABELS
)


def random_case(seed, classifiers=3, n=60):
    """Return labels, decisions and two cost matrices that have no symmetry."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 3, n)
    predictions = {str(i): rng.integers(0, 3, n) for i in range(classifiers)}
    costs = [matrix(rng.uniform(-2, 30, (3, 3)).round(2), labels=range(3)) for _ in range(2)]
    return y_true, predictions, costs


def mean_cost(y_true, decided, values):
    """Return the mean of the costs of the examples, looked up one by one."""
    return np.mean([values[i, j] for i, j in zip(decided, y_true, strict=True)])


@settings(max_examples=6)
@given(st.integers(0, 10**6))
def test_costs_are_those_of_the_mixed_matrix_at_each_place(seed):
    y_true, predictions, (start, stop) = random_case(seed)
    found = cost_sensitivity(y_true, predictions, start, stop, steps=5)
    assert found.position.tolist() == [0, 0.25, 0.5, 0.75, 1]
    for i, name in enumerate(found.names):
        for k, share in enumerate(found.position):
            values = (1 - share) * start.values + share * stop.values
            expected = mean_cost(y_true, predictions[name], values)
            assert found.cost[i, k] == pytest.approx(expected)


def test_intervals_are_the_default_ones_of_each_classifier():
    found = cost_sensitivity(Y_TRUE, PREDICTIONS, MILD, HARSH, steps=3, confidence=0.9)
    for i, name in enumerate(found.names):
        for k, costs in ((0, MILD), (1, matrix((MILD.values + HARSH.values) / 2)), (2, HARSH)):
            limits = evaluate(Y_TRUE, PREDICTIONS[name], costs).interval(0.9)
            assert (found.low[i, k], found.high[i, k]) == pytest.approx(tuple(limits))
    assert found.confidence == 0.9


PRIORS = {"a": 0.1, "b": 0.2, "c": 0.7}


def test_with_priors_the_costs_of_a_class_count_as_much_as_its_prior():
    """The same costs from the test set's shares, with each class's costs scaled."""
    found = cost_sensitivity(Y_TRUE, PREDICTIONS, MILD, HARSH, class_priors=PRIORS, steps=3)
    factor = np.array([0.1, 0.2, 0.7]) / [0.5, 0.3, 0.2]
    scaled = [matrix(each.values * factor) for each in (MILD, HARSH)]
    plain = cost_sensitivity(Y_TRUE, PREDICTIONS, *scaled, steps=3)
    assert found.cost == pytest.approx(plain.cost)
    for one, other in zip(found.cheapest_ranges(), plain.cheapest_ranges(), strict=True):
        assert one[:2] == pytest.approx(other[:2])
        assert one[2] == other[2]
    middle = matrix((MILD.values + HARSH.values) / 2)
    for i, name in enumerate(found.names):
        for k, costs in enumerate((MILD, middle, HARSH)):
            estimate = evaluate(Y_TRUE, PREDICTIONS[name], costs, class_priors=PRIORS)
            assert found.cost[i, k] == pytest.approx(estimate.cost)
            limits = tuple(estimate.interval())
            assert (found.low[i, k], found.high[i, k]) == pytest.approx(limits)


def test_priors_tell_which_cell_matters_most():
    costs = CostRanges.from_cells({("a", "b"): (1, 9), ("c", "a"): (1, 9)}, labels=LABELS)
    decided = {
        "x": ["c"] * 10 + ["a"] * 40 + ["b"] * 30 + ["c"] * 20,
        "y": ["a"] * 55 + ["b"] * 25 + ["c"] * 20,
    }
    for priors, cell in ((None, "'c' when it was 'a'"), (PRIORS, "'a' when it was 'b'")):
        found = cost_sensitivity(Y_TRUE, decided, costs, class_priors=priors, steps=2)
        assert found.axis == f"cost of predicting {cell}"


def test_ranges_end_where_two_cost_the_same():
    found = cost_sensitivity(Y_TRUE, PREDICTIONS, MILD, HARSH, steps=4)
    # left predicts a for ten b, which cost 1 to 9; right predicts c for ten b, which cost 3.
    (_, place, first), (again, _, second) = found.cheapest_ranges()
    assert (first, second) == ("left", "right")
    assert place == again == pytest.approx(2 / 8)


@given(st.integers(0, 10**6))
def test_cheapest_ranges_are_those_of_a_fine_grid(seed):
    rng = np.random.default_rng(seed)
    position, fine = np.linspace(0, 1, 21), np.linspace(0, 1, 501)
    ends = rng.uniform(0, 9, (2, 3, 1)).round(1)
    cost, finely = ((1 - places) * ends[0] + places * ends[1] for places in (position, fine))
    found = CostSensitivity(tuple("abc"), "share", position, cost, cost, cost, 0.95)
    ranges = found.cheapest_ranges()
    assert ranges[0][0] == 0
    assert ranges[-1][1] == 1
    assert [each[1] for each in ranges[:-1]] == [each[0] for each in ranges[1:]]
    for low, high, name in ranges:
        inside = (fine > low + 0.05) & (fine < high - 0.05)  # a third may be, for less than a step
        mine = finely["abc".index(name), inside]
        assert (mine <= finely[:, inside].min(axis=0) + 1e-9).all()


def test_equal_costs_at_the_start_make_no_range_without_a_length():
    costs = matrix([[0, 1, 2], [1, 0, 1], [1, 1, 0]]), HARSH  # at first, ten b cost the same
    found = cost_sensitivity(Y_TRUE, PREDICTIONS, *costs, steps=3)
    assert found.cost[0, 0] == found.cost[1, 0]
    assert found.cheapest_ranges() == [(0, 1, "right")]


# Ranges of costs


def test_one_cell_goes_through_its_range_with_the_others_at_their_means():
    found = cost_sensitivity(Y_TRUE, PREDICTIONS, RANGES, cell=("a", "b"), steps=5)
    assert found.position.tolist() == [1, 3, 5, 7, 9]
    assert found.axis == "cost of predicting 'a' when it was 'b'"
    assert found.scale == "linear"
    values = RANGES.mean().values.copy()
    for k, cost in enumerate(found.position):
        values[0, 1] = cost
        for i, name in enumerate(found.names):
            costs = matrix(values)
            estimate = evaluate(Y_TRUE, PREDICTIONS[name], costs)
            assert found.cost[i, k] == pytest.approx(estimate.cost)
            limits = (found.low[i, k], found.high[i, k])
            assert limits == pytest.approx(tuple(estimate.interval()))


def test_the_cell_that_tells_most_is_taken_by_default():
    found = cost_sensitivity(Y_TRUE, PREDICTIONS, RANGES, steps=3)
    assert found.axis == "cost of predicting 'a' when it was 'b'"
    wide = CostRanges.from_cells({("a", "b"): (1, 2), ("c", "b"): (0, 90)}, labels=LABELS)
    found = cost_sensitivity(Y_TRUE, PREDICTIONS, wide, steps=3)
    assert found.axis == "cost of predicting 'c' when it was 'b'"
    # If the classifiers do not differ, any range is valid.
    same = {"a": Y_TRUE, "b": Y_TRUE}
    assert cost_sensitivity(Y_TRUE, same, wide, steps=2).cost.tolist() == [
        [0, 0],
        [0, 0],
    ]


def test_on_the_log_scale_places_are_spaced_by_their_ratio():
    costs = CostRanges.from_cells(
        {("a", "b"): (1, 10_000), ("c", "b"): 7}, labels=LABELS, scale="log"
    )
    found = cost_sensitivity(Y_TRUE, PREDICTIONS, costs, steps=5)
    assert found.scale == "log"
    assert found.position == pytest.approx([1, 10, 100, 1000, 10_000])
    assert (found.position[0], found.position[-1]) == (1, 10_000)
    assert found.cost[0] == pytest.approx(0.1 * found.position)
    assert found.cost[1] == pytest.approx([0.7] * 5)
    (_, place, _), _ = found.cheapest_ranges()
    assert place == pytest.approx(7)


def test_negative_costs_on_the_log_scale():
    costs = CostRanges.from_cells(
        {("a", "a"): (-100, -1), ("c", "b"): 7}, labels=LABELS, scale="log"
    )
    found = cost_sensitivity(Y_TRUE, PREDICTIONS, costs, cell=("a", "a"), steps=3)
    assert found.position == pytest.approx([-100, -10, -1])
    assert found.cost[0] == pytest.approx(0.5 * found.position)


def test_of_a_distribution_the_central_95_percent():
    law = gamma(3, scale=2)
    costs = CostRanges.from_cells({("a", "b"): law, ("c", "b"): 4}, labels=LABELS)
    found = cost_sensitivity(Y_TRUE, PREDICTIONS, costs, steps=3)
    assert found.position[[0, -1]] == pytest.approx(law.ppf([0.025, 0.975]))
    assert found.scale == "linear"
    assert found.cost[0] == pytest.approx(0.1 * found.position)
    logged = CostRanges.from_cells(
        {("a", "b"): law, ("c", "b"): (2, 4)}, labels=LABELS, scale="log"
    )
    mixed = cost_sensitivity(Y_TRUE, PREDICTIONS, logged, cell=("a", "b"), steps=3)
    assert mixed.scale == "linear"


# Labels, seeds, results


def test_labels_are_matched_by_name():
    plain = cost_sensitivity(Y_TRUE, PREDICTIONS, MILD, HARSH, steps=3)
    turned = [2, 0, 1]
    labels = [LABELS[i] for i in turned]
    other = matrix(HARSH.values[np.ix_(turned, turned)], labels=labels)
    found = cost_sensitivity(Y_TRUE, PREDICTIONS, MILD, other, steps=3)
    assert found.cost.tolist() == plain.cost.tolist()
    joint = JointConfusion.from_labels(Y_TRUE, PREDICTIONS, labels=labels)
    counted = cost_sensitivity(joint, None, MILD, HARSH, steps=3)
    assert counted.cost == pytest.approx(plain.cost)
    ranged = [
        cost_sensitivity(each, None, RANGES, steps=3)
        for each in (joint, JointConfusion.from_labels(Y_TRUE, PREDICTIONS, labels=LABELS))
    ]
    assert ranged[0].cost == pytest.approx(ranged[1].cost)
    assert ranged[0].axis == ranged[1].axis


def test_decisions_may_be_more_than_the_classes():
    options = {"labels": ["no", "yes"], "decisions": ["no", "yes", "ask"]}
    start = matrix([[0, 9], [4, 0], [1, 1]], **options)
    stop = matrix([[0, 9], [4, 0], [2, 3]], **options)
    y_true = ["no"] * 6 + ["yes"] * 4
    predictions = {"asks": ["no"] * 5 + ["ask"] * 2 + ["yes"] * 3, "bold": ["no"] * 7 + ["yes"] * 3}
    found = cost_sensitivity(y_true, predictions, start, stop, steps=2)
    assert found.cost == pytest.approx(np.array([[0.2, 0.5], [0.9, 0.9]]))


def test_what_is_shown_and_pickled():
    found = cost_sensitivity(Y_TRUE, PREDICTIONS, MILD, HARSH, steps=3)
    assert pickle.loads(pickle.dumps(found)) == found  # noqa: S301 - made here
    text = found.summary()
    assert text == (
        "Along the path (share of the way from the first costs to the second) the lowest estimated "
        "cost is that of left from 0 to 0.25, then right from 0.25 to 1."
    )
    assert repr(found) == text
    assert "<table>" in found._repr_html_()
    frame = found.to_frame()
    assert frame.columns.tolist() == ["classifier", "position", "cost", "low", "high"]
    assert len(frame) == 6
    assert not frame.isna().any().any()
    right = frame[frame["classifier"] == "right"]
    assert right["cost"].tolist() == found.cost[1].tolist()
    content = found.to_dict()
    assert list(content["names"]) == ["left", "right"]
    assert content["cost"] == found.cost.tolist()
    assert "nan" not in repr(content)


def test_a_path_between_equal_costs_stands_still():
    found = cost_sensitivity(Y_TRUE, PREDICTIONS, MILD, MILD, steps=3)
    assert np.ptp(found.cost, axis=1) == pytest.approx([0, 0])
    assert np.isfinite([found.low, found.high]).all()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: cost_sensitivity(Y_TRUE, PREDICTIONS, MILD),
            InputTypeError,
            "to: a path leads from one CostMatrix to another",
        ),
        (
            lambda: cost_sensitivity(Y_TRUE, PREDICTIONS, [[0, 1], [1, 0]], MILD),
            InputTypeError,
            "costs: expected a CostMatrix, got a list",
        ),
        (
            lambda: cost_sensitivity(Y_TRUE, PREDICTIONS, RANGES, MILD),
            InputTypeError,
            "to: ranges need no second matrix",
        ),
        (
            lambda: cost_sensitivity(Y_TRUE, PREDICTIONS, MILD, HARSH, cell=("a", "b")),
            InputTypeError,
            "cell: only ranges have a cell to follow",
        ),
        (
            lambda: cost_sensitivity(Y_TRUE, PREDICTIONS, MILD, CostMatrix.zero_one(["a", "b"])),
            LabelError,
            "'c'",
        ),
        (
            lambda: cost_sensitivity(Y_TRUE, PREDICTIONS, MILD, HARSH, steps=1),
            InputError,
            "steps: a path has at least a beginning and an end, got 1",
        ),
        (
            lambda: cost_sensitivity(Y_TRUE, PREDICTIONS, MILD, HARSH, steps=2.5),
            InputError,
            "steps: expected a whole number",
        ),
        (
            lambda: cost_sensitivity(Y_TRUE, PREDICTIONS, MILD, HARSH, steps=2, confidence=95),
            InputError,
            "confidence: expected a number between 0 and 1",
        ),
        (
            lambda: cost_sensitivity(Y_TRUE, None, MILD, HARSH),
            InputTypeError,
            "predictions: expected a mapping",
        ),
        (
            lambda: cost_sensitivity(Y_TRUE, {"x": ["d"] * 100}, MILD, HARSH),
            LabelError,
            "the label 'd' at position 0",
        ),
        (
            lambda: cost_sensitivity(Y_TRUE, PREDICTIONS, RANGES, cell=("a", "d")),
            LabelError,
            r"cell: expected a pair \(decision, class\) of the decisions .* got \('a', 'd'\)",
        ),
        (
            lambda: cost_sensitivity(Y_TRUE, PREDICTIONS, RANGES, cell=5),
            LabelError,
            r"cell: expected a pair \(decision, class\)",
        ),
        (
            lambda: cost_sensitivity(Y_TRUE, PREDICTIONS, RANGES, cell=("b", "a")),
            InputError,
            "cell: predicting 'b' when it was 'a' costs 1 for certain. Choose a cell with a range",
        ),
        (
            lambda: cost_sensitivity(
                Y_TRUE, PREDICTIONS, CostRanges.from_cells({("a", "b"): 3}, labels=LABELS)
            ),
            InputError,
            "costs: all costs are certain, so there is no range to go through",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_counts_of_other_labels_are_one_of_our_errors():
    joint = JointConfusion.from_labels(["a", "d", "b"], {"x": ["a", "d", "a"]})
    for ask in ({"costs": MILD, "to": HARSH}, {"costs": RANGES, "cell": ("a", "b")}):
        with pytest.raises(LabelError, match="costs: there is no decision 'd'"):
            cost_sensitivity(joint, None, **ask)
    with pytest.raises(LabelError, match="costs: there is no decision 'd'"):
        cost_sensitivity(joint, None, RANGES)


def test_a_cell_is_a_pair():
    with pytest.raises(LabelError, match=r"cell: expected a pair \(decision, class\)"):
        cost_sensitivity(Y_TRUE, PREDICTIONS, RANGES, cell=("a", "b", "c"), steps=2)


def test_limits_of_many_are_those_of_each():
    """All at once, with costs of their own, as each by itself."""
    rng = np.random.default_rng(0)
    results = []
    for size in (2, 3, 5):
        y_true, first, second = rng.integers(0, size, (3, 80))
        costs = matrix(rng.uniform(-2, 30, (size, size)).round(1), labels=range(size))
        priors = np.full(size, 1 / size)
        results += [
            evaluate(y_true, first, costs),
            compare(y_true, first, second, costs),
            evaluate(y_true, first, costs, class_priors=priors),
            compare(y_true, first, first, costs),
        ]
    limits, p_values = intervals_at(results, 0.9), p_values_at(results)
    for one, ends, p_value in zip(results, limits, p_values, strict=True):
        assert tuple(ends) == pytest.approx(tuple(one.interval(0.9, "extremal")))
        if hasattr(one, "test"):
            assert p_value == pytest.approx(one.test("extremal").p_value)
