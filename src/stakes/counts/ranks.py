"""Scores as ranks: the position of each among the distinct ones, highest first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.typing import Floats

Ranks = NDArray[np.int32]


def ranked(scores: Floats) -> tuple[Floats, Ranks]:
    """Return the distinct scores, highest first, and the position of each score among them."""
    order = np.argsort(scores)
    ordered = scores[order]
    new = np.append(True, ordered[1:] != ordered[:-1])
    place = np.cumsum(new, dtype=np.int32)
    ranks = np.empty(len(scores), dtype=np.int32)
    ranks[order] = place[-1] - place
    return ordered[new][::-1].copy(), ranks


def merged(thresholds: Sequence[Floats], ranks: Sequence[Ranks]) -> tuple[Floats, Ranks]:
    """Return the distinct scores of all parts, and the position of each part's rows among them."""
    every, places = ranked(np.concatenate(thresholds))
    ends = np.cumsum([len(each) for each in thresholds])
    of_parts = zip(np.split(places, ends[:-1]), ranks, strict=True)
    return every, np.concatenate([place[rows] for place, rows in of_parts])


def sides(
    ranks: Ranks, size: int, positive: NDArray[np.bool_], amounts: NDArray[Any] | None
) -> NDArray[Any]:
    """Add up rows into a row of positives and one of negatives, with a column for each score."""
    codes = np.where(positive, ranks, ranks + np.int32(size))
    sums = np.bincount(codes, weights=amounts, minlength=2 * size).reshape(2, size)
    whole = amounts is None or amounts.dtype.kind in "biu"
    return sums.astype(np.int64, copy=False) if whole else sums


def amounts_of(amounts: NDArray[Any] | None, rows: int) -> NDArray[Any]:
    """Return how many examples each row stands for; one unless said otherwise."""
    return np.ones(rows, dtype=np.int64) if amounts is None else amounts
