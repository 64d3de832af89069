"""Score table of a two-class scorer: the numbers of positives and negatives with each score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Column, Label, as_column
from stakes._core.optional import data_frame
from stakes._core.text import html_table, number
from stakes._core.values import ByValue, readonly, readonly_copy
from stakes.counts._parts import Parts, check_factors, part_column
from stakes.counts._two_classes import (
    TwoClassCounts,
    both_classes_weigh,
    checked_names,
    checked_sides,
    ranked,
    two_classes,
)
from stakes.counts.confusion import Confusion
from stakes.counts.engines import in_memory, scored
from stakes.counts.grouped import GroupedConfusion
from stakes.errors import DesignError, InputError

SOME = 1000
"""Number of scores to check for single precision before checking all."""


@dataclass(frozen=True, eq=False)
class ScoreRows(ByValue):
    """Counts of examples by score, class, group and stratum.

    Attributes
    ----------
    parts : Parts
        The groups and strata.
    place, part : ndarray of int, shape (rows,)
        The position of the row's score in the thresholds, and of its part in `parts`.
    positive : ndarray of bool, shape (rows,)
        Whether the row is of the positive class.
    amounts : ndarray, shape (rows,)
        The number of examples that the row stands for, or the sum of their weights.
    squares : ndarray or None
        The sums of squared weights.
    """

    parts: Parts
    place: NDArray[np.int32]
    part: NDArray[np.int32]
    positive: NDArray[np.bool_]
    amounts: NDArray[Any]
    squares: NDArray[np.float64] | None = None

    @classmethod
    def of(
        cls,
        parts: Parts,
        place: NDArray[Any],
        part: NDArray[Any],
        positive: NDArray[np.bool_],
        amounts: Sequence[NDArray[Any] | None],
    ) -> Self:
        """Sum rows of the same score, part and class."""
        keys = (place.astype(np.int64) * len(parts) + part) * 2 + positive
        distinct, where = np.unique(keys, return_inverse=True)
        sums = [np.bincount(where, each, len(distinct)) for each in amounts]
        if amounts[0] is None or amounts[0].dtype.kind in "biu":
            sums[0] = sums[0].astype(np.int64)
        places, inner = np.divmod(distinct, 2 * len(parts))
        return cls(
            parts,
            readonly(places.astype(np.int32)),
            readonly((inner // 2).astype(np.int32)),
            readonly(inner % 2 == 1),
            readonly(sums[0]),
            readonly(sums[1]) if len(sums) > 1 else None,
        )

    @classmethod
    def from_dict(cls, rows: Mapping[str, Any]) -> Self:
        """Return rows from the output of `to_dict`."""
        for name in ("amounts", "place", "part", "positive"):
            if name not in rows:
                raise InputError("rows", f"expected what to_dict() gives, but {name!r} is missing.")
        names = [rows.get(name) for name in ("groups", "strata")]
        parts = Parts(*(None if each is None else tuple(each) for each in names))
        amounts = [np.asarray(rows["amounts"])]
        if "squares" in rows:
            amounts = [np.asarray(rows[name], dtype=np.float64) for name in ("amounts", "squares")]
        place, part = (np.asarray(rows[name], dtype=np.int64) for name in ("place", "part"))
        return cls.of(parts, place, part, np.asarray(rows["positive"], dtype=bool), amounts)

    def tables(self, n: int) -> list[NDArray[Any]]:
        """Return the positives and negatives of each of `n` scores, and those of the squares."""
        codes = np.where(self.positive, self.place, self.place + n)
        found = []
        for each in (self.amounts, self.squares):
            if each is not None:
                sums = np.bincount(codes, each, 2 * n).reshape(2, n)
                found.append(sums if each.dtype.kind == "f" else sums.astype(np.int64))
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as plain lists.

        Returns
        -------
        dict
            The names of the parts, and the columns of the rows.
        """
        names = {"groups": self.parts.groups, "strata": self.parts.strata}
        columns = ("place", "part", "positive", "amounts", "squares")
        given = {name: getattr(self, name) for name in columns}
        return {name: list(each) for name, each in names.items() if each is not None} | {
            name: each.tolist() for name, each in given.items() if each is not None
        }


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ScoreCounts(TwoClassCounts):
    """Numbers of positives and negatives with each score.

    The table determines the confusion matrix at every threshold: an example is called positive
    when its score is at least the threshold.

    Parameters
    ----------
    thresholds : array_like, shape (t,)
        The distinct scores, highest first. Infinite scores count as the largest finite numbers, so
        that a threshold of infinity calls nothing positive.
    positives, negatives : array_like, shape (t,)
        The number of examples of each class with that score (or the sum of their weights).
    pos_label, neg_label : default 1 and 0
        The names of the classes.
    squares : array_like, shape (2, t), optional
        The sums of squared weights of the positives and of the negatives, where the counts are sums
        of weights.
    rows : ScoreRows, optional
        The counts by score, class, group and stratum, where the examples have groups or strata.

    Examples
    --------
    >>> from stakes import ScoreCounts
    >>> scores = ScoreCounts.from_scores([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.3])
    >>> scores.thresholds.tolist(), scores.positives.tolist(), scores.negatives.tolist()
    ([0.8, 0.3, 0.1], [1, 1, 0], [0, 1, 1])
    >>> scores.confusion_at(0.3).counts.tolist()
    [[1, 0], [1, 2]]
    """

    positives: NDArray[Any]
    negatives: NDArray[Any]
    thresholds: NDArray[np.float64]
    rows: ScoreRows | None

    def __init__(
        self,
        thresholds: Any,
        positives: Any,
        negatives: Any,
        *,
        pos_label: Label = 1,
        neg_label: Label = 0,
        squares: Any = None,
        rows: ScoreRows | Mapping[str, Any] | None = None,
    ) -> None:
        if rows is not None and not isinstance(rows, ScoreRows | Mapping):
            raise InputError("rows", f"expected what to_dict() gives, got {rows!r}.")
        cuts = validate.thresholds(thresholds, "thresholds")
        self._set(
            rows=ScoreRows.from_dict(rows) if isinstance(rows, Mapping) else rows,
            thresholds=readonly_copy(cuts),
            **checked_sides({"thresholds": len(cuts)}, positives, negatives, squares),
            **checked_names(pos_label, neg_label),
        )

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Label = 1,
        neg_label: Label | None = None,
        sample_weight: Any = None,
        groups: Any = None,
        strata: Any = None,
    ) -> Self:
        """Count the scores of a two-class scorer.

        Parameters
        ----------
        y_true : array_like, shape (n,)
            The actual class of each example; two classes.
        y_score : array_like, shape (n,)
            The score of each example; the higher, the more likely positive.
        pos_label : default 1
            Which class is the positive one.
        neg_label : optional
            The name of the other class; needed only to count a part in which one class is absent.
        sample_weight : array_like, shape (n,), optional
            The weight of each example: one over its probability of being sampled.
        groups, strata : array_like, shape (n,), optional
            The group of each example, whose members are not independent, and the stratum it was
            sampled from.

        Returns
        -------
        ScoreCounts
            The table.

        Examples
        --------
        >>> from stakes import ScoreCounts
        >>> ScoreCounts.from_scores(["ok", "fraud", "ok"], [0.1, 0.8, 0.3], pos_label="fraud")
        ScoreCounts: 1 × 'fraud', 2 × 'ok', 3 distinct scores
        """
        y_true, y_score, sample_weight, groups, strata = validate.aligned(
            y_true=y_true,
            y_score=y_score,
            sample_weight=sample_weight,
            groups=groups,
            strata=strata,
        )
        column = as_column(y_true, "y_true")
        in_parts = groups is not None or strata is not None
        scores = validate.scores(y_score, single=not in_parts)
        validate.same_length({"y_true": len(column), "y_score": len(scores)})
        amounts = validate.weight_amounts(sample_weight, len(scores))
        parts = Parts.of_rows(groups, strata) if in_parts else None
        return cls._from_rows(column, scores, amounts, (pos_label, neg_label), parts)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        actual: str,
        score: str,
        pos_label: Label = 1,
        neg_label: Label | None = None,
        sample_weight: str | None = None,
        groups: str | None = None,
        strata: str | None = None,
    ) -> Self:
        """Count the scores in a data frame; the engine of a lazy frame does the counting.

        From a lazy frame, one row for each distinct pair of label and score is collected; with
        groups or strata, the columns themselves.

        Parameters
        ----------
        frame : data frame
            As in `Confusion.from_frame`.
        actual, score, sample_weight, groups, strata : str
            The names of the columns.
        pos_label, neg_label
            As in `from_scores`.

        Returns
        -------
        ScoreCounts
            The table.

        Examples
        --------
        >>> import polars as pl
        >>> from stakes import ScoreCounts
        >>> frame = pl.LazyFrame({"truth": [0, 1, 0], "score": [0.1, 0.8, 0.3]})
        >>> ScoreCounts.from_frame(frame, actual="truth", score="score").thresholds.tolist()
        [0.8, 0.3, 0.1]
        """
        parts = None
        if groups is not None or strata is not None:
            kept = [name for name in (groups, strata) if name is not None]
            frame = in_memory(frame, [actual, *kept], [score], sample_weight)
            given = [
                None if name is None else part_column(frame[name].to_native(), f"column {name!r}")
                for name in (groups, strata)
            ]
            parts = Parts.of_columns(*given)
            frame = frame.to_native()
        column, scores, amounts = scored(frame, actual, [score], sample_weight)
        return cls._from_rows(column, scores[0], amounts, (pos_label, neg_label), parts)

    @classmethod
    def _from_rows(
        cls,
        column: Column,
        scores: NDArray[np.float64],
        amounts: Sequence[NDArray[Any] | None],
        names: tuple[Label, Label | None],
        parts: tuple[Column, Parts] | None = None,
    ) -> Self:
        """Count rows, each of which stands for one or more examples, by parts if there are any."""
        positive, (pos_label, neg_label) = two_classes(column, *names)
        if parts is None:
            thresholds, tables = count_scores(scores, positive, amounts)
            result = cls._made(thresholds, tables, pos_label, neg_label)
        else:
            of_part, found = parts
            validate.same_length({column.name: len(column), of_part.name: len(of_part)})
            thresholds, places = ranked(scores)
            rows = ScoreRows.of(found, places, of_part.codes, positive, amounts)
            sums = rows.tables(len(thresholds))
            result = cls._made(thresholds, sums, pos_label, neg_label, rows)
        if names[1] is None:
            both_classes_weigh(result, column.name)
        return result

    @classmethod
    def _made(
        cls,
        thresholds: NDArray[np.float64],
        tables: Sequence[NDArray[Any]],
        pos_label: Label,
        neg_label: Label,
        rows: ScoreRows | None = None,
    ) -> Self:
        """Make an instance of tables computed here, without checking or copying them.

        The first table has the counts of positives and negatives, the optional second the squares.
        """
        squares = readonly(tables[1]) if len(tables) > 1 else None
        positives, negatives = readonly(tables[0])
        result = cls.__new__(cls)
        result._set(  # noqa: SLF001 - as __init__ does
            thresholds=readonly(thresholds),
            positives=positives,
            negatives=negatives,
            pos_label=pos_label,
            neg_label=neg_label,
            squares=squares,
            rows=rows,
        )
        return result

    @property
    def parts(self) -> Parts | None:
        """The groups and strata of the examples, or None if there are none."""
        return None if self.rows is None else self.rows.parts

    @cached_property
    def n_positives(self) -> Any:
        """The number of positive examples."""
        return self.positives.sum().item()

    @cached_property
    def n_negatives(self) -> Any:
        """The number of negative examples."""
        return self.negatives.sum().item()

    def reweighted(self, factors: NDArray[np.float64]) -> Self:
        """Return the table with the weights of each part and class multiplied by a factor.

        Parameters
        ----------
        factors : ndarray, shape (parts, 2)
            The factors for the weights of each part's negatives and positives.

        Returns
        -------
        ScoreCounts
            The table.

        Examples
        --------
        >>> import numpy as np
        >>> from stakes import ScoreCounts
        >>> counts = ScoreCounts.from_scores([0, 1, 1], [0.1, 0.8, 0.8], strata=["n", "n", "s"])
        >>> counts.reweighted(np.array([[1.0, 1.0], [3.0, 3.0]])).positives.tolist()
        [4.0, 0.0]
        """
        if self.rows is None:
            raise DesignError("strata", "the scores were counted without groups or strata.")
        rows = self.rows
        check_factors(factors, rows.parts)
        factor = factors[rows.part, rows.positive.astype(np.intp)]
        amounts = readonly(rows.amounts * factor)
        squares = readonly((rows.amounts if rows.squares is None else rows.squares) * factor**2)
        changed = ScoreRows(rows.parts, rows.place, rows.part, rows.positive, amounts, squares)
        tables = changed.tables(len(self.thresholds))
        return self._made(self.thresholds, tables, self.pos_label, self.neg_label, changed)

    def confusion_at(self, threshold: float) -> Confusion | GroupedConfusion:
        """Return the confusion matrix of calling scores of at least `threshold` positive.

        Parameters
        ----------
        threshold : float
            The threshold.

        Returns
        -------
        Confusion or GroupedConfusion
            The counts; with groups or strata, those of each part.

        Examples
        --------
        >>> from stakes import ScoreCounts
        >>> scores = ScoreCounts.from_scores([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.3])
        >>> scores.confusion_at(0.8).counts.tolist()
        [[2, 1], [0, 1]]
        """
        cut = validate.numeric(threshold, "threshold", ndim=0)
        if np.isnan(cut):
            raise InputError("threshold", "expected a number, got NaN.")
        size = len(self.thresholds)
        above = size - int(np.searchsorted(self.thresholds[::-1], cut))
        if self.rows is not None:
            return self._parts_at(self.rows, np.arange(size) < above)

        def split(table: Sequence[NDArray[Any]]) -> list[list[Any]]:
            positives, negatives = table
            ends = (slice(above, None), slice(above))
            return [[negatives[rows].sum(), positives[rows].sum()] for rows in ends]

        return Confusion(
            split((self.positives, self.negatives)),
            labels=[self.neg_label, self.pos_label],
            squares=None if self.squares is None else split(tuple(self.squares)),
        )

    def _parts_at(self, rows: ScoreRows, above: NDArray[np.bool_]) -> GroupedConfusion:
        """Return the confusion matrix of each part."""
        parts = rows.parts
        cells = rows.part.astype(np.intp) * 4 + above[rows.place] * 2 + rows.positive

        def summed(each: NDArray[Any]) -> NDArray[Any]:
            sums = np.bincount(cells, each, 4 * len(parts)).reshape(-1, 2, 2)
            return sums if each.dtype.kind == "f" else sums.astype(np.int64)

        kept = rows.squares if parts.groups is None else None
        return GroupedConfusion(
            summed(rows.amounts),
            [self.neg_label, self.pos_label],
            None,
            parts.groups,
            strata=parts.strata,
            squares=None if kept is None else summed(kept),
        )

    def __add__(self, other: object) -> Self:
        """Merge the score tables of two sets of examples; parts with equal names are one part."""
        if not isinstance(other, type(self)):
            return NotImplemented
        self._check_mergeable(other)
        if self.rows is not None or other.rows is not None:
            return self._merged_rows(other)
        thresholds, where = np.unique(
            np.concatenate([self.thresholds, other.thresholds]), return_inverse=True
        )
        places = np.split(where, [len(self.thresholds)])
        counts = _placed([part._counts() for part in (self, other)], places, len(thresholds))  # noqa: SLF001
        squares = None
        if self.squares is not None and other.squares is not None:
            squares = _placed([self.squares, other.squares], places, len(thresholds))[:, ::-1]
        return type(self)(
            thresholds[::-1],
            *counts[:, ::-1],
            pos_label=self.pos_label,
            neg_label=self.neg_label,
            squares=squares,
        )

    def _merged_rows(self, other: Self) -> Self:
        if self.rows is None or other.rows is None:
            raise DesignError(
                "groups, strata",
                "scores with them cannot be merged with scores without.",
                "Count all parts with them, or none.",
            )
        parts, *names = self.rows.parts.merged(other.rows.parts)
        sizes = len(self.thresholds), len(other.thresholds)
        thresholds, places = ranked(np.concatenate([self.thresholds, other.thresholds]))
        both = (self.rows, other.rows)
        place = [at[each.place] for at, each in zip(np.split(places, sizes[:1]), both, strict=True)]
        part = [at[each.part] for at, each in zip(names, both, strict=True)]
        amounts = [np.concatenate([each.amounts for each in both])]
        if self.rows.squares is not None and other.rows.squares is not None:
            amounts.append(np.concatenate([self.rows.squares, other.rows.squares]))
        rows = ScoreRows.of(
            parts,
            np.concatenate(place),
            np.concatenate(part),
            np.concatenate([each.positive for each in both]),
            amounts,
        )
        tables = rows.tables(len(thresholds))
        return self._made(thresholds, tables, self.pos_label, self.neg_label, rows)

    def _counts(self) -> NDArray[Any]:
        return np.stack([self.positives, self.negatives])

    def to_frame(self) -> Any:
        """Return the counts as a pandas data frame, a row for each score, the highest first.

        Returns
        -------
        DataFrame
            The score, and the numbers of positives and negatives with it.

        Examples
        --------
        >>> from stakes import ScoreCounts
        >>> ScoreCounts.from_scores([1, 0, 1], [0.8, 0.3, 0.3]).to_frame()
           score  positives  negatives
        0    0.8          1          0
        1    0.3          1          1
        """
        return data_frame(
            {
                "score": self.thresholds,
                "positives": self.positives,
                "negatives": self.negatives,
            }
        )

    def __repr__(self) -> str:
        return f"{self._title()}, {len(self.thresholds)} distinct scores"

    def _repr_html_(self) -> str:
        cells = [
            *self._class_rows(),
            ["distinct scores", number(len(self.thresholds))],
            ["highest score", f"{self.thresholds[0]:.4g}"],
            ["lowest score", f"{self.thresholds[-1]:.4g}"],
        ]
        return html_table(["", "value"], cells, caption="Score table")


