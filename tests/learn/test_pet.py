import pickle

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier, export_text
from sklearn.utils.estimator_checks import parametrize_with_checks

from stakes import CostMatrix
from stakes.errors import InputError, InputTypeError
from stakes.learn import BaggedPETClassifier, MinimumRiskClassifier, PETClassifier
from stakes.learn.bagging import make_bag

DRAWS = "weights are the chances in random draws, which repeated rows change one by one"
LEAF = "min_samples_leaf counts rows, whatever their weights, as in scikit-learn"
X, Y = load_iris(return_X_y=True)
NAMES = np.array(["a", "b", "c"])[Y]


@parametrize_with_checks(
    [
        PETClassifier(),
        BaggedPETClassifier(n_estimators=5, laplace=0.1, min_samples_leaf=2, random_state=0),
    ],
    expected_failed_checks=lambda estimator: {
        f"check_sample_weight_equivalence_on_{data}_data": reason
        for data in ("dense", "sparse")
        if (reason := DRAWS if isinstance(estimator, BaggedPETClassifier) else LEAF)
        if reason is DRAWS or estimator.min_samples_leaf > 1
    },
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def leaf_counts(rows, y, new, classes, min_samples_leaf):
    """Return, for each new row, how often each class is in its leaf."""
    tree = DecisionTreeClassifier(
        criterion="entropy", min_samples_leaf=min_samples_leaf, random_state=0
    ).fit(rows, y)
    where = tree.apply(rows)
    return np.array([[np.sum(y[where == leaf] == c) for c in classes] for leaf in tree.apply(new)])


@pytest.mark.parametrize("laplace", [1.0, 0.25, [2.0, 0.5, 0.0]])
def test_smooths_the_counts_of_the_leaf(laplace):
    model = PETClassifier(min_samples_leaf=7, laplace=laplace, random_state=0).fit(X, NAMES)
    counts = leaf_counts(X, NAMES, X[::7], ["a", "b", "c"], 7)
    extra = np.broadcast_to(laplace, 3)
    expected = (counts + extra) / (counts.sum(axis=1) + extra.sum())[:, np.newaxis]
    np.testing.assert_allclose(model.predict_proba(X[::7]), expected, rtol=1e-14)
    assert model.laplace_.tolist() == extra.tolist()


def test_by_hand():
    rows, y = [[1], [1], [1], [2], [2]], ["a", "a", "b", "b", "b"]
    model = PETClassifier(laplace=[1, 3]).fit(rows, y)
    np.testing.assert_allclose(model.predict_proba([[1], [2]]), [[3 / 7, 4 / 7], [1 / 6, 5 / 6]])
    assert model.predict([[1]]).tolist() == ["b"]  # more likely because of the correction


@pytest.mark.parametrize("min_samples_leaf", [1, 10])
def test_without_correction_it_is_scikit_learns_tree(min_samples_leaf):
    options = {"min_samples_leaf": min_samples_leaf, "random_state": 0}
    tree = DecisionTreeClassifier(criterion="entropy", **options).fit(X, NAMES)
    model = PETClassifier(laplace=0, **options).fit(X, NAMES)
    assert np.array_equal(model.predict_proba(X), tree.predict_proba(X))
    assert np.array_equal(model.predict(X), tree.predict(X))
    assert export_text(model) == export_text(tree)


def test_weights_count_as_repeated_rows():
    weights = np.arange(len(Y)) % 3 + 1
    weighted = PETClassifier(random_state=0).fit(X, NAMES, sample_weight=weights)
    repeated = PETClassifier(random_state=0).fit(X.repeat(weights, 0), NAMES.repeat(weights))
    np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X))


def test_one_class_is_certain():
    for model in (PETClassifier(), BaggedPETClassifier(3)):
        assert model.fit([[1], [2]], ["a", "a"]).predict_proba([[1]]).tolist() == [[1.0]]


def test_bag_averages_smoothed_trees_on_bootstrap_samples():
    rows, y = X[48:106:2], NAMES[48:106:2]  # one row of "a", which many samples miss
    model = BaggedPETClassifier(20, min_samples_leaf=3, random_state=5).fit(rows, y)
    bag = make_bag(5, 20, len(y))
    total, missed = np.zeros((len(rows), 3)), 0
    for seed in bag.seeds:
        sample = bag.sample(seed)
        tree = DecisionTreeClassifier(
            criterion="entropy", min_samples_leaf=3, random_state=int(seed)
        ).fit(rows[sample], y[sample])
        where = tree.apply(rows[sample])
        missed += "a" not in y[sample]
        for i, leaf in enumerate(tree.apply(rows)):
            counts = np.array([np.sum(y[sample][where == leaf] == c) for c in "abc"])
            total[i] += (counts + 1) / (counts.sum() + 3)
    assert missed
    np.testing.assert_allclose(model.predict_proba(rows), total / 20, rtol=1e-13)


