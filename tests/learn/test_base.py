import numpy as np
import pandas as pd
import polars as pl
import pytest
from _helpers.two_gaussians import COSTS, draw
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.tree import DecisionTreeClassifier

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


KINDS = {
    "bool": lambda y: y == 1,
    "float": lambda y: y.astype(float),
    "small": lambda y: y.astype(np.int8),
    "list": lambda y: y.tolist(),
    "nullable": lambda y: pd.Series(y).astype("Int64"),
    "object": lambda y: np.array(["usual", "fraud"], dtype=object)[y],
    "string": lambda y: pd.Series(np.array(["usual", "fraud"])[y], dtype="string"),
    "category": lambda y: pd.Series(np.array(["usual", "fraud"])[y], dtype="category"),
    "polars": lambda y: pl.Series(np.array(["usual", "fraud"])[y]),
}


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("kind", KINDS)
def test_classes_of_any_kind(learner, kind):
    X, y = draw(200, seed=0)
    given = KINDS[kind](y)
    text = isinstance(given[0], str)
    model = clone(learner).set_params(costs=NAMED if text else COSTS).fit(X, given)
    same = clone(learner).set_params(costs=COSTS).fit(X, y).predict(X)
    numbers = model.predict(X) == "fraud" if text else model.predict(X)
    # Names change the order of the classes, and so which of two equal splits a tree takes.
    assert np.mean(numbers == same) > (0.95 if text else 0.999)
    assert model.score(X, given) == np.mean(model.predict(X) == np.asarray(given))


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_text_columns_inside_and_outside_of_a_pipeline(learner, frame):
    X, y = draw(200, seed=0)
    table = frame({"site": np.where(X[:, 1] > 0, "north", "south"), "size": X[:, 0]})
    columns = make_column_transformer(
        (OneHotEncoder(sparse_output=False), ["site"]), remainder="passthrough"
    )
    outside = make_pipeline(columns, clone(learner).set_params(costs=COSTS))
    inside = clone(learner).set_params(costs=COSTS, estimator=make_pipeline(columns, TREE))
    decided = outside.fit(table, y).predict(table)
    assert np.array_equal(inside.fit(table, y).predict(table), decided)


@pytest.mark.parametrize(
    "learner",
    [
        *LEARNERS[:3],
        WeightedClassifier(TREE, weighting="powell", max_fits=5),
        WeightedClassifier(TREE, passing="resample"),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_a_random_state_is_drawn_from_and_a_number_repeats(learner):
    X, y = draw(300, seed=1)
    weak = DecisionTreeClassifier(max_depth=3, max_features=1)
    learner = clone(learner).set_params(costs=COSTS, estimator=weak)

    def decided(random_state):
        return clone(learner).set_params(random_state=random_state).fit(X, y).predict(X)

    assert np.array_equal(decided(3), decided(3))
    states = [np.random.RandomState(3) for _ in range(2)]
    assert np.array_equal(*map(decided, states))
    drawn = learner.set_params(random_state=np.random.RandomState(3))
    again = [drawn.fit(X, y).predict(X) for _ in range(6)]
    assert any(not np.array_equal(again[0], other) for other in again[1:])


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
def test_rows_without_a_class(missing):
    X, y = [[0.0], [1.0], [2.0]], np.array(["a", "b", missing], dtype=object)
    learners = {"tree": TREE, "bayes": GaussianNB()}
    for use in (
        lambda: MinimumRiskClassifier(TREE).fit(X, y),
        lambda: class_weights(y, None),
        lambda: compare_learners(learners, X, y, None, cv=2),
    ):
        said = r"y: expected classes of one kind|NaN|y: the label at position 2 is missing"
        with pytest.raises(ValueError, match=said):
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
