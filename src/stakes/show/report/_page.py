"""Render findings as one self-contained HTML page."""

from __future__ import annotations

import base64
import datetime as dt
import hashlib
import math
import os
import re
import string
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from stakes._core.labels import Label
from stakes._core.optional import address_limit, altair, jinja2, vl_convert
from stakes._core.text import (
    DIGITS,
    amount,
    decimals_for,
    exact,
    listed,
    number,
    p_value,
    percent,
    threshold_text,
)
from stakes._core.typing import Floats
from stakes.errors import InputError, StakesError
from stakes.findings.audit import AuditFound
from stakes.findings.curves import CurvePair, ScoredCurve
from stakes.findings.data import json_text
from stakes.findings.models import Model
from stakes.findings.policies import PolicyResult
from stakes.findings.report import Findings
from stakes.findings.sensitivity import Change, Turn
from stakes.infer.family import Pair
from stakes.infer.rates import TITLES
from stakes.policies.verdict import EQUAL_WITHIN, MOST_NAMED, MOST_TIES
from stakes.read import cached_text, write_text
from stakes.show.report._answer import (
    FARTHEST,
    STEPS,
    TICKS,
    about,
    aligned,
    answer_of,
    assumptions,
    confusion_of,
    cuts_text,
    minus,
    panel_of,
    people_number,
    percent_exactly,
    percent_of,
    policy_chart,
    rounded,
    signed,
    table_decimals,
    turning_point,
)
from stakes.show.report._sections import MOST_PANELS, RATIO_SPAN, SECTIONS, charts
from stakes.show.report._theme import MOST_ROWS, colour, dash, policy_colours

MOST_TABLE_CELLS = 144
MOST_LISTED = 10
MOST_MATRICES = 6
LETTERS_FROM = 5
"""Number of classes from which columns are headed by letters, because names may not fit."""

NARROW, WIDE = 3, 4
"""Number of classes that fit on a third and on a half of the width."""


@dataclass(frozen=True)
class Cell:
    """Contribution of a decision for a class to the cost; `shade` is relative to the largest."""

    decision: Label
    label: Label
    count: float
    cost: float
    shade: float

    @property
    def right(self) -> bool:
        """Whether the decision is the class."""
        return self.decision == self.label


@dataclass(frozen=True)
class MoneyTable:
    """A policy's confusion matrix with its costs, or the `largest` of its `of` nonzero cells."""

    policy: PolicyResult
    title: str
    role: str
    note: str
    rows: tuple[tuple[Label, tuple[Cell, ...]], ...] | None
    largest: tuple[Cell, ...] = ()
    of: int = 0


def money_tables(found: Findings) -> list[MoneyTable]:
    """Return the confusion matrices of the policy to use, the baseline and the other models."""
    names = [found.verdict.use, found.verdict.baseline, *(each.policy for each in found.models)]
    by_name = {each.name: each for each in found.policies}
    tables = [_money_table(found, by_name[name]) for name in dict.fromkeys(names)]
    return [each for each in tables if each is not None][:MOST_MATRICES]


def _money_table(found: Findings, policy: PolicyResult) -> MoneyTable | None:
    counts = confusion_of(found, policy.name)
    if counts is None:
        return None
    decisions, labels = found.data.decisions, found.data.labels
    model = next((each for each in found.models if each.policy == policy.name), None)
    parts = _contributions(found, counts) if model is None else model.contributions
    most = float(np.abs(parts).max())
    use, baseline = policy.name == found.verdict.use, policy.name == found.verdict.baseline
    role = "Recommended" if use else "Baseline" if baseline else ""
    words = (policy.words, role, _rate_notes(model))

    def cell(i: int, j: int) -> Cell:
        count, part = counts[i, j].item(), parts[i, j].item()
        return Cell(decisions[i], labels[j], count, part, abs(part) / most if most else 0.0)

    if parts.size <= MOST_TABLE_CELLS:
        rows = (
            (decision, tuple(cell(i, j) for j in range(len(labels))))
            for i, decision in enumerate(decisions)
        )
        return MoneyTable(policy, *words, tuple(rows))
    places = np.argwhere(parts)
    order = np.argsort(-np.abs(parts[parts != 0]), kind="stable")
    largest = tuple(cell(*place) for place in places[order[:MOST_LISTED]].tolist())
    return MoneyTable(policy, *words, None, largest, len(places))


