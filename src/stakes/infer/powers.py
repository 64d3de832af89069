"""What a test set of a given size can show of two classifiers."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from stakes import _validate
from stakes._core.typing import Floats
from stakes._table import html_table, number
from stakes.costs import CostMatrix
from stakes.counts import PairedConfusion
from stakes.errors import InputError, InputTypeError
from stakes.infer.batch import batch_p_values
from stakes.infer.deltas import cost_differences
from stakes.infer.difference import CostDifference
from stakes.infer.outcomes import Outcomes, make_stratum
from stakes.infer.probability.tilting import tilted

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
    size = _validate.as_size(n, "n", least=1)
    alpha = _validate.alpha(confidence)
    if not isinstance(pilot, PairedConfusion) or pilot.weighted:
        raise InputTypeError("pilot: expected a PairedConfusion of counted examples.")
    target = CostDifference(pilot, costs).difference if difference is None else difference
    probabilities, values = alternative(pilot, costs, target)
    return simulated_power(probabilities, values, size, alpha, _validate.generator(rng))


def alternative(
    pilot: PairedConfusion, costs: CostMatrix, difference: float
) -> tuple[Floats, Floats]:
    """Return the pilot's shares, tilted to have the difference, and each cell's difference."""
    values = cost_differences(costs.values_for(pilot.labels, pilot.decisions)).ravel()
    shares = (pilot.counts / pilot.n).ravel()
    return tilted(shares, values, difference, what="difference: the pilot's outcomes"), values


def simulated_power(
    probabilities: Floats, values: Floats, n: int, alpha: float, rng: np.random.Generator
) -> Power:
    """Draw test sets, merged into distinct differences, and test each."""
    variance = variance_of(probabilities, values)
    if variance <= 0:
        raise InputError(
            "pilot: all its examples differ by the same cost, so it tells nothing about chance. "
            "Use a larger one."
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
