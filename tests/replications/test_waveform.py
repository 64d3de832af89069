"""Breiman's waveforms and their true probabilities."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from replications.domains.waveform import MIXED, WAVES, waveform, waveform_probabilities
from stakes.errors import InputError


def test_three_waves():
    assert WAVES.shape == (3, 21)
    assert WAVES.max(axis=1).tolist() == [6, 6, 6]
    assert (WAVES.argmax(axis=1) + 1).tolist() == [11, 15, 7]
    assert (WAVES > 0).sum(axis=1).tolist() == [11, 11, 11]


def test_classes_are_balanced_and_have_the_means_and_spread_of_their_mixtures():
    points, classes = waveform(60_000, rng=0)
    assert np.bincount(classes).tolist() == [0, 20_000, 20_000, 20_000]
    for number, (one, other) in enumerate(MIXED, start=1):
        own = points[classes == number]
        np.testing.assert_allclose(own.mean(axis=0), (WAVES[one] + WAVES[other]) / 2, atol=0.06)
        variance = 1 + (WAVES[one] - WAVES[other]) ** 2 / 12
        np.testing.assert_allclose(own.var(axis=0), variance, rtol=0.06)


def test_probabilities_are_those_of_numeric_integration():
    points, _ = waveform(12, rng=5)
    points[0] += 4  # far from all classes

    def density(point, one, other):
        def at(share):
            mean = share * WAVES[one] + (1 - share) * WAVES[other]
            return np.exp(norm.logpdf(point, mean).sum() + 60)

        return quad(at, 0, 1, epsabs=0, epsrel=1e-9)[0]

    expected = np.array([[density(point, *pair) for pair in MIXED] for point in points])
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(waveform_probabilities(points), expected, rtol=1e-6, atol=1e-12)


def test_probabilities_are_calibrated():
    points, classes = waveform(60_000, rng=2)
    chance = waveform_probabilities(points)
    for number in range(3):
        middling = (chance[:, number] > 0.3) & (chance[:, number] < 0.6)
        observed = (classes[middling] == number + 1).mean()
        assert observed == pytest.approx(chance[middling, number].mean(), abs=0.02)


def test_far_away_points_still_have_probabilities():
    chance = waveform_probabilities(np.full((1, 21), 1e3))
    assert chance.sum() == pytest.approx(1)


def test_bad_input():
    with pytest.raises(InputError, match=r"X: expected an array of shape \(n, 21\)"):
        waveform_probabilities([[1.0, 2.0]])
    with pytest.raises(InputError, match="n: expected a whole number"):
        waveform(1.5)
