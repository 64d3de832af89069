"""Files, read with clear errors and written whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any, TextIO

from stakes.errors import FileError, InputTypeError


def as_path(path: Any) -> Path:
    """Check that `path` can be the name of a file."""
    if not isinstance(path, str | os.PathLike) or isinstance(os.fspath(path), bytes):
        raise InputTypeError(
            "path",
            f"expected the name of a file, as text or a pathlib.Path, got {path!r} "
            f"({type(path).__name__}).",
        )
    if "\0" in os.fspath(path):
        raise FileError("path", f"the name of a file cannot hold a NUL character, got {path!r}.")
    return Path(path)


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a UTF-8 file (with or without a byte-order mark)."""
    source = as_path(path)
    try:
        return source.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(
            f"{path}",
            f"expected UTF-8 text, got the byte {error.object[error.start]:#04x} at position "
            f"{error.start}.",
            "Save the file as UTF-8.",
        ) from error
    except OSError as error:
        raise FileError(f"{path}", f"cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise FileError(f"{path!r}", f"cannot be the name of a file: {error}.") from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 file: into a temporary file beside it, then renamed, never half-written."""
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        raise FileError(f"{path!r}", f"cannot be written: {error}.") from error
    write_binary(path, content)


def write_binary(path: str | os.PathLike[str], content: bytes) -> None:
    """Write a file: into a temporary file beside it, then renamed, never half-written.

    A link stays a link, and a device or a pipe is written to as it is.
    """
    target = as_path(path)
    if not target.name:
        raise FileError(f"{path}", "cannot be written: it is not the name of a file.")
    temporary: Path | None = None
    try:
        target = target.resolve()
        if target.exists() and not (target.is_file() or target.is_dir()):
            target.write_bytes(content)
            return
        temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # lest a power cut leave the new name without its content
        temporary.replace(target)
    except UnicodeEncodeError as error:
        raise FileError(f"{path!r}", f"cannot be written: {error}.") from error
    except OSError as error:
        raise FileError(f"{path}", f"cannot be written: {error.strerror}.") from error
    finally:
        if temporary is not None:
            with contextlib.suppress(OSError, ValueError):  # it was renamed, or never made
                temporary.unlink()


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise when a file cannot be written for want of a folder, before work goes into it."""
    target = as_path(path)
    if target.is_dir():
        raise FileError(f"{path}", "cannot be written: it is a folder.")
    if not target.parent.is_dir():
        raise FileError(f"{path}", f"cannot be written: there is no folder {str(target.parent)!r}.")


def discard(stream: TextIO) -> None:
    """Send what a stream still holds, and all that follows, nowhere: its reader is gone."""
    with contextlib.suppress(OSError, ValueError):  # it is no file, as under a test
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, stream.fileno())
        os.close(nowhere)
