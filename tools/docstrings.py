"""Validate the docstrings of the public names by numpydoc, with the checks of pyproject.toml.

    python tools/docstrings.py

Public names are those that the modules of the reference export, and the methods of their classes.
"""

import inspect
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType

from numpydoc.validate import validate

ROOT = Path(__file__).parents[1]


def rooms() -> list[ModuleType]:
    """Return the modules that the reference documents."""
    reference = (ROOT / "docs" / "reference" / "index.md").read_text(encoding="utf-8")
    names = re.findall(
        r"^\.\. (?:currentmodule|automodule):: (\S+)$", reference, flags=re.MULTILINE
    )
    return [import_module(name) for name in dict.fromkeys(names)]


def exported(room: ModuleType) -> dict[str, object]:
    """Return the classes and functions of this package that a room exports, by full name."""
    own = [
        key for key, each in vars(room).items() if getattr(each, "__module__", "") == room.__name__
    ]
    names = getattr(room, "__all__", [key for key in own if not key.startswith("_")])
    every = {f"{room.__name__}.{name}": getattr(room, name) for name in names}
    return {
        name: each
        for name, each in every.items()
        if (inspect.isclass(each) or inspect.isfunction(each))
        and each.__module__.startswith("stakes")
    }


def public() -> dict[str, frozenset[str]]:
    """Return the full names to validate, each with the checks to skip."""
    every: dict[object, tuple[str, frozenset[str]]] = {}
    for room in rooms():
        for name, each in exported(room).items():
            # Results that only functions create list attributes, not constructor parameters.
            every.setdefault(each, (name, frozenset({"PR01"} if inspect.isclass(each) else ())))
    names = dict(every.values())
    for each, (name, _) in every.items():
        if inspect.isclass(each):
            # Inherited ones too: the bases are often private, and users see their methods here.
            members = [(key, inspect.getattr_static(each, key)) for key in dir(each)]
            inside = [f"{name}.{key}" for key, member in members if told(key, member)]
            names |= dict.fromkeys(inside, frozenset({"EX01"}))  # the class has an example
    return names


def told(name: str, member: object) -> bool:
    """Return whether a member of a class is a public method or property of this package."""
    inner = getattr(member, "fget", None) or getattr(member, "__func__", member)
    ours = str(getattr(inner, "__module__", "")).startswith("stakes")
    return not name.startswith("_") and ours and (inspect.isroutine(member) or inner is not member)


def problems(name: str, checks: frozenset[str]) -> Iterator[str]:
    """Iterate over the problems of a docstring, each with its file and line."""
    found = validate(name)
    path = Path(found["file"] or ROOT).resolve()
    shown = path.relative_to(ROOT) if path.is_relative_to(ROOT) else path
    for code, message in found["errors"]:
        if code in checks:
            yield f"{shown}:{found['file_line']}: {code} {name}: {message}"


def main() -> int:
    """Print the problems, and return 1 if there are any."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    checks = frozenset(settings["tool"]["numpydoc_validation"]["checks"])
    names = public()
    wrong = [each for name, but in names.items() for each in problems(name, checks - but)]
    print(*wrong, f"{len(names)} docstrings, {len(wrong)} problems", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
