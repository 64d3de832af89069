"""The best tests of one node, for each of the queries that reach it."""

from __future__ import annotations

import numpy as np
from numba import njit

from stakes.learn.trees._entropy import (
    BOTH,
    BOTH_KNOWN,
    CLASS,
    CODE,
    COUNTS,
    FEW,
    KNOWN,
    LEFT,
    NEVER,
    NOTHING,
    ORDER,
    STRIDE,
    WEIGHT,
    arrange,
    count_below,
    entropy,
    fill_both,
    fill_terms,
    middle,
    node_threshold,
    running_best,
    sort_few,
    sort_many,
    sum_side,
    units,
    value_gains,
)
from stakes.learn.trees._prepare import NO_RANK
from stakes.learn.trees._vectors import (
    ABOVE,
    BELOW,
    HIGH,
    HIGHEST,
    LEFT_GAIN,
    LOW,
    MANY,
    MOST_CLASSES,
    RIGHT_GAIN,
    SCORE,
    SPLIT,
    best_splits,
    bounded_splits,
    lent,
)
from stakes.learn.trees._workspace import LARGEST_TABLE, find_table

RANKS, MOST_RANKS = 16, 0xFFFF
"""A gain with the rank of its attribute below it, the first attribute's being the highest."""


@njit(cache=True, nogil=True, error_model="numpy")
def tests_of_one(data, rules, workspace, node, batch):
    """Write the best tests of the first query at a node, for those who have nothing to lend."""
    batch.asked[0] = 0
    best_tests(lent(data), lent(rules), lent(workspace), lent(node), lent(batch), 1)


@njit(cache=True, nogil=True, error_model="numpy")
def rows_of_one(data, workspace, node, key, into):
    """Write the rows of a node that pass a test, likewise."""
    return take_rows(lent(data), lent(workspace), lent(node), key, into)


@njit(cache=True, nogil=True, error_model="numpy")
def best_tests(data, rules, workspace, node, batch, n_asked):
    """Write the best tests of each query at a node, and the class where a test leaves one only.

    A test is a number: its attribute times `stride`, and its choice, twice a code and one more for
    the side above it. By information, it gains the same on all sides. In small nodes most
    attributes are looked at together, in vectors; the rest one by one, until all queries have as
    many tests as they may that leave one class only. Tests that gain too little beside the best are
    left out.
    """
    small = rules.at_node and node.length <= MANY
    table_size, present, begin = 0, 0, np.int64(NOTHING)
    if small:
        table_size, present = arrange(workspace.note, LARGEST_TABLE)
    in_vectors = small and present <= MOST_CLASSES
    if in_vectors and table_size:
        begin = find_table(rules, workspace, present, table_size)
    if begin != NOTHING:
        whole, highest_gain = 0.0, np.int64(workspace.gains[begin])
        best_splits(data, workspace, node, begin)
        _note_sides(data, workspace)
        _note_gains(data, workspace, begin, table_size)
    else:
        whole = _node_entropy(rules, workspace)
        highest_gain = units(whole)
        if in_vectors:
            bounded_splits(data, rules, workspace, node, whole)
            _note_sides(data, workspace)
    n_rest = _note_rest(data, workspace, in_vectors)
    if n_rest and begin != NOTHING:
        whole = _node_entropy(rules, workspace)
        highest_gain = units(whole)
    n_done = _look_alone(data, rules, workspace, node, batch, n_asked, n_rest, whole, highest_gain)
    for i in range(n_asked):
        _pack_gains(data, rules, workspace, batch, i, n_rest, n_done)
        _write_best(
            data, rules, workspace, node, batch, i, highest_gain, begin, table_size, present
        )


@njit(error_model="numpy")
def _node_entropy(rules, workspace):
    """Return the entropy of a node, and tabulate the terms of its subsets."""
    fill_terms(workspace.note, rules.balanced, workspace.log, workspace.term)
    mass, terms = sum_side(workspace.note, COUNTS, workspace.term)
    return entropy(mass, terms)


@njit(error_model="numpy", forceinline=True)
def _note_sides(data, workspace):
    """Note the ranks beside each threshold that was found in vectors."""
    for a in range(len(data.known)):
        workspace.sides[LOW, a], workspace.sides[HIGH, a] = (
            2 * workspace.found[BELOW, a],
            2 * workspace.found[ABOVE, a],
        )


