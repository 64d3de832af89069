"""Reading tables: CSV, TSV, JSON lines, Parquet, Arrow and Excel files, frames and standard input.

pyarrow reads most of them. Text that it refuses is read again, slowly, to name the invalid line.
"""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
import os
import re
import stat
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from stakes._core.optional import imported
from stakes._core.validate import aligned, refuse_frame
from stakes.errors import FileError, InputError, StakesError, redacted
from stakes.read._diagnose import (
    MOST_OF_A_ROW,
    MisplacedQuoteError,
    NoObjectError,
    StrictRows,
    WholeRows,
    cells_of_any_length,
    check_large_numbers,
    check_objects,
    csv_lines,
    csv_problem,
    encoding_problem,
    jsonl_lines,
    jsonl_problem,
    no_rows,
    shortly,
)
from stakes.read.files import as_path

STANDARD_INPUT = "-"
SEPARATORS = ",;\t|"
KINDS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
SHEETS = ".xlsx"
"""Suffix of workbooks; one of several sheets is named after a #."""

ROW_NUMBER = re.compile(rb"""<(?:\w+:)?row\b[^>]*?\sr=["'](\d+)""")
"""Pattern of a row number in the XML of a sheet."""

COLUMNAR = ("parquet", "arrow")

PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
UNPACKERS: Mapping[bytes, str] = {b"\x1f\x8b\x08": "gzip", b"\x28\xb5\x2f\xfd": "zstd"} | {
    b"BZh%d1AY&SY" % level: "bz2" for level in range(1, 10)
}
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}
LEAST_TEXT = 4
"""Minimum number of bytes of a text in a Parquet file without a dictionary."""

SIMPLE = {"PLAIN", "RLE", "BIT_PACKED", "PLAIN_DICTIONARY", "RLE_DICTIONARY"}
"""Parquet encodings that pyarrow can read as a dictionary; it refuses others."""

EXACT = 2**53
"""Largest whole number up to which all are exact as floating-point numbers."""

BUFFER = 1 << 20
"""Bytes of a Parquet column read at a time; by default, it is a whole row group."""

HEADER = 1 << 16
"""Bytes of a CSV file read first to find its header."""

METADATA = b"stakes"
"""Key of the schema's metadata in files that stakes wrote, which have counts, not predictions."""


@dataclass(frozen=True)
class FileRows:
    """Rows of a file, with their places in it.

    Attributes
    ----------
    table : pyarrow Table
        The rows.
    source : str
        The name of the file, for messages.
    kind : str
        The format or origin: "csv", "jsonl", "parquet", "arrow", "xlsx", "frame", "database" or
        "log".
    before : int
        The number of rows of the file before these.
    content : bytes or None
        The content of a file that cannot be opened again, such as standard input.
    """

    table: Any
    source: str
    kind: str = "arrow"
    before: int = 0
    content: bytes | None = None

    def place(self, row: int) -> str:
        """Return the place of a row: "line 4" in a text file, "row 3" in other files.

        Lines are those that an editor shows. The file is read again to count them, so this is for
        errors only. Rows are counted from 1.

        Parameters
        ----------
        row : int
            The position of the row in the table, from 0.
        """
        number = self.before + row
        if self.kind in ("csv", "jsonl"):
            try:
                with cells_of_any_length():
                    for at, line in enumerate(self._lines()):
                        if at == number:
                            return f"line {line:,}"
            except (OSError, EOFError, ValueError, RecursionError, csv.Error, FileError):
                pass  # only pyarrow can read the lines
        return f"row {number + 1:,}"

    def _lines(self) -> Iterator[int]:
        """Iterate over the line numbers of all rows of the file."""
        if self.kind == "jsonl":
            with self._text() as text:
                yield from jsonl_lines(text)
            return
        with self._stream() as stream:
            _, separator = csv_header(stream, self.source)
        with self._text() as text:
            yield from csv_lines(text, separator)

    def _stream(self) -> Any:
        if self.content is None:
            return text_stream(self.source)
        return pyarrow().BufferReader(self.content)

    def _text(self) -> io.TextIOWrapper:
        return io.TextIOWrapper(self._stream(), encoding="utf-8-sig", errors="replace", newline="")


