"""Lazy option trees of many queries at once, each subset of the rows looked at only once.

What a node offers depends on its rows, not on how a query came there, and different orders of the
same tests lead to the same rows. So the trees of all queries are grown together, as one graph: a
node is a subset of the rows with the queries that reach it, and how many paths bring each there.
Nodes are taken from the largest to the smallest; all of a node's parents are larger, so when its
turn comes everybody who will ever reach it is there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from stakes.learn.trees._entropy import COUNTS, LEFT, NOTHING
from stakes.learn.trees._node import best_tests, take_rows
from stakes.learn.trees._vectors import borrowed, keep, lent, prefetch
from stakes.learn.trees._workspace import Node, new_batch

DONE = -1

ROWS, LENGTH, HASH, NEXT, FROM, COUNT, MORE, LAST = range(8)
"""What is kept of a node, as much as a line of the cache has room for: where its rows are, how many
different ones, a hash of them, the next node of its size; where the queries from its first parent
are, how many they are, and the first and last segment of queries from others."""

BEGIN, NUMBER, AFTER = range(3)
"""What is kept of such a segment: where its queries are, how many they are, the next segment."""

QUERY, PATHS = range(2)
"""What is kept of a query that reaches a node: its number, and how many paths bring it there."""


class Slots(NamedTuple):
    """The children of the node at hand: the slot of each test, or nothing.

    Of each slot, its test, how many queries go there, and where they end.
    """

    of_key: np.ndarray
    key: np.ndarray
    number: np.ndarray
    end: np.ndarray


class Line(NamedTuple):
    """The nodes of each size that wait for their turn, and how many there have been."""

    head: np.ndarray
    tail: np.ndarray
    count: np.ndarray


class Leaves(NamedTuple):
    """The sums of leaf shares of each query, and how many paths lead to its leaves."""

    sums: np.ndarray
    totals: np.ndarray


@njit(error_model="numpy")
def _grown(array, needed):
    """Return a copy of an array with room for more."""
    larger = np.empty((max(needed, 2 * len(array)), array.shape[1]), array.dtype)
    here, there = array.ravel(), larger.ravel()
    for i in range(len(here)):  # to assign a slice takes seconds to compile
        there[i] = here[i]
    return larger


@njit(error_model="numpy")
def _make_room(rows, needed, nodes, n_nodes):
    """Return the rows with room for more, and how much is used: nodes that are done need none."""
    live = 0
    for node in range(n_nodes):
        if nodes[node, ROWS] != DONE:
            live += nodes[node, LENGTH]
    into = rows if 2 * (live + needed) <= len(rows) else np.empty(3 * (live + needed), rows.dtype)
    at = 0
    for node in range(n_nodes):  # in the order in which they lie, so they may move in place
        if nodes[node, ROWS] != DONE:
            for i in range(nodes[node, LENGTH]):
                into[at + i] = rows[nodes[node, ROWS] + i]
            nodes[node, ROWS] = at
            at += nodes[node, LENGTH]
    return into, at


@njit(error_model="numpy")
def _look_up(table, nodes, key, length):
    """Return the place in the hash table where a subset is, or would go."""
    mask = len(table) - 1
    at = key & mask
    while table[at] != NOTHING and (
        nodes[table[at], HASH] != key or nodes[table[at], LENGTH] != length
    ):
        at = (at + 1) & mask
    return at


@njit(error_model="numpy")
def _rehashed(nodes, n_nodes, room):
    """Return a hash table of all nodes but the first, which nothing leads to."""
    table = np.full(room, NOTHING, np.int32)
    for node in range(1, n_nodes):
        table[_look_up(table, nodes, nodes[node, HASH], nodes[node, LENGTH])] = node
    return table


@njit(error_model="numpy")
def _who_asks(nodes, node, segments, reached, batch):
    """Write the queries that reach a node, and by how many paths; return how many they are."""
    asked, paths, met = batch.asked, batch.paths, batch.met
    begin, n_asked = nodes[node, FROM], nodes[node, COUNT]
    for i in range(n_asked):
        asked[i], paths[i] = np.int64(reached[begin + i, QUERY]), reached[begin + i, PATHS]
    segment = nodes[node, MORE]
    if segment == NOTHING:
        return n_asked
    for i in range(n_asked):
        met[asked[i]] = i
    while segment != NOTHING:
        begin = segments[segment, BEGIN]
        for i in range(begin, begin + segments[segment, NUMBER]):
            q = np.int64(reached[i, QUERY])
            if met[q] == NOTHING:
                met[q] = n_asked
                asked[n_asked], paths[n_asked] = q, reached[i, PATHS]
                n_asked += 1
            else:
                paths[met[q]] += reached[i, PATHS]
        segment = segments[segment, AFTER]
    for i in range(n_asked):
        met[asked[i]] = NOTHING
    return n_asked


@njit(error_model="numpy", forceinline=True)
def _count_classes(data, workspace, node):
    """Count the rows of each class at a node."""
    for c in range(workspace.note.shape[1]):
        workspace.note[COUNTS, c] = 0
    for i in range(node.first, node.first + node.length):
        row = node.rows[i]
        workspace.note[COUNTS, data.row_class[row]] += data.row_weight[row]


@njit(error_model="numpy", forceinline=True)
def _fill_shares(rules, workspace, which, size):
    """Write the shares of the classes in a leaf."""
    classes = workspace.note.shape[1]
    for c in range(classes):
        workspace.shares[c] = (workspace.note[which, c] + rules.laplace) / (
            size + classes * rules.laplace
        )


@njit(error_model="numpy", forceinline=True)
def _add_leaf(leaves, q, paths, shares):
    """Add the shares of a leaf to those of a query that so many paths bring there."""
    for c in range(len(shares)):
        leaves.sums[q, c] += paths * shares[c]
    leaves.totals[q] += paths


@njit(error_model="numpy", forceinline=True)
def _choose(rules, workspace, node, batch, n_asked, slots, leaves):
    """Give each test that queries choose a slot; what leaves one class only is a leaf at once.

    Returns how many slots there are, and how many choices.
    """
    keys, onlys, paths = batch.keys, batch.onlys, batch.paths
    n_slots, n_chosen = 0, 0
    for i in range(n_asked):
        q, kept = batch.asked[i], batch.n_best[i]
        if kept == 0:
            _fill_shares(rules, workspace, COUNTS, node.size)
            _add_leaf(leaves, q, paths[i], workspace.shares)
            continue
        if rules.per_node:
            paths[i] /= kept
        for option in range(kept):
            if onlys[i, option] != NOTHING and rules.laplace == 0:
                leaves.sums[q, onlys[i, option]] += paths[i]
                leaves.totals[q] += paths[i]
                keys[i, option] = NOTHING
                continue
            key = keys[i, option]
            slot = slots.of_key[key]
            if slot == NOTHING:
                slot = n_slots
                slots.of_key[key] = slot
                slots.key[slot], slots.number[slot] = key, 0
                n_slots += 1
            slots.number[slot] += 1
            n_chosen += 1
    return n_slots, n_chosen


@njit(error_model="numpy", forceinline=True)
def _deal_out(batch, n_asked, slots, n_slots, reached, begin):
    """Write the queries of each slot, slot by slot, and forget which test has which."""
    for slot in range(n_slots):
        slots.end[slot] = begin
        begin += slots.number[slot]
    for i in range(n_asked):
        for option in range(batch.n_best[i]):
            if batch.keys[i, option] != NOTHING:
                slot = slots.of_key[batch.keys[i, option]]
                reached[slots.end[slot], QUERY] = batch.asked[i]
                reached[slots.end[slot], PATHS] = batch.paths[i]
                slots.end[slot] += 1
    for slot in range(n_slots):
        slots.of_key[slots.key[slot]] = NOTHING


@njit(error_model="numpy", forceinline=True)
def _move(reached, begin, end, to):
    """Move queries next to what is kept already."""
    for i in range(begin, end):
        reached[to + i - begin, QUERY] = reached[i, QUERY]
        reached[to + i - begin, PATHS] = reached[i, PATHS]


@njit(error_model="numpy", forceinline=True)
def _join(nodes, node, segments, segment, begin, number):
    """Write a segment of queries that reach a known node from another parent."""
    segments[segment, BEGIN], segments[segment, AFTER] = begin, NOTHING
    segments[segment, NUMBER] = number
    if nodes[node, MORE] == NOTHING:
        nodes[node, MORE] = segment
    else:
        segments[nodes[node, LAST], AFTER] = segment
    nodes[node, LAST] = segment


@njit(error_model="numpy", forceinline=True)
def _write_node(nodes, node, first, length, key_hash, begin, number):
    """Write a new node, and who reaches it."""
    nodes[node, ROWS], nodes[node, LENGTH] = first, length
    nodes[node, HASH], nodes[node, NEXT] = key_hash, NOTHING
    nodes[node, FROM], nodes[node, COUNT], nodes[node, MORE] = begin, number, NOTHING


@njit(error_model="numpy", forceinline=True)
def _wait(line, nodes, node, size):
    """Put a node behind the others of its size."""
    if line.head[size] == NOTHING:
        line.head[size] = node
    else:
        nodes[line.tail[size], NEXT] = node
    line.tail[size] = node
    line.count[size] += 1


@njit(error_model="numpy", forceinline=True)
def _drop(line, nodes, size):
    """Take all nodes of a size out of the line; return how many nodes have been of that size."""
    while line.head[size] != NOTHING:
        nodes[line.head[size], ROWS] = DONE
        line.head[size] = nodes[line.head[size], NEXT]
    return line.count[size]


@njit(cache=True, nogil=True, error_model="numpy")
def grow(data, rules, workspace, queries, ranks, sums, totals, max_nodes):
    """Add each query's leaf shares, times the paths that lead there, to `sums` and `totals`.

    With a budget of nodes, which is 0 for none, the queries are to be the rows themselves, and at
    each node all its rows ask. Returns the size from which on nodes are split: with a budget, the
    least one from which on there are not more nodes than that.
    """
    data, rules, workspace, leaves = (
        lent(data),
        lent(rules),
        lent(workspace),
        lent(Leaves(sums, totals)),
    )
    n_rows, n_queries = data.position.shape[1], len(queries)
    n_all = 0
    for row in range(n_rows):
        n_all += data.row_weight[row]

    # The node at hand: its queries, and its children.
    kept_batch = new_batch(queries, ranks, rules.max_tests)
    n_keys = len(data.known) * data.stride
    most = min(n_queries * rules.max_tests, n_keys)
    kept_slots = Slots(
        np.full(n_keys, NOTHING, np.int32), np.empty(most, np.int64), np.empty(most, np.int64),
        np.empty(most, np.int64),
    )  # fmt: skip
    batch, slots = lent(kept_batch), lent(kept_slots)

    # All nodes: their rows, and the queries that reach them in segments, one for each parent. They
    # need more room as they come, so what is borrowed has owners here.
    kept_rows, kept_nodes = np.empty(4 * n_rows + 64, np.int32), np.empty((64, 8), np.int64)
    kept_segments, kept_reached = np.empty((64, 3), np.int64), np.empty((n_queries + 64, 2))
    kept_table = np.full(256, NOTHING, np.int32)
    kept_line = Line(
        np.full(n_all + 1, NOTHING, np.int32), np.full(n_all + 1, NOTHING, np.int32),
        np.zeros(n_all + 1, np.int64),
    )  # fmt: skip
    rows, nodes = borrowed(kept_rows), borrowed(kept_nodes)
    segments, reached = borrowed(kept_segments), borrowed(kept_reached)
    table, line = borrowed(kept_table), lent(kept_line)

    for row in range(n_rows):
        rows[row] = row
    for q in range(n_queries):
        reached[q, QUERY], reached[q, PATHS] = q, 1.0
    n_nodes, n_segments, n_reached, rows_used = 1, 0, n_queries, n_rows
    smallest, n_split = rules.smallest, 1
    _write_node(nodes, 0, 0, n_rows, 0, 0, n_queries)
    _wait(line, nodes, 0, n_all)

    for size in range(n_all, 0, -1):
        while line.head[size] != NOTHING:
            number = line.head[size]
            following = line.head[size] = nodes[number, NEXT]
            if following != NOTHING:
                prefetch(nodes, following * nodes.shape[1])
            node = lent(Node(rows, nodes[number, ROWS], nodes[number, LENGTH], size))
            if max_nodes:
                n_asked, n_reached = node.length, 0
                for i in range(n_asked):
                    batch.asked[i], batch.paths[i] = rows[node.first + i], 1.0
            else:
                n_asked = _who_asks(nodes, number, segments, reached, batch)
            _count_classes(data, workspace, node)
            best_tests(data, rules, workspace, node, batch, n_asked)
            if following != NOTHING:
                prefetch(rows, nodes[following, ROWS])
                prefetch(reached, nodes[following, FROM] * reached.shape[1])

            n_slots, n_chosen = _choose(rules, workspace, node, batch, n_asked, slots, leaves)
            if n_reached + n_chosen > len(reached):
                kept_reached = _grown(kept_reached, n_reached + n_chosen)
                reached = borrowed(kept_reached)
            _deal_out(batch, n_asked, slots, n_slots, reached, n_reached)

            for slot in range(n_slots):
                begin, end = slots.end[slot] - slots.number[slot], slots.end[slot]
                if rows_used + node.length > len(rows):
                    kept_rows, rows_used = _make_room(kept_rows, node.length, nodes, n_nodes)
                    rows = borrowed(kept_rows)
                    node = lent(Node(rows, nodes[number, ROWS], node.length, size))
                length, child_size, key_hash = take_rows(
                    data, workspace, node, slots.key[slot], rows_used
                )
                present = 0
                for c in range(workspace.note.shape[1]):
                    present += workspace.note[LEFT, c] > 0
                if present == 1 or child_size < smallest:
                    _fill_shares(rules, workspace, LEFT, child_size)
                    for i in range(begin, end):
                        q = np.int64(reached[i, QUERY])
                        _add_leaf(leaves, q, reached[i, PATHS], workspace.shares)
                    continue

                _move(reached, begin, end, n_reached)
                begin, n_reached = n_reached, n_reached + end - begin
                found = _look_up(table, nodes, key_hash, length)
                if table[found] != NOTHING:
                    if n_segments == len(segments):
                        kept_segments = _grown(kept_segments, n_segments + 1)
                        segments = borrowed(kept_segments)
                    _join(nodes, table[found], segments, n_segments, begin, n_reached - begin)
                    n_segments += 1
                    continue
                if n_nodes == len(nodes):
                    kept_nodes = _grown(kept_nodes, n_nodes + 1)
                    nodes = borrowed(kept_nodes)
                _write_node(nodes, n_nodes, rows_used, length, key_hash, begin, n_reached - begin)
                _wait(line, nodes, n_nodes, child_size)
                table[found] = n_nodes
                n_nodes += 1
                n_split += 1
                rows_used += length
                while 0 < max_nodes < n_split:  # those of the least size are not split
                    n_split -= _drop(line, nodes, smallest)
                    smallest += 1
                if 2 * n_nodes > len(table):
                    kept_table = _rehashed(nodes, n_nodes, 4 * len(table))
                    table = borrowed(kept_table)
            nodes[number, ROWS] = DONE
    keep((kept_rows, kept_nodes, kept_segments, kept_reached, kept_table))
    keep((kept_batch, kept_slots, kept_line))
    return smallest
