"""The first screen of the report: the recommendation, its saving, its uncertainty and a chart.

Next to it is the panel of assumptions that readers can change.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace

import numpy as np

from stakes._core import text as core
from stakes._core.labels import Label
from stakes._core.text import decimals_for, number, percent
from stakes._core.typing import Floats
from stakes.findings.policies import PolicyResult
from stakes.findings.report import Findings
from stakes.policies.verdict import EQUAL_WITHIN, parts_words, short_threshold
from stakes.show.report._theme import colour, policy_colours

MOST_SHOWN = 10
"""Maximum number of unfolded policies: the recommended, tied, baseline and best constant first."""

FARTHEST = 3
"""Ratio of a constant's cost to the highest limit of a model above which the axis omits it."""

LONG_NAME = 28
"""Length of names above which they get more of the width, and the chart less."""

TICKS = 5
STEPS = (1, 2, 2.5, 5, 10)
GROUPS = (
    ("Best threshold for these costs", ("threshold", "minimum_cost")),
    ("Stated threshold", ("pinned",)),
    ("As decided", ("decisions",)),
    ("Constant prediction", ("constant",)),
)
"""The groups of the chart, and the kinds of policies in each."""

SHAPES = {"threshold": "dot", "minimum_cost": "dot", "decisions": "ring", "constant": "square"}


# Numbers for people: three digits in sentences, the same decimals in all rows of a column.


def rounded(value: float) -> str:
    """Write a number with three significant digits, thousands separated, and a minus sign."""
    return signed(core.rounded(value))


def signed(text: str) -> str:
    """Replace the hyphen in front of a number by a minus sign."""
    return f"\N{MINUS SIGN}{text[1:]}" if text.startswith("-") else text


def minus(sentence: str) -> str:
    """Write the numbers of a sentence with minus signs."""
    return re.sub(r"(?<=[\s(])-(?=\d)", "\N{MINUS SIGN}", sentence)


def people_number(value: float) -> str:
    """Write a number in a table: four significant digits, with a minus sign."""
    return signed(number(value))


def aligned(value: float, decimals: int) -> str:
    """Write a number of a column, with a minus sign for people."""
    return signed(core.in_column(value, decimals))


# The table of policies, whose third column is the chart.


@dataclass(frozen=True)
class Row:
    """A policy in the chart: its texts, its numbers, and their positions on the axis in percent.

    One that decides every row as another does has no numbers: it is hidden until other costs change
    that.
    """

    name: str
    title: str
    alike: str
    threshold: str
    exact: float | None
    colour: str
    shape: str
    cost: str = ""
    limits: str = ""
    values: tuple[float, float, float] | None = None
    at: tuple[float, float, float] | None = None
    best: bool = False
    tied: bool = False
    baseline: bool = False
    folded: bool = False
    hidden: bool = False


