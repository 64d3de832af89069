"""The one door to optional libraries: each loads when first used, or says what to install."""

from __future__ import annotations

import ast
import math
import pkgutil
import sys
from importlib import import_module
from typing import Any

import lazy_loader

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
        needs = f"{what} needs {package or module}"
        if isinstance(error, ModuleNotFoundError) and error.name == module:
            text = f"{needs}, which is not installed: pip install {install}"
        else:  # for want of memory, say, or of what it needs itself
            text = f"{needs}, which cannot be loaded: {error}"
        raise MissingExtraError(text) from error


def lazy_names(package: str) -> tuple[Any, Any, Any]:
    """Return what makes a package load the names in its stub when they are first used.

    As `lazy_loader.attach_stub` does, but also for a package in a zip archive.

    Parameters
    ----------
    package : str
        The package, whose ``__init__.pyi`` imports all its public names.
    """
    modules: set[str] = set()
    names: dict[str, list[str]] = {}
    for node in ast.parse(pkgutil.get_data(package, "__init__.pyi") or b"").body:
        if isinstance(node, ast.ImportFrom):
            found = [alias.name for alias in node.names]
            if node.module is None:
                modules.update(found)
            else:
                names.setdefault(node.module, []).extend(found)
    load, listed, public = lazy_loader.attach(package, modules, names)

    def loaded(name: str) -> Any:
        from stakes._core.values import naming  # which needs numpy

        value = naming(load(name))
        setattr(sys.modules[package], name, value)
        return value

    return loaded, listed, public


def altair() -> Any:
    """Return altair, which describes the charts of a report."""
    return imported("altair", "a report", "'stakes[report]'")


def address_limit() -> float:
    """Return how many bytes of addresses this process may have, as ``ulimit -v`` sets them."""
    try:
        import resource
    except ImportError:  # as on Windows
        return math.inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return math.inf if limit == resource.RLIM_INFINITY else float(limit)


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


def data_frame(rows: Any) -> Any:
    """Return a pandas data frame of a mapping of columns, or of a list of rows."""
    return pandas().DataFrame(rows)
