import itertools
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from _helpers.two_gaussians import COSTS, draw
from scipy.sparse import csr_array
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from stakes import CostMatrix, compare
from stakes.errors import ConstantCostWarning, InputError, InputTypeError, LabelError
from stakes.learn import AdaCostClassifier

STUMP = DecisionTreeClassifier(max_depth=1, random_state=0)


@parametrize_with_checks(
    [
        AdaCostClassifier(n_estimators=3),
        AdaCostClassifier(LogisticRegression(), n_estimators=2, adjustment=0.0, learning_rate=0.5),
    ]
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# -- the algorithm


class PlainAdaCost:
    """AdaCost as in the paper, row by row, with stumps found by trying all of them."""

    def __init__(self, points, labels, costs, start, rounds):
        weights = [weight / math.fsum(start) for weight in start]
        self.rounds = []
        for _ in range(rounds):
            stump = min(
                ((cut, side) for cut in self.cuts(points) for side in (1, -1)),
                key=lambda stump: math.fsum(
                    weight
                    for weight, point, label in zip(weights, points, labels, strict=True)
                    if self.says(stump, point) != label
                ),
            )
            agreement = [
                label * self.says(stump, point) for point, label in zip(points, labels, strict=True)
            ]
            beta = [
                0.5 - 0.5 * cost if agrees > 0 else 0.5 + 0.5 * cost
                for agrees, cost in zip(agreement, costs, strict=True)
            ]
            r = math.fsum(w * a * b for w, a, b in zip(weights, agreement, beta, strict=True))
            if r <= 0:
                break
            alpha = 0.5 * math.log((1 + r) / (1 - r))
            self.rounds.append((alpha, stump))
            weights = [
                w * math.exp(-alpha * a * b)
                for w, a, b in zip(weights, agreement, beta, strict=True)
            ]
            total = math.fsum(weights)
            weights = [weight / total for weight in weights]

    @staticmethod
    def cuts(points):
        ordered = sorted(points)
        return [(low + high) / 2 for low, high in itertools.pairwise(ordered)]

    @staticmethod
    def says(stump, point):
        cut, side = stump
        return side if point > cut else -side

    def score(self, point):
        total = math.fsum(alpha * self.says(stump, point) for alpha, stump in self.rounds)
        return total / math.fsum(alpha for alpha, _ in self.rounds)


class ErrorStump(ClassifierMixin, BaseEstimator):
    """A stump with the least weighted error, as the plain one has it."""

    def fit(self, X, y, sample_weight=None):
        values = np.asarray(X)[:, 0]
        ordered = np.sort(values)
        self.classes_ = np.unique(y)
        sign = np.where(y == self.classes_[1], 1, -1)
        weights = np.ones(len(values)) if sample_weight is None else sample_weight
        tries = [(cut, side) for cut in (ordered[1:] + ordered[:-1]) / 2 for side in (1, -1)]
        errors = [weights[np.where(values > cut, side, -side) != sign].sum() for cut, side in tries]
        self.stump_ = tries[int(np.argmin(errors))]
        return self

    def predict(self, X):
        cut, side = self.stump_
        up = np.where(np.asarray(X)[:, 0] > cut, side, -side) > 0
        return self.classes_[up.astype(int)]


@pytest.mark.parametrize(
    ("miss", "adjustment", "rounds"),
    [(2.0, 0.3, 12), (3.0, 0.2, 12), (7.0, 0.1, 12), (2.0, 1.0, 1)],
)
def test_as_a_plain_adacost(miss, adjustment, rounds):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 1))
    y = (np.abs(X[:, 0]) + 0.4 * rng.normal(size=60) < 0.5).astype(int)
    costs = CostMatrix([[-0.5, miss], [0.5, 0]], rows="predicted", labels=[0, 1])
    weights = 1 + rng.random(60)  # random, so that no two stumps are tied
    model = AdaCostClassifier(ErrorStump(), costs, n_estimators=12, adjustment=adjustment)
    model.fit(X, y, sample_weight=weights)
    cost = np.where(y == 1, miss, 1.0)
    plain = PlainAdaCost(
        X[:, 0].tolist(),
        (2 * y - 1).tolist(),
        (adjustment * cost / miss).tolist(),
        (cost * weights).tolist(),
        rounds=12,
    )
    assert len(model.estimators_) == rounds
    if rounds == 1:  # with the paper's scale, boosting stops at once and keeps the first learner
        assert not plain.rounds
        assert model.estimator_weights_.tolist() == [1.0]
    else:
        says = [alpha for alpha, _ in plain.rounds]
        np.testing.assert_allclose(model.estimator_weights_, says, rtol=1e-9)
        expected = [plain.score(point) for point in X[:, 0].tolist()]
        np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-9)
        assert model.predict(X).tolist() == [int(score > 0) for score in expected]