@dataclass(frozen=True)
class Axis:
    """The ends of an axis, and its ticks: their positions in percent and their labels."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def place(self, value: float) -> float:
        """Return the position of a value in percent."""
        return 100 * (value - self.low) / (self.high - self.low)


@dataclass(frozen=True)
class Chart:
    """The chart of all policies."""

    groups: tuple[tuple[str, tuple[Row, ...]], ...]
    axis: Axis
    baseline: float
    use: float
    folded: int
    long: bool


def axis_of(low: float, high: float) -> Axis:
    """Return an axis with about five round ticks that contains a range."""
    span = high - low or abs(high) or 1.0
    rough = span / TICKS
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(each * power for each in STEPS if each * power >= rough * (1 - 1e-9))
    start, stop = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    stop = max(stop, start + 1)
    ticks = tuple(
        (100 * (i - start) / (stop - start), number(float(f"{i * step:.6g}")))
        for i in range(start, stop + 1)
    )
    return Axis(start * step, stop * step, ticks)


def _near(found: Findings) -> list[PolicyResult]:
    """Return the policies, without constants that cost far more than every model."""
    reach = max((each.high for each in found.policies if each.model is not None), default=0.0)
    return [
        each
        for each in found.policies
        if each.model is not None or each.cost <= FARTHEST * reach or reach <= 0
    ]


def table_decimals(found: Findings) -> int:
    """Return the decimals of costs and their differences in tables: one more than in the chart."""
    return min(decimals_for([each.cost for each in _near(found)]) + 1, 6)


def policy_chart(found: Findings) -> Chart:
    """Return the chart of all policies."""
    near = _near(found)
    axis = axis_of(min(each.low for each in near), max(each.high for each in near))
    decimals = decimals_for([each.cost for each in near])
    ends = {each.name for each in near}
    kept = _kept(found)
    colours = policy_colours(found)
    verdict = found.verdict

    def row(each: PolicyResult) -> Row:
        low, cost, high = (axis.place(value) for value in (each.low, each.cost, each.high))
        return Row(
            each.name,
            each.model or each.words,
            same_words(each.alike),
            threshold_column(each),
            each.threshold,
            colours[each.name],
            SHAPES[each.kind],
            aligned(each.cost, decimals),
            f"{aligned(each.low, decimals)} to {aligned(each.high, decimals)}",
            (each.low, each.cost, each.high),
            (low, cost, high) if each.name in ends else None,
            each.name == verdict.use,
            each.name in verdict.ties,
            each.name == verdict.baseline,
            each.name not in kept,
        )

    every = [(_group(each.kind, pinned=each.pinned), row(each)) for each in found.policies]
    every += _hidden_rows(found)
    groups = [
        (title, tuple(one for kind, one in every if kind in kinds)) for title, kinds in GROUPS
    ]
    by_name = {each.name: each.cost for each in found.policies}
    return Chart(
        tuple((title, rows) for title, rows in groups if rows),
        axis,
        axis.place(by_name[verdict.baseline]),
        axis.place(by_name[verdict.use]),
        len(found.policies) - len(kept),
        any(len(each.model or each.name) > LONG_NAME for each in found.policies),
    )


def _group(kind: str, *, pinned: bool) -> str:
    return "pinned" if pinned else kind


def _hidden_rows(found: Findings) -> list[tuple[str, Row]]:
    """Return rows for policies that decide as another does, and may not at other costs."""
    other = found.other_costs
    if other is None or len(other.tables) == 1:
        return []
    shown = {each.name for each in found.policies}
    names = next(each for each in other.tables if each.factor == 1).names
    places = {model.name: place for place, model in enumerate(found.models)}
    return [
        (
            _group(each.kind, pinned=each.pinned),
            Row(
                name,
                each.model,
                "",
                "",
                None,
                colour(places[each.model]),
                SHAPES[each.kind],
                hidden=True,
            ),
        )
        for name, each in zip(names, other.policies, strict=True)
        if name not in shown and each.model is not None
    ]


def same_words(alike: tuple[str, ...]) -> str:
    """State which policies decide every row in the same way."""
    return f"same decisions: {', '.join(alike)}" if alike else ""


def _kept(found: Findings) -> set[str]:
    """Return the names of the policies that are not folded."""
    if len(found.policies) <= MOST_SHOWN:
        return {each.name for each in found.policies}
    verdict = found.verdict
    constant = next((each.name for each in found.policies if each.kind == "constant"), verdict.use)
    must = [verdict.use, verdict.baseline, constant, *verdict.ties]
    others = [each.name for each in found.policies if each.competes]
    return set(list(dict.fromkeys(must + others))[:MOST_SHOWN])


def cuts_text(policy: PolicyResult) -> str:
    """Write the threshold or thresholds of a policy in full."""
    if not policy.cuts:
        return "–"
    if len(policy.cuts) > 1:
        return ", ".join(f"{cut.decision} {_score(cut.from_)}" for cut in policy.cuts)
    return _score(policy.cuts[0].from_)


def threshold_column(policy: PolicyResult) -> str:
    """Write the threshold of a policy with the digits that matter."""
    if policy.threshold is None or math.isinf(policy.threshold) or policy.pinned:
        return cuts_text(policy)
    return short_threshold(policy.threshold, policy.threshold_range)


def _score(value: float) -> str:
    if math.isinf(value):
        return "none" if value > 0 else "all"
    return core.threshold_text(value)


# The verdict in words.


@dataclass(frozen=True)
class Fact:
    """A line of the first screen: its title, its text and a badge."""

    name: str
    title: str
    text: str
    big: str = ""
    badge: str = ""
    open: bool = False


@dataclass(frozen=True)
class Answer:
    """The first screen: the verdict as a headline, its lead, what is missing, and the facts."""

    headline: str
    lead: str
    missing: str
    facts: tuple[Fact, ...]


def answer_of(found: Findings) -> Answer:
    """Return the content of the first screen."""
    verdict = found.verdict
    by_name = {each.name: each for each in found.policies}
    use, baseline = by_name[verdict.use], by_name[verdict.baseline]
    makers = (_saving_fact, _does_fact, _doubt_fact, _regret_fact, _change_fact)
    facts = [
        replace(fact, text=minus(fact.text))
        for make in makers
        if (fact := make(found, use, baseline)) is not None
    ]
    lead = minus(_lead(found, use, baseline))
    return Answer(minus(_headline(found, use)), lead, verdict.sentences.missing, tuple(facts))


def _sure(found: Findings) -> str:
    return percent(found.settings.confidence)


def _unit(found: Findings) -> str:
    return f" {found.settings.unit}" if found.settings.unit else ""


def _period(found: Findings) -> str:
    settings = found.settings
    if settings.volume is None:
        return "per decision"
    return f"a {settings.per}" if settings.per else f"over {number(settings.volume)} decisions"


def _times(found: Findings) -> float:
    return 1.0 if found.settings.volume is None else found.settings.volume


def _headline(found: Findings, use: PolicyResult) -> str:
    """Return the verdict's conclusion, with the saving of what is recommended without reserve."""
    verdict = found.verdict
    conclusion = verdict.sentences.conclusion
    each = verdict.saving.per_decision
    if not _plain(found, use) or not (verdict.saving.shown or each < 0):
        return conclusion
    saving = f"{rounded(abs(each) * _times(found))}{_unit(found)}"
    if each < 0:  # a baseline that breaks a limit may be cheaper
        costs = "costs" if verdict.saving.high < 0 else "may cost"
        return f"{conclusion} It {costs} {saving} more {_period(found)}, but keeps the limits."
    return f"{conclusion} It saves {saving} {_period(found)}."


