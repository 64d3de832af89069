"""Reference implementation of lazy option trees in plain Python: slow, but easy to check."""

from itertools import pairwise
from math import floor, isnan, log2, nan

import numpy as np

MISSING = None


def units(value):
    """Return a value as a whole number of units of 1e-9, rounded."""
    return floor(value * 1e9 + 0.5)


class Oracle:
    """Lazy option trees over rows with weights (how often a bag sampled each row)."""

    def __init__(
        self,
        X,
        y,
        weights=None,
        *,
        classes,
        discrete=(),
        max_tests=3,
        gain_ratio=0.2,
        min_leaf=2,
        laplace=0.0,
        entropy="balanced",
        thresholds="node",
        ranking="side",
        max_nodes=None,
        average="leaves",
    ):
        self.X, self.y = X, y
        self.w = [1] * len(y) if weights is None else list(weights)
        self.classes, self.discrete = classes, set(discrete)
        self.max_tests, self.gain_ratio, self.min_leaf = max_tests, gain_ratio, min_leaf
        self.laplace, self.balanced = laplace, entropy == "balanced"
        self.at_node, self.average = thresholds == "node", average
        self.by_information = ranking == "information"
        self.smallest = 1
        if self.by_information and max_nodes is not None:
            self.smallest = self._smallest_split(max_nodes)

    def proba(self, x):
        rows = [i for i in range(len(self.y)) if self.w[i]]
        if self.average == "nodes":
            return self._averaged(rows, x)
        leaves = list(self._leaves(rows, x))
        return [sum(leaf[c] for leaf in leaves) / len(leaves) for c in range(self.classes)]

    def _smallest_split(self, max_nodes):
        """Return the smallest size such that at most `max_nodes` nodes to split have it or more.

        The nodes are the root and those that a training row reaches from a node that contains it.
        """
        root = tuple(i for i in range(len(self.y)) if self.w[i])
        nodes, new = {root}, [root]
        smallest = self.min_leaf + 1 if self.discrete else 2 * self.min_leaf
        while new:
            rows = new.pop()
            for i in rows:
                for _, _, subset, _ in self.tests(rows, self.X[i]):
                    node = tuple(subset)
                    mixed = sum(count > 0 for count in self._counts(subset)) > 1
                    if mixed and self._size(subset) >= smallest and node not in nodes:
                        nodes.add(node)
                        new.append(node)
        sizes = [self._size(node) for node in nodes]
        while sum(size >= smallest for size in sizes) > max_nodes:
            smallest += 1
        return smallest

    def _averaged(self, rows, x):
        tests = self.tests(rows, x)
        if not tests:
            return self._shares(rows)
        parts = [self._averaged(subset, x) for _, _, subset, _ in tests]
        return [sum(part[c] for part in parts) / len(parts) for c in range(self.classes)]

    def _leaves(self, rows, x):
        tests = self.tests(rows, x)
        if not tests:
            yield self._shares(rows)
        for _, _, subset, _ in tests:
            yield from self._leaves(subset, x)

    def _shares(self, rows):
        counts, extra = self._counts(rows), self.laplace
        total = sum(counts) + extra * self.classes
        return [(count + extra) / total for count in counts]

    def _counts(self, rows):
        counts = [0] * self.classes
        for i in rows:
            counts[self.y[i]] += self.w[i]
        return counts

    def _size(self, rows):
        return sum(self.w[i] for i in rows)

    def _mass_entropy(self, rows, node_counts):
        """Return the mass of a subset of a node and its entropy in bits."""
        mass = total = 0.0
        for count, scale in zip(self._counts(rows), node_counts, strict=True):
            if count:
                unit = scale if self.balanced else 1
                share = count / unit
                mass += share
                total += share * (log2(count) - log2(unit))
        return mass, log2(mass) - total / mass if mass else 0.0

    def tests(self, rows, x):
        """Return the options of a node for a query: gain, attribute, rows that pass, and test."""
        counts = self._counts(rows)
        if sum(count > 0 for count in counts) < 2 or sum(counts) < self.smallest:
            return []
        found = []
        for a in range(len(x)):
            test = self._best(rows, a, x[a], counts)
            if test is not None:
                found.append(test)
        found.sort(key=lambda test: (-test[0], test[1]))
        if not found:
            return []
        enough = self.gain_ratio * found[0][0]
        return [test for test in found if test[0] + 1 >= enough][: self.max_tests]

    def _best(self, rows, a, value, counts):  # noqa: C901 - as long as its definition
        """Return the test of one attribute: gain in units, attribute, rows that pass, and test."""
        if value is MISSING or isnan(value):
            return None
        known = [i for i in rows if self.X[i][a] is not MISSING and not isnan(self.X[i][a])]
        size, whole = self._size(rows), self._mass_entropy(rows, counts)[1]

        def admissible(subset, test, sides):
            n = self._size(subset)
            if not self.min_leaf <= n < size:
                return None
            left = self._mass_entropy(subset, counts)[1]
            if self.by_information:
                both = [self._mass_entropy(side, counts) for side in sides]
                left = sum(mass * h for mass, h in both) / sum(mass for mass, _ in both)
            gain = units(whole - left)
            return (gain, a, subset, test) if gain >= 1 else None

        if a in self.discrete:
            values = {self.X[i][a]: [] for i in known}
            for i in known:
                values[self.X[i][a]].append(i)
            return admissible(values.get(value, []), ("=", value), values.values())
        distinct = sorted({self.X[i][a] for i in known})
        best = None
        for low, high in pairwise(distinct):
            t = low + (high - low) / 2
            if t >= high:
                t = low
            left = [i for i in known if self.X[i][a] <= t]
            right = [i for i in known if self.X[i][a] > t]
            mine, test = (left, ("<=", t)) if value <= t else (right, (">", t))
            if self.at_node:
                if min(self._size(left), self._size(right)) < self.min_leaf:
                    continue
                (ml, hl), (mr, hr) = (self._mass_entropy(s, counts) for s in (left, right))
                score = units((ml * hl + mr * hr) / (ml + mr))
                if best is None or score < best[0]:
                    best = score, mine, test, (left, right)
            else:
                found = admissible(mine, test, (left, right))
                if found is not None:
                    key = (-found[0], -self._size(mine), t)
                    if best is None or key < best[0]:
                        best = key, found
        if best is None:
            return None
        return admissible(*best[1:]) if self.at_node else best[1]


def random_problem(seed, n=60, attributes=5, classes=3, kind="continuous"):
    """Return X, y, queries and the discrete attributes of a random problem."""
    rng = np.random.default_rng(seed)
    both = n + 25
    X = rng.normal(size=(both, attributes))
    discrete = []
    if kind in ("discrete", "mixed", "all"):
        discrete = list(range(0, attributes, 1 if kind == "discrete" else 2))
        X[:, discrete] = rng.integers(0, 4, (both, len(discrete)))
    if kind in ("ties", "all"):
        rest = [a for a in range(attributes) if a not in discrete]
        X[:, rest] = np.round(X[:, rest] * 1.5)
    y = ((X[:, 0] + X[:, 1] ** 2 + rng.normal(size=both)) * classes / 4).astype(int) % classes
    if kind in ("missing", "all"):
        X[rng.random(X.shape) < 0.15] = nan
    if kind in ("duplicates", "all"):
        X[n // 2 : n] = X[: n - n // 2]
    return X[:n], y[:n], X[n:], discrete
