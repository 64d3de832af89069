"""MOVER: intervals of the rates, combined into one for the curve, also where a rate is zero.

Dugas & Gadoury's (2008) interval has zero width where no mistake was observed, as their own
coverage curves show at both ends. The method of variance estimates recovery (Zou & Donner 2008)
uses the distance from each rate to its limit in place of a standard deviation. That distance is
not zero when the rate is.

The limits of a rate with k in n are the quantiles of Beta(k, n - k + weight) and of
Beta(k + weight, n - k), the two-outcome form of the default interval for expected costs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.special import betaincinv

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.curves._sampling import Multinomial, Sample, joined, mean

RateLimits = Callable[[Multinomial], tuple[Floats, Floats]]

WEIGHT = 0.7
ALIKE = 1e-9
"""Rounding error within which the relative size of an unobserved example is taken as 1."""


def limits(sample: Sample, alpha: float, *, weight: float = WEIGHT) -> tuple[Floats, Floats]:
    """Return the limits of a curve's height at each condition."""
    share = validate.positive(weight, "weight")
    return combined(sample, partial(room_limits, alpha=alpha, weight=share))


def combined(sample: Sample, rate_limits: RateLimits) -> tuple[Floats, Floats]:
    """Combine the limits of rates; `rate_limits` gives those of each cell."""
    arms = [_squared_arms(part, rate_limits) for part in sample]
    down, up = (np.sqrt(joined(sample, [arm[side] for arm in arms])) for side in (0, 1))
    centre = mean(sample)
    return centre - down, centre + up


def _squared_arms(part: Multinomial, rate_limits: RateLimits) -> tuple[Floats, Floats]:
    """Return the squared distances from one multinomial's sum to its lower and upper limit.

    Rates of different cells of a multinomial are correlated:
    corr(p, q) = -√(p q / ((1 - p)(1 - q))).
    """
    rates = part.counts / part.n
    low, high = rate_limits(part)
    below, above = rates - low, high - rates
    gains = part.values < 0
    size = np.abs(part.values) * part.n
    down = size * np.where(gains, above, below)
    up = size * np.where(gains, below, above)
    with np.errstate(divide="ignore"):
        odds = np.sqrt(rates / (1 - rates))
    odds = np.where(np.isfinite(odds), odds, 0.0)  # a rate of one leaves nothing to the others
    signs = np.where(gains, -1.0, 1.0) * odds
    result = []
    for arms in (down, up):
        square = (arms**2).sum(axis=0)
        for i in range(len(arms)):
            for j in range(i):
                square -= 2 * signs[i] * signs[j] * arms[i] * arms[j]
        result.append(np.maximum(square, 0.0))
    return result[0], result[1]


def beta_limits(counts: Floats, n: Any, *, alpha: float, weight: float) -> tuple[Floats, Floats]:
    """Return the limits of the rate of k in n."""
    rest = n - counts
    low, high = np.zeros_like(counts), np.ones_like(counts)
    some, room = counts > 0, rest > 0
    low[some] = betaincinv(counts[some], rest[some] + weight, alpha / 2)
    high[room] = betaincinv(counts[room] + weight, rest[room], 1 - alpha / 2)
    return low, high


def room_limits(part: Multinomial, *, alpha: float, weight: float) -> tuple[Floats, Floats]:
    """Return the limits of the rates of a multinomial, allowing for larger unobserved examples.

    An unobserved example may be r times as large as the observed ones. The upper limit is then the
    quantile of X/(X + G(n - k)) with X = G(k) + r·G(weight), the G being gamma variables: Beta for
    r = 1. The sum X is approximated by one gamma variable with its mean and its variance, as by Fay
    & Feuer (1997).
    """
    n = np.broadcast_to(part.n, part.counts.shape)
    if part.rooms is None:
        return beta_limits(part.counts, n, alpha=alpha, weight=weight)
    rest = np.maximum(n - part.counts, 0.0)
    upper = partial(_upper, alpha=alpha, weight=weight)
    return 1 - upper(rest, part.counts, part.rooms[0]), upper(part.counts, rest, part.rooms[1])


def _upper(k: Floats, rest: Floats, room: Floats, *, alpha: float, weight: float) -> Floats:
    """Return the upper limit of the rate of k among k and the rest."""
    mean, variance = k + weight * room, k + weight * room**2
    scale = np.where(np.abs(room - 1) > ALIKE, variance / mean, 1.0)
    high = np.ones_like(mean)
    some = rest > 0
    q = betaincinv((mean / scale)[some], rest[some], 1 - alpha / 2)
    high[some] = scale[some] * q / (1 + (scale[some] - 1) * q)
    return high
