"""Tables of predictions in memory as Arrow, whose errors name the file, row and column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import (
    CHUNK,
    MOST_LABELS,
    Cells,
    Column,
    Label,
    LabelMatcher,
    Labels,
    folded,
    hint,
    is_blank,
    listing,
    plain,
)
from stakes._core.typing import Floats
from stakes.errors import InputError, LabelError
from stakes.predictions.table import (
    AS_WRITTEN,
    Codes,
    Frequent,
    Reading,
    mostly,
    too_many_labels,
)
from stakes.read._diagnose import shortly
from stakes.read.sources import pyarrow
from stakes.read.tables import FileRows

NUMBER = r"^[+-]?((\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|(?i:inf|infinity))$"
"""Pattern of a number in text."""

Found = TypeVar("Found")

NUMBER_ADVICE = "Write a number there, or take the column out of the file."
DROP = "Leave such rows out with drop_missing=."
MISSING = {"drop_missing": ""}
COMMA = re.compile(r"[+-]?[\d.]*,\d+([eE][+-]?\d+)?")
POINT = re.compile(r"[+-]?\d*\.\d*([eE][+-]?\d+)?")
DECIMAL_COMMA = r"^[+-]?\d*,\d+([eE][+-]?\d+)?$"
MOST_FRACTIONS = 100
"""Maximum number of distinct values, if some are fractions, in a column of labels."""

FEW = 100
"""Number of first rows that usually suffice to see that a column is not numeric."""

EXACT_DIGITS = 15
"""Maximum number of digits of decimals that are all different as floating-point numbers."""

COUNTED = 1 << 18
"""Rows of text counted at a time: more values do not stay in the processor's cache."""

FEW_CELLS = 20_000
"""Maximum number of cells that Python reads faster than pyarrow.compute is imported."""

