"""How sure to be of each comparison when the cheapest of several is compared with the others.

The cheapest is chosen by looking at the costs, which makes its lead too large. Were all of m
policies equally good, the largest difference between any two would be the range of m normal
variables (Tukey's range). Each comparison is judged by that.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

POINTS = np.linspace(-9.0, 9.0, 1201)
DENSITY = np.exp(-(POINTS**2) / 2) / np.sqrt(2 * np.pi)
NORMAL = ndtr(POINTS)
FEW = 20
TINY = 1e-7
"""Below it the p-value times the number of pairs is as good, and loses no digits."""


def adjusted(p_value: float, members: int) -> float:
    """Return the p-value of a comparison with the cheapest of `members` policies.

    Parameters
    ----------
    p_value : float
        The p-value of the comparison alone, on both sides.
    members : int
        The number of policies.
    """
    pairs = members * (members - 1) / 2
    if pairs <= 1:
        return p_value
    if p_value < TINY:
        return min(1.0, pairs * p_value)
    return min(1.0, _beyond(np.sqrt(2) * -float(ndtri(p_value / 2)), members))


@cache
def level(alpha: float, members: int) -> float:
    """Return the error rate of a comparison alone whose adjusted one is `alpha`."""
    low, high = alpha / max(1.0, members * (members - 1) / 2), alpha
    if adjusted(low, members) >= alpha or members <= 2:  # noqa: PLR2004
        return low
    if members > FEW:  # so many levels may be needed that halving takes seconds
        at = brentq(
            lambda x: adjusted(float(np.exp(x)), members) - alpha,
            np.log(low),
            np.log(high),
            xtol=1e-14,
        )
        return float(np.exp(at))
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if adjusted(middle, members) <= alpha else (low, middle)
    return float(low)


def _beyond(width: float, members: int) -> float:
    """Return the probability that m normal variables have a larger range."""
    inside = (ndtr(POINTS + width) - NORMAL) ** (members - 1)
    return 1.0 - float(members * np.trapezoid(DENSITY * inside, POINTS))
