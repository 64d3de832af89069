"""The only door to the libraries that a report needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from stakes.errors import MissingExtraError


def altair() -> Any:
    """Return altair, which describes charts."""
    return _imported("altair", "altair")


def vl_convert() -> Any:
    """Return vl-convert, which compiles charts and holds the scripts that draw them."""
    return _imported("vl_convert", "vl-convert-python")


def jinja2() -> Any:
    """Return Jinja2, which fills the page."""
    return _imported("jinja2", "jinja2")


def _imported(module: str, package: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"a report needs {package}, which is not installed: pip install 'stakes[report]'"
        ) from error
