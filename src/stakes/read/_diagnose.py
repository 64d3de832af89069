"""Which line of a text file has a row, and what is wrong with one that cannot be read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import Any, TextIO

from stakes.errors import FileError

MOST_SHOWN = 200
"""Characters that are shown of what a library says."""


def csv_lines(text: TextIO, separator: str) -> Iterator[int]:
    """Iterate over the lines in which the rows of a CSV file begin, as an editor counts them.

    The header is line 1 where it comes first; blank lines and line breaks in quotes count.
    """
    reader = csv.reader(text, delimiter=separator)
    begun, header = 1, True
    for cells in reader:
        if cells and not header:
            yield begun
        header = header and not cells
        begun = reader.line_num + 1


def jsonl_lines(text: TextIO) -> Iterator[int]:
    """Iterate over the lines in which the rows of a file of JSON lines are."""
    decoder = json.JSONDecoder()
    for number, line in enumerate(text, 1):
        at, whole = 0, line.strip()
        while at < len(whole):  # pyarrow takes several objects on one line
            _, at = decoder.raw_decode(whole, at)
            yield number
            at += len(whole[at:]) - len(whole[at:].lstrip())


def csv_problem(content: Any, separator: str, source: str, problem: Exception) -> FileError:
    """Find the first line that is wrong, and say what is wrong with it."""
    raw = content.to_pybytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return encoding_problem(raw, source, error)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    width = None
    begun = 1
    try:
        for row in reader:
            if row:
                width = width or len(row)
                if len(row) != width:
                    return FileError(
                        f"{source}, line {begun}",
                        f"expected {width} cells, as in the header, got {len(row)}.",
                        f"Correct the line; a cell that contains {separator!r} must be in quotes.",
                    )
            begun = reader.line_num + 1
    except csv.Error as error:
        return FileError(f"{source}, line {begun}", f"not a table: {error}. Is a quote left open?")
    if len(text.strip().splitlines()) == 1:
        return no_rows(source, next(csv.reader([text.strip()], delimiter=separator)))
    return FileError(source, f"cannot be read as a table: {shortly(problem)}")


def jsonl_problem(content: bytes, source: str, problem: Exception, before: int = 0) -> FileError:
    """Find the first line that is wrong; `before` lines came before these."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return encoding_problem(content, source, error)
    kinds: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(text.splitlines(), before + 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            return FileError(
                f"{source}, line {number}, column {error.colno}",
                f"cannot be read as JSON: {error.msg}.",
            )
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, say
            return FileError(f"{source}, line {number}", f"cannot be read as JSON: {error}.")
        if not isinstance(row, dict):
            return FileError(f"{source}, line {number}", "expected an object such as {…}.")
        for name, value in row.items():
            kind = _json_kind(value)
            first, where = kinds.setdefault(name, (kind, number))
            if kind != first:
                return FileError(
                    f"{source}, line {number}, column {name!r}",
                    f"got {kind}, but {first} in line {where}; a column must be of one kind.",
                )
    return FileError(source, f"cannot be read as JSON lines: {shortly(problem)}")


def _json_kind(value: Any) -> str:
    if isinstance(value, bool):
        return "true or false"
    kinds = {str: "text", int: "a number", float: "a number", list: "a list", dict: "an object"}
    return kinds.get(type(value), "nothing")


def encoding_problem(content: bytes, source: str, error: UnicodeDecodeError) -> FileError:
    """Name the byte that is no UTF-8."""
    line = content[: error.start].count(b"\n") + 1
    return FileError(
        f"{source}, line {line}",
        f"expected UTF-8 text, got the byte {content[error.start]:#04x}.",
        "Save the file as UTF-8.",
    )


def no_rows(source: str, names: list[str]) -> FileError:
    """Say that a table has columns and nothing else."""
    return FileError(source, f"it has columns ({', '.join(names[:10])}) but no rows.")


def shortly(error: Exception) -> str:
    """Return the first line of what a library says, without its own advice."""
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return text[:MOST_SHOWN].rstrip(".") + "."
