"""Grow the lazy option trees of many queries at once; numba compiles this file.

What a node offers depends on its rows, not on how a query came there, and different orders of the
same tests lead to the same rows. So the trees of all queries are grown together, as one graph: a
node is a subset of the rows with the queries that reach it and the number of paths that bring each
there. Nodes are taken from the largest to the smallest. All of a node's parents are larger, so
when its turn comes every query that will ever reach it is there.

A class weighs 1 for each of its rows (plain), or 1 in all in the node (balanced). With mass r of
each class in a subset and M their sum, the entropy is log M - (Σ r log r)/M, in bits. All gains and
scores are rounded to nine decimals before they are compared, so that ties do not depend on the
order of a sum.

This is the whole kernel, and it imports nothing else of stakes: numba's cached code is that of one
file, so a change anywhere in it compiles all of it again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from hashlib import sha256
from inspect import getsource
from math import floor, log2
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

Array = NDArray[Any]
Function = TypeVar("Function", bound=Callable[..., Any])
Int32, Int64 = cast("type[int]", np.int32), cast("type[int]", np.int64)
Uint32, Uint64 = cast("type[int]", np.uint32), cast("type[int]", np.uint64)
"""Whole numbers of a size; as in all of Python, they are int to those who check types."""

UNIT = 1e9
NOTHING = -1
NEVER = (1 << 32) - 1
"""The score of a split that leaves too few rows on a side."""

CLASS, WEIGHT, CODE = 0xFFFF, 16, 32
"""An entry has the code of a value from bit 32 on, its row's weight from 16 on, then its class."""

RANKS, MOST_RANKS = 16, 0xFFFF
"""A gain has the rank of its attribute in its lowest bits, the first attribute's the highest."""

NO_RANK = (1 << 31) - 1
"""The rank of a missing value and of a value that is no number; no rank is as high."""

MANY, LOCAL, LANES, FEW_LANES = 128, 8, 32, 8
"""Up to so many rows are sorted by several attributes at once; with query thresholds, by fewer.

A key of that sort is a code and, in its lowest 8 bits, the number of the row in its node."""

LARGEST_TABLE, MOST_TABLED, MOST_TABLES = 512, 1 << 21, 1 << 12
"""Small nodes share tables of all their splits, by the counts of their classes."""

PARTS = 512
"""How many tangents bound the entropy of masses."""

SLACK, SURE = 3e-9, 0.01
"""What a sum that was updated row by row may be off; how near to a half, in units, is too near."""

ONE_SIDE, BOTH_SIDES = range(2)
"""The rows of `terms`: r log r of a side, and of both sides by the number on the left."""

LEFT_GAIN, RIGHT_GAIN, LOW, HIGH = range(4)
"""The rows of `sides`: what the sides of an attribute's test gain, and the ranks beside it."""

DE_BRUIJN = 0x022FDD63CC95386D
PLACES = np.zeros(64, np.int64)
"""Where a word's only bit is, by the highest six bits of its product with that number."""
for _place in range(64):
    PLACES[((DE_BRUIJN << _place) & (2**64 - 1)) >> 58] = _place

TALLY = np.dtype([(name, np.int64) for name in (
    "count",  # rows of the class in the node
    "known",  # of them, those with a value of the attribute at hand
    "left", "right",  # of them, those on either side
    "unit",  # how many rows have a mass of 1
    "start",  # where the terms of the class begin
    "stride",  # what a row adds to the place in a table of splits
    "order", "ordered",  # by size: which class has this place, and how many rows it has
)])  # fmt: skip

NODE = np.dtype([(name, np.int64) for name in (
    "first", "length",  # where its rows are, and how many different ones; first is -1 when done
    "hash",
    "next",  # the next node of its size
    "begin", "number",  # where the queries from its first parent are, and how many
    "more", "last",  # the first and last segment of queries from other parents
)])  # fmt: skip

SEGMENT = np.dtype([("begin", np.int64), ("number", np.int64), ("next", np.int64)])
REACHED = np.dtype([("query", np.int64), ("paths", np.float64)])
WAITING = np.dtype([("head", np.int64), ("tail", np.int64), ("count", np.int64)])
SLOT = np.dtype([("key", np.int64), ("number", np.int64), ("end", np.int64)])
STATE = np.dtype([(name, np.int64) for name in (
    "nodes", "segments", "reached", "rows",  # how much of each is used
    "split", "smallest",  # how many nodes are split, and from which size on
    "size", "node", "slot", "slots",  # where the work is: size, node and slot, of so many
)])  # fmt: skip


class Rules(NamedTuple):
    """How trees grow."""

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

    `codes` [row, attribute] and `columns` [attribute, row] number the values in their order;
    `missing` is higher than all of them. `position` [attribute, row] is a row's place in the order
    of an attribute, and `order` [attribute, place] the row there. `entries` has weight and class
    of a row. The tests of two attributes are `stride` apart. Data are `plain` if all values are
    numbers and none is missing.
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
    plain: bool


class Work(NamedTuple):
    """Room to work on a node, and tables of all splits of small nodes.

    A table has the `scores` and `table_gains` of the splits of nodes with the same `table_counts`,
    from `table_begin` on; `tables_used` is how many there are, and `table_of` a hash table of them.
    """

    log: Array
    terms: Array
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
    table_of: Array
    table_counts: Array
    table_begin: Array
    tables_used: Array
    scores: Array
    table_gains: Array