def _contributions(found: Findings, counts: Floats) -> Floats:
    """Return the contribution of each cell to the cost per decision, at the class priors if any."""
    priors = found.settings.class_priors
    if priors is None:
        return np.asarray(counts * found.costs.values / counts.sum())
    totals = counts.sum(axis=0)
    weights = np.divide(np.asarray(priors), totals, out=np.zeros(len(totals)), where=totals > 0)
    return np.asarray(counts * found.costs.values * weights)


def _rate_notes(model: Model | None) -> str:
    """Describe a model's savings and its kappa."""
    if model is None:
        return ""
    sentences = []
    if model.savings is not None:
        sentences.append(
            f"It saves {100 * model.savings:.0f}% of the cost that always predicting "
            f"{model.best_constant} has and a perfect model avoids."
        )
    if model.kappa is not None:
        sentences.append(f"Kappa {number(model.kappa)}.")
    return " ".join(sentences)


def card_width(found: Findings) -> str:
    """Return the width of a confusion matrix at which its names are readable."""
    size = len(found.data.labels)
    return "" if size <= NARROW else "wide" if size <= WIDE else "full"


def letters_of(found: Findings) -> str:
    """Return the letters that stand for the classes; empty if names fit."""
    size = len(found.data.labels)
    return (
        string.ascii_uppercase[:size] if LETTERS_FROM <= size <= len(string.ascii_uppercase) else ""
    )


def range_words(found: Findings) -> list[str]:
    """Describe for each pair of models the costs of a miss at which one is shown to be cheaper."""
    curves = found.curves
    if curves is None or curves.condition.pc is None or not 0 < curves.condition.prevalence < 1:
        return []
    odds = curves.condition.prevalence / (1 - curves.condition.prevalence)

    def worth(pc: float) -> float:
        return pc / (1 - pc) / odds if pc < 1 else math.inf

    return [_range_words(pair, worth, percent(found.settings.confidence)) for pair in curves.pairs]


def _range_words(pair: CurvePair, worth: Callable[[float], float], sure: str) -> str:
    both = f"{pair.first} and {pair.second}"
    if pair.ranges is None:
        return f"{both}: {pair.summary}"
    shown: dict[str, list[str]] = {}
    for each in pair.ranges:
        if each.cheaper is None:
            continue
        low, high = worth(each.low), worth(each.high)
        ends = f"{rounded(low)} to {rounded(high)}"
        if low <= 0 or math.isinf(high):
            ends = f"at most {rounded(high)}" if low <= 0 else f"at least {rounded(low)}"
        if low <= 0 and math.isinf(high):
            ends = "any number of"
        shown.setdefault(each.cheaper, []).append(ends)
    if not shown:
        return f"{both} cannot be told apart at {sure} confidence, whatever a miss is worth."
    parts = [
        f"{name} is shown to be cheaper where a miss is worth {listed(ends)} false alarms"
        for name, ends in shown.items()
    ]
    return f"{both}: {'; '.join(parts)} ({sure} confidence, everywhere at once)."


RIGHT_TO_LEFT = ("R", "AL")
FIRST_STRONG, END = "\u2068", "\u2069"
"""Characters that isolate the direction of a name from that of the sentence."""


def turned_names(found: Findings) -> list[str]:
    """Return the names that have characters from right to left, the longest first."""
    names = {
        *(each.name for each in found.models),  # not policies: a threshold follows the name
        *map(str, (*found.data.labels, *found.data.decisions, found.settings.unit)),
    }
    return [
        name
        for name in sorted(names, key=len, reverse=True)
        if any(unicodedata.bidirectional(each) in RIGHT_TO_LEFT for each in name)
    ]


def _sayer(found: Findings) -> Callable[[str], str]:
    """Return a function that adds minus signs and the direction of names to sentences."""
    turned = turned_names(found)
    found_in = re.compile("|".join(map(re.escape, turned)) or r"(?!)")

    def say(sentence: str) -> str:
        return found_in.sub(rf"{FIRST_STRONG}\g<0>{END}", minus(sentence))

    return say


