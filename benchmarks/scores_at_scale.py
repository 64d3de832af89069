"""Binned cost curves and ``stakes evaluate`` on 10⁸ examples in Parquet files.

Both are compared with one pass of an engine over the same files.
"""

from __future__ import annotations

import math
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import duckdb
import numpy as np
import polars as pl
from harness import Row, Task, within, within_memory

from stakes import BinnedCostCurve, BinnedScoreCounts

ROWS = 10**8
PART = 2 * 10**6
TOLERANCE = 1e-4
MEMORY = 10**9
REPEATS = 3
ERRORS = {"a": 0.02, "b": 0.05}
SHAPES = {"spread": 1, "near zero": 12}
"""Powers that the scores are raised to: a higher power moves more of them close to 0."""


def rows(n: int = ROWS) -> Iterator[Row]:
    """Measure everything in this file."""
    for shape, power in SHAPES.items():
        with TemporaryDirectory() as folder:
            write_scores(Path(folder), n, power)
            yield from _binned(folder, n, shape)
    with TemporaryDirectory() as folder:
        write_decisions(Path(folder), n)
        yield from _evaluated(folder, n)


def write_scores(folder: Path, n: int, power: int) -> None:
    """Write files of distinct scores and their classes."""
    rng = np.random.default_rng(power)
    for number, start in enumerate(range(0, n, PART)):
        size = min(PART, n - start)
        positive = rng.random(size) < 0.1
        uniform = rng.random(size)
        score = np.where(positive, 1 - uniform**2 / 2, uniform) ** power
        frame = pl.DataFrame({"label": positive.astype(np.int8), "score": score})
        frame.write_parquet(folder / f"part-{number:04d}.parquet")


def write_decisions(folder: Path, n: int) -> None:
    """Write files of classes and the decisions of two models."""
    rng = np.random.default_rng(0)
    for number, start in enumerate(range(0, n, PART)):
        size = min(PART, n - start)
        actual = rng.random(size) < 0.1
        models = {name: actual ^ (rng.random(size) < rate) for name, rate in ERRORS.items()}
        columns = {
            name: each.astype(np.int8) for name, each in ({"actual": actual} | models).items()
        }
        pl.DataFrame(columns).write_parquet(folder / f"part-{number:04d}.parquet")


def _evaluated(folder: str, n: int) -> Iterator[Row]:
    task = f"stakes evaluate, a folder of {n:.0e} rows"
    grouping = (
        f"polars.scan_parquet({folder + '/*.parquet'!r}).group_by('actual', 'a', 'b')"
        ".agg(polars.len()).collect(engine='streaming')"
    )
    columns = "--actual actual --model a --model b"
    command = f"evaluate {folder} {columns} --fp 1 --fn 20 --pos-label 1 --quiet".split()
    evaluating = f"from stakes.cli.main import main; main({command!r})"
    yield within(
        task,
        lambda: _peak(evaluating),
        lambda: _peak(f"import polars; {grouping}"),
        "group-by of polars, a process each",
        at_most=math.inf,
        repeats=3,
    )
    yield within_memory(f"{task}: peak memory", _peak(evaluating), MEMORY, "1 GB", at_most=1)


def _binned(folder: str, n: int, shape: str) -> Iterator[Row]:
    files = f"{folder}/*.parquet"
    task = f"binned curve, {n:.0e} scores, {shape}"
    for engine, (scan, one_pass, at_most) in ENGINES.items():
        yield from _both_times(
            f"{task}, {engine}",
            lambda scan=scan: _width(scan(files)),  # type: ignore[misc]
            lambda one_pass=one_pass: one_pass(files),  # type: ignore[misc]
            f"one pass of {engine}",
            at_most=at_most,
        )
    width, peak = _apart(files)
    ratio = width / TOLERANCE
    yield Row(
        f"{task}: bracket",
        "tolerance",
        f"{TOLERANCE:g}",
        f"{width:.2g}",
        ratio,
        "≤ 1 × it",
        ratio <= 1,
    )
    yield within_memory(f"{task}: peak memory", peak, MEMORY, "1 GB", at_most=1)


def _both_times(
    task: str, ours: Task, limit: Task, limit_name: str, *, at_most: float
) -> Iterator[Row]:
    """Compare wall-clock times, and processor times, which other processes affect less."""
    ours(), limit()
    taken = []
    for _ in range(REPEATS):
        for each in (ours, limit):
            clocks = time.perf_counter(), time.process_time()
            each()
            taken.append((time.perf_counter() - clocks[0], time.process_time() - clocks[1]))
    for at, what in enumerate(("", ", processor time")):
        mine, theirs = (statistics.median(pair[at] for pair in taken[i::2]) for i in (0, 1))
        ratio = mine / theirs
        times = (f"{theirs:.3g} s", f"{mine:.3g} s")
        goal = f"≤ {at_most:g} × its time" if at_most < math.inf else "reported"
        yield Row(task + what, limit_name, *times, ratio, goal, ratio <= at_most)


def _width(frame: Any) -> float:
    counts = BinnedScoreCounts.from_frame(
        frame, actual="label", score="score", neg_label=0, tolerance=TOLERANCE
    )
    return BinnedCostCurve(counts).width


def _pass_of_polars(files: str) -> Any:
    score = pl.col("score")
    sums = (pl.len(), score.min().alias("low"), score.max().alias("high"), score.sum().alias("sum"))
    return pl.scan_parquet(files).group_by("label").agg(*sums).collect(engine="streaming")


def _pass_of_duckdb(files: str) -> Any:
    query = "select label, count(*), min(score), max(score), sum(score) from '{}' group by label"
    return duckdb.execute(query.format(files)).fetchall()


ENGINES = {
    "polars": (pl.scan_parquet, _pass_of_polars, 3),
    "DuckDB": (duckdb.read_parquet, _pass_of_duckdb, math.inf),
}
"""For each engine: its scan of the files, one pass over them, and our limit in such passes."""


def _apart(files: str) -> tuple[float, int]:
    """Return the width of the bracket and the peak memory, measured in a separate process."""
    folder = str(Path(__file__).parent)
    code = (
        f"import sys; sys.path.insert(0, {folder!r}); import polars, scores_at_scale as suite\n"
        f"print(suite._width(polars.scan_parquet({files!r})))"
    )
    said, peak = _run(code)
    return float(said), peak


def _peak(code: str) -> int:
    return _run(code)[1]


def _run(code: str) -> tuple[str, int]:
    """Run code in a new process; return the first line that it prints, and its peak memory."""
    # Not getrusage, whose peak starts from the parent's.
    measured = (
        f"{code}\nimport sys\nwith open('/proc/self/status') as status:\n"
        "    peak = next(line for line in status if line.startswith('VmHWM'))\n"
        "print(1024 * int(peak.split()[1]), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", measured], check=True, capture_output=True, text=True
    )
    return done.stdout.partition("\n")[0], int(done.stderr.splitlines()[-1])
