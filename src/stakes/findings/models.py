"""The cost of each model, its contributions by cell, and recall, precision and other rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from stakes._core.labels import Label
from stakes._core.typing import Floats
from stakes.counts import Confusion, GroupedConfusion
from stakes.errors import LabelError
from stakes.findings.data import Finding
from stakes.findings.policies import BY_DEFAULT, IntervalBy, OverVolume, error_rate_of, over_volume
from stakes.infer._outcomes import Design
from stakes.infer._shares import where_used
from stakes.infer.estimate import summary_of
from stakes.infer.rates import OF_A_CLASS, RateEstimates
from stakes.measures import kappa
from stakes.study import Study

COMPLEMENTS = {"fpr": "specificity", "fnr": "recall"}
"""Rates that are 1 minus another rate, whose limits give theirs."""

MOST_CLASSES = 50
"""With more classes than this, the rates of each class and their averages are left out."""


@dataclass(frozen=True, eq=False)
class RateFound(Finding):
    """A rate and its limits.

    Attributes
    ----------
    value : float or None
        The rate; null where it is not defined, such as the precision of a model that flags nothing.
    low, high : float
        The limits of the rate; where it is not defined, its lowest and highest possible values.
    """

    value: float | None
    low: float
    high: float

    def complement(self) -> RateFound:
        """Return 1 minus the rate, with its limits."""
        value = None if self.value is None else 1 - self.value
        return RateFound(value, 1 - self.high, 1 - self.low)


@dataclass(frozen=True, eq=False)
class ClassRates(Finding):
    """The rates of one class against the rest.

    Attributes
    ----------
    label : label
        The class.
    recall, specificity, fpr, fnr, precision, npv, f1 : RateFound
        The rates of the class.
    """

    label: Label
    recall: RateFound
    specificity: RateFound
    fpr: RateFound
    fnr: RateFound
    precision: RateFound
    npv: RateFound
    f1: RateFound


@dataclass(frozen=True, eq=False)
class RatesFound(Finding):
    """The usual rates of a model's decisions.

    Attributes
    ----------
    pos_label : label or None
        The positive class; null with more than two classes.
    recall, specificity, fpr, fnr, precision, npv, f1 : RateFound or None
        The rates of the positive class; null with more than two classes, whose rates are in
        `by_class`.
    accuracy, balanced_accuracy, mcc, kappa : RateFound
        The rates of all classes together.
    macro_precision, macro_f1 : RateFound or None
        Averages over the classes (that of recall is the balanced accuracy); null for two classes,
        and for more than fifty.
    by_class : tuple of ClassRates
        The rates of each class against the rest, for three to fifty classes.
    """

    pos_label: Label | None
    recall: RateFound | None
    specificity: RateFound | None
    fpr: RateFound | None
    fnr: RateFound | None
    precision: RateFound | None
    npv: RateFound | None
    f1: RateFound | None
    accuracy: RateFound
    balanced_accuracy: RateFound
    mcc: RateFound
    kappa: RateFound
    macro_precision: RateFound | None
    macro_f1: RateFound | None
    by_class: tuple[ClassRates, ...]


def rates_of(
    table: Confusion | GroupedConfusion,
    pos_label: Label | None,
    design: Design,
    confidence: float,
) -> RatesFound | None:
    """Return the rates of a model's decisions; None where the decisions are not the classes."""
    if set(table.decisions) != set(table.labels):
        return None
    two = len(table.labels) == 2  # noqa: PLR2004 - one class is the positive one
    positive = None
    if two:
        positive = table.labels[1] if pos_label is None else pos_label
    every = RateEstimates(table, positive, design)
    few = len(table.labels) <= MOST_CLASSES

    def found(name: str, of: RateEstimates = every) -> RateFound:
        rate = of.rate(name, confidence)
        return RateFound(rate.value, rate.low, rate.high)

    def of_class(label: Label) -> ClassRates:
        one = every.of(label)
        return ClassRates(label, **{name: found(name, one) for name in OF_A_CLASS})

    several = not two and few
    of_positive: dict[str, Any] = dict.fromkeys(OF_A_CLASS)
    if two:
        same = [name for name in OF_A_CLASS if name not in COMPLEMENTS]
        of_positive |= {name: found(name) for name in same}
        of_positive |= {
            name: of_positive[other].complement() for name, other in COMPLEMENTS.items()
        }
    return RatesFound(
        pos_label=positive,
        **of_positive,
        accuracy=found("accuracy"),
        balanced_accuracy=found("balanced_accuracy"),
        mcc=found("mcc"),
        kappa=found("kappa"),
        macro_precision=found("macro_precision") if several else None,
        macro_f1=found("macro_f1") if several else None,
        by_class=tuple(map(of_class, table.labels)) if several else (),
    )


