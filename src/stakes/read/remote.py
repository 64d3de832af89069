"""Remote tables, in a PostgreSQL database or in an object store."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from stakes._core.optional import imported
from stakes.errors import FileError, InputTypeError, redacted
from stakes.read._diagnose import no_rows, shortly
from stakes.read.sources import file_kind, pyarrow, source_name, unpacked_bytes
from stakes.read.tables import FileRows, check_names, countable, read_table

DATABASE = re.compile(r"postgres(ql)?://")
STORE = re.compile(r"s3://")

AT_ONCE = 1 << 16
"""Rows fetched from a server at a time."""

WHOLE, FRACTIONS = ("int2", "int4", "int8", "oid"), ("float4", "float8", "numeric")
PADDED = "bpchar"
"""PostgreSQL's char(n), whose trailing blanks are not part of the text."""


def is_database(address: Any) -> bool:
    """Tell whether an address is that of a database, by its scheme."""
    return DATABASE.match(str(address)) is not None


def is_remote(address: Any) -> bool:
    """Tell whether an address is that of a database or an object store, not of a local file."""
    return is_database(address) or STORE.match(str(address)) is not None


def read_remote(address: str, table: str | None = None, query: str | None = None) -> FileRows:
    """Read the rows of a remote table, all of them or none.

    Parameters
    ----------
    address : str
        The address, such as ``postgresql://user:password@host/db`` or
        ``s3://bucket/file.parquet``. Messages never show the password.
    table, query : str, optional
        The database table, or the query that selects the rows; exactly one of them.
    """
    if is_database(address):
        return _database_rows(address, table, query)
    source = source_name(address)
    return read_table(source, unpacked_bytes(_stored(address, source), source))


# -- databases: a single query, so one state of the table, in a read-only transaction


def _database_rows(address: str, table: str | None, query: str | None) -> FileRows:
    source = source_name(address)
    if (table is None) == (query is None):
        raise InputTypeError(
            source,
            "which rows of the database are the predictions?",
            "Name a table with table=, or select the rows with query=; not both.",
        )
    psycopg = imported("psycopg", "reading databases", "'stakes[databases]'")
    try:
        with psycopg.connect(address) as connection:
            connection.read_only = True
            rows = _selected(connection, table, query)
    except (psycopg.Error, UnicodeError, ValueError) as error:
        # The error is not chained, because its text may contain the address with the password.
        what = " ".join(str(error).split())
        raise FileError(
            source,
            f"the database cannot be read, so nothing was counted: {_without(what, address)}",
        ) from None
    check_names(rows.column_names, source)
    if not rows.num_rows:
        raise no_rows(source, rows.column_names)
    return FileRows(countable(rows), source, "database")


def _without(text: str, address: str) -> str:
    """Return a text with the passwords of an address, and of others in it, redacted."""
    return redacted(text.replace(address, redacted(address)))


def _selected(connection: Any, table: str | None, query: str | None) -> Any:
    """Return the rows that a query selects as an Arrow table."""
    from psycopg import sql
    from psycopg.types.numeric import FloatLoader

    pa = pyarrow()
    connection.adapters.register_loader("numeric", FloatLoader)
    statement: Any = query
    if table is not None:
        statement = sql.SQL("SELECT * FROM {}").format(sql.Identifier(*table.split(".")))
    with connection.cursor(name="predictions") as cursor:  # with a name, rows stay on the server
        cursor.itersize = AT_ONCE
        cursor.execute(statement)
        made = [_column_of(connection, each.type_code) for each in cursor.description]
        pieces: list[list[Any]] = [[] for _ in made]
        while batch := cursor.fetchmany(AT_ONCE):
            for make, piece, values in zip(made, pieces, zip(*batch, strict=True), strict=True):
                piece.append(make(values))
        names = [each.name for each in cursor.description]
    kinds = [make([]).type for make in made]
    arrays = [pa.chunked_array(each, kind) for each, kind in zip(pieces, kinds, strict=True)]
    return pa.Table.from_arrays(arrays, names=names)


def _column_of(connection: Any, code: int) -> Callable[[Any], Any]:
    """Return the conversion of values of a PostgreSQL type to an Arrow array."""
    pa = pyarrow()
    info = connection.adapters.types.get(code)
    name = "" if info is None else info.name
    if name == "bool":
        return lambda values: pa.array(values, pa.bool_())
    if name in WHOLE:
        return lambda values: pa.array(values, pa.int64())
    if name in FRACTIONS:
        return lambda values: pa.array(values, pa.float64())

    def texts(values: Any) -> Any:
        text = [None if each is None else str(each) for each in values]
        if name == PADDED:
            text = [None if each is None else each.rstrip(" ") for each in text]
        return pa.array(text, pa.string())

    return texts


# -- object stores


def _stored(address: str, source: str) -> bytes:
    """Return the content of a file in an object store."""
    pa = pyarrow()
    from pyarrow import fs

    if file_kind(Path(address.split("?", maxsplit=1)[0])) is None:
        raise FileError(
            source,
            "expected a file of predictions named .csv, .tsv, .jsonl, .parquet, .arrow or "
            ".feather in the object store.",
            "Copy other files here first.",
        )
    try:
        system, path = fs.FileSystem.from_uri(address)
        with system.open_input_file(path) as file:
            return bytes(file.read())
    except MemoryError:  # pyarrow's is an ArrowException too
        raise
    except (OSError, ValueError, pa.ArrowException) as error:
        what = _without(shortly(error), address)
        raise FileError(source, f"the object store cannot be read: {what}") from None
