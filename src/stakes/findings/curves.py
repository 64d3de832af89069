"""Cost curves and thresholds of the models that have scores."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes.curves import CostCurve, choose_threshold, operating_condition, roc_hull
from stakes.curves.bands.mover import WEIGHT, beta_limits
from stakes.errors import InputError
from stakes.findings.population import class_priors_of
from stakes.study import Study

MOST_POINTS = 400
"""Points of a ROC curve, and thresholds to choose from, that are shown."""


def curves_of(study: Study) -> dict[str, Any] | None:
    """Return curves, bands, ranges and thresholds; None where no model has scores."""
    curves = study.curves()
    if not curves:
        return None
    return {
        "condition": _condition(study),
        "models": [_curve(curve, study) for curve in curves.values()],
        "pairs": [_pair(study, *pair) for pair in combinations(curves, 2)],
    }


def _condition(study: Study) -> dict[str, Any]:
    """Return the operating condition of the costs and of the prevalence that they are for."""
    counts = next(iter(study.scores.values()))
    priors = class_priors_of(study)
    prevalence = counts.n_positives / counts.n if priors is None else priors[counts.pos_label]
    mistakes = study.costs.mistake_costs(pos_label=counts.pos_label)
    try:
        pc = operating_condition(prevalence=prevalence, **mistakes)
    except InputError:  # correct decisions cost more than mistakes
        pc = None
    return {"pc": pc, "prevalence": prevalence, **mistakes}


def _curve(curve: CostCurve, study: Study) -> dict[str, Any]:
    band = curve.band(study.confidence)
    fpr, tpr, thresholds = curve.points()
    shown = _picked(len(fpr))
    positives, negatives = curve.counts.n_positives, curve.counts.n_negatives
    choice = choose_threshold(
        curve.counts,
        study.costs,
        class_priors=class_priors_of(study),
        confidence=study.confidence,
    )
    return {
        "name": curve.name,
        "summary": curve.summary(),
        "area": curve.area(),
        "operating_range": [list(each) for each in curve.operating_range()],
        "chosen_on": curve.chosen_on,
        "positives": positives,
        "negatives": negatives,
        "band": {name: getattr(band, name).tolist() for name in ("pc", "cost", "low", "high")},
        "lines": _lines(curve, study.confidence),
        "roc": {"fpr": fpr[shown].tolist(), "tpr": tpr[shown].tolist()},
        "thresholds": _finite(thresholds[shown]),
        "choice": choice.to_dict() | {"threshold": _finite([choice.threshold])[0]},
        "choice_in_words": choice.summary(),
    }


def _lines(curve: CostCurve, confidence: float) -> dict[str, Any]:
    """Return each threshold that is best somewhere: enough to redraw curve and band anywhere.

    ``from`` is the operating condition from which on the threshold is the best one, None where
    that is at no more than one condition; low and high are the limits of the rates.
    """
    hull = roc_hull(curve)
    thresholds: Any = hull.thresholds
    starts = dict(zip(curve.thresholds.tolist(), curve.pieces.breaks.tolist(), strict=False))
    alpha = validate.alpha(confidence)
    limits: dict[str, list[float]] = {}
    sides = (
        ("fpr", hull.fpr, curve.counts.n_negatives),
        ("fnr", 1 - hull.tpr, curve.counts.n_positives),
    )
    for name, rates, n in sides:
        low, high = beta_limits(rates * float(n), float(n), alpha=alpha, weight=WEIGHT)
        limits |= {f"{name}_low": low.tolist(), f"{name}_high": high.tolist()}
    return {
        "from": [starts.get(threshold) for threshold in thresholds.tolist()],
        "fpr": hull.fpr.tolist(),
        "tpr": hull.tpr.tolist(),
        "threshold": _finite(thresholds),
        **limits,
    }


def _pair(study: Study, first: str, second: str) -> dict[str, Any]:
    difference = study.curve_difference(first, second)
    band = difference.band(study.confidence)
    verdicts = difference.significant_ranges(study.confidence)
    return {
        "first": first,
        "second": second,
        "crossovers": difference.crossovers(),
        "in_words": verdicts.summary(),
        "ranges": verdicts.to_dict()["ranges"],
        "band": {name: getattr(band, name).tolist() for name in ("pc", "cost", "low", "high")},
    }


def _picked(size: int) -> NDArray[np.intp]:
    """Return the positions of at most so many points, both ends among them."""
    if size <= MOST_POINTS:
        return np.arange(size)
    return np.unique(np.linspace(0, size - 1, MOST_POINTS).round().astype(np.intp))


def _finite(thresholds: Any) -> list[float | str]:
    """Return thresholds as numbers; JSON has none for infinite ones."""
    return [each if np.isfinite(each) else ("inf" if each > 0 else "-inf") for each in thresholds]
