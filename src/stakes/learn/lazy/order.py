"""Rows in the order of an attribute.

Functions here and beside get whole arrays, and where in them to look: in compiled code a slice
costs more than what is done with it.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

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
def sort_few(data, desk, node, a):
    """Write the places of a few rows in an attribute's order, ascending."""
    at, rank, n = desk.at, desk.rank, node.length
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
        desk.places[rank[i]] = at[i]


@njit(error_model="numpy")
def sort_many(data, desk, node, a):
    """Write the places of rows in an attribute's order, ascending; words must be empty."""
    words, summary, places = desk.words, desk.summary, desk.places
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
