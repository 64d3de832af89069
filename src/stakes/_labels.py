"""Labels: the names of classes and decisions, as plain Python values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.errors import InputTypeError, LabelError

Label = Hashable
Labels = tuple[Label, ...]


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for "not known": None, NaN, NaT or pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - only missing values differ from themselves
    except (TypeError, ValueError):  # pandas.NA refuses to be a bool
        return True


def as_labels(labels: Any, name: str) -> Labels:
    """Check that `labels` are distinct, known and hashable, and return them as a tuple."""
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise InputTypeError(
            f"{name}: expected a sequence of labels such as ['no', 'yes'], "
            f"got {labels!r} ({type(labels).__name__})."
        )
    values = [plain(value) for value in labels]
    if not values:
        raise LabelError(f"{name}: expected at least one label, got none.")
    seen: set[Label] = set()
    for position, value in enumerate(values):
        if not isinstance(value, Hashable):
            raise LabelError(
                f"{name}: the label at position {position} is {value!r} "
                f"({type(value).__name__}), which cannot be a label. Use text or numbers."
            )
        if is_missing(value):
            raise LabelError(
                f"{name}: the label at position {position} is missing ({value!r}). "
                "Give every class a name."
            )
        if value in seen:
            raise LabelError(
                f"{name}: the label {value!r} stands twice (again at position {position}). "
                "Give each label once."
            )
        seen.add(value)
    return tuple(values)


def as_axes(labels: Any, decisions: Any) -> tuple[Labels, Labels]:
    """Check the classes and the decisions, which by default are the classes."""
    classes = as_labels(labels, "labels")
    return classes, classes if decisions is None else as_labels(decisions, "decisions")


def plain(value: Any) -> Any:
    """Turn a NumPy scalar into the Python value it holds."""
    return value.item() if isinstance(value, np.generic) else value


def label_array(labels: Labels) -> NDArray[Any]:
    """Make an array of labels without letting NumPy turn numbers into text."""
    if len({type(label) for label in labels}) == 1 and isinstance(labels[0], str | int | float):
        return np.array(labels)
    array = np.empty(len(labels), dtype=object)
    array[:] = labels
    return array


def renamed(
    labels: Labels, names: Mapping[Any, Label] | Callable[[Any], Label]
) -> dict[Label, Label]:
    """Return the new name of each label; a mapping may leave some out."""
    if not isinstance(names, Mapping):
        try:
            return {label: names(label) for label in labels}
        except (TypeError, ValueError) as error:
            raise LabelError(
                f"names: cannot rename the labels {listing(labels)}: {error}."
            ) from error
    for name in names:
        if name not in labels:
            raise LabelError(
                f"names: {name!r} is not a label here; there are {listing(labels)}."
                f"{hint(name, labels)}"
            )
    return {label: names.get(label, label) for label in labels}


def in_order(labels: Iterable[Label]) -> Labels:
    """Sort labels; those of different kinds by the name of their kind first."""
    values = list(labels)
    try:
        return tuple(sorted(values))  # type: ignore[type-var]
    except TypeError:
        return tuple(sorted(values, key=lambda value: (type(value).__name__, str(value))))


def union(first: Labels, second: Labels) -> Labels:
    """Return the labels of both: as they stand if they are the same, else in sorted order."""
    return first if first == second else in_order({*first, *second})


def listing(labels: Sequence[Label], most: int = 10) -> str:
    """Write labels out for a message."""
    shown = ", ".join(repr(label) for label in labels[:most])
    return shown if len(labels) <= most else f"{shown}, … ({len(labels)} in all)"


def hint(value: Label, known: Sequence[Label]) -> str:
    """Say which known label was probably meant, or nothing."""
    for label in known:
        if str(label) == str(value):
            return (
                f" The {type(label).__name__} {label!r} is known, the {type(value).__name__} "
                f"{value!r} is not: convert one of them, e.g. with costs.relabel("
                f"{type(value).__name__})."
            )
    near = get_close_matches(str(value), [str(label) for label in known], n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
