"""Arrays whose users are not counted, and memory that is asked for early.

Compiled code counts the users of each array up and down, around its own calls too; in small nodes
that took a third of the time. What is borrowed is not counted, so its owner must outlive it: each
assignment to an owner is followed at once by another `borrowed`, and `keep` comes last of all.

Numba keeps compiled callers of these functions when only this file changes: empty its cache then.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WORD, BYTES = ir.IntType(32), ir.IntType(8).as_pointer()
READ, NEAREST, DATA = (ir.Constant(WORD, number) for number in (0, 3, 1))


@intrinsic
def borrowed(_context, what):
    """Return an array, or a tuple with arrays, that somebody else keeps alive."""

    def code(context, builder, signature, arguments):
        return _without_owner(context, builder, signature.args[0], arguments[0])

    return what(what), code


def _without_owner(context, builder, kind, value):
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = ir.Constant(array.meminfo.type, None)
        return array._getvalue()  # noqa: SLF001 - as numba's own code has it
    if isinstance(kind, types.BaseTuple):
        for place, each in enumerate(kind):
            one = builder.extract_value(value, place)
            value = builder.insert_value(value, _without_owner(context, builder, each, one), place)
    return value


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
