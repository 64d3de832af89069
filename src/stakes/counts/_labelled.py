"""Tables of counts with labelled axes: columns of labels are counted into them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import CHUNK, Column, Labels, as_axes, as_labels, in_order, union
from stakes._core.values import ByValue, readonly, readonly_copy
from stakes.errors import InputError

SMALL_TABLE = 1 << 12
"""A larger table is worth another pass over the rows, to leave out values that do not occur."""

FEW_CELLS = 8
"""Of so few cells each is counted by itself, in less time than it takes to find each row's cell."""

MOST_CELLS = 1 << 24
"""No table is larger; so many different labels are more likely scores or identifiers."""

Axis = tuple[Labels | None, str]
"""The labels of an axis, None for those that occur, and what they are called in messages."""


def count_columns(
    columns: Sequence[Column],
    axes: Sequence[Axis],
    amounts: Sequence[NDArray[Any] | None] = (None,),
) -> tuple[list[NDArray[Any]], list[Labels]]:
    """Add up amounts by label combination, into tables whose axes have the given labels.

    Parameters
    ----------
    columns : sequence of Column
        One for each axis.
    axes : sequence of (labels or None, what they are called in messages)
        None stands for all labels that occur in any column without given labels, sorted.
    amounts : sequence of arrays or None
        What to add up for each row, one table each; None counts rows.

    Returns
    -------
    tables, labels
        The tables, and the labels of each axis.
    """
    validate.same_length({column.name: len(column) for column in columns})
    if prod(len(column.values) for column in columns) > SMALL_TABLE:
        columns = [
            column if given is column.values else column.compressed()
            for column, (given, _) in zip(columns, axes, strict=True)
        ]
        check_cells(*_sizes(columns, [column.values for column in columns]))

    # Rows tell which labels occur: those of weight zero do, too.
    rows = _tabulate(columns, None)
    # A column that is coded by the very labels asked for has no others.
    same = [given is column.values for column, (given, _) in zip(columns, axes, strict=True)]
    every = range(len(columns))
    some = np.asarray(by_part(rows).any(axis=-1))[np.newaxis] if same[0] else rows
    used = [
        np.ones(len(column.values), dtype=bool)
        if same[axis]
        else np.asarray(some.any(axis=tuple(other for other in every if other != axis)))
        for axis, column in enumerate(columns)
    ]
    free = [
        column.present(occurs)
        for column, occurs, (given, _) in zip(columns, used, axes, strict=True)
        if given is None
    ]
    present = in_order({value for values in free for value in values})
    labels = [present if given is None else given for given, _ in axes]
    check_cells(*_sizes(columns, labels))
    positions = [
        column.positions(occurs, names, what)[occurs]
        for column, occurs, names, (_, what) in zip(columns, used, labels, axes, strict=True)
    ]

    in_place = all(
        len(place) == len(names) and np.array_equal(place, np.arange(len(names)))
        for place, names in zip(positions, labels, strict=True)
    )

    def arranged(table: NDArray[Any]) -> NDArray[Any]:
        if in_place and table.shape == tuple(map(len, labels)):
            return table
        result = np.zeros([len(names) for names in labels], dtype=table.dtype)
        result[np.ix_(*positions)] = table[np.ix_(*used)]
        return result

    tables = [rows if amount is None else _tabulate(columns, amount) for amount in amounts]
    return [arranged(table) for table in tables], labels


def by_part(table: NDArray[Any]) -> NDArray[Any]:
    """Return the table with its first axis last, along which sums of many parts are fast."""
    return np.ascontiguousarray(np.moveaxis(table, 0, -1))


