"""The normal interval: the mean plus or minus z standard errors.

It is too narrow where the cost comes from rare expensive errors.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from stakes._core.typing import Floats
from stakes.errors import InputError
from stakes.infer._outcomes import Outcomes
from stakes.infer.methods import EVERY_DESIGN, IntervalMethod


def limits(outcomes: Outcomes, alpha: float) -> tuple[Floats, Floats]:
    """Return mean ± z · standard error."""
    arm = -ndtri(alpha / 2) * standard_error(outcomes)
    return outcomes.mean - arm, outcomes.mean + arm


def tails(outcomes: Outcomes, margin: float, _alpha: float) -> tuple[Floats, Floats]:
    """Return the p-values of the z test against a mean of at most, and of at least, the margin.

    Where all observed outcomes are the same, the mean is taken as certain.
    """
    error, shift = standard_error(outcomes), outcomes.mean - margin
    certain = error == 0
    z = shift / np.where(certain, 1.0, error)
    return np.where(certain, shift <= 0, ndtr(-z)), np.where(certain, shift >= 0, ndtr(z))


def standard_error(outcomes: Outcomes) -> Floats:
    """Return the standard error of the mean, for each table; sample variances have n - 1."""
    for stratum in outcomes.strata:
        if (stratum.n < 2).any() and not stratum.certain:  # noqa: PLR2004 - the least that has a variance
            raise InputError(
                "method",
                "the normal and t intervals need at least two examples"
                + (" of each class or stratum." if len(outcomes.strata) > 1 else "."),
                "Use method='extremal'.",
            )
    return np.sqrt(sum(each.weight**2 * each.variance for each in outcomes.strata))


METHOD = IntervalMethod(name="normal", designs=EVERY_DESIGN, limits=limits, tails=tails)
