import pickle
import re
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import RepeatedStratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from stakes import CostMatrix, ExampleCosts, compare, evaluate
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.learn import compare_learners
from stakes.learn._comparison import corrected_t, five_by_two_f, five_by_two_t
from stakes.learn.comparison import _holm

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=5)
X, Y = make_classification(400, class_sep=0.6, random_state=2)
LEARNERS = {
    "bayes": GaussianNB(),
    "nearest": KNeighborsClassifier(1),
    "stump": DecisionTreeClassifier(max_depth=1, random_state=0),
}
ALWAYS = {
    "always 0": DummyClassifier(strategy="constant", constant=0),
    "always 1": DummyClassifier(strategy="constant", constant=1),
}


@pytest.fixture(scope="module")
def compared():
    return compare_learners(LEARNERS, X, Y, COSTS, cv=10, random_state=0, unit="EUR")


@pytest.fixture(scope="module")
def halves():
    return compare_learners(LEARNERS, X, Y, COSTS, test="5x2cv", random_state=0)


# -- the numbers


def test_costs_and_verdicts_are_those_of_each_split():
    cv = RepeatedStratifiedKFold(n_splits=4, n_repeats=2, random_state=1)
    found = compare_learners(LEARNERS, X, Y, COSTS, cv=cv)
    verdicts = []
    for split, (train, test) in enumerate(cv.split(X, Y)):
        decided = [each.fit(X[train], Y[train]).predict(X[test]) for each in LEARNERS.values()]
        costs = [evaluate(Y[test], y_pred, COSTS).cost for y_pred in decided]
        assert found.fold_costs[split] == pytest.approx(costs)
        result = compare(Y[test], decided[0], decided[2], COSTS)
        rejected = result.test("exact").rejected
        verdicts.append(("win" if result.difference < 0 else "loss") if rejected else "tie")
    difference = found.difference("bayes", "stump")
    assert difference.verdicts == tuple(verdicts)
    assert len(set(verdicts)) > 1
    assert difference.differences == pytest.approx(found.fold_costs[:, 0] - found.fold_costs[:, 2])
    assert (difference.wins, difference.ties, difference.losses) == tuple(
        verdicts.count(what) for what in ("win", "tie", "loss")
    )
    turned = found.difference("stump", "bayes")
    assert (turned.wins, turned.losses) == (difference.losses, difference.wins)
    assert turned.p_value == pytest.approx(difference.p_value)
    assert turned.differences == pytest.approx(-difference.differences)


def test_the_corrected_test_by_another_route(compared):
    """By a plain t test, whose statistic is scaled to the corrected variance."""
    for pair in combinations(LEARNERS, 2):
        difference = compared.difference(*pair)
        values = difference.differences
        plain = stats.ttest_1samp(values, 0)
        factor = np.sqrt((1 / 10) / (1 / 10 + 40 / 360))
        assert difference.statistic == pytest.approx(plain.statistic * factor)
        assert difference.p_value == pytest.approx(2 * stats.t.sf(abs(difference.statistic), 9))
        naive = plain.confidence_interval(0.9)
        interval = difference.interval(0.9)
        assert interval.width == pytest.approx((naive.high - naive.low) / factor)
        assert difference.difference == pytest.approx((interval.low + interval.high) / 2)
        assert difference.difference == pytest.approx(values.mean())
        assert (interval.confidence, interval.method) == (0.9, "corrected t")


def test_the_5x2cv_tests_by_another_route(halves):
    for pair in combinations(LEARNERS, 2):
        difference = halves.difference(*pair)
        values = difference.differences
        assert len(values) == 10
        variances = [np.var(values[2 * i : 2 * i + 2], ddof=1) for i in range(5)]
        t = values[0] / np.sqrt(np.mean(variances))
        assert difference.statistic == pytest.approx(t)
        assert difference.p_value == pytest.approx(2 * stats.t.sf(abs(t), 5))
        low, high = stats.t.interval(0.95, 5, values[0], np.sqrt(np.mean(variances)))
        assert tuple(difference.interval()) == pytest.approx((low, high))
        f = np.sum(values**2) / (2 * np.sum(variances))
        assert difference.combined_p_value == pytest.approx(stats.f.sf(f, 10, 5))


