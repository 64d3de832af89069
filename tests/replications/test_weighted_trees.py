"""Weighted trees agree with WeightedClassifier, and with the formulas of the thesis."""

import numpy as np
import pytest
from _helpers.made_up_sets import write_set
from sklearn.tree import DecisionTreeClassifier

import replications.experiments.shared.trees
from replications.domains.uci import read_uci
from replications.experiments.shared.contest import folds
from replications.experiments.shared.trees import FoldTrees
from stakes import CostMatrix
from stakes.learn import WeightedClassifier

COSTS = np.array([[0.0, 3.0, 40.0], [1.0, 0.0, 2.0], [7.0, 5.0, 0.0]])


@pytest.fixture
def fold(tmp_path):
    write_set(tmp_path, "iris", rows=90)
    data = read_uci(tmp_path, "iris")
    return data, *folds(data, 0)[0]


@pytest.mark.parametrize("method", ["class_freq", "avg_cost", "max_cost"])
def test_decisions_are_those_of_the_weighted_classifier(fold, method):
    data, train, test = fold
    trees = FoldTrees(data, train, test, seed=5)
    found = trees.class_freq() if method == "class_freq" else getattr(trees, method)(COSTS)
    tree = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=5)
    costs = CostMatrix(COSTS, rows="predicted", labels=[0, 1, 2])
    model = WeightedClassifier(tree, costs, weighting=method).fit(
        data.one_hot[train], data.codes[train]
    )
    assert (found == model.predict(data.one_hot[test])).all()


def test_weights_are_those_of_the_thesis(fold, monkeypatch):
    data, train, test = fold
    trees = FoldTrees(data, train, test, seed=1)
    monkeypatch.setattr(trees, "decided", lambda weights: weights)
    costs = COSTS + np.diag([2.0, 4.0, 50.0])
    assert trees.max_cost(costs).tolist() == [7, 5, 50]  # 3.1, with the diagonal
    assert trees.avg_cost(costs).tolist() == [4, 4, 21]  # 3.2, without
    inside, outside, said = trees.held(0.2)
    assert len(outside) == pytest.approx(0.2 * len(train), abs=2)
    assert not set(inside) & set(outside)
    actual = data.codes[train][outside]
    expected = [
        1 + sum(costs[i, j] for i, j in zip(said, actual, strict=True) if i != j and j == k)
        for k in range(3)
    ]
    assert trees.eval_count(costs, 0.2) == pytest.approx(expected)


def test_powell_is_no_dearer_than_its_beginnings_on_the_rows_held_out(fold, monkeypatch):
    data, train, test = fold
    trees = FoldTrees(data, train, test, seed=2)
    inside, outside, _ = trees.held(0.2)
    codes = data.codes[train]
    features = data.one_hot.astype(np.float32)[train]

    def cost(weights):
        said = trees.grown(features[inside], codes[inside], weights, features[outside])
        return COSTS[said, codes[outside]].mean()

    monkeypatch.setattr(trees, "decided", lambda weights: weights)
    monkeypatch.setattr(replications.experiments.shared.trees, "MOST_FITS", 30)
    weights = trees.powell(COSTS, 0.2)
    starts = [np.ones(3), trees.avg_cost(COSTS)]
    assert cost(weights) <= min(cost(start) for start in starts)
