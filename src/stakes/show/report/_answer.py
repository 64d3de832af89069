"""The first screen of the report: the recommendation, its saving, its uncertainty and a chart.

Next to it is the panel of assumptions that readers can change.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from stakes._core import text as core
from stakes._core.labels import Label
from stakes._core.text import decimals_for, number, p_value, percent
from stakes._core.typing import Floats
from stakes.findings.policies import PolicyResult
from stakes.findings.report import Findings
from stakes.show.report._theme import policy_colours

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


def people_number(value: float) -> str:
    """Write a number in a table: four significant digits, with a minus sign."""
    return signed(number(value))


def aligned(value: float, decimals: int) -> str:
    """Write a number of a column, with a minus sign for people."""
    return signed(core.in_column(value, decimals))


# The table of policies, whose third column is the chart.


@dataclass(frozen=True)
class Row:
    """A policy in the chart: its texts, its numbers, and their positions on the axis in percent."""

    policy: PolicyResult
    title: str
    threshold: str
    colour: str
    shape: str
    cost: str
    limits: str
    at: tuple[float, float, float] | None
    best: bool
    tied: bool
    baseline: bool
    folded: bool


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
    reach = max(each.high for each in found.policies if each.model is not None)
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
        at = (each.low, each.cost, each.high) if each.name in ends else None
        return Row(
            each,
            each.model or each.name,
            cuts_text(each),
            colours[each.name],
            SHAPES[each.kind],
            aligned(each.cost, decimals),
            f"{aligned(each.low, decimals)} to {aligned(each.high, decimals)}",
            None if at is None else (axis.place(at[0]), axis.place(at[1]), axis.place(at[2])),
            each.name == verdict.use,
            each.name in verdict.ties,
            each.name == verdict.baseline,
            each.name not in kept,
        )

    groups = [
        (title, tuple(row(each) for each in found.policies if each.kind in kinds))
        for title, kinds in GROUPS
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
    """Write the threshold or thresholds of a policy."""
    if not policy.cuts:
        return "–"
    if len(policy.cuts) > 1:
        return ", ".join(f"{cut.decision} {_score(cut.from_)}" for cut in policy.cuts)
    return _score(policy.cuts[0].from_)


def _score(value: float) -> str:
    if math.isinf(value):
        return "none" if value > 0 else "all"
    return core.threshold_text(value)


def title_of(policy: PolicyResult) -> str:
    """Describe a policy in a few words."""
    if policy.kind == "constant":
        return policy.name
    if policy.kind == "decisions":
        return f"{policy.model} as decided"
    if policy.kind == "minimum_cost":
        return f"{policy.model} by minimum expected cost"
    if len(policy.cuts) == 1 and not math.isinf(policy.cuts[0].from_):
        return f"{policy.model} at threshold {cuts_text(policy)}"
    return policy.name


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
    share: float | None = None


@dataclass(frozen=True)
class Answer:
    """The first screen: the verdict as a headline, its lead, and the facts."""

    headline: str
    lead: str
    facts: tuple[Fact, ...]


def answer_of(found: Findings) -> Answer:
    """Return the content of the first screen."""
    verdict = found.verdict
    by_name = {each.name: each for each in found.policies}
    use, baseline = by_name[verdict.use], by_name[verdict.baseline]
    makers = (_saving_fact, _does_fact, _doubt_fact, _settle_fact, _change_fact)
    facts = [fact for make in makers if (fact := make(found, use, baseline)) is not None]
    return Answer(_headline(found, use), _lead(found, use, baseline), tuple(facts))


def _sure(found: Findings) -> str:
    return percent(found.settings.confidence)


def _unit(found: Findings) -> str:
    return f" {found.settings.unit}" if found.settings.unit else ""


def _limits(found: Findings, policy: PolicyResult) -> str:
    """Write the limits of a cost, or that it is known exactly."""
    if policy.low == policy.high:
        return "known exactly"
    return f"{rounded(policy.low)} to {rounded(policy.high)}, {_sure(found)} CI"


def _period(found: Findings) -> str:
    settings = found.settings
    if settings.volume is None:
        return "per decision"
    return f"a {settings.per}" if settings.per else f"over {number(settings.volume)} decisions"


def _times(found: Findings) -> float:
    return 1.0 if found.settings.volume is None else found.settings.volume


def _headline(found: Findings, use: PolicyResult) -> str:
    verdict = found.verdict
    if use.name == verdict.baseline:
        why = (
            "Nothing is shown to be cheaper."
            if verdict.ties
            else "It is shown to be the cheapest of those compared."
        )
        return f"Keep {title_of(use)}. {why}"
    lead = f"Use {title_of(use)}"
    if use.kind == "constant":
        lead = f"Use no model: {use.name.replace('always', 'always predict', 1)}"
    each = verdict.saving.per_decision
    saving = f"{rounded(abs(each) * _times(found))}{_unit(found)}"
    if each < 0:  # a baseline that breaks a limit may be cheaper
        costs = "costs" if verdict.saving.high < 0 else "may cost"
        return f"{lead}. It {costs} {saving} more {_period(found)}, but keeps within the limits."
    if verdict.saving.shown:
        return f"{lead}. It saves {saving} {_period(found)}."
    return f"{lead}. It may save {saving} {_period(found)}, but a saving is not shown."


def _lead(found: Findings, use: PolicyResult, baseline: PolicyResult) -> str:
    verdict, times, unit = found.verdict, _times(found), _unit(found)
    if use.name == baseline.name:
        return f"It costs {rounded(use.cost)}{unit} per decision ({_limits(found, use)})."
    over = ""
    if found.settings.volume is not None:
        over = f", over {number(found.settings.volume)} decisions {_period(found)}"
        if not found.settings.per:
            over = f", over {number(found.settings.volume)} decisions"
    what, low, high = "saving", verdict.saving.low, verdict.saving.high
    if verdict.saving.per_decision < 0:
        what, low, high = "extra cost", -high, -low
    return (
        f"Compared with {title_of(baseline)}{over}. {_sure(found)} confidence interval of the "
        f"{what}: {rounded(low * times)} to {rounded(high * times)}{unit}."
    )


def _saving_fact(found: Findings, use: PolicyResult, baseline: PolicyResult) -> Fact:
    verdict, unit = found.verdict, _unit(found)
    limits = f"({_limits(found, use)})"
    if use.name == baseline.name:
        big = f"{rounded(use.cost)}{unit} per decision"
        ends = f"{rounded(use.low)} to {rounded(use.high)} ({_sure(found)} CI)."
        if use.low == use.high:
            ends = "Known exactly."
        return Fact("saving", "Cost", ends, big)
    saving = verdict.saving
    if saving.per_decision < 0:
        return Fact(
            "saving",
            "Extra cost",
            f"{rounded(-saving.high)} to {rounded(-saving.low)} ({_sure(found)} CI). "
            f"Estimated cost: {rounded(use.cost)}{unit} {limits}, against {rounded(baseline.cost)} "
            f"of {title_of(baseline)}, which does not keep within the limits.",
            f"{rounded(-saving.per_decision)}{unit} per decision",
            "Shown" if saving.high < 0 else "Likely, not shown",
            saving.high >= 0,
        )
    pair = next(each for each in found.pairs if each.second == baseline.name)
    badge = f"Shown, {_p(pair.adjusted)}" if saving.shown else "Likely, not shown"
    return Fact(
        "saving",
        "Saving",
        f"{rounded(saving.low)} to {rounded(saving.high)} ({_sure(found)} CI). "
        f"Estimated cost: {rounded(use.cost)}{unit} {limits}, against {rounded(baseline.cost)}.",
        f"{rounded(saving.per_decision)}{unit} per decision",
        badge,
        not saving.shown,
    )


def _p(value: float) -> str:
    text = p_value(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def confusion_of(found: Findings, name: str) -> Floats | None:
    """Return the confusion matrix of a competing policy, a row for each decision."""
    joint = found.joint
    if name not in joint.names:
        return None
    table = np.zeros((len(joint.decisions), len(joint.labels)))
    np.add.at(table, (joint.decided[:, joint.names.index(name)], joint.actual), joint.counts)
    return table


def _does_fact(found: Findings, use: PolicyResult, _: PolicyResult) -> Fact | None:
    counts = confusion_of(found, use.name)
    if counts is None or use.kind == "constant":
        return None
    positive = found.data.pos_label
    labels, decisions = found.data.labels, found.data.decisions
    if positive is None or len(decisions) != 2 or set(decisions) != set(labels):  # noqa: PLR2004
        return _mistakes_fact(found, counts)
    row, column = decisions.index(positive), labels.index(positive)
    recall, fpr, flagged = rates_of(found, counts, row, column)
    (negative,) = (label for label in labels if label != positive)
    flags = f"Flags scores of {cuts_text(use)} and above: " if use.kind == "threshold" else ""
    text = (
        f"{percent_of(recall)} of {positive} (sensitivity), {percent_of(fpr)} of {negative} "
        f"(false positive rate), {percent_of(flagged)} of all."
    )
    return Fact("does", "What it does", flags + (text if flags else f"Flags {text}"))


def percent_of(share: float) -> str:
    """Write a share with three digits at most."""
    return percent(float(f"{share:.3g}"))


def rates_of(found: Findings, counts: Floats, row: int, column: int) -> tuple[float, float, float]:
    """Return recall, false positive rate and the share of flagged rows, at the class priors."""
    totals = counts.sum(axis=0)
    rates = np.divide(counts[row], totals, out=np.zeros(len(totals)), where=totals > 0)
    priors = found.settings.class_priors
    shares = totals / totals.sum() if priors is None else np.asarray(priors)
    recall, fpr = float(rates[column]), float(rates[1 - column])
    return recall, fpr, float(rates @ shares)


def _mistakes_fact(found: Findings, counts: Floats) -> Fact | None:
    """Return the fact about the two most expensive mistakes."""
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


def _doubt_fact(found: Findings, *_: PolicyResult) -> Fact:
    verdict = found.verdict
    sure = f"{_sure(found)} confidence"
    if not verdict.ties:
        return Fact(
            "doubt",
            "Doubt",
            f"None at {sure}: it is shown to cost less than all policies it was compared with.",
        )
    pair = next(each for each in found.pairs if each.second == verdict.ties[0])
    by_name = {each.name: each for each in found.policies}
    others = len(verdict.ties) - 1
    more = f" Nor from {others} other{'s' if others > 1 else ''}." if others else ""
    return Fact(
        "doubt",
        "Doubt",
        f"It cannot be told apart from {title_of(by_name[pair.second])} at {sure}: "
        f"difference {rounded(pair.difference)}{_unit(found)} per decision "
        f"({rounded(pair.low)} to {rounded(pair.high)}).{more}",
        badge="Not settled",
        open=True,
    )


def _settle_fact(found: Findings, *_: PolicyResult) -> Fact | None:
    settle = found.verdict.to_settle
    if settle is None:
        return None
    by_name = {each.name: each for each in found.policies}
    return Fact(
        "settle",
        "What would settle it",
        f"About {rounded(settle.examples)} test {found.settings.noun}, against "
        f"{title_of(by_name[settle.against])}; this test has {number(found.data.n)}.",
        share=found.data.n / settle.examples,
    )


def _change_fact(found: Findings, *_: PolicyResult) -> Fact | None:
    """Return how far each cost, and the prevalence, can change before another estimate is lower."""
    if found.sensitivity is None or not found.sensitivity.flips:
        return None
    phrases = [*_cost_changes(found), *_prevalence_changes(found)]
    if not phrases:
        return Fact("change", "What would change it", "No cost alone, whatever it is.")
    listed = f"{', '.join(phrases[:-1])} or {phrases[-1]}" if phrases[1:] else phrases[0]
    return Fact(
        "change",
        "What would change it",
        f"{listed[0].upper()}{listed[1:]}. Until then it keeps the lowest estimate.",
    )


MOST_CHANGES = 2


def _cost_changes(found: Findings) -> list[str]:
    """Return the costs at which the verdict changes, the nearest first."""
    every = [] if found.sensitivity is None else found.sensitivity.flips
    turns: dict[tuple[Label, Label, str], tuple[float, float]] = {}
    for region in every:
        for flip in region.flips if region.cheaper == found.verdict.use else ():
            if flip.at is None or flip.holds == "always":
                continue
            if flip.at < 1e-9 * max(abs(flip.cost), 1.0) and flip.cost >= 0:  # no price is negative
                continue
            far = abs(flip.at - flip.cost) / max(abs(flip.at), abs(flip.cost), 1e-300)
            key = (flip.decision, flip.label, flip.holds)
            if key not in turns or far < turns[key][0]:
                turns[key] = (far, flip.at)
    nearest = sorted(turns.items(), key=lambda each: each[1][0])[:MOST_CHANGES]
    name: Callable[[Label, Label], str] = lambda d, c: _mistake(found, d, c)  # noqa: E731
    return [
        f"{name(decision, label)} {'below' if holds == 'above' else 'above'} "
        f"{rounded(at)}{_unit(found)}"
        for (decision, label, holds), (_, at) in nearest
    ]


def _mistake(found: Findings, decision: Label, label: Label) -> str:
    positive = found.data.pos_label
    if positive is not None and decision != label and len(found.data.decisions) == 2:  # noqa: PLR2004
        return "a miss" if label == positive else "a false alarm"
    return f"predicting {decision} when it was {label}"


def _prevalence_changes(found: Findings) -> list[str]:
    sensitivity = found.sensitivity
    if sensitivity is None or sensitivity.prevalence is None:
        return []
    low, high = sensitivity.prevalence
    phrases = [f"below {percent_of(low)}"] if low > 0 else []
    phrases += [f"above {percent_of(high)}"] if high < 1 else []
    return [f"a prevalence {' or '.join(phrases)}"] if phrases else []


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
    phrases.append(f"Baseline: {title_of(by_name[found.verdict.baseline])}.")
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
    baselines : tuple of str
        The policies with which savings can be compared.
    note : str
        The reason why nothing can be recomputed; empty if it can.
    """

    editable: bool
    mistakes: tuple[tuple[str, str, float], ...]
    prevalence: str | None
    thresholds: bool
    by_hand: bool
    baselines: tuple[str, ...]
    note: str