class Batch(NamedTuple):
    """All queries, their leaves, and what those at a node are told.

    `sums` are the shares of a query's leaves times the paths that lead there, and `totals` the
    paths. `asked` are the numbers of the queries at a node, and `paths` how many paths bring them
    there. Each has the `n_best` best tests, with their gains, keys, and the class where a test
    leaves one only.
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

    `waiting` has the nodes of each size whose turn is to come. The children of the node at hand
    have `slots`; `slot_of` is the slot of a test.
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


def _compiled(function: Function, **options: Any) -> Function:
    """Compile a function without counting who uses which array.

    Nothing here makes an array, and who calls it keeps those that it has. Counting, which `_nrt`
    switches off, took most of the time otherwise. Without the wrapper for calls from C, which
    would read all fields of all arrays, the code compiles sooner.
    """
    compiler: Any = njit  # whose types do not have all that it takes
    options |= {"error_model": "numpy", "nogil": True, "_nrt": False, "no_cfunc_wrapper": True}
    return cast("Function", compiler(**options)(function))


def inlined(function: Function) -> Function:
    """Compile a function into those that call it; Python cannot call it, which saves a wrapper."""
    return _compiled(function, forceinline=True, no_cpython_wrapper=True)


def entrance(function: Function) -> Function:
    """Compile a function that Python calls, and keep the result for other processes.

    What is kept has a hash of this file in its name. Numba writes the list of its files before the
    files, so a process that ends between them would otherwise leave old code under a new list.
    """
    alone = _compiled(function)
    try:
        code = getsource(sys.modules[function.__module__])
        function.__qualname__ += sha256(code.encode()).hexdigest()[:16]
        kept = _compiled(function, cache=True)
    except (OSError, RuntimeError):  # there is no folder to keep it in
        return alone

    def call(*arguments: Any) -> Any:
        try:
            return kept(*arguments)
        except Exception:  # noqa: BLE001 - a full disk, a broken file: the code itself raises nothing
            return alone(*arguments)

    return cast("Function", call)


# Entropies, and tables of them.


def tangents() -> Array:
    """Return tangents of x log x + (1 - x) log(1 - x) in equal parts of 0 … 1, and their errors."""

    def height(x: Array) -> Array:
        inner = np.clip(x, 1e-300, 1 - 1e-16)  # at the ends, it is 0
        return np.asarray(inner * np.log2(inner) + (1 - inner) * np.log2(1 - inner))

    edges = np.arange(PARTS + 1) / PARTS
    x = (edges[1:] + edges[:-1]) / 2
    slope = np.log2(x) - np.log2(1 - x)
    start = height(x) - slope * x
    errors = [height(end) - (start + slope * end) for end in (edges[:-1], edges[1:])]
    return np.array([start, slope, np.maximum(*errors)])


@inlined
def units(value: float) -> int:
    """Round to nine decimals, as a whole number."""
    return Int64(floor(value * UNIT + 0.5))


@inlined
def entropy(mass: float, terms: float) -> float:
    """Return the entropy of a subset, given its mass and its sum of r log r."""
    return log2(mass) - terms / mass


def middle(low: float, high: float) -> float:
    """Return the threshold between two values."""
    half = low + (high - low) / 2
    return low if half >= high else half


_middle = inlined(middle)


@inlined
def _fill_terms(tally: Array, terms: Array, log: Array, balanced: bool) -> float:
    """Tabulate r log r of each class by the number of its rows; return the node's entropy."""
    at, mass, total = 0, 0.0, 0.0
    for c in range(len(tally)):
        n = tally[c].count
        unit = max(n, 1) if balanced else 1
        tally[c].start, tally[c].unit, tally[c].known = at, unit, n
        terms[ONE_SIDE, at] = 0.0
        for k in range(1, n + 1):
            terms[ONE_SIDE, at + k] = k / unit * (log[k] - log[unit])
        mass += n / unit
        total += terms[ONE_SIDE, at + n]
        at += n + 1
    return entropy(mass, total)


@inlined
def _side(tally: Array, terms: Array, left: bool) -> tuple[float, float]:
    """Return the mass of the rows on the left or on the right, and their sum of terms."""
    mass, total = 0.0, 0.0
    for c in range(len(tally)):
        k = tally[c].left if left else tally[c].known - tally[c].left
        if k:
            mass += k / tally[c].unit
            total += terms[ONE_SIDE, tally[c].start + k]
    return mass, total


@inlined
def _arrange(tally: Array) -> tuple[int, int]:
    """Lay out a table over the counts of all subsets of a node; return its size, and the classes.

    Nodes with the same counts in another order of the classes share a table, so the classes are
    put in order. The size is 0 if it would be too large.
    """
    present, size = 0, 1
    for c in range(len(tally)):
        n = tally[c].count
        if n:
            at = present
            while at > 0 and tally[at - 1].ordered < n:
                tally[at].order, tally[at].ordered = tally[at - 1].order, tally[at - 1].ordered
                at -= 1
            tally[at].order, tally[at].ordered = c, n
            present += 1
    for k in range(present):
        tally[tally[k].order].stride = size
        size = min(size * (tally[k].ordered + 1), LARGEST_TABLE + 1)
    return (size if size <= LARGEST_TABLE else 0), present


@inlined
def _look_up_table(work: Work, present: int) -> tuple[int, int]:
    """Return where the table of a node's counts is in the hash table, or would go; and its home."""
    table_of, tally = work.table_of, work.tally
    mask, mixed = len(table_of) - 1, 0
    for k in range(present):
        mixed = mixed * 31 + tally[k].ordered
    home = (mixed ^ (mixed >> 13)) & mask
    at = home
    while table_of[at] != NOTHING and not _has_counts(work, table_of[at], present):
        at = (at + 1) & mask
    return at, home


@inlined
def _has_counts(work: Work, number: int, present: int) -> bool:
    """Tell whether a table is for the counts of a node."""
    counts, tally, same = work.table_counts, work.tally, True
    for k in range(len(tally)):
        same = same and counts[number, k] == (tally[k].ordered if k < present else 0)
    return same


@inlined
def _add_table(rules: Rules, work: Work, present: int, size: int, at: int, home: int) -> int:  # noqa: PLR0917 - compiled calls go by position
    """Write the table of a node's counts, and where it is in the hash table; return that place."""
    tally, table_of, counts = work.tally, work.table_of, work.table_counts
    begins, number = work.table_begin, work.tables_used[0]
    if number == len(counts) or begins[number] + size > len(work.scores):  # start anew
        for i in range(len(table_of)):
            table_of[i] = NOTHING
        number, at = 0, home
    table_of[at] = number
    for k in range(len(tally)):
        counts[number, k] = tally[k].ordered if k < present else 0
    begins[number + 1] = begins[number] + size
    work.tables_used[0] = number + 1
    _fill_table(rules, work, present, begins[number], size)
    return at


