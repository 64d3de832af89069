"""The confusion of examples that come in groups, such as several rows for one patient."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Labels, as_axes, as_column, as_labels, in_order, listing, union
from stakes._core.text import html_table, number
from stakes._core.values import ByValue, readonly_copy
from stakes.counts._labelled import axes_of, check_cells, count_columns
from stakes.counts.confusion import Confusion
from stakes.counts.engines import group
from stakes.counts.paired import PairedConfusion
from stakes.errors import InputError, InputTypeError


@dataclass(frozen=True, init=False, eq=False, repr=False)
class GroupedConfusion(ByValue):
    """A confusion matrix for each group of examples that are not independent of each other.

    Parameters
    ----------
    counts : array_like, shape (groups, decisions, classes)
        The counts of each group; for two classifiers of shape
        (groups, decisions, decisions, classes).
    labels, decisions : sequence
        The classes and, where they differ from them, the decisions.
    groups : sequence, optional
        The names of the groups; by default 0, 1, …

    Examples
    --------
    >>> from stakes import GroupedConfusion
    >>> patients = ["p1", "p1", "p2", "p3", "p3"]
    >>> GroupedConfusion.from_labels([0, 0, 1, 1, 0], [0, 1, 1, 0, 0], patients)
    GroupedConfusion: 5 examples in 3 groups
    """

    counts: NDArray[np.int64]
    labels: Labels
    decisions: Labels
    groups: Labels

    def __init__(self, counts: Any, labels: Any, decisions: Any = None, groups: Any = None) -> None:
        classes, choices = as_axes(labels, decisions)
        table = validate.counts(counts, "counts", ndim=_dimensions(counts))
        shapes = [(len(choices),) * deciders + (len(classes),) for deciders in (1, 2)]
        if table.shape[1:] not in shapes:
            raise InputError(
                "counts",
                f"expected a confusion matrix of shape {shapes[0]} (or {shapes[1]} for two "
                f"classifiers) for each group, got {table.shape[1:]}.",
            )
        names = as_labels(range(len(table)) if groups is None else groups, "groups")
        validate.same_length({"counts": len(table), "groups": len(names)})
        self._set(counts=readonly_copy(table), labels=classes, decisions=choices, groups=names)

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        y_pred: Any,
        groups: Any,
        *,
        y_pred_2: Any = None,
        labels: Any = None,
        decisions: Any = None,
    ) -> Self:
        """Count the decisions of one classifier, or of two, for each group.

        Parameters
        ----------
        y_true, y_pred : array_like, shape (n,)
            The actual class of each example, and what was decided.
        groups : array_like, shape (n,)
            The group of each example; any number of groups.
        y_pred_2 : array_like, shape (n,), optional
            What a second classifier decided.
        labels, decisions
            As in `Confusion.from_labels`.

        Returns
        -------
        GroupedConfusion
            The counts.

        Examples
        --------
        >>> from stakes import GroupedConfusion
        >>> grouped = GroupedConfusion.from_labels([0, 0, 1], [0, 1, 1], ["p1", "p1", "p2"])
        >>> grouped.groups, grouped.pooled.counts.tolist()
        (('p1', 'p2'), [[1, 0], [1, 1]])
        """
        pair = {"y_pred_1": y_pred, "y_pred_2": y_pred_2}
        predictions = {"y_pred": y_pred} if y_pred_2 is None else pair
        validate.same_index(y_true=y_true, **predictions, groups=groups)
        decided = [as_column(values, name) for name, values in predictions.items()]
        actual, grouped = as_column(y_true, "y_true"), as_column(groups, "groups", most=None)
        names = in_order(grouped.present(grouped.used()))
        axes = [(names, "groups"), *axes_of(labels, decisions, len(decided))]
        tables, found = count_columns([grouped, *decided, actual], axes)
        return cls(tables[0], found[-1], found[1], names)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        actual: str,
        predicted: str | tuple[str, str],
        groups: str,
        labels: Any = None,
        decisions: Any = None,
    ) -> Self:
        """Count the rows of a data frame where it lives, for each group.

        Parameters
        ----------
        frame, actual, labels, decisions
            As in `Confusion.from_frame`.
        predicted : str or pair of str
            The name of the classifier's column, or those of two classifiers.
        groups : str
            The name of the column of groups.

        Returns
        -------
        GroupedConfusion
            The counts.

        Examples
        --------
        >>> import polars as pl
        >>> from stakes import GroupedConfusion
        >>> frame = pl.LazyFrame({"truth": [0, 1, 1], "model": [0, 1, 0], "patient": [7, 7, 9]})
        >>> GroupedConfusion.from_frame(
        ...     frame, actual="truth", predicted="model", groups="patient"
        ... )
        GroupedConfusion: 3 examples in 2 groups
        """
        pair: Any = [predicted] if isinstance(predicted, str) else predicted
        if not isinstance(pair, list | tuple) or len(pair) not in {1, 2}:
            raise InputTypeError(
                "predicted", f"expected the name of one column, or of two; got {predicted!r}."
            )
        columns, amounts = group(frame, [groups, *pair, actual], any_number=[groups])
        names = in_order(columns[0].present(columns[0].used()))
        axes = [(names, "groups"), *axes_of(labels, decisions, len(pair))]
        tables, found = count_columns(columns, axes, amounts)
        return cls(tables[0].astype(np.int64), found[-1], found[1], names)

    @property
    def n(self) -> int:
        """The number of examples."""
        return int(self.counts.sum())

    @property
    def pooled(self) -> Confusion | PairedConfusion:
        """The counts of all groups together."""
        kind = Confusion if self.counts.ndim == 3 else PairedConfusion  # noqa: PLR2004
        return kind(self.counts.sum(axis=0), self.labels, self.decisions)

    def __add__(self, other: object) -> Self:
        """Merge the counts of two sets of examples; groups of the same name are one group."""
        if not isinstance(other, type(self)):
            return NotImplemented
        if self.counts.ndim != other.counts.ndim:
            raise InputError("", "grouped counts of one model cannot be merged with those of two.")
        if (self.labels, self.decisions) != (other.labels, other.decisions):
            raise InputError(
                "",
                "grouped counts can be merged only with the same labels, got "
                f"{listing(self.labels)} and {listing(other.labels)}.",
                "Pass labels= (and decisions=) when counting.",
            )
        names = union(self.groups, other.groups)
        check_cells([len(names), *self.counts.shape[1:]], "groups of both parts")
        position = {name: index for index, name in enumerate(names)}
        kind = np.result_type(self.counts, other.counts)
        counts = np.zeros((len(names), *self.counts.shape[1:]), dtype=kind)
        for part in (self, other):
            counts[[position[name] for name in part.groups]] += part.counts
        return type(self)(counts, self.labels, self.decisions, names)

    def __radd__(self, other: object) -> Self:
        """Start from nothing, as `sum` does."""
        return self if other == 0 else NotImplemented

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain lists.

        Returns
        -------
        dict
            What the constructor takes, as plain values.
        """
        return {
            "labels": list(self.labels),
            "decisions": list(self.decisions),
            "groups": list(self.groups),
            "counts": self.counts.tolist(),
        }

    def __repr__(self) -> str:
        return f"GroupedConfusion: {number(self.n)} examples in {len(self.groups)} groups"

    def _repr_html_(self) -> str:
        caption = f"Counts of {number(self.n)} examples in {len(self.groups)} groups, all together"
        return html_table(*self.pooled._table(), caption=caption)  # noqa: SLF001


def _dimensions(counts: Any) -> int:
    """Return 4 for the counts of two classifiers, else the 3 that are expected of one."""
    try:
        return 4 if np.ndim(counts) == 4 else 3  # noqa: PLR2004
    except ValueError:  # rows of different lengths, which the check of numbers explains
        return 3