def panel_of(found: Findings) -> Panel:
    """Return the panel of some findings."""
    note = _why_not(found)
    other = found.other_costs
    if note or other is None:
        return Panel(False, (), None, False, False, (), note)
    mistakes = _mistakes(found)
    prevalence = None
    if mistakes:
        place = found.data.labels.index(found.data.pos_label)
        share = found.data.class_counts[place] / sum(found.data.class_counts)
        prevalence = f"{100 * share:.4g}"
    by_hand = bool(mistakes) and found.curves is not None
    chosen = any(each.rechosen for each in other.policies)
    stated = next(each for each in other.tables if each.factor == 1)
    return Panel(
        editable=True,
        mistakes=mistakes,
        prevalence=prevalence,
        thresholds=chosen and len(other.tables) > 1,
        by_hand=by_hand and len(found.models) <= MOST_BY_HAND,
        baselines=stated.names,
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


def notes_of(found: Findings) -> list[str]:
    """Return the notes on the verdict, each once, with the first warning of the comparisons."""
    rare = [each.warning for each in found.pairs if each.warning]
    more = len(rare) - 1
    also = f" The same holds for {number(more)} more comparison{'s' if more > 1 else ''}."
    warned = [rare[0] + (also if more else "")] if rare else []
    return list(dict.fromkeys([*found.verdict.notes, *warned]))


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
    by_name = {each.name: each for each in found.policies}
    phrases.append(f"baseline: {title_of(by_name[found.verdict.baseline])}")
    return " · ".join(phrases)