@inlined
def _fill_table(rules: Rules, work: Work, present: int, begin: int, size: int) -> None:
    """Write the scores and gains of all splits; a split's mirror image has its score.

    By information, both sides gain the same: what is left is the mean entropy of both.
    """
    min_leaf, balanced, tally, log = rules.min_leaf, rules.balanced, work.tally, work.log
    scores, gains = work.scores, work.table_gains
    _, mass, terms = _side_of_split(tally, log, balanced, present, size - 1)
    whole = entropy(mass, terms)
    for index in range((size + 1) // 2):
        mirror = size - 1 - index
        n_left, mass_left, terms_left = _side_of_split(tally, log, balanced, present, index)
        n_right, mass_right, terms_right = _side_of_split(tally, log, balanced, present, mirror)
        h_left = entropy(mass_left, terms_left) if n_left else 0.0
        h_right = entropy(mass_right, terms_right) if n_right else 0.0
        mean = (mass_left * h_left + mass_right * h_right) / (mass_left + mass_right)
        if rules.by_information:
            h_left = h_right = mean
        enough_left, enough_right = n_left >= min_leaf, n_right >= min_leaf
        gains[begin + index] = max(units(whole - h_left), 0) if enough_left and n_right else 0
        gains[begin + mirror] = max(units(whole - h_right), 0) if enough_right and n_left else 0
        score = units(mean) if enough_left and enough_right else Int64(NEVER)
        scores[begin + index] = scores[begin + mirror] = score
    gains[begin] = units(whole)  # nothing on one side is no split: room for the highest gain


@inlined
def _side_of_split(
    tally: Array, log: Array, balanced: bool, present: int, index: int
) -> tuple[int, float, float]:
    """Return how many rows the left side of a split has, its mass and its sum of terms."""
    n, mass, terms, rest = 0, 0.0, 0.0, index
    for k in range(present):
        most = tally[k].ordered
        unit = most if balanced else 1
        here = rest % (most + 1)
        rest //= most + 1
        if here:
            n += here
            mass += here / unit
            terms += here / unit * (log[here] - log[unit])
    return n, mass, terms


# The rows of a node in the order of an attribute.


@inlined
def _exchange(keys: Array, begin: int, end: int, gap: int) -> None:
    """Put the lower one of keys some way apart first.

    Unsigned places cannot be negative, so this becomes a loop over vectors.
    """
    far = Uint64(gap)
    for i in range(Uint64(begin), Uint64(end)):
        low, high = keys[i], keys[i + far]
        keys[i], keys[i + far] = min(low, high), max(low, high)


@inlined
def _sort_together(keys: Array, n: int, width: int) -> None:
    """Sort the columns of keys, each by itself (Batcher's network; Knuth, volume 3, 5.2.2 M).

    It compares the same places whatever the keys are, so all columns take each step together.
    """
    block = 1
    while block < n:
        gap = block
        while gap:
            row = gap & (block - 1)
            while row + gap < n:
                if row ^ (row + gap) < 2 * block:  # in the same pair of blocks
                    end = row + min(gap, n - row - gap)
                    _exchange(keys, row * width, end * width, gap * width)
                row += 2 * gap
            gap >>= 1
        block <<= 1


@inlined
def _fill_keys(  # noqa: PLR0917 - compiled calls go by position
    keys: Array, codes: Array, rows: Array, first: int, n: int, column: int, width: int
) -> None:
    """Write the keys of a node's rows for some attributes."""
    start, lanes = Uint64(column), Uint64(min(width, codes.shape[1] - column))
    for i in range(n):
        row, at, number = rows[first + i], Uint64(i * width), Int32(i)
        for lane in range(lanes):
            keys[at + lane] = (codes[row, start + lane] << LOCAL) | number


@inlined
def _line_of_few(work: Work, n: int, lane: int, width: int) -> None:
    """Write the entries of a few rows in the order of an attribute."""
    keys, local, line = work.keys, work.local, work.line
    for i in range(n):
        key = Int64(keys[i * width + lane])
        line[i] = (key >> LOCAL) << CODE | local[key & (2**LOCAL - 1)]


@inlined
def _line_of_many(data: Data, work: Work, rows: Array, first: int, n: int, a: int) -> None:  # noqa: PLR0917 - compiled calls go by position
    """Write the entries of rows in the order of an attribute: mark their places, and read back.

    Places are bits of `words`, and words in use are bits of `summary`; all are empty before and
    after.
    """
    position, order, columns, entries = data.position, data.order, data.columns, data.entries
    words, summary, line, one = work.words, work.summary, work.line, Uint64(1)
    for i in range(first, first + n):
        place = Int64(position[a, rows[i]])
        words[place >> 6] |= one << Uint64(place & 63)
        summary[place >> 12] |= one << Uint64((place >> 6) & 63)
    found = 0
    for top in range((position.shape[1] >> 12) + 1):
        blocks = summary[top]
        summary[top] = 0
        while blocks:
            block = (top << 6) + _lowest_bit(blocks)
            blocks &= blocks - one
            word = words[block]
            words[block] = 0
            while word:
                row = order[a, (block << 6) + _lowest_bit(word)]
                line[found] = Int64(columns[a, row]) << CODE | entries[row]
                found += 1
                word &= word - one


@inlined
def _lowest_bit(word: Any) -> Any:
    """Return the place of the lowest bit that is set."""
    lowest = word & (~word + Uint64(1))
    return PLACES[(lowest * Uint64(DE_BRUIJN)) >> Uint64(58)]


@inlined
def _count_known(line: Array, tally: Array, n: int, size: int, missing: int) -> tuple[int, int]:
    """Count the rows of each class whose value is known; return how many, different and in all."""
    n_known = n
    while n_known > 0 and line[n_known - 1] >> CODE == missing:
        n_known -= 1
    if n_known < n:
        size = 0
        for c in range(len(tally)):
            tally[c].known = 0
        for i in range(n_known):
            weight = (line[i] >> WEIGHT) & CLASS
            tally[line[i] & CLASS].known += weight
            size += weight
    return n_known, size


# The tests that an attribute offers at a node.


@inlined
def _bound_splits(work: Work, n_known: int, size: int, min_leaf: int, fill: bool) -> float:
    """Write a lower bound of what each split scores; return a limit.

    The masses' part of the score is a convex function, and its tangents are below it. A split whose
    bound is not below the limit is not the best. Terms of both sides are tabulated if `fill` says
    so. The loop has no branches, which no processor could predict.
    """
    line, tally, terms, worth = work.line, work.tally, work.terms, work.worth
    tangents, bound, whole, total = work.tangents, work.bound, 0.0, 0.0
    for c in range(len(tally)):
        start, n_here = tally[c].start, tally[c].known
        tally[c].left = start
        whole += n_here / tally[c].unit
        total += terms[ONE_SIDE, start + n_here]
        for k in range(n_here + 1 if fill else 0):
            terms[BOTH_SIDES, start + k] = (
                terms[ONE_SIDE, start + k] + terms[ONE_SIDE, start + n_here - k]
            )
    for c in range(len(tally)):
        worth[c] = 1 / (whole * tally[c].unit)
    slack, mass, n, limit, this = SLACK * whole, 0.0, 0, np.inf, line[0]
    for i in range(n_known - 1):
        c, weight, following = this & CLASS, (this >> WEIGHT) & CLASS, line[i + 1]
        k = tally[c].left
        total += terms[BOTH_SIDES, k + weight] - terms[BOTH_SIDES, k]
        tally[c].left = k + weight
        mass += weight * worth[c]
        n += weight
        part = min(Uint64(mass * PARTS), Uint64(PARTS - 1))
        about = whole * (tangents[0, part] + tangents[1, part] * mass) - total
        split = (n >= min_leaf) & (size - n >= min_leaf) & (this >> CODE != following >> CODE)
        about = about if split else np.inf
        bound[i] = about
        limit = min(limit, about + whole * tangents[2, part] + slack)
        this = following
    return limit


@inlined
def _node_threshold(
    work: Work, n_known: int, limit: float, by_information: bool
) -> tuple[int, float, float]:
    """Return where the sides' mean entropy is least: after which place, and both entropies.

    By information, their mean is returned for both. Of all splits, those that could be the best by
    their bounds are computed.
    """
    best, after, left_entropy, right_entropy = Int64(1) << 62, NOTHING, 0.0, 0.0
    line, tally, terms, counted = work.line, work.tally, work.terms, 0
    for c in range(len(tally)):
        tally[c].left = 0
    for i in range(n_known - 1):
        if work.bound[i] < limit:
            for k in range(counted, i + 1):
                tally[line[k] & CLASS].left += (line[k] >> WEIGHT) & CLASS
            counted = i + 1
            mass_left, terms_left = _side(tally, terms, True)
            mass_right, terms_right = _side(tally, terms, False)
            h_left, h_right = entropy(mass_left, terms_left), entropy(mass_right, terms_right)
            mean = (mass_left * h_left + mass_right * h_right) / (mass_left + mass_right)
            score = units(mean)
            if by_information:
                h_left = h_right = mean
            if score < best:
                best, after, left_entropy, right_entropy = score, i, h_left, h_right
    return after, left_entropy, right_entropy


@inlined
def _value_gains(rules: Rules, work: Work, n_known: int, size: int, whole: float) -> int:
    """Write the gain of each value that the rows have; return how many values there are.

    By information, what all values gain together, for each that leaves enough rows.
    """
    line, tally, gain_of, seen = work.line, work.tally, work.gain_of, work.seen
    found, i, all_mass, all_entropy = 0, 0, 0.0, 0.0
    while i < n_known:
        for c in range(len(tally)):
            tally[c].left = 0
        code, n = line[i] >> CODE, 0
        while i < n_known and line[i] >> CODE == code:
            weight = (line[i] >> WEIGHT) & CLASS
            tally[line[i] & CLASS].left += weight
            n += weight
            i += 1
        seen[found] = code
        found += 1
        mass, total = _side(tally, work.terms, True)
        left = entropy(mass, total)
        all_mass += mass
        all_entropy += mass * left
        if rules.min_leaf <= n < size:
            gain_of[code] = 0 if rules.by_information else units(whole - left)
    if rules.by_information and found:
        gain = units(whole - all_entropy / all_mass)
        for k in range(found):
            if gain_of[seen[k]] != NOTHING:
                gain_of[seen[k]] = gain
    return found


@inlined
def _count_below(line: Array, value: Array, start: int, n_known: int, x: float) -> int:
    """Return how many rows are on the lower side of the highest threshold that is below x."""
    low, high = 0, n_known
    while low < high:
        half = (low + high) >> 1
        if value[start + (line[half] >> CODE)] < x:
            low = half + 1
        else:
            high = half
    previous, following = line[max(low - 1, 0)] >> CODE, line[min(low, n_known - 1)] >> CODE
    above = 0 < low < n_known and x > _middle(value[start + previous], value[start + following])
    while low > 0 and not above and line[low - 1] >> CODE == previous:
        low -= 1
    return low


@inlined
def _running_best(  # noqa: PLR0917 - compiled calls go by position
    rules: Rules, work: Work, n_known: int, size: int, whole: float, until: int, upwards: bool
) -> None:
    """Write, split by split until one, the best gain of a side met so far, its split and its size.

    A split is the number of rows below it. Upwards, sides are what lies above, and shrink as
    splits rise; downwards, what lies below. So the first of equals is the larger one.
    """
    line, tally, terms, worth = work.line, work.tally, work.terms, work.worth
    log, runs, mass, total, n = work.log, work.runs, 0.0, 0.0, 0
    for c in range(len(tally)):
        k = tally[c].known
        worth[c] = 1 / tally[c].unit
        tally[c].left = k
        n += k
        mass += k * worth[c]
        total += terms[ONE_SIDE, tally[c].start + k]
    gain, where, large = Int64(0), Int64(NOTHING), Int64(0)
    into, step, split = (0, 1, 1) if upwards else (3, -1, n_known - 1)
    while split != until + step:
        this = line[split - 1 if upwards else split]
        other = line[split if upwards else split - 1]
        c, weight = this & CLASS, (this >> WEIGHT) & CLASS
        k = tally[c].start + tally[c].left
        total += terms[ONE_SIDE, k - weight] - terms[ONE_SIDE, k]
        tally[c].left -= weight
        mass -= weight * worth[c]
        n -= weight
        if rules.min_leaf <= n < size and this >> CODE != other >> CODE:
            about = log2(mass) - total / mass if rules.balanced else log[n] - total / n
            scaled = (whole - about) * UNIT + 0.5
            if scaled + SURE > gain + 1:
                this_gain = Int64(floor(scaled))
                if not SURE < scaled - this_gain < 1 - SURE:  # an update might round wrongly
                    side_mass, side_total = _side(tally, terms, True)
                    this_gain = units(whole - entropy(side_mass, side_total))
                if this_gain > gain:
                    gain, where, large = this_gain, split, n
        runs[into, split], runs[into + 1, split], runs[into + 2, split] = gain, where, large
        split += step


@inlined
def _query_tests(  # noqa: PLR0917 - compiled calls go by position
    data: Data, rules: Rules, work: Work, batch: Batch, n_asked: int, a: int, n_known: int,
    size: int, whole: float,
) -> None:  # fmt: skip
    """Write each query's own best test of an attribute: the side that it is on gains most."""
    line, runs, below, start = work.line, work.runs, batch.below, data.value_start[a]
    least, most, last = n_known, 0, n_known - 1
    for i in range(n_asked):
        x = batch.values[batch.asked[i], a]
        below[i] = NOTHING
        if not np.isnan(x) and n_known > 0:
            below[i] = _count_below(line, data.value, start, n_known, x)
            least, most = min(least, below[i]), max(most, below[i])
    for upwards in (True, False):
        if (most > 0 and last > 0) if upwards else least < last:
            until = min(most, last) if upwards else least + 1
            _running_best(rules, work, n_known, size, whole, until, upwards)
    for i in range(n_asked):
        gain, choice, large = Int64(0), Int64(0), Int64(0)
        if below[i] > 0 and last > 0:  # what lies above a threshold that is below the query
            split = min(below[i], last)
            gain, large = runs[0, split], runs[2, split]
            if gain:
                choice = 2 * (line[runs[1, split] - 1] >> CODE) + 1
        if NOTHING < below[i] < last:
            split = below[i] + 1
            if runs[3, split] > gain or (runs[3, split] == gain and runs[5, split] > large):
                gain = runs[3, split]
                choice = 2 * (line[runs[4, split] - 1] >> CODE) if gain else choice
        batch.gain[i, a], batch.choice[i, a] = gain, choice


@inlined
def _value_tests(  # noqa: PLR0917 - compiled calls go by position
    rules: Rules, work: Work, batch: Batch, n_asked: int, a: int, n_known: int, size: int,
    whole: float,
) -> None:  # fmt: skip
    """Write each query's test of a discrete attribute: the value that it has."""
    n_seen = _value_gains(rules, work, n_known, size, whole)
    for i in range(n_asked):
        code = int(batch.values[batch.asked[i], a])
        batch.gain[i, a] = max(work.gain_of[code], 0) if code >= 0 else 0
        batch.choice[i, a] = 2 * code
    for i in range(n_seen):
        work.gain_of[work.seen[i]] = NOTHING


@inlined
def _node_test(  # noqa: PLR0917 - compiled calls go by position
    rules: Rules, work: Work, a: int, n_known: int, size: int, whole: float, fill: bool
) -> None:
    """Write the test of an attribute that is best for all queries together."""
    sides, line = work.sides, work.line
    limit = _bound_splits(work, n_known, size, rules.min_leaf, fill)
    after, left_entropy, right_entropy = _node_threshold(work, n_known, limit, rules.by_information)
    found = after != NOTHING  # else what is written of the sides is never read
    sides[LEFT_GAIN, a] = max(units(whole - left_entropy), 0) if found else 0
    sides[RIGHT_GAIN, a] = max(units(whole - right_entropy), 0) if found else 0
    sides[LOW, a] = 2 * (line[max(after, 0)] >> CODE)
    sides[HIGH, a] = 2 * (line[after + 1] >> CODE)


@inlined
def _table_test(work: Work, begin: int, end: int, n: int, a: int, width: int) -> None:  # noqa: PLR0917 - compiled calls go by position
    """Write the test of an attribute that is best for all queries together, by a table.

    A split is one number: its score, after how many more rows than one it is, and its place in the
    table. So the least is found without branches, which no processor could predict.
    """
    keys, step, scores, gains = work.keys, work.step, work.scores, work.table_gains
    sides, lane = work.sides, a % width
    at, across, start = Uint64(lane), Uint64(width), Uint64(begin)
    place, this, never = Uint64(0), keys[lane], Uint64(NEVER) << Uint64(32)
    best = never
    for i in range(n - 1):
        at += across
        following = keys[at]
        place += step[this & Uint32(2**LOCAL - 1)]
        found = Uint64(scores[start + place]) << Uint64(32) | Uint64(i << 16) | place
        best = min(best, found if (following ^ this) >> Uint32(LOCAL) else never)
        this = following
    after, place = Int64(best >> Uint64(16)) & 0xFFFF, best & Uint64(0xFFFF)
    split = best != never
    sides[LOW, a] = 2 * (Int64(keys[after * width + lane]) >> LOCAL)
    sides[HIGH, a] = 2 * (Int64(keys[min(after + 1, n - 1) * width + lane]) >> LOCAL)
    sides[LEFT_GAIN, a] = split * Int64(gains[start + place])
    sides[RIGHT_GAIN, a] = split * Int64(gains[Uint64(end) - place])


# The best tests of a node.


@inlined
def _count_pure(  # noqa: PLR0917 - compiled calls go by position
    data: Data, work: Work, batch: Batch, own: bool, n_asked: int, a: int, highest: int,
    max_tests: int,
) -> int:  # fmt: skip
    """Count the tests that leave a query one class; return how many have enough of them now."""
    sides, ranks, asked, pure, content = work.sides, batch.ranks, batch.asked, batch.pure, 0
    left_pure, right_pure = sides[LEFT_GAIN, a] == highest, sides[RIGHT_GAIN, a] == highest
    if own or left_pure or right_pure:
        low, high = sides[LOW, a], sides[HIGH, a]
        for i in range(n_asked):
            if own:
                found = batch.gain[i, a] == highest
            else:
                above = _is_above(data, batch, low, high, asked[i], a)
                found = (right_pure if above else left_pure) & (ranks[asked[i], a] != NO_RANK)
            pure[i] += found
            content += found & (pure[i] == max_tests)
    return content


@inlined
def _is_above(data: Data, batch: Batch, low: int, high: int, q: int, a: int) -> bool:  # noqa: PLR0917 - compiled calls go by position
    """Tell whether a query is above an attribute's threshold, given the ranks beside it."""
    rank, start = batch.ranks[q, a], data.value_start[a]
    above = rank >= high
    if low < rank < high:
        cut = _middle(data.value[start + (low >> 1)], data.value[start + (high >> 1)])
        above = batch.values[q, a] > cut
    return bool(above)


@inlined
def _pack_gains(  # noqa: PLR0917 - compiled calls go by position
    data: Data, work: Work, batch: Batch, i: int, n_done: int, at_node: bool
) -> None:  # fmt: skip
    """Write what each attribute gains for a query, with its rank.

    Between the two values beside a threshold, the gain of the better side stands for that of the
    query's, which it bounds: so this is a loop without branches.
    """
    ranks, q, sides, packed = batch.ranks, batch.asked[i], work.sides, work.packed
    if at_node:
        for a in range(n_done):
            mine = Int64(ranks[q, a])
            left = sides[LEFT_GAIN, a] * (mine < sides[HIGH, a])
            right = sides[RIGHT_GAIN, a] * ((mine > sides[LOW, a]) & (mine < NO_RANK))
            packed[a] = max(left, right) << RANKS | (MOST_RANKS - a)
    if not (at_node and data.plain):
        for a in range(n_done):
            if data.discrete[a] or not at_node:
                packed[a] = batch.gain[i, a] << RANKS | (MOST_RANKS - a)


@inlined
def _highest(packed: Array, n_done: int, last: int) -> int:
    """Return the highest gain that is lower than the last, with its attribute's rank."""
    best = Int64(0)
    for a in range(n_done):
        best = max(best, packed[a] * (packed[a] < last))
    return best


@inlined
def _write_best(  # noqa: PLR0917 - compiled calls go by position
    data: Data, rules: Rules, work: Work, batch: Batch, rows: Array, first: int, i: int,
    n_done: int, highest: int,
) -> int:  # fmt: skip
    """Write the best tests of a query, from the one that gains most on; return how many."""
    packed, sides, discrete, q = work.packed, work.sides, data.discrete, batch.asked[i]
    count, least_gain = 0, 0.0
    best = _highest(packed, n_done, Int64(1) << 62)
    while count < rules.max_tests and best >> RANKS > 0 and (best >> RANKS) + 1 >= least_gain:
        gain, a = best >> RANKS, MOST_RANKS - (best & MOST_RANKS)
        own = discrete[a] or not rules.at_node
        above = not own and _is_above(data, batch, sides[LOW, a], sides[HIGH, a], q, a)
        true_gain = gain if own else sides[RIGHT_GAIN if above else LEFT_GAIN, a]
        if true_gain < gain:  # its turn comes again, below others that gain more
            packed[a] = true_gain << RANKS | (MOST_RANKS - a)
        else:
            choice = batch.choice[i, a] if own else sides[LOW, a] + above
            only = Int64(NOTHING)
            if gain == highest:
                low, high = _passing(choice, discrete[a], data.missing)
                at = first
                while not low <= data.columns[a, rows[at]] <= high:
                    at += 1
                only = data.entries[rows[at]] & CLASS
            least_gain = rules.gain_ratio * gain if count == 0 else least_gain
            batch.gains[i, count], batch.onlys[i, count] = gain, only
            batch.keys[i, count] = a * data.stride + choice
            count += 1
        best = _highest(packed, n_done, best)
    return count


@inlined
def _passing(choice: int, discrete: bool, missing: int) -> tuple[int, int]:
    """Return the lowest and the highest code that passes a test."""
    limit, above = choice >> 1, choice & 1
    low = limit if discrete else (limit + 1) * above
    high = missing - 1 if above else limit
    return low, high


@inlined
def _find_table(rules: Rules, work: Work) -> tuple[int, int]:
    """Return where the table of a node's splits begins and ends; it is written if it is new."""
    begin, end = Int64(NOTHING), Int64(NOTHING)
    size, present = _arrange(work.tally)
    if size:
        at, home = _look_up_table(work, present)
        if work.table_of[at] == NOTHING:
            at = _add_table(rules, work, present, size, at, home)
        begin = work.table_begin[work.table_of[at]]
        end = begin + size - 1
    return begin, end


@inlined
def _test_alone(  # noqa: PLR0917 - compiled calls go by position
    data: Data, rules: Rules, work: Work, batch: Batch, a: int, n: int, size: int, n_asked: int,
    whole: float, filled: bool,
) -> bool:  # fmt: skip
    """Write the tests of an attribute, given its line; return whether terms of all are filled."""
    n_known, known_size = _count_known(work.line, work.tally, n, size, data.missing)
    if data.discrete[a]:
        _value_tests(rules, work, batch, n_asked, a, n_known, size, whole)
    elif rules.at_node:
        _node_test(rules, work, a, n_known, known_size, whole, n_known < n or not filled)
        filled = n_known == n
    else:
        _query_tests(data, rules, work, batch, n_asked, a, n_known, size, whole)
    if n_known < n:
        for c in range(len(work.tally)):
            work.tally[c].known = work.tally[c].count
    return filled


@inlined
def _write_line(  # noqa: PLR0917 - compiled calls go by position
    data: Data, work: Work, rows: Array, first: int, n: int, a: int, width: int, small: bool
) -> None:
    """Write the entries of a node's rows in the order of an attribute."""
    if small:
        _line_of_few(work, n, a % width, width)
    else:
        _line_of_many(data, work, rows, first, n, a)


@inlined
def best_tests(  # noqa: PLR0917 - compiled calls go by position
    data: Data, rules: Rules, work: Work, batch: Batch, rows: Array, first: int,
    n: int, size: int, n_asked: int,
) -> None:  # fmt: skip
    """Write the best tests of each query at a node, and the class where a test leaves one only.

    A test is a number: its attribute times `stride`, and its choice, twice a code and one more for
    the side above it. By information, it gains the same on all sides. Tests that gain too little
    beside the best are left out. Once all queries have as many tests as they may that leave one
    class only, no further attribute can give a better one.
    """
    begin, end, at_node = Int64(NOTHING), Int64(NOTHING), rules.at_node
    small = n <= MANY and data.missing < 1 << 32 - LOCAL
    if at_node and small:
        begin, end = _find_table(rules, work)
    whole, highest = 0.0, Int64(work.table_gains[max(begin, 0)])
    if begin == NOTHING or not data.plain:
        whole = _fill_terms(work.tally, work.terms, work.log, rules.balanced)
        highest = units(whole)
    if small:
        _note_rows(work.tally, work.local, work.step, data.entries, rows, first, n)
    for i in range(n_asked):
        batch.pure[i] = 0
    # Not constants, for which all that the loop calls would be compiled once more.
    a, n_content, filled, width = Int64(0), 0, n < 0, LANES if at_node else FEW_LANES
    while a < len(data.discrete) and n_content < n_asked:
        lane, own = a % width, data.discrete[a] or not at_node
        if small and lane == 0:
            _fill_keys(work.keys, data.codes, rows, first, n, a, width)
            _sort_together(work.keys, n, width)
        last = Int64(work.keys[(n - 1) * width + lane] if small else 0) >> LOCAL
        if begin != NOTHING and not own and last != data.missing:
            _table_test(work, begin, end, n, a, width)
        else:
            _write_line(data, work, rows, first, n, a, width, small)
            filled = _test_alone(data, rules, work, batch, a, n, size, n_asked, whole, filled)
        n_content += _count_pure(data, work, batch, own, n_asked, a, highest, rules.max_tests)
        a += 1
    for i in range(n_asked):
        _pack_gains(data, work, batch, i, a, at_node)
        batch.n_best[i] = _write_best(data, rules, work, batch, rows, first, i, a, highest)


@inlined
def _note_rows(  # noqa: PLR0917 - compiled calls go by position
    tally: Array, local: Array, step: Array, entries: Array, rows: Array, first: int, n: int
) -> None:
    """Write the entry of each row of a small node, and what it adds to the place in a table."""
    for i in range(n):
        entry = entries[rows[first + i]]
        local[i] = entry
        step[i] = tally[entry & CLASS].stride * (entry >> WEIGHT)


@entrance
def tests_of_one(  # noqa: PLR0917 - compiled calls go by position
    data: Data, rules: Rules, work: Work, batch: Batch, rows: Array, size: int
) -> None:
    """Write the best tests of the first query at a node with some rows."""
    batch.asked[0] = 0
    _count_classes(data.entries, work.tally, rows, 0, len(rows))
    best_tests(data, rules, work, batch, rows, 0, len(rows), size, 1)


# The graph.


@inlined
def _who_asks(graph: Graph, batch: Batch, node: int) -> int:
    """Write the queries that reach a node, and by how many paths; return how many they are."""
    nodes, segments, reached = graph.nodes, graph.segments, graph.reached
    asked, paths, met = batch.asked, batch.paths, batch.met
    begin, n_asked, segment = nodes[node].begin, nodes[node].number, nodes[node].more
    several = segment != NOTHING
    for i in range(n_asked):
        asked[i], paths[i] = reached[begin + i].query, reached[begin + i].paths
        if several:
            met[asked[i]] = i
    while segment != NOTHING:
        begin = segments[segment].begin
        for i in range(begin, begin + segments[segment].number):
            q = reached[i].query
            if met[q] == NOTHING:
                met[q] = n_asked
                asked[n_asked], paths[n_asked] = q, reached[i].paths
                n_asked += 1
            else:
                paths[met[q]] += reached[i].paths
        segment = segments[segment].next
    if several:
        for i in range(n_asked):
            met[asked[i]] = NOTHING
    return n_asked  # type: ignore[no-any-return] # what an array has is Any


@inlined
def _count_classes(entries: Array, tally: Array, rows: Array, first: int, n: int) -> None:
    """Count the rows of each class at a node."""
    for c in range(len(tally)):
        tally[c].count = 0
    for i in range(first, first + n):
        entry = entries[rows[i]]
        tally[entry & CLASS].count += entry >> WEIGHT


@inlined
def _choose(  # noqa: PLR0917 - compiled calls go by position
    rules: Rules, tally: Array, batch: Batch, graph: Graph, size: int, n_asked: int
) -> int:  # fmt: skip
    """Give each test that queries choose a slot; what leaves one class only is a leaf at once."""
    slot_of, slots, keys, onlys = graph.slot_of, graph.slots, batch.keys, batch.onlys
    paths, sums, totals = batch.paths, batch.sums, batch.totals
    n_slots, classes, laplace = 0, len(tally), rules.laplace
    for i in range(n_asked):
        q, kept = batch.asked[i], batch.n_best[i]
        if kept == 0:
            for c in range(classes):
                share = (tally[c].count + laplace) / (size + classes * laplace)
                sums[q, c] += paths[i] * share
            totals[q] += paths[i]
        elif rules.per_node:
            paths[i] /= kept
        for option in range(kept):
            if onlys[i, option] != NOTHING and laplace == 0:
                sums[q, onlys[i, option]] += paths[i]
                totals[q] += paths[i]
                keys[i, option] = NOTHING
            else:
                key = keys[i, option]
                slot = slot_of[key]
                if slot == NOTHING:
                    slot = slot_of[key] = n_slots
                    slots[slot].key, slots[slot].number = key, 0
                    n_slots += 1
                slots[slot].number += 1
    return n_slots


@inlined
def _deal_out(batch: Batch, graph: Graph, n_asked: int, n_slots: int) -> None:
    """Write the queries of each slot, slot by slot, and forget which test has which."""
    slot_of, slots, reached, keys = graph.slot_of, graph.slots, graph.reached, batch.keys
    begin = graph.state[0].reached
    for slot in range(n_slots):
        slots[slot].end = begin
        begin += slots[slot].number
    for i in range(n_asked):
        for option in range(batch.n_best[i]):
            if keys[i, option] != NOTHING:
                slot = slot_of[keys[i, option]]
                end = slots[slot].end
                reached[end].query, reached[end].paths = batch.asked[i], batch.paths[i]
                slots[slot].end = end + 1
    for slot in range(n_slots):
        slot_of[slots[slot].key] = NOTHING


@inlined
def _take_rows(  # noqa: PLR0917 - compiled calls go by position
    data: Data, tally: Array, graph: Graph, a: int, low: int, high: int
) -> tuple[int, int, int, int]:  # fmt: skip
    """Write the rows of a node that pass a test, and count them, as those on the left.

    Returns how many different ones, how many in all, of how many classes, and a hash of them.
    """
    columns, entries, row_hash, rows = data.columns, data.entries, data.row_hash, graph.rows
    node, into = graph.state[0].node, graph.state[0].rows
    first, n = graph.nodes[node].first, graph.nodes[node].length
    kept, size, present, mixed = 0, 0, 0, 0
    for i in range(first, first + n):  # without branches, which no processor could predict
        code = columns[a, rows[i]]
        rows[into + kept] = rows[i]
        kept += (code >= low) & (code <= high)
    for c in range(len(tally)):
        tally[c].left = 0
    for i in range(into, into + kept):
        entry = entries[rows[i]]
        tally[entry & CLASS].left += entry >> WEIGHT
        size += entry >> WEIGHT
        mixed += row_hash[rows[i]]
    for c in range(len(tally)):
        present += tally[c].left > 0
    return kept, size, present, mixed


@inlined
def _add_leaves(  # noqa: PLR0917 - compiled calls go by position
    work: Work, batch: Batch, reached: Array, begin: int, end: int, size: int, laplace: float
) -> None:
    """Add the shares of the rows on the left to those of the queries in a slot."""
    tally, shares, sums, totals = work.tally, work.shares, batch.sums, batch.totals
    classes = len(tally)
    for c in range(classes):
        shares[c] = (tally[c].left + laplace) / (size + classes * laplace)
    for i in range(begin, end):
        q, paths = reached[i].query, reached[i].paths
        for c in range(classes):
            sums[q, c] += paths * shares[c]
        totals[q] += paths


@inlined
def _look_up(table: Array, nodes: Array, mixed: int, length: int) -> int:
    """Return the place in the hash table where a subset is, or would go."""
    mask = len(table) - 1
    at = mixed & mask
    while table[at] != NOTHING and (
        nodes[table[at]].hash != mixed or nodes[table[at]].length != length
    ):
        at = (at + 1) & mask
    return at


@inlined
def _drop(waiting: Array, nodes: Array, state: Array) -> None:
    """Do not split the nodes of the least size."""
    size = state[0].smallest
    while waiting[size].head != NOTHING:
        nodes[waiting[size].head].first = NOTHING
        waiting[size].head = nodes[waiting[size].head].next
    state[0].split -= waiting[size].count
    state[0].smallest += 1


@inlined
def _join(graph: Graph, node: int, begin: int, number: int) -> None:
    """Write a segment of queries that reach a known node from another parent."""
    nodes, segments, state = graph.nodes, graph.segments, graph.state
    segment = state[0].segments
    if nodes[node].more == NOTHING:
        nodes[node].more = segment
    else:
        segments[nodes[node].last].next = segment
    nodes[node].last = segment
    segments[segment].begin, segments[segment].number = begin, number
    segments[segment].next = NOTHING
    state[0].segments = segment + 1


@inlined
def _add_node(graph: Graph, size: int, length: int, mixed: int, begin: int, number: int) -> None:  # noqa: PLR0917 - compiled calls go by position
    """Write a new node and who reaches it, and put it behind the others of its size."""
    nodes, waiting, state = graph.nodes, graph.waiting, graph.state
    node = state[0].nodes
    nodes[node].first, nodes[node].length = state[0].rows, length
    nodes[node].hash, nodes[node].begin, nodes[node].number = mixed, begin, number
    nodes[node].next = nodes[node].more = NOTHING
    if waiting[size].head == NOTHING:
        waiting[size].head = node
    else:
        nodes[waiting[size].tail].next = node
    waiting[size].tail = node
    waiting[size].count += 1
    state[0].nodes = node + 1
    state[0].rows += length
    state[0].split += 1


@inlined
def _keep(reached: Array, begin: int, end: int, to: int) -> None:
    """Move the queries of a slot next to those that are kept already."""
    for i in range(end - begin):
        reached[to + i].query = reached[begin + i].query
        reached[to + i].paths = reached[begin + i].paths


@inlined
def _is_full(graph: Graph) -> bool:
    """Tell whether another child of the node at hand might have no room."""
    used = graph.state[0]
    return bool(
        (used.rows + graph.nodes[used.node].length > len(graph.rows))
        | (used.nodes + 1 > len(graph.nodes))
        | (used.segments + 1 > len(graph.segments))
        | (2 * used.nodes > len(graph.table))
    )


@inlined
def _follow(  # noqa: PLR0917 - compiled calls go by position
    data: Data, rules: Rules, work: Work, batch: Batch, graph: Graph, max_nodes: int
) -> None:  # fmt: skip
    """Add the child of the next slot: its leaf shares, its queries to a known node, or a node."""
    state, nodes, slots, tally = graph.state, graph.nodes, graph.slots, work.tally
    slot = state[0].slot
    key, end, number = slots[slot].key, slots[slot].end, slots[slot].number
    a = key // data.stride
    low, high = _passing(key - a * data.stride, data.discrete[a], data.missing)
    length, size, present, mixed = _take_rows(data, tally, graph, a, low, high)
    state[0].slot = slot + 1
    if present == 1 or size < state[0].smallest:
        _add_leaves(work, batch, graph.reached, end - number, end, size, rules.laplace)
    else:
        start = state[0].reached
        _keep(graph.reached, end - number, end, start)
        state[0].reached = start + number
        found = _look_up(graph.table, nodes, mixed, length)
        if graph.table[found] != NOTHING:
            _join(graph, graph.table[found], start, number)
        else:
            graph.table[found] = state[0].nodes
            _add_node(graph, size, length, mixed, start, number)
            while 0 < max_nodes < state[0].split:
                _drop(graph.waiting, nodes, state)


@entrance
def grow(  # noqa: PLR0917 - compiled calls go by position
    data: Data, rules: Rules, work: Work, batch: Batch, graph: Graph, max_nodes: int
) -> bool:
    """Add each query's leaf shares, times the paths that lead there, to `sums` and `totals`.

    With a budget of nodes, which is 0 for none, the queries are to be the rows themselves, and at
    each node all its rows ask; nodes of the least sizes are not split if there are more.

    Returns whether this is done. If not, the graph needs more room: then call this again.
    """
    state, nodes, waiting = graph.state, graph.nodes, graph.waiting
    most_chosen, full = len(batch.asked) * rules.max_tests, False
    while state[0].size and not full:
        size, node = state[0].size, state[0].node
        if state[0].slot < state[0].slots:
            full = _is_full(graph)
            if not full:
                _follow(data, rules, work, batch, graph, max_nodes)
        elif waiting[size].head == NOTHING:
            state[0].size = size - 1
        elif state[0].reached + most_chosen > len(graph.reached):
            full = True
        else:
            if node != NOTHING:
                nodes[node].first = NOTHING  # it is done
            node = state[0].node = waiting[size].head
            waiting[size].head = nodes[node].next
            first, n = nodes[node].first, nodes[node].length
            if max_nodes:
                n_asked, state[0].reached = n, 0
                for i in range(n):
                    batch.asked[i], batch.paths[i] = graph.rows[first + i], 1.0
            else:
                n_asked = _who_asks(graph, batch, node)
            _count_classes(data.entries, work.tally, graph.rows, first, n)
            best_tests(data, rules, work, batch, graph.rows, first, n, size, n_asked)
            n_slots = _choose(rules, work.tally, batch, graph, size, n_asked)
            _deal_out(batch, graph, n_asked, n_slots)
            state[0].slot, state[0].slots = 0, n_slots
    return not full


@entrance
def pack_rows(rows: Array, into: Array, nodes: Array, state: Array) -> None:
    """Copy the rows of nodes that are not done to the beginning of an array, maybe the same."""
    at = 0
    for node in range(state[0].nodes):  # in the order in which they lie, so they may move in place
        if nodes[node].first != NOTHING:
            for i in range(nodes[node].length):
                into[at + i] = rows[nodes[node].first + i]
            nodes[node].first = at
            at += nodes[node].length
    state[0].rows = at


@entrance
def fill_hash_table(table: Array, nodes: Array, n_nodes: int) -> None:
    """Write all nodes but the first, which nothing leads to, into an empty hash table."""
    for node in range(1, n_nodes):
        table[_look_up(table, nodes, nodes[node].hash, nodes[node].length)] = node
