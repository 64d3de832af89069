"""Lazy loading of optional libraries (with a hint on what to install) and of public names.

This module loads with ``import stakes``, so it imports next to nothing itself.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # typing would take longer to load than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def imported(module: str, what: str, install: str, *, package: str = "") -> Any:
    """Import a library, or raise an error that names what needs it and how to install it.

    Parameters
    ----------
    module : str
        The library.
    what : str
        The feature that needs it, for the error.
    install : str
        The argument of ``pip install``.
    package : str, optional
        The name of its distribution, where it differs.
    """
    try:
        return import_module(module)
    except ImportError as error:
        from stakes.errors import MissingExtraError

        needs = f"{what} needs {package or module}"
        if isinstance(error, ModuleNotFoundError) and error.name == module:
            text = f"{needs}, which is not installed: pip install {install}"
        else:  # for example for lack of memory, or of one of its own dependencies
            text = f"{needs}, which cannot be loaded: {error}"
        raise MissingExtraError(text) from error


UNUSED: dict[str, Callable[[], None]] = {}
"""Packages with no public name used yet, and the functions that load all their names."""


def lazy_names(package: str, *, whole: bool = False) -> tuple[Any, Any]:
    """Return the ``__getattr__`` and ``__dir__`` of a package that loads names on first use.

    A caller that uses a name also uses results of other packages. Their names load as well, so
    that failing calls of their methods name the argument at fault. Modules of stakes import from
    the module that defines a name, and load no more than that.

    Parameters
    ----------
    package : str
        The package, whose ``__init__.pyi`` imports all its public names.
    whole : bool
        Whether the first name loads all of them.
    """

    def load(name: str) -> Any:
        from stakes._core.values import naming  # which needs numpy

        module = _public(package)[name]
        loaded = import_module(f"{package}.{module or name}")
        value = naming(getattr(loaded, name) if module else loaded)
        setattr(sys.modules[package], name, value)
        return value

    def load_all() -> None:
        for name in _public(package):
            load(name)

    def found(name: str) -> Any:
        if name == "__all__":
            return sorted(_public(package))
        if name.startswith("__") or name not in _public(package):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = load(name)
        while used := [each for each in UNUSED.copy() if each in sys.modules]:
            UNUSED.pop(used[0], list)()  # the default `list`: another thread may have popped it
        return value

    if whole:
        UNUSED[package] = load_all
    return found, lambda: [*vars(sys.modules[package]), *_public(package)]


def _public(package: str) -> dict[str, str]:
    """Return the public names of a package with their modules; "" for names that are modules."""
    if package not in PUBLIC:
        import ast
        import pkgutil  # which also reads from a zip archive

        PUBLIC[package] = {
            alias.name: node.module or ""
            for node in ast.parse(pkgutil.get_data(package, "__init__.pyi") or b"").body
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
    return PUBLIC[package]


PUBLIC: dict[str, dict[str, str]] = {}


def altair() -> Any:
    """Return altair, which specifies the charts of a report."""
    return imported("altair", "a report", "'stakes[report]'")


def address_limit() -> float:
    """Return the limit of this process's address space in bytes, as set by ``ulimit -v``."""
    import math

    try:
        import resource
    except ImportError:  # as on Windows
        return math.inf
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return math.inf if limit == resource.RLIM_INFINITY else float(limit)


def vl_convert() -> Any:
    """Return vl-convert, which compiles charts and contains the scripts that draw them."""
    return imported("vl_convert", "a report", "'stakes[report]'", package="vl-convert-python")


def jinja2() -> Any:
    """Return Jinja2, which renders the page of a report."""
    return imported("jinja2", "a report", "'stakes[report]'")


def pyplot() -> Any:
    """Return matplotlib's pyplot, with which displays draw."""
    imported("matplotlib", "a display", "'stakes[plot]'")
    return import_module("matplotlib.pyplot")


def pandas() -> Any:
    """Return pandas, for results as data frames."""
    return imported("pandas", "to_frame", "pandas")


def data_frame(rows: Any) -> Any:
    """Return a pandas data frame of a mapping of columns, or of a list of rows."""
    return pandas().DataFrame(rows)
