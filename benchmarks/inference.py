"""Intervals and tests, from labels and from counts, one at a time and in batches."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from itertools import combinations
from typing import Any

import numpy as np
from harness import Row, Task, faster_than, within, within_time
from numpy.typing import NDArray
from scipy.stats import bootstrap

from stakes import Confusion, CostEstimate, CostMatrix, PairedConfusion, compare_many, evaluate
from stakes.infer import batch_intervals


def rows() -> Iterator[Row]:
    """Measure everything in this file."""
    rng = np.random.default_rng(0)
    yield from _against_peers(rng)
    for size in (4, 10):
        yield from _against_multinomial(rng, size)
    yield from _growth(rng)
    yield from _batches(rng)
    yield from _many(rng)
    yield from _strata(rng)


def _problem(rng: np.random.Generator, size: int, n: int) -> tuple[CostMatrix, Confusion]:
    values = rng.integers(1, 1000, (size, size)) / 10 * (1 - np.eye(size))
    costs = CostMatrix(values, rows="predicted", labels=range(size))
    shares = rng.dirichlet(np.ones(size * size))
    counts = rng.multinomial(n, shares).reshape(size, size)
    return costs, Confusion(counts, range(size))


def _against_peers(rng: np.random.Generator) -> Iterator[Row]:
    costs, _ = _problem(rng, 4, 10)
    y_true, y_pred = rng.integers(0, 4, (2, 10**6))
    each = costs.values[y_pred, y_true]
    yield faster_than(
        "evaluate + interval, 10⁶ labels, 4 classes",
        lambda: evaluate(y_true, y_pred, costs).interval(),
        lambda: bootstrap((each,), np.mean, n_resamples=1000, method="percentile", batch=1),
        "scipy bootstrap, 1000 resamples",
        at_least=500,
        repeats=1,
    )
    if find_spec("confidenceinterval") is None:
        print("confidenceinterval is not installed: its comparison is left out")
        return
    from confidenceinterval.bootstrap import bootstrap_ci

    few = slice(10**5)

    def mean_cost(actual: NDArray[np.int64], predicted: NDArray[np.int64]) -> float:
        return float(costs.values[predicted, actual].mean())

    yield faster_than(
        "evaluate + interval, 10⁵ labels, 4 classes",
        lambda: evaluate(y_true[few], y_pred[few], costs).interval(),
        lambda: bootstrap_ci(
            y_true=y_true[few],
            y_pred=y_pred[few],
            metric=mean_cost,
            confidence_level=0.95,
            n_resamples=1000,
            method="bootstrap_percentile",
            random_state=np.random.RandomState(0),
        ),
        "confidenceinterval, 1000 resamples",
        at_least=100,
        repeats=1,
    )


def _against_multinomial(rng: np.random.Generator, size: int) -> Iterator[Row]:
    costs, confusion = _problem(rng, size, 10**4)
    estimate = CostEstimate(confusion, costs)
    shares = confusion.counts.ravel() / confusion.n
    bare: Task = lambda: rng.multinomial(10**4, shares, 1000)  # noqa: E731 - a task
    for method, at_most in (("bcost", 3), ("exact", 20), ("extremal", 10)):
        options = {"rng": rng} if method == "bcost" else {}
        yield within(
            f"{method} from counts, {size} classes, n = 10⁴",
            lambda method=method, options=options: estimate.interval(method=method, **options),  # type: ignore[misc]
            bare,
            "rng.multinomial(n, p, 1000)",
            at_most=at_most,
            repeats=15,
        )


def _growth(rng: np.random.Generator) -> Iterator[Row]:
    """Compare n = 10⁶ with 10⁴: time may grow as √n for exact, and not at all for extremal."""
    costs, small = _problem(rng, 4, 10**4)
    large = Confusion(small.counts * 100, small.labels)
    for method, at_most in (("exact", 10.0), ("extremal", 1.5)):
        yield within(
            f"{method}, n = 10⁶",
            lambda method=method: CostEstimate(large, costs).interval(method=method),  # type: ignore[misc]
            lambda method=method: CostEstimate(small, costs).interval(method=method),  # type: ignore[misc]
            f"{method}, n = 10⁴",
            at_most=at_most,
            repeats=15,
        )


def _batches(rng: np.random.Generator) -> Iterator[Row]:
    costs, confusion = _problem(rng, 4, 1000)
    shares = confusion.counts.ravel() / confusion.n
    tables = rng.multinomial(1000, shares, 1000).reshape(-1, 4, 4)
    for method, at_least in (
        ("extremal", 20),
        ("normal", 20),
        ("exact", 10),
        ("bca", 10),
        ("bcost", 10),
    ):
        options: dict[str, Any] = {"method": method}
        options |= {"rng": 0} if method == "bcost" else {}
        yield faster_than(
            f"{method}, 1000 tables at once",
            lambda options=options: batch_intervals(tables, costs, **options),  # type: ignore[misc]
            lambda options=options: [  # type: ignore[misc]
                CostEstimate(Confusion(table, range(4)), costs).interval(**options)
                for table in tables
            ],
            "a loop over single calls",
            at_least=at_least,
            repeats=3 if at_least > 10 else 1,
        )


def _many(rng: np.random.Generator) -> Iterator[Row]:
    """Time the comparison of many models against counting each pair separately."""
    y_true = rng.binomial(1, 0.1, 10**5)
    models = {
        f"m{i}": np.where(rng.random(10**5) < 0.05 + i / 2000, 1 - y_true, y_true)
        for i in range(100)
    }
    costs = CostMatrix.from_errors(false_positive=1, false_negative=20)
    yield within(
        "compare_many, 100 models × 10⁵ rows",
        lambda: compare_many(y_true, models, costs),
        lambda: [
            PairedConfusion.from_labels(y_true, one, other)
            for one, other in combinations(models.values(), 2)
        ],
        "counting each pair",
        at_most=2,
        repeats=1,
    )


def _strata(rng: np.random.Generator) -> Iterator[Row]:
    """Time the interval of a sample from 40 strata, with four outcomes in each."""
    costs = CostMatrix([[0, 30], [2, 5]], rows="predicted", labels=range(2))
    strata = np.repeat(np.arange(40), 250)
    y_true, wrong = rng.random((2, len(strata))) < [[0.3], [0.1]]
    y_pred = y_true ^ wrong
    shares = rng.dirichlet(np.full(40, 5.0))
    estimate = evaluate(
        y_true.astype(int),
        y_pred.astype(int),
        costs,
        strata=strata,
        population=dict(enumerate(shares.tolist())),
    )
    yield within_time("interval of 40 strata × 4 outcomes", estimate.interval, at_most=50)
