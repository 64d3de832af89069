"""Count columns of labels into tables with labelled axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import CHUNK, Column, Labels, as_axes, as_labels, occurring, union
from stakes._core.values import ByValue, readonly, readonly_copy
from stakes.errors import InputError

SMALL_TABLE = 1 << 12
"""Number of cells above which another pass over the rows removes values that do not occur."""

FEW_CELLS = 8
"""Largest number of cells to count one by one, which is faster than finding each row's cell."""

MOST_CELLS = 1 << 24
"""Largest number of cells of a table; labels that need more are likely scores or identifiers."""

Axis = tuple[Labels | None, str]
"""Labels of an axis (None for those that occur), and their name in messages."""


def count_columns(
    columns: Sequence[Column],
    axes: Sequence[Axis],
    amounts: Sequence[NDArray[Any] | None] = (None,),
) -> tuple[list[NDArray[Any]], list[Labels]]:
    """Sum amounts by combination of labels, into tables whose axes have the given labels.

    Parameters
    ----------
    columns : sequence of Column
        The column of each axis.
    axes : sequence of (labels or None, name in messages)
        None stands for all labels that occur in any column without given labels, sorted.
    amounts : sequence of arrays or None
        The amounts of the rows to sum, one table each; None counts rows.

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

    # Count rows, not weights: labels whose rows all have weight zero also occur.
    rows = _tabulate(columns, None)
    # A column whose codes refer to the requested labels themselves has no others.
    same = [given is column.values for column, (given, _) in zip(columns, axes, strict=True)]
    every = range(len(columns))
    some = np.asarray(by_part(rows).any(axis=-1))[np.newaxis] if same[0] else rows
    used = [
        np.ones(len(column.values), dtype=bool)
        if same[axis]
        else np.asarray(some.any(axis=tuple(other for other in every if other != axis)))
        for axis, column in enumerate(columns)
    ]
    free = {
        column.name: column.present(occurs)
        for column, occurs, (given, _) in zip(columns, used, axes, strict=True)
        if given is None
    }
    stated = next((given for given, what in axes if given and what == "decisions"), ())
    present = occurring(free, stated)
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
    """Return the table with its first axis moved last, which makes sums over many parts fast."""
    return np.ascontiguousarray(np.moveaxis(table, 0, -1))


def _tabulate(columns: Sequence[Column], amount: NDArray[Any] | None) -> NDArray[Any]:
    """Count combined codes, or sum their amounts, a chunk of rows at a time."""
    sizes = [len(column.values) for column in columns]
    cells = prod(sizes)
    n = len(columns[0])
    step = max(CHUNK, 8 * cells)  # so that adding the tables of the chunks does not dominate
    # Codes of few cells fit into a byte: intermediate overflow cancels modulo 256.
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
    """Write the cell index of each row's combination of labels into `codes`."""
    rows = slice(start, start + len(codes))
    stride = prod(len(column.values) for column in columns)
    # Subtract the offsets of all columns at once, from the combined code.
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
    """Return the sizes of the axes, and the name of the column with the largest one."""
    sizes = [len(names) for names in labels]
    return sizes, columns[int(np.argmax(sizes))].name


def check_cells(sizes: Sequence[int], name: str) -> None:
    """Check that a table of these sizes is not too large, before allocating it."""
    if prod(sizes) > MOST_CELLS:
        raise InputError(
            name,
            f"a table of {' × '.join(map(str, sizes))} counts is too large (at most {MOST_CELLS} "
            "in all). Are there scores or identifiers among the labels?",
            "Pass the decided classes, and no more groups than are needed.",
        )


def effective_size(total: Any, squares: Any) -> float:
    """Return the effective sample size (Kish 1965): (Σw)²/Σw² with weights, else the count."""
    if squares is None:
        return float(total)
    if squares < np.finfo(np.float64).tiny:  # subnormal numbers lose digits and become zero
        raise InputError(
            "sample_weight",
            "weights this small cannot be squared and added up.",
            "Divide all weights by the largest.",
        )
    return float(total) ** 2 / float(squares)


# Base class of the tables of one and of two models.


@dataclass(frozen=True, init=False, eq=False, repr=False)
class LabelledCounts(ByValue):
    """Table of counts: one or more axes of decisions, then the axis of actual classes.

    Counts are whole numbers, or sums of example weights. With weights, `squares` holds the sums of
    squared weights, which the variance of a weighted estimate depends on.
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
        """Count columns of labels: the columns of decisions first, then that of classes."""
        tables, names = count_columns(columns, axes_of(labels, decisions, cls._deciders), amounts)
        squares = readonly(tables[1]) if len(tables) > 1 else None
        counts = tables[0] if squares is not None else tables[0].astype(np.int64, copy=False)
        # Skip the checks of `__init__`: these counts were made here.
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
        """The number of examples of each actual class, in the order of `labels`."""
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
        """Return the table itself when added to zero, so that `sum` works."""
        return self if other == 0 else NotImplemented

    def _added(self, other: Self) -> Self:
        """Return the sum of two tables with the same labels."""
        counts = validate.counts(self.counts + other.counts, "counts", ndim=self.counts.ndim)
        squares = None
        if self.squares is not None and other.squares is not None:
            squares = readonly(self.squares + other.squares)
        return self._changed(counts=readonly(counts), squares=squares)

    def _spread(self, labels: Labels, decisions: Labels) -> list[NDArray[Any]]:
        """Return counts and squares, with zeros for the labels that this table lacks."""
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
            The arguments of the constructor, as plain values.
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
    """Check the given labels and decisions, and return the axes of a table.

    Without either, all labels that occur are both classes and decisions. With decisions alone, the
    classes are those that occur as actual classes.
    """
    classes = None if labels is None else as_labels(labels, "labels")
    choices = classes if decisions is None else as_labels(decisions, "decisions")
    return [(choices, "decisions")] * deciders + [(classes, "classes")]


def _positions(labels: Labels, among: Labels) -> list[int]:
    places = {label: place for place, label in enumerate(among)}
    return [places[label] for label in labels]
