"""Costs that are known only roughly: ranges and distributions (thesis, Table 6.8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes import _validate
from stakes._byvalue import ByValue, frozen
from stakes._labels import Label, Labels, as_axes
from stakes._table import Table, exact, html_table, matrix_table, text_table
from stakes.costs.matrix import CostMatrix
from stakes.errors import InputError, InputTypeError, LabelError

Cell = tuple[Label, Label]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CostRanges(ByValue):
    r"""A cost matrix whose cells are known only as ranges or distributions.

    Parameters
    ----------
    low, high : array_like, shape (decisions, classes) or its transpose
        The least and the most that each cell can cost; equal where the cost is known.
    rows : {"predicted", "actual"}
        What the rows of `low` and `high` stand for.
    labels, decisions : sequence
        The classes and, where they differ from them, the decisions.
    scale : {"linear", "log"}
        How a cost lies in its range: uniformly, or with a uniform logarithm ("some millions").
        On the log scale the ends of a range are both positive, or both negative.
    distributions : mapping, optional
        From (decision, class) to a frozen ``scipy.stats`` distribution, which replaces the range
        of that cell.

    Examples
    --------
    The river-channel task of Table 6.8, where losses are known to an order of magnitude:

    >>> from stakes import CostRanges
    >>> costs = CostRanges.from_cells(
    ...     {("stable", "unstable"): (3e6, 3e7),
    ...      ("unstable", "stable"): (500, 2000),
    ...      ("unstable", "unstable"): (1000, 5000)},
    ...     labels=["stable", "unstable"], scale="log")
    >>> costs
    CostRanges (log): rows are predicted, columns are actual
    predicted \ actual       stable            unstable
    stable                        0  3000000 … 30000000
    unstable             500 … 2000         1000 … 5000
    >>> costs.sample(1000, rng=0).shape
    (1000, 2, 2)
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    labels: Labels
    decisions: Labels
    scale: str
    distributions: tuple[tuple[Cell, Any], ...]

    def __init__(
        self,
        low: ArrayLike,
        high: ArrayLike,
        *,
        rows: str | None = None,
        labels: Any,
        decisions: Any = None,
        scale: str = "linear",
        distributions: Mapping[Cell, Any] | None = None,
    ) -> None:
        classes, choices = as_axes(labels, decisions)
        least = _validate.costs(low, "low", rows=rows, labels=classes, decisions=choices)
        most = _validate.costs(high, "high", rows=rows, labels=classes, decisions=choices)
        _validate.choice(scale, "scale", ("linear", "log"))
        self._set(
            low=frozen(least + 0.0),
            high=frozen(most + 0.0),
            labels=classes,
            decisions=choices,
            scale=scale,
            distributions=tuple((distributions or {}).items()),
        )
        self._check_ranges()
        for (decision, label), distribution in self.distributions:
            self._position(decision, label)
            if not (hasattr(distribution, "rvs") and hasattr(distribution, "mean")):
                raise InputTypeError(
                    f"distributions: expected a frozen scipy.stats distribution for predicting "
                    f"{decision!r} when it was {label!r}, got {distribution!r}."
                )

    @classmethod
    def from_cells(
        cls,
        cells: Mapping[Cell, Any],
        *,
        labels: Any,
        decisions: Any = None,
        scale: str = "linear",
    ) -> CostRanges:
        """Make ranges from the cells that cost something; all others cost nothing.

        Parameters
        ----------
        cells : mapping
            From (decision, class) to a number, a pair (low, high), or a frozen ``scipy.stats``
            distribution.
        labels, decisions, scale
            As for the class.
        """
        classes, choices = as_axes(labels, decisions)
        bounds = np.zeros((2, len(choices), len(classes)))
        distributions = {}
        for cell, value in cells.items():
            i, j = _find(cell, choices, classes)
            if hasattr(value, "rvs"):
                distributions[cell] = value
                continue
            ends = np.asarray(value)
            if ends.dtype.kind not in "biuf" or ends.shape not in ((), (2,)):
                raise InputError(
                    f"cells: expected a number, a pair (low, high) or a frozen distribution for "
                    f"{cell!r}, got {value!r}."
                )
            bounds[:, i, j] = ends
        return cls(
            *bounds,
            rows="predicted",
            labels=classes,
            decisions=choices,
            scale=scale,
            distributions=distributions,
        )

    @classmethod
    def around(cls, costs: CostMatrix, factor: float) -> CostRanges:
        """Make ranges around known costs: each cell between C/`factor` and C·`factor`, log scale.

        Examples
        --------
        >>> from stakes import CostMatrix, CostRanges
        >>> costs = CostMatrix.from_errors(false_positive=10, false_negative=100)
        >>> CostRanges.around(costs, 2).high.tolist()
        [[0.0, 200.0], [20.0, 0.0]]
        """
        if not np.isfinite(factor) or factor < 1:
            raise InputError(f"factor: expected a number of at least 1, got {factor!r}.")
        ends = np.sort([costs.values / factor, costs.values * factor], axis=0)
        return cls(
            *ends, rows="predicted", labels=costs.labels, decisions=costs.decisions, scale="log"
        )

    def sample(
        self, size: int, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.float64]:
        """Draw cost matrices, each cell independently of the others.

        Parameters
        ----------
        size : int
            How many.
        rng : numpy Generator or seed
            The source of randomness.

        Returns
        -------
        ndarray, shape (size, decisions, classes)
        """
        generator = np.random.default_rng(rng)
        shares = generator.random((size, *self.low.shape))
        if self.scale == "log":
            sign, low, high = self._magnitudes()
            drawn = sign * low * (high / low) ** shares
        else:
            drawn = self.low + (self.high - self.low) * shares
        drawn = np.clip(drawn, self.low, self.high)  # rounding must not leave the range
        for (decision, label), distribution in self.distributions:
            i, j = self._position(decision, label)
            drawn[:, i, j] = distribution.rvs(size=size, random_state=generator)
        return drawn

    def mean(self) -> CostMatrix:
        """Return the expected cost of each cell."""
        if self.scale == "log":
            sign, low, high = self._magnitudes()
            ratio = np.log(high / low)
            spread = ratio > 0
            values = sign * np.where(spread, (high - low) / np.where(spread, ratio, 1), low)
        else:
            values = self.low + (self.high - self.low) / 2
        for (decision, label), distribution in self.distributions:
            values[self._position(decision, label)] = distribution.mean()
        return CostMatrix(values, rows="predicted", labels=self.labels, decisions=self.decisions)

    def __repr__(self) -> str:
        title = f"CostRanges ({self.scale}): rows are predicted, columns are actual"
        return f"{title}\n{text_table(*self._table())}"

    def _repr_html_(self) -> str:
        return html_table(*self._table(), caption="Cost ranges: rows are predicted, columns actual")

    def _table(self) -> Table:
        cells = [
            [
                exact(a) if a == b else f"{exact(a)} … {exact(b)}"
                for a, b in zip(low, high, strict=True)
            ]
            for low, high in zip(self.low.tolist(), self.high.tolist(), strict=True)
        ]
        for (decision, label), distribution in self.distributions:
            i, j = self._position(decision, label)
            cells[i][j] = f"mean {exact(distribution.mean())}"
        return matrix_table(self.decisions, self.labels, cells)

    def _magnitudes(
        self,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the sign of each cell and its smaller and larger absolute value; 1 for zero."""
        sign = np.sign(self.low)
        ends = np.sort(np.abs([self.low, self.high]), axis=0)
        low, high = np.where(sign == 0, 1.0, ends)
        return sign, low, high

    def _check_ranges(self) -> None:
        wrong = self.low > self.high
        problem = "low must not be above high"
        if self.scale == "log" and not wrong.any():
            wrong = np.sign(self.low) != np.sign(self.high)
            problem = "on the log scale the ends must have the same sign and not be zero"
        if wrong.any():
            i, j = np.argwhere(wrong)[0]
            raise InputError(
                f"low, high: {problem}, got {self.low[i, j]:g} … {self.high[i, j]:g} for "
                f"predicting {self.decisions[i]!r} when it was {self.labels[j]!r}."
            )

    def _position(self, decision: Label, label: Label) -> tuple[int, int]:
        return _find((decision, label), self.decisions, self.labels)


def _find(cell: Any, decisions: Labels, labels: Labels) -> tuple[int, int]:
    match cell:
        case (decision, label) if decision in decisions and label in labels:
            return decisions.index(decision), labels.index(label)
    raise LabelError(
        f"expected a pair (decision, class) of the decisions {decisions} and the classes {labels}, "
        f"got {cell!r}."
    )
