"""The decision of least expected cost (thesis, equation 2.3)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stakes._core.typing import Floats

ROUNDING = 4 * float(np.finfo(np.float64).eps)
"""How wrong a sum may be, as a share of its absolute terms and for each of them."""


def expected_risk(proba: Floats, values: Floats) -> Floats:
    """Return the risk of each decision; costs [decision, class] or [example, decision, class]."""
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
