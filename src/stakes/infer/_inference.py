"""Confidence intervals, tests and bootstrap distributions of estimates and differences."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from numbers import Real
from typing import Any, Self

import numpy as np

from stakes._core import validate
from stakes._core.text import html_values, number, percent
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.errors import (
    ConstantCostWarning,
    DesignError,
    InputError,
    NotClaimedWarning,
    warn,
)
from stakes.infer._outcomes import Design, Outcomes, Stratum
from stakes.infer._probability.distribution import CostDistribution
from stakes.infer.methods import (
    METHODS,
    IntervalMethod,
    exact,
    extremal,
    names_of_intervals,
    names_of_tests,
)

# Results of the methods: intervals and tests.


@dataclass(frozen=True, eq=False)
class Interval(Result):
    """A confidence interval for an expected cost or a difference of two.

    Attributes
    ----------
    low, high : float
        The limits.
    confidence : float
        The confidence level.
    method : str
        The method of the limits.
    error : float
        The distance by which the limits were moved outwards because the method "exact" could not be
        computed exactly; 0 where it could, and for all other methods.
    caution : str
        Why the confidence is not claimed, where it is not.

    Examples
    --------
    >>> from stakes import Confusion, CostEstimate, CostMatrix
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> low, high = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs).interval()
    >>> round(low, 3), round(high, 3)
    (0.093, 0.739)
    """

    low: float
    high: float
    confidence: float
    method: str
    error: float = field(default=0.0, repr=False)
    caution: str = field(default="", repr=False)

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """The distance between the limits."""
        return self.high - self.low

    def _repr_html_(self) -> str:
        values = {
            "low": self.low,
            "high": self.high,
            "confidence": percent(self.confidence),
            "method": self.method,
        }
        return html_values(values, self.summary())

    def times(self, volume: float) -> Interval:
        """Return the interval for the total of `volume` decisions.

        Parameters
        ----------
        volume : float
            The number of decisions.

        Returns
        -------
        Interval
            The interval with both limits multiplied by `volume`.

        Examples
        --------
        >>> from stakes.infer import Interval
        >>> Interval(0.1, 0.75, confidence=0.95, method="extremal").times(1000)
        Interval(low=100.0, high=750.0, confidence=0.95, method='extremal')
        """
        low, high = sorted((self.low * volume, self.high * volume))
        return replace(self, low=low, high=high, error=self.error * abs(volume))

    def summary(self) -> str:
        """Return the interval as text.

        Returns
        -------
        str
            The limits and the confidence.
        """
        room = f", computed to within ±{self.error:.2g}" if self.error else ""
        sure = f"{percent(self.confidence)} confidence"
        claim = f"; {self.caution}" if self.caution else ""
        return f"{number(self.low)} to {number(self.high)} ({sure}{room}{claim})"

    def to_dict(self) -> dict[str, Any]:
        """Return the interval as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return asdict(self)


