"""Match labels (names of classes and decisions), and encode columns of them as integer codes.

A column becomes codes into its few distinct values. Only this encoding reads every row of a user's
labels; all other checks, such as for unknown or missing labels, read the distinct values.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from difflib import get_close_matches
from math import isinf, isnan
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from stakes._core.alike import distinct_rows
from stakes.errors import InputError, InputTypeError, LabelError

Label = Hashable
Labels = tuple[Label, ...]

Cells = Literal["values", "typed", "text", "loose"]
"""Content of cells: Python values (arrays and frames), the types of a Parquet, Arrow or JSON file,
text (CSV and TSV files), or text whose case, spaces and punctuation do not count."""

MOST_DIGITS = 40
"""Largest number of digits of a whole decimal that is read as an integer."""

LONGEST_WHOLE = 1 << 10
"""Largest number of bits of an integer that can be a label; much longer ones have no text."""

BOOLEANS: dict[str, Label] = {"True": True, "False": False}
"""Booleans by their text in Python."""


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for "not known": None, NaN, NaT or pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # noqa: PLR0124 - only missing values differ from themselves
    except (TypeError, ValueError, ArithmeticError):  # pandas.NA is no bool, Decimal("sNaN") raises
        return True


def is_label(value: Any) -> bool:
    """Tell whether a value can be a label: text, a finite number, or a boolean.

    No other type has the same values in count files, in JSON and on all engines.
    """
    if isinstance(value, int):
        return value.bit_length() <= LONGEST_WHOLE
    return isinstance(value, str) or (isinstance(value, float) and not isinf(value))


def label_error(name: str, example: Any) -> LabelError:
    """Return the error that a value cannot be a label."""
    # Python refuses to write numbers of thousands of digits.
    long = isinstance(example, int) and not is_label(example)
    shown = f"a number of {example.bit_length()} bits" if long else repr(example)
    return LabelError(
        name,
        f"expected text or finite numbers as labels, got {shown} ({type(example).__name__}).",
        "Convert them to text, e.g. with astype(str).",
    )


def has_entries(value: Any) -> bool:
    """Tell whether a value has a length; a zero-dimensional array has ``__len__`` but no length."""
    return hasattr(value, "__len__") and getattr(value, "ndim", 1) != 0


def is_blank(value: Any) -> bool:
    """Tell whether a cell of a file is empty: no value, NaN, or only spaces."""
    return not value.strip() if isinstance(value, str) else is_missing(value)


def is_date(value: Any) -> bool:
    """Tell whether a value is a date, a point in time or a span of time."""
    return isinstance(value, date | timedelta | np.datetime64 | np.timedelta64)


def dates_error(name: str, example: Any) -> InputTypeError:
    """Return the error that dates cannot be labels: libraries represent them differently."""
    return InputTypeError(
        name,
        f"expected text or numbers as labels, got dates or times such as {example!r}.",
        "Convert them to text, e.g. with astype(str).",
    )


class LabelMatcher:
    """Matcher of values to labels, by the same rules for arrays, frames and files.

    - A value matches a label when Python finds the two equal: 1, 1.0 and True are one label, 1 and
      "1" are two. For arrays and frames this is the only rule.
    - In files, text may stand for a number and a number for text, because a CSV file holds only
      text. Spaces around a value do not count. Where a value and a label both read as numbers (see
      `number_in`), they are compared as numbers: "1", 1 and "1.0" are the same, "01" is not. A
      value that is spelt like a label matches that label; a value that could be two labels matches
      none. Matches by these rules are kept in `readings`, so that they can be reported.
    - In "loose" cells, "Fraud ", "FRAUD" and "fraud" are also the same, unless two labels differ
      only in this.
    - A missing value matches no label.

    Parameters
    ----------
    labels : tuple
        The labels.
    cells : {"values", "typed", "text", "loose"}, default "values"
        The source of the values; with "values", text never stands for a number.
    """

    def __init__(self, labels: Sequence[Label], cells: Cells = "values") -> None:
        self.labels: Labels = tuple(labels)
        self.readings: dict[Label, Label] = {}
        self._cells: Cells = cells
        self._places = {label: place for place, label in enumerate(self.labels)}
        self._by_text: dict[str, int] = {}
        self._by_number: dict[float, int] = {}
        self._by_folded: dict[str, int] = {}
        if cells == "loose":
            for label, place in self._places.items():
                key = folded(label)
                self._by_folded[key] = -1 if key in self._by_folded else place
        if cells != "values":
            self._by_text = {str(label): place for label, place in self._places.items()}
            for label, place in self._places.items():
                number = number_in(label)
                if number is not None:  # two labels may spell the same number, which is ambiguous
                    self._by_number[number] = -1 if number in self._by_number else place

    def find(self, value: Any) -> int:
        """Return the position of the label that a value matches; -1 if it matches none."""
        held = plain(value)
        place = self._places.get(held, -1)
        if place >= 0 or not self._by_text or is_blank(held):
            return place
        place = self._by_text.get(str(held).strip(), -1)
        if place < 0 and (number := number_in(held)) is not None:
            place = self._by_number.get(number, -1)
        if place < 0 and self._by_folded:
            place = self._by_folded.get(folded(held), -1)
        if place >= 0 and not self._is_spelt(held, self.labels[place]):
            self.readings[held] = self.labels[place]
        return place

    def knows(self, value: Any) -> bool:
        """Tell whether a value matches one of the labels."""
        return self.find(value) >= 0

    def _is_spelt(self, value: Any, label: Label) -> bool:
        """Tell whether a value is spelt like the label, so that it needs no note."""
        same_kind = isinstance(label, str) or self._cells in ("text", "loose")
        return same_kind and isinstance(value, str) and value.strip() == str(label)


# Meaning of text in files of predictions and of costs.

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)?(?:\.[0-9]+)?", re.ASCII)
_NO_NUMBER = re.compile(r"-?|-0?(?:\.0+)?", re.ASCII)


def number_in(value: Any) -> int | float | None:
    """Return the number that a value is, or reads as: "1.0" is 1, "0.50" is 0.5.

    None for text with a leading zero, such as "01" (a common form of codes), for "-0", for
    scientific notation such as "1e3", and for True and False.
    """
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return value
    text = str(value).strip()
    if not _NUMBER.fullmatch(text) or _NO_NUMBER.fullmatch(text):
        return None
    whole, _, decimals = text.partition(".")
    if decimals.strip("0"):
        return float(text)
    try:
        return int(whole or "0")
    except ValueError:  # thousands of digits
        return None


def folded(value: Any) -> str:
    """Return a value as lower-case text without spaces and punctuation; numbers unchanged."""
    text = str(plain(value)).strip()
    return text if is_number(text) else re.sub(r"[\W_]+", "", text).casefold() or text


def is_number(value: Any) -> bool:
    """Tell whether a value is a number, or text of one, but neither a boolean nor NaN."""
    try:
        return not isinstance(value, bool) and not isnan(float(value))
    except (TypeError, ValueError, OverflowError):
        return False


def text_reader(texts: Sequence[str]) -> Callable[[str], Label]:
    """Return the function that turns text into a label, given the texts of the classes.

    Classes that all read as whole numbers are numbers; classes that are all True or False are
    booleans. Any other text, such as the decision "ask", stays text.
    """
    if all(isinstance(number_in(text), int) for text in texts):
        return lambda text: number if isinstance(number := number_in(text), int) else text
    if all(text in BOOLEANS for text in texts):
        return lambda text: BOOLEANS.get(text, text)
    return str


def in_words_or_numbers(texts: Sequence[str]) -> list[Label]:
    """Return the labels that the texts of classes stand for, in their order; see `text_reader`."""
    stripped = [text.strip() for text in texts]
    return [*map(text_reader(stripped), stripped)]


def as_meant(labels: Sequence[Label]) -> Labels:
    """Return the labels that the classes of a file stand for, distinct and sorted."""
    if not any(isinstance(label, str) for label in labels):
        return in_order({_whole(label) for label in labels})
    texts = {str(label).strip() for label in labels}
    # Next to words, "1.0" is the same class as "1", but "1.10" may be another version than "1.1".
    wholes = {text: str(number_in(text)) for text in texts if isinstance(number_in(text), int)}
    once = {whole if (whole := wholes.get(text, text)) in texts else text for text in texts}
    return in_order(set(in_words_or_numbers(list(once))))


def _whole(label: Label) -> Label:
    return int(label) if isinstance(label, float) and label.is_integer() else label


def as_labels(labels: Any, name: str, *, distinct: bool = True) -> Labels:
    """Check that `labels` are valid and, unless `distinct` is False, distinct; return a tuple."""
    if isinstance(labels, set | frozenset | Mapping):
        raise InputTypeError(
            name,
            f"expected a sequence of labels such as ['no', 'yes'], got a {type(labels).__name__}, "
            "which has no order of its own.",
            "Pass a list.",
        )
    if (
        isinstance(labels, str | bytes)
        or not isinstance(labels, Iterable)
        or getattr(labels, "ndim", 1) == 0
    ):
        raise InputTypeError(
            name,
            f"expected a sequence of labels such as ['no', 'yes'], got {labels!r} "
            f"({type(labels).__name__}).",
        )
    values = list(labels)
    if not values:
        raise LabelError(name, "expected at least one label, got none.")
    return _checked(values, name, distinct=distinct)


def _checked(labels: list[Any], name: str, *, distinct: bool) -> Labels:
    values = []
    seen: set[Label] = set()
    for position, label in enumerate(labels):
        value = plain(label)
        if not _hashable(value):
            raise LabelError(
                name,
                f"the label at position {position} is {value!r} ({type(value).__name__}), which "
                "cannot be a label.",
                "Use text or numbers.",
            )
        if is_missing(value):
            raise LabelError(
                name,
                f"the label at position {position} is missing ({value!r}).",
                "Give every class a name.",
            )
        if is_date(label) or is_date(value):  # NumPy turns some dates into plain integers
            raise dates_error(name, label)
        if not is_label(value):
            raise label_error(name, value)
        if distinct and value in seen:
            raise LabelError(
                name,
                f"the label {value!r} occurs twice (again at position {position}).",
                "Give each label once.",
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
    """Check and return the classes and the decisions, which by default are the classes."""
    classes = as_labels(labels, "labels")
    return classes, classes if decisions is None else as_labels(decisions, "decisions")


def plain(value: Any) -> Any:
    """Return a NumPy or pyarrow scalar as a Python value, and a whole decimal as an integer.

    Databases return whole numbers as decimals. Decimals of more than `MOST_DIGITS` digits stay
    decimals: 1E+1000000 as an integer would take minutes.
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Decimal) and value.is_finite() and value.adjusted() < MOST_DIGITS:
        return int(value) if value == value.to_integral_value() else value
    return value.as_py() if hasattr(value, "as_py") else value


