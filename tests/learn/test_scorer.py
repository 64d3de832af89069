import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    TunedThresholdClassifierCV,
    cross_validate,
)
from sklearn.tree import DecisionTreeClassifier

from stakes import CostMatrix, ExampleCosts, evaluate
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.learn import cost_scorer

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=20)
THREE = CostMatrix([[0, 7, 1], [2, 0, 30], [5, 3, -1]], rows="predicted", labels=["c", "a", "b"])
X, Y = make_classification(300, weights=[0.8], random_state=0)


class Always(ClassifierMixin, BaseEstimator):
    """A classifier that has made up its mind."""

    def __init__(self, y_pred):
        self.y_pred = y_pred
        self.classes_ = np.unique(np.asarray(y_pred, dtype=str))

    def predict(self, X):
        return np.asarray(self.y_pred)[: len(X)]


def score(costs, y_true, y_pred, **options):
    with config_context(enable_metadata_routing=True):
        scorer = cost_scorer(costs).set_score_request(**dict.fromkeys(options, True))
        return scorer(Always(y_pred), np.zeros((len(y_true), 1)), y_true, **options)


@given(st.integers(0, 10**6), st.booleans())
def test_it_is_minus_the_cost_of_evaluate(seed, weighted):
    rng = np.random.default_rng(seed)
    y_true, y_pred = rng.choice(["a", "b", "c"], (2, 40))
    options = {"sample_weight": rng.random(40)} if weighted else {}
    expected = evaluate(y_true, y_pred, THREE, **options).cost
    assert score(THREE, y_true, y_pred, **options) == -expected


def test_by_hand():
    # c→c 0, c→a (predict a, class c) 2, a→c 7, b→a 30: 39 in total, over 4 rows
    assert score(THREE, ["c", "c", "a", "b"], ["c", "a", "c", "a"]) == -39 / 4
    weights = [1, 1, 0, 2]
    assert score(THREE, ["c", "c", "a", "b"], ["c", "a", "c", "a"], sample_weight=weights) == (
        -62 / 4
    )


def test_costs_of_single_examples_take_the_place_of_the_matrix():
    y_true, y_pred = [1, 0, 1], [0, 1, 1]
    amounts = np.array([[120.0, 5], [0, 5], [35, 6]])  # costs of predicting 0, of predicting 1
    assert score(COSTS, y_true, y_pred, example_costs=amounts) == -(120 + 5 + 6) / 3
    expected = -evaluate(y_true, y_pred, ExampleCosts(amounts)).cost
    assert score(COSTS, y_true, y_pred, example_costs=amounts) == pytest.approx(expected)
    weighted = score(COSTS, y_true, y_pred, example_costs=amounts, sample_weight=[1, 2, 1])
    assert weighted == -(120 + 2 * 5 + 6) / 4
    frame = pd.DataFrame(amounts[:, ::-1], columns=[1, 0])  # matched by name, in any order
    assert score(COSTS, y_true, y_pred, example_costs=frame) == -131 / 3


def test_costs_of_single_examples_by_class_follow_the_order_of_the_costs():
    rng = np.random.default_rng(1)
    y_true, y_pred = rng.choice(["a", "b", "c"], (2, 50))
    factor = rng.random(50)
    cube = factor[:, np.newaxis, np.newaxis] * THREE.values
    paid = [
        f * THREE.values[THREE.decisions.index(p), THREE.labels.index(t)]
        for f, p, t in zip(factor, y_pred, y_true, strict=True)
    ]
    assert score(THREE, y_true, y_pred, example_costs=cube) == pytest.approx(-np.mean(paid))
    flat = ExampleCosts.from_matrix(THREE, y_true, factor).values
    assert score(THREE, y_true, y_pred, example_costs=flat) == pytest.approx(-np.mean(paid))


def test_an_extra_decision_has_its_cost():
    costs = CostMatrix(
        [[0, 20], [1, 0], [2, 3]], rows="predicted", labels=[0, 1], decisions=[0, 1, "ask"]
    )
    assert score(costs, [0, 1, 1], np.array([0, "ask", 0], dtype=object)) == -(0 + 3 + 20) / 3


