"""The lower envelope of a scorer's cost lines, from its score table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from stakes.counts import ScoreCounts


def envelope_cuts(counts: ScoreCounts) -> NDArray[np.intp]:
    """Return how many of the highest scores are called positive at each corner of the ROC hull.

    The hull of a ROC curve is the isotonic regression of the labels on the scores: the share of
    positives may only fall from block to block. A linear map takes positives against all examples
    to true against false positive rates, so both have the same corners.

    The first cut is 0, nothing called positive, unless the highest score is infinite: then no
    threshold does that.
    """
    positives, negatives = counts.positives, counts.negatives
    both = positives + negatives
    skipped = 1 if counts.thresholds[0] == np.inf else 0
    used = np.flatnonzero(both) if (both[skipped:] == 0).any() else np.arange(len(both))
    used = used[used >= skipped]
    if not len(used):
        return np.array([skipped])
    weights = both[used].astype(np.float64)
    fit = isotonic_regression(positives[used] / weights, weights=weights, increasing=False)
    starts = used[fit.blocks[:-1]]
    cuts = np.append(starts[1:], len(both))
    return _corners(np.append(skipped, cuts), counts)


def _corners(cuts: NDArray[np.intp], counts: ScoreCounts) -> NDArray[np.intp]:
    """Leave out points between corners, which rounding in the regression may have kept."""
    while len(cuts) > 2:  # noqa: PLR2004 - two ends have nothing between them
        positives, negatives = (
            np.add.reduceat(side, cuts[:-1])
            / side.sum()  # rates: products of weights may underflow
            for side in (counts.positives, counts.negatives)
        )
        turns = positives[:-1] * negatives[1:] > positives[1:] * negatives[:-1]
        if turns.all():
            break
        bent = np.flatnonzero(~turns)
        alone = np.append(True, np.diff(bent) > 1)  # neighbours are judged again, one at a time
        cuts = np.delete(cuts, bent[alone] + 1)
    return cuts


def cumulative(values: NDArray[Any], cuts: NDArray[np.intp]) -> NDArray[Any]:
    """Return the sum of the first so many values, for each cut."""
    sums = np.append(values.dtype.type(0), np.cumsum(values))
    return np.asarray(sums[cuts])
