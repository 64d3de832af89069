"""Files of predictions: tables, to be joined or read in batches, and count files."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from stakes.errors import InputError, InputTypeError
from stakes.read import read_text
from stakes.read.checksums import said_in_parquet
from stakes.read.joins import joined
from stakes.read.shards import is_large, parts_of
from stakes.read.tables import (
    STANDARD_INPUT,
    file_kind,
    read_table,
    source_name,
    standard_input,
)
from stakes.study.columns import Table
from stakes.study.counted import Counted
from stakes.study.counts_file import counts_from_text
from stakes.study.counts_parquet import counts_from_parquet
from stakes.study.parts import PartedTable
from stakes.study.roles import guess_actual
from stakes.study.study import Costs, Study

COUNTS_SHOW = b'"stakes-counts/'
"""What a count file holds near its beginning."""

PARQUET = b"PAR1"
"""What a Parquet file begins with."""


@dataclass(frozen=True)
class Columns:
    """The columns that were named; what was not is guessed.

    Attributes
    ----------
    actual : str or None
        The column with the actual classes.
    models, scores : sequence of str
        The columns with decisions and with scores.
    key : str or None
        The column that names an example, to join files on.
    """

    actual: str | None = None
    models: Sequence[str] = ()
    scores: Sequence[str] = ()
    key: str | None = None


class Progress(Protocol):
    """What is told how far reading and counting are."""

    def expect(self, steps: int) -> None:
        """Take how many more steps there are."""

    def step(self, text: str) -> None:
        """Take what is done next."""

    def reach(self, done: int, total: int, text: str) -> None:
        """Take how many of all steps are done, and what is done next."""


def study_of_files(
    paths: Sequence[str],
    costs: Costs,
    columns: Columns,
    progress: Progress,
    *,
    with_scores: bool = True,
    **asked: Any,
) -> Study:
    """Read and count predictions.

    Parameters
    ----------
    paths : sequence of str
        A count file; or tables, of which several are joined on the name of an example. A table may
        be in many files: those of a folder, or of a pattern. "-" is standard input.
    costs : CostMatrix or mapping
        What decisions cost; as in `Study.from_table`.
    columns : Columns
        The columns that were named.
    progress : Progress
        Is told how far it is.
    with_scores : bool, default True
        Whether scores are counted. Without them a large file is read in batches.
    **asked
        As in `Study.from_counts`.
    """
    found = _read(paths, columns, progress, in_batches=not with_scores)
    if isinstance(found, tuple):
        return Study.from_counts(*found, costs, **asked)
    return Study.from_table(
        found,
        costs,
        actual=columns.actual,
        models=columns.models,
        scores=columns.scores,
        with_scores=with_scores,
        **asked,
    )


def table_of_files(
    paths: Sequence[str], columns: Columns, progress: Progress
) -> Table | PartedTable:
    """Read predictions that must have rows; the parameters are those of `study_of_files`."""
    found = _read(paths, columns, progress)
    if isinstance(found, tuple):
        raise InputError(f"{found[1]}: a count file has no rows; give the predictions themselves.")
    return found


def _read(
    paths: Sequence[str], columns: Columns, progress: Progress, *, in_batches: bool = False
) -> Table | PartedTable | tuple[Counted, str]:
    """Read a table, or counts and the name of their file."""
    progress.expect(len(paths))
    piped = standard_input() if STANDARD_INPUT in paths else None
    found = {path: parts for path in paths if (parts := parts_of(path)) is not None}
    files = [str(found[path][0]) if len(found.get(path, ())) == 1 else path for path in paths]
    counted = [file for file in files if _is_count_file(file, piped)]
    if counted:
        return _read_counts(paths, counted[0], piped, columns)
    parted = _parted(paths, found, progress, in_batches=in_batches)
    table = _joined(paths, piped, columns, progress) if parted is None else parted
    table.check_columns([columns.key])
    return table


def _is_count_file(path: str, piped: bytes | None) -> bool:
    if path == STANDARD_INPUT:
        content = piped or b""
        start = content[:200].lstrip(b"\xef\xbb\xbf").lstrip()
        if start.startswith(PARQUET):
            return said_in_parquet(path, content)
        return start.startswith(b"{") and COUNTS_SHOW in start
    place = Path(path)
    if file_kind(place) == "parquet":
        return said_in_parquet(path)
    return place.suffix.lower() == ".json"


def _read_counts(
    paths: Sequence[str], path: str, piped: bytes | None, columns: Columns
) -> tuple[Counted, str]:
    """Read one of the files, which is a count file."""
    source = source_name(path)
    if len(paths) > 1:
        raise InputError(
            f"{source}: a count file stands alone; to add up several, use 'stakes merge'."
        )
    named = {
        "--actual": columns.actual,
        "--model": columns.models,
        "--score": columns.scores,
        "--id": columns.key,
    }
    for option, value in named.items():
        if value:
            raise InputTypeError(f"{option}: {source} is a count file, whose columns are chosen.")
    return read_count_file(path, piped), source


def read_count_file(path: str, piped: bytes | None = None) -> Counted:
    """Read the counts that 'stakes count' wrote.

    Parameters
    ----------
    path : str
        The file, whose name tells its format.
    piped : bytes, optional
        What the file holds, if it is standard input.
    """
    if piped is None and file_kind(Path(path)) == "parquet":
        return counts_from_parquet(path)
    if piped is not None and piped.startswith(PARQUET):
        return counts_from_parquet(source_name(path), piped)
    text = read_text(path) if piped is None else piped.decode("utf-8-sig", errors="replace")
    return counts_from_text(text, source_name(path))


def _parted(
    paths: Sequence[str], found: dict[str, list[Path]], progress: Progress, *, in_batches: bool
) -> PartedTable | None:
    """Return the table in the files that were found in a folder or pattern, or in a large file."""
    if not found and in_batches and len(paths) == 1 and is_large(paths[0]):
        found = {paths[0]: [Path(paths[0])]}
    if not found:
        return None
    path, parts = next(iter(found.items()))
    if len(paths) > 1:
        raise InputError(
            f"{path}: a table in many files stands alone, since its rows are never together in "
            "memory to be joined with those of other files."
        )
    return PartedTable(
        parts,
        path,
        on_part=lambda number, total, name: progress.reach(number, total, f"reading {name}"),
    )


def _joined(
    paths: Sequence[str], piped: bytes | None, columns: Columns, progress: Progress
) -> Table:
    """Return the table in one file, or in several that are joined on the name of an example."""
    if len(paths) > 1 and columns.key is None:
        raise InputTypeError(
            "--id: several files of predictions; name the column that tells which rows are the "
            "same example."
        )
    if list(paths).count(STANDARD_INPUT) > 1:
        raise InputTypeError("standard input can be read only once; give - once.")
    tables = []
    for path in paths:
        progress.step(f"reading {source_name(path)}")
        tables.append((source_name(path), read_table(path, piped)))
    key = columns.key if len(paths) > 1 else None
    source, table = tables[0]
    if key is not None:
        source = " + ".join(name for name, _ in tables)
        every = list(dict.fromkeys(name for _, each in tables for name in each.column_names))
        actual = columns.actual if columns.actual in every else guess_actual(every, source)
        progress.step("joining")
        table = joined(tables, key, str(actual))
    progress.expect(len(table.column_names))
    return Table(table, source, key=key, on_column=lambda name: progress.step(f"counting {name!r}"))
