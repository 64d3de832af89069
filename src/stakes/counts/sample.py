"""The costs of single examples, where they are not a matter of the class alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.text import html_table, number
from stakes._core.values import ByValue, readonly_copy
from stakes.costs.example import ExampleCosts
from stakes.errors import InputError


@dataclass(frozen=True, init=False, eq=False, repr=False)
class CostSample(ByValue):
    """What each example cost, and the least and the most that an example can cost.

    Parameters
    ----------
    values : array_like, shape (n,)
        The cost of each example, or the difference of two classifiers' costs.
    low, high : float, optional
        The least and the most that an example can cost; by default what was seen. The interval for
        the mean depends on them: what was never seen can still happen.

    Examples
    --------
    >>> from stakes import CostSample
    >>> CostSample([0, 0, 35, 10], high=500)
    CostSample: 4 examples, mean cost 11.25, possible 0 to 500
    """

    values: NDArray[np.float64]
    low: float
    high: float

    def __init__(self, values: Any, low: float | None = None, high: float | None = None) -> None:
        array = validate.numeric(values, "values", ndim=1)
        if not len(array):
            raise InputError("values", "expected at least one example, got none.")
        validate.finite(array, "values", "Give the cost of each example.")
        seen = (float(array.min()), float(array.max()))
        least = seen[0] if low is None else float(validate.numeric(low, "low", ndim=0))
        most = seen[1] if high is None else float(validate.numeric(high, "high", ndim=0))
        if not (np.isfinite([least, most]).all() and least <= seen[0] and most >= seen[1]):
            raise InputError(
                "low, high",
                f"expected finite bounds that contain all costs, {seen[0]:g} to {seen[1]:g}; got "
                f"{least:g} and {most:g}.",
            )
        self._set(values=readonly_copy(array + 0.0), low=least, high=most)

    @classmethod
    def from_labels(cls, costs: ExampleCosts, y_pred: Any, y_pred_2: Any = None) -> Self:
        """Take the costs of what was decided, or the differences of two classifiers' costs.

        The bounds are the least and the most that any decision costs for any of the examples.

        Parameters
        ----------
        costs : ExampleCosts
            What each decision costs for each example.
        y_pred : array_like, shape (n,)
            What was decided.
        y_pred_2 : array_like, shape (n,), optional
            What a second classifier decided.

        Returns
        -------
        CostSample
            The costs, or the differences of the first's and the second's.

        Examples
        --------
        >>> from stakes import CostSample, ExampleCosts
        >>> costs = ExampleCosts([[0, 5], [120, 5], [35, 5]], decisions=["ok", "fraud"])
        >>> CostSample.from_labels(costs, ["ok", "fraud", "ok"])
        CostSample: 3 examples, mean cost 13.33, possible 0 to 120
        """
        validate.same_index(y_pred=y_pred, y_pred_2=y_pred_2)
        low, high = float(costs.values.min()), float(costs.values.max())
        if y_pred_2 is None:
            return cls(costs.of(y_pred), low, high)
        spread = float(np.ptp(costs.values, axis=1).max())
        return cls(costs.of(y_pred) - costs.of(y_pred_2), -spread, spread)

    @property
    def n(self) -> int:
        """The number of examples."""
        return len(self.values)

    def __add__(self, other: object) -> Self:
        """Merge the costs of two sets of examples."""
        if not isinstance(other, type(self)):
            return NotImplemented
        values = np.concatenate([self.values, other.values])
        return type(self)(values, min(self.low, other.low), max(self.high, other.high))

    def __radd__(self, other: object) -> Self:
        """Start from nothing, as `sum` does."""
        return self if other == 0 else NotImplemented

    def to_dict(self) -> dict[str, Any]:
        """Return the sample as plain lists.

        Returns
        -------
        dict
            What the constructor takes, as plain values.
        """
        return {"values": self.values.tolist(), "low": self.low, "high": self.high}

    def __repr__(self) -> str:
        return (
            f"CostSample: {number(self.n)} examples, mean cost {number(self.values.mean())}, "
            f"possible {number(self.low)} to {number(self.high)}"
        )

    def _repr_html_(self) -> str:
        rows = {
            "examples": self.n,
            "mean cost": self.values.mean(),
            "least possible": self.low,
            "most possible": self.high,
        }
        return html_table(
            ["", "value"],
            [[name, number(value)] for name, value in rows.items()],
            "Sample of costs",
        )
