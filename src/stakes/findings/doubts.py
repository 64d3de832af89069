"""What if the costs are wrong: where the verdict would change."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from stakes.costs import CostRanges
from stakes.errors import InputError
from stakes.infer.what_if.cheapest import cheapest_probability
from stakes.infer.what_if.flips import flip_region
from stakes.infer.what_if.sensitivity import cost_sensitivity
from stakes.study import Study

if TYPE_CHECKING:
    from stakes.findings.findings import Settings

TWO, STEPS = 2, 21


def doubts_of(study: Study, settings: Settings) -> dict[str, Any] | None:
    """Return how the verdict depends on the costs; None if there is one model only."""
    if len(study.names) < TWO:
        return None
    ranges = CostRanges.around(study.costs, settings.factor)
    certain = bool((ranges.low == ranges.high).all())
    found: dict[str, Any] = {"factor": settings.factor, "flips": _flips(study)}
    if certain:
        return found | {"cheapest": None, "paths": []}
    priors = study.design.class_priors
    cheapest = cheapest_probability(
        study.joint, None, ranges, class_priors=priors, rng=settings.seed
    )
    return found | {
        "cheapest": cheapest.to_dict(),
        "in_words": cheapest.summary(),
        "paths": [_path(study, ranges, cell, settings) for cell in _uncertain(ranges)],
    }


def _flips(study: Study) -> list[dict[str, Any]]:
    """Return for each pair how far costs can move before the other becomes the cheaper one."""
    ranking = study.ranking()
    found = []
    for pair in combinations(ranking.estimates(), 2):
        try:
            region = flip_region(ranking.difference(*pair))
        except InputError:  # they cost exactly the same
            continue
        found.append(region.to_dict() | {"in_words": region.summary()})
    return found


def _uncertain(ranges: CostRanges) -> list[tuple[Any, Any]]:
    places = np.argwhere(ranges.low < ranges.high)
    widest = sorted(places.tolist(), key=lambda at: -(ranges.high - ranges.low)[tuple(at)])
    return [(ranges.decisions[i], ranges.labels[j]) for i, j in widest[:4]]


def _path(
    study: Study, ranges: CostRanges, cell: tuple[Any, Any], settings: Settings
) -> dict[str, Any]:
    path = cost_sensitivity(
        study.joint,
        None,
        ranges,
        cell=cell,
        class_priors=study.design.class_priors,
        steps=STEPS,
        confidence=study.confidence,
        rng=settings.seed,
    )
    pieces = [
        {"low": low, "high": high, "cheapest": name} for low, high, name in path.cheapest_ranges()
    ]
    return path.to_dict() | {"cell": list(cell), "ranges": pieces, "in_words": path.summary()}
