"""Which bin a score falls into, the same on every engine, and which bins are worth splitting.

Scores are multiplied by powers of two and rounded down: floating-point arithmetic does both
exactly, so that no engine can come to another bin.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.typing import Floats

FINENESS = 2.0**13
"""Bins of the first pass in an interval of length one."""

REACH = 16.0
"""How far from zero they go; the finite scores beyond make one bin on each side."""

FAR = 2 * REACH * FINENESS
"""The number of the bin above all of these; the one below has it with a minus."""

CELLS = 1 << 14
"""Cells that the second pass may always make."""

MOST_CELLS = 1 << 20
"""Cells that it never goes beyond, however small the tolerance."""

MARGIN, FAR_MARGIN = 2, 16
"""How much finer than needed if scores were spread evenly in a bin, near zero and beyond."""

FEW, MANY = 4, 32
"""Ranges that the second pass tells apart, if that takes not too many cells, and at most."""

PLACES = 64
"""Room for the number of a range next to that of a cell."""

DIGITS = 53 - 6
"""Bits of a float that are left for the number of a cell."""

LARGEST, LARGEST_EXPONENT = 1e300, 1000
"""Numbers near the largest that floats can hold."""


def bin_of(scores: Floats) -> Floats:
    """Return the number of each score's bin, which is a whole number, or infinite as the score."""
    size = np.abs(scores)
    near = size < REACH
    beyond = np.where(size < np.inf, np.where(scores > 0, FAR, -FAR), scores)
    return np.where(near, np.floor(np.where(near, scores, 0.0) * FINENESS), beyond)


def bin_expression(score: Any) -> Any:
    """Return `bin_of` as an expression that engines work out.

    Where there is no score there is no number either: it is null, or NaN.
    """
    import narwhals as nw

    size = score.abs()
    side = nw.when(score > 0).then(nw.lit(FAR)).otherwise(nw.lit(-FAR))
    beyond = nw.when(size < np.inf).then(side).otherwise(score)
    return nw.when(size < REACH).then((score * FINENESS).floor()).otherwise(beyond)


def run_starts(*columns: Floats) -> NDArray[np.intp]:
    """Return where rows begin that differ from those before in one of the columns."""
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = False
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return np.flatnonzero(new)


@dataclass(frozen=True)
class Split:
    """Ranges of scores to count in smaller cells than bins.

    Attributes
    ----------
    ranges : list of (lowest, highest, exponent)
        The ranges, highest first, which begin and end between bins; their cells have a length of 2
        to the minus that exponent.
    """

    ranges: list[tuple[float, float, int]]

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def cell_of(self, scores: Floats) -> Floats:
        """Return a number that tells the cells apart; NaN outside of the ranges."""
        cells = np.full(len(scores), np.nan)
        for place, (lowest, highest, exponent) in enumerate(self.ranges):
            inside = (scores >= lowest) & (scores <= highest)
            cells[inside] = np.floor(np.ldexp(scores[inside], exponent)) * PLACES + place
        return cells

    def cell_expression(self, score: Any) -> Any:
        """Return `cell_of` as an expression that engines work out, for scores in the ranges."""
        import narwhals as nw

        cells = []
        for place, (_, highest, exponent) in enumerate(self.ranges):
            number = (score * 2.0**exponent).floor() * PLACES + place
            cells.append((score <= highest, number))
        cell = cells[0][1]
        for below, number in cells[1:]:
            cell = nw.when(below).then(number).otherwise(cell)
        return cell

    def inside(self, score: Any) -> Any:
        """Return the expression that tells which scores are in a range."""
        spans: list[list[float]] = []
        for lowest, highest, _ in self.ranges:
            if spans and highest == np.nextafter(spans[-1][0], -np.inf):
                spans[-1][0] = lowest
            else:
                spans.append([lowest, highest])
        return reduce(or_, [(score >= low) & (score <= high) for low, high in spans])


def split_where_it_matters(
    lowest: Floats, highest: Floats, reach: Floats, tolerance: float
) -> Split:
    """Plan the cells that bring what bins hide below a tolerance.

    Parameters
    ----------
    lowest, highest : ndarray
        The range of scores in each bin, highest first.
    reach : ndarray
        How far below the curve of the bins the curve of their scores may be, because of each.
    tolerance : float
        How far it may be.
    """
    wanted = (reach > tolerance) & (highest > lowest)
    if not wanted.any():
        return Split([])
    low, high = lowest[wanted], highest[wanted]
    far = (low >= REACH) | (high <= -REACH)
    needed = np.where(far, FAR_MARGIN, MARGIN) * reach[wanted] / tolerance
    cells = np.maximum(needed, CELLS / 2 * needed / needed.sum())
    exponents = _not_too_fine(np.ceil(np.log2(cells) - np.log2(high - low)), low, high)
    low, high, exponents = _joined(low, high, exponents)
    excess = np.log2(_cells(low, high, exponents).sum() / MOST_CELLS)
    exponents = _not_too_fine(exponents - max(0.0, np.ceil(excess)), low, high).astype(int)
    fine = np.ldexp(1.0, exponents) > FINENESS
    kept = fine | (low >= REACH) | (high <= -REACH)
    low, high, exponents, fine = low[kept], high[kept], exponents[kept], fine[kept]
    between = _cells(high[1:], low[:-1], exponents[1:]) < CELLS / 16  # cheaper than a comparison
    high[1:] = np.where(fine[1:] & between, np.nextafter(low[:-1], -np.inf), high[1:])
    return Split(list(zip(low.tolist(), high.tolist(), exponents.tolist(), strict=True)))


