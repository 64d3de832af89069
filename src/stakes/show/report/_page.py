"""Findings become one self-contained HTML page."""

from __future__ import annotations

import json
import os
from functools import cache
from typing import Any

from stakes._core.optional import jinja2, vl_convert
from stakes._core.text import amount, exact, listed, number, p_value, percent
from stakes.read import write_text
from stakes.show.report._charts import MOST_PANELS, charts
from stakes.show.report._theme import colour, dash

# Parts of the findings laid out as the page's tables show them.

MOST_TABLE_CELLS = 144
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
    if len(decisions) * len(labels) <= MOST_TABLE_CELLS:
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


ARITHMETIC = ("words.js", "outcomes.js", "dirichlet.js", "bootstrap.js", "strata.js", "live.js")
"""The scripts that compute what Python does, in the order in which they run."""

SCRIPTS = (*ARITHMETIC, "page.js", "condition.js", "threshold.js", "costs.js")
"""The page's own scripts, in the order in which they run."""

MOST_CELLS = 400
"""How many costs, at most, the page lets people edit."""


def write_report(findings: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write the page of some findings into a file, whole or not at all.

    Parameters
    ----------
    findings : dict
        As `stakes.findings.findings` returns them.
    path : str or path
        The name of the file.

    Returns
    -------
    None

    Notes
    -----
    Nothing is computed but what readers ask for: the page has the numbers of the findings, and
    scripts that compute them again, as `evaluate` and `compare` do, for other costs.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from stakes import CostMatrix
    >>> from stakes.findings import findings
    >>> from stakes.show import write_report
    >>> from stakes.study import study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> decided = {"careful": [0, 1, 1, 1, 1], "careless": [0, 0, 0, 0, 1]}
    >>> page = Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(findings(study_of([0, 0, 0, 1, 1], decided, costs)), page)
    >>> "careful was the cheapest so far" in page.read_text(encoding="utf-8")
    True
    """
    write_text(path, report_html(findings))


def report_html(findings: dict[str, Any]) -> str:
    """Return the page of some findings; the same findings always give the same page.

    Parameters
    ----------
    findings : dict
        As `stakes.findings.findings` returns them.
    """
    environment = _environment()
    drawn = charts(findings)
    editable = _editable(findings)
    if not editable:
        del drawn["live"]
    context = {
        "f": findings,
        "alt": {name: chart["words"] for name, chart in drawn.items()},
        "heights": {name: chart["spec"].get("height", 0) for name, chart in drawn.items()},
        "findings_json": _script_json(findings),
        "charts_json": _script_json({name: chart["spec"] for name, chart in drawn.items()}),
        "style": _safe(_source(environment, "style.css")),
        "vega": _script(_drawing()),
        "scripts": [_script(_source(environment, name)) for name in SCRIPTS],
        "legend": _legend(findings),
        "scored": _scored(findings),
        "money": money_tables(findings),
        "cards": card_width(findings),
        "flips": flip_table(findings),
        "path_words": path_words(findings),
        "panels": MOST_PANELS,
        "editable": editable,
    }
    page: str = environment.get_template("page.html.j2").render(context)
    return page


def _environment() -> Any:
    """Return what fills templates; all that is not marked as safe gets escaped."""
    library = jinja2()
    environment = library.Environment(
        loader=library.PackageLoader("stakes.show.report", "."),
        autoescape=True,
        undefined=library.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "number": number,
        "amount": amount,
        "p_value": p_value,
        "listed": listed,
        "percent": lambda share: percent(share).replace(" ", "\N{NO-BREAK SPACE}"),
        "exact": exact,
        "label": repr,
        "sentence": lambda text: text[:1].upper() + text[1:],
    }
    return environment


@cache
def _drawing() -> str:
    """Return the scripts that draw; putting them together takes a second, so once is enough."""
    source: str = vl_convert().javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return source


def _source(environment: Any, name: str) -> str:
    """Return a file of this package as it stands."""
    source: str = environment.loader.get_source(environment, name)[0]
    return source


def _safe(text: str) -> Any:
    return jinja2().utils.markupsafe.Markup(text)


def _script_json(value: Any) -> Any:
    """Return JSON that may stand in a script element: nothing in it ends the element."""
    text = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return _safe(text)


def _script(source: str) -> Any:
    """Return a script that may stand in the page: in JavaScript a backslash there says nothing."""
    return _safe(source.replace("</script", "<\\/script").replace("<!--", "<\\!--"))


def _editable(findings: dict[str, Any]) -> bool:
    """Tell whether the page can compute all again at other costs; its scripts know no priors."""
    cells = len(findings["costs"]["values"]) * len(findings["data"]["labels"])
    return cells <= MOST_CELLS and findings["settings"]["class_priors"] is None


def _legend(findings: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"name": model["name"], "colour": colour(place), "dash": dash(place)}
        for place, model in enumerate(findings["models"])
    ]


def _scored(findings: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the models that have curves in the order of all models, with their looks."""
    curves = [] if findings["curves"] is None else findings["curves"]["models"]
    by_name = {model["name"]: (place, model) for place, model in enumerate(curves)}
    return [
        {"place": by_name[each["name"]][0], "model": by_name[each["name"]][1], "look": each}
        for each in _legend(findings)
        if each["name"] in by_name
    ]
