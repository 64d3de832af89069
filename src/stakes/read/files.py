"""Text files, read with clear errors and written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

from stakes.errors import FileError


def read_text(path: str | os.PathLike[str]) -> str:
    """Read a UTF-8 file (with or without a byte-order mark)."""
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileError(
            f"{path}: expected UTF-8 text, got the byte {error.object[error.start]:#04x} at "
            f"position {error.start}. Save the file as UTF-8."
        ) from error
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}.") from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a UTF-8 file: into a temporary file beside it, then renamed, never half-written."""
    target = Path(path)
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("w", encoding="utf-8", newline="") as file:
            file.write(text)
        temporary.replace(target)
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}.") from error
    finally:
        temporary.unlink(missing_ok=True)