def _plain(found: Findings, use: PolicyResult) -> bool:
    """Tell whether the policy is recommended without reserve, and is not the baseline."""
    verdict = found.verdict
    return use.name != verdict.baseline and verdict.sentences.conclusion == f"Use {use.words}."


def _lead(found: Findings, use: PolicyResult, baseline: PolicyResult) -> str:
    verdict, times, unit = found.verdict, _times(found), _unit(found)
    if use.name == baseline.name:
        return f"{verdict.sentences.detail} {verdict.sentences.saving}"
    each, detail = verdict.saving, verdict.sentences.detail
    if not (each.shown or each.per_decision < 0):
        return detail
    if not _plain(found, use):
        if not each.shown:
            return detail
        amount = f"{rounded(each.per_decision * times)}{unit} {_period(found)}"
        return f"{detail} It saves {amount} against {baseline.words}."
    over = ""
    if found.settings.volume is not None:
        over = f", over {number(found.settings.volume)} decisions"
        over += f" {_period(found)}" if found.settings.per else ""
    low, high, what = each.low, each.high, "saving"
    if each.per_decision < 0:
        low, high, what = 0 - each.high, 0 - each.low, "extra cost"
    return (
        f"Compared with {baseline.words}{over}. {_sure(found)} confidence interval of the "
        f"{what}: {rounded(low * times)} to {rounded(high * times)}{unit}."
    )


