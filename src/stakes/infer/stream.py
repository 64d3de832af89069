"""Running costs of streams of outcomes, and of differences, with anytime-valid intervals."""

from __future__ import annotations

from typing import Any

from stakes._core import validate
from stakes._core.text import compared_costs, html_values, number, with_unit
from stakes.costs import CostMatrix
from stakes.counts import Confusion, PairedConfusion
from stakes.errors import InputError
from stakes.infer._outcomes import Design
from stakes.infer._totals import Totals, any_outcomes, sampling_of
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.evaluation import count_decisions

MOST_CELLS = 10**7
"""The largest number of cells of a table of two classifiers, which is dense."""


class Accumulator(Totals[Confusion]):
    """Running totals of a classifier's outcomes: its cost so far, and an interval at any time.

    Only counts are kept, by group if there are groups, so a stream may have any length. The
    anytime interval requires outcomes that are independent (or have the same expected cost given
    the past), and whose time of arrival does not depend on their cost. With groups, strata or
    weights, use the interval of `estimate`, which is valid for one look.

    Parameters
    ----------
    costs : CostMatrix
        The costs of decisions; only its labels and decisions may occur.
    impossible : sequence of (decision, class), optional
        Cells that cannot occur; a costly one among them would widen the interval.
    class_priors, population
        As in `evaluate`.
    unit : str, optional
        The unit of the costs, such as "USD".

    Notes
    -----
    A bettor against a mean m, with the fraction f of the fortune W at stake, has W_t = W_{t-1}
    [1 - f + f (C_t - low)/(m - low)] after the outcome C_t; the fortune is split over a fixed grid
    of fractions. If m is the true mean, the probability that W *ever* reaches 2/α is at most α/2
    (Ville's inequality). The interval contains all means against which W has not reached it, from
    below or from above.

    References
    ----------
    Waudby-Smith & Ramdas (2024).

    Ville (1939).

    Examples
    --------
    >>> from stakes import Accumulator, CostMatrix
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> running = Accumulator(costs)
    >>> for day in range(30):
    ...     running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
    >>> running.n, running.cost
    (3000, 0.15)
    >>> running.interval()
    Interval(low=0.0923..., high=0.2248..., confidence=0.95, method='anytime')

    Totals of several streams add up:

    >>> (running + running).n
    6000
    """

    _kind = Confusion
    _deciders = 1

    def update(
        self,
        y_true: Any,
        y_pred: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        strata: Any = None,
    ) -> None:
        """Count a batch of outcomes; a batch with an error changes nothing.

        Parameters
        ----------
        y_true, y_pred : array_like, shape (n,)
            The actual class of each example, and the decision. A batch may be empty.
        sample_weight, groups, strata : array_like, shape (n,), optional
            The weight, the group and the stratum of each example: for all batches, or for none.
            Groups of the same name are the same group in all batches.

        Examples
        --------
        >>> from stakes import Accumulator, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = Accumulator(costs)
        >>> running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
        >>> running
        Accumulator(n=100, cost=0.15)
        """
        if any_outcomes(y_true, y_pred):
            sampling = sampling_of(sample_weight, groups, strata)
            self.add(count_decisions(self.costs, y_true, [y_pred], sampling))  # type: ignore[arg-type]

    @property
    def cost(self) -> float:
        """The average cost per decision so far."""
        return self.estimate().cost

    @property
    def total(self) -> float:
        """The total cost of all decisions so far."""
        return self.estimate().total

    def estimate(self) -> CostEstimate:
        """Return the estimate from all outcomes so far.

        Its intervals are valid for one look only, except with ``method="anytime"``.

        Returns
        -------
        CostEstimate
            The estimate.

        Examples
        --------
        >>> from stakes import Accumulator, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = Accumulator(costs)
        >>> running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
        >>> running.estimate().total
        15.0
        """
        return self._inference(self.counts, self._design)

    def _inference(self, counts: Any, design: Design) -> CostEstimate:
        return CostEstimate(counts, self.costs, design, self.unit)

    def summary(self, confidence: float = 0.95) -> str:
        """Summarise the cost so far, with an interval that holds at any time if the design allows.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the interval.

        Returns
        -------
        str
            A sentence.
        """
        if not self.n:
            return "No outcomes yet."
        return (
            f"{number(self.n)} decisions cost {with_unit(self.cost, self.unit)} each "
            f"{self._sure(confidence)}."
        )

    def _repr_html_(self) -> str:
        unit = f" ({self.unit})" if self.unit else ""
        values = {"decisions": self.n, f"cost per decision{unit}": self.cost if self.n else None}
        return html_values(values, self.summary())

    def __repr__(self) -> str:
        return f"Accumulator(n={self.n}{f', cost={self.cost:.6g}' if self.n else ''})"


