"""Arrays whose users are not counted, and memory that is asked for early.

Compiled code counts the users of each array up and down, around its own calls too; in small nodes
that took a third of the time. What is borrowed is not counted, so its owner must outlive it: each
assignment to an owner is followed at once by another `borrowed`, and `keep` comes last of all.

To hand over all arrays of a named tuple would take longer than most functions, and to compile that
longer still. What is lent is handed over as one address; its fields are read as those of the tuple.

Only what Python calls is cached, with all that it calls. Numba does not see when that changes in
another file: empty its cache then.
"""

from __future__ import annotations

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, intrinsic, lower_getattr_generic, models, register_model

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
