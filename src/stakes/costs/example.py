"""Costs that differ from example to example (thesis, Table 2.3 and section 7.2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes._core import validate
from stakes._core.frames import column_labels, column_order
from stakes._core.labels import Labels, as_labels, label_codes
from stakes._core.text import exact, html_table
from stakes._core.values import ByValue, readonly_copy
from stakes.costs.matrix import CostMatrix
from stakes.errors import InputError

SHOWN = 10
"""How many examples a notebook shows."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ExampleCosts(ByValue):
    """The cost of each decision for each example.

    Use it where a mistake's cost depends on the case and not only on its class: the amount of a
    transaction, the exposure of a loan.

    Parameters
    ----------
    values : array_like or data frame, shape (n, decisions)
        Row by row, what each decision would cost for that example, its actual class being what it
        is.
    decisions : sequence, optional
        The names of the columns; by default those of the data frame, or 0, 1, … The columns of a
        data frame are matched to them by name.

    Notes
    -----
    What the decisions d cost is Σ_x C(d(x), x), C(i, x) being what deciding i costs for the example
    x.

    References
    ----------
    Margineantu (2001), Table 2.3 and section 7.2.1.

    Examples
    --------
    A missed fraud costs its amount, an alarm the five it takes to look into it:

    >>> from stakes import ExampleCosts
    >>> costs = ExampleCosts([[0, 5], [120, 5], [35, 5]], decisions=["ok", "fraud"])
    >>> costs.of(["ok", "fraud", "ok"]).tolist()
    [0.0, 5.0, 35.0]
    """

    values: NDArray[np.float64]
    decisions: Labels

    def __init__(self, values: ArrayLike, *, decisions: Any = None) -> None:
        array = validate.numeric(values, "values", ndim=2)
        if not array.size:
            raise InputError("values", "expected at least one example, got none.")
        validate.finite(array, "values", "Give the cost of each decision for each example.")
        choices = _decisions(values, array.shape[1], decisions)
        if len(choices) != array.shape[1]:
            raise InputError(
                "values",
                f"expected {len(choices)} columns, one for each decision, got {array.shape[1]}.",
            )
        order = column_order(values, choices, "values")
        array = array if order is None else array[:, order]
        self._set(values=readonly_copy(array + 0.0), decisions=choices)

    @classmethod
    def from_matrix(cls, costs: CostMatrix, y_true: Any, factor: ArrayLike = 1.0) -> ExampleCosts:
        """Scale a cost matrix by what each example has at stake: C(i, j)·f(x), as in Table 2.3.

        Parameters
        ----------
        costs : CostMatrix
            The cost of each decision for each class.
        y_true : array_like, shape (n,)
            The actual class of each example.
        factor : float or array_like, shape (n,) or (n, decisions)
            What multiplies the costs of an example: the same for all its decisions, or one for
            each, in the order of ``costs.decisions``.

        Returns
        -------
        ExampleCosts
            A row for each example.

        References
        ----------
        Margineantu (2001), Table 2.3.

        Examples
        --------
        >>> from stakes import CostMatrix, ExampleCosts
        >>> costs = CostMatrix.from_errors(false_positive=5, false_negative=1,
        ...                                pos_label="fraud", neg_label="ok")
        >>> amount = [[80, 1], [120, 1], [35, 1]]  # the miss costs it, the alarm does not
        >>> ExampleCosts.from_matrix(costs, ["ok", "fraud", "fraud"], amount).values.tolist()
        [[0.0, 5.0], [120.0, 0.0], [35.0, 0.0]]
        """
        validate.expect(costs, CostMatrix, "costs", "CostMatrix(values, rows=, labels=)")
        validate.refuse_frame(
            factor, "factor", "Use frame.to_numpy(), in the order of costs.decisions."
        )
        validate.same_index(y_true=y_true, factor=factor)
        codes = label_codes(y_true, "y_true", costs.labels, "classes of the costs")
        multiplier = validate.numeric(factor, "factor", ndim=_dimensions(factor))
        shapes = ((), (len(codes),), (len(codes), len(costs.decisions)))
        if multiplier.shape not in shapes:
            raise InputError(
                "factor",
                f"expected a number or an array of shape {shapes[1]} or {shapes[2]}, got shape "
                f"{multiplier.shape}.",
            )
        if multiplier.ndim == 1:
            multiplier = multiplier[:, np.newaxis]
        return cls(costs.values.T[codes] * multiplier, decisions=costs.decisions)

    def of(self, y_pred: Any) -> NDArray[np.float64]:
        """Return what the decisions `y_pred` cost, one number for each example.

        Parameters
        ----------
        y_pred : array_like, shape (n,)
            What was decided for each example.

        Returns
        -------
        ndarray, shape (n,)
            The costs.

        Examples
        --------
        >>> from stakes import ExampleCosts
        >>> ExampleCosts([[0, 5], [120, 5]], decisions=["ok", "fraud"]).of(["fraud", "ok"]).tolist()
        [5.0, 120.0]
        """
        codes = label_codes(y_pred, "y_pred", self.decisions, "decisions of the costs")
        validate.same_length({"costs": len(self), "y_pred": len(codes)})
        return np.take_along_axis(self.values, codes[:, np.newaxis], axis=1)[:, 0]

    def __len__(self) -> int:
        return len(self.values)

    def to_dict(self) -> dict[str, Any]:
        """Return the costs as plain lists.

        Returns
        -------
        dict
            What the constructor takes, as plain values.
        """
        return {"decisions": list(self.decisions), "values": self.values.tolist()}

    def __repr__(self) -> str:
        return f"ExampleCosts({len(self)} examples, decisions {self.decisions})"

    def _repr_html_(self) -> str:
        shown = self.values[:SHOWN].tolist()
        rows = [[str(row), *map(exact, costs)] for row, costs in enumerate(shown)]
        more = f", the first {SHOWN} of them" if len(self) > SHOWN else ""
        caption = f"Costs of each decision for {len(self)} examples{more}"
        return html_table(["example", *map(str, self.decisions)], rows, caption=caption)


def _decisions(values: Any, width: int, decisions: Any) -> Labels:
    """Take the names of the columns from the caller, else from a data frame, else number them."""
    if decisions is not None:
        return as_labels(decisions, "decisions")
    return column_labels(values) or tuple(range(width))


def _dimensions(factor: Any) -> int:
    """Return how many dimensions `factor` has, of those it may have."""
    try:
        return min(np.ndim(factor), 2)
    except ValueError:  # rows of different lengths, which the check of the numbers explains
        return 2
