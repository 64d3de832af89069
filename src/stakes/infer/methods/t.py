"""Student's t interval: as the normal one, with the quantile of t."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import t as student

from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes
from stakes.infer.methods._method import EVERY_DESIGN, IntervalMethod
from stakes.infer.methods.normal import standard_error


def limits(outcomes: Outcomes, alpha: float) -> tuple[Floats, Floats]:
    """Return mean ± t · standard error, with n - 1 (or groups - 1) degrees of freedom."""
    freedom: Any
    if outcomes.groups is not None:
        freedom = len(outcomes.groups[0]) - 1
    elif outcomes.effective is not None:
        freedom = np.maximum(outcomes.effective - 1, 1)
    else:
        freedom = sum(stratum.n for stratum in outcomes.strata) - len(outcomes.strata)
    arm = student.isf(alpha / 2, freedom) * standard_error(outcomes)
    return outcomes.mean - arm, outcomes.mean + arm


METHOD = IntervalMethod(name="t", designs=EVERY_DESIGN, limits=limits)
