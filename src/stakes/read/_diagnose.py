"""Which line of a text file has a row, and what is wrong with one that cannot be read."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from stakes.errors import FileError

MOST_SHOWN = 200
"""Characters that are shown of what a library says."""

PIECE = 1 << 16
"""Bytes that are looked through at a time: they fit the processor's cache."""

QUOTE, BYTE_ORDER_MARK = b'"', b"\xef\xbb\xbf"
RETURN, NEWLINE = b"\r\n"
ANY_RETURN = re.compile(b"\r")

LINES = 1 << 18
"""Bytes in which lines are counted at a time."""


class LineCount:
    """Counts the lines of a text file while it is read, at next to no cost."""

    def __init__(self) -> None:
        self._newlines = self._returns = self._both = 0
        self._tail = b"\n"
        self._mask = np.empty(LINES, dtype=bool)

    @property
    def lines(self) -> int | None:
        """The number of lines; None where they end in several ways, or the last has odd quotes."""
        same = self._returns == 0 or self._newlines == self._returns == self._both
        last = self._tail.rstrip(b"\r\n").rpartition(b"\n")[2]
        if not same or last.count(QUOTE) % 2:
            return None
        blank = self._tail[len(self._tail.rstrip(b"\r\n")) :].count(b"\n") - 1
        return self._newlines - max(blank, -1)

    def feed(self, content: Any) -> None:
        """Take the next bytes of the file."""
        view = np.frombuffer(content, dtype=np.uint8)
        for start in range(0, len(view), LINES):
            piece = view[start : start + LINES]
            newlines = np.equal(piece, NEWLINE, out=self._mask[: len(piece)])
            self._newlines += int(np.count_nonzero(newlines))
            self._both += self._tail[-1] == RETURN and piece[0] == NEWLINE
            if ANY_RETURN.search(piece.data):
                self._both += int((piece[np.flatnonzero(newlines[1:])] == RETURN).sum())
                self._returns += int(np.count_nonzero(piece == RETURN))
            # A quote that the last line leaves open loses no line, but would be read with its end.
            self._tail = (self._tail + piece[-PIECE:].tobytes())[-PIECE:]


class QuoteCheck:
    """Tells whether the quotes of a CSV file are where they belong.

    They belong around whole cells, and twice inside them. pyarrow reads all that follows a quote
    left open into one cell, and takes text after a closing quote for a part of the cell. Where all
    quotes are regular it does neither; where one is not, `check_csv` tells whether it does.

    Parameters
    ----------
    separator : str
        What stands between cells.
    """

    def __init__(self, separator: str) -> None:
        self._beside = np.zeros(256, dtype=bool)
        self._beside[[*b'\r\n"', ord(separator)]] = True
        self._fed = self._inside = self._closed = False
        self._last, self._misplaced = ord("\n"), False

    @property
    def regular(self) -> bool:
        """Whether all quotes of what was fed are where they belong."""
        return not self._misplaced and not self._inside

    def feed(self, content: Any) -> None:
        """Take the next bytes of the file."""
        view = memoryview(content)
        if not self._fed and bytes(view[:3]) == BYTE_ORDER_MARK:
            view = view[3:]
        self._fed = self._fed or len(view) > 0
        for start in range(0, len(view), PIECE):
            if self._misplaced:
                return
            piece = bytes(view[start : start + PIECE])
            if self._closed or QUOTE in piece:  # which is much faster than to look for them all
                self._look(np.frombuffer(piece, dtype=np.uint8))
            self._last = piece[-1]

    def _look(self, piece: NDArray[np.uint8]) -> None:
        """Look at the bytes before quotes that open and after those that close."""
        quotes = np.flatnonzero(piece == QUOTE[0])
        opening, closing = quotes[self._inside :: 2], quotes[not self._inside :: 2]
        before = piece[opening - 1]
        if len(opening) and opening[0] == 0:
            before[0] = self._last
        after = piece[closing[closing < len(piece) - 1] + 1]
        if self._closed:  # by the last byte of the piece before
            after = np.append(piece[0], after)
        self._misplaced = not (self._beside[before].all() and self._beside[after].all())
        self._closed = len(closing) > 0 and bool(closing[-1] == len(piece) - 1)
        self._inside ^= bool(len(quotes) % 2)


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
    try:
        check_csv(io.StringIO(text, newline=""), separator, source)
    except FileError as error:
        return error
    if len(text.strip().splitlines()) == 1:
        return no_rows(source, next(csv.reader([text.strip()], delimiter=separator)))
    return FileError(source, f"cannot be read as a table: {shortly(problem)}")


def check_csv(text: TextIO, separator: str, source: str) -> int:
    """Read a CSV file strictly and slowly; raise where it is wrong, or return how many rows it has.

    Parameters
    ----------
    text : file
        The text, with its line ends as they are.
    separator : str
        What stands between cells.
    source : str
        The name of the file, for errors.
    """
    lines: list[str] = []
    reader = csv.reader(_kept(text, lines), delimiter=separator, strict=True)
    names: list[str] = []
    begun, rows = 1, -1
    try:
        for row in reader:
            if row:
                rows += 1
                names = names or row
                if len(row) != len(names):
                    raise FileError(
                        f"{source}, line {begun}",
                        f"expected {len(names)} cells, as in the header, got {len(row)}.",
                        f"Correct the line; a cell that contains {separator!r} must be in quotes.",
                    )
            begun = reader.line_num + 1
            lines.clear()
    except csv.Error as error:
        raise _quote_problem("".join(lines), separator, names, (source, begun)) from error
    return max(rows, 0)


def _kept(text: Iterable[str], lines: list[str]) -> Iterator[str]:
    for line in text:
        lines.append(line)
        yield line


def _quote_problem(row: str, separator: str, names: list[str], place: tuple[str, int]) -> FileError:
    """Say which cell of a row has a quote that is wrong, given the text from the row's begin on."""
    quoted = re.compile('"[^"]*(?:""[^"]*)*"')
    cell = re.compile(f'(?:{quoted.pattern}|(?!")[^{separator}\r\n]*){re.escape(separator)}')
    at = number = 0
    while found := cell.match(row, at):
        at, number = found.end(), number + 1
    source, begun = place
    line = begun + len(re.findall("\r\n|\r|\n", row[:at]))
    name = f"column {names[number]!r}" if number < len(names) else f"cell {number + 1}"
    closed = quoted.match(row, at)
    if closed is None:
        problem = "the quote that begins the cell is not closed, so that later rows are part of it."
    else:
        end = line + len(re.findall("\r\n|\r|\n", closed[0]))
        where = "" if end == line else f" in line {end}"
        problem = f"the quote that ends the cell{where} is followed by {row[closed.end()]!r}."
    return FileError(
        f"{source}, line {line}, {name}",
        problem,
        "Write a quote inside of a cell twice, and such a cell in quotes.",
    )


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
