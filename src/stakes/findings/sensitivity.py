"""Sensitivity to the costs: where the verdict would change, and the decisions at other costs.

The page computes everything again from the decisions of the policies at other costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label
from stakes._core.typing import Floats
from stakes.costs import CostRanges
from stakes.counts import JointConfusion
from stakes.errors import InputError
from stakes.findings.data import Finding, Settings
from stakes.findings.policies import shown_policies
from stakes.infer.cheapest import CheapestProbability, find_cheapest
from stakes.infer.difference import CostDifference
from stakes.infer.flips import Flip, flip_region
from stakes.infer.sensitivity import find_path, follow
from stakes.policies._assemble import with_stated
from stakes.policies._choose import Chosen
from stakes.policies._path import chosen_at, loss_ratio, with_thresholds
from stakes.policies.policies import Policies, Policy
from stakes.study import Study

STEPS, DRAWS = 21, 4000
TWO = 2
EVERY = 5
"""Steps between the limits that are computed with groups, weights or strata, which take long."""

MOST_COSTS = 10_000
"""Maximum number of costs that are varied one by one; nobody could use a page with more."""

MOST_NUMBERS = 40_000_000
"""Limit on draws times counts: with very many groups, fewer draws keep the report fast."""


@dataclass(frozen=True, eq=False)
class Flips(Finding):
    """Changes of costs after which the other policy of a pair has the lower average cost.

    Attributes
    ----------
    cheaper, other : str
        The policy with the lower average cost at the stated costs, and the other.
    shown : bool
        Whether the first is shown to cost less, by the comparison of the pair.
    gradient : ndarray
        The change of the difference when a cell's cost rises by one.
    ratio, ratio_now : float or None
        The ratio of the two mistakes' costs at which the verdict changes, and that of the stated
        costs; null where there are not just two mistakes.
    flips : tuple of Flip
        For each cell, the cost at which the verdict changes.
    summary : str
        The result in a sentence.
    """

    cheaper: str
    other: str
    shown: bool
    gradient: Floats
    ratio: float | None
    ratio_now: float | None
    flips: tuple[Flip, ...]
    summary: str


@dataclass(frozen=True, eq=False)
class Cheapest(Finding):
    """Probability that a model is the cheapest.

    Attributes
    ----------
    probability_low, probability_high : float
        The bounds of the probability when costs are wrong by the factor at most, and the test set
        is a sample.
    costs_only : float
        The probability if only the costs were uncertain.
    sampling_low, sampling_high : float
        The bounds of the probability if only the test set were uncertain.
    cost : float
        The mean of the cost.
    sd, sd_costs, sd_sampling : float
        The standard deviation of the cost: from both sources, the costs, and the test set.
    """

    probability_low: float
    probability_high: float
    costs_only: float
    sampling_low: float
    sampling_high: float
    cost: float
    sd: float
    sd_costs: float
    sd_sampling: float


@dataclass(frozen=True, eq=False)
class CheapestRange(Finding):
    """Range of a cell's cost in which a model is the cheapest.

    Attributes
    ----------
    low, high : float
        The range of the cell's cost.
    cheapest : str or None
        The model that is the cheapest there; null where none is shown to be.
    """

    low: float
    high: float
    cheapest: str | None


@dataclass(frozen=True, eq=False)
class CostPath(Finding):
    """Costs of the models as the cost of one cell varies over its range.

    Attributes
    ----------
    names : tuple of str
        The models.
    axis : str
        The quantity that varies along the path.
    cell : tuple of labels
        The cell: decision and class.
    position : ndarray
        The cost of the cell at each step.
    cost, low, high : ndarray
        The expected cost of each model at each step, and its limits.
    probability_low, probability_high : ndarray
        The bounds of the probability that each is the cheapest.
    confidence : float
        The confidence level of the limits and of the ranges.
    scale : str
        "linear", or "log" where the steps are spaced by their ratio.
    ranges : tuple of CheapestRange
        The ranges in which a model is shown to be the cheapest.
    average_ranges : tuple of CheapestRange
        The ranges in which a model has the lowest average cost on the test set.
    summary : str
        The result in a sentence.
    """

    names: tuple[str, ...]
    axis: str
    cell: tuple[Label, ...]
    position: Floats
    cost: Floats
    low: Floats
    high: Floats
    probability_low: Floats
    probability_high: Floats
    confidence: float
    scale: str
    ranges: tuple[CheapestRange, ...]
    average_ranges: tuple[CheapestRange, ...]
    summary: str


@dataclass(frozen=True, eq=False)
class Sensitivity(Finding):
    """Sensitivity of the verdict to the costs.

    Attributes
    ----------
    factor : float
        The largest factor by which each cost may be wrong.
    flips : tuple of Flips
        For each policy that the cheapest is compared with, the costs at which it becomes cheaper.
    cheapest : mapping of Cheapest, or None
        By policy, the probability that it is the cheapest; null where the factor is 1.
    summary : str
        The result in a sentence; empty where the factor is 1.
    paths : tuple of CostPath
        The costs of the models as one cost varies over its range, while the others are uncertain.
    prevalence : pair of float, or None
        The range of prevalences in which the policy to use has the lowest average cost; null where
        there are not two classes.
    """

    factor: float
    flips: tuple[Flips, ...]
    cheapest: Mapping[str, Cheapest] | None
    summary: str
    paths: tuple[CostPath, ...]
    prevalence: tuple[float, float] | None


def sensitivity_of(study: Study, settings: Settings) -> Sensitivity | None:
    """Return how the verdict depends on the costs; thresholds stay where they are.

    None where each row has costs of its own, which are not varied, and where there are too many
    costs to vary each.
    """
    if study.examples is not None or too_many_costs(study):
        return None
    table = study.policies.table(shown_policies(study))
    flips = _flips(study, table)
    prevalence = _prevalence_range(study, table)
    ranges = CostRanges.around(study.costs, settings.factor)
    if bool((ranges.low == ranges.high).all()):
        return Sensitivity(settings.factor, flips, None, "", (), prevalence)
    cheapest = find_cheapest(table, ranges, study.design, _draws(table), settings.seed)
    paths = tuple(_path(study, table, ranges, cell, settings) for cell in _uncertain(ranges))
    return Sensitivity(
        settings.factor, flips, _by_model(cheapest), cheapest.summary(), paths, prevalence
    )


def too_many_costs(study: Study) -> bool:
    """Tell whether there are too many costs to vary each of them."""
    return study.costs.values.size > MOST_COSTS


def _draws(table: JointConfusion) -> int:
    return min(DRAWS, max(DRAWS // 10, MOST_NUMBERS // len(table.counts)))


def _by_model(found: CheapestProbability) -> dict[str, Cheapest]:
    return {str(name): Cheapest(**numbers) for name, numbers in found.to_dict().items()}


def _flips(study: Study, table: JointConfusion) -> tuple[Flips, ...]:
    """Return how far costs can move before another policy becomes cheaper than the cheapest."""
    found = []
    for compared in study.policies.pairs:
        if compared.second not in table.names:
            continue
        names = (compared.first, compared.second)
        pair = CostDifference(table.pair(*names), study.costs, names, study.design)
        try:
            region = flip_region(pair)
        except InputError:  # they cost exactly the same
            continue
        found.append(
            Flips(
                region.cheaper,
                region.other,
                compared.shown,
                region.gradient,
                region.ratio,
                region.ratio_now,
                region.flips,
                region.summary(shown=compared.shown),
            )
        )
    return tuple(found)


def _prevalence_range(study: Study, table: JointConfusion) -> tuple[float, float] | None:
    """Return the range of prevalences in which the policy to use stays the cheapest."""
    labels, positive = study.costs.labels, study.pos_label
    if len(labels) != TWO or positive is None:
        return None
    order = [labels.index(label) for label in (*(x for x in labels if x != positive), positive)]
    share = float(study.policies.class_shares[order[1]])
    counts = np.zeros((len(table.names), len(table.decisions), TWO))
    places = np.arange(len(table.names))[:, None]
    np.add.at(counts, (places, table.decided.T, table.actual), table.counts)
    totals = counts.sum(axis=1)
    if not (totals > 0).all():
        return None
    means = ((counts * study.costs.values).sum(axis=1) / totals)[:, order]
    ahead = means - means[table.names.index(study.policies.best)]
    low, high = 0.0, 1.0
    for negative, other in ahead.tolist():  # the extra cost of a policy in each class
        if negative == other or (negative >= 0 and other >= 0):
            continue
        turn = negative / (negative - other)
        if not 0 < turn < 1:
            continue
        low, high = (max(low, turn), high) if turn <= share else (low, min(high, turn))
    return low, high


def _uncertain(ranges: CostRanges) -> list[tuple[Label, Label]]:
    places = np.argwhere(ranges.low < ranges.high)
    widest = sorted(places.tolist(), key=lambda at: -(ranges.high - ranges.low)[tuple(at)])
    return [(ranges.decisions[i], ranges.labels[j]) for i, j in widest[:4]]


def _path(
    study: Study,
    table: JointConfusion,
    ranges: CostRanges,
    cell: tuple[Label, Label],
    settings: Settings,
) -> CostPath:
    population, through = find_path(
        table, ranges, None, cell=cell, design=study.design, steps=STEPS
    )
    path = follow(
        population,
        ranges,
        through,
        confidence=study.confidence,
        draws=_draws(table),
        every=EVERY,
        rng=settings.seed,
    )
    return CostPath(
        names=tuple(path.names),
        axis=path.axis,
        cell=cell,
        position=path.position,
        cost=path.cost,
        low=path.low,
        high=path.high,
        probability_low=path.probability_low,
        probability_high=path.probability_high,
        confidence=path.confidence,
        scale=path.scale,
        ranges=tuple(CheapestRange(*each) for each in path.cheapest_ranges()),
        average_ranges=tuple(CheapestRange(*each) for each in path.average_ranges()),
        summary=path.summary(),
    )


FACTORS = (0.0, *np.round(np.logspace(-2, 2, 21), 12).tolist(), np.inf)
"""Ratios of the two mistakes' costs, relative to the stated ratio; 0 and ∞ are the ends."""