def test_bag_draws_by_weight():
    weights = np.where(NAMES == "a", 0.0, 1.0)
    model = BaggedPETClassifier(5, random_state=0).fit(X, NAMES, sample_weight=weights)
    assert all(0 not in tree.classes_ for tree in model.estimators_)
    assert model.predict_proba(X)[:, 0].max() <= 1 / 4  # at most the correction


def test_the_number_of_jobs_changes_nothing():
    one = BaggedPETClassifier(12, random_state=0, n_jobs=1).fit(X, NAMES)
    two = BaggedPETClassifier(12, random_state=0, n_jobs=2).fit(X, NAMES)
    assert np.array_equal(one.predict_proba(X), two.predict_proba(X))
    other = BaggedPETClassifier(12, random_state=1).fit(X, NAMES)
    assert not np.array_equal(one.predict_proba(X), other.predict_proba(X))


@pytest.mark.parametrize("model", [PETClassifier(), BaggedPETClassifier(5, random_state=0)])
def test_reads_what_trees_read(model):
    missing = X.copy()
    missing[::5, 2] = np.nan
    assert np.mean(clone(model).fit(missing, NAMES).predict(missing) == NAMES) > 0.95
    assert clone(model).fit(X, NAMES).predict(missing).shape == (150,)
    frame = pd.DataFrame(X, columns=list("pqrs"))
    fitted = clone(model).set_params(random_state=0).fit(frame, NAMES)
    assert fitted.feature_names_in_.tolist() == list("pqrs")
    dense = clone(fitted).fit(X, NAMES).predict_proba(X)
    assert np.array_equal(fitted.predict_proba(frame), dense)
    sparse = clone(fitted).fit(csr_array(X), NAMES).predict_proba(csr_array(X))
    np.testing.assert_allclose(sparse, dense, atol=0.2)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    assert np.array_equal(again.predict_proba(frame), dense)


@pytest.mark.parametrize("model", [PETClassifier(), BaggedPETClassifier(5)])
def test_works_with_others(model):
    costs = CostMatrix([[0, 5, 50], [1, 0, 10], [2, 3, 0]], rows="predicted", labels=list("abc"))
    decided = MinimumRiskClassifier(model, costs).fit(X, NAMES).predict(X)
    assert set(decided) <= set("abc")
    assert cross_val_predict(model, X, NAMES, cv=3, method="predict_proba").shape == (150, 3)
    with config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(sample_weight=True)
        routed = MinimumRiskClassifier(asking, costs).fit(X, NAMES, sample_weight=np.ones(150))
        assert routed.predict(X).shape == (150,)


@pytest.mark.parametrize("model", [PETClassifier(), BaggedPETClassifier(5)])
@pytest.mark.parametrize(
    ("laplace", "message"),
    [
        (-1, "laplace: expected finite numbers, 0 or more"),
        (np.nan, "laplace: expected finite numbers, 0 or more"),
        ([1, 2], "one for each of the 3 classes of y, got 2 numbers"),
        ([[1, 2, 3]], "laplace: expected a one-dimensional array"),
        ("much", "laplace: expected numbers"),
        (None, "laplace: expected numbers, got None"),
    ],
)
def test_bad_corrections(model, laplace, message):
    with pytest.raises((InputError, InputTypeError), match=message):
        clone(model).set_params(laplace=laplace).fit(X, NAMES)


def test_bad_input():
    with pytest.raises(InputError, match="n_estimators: expected a whole number, 1 or more"):
        BaggedPETClassifier(0).fit(X, NAMES)
    with pytest.raises(ValueError, match="min_samples_leaf"):
        BaggedPETClassifier(2, min_samples_leaf=0).fit(X, NAMES)
    with pytest.raises(ValueError, match="min_samples_leaf"):
        PETClassifier(min_samples_leaf=-1).fit(X, NAMES)
    with pytest.raises(ValueError, match="Unknown label type"):
        PETClassifier().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="1d array"):
        PETClassifier().fit(X, np.c_[Y, Y])