def test_published_formulas_by_hand():
    values = np.array([1.0, 3.0, 2.0])
    found = corrected_t(values, 0.5)
    assert found.centre == 2
    assert found.error == pytest.approx(np.sqrt((1 / 3 + 1 / 2) * 1.0))
    tens = np.array([1.0, 2.0] * 5)  # each half-variance is 0.5
    assert five_by_two_t(tens).statistic == pytest.approx(1 / np.sqrt(0.5))
    assert five_by_two_f(tens)[0] == pytest.approx(25 / 5)


@pytest.mark.parametrize("test", ["corrected", "5x2cv"])
def test_learners_that_never_differ_are_tied(test):
    twins = {"one": GaussianNB(), "other": GaussianNB()}
    found = compare_learners(twins, X, Y, COSTS, test=test, random_state=0)
    difference = found.difference("one", "other")
    assert difference.p_value == 1
    assert difference.statistic == 0
    assert tuple(difference.interval()) == (0, 0)
    assert difference.cheaper() is None
    assert difference.ties == len(found.tables)
    assert "costs the same per decision as other" in difference.summary()
    assert "cannot be told apart" in found.summary()
    if test == "5x2cv":
        assert difference.combined_p_value == 1


@pytest.mark.parametrize("test", ["corrected", "5x2cv"])
def test_a_difference_without_any_spread_is_sure(test):
    even = np.tile([0, 1], 100)
    found = compare_learners(ALWAYS, X[:200], even, COSTS, test=test)
    difference = found.difference("always 0", "always 1")
    assert difference.differences == pytest.approx(2.0)
    assert difference.p_value == 0
    assert difference.cheaper() == "always 1"
    assert difference.losses == len(found.tables)
    assert found.best_set() == ["always 1"]


def test_sums_that_do_not_quite_cancel_are_no_difference():
    costs = CostMatrix([[0, 0.1 + 0.2], [0.3, 0]], rows="predicted", labels=[0, 1])
    found = compare_learners(ALWAYS, X[:200], np.tile([0, 1], 100), costs, cv=5)
    assert (found.difference(*ALWAYS).differences == 0).all()
    assert found.difference(*ALWAYS).p_value == 1


def test_unequal_splits_count_alike():
    rows = np.arange(400)
    cv = [(rows[100:], rows[:100]), (rows[:350], rows[350:]), (rows[200:], rows[:200])]
    difference = compare_learners(LEARNERS, X, Y, COSTS, cv=cv).difference("bayes", "stump")
    assert difference.difference == pytest.approx(difference.differences.mean())
    assert difference.test_share == pytest.approx((100 / 300 + 50 / 350 + 200 / 200) / 3)


# -- the result


def test_pairs_are_adjusted_and_their_intervals_hold_together(compared):
    pairs = compared.pairwise()
    assert len(pairs) == 3
    assert [pair.p_adjusted for pair in pairs] == pytest.approx(
        _holm(np.array([pair.p_value for pair in pairs]))
    )
    for pair in pairs:
        assert pair.difference <= 0
        wide = compared.difference(pair.first, pair.second).interval(1 - 0.05 / 3)
        assert (pair.low, pair.high) == pytest.approx(tuple(wide))
        assert pair.shown == (pair.p_adjusted <= 0.05)
    alone = compared.pairwise("none", confidence=0.9)
    assert [pair.p_adjusted for pair in alone] == [pair.p_value for pair in alone]
    assert list(compared.mean_costs()) == sorted(
        LEARNERS, key=lambda name: compared.fold_costs.mean(axis=0)[list(LEARNERS).index(name)]
    )


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_by_its_definition(p_values):
    found = _holm(np.array(p_values))
    ordered = sorted(p_values)
    for p, adjusted in zip(p_values, found, strict=True):
        rank = ordered.index(p)
        by_hand = max((len(p_values) - k) * ordered[k] for k in range(rank + 1))
        assert adjusted == pytest.approx(min(1, by_hand))


