"""The probabilities of two normal classes agree with Bayes' rule."""

import numpy as np
import pytest
from scipy.stats import norm

from replications.domains.gaussians import Gaussians
from stakes.errors import InputError


def test_probabilities_are_those_of_bayes_rule():
    domain = Gaussians(1.5, spread=2.0, prevalence=0.3, noise=1)
    x = np.linspace(-4, 6, 11)
    first, second = 0.7 * norm.pdf(x), 0.3 * norm.pdf(x, 1.5, 2)
    told = domain.probability(np.column_stack([x, x]))
    assert told == pytest.approx(second / (first + second), rel=1e-12)


def test_examples_come_as_often_as_they_are_probable():
    domain = Gaussians(1.0, spread=1.5, prevalence=0.2, noise=2)
    features, y = domain.draw(40_000, rng=1)
    assert features.shape == (40_000, 3)
    told = domain.probability(features)
    for low, high in ((0.0, 0.12), (0.12, 0.2), (0.2, 0.5), (0.5, 1.0)):
        among = (told >= low) & (told < high)
        assert among.sum() > 300
        error = np.sqrt(0.25 / among.sum())
        assert y[among].mean() == pytest.approx(told[among].mean(), abs=4 * error)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"spread": 0}, "spread: expected a number above 0, got 0"),
        ({"prevalence": 1.0}, "prevalence: expected a share between 0 and 1"),
        ({"noise": -1}, "noise: expected a whole number"),
        ({"shift": "far"}, "shift"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(InputError, match=message):
        Gaussians(**options)
