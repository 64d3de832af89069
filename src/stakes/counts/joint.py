"""The joint decisions of any number of classifiers on the same examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes import _validate
from stakes._byvalue import ByValue, frozen
from stakes._columns import as_column, label_codes
from stakes._labels import Labels, as_axes, in_order
from stakes._table import html_table, number
from stakes.counts.confusion import Confusion
from stakes.counts.paired import PairedConfusion
from stakes.errors import InputError, InputTypeError, LabelError


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
            decided=frozen(decided),
            actual=frozen(actual),
            counts=frozen(counts),
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
        """
        if not isinstance(predictions, Mapping) or not predictions:
            raise InputTypeError(
                "predictions: expected a mapping from each classifier's name to its decisions, "
                f"got {type(predictions).__name__}."
            )
        columns = {f"predictions[{name!r}]": values for name, values in predictions.items()}
        if labels is None:
            classes_from = {"y_true": y_true} | ({} if decisions is not None else columns)
            every = [as_column(values, what) for what, values in classes_from.items()]
            labels = in_order({value for each in every for value in each.present(each.used())})
        classes, choices = as_axes(labels, decisions)
        actual = label_codes(y_true, "y_true", classes, "classes")
        decided = [
            label_codes(values, what, choices, "decisions") for what, values in columns.items()
        ]
        _validate.same_length(
            {"y_true": len(actual)} | dict(zip(columns, map(len, decided), strict=True))
        )
        combined = actual
        for codes in decided:
            # Distinct combinations are renumbered at each step, so that codes stay small.
            combined = np.unique(combined, return_inverse=True)[1] * len(choices) + codes
        _, first, counts = np.unique(combined, return_index=True, return_counts=True)
        return cls(
            tuple(predictions),
            decided=np.column_stack(decided)[first],
            actual=actual[first],
            counts=counts.astype(np.int64),
            labels=classes,
            decisions=choices,
        )

    @property
    def n(self) -> int:
        """The number of examples."""
        return int(self.counts.sum())

    def single(self, name: Any) -> Confusion:
        """Return the confusion matrix of one classifier."""
        table = np.zeros((len(self.decisions), len(self.labels)), dtype=np.int64)
        np.add.at(table, (self.decided[:, self._column(name)], self.actual), self.counts)
        return Confusion(table, self.labels, self.decisions)

    def pair(self, first: Any, second: Any) -> PairedConfusion:
        """Return the joint confusion of two of the classifiers."""
        size = len(self.decisions)
        if size * size * len(self.labels) > 1 << 24:
            raise InputError(f"decisions: {size} are too many to compare pairs of classifiers.")
        table = np.zeros((size, size, len(self.labels)), dtype=np.int64)
        one, other = (self.decided[:, self._column(name)] for name in (first, second))
        np.add.at(table, (one, other, self.actual), self.counts)
        return PairedConfusion(table, self.labels, self.decisions)

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as plain lists."""
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
            raise LabelError(f"there is no classifier {name!r}; there are {self.names}.")
        return self.names.index(name)

    def _repr_html_(self) -> str:
        rows = [[str(name), number(self.single(name).n)] for name in self.names]
        return html_table(["classifier", "examples"], rows, caption=repr(self))

    def __repr__(self) -> str:
        return (
            f"JointConfusion: {number(self.n)} examples, {len(self.names)} classifiers, "
            f"{len(self.counts)} combinations"
        )
