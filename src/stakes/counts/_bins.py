"""Assign scores to bins, identically on every engine, and choose which bins to split.

Scores are multiplied by powers of two and rounded down. Floating-point arithmetic does both
exactly, so that all engines find the same bin.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Column, Label, plain
from stakes._core.text import number
from stakes._core.typing import Floats
from stakes._core.validate import LARGEST as LARGEST_SCORE
from stakes.counts._two_classes import two_classes
from stakes.counts.engines import (
    Amounts,
    amounts_in,
    as_frame,
    check_scored,
    collected_groups,
    column,
    label_column,
    sums_of,
    weight_columns,
)
from stakes.errors import InputError

FINENESS = 2.0**13
"""Number of bins of the first pass in an interval of length one."""

REACH = 16.0
"""Bound of these bins on either side of zero; finite scores beyond it make one bin per side."""

FAR = 2 * REACH * FINENESS
"""Number of the bin above all of these; the bin below them has the negative of it."""

CELLS = 1 << 14
"""Number of cells that the second pass may use at any tolerance."""

MOST_CELLS = 1 << 20
"""Largest number of cells of the second pass, however small the tolerance."""

MARGIN, FAR_MARGIN = 2, 16
"""Factors by which cells are finer than evenly spread scores need, near zero and beyond."""

FEW, MANY = 4, 32
"""Numbers of ranges of the second pass: the target if it needs few cells, and the maximum."""

PLACES = 64
"""Multiplier of a cell's number, which leaves room to add the number of its range."""

DIGITS = 53 - 6
"""Bits of a float that remain for the number of a cell."""

LARGEST, LARGEST_EXPONENT = 1e300, 1000
"""Numbers near the largest that floats can hold."""


def bin_of(scores: Floats) -> Floats:
    """Return the number of each score's bin; infinite scores have bins of their own."""
    size = np.abs(scores)
    near = size < REACH
    beyond = np.where(size < LARGEST_SCORE, np.where(scores > 0, FAR, -FAR), scores)
    return np.where(near, np.floor(np.where(near, scores, 0.0) * FINENESS), beyond)


def bin_expression(score: Any) -> Any:
    """Return `bin_of` as an expression for engines to evaluate.

    A missing score has a missing bin: null, or NaN.
    """
    import narwhals as nw

    size = score.abs()
    side = nw.when(score > 0).then(nw.lit(FAR)).otherwise(nw.lit(-FAR))
    beyond = nw.when(size < LARGEST_SCORE).then(side).otherwise(score)
    return nw.when(size < REACH).then((score * FINENESS).floor()).otherwise(beyond)


def bounded_expression(score: Any) -> Any:
    """Return `validate.bounded` as an expression for engines to evaluate."""
    import narwhals as nw

    below = nw.when(score == -np.inf).then(nw.lit(-LARGEST_SCORE)).otherwise(score)
    return nw.when(score == np.inf).then(nw.lit(LARGEST_SCORE)).otherwise(below)


def run_starts(*columns: Floats) -> NDArray[np.intp]:
    """Return the starts of runs of rows that are equal in all columns."""
    new = np.ones(len(columns[0]), dtype=bool)
    new[1:] = False
    for each in columns:
        new[1:] |= each[1:] != each[:-1]
    return np.flatnonzero(new)


@dataclass(frozen=True)
class Split:
    """Ranges of scores to count in smaller cells than bins.

    Attributes
    ----------
    ranges : list of (lowest, highest, exponent)
        The ranges, highest first, which begin and end between bins; their cells have the length
        2**-exponent.
    """

    ranges: list[tuple[float, float, int]]

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def cell_of(self, scores: Floats) -> Floats:
        """Return a unique number of the cell of each score; NaN outside of the ranges."""
        cells = np.full(len(scores), np.nan)
        for place, (lowest, highest, exponent) in enumerate(self.ranges):
            inside = (scores >= lowest) & (scores <= highest)
            cells[inside] = np.floor(np.ldexp(scores[inside], exponent)) * PLACES + place
        return cells

    def cell_expression(self, score: Any) -> Any:
        """Return `cell_of` as an expression for engines to evaluate, for scores in the ranges."""
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
        """Return an expression for whether a score is in one of the ranges."""
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
    """Plan cells so fine that the bracket of the cost curve is within a tolerance.

    Parameters
    ----------
    lowest, highest : ndarray
        The range of scores in each bin, highest first.
    reach : ndarray
        The largest distance of the exact curve below the curve of the bins, because of each bin.
    tolerance : float
        The largest distance that is allowed.
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
    useful = fine | (low >= REACH) | (high <= -REACH)
    low, high, exponents, fine = low[useful], high[useful], exponents[useful], fine[useful]
    between = _cells(high[1:], low[:-1], exponents[1:]) < CELLS / 16  # cheaper than a comparison
    high[1:] = np.where(fine[1:] & between, np.nextafter(low[:-1], -np.inf), high[1:])
    return Split(list(zip(low.tolist(), high.tolist(), exponents.tolist(), strict=True)))


def _joined(low: Floats, high: Floats, exponents: Floats) -> tuple[Floats, Floats, Floats]:
    """Join neighbouring ranges, where that adds fewest cells, until few are left.

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
    """Return the number of cells of each range, capped at a very large number."""
    with np.errstate(over="ignore"):
        cells = np.ldexp(high - low, exponents.astype(int)) + 1
    return np.asarray(np.minimum(cells, LARGEST))


