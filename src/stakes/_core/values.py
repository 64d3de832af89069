"""Result types that compare by value, and checks of arguments and results against type hints.

Results are frozen dataclasses that are equal when their fields are equal, and whose fields are
checked against their type hints. Public callables name the argument that they cannot use. Most
arguments are checked where they are used, which gives a more specific error. Where such a check is
missing, the error would concern internals of stakes; the arguments are then compared with their
type hints. So a new public name needs no code of its own, and successful calls skip the comparison.
"""

from __future__ import annotations

import functools
import inspect
import math
import re
import reprlib
import sys
import types
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from numbers import Integral, Real
from types import MappingProxyType
from typing import Any, Literal, Self, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import has_entries, is_missing
from stakes._core.text import html_values
from stakes._core.typing import Floats
from stakes.errors import InputError, InputTypeError, RefusedInputError, StakesError


def readonly_copy(values: Any) -> NDArray[Any]:
    """Copy `values` into a contiguous array that cannot be written to."""
    array = np.array(values, order="C")
    array.setflags(write=False)
    return array


def readonly(array: NDArray[Any]) -> NDArray[Any]:
    """Make an array that nothing else refers to read-only, and return it."""
    array.setflags(write=False)
    return array


def unchangeable(value: Any) -> Any:
    """Return an array or a mapping as one that cannot be changed, and other values unchanged."""
    if isinstance(value, np.ndarray) and value.flags.writeable:
        return readonly(value.view())
    return MappingProxyType(value) if isinstance(value, dict) else value


