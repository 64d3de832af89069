"""Confidence sequence: an interval that is valid at all times at once, however often one looks.

It is that of `stakes.infer._probability.betting`, which bets constant shares of the fortune, so
that its limits at any time depend only on the counts so far. Like "guaranteed", it is valid for
every distribution and every n.
"""

from __future__ import annotations

import numpy as np

from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes
from stakes.infer._probability import betting
from stakes.infer.methods import ONE_SAMPLE, IntervalMethod


def limits(outcomes: Outcomes, alpha: float) -> tuple[Floats, Floats]:
    """Return the means against which betting has multiplied the fortune by 2/α."""
    goal = float(np.log(2 / alpha))
    stratum = outcomes.only.condensed()
    return betting.limits(stratum.costs, stratum.counts, goal)


METHOD = IntervalMethod(name="anytime", designs=ONE_SAMPLE, limits=limits, needs_bounds=True)
