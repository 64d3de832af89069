"""Entropies of a node's subsets, from tables of whole numbers of rows.

A class weighs 1 for each of its rows (plain), or 1 in all in the node (balanced). With mass r of
each class in a subset, M their sum, the entropy is log M - (Σ r log r)/M, in bits. All gains and
scores are rounded to nine decimals before they are compared, so that ties do not depend on the
order of a sum.
"""

from __future__ import annotations

from math import floor, log2

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

UNIT = 1e9
NEVER = (1 << 32) - 1
"""The score of a threshold that leaves too few rows on a side."""

COUNTS, KNOWN, LEFT, RIGHT, UNITS, START, STRIDE, ORDER, ORDERED = range(9)
"""What is noted of each class at a node: rows, rows with a known value, rows on either side, what
makes a mass of 1, where its terms begin, its stride in a table, and the classes by their size."""

TERMS, BOTH, BOTH_KNOWN = range(3)
"""The tables of terms: of a side, and of both sides by the number on the left."""


@njit(error_model="numpy")
def units(value):
    """Round to nine decimals, as a whole number."""
    return np.int64(floor(value * UNIT + 0.5))


@njit(error_model="numpy")
def entropy(mass, terms):
    """Return the entropy of a subset, given its mass and its sum of r log r."""
    return log2(mass) - terms / mass


@njit(error_model="numpy")
def fill_terms(note, balanced, log, term):
    """Tabulate r log r of each class, for each number of its rows in a subset of a node."""
    at = 0
    for c in range(note.shape[1]):
        n = note[COUNTS, c]
        unit = max(n, 1) if balanced else 1
        note[START, c], note[UNITS, c] = at, unit
        term[TERMS, at] = 0.0
        for k in range(1, n + 1):
            term[TERMS, at + k] = k / unit * (log[k] - log[unit])
        at += n + 1


@njit(error_model="numpy")
def fill_both(note, which, term, into):
    """Tabulate the terms of both sides, by the number of a class on the left side."""
    for c in range(note.shape[1]):
        start, n = note[START, c], note[which, c]
        for k in range(n + 1):
            term[into, start + k] = term[TERMS, start + k] + term[TERMS, start + n - k]


@njit(error_model="numpy", forceinline=True)
def sum_side(note, side, term):
    """Return the mass and the sum of terms of a subset."""
    mass, terms = 0.0, 0.0
    for c in range(note.shape[1]):
        k = note[side, c]
        if k:
            mass += k / note[UNITS, c]
            terms += term[TERMS, note[START, c] + k]
    return mass, terms


@njit(error_model="numpy", forceinline=True)
def arrange(note, most):
    """Lay out a table over the counts of all subsets of a node; return its size, and the classes.

    Nodes with the same counts in another order of the classes share a table, so the classes are
    put in order. The size is 0 if it would be more than `most`.
    """
    present = 0
    for c in range(note.shape[1]):
        n = note[COUNTS, c]
        if n:
            at = present
            while at > 0 and note[ORDERED, at - 1] < n:
                note[ORDER, at], note[ORDERED, at] = note[ORDER, at - 1], note[ORDERED, at - 1]
                at -= 1
            note[ORDER, at], note[ORDERED, at] = c, n
            present += 1
    size = 1
    for k in range(present):
        note[STRIDE, note[ORDER, k]] = size
        size *= note[ORDERED, k] + 1
        if size > most:
            return 0, present
    return size, present