def _saving_fact(found: Findings, use: PolicyResult, baseline: PolicyResult) -> Fact:
    verdict, unit = found.verdict, _unit(found)
    if use.name == baseline.name:
        big = f"{rounded(use.cost)}{unit} per decision"
        ends = f"{rounded(use.low)} to {rounded(use.high)} ({_sure(found)} CI)."
        if use.low == use.high:
            ends = "Known exactly."
        return Fact("saving", "Cost", ends, big)
    saving = verdict.saving
    badge = saving.badge(baseline.cost)
    costs = f"Cost: {rounded(use.cost)}{unit}, against {rounded(baseline.cost)} of "
    if saving.per_decision < 0:
        return Fact(
            "saving",
            "Extra cost",
            f"{rounded(0 - saving.high)} to {rounded(0 - saving.low)} ({_sure(found)} CI). "
            f"{costs}{baseline.words}, which does not keep within the limits.",
            f"{rounded(-saving.per_decision)}{unit} per decision",
            "Shown" if saving.high < 0 else badge,
            saving.high >= 0,
        )
    sentences = [
        f"{rounded(saving.low)} to {rounded(saving.high)} ({_sure(found)} CI).",
        parts_words(saving, found.settings.unit) if saving.shown else "",
        f"{costs}{baseline.words}.",
        equal_words(badge),
    ]
    return Fact(
        "saving",
        "Saving",
        " ".join(filter(None, sentences)),
        f"{rounded(saving.per_decision)}{unit} per decision",
        badge,
        not saving.shown and not equal_words(badge),
    )


def equal_words(badge: str) -> str:
    """State the rule by which a badge calls two policies equal."""
    if not badge.startswith("Equal"):
        return ""
    return f"Equal: both limits are within {percent(EQUAL_WITHIN)} of the baseline's cost."


def confusion_of(found: Findings, name: str) -> Floats | None:
    """Return the confusion matrix of a competing policy, a row for each decision."""
    joint = found.joint
    if name not in joint.names:
        return None
    table = np.zeros((len(joint.decisions), len(joint.labels)))
    np.add.at(table, (joint.decided[:, joint.names.index(name)], joint.actual), joint.counts)
    return table


def _does_fact(found: Findings, use: PolicyResult, _: PolicyResult) -> Fact | None:
    if use.kind == "constant":
        return None
    positive = found.data.pos_label
    if positive is None or use.recall is None or use.fpr is None or use.flagged is None:
        return _mistakes_fact(found, use)
    (negative,) = (label for label in found.data.labels if label != positive)
    flags = ""
    if use.threshold is not None and not math.isinf(use.threshold):
        flags = f"scores of {threshold_column(use)} and above: "
    text = (
        f"Flags {flags}{percent_of(use.recall)} of {positive} (sensitivity), "
        f"{percent_of(use.fpr)} of {negative} (false positive rate), "
        f"{percent_of(use.flagged)} of all."
    )
    return Fact("does", "What it does", text)


def percent_of(share: float) -> str:
    """Write a share with three digits at most."""
    return percent(float(f"{share:.3g}"))


def _mistakes_fact(found: Findings, use: PolicyResult) -> Fact | None:
    """Return the fact about the two most expensive mistakes."""
    counts = confusion_of(found, use.name)
    if counts is None:
        return None
    values = found.costs.values
    least = values.min(axis=0)
    parts = counts * (values - least)
    places = np.argsort(-parts, axis=None, kind="stable")[:2]
    phrases = [
        f"{_cell(found, i, j)} ({number(float(counts[i, j]))} times)"
        for i, j in (np.unravel_index(place, parts.shape) for place in places)
        if parts[i, j] > 0
    ]
    if not phrases:
        return None
    text = "; ".join(phrases)
    return Fact("does", "Most expensive mistakes", f"{text[0].upper()}{text[1:]}.")


def _cell(found: Findings, i: int, j: int) -> str:
    decision, label = found.data.decisions[i], found.data.labels[j]
    return f"predicting {decision} when it was {label}"


def _doubt_fact(found: Findings, *_: PolicyResult) -> Fact | None:
    """Return which policies it is shown to cost less than, and which not."""
    verdict = found.verdict
    if not verdict.sentences.apart:
        return None
    badge = "Not settled" if verdict.ties else ""
    return Fact("doubt", "Doubt", verdict.sentences.apart, badge=badge, open=bool(verdict.ties))


def _regret_fact(found: Findings, *_: PolicyResult) -> Fact | None:
    regret = found.verdict.sentences.regret
    return Fact("regret", "If the choice is wrong", regret) if regret else None


