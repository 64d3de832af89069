"""Findings become one self-contained HTML page."""

from __future__ import annotations

import base64
import hashlib
import math
import os
from dataclasses import dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from stakes._core.labels import Label
from stakes._core.optional import address_limit, altair, jinja2, vl_convert
from stakes._core.text import amount, exact, listed, number, p_value, percent, percent_range
from stakes.errors import InputError, StakesError
from stakes.findings import Findings
from stakes.findings._encode import json_text
from stakes.findings.curves import MOST_PAIRED, ScoredCurve
from stakes.findings.models import Model
from stakes.findings.policies import MOST_MODELS, ComparedPolicies, PolicyResult
from stakes.findings.sensitivity import CostPath
from stakes.infer.what_if.flips import Flip
from stakes.infer.what_if.sensitivity import shown_words
from stakes.read import cached_text, write_text
from stakes.show.report._sections import MOST_PANELS, SECTIONS, charts, editable
from stakes.show.report._theme import colour, dash, policy_colours

MOST_TABLE_CELLS = 144
MOST_LISTED = 12
MOST_RIVALS = 4
SHORT, NARROW, WIDE = 6, 27, 48
"""The least room of a class name, and what cards beside each other have, in letters."""


@dataclass(frozen=True)
class Cell:
    """What one decision for one class adds to the cost; `shade` is its part of the largest."""

    decision: Label
    label: Label
    count: float
    cost: float
    shade: float


@dataclass(frozen=True)
class MoneyTable:
    """Where a model's cost comes from: rows by decision, or the `dearest` of `of` cells."""

    model: Model
    rows: tuple[tuple[Label, tuple[Cell, ...]], ...] | None
    dearest: tuple[Cell, ...] = ()
    of: int = 0


def money_tables(found: Findings) -> list[MoneyTable]:
    """Return where the cost of models comes from: a matrix, or the dearest cells of many.

    Of very many models the cheapest ones have one.
    """
    return [_money_table(found, model) for model in found.models[:MOST_MODELS]]


def _money_table(found: Findings, model: Model) -> MoneyTable:
    decisions, labels = found.data.decisions, found.data.labels
    counts, parts = model.counts.tolist(), model.contributions.tolist()
    most = max(abs(each) for row in parts for each in row)
    rows = tuple(
        (
            decision,
            tuple(
                Cell(decision, label, count, part, abs(part) / most if most else 0.0)
                for label, count, part in zip(labels, counts[i], parts[i], strict=True)
            ),
        )
        for i, decision in enumerate(decisions)
    )
    if len(decisions) * len(labels) <= MOST_TABLE_CELLS:
        return MoneyTable(model, rows)
    every = [cell for _, cells in rows for cell in cells if cell.cost]
    every.sort(key=lambda cell: -abs(cell.cost))
    return MoneyTable(model, None, tuple(every[:MOST_LISTED]), len(every))


def card_width(found: Findings) -> str:
    """Return how wide a model's confusion matrix is laid out, for its names to be read."""
    room = sum(max(len(str(label)), SHORT) for label in found.data.labels)
    return "" if room <= NARROW else "wide" if room <= WIDE else "full"


def path_words(found: Findings) -> list[str]:
    """Say for each cost that goes through its range which policy is the cheapest on the way."""
    return [_path_words(path) for path in (found.sensitivity.paths if found.sensitivity else ())]


def _path_words(path: CostPath) -> str:
    ranges = [(each.low, each.high, each.cheapest) for each in path.ranges]
    shown = shown_words(ranges, path.confidence)
    if not any(name for *_, name in ranges):
        shown = shown[0].upper() + shown[1:]
    *turns, last = path.average_ranges
    if turns:
        until = ", ".join(f"{each.cheapest} up to {number(each.high)}" for each in turns)
        return f"{shown} On average the cheapest is {until}, then {last.cheapest}."
    return f"{shown} On average {last.cheapest} is the cheapest all the way."


@dataclass(frozen=True)
class Turn:
    """Where a cost turns the verdict, on which side it holds, and how far that is from now."""

    at: float
    holds: str
    far: float


@dataclass(frozen=True)
class FlipRow:
    """A cell, what it costs now, and where that turns the verdict against each rival."""

    cell: tuple[Label, Label]
    now: float
    turns: tuple[Turn | None, ...]

    def nearest(self) -> float:
        """Return how far the nearest turning point is."""
        return min((turn.far for turn in self.turns if turn is not None), default=2.0)


@dataclass(frozen=True)
class FlipTable:
    """How far each cost can move before a rival gets cheaper than the cheapest policy."""

    first: str
    rivals: tuple[str, ...]
    rows: tuple[FlipRow, ...]
    of: int
    others: tuple[str, ...]


