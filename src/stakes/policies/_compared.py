"""Comparison of the costs of two policies, adjusted for the selection of the cheapest of several.

The cheapest is selected by its observed cost, which makes its lead too large. If all of m policies
were equally good, the largest difference between any two would be the range of m normal variables
(Tukey's range). Each comparison is judged by that.

Intervals and tests of very many policies are computed together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from stakes._core.text import seen
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.infer._inference import (
    CAREFUL,
    SMALLEST,
    Inference,
    Interval,
    TestResult,
    outcomes_behind,
    quiet_interval,
    run_test,
)
from stakes.infer._outcomes import Outcomes
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.methods import METHODS

POINTS = np.linspace(-9.0, 9.0, 1201)
DENSITY = np.exp(-(POINTS**2) / 2) / np.sqrt(2 * np.pi)
NORMAL = ndtr(POINTS)
FEW = 20
TINY = 1e-7
"""Below it the p-value times the number of pairs is as accurate, and loses no digits."""


def adjusted(p_value: float, members: int) -> float:
    """Return the p-value of a comparison with the cheapest of `members` policies.

    Parameters
    ----------
    p_value : float
        The two-sided p-value of the comparison alone.
    members : int
        The number of policies.
    """
    pairs = members * (members - 1) / 2
    if pairs <= 1:
        return p_value
    if p_value < TINY:
        return min(1.0, pairs * p_value)
    return min(1.0, _beyond(np.sqrt(2) * -float(ndtri(p_value / 2)), members))


@cache
def level(alpha: float, members: int) -> float:
    """Return the error rate of a single comparison for which the adjusted one is `alpha`."""
    low, high = alpha / max(1.0, members * (members - 1) / 2), alpha

    def excess(log_level: float) -> float:
        return adjusted(float(np.exp(log_level)), members) - alpha

    # If the level is Bonferroni's itself, the sign of the excess is only rounding.
    if members <= 2 or adjusted(low, members) >= alpha or excess(np.log(low)) >= 0:  # noqa: PLR2004
        return low
    if members > FEW:  # bisection would take seconds for many levels
        from scipy.optimize import brentq  # loading it takes longer than computing a few levels

        return float(np.exp(brentq(excess, np.log(low), np.log(high), xtol=1e-14)))
    for _ in range(60):
        middle = np.sqrt(low * high)
        low, high = (middle, high) if adjusted(middle, members) <= alpha else (low, middle)
    return float(low)


def _beyond(width: float, members: int) -> float:
    """Return the probability that the range of m normal variables is larger."""
    inside = (ndtr(POINTS + width) - NORMAL) ** (members - 1)
    return 1.0 - float(members * np.trapezoid(DENSITY * inside, POINTS))


MANY = 20
"""Number of policies from which on intervals and tests are computed together."""

MOST_COSTS = 64
"""Maximum number of distinct costs of outcomes that are stacked; others are treated one by one."""


@dataclass(frozen=True, eq=False)
class PolicyPair(Result):
    """Difference in cost of two policies.

    Attributes
    ----------
    first, second : str
        The policies.
    difference, low, high : float
        The cost of the first minus that of the second, and its limits; where several are compared,
        the limits are adjusted for their number.
    p_value : float
        The p-value of this comparison alone.
    adjusted : float
        The p-value adjusted for the number of policies that compete.
    shown : bool
        Whether one is shown to cost more than the other, by the adjusted p-value; 0 is then outside
        the limits.
    method : str
        The method of the test.
    warning : str or None
        A warning that the most expensive disagreement was observed too rarely; null otherwise.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float
    shown: bool
    method: str
    warning: str | None


@dataclass(eq=False)
class Compared:
    """The differences of two policies in the tables of decisions: held out and, if any, in sample.

    Where thresholds were chosen, folds alone show differences too often. Both tables must show a
    difference, so the p-value is the larger one, and the limits are the wider ones.
    """

    names: tuple[str, str]
    found: list[CostEstimate | CostDifference]
    known: dict[float, list[Interval]] = field(default_factory=dict)

    @property
    def agree(self) -> bool:
        """Whether the same policy is the cheaper one in all tables."""
        return len({float(np.sign(outcomes_behind(each).mean[0])) for each in self.found}) == 1

    @cached_property
    def p_value(self) -> float:
        """The p-value of this comparison alone."""
        return max(map(p_value_of, self.found)) if self.agree else 1.0

    def judged(self, alpha: float, all_: float, *, shown: bool) -> PolicyPair:
        """Return the comparison with limits at an error rate, and an adjusted p-value."""
        intervals = self.known.get(alpha) or [
            quiet_interval(each, 1 - alpha) for each in self.found
        ]
        low, high = min(each.low for each in intervals), max(each.high for each in intervals)
        value = float(outcomes_behind(self.found[0]).mean[0])
        shown = shown and not low <= 0 <= high
        if not shown:  # the limits must not contradict the adjusted test
            low, high = min(low, 0.0), max(high, 0.0)
        return PolicyPair(
            *self.names, value, low, high, self.p_value, all_, shown, self.method, self.warning
        )

    @property
    def method(self) -> str:
        """The method of the test on held-out decisions."""
        return self.found[0].choice.name

    @cached_property
    def warning(self) -> str | None:
        """A warning if the most expensive disagreement was observed too rarely; else None."""
        held_out = self.found[0]
        rare = held_out.rare_outcome() if isinstance(held_out, CostDifference) else None
        if rare is None or rare[2] is None:
            return None
        what, count, _ = rare
        return (
            f"The most expensive disagreement ({what}) was {seen(count)}, so a more conservative "
            "test was used."
        )

    def no_more_than(self, margin: float, confidence: float) -> TestResult:
        """Test that the first costs less than the second plus a margin, in both tables."""
        results = [
            replace(_test(each, confidence, "less", margin), names=self.names)
            for each in self.found
        ]
        return max(results, key=lambda each: each.p_value)


def find_p_values(compared: Sequence[Compared]) -> None:
    """Find the p-values of many comparisons together."""
    wanted = [each for each in compared if each.agree and "p_value" not in vars(each)]
    values = iter(p_values_of([result for each in wanted for result in each.found]))
    for each in wanted:
        vars(each)["p_value"] = max(next(values) for _ in each.found)


def find_limits(compared: Sequence[Compared], alphas: Sequence[float]) -> None:
    """Find the limits of many comparisons together, each at its own error rate."""
    results = [result for each in compared for result in each.found]
    rates = [rate for each, rate in zip(compared, alphas, strict=True) for _ in each.found]
    intervals = iter(intervals_of(results, rates))
    for each, rate in zip(compared, alphas, strict=True):
        each.known[rate] = [next(intervals) for _ in each.found]


def _test(
    result: Inference, confidence: float = 0.95, alternative: str = "two-sided", margin: float = 0.0
) -> TestResult:
    return run_test(
        outcomes_behind(result),
        result.choice.name,
        alternative=alternative,
        margin=margin,
        confidence=confidence,
        names=("first", "second"),
        options={},
    )


# Many at once.


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
    if outcomes.lowest == outcomes.highest:  # nothing varies: the mean is known
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
    """Return the positions of results that differ in their counts alone, so that they stack."""
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