def _namer(found: Findings) -> Callable[[str], str]:
    """Return a function that describes a policy by its name."""
    words, say = {each.name: each.words for each in found.policies}, _sayer(found)
    return lambda name: say(words.get(name, name))


@dataclass(frozen=True)
class ChangeRow:
    """A cost or the prevalence, its value, and what would change below and above it."""

    change: Change
    what: str
    now: str
    below: str
    above: str


def change_rows(found: Findings) -> list[ChangeRow]:
    """Return the turning points of each cost and of the prevalence."""
    return [_change_row(each) for each in (found.sensitivity.changes if found.sensitivity else ())]


def _change_row(change: Change) -> ChangeRow:
    share = change.decision is None
    write, rough = (percent_exactly, percent_of) if share else (turning_point, rounded)

    def words(side: str, turn: Turn | None, end: float) -> str:
        if turn is None:
            return f"no change {'down' if side == 'below' else 'up'} to {rough(end)}"
        return f"{side} {write(turn.at)}: {turn.words}"

    return ChangeRow(
        change,
        f"prevalence of {change.label}" if share else "",
        percent_of(change.now) if share else people_number(change.now),
        words("below", change.below, change.low),
        words("above", change.above, change.high),
    )


ARITHMETIC = ("words.js", "outcomes.js", "dirichlet.js", "strata.js", "live.js")
"""The scripts that repeat computations of Python, in the order in which they run."""

SCRIPTS = (*ARITHMETIC, "page.js", "tools.js", "answer.js", "sections.js", "panel.js")
"""The page's own scripts, in the order in which they run."""


def write_report(findings: Findings, path: str | os.PathLike[str], *, full: bool = False) -> None:
    """Write the report on some findings into a file, completely or not at all.

    Parameters
    ----------
    findings : Findings
        The findings, as returned by `stakes.findings.findings`.
    path : str or path
        The name of the file.
    full : bool, default False
        Whether all sections are open, and printed; otherwise only the verdict, the chart of
        thresholds, the comparisons and the settings are printed.

    Returns
    -------
    None

    Notes
    -----
    The page has the numbers of the findings, and scripts that recompute them on request for other
    costs, as `evaluate` and `compare` do.

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
    >>> "No model is shown to be worth using" in page.read_text(encoding="utf-8")
    True
    """
    write_text(path, report_html(findings, full=full))


CONSTANTS = {
    "farthest": FARTHEST,
    "rows": MOST_ROWS,
    "steps": STEPS,
    "ticks": TICKS,
    "digits": DIGITS,
    "span": RATIO_SPAN,
    "named": MOST_NAMED,
    "ties": MOST_TIES,
    "equal": EQUAL_WITHIN,
}
"""Constants that the page's scripts share with Python."""

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
"""Names that every object of JavaScript has: Vega confuses models of these names with them."""


