"""One family of comparisons: the cheapest of several policies against each of the others.

The cheapest is selected by its observed cost, which makes its lead too large. If all of m policies
were equally good, the largest difference between any two would be the range of m normal variables
(Tukey 1953). Each comparison with the cheapest is judged by that range, step by step.

What a wrong choice can cost is bounded by the regret, from the same differences (STATISTICS §13).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from scipy.special import ndtr, ndtri

from stakes._core.text import percent, rounded
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.infer._inference import (
    DEFAULT,
    Inference,
    Interval,
    TestResult,
    limits,
    outcomes_behind,
    p_values,
)
from stakes.infer._outcomes import Outcomes
from stakes.infer.methods import extremal

# The integrand of Tukey's range is 0 beyond 9 standard deviations; the error of 1,200 steps of the
# trapezoidal rule is below 1e-13.
POINTS = np.linspace(-9.0, 9.0, 1201)
DENSITY = np.exp(-(POINTS**2) / 2) / np.sqrt(2 * np.pi)
NORMAL = ndtr(POINTS)
TINY = 1e-7
"""Below it the p-value times the number of pairs is as accurate, and loses no digits."""

MOST_CONSTANTS = 5
"""Maximum number of constant predictions that compete; of more, the cheapest."""

MANY = 20
"""Number of results from which on they are stacked. Of fewer, each is computed by itself, so that
its last digit is that of the comparison alone."""

MOST_COSTS = 64
"""Maximum number of distinct costs of outcomes that are stacked; others are treated one by one."""

ALONE, IN_FAMILY = "p_value", "p_adjusted"


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


def _beyond(width: float, members: int) -> float:
    """Return the probability that the range of m normal variables is larger.

    P(range <= w) = m ∫ φ(x) [Φ(x + w) - Φ(x)]^(m - 1) dx, x being the smallest of them.
    """
    inside = (ndtr(POINTS + width) - NORMAL) ** (members - 1)
    return 1.0 - float(members * np.trapezoid(DENSITY * inside, POINTS))


@dataclass(frozen=True, eq=False)
class Pair(Result):
    """Difference in cost of two models or policies.

    Attributes
    ----------
    first, second : str
        The two.
    difference, low, high : float
        The cost of the first minus that of the second, and the limits of this difference alone.
    p_value : float
        The p-value of this comparison alone; below one minus the confidence, the limits exclude 0.
    p_adjusted : float
        The p-value adjusted for the number of policies that compete.
    shown : bool
        Whether one is shown to cost more than the other, by the p-value that `by` names.
    by : str
        "p_value" where the second was named, as a baseline is; "p_adjusted" where the data picked
        the two.

    Examples
    --------
    >>> from stakes import CostMatrix, compare_many
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> ranking = compare_many([0] * 600 + [1] * 400, {
    ...     "eager": [0] * 500 + [1] * 500, "shy": [0] * 800 + [1] * 200}, costs)
    >>> pair = ranking.against("eager")[0]
    >>> pair.first, pair.second, pair.difference, pair.shown, pair.by
    ('shy', 'eager', 1.9, True, 'p_value')
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float
    p_adjusted: float
    shown: bool
    by: str = ALONE


@dataclass(eq=False)
class Compared:
    """The difference of two policies, in one or two tables of decisions.

    Where thresholds were chosen on the rows there are two, held out and in sample. Folds alone show
    differences too often. Both tables must show a difference, so the p-value is the larger one, and
    the limits are the wider ones (STATISTICS §10).
    """

    names: tuple[str, str]
    found: list[Inference]
    known: dict[Any, list[Any]] = field(default_factory=dict)

    @property
    def difference(self) -> float:
        """The cost of the first minus that of the second, as judged."""
        return float(outcomes_behind(self.found[0]).mean[0])

    @property
    def agree(self) -> bool:
        """Whether the same policy is the cheaper one in all tables."""
        return len({float(np.sign(outcomes_behind(each).mean[0])) for each in self.found}) == 1

    @property
    def p_value(self) -> float:
        """The p-value of this comparison alone."""
        return float(max(self._of_each(p_values_of, 0.0))) if self.agree else 1.0

    def limits(self, confidence: float) -> tuple[float, float]:
        """Return the limits of the difference."""
        intervals = self._of_each(intervals_of, confidence)
        return min(each.low for each in intervals), max(each.high for each in intervals)

    def upper(self, alpha: float) -> float:
        """Return the one-sided upper limit of the difference, by the full weight w = 1."""
        return float(max(self._of_each(uppers_of, alpha)))

    def no_more_than(self, margin: float, confidence: float) -> TestResult:
        """Return the test that the first costs less than the second plus a margin, in all tables.

        It is the test behind `upper`, by the full weight.
        """
        p_value = float(max(self._of_each(p_values_below, margin)))
        return TestResult(
            statistic=self.difference - margin,
            p_value=p_value,
            rejected=p_value <= 1 - confidence,
            method=DEFAULT,
            alternative="less",
            margin=margin,
            confidence=confidence,
            names=self.names,
            caution=outcomes_behind(self.found[0]).caution,
        )

    def pair(self, confidence: float, p_adjusted: float, by: str) -> Pair:
        """Return the comparison as a result."""
        p = self.p_value if by == ALONE else p_adjusted
        return Pair(
            *self.names,
            self.difference,
            *self.limits(confidence),
            self.p_value,
            p_adjusted,
            shown=p <= 1 - confidence,
            by=by,
        )

    def _of_each(self, quantity: Quantity, level: float) -> list[Any]:
        find_together([self], quantity, level)
        return self.known[quantity, level]