def label_array(labels: Labels) -> NDArray[Any]:
    """Return an array of labels, without NumPy's conversion of numbers to text."""
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
                "names", f"cannot rename the labels {listing(labels)}: {error}."
            ) from error
    for name in names:
        if name not in labels:
            raise LabelError(
                "names",
                f"{name!r} is not a label here; there are {listing(labels)}.{hint(name, labels)}",
            )
    return {label: names.get(label, label) for label in labels}


def in_order(labels: Iterable[Label]) -> Labels:
    """Sort labels; those of types that do not compare are sorted by the name of the type first."""
    values = list(labels)
    try:
        return tuple(sorted(values))  # type: ignore[type-var]
    except TypeError:
        return tuple(sorted(values, key=lambda value: (type(value).__name__, str(value))))


def occurring(found: Mapping[str, Sequence[Label]], stated: Labels = ()) -> Labels:
    """Return the labels that were found in columns, by name, sorted.

    A number and a text that reads as that number, or as its spelling, would become two classes,
    which nobody means who does not state both: they are an error.
    """
    every = {label: name for name, labels in found.items() for label in labels}
    texts: dict[Any, Label] = {}
    for label in (*every, *stated):
        if isinstance(label, str):
            number = number_in(label)
            texts[label if number is None else number] = label
    for label in (*every, *stated) if texts else ():
        for key in () if isinstance(label, str) else (label, str(label)):
            text = texts.get(key)
            if text is not None and not (label in stated and text in stated):
                raise _alike(text, label, every)
    return in_order(every)


