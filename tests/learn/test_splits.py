import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GroupKFold, ShuffleSplit
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from stakes import CostMatrix
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.learn import compare_learners

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=5)
X, Y = make_classification(400, class_sep=0.6, random_state=2)
LEARNERS = {
    "bayes": GaussianNB(),
    "nearest": KNeighborsClassifier(1),
    "stump": DecisionTreeClassifier(max_depth=1, random_state=0),
}


class Failing(ClassifierMixin, BaseEstimator):
    """A learner that cannot do one of its two things, or decides what is not asked."""

    def __init__(self, at="fit", decision=0):
        self.at, self.decision = at, decision

    def fit(self, X, y):  # noqa: ARG002 - scikit-learn's signature
        if self.at == "fit":
            raise ZeroDivisionError("no luck")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        if self.at == "predict":
            raise KeyError("nothing")
        return np.full(len(X) + (self.at == "short"), self.decision)


# -- jobs, seeds, splits and kinds of data


def test_the_number_of_jobs_changes_nothing():
    learners = {"forest": RandomForestClassifier(5), "tree": DecisionTreeClassifier()}
    one, other = (
        compare_learners(learners, X, Y, COSTS, cv=3, random_state=3, n_jobs=n_jobs)
        for n_jobs in (None, 2)
    )
    assert (one.fold_costs == other.fold_costs).all()
    assert one.tables == other.tables
    third = compare_learners(learners, X, Y, COSTS, cv=3, random_state=4)
    assert (one.fold_costs != third.fold_costs).any()


def test_seeds_of_the_learners_own_stay():
    class Seeded(DecisionTreeClassifier):
        def fit(self, X, y):
            seen.append(self.random_state)
            return super().fit(X, y)

    seen = []
    learners = {"own": Seeded(random_state=7), "none": Seeded()}
    compare_learners(learners, X, Y, COSTS, cv=2, random_state=0)
    assert seen[::2] == [7, 7]
    assert len(set(seen[1::2])) == 2
    assert None not in seen


def test_defaults_are_five_times_five_folds():
    found = compare_learners(LEARNERS, X, Y, COSTS, random_state=0)
    assert found.fold_costs.shape == (25, 3)
    assert (found.train_sizes == 320).all()
    assert found.kind == "corrected"
    assert found.difference("bayes", "stump").test_share == pytest.approx(0.25)


@pytest.mark.parametrize(
    "convert",
    [np.asarray, pd.DataFrame, pl.DataFrame, sparse.csr_matrix],
    ids=["array", "pandas", "polars", "sparse"],
)
def test_any_features(convert):
    learners = {"one": KNeighborsClassifier(1), "five": KNeighborsClassifier(5)}
    found = compare_learners(learners, convert(X), Y, COSTS, cv=3, random_state=0)
    expected = compare_learners(learners, X, Y, COSTS, cv=3, random_state=0)
    assert (found.fold_costs == expected.fold_costs).all()


def test_text_labels_extra_decisions_and_more_classes_in_the_costs():
    names = np.array(["ok", "fraud"])[Y]
    costs = CostMatrix(
        [[5, 0, 9], [0, 1, 9], [2, 2, 2]],
        rows="predicted",
        labels=["fraud", "ok", "other"],
        decisions=["ok", "fraud", "ask"],
    )
    learners = {
        "bayes": make_pipeline(StandardScaler(), GaussianNB()),
        "ask": Failing("", "ask"),
    }
    found = compare_learners(learners, pd.DataFrame(X), pd.Series(names), costs, random_state=0)
    plain = compare_learners(LEARNERS, X, 1 - Y, COSTS, random_state=0)
    assert found.fold_costs[:, 1] == pytest.approx(2.0)
    assert found.fold_costs[:, 0].mean() < 2
    assert plain.fold_costs.shape == (25, 3)


def test_no_costs_count_errors():
    found = compare_learners(LEARNERS, X, Y, None, cv=4, random_state=0)
    assert (found.fold_costs <= 1).all()
    assert found.costs == CostMatrix.zero_one([0, 1])


def test_groups_are_not_split():
    groups = np.arange(400) // 4
    seen = []

    class Watching(GaussianNB):
        def fit(self, X, y):
            seen.append(set(X[:, -1].tolist()))
            return super().fit(X, y)

        def predict(self, X):
            assert not seen[-1] & set(X[:, -1].tolist())
            return super().predict(X)

    marked = np.column_stack([X, groups])
    learners = {"one": Watching(), "other": KNeighborsClassifier()}
    for cv in (None, "5x2", 3, GroupKFold(3)):
        compare_learners(learners, marked, Y, COSTS, cv=cv, groups=groups, random_state=0)
    assert len(seen) == 25 + 10 + 3 + 3


