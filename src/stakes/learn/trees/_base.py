"""Base of the lazy trees: fitting stores the rows, and prediction grows the trees."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from stakes._core import validate
from stakes._core.labels import plain
from stakes.errors import InputError
from stakes.learn._base import needs_classes, read_classes
from stakes.learn.trees._prepare import (
    Column,
    Queries,
    Table,
    discrete_columns,
    make_table,
    needs_numba,
    read_columns,
    row_columns,
)
from stakes.learn.trees._workspace import (
    CLASS,
    NOTHING,
    UNIT,
    WEIGHT,
    Data,
    Graph,
    Grown,
    Rules,
    Space,
    longer,
    new_batch,
    new_data,
    new_graph,
    new_space,
)

# Growing the trees of many queries.

TASK_BYTES, BYTES_GROW = 192 << 20, 1.5
"""Maximum bytes of a task's nodes, and exponent with which a query's bytes grow with the rows.

With 20 continuous attributes, 3 classes and a full task, a query took 3 kB with 1,000 rows, 1.3 MB
with 20,000 and 9 MB with 100,000: less than half of rows ** 1.5. So a task has six queries with
100,000 rows. Each of `n_jobs` threads works on its own task.
"""

NODE_BYTES, MORE_BYTES = 4, 64
"""Memory of a query with ranking by information: bytes per node of the budget, or the factor by
which it is larger without a budget.

A query of the liver data took 35 kB with 10,000 nodes, and 0.4 MB with all 200,000.
"""

TASKS, FEWEST_QUERIES = 16, 1024
"""Number of tasks into which the queries of few bags are cut, and minimum number of queries in one.

