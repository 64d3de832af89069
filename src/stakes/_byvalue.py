"""Frozen dataclasses that hold arrays and are equal when what they hold is equal."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray


def frozen(values: Any) -> NDArray[Any]:
    """Copy `values` into an array that cannot be written to."""
    array = np.array(values)
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

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        theirs = other._values()
        return all(np.array_equal(mine, theirs[name]) for name, mine in self._values().items())

    def __hash__(self) -> int:
        keys = [
            (value.shape, float(value.sum())) if isinstance(value, np.ndarray) else value
            for value in self._values().values()
        ]
        return hash((type(self), *keys))

    def __getstate__(self) -> dict[str, Any]:
        return self._values()

    def __setstate__(self, state: dict[str, Any]) -> None:
        for value in state.values():
            if isinstance(value, np.ndarray):  # pickle forgets that an array was read-only
                value.setflags(write=False)
        self._set(**state)