def _placed(
    tables: Sequence[NDArray[Any]], places: Sequence[NDArray[np.intp]], size: int
) -> NDArray[Any]:
    """Sum tables of positives and negatives, each at its positions in the merged thresholds."""
    total = np.zeros((2, size), dtype=np.result_type(*tables))
    for table, at in zip(tables, places, strict=True):
        total[:, at] += table
    return total


def count_scores(
    scores: NDArray[np.floating[Any]],
    positive: NDArray[np.bool_],
    amounts: Sequence[NDArray[Any] | None],
) -> tuple[NDArray[np.float64], list[NDArray[Any]]]:
    """Return the distinct scores, highest first, and their positives and negatives.

    Scores are sorted once, and amounts are summed over each run of equal scores.
    """
    if len(amounts) == 1 and amounts[0] is None:
        return _count_alike(scores, positive)
    order = np.argsort(scores)
    scores, positive = scores[order], positive[order]
    start = np.append(0, np.flatnonzero(scores[1:] != scores[:-1]) + 1)

    def summed(amount: NDArray[Any] | None) -> NDArray[Any]:
        kind = np.float64 if amount is not None and amount.dtype.kind == "f" else np.int64
        sides = (positive, ~positive)
        if amount is not None:  # reorder once: that is slower than the two products
            ordered = amount[order]
            sides = (ordered * sides[0], ordered * sides[1])
        return np.stack([np.add.reduceat(side, start, dtype=kind)[::-1] for side in sides])

    thresholds = scores[start][::-1].astype(np.float64)
    return thresholds, [summed(amount) for amount in amounts]


