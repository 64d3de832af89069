"""Growth of processor time with rows: time per row at 10⁵, 10⁶ and 10⁷ rows, and the exponent.

Also with strata of four rows each, at 10³ and 10⁴ strata.

``python benchmarks/growth.py`` rewrites the table in docs/explanation/scale.md.
"""

from __future__ import annotations

import contextlib
import io
import math
import re
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from harness import Row
from pyarrow import csv as arrow_csv

from stakes import (
    CostCurve,
    CostCurveDifference,
    CostMatrix,
    PairedConfusion,
    PairedScoreCounts,
    ScoreCounts,
    choose_threshold,
    compare,
    evaluate,
    evaluate_by,
    evaluate_rates,
)
from stakes.cli.main import main

SIZES = (10**5, 10**6, 10**7)
STRATA, IN_EACH = (10**3, 10**4), 4
STEEPEST = 1.2
"""Largest exponent allowed. A sort by value has 1.03 to 1.14, as less and less of the data fits
into the processor's cache. Tasks that keep pairs of scores or weights need an argsort, and may grow
as fast as that does."""

BY_PLACE = "`numpy.argsort`, for comparison"

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "scale.md"
COSTS = CostMatrix.from_errors(false_positive=1, false_negative=20)
BINARY = CostMatrix.from_errors(false_positive=1, false_negative=20, pos_label=True)


@dataclass(frozen=True)
class Data:
    """Classes, decisions and scores of two models, with groups and weights."""

    y_true: Any
    first: Any
    second: Any
    score: Any
    other: Any
    group: Any
    weight: Any
    folder: Path

    @classmethod
    def of(cls, n: int, folder: Path) -> Data:
        """Sample n examples, and write their classes and decisions to files."""
        rng = np.random.default_rng(0)
        y_true = rng.random(n) < 0.1
        score = rng.normal(size=n) + y_true
        other = 0.7 * score + 0.7 * rng.normal(size=n)
        place = folder / str(n)
        place.mkdir()
        data = cls(
            y_true.astype(np.int64),
            (score > 1).astype(np.int64),
            (other > 1).astype(np.int64),
            score,
            other,
            rng.integers(0, 50, n),
            rng.uniform(0.5, 2, n),
            place,
        )
        table = pa.table({"actual": data.y_true, "one": data.first, "two": data.second})
        arrow_csv.write_csv(table, place / "a.csv")
        pq.write_table(table, place / "a.parquet")
        return data


TASKS: dict[str, Callable[[Data], object]] = {
    BY_PLACE: lambda d: np.argsort(d.score),
    "`evaluate` with its interval": lambda d: evaluate(d.y_true, d.first, COSTS).interval(),
    "`PairedConfusion.from_labels`": lambda d: PairedConfusion.from_labels(
        d.y_true, d.first, d.second
    ),
    "`evaluate_rates`, all eleven": lambda d: evaluate_rates(d.y_true, d.first).to_dict(),
    "`evaluate_by` 50 slices": lambda d: evaluate_by(
        d.y_true, d.first, COSTS, by={"slice": d.group}
    ),
    "`ScoreCounts.from_scores`": lambda d: ScoreCounts.from_scores(d.y_true, d.score),
    "`CostCurve` with its band": lambda d: CostCurve.from_scores(d.y_true, d.score).band(),
    "`choose_threshold` with assurance": lambda d: choose_threshold(
        ScoreCounts.from_scores(d.y_true, d.score), max_fpr=0.05, assurance=0.95
    ),
    "`CostCurveDifference` with its band": lambda d: CostCurveDifference.from_scores(
        d.y_true, d.score, d.other
    ).band(),
    "`CostCurve` with its exact band": lambda d: CostCurve.from_scores(d.y_true, d.score).band(
        method="exact"
    ),
    "`ScoreCounts.from_scores` with weights": lambda d: ScoreCounts.from_scores(
        d.y_true, d.score, sample_weight=d.weight
    ),
    "`PairedScoreCounts.from_scores`, ranked": lambda d: (
        PairedScoreCounts.from_scores(d.y_true, d.score, d.other).ranks_1
    ),
    "`stakes evaluate` of a CSV file": lambda d: _evaluated(d.folder / "a.csv"),
    "`stakes evaluate` of a Parquet file": lambda d: _evaluated(d.folder / "a.parquet"),
}


