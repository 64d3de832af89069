"""Data frames: results become such, and those given in place of arrays go by column names."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Labels, as_labels, listing
from stakes._core.optional import pandas
from stakes.errors import LabelError


def data_frame(rows: Any) -> Any:
    """Return a pandas data frame of a mapping of columns, or of a list of rows."""
    return pandas().DataFrame(rows)


def column_order(table: Any, labels: Labels, name: str) -> list[int] | None:
    """Find the column of each label in a data frame; nothing where the columns have no names.

    An array has no names, nor does a frame whose columns are numbered 0, 1, … as pandas does by
    itself.
    """
    names = validate.column_names(table)
    if names is None:
        return None
    for wanted in (labels, tuple(map(str, labels))):  # most libraries have only text as names
        if len(names) == len(wanted) and set(names) == set(wanted):
            return [names.index(label) for label in wanted]
    if names == tuple(range(len(names))):
        return None
    raise LabelError(
        name,
        f"expected columns named {listing(labels)}, in any order, got {listing(names)}.",
        "Rename the columns, or pass an array.",
    )


def column_labels(table: Any) -> Labels | None:
    """Return the names of a data frame's columns as labels; nothing for an array."""
    names = validate.column_names(table)
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
            "labels",
            f"expected the classes {listing(labels)}, in the order of the columns of proba, got "
            f"{listing(stated)}.",
        )
    positions = [stated.index(label) for label in labels]
    if named is not None and named != positions:
        raise LabelError(
            "labels",
            f"got the order {listing(stated)}, but the columns of proba are named otherwise.",
            "Leave out labels=, or correct it.",
        )
    return array[:, positions]
