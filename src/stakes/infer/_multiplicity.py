"""Several comparisons at once: intervals that hold together, and adjusted p-values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from stakes._core import validate
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.infer._inference import Inference, Interval, outcomes_behind, quiet_interval
from stakes.infer.difference import CostDifference, quiet_test
from stakes.infer.methods.normal import standard_error

Limits = Sequence[tuple[float, float]]

DRAWS = 100_000


@dataclass(frozen=True, eq=False)
class Pair(Result):
    """One comparison out of several.

    Attributes
    ----------
    first, second : str
        The classifiers.
    difference : float
        The cost of the first minus that of the second.
    low, high : float
        The simultaneous interval: all pairs' intervals are right together.
    p_value, adjusted : float
        The p-value of this comparison alone, and adjusted for their number.
    rejected : bool
        Whether the two differ, by the adjusted p-value.

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix, PairedConfusion, Ranking
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> paired = PairedConfusion([[[600, 20], [70, 40]], [[30, 10], [30, 200]]], labels=[0, 1])
    >>> pair, = Ranking.from_pairs({("tree", "forest"): paired}, costs).pairwise()
    >>> pair.first, pair.second, pair.difference
    ('forest', 'tree', -0.26)
    >>> round(pair.low, 3), round(pair.high, 3), pair.rejected
    (-0.399, -0.121, True)
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float
    rejected: bool


class Comparison(Protocol):
    """What can be one of several comparisons."""

    @property
    def names(self) -> tuple[str, str]:
        """The two that are compared."""

    @property
    def difference(self) -> float:
        """What the first costs more than the second."""

    def interval(self, confidence: float) -> Interval:
        """Return the interval of the difference."""


def judged(
    compared: Sequence[Comparison], p: Floats, limits: Limits, alpha: float, adjust: str = "holm"
) -> list[Pair]:
    """Return comparisons with their p-values adjusted, and what they show at an error rate."""
    adjusted = holm(p) if adjust == "holm" else p
    return [
        Pair(*each.names, each.difference, low, high, float(one), float(all_), bool(all_ <= alpha))
        for each, (low, high), one, all_ in zip(compared, limits, p, adjusted, strict=True)
    ]


def p_values(compared: Sequence[CostDifference]) -> Floats:
    """Return the p-value of each comparison alone, by its own test."""
    return np.array([quiet_test(each).p_value for each in compared])


def holm(p_values: Floats) -> Floats:
    """Return Holm's adjusted p-values."""
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    stepped = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    adjusted = np.empty_like(stepped)
    adjusted[order] = stepped
    return adjusted


def bonferroni(compared: Sequence[Comparison], alpha: float) -> Limits:
    """Return intervals each of which is wrong with its share of the error rate only."""
    level = 1 - alpha / len(compared)
    # Anyone who asks for several comparisons is warned once, not by each interval.
    intervals = [
        quiet_interval(each, level) if isinstance(each, Inference) else each.interval(level)
        for each in compared
    ]
    return [(each.low, each.high) for each in intervals]


def max_t(compared: Sequence[CostDifference], alpha: float, rng: Any) -> Limits:
    """Return intervals d ± t* s_d of all pairs, t* the quantile of the largest of their t."""
    spread = difference_covariance(compared)
    error = np.sqrt(np.diag(spread))
    # Two models that always agree have no error, and no say in the largest t.
    scale = np.where(error > 0, error, 1)
    values, vectors = np.linalg.eigh(spread / np.outer(scale, scale))
    root = vectors * np.sqrt(np.maximum(values, 0))  # differences of k models have rank k - 1
    generator = validate.generator(rng)
    freedom = compared[0].n - 1
    drawn = generator.standard_normal((DRAWS, len(values))) @ root.T
    # One chi-squared for all t of a draw, since all errors are estimated from the same examples.
    drawn /= np.sqrt(generator.chisquare(freedom, (DRAWS, 1)) / freedom)
    factor = float(np.quantile(np.abs(drawn).max(axis=1), 1 - alpha))
    return [
        (each.difference - factor * e, each.difference + factor * e)
        for each, e in zip(compared, error.tolist(), strict=True)
    ]


def difference_covariance(compared: Sequence[CostDifference]) -> Floats:
    """Return the covariance of the differences of all pairs, from their variances v alone.

    cov(a - b, c - d) = [v(a, d) + v(b, c) - v(a, c) - v(b, d)]/2.
    """
    names = list(dict.fromkeys(name for each in compared for name in each.names))
    first, second = np.array([[names.index(name) for name in each.names] for each in compared]).T
    v = np.zeros((len(names), len(names)))
    v[first, second] = [float(standard_error(outcomes_behind(each))[0]) ** 2 for each in compared]
    v += v.T
    crossed = v[np.ix_(first, second)] + v[np.ix_(second, first)]
    return np.asarray((crossed - v[np.ix_(first, first)] - v[np.ix_(second, second)]) / 2)