@njit(error_model="numpy", forceinline=True)
def _note_gains(data, workspace, begin, size):
    """Note what the sides of each split gain by a table."""
    found, sides, gains = workspace.found, workspace.sides, workspace.gains
    for a in range(len(data.known)):
        split, mirror = begin + found[SPLIT, a], begin + size - 1 - found[SPLIT, a]
        sides[LEFT_GAIN, a] = gains[split] * (found[SCORE, a] != NEVER)
        sides[RIGHT_GAIN, a] = gains[mirror] * (found[SCORE, a] != NEVER)


@njit(error_model="numpy", forceinline=True)
def _note_rest(data, workspace, in_vectors):
    """Note which attributes are to be looked at one by one; return how many."""
    alone, n_rest = workspace.alone, 0
    for a in range(len(data.known)):
        alone[a] = not in_vectors
    if not (data.plain and in_vectors):
        for a in range(len(data.known)):
            missing = workspace.found[HIGHEST, a] == data.missing
            alone[a] = data.discrete[a] or not in_vectors or missing
            workspace.rest[n_rest] = a
            n_rest += alone[a]
            if alone[a]:
                workspace.sides[LEFT_GAIN, a] = workspace.sides[RIGHT_GAIN, a] = 0
    return n_rest


@njit(error_model="numpy")
def _look_alone(data, rules, workspace, node, batch, n_asked, n_rest, whole, highest_gain):
    """Write the tests of the rest of the attributes, one by one; return how many were needed."""
    both_filled, n_done = False, 0
    for i in range(n_asked):
        workspace.pure[i] = 0
    while n_done < n_rest and not _content(rules, workspace, n_asked):
        a = workspace.rest[n_done]
        n_done += 1
        if node.length <= FEW:
            sort_few(data, workspace, node, a)
        else:
            sort_many(data, workspace, node, a)
        n_known = node.length
        while n_known > 0 and workspace.places[n_known - 1] >= data.known[a]:
            n_known -= 1
        if data.discrete[a]:
            _value_tests(
                data, rules, workspace, node, batch, n_asked, a, n_known, whole, highest_gain
            )
            continue
        n, which, both = node.size, COUNTS, BOTH
        if n_known < node.length:
            n, which, both = _count_known(data, workspace, a, n_known), KNOWN, BOTH_KNOWN
        if not rules.at_node:
            _query_tests(
                data, rules, workspace, node, batch, n_asked, a, n_known, which, whole, highest_gain
            )  # fmt: skip
            continue
        if which == KNOWN or not both_filled:
            fill_both(workspace.note, which, workspace.term, both)
            both_filled = both_filled or which == COUNTS
        _node_test(
            data, rules, workspace, batch, n_asked, a, n_known, n, which, both, whole, highest_gain
        )  # fmt: skip
    return n_done


@njit(error_model="numpy", forceinline=True)
def _content(rules, workspace, n_asked):
    """Tell whether all queries have as many tests as they may that leave one class only."""
    i = 0
    while i < n_asked and workspace.pure[i] >= rules.max_tests:
        i += 1
    return i == n_asked


@njit(error_model="numpy")
def _count_known(data, workspace, a, n_known):
    """Count the rows of each class whose value is known; return how many they are in all."""
    note, n = workspace.note, 0
    for c in range(note.shape[1]):
        note[KNOWN, c] = 0
    for i in range(n_known):
        this = data.entry[a, workspace.places[i]]
        note[KNOWN, this & CLASS] += (this >> WEIGHT) & CLASS
        n += (this >> WEIGHT) & CLASS
    return n


@njit(error_model="numpy")
def _value_tests(data, rules, workspace, node, batch, n_asked, a, n_known, whole, highest_gain):
    """Write each query's test of a discrete attribute: the value that it has."""
    n_seen = value_gains(data, rules, workspace, a, n_known, node.size, whole)
    for i in range(n_asked):
        code = int(batch.values[batch.asked[i], a])
        gain = max(workspace.gain_of[code], 0) if code >= 0 else 0
        workspace.gain_of_query[i, a], workspace.choice_of_query[i, a] = gain, 2 * code
        workspace.pure[i] += gain == highest_gain
    for i in range(n_seen):
        workspace.gain_of[workspace.seen[i]] = NOTHING


