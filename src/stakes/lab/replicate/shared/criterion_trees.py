"""Decision trees of two classes by any splitting criterion, for Holte & Drummond's Figures 7 and 8.

scikit-learn has two of the four criteria that they compare. A criterion is a concave function of
the share of positives; the best split makes its weighted mean smallest.
"""

# ruff: noqa: N803 - scikit-learn calls the features X

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from stakes._core import validate

Floats = NDArray[np.float64]


def _entropy(share: Floats) -> Floats:
    return np.asarray(-xlogy(share, share) - xlogy(1 - share, 1 - share))


CRITERIA: Mapping[str, Callable[[Floats], Floats]] = {
    "DKM": lambda share: np.sqrt(share * (1 - share)),
    "ENT": _entropy,
    "GINI": lambda share: share * (1 - share),
    "ACC": lambda share: np.minimum(share, 1 - share),
}
"""Dietterich, Kearns & Mansour's, the entropy, Gini's, and the error rate (Drummond & Holte 2000).

Only their shapes matter, so factors are left out.
"""

MIN_LEAF = 2
"""The fewest examples on either side of a split, as in C4.5."""


def tree_scores(
    criterion: str, X: Floats, y: NDArray[Any], X_new: Floats, *, max_depth: int = 100
) -> Floats:  # fmt: skip
    """Grow a tree without pruning, and return the shares of positives in new examples' leaves.

    Parameters
    ----------
    criterion : {"DKM", "ENT", "GINI", "ACC"}
        What splits are judged by.
    X, y : ndarray
        The training examples; `y` is 1 for positives.
    X_new : ndarray
        The examples to score.
    max_depth : int, default 100
        How deep the tree may be.

    Returns
    -------
    ndarray
        (positives + 1) / (examples + 2) of the leaf that each new example falls into.
    """
    impurity = CRITERIA[validate.choice(criterion, "criterion", tuple(CRITERIA))]
    scores = np.empty(len(X_new))
    waiting = [(np.arange(len(X)), np.arange(len(X_new)), max_depth)]
    while waiting:
        rows, new, depth = waiting.pop()
        labels = y[rows]
        split = None
        if depth > 0 and 0 < labels.sum() < len(labels):
            split = _best_split(impurity, X[rows], labels)
        if split is None or not len(new):
            scores[new] = (labels.sum() + 1) / (len(labels) + 2)
            continue
        feature, cut = split
        left, new_left = X[rows, feature] <= cut, X_new[new, feature] <= cut
        waiting.append((rows[left], new[new_left], depth - 1))
        waiting.append((rows[~left], new[~new_left], depth - 1))
    return scores


def _best_split(
    impurity: Callable[[Floats], Floats], X: Floats, y: NDArray[Any]
) -> tuple[int, float] | None:  # fmt: skip
    """Return the feature and the cut with the smallest mean impurity, or None if there is none.

    A split need not make it smaller: with the error rate few do, and trees would end at once.
    """
    order = np.argsort(X, axis=0, kind="stable")
    values = np.take_along_axis(X, order, axis=0)
    below = np.arange(1, len(y))[:, np.newaxis]
    found = np.cumsum(y[order], axis=0, dtype=float)
    above, left, right = len(y) - below, found[:-1], found[-1] - found[:-1]
    mean = below * impurity(left / below) + above * impurity(right / above)
    allowed = (values[1:] > values[:-1]) & (below >= MIN_LEAF) & (above >= MIN_LEAF)
    if not allowed.any():
        return None
    place, feature = np.unravel_index(np.where(allowed, mean, np.inf).argmin(), mean.shape)
    middle = (values[place, feature] + values[place + 1, feature]) / 2
    if not middle < values[place + 1, feature]:
        middle = values[place, feature]
    return int(feature), float(middle)
