"""A common lattice for costs: cents, tenths, or whatever all differences are multiples of."""

from __future__ import annotations

from fractions import Fraction
from math import lcm

import numpy as np
from numpy.typing import NDArray

LARGEST_DENOMINATOR = 10**5
LARGEST_POSITION = 2**40
CLOSENESS = 1e-13
"""A ratio this close to a fraction is that fraction: a random one is a thousand times further."""


def common_step(costs: NDArray[np.float64]) -> float | None:
    """Return the largest step of which all differences of `costs` are multiples, or None.

    Looked for in the ratios of the differences, so scaling the costs scales the step.
    """
    gaps = np.unique(costs - costs[0])[1:] if len(costs) else costs
    if not len(gaps):
        return None
    unit = gaps[0]
    denominator = 1
    for ratio in (gaps / unit).tolist():
        if ratio > LARGEST_POSITION:
            return None
        fraction = Fraction(ratio).limit_denominator(LARGEST_DENOMINATOR)
        if abs(float(fraction) - ratio) > CLOSENESS * ratio:
            return None
        denominator = lcm(denominator, fraction.denominator)
        if denominator > LARGEST_DENOMINATOR:
            return None
    # The largest difference has the smallest relative rounding.
    return float(gaps[-1] / np.rint(gaps[-1] / (unit / denominator)))
