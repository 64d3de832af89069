r"""The distribution of Σ a·D for Dirichlet weights D, without sampling.

With D ~ Dirichlet(α) and independent G ~ Gamma(α), Σ a·D > u exactly when Q = Σ (a - u)·G > 0, and
Q has the cumulant generating function K(z) = -Σ α log(1 - (a - u) z). The tail probability is the
integral of exp(K(z))/z along any path that crosses the real axis between the poles of K'. We take
the path of steepest descent through the saddlepoint, on which K(z) = K(c) - τ²/2 with real τ. There
the integrand is a Gaussian times a smooth function, its only pole nearby is the one at z = 0, and
once that is taken out,

.. math::  P(Q > 0) = 1 - Φ(r) + \frac{e^{-r²/2}}{π} \int_0^∞ e^{-τ²/2}
           \operatorname{Im}\Bigl[\frac{z'(τ)}{z(τ)} - \frac{1}{τ - ir}\Bigr] dτ,

r being the signed root of -2 K(c). Dropping all but the first value of the integrand gives the
Lugannani-Rice approximation; a trapezoidal rule of twenty points gives the integral to about 1e-9;
atoms with tiny α need more. K' has only real zeros, so the path meets no other saddlepoint on its
way.

All functions treat many distributions at once: `costs` has one entry for each atom and runs from 0
to 1, `alpha` one row for each distribution.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, ndtr, ndtri

from stakes._core.typing import Floats

Complexes = NDArray[np.complexfloating]

STEP, REACH = 0.4, 7.6
"""The trapezoidal rule: e^(-τ²/2) is 3e-13 at its end."""

FINENESS = 5.0
"""The distance of the path from the next singularity, in steps."""

MOST_HALVINGS = 7

NEWTON_STEPS = 2
CLOSE_TO_MEAN = 2e-8
"""The least distance of a saddlepoint from zero, in standard deviations, which avoids 0/0."""

FEW_LOOKS = 8
SCORE_TOLERANCE = 1e-9
SMALL = 1e-3
ROOT_TOLERANCE = 1e-11
ROUGH_TOLERANCE = 0.02
MOST_STEPS = 100
WIDEST = 60.0
"""The search for a saddlepoint covers e^±60, more than costs in double precision can span."""

TWO = 2
BELOW_ONE = float(np.nextafter(1.0, 0.0))

SERIES_BELOW = 0.05
SERIES_TERMS = 12


def quantile(costs: Floats, alpha: Floats, upper: Floats) -> Floats:
    """Return the u that Σ a·D exceeds with probability `upper`, for each row of `alpha`.

    The costs ascend, the same for all rows; or each row has its own, in any order.
    Barndorff-Nielsen's approximation 1 - Φ(r*) of the tail gives a first u.
    """
    problem = _Problem(costs, alpha)
    result = problem.certain.copy()
    rows = np.flatnonzero(problem.spread)
    if problem.costs.shape == (TWO,):  # a beta distribution
        cheap, costly = problem.alpha[rows].T
        result[rows] = problem.at(rows, betainccinv(costly, cheap, upper[rows]))
        return result
    if not len(rows):
        return result
    costs, weights = _rows(problem.costs, rows), problem.alpha[rows]
    seen = result[rows]

    def nearly(x: Floats) -> Floats:
        return _modified_root(costs, weights, _from_log(x))

    def exactly(x: Floats) -> Floats:
        u, tail = _tail_at(costs, weights, _from_log(x))
        seen[:] = problem.at(rows, u)
        return _score(tail)

    guided_root(nearly, exactly, -ndtri(upper[rows]), np.zeros(len(rows)), WIDEST)
    result[rows] = seen  # as of the last call of `exactly`
    return result


def near_scores(costs: Floats, alpha: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Return for each row a u near the wanted normal score, and the exact P(Σ a·D > u).

    Each row has costs of its own, from 0 to 1. Barndorff-Nielsen's approximation finds u, without
    the refinements of `quantile`. For a whole distribution that is close enough, because the tail
    at u is exact.
    """
    found = partial(_modified_root, costs, alpha)
    x = _solve(found, scores, np.zeros(len(scores)), ROUGH_TOLERANCE)
    return _tail_at(costs, alpha, _from_log(x))


