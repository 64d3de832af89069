"""Read CSV files with pyarrow, whole or in blocks, and check that no row was lost."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import Any

from stakes.errors import FileError
from stakes.read._diagnose import (
    MOST_OF_A_ROW,
    NEWLINE,
    QUOTE,
    MisplacedQuoteError,
    StrictRows,
    WholeRows,
    cells_of_any_length,
    csv_problem,
    encoding_problem,
)
from stakes.read.sources import PACKED, UNPACKERS, arrow_read, pyarrow

SEPARATORS = ",;\t|"

HEADER = 1 << 16
"""Bytes of a CSV file read first to find its header."""


MOST_OF_A_NAME = 1 << 20
"""Maximum number of bytes of a name in quotes, before the quote counts as left open.

Otherwise, a quote that was never closed would make the whole file one name, read many times.
"""

LEAST_BLOCK, OF_A_COLUMN, MOST_BLOCK = 1 << 20, 1 << 12, 1 << 30
"""Block size of pyarrow in bytes: its default, the bytes per column of wide files, the maximum.

Each block becomes a chunk of each column, so small blocks of wide files would make many chunks.
"""


EMPTY = "Empty CSV"
"""Beginning of pyarrow's error for a file that has only a header."""


def _block_of(columns: int) -> int:
    return min(max(LEAST_BLOCK, columns * OF_A_COLUMN), MOST_BLOCK)


class CsvFile:
    """A CSV file, read whole or in blocks of rows; its cells are text.

    Parameters
    ----------
    opened : callable
        Returns a stream of the bytes of the file.
    source : str
        The name of the file, for errors.
    """

    def __init__(self, opened: Callable[[], Any], source: str) -> None:
        self._opened, self.source = opened, source
        with opened() as stream:
            self.names, self._separator = csv_header(stream, source)

    def table(self, columns: Sequence[str] | None = None) -> Any:
        """Return all rows, with the given columns or all."""
        block = _block_of(len(self.names if columns is None else columns))
        try:
            with self._reading(self._rows()) as rows:
                return self._table(rows, self._options(rows, block, columns))
        except MisplacedQuoteError:
            with self._reading(strict := self._strict_rows()) as rows:
                table = self._table(rows, self._options(rows, block, columns))
        self._check(table.num_rows, strict)
        return table

    def tables(self, columns: Sequence[str], block: int) -> Iterator[Any]:
        """Iterate over blocks of rows of about `block` bytes, with only these columns."""
        read = 0
        try:
            with self._reading(self._rows()) as lent:
                for table in self._tables(lent, self._options(lent, block, columns)):
                    yield table
                    read += table.num_rows
        except MisplacedQuoteError:
            rows = 0
            with self._reading(strict := self._strict_rows()) as lent:
                for table in self._tables(lent, self._options(lent, block, columns)):
                    yield table.slice(min(max(read - rows, 0), table.num_rows))  # only new rows
                    rows += table.num_rows
            self._check(rows, strict)

    def _table(self, rows: WholeRows, options: dict[str, Any]) -> Any:
        pa = pyarrow()
        from pyarrow import csv as arrow_csv

        try:
            return arrow_csv.read_csv(rows.lend(), **options)
        except pa.ArrowInvalid as error:
            if EMPTY not in str(error):
                raise
            return pa.table({name: pa.array([], pa.string()) for name in self.names})

    def _tables(self, rows: WholeRows, options: dict[str, Any]) -> Iterator[Any]:
        pa = pyarrow()
        from pyarrow import csv as arrow_csv

        try:
            for batch in arrow_csv.open_csv(rows.lend(), **options):
                yield pa.Table.from_batches([batch])
        except pa.ArrowInvalid as error:
            if EMPTY not in str(error):
                raise

    @contextlib.contextmanager
    def _reading(self, rows: WholeRows) -> Iterator[WholeRows]:
        """Lend the rows to pyarrow, and then raise the error for any problem with them."""
        try:
            try:
                yield rows
            except pyarrow().ArrowInvalid:  # invalid rows, or rows that ended early
                if rows.problem is None:
                    raise
            finally:
                rows.close()
            problem, rows.problem = rows.problem, None  # its traceback will hold `rows`
            if problem is not None:
                raise problem
        except (pyarrow().ArrowInvalid, UnicodeDecodeError) as error:
            raise self._problem(error) from error

    def _rows(self) -> WholeRows:
        return WholeRows(self._opened(), self._separator)

    def _strict_rows(self) -> StrictRows:
        return StrictRows(self._opened(), self._separator, self.source)

    def _options(
        self, rows: WholeRows, block: int, columns: Sequence[str] | None
    ) -> dict[str, Any]:
        """Return pyarrow's options to read blocks of whole rows as text that was validated."""
        from pyarrow import csv as arrow_csv

        text = dict.fromkeys(self.names, pyarrow().string())
        return {
            "read_options": arrow_csv.ReadOptions(block_size=block),
            "parse_options": arrow_csv.ParseOptions(
                delimiter=self._separator, invalid_row_handler=rows.wrong
            ),
            "convert_options": arrow_csv.ConvertOptions(
                column_types=text,
                include_columns=columns,
                strings_can_be_null=False,
                check_utf8=False,
            ),
        }

    def _problem(self, error: Exception) -> FileError:
        with self._opened() as stream:
            return csv_problem(stream.read_buffer(), self._separator, self.source, error)

    def _check(self, rows: int, strict: StrictRows) -> None:
        """Raise an error if pyarrow read another number of rows than the strict reader."""
        found = max(strict.number - 1, 0)
        if found != rows:
            raise FileError(
                self.source, f"its quotes can be read in two ways, as {found:,} or {rows:,} rows."
            )


