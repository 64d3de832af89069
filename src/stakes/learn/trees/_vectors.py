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

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

from stakes.learn.trees import LANES
from stakes.learn.trees._entropy import (
    COUNTS,
    LEFT,
    NEVER,
    NOTHING,
    RIGHT,
    STRIDE,
    UNITS,
    entropy,
    sum_side,
    units,
)

# Arrays and memory.

WORD, BYTES = ir.IntType(32), ir.IntType(8).as_pointer()
READ, NEAREST, DATA = (ir.Constant(WORD, number) for number in (0, 3, 1))


@intrinsic
def borrowed(_context, what):
    """Return an array that somebody else keeps alive."""

    def code(context, builder, signature, arguments):
        return _without_owner(context, builder, signature.args[0], arguments[0])

    return what(what), code


def _without_owner(context, builder, kind, value):
    array = context.make_array(kind)(context, builder, value)
    array.meminfo = ir.Constant(array.meminfo.type, None)
    return array._getvalue()  # noqa: SLF001 - as numba's own code has it


class Lent(types.Type):
    """The type of a named tuple's address."""

    def __init__(self, what):
        self.what = what
        super().__init__(f"Lent({what})")


@register_model(Lent)
class _Pointer(models.PrimitiveModel):
    def __init__(self, manager, kind):
        super().__init__(manager, kind, manager.lookup(kind.what).get_value_type().as_pointer())

    def from_argument(self, _builder, value):
        value.add_attribute("noalias")  # nobody writes there, so what was read need not be again
        return value


@infer_getattr
class _Fields(AttributeTemplate):
    key = Lent

    def generic_resolve(self, kind, name):
        fields = kind.what.fields
        return kind.what[fields.index(name)] if name in fields else None


@lower_getattr_generic(Lent)
def _get_field(context, builder, kind, pointer, name):
    place = kind.what.fields.index(name)
    value = builder.load(cgutils.gep_inbounds(builder, pointer, 0, place))
    if isinstance(kind.what[place], types.Array):
        value = _without_owner(context, builder, kind.what[place], value)
    return value


@intrinsic
def lent(_context, what):
    """Return the address of a copy of a named tuple, good until the caller returns.

    Whoever calls this keeps the arrays alive.
    """

    def code(_context, builder, _signature, arguments):
        return cgutils.alloca_once_value(builder, arguments[0])

    return Lent(what)(what), code


@intrinsic
def keep(_context, what):
    """Keep owners alive up to here, for compiled code drops a variable after its last use."""

    def code(context, _builder, _signature, _arguments):
        return context.get_dummy_value()

    return types.void(what), code


@intrinsic
def prefetch(_context, array, place):
    """Bring what is at a place, counted in numbers from the first, nearer to the processor."""

    def code(context, builder, signature, arguments):
        kind = ir.FunctionType(ir.VoidType(), [BYTES, WORD, WORD, WORD])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0i8")
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        at = builder.bitcast(builder.gep(data, [arguments[1]]), BYTES)
        builder.call(function, [at, READ, NEAREST, DATA])
        return context.get_dummy_value()

    return types.void(array, place), code


SCORE, BELOW, SPLIT, ABOVE, HIGHEST = range(5)
"""What is found of each attribute: the least score, the code below the threshold, the split's place
in the table, the code above, and the highest code of all."""

LEFT_GAIN, RIGHT_GAIN, LOW, HIGH = range(4)
"""What is noted of an attribute's test: the gains of its sides, and the ranks of the values beside
it."""

LONG = ir.IntType(64)
MANY, MOST_CLASSES = 128, 16
"""Nodes of up to so many rows and classes are looked at in vectors.

Scores of up to four bits, in units of 1e-9, fit into 32-bit numbers."""

TOGETHER = 4
"""How many rows are compared at once with another, which then is read only once for them."""


def _bytes(element):
    return element.width // 8 if isinstance(element, ir.IntType) else 4


