import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from _helpers.two_gaussians import COSTS, draw
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from stakes import CostMatrix, compare
from stakes.errors import (
    ConstantCostWarning,
    ConstantDecisionWarning,
    InputError,
    InputTypeError,
    LabelError,
)
from stakes.learn import MetaCostClassifier
from stakes.learn.bagging import average, make_bag, mean_probabilities, training_probabilities, vote

THREE = CostMatrix(
    [[0, 4, 30], [1, 0, 12], [2, 3, 0.5]], rows="predicted", labels=["good", "fair", "bad"]
)
TREE = DecisionTreeClassifier(min_samples_leaf=20, random_state=0)
DRAWS = "weights are the chances in random draws, which repeated rows change one by one"


def three_classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=n)
    X = rng.normal(size=(n, 2)) + codes[:, np.newaxis] * [2.0, 0.5]
    return X, np.array(["good", "fair", "bad"])[codes]


def expected_failures(estimator):
    if isinstance(estimator.estimator, DecisionTreeClassifier):
        return {}  # the few rows of these checks give the same result for all bootstrap samples
    return {
        "check_sample_weight_equivalence_on_dense_data": DRAWS,
        "check_sample_weight_equivalence_on_sparse_data": DRAWS,
    }


@parametrize_with_checks(
    [
        MetaCostClassifier(
            TREE, n_estimators=10, max_samples=0.8, out_of_bag=False, random_state=0
        ),
        MetaCostClassifier(RidgeClassifier(), n_estimators=5, random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    with warnings.catch_warnings():  # a few random rows can all get the same label
        warnings.simplefilter("ignore", ConstantDecisionWarning)
        check(estimator)


# -- the algorithm


@pytest.mark.parametrize("out_of_bag", [True, False])
@pytest.mark.parametrize("how", [average, vote])
def test_probabilities_of_the_training_rows_by_hand(how, out_of_bag):
    X, y = three_classes(60)
    bag = make_bag(0, 5, len(y))
    labels = ["bad", "fair", "good"]
    expected = np.zeros((60, 3))
    samples = [bag.sample(seed) for seed in bag.seeds]
    members = [
        clone(TREE).set_params(random_state=int(seed)).fit(X[sample], y[sample])
        for seed, sample in zip(bag.seeds, samples, strict=True)
    ]
    in_all = 0
    for row in range(60):
        outside = [m for m, s in zip(members, samples, strict=True) if row not in s]
        in_all += not outside
        asked = outside if outside and out_of_bag else members
        for member in asked:
            if how is vote:
                told = [float(member.predict(X[[row]])[0] == label) for label in labels]
            else:
                known = dict(zip(member.classes_, member.predict_proba(X[[row]])[0], strict=True))
                told = [known.get(label, 0.0) for label in labels]
            expected[row] += np.array(told) / len(asked)
    assert 0 < in_all < 20
    proba = training_probabilities(
        TREE, X, y, bag, probabilities=how, out_of_bag=out_of_bag, n_jobs=None
    )
    np.testing.assert_allclose(proba, expected)


def test_relabels_by_minimum_risk_and_refits():
    X, y = three_classes()
    model = MetaCostClassifier(TREE, THREE, n_estimators=20, random_state=7).fit(X, y)
    bag = make_bag(7, 20, len(y))
    proba = training_probabilities(
        TREE, X, y, bag, probabilities=average, out_of_bag=True, n_jobs=None
    )
    labels = THREE.decide(proba, labels=model.classes_)
    assert np.array_equal(model.relabelled_, labels != y)
    assert model.relabelled_share_ == np.mean(labels != y)
    assert 0 < model.relabelled_share_ < 1
    assert np.array_equal(model.predict(X), clone(TREE).fit(X, labels).predict(X))


def test_a_sample_has_the_rows_as_often_as_drawn_and_in_proportion_to_their_weights():
    weights = np.array([0.0, 1.0, 3.0])
    bag = make_bag(0, 1, 3, 3).weighted(weights)
    counts = sum(np.bincount(bag.sample(seed), minlength=3) for seed in range(4000))
    np.testing.assert_allclose(counts / counts.sum(), weights / 4, atol=0.02)
    assert len(make_bag(0, 1, 1000, 0.25).sample(3)) == 250
    assert make_bag(0, 1, 1000, 10).size == 10


def test_a_sample_of_one_class_makes_a_constant_member():
    X = np.arange(30.0)[:, np.newaxis]
    y = np.array(["rare"] + 29 * ["usual"])
    model = MetaCostClassifier(LogisticRegression(), n_estimators=10, random_state=0)
    with pytest.warns(ConstantDecisionWarning, match="'usual' is the cheapest decision for every"):
        assert set(model.fit(X, y).predict(X)) == {"usual"}


@pytest.mark.parametrize(
    "options", [{}, {"out_of_bag": False}, {"probabilities": "votes"}, {"max_samples": 0.5}]
)
def test_beats_the_cost_blind_learner(options):
    X, y = draw(2000, seed=2)
    new, actual = draw(5000, seed=3)
    blind = clone(TREE).fit(X, y)
    aware = MetaCostClassifier(TREE, COSTS, random_state=0, **options).fit(X, y)
    difference = compare(actual, aware.predict(new), blind.predict(new), COSTS)
    assert difference.test().rejected
    assert difference.difference < 0


@pytest.mark.parametrize("classes", [(0, 1), ("no", "yes")])
def test_can_learn_to_abstain(classes):
    X, y = draw(1000, seed=4)
    costs = CostMatrix(
        [[0, 20], [5, 0], [1, 1.5]],
        rows="predicted",
        labels=classes,
        decisions=[*classes, "abstain"],
    )
    labels = np.array(classes)[y]
    model = MetaCostClassifier(GaussianNB(), costs, n_estimators=10, random_state=0)
    decided = model.fit(X, labels).predict(X)
    assert set(decided.tolist()) == {*classes, "abstain"}
    assert model.relabelled_.dtype == bool
    assert model.relabelled_.mean() == model.relabelled_share_


def test_one_label_for_all_is_predicted_with_a_warning():
    X, y = draw(200, seed=5)
    costs = CostMatrix.from_errors(false_positive=1, false_negative=1e6)
    model = MetaCostClassifier(LogisticRegression(), costs, n_estimators=5, random_state=0)
    with pytest.warns(ConstantDecisionWarning, match="costs: 1 is the cheapest decision for every"):
        model.fit(X, y)
    assert isinstance(model.estimator_, DummyClassifier)
    assert model.predict(X).tolist() == 200 * [1]


# -- scikit-learn's conventions


@pytest.mark.parametrize("learner", [DecisionTreeClassifier(max_features=1), GaussianNB()])
def test_the_same_for_any_number_of_jobs(learner):
    X, y = three_classes()
    models = [
        MetaCostClassifier(learner, THREE, n_estimators=8, random_state=1, n_jobs=jobs).fit(X, y)
        for jobs in (None, 2)
    ]
    assert np.array_equal(models[0].relabelled_, models[1].relabelled_)
    assert np.array_equal(models[0].predict(X), models[1].predict(X))
    other = MetaCostClassifier(learner, THREE, n_estimators=8, random_state=2).fit(X, y)
    assert not np.array_equal(other.relabelled_, models[0].relabelled_)


def test_clone_pickle_and_search():
    X, y = three_classes()
    model = MetaCostClassifier(TREE, THREE, n_estimators=5, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - made here
    assert np.array_equal(again.predict(X), model.predict(X))
    assert np.array_equal(clone(model).fit(X, y).predict(X), model.predict(X))
    grid = {"out_of_bag": [True, False], "estimator__min_samples_leaf": [5, 20]}
    assert GridSearchCV(model, grid, cv=2).fit(X, y).best_params_


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names_and_give_what_arrays_do(frame):
    X, y = three_classes()
    table = frame({"first": X[:, 0], "second": X[:, 1]})
    model = MetaCostClassifier(TREE, THREE, n_estimators=5, random_state=0)
    by_array = clone(model).fit(X, y)
    model.fit(table, y)
    assert model.feature_names_in_.tolist() == ["first", "second"]
    assert model.estimator_.feature_names_in_.tolist() == ["first", "second"]
    assert np.array_equal(model.relabelled_, by_array.relabelled_)
    assert np.array_equal(model.predict(table), by_array.predict(X))


def test_sparse_input_and_pipelines():
    X, y = three_classes()
    model = MetaCostClassifier(TREE, THREE, n_estimators=5, random_state=0)
    sparse = clone(model).fit(csr_array(X), y)
    assert np.array_equal(sparse.predict(csr_array(X)), clone(model).fit(X, y).predict(X))
    steps = make_pipeline(StandardScaler(), model).set_output(transform="pandas")
    steps.fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert steps[-1].feature_names_in_.tolist() == ["a", "b"]


def test_weights_count_in_the_draws_and_in_the_last_fit():
    X, y = three_classes()
    heavy = np.where(y == "fair", 0.0, 2.0)
    model = MetaCostClassifier(TREE, n_estimators=5, random_state=0).fit(X, y, sample_weight=heavy)
    assert "fair" not in model.predict(X)
    steps = make_pipeline(StandardScaler(), TREE)
    inside = MetaCostClassifier(steps, n_estimators=5, random_state=0)
    assert "fair" not in inside.fit(X, y, sample_weight=heavy).predict(X)
    with config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(sample_weight=True)
        routed = make_pipeline(asking).fit(X, y, sample_weight=heavy)
        assert "fair" not in routed.predict(X)
    with pytest.raises(InputTypeError, match="KNeighborsClassifier takes no weights"):
        MetaCostClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=heavy)


def test_there_are_no_probabilities_of_the_classes():
    assert not hasattr(MetaCostClassifier(GaussianNB()), "predict_proba")


# -- bad input


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"probabilities": "mean"}, InputError, "probabilities: expected one of 'auto'"),
        ({"probabilities": "average"}, InputTypeError, "RidgeClassifier has no predict_proba"),
        ({"n_estimators": 0}, InputError, "n_estimators: expected a whole number, 1 or more"),
        ({"n_estimators": 2.5}, InputError, "n_estimators: expected a whole number"),
        ({"max_samples": 1.5}, InputError, "max_samples: expected a share"),
        ({"max_samples": 1000}, InputError, "from 1 to 300, got 1000"),
        ({"costs": COSTS}, LabelError, "costs: y has the class 'bad'"),
        ({"costs": [[0, 1], [5, 0]]}, InputTypeError, "costs: expected a CostMatrix"),
    ],
)
def test_parameters_that_cannot_be_used(options, error, message):
    X, y = three_classes()
    with pytest.raises(error, match=message):
        MetaCostClassifier(RidgeClassifier(), **options).fit(X, y)


def test_one_class():
    with pytest.raises(LabelError, match="y: at least two classes are needed"):
        MetaCostClassifier(GaussianNB(), COSTS).fit([[0.0], [1.0]], [1, 1])


def test_costs_that_are_all_zero():
    X, y = draw(100, seed=0)
    costs = CostMatrix([[0, 0], [0, 0]], rows="predicted", labels=[0, 1])
    with (
        pytest.warns(ConstantCostWarning, match="every decision costs the same"),
        pytest.warns(ConstantDecisionWarning, match="0 is the cheapest decision"),
    ):
        model = MetaCostClassifier(GaussianNB(), costs, n_estimators=3).fit(X, y)
    assert set(model.predict(X)) == {0}


def test_mean_probabilities_have_a_column_for_classes_that_a_member_has_not_met():
    X, y = three_classes()
    members = [clone(TREE).fit(X, y), clone(TREE).fit(X[y != "fair"], y[y != "fair"])]
    told = mean_probabilities(members, X, np.unique(y), average, None)
    np.testing.assert_allclose(told.sum(axis=1), 1)
    np.testing.assert_allclose(told[:, 1], members[0].predict_proba(X)[:, 1] / 2)
