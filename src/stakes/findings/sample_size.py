"""Sample size: the interval at other sizes of the test set, and the size that a target needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.typing import Floats
from stakes.errors import PlanError
from stakes.findings.data import Finding, Settings
from stakes.findings.policies import shown_policies
from stakes.infer.estimate import CostEstimate
from stakes.infer.planning import Plan, Power, limits_at_sizes, plan_from
from stakes.study import Study

FACTORS = np.array([0.1, 0.25, 0.5, 1, 2, 4, 10, 25, 100])
SHARE = 0.1


@dataclass(frozen=True, eq=False)
class NeededSize(Finding):
    """Number of test examples that are needed.

    Attributes
    ----------
    n : int
        The number of examples.
    goal : str
        The goal of the plan, in words.
    spread, range_of_costs : int or None
        The number of examples required, by formula, by the variability of the costs, and by the
        rarest, most expensive mistake, where an interval is planned.
    trustworthy_from : int or None
        The number of examples from which on normal theory can be trusted.
    arm : float or None
        The largest distance of the upper limit from the estimate in the promised share of test
        sets, where an interval is planned.
    assurance : float or None
        The promised share of test sets; 1 without a pilot.
    power : Power or None
        The power at n, where a test is planned.
    design_effect : float
        The factor by which more examples are needed than independent ones of equal weight.
    drawn : str
        A note that they are sampled by the same design, and what that requires; empty for
        independent ones of equal weight.
    reason : str
        The requirement that needs the most examples, in words.
    summary : str
        The result in a sentence.
    """

    n: int
    goal: str
    spread: int | None
    range_of_costs: int | None
    trustworthy_from: int | None
    arm: float | None
    assurance: float | None
    power: Power | None
    design_effect: float
    drawn: str
    reason: str
    summary: str


def needed_size_of(plan: Plan) -> NeededSize:
    """Return a plan as a finding."""
    return NeededSize(
        plan.n,
        plan.goal,
        plan.spread,
        plan.range_of_costs,
        plan.trustworthy_from,
        plan.arm,
        plan.assurance,
        plan.power,
        plan.design_effect,
        plan.drawn,
        plan.reason,
        plan.summary(),
    )


@dataclass(frozen=True, eq=False)
class SampleSize(Finding):
    """A policy's interval at other sizes of the test set.

    Attributes
    ----------
    name : str
        The policy of a model.
    cost : float
        The expected cost per decision.
    sizes : ndarray
        The sizes of the test set.
    low, high : ndarray
        The limits of the cost in test sets of these sizes, with the same shares.
    target : float or None
        The largest allowed distance of the upper limit above the cost; null where a tenth of the
        cost is zero.
    plan : NeededSize or None
        The number of examples that the target needs; null where it is too large to plan.
    """

    name: str
    cost: float
    sizes: NDArray[Any]
    low: Floats
    high: Floats
    target: float | None
    plan: NeededSize | None


def sample_sizes_of(study: Study, settings: Settings) -> tuple[SampleSize, ...]:
    """Return each policy's interval at other sizes of the test set, all else being equal."""
    policies = study.policies
    names = [name for name in shown_policies(study) if policies[name].models]
    return tuple(_model(study, name, policies.estimate(name), settings) for name in names)


def _model(study: Study, name: str, estimate: CostEstimate, settings: Settings) -> SampleSize:
    sizes = np.unique(np.maximum((FACTORS * study.n).round(), 1))
    low, high = limits_at_sizes(estimate, study.n, sizes, study.confidence)
    target = settings.target if settings.target is not None else SHARE * abs(estimate.cost)
    return SampleSize(
        name=name,
        cost=estimate.cost,
        sizes=sizes.astype(int),
        low=low,
        high=high,
        target=target or None,
        plan=_plan(study, name, target),
    )


def _plan(study: Study, name: str, target: float) -> NeededSize | None:
    if target <= 0:
        return None
    try:
        plan = plan_from(
            study.policies.estimate(name),
            study.n,
            half_width=target,
            confidence=study.confidence,
            rng=0,  # the same page each time: the draws only confirm a formula
        )
    except PlanError:  # more examples than can be planned with
        return None
    return needed_size_of(plan)
