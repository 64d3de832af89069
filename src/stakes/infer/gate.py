"""Multiple comparisons, and the gate that decides whether a model may replace a baseline.

Multiple comparisons have simultaneous intervals and adjusted p-values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.optional import data_frame
from stakes._core.text import html_table, number, percent
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.errors import InputError
from stakes.infer._inference import Inference, Interval, TestResult, outcomes_behind, quiet_interval
from stakes.infer.difference import CostDifference, quiet_test
from stakes.infer.methods.normal import standard_error

Limits = Sequence[tuple[float, float]]

DRAWS, FEWEST_DRAWS = 100_000, 20_000
MOST_NUMBERS = 2 * 10**8
"""The largest number of draws times pairs; with more pairs there are fewer draws."""

PAIRS_AT_ONCE = 10


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
        The simultaneous interval: its confidence level is that of all pairs' intervals together.
    p_value, adjusted : float
        The p-value of this comparison alone, and adjusted for the number of comparisons.
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
    """The interface of one of several comparisons."""

    @property
    def names(self) -> tuple[str, str]:
        """The names of the two that are compared."""

    @property
    def difference(self) -> float:
        """The cost of the first minus that of the second."""

    def interval(self, confidence: float) -> Interval:
        """Return the interval of the difference."""


def judged(
    compared: Sequence[Comparison], p: Floats, limits: Limits, alpha: float, adjust: str = "holm"
) -> list[Pair]:
    """Return the comparisons with adjusted p-values, and whether each is rejected at `alpha`."""
    adjusted = holm(p) if adjust == "holm" else p
    return [
        Pair(*each.names, each.difference, low, high, float(one), float(all_), bool(all_ <= alpha))
        for each, (low, high), one, all_ in zip(compared, limits, p, adjusted, strict=True)
    ]


def p_values(compared: Sequence[CostDifference]) -> Floats:
    """Return the unadjusted p-value of each comparison, by its default test."""
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
    """Return Bonferroni's simultaneous intervals: each has an equal share of the error rate."""
    level = 1 - alpha / len(compared)
    # Anyone who asks for several comparisons is warned once, not by each interval.
    intervals = [
        quiet_interval(each, level) if isinstance(each, Inference) else each.interval(level)
        for each in compared
    ]
    return [(each.low, each.high) for each in intervals]