@njit(error_model="numpy")
def fill_table(begin, size, scores, gains, note, present, balanced, by_information, min_leaf, log):
    """Write the scores and gains of all splits of a node; a split's mirror image has its score.

    By information, both sides gain the same: what is left is the mean entropy of both.
    """
    whole, whole_terms = 0.0, 0.0
    for k in range(present):
        unit = note[ORDERED, k] if balanced else 1
        whole += note[ORDERED, k] / unit
        whole_terms += note[ORDERED, k] / unit * (log[note[ORDERED, k]] - log[unit])
    h = entropy(whole, whole_terms)
    for index in range((size + 1) // 2):
        rest = index
        n_left, mass_left, terms_left = 0, 0.0, 0.0
        n_right, mass_right, terms_right = 0, 0.0, 0.0
        for k in range(present):
            unit = note[ORDERED, k] if balanced else 1
            n = rest % (note[ORDERED, k] + 1)
            rest //= note[ORDERED, k] + 1
            if n:
                n_left += n
                mass_left += n / unit
                terms_left += n / unit * (log[n] - log[unit])
            n = note[ORDERED, k] - n
            if n:
                n_right += n
                mass_right += n / unit
                terms_right += n / unit * (log[n] - log[unit])
        h_left = entropy(mass_left, terms_left) if n_left else 0.0
        h_right = entropy(mass_right, terms_right) if n_right else 0.0
        mean = (mass_left * h_left + mass_right * h_right) / (mass_left + mass_right)
        if by_information:
            h_left = h_right = mean
        mirror = size - 1 - index
        gains[begin + index] = gains[begin + mirror] = 0
        if n_left >= min_leaf and n_right:
            gains[begin + index] = max(units(h - h_left), 0)
        if n_right >= min_leaf and n_left:
            gains[begin + mirror] = max(units(h - h_right), 0)
        score = np.int64(NEVER)
        if n_left >= min_leaf and n_right >= min_leaf:
            score = units(mean)
        scores[begin + index] = scores[begin + mirror] = score
    gains[begin] = units(h)  # nothing on one side is no split: room for the highest gain


# The rows in the order of an attribute, and the tests that it offers at a node.

QUARTER, HALF, FEW = 16, 32, 64
"""Up to here, ranks are counted; beyond, rows are marked in a bit set, which is read back."""

LAST = (1 << 31) - 1
"""Beyond all positions; as a 16-bit number, 65535."""

SUMMARY_ABOVE = 64
"""From how many words on a bit set has a second level that tells which words are used."""


@intrinsic
def _lowest_bit(_context, _word):
    """Return the place of the lowest bit that is set."""

    def code(_context, builder, _signature, arguments):
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), code


@intrinsic(prefer_literal=True)
def _count_less(_context, _values, _value, width):
    """Return how many of the first so many values are less than one, in vector instructions."""
    lanes = width.literal_value
    signature = types.int64(_values, _value, width)

    def code(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        element = context.get_data_type(signature.args[0].dtype)
        vector = ir.VectorType(element, lanes)
        values = builder.load(builder.bitcast(array.data, vector.as_pointer()), align=2)
        value = context.cast(builder, arguments[1], signature.args[1], signature.args[0].dtype)
        one = builder.insert_element(
            ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0)
        )
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), lanes), None)
        same = builder.shuffle_vector(one, one, zeros)
        less = builder.icmp_unsigned("<", values, same)
        bits = builder.bitcast(less, ir.IntType(lanes))
        count = builder.ctpop(bits)
        return count if lanes == FEW else builder.zext(count, ir.IntType(64))

    return signature, code


@njit(error_model="numpy")
def sort_few(data, workspace, node, a):
    """Write the places of a few rows in an attribute's order, ascending."""
    at, rank, n = workspace.at, workspace.rank, node.length
    for i in range(n):
        at[i] = data.position[a, node.rows[node.first + i]]
    if n <= QUARTER:
        for i in range(n, QUARTER):
            at[i] = LAST
        for i in range(n):
            rank[i] = _count_less(at, at[i], QUARTER)
    elif n <= HALF:
        for i in range(n, HALF):
            at[i] = LAST
        for i in range(n):
            rank[i] = _count_less(at, at[i], HALF)
    else:
        for i in range(n, FEW):
            at[i] = LAST
        for i in range(n):
            rank[i] = _count_less(at, at[i], FEW)
    for i in range(n):
        workspace.places[rank[i]] = at[i]


@njit(error_model="numpy")
def sort_many(data, workspace, node, a):
    """Write the places of rows in an attribute's order, ascending; words must be empty."""
    words, summary, places = workspace.words, workspace.summary, workspace.places
    one = np.uint64(1)
    n_words = (data.position.shape[1] >> 6) + 1
    two_levels = n_words > SUMMARY_ABOVE
    for i in range(node.first, node.first + node.length):
        place = np.int64(data.position[a, node.rows[i]])
        words[place >> 6] |= one << np.uint64(place & 63)
        if two_levels:
            summary[place >> 12] |= one << np.uint64((place >> 6) & 63)
    found = 0
    if not two_levels:
        for block in range(n_words):
            word = words[block]
            words[block] = 0
            while word:
                places[found] = (block << 6) + _lowest_bit(word)
                found += 1
                word &= word - one
        return
    for top in range((n_words >> 6) + 1):
        blocks = summary[top]
        summary[top] = 0
        while blocks:
            block = (top << 6) + _lowest_bit(blocks)
            blocks &= blocks - one
            word = words[block]
            words[block] = 0
            while word:
                places[found] = (block << 6) + _lowest_bit(word)
                found += 1
                word &= word - one