THINNED = (1, 2, 5, 10)
"""Steps between the ratios that are kept, apart from the ends; larger for large tables."""

MOST_COUNTS = 20_000
"""Maximum number of counts in all tables, so that the page does not grow by 300 kB."""

LARGEST_CODE = 2**53
"""Larger integers lose digits in the page, whose numbers are floats."""


@dataclass(frozen=True, eq=False)
class LivePolicy(Finding):
    """A policy as the page computes with it.

    Attributes
    ----------
    model : str or None
        The model; null for constants.
    kind : str
        As in the policies: "threshold", "decisions" or "constant".
    decision : label or None
        The constant decision at any costs; null otherwise.
    column : int or None
        The position of its column in the tables; null for constants.
    cross_fitted : bool
        Whether the two tables differ in it.
    rechosen : bool
        Whether its threshold is chosen again at other costs.
    """

    model: str | None
    kind: str
    decision: Label | None
    column: int | None
    cross_fitted: bool
    rechosen: bool


@dataclass(frozen=True, eq=False)
class Tables(Finding):
    """Decisions of the policies at one ratio of the costs of the two mistakes.

    A combination of decisions and a class is one number: the class plus, for each column in turn,
    the decision times the number of classes and of decisions in all columns before it.

    Attributes
    ----------
    factor : float
        The ratio relative to that of the stated costs: the extra cost of a false alarm over a
        correct decision, divided by that of a miss. "inf" where misses cost nothing.
    names : tuple of str
        The names of the policies at this ratio.
    cuts : tuple of (tuple of float)
        Their thresholds.
    held_out, held_out_counts : ndarray
        The combinations on folds that did not choose the thresholds, and how often each occurred.
    in_sample, in_sample_counts : ndarray
        The same on all rows with the thresholds to deploy; empty where they do not differ.
    """

    factor: float
    names: tuple[str, ...]
    cuts: tuple[tuple[float, ...], ...]
    held_out: NDArray[Any]
    held_out_counts: NDArray[Any]
    in_sample: NDArray[Any]
    in_sample_counts: NDArray[Any]


