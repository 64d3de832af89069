"""Scores counted in bins where a data frame lives, in one pass or two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._columns import Column
from stakes._core.typing import Floats
from stakes._labels import Label, plain
from stakes._table import number
from stakes.counts.bins import (
    Split,
    bin_expression,
    reaches,
    run_starts,
    split_where_it_matters,
)
from stakes.counts.engines import as_frame, column
from stakes.counts.frames import (
    Amounts,
    amounts_in,
    check_one_kind,
    check_scored,
    collected_groups,
    label_column,
    sums_of,
    weight_columns,
)
from stakes.counts.two_classes import two_classes
from stakes.errors import InputError


@dataclass(frozen=True)
class BinnedRows:
    """What a pass over a frame gives: a row for each class and bin, or part of a bin.

    Attributes
    ----------
    labels : list
        The classes.
    rows : ndarray of int
        The numbers of examples.
    keys : ndarray
        The bins, or the cells that they are split into.
    lowest, highest : ndarray
        The range of the scores.
    amounts : list of ndarray
        The numbers of examples; or the sums of their weights, and of the squares of those.
    """

    labels: list[Any]
    rows: NDArray[Any]
    keys: Floats
    lowest: Floats
    highest: Floats
    amounts: Amounts


class LazyScores:
    """The classes and scores of a lazy frame, which its engine counts.

    Parameters
    ----------
    wrapped : narwhals LazyFrame
        The frame.
    actual, score : str
        The columns.
    weight : str, optional
        The column of weights.
    """

    def __init__(self, wrapped: Any, actual: str, score: str, weight: str | None) -> None:
        self._wrapped, self._actual, self._score, self._weight = wrapped, actual, score, weight

    def counted(self, labels: Sequence[Label], split: Split | None = None) -> BinnedRows:
        """Count the bins, all of them or the cells of those that are split.

        Grouping by bins alone is faster than by classes and bins. It takes both classes to be
        known; where there turn out to be others, rows are counted again to tell which.
        """
        both = self._both(labels)
        if both is not None:
            table = self._asked(lambda: self._grouped_by_bin(both, split))
            if np.isfinite(table["positives"].to_numpy()).all():
                self._check_scores(table)
                return _of_two_classes(table, labels[0], both)
        table = self._asked(lambda: self._grouped(split))
        self._check_scores(table)
        return BinnedRows(
            labels=[plain(label) for label in table["label"].to_list()],
            rows=table["rows"].to_numpy(),
            keys=table["key"].to_numpy().astype(np.float64, copy=False),
            lowest=table["lowest"].to_numpy(),
            highest=table["highest"].to_numpy(),
            amounts=amounts_in(table, self._weight),
        )

    def _asked(self, question: Callable[[], Any]) -> Any:
        names = [self._actual, self._score, *([] if self._weight is None else [self._weight])]
        return collected_groups(self._wrapped, names, question)

    def _check_scores(self, table: Any) -> None:
        keys = table["key"].to_numpy().astype(np.float64, copy=False)
        check_scored(keys, table["rows"].to_numpy(), self._score)

    def _both(self, labels: Sequence[Label]) -> tuple[Any, Any] | None:
        """Return both classes as values of the column, if they are known and such."""
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
        # A sum that is infinite tells that there are other classes, or rows without one.
        return rows.group_by("key").agg([nw.col("positives").sum(), *self._sums()])

    def classes(self, found: BinnedRows) -> Column:
        """Return the classes that a pass has found, checked."""
        if self._wrapped.implementation.is_dask():
            check_one_kind(self._wrapped.to_native(), self._actual, found.labels, found.rows)
        return label_column(found.labels, f"column {self._actual!r}", found.rows)

    def _grouped(self, split: Split | None) -> Any:
        return self._rows(split).group_by(["label", "key"]).agg(self._sums())

    def _rows(self, split: Split | None) -> Any:
        """Return the classes, scores and bins of the rows."""
        import narwhals as nw

        score = column(self._wrapped, self._score).cast(nw.Float64)
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
    """Return the scores of a lazy frame; nothing for a frame whose rows are in memory."""
    import narwhals as nw

    wrapped = as_frame(frame, [actual], [score, *([] if weight is None else [weight])])
    if not isinstance(wrapped, nw.LazyFrame):
        return None
    return LazyScores(wrapped, actual, score, weight)


def _of_two_classes(table: Any, pos_label: Label, both: tuple[Any, Any]) -> BinnedRows:
    """Return a row for each class and bin of a table that has a row for each bin."""
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


def bins_of(
    rows: LazyScores, pos_label: Label, neg_label: Label | None, tolerance: float
) -> dict[str, Any]:
    """Count bins, and split those that matter; return what a table of bins is made of."""
    first = rows.counted([pos_label] if neg_label is None else [pos_label, neg_label])
    positive, labels = two_classes(rows.classes(first), pos_label, neg_label)
    bins = _by_bin(first, positive)
    positives, negatives = bins.tables[0]
    reach = reaches(
        positives,
        negatives,
        bins.lowest == bins.highest,
        infinite=bool(bins.keys[0] == np.inf),
    )
    split = split_where_it_matters(bins.lowest, bins.highest, reach, tolerance)
    if split:
        second = rows.counted(labels, split)
        positive = np.array([label == labels[0] for label in second.labels])
        bins = _with_cells(bins, _by_bin(second, positive), split)
    return {
        "lowest": bins.lowest,
        "highest": bins.highest,
        "positives": bins.tables[0, 0],
        "negatives": bins.tables[0, 1],
        "squares": bins.tables[1] if len(bins.tables) > 1 else None,
        "pos_label": labels[0],
        "neg_label": labels[1],
    }


@dataclass(frozen=True)
class _Bins:
    """Bins, highest first; `tables` has the amounts of positives and negatives in each."""

    keys: Floats
    lowest: Floats
    highest: Floats
    tables: NDArray[Any]

    def taken(self, which: NDArray[Any]) -> _Bins:
        return _Bins(
            self.keys[which], self.lowest[which], self.highest[which], self.tables[..., which]
        )


def _by_bin(rows: BinnedRows, positive: NDArray[np.bool_]) -> _Bins:
    """Bring the two classes together."""
    order = np.argsort(rows.keys)
    starts = run_starts(rows.keys[order])
    amounts = np.stack([each for each in rows.amounts if each is not None])[:, np.newaxis]
    kind = np.float64 if amounts.dtype.kind == "f" else np.int64
    tables = np.where(np.stack([positive, ~positive]), amounts.astype(kind), 0)
    bins = _Bins(
        rows.keys[order][starts],
        np.minimum.reduceat(rows.lowest[order], starts),
        np.maximum.reduceat(rows.highest[order], starts),
        np.add.reduceat(tables[..., order], starts, axis=-1),
    )
    return bins.taken(np.argsort(-bins.lowest))


def _with_cells(bins: _Bins, cells: _Bins, split: Split) -> _Bins:
    """Put cells in the place of the bins that were split."""
    gone = ~np.isnan(split.cell_of(bins.lowest))
    before, after = (each.sum(axis=-1) for each in (bins.tables[..., gone], cells.tables))
    if not np.allclose(before, after, rtol=1e-9, atol=0):
        raise InputError(
            f"frame: a second pass over its rows found {number(after[0].sum())} examples where the "
            f"first had found {number(before[0].sum())}. Is it drawn at random, or being written "
            "to? Write it to a file first, or collect it."
        )
    kept = bins.taken(~gone)
    every = _Bins(
        np.concatenate([kept.keys, cells.keys]),
        np.concatenate([kept.lowest, cells.lowest]),
        np.concatenate([kept.highest, cells.highest]),
        np.concatenate([kept.tables, cells.tables], axis=-1),
    )
    return every.taken(np.argsort(-every.lowest))
