"""Arrays of the compiled trees: their contents, and functions that make them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stakes.learn.trees._prepare import Queries, Table

Array = NDArray[Any]

UNIT = 1e9
"""Units per bit: gains and scores are compared as integers, to nine decimals of a bit."""

NOTHING = -1
NEVER = (1 << 32) - 1
"""The score of a split that leaves too few rows on a side."""

CLASS, WEIGHT, CODE = 0xFFFF, 16, 32
"""Layout of an entry: the class below bit 16, the row's weight from 16 on, a code from 32 on."""

RANKS, MOST_RANKS = 16, 0xFFFF
"""Layout of a gain: the rank of its attribute in the lowest bits, the first attribute's highest."""

MANY, LOCAL, LANES = 128, 8, 32
"""Maximum number of rows of a node that is sorted by `LANES` attributes at once.

A sort key is a code and, in its lowest `LOCAL` bits, the number of the row in its node. Without
this, bags of the default preset took 1.7 times as long (`benchmarks/trees.py`, 1,000 rows). With
32 attributes at once, sorting a key took 0.46 to 0.75 of the time that it took with 16 (8 to 100
rows).
"""

LARGEST_TABLE, MOST_TABLES, MOST_TABLED = 512, 3079, 902_027
"""Places in the largest table of splits; maximum number of tables, and of their places in all.

A table of a node has a place for each subset of its class counts. Nodes whose counts are the same,
in any order of the classes, share one, so there is a table for each way to write a number from 2 to
512 as a product. Without tables, the same bags took 1.4 times as long. With 1,024 places in the
largest, they took 0.95 of the time, and 12 MB more.
"""

SCORE, AFTER = 32, 24
"""Layout of a compared split: its place below bit 24, the row before it from 24 on, its score."""

MOST_PATHS = 2.0**500
"""If a query has more paths to a node, all its numbers of paths are divided by this."""

PARTS = 512
"""Number of tangents that bound the entropy of masses; logarithms took 1.3 times as long there."""

LEFT_GAIN, RIGHT_GAIN, LOW, HIGH = range(4)
"""Rows of `sides`: the gains of the sides of an attribute's test, and the ranks beside it."""

TALLY = np.dtype([(name, np.int64) for name in (
    "count",  # rows of the class in the node
    "known",  # of them, those with a value of the current attribute
    "left",  # of them, those on the left of a split
    "unit",  # how many rows have a mass of 1
    "start",  # where the terms of the class begin
    "stride",  # the step of a row in a table of splits
    "order", "ordered",  # by size: which class has this place, and how many rows it has
)])  # fmt: skip

NODE = np.dtype([
    ("hash", np.int64),
    ("first", np.int64), ("length", np.int32),  # its rows: where, how many; first is -1 when done
    ("next", np.int32),  # the next node of its size
    ("begin", np.int64), ("number", np.int32),  # the queries from its first parent: where, how many
    ("more", np.int32), ("last", np.int32),  # the first and last segment from other parents
], align=True)  # fmt: skip
"""A node; numbers of nodes, rows or queries take four bytes, places among those of all eight."""

SEGMENT = np.dtype([("begin", np.int64), ("number", np.int32), ("next", np.int32)])
REACHED = np.dtype([("query", np.int32), ("paths", np.float64)])
WAITING = np.dtype([("head", np.int32), ("tail", np.int32), ("count", np.int32)])
SLOT = np.dtype([("key", np.int64), ("number", np.int64), ("end", np.int64)])
STATE = np.dtype([(name, np.int64) for name in (
    "nodes", "segments", "reached", "rows",  # how much of each is used
    "split", "smallest",  # how many nodes are split, and from which size on
    "scaled",  # how often numbers of paths were too large
    "size", "node", "slot", "slots",  # current size, node and slot, and the number of slots
)])  # fmt: skip


class Rules(NamedTuple):
    """Rules by which trees grow."""

    max_tests: int
    gain_ratio: float
    min_leaf: int
    laplace: float
    balanced: bool
    at_node: bool
    by_information: bool
    per_node: bool
    smallest: int


class Data(NamedTuple):
    """The rows of a bag, class by class.

    `codes` [row, attribute] and `columns` [attribute, row] number the sorted values;
    `missing` is higher than all of them. `position` [attribute, row] is a row's place in the order
    of an attribute, and `order` [attribute, place] the row there. `entries` has weight and class
    of a row. The tests of two attributes are `stride` apart.
    """

    codes: Array
    columns: Array
    position: Array
    order: Array
    discrete: Array
    value: Array
    value_start: Array
    entries: Array
    row_hash: Array
    stride: int
    missing: int
    any_discrete: bool


