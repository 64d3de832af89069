"""The score table of a two-class scorer: sorted once, counted once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes import _validate
from stakes._byvalue import ByValue, frozen
from stakes._columns import Column, as_column
from stakes._labels import Label, as_labels, hint
from stakes._table import number
from stakes.counts.confusion import Confusion
from stakes.errors import InputError, LabelError


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ScoreCounts(ByValue):
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

    Examples
    --------
    >>> from stakes import ScoreCounts
    >>> scores = ScoreCounts.from_scores([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.3])
    >>> scores.thresholds.tolist(), scores.positives.tolist(), scores.negatives.tolist()
    ([0.8, 0.3, 0.1], [1, 1, 0], [0, 1, 1])
    >>> scores.confusion_at(0.3).counts.tolist()
    [[1, 0], [1, 2]]
    """

    thresholds: NDArray[np.float64]
    positives: NDArray[Any]
    negatives: NDArray[Any]
    pos_label: Label
    neg_label: Label

    def __init__(
        self,
        thresholds: Any,
        positives: Any,
        negatives: Any,
        *,
        pos_label: Label = 1,
        neg_label: Label = 0,
    ) -> None:
        cuts = _validate.numeric(thresholds, "thresholds", ndim=1)
        if not len(cuts) or np.isnan(cuts).any() or (cuts[1:] >= cuts[:-1]).any():
            raise InputError("thresholds: expected distinct scores, highest first, without NaN.")
        both = _validate.counts([positives, negatives], "positives, negatives", ndim=2)
        _validate.same_length({"thresholds": len(cuts), "positives": both.shape[1]})
        negative, positive = as_labels([neg_label, pos_label], "neg_label, pos_label")
        self._set(
            thresholds=frozen(cuts),
            positives=frozen(both[0]),
            negatives=frozen(both[1]),
            pos_label=positive,
            neg_label=negative,
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
        """
        column = as_column(y_true, "y_true")
        scores = _validate.scores(y_score)
        _validate.same_length({"y_true": len(column), "y_score": len(scores)})
        positive, other = _two_classes(column, pos_label, neg_label)
        n = len(scores)
        weights = None if sample_weight is None else _validate.weights(sample_weight, n)
        return cls(*_count(scores, positive, weights), pos_label=pos_label, neg_label=other)

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
        """Count the scores in a data frame; a lazy one is asked for the needed columns only.

        Parameters
        ----------
        frame : data frame
            Eager or lazy, of any library that narwhals knows.
        actual, score, sample_weight : str
            The names of the columns.
        pos_label, neg_label
            As in `from_scores`.
        """
        from stakes.counts.frames import columns_of

        names = [actual, score, *([] if sample_weight is None else [sample_weight])]
        y_true, y_score, *weights = columns_of(frame, names)
        return cls.from_scores(
            y_true,
            y_score,
            pos_label=pos_label,
            neg_label=neg_label,
            sample_weight=weights[0] if weights else None,
        )

    @property
    def n_positives(self) -> Any:
        """The number of positive examples."""
        return self.positives.sum().item()

    @property
    def n_negatives(self) -> Any:
        """The number of negative examples."""
        return self.negatives.sum().item()

    @property
    def n(self) -> Any:
        """The number of examples."""
        return self.n_positives + self.n_negatives

    @property
    def weighted(self) -> bool:
        """Whether the counts are sums of weights."""
        return self.positives.dtype.kind == "f"

    def confusion_at(self, threshold: float) -> Confusion:
        """Return the confusion matrix of calling positive what scores at least `threshold`."""
        if np.isnan(threshold):
            raise InputError("threshold: expected a number, got NaN.")
        above = self.thresholds >= threshold
        called = [self.negatives[above].sum(), self.positives[above].sum()]
        counts = [[self.n_negatives - called[0], self.n_positives - called[1]], called]
        return Confusion(counts, labels=[self.neg_label, self.pos_label])

    def __add__(self, other: object) -> Self:
        """Merge the score tables of two sets of examples."""
        if not isinstance(other, type(self)):
            return NotImplemented
        if (self.neg_label, self.pos_label) != (other.neg_label, other.pos_label):
            raise LabelError(
                f"score tables of the classes {self.neg_label!r} and {self.pos_label!r} cannot be "
                f"merged with one of {other.neg_label!r} and {other.pos_label!r}."
            )
        if self.weighted != other.weighted:
            raise InputError(
                "scores with sample weights cannot be merged with scores without: count all parts "
                "with sample_weight, or none."
            )
        thresholds, where = np.unique(
            np.concatenate([self.thresholds, other.thresholds]), return_inverse=True
        )
        merged = np.zeros((2, len(thresholds)), dtype=self.positives.dtype)
        for part, at in (
            (self, where[: len(self.thresholds)]),
            (other, where[len(self.thresholds) :]),
        ):
            merged[:, at] += [part.positives, part.negatives]
        return type(self)(
            thresholds[::-1],
            *merged[:, ::-1],
            pos_label=self.pos_label,
            neg_label=self.neg_label,
        )

    def __radd__(self, other: object) -> Self:
        return self if other == 0 else NotImplemented  # so that sum() works

    def __repr__(self) -> str:
        return (
            f"ScoreCounts: {number(self.n_positives)} × {self.pos_label!r}, "
            f"{number(self.n_negatives)} × {self.neg_label!r}, "
            f"{len(self.thresholds)} distinct scores"
        )


def _two_classes(
    column: Column, pos_label: Label, neg_label: Label | None
) -> tuple[NDArray[np.bool_], Label]:
    """Tell which rows are positive, and name the other class."""
    present = tuple(column.present(column.used()))
    expected = {pos_label} if neg_label is None else {pos_label, neg_label}
    classes = (*present, *(label for label in expected if label not in present))
    if neg_label is None and pos_label not in present:
        raise LabelError(
            f"pos_label: {pos_label!r} does not occur in y_true, which has "
            f"{', '.join(map(repr, present[:10]))}.{hint(pos_label, present)} "
            "Name the positive class, and both classes if one may be absent."
        )
    if neg_label is None and len(present) == 1:
        raise LabelError(
            f"y_true: two classes are needed, got only {present[0]!r}. "
            "To count a part in which one class is absent, name both: pos_label=, neg_label=."
        )
    _validate.two_classes(classes, "y_true")
    other = next(label for label in classes if label != pos_label)
    if pos_label not in column.values:
        return np.zeros(len(column), dtype=bool), other
    return column.codes == column.values.index(pos_label) + column.offset, other


def _count(
    scores: NDArray[np.float64],
    positive: NDArray[np.bool_],
    weights: NDArray[np.float64] | None,
) -> tuple[NDArray[np.float64], NDArray[Any], NDArray[Any]]:
    """Sort once; then add up each run of equal scores."""
    order = np.argsort(scores)
    scores = scores[order]
    start = np.append(0, np.flatnonzero(scores[1:] != scores[:-1]) + 1)
    amounts = (
        [positive, ~positive] if weights is None else [weights * positive, weights * ~positive]
    )
    kind = np.int64 if weights is None else np.float64
    positives, negatives = (np.add.reduceat(each[order], start, dtype=kind) for each in amounts)
    return scores[start][::-1], positives[::-1], negatives[::-1]
