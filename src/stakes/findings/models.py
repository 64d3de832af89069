"""What each model costs, and where the money goes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from stakes.counts import Confusion
from stakes.errors import InputError, LabelError
from stakes.infer._outcomes import where_used
from stakes.infer.estimate import CostEstimate
from stakes.measures import error_rate, kappa, savings
from stakes.study import Study

if TYPE_CHECKING:
    from stakes.findings.findings import Settings


def models_of(study: Study, settings: Settings) -> list[dict[str, Any]]:
    """Return each model's cost and how sure it is, the cheapest first."""
    return [
        _model(name, estimate, study, settings)
        for name, estimate in study.estimates(settings.currency).items()
    ]


def _model(name: str, estimate: CostEstimate, study: Study, settings: Settings) -> dict[str, Any]:
    interval = estimate.interval(study.confidence)
    confusion = study.joint.single(name)
    used = where_used(confusion, study.design)
    decision, trivial = estimate.best_trivial()
    return {
        "name": name,
        "cost": estimate.cost,
        "low": interval.low,
        "high": interval.high,
        "method": interval.method,
        "total": estimate.total,
        "over_volume": _over_volume(estimate, interval, settings),
        "error_rate": _error_rate(used),
        "kappa": _kappa(used),
        "savings": _savings(used, study, trivial.cost),
        "best_trivial": decision,
        "trivial_cost": trivial.cost,
        "cheaper_than_trivial": estimate.cost < trivial.cost,
        "counts": confusion.counts.tolist(),
        "contributions": estimate.contributions().tolist(),
        "summary": estimate.summary(study.confidence),
    }


def _over_volume(estimate: CostEstimate, interval: Any, settings: Settings) -> Any:
    if settings.volume is None:
        return None
    over = interval.times(settings.volume)
    return {"cost": estimate.times(settings.volume), "low": over.low, "high": over.high}


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


def _savings(confusion: Confusion, study: Study, trivial: float) -> float | None:
    if trivial <= 0:
        return None
    try:
        return savings(confusion, study.costs)
    except InputError:  # one decision is the cheapest for every example
        return None


def trivial_of(study: Study) -> list[dict[str, Any]]:
    """Return what taking one and the same decision for all examples would cost, cheapest first."""
    estimate = study.estimate(study.names[0])
    found = []
    for decision, always in estimate.trivial().items():
        interval = always.interval(study.confidence)
        found.append(
            {
                "decision": decision,
                "cost": always.cost,
                "low": interval.low,
                "high": interval.high,
            }
        )
    return sorted(found, key=lambda each: each["cost"])