def read_table(
    path: Any, content: bytes | None = None, first: Callable[[str], bool] | None = None
) -> FileRows:
    """Read the rows of a table; the columns of CSV files are text.

    Parameters
    ----------
    path : path or "-"
        The file, whose suffix is its format; or standard input, whose format is detected.
    content : bytes, optional
        The content of standard input, if it was read already.
    first : callable, optional
        Returns whether a column is needed or likely to be, given its name. The other columns of a
        CSV file are read when one of them is used.
    """
    source = source_name(path)
    if content is None and str(path) == STANDARD_INPUT:
        content = standard_input()
    elif content is None and is_pipe(path):
        content = piped(path)
    elif content is None:
        check_readable(workbook_of(path)[0] if is_workbook(path) else path, source)
    kind, opened = _opened(path, content, source)
    if kind == "csv":
        table = arrow_read(lambda: _read_csv(opened, source, first), source, "a table")
    else:
        table = arrow_read(lambda: countable(_READERS[kind](opened, source)), source, "a table")
        check_not_counts(table.schema, source)
        check_names(table.column_names, source)
        table = table.replace_schema_metadata(None)
    if not table.num_rows:
        raise no_rows(source, table.column_names)
    return FileRows(table, source, kind, content=content)


def is_frame(data: Any) -> bool:
    """Tell whether an object is a data frame or a mapping of columns."""
    if isinstance(data, Mapping):
        return True
    if not hasattr(type(data), "columns"):  # arrays and lists need no import of narwhals
        return False
    import narwhals as nw

    try:
        wrapped = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:  # in pandas' columns; `frame_rows` refuses these
        return True
    return isinstance(wrapped, nw.DataFrame | nw.LazyFrame)


def frame_rows(frame: Any, source: str) -> FileRows:
    """Return the rows of a data frame, or of a mapping of columns.

    Parameters
    ----------
    frame : data frame or mapping
        The frame, of any library that narwhals supports; a lazy frame is collected.
    source : str
        The name of the frame in messages.
    """
    pa = pyarrow("reading a data frame", "report")
    if isinstance(frame, Mapping):
        columns = {str(name): values for name, values in frame.items()}
        check_names([*map(str, frame)], source)
        for name, values in columns.items():
            refuse_frame(values, f"{source}, column {name!r}", "Give one of its columns.")
        frame = dict(zip(columns, aligned(**columns), strict=True))  # pandas' by index
    try:
        table = pa.table(frame) if isinstance(frame, dict) else _arrow_of(frame, source)
    except StakesError:
        raise
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InputError(source, f"a column cannot be read: {shortly(error)}") from error
    names = [str(name) for name in table.column_names]
    table = table.rename_columns(names)
    table = table.drop_columns([name for name in names if re.fullmatch(INDEX_COLUMN, name)])
    check_names(table.column_names, source)
    if not table.num_rows:
        raise no_rows(source, table.column_names)
    return FileRows(countable(table).replace_schema_metadata(None), source, "frame")


INDEX_COLUMN = r"__index_level_\d+__"
"""Pattern of pandas' names for an unnamed index."""


def _arrow_of(frame: Any, source: str) -> Any:
    import narwhals as nw

    try:
        wrapped = nw.from_native(frame)
    except nw.exceptions.DuplicateError:
        check_names([str(name) for name in frame.columns], source)
        raise
    if isinstance(wrapped, nw.LazyFrame):
        wrapped = wrapped.collect("pyarrow")
    return wrapped.to_arrow()


