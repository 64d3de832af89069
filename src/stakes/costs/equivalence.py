"""When two cost matrices rank all classifiers alike (thesis, Definition and Theorem 2.2.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-12
"""Differences below this share of the largest cost are the rounding of the costs themselves."""


def rank_alike(first: NDArray[np.float64], second: NDArray[np.float64]) -> bool:
    """Tell whether one matrix is the other, scaled and with a constant added to each column."""
    return bool(np.allclose(_reduced(first), _reduced(second), rtol=0, atol=1e-9))


def _reduced(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Take out what equivalence ignores: a constant for each column, and the scale."""
    centred = values - values.mean(axis=0)
    scale = np.abs(centred).max()
    if scale <= ROUNDING * np.abs(values).max():
        return np.zeros_like(values)
    return np.asarray(centred / scale)