def _alike(text: Label, other: Label, found: Mapping[Label, str]) -> LabelError:
    """Return the error that two labels differ in their type only."""
    names = [found.get(label, "decisions") for label in (text, other)]
    of_text, of_other = (f" of {name}" for name in names)
    return LabelError(
        ", ".join(dict.fromkeys(names)),
        f"the {type(text).__name__} {text!r}{of_text} and the {type(other).__name__} "
        f"{other!r}{of_other} would be two classes.",
        "Convert one of them before counting, e.g. with astype(str); or, if they are two classes, "
        "list all with labels=.",
    )


def union(first: Labels, second: Labels) -> Labels:
    """Return the union of the labels of two tables: in their order if it is the same, or sorted."""
    return first if first == second else occurring({"the first table": first, "the second": second})


def listing(labels: Sequence[Label], most: int = 10) -> str:
    """Format labels for a message."""
    shown = ", ".join(repr(label) for label in labels[:most])
    return shown if len(labels) <= most else f"{shown}, … ({len(labels)} in all)"


def hint(value: Label, known: Sequence[Label]) -> str:
    """Return a sentence on which known label was probably meant, or an empty text."""
    for label in known:
        if str(label) == str(value):
            names: Any = type(value).__name__
            if isinstance(value, bool):  # bool("False") is True
                names = {str(each): each for each in (True, False) if str(each) in known}
            return (
                f" The {type(label).__name__} {label!r} is known, the {type(value).__name__} "
                f"{value!r} is not: convert one of them, e.g. with costs.relabel({names})."
            )
    shown = {str(label): label for label in known}
    near = get_close_matches(str(value), shown, n=1)
    return f" Did you mean {shown[near[0]]!r}?" if near else ""


