"""Costs that differ from example to example (thesis, Table 2.3 and section 7.2.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes._core import validate
from stakes._core.labels import Labels, as_labels, label_codes, plain
from stakes._core.optional import data_frame
from stakes._core.text import exact, html_table
from stakes._core.validate import column_labels, column_order
from stakes._core.values import ByValue, readonly_copy
from stakes.costs.matrix import CostMatrix
from stakes.errors import DesignError, InputError, InputTypeError

SHOWN = 10
"""Number of examples that a notebook shows."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class ExampleCosts(ByValue):
    """The cost of each decision for each example.

    Use it where a mistake's cost depends on the case and not only on its class: the amount of a
    transaction, the exposure of a loan.

    Parameters
    ----------
    values : array_like or data frame, shape (n, decisions)
        The cost of each decision for each example, given its actual class.
    decisions : sequence, optional
        The names of the columns; by default those of the data frame, or 0, 1, … The columns of a
        data frame are matched to them by name. The index of a pandas frame is kept, and pairs the
        costs with other pandas columns; see the notes.
    high : float or "tail", optional
        The most that a decision can cost for any example, including examples not in this sample;
        "tail" for the mean of amounts above the largest one, estimated from the largest ones. By
        default the largest of `values`, which is too low where amounts are very unequal: intervals
        then state that their confidence is not claimed.

    Notes
    -----
    Labels, predictions and other columns with the same pandas index in another order are paired
    with the costs by index; those with a different index are refused. Arguments without an index
    are paired by position, and refused beside two indexes in different orders.

    The decisions d cost Σ_x C(d(x), x), where C(i, x) is the cost of decision i for the example x.
    Amounts beyond the largest, a, are modelled by a Pareto tail; its index ξ is Hill's estimate
    from the √n largest, but at most 0.9. The mean of amounts beyond a is then a/(1 - ξ).

    References
    ----------
    Margineantu (2001), Table 2.3 and section 7.2.1.

    Hill (1975).

    Examples
    --------
    A missed fraud costs its amount, and an alarm costs 5 to investigate:

    >>> from stakes import ExampleCosts
    >>> costs = ExampleCosts([[0, 5], [120, 5], [35, 5]], decisions=["ok", "fraud"])
    >>> costs.of(["ok", "fraud", "ok"]).tolist()
    [0.0, 5.0, 35.0]
    """

    of_class: NDArray[np.float64] | None
    decisions: Labels
    high: float
    assumed: bool
    by_class: NDArray[np.float64] | None
    index: Any

    def __init__(
        self, values: ArrayLike, *, decisions: Any = None, high: float | str | None = None
    ) -> None:
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
        self._set(
            of_class=readonly_copy(array + 0.0),
            decisions=choices,
            high=_highest(array, high),
            assumed=high is None,
            by_class=None,
            index=validate.index_of(values),
        )

    @classmethod
    def from_matrix(
        cls,
        costs: CostMatrix,
        y_true: Any = None,
        factor: ArrayLike = 1.0,
        *,
        high: float | str | None = None,
    ) -> ExampleCosts:
        """Scale a cost matrix by a factor for each example: C(i, j)·f(x), as in Table 2.3.

        Parameters
        ----------
        costs : CostMatrix
            The cost of each decision for each class.
        y_true : array_like, shape (n,), optional
            The actual class of each example; needed for the cost of decisions, not for `decide`.
        factor : float or array_like, shape (n,) or (n, decisions)
            The multiplier of the costs of an example: one for all its decisions, or one for each,
            in the order of ``costs.decisions``.
        high : float or "tail", optional
            The most that a decision can cost for any example, as for the class.

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
        y_true, factor = validate.aligned(y_true=y_true, factor=factor)
        index = validate.index_of(factor if y_true is None else y_true)
        index = validate.index_of(factor) if index is None else index
        multiplier = validate.numeric(factor, "factor", ndim=_dimensions(factor))
        codes = None
        if y_true is not None:
            codes = label_codes(y_true, "y_true", costs.labels, "classes of the costs")
        n = len(multiplier) if codes is None and multiplier.ndim else 1
        n = n if codes is None else len(codes)
        shapes = ((), (n,), (n, len(costs.decisions)))
        if multiplier.shape not in shapes:
            raise InputError(
                "factor",
                f"expected a number or an array of shape {shapes[1]} or {shapes[2]}, got shape "
                f"{multiplier.shape}.",
            )
        if multiplier.ndim == 1:
            multiplier = multiplier[:, np.newaxis]
        each = np.broadcast_to(multiplier, (n, len(costs.decisions)))
        by_class = costs.values * each[:, :, np.newaxis]
        worst = by_class.max(axis=2)
        if codes is None:
            result = cls(worst, decisions=costs.decisions, high=high)
            return result._changed(of_class=None, by_class=readonly_copy(by_class), index=index)
        result = cls(costs.values.T[codes] * each, decisions=costs.decisions, high=high)
        return result._changed(by_class=readonly_copy(by_class), index=index)

    def reindex(self, index: Any) -> ExampleCosts:
        """Return the costs of the same examples in another order.

        Parameters
        ----------
        index : pandas Index
            The entries of the index of the costs, in the order wanted.

        Returns
        -------
        ExampleCosts
            A row for each entry.

        Examples
        --------
        >>> import pandas as pd
        >>> from stakes import ExampleCosts
        >>> frame = pd.DataFrame({"ok": [0, 120], "fraud": [5, 5]}, index=["a", "b"])
        >>> ExampleCosts(frame).reindex(pd.Index(["b", "a"])).values.tolist()
        [[120.0, 5.0], [0.0, 5.0]]
        """
        if not hasattr(index, "get_indexer"):
            raise InputTypeError("index", f"expected a pandas Index, got {type(index).__name__}.")
        if index.equals(self.index):
            return self
        if self.index is not None and not self.index.is_unique:
            twice = plain(self.index[self.index.duplicated()][0])
            raise InputError(
                "index",
                f"the costs have several rows with the entry {twice!r}, so that its order is not "
                "known.",
                "Give each row of the costs an index of its own.",
            )
        places = None if self.index is None else self.index.get_indexer(index)
        if places is None or (places < 0).any():
            raise InputError("index", "expected entries of the index that the costs have.")
        tables = {
            name: None if table is None else readonly_copy(table[places])
            for name, table in (("of_class", self.of_class), ("by_class", self.by_class))
        }
        return self._changed(**tables, index=index)

    @property
    def values(self) -> NDArray[np.float64]:
        """The cost of each decision for each example, given its actual class."""
        if self.of_class is None:
            raise DesignError(
                "costs",
                "what decisions cost depends on the actual classes, which are not known.",
                "Give y_true to ExampleCosts.from_matrix.",
            )
        return self.of_class

    def decide(self, proba: Any) -> NDArray[Any]:
        """Return the decision with the lowest expected cost for each example.

        Parameters
        ----------
        proba : array_like, shape (n, classes) or (n,)
            The probability of each class; with two classes, that of the second is enough.

        Returns
        -------
        ndarray, shape (n,)
            The decisions, in the order of `proba`.

        Notes
        -----
        The expected cost of deciding i is Σ_j P(j | x) C(i, j, x), so the costs of every class must
        be known, not only those of the actual one. Costs made by `from_matrix` have them.

        Examples
        --------
        >>> from stakes import CostMatrix, ExampleCosts
        >>> costs = CostMatrix.from_errors(false_positive=5, false_negative=1,
        ...                                pos_label="fraud", neg_label="ok")
        >>> amounts = ExampleCosts.from_matrix(costs, factor=[[120, 1], [4, 1]])
        >>> amounts.decide([0.2, 0.2]).tolist()
        ['fraud', 'ok']
        """
        by_class = self._in_order_of(proba=proba).by_class
        if by_class is None:
            raise DesignError(
                "costs",
                "deciding needs the costs of every class, and only those of the actual ones are "
                "known.",
                "Use ExampleCosts.from_matrix(costs, factor=amounts).",
            )
        chances = validate.numeric(proba, "proba", ndim=_dimensions(proba))
        if chances.ndim == 1 and by_class.shape[2] == 2:  # noqa: PLR2004 - the second's
            chances = np.column_stack([1 - chances, chances])
        chances = validate.probabilities(chances, tuple(range(by_class.shape[2])))
        validate.same_length({"costs": len(self), "proba": len(chances)})
        best = np.einsum("xij,xj->xi", by_class, chances).argmin(axis=1)
        return np.asarray(np.array(self.decisions)[best])

    def of(self, y_pred: Any) -> NDArray[np.float64]:
        """Return the cost of the decisions `y_pred`, one number for each example.

        Parameters
        ----------
        y_pred : array_like, shape (n,)
            The decision for each example.

        Returns
        -------
        ndarray, shape (n,)
            The costs, in the order of `y_pred`.

        Examples
        --------
        >>> from stakes import ExampleCosts
        >>> ExampleCosts([[0, 5], [120, 5]], decisions=["ok", "fraud"]).of(["fraud", "ok"]).tolist()
        [5.0, 120.0]
        """
        values = self._in_order_of(y_pred=y_pred).values
        codes = label_codes(y_pred, "y_pred", self.decisions, "decisions of the costs")
        validate.same_length({"costs": len(self), "y_pred": len(codes)})
        return np.take_along_axis(values, codes[:, np.newaxis], axis=1)[:, 0]

    def _in_order_of(self, **rows: Any) -> ExampleCosts:
        """Return the costs in the order of an argument's pandas index, if both have one."""
        index = validate.index_of(*rows.values())
        if self.index is None or index is None or len(index) != len(self):
            return self
        validate.aligned(costs=self, **rows)  # refuses the index of other examples
        return self.reindex(index)

    def _comparable(self) -> dict[str, Any]:
        return {name: each for name, each in self._values().items() if name != "index"}

    def __len__(self) -> int:
        return len(self.by_class if self.of_class is None else self.of_class)  # type: ignore[arg-type]

    def to_dict(self) -> dict[str, Any]:
        """Return the costs as plain lists.

        Returns
        -------
        dict
            The decisions and their costs, as plain values.
        """
        values = None if self.of_class is None else self.of_class.tolist()
        return {"decisions": list(self.decisions), "values": values}

    def to_frame(self) -> Any:
        """Return the costs as a pandas data frame with a row for each example.

        Returns
        -------
        DataFrame
            The cost of each decision, given the actual class, which must be known.

        Examples
        --------
        >>> from stakes import ExampleCosts
        >>> ExampleCosts([[0, 5], [120, 0]], decisions=["ok", "fraud"]).to_frame()
              ok  fraud
        0    0.0    5.0
        1  120.0    0.0
        """
        return data_frame(dict(zip(self.decisions, self.values.T, strict=True)))

    def __repr__(self) -> str:
        return f"ExampleCosts({len(self)} examples, decisions {self.decisions})"

    def _repr_html_(self) -> str:
        shown = [] if self.of_class is None else self.of_class[:SHOWN].tolist()
        rows = [[str(row), *map(exact, costs)] for row, costs in enumerate(shown)]
        more = f", the first {SHOWN} of them" if len(self) > SHOWN else ""
        caption = f"Costs of each decision for {len(self)} examples{more}"
        return html_table(["example", *map(str, self.decisions)], rows, caption=caption)


