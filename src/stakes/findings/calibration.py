"""Whether scores are probabilities, and how good they are as such."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.typing import Floats
from stakes.counts import ScoreCounts
from stakes.findings._encode import Finding
from stakes.findings.policies import shown_models
from stakes.study import Study

BINS = 10


@dataclass(frozen=True, eq=False)
class Bin(Finding):
    """Examples with similar scores.

    Attributes
    ----------
    n : float
        How many they are.
    score : float
        Their mean score.
    share : float
        The share of positives among them.
    """

    n: float
    score: float
    share: float


@dataclass(frozen=True, eq=False)
class Calibration(Finding):
    """How good a model's scores are as probabilities.

    Attributes
    ----------
    name : str
        The model.
    quadratic_loss : float
        The mean of twice the squared error of the probability.
    informational_loss : float or None
        The mean of minus the binary logarithm of the actual class's probability; null where it is
        infinite.
    bins : tuple of Bin
        The reliability: mean score and share of positives, in bins of about as many examples.
    """

    name: str
    quadratic_loss: float
    informational_loss: float | None
    bins: tuple[Bin, ...]


def calibration_of(study: Study) -> tuple[Calibration, ...]:
    """Return reliability and proper losses of the models whose scores can be probabilities."""
    shown = shown_models(study)
    return tuple(
        _calibration(name, counts)
        for name, counts in ((name, study.scores_where_used(name)) for name in study.scores)
        if name in shown and counts.thresholds[-1] >= 0 and counts.thresholds[0] <= 1
    )


def _calibration(name: str, counts: ScoreCounts) -> Calibration:
    """Return the losses of Witten, Frank & Hall's section 5.6, from the counts of scores."""
    p, positives, negatives = counts.thresholds, counts.positives, counts.negatives
    quadratic = positives @ (2 * (1 - p) ** 2) + negatives @ (2 * p**2)
    with np.errstate(divide="ignore"):
        bits = _times(positives, -np.log2(p)) + _times(negatives, -np.log2(1 - p))
    total = float(counts.n)
    return Calibration(
        name=name,
        quadratic_loss=float(quadratic / total),
        informational_loss=float(bits / total) if np.isfinite(bits) else None,
        bins=_bins(counts),
    )


def _times(counts: NDArray[Any], loss: Floats) -> float:
    some = counts > 0
    return float(counts[some] @ loss[some])


def _bins(counts: ScoreCounts) -> tuple[Bin, ...]:
    """Return the mean score and the share of positives in bins of about as many examples."""
    both = (counts.positives + counts.negatives)[::-1]
    positives, scores = counts.positives[::-1], counts.thresholds[::-1]
    middle = (np.cumsum(both) - both / 2) / both.sum()
    index = np.minimum((middle * BINS).astype(int), BINS - 1)
    found = []
    for each in np.unique(index):
        inside = index == each
        size = float(both[inside].sum())
        share = float(positives[inside].sum() / size)
        found.append(Bin(size, float(both[inside] @ scores[inside] / size), share))
    return tuple(found)
