"""The joint decisions of any number of classifiers on the same examples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import (
    CHUNK,
    Labels,
    as_axes,
    as_column,
    in_order,
    label_codes,
    listing,
    union,
)
from stakes._core.text import html_table, number
from stakes._core.values import ByValue, readonly_copy
from stakes.counts._labelled import check_cells
from stakes.counts.confusion import Confusion
from stakes.counts.engines import group
from stakes.counts.paired import PairedConfusion
from stakes.errors import InputTypeError, LabelError

MOST_CELLS = 1 << 22
"""Up to so many combinations each has a cell of its own while counting."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class JointConfusion(ByValue):
    """How often each combination of decisions and actual class came.

    A full table would have a cell for every combination that could occur; this one has a row for
    each that did.

    Attributes
    ----------
    names : tuple
        The classifiers.
    decided : ndarray of int, shape (rows, classifiers)
        The position of each classifier's decision among `decisions`.
    actual : ndarray of int, shape (rows,)
        The position of the class among `labels`.
    counts : ndarray of int, shape (rows,)
        How often the combination came.
    labels, decisions : tuple
        The classes and the decisions.

    Examples
    --------
    >>> from stakes import JointConfusion
    >>> JointConfusion.from_labels([0, 1, 1], {"a": [0, 1, 0], "b": [0, 1, 1], "c": [1, 1, 1]})
    JointConfusion: 3 examples, 3 classifiers, 3 combinations
    """

    names: Labels
    decided: NDArray[np.intp]
    actual: NDArray[np.intp]
    counts: NDArray[np.int64]
    labels: Labels
    decisions: Labels

    def __init__(
        self,
        names: Any,
        *,
        decided: NDArray[np.intp],
        actual: NDArray[np.intp],
        counts: NDArray[np.int64],
        labels: Any,
        decisions: Any = None,
    ) -> None:
        classes, choices = as_axes(labels, decisions)
        self._set(
            names=tuple(names),
            decided=readonly_copy(decided),
            actual=readonly_copy(actual),
            counts=readonly_copy(counts),
            labels=classes,
            decisions=choices,
        )

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        predictions: Any,
        *,
        labels: Any = None,
        decisions: Any = None,
    ) -> Self:
        """Count the decisions of several classifiers on the same examples.

        Parameters
        ----------
        y_true : array_like, shape (n,)
            The actual class of each example.
        predictions : mapping
            From the name of each classifier to its decisions.
        labels, decisions
            As in `Confusion.from_labels`.

        Returns
        -------
        JointConfusion
            The counts.

        Examples
        --------
        >>> from stakes import JointConfusion
        >>> joint = JointConfusion.from_labels([0, 1, 1], {"a": [0, 1, 0], "b": [0, 1, 1]})
        >>> joint.names, joint.n
        (('a', 'b'), 3)
        """
        if not isinstance(predictions, Mapping) or not predictions:
            got = "an empty one" if isinstance(predictions, Mapping) else type(predictions).__name__
            raise InputTypeError(
                "predictions",
                f"expected a mapping from each classifier's name to its decisions, got {got}.",
            )
        columns = {f"predictions[{name!r}]": values for name, values in predictions.items()}
        validate.same_index(y_true=y_true, **columns)
        if labels is None:
            classes_from = {"y_true": y_true} | ({} if decisions is not None else columns)
            every = [as_column(values, what) for what, values in classes_from.items()]
            labels = in_order({value for each in every for value in each.present(each.used())})
        classes, choices = as_axes(labels, decisions)
        actual = label_codes(y_true, "y_true", classes, "classes")
        decided = [
            label_codes(values, what, choices, "decisions") for what, values in columns.items()
        ]
        validate.same_length(
            {"y_true": len(actual)} | dict(zip(columns, map(len, decided), strict=True))
        )
        codes = dict(zip(predictions, decided, strict=True))
        return cls.from_codes(actual, codes, labels=classes, decisions=choices)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        actual: str,
        predicted: Any,
        labels: Any = None,
        decisions: Any = None,
    ) -> Self:
        """Count the rows of a data frame where it lives, in one pass for all classifiers.

        One row for each combination of decisions and class that occurs is collected.

        Parameters
        ----------
        frame, actual, labels, decisions
            As in `Confusion.from_frame`.
        predicted : mapping, or sequence of str
            From the name of each classifier to its column; or the columns, whose names then are
            those of the classifiers.

        Returns
        -------
        JointConfusion
            The counts.

        Examples
        --------
        >>> import polars as pl
        >>> from stakes import JointConfusion
        >>> frame = pl.LazyFrame({"truth": [0, 1, 1], "a": [0, 1, 0], "b": [0, 1, 1]})
        >>> joint = JointConfusion.from_frame(frame, actual="truth", predicted=["a", "b"])
        >>> joint.pair("a", "b").counts[0, 1].tolist()  # a said 0, b said 1
        [0, 1]
        """
        if isinstance(predicted, str) or not isinstance(predicted, Mapping | Sequence):
            raise InputTypeError(
                "predicted",
                "expected a mapping from each classifier's name to its column, or a list of "
                f"columns; got {predicted!r}.",
            )
        models = predicted if isinstance(predicted, Mapping) else {name: name for name in predicted}
        if not models:
            raise InputTypeError("predicted", "expected at least one column, got none.")
        columns, amounts = group(frame, [actual, *models.values()])
        if labels is None:
            every = columns if decisions is None else columns[:1]
            labels = in_order({value for each in every for value in each.present(each.used())})
        classes, choices = as_axes(labels, decisions)
        axes = [(classes, "classes"), *[(choices, "decisions")] * len(models)]
        codes = [
            each.looked_up(each.positions(each.used(), allowed, what))
            for each, (allowed, what) in zip(columns, axes, strict=True)
        ]
        decided = dict(zip(models, codes[1:], strict=True))
        return cls.from_codes(
            codes[0], decided, labels=classes, decisions=choices, amounts=amounts[0]
        )

    @classmethod
    def from_codes(
        cls,
        actual: NDArray[Any],
        decided: Mapping[Any, NDArray[Any]],
        *,
        labels: Any,
        decisions: Any,
        amounts: NDArray[np.int64] | None = None,
    ) -> Self:
        """Count decisions that are given by their positions among the labels and decisions.

        Parameters
        ----------
        actual : ndarray of int, shape (n,)
            The position of each example's class among `labels`.
        decided : mapping
            From the name of each classifier to the positions of its decisions among `decisions`.
        labels, decisions : sequence
            The classes and the decisions.
        amounts : ndarray of int, shape (n,), optional
            How many examples each row stands for; by default one.

        Returns
        -------
        JointConfusion
            The counts.

        Examples
        --------
        >>> import numpy as np
        >>> from stakes import JointConfusion
        >>> joint = JointConfusion.from_codes(
        ...     np.array([0, 1]), {"a": np.array([0, 0])}, labels=["ok", "fraud"],
        ...     decisions=["ok", "fraud"], amounts=np.array([90, 10]))
        >>> joint.single("a").counts.tolist()
        [[90, 10], [0, 0]]
        """
        columns = [np.asarray(codes) for codes in (actual, *decided.values())]
        shape = (len(labels), *[len(decisions)] * len(decided))
        count = _counted if math.prod(shape) <= MOST_CELLS else _sorted
        rows, counts = count(columns, shape, amounts)
        return cls(
            tuple(decided),
            decided=np.stack(rows, axis=1)[:, 1:],
            actual=rows[0],
            counts=counts,
            labels=labels,
            decisions=decisions,
        )

    @property
    def n(self) -> int:
        """The number of examples."""
        return int(self.counts.sum())

    def class_counts(self) -> NDArray[np.int64]:
        """Return how many examples each actual class has, in the order of `labels`.

        Returns
        -------
        ndarray of int, shape (classes,)
            The numbers of examples.

        Examples
        --------
        >>> from stakes import JointConfusion
        >>> joint = JointConfusion.from_labels([0, 1, 1], {"a": [0, 1, 0], "b": [0, 1, 1]})
        >>> joint.class_counts().tolist()
        [1, 2]
        """
        table = np.zeros(len(self.labels), dtype=np.int64)
        np.add.at(table, self.actual, self.counts)
        return table

    def __add__(self, other: object) -> Self:
        """Merge the counts of two sets of examples, of the same classifiers.

        The labels may differ: then the result has those of both, sorted. Merging equals counting
        both sets at once.
        """
        if not isinstance(other, type(self)):
            return NotImplemented
        if set(self.names) != set(other.names):
            raise LabelError(
                "",
                f"counts of the models {listing(self.names)} cannot be merged with those of "
                f"{listing(other.names)}.",
            )
        labels = union(self.labels, other.labels)
        decisions = union(self.decisions, other.decisions)
        parts = [_codes(part, labels, decisions, self.names) for part in (self, other)]
        actual, decided = (np.concatenate(each) for each in zip(*parts, strict=True))
        return type(self).from_codes(
            actual,
            dict(zip(self.names, decided.T, strict=True)),
            labels=labels,
            decisions=decisions,
            amounts=np.concatenate([self.counts, other.counts]),
        )

    def __radd__(self, other: object) -> Self:
        """Start from nothing, as `sum` does."""
        return self if other == 0 else NotImplemented

    def single(self, name: Any) -> Confusion:
        """Return the confusion matrix of one classifier.

        Parameters
        ----------
        name : label
            The classifier.

        Returns
        -------
        Confusion
            The counts.

        Examples
        --------
        >>> from stakes import JointConfusion
        >>> joint = JointConfusion.from_labels([0, 1, 1], {"a": [0, 1, 0], "b": [0, 1, 1]})
        >>> joint.single("a").counts.tolist()
        [[1, 1], [0, 1]]
        """
        table = np.zeros((len(self.decisions), len(self.labels)), dtype=np.int64)
        np.add.at(table, (self.decided[:, self._column(name)], self.actual), self.counts)
        return Confusion(table, self.labels, self.decisions)

    def pair(self, first: Any, second: Any) -> PairedConfusion:
        """Return the joint confusion of two of the classifiers.

        Parameters
        ----------
        first, second : label
            The classifiers.

        Returns
        -------
        PairedConfusion
            The counts.

        Examples
        --------
        >>> from stakes import JointConfusion
        >>> joint = JointConfusion.from_labels([0, 1, 1], {"a": [0, 1, 0], "b": [0, 1, 1]})
        >>> joint.pair("a", "b").counts[0, 1].tolist()  # a said 0, b said 1
        [0, 1]
        """
        size = len(self.decisions)
        check_cells([size, size, len(self.labels)], "decisions")
        table = np.zeros((size, size, len(self.labels)), dtype=np.int64)
        one, other = (self.decided[:, self._column(name)] for name in (first, second))
        np.add.at(table, (one, other, self.actual), self.counts)
        return PairedConfusion(table, self.labels, self.decisions)

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as plain lists.

        Returns
        -------
        dict
            What the constructor takes, as plain values.
        """
        return {
            "names": list(self.names),
            "decided": self.decided.tolist(),
            "actual": self.actual.tolist(),
            "counts": self.counts.tolist(),
            "labels": list(self.labels),
            "decisions": list(self.decisions),
        }

    def _column(self, name: Any) -> int:
        if name not in self.names:
            raise LabelError("name", f"there is no model {name!r}; there are {self.names}.")
        return self.names.index(name)

    def _repr_html_(self) -> str:
        rows = [[str(name), number(self.single(name).n)] for name in self.names]
        return html_table(["classifier", "examples"], rows, caption=repr(self))

    def __repr__(self) -> str:
        return (
            f"JointConfusion: {number(self.n)} examples, {len(self.names)} classifiers, "
            f"{len(self.counts)} combinations"
        )


Rows = tuple[Sequence[NDArray[np.intp]], NDArray[np.int64]]
"""The distinct combinations of codes, column by column and in order, and how often each came."""


def _counted(
    columns: Sequence[NDArray[Any]], shape: tuple[int, ...], amounts: NDArray[np.int64] | None
) -> Rows:
    """Count combinations in a table that has a cell for each, a part of the rows at a time."""
    size = math.prod(shape)
    table = np.zeros(size, dtype=np.int64)
    seen = table if amounts is None else np.zeros(size, dtype=np.int64)
    step = max(CHUNK, size)
    for start in range(0, len(columns[0]), step):
        part = slice(start, start + step)
        combined = columns[0][part].astype(np.intp)
        for codes, width in zip(columns[1:], shape[1:], strict=True):
            combined *= width
            combined += codes[part]
        seen += np.bincount(combined, minlength=size)
        if amounts is not None:
            np.add.at(table, combined, amounts[part])
    places = np.flatnonzero(seen)
    return np.unravel_index(places, shape), table[places]


def _sorted(
    columns: Sequence[NDArray[Any]], shape: tuple[int, ...], amounts: NDArray[np.int64] | None
) -> Rows:
    """Count combinations of which there could be too many for a table.

    Those that occur are numbered anew where numbers would grow too large.
    """
    combined, size = columns[0].astype(np.int64), shape[0]
    for codes, width in zip(columns[1:], shape[1:], strict=True):
        if size > MOST_CELLS:
            combined = np.unique(combined, return_inverse=True)[1]
            size = int(combined.max()) + 1
        combined = combined * width + codes
        size *= width
    _, first, where = np.unique(combined, return_index=True, return_inverse=True)
    counts = np.zeros(len(first), dtype=np.int64)
    np.add.at(counts, where, 1 if amounts is None else amounts)
    return [codes[first].astype(np.intp) for codes in columns], counts


def _codes(
    part: JointConfusion, labels: Labels, decisions: Labels, names: Labels
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the classes and the decisions of a part by their positions among those of all."""
    classes = np.array([labels.index(label) for label in part.labels], dtype=np.intp)
    choices = np.array([decisions.index(label) for label in part.decisions], dtype=np.intp)
    columns = [part.names.index(name) for name in names]
    return classes[part.actual], choices[part.decided[:, columns]]
