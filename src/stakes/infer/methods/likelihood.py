"""Empirical likelihood whose support is extended to all possible costs, calibrated by χ²₁."""

from __future__ import annotations

from scipy.special import chdtri

from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes
from stakes.infer._probability.betting import best_wealth, lower_limit
from stakes.infer.methods import ONE_SAMPLE, IntervalMethod


def limits(outcomes: Outcomes, alpha: float) -> tuple[Floats, Floats]:
    """Return the means at which twice the log-likelihood ratio reaches the χ² quantile.

    The log-likelihood ratio of a mean m is the logarithm of the most that betting against m with a
    constant stake could have won: max over λ of Σ M log(1 + λ (C - m)).
    """
    goal = chdtri(1, alpha) / 2
    stratum = outcomes.only.condensed()
    return (
        lower_limit(stratum.costs, stratum.counts, best_wealth, goal),
        -lower_limit(-stratum.costs[::-1], stratum.counts[:, ::-1], best_wealth, goal),
    )


METHOD = IntervalMethod(name="likelihood", designs=ONE_SAMPLE, limits=limits)
