"""What commands say: results on standard output, remarks on standard error, JSON in files."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from stakes.errors import InputError

WIDTH = 80
STANDARD_OUTPUT = Path("-")
NO_BREAK = "\N{NO-BREAK SPACE}"


class Output:
    """What a command says; the same text whatever the terminal, coloured only in one.

    Parameters
    ----------
    quiet : bool
        Whether remarks are left out.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._json: Path | None = None
        self._remarked: set[str] = set()
        self._lines: list[tuple[str, str]] = []

    def remark(self, text: str) -> None:
        """Say on standard error, once, what was understood or done, unless asked to be quiet."""
        if not self.quiet and text not in self._remarked:
            self._remarked.add(text)
            print(text, file=sys.stderr)

    def will_write(self, *paths: Path | None, inputs: Iterable[Any] = ()) -> None:
        """Check the names of files before work goes into them; inputs must not be overwritten."""
        from stakes.read import as_path, check_writable

        given = [as_path(each) for each in inputs if each is not None]
        taken = {each.resolve() for each in given if each != STANDARD_OUTPUT}
        for path in paths:
            if path is None or path == STANDARD_OUTPUT:
                continue
            check_writable(path)
            if path.resolve() in taken:
                raise InputError(f"{path}: this is an input; it would be overwritten.")

    def only_json(self, path: Path | None) -> None:
        """Remember where the results go as JSON; to standard output means that only."""
        self._json = path

    def text(self, text: str = "", style: str = "", *, indent: int = 0) -> None:
        """Say sentences, wrapped; a style shows in a terminal only."""
        together = text.replace(" %", f"{NO_BREAK}%").replace(" = ", f"{NO_BREAK}={NO_BREAK}")
        lines = textwrap.fill(
            together,
            WIDTH,
            initial_indent=" " * indent,
            subsequent_indent=" " * indent,
            break_on_hyphens=False,
            break_long_words=False,
        )
        self._say(lines.replace(NO_BREAK, " "), style)

    def table(self, text: str) -> None:
        """Say a table, its first line being the header."""
        header, *rows = text.splitlines()
        self._say(header, "bold")
        for row in rows:
            self._say(row)

    def results(self, content: dict[str, Any]) -> None:
        """Write the results as JSON, where that was asked for."""
        if self._json is None:
            return
        text = json.dumps(plain(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        if self._json == STANDARD_OUTPUT:
            self._lines = [(text.removesuffix("\n"), "")]
            return
        self.write_text(self._json, text)

    def write_text(self, path: Path, text: str) -> None:
        """Write a file, and say so."""
        self.write_binary(path, text.encode())

    def write_binary(self, path: Path, content: bytes) -> None:
        """Write a file, and say so."""
        from stakes.read import write_binary

        write_binary(path, content)
        self.remark(f"Wrote {path}.")

    def finish(self) -> None:
        """Say all that there is to say, once nothing can go wrong any more."""
        for text, style in self._lines:
            _print(text, style)

    def _say(self, text: str, style: str = "") -> None:
        self._lines.append((text, style))


def _print(text: str, style: str) -> None:
    if not style or not _coloured():
        print(text)
        return
    from rich.console import Console
    from rich.text import Text

    Console(highlight=False, soft_wrap=True).print(Text(text, style=style))


def plain(value: Any) -> Any:
    """Return what JSON can hold: infinite numbers become text, numbers that are none null."""
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, bool | int | str) or value is None:
        return value
    number = float(value)
    if number != number:  # noqa: PLR0124 - only NaN differs from itself
        return None
    return number if abs(number) != float("inf") else str(number)


def csv_text(header: Sequence[Any], rows: Iterable[Sequence[Any]], separator: str = ",") -> str:
    """Write rows as the text of a CSV file."""
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def _coloured() -> bool:
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