def _not_too_fine(exponents: Floats, low: Floats, high: Floats) -> Floats:
    """Limit exponents to the resolution of floats of that size."""
    finest = DIGITS - np.frexp(np.maximum(np.abs(low), np.abs(high)))[1]
    limit = np.minimum(finest, LARGEST_EXPONENT)
    return np.asarray(np.clip(exponents, -LARGEST_EXPONENT, limit))


def reaches(positives: NDArray[Any], negatives: NDArray[Any], exact: NDArray[np.bool_]) -> Floats:
    """Return the largest distance of the exact curve below that of the bins' edges, for each bin.

    At best, all positives of a bin score higher than its negatives. The cost line of that corner
    is compared with the lower envelope of the edges' lines; the distance is largest where two lines
    of the envelope cross.

    Parameters
    ----------
    positives, negatives : ndarray
        The number of examples of each class in each bin, highest scores first.
    exact : ndarray of bool
        The bins that have one score only, whose distance is zero.
    """
    if not (positives.any() and negatives.any()):
        return np.zeros(len(positives))
    false, missed = (
        np.append(0.0, np.cumsum(side) / side.sum()) for side in (negatives, positives)
    )
    missed = 1 - missed
    corners = _hull(positives, negatives)
    x, y = false[corners], missed[corners]
    right, down = np.diff(x), -np.diff(y)
    crossings = np.concatenate([[0.0], right / (right + down), [1.0]])
    heights = np.append((1 - crossings[:-1]) * x + crossings[:-1] * y, y[-1])
    left, end = false[:-1], missed[1:]  # ends of the best line that each bin may hide
    place = np.searchsorted(x - y, left - end)
    reach = np.zeros(len(left))
    for at in (place - 1, place, place + 1):  # rounding may move the place by one
        near = np.clip(at, 0, len(crossings) - 1)
        pc = crossings[near]
        reach = np.maximum(reach, heights[near] - ((1 - pc) * left + pc * end))
    reach[exact] = 0.0
    return reach


def _hull(positives: NDArray[Any], negatives: NDArray[Any]) -> NDArray[np.intp]:
    """Return the number of bins called positive at each corner of the ROC convex hull.

    The share of positives falls from each segment of the hull to the next, so that isotonic
    regression finds the segments.
    """
    from scipy.optimize import isotonic_regression

    both = (positives + negatives).astype(np.float64)
    used = np.flatnonzero(both)
    fit = isotonic_regression(positives[used] / both[used], weights=both[used], increasing=False)
    starts = used[fit.blocks[:-1]]
    return np.concatenate([[0], starts[1:], [len(both)]])


# -- Passes over a lazy frame: first bins, then cells of the bins that exceed the tolerance.


@dataclass(frozen=True, eq=False)
class BinnedRows:
    """Result of a pass over a frame: a row for each class and bin, or class and cell.

    Attributes
    ----------
    labels : list
        The class of each row.
    rows : ndarray of int
        The number of examples of each row.
    keys : ndarray
        The number of the bin, or of the cell of a bin that is split.
    lowest, highest : ndarray
        The range of the scores.
    amounts : list of ndarray
        The numbers of examples; or the sums of their weights, and of the squared weights.
    """

    labels: list[Any]
    rows: NDArray[Any]
    keys: Floats
    lowest: Floats
    highest: Floats
    amounts: Amounts


