"""The best thresholds of many attributes at once, in a small node.

Written in LLVM's own vectors, which become the vector instructions of any processor: what the
compiler makes of the same loops over arrays is several times slower. In Python it would be

    for a in range(column, column + LANES):
        for i in rows:
            split = sum(step[j] for j in rows if codes[j, a] <= codes[i, a])
            keep the least (scores[split], codes[i, a]), and the split
        above = min(codes[j, a] for j in rows if codes[j, a] > the code that was kept)
"""

from __future__ import annotations

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

from stakes.learn.lazy.prepare import LANES

SCORE, BELOW, SPLIT, ABOVE, HIGHEST = range(5)
"""What is found of each attribute: the least score, the code below the threshold, the split's place
in the table, the code above, and the highest code of all."""

WORD, LONG = ir.IntType(32), ir.IntType(64)
TOGETHER = 4
"""How many rows are compared at once with another, which then is read only once for them."""


class _Code:
    """Writes instructions about arrays, and vectors with a value for each attribute."""

    def __init__(self, context, builder, signature, arguments):
        self.context, self.builder = context, builder
        self.kinds, self.arguments = signature.args, arguments

    def array(self, which):
        return self.context.make_array(self.kinds[which])(
            self.context, self.builder, self.arguments[which]
        )

    def number(self, which):
        return self.context.cast(
            self.builder, self.arguments[which], self.kinds[which], types.int64
        )

    def everywhere(self, value):
        kind = ir.VectorType(value.type, LANES)
        first = self.builder.insert_element(
            ir.Constant(kind, ir.Undefined), value, ir.Constant(WORD, 0)
        )
        zeros = ir.Constant(ir.VectorType(WORD, LANES), None)
        return self.builder.shuffle_vector(first, first, zeros)

    def variable(self, element, value):
        kind = ir.VectorType(element, LANES)
        return cgutils.alloca_once_value(self.builder, ir.Constant(kind, [value] * LANES))

    def load(self, pointer, element):
        kind = ir.VectorType(element, LANES)
        at = self.builder.bitcast(pointer, kind.as_pointer())
        return self.builder.load(at, align=element.width // 8)

    def store(self, vector, pointer):
        at = self.builder.bitcast(pointer, vector.type.as_pointer())
        self.builder.store(vector, at, align=vector.type.element.width // 8)

    def looked_up(self, places, table, begin):
        """Return a vector of what is at places of a table, from where it begins."""
        builder, element = self.builder, places.type.element
        slots = cgutils.alloca_once(builder, ir.ArrayType(element, LANES))
        values = cgutils.alloca_once(builder, ir.ArrayType(WORD, LANES))
        self.store(places, slots)
        origin = builder.gep(table.data, [begin])
        for lane in range(LANES):
            one = [ir.Constant(WORD, 0), ir.Constant(WORD, lane)]
            at = builder.zext(builder.load(builder.gep(slots, one)), LONG)
            builder.store(builder.load(builder.gep(origin, [at])), builder.gep(values, one))
        return self.load(values, WORD)


@intrinsic
def _best_splits(_context, codes, rows, first, n, step, column, scores, begin, found):
    """Write the best splits of a node's rows for the attributes from one on."""
    signature = types.void(codes, rows, first, n, step, column, scores, begin, found)

    def code(context, builder, signature, arguments):
        write = _Code(context, builder, signature, arguments)
        table, members, steps, tabled, out = (write.array(which) for which in (0, 1, 4, 6, 8))
        first, n, column, begin = (write.number(which) for which in (2, 3, 5, 7))
        element = context.get_data_type(signature.args[0].dtype)
        none = ir.Constant(ir.VectorType(element, LANES), None)
        width = builder.extract_value(table.shape, 1)
        last = builder.sub(n, ir.Constant(LONG, 1))

        def codes_of(place):
            row = builder.load(builder.gep(members.data, [builder.add(first, place)]))
            at = builder.add(builder.mul(builder.sext(row, LONG), width), column)
            return write.load(builder.gep(table.data, [at]), element)

        best = write.variable(WORD, -1)
        below, above = write.variable(element, -1), write.variable(element, -1)
        split, highest = write.variable(element, 0), write.variable(element, 0)
        totals = [cgutils.alloca_once(builder, none.type) for _ in range(TOGETHER)]
        step_by = ir.Constant(LONG, TOGETHER)
        with cgutils.for_range_slice(builder, ir.Constant(LONG, 0), n, step_by) as (place, _):
            mine = []
            for more, total in enumerate(totals):  # beyond the last row, the last row again
                at = builder.add(place, ir.Constant(LONG, more))
                at = builder.select(builder.icmp_signed("<", at, n), at, last)
                mine.append(codes_of(at))
                builder.store(none, total)
            with cgutils.for_range(builder, n) as other:
                weight = write.everywhere(builder.load(builder.gep(steps.data, [other.index])))
                theirs = codes_of(other.index)
                for here, total in zip(mine, totals, strict=True):
                    counted = builder.icmp_unsigned("<=", theirs, here)
                    more = builder.select(counted, weight, none)
                    builder.store(builder.add(builder.load(total), more), total)
            for here, total in zip(mine, totals, strict=True):
                reached = builder.load(total)
                score = write.looked_up(reached, tabled, begin)
                lower = builder.icmp_unsigned("<", score, builder.load(best))
                equal = builder.icmp_unsigned("==", score, builder.load(best))
                earlier = builder.icmp_unsigned("<", here, builder.load(below))
                better = builder.or_(lower, builder.and_(equal, earlier))
                for variable, value in ((best, score), (below, here), (split, reached)):
                    builder.store(builder.select(better, value, builder.load(variable)), variable)
        with cgutils.for_range(builder, n) as one:
            mine = codes_of(one.index)
            for variable, how, candidate in (
                (highest, ">", mine),
                (above, "<", _only(builder, ">", mine, builder.load(below))),
            ):
                old = builder.load(variable)
                better = builder.icmp_unsigned(how, candidate, old)
                builder.store(builder.select(better, candidate, old), variable)
        width = builder.extract_value(out.shape, 1)
        for which, variable in enumerate((best, below, split, above, highest)):
            at = builder.add(builder.mul(ir.Constant(LONG, which), width), column)
            value = builder.load(variable)
            if value.type.element != WORD:
                value = builder.zext(value, ir.VectorType(WORD, LANES))
            write.store(value, builder.gep(out.data, [at]))
        return context.get_dummy_value()

    return signature, code


def _only(builder, how, values, limit):
    """Return the values that compare so with a limit, and elsewhere the highest there can be."""
    highest = ir.Constant(values.type, [-1] * LANES)
    return builder.select(builder.icmp_unsigned(how, values, limit), values, highest)


@njit(cache=True, nogil=True, error_model="numpy")
def best_splits(codes, rows, first, n, step, scores, begin, found):
    """Write the best split of a few rows for each attribute."""
    for column in range(0, codes.shape[1], LANES):
        _best_splits(codes, rows, first, n, step, column, scores, begin, found)
