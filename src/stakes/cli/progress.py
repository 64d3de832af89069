"""A progress bar for what takes more than a second, on a terminal."""

from __future__ import annotations

import sys
import threading
from typing import Any, Self

DELAY = 1.0
"""Seconds after which the bar appears; what is done by then never shows it."""


class Progress:
    """Steps of some work, shown on standard error once they take more than a second.

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
        """Whether there is a bar to see."""
        return self._bar is not None

    def expect(self, steps: int) -> None:
        """Say how many more steps there are."""
        self._total = self._done + max(steps, 1)

    def step(self, text: str) -> None:
        """Begin the next step."""
        with self._lock:
            self._text, self._done = text, min(self._done + 1, self._total)
            self._update()

    def reach(self, done: int, total: int, text: str) -> None:
        """Say how many of all steps are done, in whatever order they were."""
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
