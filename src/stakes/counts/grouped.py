"""Confusion matrices by group (such as the rows of one patient), by stratum, or by both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Column, Labels, as_axes, as_column, listing
from stakes._core.optional import data_frame
from stakes._core.text import html_table, number
from stakes._core.values import ByValue, readonly, readonly_copy
from stakes.counts._labelled import axes_of, by_part, check_cells, count_columns
from stakes.counts._parts import Parts, part_columns
from stakes.counts.confusion import Confusion, PairedConfusion
from stakes.counts.engines import group
from stakes.errors import InputError, InputTypeError

ROOM = 8
"""Largest number of cells per row of a table that may have entries of groups that do not occur."""

LARGEST = int(np.iinfo(np.int64).max)


@dataclass(frozen=True, init=False, eq=False, repr=False)
class GroupedConfusion(ByValue):
    """Confusion matrices of groups of dependent rows, of strata, or of groups in strata.

    Parameters
    ----------
    counts : array_like, shape (parts, decisions, classes)
        The counts, or sums of weights, of each part; for two models, an array of shape
        (parts, decisions, decisions, classes).
    labels, decisions : sequence
        The classes and, where they differ from them, the decisions.
    groups : sequence, optional
        The name of each part's group, whose rows are not independent of each other; by default,
        without `strata`, 0, 1, …
    strata : sequence, optional
        The name of each part's stratum, such as a region or a range of scores, whose rows were
        sampled separately. A group may have a part in several strata.
    squares : array_like, optional
        The sums of squared weights, where `counts` are sums of weights of independent rows.

    Examples
    --------
    >>> from stakes import GroupedConfusion
    >>> GroupedConfusion.from_labels(
    ...     [0, 0, 1, 1, 1], [0, 1, 1, 1, 0], groups=["p1", "p1", "p2", "p2", "p3"])
    GroupedConfusion: 5 examples in 3 groups
    >>> GroupedConfusion.from_labels([0, 0, 1, 1], [0, 1, 1, 1], strata=["n", "s", "s", "n"])
    GroupedConfusion: 4 examples in 2 strata
    >>> GroupedConfusion([[[5, 1], [0, 4]], [[3, 0], [1, 6]]], labels=[0, 1], groups=["p1", "p2"])
    GroupedConfusion: 20 examples in 2 groups
    """

    counts: NDArray[Any]
    labels: Labels
    decisions: Labels
    parts: Parts
    squares: NDArray[np.float64] | None

    def __init__(
        self,
        counts: Any,
        labels: Any,
        decisions: Any = None,
        groups: Any = None,
        *,
        strata: Any = None,
        squares: Any = None,
    ) -> None:
        classes, choices = as_axes(labels, decisions)
        table, squares = _checked(counts, squares, classes, choices)
        if groups is None and strata is None:
            groups = range(len(table))
        parts = Parts.of(len(table), groups, strata)
        if squares is not None and parts.groups is not None:
            raise InputError(
                "squares", "the rows of a group vary together: squares of weights say nothing."
            )
        self._set(
            counts=table,
            labels=classes,
            decisions=choices,
            parts=parts,
            squares=squares,
        )

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        y_pred: Any,
        groups: Any = None,
        *,
        strata: Any = None,
        y_pred_2: Any = None,
        labels: Any = None,
        decisions: Any = None,
        sample_weight: Any = None,
    ) -> GroupedConfusion:
        """Count the decisions of one model, or of two, for each group and each stratum.

        Parameters
        ----------
        y_true, y_pred : array_like, shape (n,)
            The actual class of each example, and the decision.
        groups, strata : array_like, shape (n,), optional
            The group, and the stratum, of each example; there may be any number of groups and
            strata. At least one of the two arguments is needed.
        y_pred_2 : array_like, shape (n,), optional
            The decisions of a second model.
        labels, decisions
            As in `Confusion.from_labels`.
        sample_weight : array_like, shape (n,), optional
            The weight of each example: one over its probability of being sampled.

        Returns
        -------
        GroupedConfusion
            The counts.

        Examples
        --------
        >>> from stakes import GroupedConfusion
        >>> table = GroupedConfusion.from_labels(
        ...     [0, 1, 1], [0, 1, 0], groups=["p2", "p1", "p1"])
        >>> table.parts.groups, table.counts[0].tolist()
        (('p1', 'p2'), [[0, 1], [0, 1]])
        """
        pair = {"y_pred_1": y_pred, "y_pred_2": y_pred_2}
        predictions = {"y_pred": y_pred} if y_pred_2 is None else pair
        y_true, *values, groups, strata, sample_weight = validate.aligned(
            y_true=y_true,
            **predictions,
            groups=groups,
            strata=strata,
            sample_weight=sample_weight,
        )
        predictions = dict(zip(predictions, values, strict=True))
        decided = [as_column(values, name) for name, values in predictions.items()]
        actual = as_column(y_true, "y_true")
        apart = part_columns(groups, strata)
        amounts = validate.weight_amounts(sample_weight, len(actual))
        axes = axes_of(labels, decisions, len(decided))
        return cls._counted(apart, [*decided, actual], axes, amounts)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        actual: str,
        predicted: str | tuple[str, str],
        groups: str | None = None,
        strata: str | None = None,
        labels: Any = None,
        decisions: Any = None,
        sample_weight: str | None = None,
    ) -> GroupedConfusion:
        """Count the rows of a data frame in its own engine, for each group and each stratum.

        Parameters
        ----------
        frame, actual, labels, decisions, sample_weight
            As in `Confusion.from_frame`.
        predicted : str or pair of str
            The name of the model's column, or those of two models.
        groups, strata : str, optional
            The names of the columns of groups and of strata; at least one is needed.

        Returns
        -------
        GroupedConfusion
            The counts.

        Examples
        --------
        >>> import polars as pl
        >>> from stakes import GroupedConfusion
        >>> frame = pl.LazyFrame({"patient": [7, 7, 8], "truth": [0, 1, 1], "model": [0, 1, 0]})
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
        keys = [name for name in (groups, strata) if name is not None]
        columns, amounts = group(frame, [*keys, *pair, actual], sample_weight, any_number=keys)
        apart = dict(zip(keys, columns, strict=False))
        named = tuple(None if name is None else apart[name] for name in (groups, strata))
        axes = axes_of(labels, decisions, len(pair))
        return cls._counted(named, columns[len(keys) :], axes, amounts)

    @classmethod
    def _counted(cls, apart: Any, columns: Any, axes: Any, amounts: Any) -> GroupedConfusion:
        """Count columns of decisions and classes, separately for each group and stratum."""
        column, parts = _places(apart, columns)
        weighted = len(amounts) > 1
        # Count rows as well as weights: groups whose rows all have weight zero also occur.
        every = [None, *amounts] if weighted else amounts
        places: Any = column.values
        tables, found = count_columns([column, *columns], [(places, "groups"), *axes], every)
        if parts is None:
            parts, tables = _occurring(apart, column, tables)
        counts = tables[1] if weighted else tables[0].astype(np.int64, copy=False)
        squares = tables[2] if weighted and parts.groups is None else None
        return grouped_of_parts(parts, counts, (found[-1], found[1]), squares)

    @property
    def n(self) -> Any:
        """The number of examples, or the sum of their weights."""
        return self.counts.sum().item()

    @property
    def groups(self) -> Labels | None:
        """The name of each part's group."""
        return self.parts.groups

    @property
    def strata(self) -> Labels | None:
        """The name of each part's stratum."""
        return self.parts.strata

    @property
    def weighted(self) -> bool:
        """Whether the counts are sums of weights."""
        return self.counts.dtype.kind == "f"

    @property
    def pooled(self) -> Confusion | PairedConfusion:
        """The counts of all parts together."""
        kind = Confusion if self.counts.ndim == 3 else PairedConfusion  # noqa: PLR2004
        squares = None
        if self.weighted:
            # Rows of a group are dependent, so the unit of sampling is the group's total weight.
            parts = self.counts**2 if self.squares is None else self.squares
            squares = by_part(parts).sum(axis=-1)
        counts = by_part(self.counts).sum(axis=-1)
        return kind(counts, self.labels, self.decisions, squares=squares)

    @property
    def first(self) -> GroupedConfusion:
        """The counts of the first of two classifiers."""
        return self._marginal(axis=2)

    @property
    def second(self) -> GroupedConfusion:
        """The counts of the second of two classifiers."""
        return self._marginal(axis=1)

    def _marginal(self, axis: int) -> GroupedConfusion:
        self._check_two()
        squares = None if self.squares is None else self.squares.sum(axis=axis)
        return self.with_counts(self.counts.sum(axis=axis), self.decisions, squares)

    def _check_two(self) -> None:
        if self.counts.ndim != 4:  # noqa: PLR2004 - of two classifiers
            raise InputTypeError("counts", "expected those of two classifiers, got those of one.")

    def swapped(self) -> GroupedConfusion:
        """Return the counts of two classifiers with the second one first.

        Returns
        -------
        GroupedConfusion
            The counts.

        Examples
        --------
        >>> from stakes import GroupedConfusion
        >>> table = GroupedConfusion.from_labels([0, 1], [0, 1], y_pred_2=[0, 0], groups=["a", "b"])
        >>> table.swapped().counts[1].tolist() == table.counts[1].swapaxes(0, 1).tolist()
        True
        """
        self._check_two()
        squares = None if self.squares is None else self.squares.swapaxes(1, 2)
        return self.with_counts(self.counts.swapaxes(1, 2), self.decisions, squares)

    def with_counts(self, counts: Any, decisions: Any, squares: Any = None) -> GroupedConfusion:
        """Return other counts of the same parts.

        Parameters
        ----------
        counts : array_like
            The counts of each part.
        decisions : sequence
            The decisions of these counts.
        squares : array_like, optional
            The sums of squared weights, where this table has them.

        Returns
        -------
        GroupedConfusion
            The counts.

        Examples
        --------
        >>> from stakes import GroupedConfusion
        >>> table = GroupedConfusion.from_labels([0, 1], [0, 1], groups=["a", "b"])
        >>> table.with_counts(table.counts * 2, table.decisions).n
        4
        """
        axes = as_axes(self.labels, decisions)
        table, squares = _checked(counts, squares, *axes)
        validate.same_length({"parts": len(self.parts), "counts": len(table)})
        return grouped_of_parts(self.parts, table, axes, squares)

    def __add__(self, other: object) -> GroupedConfusion:
        """Merge the counts of two sets of examples; parts with equal names are the same part."""
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
        if self.weighted != other.weighted:
            raise InputError(
                "",
                "counts with sample weights cannot be merged with counts without.",
                "Count all parts with sample_weight=, or none.",
            )
        parts, *places = self.parts.merged(other.parts)
        check_cells([len(parts), *self.counts.shape[1:]], "groups of both parts")

        def added(one: NDArray[Any], another: NDArray[Any]) -> NDArray[Any]:
            total = np.zeros((len(parts), *one.shape[1:]), dtype=one.dtype)
            for place, table in zip(places, (one, another), strict=True):
                total[place] += table
            return total

        counts, squares = added(self.counts, other.counts), None
        if self.squares is not None and other.squares is not None:
            squares = added(self.squares, other.squares)
        return grouped_of_parts(parts, counts, (self.labels, self.decisions), squares)

    def __radd__(self, other: object) -> GroupedConfusion:
        """Return the table itself when added to zero, so that `sum` works."""
        return self if other == 0 else NotImplemented

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain lists.

        Returns
        -------
        dict
            The arguments of the constructor, as plain values.
        """
        result: dict[str, Any] = {
            "labels": list(self.labels),
            "decisions": list(self.decisions),
            "groups": None if self.groups is None else list(self.groups),
            "counts": self.counts.tolist(),
        }
        if self.strata is not None:
            result["strata"] = list(self.strata)
        if self.squares is not None:
            result["squares"] = self.squares.tolist()
        return result

    def to_frame(self) -> Any:
        """Return the counts as a pandas data frame, a row for each combination that occurs.

        Returns
        -------
        DataFrame
            The group and the stratum if there are any, the actual class, the decision (or those of
            both models) and the count or weight.

        Examples
        --------
        >>> from stakes import GroupedConfusion
        >>> GroupedConfusion.from_labels([0, 1, 1], [0, 1, 0], ["p", "p", "q"]).to_frame()
          group  actual  decided  count
        0     p       0        0      1
        1     p       1        1      1
        2     q       1        0      1
        """
        part, *decided, actual = (each.tolist() for each in np.nonzero(self.counts))
        named = {"group": self.groups, "stratum": self.strata}
        columns: dict[str, Any] = {
            what: [names[at] for at in part] for what, names in named.items() if names is not None
        }
        columns["actual"] = [self.labels[at] for at in actual]
        what = ["decided"] if len(decided) == 1 else ["first", "second"]
        columns |= {
            name: [self.decisions[at] for at in places]
            for name, places in zip(what, decided, strict=True)
        }
        frame = data_frame({**columns, "count": self.counts[np.nonzero(self.counts)]})
        return frame.sort_values([*columns], kind="stable", ignore_index=True)

    def __repr__(self) -> str:
        return f"GroupedConfusion: {self._extent()}"

    def _extent(self) -> str:
        """Return the numbers of examples, groups and strata as text."""
        return f"{number(self.n)} examples in {self.parts.extent()}"

    def _repr_html_(self) -> str:
        caption = f"Counts of {self._extent()}, all together"
        return html_table(*self.pooled._table(), caption=caption)  # noqa: SLF001


def _places(apart: Any, columns: Sequence[Column]) -> tuple[Column, Parts | None]:
    """Return a column of the position of each row's part, and the parts.

    Whole numbers serve as positions. Which of them occur follows from the table (until then the
    parts are None), which is faster than a pass over the rows unless the numbers are sparse.
    """
    groups, strata = apart
    alone = groups if strata is None else strata if groups is None else None
    if alone is not None and isinstance(alone.values, range):
        cells = prod(len(column.values) for column in [alone, *columns])
        if cells <= ROOM * len(alone) and alone.values.stop < LARGEST:
            return replace(alone, name="groups"), None
    return Parts.of_columns(groups, strata)


def _occurring(
    apart: Any, column: Column, tables: list[NDArray[Any]]
) -> tuple[Parts, list[NDArray[Any]]]:
    """Return the parts that occur, and their entries of the tables."""
    used = by_part(tables[0].reshape(len(column.values), -1)).any(axis=0)
    numbers = np.flatnonzero(used) + cast(range, column.values).start
    parts = Parts.numbered(numbers, "groups" if apart[1] is None else "strata")
    return parts, [np.compress(used, table, axis=0) for table in tables]


def _checked(
    counts: Any, squares: Any, classes: Labels, choices: Labels
) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
    """Check and return the counts of one or two classifiers in each part, and their squares."""
    table = validate.counts(counts, "counts", ndim=_dimensions(counts))
    shapes = [(len(choices),) * deciders + (len(classes),) for deciders in (1, 2)]
    if table.shape[1:] not in shapes:
        raise InputError(
            "counts",
            f"expected a confusion matrix of shape {shapes[0]} (or {shapes[1]} for two "
            f"models) for each part, got {table.shape[1:]}.",
        )
    if squares is None:
        return readonly_copy(table), None
    squares = validate.amounts(squares, "squares", ndim=table.ndim)
    if squares.shape != table.shape:
        raise InputError("squares", f"expected the shape of counts, {table.shape}.")
    return readonly_copy(table.astype(np.float64)), readonly_copy(squares)


def _dimensions(counts: Any) -> int:
    """Return the expected number of dimensions: 4 for counts of two classifiers, else 3."""
    try:
        return 4 if np.ndim(counts) == 4 else 3  # noqa: PLR2004
    except ValueError:  # rows of different lengths, which the check of numbers explains
        return 3


def grouped_of_parts(
    parts: Parts,
    counts: NDArray[Any],
    axes: tuple[Labels, Labels],
    squares: NDArray[np.float64] | None = None,
) -> GroupedConfusion:
    """Make a table of checked values without checking them again, which is slow for many groups.

    `axes` are the classes and the decisions.
    """
    result = GroupedConfusion.__new__(GroupedConfusion)
    result._set(  # noqa: SLF001 - checked before
        counts=readonly(np.ascontiguousarray(counts)),
        labels=axes[0],
        decisions=axes[1],
        parts=parts,
        squares=None if squares is None else readonly(np.ascontiguousarray(squares)),
    )
    return result
