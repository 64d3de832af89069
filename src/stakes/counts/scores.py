"""The score table of a two-class scorer: sorted once, counted once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Column, Label, as_column
from stakes._core.text import html_table, number
from stakes._core.values import readonly, readonly_copy
from stakes.counts._two_classes import (
    TwoClassCounts,
    both_classes_weigh,
    checked_names,
    checked_sides,
    two_classes,
)
from stakes.counts.confusion import Confusion
from stakes.counts.engines import scored
from stakes.errors import InputError


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ScoreCounts(TwoClassCounts):
    """How many positives and negatives have each score.

    Everything that a threshold can do follows from this table: an example is called positive when
    its score is at least the threshold.

    Parameters
    ----------
    thresholds : array_like, shape (t,)
        The distinct scores, highest first; infinite ones are allowed.
    positives, negatives : array_like, shape (t,)
        How many examples of each class have that score (or the sums of their weights).
    pos_label, neg_label : default 1 and 0
        The names of the classes.
    squares : array_like, shape (2, t), optional
        The sums of squared weights of the positives and of the negatives, where the counts are sums
        of weights.

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

    def __init__(
        self,
        thresholds: Any,
        positives: Any,
        negatives: Any,
        *,
        pos_label: Label = 1,
        neg_label: Label = 0,
        squares: Any = None,
    ) -> None:
        cuts = validate.thresholds(thresholds, "thresholds")
        self._set(
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
            The weight of each example.

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
        validate.same_index(y_true=y_true, y_score=y_score, sample_weight=sample_weight)
        column = as_column(y_true, "y_true")
        scores = validate.scores(y_score)
        validate.same_length({"y_true": len(column), "y_score": len(scores)})
        amounts = validate.weight_amounts(sample_weight, len(scores))
        return cls._from_rows(column, scores, amounts, pos_label, neg_label)

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
    ) -> Self:
        """Count the scores in a data frame; a lazy one counts them where it lives.

        Of a lazy frame, one row for each distinct pair of label and score is collected.

        Parameters
        ----------
        frame : data frame
            As in `Confusion.from_frame`.
        actual, score, sample_weight : str
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
        column, scores, amounts = scored(frame, actual, [score], sample_weight)
        return cls._from_rows(column, scores[0], amounts, pos_label, neg_label)

    @classmethod
    def _from_rows(
        cls,
        column: Column,
        scores: NDArray[np.float64],
        amounts: Sequence[NDArray[Any] | None],
        pos_label: Label,
        neg_label: Label | None,
    ) -> Self:
        """Count rows, each of which stands for one or more examples."""
        positive, labels = two_classes(column, pos_label, neg_label)
        thresholds, tables = _count(scores, positive, amounts)
        result = cls._made(thresholds, tables, *labels)
        if neg_label is None:
            both_classes_weigh(result, column.name)
        return result

    @classmethod
    def _made(
        cls,
        thresholds: NDArray[np.float64],
        tables: Sequence[NDArray[Any]],
        pos_label: Label,
        neg_label: Label,
    ) -> Self:
        """Keep tables that were made here, so that there is nothing to check or to copy.

        The first table has the counts of positives and negatives; a second one the squares.
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
        )
        return result

    @property
    def n_positives(self) -> Any:
        """The number of positive examples."""
        return self.positives.sum().item()

    @property
    def n_negatives(self) -> Any:
        """The number of negative examples."""
        return self.negatives.sum().item()

    def confusion_at(self, threshold: float) -> Confusion:
        """Return the confusion matrix of calling positive what scores at least `threshold`.

        Parameters
        ----------
        threshold : float
            The threshold.

        Returns
        -------
        Confusion
            The counts.

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
        above = self.thresholds >= cut

        def split(table: Sequence[NDArray[Any]]) -> list[list[Any]]:
            positives, negatives = table
            return [[negatives[rows].sum(), positives[rows].sum()] for rows in (~above, above)]

        return Confusion(
            split((self.positives, self.negatives)),
            labels=[self.neg_label, self.pos_label],
            squares=None if self.squares is None else split(tuple(self.squares)),
        )

    def __add__(self, other: object) -> Self:
        """Merge the score tables of two sets of examples."""
        if not isinstance(other, type(self)):
            return NotImplemented
        self._check_mergeable(other)
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

    def _counts(self) -> NDArray[Any]:
        return np.stack([self.positives, self.negatives])

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
    """Add up tables of positives and negatives, each at its places among all thresholds."""
    total = np.zeros((2, size), dtype=np.result_type(*tables))
    for table, at in zip(tables, places, strict=True):
        total[:, at] += table
    return total


def _count(
    scores: NDArray[np.float64],
    positive: NDArray[np.bool_],
    amounts: Sequence[NDArray[Any] | None],
) -> tuple[NDArray[np.float64], list[NDArray[Any]]]:
    """Sort once; then add up each run of equal scores, into rows of positives and negatives."""
    order = np.argsort(scores)
    scores = scores[order]
    start = np.append(0, np.flatnonzero(scores[1:] != scores[:-1]) + 1)

    def summed(amount: NDArray[Any] | None) -> NDArray[Any]:
        kind = np.float64 if amount is not None and amount.dtype.kind == "f" else np.int64
        each = (positive, ~positive)
        if amount is not None:
            each = (amount * each[0], amount * each[1])
        sums = [np.add.reduceat(side[order], start, dtype=kind)[::-1] for side in each]
        return np.stack(sums)

    return scores[start][::-1].copy(), [summed(amount) for amount in amounts]
