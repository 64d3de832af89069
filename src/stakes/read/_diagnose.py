"""Checks and diagnosis of text files: the lines of rows, quotes, encoding and JSON."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import threading
import time
import weakref
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from stakes.errors import FileError

MOST_SHOWN = 200
"""Maximum number of characters shown of a library's error message."""

PIECE = 1 << 20
"""Bytes searched for quotes at a time: enough for numpy, and few enough for the cache."""

QUOTE, BYTE_ORDER_MARK = ord('"'), b"\xef\xbb\xbf"
RETURN, NEWLINE = b"\r\n"

LINE = 1 << 16
"""Bytes at the end of a piece in which a line is most likely to end."""

WORD = 64
"""Bits of a machine word."""

ALIGNED = 64
"""Alignment in bytes of the memory to read into; without it, reading takes twice as long."""

MOST_OF_A_ROW = 1 << 28
"""Maximum number of bytes of a row whose quotes are well placed."""

LONGEST_CELL = 2**31 - 1
"""Maximum limit of characters per cell in Python's CSV reader."""

NOT_ASCII = 0x80
"""Smallest byte of a multi-byte character in UTF-8."""

LONGEST_WAIT, BRIEFLY = 30.0, 0.0001
"""Maximum seconds to wait for pyarrow to release blocks, and seconds between checks."""

Words = NDArray[np.uint64]


