"""What coverage an interval method has on a problem like the user's."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.text import html_values, number, percent
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.costs import CostMatrix
from stakes.counts import Confusion, GroupedConfusion
from stakes.errors import DesignError, InputTypeError, StakesWarning
from stakes.infer._outcomes import Design
from stakes.infer.estimate import CostEstimate
from stakes.simulate._measurements import (
    ROUNDING,
    Extreme,
    Truth,
    checked_size,
    for_each,
    intervals,
    limits,
    rate,
    seeds,
    truth_of,
)


@dataclass(frozen=True, eq=False)
class Coverage(Result):
    """How often the intervals of a method have the true cost in them.

    Attributes
    ----------
    method : str
        The method.
    n : int
        The examples of a test set.
    confidence : float
        How often they are meant to.
    coverage, standard_error : float
        How often they do, and the standard error of that share.
    below, above : float
        The shares of test sets whose interval lies below the true cost, and above it.
    width : float
        How wide the intervals are on average.
    truth : float
        The true cost per decision.
    costliest : Extreme
        The costliest possible outcome. Where a test set is expected to have it a few times only,
        methods that rely on what was seen cover too rarely.
    repeats : int
        How many test sets were drawn.

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
        """Say how often the intervals cover, and on which side they miss.

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
    rng: np.random.Generator | int | None = None,
    **options: Any,
) -> Any:
    """Measure the coverage of interval methods on a problem like yours.

    The coverage is the probability P(L ≤ c ≤ U) that the limits of a test set's interval enclose
    the true cost c = Σ p(i, j)·C(i, j). It is measured as the share of drawn test sets in which
    they do; of R sets its standard error is √(s(1 - s)/(R + 4)), with s = (hits + 2)/(R + 4).

    Parameters
    ----------
    method : str or list of str
        The interval method, such as "auto" or "bcost"; or several.
    confusion : Confusion, GroupedConfusion or array_like, shape (decisions, classes)
        Your counts, or shares that sum to 1, in the order of the costs' labels. What it has is
        taken as the truth that test sets are drawn from: of counts with groups, whole groups are
        drawn, from each stratum by itself unless groups have rows in several.
    costs : CostMatrix
        The costs.
    n : int, optional
        The examples of a test set; by default as many as were counted. With groups or strata it
        is always as many of these as were counted.
    confidence : float, default 0.95
        Of the intervals.
    repeats : int, default 2000
        How many test sets to draw.
    smooth : float, default 0
        What to add to the count of every cell first, such as 0.1. A cell that was never seen
        otherwise cannot come, and a method that cannot do with such a cell looks better than it is.
        Not with groups or strata.
    rng : Generator or seed, optional
        The randomness.
    **options
        Of the method, as in ``CostEstimate.interval``.

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
    if isinstance(confusion, GroupedConfusion):
        if smooth or n not in {None, confusion.n}:
            raise DesignError(
                "n, smooth",
                "test sets with groups or strata have as many of them as were counted.",
                "Leave both out.",
            )
        return _of_design(
            method,
            confusion,
            costs,
            confidence=confidence,
            repeats=repeats,
            rng=rng,
            options=options,
        )
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

    return for_each(method, intervals(), measured)


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


# Counts with groups or strata: their parts are drawn again.


def _of_design(
    method: Any,
    counts: GroupedConfusion,
    costs: CostMatrix,
    *,
    confidence: float,
    repeats: int,
    rng: Any,
    options: dict[str, Any],
) -> Any:
    """Measure the coverage on counts that are drawn as these were."""
    if counts.weighted and counts.groups is None:
        raise DesignError(
            "confusion",
            "sums of weights do not tell which rows had them, so rows cannot be drawn again.",
            "Count with groups=, each row a group of its own.",
        )
    shares = _stratum_shares(counts)
    whole = CostEstimate(counts, costs, Design(population=shares))
    pooled = counts.pooled
    if not isinstance(pooled, Confusion):
        raise InputTypeError("confusion", "expected the counts of one classifier, got two.")
    values = costs.values_for(pooled.labels, pooled.decisions)
    plain = Truth(
        pooled.counts / pooled.n,
        CostMatrix(values, rows="predicted", labels=pooled.labels, decisions=pooled.decisions),
    )
    generator = validate.generator(rng)
    sets = validate.as_size(repeats, "repeats", least=1)
    drawn = [
        CostEstimate(_drawn(counts, generator), costs, Design(population=shares))
        for _ in range(sets)
    ]
    slack = ROUNDING * float(np.abs(plain.atoms.costs).max())
    n = round(float(pooled.n))

    def measured(name: str) -> Coverage:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StakesWarning)
            ends = [each.interval(confidence, name, **options) for each in drawn]
        found = np.array([each.low for each in ends]), np.array([each.high for each in ends])
        return _measured(
            name,
            found,
            n=n,
            confidence=confidence,
            truth=whole.cost,
            slack=slack,
            costliest=plain.extreme(-1, n),
        )

    return for_each(method, intervals(), measured)


def _stratum_shares(counts: GroupedConfusion) -> dict[Any, float] | None:
    """Return the share of each stratum, which test sets keep."""
    if counts.strata is None:
        return None
    places, names = counts.parts.stratum_codes()
    rows = np.bincount(places, counts.counts.reshape(len(places), -1).sum(axis=1), len(names))
    return dict(zip(names, (rows / rows.sum()).tolist(), strict=True))


def _drawn(counts: GroupedConfusion, rng: np.random.Generator) -> GroupedConfusion:
    """Draw a test set: rows of each stratum, or groups, as many as there are."""
    strata, _ = counts.parts.stratum_codes()
    groups = counts.parts.group_codes()
    if groups is None:
        flat = counts.counts.reshape(len(strata), -1)
        rows = [rng.multinomial(round(each.sum()), each / each.sum()) for each in flat]
        return counts.with_counts(np.reshape(rows, counts.counts.shape), counts.decisions)
    home = np.full(groups.max() + 1, -1)
    home[groups] = strata
    if (home[groups] != strata).any():  # groups have rows in several strata
        home[:] = 0
    members = [np.flatnonzero(groups == group) for group in range(len(home))]
    chosen = np.concatenate(
        [rng.choice(inside := np.flatnonzero(home == each), len(inside)) for each in set(home)]
    )
    parts = np.concatenate([members[group] for group in chosen])
    names = np.repeat(np.arange(len(chosen)), [len(members[group]) for group in chosen])
    axes = counts.labels, counts.decisions
    told = None if counts.strata is None else [counts.strata[part] for part in parts]
    return GroupedConfusion(counts.counts[parts], *axes, names.tolist(), strata=told)
