"""Rewrite the reference of the JSON files, from the dataclasses that the files contain.

    python tools/json_reference.py

replaces the text between the marks ``<!-- NAME: … -->`` and ``<!-- end of NAME -->`` on the two
pages. A test checks that the pages are up to date.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.findings.audit import AuditFound, PlanFound
from stakes.findings.data import key_of
from stakes.findings.report import Findings

ROOT = Path(__file__).parents[1]
ARRAYS = (np.ndarray, NDArray)  # from numpy 2.5 on, the second is a name of its own
PAGES = ROOT / "docs" / "reference"
COMMANDS = {
    "evaluate": "Evaluation",
    "compare": "Comparison",
    "curve": "CurveDocument",
    "threshold": "Thresholds",
    "plan": "Plans",
    "simulate": "Simulation",
}
"""Commands that write JSON, and the name of the dataclass that each writes."""

PARTS = ("data", "policies", "models", "curves", "sample_size")
"""Modules of `stakes.findings` whose classes the commands' dataclasses contain."""

ROOMS = ("stakes.infer", "stakes.policies", "stakes.simulate")
"""Packages whose results the commands write unchanged."""

PLAIN = {str: "text", bool: "true or false", int: "number", float: "number", Hashable: "label"}
SEVERAL = {"text": "texts", "number": "numbers", "label": "labels"}


def documents() -> dict[str, Any]:
    """Return the dataclass of each JSON file, by the name of its section on the pages."""
    found: dict[str, Any] = {"report": Findings}
    for command, name in COMMANDS.items():
        found[command] = getattr(import_module(f"stakes.cli.{command}"), name)
    return found | {"audit plan": PlanFound, "audit read": AuditFound}


def reference(document: Any, known: set[Any]) -> str:
    """Describe a document, and each of its parts that is not in `known` yet."""
    parts = [_table(document)]
    for part in _parts(document):
        if part not in known:
            known.add(part)
            parts += [f"({_anchor(part)})=\n### {part.__name__}", _summary(part), _table(part)]
    return "\n\n".join(parts)


def _parts(document: Any) -> Iterator[Any]:
    """Iterate over the dataclasses nested in a document, at any depth, each once."""
    found: dict[Any, None] = {}

    def look(kind: Any) -> None:
        if is_dataclass(kind):
            if kind not in found:
                found[kind] = None
                for each in _hints(kind).values():
                    look(each)
        elif typing.get_origin(kind) not in ARRAYS:
            for each in typing.get_args(kind):
                look(each)

    for each in _hints(document).values():
        look(each)
    yield from found


def _hints(kind: Any) -> dict[str, Any]:
    """Return the types of a dataclass's fields, which commands import only for type checking."""
    names: dict[str, Any] = {}
    for room in map(import_module, ROOMS):  # vars() would miss names that load lazily
        names |= {name: getattr(room, name) for name in room.__all__}
    for part in PARTS:
        names |= vars(import_module(f"stakes.findings.{part}"))
    return {
        name: hint
        for name, hint in typing.get_type_hints(kind, localns=names).items()
        if name in {each.name for each in fields(kind)}
    }


def _table(kind: Any) -> str:
    """Return a table of the attributes; those with the same type and description share a row."""
    described = _attributes(kind)
    rows: dict[tuple[str, str], list[str]] = {}
    for name, hint in _hints(kind).items():
        said = re.sub(r"\bNone\b", "null", described[name])
        rows.setdefault((_type(hint), said), []).append(f"`{key_of(name)}`")
    lines = [f"| {', '.join(keys)} | {what} | {said} |" for (what, said), keys in rows.items()]
    return "\n".join(["| key | type | holds |", "|---|---|---|", *lines])


def _type(hint: Any) -> str:
    """Describe in words the JSON value of a type."""
    if hint in PLAIN:
        return PLAIN[hint]
    if isinstance(hint, type) and is_dataclass(hint):
        return f"[{hint.__name__}](#{_anchor(hint)})"
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (types.UnionType, typing.Union):
        return " or ".join("null" if each is types.NoneType else _type(each) for each in arguments)
    if origin in ARRAYS:
        return "array of numbers"
    if origin is tuple:
        kinds = dict.fromkeys(_type(each) for each in arguments if each is not Ellipsis)
        inside = " and ".join(SEVERAL.get(each, each) for each in kinds)
        return f"list of {inside.replace('list of', 'lists of')}"
    if origin is Mapping:
        return f"object of {_type(arguments[1])} by name"
    raise TypeError(f"no words for the type {hint!r}")


def _anchor(kind: Any) -> str:
    return f"json-{re.sub('(?<!^)(?=[A-Z])', '-', kind.__name__).lower()}"


def _summary(kind: Any) -> str:
    return (kind.__doc__ or "").partition("\n")[0]


def _attributes(kind: Any) -> dict[str, str]:
    """Return the descriptions of attributes in the docstrings of a dataclass and its bases."""
    found: dict[str, str] = {}
    for each in reversed(kind.__mro__):
        text = inspect.cleandoc(each.__doc__ or "")  # which Python 3.13 dedents itself
        section = re.search(r"Attributes\n-+\n(.*?)(?:\n\n\w+\n-{3,}|\Z)", text, re.DOTALL)
        if section is None:
            continue
        for names, text in re.findall(
            r"^(\w[\w, ]*?)(?: : [^\n]*)?\n((?:^ {4}[^\n]*\n?)+)",
            section[1] + "\n",
            re.MULTILINE,
        ):
            said = " ".join(text.split())
            found |= dict.fromkeys(re.split(", ", names), said)
    return found


def pages() -> dict[Path, str]:
    """Return the up-to-date text of each page."""
    made = {path: path.read_text(encoding="utf-8") for path in _paths()}
    known: dict[Path, set[Any]] = {path: set() for path in made}
    for name, document in documents().items():
        path = PAGES / ("report_schema.md" if name == "report" else "command_line_json.md")
        if name != "report":  # parts described on the report's page are only linked
            known[path] |= set(_parts(Findings))
        text = reference(document, known[path])
        head, begin, rest = made[path].partition(
            f"<!-- {name}: made by tools/json_reference.py -->\n"
        )
        _, end, tail = rest.partition(f"<!-- end of {name} -->")
        made[path] = f"{head}{begin}\n{text}\n\n{end}{tail}"
    return made


def _paths() -> list[Path]:
    return [PAGES / "report_schema.md", PAGES / "command_line_json.md"]


if __name__ == "__main__":
    for path, text in pages().items():
        path.write_text(text, encoding="utf-8")
