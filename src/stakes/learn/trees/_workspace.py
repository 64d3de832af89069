"""The arrays that the compiled trees work on, made and enlarged here, and the call to grow them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.learn.trees._prepare import Queries, Table


def new_workspace(table: Table) -> Any:
    """Return room to work on any bag of a table, with the tables of small nodes that bags share."""
    from stakes.learn.trees import _kernel as kernel

    n, attributes, classes = table.n_rows, len(table.attributes), table.n_classes
    return kernel.Work(
        log=np.log2(np.maximum(np.arange(n + 2), 1)),
        terms=np.empty((2, n + classes + 1)),
        tangents=kernel.tangents(),
        bound=np.empty(n),
        worth=np.empty(classes),
        tally=np.zeros(classes, kernel.TALLY),
        words=np.zeros((n >> 6) + 1, np.uint64),
        summary=np.zeros((n >> 12) + 1, np.uint64),
        keys=np.zeros(kernel.MANY * kernel.LANES, np.uint32),
        local=np.empty(kernel.MANY, np.int64),
        step=np.empty(kernel.MANY, np.uint64),
        line=np.empty(n, np.int64),
        runs=np.empty((6, n + 1), np.int64),
        gain_of=np.full(table.most_values + 1, kernel.NOTHING, np.int64),
        seen=np.empty(table.most_values + 1, np.int64),
        sides=np.zeros((4, attributes), np.int64),
        packed=np.empty(attributes, np.int64),
        shares=np.empty(classes),
        table_of=np.full(2 * kernel.MOST_TABLES, kernel.NOTHING, np.int32),
        table_counts=np.zeros((kernel.MOST_TABLES, classes), np.int64),
        table_begin=np.zeros(kernel.MOST_TABLES + 1, np.int64),
        tables_used=np.zeros(1, np.int64),
        scores=np.empty(kernel.MOST_TABLED, np.uint32),
        table_gains=np.empty(kernel.MOST_TABLED, np.uint32),
    )


def new_batch(table: Table, queries: Queries, max_tests: int) -> Any:
    """Return the queries, with room for their leaves and for what they are told at a node."""
    from stakes.learn.trees._kernel import NOTHING, Batch

    n, attributes = queries.values.shape
    return Batch(
        values=queries.values,
        ranks=queries.ranks,
        sums=np.zeros((n, table.n_classes)),
        totals=np.zeros(n),
        asked=np.empty(n, np.int64),
        paths=np.empty(n),
        met=np.full(n, NOTHING, np.int64),
        below=np.empty(n, np.int64),
        pure=np.empty(n, np.int64),
        gain=np.empty((n, attributes), np.int64),
        choice=np.empty((n, attributes), np.int64),
        n_best=np.empty(n, np.int64),
        gains=np.empty((n, max_tests), np.int64),
        keys=np.empty((n, max_tests), np.int64),
        onlys=np.empty((n, max_tests), np.int64),
    )


def _new_graph(rules: Any, data: Any, n_queries: int) -> Any:
    """Return a graph of the root, which all rows and queries reach."""
    from stakes.learn.trees import _kernel as kernel

    n_rows, n_all = len(data.entries), int((data.entries >> kernel.WEIGHT).sum())
    n_keys = len(data.discrete) * data.stride
    graph = kernel.Graph(
        rows=np.empty(4 * n_rows + 64, np.uint32),
        nodes=np.empty(64, kernel.NODE),
        segments=np.empty(64, kernel.SEGMENT),
        reached=np.empty(n_queries * (rules.max_tests + 1) + 64, kernel.REACHED),
        table=np.full(256, kernel.NOTHING, np.int32),
        waiting=np.zeros(n_all + 1, kernel.WAITING),
        slot_of=np.full(n_keys, kernel.NOTHING, np.int32),
        slots=np.empty(min(n_queries * rules.max_tests, n_keys), kernel.SLOT),
        state=np.zeros(1, kernel.STATE),
    )
    graph.rows[:n_rows] = np.arange(n_rows)
    graph.nodes[0] = (0, n_rows, 0, kernel.NOTHING, 0, n_queries, kernel.NOTHING, kernel.NOTHING)
    graph.reached["query"][:n_queries] = np.arange(n_queries)
    graph.reached["paths"][:n_queries] = 1.0
    graph.waiting["head"] = kernel.NOTHING
    graph.waiting[n_all] = (0, 0, 1)
    for name, number in (
        *(("nodes", 1), ("reached", n_queries), ("rows", n_rows), ("split", 1)),
        *(("smallest", rules.smallest), ("size", n_all), ("node", kernel.NOTHING)),
    ):
        graph.state[name] = number
    return graph


def _enlarged(graph: Any, most_chosen: int) -> Any:
    """Return a graph with room for more, without the rows of nodes that are done."""
    from stakes.learn.trees import _kernel as kernel

    used, rows, nodes = graph.state[0], graph.rows, graph.nodes
    needed = int(nodes["length"][used["node"]])
    if used["rows"] + needed > len(rows):
        known = nodes[: used["nodes"]]
        live = int(known["length"][known["first"] != kernel.NOTHING].sum())
        if 2 * (live + needed) > len(rows):
            rows = np.empty(3 * (live + needed), rows.dtype)
        kernel.pack_rows(graph.rows, rows, nodes, graph.state)
    table = graph.table
    if 2 * used["nodes"] > len(table):
        table = np.full(4 * len(table), kernel.NOTHING, table.dtype)
        kernel.fill_hash_table(table, nodes, used["nodes"])
    return graph._replace(
        rows=rows,
        nodes=_longer(nodes, used["nodes"] + 1),
        segments=_longer(graph.segments, used["segments"] + 1),
        reached=_longer(graph.reached, used["reached"] + most_chosen),
        table=table,
    )


def _longer(array: NDArray[Any], needed: int) -> NDArray[Any]:
    """Return an array, or a copy that is longer if it is too short."""
    if needed <= len(array):
        return array
    longer = np.empty(max(needed, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer


def grow_all(
    table: Table, rules: Any, work: Any, data: Any, queries: Queries, *, max_nodes: int = 0
) -> tuple[NDArray[np.float64], NDArray[np.float64], int]:
    """Grow the trees of queries on a bag.

    Returns the sums of their leaf shares over all paths, how many paths they have, and the size
    from which on nodes are split: with a budget of nodes, the least one from which on there are not
    more nodes than that. With a budget, the queries are to be the rows of the bag.
    """
    from stakes.learn.trees._kernel import grow

    batch = new_batch(table, queries, rules.max_tests)
    graph = _new_graph(rules, data, len(queries))
    while not grow(data, rules, work, batch, graph, max_nodes):
        graph = _enlarged(graph, len(queries) * rules.max_tests)
    return batch.sums, batch.totals, int(graph.state["smallest"][0])