def test_the_best_set_are_those_not_beaten(compared):
    beaten = {pair.second for pair in compared.pairwise() if pair.shown}
    assert beaten
    assert set(compared.best_set()) == set(LEARNERS) - beaten
    assert compared.best_set()[0] == next(iter(compared.mean_costs()))


def test_what_people_read(compared):
    assert re.search(r"EUR|tie", compared.summary())
    assert "win/tie/loss" in repr(compared)
    assert "is cheaper" in repr(compared)
    assert compared._repr_html_().startswith("<p>")
    difference = compared.difference("nearest", "bayes")
    assert difference.cheaper() == "bayes"
    assert "bayes is the cheaper learner" in difference.summary()
    assert "Over 10 splits nearest costs" in difference.summary()
    assert difference.summary() == repr(difference)
    assert "<table>" in difference._repr_html_()
    frame = compared.to_frame(adjust="none")
    assert {"first", "second", "p_value", "wins", "ties", "losses"} <= set(frame.columns)
    assert (frame[["wins", "ties", "losses"]].sum(axis=1) == 10).all()
    result = compared.to_dict()
    assert result["names"] == list(LEARNERS)
    assert result["best_set"] == compared.best_set()
    assert np.shape(result["fold_costs"]) == (10, 3)
    assert difference.to_dict()["verdicts"] == list(difference.verdicts)


def test_a_single_winner_is_named():
    learners = {"bayes": GaussianNB(), "always 0": ALWAYS["always 0"]}
    found = compare_learners(learners, X, Y, COSTS, cv=5, random_state=0, unit="EUR")
    assert found.summary().startswith("bayes is the cheapest of 2 learners: 0.")
    assert "EUR a decision over 5 splits, with 95% confidence." in found.summary()


def test_5x2cv_tells_its_combined_p_value(halves):
    result = halves.difference("bayes", "stump").to_dict()
    assert result["combined_p_value"] == halves.difference("bayes", "stump").combined_p_value
    assert halves.difference("bayes", "stump").interval().method == "5x2cv t"


def test_results_are_pickled_and_frozen(compared):
    copy = pickle.loads(pickle.dumps(compared))  # noqa: S301 - made here
    assert copy.to_dict() == compared.to_dict()
    with pytest.raises(AttributeError):
        compared.confidence = 0.9
    with pytest.raises(ValueError, match="read-only"):
        compared.fold_costs[0] = 0


# -- bad input


def test_bad_options(compared):
    with pytest.raises(LabelError, match="y has the class 0, but the costs are for"):
        compare_learners(LEARNERS, X, Y, COSTS.relabel({1: "1", 0: "0"}))
    with pytest.raises(InputError, match="y: expected at least two classes, got 0 only"):
        compare_learners(LEARNERS, X, np.zeros(400, dtype=int), COSTS)
    with pytest.raises(InputTypeError, match=r"got ExampleCosts.*cost_scorer"):
        compare_learners(LEARNERS, X, Y, ExampleCosts(np.ones((400, 2))))
    with pytest.raises(InputError, match="test: expected one of 'corrected', '5x2cv'"):
        compare_learners(LEARNERS, X, Y, COSTS, test="t")
    with pytest.raises(InputError, match="confidence: expected a number between 0 and 1"):
        compare_learners(LEARNERS, X, Y, COSTS, confidence=95)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        compare_learners(LEARNERS, X, Y[:-1], COSTS)
    with pytest.raises(InputTypeError, match="params: expected a mapping"):
        compare_learners(LEARNERS, X, Y, COSTS, cv=2, params=[1])
    with pytest.raises(LabelError, match="there is no learner 'forest'"):
        compared.difference("bayes", "forest")
    with pytest.raises(InputError, match="adjust: expected one of 'holm', 'none'"):
        compared.pairwise("bonferroni")
    with pytest.raises(InputError, match=r"test: .*test='5x2cv'"):
        _ = compared.difference("bayes", "stump").combined_p_value
