"""What loads when it is first used: optional libraries, which say what to install, and names.

This loads with ``import stakes``, so it imports next to nothing itself.
"""

from __future__ import annotations

import sys
from importlib import import_module

TYPE_CHECKING = False  # typing would take longer to load than all the rest
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


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
        from stakes.errors import MissingExtraError

        needs = f"{what} needs {package or module}"
        if isinstance(error, ModuleNotFoundError) and error.name == module:
            text = f"{needs}, which is not installed: pip install {install}"
        else:  # for want of memory, say, or of what it needs itself
            text = f"{needs}, which cannot be loaded: {error}"
        raise MissingExtraError(text) from error


UNUSED: dict[str, Callable[[], None]] = {}
"""Rooms of which nobody has asked for a public name yet, and what loads all their names."""


def lazy_names(package: str, *, whole: bool = False) -> tuple[Any, Any]:
    """Return the ``__getattr__`` and ``__dir__`` of a package that loads names when first used.

    When they are used from outside, results of other rooms will be, too: the names of those rooms
    load with them, as their calls are to name the arguments that made them fail. Modules of stakes
    import from the module that defines a name, and load no more than that.

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
            UNUSED.pop(used[0], list)()  # unless another thread is at it
        return value

    if whole:
        UNUSED[package] = load_all
    return found, lambda: [*vars(sys.modules[package]), *_public(package)]


def _public(package: str) -> dict[str, str]:
    """Return the public names of a package and their modules, which are empty for its modules."""
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
    """Return altair, which describes the charts of a report."""
    return imported("altair", "a report", "'stakes[report]'")


def address_limit() -> float:
    """Return how many bytes of addresses this process may have, as ``ulimit -v`` sets them."""
    import math

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