class _CellLimit:
    """The limit of characters per cell in Python's CSV reader, a setting that all threads share."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = self._before = 0

    def lift(self) -> None:
        """Lift the limit until it is put back."""
        with self._lock:
            if not self._users:
                self._before = csv.field_size_limit(LONGEST_CELL)
            self._users += 1

    def put_back(self) -> None:
        """Restore the limit, unless another user still needs it lifted."""
        with self._lock:
            self._users -= 1
            if not self._users:
                csv.field_size_limit(self._before)


_LIMIT = _CellLimit()


@contextlib.contextmanager
def cells_of_any_length() -> Iterator[None]:
    """Let Python's CSV reader accept cells as long as pyarrow's does."""
    _LIMIT.lift()
    try:
        yield
    finally:
        _LIMIT.put_back()


class QuoteCheck:
    """A fast check that the quotes of a CSV file are well placed.

    Quotes must enclose whole cells, and be doubled inside them, so that no text outside of quotes
    is next to a quote. pyarrow reads everything after an open quote into one cell, and text after a
    closing quote as a part of the cell. If all quotes are regular it does neither; otherwise,
    `StrictRows` finds out whether it does.

    Parameters
    ----------
    separator : str
        The separator of cells.

    Attributes
    ----------
    rows_end : int
        The number of bytes fed so far up to the end of the last whole row.
    misplaced : bool
        Whether a misplaced quote was found; the bytes after it are not checked.
    """

    def __init__(self, separator: str) -> None:
        self._separator = ord(separator)
        self._fed = self.rows_end = 0
        self._inside = self.misplaced = False
        # Whether the previous byte is a quote, or text outside of quotes.
        self._quote = self._text = False
        # Reused, because allocating arrays takes longer than filling them.
        self._mask = np.empty(0, dtype=bool)
        self._room = np.empty((3, 0), dtype=np.uint64)

    @property
    def regular(self) -> bool:
        """Whether all quotes fed so far are well placed and closed."""
        return not self.misplaced and not self._inside

    def feed(self, content: Any) -> None:
        """Check the next bytes of the file."""
        size = memoryview(content).nbytes
        if not size:
            return
        view = np.frombuffer(content, dtype=np.uint8)
        if not self._fed and view[:3].tobytes() == BYTE_ORDER_MARK:
            view, self._fed = view[3:], 3
        if len(self._mask) < min(size, PIECE):
            self._mask = np.empty(min(size, PIECE), dtype=bool)
            self._room = np.empty((3, -(-len(self._mask) // WORD)), dtype=np.uint64)
        for start in range(0, len(view), PIECE):
            if self.misplaced:
                return
            piece = view[start : start + PIECE]
            quotes = self._where(piece, QUOTE)
            if self._inside or quotes.any():
                end = self._look(piece, _words(quotes))
            else:
                self.misplaced = self._quote and self._is_text(int(piece[0]))
                self._quote, self._text = False, self._is_text(int(piece[-1]))
                end = _last_line(piece)
            self.rows_end = self._fed + end if end else self.rows_end
            self._fed += len(piece)

    def _where(self, piece: NDArray[np.uint8], byte: int) -> NDArray[np.bool_]:
        return np.equal(piece, byte, out=self._mask[: len(piece)])

    def _is_text(self, byte: int) -> bool:
        return byte not in (self._separator, NEWLINE, RETURN)

    def _look(self, piece: NDArray[np.uint8], quotes: Words) -> int:
        """Find text outside of quotes next to a quote, 64 bytes at a time.

        Return the number of bytes up to the end of the last row.
        """
        inside, text, room = self._room[:, : len(quotes)]
        _parities(quotes, inside, room, start=self._inside)
        ends = _words(self._where(piece, NEWLINE))
        np.bitwise_or(ends, _words(self._where(piece, self._separator)), out=text)
        text |= quotes
        text |= inside
        np.invert(text, out=text)
        last = len(piece) - 1
        text[-1] &= ALL >> np.uint64(WORD - 1 - last % WORD)  # there is nothing after the last byte
        self.misplaced = self._text and _bit(quotes, 0)
        if text.any():  # false if all cells are in quotes
            returns = _words(self._where(piece, RETURN))
            text &= np.invert(returns, out=room)
            self.misplaced |= _touch(text, quotes, self._quote, room)
            self.misplaced |= _touch(quotes, text, self._text, room)
            if piece[last] == RETURN:  # a line feed may follow
                returns[-1] &= ~(ONE << np.uint64(last % WORD))
            ends |= returns
        self._inside, self._quote, self._text = (
            _bit(each, last) for each in (inside, quotes, text)
        )
        ends &= np.invert(inside, out=room)
        return _length(ends)


def _last_line(piece: NDArray[np.uint8]) -> int:
    """Return the number of bytes up to the end of the last line."""
    for size in (LINE, len(piece)):  # most lines are short
        tail = piece[-size:].tobytes()
        end = 1 + max(tail.rfind(b"\n"), tail.rfind(b"\r", 0, -1))  # a line feed may follow
        if end:
            return len(piece) - len(tail) + end
    return 0


ALL, ONE, TOP = ~np.uint64(0), np.uint64(1), np.uint64(WORD - 1)


def _words(mask: NDArray[np.bool_]) -> Words:
    """Pack booleans into words, the first into the lowest bit."""
    packed = np.packbits(mask, bitorder="little")
    if len(packed) % 8:
        packed = np.append(packed, np.zeros(-len(packed) % 8, dtype=np.uint8))
    return packed.view("<u8").astype(np.uint64, copy=False)


def _touch(words: Words, before: Words, first: bool, room: Words) -> bool:
    """Tell whether a bit of `words` follows one of `before`; `first` is the bit before these."""
    np.right_shift(before[:-1], TOP, out=room[1:])
    room[0] = first
    room |= before << ONE
    room &= words
    return bool(room.any())


def _parities(words: Words, found: Words, room: Words, *, start: bool) -> None:
    """Set each bit of `found` to the parity of the bits up to and including it, and of `start`."""
    np.left_shift(words, ONE, out=found)
    found ^= words
    for shift in (2, 4, 8, 16, 32):
        np.left_shift(found, np.uint64(shift), out=room)
        found ^= room
    odd = np.bitwise_xor.accumulate(np.right_shift(found, TOP, out=room))
    odd ^= np.uint64(start)
    np.negative(odd[:-1], out=room[1:])  # all bits set after an odd number
    room[0] = np.negative(np.uint64(start))
    found ^= room


def _bit(words: Words, place: int) -> bool:
    return bool(int(words[place // WORD]) >> (place % WORD) & 1)


def _length(words: Words) -> int:
    """Return the number of bits up to and including the last that is set."""
    for size in (LINE // WORD, len(words)):  # most rows are short
        some = np.flatnonzero(words[-size:])
        if len(some):
            at = max(len(words) - size, 0) + int(some[-1])
            return WORD * at + int(words[at]).bit_length()
    return 0


class MisplacedQuoteError(Exception):
    """A CSV file has a misplaced quote, so that the ends of its rows are ambiguous."""


class WholeRows:
    """The bytes of a CSV file in blocks of whole rows, with checked quotes and encoding.

    If no block ends within a row, pyarrow reads line breaks in cells without searching for them;
    and if a block is UTF-8, its cells are too, and need no separate check.

    Parameters
    ----------
    stream : pyarrow NativeFile
        The bytes.
    separator : str
        The separator of cells.

    Attributes
    ----------
    problem : Exception or None
        The reason why the lent rows end early: a `MisplacedQuoteError`, bytes that are not UTF-8,
        or a row with another number of cells.
    """

    def __init__(self, stream: Any, separator: str) -> None:
        self._stream, self._quotes = stream, QuoteCheck(separator)
        self._read, self._rest = 0, b""
        self._given_up = False
        self._lent: list[weakref.ref[Any]] = []
        self.problem: Exception | None = None

    def lend(self) -> Any:
        """Return a file for the threads of pyarrow; no other references to it may be kept."""
        return self._watched(_Lent(self))

    def close(self) -> None:
        """Close the file once no thread of pyarrow holds it or a block of it.

        A thread that needs Python to release these during shutdown would hang, with the process.
        """
        self._given_up, end = True, time.monotonic() + LONGEST_WAIT
        while any(each() is not None for each in self._lent) and time.monotonic() < end:
            time.sleep(BRIEFLY)
        self._stream.close()  # a raised error may hold references for long

    def _watched(self, lent: Any) -> Any:
        self._lent = [each for each in self._lent if each() is not None] + [weakref.ref(lent)]
        return lent

    def block(self, size: int) -> Any:
        """Return the next rows for pyarrow; none after a problem."""
        try:
            if not self._given_up and self.problem is None:
                return self._watched(self.next_rows(size))
        except Exception as error:  # noqa: BLE001 - raised again where the rows are read
            self.problem = error.with_traceback(None)  # a traceback would hold what was lent
        from pyarrow import py_buffer

        return self._watched(py_buffer(b""))

    def wrong(self, row: Any) -> str:
        """Record a row with too many or too few cells, and make pyarrow raise an error.

        Rarely, its stream ends at such a row as if the file ended, without an error.
        """
        from pyarrow import ArrowInvalid

        if self.problem is None:
            cells = f"{row.expected_columns} cells, got {row.actual_columns}"
            self.problem = ArrowInvalid(f"a row has other than {cells}")
        return "error"

    def next_rows(self, size: int) -> Any:
        """Return the next rows; raise `MisplacedQuoteError` if quotes make them ambiguous."""
        from pyarrow import allocate_buffer  # its memory is reused

        quotes, start = self._quotes, self._read - len(self._rest)
        while True:
            before = len(self._rest)
            if before > MOST_OF_A_ROW:
                raise MisplacedQuoteError
            unused = -before % ALIGNED
            block = allocate_buffer(unused + before + size)
            memory = memoryview(block).cast("B")[unused:]
            memory[:before] = self._rest
            end = before
            while new := self._stream.readinto(memory[end : end + PIECE]):
                quotes.feed(memory[end : end + new])  # while it is in the cache
                end += new
            self._read, over = start + end, end == before
            if quotes.misplaced or (over and not quotes.regular):
                raise MisplacedQuoteError
            whole = end if over else max(quotes.rows_end - start, 0)
            self._rest = bytes(memory[whole:end])
            if whole or over:
                return _checked_text(block.slice(unused, whole))
            size += 2 * before


class StrictRows(WholeRows):
    """Blocks of whole rows of a file with a misplaced quote, read strictly and slowly.

    Parameters
    ----------
    stream : pyarrow NativeFile
        The bytes.
    separator : str
        The separator of cells.
    source : str
        The name of the file, for errors.

    Attributes
    ----------
    number : int
        The number of rows read, including the header.
    """

    def __init__(self, stream: Any, separator: str, source: str) -> None:
        super().__init__(stream, separator)
        text = io.TextIOWrapper(stream, "utf-8-sig", newline="")
        self._rows, self.number = _strict_rows(text, separator, source), 0

    @cells_of_any_length()
    def next_rows(self, size: int) -> Any:
        """Return the next rows; raise `FileError` if one is invalid."""
        from pyarrow import py_buffer

        found, length = [], 0
        while length < size and (row := next(self._rows, None)) is not None:
            text, filled = row
            found.append(text.encode())
            length += len(found[-1])
            self.number += filled
        return py_buffer(b"".join(found))


class _Lent(io.RawIOBase):
    """Rows as a file object, which exists as long as pyarrow may read it."""

    def __init__(self, rows: WholeRows) -> None:
        self._rows = rows

    def readable(self) -> bool:
        """Return True, because the file can be read."""
        return True

    def read_buffer(self, size: int) -> Any:  # pyarrow prefers it to read()
        """Return the next rows."""
        return self._rows.block(size)


def _checked_text(block: Any) -> Any:
    """Return the bytes if they are UTF-8; otherwise, pyarrow raises an error."""
    import pyarrow as pa

    if not block.size or np.frombuffer(block, dtype=np.uint8).max() < NOT_ASCII:
        return block
    ends = pa.py_buffer(np.array([0, block.size], dtype=np.int32))
    pa.Array.from_buffers(pa.string(), 1, [None, ends, block]).validate(full=True)
    return block


def csv_lines(text: TextIO, separator: str) -> Iterator[int]:
    """Iterate over the first line number of each row of a CSV file, as an editor counts lines.

    The header is line 1 if it comes first; blank lines and line breaks in quotes count.
    """
    reader = csv.reader(text, delimiter=separator)
    begun, header = 1, True
    for cells in reader:
        if cells and not header:
            yield begun
        header = header and not cells
        begun = reader.line_num + 1


def jsonl_lines(text: TextIO) -> Iterator[int]:
    """Iterate over the line numbers of the rows of a JSON lines file."""
    return (number for number, _ in _jsonl_values(text))


def _jsonl_values(text: TextIO) -> Iterator[tuple[int, Any]]:
    """Iterate over the values of a JSON lines file, with their line numbers."""
    decoder = json.JSONDecoder(strict=False)  # pyarrow accepts tabs in text, too
    for number, line in enumerate(text, 1):
        at, whole = 0, line.strip()
        while at < len(whole):  # pyarrow accepts several objects on one line
            value, at = decoder.raw_decode(whole, at)
            yield number, value
            at += len(whole[at:]) - len(whole[at:].lstrip())


def csv_problem(content: Any, separator: str, source: str, problem: Exception) -> FileError:
    """Return the error for the first invalid line of a CSV file."""
    raw = content.to_pybytes()
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return encoding_problem(source, error)
    try:
        with cells_of_any_length():
            for _ in _strict_rows(io.StringIO(text, newline=""), separator, source):
                pass
    except FileError as error:
        return error
    if len(text.strip().splitlines()) == 1:
        return no_rows(source, next(csv.reader([text.strip()], delimiter=separator)))
    return FileError(source, f"cannot be read as a table: {shortly(problem)}")


def _strict_rows(text: TextIO, separator: str, source: str) -> Iterator[tuple[str, bool]]:
    """Iterate over the text of each row, and whether it has cells; an invalid row is an error.

    Line ends in the text are not converted.
    """
    lines: list[str] = []
    reader = csv.reader(_kept(text, lines), delimiter=separator, strict=True)
    names: list[str] = []
    begun = 1
    try:
        for row in reader:
            names = names or row
            if row and len(row) != len(names):
                raise FileError(
                    f"{source}, line {begun}",
                    f"expected {len(names)} cells, as in the header, got {len(row)}.",
                    f"Correct the line; a cell that contains {separator!r} must be in quotes.",
                )
            yield "".join(lines), bool(row)
            begun = reader.line_num + 1
            lines.clear()
    except csv.Error as error:
        raise _quote_problem("".join(lines), separator, names, (source, begun)) from error


def _kept(text: Iterable[str], lines: list[str]) -> Iterator[str]:
    for line in text:
        lines.append(line)
        yield line


def _quote_problem(row: str, separator: str, names: list[str], place: tuple[str, int]) -> FileError:
    """Return the error for the cell with a misplaced quote, in the text from the row's start."""
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
        problem = (
            "the quote that opens the cell is not closed, so later rows are read as part of it."
        )
    else:
        end = line + len(re.findall("\r\n|\r|\n", closed[0]))
        where = "" if end == line else f" in line {end}"
        problem = f"the quote that ends the cell{where} is followed by {row[closed.end()]!r}."
    return FileError(
        f"{source}, line {line}, {name}",
        problem,
        "Write a quote inside of a cell twice, and such a cell in quotes.",
    )


