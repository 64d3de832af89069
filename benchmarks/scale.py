"""Counting by engines, each against its own group-by, on files of 10⁶ to 10⁸ rows.

The files are made in a temporary folder and removed at the end (about 80 MB).
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import Row, Task, within, within_memory

from stakes import PairedConfusion

COLUMNS = ["actual", "first", "second"]
FILE = 10**7
"""Rows of a file; the largest folder has ten of them."""

GIGABYTE = 10**9

COUNT = """
from pathlib import Path
from stakes import PairedConfusion
{scan}
table = PairedConfusion.from_frame(frame, actual="actual", predicted=("first", "second"))
assert table.n == {rows}
peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
print(1024 * int(peak))
"""
"""Code that prints its peak memory, from Linux's ``VmHWM``: ``ru_maxrss`` starts from the parent's
peak."""

SCANS = {
    "polars": "import polars; frame = polars.scan_parquet('{files}')",
    "duckdb": "import duckdb; frame = duckdb.read_parquet('{files}')",
}


def rows() -> Iterator[Row]:
    """Measure everything in this file."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for name, files, size in (("6", 1, 10**6), ("7", 1, FILE), ("8", 10, FILE)):
            _write(place / name, files, size)
        yield from _large(place)
        for engine, scan in SCANS.items():
            yield _memory(engine, scan.format(files=f"{place}/8/*.parquet"))
        yield from _growth(place)
        yield from _in_memory(place / "7")
        yield from _dask(place / "7")
        yield from _spark(place / "8")


def _write(folder: Path, files: int, size: int) -> None:
    """Write files of small integers, as classes are often stored."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for number in range(files):
        actual = rng.integers(0, 4, size, dtype=np.int8)
        columns = {"actual": actual}
        for name, right in (("first", 0.9), ("second", 0.85)):
            other = rng.integers(0, 4, size, dtype=np.int8)
            columns[name] = np.where(rng.random(size, np.float32) < right, actual, other)
        pq.write_table(pa.table(columns), folder / f"{number}.parquet", row_group_size=1 << 20)


def _count(frame: Any) -> PairedConfusion:
    return PairedConfusion.from_frame(frame, actual="actual", predicted=("first", "second"))


def _scanned(engine: str, folder: Path) -> tuple[Task, Task]:
    """Return our count of a folder, and the engine's own."""
    files = f"{folder}/*.parquet"
    if engine == "polars":
        import polars as pl

        def own() -> object:
            scan = pl.scan_parquet(files)
            return scan.group_by(COLUMNS).agg(pl.len()).collect(engine="streaming")

        return lambda: _count(pl.scan_parquet(files)), own

    import duckdb

    names = ", ".join(COLUMNS)
    query = f"SELECT {names}, count(*) FROM '{files}' GROUP BY {names}"  # noqa: S608 - our own
    return (
        lambda: _count(duckdb.read_parquet(files)),
        lambda: duckdb.execute(query).fetchall(),
    )


def _large(place: Path) -> Iterator[Row]:
    for engine, peer in (("polars", "its own group-by, streaming"), ("duckdb", "SQL GROUP BY")):
        ours, own = _scanned(engine, place / "8")
        yield within(
            f"PairedConfusion, 10⁸ rows of Parquet, {engine}",
            ours,
            own,
            peer,
            at_most=1.3,
            repeats=5,
        )


def _memory(engine: str, scan: str) -> Row:
    """Measure the peak memory of a process that only counts."""
    code = COUNT.format(scan=scan, rows=10 * FILE)
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    task = f"peak memory of the process, 10⁸ rows, {engine}"
    return within_memory(task, int(run.stdout.split()[-1]), GIGABYTE, "1 GB", at_most=1)


def _growth(place: Path) -> Iterator[Row]:
    """Fit time ∝ rows^x; start-up lowers x, and steps that grow faster than the rows raise it.

    CPU time of all cores is used, because long tasks wait longer than short ones on a busy machine.
    """
    for engine in SCANS:
        tasks = [_scanned(engine, place / name)[0] for name in ("6", "7", "8")]
        for task in tasks:
            task()
        seconds = [[_cpu_time(task) for task in tasks] for _ in range(3)]
        medians = [statistics.median(each) for each in zip(*seconds, strict=True)]
        exponent = float(np.polyfit([6, 7, 8], np.log10(medians), 1)[0])
        last = float(np.log10(medians[2] / medians[1]))
        yield Row(
            f"CPU time ∝ rows^x, 10⁶ to 10⁸, {engine}",
            f"x = 1 (last tenfold: {last:.2f})",
            "1",
            f"{exponent:.2f}",
            exponent,
            "≤ 1.1",
            met=exponent <= 1.1,
        )


def _cpu_time(task: Task) -> float:
    start = time.process_time()
    task()
    return time.process_time() - start


def _in_memory(folder: Path) -> Iterator[Row]:
    table = pq.read_table(folder)
    frame = table.to_pandas()

    def grouped() -> object:
        return frame.groupby(COLUMNS, observed=True, dropna=False, sort=False).size()

    tasks: dict[str, tuple[Any, Callable[[], object]]] = {
        "pandas": (frame, grouped),
        "pyarrow": (table, lambda: table.group_by(COLUMNS).aggregate([([], "count_all")])),
    }
    for engine, (data, own) in tasks.items():
        yield within(
            f"PairedConfusion, 10⁷ rows in memory, {engine}",
            partial(_count, data),
            own,
            "its own group-by",
            at_most=1.3,
            repeats=3,
        )


def _dask(folder: Path) -> Iterator[Row]:
    import dask.dataframe as dd

    frame = dd.read_parquet(str(folder), split_row_groups=2)
    yield within(
        f"PairedConfusion, 10⁷ rows of Parquet, Dask, {frame.npartitions} parts",
        lambda: _count(frame),
        lambda: frame.groupby(COLUMNS, observed=True, dropna=False).size().compute(),
        "its own group-by",
        at_most=1.3,
        repeats=3,
    )


def _spark(folder: Path) -> Iterator[Row]:
    if shutil.which("java") is None:
        print("Java is not installed: Spark is left out")
        return
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]").appName("benchmark")
    options = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "OFF",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    for name, value in options.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        frame = spark.read.parquet(*[str(folder / f"{number}.parquet") for number in (0, 1)])
        yield within(
            "PairedConfusion, 2·10⁷ rows of Parquet, Spark",
            lambda: _count(frame),
            lambda: frame.groupBy(*COLUMNS).count().collect(),
            "groupBy().count().collect()",
            at_most=1.2,
            repeats=7,
        )
    finally:
        spark.stop()
