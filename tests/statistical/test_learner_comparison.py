"""How often learners of the same expected cost are called different.

Each of two learners uses its own feature, and the features have the same distribution: neither is
cheaper on average over training sets, but on any single training set one of them is.
"""

import numpy as np
import pytest
from _helpers.judge import at_least, at_most
from scipy import stats
from sklearn.base import BaseEstimator, ClassifierMixin

from stakes import CostMatrix
from stakes.learn import compare_learners

pytestmark = pytest.mark.statistical
COSTS = CostMatrix.from_errors(false_positive=1, false_negative=4)
TRIALS = 600


class Middle(ClassifierMixin, BaseEstimator):
    """Decides by the middle of the two classes' averages of one feature, moved by the costs."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, features, y):
        values = features[:, self.column]
        means = values[y == 0].mean(), values[y == 1].mean()
        gap = max(means[1] - means[0], 0.1)
        self.threshold_ = sum(means) / 2 - np.log(4) / gap
        self.classes_ = np.array([0, 1])
        return self

    def predict(self, features):
        return (features[:, self.column] > self.threshold_).astype(int)


def compared(trial, n, gaps=(1.0, 1.0), **options):
    rng = np.random.default_rng([21, n, trial])
    y = np.arange(n) % 2
    features = rng.normal(size=(n, 2)) + y[:, np.newaxis] * gaps
    learners = {"first": Middle(0), "second": Middle(1)}
    found = compare_learners(learners, features, y, COSTS, random_state=trial, **options)
    return found.difference("first", "second")


@pytest.mark.parametrize("n", [60, 200])
def test_the_corrected_test_keeps_its_size_and_the_usual_one_does_not(n):
    corrected = naive = 0
    for trial in range(TRIALS):
        difference = compared(trial, n)
        corrected += difference.p_value <= 0.05
        naive += stats.ttest_1samp(difference.differences, 0).pvalue <= 0.05
    assert at_most(corrected, TRIALS, 0.07), corrected
    assert at_least(naive, TRIALS, 0.3), naive


@pytest.mark.parametrize("n", [60, 200])
def test_5x2cv_keeps_its_size(n):
    single = combined = 0
    for trial in range(TRIALS):
        difference = compared(trial, n, test="5x2cv")
        single += difference.p_value <= 0.05
        combined += difference.combined_p_value <= 0.05
    assert at_most(single, TRIALS, 0.07), single
    assert at_most(combined, TRIALS, 0.07), combined


def test_the_default_finds_more_than_5x2cv():
    trials, better = 200, {"gaps": (1.0, 2.0)}
    found = {"corrected": 0, "single": 0, "combined": 0}
    for trial in range(trials):
        halves = compared(trial, 200, test="5x2cv", **better)
        found["corrected"] += compared(trial, 200, **better).cheaper() == "second"
        found["single"] += halves.cheaper() == "second"
        found["combined"] += halves.combined_p_value <= 0.05
    assert at_least(found["corrected"], trials, 0.7), found
    assert at_most(found["single"], trials, 0.5), found
    assert found["corrected"] > found["combined"] > found["single"]


def test_wins_and_losses_balance():
    differences = [compared(trial, 200, cv=5) for trial in range(100)]
    wins = sum(each.wins for each in differences)
    losses = sum(each.losses for each in differences)
    assert at_least(wins, wins + losses, 0.35)
    assert at_most(wins, wins + losses, 0.65)
