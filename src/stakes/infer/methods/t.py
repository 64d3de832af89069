"""Student's t interval: the normal interval with the quantile of the t distribution."""

from __future__ import annotations

from scipy.special import stdtrit

from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes
from stakes.infer.methods import EVERY_DESIGN, IntervalMethod
from stakes.infer.methods.normal import standard_error


def limits(outcomes: Outcomes, alpha: float) -> tuple[Floats, Floats]:
    """Return mean ± t · standard error; degrees of freedom are the draws minus the strata."""
    freedom = sum(stratum.n for stratum in outcomes.strata) - len(outcomes.strata)
    arm = -stdtrit(freedom, alpha / 2) * standard_error(outcomes)
    return outcomes.mean - arm, outcomes.mean + arm


METHOD = IntervalMethod(name="t", designs=EVERY_DESIGN, limits=limits)
