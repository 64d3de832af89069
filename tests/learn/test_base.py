import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from two_gaussians import COSTS, draw

from stakes import CostMatrix
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.learn import (
    AdaCostClassifier,
    CostSensitiveBaggingClassifier,
    MetaCostClassifier,
    MinimumRiskClassifier,
    WeightedClassifier,
    class_weights,
    compare_learners,
)
from stakes.learn._base import seeded

TREE = DecisionTreeClassifier(max_depth=3, random_state=0)
NAMED = COSTS.relabel({0: "usual", 1: "fraud"})
LEARNERS = [
    AdaCostClassifier(TREE, n_estimators=3, random_state=0),
    CostSensitiveBaggingClassifier(TREE, n_estimators=3, random_state=0),
    MetaCostClassifier(TREE, n_estimators=3, random_state=0),
    MinimumRiskClassifier(TREE),
    WeightedClassifier(TREE),
]


def named(n=300):
    X, y = draw(n, seed=0)
    return X, np.array(["usual", "fraud"])[y]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_where_scikit_learn_numbers_the_classes_the_error_says_what_to_do(learner):
    X, y = named()
    learner = clone(learner).set_params(costs=NAMED)
    with pytest.raises(LabelError, match=r"costs\.relabel\(\{'fraud': 0, 'usual': 1\}\)"):
        VotingClassifier([("learner", learner), ("bayes", GaussianNB())]).fit(X, y)
    learner.set_params(costs=NAMED.relabel({"fraud": 0, "usual": 1}))
    for kind in (VotingClassifier, StackingClassifier):
        both = kind([("learner", learner), ("bayes", GaussianNB())]).fit(X, y)
        assert set(both.predict(X)) == {"fraud", "usual"}


def test_numbered_costs_give_the_probabilities_of_the_same_decisions():
    X, y = named()
    numbered = NAMED.relabel({"fraud": 0, "usual": 1})
    proba = cross_val_predict(
        MinimumRiskClassifier(GaussianNB(), numbered), X, y, method="predict_proba"
    )
    decided = cross_val_predict(MinimumRiskClassifier(GaussianNB(), NAMED), X, y)
    assert np.array_equal(NAMED.decide(proba, labels=["fraud", "usual"]), decided)


@pytest.mark.parametrize(
    ("labels", "y"), [(["no", "yes"], [1, 2]), (["a", "b", "c"], [0, 1]), ([5, 6], [0, 1])]
)
def test_there_is_no_such_advice_where_it_would_not_fit(labels, y):
    costs = CostMatrix.zero_one(labels)
    with pytest.raises(LabelError, match=r"costs\.relabel\(\{old: new\}\)\.$"):
        MinimumRiskClassifier(GaussianNB(), costs).fit([[0.0], [1.0]], y)


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("weight", [-1.0, 0.0, np.nan])
def test_rows_cannot_weigh_less_than_nothing_nor_all_nothing(learner, weight):
    X, y = draw(50, seed=0)
    with pytest.raises(InputError, match="sample_weight: "):
        clone(learner).set_params(costs=COSTS).fit(X, y, sample_weight=np.full(50, weight))


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_rows_without_a_class(missing):
    X, y = [[0.0], [1.0], [2.0]], np.array(["a", "b", missing], dtype=object)
    learners = {"tree": TREE, "bayes": GaussianNB()}
    for use in (
        lambda: MinimumRiskClassifier(TREE).fit(X, y),
        lambda: class_weights(y, None),
        lambda: compare_learners(learners, X, y, None, cv=2),
    ):
        with pytest.raises(ValueError, match=r"y: expected classes of one kind|NaN"):
            use()


def test_weights_for_a_pipeline_that_does_not_ask():
    X, y = draw(50, seed=0)
    steps = make_pipeline(StandardScaler(), GaussianNB())
    advice = r"let the step that takes them ask: set_fit_request\(sample_weight=True\)"
    with config_context(enable_metadata_routing=True):
        with pytest.raises(InputTypeError, match=advice):
            MetaCostClassifier(steps).fit(X, y, sample_weight=np.ones(50))
        with pytest.raises(InputTypeError, match=advice):
            AdaCostClassifier(steps).fit(X, y)


def test_a_fit_that_failed_leaves_nothing_to_predict_with():
    model = MinimumRiskClassifier(LogisticRegression(C=-1.0))
    with pytest.raises(ValueError, match="'C'"):
        model.fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(NotFittedError):
        model.predict([[0.0]])


def test_seeds_of_all_random_parts():
    steps = make_pipeline(DecisionTreeClassifier(), DecisionTreeClassifier(random_state=5))
    for keep, expected in ((False, {7}), (True, {5, 7})):
        params = seeded(steps, 7, keep=keep).get_params()
        assert {params[key] for key in params if key.endswith("random_state")} == expected
    assert steps[0].random_state is None
