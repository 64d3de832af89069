"""Columns of labels as integer codes: the only code that looks at every row of a user's labels.

A column becomes codes into its few distinct values; what those values mean (are they known? are
they missing?) is then asked of the distinct values alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._labels import Label, hint, is_missing, listing
from stakes.errors import InputError, InputTypeError, LabelError

CHUNK = 1 << 16
"""Rows handled at a time: they stay in the cache, and memory stays bounded."""

SMALL_RANGE = 256
"""Whole numbers that span no more than this are their own codes."""


@dataclass(frozen=True)
class Column:
    """A column of labels: row r holds ``values[codes[r] - offset]``.

    Where a row stands for many examples, as in a table that an engine has grouped, `repeats` says
    for how many, and messages tell no row numbers.
    """

    name: str
    codes: NDArray[Any]
    offset: int
    values: Sequence[Label]
    repeats: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def used(self) -> NDArray[np.bool_]:
        """Tell which of the values occur."""
        counted = sum(np.bincount(chunk, minlength=len(self.values)) for chunk in self.chunks())
        return np.asarray(counted) > 0

    def present(self, used: NDArray[np.bool_]) -> list[Label]:
        """Return the used values."""
        return [self.values[index] for index in np.flatnonzero(used).tolist()]

    def chunks(self) -> Iterator[NDArray[np.intp]]:
        """Iterate over the codes, from zero, some thousand rows at a time."""
        for start in range(0, len(self), CHUNK):
            yield np.subtract(self.codes[start : start + CHUNK], self.offset, dtype=np.intp)

    def compressed(self) -> Column:
        """Return the column with only those values that occur."""
        used = self.used()
        dense = np.cumsum(used, dtype=np.int32) - 1
        codes = np.concatenate([dense[chunk] for chunk in self.chunks()])
        return Column(self.name, codes, 0, self.present(used), self.repeats)

    def positions(
        self, used: NDArray[np.bool_], labels: Sequence[Label], what: str
    ) -> NDArray[np.intp]:
        """Find the used values among the labels; -1 for values that do not occur."""
        known = {label: position for position, label in enumerate(labels)}
        occurring = np.flatnonzero(used).tolist()
        strange = [index for index in occurring if self.values[index] not in known]
        if strange:
            raise self._unknown(strange, labels, what)
        found = np.full(len(self.values), -1, dtype=np.intp)
        found[occurring] = [known[self.values[index]] for index in occurring]
        return found

    def _unknown(self, strange: list[int], labels: Sequence[Label], what: str) -> LabelError:
        rows = np.flatnonzero(np.isin(self.codes, np.add(strange, self.offset)))
        value = self.values[int(self.codes[rows[0]]) - self.offset]
        if self.repeats is None:
            where = f"at row {rows[0]} (the first of {len(rows)} such rows)"
        else:
            where = f"({self.repeats[rows].sum()} such rows)"
        return LabelError(
            f"{self.name}: the label {value!r} {where} is not among the {what}: "
            f"{listing(labels)}.{hint(value, labels)}"
        )


def label_codes(values: Any, name: str, labels: Sequence[Label], what: str) -> NDArray[np.intp]:
    """Return the position among `labels` of each row's label."""
    column = as_column(values, name)
    positions = column.positions(column.used(), labels, what)
    return np.concatenate([positions[chunk] for chunk in column.chunks()])


def as_column(values: Any, name: str) -> Column:
    """Turn what a user hands in as labels into codes; missing labels are an error."""
    codes = getattr(getattr(values, "cat", values), "codes", None)
    if codes is not None:  # a pandas Categorical, or a Series of them
        return _from_categories(np.asarray(codes), list(values.dtype.categories), name)
    array = _as_array(values, name)
    if array.ndim != 1:
        raise InputError(
            f"{name}: expected one label an example (a one-dimensional array), got an array of "
            f"shape {array.shape}. For probabilities, decide first: costs.decide(proba)."
        )
    if not len(array):
        raise InputError(f"{name} is empty: at least one example is needed.")
    if array.dtype.kind == "b":
        return Column(name, array.view(np.uint8), 0, (False, True))
    if array.dtype.kind == "f":
        array = _whole(array, name)
    if array.dtype.kind in "iu":
        low, high = int(array.min()), int(array.max())
        if high - low < SMALL_RANGE:
            return Column(name, array, low, range(low, high + 1))
    return _from_sorted(array, name) if array.dtype.kind in "iufUS" else _from_objects(array, name)


