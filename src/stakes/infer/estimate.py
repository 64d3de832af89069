"""What one classifier costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._labels import Label
from stakes._table import html_table, matrix_table, number
from stakes.costs.matrix import CostMatrix
from stakes.counts.confusion import Confusion
from stakes.measures.agreement import error_rate
from stakes.measures.cost import total_cost, trivial_costs


@dataclass(frozen=True, repr=False)
class CostEstimate:
    """What a classifier's decisions cost, per decision and in total.

    Parameters
    ----------
    confusion : Confusion
        What was decided.
    costs : CostMatrix
        What it costs.

    Examples
    --------
    >>> from stakes import Confusion, CostEstimate, CostMatrix
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> estimate = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
    >>> estimate.cost, estimate.total, estimate.n
    (0.28, 28.0, 100)
    >>> print(estimate.summary())
    100 decisions cost 0.28 each, 28 in total; 71 % of it is from predicting 0 when it was 1.
    """

    confusion: Confusion
    costs: CostMatrix

    def __post_init__(self) -> None:
        self._cell_costs()  # raises when the labels do not agree

    @property
    def n(self) -> Any:
        """The number of decisions, or the sum of their weights."""
        return self.confusion.n

    @property
    def total(self) -> float:
        """What all decisions cost together."""
        return total_cost(self.confusion, self.costs)

    @property
    def cost(self) -> float:
        """What a decision costs on average (thesis, equation 2.4)."""
        return self.total / float(self.n)

    @property
    def error_rate(self) -> float:
        """The share of decisions that were not the actual class."""
        return error_rate(self.confusion)

    def best_trivial(self) -> tuple[Label, CostEstimate]:
        """Return the decision that would be cheapest for all examples alike, and its estimate."""
        each = trivial_costs(self.confusion, self.costs)
        decision = min(each, key=lambda name: each[name])
        counts = np.zeros((len(self.costs.decisions), len(self.confusion.labels)))
        counts[self.costs.decisions.index(decision)] = self.confusion.class_counts
        if not self.confusion.weighted:
            counts = counts.astype(np.int64)
        always = Confusion(counts, self.confusion.labels, self.costs.decisions)
        return decision, CostEstimate(always, self.costs)

    def contributions(self) -> NDArray[np.float64]:
        """Return the part of the average cost that each cell ``[predicted, actual]`` makes up."""
        return np.asarray(self.confusion.counts * self._cell_costs() / self.n)

    def summary(self) -> str:
        """Say in a sentence what the decisions cost and which mistake costs most."""
        text = f"{number(self.n)} decisions cost {number(self.cost)} each"
        text += f", {number(self.total)} in total"
        worst = self._worst_cell()
        if worst is None:
            return f"{text}."
        predicted, actual, share = worst
        return f"{text}; {share:.0%}".replace("%", " %") + (
            f" of it is from predicting {predicted!r} when it was {actual!r}."
        )

    def _cell_costs(self) -> NDArray[np.float64]:
        return self.costs.values_for(self.confusion.labels, self.confusion.decisions)

    def _worst_cell(self) -> tuple[Label, Label, float] | None:
        """Return the costliest cell and its share, where shares make sense: no gains."""
        parts = self.contributions()
        if parts.min() < 0 or not parts.any():
            return None
        i, j = np.unravel_index(parts.argmax(), parts.shape)
        return (
            self.confusion.decisions[i],
            self.confusion.labels[j],
            float(parts[i, j] / parts.sum()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as plain numbers and lists."""
        return {
            "n": self.n,
            "cost": self.cost,
            "total": self.total,
            "contributions": self.contributions().tolist(),
            "confusion": self.confusion.to_dict(),
            "costs": self.costs.to_dict(),
        }

    def __repr__(self) -> str:
        return f"CostEstimate(cost={self.cost:.6g}, total={self.total:.6g}, n={number(self.n)})"

    def _repr_html_(self) -> str:
        cells = [[number(part) for part in row] for row in self.contributions().tolist()]
        table = matrix_table(self.confusion.decisions, self.confusion.labels, cells)
        return html_table(*table, caption=f"{self.summary()} Cost per decision by cell:")


def evaluate(
    y_true: Any, y_pred: Any, costs: CostMatrix, *, sample_weight: Any = None
) -> CostEstimate:
    """Return what a classifier's decisions cost.

    Parameters
    ----------
    y_true : array_like, shape (n,)
        The actual class of each example.
    y_pred : array_like, shape (n,)
        What was decided for each example.
    costs : CostMatrix
        What each decision costs for each class.
    sample_weight : array_like, shape (n,), optional
        The weight of each example.

    Examples
    --------
    >>> from stakes import CostMatrix, evaluate
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10,
    ...                                pos_label="fraud", neg_label="ok")
    >>> evaluate(["ok", "ok", "fraud", "ok"], ["ok", "fraud", "ok", "ok"], costs).cost
    2.75
    """
    confusion = Confusion.from_labels(
        y_true,
        y_pred,
        labels=costs.labels,
        decisions=costs.decisions,
        sample_weight=sample_weight,
    )
    return CostEstimate(confusion, costs)
