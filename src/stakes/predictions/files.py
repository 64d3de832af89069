"""Files of predictions: tables, to be joined or read in batches, and count files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from stakes.errors import InputError, InputTypeError
from stakes.predictions.arrow import ArrowTable
from stakes.predictions.count_file import is_count_file, read_count_file
from stakes.predictions.roles import Columns, guess_actual
from stakes.predictions.shards import ShardedTable
from stakes.predictions.table import Table, check_columns
from stakes.predictions.tally import Tally
from stakes.read.joins import joined
from stakes.read.shards import is_large, shards_of
from stakes.read.tables import STANDARD_INPUT, read_table, source_name, standard_input


class Progress(Protocol):
    """What is told how far reading and counting are."""

    def expect(self, steps: int) -> None:
        """Take how many more steps there are."""

    def step(self, text: str) -> None:
        """Take what is done next."""

    def reach(self, done: int, total: int, text: str) -> None:
        """Take how many of all steps are done, and what is done next."""


def table_of_files(paths: Sequence[str], columns: Columns, progress: Progress) -> Table:
    """Read predictions that must have rows; the parameters are those of `read_predictions`."""
    found = read_predictions(paths, columns, progress)
    if isinstance(found, tuple):
        raise InputError(found[1], "a count file has no rows; give the predictions themselves.")
    return found


def read_predictions(
    paths: Sequence[str], columns: Columns, progress: Progress, *, in_batches: bool = False
) -> Table | tuple[Tally, str]:
    """Read a table, or counts and the name of their file.

    Parameters
    ----------
    paths : sequence of str
        A count file; or tables, of which several are joined on the name of an example. A table may
        be in many files: those of a folder, or of a pattern. "-" is standard input.
    columns : Columns
        The columns that were named.
    progress : Progress
        Is told how far it is.
    in_batches : bool, default False
        Whether a large file is read in batches.
    """
    progress.expect(len(paths))
    piped = standard_input() if STANDARD_INPUT in paths else None
    found = {path: shards for path in paths if (shards := shards_of(path)) is not None}
    files = [str(found[path][0]) if len(found.get(path, ())) == 1 else path for path in paths]
    counted = [file for file in files if is_count_file(file, piped)]
    if counted:
        return _read_counts(paths, counted[0], piped, columns)
    table: Table | None = _sharded(paths, found, progress, in_batches=in_batches)
    if table is None:
        table = _whole(paths, piped, columns, progress)
    check_columns(table, [columns.key])
    return table


def _read_counts(
    paths: Sequence[str], path: str, piped: bytes | None, columns: Columns
) -> tuple[Tally, str]:
    """Read one of the files, which is a count file."""
    source = source_name(path)
    if len(paths) > 1:
        raise InputError(
            source, "a count file stands alone.", "Merge several count files into one first."
        )
    named = {
        "actual": columns.actual,
        "models": columns.models,
        "scores": columns.scores,
        "key": columns.key,
    }
    for name, value in named.items():
        if value:
            raise InputTypeError(name, f"{source} is a count file, whose columns are chosen.")
    return read_count_file(path, piped), source


def _sharded(
    paths: Sequence[str], found: dict[str, list[Path]], progress: Progress, *, in_batches: bool
) -> ShardedTable | None:
    """Return the table in the files that were found in a folder or pattern, or in a large file."""
    if not found and in_batches and len(paths) == 1 and is_large(paths[0]):
        found = {paths[0]: [Path(paths[0])]}
    if not found:
        return None
    path, shards = next(iter(found.items()))
    if len(paths) > 1:
        raise InputError(
            f"{path}",
            "a table in many files stands alone, since its rows are never together in memory to "
            "be joined with those of other files.",
        )
    return ShardedTable(
        shards,
        path,
        on_shard=lambda number, total, name: progress.reach(number, total, f"reading {name}"),
    )


def _whole(
    paths: Sequence[str], piped: bytes | None, columns: Columns, progress: Progress
) -> ArrowTable:
    """Return the table in one file, or in several that are joined on the name of an example."""
    if len(paths) > 1 and columns.key is None:
        raise InputTypeError(
            "key",
            "several files of predictions; name the column that tells which rows are the same "
            "example.",
        )
    if list(paths).count(STANDARD_INPUT) > 1:
        raise InputTypeError("standard input", "it can be read only once; give - once.")
    files = []
    for path in paths:
        progress.step(f"reading {source_name(path)}")
        files.append(read_table(path, piped if path == STANDARD_INPUT else None))

    def on_column(name: str) -> None:
        progress.step(f"counting {name!r}")

    if len(files) == 1 or columns.key is None:
        progress.expect(len(files[0].table.column_names))
        return ArrowTable.of_file(files[0], on_column=on_column)
    every = list(dict.fromkeys(name for each in files for name in each.table.column_names))
    source = " + ".join(each.source for each in files)
    actual = columns.actual if columns.actual in every else guess_actual(every, source)
    progress.step("joining")
    table = joined(files, columns.key, str(actual))
    progress.expect(len(table.column_names))
    return ArrowTable.of_joined(files, table, columns.key, on_column)
