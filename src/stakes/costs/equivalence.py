"""When two cost matrices rank all classifiers alike (thesis, Definition and Theorem 2.2.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ALIKE = 1e-9
"""Differences below this share of a column's spread are none."""

ROUNDING = 8 * float(np.finfo(np.float64).eps)
"""Differences below this share of a column's largest cost are the rounding of the costs."""


def rank_alike(first: NDArray[np.float64], second: NDArray[np.float64]) -> bool:
    """Tell whether one matrix is the other, scaled and with a constant added to each column.

    One column tells the scale; then each column must agree on its own, since a class with small
    costs ranks classifiers as much as one with large costs, if only it comes often enough.
    """
    spreads = np.ptp(first, axis=0), np.ptp(second, axis=0)
    roundings = ROUNDING * np.abs(first).max(axis=0), ROUNDING * np.abs(second).max(axis=0)
    matters = spreads[0] > roundings[0]
    if not np.array_equal(matters, spreads[1] > roundings[1]):
        return False
    if not matters.any():
        return True
    spread, other_spread = spreads[0][matters], spreads[1][matters]
    rounding, other_rounding = roundings[0][matters], roundings[1][matters]
    sharpest = np.argmin(rounding / spread + other_rounding / other_spread)
    scale = other_spread[sharpest] / spread[sharpest]
    difference = scale * (first - first[0]) - (second - second[0])
    allowed = ALIKE * other_spread + scale * rounding + other_rounding
    return bool((np.abs(difference[:, matters]) <= allowed).all())
