"""How many test examples are needed, and what a test set of a given size can show."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import ceil
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import gamma

from stakes import _validate
from stakes._table import html_table, number
from stakes.costs import CostMatrix
from stakes.counts import Confusion, PairedConfusion
from stakes.errors import DesignError, InputError, InputTypeError
from stakes.infer.batch import batch_p_values
from stakes.infer.deltas import cost_differences
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.methods import extremal
from stakes.infer.methods.extremal import WEIGHT
from stakes.infer.outcomes import Floats, Outcomes, Stratum, make_stratum
from stakes.infer.probability.tilting import tilted
from stakes.infer.run import checked_confidence

TRUST = 25
"""Normal theory is trustworthy from n = 25 · skewness² on."""

SIMULATIONS = 1000
TEST_SETS = 401
MOST = 10**9
"""Larger test sets are not planned: nobody labels them, and simulating them proves nothing."""


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


@dataclass(frozen=True)
class Plan:
    """How many test examples are needed.

    Attributes
    ----------
    n : int
        The answer.
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
    spread: int
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

    def summary(self) -> str:
        """Say how many examples are needed, and why.

        Returns
        -------
        str
            A sentence.
        """
        text = f"{number(self.n)} test examples are needed {self.goal}"
        if self.range_of_costs is not None:
            why = (
                "the rarest, most expensive mistake"
                if self.range_of_costs > self.spread
                else "the spread of the costs"
            )
            text += f"; {why} asks for most"
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
    n = (z_{1-α/2} + z_power)² σ²/d², raised until the simulated power is reached.

    References
    ----------
    Margineantu, D. D. & Dietterich, T. G. (2000). Bootstrap methods for the cost-sensitive
    evaluation of classifiers. *ICML 2000*, section 5.

    Cohen, J. (1988). *Statistical Power Analysis for the Behavioral Sciences*, second edition.
    Erlbaum.

    Learned-Miller, E. & Thomas, P. S. (2019). A new confidence interval for the mean of a bounded
    random variable. arXiv:1905.06208.

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix, plan_test_size
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=100)
    >>> pilot = Confusion([[95, 1], [3, 1]], [0, 1])
    >>> print(plan_test_size(costs, pilot, half_width=0.5, rng=0).summary())
    2,145 test examples are needed for an upper limit within 0.5 of the estimate; the spread of the
    costs asks for most.
    """
    alpha = checked_confidence(confidence)
    if (half_width is None) == (difference is None):
        raise InputTypeError("half_width, difference: give one of the two.")
    _positive(weight, "weight")
    if pilot is not None and pilot.weighted:
        raise DesignError("pilot: planning needs counts of examples, not sums of weights.")
    generator = _validate.generator(rng)
    if half_width is not None:
        arm = _positive(half_width, "half_width")
        return _for_interval(costs, pilot, arm, alpha, weight=weight, rng=generator)
    target = _positive(
        abs(difference) if isinstance(difference, int | float) else difference, "difference"
    )
    if not 0 < power < 1:
        raise InputError(f"power: expected a number between 0 and 1, got {power!r}.")
    factor = float(-ndtri(alpha / 2) + ndtri(power)) ** 2
    goal = f"to show a difference of {number(target)} with a power of {100 * power:.3g} %"
    too_small = _too_small("difference", target, goal, "a larger difference or less power")
    if pilot is None:
        span = float(np.ptp(costs.values, axis=0).max())
        if target >= span:
            raise InputError(
                f"difference: two classifiers cannot differ by more than {span:g} per decision "
                f"with these costs; got {target:g}."
            )
        return Plan(_size(factor * (span / target * (span / target) - 1), too_small), goal, 0)
    if not isinstance(pilot, PairedConfusion):
        raise InputTypeError("pilot: a difference needs the counts of two classifiers.")
    pilots = CostDifference(pilot, costs).difference
    probabilities, values = _alternative(pilot, costs, float(np.copysign(target, pilots)))
    n = _size(factor * _variance(probabilities, values) / target / target, too_small)
    found = _power(probabilities, values, n, alpha, generator)
    # The formula is optimistic for rare costs; go on until the simulation agrees.
    while found.simulated < power - 2 * found.standard_error:
        n = _size(1.25 * n, too_small)
        found = _power(probabilities, values, n, alpha, generator)
    return Plan(n, goal, n, power=found)


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
    Margineantu, D. D. & Dietterich, T. G. (2000). Bootstrap methods for the cost-sensitive
    evaluation of classifiers. *ICML 2000*, Figures 4 and 5.

    Cohen, J. (1988). *Statistical Power Analysis for the Behavioral Sciences*, second edition.
    Erlbaum.

    Examples
    --------
    >>> from stakes import CostMatrix, PairedConfusion, power
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> pilot = PairedConfusion([[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])
    >>> found = power(pilot, costs, 600, rng=0)
    >>> round(found.formula, 2), round(found.simulated, 1)
    (0.81, 0.8)
    """
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 1:
        raise InputError(f"n: expected a positive whole number, got {n!r}.")
    alpha = checked_confidence(confidence)
    if not isinstance(pilot, PairedConfusion) or pilot.weighted:
        raise InputTypeError("pilot: expected a PairedConfusion of counted examples.")
    target = CostDifference(pilot, costs).difference if difference is None else difference
    probabilities, values = _alternative(pilot, costs, target)
    return _power(probabilities, values, int(n), alpha, _validate.generator(rng))


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
    goal = f"for an upper limit within {number(arm)} of the estimate"
    too_small = _too_small("half_width", arm, goal, "a wider interval")
    rare = max(1, _size(float(gamma.isf(alpha / 2, weight)) * span / arm, too_small))
    z = float(ndtri(alpha / 2))
    if pilot is None:
        spread = _size(z**2 / 4 * (span / arm) * (span / arm), too_small)
        return Plan(max(spread, rare), goal, spread, rare)
    if not isinstance(pilot, Confusion):
        raise InputTypeError("pilot: an interval for one classifier needs its Confusion.")
    stratum = CostEstimate(pilot, costs).outcomes().only
    variance = float(stratum.moment(2)[0])
    trust = ceil(TRUST * float(stratum.moment(3)[0]) ** 2 / variance**3) if variance > 0 else None
    spread = _size(z**2 * variance / arm / arm, too_small)
    n = max(spread, rare)
    found = _median_arm(stratum, n, alpha, weight, rng)
    while found > arm:
        n = _size(1.05 * n, too_small)
        found = _median_arm(stratum, n, alpha, weight, rng)
    return Plan(n, goal, spread, rare, trust, found)


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
        f"{name}: {number(value)} is too small: {goal}, more than {number(MOST)} test examples "
        f"would be needed. Ask for {instead}, or for a lower confidence."
    )


