"""The coverage of interval methods on a problem like the user's."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.text import html_values, number, percent
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.costs import CostMatrix
from stakes.infer._outcomes import Design
from stakes.infer.methods import names_of_intervals
from stakes.simulate._designs import Drawing, drawing_of, has_design, limits_of
from stakes.simulate._measurements import (
    ROUNDING,
    Extreme,
    checked_size,
    for_each,
    limits,
    rate,
    seeds,
    truth_of,
)


@dataclass(frozen=True, eq=False)
class Coverage(Result):
    """Coverage of the intervals of a method: how often they contain the true cost.

    Attributes
    ----------
    method : str
        The method.
    n : int
        The number of examples in a test set.
    confidence : float
        The confidence level of the intervals.
    coverage, standard_error : float
        The share of test sets whose interval contains the true cost, and its standard error.
    below, above : float
        The shares of test sets whose interval lies below the true cost, and above it.
    width : float
        The mean width of the intervals.
    truth : float
        The true cost per decision.
    costliest : Extreme
        The costliest possible outcome. Where a test set is expected to have it a few times only,
        methods that rely on the observed outcomes cover too rarely.
    repeats : int
        The number of simulated test sets.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> from stakes.simulate import coverage
    >>> costs = CostMatrix.from_errors(
    ...     false_positive=1, false_negative=100, pos_label="fraud", neg_label="ok")
    >>> found = coverage("bcost", [[950, 2], [38, 10]], costs, repeats=500, rng=0)
    >>> found.coverage, found.below, found.above
    (0.87, 0.122, 0.008)
    >>> print(found.costliest.what, found.costliest.expected)
    predicting 'ok' when it was 'fraud' 2.0
    """

    method: str
    n: int
    confidence: float
    coverage: float
    standard_error: float
    below: float
    above: float
    width: float
    truth: float
    costliest: Extreme
    repeats: int

    def summary(self) -> str:
        """Describe how often the intervals cover, and on which side they miss.

        Returns
        -------
        str
        """
        worst = self.costliest
        expected = (
            f"is expected {number(worst.expected)} times in one"
            if worst.expected
            else "never happens here; smooth= makes it possible"
        )
        return (
            f"{self.method}: {percent(self.confidence)} intervals cover the true cost in "
            f"{_share(self.coverage)} of test sets of {number(self.n)} "
            f"(± {_share(self.standard_error)}), lie below it in {_share(self.below)} and above "
            f"it in {_share(self.above)}. The costliest outcome, {worst.what}, {expected}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as plain values.

        Returns
        -------
        dict
        """
        return asdict(self)

    def _rows(self) -> list[dict[str, Any]]:
        row = asdict(self)
        worst = row.pop("costliest")
        return [row | {"costliest_expected": worst["expected"]}]

    def _repr_html_(self) -> str:
        return html_values(self.to_dict(), self.summary())


def _share(value: float) -> str:
    return f"{100 * value:.1f}%"