Queries share nodes only within a task.
"""


def mean_probabilities(
    table: Table,
    rules: Rules,
    smallest: NDArray[np.int64],
    bags: NDArray[Any],
    queries: Queries,
    *,
    max_nodes: int | None,
    n_jobs: int | None,
    verbose: int,
    name: str,
) -> NDArray[np.float64]:
    """Return the class probabilities of queries: the mean over the trees of all bags.

    Each bag has its own smallest size of nodes that are split.
    """
    each = query_bytes(table.n_rows, max_nodes, by_information=rules.by_information)
    chunk = chunk_size(each, len(queries), len(bags))
    starts = range(0, len(queries), chunk)
    spaces: SimpleQueue[Space] = SimpleQueue()
    total = np.zeros((len(queries), table.n_classes))

    def tasks() -> Iterator[Any]:
        for counts, least in zip(bags, smallest.tolist(), strict=True):
            data, own = new_data(table, counts), rules._replace(smallest=least)
            for start in starts:
                yield delayed(_grow)(table, own, spaces, data, queries.part(start, start + chunk))

    progress = _Progress(name, len(bags) * len(starts), verbose)
    for number, shares in enumerate(_results(tasks(), n_jobs, progress)):
        start = starts[number % len(starts)]
        total[start : start + chunk] += shares
    return total / len(bags)


def smallest_splits(
    table: Table,
    rules: Rules,
    bags: NDArray[Any],
    max_nodes: int,
    *,
    n_jobs: int | None,
    verbose: int,
    name: str,
) -> NDArray[np.int64]:
    """Return, for each bag, the least size from which on there are at most `max_nodes` nodes."""
    spaces: SimpleQueue[Space] = SimpleQueue()
    count = delayed(_smallest_split)
    tasks = (count(table, rules, spaces, counts, max_nodes) for counts in bags)
    progress = _Progress(name, len(bags), verbose)
    return np.array(list(_results(tasks, n_jobs, progress)), np.int64)


def _results(tasks: Iterator[Any], n_jobs: int | None, progress: _Progress) -> Iterator[Any]:
    """Iterate over the results of the tasks, in order.

    Compiled code runs without the interpreter's lock, so tasks run in threads. Results are in
    order, so that their sums do not depend on the number of threads.
    """
    done = Parallel(n_jobs=n_jobs, require="sharedmem", return_as="generator")(tasks)
    try:
        for result in done:
            yield result
            progress.tell(1)
    except BaseException as error:
        done.throw(error)  # the workers silently drop the other tasks
        raise


def query_bytes(rows: int, max_nodes: int | None, *, by_information: bool) -> float:
    """Return an upper estimate of the memory of a query, in bytes."""
    least = float(rows**BYTES_GROW)
    if not by_information:
        return least
    most = MORE_BYTES * least
    return most if max_nodes is None else max(least, min(NODE_BYTES * max_nodes, most))


def chunk_size(each: float, queries: int, bags: int) -> int:
    """Return the number of queries of a task, given the bytes of each query."""
    fit = int(TASK_BYTES / each)
    parts = max(1, TASKS // bags)
    wanted = max(FEWEST_QUERIES, -(-queries // parts))
    return max(1, min(fit, wanted, queries))


def _enlarged(graph: Graph, most_chosen: int) -> Graph:
    """Return a graph with more room, without the rows of nodes that are done."""
    from stakes.learn.trees._graph import fill_hash_table, pack_rows

    used, rows, nodes = graph.state[0], graph.rows, graph.nodes
    needed = int(nodes["length"][used["node"]])
    if used["rows"] + needed > len(rows):
        known = nodes[: used["nodes"]]
        live = int(known["length"][known["first"] != NOTHING].sum())
        if 2 * (live + needed) > len(rows):
            rows = np.empty(3 * (live + needed), rows.dtype)
        pack_rows(graph.rows, rows, nodes, graph.state)
    table = graph.table
    if 2 * used["nodes"] > len(table):
        table = np.full(4 * len(table), NOTHING, table.dtype)
        fill_hash_table(table, nodes, used["nodes"])
    return graph._replace(
        rows=rows,
        nodes=longer(nodes, used["nodes"] + 1),
        segments=longer(graph.segments, used["segments"] + 1),
        reached=longer(graph.reached, used["reached"] + most_chosen),
        table=table,
    )


def grow_all(
    table: Table, rules: Rules, space: Space, data: Data, queries: Queries, *, max_nodes: int = 0
) -> Grown:
    """Grow the trees of queries on a bag.

    With a budget of nodes, the queries must be the rows of the bag, and nodes are split from the
    least size from which on there are not more nodes than that.
    """
    from stakes.learn.trees._graph import grow

    batch = new_batch(table, queries, rules.max_tests)
    graph = new_graph(rules, data, len(queries), space.graph)
    space.graph = None  # so that arrays are freed when they are enlarged
    while not grow(data, rules, space.work, batch, graph, max_nodes):
        graph = _enlarged(graph, len(queries) * rules.max_tests)
    space.graph, state = graph, graph.state[0]
    return Grown(batch.sums, batch.totals, int(state["smallest"]), bool(state["scaled"]))


def _grow(
    table: Table, rules: Rules, spaces: SimpleQueue[Space], data: Data, queries: Queries
) -> NDArray[np.float64]:
    space = _reused_space(table, spaces)
    grown = grow_all(table, rules, space, data, queries)
    spaces.put(space)
    return grown.proba


def _smallest_split(
    table: Table, rules: Rules, spaces: SimpleQueue[Space], counts: NDArray[Any], max_nodes: int
) -> int:
    data = new_data(table, counts)
    queries = table.rows_as_queries(data.columns)
    space = _reused_space(table, spaces)
    grown = grow_all(table, rules, space, data, queries, max_nodes=max_nodes)
    spaces.put(space)
    return grown.smallest


def _reused_space(table: Table, spaces: SimpleQueue[Space]) -> Space:
    """Return a free space of an earlier task, to reuse its tables, or a new one."""
    try:
        return spaces.get_nowait()
    except Empty:
        return new_space(table)


class _Progress:
    """Progress lines of a prediction: one a second, or with verbose=2 one for each task."""

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


# The tree of one query as text (Figures 4.2 and 4.3).

LINE = "|   "
MOST_EXACT = 1e15


def tree_text(
    table: Table,
    rules: Rules,
    counts: NDArray[Any],
    query: Queries,
    *,
    labels: list[str],
    max_leaves: int,
) -> str:
    """Return the tree of a query in one bag: its tests, its leaves, and their average."""
    data = new_data(table, counts)
    space = new_space(table)
    proba = grow_all(table, rules, space, data, query).proba
    by_leaves = grow_all(table, rules._replace(per_node=False), space, data, query)
    leaves = math.inf if by_leaves.scaled else by_leaves.paths[0]
    tree = _Tree(table, rules, data, space, query, labels)
    lines, shown = [], 0
    for line, is_leaf in tree.lines():
        if is_leaf and shown == max_leaves:
            lines.append(f"... {_number(leaves - shown)} of {_number(leaves)} leaves are not shown")
            break
        lines.append(line)
        shown += is_leaf
    how = "of each node's options" if rules.per_node else "of the leaves"
    number = f"{_number(leaves)} {'leaf' if leaves == 1 else 'leaves'}"
    return "\n".join([*lines, f"{number}, average {how}: {tree.shares(proba[0])}"])


def _number(leaves: float) -> str:
    """Return the number of leaves as text; from 1e15 on, an approximation."""
    if math.isinf(leaves):
        return "over 1e150"
    return f"{leaves:.0f}" if leaves < MOST_EXACT else f"about {leaves:.3g}"


@dataclass(frozen=True)
class _Tree:
    """Tree of one query, node by node, by the code that grows the trees of many queries."""

    table: Table
    rules: Rules
    data: Data
    space: Space
    query: Queries
    labels: list[str]

    def lines(self) -> Iterator[tuple[str, bool]]:
        """Iterate over the lines of the tree, and whether each is a leaf."""
        rows = np.arange(len(self.data.entries), dtype=np.uint32)
        options = list(self.options(rows))
        head = self.counts(rows)
        yield (head if options else f"{head} -> {self.leaf(rows)}"), not options
        below = [(rows, *option, "") for option in reversed(options)]
        while below:  # not by recursion: a tree can have thousands of levels
            rows, gain, key, indent = below.pop()
            passed = self.take(rows, key)
            further = list(self.options(passed))
            line = f"{indent}|-- {self.test(rows, key)} (gain {gain / UNIT:.3f}): "
            line += self.counts(passed)
            yield (line if further else f"{line} -> {self.leaf(passed)}"), not further
            below += [(passed, *option, indent + LINE) for option in reversed(further)]

    def options(self, rows: NDArray[np.uint32]) -> Iterator[tuple[int, int]]:
        """Iterate over the gain and the number of each test that the query takes at a node."""
        from stakes.learn.trees._graph import tests_of_one

        size = int(self.class_counts(rows).sum())
        if size >= self.rules.smallest:
            batch = new_batch(self.table, self.query, self.rules.max_tests)
            tests_of_one(self.data, self.rules, self.space.work, batch, rows, size)
            found = batch.n_best[0]
            yield from zip(batch.gains[0, :found].tolist(), batch.keys[0].tolist(), strict=False)

    def take(self, rows: NDArray[np.uint32], key: int) -> NDArray[np.uint32]:
        """Return the rows of a node that pass a test."""
        a, choice = divmod(key, self.table.stride)
        limit, above = divmod(choice, 2)
        codes = self.data.columns[a][rows]
        if self.table.attributes[a].discrete:
            passes = codes == limit
        else:
            known = codes < self.table.missing
            passes = (codes > limit) & known if above else codes <= limit
        return np.asarray(rows[passes])

    def test(self, rows: NDArray[np.uint32], key: int) -> str:
        """Return a test in words."""
        from stakes.learn.trees._splits import middle

        a, choice = divmod(key, self.table.stride)
        limit, above = divmod(choice, 2)
        attribute = self.table.attributes[a]
        if attribute.numbers is None:
            return f"{attribute.name} = {list(attribute.index or ())[limit]}"
        codes = self.data.columns[a][rows]
        beside = attribute.numbers[[limit, codes[codes > limit].min()]]
        return f"{attribute.name} {'>' if above else '<='} {middle(*beside.tolist()):.6g}"

    def class_counts(self, rows: NDArray[np.uint32]) -> NDArray[Any]:
        """Return the number of rows of each class; repeated rows count as often as drawn."""
        entries = self.data.entries[rows]
        return np.bincount(entries & CLASS, entries >> WEIGHT, minlength=len(self.labels))

    def counts(self, rows: NDArray[np.uint32]) -> str:
        """Return the number of rows, in all and by class, in words."""
        numbers = self.class_counts(rows).astype(int).tolist()
        pairs = zip(self.labels, numbers, strict=True)
        each = ", ".join(f"{label}: {number}" for label, number in pairs if number)
        return f"{sum(numbers)} {'row' if sum(numbers) == 1 else 'rows'} ({each})"

    def leaf(self, rows: NDArray[np.uint32]) -> str:
        """Return the shares of a leaf (equation 4.3) in words."""
        counts = self.class_counts(rows) + self.rules.laplace
        return self.shares(counts / counts.sum())

    def shares(self, proba: NDArray[np.float64]) -> str:
        """Return class probabilities in words."""
        pairs = zip(self.labels, proba.tolist(), strict=True)
        return ", ".join(f"{label}: {share:.4f}" for label, share in pairs)


ENTROPIES = ["balanced", "plain"]
THRESHOLDS = ["node", "query"]
RANKINGS = ["side", "information"]
AVERAGES = ["leaves", "nodes"]

MOST_NODES = 1 << 30


class LazyTrees(ClassifierMixin, BaseEstimator):
    """Base of all lazy trees; the parameters determine whether they have options and bags."""

    categorical_features: Any
    n_jobs: int | None
    verbose: int
    classes_: NDArray[Any]
    smallest_split_: NDArray[np.int64] | int
    _table: Table

    def fit(self, X: Any, y: Any) -> Self:
        """Store the training data, sorted by each feature; trees are grown for queries.

        With ``ranking="information"``, this applies the budget of nodes to the training data.

        Parameters
        ----------
        X : array_like or data frame
            The features. NaN and None are missing values.
        y : array_like, shape (n,)
            The classes.

        Returns
        -------
        LazyTrees
            Itself.
        """
        needs_numba()
        needs_classes(self, y)
        columns = read_columns(self, X, reset=True)
        actual, self.classes_ = read_classes(X, y)
        classes = np.searchsorted(self.classes_, actual)
        names = getattr(self, "feature_names_in_", None)
        self.is_categorical_ = discrete_columns(columns, self.categorical_features, names)
        self._table = make_table(columns, self.is_categorical_, classes, len(self.classes_))
        self._rules, self._max_nodes = self._read_rules()
        self._draw()
        self._spend()
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Grow the trees of the queries and return their class probabilities.

        Parameters
        ----------
        X : array_like or data frame
            The queries. Missing values, and categories that are not in the training data, are not
            tested.

        Returns
        -------
        ndarray, shape (n, classes)
            In the order of `classes_`.
        """
        check_is_fitted(self)
        needs_numba()
        queries = self._table.queries(read_columns(self, X, reset=False))
        return mean_probabilities(
            self._table,
            self._rules,
            np.atleast_1d(self.smallest_split_),
            self._bags(),
            queries,
            max_nodes=self._max_nodes,
            n_jobs=self.n_jobs,
            verbose=int(self.verbose),
            name=type(self).__name__,
        )

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most probable class of each query; a tie goes to the first in `classes_`.

        Parameters
        ----------
        X : array_like or data frame
            The queries.

        Returns
        -------
        ndarray, shape (queries,)
            Their classes.
        """
        proba = self.predict_proba(X)
        return np.asarray(self.classes_[proba.argmax(axis=1)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _explain(self, x: Any, bag: int, max_leaves: Any) -> str:
        check_is_fitted(self)
        needs_numba()
        most = validate.as_size(max_leaves, "max_leaves", least=1)
        query = self._table.queries(self._one_row(x))
        labels = [str(plain(label)) for label in self.classes_]
        counts = self._bags()[bag]
        smallest = int(np.atleast_1d(self.smallest_split_)[bag])
        rules = self._rules._replace(smallest=smallest)
        return tree_text(self._table, rules, counts, query, labels=labels, max_leaves=most)

    def _one_row(self, x: Any) -> list[Column]:
        frame = nw.from_native(x, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame) or np.ndim(x) > 1:
            columns = read_columns(self, x, reset=False)
            if len(columns[0].values) != 1:
                raise InputError(
                    "x",
                    f"expected one row, got {len(columns[0].values)}.",
                    "Explain one query at a time.",
                )
            return columns
        names = getattr(self, "feature_names_in_", None)
        return row_columns(x, names, self.n_features_in_)

    def _bags(self) -> NDArray[np.uint16]:
        """Return the number of times that each bag has each row; without bags, 1."""
        drawn: NDArray[np.uint16] | None = getattr(self, "bags_", None)
        return np.ones((1, self._table.n_rows), np.uint16) if drawn is None else drawn

    def _draw(self) -> None:
        params = self.get_params(deep=False)
        if "n_estimators" not in params:
            return
        members, n = (
            validate.as_size(params["n_estimators"], "n_estimators", least=1),
            self._table.n_rows,
        )
        rng = check_random_state(params["random_state"])
        self.bags_ = np.empty((members, n), np.uint16)
        for counts in self.bags_:
            counts[:] = np.bincount(rng.randint(n, size=n), minlength=n)

    def _spend(self) -> None:
        """Find the least size of nodes that are split: of all, or of those in the budget."""
        bags, rules, most = self._bags(), self._rules, self._max_nodes
        smallest = np.full(len(bags), rules.smallest)
        if most is not None:
            smallest = smallest_splits(
                self._table,
                rules,
                bags,
                most,
                n_jobs=self.n_jobs,
                verbose=int(self.verbose),
                name=type(self).__name__,
            )
        self.smallest_split_ = smallest if hasattr(self, "bags_") else int(smallest[0])

    def _read_rules(self) -> tuple[Rules, int | None]:
        """Check the parameters; return them as rules for the compiled code, and the budget."""
        params = {"max_tests": 1, "gain_ratio": 1.0, "average": "leaves"}
        params |= self.get_params(deep=False)
        n, attributes = self._table.n_rows, len(self._table.attributes)
        max_tests = min(validate.as_size(params["max_tests"], "max_tests", 1, math.inf), attributes)
        min_leaf = min(validate.as_size(params["min_leaf"], "min_leaf", 1, math.inf), n + 1)
        gain_ratio = validate.one_number(params["gain_ratio"], "gain_ratio")
        if not 0 <= gain_ratio <= 1:
            raise InputError(
                "gain_ratio",
                f"expected a share of the best gain, from 0 to 1, got {gain_ratio!r}.",
            )
        laplace = validate.one_number(params["laplace"], "laplace")
        if laplace < 0:
            raise InputError("laplace", f"expected a number, 0 or more, got {laplace!r}.")
        balanced = validate.choice(params["entropy"], "entropy", ENTROPIES) == "balanced"
        at_node = validate.choice(params["thresholds"], "thresholds", THRESHOLDS) == "node"
        by_information = validate.choice(params["ranking"], "ranking", RANKINGS) == "information"
        if by_information and not at_node:
            raise InputError(
                "ranking",
                "'information' is what the thresholds of a node gain on both sides, and needs "
                "thresholds='node', got thresholds='query'.",
            )
        max_nodes = params["max_nodes"]
        if max_nodes is not None:
            max_nodes = min(validate.as_size(max_nodes, "max_nodes", 1, math.inf), MOST_NODES)
        per_node = validate.choice(params["average"], "average", AVERAGES) == "nodes"
        # Smaller nodes have no admissible test: thresholds of a node leave `min_leaf` on each side.
        both_sides = at_node and not self._table.any_discrete
        rules = Rules(
            max_tests=max_tests,
            gain_ratio=gain_ratio,
            min_leaf=min_leaf,
            laplace=laplace,
            balanced=balanced,
            at_node=at_node,
            by_information=by_information,
            per_node=per_node,
            smallest=2 * min_leaf if both_sides else min_leaf + 1,
        )
        return rules, max_nodes if by_information else None
