"""The best thresholds of many attributes at once, in a node too large for a table of its splits.

With r of a class's mass below a threshold, and m of all mass, the mean entropy of the sides is
g(m) - Σ share · g(r) and what all thresholds have in common, where g(x) = x log x + (1 - x)
log(1 - x) and a class has its share of the mass. Vectors of short numbers tell about how much that
is; what could be the least is computed exactly.
"""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from stakes.learn.trees._entropy import (
    COUNTS,
    LEFT,
    NEVER,
    NOTHING,
    RIGHT,
    UNITS,
    entropy,
    sum_side,
    units,
)
from stakes.learn.trees._prepare import LANES
from stakes.learn.trees._vectors import (
    BELOW,
    LEFT_GAIN,
    LONG,
    RIGHT_GAIN,
    SCORE,
    WORD,
    Code,
    count_up_to,
    look_above,
)

LOGARITHM = (
    -2.787926207, 5.047855413, -3.489878551, 1.589474295, -0.4025133935, 0.04300495779,
)  # fmt: skip
"""A polynomial for log2 x between 1 and 2, off by less than 2e-5."""

WINDOW = 1.2e-4
"""What two scores by this polynomial may be off, with room for rounding to 32 bits."""

REAL = ir.FloatType()
REALS, WORDS = ir.VectorType(REAL, LANES), ir.VectorType(WORD, LANES)
MANTISSA, EXPONENT, BIAS = 0x7FFFFF, 23, 127


class _Reals:
    """Writes instructions about vectors of numbers."""

    def __init__(self, builder):
        self.builder = builder

    def all(self, value):
        """Return a vector of one value."""
        return ir.Constant(REALS, [value] * LANES)

    def add(self, one, other):
        return self.builder.fadd(one, other, flags=("contract",))

    def multiply(self, one, other):
        return self.builder.fmul(one, other, flags=("contract",))

    def logarithm(self, x):
        builder = self.builder
        bits = builder.bitcast(x, WORDS)
        high = builder.lshr(bits, ir.Constant(WORDS, [EXPONENT] * LANES))
        low = builder.and_(bits, ir.Constant(WORDS, [MANTISSA] * LANES))
        low = builder.or_(low, ir.Constant(WORDS, [BIAS << EXPONENT] * LANES))
        low = builder.bitcast(low, REALS)
        out = self.all(LOGARITHM[-1])
        for number in LOGARITHM[-2:0:-1]:
            out = self.add(self.multiply(out, low), self.all(number))
        out = self.add(self.multiply(out, low), self.all(LOGARITHM[0] - BIAS))
        return self.add(out, builder.sitofp(high, REALS))

    def both_sides(self, x):
        """Return x log x + (1 - x) log(1 - x), 0 where x is 0."""
        builder = self.builder
        rest = builder.fsub(self.all(1.0), x)
        positive = builder.fcmp_ordered(">", rest, self.all(0.0))
        rest = builder.select(positive, rest, self.all(0.0))
        one = self.multiply(x, self.logarithm(x))
        return self.add(one, self.multiply(rest, self.logarithm(rest)))


@intrinsic
def _bound(_context, totals, n, present, share, low, high, bound, least, place):
    """Write about what each row scores as the last below a threshold, and the least two scores."""
    signature = types.void(totals, n, present, share, low, high, bound, least, place)

    def code(context, builder, signature, arguments):
        write, reals = Code(context, builder, signature, arguments), _Reals(builder)
        counts, shares, bounds, leasts, places = (write.array(which) for which in (0, 3, 6, 7, 8))
        n, present = write.number(1), write.number(2)
        element = write.element(0)
        low, high = (
            write.everywhere(builder.trunc(write.number(which), element)) for which in (4, 5)
        )
        height = builder.extract_value(counts.shape, 1)
        across = builder.extract_value(shares.shape, 1)
        best, second = write.variable(REAL, np.inf), write.variable(REAL, np.inf)
        where, size = write.variable(WORD, -1), write.variable(element, 0)
        mass, terms = write.variable(REAL, 0.0), write.variable(REAL, 0.0)
        with cgutils.for_range(builder, n) as row:
            builder.store(reals.all(0.0), mass)
            builder.store(reals.all(0.0), terms)
            builder.store(ir.Constant(ir.VectorType(element, LANES), None), size)
            with cgutils.for_range(builder, present) as each:
                at = builder.add(builder.mul(each.index, height), row.index)
                at = builder.mul(at, ir.Constant(LONG, LANES))
                count = write.load(builder.gep(counts.data, [at]), element)
                one = write.everywhere(builder.load(builder.gep(shares.data, [each.index])))
                at = builder.add(each.index, across)
                share = write.everywhere(builder.load(builder.gep(shares.data, [at])))
                builder.store(builder.add(builder.load(size), count), size)
                part = reals.multiply(builder.uitofp(count, REALS), one)
                builder.store(reals.add(builder.load(mass), reals.multiply(part, share)), mass)
                more = reals.multiply(reals.both_sides(part), share)
                builder.store(reals.add(builder.load(terms), more), terms)
            about = builder.fsub(reals.both_sides(builder.load(mass)), builder.load(terms))
            below = builder.load(size)
            admissible = builder.and_(
                builder.icmp_unsigned(">=", below, low), builder.icmp_unsigned("<=", below, high)
            )
            about = builder.select(admissible, about, reals.all(np.inf))
            at = builder.mul(row.index, ir.Constant(LONG, LANES))
            write.store(about, builder.gep(bounds.data, [at]))
            old = builder.load(best)
            better = builder.fcmp_ordered("<", about, old)
            other = builder.select(better, old, about)
            closer = builder.fcmp_ordered("<", other, builder.load(second))
            builder.store(builder.select(closer, other, builder.load(second)), second)
            builder.store(builder.select(better, about, old), best)
            here = write.everywhere(builder.trunc(row.index, WORD))
            builder.store(builder.select(better, here, builder.load(where)), where)
        write.store(builder.load(best), leasts.data)
        write.store(builder.load(second), builder.gep(leasts.data, [ir.Constant(LONG, LANES)]))
        write.store(builder.load(where), places.data)
        return context.get_dummy_value()

    return signature, code