@dataclass(frozen=True)
class Stratified:
    """Examples of two models in strata of a few rows, and the size of each stratum."""

    y_true: Any
    first: Any
    second: Any
    names: Any
    population: dict[int, int]

    @classmethod
    def of(cls, strata: int) -> Stratified:
        """Draw the examples of so many strata."""
        rng = np.random.default_rng(0)
        y_true = rng.random(strata * IN_EACH) < 0.3
        wrong = rng.random((2, len(y_true))) < 0.2
        names = np.repeat(np.arange(strata), IN_EACH)
        sizes = dict(enumerate(rng.integers(20, 60, strata).tolist()))
        return cls(y_true, y_true ^ wrong[0], y_true ^ wrong[1], names, sizes)


BY_STRATA: dict[str, Callable[[Stratified], object]] = {
    "`evaluate` with its interval": lambda d: evaluate(
        d.y_true, d.first, BINARY, strata=d.names
    ).interval(),
    "`evaluate` of a finite population": lambda d: evaluate(
        d.y_true, d.first, BINARY, strata=d.names, population=d.population
    ).interval(),
    "`compare` with its test": lambda d: compare(
        d.y_true, d.first, d.second, BINARY, strata=d.names
    ).test(method="extremal"),
}


def measured_by_strata() -> Iterator[tuple[str, list[float], float]]:
    """Return of each task in strata the seconds at each number, and the exponent."""
    data = [Stratified.of(strata) for strata in STRATA]
    for name, task in BY_STRATA.items():
        seconds = [_best(task, each, 3) for each in data]
        yield name, seconds, math.log(seconds[1] / seconds[0]) / math.log(STRATA[1] / STRATA[0])


def _evaluated(path: Path) -> None:
    with contextlib.redirect_stdout(io.StringIO()):
        assert main(["--quiet", "evaluate", str(path), "--fp", "1", "--fn", "20"]) == 0


def measured() -> Iterator[tuple[str, list[float], float]]:
    """Iterate over the tasks: name, seconds at each size, and exponent of the growth."""
    with tempfile.TemporaryDirectory() as folder:
        data = {n: Data.of(n, Path(folder)) for n in SIZES}
        for name, task in TASKS.items():
            seconds = [_best(task, data[n], 3 if n == SIZES[-1] else 7) for n in SIZES]
            grown = math.log(seconds[-1] / seconds[0]) / math.log(SIZES[-1] / SIZES[0])
            yield name, seconds, grown


def _best(task: Callable[[Any], object], data: Any, repeats: int) -> float:
    """Return the smallest processor time of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        task(data)
        times.append(time.process_time() - start)
    return min(times)


def rows() -> Iterator[Row]:
    """Measure everything in this file."""
    steepest = STEEPEST
    for name, seconds, grown in measured():
        if name == BY_PLACE:
            steepest = max(STEEPEST, grown)
        a_row = [f"{1e9 * each / n:.3g} ns" for each, n in zip(seconds, SIZES, strict=True)]
        yield Row(
            f"growth of {name.replace('`', '')}",
            f"a row: {', '.join(a_row)}",
            "rows^1",
            f"rows^{grown:.2f}",
            grown,
            f"≤ rows^{steepest:.3g}",
            grown <= steepest,
        )
    for name, seconds, grown in measured_by_strata():
        a_row = _by_row(seconds)
        yield Row(
            f"growth of {name.replace('`', '')}, by strata",
            f"a row: {', '.join(a_row)}",
            "strata^1",
            f"strata^{grown:.2f}",
            grown,
            f"≤ strata^{STEEPEST:.3g}",
            grown <= STEEPEST,
        )


def _by_row(seconds: list[float]) -> list[str]:
    return [f"{1e6 * each / IN_EACH / n:.3g} µs" for each, n in zip(seconds, STRATA, strict=True)]


def table_by_strata() -> str:
    """Return the measured table of strata."""
    lines = ["| task | 10³ strata | 10⁴ strata | grows as |", "|---|---:|---:|---:|"]
    for name, seconds, grown in measured_by_strata():
        lines.append(f"| {name} | {' | '.join(_by_row(seconds))} | strata^{grown:.2f} |")
    return "\n".join(lines)


def table() -> str:
    """Measure all tasks, and return the table of the guide."""
    lines = ["| task | 10⁵ rows | 10⁶ rows | 10⁷ rows | grows as |", "|---|---:|---:|---:|---:|"]
    for name, seconds, grown in measured():
        cells = [f"{1e9 * each / n:.3g} ns" for each, n in zip(seconds, SIZES, strict=True)]
        lines.append(f"| {name} | {' | '.join(cells)} | rows^{grown:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    for what, write in (("growth", table), ("growth by strata", table_by_strata)):
        between = re.compile(
            rf"(?<=<!-- {what} -->\n\n).*?(?=\n\n<!-- end of {what} -->)", re.DOTALL
        )
        text = between.sub(write(), text)
    PAGE.write_text(text, encoding="utf-8")
