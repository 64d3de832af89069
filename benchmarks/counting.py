"""Counting labels and scores, and importing the package."""

from __future__ import annotations

import subprocess
import sys
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from harness import Row, faster_than, within, within_memory
from numpy.typing import NDArray
from sklearn.metrics import confusion_matrix, roc_curve

from stakes import Confusion, CostMatrix, PairedConfusion, ScoreCounts, evaluate, study_of

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
    yield within(
        "import stakes",
        lambda: _run("import stakes"),
        lambda: _run("import numpy"),
        "import numpy",
        at_most=2,
        repeats=11,
    )


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
        ("one-byte text", np.array([b"a", b"b", b"c", b"d"])[codes]),
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


def _run(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)
