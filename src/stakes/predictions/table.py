"""Protocols of tables of predictions, and the options for reading them.

There are three implementations: `ArrowTable` has its rows in memory as Arrow, `ShardedTable` reads
them from many files, and `ArrayTable` has arrays. Finding the roles of columns, deciding and
counting use only the protocols.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
    """Options for reading cells; by default, they are read as written.

    Attributes
    ----------
    ignore_case : bool
        Whether labels that differ only in case, spaces and punctuation are the same.
    drop_missing : bool
        Whether rows with a missing value in a used column are left out.
    lower_is_positive : tuple of str
        The columns of scores where low scores indicate the positive class.
    gated : bool
        Whether a gate may use the result: of columns that may be models, all rows are then read.
    """

    ignore_case: bool = False
    drop_missing: bool = False
    lower_is_positive: tuple[str, ...] = ()
    gated: bool = True


AS_WRITTEN = Reading()


@dataclass(frozen=True)
class DesignColumns:
    """The columns of the sampling design and of per-row costs, which are never guessed.

    Attributes
    ----------
    groups : str or None
        The group of each row, such as a patient; rows of a group are not independent.
    sample_weight : str or None
        The sampling weight of each row: the inverse of its inclusion probability.
    strata : str or None
        The stratum that each row was sampled from. The column of the actual classes means sampling
        stratified by class.
    false_positive, false_negative : str or None
        The cost of a false alarm and of a miss for each row.
    """

    groups: str | None = None
    sample_weight: str | None = None
    strata: str | None = None
    false_positive: str | None = None
    false_negative: str | None = None

    def used(self) -> dict[str, str]:
        """Return the columns that are set, by role."""
        return {name: column for name, column in vars(self).items() if column is not None}

    def in_words(self) -> list[str]:
        """Return a sentence on the role of each column."""
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
    """The columns that the user named; others are guessed, except those of the design.

    Attributes
    ----------
    actual : str or None
        The column with the actual classes.
    models, scores : sequence of str
        The columns with decisions and with scores; in "old=decision", "old" is the model's name,
        unless a column has that whole name.
    key : str or None
        The column of example ids, to join files on.
    design : DesignColumns
        The columns of groups, weights, strata and costs.
    model_column : str or None
        The column with the model of each row, in a table with a row for each example and model.
    reading : Reading
        The options for reading cells.
    table, query : str or None
        The database table, or the query, that selects the rows.
    divides : tuple of str
        The columns that divide the rows, such as region and month; none of them is a model.
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

    def mentions(self, name: str, *, only_scores: bool = False) -> bool:
        """Tell whether a column may be among `models` and `scores`, or only among the scores."""
        given = self.scores if only_scores else (*self.models, *self.scores)
        return any(name in (each, each.partition("=")[2].strip()) for each in given)

    def resolved(self, names: Collection[str]) -> tuple[Columns, dict[str, str]]:
        """Return them with columns alone as models and scores, and the models that were named.

        Parameters
        ----------
        names : collection of str
            All columns of the table.

        Returns
        -------
        columns : Columns
            The columns, with "decision" for "old=decision".
        owners : dict of str to str
            The model of each column that was given with a name: "old" of "decision".
        """
        owners: dict[str, str] = {}
        models = _resolved(self.models, names, owners, "models")
        scores = _resolved(self.scores, names, owners, "scores")
        return replace(self, models=models, scores=scores), owners


def _resolved(
    given: Sequence[str], names: Collection[str], owners: dict[str, str], argument: str
) -> tuple[str, ...]:
    """Return the columns in texts such as "old=decision", with their models added to `owners`.

    A text that is the whole name of a column is that column.
    """
    columns: dict[str, str] = {}  # by model, or by their own name
    for text in dict.fromkeys(given):
        model, _, column = (each.strip() for each in text.partition("="))
        if text in names or not (model and column):
            model, column = owners.get(text, text), text
        elif owners.setdefault(column, model) != model:
            raise InputError(
                argument,
                f"the column {column!r} is named as that of {owners[column]!r} and of {model!r}; "
                "it can be only one of them.",
            )
        if columns.setdefault(model, column) != column:
            raise InputError(
                argument,
                f"the model {model!r} has two columns here, {columns[model]!r} and {column!r}.",
                "Give each another name.",
            )
    return tuple(columns.values())


@dataclass(frozen=True)
class Frequent:
    """The frequent values of a column with any number of distinct values.

    Every value with a share of rows above 1 / `MOST_LABELS` is included, after additions too; the
    number of rows of each is too low by at most that share of all rows (Misra and Gries).

    Attributes
    ----------
    filled : int
        The number of rows with a value.
    rows : mapping
        The number of rows of each value.
    """

    filled: int = 0
    rows: Mapping[Any, int] = field(default_factory=dict)

    def __add__(self, other: Frequent) -> Frequent:
        """Add the values of more rows."""
        rows = Counter(self.rows)
        rows.update(other.rows)
        least = sorted(rows.values(), reverse=True)[MOST_LABELS] if len(rows) > MOST_LABELS else 0
        kept = {value: count - least for value, count in rows.items() if count > least}
        return Frequent(self.filled + other.filled, kept)