def report_html(findings: Findings, *, full: bool = False) -> str:
    """Return the page of some findings; the same findings give the same page on the same day.

    Parameters
    ----------
    findings : Findings
        The findings, as returned by `stakes.findings.findings`.
    full : bool
        Whether all sections are open, and printed.
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
    looks, named = _policy_looks(findings), _namer(findings)
    context = {
        "f": findings,
        "full": full,
        "title": _title(findings),
        "about": about(findings),
        "made": _today(),
        "answer": answer_of(findings),
        "assumptions": assumptions(findings),
        "policies": policy_chart(findings),
        "panel": panel_of(findings),
        "sections": [section for section in SECTIONS if section.shown(findings)],
        "alt": {name: chart.words for name, chart in drawn.items()},
        "heights": {name: chart.spec.get("height", 0) for name, chart in drawn.items()},
        "findings_json": _script_json(_for_scripts(findings)),
        "charts_json": _script_json({name: chart.spec for name, chart in drawn.items()}),
        "constants_json": _script_json(CONSTANTS | {"turned": turned_names(findings)}),
        "style": _safe(_source(environment, "style.css")),
        "scripts": safe_scripts,
        "script_hashes": _safe(" ".join(map(_script_hash, safe_scripts))),
        "legend": _legend(findings),
        "looks": looks,
        "competing": [replace(looks[each], name=named(each)) for each in shown_names(findings)],
        "by_policy": {each.name: each for each in findings.policies},
        "threshold_rows": threshold_rows(findings),
        "scored": _scored(findings),
        "money": money_tables(findings),
        "rate_titles": tuple(TITLES.items()),
        "cards": card_width(findings),
        "letters": letters_of(findings),
        "changes": change_rows(findings),
        "range_words": range_words(findings),
        "named": named,
        "aligned": partial(aligned, decimals=table_decimals(findings)),
        "say": _sayer(findings),
        "panels": MOST_PANELS,
    }
    return _filled(environment, "page.html.j2", context)


def audit_html(found: AuditFound) -> str:
    """Return the page of an audit; it has no scripts.

    Parameters
    ----------
    found : AuditFound
        The findings, as returned by `stakes.findings.audit.audit_found`.
    """
    environment = _environment()
    style = _safe(_source(environment, "style.css"))
    context = {"f": found, "style": style, "stakes": version("stakes"), "made": _today()}
    return _filled(environment, "audit.html.j2", context)


def _filled(environment: Any, template: str, context: Mapping[str, Any]) -> str:
    """Return a page encodable as UTF-8: names of files may have bytes that are no text."""
    page: str = environment.get_template(template).render(context)
    return page.encode(errors="backslashreplace").decode()


def _today() -> str:
    return f"{dt.datetime.now().astimezone():%d %B %Y}".lstrip("0")


def _title(found: Findings) -> str:
    return found.settings.title or found.data.source


@cache
def _environment() -> Any:
    """Return the environment of templates, made once; text not marked as safe is escaped."""
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
        "number": people_number,
        "rounded": rounded,
        "amount": amount,
        "p_value": p_value,
        "listed": listed,
        "percent": percent,
        "exact": exact,
        "decimals": decimals_for,
        "column": aligned,
        "label": repr,
        "threshold": threshold,
        "thresholds": threshold_range,
        "place": lambda at: f"{at:.2f}%",
        "share": lambda share: signed(f"{share:.3f}"),
        "rate": percent_of,
        "sentences": lambda text: re.split(r"(?<=\.) (?=It )", text),
        "sentence": lambda text: text[:1].upper() + text[1:],
    }
    return environment


def threshold(value: float) -> str:
    """Write a threshold, and the meaning of an infinite one."""
    if math.isinf(value):
        return "no score" if value > 0 else "any score"
    return threshold_text(value)


def threshold_range(limits: tuple[float, float]) -> str:
    """Write a range of thresholds that are not shown to be worse."""
    low, high = limits
    if math.isinf(low) and math.isinf(high):
        return "any"
    if math.isinf(low):
        return f"up to {high:.3g}"
    if math.isinf(high):
        return f"from {low:.3g}"
    return f"{low:.3g} to {high:.3g}"


LEAST_ADDRESSES = 4 * 10**9
"""Bytes of address space that vl-convert needs: with less it would end the process."""


@cache
def _drawing() -> str:
    """Return the scripts that draw; they are cached, because bundling them takes two seconds."""
    lite = "_".join(altair().SCHEMA_VERSION.lstrip("v").split(".")[:2])
    try:
        made_by = version("vl-convert-python")
    except PackageNotFoundError:
        made_by = vl_convert().__version__  # its error states what to install
    return cached_text(f"vega-{made_by}-{lite}.js", lambda: _bundle(lite))


def _bundle(lite: str) -> str:
    """Bundle the scripts for a version of Vega-Lite."""
    if address_limit() < LEAST_ADDRESSES:
        raise StakesError(
            "a report needs 4 GB of addresses the first time, more than 'ulimit -v' allows"
        )
    source: str = vl_convert().javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=lite)
    return source


def _source(environment: Any, name: str) -> str:
    """Return a file of this package unchanged."""
    source: str = environment.loader.get_source(environment, name)[0]
    return source


def _safe(text: str) -> Any:
    return jinja2().utils.markupsafe.Markup(text)


DRAWN_DIGITS = 6
"""Significant digits of coordinates that are only drawn; a screen shows four."""

ONE_DIGIT = 10
"""Maximum number of decisions whose positions have one digit."""


def _for_scripts(found: Findings) -> dict[str, Any]:
    """Return the findings as in their JSON, but shorter where scripts do not need the details.

    Coordinates that are only drawn have fewer digits, and a row of decisions is a text in which
    each position is a digit.
    """
    page = found.to_dict()
    if len(found.joint.decisions) <= ONE_DIGIT:
        joint = page["joint"]
        joint["decided"] = ["".join(map(str, row)) for row in joint["decided"]]
    curves = page["curves"] or {"models": [], "pairs": []}
    bands = [each["band"] for each in (*curves["models"], *curves["pairs"]) if each["band"]]
    for band in (*bands, *page["decision"]):
        for key, values in band.items():
            if isinstance(values, list):
                band[key] = [_drawn_digits(each) for each in values]
    return page


def _drawn_digits(value: Any) -> Any:
    return float(f"{value:.{DRAWN_DIGITS}g}") if isinstance(value, float) else value


def _script_json(value: Any) -> Any:
    """Return JSON that is safe in a script element: nothing in it ends the element."""
    text = json_text(value)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return _safe(text)


def _script(source: str) -> Any:
    """Return a script that is safe in the page: JavaScript ignores the added backslashes."""
    lines = source.replace("\r\n", "\n").replace("\r", "\n")  # as browsers read them
    return _safe(f"\n{lines}\n".replace("</script", "<\\/script").replace("<!--", "<\\!--"))


def _script_hash(script: str) -> str:
    """Return the hash by which the page's Content-Security-Policy allows a script."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@dataclass(frozen=True)