def test_weights_are_split_with_the_examples():
    weights = np.where(Y == 1, 8.0, 1.0)
    learners = {"bayes": GaussianNB(), "stump": DecisionTreeClassifier(max_depth=1)}
    options = {"cv": 3, "random_state": 0}
    plain = compare_learners(learners, X, Y, COSTS, **options)
    heavy = compare_learners(learners, X, Y, COSTS, params={"sample_weight": weights}, **options)
    assert (heavy.fold_costs != plain.fold_costs).any(axis=0).all()
    with config_context(enable_metadata_routing=True):
        asking = {
            "bayes": GaussianNB().set_fit_request(sample_weight=True),
            "stump": DecisionTreeClassifier(max_depth=1).set_fit_request(sample_weight=False),
        }
        routed = compare_learners(
            asking, X, Y, COSTS, params={"sample_weight": weights.tolist()}, **options
        )
        with pytest.raises(InputError, match="params: no learner asks for 'weights'"):
            compare_learners(asking, X, Y, COSTS, params={"weights": weights}, **options)
    assert (routed.fold_costs[:, 0] == heavy.fold_costs[:, 0]).all()
    assert (routed.fold_costs[:, 1] == plain.fold_costs[:, 1]).all()


# -- bad input


@pytest.mark.parametrize(
    ("estimators", "error", "message"),
    [
        ({"a": GaussianNB()}, InputError, "at least two learners to compare, got 1"),
        ([("a", GaussianNB()), ("a", GaussianNB())], InputError, "the name 'a' occurs twice"),
        ([GaussianNB(), GaussianNB()], InputTypeError, "a mapping from names to learners"),
        (GaussianNB(), InputTypeError, "a mapping from names to learners"),
        ({1: GaussianNB(), 2: GaussianNB()}, InputTypeError, "expected text as names, got 1"),
        ({"a": GaussianNB, "b": GaussianNB()}, InputTypeError, "got the class GaussianNB"),
        ({"a": StandardScaler(), "b": GaussianNB()}, InputTypeError, r"estimators\['a'\]"),
    ],
)
def test_bad_learners(estimators, error, message):
    with pytest.raises(error, match=message):
        compare_learners(estimators, X, Y, COSTS)


@pytest.mark.parametrize("at", ["fit", "predict"])
def test_a_learner_that_fails_is_named_with_its_split(at):
    learners = {"good": GaussianNB(), "bad": Failing(at)}
    what = {"fit": "ZeroDivisionError: no luck", "predict": "KeyError"}[at]
    with pytest.raises(InputError, match=rf"estimators\['bad'\], split 1 of 3: .*{what}"):
        compare_learners(learners, X, Y, COSTS, cv=3)


def test_a_learner_that_fails_in_another_process_is_named_too():
    learners = {"good": GaussianNB(), "bad": KNeighborsClassifier(1000)}
    with pytest.raises(InputError, match=r"estimators\['bad'\], split \d of 3: .*n_neighbors"):
        compare_learners(learners, X, Y, COSTS, cv=3, n_jobs=2)


def test_decisions_without_costs_and_of_the_wrong_number():
    with pytest.raises(LabelError, match=r"\['b'\], split 1 of 3: the label 7 at position 0"):
        compare_learners({"a": GaussianNB(), "b": Failing("", 7)}, X, Y, COSTS, cv=3)
    with pytest.raises(
        InputError, match=r"split 1 of 3: expected a decision for each of \d+ test rows, got 135"
    ):
        compare_learners({"a": GaussianNB(), "b": Failing("short")}, X, Y, COSTS, cv=3)


def test_bad_splits():
    rows = np.arange(400)
    with pytest.raises(InputError, match="cv: expected at least two splits, got 1"):
        compare_learners(LEARNERS, X, Y, COSTS, cv=ShuffleSplit(1))
    with pytest.raises(InputError, match="cv: the examples cannot be split by 1:"):
        compare_learners(LEARNERS, X, Y, COSTS, cv=1)
    with pytest.raises(InputError, match=r"cv: the examples cannot be split by 3\.5"):
        compare_learners(LEARNERS, X, Y, COSTS, cv=3.5)
    with pytest.raises(InputError, match="cv: expected one of '5x2'; got '10x10'"):
        compare_learners(LEARNERS, X, Y, COSTS, cv="10x10")
    ones = np.flatnonzero(Y == 1)
    with pytest.raises(InputError, match="part of split 2 of 2 has one class only, 1: nothing"):
        compare_learners(LEARNERS, X, Y, COSTS, cv=[(rows, rows), (ones, rows)])
    with pytest.raises(InputError, match="split 2 of 2 has no test examples"):
        compare_learners(LEARNERS, X, Y, COSTS, cv=[(rows, rows), (rows, rows[:0])])
    with pytest.raises(InputError, match="cv: test='5x2cv' needs cv='5x2'"):
        compare_learners(LEARNERS, X, Y, COSTS, cv=10, test="5x2cv")
