"""Differences of costs: of all pairs of decisions, and the extreme ones that came too rarely."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stakes.errors import InputError
from stakes.infer.outcomes import ROUNDING, Outcomes

ENOUGH = 5
"""So often the outcomes of largest and smallest difference must have come for BDELTACOST."""

MOST_DECIMALS = 12


def cost_differences(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Δ(i1, i2, j) = C(i1, j) - C(i2, j) (Margineantu & Dietterich 2000, section 3.2).

    Costs with few decimals have differences with as few: 0.3 - 0.1 is 0.2.
    """
    _check_digits(values)
    reduced = values - values.min(axis=0)  # a large constant of a class must not cost digits
    delta = reduced[:, np.newaxis, :] - reduced[np.newaxis, :, :]
    for decimals in range(MOST_DECIMALS):
        if np.array_equal(np.round(values, decimals), values):
            return np.asarray(np.round(delta, decimals)) + 0.0
    return np.asarray(delta)


def _check_digits(values: NDArray[np.float64]) -> None:
    """Raise where a difference of costs of one class would be lost in the rounding of others."""
    ordered = np.sort(values, axis=0)
    gaps, sizes = np.diff(ordered, axis=0), np.abs(ordered[1:])
    rounding = ROUNDING * np.abs(values).max()
    lost = (gaps > ROUNDING * np.maximum(sizes, np.abs(ordered[:-1]))) & (gaps <= rounding)
    if lost.any():
        raise InputError(
            f"costs: a difference of {gaps[lost].max():g} cannot be told beside a cost of "
            f"{np.abs(values).max():g}, which has 16 digits. Make the largest costs smaller; for "
            "what must not happen, a thousand times the others is large enough."
        )


def rarest_end(outcomes: Outcomes) -> tuple[int, int] | None:
    """Return the stratum and the end of the extreme that matters most and came too rarely."""
    rare = [
        (abs(stratum.weight * stratum.costs[end]), -stratum.counts[0, end], k, end)
        for k, stratum in enumerate(outcomes.strata)
        for end in (-1, 0)
        if len(stratum.costs) > 1 and stratum.counts[0, end] < ENOUGH
    ]
    if not rare:
        return None
    _, _, k, end = max(rare)
    return k, end


def often_enough(outcomes: Outcomes) -> NDArray[np.bool_]:
    """Tell in which tables both extreme outcomes came often enough for BDELTACOST."""
    counts = outcomes.only.counts
    return np.asarray((counts[:, 0] >= ENOUGH) & (counts[:, -1] >= ENOUGH))