NO_VALUE = ("", "na", "n/a", "nan", "null", "<na>", "#n/a")
"""Text that means a missing value, in lower case, unless it is a label."""


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
        Returns the place of a row from its position, counted from 0; by default "row 1" and so on.
    on_column : callable, optional
        Called with the name of each column when work on it begins.
    reading : Reading, optional
        The options for reading cells.
    notes : tuple of str
        Sentences on earlier changes to the rows.
    """

    def __init__(
        self,
        table: Any,
        source: str,
        *,
        cells: Cells = "typed",
        place: Callable[[int], str] | None = None,
        on_column: Callable[[str], None] | None = None,
        reading: Reading = AS_WRITTEN,
        notes: tuple[str, ...] = (),
    ) -> None:
        self._table, self.source = table, source
        self._columns = tuple(table.column_names)  # pyarrow rebuilds its list at each access
        self.cells: Cells = "loose" if reading.ignore_case else cells
        self.notes, self.dropped = notes, 0
        self.lacking: Counter[str] = Counter()
        self.commas: set[str] = set()
        self.points: set[str] = set()
        self.renamed: dict[str, tuple[str, ...]] = {}
        self.grouping: str | None = None
        self.reading = reading
        self.reversed_from: dict[str, float] = {}
        """By column, the number to subtract scores from to reverse them, if other rows set it."""
        self._place = place or FileRows(table, source).place
        self._on_column = on_column or (lambda _: None)
        self._encoded: dict[str, tuple[Codes, list[Any]]] = {}
        self._numbers: dict[str, Floats | None] = {}
        self._measured: dict[str, bool] = {}

    @classmethod
    def of_file(
        cls,
        rows: FileRows,
        source: str | None = None,
        on_column: Callable[[str], None] | None = None,
        reading: Reading = AS_WRITTEN,
    ) -> Self:
        """Return the table of rows that were read from a file.

        Parameters
        ----------
        rows : FileRows
            The rows.
        source : str, optional
            The name of the file in messages; by default its own.
        on_column : callable, optional
            Called with the name of each column when work on it begins.
        reading : Reading, optional
            The options for reading cells.
        """
        return cls(
            rows.table,
            rows.source if source is None else source,
            cells=cells_of(rows),
            place=rows.place,
            on_column=on_column,
            reading=reading,
        )

    @classmethod
    def of_joined(
        cls,
        files: Sequence[FileRows],
        table: Any,
        key: str,
        on_column: Callable[[str], None] | None = None,
        reading: Reading = AS_WRITTEN,
    ) -> Self:
        """Return the table of several files that were joined.

        Parameters
        ----------
        files : sequence of FileRows
            The files.
        table : pyarrow Table
            Their rows, joined.
        key : str
            The column of example ids, by which errors name the place.
        on_column : callable, optional
            Called with the name of each column when work on it begins.
        reading : Reading, optional
            The options for reading cells.
        """
        return cls(
            table,
            " + ".join(rows.source for rows in files),
            cells="text" if any(rows.kind == "csv" for rows in files) else "typed",
            place=lambda row: f"{key} {plain(table.column(key)[row])!r}",
            on_column=on_column,
            reading=reading,
        )

    @property
    def n(self) -> int:
        """The number of rows."""
        return int(self._table.num_rows)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._columns)

    def labels(self, name: str) -> list[Label]:
        """Return the distinct labels of a column, which must not have too many or missing ones."""
        codes, values = self._few(name)
        for place, value in enumerate(values):
            if is_blank(value):
                raise self._problem(name, codes == place, "there is no label.", DROP, MISSING)
        return [plain(value) for value in values]

    def codes(self, name: str, matcher: LabelMatcher, what: str, advice: str = "") -> Codes:
        """Return the position of each row's label; see `stakes.predictions.table.Batch`."""
        codes, values = self._few(name)
        kind = np.min_scalar_type(-max(len(matcher.labels), 1))
        places = np.array([matcher.find(value) for value in values], dtype=kind)
        if (places < 0).any():
            first = int(codes[np.argmax(np.isin(codes, np.flatnonzero(places < 0)))])
            problem, more, proposal = _unknown(values[first], matcher, what)
            advice = " ".join(filter(None, (advice, more)))
            raise self._problem(name, codes == first, problem, advice, proposal)
        return places[codes]

    def batches(self, columns: Sequence[str]) -> Iterator[Self]:  # noqa: ARG002 - it has all
        """Yield all rows as one batch."""
        yield self

    def values(self, name: str) -> list[Any] | None:
        """Return the distinct values of a column; None if they cannot be labels."""
        if is_nested(self._table.schema, name):
            return None
        if name not in self._encoded and self._measures(name):
            return None
        _, values = self._codes(name)
        return values if len(values) <= MOST_LABELS else None

    def _measures(self, name: str) -> bool:
        """Tell, by its first rows alone, whether a column has values that cannot be labels.

        Guessing the models among thousands of columns cannot read all values of each.
        """
        if name not in self._measured:
            few = self._short_text(name) and self._of_column(name, _few_texts)
            self._measured[name] = not few and self._of_column(name, _too_many)
        return self._measured[name]

    def amounts(self, name: str, among: Collection[Any]) -> tuple[int, int]:
        """Return the number of rows with a value, and of those with one of the given values."""
        codes, values = self._codes(name)
        amounts = np.bincount(codes, minlength=len(values))
        there = np.array([not is_blank(value) for value in values], dtype=bool)
        ours = np.array([value in among for value in values], dtype=bool)
        return int(amounts[there].sum()), int(amounts[there & ours].sum())

    def frequent(self, name: str, *, whole: bool = True) -> Frequent:
        """Return the frequent values of a column of text, however many others it has.

        A column whose first rows have many numbers and no words has scores, or is a feature.

        Parameters
        ----------
        name : str
            The column.
        whole : bool, default True
            Whether all rows are read, or only the first.
        """
        if not is_text(self._table.schema, name):
            return Frequent()
        if name in self._encoded:
            codes, values = self._codes(name)
            amounts = np.bincount(codes, minlength=len(values))
            return _leading(amounts, lambda order: [values[place] for place in order])
        known = self._numbers.get(name) is not None  # all rows were read already
        if not known:
            first = self._of_column(name, lambda column: _amount_of_numbers(_first(column)))
            known = first[0] == first[1] > 0
        if known and self._measures(name):
            return Frequent()
        return self._of_column(name, lambda column: _frequent(column if whole else _first(column)))

    def numeric(self, name: str) -> bool:
        """Tell whether at least half of a column's non-missing values are numbers."""
        return mostly(*self.numbers(name))

    def numbers(self, name: str) -> tuple[int, int]:
        """Return the number of rows with a value, and of those with a number."""
        numbers = self._as_numbers(name)
        if numbers is not None:
            return len(numbers), len(numbers)
        return self._of_column(name, _amount_of_numbers)

    def repeats(self, name: str) -> bool:
        """Tell whether a value of a column occurs in several rows."""
        if is_nested(self._table.schema, name):
            return False
        return self.distinct(name) < self.n - int(self._table.column(name).null_count)

    def distinct(self, name: str) -> int:
        """Return the number of distinct values of a column, without missing values."""
        from pyarrow import compute as pc

        column = self._table.column(name).drop_null()
        if not len(column):  # a column of type null cannot be counted
            return 0
        if pyarrow().types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        return self._of_column(name, lambda _: int(pc.count_distinct(column).as_py()))

    def pairs(self, first: str, second: str) -> int:
        """Return the number of distinct pairs of values of two columns."""
        codes, values = self._codes(first)
        others, _ = self._codes(second)
        return len(np.unique(others.astype(np.int64) * len(values) + codes))

    def rows_by(self, name: str) -> list[NDArray[np.intp]]:
        """Return the sorted positions of the rows of each value; none unless equally frequent."""
        codes, values = self._codes(name)
        amounts = np.bincount(codes, minlength=len(values))
        if (amounts != amounts[0]).any():  # as in most columns, which takes much less time to see
            return []
        return [np.flatnonzero(codes == place) for place in range(len(values))]

    def same_in(self, rows: Sequence[NDArray[np.intp]], name: str) -> bool:
        """Tell whether a column has the same values in each of several lists of rows."""
        codes, _ = self._codes(name)
        first, *others = (codes[each] for each in rows)
        return all(np.array_equal(first, each) for each in others)

    def complete(self, columns: Sequence[str], labels: Labels = ()) -> Self:
        """Return the rows without missing values in these columns; a label is never missing."""
        found = self.filled(columns, labels)
        if self.n and not found.n:
            raise InputError(
                self.source, f"every row lacks a value in {listing(list(columns))}; none is left."
            )
        return found

    def filled(self, columns: Sequence[str], labels: Labels = ()) -> Self:
        """Return the rows without missing values in these columns; there may be none.

        The first column holds the actual classes. The returned table states how many rows were
        dropped, how many of these lack a class, and how many of the others a value in each column.
        """
        from pyarrow import compute as pc

        there, labelled = None, None
        lacking = Counter(self.lacking)
        for name in dict.fromkeys(columns):
            own = self._of_column(name, lambda column: _present(column, labels))
            there = own if there is None else pc.and_(there, own)
            apart = pc.invert(own) if labelled is None else pc.and_not(labelled, own)
            lacking[name] += pc.sum(apart).as_py() or 0
            labelled = own if labelled is None else labelled
        if there is None or pc.all(there).as_py() is not False:
            return self
        return self._kept(np.asarray(there.to_numpy(zero_copy_only=False)), lacking)

    def _kept(self, there: NDArray[np.bool_], lacking: Counter[str]) -> Self:
        """Return some of the rows, with what the others lack."""
        kept = np.flatnonzero(there)
        found = type(self)(
            self._table.filter(pyarrow().array(there)),
            self.source,
            cells=self.cells,
            place=lambda row: self._place(int(kept[row])),
            on_column=self._on_column,
            reading=self.reading,
            notes=self.notes,
        )
        found.dropped = self.dropped + len(there) - len(kept)
        found.lacking = lacking
        found.reversed_from, found.renamed = self.reversed_from, self.renamed
        found.grouping = self.grouping
        return found

    def names(self, name: str) -> Column:
        """Return a column of names, any number of them distinct."""
        codes, values = self._codes(name)
        for place, value in enumerate(values):
            if is_blank(value):
                raise self._problem(name, codes == place, "there is no name.")
        places: dict[Label, int] = {}  # names that differ only in surrounding spaces are the same
        lookup = np.array([places.setdefault(_name(each), len(places)) for each in values])
        return Column(name, lookup[codes], 0, list(places))

    def texts(self, name: str) -> tuple[Codes, list[str | None]]:
        """Return a column as text: the position of each row's value, and the distinct values.

        Parameters
        ----------
        name : str
            The column.

        Returns
        -------
        codes : ndarray of int
            The position of each row's value.
        values : list of str or None
            The values; None is a blank.
        """
        codes, values = self._codes(name)
        return codes, [None if is_blank(each) else str(plain(each)).strip() for each in values]

    def labelled(self, name: str) -> tuple[NDArray[np.bool_], ArrowTable]:
        """Return which rows have a value in a column, and the table of those rows.

        Parameters
        ----------
        name : str
            The column.

        Returns
        -------
        here : ndarray of bool
            Whether each row has a value.
        table : ArrowTable
            The rows that have one.
        """
        codes, values = self.texts(name)
        here = np.array([value is not None for value in values], dtype=bool)[codes]
        return here, self._kept(here, self.lacking + Counter({name: int((~here).sum())}))

    def scores(self, name: str, what: str = "score") -> Floats:
        """Return a column of numbers; `what` names them in errors."""
        numbers = self._as_numbers(name)
        if what == "score" and not self._of_column(name, _stay_distinct):
            raise validate.too_precise(f"{self.source}, column {name!r}")
        if numbers is not None:
            if name not in self.points and self._of_column(name, _has_points):
                self.points.add(name)
            if name not in self.reading.lower_is_positive:
                return numbers
            lowest, highest = self.raw_range(name)
            return self.reversed_from.get(name, reversal(lowest, highest)) - numbers
        codes, values = self._codes(name)
        for place, value in enumerate(values):
            problem = _no_number(value, what, values)
            if problem is not None:
                missing = is_blank(value)
                advice = f"{NUMBER_ADVICE} {DROP}" if missing else NUMBER_ADVICE
                proposal = MISSING if missing else {}
                raise self._problem(name, codes == place, problem, advice, proposal)
        raise validate.too_precise(f"{self.source}, column {name!r}")

    def score_range(self, name: str) -> tuple[float, float]:
        """Return the lowest and the highest number of a column, ignoring cells without a number."""
        lowest, highest = self.raw_range(name)
        if name not in self.reading.lower_is_positive:
            return lowest, highest
        total = self.reversed_from.get(name, reversal(lowest, highest))
        return total - highest, total - lowest

    def raw_range(self, name: str) -> tuple[float, float]:
        """Return the lowest and the highest number of a column before any reversal."""
        numbers = self._as_numbers(name)
        if numbers is None:
            numbers = self._of_column(name, _numbers_there)
        if not len(numbers):
            self.scores(name)  # raises for the first invalid row
            raise InputError(f"{self.source}, column {name!r}", "expected numbers, there are none.")
        return float(numbers.min()), float(numbers.max())

    def _codes(self, name: str) -> tuple[Codes, list[Any]]:
        if name not in self._encoded:
            if is_nested(self._table.schema, name):
                raise InputError(
                    f"{self.source}, column {name!r}",
                    f"expected one value per row, got {self._table.schema.field(name).type}.",
                )
            self._on_column(name)
            found = _text_encoded if self._short_text(name) else _encoded
            self._encoded[name] = self._of_column(name, found)
        return self._encoded[name]

    def _short_text(self, name: str) -> bool:
        """Tell whether a column is text that is read faster than pyarrow.compute is imported."""
        cells = self.n * len(self._columns)
        return cells <= FEW_CELLS and bool(
            pyarrow().types.is_string(self._table.schema.field(name).type)
        )

    def _of_column(self, name: str, found: Callable[[Any], Found]) -> Found:
        """Apply a function to a column, whose text pyarrow has not yet validated."""
        try:
            return found(self._table.column(name))
        except MemoryError:  # pyarrow's is an ArrowException too
            raise
        except (UnicodeDecodeError, pyarrow().ArrowException) as error:
            raise InputError(
                f"{self.source}, column {name!r}", f"cannot be read: {shortly(error)}"
            ) from error

    def _few(self, name: str) -> tuple[Codes, list[Any]]:
        """Return the codes and values of a column; more than `MOST_LABELS` values are an error."""
        codes, values = self._codes(name)
        if len(values) > MOST_LABELS:
            raise too_many_labels(self.source, name, f"{len(values):,}")
        return codes, values

    def _as_numbers(self, name: str) -> Floats | None:
        if name not in self._numbers:
            self._on_column(name)
            numbers = self._of_column(name, _numbers)
            if numbers is None:
                numbers = self._of_column(name, _numbers_with_commas)
                if numbers is not None:
                    self.commas.add(name)
            self._numbers[name] = numbers
        return self._numbers[name]

    def _problem(
        self,
        name: str,
        rows: NDArray[np.bool_],
        problem: str,
        advice: str = "",
        proposal: Mapping[str, str] | None = None,
    ) -> LabelError:
        """Return the error for invalid rows, which names the first."""
        count = int(rows.sum())
        others = "1 more row is" if count == 2 else f"{count - 1:,} more rows are"  # noqa: PLR2004
        more = f" {others} like it." if count > 1 else ""
        where = self._place(int(np.argmax(rows)))
        place = f"{self.source}, {where}, column {name!r}"
        return LabelError(place, f"{problem}{more}", advice, proposal=proposal)


