"""Parquet files that say something of their own beside their columns."""

from __future__ import annotations

import io
import json
import os
from typing import Any

from stakes.errors import FileError
from stakes.read.files import as_path
from stakes.read.tables import SAID, pyarrow


def parquet_bytes(table: Any, content: dict[str, Any]) -> bytes:
    """Return a pyarrow table and what is said of it, in its metadata, as a Parquet file."""
    from pyarrow import parquet

    said = json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    file = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({SAID: said}), file, compression="zstd")
    return file.getvalue()


def said_in_parquet(path: str | os.PathLike[str], content: bytes | None = None) -> bool:
    """Tell whether a file is Parquet with something said of its own; no file is no error.

    Parameters
    ----------
    path : path
        The file.
    content : bytes, optional
        What it holds, if it was read already.
    """
    pa = pyarrow()
    from pyarrow import parquet

    try:
        return SAID in (parquet.read_schema(_opened(path, content)).metadata or {})
    except (OSError, ValueError, pa.ArrowException):
        return False


def read_parquet(
    path: str | os.PathLike[str],
    what: str,
    remedy: str = "Was it cut short?",
    content: bytes | None = None,
) -> tuple[Any, Any]:
    """Read a pyarrow table and what is said of it, None if nothing is.

    Parameters
    ----------
    path : path
        The file.
    what : str
        What it should be, such as "a count file", for errors.
    remedy : str, optional
        What to do about a file that cannot be read.
    content : bytes, optional
        What the file holds, if it was read already.
    """
    pa = pyarrow()
    from pyarrow import parquet

    try:
        table = parquet.read_table(_opened(path, content), partitioning=None)
        table.validate(full=True)
        said = (table.schema.metadata or {}).get(SAID)
        return table, None if said is None else json.loads(said)
    except FileNotFoundError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or 'No such file'}.") from error
    except (OSError, ValueError, pa.ArrowException) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise FileError(
            f"{path}: not {what}, because it cannot be read as a Parquet file: "
            f"{lines[0][:200].rstrip('.')}. {remedy}"
        ) from error


def _opened(path: str | os.PathLike[str], content: bytes | None) -> Any:
    return as_path(path) if content is None else pyarrow().BufferReader(content)