class ByValue:
    """Base of frozen dataclasses that compare, hash and pickle by the values of their fields."""

    def _set(self, **values: Any) -> None:
        """Set the fields of a frozen dataclass, arrays and mappings as read-only ones."""
        for name, value in values.items():
            object.__setattr__(self, name, unchangeable(value))

    def _values(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def _changed(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, without checking them."""
        result = type(self).__new__(type(self))
        result._set(**(self._values() | changes))  # noqa: SLF001 - of the same kind
        return result

    def _comparable(self) -> dict[str, Any]:
        """Return the values that equality and hashing use; by default the fields."""
        return self._values()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        theirs = other._comparable()
        return all(_equal(mine, theirs[name]) for name, mine in self._comparable().items())

    def __hash__(self) -> int:
        return hash((type(self), *map(_hash_key, self._comparable().values())))

    def __getstate__(self) -> dict[str, Any]:
        # Read-only mappings cannot be pickled.
        proxy = MappingProxyType
        return {k: dict(v) if type(v) is proxy else v for k, v in self._values().items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(**state)


def _equal(one: Any, other: Any) -> bool:
    arrays = isinstance(one, np.ndarray), isinstance(other, np.ndarray)
    if any(arrays):
        return all(arrays) and np.array_equal(one, other)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(_equal, one, other))
    return bool(one == other)


def _hash_key(value: Any) -> Any:
    """Return a hashable key for a value; equal arrays of integers or floats have equal keys."""
    if isinstance(value, Mapping):
        return frozenset(value.items())
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind not in "biuf":
        return value.shape, tuple(value.ravel().tolist())
    numbers = np.ascontiguousarray(value, dtype=np.float64) + 0.0  # minus zero equals zero
    return value.shape, numbers.tobytes()


class Result(ByValue):
    """Base of results: frozen dataclasses whose fields are checked against their type hints."""

    def __post_init__(self) -> None:
        check_fields(self)

    def _repr_html_(self) -> str:
        """Return single values as an HTML table; results that have tables override this."""
        values = self.to_dict() if hasattr(self, "to_dict") else vars(self)
        single = {
            name.strip("_"): value
            for name, value in values.items()
            if isinstance(value, bool | int | float | str | np.generic)
        }
        says = getattr(self, "summary", "")
        return html_values(single, says() if callable(says) else says)


def check_fields(result: Any) -> None:
    """Raise when a field of a dataclass does not fit its type hint.

    Fractions become floats, minus zero becomes zero, and arrays and mappings become read-only.
    """
    kind: Any = type(result)
    for name, hint, fits, annotation in _field_hints(kind):
        value = getattr(result, name)
        fraction = hint is float and isinstance(value, Fraction)  # scipy and JSON reject fractions
        if fraction or (type(value) is float and value == 0 and math.copysign(1, value) < 0):
            object.__setattr__(result, name, value := float(value) + 0.0)
        if not fits(value):
            raise _refusal(name, value, annotation)
        if type(value) in CHANGEABLE:
            object.__setattr__(result, name, unchangeable(value))
    _check_ranges(result, *_ranges(kind))


def _check_ranges(
    result: Any, shares: tuple[str, ...], limits: tuple[tuple[str, str], ...]
) -> None:
    """Raise when a probability is not between 0 and 1, or a lower limit is above the upper one."""
    for name in shares:
        value = getattr(result, name)
        if not (_at_most(0.0, value) and _at_most(value, 1.0)):
            raise InputError(name, f"expected numbers from 0 to 1, got {value!r}.")
    for lower, upper in limits:
        low, high = getattr(result, lower), getattr(result, upper)
        if isinstance(low, np.ndarray) and np.shape(low) != np.shape(high):
            raise InputError(
                f"{lower}, {upper}",
                f"expected arrays of one shape, got {np.shape(low)} and {np.shape(high)}.",
            )
        if not _at_most(low, high):
            raise InputError(lower, f"expected at most {upper}, {high!r}; got {low!r}.")


def _at_most(low: Any, high: Any) -> bool:
    """Tell whether numbers, or None, are at most others, but for rounding."""
    if low is None or high is None or (at_most := low <= high) is True:
        return True  # the most frequent case, first because it is fast
    return bool(np.all(at_most | (low - high <= ROUNDING * (1 + np.abs(high)))))


ROUNDING = 1e-9
"""Largest excess of a lower limit over the upper one, relative to it, that rounding explains."""

PROBABILITIES = {"adjusted", "confidence", "p_value", "probability_high", "probability_low"}
"""Names of fields that are probabilities in every result."""


@functools.cache
def _ranges(kind: Any) -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the fields that are probabilities, and the pairs that are limits of one number."""
    hints = {name: hint for name, hint, _, _ in _field_hints(kind)}
    numbers = [name for name, hint in hints.items() if hint in NUMBERS]
    uppers = {name: f"{name[:-3]}high" for name in numbers if re.search(r"(^|_)low$", name)}
    limits = [(low, high) for low, high in uppers.items() if high in numbers]
    return tuple(name for name in numbers if name in PROBABILITIES), tuple(limits)


NUMBERS = {float, float | None, Floats, Floats | None}
"""The type hints of fields whose range is checked."""

CHANGEABLE = {np.ndarray, dict}
"""The types of fields that become read-only."""


@functools.cache
def _field_hints(kind: Any) -> tuple[tuple[str, Any, Callable[[Any], bool], str], ...]:
    """Return each field's name, type hint, check, and type hint as it is written."""
    hints = get_type_hints(kind)
    return tuple(
        (each.name, hints[each.name], _fitting(hints[each.name]), str(each.type))
        for each in fields(kind)
    )


# Callables that name the argument at fault.

NAMED: set[type] = set()
"""Classes whose methods already name the argument at fault."""


def name_arguments(module: str) -> None:
    """Make the public callables of a module or package name the argument at fault when they fail.

    Parameters
    ----------
    module : str
        The name of the module, whose ``__all__`` lists its public names.
    """
    room = sys.modules[module]
    for name in room.__all__:
        setattr(room, name, naming(getattr(room, name)))


def naming(public: Any) -> Any:
    """Return a public function or class whose calls name the argument at fault when they fail."""
    # Not estimators: scikit-learn checks their errors.
    if inspect.isclass(public) and not hasattr(public, "fit"):
        for kind in public.__mro__:
            if kind.__module__.startswith("stakes") and kind not in NAMED:
                NAMED.add(kind)
                _name_methods(kind)
    if not inspect.isfunction(public) or hasattr(public, "__wrapped__"):
        return public
    call = _naming_call(public)
    setattr(sys.modules[public.__module__], public.__name__, call)  # where pickle looks it up
    return call


def _name_methods(kind: type) -> None:
    for name, value in list(vars(kind).items()):
        if name.startswith("_") and (name != "__init__" or issubclass(kind, Result)):
            continue
        if name == "to_dict":
            setattr(kind, name, _naming_call(_strict(value)))
        elif isinstance(value, classmethod | staticmethod):
            setattr(kind, name, type(value)(_naming_call(value.__func__)))
        elif inspect.isfunction(value):
            setattr(kind, name, _naming_call(value))


def _strict(to_dict: Callable[..., Any]) -> Callable[..., Any]:
    """Return a ``to_dict`` whose values are valid in strict JSON."""

    @functools.wraps(to_dict)
    def call(*args: Any, **kwargs: Any) -> Any:
        return json_values(to_dict(*args, **kwargs))

    return call


SCALARS = {int, bool, float, str, type(None)}


def json_values(value: Any) -> Any:
    """Return plain values with infinite numbers as text, as in count files: "inf" and "-inf".

    Keys are numbers or text; a named tuple becomes a plain one.
    """
    if isinstance(value, dict | MappingProxyType):
        return {json_values(key): json_values(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        plain = set(map(type, value)) <= SCALARS  # fast, even for long lists
        if plain and math.inf not in value and -math.inf not in value:
            return value
        kind = list if isinstance(value, list) else tuple
        return kind(map(json_values, value))
    return str(value) if isinstance(value, float) and math.isinf(value) else value


MISUSE = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, StopIteration)
"""Errors that an unfit argument can cause; others concern the machine or are bugs of stakes."""


def _naming_call(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except MISUSE as error:
            if isinstance(error, StakesError):
                raise
            refusal = _unfit_argument(function, args, kwargs)
            if refusal is None:
                raise
            raise refusal from error

    return call


def _unfit_argument(function: Any, args: Any, kwargs: Any) -> RefusedInputError | None:
    """Return the error about the first argument that does not fit its type hint, or None."""
    signature = inspect.signature(function)
    try:
        given = signature.bind(*args, **kwargs).arguments
        hints = _parameter_hints(function)
    except (TypeError, NameError):
        # Python itself names missing arguments, and some names in hints exist for mypy only.
        return None
    for name, value in given.items():
        parameter = signature.parameters[name]
        one = parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        if one and value is not parameter.default and not _fits(value, hints.get(name, Any)):
            return _refusal(name, value, parameter.annotation)
    return None


def _parameter_hints(function: Any) -> dict[str, Any]:
    """Return the type hints of a function's parameters; names in others may exist for mypy only."""
    inner = inspect.unwrap(function)
    taking = types.FunctionType(inner.__code__, inner.__globals__, closure=inner.__closure__)
    hints = inner.__annotations__.items()
    taking.__annotations__ = {name: hint for name, hint in hints if name != "return"}
    return get_type_hints(taking)


def _refusal(name: str, value: Any, annotation: str) -> RefusedInputError:
    if isinstance(value, float | np.floating) and value != value:  # noqa: PLR0124 - NaN
        return InputError(name, "expected a number, got NaN.")
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and np.isnan(value).any():
        return InputError(name, "expected numbers, got NaN.")
    return InputTypeError(
        name, f"expected {annotation}, got {reprlib.repr(value)} ({type(value).__name__})."
    )


def _fits(value: Any, hint: Any) -> bool:
    """Tell whether a value fits a type hint; numbers and arrays must not be or contain NaN."""
    return _fitting(hint)(value)


@functools.cache
def _fitting(hint: Any) -> Callable[[Any], bool]:
    """Return a function that tells whether a value fits a type hint."""
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if kind in (Union, types.UnionType):
        each = tuple(map(_fitting, inner))
        return lambda value: any(fits(value) for fits in each)
    if kind is Literal:
        return lambda value: any(type(value) is type(one) and value == one for one in inner)
    if kind in (tuple, list):
        return lambda value: isinstance(value, tuple | list) and _entries_fit(value, inner)
    if kind is Sequence and inner:
        entry = _fitting(inner[0])
        return lambda value: PLAIN[Sequence](value) and all(map(entry, value))
    if kind in PLAIN:
        return PLAIN[kind]
    told = isinstance(kind, type) and not getattr(kind, "_is_protocol", False)
    return lambda value: not told or isinstance(value, kind)  # other hints cannot be checked


def _entries_fit(values: Sequence[Any], hints: tuple[Any, ...]) -> bool:
    if len(hints) == 1 or hints[1:] == (...,):
        return all(map(_fitting(hints[0]), values))
    return not hints or (len(hints) == len(values) and all(map(_fits, values, hints)))


def _is_number(value: Any) -> bool:
    if type(value) is float:  # the most frequent case, first because it is fast
        return value == value  # noqa: PLR0124 - NaN does not equal itself
    if isinstance(value, np.ndarray) and not value.ndim and value.dtype.kind in "iuf":
        value = value.item()
    number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    return number and value == value  # noqa: PLR0124 - NaN does not equal itself


def _is_array(value: Any) -> bool:
    numbers = isinstance(value, np.ndarray) and value.dtype.kind in "biuf"
    return numbers and not np.isnan(value).any()


def _is_label(value: Any) -> bool:
    several = hasattr(value, "__len__") and not isinstance(value, str | bytes)
    return not several and isinstance(value, Hashable) and not is_missing(value)


PLAIN: dict[Any, Callable[[Any], bool]] = {
    Any: lambda _: True,
    bool: lambda value: isinstance(value, bool | np.bool_),
    int: lambda value: isinstance(value, Integral) and not isinstance(value, bool),
    float: _is_number,
    np.ndarray: _is_array,
    NDArray: _is_array,  # distinct from np.ndarray since numpy 2.5
    Hashable: _is_label,
    Mapping: lambda value: isinstance(value, Mapping),
    Sequence: lambda value: has_entries(value) and hasattr(value, "__getitem__"),
    Iterable: lambda value: (
        hasattr(value, "__iter__")
        and not isinstance(value, str | bytes)
        and getattr(value, "ndim", 1) != 0
    ),
}
"""Checks for the type hints that need more than `isinstance`."""
