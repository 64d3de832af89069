"""WeightedClassifier: scikit-learn's contract, savings, and the data that the learner receives."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from stakes import CostMatrix, compare, evaluate
from stakes.errors import InputTypeError
from stakes.learn import WeightedClassifier, class_weights

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=20)
NAMED = COSTS.relabel({0: "ok", 1: "fraud"})

# Checks that a row of weight two is the same as two rows.
DENSE, SPARSE = (f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse"))
HELD_OUT = "which rows are held out is random and depends on how many rows there are"
DRAWN = "as many rows are drawn as there are, at random, which is not the same for two rows"


def expected_failures(learner):
    if learner.weighting in {"eval_count", "powell"}:
        return {DENSE: HELD_OUT, SPARSE: HELD_OUT}
    if isinstance(learner.estimator, KNeighborsClassifier):
        return {DENSE: DRAWN, SPARSE: DRAWN}
    return {}


TREE = DecisionTreeClassifier(max_depth=3, random_state=0)


@parametrize_with_checks(
    [
        WeightedClassifier(LogisticRegression(), weighting="class_freq"),
        WeightedClassifier(KNeighborsClassifier(), random_state=0),
        WeightedClassifier(TREE, weighting="powell", max_fits=3, random_state=0),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_checks(estimator, check):
    check(estimator)


# -- savings


def gaussians(n, seed, share=0.5):
    """Return rows of two classes, two standard deviations apart."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int)
    return rng.normal(2 * y[:, np.newaxis], 1, (n, 2)), y


@pytest.mark.parametrize(
    ("weighting", "passing"),
    [
        ("avg_cost", "sample_weight"),
        ("avg_cost", "resample"),
        ("avg_cost", "oversample"),
        ("avg_cost", "undersample"),
        ("max_cost", "auto"),
        ("cost_ratio", "auto"),
        ("eval_count", "auto"),
        ("powell", "auto"),
        ({0: 1, 1: 20}, "auto"),
    ],
)
def test_every_weighting_that_uses_costs_beats_the_cost_blind_fit(weighting, passing):
    X, y = gaussians(2000, seed=1, share=0.3)
    X_test, y_test = gaussians(4000, seed=2, share=0.3)
    blind = LogisticRegression().fit(X, y)
    aware = WeightedClassifier(
        LogisticRegression(), COSTS, weighting=weighting, passing=passing, random_state=0
    ).fit(X, y)
    verdict = compare(y_test, aware.predict(X_test), blind.predict(X_test), COSTS)
    assert verdict.difference < 0
    assert verdict.test().rejected
    # The Bayes rule for these Gaussians: the log odds of 1 are 2 (x1 + x2) - 4 + log(0.3 / 0.7).
    best = (2 * X_test.sum(axis=1) - 4 + np.log(0.3 / 0.7) > np.log(1 / 20)).astype(int)
    least = evaluate(y_test, best, COSTS).cost
    assert evaluate(y_test, aware.predict(X_test), COSTS).cost < 1.25 * least


def test_a_learner_without_sample_weight_is_weighted_by_drawing_rows():
    X, y = gaussians(2000, seed=3)
    X_test, y_test = gaussians(4000, seed=4)
    blind = KNeighborsClassifier(25).fit(X, y)
    for passing in ("auto", "oversample", "undersample"):
        aware = WeightedClassifier(
            KNeighborsClassifier(25), COSTS, passing=passing, random_state=0
        ).fit(X, y)
        verdict = compare(y_test, aware.predict(X_test), blind.predict(X_test), COSTS)
        assert verdict.difference < 0
        assert verdict.test().rejected


# -- the data that the learner receives


class Recorder(ClassifierMixin, BaseEstimator):
    """Remembers what it was trained with."""

    def fit(self, X, y, sample_weight=None, note=None):
        if isinstance(note, list | np.ndarray):
            assert len(note) == len(y)
        self.X_, self.y_, self.sample_weight_, self.note_ = X, y, sample_weight, note
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])


def test_weights_reach_the_learner_and_sum_to_the_rows():
    X, y = gaussians(50, seed=0)
    got = WeightedClassifier(Recorder(), COSTS).fit(X, y).estimator_.sample_weight_
    assert got.sum() == pytest.approx(50)
    assert got[y == 1] / got[y == 0][0] == pytest.approx(20)


def test_own_sample_weights_are_multiplied_and_keep_their_sum():
    X, y = gaussians(50, seed=0)
    own = np.random.default_rng(0).uniform(0, 3, 50)
    got = WeightedClassifier(Recorder(), COSTS).fit(X, y, sample_weight=own)
    expected = own * np.where(y == 1, 20, 1)
    expected *= own.sum() / expected.sum()
    assert got.estimator_.sample_weight_ == pytest.approx(expected)