def _joined(low: Floats, high: Floats, exponents: Floats) -> tuple[Floats, Floats, Floats]:
    """Join neighbouring ranges, where it costs fewest cells, until few are left.

    Comparing scores with the ends of few ranges is much faster than looking up their bins.
    """
    limit = max(CELLS, 2 * _cells(low, high, exponents).sum())
    while len(low) > FEW:
        own = _cells(low, high, exponents)
        finer = np.maximum(exponents[:-1], exponents[1:])
        together = _cells(low[1:], high[:-1], finer)
        extra = together - own[:-1] - own[1:]
        at = int(np.argmin(extra))
        if len(low) <= MANY and own.sum() + extra[at] > limit:
            break
        exponents[at] = finer[at]
        low[at] = low[at + 1]
        low, high, exponents = (
            np.delete(low, at + 1),
            np.delete(high, at + 1),
            np.delete(exponents, at + 1),
        )
    return low, high, exponents


def _cells(low: Floats, high: Floats, exponents: Floats) -> Floats:
    """Return how many cells ranges have, or a very large number."""
    with np.errstate(over="ignore"):
        cells = np.ldexp(high - low, exponents.astype(int)) + 1
    return np.asarray(np.minimum(cells, LARGEST))


def _not_too_fine(exponents: Floats, low: Floats, high: Floats) -> Floats:
    """Limit exponents to what floats of that size can tell apart."""
    finest = DIGITS - np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]
    limit = np.minimum(finest, LARGEST_EXPONENT)
    return np.asarray(np.clip(exponents, -LARGEST_EXPONENT, limit))


def reaches(
    positives: NDArray[Any], negatives: NDArray[Any], exact: NDArray[np.bool_], *, infinite: bool
) -> Floats:
    """Return how far below the curve of the bins' edges each bin's inside may reach.

    At best, all positives of a bin score higher than its negatives; the line of that corner is
    compared with the lower envelope of the edges' lines, from which it is farthest where two of
    those cross.

    Parameters
    ----------
    positives, negatives : ndarray
        How many there are in each bin, highest scores first.
    exact : ndarray of bool
        The bins that have one score only, inside of which there is nothing.
    infinite : bool
        Whether the first bin is that of infinite scores, above which there is no threshold.
    """
    if not (positives.any() and negatives.any()):
        return np.zeros(len(positives))
    false, missed = (
        np.append(0.0, np.cumsum(side) / side.sum()) for side in (negatives, positives)
    )
    missed = 1 - missed
    corners = _hull(positives, negatives, skipped=int(infinite))
    x, y = false[corners], missed[corners]
    right, down = np.diff(x), -np.diff(y)
    crossings = np.concatenate([[0.0], right / (right + down), [1.0]])
    heights = np.append((1 - crossings[:-1]) * x + crossings[:-1] * y, y[-1])
    left, end = false[:-1], missed[1:]  # of the best line that each bin may hide
    place = np.searchsorted(x - y, left - end)
    reach = np.zeros(len(left))
    for at in (place - 1, place, place + 1):  # rounding may move the place by one
        near = np.clip(at, 0, len(crossings) - 1)
        pc = crossings[near]
        reach = np.maximum(reach, heights[near] - ((1 - pc) * left + pc * end))
    reach[exact] = 0.0
    return reach


def _hull(positives: NDArray[Any], negatives: NDArray[Any], *, skipped: int) -> NDArray[np.intp]:
    """Return how many bins are called positive at the corners of the ROC hull.

    The share of positives may only fall from one stretch of it to the next: isotonic regression.
    """
    from scipy.optimize import isotonic_regression

    both = (positives + negatives).astype(np.float64)
    used = np.flatnonzero(both)
    used = used[used >= skipped]
    if not len(used):
        return np.array([skipped])
    fit = isotonic_regression(positives[used] / both[used], weights=both[used], increasing=False)
    starts = used[fit.blocks[:-1]]
    return np.concatenate([[skipped], starts[1:], [len(both)]])
