r"""The distribution of Σ t·G/Σ s·G for independent gamma variables G, without sampling.

For sampling units of unequal sizes s with totals t (groups of rows, rows with weights), the ratio
takes the place of the mean Σ a·D of Dirichlet weights D; with equal sizes both are the same. The
ratio exceeds u exactly when Σ b·G > 0 with b = t - u·s, whose tail is the integral that
`dirichlet_mean` explains.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from stakes._core.typing import Floats
from stakes.infer._probability.dirichlet_mean import (
    CLOSE_TO_MEAN,
    along_path,
    excess_of,
    guided_root,
    root_of,
    steps_needed,
)

TOLERANCE = 1e-12
ROUGH_TOLERANCE = 0.05
WIDEST = 700.0
NEGLIGIBLE = 1e-250
"""Share of the largest b below which one of the other sign does not matter: where a mean of exactly
the margin counts, that b is the smallest number there is."""


def upper_tail(b: Floats, alpha: Floats) -> Floats:
    """Return P(Σ b·G > 0) for each row, G being independent Gamma(alpha)."""
    used = alpha > 0
    high = np.where(used, b, -np.inf).max(axis=1)
    low = np.where(used, b, np.inf).min(axis=1)
    least = NEGLIGIBLE * np.maximum(high, -low)
    result: Floats = (high > least).astype(np.float64)
    rows = np.flatnonzero((high > least) & (low < -least))
    if len(rows):
        # Scaling b keeps the sign of the sum and prevents overflow.
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
    weight.
    """
    ratio = _Ratio(costs, sizes, alpha)
    if len(ratio.rows):
        wanted = -ndtri(upper[ratio.rows])
        # The root is where `exact` was last called, and `exact` keeps its values.
        guided_root(ratio.nearly, ratio.exact, wanted, ratio.start, WIDEST)
    return ratio.values


def near_scores(
    costs: Floats, sizes: Floats, alpha: Floats, scores: Floats
) -> tuple[Floats, Floats]:
    """Return for each row a u near the wanted normal score, and the exact tail beyond it.

    Barndorff-Nielsen's approximation finds u. For a whole distribution that is close enough,
    because the tail at u is exact.
    """
    ratio = _Ratio(costs, sizes, alpha)
    x = root_of(ratio.nearly, scores[ratio.rows], ratio.start, ROUGH_TOLERANCE, WIDEST)
    ratio.exact(x)
    return ratio.values, ratio.tails


class _Ratio:
    """The possible values of the ratio, on the logistic scale from its least to its largest value.

    Rows with a single cost are certain; the others are `rows`. `values` and `tails` are those of
    the last call of `exact`.
    """

    def __init__(self, costs: Floats, sizes: Floats, alpha: Floats) -> None:
        used = alpha > 0
        low = np.where(used, costs, np.inf).min(axis=1)
        high = np.where(used, costs, -np.inf).max(axis=1)
        self.values: Floats = low.copy()
        self.tails: Floats = np.zeros(len(low))
        self.rows = np.flatnonzero(high > low)
        self.low, self.span = low[self.rows], (high - low)[self.rows]
        self.costs, self.sizes, self.alpha = (each[self.rows] for each in (costs, sizes, alpha))
        weight = self.alpha * self.sizes
        mean = (weight * self.costs).sum(axis=1) / weight.sum(axis=1)
        start = np.clip((mean - self.low) / self.span, 1e-9, 1 - 1e-9)
        self.start: Floats = np.log(start / (1 - start))

    def exact(self, x: Floats) -> Floats:
        """Return the normal scores at x, and keep values and tails."""
        self.values[self.rows] = self._at(x)
        self.tails[self.rows] = upper_tail(self._margins(x), self.alpha)
        return np.asarray(-ndtri(np.clip(self.tails[self.rows], 1e-300, 1 - 1e-16)))

    def nearly(self, x: Floats) -> Floats:
        """Return Barndorff-Nielsen's approximation of the scores at x."""
        b = self._margins(x)
        used = self.alpha > 0
        ends = np.where(used, b, np.inf).min(axis=1), np.where(used, b, -np.inf).max(axis=1)
        inside = (ends[0] < 0) & (ends[1] > 0)
        scores = np.where(ends[1] > 0, -np.inf, np.inf)
        b, alpha = np.where(used, b, 0.0)[inside], self.alpha[inside]
        c, _, k2, r = _saddlepoint(b, alpha, (ends[0][inside], ends[1][inside]))
        scores[inside] = r + np.log(c * np.sqrt(k2) / r) / r
        return np.asarray(scores)

    def _at(self, x: Floats) -> Floats:
        return np.asarray(self.low + self.span / (1 + np.exp(-x)))

    def _margins(self, x: Floats) -> Floats:
        return np.asarray(self.sizes * (self.costs - self._at(x)[:, np.newaxis]))


def _tail(b: Floats, alpha: Floats, ends: tuple[Floats, Floats]) -> Floats:
    c, slope, k2, r = _saddlepoint(b, alpha, ends)
    tail = np.empty(len(b))
    steps = steps_needed(alpha)
    for step in np.unique(steps):
        rows = steps == step
        tail[rows] = along_path(
            b[rows], alpha[rows], (c[rows], slope[rows], k2[rows], r[rows]), step
        )
    return tail


def _saddlepoint(
    b: Floats, alpha: Floats, ends: tuple[Floats, Floats]
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return c, the slopes b/(1 - b·c), K''(c) and r."""
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
        """Return the log ratio of the positive and negative terms of K'; 0 at the saddlepoint."""
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
    return c, slope, k2, r