@njit(error_model="numpy")
def _node_test(
    data, rules, workspace, batch, n_asked, a, n_known, n, which, both, whole, highest_gain
):
    """Write the test of an attribute that is best for all queries together."""
    after, left_entropy, right_entropy = node_threshold(
        data, rules, workspace, a, n_known, n, which, both
    )
    if after != NOTHING:
        sides, places, start = workspace.sides, workspace.places, data.value_start[a]
        left_gain = max(units(whole - left_entropy), 0)
        right_gain = max(units(whole - right_entropy), 0)
        low, high = data.entry[a, places[after]] >> CODE, data.entry[a, places[after + 1]] >> CODE
        cut = middle(data.value[start + low], data.value[start + high])
        sides[LEFT_GAIN, a], sides[RIGHT_GAIN, a] = left_gain, right_gain
        sides[LOW, a], sides[HIGH, a] = 2 * low, 2 * high
        left_pure, right_pure = left_gain == highest_gain, right_gain == highest_gain
        if left_pure or right_pure:
            for i in range(n_asked):
                x = batch.values[batch.asked[i], a]
                workspace.pure[i] += ((x <= cut) & left_pure) | ((x > cut) & right_pure)


@njit(error_model="numpy")
def _query_tests(
    data, rules, workspace, node, batch, n_asked, a, n_known, which, whole, highest_gain
):
    """Write each query's own best test of an attribute: the side that it is on gains most."""
    places, entry, below, runs = workspace.places, data.entry, workspace.below, workspace.runs
    least, most = n_known, 0
    for i in range(n_asked):
        x = batch.values[batch.asked[i], a]
        below[i] = NOTHING
        if not np.isnan(x):
            below[i] = count_below(data, workspace, a, n_known, x)
            least, most = min(least, below[i]), max(most, below[i])
    last = n_known - 1
    n = node.size
    if most > 0 and last > 0:
        running_best(data, rules, workspace, a, n_known, n, whole, which, min(most, last), True)
    if least < last:
        running_best(data, rules, workspace, a, n_known, n, whole, which, least + 1, False)
    for i in range(n_asked):
        gain, choice, large = np.int64(0), np.int64(0), np.int64(0)
        if below[i] > 0 and last > 0:  # what lies above a threshold that is below the query
            split = min(below[i], last)
            gain, large = runs[0, split], runs[2, split]
            if gain:
                choice = 2 * (entry[a, places[runs[1, split] - 1]] >> CODE) + 1
        if NOTHING < below[i] < last:
            split = below[i] + 1
            if runs[3, split] > gain or (runs[3, split] == gain and runs[5, split] > large):
                gain = runs[3, split]
                if gain:
                    choice = 2 * (entry[a, places[runs[4, split] - 1]] >> CODE)
        workspace.gain_of_query[i, a], workspace.choice_of_query[i, a] = gain, choice
        workspace.pure[i] += gain == highest_gain


@njit(error_model="numpy", forceinline=True)
def _pack_gains(data, rules, workspace, batch, i, n_rest, n_done):
    """Write what each attribute gains for a query, with its rank; nothing if not looked at."""
    ranks, sides, packed, q = batch.ranks, workspace.sides, workspace.packed, batch.asked[i]
    if rules.at_node:
        # A vector loop. Between the two values beside a threshold, the gain of the better side
        # stands for that of the query's, which it bounds.
        for a in range(len(data.known)):
            mine = np.int64(ranks[q, a])
            left = sides[LEFT_GAIN, a] * (mine < sides[HIGH, a])
            right = sides[RIGHT_GAIN, a] * ((mine > sides[LOW, a]) & (mine < NO_RANK))
            packed[a] = max(left, right) << RANKS | (MOST_RANKS - a)
    for k in range(n_rest):
        a = workspace.rest[k]
        if k >= n_done:
            packed[a] = 0
        elif data.discrete[a] or not rules.at_node:
            packed[a] = workspace.gain_of_query[i, a] << RANKS | (MOST_RANKS - a)


