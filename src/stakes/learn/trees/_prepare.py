"""Training rows and queries in the form of the compiled code: codes, sorted once for all bags."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from itertools import repeat
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from stakes._core.labels import listing
from stakes.errors import InputError, InputTypeError, MissingExtraError

FROM_DTYPE = "from_dtype"
_NUMBERS = (Real, Decimal, np.bool_)


@dataclass(frozen=True)
class Column:
    """One feature: its values, where they are missing, and whether its type makes it discrete."""

    name: str
    values: NDArray[Any]
    missing: NDArray[np.bool_]
    discrete: bool

    def numbers(self) -> NDArray[np.float64]:
        """Return the values as numbers, NaN where they are missing."""
        known = self.values[~self.missing]
        if _has_others(known):
            other = next(value for value in known.tolist() if not isinstance(value, _NUMBERS))
            raise InputError(
                "X",
                f"the feature {self.name!r} was expected to have numbers, got {other!r}.",
                "Name it among the categorical_features, or turn its values into numbers.",
            )
        out = np.full(len(self.values), np.nan)
        out[~self.missing] = known.astype(np.float64)
        if np.isinf(out).any():
            raise InputError(
                "X",
                f"the feature {self.name!r} contains infinity at position "
                f"{np.isinf(out).argmax()}.",
                "Leave the value missing (NaN), or put a large number.",
            )
        return out

    def index(self) -> dict[Any, int]:
        """Return the distinct values, numbered in the order in which they appear."""
        with self._explained():
            different = dict.fromkeys(self.values[~self.missing].tolist())
        return {value: code for code, value in enumerate(different)}

    def codes(self, index: dict[Any, int]) -> NDArray[np.int64]:
        """Return the numbers of the values; -1 for missing values and those without a number."""
        with self._explained():
            found = map(index.get, self.values.tolist(), repeat(-1))
            codes = np.fromiter(found, np.int64, len(self.values))
        codes[self.missing] = -1
        return codes

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Explain values that cannot be looked up."""
        try:
            yield
        except TypeError as error:
            raise InputTypeError(
                "X",
                f"the feature {self.name!r}: each argument must be a string or a number, got "
                f"something else ({error}).",
                "Turn lists and dictionaries into columns of their own.",
            ) from error


