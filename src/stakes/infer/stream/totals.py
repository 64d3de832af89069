"""What running totals of one and of two classifiers have in common."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from stakes import _validate
from stakes._summable import Summable
from stakes.costs import CostMatrix
from stakes.counts import Confusion, PairedConfusion
from stakes.errors import InputError, InputTypeError
from stakes.infer.inference import Inference
from stakes.infer.interval import Interval
from stakes.infer.stream.totals_file import totals_from_text, totals_text
from stakes.read import read_text, write_text

METHOD = "anytime"
Counts = TypeVar("Counts", bound=Confusion | PairedConfusion)


class Totals(Summable, ABC, Generic[Counts]):
    """Running totals: counts and what these cost. Nothing else depends on the past."""

    _kind: type[Counts]
    _deciders: int

    def __init__(self, costs: CostMatrix, *, impossible: Any = None, unit: str = "") -> None:
        if not isinstance(costs, CostMatrix):
            raise InputTypeError(
                f"costs: expected a CostMatrix, got {type(costs).__name__}. The interval needs to "
                "know beforehand the least and the most that a decision can cost."
            )
        self.costs = costs
        self.unit = unit
        self.impossible = None if impossible is None else [tuple(cell) for cell in impossible]
        shape = (len(costs.decisions),) * self._deciders + (len(costs.labels),)
        self._table = np.zeros(shape, dtype=np.int64)
        outcomes = self._inference(self.counted(self._one_outcome())).outcomes()
        self._range = outcomes.lowest, outcomes.highest

    @abstractmethod
    def _inference(self, counts: Counts) -> Inference:
        """Return the estimate that counts make."""

    def counted(self, table: Any) -> Counts:
        """Return a table in the order of the costs as counts.

        Parameters
        ----------
        table : array_like
            Counts of each decision, of each classifier, and class.

        Returns
        -------
        Confusion or PairedConfusion
            The counts.
        """
        return self._kind(table, self.costs.labels, self.costs.decisions)

    def _one_outcome(self) -> NDArray[np.int64]:
        """Return the table of some outcome that is possible, to learn what outcomes can cost."""
        for i, decision in enumerate(self.costs.decisions):
            for j, label in enumerate(self.costs.labels):
                if (decision, label) not in (self.impossible or ()):
                    table = np.zeros_like(self._table)
                    table[(i,) * self._deciders + (j,)] = 1
                    return table
        raise InputError("impossible: expected some cells only, got all of them.")

    @property
    def n(self) -> int:
        """The number of outcomes so far."""
        return int(self._table.sum())

    @property
    def counts(self) -> Counts:
        """How often each combination of decision and class came so far."""
        if not self.n:
            raise InputError("no outcomes yet: there is nothing to count. Call update first.")
        return self.counted(self._table)

    def add(self, counts: Counts) -> None:
        """Add outcomes that were counted elsewhere, such as by a data engine.

        Parameters
        ----------
        counts : Confusion, or PairedConfusion for two classifiers
            Counts without weights, of classes and decisions that the costs know.

        Examples
        --------
        >>> from stakes import Accumulator, Confusion, CostMatrix
        >>> running = Accumulator(CostMatrix.from_errors(false_positive=1, false_negative=10))
        >>> running.add(Confusion([[850, 10], [50, 90]], labels=[0, 1]))
        >>> running.n, running.cost
        (1000, 0.15)
        """
        if not isinstance(counts, self._kind):
            raise InputTypeError(
                f"counts: expected a {self._kind.__name__}, got {type(counts).__name__}."
            )
        if counts.weighted or (counts.counts != np.rint(counts.counts)).any():
            raise InputError(
                "counts: running totals are of whole outcomes, got weights. Count without "
                "sample_weight; there is no anytime interval for weighted outcomes."
            )
        self.costs.values_for(counts.labels, counts.decisions)  # raises for labels it lacks
        down = [self.costs.decisions.index(decision) for decision in counts.decisions]
        across = [self.costs.labels.index(label) for label in counts.labels]
        total = self._table.copy()
        total[np.ix_(*[down] * self._deciders, across)] += counts.counts.astype(np.int64)
        if self.impossible:
            self._inference(self.counted(total))  # raises when one of these cells came
        self._table = total

    def interval(self, confidence: float = 0.95) -> Interval:
        """Return the anytime-valid interval for the mean per decision.

        With the given confidence the true mean lies in *all* of the intervals that are ever asked
        for, so look as often as you like, and stop when you like. Before the first outcome, it is
        the range of the possible costs.

        Parameters
        ----------
        confidence : float, default 0.95
            How sure the whole sequence of intervals is to be; choose it before looking.

        Returns
        -------
        Interval
            The limits; the method is "anytime".

        Notes
        -----
        Whoever bets against a mean m, with the fraction f of the fortune W at stake, has W_t =
        W_{t-1} [1 - f + f (C_t - low)/(m - low)] after the outcome C_t; the fortune is split over a
        fixed grid of fractions. If m is the true mean, the probability that W *ever* reaches 2/α is
        at most α/2 (Ville's inequality); the interval holds all means against which it has not,
        from below or from above.

        References
        ----------
        Waudby-Smith, I. & Ramdas, A. (2024). Estimating means of bounded random variables by
        betting. *Journal of the Royal Statistical Society B* 86.

        Ville, J. (1939). *Étude critique de la notion de collectif*. Gauthier-Villars.

        Examples
        --------
        >>> from stakes import Accumulator, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = Accumulator(costs)
        >>> running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
        >>> low, high = running.interval()
        >>> round(low, 3), round(high, 3)
        (0.013, 0.791)
        """
        if self.n:
            return self._inference(self.counts).interval(confidence, METHOD)
        _validate.alpha(confidence)
        return Interval(*self._range, float(confidence), METHOD)

    def _settings(self) -> dict[str, Any]:
        """Return what must be the same for totals to be added up."""
        return {"costs": self.costs, "impossible": self.impossible, "unit": self.unit}

    def __add__(self, other: object) -> Self:
        """Add up the totals of two streams, such as of two sites; both stay as they are.

        The interval of the sum holds if both have one expected cost, or keep their shares.
        """
        if not isinstance(other, type(self)):
            return NotImplemented
        for name, mine in self._settings().items():
            theirs = getattr(other, name)
            if mine != theirs:
                raise InputError(
                    f"{name}: the totals cannot be added up, because they differ in it: {mine!r} "
                    f"and {theirs!r}."
                )
        result = type(self)(**self._settings())
        result._table = self._table + other._table
        return result

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Totals) or type(other) is not type(self):
            return NotImplemented
        same = self._settings() == other._settings()
        return same and np.array_equal(self._table, other._table)

    __hash__ = None  # type: ignore[assignment]  # totals change

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the totals to a JSON file, whole or not at all.

        Whoever stops in the middle leaves the file that was there before.

        Parameters
        ----------
        path : path
            The file.

        Examples
        --------
        >>> from stakes import Accumulator, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> running = Accumulator(costs)
        >>> running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
        >>> import tempfile, pathlib
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     running.save(pathlib.Path(folder) / "totals.json")
        ...     Accumulator.load(pathlib.Path(folder) / "totals.json") == running
        True
        """
        write_text(path, totals_text(self.to_dict()))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read totals that were saved; a file that was cut short or edited is refused.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        Accumulator or PairedAccumulator
            The totals.
        """
        return totals_from_text(read_text(path), str(path), cls)

    def to_dict(self) -> dict[str, Any]:
        """Return the totals as plain values.

        Returns
        -------
        dict
            The costs and the counts.
        """
        cells = self.impossible
        return {
            "kind": type(self).__name__,
            "costs": self.costs.to_dict(),
            "impossible": None if cells is None else [list(cell) for cell in cells],
            "unit": self.unit,
            "n": self.n,
            "counts": self._table.tolist(),
        }


def any_outcomes(*columns: Any) -> bool:
    """Tell whether a batch has any outcomes; none at all is a quiet day and no error."""
    return not all(_is_empty(values) for values in columns)


def _is_empty(values: Any) -> bool:
    try:
        return len(values) == 0
    except TypeError:  # the error for what is no column comes from counting it
        return False