def cells_of(rows: FileRows) -> Cells:
    """Return the kind of cells: text in CSV files, Python's values in data frames, or typed."""
    kinds: dict[str, Cells] = {"csv": "text", "frame": "values"}
    return kinds.get(rows.kind, "typed")


def is_nested(schema: Any, name: str) -> bool:
    """Tell whether a column has more than one value per row."""
    return bool(pyarrow().types.is_nested(schema.field(name).type))


def is_text(schema: Any, name: str) -> bool:
    """Tell whether a column has text."""
    types, kind = pyarrow().types, schema.field(name).type
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind))


def as_numpy(array: Any) -> NDArray[Any]:
    """Return an array of numbers without nulls; pyarrow's own conversion imports pandas (slow)."""
    return np.asarray(np.from_dlpack(array))


def _text_encoded(column: Any) -> tuple[Codes, list[Any]]:
    """Return the position of each row's value in a column of text, and the distinct values."""
    places: dict[Any, int] = {}
    codes = [places.setdefault(value, len(places)) for value in column.to_pylist()]
    return np.array(codes, dtype=np.int32), list(places)


def _first(column: Any) -> Any:
    """Return the first rows of a column: enough to see that it has too many values for labels."""
    return column.slice(0, 2 * MOST_LABELS)


def _few_texts(column: Any) -> bool:
    """Tell whether the first rows have few enough values for labels, even if they are fractions."""
    return len(set(_first(column).to_pylist())) <= MOST_FRACTIONS


