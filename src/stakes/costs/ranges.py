"""Uncertain costs: ranges and distributions (thesis, Table 6.8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes._core import validate
from stakes._core.labels import Label, Labels, as_axes
from stakes._core.optional import data_frame
from stakes._core.text import Table, exact, html_table, matrix_table, text_table
from stakes._core.values import ByValue, readonly_copy
from stakes.costs.matrix import CostMatrix
from stakes.errors import InputError, InputTypeError, LabelError

Cell = tuple[Label, Label]


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CostRanges(ByValue):
    r"""A cost matrix whose cells are known only as ranges or distributions.

    Parameters
    ----------
    low, high : array_like, shape (decisions, classes) or its transpose
        The lowest and the highest cost of each cell; equal where the cost is known.
    rows : {"predicted", "actual"}
        What the rows of `low` and `high` stand for.
    labels, decisions : sequence
        The classes and, where they differ from them, the decisions.
    scale : {"linear", "log"}
        The distribution of a cost in its range: uniform, or with a uniform logarithm ("some
        millions"). On the log scale, the ends of a range must have the same sign or both be zero.
    distributions : mapping, optional
        From (decision, class) to a frozen ``scipy.stats`` distribution, which replaces the range
        of that cell.

    References
    ----------
    Margineantu (2001), Table 6.8.

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
        for values, name in ((low, "low"), (high, "high")):
            validate.refuse_frame(values, name, "Use frame.to_numpy(), in the order of the labels.")
        classes, choices = as_axes(labels, decisions)
        least = validate.costs(low, "low", rows=rows, labels=classes, decisions=choices)
        most = validate.costs(high, "high", rows=rows, labels=classes, decisions=choices)
        validate.choice(scale, "scale", ("linear", "log"))
        given = {} if distributions is None else distributions
        self._set(
            low=readonly_copy(least + 0.0),
            high=readonly_copy(most + 0.0),
            labels=classes,
            decisions=choices,
            scale=scale,
            distributions=tuple(_mapping(given, "distributions").items()),
        )
        self._check_ranges()
        for cell, distribution in self.distributions:
            find_cell(cell, choices, classes, "distributions")
            _check_distribution(cell, distribution)

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

        Returns
        -------
        CostRanges
            The ranges.

        Examples
        --------
        >>> from stakes import CostRanges
        >>> costs = CostRanges.from_cells({(0, 1): (2, 30), (1, 0): 1}, labels=[0, 1])
        >>> costs.low.tolist(), costs.high.tolist()
        ([[0.0, 2.0], [1.0, 0.0]], [[0.0, 30.0], [1.0, 0.0]])
        """
        classes, choices = as_axes(labels, decisions)
        bounds = np.zeros((2, len(choices), len(classes)))
        distributions = {}
        for cell, value in _mapping(cells, "cells").items():
            i, j = find_cell(cell, choices, classes, "cells")
            if hasattr(value, "rvs"):
                distributions[cell] = value
            else:
                bounds[:, i, j] = _ends(cell, value)
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

        Parameters
        ----------
        costs : CostMatrix
            The assumed costs.
        factor : float
            The factor by which each cost may be wrong, at least 1.

        Returns
        -------
        CostRanges
            The ranges.

        Examples
        --------
        >>> from stakes import CostMatrix, CostRanges
        >>> costs = CostMatrix.from_errors(false_positive=10, false_negative=100)
        >>> CostRanges.around(costs, 2).high.tolist()
        [[0.0, 200.0], [20.0, 0.0]]
        """
        validate.expect(costs, CostMatrix, "costs", "CostMatrix(values, rows=, labels=)")
        times = validate.one_number(factor, "factor")
        if times < 1:
            raise InputError("factor", f"expected a number of at least 1, got {factor!r}.")
        ends = np.sort([costs.values / times, costs.values * times], axis=0)
        return cls(
            *ends, rows="predicted", labels=costs.labels, decisions=costs.decisions, scale="log"
        )

    def sample(
        self, size: int, *, rng: np.random.Generator | int | None = None
    ) -> NDArray[np.float64]:
        """Sample cost matrices, each cell independently of the others.

        Parameters
        ----------
        size : int
            The number of matrices.
        rng : numpy Generator or seed
            The source of randomness.

        Returns
        -------
        ndarray, shape (size, decisions, classes)

        Examples
        --------
        >>> from stakes import CostRanges
        >>> costs = CostRanges.from_cells({(0, 1): (2, 30), (1, 0): 1}, labels=[0, 1])
        >>> costs.sample(3, rng=0)[:, 0, 1].round(1).tolist()
        [9.6, 27.6, 28.2]
        """
        how_many = validate.as_size(size, "size")
        generator = validate.generator(rng)
        shares = generator.random((how_many, *self.low.shape))
        if self.scale == "log":
            sign, low, high = self._magnitudes()
            drawn = sign * low * (high / low) ** shares
        else:
            drawn = self.low + (self.high - self.low) * shares
        drawn = np.clip(drawn, self.low, self.high)  # rounding must not leave the range
        for (decision, label), distribution in self.distributions:
            i, j = self._position(decision, label)
            drawn[:, i, j] = distribution.rvs(size=how_many, random_state=generator)
        return drawn

    def mean(self) -> CostMatrix:
        """Return the expected cost of each cell.

        It is (low + high)/2 on the linear scale, (high - low)/log(high/low) on the log scale, and
        the mean of the distribution for a cell that has one.

        Returns
        -------
        CostMatrix
            The matrix.

        Examples
        --------
        >>> from stakes import CostRanges
        >>> costs = CostRanges.from_cells({(0, 1): (2, 30), (1, 0): 1}, labels=[0, 1])
        >>> costs.mean().values.tolist()
        [[0.0, 16.0], [1.0, 0.0]]
        """
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

    def to_dict(self) -> dict[str, Any]:
        """Return the ranges as plain lists, and the distributions by name and parameters.

        Returns
        -------
        dict
            The ranges and distributions, as plain values.
        """
        return {
            "rows": "predicted",
            "labels": list(self.labels),
            "decisions": list(self.decisions),
            "scale": self.scale,
            "low": self.low.tolist(),
            "high": self.high.tolist(),
            "distributions": [
                {"decision": decision, "class": label, **_distribution_dict(distribution)}
                for (decision, label), distribution in self.distributions
            ],
        }

    def to_frame(self) -> Any:
        """Return the ranges as a pandas data frame with a row for each cell.

        Returns
        -------
        DataFrame
            The decision, the class, the lowest and the highest cost, and the name of the
            distribution that replaces the range; None where none does.

        Examples
        --------
        >>> from stakes import CostMatrix, CostRanges
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> CostRanges.around(costs, 2).to_frame()
           decision  actual  low  high distribution
        0         0       0  0.0   0.0         None
        1         0       1  5.0  20.0         None
        2         1       0  0.5   2.0         None
        3         1       1  0.0   0.0         None
        """
        drawn = {cell: each.dist.name for cell, each in self.distributions}
        return data_frame(
            [
                {
                    "decision": decision,
                    "actual": label,
                    "low": low,
                    "high": high,
                    "distribution": drawn.get((decision, label)),
                }
                for decision, lows, highs in zip(self.decisions, self.low, self.high, strict=True)
                for label, low, high in zip(self.labels, lows, highs, strict=True)
            ]
        )

    def _comparable(self) -> dict[str, Any]:
        """Return the values for equality, with frozen distributions by name and parameters."""
        keys = frozenset((cell, _distribution_key(each)) for cell, each in self.distributions)
        return {**self._values(), "distributions": keys}

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
                "low, high",
                f"{problem}, got {self.low[i, j]:g} … {self.high[i, j]:g} for predicting "
                f"{self.decisions[i]!r} when it was {self.labels[j]!r}.",
            )

    def _position(self, decision: Label, label: Label) -> tuple[int, int]:
        return find_cell((decision, label), self.decisions, self.labels, "distributions")


