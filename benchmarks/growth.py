"""How time grows with rows: processor time a row at 10⁵, 10⁶ and 10⁷ rows, and the exponent.

``python benchmarks/growth.py`` writes the table of docs/explanation/scale.md anew.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from harness import Row

from stakes import (
    CostCurve,
    CostCurveDifference,
    CostMatrix,
    PairedConfusion,
    ScoreCounts,
    choose_threshold,
    evaluate,
    evaluate_by,
    evaluate_rates,
)

SIZES = (10**5, 10**6, 10**7)
STEEPEST = 1.2
"""A sort alone grows with 1.03 to 1.06 here, and ever more of it is not in a processor's cache."""

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "scale.md"
COSTS = CostMatrix.from_errors(false_positive=1, false_negative=20)


@dataclass(frozen=True)
class Data:
    """Examples of two models."""

    y_true: Any
    first: Any
    second: Any
    score: Any
    other: Any
    group: Any

    @classmethod
    def of(cls, n: int) -> Data:
        """Draw n examples."""
        rng = np.random.default_rng(0)
        y_true = rng.random(n) < 0.1
        score = rng.normal(size=n) + y_true
        other = 0.7 * score + 0.7 * rng.normal(size=n)
        return cls(
            y_true.astype(np.int64),
            (score > 1).astype(np.int64),
            (other > 1).astype(np.int64),
            score,
            other,
            rng.integers(0, 50, n),
        )


TASKS: dict[str, Callable[[Data], object]] = {
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
}


def measured() -> Iterator[tuple[str, list[float], float]]:
    """Return of each task the seconds at each size, and the exponent of their growth."""
    data = {n: Data.of(n) for n in SIZES}
    for name, task in TASKS.items():
        seconds = [_best(task, data[n], 3 if n == SIZES[-1] else 7) for n in SIZES]
        grown = math.log(seconds[-1] / seconds[0]) / math.log(SIZES[-1] / SIZES[0])
        yield name, seconds, grown


def _best(task: Callable[[Data], object], data: Data, repeats: int) -> float:
    """Return the least processor time of several runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        task(data)
        times.append(time.process_time() - start)
    return min(times)


def rows() -> Iterator[Row]:
    """Measure everything in this file."""
    for name, seconds, grown in measured():
        a_row = [f"{1e9 * each / n:.3g} ns" for each, n in zip(seconds, SIZES, strict=True)]
        yield Row(
            f"growth of {name.replace('`', '')}",
            f"a row: {', '.join(a_row)}",
            "rows^1",
            f"rows^{grown:.2f}",
            grown,
            f"≤ rows^{STEEPEST:g}",
            grown <= STEEPEST,
        )


def table() -> str:
    """Return the measured table of the guide."""
    lines = ["| task | 10⁵ rows | 10⁶ rows | 10⁷ rows | grows as |", "|---|---:|---:|---:|---:|"]
    for name, seconds, grown in measured():
        cells = [f"{1e9 * each / n:.3g} ns" for each, n in zip(seconds, SIZES, strict=True)]
        lines.append(f"| {name} | {' | '.join(cells)} | rows^{grown:.2f} |")
    return "\n".join(lines)


if __name__ == "__main__":
    text = PAGE.read_text(encoding="utf-8")
    between = re.compile(r"(?<=<!-- growth -->\n\n).*?(?=\n\n<!-- end of growth -->)", re.DOTALL)
    PAGE.write_text(between.sub(lambda _: table(), text), encoding="utf-8")