SLACK = 3e-9
"""What sums that were updated row by row may be off, and rounding; if nearer, sum again."""

SURE = 0.01
"""How far, in units, a gain must be from where rounding turns for such a sum to do."""

NOTHING = -1
CLASS, WEIGHT, CODE = 0xFFFF, 16, 32
"""An entry holds the code of a value, the weight of its row, and in its lowest bits the class."""


@njit(cache=True, nogil=True, error_model="numpy")
def middle(low, high):
    """Return the threshold between two values."""
    half = low + (high - low) / 2
    return low if half >= high else half


@njit(error_model="numpy")
def fill_tangents(tangents):
    """Write tangents of x log x + (1 - x) log(1 - x) in equal parts of 0 … 1, and their errors."""
    parts = tangents.shape[1]
    for part in range(parts):
        x = (part + 0.5) / parts
        height = x * log2(x) + (1 - x) * log2(1 - x)
        slope = log2(x) - log2(1 - x)
        error = 0.0
        for end in (part / parts, (part + 1) / parts):
            there = end * log2(end) + (1 - end) * log2(1 - end) if 0 < end < 1 else 0.0
            error = max(error, there - (height + slope * (end - x)))
        tangents[0, part], tangents[1, part] = height - slope * x, slope
        tangents[2, part] = error


@njit(error_model="numpy")
def node_threshold(data, rules, workspace, a, n_known, size, which, both):
    """Return where the sides' mean entropy is least: after which place, and both entropies.

    By information, their mean is returned for both.

    The masses' part of it is a convex function. Its tangents give a lower bound for each
    threshold; only those that could be the least are computed.
    """
    places, entry, note, term = workspace.places, data.entry, workspace.note, workspace.term
    tangents, worth, bound = workspace.tangents, workspace.worth, workspace.bound
    classes, min_leaf, tied = note.shape[1], rules.min_leaf, data.tied[a]
    best, after, left_entropy, right_entropy = np.int64(1) << 62, NOTHING, 0.0, 0.0
    if n_known < 2:  # noqa: PLR2004
        return after, left_entropy, right_entropy
    whole, terms = 0.0, 0.0
    for c in range(classes):
        note[LEFT, c] = note[START, c]
        whole += note[which, c] / note[UNITS, c]
        terms += term[both, note[START, c]]
    for c in range(classes):
        worth[c] = 1 / (whole * note[UNITS, c])
    slack = SLACK * whole
    mass, n, cut = 0.0, 0, np.inf
    parts = tangents.shape[1]
    last_candidate = NOTHING
    for i in range(n_known - 1):
        this = entry[a, places[i]]
        c = this & CLASS
        weight = (this >> WEIGHT) & CLASS
        k = note[LEFT, c]
        terms += term[both, k + weight] - term[both, k]
        note[LEFT, c] = k + weight
        mass += weight * worth[c]
        n += weight
        bound[i] = np.inf
        if n >= min_leaf and size - n >= min_leaf:
            part = min(int(mass * parts), parts - 1)
            about = whole * (tangents[0, part] + tangents[1, part] * mass) - terms
            if about < cut and not (tied and this >> CODE == entry[a, places[i + 1]] >> CODE):
                bound[i] = about
                last_candidate = i
                cut = min(cut, about + whole * tangents[2, part] + slack)
    for c in range(classes):
        note[LEFT, c] = 0
    for i in range(last_candidate + 1):
        this = entry[a, places[i]]
        note[LEFT, this & CLASS] += (this >> WEIGHT) & CLASS
        if bound[i] < cut:
            for c in range(classes):
                note[RIGHT, c] = note[which, c] - note[LEFT, c]
            mass_left, terms_left = sum_side(note, LEFT, term)
            mass_right, terms_right = sum_side(note, RIGHT, term)
            h_left, h_right = entropy(mass_left, terms_left), entropy(mass_right, terms_right)
            mean = (mass_left * h_left + mass_right * h_right) / (mass_left + mass_right)
            score = units(mean)
            if rules.by_information:
                h_left = h_right = mean
            if score < best:
                best, after, left_entropy, right_entropy = score, i, h_left, h_right
    return after, left_entropy, right_entropy


