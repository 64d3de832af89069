import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from _helpers.two_gaussians import COSTS, TrueProbabilities, bayes_cost, draw
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import NotFittedError, UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from stakes import CostMatrix, compare, evaluate
from stakes.errors import ConstantCostWarning, InputError, InputTypeError, LabelError
from stakes.learn import MinimumRiskClassifier

THREE = CostMatrix(
    [[0, 4, 30], [1, 0, 12], [2, 3, 0.5]], rows="predicted", labels=["good", "fair", "bad"]
)


def three_classes(n=300, seed=0):
    rng = np.random.default_rng(seed)
    codes = rng.integers(3, size=n)
    X = rng.normal(size=(n, 2)) + codes[:, np.newaxis] * [1.0, 0.5]
    return X, np.array(["good", "fair", "bad"])[codes]


@parametrize_with_checks(
    [
        MinimumRiskClassifier(DecisionTreeClassifier(random_state=0)),
        MinimumRiskClassifier(LinearSVC(random_state=0), calibration="sigmoid", cv=2),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


class Told(ClassifierMixin, BaseEstimator):
    """A classifier whose feature is the probability of class 1."""

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.column_stack([1 - X[:, 0], X[:, 0]])


def test_the_costs_of_the_thesis_table_2_4_are_14_and_5():
    actual = [0, 1, 0, 0, 0, 1, 1, 0, 1, 1]
    estimators = {
        14: [0.01, 0.07, 0.30, 0.45, 0.60, 0.70, 0.75, 0.90, 0.92, 0.95],
        5: [0.35, 0.40, 0.65, 0.70, 0.72, 0.75, 0.77, 0.79, 0.80, 0.85],
    }
    costs = CostMatrix([[0, 10], [1, 0]], rows="predicted", labels=[0, 1])
    for total, told in estimators.items():
        X = np.array(told)[:, np.newaxis]
        decided = MinimumRiskClassifier(Told(), costs).fit(X, actual).predict(X)
        assert evaluate(actual, decided, costs).total == total


def test_true_probabilities_attain_the_bayes_cost():
    X, y = draw(400_000, seed=1)
    decided = MinimumRiskClassifier(TrueProbabilities(), COSTS).fit(X[:100], y[:100]).predict(X)
    paid = COSTS.values[decided, y]
    error = paid.std() / np.sqrt(len(paid))
    assert abs(paid.mean() - bayes_cost()) < 3 * error
    assert error < 0.01 * bayes_cost()


@pytest.mark.parametrize("calibration", [None, "sigmoid", "isotonic"])
def test_beats_the_cost_blind_learner(calibration):
    X, y = draw(2000, seed=2)
    new, actual = draw(5000, seed=3)
    blind = GaussianNB().fit(X, y)
    aware = MinimumRiskClassifier(GaussianNB(), COSTS, calibration=calibration).fit(X, y)
    difference = compare(actual, aware.predict(new), blind.predict(new), COSTS)
    assert difference.test().rejected
    assert difference.difference < 0


def test_decides_as_the_cost_matrix_does_whatever_the_order_of_the_labels():
    X, y = three_classes()
    model = MinimumRiskClassifier(LogisticRegression(), THREE).fit(X, y)
    assert model.classes_.tolist() == ["bad", "fair", "good"]
    assert model.decisions_.tolist() == ["good", "fair", "bad"]
    proba = LogisticRegression().fit(X, y).predict_proba(X)
    assert np.array_equal(model.predict_proba(X), proba)
    np.testing.assert_allclose(model.expected_risk(X), THREE.risk(proba, labels=model.classes_))
    assert np.array_equal(model.predict(X), THREE.decide(proba, labels=model.classes_))


def test_a_tie_goes_to_the_first_decision_however_it_rounds():
    costs = CostMatrix([[0, 9], [1, 0]], rows="predicted", labels=[0, 1])
    X = np.array([[0.1], [0.1 + 1e-9], [0.1 - 1e-9]])
    model = MinimumRiskClassifier(Told(), costs).fit(X, [0, 1, 0])
    one_by_one = np.repeat(costs.values[np.newaxis], 3, axis=0)
    assert model.predict(X).tolist() == costs.decide(model.predict_proba(X)).tolist() == [0, 1, 0]
    assert model.predict(X, example_costs=one_by_one).tolist() == [0, 1, 0]


def test_can_abstain():
    costs = CostMatrix(
        [[0, 20], [5, 0], [1, 1.5]],
        rows="predicted",
        labels=[0, 1],
        decisions=[0, 1, "abstain"],
    )
    X = np.array([[0.01], [0.2], [0.95]])
    model = MinimumRiskClassifier(Told(), costs).fit(X, [0, 1, 1])
    assert model.predict(X).tolist() == [0, "abstain", 1]
    np.testing.assert_allclose(model.expected_risk(X)[1], [4, 4, 1.1])


def test_a_class_of_the_costs_may_be_missing_in_y():
    X, y = three_classes()
    here = y != "bad"
    model = MinimumRiskClassifier(LogisticRegression(), THREE).fit(X[here], y[here])
    assert model.decisions_.tolist() == ["good", "fair", "bad"]
    assert model.expected_risk(X).shape == (len(X), 3)


# -- costs of single examples


def example_costs(X):
    """Vary the costs from example to example, and from decision to decision."""
    return np.exp(X[:, :1, np.newaxis]) * THREE.values + X[:, 1:, np.newaxis] * [[0], [3], [1]]


def test_costs_of_examples_are_in_the_order_of_the_users_costs():
    X, y = three_classes()
    model = MinimumRiskClassifier(LogisticRegression(), THREE).fit(X, y)
    own = example_costs(X)
    proba = model.predict_proba(X)
    for row in range(0, len(X), 29):
        matrix = CostMatrix(own[row], rows="predicted", labels=THREE.labels)
        risk = matrix.risk(proba[[row]], labels=model.classes_)
        np.testing.assert_allclose(model.expected_risk(X, own)[row], risk[0])
        assert model.predict(X, own)[row] == matrix.decide(proba[[row]], labels=model.classes_)[0]


def test_costs_of_examples_alone_are_in_the_order_of_the_classes():
    X = np.array([[0.2], [0.2]])
    model = MinimumRiskClassifier(Told()).fit(X, ["no", "yes"])
    own = [[[0, 1], [9, 0]], [[0, 9], [1, 0]]]
    assert model.predict(X, example_costs=own).tolist() == ["no", "yes"]


def test_costs_of_examples_pass_through_a_pipeline():
    X, y = three_classes()
    own = example_costs(X)
    with config_context(enable_metadata_routing=True):
        model = MinimumRiskClassifier(LogisticRegression(), THREE)
        model.set_predict_request(example_costs=True)
        pipeline = make_pipeline(StandardScaler(), model).fit(X, y)
        scaled = pipeline[:-1].transform(X)
        routed = pipeline.predict(X, example_costs=own)
        assert np.array_equal(routed, pipeline[-1].predict(scaled, own))
        assert not np.array_equal(routed, pipeline.predict(X))


def test_costs_of_examples_pass_through_cross_validation():
    X, y = three_classes()
    own = example_costs(X)
    with config_context(enable_metadata_routing=True):
        model = MinimumRiskClassifier(LogisticRegression(), THREE)
        model.set_score_request(example_costs=True)
        scores = cross_validate(model, X, y, params={"example_costs": own}, return_indices=True)
        train, test = scores["indices"]["train"][0], scores["indices"]["test"][0]
        decided = clone(model).fit(X[train], y[train]).predict(X[test], own[test])
        assert scores["test_score"][0] == np.mean(decided == y[test])
        assert scores["test_score"][0] != cross_validate(model, X, y)["test_score"][0]


def test_cross_val_predict_gives_decisions_and_probabilities():
    X, y = draw(300, seed=0)
    model = make_pipeline(StandardScaler(), MinimumRiskClassifier(GaussianNB(), COSTS))
    decided = cross_val_predict(model, X, y)
    proba = cross_val_predict(model, X, y, method="predict_proba")
    assert np.array_equal(decided, COSTS.decide(proba))


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (np.ones((5, 3, 3)), r"expected an array of shape \(300, 3, 3\) \[example, decision"),
        (np.ones((300, 3)), "example_costs"),
        (np.full((300, 3, 3), np.nan), "example_costs"),
    ],
)
def test_costs_of_examples_that_cannot_be_used(own, message):
    X, y = three_classes()
    model = MinimumRiskClassifier(LogisticRegression(), THREE).fit(X, y)
    with pytest.raises(InputError, match=message):
        model.predict(X, own)


