"""The decision of least expected cost, and which cost matrices rank all classifiers alike."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stakes._core.typing import Floats

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""How wrong a sum may be, as a share of its absolute terms and for each of them."""

ALIKE = 1e-9
"""Differences below this share of a column's spread are none."""

COST_ROUNDING = 8 * float(np.finfo(np.float64).eps)
"""Differences below this share of a column's largest cost are the rounding of the costs."""


def expected_risk(proba: Floats, values: Floats) -> Floats:
    """Return the risk of each decision (thesis, equation 2.3).

    Costs are ``[decision, class]``, or ``[example, decision, class]``.
    """
    if values.ndim == 2:  # noqa: PLR2004 - one matrix for all
        return np.asarray(proba @ values.T)
    return np.asarray(np.matmul(values, proba[:, :, np.newaxis])[:, :, 0])


def least_risk(proba: Floats, values: Floats) -> NDArray[np.intp]:
    """Return which decision has the least risk; a tie goes to the first.

    Risks are tied when they differ by no more than the rounding of their sums.
    """
    risk = expected_risk(proba, values)
    rounding = ROUNDING * (proba.shape[1] + 2) * expected_risk(proba, np.abs(values))
    could_be_least = risk - rounding <= (risk + rounding).min(axis=1, keepdims=True)
    return np.asarray(could_be_least.argmax(axis=1))


def rank_alike(first: NDArray[np.float64], second: NDArray[np.float64]) -> bool:
    """Tell whether one matrix is the other, scaled and with a constant added to each column.

    Then both rank all classifiers alike (thesis, Definition and Theorem 2.2.1). One column tells
    the scale; then each column must agree on its own, since a class with small costs ranks
    classifiers as much as one with large costs, if only it occurs often enough.
    """
    spreads = np.ptp(first, axis=0), np.ptp(second, axis=0)
    roundings = (
        COST_ROUNDING * np.abs(first).max(axis=0),
        COST_ROUNDING * np.abs(second).max(axis=0),
    )
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
