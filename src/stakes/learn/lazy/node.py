"""The best tests of one node, for each of the queries that reach it."""

from __future__ import annotations

import numpy as np
from numba import njit

from stakes.learn.lazy.bounds import bounded_splits
from stakes.learn.lazy.desk import LARGEST_TABLE, find_table
from stakes.learn.lazy.entropy import (
    BOTH,
    BOTH_KNOWN,
    COUNTS,
    KNOWN,
    NEVER,
    ORDER,
    STRIDE,
    arrange,
    entropy,
    fill_both,
    fill_terms,
    sum_side,
    units,
)
from stakes.learn.lazy.order import FEW, rank_few, sort_many
from stakes.learn.lazy.prepare import NO_RANK
from stakes.learn.lazy.thresholds import (
    CLASS,
    CODE,
    NOTHING,
    WEIGHT,
    count_below,
    middle,
    node_threshold,
    running_best,
    value_gains,
)
from stakes.learn.lazy.vectors import (
    ABOVE,
    BELOW,
    HIGHEST,
    MANY,
    MOST_CLASSES,
    SCORE,
    SPLIT,
    best_splits,
)

LEFT_GAIN, RIGHT_GAIN, LOW, HIGH = range(4)
"""What is noted of an attribute's test: the gains of its sides, and the ranks of the values beside
it."""