def _as_array(values: Any, name: str) -> NDArray[Any]:
    if values is None or isinstance(values, str | bytes | dict) or not hasattr(values, "__len__"):
        raise InputTypeError(
            f"{name}: expected one label an example, e.g. an array or a list; "
            f"got {values!r} ({type(values).__name__})."
        )
    if np.ma.isMaskedArray(values) and (masked := np.ma.getmaskarray(values)).any():
        raise _missing(name, int(np.argmax(masked)), int(masked.sum()), "masked")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(
            f"{name}: expected one label an example, got entries of different lengths."
        ) from error
    if array.dtype.kind in "US" and isinstance(values, list | tuple):
        # NumPy writes ["a", 1, nan] as text; keep what the user gave.
        objects = np.empty(len(values), dtype=object)
        objects[:] = values
        return objects
    return array


def _whole(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Turn floats that hold whole numbers into integers, as a missing-value detour leaves them."""
    missing = np.isnan(array)
    if missing.any():
        raise _missing(name, int(np.argmax(missing)), int(missing.sum()), "nan")
    if np.abs(array).max() < 2**53 and not (array % 1).any():
        return array.astype(np.int64)
    return array


def _from_categories(codes: NDArray[Any], categories: list[Label], name: str) -> Column:
    if not len(codes):
        raise InputError(f"{name} is empty: at least one example is needed.")
    if codes.min() < 0:
        absent = codes < 0
        raise _missing(name, int(np.argmax(absent)), int(absent.sum()), "missing")
    return Column(name, codes, 0, categories)


def _from_sorted(array: NDArray[Any], name: str) -> Column:
    """Code numbers or fixed-width text by binary search in the values met so far."""
    codes = np.empty(len(array), dtype=np.int32)
    known = np.unique(array[:CHUNK])
    chunks = [slice(start, start + CHUNK) for start in range(0, len(array), CHUNK)]
    recode = False
    for rows in chunks:
        fresh = _search(known, array[rows], codes[rows])
        if fresh.any():
            known = np.union1d(known, array[rows][fresh])
            recode = True  # codes shift when values are put in between
    if recode:
        for rows in chunks:
            _search(known, array[rows], codes[rows])
    return Column(name, codes, 0, known.tolist())


def _search(
    known: NDArray[Any], chunk: NDArray[Any], codes: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Write the codes of a chunk, and tell which of its values are not known."""
    codes[:] = np.searchsorted(known, chunk)
    np.minimum(codes, len(known) - 1, out=codes)
    return np.asarray(known[codes] != chunk)


class _Index(dict[Any, int]):
    """Number values in the order in which they are first asked for."""

    def __missing__(self, value: Any) -> int:
        self[value] = len(self)
        return len(self) - 1


def _from_objects(array: NDArray[Any], name: str) -> Column:
    codes = np.empty(len(array), dtype=np.int32)
    index = _Index()
    for start in range(0, len(array), CHUNK):
        chunk = array[start : start + CHUNK].tolist()
        checked = len(index)
        try:
            codes[start : start + CHUNK] = np.fromiter(
                map(index.__getitem__, chunk), dtype=np.int32, count=len(chunk)
            )
        except TypeError as error:
            raise InputTypeError(f"{name}: expected text or numbers as labels: {error}.") from error
        for value in list(index)[checked:]:
            if is_missing(value):
                absent = [row for row, label in enumerate(array.tolist()) if is_missing(label)]
                raise _missing(name, absent[0], len(absent), repr(value))
    return Column(name, codes, 0, list(index))


def _missing(name: str, row: int, how_many: int, what: str) -> LabelError:
    return LabelError(
        f"{name}: the label at row {row} is missing ({what}; {how_many} in all). "
        "Leave out the examples that have no label, or give them one."
    )
