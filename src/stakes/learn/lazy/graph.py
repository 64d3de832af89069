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
from stakes.learn.lazy.node import best_tests, take_rows
from stakes.learn.lazy.thresholds import NOTHING

DONE = -1


@njit(cache=True, nogil=True, error_model="numpy")
def _grown(array, needed):
    """Return a copy of an array with room for more."""
    larger = np.empty(max(needed, 2 * len(array)), array.dtype)
    larger[: len(array)] = array
    return larger


@njit(cache=True, nogil=True, error_model="numpy")
def _make_room(rows, needed, node_rows, node_length, n_nodes):
    """Return the rows with room for more, and how much is used: nodes that are done need none."""
    live = 0
    for node in range(n_nodes):
        if node_rows[node] != DONE:
            live += node_length[node]
    into = rows if 2 * (live + needed) <= len(rows) else np.empty(3 * (live + needed), rows.dtype)
    at = 0
    for node in range(n_nodes):  # in the order in which they lie, so they may move in place
        if node_rows[node] != DONE:
            for i in range(node_length[node]):
                into[at + i] = rows[node_rows[node] + i]
            node_rows[node] = at
            at += node_length[node]
    return into, at


@njit(cache=True, nogil=True, error_model="numpy")
def _look_up(table, node_hash, node_length, key, length):
    """Return the place in the hash table where a subset is, or would go."""
    mask = np.uint64(len(table) - 1)
    at = key & mask
    while table[at] != NOTHING and (
        node_hash[table[at]] != key or node_length[table[at]] != length
    ):
        at = (at + np.uint64(1)) & mask
    return at