def test_on_the_scale_of_the_paper_equal_costs_leave_one_round():
    X, y = draw(500, seed=0)
    paper = AdaCostClassifier(STUMP, adjustment=1.0, n_estimators=5).fit(X, y)
    assert len(paper.estimators_) == 1
    assert len(AdaCostClassifier(STUMP, n_estimators=5).fit(X, y).estimators_) == 5


def test_the_learning_rate_shrinks_what_a_learner_says():
    X, y = draw(500, seed=0)
    says = [
        AdaCostClassifier(STUMP, n_estimators=3, learning_rate=rate).fit(X, y).estimator_weights_
        for rate in (1.0, 0.5)
    ]
    assert says[1][0] == says[0][0] / 2


def test_stops_when_the_first_learner_makes_no_mistake():
    X, y = draw(100, seed=0)
    model = AdaCostClassifier(DecisionTreeClassifier(), COSTS).fit(X, y)
    assert len(model.estimators_) == 1
    assert np.array_equal(model.predict(X), y)


@pytest.mark.parametrize("adjustment", [0.0, 0.1, 1.0])
def test_beats_cost_blind_boosting(adjustment):
    X, y = draw(2000, seed=2)
    new, actual = draw(5000, seed=3)
    blind = AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), random_state=0).fit(X, y)
    aware = AdaCostClassifier(costs=COSTS, adjustment=adjustment, random_state=0).fit(X, y)
    difference = compare(actual, aware.predict(new), blind.predict(new), COSTS)
    assert difference.test().rejected
    assert difference.difference < 0


def test_only_what_mistakes_cost_more_than_correct_decisions_matters():
    X, y = draw(500, seed=0)
    shifted = CostMatrix(COSTS.values + np.array([3, -4]), rows="predicted", labels=[0, 1])
    turned = CostMatrix(COSTS.values[::-1, ::-1], rows="predicted", labels=[1, 0])
    scores = [
        AdaCostClassifier(STUMP, costs, random_state=0).fit(X, y).decision_function(X)
        for costs in (COSTS, shifted, turned)
    ]
    np.testing.assert_allclose(scores[1], scores[0])
    np.testing.assert_allclose(scores[2], scores[0])


def test_a_class_whose_mistakes_cost_nothing_is_never_predicted_for_others():
    X, y = draw(200, seed=0)
    costs = CostMatrix([[0, 7], [0, 0]], rows="predicted", labels=[0, 1])
    assert set(AdaCostClassifier(costs=costs).fit(X, y).predict(X)) == {1}


def test_the_costs_may_have_a_class_more_than_y():
    X, y = draw(200, seed=0)
    two = AdaCostClassifier(STUMP, COSTS).fit(X, y).decision_function(X)
    costs = CostMatrix([[0, 9, 20], [5, 0, 4], [1, 3, 0]], rows="predicted", labels=[0, 2, 1])
    np.testing.assert_allclose(AdaCostClassifier(STUMP, costs).fit(X, y).decision_function(X), two)


# -- scikit-learn's conventions


def test_text_labels():
    X, y = draw(300, seed=0)
    names = np.array(["ok", "fraud"])
    costs = COSTS.relabel({0: "ok", 1: "fraud"})
    model = AdaCostClassifier(STUMP, costs).fit(X, names[y])
    by_number = AdaCostClassifier(STUMP, COSTS).fit(X, y)
    assert np.array_equal(model.predict(X), names[by_number.predict(X)])
    np.testing.assert_allclose(model.decision_function(X), -by_number.decision_function(X))


