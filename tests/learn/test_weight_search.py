"""Weights found by trial, against counts by hand and a grid search."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier

from stakes import CostMatrix
from stakes.errors import InputError
from stakes.learn import WeightedClassifier
from stakes.learn import weights as weight_search
from stakes.learn.weights import Trial, eval_count, held_out, powell

COSTS = np.array([[0.0, 20.0], [1.0, 0.0]])
THREE = np.array([[0.0, 3.0, 8.0], [1.0, 0.0, 2.0], [5.0, 6.0, 0.0]])


def scored(n, costs, seed):
    """Return a trial whose learner predicts the class of the largest weight times probability."""
    rng = np.random.default_rng(seed)
    classes = len(costs)
    actual = rng.integers(classes, size=n)
    logits = rng.normal(0, 1, (n, classes)) + 1.5 * np.eye(classes)[actual]
    proba = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return Trial(lambda w: (proba * w).argmax(axis=1), actual, rng.uniform(0.5, 2, n), costs)


def test_a_search_that_scipy_gives_up_keeps_the_best_weights_so_far(monkeypatch):
    trial = scored(40, COSTS, 0)
    starts = [np.ones(2), np.array([1.0, 20.0])]

    def stumble(objective, start, **_):
        objective(start + 0.1)
        raise ValueError("zero-size array to reduction operation maximum which has no identity")

    monkeypatch.setattr(weight_search, "minimize", stumble)
    weights, search = powell(trial, starts, max_fits=50)
    assert search.cost == trial.mean_cost(weights) <= search.start_cost

    def fail(*_, **__):
        raise ValueError("the learner cannot be fitted")

    monkeypatch.setattr(weight_search, "minimize", fail)
    with pytest.raises(ValueError, match="cannot be fitted"):
        powell(trial, starts, max_fits=50)


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(2, 4))
def test_powell_is_never_above_its_starting_points(seed, max_fits, classes):
    rng = np.random.default_rng(seed)
    costs = rng.uniform(0.1, 30, (classes, classes))
    trial = scored(40, costs, seed)
    starts = [np.ones(classes), rng.uniform(0.1, 20, classes)]
    weights, search = powell(trial, starts, max_fits=max_fits)
    assert (weights > 0).all()
    assert search.fits <= max_fits
    assert search.start_cost == min(trial.mean_cost(start) for start in starts[:max_fits])
    assert search.cost <= search.start_cost
    assert trial.mean_cost(weights) == pytest.approx(search.cost)


@pytest.mark.parametrize("seed", range(8))
def test_powell_comes_near_the_best_of_a_grid_for_two_classes(seed):
    trial = scored(300, COSTS, seed)
    grid = min(trial.mean_cost(np.array([1.0, w])) for w in np.geomspace(0.01, 2000, 4000))
    equal = trial.mean_cost(np.ones(2))
    _, search = powell(trial, [np.ones(2)], max_fits=100)
    assert search.cost - grid < 0.05 * (equal - grid)


@pytest.mark.parametrize("seed", range(4))
def test_powell_comes_near_the_best_of_a_grid_for_three_classes(seed):
    trial = scored(300, THREE, seed)
    axis = np.geomspace(0.05, 50, 120)
    grid = min(trial.mean_cost(np.array([1.0, a, b])) for a in axis for b in axis)
    equal = trial.mean_cost(np.ones(3))
    _, search = powell(trial, [np.ones(3)], max_fits=200)
    assert search.cost - grid < 0.25 * (equal - grid)


def test_a_point_is_tried_once():
    tried = []
    trial = scored(100, COSTS, 0)

    def predict(weights):
        tried.append(weights[1])
        return trial.predict(weights)

    counted = Trial(predict, trial.actual, trial.rows, trial.costs)
    _, search = powell(counted, [np.ones(2), np.full(2, 7.0)], max_fits=500)
    assert search.fits == len(tried) == len(set(tried)) < 100


def test_weights_that_change_nothing_stay_as_they_were():
    trial = Trial(lambda _: np.zeros(10, dtype=int), np.arange(10) % 2, np.ones(10), COSTS)
    weights, search = powell(trial, [np.ones(2)], max_fits=100)
    assert weights.tolist() == [1.0, 1.0]
    assert search.cost == search.start_cost == 10.0


def test_progress_is_printed_when_asked_for(capsys):
    trial = scored(50, COSTS, 0)
    powell(trial, [np.ones(2)], max_fits=20)
    assert capsys.readouterr().out == ""
    powell(trial, [np.ones(2)], max_fits=20, verbose=1)
    lines = capsys.readouterr().out.splitlines()
    assert [line[: line.index(":")] for line in lines] == [
        "[powell] fit 10 of at most 20",
        "[powell] fit 20 of at most 20",
    ]
    powell(trial, [np.ones(2)], max_fits=20, verbose=2)
    assert len(capsys.readouterr().out.splitlines()) == 20


def test_eval_count_by_hand():
    predicted = np.array([0, 0, 1, 2, 0, 2, 2])
    actual = np.array([0, 1, 1, 1, 2, 2, 0])
    rows = np.array([1.0, 1, 1, 1, 1, 1, 2])
    asked = []

    def predict(weights):
        asked.append(weights.tolist())
        return predicted

    for costs in (THREE, THREE + np.array([2, -1, 4])):
        weights = eval_count(Trial(predict, actual, rows, costs))
        # Class 0: one of weight 2 predicted as 2. Class 1: one predicted as 0, one as 2. Class 2:
        # one predicted as 0.
        assert weights == pytest.approx([1 + 2 * 5, 1 + 3 + 6, 1 + 8])
    assert asked == [[1.0, 1.0, 1.0]] * 2


def test_eval_count_refuses_mistakes_that_pay():
    costs = CostMatrix([[9, 20], [1, 0]], rows="predicted", labels=["ok", "bad"])
    X, y = np.zeros((20, 1)), np.repeat(["ok", "bad"], [8, 12])
    learner = WeightedClassifier(DecisionTreeClassifier(), costs, weighting="eval_count")
    with pytest.raises(InputError, match="'eval_count' gives the class 'ok' the weight -15"):
        learner.fit(X, y)


def test_a_share_of_each_class_is_held_out():
    codes = np.random.default_rng(0).permutation(np.repeat([0, 1, 2, 3], [50, 30, 2, 1]))
    out = held_out(codes, np.ones(83), 0.2, np.random.RandomState(0))
    assert np.bincount(codes[out], minlength=4).tolist() == [10, 6, 1, 0]
    most = held_out(codes, np.ones(83), 0.999, np.random.RandomState(0))
    assert np.bincount(codes[~most]).tolist() == [1, 1, 1, 1]
    with pytest.raises(InputError, match="validation: rows cannot be held out, as no class has"):
        held_out(np.array([0, 1, 2]), np.ones(3), 0.2, np.random.RandomState(0))


def test_every_row_is_as_likely_to_be_held_out_as_the_others_of_its_class():
    codes = np.repeat([0, 1], [15, 5])
    draws = 3000
    total = sum(held_out(codes, np.ones(20), 0.2, np.random.RandomState(s)) for s in range(draws))
    assert total == pytest.approx(np.full(20, 0.2 * draws), abs=4.5 * np.sqrt(draws * 0.16))


def test_rows_without_weight_are_not_held_out():
    codes = np.repeat([0, 1], [10, 10])
    rows = np.tile([0.0, 1.0], 10)
    for seed in range(20):
        out = held_out(codes, rows, 0.4, np.random.RandomState(seed))
        assert rows[out].all()
        assert np.bincount(codes[out]).tolist() == [2, 2]
    half = held_out(codes, np.where(codes == 1, 1.0, 0.0), 0.5, np.random.RandomState(0))
    assert np.bincount(codes[half]).tolist() == [0, 5]


def three_classes(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=90)
    return rng.normal(0, 1, (90, 2)) + np.array([[0, 0], [1.5, 0], [0, 1.5]])[y], y


@given(st.integers(0, 10**4))
def test_the_classifier_s_search_is_never_above_either_start(seed):
    """Both starts are tried again with a learner that gets them as weights of its own."""
    X, y = three_classes(seed)
    costs = CostMatrix(THREE, rows="predicted", labels=[0, 1, 2])
    tree = DecisionTreeClassifier(max_depth=2, random_state=0)
    found = WeightedClassifier(
        tree, costs, weighting="powell", max_fits=8, validation=0.3, random_state=seed
    ).fit(X, y)
    first = WeightedClassifier(
        tree, costs, weighting="powell", max_fits=1, validation=0.3, random_state=seed
    ).fit(X, y)
    assert first.search_.fits == 1
    assert first.class_weight_ == {0: 1.0, 1: 1.0, 2: 1.0}
    assert found.search_.cost <= found.search_.start_cost <= first.search_.cost
    assert found.search_.n_validation == sum(round(0.3 * n) for n in np.bincount(y))
