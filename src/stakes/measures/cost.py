"""Costs of decisions, absolute and relative to constant predictions; losses of probabilities.

The losses of class-probability predictions are those of Witten, Frank & Hall, section 5.6.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes._core import validate
from stakes._core.labels import Label, Labels, as_labels, label_codes
from stakes._core.validate import expect, ordered_probabilities
from stakes.costs.matrix import CostMatrix
from stakes.counts.confusion import Confusion
from stakes.errors import InputError


def check_confusion(confusion: Any) -> None:
    """Check that an argument is a confusion matrix of stakes."""
    expect(confusion, Confusion, "confusion", "Confusion.from_labels(y_true, y_pred)")


def check_costs(costs: Any) -> None:
    """Check that an argument is a cost matrix of stakes."""
    expect(costs, CostMatrix, "costs", "CostMatrix(values, rows=, labels=)")


def expected_cost(confusion: Confusion, costs: CostMatrix) -> float:
    """Return the average cost of a decision.

    Σ P(i, j) C(i, j), with the observed shares as the probabilities (thesis, equation 2.4).

    Parameters
    ----------
    confusion : Confusion
        The confusion matrix.
    costs : CostMatrix
        The costs. They may include classes and decisions that `confusion` lacks, in any order.

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


def total_cost(confusion: Confusion, costs: CostMatrix) -> float:
    """Return the total cost of all decisions.

    Σ M(i, j) C(i, j), with M(i, j) the number of examples of class j for which i was decided.

    Parameters
    ----------
    confusion : Confusion
        The confusion matrix.
    costs : CostMatrix
        The costs. They may include classes and decisions that `confusion` lacks, in any order.

    Returns
    -------
    float
        The total cost.

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


def constant_costs(confusion: Confusion, costs: CostMatrix) -> dict[Label, float]:
    """Return the average cost of each constant prediction.

    The cost of always predicting i is Σ_j P(j) C(i, j), with the observed class frequencies as P.

    Parameters
    ----------
    confusion : Confusion
        The confusion matrix, of which only the class frequencies are used.
    costs : CostMatrix
        The costs. They may include classes and decisions that `confusion` lacks, in any order.

    Returns
    -------
    dict
        From each decision to the average cost of always taking it.

    References
    ----------
    Holte & Drummond (2005), section 4, for two classes.

    Examples
    --------
    >>> from stakes import Confusion, CostMatrix
    >>> from stakes.measures import constant_costs
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> constant_costs(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
    {0: 4.2, 1: 0.58}
    """
    check_confusion(confusion)
    check_costs(costs)
    shares = confusion.class_counts / confusion.n
    each = costs.values_for(confusion.labels, costs.decisions) @ shares
    return dict(zip(costs.decisions, each.tolist(), strict=True))


def normalized_cost(confusion: Confusion, costs: CostMatrix) -> float:
    """Return the cost on a scale from 0, no mistakes, to 1, the best constant prediction.

    normalised = (cost - perfect)/(constant - perfect), where `perfect` is the cost of the cheapest
    decision for each class, and `constant` that of the cheapest constant prediction. Equivalent
    cost matrices give the same number. Above 1, that constant prediction is cheaper.

    Parameters
    ----------
    confusion : Confusion
        The confusion matrix.
    costs : CostMatrix
        The costs. They may include classes and decisions that `confusion` lacks, in any order.

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
    # Subtract the least cost of each class first, which avoids rounding errors of the difference.
    reduced = costs.nonnegative()
    constant = min(constant_costs(confusion, reduced).values())
    if constant <= 0:
        raise InputError(
            "confusion",
            "the same decision is the cheapest for every example here, so there is nothing to "
            "compare with.",
            "At least two classes that call for different decisions are needed.",
        )
    return expected_cost(confusion, reduced) / constant


def savings(confusion: Confusion, costs: CostMatrix) -> float:
    """Return the share of the best constant prediction's avoidable cost that is saved.

    savings = 1 - normalised cost: 1 without mistakes, 0 at the cost of the best constant
    prediction, negative above it.

    Parameters
    ----------
    confusion : Confusion
        The confusion matrix.
    costs : CostMatrix
        The costs. They may include classes and decisions that `confusion` lacks, in any order.

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


ROUNDING = 1e-9
"""Largest deviation of a sum from 1 that is due to rounding errors of the arithmetic."""


def quadratic_loss(y_true: Any, proba: ArrayLike, *, labels: Any) -> float:
    """Return the average quadratic loss, Σ_j (p_j - a_j)², with a_j 1 for the actual class.

    The loss is `sklearn.metrics.brier_score_loss` without halving. The loss of one example is at
    most 1 + Σ_j p_j², which never exceeds 2.

    Parameters
    ----------
    y_true : array_like, shape (n,)
        The actual class of each example.
    proba : array_like or data frame, shape (n, classes)
        Class probabilities, columns in the order of `labels`; those of a data frame are matched to
        them by name.
    labels : sequence
        The classes; ``clf.classes_`` for probabilities of scikit-learn.

    Returns
    -------
    float
        The average over the examples.

    References
    ----------
    Witten et al. (2011), section 5.6.

    Examples
    --------
    >>> from stakes.measures import quadratic_loss
    >>> round(quadratic_loss(["b"], [[0.3, 0.5, 0.2]], labels=["a", "b", "c"]), 4)
    0.38
    """
    from sklearn.metrics import brier_score_loss

    codes, probabilities, classes = _checked(y_true, proba, labels)
    if len(classes) == 1:
        return 0.0  # a single class is always predicted with probability 1
    return float(
        brier_score_loss(codes, probabilities, labels=range(len(classes)), scale_by_half=False)
    )


def informational_loss(y_true: Any, proba: ArrayLike, *, labels: Any) -> float:
    """Return the average log loss (informational loss) in bits.

    loss = -Σ_x log₂ p_j(x)/n, with j the actual class of the example x.

    The loss is infinite if any actual class has predicted probability zero
    (`sklearn.metrics.log_loss` clips there, and so understates it).

    Parameters
    ----------
    y_true, proba, labels
        As for `quadratic_loss`.

    Returns
    -------
    float
        The average over the examples, in bits.

    References
    ----------
    Witten et al. (2011), section 5.6.

    Examples
    --------
    >>> from stakes.measures import informational_loss
    >>> informational_loss(["b"], [[0.3, 0.5, 0.2]], labels=["a", "b", "c"])
    1.0
    """
    codes, probabilities, _ = _checked(y_true, proba, labels)
    with np.errstate(divide="ignore"):
        bits = -np.log2(np.take_along_axis(probabilities, codes[:, np.newaxis], axis=1))
    return float(bits.mean()) + 0.0  # not -0.0


def hand_till_auc(y_true: Any, proba: ArrayLike, *, labels: Any) -> float:
    """Return the area under the ROC curve, for many classes by the definition of Hand & Till.

    For several classes it is the average over all pairs of classes of how well each one's
    probability separates the two, computed by `sklearn.metrics.roc_auc_score`. For two classes it
    is the ordinary area.

    M = 2/(K(K - 1)) Σ_{i<j} (A(i|j) + A(j|i))/2, with A(i|j) the probability that an example of
    class i gets a higher probability of i than one of class j.

    Parameters
    ----------
    y_true, proba, labels
        As for `quadratic_loss`; every class must occur in `y_true`.

    Returns
    -------
    float
        The area, from 0 to 1.

    References
    ----------
    Hand & Till (2001).

    Examples
    --------
    >>> from stakes.measures import hand_till_auc
    >>> proba = [[0.8, 0.1, 0.1], [0.2, 0.6, 0.2], [0.1, 0.2, 0.7], [0.3, 0.4, 0.3]]
    >>> hand_till_auc(["a", "b", "c", "b"], proba, labels=["a", "b", "c"])
    1.0
    """
    from sklearn.metrics import roc_auc_score

    codes, probabilities, classes = _checked(y_true, proba, labels)
    present = np.bincount(codes, minlength=len(classes))
    if len(classes) < 2 or not present.all():  # noqa: PLR2004 - two is the least
        absent = classes[int(np.argmin(present))]
        raise InputError(
            "y_true",
            "the area under the ROC curve needs two or more classes, each of them present; "
            f"got {len(classes)} classes"
            + (f", and no example is {absent!r}." if not present.all() else "."),
        )
    if len(classes) == 2:  # noqa: PLR2004 - the ordinary area
        return float(roc_auc_score(codes, probabilities[:, 1]))
    return float(roc_auc_score(codes, probabilities, multi_class="ovo", average="macro"))


def _checked(
    y_true: Any, proba: ArrayLike, labels: Any
) -> tuple[NDArray[np.intp], NDArray[np.float64], Labels]:
    classes = as_labels(labels, "labels")
    y_true, proba = validate.aligned(y_true=y_true, proba=proba)
    codes = label_codes(y_true, "y_true", classes, "classes")
    probabilities = ordered_probabilities(proba, classes)
    validate.same_length({"y_true": len(codes), "proba": len(probabilities)})
    # Normalise, because probabilities rounded in a file do not quite sum to one. Leave exact ones
    # unchanged, so that ties stay ties.
    totals = probabilities.sum(axis=1, keepdims=True)
    totals[np.abs(totals - 1) < ROUNDING] = 1
    return codes, probabilities / totals, classes
