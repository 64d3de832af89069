"""What a result or an argument must be, read from its annotation."""

from __future__ import annotations

import functools
import inspect
import sys
import types
from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from numbers import Integral, Real
from typing import Any, TypeVar

import numpy as np

from stakes._core.labels import is_missing
from stakes._core.values import ByValue
from stakes.errors import InputError, InputTypeError, StakesError

Public = TypeVar("Public", bound=Callable[..., Any])


class Result(ByValue):
    """A frozen dataclass that stakes fills; each field must be what its annotation says."""

    def __post_init__(self) -> None:
        for name, annotation in _field_annotations(type(self)):  # type: ignore[arg-type]
            _check(getattr(self, name), name, annotation, type(self).__module__)


def checked(public: Public) -> Public:
    """Name the argument that made a public function, or a public method of a class, fail.

    Most arguments are checked where they are used, which tells more. Where such a check is missing,
    the error would be about something inside of stakes; then the arguments are compared with their
    annotations. A call that works costs nothing.
    """
    if not inspect.isclass(public):
        return _checked_function(public)  # type: ignore[no-any-return]
    for name, value in list(vars(public).items()):
        if name.startswith("_") and (name != "__init__" or issubclass(public, Result)):
            continue
        if isinstance(value, classmethod):
            setattr(public, name, classmethod(_checked_function(value.__func__)))
        elif isinstance(value, staticmethod):
            setattr(public, name, staticmethod(_checked_function(value.__func__)))
        elif inspect.isfunction(value):
            setattr(public, name, _checked_function(value))
    return public


def _checked_function(function: Any) -> Any:
    parameters = inspect.signature(function).parameters.values()
    expected = {
        each.name: each.annotation
        for each in parameters
        if isinstance(each.annotation, str) and not UNCHECKED & {*_split(each.annotation, "|")}
        if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        if each.name != "self"
    }
    if not expected:
        return function
    positional = [each.name for each in parameters if each.kind is each.POSITIONAL_OR_KEYWORD]
    defaults = {each.name: each.default for each in parameters}

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except StakesError:
            raise
        except Exception:
            for name, value in (*zip(positional, args, strict=False), *kwargs.items()):
                annotation = expected.get(name)
                if annotation is not None and value is not defaults[name]:
                    _check(value, name, annotation, function.__module__)
            raise

    return call


UNCHECKED = {"Any", "ArrayLike", "object", ""}
"""Annotations that leave it to the function what it takes."""


@cache
def _field_annotations(cls: type) -> tuple[tuple[str, str], ...]:
    return tuple((each.name, str(each.type)) for each in fields(cls))


def _check(value: Any, name: str, annotation: str, module: str) -> None:
    if _fits(value, annotation, module):
        return
    if isinstance(value, float | np.floating) and "float" in annotation:
        raise InputError(name, "expected a number, got NaN.")
    raise InputTypeError(name, f"expected {annotation}, got {value!r} ({type(value).__name__}).")


def _fits(value: Any, annotation: str, module: str) -> bool:
    return any(_fits_one(value, each, module) for each in _split(annotation, "|"))


@cache
def _split(text: str, mark: str) -> tuple[str, ...]:
    """Split an annotation at a mark, but not inside of brackets."""
    parts, depth = [""], 0
    for letter in text:
        depth += (letter == "[") - (letter == "]")
        if letter == mark and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return tuple(part.strip() for part in parts)


def _fits_one(value: Any, annotation: str, module: str) -> bool:
    outer, _, inner = annotation.partition("[")
    outer = outer.rpartition(".")[2]
    if outer in PLAIN:
        return PLAIN[outer](value)
    if outer in ("tuple", "list"):
        if _holds_nan(value):
            return False
        return isinstance(value, tuple | list) and _entries_fit(value, inner[:-1], module)
    known = getattr(sys.modules[module], outer, None)
    if isinstance(known, types.UnionType):
        return isinstance(value, known)
    if known is not None and not inspect.isclass(known):
        return True  # an alias of what is not checked
    # By name: many are imported for annotations only.
    return outer in {each.__name__ for each in type(value).__mro__}


def _entries_fit(values: Any, annotation: str, module: str) -> bool:
    kinds = _split(annotation, ",")
    if len(kinds) == 1 or kinds[-1] == "...":
        kinds = (kinds[0],) * len(values)
    return len(kinds) == len(values) and all(
        _fits(value, kind, module) for value, kind in zip(values, kinds, strict=True)
    )


def _is_number(value: Any) -> bool:
    if isinstance(value, np.ndarray) and not value.ndim and value.dtype.kind in "iuf":
        value = value.item()
    number = isinstance(value, Real) and not isinstance(value, bool | np.bool_)
    return number and value == value  # noqa: PLR0124 - NaN does not equal itself


def _holds_nan(value: Any) -> bool:
    return isinstance(value, tuple | list) and any(
        isinstance(each, float | np.floating) and bool(np.isnan(each)) for each in value
    )


def _is_array(value: Any) -> bool:
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "biuf":
        return False
    return not np.isnan(value).any()


def _is_label(value: Any) -> bool:
    if hasattr(value, "__len__") and not isinstance(value, str | bytes):
        return False
    return getattr(value, "__hash__", None) is not None and not is_missing(value)


PLAIN: dict[str, Callable[[Any], bool]] = {
    "": lambda _: True,
    "Any": lambda _: True,
    "None": lambda value: value is None,
    "bool": lambda value: isinstance(value, bool | np.bool_),
    "str": lambda value: isinstance(value, str),
    "PathLike": lambda value: hasattr(value, "__fspath__"),
    "int": lambda value: isinstance(value, Integral) and not isinstance(value, bool),
    "float": _is_number,
    "Floats": _is_array,
    "NDArray": _is_array,
    "Label": _is_label,
    "Labels": lambda value: isinstance(value, tuple | list) and all(map(_is_label, value)),
    "Mapping": lambda value: isinstance(value, Mapping),
    "Sequence": lambda value: hasattr(value, "__len__") and hasattr(value, "__getitem__"),
    "Iterable": lambda value: hasattr(value, "__iter__") and not isinstance(value, str | bytes),
    "Callable": callable,
    "Literal": lambda _: True,
}
"""How a value is checked, by the name of the annotation."""