class Look:
    """The look of a model or a policy in all charts."""

    name: str
    colour: str
    dash: str


def _legend(found: Findings) -> list[Look]:
    return [
        Look(model.name, colour(place), dash(place)) for place, model in enumerate(found.models)
    ]


def _policy_looks(found: Findings) -> dict[str, Look]:
    """Return the looks of policies: the colour of the model, a line style for each competitor."""
    colours = policy_colours(found)
    places = {name: place for place, name in enumerate(found.joint.names)}
    return {name: Look(name, shade, dash(places.get(name, 0))) for name, shade in colours.items()}


def shown_names(found: Findings) -> list[str]:
    """Return the competing policies; if there are very many, those with a sensitivity."""
    paths = () if found.sensitivity is None else found.sensitivity.paths
    shown = {name for path in paths for name in path.names}
    return [name for name in found.joint.names if not shown or name in shown]


@dataclass(frozen=True)
class ThresholdRow:
    """A model at its threshold, and its saving against the model's own decisions.

    `policy` is what decides every row so: with another name if that needs no choice.
    """

    name: str
    model: str
    look: Look
    threshold: str
    value: float | str | None
    policy: PolicyResult
    moved: Pair | None


def threshold_rows(found: Findings) -> list[ThresholdRow]:
    """Return the models that have thresholds, the cheapest first."""
    if found.curves is None or found.data.pos_label is None:
        return []
    moved = {each.first: each for each in found.moved}
    looks = {each.name: each for each in _legend(found)}
    rows = []
    for each in found.policies:
        if each.kind == "threshold" and each.model is not None:
            own, look, text = moved.get(each.name), looks[each.model], cuts_text(each)
            value = text if each.threshold is None else each.threshold
            rows.append(ThresholdRow(each.name, each.model, look, text, value, each, own))
        for name in each.alike:
            model, _, threshold = name.rpartition("@")
            if model in looks:
                look = looks[model]
                rows.append(ThresholdRow(name, model, look, threshold, threshold, each, None))
    return rows


@dataclass(frozen=True)
class Scored:
    """A model with a curve: its index among the curves, the curve and its look."""

    place: int
    model: ScoredCurve
    look: Look


def _scored(found: Findings) -> list[Scored]:
    """Return the models with curves, in the order of all models, with their looks."""
    curves = () if found.curves is None else found.curves.models
    by_name = {model.name: (place, model) for place, model in enumerate(curves)}
    return [Scored(*by_name[look.name], look) for look in _legend(found) if look.name in by_name]
