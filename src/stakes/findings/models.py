"""What each model costs, and where the money goes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stakes._core.labels import Label
from stakes._core.typing import Floats
from stakes.counts import Confusion, GroupedConfusion
from stakes.errors import InputError, LabelError
from stakes.findings._encode import Finding
from stakes.findings.policies import AUTO, IntervalBy, OverVolume, error_rate_of, over_volume
from stakes.infer._design import where_used
from stakes.infer.estimate import summary_of
from stakes.measures import kappa, savings
from stakes.study import Study


@dataclass(frozen=True, eq=False)
class Model(Finding):
    """What a model costs at its cheapest policy.

    Attributes
    ----------
    name : str
        The model.
    policy : str
        The name of its cheapest policy, which all numbers here are of.
    cost, low, high : float
        The expected cost of a decision, and its limits.
    method : str
        The method of the interval.
    total : float
        The cost of as many decisions as there are examples.
    over_volume : OverVolume or None
        The cost of the stated number of decisions; null where none was stated.
    error_rate : float or None
        The share of decisions that are not the actual class; null where no decision is a class.
    kappa : float or None
        Cohen's kappa.
    savings : float or None
        The part of the avoidable cost that the model saves, compared with the best constant
        prediction.
    best_trivial : label or None
        The best constant prediction; null where none keeps within the limits.
    trivial_cost : float or None
        What that costs.
    cheaper_than_trivial : bool
        Whether the model is shown to cost less than that, in a comparison of these two alone.
    counts : ndarray
        How often each decision occurred, for each class.
    contributions : ndarray
        The part of the cost that comes from each of these cells.
    summary : str
        The same in a sentence.
    """

    name: str
    policy: str
    cost: float
    low: float
    high: float
    method: str
    total: float
    over_volume: OverVolume | None
    error_rate: float | None
    kappa: float | None
    savings: float | None
    best_trivial: Label | None
    trivial_cost: float | None
    cheaper_than_trivial: bool
    counts: Floats
    contributions: Floats
    summary: str


@dataclass(frozen=True, eq=False)
class Trivial(Finding):
    """What a constant prediction costs.

    Attributes
    ----------
    decision : label
        What is always decided.
    cost, low, high : float
        The expected cost of a decision, and its limits.
    total : float
        The cost of as many decisions as there are examples.
    error_rate : float or None
        The share of examples of other classes.
    """

    decision: Label
    cost: float
    low: float
    high: float
    total: float
    error_rate: float | None


def models_of(
    study: Study, unit: str = "", volume: float | None = None, by: IntervalBy = AUTO
) -> tuple[Model, ...]:
    """Return each model's cost at its cheapest policy, and its interval, the cheapest first."""
    policies = study.policies
    best: dict[str, str] = {}
    for name in policies.competitors:  # the cheapest first
        model = policies[name].model
        if model is not None:
            best.setdefault(model, name)
    always = next(iter(trivial_of(study, by)), None)
    if always is not None:
        constant = _constant(study, always)
        policies.prepare_alone([(policy, constant) for policy in best.values()])
    return tuple(
        _model(study, name, policy, always, unit=unit, volume=volume, by=by)
        for name, policy in best.items()
    )


def _model(
    study: Study,
    name: str,
    policy: str,
    always: Trivial | None,
    *,
    unit: str,
    volume: float | None,
    by: IntervalBy,
) -> Model:
    policies = study.policies
    estimate = replace(policies.estimate(policy), unit=unit)
    interval = policies.interval(policy, by.method, **dict(by.options))
    confusion = policies.single(policy)
    pooled = confusion.pooled if isinstance(confusion, GroupedConfusion) else confusion
    used = where_used(confusion, study.design)
    return Model(
        name=name,
        policy=policy,
        cost=estimate.cost,
        low=interval.low,
        high=interval.high,
        method=interval.method,
        total=estimate.total,
        over_volume=over_volume(estimate.cost, interval, volume),
        error_rate=error_rate_of(used),
        kappa=_kappa(used),
        savings=None if always is None else _savings(used, study, estimate.cost, always.cost),
        best_trivial=None if always is None else always.decision,
        trivial_cost=None if always is None else always.cost,
        cheaper_than_trivial=always is not None and _cheaper(study, policy, always),
        counts=pooled.counts,
        contributions=policies.contributions(policy),
        summary=summary_of(estimate, interval),
    )


def _cheaper(study: Study, policy: str, always: Trivial) -> bool:
    """Tell whether a policy is shown to cost less than a constant prediction."""
    pair = study.policies.alone(policy, _constant(study, always))
    return pair.shown and pair.difference < 0


def _constant(study: Study, always: Trivial) -> str:
    """Return the name of the policy that is a constant prediction."""
    return next(
        each.name
        for each in study.policies.policies
        if each.kind == "constant" and each.decision == always.decision
    )


def _kappa(confusion: Confusion) -> float | None:
    try:
        return kappa(confusion)
    except (LabelError, ValueError):
        return None


def _savings(confusion: Confusion, study: Study, cost: float, trivial: float) -> float | None:
    if trivial <= 0:
        return None
    ideal = study.ideal_cost()
    if ideal is not None:
        return (trivial - cost) / (trivial - ideal) if trivial > ideal else None
    try:
        return savings(confusion, study.costs)
    except InputError:  # one decision is the cheapest for every example
        return None


def trivial_of(study: Study, by: IntervalBy = AUTO) -> tuple[Trivial, ...]:
    """Return what each constant prediction costs, the cheapest first."""
    policies = study.policies
    found = []
    for policy in map(policies.__getitem__, policies.constants):
        if policy.decision is not None:
            estimate = policies.estimate(policy.name)
            interval = policies.interval(policy.name, by.method, **dict(by.options))
            errors = error_rate_of(where_used(policies.single(policy.name), study.design))
            limits = (interval.low, interval.high)
            found.append(Trivial(policy.decision, estimate.cost, *limits, estimate.total, errors))
    return tuple(sorted(found, key=lambda each: each.cost))
