"""Exact McNemar test of whether the two kinds of disagreement are equally frequent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc

from stakes._core.typing import Floats
from stakes.errors import InputError
from stakes.infer._outcomes import Outcomes
from stakes.infer.methods import ONE_SAMPLE, IntervalMethod


def tails(outcomes: Outcomes, margin: float, _alpha: float) -> tuple[Floats, Floats]:
    """Return the binomial tails of the disagreements, which must all cost the same."""
    stratum = outcomes.only
    for row in stratum.counts:
        seen = stratum.costs[row > 0]
        if margin or len(np.unique(np.abs(seen[seen != 0]))) > 1:
            raise InputError(
                "method",
                "McNemar's test is for mistakes that all cost the same (0/1 costs) and a margin "
                "of 0.",
                "Use 'extremal'.",
            )
    counts = np.rint(stratum.counts).astype(np.int64)
    above = counts[:, stratum.costs > 0].sum(axis=1)
    below = counts[:, stratum.costs < 0].sum(axis=1)
    return _at_least(above, below), _at_least(below, above)


def _at_least(one: NDArray[np.int64], other: NDArray[np.int64]) -> Floats:
    """Return the probability of at least `one` disagreements of a kind, if both are equally likely.

    It uses the incomplete beta function: creating SciPy's binomial distribution takes a
    millisecond.
    """
    found = betainc(np.maximum(one, 1), other + 1, 0.5)
    return np.where(one > 0, found, 1.0)


METHOD = IntervalMethod(name="mcnemar", designs=ONE_SAMPLE, tails=tails)
