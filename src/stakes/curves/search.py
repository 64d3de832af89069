"""Where along the conditions a verdict holds."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from stakes._core.typing import Floats
from stakes.curves.pieces import merged

Verdict = Callable[[Floats], NDArray[np.int64]]

SEARCHED = 401
"""At how many conditions significance is looked for, besides where thresholds change."""

HALVINGS = 40


def signs_of(verdict: Verdict, breaks: Floats) -> list[tuple[float, float, int]]:
    """Return the ranges of PC(+) with the same verdict, which may jump at breaks only."""
    edges = np.unique(np.concatenate([np.linspace(0, 1, SEARCHED), breaks]))
    begin, end = edges[:-1], edges[1:]
    tiny = np.minimum(1e-9, (end - begin) / 4)
    first, last = verdict(begin + tiny), verdict(end - tiny)
    change = _changes(verdict, begin + tiny, end - tiny, first, last)
    lows = np.column_stack([begin, change]).ravel()
    highs = np.column_stack([change, end]).ravel()
    return merged(lows, highs, np.column_stack([first, last]).ravel())


def _changes(
    verdict: Verdict,
    begin: Floats,
    end: Floats,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
) -> Floats:
    """Return where the verdict changes within ranges at whose ends it differs, by halving."""
    result = end.copy()
    open_ = np.flatnonzero(first != last)
    low, high = begin[open_], end[open_]
    for _ in range(HALVINGS if len(open_) else 0):
        middle = (low + high) / 2
        same = verdict(middle) == first[open_]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    result[open_] = high
    return result
