"""Efron's bias-corrected and accelerated bootstrap, from the exact bootstrap distribution."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr, ndtri

from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes
from stakes.infer.methods import ONE_SAMPLE, IntervalMethod
from stakes.infer.methods.exact import distributions


def limits(outcomes: Outcomes, alpha: float) -> tuple[Floats, Floats]:
    """Return the quantiles at the corrected levels.

    The bias correction counts half of the probability of the estimate itself; the acceleration is
    that of a mean, skewness/(6 √n). Both are computed from the counts.
    """
    stratum = outcomes.only
    spread = stratum.moment(2)
    skewness = stratum.moment(3) / np.where(spread > 0, spread, 1) ** 1.5
    acceleration = skewness / (6 * np.sqrt(stratum.n))
    found, mean = distributions(outcomes, 0.0, alpha), stratum.mean
    below = (found.cdf(mean) + 1 - found.sf(mean)) / 2
    bias = ndtri(np.clip(below, 1e-12, 1 - 1e-12))[:, np.newaxis]
    z = bias + ndtri([alpha / 2, 1 - alpha / 2])
    levels = ndtr(bias + z / (1 - acceleration[:, np.newaxis] * z))
    low, high = found.quantile(levels).T
    return low - found.error, high + found.error  # 0 where the distribution is exact


METHOD = IntervalMethod(name="bca", designs=ONE_SAMPLE, limits=limits)
