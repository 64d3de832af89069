"""Files that stakes writes and reads again: checksums, JSON, and Parquet with metadata."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.errors import FileError
from stakes.read.files import as_path
from stakes.read.sources import pyarrow
from stakes.read.tables import METADATA


def checksum(header: Mapping[str, object], arrays: Iterable[NDArray[Any]] = ()) -> str:
    """Return the SHA-256 of plain values and of arrays of numbers.

    It depends on the content of a file and not on its spacing, order of keys or compression: the
    keys of the header are sorted, whole numbers are hashed as 64-bit integers, and others as 64-bit
    floats, the least significant byte first.
    """
    text = json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False)
    digest = hashlib.sha256(text.encode())
    for array in arrays:
        digest.update(f"{array.shape}".encode())
        plain = np.ascontiguousarray(array, "<f8" if array.dtype.kind == "f" else "<i8")
        digest.update(plain.data)
    return f"sha256:{digest.hexdigest()}"


def check_unchanged(written: object, found: str, source: str, what: str) -> None:
    """Raise an error if the content of a file does not match its checksum."""
    if written != found:
        raise FileError(
            source,
            f"{what} was changed after it was written: its checksum is {written!r}, and what it "
            f"holds has {found!r}.",
            "Write or copy it again; do not edit it.",
        )


def json_content(text: str, source: str, what: str) -> Any:
    """Read the JSON text of a file.

    Parameters
    ----------
    text : str
        The text.
    source : str
        The name of the file, for errors.
    what : str
        The expected kind of file, such as "a count file".
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise FileError(
            f"{source}, line {error.lineno}, column {error.colno}",
            f"not {what}, because it is not JSON: {error.msg}. Was it cut short?",
        ) from error
    except (ValueError, RecursionError) as error:
        raise FileError(source, f"cannot be read as JSON: {error}.") from error


# Parquet files with metadata of stakes, as JSON in the schema's metadata.


def parquet_bytes(table: Any, metadata: Mapping[str, object]) -> bytes:
    """Return a pyarrow table and its metadata as the bytes of a Parquet file."""
    from pyarrow import parquet

    text = json.dumps(metadata, ensure_ascii=False, allow_nan=False).encode()
    file = io.BytesIO()
    parquet.write_table(table.replace_schema_metadata({METADATA: text}), file, compression="zstd")
    return file.getvalue()


def has_metadata(path: str | os.PathLike[str], content: bytes | None = None) -> bool:
    """Tell whether a file exists and is Parquet with metadata of stakes.

    Parameters
    ----------
    path : path
        The file.
    content : bytes, optional
        The content of the file, if it was read already.
    """
    pa = pyarrow()
    from pyarrow import parquet

    try:
        return METADATA in (parquet.read_schema(_opened(path, content)).metadata or {})
    except MemoryError:  # pyarrow's is an ArrowException too
        raise
    except (OSError, ValueError, pa.ArrowException):
        return False


def read_parquet(
    path: str | os.PathLike[str],
    what: str,
    remedy: str = "Was it cut short?",
    content: bytes | None = None,
) -> tuple[Any, Any]:
    """Read a pyarrow table and its metadata of stakes, None if it has none.

    Parameters
    ----------
    path : path
        The file.
    what : str
        The expected kind of file, such as "a count file", for errors.
    remedy : str, optional
        The remedy for a file that cannot be read.
    content : bytes, optional
        The content of the file, if it was read already.
    """
    pa = pyarrow()
    from pyarrow import parquet

    try:
        table = parquet.read_table(_opened(path, content), partitioning=None)
        table.validate(full=True)
        text = (table.schema.metadata or {}).get(METADATA)
        return table, None if text is None else json.loads(text)
    except FileNotFoundError as error:
        raise FileError(f"{path}", "cannot be read: No such file.") from error
    except MemoryError:  # pyarrow's is an ArrowException too
        raise
    except (OSError, ValueError, RecursionError, pa.ArrowException) as error:
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise FileError(
            f"{path}",
            f"not {what}, because it cannot be read as a Parquet file: "
            f"{lines[0][:200].rstrip('.')}.",
            remedy,
        ) from error


def _opened(path: str | os.PathLike[str], content: bytes | None) -> Any:
    pa = pyarrow()
    return pa.OSFile(os.fsencode(as_path(path))) if content is None else pa.BufferReader(content)
