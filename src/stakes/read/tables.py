"""Read tables from files, standard input and data frames, and locate their rows for messages.

pyarrow reads most of them. Text that it refuses is read again, slowly, to name the invalid line.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from stakes._core.validate import aligned, refuse_frame
from stakes.errors import FileError, InputError, StakesError
from stakes.read._diagnose import (
    cells_of_any_length,
    csv_lines,
    jsonl_lines,
    no_rows,
    shortly,
)
from stakes.read.csv_file import CsvFile, LaterColumns, csv_header
from stakes.read.formats import READERS
from stakes.read.sources import (
    STANDARD_INPUT,
    arrow_read,
    check_readable,
    is_pipe,
    is_workbook,
    opened_table,
    piped,
    pyarrow,
    source_name,
    standard_input,
    text_stream,
    workbook_of,
)

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
    kind, opened = opened_table(path, content, source)
    if kind == "csv":
        table = arrow_read(lambda: _read_csv(opened, source, first), source, "a table")
    else:
        table = arrow_read(lambda: countable(READERS[kind](opened, source)), source, "a table")
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
    except (StakesError, MemoryError):
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


def _read_csv(
    opened: Callable[[], Any], source: str, first: Callable[[str], bool] | None = None
) -> Any:
    file = CsvFile(opened, source)
    check_names(file.names, source)
    if first is None:
        return file.table()
    return LaterColumns(file, [name for name in file.names if first(name)])
