"""Parquet files that say something of their own beside their columns."""

from __future__ import annotations

import io
import json
import os
from typing import Any

from stakes.errors import FileError
from stakes.read.files import as_path
from stakes.read.tables import pyarrow

KEY = b"stakes"
"""The metadata of the schema under which it stands, as JSON."""


def parquet_bytes(table: Any, content: dict[str, Any]) -> bytes:
    """Return a pyarrow table and what is said of it as the bytes of a Parquet file."""
    from pyarrow import parquet

    said = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    file = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({KEY: said}), file, compression="zstd")
    return file.getvalue()


def said_in_parquet(path: str | os.PathLike[str]) -> bool:
    """Tell whether a file is Parquet with something said of its own; no file is no error."""
    pa = pyarrow()
    from pyarrow import parquet

    try:
        return KEY in (parquet.read_schema(as_path(path)).metadata or {})
    except (OSError, ValueError, pa.ArrowException):
        return False


def read_parquet(path: str | os.PathLike[str], what: str) -> tuple[Any, Any]:
    """Read a pyarrow table and what is said of it.

    Parameters
    ----------
    path : path
        The file.
    what : str
        What it should be, such as "a count file", for errors.
    """
    pa = pyarrow()
    from pyarrow import parquet

    place = as_path(path)
    try:
        table = parquet.read_table(place, partitioning=None)
        table.validate(full=True)
        said = (table.schema.metadata or {}).get(KEY)
        return table, None if said is None else json.loads(said)
    except FileNotFoundError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or 'No such file'}.") from error
    except (OSError, ValueError, pa.ArrowException) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise FileError(
            f"{path}: not {what}, because it cannot be read as a Parquet file: "
            f"{lines[0][:200].rstrip('.')}. Was it cut short?"
        ) from error