def _change_fact(found: Findings, use: PolicyResult, *_: PolicyResult) -> Fact | None:
    """Return how far each cost, and the prevalence, can change before another estimate is lower."""
    if found.sensitivity is None or not found.sensitivity.changes:
        return None
    phrases = [*_cost_changes(found), *_prevalence_changes(found)]
    again = ", its threshold chosen again" if use.kind == "threshold" and not use.pinned else ""
    if not phrases:
        text = f"No cost alone, from a hundredth to a hundred times as much{again}."
        return Fact("change", "What would change it", text)
    listed = f"{', '.join(phrases[:-1])} or {phrases[-1]}" if phrases[1:] else phrases[0]
    return Fact(
        "change",
        "What would change it",
        f"{listed[0].upper()}{listed[1:]}. Until then it keeps the lowest estimate{again}.",
    )


MOST_CHANGES = 2


def _cost_changes(found: Findings) -> list[str]:
    """Return the costs at which another policy gets the lowest estimate, the nearest first."""
    turns: list[tuple[float, str]] = []
    for change in () if found.sensitivity is None else found.sensitivity.changes:
        for side, turn in (("below", change.below), ("above", change.above)):
            if turn is not None and change.decision is not None:
                what = f"{_mistake(found, change.decision, change.label)} {side} "
                what += f"{turning_point(turn.at)}{_unit(found)} (then {turn.words})"
                turns.append((abs(math.log(turn.at / change.now)), what))
    return [what for _, what in sorted(turns)[:MOST_CHANGES]]


def turning_point(value: float) -> str:
    """Write the value at which another policy is the cheapest, with all its digits."""
    return signed(f"{value:,}".removesuffix(".0"))


def _mistake(found: Findings, decision: Label, label: Label) -> str:
    positive = found.data.pos_label
    if positive is not None and decision != label and len(found.data.decisions) == 2:  # noqa: PLR2004
        return "a miss" if label == positive else "a false alarm"
    return f"predicting {decision} when it was {label}"


def _prevalence_changes(found: Findings) -> list[str]:
    """Return the prevalences at which another policy gets the lowest estimate."""
    changes = () if found.sensitivity is None else found.sensitivity.changes
    each = next((change for change in changes if change.decision is None), None)
    if each is None:
        return []
    phrases = [
        f"{side} {percent_exactly(turn.at)} (then {turn.words})"
        for side, turn in (("below", each.below), ("above", each.above))
        if turn is not None
    ]
    return [f"a prevalence {' or '.join(phrases)}"] if phrases else []


def percent_exactly(share: float) -> str:
    """Write a share in percent, with all its digits."""
    return f"{100 * share:.12g}%"


def assumptions(found: Findings) -> str:
    """State the assumptions of the page's panel, for print."""
    settings, unit = found.settings, _unit(found)
    phrases = [_stated_costs(found)]
    condition = None if found.curves is None else found.curves.condition
    if settings.class_priors is not None:
        shares = zip(found.data.labels, settings.class_priors, strict=True)
        phrases.append(f"Prevalence: {', '.join(f'{percent(p)} {label}' for label, p in shares)}.")
    elif condition is not None:
        phrases.append(f"Prevalence {percent_of(condition.prevalence)}, as in the test.")
    if settings.volume is not None:
        phrases.append(f"{number(settings.volume)} decisions {_period(found)}.")
    by_name = {each.name: each for each in found.policies}
    phrases.append(f"Baseline: {by_name[found.verdict.baseline].words}.")
    if unit:
        phrases.append(f"All costs in{unit}.")
    return " ".join(phrases)


def _stated_costs(found: Findings) -> str:
    """State the costs of mistakes, or refer to the matrix under Method and settings."""
    mistakes, unit = _mistakes(found), _unit(found)
    costs = found.costs
    free = len(costs.labels) == TWO and not any(
        costs.values[costs.decisions.index(label), costs.labels.index(label)]
        for label in costs.labels
        if label in costs.decisions
    )
    if not mistakes or not free:
        return "Costs: the matrix under Method and settings."
    (_, _, alarm), (_, missed, miss) = mistakes
    mean = "on average " if costs.average else ""
    return (
        f"A false alarm costs {mean}{number(alarm)}{unit}, "
        f"a {missed[0].lower()}{missed[1:]} {number(miss)}{unit}."
    )


TWO = 2
MOST_CELLS = 400
"""Maximum number of costs that people can edit on the page."""

MOST_BY_HAND = 8
"""Maximum number of models whose thresholds can be set by hand."""