class PairedAccumulator(Totals[PairedConfusion]):
    """Running totals of two classifiers on the same examples: which is cheaper, at any time.

    Parameters
    ----------
    costs, impossible, class_priors, population, unit
        As in `Accumulator`.
    names : pair of str
        The names of the classifiers.

    Notes
    -----
    The interval is that of `Accumulator`, for the differences C(i1, j) - C(i2, j) of the two
    classifiers' costs. Their average is Σ M(i1, i2, j) [C(i1, j) - C(i2, j)]/n.

    References
    ----------
    Waudby-Smith & Ramdas (2024).

    Ville (1939).

    Examples
    --------
    >>> from stakes import CostMatrix, PairedAccumulator
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> running = PairedAccumulator(costs, names=("old", "new"))
    >>> for day in range(30):
    ...     running.update([0] * 90 + [1] * 10, [0] * 94 + [1] * 6, [0] * 90 + [1] * 10)
    ...     if running.cheaper():
    ...         print(f"day {day}: {running.cheaper()} is cheaper")
    ...         break
    day 1: new is cheaper
    >>> running.difference
    0.4
    """

    _kind = PairedConfusion
    _deciders = 2

    def __init__(
        self,
        costs: CostMatrix,
        *,
        names: tuple[str, str] = ("first", "second"),
        impossible: Any = None,
        class_priors: Any = None,
        population: Any = None,
        unit: str = "",
    ) -> None:
        first, second = map(str, validate.two_names(names))
        self.names = (first, second)
        validate.expect(costs, CostMatrix, "costs", "CostMatrix.from_errors(…)")
        if costs.values.size * len(costs.decisions) > MOST_CELLS:
            raise InputError(
                "costs",
                f"{len(costs.labels):,} classes have too many pairs of decisions to keep.",
                "Use compare, which keeps those that occur.",
            )
        super().__init__(
            costs,
            impossible=impossible,
            class_priors=class_priors,
            population=population,
            unit=unit,
        )

    def update(
        self,
        y_true: Any,
        y_pred_1: Any,
        y_pred_2: Any,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        strata: Any = None,
    ) -> None:
        """Count a batch of outcomes; a batch with an error changes nothing.

        Parameters
        ----------
        y_true, y_pred_1, y_pred_2 : array_like, shape (n,)
            The actual class of each example, and each classifier's decision.
        sample_weight, groups, strata
            As in `Accumulator.update`.

        Examples
        --------
        >>> from stakes import CostMatrix, PairedAccumulator
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = PairedAccumulator(costs, names=("old", "new"))
        >>> running.update([0] * 90 + [1] * 10, [0] * 94 + [1] * 6, [0] * 90 + [1] * 10)
        >>> running
        PairedAccumulator(n=100, difference=0.4)
        """
        if any_outcomes(y_true, y_pred_1, y_pred_2):
            sampling = sampling_of(sample_weight, groups, strata)
            self.add(count_decisions(self.costs, y_true, [y_pred_1, y_pred_2], sampling))  # type: ignore[arg-type]

    @property
    def difference(self) -> float:
        """The average cost per decision of the first minus that of the second, so far."""
        return self.estimate().difference

    def cheaper(self, confidence: float = 0.95) -> str | None:
        """Return which classifier is shown to be cheaper, or None; ask as often as you like.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of all answers together.

        Returns
        -------
        str or None
            Its name, once the interval excludes zero.

        Examples
        --------
        >>> from stakes import CostMatrix, PairedAccumulator
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = PairedAccumulator(costs, names=("old", "new"))
        >>> running.update([0] * 90 + [1] * 10, [0] * 94 + [1] * 6, [0] * 90 + [1] * 10)
        >>> running.cheaper() is None
        True
        >>> running.update([0] * 90 + [1] * 10, [0] * 94 + [1] * 6, [0] * 90 + [1] * 10)
        >>> running.cheaper()
        'new'
        """
        low, high = self.interval(confidence)
        if low > 0:
            return self.names[1]
        return self.names[0] if high < 0 else None

    def estimate(self) -> CostDifference:
        """Return the difference from all outcomes so far.

        Its intervals and tests are valid for one look only, except ``interval(method="anytime")``.

        Returns
        -------
        CostDifference
            The difference.

        Examples
        --------
        >>> from stakes import CostMatrix, PairedAccumulator
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = PairedAccumulator(costs, names=("old", "new"))
        >>> running.update([0] * 90 + [1] * 10, [0] * 94 + [1] * 6, [0] * 90 + [1] * 10)
        >>> running.estimate()
        CostDifference(old - new = 0.4, n=100)
        """
        return self._inference(self.counts, self._design)

    def _inference(self, counts: Any, design: Design) -> CostDifference:
        return CostDifference(counts, self.costs, self.names, design, self.unit)

    def _settings(self) -> dict[str, Any]:
        return super()._settings() | {"names": self.names}

    def to_dict(self) -> dict[str, Any]:
        """Return the totals as plain values.

        Returns
        -------
        dict
            The costs, the counts and the names.
        """
        return super().to_dict() | {"names": list(self.names)}

    def summary(self, confidence: float = 0.95) -> str:
        """Summarise which classifier is cheaper so far, and how sure that is.

        Parameters
        ----------
        confidence : float, default 0.95
            Confidence level of the interval.

        Returns
        -------
        str
            A sentence.
        """
        if not self.n:
            return "No outcomes yet."
        costs = compared_costs(self.names, self.difference, self.unit)
        text = f"{costs} over {number(self.n)} decisions {self._sure(confidence)}"
        if not self._any_time:
            return f"{text}."
        cheaper = self.cheaper(confidence)
        return f"{text}: {f'{cheaper} is cheaper' if cheaper else 'not decided yet'}."

    def _repr_html_(self) -> str:
        first, second = self.names
        unit = f" ({self.unit})" if self.unit else ""
        name = f"{first} minus {second}, per decision{unit}"
        values = {"decisions": self.n, name: self.difference if self.n else None}
        return html_values(values, self.summary())

    def __repr__(self) -> str:
        so_far = f", difference={self.difference:.6g}" if self.n else ""
        return f"PairedAccumulator(n={self.n}{so_far})"