# -- scikit-learn's conventions


def test_a_fitted_classifier_is_taken_as_it_is():
    X, y = three_classes()
    fitted = LogisticRegression().fit(X, y)
    few = y != "bad"
    model = MinimumRiskClassifier(FrozenEstimator(fitted), THREE).fit(X[few], y[few])
    assert model.classes_.tolist() == ["bad", "fair", "good"]
    assert np.array_equal(model.predict_proba(X), fitted.predict_proba(X))
    calibrated = MinimumRiskClassifier(FrozenEstimator(fitted), THREE, calibration="sigmoid")
    assert calibrated.fit(X, y).predict(X).shape == y.shape
    with pytest.raises(LabelError, match="y: has the class 'ugly'"):
        MinimumRiskClassifier(FrozenEstimator(fitted)).fit(X, np.where(few, y, "ugly"))


def test_calibrates_as_scikit_learn_does():
    X, y = three_classes()
    model = MinimumRiskClassifier(LinearSVC(), THREE, calibration="isotonic", cv=3).fit(X, y)
    peer = CalibratedClassifierCV(LinearSVC(), method="isotonic", cv=3).fit(X, y)
    assert np.array_equal(model.predict_proba(X), peer.predict_proba(X))


def test_the_same_for_any_number_of_jobs():
    X, y = three_classes()
    model = MinimumRiskClassifier(DecisionTreeClassifier(random_state=0), calibration="sigmoid")
    one, two = (clone(model).set_params(n_jobs=jobs).fit(X, y).predict_proba(X) for jobs in (1, 2))
    assert np.array_equal(one, two)


