"""Read JSON lines, Parquet, Arrow and Excel files."""

from __future__ import annotations

import contextlib
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from stakes._core.optional import imported
from stakes.errors import FileError, StakesError
from stakes.read._diagnose import (
    NoObjectError,
    check_depth,
    check_large_numbers,
    check_objects,
    jsonl_problem,
    shortly,
)
from stakes.read.sources import arrow_read, pyarrow, workbook_of

ROW_NUMBER = re.compile(rb"""<(?:\w+:)?row\b[^>]*?\sr=["'](\d+)""")
"""Pattern of a row number in the XML of a sheet."""
LEAST_TEXT = 4
"""Minimum number of bytes of a text in a Parquet file without a dictionary."""

SIMPLE = {"PLAIN", "RLE", "BIT_PACKED", "PLAIN_DICTIONARY", "RLE_DICTIONARY"}
"""Parquet encodings that pyarrow can read as a dictionary; it refuses others."""

EXACT = 2**53
"""Largest whole number up to which all are exact as floating-point numbers."""

FIRST_LINES = 1 << 16
"""Bytes of JSON lines in which columns with dates are looked for first."""

BUFFER = 1 << 20
"""Bytes of a Parquet column read at a time; by default, it is a whole row group."""


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
    check_depth(content, (source, before))
    try:
        check_objects(content)
        table = _with_dates_as_text(content)
        table.validate(full=True)  # pyarrow does not check that text is UTF-8
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, NoObjectError) as error:
        raise jsonl_problem(bytes(content), source, error, before) from error
    check_large_numbers(content, _large_numbers(table), (source, before))
    return table


def _with_dates_as_text(content: Any) -> Any:
    """Parse JSON lines, twice only if dates occur in columns that have none in the first lines."""
    pa = pyarrow()
    from pyarrow import json as arrow_json

    first = _first_schema(content)
    dates = [date for field in first if (date := _date_as_text(field)) is not None]
    options = arrow_json.ParseOptions(explicit_schema=pa.schema(dates) if dates else None)
    table = arrow_json.read_json(pa.BufferReader(content), parse_options=options)
    if dates:  # pyarrow puts these first
        table = table.select(list(dict.fromkeys([*first.names, *table.column_names])))
    as_text = pa.schema([_with_text(field) for field in table.schema])
    if as_text != table.schema:
        options = arrow_json.ParseOptions(explicit_schema=as_text)
        table = arrow_json.read_json(pa.BufferReader(content), parse_options=options)
    return table


def _first_schema(content: Any) -> Any:
    """Return the names and types of the columns in the first lines of a file of JSON lines."""
    pa = pyarrow()
    from pyarrow import json as arrow_json

    lines = bytes(memoryview(content)[:FIRST_LINES])
    whole = lines[: lines.rfind(b"\n") + 1]
    if len(lines) < FIRST_LINES or not whole.strip():
        return pa.schema([])  # parsing a short file twice is fast
    try:
        return arrow_json.read_json(pa.BufferReader(whole)).schema
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # an object of several lines, say
        return pa.schema([])


def _date_as_text(field: Any) -> Any:
    """Return only the dates of a field, as text; None if it has none."""
    pa, kind = pyarrow(), field.type
    if pa.types.is_timestamp(kind):
        return field.with_type(pa.string())
    if pa.types.is_list(kind):
        inner = _date_as_text(kind.value_field)
        return None if inner is None else field.with_type(pa.list_(inner))
    if pa.types.is_struct(kind):
        inner = [date for each in kind if (date := _date_as_text(each)) is not None]
        return field.with_type(pa.struct(inner)) if inner else None
    return None


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


READERS = {
    "jsonl": _read_jsonl,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "xlsx": _read_workbook,
}
