"""Audits: intervals of stratified samples, and plans and draws for 10⁸ rows in Parquet files.

Plans and draws are compared with the engine's group-by of the same columns.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars as pl
from harness import Row, within_time
from scores_at_scale import PART, _both_times

from stakes import CostEstimate, CostMatrix, Design, GroupedConfusion, Pool

ROWS = 10**8
LABELS = 300
COSTS = CostMatrix.from_errors(false_positive=1, false_negative=50)


def rows(n: int = ROWS) -> Iterator[Row]:
    """Measure everything in this file."""
    for pool in (10**6, None):
        estimate = many_strata(pool)
        kind = "infinite pool" if pool is None else f"{pool:.0e} rows"
        yield within_time(
            f"interval, 40 strata × 4 outcomes, {kind}, processor time",
            lambda estimate=estimate: replace(estimate).interval(),  # type: ignore[misc]
            at_most=50,
            clock=time.process_time,
        )
    with TemporaryDirectory() as folder:
        write_pool(Path(folder), n)
        yield from _planned(f"{folder}/*.parquet", n)


def many_strata(rows: int | None) -> CostEstimate:
    """Return an estimate from 40 strata with four possible costs each, and few errors."""
    rng = np.random.default_rng(1)
    costs = CostMatrix(
        [[0, 1, 20, 500], [2, 0, 40, 700], [3, 9, 0, 90], [5, 4, 8, 0]],
        rows="predicted",
        labels=list("abcd"),
    )
    names, decided = [f"{k:02d}" for k in range(40)], [list("abcd")[k % 4] for k in range(40)]
    counts = np.zeros((40, 4, 4), dtype=int)
    for k in range(40):
        chances = np.full(4, 0.01)
        chances[k % 4] = 0.97
        counts[k, k % 4] = rng.multinomial(25, chances)
    shares = rng.dirichlet(np.ones(40))
    sizes = shares.tolist() if rows is None else (100 + shares * rows).astype(int).tolist()
    design = Design(
        population=dict(zip(names, sizes, strict=True)),
        decided=dict(zip(names, decided, strict=True)),
    )
    return CostEstimate(GroupedConfusion(counts, list("abcd"), strata=names), costs, design)


def write_pool(folder: Path, n: int) -> None:
    """Write files with scores and the decisions of two models that differ on 1.5% of the rows."""
    rng = np.random.default_rng(0)
    for number, start in enumerate(range(0, n, PART)):
        size = min(PART, n - start)
        score = rng.beta(0.2, 10, size)
        old = score > 0.1
        columns = {
            "id": np.arange(start, start + size),
            "score": score.astype(np.float32),
            "old": old.astype(np.int8),
            "new": (old ^ (rng.random(size) < 0.015)).astype(np.int8),
        }
        pl.DataFrame(columns).write_parquet(folder / f"part-{number:04d}.parquet")


def _planned(files: str, n: int) -> Iterator[Row]:
    fine = (pl.col("score") * 2.0**13).floor().cast(pl.Int32)
    tasks: dict[str, tuple[list[Any], dict[str, Any], dict[str, Any]]] = {
        "two models": (["old", "new"], {}, {"compare": ("old", "new")}),
        "one model, scores": (["old", fine], {"decision": "old", "score": "score"}, {}),
    }
    for name, (keys, columns, asked) in tasks.items():

        def planned(columns: Any = columns, asked: Any = asked) -> Any:
            pool = Pool.from_frame(pl.scan_parquet(files), id="id", **columns)
            return pool.plan(COSTS, n_labels=LABELS, **asked)

        def grouped(keys: Any = keys) -> Any:
            scan = pl.scan_parquet(files).group_by(*keys).agg(pl.len())
            return scan.collect(engine="streaming")

        plan, peer = planned(), "polars, group by the same columns"
        task = f"{name}, {n:.0e} rows"
        yield from _both_times(f"audit plan, {task}", planned, grouped, peer, at_most=1.5)
        yield from _both_times(
            f"audit draw, {task}",
            lambda plan=plan: replace(plan).rows,  # type: ignore[misc]
            grouped,
            peer,
            at_most=math.inf,
        )