class NoObjectError(ValueError):
    """A JSON lines file has, or may have, a value that is not an object."""


def check_large_numbers(content: Any, columns: Sequence[str], place: tuple[str, int]) -> None:
    """Raise an error for a whole number in JSON lines that is not exact as a float.

    pyarrow rounds numbers beyond 64 bits, and large ones in a column that also has fractions, so
    that different ids or labels would become the same.

    Parameters
    ----------
    content : bytes or buffer
        The lines.
    columns : sequence of str
        The columns with large numbers.
    place : tuple of str and int
        The name of the file, and the number of its lines before these.
    """
    if not columns or not LONG_NUMBER.search(content):
        return
    source, before = place
    rows = _jsonl_values(io.StringIO(bytes(content).decode("utf-8-sig")))
    cells = ((line, name, row.get(name)) for line, row in rows for name in columns)
    try:
        found = next((cell for cell in cells if _is_rounded(cell[2])), None)
    except (ValueError, RecursionError) as error:  # pyarrow accepts more than JSON
        raise jsonl_problem(bytes(content), source, error, before) from error
    if found is not None:
        line, name, value = found
        raise FileError(
            f"{source}, line {before + line}, column {name!r}",
            f"the number {value} has too many digits to be read exactly.",
            "Write the column as text.",
        )


