"""Rates of success and error, and agreement beyond chance (Witten, Frank & Hall, section 5.7)."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Label, hint, is_missing, listing
from stakes._core.text import html_table, number
from stakes._core.values import Result
from stakes.counts.confusion import Confusion
from stakes.errors import InputError, LabelError
from stakes.measures.cost import check_confusion


def success_rate(confusion: Confusion) -> float:
    """Return the share of examples that are classified correctly (accuracy).

    Σ_j M(j, j)/n, with M(i, j) the number of examples of class j that were called i.

    Parameters
    ----------
    confusion : Confusion
        The confusion matrix.

    Returns
    -------
    float
        The success rate (accuracy), from 0 to 1.

    References
    ----------
    Witten et al. (2011), section 5.7.

    Examples
    --------
    >>> from stakes import Confusion
    >>> from stakes.measures import success_rate
    >>> success_rate(Confusion([[50, 2], [8, 40]], labels=[0, 1]))
    0.9
    """
    correct = _correct(confusion)
    return float(confusion.counts[correct].sum() / confusion.n)


def error_rate(confusion: Confusion) -> float:
    """Return the share of examples that are assigned to the wrong class.

    Σ_{i≠j} M(i, j)/n, with M(i, j) the number of examples of class j that were called i. It is
    `expected_cost` at costs of 1 for each mistake. A decision that is not a class, such as asking
    an expert, is neither a success nor an error.

    Parameters
    ----------
    confusion : Confusion
        The confusion matrix.

    Returns
    -------
    float
        The error rate, from 0 to 1.

    References
    ----------
    Witten et al. (2011), section 5.7.

    Examples
    --------
    >>> from stakes import Confusion
    >>> from stakes.measures import error_rate
    >>> error_rate(Confusion([[50, 2], [8, 40]], labels=[0, 1]))
    0.1
    """
    correct = _correct(confusion)
    classes = correct.any(axis=1, keepdims=True)
    return float(confusion.counts[classes & ~correct].sum() / confusion.n)


@dataclass(frozen=True, eq=False)
class Rates(Result):
    """True and false positive and negative rates of a two-class confusion matrix.

    Attributes
    ----------
    true_positive : float
        The share of positives that were called positive (recall, sensitivity).
    false_positive : float
        The share of negatives that were called positive.
    true_negative : float
        The share of negatives that were called negative (specificity).
    false_negative : float
        The share of positives that were called negative.

    Examples
    --------
    >>> from stakes import Confusion
    >>> from stakes.measures import rates
    >>> found = rates(Confusion([[45, 2], [5, 38]], labels=[0, 1]))
    >>> found.true_positive, found.false_positive
    (0.95, 0.1)
    """

    true_positive: float
    false_positive: float
    true_negative: float
    false_negative: float

    def to_dict(self) -> dict[str, float]:
        """Return the rates by name.

        Returns
        -------
        dict
            The attributes by name.
        """
        return asdict(self)

    def _repr_html_(self) -> str:
        rows = [[name.replace("_", " "), number(rate)] for name, rate in self.to_dict().items()]
        return html_table(["rate", "share"], rows)


def rates(confusion: Confusion, *, pos_label: Label = 1) -> Rates:
    """Return the true and false positive and negative rates (thesis, equations 2.13 and 2.14).

    TPrate = tp/(tp + fn) and FPrate = fp/(fp + tn); the other two are one minus these.

    Parameters
    ----------
    confusion : Confusion
        The confusion matrix, of two classes and with the classes as decisions.
    pos_label : default 1
        Which class is the positive one.

    Returns
    -------
    Rates
        The four rates.

    References
    ----------
    Margineantu (2001), equations 2.13 and 2.14.

    Examples
    --------
    >>> from stakes import Confusion
    >>> from stakes.measures import rates
    >>> rates(Confusion([[45, 2], [5, 38]], labels=[0, 1]))
    Rates(true_positive=0.95, false_positive=0.1, true_negative=0.9, false_negative=0.05)
    """
    check_confusion(confusion)
    validate.two_classes(confusion.labels, "confusion")
    if set(confusion.decisions) != set(confusion.labels):
        raise LabelError(
            "confusion",
            f"the rates need decisions that are the classes {confusion.labels}, got "
            f"{confusion.decisions}.",
        )
    if is_missing(pos_label) or pos_label not in confusion.labels:
        raise LabelError(
            "pos_label",
            f"expected one of {listing(confusion.labels)}, got "
            f"{pos_label!r}.{hint(pos_label, confusion.labels)}",
        )
    for label, size in zip(confusion.labels, confusion.class_counts.tolist(), strict=True):
        if not size:
            raise InputError(
                "confusion",
                f"two classes are needed, but no example is {label!r}, so its rates are not "
                "defined.",
            )
    called = confusion.counts[confusion.decisions.index(pos_label)] / confusion.class_counts
    missed = 1 - confusion.decisions.index(pos_label)
    passed = confusion.counts[missed] / confusion.class_counts
    positive = confusion.labels.index(pos_label)
    return Rates(
        true_positive=float(called[positive]),
        false_positive=float(called[1 - positive]),
        true_negative=float(passed[1 - positive]),
        false_negative=float(passed[positive]),
    )


def chance_confusion(confusion: Confusion) -> Confusion:
    """Return the expected confusion matrix of a chance predictor with the same totals.

    E(i, j) = Σ_k M(i, k) · Σ_k M(k, j)/n: each cell is its row total times its column total over n.

    Parameters
    ----------
    confusion : Confusion
        The confusion matrix.

    Returns
    -------
    Confusion
        The expected counts, which need not be whole numbers.

    References
    ----------
    Witten et al. (2011), Table 5.4.

    Examples
    --------
    >>> from stakes import Confusion
    >>> from stakes.measures import chance_confusion
    >>> table = [[88, 10, 2], [14, 40, 6], [18, 10, 12]]
    >>> chance_confusion(Confusion(table, labels=["a", "b", "c"], rows="actual")).counts.T.tolist()
    [[60.0, 30.0, 10.0], [36.0, 18.0, 6.0], [24.0, 12.0, 4.0]]
    """
    check_confusion(confusion)
    counts = confusion.counts.astype(np.float64)  # the products of integers may be too large
    totals = np.outer(counts.sum(axis=1), counts.sum(axis=0))
    return Confusion(totals / confusion.n, confusion.labels, confusion.decisions)


def kappa(confusion: Confusion) -> float:
    """Return Cohen's kappa: the success rate beyond chance, relative to the largest possible.

    κ = (p - p_e)/(1 - p_e), with p the success rate and p_e that of the chance predictor,
    `chance_confusion`. Kappa is at most 1; 0 is no better than chance. Like the success rate, it
    ignores costs.

    Parameters
    ----------
    confusion : Confusion
        The confusion matrix.

    Returns
    -------
    float
        The kappa statistic.

    References
    ----------
    Cohen (1960).

    Witten et al. (2011), section 5.7 and Table 5.4.

    Examples
    --------
    >>> from stakes import Confusion
    >>> from stakes.measures import kappa
    >>> table = [[88, 10, 2], [14, 40, 6], [18, 10, 12]]
    >>> round(kappa(Confusion(table, labels=["a", "b", "c"], rows="actual")), 3)
    0.492
    """
    observed, expected = success_rate(confusion), success_rate(chance_confusion(confusion))
    decided, actual = np.nonzero(confusion.counts)
    used = {confusion.decisions[i] for i in decided} | {confusion.labels[j] for j in actual}
    if len(used) == 1 or expected >= 1:  # rounding gives 1 where the other shares are tiny
        raise InputError(
            "confusion",
            f"two classes are needed, but every example is and was called {used.pop()!r}, so "
            "agreement beyond chance is not defined.",
        )
    return (observed - expected) / (1 - expected)


def _correct(confusion: Confusion) -> NDArray[np.bool_]:
    """Return which cells of the matrix hold correct decisions."""
    check_confusion(confusion)
    correct = np.zeros((len(confusion.decisions), len(confusion.labels)), dtype=bool)
    places = {label: place for place, label in enumerate(confusion.labels)}
    for row, decision in enumerate(confusion.decisions):
        if decision in places:
            correct[row, places[decision]] = True
    if not correct.any():
        raise LabelError(
            "confusion",
            f"none of the decisions {confusion.decisions} is a class {confusion.labels}, so none "
            "can be right or wrong.",
            "Use expected_cost.",
        )
    return correct