@dataclass(frozen=True, eq=False)
class OtherCosts(Finding):
    """Data that the page needs to judge the policies at other costs.

    Attributes
    ----------
    ratio : float or None
        The extra cost of a false alarm over a correct decision, divided by that of a miss, at the
        stated costs; null where thresholds are not chosen again.
    decisions : tuple of int
        The positions of the decisions for high and for low scores.
    classes : tuple of int
        The positions of the negative and of the positive class.
    policies : tuple of LivePolicy
        The policies.
    columns : int
        The number of columns of decisions in the tables.
    baseline : int or None
        The position of the baseline; null where none was named.
    asked : tuple of int
        The positions of policies that were named to compete.
    tables : tuple of Tables
        The decisions at each ratio, the lowest first.
    """

    ratio: float | None
    decisions: tuple[int, ...]
    classes: tuple[int, ...]
    policies: tuple[LivePolicy, ...]
    columns: int
    baseline: int | None
    asked: tuple[int, ...]
    tables: tuple[Tables, ...]


def other_costs_of(study: Study) -> OtherCosts | None:
    """Return the decisions of the policies at other costs.

    None where the page cannot compute: it supports only independent rows of equal weight, the class
    frequencies of the examples, and no baseline that breaks a limit.
    """
    if not study.plain or study.design.class_priors is not None or study.policies.barred:
        return None
    policies, scores = study.policies, study.joint_scores
    stated = policies.held_out
    if len(stated.labels) * len(stated.decisions) ** len(stated.names) >= LARGEST_CODE:
        return None
    ratio: float | None = None
    decisions: tuple[int, ...] = ()
    classes: tuple[int, ...] = ()
    found = [(1.0, policies)]
    if scores is not None and any(each.kind == "threshold" for each in policies.policies):
        ratio = loss_ratio(scores, study.costs, study.design)
    if scores is not None and ratio is not None:
        given = with_stated(study.choosing, study.asked, study.roles.models)
        chosen = chosen_at(scores, study.costs, study.design, given, FACTORS)
        found = [
            (factor, with_thresholds(policies, each, study.costs)) for factor, each in _fit(chosen)
        ]
        values = study.costs.values_for((scores.neg_label, scores.pos_label), stated.decisions)
        order = np.argsort(values[:, 1] - values[:, 0], kind="stable").tolist()
        decisions = tuple(order)
        classes = tuple(study.costs.labels.index(x) for x in (scores.neg_label, scores.pos_label))
    place = {each.name: at for at, each in enumerate(policies.policies)}
    named = policies.baseline
    return OtherCosts(
        ratio=ratio,
        decisions=decisions,
        classes=classes,
        policies=_live_policies([each for _, each in found], again=ratio is not None),
        columns=len(stated.names),
        baseline=None if named is None else place[named],
        asked=tuple(place[each] for each in policies.asked),
        tables=tuple(_tables(*each) for each in found),
    )