@dataclass(frozen=True, eq=False)
class TestResult(Result):
    """Result of a test.

    Attributes
    ----------
    statistic : float
        The observed difference minus the margin.
    p_value : float
        The smallest error rate at which the hypothesis would be rejected.
    rejected : bool
        Whether the hypothesis is rejected at the given confidence level.
    method, alternative, margin, confidence
        The method, alternative, margin and confidence level of the test.
    names : pair of str
        The classifiers.
    caution : str
        Why the confidence is not claimed, where it is not.
    error : float
        The largest error, in cost, of the bootstrap distribution where the method "exact" could not
        be computed exactly: the p-value is then the largest that it can be. Otherwise 0.

    Examples
    --------
    >>> from stakes import CostDifference, CostMatrix, PairedConfusion
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> paired = PairedConfusion([[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])
    >>> difference = CostDifference(paired, costs, names=("tree", "forest"))
    >>> result = difference.test(method="exact")
    >>> result.rejected, round(result.p_value, 4), round(result.statistic, 4)
    (False, 0.2448, 0.26)
    >>> print(result.summary())
    tree and forest differ in cost: not shown at 95% confidence (p = 0.245, exact).
    """

    statistic: float
    p_value: float
    rejected: bool
    method: str
    alternative: str
    margin: float
    confidence: float
    names: tuple[str, str] = ("first", "second")
    error: float = field(default=0.0, repr=False)
    caution: str = field(default="", repr=False)

    __test__ = False  # so that pytest does not collect the class

    def _repr_html_(self) -> str:
        values = {
            f"{self.names[0]} minus {self.names[1]}, beyond the margin": self.statistic,
            "margin": self.margin,
            "p": f"{self.p_value:.3g}",
            "shown": self.rejected,
            "alternative": self.alternative,
            "confidence": percent(self.confidence),
            "method": self.method,
        }
        return html_values(values, self.summary())

    def summary(self) -> str:
        """Return the result of the test in words.

        Returns
        -------
        str
            A sentence.
        """
        first, second = self.names
        claim = {
            "two-sided": f"{first} and {second} differ in cost",
            "less": f"{first} costs less than {second}",
            "greater": f"{first} costs more than {second}",
        }[self.alternative]
        if self.margin:
            claim = {
                "two-sided": f"the difference of {first} and {second} is not {self.margin:g}",
                "less": f"{first} costs less than {self.margin:g} more than {second}",
                "greater": f"{first} costs more than {self.margin:g} more than {second}",
            }[self.alternative]
        verdict = "shown" if self.rejected else "not shown"
        sure = f"{percent(self.confidence)} confidence"
        if self.error:  # the bootstrap distribution is not exact, so "exact" would be wrong
            p = f"p at most {self.p_value:.3g}, bootstrap to within ±{self.error:.2g}"
        else:
            p = f"p = {self.p_value:.3g}, {self.method}"
        not_claimed = f" Caution: {self.caution}." if self.caution else ""
        return f"{claim}: {verdict} at {sure} ({p}).{not_claimed}"

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        result = asdict(self) | {"names": list(self.names)}
        return {
            name: value
            for name, value in result.items()
            if value or name not in ("error", "caution")
        }


