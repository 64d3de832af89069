"""Parts of the findings laid out as the page's tables show them."""

from __future__ import annotations

from typing import Any

from stakes._table import number

MOST_CELLS = 144
MOST_LISTED = 12
MOST_RIVALS = 4
SHORT, NARROW, WIDE = 6, 27, 48
"""The least room of a class name, and what cards beside each other have, in letters."""


def money_tables(findings: dict[str, Any]) -> list[dict[str, Any]]:
    """Return for each model where its cost comes from: a matrix, or the dearest cells of many."""
    return [_money_table(findings, model) for model in findings["models"]]


def _money_table(findings: dict[str, Any], model: dict[str, Any]) -> dict[str, Any]:
    decisions, labels = findings["data"]["decisions"], findings["data"]["labels"]
    most = max(abs(each) for row in model["contributions"] for each in row)
    rows = [
        {
            "decision": decision,
            "cells": [
                {
                    "decision": decision,
                    "label": label,
                    "count": model["counts"][i][j],
                    "cost": model["contributions"][i][j],
                    "shade": abs(model["contributions"][i][j]) / most if most else 0.0,
                }
                for j, label in enumerate(labels)
            ],
        }
        for i, decision in enumerate(decisions)
    ]
    if len(decisions) * len(labels) <= MOST_CELLS:
        return {"model": model, "rows": rows, "dearest": None}
    every = [cell for row in rows for cell in row["cells"] if cell["cost"]]
    every.sort(key=lambda cell: -abs(cell["cost"]))
    return {"model": model, "rows": None, "dearest": every[:MOST_LISTED], "of": len(every)}


def card_width(findings: dict[str, Any]) -> str:
    """Return how wide a model's confusion matrix is laid out, for its names to be read."""
    names = [str(label) for label in findings["data"]["labels"]]
    room = sum(max(len(name), SHORT) for name in names)
    return "" if room <= NARROW else "wide" if room <= WIDE else "full"


def path_words(findings: dict[str, Any]) -> list[str]:
    """Say for each cost that goes through its range who is the cheapest on the way."""
    return [_path_words(path) for path in (findings["doubts"] or {}).get("paths", [])]


def _path_words(path: dict[str, Any]) -> str:
    *turns, last = path["ranges"]
    if turns:
        until = ", ".join(f"{each['cheapest']} up to {number(each['high'])}" for each in turns)
        who = f"On average the cheapest is {until}, then {last['cheapest']}."
    else:
        who = f"On average {last['cheapest']} is the cheapest all the way."
    odds = path["probability"][path["names"].index(last["cheapest"])]
    start, end = (f"{100 * each:.0f} %" for each in (odds[0], odds[-1]))
    change = f"stays at {start}" if start == end else f"goes from {start} to {end}"
    return f"{who} The probability that {last['cheapest']} is the cheapest {change}."


def flip_table(findings: dict[str, Any]) -> dict[str, Any] | None:
    """Return how far each cost can move before a rival gets cheaper than the cheapest model."""
    doubts = findings["doubts"]
    if doubts is None:
        return None
    first = findings["models"][0]["name"]
    regions = [each for each in doubts["flips"] if each["cheaper"] == first][:MOST_RIVALS]
    if not regions:
        return None
    places: dict[tuple[Any, Any], dict[str, Any]] = {}
    for place, region in enumerate(regions):
        for flip in region["flips"]:
            cell = (flip["decision"], flip["label"])
            row = places.setdefault(
                cell, {"cell": cell, "now": flip["cost"], "turns": [None] * len(regions)}
            )
            row["turns"][place] = _turn(flip)
    rows = sorted(places.values(), key=_nearest)
    return {
        "first": first,
        "rivals": [region["other"] for region in regions],
        "rows": rows[:MOST_LISTED],
        "of": len(rows),
        "others": [each["in_words"] for each in doubts["flips"] if each not in regions],
    }


def _turn(flip: dict[str, Any]) -> dict[str, Any] | None:
    """Return where a cost turns the verdict; None where nothing, or less than nothing, does."""
    if flip["at"] is None or flip["at"] < 0 <= flip["cost"]:
        return None
    return {"at": flip["at"], "holds": flip["holds"], "far": _far(flip["cost"], flip["at"])}


def _far(now: float, at: float) -> float:
    """Return how far a cost is from another, in terms of the larger one."""
    return abs(at - now) / max(abs(at), abs(now), 1e-300)


def _nearest(row: dict[str, Any]) -> float:
    return min((turn["far"] for turn in row["turns"] if turn is not None), default=2.0)
