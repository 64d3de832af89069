"""Read JSON lines, Parquet, Arrow and Excel files into tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from stakes.errors import FileError
from stakes.read._diagnose import (
    NoObjectError,
    check_depth,
    check_large_numbers,
    check_objects,
    jsonl_problem,
)
from stakes.read.sources import arrow_read, pyarrow
from stakes.read.workbook import read_workbook

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
    """Raise an error if a Parquet file has another number of rows than its metadata states.

    pyarrow reads the rows that the file states, other software those that its row groups state.
    """
    groups = sum(metadata.row_group(each).num_rows for each in range(metadata.num_row_groups))
    for stated, where in ((metadata.num_rows, "the file states"), (groups, "its groups state")):
        if rows != stated:
            raise FileError(
                source, f"it is damaged: it has {rows:,} rows, and {where} that it has {stated:,}."
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
    "xlsx": read_workbook,
}
