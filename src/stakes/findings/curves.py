"""Cost curves, thresholds and decision curves of the models that have scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Labels
from stakes._core.text import flag_words
from stakes._core.typing import Floats
from stakes.curves._base import Curve
from stakes.curves._rates import rate_limits
from stakes.curves.band import Band, Verdicts
from stakes.curves.combine import roc_hull
from stakes.curves.condition import CostAt, operating_condition
from stakes.curves.curve import CostCurve
from stakes.curves.decision_curve import DecisionCurve
from stakes.errors import InputError
from stakes.findings.data import Finding
from stakes.findings.policies import shown_models
from stakes.infer._inference import Interval
from stakes.infer._outcomes import Design
from stakes.policies.threshold import ThresholdChoice, choice_of
from stakes.predictions.examples import MISTAKES
from stakes.study import Study

MOST_POINTS = 400
"""Maximum number of points of a ROC curve, and of thresholds to choose from, that are shown."""

MOST_PAIRED = 6
"""Maximum number of models of which all pairs are compared."""

ALL_PAIRS = f"Of {MOST_PAIRED} models or fewer, all pairs are compared: name those to compare."


@dataclass(frozen=True, eq=False)
class Condition(Finding):
    """The operating condition of the costs, and of the prevalence that they are for.

    Attributes
    ----------
    pc : float or None
        PC(+); null where correct decisions cost more than mistakes.
    prevalence : float
        The frequency of the positive class.
    false_positive, false_negative : float
        The extra cost of each mistake over the correct decision.
    """

    pc: float | None
    prevalence: float
    false_positive: float
    false_negative: float


@dataclass(frozen=True, eq=False)
class Counts(Finding):
    """A table of counts.

    Attributes
    ----------
    labels, decisions : tuple of labels
        The classes, and the possible decisions.
    counts : ndarray
        The number of times that each decision occurred, for each class.
    """

    labels: Labels
    decisions: Labels
    counts: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Choice(Finding):
    """The chosen threshold and its results.

    Only the cost and its interval are corrected for the choice: all else is of the threshold
    itself, on all examples.

    Attributes
    ----------
    threshold : float
        The lowest score that is flagged as positive.
    rule : str
        The criterion by which the threshold was chosen.
    cost : float or None
        The expected cost per decision; null where no costs were given.
    interval : Interval or None
        The confidence interval of the cost.
    corrected : bool
        Whether the cost and its interval are corrected for the choice, by cross-fitting.
    in_sample_cost : float or None
        The cost on the examples without the correction; too low if they chose the threshold.
    recall, fpr : float
        The share of positives, and of negatives, that are flagged.
    precision : float or None
        The share of positives among the flagged examples; null where none is flagged.
    alarms : float
        The share of all examples that are flagged.
    confusion : Counts
        The counts of the decisions.
    chosen_on : str
        The examples that the threshold was chosen on.
    summary : str
        The result in a sentence.
    """

    threshold: float
    rule: str
    cost: float | None
    interval: Interval | None
    corrected: bool
    in_sample_cost: float | None
    recall: float
    fpr: float
    precision: float | None
    alarms: float
    confusion: Counts
    chosen_on: str
    summary: str


def choice_found(choice: ThresholdChoice) -> Choice:
    """Return a chosen threshold as a finding."""
    found: dict[str, Any] = {each.name: getattr(choice, each.name) for each in fields(Choice)}
    table: Any = choice.pooled  # a study knows the classes
    counts = Counts(table.labels, table.decisions, table.counts)
    return Choice(**found | {"confusion": counts, "summary": choice.summary()})


def choices_of(study: Study) -> dict[str, ThresholdChoice]:
    """Return the threshold that is chosen for each model with scores, as the verdict judges it."""
    found = {}
    for name in study.scores:
        choice = choice_of(study.policies, name, study.pos_label, study.choosing)
        if choice is not None:
            found[name] = choice
    return found


@dataclass(frozen=True, eq=False)
class Lines(Finding):
    """Each threshold that is the best at some condition: enough to redraw the curve and its band.

    Attributes
    ----------
    from_ : tuple of float or None
        The operating condition from which on the threshold is the best; null where it is the best
        at one condition at most.
    fpr, tpr : ndarray
        The rates of the threshold.
    threshold : ndarray
        The threshold.
    fpr_low, fpr_high, fnr_low, fnr_high : ndarray
        The limits of the rates.
    shared : ndarray or None
        The correlation of the two rates, where groups have rows of both classes; null where the
        rates are independent.
    """

    from_: tuple[float | None, ...]
    fpr: Floats
    tpr: Floats
    threshold: NDArray[Any]
    fpr_low: Floats
    fpr_high: Floats
    fnr_low: Floats
    fnr_high: Floats
    shared: Floats | None


@dataclass(frozen=True, eq=False)
class Roc(Finding):
    """A ROC curve.

    Attributes
    ----------
    fpr, tpr : ndarray
        The points of the curve.
    """

    fpr: Floats
    tpr: Floats


@dataclass(frozen=True, eq=False)
class ModelCurve(Finding):
    """The cost curve of a model.

    Attributes
    ----------
    name : str
        The model.
    summary : str
        The conditions in which the model is worth using, in a sentence.
    area : float
        The mean cost over all PC(+).
    operating_range : tuple of pairs of float
        The ranges in which the curve is below the constant predictions; the band has the
        uncertainty.
    chosen_on : str
        The examples that its thresholds were chosen on.
    band : Band
        The curve and its limits.
    """

    name: str
    summary: str
    area: float
    operating_range: tuple[tuple[float, float], ...]
    chosen_on: str
    band: Band


@dataclass(frozen=True, eq=False)
class ScoredCurve(ModelCurve):
    """The cost curve of a model that has scores, and its thresholds.

    Attributes
    ----------
    positives, negatives : float
        The number of examples of each class.
    lines : Lines
        Each threshold that is the best at some condition.
    roc : Roc
        The ROC curve.
    thresholds : ndarray
        The thresholds of the ROC curve's points.
    choice : Choice or None
        The threshold that is chosen at the stated costs; null where none can be.
    """

    positives: float
    negatives: float
    lines: Lines
    roc: Roc
    thresholds: NDArray[Any]
    choice: Choice | None


@dataclass(frozen=True, eq=False)
class CurveAtCondition(ModelCurve):
    """The cost curve of a model, piece by piece, and its cost at the stated condition.

    Attributes
    ----------
    breaks : ndarray
        The values of PC(+) between which the curve is straight.
    fpr, tpr : ndarray
        The rates of each straight piece.
    thresholds : ndarray or None
        The threshold of each straight piece, where there are scores.
    at_condition : CostAt or None
        What the verdict says that the model costs at the stated condition: with scores, at its
        chosen threshold, and corrected for the choice. Null where no costs were given, or no
        threshold can be chosen.
    """

    breaks: Floats
    fpr: Floats
    tpr: Floats
    thresholds: NDArray[Any] | None
    at_condition: CostAt | None


@dataclass(frozen=True, eq=False)
class Range(Finding):
    """A range of operating conditions.

    Attributes
    ----------
    low, high : float
        The lowest and the highest PC(+) of the range.
    cheaper : str or None
        The model that was shown to be cheaper there; null where none was.
    """

    low: float
    high: float
    cheaper: str | None


@dataclass(frozen=True, eq=False)
class CurvePair(Finding):
    """Range in which one of two models is cheaper than the other.

    Attributes
    ----------
    first, second : str
        The models.
    crossovers : tuple of float
        The values of PC(+) at which the cheaper model changes.
    summary : str
        The comparison in a sentence.
    ranges : tuple of Range, or None
        The ranges in which one was shown to be cheaper; null where one model has scores and the
        other only decisions, which cannot be tested.
    band : Band or None
        The difference of both curves and its limits; null where it was not requested.
    """

    first: str
    second: str
    crossovers: tuple[float, ...]
    summary: str
    ranges: tuple[Range, ...] | None
    band: Band | None = None


@dataclass(frozen=True, eq=False)
class Curves(Finding):
    """Cost curves and thresholds of the models that have scores.

    Attributes
    ----------
    condition : Condition
        The operating condition of the costs and the prevalence.
    models : tuple of ScoredCurve
        The curve of each model.
    pairs : tuple of CurvePair
        The comparison of each pair; of more than six models, of each with the cheapest one and
        with the baseline.
    """

    condition: Condition
    models: tuple[ScoredCurve, ...]
    pairs: tuple[CurvePair, ...]


def curves_of(study: Study) -> Curves | None:
    """Return curves, bands, ranges and thresholds; None where no model has scores.

    Also None where each row has costs of its own: a curve needs costs that depend on the class.
    """
    if study.examples is not None:
        return None
    ranked = shown_models(study)
    curves = {name: curve for name, curve in study.curves().items() if name in ranked}
    if not curves:
        return None
    ranked = tuple(name for name in ranked if name in curves)
    pairs = compared_pairs(tuple(curves), ranked, study.policies[study.policies.reference].model)
    return Curves(
        condition=_condition(study),
        models=tuple(_scored(curve, study) for curve in curves.values()),
        pairs=tuple(_scored_pair(study, *pair) for pair in pairs),
    )


def compared_pairs(
    names: Sequence[str], ranked: Sequence[str], baseline: str | None
) -> list[tuple[str, str]]:
    """Return the pairs of models to compare.

    Of more than `MOST_PAIRED` models, these are the pairs with the cheapest one or the baseline.

    Parameters
    ----------
    names : sequence of str
        The models.
    ranked : sequence of str
        The models to compare where there are many, the cheapest first.
    baseline : str or None
        The model that the others are compared with, if it is one of them.
    """
    if len(names) <= MOST_PAIRED:
        return list(combinations(names, 2))
    best = ranked[0]
    found = [(best, other) for other in ranked[1:]]
    if baseline in names and baseline != best:
        others = [name for name in ranked if name not in (best, baseline)]
        found += [(str(baseline), name) for name in others]
        found += [] if baseline in ranked else [(best, str(baseline))]
    return found


def uncompared(curves: Curves | None) -> str:
    """State which pairs of many curves are compared; empty where all are."""
    if curves is None or len(curves.models) <= MOST_PAIRED:
        return ""
    return (
        f"There are {len(curves.models):,} cost curves: each is compared with those of the "
        f"cheapest model and of the baseline, not with all others. {ALL_PAIRS}"
    )


def _condition(study: Study) -> Condition:
    """Return the operating condition of the costs and of the prevalence that they are for."""
    prevalence = study.prevalence()
    mistakes = study.costs.mistake_costs(pos_label=study.pos_label)
    try:
        pc = operating_condition(prevalence=prevalence, **mistakes)
    except InputError:  # correct decisions cost more than mistakes
        pc = None
    return Condition(pc, prevalence, **mistakes)


def _common(curve: Curve, band: Band) -> dict[str, Any]:
    """Return the attributes that the curves of all models share."""
    return {
        "name": curve.name,
        "summary": curve.summary(),
        "area": curve.area(),
        "operating_range": tuple((low, high) for low, high in curve.operating_range()),
        "chosen_on": curve.chosen_on,
        "band": band,
    }


def _scored(curve: CostCurve, study: Study) -> ScoredCurve:
    fpr, tpr, thresholds = curve.points()
    shown = _picked(len(fpr))
    choice = choice_of(study.policies, curve.name, study.pos_label, study.choosing)
    return ScoredCurve(
        **_common(curve, curve.band(study.confidence)),
        positives=curve.counts.n_positives,
        negatives=curve.counts.n_negatives,
        lines=_lines(curve, study.confidence),
        roc=Roc(fpr[shown], tpr[shown]),
        thresholds=thresholds[shown],
        choice=None if choice is None else choice_found(choice),
    )


def curve_at(curve: Curve, band: Band, at_condition: CostAt | None) -> CurveAtCondition:
    """Return the curve of a model, with or without scores, and its cost at a condition."""
    pieces = curve.pieces
    return CurveAtCondition(
        **_common(curve, band),
        breaks=pieces.breaks,
        fpr=pieces.left,
        tpr=1 - pieces.right,
        thresholds=curve.thresholds if isinstance(curve, CostCurve) else None,
        at_condition=at_condition,
    )


def costs_at(study: Study, curves: Mapping[str, Curve], condition: Condition) -> dict[str, CostAt]:
    """Return what models cost at the condition that a study is for, as the verdict judges it.

    A model with scores is at its chosen threshold, another decides as it does. Models without
    either are left out.
    """
    policies, chosen, found = study.policies, choices_of(study), {}
    always = min(policies.estimate(each).cost for each in policies.constants)
    where = {name: getattr(condition, name) for name in ("prevalence", *MISTAKES)}
    for name, curve in curves.items():
        at, decided = curve.at(**where, confidence=study.confidence), policies.decided_for(name)
        judged: Any = chosen.get(name)  # at stated costs it has a cost
        if judged is not None:
            at = replace(at, threshold=judged.threshold, rule=flag_words(judged.threshold))
            cost, (low, high) = judged.cost, judged.interval
        elif name not in study.scores and decided is not None:
            cost, (low, high) = policies.estimate(decided).cost, policies.interval(decided)
        else:
            continue
        found[name] = replace(at, cost=cost, limits=(low, high), constant=always)
    return found


def _lines(curve: CostCurve, confidence: float) -> Lines:
    """Return each threshold that is the best at some condition, and the limits of its rates."""
    hull = roc_hull(curve)
    thresholds: Any = hull.thresholds
    starts = dict(zip(curve.thresholds.tolist(), curve.pieces.breaks.tolist(), strict=False))
    alpha = validate.alpha(confidence)
    return Lines(
        from_=tuple(starts.get(threshold) for threshold in thresholds.tolist()),
        fpr=hull.fpr,
        tpr=hull.tpr,
        threshold=thresholds,
        **rate_limits(curve.counts, thresholds, alpha),
    )


def _scored_pair(study: Study, first: str, second: str) -> CurvePair:
    difference = study.curve_difference(first, second)
    verdicts = difference.significant_ranges(study.confidence)
    band = difference.band(study.confidence)
    return _pair(first, second, difference.crossovers(), verdicts, band)


def curve_pair(study: Study, first: Curve, second: Curve) -> CurvePair:
    """Return where the curves of two models cross, and where one is shown to be cheaper."""
    names = (first.name, second.name)
    scored = [name in study.scores for name in names]
    verdicts = None
    if all(scored) or not any(scored):
        verdicts = study.curve_difference(*names).significant_ranges(study.confidence)
    return _pair(*names, first.crossovers(second), verdicts)


def _pair(
    first: str,
    second: str,
    crossovers: list[float],
    verdicts: Verdicts | None,
    band: Band | None = None,
) -> CurvePair:
    if verdicts is None:
        message = "Scores cannot be tested against decisions."
        return CurvePair(first, second, tuple(crossovers), message, None, band)
    ranges = tuple(Range(*each) for each in verdicts.ranges)
    return CurvePair(first, second, tuple(crossovers), verdicts.summary(), ranges, band)


def _picked(size: int) -> NDArray[np.intp]:
    """Return the positions of at most `MOST_POINTS` points, including both ends."""
    if size <= MOST_POINTS:
        return np.arange(size)
    return np.unique(np.linspace(0, size - 1, MOST_POINTS).round().astype(np.intp))


EVERY = tuple(place / 100 for place in range(1, 100))
SOME = (0.05, 0.1, 0.2, 0.3, 0.5)
"""The threshold probabilities; fewer with groups, weights or strata, whose limits take longer."""


@dataclass(frozen=True, eq=False)
class Decision(Finding):
    """The decision curve of a model.

    Attributes
    ----------
    name : str
        The model.
    prevalence : float
        The prevalence that the curve is for.
    threshold : ndarray
        The threshold probabilities.
    net_benefit, low, high : ndarray
        The net benefit of treating at or above each threshold, and its limits at that threshold.
    simultaneous_low, simultaneous_high : ndarray
        Limits that hold at all thresholds at once.
    treat_all : ndarray
        The net benefit of treating everyone; that of treating nobody is 0.
    interventions_avoided : ndarray
        The net number of interventions avoided per 100, compared with treating everyone.
    summary : str
        Where the model is shown to be better than treating everyone and nobody.
    """

    name: str
    prevalence: float
    threshold: Floats
    net_benefit: Floats
    low: Floats
    high: Floats
    simultaneous_low: Floats
    simultaneous_high: Floats
    treat_all: Floats
    interventions_avoided: Floats
    summary: str


def decisions_of(study: Study, prevalence: float | None = None) -> tuple[Decision, ...]:
    """Return the decision curves of the models whose scores lie between 0 and 1."""
    shown = shown_models(study)
    return tuple(
        decision_of(curve, study.confidence)
        for curve in decision_curves(study, prevalence)
        if curve.name in shown
    )


def decision_curves(study: Study, prevalence: float | None = None) -> list[DecisionCurve]:
    """Return the decision curve of each model whose scores lie between 0 and 1."""
    if study.pos_label is None or not study.both_classes:
        return []
    priors = study.class_priors()
    if priors is not None and not 0 < priors[study.pos_label] < 1:
        return []
    if prevalence is None and (study.class_priors() is not None or study.design.strata is not None):
        prevalence = study.prevalence()
    design = Design(population=study.design.population)
    return [
        DecisionCurve(counts, name, prevalence, design=design)
        for name, counts in study.scores.items()
        if counts.thresholds[-1] >= 0 and counts.thresholds[0] <= 1
    ]


def decision_of(curve: DecisionCurve, confidence: float) -> Decision:
    """Return a decision curve as a finding."""
    counts = curve.counts
    plain = getattr(counts, "rows", None) is None and getattr(counts, "squares", None) is None
    at = np.array(EVERY if plain else SOME)
    point = curve.band(at, confidence=confidence)
    whole = curve.band(at, confidence=confidence, simultaneous=True)
    every = curve.treat_all(at)
    return Decision(
        name=curve.name,
        prevalence=float(every[0] * (1 - at[0]) + at[0]),
        threshold=at,
        net_benefit=point.net_benefit,
        low=point.low,
        high=point.high,
        simultaneous_low=whole.low,
        simultaneous_high=whole.high,
        treat_all=every,
        interventions_avoided=(point.net_benefit - every) * (1 - at) / at * 100,
        summary=curve.shown_better(whole),
    )
