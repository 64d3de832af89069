"""Reading files of predictions: tables, joined or in batches, and count files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, Self

from stakes._core.labels import MOST_LABELS, Cells, Label, Labels, is_blank, listing, plain
from stakes.errors import FileError, InputError, InputTypeError
from stakes.predictions._names import looks_like_score, says_part
from stakes.predictions.arrow import ArrowTable, is_nested, reversal
from stakes.predictions.count_file import is_count_file, read_count_file
from stakes.predictions.long_form import check_wide, side_by_side
from stakes.predictions.roles import guess_actual, now_named
from stakes.predictions.table import (
    AS_WRITTEN,
    Columns,
    Frequent,
    Reading,
    Table,
    check_columns,
    mostly,
    too_many_labels,
)
from stakes.predictions.tally import Tally
from stakes.read.joins import joined
from stakes.read.logs import log_kind, read_logs
from stakes.read.remote import is_database, is_remote, read_remote
from stakes.read.shards import (
    Shard,
    check_no_copies,
    check_same_columns,
    is_large,
    kind_of,
    shards_of,
)
from stakes.read.sources import STANDARD_INPUT, source_name, standard_input
from stakes.read.tables import FileRows, read_table

NUMBERS = ("numbers", "true and false")


class ShardedTable:
    """A table of predictions in many files, which is read in batches of rows.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    source : str
        The name of the table, for errors.
    on_shard : callable, optional
        Called at the start of each file with its number, the number of files, and its name.
    reading : Reading, optional
        The options for reading cells.
    """

    notes: tuple[str, ...] = ()
    renamed: Mapping[str, tuple[str, ...]] = {}
    grouping: str | None = None

    def __init__(
        self,
        paths: Sequence[Path],
        source: str,
        *,
        on_shard: Callable[[int, int, str], None] | None = None,
        reading: Reading = AS_WRITTEN,
    ) -> None:
        self.source, self.reading = source, reading
        self.dropped, self.lacking = 0, Counter[str]()
        self._complete: tuple[Sequence[str], Labels] = ((), ())
        self._reversed_from: dict[str, float] = {}
        self._shards = [Shard(path) for path in paths]
        self._schema = check_same_columns(self._shards)
        check_no_copies(self._shards)
        self._on_shard = on_shard or (lambda *_: None)
        self._seen: dict[str, _Seen] = {}
        for name in reading.lower_is_positive:
            if name in self.columns:
                self.score_range(name)  # reversing scores needs the range of all rows

    @property
    def cells(self) -> Cells:
        """The kind of cells: typed, text if any file is CSV, or loose if case is ignored."""
        if self.reading.ignore_case:
            return "loose"
        return "text" if any(shard.kind == "csv" for shard in self._shards) else "typed"

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self._schema.names)

    def batches(self, columns: Sequence[str]) -> Iterator[ArrowTable]:
        """Iterate over the rows, with these columns and those that must be complete."""
        needed, labels = self._complete
        names = list(dict.fromkeys([*columns, *needed]))
        empty, self.dropped, self.lacking = True, 0, Counter()
        for number, shard in enumerate(self._shards):
            self._on_shard(number, len(self._shards), shard.source)
            for rows in shard.batches(names):
                self._check_kinds(rows, names)
                found = ArrowTable.of_file(rows, reading=self.reading)
                found.reversed_from = self._reversed_from
                there = found.filled(needed, labels) if needed else found
                self.dropped += there.dropped
                self.lacking += there.lacking
                if there.n or not found.n:
                    empty = False
                    yield there
        if empty and self.dropped:
            raise InputError(
                self.source, f"every row lacks a value in {listing(list(needed))}; none is left."
            )
        if empty:
            raise FileError(
                self.source,
                f"its files have columns ({', '.join(self.columns[:10])}) but no rows.",
            )

    def labels(self, name: str) -> list[Label]:
        """Return the distinct labels of a column, which must not have too many or missing ones."""
        values = self._distinct(name)
        if values is None or any(map(is_blank, values)):
            for batch in self.batches([name]):
                batch.labels(name)  # raises an error that names the file and the row
        if values is None:
            raise too_many_labels(self.source, name, f"more than {MOST_LABELS:,}")
        return [plain(value) for value in values]

    def values(self, name: str) -> list[Any] | None:
        """Return the distinct values of a column; None if they cannot be labels."""
        return None if is_nested(self._schema, name) else self._distinct(name)

    def amounts(self, name: str, among: Collection[Any]) -> tuple[int, int]:
        """Return the number of rows with a value, and of those with one of the given values."""
        amounts = [batch.amounts(name, among) for batch in self.batches([name])]
        return sum(filled for filled, _ in amounts), sum(such for _, such in amounts)

    def frequent(self, name: str, *, whole: bool = True) -> Frequent:
        """Return the frequent values of a column of text, however many others it has.

        Parameters
        ----------
        name : str
            The column.
        whole : bool, default True
            Whether all rows are read, or only enough to see the kind of the column.
        """
        if kind_of(self._schema.field(name).type) != "text":
            return Frequent()
        return self._look(name, whole=whole).frequent

    def numbers(self, name: str) -> tuple[int, int]:
        """Return the number of rows of a text column with a value, and of those with a number."""
        seen = self._look(name)
        return seen.filled, seen.numbers

    def numeric(self, name: str) -> bool:
        """Tell whether a column has numbers; in text, at least half of the values must be."""
        if kind_of(self._schema.field(name).type) in NUMBERS:
            return True  # missing values are found when rows are counted
        return self._look(name).numeric

    def score_range(self, name: str) -> tuple[float, float]:
        """Return the lowest and the highest number of a column, ignoring cells without a number."""
        ranges = [batch.raw_range(name) for batch in self.batches([name])]
        lowest, highest = min(low for low, _ in ranges), max(high for _, high in ranges)
        if name not in self.reading.lower_is_positive:
            return lowest, highest
        total = self._reversed_from.setdefault(name, reversal(lowest, highest))
        return total - highest, total - lowest

    def repeats(self, name: str) -> bool:
        """Tell whether a value of a column occurs more than once in the first batch."""
        return next(iter(self.batches([name]))).repeats(name)

    def complete(self, columns: Sequence[str], labels: Labels = ()) -> Self:
        """Restrict the table to rows without missing values in these columns, and return it."""
        self._complete = (tuple(dict.fromkeys([*self._complete[0], *columns])), labels)
        self._seen = {}
        return self

    def _distinct(self, name: str) -> list[Any] | None:
        values = self._look(name).values
        return None if values is None else list(values)

    def _look(self, name: str, *, whole: bool = False) -> _Seen:
        """Read a column once, and all columns if files cannot be read by column.

        Unless `whole`, reading stops once the values are too many and the text is not numeric.
        """
        if name not in self._seen or (whole and not self._seen[name].whole):
            apart = all(shard.columnar for shard in self._shards)
            names = [name] if apart else self.columns
            seen = {each: _Seen(self._schema, each) for each in names}
            for batch in self.batches(names):
                for each, what in seen.items():
                    what.look(batch, each, whole=whole)
                if not whole and not any(what.open for what in seen.values()):
                    break
            else:
                for what in seen.values():
                    what.whole = whole
            self._seen |= seen
        return self._seen[name]

    def _check_kinds(self, rows: FileRows, names: Sequence[str]) -> None:
        """Raise an error if a column is missing, or of another kind than in the first file."""
        schema, source = rows.table.schema, rows.source
        for name in names:
            if name not in schema.names:
                raise FileError(source, f"there are rows without the column {name!r}.")
            kinds = [kind_of(each.field(name).type) for each in (schema, self._schema)]
            if kinds[0] != kinds[1] and "nothing" not in kinds:
                raise FileError(
                    f"{source}, from {rows.place(0)} on, column {name!r}",
                    f"it has {kinds[0]}, but {kinds[1]} at the beginning of "
                    f"{self._shards[0].source}; a column must be of one kind in all files of a "
                    "table.",
                )


class _Seen:
    """Statistics of a column from a pass over its rows: distinct and frequent values, numbers."""

    def __init__(self, schema: Any, name: str) -> None:
        self.values: dict[Any, None] | None = None if is_nested(schema, name) else {}
        self.frequent, self.whole = Frequent(), False
        self.filled = self.numbers = 0
        self._words = self._text = kind_of(schema.field(name).type) == "text"

    @property
    def open(self) -> bool:
        """Whether more rows can add anything."""
        return self.values is not None or self._text

    @property
    def numeric(self) -> bool:
        """Whether the column is text, and at least half of its values are numbers."""
        return self._text and mostly(self.filled, self.numbers)

    def look(self, batch: ArrowTable, name: str, *, whole: bool) -> None:
        """Add the values of a batch; unless `whole`, the frequent ones of its first rows only."""
        if self.values is not None:
            fresh = batch.values(name)
            self.values = None if fresh is None else self.values | dict.fromkeys(fresh)
            if self.values is not None and len(self.values) > MOST_LABELS:
                self.values = None
        if self._words:
            self.frequent += batch.frequent(name, whole=whole)
        if self._text:
            filled, numbers = batch.numbers(name)
            self.filled, self.numbers = self.filled + filled, self.numbers + numbers
            self._text = not self.filled or self.numeric  # words in the first rows suffice


class Progress(Protocol):
    """Receiver of the progress of reading and counting."""

    def expect(self, steps: int) -> None:
        """Set the number of remaining steps."""

    def step(self, text: str) -> None:
        """Start the next step, which `text` describes."""

    def reach(self, done: int, total: int, text: str) -> None:
        """Set the number of steps done, of a total; `text` describes the next."""


def table_of_files(paths: Sequence[str], columns: Columns, progress: Progress) -> Table:
    """Return a table of predictions, not counts; the parameters are those of `read_predictions`."""
    found = read_predictions(paths, columns, progress)
    if isinstance(found, tuple):
        raise FileError(found[1], "a count file has no rows.", "Give the predictions themselves.")
    return found


def read_predictions(
    paths: Sequence[str], columns: Columns, progress: Progress, *, in_batches: bool = False
) -> Table | tuple[Tally, str]:
    """Return a table of predictions, or counts and the name of their file.

    Parameters
    ----------
    paths : sequence of str
        A count file; or tables, of which several are joined on the id of an example. A table may
        be in many files: those of a folder, or of a pattern. "-" is standard input. A remote table
        is given by its address.
    columns : Columns
        The columns that were named.
    progress : Progress
        The receiver of progress.
    in_batches : bool, default False
        Whether a large file that may have scores is read in batches; one without scores always is.
    """
    progress.expect(len(paths))
    _check_database(paths, columns)
    if any(map(is_remote, paths)):
        return _checked(_whole(paths, None, columns, progress), columns)
    if paths and all(log_kind(path) is not None for path in paths):
        return _logged(paths, columns, progress)
    piped = standard_input() if STANDARD_INPUT in paths else None
    found = {path: shards for path in paths if (shards := shards_of(path)) is not None}
    files = [str(found[path][0]) if len(found.get(path, ())) == 1 else path for path in paths]
    counted = [file for file in files if is_count_file(file, piped)]
    if counted:
        return _read_counts(paths, counted[0], piped, columns)
    sharded = _sharded(paths, found, progress, columns, in_batches=in_batches)
    if sharded is None:
        return _checked(_whole(paths, piped, columns, progress), columns)
    check_wide(sharded, columns)
    return _checked(sharded, columns)


def _check_database(paths: Sequence[str], columns: Columns) -> None:
    """Raise an error if a table or query of a database is given, but no database."""
    for name, given in (("table", columns.table), ("query", columns.query)):
        if given is not None and not any(map(is_database, paths)):
            raise InputTypeError(
                name,
                "it chooses rows of a database, and the predictions are in none.",
                "Give an address such as postgresql://user@host/database, or leave it out.",
            )


def _checked(table: Table, columns: Columns) -> Table:
    """Return the table after checking that the key and reversed scores exist."""
    check_columns(table, [columns.key])
    reversed_scores = columns.reading.lower_is_positive
    check_columns(table, now_named(reversed_scores, table.renamed))
    return table


def _logged(paths: Sequence[str], columns: Columns, progress: Progress) -> ArrowTable:
    """Return the table of evaluation logs, whose labels are compared ignoring case."""
    progress.step("reading evaluation logs")
    rows, repeated = read_logs(paths)
    names = rows.table.column("row")
    found = ArrowTable(
        rows.table,
        rows.source,
        place=lambda row: f"sample {names[row].as_py()!r}",
        reading=replace(columns.reading, ignore_case=True),
    )
    found.grouping = repeated
    return found


def _read_counts(
    paths: Sequence[str], path: str, piped: bytes | None, columns: Columns
) -> tuple[Tally, str]:
    """Return the counts of a count file and its name; it must be the only file."""
    source = source_name(path)
    if len(paths) > 1:
        raise InputError(
            source,
            "a count file cannot be combined with other files.",
            "Merge several count files into one first.",
            code="count_file_not_alone",
        )
    named = {
        "actual": columns.actual,
        "models": columns.models,
        "scores": columns.scores,
        "key": columns.key,
        "model_column": columns.model_column,
        "divides": columns.divides,
        **columns.design.used(),
        **vars(columns.reading) | {"gated": None},  # all doubts are in the counts already
    }
    for name, value in named.items():
        if value:
            raise InputTypeError(
                name,
                f"{source} is a count file; its columns were chosen, and its rows read, when it "
                "was counted.",
                "Leave it out, or give the predictions themselves.",
            )
    return read_count_file(path, piped), source


def _sharded(
    paths: Sequence[str],
    found: dict[str, list[Path]],
    progress: Progress,
    columns: Columns,
    *,
    in_batches: bool,
) -> ShardedTable | None:
    """Return a table to read in batches: files of a folder or pattern, or one large file."""

    def is_score(name: str) -> bool:
        return columns.mentions(name, only_scores=True) or looks_like_score(name)

    alone = not found and len(paths) == 1
    if alone and is_large(paths[0], scores_kept=not in_batches, is_score=is_score):
        found = {paths[0]: [Path(paths[0])]}
    if not found:
        return None
    path, shards = next(iter(found.items()))
    if len(paths) > 1:
        raise InputError(
            f"{path}",
            "a table in many files cannot be joined with other files: its rows are never together "
            "in memory.",
        )
    table = ShardedTable(
        shards,
        source_name(path),
        on_shard=lambda number, total, name: progress.reach(number, total, f"reading {name}"),
        reading=columns.reading,
    )
    whole = alone and not in_batches and any(map(is_score, table.columns))
    return None if whole else table


def _needed(columns: Columns) -> Callable[[str], bool] | None:
    """Return a test for column names that are needed; None if it depends on values."""
    if columns.actual is None or not (columns.models or columns.scores):
        return None
    named = {columns.actual, columns.key, columns.model_column}
    named |= {*columns.design.used().values(), *columns.divides}
    return lambda name: name in named or columns.mentions(name) or says_part(name)


def _whole(
    paths: Sequence[str], piped: bytes | None, columns: Columns, progress: Progress
) -> ArrowTable:
    """Return the table of one file, or of several files joined on the id of an example."""
    if len(paths) > 1 and columns.key is None:
        raise InputTypeError(
            "key",
            "several files are joined on a column that identifies the examples.",
            "Name that column.",
        )
    if list(paths).count(STANDARD_INPUT) > 1:
        raise InputTypeError("standard input", "it can be read only once.", "Give - once.")
    files = []
    for path in paths:
        progress.step(f"reading {source_name(path)}")
        if is_remote(path):
            files.append(read_remote(path, columns.table, columns.query))
        else:
            content = piped if path == STANDARD_INPUT else None
            files.append(read_table(path, content, None if paths[1:] else _needed(columns)))

    def on_column(name: str) -> None:
        progress.step(f"counting {name!r}")

    if len(files) == 1 or columns.key is None:
        progress.expect(len(files[0].table.column_names))
        return side_by_side(files[0], columns, on_column)
    every = list(dict.fromkeys(name for each in files for name in each.table.column_names))
    source = " + ".join(each.source for each in files)
    actual = columns.actual if columns.actual in every else guess_actual(every, source)
    progress.step("joining")
    table = joined(files, columns.key, str(actual))
    progress.expect(len(table.column_names))
    return ArrowTable.of_joined(files, table, columns.key, on_column, columns.reading)
