"""Measured power agrees with formulas and with the planner."""

import numpy as np
import pytest

from stakes import CostMatrix, PairedConfusion, power
from stakes.errors import InputError
from stakes.simulate import power_curve, type_one_error

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=10)
PAIRED = PairedConfusion([[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])


def test_it_is_what_planning_says():
    curve = power_curve("extremal", PAIRED, COSTS, n=[300, 900], repeats=600, rng=0)
    for n, found, error in zip(curve.n, curve.power, curve.standard_error, strict=True):
        large = PairedConfusion(PAIRED.counts * 10**6, labels=[0, 1])
        planned = power(large, COSTS, n, rng=1)
        assert abs(found - planned.simulated) < 4 * np.hypot(error, planned.standard_error)
    assert curve.difference == pytest.approx(0.26)


def test_normal_theory_holds_where_n_is_large():
    curve = power_curve("normal", PAIRED, COSTS, n=[200, 400, 800], repeats=4000, rng=0)
    large = PairedConfusion(PAIRED.counts * 10**6, labels=[0, 1])
    for n, found, error in zip(curve.n, curve.power, curve.standard_error, strict=True):
        assert abs(found - power(large, COSTS, n, rng=0).formula) < 4 * error + 0.01
    assert curve.power == tuple(sorted(curve.power))


def test_another_difference_none_and_one_size():
    smaller = power_curve("normal", PAIRED, COSTS, n=500, difference=0.1, rng=0)
    assert smaller.n == (500,)
    assert smaller.difference == pytest.approx(0.1)
    assert smaller.power[0] < power_curve("normal", PAIRED, COSTS, n=500, rng=0).power[0]
    none = power_curve("normal", PAIRED, COSTS, n=500, difference=0, repeats=2000, rng=0)
    size = type_one_error("normal", PAIRED, COSTS, n=500, rng=0)
    assert none.power[0] == size.size


def test_several_tests_and_their_table():
    found = power_curve(["normal", "bdeltacost"], PAIRED, COSTS, n=(50, 100), repeats=50, rng=0)
    assert list(found.to_frame()["method"]) == ["normal", "normal", "bdeltacost", "bdeltacost"]
    one = found["normal"]
    assert one.to_frame().shape == (2, 4)
    assert one.summary().startswith("normal: finds a difference of 0.26 in ")
    assert one.to_dict()["n"] == (50, 100)
    assert "<p>normal: finds" in one._repr_html_()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"n": []}, "n: expected one or more sizes of test sets, got none"),
        ({"n": [100, 0]}, "n: expected a whole number, 1 or more, got 0"),
        ({"n": "many"}, "n: expected a whole number, 1 or more, got 'many'"),
        ({"n": 10, "difference": 50}, "differ by -10 to 10, so a mean difference of 50 cannot"),
        ({"n": 10, "difference": np.nan}, "difference: expected finite numbers"),
        ({"n": 10, "difference": "big"}, "difference: expected numbers, got 'big'"),
    ],
)
def test_bad_arguments_are_named(arguments, said):
    with pytest.raises(InputError, match=said):
        power_curve("extremal", PAIRED, COSTS, **arguments)