RANKS, MOST_RANKS = 16, 0xFFFF
"""A gain with the rank of its attribute below it, the first attribute's being the highest."""


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def best_tests(
    rows, first, length, size, queries, ranks, asked, n_asked, best, keys, onlys, n_best,
    max_tests, gain_ratio, min_leaf, balanced, at_node, by_information, stride, missing, plain,
    codes, position, entry, known, tied, discrete, value, value_start, row_class, row_weight,
    log, words, summary, at, rank, step, starts, share, totals, scored, bounds, least, place,
    found, split_gains, places, note, term, worth, bound, tangents, runs, gain_of, seen, below,
    sides, gain_of_query, choice_of_query, packed, rest, alone, pure,
    table_of, table_counts, table_from, tabled, scores, gains,
):  # fmt: skip
    """Write the best tests of each query at a node, and the class where a test leaves one only.

    A test is a number: its attribute times `stride`, and its choice, twice a code and one more for
    the side above it. By information, it gains the same on all sides. In small nodes most
    attributes are looked at together, in vectors; the rest one by one, until all queries have as
    many tests as they may that leave one class only. Tests that gain too little beside the best are
    left out.
    """
    few, attributes = length <= FEW, len(known)
    table_size, present, begin = 0, 0, NOTHING
    if at_node and length <= MANY:
        table_size, present = arrange(note, LARGEST_TABLE)
    if table_size and present <= MOST_CLASSES:
        begin = find_table(
            note, present, table_size, table_of, table_counts, table_from, tabled, scores, gains,
            balanced, by_information, min_leaf, log,
        )  # fmt: skip
    whole, highest_gain, terms_filled, both_filled = 0.0, np.int64(0), False, False
    if begin != NOTHING:
        highest_gain = np.int64(gains[begin])
        for i in range(length):
            row = rows[first + i]
            step[i] = note[STRIDE, row_class[row]] * row_weight[row]
        best_splits(
            codes, rows, first, length, attributes, step, scores, begin, totals, scored, found
        )
    bounded = begin == NOTHING and at_node and length <= MANY and present <= MOST_CLASSES
    if bounded:
        fill_terms(note, balanced, log, term)
        mass, terms = sum_side(note, COUNTS, term)
        whole = entropy(mass, terms)
        highest_gain, terms_filled = units(whole), True
        bounded_splits(
            codes, rows, first, length, attributes, size, min_leaf, by_information, whole,
            row_class, row_weight, note, term, step, starts, share, totals, bounds, least, place,
            found, split_gains,
        )  # fmt: skip
    in_vectors = begin != NOTHING or bounded
    for a in range(attributes):
        alone[a] = not in_vectors
        sides[LOW, a], sides[HIGH, a] = 2 * found[BELOW, a], 2 * found[ABOVE, a]
        sides[LEFT_GAIN, a] = sides[RIGHT_GAIN, a] = 0
    if begin != NOTHING:
        for a in range(attributes):
            split, mirror = begin + found[SPLIT, a], begin + table_size - 1 - found[SPLIT, a]
            sides[LEFT_GAIN, a] = gains[split] * (found[SCORE, a] != NEVER)
            sides[RIGHT_GAIN, a] = gains[mirror] * (found[SCORE, a] != NEVER)
    elif bounded:
        for a in range(attributes):
            sides[LEFT_GAIN, a], sides[RIGHT_GAIN, a] = split_gains[0, a], split_gains[1, a]
    n_rest = 0
    if not (plain and in_vectors):
        for a in range(attributes):
            alone[a] = discrete[a] or not in_vectors or found[HIGHEST, a] == missing
            rest[n_rest] = a
            n_rest += alone[a]
            if alone[a]:
                sides[LEFT_GAIN, a] = sides[RIGHT_GAIN, a] = 0

    for i in range(n_asked):
        pure[i] = 0
    n_done = 0
    while n_done < n_rest:
        content = True
        for i in range(n_asked):
            if pure[i] < max_tests:
                content = False
                break
        if content:
            break
        a = rest[n_done]
        n_done += 1

        if few:
            rank_few(rows, first, length, position, a, at, rank)
            for i in range(length):
                places[rank[i]] = at[i]
        else:
            sort_many(rows, first, length, position, a, position.shape[1], words, summary, places)
        n_known = length
        while n_known > 0 and places[n_known - 1] >= known[a]:
            n_known -= 1
        if not terms_filled:
            fill_terms(note, balanced, log, term)
            mass, terms = sum_side(note, COUNTS, term)
            whole = entropy(mass, terms)
            highest_gain, terms_filled = units(whole), True

        if discrete[a]:
            n_seen = value_gains(
                places, n_known, entry, a, size, min_leaf, by_information, whole, note, term,
                gain_of, seen,
            )  # fmt: skip
            for i in range(n_asked):
                code = int(queries[asked[i], a])
                gain = max(gain_of[code], 0) if code >= 0 else 0
                gain_of_query[i, a], choice_of_query[i, a] = gain, 2 * code
                pure[i] += gain == highest_gain
            for i in range(n_seen):
                gain_of[seen[i]] = NOTHING
            continue

        n, which, both = size, COUNTS, BOTH
        if n_known < length:
            n, which, both = 0, KNOWN, BOTH_KNOWN
            for c in range(note.shape[1]):
                note[KNOWN, c] = 0
            for i in range(n_known):
                this = entry[a, places[i]]
                note[KNOWN, this & CLASS] += (this >> WEIGHT) & CLASS
                n += (this >> WEIGHT) & CLASS

        if not at_node:
            _query_tests(
                a, places, n_known, entry, tied[a], value, value_start[a], size, min_leaf, whole,
                balanced, log, which, note, term, worth, runs, queries, asked, n_asked, below,
                gain_of_query, choice_of_query, pure, highest_gain,
            )  # fmt: skip
            continue

        if which == KNOWN or not both_filled:
            fill_both(note, which, term, both)
            both_filled = both_filled or which == COUNTS
        after, left_entropy, right_entropy = node_threshold(
            places, n_known, entry, a, tied[a], n, min_leaf, by_information, which, note, term,
            both, tangents, worth, bound,
        )  # fmt: skip
        if after != NOTHING:
            left_gain = max(units(whole - left_entropy), 0)
            right_gain = max(units(whole - right_entropy), 0)
            low, high = entry[a, places[after]] >> CODE, entry[a, places[after + 1]] >> CODE
            cut = middle(value[value_start[a] + low], value[value_start[a] + high])
            sides[LEFT_GAIN, a], sides[RIGHT_GAIN, a] = left_gain, right_gain
            sides[LOW, a], sides[HIGH, a] = 2 * low, 2 * high
            left_pure, right_pure = left_gain == highest_gain, right_gain == highest_gain
            if left_pure or right_pure:
                for i in range(n_asked):
                    x = queries[asked[i], a]
                    pure[i] += ((x <= cut) & left_pure) | ((x > cut) & right_pure)

    for i in range(n_asked):
        q = asked[i]
        if at_node:
            # A vector loop. Between the two values beside a threshold, the gain of the better side
            # stands for that of the query's, which it bounds.
            for a in range(attributes):
                mine = np.int64(ranks[q, a])
                left = sides[LEFT_GAIN, a] * (mine < sides[HIGH, a])
                right = sides[RIGHT_GAIN, a] * ((mine > sides[LOW, a]) & (mine < NO_RANK))
                packed[a] = max(left, right) << RANKS | (MOST_RANKS - a)
        for k in range(n_rest):
            a = rest[k]
            if k >= n_done:
                packed[a] = 0
            elif discrete[a] or not at_node:
                packed[a] = gain_of_query[i, a] << RANKS | (MOST_RANKS - a)
        count, last, least_gain = 0, np.int64(1) << 62, 0.0
        while count < max_tests:
            highest = np.int64(0)
            for a in range(attributes):
                highest = max(highest, packed[a] * (packed[a] < last))
            last = highest
            gain, a = highest >> RANKS, MOST_RANKS - (highest & MOST_RANKS)
            if gain == 0 or gain + 1 < least_gain:
                break
            if discrete[a] or not at_node:
                choice = choice_of_query[i, a]
            else:
                low_rank, high_rank = sides[LOW, a], sides[HIGH, a]
                above = ranks[q, a] >= high_rank
                if low_rank < ranks[q, a] < high_rank:
                    start = value_start[a]
                    cut = middle(value[start + (low_rank >> 1)], value[start + (high_rank >> 1)])
                    above = queries[q, a] > cut
                    true_gain = sides[RIGHT_GAIN if above else LEFT_GAIN, a]
                    if true_gain < gain:  # its turn comes again, below others that gain more
                        packed[a] = true_gain << RANKS | (MOST_RANKS - a)
                        continue
                choice = low_rank + above
            only = np.int64(NOTHING)
            if gain == highest_gain and begin != NOTHING and not alone[a]:
                split = np.int64(found[SPLIT, a])
                split = table_size - 1 - split if choice & 1 else split
                for k in range(present):  # the strides rise
                    if note[STRIDE, note[ORDER, k]] <= split:
                        only = note[ORDER, k]
            elif gain == highest_gain:
                j = first
                while not _passes(choice, np.int64(codes[rows[j], a]), discrete[a], missing):
                    j += 1
                only = np.int64(row_class[rows[j]])
            if count == 0:
                least_gain = gain_ratio * gain
            best[i, count], keys[i, count], onlys[i, count] = gain, a * stride + choice, only
            count += 1
        n_best[i] = count


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def _query_tests(
    a, places, n_known, entry, tied, value, first_value, size, min_leaf, whole, balanced, log,
    which, note, term, worth, runs, queries, asked, n_asked, below,
    gain_of_query, choice_of_query, pure, highest_gain,
):  # fmt: skip
    """Write each query's own best test of an attribute: the side that it is on gains most."""
    least, most = n_known, 0
    for i in range(n_asked):
        x = queries[asked[i], a]
        below[i] = NOTHING
        if not np.isnan(x):
            below[i] = count_below(places, n_known, entry, a, value, first_value, x)
            least, most = min(least, below[i]), max(most, below[i])
    last = n_known - 1
    if most > 0 and last > 0:
        running_best(
            places, n_known, entry, a, tied, min(most, last), True, size, min_leaf, whole,
            not balanced, log, which, note, term, worth, runs,
        )  # fmt: skip
    if least < last:
        running_best(
            places, n_known, entry, a, tied, least + 1, False, size, min_leaf, whole,
            not balanced, log, which, note, term, worth, runs,
        )  # fmt: skip
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
        gain_of_query[i, a], choice_of_query[i, a] = gain, choice
        pure[i] += gain == highest_gain


