"""Labels: the names of classes and decisions, as plain Python values."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from difflib import get_close_matches
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from stakes.errors import InputTypeError, LabelError

Label = Hashable
Labels = tuple[Label, ...]

Cells = Literal["values", "typed", "text"]
"""What cells hold: Python's values (arrays and frames), the types of a Parquet, Arrow or JSON file,
or text (CSV and TSV files)."""


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for "not known": None, NaN, NaT or pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - only missing values differ from themselves
    except (TypeError, ValueError):  # pandas.NA refuses to be a bool
        return True


def is_blank(value: Any) -> bool:
    """Tell whether a cell of a file has nothing in it: no value, NaN, or only spaces."""
    return not value.strip() if isinstance(value, str) else is_missing(value)


def is_date(value: Any) -> bool:
    """Tell whether a value is a date, a point in time or a span of time."""
    return isinstance(value, date | timedelta | np.datetime64 | np.timedelta64)


def dates_error(name: str, example: Any) -> InputTypeError:
    """Say that dates are no labels: each library holds them in its own way."""
    return InputTypeError(
        f"{name}: expected text or numbers as labels, got dates or times such as {example!r}. "
        "Convert them to text, e.g. with astype(str)."
    )


class LabelMatcher:
    """Finds the label that a value stands for: the one rule for arrays, frames and files.

    - A value is a label when Python finds the two equal: 1, 1.0 and True are one label, 1 and "1"
      are two. In arrays and frames this is all.
    - In files text may stand for a number and a number for text, because a CSV file has nothing but
      text: spaces around a value do not count, and "1.0" is the same as "1". What was read in this
      way is kept in `readings`, so that it can be said.
    - A missing value is no label.

    Parameters
    ----------
    labels : tuple
        The labels.
    cells : {"values", "typed", "text"}, default "values"
        What the values come from; of "values", text never stands for a number.
    """

    def __init__(self, labels: Sequence[Label], cells: Cells = "values") -> None:
        self.labels: Labels = tuple(labels)
        self.readings: dict[Label, Label] = {}
        self._cells: Cells = cells
        self._places = {label: place for place, label in enumerate(self.labels)}
        in_files = cells != "values"
        self._by_text = {str(label): place for label, place in self._places.items() if in_files}

    def find(self, value: Any) -> int:
        """Return the position of the label that a value stands for; -1 if it stands for none."""
        held = plain(value)
        place = self._places.get(held, -1)
        if place >= 0 or not self._by_text or is_blank(held):
            return place
        text = str(held)
        place = self._by_text.get(text.strip(), self._by_text.get(without_point(text), -1))
        if place >= 0 and not self._is_spelt(held, self.labels[place]):
            self.readings[held] = self.labels[place]
        return place

    def knows(self, value: Any) -> bool:
        """Tell whether a value stands for one of the labels."""
        return self.find(value) >= 0

    def _is_spelt(self, value: Any, label: Label) -> bool:
        """Tell whether a value is written as the label is, which is not worth a note."""
        same_kind = isinstance(label, str) or self._cells == "text"
        return same_kind and isinstance(value, str) and value.strip() == str(label)


def without_point(text: str) -> str:
    """Return a label as text without the spaces around it, and "1.0" as "1"."""
    stripped = text.strip()
    whole, point, zeros = stripped.partition(".")
    return whole if point and zeros and not zeros.strip("0") else stripped


def as_labels(labels: Any, name: str) -> Labels:
    """Check that `labels` are distinct, known and hashable, and return them as a tuple."""
    if isinstance(labels, set | frozenset | Mapping):
        raise InputTypeError(
            f"{name}: expected a sequence of labels such as ['no', 'yes'], got a "
            f"{type(labels).__name__}, which has no order of its own. Pass a list."
        )
    if (
        isinstance(labels, str | bytes)
        or not isinstance(labels, Iterable)
        or getattr(labels, "ndim", 1) == 0
    ):
        raise InputTypeError(
            f"{name}: expected a sequence of labels such as ['no', 'yes'], "
            f"got {labels!r} ({type(labels).__name__})."
        )
    values = list(labels)
    if not values:
        raise LabelError(f"{name}: expected at least one label, got none.")
    return _distinct(values, name)


def _distinct(labels: list[Any], name: str) -> Labels:
    values = []
    seen: set[Label] = set()
    for position, label in enumerate(labels):
        value = plain(label)
        if not _hashable(value):
            raise LabelError(
                f"{name}: the label at position {position} is {value!r} "
                f"({type(value).__name__}), which cannot be a label. Use text or numbers."
            )
        if is_missing(value):
            raise LabelError(
                f"{name}: the label at position {position} is missing ({value!r}). "
                "Give every class a name."
            )
        if is_date(label) or is_date(value):  # NumPy turns some dates into plain integers
            raise dates_error(name, label)
        if value in seen:
            raise LabelError(
                f"{name}: the label {value!r} stands twice (again at position {position}). "
                "Give each label once."
            )
        seen.add(value)
        values.append(value)
    return tuple(values)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:  # also a tuple that holds a list
        return False
    return True


def as_axes(labels: Any, decisions: Any) -> tuple[Labels, Labels]:
    """Check the classes and the decisions, which by default are the classes."""
    classes = as_labels(labels, "labels")
    return classes, classes if decisions is None else as_labels(decisions, "decisions")


def plain(value: Any) -> Any:
    """Turn a NumPy or pyarrow scalar into the Python value it holds."""
    if isinstance(value, np.generic):
        return value.item()
    return value.as_py() if hasattr(value, "as_py") else value


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
            names: Any = type(value).__name__
            if isinstance(value, bool):  # bool("False") is True
                names = {str(each): each for each in (True, False) if str(each) in known}
            return (
                f" The {type(label).__name__} {label!r} is known, the {type(value).__name__} "
                f"{value!r} is not: convert one of them, e.g. with costs.relabel({names})."
            )
    near = get_close_matches(str(value), [str(label) for label in known], n=1)
    return f" Did you mean {near[0]!r}?" if near else ""
