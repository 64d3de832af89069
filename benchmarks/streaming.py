"""Accumulators: updates with batches of outcomes, and the interval after each update."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from harness import Row, Task, faster_than, within, within_time

from stakes import Accumulator, Confusion, CostEstimate, CostMatrix, PairedAccumulator

BATCH = 10**4
NAMES = np.array(["ok", "fraud", "review", "stolen card"])


def rows() -> Iterator[Row]:
    """Measure everything in this file."""
    rng = np.random.default_rng(0)
    values = rng.integers(1, 1000, (4, 4)) / 10 * (1 - np.eye(4))
    costs = CostMatrix(values, rows="predicted", labels=range(4))
    named = costs.relabel(dict(enumerate(NAMES.tolist())))
    y_true, y_pred, y_other = rng.integers(0, 4, (3, BATCH))
    one, two, text = Accumulator(costs), PairedAccumulator(costs), Accumulator(named)
    for running, batch in (
        (one, (y_true, y_pred)),
        (two, (y_true, y_pred, y_other)),
        (text, (NAMES[y_true], NAMES[y_pred])),
    ):
        running.update(*batch)

    yield from (
        _quick("update, 10⁴ outcomes", lambda: one.update(y_true, y_pred)),
        _quick("update + interval", lambda: _updated(one, y_true, y_pred)),
        _quick("update, 10⁴ outcomes of two models", lambda: two.update(y_true, y_pred, y_other)),
        _quick(
            "update, 10⁴ outcomes as text",
            lambda: text.update(NAMES[y_true], NAMES[y_pred]),
            reported=True,
        ),
    )
    yield within(
        "update, 10⁴ outcomes",
        lambda: one.update(y_true, y_pred),
        lambda: np.bincount(4 * y_pred + y_true, minlength=16),
        "numpy.bincount, codes combined",
        at_most=np.inf,
        repeats=101,
    )
    few, many = one.counts, Confusion(one.counts.counts * 10**5, range(4))
    yield within(
        "anytime interval, n = 10⁹ and more",
        lambda: CostEstimate(many, costs).interval(method="anytime"),
        lambda: CostEstimate(few, costs).interval(method="anytime"),
        "anytime interval, 10⁵ times fewer",
        at_most=2,
        repeats=31,
    )
    yield faster_than(
        "anytime interval, 4 classes",
        lambda: CostEstimate(few, costs).interval(method="anytime"),
        lambda: CostEstimate(few, costs).interval(method="guaranteed"),
        "guaranteed interval",
        at_least=10,
        repeats=7,
    )


def _updated(running: Accumulator, *batch: object) -> object:
    running.update(*batch)
    return running.interval()


def _quick(task: str, ours: Task, *, reported: bool = False) -> Row:
    return within_time(task, ours, at_most=1, repeats=201, reported=reported)