def check_names(names: Sequence[str], source: str) -> None:
    """Raise an error if two columns have the same name."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise FileError(
            source,
            f"the column {twice[0]!r} occurs {names.count(twice[0])} times; columns are told "
            "apart by their names.",
            "Rename or remove one.",
        )


def countable(table: Any) -> Any:
    """Return a table with columns of types that pyarrow can count."""
    for at, field in enumerate(table.schema):
        column = table.column(at)
        plainer = _countable(column)
        if plainer is not column:
            table = table.set_column(at, field.name, plainer)
    return table


def _countable(column: Any) -> Any:
    """Return a column, converted if pyarrow cannot count values of its type."""
    pa = pyarrow()
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        storage = [each.storage for each in column.chunks]
        return _countable(pa.chunked_array(storage, kind.storage_type))
    if pa.types.is_run_end_encoded(kind):
        from pyarrow import compute as pc

        decoded = [pc.run_end_decode(chunk) for chunk in column.chunks]
        return _countable(pa.chunked_array(decoded, kind.value_type))
    if pa.types.is_dictionary(kind):
        values = _plainer(kind.value_type)
        if values is None:
            return column
        chunks = [
            pa.DictionaryArray.from_arrays(each.indices, each.dictionary.cast(values))
            for each in column.chunks
        ]
        return pa.chunked_array(chunks, pa.dictionary(kind.index_type, values))
    plainer = _plainer(kind)
    return column if plainer is None else column.cast(plainer)


def _plainer(kind: Any) -> Any:
    """Return the replacement for a type that pyarrow cannot count; None for other types."""
    pa = pyarrow()
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_string_view(kind):  # the type of text in polars
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary_view(kind) else None


def check_not_counts(schema: Any, source: str) -> None:
    """Raise an error if a file was written by stakes, such as a count file."""
    if METADATA in (schema.metadata or {}):
        raise FileError(
            source,
            "expected predictions, got a file that stakes wrote. A count file cannot be combined "
            "with other files.",
            "Merge several count files into one first.",
            code="count_file_not_alone",
        )


def source_name(path: Any) -> str:
    """Return a file's name in messages, with bytes that are not UTF-8 escaped and no passwords."""
    name = redacted(str(path).encode(errors="backslashreplace").decode())
    return "standard input" if name == STANDARD_INPUT else name


def standard_input() -> bytes:
    """Return the whole content of standard input, unpacked."""
    if sys.stdin is None:
        raise FileError("standard input", "cannot be read: it is closed.")
    try:
        return unpacked_bytes(sys.stdin.buffer.read(), "standard input")
    except OSError as error:
        raise FileError("standard input", f"cannot be read: {error.strerror}.") from error


def is_pipe(path: Any) -> bool:
    """Tell whether a path is a pipe or a device, which can be read only once."""
    try:
        mode = as_path(path).stat().st_mode
    except (OSError, ValueError):  # reported when it is opened
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def piped(path: Any) -> bytes:
    """Return the whole content of a pipe, unpacked."""
    source = source_name(path)
    try:
        return unpacked_bytes(Path(path).read_bytes(), source)
    except OSError as error:
        raise FileError(source, f"cannot be read: {error.strerror}.") from error


def unpacked_bytes(content: bytes, source: str) -> bytes:
    """Return the content, unpacked if it begins like a packed file."""
    for magic, packing in UNPACKERS.items():
        if content.startswith(magic):
            return _read_packed(pyarrow().BufferReader(content), packing, source)
    return content


def text_stream(path: Any) -> Any:
    """Return a stream of the bytes of a text file, unpacked if its suffix is in `PACKED`."""
    pa = pyarrow()
    file = pa.OSFile(os.fsencode(path))  # encoded, because the name need not be UTF-8
    packing = PACKED.get(Path(path).suffix.lower())
    return file if packing is None else pa.CompressedInputStream(file, packing)


def _read_packed(packed: Any, packing: str, source: str) -> bytes:
    pa = pyarrow()
    try:
        with pa.CompressedInputStream(packed, packing) as stream:
            return bytes(stream.read())
    except (OSError, pa.ArrowInvalid) as error:
        raise FileError(
            source, f"cannot be unpacked: {shortly(error)} Was it cut short?"
        ) from error


def pyarrow(what: str = "reading tables", extra: str = "cli") -> Any:
    """Return pyarrow; if it is missing, the error names the feature and the extra to install."""
    return imported("pyarrow", what, f"'stakes[{extra}]'")


def check_readable(path: Any, source: str) -> None:
    """Check that a file can be opened and is not empty."""
    place = as_path(path)
    try:
        with place.open("rb") as file:
            empty = not file.read(1)
    except OSError as error:
        raise FileError(source, f"cannot be read: {error.strerror}.") from error
    except ValueError as error:  # not a valid file name
        raise FileError(f"{source!r}", f"cannot be read: {error}.") from error
    if empty:
        raise FileError(source, "the file is empty; expected a table of predictions.")