def _frequent(column: Any) -> Frequent:
    """Return the frequent values of a column of text, `COUNTED` rows at a time for speed."""
    found = Frequent()
    for start in range(0, len(column), COUNTED):
        counted = _text_of(column.slice(start, COUNTED)).value_counts()
        amounts, values = counted.field("counts"), counted.field("values")
        found += _leading(as_numpy(amounts), values.take)
    return found


def _leading(amounts: NDArray[np.int64], values_at: Callable[[Any], Any]) -> Frequent:
    """Return the most frequent of any number of distinct values."""
    order = np.arange(len(amounts))
    if len(order) > MOST_LABELS:
        order = np.argpartition(-amounts, MOST_LABELS)[: MOST_LABELS + 1]
    rows = zip(map(plain, values_at(order)), amounts[order].tolist(), strict=True)
    there = {value: count for value, count in rows if not is_blank(value)}
    blank = int(amounts[order].sum()) - sum(there.values())
    return Frequent() + Frequent(int(amounts.sum()) - blank, there)


def _too_many(column: Any) -> bool:
    """Tell whether the first rows have more than `MOST_LABELS` values, or many fractions."""
    from pyarrow import compute as pc

    types = pyarrow().types
    if types.is_dictionary(column.type) or types.is_null(column.type):
        return False  # its values are known without reading the rows
    first = _first(column)
    distinct = pc.count_distinct(first, "all").as_py()
    if distinct > MOST_LABELS:
        return True
    numbers = _numbers(first) if distinct > MOST_FRACTIONS else None
    return numbers is not None and bool((numbers != np.floor(numbers)).any())