def flip_table(found: Findings) -> FlipTable | None:
    """Return how far each cost can move before a rival gets cheaper than the cheapest policy."""
    first = found.verdict.use
    every = found.sensitivity.flips if found.sensitivity else ()
    regions = [each for each in every if each.cheaper == first][:MOST_RIVALS]
    if not regions:
        return None
    turns: dict[tuple[Label, Label], list[Turn | None]] = {}
    now: dict[tuple[Label, Label], float] = {}
    for place, region in enumerate(regions):
        for flip in region.flips:
            cell = (flip.decision, flip.label)
            now.setdefault(cell, flip.cost)
            turns.setdefault(cell, [None] * len(regions))[place] = _turn(flip)
    rows = sorted(
        (FlipRow(cell, now[cell], tuple(each)) for cell, each in turns.items()),
        key=FlipRow.nearest,
    )
    shown = {id(each) for each in regions}
    return FlipTable(
        first=first,
        rivals=tuple(region.other for region in regions),
        rows=tuple(rows[:MOST_LISTED]),
        of=len(rows),
        others=tuple(each.summary for each in every if id(each) not in shown),
    )


def _turn(flip: Flip) -> Turn | None:
    """Return where a cost turns the verdict; None where nothing, or less than nothing, does."""
    if flip.at is None or flip.at < 0 <= flip.cost:
        return None
    return Turn(flip.at, flip.holds, _far(flip.cost, flip.at))


def _far(now: float, at: float) -> float:
    """Return how far a cost is from another, in terms of the larger one."""
    return abs(at - now) / max(abs(at), abs(now), 1e-300)


ARITHMETIC = ("words.js", "outcomes.js", "dirichlet.js", "bootstrap.js", "strata.js", "live.js")
"""The scripts that compute what Python does, in the order in which they run."""

SCRIPTS = (*ARITHMETIC, "page.js", "condition.js", "threshold.js", "costs.js")
"""The page's own scripts, in the order in which they run."""


def write_report(findings: Findings, path: str | os.PathLike[str]) -> None:
    """Write the page of some findings into a file, whole or not at all.

    Parameters
    ----------
    findings : Findings
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
    >>> from stakes import study_of
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> decided = {"careful": [0, 1, 1, 1, 1], "careless": [0, 0, 0, 0, 1]}
    >>> page = Path(tempfile.mkdtemp()) / "report.html"
    >>> write_report(findings(study_of([0, 0, 0, 1, 1], decided, costs)), page)
    >>> "Use careful as decided" in page.read_text(encoding="utf-8")
    True
    """
    write_text(path, report_html(findings))


RESERVED = (
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toLocaleString",
    "toString",
    "valueOf",
)
"""Names that every object of JavaScript has: Vega takes a model called so for one of them."""


def report_html(findings: Findings) -> str:
    """Return the page of some findings; the same findings always give the same page.

    Parameters
    ----------
    findings : Findings
        As `stakes.findings.findings` returns them.
    """
    for model in findings.models:
        if model.name in RESERVED:
            raise InputError(
                "name",
                f"the charts of a report cannot show a model called {model.name!r}.",
                "Rename it.",
            )
    environment = _environment()
    drawn = charts(findings)
    scripts = [_drawing(), *(_source(environment, name) for name in SCRIPTS)]
    safe_scripts = [_script(source) for source in scripts]
    looks = _policy_looks(findings)
    context = {
        "f": findings,
        "sections": [section for section in SECTIONS if section.shown(findings)],
        "alt": {name: chart.words for name, chart in drawn.items()},
        "heights": {name: chart.spec.get("height", 0) for name, chart in drawn.items()},
        "findings_json": _script_json(findings),
        "charts_json": _script_json({name: chart.spec for name, chart in drawn.items()}),
        "style": _safe(_source(environment, "style.css")),
        "scripts": safe_scripts,
        "script_hashes": _safe(" ".join(map(_script_hash, safe_scripts))),
        "legend": _legend(findings),
        "looks": looks,
        "competing": [looks[name] for name in shown_names(findings)],
        "by_policy": {each.name: each for each in findings.policies},
        "groups": policy_groups(findings),
        "headline": headline(findings.verdict.text),
        "scored": _scored(findings),
        "partial_pairs": len(_scored(findings)) > MOST_PAIRED,
        "money": money_tables(findings),
        "cards": card_width(findings),
        "flips": flip_table(findings),
        "path_words": path_words(findings),
        "percent_range": percent_range,
        "panels": MOST_PANELS,
        "editable": editable(findings),
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
        "threshold": threshold,
        "thresholds": threshold_range,
        "sentence": lambda text: text[:1].upper() + text[1:],
    }
    return environment