@dataclass(eq=False)
class Family:
    """Policies that compete, and the comparisons of the cheapest with each of the others.

    Attributes
    ----------
    members : tuple of str
        The policies, the cheapest first.
    compare : callable
        Returns the `Compared` of two names.
    confidence : float
        Confidence level of intervals and claims.
    barred : tuple of str
        Policies that are compared and cannot be chosen, such as a baseline that breaks a limit.
    known : dict
        The comparisons that were made, by their names; families of other levels may share it.
    """

    members: tuple[str, ...]
    compare: Callable[[str, str], Compared]
    confidence: float
    barred: tuple[str, ...] = ()
    known: dict[tuple[str, str], Compared] = field(default_factory=dict)

    @property
    def best(self) -> str:
        """The policy of least cost."""
        return self.members[0]

    def compared(self, pairs: Sequence[tuple[str, str]]) -> list[Compared]:
        """Return comparisons of two names, with their p-values and limits found together."""
        for names in pairs:
            if names not in self.known:
                self.known[names] = self.compare(*names)
        found = [self.known[names] for names in pairs]
        find_together(found, p_values_of, 0.0)
        find_together(found, intervals_of, self.confidence)
        return found

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """The cheapest against each of the others, in their order.

        The comparisons are judged step by step in the order of their p-values. Each is adjusted for
        the policies that are left: those shown to cost more no longer compete.
        """
        others = (*self.members[1:], *self.barred)
        compared = self.compared([(self.best, name) for name in others])
        left, largest, alpha, found = 1 + len(others), 0.0, 1 - self.confidence, {}
        both = zip(others, compared, strict=True)
        for name, each in sorted(both, key=lambda pair: pair[1].p_value):
            largest = max(largest, adjusted(each.p_value, left))
            found[name] = each.pair(self.confidence, largest, IN_FAMILY)
            left -= largest <= alpha
        return tuple(found[name] for name in others)

    @cached_property
    def _adjusted(self) -> dict[frozenset[str], float]:
        """The adjusted p-values of `pairs` by their names."""
        return {frozenset((each.first, each.second)): each.p_adjusted for each in self.pairs}

    def against(self, names: Sequence[str], other: str) -> list[Pair]:
        """Return the comparisons of policies with one that was named, each judged alone.

        The adjusted p-value is the one of `pairs` where it is among those. Any other pair is
        adjusted for the range of all policies at once.
        """
        everyone = len({*self.members, *self.barred, *names, other})
        pairs = []
        for each in self.compared([(name, other) for name in names]):
            p_adjusted = self._adjusted.get(frozenset(each.names))
            if p_adjusted is None:
                p_adjusted = adjusted(each.p_value, everyone)
            pairs.append(each.pair(self.confidence, p_adjusted, ALONE))
        return pairs

    def pair(self, first: str, second: str) -> Pair:
        """Return the comparison of two policies that were named, judged alone; see `against`."""
        return self.against([first], second)[0]

    @property
    def ties(self) -> tuple[str, ...]:
        """The policies that the cheapest was not shown to cost less than."""
        unshown = (each.second for each in self.pairs if not each.shown)
        return tuple(name for name in unshown if name not in self.barred)

    @cached_property
    def regret(self) -> float:
        """The most that choosing the cheapest costs more than the best of all, per decision.

        max(0, max over k of the one-sided upper limit of cost(A) - cost(k) at α/(m - 1)), w = 1. If
        all m - 1 comparisons with the truly best policy hold, A has at most this regret, also where
        the data picked A.
        """
        compared = self.compared([(self.best, name) for name in self.members[1:]])
        alpha = (1 - self.confidence) / max(len(compared), 1)
        find_together(compared, uppers_of, alpha)
        return max([0.0, *(each.upper(alpha) for each in compared)])