def _tabulate(columns: Sequence[Column], amount: NDArray[Any] | None) -> NDArray[Any]:
    """Count combined codes, a chunk of rows at a time."""
    sizes = [len(column.values) for column in columns]
    cells = prod(sizes)
    n = len(columns[0])
    step = max(CHUNK, 8 * cells)  # so that adding up the chunks' tables is never the larger part
    # Of few cells the codes fit into a byte: what overflows on the way comes back at its end.
    kind = np.uint8 if amount is None and cells <= FEW_CELLS else np.intp
    combined = np.empty(min(step, n), dtype=kind)
    total: NDArray[Any] | None = None
    for start in range(0, n, step):
        codes = combined[: min(step, n - start)]
        for part in range(0, len(codes), CHUNK):
            _combine(columns, start + part, codes[part : part + CHUNK])
        if kind is np.uint8:
            found = np.array([np.count_nonzero(codes == cell) for cell in range(cells)])
        else:
            weights = None if amount is None else amount[start : start + step]
            found = np.bincount(codes, weights, minlength=cells)
        total = found if total is None else total + found
    assert total is not None  # noqa: S101 - columns have rows
    return total.reshape(sizes)


def _combine(columns: Sequence[Column], start: int, codes: NDArray[Any]) -> None:
    """Write the place of each row's combination in the table."""
    rows = slice(start, start + len(codes))
    stride = prod(len(column.values) for column in columns)
    # Each column's offset is taken off once, from the combined code.
    offset = 0
    for position, column in enumerate(columns):
        stride //= len(column.values)
        offset += column.offset * stride
        given = column.codes[rows].astype(codes.dtype, copy=False)
        if not position:
            np.multiply(given, codes.dtype.type(stride), out=codes)
        else:
            codes += given if stride == 1 else given * codes.dtype.type(stride)
    if offset:
        codes -= np.array(offset).astype(codes.dtype)


def _sizes(columns: Sequence[Column], labels: Sequence[Sequence[Any]]) -> tuple[list[int], str]:
    """Return the sizes of the axes, and the name of the column that has the largest."""
    sizes = [len(names) for names in labels]
    return sizes, columns[int(np.argmax(sizes))].name


def check_cells(sizes: Sequence[int], name: str) -> None:
    """Check that a table of these sizes can be held, before any is made."""
    if prod(sizes) > MOST_CELLS:
        raise InputError(
            name,
            f"a table of {' × '.join(map(str, sizes))} counts is too large (at most {MOST_CELLS} "
            "in all). Are there scores or identifiers among the labels?",
            "Pass the decided classes, and no more groups than are needed.",
        )


def effective_size(total: Any, squares: Any) -> float:
    """Return the number of examples, or (Σw)²/Σw², what weighted ones are worth (Kish 1965)."""
    if squares is None:
        return float(total)
    if squares < np.finfo(np.float64).tiny:  # below, digits are lost, and then all
        raise InputError(
            "sample_weight",
            "weights this small cannot be squared and added up.",
            "Divide all weights by the largest.",
        )
    return float(total) ** 2 / float(squares)


# What tables of one, two and more models have in common.


