"""Count combinations of labels in columns of codes, and what weighted rows are worth."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.columns import CHUNK, Column
from stakes._core.labels import Labels, in_order
from stakes.errors import InputError

SMALL_TABLE = 1 << 12
"""A larger table is worth another pass over the rows, to leave out values that do not occur."""

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
        columns = [column.compressed() for column in columns]
        check_cells(*_sizes(columns, [column.values for column in columns]))

    # Rows tell which labels occur: those of weight zero do, too.
    rows = _tabulate(columns, None)
    every = range(len(columns))
    used = [
        np.asarray(rows.any(axis=tuple(other for other in every if other != axis)))
        for axis in every
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

    def arranged(table: NDArray[Any]) -> NDArray[Any]:
        result = np.zeros([len(names) for names in labels], dtype=table.dtype)
        result[np.ix_(*positions)] = table[np.ix_(*used)]
        return result

    tables = [rows if amount is None else _tabulate(columns, amount) for amount in amounts]
    return [arranged(table) for table in tables], labels


def _tabulate(columns: Sequence[Column], amount: NDArray[Any] | None) -> NDArray[Any]:
    """Count combined codes, a chunk of rows at a time."""
    sizes = [len(column.values) for column in columns]
    cells = prod(sizes)
    n = len(columns[0])
    step = max(CHUNK, cells)  # so that adding up the chunks' tables is never the larger part
    total: NDArray[Any] = np.zeros(cells, dtype=np.int64 if amount is None else np.float64)
    combined = np.empty(min(step, n), dtype=np.intp)
    # Each column's offset is taken off once, from the combined code.
    offset = 0
    for column, size in zip(columns, sizes, strict=True):
        offset = offset * size + column.offset
    for start in range(0, n, step):
        rows = slice(start, start + step)
        codes = combined[: min(step, n - start)]
        codes[:] = columns[0].codes[rows]
        for column, size in zip(columns[1:], sizes[1:], strict=True):
            codes *= size
            codes += column.codes[rows]
        if offset:
            codes -= offset
        total += np.bincount(codes, None if amount is None else amount[rows], minlength=cells)
    return total.reshape(sizes)


def _sizes(columns: Sequence[Column], labels: Sequence[Sequence[Any]]) -> tuple[list[int], str]:
    """Return the sizes of the axes, and the name of the column that has the largest."""
    sizes = [len(names) for names in labels]
    return sizes, columns[int(np.argmax(sizes))].name


def check_cells(sizes: Sequence[int], name: str) -> None:
    """Check that a table of these sizes can be held, before any is made."""
    if prod(sizes) > MOST_CELLS:
        raise InputError(
            f"{name}: a table of {' × '.join(map(str, sizes))} counts is too large (at most "
            f"{MOST_CELLS} in all). Are there scores or identifiers among the labels? "
            "Pass the decided classes, and no more groups than are needed."
        )


def effective_size(total: Any, squares: Any) -> float:
    """Return the number of examples, or (Σw)²/Σw², what weighted ones are worth (Kish 1965)."""
    if squares is None:
        return float(total)
    if not squares:
        raise InputError(
            "sample_weight: weights this small cannot be squared and added up. Divide all weights "
            "by the largest."
        )
    return float(total) ** 2 / float(squares)