def _decisions(values: Any, width: int, decisions: Any) -> Labels:
    """Take the names of the columns from the caller, else from a data frame, else number them."""
    if decisions is not None:
        return as_labels(decisions, "decisions")
    return column_labels(values) or tuple(range(width))


MOST_TAIL, FEWEST_OF_TAIL = 0.9, 3


def _highest(values: NDArray[np.float64], high: float | str | None) -> float:
    """Return the most that an example can cost."""
    largest = float(values.max())
    if high is None:
        return largest
    if isinstance(high, str):
        if high != "tail":
            raise InputError("high", f"expected a number, 'tail' or None, got {high!r}.")
        return tail_bound(values.max(axis=1))
    most = float(validate.numeric(high, "high", ndim=0))
    if not np.isfinite(most) or most < largest:
        raise InputError(
            "high",
            f"expected a finite number, at least the largest cost, {largest:g}; got {most:g}.",
        )
    return most


def tail_bound(amounts: NDArray[np.float64]) -> float:
    """Return the estimated mean of amounts larger than all of these."""
    positive = amounts[amounts > 0]
    # Amounts that many examples share, such as the cost of an alarm, say nothing about the tail.
    found, times = np.unique(positive, return_counts=True)
    single = found[times == 1]
    ordered = np.sort(single if len(single) > FEWEST_OF_TAIL else positive)[::-1]
    if len(ordered):
        ordered[0] = positive.max()
    if len(ordered) <= FEWEST_OF_TAIL:
        raise InputError(
            "high",
            f"a tail needs more than {FEWEST_OF_TAIL} examples with a cost, got {len(ordered)}.",
            "Give the most that an example can cost.",
        )
    among = min(max(int(np.sqrt(len(ordered))), FEWEST_OF_TAIL), len(ordered) - 1)
    index = float(np.log(ordered[:among] / ordered[among]).mean())
    return float(ordered[0]) / (1 - min(index, MOST_TAIL))


def _dimensions(factor: Any) -> int:
    """Return the number of dimensions of `factor`, at most 2."""
    try:
        return min(np.ndim(factor), 2)
    except ValueError:  # rows of different lengths, which the check of the numbers explains
        return 2
