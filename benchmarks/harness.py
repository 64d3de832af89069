"""Time a task and its peer in the same run, and print all results as one table."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Task = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One line of the table of ``make bench``."""

    task: str
    peer: str
    theirs: str
    ours: str
    ratio: float
    goal: str
    met: bool


def faster_than(
    task: str, ours: Task, peer: Task, peer_name: str, *, at_least: float, repeats: int = 7
) -> Row:
    """Return a row whose goal is to be at least ``at_least`` times faster than a peer."""
    mine, theirs = _interleaved(ours, peer, repeats)
    ratio = theirs / mine
    goal = f"≥ {at_least:g} × faster"
    return Row(task, peer_name, _time(theirs), _time(mine), ratio, goal, ratio >= at_least)


def within(
    task: str, ours: Task, limit: Task, limit_name: str, *, at_most: float, repeats: int = 7
) -> Row:
    """Return a row whose goal is at most ``at_most`` times the time of work we cannot avoid."""
    mine, theirs = _interleaved(ours, limit, repeats)
    return within_seconds(task, mine, theirs, limit_name, at_most=at_most)


def within_seconds(
    task: str, mine: float, theirs: float, limit_name: str, *, at_most: float
) -> Row:
    """Return a row of measured times, whose goal is at most ``at_most`` times the limit's."""
    ratio = mine / theirs
    goal = f"≤ {at_most:g} × its time" if at_most < math.inf else "reported"
    return Row(task, limit_name, _time(theirs), _time(mine), ratio, goal, ratio <= at_most)


def within_time(
    task: str,
    ours: Task,
    *,
    at_most: float,
    repeats: int = 31,
    reported: bool = False,
    clock: Callable[[], float] = time.perf_counter,
) -> Row:
    """Return a row whose goal is at most ``at_most`` ms.

    The best run counts, because the machine may be busy.
    """
    ours()
    best = min(_timed(ours, clock) for _ in range(repeats)) * 1e3
    goal = "reported" if reported else f"≤ {at_most:g} ms"
    limit = f"{at_most:g} ms"
    return Row(
        task, limit, limit, f"{best:.3g} ms", best / at_most, goal, reported or best <= at_most
    )


def within_memory(task: str, ours: int, limit: int, limit_name: str, *, at_most: float) -> Row:
    """Return a row whose goal is at most ``at_most`` times the bytes of a limit."""
    ratio = ours / limit
    goal = f"≤ {at_most:g} × its bytes"
    return Row(task, limit_name, _size(limit), _size(ours), ratio, goal, ratio <= at_most)


def show(rows: Iterator[Row]) -> bool:
    """Print rows as they arrive; return whether all goals were met."""
    header = ("task", "peer or limit", "theirs", "ours", "ratio", "goal", "")
    widths = (46, 34, 10, 10, 8, 16, 6)
    print(_line(header, widths))
    print(_line(tuple("-" * width for width in widths), widths))
    all_met = True
    for row in rows:
        cells = (row.task, row.peer, row.theirs, row.ours, f"{row.ratio:.2f}", row.goal)
        print(_line((*cells, "" if row.met else "MISSED"), widths), flush=True)
        all_met &= row.met
    return all_met


def _line(cells: tuple[str, ...], widths: tuple[int, ...]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _interleaved(first: Task, second: Task, repeats: int) -> tuple[float, float]:
    """Time both in turns, so that other load affects both alike; return the medians."""
    first(), second()
    times = [(_timed(first), _timed(second)) for _ in range(repeats)]
    one, other = zip(*times, strict=True)
    return statistics.median(one), statistics.median(other)


def _timed(task: Task, clock: Callable[[], float] = time.perf_counter) -> float:
    start = clock()
    task()
    return clock() - start


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms"


def _size(size: int) -> str:
    return f"{size / 1e6:.3g} MB"
