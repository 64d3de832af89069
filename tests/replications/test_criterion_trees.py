"""Trees by four splitting criteria."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.tree import DecisionTreeClassifier

from replications.experiments.shared.trees import CRITERIA, tree_scores
from stakes.errors import InputError

X, Y = make_classification(300, n_features=6, n_informative=4, flip_y=0.1, random_state=0)


@pytest.mark.parametrize(("criterion", "same"), [("ENT", "entropy"), ("GINI", "gini")])
def test_splits_are_those_of_scikit_learn(criterion, same):
    ours = tree_scores(criterion, X[:200], Y[:200], X[200:], max_depth=3)
    tree = DecisionTreeClassifier(criterion=same, max_depth=3, min_samples_leaf=2, random_state=0)
    leaves = tree.fit(X[:200], Y[:200]).apply(X[200:])
    counts = tree.tree_.n_node_samples[leaves]
    positives = tree.tree_.value[leaves, 0, 1] * counts
    assert ours == pytest.approx((positives + 1) / (counts + 2))


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_criterion_is_concave_and_zero_for_pure_leaves(criterion):
    share = np.linspace(0, 1, 101)
    impurity = CRITERIA[criterion](share)
    assert impurity[[0, -1]] == pytest.approx(0)
    assert (np.diff(impurity, 2) <= 1e-12).all()
    assert impurity.argmax() == 50


@pytest.mark.parametrize("criterion", CRITERIA)
def test_trees_learn(criterion):
    scores = tree_scores(criterion, X[:200], Y[:200], X[200:])
    assert ((scores > 0.5) == Y[200:]).mean() > 0.65


def test_no_split_where_all_examples_are_the_same():
    scores = tree_scores("DKM", np.ones((6, 2)), np.array([1, 0, 0, 1, 0, 0]), np.ones((1, 2)))
    assert scores == pytest.approx(3 / 8)


def test_an_unknown_criterion_is_named():
    with pytest.raises(InputError, match="criterion"):
        tree_scores("MDL", X, Y, X)