def _opened(path: Any, content: bytes | None, source: str) -> tuple[str, Callable[[], Any]]:
    """Return the format of a table, and a function that opens a stream of its bytes."""
    pa = pyarrow()
    if content is not None:
        if not content.strip():
            raise FileError(source, "the file is empty; expected a table of predictions.")
        return _shown_kind(content), partial(pa.BufferReader, content)
    if is_workbook(path):
        return "xlsx", lambda: str(path)
    kind, packing = file_kind(Path(path)), PACKED.get(Path(path).suffix.lower())
    if kind is None:
        raise FileError(
            source,
            "expected a name ending in .csv, .tsv, .jsonl, .parquet, .arrow, .feather or .xlsx.",
        )
    name = os.fsencode(path)  # it need not be UTF-8
    if packing is not None:
        return kind, partial(pa.BufferReader, _read_packed(pa.OSFile(name), packing, source))
    return kind, partial(pa.memory_map if kind in COLUMNAR else pa.OSFile, name)


def file_kind(path: Path) -> str | None:
    """Return the format by the suffix of a file; None if it is unknown."""
    name = path.with_suffix("") if path.suffix.lower() in PACKED else path
    return KINDS.get(name.suffix.lower())


def is_workbook(path: Any) -> bool:
    """Tell whether a path is a workbook, or one of its sheets."""
    return Path(workbook_of(path)[0]).suffix.lower() == SHEETS


def workbook_of(path: Any) -> tuple[str, str | None]:
    """Return the file and the sheet, or None, of a name such as "predictions.xlsx#January"."""
    name = str(path)
    if os.path.lexists(name) or f"{SHEETS}#" not in name.lower():
        return name, None
    file, _, sheet = name.rpartition("#")
    return file, sheet


def _read_workbook(named: Callable[[], str], source: str) -> Any:
    """Read a sheet of a workbook, with the types of its cells."""
    openpyxl = imported("openpyxl", "reading .xlsx files", "'stakes[excel]'")
    file, sheet = workbook_of(named())
    try:
        _check_rows_of_sheets(file, source)
        book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        with contextlib.closing(book):
            return _sheet_table(_chosen_sheet(book, sheet, file, source), source)
    except StakesError:
        raise
    except Exception as error:  # zip, XML and openpyxl raise many kinds of errors
        raise FileError(source, f"cannot be read as a workbook: {shortly(error)}") from error


def _check_rows_of_sheets(file: str, source: str) -> None:
    """Raise an error if rows of a sheet are out of order, because openpyxl would skip some."""
    with zipfile.ZipFile(file) as archive:
        for name in archive.namelist():
            if "worksheets/" in name and name.endswith(".xml"):
                numbers = [int(each) for each in ROW_NUMBER.findall(archive.read(name))]
                for before, after in pairwise(numbers):
                    if after <= before:
                        raise FileError(
                            source,
                            f"rows of a sheet are out of order: row {after} is after row {before}.",
                            "Save it anew with a spreadsheet program.",
                        )


def _chosen_sheet(book: Any, name: str | None, file: str, source: str) -> Any:
    """Return the named sheet of a workbook, or the only one that has cells."""
    sheets = {each.title: each for each in book.worksheets}
    for each in sheets.values():
        each.reset_dimensions()  # rows beyond the size that the file states would be skipped
    if name is not None:
        if name not in sheets:
            raise FileError(
                source, f"it has no sheet {name!r}; there are {', '.join([*sheets][:10])}."
            )
        return sheets[name]
    filled = [title for title, each in sheets.items() if any(map(_has_cells, _sheet_rows(each)))]
    if len(filled) > 1:
        raise FileError(
            source,
            f"it has {len(filled)} sheets: {', '.join(map(repr, filled[:10]))}.",
            f"Name one: {file}#{filled[0]}",
        )
    if not filled:
        raise FileError(source, "its sheets are empty; expected a table of predictions.")
    return sheets[filled[0]]


def _sheet_rows(sheet: Any) -> Iterator[Sequence[Any]]:
    """Iterate over the rows of a sheet, each with the values up to its last cell."""
    return iter(sheet.iter_rows(values_only=True))


