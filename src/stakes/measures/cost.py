"""What decisions cost, by themselves and against decisions that look at nothing."""

from __future__ import annotations

from typing import Any

from stakes._core.labels import Label
from stakes._core.result import checked
from stakes._core.validate import expect
from stakes.costs.matrix import CostMatrix
from stakes.counts.confusion import Confusion
from stakes.errors import InputError


def check_confusion(confusion: Any) -> None:
    """Check that an argument is a confusion matrix of stakes."""
    expect(confusion, Confusion, "confusion", "Confusion.from_labels(y_true, y_pred)")


def check_costs(costs: Any) -> None:
    """Check that an argument is a cost matrix of stakes."""
    expect(costs, CostMatrix, "costs", "CostMatrix(values, rows=, labels=)")


@checked
def expected_cost(confusion: Confusion, costs: CostMatrix) -> float:
    """Return the average cost of a decision.

    Σ P(i, j) C(i, j), with the observed shares as the probabilities (thesis, equation 2.4).

    Parameters
    ----------
    confusion : Confusion
        What was decided.
    costs : CostMatrix
        What it costs. It may have classes and decisions that `confusion` has not, in any order.

    Returns
    -------
    float
        The cost per decision.

    References
    ----------
    Margineantu (2001), equation 2.4.

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix, expected_cost
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> expected_cost(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
    0.28
    """
    return total_cost(confusion, costs) / float(confusion.n)


@checked
def total_cost(confusion: Confusion, costs: CostMatrix) -> float:
    """Return what all decisions cost together.

    Σ M(i, j) C(i, j), with M(i, j) the number of examples of class j for which i was decided.

    Parameters
    ----------
    confusion : Confusion
        What was decided.
    costs : CostMatrix
        What it costs. It may have classes and decisions that `confusion` has not, in any order.

    Returns
    -------
    float
        The cost of all decisions.

    References
    ----------
    Margineantu (2001), equation 2.4.

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix
    >>> from stakes.measures import total_cost
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> total_cost(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
    28.0
    """
    check_confusion(confusion)
    check_costs(costs)
    values = costs.values_for(confusion.labels, confusion.decisions)
    return float((confusion.counts * values).sum())


@checked
def trivial_costs(confusion: Confusion, costs: CostMatrix) -> dict[Label, float]:
    """Return the average cost of always deciding the same, for each decision.

    Of deciding i for all, Σ_j P(j) C(i, j), with the observed shares of the classes as P.

    Parameters
    ----------
    confusion : Confusion
        What was decided.
    costs : CostMatrix
        What it costs. It may have classes and decisions that `confusion` has not, in any order.

    Returns
    -------
    dict
        From each decision to the average cost of taking it always.

    References
    ----------
    Holte & Drummond (2005), section 4, for two classes.

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix
    >>> from stakes.measures import trivial_costs
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> trivial_costs(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
    {0: 4.2, 1: 0.58}
    """
    check_confusion(confusion)
    check_costs(costs)
    shares = confusion.class_counts / confusion.n
    each = costs.values_for(confusion.labels, costs.decisions) @ shares
    return dict(zip(costs.decisions, each.tolist(), strict=True))


@checked
def normalized_cost(confusion: Confusion, costs: CostMatrix) -> float:
    """Return the cost on a scale from 0, no mistakes, to 1, the best trivial decision.

    normalised = (cost - perfect)/(trivial - perfect), where `perfect` takes the cheapest decision
    for each class, and `trivial` is the cheapest decision that is the same for all. Equivalent cost
    matrices give the same number. Above 1, not looking at the examples would be cheaper.

    Parameters
    ----------
    confusion : Confusion
        What was decided.
    costs : CostMatrix
        What it costs. It may have classes and decisions that `confusion` has not, in any order.

    Returns
    -------
    float
        The normalised cost; 0 or more.

    References
    ----------
    Correa Bahnsen et al. (2014). Their savings are one minus this where correct decisions cost
    nothing.

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix
    >>> from stakes.measures import normalized_cost
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> round(normalized_cost(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs), 4)
    0.4828
    """
    check_confusion(confusion)
    check_costs(costs)
    # Taking out the constant of each class first keeps the difference free of its rounding.
    reduced = costs.nonnegative()
    trivial = min(trivial_costs(confusion, reduced).values())
    if trivial <= 0:
        raise InputError(
            "confusion",
            "the same decision is the cheapest for every example here, so there is nothing to "
            "compare with.",
            "At least two classes that call for different decisions are needed.",
        )
    return expected_cost(confusion, reduced) / trivial


@checked
def savings(confusion: Confusion, costs: CostMatrix) -> float:
    """Return the share of the best trivial decision's avoidable cost that is saved.

    savings = 1 - normalised cost: 1 without mistakes, 0 when always deciding the same is as good,
    negative when it is better.

    Parameters
    ----------
    confusion : Confusion
        What was decided.
    costs : CostMatrix
        What it costs. It may have classes and decisions that `confusion` has not, in any order.

    Returns
    -------
    float
        The savings; at most 1.

    References
    ----------
    Correa Bahnsen et al. (2014). The same where correct decisions cost nothing.

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix
    >>> from stakes.measures import savings
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> round(savings(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs), 4)
    0.5172
    """
    return 1.0 - normalized_cost(confusion, costs)
