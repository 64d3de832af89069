"""The best thresholds of sixteen attributes at once, in a small node.

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
VECTOR = ir.VectorType(WORD, LANES)


class _Code:
    """Writes instructions about arrays and vectors."""

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

    def everywhere(self, word):
        first = self.builder.insert_element(
            ir.Constant(VECTOR, ir.Undefined), word, ir.Constant(WORD, 0)
        )
        return self.builder.shuffle_vector(first, first, ir.Constant(VECTOR, None))

    def least(self, one, other):
        return self.builder.select(self.builder.icmp_unsigned("<", one, other), one, other)

    def variable(self, value):
        return cgutils.alloca_once_value(self.builder, ir.Constant(VECTOR, [value] * LANES))


@intrinsic
def _best_splits(_context, codes, rows, first, n, step, column, scores, begin, found):
    """Write the best splits of a node's rows for the attributes from one on."""
    signature = types.void(codes, rows, first, n, step, column, scores, begin, found)

    def code(context, builder, signature, arguments):
        write = _Code(context, builder, signature, arguments)
        table, members, steps, tabled, out = (write.array(which) for which in (0, 1, 4, 6, 8))
        first, n, column, begin = (write.number(which) for which in (2, 3, 5, 7))
        element = context.get_data_type(signature.args[0].dtype)
        width = builder.extract_value(table.shape, 1)

        def codes_of(place):
            row = builder.load(builder.gep(members.data, [builder.add(first, place)]))
            at = builder.add(builder.mul(builder.sext(row, LONG), width), column)
            pointer = builder.gep(table.data, [at])
            narrow = ir.VectorType(element, LANES)
            vector = builder.load(builder.bitcast(pointer, narrow.as_pointer()), align=2)
            return vector if element == WORD else builder.zext(vector, VECTOR)

        best, below, split = write.variable(-1), write.variable(-1), write.variable(0)
        above, highest = write.variable(-1), write.variable(0)
        total = cgutils.alloca_once(builder, VECTOR)
        with cgutils.for_range(builder, n) as one:
            mine = codes_of(one.index)
            builder.store(ir.Constant(VECTOR, None), total)
            with cgutils.for_range(builder, n) as other:
                weight = write.everywhere(builder.load(builder.gep(steps.data, [other.index])))
                counted = builder.icmp_unsigned("<=", codes_of(other.index), mine)
                weight = builder.select(counted, weight, ir.Constant(VECTOR, None))
                builder.store(builder.add(builder.load(total), weight), total)
            reached = builder.load(total)
            score = ir.Constant(VECTOR, ir.Undefined)
            for lane in range(LANES):
                at = builder.extract_element(reached, ir.Constant(WORD, lane))
                at = builder.add(begin, builder.zext(at, LONG))
                value = builder.load(builder.gep(tabled.data, [at]))
                score = builder.insert_element(score, value, ir.Constant(WORD, lane))
            lower = builder.icmp_unsigned("<", score, builder.load(best))
            equal = builder.icmp_unsigned("==", score, builder.load(best))
            earlier = builder.icmp_unsigned("<", mine, builder.load(below))
            better = builder.or_(lower, builder.and_(equal, earlier))
            for variable, value in ((best, score), (below, mine), (split, reached)):
                builder.store(builder.select(better, value, builder.load(variable)), variable)
        with cgutils.for_range(builder, n) as one:
            mine = codes_of(one.index)
            most = builder.load(highest)
            larger = builder.icmp_unsigned(">", mine, most)
            builder.store(builder.select(larger, mine, most), highest)
            beyond = builder.icmp_unsigned(">", mine, builder.load(below))
            candidate = builder.select(beyond, mine, ir.Constant(VECTOR, [-1] * LANES))
            builder.store(write.least(candidate, builder.load(above)), above)
        width = builder.extract_value(out.shape, 1)
        for which, variable in enumerate((best, below, split, above, highest)):
            at = builder.add(builder.mul(ir.Constant(LONG, which), width), column)
            pointer = builder.bitcast(builder.gep(out.data, [at]), VECTOR.as_pointer())
            builder.store(builder.load(variable), pointer, align=4)
        return context.get_dummy_value()

    return signature, code


@njit(cache=True, nogil=True, error_model="numpy")
def best_splits(codes, rows, first, n, step, scores, begin, found):
    """Write the best split of a few rows for each attribute."""
    for column in range(0, codes.shape[1], LANES):
        _best_splits(codes, rows, first, n, step, column, scores, begin, found)
