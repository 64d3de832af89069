"""The one place where findings become JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from stakes._core.values import Result


class Finding(Result):
    """What all findings have in common: frozen dataclasses, of which JSON is made in one way."""

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as dictionaries, lists, text and numbers, as JSON has it.

        Returns
        -------
        dict
            The attributes by name.
        """
        found: dict[str, Any] = plain(self)
        return found


def plain(value: Any) -> Any:
    """Return what JSON can hold of a value.

    Dataclasses become dictionaries, arrays and tuples lists, infinite numbers the text "inf" or
    "-inf". NaN raises: an unknown number is None in the findings, never NaN.
    """
    if is_dataclass(value) and not isinstance(value, type):
        return {key_of(each.name): plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        if math.isnan(value):
            raise ValueError("NaN is no finding; None stands for what cannot be computed.")
        return value if math.isfinite(value) else str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON: {value!r}.")


def key_of(name: str) -> str:
    """Return the key of a field; an underscore at its end keeps it from being a Python keyword."""
    return name.removesuffix("_")


def json_text(value: Any, indent: int | None = None) -> str:
    """Return findings, or a selection of them, as the text of a JSON file."""
    separators = (",", ":") if indent is None else None
    return json.dumps(
        plain(value), indent=indent, separators=separators, ensure_ascii=False, allow_nan=False
    )
