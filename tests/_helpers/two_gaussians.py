"""Two normal classes, for which the optimal decisions and their cost are known."""

import numpy as np
from scipy.stats import norm
from sklearn.base import BaseEstimator, ClassifierMixin

from replications.domains.gaussians import Gaussians
from stakes import CostMatrix

SHIFT = 1.5
PREVALENCE = 0.3
ALARM, MISS = 1.0, 20.0
COSTS = CostMatrix.from_errors(false_positive=ALARM, false_negative=MISS)
DOMAIN = Gaussians(SHIFT, prevalence=PREVALENCE, noise=1)


def draw(n, seed):
    """Sample n examples: the second class is shifted in the first of two features."""
    return DOMAIN.draw(n, seed)


def bayes_cost():
    """Return the cost of the optimal decisions, by the normal distribution function."""
    odds = ALARM * (1 - PREVALENCE) / (MISS * PREVALENCE)
    threshold = SHIFT / 2 + np.log(odds) / SHIFT
    alarms = (1 - PREVALENCE) * norm.sf(threshold)
    misses = PREVALENCE * norm.cdf(threshold - SHIFT)
    return ALARM * alarms + MISS * misses


class TrueProbabilities(ClassifierMixin, BaseEstimator):
    """Classifier that predicts the true class probabilities."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_features_in_ = X.shape[1]
        return self

    def predict_proba(self, X):
        second = DOMAIN.probability(X)
        return np.column_stack([1 - second, second])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]