class LazyScores:
    """Classes and scores of a lazy frame, which its engine counts.

    Parameters
    ----------
    wrapped : narwhals LazyFrame
        The frame.
    actual, score : str
        The names of the columns.
    weight : str, optional
        The name of the column of weights.
    """

    def __init__(self, wrapped: Any, actual: str, score: str, weight: str | None) -> None:
        self._wrapped, self._actual, self._score, self._weight = wrapped, actual, score, weight

    def counted(self, labels: Sequence[Label], split: Split | None = None) -> BinnedRows:
        """Count all bins or, with `split`, the cells of the bins that are split.

        Grouping by bins alone is faster than by classes and bins, but requires that both classes
        are known. If other classes occur, rows are counted again to find which.
        """
        both = self._both(labels)
        if both is not None:
            table = self._collected(lambda: self._grouped_by_bin(both, split))
            if np.isfinite(table["positives"].to_numpy()).all():
                self._check_scores(table)
                return _of_two_classes(table, labels[0], both)
        table = self._collected(lambda: self._grouped(split))
        self._check_scores(table)
        return BinnedRows(
            labels=[plain(label) for label in table["label"].to_list()],
            rows=table["rows"].to_numpy(),
            keys=table["key"].to_numpy().astype(np.float64, copy=False),
            lowest=table["lowest"].to_numpy(),
            highest=table["highest"].to_numpy(),
            amounts=amounts_in(table, self._weight),
        )

    def _collected(self, query: Callable[[], Any]) -> Any:
        names = [self._actual, self._score, *([] if self._weight is None else [self._weight])]
        return collected_groups(self._wrapped, names, query)

    def _check_scores(self, table: Any) -> None:
        keys = table["key"].to_numpy().astype(np.float64, copy=False)
        check_scored(keys, table["rows"].to_numpy(), self._score)

    def _both(self, labels: Sequence[Label]) -> tuple[Any, Any] | None:
        """Return both classes as values of the column's type; None if that is not possible."""
        import narwhals as nw

        if self._weight is not None:
            return None
        kind = self._wrapped.collect_schema()[self._actual]
        given = [plain(label) for label in labels]
        if kind == nw.Boolean and given[0] in (False, True):
            return bool(given[0]), not given[0]
        numbers = kind.is_numeric() and all(isinstance(each, int | float) for each in given)
        texts = kind == nw.String and all(isinstance(each, str) for each in given)
        if len(given) == 1 or not (numbers or texts):
            return None
        positive, negative = (int(each) if isinstance(each, bool) else each for each in given)
        return positive, negative

    def _grouped_by_bin(self, both: tuple[Any, Any], split: Split | None) -> Any:
        import narwhals as nw

        label, (positive, negative) = nw.col("label"), both
        other = nw.when(label == negative).then(nw.lit(0.0)).otherwise(nw.lit(np.inf))
        one = nw.when(label == positive).then(nw.lit(1.0)).otherwise(other)
        rows = self._rows(split).with_columns(one.alias("positives"))
        # An infinite sum reveals other classes, or rows without a class.
        return rows.group_by("key").agg([nw.col("positives").sum(), *self._sums()])

    def classes(self, found: BinnedRows) -> Column:
        """Check and return the classes that a pass has found."""
        return label_column(self._wrapped, self._actual, found.labels, found.rows)

    def _grouped(self, split: Split | None) -> Any:
        return self._rows(split).group_by(["label", "key"]).agg(self._sums())

    def _rows(self, split: Split | None) -> Any:
        """Return the classes, scores and bins of the rows."""
        import narwhals as nw

        score = bounded_expression(column(self._wrapped, self._score).cast(nw.Float64))
        selected = [column(self._wrapped, self._actual).alias("label"), score.alias("score")]
        selected += weight_columns(self._wrapped, self._weight)
        rows, score = self._wrapped.select(selected), nw.col("score")
        if split is None:
            return rows.with_columns(bin_expression(score).alias("key"))
        cell = split.cell_expression(score).alias("key")
        return rows.filter(split.inside(score)).with_columns(cell)

    def _sums(self) -> Sequence[Any]:
        import narwhals as nw

        score = nw.col("score")
        return [score.min().alias("lowest"), score.max().alias("highest"), *sums_of(self._weight)]


