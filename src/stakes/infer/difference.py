"""The difference of two classifiers' expected costs, with intervals and tests."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.text import compared_costs, html_values, number, percent
from stakes.costs import CostMatrix
from stakes.counts import CostSample, GroupedConfusion, JointConfusion, PairedConfusion
from stakes.errors import DesignError, InputTypeError, StakesWarning
from stakes.infer._design import outcomes_of
from stakes.infer._inference import (
    DEFAULT,
    Inference,
    TestResult,
    quiet_interval,
    run_test,
    warn_if_not_claimed,
)
from stakes.infer._outcomes import (
    SIMPLE,
    CountTable,
    Design,
    Outcomes,
    Stratum,
    cost_differences,
    make_stratum,
    possible_cells,
    simple_outcomes,
)
from stakes.infer._shares import cell_shares, shares_of
from stakes.infer.estimate import CostEstimate


@dataclass(frozen=True, repr=False)
class CostDifference(Inference):
    """The expected cost of a first classifier minus that of a second, on the same examples.

    Parameters
    ----------
    paired : PairedConfusion, GroupedConfusion or JointConfusion (of two), or CostSample
        The joint counts of both classifiers' decisions; or the differences of their costs.
    costs : CostMatrix or None
        The costs; None for a CostSample.
    names : pair of str
        The names of the classifiers.
    design : Design, optional
        Known class priors, strata, impossible cells.
    unit : str, optional
        The unit of the costs.

    Notes
    -----
    The difference per decision is Σ M(i1, i2, j) Δ(i1, i2, j)/n with Δ(i1, i2, j) = C(i1, j) -
    C(i2, j), M being the joint counts of both. BDELTACOST takes percentiles of it over resampled
    counts, and calls the classifiers different when 0 lies outside them. It is
    ``test(method="bdeltacost")``; ``"exact"`` is the same without Monte Carlo error.

    References
    ----------
    Margineantu & Dietterich (2000), section 3.2.

    Margineantu (2001), Table 5.2.

    Examples
    --------
    >>> from stakes import CostDifference, CostMatrix, PairedConfusion
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> paired = PairedConfusion(
    ...     [[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])
    >>> difference = CostDifference(paired, costs, names=("tree", "forest"))
    >>> difference.difference
    0.26
    >>> difference.interval(method="exact")
    Interval(low=-0.15, high=0.73, confidence=0.95, method='exact')
    >>> difference.test(method="exact").p_value
    0.2448...
    """

    paired: CountTable
    costs: CostMatrix | None = None
    names: tuple[str, str] = ("first", "second")
    design: Design = SIMPLE
    unit: str = ""

    def __post_init__(self) -> None:
        validate.text(self.unit, "unit")
        if isinstance(self.paired, CostSample) != (self.costs is None):
            raise InputTypeError(
                "costs", "expected a CostMatrix for counts, and None for a CostSample."
            )
        object.__setattr__(self, "names", validate.two_names(self.names))
        _ = self._outcomes  # raises when the labels do not agree, or the design does not fit

    def _build_outcomes(self) -> Outcomes:
        if self.costs is None:
            return outcomes_of(self.paired, None, self.design)
        sparse = isinstance(self.paired, JointConfusion)
        table = self.paired if isinstance(self.paired, JointConfusion) else self._table()
        values = self.costs.values_for(table.labels, table.decisions)
        scale = float(np.abs(values).max())
        given = self.paired, values if sparse else cost_differences(values), self.design, scale
        return simple_outcomes(*given) or outcomes_of(*given)

    def _as_one_stratum(self) -> Stratum:
        if isinstance(self.paired, CostSample):
            table = self.paired
            counts = table.n * shares_of(table, self.design)
            return make_stratum([*table.values, table.low, table.high], [*counts, 0.0, 0.0])
        values = self._matrix().values_for(self._table().labels, self._table().decisions)
        shares = cell_shares(self.paired, self.design)
        possible = possible_cells(self._table(), self.design.impossible)
        costs = cost_differences(values)
        return make_stratum(costs, float(self.n) * shares, possible=possible)

    def _breadth(self, limits: tuple[float, float]) -> float:
        return limits[1] - limits[0]

    @property
    def _laplace(self) -> float:
        """The paper's λ for differences, 0."""
        return 0.0

    @property
    def n(self) -> Any:
        """The number of examples."""
        return self.paired.n

    @property
    def difference(self) -> float:
        """The average cost of the first minus that of the second."""
        return float(self._outcomes.mean[0])

    @property
    def cheaper(self) -> str | None:
        """The name of the classifier that is cheaper by the default test, or None if neither is."""
        result = self._default_test(0.95)
        if not result.rejected:
            return None
        return self.names[1] if self.difference > 0 else self.names[0]

    def times(self, volume: float) -> float:
        """Return the expected difference over `volume` decisions.

        Parameters
        ----------
        volume : float
            The number of decisions.

        Returns
        -------
        float
            The expected difference over all of them.

        Examples
        --------
        >>> from stakes import CostDifference, CostMatrix, PairedConfusion
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> paired = PairedConfusion([[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])
        >>> difference = CostDifference(paired, costs, names=("tree", "forest"))
        >>> round(difference.times(1000), 4)
        260.0
        """
        return self.difference * validate.one_number(volume, "volume")

    def estimates(self) -> tuple[CostEstimate, CostEstimate]:
        """Return the estimated cost of each of the two classifiers.

        Returns
        -------
        tuple of CostEstimate
            The estimates of the first and of the second classifier.

        Examples
        --------
        >>> from stakes import CostDifference, CostMatrix, PairedConfusion
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> paired = PairedConfusion([[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])
        >>> difference = CostDifference(paired, costs, names=("tree", "forest"))
        >>> [each.cost for each in difference.estimates()]
        [0.66, 0.4]
        """
        return self._both

    @cached_property
    def _both(self) -> tuple[CostEstimate, CostEstimate]:
        """The estimates of both classifiers, computed once."""
        if self.costs is None:
            raise DesignError(
                "costs", "the differences of single examples do not tell each one's cost."
            )
        kept = isinstance(self.paired, GroupedConfusion | JointConfusion)
        table: Any = self.paired if kept else self._table()
        first, second = (
            replace(
                self.design,
                decided={name: both[model] for name, both in self.design.decided.items()},
            )
            if self.design.decided
            else self.design
            for model in (0, 1)
        )
        return (
            CostEstimate(table.first, self.costs, first, self.unit),
            CostEstimate(table.second, self.costs, second, self.unit),
        )

    def test(
        self,
        method: str = DEFAULT,
        *,
        alternative: str = "two-sided",
        margin: float = 0.0,
        confidence: float = 0.95,
        **options: Any,
    ) -> TestResult:
        """Test whether the classifiers' expected costs differ.

        Parameters
        ----------
        method : str, default "extremal"
            "extremal", "bdeltacost", "exact", "normal", "signflip" or "mcnemar".
        alternative : {"two-sided", "less", "greater"}
            The alternative hypothesis: the difference is not `margin`, is less, or is greater.
        margin : float, default 0
            The difference under the null hypothesis. With ``alternative="less"`` and a positive
            margin the test is one of non-inferiority: it shows that the first classifier costs
            less than `margin` more than the second.
        confidence : float, default 0.95
            One minus the significance level.
        **options
            Options of the method: ``laplace``, ``n_resamples``, ``rng``, ``weight``,
            ``conservative``; and ``class_priors``, ``strata``, ``impossible``.

        Returns
        -------
        TestResult
            The p-value, and whether the null hypothesis is rejected.

        Notes
        -----
        The p-value is the smallest α at which the interval of the same method with the confidence
        1 - α excludes the margin m: for "exact", 2 min{P(Δ* ≤ m), P(Δ* ≥ m)} with Δ* the bootstrap
        difference; for "bdeltacost" the same shares among the resamples. "extremal" is the
        default: it holds where costly disagreements are rare. One-sided tests by it use the weight
        1 instead of 0.7. "normal" is the paired z test, "signflip" draws
        random signs for the differences, "mcnemar" is McNemar's exact test, for mistakes that all
        cost the same.

        References
        ----------
        Margineantu & Dietterich (2000), section 3.2.

        Margineantu (2001), Table 5.2.

        McNemar (1947).

        Examples
        --------
        >>> from stakes import CostDifference, CostMatrix, PairedConfusion
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> paired = PairedConfusion([[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])
        >>> difference = CostDifference(paired, costs, names=("tree", "forest"))
        >>> result = difference.test(method="exact")
        >>> round(result.p_value, 4), result.rejected
        (0.2448, False)

        Test whether the tree costs less than one more per decision than the forest
        (non-inferiority):

        >>> print(difference.test(method="exact", alternative="less", margin=1).summary())
        tree costs less than 1 more than forest: shown at 95% confidence (p = 0.00149, exact).
        """
        this, settings = self._with_design(options)
        asked: dict[str, Any] = {
            "alternative": alternative,
            "margin": margin,
            "confidence": confidence,
        }
        if this is not self:
            return this.test(method, **asked, **settings)
        found = self._test(method, settings, **asked)
        warn_if_not_claimed(self._outcomes)
        return found

    def _test(
        self,
        method: str,
        options: Mapping[str, Any],
        *,
        alternative: str,
        margin: Any,
        confidence: float,
    ) -> TestResult:
        """Test the difference without any warning."""
        return run_test(
            self._outcomes,
            method,
            alternative=alternative,
            margin=margin,
            confidence=confidence,
            names=self.names,
            options=options,
        )

    def _default_test(self, confidence: float) -> TestResult:
        """Test the difference by the default method without any warning."""
        return self._test(DEFAULT, {}, alternative="two-sided", margin=0.0, confidence=confidence)

    def summary(self, confidence: float = 0.95) -> str:
        """Summarise which classifier is cheaper, by how much, and how sure that is.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the interval and the test.

        Returns
        -------
        str
            A sentence.
        """
        interval = quiet_interval(self, confidence)
        result = self._default_test(confidence)
        text = (
            f"{compared_costs(self.names, self.difference, self.unit)} ({number(interval.low)} to "
            f"{number(interval.high)} with {percent(confidence)} confidence)"
        )
        if interval.caution:
            text = f"{text}; {interval.caution}"
        if result.rejected:
            cheaper = self.names[1] if self.difference > 0 else self.names[0]
            return f"{text}: {cheaper} is cheaper (p = {result.p_value:.2g})."
        return f"{text}: they cannot be told apart on {number(self.n)} examples."

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain numbers and lists.

        Returns
        -------
        dict
            The difference with its default interval and test, and the counts.
        """
        return {
            "names": list(self.names),
            "n": self.n,
            "difference": self.difference,
            "unit": self.unit,
            "interval": quiet_interval(self, 0.95).to_dict(),
            "test": self._default_test(0.95).to_dict(),
            "counts": self.paired.to_dict(),
        }

    def _matrix(self) -> CostMatrix:
        if self.costs is None:
            raise DesignError("costs", "those of single examples have no cells.")
        return self.costs

    def _table(self) -> PairedConfusion:
        table = self.paired
        pooled = table.pooled if isinstance(table, GroupedConfusion) else table
        if not isinstance(pooled, PairedConfusion):
            raise InputTypeError("paired", "expected the counts of two classifiers.")
        return pooled

    def __repr__(self) -> str:
        first, second = self.names
        return f"CostDifference({first} - {second} = {self.difference:.6g}, n={number(self.n)})"

    def _repr_html_(self) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", StakesWarning)  # displaying a result never warns
            interval, tested = self.interval(), self.test()
        first, second = self.names
        unit = f" ({self.unit})" if self.unit else ""
        values = {
            f"{first} minus {second}, per decision{unit}": self.difference,
            "low": interval.low,
            "high": interval.high,
            "confidence": percent(interval.confidence),
            "p": f"{tested.p_value:.3g}",
            "method": tested.method,
            "examples": self.n,
        }
        return html_values(values, self.summary())