class Code:
    """Writes instructions about arrays, and vectors with a value for each attribute."""

    def __init__(self, context, builder, signature, arguments):
        self.context, self.builder = context, builder
        self.kinds, self.arguments = signature.args, arguments

    def array(self, which):
        """Return an array among the arguments."""
        return self.context.make_array(self.kinds[which])(
            self.context, self.builder, self.arguments[which]
        )

    def number(self, which):
        """Return a whole number among the arguments."""
        return self.context.cast(
            self.builder, self.arguments[which], self.kinds[which], types.int64
        )

    def everywhere(self, value):
        """Return a vector of one value."""
        kind = ir.VectorType(value.type, LANES)
        first = self.builder.insert_element(
            ir.Constant(kind, ir.Undefined), value, ir.Constant(WORD, 0)
        )
        zeros = ir.Constant(ir.VectorType(WORD, LANES), None)
        return self.builder.shuffle_vector(first, first, zeros)

    def variable(self, element, value):
        """Return room for a vector, with one value everywhere."""
        kind = ir.VectorType(element, LANES)
        return cgutils.alloca_once_value(self.builder, ir.Constant(kind, [value] * LANES))

    def load(self, pointer, element):
        """Return the vector that begins at a pointer."""
        kind = ir.VectorType(element, LANES)
        at = self.builder.bitcast(pointer, kind.as_pointer())
        return self.builder.load(at, align=_bytes(element))

    def store(self, vector, pointer):
        """Write a vector from a pointer on."""
        at = self.builder.bitcast(pointer, vector.type.as_pointer())
        self.builder.store(vector, at, align=_bytes(vector.type.element))

    def element(self, which):
        """Return the type of what is in an array."""
        return self.context.get_data_type(self.kinds[which].dtype)

    def codes_of(self, column):
        """Return what gets the codes of a node's row, given its place: arguments 0, 1 and 2."""
        builder = self.builder
        codes, rows = self.array(0), self.array(1)
        first, column = self.number(2), self.number(column)
        width = builder.extract_value(codes.shape, 1)

        def get(place):
            row = builder.load(builder.gep(rows.data, [builder.add(first, place)]))
            at = builder.add(builder.mul(builder.sext(row, LONG), width), column)
            return self.load(builder.gep(codes.data, [at]), self.element(0))

        return get

    def _of_note(self, array, which, column):
        array = self.array(array)
        width = self.builder.extract_value(array.shape, 1)
        at = self.builder.mul(ir.Constant(LONG, which), width)
        return self.builder.gep(array.data, [self.builder.add(at, self.number(column))])

    def note(self, array, which, column, vector):
        """Write a vector into a row of notes, from a column on."""
        if vector.type.element != WORD:
            vector = self.builder.zext(vector, ir.VectorType(WORD, LANES))
        self.store(vector, self._of_note(array, which, column))

    def noted(self, array, which, column, element):
        """Return a vector from a row of notes, from a column on."""
        vector = self.load(self._of_note(array, which, column), WORD)
        if element == WORD:
            return vector
        return self.builder.trunc(vector, ir.VectorType(element, LANES))


@intrinsic
def _count_up_to(_context, codes, rows, first, n, begin, end, step, column, totals):
    """Write, for each row, the steps of those from one to another that are not above it."""
    signature = types.void(codes, rows, first, n, begin, end, step, column, totals)

    def code(context, builder, signature, arguments):
        write = Code(context, builder, signature, arguments)
        steps, out = write.array(6), write.array(8)
        n, begin, end = (write.number(which) for which in (3, 4, 5))
        codes_of = write.codes_of(column=7)
        none = ir.Constant(ir.VectorType(write.element(0), LANES), None)
        last = builder.sub(n, ir.Constant(LONG, 1))
        sums = [cgutils.alloca_once(builder, none.type) for _ in range(TOGETHER)]
        zero, by = ir.Constant(LONG, 0), ir.Constant(LONG, TOGETHER)
        with cgutils.for_range_slice(builder, zero, n, by) as (place, _):
            mine = []
            for more, total in enumerate(sums):  # beyond the last row, the last row again
                at = builder.add(place, ir.Constant(LONG, more))
                at = builder.select(builder.icmp_signed("<", at, n), at, last)
                mine.append(codes_of(at))
                builder.store(none, total)
            with cgutils.for_range_slice(builder, begin, end, ir.Constant(LONG, 1)) as (other, _):
                weight = write.everywhere(builder.load(builder.gep(steps.data, [other])))
                theirs = codes_of(other)
                for here, total in zip(mine, sums, strict=True):
                    counted = builder.icmp_unsigned("<=", theirs, here)
                    more = builder.select(counted, weight, none)
                    builder.store(builder.add(builder.load(total), more), total)
            for more, total in enumerate(sums):
                at = builder.add(place, ir.Constant(LONG, more))
                at = builder.mul(at, ir.Constant(LONG, LANES))
                write.store(builder.load(total), builder.gep(out.data, [at]))
        return context.get_dummy_value()

    return signature, code


