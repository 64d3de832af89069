"""Daily looks for a thousand days: frequency of ever excluding the truth, and widths."""

import numpy as np
import pytest
from _helpers.judge import at_most
from scipy.special import logsumexp

from stakes import Accumulator, Confusion, CostMatrix
from stakes.infer import batch_intervals
from stakes.infer._probability.betting import FRACTIONS, LOG_SHARES, limits

pytestmark = pytest.mark.statistical

DAYS = 1000
STREAMS = 2000
GOAL = np.log(2 / 0.05)

# Costs [predicted, actual] and the probabilities of the cells, classes 0 and 1.
PROBLEMS = {
    "plenty of errors": ([[0, 5], [1, 0]], [[0.75, 0.05], [0.10, 0.10]]),
    "fraud": ([[0, 100], [1, 0]], [[0.988, 0.0012], [0.01, 0.0008]]),
    "rare and expensive": ([[0, 1000], [1, 0]], [[0.9489, 0.0001], [0.05, 0.001]]),
    "seen once in three years": ([[0, 10**4], [1, 0]], [[0.98898, 0.00002], [0.01, 0.001]]),
    "gains": ([[0, 20], [2, -10]], [[0.90, 0.02], [0.03, 0.05]]),
}
problems = pytest.mark.parametrize("problem", PROBLEMS)


def streams(problem, count, a_day, seed):
    """Return the costs of the cells, the true mean, and the counts of each stream by each day."""
    costs, shares = (np.array(each, dtype=float).ravel() for each in PROBLEMS[problem])
    rng = np.random.default_rng([seed, list(PROBLEMS).index(problem), a_day])
    daily = rng.multinomial(a_day, shares, size=(count, DAYS))
    return costs, float(costs @ shares), daily.cumsum(axis=1)


def reached(costs, truth, counts, *, upper):
    """Return the logarithm of the fortune that bets against the truth, by its definition."""
    end = costs.max() if upper else costs.min()
    won = np.log1p(np.outer((costs - truth) / (truth - end), FRACTIONS))
    logs = counts @ won + LOG_SHARES
    top = logs.max(axis=1)
    near = top >= -3  # 61 accounts of less than 0.05 each have a sum below every goal here
    top[near] = logsumexp(logs[near], axis=1)
    return top


def ever_excluded(costs, truth, counts):
    """Tell for each stream whether the anytime interval excluded the truth on any day.

    A limit excludes the truth where the fortune against it has reached the goal; no limit needs to
    be computed.
    """
    out = np.zeros(len(counts), dtype=bool)
    for stream, days in enumerate(counts.astype(float)):
        for upper in (False, True):
            out[stream] |= (reached(costs, truth, days, upper=upper) >= GOAL).any()
    return out


@problems
@pytest.mark.parametrize("a_day", [1, 50])
def test_looking_daily_for_a_thousand_days_keeps_the_error_under_five_per_cent(problem, a_day):
    excluded = ever_excluded(*streams(problem, STREAMS, a_day, seed=1))
    assert at_most(excluded.sum(), STREAMS, 0.05), excluded.mean()
    assert excluded.mean() < 0.05


@problems
def test_the_intervals_themselves_exclude_when_the_fortune_says_so(problem):
    costs, truth, counts = streams(problem, 40, 50, seed=2)
    days = counts[:, [0, 1, 6, 29, 99, 364, 999]].reshape(-1, 2, 2)
    matrix = CostMatrix(costs.reshape(2, 2), rows="predicted", labels=[0, 1])
    low, high = batch_intervals(days, matrix, method="anytime", confidence=0.5)
    rows = days.reshape(-1, 4)
    for upper, outside in ((False, truth < low), (True, truth > high)):
        fortune = reached(costs, truth, rows, upper=upper)
        clear = np.abs(fortune - np.log(4)) > 1e-6
        assert (outside == (fortune >= np.log(4)))[clear].all()
    running = Accumulator(matrix)
    running.add(Confusion(days[5], [0, 1]))
    assert running.interval(0.5).low == pytest.approx(low[5])


