"""Is there enough test data: how the interval would shrink, and what a target needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.errors import InputError
from stakes.infer.planning import limits_at_sizes, plan_test_size
from stakes.study import Study

if TYPE_CHECKING:
    from stakes.findings.findings import Settings

FACTORS = np.array([0.1, 0.25, 0.5, 1, 2, 4, 10, 25, 100])
SHARE = 0.1


def enough_of(study: Study, settings: Settings) -> list[dict[str, Any]]:
    """Return for each model its interval at other sizes of the test set, were all else the same."""
    return [_model(study, name, settings) for name in study.estimates()]


def _model(study: Study, name: str, settings: Settings) -> dict[str, Any]:
    estimate = study.estimate(name)
    sizes = np.unique(np.maximum((FACTORS * study.n).round(), 1))
    low, high = limits_at_sizes(estimate, sizes, study.confidence)
    target = settings.target if settings.target is not None else SHARE * abs(estimate.cost)
    return {
        "name": name,
        "cost": estimate.cost,
        "sizes": sizes.astype(int).tolist(),
        "low": low.tolist(),
        "high": high.tolist(),
        "target": target or None,
        "plan": _plan(study, name, target, settings),
    }


def _plan(study: Study, name: str, target: float, settings: Settings) -> dict[str, Any] | None:
    if target <= 0:
        return None
    try:
        plan = plan_test_size(
            study.costs,
            study.joint.single(name),
            half_width=target,
            confidence=study.confidence,
            class_priors=study.design.class_priors,
            rng=settings.seed,
        )
    except InputError:  # more examples than can be planned with
        return None
    return plan.to_dict() | {"in_words": plan.summary()}
