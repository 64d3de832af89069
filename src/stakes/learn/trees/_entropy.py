"""Entropies of a node's subsets, from tables of whole numbers of rows.

A class weighs 1 for each of its rows (plain), or 1 in all in the node (balanced). With mass r of
each class in a subset, M their sum, the entropy is log M - (Σ r log r)/M, in bits. All gains and
scores are rounded to nine decimals before they are compared, so that ties do not depend on the
order of a sum.
"""

from __future__ import annotations

from math import floor, log2

import numpy as np
from numba import njit

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
