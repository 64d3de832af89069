"""An interval that is valid for every distribution and every n: betting against each mean.

Whoever bets against a mean m stakes a fraction f of the fortune on each example, which multiplies
it by 1 - f + f (C - low)/(m - low). If m is the true mean, no choice of f makes the expected
fortune larger than 1, so a fortune of 2/α has a probability of at most α/2 (Waudby-Smith & Ramdas
2024). The fortune is split over fractions on a geometric grid, and so does not depend on the order
of the examples: the counts suffice.
"""

from __future__ import annotations

import numpy as np

from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes
from stakes.infer._probability.betting import lower_limit, mixture_wealth
from stakes.infer.methods._method import ONE_SAMPLE, IntervalMethod


def limits(outcomes: Outcomes, alpha: float) -> tuple[Floats, Floats]:
    """Return the means against which betting has multiplied the fortune by 2/α."""
    goal = np.log(2 / alpha)
    stratum = outcomes.only.condensed()
    return (
        lower_limit(stratum.costs, stratum.counts, mixture_wealth, goal),
        -lower_limit(-stratum.costs[::-1], stratum.counts[:, ::-1], mixture_wealth, goal),
    )


METHOD = IntervalMethod(name="guaranteed", designs=ONE_SAMPLE, limits=limits, needs_bounds=True)