def max_t(compared: Sequence[CostDifference], alpha: float, rng: Any) -> Limits:
    """Return intervals d ± t* s_d of all pairs, t* being the quantile of the largest |t|."""
    first, second, error, spread = covariance(compared)
    values, vectors = np.linalg.eigh(spread)
    root = vectors * np.sqrt(np.maximum(values, 0))
    generator = validate.generator(rng)
    freedom = compared[0].n - 1
    n_draws = min(DRAWS, max(MOST_NUMBERS // len(compared), FEWEST_DRAWS))
    costs = generator.standard_normal((n_draws, len(values))) @ root.T
    # One chi-squared for all t of a draw, since all errors are estimated from the same examples.
    costs /= np.sqrt(generator.chisquare(freedom, (n_draws, 1)) / freedom)
    # Two models that always agree have a standard error of 0, and cannot have the largest t.
    scale = np.where(error > 0, error, np.inf)
    largest = [
        (np.abs(some[:, first] - some[:, second]) / scale).max(axis=1)
        for some in np.array_split(costs, len(compared) // PAIRS_AT_ONCE + 1)
    ]
    factor = float(np.quantile(np.concatenate(largest), 1 - alpha))
    return [
        (each.difference - factor * e, each.difference + factor * e)
        for each, e in zip(compared, error.tolist(), strict=True)
    ]


def covariance(
    compared: Sequence[CostDifference],
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats, Floats]:
    """Return both models and the standard error of each pair, and the models' covariance.

    The covariance is that of the costs minus the cost of the first model, r. It follows from the
    variances v of the differences: cov(a - r, b - r) = [v(a, r) + v(b, r) - v(a, b)]/2.
    """
    names = {name: None for each in compared for name in each.names}
    place = {name: i for i, name in enumerate(names)}
    first, second = np.array([[place[name] for name in each.names] for each in compared]).T
    error = np.array([float(standard_error(outcomes_behind(each))[0]) for each in compared])
    v = np.zeros((len(names), len(names)))
    v[first, second] = v[second, first] = error**2
    return first, second, error, (v[:, :1] + v[:1] - v) / 2


def checked_margin(margin: Any) -> float:
    """Return the margin, the most that a model may cost above a baseline, once checked."""
    most = float(validate.numeric(margin, "margin", ndim=0))
    if not math.isfinite(most):
        raise InputError("margin", f"expected how much more a model may cost, got {most:g}.")
    if most < 0:
        raise InputError(
            "margin", f"expected how much more a model may cost, 0 or more; got {most:g}."
        )
    return most


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Result):
    """The models that pass and the models that fail in comparison with a baseline.

    Made by `Ranking.gate`.

    Attributes
    ----------
    baseline : str
        The model that the others are compared with.
    confidence : float
        Confidence level of the intervals and tests.
    pairs : tuple of Pair
        The comparisons, the cheapest model first; the baseline is the second of each pair.
    margin : float or None
        How much more than the baseline a model may cost per decision.
    tests : tuple of TestResult
        With a margin, the non-inferiority test of each model.
    unit : str
        The unit of the costs.
    unjudged : mapping of str to str
        Models that could not be judged, and why. Where there are any, the gate does not pass.

    Notes
    -----
    Without a margin a model fails if it is shown to cost more than the baseline, with p-values
    adjusted by Holm's method for the number of models. With a margin it passes if it is shown to
    cost less than the baseline plus the margin (a test of non-inferiority).

    Examples
    --------
    >>> from stakes import CostMatrix, compare_many
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> ranking = compare_many([0] * 600 + [1] * 400, {
    ...     "old": [0] * 550 + [1] * 350 + [0] * 100,
    ...     "new": [0] * 500 + [1] * 50 + [0] * 70 + [1] * 380,
    ...     "bad": [0] * 550 + [1] * 250 + [0] * 190 + [1] * 10}, costs)
    >>> gate = ranking.gate("old")
    >>> gate.passed, gate.failures, gate.passes
    (False, ('bad',), ('new',))
    >>> gate
    Gate against old: failed (bad failed; new passed)
    >>> print(gate.summary())
    bad failed; new passed.
    """

    baseline: str
    confidence: float
    pairs: tuple[Pair, ...]
    margin: float | None = None
    tests: tuple[TestResult, ...] = ()
    unit: str = ""
    unjudged: Mapping[str, str] = field(default_factory=dict)

    @property
    def failures(self) -> tuple[str, ...]:
        """The models that fail."""
        if self.margin is not None:
            return tuple(test.names[0] for test in self.tests if not test.rejected)
        return tuple(pair.first for pair in self.pairs if pair.rejected and pair.difference > 0)

    @property
    def passes(self) -> tuple[str, ...]:
        """The models that pass."""
        failures = self.failures
        return tuple(pair.first for pair in self.pairs if pair.first not in failures)

    @property
    def passed(self) -> bool:
        """Whether all models were judged and none fails."""
        return not self.failures and not self.unjudged

    @property
    def rule(self) -> str:
        """The rule for passing, in words."""
        sure = percent(self.confidence)
        if self.margin is not None:
            unit = f" {self.unit}" if self.unit else ""
            return (
                f"a model passes if it is shown, with {sure} confidence, that it costs less than "
                f"{number(self.margin)}{unit} more per decision than {self.baseline}."
            )
        adjusted = f", p-values adjusted for {len(self.pairs)} models" if self.pairs[1:] else ""
        return (
            f"a model fails if it is shown, with {sure} confidence{adjusted}, that it costs more "
            f"than {self.baseline}."
        )

    def summary(self) -> str:
        """Summarise which models fail, which pass, and which could not be judged.

        Returns
        -------
        str
            A sentence for each part.
        """
        parts = [(self.failures, "failed"), (self.passes, "passed")]
        found = "; ".join(f"{', '.join(names)} {what}" for names, what in parts if names)
        sentences = [f"{found}."] if found else []
        sentences += [f"Could not judge {name}: {why}." for name, why in self.unjudged.items()]
        return " ".join(sentences)

    def __repr__(self) -> str:
        answer = "passed" if self.passed else "failed"
        if self.unjudged:
            answer = "could not judge"
        return f"Gate against {self.baseline}: {answer} ({self.summary()[:-1]})"

    def to_dict(self) -> dict[str, Any]:
        """Return the gate as plain values.

        Returns
        -------
        dict
            The rule, the models that fail, whether all passed, and the comparisons behind it.
        """
        return {
            "rule": self.rule,
            "failures": list(self.failures),
            "passed": self.passed,
            "judged": [pair.first for pair in self.pairs],
            "unjudged": dict(self.unjudged),
            "baseline": self.baseline,
            "margin": self.margin,
            "confidence": self.confidence,
            "unit": self.unit,
            "pairs": [asdict(pair) for pair in self.pairs],
            "tests": [test.to_dict() for test in self.tests],
        }

    def to_frame(self) -> Any:
        """Return the comparisons as a pandas data frame.

        Returns
        -------
        DataFrame
            With a row for each model, the attributes of the comparison, and whether it passes.

        Examples
        --------
        >>> from stakes import CostMatrix, compare_many
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> ranking = compare_many([0] * 600 + [1] * 400, {
        ...     "old": [0] * 550 + [1] * 350 + [0] * 100,
        ...     "new": [0] * 500 + [1] * 50 + [0] * 70 + [1] * 380,
        ...     "bad": [0] * 550 + [1] * 250 + [0] * 190 + [1] * 10}, costs)
        >>> ranking.gate("old").to_frame()[["first", "passes"]]
          first  passes
        0   new    True
        1   bad   False
        """
        passes = self.passes
        return data_frame([asdict(pair) | {"passes": pair.first in passes} for pair in self.pairs])

    def _repr_html_(self) -> str:
        rows = [
            [
                pair.first,
                number(pair.difference),
                "failed" if pair.first in self.failures else "passed",
            ]
            for pair in self.pairs
        ]
        header = ["model", f"cost minus that of {self.baseline}", "gate"]
        return html_table(header, rows, caption=f"Gate: {self.rule}")
