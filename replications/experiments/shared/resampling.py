"""Verdicts of BCOST and BDELTACOST averaged over their resampling, without drawing resamples.

A percentile interval of N sorted resamples excludes a value exactly when fewer than lb of them are
on one side of it, and their number is binomial. So a test set matters only through the
probabilities that one resample lies at or below the value, and that one lies at or above it. One
pair of probabilities serves every N.

A resampled total is a sum of n independent draws, so its characteristic function is a power. The
probabilities follow from it by the Fourier series of a square wave, whose period is so long that by
Bernstein's inequality less than 1e-7 lies beyond it.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr

from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes
from stakes.infer.methods.bcost import order

Complex = NDArray[np.complex128]

BEYOND = math.log(1e7)
WAVES = 1 << 13
"""Largest frequency, as a multiple of that of the square wave."""

FIRST = 32
GROUP = 128
"""Number of frequencies to begin with, and number of tables in a batch."""

BLUR = 4.0
"""Standard deviation of the blur that damps the waves, in radians of the largest frequency."""

APART = 3.0
"""Distance from a step at which a blurred law is evaluated, in standard deviations of the blur."""

NOTHING = 1e-6

AVERAGED = (
    "Given a test set, how many resamples lie below a value is binomial. So verdicts are averaged "
    "over the resampling exactly, not drawn."
)
"""Sentence for the stand-ins of experiments that use it."""

ALPHA = 0.05


def chances(
    outcomes: Outcomes, value: float, *, laplace: float = 0.0, spacing: float = 0.0
) -> tuple[Floats, Floats]:
    """Return the probabilities that a resampled mean is at most, and at least, a value.

    Parameters
    ----------
    outcomes : Outcomes
        Tables of counts, all with the same number of examples.
    value : float
        The value.
    laplace : float
        The correction λ that is added to each cell.
    spacing : float
        A unit of which all costs and the value are multiples, so that means equal to the value are
        counted; 0 for arbitrary costs, which are unlikely to average exactly to the value.

    Returns
    -------
    at_most, at_least : ndarray, shape (tables,)
    """
    stratum = outcomes.only
    n = round(float(stratum.n[0]))
    corrected = stratum.counts + laplace * stratum.cells
    shares = corrected / corrected.sum(axis=1, keepdims=True)
    costs = stratum.costs - value
    mean = shares @ costs
    variance = np.maximum(shares @ costs**2 - mean**2, 0.0)
    possible = shares > 0
    widest = np.where(possible, np.abs(costs - mean[:, np.newaxis]), 0.0).max(axis=1)
    slack = BEYOND * widest / 3
    reach = slack + np.sqrt(slack**2 + 2 * BEYOND * n * variance)
    middle = n * mean
    tiny = 1e-12 * float(np.abs(stratum.costs).max())
    constant = widest <= tiny
    level = np.where(constant, n * tiny, reach)
    at_most = np.where(middle <= level, 1.0, 0.0)
    at_least = np.where(middle >= -level, 1.0, 0.0)
    half = np.abs(middle) + reach
    unsure = np.flatnonzero(~constant & (np.abs(middle) <= reach))
    unsure = unsure[np.argsort(half[unsure])]
    for start in range(0, len(unsure), GROUP):
        rows = unsure[start : start + GROUP]
        seen = possible[rows].any(axis=0)
        at_most[rows], at_least[rows] = _square_waves(
            costs[seen], shares[np.ix_(rows, seen)], n, 2 * half[rows].max(), spacing
        )
    return at_most, at_least


def _square_waves(
    costs: Floats, shares: Floats, n: int, period: float, spacing: float
) -> tuple[Floats, Floats]:
    """Return the probabilities that a sum of n draws is at most, and at least, 0.

    P(S < x) - P(S > x) is the mean of a square wave at x - S, which is (4/π) Σ sin(2πm(x - S) /
    period) / m over odd m. It is evaluated on either side of 0. Where the characteristic function
    has not vanished at the largest frequency, the law is blurred, and the two points are farther
    apart.
    """
    unit = 2 * np.pi / period
    blur = BLUR / (unit * WAVES)
    apart = (spacing / 2, max(spacing / 2, APART * blur))
    sums = np.zeros((2, 2, len(shares)))
    rough = np.arange(len(shares))
    start, step = 1, FIRST
    while start < WAVES and len(rough):
        frequencies = unit * np.arange(start, start + 2 * step, 2)
        angles = np.outer(costs, frequencies)
        part = shares[rough]
        wave = _power(part @ np.cos(angles) - 1j * (part @ np.sin(angles)), n)
        height = unit / frequencies
        damped = height * np.exp(-0.5 * (frequencies * blur) ** 2)
        for number, (shift, weights) in enumerate(zip(apart, (height, damped), strict=True)):
            sums[number, 0, rough] += wave.imag @ (weights * np.cos(frequencies * shift))
            sums[number, 1, rough] += wave.real @ (weights * np.sin(frequencies * shift))
        rough = rough[np.abs(wave).max(axis=1) > NOTHING]
        start, step = start + 2 * step, min(2 * step, 512)
    chosen = sums[0]
    chosen[:, rough] = sums[1][:, rough]
    level, slope = chosen * (2 / np.pi)
    return np.clip(0.5 + level + slope, 0, 1), np.clip(0.5 - level + slope, 0, 1)


def _power(base: Complex, exponent: int) -> Complex:
    """Return complex numbers to a whole power, by squaring."""
    result = np.ones_like(base)
    while exponent:
        if exponent & 1:
            result *= base
        exponent >>= 1
        base *= base
    return result


def outside(
    at_most: Floats, at_least: Floats, n_resamples: int, *, confidence: float = 0.95
) -> Floats:
    """Return the probability that the interval of N resamples excludes the value.

    Parameters
    ----------
    at_most, at_least : ndarray
        The probabilities that a resample is at most, and at least, the value.
    n_resamples : int
        N; 0 stands for infinitely many.
    confidence : float
        Confidence level of the interval.

    Examples
    --------
    A value that one resample in forty reaches is excluded about half the time:

    >>> import numpy as np
    >>> from replications.experiments.shared.resampling import outside
    >>> outside(np.array([0.025]), np.array([0.975]), 1000).round(2).tolist()
    [0.55]
    """
    alpha = round(1 - confidence, 15)
    if n_resamples == 0:
        return np.asarray((at_most <= alpha / 2) | (at_least <= alpha / 2), dtype=float)
    fewer = order(alpha, n_resamples) - 1
    return np.asarray(bdtr(fewer, n_resamples, at_most) + bdtr(fewer, n_resamples, at_least))
