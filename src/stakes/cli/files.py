"""The files that commands write, and their names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from stakes.errors import FileError

if TYPE_CHECKING:
    from stakes.study.counted import Counted


COUNTS = (".json", ".parquet")
"""How the names of count files end."""


def check_counts_name(path: Path) -> None:
    """Raise when the name of a count file would not be known as one."""
    if path.suffix.lower() not in COUNTS:
        raise FileError(
            f"{path}: expected a name ending in .json or .parquet, by which a count file is known."
        )


def write_counts(path: Path, counts: Counted) -> None:
    """Write a count file in the format that its name ends with."""
    from stakes.read import write_binary, write_text

    if path.suffix.lower() == ".parquet":
        from stakes.study.counts_parquet import counts_bytes

        write_binary(path, counts_bytes(counts))
    else:
        from stakes.study.counts_file import counts_text

        write_text(path, counts_text(counts))


def check_name(path: Path | None, endings: tuple[str, ...]) -> None:
    """Raise when the name of a file does not tell one of the formats that can be written."""
    if path is not None and path.suffix.lower() not in endings:
        *some, last = endings
        known = f"{', '.join(some)} or {last}" if some else last
        raise FileError(f"{path}: expected a name ending in {known}.")
