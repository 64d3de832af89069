"""What if the costs are wrong: where the verdict would change."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from stakes._core.labels import Label
from stakes._core.typing import Floats
from stakes.costs import CostRanges
from stakes.counts import JointConfusion
from stakes.errors import InputError
from stakes.findings._encode import Finding
from stakes.findings.data import Settings
from stakes.findings.policies import shown_policies
from stakes.infer.difference import CostDifference
from stakes.infer.what_if.cheapest import CheapestProbability, find_cheapest
from stakes.infer.what_if.flips import Flip, flip_region
from stakes.infer.what_if.sensitivity import find_path, follow
from stakes.study import Study

STEPS, DRAWS = 21, 4000
EVERY = 5
"""Limits of groups, weights and strata take long: they are computed at so many steps apart."""

MOST_NUMBERS = 40_000_000
"""Of very many groups fewer populations are drawn, so that the report does not take minutes."""


@dataclass(frozen=True, eq=False)
class Flips(Finding):
    """How far costs can move before the other policy of a pair has the lower average cost.

    Attributes
    ----------
    cheaper, other : str
        The policy with the lower average cost at the stated costs, and the other.
    shown : bool
        Whether it is shown to cost less, by the comparison of the pair.
    gradient : ndarray
        What the difference changes by when a cell's cost rises by one.
    ratio, ratio_now : float or None
        The ratio of the two mistakes' costs at which the verdict changes, and that of the stated
        costs; null where there are not just two mistakes.
    flips : tuple of Flip
        For each cell, where the verdict changes.
    summary : str
        The same in a sentence.
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
    """How likely a model is the cheapest.

    Attributes
    ----------
    probability_low, probability_high : float
        The bounds of the probability when costs are wrong by the factor at most, and the test set
        is a sample.
    costs_only : float
        The probability if only the costs were uncertain.
    sampling_low, sampling_high : float
        Its bounds if only the test set were uncertain.
    cost : float
        The mean of the cost.
    sd, sd_costs, sd_sampling : float
        Its standard deviation: from both, from the costs, from the test set.
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
    """Where a model is the cheapest.

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
    """What the models cost as the cost of one cell goes through its range.

    Attributes
    ----------
    names : tuple of str
        The models.
    axis : str
        What changes along the path.
    cell : tuple of labels
        The cell: decision and class.
    position : ndarray
        What the cell costs at each step.
    cost, low, high : ndarray
        The expected cost of each model at each step, and its limits.
    probability_low, probability_high : ndarray
        The bounds of the probability that each is the cheapest.
    confidence : float
        The confidence level of the limits and of the ranges.
    scale : str
        "linear", or "log" where the steps are spaced by their ratio.
    ranges : tuple of CheapestRange
        Which model is shown to be the cheapest where.
    average_ranges : tuple of CheapestRange
        Which model is the cheapest where on the averages of the test set.
    summary : str
        The same in a sentence.
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
    """How the verdict depends on the costs.

    Attributes
    ----------
    factor : float
        How wrong, at most, each cost is thought to be.
    flips : tuple of Flips
        For each policy that the cheapest is compared with, where that one becomes cheaper.
    cheapest : mapping of Cheapest, or None
        By policy, how likely it is the cheapest; null where the factor is 1.
    summary : str
        The same in a sentence; empty where the factor is 1.
    paths : tuple of CostPath
        What the models cost as one cost goes through its range, the others being uncertain.
    """

    factor: float
    flips: tuple[Flips, ...]
    cheapest: Mapping[str, Cheapest] | None
    summary: str
    paths: tuple[CostPath, ...]


def sensitivity_of(study: Study, settings: Settings) -> Sensitivity | None:
    """Return how the verdict depends on the costs; thresholds stay where they are.

    None where each row has costs of its own, of which none can change.
    """
    if study.examples is not None:
        return None
    table = study.policies.table(shown_policies(study))
    flips = _flips(study, table)
    ranges = CostRanges.around(study.costs, settings.factor)
    if bool((ranges.low == ranges.high).all()):
        return Sensitivity(settings.factor, flips, None, "", ())
    cheapest = find_cheapest(table, ranges, study.design, _draws(table), settings.seed)
    paths = tuple(_path(study, table, ranges, cell, settings) for cell in _uncertain(ranges))
    return Sensitivity(settings.factor, flips, _by_model(cheapest), cheapest.summary(), paths)


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
