"""The command line: help, and a report from a small and from a large file."""

from __future__ import annotations

import math
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import Row, within
from numpy.typing import NDArray

LIBRARIES = (
    "import numpy, scipy.stats, scipy.optimize, scipy.fft, pyarrow, pyarrow.csv, pyarrow.parquet, "
    "typer, rich, altair, vl_convert, jinja2"
)
MOST_HELP = 0.3
"""Seconds of CPU."""

CLASSES = np.array(["ok", "fraud"])
COSTS = "predicted\\actual,ok,fraud\nok,0,100\nfraud,3,0\n"


def rows() -> Iterator[Row]:
    """Measure everything in this file."""
    yield _help()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        (place / "costs.csv").write_text(COSTS)
        _write(place / "small.csv", 10**5, 3, scored=True)
        yield within(
            "stakes report, 10⁵ rows × 3 models, scores",
            lambda: _stakes(place, "report", "small.csv"),
            lambda: _python(LIBRARIES),
            "import of its libraries",
            at_most=3,
            repeats=3,
        )
        _write(place / "tiny.parquet", 1000, 2, scored=False)
        _write(place / "large.parquet", 10**7, 2, scored=False)
        yield within(
            "stakes report, 10⁷ rows × 2 models, Parquet",
            lambda: _stakes(place, "report", "large.parquet"),
            lambda: _grouped_and_reported(place),
            "group-by of pyarrow + a small report",
            at_most=2,
            repeats=3,
        )


def _help() -> Row:
    """Report the CPU time of ``stakes --help``, which is limited, and hardly varies."""
    times = []
    for _ in range(7):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        _python("import sys; from stakes.cli.main import main; sys.exit(main(['--help']))")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    cpu = sorted(times)[len(times) // 2]
    ratio = cpu / MOST_HELP
    return Row(
        "stakes --help, CPU",
        "limit of 0.3 s",
        f"{1e3 * MOST_HELP:.3g} ms",
        f"{1e3 * cpu:.3g} ms",
        ratio,
        "reported",
        met=math.isfinite(ratio),
    )


def _write(path: Path, n: int, models: int, *, scored: bool) -> None:
    rng = np.random.default_rng(0)
    positive = rng.random(n) < 0.02
    columns: dict[str, Any] = {"actual": _labels(positive)}
    for i in range(models):
        score = 1 / (1 + np.exp(3 - 4 * positive - rng.normal(0, 1, n)))
        columns[f"model_{i}"] = _labels(score > 0.4 + 0.1 * i)
        if scored:
            columns[f"model_{i}_score"] = pa.array(score.round(6))
    table = pa.table(columns)
    if path.suffix == ".parquet":
        pq.write_table(table, path)
        return
    from pyarrow import csv

    csv.write_csv(table, path)


def _labels(positive: NDArray[np.bool_]) -> Any:
    return pa.DictionaryArray.from_arrays(pa.array(positive.astype(np.int8)), CLASSES).cast(
        pa.string()
    )


def _grouped(path: Path) -> object:
    columns = ["actual", "model_0", "model_1"]
    return pq.read_table(path, columns=columns).group_by(columns).aggregate([([], "count_all")])


def _grouped_and_reported(place: Path) -> None:
    _grouped(place / "large.parquet")
    _stakes(place, "report", "tiny.parquet")


def _stakes(folder: Path, command: str, file: str) -> None:
    arguments = ["--quiet", command, file, "--costs", "costs.csv", "--out", "report.html"]
    code = f"import sys; from stakes.cli.main import main; sys.exit(main({arguments!r}))"
    _python(code, folder)


def _python(code: str, folder: Path | None = None) -> None:
    subprocess.run([sys.executable, "-c", code], check=True, cwd=folder, stdout=subprocess.DEVNULL)