def test_clone_pickle_and_search():
    X, y = draw(300, seed=0)
    weak = DecisionTreeClassifier(max_depth=2, max_features=1)
    model = AdaCostClassifier(weak, COSTS, n_estimators=5, random_state=0).fit(X, y)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301 - made here
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    assert np.array_equal(clone(model).fit(X, y).decision_function(X), model.decision_function(X))
    grid = {"adjustment": [0.0, 0.5], "estimator__max_depth": [1, 2]}
    assert GridSearchCV(model, grid, cv=2).fit(X, y).best_params_


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_keep_their_names_and_give_what_arrays_do(frame):
    X, y = draw(300, seed=0)
    table = frame({"first": X[:, 0], "second": X[:, 1]})
    model = AdaCostClassifier(costs=COSTS, n_estimators=5, random_state=0)
    by_array = clone(model).fit(X, y).decision_function(X)
    assert np.array_equal(model.fit(table, y).decision_function(table), by_array)
    assert model.feature_names_in_.tolist() == ["first", "second"]


def test_sparse_input_and_pipelines():
    X, y = draw(300, seed=0)
    model = AdaCostClassifier(costs=COSTS, n_estimators=5, random_state=0)
    sparse = clone(model).fit(csr_array(X), y).decision_function(csr_array(X))
    np.testing.assert_allclose(sparse, clone(model).fit(X, y).decision_function(X))
    steps = make_pipeline(StandardScaler(), model).set_output(transform="pandas")
    steps.fit(pd.DataFrame(X, columns=["a", "b"]), y)
    assert steps[-1].feature_names_in_.tolist() == ["a", "b"]


def test_weights():
    X, y = draw(300, seed=0)
    twice = np.where(X[:, 1] > 0, 2, 1)
    weighted = AdaCostClassifier(STUMP, COSTS, n_estimators=5).fit(X, y, sample_weight=twice)
    repeated = AdaCostClassifier(STUMP, COSTS, n_estimators=5)
    repeated.fit(np.repeat(X, twice, axis=0), np.repeat(y, twice))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X))
    with config_context(enable_metadata_routing=True):
        asking = clone(weighted).set_fit_request(sample_weight=True)
        routed = make_pipeline(asking).fit(X, y, sample_weight=twice)
        np.testing.assert_allclose(routed.decision_function(X), weighted.decision_function(X))


# -- bad input


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"estimator": KNeighborsClassifier()}, InputTypeError, "KNeighborsClassifier takes none"),
        ({"n_estimators": 0}, InputError, "n_estimators: expected a whole number, 1 or more"),
        ({"learning_rate": 0}, InputError, "learning_rate: expected a number above 0"),
        ({"adjustment": 1.5}, InputError, "adjustment: expected a number between 0 and 1"),
        ({"costs": COSTS.relabel({1: 2})}, LabelError, "costs: y has the class 1"),
        (
            {"costs": CostMatrix([[4, 1], [0, 2]], rows="predicted", labels=[0, 1])},
            InputError,
            "mistaking the class 0 must not cost less than recognizing it, but costs 4 less",
        ),
        (
            {
                "costs": CostMatrix(
                    [[0, 9], [1, 0], [0.5, 0.7]],
                    rows="predicted",
                    labels=[0, 1],
                    decisions=[0, 1, 2],
                )
            },
            InputError,
            "AdaCost can only decide for one of the two classes",
        ),
    ],
)
def test_parameters_that_cannot_be_used(options, error, message):
    X, y = draw(100, seed=0)
    with pytest.raises(error, match=message):
        AdaCostClassifier(**options).fit(X, y)


def test_more_than_two_classes():
    X, y = draw(100, seed=0)
    with pytest.raises(LabelError, match=r"for two classes, got 3: .* use CostSensitiveBagging"):
        AdaCostClassifier().fit(X, y + (X[:, 1] > 0))


def test_one_class():
    with pytest.raises(LabelError, match="y: at least two classes are needed"):
        AdaCostClassifier(costs=COSTS).fit([[0.0], [1.0]], [1, 1])


def test_weights_for_rows_that_cost_nothing_only():
    X, y = draw(100, seed=0)
    costs = CostMatrix([[0, 7], [0, 0]], rows="predicted", labels=[0, 1])
    with pytest.raises(InputError, match="sample_weight: only examples whose mistakes cost"):
        AdaCostClassifier(costs=costs).fit(X, y, sample_weight=1 - y)


def test_costs_that_are_all_zero():
    X, y = draw(100, seed=0)
    costs = CostMatrix([[0, 0], [0, 0]], rows="predicted", labels=[0, 1])
    with pytest.warns(ConstantCostWarning, match="every decision costs the same"):
        model = AdaCostClassifier(costs=costs, random_state=0).fit(X, y)
    blind = AdaCostClassifier(random_state=0).fit(X, y)
    assert np.array_equal(model.predict(X), blind.predict(X))
