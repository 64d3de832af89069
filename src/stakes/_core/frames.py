"""Data frames: results become such, and those given in place of arrays go by column names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Labels, as_labels, listing, plain
from stakes._core.optional import pandas
from stakes.errors import InputTypeError, LabelError


def data_frame(rows: Any) -> Any:
    """Return a pandas data frame of a mapping of columns, or of a list of rows."""
    return pandas().DataFrame(rows)


def refuse_frame(values: Any, name: str, remedy: str) -> None:
    """Refuse a data frame where an array is expected: the names of its axes would be lost."""
    if _column_names(values) is not None:
        raise InputTypeError(
            f"{name}: expected an array or lists, got a data frame ({type(values).__name__}), "
            f"whose axes have names of their own. {remedy}"
        )


def column_order(table: Any, labels: Labels, name: str) -> list[int] | None:
    """Find the column of each label in a data frame; nothing where the columns have no names.

    An array has no names, nor does a frame whose columns are numbered 0, 1, … as pandas does by
    itself.
    """
    names = _column_names(table)
    if names is None:
        return None
    for wanted in (labels, tuple(map(str, labels))):  # most libraries have only text as names
        if len(names) == len(wanted) and set(names) == set(wanted):
            return [names.index(label) for label in wanted]
    if names == tuple(range(len(names))):
        return None
    raise LabelError(
        f"{name}: expected columns named {listing(labels)}, in any order, got {listing(names)}. "
        "Rename the columns, or pass an array."
    )


def column_labels(table: Any) -> Labels | None:
    """Return the names of a data frame's columns as labels; nothing for an array."""
    names = _column_names(table)
    return None if names is None else as_labels(names, "columns")


def ordered_probabilities(proba: Any, labels: Labels, order: Any = None) -> NDArray[np.float64]:
    """Check class probabilities and put their columns in the order of `labels`.

    `order` says which class each column of `proba` is.
    """
    array = validate.probabilities(proba, labels)
    named = column_order(proba, labels, "proba")
    if order is None:
        return array if named is None else array[:, named]
    stated = as_labels(order, "labels")
    if set(stated) != set(labels):
        raise LabelError(
            f"labels: expected the classes {listing(labels)}, in the order of the columns of "
            f"proba, got {listing(stated)}."
        )
    positions = [stated.index(label) for label in labels]
    if named is not None and named != positions:
        raise LabelError(
            f"labels: got the order {listing(stated)}, but the columns of proba are named "
            "otherwise. Leave out labels=, or correct it."
        )
    return array[:, positions]


def _column_names(table: Any) -> Labels | None:
    names = getattr(table, "column_names", None)  # pyarrow, whose `columns` are the data
    if names is None:
        names = getattr(table, "columns", None)
    return None if names is None else tuple(plain(name) for name in names)
