"""Growing the trees of many queries in all bags: in tasks, side by side."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from queue import Empty, SimpleQueue
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from stakes.learn.trees._prepare import Queries, Table

TASK_BYTES, BYTES_GROW = 192 << 20, 1.5
"""What the nodes of a task may take, and how the bytes of a query's nodes grow with the rows.

With 20 continuous attributes, 3 classes and a full task, a query took 3 kB with 1,000 rows, 1.3 MB
with 20,000 and 9 MB with 100,000: less than half of rows ** 1.5. So 100,000 rows have six queries a
task. Each of `n_jobs` works on a task of its own.
"""

NODE_BYTES, MORE_BYTES = 4, 64
"""What a query takes by information: of each node of the budget; without one, so many times more.

A query of the liver data took 35 kB with 10,000 nodes, and 0.4 MB with all 200,000.
"""

TASKS, FEWEST_QUERIES = 16, 1024
"""Few bags are cut into tasks by their queries, but queries share nodes only within a task."""


def mean_probabilities(
    table: Table,
    rules: Any,
    smallest: NDArray[np.int64],
    bags: NDArray[Any],
    queries: Queries,
    *,
    max_nodes: int | None,
    n_jobs: int | None,
    verbose: int,
    name: str,
) -> NDArray[np.float64]:
    """Return the class probabilities of queries: of each bag's trees, then their mean.

    Each bag has its own size from which on nodes are split.
    """
    each = query_bytes(table.n_rows, max_nodes, by_information=rules.by_information)
    chunk = chunk_size(each, len(queries), len(bags))
    starts = range(0, len(queries), chunk)
    workspaces: SimpleQueue[Any] = SimpleQueue()
    total = np.zeros((len(queries), table.n_classes))

    def tasks() -> Iterator[Any]:
        for counts, least in zip(bags, smallest.tolist(), strict=True):
            data, own = table.bag(counts), rules._replace(smallest=least)
            for start in starts:
                yield delayed(_grow)(
                    table, own, workspaces, data, queries.part(start, start + chunk)
                )

    progress = _Progress(name, len(bags) * len(starts), verbose)
    for number, shares in enumerate(_results(tasks(), n_jobs, progress)):
        start = starts[number % len(starts)]
        total[start : start + chunk] += shares
    return total / len(bags)


def smallest_splits(
    table: Table,
    rules: Any,
    bags: NDArray[Any],
    max_nodes: int,
    *,
    n_jobs: int | None,
    verbose: int,
    name: str,
) -> NDArray[np.int64]:
    """Return, for each bag, the size from which on there are not more nodes than that."""
    workspaces: SimpleQueue[Any] = SimpleQueue()
    count = delayed(_smallest_split)
    tasks = (count(table, rules, workspaces, counts, max_nodes) for counts in bags)
    progress = _Progress(name, len(bags), verbose)
    return np.array(list(_results(tasks, n_jobs, progress)), np.int64)


def _results(tasks: Iterator[Any], n_jobs: int | None, progress: _Progress) -> Iterator[Any]:
    """Return what comes of each task, in their order.

    Compiled code runs without the interpreter's lock. As results come in order, sums of them do not
    depend on how many work at it.
    """
    done = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(tasks)
    try:
        for result in done:
            yield result
            progress.tell(1)
    except BaseException as error:
        done.throw(error)  # the workers drop what is left, without a word
        raise


def query_bytes(rows: int, max_nodes: int | None, *, by_information: bool) -> float:
    """Return how much memory a query may take."""
    least = float(rows**BYTES_GROW)
    if not by_information:
        return least
    most = MORE_BYTES * least
    return most if max_nodes is None else max(least, min(NODE_BYTES * max_nodes, most))


def chunk_size(each: float, queries: int, bags: int) -> int:
    """Return how many queries of so many bytes a task has: the data and the budget decide."""
    fit = int(TASK_BYTES / each)
    parts = max(1, TASKS // bags)
    wanted = max(FEWEST_QUERIES, -(-queries // parts))
    return max(1, min(fit, wanted, queries))


def new_workspace(table: Table, queries: int) -> Any:
    """Return room to work, for any bag of a table and so many queries."""
    from stakes.learn.trees import _workspace as workspace

    n, attributes = table.n_rows, len(table.attributes)
    like = np.empty((0, 0), table.position_type)
    return workspace.new_workspace(
        n, n, table.n_classes, table.most_values, queries, attributes, table.width, like
    )


def grow_with(
    table: Table, rules: Any, workspace: Any, data: Any, queries: Queries
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the sums of shares over all paths of each query, and how many paths there are."""
    from stakes.learn.trees._graph import grow

    sums, paths = np.zeros((len(queries), table.n_classes)), np.zeros(len(queries))
    asked = queries.values, queries.ranks
    grow(data, rules, workspace, *asked, sums, paths, 0)
    return sums, paths


def _grow(
    table: Table, rules: Any, workspaces: SimpleQueue[Any], data: Any, queries: Queries
) -> NDArray[np.float64]:
    workspace = _reused_workspace(table, workspaces, len(queries))
    sums, paths = grow_with(table, rules, workspace, data, queries)
    workspaces.put(workspace)
    return np.asarray(sums / paths[:, np.newaxis])


def _smallest_split(
    table: Table, rules: Any, workspaces: SimpleQueue[Any], counts: NDArray[Any], max_nodes: int
) -> int:
    from stakes.learn.trees._graph import grow

    data = table.bag(counts)
    queries = table.rows_as_queries(data)
    workspace = _reused_workspace(table, workspaces, table.n_rows)
    sums, paths = np.zeros((len(queries), table.n_classes)), np.zeros(len(queries))
    asked = queries.values, queries.ranks
    found = grow(data, rules, workspace, *asked, sums, paths, max_nodes)
    workspaces.put(workspace)
    return int(found)


def _reused_workspace(table: Table, workspaces: SimpleQueue[Any], queries: int) -> Any:
    """Return a workspace that was used before, as it holds tables that the next task needs too."""
    try:
        workspace = workspaces.get_nowait()
    except Empty:
        return new_workspace(table, queries)
    return workspace if len(workspace.below) >= queries else new_workspace(table, queries)


class _Progress:
    """Lines that say how far a prediction is: one a second, or with verbose=2 one a task."""

    def __init__(self, name: str, total: int, verbose: int) -> None:
        self.name, self.total, self.verbose = name, total, verbose
        self.started = self.told = time.monotonic()
        self.done = 0

    def tell(self, more: int) -> None:
        now = time.monotonic()
        self.done += more
        done = self.done
        if not self.verbose or (self.verbose == 1 and now - self.told < 1 and done < self.total):
            return
        self.told, spent = now, now - self.started
        left = spent / done * (self.total - done)
        sys.stderr.write(
            f"[{self.name}] {done} of {self.total} tasks done in {spent:.1f} s, "
            f"about {left:.0f} s left\n"
        )
        sys.stderr.flush()
