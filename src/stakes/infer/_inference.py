"""Intervals and distributions of whatever has outcomes and a design."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Self

from stakes._core import validate
from stakes._core.text import number, percent
from stakes._core.typing import Floats
from stakes._core.warn import warn
from stakes.errors import ConstantCostWarning, DesignError, InputError, InputTypeError
from stakes.infer._outcomes import Design, Outcomes
from stakes.infer._probability.distribution import CostDistribution
from stakes.infer.methods import METHODS
from stakes.infer.methods.exact import distributions

# The interval that every method returns.


@dataclass(frozen=True)
class Interval:
    """A confidence interval for an expected cost or a difference of two.

    Attributes
    ----------
    low, high : float
        The limits.
    confidence : float
        How sure they are meant to be.
    method : str
        The method that gave them; for ``"auto"``, the one that was chosen.

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

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """The distance between the limits."""
        return self.high - self.low

    def times(self, volume: float) -> Interval:
        """Return the interval for the total of `volume` decisions.

        Parameters
        ----------
        volume : float
            The number of decisions.

        Returns
        -------
        Interval
            With both limits multiplied.

        Examples
        --------
        >>> from stakes import Interval
        >>> Interval(0.1, 0.75, confidence=0.95, method="extremal").times(1000)
        Interval(low=100.0, high=750.0, confidence=0.95, method='extremal')
        """
        low, high = sorted((self.low * volume, self.high * volume))
        return replace(self, low=low, high=high)

    def summary(self) -> str:
        """Write the interval out.

        Returns
        -------
        str
            The limits and the confidence.
        """
        return f"{number(self.low)} to {number(self.high)} ({percent(self.confidence)} confidence)"

    def to_dict(self) -> dict[str, Any]:
        """Return the interval as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return {
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "method": self.method,
        }


# Check what is asked of an interval, and let the method answer.

AUTOMATIC = ("exact", "extremal")
"""The methods that "auto" chooses from."""


def limits(
    outcomes: Outcomes, confidence: float, method: str, options: dict[str, Any]
) -> tuple[Floats, Floats]:
    """Return the limits of a method for each table."""
    alpha = validate.alpha(confidence)
    if method not in METHODS:
        raise InputError(
            f"method: expected one of {', '.join(map(repr, ['auto', *METHODS]))}; got {method!r}."
        )
    module = METHODS[method]
    check_design(method, outcomes.design)
    check_options(options, f"the method {method!r}", option_names(module.limits, 2))
    if outcomes.lowest == outcomes.highest:
        warn(
            f"all possible outcomes cost the same, {outcomes.lowest:g}: the interval has no width.",
            ConstantCostWarning,
        )
        return outcomes.mean, outcomes.mean
    low, high = module.limits(outcomes, alpha, **options)
    return low, high


def option_names(function: Callable[..., Any], positional: int) -> list[str]:
    """Return the names of a function's parameters after the first few."""
    return list(inspect.signature(function).parameters)[positional:]


def check_options(options: dict[str, Any], what: str, known: list[str]) -> None:
    """Raise when an option is not among those known, and name these."""
    for name in options:
        if name not in known:
            takes = f"it takes {', '.join(known)}" if known else "it takes none"
            raise InputTypeError(f"{name}: {what} has no such option; {takes}.")


def options_for(method: str, options: dict[str, Any], laplace: float) -> dict[str, Any]:
    """Return what a method takes of the options for "auto", which must be known to one of them."""
    able = {name: option_names(METHODS[name].limits, 2) for name in AUTOMATIC}
    check_options(options, "the method 'auto'", sorted({*able["exact"], *able["extremal"]}))
    return with_laplace(
        method, {name: value for name, value in options.items() if name in able[method]}, laplace
    )


def with_laplace(method: str, options: dict[str, Any], laplace: float) -> dict[str, Any]:
    """Add the Laplace correction to the options of a method that takes one."""
    return {"laplace": laplace} | options if takes(method, "laplace") else options


def takes(method: str, option: str) -> bool:
    """Tell whether a method has an option."""
    return method in METHODS and option in option_names(METHODS[method].limits, 2)


def check_design(method: str, design: str) -> None:
    """Raise when a method cannot treat a design, and name those that can."""
    if design not in METHODS[method].DESIGNS:
        able = [name for name, module in METHODS.items() if design in module.DESIGNS]
        raise DesignError(
            f"method: {method!r} cannot treat the design {design!r}; "
            f"these can: {', '.join(map(repr, able))}."
        )


DESIGN_OPTIONS = ("class_priors", "strata", "impossible")