@njit(cache=True, nogil=True, error_model="numpy")
def _passes(choice, code, discrete, missing):
    """Tell whether a row with a code passes a test."""
    limit = choice >> 1
    if discrete:
        return code == limit
    if choice & 1:
        return limit < code < missing
    return code <= limit


@njit(cache=True, nogil=True, error_model="numpy", forceinline=True)
def take_rows(
    rows, first, length, key, stride, into, code, missing, discrete, row_class, row_weight,
    row_hash, note, side,
):  # fmt: skip
    """Write the rows of a node that pass a test, and count them.

    Returns how many different ones, how many in all, and a hash of them.
    """
    a, choice = key // stride, key % stride
    limit = choice >> 1
    kept, size, key_hash = 0, 0, 0
    if discrete[a]:
        for i in range(first, first + length):
            rows[into + kept] = rows[i]
            kept += np.int64(code[a, rows[i]]) == limit
    elif choice & 1:
        for i in range(first, first + length):  # without branches, which nobody could foretell
            this = np.int64(code[a, rows[i]])
            rows[into + kept] = rows[i]
            kept += (this > limit) & (this < missing)
    else:
        for i in range(first, first + length):
            rows[into + kept] = rows[i]
            kept += np.int64(code[a, rows[i]]) <= limit
    for c in range(note.shape[1]):
        note[side, c] = 0
    for i in range(into, into + kept):
        row = rows[i]
        note[side, row_class[row]] += row_weight[row]
        size += row_weight[row]
        key_hash += row_hash[row]
    return kept, size, key_hash