def test_class_weight_of_scikit_learn_gives_the_same_model():
    X, y = gaussians(300, seed=5, share=0.3)
    weights = class_weights(y, COSTS)
    ours = WeightedClassifier(GaussianNB(), COSTS).fit(X, y)
    tree = WeightedClassifier(TREE, COSTS).fit(X, y)
    theirs = clone(TREE).set_params(class_weight=weights).fit(X, y)
    np.testing.assert_array_equal(tree.predict(X), theirs.predict(X))
    by_hand = GaussianNB().fit(X, y, sample_weight=np.where(y == 1, 20, 1))
    np.testing.assert_allclose(ours.predict_proba(X), by_hand.predict_proba(X), atol=1e-6)


def test_repeated_rows_are_the_same_as_their_weights():
    X, y = gaussians(100, seed=6)
    by_weight = WeightedClassifier(TREE, COSTS, passing="sample_weight").fit(X, y)
    by_copies = WeightedClassifier(TREE, COSTS, passing="oversample", random_state=0).fit(X, y)
    assert by_copies.estimator_.tree_.n_node_samples[0] == np.where(y == 1, 20, 1).sum()
    np.testing.assert_allclose(by_copies.predict_proba(X), by_weight.predict_proba(X))
    even = WeightedClassifier(Recorder(), passing="resample", random_state=0).fit(X, y)
    np.testing.assert_array_equal(even.estimator_.X_, X)


def test_class_frequencies_count_sample_weight():
    X, y = gaussians(100, seed=0, share=0.2)
    own = np.where(y == 1, 3.0, 1.0)
    fitted = WeightedClassifier(Recorder(), weighting="class_freq").fit(X, y, sample_weight=own)
    got = fitted.estimator_.sample_weight_
    assert got[y == 1].sum() == pytest.approx(got[y == 0].sum())


def test_mistakes_on_held_out_rows_count_by_their_sample_weight():
    X, y = gaussians(200, seed=7)
    learner = WeightedClassifier(TREE, COSTS, weighting="eval_count", random_state=0)
    once = learner.fit(X, y).class_weight_
    thrice = learner.fit(X, y, sample_weight=np.full(200, 3.0)).class_weight_
    assert once[1] > once[0] >= 1
    assert thrice == pytest.approx({label: 1 + 3 * (once[label] - 1) for label in once})


@pytest.mark.parametrize("passing", ["sample_weight", "resample"])
def test_fit_arguments_with_a_row_each_are_cut_with_the_rows(passing):
    X, y = gaussians(60, seed=0)
    note = [f"row {i}" for i in range(60)]
    X[:, 0] = np.arange(60)
    fitted = WeightedClassifier(
        Recorder(), COSTS, weighting="eval_count", passing=passing, random_state=0
    ).fit(X, y, note=note)
    learner = fitted.estimator_
    assert [f"row {int(i)}" for i in learner.X_[:, 0]] == list(learner.note_)
    short = WeightedClassifier(Recorder(), COSTS).fit(X, y, note="all")
    assert short.estimator_.note_ == "all"


@pytest.mark.parametrize("weighting", ["avg_cost", "powell"])
@pytest.mark.parametrize("passing", ["sample_weight", "resample"])
@pytest.mark.parametrize(
    "convert",
    [
        lambda X: pd.DataFrame(X, columns=["a", "b"], index=range(100, 100 + len(X))),
        lambda X: pl.DataFrame(X, schema=["a", "b"]),
        sparse.coo_matrix,
        sparse.csr_array,
        lambda X: X.tolist(),
    ],
    ids=["pandas", "polars", "coo", "csr", "list"],
)
def test_any_form_of_x_reaches_the_learner(convert, passing, weighting):
    X, y = gaussians(80, seed=0)
    options = {"weighting": weighting, "passing": passing, "max_fits": 5, "random_state": 0}
    plain = WeightedClassifier(TREE, COSTS, **options).fit(X, y)
    fitted = WeightedClassifier(TREE, COSTS, **options).fit(convert(X), y)
    np.testing.assert_array_equal(fitted.predict(convert(X)), plain.predict(X))
    assert fitted.n_features_in_ == 2
    if hasattr(convert(X), "columns"):
        assert fitted.feature_names_in_.tolist() == ["a", "b"]
        recorded = WeightedClassifier(Recorder(), COSTS, passing=passing, random_state=0)
        assert type(recorded.fit(convert(X), y).estimator_.X_) is type(convert(X))


@pytest.mark.parametrize("series", [pd.Series, pl.Series, list, np.asarray])
def test_labels_may_be_text_in_any_form(series):
    X, y = gaussians(80, seed=0)
    named = series(np.where(y == 1, "fraud", "ok").tolist())
    fitted = WeightedClassifier(TREE, NAMED, weighting="powell", random_state=0).fit(X, named)
    numbers = WeightedClassifier(
        TREE, COSTS.relabel({1: -1}), weighting="powell", random_state=0
    ).fit(X, -y)
    assert fitted.classes_.tolist() == ["fraud", "ok"]
    assert fitted.class_weight_["fraud"] == pytest.approx(numbers.class_weight_[-1])
    np.testing.assert_array_equal(fitted.predict(X) == "fraud", numbers.predict(X) == -1)


