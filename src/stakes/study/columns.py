"""The columns of a table as codes of labels and as numbers, with the row of what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.columns import CHUNK, MOST_LABELS
from stakes._core.labels import Label, Labels, hint, listing, plain
from stakes.errors import InputError, LabelError
from stakes.read.tables import first_row, pyarrow
from stakes.study.classes import without_point
from stakes.study.roles import unknown_column

Codes = NDArray[np.signedinteger]

NUMBER = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf|infinity))$"
"""What numbers look like in text."""

SCORE_ADVICE = " Write a number there, or take the column out of the file."


class Table:
    """A table of predictions, of which columns are taken by name.

    Parameters
    ----------
    table : pyarrow Table
        The rows.
    source : str
        The name of the file, for errors.
    key : str, optional
        The column that names an example, by which errors tell the place; by default its row.
    on_column : callable, optional
        Is told the name of each column when work on it begins.
    """

    def __init__(
        self,
        table: Any,
        source: str,
        *,
        key: str | None = None,
        on_column: Callable[[str], None] | None = None,
    ) -> None:
        self._table, self.source, self._key = table, source, key
        self._on_column = on_column or (lambda _: None)
        self._encoded: dict[str, tuple[Codes, list[Any]]] = {}
        self._numbers: dict[str, NDArray[np.float64] | None] = {}

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._table.column_names)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def check_columns(self, names: Sequence[str | None]) -> None:
        """Raise when there is no such column; None stands for no name."""
        for name in names:
            if name is not None and name not in self.columns:
                raise InputError(unknown_column(name, self.columns, self.source))

    def values(self, name: str) -> list[Any]:
        """Return the distinct values of a column."""
        return self._codes(name)[1]

    def labels(self, name: str) -> list[Label]:
        """Return the distinct labels of a column, which must not have too many or missing ones."""
        codes, values = self._codes(name)
        self._check_few(name, values)
        for place, value in enumerate(values):
            if is_missing_value(value):
                raise self._problem(name, codes == place, "there is no label.")
        return [plain(value) for value in values]

    def codes(self, name: str, labels: Labels, what: str, advice: str = "") -> Codes:
        """Return the position of each row's label among those known; text may stand for numbers.

        Parameters
        ----------
        name : str
            The column.
        labels : tuple
            The labels.
        what : str
            What they are, for errors.
        advice : str, optional
            What to do about a value that is none of them.
        """
        codes, values = self._codes(name)
        self._check_few(name, values)
        known = {label: place for place, label in enumerate(labels)}
        by_text = {str(label): place for place, label in enumerate(labels)}
        places = np.full(len(values), -1, dtype=np.min_scalar_type(-max(len(labels), 1)))
        for place, value in enumerate(values):
            label = plain(value)
            found = known.get(label) if not is_missing_value(value) else None
            places[place] = _place(str(label), by_text) if found is None else found
        if (places < 0).any():
            first = int(codes[np.argmax(np.isin(codes, np.flatnonzero(places < 0)))])
            said = _unknown(values[first], labels, what)
            raise self._problem(name, codes == first, said, advice)
        return places[codes]

    def batches(self, columns: Sequence[str]) -> Iterator[Table]:  # noqa: ARG002 - it has all
        """Iterate over the rows, with these columns: all rows at once."""
        yield self

    def knows(self, name: str, labels: Labels) -> bool:
        """Tell whether all values of a column are among labels, as they are or as text."""
        return not is_nested(self._table.schema, name) and all_known(self.values(name), labels)

    def flawed(self, name: str, labels: Labels, *, named: bool = False) -> bool:
        """Tell whether a column has labels but for some rows; `Suspicion` tells when."""
        if is_nested(self._table.schema, name):
            return False
        suspicion = Suspicion(self.values(name), labels, named=named)
        return suspicion.possible and suspicion.holds(*self.filled(name, suspicion.known))

    def filled(self, name: str, known: Collection[Any]) -> tuple[int, int]:
        """Return how many rows have a value, and how many have one of those known."""
        codes, values = self._codes(name)
        amounts = np.bincount(codes, minlength=len(values))
        there = np.array([not is_missing_value(value) for value in values], dtype=bool)
        ours = np.array([value in known for value in values], dtype=bool)
        return int(amounts[there].sum()), int(amounts[there & ours].sum())

    def numeric(self, name: str) -> bool:
        """Tell whether at least half of a column's values, of those that are there, are numbers.

        The others are errors where the numbers are used.
        """
        return mostly(*self.numbers(name))

    def numbers(self, name: str) -> tuple[int, int]:
        """Return how many rows have a value, and how many have a number."""
        if self._as_numbers(name) is not None:
            return len(self), len(self)
        return _amount_of_numbers(self._table.column(name))

    def scores(self, name: str) -> NDArray[np.float64]:
        """Return a column of numbers."""
        numbers = self._as_numbers(name)
        if numbers is not None:
            return numbers
        codes, values = self._codes(name)
        for place, value in enumerate(values):
            try:
                bad = is_missing_value(value) or np.isnan(float(value))
            except (TypeError, ValueError):
                bad = True
            if bad:
                said = (
                    "there is no score."
                    if is_missing_value(value)
                    else f"{value!r} is not a number."
                )
                raise self._problem(name, codes == place, said, SCORE_ADVICE)
        raise InputError(f"{self.source}, column {name!r}: expected numbers.")

    def score_range(self, name: str) -> tuple[float, float]:
        """Return the lowest and the highest number of a column."""
        scores = self.scores(name)
        return float(scores.min()), float(scores.max())

    def _codes(self, name: str) -> tuple[Codes, list[Any]]:
        if name not in self._encoded:
            if is_nested(self._table.schema, name):
                raise InputError(
                    f"{self.source}, column {name!r}: expected one value a row, it has "
                    f"{self._table.schema.field(name).type}."
                )
            self._on_column(name)
            self._encoded[name] = _encoded(self._table.column(name))
        return self._encoded[name]

    def _as_numbers(self, name: str) -> NDArray[np.float64] | None:
        if name not in self._numbers:
            self._on_column(name)
            self._numbers[name] = _numbers(self._table.column(name))
        return self._numbers[name]

    def _check_few(self, name: str, values: Sequence[Any]) -> None:
        if len(values) > MOST_LABELS:
            raise too_many_labels(self.source, name, f"{len(values):,}")

    def _problem(
        self, name: str, rows: NDArray[np.bool_], said: str, advice: str = ""
    ) -> LabelError:
        """Name the first row that is wrong."""
        count = int(rows.sum())
        others = "1 more row is" if count == 2 else f"{count - 1:,} more rows are"  # noqa: PLR2004
        more = f" {others} like it." if count > 1 else ""
        at = int(np.argmax(rows))
        where = f"row {at + first_row(self._table):,}"
        if self._key is not None:  # rows of joined files are those of neither
            where = f"{self._key} {plain(self._table.column(self._key)[at])!r}"
        return LabelError(f"{self.source}, {where}, column {name!r}: {said}{more}{advice}")


def too_many_labels(source: str, name: str, many: str) -> LabelError:
    """Say that a column has so many different values that they cannot be classes."""
    return LabelError(
        f"{source}, column {name!r}: {many} different values are too many to be classes. Is it a "
        "column of scores or identifiers?"
    )


def all_known(values: Sequence[Any], labels: Labels) -> bool:
    """Tell whether values, of which there must be some, are all among labels, or their text."""
    allowed = {*labels, *map(str, labels)}
    return 0 < len(values) <= MOST_LABELS and all(_is_known(value, allowed) for value in values)


def _is_known(value: Any, allowed: Collection[Any]) -> bool:
    if is_missing_value(value):
        return False
    text = str(value)
    return plain(value) in allowed or text.strip() in allowed or without_point(text) in allowed


class Suspicion:
    """Whether a column that nobody named has decisions, of which some are missing or misspelt.

    It has where at least half of its values, of those that are there, are labels, and

    - its name says so, such as "pred_a", or "a" beside "a_score"; or
    - the other values are not such as features have: no numbers where labels are numbers (counts
      such as 0, 1, 2 are no decisions between 0 and 1), and not several where one label occurs.

    Parameters
    ----------
    values : sequence
        The distinct values of the column.
    labels : tuple
        The labels.
    named : bool
        Whether its name says so.
    """

    def __init__(self, values: Sequence[Any], labels: Labels, *, named: bool) -> None:
        allowed = {*labels, *map(str, labels)}
        few = values if len(values) <= MOST_LABELS else ()
        self.known = frozenset(value for value in few if _is_known(value, allowed))
        others = [v for v in few if v not in self.known and not is_missing_value(v)]
        numbers = any(map(_is_number, labels)) and any(map(_is_number, others))
        alike = numbers or len(others) > len(self.known) == 1
        self.possible = bool(self.known) and (named or not alike)

    def holds(self, filled: int, known: int) -> bool:
        """Tell whether it holds, for so many rows that have a value, and one that is known."""
        return self.possible and mostly(filled, known)


def mostly(filled: int, such: int) -> bool:
    """Tell whether at least half of the rows that have a value, and one at all, have such a one."""
    return such > 0 and filled <= 2 * such


def _is_number(value: Any) -> bool:
    """Tell whether a value is a number, or text of one, but neither true nor false nor NaN."""
    try:
        return not isinstance(value, bool) and not np.isnan(float(value))
    except (TypeError, ValueError):
        return False


def is_nested(schema: Any, name: str) -> bool:
    """Tell whether a column has more than one value a row."""
    return bool(pyarrow().types.is_nested(schema.field(name).type))


def as_numpy(array: Any) -> NDArray[Any]:
    """Return an array of numbers, none missing; pyarrow's way imports pandas, which is slow."""
    return np.asarray(np.from_dlpack(array))