def lazy_scores(frame: Any, actual: str, score: str, weight: str | None) -> LazyScores | None:
    """Return the scores of a lazy frame; None for a frame whose rows are in memory."""
    import narwhals as nw

    wrapped = as_frame(frame, [actual], [score, *([] if weight is None else [weight])])
    if not isinstance(wrapped, nw.LazyFrame):
        return None
    return LazyScores(wrapped, actual, score, weight)


def _of_two_classes(table: Any, pos_label: Label, both: tuple[Any, Any]) -> BinnedRows:
    """Return rows by class and bin from a table with a row for each bin."""
    positives = table["positives"].to_numpy().astype(np.int64)
    counts = np.concatenate([positives, table["rows"].to_numpy() - positives])
    labels = np.repeat([True, False], len(table))[counts > 0]

    def twice(name: str) -> Any:
        return np.tile(table[name].to_numpy(), 2)[counts > 0]

    return BinnedRows(
        labels=[pos_label if positive else both[1] for positive in labels.tolist()],
        rows=counts[counts > 0],
        keys=twice("key"),
        lowest=twice("lowest"),
        highest=twice("highest"),
        amounts=[counts[counts > 0]],
    )


def count_bins(
    rows: LazyScores, pos_label: Label, neg_label: Label | None, tolerance: float
) -> dict[str, Any]:
    """Count bins, split those that exceed the tolerance, and return the fields of the result."""
    first = rows.counted([pos_label] if neg_label is None else [pos_label, neg_label])
    positive, labels = two_classes(rows.classes(first), pos_label, neg_label)
    bins = _bin_table(first, positive)
    positives, negatives = bins.tables[0]
    reach = reaches(positives, negatives, bins.lowest == bins.highest)
    split = split_where_it_matters(bins.lowest, bins.highest, reach, tolerance)
    if split:
        second = rows.counted(labels, split)
        positive = np.array([label == labels[0] for label in second.labels])
        bins = _with_cells(bins, _bin_table(second, positive), split)
    return {
        "lowest": bins.lowest,
        "highest": bins.highest,
        "positives": bins.tables[0, 0],
        "negatives": bins.tables[0, 1],
        "squares": bins.tables[1] if len(bins.tables) > 1 else None,
        "pos_label": labels[0],
        "neg_label": labels[1],
    }


@dataclass(frozen=True, eq=False)
class BinTable:
    """Bins, highest first; `tables` holds the amounts of positives and negatives in each."""

    keys: Floats
    lowest: Floats
    highest: Floats
    tables: NDArray[Any]

    def taken(self, which: NDArray[Any]) -> BinTable:
        return BinTable(
            self.keys[which], self.lowest[which], self.highest[which], self.tables[..., which]
        )


def _bin_table(rows: BinnedRows, positive: NDArray[np.bool_]) -> BinTable:
    """Return the bins of both classes, with the amounts of each class."""
    order = np.argsort(rows.keys)
    starts = run_starts(rows.keys[order])
    amounts = np.stack([each for each in rows.amounts if each is not None])[:, np.newaxis]
    kind = np.float64 if amounts.dtype.kind == "f" else np.int64
    tables = np.where(np.stack([positive, ~positive]), amounts.astype(kind), 0)
    bins = BinTable(
        rows.keys[order][starts],
        np.minimum.reduceat(rows.lowest[order], starts),
        np.maximum.reduceat(rows.highest[order], starts),
        np.add.reduceat(tables[..., order], starts, axis=-1),
    )
    return bins.taken(np.argsort(-bins.lowest))


def _with_cells(bins: BinTable, cells: BinTable, split: Split) -> BinTable:
    """Replace the bins that were split by their cells."""
    gone = ~np.isnan(split.cell_of(bins.lowest))
    before, after = (each.sum(axis=-1) for each in (bins.tables[..., gone], cells.tables))
    if not np.allclose(before, after, rtol=1e-9, atol=0):
        raise InputError(
            "frame",
            f"a second pass over its rows found {number(after[0].sum())} examples where the first "
            f"had found {number(before[0].sum())}. Is it drawn at random, or being written to?",
            "Write it to a file first, or collect it.",
        )
    unsplit = bins.taken(~gone)
    every = BinTable(
        np.concatenate([unsplit.keys, cells.keys]),
        np.concatenate([unsplit.lowest, cells.lowest]),
        np.concatenate([unsplit.highest, cells.highest]),
        np.concatenate([unsplit.tables, cells.tables], axis=-1),
    )
    return every.taken(np.argsort(-every.lowest))
