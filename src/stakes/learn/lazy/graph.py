"""Lazy option trees of many queries at once, each subset of the rows looked at only once.

What a node offers depends on its rows, not on how a query came there, and different orders of the
same tests lead to the same rows. So the trees of all queries are grown together, as one graph: a
node is a subset of the rows with the queries that reach it, and how many paths bring each there.
Nodes are taken from the largest to the smallest; all of a node's parents are larger, so when its
turn comes everybody who will ever reach it is there.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from stakes.learn.lazy.entropy import COUNTS, LEFT
from stakes.learn.lazy.memory import borrowed, keep, prefetch
from stakes.learn.lazy.node import best_tests, take_rows
from stakes.learn.lazy.thresholds import NOTHING

DONE = -1

ROWS, LENGTH, HASH, NEXT, FROM, COUNT, MORE, LAST = range(8)
"""What is kept of a node, as much as a line of the cache has room for: where its rows are, how many
different ones, a hash of them, the next node of its size; where the queries from its first parent
are, how many they are, and the first and last segment of queries from others."""

BEGIN, NUMBER, AFTER = range(3)
"""What is kept of such a segment: where its queries are, how many they are, the next segment."""

QUERY, PATHS = range(2)
"""What is kept of a query that reaches a node: its number, and how many paths bring it there."""


@njit(cache=True, nogil=True, error_model="numpy")
def _grown(array, needed):
    """Return a copy of an array with room for more."""
    larger = np.empty((max(needed, 2 * len(array)), array.shape[1]), array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True, nogil=True, error_model="numpy")
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


@njit(cache=True, nogil=True, error_model="numpy")
def _look_up(table, nodes, key, length):
    """Return the place in the hash table where a subset is, or would go."""
    mask = len(table) - 1
    at = key & mask
    while table[at] != NOTHING and (
        nodes[table[at], HASH] != key or nodes[table[at], LENGTH] != length
    ):
        at = (at + 1) & mask
    return at


@njit(cache=True, nogil=True, error_model="numpy")
def _who_asks(nodes, node, segments, reached, asked, paths, met):
    """Write the queries that reach a node, and by how many paths; return how many they are."""
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


@njit(cache=True, nogil=True, error_model="numpy")
def grow(data, rules, desk, stride, missing, queries, ranks, sums, totals, max_nodes):
    """Add each query's leaf shares, times the paths that lead there, to `sums` and `totals`.

    With a budget of nodes, which is 0 for none, the queries are to be the rows themselves, and at
    each node all its rows ask. Returns the size from which on nodes are split: with a budget, the
    least one from which on there are not more nodes than that.
    """
    data, desk = borrowed(data), borrowed(desk)
    queries, ranks = borrowed(queries), borrowed(ranks)
    sums, totals = borrowed(sums), borrowed(totals)
    n_rows, n_queries, classes = data.position.shape[1], queries.shape[0], sums.shape[1]
    known, discrete, code = data.known, data.discrete, data.code
    row_class, row_weight, row_hash = data.row_class, data.row_weight, data.row_hash
    note = desk.note
    max_tests, laplace, per_node = rules.max_tests, rules.laplace, rules.per_node
    shares = np.empty(classes)
    n_all = 0
    for row in range(n_rows):
        n_all += row_weight[row]
    smallest, n_split, of_size = rules.smallest, 1, np.zeros(n_all + 1, np.int64)

    # The queries of the node at hand: their paths, their best tests, which child each leads to.
    asked, paths = np.empty(n_queries, np.int32), np.empty(n_queries)
    met = np.full(n_queries, NOTHING, np.int32)
    best = np.empty((n_queries, max_tests), np.int64)
    keys = np.empty((n_queries, max_tests), np.int64)
    onlys = np.empty((n_queries, max_tests), np.int64)
    n_best = np.empty(n_queries, np.int64)
    slot_of = np.full(len(known) * stride, NOTHING, np.int32)
    slot_key = np.empty(min(n_queries * max_tests, len(slot_of)), np.int64)
    slot_size, slot_end = np.empty_like(slot_key), np.empty_like(slot_key)

    # All nodes: their rows, and the queries that reach them in segments, one for each parent. They
    # need more room as they come, so what is borrowed has owners here.
    kept_rows, kept_nodes = np.empty(4 * n_rows + 64, np.int32), np.empty((64, 8), np.int64)
    kept_segments, kept_reached = np.empty((64, 3), np.int64), np.empty((n_queries + 64, 2))
    rows, nodes = borrowed(kept_rows), borrowed(kept_nodes)
    segments, reached = borrowed(kept_segments), borrowed(kept_reached)
    kept_table = np.full(256, NOTHING, np.int32)
    table = borrowed(kept_table)
    head, tail = np.full(n_all + 1, NOTHING, np.int32), np.full(n_all + 1, NOTHING, np.int32)

    for row in range(n_rows):
        rows[row] = row
    for q in range(n_queries):
        reached[q, QUERY], reached[q, PATHS] = q, 1.0
    n_nodes, n_segments, n_reached, rows_used = 1, 0, n_queries, n_rows
    nodes[0, ROWS], nodes[0, LENGTH], nodes[0, HASH], nodes[0, NEXT] = 0, n_rows, 0, NOTHING
    nodes[0, FROM], nodes[0, COUNT], nodes[0, MORE] = 0, n_queries, NOTHING
    head[n_all] = tail[n_all] = 0

    for size in range(n_all, 0, -1):
        while head[size] != NOTHING:
            node = head[size]
            head[size] = nodes[node, NEXT]
            first, length = nodes[node, ROWS], nodes[node, LENGTH]

            if head[size] != NOTHING:
                prefetch(nodes, head[size] * nodes.shape[1])

            if max_nodes:
                n_asked, n_reached = length, 0
                for i in range(length):
                    asked[i], paths[i] = rows[first + i], 1.0
            else:
                n_asked = _who_asks(nodes, node, segments, reached, asked, paths, met)

            for c in range(classes):
                note[COUNTS, c] = 0
            for i in range(first, first + length):
                note[COUNTS, row_class[rows[i]]] += row_weight[rows[i]]
            best_tests(
                rows, first, length, size, queries, ranks, asked, n_asked, best, keys, onlys,
                n_best, max_tests, rules.gain_ratio, rules.min_leaf, rules.balanced, rules.at_node,
                rules.by_information, stride, missing, data.plain, data.codes, data.position,
                data.entry, known, data.tied, discrete, data.value, data.value_start, row_class,
                row_weight,
                desk.log, desk.words, desk.summary, desk.at, desk.rank, desk.step, desk.starts,
                desk.share, desk.totals, desk.scored, desk.bounds, desk.least, desk.place,
                desk.found, desk.split_gains, desk.places, note, desk.term, desk.worth, desk.bound,
                desk.tangents, desk.runs, desk.gain_of, desk.seen, desk.below, desk.sides,
                desk.gain_of_query, desk.choice_of_query, desk.packed, desk.rest,
                desk.alone, desk.pure, desk.table_of, desk.table_counts, desk.table_from,
                desk.tabled, desk.scores, desk.gains,
            )  # fmt: skip

            if head[size] != NOTHING:
                prefetch(rows, nodes[head[size], ROWS])
                prefetch(reached, nodes[head[size], FROM] * reached.shape[1])

            # Who goes where; what leaves one class only is a leaf at once.
            n_slots, n_chosen = 0, 0
            for i in range(n_asked):
                q, kept = asked[i], n_best[i]
                if kept == 0:
                    for c in range(classes):
                        share = (note[COUNTS, c] + laplace) / (size + classes * laplace)
                        sums[q, c] += paths[i] * share
                    totals[q] += paths[i]
                    continue
                if per_node:
                    paths[i] /= kept
                for option in range(kept):
                    if onlys[i, option] != NOTHING and laplace == 0:
                        sums[q, onlys[i, option]] += paths[i]
                        totals[q] += paths[i]
                        keys[i, option] = NOTHING
                        continue
                    key = keys[i, option]
                    slot = slot_of[key]
                    if slot == NOTHING:
                        slot = n_slots
                        slot_of[key] = slot
                        slot_key[slot], slot_size[slot] = key, 0
                        n_slots += 1
                    slot_size[slot] += 1
                    n_chosen += 1
            if n_slots == 0:
                nodes[node, ROWS] = DONE
                continue
            if n_reached + n_chosen > len(reached):
                kept_reached = _grown(kept_reached, n_reached + n_chosen)
                reached = borrowed(kept_reached)
            at = n_reached
            for slot in range(n_slots):
                slot_end[slot] = at
                at += slot_size[slot]
            for i in range(n_asked):
                for option in range(n_best[i]):
                    if keys[i, option] != NOTHING:
                        slot = slot_of[keys[i, option]]
                        reached[slot_end[slot], QUERY] = asked[i]
                        reached[slot_end[slot], PATHS] = paths[i]
                        slot_end[slot] += 1

            for slot in range(n_slots):
                slot_of[slot_key[slot]] = NOTHING
                begin, end = slot_end[slot] - slot_size[slot], slot_end[slot]
                if rows_used + length > len(rows):
                    kept_rows, rows_used = _make_room(kept_rows, length, nodes, n_nodes)
                    rows, first = borrowed(kept_rows), nodes[node, ROWS]
                n_child, child_size, key_hash = take_rows(
                    rows, first, length, slot_key[slot], stride, rows_used, code, missing,
                    discrete, row_class, row_weight, row_hash, note, LEFT,
                )  # fmt: skip
                present = 0
                for c in range(classes):
                    present += note[LEFT, c] > 0
                if present == 1 or child_size < smallest:
                    for c in range(classes):
                        shares[c] = (note[LEFT, c] + laplace) / (child_size + classes * laplace)
                    for i in range(begin, end):
                        q = np.int64(reached[i, QUERY])
                        for c in range(classes):
                            sums[q, c] += reached[i, PATHS] * shares[c]
                        totals[q] += reached[i, PATHS]
                    continue
                for i in range(begin, end):  # next to what is kept already
                    reached[n_reached + i - begin, QUERY] = reached[i, QUERY]
                    reached[n_reached + i - begin, PATHS] = reached[i, PATHS]
                found = _look_up(table, nodes, key_hash, n_child)
                other = table[found]
                if other != NOTHING:
                    if n_segments == len(segments):
                        kept_segments = _grown(kept_segments, n_segments + 1)
                        segments = borrowed(kept_segments)
                    segments[n_segments, BEGIN], segments[n_segments, AFTER] = n_reached, NOTHING
                    segments[n_segments, NUMBER] = end - begin
                    if nodes[other, MORE] == NOTHING:
                        nodes[other, MORE] = n_segments
                    else:
                        segments[nodes[other, LAST], AFTER] = n_segments
                    nodes[other, LAST] = n_segments
                    n_segments += 1
                    n_reached += end - begin
                    continue
                if n_nodes == len(nodes):
                    kept_nodes = _grown(kept_nodes, n_nodes + 1)
                    nodes = borrowed(kept_nodes)
                nodes[n_nodes, ROWS], nodes[n_nodes, LENGTH] = rows_used, n_child
                nodes[n_nodes, HASH], nodes[n_nodes, NEXT] = key_hash, NOTHING
                nodes[n_nodes, FROM], nodes[n_nodes, COUNT] = n_reached, end - begin
                nodes[n_nodes, MORE] = NOTHING
                n_reached += end - begin
                rows_used += n_child
                table[found] = n_nodes
                if head[child_size] == NOTHING:
                    head[child_size] = n_nodes
                else:
                    nodes[tail[child_size], NEXT] = n_nodes
                tail[child_size] = n_nodes
                n_nodes += 1
                of_size[child_size] += 1
                n_split += 1
                while 0 < max_nodes < n_split:  # those of the least size are not split
                    while head[smallest] != NOTHING:
                        nodes[head[smallest], ROWS] = DONE
                        head[smallest] = nodes[head[smallest], NEXT]
                    n_split -= of_size[smallest]
                    smallest += 1
                if 2 * n_nodes > len(table):
                    kept_table = np.full(4 * len(table), NOTHING, np.int32)
                    table = borrowed(kept_table)
                    for each in range(1, n_nodes):
                        at = _look_up(table, nodes, nodes[each, HASH], nodes[each, LENGTH])
                        table[at] = each
            nodes[node, ROWS] = DONE
    keep((kept_rows, kept_nodes, kept_segments, kept_reached, kept_table))
    return smallest