class LaterColumns:
    """Rows of a CSV file, some columns of which are read at once, and the others when used.

    It has the interface of an Arrow table.

    Parameters
    ----------
    file : CsvFile
        The file.
    columns : sequence of str
        The columns to read now.
    """

    def __init__(self, file: CsvFile, columns: Sequence[str]) -> None:
        self._file, self._first, self.column_names = file, file.table(columns), file.names
        self._names, self.num_rows = frozenset(columns), self._first.num_rows

    @cached_property
    def schema(self) -> Any:
        """The names and types of all columns."""
        pa = pyarrow()
        return pa.schema([(name, pa.string()) for name in self.column_names])

    def column(self, name: str) -> Any:
        """Return a column."""
        return (self._first if name in self._names else self._whole).column(name)

    @cached_property
    def _whole(self) -> Any:
        table = arrow_read(self._file.table, self._file.source, "a table")
        same = table.column_names == self.column_names
        if not same or not table.select(self._first.column_names).equals(self._first):
            raise FileError(self._file.source, "it changed while it was read.")
        self._first = table  # it has these columns too
        return table

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._whole, name)  # other operations need all columns


def csv_header(stream: Any, source: str) -> tuple[list[str], str]:
    """Return the names of the columns, and the most frequent separator in the first line.

    Parameters
    ----------
    stream : pyarrow NativeFile
        The bytes of the file, read only as far as the header needs.
    source : str
        The name of the file, for errors.
    """
    start = b""
    while len(start) <= MOST_OF_A_ROW and not _open_quote(start):
        more = arrow_read(partial(stream.read, max(len(start), HEADER)), source, "a table")
        start += more
        found = _header_of(start, source, whole=not more)
        if found is not None:
            return found
    line = f", line {start.count(NEWLINE, 0, start.rfind(QUOTE)) + 1}" if _open_quote(start) else ""
    raise FileError(
        f"{source}{line}",
        f"its header does not end in the first {max(len(start) >> 20, 1):,} MB.",
        "Close the quote that is left open in it, if there is one.",
    )


def _open_quote(start: bytes) -> bool:
    """Tell whether the last quote in the first bytes of a file opens too long a name."""
    return len(start) - start.rfind(QUOTE) > MOST_OF_A_NAME and start.count(QUOTE) % 2 == 1


@cells_of_any_length()
def _header_of(start: bytes, source: str, *, whole: bool) -> tuple[list[str], str] | None:
    """Return the header in the first bytes of a file; None if it may continue after them."""
    for magic, packing in UNPACKERS.items():
        if start.startswith(magic):
            ending = next(each for each, known in PACKED.items() if known == packing)
            raise FileError(
                source, f"it is compressed with {packing}.", f"Let its name end in {ending}."
            )
    try:  # the last character may be incomplete
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(start, final=whole)
    except UnicodeDecodeError as error:
        raise encoding_problem(source, error) from error
    first = next((line for line in io.StringIO(text, newline=None) if line.strip()), None)
    if first is None:
        if not whole:
            return None
        raise FileError(source, "all lines are empty; expected a table of predictions.")
    separator = max(SEPARATORS, key=re.sub('"[^"]*"', "", first).count)
    lines = io.StringIO(text, newline="")
    rows = csv.reader(lines, delimiter=separator)
    try:  # a name may contain line breaks
        names = next(filter(None, rows))
    except (csv.Error, StopIteration):  # an open quote, which is reported later
        return next(csv.reader([first], delimiter=separator)), separator
    if not whole and lines.tell() == len(text):
        return None
    if len(names) == 1 and not names[0].strip():
        raise FileError(
            f"{source}, line {rows.line_num}",
            "expected the names of columns; the line has only spaces.",
            "Remove the line.",
        )
    return names, separator
