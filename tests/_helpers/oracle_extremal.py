"""Extremal limits and tests of a mean of a few outcomes by quadrature: slow, but easy to check.

The upper limit is a quantile of Σ v·D with D ~ Dirichlet(counts, w more for the largest possible
outcome), the lower limit one with w more for the smallest. Σ v·D reaches u exactly when
W = Σ (v - u)·G does 0, with independent G ~ Gamma(counts). The probability of that is

    P(W > 0) = 1/(2πi) ∫ M(z)/z dz,  M(z) = Π (1 - (v - u) z)^(-count),

along any line parallel to the imaginary axis through a real c > 0 short of the poles; through a
c < 0 the integral is -P(W < 0). The line through the saddlepoint has no cancellation.
"""

import numpy as np
from scipy.optimize import brentq, minimize_scalar

EDGE = 1e-9
STEPS = np.arange(0, 40, 0.005)


def exceeds(values, counts, u):
    """Return P(Σ v·D > u) for D ~ Dirichlet(counts)."""
    values, counts = np.asarray(values, dtype=float), np.asarray(counts, dtype=float)
    apart, counts = (values - u)[counts > 0], counts[counts > 0]
    if apart.min() >= 0 or apart.max() <= 0:
        return float(apart.max() > 0)
    apart = apart / np.abs(apart).max()
    side = 1 if counts @ apart < 0 else -1  # the smaller tail is computed
    tail = _positive(side * apart, counts)
    return tail if side > 0 else 1 - tail


def _positive(apart, counts):
    """Return P(Σ apart·G > 0), which is at most about one half."""

    def exponent(z):
        return -counts @ np.log(1 - apart[:, np.newaxis] * np.atleast_1d(z)) - np.log(z)

    most = 1 / apart.max()
    bounds = (EDGE * most, (1 - EDGE) * most)
    options = {"xatol": 1e-12}
    at = minimize_scalar(
        lambda z: exponent(z)[0], bounds=bounds, method="bounded", options=options
    ).x
    unit = 1 / np.sqrt(counts @ (apart / (1 - apart * at)) ** 2 + 1 / at**2)
    # The trapezoidal rule on z = at + i·unit·sinh(y), whose integrand is even in y.
    values = np.exp(exponent(at + 1j * unit * np.sinh(STEPS))) * np.cosh(STEPS)
    values[0] /= 2
    return float(unit * STEPS[1] * values.real.sum() / np.pi)


def weighted(values, counts, extreme, weight):
    """Return the outcomes and their counts, with `weight` more on a possible outcome."""
    return [*values, extreme], [*counts, weight]


def upper(values, counts, level, weight=0.7, most=None):
    """Return the u that the extremal variable exceeds with probability `level`."""
    end = float(max(values) if most is None else most)
    values, counts = weighted(values, counts, end, weight)
    low = min(value for value, count in zip(values, counts, strict=True) if count > 0)
    if low == end:
        return end
    return brentq(
        lambda u: exceeds(values, counts, u) - level,
        low + EDGE * (end - low),
        end - 1e-15 * (end - low),
        xtol=1e-13,
        rtol=1e-13,
    )


def lower(values, counts, level, weight=0.7, least=None):
    """Return the mirror image of the upper limit."""
    least = min(values) if least is None else least
    return -upper([-value for value in values], counts, level, weight, -least)


def limits(values, counts, alpha=0.05, weight=0.7):
    """Return the two-sided limits; the values are all possible outcomes."""
    return lower(values, counts, alpha / 2, weight), upper(values, counts, alpha / 2, weight)


def p_value(values, counts, weight=0.7, at=0.0):
    """Return the two-sided p-value of the hypothesis that the mean is `at`."""
    above = exceeds(*weighted(values, counts, max(values), weight), np.nextafter(at, -np.inf))
    below = 1 - exceeds(*weighted(values, counts, min(values), weight), at)
    return min(1.0, 2 * min(above, below))
