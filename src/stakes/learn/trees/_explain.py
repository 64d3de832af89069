"""The tree that is grown for one query, as text (Figures 4.2 and 4.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.learn.trees._prepare import Queries, Table
from stakes.learn.trees._run import grow_with, new_desk

UNIT = 1e9
LINE = "|   "


def tree_text(
    table: Table,
    rules: Any,
    counts: NDArray[Any],
    query: Queries,
    *,
    labels: list[str],
    max_leaves: int,
) -> str:
    """Return the tree of a query in one bag: its tests, its leaves, and their average."""
    data = table.bag(counts)
    desk = new_desk(table, 1)
    sums, paths = grow_with(table, rules, desk, data, query)
    _, leaves = grow_with(table, rules._replace(per_node=False), desk, data, query)
    tree = _Tree(table, rules, data, desk, query, labels)
    lines, shown = [], 0
    for line, is_leaf in tree.lines():
        if is_leaf and shown == max_leaves:
            lines.append(f"... {leaves[0] - shown:.0f} of {leaves[0]:.0f} leaves are not shown")
            break
        lines.append(line)
        shown += is_leaf
    how = "of each node's options" if rules.per_node else "of the leaves"
    average = tree.shares((sums / paths[:, np.newaxis])[0])
    number = f"{leaves[0]:.0f} leaves" if leaves[0] != 1 else "1 leaf"
    return "\n".join([*lines, f"{number}, average {how}: {average}"])


@dataclass(frozen=True)
class _Tree:
    """The nodes of a query, one at a time, from the code that grows the trees of many."""

    table: Table
    rules: Any
    data: Any
    desk: Any
    query: Queries
    labels: list[str]

    def lines(self) -> Iterator[tuple[str, bool]]:
        """Return the lines of the tree, and whether each is a leaf."""
        rows = np.arange(len(self.data.row_class), dtype=np.int32)
        options = list(self.options(rows))
        head = self.counts(rows)
        yield (head if options else f"{head} -> {self.leaf(rows)}"), not options
        yield from self._below(rows, options, "")

    def _below(
        self, rows: NDArray[np.int32], options: list[tuple[int, int]], indent: str
    ) -> Iterator[tuple[str, bool]]:
        for gain, key in options:
            passed = self.take(rows, key)
            further = list(self.options(passed))
            line = f"{indent}|-- {self.test(rows, key)} (gain {gain / UNIT:.3f}): "
            line += self.counts(passed)
            yield (line if further else f"{line} -> {self.leaf(passed)}"), not further
            yield from self._below(passed, further, indent + LINE)

    def options(self, rows: NDArray[np.int32]) -> Iterator[tuple[int, int]]:
        """Return the gain and the number of each test that the query takes at a node."""
        from stakes.learn.trees._entropy import COUNTS
        from stakes.learn.trees._node import tests_of_one
        from stakes.learn.trees._workspace import Node, new_batch

        size = int(self.data.row_weight[rows].sum())
        if size < self.rules.smallest:
            return
        self.desk.note[COUNTS] = self.class_counts(rows)
        batch = new_batch(self.query.values, self.query.ranks, self.rules.max_tests)
        node = Node(rows, 0, len(rows), size)
        tests_of_one(self.data, self.rules, self.desk, node, batch)
        found = batch.n_best[0]
        yield from zip(batch.gains[0, :found].tolist(), batch.keys[0].tolist(), strict=False)

    def take(self, rows: NDArray[np.int32], key: int) -> NDArray[np.int32]:
        """Return the rows of a node that pass a test."""
        from stakes.learn.trees._node import rows_of_one
        from stakes.learn.trees._workspace import Node

        n = len(rows)
        both = np.concatenate([rows, np.empty(n + 1, np.int32)])
        kept, _, _ = rows_of_one(self.data, self.desk, Node(both, 0, n, n), key, n)
        return both[n : n + kept].copy()

    def test(self, rows: NDArray[np.int32], key: int) -> str:
        """Return a test in words."""
        from stakes.learn.trees._thresholds import middle

        a, choice = divmod(key, self.table.stride)
        limit, above = divmod(choice, 2)
        attribute = self.table.attributes[a]
        if attribute.numbers is None:
            return f"{attribute.name} = {list(attribute.index or ())[limit]}"
        codes = self.data.code[a][rows].astype(np.int64)
        low, high = attribute.numbers[limit], attribute.numbers[codes[codes > limit].min()]
        return f"{attribute.name} {'>' if above else '<='} {middle(low, high):.6g}"

    def class_counts(self, rows: NDArray[np.int32]) -> NDArray[Any]:
        """Return how many rows of each class there are, repeated ones as often as drawn."""
        weights = self.data.row_weight[rows]
        return np.bincount(self.data.row_class[rows], weights, minlength=len(self.labels))

    def counts(self, rows: NDArray[np.int32]) -> str:
        """Return how many rows of which classes there are in words."""
        numbers = self.class_counts(rows).astype(int).tolist()
        pairs = zip(self.labels, numbers, strict=True)
        each = ", ".join(f"{label}: {number}" for label, number in pairs if number)
        return f"{sum(numbers)} {'row' if sum(numbers) == 1 else 'rows'} ({each})"

    def leaf(self, rows: NDArray[np.int32]) -> str:
        """Return the shares of a leaf (equation 4.3) in words."""
        counts = self.class_counts(rows) + self.rules.laplace
        return self.shares(counts / counts.sum())

    def shares(self, proba: NDArray[np.float64]) -> str:
        """Return class probabilities in words."""
        pairs = zip(self.labels, proba.tolist(), strict=True)
        return ", ".join(f"{label}: {share:.4f}" for label, share in pairs)
