"""How many test examples are needed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import gamma

from stakes._core import validate
from stakes._core.text import html_table, number
from stakes._core.typing import Floats
from stakes.costs import CostMatrix
from stakes.counts import Confusion, PairedConfusion
from stakes.errors import DesignError, InputError, InputTypeError
from stakes.infer._design import Design
from stakes.infer._inference import limits, outcomes_behind
from stakes.infer._outcomes import Outcomes, Stratum, cost_differences, make_stratum
from stakes.infer._probability.sampling import tilted
from stakes.infer.batch import batch_p_values
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.methods import extremal
from stakes.infer.methods.extremal import WEIGHT

SIMULATIONS = 1000


@dataclass(frozen=True)
class Power:
    """The probability that a test shows a difference.

    Attributes
    ----------
    n : int
        The number of test examples.
    formula : float
        By normal theory.
    simulated, standard_error : float
        By drawing test sets from the pilot counts and testing each.

    Examples
    --------
    >>> from stakes import CostMatrix, PairedConfusion, power
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> pilot = PairedConfusion([[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])
    >>> found = power(pilot, costs, 600, rng=0)
    >>> found.n, round(found.formula, 3), round(found.simulated, 1)
    (600, 0.81, 0.8)
    """

    n: int
    formula: float
    simulated: float
    standard_error: float

    def to_dict(self) -> dict[str, Any]:
        """Return the power as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return asdict(self)

    def _repr_html_(self) -> str:
        return html_table(["power"], [[self.summary()]])

    def summary(self) -> str:
        """Say how likely the difference is to be shown.

        Returns
        -------
        str
            A sentence.
        """
        return (
            f"{number(self.n)} examples show the difference with a probability of "
            f"{100 * self.simulated:.0f} % (by simulation; {100 * self.formula:.0f} % by formula)."
        )


def power(
    pilot: Any,
    costs: CostMatrix,
    n: Any,
    *,
    difference: float | None = None,
    confidence: float = 0.95,
    rng: np.random.Generator | int | None = None,
) -> Power:
    """Return how likely a test set of n examples shows a difference.

    Parameters
    ----------
    pilot : PairedConfusion
        Counts of two classifiers on a first test set.
    costs : CostMatrix
        The costs.
    n : int
        The size of the planned test set.
    difference : float, optional
        The true difference; by default the pilot's. Another one is reached by tilting the pilot's
        shares as little as possible (exponentially).
    confidence : float, default 0.95
        Of the test.
    rng : Generator or seed
        For the simulation.

    Returns
    -------
    Power
        The probability, by formula and by simulation.

    Notes
    -----
    By normal theory the power is Φ(z - z_{1-α/2}) + Φ(-z - z_{1-α/2}) with z = d √n/σ, d being the
    difference and σ the standard deviation of an example's difference. The simulation draws test
    sets from the (tilted) shares of the pilot, and tests each as ``CostDifference.test`` does; it
    is the one to trust where costs are rare.

    References
    ----------
    Margineantu & Dietterich (2000), Figures 4 and 5.

    Cohen (1988).

    Examples
    --------
    >>> from stakes import CostMatrix, PairedConfusion, power
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> pilot = PairedConfusion([[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])
    >>> found = power(pilot, costs, 600, rng=0)
    >>> round(found.formula, 2), round(found.simulated, 1)
    (0.81, 0.8)
    """
    size = validate.as_size(n, "n", least=1)
    alpha = validate.alpha(confidence)
    if not isinstance(pilot, PairedConfusion) or pilot.weighted:
        raise InputTypeError("pilot", "expected a PairedConfusion of counted examples.")
    target = CostDifference(pilot, costs).difference if difference is None else difference
    probabilities, values = alternative(pilot, costs, target)
    return simulated_power(probabilities, values, size, alpha, validate.generator(rng))


def alternative(
    pilot: PairedConfusion, costs: CostMatrix, difference: float
) -> tuple[Floats, Floats]:
    """Return the pilot's shares, tilted to have the difference, and each cell's difference."""
    values = cost_differences(costs.values_for(pilot.labels, pilot.decisions)).ravel()
    shares = (pilot.counts / pilot.n).ravel()
    return tilted(
        shares, values, difference, argument="difference", what="the pilot's outcomes"
    ), values


def simulated_power(
    probabilities: Floats, values: Floats, n: int, alpha: float, rng: np.random.Generator
) -> Power:
    """Draw test sets, merged into distinct differences, and test each."""
    variance = variance_of(probabilities, values)
    if variance <= 0:
        raise InputError(
            "pilot",
            "all its examples differ by the same cost, so it tells nothing about chance.",
            "Use a larger one.",
        )
    drawn = rng.multinomial(n, probabilities, SIMULATIONS)
    outcomes = Outcomes((make_stratum(values, drawn),))
    share = float((batch_p_values(outcomes) <= alpha).mean())
    error = float(np.sqrt(max(share * (1 - share), 1 / SIMULATIONS) / SIMULATIONS))
    z = abs(float(probabilities @ values)) * np.sqrt(n / variance)
    formula = float(ndtr(z + ndtri(alpha / 2)) + ndtr(-z + ndtri(alpha / 2)))
    return Power(n, formula, share, error)


def variance_of(probabilities: Floats, values: Floats) -> float:
    """Return the variance of values with these probabilities."""
    mean = float(probabilities @ values)
    return float(probabilities @ (values - mean) ** 2)


TRUST = 25
"""Normal theory is trustworthy from n = 25 · skewness² on."""

TEST_SETS = 401
MOST = 10**9
"""Larger test sets are not planned: nobody labels them, and simulating them proves nothing."""


@dataclass(frozen=True)
class Plan:
    """How many test examples are needed.

    Attributes
    ----------
    n : int
        The answer.
    goal : str
        What so many are needed for, in words.
    spread, range_of_costs : int or None
        What the standard deviation asks for, and what the range of the costs asks for, where an
        interval is planned; the answer is at least the larger.
    arm : float or None
        The median distance of the upper limit from the estimate in test sets of n examples drawn
        from the pilot, where there is one.
    trustworthy_from : int or None
        From where on normal theory can be trusted, by the pilot's skewness.
    power : Power or None
        The power at n, where a test is planned.

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix, plan_test_size
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=100)
    >>> plan = plan_test_size(costs, Confusion([[95, 1], [3, 1]], [0, 1]), half_width=0.5, rng=0)
    >>> plan.n, plan.spread, plan.range_of_costs
    (2145, 1521, 605)
    """

    n: int
    goal: str
    spread: int | None = None
    range_of_costs: int | None = None
    trustworthy_from: int | None = None
    arm: float | None = None
    power: Power | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return asdict(self)

    def _repr_html_(self) -> str:
        return html_table(["plan"], [[self.summary()]])

    @property
    def reason(self) -> str:
        """What asks for most examples, in words."""
        if (self.range_of_costs or 0) > (self.spread or 0):
            return "the rarest, most expensive mistake"
        return "the spread of the costs"

    def summary(self) -> str:
        """Say how many examples are needed, and why.

        Returns
        -------
        str
            A sentence.
        """
        text = f"{number(self.n)} test examples are needed {self.goal}"
        if self.range_of_costs is not None:
            text += f"; {self.reason} asks for most"
        if self.power is not None:
            text += f" (simulated power {100 * self.power.simulated:.0f} %)"
        return f"{text}."


def plan_test_size(
    costs: CostMatrix,
    pilot: Confusion | PairedConfusion | None = None,
    *,
    half_width: float | None = None,
    difference: float | None = None,
    power: float = 0.8,
    confidence: float = 0.95,
    weight: float = WEIGHT,
    class_priors: Any = None,
    rng: np.random.Generator | int | None = None,
) -> Plan:
    """Return how large a test set is needed, for an interval or for a comparison.

    Parameters
    ----------
    costs : CostMatrix
        The costs.
    pilot : Confusion or PairedConfusion, optional
        Counts of a first, small test set: of one classifier for `half_width`, of two for
        `difference`. Without one the most spread that the costs allow is assumed.
    half_width : float, optional
        How far the upper limit of the interval may lie above the estimate.
    difference : float, optional
        The difference in cost per decision that is to be shown.
    power : float, default 0.8
        The probability with which it is to be shown.
    confidence : float, default 0.95
        Of the interval or the test.
    weight : float, default 0.7
        Of the extremal interval; 1 for the conservative one.
    class_priors : mapping or sequence, optional
        The share of each class where the classifier is used, for `half_width` with a pilot. The
        test set has the classes in the pilot's shares.
    rng : Generator or seed
        For the simulation that confirms the power.

    Returns
    -------
    Plan
        The number of test examples, and what asks for it.

    Notes
    -----
    For an upper arm h, n = max{(z σ/h)², u (C_max - C_min)/h}, u being the 1 - α/2 quantile of
    Gamma(weight): an interval cannot be shorter than what one more mistake of the costliest kind
    would add. Where both matter the formula is too low, so with a pilot n is raised until half of
    the test sets drawn from it have an arm of at most h. For a difference d,
    n = (z_{1-α/2} + z_power)² σ²/d², raised until the simulated power is reached. With class
    priors π, σ² = Σ π_j² σ_j²/s_j, s_j being the share of class j in the test set, the range is the
    largest π_j/s_j times that of a class, and n is raised until a test set with just the pilot's
    rates has an arm of at most h.

    References
    ----------
    Margineantu & Dietterich (2000), section 5.

    Cohen (1988).

    Learned-Miller & Thomas (2019).

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix, plan_test_size
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=100)
    >>> pilot = Confusion([[95, 1], [3, 1]], [0, 1])
    >>> print(plan_test_size(costs, pilot, half_width=0.5, rng=0).summary())
    2,145 test examples are needed for an upper limit within 0.5 of the estimate; the spread of the
    costs asks for most.
    """
    alpha = validate.alpha(confidence)
    validate.expect(costs, CostMatrix, "costs", "CostMatrix.from_errors(…)")
    if pilot is not None and not isinstance(pilot, Confusion | PairedConfusion):
        raise InputTypeError(
            "pilot", f"expected a Confusion or a PairedConfusion, got a {type(pilot).__name__}."
        )
    if (half_width is None) == (difference is None):
        raise InputTypeError("half_width, difference", "give one of the two.")
    validate.positive(weight, "weight")
    if pilot is not None and pilot.weighted:
        raise DesignError("pilot", "planning needs counts of examples, not sums of weights.")
    generator = validate.generator(rng)
    if class_priors is not None and (difference is not None or not isinstance(pilot, Confusion)):
        raise DesignError("class_priors", "they need half_width=, and the Confusion of a pilot.")
    if half_width is not None:
        arm = validate.positive(half_width, "half_width")
        if class_priors is not None and pilot is not None:
            estimate = CostEstimate(pilot, costs, Design(class_priors))
            return _for_stratified_interval(estimate, arm, alpha, weight)
        return _for_interval(costs, pilot, arm, alpha, weight=weight, rng=generator)
    target = validate.positive(abs(validate.one_number(difference, "difference")), "difference")
    if not 0 < validate.one_number(power, "power") < 1:
        raise InputError("power", f"expected a number between 0 and 1, got {power!r}.")
    return _for_difference(costs, pilot, target, power, alpha, rng=generator)


def _for_interval(
    costs: CostMatrix,
    pilot: Confusion | PairedConfusion | None,
    arm: float,
    alpha: float,
    *,
    weight: float,
    rng: np.random.Generator,
) -> Plan:
    span = float(np.ptp(costs.values))
    goal, too_small = _interval_goal(arm)
    rare = max(1, _size(float(gamma.isf(alpha / 2, weight)) * span / arm, too_small))
    z = float(ndtri(alpha / 2))
    if pilot is None:
        spread = _size(z**2 / 4 * (span / arm) * (span / arm), too_small)
        return Plan(max(spread, rare), goal, spread, rare)
    if not isinstance(pilot, Confusion):
        raise InputTypeError("pilot", "an interval for one classifier needs its Confusion.")
    stratum = outcomes_behind(CostEstimate(pilot, costs)).only
    variance = float(stratum.moment(2)[0])
    skewness = float(stratum.moment(3)[0]) / variance**1.5 if variance > 0 else np.nan
    trust = ceil(TRUST * skewness**2) if variance > 0 else None
    spread = _size(z**2 * variance / arm / arm, too_small)
    n = max(spread, rare)
    found = _median_arm(stratum, n, alpha, weight, rng)
    while found > arm:
        n = _size(1.05 * n, too_small)
        found = _median_arm(stratum, n, alpha, weight, rng)
    return Plan(n, goal, spread, rare, trust, found)


def _for_stratified_interval(
    estimate: CostEstimate, arm: float, alpha: float, weight: float
) -> Plan:
    goal, too_small = _interval_goal(arm)
    z, extra = float(ndtri(alpha / 2)), float(gamma.isf(alpha / 2, weight))
    outcomes = outcomes_behind(estimate)
    needed_for_spread, needed_for_range = 0.0, 1.0
    for stratum in outcomes.strata:
        one_in = float(estimate.n) / float(stratum.n[0])
        variance = one_in * stratum.weight**2 * float(stratum.moment(2)[0])
        needed_for_spread += z**2 * variance / arm / arm
        span = one_in * stratum.weight * float(np.ptp(stratum.costs))
        needed_for_range = max(needed_for_range, extra * span / arm)
    spread, rare = _size(needed_for_spread, too_small), _size(needed_for_range, too_small)
    n = max(spread, rare)
    while True:
        scaled = outcomes.times(n / float(estimate.n))
        _, high = extremal.limits(scaled, alpha, weight=weight)
        found = float((high - scaled.mean)[0])
        if found <= arm:
            return Plan(n, goal, spread, rare, arm=found)
        n = _size(1.05 * n, too_small)


def _interval_goal(arm: float) -> tuple[str, InputError]:
    """Return what an interval is planned for, and what to raise where no test set is enough."""
    goal = f"for an upper limit within {number(arm)} of the estimate"
    return goal, _too_small("half_width", arm, goal, "a wider interval")


def _for_difference(
    costs: CostMatrix,
    pilot: Confusion | PairedConfusion | None,
    target: float,
    power: float,
    alpha: float,
    *,
    rng: np.random.Generator,
) -> Plan:
    factor = float(-ndtri(alpha / 2) + ndtri(power)) ** 2
    goal = f"to show a difference of {number(target)} with a power of {100 * power:.3g} %"
    too_small = _too_small("difference", target, goal, "a larger difference or less power")
    if pilot is None:
        span = float(np.ptp(costs.values, axis=0).max())
        if target >= span:
            raise InputError(
                "difference",
                f"two classifiers cannot differ by more than {span:g} per decision with these "
                f"costs; got {target:g}.",
            )
        return Plan(_size(factor * (span / target * (span / target) - 1), too_small), goal)
    if not isinstance(pilot, PairedConfusion):
        raise InputTypeError("pilot", "a difference needs the counts of two classifiers.")
    pilots = CostDifference(pilot, costs).difference
    probabilities, values = alternative(pilot, costs, float(np.copysign(target, pilots)))
    n = _size(factor * variance_of(probabilities, values) / target / target, too_small)
    found = simulated_power(probabilities, values, n, alpha, rng)
    # The formula is optimistic for rare costs; go on until the simulation agrees.
    while found.simulated < power - 2 * found.standard_error:
        n = _size(1.25 * n, too_small)
        found = simulated_power(probabilities, values, n, alpha, rng)
    return Plan(n, goal, power=found)


def limits_at_sizes(
    estimate: CostEstimate, sizes: Floats, confidence: float
) -> tuple[Floats, Floats]:
    """Return the limits of the default interval in test sets of other sizes.

    Parameters
    ----------
    estimate : CostEstimate
        What one test set shows; all shares are taken to stay as they are there.
    sizes : ndarray
        The numbers of examples.
    confidence : float
        Confidence level.
    """
    scaled = outcomes_behind(estimate).times(sizes / estimate.n)
    with np.errstate(over="ignore"):  # a part of one example has quantiles of almost nothing
        return limits(scaled, confidence, estimate.choice.name, {})


def _median_arm(
    stratum: Stratum, n: int, alpha: float, weight: float, rng: np.random.Generator
) -> float:
    """Return how far the upper limit lies from the estimate in half of the test sets drawn."""
    drawn = rng.multinomial(n, stratum.counts[0] / stratum.n[0], TEST_SETS).astype(np.float64)
    outcomes = Outcomes((stratum.with_counts(drawn),))
    _, high = extremal.limits(outcomes, alpha, weight=weight)
    return float(np.median(high - outcomes.mean))


def _too_small(name: str, value: float, goal: str, instead: str) -> InputError:
    """Say that no test set can be large enough."""
    return InputError(
        name,
        f"{number(value)} is too small: {goal}, more than {number(MOST)} test examples would be "
        "needed.",
        f"Ask for {instead}, or for a lower confidence.",
    )


def _size(needed: float, too_small: InputError) -> int:
    """Round the size of a test set up; raise where it is larger than any that is planned."""
    if not needed <= MOST:
        raise too_small
    return ceil(needed)