def _encoded(column: Any) -> tuple[Codes, list[Any]]:
    """Return the position of each row's value in a column, and the distinct values."""
    pa = pyarrow()
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode(null_encoding="encode")
    array = column.combine_chunks()
    if isinstance(array, pa.ChunkedArray):  # of zero or several chunks
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
    places = np.cumsum(used) - 1  # a dictionary may hold values that do not occur
    return places[codes], [value for value, occurs in zip(values, used, strict=True) if occurs]


def _unknown(value: Any, matcher: LabelMatcher, what: str) -> tuple[str, str, dict[str, str]]:
    """Return the problem with a value that is not a label, the remedy, and the arguments for it."""
    if is_blank(value):
        return "there is no label.", DROP, MISSING
    labels = matcher.labels
    problem = f"{plain(value)!r} is not one of the {what} of the costs, {listing(labels)}."
    same = [label for label in labels if folded(label) == folded(value)]
    if len(same) == 1 and isinstance(plain(value), str):
        problem += f" It differs from {same[0]!r} in case, spaces or punctuation only."
        return problem, "Read them as the same with ignore_case=.", {"ignore_case": ""}
    return f"{problem}{hint(plain(value), labels)}", "", {}


def _name(value: Any) -> Label:
    """Return a name as text or a number, for count files; dates become text."""
    held = plain(value)
    if isinstance(held, str):
        return held.strip()
    return held if isinstance(held, int | float) else str(held)


