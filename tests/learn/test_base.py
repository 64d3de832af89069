import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier
from two_gaussians import COSTS, draw

from stakes import CostMatrix
from stakes.errors import InputError, LabelError
from stakes.learn import (
    AdaCostClassifier,
    CostSensitiveBaggingClassifier,
    MetaCostClassifier,
    MinimumRiskClassifier,
    WeightedClassifier,
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