@njit(error_model="numpy", forceinline=True)
def _write_best(data, rules, workspace, node, batch, i, highest_gain, begin, table_size, present):
    """Write the best tests of a query, from the one that gains most on."""
    packed, sides, value = workspace.packed, workspace.sides, data.value
    q = batch.asked[i]
    count, last, least_gain = 0, np.int64(1) << 62, 0.0
    while count < rules.max_tests:
        highest = np.int64(0)
        for a in range(len(data.known)):
            highest = max(highest, packed[a] * (packed[a] < last))
        last = highest
        gain, a = highest >> RANKS, MOST_RANKS - (highest & MOST_RANKS)
        if gain == 0 or gain + 1 < least_gain:
            break
        if data.discrete[a] or not rules.at_node:
            choice = workspace.choice_of_query[i, a]
        else:
            rank, low_rank, high_rank = batch.ranks[q, a], sides[LOW, a], sides[HIGH, a]
            above = rank >= high_rank
            if low_rank < rank < high_rank:
                start = data.value_start[a]
                cut = middle(value[start + (low_rank >> 1)], value[start + (high_rank >> 1)])
                above = batch.values[q, a] > cut
                true_gain = sides[RIGHT_GAIN if above else LEFT_GAIN, a]
                if true_gain < gain:  # its turn comes again, below others that gain more
                    packed[a] = true_gain << RANKS | (MOST_RANKS - a)
                    continue
            choice = low_rank + above
        only = np.int64(NOTHING)
        if gain == highest_gain and begin != NOTHING and not workspace.alone[a]:
            split = np.int64(workspace.found[SPLIT, a])
            split = table_size - 1 - split if choice & 1 else split
            only = _only_class(workspace.note, present, split)
        elif gain == highest_gain:
            only = _class_of_first(data, node, a, choice)
        if count == 0:
            least_gain = rules.gain_ratio * gain
        batch.gains[i, count], batch.onlys[i, count] = gain, only
        batch.keys[i, count] = a * data.stride + choice
        count += 1
    batch.n_best[i] = count


@njit(error_model="numpy", forceinline=True)
def _only_class(note, present, split):
    """Return the only class of a split: the last whose stride is not more, for the strides rise."""
    only = np.int64(NOTHING)
    for k in range(present):
        if note[STRIDE, note[ORDER, k]] <= split:
            only = note[ORDER, k]
    return only


@njit(error_model="numpy", forceinline=True)
def _class_of_first(data, node, a, choice):
    """Return the class of the first row that passes a test."""
    j = node.first
    while not _passes(
        choice, np.int64(data.codes[node.rows[j], a]), data.discrete[a], data.missing
    ):
        j += 1
    return np.int64(data.row_class[node.rows[j]])


@njit(error_model="numpy", forceinline=True)
def _passes(choice, code, discrete, missing):
    """Tell whether a row with a code passes a test."""
    limit = choice >> 1
    if discrete:
        return code == limit
    if choice & 1:
        return limit < code < missing
    return code <= limit


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def take_rows(data, workspace, node, key, into):
    """Write the rows of a node that pass a test, and count them, as those on the left.

    Returns how many different ones, how many in all, and a hash of them.
    """
    rows, first, length, code, note = node.rows, node.first, node.length, data.code, workspace.note
    a, choice = key // data.stride, key % data.stride
    limit = choice >> 1
    kept, size, key_hash = 0, 0, 0
    if data.discrete[a]:
        for i in range(first, first + length):
            rows[into + kept] = rows[i]
            kept += np.int64(code[a, rows[i]]) == limit
    elif choice & 1:
        for i in range(first, first + length):  # without branches, which nobody could foretell
            this = np.int64(code[a, rows[i]])
            rows[into + kept] = rows[i]
            kept += (this > limit) & (this < data.missing)
    else:
        for i in range(first, first + length):
            rows[into + kept] = rows[i]
            kept += np.int64(code[a, rows[i]]) <= limit
    for c in range(note.shape[1]):
        note[LEFT, c] = 0
    for i in range(into, into + kept):
        row = rows[i]
        note[LEFT, data.row_class[row]] += data.row_weight[row]
        size += data.row_weight[row]
        key_hash += data.row_hash[row]
    return kept, size, key_hash
