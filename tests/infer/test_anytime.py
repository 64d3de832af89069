"""The anytime interval: its bets are fair, its limits match the definition, Ville's bound holds."""

import itertools
from math import log, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq

from stakes import Confusion, CostEstimate, CostMatrix, CostSample
from stakes.infer import batch_intervals
from stakes.infer._probability.betting import FRACTIONS, LOG_SHARES, limits, log_wealth

SHARES = np.exp(LOG_SHARES)
GOAL = log(2 / 0.05)
COSTS = np.array([-2.0, 0.0, 1.0, 30.0])


def by_hand(outcomes, mean, low, *, upper=False):
    """Return the fortune after one outcome after another, each bet with its own account."""
    accounts = SHARES.copy()
    for cost in outcomes:
        won = (low - cost) / (low - mean) if upper else (cost - low) / (mean - low)
        accounts *= 1 - FRACTIONS + FRACTIONS * won
    return accounts.sum()


def test_the_fortune_is_split_and_nothing_is_kept():
    assert SHARES.sum() == pytest.approx(1, abs=1e-12)
    assert 0 < FRACTIONS.min() < 1e-11
    assert 0.999 < FRACTIONS.max() < 1


@pytest.mark.parametrize("upper", [False, True])
def test_bets_are_fair(upper):
    """Against the true mean the expected fortune is one, by enumerating all samples of five."""
    distances, p = np.array([0.0, 0.4, 1.0]), np.array([0.5, 0.3, 0.2])
    mean = p @ distances
    u = np.log([1 - mean if upper else mean])
    expected = 0.0
    for sample in itertools.product(range(3), repeat=5):
        counts = np.bincount(sample, minlength=3).astype(float)[np.newaxis]
        wealth = log_wealth(distances, counts, np.array([upper]), u)[0][0]
        expected += np.exp(wealth) * prod(p[list(sample)])
    assert expected == pytest.approx(1)


@given(st.lists(st.sampled_from(COSTS.tolist()), min_size=1, max_size=30), st.floats(0.01, 0.5))
def test_limits_are_where_the_fortune_of_each_outcome_in_turn_reaches_the_goal(outcomes, alpha):
    counts = np.array([[outcomes.count(cost) for cost in COSTS]], dtype=float)
    low, high = (limit[0] for limit in limits(COSTS, counts, log(2 / alpha)))
    floor, top, mean = COSTS[0], COSTS[-1], np.mean(outcomes)
    if mean > floor:
        expected = brentq(
            lambda m: log(by_hand(outcomes, m, floor)) - log(2 / alpha),
            floor + 1e-9, mean, xtol=1e-14, rtol=1e-13,
        )  # fmt: skip
        assert low - floor == pytest.approx(expected - floor, rel=1e-7)
    else:
        assert low == floor
    if mean < top:
        expected = brentq(
            lambda m: log(by_hand(outcomes, m, top, upper=True)) - log(2 / alpha),
            mean, top - 1e-9, xtol=1e-14, rtol=1e-13,
        )  # fmt: skip
        assert top - high == pytest.approx(top - expected, rel=1e-7)
    else:
        assert high == top


@given(
    st.lists(st.integers(0, 10**6), min_size=4, max_size=4).filter(lambda n: any(n[1:])),
    st.lists(st.floats(-25, -1e-6), min_size=3, max_size=3, unique=True),
    st.booleans(),
)
def test_the_log_fortune_falls_and_is_convex_so_what_is_not_refuted_is_an_interval(counts, at, up):
    distances = np.array([0.0, 1e-3, 0.4, 0.99])
    u = np.sort(at)
    rows = np.tile(np.array(counts, dtype=float), (3, 1))
    wealth, slope = log_wealth(distances, rows, np.full(3, up), u)
    slack = 1e-9 * (1 + np.abs(wealth).max())
    assert (np.diff(wealth) <= slack).all()
    chords = np.diff(wealth) / np.diff(u)
    steep = 1e-9 * (1 + np.abs(slope).max())
    assert (slope[:-1] <= chords + steep + slack / np.diff(u)).all()
    assert (chords <= slope[1:] + steep + slack / np.diff(u)).all()