LONG_NUMBER = re.compile(rb":[ \t\r\n]*-?\d{16}")
"""Pattern of whole numbers with at least as many digits as 2**53; shorter ones are exact."""


def _is_rounded(value: Any) -> bool:
    try:
        return isinstance(value, int) and int(float(value)) != value
    except OverflowError:
        return True


MOST_LEVELS = 200
"""Maximum depth of nested lists and objects in JSON lines.

pyarrow and Python's json follow each level with a call: pyarrow ends the process at thousands.
"""

OPENING, BIT_OF_BRACES = b"{\x20"
"""The opening brace as a byte, and the bit in which braces differ from square brackets."""

SMALL_PIECE = 1 << 17
"""Bytes searched for brackets at a time; several arrays of this size fit into the cache."""

BETWEEN_ROWS = re.compile(rb"\}\s*\n\s*\{")
"""Pattern of the end of a row and the start of the next; text in JSON has no line breaks."""

TEXT = re.compile(rb'"[^"\n]*"?')
BRACKET = re.compile(rb'"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|([\[{])|[\]}]')
OTHER = bytes(set(range(256)) - set(b'[]{}"\n'))
"""Bytes that do not matter for the depth of JSON."""


def check_depth(content: Any, place: tuple[str, int]) -> None:
    """Raise an error if JSON lines are nested so deeply that pyarrow would crash the process.

    Parameters
    ----------
    content : bytes or buffer
        The lines.
    place : tuple of str and int
        The name of the file, and the number of its lines before these.
    """
    if not _many_brackets(content) or _depth(bytes(content)) <= MOST_LEVELS:
        return
    depth, content = 0, bytes(content)
    for found in BRACKET.finditer(content):  # slow, but only for this error
        depth = depth + 1 if found[1] else max(depth - (found[0] in b"]}"), 0)
        if depth > MOST_LEVELS:
            source, before = place
            line = before + 1 + content.count(b"\n", 0, found.start())
            raise FileError(
                f"{source}, line {line:,}",
                f"expected at most {MOST_LEVELS} levels of lists and objects in each other, got "
                "more.",
                "Remove the field that is nested so deeply.",
            )