@pytest.mark.parametrize("problem", ["plenty of errors", "fraud"])
def test_looking_daily_breaks_the_intervals_for_one_look(problem):
    """The same streams, looked at daily by the default interval: wrong far more often than 5%."""
    costs, truth, counts = streams(problem, 60, 50, seed=3)
    matrix = CostMatrix(costs.reshape(2, 2), rows="predicted", labels=[0, 1])
    low, high = batch_intervals(counts.reshape(-1, 2, 2), matrix)
    outside = ((truth < low) | (truth > high)).reshape(-1, DAYS)
    assert outside[:, -1].mean() < 0.15  # it holds on a day chosen in advance
    assert not at_most(outside.any(axis=1).sum(), 60, 0.05), outside.any(axis=1).mean()


def test_dependence_on_the_past_that_keeps_the_mean_is_no_harm():
    """Volatility that follows the past, as of a quiet or a busy day, with the same mean cost."""
    rng = np.random.default_rng(4)
    costs = np.array([0.0, 1.0, 10.0])
    calm, wild = np.array([0.5, 0.5, 0.0]), np.array([0.95, 0.0, 0.05])
    truth = float(costs @ calm)
    counts = np.zeros((1000, DAYS, 3))
    busy = np.zeros(1000, dtype=bool)
    for day in range(DAYS):
        drawn = np.where(
            busy[:, None], rng.multinomial(20, wild, 1000), rng.multinomial(20, calm, 1000)
        )
        counts[:, day] = drawn
        busy = drawn @ costs > 10
    excluded = ever_excluded(costs, truth, counts.cumsum(axis=1))
    assert truth == costs @ wild
    assert at_most(excluded.sum(), 1000, 0.05), excluded.mean()


def hedged_width(outcomes, low, high, alpha=0.05, most=0.5):
    """Return the width of Waudby-Smith & Ramdas' (2024) hedged interval with plug-in bets.

    Each bet is set by the outcomes before it, so it needs them one by one, in their order.
    """
    x = (outcomes - low) / (high - low)
    t = np.arange(1, len(x) + 1)
    means = (0.5 + np.cumsum(x)) / (t + 1)
    variances = (0.25 + np.cumsum((x - means) ** 2)) / (t + 1)
    before = np.append(0.25, variances[:-1])
    bets = np.sqrt(2 * np.log(2 / alpha) / (before * t * np.log(t + 1)))

    def limit(x):
        a, b = np.log(1e-9), np.log(x.mean())
        for _ in range(40):
            m = np.exp((a + b) / 2)
            won = np.log1p(np.minimum(bets, most / m) * (x - m)).sum() >= np.log(2 / alpha)
            a, b = ((a + b) / 2, b) if won else (a, (a + b) / 2)
        return np.exp(a)

    return (high - low) * (1 - limit(1 - x) - limit(x))


@problems
def test_not_knowing_the_order_costs_little(problem):
    """Against bets that know it: at most an eighth wider, and narrower for most large samples."""
    costs, shares = (np.array(each, dtype=float).ravel() for each in PROBLEMS[problem])
    rng = np.random.default_rng([5, list(PROBLEMS).index(problem)])
    order = np.argsort(costs, kind="stable")
    for n, repeats in ((10**3, 30), (10**5, 10)):
        ours, theirs = [], []
        for _ in range(repeats):
            drawn = rng.choice(4, n, p=shares)
            counts = np.bincount(drawn, minlength=4)[order].astype(float)[np.newaxis]
            atoms, place = np.unique(costs[order], return_inverse=True)
            merged = np.zeros((1, len(atoms)))
            np.add.at(merged[0], place, counts[0])
            low, high = limits(atoms, merged, GOAL)
            ours.append(high[0] - low[0])
            theirs.append(hedged_width(costs[drawn], costs.min(), costs.max()))
        assert np.mean(ours) < 1.125 * np.mean(theirs), (n, np.mean(ours) / np.mean(theirs))