class Work(NamedTuple):
    """Work arrays for a node, and tables of all splits of small nodes.

    A table has the `scores` and `table_gains` of the splits of all nodes with the same class
    counts. `table_key` is a hash table of these counts, and `table_begin` the start of each table;
    `tabled` is the number of places used.
    """

    log: Array
    terms: Array
    both: Array
    tangents: Array
    bound: Array
    worth: Array
    tally: Array
    words: Array
    summary: Array
    keys: Array
    local: Array
    step: Array
    line: Array
    runs: Array
    gain_of: Array
    seen: Array
    sides: Array
    packed: Array
    shares: Array
    table_key: Array
    table_begin: Array
    tabled: Array
    scores: Array
    table_gains: Array


class Batch(NamedTuple):
    """All queries, their leaves, and the tests of those at a node.

    `sums` are the shares of a query's leaves times the paths that lead there, and `totals` the
    paths. `asked` are the numbers of the queries at a node, and `paths` their numbers of paths to
    it. Each has the `n_best` best tests, with their gains, keys, and the class if a test leaves one
    only.
    """

    values: Array
    ranks: Array
    sums: Array
    totals: Array
    asked: Array
    paths: Array
    met: Array
    below: Array
    pure: Array
    gain: Array
    choice: Array
    n_best: Array
    gains: Array
    keys: Array
    onlys: Array


class Graph(NamedTuple):
    """All nodes, their rows, the queries that reach them, and a hash table to find them.

    `waiting` has the nodes of each size that are not processed yet. The children of the current
    node have `slots`; `slot_of` is the slot of a test.
    """

    rows: Array
    nodes: Array
    segments: Array
    reached: Array
    table: Array
    waiting: Array
    slot_of: Array
    slots: Array
    state: Array


@dataclass
class Space:
    """Workspace that tasks reuse: arrays, tables of small nodes, and the last graph."""

    work: Work
    graph: Graph | None = None


class Grown(NamedTuple):
    """The trees of queries on a bag.

    `sums` are the leaf shares of a query times the paths that lead there, and `paths` their number;
    if some were `scaled`, only the ratio of the two has a meaning. Nodes are split from size
    `smallest` on.
    """

    sums: NDArray[np.float64]
    paths: NDArray[np.float64]
    smallest: int
    scaled: bool

    @property
    def proba(self) -> NDArray[np.float64]:
        """The class probabilities of the queries."""
        return np.asarray(self.sums / self.paths[:, np.newaxis])


HASH_SEED = 20_010_615


def new_data(table: Table, counts: NDArray[Any]) -> Data:
    """Return the rows of a bag, given how often it drew each row."""
    drawn = counts > 0
    rows = np.flatnonzero(drawn)
    rows = rows[np.argsort(table.classes[rows], kind="stable")].astype(np.int32)
    new = np.empty(table.n_rows, np.int32)
    new[rows] = np.arange(len(rows))
    shape = len(table.attributes), len(rows)
    order, position = np.empty(shape, np.uint32), np.empty(shape, np.uint32)
    for a, drawn_order in enumerate(table.order):
        order[a] = new[drawn_order[drawn[drawn_order]]]
        position[a, order[a]] = np.arange(len(rows))
    columns = np.ascontiguousarray(table.codes[:, rows])
    lengths = np.array([len(attribute) for attribute in table.attributes])[:, np.newaxis]
    columns[columns == lengths] = table.missing
    values = [
        np.empty(0) if attribute.numbers is None else attribute.numbers
        for attribute in table.attributes
    ]
    hashes = np.random.default_rng(HASH_SEED).integers(-(1 << 63), 1 << 63, table.n_rows)
    return Data(
        codes=np.ascontiguousarray(columns.T),
        columns=columns,
        position=position,
        order=order,
        discrete=np.array([attribute.discrete for attribute in table.attributes]),
        value=np.concatenate([*values, np.zeros(1)]),  # one more, for a feature without values
        value_start=np.cumsum([0, *map(len, values)]),
        entries=counts[rows].astype(np.int64) << WEIGHT | table.classes[rows],
        row_hash=hashes[rows],
        stride=table.stride,
        missing=table.missing,
        any_discrete=table.any_discrete,
    )


