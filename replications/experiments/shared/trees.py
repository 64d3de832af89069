"""Decision trees as in the papers: grown by any splitting criterion, and weighted by costs.

Holte & Drummond's Figures 7 and 8 compare four splitting criteria, of which scikit-learn has two. A
criterion is a concave function of the share of positives; the best split minimises its weighted
mean.

The thesis (chapter 3) weights the classes of a training set by their costs. The stand-in for C4.5
is scikit-learn's tree with the entropy criterion and at least two examples in a leaf, as in C4.5;
it is not pruned. The weights are exactly those of the thesis: `stakes.learn.class_weights` first
subtracts the cost of a correct decision, which here would leave some classes of the models M7 and
M8 without a weight that a tree can use.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy
from sklearn import config_context
from sklearn.tree import DecisionTreeClassifier

from replications.domains.uci import DataSet
from stakes._core import validate
from stakes._core.typing import Floats
from stakes.learn.weights import Trial, held_out, powell

Places = NDArray[np.intp]


def _entropy(share: Floats) -> Floats:
    return np.asarray(-xlogy(share, share) - xlogy(1 - share, 1 - share))


CRITERIA: Mapping[str, Callable[[Floats], Floats]] = {
    "DKM": lambda share: np.sqrt(share * (1 - share)),
    "ENT": _entropy,
    "GINI": lambda share: share * (1 - share),
    "ACC": lambda share: np.minimum(share, 1 - share),
}
"""Impurity functions of the share of positives (Drummond & Holte 2000).

They are Dietterich, Kearns & Mansour's, the entropy, Gini's, and the error rate. Only their shapes
matter, so factors are left out.
"""

MIN_LEAF = 2
"""The fewest examples on either side of a split and in a leaf, as in C4.5."""


def tree_scores(
    criterion: str, X: Floats, y: NDArray[Any], X_new: Floats, *, max_depth: int = 100
) -> Floats:  # fmt: skip
    """Grow a tree without pruning, and return the shares of positives in new examples' leaves.

    Parameters
    ----------
    criterion : {"DKM", "ENT", "GINI", "ACC"}
        The splitting criterion.
    X, y : ndarray
        The training examples; `y` is 1 for positives.
    X_new : ndarray
        The examples to score.
    max_depth : int, default 100
        The maximum depth of the tree.

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

    A split need not reduce the impurity: with the error rate few do, and trees would end at once.
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


MOST_FITS = 100
"""Maximum number of trees that Powell's method fits: the default of `WeightedClassifier`."""


class FoldTrees:
    """Decisions of weighted trees on the test rows of a fold, with classes as indices."""

    def __init__(self, data: DataSet, train: Places, test: Places, seed: int) -> None:
        features = np.ascontiguousarray(data.one_hot, dtype=np.float32)
        self._features, self._codes = features[train], data.codes[train]
        self._asked = features[test]
        self._classes, self._seed = len(data.classes), seed
        self._gaps = bool(np.isnan(features).any())
        self.held = cache(self._hold_out)

    def class_freq(self) -> Places:
        """Return decisions with the same total weight for each class (ClassFreq)."""
        counts = np.bincount(self._codes, minlength=self._classes)
        return self.decided(1 / np.maximum(counts, 1))

    def max_cost(self, costs: Floats) -> Places:
        """Return decisions with classes weighted by the largest entry of their column (3.1)."""
        return self.decided(costs.max(axis=0))

    def avg_cost(self, costs: Floats) -> Places:
        """Return decisions with classes weighted by the mean cost of their mistakes (3.2)."""
        return self.decided(_average_costs(costs))

    def eval_count(self, costs: Floats, share: float) -> Places:
        """Return decisions with classes weighted by 1 plus their held-out costs (EvalCount)."""
        _, outside, decided = self.held(share)
        actual = self._codes[outside]
        wrong = decided != actual
        costly = costs[decided[wrong], actual[wrong]]
        total = np.bincount(actual[wrong], costly, minlength=self._classes)
        return self.decided(1.0 + total.astype(np.float64))

    def powell(self, costs: Floats, share: float) -> Places:
        """Return decisions with the weights that Powell's method finds on held-out rows."""
        inside, outside, _ = self.held(share)
        features, codes = self._features[inside], self._codes[inside]

        def predict(weights: Floats) -> Places:
            return self.grown(features, codes, weights, self._features[outside])

        rows = np.ones(len(outside))
        trial = Trial(predict, self._codes[outside], rows, costs)
        starts = [np.ones(self._classes), _average_costs(costs)]
        weights, _ = powell(trial, starts, max_fits=MOST_FITS)
        return self.decided(weights)

    def _hold_out(self, share: float) -> tuple[Places, Places, Places]:
        """Return training rows, held-out rows, and an unweighted tree's decisions on the latter."""
        random = np.random.RandomState(self._seed)
        out = held_out(self._codes, np.ones(len(self._codes)), share, random)
        inside, outside = np.flatnonzero(~out), np.flatnonzero(out)
        plain = np.ones(self._classes)
        features, codes = self._features[inside], self._codes[inside]
        return inside, outside, self.grown(features, codes, plain, self._features[outside])

    def decided(self, weights: Floats) -> Places:
        """Return the decisions of a tree with these class weights, trained on all rows."""
        return self.grown(self._features, self._codes, weights, self._asked)

    def grown(self, features: Any, codes: Places, weights: Floats, asked: Any) -> Places:
        """Return the decisions of a tree with these class weights on the rows of `asked`."""
        # Validation takes as long as growing a small tree, and there are hundreds of thousands.
        with config_context(skip_parameter_validation=True, assume_finite=not self._gaps):
            tree = DecisionTreeClassifier(
                criterion="entropy", min_samples_leaf=MIN_LEAF, random_state=self._seed
            )
            tree.fit(features, codes, sample_weight=weights[codes], check_input=self._gaps)
        leaves = tree.tree_.apply(asked)
        return np.asarray(tree.classes_[tree.tree_.value[:, 0, :].argmax(axis=1)[leaves]])


def _average_costs(costs: Floats) -> Floats:
    mistakes = costs.sum(axis=0) - np.diag(costs)
    return np.asarray(mistakes / (len(costs) - 1))
