"""Losses of class-probability predictions (Witten, Frank & Hall, section 5.6), and the AUC."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes._core import validate
from stakes._core.frames import ordered_probabilities
from stakes._core.labels import Labels, as_labels, label_codes
from stakes._core.result import checked
from stakes.errors import InputError

ROUNDING = 1e-9
"""Sums closer to one than this differ from it by the rounding of arithmetic only."""


@checked
def quadratic_loss(y_true: Any, proba: ArrayLike, *, labels: Any) -> float:
    """Return the average quadratic loss, Σ_j (p_j - a_j)², with a_j 1 for the actual class.

    It is `sklearn.metrics.brier_score_loss` without halving. For one example it is at most
    1 + Σ_j p_j², which never exceeds 2.

    Parameters
    ----------
    y_true : array_like, shape (n,)
        The actual class of each example.
    proba : array_like or data frame, shape (n, classes)
        Class probabilities, columns in the order of `labels`; those of a data frame are matched to
        them by name.
    labels : sequence
        The classes; with scikit-learn's probabilities ``clf.classes_``.

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
        return 0.0  # the only class there is cannot be missed
    return float(
        brier_score_loss(codes, probabilities, labels=range(len(classes)), scale_by_half=False)
    )


@checked
def informational_loss(y_true: Any, proba: ArrayLike, *, labels: Any) -> float:
    """Return the average informational loss, -log₂ of the actual class's probability, in bits.

    loss = -Σ_x log₂ p_j(x)/n, with j the actual class of the example x.

    It is infinite as soon as an actual class was given the probability zero
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


@checked
def hand_till_auc(y_true: Any, proba: ArrayLike, *, labels: Any) -> float:
    """Return the area under the ROC curve, for many classes as Hand & Till (2001) define it.

    The average over all pairs of classes of how well each one's probability separates the two;
    computed by `sklearn.metrics.roc_auc_score`. For two classes it is the ordinary area.

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
    validate.same_index(y_true=y_true, proba=proba)
    codes = label_codes(y_true, "y_true", classes, "classes")
    probabilities = ordered_probabilities(proba, classes)
    validate.same_length({"y_true": len(codes), "proba": len(probabilities)})
    # Probabilities rounded in a file do not quite sum to one; exact ones must keep their ties.
    totals = probabilities.sum(axis=1, keepdims=True)
    totals[np.abs(totals - 1) < ROUNDING] = 1
    return codes, probabilities / totals, classes
