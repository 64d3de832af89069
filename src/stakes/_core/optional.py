"""The one door to optional libraries: each loads when first used, or says what to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from stakes.errors import MissingExtraError


def imported(module: str, what: str, install: str, *, package: str = "") -> Any:
    """Import a library, or say what needs it and how to get it.

    Parameters
    ----------
    module : str
        The library.
    what : str
        What needs it, for the error.
    install : str
        What to give to pip.
    package : str, optional
        The name of its distribution, where it differs.
    """
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(
            f"{what} needs {package or module}, which is not installed: pip install {install}"
        ) from error


def altair() -> Any:
    """Return altair, which describes the charts of a report."""
    return imported("altair", "a report", "'stakes[report]'")


def vl_convert() -> Any:
    """Return vl-convert, which compiles charts and holds the scripts that draw them."""
    return imported("vl_convert", "a report", "'stakes[report]'", package="vl-convert-python")


def jinja2() -> Any:
    """Return Jinja2, which fills the page of a report."""
    return imported("jinja2", "a report", "'stakes[report]'")


def pyplot() -> Any:
    """Return matplotlib's pyplot, which displays draw with."""
    imported("matplotlib", "a display", "'stakes[plot]'")
    return import_module("matplotlib.pyplot")


def pandas() -> Any:
    """Return pandas, whose data frames tables of results are."""
    return imported("pandas", "to_frame", "pandas")
