"""The cost of each policy, the result of a gate, and the policies and models that are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stakes._core.labels import Label
from stakes.counts import Confusion
from stakes.errors import LabelError
from stakes.findings.data import Finding
from stakes.infer._inference import Interval
from stakes.infer._shares import where_used
from stakes.infer.gate import Gate
from stakes.measures import error_rate
from stakes.policies import Policies, Policy, PolicyPair
from stakes.study import Study


@dataclass(frozen=True, eq=False)
class GateResult(Finding):
    """Result of a gate: which candidates pass, which fail, and which could not be judged.

    It has only the conclusions of a `Gate`; the findings have its comparisons and tests separately.

    Attributes
    ----------
    rule : str
        The condition that a candidate must meet to pass, in words.
    outcome : str
        "passed", "failed", or "could not judge" where a candidate could not be judged.
    judged : tuple of str
        The policies that were judged.
    failures : tuple of str
        The policies that fail.
    unjudged : mapping of str
        By model or column, why it could not be judged.
    passed : bool
        Whether all were judged and none fails.
    summary : str
        The result in sentences.
    """

    rule: str
    outcome: str
    judged: tuple[str, ...]
    failures: tuple[str, ...]
    unjudged: Mapping[str, str]
    passed: bool
    summary: str


def gate_of(gate: Gate) -> GateResult:
    """Return a gate of the library as a finding."""
    outcome = "passed" if gate.passed else "failed"
    return GateResult(
        rule=gate.rule,
        outcome="could not judge" if gate.unjudged else outcome,
        judged=tuple(pair.first for pair in gate.pairs),
        failures=gate.failures,
        unjudged=gate.unjudged,
        passed=gate.passed,
        summary=gate.summary(),
    )


@dataclass(frozen=True, eq=False)
class OverVolume(Finding):
    """Cost of the stated number of decisions.

    Attributes
    ----------
    cost, low, high : float
        The cost of all decisions, and its limits.
    """

    cost: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Cut(Finding):
    """A decision, and the lowest score that leads to it.

    Attributes
    ----------
    decision : label
        The decision.
    from_ : float
        The lowest score that leads to it; "inf" where none does, "-inf" where all do.
    """

    decision: Label
    from_: float


@dataclass(frozen=True, eq=False)
class PolicyResult(Finding):
    """A policy and its cost.

    Attributes
    ----------
    name : str
        The unique name of the policy, such as ``hgb@0.043``, ``lgbm`` or ``always malignant``.
    model : str or None
        The model; null for constant predictions.
    kind : str
        "threshold" for a model at a threshold, "decisions" for a column of decisions as it stands,
        "minimum_cost" for the decision of least expected cost in each row, or "constant".
    threshold : float or None
        The threshold to deploy, chosen on all rows; null for other kinds, and where there are
        several.
    cuts : tuple of Cut
        Each decision with the lowest score that leads to it, highest first.
    threshold_range : tuple of float, or None
        The lowest and the highest threshold not shown to cost more than the chosen one; "-inf" or
        "inf" where flagging every row, or none, is not shown to cost more.
    decision : label or None
        The decision of a constant prediction.
    cost, low, high : float
        The expected cost per decision, and its limits.
    cross_fitted : bool
        Whether the threshold was chosen on these rows, so that the cost is that on folds which did
        not choose it.
    in_sample_cost : float
        The cost on the rows that chose the threshold, which is too low; for other policies, the
        cost.
    method : str
        The method of the interval.
    total : float
        The cost of as many decisions as there are examples.
    over_volume : OverVolume or None
        The cost of the stated number of decisions; null where none was stated.
    error_rate : float or None
        The share of decisions for a wrong class; a review is not an error. Null where no decision
        is a class.
    competes : bool
        Whether it may be recommended: each model's cheapest policy, the baseline and the constant
        predictions may, unless they break a limit or always decide as another of them does.
    """

    name: str
    model: str | None
    kind: str
    threshold: float | None
    cuts: tuple[Cut, ...]
    threshold_range: tuple[float, float] | None
    decision: Label | None
    cost: float
    low: float
    high: float
    cross_fitted: bool
    in_sample_cost: float
    method: str
    total: float
    over_volume: OverVolume | None
    error_rate: float | None
    competes: bool


@dataclass(frozen=True)
class IntervalBy:
    """The method of intervals, and its options.

    Attributes
    ----------
    method : str
        The name of the method.
    options : tuple of (str, value)
        The options of the method, such as its seed.
    """

    method: str = "auto"
    options: tuple[tuple[str, Any], ...] = ()


AUTO = IntervalBy()


def policies_found(
    study: Study, volume: float | None = None, by: IntervalBy = AUTO
) -> tuple[PolicyResult, ...]:
    """Return the cost of each policy, the cheapest first; of very many constants, the cheapest."""
    policies = study.policies
    shown = {*policies.constants, *policies.competitors, policies.reference}
    kept = (each for each in policies.policies if each.kind != "constant" or each.name in shown)
    found = [_result(policies, each, volume, by) for each in kept]
    order = {name: place for place, name in enumerate(policies.competitors)}
    return tuple(sorted(found, key=lambda each: (each.cost, order.get(each.name, len(order)))))


def _result(
    policies: Policies, policy: Policy, volume: float | None, by: IntervalBy
) -> PolicyResult:
    estimate = policies.estimate(policy.name)
    cost = estimate.cost
    interval = policies.interval(policy.name, by.method, **dict(by.options))
    return PolicyResult(
        name=policy.name,
        model=policy.model,
        kind=policy.kind,
        threshold=policy.threshold,
        cuts=tuple(Cut(*each) for each in policy.cuts),
        threshold_range=policy.range_,
        decision=policy.decision,
        cost=cost,
        low=interval.low,
        high=interval.high,
        cross_fitted=policy.cross_fitted,
        in_sample_cost=policies.in_sample_cost(policy.name),
        method=interval.method,
        total=estimate.total,
        error_rate=error_rate_of(where_used(policies.single(policy.name), policies.design)),
        over_volume=over_volume(cost, interval, volume),
        competes=policy.name == policies.best or policy.name in policies.others,
    )


def error_rate_of(confusion: Confusion) -> float | None:
    """Return the share of decisions for a wrong class; None where no decision is a class."""
    try:
        return error_rate(confusion)
    except LabelError:
        return None


def over_volume(cost: float, interval: Interval, volume: float | None) -> OverVolume | None:
    """Return the cost of the stated number of decisions; None where none was stated."""
    if volume is None:
        return None
    over = interval.times(volume)
    return OverVolume(cost * volume, over.low, over.high)


MOST_MODELS = 20
"""Maximum number of models, not counting the baseline, with curves and the sections after them."""


def shown_policies(study: Study) -> tuple[str, ...]:
    """Return the competing policies that are shown, the cheapest first.

    These are the policies of the models that are shown, and the constant predictions.
    """
    policies = study.policies
    models = shown_models(study)
    return tuple(
        name
        for name in policies.competitors
        if policies[name].model is None or policies[name].model in models
    )


def shown_models(study: Study) -> tuple[str, ...]:
    """Return the `MOST_MODELS` cheapest models and the baseline, the cheapest first."""
    policies = study.policies
    ranked = [policies[name].model for name in policies.competitors]
    models = [model for model in dict.fromkeys(ranked) if model is not None]
    baseline = policies[policies.reference].model
    chosen = models[:MOST_MODELS]
    return tuple(each for each in models if each in chosen or each == baseline)


def other_models(study: Study) -> str:
    """State how many models have no curves and later sections; empty where all have."""
    shown = shown_models(study)
    others = len({each.model for each in study.policies.policies} - {*shown, None})
    if not others:
        return ""
    what = "other has" if others == 1 else "others have"
    return (
        f"Curves, sensitivity, sample sizes and calibration are of the {MOST_MODELS} cheapest "
        f"models and the baseline; {others:,} {what} a higher estimated cost."
    )


def moved_found(study: Study) -> tuple[PolicyPair, ...]:
    """Return the comparison of each threshold with the same model's decisions as they stand.

    It shows what moving the threshold saves. It is not adjusted for the number of policies, unless
    the verdict compares the two.
    """
    policies = study.policies
    decided = {each.model: each.name for each in policies.policies if each.kind == "decisions"}
    pairs = [
        (each.name, decided[each.model])
        for each in policies.policies
        if each.kind == "threshold" and each.model in decided
    ]
    judged = {(each.first, each.second): each for each in policies.pairs}
    policies.prepare_alone([pair for pair in pairs if pair not in judged])
    return tuple(judged.get(pair) or policies.alone(*pair) for pair in pairs)
