"""Output of commands: results on standard output, remarks on standard error, JSON in files."""

from __future__ import annotations

import os
import re
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any, Self

from stakes.errors import InputError, redacted

# A progress bar on a terminal, for work that takes more than a second.

DELAY = 1.0
"""Delay after which the bar appears, in seconds; shorter work never shows it."""


class Progress:
    """Progress bar on standard error, shown once the work takes more than a second.

    Parameters
    ----------
    shown : bool
        Whether to show anything; never if standard error is not a terminal.
    """

    def __init__(self, *, shown: bool) -> None:
        self._shown = shown and sys.stderr.isatty()
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._bar: Any = None
        self._text, self._done, self._total = "", 0, 1

    def __enter__(self) -> Self:
        if self._shown:
            self._timer = threading.Timer(DELAY, self._begin)
            self._timer.daemon = True
            self._timer.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._shown = False
            if self._bar is not None:
                self._bar.stop()
                self._bar = None

    @property
    def visible(self) -> bool:
        """Whether the bar is shown."""
        return self._bar is not None

    def expect(self, steps: int) -> None:
        """Set the number of further steps."""
        self._total = self._done + max(steps, 1)

    def step(self, text: str) -> None:
        """Begin the next step."""
        with self._lock:
            self._text, self._done = text, min(self._done + 1, self._total)
            self._update()

    def reach(self, done: int, total: int, text: str) -> None:
        """Set the number of steps done and of all steps, for steps done in any order."""
        with self._lock:
            self._text, self._done, self._total = text, done + 1, total
            self._update()

    def _begin(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        with self._lock:
            if not self._shown:
                return
            self._bar = Bar(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.add_task(self._text, total=self._total)
            self._bar.start()
            self._update()

    def _update(self) -> None:
        if self._bar is not None:
            self._bar.update(
                self._bar.task_ids[0],
                description=self._text,
                completed=self._done - 1,
                total=self._total,
            )


STANDARD_OUTPUT = Path("-")
OPTIONS = {
    "actual": "--actual",
    "drop_missing": "--drop-missing",
    "groups": "--groups",
    "ignore_case": "--ignore-case",
    "key": "--id",
    "lower_is_positive": "--lower-is-positive",
    "model_column": "--model-column",
    "models": "--model",
    "scores": "--score",
}
"""The options of the Python arguments that notes mention."""

ARGUMENT = re.compile(rf"\b({'|'.join(OPTIONS)})=(?![\w'])")
NO_BREAK = "\N{NO-BREAK SPACE}"


class Output:
    """Output of a command: the same text on every terminal and in files, coloured on terminals.

    Parameters
    ----------
    quiet : bool
        Whether remarks are left out.
    """

    def __init__(self, *, quiet: bool = False) -> None:
        self.quiet = quiet
        self._json: Path | None = None
        self._inputs: list[str] = []
        self._outputs: list[Path] = []
        self._remarks: dict[str, None] = {}
        self._lines: list[tuple[str, str]] = []

    def remark(self, text: str) -> None:
        """Print on standard error, once and after the results, what was understood or done."""
        if text and not self.quiet:
            self._remarks.setdefault(with_options(text))

    def complain(self, text: str) -> None:
        """Print on standard error what is wrong, even if quiet."""
        complain(f"stakes: {with_options(text)}")

    def will_read(self, *paths: Any) -> None:
        """Register inputs, which no output may overwrite: files, folders, patterns, sheets."""
        from stakes.read import as_path

        for path in paths:
            if path is not None:
                as_path(path)
                self._inputs.append(str(path))
        self._check_inputs_kept()

    def will_write(self, *paths: Path | None) -> None:
        """Check and register outputs before the work starts; no two may be the same file."""
        from stakes.read import check_writable, real_path

        for path in paths:
            if path is None or path == STANDARD_OUTPUT:
                continue
            check_writable(path)
            if real_path(path) in map(real_path, self._outputs):
                raise InputError(
                    f"{path}",
                    "two outputs have this name; one would overwrite the other.",
                    "Give each a name of its own.",
                )
            self._outputs.append(path)
        self._check_inputs_kept()

    def _check_inputs_kept(self) -> None:
        """Raise if an output would overwrite an input, or be in a folder that is an input."""
        if not self._outputs:
            return
        from stakes.read import identities, real_path
        from stakes.read.shards import files_of

        for name in self._inputs:
            read = {each for path in files_of(name) for each in identities(path)}
            for path in self._outputs:
                if read & identities(path):
                    raise InputError(f"{path}", "this is an input; it would be overwritten.")
                folder = os.path.isdir(name)  # noqa: PTH112 - text may be too long for Path.is_dir
                if folder and real_path(Path(name)) in real_path(path).parents:
                    raise InputError(
                        f"{path}",
                        f"it would be in the folder {name}, all files of which are input.",
                        "Write it elsewhere.",
                    )

    def only_json(self, path: Path | None) -> None:
        """Set the file of the JSON results; ``-`` prints them, and nothing else."""
        self._json = path

    def text(self, text: str = "", style: str = "", *, indent: int = 0) -> None:
        """Add sentences to the output, wrapped; a style shows on a terminal only."""
        self._write_line(_filled(with_options(text), indent), style)

    def table(self, text: str) -> None:
        """Add a table to the output; its first line is the header."""
        header, *rows = text.splitlines()
        self._write_line(header, "bold")
        for row in rows:
            self._write_line(row)

    def results(self, found: object) -> None:
        """Write the results as JSON, if requested."""
        if self._json is None:
            return
        from stakes.findings.data import json_text

        text = json_text(found, indent=2) + "\n"
        if self._json == STANDARD_OUTPUT:
            self._lines = [(text.removesuffix("\n"), "")]
            return
        self.write_text(self._json, text)

    def write_text(self, path: Path, text: str) -> None:
        """Write a file, and remark on it."""
        self.write_binary(path, text.encode(errors="backslashreplace"))

    def append_text(self, path: Path, text: str) -> None:
        """Add a text to the end of a file, and remark on it."""
        from stakes.read import append_binary

        append_binary(path, text.encode(errors="backslashreplace"))
        self.remark(f"Wrote {path}.")

    def write_binary(self, path: Path, content: bytes) -> None:
        """Write a file, and remark on it."""
        from stakes.read import write_binary

        write_binary(path, content)
        self.remark(f"Wrote {path}.")

    def finish(self) -> None:
        """Print the collected output, once nothing can fail any more."""
        for text, style in self._lines:
            _print(text, style)
        sys.stdout.flush()
        self.print_remarks()

    def print_remarks(self) -> None:
        """Print the collected remarks on standard error; before an error they help explain it."""
        for text in self._remarks:
            complain(text)
        self._remarks.clear()

    def _write_line(self, text: str, style: str = "") -> None:
        self._lines.append((text, style))


def with_options(text: str) -> str:
    """Return a note in which options replace the Python arguments."""
    return ARGUMENT.sub(lambda found: OPTIONS[found[1]], text)


def complain(text: str) -> None:
    """Print a text on standard error, or discard it if standard error is full or closed.

    Lines are wrapped on a terminal, but each stays one line in a log.
    """
    text = redacted(text)
    try:
        if sys.stderr.isatty():
            text = "\n".join(map(_wrapped, text.splitlines()))
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):  # full or closed
        from stakes.read import discard

        discard(sys.stderr)


def _wrapped(line: str) -> str:
    """Wrap a line, unless it is a command to copy or part of a traceback."""
    return line if line.startswith(("Try: ", " ")) else _filled(line)


def _filled(text: str, indent: int = 0) -> str:
    """Wrap sentences; words and equations stay whole."""
    from stakes._core.text import WIDTH

    lines = textwrap.fill(
        text.replace(" = ", f"{NO_BREAK}={NO_BREAK}"),
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * indent,
        break_on_hyphens=False,
        break_long_words=False,
    )
    return lines.replace(NO_BREAK, " ")


def _print(text: str, style: str) -> None:
    if not style or not _coloured():
        print(text)
        return
    from rich.console import Console
    from rich.text import Text

    Console(highlight=False, soft_wrap=True).print(Text(text, style=style))


def _coloured() -> bool:
    return (
        sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )
