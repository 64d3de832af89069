import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from _helpers.two_gaussians import COSTS, PREVALENCE, TrueProbabilities, draw
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from stakes import CostMatrix, compare
from stakes.errors import ConstantCostWarning, InputError, LabelError
from stakes.learn import CostSensitiveBaggingClassifier, class_weights

THREE = CostMatrix(
    [[0, 4, 30], [1, 0, 12], [2, 3, 0.5]], rows="predicted", labels=["good", "fair", "bad"]
)
DRAWS = "weights are the chances in random draws, which repeated rows change one by one"


def three_classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=n)
    X = rng.normal(size=(n, 2)) + codes[:, np.newaxis] * [1.0, 0.5]
    return X, np.array(["good", "fair", "bad"])[codes]


@parametrize_with_checks(
    [
        CostSensitiveBaggingClassifier(n_estimators=5, random_state=0, **setting)
        for setting in (
            {"weighting": "avg_cost"},
            {"estimator": RidgeClassifier(), "deciding": "vote", "max_samples": 0.7},
        )
    ],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": DRAWS,
        "check_sample_weight_equivalence_on_sparse_data": DRAWS,
    },
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    "options",
    [{}, {"weighting": "avg_cost", "deciding": "vote"}, {"weighting": "avg_cost"}],
)
def test_beats_plain_bagging(options):
    X, y = draw(2000, seed=2)
    new, actual = draw(5000, seed=3)
    blind = CostSensitiveBaggingClassifier(costs=COSTS, deciding="vote", random_state=0)
    aware = CostSensitiveBaggingClassifier(costs=COSTS, random_state=0, **options)
    decided = [model.fit(X, y).predict(new) for model in (aware, blind)]
    difference = compare(actual, *decided, COSTS)
    assert difference.test().rejected
    assert difference.difference < 0


def test_averages_probabilities_and_decides_by_minimum_risk():
    X, y = three_classes()
    model = CostSensitiveBaggingClassifier(costs=THREE, n_estimators=7, random_state=0).fit(X, y)
    by_hand = sum(member.predict_proba(X) for member in model.estimators_) / 7
    np.testing.assert_allclose(model.predict_proba(X), by_hand)
    assert np.array_equal(model.predict(X), THREE.decide(by_hand, labels=model.classes_))


def test_votes():
    X, y = three_classes()
    model = CostSensitiveBaggingClassifier(
        costs=THREE, n_estimators=7, deciding="vote", random_state=0
    ).fit(X, y)
    votes = pd.DataFrame([member.predict(X) for member in model.estimators_])
    most = votes.mode().iloc[0]  # the first of the classes with the most votes
    assert model.predict(X).tolist() == most.tolist()


def test_learners_without_probabilities_vote_for_them():
    X, y = three_classes()
    model = CostSensitiveBaggingClassifier(RidgeClassifier(), THREE, n_estimators=8).fit(X, y)
    assert set(np.unique(model.predict_proba(X) * 8)) <= set(range(9))


def test_draws_follow_the_weights_of_the_classes():
    X, y = draw(2000, seed=1)
    model = CostSensitiveBaggingClassifier(
        TrueProbabilities(), COSTS, n_estimators=1, weighting="avg_cost", random_state=0
    ).fit(X, y)
    assert model.class_weight_ == class_weights(y, COSTS, "avg_cost")
    tree = CostSensitiveBaggingClassifier(
        DecisionTreeClassifier(max_depth=1),
        COSTS,
        n_estimators=40,
        weighting="avg_cost",
        random_state=0,
    ).fit(X, y)
    drawn = np.mean([member.tree_.value[0, 0, 1] for member in tree.estimators_])
    assert drawn == pytest.approx(20 * y.mean() / (20 * y.mean() + 1 - y.mean()), abs=0.01)


def test_class_frequencies_count_sample_weight():
    X, y = draw(200, seed=0)
    weights = np.where(y == 1, 3.0, 1.0)
    model = CostSensitiveBaggingClassifier(n_estimators=2, weighting="class_freq")
    model.fit(X, y, sample_weight=weights)
    totals = [weights[y == label].sum() * model.class_weight_[label] for label in (0, 1)]
    assert totals[0] == pytest.approx(totals[1])


def test_minimum_risk_takes_the_weighting_out_again():
    X, y = draw(20_000, seed=1)
    options = {"n_estimators": 5, "random_state": 0}
    plain = CostSensitiveBaggingClassifier(GaussianNB(), COSTS, **options).fit(X, y)
    drawn = CostSensitiveBaggingClassifier(
        GaussianNB(), COSTS, weighting="avg_cost", **options
    ).fit(X, y)
    assert drawn.predict_proba(X)[:, 1].mean() == pytest.approx(PREVALENCE, abs=0.02)
    np.testing.assert_allclose(drawn.predict_proba(X), plain.predict_proba(X), atol=0.05)
    assert np.mean(drawn.predict(X) == plain.predict(X)) > 0.97


