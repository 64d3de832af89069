"""Betting against a mean: the machinery of the guaranteed and the likelihood intervals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import logsumexp

from stakes._core.typing import Floats

Wealth = Callable[[Floats, Floats, Floats], Floats]

FRACTIONS_PER_E = 3
"""Fractions on the grid of the mixture, for each factor of e."""


def lower_limit(costs: Floats, counts: Floats, wealth: Wealth, goal: float) -> Floats:
    """Return the largest mean against which the log-wealth reaches `goal`, for each table.

    Betting that the mean is higher than m wins the less the higher m is, so the limit is found by
    bisection between the lowest possible cost and the observed mean.
    """
    span = costs[-1] - costs[0]
    if span == 0:
        return np.full(len(counts), costs[0])
    scaled = (costs - costs[0]) / span
    mean = counts @ scaled / counts.sum(axis=1)
    # Bisection of log(m), since limits may lie many orders of magnitude below the mean.
    low, high = np.full(len(counts), -700.0), np.log(np.maximum(mean, 1e-300))
    for _ in range(60):
        middle = (low + high) / 2
        won = wealth(scaled, counts, np.exp(middle)) >= goal
        low, high = np.where(won, middle, low), np.where(won, high, middle)
    limit = np.where((low > -700) & (mean > 0), np.exp(low), 0.0)  # noqa: PLR2004 - never won
    return np.asarray(costs[0] + span * limit)


def mixture_wealth(costs: Floats, counts: Floats, mean: Floats) -> Floats:
    """Return the log-wealth of a fortune split equally over a geometric grid of fractions.

    `costs` run from 0 to 1; fractions run from one down to one over n, whatever the data.
    """
    steps = np.ceil(FRACTIONS_PER_E * np.log(counts.sum(axis=1) + 1)) + 1
    gains = costs / mean[:, np.newaxis] - 1
    logs = np.full((int(steps.max()), len(counts)), -np.inf)
    for k in range(len(logs)):
        fraction = np.full(len(counts), np.exp(-k / FRACTIONS_PER_E))
        logs[k] = np.where(k < steps, _log_wealth(gains, counts, fraction), -np.inf)
    return np.asarray(logsumexp(logs, axis=0) - np.log(steps))


def best_wealth(costs: Floats, counts: Floats, mean: Floats) -> Floats:
    """Return the most that a constant fraction would have won (its logarithm is concave in it)."""
    gains = costs / mean[:, np.newaxis] - 1
    low, high = np.zeros(len(counts)), np.ones(len(counts))
    for _ in range(50):
        fraction = (low + high) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            slope = np.where(counts > 0, counts * gains / (1 + fraction[:, None] * gains), 0.0)
        rising = slope.sum(axis=1) > 0
        low, high = np.where(rising, fraction, low), np.where(rising, high, fraction)
    return _log_wealth(gains, counts, (low + high) / 2)


def _log_wealth(gains: Floats, counts: Floats, fraction: Floats) -> Floats:
    # A fortune staked whole and lost has the logarithm -inf; costs never seen play no part.
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = counts * np.log1p(fraction[:, np.newaxis] * gains)
    return np.asarray(np.where(counts > 0, logs, 0.0).sum(axis=1))
