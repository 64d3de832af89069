import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes import ExampleCosts
from stakes.counts import CostSample
from stakes.errors import InputError, InputTypeError, LabelError

costs_of_one = st.floats(-1e6, 1e6)


def test_tiny_amounts_are_compared_although_their_squares_vanish():
    assert CostSample([5.6e-163, 9.1e-250]).n == 2


@given(st.lists(costs_of_one, min_size=2, max_size=20), st.data())
def test_merging_parts_equals_taking_all(costs, data):
    cut = data.draw(st.integers(1, len(costs) - 1))
    parts = [CostSample(costs[:cut]), CostSample(costs[cut:])]
    whole = CostSample(costs)
    assert sum(parts) == parts[0] + parts[1] == whole
    assert (whole.low, whole.high, whole.n) == (min(costs), max(costs), len(costs))


def test_merging_keeps_the_wider_bounds():
    merged = CostSample([1], low=0) + CostSample([2], high=9)
    assert (merged.low, merged.high, merged.values.tolist()) == (0, 9, [1, 2])


@given(st.data())
def test_costs_of_predictions_are_those_of_a_plain_loop(data):
    n = data.draw(st.integers(1, 10))
    table = data.draw(
        st.lists(st.lists(costs_of_one, min_size=3, max_size=3), min_size=n, max_size=n)
    )
    costs = ExampleCosts(table, decisions=["a", "b", "c"])
    decided = st.lists(st.sampled_from("abc"), min_size=n, max_size=n)
    first, second = data.draw(decided), data.draw(decided)
    ours = [row["abc".index(decision)] for row, decision in zip(table, first, strict=True)]
    theirs = [row["abc".index(decision)] for row, decision in zip(table, second, strict=True)]
    sample = CostSample.from_labels(costs, first)
    assert sample.values.tolist() == ours
    assert (sample.low, sample.high) == (min(map(min, table)), max(map(max, table)))
    pair = CostSample.from_labels(costs, first, second)
    assert pair.values.tolist() == [one - other for one, other in zip(ours, theirs, strict=True)]
    assert -pair.low == pair.high == max(max(row) - min(row) for row in table)


def test_equality_pickling_and_texts():
    sample = CostSample([0, 0, 35, 10], high=500)
    assert pickle.loads(pickle.dumps(sample)) == sample  # noqa: S301 - made here
    assert sample == CostSample(**sample.to_dict())
    assert sample != CostSample([0, 0, 35, 10])
    assert "<td>11.25</td>" in sample._repr_html_()
    assert repr(sample) == "CostSample: 4 examples, mean cost 11.25, possible 0 to 500"


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: CostSample(None), InputTypeError, "values: expected numbers, got None"),
        (lambda: CostSample([]), InputError, "values: expected at least one example"),
        (lambda: CostSample([1, np.nan]), InputError, "values: expected finite numbers, got nan"),
        (lambda: CostSample([[1]]), InputError, "values: expected a one-dimensional array"),
        (lambda: CostSample(["1"]), InputError, "values: expected numbers, got '1'"),
        (
            lambda: CostSample(np.ma.array([1, 2], mask=[False, True])),
            InputError,
            "values: expected numbers, got a masked entry at position 1",
        ),
        (
            lambda: CostSample([1, 2], low=1.5),
            InputError,
            "low, high: expected finite bounds that contain all costs, 1 to 2; got 1.5 and 2",
        ),
        (lambda: CostSample([1, 2], high=np.inf), InputError, "low, high: expected finite bounds"),
        (lambda: CostSample([1, 2], high=np.nan), InputError, "low, high: expected finite bounds"),
        (lambda: CostSample([1, 2], low="0"), InputError, "low: expected numbers, got '0'"),
        (
            lambda: CostSample.from_labels(ExampleCosts([[1, 2]]), [5]),
            LabelError,
            "y_pred: the label 5 at position 0",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_only_samples_can_be_added():
    with pytest.raises(TypeError):
        CostSample([1]) + 1
