"""Trees that mind costs by class weights (thesis, chapter 3), grown many times on a fold.

The stand-in for C4.5 is scikit-learn's tree with the entropy criterion and at least two examples in
a leaf, as C4.5 asks for; it is not pruned. The weights are those of the thesis to the letter:
`stakes.learn.class_weights` first takes off what a correct decision costs, which here would leave
some classes of the models M7 and M8 without a weight that a tree can use.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.tree import DecisionTreeClassifier

from stakes.lab.domains.uci import DataSet
from stakes.learn.weights import Trial, held_out, powell

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

MIN_LEAF = 2
MOST_FITS = 100
"""How many trees Powell's method may try: the default of `WeightedClassifier`."""


class FoldTrees:
    """What weighted trees decide about the test rows of a fold; classes are places."""

    def __init__(self, data: DataSet, train: Places, test: Places, seed: int) -> None:
        features = np.ascontiguousarray(data.one_hot, dtype=np.float32)
        self._features, self._codes = features[train], data.codes[train]
        self._asked = features[test]
        self._classes, self._seed = len(data.classes), seed
        self._gaps = bool(np.isnan(features).any())
        self.held = cache(self._hold_out)

    def class_freq(self) -> Places:
        """Return decisions with classes that all weigh the same together (ClassFreq)."""
        counts = np.bincount(self._codes, minlength=self._classes)
        return self.decided(1 / np.maximum(counts, 1))

    def max_cost(self, costs: Floats) -> Places:
        """Return decisions with classes weighted by the dearest entry of their column (3.1)."""
        return self.decided(costs.max(axis=0))

    def avg_cost(self, costs: Floats) -> Places:
        """Return decisions with classes weighted by the mean cost of their mistakes (3.2)."""
        return self.decided(_average_costs(costs))

    def eval_count(self, costs: Floats, share: float) -> Places:
        """Return decisions with classes weighted by 1 plus what their mistakes cost (EvalCount)."""
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
        """Return rows to train on, rows to try on, and what a tree without weights says of them."""
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
        """Return what a tree with these class weights says of the rows asked about."""
        # Hundreds of thousands of small trees: what is checked each time takes as long as growing.
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
