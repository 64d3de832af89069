"""The rows of a bag as the compiled code takes them, its rules, and its room to work."""

from __future__ import annotations

from math import log2
from typing import NamedTuple

import numpy as np
from numba import njit

from stakes.learn.trees import LANES
from stakes.learn.trees._entropy import FEW, NEVER, NOTHING, ORDERED, fill_table, fill_tangents
from stakes.learn.trees._vectors import MANY, MOST_CLASSES, TOGETHER

LARGEST_TABLE, MOST_TABLED, MOST_TABLES = 512, 1 << 21, 1 << 12
"""Small nodes share tables of all their splits, by the counts of their classes."""

PARTS = 512
"""How many tangents bound the entropy of masses."""


class Data(NamedTuple):
    """The rows of a bag, class by class.

    `position` [attribute, row] is a row's place in the attribute's order, in which rows without a
    value are last; `entry` [attribute, place] holds the value's code, the row's weight and class.
    `code` [attribute, row] and `codes` [row, attribute], which has whole vectors of attributes,
    hold the codes alone; `missing`, which is higher than all others, is that of missing values. The
    tests of two attributes are `stride` apart. It is `plain` if all values are numbers and none is
    missing.
    """

    code: np.ndarray
    codes: np.ndarray
    position: np.ndarray
    entry: np.ndarray
    known: np.ndarray
    tied: np.ndarray
    discrete: np.ndarray
    value: np.ndarray
    value_start: np.ndarray
    row_class: np.ndarray
    row_weight: np.ndarray
    row_hash: np.ndarray
    stride: int
    missing: int
    plain: bool


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


class Node(NamedTuple):
    """A node: some of the rows of all nodes, `length` different ones, `size` with repeated ones."""

    rows: np.ndarray
    first: int
    length: int
    size: int


class Batch(NamedTuple):
    """All queries, and which are at a node: their numbers, and the paths that bring them there.

    Of each that is there, the `n_best` best tests: their gains, their numbers, and the class where
    a test leaves one only. `met` is room to find a query's place at the node.
    """

    values: np.ndarray
    ranks: np.ndarray
    asked: np.ndarray
    paths: np.ndarray
    met: np.ndarray
    gains: np.ndarray
    keys: np.ndarray
    onlys: np.ndarray
    n_best: np.ndarray


class Workspace(NamedTuple):
    """Room to work on a node, and the tables of small nodes."""

    log: np.ndarray
    words: np.ndarray
    summary: np.ndarray
    at: np.ndarray
    rank: np.ndarray
    step: np.ndarray
    starts: np.ndarray
    share: np.ndarray
    totals: np.ndarray
    scored: np.ndarray
    bounds: np.ndarray
    least: np.ndarray
    place: np.ndarray
    found: np.ndarray
    places: np.ndarray
    note: np.ndarray
    shares: np.ndarray
    term: np.ndarray
    worth: np.ndarray
    bound: np.ndarray
    tangents: np.ndarray
    runs: np.ndarray
    gain_of: np.ndarray
    seen: np.ndarray
    below: np.ndarray
    sides: np.ndarray
    gain_of_query: np.ndarray
    choice_of_query: np.ndarray
    packed: np.ndarray
    rest: np.ndarray
    alone: np.ndarray
    pure: np.ndarray
    table_of: np.ndarray
    table_counts: np.ndarray
    table_from: np.ndarray
    tabled: np.ndarray
    scores: np.ndarray
    gains: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def new_workspace(n, weight, classes, n_codes, n_queries, attributes, width, position):
    """Make room for bags of at most n different rows of some weight in all."""
    log = np.zeros(weight + 2)
    for k in range(1, weight + 2):
        log[k] = log2(k)
    tangents = np.empty((3, PARTS))
    fill_tangents(tangents)
    n_words = (n >> 6) + 1
    return Workspace(
        log, np.zeros(n_words, np.uint64), np.zeros((n_words >> 6) + 1, np.uint64),
        np.empty(FEW, position.dtype), np.empty(FEW, np.uint16),
        np.empty(MANY, position.dtype), np.empty((2, classes + 1), np.int64),
        np.empty((2, MOST_CLASSES), np.float32),
        np.empty((min(classes, MOST_CLASSES), MANY + TOGETHER, LANES), position.dtype),
        np.full((MANY, LANES), NEVER, np.uint32), np.empty((MANY, LANES), np.float32),
        np.empty((2, LANES), np.float32), np.empty(LANES, np.int32),
        np.zeros((5, width), np.uint32), np.empty(n, np.int32),
        np.zeros((9, classes), np.int64), np.empty(classes), np.empty((3, weight + classes + 1)),
        np.empty(classes), np.empty(n), tangents, np.empty((6, n + 1), np.int64),
        np.full(n_codes + 1, NOTHING, np.int64), np.empty(n_codes + 1, np.int64),
        np.empty(n_queries, np.int64),
        np.zeros((4, attributes), np.int64),
        np.zeros((n_queries, attributes), np.int64), np.empty((n_queries, attributes), np.int64),
        np.empty(attributes, np.int64), np.empty(attributes + 1, np.int64),
        np.empty(attributes, np.bool_), np.empty(n_queries, np.int64),
        np.full(2 * MOST_TABLES, NOTHING, np.int32), np.zeros((MOST_TABLES, classes), np.int64),
        np.zeros(MOST_TABLES + 1, np.int64), np.zeros(1, np.int64),
        np.empty(MOST_TABLED, np.uint32), np.empty(MOST_TABLED, np.uint32),
    )  # fmt: skip


@njit(cache=True, nogil=True, error_model="numpy")
def new_batch(values, ranks, max_tests):
    """Make room for what queries are told at a node."""
    n, shape = len(values), (len(values), max_tests)
    return Batch(
        values, ranks, np.empty(n, np.int32), np.empty(n), np.full(n, NOTHING, np.int32),
        np.empty(shape, np.int64), np.empty(shape, np.int64), np.empty(shape, np.int64),
        np.empty(n, np.int64),
    )  # fmt: skip


@njit(error_model="numpy")
def find_table(rules, workspace, present, size):
    """Return where the table of all nodes with these counts begins."""
    note, table_of, table_counts = workspace.note, workspace.table_of, workspace.table_counts
    mask = len(table_of) - 1
    at = 0
    for k in range(present):
        at = at * 31 + note[ORDERED, k]
    home = (at ^ (at >> 13)) & mask
    at = home
    while table_of[at] != NOTHING:
        known = table_of[at]
        same = present == table_counts.shape[1] or table_counts[known, present] == 0
        for k in range(present):
            same = same and table_counts[known, k] == note[ORDERED, k]
        if same:
            return workspace.table_from[known]
        at = (at + 1) & mask
    number = workspace.tabled[0]
    begin = workspace.table_from[number]
    if number == MOST_TABLES or begin + size > len(workspace.scores):  # start anew
        table_of[:] = NOTHING
        number, begin, at = 0, 0, home
    table_of[at] = number
    for k in range(table_counts.shape[1]):
        table_counts[number, k] = note[ORDERED, k] if k < present else 0
    workspace.table_from[number + 1] = begin + size
    workspace.tabled[0] = number + 1
    fill_table(
        begin, size, workspace.scores, workspace.gains, note, present, rules.balanced,
        rules.by_information, rules.min_leaf, workspace.log,
    )  # fmt: skip
    return begin
