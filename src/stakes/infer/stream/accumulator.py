"""Running totals of a stream of outcomes, with intervals that may be looked at at any time."""

from __future__ import annotations

from typing import Any

from stakes import _validate
from stakes._table import dearer, number, percent, with_unit
from stakes.costs import CostMatrix
from stakes.counts import Confusion, PairedConfusion
from stakes.infer.designs import Design
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.stream.totals import Totals, any_outcomes


class Accumulator(Totals[Confusion]):
    """Running totals of a classifier's outcomes: its cost so far, and an interval at any time.

    Only counts are kept, so a stream may be as long as it likes. Outcomes must be independent (or
    have the same expected cost whatever came before), and must not come sooner or later depending
    on what they cost.

    Parameters
    ----------
    costs : CostMatrix
        What decisions cost; its labels and decisions are all that may come.
    impossible : sequence of (decision, class), optional
        Cells that cannot occur; a costly one among them would widen the interval.
    unit : str, optional
        The unit of the costs, such as "USD".

    Notes
    -----
    Whoever bets against a mean m, with the fraction f of the fortune W at stake, has W_t = W_{t-1}
    [1 - f + f (C_t - low)/(m - low)] after the outcome C_t; the fortune is split over a fixed grid
    of fractions. If m is the true mean, the probability that W *ever* reaches 2/α is at most α/2
    (Ville's inequality); the interval holds all means against which it has not, from below or from
    above.

    References
    ----------
    Waudby-Smith, I. & Ramdas, A. (2024). Estimating means of bounded random variables by betting.
    *Journal of the Royal Statistical Society B* 86.

    Ville, J. (1939). *Étude critique de la notion de collectif*. Gauthier-Villars.

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

    def update(self, y_true: Any, y_pred: Any) -> None:
        """Count a batch of outcomes; one with an error in it changes nothing.

        Parameters
        ----------
        y_true, y_pred : array_like, shape (n,)
            The actual class of each example, and what was decided. There may be none.

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
            axes = {"labels": self.costs.labels, "decisions": self.costs.decisions}
            self.add(Confusion.from_labels(y_true, y_pred, **axes))

    @property
    def cost(self) -> float:
        """What a decision cost on average so far."""
        return self.estimate().cost

    @property
    def total(self) -> float:
        """What all decisions cost so far."""
        return self.estimate().total

    def estimate(self) -> CostEstimate:
        """Return the estimate from all outcomes so far.

        Its intervals are for one look only, but for ``method="anytime"``.

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
        return self._inference(self.counts)

    def _inference(self, counts: Confusion) -> CostEstimate:
        return CostEstimate(counts, self.costs, Design(impossible=self.impossible), self.unit)

    def summary(self, confidence: float = 0.95) -> str:
        """Say what decisions cost so far, and how sure that is at any time.

        Parameters
        ----------
        confidence : float, default 0.95
            Of the interval.

        Returns
        -------
        str
            A sentence.
        """
        if not self.n:
            return "No outcomes yet."
        low, high = self.interval(confidence)
        return (
            f"{number(self.n)} decisions cost {with_unit(self.cost, self.unit)} each "
            f"({number(low)} to {number(high)} with {percent(confidence)} confidence, at whatever "
            "time one looks)."
        )

    def __repr__(self) -> str:
        return f"Accumulator(n={self.n}{f', cost={self.cost:.6g}' if self.n else ''})"


class PairedAccumulator(Totals[PairedConfusion]):
    """Running totals of two classifiers on the same examples: which is cheaper, at any time.

    Parameters
    ----------
    costs, impossible, unit
        As in `Accumulator`.
    names : pair of str
        What the classifiers are called.

    Notes
    -----
    The interval is that of `Accumulator`, for the differences C(i1, j) - C(i2, j) of the two
    classifiers' costs, Σ M(i1, i2, j) [C(i1, j) - C(i2, j)]/n on average.

    References
    ----------
    Waudby-Smith, I. & Ramdas, A. (2024). Estimating means of bounded random variables by betting.
    *Journal of the Royal Statistical Society B* 86.

    Ville, J. (1939). *Étude critique de la notion de collectif*. Gauthier-Villars.

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
        unit: str = "",
    ) -> None:
        first, second = map(str, _validate.two_names(names))
        self.names = (first, second)
        super().__init__(costs, impossible=impossible, unit=unit)

    def update(self, y_true: Any, y_pred_1: Any, y_pred_2: Any) -> None:
        """Count a batch of outcomes; one with an error in it changes nothing.

        Parameters
        ----------
        y_true, y_pred_1, y_pred_2 : array_like, shape (n,)
            The actual class of each example, and what each classifier decided.

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
            axes = {"labels": self.costs.labels, "decisions": self.costs.decisions}
            self.add(PairedConfusion.from_labels(y_true, y_pred_1, y_pred_2, **axes))

    @property
    def difference(self) -> float:
        """What a decision of the first cost more than one of the second, on average so far."""
        return self.estimate().difference

    def cheaper(self, confidence: float = 0.95) -> str | None:
        """Return which classifier is shown to be cheaper, or None; ask as often as you like.

        Parameters
        ----------
        confidence : float, default 0.95
            How sure all answers together are to be.

        Returns
        -------
        str or None
            Its name, once the interval leaves out zero.

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

        Its intervals and tests are for one look only, but for ``interval(method="anytime")``.

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
        return self._inference(self.counts)

    def _inference(self, counts: PairedConfusion) -> CostDifference:
        design = Design(impossible=self.impossible)
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
        """Say which classifier is cheaper so far, and how sure that is at any time.

        Parameters
        ----------
        confidence : float, default 0.95
            Of the interval.

        Returns
        -------
        str
            A sentence.
        """
        if not self.n:
            return "No outcomes yet."
        low, high = self.interval(confidence)
        cheaper = self.cheaper(confidence)
        return (
            f"{dearer(self.names, self.difference, self.unit)} over {number(self.n)} decisions "
            f"({number(low)} to {number(high)} with {percent(confidence)} confidence, at whatever "
            f"time one looks): {f'{cheaper} is cheaper' if cheaper else 'not decided yet'}."
        )

    def __repr__(self) -> str:
        so_far = f", difference={self.difference:.6g}" if self.n else ""
        return f"PairedAccumulator(n={self.n}{so_far})"