class Batch(Protocol):
    """Rows that are in memory together."""

    @property
    def source(self) -> str:
        """The name of the rows in messages, such as that of a file."""

    def codes(self, name: str, matcher: LabelMatcher, what: str, advice: str = "") -> Codes:
        """Return the position of each row's label among those of the matcher.

        Parameters
        ----------
        name : str
            The column.
        matcher : LabelMatcher
            The matcher with the labels.
        what : str
            The kind of labels, "classes" or "decisions", for errors.
        advice : str, optional
            The remedy for a value that is not a label.
        """

    def scores(self, name: str, what: str = "score") -> Floats:
        """Return a column of numbers, none of them missing.

        Parameters
        ----------
        name : str
            The column.
        what : str, default "score"
            The kind of numbers, for errors.
        """

    def names(self, name: str) -> Column:
        """Return a column of names, such as groups, any number of them distinct."""

    @property
    def commas(self) -> Collection[str]:
        """The columns of numbers in which commas were read as decimal points."""

    @property
    def points(self) -> Collection[str]:
        """The columns of text that were read as numbers with decimal points."""


class Table(Protocol):
    """A table of predictions, with columns by name."""

    @property
    def source(self) -> str:
        """The name of the rows in messages, such as that of a file."""

    @property
    def cells(self) -> Cells:
        """The kind of its cells, which determines when text stands for numbers."""

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""

    def labels(self, name: str) -> list[Label]:
        """Return the distinct labels of a column, which must not have too many or missing ones."""

    def values(self, name: str) -> list[Any] | None:
        """Return the distinct values of a column; None if they cannot be labels.

        They cannot if there are too many of them, or several values per row.
        """

    def amounts(self, name: str, among: Collection[Any]) -> tuple[int, int]:
        """Return the number of rows with a value, and of those with one of the given values."""

    def frequent(self, name: str, *, whole: bool = True) -> Frequent:
        """Return the frequent values of a column of text, however many others it has.

        Parameters
        ----------
        name : str
            The column.
        whole : bool, default True
            Whether all rows are read, or only the first.
        """

    def numeric(self, name: str) -> bool:
        """Tell whether at least half of a column's non-missing values are numbers.

        The others are errors when the numbers are used.
        """

    def numbers(self, name: str) -> tuple[int, int]:
        """Return the number of rows of a text column with a value, and of those with a number.

        If most values are words, only the first rows may be counted.
        """

    def score_range(self, name: str) -> tuple[float, float]:
        """Return the lowest and the highest number of a column, ignoring cells without a number."""

    def repeats(self, name: str) -> bool:
        """Tell whether a value of a column is known to occur in several rows."""

    def complete(self, columns: Sequence[str], labels: Labels = ()) -> Self:
        """Return the rows without missing values in these columns; a label is never missing."""

    @property
    def dropped(self) -> int:
        """The number of rows left out for missing values, among the rows read so far."""

    @property
    def lacking(self) -> Mapping[str, int]:
        """The number of rows with a class that lack a value, by column."""

    @property
    def reading(self) -> Reading:
        """The options for reading cells."""

    @property
    def grouping(self) -> str | None:
        """The column of groups that the file itself implies, as in logs of repeated samples."""

    @property
    def renamed(self) -> Mapping[str, tuple[str, ...]]:
        """The columns of the models that replace each column of a table in long form."""

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences on earlier changes to the rows."""

    def batches(self, columns: Sequence[str]) -> Iterator[Batch]:
        """Iterate over batches of rows with these columns; one batch if they are in memory."""


def check_columns(table: Table, names: Sequence[str | None]) -> None:
    """Raise an error for names of columns that do not exist; None is ignored."""
    for name in names:
        if name is not None and name not in table.columns:
            raise unknown_column(name, table.columns, table.source)


def unknown_column(name: str, columns: Sequence[str], source: str) -> InputError:
    """Return the error that there is no such column, with the closest name."""
    close = get_close_matches(name, columns, n=1)
    meant = f" Did you mean {close[0]!r}?" if close else ""
    there = ", ".join(map(repr, columns[:20]))
    return InputError(source, f"there is no column {name!r}; there are {there}.{meant}")


def too_many_labels(source: str, name: str, many: str) -> LabelError:
    """Return the error that a column has too many distinct values to be classes."""
    return LabelError(
        f"{source}, column {name!r}",
        f"{many} different values are too many to be classes. Is it a column of scores or "
        "identifiers?",
    )


def mostly(filled: int, such: int) -> bool:
    """Tell whether `such` rows are at least half of the `filled` rows, and at least one."""
    return such > 0 and filled <= 2 * such