# Columns of labels as integer codes.

CHUNK = 1 << 16
"""Number of rows to process at a time, so that they stay in the cache and memory is bounded."""

SMALL_RANGE = 256
"""Bound on the span of whole numbers that serve as their own codes, or fit into a byte."""

FAR = 1 << 31
"""Largest distance from zero of numbers that are codes; others are shifted to avoid overflow."""

MOST_LABELS = 1 << 12
"""Largest number of different labels of a column; more would be scores or identifiers."""

EXACT = 2**53
"""Size from which floats may be rounded whole numbers."""


@dataclass(frozen=True, eq=False)
class Column:
    """Column of labels as codes: row r holds ``values[codes[r] - offset]``.

    Where a row stands for many examples, as in a table that an engine has grouped, `repeats` is
    their number, and messages do not give row numbers.
    """

    name: str
    codes: NDArray[Any]
    offset: int
    values: Sequence[Label]
    repeats: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.codes)

    def used(self) -> NDArray[np.bool_]:
        """Return which of the values occur."""
        used = np.zeros(len(self.values), dtype=bool)
        for chunk in self.chunks():
            used[chunk] = True
            if used.all():  # with few values, usually after the first chunk
                break
        return used

    def present(self, used: NDArray[np.bool_]) -> list[Label]:
        """Return the used values."""
        places = np.flatnonzero(used)
        if isinstance(self.values, range):
            start = self.values.start
            return [start + place for place in places.tolist()]
        return [self.values[index] for index in places.tolist()]

    def chunks(self) -> Iterator[NDArray[np.intp]]:
        """Iterate over the codes without their offset, a chunk of rows at a time."""
        for start in range(0, len(self), CHUNK):
            yield np.subtract(self.codes[start : start + CHUNK], self.offset, dtype=np.intp)

    def compressed(self) -> Column:
        """Return the column with only the values that occur."""
        used = self.used()
        if used.all():
            return self
        values = self.present(used)
        dense = (np.cumsum(used) - 1).astype(np.min_scalar_type(len(values) - 1))
        return Column(self.name, self.looked_up(dense), 0, values, self.repeats)

    def looked_up(self, table: NDArray[Any]) -> NDArray[Any]:
        """Return the entry of `table` for each row."""
        found = np.empty(len(self), dtype=table.dtype)
        for start, chunk in zip(range(0, len(self), CHUNK), self.chunks(), strict=True):
            found[start : start + CHUNK] = table[chunk]
        return found

    def positions(
        self, used: NDArray[np.bool_], labels: Sequence[Label], what: str
    ) -> NDArray[np.intp]:
        """Return the positions of the used values in the labels; -1 for values not used."""
        if labels is self.values:
            return np.arange(len(labels))
        matcher = LabelMatcher(labels)
        occurring = np.flatnonzero(used)
        found = np.full(len(self.values), -1, dtype=np.intp)
        found[occurring] = [matcher.find(self.values[index]) for index in occurring.tolist()]
        strange = occurring[found[occurring] < 0]
        if len(strange):
            raise self._unknown(strange, labels, what)
        return found

    def _unknown(self, strange: NDArray[np.intp], labels: Sequence[Label], what: str) -> LabelError:
        rows = np.flatnonzero(np.isin(self.codes, np.add(strange, self.offset)))
        value = self.values[int(self.codes[rows[0]]) - self.offset]
        if self.repeats is None:
            where = f" at position {rows[0]}"
            where += f" (the first of {len(rows)})" if len(rows) > 1 else ""
        else:
            many = self.repeats[rows].sum()
            where = f" ({many} such rows)" if many > 1 else ""
        return LabelError(
            self.name,
            f"the label {value!r}{where} is not among the {what}: "
            f"{listing(labels)}.{hint(value, labels)}",
        )