def _size(needed: float, too_small: InputError) -> int:
    """Round the size of a test set up; raise where it is larger than any that is planned."""
    if not needed <= MOST:
        raise too_small
    return ceil(needed)


def _positive(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < np.inf:
        raise InputError(f"{name}: expected a positive number, got {value!r}.")
    return float(value)


def _variance(probabilities: Floats, values: Floats) -> float:
    mean = float(probabilities @ values)
    return float(probabilities @ (values - mean) ** 2)


def _alternative(
    pilot: PairedConfusion, costs: CostMatrix, difference: float
) -> tuple[Floats, Floats]:
    """Return the pilot's shares, tilted to have the difference, and each cell's difference."""
    values = cost_differences(costs.values_for(pilot.labels, pilot.decisions)).ravel()
    shares = (pilot.counts / pilot.n).ravel()
    return tilted(shares, values, difference, what="difference: the pilot's outcomes"), values


def _power(
    probabilities: Floats, values: Floats, n: int, alpha: float, rng: np.random.Generator
) -> Power:
    """Draw test sets, merged into distinct differences, and test each."""
    drawn = rng.multinomial(n, probabilities, SIMULATIONS)
    outcomes = Outcomes((make_stratum(values, drawn),))
    share = float((batch_p_values(outcomes) <= alpha).mean())
    error = float(np.sqrt(max(share * (1 - share), 1 / SIMULATIONS) / SIMULATIONS))
    if _variance(probabilities, values) <= 0:
        raise InputError(
            "pilot: all its examples differ by the same cost, so it tells nothing about chance. "
            "Use a larger one."
        )
    z = abs(float(probabilities @ values)) * np.sqrt(n / _variance(probabilities, values))
    formula = float(ndtr(z + ndtri(alpha / 2)) + ndtr(-z + ndtri(alpha / 2)))
    return Power(n, formula, share, error)
