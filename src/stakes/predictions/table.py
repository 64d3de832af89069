"""What a table of predictions can be asked, in whichever form its rows are, and how it is read.

There are three forms: `ArrowTable` has its rows in memory as Arrow, `ShardedTable` reads them from
many files, and `ArrayTable` has arrays. Finding the parts of columns, deciding and counting know
only the protocol.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import MOST_LABELS, Cells, Column, Label, LabelMatcher, Labels
from stakes._core.typing import Floats
from stakes.errors import InputError, LabelError

Codes = NDArray[np.signedinteger]


@dataclass(frozen=True)
class Reading:
    """How cells are read, where that is not as they are written.

    Attributes
    ----------
    ignore_case : bool
        Whether labels that differ in case, spaces and punctuation alone are the same.
    drop_missing : bool
        Whether rows that lack a value in one of the columns in use are left out.
    lower_is_positive : tuple of str
        Columns of scores of which low ones speak for the positive class.
    """

    ignore_case: bool = False
    drop_missing: bool = False
    lower_is_positive: tuple[str, ...] = ()


AS_WRITTEN = Reading()


@dataclass(frozen=True)
class DesignColumns:
    """The columns that tell how rows came, and what a mistake costs for each; never guessed.

    Attributes
    ----------
    groups : str or None
        The group of each row, such as a patient, where those of a group are not independent.
    sample_weight : str or None
        The weight of each row: one over the probability of its being in the sample.
    strata : str or None
        The stratum that each row was drawn from. The column with the actual classes says that their
        numbers were fixed.
    false_positive, false_negative : str or None
        What a false alarm, and a miss, costs for each row.
    """

    groups: str | None = None
    sample_weight: str | None = None
    strata: str | None = None
    false_positive: str | None = None
    false_negative: str | None = None

    def used(self) -> dict[str, str]:
        """Return the columns that there are, by the part that they play."""
        return {name: column for name, column in vars(self).items() if column is not None}

    def in_words(self) -> list[str]:
        """Say what each column is taken for."""
        what = {
            "groups": "Rows with the same {!r} are one group",
            "sample_weight": "The weights are in the column {!r}",
            "strata": "The strata are in the column {!r}",
            "false_positive": "What a false alarm costs is in the column {!r}",
            "false_negative": "What a miss costs is in the column {!r}",
        }
        return [f"{what[name].format(column)}." for name, column in self.used().items()]


NO_DESIGN = DesignColumns()


@dataclass(frozen=True)
class Columns:
    """The columns that were named; what was not is guessed, except those of the design.

    Attributes
    ----------
    actual : str or None
        The column with the actual classes.
    models, scores : sequence of str
        The columns with decisions and with scores.
    key : str or None
        The column that names an example, to join files on.
    design : DesignColumns
        The columns of groups, weights, strata and costs.
    model_column : str or None
        The column that names the model of each row, in a table with a row for each example and
        model.
    reading : Reading
        How cells are read.
    table, query : str or None
        Which rows of a database: those of a table, or those that a query selects.
    divides : tuple of str
        Columns that divide the rows, such as into regions and months; none of them is a model.
    """

    actual: str | None = None
    models: Sequence[str] = ()
    scores: Sequence[str] = ()
    key: str | None = None
    design: DesignColumns = NO_DESIGN
    model_column: str | None = None
    reading: Reading = AS_WRITTEN
    table: str | None = None
    query: str | None = None
    divides: tuple[str, ...] = ()


@dataclass(frozen=True)
class Frequent:
    """The frequent values of a column that may have any number of others.

    Every value of more than one row in `MOST_LABELS` is among them, after additions too; the rows
    of each are at most that share too few (Misra and Gries).

    Attributes
    ----------
    filled : int
        How many rows have a value.
    rows : mapping
        From each value to how many rows have it.
    """

    filled: int = 0
    rows: Mapping[Any, int] = field(default_factory=dict)

    def __add__(self, other: Frequent) -> Frequent:
        """Put the values of more rows together with these."""
        rows = Counter(self.rows)
        rows.update(other.rows)
        least = sorted(rows.values(), reverse=True)[MOST_LABELS] if len(rows) > MOST_LABELS else 0
        kept = {value: count - least for value, count in rows.items() if count > least}
        return Frequent(self.filled + other.filled, kept)


class Batch(Protocol):
    """Rows that are in memory together."""

    @property
    def source(self) -> str:
        """What messages call the rows: the name of a file, or of the arrays."""

    def codes(self, name: str, matcher: LabelMatcher, what: str, advice: str = "") -> Codes:
        """Return the position of each row's label among those of the matcher.

        Parameters
        ----------
        name : str
            The column.
        matcher : LabelMatcher
            Knows the labels.
        what : str
            What they are, "classes" or "decisions", for errors.
        advice : str, optional
            What to do about a value that is none of them.
        """

    def scores(self, name: str, what: str = "score") -> Floats:
        """Return a column of numbers, none of them missing.

        Parameters
        ----------
        name : str
            The column.
        what : str, default "score"
            What they are, for errors.
        """

    def names(self, name: str) -> Column:
        """Return a column of names, such as those of groups, of which there may be any number."""

    @property
    def commas(self) -> Collection[str]:
        """The columns of numbers in which commas were read as decimal points."""


class Table(Protocol):
    """All rows of predictions, whose columns are taken by name."""

    @property
    def source(self) -> str:
        """What messages call the rows: the name of a file, or of the arrays."""

    @property
    def cells(self) -> Cells:
        """What its cells hold, on which it depends when text stands for numbers."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""

    def labels(self, name: str) -> list[Label]:
        """Return the distinct labels of a column, which must not have too many or missing ones."""

    def values(self, name: str) -> list[Any] | None:
        """Return the distinct values of a column; nothing where they cannot be labels.

        They cannot if there are too many of them, or several in a row.
        """

    def amounts(self, name: str, among: Collection[Any]) -> tuple[int, int]:
        """Return how many rows have a value, and how many have one of those given."""

    def frequent(self, name: str, *, whole: bool = True) -> Frequent:
        """Return the frequent values of a column of text, however many others it has.

        Parameters
        ----------
        name : str
            The column.
        whole : bool, default True
            Whether all rows are looked at, or only the first.
        """

    def numeric(self, name: str) -> bool:
        """Tell whether at least half of a column's values, of those that are there, are numbers.

        The others are errors where the numbers are used.
        """

    def numbers(self, name: str) -> tuple[int, int]:
        """Return how many rows of a column of text have a value, and how many have a number.

        Of one that has words for the most part, this may be of its first rows.
        """

    def score_range(self, name: str) -> tuple[float, float]:
        """Return the lowest and the highest number of a column; cells without one do not count."""

    def repeats(self, name: str) -> bool:
        """Tell whether a value of a column is known to occur in several rows."""

    def complete(self, columns: Sequence[str], labels: Labels = ()) -> Self:
        """Return the rows that have a value in each of these columns; labels are values."""

    @property
    def dropped(self) -> int:
        """How many rows were left out because a value was missing, as far as rows were read."""

    @property
    def lacking(self) -> Mapping[str, int]:
        """In how many of these rows, but for those without a class, each column had no value."""

    @property
    def reading(self) -> Reading:
        """How cells are read."""

    @property
    def grouping(self) -> str | None:
        """The column of groups that the file itself states, as logs do of repeated samples."""

    @property
    def renamed(self) -> Mapping[str, tuple[str, ...]]:
        """By column of a table in long form, the columns that models have in its place."""

    @property
    def notes(self) -> tuple[str, ...]:
        """What was done to the rows before, in sentences."""

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Iterate over the rows, with these columns: all at once where they are in memory."""


def check_columns(table: Table, names: Sequence[str | None]) -> None:
    """Raise when there is no such column; None stands for no name."""
    for name in names:
        if name is not None and name not in table.columns:
            raise unknown_column(name, table.columns, table.source)


def unknown_column(name: str, columns: Sequence[str], source: str) -> InputError:
    """Say that there is no such column, and which one may be meant."""
    close = get_close_matches(name, columns, n=1)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    there = ", ".join(map(repr, columns[:20]))
    return InputError(source, f"there is no column {name!r}; there are {there}.{meant}")


def too_many_labels(source: str, name: str, many: str) -> LabelError:
    """Say that a column has so many different values that they cannot be classes."""
    return LabelError(
        f"{source}, column {name!r}",
        f"{many} different values are too many to be classes. Is it a column of scores or "
        "identifiers?",
    )


def mostly(filled: int, such: int) -> bool:
    """Tell whether at least half of the rows that have a value, and one at all, have such a one."""
    return such > 0 and filled <= 2 * such
