"""Sources of tables: names, formats, pipes, compression, and the bytes of each."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from stakes._core.optional import imported
from stakes.errors import FileError, redacted
from stakes.read._diagnose import (
    shortly,
)
from stakes.read.files import as_path

STANDARD_INPUT = "-"
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

COLUMNAR = ("parquet", "arrow")

PACKED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
UNPACKERS: Mapping[bytes, str] = {b"\x1f\x8b\x08": "gzip", b"\x28\xb5\x2f\xfd": "zstd"} | {
    b"BZh%d1AY&SY" % level: "bz2" for level in range(1, 10)
}
MAGIC = {b"PAR1": "parquet", b"ARROW1": "arrow"}


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


def check_readable(path: Any, source: str, size: int = 1) -> bytes:
    """Check that a file can be opened and is not empty, and return its first bytes."""
    place = as_path(path)
    try:
        with place.open("rb") as file:
            beginning = file.read(size)
    except OSError as error:
        raise FileError(source, f"cannot be read: {error.strerror}.") from error
    except ValueError as error:  # not a valid file name
        raise FileError(f"{source!r}", f"cannot be read: {error}.") from error
    if not beginning:
        raise FileError(source, "the file is empty; expected a table of predictions.")
    return beginning


def opened_table(path: Any, content: bytes | None, source: str) -> tuple[str, Callable[[], Any]]:
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


def _shown_kind(content: bytes) -> str:
    """Return the format of a table by its first bytes."""
    for magic, kind in MAGIC.items():
        if content.startswith(magic):
            return kind
    return "jsonl" if content.lstrip()[:1] == b"{" else "csv"


def arrow_read(read: Callable[[], Any], source: str, kind: str) -> Any:
    """Call a reader of pyarrow, and turn its errors into errors that name the file."""
    pa = pyarrow()
    try:
        return read()
    except MemoryError:  # pyarrow's is an ArrowException too
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        raise FileError(source, f"cannot be read as {kind}: {shortly(error)}") from error