def coverage(
    method: Any,
    confusion: Any,
    costs: CostMatrix,
    *,
    n: int | None = None,
    confidence: float = 0.95,
    repeats: int = 2000,
    smooth: float = 0.0,
    design: Design | None = None,
    rng: np.random.Generator | int | None = None,
    **options: Any,
) -> Any:
    """Measure the coverage of interval methods on a problem like yours.

    The coverage is the probability P(L ≤ c ≤ U) that the limits of a test set's interval enclose
    the true cost c = Σ p(i, j)·C(i, j). It is measured as the share of simulated test sets in which
    they do. With R sets, its standard error is √(s(1 - s)/(R + 4)), with s = (hits + 2)/(R + 4).

    Parameters
    ----------
    method : str or list of str
        The interval method, such as "extremal" or "bcost"; or several.
    confusion : Confusion, GroupedConfusion or array_like, shape (decisions, classes)
        Your counts, or shares that sum to 1, in the order of the costs' labels. They are taken as
        the population that test sets are sampled from. Of counts with groups, whole groups are
        sampled, within each stratum unless groups have rows in several.
    costs : CostMatrix
        The costs.
    n : int, optional
        The number of examples in a test set; by default as many as were counted. With groups it is
        the expected number: as many groups are sampled as hold so many examples, two or more of
        each stratum. With weights it is their sum, so scale them to add up to the number of rows.
    confidence : float, default 0.95
        Confidence level of the intervals.
    repeats : int, default 2000
        The number of test sets to simulate.
    smooth : float, default 0
        A number to add to the count of every cell first, such as 0.1. Otherwise a cell that was not
        observed cannot occur, and a method that fails with such a cell looks better than it is. Not
        available with a design.
    design : Design, optional
        Class priors, the shares of strata, and other facts about the sampling. Finite populations
        are treated as infinite. With class priors, test sets without groups have as many examples
        of each class as were counted.
    rng : Generator or seed, optional
        The source of randomness.
    **options
        Options of the method, as in ``CostEstimate.interval``.

    Returns
    -------
    Coverage, or Measurements of several methods on the same test sets

    References
    ----------
    Margineantu & Dietterich (2000), section 4 and Table 5, whose experiment this is.

    Agresti & Coull (1998): the standard error.

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix
    >>> from stakes.simulate import coverage
    >>> costs = CostMatrix.from_errors(
    ...     false_positive=1, false_negative=100, pos_label="fraud", neg_label="ok")
    >>> counts = Confusion([[950, 2], [38, 10]], labels=["ok", "fraud"])
    >>> coverage("bcost", counts, costs, rng=0).coverage < 0.9
    True
    >>> coverage("extremal", counts, costs, rng=0).coverage > 0.93
    True
    """
    validate.alpha(confidence)
    if has_design(confusion, design):
        drawing = drawing_of(confusion, costs, design, smooth, models=1)
        told: dict[str, Any] = {"n": n, "repeats": repeats, "rng": rng}
        return _of_design(method, drawing, confidence=confidence, options=options, **told)
    truth, counted = truth_of(confusion, costs, smooth, name="confusion")
    size = checked_size(n, counted, "confusion")
    sets = validate.as_size(repeats, "repeats", least=1)
    generator = validate.generator(rng)
    drawn, seed_of = truth.draw(size, sets, generator), seeds(generator)
    slack = ROUNDING * float(np.abs(truth.atoms.costs).max())

    def measured(name: str) -> Coverage:
        found = limits(
            truth, drawn, name, confidence=confidence, options=options, seed=seed_of(name)
        )
        worst = truth.extreme(-1, size)
        return _measured(
            name,
            found,
            n=size,
            confidence=confidence,
            truth=truth.mean,
            slack=slack,
            costliest=worst,
        )

    return for_each(method, names_of_intervals(), measured)


def _of_design(
    method: Any,
    drawing: Drawing,
    *,
    n: Any,
    confidence: float,
    repeats: Any,
    rng: Any,
    options: dict[str, Any],
) -> Any:
    """Measure the coverage on test sets that are drawn as the counts were."""
    size = checked_size(n, max(round(drawing.n), 1), "confusion")
    sets = validate.as_size(repeats, "repeats", least=1)
    drawn = drawing.draw(None if n is None else size, sets, validate.generator(rng))
    worst = drawing.extreme(-1, size)

    def measured(name: str) -> Coverage:
        return _measured(
            name,
            limits_of(drawn, name, confidence=confidence, options=options),
            n=size,
            confidence=confidence,
            truth=drawing.truth,
            slack=ROUNDING * float(np.abs(drawing.costs.values).max()),
            costliest=worst,
        )

    return for_each(method, names_of_intervals(), measured)


def _measured(
    method: str,
    found: tuple[Floats, Floats],
    *,
    n: int,
    confidence: float,
    truth: float,
    slack: float,
    costliest: Extreme,
) -> Coverage:
    """Return how often limits enclose the truth."""
    low, high = found
    below, above = high < truth - slack, low > truth + slack
    share, error = rate(~below & ~above)
    return Coverage(
        method=method,
        n=n,
        confidence=confidence,
        coverage=share,
        standard_error=error,
        below=float(below.mean()),
        above=float(above.mean()),
        width=float((high - low).mean()),
        truth=truth,
        costliest=costliest,
        repeats=len(low),
    )
