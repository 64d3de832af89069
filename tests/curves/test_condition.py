"""Operating conditions: equation 1 of Holte & Drummond, and its inverse."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes import Confusion, CostMatrix, expected_cost
from stakes.curves import cost_ratio, operating_condition, prevalence_at, worst_cost
from stakes.curves.band import CURVE_POINTS, condition_list
from stakes.errors import InputError, InputTypeError

shares = st.floats(0.001, 0.999)
costs = st.floats(1e-3, 1e6)


@given(shares, costs, costs)
def test_it_is_the_share_of_misses_in_what_being_always_wrong_costs(share, alarm, miss):
    given_ = {"prevalence": share, "false_positive": alarm, "false_negative": miss}
    n = 10**6
    always_wrong = Confusion([[0.0, n * share], [n * (1 - share), 0.0]], labels=[0, 1])
    matrix = CostMatrix.from_errors(false_positive=alarm, false_negative=miss)
    worst = expected_cost(always_wrong, matrix)
    assert worst_cost(**given_) == pytest.approx(worst)
    assert operating_condition(**given_) == pytest.approx(share * miss / worst)


@given(shares, costs, costs)
def test_prevalence_and_cost_ratio_are_its_inverses(share, alarm, miss):
    pc = operating_condition(prevalence=share, false_positive=alarm, false_negative=miss)
    back = prevalence_at(pc, false_positive=alarm, false_negative=miss)
    assert back == pytest.approx(share, rel=1e-6)
    if pc < 1 - 1e-9:
        assert cost_ratio(pc, prevalence=share) == pytest.approx(miss / alarm, rel=1e-5)


@given(st.floats(0, 1), st.floats(0.01, 100))
def test_with_equal_costs_it_is_the_prevalence(share, cost):
    pc = operating_condition(prevalence=share, false_positive=cost, false_negative=cost)
    assert pc == pytest.approx(share)


def test_one_number_gives_a_float_and_several_an_array():
    one = operating_condition(prevalence=0.1, false_positive=1, false_negative=9)
    assert type(one) is float
    several = operating_condition(prevalence=[0.1, 0.5], false_positive=1, false_negative=[9, 3])
    assert several.tolist() == pytest.approx([0.5, 0.75])
    assert type(cost_ratio(0.5, prevalence=0.2)) is float
    assert cost_ratio([0.2, 0.5], prevalence=0.2).tolist() == pytest.approx([1, 4])
    assert prevalence_at(np.array([[0.5]]), false_positive=1, false_negative=4).shape == (1, 1)
    assert worst_cost(prevalence=[0, 1], false_positive=2, false_negative=7).tolist() == [2, 7]


def test_the_ends():
    costs_given = {"false_positive": 3, "false_negative": 8}
    assert operating_condition(prevalence=0, **costs_given) == 0
    assert operating_condition(prevalence=1, **costs_given) == 1
    assert operating_condition(prevalence=0.3, false_positive=0, false_negative=8) == 1
    assert operating_condition(prevalence=0.3, false_positive=3, false_negative=0) == 0
    assert prevalence_at([0, 1], **costs_given).tolist() == [0, 1]
    assert cost_ratio(0, prevalence=0.3) == 0
    assert cost_ratio(1, prevalence=0.3) == np.inf
    with np.errstate(all="raise"):
        assert cost_ratio([0.5, 1.0], prevalence=0.5).tolist() == [1, np.inf]


def test_a_band_has_201_conditions_unless_told():
    assert len(condition_list(None)) == CURVE_POINTS == 201
    assert condition_list(0.3).tolist() == [0.3]
    assert condition_list([1, 0.5]).tolist() == [1, 0.5]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: operating_condition(prevalence=1.2, false_positive=1, false_negative=2),
            InputError,
            r"prevalence: expected the share of positives, from 0 to 1; got 1\.2",
        ),
        (
            lambda: operating_condition(prevalence=np.nan, false_positive=1, false_negative=2),
            InputError,
            "prevalence: expected the share of positives.*nan",
        ),
        (
            lambda: operating_condition(prevalence="few", false_positive=1, false_negative=2),
            InputError,
            "prevalence: expected numbers, got 'few'",
        ),
        (
            lambda: operating_condition(prevalence=None, false_positive=1, false_negative=2),
            InputTypeError,
            "prevalence: expected numbers, got None",
        ),
        (
            lambda: operating_condition(prevalence=0.1, false_positive=-1, false_negative=2),
            InputError,
            "false_positive: a mistake costs at least as much as a correct decision; got -1",
        ),
        (
            lambda: worst_cost(prevalence=0.1, false_positive=1, false_negative=np.inf),
            InputError,
            "false_negative: expected finite numbers, got inf",
        ),
        (
            lambda: operating_condition(prevalence=0.1, false_positive=0, false_negative=0),
            InputError,
            "the mistakes that can happen at this prevalence cost nothing",
        ),
        (
            lambda: operating_condition(prevalence=0, false_positive=0, false_negative=5),
            InputError,
            "the mistakes that can happen at this prevalence cost nothing",
        ),
        (
            lambda: cost_ratio(1.1, prevalence=0.5),
            InputError,
            r"pc: an operating condition PC\(\+\) lies between 0 and 1; got 1\.1",
        ),
        (
            lambda: cost_ratio([0.1, np.nan], prevalence=0.5),
            InputError,
            r"pc: an operating condition PC\(\+\) lies between 0 and 1; got nan",
        ),
        (
            lambda: cost_ratio(0.5, prevalence=0),
            InputError,
            "prevalence: with one class only, no ratio of costs",
        ),
        (
            lambda: prevalence_at(0.5, false_positive=0, false_negative=2),
            InputError,
            "false_positive: a mistake that costs nothing",
        ),
        (
            lambda: prevalence_at(0.5, false_positive=1, false_negative=0),
            InputError,
            "false_negative: a mistake that costs nothing",
        ),
        (
            lambda: condition_list([]),
            InputError,
            r"pc: expected a list of conditions, got an array of shape \(0,\)",
        ),
        (
            lambda: condition_list([[0.1, 0.2]]),
            InputError,
            r"pc: expected a list of conditions, got an array of shape \(1, 2\)",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()
