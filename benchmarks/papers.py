"""Projected run times of the papers' tables at full scale, beside a limit."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from harness import Row

ROOT = Path(__file__).parents[1]
TABLES = ("bcost-coverage", "bdeltacost-type1")
LIMIT = 300.0
SLICES = (0.02, 0.1)
JOBS = 2

SLICE = """
import sys, time
from replications import run
run(sys.argv[1], scale=float(sys.argv[2]), n_jobs=1)
print(time.process_time())
"""


def rows() -> Iterator[Row]:
    """Measure everything in this file."""
    total = 0.0
    for name in TABLES:
        first, second = (_seconds(name, scale) for scale in SLICES)
        # Training takes the same time at any scale; the rest grows with it.
        growth = max(second - first, 0.0) / (SLICES[1] - SLICES[0])
        projected = (second + growth * (1 - SLICES[1])) / JOBS
        total += projected
        yield _reported(f"{name}, {JOBS} processors", projected)
    yield _reported(f"both tables, {JOBS} processors", total)


def _seconds(name: str, scale: float) -> float:
    """Return the processor time of a run at a small scale; other processes hardly affect it."""
    command = [sys.executable, "-c", SLICE, name, f"{scale:g}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return float(done.stdout)


def _reported(task: str, seconds: float) -> Row:
    """Return a row without a goal, as the time depends on the machine."""
    peer = f"{LIMIT:g} s, projected from scale {SLICES[1]:g}"
    return Row(task, peer, f"{LIMIT:g} s", f"{seconds:.3g} s", seconds / LIMIT, "reported", True)