def _encoded(column: Any) -> tuple[Codes, list[Any]]:
    """Return the distinct values of a column, and the position of each row's among them."""
    pa = pyarrow()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode(null_encoding="encode")
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # of no or several chunks
        array = pa.concat_arrays(array.unify_dictionaries().chunks)
    values, indices = array.dictionary.to_pylist(), array.indices
    if indices.null_count:
        indices = indices.cast(pa.int64()).fill_null(len(values))
        values = [*values, None]
    codes = as_numpy(indices)
    used = np.zeros(len(values), dtype=bool)
    for start in range(0, len(codes), CHUNK):
        used[codes[start : start + CHUNK]] = True
    if used.all():
        return codes, values
    places = np.cumsum(used) - 1  # a dictionary may hold what does not occur
    return places[codes], [value for value, occurs in zip(values, used, strict=True) if occurs]


def _place(text: str, by_text: dict[str, int]) -> int:
    """Return the position of a label that is text, or -1."""
    return by_text.get(text.strip(), by_text.get(without_point(text), -1))


def _unknown(value: Any, labels: Labels, what: str) -> str:
    """Say what is wrong with a value that is no label."""
    if is_missing_value(value):
        return "there is no label."
    close = hint(plain(value), labels)
    return f"{plain(value)!r} is not one of the {what} of the costs, {listing(labels)}.{close}"


def _numbers(column: Any) -> NDArray[np.float64] | None:
    """Return a column as numbers; nothing where one of them is missing or none."""
    pa = pyarrow()
    from pyarrow import compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.utf8_trim_whitespace(column)
    try:
        cast = column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return None
    if cast.null_count:
        return None
    numbers = as_numpy(cast.combine_chunks())
    return None if np.isnan(numbers).any() else numbers


def _amount_of_numbers(column: Any) -> tuple[int, int]:
    """Return how many rows of a column have a value, and how many have a number."""
    pa = pyarrow()
    from pyarrow import compute as pc

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    column = column.cast(kind).drop_null()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = pc.utf8_trim_whitespace(column)
        filled = pc.sum(pc.not_equal(column, "")).as_py()
        return filled or 0, pc.sum(pc.match_substring_regex(column, NUMBER)).as_py() or 0
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        return len(column), 0
    there = len(column)
    if pa.types.is_floating(kind):
        there -= pc.sum(pc.is_nan(column)).as_py() or 0
    return there, there


def is_missing_value(value: Any) -> bool:
    """Tell whether there is no label in a cell."""
    if value is None:
        return True
    if isinstance(value, str):
        return not value.strip()
    return isinstance(value, float) and np.isnan(value)
