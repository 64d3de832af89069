"""Time and memory of counting labels and scores, and the time of importing the package."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from harness import Row, faster_than, within, within_memory, within_seconds
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, roc_curve

from stakes import (
    Confusion,
    CostMatrix,
    GroupedConfusion,
    PairedConfusion,
    ScoreCounts,
    evaluate,
    evaluate_rates,
    study_of,
)
from stakes.infer import SliceEstimates

NAMES = np.array(["ok", "fraud", "review", "stolen card"])


def rows() -> Iterator[Row]:
    """Measure everything in this file."""
    rng = np.random.default_rng(0)
    costs = CostMatrix(rng.integers(1, 100, (4, 4)), rows="predicted", labels=range(4))
    y_true, y_pred, y_other = rng.integers(0, 4, (3, 10**6))
    combined = 4 * y_pred + y_true
    yield faster_than(
        "evaluate, 10⁶ integers, 4 classes",
        lambda: evaluate(y_true, y_pred, costs).cost,
        lambda: confusion_matrix(y_true, y_pred),
        "sklearn confusion_matrix",
        at_least=10,
    )
    yield within(
        "evaluate, 10⁶ integers, 4 classes",
        lambda: evaluate(y_true, y_pred, costs).cost,
        lambda: np.bincount(combined, minlength=16),
        "numpy.bincount of combined codes",
        at_most=4,
        repeats=31,
    )
    yield from _strings(costs, NAMES[y_true], NAMES[y_pred])
    yield within(
        "PairedConfusion, 10⁶ integers, 4 classes",
        lambda: PairedConfusion.from_labels(y_true, y_pred, y_other),
        lambda: np.bincount(16 * y_other + combined, minlength=64),
        "numpy.bincount, codes combined",
        at_most=4,
        repeats=31,
    )
    yield from _groups(rng)
    yield from _rates(rng)
    yield from _slices(rng)
    score = rng.normal(size=10**6)
    positive = y_true == 1
    yield faster_than(
        "ScoreCounts, 10⁶ distinct scores",
        lambda: ScoreCounts.from_scores(positive, score),
        lambda: roc_curve(positive, score, drop_intermediate=False),
        "sklearn roc_curve",
        at_least=1,
        repeats=5,
    )
    yield _chosen_thresholds(rng)
    yield from _memory(rng)
    yield _import()


def _chosen_thresholds(rng: np.random.Generator) -> Row:
    """Choose thresholds for three models of 10⁶ rows, by cross-fitting."""
    costs = CostMatrix.from_errors(false_positive=1, false_negative=20)
    actual = (rng.random(10**6) < 0.05).astype(int)
    scores = {f"m{i}": rng.normal(size=10**6) + (1 + i / 5) * actual for i in range(3)}
    decided = {name: (each > 1).astype(int) for name, each in scores.items()}
    counted = study_of(actual, decided, costs, y_score=scores)
    return within(
        "thresholds by cross-fitting, 10⁶ rows × 3 models",
        lambda: replace(counted).policies,
        lambda: study_of(actual, decided, costs, y_score=scores),
        "counting these rows",
        at_most=0.5,
    )


def _strings(
    costs: CostMatrix, y_true: NDArray[np.str_], y_pred: NDArray[np.str_]
) -> Iterator[Row]:
    named = costs.relabel(dict(enumerate(NAMES.tolist())))
    for kind, columns in (
        ("fixed-width text", (y_true, y_pred)),
        ("text objects", (y_true.astype(object), y_pred.astype(object))),
    ):
        yield faster_than(
            f"evaluate, 10⁶ strings ({kind})",
            lambda columns=columns: evaluate(*columns, named).cost,  # type: ignore[misc]
            lambda columns=columns: confusion_matrix(*columns),  # type: ignore[misc]
            "sklearn confusion_matrix",
            at_least=2,
            repeats=3,
        )


def _rates(rng: np.random.Generator) -> Iterator[Row]:
    """Time recall, precision and other rates against the cost of the same labels."""
    y_true = rng.binomial(1, 0.1, 10**6)
    y_pred = np.where(rng.random(10**6) < 0.05, 1 - y_true, y_true)
    costs = CostMatrix.from_errors(false_positive=1, false_negative=20)
    names = ("recall", "specificity", "fpr", "fnr", "precision", "npv", "f1", "accuracy")

    def rates() -> list[float]:
        found = evaluate_rates(y_true, y_pred)
        return [found.rate(name).high for name in names]

    yield within(
        "eight rates with intervals, 10⁶ labels",
        rates,
        lambda: evaluate(y_true, y_pred, costs).interval(),
        "evaluate with its interval",
        at_most=2,
    )
    yield within(
        "all eleven rates, MCC and kappa too, 10⁶ labels",
        lambda: evaluate_rates(y_true, y_pred).to_dict(),
        lambda: evaluate(y_true, y_pred, costs).interval(),
        "evaluate with its interval",
        at_most=2,
    )


def _slices(rng: np.random.Generator) -> Iterator[Row]:
    """Time slices counted by an engine against the engine's own group-by."""
    import duckdb
    import polars as pl

    n = 10**7
    frame = pl.DataFrame(
        {
            "y": rng.integers(0, 2, n, dtype=np.int8),
            "p": rng.integers(0, 2, n, dtype=np.int8),
            "slice": rng.integers(0, 50, n, dtype=np.int16),
        }
    )
    costs = CostMatrix.from_errors(false_positive=1, false_negative=20)
    keys = ["slice", "p", "y"]
    yield within(
        "costs of 50 slices of 10⁷ rows, polars",
        lambda: SliceEstimates.from_frame(
            frame.lazy(), costs, actual="y", predicted="p", by=["slice"]
        ),
        lambda: frame.lazy().group_by(keys).agg(pl.len()).collect(),
        "polars' own group-by",
        at_most=1.3,
    )
    connection = duckdb.connect()
    connection.register("frame", frame.to_arrow())
    connection.execute("create table rows as select * from frame")
    relation = connection.table("rows")
    yield within(
        "costs of 50 slices of 10⁷ rows, DuckDB",
        lambda: SliceEstimates.from_frame(relation, costs, actual="y", predicted="p", by=["slice"]),
        lambda: connection.sql("select slice, p, y, count(*) from rows group by all").fetchall(),
        "DuckDB's own group-by",
        at_most=1.3,
    )