def _has_cells(row: Sequence[Any]) -> bool:
    return any(cell is not None for cell in row)


def _sheet_table(sheet: Any, source: str) -> Any:
    """Return the table in a sheet, whose first row has the names of the columns."""
    rows = _sheet_rows(sheet)
    header = next(rows, ())
    width = max((at for at, name in enumerate(header, 1) if name is not None), default=0)
    if not width:
        raise FileError(source, "its first row is empty; expected the names of columns there.")
    wide = ((*row, *[None] * (width - len(row)))[:width] for row in rows)
    filled = [row for row in wide if _has_cells(row)]
    columns = zip(*filled, strict=True) if filled else [()] * width
    heads = ["" if name is None else str(name) for name in header[:width]]
    return pyarrow().Table.from_arrays([_cells(each) for each in columns], names=heads)


def _cells(values: Any) -> Any:
    """Return the cells of a column, as text if their types differ."""
    pa = pyarrow()
    try:
        return pa.array(values)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return pa.array([None if each is None else str(each) for each in values], pa.string())


def _shown_kind(content: bytes) -> str:
    """Return the format of a table by its first bytes."""
    for magic, kind in MAGIC.items():
        if content.startswith(magic):
            return kind
    return "jsonl" if content.lstrip()[:1] == b"{" else "csv"


LEAST_BLOCK, OF_A_COLUMN, MOST_BLOCK = 1 << 20, 1 << 12, 1 << 30
"""Block size of pyarrow in bytes: its default, the bytes per column of wide files, the maximum.

Each block becomes a chunk of each column, so small blocks of wide files would make many chunks.
"""


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
        from pyarrow import csv as arrow_csv

        block = _block_of(len(self.names if columns is None else columns))
        try:
            with self._reading(self._rows()) as rows:
                options = self._options(rows, block, columns)
                return arrow_csv.read_csv(rows.lend(), **options)
        except MisplacedQuoteError:
            with self._reading(strict := self._strict_rows()) as rows:
                options = self._options(rows, block, columns)
                table = arrow_csv.read_csv(rows.lend(), **options)
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

    def _tables(self, rows: WholeRows, options: dict[str, Any]) -> Iterator[Any]:
        pa = pyarrow()
        from pyarrow import csv as arrow_csv

        try:
            for batch in arrow_csv.open_csv(rows.lend(), **options):
                yield pa.Table.from_batches([batch])
        except pa.ArrowInvalid as error:
            if "Empty CSV" not in str(error):  # only a header
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
            if rows.problem is not None:
                raise rows.problem
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
    while len(start) <= MOST_OF_A_ROW:
        more = arrow_read(partial(stream.read, max(len(start), HEADER)), source, "a table")
        start += more
        found = _header_of(start, source, whole=not more)
        if found is not None:
            return found
    raise FileError(
        source,
        f"its header does not end in the first {len(start) >> 20:,} MB.",
        "Close the quote that is left open in it, if there is one.",
    )


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


def _read_csv(
    opened: Callable[[], Any], source: str, first: Callable[[str], bool] | None = None
) -> Any:
    file = CsvFile(opened, source)
    check_names(file.names, source)
    if first is None:
        return file.table()
    return LaterColumns(file, [name for name in file.names if first(name)])


def _read_jsonl(opened: Callable[[], Any], source: str) -> Any:
    return jsonl_table(opened().read_buffer(), source)


def jsonl_table(content: Any, source: str, before: int = 0) -> Any:
    """Read JSON lines.

    Parameters
    ----------
    content : bytes or pyarrow Buffer
        The lines.
    source : str
        The name of the file, for errors.
    before : int
        The number of lines of the file before these.
    """
    pa = pyarrow()
    from pyarrow import json as arrow_json

    try:
        check_objects(content)
        table = arrow_json.read_json(pa.BufferReader(content))
        as_text = pa.schema([_with_text(field) for field in table.schema])
        if as_text != table.schema:
            options = arrow_json.ParseOptions(explicit_schema=as_text)
            table = arrow_json.read_json(pa.BufferReader(content), parse_options=options)
        table.validate(full=True)  # pyarrow does not check that text is UTF-8
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, NoObjectError) as error:
        raise jsonl_problem(bytes(content), source, error, before) from error
    check_large_numbers(content, _large_numbers(table), (source, before))
    return table


