"""Findings of `stakes audit`: the plan of labels, and the results from the labels."""

from __future__ import annotations

from dataclasses import dataclass

from stakes._core.text import compared_costs, number, percent, with_unit
from stakes.audit._reading import Reading
from stakes.audit.plan import LabelPlan
from stakes.findings.data import Finding
from stakes.infer._inference import DEFAULT
from stakes.infer.difference import CostDifference

PLAN_SCHEMA, AUDIT_SCHEMA = "stakes-labels/1", "stakes-audit/1"


@dataclass(frozen=True, eq=False)
class PlannedStratum(Finding):
    """A stratum of a plan.

    Attributes
    ----------
    name : str
        The properties that its rows share.
    rows, labels : int
        The number of its rows, and the number to label.
    low, high : float
        The lowest and the highest possible cost of one of its rows.
    rate : float
        The guessed probability that a row has the highest cost.
    """

    name: str
    rows: int
    labels: int
    low: float
    high: float
    rate: float


@dataclass(frozen=True, eq=False)
class PlanFound(Finding):
    """Findings of `stakes audit plan`.

    Attributes
    ----------
    schema : str
        The name and version of this layout.
    text : str
        The plan in words.
    rows, labels : int
        The number of rows in the pool, and the number to label.
    expected_cost, expected_low, expected_high : float
        The expected estimate and its limits, if the guessed rates are right.
    high_if_triple : float
        The upper limit if expensive outcomes are three times as frequent.
    confidence : float
        Confidence level of the limits.
    seed : int
        Random seed of the draw.
    strata : tuple of PlannedStratum
        The strata.
    """

    schema: str
    text: str
    rows: int
    labels: int
    expected_cost: float
    expected_low: float
    expected_high: float
    high_if_triple: float
    confidence: float
    seed: int
    strata: tuple[PlannedStratum, ...]


@dataclass(frozen=True, eq=False)
class ReadStratum(Finding):
    """Results from the labels of a stratum.

    Attributes
    ----------
    name : str
        The properties that its rows share.
    rows, labels : int
        The number of its rows, and of those with labels.
    costly : int
        The number of labelled rows that cost more than the least possible.
    cost : float or None
        The mean cost of labelled rows; null without labels.
    width : float
        The approximate share of the interval's width that the stratum is responsible for.
    next : int
        The number of further labels it should get, if as many labels are added as were read.
    at_stake : bool
        Whether the cost of its rows depends on their class; if not, they need no label.
    """

    name: str
    rows: int
    labels: int
    costly: int
    cost: float | None
    width: float
    next: int
    at_stake: bool


@dataclass(frozen=True, eq=False)
class AuditFound(Finding):
    """Findings of `stakes audit read`.

    Attributes
    ----------
    schema : str
        The name and version of this layout.
    headline : str
        The result in a few words.
    text : str
        The result with its limits, the number of labels, and how many more would settle it.
    models : tuple of str
        The columns of the model, or of both.
    rows : int
        The number of rows in the pool.
    labels, drawn : int
        The number of labels that were read, and of rows that were drawn.
    value, low, high : float
        The cost per decision, or that of the first model minus that of the second; and its limits.
    confidence : float
        Confidence level of the limits.
    method : str
        Method of the limits.
    p_value : float or None
        p-value of the test that both models cost the same; null for one model.
    cheaper : str or None
        The model of two that was shown to cost less; null where neither was.
    more : int or None
        The expected number of further labels to settle which model costs less, at the same rates.
    worth : float or None
        The number of labels of rows at random that would be as informative; null where it cannot be
        computed.
    unit : str
        The unit of the costs.
    seed : int
        Random seed of the draw.
    note : str
        A note on missing labels; empty where every row has one.
    caution : str
        Why the confidence is not claimed; empty where it is.
    strata : tuple of ReadStratum
        The strata.
    """

    schema: str
    headline: str
    text: str
    models: tuple[str, ...]
    rows: int
    labels: int
    drawn: int
    value: float
    low: float
    high: float
    confidence: float
    method: str
    p_value: float | None
    cheaper: str | None
    more: int | None
    worth: float | None
    unit: str
    seed: int
    note: str
    caution: str
    strata: tuple[ReadStratum, ...]


