"""Sums of independent Dirichlet means, one for each stratum, by convolution on a lattice."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.interpolate import PchipInterpolator
from scipy.special import ndtr, ndtri

from stakes._core.typing import Floats
from stakes.infer.outcomes import Outcomes
from stakes.infer.probability.dirichlet_mean import quantile

LATTICE = 1 << 14
KNOTS = ndtr(np.linspace(-6.0, 6.0, 97))
"""Probabilities at which each stratum's quantiles are computed."""


def quantile_of_sum(outcomes: Outcomes, alpha: Sequence[Floats], upper: float) -> Floats:
    """Return the value that the weighted sum exceeds with probability `upper`, for each table."""
    result = np.empty(outcomes.tables)
    for table in range(outcomes.tables):
        points, cumulative = _convolved(outcomes, [each[table] for each in alpha])
        result[table] = np.interp(1 - upper, cumulative, points)
    return result


def upper_tail_of_sum(outcomes: Outcomes, alpha: Sequence[Floats], value: float) -> Floats:
    """Return the probability that the weighted sum exceeds `value`, for each table."""
    result = np.empty(outcomes.tables)
    for table in range(outcomes.tables):
        points, cumulative = _convolved(outcomes, [each[table] for each in alpha])
        result[table] = 1 - np.interp(value, points, cumulative, left=0.0, right=1.0)
    return result


@lru_cache(maxsize=4096)  # along a path of costs most strata stay as they are
def _knots(costs: bytes, weights: bytes) -> Floats:
    """Return the quantiles of one stratum at all knots."""
    alpha = np.frombuffer(weights)
    return quantile(
        np.frombuffer(costs), np.broadcast_to(alpha, (len(KNOTS), len(alpha))), 1 - KNOTS
    )


def _convolved(outcomes: Outcomes, alpha: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Return points and the distribution function of Σ weight · Σ a·D at them."""
    fixed, parts = 0.0, []
    for stratum, weights in zip(outcomes.strata, alpha, strict=True):
        if (weights > 0).sum() == 1:
            fixed += stratum.weight * stratum.costs[weights.argmax()]
            continue
        parts.append(stratum.weight * _knots(stratum.costs.tobytes(), weights.tobytes()))
    if not parts:
        return np.array([fixed, fixed]), np.array([0.0, 1.0])
    start = sum(knots[0] for knots in parts)
    width = sum(knots[-1] - knots[0] for knots in parts)
    step = width / LATTICE
    transform: NDArray[np.complex128] | float = 1.0
    length = fft.next_fast_len(LATTICE + 2 * len(parts) + 2, real=True)
    for knots in parts:
        distinct, index = np.unique(knots, return_index=True)
        score = PchipInterpolator(distinct, ndtri(KNOTS)[index])
        edges = knots[0] + step * (np.arange(length + 1) - 0.5)
        inside = np.clip(edges, distinct[0], distinct[-1])
        cumulative = ndtr(score(inside))
        cumulative[edges < distinct[0]] = 0.0
        cumulative[edges >= distinct[-1]] = 1.0
        transform = transform * fft.rfft(np.diff(cumulative))
    mass = fft.irfft(transform, n=length)
    points = fixed + start + step * (np.arange(length) + 0.5)
    return points, np.minimum(np.maximum.accumulate(np.cumsum(mass)), 1.0)