def threshold(value: float) -> str:
    """Write a threshold: four digits, and of an infinite one what it means."""
    if math.isinf(value):
        return "no score" if value > 0 else "any score"
    return f"{value:.4g}"


def threshold_range(limits: tuple[float, float]) -> str:
    """Say which thresholds would do as well."""
    low, high = limits
    if math.isinf(low) and math.isinf(high):
        return "any threshold does"
    if math.isinf(low):
        return f"anything up to {high:.3g} does"
    if math.isinf(high):
        return f"anything from {low:.3g} does"
    return f"anything from {low:.3g} to {high:.3g} does"


def headline(text: str) -> tuple[str, str]:
    """Return the first sentence of a verdict, which ends with its interval, and the others."""
    first, end, rest = text.partition(" CI). ")
    return f"{first}{end[:-1]}", f"{end[-1:]}{rest}"


LEAST_ADDRESSES = 4 * 10**9
"""Bytes of addresses that vl-convert needs: with fewer it would end the process."""


@cache
def _drawing() -> str:
    """Return the scripts that draw; putting them together takes two seconds, so they are cached."""
    lite = "_".join(altair().SCHEMA_VERSION.lstrip("v").split(".")[:2])
    try:
        made_by = version("vl-convert-python")
    except PackageNotFoundError:
        made_by = vl_convert().__version__  # which says what to install
    return cached_text(f"vega-{made_by}-{lite}.js", lambda: _bundle(lite))


def _bundle(lite: str) -> str:
    """Put the scripts together, for a version of Vega-Lite."""
    if address_limit() < LEAST_ADDRESSES:
        raise StakesError(
            "a report needs 4 GB of addresses the first time, more than 'ulimit -v' allows"
        )
    source: str = vl_convert().javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=lite)
    return source


def _source(environment: Any, name: str) -> str:
    """Return a file of this package as it stands."""
    source: str = environment.loader.get_source(environment, name)[0]
    return source


def _safe(text: str) -> Any:
    return jinja2().utils.markupsafe.Markup(text)


def _script_json(value: Any) -> Any:
    """Return JSON that may stand in a script element: nothing in it ends the element."""
    text = json_text(value)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return _safe(text)


def _script(source: str) -> Any:
    """Return a script that may stand in the page: in JavaScript a backslash there says nothing."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n")  # as browsers read them
    return _safe(f"\n{lines}\n".replace("</script", "<\\/script").replace("<!--", "<\\!--"))


def _script_hash(script: str) -> str:
    """Return how the page's Content-Security-Policy names a script that may run."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@dataclass(frozen=True)
class Look:
    """How a model or a policy looks in all charts."""

    name: str
    colour: str
    dash: str


def _legend(found: Findings) -> list[Look]:
    return [
        Look(model.name, colour(place), dash(place)) for place, model in enumerate(found.models)
    ]


def _policy_looks(found: Findings) -> dict[str, Look]:
    """Return how policies look: in the colour of their model, each competitor in its own style."""
    colours = policy_colours(found)
    places = {name: place for place, name in enumerate(found.joint.names)}
    return {name: Look(name, shade, dash(places.get(name, 0))) for name, shade in colours.items()}


def shown_names(found: Findings) -> list[str]:
    """Return the policies that compete, or of very many those that a sensitivity is found for."""
    cheapest = None if found.sensitivity is None else found.sensitivity.cheapest
    return [name for name in found.joint.names if not cheapest or name in cheapest]


@dataclass(frozen=True)
class PolicyRow:
    """A policy, and what its threshold saves against the same model's decisions as they stand."""

    policy: PolicyResult
    moved: ComparedPolicies | None


def policy_groups(found: Findings) -> list[PolicyRow]:
    """Return the policies, those of one model together, constants last; the cheapest first."""
    moved = {each.first: each for each in found.moved}
    order = {model.name: place for place, model in enumerate(found.models)}
    rows = sorted(found.policies, key=lambda each: order.get(each.model or "", len(order)))
    return [PolicyRow(each, moved.get(each.name)) for each in rows]


@dataclass(frozen=True)
class Scored:
    """A model that has a curve: its place among the curves, the curve, and how it looks."""

    place: int
    model: ScoredCurve
    look: Look


def _scored(found: Findings) -> list[Scored]:
    """Return the models that have curves in the order of all models, with their looks."""
    curves = () if found.curves is None else found.curves.models
    by_name = {model.name: (place, model) for place, model in enumerate(curves)}
    return [Scored(*by_name[look.name], look) for look in _legend(found) if look.name in by_name]