@dataclass(frozen=True)
class Panel:
    """The contents of the panel of assumptions.

    Attributes
    ----------
    editable : bool
        Whether the page can recompute all results at other costs.
    mistakes : tuple of (id, words, cost)
        The costs of the two mistakes, if there are two decisions for two classes; otherwise the
        whole matrix is edited.
    prevalence : str or None
        The prevalence in percent; None if the page cannot change it.
    thresholds, by_hand : bool
        Whether thresholds can be kept as they are, and whether they can be typed in.
    baselines : tuple of (int, PolicyResult)
        The policies with which savings can be compared, and their positions.
    named : bool
        Whether the baseline was named; otherwise it is the cheapest that needs no choice.
    note : str
        The reason why nothing can be recomputed; empty if it can.
    """

    editable: bool
    mistakes: tuple[tuple[str, str, float], ...]
    prevalence: str | None
    thresholds: bool
    by_hand: bool
    baselines: tuple[tuple[int, PolicyResult], ...]
    named: bool
    note: str


def panel_of(found: Findings) -> Panel:
    """Return the panel of some findings."""
    note = _why_not(found)
    other = found.other_costs
    if note or other is None:
        return Panel(False, (), None, False, False, (), False, note)
    mistakes = _mistakes(found)
    prevalence = None
    if mistakes:
        place = found.data.labels.index(found.data.pos_label)
        share = found.data.class_counts[place] / sum(found.data.class_counts)
        prevalence = f"{100 * share:.4g}"
    by_hand = bool(mistakes) and found.curves is not None
    chosen = any(each.rechosen for each in other.policies)
    names = next(each for each in other.tables if each.factor == 1).names
    by_name = {each.name: each for each in found.policies}
    return Panel(
        editable=True,
        mistakes=mistakes,
        prevalence=prevalence,
        thresholds=chosen and len(other.tables) > 1,
        by_hand=by_hand and len(found.models) <= MOST_BY_HAND,
        baselines=tuple((at, by_name[each]) for at, each in enumerate(names) if each in by_name),
        named=other.baseline is not None,
        note="",
    )


def _mistakes(found: Findings) -> tuple[tuple[str, str, float], ...]:
    """Return the costs of a false alarm and of a miss, if these are the only mistakes."""
    positive, costs = found.data.pos_label, found.costs
    if positive is None or len(costs.labels) != TWO or set(costs.decisions) != set(costs.labels):
        return ()
    (negative,) = (label for label in costs.labels if label != positive)

    def cost(decision: object, label: object) -> float:
        row, column = costs.decisions.index(decision), costs.labels.index(label)
        return float(costs.values[row, column])

    return (
        ("alarm", "False alarm", cost(positive, negative)),
        ("miss", f"Missed {positive}", cost(negative, positive)),
    )


def _why_not(found: Findings) -> str:
    """Return the reason why the page cannot recompute costs; empty if it can."""
    again = "To change them, make the report again."
    if found.data.sampling is not None:
        return f"Costs are for this sampling design, which the page cannot compute again. {again}"
    baseline = next(each for each in found.policies if each.name == found.verdict.baseline)
    if not baseline.competes:
        return f"The baseline breaks the limits, which the page cannot compute again. {again}"
    if found.settings.class_priors is not None:
        noun = found.settings.noun
        return f"Costs are for the stated class priors, not for those of the {noun}. {again}"
    if found.other_costs is None or found.costs.values.size > MOST_CELLS:
        return f"There are too many models or classes to edit the costs here. {again}"
    return ""


def about(found: Findings) -> str:
    """Summarise the data of the report in one line."""
    data = found.data
    phrases = [data.source] if found.settings.title else []
    phrases.append(f"{number(data.n)} {found.settings.noun}")
    if data.sampling is not None and data.sampling.n_groups is not None:
        phrases[-1] += f" in {number(data.sampling.n_groups)} groups"
    if data.pos_label is not None and len(data.labels) == TWO:
        place = data.labels.index(data.pos_label)
        share = data.class_counts[place] / sum(data.class_counts)
        if found.settings.class_priors is not None:
            share = found.settings.class_priors[place]
        phrases.append(f"prevalence {percent_of(share)}")
    models = len(found.models)
    phrases.append(f"{number(models)} model{'s' if models > 1 else ''}")
    return " · ".join(phrases)