@dataclass(frozen=True, eq=False)
class Worth(Result):
    """The worth of strata: how many labels of a simple random sample would be as informative.

    Attributes
    ----------
    labels : int
        The number of rows with labels.
    equal : float
        The size of the simple random sample whose upper limit would be as far from the estimate;
        for a difference, the one whose interval would be as wide.

    Examples
    --------
    >>> from stakes.infer import Worth
    >>> print(Worth(410, 642.3).summary())
    As good as 642 labels at random; 410 were given.
    """

    labels: int
    equal: float

    def summary(self) -> str:
        """Return the worth of the strata in words.

        Returns
        -------
        str
            A sentence.
        """
        if self.equal < NOTHING_GAINED * self.labels:
            return f"No better than as many labels at random; {number(self.labels)} were given."
        equal = number(round(float(f"{self.equal:.3g}")))
        return f"As good as {equal} labels at random; {number(self.labels)} were given."

    def to_dict(self) -> dict[str, Any]:
        """Return the worth as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return asdict(self)


NOTHING_GAINED = 1.02

DEFAULT = extremal.METHOD.name
"""The method of intervals and tests, for every design and all counts (STATISTICS §11)."""


def with_laplace(method: str, options: Mapping[str, Any], laplace: float) -> dict[str, Any]:
    """Add the Laplace correction to the options of a method that takes one."""
    return {"laplace": laplace, **options} if takes(method, "laplace") else dict(options)


def takes(method: str, option: str) -> bool:
    """Tell whether an interval method has an option."""
    return method in METHODS and option in METHODS[method].options


# Validation of requests, and calls of the methods.

SMALLEST = 1e-12
"""Smallest p-value returned: the precision to which the distributions are computed."""


def limits(
    outcomes: Outcomes, confidence: float, method: str, options: Mapping[str, Any]
) -> tuple[Floats, Floats]:
    """Return the limits of a method for each table."""
    alpha = validate.alpha(confidence)
    entry = _entry(method)
    if entry is None or entry.limits is None:
        raise no_such_method(method, names_of_intervals())
    if outcomes.design not in entry.designs:
        raise _no_such_design(method, outcomes.design, names_of_intervals())
    if entry.needs_bounds and not outcomes.bounded:
        raise InputError(
            "high",
            f"{method!r} holds only if the most that an example can cost is known; the largest "
            "seen is not that.",
            "Give it to CostSample or ExampleCosts.",
        )
    validate.options(options, f"the method {method!r}", entry.options)
    if outcomes.lowest == outcomes.highest:  # nothing varies, whatever the counts
        return outcomes.mean, outcomes.mean
    return entry.limits(outcomes, alpha, **options)


def warn_if_constant(outcomes: Outcomes) -> None:
    """Warn where all possible outcomes cost the same, so that an interval has no width."""
    if outcomes.lowest == outcomes.highest:
        warn(
            f"all possible outcomes cost the same, {outcomes.lowest:g}: the interval has no width.",
            ConstantCostWarning,
        )


def _error_of(sides: Any) -> float:
    """Return the largest error, in cost, of the distribution behind two limits or tails."""
    return float(getattr(sides, "error", 0.0))


def warn_if_not_claimed(outcomes: Outcomes) -> None:
    """Warn where the confidence is not claimed."""
    if outcomes.caution:
        warn(f"{outcomes.caution}.", NotClaimedWarning)


def p_values(
    outcomes: Outcomes,
    method: str,
    *,
    alternative: str = "two-sided",
    margin: Any = 0.0,
    confidence: float = 0.95,
    options: Mapping[str, Any] | None = None,
) -> tuple[Floats, float]:
    """Return the p-values of a method's test for each table, and the error of the method.

    Only methods whose tails depend on the confidence use it.
    """
    alpha = validate.alpha(confidence)
    validate.choice(alternative, "alternative", ("two-sided", "less", "greater"))
    entry = _entry(method)
    if entry is None or entry.tails is None:
        raise no_such_method(method, names_of_tests())
    if not isinstance(margin, Real) or not np.isfinite(float(margin)):
        raise InputError("margin", f"expected a finite number, got {margin!r}.")
    if outcomes.design not in entry.designs:
        raise _no_such_design(method, outcomes.design, names_of_tests())
    given, at = dict(options or {}), float(margin)
    validate.options(given, f"the test {method!r}", entry.test_options)
    if alternative != "two-sided" and entry.one_sided is not None:
        given = entry.one_sided(given)
    if outcomes.lowest == outcomes.highest:  # nothing varies, whatever the counts, as in `limits`
        greater, less = (outcomes.mean <= at) * 1.0, (outcomes.mean >= at) * 1.0
        error = 0.0
    else:
        tails = entry.tails(outcomes, at, alpha, **given)
        (greater, less), error = tails, _error_of(tails)
    each = {"two-sided": 2 * np.minimum(greater, less), "less": less, "greater": greater}
    return np.asarray(np.clip(each[alternative], SMALLEST, 1.0)), error


def run_test(
    outcomes: Outcomes,
    method: str,
    *,
    alternative: str,
    margin: Any,
    confidence: float,
    names: tuple[str, str],
    options: Mapping[str, Any],
) -> TestResult:
    """Return the result of a method's test on the first table."""
    found, error = p_values(
        outcomes,
        method,
        alternative=alternative,
        margin=margin,
        confidence=confidence,
        options=options,
    )
    p_value = float(found[0])
    return TestResult(
        statistic=float(outcomes.mean[0]) - float(margin),
        p_value=p_value,
        rejected=p_value <= validate.alpha(confidence),
        method=method,
        alternative=alternative,
        margin=float(margin),
        confidence=confidence,
        names=names,
        error=error,
        caution=outcomes.caution,
    )


def _entry(method: Any) -> IntervalMethod | None:
    return METHODS.get(method) if isinstance(method, str) else None


def no_such_method(method: Any, known: list[str]) -> InputError:
    """Return the error for an unknown method, which names the known ones."""
    names = ", ".join(map(repr, known))
    return InputError("method", f"expected one of {names}; got {method!r}.")


def _no_such_design(method: str, design: str, known: list[str]) -> DesignError:
    """Return the error for a design that a method does not support, which names those that do."""
    able = ", ".join(repr(name) for name in known if design in METHODS[name].designs)
    return DesignError(
        "method", f"{method!r} cannot treat the design {design!r}; these can: {able}."
    )


MOST_TIMES, ALMOST, STEPS = 1000.0, 0.999, 24
"""Bounds of the worth of strata, as a multiple of the labels and as a share of the rows, and the
number of bisection steps in its search."""

DESIGN_OPTIONS = ("class_priors", "strata", "impossible", "population")


