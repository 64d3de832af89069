"""How sure each point of a band must be for the whole band to be right at once.

Along one line the height is a mix of two independent rates, and its standardised error the
projection of a point (Z₁, Z₂) on a direction in the first quadrant. In half of all cases the point
lies in that quadrant or its opposite, and the largest projection is its distance from the origin;
else it is the larger of |Z₁| and |Z₂|. So the band is left somewhere with probability
½ exp(-c²/2) + ½ (1 - (2 Φ(c) - 1)²). Several lines, one for each threshold, share the probability
as Šidák has it: the sets of errors inside each line's limits are convex and symmetric, so for
Gaussian errors together they are at least as likely as if independent (Royen 2014). Under full
sampling the two rates are slightly correlated and the constant a little small; in simulations that
cost less than a point.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr

WIDEST = 38.0
"""Where the normal distribution ends in double precision."""


def pointwise_alpha(alpha: float, lines: int) -> float:
    """Return the α of each point for which all points of so many lines have `alpha` together."""
    each = -np.expm1(np.log1p(-alpha) / lines)

    def excess(c: float) -> float:
        outside = 2 * ndtr(-c)
        return float(0.5 * np.exp(-c * c / 2) + 0.5 * outside * (2 - outside) - each)

    return float(2 * ndtr(-brentq(excess, 0.0, WIDEST)))