def test_text_reaches_a_pipeline():
    texts = ["send money now", "money for you", "see you at lunch", "lunch at noon"] * 5
    y = np.tile([1, 1, 0, 0], 5)
    pipeline = make_pipeline(CountVectorizer(), LogisticRegression())
    fitted = WeightedClassifier(pipeline, COSTS).fit(texts, y)
    assert fitted.predict(["free money"]).tolist() == [1]
    drawn = WeightedClassifier(pipeline, COSTS, passing="resample", random_state=0).fit(texts, y)
    assert drawn.predict(["free money"]).tolist() == [1]


# -- in pipelines and other estimators


def test_a_pipeline_gets_weights_for_its_last_step():
    X, y = gaussians(200, seed=0)
    inside = WeightedClassifier(make_pipeline(StandardScaler(), TREE), COSTS).fit(X, y)
    outside = make_pipeline(StandardScaler(), WeightedClassifier(TREE, COSTS)).fit(X, y)
    np.testing.assert_array_equal(inside.predict(X), outside.predict(X))
    assert np.mean(inside.predict(X)) > np.mean(clone(TREE).fit(X, y).predict(X))
    with config_context(enable_metadata_routing=True):
        requested = TREE.__class__(max_depth=3, random_state=0).set_fit_request(sample_weight=True)
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        routed = WeightedClassifier(
            make_pipeline(scaler, requested), COSTS, passing="sample_weight"
        )
        np.testing.assert_array_equal(routed.fit(X, y).predict(X), inside.predict(X))
        silent = WeightedClassifier(make_pipeline(StandardScaler(), TREE), COSTS, random_state=0)
        assert np.mean(silent.fit(X, y).predict(X)) > np.mean(y)  # by resampling the rows
        with pytest.raises(InputTypeError, match="or request sample_weight= from the step"):
            silent.set_params(passing="sample_weight").fit(X, y)


def test_set_output_of_an_inner_transformer_is_kept():
    X, y = gaussians(100, seed=0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    pipeline = make_pipeline(StandardScaler(), TREE).set_output(transform="pandas")
    fitted = WeightedClassifier(pipeline, COSTS, passing="resample", random_state=0).fit(frame, y)
    assert fitted.estimator_[-1].feature_names_in_.tolist() == ["a", "b"]


def test_metadata_are_routed():
    X, y = gaussians(60, seed=0)
    own = np.random.default_rng(0).uniform(0.5, 2, 60)
    with config_context(enable_metadata_routing=True):
        inner = Recorder().set_fit_request(note=True)
        learner = WeightedClassifier(inner, COSTS).set_fit_request(sample_weight=True)
        learner.set_score_request(sample_weight=False)
        direct = learner.fit(X, y, sample_weight=own, note="hello")
        assert direct.estimator_.note_ == "hello"
        search = GridSearchCV(learner, {"weighting": ["avg_cost"]}, cv=2)
        search.fit(X, y, sample_weight=own, note="hello")
        found = search.best_estimator_.estimator_
        assert found.note_ == "hello"
        np.testing.assert_allclose(found.sample_weight_, direct.estimator_.sample_weight_)
        with pytest.raises(TypeError, match="sample_weigth"):
            learner.fit(X, y, sample_weigth=own)


def test_it_can_be_searched_cloned_and_pickled():
    X, y = gaussians(200, seed=0)
    learner = WeightedClassifier(TREE, COSTS, weighting="powell", max_fits=9, random_state=0)
    search = GridSearchCV(
        learner, {"estimator__max_depth": [1, 2], "weighting": ["avg_cost", {0: 1, 1: 9}]}, cv=2
    ).fit(X, y)
    assert search.best_estimator_.classes_.tolist() == [0, 1]
    assert cross_val_score(learner, X, y, cv=2).min() > 0.5
    fitted = clone(learner).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - made here
    np.testing.assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert again.search_ == fitted.search_


def test_random_state_makes_everything_repeatable():
    X, y = gaussians(200, seed=0)
    loose = DecisionTreeClassifier(max_features=1, splitter="random")
    for weighting in ("avg_cost", "eval_count", "powell"):
        options = {"weighting": weighting, "passing": "resample", "max_fits": 9}
        first, second, other = (
            WeightedClassifier(loose, COSTS, random_state=seed, **options).fit(X, y)
            for seed in (0, 0, 1)
        )
        assert first.class_weight_ == second.class_weight_
        np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))
        assert (first.predict_proba(X) != other.predict_proba(X)).any()
        assert loose.random_state is None


def test_only_the_methods_of_the_learner_are_there():
    X, y = gaussians(60, seed=0)
    tree = WeightedClassifier(TREE, COSTS).fit(X, y)
    assert not hasattr(tree, "decision_function")
    assert np.exp(tree.predict_log_proba(X[:5] + 9)).sum(axis=1) == pytest.approx(np.ones(5))
    logistic = WeightedClassifier(LogisticRegression(), COSTS).fit(X, y)
    scores = logistic.decision_function(X)
    np.testing.assert_array_equal(scores > 0, logistic.predict(X) == 1)
    assert not hasattr(WeightedClassifier(Recorder()), "predict_proba")