@intrinsic
def _least(_context, codes, rows, first, n, column, scored, totals, found):
    """Write the least score of each attribute, of equals that of the lowest code."""
    signature = types.void(codes, rows, first, n, column, scored, totals, found)

    def code(context, builder, signature, arguments):
        write = Code(context, builder, signature, arguments)
        scores, reached = write.array(5), write.array(6)
        codes_of, element = write.codes_of(column=4), write.element(0)
        best, below = write.variable(WORD, -1), write.variable(element, -1)
        split = write.variable(element, 0)
        with cgutils.for_range(builder, write.number(3)) as one:
            at = builder.mul(one.index, ir.Constant(LONG, LANES))
            here = codes_of(one.index)
            score = write.load(builder.gep(scores.data, [at]), WORD)
            total = write.load(builder.gep(reached.data, [at]), element)
            lower = builder.icmp_unsigned("<", score, builder.load(best))
            equal = builder.icmp_unsigned("==", score, builder.load(best))
            earlier = builder.icmp_unsigned("<", here, builder.load(below))
            better = builder.or_(lower, builder.and_(equal, earlier))
            for variable, value in ((best, score), (below, here), (split, total)):
                builder.store(builder.select(better, value, builder.load(variable)), variable)
        for which, variable in ((SCORE, best), (BELOW, below), (SPLIT, split)):
            write.note(7, which, 4, builder.load(variable))
        return context.get_dummy_value()

    return signature, code


@intrinsic
def _look_above(_context, codes, rows, first, n, column, found):
    """Write the lowest code above the one below the threshold, and the highest of all."""
    signature = types.void(codes, rows, first, n, column, found)

    def code(context, builder, signature, arguments):
        write = Code(context, builder, signature, arguments)
        codes_of, element = write.codes_of(column=4), write.element(0)
        beyond = ir.Constant(ir.VectorType(element, LANES), [-1] * LANES)
        below = write.noted(5, BELOW, 4, element)
        above, highest = write.variable(element, -1), write.variable(element, 0)
        with cgutils.for_range(builder, write.number(3)) as one:
            here = codes_of(one.index)
            higher = builder.icmp_unsigned(">", here, below)
            for variable, how, value in (
                (above, "<", builder.select(higher, here, beyond)),
                (highest, ">", here),
            ):
                old = builder.load(variable)
                better = builder.icmp_unsigned(how, value, old)
                builder.store(builder.select(better, value, old), variable)
        for which, variable in ((ABOVE, above), (HIGHEST, highest)):
            write.note(5, which, 4, builder.load(variable))
        return context.get_dummy_value()

    return signature, code


@njit(error_model="numpy", forceinline=True)
def count_up_to(codes, rows, first, n, begin, end, step, column, totals):
    """Write, for each row and attribute, the steps of some rows that are not above it."""
    _count_up_to(codes, rows, first, n, begin, end, step, column, totals)


@njit(error_model="numpy", forceinline=True)
def look_above(codes, rows, first, n, column, found):
    """Write what is above the thresholds."""
    _look_above(codes, rows, first, n, column, found)


@njit(error_model="numpy")
def best_splits(data, workspace, node, begin):
    """Write the best split of a few rows for each attribute, given where their table begins."""
    codes, rows, first, n = data.codes, node.rows, node.first, node.length
    totals, scored, found = workspace.totals, workspace.scored, workspace.found
    for i in range(n):
        row = rows[first + i]
        workspace.step[i] = workspace.note[STRIDE, data.row_class[row]] * data.row_weight[row]
    attributes = len(data.known)
    for column in range(0, attributes, LANES):
        _count_up_to(codes, rows, first, n, 0, n, workspace.step, column, totals)
        used = min(LANES, attributes - column)
        for i in range(n):
            for lane in range(used):
                scored[i, lane] = workspace.scores[begin + np.int64(totals[0, i, lane])]
        _least(codes, rows, first, n, column, scored, totals, found)
        _look_above(codes, rows, first, n, column, found)


# The best thresholds of many attributes at once, in a node too large for a table of its splits.

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