def find_cell(cell: Any, decisions: Labels, labels: Labels, name: str) -> tuple[int, int]:
    """Return the position of a cell that is given as a pair of decision and class."""
    match cell:
        case (decision, label) if decision in decisions and label in labels:
            return decisions.index(decision), labels.index(label)
    raise LabelError(
        name,
        f"expected a pair (decision, class) of the decisions {decisions} and the classes "
        f"{labels}, got {cell!r}.",
    )


def _mapping(cells: Any, name: str) -> Mapping[Any, Any]:
    if not isinstance(cells, Mapping):
        raise InputTypeError(
            name,
            "expected a mapping from (decision, class), such as {('no', 'yes'): …}, got "
            f"{cells!r} ({type(cells).__name__}).",
        )
    return cells


def _ends(cell: Any, value: Any) -> NDArray[Any]:
    """Read a number or a pair as the ends of a range."""
    try:
        ends = np.asarray(value)
    except ValueError:  # rows of different lengths
        ends = np.array(None)
    if ends.dtype.kind not in "biuf" or ends.shape not in ((), (2,)):
        raise InputError(
            "cells",
            f"expected a number, a pair (low, high) or a frozen distribution for {cell!r}, got "
            f"{value!r}.",
        )
    return ends


def _check_distribution(cell: Cell, distribution: Any) -> None:
    where = f"for predicting {cell[0]!r} when it was {cell[1]!r}"
    try:
        mean = float(distribution.mean())
        drawable = callable(distribution.rvs)
    except (AttributeError, TypeError, ValueError):
        mean, drawable = np.nan, False
    if not drawable:
        raise InputTypeError(
            "distributions",
            f"expected a frozen scipy.stats distribution of single numbers {where}, got "
            f"{distribution!r}.",
            "Give it its parameters, e.g. scipy.stats.gamma(3, scale=20).",
        )
    if not np.isfinite(mean):
        raise InputError(
            "distributions",
            f"expected a distribution with a finite mean {where}, got one with the mean {mean}.",
            "Take one with lighter tails, or a range.",
        )


def _distribution_dict(distribution: Any) -> dict[str, Any]:
    name, args, kwds = _distribution_key(distribution)
    return {
        "name": name if isinstance(name, str) else repr(name),
        "args": [number for each in args for number in each],
        "kwds": {key: number for key, each in kwds for number in each},
        "mean": float(distribution.mean()),
    }


def _distribution_key(distribution: Any) -> tuple[Any, ...]:
    """Return the name and the parameters of a frozen distribution."""
    family = getattr(distribution, "dist", None)
    if family is None:  # not frozen by scipy: it can only be compared as an object
        return distribution, (), ()
    args = tuple(tuple(np.ravel(value).tolist()) for value in distribution.args)
    kwds = {key: tuple(np.ravel(value).tolist()) for key, value in distribution.kwds.items()}
    return family.name, args, tuple(sorted(kwds.items()))