@dataclass(frozen=True, eq=False)
class Model(Finding):
    """Cost of a model at its cheapest policy.

    Attributes
    ----------
    name : str
        The model.
    policy : str
        The name of its cheapest policy, to which all numbers here refer.
    cost, low, high : float
        The expected cost per decision, and its limits.
    method : str
        The method of the interval.
    total : float
        The cost of as many decisions as there are examples.
    over_volume : OverVolume or None
        The cost of the stated number of decisions; null where none was stated.
    error_rate : float or None
        The share of decisions for a wrong class; a review is not an error. Null where no decision
        is a class.
    kappa : float or None
        Cohen's kappa.
    savings : float or None
        The share of the avoidable cost that the model saves, compared with the best constant
        prediction.
    best_constant : label or None
        The best constant prediction; null where none keeps within the limits.
    constant_cost : float or None
        The cost of the best constant prediction.
    cheaper_than_constant : bool
        Whether the model is shown to cost less than the best constant prediction, in a comparison
        of these two alone.
    counts : ndarray
        The number of times that each decision occurred, for each class.
    contributions : ndarray
        The contribution of each of these cells to the cost.
    rates : RatesFound or None
        Recall, precision, F1 and the other usual rates, with limits; null where decisions are not
        the classes.
    summary : str
        The result in a sentence.
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
    best_constant: Label | None
    constant_cost: float | None
    cheaper_than_constant: bool
    counts: Floats
    contributions: Floats
    rates: RatesFound | None
    summary: str


@dataclass(frozen=True, eq=False)
class Constant(Finding):
    """Cost of a constant prediction.

    Attributes
    ----------
    decision : label
        The constant prediction.
    cost, low, high : float
        The expected cost per decision, and its limits.
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


def best_policies(study: Study) -> dict[str, str]:
    """Return the cheapest policy of each model, the cheapest first: the order of all charts."""
    policies = study.policies
    best: dict[str, str] = {}
    for name in policies.competitors:  # the cheapest first
        for model in policies[name].models:
            best.setdefault(model, name)
    return best


def models_of(
    study: Study, unit: str = "", volume: float | None = None, by: IntervalBy = BY_DEFAULT
) -> tuple[Model, ...]:
    """Return each model's cost at its cheapest policy, and its interval, the cheapest first."""
    best = best_policies(study)
    always = next(iter(constants_of(study, by)), None)

    @cache  # of hundreds of models, many have the same counts
    def rates(table: Confusion | GroupedConfusion) -> RatesFound | None:
        return rates_of(table, study.pos_label, study.design, study.confidence)

    return tuple(
        _model(study, name, policy, always, unit=unit, volume=volume, by=by, rates=rates)
        for name, policy in best.items()
    )


def _model(
    study: Study,
    name: str,
    policy: str,
    always: Constant | None,
    *,
    unit: str,
    volume: float | None,
    by: IntervalBy,
    rates: Callable[[Confusion | GroupedConfusion], RatesFound | None],
) -> Model:
    policies = study.policies
    estimate = replace(policies.estimate(policy), unit=unit)
    interval = policies.interval(policy, by.method, **dict(by.options))
    confusion = policies.deployed(policy)
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
        savings=None if always is None else _savings(study, estimate.cost, always.cost),
        best_constant=None if always is None else always.decision,
        constant_cost=None if always is None else always.cost,
        cheaper_than_constant=always is not None and _cheaper(study, policy, always),
        counts=pooled.counts,
        contributions=policies.contributions(policy),
        rates=rates(confusion),
        summary=summary_of(estimate, interval),
    )


def _cheaper(study: Study, policy: str, always: Constant) -> bool:
    """Tell whether a policy is shown to cost less than a constant prediction."""
    pair = study.policies.family.pair(policy, _constant(study, always))
    return pair.shown and pair.difference < 0


def _constant(study: Study, always: Constant) -> str:
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


def _savings(study: Study, cost: float, constant: float) -> float | None:
    """Return the share of what perfect decisions would save against a constant that is saved."""
    ideal = study.ideal_cost()
    if ideal is None:
        ideal = float(study.policies.class_shares @ study.costs.values.min(axis=0))
    return (constant - cost) / (constant - ideal) if constant > ideal else None


def constants_of(study: Study, by: IntervalBy = BY_DEFAULT) -> tuple[Constant, ...]:
    """Return what each constant prediction costs, the cheapest first."""
    policies = study.policies
    found = []
    for policy in map(policies.__getitem__, policies.constants):
        if policy.decision is not None:
            estimate = policies.estimate(policy.name)
            interval = policies.interval(policy.name, by.method, **dict(by.options))
            errors = error_rate_of(where_used(policies.deployed(policy.name), study.design))
            limits = (interval.low, interval.high)
            found.append(Constant(policy.decision, estimate.cost, *limits, estimate.total, errors))
    return tuple(sorted(found, key=lambda each: each.cost))
