"""Frozen dataclasses that hold arrays and are equal when what they hold is equal."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray


def readonly_copy(values: Any) -> NDArray[Any]:
    """Copy `values` into a contiguous array that cannot be written to."""
    array = np.array(values, order="C")
    array.setflags(write=False)
    return array


def readonly(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array that nobody else holds, from now on not to be written to."""
    array.setflags(write=False)
    return array


class ByValue:
    """Equality, hashing and pickling of a frozen dataclass by the values of its fields."""

    def _set(self, **values: Any) -> None:
        """Fill the fields of a frozen dataclass that has its own ``__init__``."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _values(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def _changed(self, **changes: Any) -> Self:
        """Return a copy with some fields changed, which need no checking."""
        result = type(self).__new__(type(self))
        result._set(**(self._values() | changes))  # noqa: SLF001 - of the same kind
        return result

    def _comparable(self) -> dict[str, Any]:
        """Return what equality and hashing look at; by default the fields."""
        return self._values()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        theirs = other._comparable()
        return all(_equal(mine, theirs[name]) for name, mine in self._comparable().items())

    def __hash__(self) -> int:
        return hash((type(self), *map(_hash_key, self._comparable().values())))

    def __getstate__(self) -> dict[str, Any]:
        return self._values()

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):  # pickle forgets that an array was read-only
                value.setflags(write=False)
        self._set(**state)


def _equal(one: Any, other: Any) -> bool:
    arrays = isinstance(one, np.ndarray), isinstance(other, np.ndarray)
    if any(arrays):
        if not all(arrays):
            return False
        floats = one.dtype.kind == other.dtype.kind == "f"
        return np.array_equal(one, other, equal_nan=floats)
    return bool(one == other)


def _hash_key(value: Any) -> Any:
    """Stand in for an array such that equal arrays, of integers or of floats, hash alike."""
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.kind not in "biuf":
        return value.shape, tuple(value.ravel().tolist())
    numbers = np.ascontiguousarray(value, dtype=np.float64) + 0.0  # minus zero equals zero
    return value.shape, numbers.tobytes()
