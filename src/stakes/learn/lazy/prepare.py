"""Training rows and queries as the compiled code takes them: codes, sorted once for all bags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.errors import InputError, MissingExtraError
from stakes.learn.lazy.columns import Column

MOST = 0xFFFF
"""An entry has 16 bits for its class and for its weight, and a gain 16 for its attribute."""

SMALL = 65_000
"""Positions below this are stored in 16 bits, which leaves one to stand for none."""

LANES = 32
"""How many attributes the compiled code takes at once."""

HASH_SEED = 20_010_615
MISSING = -1

NO_RANK = (1 << 31) - 1
"""The rank of a missing value, and of one that is no number; there are never so many ranks."""


@dataclass(frozen=True)
class Attribute:
    """The different values of a feature: numbers in order, or what they are numbered by."""

    name: str
    numbers: NDArray[np.float64] | None
    index: dict[Any, int] | None

    @property
    def discrete(self) -> bool:
        """Whether values can only be told apart."""
        return self.index is not None

    def __len__(self) -> int:
        return len(self.index if self.numbers is None else self.numbers)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Queries:
    """What is asked: numbers as they are, other values by their codes, and the numbers' ranks.

    The rank of a number is twice the code of an equal one in the training rows; between two of
    them, it is between theirs.
    """

    values: NDArray[np.float64]
    ranks: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.values)

    def part(self, start: int, end: int) -> Queries:
        """Return those from one to another."""
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
        """How many rows there are."""
        return len(self.classes)

    @property
    def position_type(self) -> type[np.integer[Any]]:
        """The type of places in an attribute's order."""
        return np.uint16 if self.n_rows < SMALL else np.int32

    @property
    def any_discrete(self) -> bool:
        """Whether an attribute is discrete."""
        return any(attribute.discrete for attribute in self.attributes)

    @property
    def most_values(self) -> int:
        """The largest number of different values."""
        return max(len(attribute) for attribute in self.attributes)

    @property
    def stride(self) -> int:
        """How far apart the numbers of two attributes' tests are."""
        return 2 * (self.most_values + 1)

    @property
    def missing(self) -> int:
        """The code of a missing value in a bag, higher than all others."""
        return int(np.iinfo(self.position_type).max)

    @property
    def width(self) -> int:
        """How many attributes whole vectors hold."""
        return -(-len(self.attributes) // LANES) * LANES

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

    def rows_as_queries(self, bag: Any) -> Queries:
        """Return the rows of a bag as queries."""
        out = np.empty((len(bag.row_class), len(self.attributes)))
        for a, (attribute, codes) in enumerate(zip(self.attributes, bag.code, strict=True)):
            missing = codes == self.missing
            if attribute.numbers is None:
                out[:, a] = np.where(missing, MISSING, codes.astype(np.int64))
            else:
                out[~missing, a] = attribute.numbers[codes[~missing]]
                out[missing, a] = np.nan
        return self._ranked(out)

    def bag(self, counts: NDArray[Any]) -> Any:
        """Return the rows of a bag, which drew each so often, for the compiled code."""
        from stakes.learn.lazy.desk import Data

        drawn = counts > 0
        rows = np.flatnonzero(drawn)
        rows = rows[np.argsort(self.classes[rows], kind="stable")]
        size = len(rows)
        new = np.empty(self.n_rows, np.int64)
        new[rows] = np.arange(size)
        of_row = (counts.astype(np.int64) << 16) | self.classes
        attributes = len(self.attributes)
        position = np.empty((attributes, size), self.position_type)
        entry = np.empty((attributes, size), np.int64)
        known, tied = np.empty(attributes, np.int64), np.empty(attributes, bool)
        code = np.empty((attributes, size), self.position_type)
        places = np.arange(size)
        for a, attribute in enumerate(self.attributes):
            order = self.order[a]
            order = order[drawn[order]]
            codes = self.codes[a][order]
            position[a, new[order]] = places
            entry[a] = (codes.astype(np.int64) << 32) | of_row[order]
            known[a] = np.searchsorted(codes, len(attribute))
            codes = np.where(places < known[a], codes, self.missing)
            code[a, new[order]] = codes
            tied[a] = (codes[1:] == codes[:-1]).any()
        by_row = np.zeros((size, self.width), self.position_type)
        by_row[:, :attributes] = code.T
        values = [
            np.empty(0) if attribute.numbers is None else attribute.numbers
            for attribute in self.attributes
        ]
        hashes = np.random.default_rng(HASH_SEED).integers(-(1 << 63), 1 << 63, self.n_rows)
        return Data(
            code=code,
            codes=by_row,
            position=position,
            entry=entry,
            known=known,
            tied=tied,
            discrete=np.array([attribute.discrete for attribute in self.attributes]),
            value=np.concatenate([*values, np.empty(0)]),
            value_start=np.cumsum([0, *map(len, values)]),
            row_class=self.classes[rows].astype(np.int32),
            row_weight=counts[rows].astype(np.int32),
            row_hash=hashes[rows],
            stride=self.stride,
            missing=self.missing,
            plain=bool((known == size).all()) and not self.any_discrete,
        )


def make_table(
    columns: list[Column], discrete: NDArray[np.bool_], classes: NDArray[Any], n_classes: int
) -> Table:
    """Give the values of each column numbers, and sort the rows by them."""
    for name, what, number in (
        ("X", "features", len(columns)),
        ("y", "classes", n_classes),
    ):
        if number > MOST:
            raise InputError(f"{name}: lazy trees take up to {MOST} {what}, got {number}.")
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
    """Complain unless the code can be compiled."""
    try:
        import numba  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(
            "lazy trees need numba, which cannot be imported: pip install 'stakes[trees]'"
        ) from error
