"""Write the reference of the JSON files anew, from the dataclasses that they are made of.

    python tools/json_reference.py

replaces what stands between the marks ``<!-- NAME: … -->`` and ``<!-- end of NAME -->`` on the two
pages. A test compares the pages with what this would write.
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
"""The commands that write JSON, and what each writes."""

PARTS = ("data", "policies", "models", "curves", "sample_size")
"""The parts of the findings that commands are made of."""

ROOMS = ("stakes.infer", "stakes.policies", "stakes.simulate")
"""Whose results commands write as they are."""

PLAIN = {str: "text", bool: "true or false", int: "number", float: "number", Hashable: "label"}
SEVERAL = {"text": "texts", "number": "numbers", "label": "labels"}


def documents() -> dict[str, Any]:
    """Return what each JSON file is made of, by the name of its page's part."""
    found: dict[str, Any] = {"report": Findings}
    for command, name in COMMANDS.items():
        found[command] = getattr(import_module(f"stakes.cli.{command}"), name)
    return found | {"audit plan": PlanFound, "audit read": AuditFound}


def reference(document: Any, known: set[Any]) -> str:
    """Describe a document, and each part of it that is not known already."""
    parts = [_table(document)]
    for part in _parts(document):
        if part not in known:
            known.add(part)
            parts += [f"({_anchor(part)})=\n### {part.__name__}", _summary(part), _table(part)]
    return "\n\n".join(parts)


def _parts(document: Any) -> Iterator[Any]:
    """Return the dataclasses that a document is made of, at any depth, each once."""
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
    """Return the types of a dataclass's fields; commands import them only to check."""
    names: dict[str, Any] = {}
    for room in map(import_module, ROOMS):  # whose names may load when they are asked for
        names |= {name: getattr(room, name) for name in room.__all__}
    for part in PARTS:
        names |= vars(import_module(f"stakes.findings.{part}"))
    return {
        name: hint
        for name, hint in typing.get_type_hints(kind, localns=names).items()
        if name in {each.name for each in fields(kind)}
    }


def _table(kind: Any) -> str:
    """Return a row for each attribute, or for several that are described together."""
    described = _attributes(kind)
    rows: dict[tuple[str, str], list[str]] = {}
    for name, hint in _hints(kind).items():
        said = re.sub(r"\bNone\b", "null", described[name])
        rows.setdefault((_type(hint), said), []).append(f"`{key_of(name)}`")
    lines = [f"| {', '.join(keys)} | {what} | {said} |" for (what, said), keys in rows.items()]
    return "\n".join(["| key | type | holds |", "|---|---|---|", *lines])


def _type(hint: Any) -> str:
    """Say in words what JSON has for a type."""
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
    """Return what the docstrings of a dataclass and its bases say of each attribute."""
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
    """Return the pages as they should be."""
    made = {path: path.read_text(encoding="utf-8") for path in _paths()}
    known: dict[Path, set[Any]] = {path: set() for path in made}
    for name, document in documents().items():
        path = PAGES / ("report_schema.md" if name == "report" else "command_line_json.md")
        if name != "report":  # what is on the page of the report is linked to
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