class Inference(ABC):
    """Base class of cost estimates and cost differences."""

    design: Design

    @abstractmethod
    def _build_outcomes(self) -> Outcomes:
        """Return the possible outcomes of a decision and how often each was observed."""

    @property
    @abstractmethod
    def _laplace(self) -> float:
        """The default Laplace correction λ of the methods that take one."""

    @cached_property
    def _outcomes(self) -> Outcomes:
        """The outcomes that the methods work on; built once, because every method needs them."""
        return self._build_outcomes()

    @abstractmethod
    def _as_one_stratum(self) -> Stratum:
        """Return the outcomes as those of a simple random sample of the same number of rows."""

    def _breadth(self, limits: tuple[float, float]) -> float:
        """Return how precise an interval is: the distance of its upper limit from the estimate."""
        return limits[1] - float(self._outcomes.mean[0])

    @cached_property
    def worth(self) -> Worth:
        """How many labels at random the strata, such as a judge's verdicts, are worth.

        Examples
        --------
        >>> from stakes import CostMatrix, evaluate
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> y_true = [0] * 90 + [1] * 10 + [None] * 900
        >>> y_pred, verdicts = [0] * 1000, ([0] * 90 + [1] * 10) * 10
        >>> print(evaluate(y_true, y_pred, costs, judge=verdicts).worth.summary())
        As good as 356 labels at random; 100 were given.
        """
        outcomes = self._outcomes
        if outcomes.design not in ("stratified", "finite") or len(outcomes.strata) < 2:  # noqa: PLR2004
            raise DesignError("strata", "what they are worth needs rows in several strata.")
        whole = self._as_one_stratum()
        n = sum(float(each.n[0]) for each in outcomes.strata[: self._counted_strata])
        rows = n + sum(each.left for each in outcomes.strata[: self._counted_strata])
        found = self._interval(0.95, DEFAULT, {})
        goal = self._breadth((found.low, found.high))

        def arm(labels: float) -> float:
            share = labels / rows if np.isfinite(rows) else 0.0
            counts = whole.counts * (labels / n)
            one = replace(whole, counts=counts, labelled=share, left=rows - labels)
            low, high = extremal.limits(Outcomes((one,), outcomes.design), 0.05)
            return self._breadth((float(low[0]), float(high[0])))

        most = min(n * MOST_TIMES, rows * ALMOST)
        low, high = np.log(min(max(n / MOST_TIMES, 2.0), most)), np.log(most)
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (middle, high) if arm(float(np.exp(middle))) > goal else (low, middle)
        return Worth(round(n), float(np.exp((low + high) / 2)))

    @property
    def _counted_strata(self) -> int:
        """Number of strata that hold rows: all but the one for the sampling error of the shares."""
        return len(self._outcomes.strata) - (self.design.rows_counted is not None)

    @property
    def caution(self) -> str:
        """Why the confidence is not claimed, in a few words; empty if it is."""
        return self._outcomes.caution

    def __getstate__(self) -> dict[str, Any]:
        # Pickles and copies hold only the fields; cached results are computed again.
        return {each.name: getattr(self, each.name) for each in fields(self)}  # type: ignore[arg-type]

    def interval(self, confidence: float = 0.95, method: str = DEFAULT, **options: Any) -> Interval:
        """Return a confidence interval for the mean per decision.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence level.
        method : str, default "extremal"
            "extremal", "bcost", "exact", "normal", "t", "bca", "dirichlet", "likelihood",
            "guaranteed" or "anytime"; see the page on choosing a method.
        **options
            Options of the method: ``weight`` and ``conservative`` (extremal), ``laplace`` (bcost,
            exact), ``n_resamples`` and ``rng`` (bcost). And options of the design:
            ``class_priors``, ``strata``, ``impossible``.

        Returns
        -------
        Interval
            The limits, the confidence and the method used.

        Notes
        -----
        With M the counts of the cells, C their costs (for two classifiers, differences of costs), n
        examples, α one minus the confidence and D a random vector of shares:

        "extremal"
            The upper limit is the 1 - α/2 quantile of Σ D·C with D ~ Dirichlet(M + w·e), e being
            the costliest possible cell; the lower limit the α/2 quantile with e the cheapest.
            ``weight`` is w, 0.7 by default; with w = 1 it is Gaffke's bound for the mean of a
            bounded variable, and for two outcomes Clopper & Pearson's interval.
        "bcost"
            The costs of rank ⌊α/2 · N⌋ + 1 from either end, among those of N matrices of counts
            resampled with the probabilities (M + λ)/(n + K²λ). For two classifiers, with their
            joint counts and λ = 0, it is BDELTACOST.
        "exact"
            The α/2 and 1 - α/2 quantiles in the limit of N → ∞, by convolution. Where costs without
            a common step have too many combinations to be exact, the limits are moved outwards by
            the `error` of the interval.
        "normal", "t"
            mean ± z s/√n, and the same with Student's quantile.
        "bca"
            Efron's bias-corrected and accelerated bootstrap.
        "dirichlet"
            Quantiles of Σ D·C with D ~ Dirichlet(M + 1/cells).
        "likelihood"
            All means whose empirical likelihood ratio, over all possible costs, passes a χ² test.
        "guaranteed", "anytime"
            All means against which betting has not multiplied the fortune by 2/α; the latter is
            valid at all sizes of the test set at once.

        References
        ----------
        Margineantu & Dietterich (2000), section 3 and Table 2.

        Learned-Miller & Thomas (2019).

        Phan et al. (2021).

        Waudby-Smith & Ramdas (2024).

        Efron (1987).

        Owen (1988).

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> estimate = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
        >>> estimate.cost
        0.28
        >>> low, high = estimate.interval()
        >>> round(low, 4), round(high, 4)
        (0.093, 0.7385)

        The interval of the paper, and its limit of infinitely many resamples:

        >>> low, high = estimate.interval(method="bcost", rng=0)
        >>> round(low, 4), round(high, 4)
        (0.06, 0.6)
        >>> estimate.interval(method="exact")
        Interval(low=0.06, high=0.61, confidence=0.95, method='exact')

        With a prevalence of 1% of the class 1:

        >>> low, high = estimate.interval(0.9, class_priors={0: 0.99, 1: 0.01})
        >>> round(low, 4), round(high, 4)
        (0.0746, 0.2332)
        """
        this, settings = self._with_design(options)
        if this is not self:
            return this.interval(confidence, method, **settings)
        found = self._interval(confidence, method, settings)
        warn_if_constant(self._outcomes)
        warn_if_not_claimed(self._outcomes)
        return found

    def _interval(self, confidence: float, method: str, options: Mapping[str, Any]) -> Interval:
        """Return an interval without any warning."""
        settings = with_laplace(method, options, self._laplace)
        ends = limits(self._outcomes, confidence, method, settings)
        low, high = (float(end[0]) for end in ends)
        caution = self._outcomes.caution
        return Interval(low, high, float(confidence), method, _error_of(ends), caution)

    def distribution(self, laplace: Any = None, **options: Any) -> CostDistribution:
        """Return the exact bootstrap distribution of the mean per decision.

        Parameters
        ----------
        laplace : float, array_like or "auto", optional
            The Laplace correction; by default that of the interval method "exact".
        **options
            Options of the design: ``class_priors``, ``strata``, ``impossible``.

        Returns
        -------
        CostDistribution
            The distribution.

        Notes
        -----
        The total is a sum of n independent draws from the distinct costs c, whose probabilities are
        p = (M + λ)/(n + K²λ) as in BCOST, so its distribution is the n-fold convolution of theirs.

        References
        ----------
        Margineantu & Dietterich (2000), Table 2.

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> estimate = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
        >>> distribution = estimate.distribution()
        >>> round(distribution.mean, 4), round(distribution.sf(0.5), 4)
        (0.2898, 0.0856)
        """
        this, others = self._with_design(options)
        validate.options(others, "distribution", ("laplace", *DESIGN_OPTIONS))
        if this is not self:
            return this.distribution(laplace)
        outcomes = self._outcomes
        if outcomes.design not in exact.METHOD.designs:
            raise _no_such_design(exact.METHOD.name, outcomes.design, names_of_intervals())
        given = self._laplace if laplace is None else laplace
        return exact.distributions(outcomes, given, 0.05).one(0)

    def _with_design(self, options: Mapping[str, Any]) -> tuple[Self, dict[str, Any]]:
        """Return this result under the design that the options describe, and the other options."""
        given = {name: value for name, value in options.items() if name in DESIGN_OPTIONS}
        others = {name: value for name, value in options.items() if name not in DESIGN_OPTIONS}
        if not given:
            return self, others
        return replace(self, design=replace(self.design, **given)), others  # type: ignore[type-var]


def outcomes_behind(result: Inference) -> Outcomes:
    """Return the outcomes that an estimate or a difference was computed from."""
    return result._outcomes  # noqa: SLF001 - for other modules of this package


def quiet_interval(result: Inference, confidence: float) -> Interval:
    """Return the default interval of an estimate or a difference without a warning."""
    return result._interval(confidence, DEFAULT, {})  # noqa: SLF001 - for other modules of this package
