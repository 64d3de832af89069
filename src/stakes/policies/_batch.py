"""Intervals and tests of very many policies at once, each as it would be alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from stakes._core.typing import Floats
from stakes.infer._inference import (
    CAREFUL,
    SMALLEST,
    Inference,
    Interval,
    outcomes_behind,
    quiet_interval,
    run_test,
)
from stakes.infer._outcomes import Outcomes
from stakes.infer.methods import METHODS

MANY = 20
"""From so many policies on, what they have in common is computed together."""

MOST_COSTS = 64
"""Outcomes of more different costs are treated one by one."""


def intervals_of(results: Sequence[Inference], alphas: Sequence[float]) -> list[Interval]:
    """Return the default interval of each result, at its own error rate."""
    found: list[Interval | None] = [None] * len(results)
    for places in _alike(results):
        rates = np.array([alphas[place] for place in places])
        stacked = _stacked([results[place] for place in places])
        ends = METHODS[CAREFUL].limits
        if ends is not None:
            low, high = ends(stacked, rates)
            for at, place in enumerate(places):
                confidence = float(1 - alphas[place])
                found[place] = Interval(
                    float(low[at]), float(high[at]), confidence, CAREFUL, 0.0, stacked.caution
                )
    return [
        quiet_interval(result, 1 - alpha) if each is None else each
        for each, result, alpha in zip(found, results, alphas, strict=True)
    ]


def p_values_of(results: Sequence[Inference]) -> list[float]:
    """Return the p-value of the hypothesis that a mean is 0, by the method of its interval."""
    found: list[float | None] = [None] * len(results)
    for places in _alike(results):
        tails = METHODS[CAREFUL].tails
        if tails is not None:
            sides = tails(_stacked([results[place] for place in places]), 0.0, 0.05)
            both: Floats = np.clip(2 * np.minimum(*sides), SMALLEST, 1.0)
            for place, value in zip(places, both.tolist(), strict=True):
                found[place] = value
    return [
        p_value_of(result) if each is None else each
        for each, result in zip(found, results, strict=True)
    ]


def p_value_of(result: Inference) -> float:
    """Return the p-value of the hypothesis that a mean is 0, by the method of its interval."""
    outcomes = outcomes_behind(result)
    if outcomes.lowest == outcomes.highest:  # nothing varies: it is known
        return 1.0 if float(outcomes.mean[0]) == 0 else 0.0
    return run_test(
        outcomes,
        result.choice.name,
        alternative="two-sided",
        margin=0.0,
        confidence=0.95,
        names=("first", "second"),
        options={},
    ).p_value


def _alike(results: Sequence[Inference]) -> list[list[int]]:
    """Return the places of results that differ in their counts alone, where they can be stacked."""
    found: dict[Any, list[int]] = {}
    for place, result in enumerate(results):
        outcomes = outcomes_behind(result)
        stratum = outcomes.only
        simple = outcomes.design == "simple" and len(outcomes.strata) == 1
        varies = outcomes.lowest != outcomes.highest
        if not (simple and varies and result.choice.name == CAREFUL):
            continue
        if stratum.units is None and not stratum.labelled and len(stratum.costs) <= MOST_COSTS:
            shared = (stratum.costs.tobytes(), stratum.cells.tobytes(), stratum.weight)
            found.setdefault((*shared, outcomes.caution, outcomes.bounded), []).append(place)
    return [places for places in found.values() if len(places) > 1]


def _stacked(results: Sequence[Inference]) -> Outcomes:
    first, *others = map(outcomes_behind, results)
    counts = np.concatenate([first.only.counts, *(each.only.counts for each in others)])
    stratum = first.only.with_counts(counts)
    return Outcomes((stratum,), first.design, first.caution, first.bounded)