def test_clone_pickle_and_search():
    X, y = three_classes()
    model = MinimumRiskClassifier(LogisticRegression(), THREE, calibration="sigmoid").fit(X, y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - made here
    assert np.array_equal(again.predict(X), model.predict(X))
    assert clone(model).get_params()["costs"] == THREE
    search = GridSearchCV(model, {"calibration": [None, "sigmoid"], "estimator__C": [0.1, 1.0]})
    assert search.fit(X, y).best_params_


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names_and_give_what_arrays_do(frame):
    X, y = three_classes()
    table = frame({"first": X[:, 0], "second": X[:, 1]})
    model = MinimumRiskClassifier(LogisticRegression(), THREE).fit(table, y)
    assert model.feature_names_in_.tolist() == ["first", "second"]
    plain = MinimumRiskClassifier(LogisticRegression(), THREE).fit(X, y)
    assert np.array_equal(model.predict(table), plain.predict(X))
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table[["first"]])


def test_sparse_input_and_steps_that_output_frames():
    X, y = three_classes()
    plain = MinimumRiskClassifier(LogisticRegression(), THREE).fit(X, y)
    sparse = MinimumRiskClassifier(LogisticRegression(), THREE).fit(csr_array(X), y)
    np.testing.assert_allclose(sparse.predict_proba(X), plain.predict_proba(X), rtol=1e-3)
    steps = make_pipeline(StandardScaler(), clone(plain)).set_output(transform="pandas")
    steps.fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert steps[-1].feature_names_in_.tolist() == ["a", "b"]


def test_weights_reach_the_estimator():
    X, y = three_classes()
    weights = np.random.default_rng(0).random(len(y))
    peer = LogisticRegression().fit(X, y, sample_weight=weights).predict_proba(X)
    model = MinimumRiskClassifier(LogisticRegression(), THREE)
    assert np.array_equal(model.fit(X, y, sample_weight=weights).predict_proba(X), peer)
    steps = make_pipeline(StandardScaler(), LogisticRegression())
    weighted = MinimumRiskClassifier(steps).fit(X, y, sample_weight=weights)
    assert not np.array_equal(weighted.predict_proba(X), clone(steps).fit(X, y).predict_proba(X))
    with pytest.raises(InputTypeError, match="KNeighborsClassifier takes no weights"):
        MinimumRiskClassifier(KNeighborsClassifier()).fit(X, y, sample_weight=weights)


def test_weights_are_routed_to_the_estimator_that_asks():
    X, y = three_classes()
    weights = np.random.default_rng(0).random(len(y))
    with config_context(enable_metadata_routing=True):
        asking = LogisticRegression().set_fit_request(sample_weight=True)
        peer = LogisticRegression().fit(X, y, sample_weight=weights).predict_proba(X)
        steps = make_pipeline(MinimumRiskClassifier(asking, THREE))
        assert np.array_equal(steps.fit(X, y, sample_weight=weights).predict_proba(X), peer)
        calibrated = MinimumRiskClassifier(asking, THREE, calibration="sigmoid")
        calibrated.fit(X, y, sample_weight=weights)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            MinimumRiskClassifier(LogisticRegression()).fit(X, y, sample_weight=weights)
    with pytest.raises(InputTypeError, match="groups: fit takes sample_weight, and others only"):
        MinimumRiskClassifier(LogisticRegression()).fit(X, y, groups=weights)


# -- bad input


def test_an_estimator_without_probabilities():
    X, y = three_classes()
    with pytest.raises(InputTypeError, match="LinearSVC has no predict_proba"):
        MinimumRiskClassifier(LinearSVC(), THREE).fit(X, y)


def test_costs_for_other_classes():
    X, y = three_classes()
    with pytest.raises(LabelError, match="y has the class 'bad'"):
        MinimumRiskClassifier(LogisticRegression(), COSTS).fit(X, y)
    with pytest.raises(InputTypeError, match="costs: expected a CostMatrix"):
        MinimumRiskClassifier(LogisticRegression(), THREE.values).fit(X, y)


def test_one_class():
    with pytest.raises(LabelError, match="y: at least two classes are needed"):
        MinimumRiskClassifier(GaussianNB(), COSTS).fit([[0.0], [1.0]], [1, 1])


def test_costs_that_are_all_zero():
    X, y = draw(100, seed=0)
    costs = CostMatrix([[0, 0], [0, 0]], rows="predicted", labels=[0, 1])
    with pytest.warns(ConstantCostWarning, match="every decision costs the same"):
        model = MinimumRiskClassifier(GaussianNB(), costs).fit(X, y)
    assert set(model.predict(X)) == {0}


def test_a_calibration_that_there_is_not():
    with pytest.raises(InputError, match="calibration: expected"):
        MinimumRiskClassifier(GaussianNB(), calibration="platt").fit([[0.0], [1.0]], [0, 1])


def test_before_fit():
    with pytest.raises(NotFittedError):
        MinimumRiskClassifier(GaussianNB()).expected_risk([[0.0]])