def _fit(chosen: list[Chosen]) -> list[tuple[float, Chosen]]:
    """Return as many of the ratios as the page has room for, always with the stated one."""
    first, *between, last = zip(FACTORS, chosen, strict=True)
    middle = len(between) // 2
    for every in THINNED:
        found = [first, *between[middle % every :: every], last]
        size = sum(len(each.held_out.counts) + len(each.in_sample.counts) for _, each in found)
        if size <= MOST_COUNTS:
            return found
    return [between[middle]]


def _live_policies(found: Sequence[Policies], *, again: bool) -> tuple[LivePolicy, ...]:
    """Return the policies for all ratios; a threshold may be a constant prediction at some."""
    names = found[0].held_out.names
    same_policy = zip(*(each.policies for each in found), strict=True)
    fitted = [any(each.cross_fitted for each in one) for one in same_policy]
    return tuple(
        LivePolicy(
            each.model,
            each.kind,
            each.decision if again else each.always,
            None if each.kind == "constant" else names.index(each.column),
            cross_fitted,
            again and each.kind == "threshold" and each.column.endswith("@"),
        )
        for each, cross_fitted in zip(found[0].policies, fitted, strict=True)
    )


def _tables(factor: float, policies: Policies) -> Tables:
    chosen = any(each.cross_fitted for each in policies.policies)
    nothing = np.zeros(0, dtype=int)
    in_sample = _coded(policies.in_sample) if chosen else (nothing, nothing)
    return Tables(
        factor,
        tuple(each.name for each in policies.policies),
        tuple(tuple(cut for _, cut in each.cuts) for each in policies.policies),
        *_coded(policies.held_out, policies.policies),
        *in_sample,
    )


def _coded(
    joint: JointConfusion, policies: Sequence[Policy] = ()
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return each combination of decisions and class as a number, and the counts.

    A threshold that leads to one decision for every row does so in each fold.
    """
    always = {each.column: each.always for each in policies if each.always is not None}
    codes, radix = joint.actual.astype(np.int64), len(joint.labels)
    for name, column in zip(joint.names, joint.decided.T, strict=True):
        decided = column
        if name in always:
            decided = np.full_like(column, joint.decisions.index(always[name]))
        codes = codes + radix * decided.astype(np.int64)
        radix *= len(joint.decisions)
    return codes, joint.counts
