"""The names of files that commands write."""

from __future__ import annotations

from pathlib import Path

from stakes.errors import FileError


def check_json_name(path: Path) -> None:
    """Raise when the name of a count file would not be known as one."""
    if path.suffix.lower() != ".json":
        raise FileError(f"{path}: expected a name ending in .json, by which a count file is known.")


def check_name(path: Path | None, endings: tuple[str, ...]) -> None:
    """Raise when the name of a file does not tell one of the formats that can be written."""
    if path is not None and path.suffix.lower() not in endings:
        *some, last = endings
        known = f"{', '.join(some)} or {last}" if some else last
        raise FileError(f"{path}: expected a name ending in {known}.")
