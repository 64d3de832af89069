"""Plan the size of a test set, and compute the power of a test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from math import ceil, isqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, gammainccinv, ndtr, ndtri

from stakes._core import validate
from stakes._core.text import html_values, number, percent
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.costs import CostMatrix
from stakes.counts import Confusion, CostSample, GroupedConfusion, PairedConfusion
from stakes.errors import DesignError, InputError, InputTypeError, PlanError
from stakes.infer._inference import DEFAULT, limits, outcomes_behind
from stakes.infer._outcomes import (
    Design,
    Outcomes,
    Stratum,
    cost_differences,
    make_stratum,
)
from stakes.infer._pilot import Pilot, check_kind, pilot_of
from stakes.infer._probability.sampling import FutureSets, all_tilted, future_sets, tilted
from stakes.infer.batch import batch_p_values
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.methods import extremal
from stakes.infer.methods.extremal import WEIGHT

TEST_SETS, COMPARISONS = 2000, 1000
"""The numbers of test sets that are drawn to plan an interval, and a comparison."""

FEWEST_SETS, MOST_DRAWN = 200, 400_000
"""With so many strata that all test sets would have more strata together than the second, fewer are
drawn, but no fewer than the first: the more strata, the less the test sets differ."""

FAR = 1.2
"""The largest factor by which an approximate arm is wrong; beyond it, the arm needs no check."""

NEIGHBOURS = 1
"""The number of test sets on either side of a quantile whose limits are computed."""

DOUBTFUL = 1.25
"""The factor around the level within which p-values are computed; others are approximated."""

SHARES = 200
"""The number of shares of the costliest outcome that are tried if no rates are known."""

MOST = 10**9
"""The largest planned test set: nobody labels larger ones, and simulating them proves nothing."""

TRUST = 25
"""Normal theory is trustworthy from n = 25 · skewness² on."""


@dataclass(frozen=True, eq=False)
class Power(Result):
    """The probability that a test shows a difference.

    Attributes
    ----------
    n : int
        The number of test examples.
    formula : float
        By normal theory.
    simulated, standard_error : float
        By drawing test sets and testing each.
    reachable : float
        The probability that there is a difference of that sign at all, by the pilot; no test set
        shows it with a larger one. 1 where the difference is given.

    Examples
    --------
    >>> from stakes import CostMatrix, PairedConfusion, power
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> pilot = PairedConfusion([[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])
    >>> found = power(pilot, costs, 600, rng=0)
    >>> found.n, round(found.simulated, 1), round(found.reachable, 1)
    (600, 0.5, 0.8)
    """

    n: int
    formula: float
    simulated: float
    standard_error: float
    reachable: float = 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return the power as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return asdict(self)

    def _repr_html_(self) -> str:
        return html_values(self.to_dict(), self.summary())

    def summary(self) -> str:
        """Summarise how likely the difference is to be shown.

        Returns
        -------
        str
            A sentence.
        """
        text = (
            f"{number(self.n)} examples show the difference with a probability of "
            f"{100 * self.simulated:.0f}%, the pilot's uncertainty included "
            f"({100 * self.formula:.0f}% by formula)"
        )
        if self.reachable < 1:
            text += f"; no number of examples reaches more than {100 * self.reachable:.0f}%"
        return f"{text}."


def power(
    pilot: Any,
    costs: CostMatrix | None,
    n: Any,
    *,
    difference: float | None = None,
    confidence: float = 0.95,
    class_priors: Any = None,
    population: Any = None,
    pilot_rows: int | None = None,
    rng: np.random.Generator | int | None = None,
) -> Power:
    """Return the probability that a test set of n examples shows a difference.

    Parameters
    ----------
    pilot : PairedConfusion, GroupedConfusion or CostSample
        Counts of two classifiers on a first test set, or the differences of their costs.
    costs : CostMatrix or None
        The costs; None for a CostSample.
    n : int
        The size of the planned test set.
    difference : float, optional
        The true difference. By default it has the uncertainty of the pilot, and the test must show
        that it has the same sign as in the pilot.
    confidence : float, default 0.95
        Confidence level of the test.
    class_priors, population, pilot_rows
        As in `plan_test_size`.
    rng : Generator or seed
        The source of randomness for the simulation.

    Returns
    -------
    Power
        The probability, by formula and by simulation.

    Notes
    -----
    The power is averaged over the uncertainty of the pilot, so it is the probability that the test
    will show the difference (the assurance of O'Hagan et al.). The shares of the outcomes have the
    distribution Dirichlet(M + 0.7 e), as in the extremal interval. If the difference is uncertain,
    e is the extreme outcome of the opposite sign. If it is given, both extreme outcomes have the
    extra weight, and each draw is tilted (exponentially) to have the difference. A test set is
    sampled from each draw, and tested as by ``CostDifference.test``. The formula is normal theory:
    the power of a draw is Φ(z - z_{1-α/2}) with z = d √n/σ, d being the difference and σ the
    standard deviation of an example's difference. Where expensive mistakes are rare, trust the
    simulation.

    References
    ----------
    Margineantu & Dietterich (2000), Figures 4 and 5.

    Cohen (1988).

    O'Hagan et al. (2005).

    Examples
    --------
    >>> from stakes import CostMatrix, PairedConfusion, power
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> pilot = PairedConfusion([[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])
    >>> round(power(pilot, costs, 600, difference=0.3, rng=0).simulated, 1)
    0.8
    """
    size = validate.as_size(n, "n", least=1, most=validate.MOST_ROWS)
    alpha = validate.alpha(confidence)
    _check_pilot(costs, pilot)
    if pilot is None:
        raise InputTypeError("pilot", "expected the counts of two classifiers, got nothing.")
    check_kind(pilot, two=True)
    target = None if difference is None else validate.one_number(difference, "difference")
    design = Design(class_priors, population=population)
    known = pilot_of(CostDifference(pilot, costs, design=design), pilot_rows, alpha, HALF, two=True)
    pair = _pair(known.outcomes, PILOT, target, validate.generator(rng))
    found = pair.power(max(1, round(size / known.effect)), alpha)
    return replace(found, n=size)


HALF = 0.5
"""The assurance of a power, which is an average over the uncertainty of the pilot."""


@dataclass(frozen=True, eq=False)
class Plan(Result):
    """The number of test examples that are needed.

    Attributes
    ----------
    n : int
        The number of test examples.
    goal : str
        The goal that they are needed for, in words.
    spread, range_of_costs : int or None
        The numbers that the standard deviation and the range of the costs require, by formula,
        where an interval is planned.
    trustworthy_from : int or None
        The number from which on normal theory can be trusted, by the pilot's skewness.
    arm : float or None
        The distance of the upper limit from the estimate that is not exceeded in the promised share
        of test sets, where an interval is planned.
    assurance : float or None
        That share; 1 without a pilot or rates.
    power : Power or None
        The power at n, where a test is planned.
    design_effect : float
        The factor by which more examples are needed than independent ones of equal weight, because
        they are sampled as the pilot was: with weights, in groups or by strata.
    drawn : str
        How they are sampled, in words; empty for independent ones of equal weight.

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix, plan_test_size
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=100)
    >>> plan = plan_test_size(costs, Confusion([[95, 1], [3, 1]], [0, 1]), half_width=0.5, rng=0)
    >>> plan.spread, plan.range_of_costs, plan.assurance
    (1521, 605, 0.8)
    """

    n: int
    goal: str
    spread: int | None = None
    range_of_costs: int | None = None
    trustworthy_from: int | None = None
    arm: float | None = None
    assurance: float | None = None
    power: Power | None = None
    design_effect: float = 1.0
    drawn: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return asdict(self)

    def _repr_html_(self) -> str:
        return html_values(self.to_dict() | {"goal": None, "drawn": None}, self.summary())

    @property
    def reason(self) -> str:
        """What requires the most examples, in words."""
        if (self.range_of_costs or 0) > (self.spread or 0):
            return "the rarest, most expensive mistake"
        return "the spread of the costs"

    def summary(self) -> str:
        """Summarise how many examples are needed, and why.

        Returns
        -------
        str
            A sentence.
        """
        text = f"{number(self.n)} test examples are needed {self.goal}"
        if self.range_of_costs is not None:
            text += f"; {self.reason} asks for most"
        if self.power is not None:
            text += f" (simulated power {100 * self.power.simulated:.0f}%)"
        return f"{text}. {self.drawn}." if self.drawn else f"{text}."


def plan_test_size(
    costs: CostMatrix | None,
    pilot: Confusion | PairedConfusion | GroupedConfusion | CostSample | None = None,
    *,
    rates: ArrayLike | None = None,
    half_width: float | None = None,
    assurance: float = 0.8,
    difference: float | None = None,
    power: float | None = None,
    confidence: float = 0.95,
    weight: float = WEIGHT,
    class_priors: Any = None,
    population: Any = None,
    pilot_rows: int | None = None,
    rng: np.random.Generator | int | None = None,
) -> Plan:
    """Return the size of the test set that an interval or a comparison needs.

    Parameters
    ----------
    costs : CostMatrix or None
        The costs; None where the pilot is a CostSample.
    pilot : Confusion, PairedConfusion, GroupedConfusion or CostSample, optional
        Counts of a first, small test set: of one classifier for `half_width`, of two for
        `difference` and `power`; or the costs of its examples, or their differences. The plan
        allows for the uncertainty of the pilot. It is for a test set that is sampled as the pilot
        was: in groups of the same sizes, with the same weights, and the same part from each
        stratum.
    rates : array_like, optional
        Instead of a pilot, the known probability of each cell: of shape (decisions, classes), or
        (decisions, decisions, classes) for two classifiers, in the order of the costs. Without a
        pilot and rates the largest spread that the costs allow is assumed.
    half_width : float, optional
        The largest distance of the upper limit of the interval from the estimate.
    assurance : float, default 0.8
        The share of test sets in which that distance is not exceeded.
    difference : float, optional
        The difference in cost per decision to be shown.
    power : float, optional
        The probability of showing it, 0.8 by default. Without a difference the plan is to show
        which of the two costs less, as the pilot suggests.
    confidence : float, default 0.95
        Confidence level of the interval or the test.
    weight : float, default 0.7
        Extra weight of the extremal interval; 1 for the conservative one.
    class_priors : mapping or sequence, optional
        The prevalence of each class in the target population. The test set has the classes in the
        pilot's shares.
    population : mapping, optional
        From each stratum of the pilot to its share of the population, or to its number of rows. The
        plan uses no finite population correction, so it never has too few.
    pilot_rows : int, optional
        The number of examples of the pilot, needed where its counts are sums of weights.
    rng : Generator or seed
        The source of randomness for the simulation.

    Returns
    -------
    Plan
        The number of test examples, what requires it, and what it achieves.

    Notes
    -----
    For an upper arm h the formula is n = max{(z σ/h)², u (C_max - C_min)/h}, u being the 1 - α/2
    quantile of Gamma(weight): an interval cannot be shorter than what one more mistake of the
    costliest kind would add. With class priors π, σ² = Σ π_j² σ_j²/s_j, s_j being the share of
    class j in the test set, and the range is the largest π_j/s_j times that of a class. The formula
    is the start of a search: the probabilities of the cells are drawn from Dirichlet(M + weight·e),
    e being the costliest cell, a test set of n examples is drawn from each, and n is the smallest
    at which the assured share of the test sets has an arm of at most h. Known rates are not drawn.
    With neither, n is the smallest at which no test set has a longer arm.

    For a difference the search is for the smallest n at which ``power`` reaches the wanted one.

    A pilot with groups or weights counts as its number of examples divided by the design effect,
    and n is multiplied by it. The design effect is the ratio of the variances with and without
    groups and weights, or that of the arms of the intervals if it is larger, as it is where whole
    groups, or heavy rows, may fail and none has. The variance is the upper limit of its estimate at
    the given assurance. An interval from strata is planned by sampling from each stratum;
    otherwise, strata are part of the design effect.

    References
    ----------
    Margineantu & Dietterich (2000), section 5.

    Cohen (1988).

    Kish (1965).

    Learned-Miller & Thomas (2019).

    O'Hagan et al. (2005).

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix, plan_test_size
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=100)
    >>> pilot = Confusion([[95, 1], [3, 1]], [0, 1])
    >>> print(plan_test_size(costs, pilot, half_width=0.5, rng=0).summary())
    4,491 test examples are needed for an upper limit within 0.5 of the estimate in 80% of test
    sets, the pilot's uncertainty included; the spread of the costs asks for most.
    """
    alpha = validate.alpha(confidence)
    weight = validate.positive(weight, "weight")
    _check_pilot(costs, pilot, rates)
    if (half_width is not None) + (difference is not None or power is not None) != 1:
        raise InputTypeError(
            "half_width, difference, power", "give half_width=, or difference= or power= or both."
        )
    design = Design(class_priors, population=population)
    if pilot is None and design != Design():
        raise DesignError("class_priors, population", "they need a pilot.")
    goal = _Goal.of(half_width, assurance, difference, power, alpha=alpha, weight=weight)
    generator = validate.generator(rng)
    if pilot is not None:
        check_kind(pilot, two=goal.two)
        table: Any = pilot
        kind = CostDifference if goal.two else CostEstimate
        return goal.from_pilot(kind(table, costs, design=design), pilot_rows, generator)
    matrix = _matrix(costs)
    if goal.arm is not None and rates is None:
        return _for_any_interval(matrix, goal.arm, alpha, weight)
    given = NOTHING if rates is None else RATES
    found = _two(matrix, rates, goal.target) if goal.two else _of_rates(matrix.values, rates)
    return goal.plan(Pilot(found, 1.0), given, generator)


def plan_from(
    result: CostEstimate | CostDifference,
    rows: int,
    *,
    half_width: float | None = None,
    assurance: float = 0.8,
    difference: float | None = None,
    power: float | None = None,
    confidence: float = 0.95,
    rng: np.random.Generator | int | None = None,
) -> Plan:
    """Return the size of the test set needed, from the results of a pilot of any design.

    Parameters
    ----------
    result : CostEstimate or CostDifference
        The cost of a classifier; for a difference, that of two policies, which is a CostEstimate
        with relative costs if one of them is constant.
    rows : int
        The number of examples of the pilot.
    half_width, assurance, difference, power, confidence, rng
        As in `plan_test_size`.
    """
    alpha = validate.alpha(confidence)
    goal = _Goal.of(half_width, assurance, difference, power, alpha=alpha, weight=WEIGHT)
    return goal.from_pilot(result, rows, validate.generator(rng))


@dataclass(frozen=True)
class _Goal:
    """The goal of a plan: an interval with a short arm, or a difference; and its probability."""

    arm: float | None
    target: float | None
    sure: float
    alpha: float
    weight: float

    @classmethod
    def of(
        cls, half_width: Any, assurance: Any, difference: Any, power: Any, **rest: float
    ) -> _Goal:
        """Return the goal from the arguments, after checking them."""
        if half_width is not None:
            arm = validate.positive(half_width, "half_width")
            return cls(arm, None, _share(assurance, "assurance"), **rest)
        wanted = 0.8 if power is None else _share(power, "power")
        target = None
        if difference is not None:
            distance = abs(validate.one_number(difference, "difference"))
            target = validate.positive(distance, "difference")
        return cls(None, target, wanted, **rest)

    @property
    def two(self) -> bool:
        """Whether two policies are compared."""
        return self.arm is None

    def from_pilot(
        self, result: CostEstimate | CostDifference, rows: Any, rng: np.random.Generator
    ) -> Plan:
        """Return the plan from the results of a pilot."""
        known = pilot_of(result, rows, self.alpha, self.sure, two=self.two)
        return self.plan(known, PILOT, rng)

    def plan(self, known: Pilot, given: str, rng: np.random.Generator) -> Plan:
        """Return the plan."""
        outcomes = known.outcomes
        if self.arm is not None:
            ends = {-1: self.weight} if given == PILOT else None
            draws = min(TEST_SETS, max(FEWEST_SETS, MOST_DRAWN // len(outcomes.strata)))
            future = future_sets(outcomes, ends, draws, rng, size=known.size)
            rates = {"alpha": self.alpha, "weight": self.weight}
            return _as_drawn(_for_interval(future, given, self.arm, self.sure, **rates), known)
        signed = None if self.target is None else float(np.copysign(self.target, outcomes.mean[0]))
        pair = _pair(outcomes, given, signed, rng)
        return _as_drawn(_for_difference(pair, given, self.target, self.sure, self.alpha), known)


PILOT, RATES, NOTHING = (
    ", the pilot's uncertainty included",
    ", if the rates are as given",
    ", whatever the rates",
)
"""The basis of a plan, as its goal words it."""


def _check_pilot(costs: Any, pilot: Any, rates: Any = None) -> None:
    if isinstance(pilot, CostSample):
        if costs is not None:
            raise InputTypeError("costs", "expected None: the pilot has the costs of its examples.")
    else:
        validate.expect(costs, CostMatrix, "costs", "CostMatrix.from_errors(…)")
    if pilot is None:
        return
    if rates is not None:
        raise InputTypeError("rates", "they take the place of a pilot; give one of the two.")
    if not isinstance(pilot, Confusion | PairedConfusion | GroupedConfusion | CostSample):
        raise InputTypeError(
            "pilot",
            "expected a Confusion, a PairedConfusion, a GroupedConfusion or a CostSample, got a "
            f"{type(pilot).__name__}.",
        )


def _matrix(costs: CostMatrix | None) -> CostMatrix:
    assert costs is not None  # noqa: S101 - checked by the caller
    return costs


def _as_drawn(plan: Plan, known: Pilot) -> Plan:
    """Return a plan for independent examples as one for examples sampled as the pilot was."""
    drawn, effect = known.in_words(), known.effect
    if effect == 1:
        return replace(plan, drawn=drawn)
    n = _size(plan.n * effect, _too_small("pilot", effect, plan.goal, "less"))
    by_formula = (plan.spread, plan.range_of_costs, plan.trustworthy_from)
    spread, rare, trust = (None if each is None else ceil(each * effect) for each in by_formula)
    return replace(
        plan,
        n=n,
        spread=spread,
        range_of_costs=rare,
        trustworthy_from=trust,
        power=None if plan.power is None else replace(plan.power, n=n),
        design_effect=effect,
        drawn=drawn,
    )


def _share(value: Any, name: str) -> float:
    share = validate.one_number(value, name)
    if not 0 < share < 1:
        raise InputError(name, f"expected a number between 0 and 1, got {value!r}.")
    return share


def _two(costs: CostMatrix, rates: Any, target: float | None) -> Outcomes:
    """Return the outcomes of two classifiers; those of the largest spread if no rates are known."""
    if rates is not None:
        return _of_rates(cost_differences(costs.values), rates)
    if target is None:
        raise InputTypeError(
            "power",
            "to show which of two costs less, their pilot or rates are needed.",
            "Give one of them, or difference=.",
        )
    span = float(np.ptp(costs.values, axis=0).max())
    if target >= span:
        raise InputError(
            "difference",
            f"two models cannot differ by more than {span:g} per decision with these costs; "
            f"got {target:g}.",
        )
    more = (1 + target / span) / 2
    return Outcomes((make_stratum([-span, span], [1 - more, more]),))


def _of_rates(cells: Floats, rates: Any) -> Outcomes:
    shares = validate.numeric(rates, "rates", ndim=cells.ndim)
    proper = np.isfinite(shares).all() and (shares >= 0).all()
    if shares.shape != cells.shape or not proper or abs(shares.sum() - 1) > 1e-6:  # noqa: PLR2004
        raise InputError(
            "rates",
            f"expected probabilities of shape {cells.shape} that sum to 1; got an array of shape "
            f"{shares.shape} that sums to {shares.sum():.6g}.",
        )
    return Outcomes((make_stratum(cells, shares / shares.sum()),))


def _rows(outcomes: Outcomes, rows: Any) -> Outcomes:
    """Return the outcomes of some of the tables; strata of equal counts are the same object."""
    strata, alike = [], dict[Any, Stratum]()
    for stratum in outcomes.strata:
        counts = stratum.counts[rows]
        key = counts.tobytes(), stratum.costs.tobytes(), stratum.weight, id(stratum.units)
        strata.append(alike.setdefault(key, stratum.with_counts(counts)))
    return Outcomes(tuple(strata), outcomes.design)


def _smallest(start: int, enough: Callable[[int], bool], too_small: PlanError) -> int:
    """Return the smallest size that is enough, to within 1%."""
    low, high = 0, max(1, start)
    if enough(high):
        while high > 1 and enough(high // 2):
            high //= 2
        low = high // 2
    else:
        while not enough(high):
            if high == MOST:
                raise too_small
            low, high = high, min(2 * high, MOST)
    while high - low > 1 and high > 1.01 * low:
        middle = min(max(isqrt(low * high), low + 1), high - 1)
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _for_interval(
    future: FutureSets, given: str, arm: float, assurance: float, *, alpha: float, weight: float
) -> Plan:
    goal, too_small = _interval_goal(arm, f"{percent(assurance)} of test sets{given}")
    z, extra = float(ndtri(alpha / 2)), float(gammainccinv(weight, alpha / 2))
    for_spread = for_range = 0.0
    for stratum, part in zip(future.outcomes.strata, future.parts, strict=True):
        deviation = stratum.weight * float(np.sqrt(stratum.moment(2)[0]))
        root = z * deviation / arm
        for_spread += root * root / part
        for_range = max(for_range, extra * stratum.weight * np.ptp(stratum.costs) / arm / part)
    spread, rare = _size(for_spread, too_small), max(1, _size(for_range, too_small))
    trust = None
    if len(future.parts) == 1 and (variance := future.outcomes.only.moment(2)[0]) > 0:
        trust = ceil(TRUST * (future.outcomes.only.moment(3)[0] / variance**1.5) ** 2)
    n = _smallest(
        max(spread, rare),
        lambda size: _is_assured(future, size, arm, assurance, alpha=alpha, weight=weight),
        too_small,
    )
    found = _assured_arm(future, n, assurance, alpha=alpha, weight=weight)
    return Plan(n, goal, spread, rare, trust, found, assurance)


def _for_any_interval(costs: CostMatrix, arm: float, alpha: float, weight: float) -> Plan:
    """Plan for the longest possible arm: with only the cheapest and the costliest outcome."""
    span = float(np.ptp(costs.values))
    goal, too_small = _interval_goal(arm, f"every test set{NOTHING}")
    root = float(ndtri(alpha / 2)) * span / arm / 2
    spread = _size(root * root, too_small)
    rare = max(1, _size(float(gammainccinv(weight, alpha / 2)) * span / arm, too_small))
    shares = np.linspace(0, 1, SHARES, endpoint=False)

    def longest(n: int) -> float:
        limits = betainccinv(n * shares + weight, n * (1 - shares), alpha / 2)
        return span * float((limits - shares).max())

    n = _smallest(max(spread, rare), lambda size: longest(size) <= arm, too_small)
    return Plan(n, goal, spread, rare, arm=longest(n), assurance=1.0)


def _interval_goal(arm: float, where: str) -> tuple[str, PlanError]:
    """Return the goal of an interval in words, and the error if no test set is large enough."""
    goal = f"for an upper limit within {number(arm)} of the estimate in {where}"
    return goal, _too_small("half_width", arm, goal, "a wider interval")


def _assured_arm(
    future: FutureSets, n: int, assurance: float, *, alpha: float, weight: float
) -> float:
    """Return the quantile of the arms of test sets of n examples, at the assurance."""
    _, near = _near_quantile(future, n, assurance, alpha=alpha, weight=weight)
    if len(near.strata) > 1:
        return extremal.high_of_one(near, alpha, weight=weight) - float(near.mean[0])
    _, high = extremal.limits(near, alpha, weight=weight)
    return float(np.median(high - near.mean))


def _is_assured(
    future: FutureSets, n: int, arm: float, assurance: float, *, alpha: float, weight: float
) -> bool:
    """Tell whether the assured share of test sets has no longer arm, by tails, which are fast."""
    rough, near = _near_quantile(future, n, assurance, alpha=alpha, weight=weight)
    if not 1 / FAR < rough / arm < FAR:
        return rough <= arm
    if len(near.strata) > 1:
        return extremal.high_of_one(near, alpha, weight=weight) - float(near.mean[0]) <= arm
    tails = extremal.tails_above(near, near.mean + arm, weight=weight)
    return bool(np.median(tails) <= alpha / 2)


def _near_quantile(
    future: FutureSets, n: int, assurance: float, *, alpha: float, weight: float
) -> tuple[float, Outcomes]:
    """Return the approximate quantile of the arms of test sets, and the sets next to it."""
    tables = future.drawn(n)
    rough = extremal.quick_high(tables, alpha, weight=weight) - tables.mean
    order = np.argsort(rough)
    rank = ceil(assurance * len(order)) - 1
    # With several strata, one table takes as long as many with a single stratum.
    near = NEIGHBOURS if len(tables.strata) == 1 else 0
    rows = order[max(rank - near, 0) : rank + near + 1]
    return float(rough[order[rank]]), _rows(tables, rows)


@dataclass(frozen=True, eq=False)
class _Pair:
    """Future test sets of two classifiers, and the sign of the difference to be shown."""

    future: FutureSets
    sign: float
    reachable: float = 1.0

    def power(self, n: int, alpha: float, *, careful: bool = True) -> Power:
        """Draw test sets and test each."""
        (shares,), values = self.future.shares, self.future.outcomes.only.costs
        mean = shares @ values
        variance = shares @ values**2 - mean**2
        z = self.sign * mean * np.sqrt(n / np.maximum(variance, 1e-300))
        share = float(_shown(self.future.drawn(n), alpha, self.sign, careful=careful).mean())
        error = np.sqrt(max(share * (1 - share), 1 / len(shares)) / len(shares))
        formula = float(ndtr(z + ndtri(alpha / 2)).mean())
        return Power(n, formula, share, float(error), self.reachable)

    def start(self, factor: float) -> int:
        """Return the size that the average draw needs by normal theory."""
        shares, values = self.future.shares[0].mean(axis=0), self.future.outcomes.only.costs
        mean = float(shares @ values)
        needed = factor * (float(shares @ values**2) / max(mean**2, 1e-300) - 1)
        return ceil(min(max(needed, 1.0), MOST))


def _pair(outcomes: Outcomes, given: str, target: float | None, rng: np.random.Generator) -> _Pair:
    """Return future test sets with the given difference, or with the pilot's uncertainty of it."""
    stratum = outcomes.only
    if not stratum.moment(2)[0] > 0:
        raise InputError(
            "pilot",
            "all its examples differ by the same cost, so it tells nothing about chance.",
            "Use a larger one.",
        )
    if target is None:
        sign = -1.0 if outcomes.mean[0] < 0 else 1.0
        against = {0 if sign > 0 else -1: WEIGHT}
        ends = against if given == PILOT else None
        future = future_sets(outcomes, ends, COMPARISONS, rng)
        reachable = float((sign * (future.shares[0] @ stratum.costs) > 0).mean())
        return _Pair(future, sign, reachable)
    ends = {0: WEIGHT, -1: WEIGHT} if given == PILOT else None
    future = future_sets(outcomes, ends, COMPARISONS, rng)
    expected = future.shares[0].mean(axis=0)
    tilted(expected, stratum.costs, target, argument="difference", what="the pilot's outcomes")
    shares, _ = all_tilted(future.shares[0], stratum.costs, target)
    return _Pair(replace(future, shares=(shares,)), float(np.copysign(1, target)))


def _for_difference(
    pair: _Pair, given: str, target: float | None, wanted: float, alpha: float
) -> Plan:
    what = "which of the two costs less" if target is None else f"a difference of {number(target)}"
    goal = f"to show {what} with a power of {percent(wanted)}{given}"
    name, value = ("power", wanted) if target is None else ("difference", target)
    instead = "less power" if target is None else "a larger difference or less power"
    too_small = _too_small(name, value, goal, instead)
    if pair.reachable <= wanted:
        less = "second" if pair.sign > 0 else "first"
        raise PlanError(
            "power",
            f"{percent(wanted)} cannot be promised: by the pilot the {less} classifier costs less "
            f"with a probability of {100 * pair.reachable:.0f}%, and no test set shows it with "
            "more.",
            "Ask for less power, use a larger pilot, or give difference=, the one that matters.",
        )
    n = _smallest(
        pair.start(float(-ndtri(alpha / 2) + ndtri(wanted)) ** 2),
        lambda size: pair.power(size, alpha, careful=False).simulated >= wanted,
        too_small,
    )
    found, step = pair.power(n, alpha), 0.01
    while found.simulated < wanted:  # the search used approximate tests
        n, step = _size((1 + step) * n, too_small), 2 * step
        found = pair.power(n, alpha)
    return Plan(n, goal, power=found)


def _shown(tables: Outcomes, alpha: float, sign: float, *, careful: bool) -> NDArray[np.bool_]:
    """Tell which test sets show a difference of that sign.

    The tests are approximate; if careful, p-values close to the level are those of the test itself.
    """
    likely = np.flatnonzero(sign * tables.mean > 0)
    found = _rows(tables, likely)
    p = 2 * extremal.quick_tails(found)[0 if sign > 0 else 1]
    doubtful = (p > alpha / DOUBTFUL) & (p < alpha * DOUBTFUL)
    if careful and doubtful.any():
        counts, same = np.unique(found.only.counts[doubtful], axis=0, return_inverse=True)
        again = Outcomes((found.only.with_counts(counts),))
        p[doubtful] = batch_p_values(again)[same.ravel()]
    shown = np.zeros(tables.tables, dtype=bool)
    shown[likely] = p <= alpha
    return shown


def limits_at_sizes(
    estimate: CostEstimate, n: int, sizes: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Return the limits of the default interval in test sets of other sizes.

    Parameters
    ----------
    estimate : CostEstimate
        The estimate from one test set; all shares are assumed to stay the same.
    n : int
        The number of its examples, whatever their weights.
    sizes : ndarray
        The numbers of examples.
    confidence : float
        Confidence level.
    """
    found, factors = outcomes_behind(estimate), sizes / n
    with np.errstate(over="ignore"):  # with less than one example, quantiles are almost 0
        if not any(stratum.labelled for stratum in found.strata):
            return limits(found.times(factors), confidence, DEFAULT, {})
        each = [limits(_of_finite(found, factor), confidence, DEFAULT, {}) for factor in factors]
    return np.array([low[0] for low, _ in each]), np.array([high[0] for _, high in each])


def _of_finite(outcomes: Outcomes, factor: float) -> Outcomes:
    """Scale a sample of a finite population by a factor, up to the whole population."""

    def scaled(each: Stratum) -> Stratum:
        times = min(factor, 1 / each.labelled) if each.labelled else factor
        return replace(
            each.with_counts(each.counts * times),
            labelled=each.labelled * times,
            left=each.left + float(each.n[0]) * (1 - times),
        )

    return Outcomes(outcomes.changed(scaled), outcomes.design)


def _too_small(name: str, value: float, goal: str, instead: str) -> PlanError:
    """Return the error that no test set is large enough."""
    return PlanError(
        name,
        f"{number(value)} is too small: {goal}, more than {number(MOST)} test examples would be "
        "needed.",
        f"Ask for {instead}, or for a lower confidence.",
    )


def _size(needed: float, too_small: PlanError) -> int:
    """Round the size of a test set up; raise if it is larger than `MOST`."""
    if not needed <= MOST:
        raise too_small
    return ceil(needed)
