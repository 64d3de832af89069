"""Turning points of step functions that are known."""

import numpy as np
import pytest

from stakes.policies._turns import FARTHEST, Quantity, turn

COST, SHARE = Quantity(44.0, np.ones(1)), Quantity(0.05, np.ones(1), share=True)


def steps(*edges):
    """Return a function of the factor that has another value beyond each edge."""
    return lambda factor: int(np.searchsorted(edges, factor))


def test_the_value_has_as_few_digits_as_state_it():
    value, beyond = turn(COST, 1, steps(0.9970, 5), up=False)
    assert value == 43.9  # 43.868
    assert 0.99 < beyond < 0.997
    assert turn(COST, 1, steps(0.992, 5), up=False)[0] == 43.65  # 43.648
    value, beyond = turn(COST, 0, steps(2.5), up=True)
    assert value == 110
    assert 2.5 < beyond < 2.51


@pytest.mark.parametrize("seed", range(20))
def test_just_before_it_is_the_usual_and_just_beyond_it_the_other(seed):
    edge = float(np.exp(np.random.default_rng(seed).uniform(0.001, 4.6)))
    for quantity, cheapest, sign in (
        (COST, steps(edge), 1),
        (COST, lambda factor: steps(edge)(1 / factor), -1),
        (SHARE, steps(edge), 1),
    ):
        value, beyond = turn(quantity, 0, cheapest, up=sign > 0)
        assert cheapest(quantity.factor(value) * np.exp(-1e-3 * sign)) == 0
        assert cheapest(quantity.factor(value) * np.exp(1e-3 * sign)) == cheapest(beyond) == 1
        assert len(f"{value:.15g}".replace(".", "").strip("0")) <= 4


def test_a_change_that_is_soon_undone_is_stated_with_more_digits():
    cheapest = steps(1.49, 1.4902, 1.6)  # another policy for a fiftieth of a percent, then others
    value, beyond = turn(COST, 0, cheapest, up=True)
    assert (cheapest(value / 44 * (1 - 1e-5)), cheapest(beyond)) == (0, 1)
    assert value == pytest.approx(1.49 * 44, rel=1e-4)
    undone = steps(1.49, 1.4902)  # back to the usual one: no factor that is tried is between them
    assert turn(COST, False, lambda factor: undone(factor) == 1, up=True) is None


def test_nothing_within_reach():
    assert turn(COST, 0, steps(FARTHEST * 1.01), up=True) is None
    assert turn(COST, 0, steps(FARTHEST * 1.01), up=False) is None


def test_a_tie_at_the_stated_value_turns_there():
    value, beyond = turn(COST, 0, steps(1.0), up=True)
    assert value == pytest.approx(44, rel=1e-6)
    assert beyond > 1


def test_the_odds_of_a_prevalence_are_multiplied():
    assert SHARE.at(19) == pytest.approx(0.5)
    assert SHARE.factor(0.5) == pytest.approx(19)
    value, _ = turn(SHARE, 0, steps(19), up=True)
    assert value == 0.5
