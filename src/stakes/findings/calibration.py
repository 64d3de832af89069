"""Score distributions, gains at a capacity, and the calibration of scores as probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.counts import ScoreCounts
from stakes.findings.data import Finding
from stakes.findings.models import RateFound
from stakes.findings.policies import shown_models
from stakes.infer._ratios import beta_limits
from stakes.infer._shares import cell_shares
from stakes.infer.rates import RateEstimates
from stakes.study import Study

BINS = 10
HISTOGRAM = 20
"""Numbers of bins of the calibration and of the histograms."""

CAPACITIES, ONE = (0.01, 0.05, 0.1, 0.2, 0.5), (0.1,)
"""Shares of cases that may be flagged; just one with groups, weights or strata."""

NEARLY = 1e-12

DRAWN = validate.LARGEST / 8
"""Larger scores are plotted as infinite ones, because the difference of two could overflow."""


@dataclass(frozen=True, eq=False)
class Bin(Finding):
    """Examples with similar scores.

    Attributes
    ----------
    n : float
        The number of examples.
    score : float
        The mean score.
    share : float
        The share of positives.
    low, high : float or None
        The limits of the share; null where rows are in groups.
    """

    n: float
    score: float
    share: float
    low: float | None
    high: float | None


@dataclass(frozen=True, eq=False)
class Calibration(Finding):
    """Quality of a model's scores as probabilities.

    Attributes
    ----------
    name : str
        The model.
    brier_score : float
        The mean squared error of the probability of the positive class: half of the quadratic loss
        of Witten et al. (2011).
    log_loss : float or None
        The mean of minus the natural logarithm of the actual class's probability; null where it is
        infinite.
    bins : tuple of Bin
        The reliability: mean score and share of positives, in bins of about equal size.
    """

    name: str
    brier_score: float
    log_loss: float | None
    bins: tuple[Bin, ...]


@dataclass(frozen=True, eq=False)
class Gain(Finding):
    """Result of flagging the highest scores, at a capacity.

    Attributes
    ----------
    capacity : float
        The share of all cases that may be flagged.
    threshold : float
        Scores from here up are flagged; tied scores are flagged together, as far as they fit.
    flagged : float
        The share that is flagged.
    recall, precision : RateFound
        The share of positives that are flagged, and the share of flagged cases that are positive.
    lift : float or None
        The precision divided by the prevalence.
    """

    capacity: float
    threshold: float
    flagged: float
    recall: RateFound
    precision: RateFound
    lift: float | None


@dataclass(frozen=True, eq=False)
class ScoreDistribution(Finding):
    """Distribution of a model's scores in both classes.

    Attributes
    ----------
    name : str
        The model.
    threshold : float or None
        The threshold of its cheapest policy, if it has one.
    edges : ndarray
        The edges of the bins of the histogram.
    positives, negatives : ndarray
        The number of examples of each class in each bin.
    gains : tuple of Gain
        The results of flagging the highest scores, at several capacities.
    """

    name: str
    threshold: float | None
    edges: Floats
    positives: Floats
    negatives: Floats
    gains: tuple[Gain, ...]


def distributions_of(study: Study) -> tuple[ScoreDistribution, ...]:
    """Return the score distribution of each model with scores; none unless both classes occur."""
    shown = shown_models(study)
    if study.pos_label is None or not study.both_classes:
        return ()
    return tuple(_distribution(study, name) for name in study.scores if name in shown)


def _distribution(study: Study, name: str) -> ScoreDistribution:
    counts, used = study.scores[name], study.scores_where_used(name)
    finite = counts.thresholds[np.abs(counts.thresholds) < DRAWN]
    low, high = (float(finite[-1]), float(finite[0])) if len(finite) else (0.0, 0.0)
    if low >= 0 and high <= 1:
        low, high = 0.0, 1.0
    room = max(1.0, abs(low))  # where all scores are the same
    edges = np.linspace(low, high if high > low else low + room, HISTOGRAM + 1)
    scores = np.clip(used.thresholds, edges[0], edges[-1])  # others into the outer bins
    sides = [
        np.histogram(scores, edges, weights=side.astype(np.float64))[0]
        for side in (used.positives, used.negatives)
    ]
    policies = study.policies
    chosen = [
        policies[each].threshold
        for each in policies.competitors
        if policies[each].model == name and policies[each].threshold is not None
    ]
    plain = counts.squares is None and counts.rows is None
    capacities = CAPACITIES if plain else ONE
    gains = tuple(_gain(study, counts, used, capacity) for capacity in capacities)
    threshold = chosen[0] if chosen else None
    return ScoreDistribution(name, threshold, edges, sides[0], sides[1], gains)


def _gain(study: Study, counts: ScoreCounts, used: ScoreCounts, capacity: float) -> Gain:
    """Return recall, precision and lift of flagging as many of the highest scores as fit."""
    sums = np.cumsum(used.positives + used.negatives, dtype=np.float64)
    fit = int(np.searchsorted(sums, capacity * float(used.n) * (1 + NEARLY), side="right"))
    threshold = validate.applicable(used.thresholds[fit - 1]) if fit else float("inf")
    table = counts.confusion_at(threshold)
    rates = RateEstimates(table, counts.pos_label, study.design)
    recall, precision = (
        RateFound(each.value, each.low, each.high)
        for each in (rates.rate(name, study.confidence) for name in ("recall", "precision"))
    )
    shares = cell_shares(table, study.design)
    prevalence = float(shares[:, table.labels.index(counts.pos_label)].sum())
    flagged = float(shares[table.decisions.index(counts.pos_label)].sum())
    lift = None
    if precision.value is not None and prevalence > 0:
        lift = precision.value / prevalence
    return Gain(capacity, threshold, flagged, recall, precision, lift)


def calibration_of(study: Study) -> tuple[Calibration, ...]:
    """Return reliability, Brier score and log loss of models whose scores can be probabilities."""
    shown = shown_models(study)
    return tuple(
        _calibration(name, counts, study.confidence)
        for name, counts in ((name, study.scores_where_used(name)) for name in study.scores)
        if name in shown and counts.thresholds[-1] >= 0 and counts.thresholds[0] <= 1
    )


def _calibration(name: str, counts: ScoreCounts, confidence: float) -> Calibration:
    """Return the losses of Witten, Frank & Hall's section 5.6, from the counts of scores."""
    p, positives, negatives = counts.thresholds, counts.positives, counts.negatives
    squares = positives @ (1 - p) ** 2 + negatives @ p**2
    with np.errstate(divide="ignore"):
        logs = _times(positives, -np.log(p)) + _times(negatives, -np.log(1 - p))
    total = float(counts.n)
    return Calibration(
        name=name,
        brier_score=float(squares / total),
        log_loss=float(logs / total) if np.isfinite(logs) else None,
        bins=_bins(counts, confidence),
    )