def _no_number(value: Any, what: str, others: Sequence[Any] = ()) -> str | None:
    """Return the problem with a value that is not a number; None if it is one.

    `others` are the values of its column.
    """
    if is_blank(value):
        return f"there is no {what}."
    try:
        bad = np.isnan(float(value))
    except (TypeError, ValueError):
        bad = True
    if not bad and isinstance(value, str) and ("_" in value or not value.strip().isascii()):
        return f"{value!r} is not a number; expected digits from 0 to 9, without underscores."
    if bad and COMMA.fullmatch(str(value).strip()):
        point = next((each for each in others if POINT.fullmatch(str(each).strip())), None)
        if point is not None:
            return (
                f"{value!r} has a comma, and {point!r} in the same column a point; it is not clear "
                "which is for decimals and which for thousands."
            )
        return f"{value!r} has a comma; it is not clear whether for decimals or thousands."
    return f"{value!r} is not a number." if bad else None


def reversal(lowest: float, highest: float) -> float:
    """Return the number to subtract scores from to reverse them: 1 for probabilities, else 0."""
    return 1.0 if lowest >= 0 and highest <= 1 else 0.0


def _text_of(column: Any) -> Any:
    """Return a column of text with surrounding spaces removed; None if it is not text."""
    pa = pyarrow()
    from pyarrow import compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return pc.utf8_trim_whitespace(column)
    return None


