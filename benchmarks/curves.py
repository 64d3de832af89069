"""Cost curves and their bands, from scores."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from typing import Any

import numpy as np
from harness import Row, Task, faster_than, within, within_memory
from numpy.typing import NDArray
from sklearn.metrics import roc_curve

from stakes import (
    CostCurve,
    CostCurveDifference,
    PairedScoreCounts,
    ScoreCounts,
    choose_threshold,
)


def rows() -> Iterator[Row]:
    """Measure everything in this file."""
    y_true, first, second = _scores(10**6)
    for method in ("mover", "gaussian"):
        yield within(
            f"curve and {method} band, 10⁶ scores",
            lambda method=method: _curve(y_true, first, method),  # type: ignore[misc]
            lambda: np.argsort(first),
            "numpy.argsort of the scores",
            at_most=4,
        )
    yield faster_than(
        "curve and mover band, 10⁶ scores",
        lambda: _curve(y_true, first, "mover"),
        lambda: roc_curve(y_true, first),
        "sklearn roc_curve alone",
        at_least=1,
    )
    yield within(
        "curve and exact band, 10⁶ scores",
        lambda: _curve(y_true, first, "exact"),
        lambda: np.argsort(first),
        "numpy.argsort of the scores",
        at_most=5,
        repeats=3,
    )
    middling = CostCurve.from_scores(y_true[:4000], first[:4000])
    yield within(
        "exact band, full sampling, 4000 scores",
        lambda: middling.band(method="exact", sampling="full"),
        lambda: middling.band(method="exact"),
        "the same, stratified (no goal)",
        at_most=np.inf,
        repeats=3,
    )
    counts = ScoreCounts.from_scores(y_true, first)
    yield within(
        "choose_threshold with assurance, table of 10⁶",
        lambda: choose_threshold(counts, max_fpr=0.05, assurance=0.95),
        lambda: np.argsort(first),
        "numpy.argsort of the scores",
        at_most=4,
    )
    yield within(
        "difference band, 2 × 10⁶ scores",
        lambda: _difference(y_true, first, second),
        lambda: np.argsort(first),
        "numpy.argsort of 10⁶ scores",
        at_most=10,
    )
    yield from _many(*_scores(10**7))


def _many(y_true: NDArray[Any], first: NDArray[Any], second: NDArray[Any]) -> Iterator[Row]:
    """Compare the times of 10⁷ scores with that of a sort, and check the peak memory."""
    narrow, weight = first.astype(np.float32), np.abs(second) + 0.5
    counts = ScoreCounts.from_scores(y_true, first)
    tasks: list[tuple[str, Task, float, float]] = [
        ("score table, 10⁷ scores", lambda: ScoreCounts.from_scores(y_true, first), 0.6, 0),
        (
            "score table, 10⁷ scores of single precision",
            lambda: ScoreCounts.from_scores(y_true, narrow),
            0.6,
            0,
        ),
        (
            "choose_threshold with assurance, table of 10⁷",
            lambda: choose_threshold(counts, max_fpr=0.05, assurance=0.95),
            0.2,
            0,
        ),
        (
            "score table, 10⁷ weighted scores",
            lambda: ScoreCounts.from_scores(y_true, first, sample_weight=weight),
            2.5,
            0,
        ),
        (
            "two scores of 10⁷ rows, pairs kept",
            lambda: PairedScoreCounts.from_scores(y_true, first, second).ranks_1,
            4,
            0,
        ),
        ("curve and mover band, 10⁷ scores", lambda: _curve(y_true, first, "mover"), 1.5, 0.8),
        ("difference band, 2 × 10⁷ scores", lambda: _difference(y_true, first, second), 3, 1.1),
    ]
    for task, ours, at_most, gigabytes in tasks:
        yield within(
            task, ours, lambda: np.argsort(first), "numpy.argsort", at_most=at_most, repeats=3
        )
        if gigabytes:
            held = y_true.nbytes + (2 if "difference" in task else 1) * first.nbytes
            tracemalloc.start()
            ours()
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
            limit = int(gigabytes * 1e9)
            yield within_memory(f"{task}, peak", held + peak, limit, f"{gigabytes:g} GB", at_most=1)


def _scores(n: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    y_true = rng.random(n) < 0.1
    first = rng.normal(size=n) + y_true
    return y_true, first, 0.7 * first + 0.7 * rng.normal(size=n)


def _curve(y_true: NDArray[Any], score: NDArray[Any], method: str) -> object:
    return CostCurve.from_scores(y_true, score).band(method=method)


def _difference(y_true: NDArray[Any], first: NDArray[Any], second: NDArray[Any]) -> object:
    return CostCurveDifference.from_scores(y_true, first, second).band()