def upper_tail(costs: Floats, alpha: Floats, u: Floats) -> Floats:
    """Return P(Σ a·D > u) for each row of `alpha` and the matching entry of `u`.

    The costs are those of `quantile`.
    """
    problem = _Problem(costs, alpha)
    result = (problem.certain > u).astype(np.float64)
    span = problem.span
    where = (u - problem.low) / np.where(span > 0, span, 1.0)
    result[problem.spread & (where <= 0)] = 1.0
    result[problem.spread & (where >= 1)] = 0.0
    inside = np.flatnonzero(problem.spread & (where > 0) & (where < 1))
    if len(inside):
        costs, weights = _rows(problem.costs, inside), problem.alpha[inside]
        wanted = np.log(where[inside]) - np.log1p(-where[inside])
        x = _solve(partial(_logit_mean, costs, weights), wanted, np.zeros(len(inside)))
        _, result[inside] = _tail_at(costs, weights, _from_log(x))
    return result


class _Problem:
    """Costs scaled to 0 … 1, without those that have no weight in any row."""

    def __init__(self, costs: Floats, alpha: Floats) -> None:
        used = (alpha > 0).any(axis=0)
        self.alpha = alpha[:, used]
        seen, possible = self.alpha > 0, costs[..., used]
        if costs.ndim == 1:
            low, high = possible[:1], possible[-1:]
        else:
            low = np.where(seen, possible, np.inf).min(axis=1, keepdims=True)
            high = np.where(seen, possible, -np.inf).max(axis=1, keepdims=True)
        self.costs = np.clip((possible - low) / np.where(high > low, high - low, 1.0), 0.0, 1.0)
        self.low = np.broadcast_to(low[..., 0], len(alpha))
        self.span = np.broadcast_to((high - low)[..., 0], len(alpha))
        # Rows with a single cost are certain.
        least = np.where(seen, self.costs, 1.0).min(axis=1)
        self.spread = np.where(seen, self.costs, 0.0).max(axis=1) > least
        place = self.alpha.argmax(axis=1)
        self.certain: Floats = (
            possible[place] if costs.ndim == 1 else possible[np.arange(len(alpha)), place]
        )

    def at(self, rows: NDArray[Any], u: Floats) -> Floats:
        """Return scaled costs of some rows in the original unit."""
        return np.asarray(self.low[rows] + self.span[rows] * u)


def _from_log(x: Floats) -> Floats:
    """Return w = 1 - e^-x, below 1 also where a quantile rounds to the costliest outcome."""
    return np.minimum(-np.expm1(-x), BELOW_ONE)


def _tilted(costs: Floats, alpha: Floats, w: Floats) -> tuple[Floats, Floats, Floats]:
    """Return 1 - a·w, and the mean u of the weights tilted by w, with 1 - u.

    In terms of w = z/(1 + u·z) the saddlepoint equation is solved for u: u is the mean of the
    costs under the weights α/(1 - a·w).
    """
    room = 1 - costs * w[:, np.newaxis]
    tilted = alpha / room
    total = tilted.sum(axis=1)
    if costs.ndim == 1:
        return room, (tilted @ costs) / total, (tilted @ (1 - costs)) / total
    return room, (tilted * costs).sum(axis=1) / total, (tilted * (1 - costs)).sum(axis=1) / total


def _rows(costs: Floats, rows: NDArray[Any]) -> Floats:
    """Return the costs of some rows, where each row has its own."""
    return costs if costs.ndim == 1 else costs[rows]


def _logit_mean(costs: Floats, alpha: Floats, w: Floats) -> Floats:
    _, u, rest = _tilted(costs, alpha, w)
    return np.log(u) - np.log(rest)


