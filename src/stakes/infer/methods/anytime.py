"""An interval that holds at all times at once, however often one looks: a confidence sequence.

It is that of `stakes.infer.probability.anytime`: betting with shares of the fortune that never
change, so that its limits at any time depend on the counts so far and on nothing else. It also is
valid for every distribution and every n, as "guaranteed" is.
"""

from __future__ import annotations

import numpy as np

from stakes._core.typing import Floats
from stakes.infer.outcomes import Outcomes
from stakes.infer.probability import anytime

DESIGNS = frozenset({"simple", "examples"})


def limits(outcomes: Outcomes, alpha: float) -> tuple[Floats, Floats]:
    """Return the means against which betting has multiplied the fortune by 2/α."""
    goal = float(np.log(2 / alpha))
    stratum = outcomes.only.condensed()
    return anytime.limits(stratum.costs, stratum.counts, goal)
