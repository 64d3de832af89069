"""Results as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from stakes._table import number, text_table
from stakes.infer.estimate import CostEstimate


def cost_table(estimates: Mapping[str, CostEstimate]) -> str:
    """Write a table of what classifiers cost, the cheapest first.

    The last line is the best that one and the same decision for all examples would do.

    Parameters
    ----------
    estimates : mapping
        From the classifiers' names to their estimates, on the same examples and costs.

    Examples
    --------
    >>> from stakes import CostMatrix, evaluate
    >>> from stakes.show import cost_table
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true = [0, 0, 0, 1, 1]
    >>> print(cost_table({"careful": evaluate(y_true, [0, 1, 1, 1, 1], costs),
    ...                   "careless": evaluate(y_true, [0, 0, 0, 0, 1], costs)}))
    classifier  cost per decision  in total  errors
    careful                   0.4         2    40 %
    careless                    2        10    20 %
    always 1                  0.6         3    60 %
    """
    ranked = sorted(estimates.items(), key=lambda item: item[1].cost)
    rows = [_row(name, estimate) for name, estimate in ranked]
    if ranked:
        decision, estimate = ranked[0][1].best_trivial()
        rows.append(_row(f"always {decision}", estimate))
    return text_table(["classifier", "cost per decision", "in total", "errors"], rows)


def _row(name: str, estimate: CostEstimate) -> list[str]:
    errors = f"{100 * estimate.error_rate:.3g} %"
    return [name, number(estimate.cost), number(estimate.total), errors]