def _many_brackets(content: Any) -> bool:
    """Tell whether a row may have more than `MOST_LEVELS` opening brackets, in text or not.

    Such a row has two successive brackets of those looked at, without an end of a row in between.
    """
    view, every = np.frombuffer(content, dtype=np.uint8), MOST_LEVELS // 2
    seen, last = 0, -1
    for start in range(0, len(view), SMALL_PIECE):
        opening = (view[start : start + SMALL_PIECE] | BIT_OF_BRACES) == OPENING
        number = int(np.count_nonzero(opening))
        if -seen % every < number:
            for at in (np.flatnonzero(opening)[-seen % every :: every] + start).tolist():
                if last >= 0 and BETWEEN_ROWS.search(content, last, at + 1) is None:
                    return True
                last = at
        seen += number
    return False


def _depth(content: bytes) -> int:
    """Return the maximum depth of the brackets outside of text, even of invalid JSON."""
    rest = content.replace(b"\\\\", b"").replace(b'\\"', b"").translate(None, OTHER)
    rest = TEXT.sub(b"", rest.replace(b'""', b""))  # most text has no brackets
    view = np.frombuffer(rest.translate(None, b"\n"), dtype=np.uint8) | BIT_OF_BRACES
    depths = np.cumsum(np.where(view == OPENING, 1, -1))
    lowest = np.minimum.accumulate(np.minimum(depths, 0))  # too many closing brackets
    return int((depths - lowest).max(initial=0))