@dataclass(frozen=True, init=False, eq=False, repr=False)
class LabelledCounts(ByValue):
    """A table of counts: one or more axes of decisions, then the axis of actual classes.

    Counts are whole numbers, or sums of example weights; then `squares` keeps the sums of squared
    weights, from which the precision of a weighted estimate follows.
    """

    counts: NDArray[Any]
    labels: Labels
    decisions: Labels
    squares: NDArray[np.float64] | None

    _deciders = 1

    def __init__(
        self, counts: Any, labels: Any, decisions: Any = None, *, squares: Any = None
    ) -> None:
        classes, choices = as_axes(labels, decisions)
        table = validate.counts(counts, "counts", ndim=self._deciders + 1)
        shape = (len(choices),) * self._deciders + (len(classes),)
        if table.shape != shape:
            raise InputError(
                "counts",
                f"with {len(choices)} decisions and {len(classes)} classes, expected an array of "
                f"shape {shape}, [predicted, actual]; got {table.shape}.",
            )
        if squares is not None:
            squares = validate.amounts(squares, "squares", ndim=table.ndim)
            if squares.shape != shape:
                raise InputError("squares", f"expected the shape of counts, {shape}.")
            table = table.astype(np.float64)
            squares = readonly_copy(squares)
        self._set(counts=readonly_copy(table), labels=classes, decisions=choices, squares=squares)

    @classmethod
    def _from_columns(
        cls,
        columns: Sequence[Column],
        labels: Any,
        decisions: Any,
        amounts: Sequence[NDArray[Any] | None] = (None,),
    ) -> Self:
        """Count columns of labels: those of the decisions first, then that of the classes."""
        tables, names = count_columns(columns, axes_of(labels, decisions, cls._deciders), amounts)
        squares = readonly(tables[1]) if len(tables) > 1 else None
        counts = tables[0] if squares is not None else tables[0].astype(np.int64, copy=False)
        # What was counted just now needs no more checks.
        result = cls.__new__(cls)
        result._set(  # noqa: SLF001 - of the same kind
            counts=readonly(counts), labels=names[-1], decisions=names[0], squares=squares
        )
        return result

    @property
    def n(self) -> Any:
        """The number of examples, or the sum of their weights."""
        return self.counts.sum().item()

    @property
    def class_counts(self) -> NDArray[Any]:
        """How many examples each actual class has, in the order of `labels`."""
        return np.asarray(self.counts.sum(axis=tuple(range(self._deciders))))

    @property
    def weighted(self) -> bool:
        """Whether the counts are sums of weights."""
        return self.squares is not None

    def __add__(self, other: object) -> Self:
        """Merge the counts of two sets of examples.

        The labels may differ: then the result has those of both, sorted. Merging is associative
        and does not depend on the order.
        """
        if not isinstance(other, type(self)):
            return NotImplemented
        if self.weighted != other.weighted:
            raise InputError(
                "",
                "counts with sample weights cannot be merged with counts without: the sums of "
                "squared weights would be lost.",
                "Count all parts with sample_weight=, or none.",
            )
        if (self.labels, self.decisions) == (other.labels, other.decisions):
            return self._added(other)
        labels = union(self.labels, other.labels)
        decisions = union(self.decisions, other.decisions)
        check_cells([*[len(decisions)] * self._deciders, len(labels)], "labels of both parts")
        parts = [part._spread(labels, decisions) for part in (self, other)]  # noqa: SLF001
        squares = parts[0][1] + parts[1][1] if self.weighted else None
        return type(self)(parts[0][0] + parts[1][0], labels, decisions, squares=squares)

    def __radd__(self, other: object) -> Self:
        """Start from nothing, as `sum` does."""
        return self if other == 0 else NotImplemented

    def _added(self, other: Self) -> Self:
        """Return the sums of two tables with the same labels."""
        counts = validate.counts(self.counts + other.counts, "counts", ndim=self.counts.ndim)
        squares = None
        if self.squares is not None and other.squares is not None:
            squares = readonly(self.squares + other.squares)
        return self._changed(counts=readonly(counts), squares=squares)

    def _spread(self, labels: Labels, decisions: Labels) -> list[NDArray[Any]]:
        """Return counts and squares on larger axes."""
        shape = (len(decisions),) * self._deciders + (len(labels),)
        place = np.ix_(
            *[_positions(self.decisions, decisions)] * self._deciders,
            _positions(self.labels, labels),
        )
        spread = []
        for table in (self.counts, self.squares):
            if table is not None:
                larger = np.zeros(shape, dtype=table.dtype)
                larger[place] = table
                spread.append(larger)
        return spread

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain lists.

        Returns
        -------
        dict
            What the constructor takes, as plain values.
        """
        result: dict[str, Any] = {
            "labels": list(self.labels),
            "decisions": list(self.decisions),
            "counts": self.counts.tolist(),
        }
        if self.squares is not None:
            result["squares"] = self.squares.tolist()
        return result


def axes_of(labels: Any, decisions: Any, deciders: int) -> list[Axis]:
    """Check the labels and decisions asked for, and return the axes of a table.

    Without either, all labels that occur are both classes and decisions; with decisions alone, the
    classes are those that actually occur.
    """
    classes = None if labels is None else as_labels(labels, "labels")
    choices = classes if decisions is None else as_labels(decisions, "decisions")
    return [(choices, "decisions")] * deciders + [(classes, "classes")]


def _positions(labels: Labels, among: Labels) -> list[int]:
    places = {label: place for place, label in enumerate(among)}
    return [places[label] for label in labels]
