"""What commands are given, read and counted."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from stakes.cli.options import ColumnOptions, CostOptions
from stakes.cli.output import Output
from stakes.cli.progress import Progress
from stakes.errors import FileError, InputError, InputTypeError

if TYPE_CHECKING:
    from stakes.costs import CostMatrix
    from stakes.study import Study
    from stakes.study.columns import Table
    from stakes.study.counted import Counted
    from stakes.study.parts import PartedTable

COUNTS_SHOW = b'"stakes-counts/'
"""What a count file holds near its beginning."""


def read_costs(given: CostOptions) -> CostMatrix | dict[str, float]:
    """Read the cost matrix, or take the costs of the two mistakes."""
    found = costs_if_given(given)
    if found is None:
        raise InputTypeError(
            "what do mistakes cost? Give a cost matrix with --costs ('stakes costs template' "
            "writes one to fill in), or the costs of a false alarm and of a miss with --fp and "
            "--fn."
        )
    return found


def costs_if_given(given: CostOptions) -> CostMatrix | dict[str, float] | None:
    """Read the costs, where any are given."""
    inline = {"false_positive": given.false_positive, "false_negative": given.false_negative}
    mistakes = {name: value for name, value in inline.items() if value is not None}
    if given.costs is not None and mistakes:
        raise InputTypeError("--costs, --fp, --fn: give a cost matrix or the two costs, not both.")
    if given.costs is not None:
        return read_matrix(given.costs, given.rows, given.labels)
    if given.rows is not None or given.labels is not None:
        name = "--rows" if given.rows is not None else "--labels"
        raise InputTypeError(f"{name}: it is about a cost matrix; give one with --costs.")
    if len(mistakes) == 1:
        missing = "--fn" if "false_positive" in mistakes else "--fp"
        raise InputTypeError(f"{missing}: give what both mistakes cost, with --fp and --fn.")
    return mistakes or None


def read_matrix(path: Path, rows: str | None, labels: str | None) -> CostMatrix:
    """Read a cost matrix from a file."""
    from stakes.costs import CostMatrix
    from stakes.study.classes import in_words_or_numbers

    if labels is None and path.suffix.lower() == ".cost" and path.exists():
        raise FileError(
            f"{path}: Weka's files have no labels; give the classes in their order, with --labels "
            "good,bad."
        )
    named = None if labels is None else in_words_or_numbers(next(csv.reader([labels]), []))
    return CostMatrix.read(path, rows=rows, labels=named)


def read_priors(text: str | None) -> dict[str, float] | None:
    """Read shares such as ``fraud=0.01,ok=0.99``."""
    if text is None:
        return None
    priors: dict[str, float] = {}
    for part in next(csv.reader([text]), []):
        label, equals, share = part.rpartition("=")
        try:
            value = float(share)
        except ValueError:
            equals = ""
        if not equals or not label.strip():
            raise InputError(
                f"--class-priors: expected a share for each class, such as fraud=0.01,ok=0.99; got "
                f"{part!r}."
            )
        if label.strip() in priors:
            raise InputError(f"--class-priors: the class {label.strip()!r} stands twice.")
        priors[label.strip()] = value
    return priors


def study_of(
    output: Output,
    predictions: Sequence[str],
    prices: CostOptions,
    columns: ColumnOptions,
    *,
    costs: CostMatrix | dict[str, float] | None = None,
    confidence: float = 0.95,
    class_priors: str | None = None,
    undecided: bool = False,
    with_scores: bool = True,
) -> Study:
    """Read and count, and say on standard error what was guessed; costs need not be read again."""
    from stakes.study import Study

    costs = read_costs(prices) if costs is None else costs
    asked: dict[str, Any] = {
        "pos_label": prices.pos_label,
        "confidence": confidence,
        "class_priors": read_priors(class_priors),
        "undecided": undecided,
    }
    with Progress(shown=not output.quiet) as progress:
        found = _read(predictions, columns, progress, in_batches=not with_scores)
        if isinstance(found, tuple):
            study = Study.from_counts(*found, costs, **asked)
        else:
            study = Study.from_table(
                found,
                costs,
                actual=columns.actual,
                models=columns.models or (),
                scores=columns.scores or (),
                with_scores=with_scores,
                **asked,
            )
    known = 0 if study.roles.guessed else len(study.roles.in_words())
    for sentence in study.said[known:]:
        output.remark(sentence)
    return study


def examples_of(study: Study) -> str:
    """Say how many examples of which file there are."""
    return f"{study.n:,} example{'' if study.n == 1 else 's'} of {study.source}"


def table_of(
    output: Output, predictions: Sequence[str], columns: ColumnOptions
) -> Table | PartedTable:
    """Read predictions that must have rows."""
    with Progress(shown=not output.quiet) as progress:
        found = _read(predictions, columns, progress)
    if isinstance(found, tuple):
        raise InputError(f"{found[1]}: a count file has no rows; give the predictions themselves.")
    return found


def _read(
    paths: Sequence[str],
    columns: ColumnOptions,
    progress: Progress,
    *,
    in_batches: bool = False,
) -> Table | PartedTable | tuple[Counted, str]:
    """Read a count file, one table, or several that are joined on the name of an example.

    Tables in many files are read in batches while they are counted; so is a large file, if it may.
    """
    from stakes.read.joins import joined
    from stakes.read.tables import STANDARD_INPUT, read_table, source_name, standard_input
    from stakes.study.columns import Table
    from stakes.study.roles import guess_actual

    progress.expect(len(paths))
    piped = standard_input() if STANDARD_INPUT in paths else None
    counted = [path for path in paths if _is_count_file(path, piped)]
    if counted:
        return _read_counts(paths, counted[0], piped, columns)
    parted = _parted(paths, progress, in_batches=in_batches)
    if parted is not None:
        return parted
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


def _parted(paths: Sequence[str], progress: Progress, *, in_batches: bool) -> PartedTable | None:
    """Return the table in the files of a folder or of a pattern, or in a large file."""
    from stakes.read.parts import is_large, parts_of
    from stakes.study.parts import PartedTable

    found = {path: parts for path in paths if (parts := parts_of(path)) is not None}
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


def _is_count_file(path: str, piped: bytes | None) -> bool:
    if path == "-":
        start = (piped or b"")[:200].lstrip(b"\xef\xbb\xbf").lstrip()
        return start.startswith(b"{") and COUNTS_SHOW in start
    ending = Path(path).suffix.lower()
    if ending == ".parquet":
        from stakes.read.parquet import said_in_parquet

        return said_in_parquet(path)
    return ending == ".json"


def _read_counts(
    paths: Sequence[str], path: str, piped: bytes | None, columns: ColumnOptions
) -> tuple[Counted, str]:
    from stakes.read.tables import source_name

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
    """Read the counts that 'stakes count' wrote."""
    from stakes.read import read_text
    from stakes.read.tables import source_name
    from stakes.study.counts_file import counts_from_text

    if Path(path).suffix.lower() == ".parquet":
        from stakes.study.counts_parquet import counts_from_parquet

        return counts_from_parquet(path)
    text = read_text(path) if piped is None else piped.decode("utf-8-sig", errors="replace")
    return counts_from_text(text, source_name(path))
