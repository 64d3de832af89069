r"""The distribution of Σ t·G/Σ s·G for independent gamma variables G, without sampling.

Units of unequal sizes s with totals t (groups of rows, rows with weights) have this for the mean
Σ a·D of Dirichlet weights D: with equal sizes it is the same. The ratio exceeds u exactly when
Σ b·G > 0 with b = t - u·s, whose tail is the integral that `dirichlet_mean` explains.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from stakes._core.typing import Floats
from stakes.infer._probability.dirichlet_mean import (
    CLOSE_TO_MEAN,
    along_path,
    excess_of,
    root_of,
    steps_needed,
)

TOLERANCE = 1e-12
MOST_STEPS = 200
SCORE_TOLERANCE, ROUGH_TOLERANCE = 1e-9, 0.05
WIDEST = 700.0


def upper_tail(b: Floats, alpha: Floats) -> Floats:
    """Return P(Σ b·G > 0) for each row, G being independent Gamma(alpha)."""
    used = alpha > 0
    high = np.where(used, b, -np.inf).max(axis=1)
    low = np.where(used, b, np.inf).min(axis=1)
    result: Floats = (high > 0).astype(np.float64)
    rows = np.flatnonzero((high > 0) & (low < 0))
    if len(rows):
        # The size of b does not matter to the sign; scaled, nothing overflows.
        scale = np.maximum(high, -low)[rows, np.newaxis]
        result[rows] = _tail(
            np.where(used[rows], b[rows] / scale, 0.0),
            alpha[rows],
            (low[rows] / scale[:, 0], high[rows] / scale[:, 0]),
        )
    return result


def quantile(costs: Floats, sizes: Floats, alpha: Floats, upper: Floats) -> Floats:
    """Return the u that the ratio exceeds with probability `upper`, for each row.

    `costs` are totals per size, so the ratio lies between the least and the largest of those with
    weight; the exact tail is bracketed on the normal scale.
    """
    return _found(costs, sizes, alpha, -ndtri(upper), SCORE_TOLERANCE)[0]


def near_scores(
    costs: Floats, sizes: Floats, alpha: Floats, scores: Floats
) -> tuple[Floats, Floats]:
    """Return for each row a u near the wanted normal score, and the exact tail beyond it.

    Who needs a whole distribution takes the tail where it is: that saves half of the steps.
    """
    return _found(costs, sizes, alpha, scores, ROUGH_TOLERANCE)


def _found(
    costs: Floats, sizes: Floats, alpha: Floats, scores: Floats, tolerance: float
) -> tuple[Floats, Floats]:
    used = alpha > 0
    low = np.where(used, costs, np.inf).min(axis=1)
    high = np.where(used, costs, -np.inf).max(axis=1)
    result: Floats = low.copy()
    tails: Floats = np.zeros(len(low))
    rows = np.flatnonzero(high > low)
    span = (high - low)[rows]
    weight = (alpha * sizes)[rows]
    mean = (weight * costs[rows]).sum(axis=1) / weight.sum(axis=1)
    start = np.clip((mean - low[rows]) / span, 1e-9, 1 - 1e-9)

    def score(x: Floats) -> Floats:
        result[rows] = low[rows] + span / (1 + np.exp(-x))
        b = sizes[rows] * (costs[rows] - result[rows, np.newaxis])
        tails[rows] = upper_tail(b, alpha[rows])
        return np.asarray(-ndtri(np.clip(tails[rows], 1e-300, 1 - 1e-16)))

    # It ends where it last looked, which `score` has kept.
    root_of(score, scores[rows], np.log(start / (1 - start)), tolerance, WIDEST)
    return result, tails


def _tail(b: Floats, alpha: Floats, ends: tuple[Floats, Floats]) -> Floats:
    low, high = (end[:, np.newaxis] for end in ends)

    def rooms(x: Floats) -> tuple[Floats, Floats]:
        """Return z, which runs from 1/low to 1/high with x, and 1 - b·z without cancellation."""
        # exp of a negative number only: nothing overflows.
        grown = np.exp(-np.abs(x))[:, np.newaxis]
        rising = x[:, np.newaxis] > 0
        left, right = np.where(rising, 1.0, grown), np.where(rising, grown, 1.0)
        total = high * left - low * right
        return ((left - right) / total)[:, 0], ((high - b) * left + (b - low) * right) / total

    def balance(x: Floats) -> Floats:
        """Return the log of what pulls up over what pulls down; zero at the saddlepoint."""
        _, room = rooms(x)
        tilted = alpha * b / room
        up = np.where(b > 0, tilted, 0.0).sum(axis=1)
        down = np.where(b < 0, -tilted, 0.0).sum(axis=1)
        return np.asarray(np.log(up) - np.log(down))

    x = root_of(balance, np.zeros(len(b)), np.zeros(len(b)), TOLERANCE, WIDEST)
    c, room = rooms(x)
    slope = b / room
    k2 = (alpha * slope**2).sum(axis=1)
    least = CLOSE_TO_MEAN / np.sqrt(k2)
    c = np.where(np.abs(c) < least, least, c)
    excess = excess_of(slope * c[:, np.newaxis], -np.log(room))
    r = np.sign(c) * np.sqrt(2 * np.maximum((alpha * excess).sum(axis=1), 0.0))
    tail = np.empty(len(b))
    steps = steps_needed(alpha)
    for step in np.unique(steps):
        rows = steps == step
        tail[rows] = along_path(
            b[rows], alpha[rows], (c[rows], slope[rows], k2[rows], r[rows]), step
        )
    return tail
