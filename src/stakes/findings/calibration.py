"""Whether scores are probabilities, and how good they are as such."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.counts import ScoreCounts
from stakes.study import Study

BINS = 10


def calibration_of(study: Study) -> list[dict[str, Any]]:
    """Return reliability and proper losses of the models whose scores can be probabilities."""
    return [
        {"name": name, **_losses(counts), "bins": _bins(counts)}
        for name, counts in study.scores.items()
        if counts.thresholds[-1] >= 0 and counts.thresholds[0] <= 1
    ]


def _losses(counts: ScoreCounts) -> dict[str, float | None]:
    """Return the losses of Witten, Frank & Hall's section 5.6, from the counts of scores."""
    p, positives, negatives = counts.thresholds, counts.positives, counts.negatives
    quadratic = positives @ (2 * (1 - p) ** 2) + negatives @ (2 * p**2)
    with np.errstate(divide="ignore"):
        bits = _times(positives, -np.log2(p)) + _times(negatives, -np.log2(1 - p))
    total = float(counts.n)
    return {
        "quadratic_loss": float(quadratic / total),
        "informational_loss": float(bits / total) if np.isfinite(bits) else None,
    }


def _times(counts: NDArray[Any], loss: NDArray[np.float64]) -> float:
    some = counts > 0
    return float(counts[some] @ loss[some])


def _bins(counts: ScoreCounts) -> list[dict[str, float]]:
    """Return the mean score and the share of positives in bins of about as many examples."""
    both = (counts.positives + counts.negatives)[::-1]
    positives, scores = counts.positives[::-1], counts.thresholds[::-1]
    middle = (np.cumsum(both) - both / 2) / both.sum()
    index = np.minimum((middle * BINS).astype(int), BINS - 1)
    found = []
    for each in np.unique(index):
        inside = index == each
        size = float(both[inside].sum())
        found.append(
            {
                "n": size,
                "score": float(both[inside] @ scores[inside] / size),
                "share": float(positives[inside].sum() / size),
            }
        )
    return found