@njit(cache=True, nogil=True, error_model="numpy")
def grow(data, rules, desk, stride, missing, queries, sums, totals, max_nodes):
    """Add each query's leaf shares, times the paths that lead there, to `sums` and `totals`.

    With a budget of nodes, which is 0 for none, the queries are to be the rows themselves, and at
    each node all its rows ask. Returns the size from which on nodes are split: with a budget, the
    least one from which on there are not more nodes than that.
    """
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
    slot_key, slot_size = np.empty(64, np.int64), np.empty(64, np.int64)
    slot_end = np.empty(64, np.int64)

    # All nodes: their rows, and the queries that reach them in segments, one for each parent.
    rows = np.empty(4 * n_rows + 64, np.int32)
    node_rows, node_length = np.empty(64, np.int64), np.empty(64, np.int64)
    node_hash, node_next = np.empty(64, np.uint64), np.empty(64, np.int32)
    node_first, node_last = np.empty(64, np.int32), np.empty(64, np.int32)
    segment_from, segment_size = np.empty(64, np.int64), np.empty(64, np.int64)
    segment_next = np.empty(64, np.int32)
    reached, reached_paths = np.empty(n_queries + 64, np.int32), np.empty(n_queries + 64)
    table = np.full(256, NOTHING, np.int32)
    head, tail = np.full(n_all + 1, NOTHING, np.int32), np.full(n_all + 1, NOTHING, np.int32)

    for row in range(n_rows):
        rows[row] = row
    for q in range(n_queries):
        reached[q], reached_paths[q] = q, 1.0
    n_nodes, n_segments, n_reached, rows_used = 1, 1, n_queries, n_rows
    node_rows[0], node_length[0], node_hash[0], node_next[0] = 0, n_rows, 0, NOTHING
    node_first[0], node_last[0] = 0, 0
    segment_from[0], segment_size[0], segment_next[0] = 0, n_queries, NOTHING
    head[n_all] = tail[n_all] = 0

    for size in range(n_all, 0, -1):
        while head[size] != NOTHING:
            node = head[size]
            head[size] = node_next[node]
            first, length = node_rows[node], node_length[node]

            n_asked = 0
            if max_nodes:
                n_asked, n_reached = length, 0
                for i in range(length):
                    asked[i], paths[i] = rows[first + i], 1.0
            segment = NOTHING if max_nodes else node_first[node]
            while segment != NOTHING:
                begin = segment_from[segment]
                for i in range(begin, begin + segment_size[segment]):
                    q = reached[i]
                    if met[q] == NOTHING:
                        met[q] = n_asked
                        asked[n_asked], paths[n_asked] = q, reached_paths[i]
                        n_asked += 1
                    else:
                        paths[met[q]] += reached_paths[i]
                segment = segment_next[segment]
            for i in range(n_asked):
                met[asked[i]] = NOTHING

            for c in range(classes):
                note[COUNTS, c] = 0
            for i in range(first, first + length):
                note[COUNTS, row_class[rows[i]]] += row_weight[rows[i]]
            best_tests(
                rows, first, length, size, queries, asked, n_asked, best, keys, onlys, n_best,
                max_tests, rules.gain_ratio, rules.min_leaf, rules.balanced, rules.at_node,
                rules.by_information, stride, missing, data.codes, data.position, data.entry, known,
                data.tied, discrete, data.value, data.value_start, row_class, row_weight,
                desk.log, desk.words, desk.summary, desk.at, desk.rank, desk.step, desk.starts,
                desk.share, desk.totals, desk.scored, desk.bounds, desk.least, desk.place,
                desk.found, desk.split_gains, desk.places, note, desk.term, desk.worth, desk.bound,
                desk.tangents, desk.runs, desk.gain_of, desk.seen, desk.below, desk.sides,
                desk.cuts, desk.gain_of_query, desk.choice_of_query, desk.packed, desk.rest,
                desk.alone, desk.pure, desk.table_of, desk.table_counts, desk.table_from,
                desk.tabled, desk.scores, desk.gains,
            )  # fmt: skip

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
                        if n_slots == len(slot_key):
                            slot_key = _grown(slot_key, n_slots + 1)
                            slot_size = _grown(slot_size, n_slots + 1)
                            slot_end = _grown(slot_end, n_slots + 1)
                        slot_of[key] = slot
                        slot_key[slot], slot_size[slot] = key, 0
                        n_slots += 1
                    slot_size[slot] += 1
                    n_chosen += 1
            if n_slots == 0:
                node_rows[node] = DONE
                continue
            if n_reached + n_chosen > len(reached):
                reached = _grown(reached, n_reached + n_chosen)
                reached_paths = _grown(reached_paths, n_reached + n_chosen)
            at = n_reached
            for slot in range(n_slots):
                slot_end[slot] = at
                at += slot_size[slot]
            for i in range(n_asked):
                for option in range(n_best[i]):
                    if keys[i, option] != NOTHING:
                        slot = slot_of[keys[i, option]]
                        reached[slot_end[slot]] = asked[i]
                        reached_paths[slot_end[slot]] = paths[i]
                        slot_end[slot] += 1

            for slot in range(n_slots):
                slot_of[slot_key[slot]] = NOTHING
                begin, end = slot_end[slot] - slot_size[slot], slot_end[slot]
                if rows_used + length > len(rows):
                    rows, rows_used = _make_room(rows, length, node_rows, node_length, n_nodes)
                    first = node_rows[node]
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
                        for c in range(classes):
                            sums[reached[i], c] += reached_paths[i] * shares[c]
                        totals[reached[i]] += reached_paths[i]
                    continue
                for i in range(begin, end):  # next to what is kept already
                    reached[n_reached + i - begin] = reached[i]
                    reached_paths[n_reached + i - begin] = reached_paths[i]
                if n_segments == len(segment_from):
                    segment_from = _grown(segment_from, n_segments + 1)
                    segment_size = _grown(segment_size, n_segments + 1)
                    segment_next = _grown(segment_next, n_segments + 1)
                segment_from[n_segments], segment_size[n_segments] = n_reached, end - begin
                segment_next[n_segments] = NOTHING
                n_reached += end - begin
                found = _look_up(table, node_hash, node_length, key_hash, n_child)
                other = table[found]
                if other != NOTHING:
                    segment_next[node_last[other]] = n_segments
                    node_last[other] = n_segments
                    n_segments += 1
                    continue
                if n_nodes == len(node_rows):
                    node_rows = _grown(node_rows, n_nodes + 1)
                    node_length = _grown(node_length, n_nodes + 1)
                    node_hash = _grown(node_hash, n_nodes + 1)
                    node_next = _grown(node_next, n_nodes + 1)
                    node_first = _grown(node_first, n_nodes + 1)
                    node_last = _grown(node_last, n_nodes + 1)
                node_rows[n_nodes], node_length[n_nodes] = rows_used, n_child
                node_hash[n_nodes], node_next[n_nodes] = key_hash, NOTHING
                node_first[n_nodes] = node_last[n_nodes] = n_segments
                rows_used += n_child
                table[found] = n_nodes
                if head[child_size] == NOTHING:
                    head[child_size] = n_nodes
                else:
                    node_next[tail[child_size]] = n_nodes
                tail[child_size] = n_nodes
                n_nodes += 1
                n_segments += 1
                of_size[child_size] += 1
                n_split += 1
                while 0 < max_nodes < n_split:  # those of the least size are not split
                    while head[smallest] != NOTHING:
                        node_rows[head[smallest]] = DONE
                        head[smallest] = node_next[head[smallest]]
                    n_split -= of_size[smallest]
                    smallest += 1
                if 2 * n_nodes > len(table):
                    table = np.full(4 * len(table), NOTHING, np.int32)
                    for each in range(1, n_nodes):
                        key_hash, n = node_hash[each], node_length[each]
                        table[_look_up(table, node_hash, node_length, key_hash, n)] = each
            node_rows[node] = DONE
    return smallest
