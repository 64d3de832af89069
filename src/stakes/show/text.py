"""Results as text for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from stakes._core.text import number, percent, text_table
from stakes.errors import DesignError, LabelError
from stakes.infer._inference import Interval
from stakes.infer.estimate import CostEstimate


def cost_table(
    estimates: Mapping[Any, CostEstimate],
    confidence: float = 0.95,
    method: str = "auto",
    **options: Any,
) -> str:
    """Write a table of what classifiers cost, the cheapest first.

    The last line is the best that one and the same decision for all examples would do. Where no
    decision is a class, none can be an error, and the table has a dash there; for costs of single
    examples it has neither.

    Parameters
    ----------
    estimates : mapping
        From the classifiers' names to their estimates, on the same examples and costs.
    confidence, method, **options
        Of the intervals, as in ``CostEstimate.interval``.

    Returns
    -------
    str
        The table.

    Notes
    -----
    The cost per decision is Σ M(i, j)·C(i, j)/n, with M(i, j) of the n examples decided as i that
    are j (equation 5.1 of Margineantu's thesis), and the total n times that. The intervals are
    those of ``CostEstimate.interval``.

    References
    ----------
    Margineantu, D. D. (2001). *Methods for Cost-Sensitive Learning*. PhD thesis, Oregon State
    University, section 5.2.

    Examples
    --------
    >>> from stakes import CostMatrix, evaluate
    >>> from stakes.show import cost_table
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true = [0, 0, 0, 1, 1]
    >>> print(cost_table({"careful": evaluate(y_true, [0, 1, 1, 1, 1], costs),
    ...                   "careless": evaluate(y_true, [0, 0, 0, 0, 1], costs)}))
    classifier  cost per decision    95 % interval  in total  errors
    careful                   0.4  0.05646 … 4.849         2    40 %
    careless                    2  0.05372 … 6.905        10    20 %
    always 1                  0.6   0.1582 … 4.957         3    60 %
    """
    ranked = sorted(estimates.items(), key=lambda item: item[1].cost)

    def row(name: Any, estimate: CostEstimate) -> list[str]:
        return _row(name, estimate, estimate.interval(confidence, method, **options))

    rows = [row(name, estimate) for name, estimate in ranked]
    if ranked:
        with suppress(DesignError):  # costs of single examples know no other decision
            decision, estimate = ranked[0][1].best_trivial()
            rows.append(row(f"always {decision}", estimate))
    sure = f"{percent(confidence)} interval"
    return text_table(["classifier", "cost per decision", sure, "in total", "errors"], rows)


def _row(name: Any, estimate: CostEstimate, interval: Interval) -> list[str]:
    low, high = map(number, interval)
    limits = f"{low} … {high}"
    return [str(name), number(estimate.cost), limits, number(estimate.total), _errors(estimate)]


def _errors(estimate: CostEstimate) -> str:
    try:
        return f"{100 * estimate.error_rate:.3g} %"
    except (LabelError, DesignError):
        return "–"
