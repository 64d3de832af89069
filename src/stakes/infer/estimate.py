"""The expected cost of one classifier's decisions, with confidence intervals."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from stakes._core import validate
from stakes._core.labels import Label, Labels
from stakes._core.text import (
    html_table,
    html_values,
    matrix_table,
    number,
    percent,
    rounded,
    with_unit,
)
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.costs import CostMatrix
from stakes.counts import Confusion, CostSample, GroupedConfusion
from stakes.errors import DesignError, InputTypeError, StakesWarning
from stakes.infer._design import outcomes_of
from stakes.infer._inference import (
    DEFAULT,
    Inference,
    Interval,
    quiet_interval,
)
from stakes.infer._outcomes import (
    SIMPLE,
    CountTable,
    Design,
    Outcomes,
    Stratum,
    make_stratum,
    observed_differences,
    possible_cells,
    simple_outcomes,
)
from stakes.infer._shares import cell_shares, shares_of, where_used
from stakes.infer.methods import extremal
from stakes.infer.rates import RateEstimates, positive_of
from stakes.measures.agreement import error_rate


@dataclass(frozen=True, eq=False)
class Unobserved(Result):
    """A cell that was never observed and supplies most of an upper limit.

    Attributes
    ----------
    decision, label : label
        The cell: the decision, and the class.
    cost : float
        Its cost.
    limit, without : float
        The upper limit of the cost per decision, and what it is if the cell cannot occur.
    wanted : float
        Half of the limit.
    rows : int or None
        About how many rows without such a mistake lower the limit to half: the quantile of
        Gamma(0.7), 3.02 at 95%, times the cell's cost over that limit. None for samples other than
        simple random ones.

    Examples
    --------
    >>> from stakes.infer import Unobserved
    >>> Unobserved("no", "yes", 500.0, 3.0, 0.2, 1.5, 1007).rows
    1007
    """

    decision: Label
    label: Label
    cost: float
    limit: float
    without: float
    wanted: float
    rows: int | None

    def summary(self, unit: str = "") -> str:
        """Return what the cell does to the limit, and what would lower it.

        Parameters
        ----------
        unit : str
            The unit of the costs.

        Returns
        -------
        str
            Three sentences.
        """
        money = [
            with_unit(each, unit, rounded)
            for each in (self.limit - self.without, self.limit, self.without, self.wanted)
        ]
        text = (
            f"{money[0]} of the upper limit {money[1]} is one cell that was never observed "
            f"(predicted {self.decision!r}, actual {self.label!r}, cost "
            f"{with_unit(self.cost, unit)}). If it cannot occur, mark it impossible: the limit is "
            f"then {money[2]}."
        )
        if self.rows is None:
            return f"{text} Otherwise only more rows lower it."
        return f"{text} Otherwise a limit of {money[3]} needs about {rounded(self.rows)} rows."


WORTH_NAMING = 0.05
"""The smallest share of the cost for which a summary names the costliest cell."""


@dataclass(frozen=True, repr=False)
class CostEstimate(Inference):
    """The cost of a classifier's decisions, per decision and in total, with intervals.

    Parameters
    ----------
    confusion : Confusion, GroupedConfusion or CostSample
        The counts of the decisions; or the costs of single examples.
    costs : CostMatrix or None
        The costs; None for a CostSample, which contains them.
    design : Design, optional
        Known class priors, strata, impossible cells.
    unit : str, optional
        The unit of the costs, such as "USD", for the summary.

    Notes
    -----
    The cost per decision is Σ M(i, j) C(i, j)/n, with M(i, j) the number of examples of class j for
    which i was decided (thesis, equation 2.4); with class priors π, Σ_j π_j Σ_i M(i, j) C(i,
    j)/n_j. BCOST, the interval of the paper, takes percentiles of this cost over matrices drawn
    with the probabilities (M + λ)/(n + K²λ). It is ``interval(method="bcost")``; ``"exact"`` is the
    same without Monte Carlo error. The default is the extremal interval: see `interval`.

    References
    ----------
    Margineantu & Dietterich (2000), section 3.1 and Table 2.

    Margineantu (2001), equation 2.4 and Table 5.1.

    Learned-Miller & Thomas (2019).

    Examples
    --------
    >>> from stakes import Confusion, CostEstimate, CostMatrix
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> estimate = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
    >>> estimate.cost, estimate.total, estimate.n
    (0.28, 28.0, 100)
    >>> estimate.interval()
    Interval(low=0.0929..., high=0.7385..., confidence=0.95, method='extremal')
    >>> print(estimate.summary())
    100 decisions cost 0.28 each (0.09298 to 0.7385 with 95% confidence), 28 in total; 71% of it
    is from predicting 0 when it was 1.
    """

    confusion: CountTable
    costs: CostMatrix | None = None
    design: Design = SIMPLE
    unit: str = ""

    def __post_init__(self) -> None:
        validate.text(self.unit, "unit")
        if isinstance(self.confusion, CostSample) != (self.costs is None):
            raise InputTypeError(
                "costs", "expected a CostMatrix for counts, and None for a CostSample."
            )
        _ = self._outcomes  # raises when the labels do not agree, or the design does not fit

    def _build_outcomes(self) -> Outcomes:
        costs = None if self.costs is None else self._cell_costs()
        given = self.confusion, costs, self.design
        return simple_outcomes(*given) or outcomes_of(*given)

    def _as_one_stratum(self) -> Stratum:
        if isinstance(self.confusion, CostSample):
            table = self.confusion
            counts = table.n * shares_of(table, self.design)
            return make_stratum([*table.values, table.low, table.high], [*counts, 0.0, 0.0])
        shares = cell_shares(self.confusion, self.design)
        possible = possible_cells(self._table(), self.design.impossible)
        return make_stratum(self._cell_costs(), float(self.n) * shares, possible=possible)

    @property
    def _laplace(self) -> float:
        """The paper's λ = 0.1, and 0 for costs of single examples, which have no cells."""
        return 0.0 if isinstance(self.confusion, CostSample) else 0.1

    @property
    def n(self) -> Any:
        """The number of decisions, or the sum of their weights."""
        return self.confusion.n

    @property
    def cost(self) -> float:
        """The average cost per decision (thesis, equation 2.4)."""
        return float(self._outcomes.mean[0])

    @property
    def total(self) -> float:
        """The total cost of all decisions: those evaluated, or all rows of a finite population."""
        outcomes = self._outcomes
        if outcomes.rows is not None:
            return float(outcomes.mean[0]) * outcomes.rows
        if outcomes.design in ("simple", "examples"):
            return float(outcomes.only.counts[0] @ outcomes.only.costs)
        return float(outcomes.mean[0]) * float(self.n)

    @property
    def error_rate(self) -> float:
        """The share of decisions that are not the actual class, in the target population."""
        return error_rate(where_used(self._counts(), self.design))

    def rates(self, pos_label: Any = None) -> RateEstimates:
        """Return recall, precision, F1 and the other usual rates, with confidence intervals.

        Parameters
        ----------
        pos_label : label, optional
            The positive class; by default 1 where the classes are 0 and 1. With more than two
            classes it may be left out.

        Returns
        -------
        RateEstimates
            The rates of the same decisions, under the same design.

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> estimate = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
        >>> round(estimate.rates().recall.value, 4)
        0.9524
        """
        table = self._counts()
        return RateEstimates(table, positive_of(table.labels, pos_label), self.design)

    def times(self, volume: float) -> float:
        """Return the expected cost of `volume` decisions.

        Parameters
        ----------
        volume : float
            The number of decisions.

        Returns
        -------
        float
            Their expected cost.

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> estimate = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
        >>> round(estimate.times(1_000_000), 2)
        280000.0
        """
        return self.cost * validate.one_number(volume, "volume")

    def best_constant(self) -> tuple[Label, CostEstimate]:
        """Return the cheapest constant prediction, and its estimate.

        Returns
        -------
        decision : label
            The decision.
        estimate : CostEstimate
            The cost of always taking it.

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> estimate = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
        >>> decision, always = estimate.best_constant()
        >>> decision, always.cost
        (1, 0.58)
        """
        return next(iter(cheapest_constants(self, 1).items()))

    def constants(self) -> dict[Label, CostEstimate]:
        """Return the cost of each constant prediction, by decision.

        Returns
        -------
        dict
            From each decision to a CostEstimate.

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> estimate = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
        >>> {decision: always.cost for decision, always in estimate.constants().items()}
        {0: 4.2, 1: 0.58}
        """
        every = self._matrix().decisions
        found = cheapest_constants(self, len(every))
        return {decision: found[decision] for decision in every}

    def contributions(self) -> NDArray[np.float64]:
        """Return the contribution of each cell ``[predicted, actual]`` to the average cost.

        A contribution is P(i, j) C(i, j); their sum is the average cost.

        Returns
        -------
        ndarray, shape (decisions, classes)
            The contributions.

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> estimate = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
        >>> estimate.contributions().tolist()
        [[0.0, 0.2], [0.08, 0.0]]
        """
        return cell_shares(self.confusion, self.design) * self._cell_costs()

    def variance_contributions(self) -> NDArray[np.float64]:
        """Return the contribution of each cell to the squared standard error.

        It shows which cell makes the interval wide: rare expensive cells contribute little to the
        cost and much to its uncertainty.

        For a simple random sample a contribution is M(i, j) (C(i, j) - mean)²/n².

        Returns
        -------
        ndarray, shape (decisions, classes)
            The contributions.

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> estimate = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
        >>> estimate.variance_contributions().round(5).tolist()
        [[0.00039, 0.0189], [0.00041, 0.00031]]
        """
        table, costs = self._table(), self._cell_costs()
        if isinstance(self.confusion, GroupedConfusion):
            raise DesignError(
                "groups",
                "with them the cells do not vary independently, so the variance is not a sum over "
                "the cells.",
            )
        if table.squares is not None:
            mean = self.cost
            return np.asarray(table.squares * (costs - mean) ** 2 / table.n**2)
        if self.design.class_priors is None and self.design.strata is None:
            return np.asarray(table.counts * (costs - self.cost) ** 2 / table.n**2)
        sizes = np.maximum(table.class_counts, 1)
        means = (table.counts * costs).sum(axis=0) / sizes
        shares = cell_shares(table, self.design)
        priors = shares.sum(axis=0)
        return np.asarray(priors * shares * (costs - means) ** 2 / sizes)

    def summary(self, confidence: float = 0.95, method: str = DEFAULT, **options: Any) -> str:
        """Summarise the cost, its interval, and the mistake that contributes most.

        Parameters
        ----------
        confidence, method, **options
            As in `interval`.

        Returns
        -------
        str
            A sentence.
        """
        return summary_of(self, self._interval(confidence, method, options))

    def _summary(self, interval: Interval) -> str:
        low, high = interval
        decisions = "1 decision costs" if self.n == 1 else f"{number(self.n)} decisions cost"
        if self._outcomes.rows is not None:
            rows = number(self._outcomes.rows)
            decisions = f"{rows} decisions, {number(self.n)} of them with labels, cost"
        text = (
            f"{decisions} {with_unit(self.cost, self.unit)} each "
            f"({number(low)} to {number(high)} with {percent(interval.confidence)} confidence)"
            f", {with_unit(self.total, self.unit)} in total"
        )
        if isinstance(self.confusion, CostSample):
            text += f"; a decision is taken to cost {number(self.confusion.high)} at most"
        if interval.caution:
            text += f"; {interval.caution}"
        worst = self._worst_cell()
        if worst is None:
            return f"{text}."
        predicted, actual, share = worst
        return (
            f"{text}; {100 * share:.0f}% of it is from predicting {predicted!r} "
            f"when it was {actual!r}."
        )

    def unobserved(self, confidence: float = 0.95) -> Unobserved | None:
        """Return the costliest cell if it was never observed and makes most of the upper arm.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the interval.

        Returns
        -------
        Unobserved or None
            The cell, and the upper limit with and without it; None where no such cell supplies more
            than half of the distance from the cost to the upper limit.

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10_000)
        >>> estimate = CostEstimate(Confusion([[900, 0], [200, 900]], labels=[0, 1]), costs)
        >>> print(estimate.unobserved().summary())
        15.1 of the upper limit 15.2 is one cell that was never observed (predicted 0, actual 1,
        cost 10,000). If it cannot occur, mark it impossible: the limit is then 0.114. Otherwise a
        limit of 7.60 needs about 3,980 rows.
        """
        if self.costs is None:
            return None
        table, costs = self._table(), self._cell_costs()
        possible = possible_cells(table, self.design.impossible)
        allowed = np.ones(costs.shape, dtype=bool) if possible is None else possible
        top = np.argwhere(allowed & (costs == costs[allowed].max()))
        i, j = top[0]
        # Of several such cells, none alone would lower the limit; some decision must stay possible.
        if len(top) > 1 or table.counts[i, j] or allowed[:, j].sum() == 1:
            return None
        cell, cost = (table.decisions[i], table.labels[j]), float(costs[i, j])
        rest = replace(self.design, impossible=(*(self.design.impossible or ()), cell))
        high = quiet_interval(self, confidence).high
        without = quiet_interval(replace(self, design=rest), confidence).high
        if high - without <= (high - self.cost) / 2:
            return None
        wanted, rows = high / 2, None
        if self._outcomes.design == "simple":
            draws = float(gammaincinv(extremal.WEIGHT, (1 + confidence) / 2))
            rows = round(draws * cost / wanted)
        return Unobserved(*cell, cost, high, without, wanted, rows)

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as plain numbers and lists.

        Returns
        -------
        dict
            The estimate, its default interval, its counts, and the contributions of its cells.
        """
        result = {
            "n": self.n,
            "cost": self.cost,
            "total": self.total,
            "unit": self.unit,
            "interval": quiet_interval(self, 0.95).to_dict(),
            "counts": self.confusion.to_dict(),
        }
        if self.costs is not None:
            result["contributions"] = self.contributions().tolist()
            result["costs"] = self.costs.to_dict()
        return result

    def _matrix(self) -> CostMatrix:
        if self.costs is None:
            raise DesignError(
                "costs", "those of single examples have no cells, classes or decisions."
            )
        return self.costs

    def _table(self) -> Confusion:
        self._matrix()
        table = self.confusion
        pooled = table.pooled if isinstance(table, GroupedConfusion) else table
        if not isinstance(pooled, Confusion):
            raise InputTypeError("confusion", "expected the counts of one classifier.")
        return pooled

    def _counts(self) -> Confusion | GroupedConfusion:
        """Return the counts, by group or stratum if they were counted so."""
        self._table()
        return self.confusion  # type: ignore[return-value]

    def _cell_costs(self) -> NDArray[np.float64]:
        table = self._table()
        return self._matrix().values_for(table.labels, table.decisions)

    def _worst_cell(self) -> tuple[Label, Label, float] | None:
        """Return the costliest cell and its share, if it stands out and no cell is a gain."""
        if self.costs is None:
            return None
        parts = self.contributions()
        if parts.min() < 0 or parts.max() < WORTH_NAMING * parts.sum() or not parts.any():
            return None
        i, j = np.unravel_index(parts.argmax(), parts.shape)
        table = self._table()
        return table.decisions[i], table.labels[j], float(parts[i, j] / parts.sum())

    def __repr__(self) -> str:
        return f"CostEstimate(cost={self.cost:.6g}, total={self.total:.6g}, n={number(self.n)})"

    def _repr_html_(self) -> str:
        if self.costs is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", StakesWarning)  # displaying never warns
                interval = self.interval()
            unit = f" ({self.unit})" if self.unit else ""
            values = {
                f"cost per decision{unit}": self.cost,
                "low": interval.low,
                "high": interval.high,
                "confidence": percent(interval.confidence),
                "method": interval.method,
                "examples": self.n,
            }
            return html_values(values, self.summary())
        cells = [[number(part) for part in row] for row in self.contributions().tolist()]
        table = self._table()
        return html_table(
            *matrix_table(table.decisions, table.labels, cells),
            caption=f"{self.summary()} Cost per decision by cell:",
        )


def summary_of(estimate: CostEstimate, interval: Interval) -> str:
    """Summarise the cost of decisions, with an interval that was computed elsewhere."""
    return estimate._summary(interval)  # noqa: SLF001 - of this module


def cheapest_constants(estimate: CostEstimate, most: int) -> dict[Label, CostEstimate]:
    """Return the cost of the cheapest constant predictions, by decision, the cheapest first."""
    table, costs = estimate._counts(), estimate._matrix()  # noqa: SLF001 - of this module
    values = costs.values_for(table.labels, costs.decisions)
    shares = cell_shares(table, estimate.design).sum(axis=0)
    cheapest = np.argsort(values @ shares, kind="stable")[:most].tolist()
    return {
        costs.decisions[at]: constant_cost(
            table, values[at], table.labels, estimate.design, costs.decisions[at], estimate.unit
        )
        for at in cheapest
    }


ALWAYS = "always"


def class_counts(
    table: Confusion | GroupedConfusion, decision: Label = ALWAYS
) -> Confusion | GroupedConfusion:
    """Return the counts of the classes, as a table of the only possible decision."""
    summed = table.counts.sum(axis=-2, keepdims=True)
    squares = None if table.squares is None else table.squares.sum(axis=-2, keepdims=True)
    if isinstance(table, GroupedConfusion):
        return table.with_counts(summed, (decision,), squares)
    return Confusion(summed, table.labels, (decision,), squares=squares)


def only_decision(estimate: CostEstimate) -> Label | None:
    """Return the decision that all examples got; None where there are several."""
    table = estimate._table()  # noqa: SLF001 - of this module
    taken = np.flatnonzero(table.counts.any(axis=1))
    return table.decisions[taken[0]] if len(taken) == 1 else None


def constant_cost(  # noqa: PLR0917 - positional where policies call it
    table: Confusion | GroupedConfusion,
    values: Floats,
    labels: Labels,
    design: Design,
    decision: Label = ALWAYS,
    unit: str = "",
) -> CostEstimate:
    """Return the cost of one decision for every row, given what it costs for each class.

    Cells that are impossible for a model, and decisions that all rows of a stratum got from it, are
    no limits of another rule.
    """
    costs = CostMatrix(
        np.atleast_2d(values), rows="predicted", labels=labels, decisions=(decision,)
    )
    decided = design.decided and dict.fromkeys(design.decided, decision)
    design = replace(design, impossible=None, decided=decided)
    return CostEstimate(class_counts(table, decision), costs, design, unit)


def against_constant(
    table: Confusion | GroupedConfusion,
    costs: CostMatrix,
    decided: Sequence[Label | None],
    design: Design,
) -> CostEstimate:
    """Return the cost of a first minus that of a second, at least one a constant prediction.

    Against a constant d the difference is the cost of the other at the relative costs C(i, j) -
    C(d, j), so that only outcomes that can occur are possible. `decided` has the decision of each,
    None for the model whose decisions `table` counts.
    """
    every = range(len(costs.decisions))
    # A row for each decision of the model; one row for two constants.
    first, second = (
        np.reshape(every if each is None else costs.decisions.index(each), (-1, 1))
        for each in decided
    )
    relative = observed_differences(costs.values, first, second, np.arange(len(costs.labels)))
    if None not in decided:
        return constant_cost(table, relative, costs.labels, design)
    matrix = CostMatrix(relative, rows="predicted", labels=costs.labels, decisions=costs.decisions)
    return CostEstimate(table, matrix, design)
