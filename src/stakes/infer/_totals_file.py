"""Running totals as text: JSON with a version and a checksum."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from stakes.costs import CostMatrix
from stakes.errors import FileError, LabelError, StakesError
from stakes.read.checksums import check_unchanged, checksum, json_content

if TYPE_CHECKING:
    from stakes.infer.stream import Totals

SCHEMA = "stakes-totals/1"
Kind = TypeVar("Kind", bound="Totals[Any]")


def totals_text(content: dict[str, Any]) -> str:
    """Write what `to_dict` of running totals returned as the text of a file."""
    for label in (*content["costs"]["labels"], *content["costs"]["decisions"]):
        if not isinstance(label, str | int | float):
            raise LabelError(
                f"labels: a file of totals holds text and numbers only, got {label!r} "
                f"({type(label).__name__}). Use costs.relabel(str)."
            )
    sealed = {"schema": SCHEMA} | content
    sealed["checksum"] = checksum(sealed)
    lines = [
        f"{json.dumps(key)}: {json.dumps(value, ensure_ascii=False, allow_nan=False)}"
        for key, value in sealed.items()
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def totals_from_text(text: str, source: str, kind: type[Kind]) -> Kind:
    """Read running totals of one kind.

    Parameters
    ----------
    text : str
        The text of the file.
    source : str
        The name of the file, for errors.
    kind : type
        Accumulator or PairedAccumulator.
    """
    content = json_content(text, source, "a file of totals")
    said = content.get("schema") if isinstance(content, dict) else None
    if said != SCHEMA:
        raise FileError(
            f"{source}: expected a file of totals, written by {kind.__name__}.save, with the "
            f"schema {SCHEMA!r}; its schema is {said!r}."
        )
    if "checksum" not in content:
        raise FileError(f"{source}: the file of totals has no 'checksum'.")
    seal = content.pop("checksum")
    check_unchanged(seal, checksum(content), source, "the file of totals")
    if content.get("kind") != kind.__name__:
        raise FileError(
            f"{source}: expected the totals of {kind.__name__}, it has those of "
            f"{content.get('kind')}. Use {content.get('kind')}.load."
        )
    try:
        return _totals(content, kind)
    except KeyError as error:
        raise FileError(f"{source}: the file of totals has no {error.args[0]!r}.") from error
    except (StakesError, TypeError, ValueError, OverflowError) as error:
        raise FileError(f"{source}: the file of totals is damaged: {error}") from error


def _totals(content: dict[str, Any], kind: type[Kind]) -> Kind:
    costs = CostMatrix(**content["costs"])
    settings = {"impossible": content["impossible"], "unit": content["unit"]}
    if "names" in content:
        settings["names"] = tuple(content["names"])
    totals = kind(costs, **settings)
    if content["n"] != 0:
        totals.add(totals.counted(content["counts"]))
    if totals.n != content["n"]:
        raise ValueError(f"expected {content['n']} outcomes, counted {totals.n}.")
    return totals