def _saddlepoint(
    costs: Floats, alpha: Floats, w: Floats
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Return u(w), c, the slopes (a - u)/(1 - (a - u) c), K''(c) and r."""
    room, u, _ = _tilted(costs, alpha, w)
    margin = 1 - u * w
    slope = (costs - u[:, np.newaxis]) * (margin[:, np.newaxis] / room)
    k2 = (alpha * slope**2).sum(axis=1)
    c = w / margin
    least = CLOSE_TO_MEAN / np.sqrt(k2)
    c = np.where(np.abs(c) < least, least, c)
    # -K(c) = Σ α (x - log(1 + x)) with x = slope·c, since the slopes sum to zero: no cancellation.
    log1p_x = np.log(margin)[:, np.newaxis] - np.log(room)  # exact also where x is almost -1
    excess = excess_of(slope * c[:, np.newaxis], log1p_x)
    r = np.sign(c) * np.sqrt(2 * (alpha * excess).sum(axis=1))
    return u, c, slope, k2, r


def _modified_root(costs: Floats, alpha: Floats, w: Floats) -> Floats:
    """Return Barndorff-Nielsen's r*: P(Σ a·D > u(w)) is about 1 - Φ(r*)."""
    _, c, _, k2, r = _saddlepoint(costs, alpha, w)
    return np.asarray(r + np.log(c * np.sqrt(k2) / r) / r)


def excess_of(x: Floats, log1p_x: Floats) -> Floats:
    """Return x - log(1 + x), by a series where the two terms almost cancel."""
    return np.where(np.abs(x) < SERIES_BELOW, _series(x), x - log1p_x)


def _series(x: Floats) -> Floats:
    """Return x - log(1 + x) for small x."""
    small = np.clip(x, -SERIES_BELOW, SERIES_BELOW)
    total = np.zeros_like(x)
    for power in range(SERIES_TERMS, 1, -1):
        total = small * (total + (-1) ** power / power)
    return np.asarray(small * total)


def _score(tail: Floats) -> Floats:
    return np.asarray(-ndtri(np.clip(tail, 1e-300, 1 - 1e-16)))


def _solve(
    function: Callable[[Floats], Floats],
    target: Floats,
    x: Floats,
    tolerance: float = ROOT_TOLERANCE,
) -> Floats:
    """Find x with function(1 - e^-x) = target, for increasing functions, all rows at once."""
    return root_of(lambda at: function(_from_log(at)), target, x, tolerance, WIDEST)


def root_of(
    function: Callable[[Floats], Floats],
    target: Floats,
    x: Floats,
    tolerance: float,
    widest: float,
) -> Floats:
    """Find x with function(x) = target, for increasing functions, all rows at once.

    Regula falsi with Illinois' halving, from the guess `x`, within ± `widest`.
    """
    low, high = np.full(len(target), -widest), np.full(len(target), widest)
    below, above = np.full(len(target), -np.inf), np.full(len(target), np.inf)
    side, reach = np.zeros(len(target)), 0.5
    for _ in range(MOST_STEPS):
        value = function(x) - target
        under = value < 0
        above = np.where(under & (side < 0), above / 2, np.where(under, above, value))
        below = np.where(~under & (side > 0), below / 2, np.where(under, value, below))
        low, high = np.where(under, x, low), np.where(under, high, x)
        side = np.where(under, -1, 1)
        done = (np.abs(value) < tolerance) | (high - low < ROOT_TOLERANCE * 1e-3)
        if done.all():
            break
        bracketed = np.isfinite(below) & np.isfinite(above)
        with np.errstate(invalid="ignore"):
            secant = (low * above - high * below) / (above - below)
        step = np.where(bracketed, secant, x - side * reach)
        reach *= 2
        inside = (step > low) & (step < high)
        x = np.where(done, x, np.where(inside, step, (low + high) / 2))
    return x


def guided_root(
    nearly: Callable[[Floats], Floats],
    exactly: Callable[[Floats], Floats],
    target: Floats,
    x: Floats,
    widest: float,
) -> Floats:
    """Find x with exactly(x) = target for a slow function, guided by a fast approximation of it.

    The guide gives a first x and the slope for a second one; each further x is the value at the
    target of the polynomial through all points so far, x by score. `exactly` is last called with
    the result.
    """
    x = root_of(nearly, target, x, ROUGH_TOLERANCE, widest)
    slope = (nearly(x + SMALL) - nearly(x)) / SMALL
    looked, scores = [x], [exactly(x)]
    with np.errstate(all="ignore"):  # rows that are done repeat their points, which gives 0/0
        following = x + (target - scores[0]) / slope
        for _ in range(FEW_LOOKS):
            done = np.abs(scores[-1] - target) < SCORE_TOLERANCE
            if done.all():
                return looked[-1]
            following = np.where(done, looked[-1], following)
            if not (np.abs(following) < widest).all():
                break
            looked.append(following)
            scores.append(exactly(following))
            following = _polynomial_at(target, scores, looked)
    # Fallback for tails with a plateau, where the guide is poor.
    return root_of(exactly, target, x, SCORE_TOLERANCE, widest)


def _polynomial_at(target: Floats, scores: list[Floats], looked: list[Floats]) -> Floats:
    """Return the polynomial through (score, x) at the target, by Neville's scheme."""
    found = list(looked)
    for width in range(1, len(found)):
        for k in range(len(found) - width):
            left, right = scores[k], scores[k + width]
            found[k] = ((target - right) * found[k] + (left - target) * found[k + 1]) / (
                left - right
            )
    return found[0]


def _tail_at(costs: Floats, alpha: Floats, w: Floats) -> tuple[Floats, Floats]:
    """Return u(w) and P(Σ a·D > u(w)), by a finer rule for rows with tiny α."""
    steps = steps_needed(alpha)
    u, tail = np.empty(len(w)), np.empty(len(w))
    for step in np.unique(steps):
        rows = steps == step
        u[rows], c, slope, k2, r = _saddlepoint(_rows(costs, rows), alpha[rows], w[rows])
        b = _rows(costs, rows) - u[rows, np.newaxis]
        tail[rows] = along_path(b, alpha[rows], (c, slope, k2, r), step)
    return u, tail


def steps_needed(alpha: Floats) -> Floats:
    """Return the step of the trapezoidal rule that each row needs."""
    least = np.min(np.where(alpha > 0, alpha, np.inf), axis=1)
    # The next singularity lies √(2πα) or more from the path.
    halvings = np.ceil(np.log2(np.maximum(STEP * FINENESS / np.sqrt(2 * np.pi * least), 1)))
    return np.asarray(STEP / 2.0 ** np.minimum(halvings, MOST_HALVINGS))


def along_path(
    b: Floats, alpha: Floats, saddle: tuple[Floats, Floats, Floats, Floats], step: float
) -> Floats:
    """Return P(Σ b·G > 0), integrated along the path of steepest descent.

    `saddle` is c, the slopes b/(1 - b·c), K''(c) and r.
    """
    c, slope, k2, r = saddle
    k3 = 2 * (alpha * slope**3).sum(axis=1)
    unit = 1 / np.sqrt(k2)
    taus = step * np.arange(1, round(REACH / step) + 1)[:, np.newaxis]
    goals = -(r**2 + taus**2) / 2
    z: Complexes = c + 1j * unit * step + k3 / k2 / (6 * k2) * step**2
    previous: Complexes = 1j * unit
    derivative = previous
    ratios: list[Complexes] = []
    parts = np.empty((6, *b.shape))
    for tau, goal in zip(taus, goals, strict=True):
        if ratios:
            z = z + step * (1.5 * derivative - 0.5 * previous)
        for _ in range(NEWTON_STEPS):
            value, first, second = _cumulant(b, alpha, z, parts)
            move = (value - goal) / first
            z = z - move
        previous, derivative = derivative, -tau / (first - second * move)
        ratios.append(derivative / z)
    rest = np.imag(ratios) + r / (2 * goals)
    integral = 0.5 * (unit / c - 1 / r) + (np.exp(-(taus**2) / 2) * rest).sum(axis=0)
    tail = ndtr(-r) + np.exp(-(r**2) / 2) / np.pi * step * integral
    return np.asarray(np.clip(tail, 0.0, 1.0))


def _cumulant(
    b: Floats, alpha: Floats, z: Complexes, parts: Floats
) -> tuple[Complexes, Complexes, Complexes]:
    """Return K, K' and K'' at complex z, by real arithmetic, which is twice as fast.

    `parts` is a buffer for their real and imaginary parts. One call sums all of them, because with
    small tables, which are the usual ones, the calls take most of the time.
    """
    x, y = b * z.real[:, np.newaxis], b * z.imag[:, np.newaxis]
    rest = 1 - x
    room = b / (rest * rest + y * y)
    np.multiply(np.log1p(x * x - 2 * x + y * y), -0.5, out=parts[0])
    np.arctan2(y, rest, out=parts[1])
    # The slope b/(1 - x - iy), times its conjugate's denominator; and its square.
    real = np.multiply(rest, room, out=parts[2])
    imaginary = np.multiply(y, room, out=parts[3])
    np.subtract(real * real, imaginary * imaginary, out=parts[4])
    np.multiply(2 * real, imaginary, out=parts[5])
    value, first, second = np.einsum("ij,kij->ik", alpha, parts, order="C").view(np.complex128).T
    return value, first, second