def _times(counts: NDArray[Any], loss: Floats) -> float:
    some = counts > 0
    return float(counts[some] @ loss[some])


def _bins(counts: ScoreCounts, confidence: float) -> tuple[Bin, ...]:
    """Return the mean score and the share of positives in bins of about equal size."""
    both = (counts.positives + counts.negatives)[::-1]
    positives, scores = counts.positives[::-1], counts.thresholds[::-1]
    middle = (np.cumsum(both) - both / 2) / both.sum()
    index = np.minimum((middle * BINS).astype(int), BINS - 1)
    found = []
    for each in np.unique(index[both > 0]):  # weights may be zero
        inside = index == each
        size = float(both[inside].sum())
        share = float(positives[inside].sum() / size)
        limits = _limits(counts, inside[::-1], share, confidence)
        found.append(Bin(size, float(both[inside] @ scores[inside] / size), share, *limits))
    return tuple(found)


def _limits(
    counts: ScoreCounts, inside: NDArray[np.bool_], share: float, confidence: float
) -> tuple[float | None, float | None]:
    """Return limits of the share of positives; with weights, from Kish's effective sample size."""
    if counts.rows is not None and counts.rows.parts.groups is not None:
        return None, None
    n = float((counts.positives + counts.negatives)[inside].sum())
    if counts.squares is not None:
        n = n**2 / float(np.sum(counts.squares[:, inside]))
    low, high = beta_limits(np.asarray(share * n), np.asarray((1 - share) * n), 1 - confidence)
    return float(low), float(high)