def regret_sentence(family: Family, name: str, unit: str = "", noun: str = "") -> str:
    """State what choosing the cheapest can cost; `noun` is what the members are."""
    what = f"the best of the {len(family.members)}{f' {noun}' if noun else ''}"
    most = "no more"
    if family.regret > 0:
        most = f"at most {rounded(family.regret)}{f' {unit}' if unit else ''} more"
    sure = f"{percent(family.confidence)} confidence"
    return f"Choosing {name} costs {most} per decision than {what} ({sure})."


# Many at once: results that differ in their counts alone are stacked into one table of outcomes.

Quantity = Callable[[Sequence[Inference], float], list[Any]]
T = TypeVar("T")


def find_together(compared: Collection[Compared], quantity: Quantity, level: float) -> None:
    """Find a quantity of all results behind comparisons, where they do not have it yet."""
    wanted = [each for each in compared if (quantity, level) not in each.known]
    values = iter(quantity([result for each in wanted for result in each.found], level))
    for each in wanted:
        each.known[quantity, level] = [next(values) for _ in each.found]


def p_values_of(results: Sequence[Inference], margin: float) -> list[float]:
    """Return the p-value of the hypothesis that each mean is the margin, by the default method."""
    return _together(
        results, lambda outcomes: p_values(outcomes, DEFAULT, margin=margin)[0].tolist()
    )


def p_values_below(results: Sequence[Inference], margin: float) -> list[float]:
    """Return the p-value of the hypothesis that each mean is the margin or more, by w = 1."""
    return _together(
        results,
        lambda outcomes: p_values(outcomes, DEFAULT, alternative="less", margin=margin)[0].tolist(),
    )


def intervals_of(results: Sequence[Inference], confidence: float) -> list[Interval]:
    """Return the default interval of each result."""

    def of_many(outcomes: Outcomes) -> list[Interval]:
        ends = (each.tolist() for each in limits(outcomes, confidence, DEFAULT, {}))
        return [
            Interval(low, high, confidence, DEFAULT, 0.0, outcomes.caution)
            for low, high in zip(*ends, strict=True)
        ]

    return _together(results, of_many)


def uppers_of(results: Sequence[Inference], alpha: float) -> list[float]:
    """Return the one-sided upper limit of each result at the error rate `alpha`.

    One-sided claims use the weight w = 1: 0.7 balances two sides, one of which errs less.
    """

    def of_many(outcomes: Outcomes) -> list[float]:
        if outcomes.lowest == outcomes.highest:
            return [float(each) for each in outcomes.mean]
        high: Floats = extremal.limits(outcomes, 2 * alpha, conservative=True)[1]
        return [float(each) for each in high]

    return _together(results, of_many)


def _together(results: Sequence[Inference], of_many: Callable[[Outcomes], list[T]]) -> list[T]:
    """Return a quantity of each result, by one call for many that stack."""
    found: dict[int, T] = {}
    for places in _alike(results):
        for some in [places] if len(places) >= MANY else [[place] for place in places]:
            found.update(zip(some, of_many(_stacked([results[at] for at in some])), strict=True))
    return [found[at] for at in range(len(results))]


def _alike(results: Sequence[Inference]) -> list[list[int]]:
    """Return the positions of results that differ in their counts alone, so that they stack."""
    found: dict[Any, list[int]] = {}
    for place, result in enumerate(results):
        outcomes = outcomes_behind(result)
        stratum, alone = outcomes.only, len(outcomes.strata) == 1
        key: tuple[Any, ...] = (place,)
        if alone and outcomes.design == "simple" and len(stratum.costs) <= MOST_COSTS:
            shared = outcomes.caution, outcomes.bounded, stratum.weight
            key = (stratum.costs.tobytes(), stratum.cells.tobytes(), *shared)
        found.setdefault(key, []).append(place)
    return [*found.values()]


def _stacked(results: Sequence[Inference]) -> Outcomes:
    first, *others = map(outcomes_behind, results)
    if not others:
        return first
    counts = np.concatenate([first.only.counts, *(each.only.counts for each in others)])
    stratum = first.only.with_counts(counts)
    return Outcomes((stratum,), first.design, first.caution, first.bounded)