@pytest.mark.parametrize("n", [10**2, 10**4, 10**6, 10**9, 10**12])
@pytest.mark.parametrize("rare", [0.2, 1e-3, 1e-6])
def test_no_digits_are_lost_for_any_n(n, rare):
    """The fortune at the limits in longer arithmetic, and a rare expensive error."""
    costs = np.array([0.0, 1.0, 1e6])
    counts = np.array([[n - n // 20 - round(n * rare), n // 20, round(n * rare)]], dtype=float)
    low, high = (limit[0] for limit in limits(costs, counts, GOAL))
    mean = counts[0] @ costs / n
    assert low < mean < high

    def wealth(m, end):
        gains = (costs.astype(np.longdouble) - end) / (np.longdouble(m) - end) - 1
        logs = (np.log1p(np.outer(FRACTIONS, gains)) * counts[0]).sum(axis=1)
        return np.log((SHARES * np.exp(logs - logs.max())).sum()) + logs.max()

    # A shift by a millionth of the arm changes a mean from not refuted to refuted.
    for limit, end in ((low, 0.0), (high, 1e6)):
        arm = 1e-6 * (limit - mean)
        assert wealth(limit + arm, end) > GOAL > wealth(limit - arm, end)


def test_what_is_at_the_end_of_the_range_is_never_refuted():
    counts = np.array([[50.0, 0, 0, 0], [0, 0, 0, 50.0], [0, 0, 0, 0]])
    low, high = limits(COSTS, counts, GOAL)
    assert (low[0], high[1], low[2], high[2]) == (-2, 30, -2, 30)
    assert -2 < high[0] < 30
    assert -2 < low[1] < 30


def test_many_tables_at_once_are_each_alone():
    tables = np.random.default_rng(0).multinomial(300, [0.2, 0.6, 0.19, 0.01], 5000).astype(float)
    low, high = limits(COSTS, tables, GOAL)
    for i in (0, 17, 4999):
        assert [low[i], high[i]] == pytest.approx(
            [each[0] for each in limits(COSTS, tables[i : i + 1], GOAL)], rel=1e-10
        )


def ever_excluded(p, most, method, first=1):
    """Return the probability that the interval of some n up to `most` excludes p, exactly."""
    costs = CostMatrix.from_errors(false_positive=1, false_negative=1)
    alive, out = np.array([1.0]), 0.0  # by number of errors
    for n in range(1, most + 1):
        alive = np.append(alive * (1 - p), 0) + np.append(0, alive * p)
        if n < first:
            continue
        errors = np.arange(n + 1)
        tables = np.zeros((n + 1, 2, 2), dtype=int)
        tables[:, 0, 0], tables[:, 1, 0] = n - errors, errors
        low, high = batch_intervals(tables, costs, method=method)
        outside = (p < low) | (p > high)
        out += alive[outside].sum()
        alive[outside] = 0
    assert alive.sum() + out == pytest.approx(1)
    return out


@pytest.mark.parametrize("p", [0.02, 0.3, 0.5])
def test_looking_after_every_outcome_keeps_the_error_rate(p):
    """All sequences of 200 outcomes, none simulated."""
    assert 0 < ever_excluded(p, 200, "anytime") <= 0.05


def test_looking_after_every_outcome_breaks_an_interval_for_one_look():
    assert ever_excluded(0.3, 200, "normal", first=20) > 0.2


def test_it_is_a_method_like_any_other():
    costs = CostMatrix([[0, 30, 2.5], [1, 0, 7], [4, 0.5, 0]], rows="predicted", labels=list("abc"))
    table = Confusion([[40, 2, 3], [5, 30, 1], [0, 4, 25]], list("abc"))
    interval = CostEstimate(table, costs).interval(0.9, method="anytime")
    each = np.repeat(costs.values.ravel(), table.counts.ravel())
    assert by_hand(each, interval.low, 0.0) == pytest.approx(20)
    assert by_hand(each, interval.high, 30.0, upper=True) == pytest.approx(20)
    assert (interval.confidence, interval.method) == (0.9, "anytime")


def test_condensing_many_costs_never_narrows():
    rng = np.random.default_rng(0)
    values = np.minimum(rng.lognormal(0, 1, 5000), 50)
    low, high = CostEstimate(CostSample(values, low=0, high=50)).interval(method="anytime")
    costs = np.unique(np.append(values, [0.0, 50.0]))
    counts = np.isin(costs, values).astype(float)[np.newaxis]
    narrow = [limit[0] for limit in limits(costs, counts, GOAL)]
    assert low <= narrow[0] + 1e-12
    assert high >= narrow[1] - 1e-12
    assert [low, high] == pytest.approx(narrow, rel=1e-3)