def read_columns(estimator: Any, X: Any, *, reset: bool) -> list[Column]:
    """Check X, and that it has the features of the training data; return its columns."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame) and min(frame.shape):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return list(_of_frame(frame))
    given = _with_texts(X) if isinstance(X, list | tuple) else X
    array = validate_data(estimator, given, reset=reset, dtype=None, ensure_all_finite="allow-nan")
    return list(_of_array(array, getattr(estimator, "feature_names_in_", None)))


def row_columns(x: Any, names: NDArray[Any] | None, expected: int) -> list[Column]:
    """Return the columns of a single row, given as its values."""
    if names is not None and hasattr(x, "index") and hasattr(x, "to_numpy"):  # a pandas Series
        absent = [name for name in names if name not in x.index]
        if absent:
            raise InputError(
                "x",
                f"the feature {absent[0]!r} is not among its names.",
                "Give a value for each feature of the training data, missing ones as NaN.",
            )
        x = [x[name] for name in names]
    values = list(x)
    if len(values) != expected:
        raise InputError(
            "x",
            f"expected one row of {expected} features, as in the training data, got {len(values)} "
            "values.",
        )
    array = np.empty((1, expected), dtype=object)
    array[0] = values
    return list(_of_array(array, names))


def discrete_columns(columns: list[Column], chosen: Any, names: Any) -> NDArray[np.bool_]:
    """Return which columns are discrete, by `categorical_features`."""
    if isinstance(chosen, str) and chosen == FROM_DTYPE:
        return np.array([column.discrete for column in columns])
    given = np.asarray([] if chosen is None else chosen)
    discrete = np.zeros(len(columns), dtype=bool)
    if given.size == 0:
        return discrete
    if given.ndim != 1 or given.dtype.kind not in "biuUO":
        raise InputError(
            "categorical_features",
            "expected 'from_dtype', None, or a list of the indices or names of features, or a "
            f"mask with a boolean for each; got {chosen!r}.",
        )
    if given.dtype.kind == "b" and len(given) != len(columns):
        raise InputError(
            "categorical_features",
            f"a mask needs a boolean for each of the {len(columns)} features, got {len(given)}.",
        )
    discrete[given if given.dtype.kind == "b" else _places(given, len(columns), names)] = True
    return discrete


def _places(given: NDArray[Any], total: int, names: Any) -> list[int]:
    """Return the places of features that are given by index or name."""
    if given.dtype.kind in "iu":
        wrong = given[(given < 0) | (given >= total)]
        if len(wrong):
            raise InputError(
                "categorical_features", f"expected indices from 0 to {total - 1}, got {wrong[0]}."
            )
        return list(given)
    if names is None:
        raise InputError(
            "categorical_features",
            f"got the name {given.tolist()[0]!r}, but the features of X have no names.",
            "Pass a data frame, or indices.",
        )
    known = list(names)
    unknown = [name for name in given.tolist() if name not in known]
    if unknown:
        raise InputError(
            "categorical_features",
            f"{unknown[0]!r} is not among the features of X, which are {listing(tuple(known))}.",
        )
    return [known.index(name) for name in given.tolist()]


def _of_frame(frame: nw.DataFrame[Any]) -> Iterator[Column]:
    for series in frame.iter_columns():
        name, kind = str(series.name), series.dtype
        if kind.is_temporal():
            raise InputError(
                "X",
                f"the feature {name!r} has times ({kind}), but tests are on numbers and "
                "categories.",
                "Turn it into numbers, such as days, or into texts.",
            )
        values, missing = series.to_numpy(), series.is_null().to_numpy().astype(bool)
        discrete = isinstance(kind, nw.Categorical | nw.Enum | nw.String)
        yield _column(name, values, missing, discrete=discrete)


def _of_array(array: NDArray[Any], names: Any) -> Iterator[Column]:
    for place in range(array.shape[1]):
        name = f"feature_{place}" if names is None else str(names[place])
        values = array[:, place]
        missing = np.zeros(len(values), dtype=bool)
        if values.dtype.kind == "O":
            missing = np.asarray(values == None, dtype=bool)  # noqa: E711 - for each value
        yield _column(name, values, missing, discrete=values.dtype.kind in "US")


def _column(
    name: str, values: NDArray[Any], missing: NDArray[np.bool_], *, discrete: bool
) -> Column:
    if values.dtype.kind == "f":
        missing = missing | np.isnan(values)
    elif values.dtype.kind == "O":
        known = values[~missing]
        missing = missing.copy()
        missing[~missing] = np.not_equal(known, known).astype(bool)  # NaN among texts
        discrete = discrete or _has_others(values[~missing])
    return Column(name, values, missing, discrete)


def _has_others(values: NDArray[Any]) -> bool:
    """Return whether some values are not numbers."""
    if values.dtype.kind in "biuf":
        return False
    return not all(issubclass(kind, _NUMBERS) for kind in set(map(type, values.tolist())))


def _with_texts(rows: Any) -> Any:
    """Return lists as an array that keeps numbers beside texts as they are."""
    try:
        mixed = np.asarray(rows).dtype.kind in "US"
    except ValueError:  # rows of different lengths, which the check explains
        return rows
    return np.array(rows, dtype=object) if mixed else rows


MOST = 0xFFFF
"""Maximum number of features, and of classes.

