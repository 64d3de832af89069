"""Text files, read with clear errors and written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

from stakes.errors import FileError, InputTypeError


def as_path(path: Any) -> Path:
    """Check that `path` can be the name of a file."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise InputTypeError(
            f"path: expected the name of a file, as text or a pathlib.Path, got {path!r} "
            f"({type(path).__name__})."
        )
    if "\0" in os.fspath(path):
        raise FileError(f"path: the name of a file cannot hold a NUL character, got {path!r}.")
    return Path(path)


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a UTF-8 file (with or without a byte-order mark)."""
    source = as_path(path)
    try:
        return source.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(
            f"{path}: expected UTF-8 text, got the byte {error.object[error.start]:#04x} at "
            f"position {error.start}. Save the file as UTF-8."
        ) from error
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise FileError(f"{path!r}: cannot be the name of a file: {error}.") from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 file: into a temporary file beside it, then renamed, never half-written."""
    target = as_path(path)
    if not target.name:
        raise FileError(f"{path}: cannot be written: it is not the name of a file.")
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
        temporary.replace(target)
    except UnicodeEncodeError as error:
        raise FileError(f"{path!r}: cannot be written: {error}.") from error
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}.") from error
    finally:
        with contextlib.suppress(OSError, ValueError):  # it was renamed, or never made
            temporary.unlink()