def test_can_abstain():
    X, y = draw(1000, seed=4)
    costs = CostMatrix(
        [[0, 20], [5, 0], [1, 1.5]],
        rows="predicted",
        labels=[0, 1],
        decisions=[0, 1, "abstain"],
    )
    model = CostSensitiveBaggingClassifier(GaussianNB(), costs, n_estimators=5, random_state=0)
    assert set(model.fit(X, y).predict(X).tolist()) == {0, 1, "abstain"}


# -- scikit-learn's conventions


def test_the_same_for_any_number_of_jobs():
    X, y = three_classes()
    told = []
    for jobs in (None, 2):
        model = CostSensitiveBaggingClassifier(
            DecisionTreeClassifier(max_features=1),
            THREE,
            n_estimators=6,
            weighting="avg_cost",
            random_state=1,
            n_jobs=jobs,
        ).fit(X, y)
        told.append(model.predict_proba(X))
    assert np.array_equal(*told)


def test_clone_pickle_and_search():
    X, y = three_classes()
    model = CostSensitiveBaggingClassifier(costs=THREE, n_estimators=5, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - made here
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(clone(model).fit(X, y).predict(X), model.predict(X))
    grid = {"deciding": ["vote", "minimum_risk"], "weighting": ["avg_cost", None]}
    assert GridSearchCV(model, grid, cv=2).fit(X, y).best_params_


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names_and_give_what_arrays_do(frame):
    X, y = three_classes()
    table = frame({"first": X[:, 0], "second": X[:, 1]})
    model = CostSensitiveBaggingClassifier(costs=THREE, n_estimators=5, random_state=0)
    by_array = clone(model).fit(X, y).predict_proba(X)
    assert np.array_equal(model.fit(table, y).predict_proba(table), by_array)
    assert model.feature_names_in_.tolist() == ["first", "second"]
    assert model.estimators_[0].feature_names_in_.tolist() == ["first", "second"]


def test_sparse_input_and_pipelines():
    X, y = three_classes()
    model = CostSensitiveBaggingClassifier(costs=THREE, n_estimators=5, random_state=0)
    sparse = clone(model).fit(csr_array(X), y).predict_proba(csr_array(X))
    np.testing.assert_allclose(sparse, clone(model).fit(X, y).predict_proba(X))
    steps = make_pipeline(StandardScaler(), model).set_output(transform="pandas")
    steps.fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert steps[-1].feature_names_in_.tolist() == ["a", "b"]


def test_weights_count_in_the_draws():
    X, y = three_classes()
    heavy = np.where(y == "fair", 0.0, 2.0)
    model = CostSensitiveBaggingClassifier(n_estimators=5, weighting="avg_cost", random_state=0)
    assert not model.fit(X, y, sample_weight=heavy).predict_proba(X)[:, 1].any()
    with config_context(enable_metadata_routing=True):
        asking = clone(model).set_fit_request(sample_weight=True)
        routed = make_pipeline(asking).fit(X, y, sample_weight=heavy)
        assert not routed.predict_proba(X)[:, 1].any()


# -- bad input


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"deciding": "risk"}, InputError, "deciding: expected one of 'minimum_risk'"),
        ({"n_estimators": -1}, InputError, "n_estimators: expected a whole number"),
        ({"max_samples": 0.0}, InputError, "max_samples: expected a share"),
        ({"weighting": "avg"}, InputError, "'avg'"),
        ({"costs": COSTS}, LabelError, "costs: y has the class 'bad'"),
    ],
)
def test_parameters_that_cannot_be_used(options, error, message):
    X, y = three_classes()
    with pytest.raises(error, match=message):
        CostSensitiveBaggingClassifier(LogisticRegression(), **options).fit(X, y)


def test_a_weight_of_zero():
    X, y = draw(100, seed=0)
    costs = CostMatrix([[0, 7], [0, 0]], rows="predicted", labels=[0, 1])
    with pytest.raises(InputError, match="weight"):
        CostSensitiveBaggingClassifier(costs=costs, weighting="avg_cost").fit(X, y)


def test_one_class():
    with pytest.raises(LabelError, match="y: at least two classes are needed"):
        CostSensitiveBaggingClassifier(costs=COSTS).fit([[0.0], [1.0]], [1, 1])


def test_costs_that_are_all_zero():
    X, y = draw(100, seed=0)
    costs = CostMatrix([[0, 0], [0, 0]], rows="predicted", labels=[0, 1])
    with pytest.warns(ConstantCostWarning, match="every decision costs the same"):
        model = CostSensitiveBaggingClassifier(costs=costs, n_estimators=3).fit(X, y)
    assert set(model.predict(X)) == {0}