def label_codes(values: Any, name: str, labels: Sequence[Label], what: str) -> NDArray[np.intp]:
    """Return the position of each row's label in `labels`."""
    column = as_column(values, name)
    return column.looked_up(column.positions(column.used(), labels, what))


def as_column(values: Any, name: str, most: int | None = MOST_LABELS) -> Column:
    """Encode labels that a user passes in; missing labels are an error.

    More than `most` different labels are also an error; None stands for no limit.
    """
    codes = getattr(getattr(values, "cat", values), "codes", None)
    categories = getattr(getattr(values, "dtype", None), "categories", None)
    if codes is not None and categories is not None:  # a pandas Categorical, or a Series of them
        return _from_categories(np.asarray(codes), list(categories), name, most)
    array = _as_array(values, name)
    if array.ndim != 1:
        raise InputError(
            name,
            "expected one label an example (a one-dimensional array), got an array of shape "
            f"{array.shape}.",
            "For probabilities, decide first: costs.decide(proba).",
        )
    if not len(array):
        raise InputError(name, "expected at least one example, got none.")
    kind = array.dtype.kind
    if kind == "b":
        return Column(name, array.view(np.uint8), 0, (False, True))
    if kind in "mM":
        _refuse_dates(array, name)
    if kind == "f":
        return _from_floats(array, name, most)
    if kind in "iu":
        return _from_integers(array, name, most)
    if kind == "S":
        raise label_error(name, array[0].item())
    code = _from_sorted if kind == "U" else _from_objects
    return code(array, name, most)


def _as_array(values: Any, name: str) -> NDArray[Any]:
    if (
        values is None
        or isinstance(values, str | bytes | dict | set | frozenset)
        or not hasattr(values, "__len__")
    ):
        raise InputTypeError(
            name,
            f"expected one label an example, e.g. an array or a list; got {values!r} "
            f"({type(values).__name__}).",
        )
    if getattr(values, "nlevels", 1) > 1:  # a pandas MultiIndex
        raise InputError(
            name,
            f"expected one label an example, got {values.nlevels}.",
            "Choose a level: get_level_values(0).",
        )
    if isinstance(values, list | tuple) and len(values) and hasattr(values[0], "as_py"):
        values = [plain(value) for value in values]  # NumPy reads pyarrow's text as sequences
    if np.ma.isMaskedArray(values) and (masked := np.ma.getmaskarray(values)).any():
        raise _missing(name, int(np.argmax(masked)), int(masked.sum()), "masked")
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise InputError(
            name, "expected one label an example, got entries of different lengths."
        ) from error
    if isinstance(values, list | tuple) and _altered(array):
        objects = np.empty(len(values), dtype=object)
        objects[:] = values
        return objects
    return array


