"""What each model costs, and where the money goes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stakes._core.labels import Label
from stakes._core.typing import Floats
from stakes.counts import Confusion, GroupedConfusion
from stakes.errors import InputError, LabelError
from stakes.findings._encode import Finding
from stakes.infer._design import where_used
from stakes.infer._inference import Interval
from stakes.infer.estimate import CostEstimate
from stakes.measures import error_rate, kappa, savings
from stakes.study import Study


@dataclass(frozen=True, eq=False)
class OverVolume(Finding):
    """What the stated number of decisions costs.

    Attributes
    ----------
    cost, low, high : float
        The cost of all of them, and its limits.
    """

    cost: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Model(Finding):
    """What a model costs.

    Attributes
    ----------
    name : str
        The model.
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
    best_trivial : label
        The best constant prediction.
    trivial_cost : float
        What that costs.
    cheaper_than_trivial : bool
        Whether the model costs less.
    counts : ndarray
        How often each decision occurred, for each class.
    contributions : ndarray
        The part of the cost that comes from each of these cells.
    summary : str
        The same in a sentence.
    """

    name: str
    cost: float
    low: float
    high: float
    method: str
    total: float
    over_volume: OverVolume | None
    error_rate: float | None
    kappa: float | None
    savings: float | None
    best_trivial: Label
    trivial_cost: float
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


@dataclass(frozen=True)
class IntervalBy:
    """The method of intervals, and what it is given.

    Attributes
    ----------
    method : str
        The name of the method.
    options : mapping
        What the method is given, such as its seed.
    """

    method: str = "auto"
    options: Mapping[str, Any] | None = None

    def interval(self, estimate: CostEstimate, confidence: float) -> Interval:
        """Return the interval of a cost."""
        return estimate.interval(confidence, self.method, **(self.options or {}))

    def summary(self, estimate: CostEstimate, confidence: float) -> str:
        """Say what a model costs, with that interval."""
        return estimate.summary(confidence, self.method, **(self.options or {}))


AUTO = IntervalBy()


def models_of(
    study: Study, unit: str = "", volume: float | None = None, by: IntervalBy = AUTO
) -> tuple[Model, ...]:
    """Return each model's cost and its interval, the cheapest first."""
    found = study.estimates(unit)
    always = study.best_trivial() if found else None
    return tuple(
        _model(study, name, each, always, volume=volume, by=by) for name, each in found.items()
    )


def _model(
    study: Study,
    name: str,
    estimate: CostEstimate,
    always: Any,
    *,
    volume: float | None,
    by: IntervalBy,
) -> Model:
    interval = by.interval(estimate, study.confidence)
    confusion = study.joint.single(name)
    pooled = confusion.pooled if isinstance(confusion, GroupedConfusion) else confusion
    used = where_used(confusion, study.design)
    decision, trivial = always
    return Model(
        name=name,
        cost=estimate.cost,
        low=interval.low,
        high=interval.high,
        method=interval.method,
        total=estimate.total,
        over_volume=_over_volume(estimate, interval, volume),
        error_rate=_error_rate(used),
        kappa=_kappa(used),
        savings=_savings(used, study, estimate.cost, trivial.cost),
        best_trivial=decision,
        trivial_cost=trivial.cost,
        cheaper_than_trivial=estimate.cost < trivial.cost,
        counts=pooled.counts,
        contributions=study.contributions(name),
        summary=by.summary(estimate, study.confidence),
    )


def _over_volume(
    estimate: CostEstimate, interval: Interval, volume: float | None
) -> OverVolume | None:
    if volume is None:
        return None
    over = interval.times(volume)
    return OverVolume(estimate.times(volume), over.low, over.high)


def _error_rate(confusion: Confusion) -> float | None:
    try:
        return error_rate(confusion)
    except LabelError:
        return None


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


def trivial_of(study: Study) -> tuple[Trivial, ...]:
    """Return what each constant prediction costs, the cheapest first."""
    always = study.trivial()
    found = [_trivial(decision, each, study, AUTO) for decision, each in always.items()]
    return tuple(sorted(found, key=lambda each: each.cost))


def best_trivial_of(study: Study, by: IntervalBy = AUTO) -> Trivial:
    """Return what the best constant prediction costs, without a look at the others."""
    return _trivial(*study.best_trivial(), study, by)


def _trivial(decision: Label, always: CostEstimate, study: Study, by: IntervalBy) -> Trivial:
    interval = by.interval(always, study.confidence)
    try:
        errors = study.constant_error_rate(decision, always)
    except LabelError:  # no decision is a class
        errors = None
    return Trivial(decision, always.cost, interval.low, interval.high, always.total, errors)