class Inference(ABC):
    """What an estimate and a difference have in common."""

    design: Design

    @abstractmethod
    def outcomes(self) -> Outcomes:
        """Return the possible outcomes of a decision and how often each came.

        Returns
        -------
        Outcomes
            The distinct costs, their counts and the design, which is what the methods work on.
        """

    @abstractmethod
    def default_method(self) -> str:
        """Return the method that "auto" stands for.

        Returns
        -------
        str
            Its name.
        """

    @abstractmethod
    def default_laplace(self) -> float:
        """Return the λ of the methods that take one.

        Returns
        -------
        float
            λ.
        """

    def interval(self, confidence: float = 0.95, method: str = "auto", **options: Any) -> Interval:
        """Return a confidence interval for the mean per decision.

        Parameters
        ----------
        confidence : float, default 0.95
            How sure the interval is to be.
        method : str, default "auto"
            "auto", "extremal", "bcost", "exact", "normal", "t", "bca", "dirichlet", "likelihood",
            "guaranteed" or "anytime"; see the page on choosing a method.
        **options
            What the method takes: ``weight`` and ``conservative`` (extremal), ``laplace`` (bcost,
            exact), ``n_resamples`` and ``rng`` (bcost). And what describes the design:
            ``class_priors``, ``strata``, ``impossible``.

        Returns
        -------
        Interval
            The limits, the confidence and the method that was used.

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
            that are drawn with the probabilities (M + λ)/(n + K²λ). For two classifiers, with their
            joint counts and λ = 0, it is BDELTACOST.
        "exact"
            The α/2 and 1 - α/2 quantiles in the limit of N → ∞, by convolution.
        "normal", "t"
            mean ± z s/√n, and the same with Student's quantile.
        "bca"
            Efron's bias-corrected and accelerated bootstrap.
        "dirichlet"
            Quantiles of Σ D·C with D ~ Dirichlet(M + 1/cells).
        "likelihood"
            All means whose empirical likelihood ratio, over all possible costs, passes a χ² test.
        "guaranteed", "anytime"
            All means against which betting has not multiplied the fortune by 2/α; the latter at all
            sizes of the test set at once.

        References
        ----------
        Margineantu, D. D. & Dietterich, T. G. (2000). Bootstrap methods for the cost-sensitive
        evaluation of classifiers. *ICML 2000*, section 3 and Table 2.

        Learned-Miller, E. & Thomas, P. S. (2019). A new confidence interval for the mean of a
        bounded random variable. arXiv:1905.06208.

        Phan, M., Thomas, P. S. & Learned-Miller, E. (2021). Towards practical mean bounds for small
        samples. *ICML 2021*.

        Waudby-Smith, I. & Ramdas, A. (2024). Estimating means of bounded random variables by
        betting. *Journal of the Royal Statistical Society B* 86.

        Efron, B. (1987). Better bootstrap confidence intervals. *Journal of the American
        Statistical Association* 82, 171-185.

        Owen, A. B. (1988). Empirical likelihood ratio confidence intervals for a single functional.
        *Biometrika* 75, 237-249.

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

        That of the paper, and its limit of infinitely many resamples:

        >>> low, high = estimate.interval(method="bcost", rng=0)
        >>> round(low, 4), round(high, 4)
        (0.06, 0.6)
        >>> estimate.interval(method="exact")
        Interval(low=0.06, high=0.61, confidence=0.95, method='exact')

        Where one in a hundred is a 1:

        >>> low, high = estimate.interval(0.9, class_priors={0: 0.99, 1: 0.01})
        >>> round(low, 4), round(high, 4)
        (0.0746, 0.2344)
        """
        this = self.with_design(options)
        chosen = this.chosen_method(method, options)
        suit = options_for if method == "auto" else with_laplace
        settings = suit(chosen, options, this.default_laplace())
        low, high = limits(this.outcomes(), confidence, chosen, settings)
        return Interval(float(low[0]), float(high[0]), float(confidence), chosen)

    def chosen_method(self, method: str, options: dict[str, Any]) -> str:
        """Return the method to use; who asks for the conservative interval gets the extremal.

        Parameters
        ----------
        method : str
            A method, or "auto".
        options : dict
            What was asked for.

        Returns
        -------
        str
            The name of the method.
        """
        if method != "auto":
            return method
        return "extremal" if options.get("conservative") else self.default_method()

    def distribution(self, laplace: Any = None, **options: Any) -> CostDistribution:
        """Return the exact bootstrap distribution of the mean per decision.

        Parameters
        ----------
        laplace : float, array_like or "auto", optional
            The Laplace correction; by default that of the interval method "exact".
        **options
            What describes the design: ``class_priors``, ``strata``, ``impossible``.

        Returns
        -------
        CostDistribution
            The distribution.

        Notes
        -----
        The total is a sum of n independent draws from the distinct costs c, whose probabilities are
        p = (M + λ)/(n + K²λ) as in BCOST, so its law is the n-fold convolution of theirs.

        References
        ----------
        Margineantu, D. D. & Dietterich, T. G. (2000). Bootstrap methods for the cost-sensitive
        evaluation of classifiers. *ICML 2000*, Table 2.

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> estimate = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
        >>> distribution = estimate.distribution()
        >>> round(distribution.mean, 4), round(distribution.sf(0.5), 4)
        (0.2898, 0.0856)
        """
        this = self.with_design(options)
        if options:
            raise InputTypeError(f"{next(iter(options))}: distribution has no such option.")
        outcomes = this.outcomes()
        check_design("exact", outcomes.design)
        given = this.default_laplace() if laplace is None else laplace
        return distributions(outcomes, given, 0.05)[0]

    def with_design(self, options: dict[str, Any]) -> Self:
        """Take what describes the design out of `options`, and return the same with that design.

        Parameters
        ----------
        options : dict
            Options by name, from which ``class_priors``, ``strata`` and ``impossible`` are taken.

        Returns
        -------
        CostEstimate or CostDifference
            With the design that they describe.
        """
        given = {name: options.pop(name) for name in DESIGN_OPTIONS if name in options}
        if not given:
            return self
        return replace(self, design=replace(self.design, **given))  # type: ignore[type-var]