def _altered(array: NDArray[Any]) -> bool:
    """Tell whether NumPy may have changed the labels of a list.

    It converts ["a", 1, nan] to text, and whole numbers that no single integer type holds to
    floats.
    """
    if array.ndim != 1:
        return False
    return array.dtype.kind in "US" or (
        array.dtype.kind == "f" and not bool((np.abs(array) < EXACT).all())
    )


def _refuse_dates(array: NDArray[Any], name: str) -> None:
    unknown = np.isnat(array)
    if unknown.any():
        raise _missing(name, int(np.argmax(unknown)), int(unknown.sum()), "NaT")
    raise dates_error(name, array[0])


def _from_categories(
    codes: NDArray[Any], categories: list[Label], name: str, most: int | None
) -> Column:
    if not len(codes):
        raise InputError(name, "expected at least one example, got none.")
    if codes.min() < 0:
        absent = codes < 0
        raise _missing(name, int(np.argmax(absent)), int(absent.sum()), "missing")
    column = Column(name, codes, 0, categories)
    if len(categories) > (MOST_LABELS if most is None else most) or _strange(categories):
        column = column.compressed()  # unused categories may be very many, and of any type
        _check_few(column.values, name, most)
        if strange := _strange(column.values):
            problem = dates_error if is_date(strange[0]) else label_error
            raise problem(name, strange[0])
    return column


def _strange(values: Sequence[Any]) -> list[Any]:
    """Return the values that cannot be labels."""
    return [each for each in values if is_date(each) or not is_label(plain(each))]


def _from_floats(array: NDArray[Any], name: str, most: int | None) -> Column:
    """Encode floats; whole numbers become integers, as missing values may have made them floats."""
    low, high = map(float, _ends(array))
    if np.isnan(low):
        missing = np.isnan(array)
        raise _missing(name, int(np.argmax(missing)), int(missing.sum()), "nan")
    chunks = (array[start : start + CHUNK] for start in range(0, len(array), CHUNK))
    if max(-low, high) == np.inf:
        raise label_error(name, low if low == -np.inf else high)
    if max(-low, high) >= EXACT or not all((np.floor(chunk) == chunk).all() for chunk in chunks):
        return _from_sorted(array, name, most)
    if high - low < SMALL_RANGE:
        return _moved(array, name, range(int(low), int(high) + 1))
    column = _from_sorted(array, name, most)
    return replace(column, values=[int(cast(float, value)) for value in column.values])


def _from_integers(array: NDArray[Any], name: str, most: int | None) -> Column:
    low, high = map(int, _ends(array))
    # Without a limit (groups), the numbers themselves are codes, unless they lie far apart.
    mixes = array.dtype.kind == "i" or array.dtype.itemsize < 8  # noqa: PLR2004 - no uint64
    near = mixes and abs(low) <= FAR
    if high - low >= SMALL_RANGE:
        if most is None and near and high - low < 4 * len(array):
            return Column(name, array, low, range(low, high + 1))
        return _from_sorted(array, name, most)
    if not near:
        return _moved(array, name, range(low, high + 1))
    return Column(name, array, low, range(low, high + 1))


def _ends(array: NDArray[Any]) -> tuple[Any, Any]:
    """Return the minimum and the maximum, both computed while a chunk of rows is in the cache."""
    chunks = [array[start : start + CHUNK] for start in range(0, len(array), CHUNK)]
    ends = [(chunk.min(), chunk.max()) for chunk in chunks]
    low, high = zip(*ends, strict=True)
    return np.min(low), np.max(high)


def _moved(array: NDArray[Any], name: str, values: range) -> Column:
    """Encode whole numbers of small span by their distance from the least one, in a byte."""
    least = array.dtype.type(values[0])
    codes = np.empty(len(array), dtype=np.uint8)
    for start in range(0, len(array), CHUNK):
        codes[start : start + CHUNK] = array[start : start + CHUNK] - least
    return Column(name, codes, 0, values)