def test_in_cross_validate_with_and_without_routing():
    cv = StratifiedKFold(4)
    found = cross_validate(DecisionTreeClassifier(random_state=0), X, Y, scoring=cost_scorer(COSTS))
    assert (found["test_score"] <= 0).all()
    amounts = np.random.default_rng(0).lognormal(2, 1, len(Y))
    example_costs = ExampleCosts.from_matrix(COSTS, Y, amounts).values
    with config_context(enable_metadata_routing=True):
        routed = cross_validate(
            LogisticRegression().set_fit_request(sample_weight=False),
            X,
            Y,
            cv=cv,
            scoring=cost_scorer(COSTS).set_score_request(example_costs=True, sample_weight=True),
            params={"example_costs": example_costs, "sample_weight": amounts},
            error_score="raise",
        )["test_score"]
    by_hand = []
    for train, test in cv.split(X, Y):
        y_pred = LogisticRegression().fit(X[train], Y[train]).predict(X[test])
        paid = example_costs[test, y_pred]
        by_hand.append(-np.average(paid, weights=amounts[test]))
    assert routed == pytest.approx(by_hand)


def test_grid_search_takes_the_cheapest():
    grid = {"class_weight": [{0: 1, 1: 1}, {0: 1, 1: 20}, {0: 20, 1: 1}]}
    search = GridSearchCV(LogisticRegression(), grid, scoring=cost_scorer(COSTS))
    search.fit(X, Y)
    assert search.best_params_ == {"class_weight": {0: 1, 1: 20}}
    assert clone(search).fit(X, Y).best_score_ == search.best_score_


def test_a_tuned_threshold_is_low_where_misses_are_dear():
    tuned = TunedThresholdClassifierCV(LogisticRegression(), scoring=cost_scorer(COSTS)).fit(X, Y)
    assert tuned.best_threshold_ < 0.3
    turned = CostMatrix.from_errors(false_positive=20, false_negative=1)
    other = TunedThresholdClassifierCV(LogisticRegression(), scoring=cost_scorer(turned)).fit(X, Y)
    assert other.best_threshold_ > 0.7


def test_copies_and_pickles_score_alike():
    model = LogisticRegression().fit(X, Y)
    scorer = cost_scorer(COSTS)
    copied = pickle.loads(pickle.dumps(scorer))  # noqa: S301 - our own
    for other in (copied, clone(scorer, safe=False)):
        assert other(model, X, Y) == scorer(model, X, Y)
    assert "expected_cost" in repr(scorer)


def test_a_class_or_a_decision_without_costs_is_named():
    with pytest.raises(LabelError, match=r"y_true: the label 7 at position 1 .* among the classes"):
        score(COSTS, [0, 7], [0, 1])
    with pytest.raises(LabelError, match=r"y_pred: the label 2 at position 0 .*the decisions"):
        score(COSTS, [0, 1], [2, 1])
    for name, arrays in {"y_true": ([0, 7], [0, 1]), "y_pred": ([0, 1], [0, 7])}.items():
        with pytest.raises(LabelError, match=f"{name}: the label 7"):
            score(COSTS, *arrays, example_costs=np.ones((2, 2)))


def test_in_a_search_the_error_is_raised_on_request():
    with pytest.raises(LabelError, match="y_pred: the label 9 at position 0"):
        cross_validate(
            DummyClassifier(strategy="constant", constant=9),
            np.zeros((6, 1)),
            [0, 9] * 3,
            cv=[(np.arange(6), [0, 2])],
            scoring=cost_scorer(COSTS),
            error_score="raise",
        )


def test_bad_input():
    with pytest.raises(InputTypeError, match="costs: expected a CostMatrix, got a list"):
        cost_scorer([[0, 20], [1, 0]])
    with pytest.raises(InputTypeError, match=r"got ExampleCosts.*set_score_request"):
        cost_scorer(ExampleCosts([[0, 1]]))
    for shape in [(2,), (3, 2), (2, 3), (2, 2, 3)]:
        with pytest.raises(InputError, match=r"example_costs: expected .* shape \(2, 2\)"):
            score(COSTS, [0, 1], [0, 1], example_costs=np.ones(shape))
    with pytest.raises(InputError, match="sample_weight: weights cannot be negative"):
        score(COSTS, [0, 1], [0, 1], example_costs=np.ones((2, 2)), sample_weight=[1, -1])
    with pytest.raises(InputError, match="finite"):
        score(COSTS, [0, 1], [0, 1], example_costs=[[0, np.nan], [1, 1]])