def _count_alike(
    scores: NDArray[np.floating[Any]], positive: NDArray[np.bool_]
) -> tuple[NDArray[np.float64], list[NDArray[Any]]]:
    """Count rows of one example each by sorting the values of all rows and of the smaller class.

    This takes less than half the time of an argsort of all rows. Scores are negated before
    sorting, so that the highest come first without another full array. Subtraction from zero
    leaves no negative zero.
    """
    scores = _narrowed(scores)
    fewer = 0 if 2 * np.count_nonzero(positive) <= len(positive) else 1
    values, ends = _runs(0 - scores[positive if fewer == 0 else ~positive])
    distinct, all_ends = _runs(0 - scores)
    table = np.zeros((2, len(distinct)), dtype=np.int64)
    few, many = table[fewer], table[1 - fewer]
    few[np.searchsorted(distinct, values)] = 1 if ends is None else np.diff(ends, prepend=0)
    if all_ends is None:
        np.subtract(1, few, out=many)
    else:
        np.subtract(all_ends, few, out=many)
        many[1:] -= all_ends[:-1]
    thresholds = distinct.astype(np.float64, copy=False)
    return np.subtract(0, thresholds, out=thresholds), [table]


def _narrowed(scores: NDArray[Any]) -> NDArray[Any]:
    """Return scores in single precision if that is exact: sorting then takes half the time."""
    with np.errstate(over="ignore"):
        if (scores[:SOME] != scores[:SOME].astype(np.float32)).any():
            return scores
        narrow = scores.astype(np.float32, copy=False)
    return narrow if narrow is scores or np.array_equal(narrow, scores) else scores


def _runs(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64] | None]:
    """Sort values in place; return the distinct ones and, if any repeats, the end of each run."""
    values.sort()
    last = np.ones(len(values), dtype=bool)
    np.not_equal(values[1:], values[:-1], out=last[:-1])
    if last.all():
        return values, None
    ends = np.flatnonzero(last)
    ends += 1
    return values[last], ends
