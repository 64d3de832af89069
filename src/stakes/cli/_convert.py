"""Commands that convert plain values without pydantic, which takes longer to load than to use."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    Base = TyperCommand
else:
    Base = object


class Quick(Base):
    """A command whose parameters convert plain values themselves.

    Before 0.29, typer does not use pydantic, and nothing changes.
    """

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters, the option for help among them."""
        parameters: list[Any] = super().get_params(ctx)
        for each in parameters:
            if hasattr(each, "get_runtime_param") and "get_runtime_param" not in vars(each):
                plain = _Plain(each.type_descriptor.annotation, each.get_runtime_param)
                each.get_runtime_param = partial(_itself, plain)
        return parameters


class QuickGroup(Quick, TyperGroup):
    """A group of commands whose own parameters convert plain values themselves."""


class _Plain:
    """Converts text, numbers and paths; typer converts the rest, and words its errors.

    Parameters
    ----------
    annotation : type
        What the parameter takes, such as ``float`` or ``list[str]``.
    by_typer : callable
        Returns typer's own converter.
    """

    def __init__(self, annotation: Any, by_typer: Callable[[], Any]) -> None:
        self._kind = next(iter(get_args(annotation)), annotation)
        self._by_typer = by_typer

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert what was given, or the default."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        given = value if several else [value]
        if not all(_is_plain(each, self._kind) for each in given):
            return self._by_typer().coerce(value, param=param, ctx=ctx)
        found = [self._kind(each) for each in given]
        return found if several else found[0]


def _itself(plain: _Plain) -> _Plain:
    return plain


def _is_plain(value: Any, kind: Any) -> bool:
    """Tell whether the type itself makes of a value what typer would."""
    if type(value) is kind:
        return True
    if kind is Path:  # typer refuses a file that cannot be read
        return os.access(value, os.R_OK) or not Path(value).exists()
    if kind not in {int, float} or not isinstance(value, str) or not value.isascii():
        return False
    try:
        kind(value)
    except ValueError:
        return False
    return True