def _tangents() -> Array:
    """Return tangents of x log x + (1 - x) log(1 - x) in equal parts of 0 … 1, and their errors.

    They are for x in units of parts; the numbers of each are adjacent, so that they are read at
    once.
    """

    def height(x: Array) -> Array:
        inner = np.clip(x, 1e-300, 1 - 1e-16)  # at the ends, it is 0
        return np.asarray(inner * np.log2(inner) + (1 - inner) * np.log2(1 - inner))

    edges = np.arange(PARTS + 1) / PARTS
    x = (edges[1:] + edges[:-1]) / 2
    slope = np.log2(x) - np.log2(1 - x)
    start = height(x) - slope * x
    errors = [height(end) - (start + slope * end) for end in (edges[:-1], edges[1:])]
    return np.array([start, slope / PARTS, np.maximum(*errors)]).T.copy()


def new_space(table: Table) -> Space:
    """Return a workspace for any bag of a table, with the tables of small nodes that bags share."""
    n, attributes, classes = table.n_rows, len(table.attributes), table.n_classes
    work = Work(
        log=np.log2(np.maximum(np.arange(n + 2), 1)),
        terms=np.empty(n + classes + 1),
        both=np.empty(n + classes + 1),
        tangents=_tangents(),
        bound=np.empty(n),
        worth=np.empty(classes),
        tally=np.zeros(classes, TALLY),
        words=np.zeros((n >> 6) + 1, np.uint64),
        summary=np.zeros((n >> 12) + 1, np.uint64),
        keys=np.zeros(MANY * LANES, np.uint32),
        local=np.empty(MANY, np.int64),
        step=np.empty(MANY, np.uint64),
        line=np.empty(n, np.int64),
        runs=np.empty((6, n + 1), np.int64),
        gain_of=np.full(table.most_values + 1, NOTHING, np.int64),
        seen=np.empty(table.most_values + 1, np.int64),
        sides=np.zeros((4, attributes), np.int64),
        packed=np.empty(attributes, np.int64),
        shares=np.empty(classes),
        table_key=np.zeros(1 << (2 * MOST_TABLES).bit_length(), np.int64),
        table_begin=np.zeros(1 << (2 * MOST_TABLES).bit_length(), np.int64),
        tabled=np.zeros(1, np.int64),
        scores=np.empty(MOST_TABLED, np.uint32),
        table_gains=np.empty(MOST_TABLED, np.uint32),
    )
    return Space(work)


def new_batch(table: Table, queries: Queries, max_tests: int) -> Batch:
    """Return the queries, with room for their leaves and for their tests at a node."""
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


def new_graph(rules: Rules, data: Data, n_queries: int, used: Graph | None = None) -> Graph:
    """Return a graph of the root, which all rows and queries reach, in an earlier graph's arrays.

    To reuse these saves bags of the default preset a tenth of their time: the time to find out how
    much room is needed, and to get it from the system.
    """
    n_rows, n_all = len(data.entries), int((data.entries >> WEIGHT).sum())
    n_keys = len(data.discrete) * data.stride
    if used is None:
        used = Graph(
            rows=np.empty(0, np.uint32),
            nodes=np.empty(64, NODE),
            segments=np.empty(64, SEGMENT),
            reached=np.empty(0, REACHED),
            table=np.empty(256, np.int32),
            waiting=np.empty(0, WAITING),
            slot_of=np.full(n_keys, NOTHING, np.int32),
            slots=np.empty(0, SLOT),
            state=np.empty(1, STATE),
        )
    graph = used._replace(
        rows=longer(used.rows, 4 * n_rows + 64),
        reached=longer(used.reached, n_queries * (rules.max_tests + 1) + 64),
        waiting=longer(used.waiting, n_all + 1),
        slots=longer(used.slots, min(n_queries * rules.max_tests, n_keys)),
    )
    graph.table[:] = NOTHING
    graph.rows[:n_rows] = np.arange(n_rows)
    graph.nodes[0] = (0, 0, n_rows, NOTHING, 0, n_queries, NOTHING, NOTHING)
    graph.reached["query"][:n_queries] = np.arange(n_queries)
    graph.reached["paths"][:n_queries] = 1.0
    graph.waiting[:] = (NOTHING, NOTHING, 0)
    graph.waiting[n_all] = (0, 0, 1)
    graph.state[0] = 0
    for name, number in (
        *(("nodes", 1), ("reached", n_queries), ("rows", n_rows), ("split", 1)),
        *(("smallest", rules.smallest), ("size", n_all), ("node", NOTHING)),
    ):
        graph.state[name] = number
    return graph


def longer(array: NDArray[Any], needed: int) -> NDArray[Any]:
    """Return an array, or a copy that is longer if it is too short."""
    if needed <= len(array):
        return array
    longer = np.empty(max(needed, 2 * len(array)), array.dtype)
    longer[: len(array)] = array
    return longer