def _with_text(field: Any) -> Any:
    """Return a field of JSON lines with text in place of dates, which pyarrow guesses.

    JSON has no dates, and labels and ids with different text, such as "2020-01-01" and
    "2020-01-01 00:00:00", would become the same.
    """
    pa, kind = pyarrow(), field.type
    if pa.types.is_timestamp(kind):
        return field.with_type(pa.string())
    if pa.types.is_list(kind):
        return field.with_type(pa.list_(_with_text(kind.value_field)))
    if pa.types.is_struct(kind):
        return field.with_type(pa.struct([_with_text(each) for each in kind]))
    return field


def _large_numbers(table: Any) -> list[str]:
    """Return the columns of floating-point numbers that are too large for exact whole numbers."""
    types = pyarrow().types
    from pyarrow import compute as pc

    floats = [field.name for field in table.schema if types.is_floating(field.type)]
    ranges = [pc.min_max(table.column(name)).as_py().values() for name in floats]
    return [
        name
        for name, ends in zip(floats, ranges, strict=True)
        if any(end is not None and abs(end) >= EXACT for end in ends)  # one may be infinite
    ]


def _read_parquet(opened: Callable[[], Any], source: str) -> Any:
    from pyarrow import parquet

    def read() -> Any:
        stream = opened()
        file = parquet.ParquetFile(stream, buffer_size=BUFFER)
        names = repetitive(file)
        stream.seek(0)
        # The same as parquet.read_table, which imports pandas if it is installed.
        table = parquet.ParquetFile(stream, read_dictionary=names, pre_buffer=True).read()
        check_number(table.num_rows, file.metadata, source)
        return table

    return arrow_read(read, source, "a Parquet file")


def check_number(rows: int, metadata: Any, source: str) -> None:
    """Raise an error if a Parquet file has another number of rows than its metadata states."""
    if rows != metadata.num_rows:
        raise FileError(
            source, f"it is damaged: it says that it has {metadata.num_rows:,} rows, got {rows:,}."
        )


def repetitive(file: Any) -> list[str]:
    """Return the text columns whose size shows that they have few distinct values.

    They are read as dictionaries, as stored in the file, which makes counting fast.

    Parameters
    ----------
    file : pyarrow ParquetFile
        The file, opened with a `buffer_size`, because the first bytes of each column are read.
    """
    metadata = file.metadata
    places = range(metadata.num_columns)
    kinds = {at: metadata.schema.column(at).physical_type for at in places}
    texts = {at: metadata.schema.column(at).path for at in places if kinds[at] == "BYTE_ARRAY"}
    size_of, packed = dict.fromkeys(texts.values(), 0), set()
    for number in range(metadata.num_row_groups) if texts else ():
        group = metadata.row_group(number)
        if group.num_rows:
            # Damage raises an error here; reading the size of the column would crash the process.
            next(file.iter_batches(1, [number], list(texts.values()), use_threads=False), None)
            for at, name in texts.items():
                column = group.column(at)
                if column.path_in_schema != name:  # only damage can cause this
                    raise pyarrow().ArrowInvalid(
                        f"its column {name!r} is {column.path_in_schema!r} in another place"
                    )
                size_of[name] += column.total_uncompressed_size
                if not set(column.encodings) <= SIMPLE:
                    packed.add(name)
    most = LEAST_TEXT * metadata.num_rows
    return [name for name, size in size_of.items() if size < most and name not in packed]


def _read_arrow(opened: Callable[[], Any], source: str) -> Any:
    from pyarrow import feather

    def read() -> Any:
        table = feather.read_table(opened())
        table.validate(full=True)  # pyarrow trusts the file's description of its bytes
        return table

    return arrow_read(read, source, "an Arrow file")


def arrow_read(read: Callable[[], Any], source: str, kind: str) -> Any:
    """Call a reader of pyarrow, and turn its errors into errors that name the file."""
    pa = pyarrow()
    try:
        return read()
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FileError(source, f"cannot be read as {kind}: {shortly(error)}") from error


_READERS = {
    "jsonl": _read_jsonl,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "xlsx": _read_workbook,
}