@njit(error_model="numpy")
def value_gains(data, rules, workspace, a, n_known, size, whole):
    """Write the gain of each value that the rows have; return how many values there are.

    By information, what all values gain together, for each that leaves enough rows.
    """
    places, entry, note, term = workspace.places, data.entry, workspace.note, workspace.term
    gain_of, seen = workspace.gain_of, workspace.seen
    min_leaf, by_information = rules.min_leaf, rules.by_information
    found, i, all_mass, all_entropy = 0, 0, 0.0, 0.0
    while i < n_known:
        for c in range(note.shape[1]):
            note[LEFT, c] = 0
        code, n = entry[a, places[i]] >> CODE, 0
        while i < n_known and entry[a, places[i]] >> CODE == code:
            this = entry[a, places[i]]
            weight = (this >> WEIGHT) & CLASS
            note[LEFT, this & CLASS] += weight
            n += weight
            i += 1
        seen[found] = code
        found += 1
        if by_information or min_leaf <= n < size:
            mass, terms = sum_side(note, LEFT, term)
            left = entropy(mass, terms)
            all_mass += mass
            all_entropy += mass * left
            if min_leaf <= n < size:
                gain_of[code] = 0 if by_information else units(whole - left)
    if by_information and found:
        gain = units(whole - all_entropy / all_mass)
        for i in range(found):
            if gain_of[seen[i]] != NOTHING:
                gain_of[seen[i]] = gain
    return found


@njit(error_model="numpy", forceinline=True)
def count_below(data, workspace, a, n_known, x):
    """Return how many rows are on the lower side of the highest threshold that is below x."""
    places, entry, value, first_value = (
        workspace.places,
        data.entry,
        data.value,
        data.value_start[a],
    )
    low, high = 0, n_known
    while low < high:
        half = (low + high) >> 1
        if value[first_value + (entry[a, places[half]] >> CODE)] < x:
            low = half + 1
        else:
            high = half
    if 0 < low < n_known:
        before = value[first_value + (entry[a, places[low - 1]] >> CODE)]
        after = value[first_value + (entry[a, places[low]] >> CODE)]
        if x > middle(before, after):
            return low
    previous = entry[a, places[low - 1]] >> CODE if low else 0
    while low > 0 and entry[a, places[low - 1]] >> CODE == previous:
        low -= 1
    return low


@njit(error_model="numpy", forceinline=True)
def running_best(data, rules, workspace, a, n_known, size, whole, which, until, upwards):
    """Write, split by split until one, the best gain of a side met so far, its split and its size.

    A split is the number of rows below it. Upwards, sides are what lies above, and shrink as
    splits rise; downwards, what lies below. So the first of equals is the larger one.
    """
    places, entry, note, term = workspace.places, data.entry, workspace.note, workspace.term
    log, worth, runs = workspace.log, workspace.worth, workspace.runs
    min_leaf, plain, tied = rules.min_leaf, not rules.balanced, data.tied[a]
    mass, terms, n = 0.0, 0.0, 0
    for c in range(note.shape[1]):
        k = note[which, c]
        worth[c] = 1 / note[UNITS, c]
        note[LEFT, c] = note[START, c] + k
        n += k
        if k:
            mass += k * worth[c]
            terms += term[TERMS, note[START, c] + k]
    gain, where, large = np.int64(0), NOTHING, 0
    into, step, split = (0, 1, 1) if upwards else (3, -1, n_known - 1)
    while split != until + step:
        this = entry[a, places[split - 1 if upwards else split]]
        other = entry[a, places[split if upwards else split - 1]]
        c = this & CLASS
        weight = (this >> WEIGHT) & CLASS
        k = note[LEFT, c]
        terms += term[TERMS, k - weight] - term[TERMS, k]
        note[LEFT, c] = k - weight
        mass -= weight * worth[c]
        n -= weight
        if n >= min_leaf and not (tied and this >> CODE == other >> CODE):
            about = log[n] - terms / n if plain else log2(mass) - terms / mass
            scaled = (whole - about) * UNIT + 0.5
            if scaled + SURE > gain + 1:
                this_gain = np.int64(floor(scaled))
                if not SURE < scaled - this_gain < 1 - SURE:
                    for c in range(note.shape[1]):
                        note[RIGHT, c] = note[LEFT, c] - note[START, c]
                    exact_mass, exact_terms = sum_side(note, RIGHT, term)
                    this_gain = units(whole - entropy(exact_mass, exact_terms))
                if this_gain > gain and n < size:
                    gain, where, large = this_gain, split, n
        runs[into, split], runs[into + 1, split], runs[into + 2, split] = gain, where, large
        split += step