def plan_found(plan: LabelPlan) -> PlanFound:
    """Return a plan as findings."""
    expected = plan.expected
    return PlanFound(
        schema=PLAN_SCHEMA,
        text=plan.summary(),
        rows=plan.options.rows,
        labels=plan.n_labels,
        expected_cost=expected.cost,
        expected_low=expected.low,
        expected_high=expected.high,
        high_if_triple=expected.high_if_triple,
        confidence=expected.confidence,
        seed=plan.options.seed,
        strata=tuple(
            PlannedStratum(
                each.name,
                each.rows,
                each.labels,
                float(each.low),
                float(each.high),
                float(each.rate),
            )
            for each in plan.strata
        ),
    )


def audit_found(plan: LabelPlan, reading: Reading) -> AuditFound:
    """Return the results from the labels as findings."""
    result, interval = reading.result, reading.interval
    two = isinstance(result, CostDifference)
    p_value = cheaper = None
    if isinstance(result, CostDifference):
        if not plan.options.anytime:
            p_value = result._test(  # noqa: SLF001 - without its warnings
                DEFAULT,
                {},
                alternative="two-sided",
                margin=0.0,
                confidence=interval.confidence,
            ).p_value
        if interval.low > 0 or interval.high < 0:
            cheaper = result.names[1] if result.difference > 0 else result.names[0]
    value = result.difference if isinstance(result, CostDifference) else result.cost
    strata = [each for each in reading.strata if each.labels or each.width or not two]
    at_stake = {each.name: each.high > each.low for each in plan.strata}
    return AuditFound(
        schema=AUDIT_SCHEMA,
        headline=_headline(plan, value, cheaper, percent(reading.interval.confidence)),
        text=_in_words(plan, reading, value, cheaper),
        models=plan.options.columns.decisions,
        rows=plan.options.rows,
        labels=reading.labels,
        drawn=reading.drawn,
        value=value,
        low=interval.low,
        high=interval.high,
        confidence=interval.confidence,
        method=interval.method,
        p_value=p_value,
        cheaper=cheaper,
        more=reading.more,
        worth=None if len(strata) < 2 else result.worth.equal,  # noqa: PLR2004
        unit=plan.options.unit,
        seed=plan.options.seed,
        note=reading.note,
        caution=interval.caution,
        strata=tuple(
            ReadStratum(
                each.name,
                each.rows,
                each.labels,
                each.costly,
                each.cost,
                float(each.width),
                each.next,
                at_stake[each.name],
            )
            for each in reading.strata
        ),
    )


def _headline(plan: LabelPlan, value: float, cheaper: str | None, sure: str) -> str:
    amount, names = with_unit(abs(value), plan.options.unit), plan.options.columns.decisions
    if len(names) == 1:
        return f"{names[0]} costs {with_unit(value, plan.options.unit)} per decision."
    if cheaper is not None:
        return f"Use {cheaper}. It costs {amount} less per decision."
    return f"{names[0]} and {names[1]} cannot be told apart at {sure} confidence."


def _in_words(plan: LabelPlan, reading: Reading, value: float, cheaper: str | None) -> str:
    """Describe the results: the conclusion, the number, and its limits."""
    interval, unit = reading.interval, plan.options.unit
    sure = percent(interval.confidence)
    limits = f"{number(interval.low)} to {number(interval.high)}, {sure} CI"
    if plan.options.looks > 1:
        limits += f" for each of {plan.options.looks} looks"
    elif plan.options.anytime:
        limits += " at any time"
    if len(plan.options.columns.decisions) == 1:
        name = plan.options.columns.decisions[0]
        return (
            f"{name} costs {with_unit(value, unit)} per decision ({limits}), by "
            f"{number(reading.labels)} labels of {number(plan.options.rows)} rows."
        )
    first, second = plan.options.columns.decisions
    text = compared_costs((first, second), value, unit)
    if cheaper is not None:
        return f"Use {cheaper}: {text} ({limits}), by {number(reading.labels)} labels."
    told = f"{first} and {second} cannot be told apart at {sure} confidence: {text} ({limits})."
    if reading.more is None:
        return f"{told} No number of further labels is expected to settle it."
    return f"{told} About {number(reading.more)} more labels are expected to settle it."