def _groups(rng: np.random.Generator) -> Iterator[Row]:
    """Time the counting of 10⁶ rows in 10⁵ groups, in random order."""
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    y_true = rng.integers(0, 2, 10**6)
    y_pred = np.where(rng.random(10**6) < 0.1, 1 - y_true, y_true)
    groups = rng.integers(0, 10**5, 10**6)
    names = np.char.add("p", np.char.zfill(groups.astype(str), 6))
    for kind, each, at_most in (
        ("integers", groups, 3.0),
        ("integers far apart", groups * 10**9, np.inf),
        ("fixed-width text", names, np.inf),
        ("text objects", names.astype(object), np.inf),
    ):
        yield within(
            f"10⁶ rows in 10⁵ groups ({kind})",
            lambda each=each: GroupedConfusion.from_labels(y_true, y_pred, each),  # type: ignore[misc]
            lambda: Confusion.from_labels(y_true, y_pred),
            "the same without groups",
            at_most=at_most,
            repeats=11 if at_most < np.inf else 3,
        )
    yield within(
        "evaluate, 10⁶ rows in 10⁵ groups",
        lambda: evaluate(y_true, y_pred, costs, groups=groups).cost,
        lambda: evaluate(y_true, y_pred, costs).cost,
        "the same without groups",
        at_most=np.inf,
        repeats=11,
    )


def _memory(rng: np.random.Generator) -> Iterator[Row]:
    """Measure the peak memory of counting beyond its input."""
    codes = rng.integers(0, 4, (2, 10**7), dtype=np.int8)
    for kind, columns in (
        ("int8", codes),
        ("int64", codes.astype(np.int64)),
        ("int64 far apart", codes.astype(np.int64) * 10**9),
        ("float16", codes.astype(np.float16)),
        ("float64", codes.astype(np.float64)),
        ("float64, not whole", codes + 0.5),
        ("one-letter text", np.array(["a", "b", "c", "d"])[codes]),
        ("fixed-width text", NAMES[codes]),
        ("text objects", NAMES.astype(object)[codes]),
    ):
        tracemalloc.start()
        Confusion.from_labels(*columns)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        yield within_memory(
            f"peak extra memory, 10⁷ rows, {kind}", peak, columns.nbytes, "input labels", at_most=3
        )


def _import() -> Row:
    """Time the imports of the package and of numpy in new processes, without their start-up."""
    code = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    times: dict[str, list[float]] = {"stakes": [], "numpy": []}
    for _ in range(11):
        for name, taken in times.items():
            command = [sys.executable, "-c", code.format(name)]
            taken.append(float(subprocess.run(command, check=True, capture_output=True).stdout))
    mine, theirs = (statistics.median(taken) for taken in times.values())
    return within_seconds("import stakes", mine, theirs, "import numpy", at_most=0.15)
