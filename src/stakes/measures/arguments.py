"""The arguments that the measures share, told apart when they come in the wrong order."""

from __future__ import annotations

from typing import Any

from stakes._validate import expect
from stakes.costs.matrix import CostMatrix
from stakes.counts.confusion import Confusion


def check_confusion(confusion: Any) -> None:
    """Check that an argument is a confusion matrix of stakes."""
    expect(confusion, Confusion, "confusion", "Confusion.from_labels(y_true, y_pred)")


def check_costs(costs: Any) -> None:
    """Check that an argument is a cost matrix of stakes."""
    expect(costs, CostMatrix, "costs", "CostMatrix(values, rows=, labels=)")