def check_objects(content: Any) -> None:
    """Raise an error for a row of JSON lines that is null.

    pyarrow would read invalid memory, which can crash the process.

    Parameters
    ----------
    content : bytes or buffer
        The lines.
    """
    if not _null_in_sight(content):
        return
    try:
        text = io.StringIO(bytes(content).decode("utf-8-sig"))
        objects = all(isinstance(value, dict) for _, value in _jsonl_values(text))
    except (ValueError, RecursionError) as error:
        raise NoObjectError(f"{error}") from error
    if not objects:
        raise NoObjectError("a row is no object")


def _null_in_sight(content: Any) -> bool:
    """Tell whether an n is the first byte or follows a closing brace, ignoring spaces."""
    if FIRST_N.match(content):
        return True
    view = np.frombuffer(content, dtype=np.uint8)
    for start in range(0, len(view), PIECE):
        at = np.flatnonzero(view[start : start + PIECE] == BRACE) + start + 1
        for _ in range(MOST_SPACES):
            at = at[at < len(view)]
            byte = view[at]
            if (byte == N).any():
                return True
            at = at[byte <= SPACE] + 1
            if not len(at):
                break
        else:
            return True
    return False


FIRST_N = re.compile(rb"(?:\xef\xbb\xbf)?\s*n")
BRACE, N, SPACE = b"}n "
MOST_SPACES = 8
"""Number of spaces between objects at which a file is checked in full."""


def jsonl_problem(content: bytes, source: str, problem: Exception, before: int = 0) -> FileError:
    """Return the error for the first invalid line; `before` is the number of earlier lines."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return encoding_problem(source, error)
    kinds: dict[str, tuple[str, int]] = {}
    for number, line in enumerate(io.StringIO(text), before + 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.rstrip("\r\n"))  # otherwise, an error might be on the next line
        except json.JSONDecodeError as error:
            return FileError(
                f"{source}, line {number}, column {error.colno}",
                f"cannot be read as JSON: {error.msg}.",
            )
        except (ValueError, RecursionError) as error:  # such as a number with thousands of digits
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


def encoding_problem(source: str, error: UnicodeDecodeError) -> FileError:
    """Return the error for a byte that is not UTF-8."""
    content = error.object  # without a byte-order mark
    line = content[: error.start].count(b"\n") + 1
    return FileError(
        f"{source}, line {line}",
        f"expected UTF-8 text, got the byte {content[error.start]:#04x}.",
        "Save the file as UTF-8.",
    )


def no_rows(source: str, names: list[str]) -> FileError:
    """Return the error that a table has columns but no rows."""
    if not names:
        return FileError(source, "it has no columns.")
    return FileError(source, f"it has columns ({', '.join(map(repr, names[:10]))}) but no rows.")


def shortly(error: Exception) -> str:
    """Return the first line of a library's error message, shortened."""
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    return text[:MOST_SHOWN].rstrip(".") + "."