An entry has 16 bits for its class and for its weight, and a gain has 16 bits for its attribute.
"""

MISSING = -1

NO_RANK = (1 << 31) - 1
"""Rank of missing values and of values that are not numbers; there are never so many ranks."""


@dataclass(frozen=True)
class Attribute:
    """Distinct values of a feature: sorted numbers, or an index from values to codes."""

    name: str
    numbers: NDArray[np.float64] | None
    index: dict[Any, int] | None

    @property
    def discrete(self) -> bool:
        """Whether the values are categories without an order."""
        return self.index is not None

    def __len__(self) -> int:
        return len(self.index if self.numbers is None else self.numbers)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Queries:
    """Queries: numbers as they are, other values as codes, and the ranks of numbers.

    The rank of a number is twice the code of an equal one in the training rows; between two of
    them, it is between theirs.
    """

    values: NDArray[np.float64]
    ranks: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.values)

    def part(self, start: int, end: int) -> Queries:
        """Return the queries from `start` up to `end`."""
        return Queries(self.values[start:end], self.ranks[start:end])


@dataclass(frozen=True)
class Table:
    """The training rows: codes [attribute, row], the rows in each attribute's order, classes."""

    attributes: tuple[Attribute, ...]
    codes: NDArray[np.int32]
    order: NDArray[np.int32]
    classes: NDArray[np.int64]
    n_classes: int

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return len(self.classes)

    @property
    def any_discrete(self) -> bool:
        """Whether an attribute is discrete."""
        return any(attribute.discrete for attribute in self.attributes)

    @property
    def most_values(self) -> int:
        """The largest number of distinct values of an attribute."""
        return max(len(attribute) for attribute in self.attributes)

    @property
    def stride(self) -> int:
        """The distance between the keys of two adjacent attributes' tests."""
        return 2 * (self.most_values + 1)

    @property
    def missing(self) -> int:
        """The code of a missing value in a bag, higher than all others."""
        return self.most_values

    def queries(self, columns: list[Column]) -> Queries:
        """Return the queries with these columns."""
        out = np.empty((len(columns[0].values), len(columns)))
        for a, (attribute, column) in enumerate(zip(self.attributes, columns, strict=True)):
            if attribute.index is None:
                out[:, a] = column.numbers()
            else:
                out[:, a] = column.codes(attribute.index)
        return self._ranked(out)

    def _ranked(self, values: NDArray[np.float64]) -> Queries:
        ranks = np.full(values.shape, NO_RANK, np.int32)
        for a, attribute in enumerate(self.attributes):
            if attribute.numbers is not None:
                known = ~np.isnan(values[:, a])
                numbers = values[known, a]
                below = np.searchsorted(attribute.numbers, numbers)
                equal = below < np.searchsorted(attribute.numbers, numbers, side="right")
                ranks[known, a] = 2 * below - 1 + equal
        return Queries(values, ranks)

    def rows_as_queries(self, columns: NDArray[Any]) -> Queries:
        """Return the rows of a bag as queries, given their codes [attribute, row]."""
        out = np.empty(columns.shape[::-1])
        for a, (attribute, codes) in enumerate(zip(self.attributes, columns, strict=True)):
            missing = codes == self.missing
            if attribute.numbers is None:
                out[:, a] = np.where(missing, MISSING, codes)
            else:
                out[~missing, a] = attribute.numbers[codes[~missing]]
                out[missing, a] = np.nan
        return self._ranked(out)


def make_table(
    columns: list[Column], discrete: NDArray[np.bool_], classes: NDArray[Any], n_classes: int
) -> Table:
    """Return the table of the rows: the values of each column numbered, and the rows sorted."""
    for name, what, number in (
        ("X", "features", len(columns)),
        ("y", "classes", n_classes),
    ):
        if number > MOST:
            raise InputError(name, f"lazy trees take up to {MOST} {what}, got {number}.")
    n = len(classes)
    codes = np.empty((len(columns), n), np.int32)
    order = np.empty((len(columns), n), np.int32)
    attributes = []
    for a, column in enumerate(columns):
        if discrete[a]:
            index = column.index()
            attribute = Attribute(column.name, None, index)
            found = column.codes(index)
            codes[a] = np.where(found == MISSING, len(index), found)
        else:
            values = column.numbers()
            known = ~np.isnan(values)
            numbers, inverse = np.unique(values[known], return_inverse=True)
            attribute = Attribute(column.name, numbers, None)
            codes[a] = len(numbers)
            codes[a, known] = inverse
        attributes.append(attribute)
        order[a] = np.argsort(codes[a], kind="stable")
    return Table(tuple(attributes), codes, order, classes.astype(np.int64), n_classes)


def needs_numba() -> None:
    """Raise unless numba can be imported."""
    try:
        import numba  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "lazy trees need numba, which cannot be imported: pip install 'stakes[trees]'"
        ) from error
