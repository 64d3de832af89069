"""Predictions in an Arrow table, in memory, with the place of what is wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import (
    CHUNK,
    MOST_LABELS,
    Cells,
    Column,
    Label,
    LabelMatcher,
    hint,
    is_blank,
    listing,
    plain,
)
from stakes._core.typing import Floats
from stakes.errors import InputError, LabelError
from stakes.predictions.table import Codes, mostly, too_many_labels
from stakes.read._diagnose import shortly
from stakes.read.tables import FileRows, pyarrow

NUMBER = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf|infinity))$"
"""What numbers look like in text."""

Found = TypeVar("Found")

NUMBER_ADVICE = "Write a number there, or take the column out of the file."


class ArrowTable:
    """A table of predictions in memory.

    Parameters
    ----------
    table : pyarrow Table
        The rows.
    source : str
        The name of the file, for errors.
    cells : {"typed", "text"}, default "typed"
        Whether the columns have types, or all are text as in a CSV file.
    place : callable, optional
        Says where a row is, given its position from 0; by default "row 1" and so on.
    on_column : callable, optional
        Is told the name of each column when work on it begins.
    """

    def __init__(
        self,
        table: Any,
        source: str,
        *,
        cells: Cells = "typed",
        place: Callable[[int], str] | None = None,
        on_column: Callable[[str], None] | None = None,
    ) -> None:
        self._table, self.source, self.cells = table, source, cells
        self._place = place or FileRows(table, source).place
        self._on_column = on_column or (lambda _: None)
        self._encoded: dict[str, tuple[Codes, list[Any]]] = {}
        self._numbers: dict[str, Floats | None] = {}

    @classmethod
    def of_file(
        cls,
        rows: FileRows,
        source: str | None = None,
        on_column: Callable[[str], None] | None = None,
    ) -> Self:
        """Take rows that were read from a file.

        Parameters
        ----------
        rows : FileRows
            The rows.
        source : str, optional
            What to call the file in messages; by default its name.
        on_column : callable, optional
            Is told the name of each column when work on it begins.
        """
        return cls(
            rows.table,
            rows.source if source is None else source,
            cells="text" if rows.kind == "csv" else "typed",
            place=rows.place,
            on_column=on_column,
        )

    @classmethod
    def of_joined(
        cls,
        files: Sequence[FileRows],
        table: Any,
        key: str,
        on_column: Callable[[str], None] | None = None,
    ) -> Self:
        """Take the rows of several files that were joined.

        Parameters
        ----------
        files : sequence of FileRows
            The files.
        table : pyarrow Table
            Their rows, joined.
        key : str
            The column that names an example, by which errors tell the place.
        on_column : callable, optional
            Is told the name of each column when work on it begins.
        """
        return cls(
            table,
            " + ".join(rows.source for rows in files),
            cells="text" if any(rows.kind == "csv" for rows in files) else "typed",
            place=lambda row: f"{key} {plain(table.column(key)[row])!r}",
            on_column=on_column,
        )

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._table.column_names)

    def labels(self, name: str) -> list[Label]:
        """Return the distinct labels of a column, which must not have too many or missing ones."""
        codes, values = self._few(name)
        for place, value in enumerate(values):
            if is_blank(value):
                raise self._problem(name, codes == place, "there is no label.")
        return [plain(value) for value in values]

    def codes(self, name: str, matcher: LabelMatcher, what: str, advice: str = "") -> Codes:
        """Return the position of each row's label; see `stakes.predictions.table.Batch`."""
        codes, values = self._few(name)
        kind = np.min_scalar_type(-max(len(matcher.labels), 1))
        places = np.array([matcher.find(value) for value in values], dtype=kind)
        if (places < 0).any():
            first = int(codes[np.argmax(np.isin(codes, np.flatnonzero(places < 0)))])
            problem = _unknown(values[first], matcher, what)
            raise self._problem(name, codes == first, problem, advice)
        return places[codes]

    def batches(self, columns: Sequence[str]) -> Iterator[Self]:  # noqa: ARG002 - it has all
        """Iterate over the rows, with these columns: all rows at once."""
        yield self

    def values(self, name: str) -> list[Any] | None:
        """Return the distinct values of a column; nothing where they cannot be labels."""
        if is_nested(self._table.schema, name):
            return None
        _, values = self._codes(name)
        return values if len(values) <= MOST_LABELS else None

    def amounts(self, name: str, among: Collection[Any]) -> tuple[int, int]:
        """Return how many rows have a value, and how many have one of those given."""
        codes, values = self._codes(name)
        amounts = np.bincount(codes, minlength=len(values))
        there = np.array([not is_blank(value) for value in values], dtype=bool)
        ours = np.array([value in among for value in values], dtype=bool)
        return int(amounts[there].sum()), int(amounts[there & ours].sum())

    def numeric(self, name: str) -> bool:
        """Tell whether at least half of a column's values, of those that are there, are numbers."""
        return mostly(*self.numbers(name))

    def numbers(self, name: str) -> tuple[int, int]:
        """Return how many rows have a value, and how many have a number."""
        numbers = self._as_numbers(name)
        if numbers is not None:
            return len(numbers), len(numbers)
        return self._of_column(name, _amount_of_numbers)

    def names(self, name: str) -> Column:
        """Return a column of names, of which there may be any number."""
        codes, values = self._codes(name)
        for place, value in enumerate(values):
            if is_blank(value):
                raise self._problem(name, codes == place, "there is no name.")
        places: dict[Label, int] = {}  # what differs in spaces alone is one name
        lookup = np.array([places.setdefault(_name(each), len(places)) for each in values])
        return Column(name, lookup[codes], 0, list(places))

    def scores(self, name: str, what: str = "score") -> Floats:
        """Return a column of numbers; `what` they are is for errors."""
        numbers = self._as_numbers(name)
        if numbers is not None:
            return numbers
        codes, values = self._codes(name)
        for place, value in enumerate(values):
            problem = _no_number(value, what)
            if problem is not None:
                raise self._problem(name, codes == place, problem, NUMBER_ADVICE)
        raise InputError(f"{self.source}, column {name!r}", "expected numbers.")

    def score_range(self, name: str) -> tuple[float, float]:
        """Return the lowest and the highest number of a column."""
        scores = self.scores(name)
        return float(scores.min()), float(scores.max())

    def _codes(self, name: str) -> tuple[Codes, list[Any]]:
        if name not in self._encoded:
            if is_nested(self._table.schema, name):
                raise InputError(
                    f"{self.source}, column {name!r}",
                    f"expected one value a row, it has {self._table.schema.field(name).type}.",
                )
            self._on_column(name)
            self._encoded[name] = self._of_column(name, _encoded)
        return self._encoded[name]

    def _of_column(self, name: str, found: Callable[[Any], Found]) -> Found:
        """Find something in a column, whose text pyarrow has not yet looked at."""
        try:
            return found(self._table.column(name))
        except (UnicodeDecodeError, pyarrow().ArrowException) as error:
            raise InputError(
                f"{self.source}, column {name!r}", f"cannot be read: {shortly(error)}"
            ) from error

    def _few(self, name: str) -> tuple[Codes, list[Any]]:
        """Return the codes and values of a column that may have no more than labels do."""
        codes, values = self._codes(name)
        if len(values) > MOST_LABELS:
            raise too_many_labels(self.source, name, f"{len(values):,}")
        return codes, values

    def _as_numbers(self, name: str) -> Floats | None:
        if name not in self._numbers:
            self._on_column(name)
            self._numbers[name] = self._of_column(name, _numbers)
        return self._numbers[name]

    def _problem(
        self, name: str, rows: NDArray[np.bool_], problem: str, advice: str = ""
    ) -> LabelError:
        """Name the first row that is wrong."""
        count = int(rows.sum())
        others = "1 more row is" if count == 2 else f"{count - 1:,} more rows are"  # noqa: PLR2004
        more = f" {others} like it." if count > 1 else ""
        where = self._place(int(np.argmax(rows)))
        return LabelError(f"{self.source}, {where}, column {name!r}", f"{problem}{more}", advice)


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


def _unknown(value: Any, matcher: LabelMatcher, what: str) -> str:
    """Say what is wrong with a value that is no label."""
    if is_blank(value):
        return "there is no label."
    labels = matcher.labels
    close = hint(plain(value), labels)
    return f"{plain(value)!r} is not one of the {what} of the costs, {listing(labels)}.{close}"


def _name(value: Any) -> Label:
    """Return a name as count files can hold it: text or a number; a date becomes text."""
    held = plain(value)
    if isinstance(held, str):
        return held.strip()
    return held if isinstance(held, int | float) else str(held)


def _no_number(value: Any, what: str) -> str | None:
    """Say what is wrong with a value that is no number; nothing if it is one."""
    if is_blank(value):
        return f"there is no {what}."
    try:
        bad = np.isnan(float(value))
    except (TypeError, ValueError):
        bad = True
    return f"{value!r} is not a number." if bad else None


def _numbers(column: Any) -> Floats | None:
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