@njit(error_model="numpy")
def bounded_splits(data, rules, workspace, node, whole_entropy):
    """Write the best threshold of each attribute, and what its sides gain."""
    codes, rows, first, n = data.codes, node.rows, node.first, node.length
    row_class, step, starts, share = (
        data.row_class,
        workspace.step,
        workspace.starts,
        workspace.share,
    )
    note, term, totals, bounds = workspace.note, workspace.term, workspace.totals, workspace.bounds
    least, place, found, sides = workspace.least, workspace.place, workspace.found, workspace.sides
    attributes, low, high = len(data.known), rules.min_leaf, node.size - rules.min_leaf
    present, whole = 0, 0.0
    for i in range(n):
        row = rows[first + i]
        step[i] = data.row_weight[row]
        if i == 0 or row_class[row] != starts[1, present - 1]:
            starts[0, present], starts[1, present] = i, row_class[row]
            present += 1
    starts[0, present] = n
    for c in range(note.shape[1]):
        note[LEFT, c] = note[RIGHT, c] = 0
        whole += note[COUNTS, c] / note[UNITS, c]
    for k in range(present):
        c = starts[1, k]
        share[0, k] = 1 / note[COUNTS, c]
        share[1, k] = note[COUNTS, c] / (whole * note[UNITS, c])
    for column in range(0, attributes, LANES):
        for k in range(present):
            begin, end = starts[0, k], starts[0, k + 1]
            count_up_to(codes, rows, first, n, begin, end, step, column, totals[k])
        _bound(totals, n, present, share, low, high, bounds, least, place)
        for lane in range(min(LANES, attributes - column)):
            a, cut = column + lane, least[0, lane] + np.float32(WINDOW)
            best, code = np.int64(1) << 62, np.int64(NOTHING)
            sides[LEFT_GAIN, a] = sides[RIGHT_GAIN, a] = 0
            i = end = np.int64(place[lane])
            if least[1, lane] <= cut:
                i, end = 0, n - 1
            while NOTHING < i <= end:
                this = np.int64(codes[rows[first + i], a])
                if bounds[i, lane] <= cut and this != code:
                    for k in range(present):
                        c = starts[1, k]
                        note[LEFT, c] = totals[k, i, lane]
                        note[RIGHT, c] = note[COUNTS, c] - note[LEFT, c]
                    mass_left, terms_left = sum_side(note, LEFT, term)
                    mass_right, terms_right = sum_side(note, RIGHT, term)
                    h_left = entropy(mass_left, terms_left)
                    h_right = entropy(mass_right, terms_right)
                    mean = (mass_left * h_left + mass_right * h_right) / (mass_left + mass_right)
                    score = units(mean)
                    if rules.by_information:
                        h_left = h_right = mean
                    if score < best or (score == best and this < code):
                        best, code = score, this
                        sides[LEFT_GAIN, a] = max(units(whole_entropy - h_left), 0)
                        sides[RIGHT_GAIN, a] = max(units(whole_entropy - h_right), 0)
                i += 1
            found[BELOW, a], found[SCORE, a] = code, NEVER if code == NOTHING else 0
        look_above(codes, rows, first, n, column, found)