def _from_sorted(array: NDArray[Any], name: str, most: int | None) -> Column:
    """Encode numbers or fixed-width text by binary search in the values found so far."""
    known = np.unique(array[:CHUNK])
    if _many(known, name, most):
        return _from_unique(array, name)
    codes = np.empty(len(array), dtype=np.int16)
    chunks = [slice(start, start + CHUNK) for start in range(0, len(array), CHUNK)]
    recode = False
    for rows in chunks:
        fresh = _search(known, array[rows], codes[rows])
        if fresh.any():
            known = np.union1d(known, array[rows][fresh])
            if _many(known, name, most):
                return _from_unique(array, name)
            recode = True  # inserting values shifts the codes
    if recode:
        for rows in chunks:
            _search(known, array[rows], codes[rows])
    return Column(name, codes, 0, known.tolist())


def _many(known: NDArray[Any], name: str, most: int | None) -> bool:
    """Tell whether values are too many to merge chunk by chunk, which would be slow."""
    _check_few(known, name, most)
    return len(known) > MOST_LABELS


def _search(
    known: NDArray[Any], chunk: NDArray[Any], codes: NDArray[np.int16]
) -> NDArray[np.bool_]:
    """Write the codes of a chunk, and return which of its values are not known."""
    codes[:] = np.searchsorted(known, chunk)
    np.minimum(codes, len(known) - 1, out=codes)
    return np.asarray(known[codes] != chunk)


def _from_unique(array: NDArray[Any], name: str) -> Column:
    """Encode many different values by hashing, which is faster than sorting all rows."""
    rows, codes = distinct_rows(array)
    values, places = np.unique(array[rows], return_inverse=True)
    return Column(name, places[codes], 0, values.tolist())


class _Index(dict[Any, int]):
    """Numbers of values in the order of their first use; scalars count as the values they hold."""

    def __init__(self) -> None:
        self.values_met: list[Any] = []

    def __missing__(self, value: Any) -> int:
        held = plain(value)
        if held is value or is_date(value):
            code = len(self.values_met)
            self.values_met.append(value)
        else:
            code = self[held]
        self[value] = code
        return code


def _from_objects(array: NDArray[Any], name: str, most: int | None) -> Column:
    codes = np.empty(len(array), dtype=np.int32 if most is None else np.int16)
    index = _Index()
    for start in range(0, len(array), CHUNK):
        chunk = array[start : start + CHUNK].tolist()
        checked = len(index.values_met)
        try:
            found = np.fromiter(map(index.__getitem__, chunk), dtype=np.int32, count=len(chunk))
        except TypeError as error:
            raise InputTypeError(name, f"expected text or numbers as labels: {error}.") from error
        fresh = index.values_met[checked:]
        if any(map(is_missing, fresh)):
            absent = [row for row, label in enumerate(array.tolist()) if is_missing(plain(label))]
            raise _missing(name, absent[0], len(absent), repr(plain(array[absent[0]])))
        if (dates := next(filter(is_date, fresh), None)) is not None:
            raise dates_error(name, dates)
        if not all(map(is_label, fresh)):
            raise label_error(name, next(each for each in fresh if not is_label(each)))
        _check_few(index.values_met, name, most)
        codes[start : start + CHUNK] = found
    return Column(name, codes, 0, index.values_met)


def _check_few(values: Sequence[Any] | NDArray[Any], name: str, most: int | None) -> None:
    if most is not None and len(values) > most:
        raise InputError(
            name,
            f"{len(values)} different labels are too many to tabulate (met so far, e.g. "
            f"{plain(values[0])!r}; at most {most}). Are these scores or identifiers?",
            "Pass the decided classes.",
        )


def _missing(name: str, row: int, how_many: int, what: str) -> LabelError:
    return LabelError(
        name,
        f"the label at position {row} is missing ({what}; {how_many} in all).",
        "Leave out the examples that have no label, or give them one.",
    )