def _with_points(column: Any) -> Any:
    """Return a column of text with decimal commas as points, if they are certainly decimal.

    "1,234" may be a thousand, so a column in which all commas are before three digits, and none
    after a zero, stays as it is.
    """
    from pyarrow import compute as pc

    text = _text_of(column)
    if text is None:
        return column
    commas = pc.match_substring_regex(text, DECIMAL_COMMA)
    sure = pc.match_substring_regex(text, r"^[+-]?0?,\d+$|^[+-]?\d+,(\d{1,2}|\d{4,})([eE].*)?$")
    if not pc.any(sure).as_py():
        return column
    return pc.if_else(commas, pc.replace_substring(text, ",", "."), text)


def _numbers_with_commas(column: Any) -> Floats | None:
    """Return a column with decimal commas as numbers; None if a number has a point.

    Beside decimal commas, "1.234" may be a thousand.
    """
    return None if _has_points(column) else _numbers(_with_points(column))


def _has_points(column: Any) -> bool:
    """Tell whether a column is text with a point."""
    pa = pyarrow()
    from pyarrow import compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return False
    return pc.any(pc.match_substring(column, ".")).as_py() is True


def _numbers_there(column: Any) -> Floats:
    """Return the numbers of a column, without cells that are not numbers."""
    pa = pyarrow()
    from pyarrow import compute as pc

    text = _text_of(_with_points(column))
    if text is not None:
        column = text.filter(pc.match_substring_regex(text, NUMBER))
    elif pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    try:
        numbers = column.drop_null().cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return np.empty(0)
    array = as_numpy(numbers.combine_chunks())
    return np.asarray(array[~np.isnan(array)])


def _present(column: Any, labels: Labels) -> Any:
    """Return a mask of the rows that have a value: not blank, NaN, "NA" or the like."""
    pa = pyarrow()
    from pyarrow import compute as pc

    text = _text_of(column)
    if text is not None:
        absent = [each for each in NO_VALUE if each not in {str(label).lower() for label in labels}]
        lower = pc.utf8_lower(text)
        written = pc.invert(pc.is_in(lower, value_set=pa.array(absent, lower.type)))
        return pc.and_(pc.is_valid(text), written)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return pc.invert(pc.is_null(column, nan_is_null=pa.types.is_floating(column.type)))


def _numbers(column: Any) -> Floats | None:
    """Return a column as numbers; None if a value is missing or not a number."""
    pa = pyarrow()
    from pyarrow import compute as pc

    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = pc.utf8_trim_whitespace(column)
    try:
        column.slice(0, FEW).cast(pa.float64())  # fail early: failing on the whole column is slow
        cast = column.cast(pa.float64())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        return None
    if cast.null_count:
        return None
    numbers = as_numpy(cast.combine_chunks())
    return None if np.isnan(numbers).any() else numbers


def _stay_distinct(column: Any) -> bool:
    """Tell whether different decimals of a column are different as floats, too."""
    pa = pyarrow()
    from pyarrow import compute as pc

    if not pa.types.is_decimal(column.type) or column.type.precision <= EXACT_DIGITS:
        return True
    distinct = column.unique().drop_null()
    return len(distinct) == len(pc.unique(distinct.cast(pa.float64())))


def _amount_of_numbers(column: Any) -> tuple[int, int]:
    """Return the number of rows with a value, and of those with a number."""
    pa = pyarrow()
    from pyarrow import compute as pc

    kind = column.type.value_type if pa.types.is_dictionary(column.type) else column.type
    column = column.cast(kind).drop_null()
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        column = pc.utf8_trim_whitespace(_with_points(column))
        filled = pc.sum(pc.not_equal(column, "")).as_py()
        return filled or 0, pc.sum(pc.match_substring_regex(column, NUMBER)).as_py() or 0
    if not (pa.types.is_floating(kind) or pa.types.is_integer(kind) or pa.types.is_decimal(kind)):
        return len(column), 0
    there = len(column)
    if pa.types.is_floating(kind):
        there -= pc.sum(pc.is_nan(column)).as_py() or 0
    return there, there
