"""Normal scores: the stated true rates, thresholds and curves are right."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import multivariate_normal, norm

from replications.domains.binormal import Binormal, BinormalPair, binormal, both_below
from stakes import CostCurve
from stakes.errors import InputError


@pytest.mark.parametrize("theta", [0.75, 3.0])
@pytest.mark.parametrize("shift", [0.0, 2.0])
@pytest.mark.parametrize("pc", [0.01, 0.3, 0.9])
def test_at_the_best_threshold_both_kinds_of_mistakes_weigh_the_same(theta, shift, pc):
    truth = Binormal(theta, shift)
    cut = truth.threshold(pc)
    positives, negatives = (norm.pdf(cut, each, 3) for each in truth.locations)
    assert pc * positives == pytest.approx((1 - pc) * negatives)
    assert truth.cost(pc) <= truth.cost(pc, cut + np.array([-5, -0.5, 0.5, 5])).min()


def test_the_best_threshold_is_the_cheapest():
    truth = Binormal(3.0, shift=1.0)
    found = minimize_scalar(lambda cut: float(truth.cost(0.3, cut)), bounds=(-9, 9))
    assert truth.threshold(0.3) == pytest.approx(found.x, abs=1e-3)
    assert truth.cost(0.3) == pytest.approx(found.fun)


def test_rates_are_those_of_the_normal_distributions():
    truth = Binormal(1.0, shift=2.0)
    assert truth.tpr(4.0) == pytest.approx(norm.sf(4, 3, 3))
    assert truth.fpr(4.0) == pytest.approx(norm.sf(4, -1, 3))
    assert truth.tpr(4.0) + truth.fnr(4.0) == pytest.approx(1)
    assert truth.cost(0.25, 4.0) == pytest.approx(
        0.25 * norm.cdf(4, 3, 3) + 0.75 * norm.sf(4, -1, 3)
    )
    assert truth.threshold([0.0, 1.0]).tolist() == [np.inf, -np.inf]
    assert truth.cost([0.0, 1.0]).tolist() == [0.0, 0.0]


def test_a_large_sample_has_the_true_curve():
    y_true, y_score = binormal(200_000, 100_000, theta=1.5, shift=1.0, rng=0)
    truth = Binormal(1.5, 1.0)
    assert y_true.sum() == 200_000
    curve = CostCurve.from_scores(y_true, y_score)
    pc = np.array([0.1, 0.4, 0.8])
    assert curve.cost(pc) == pytest.approx(truth.cost(pc), abs=0.003)
    assert (y_score[y_true == 1] >= 2.0).mean() == pytest.approx(truth.tpr(2.0), abs=0.004)


def test_two_scorers_are_as_correlated_as_asked():
    y_true, scores = binormal(100_000, 50_000, theta=1.0, shift=2.0, correlation=0.6, rng=1)
    for label in (0, 1):
        assert np.corrcoef(scores[y_true == label].T)[0, 1] == pytest.approx(0.6, abs=0.01)
    means = [scores[y_true == label].mean(axis=0) for label in (0, 1)]
    assert np.ravel(means) == pytest.approx([-1, -1, 1, 3], abs=0.05)
    assert scores.std(axis=0, where=(y_true == 1)[:, np.newaxis]) == pytest.approx(3, abs=0.03)


@pytest.mark.parametrize("correlation", [-0.4, 0.3, 0.9])
def test_two_normal_numbers_are_below_theirs_as_often_as_scipy_says(correlation):
    law = multivariate_normal(cov=[[1, correlation], [correlation, 1]])
    for x in (-2.5, -0.3, 0.0, 1.2):
        for y in (-3.0, -0.3, 0.0, 0.7):
            assert both_below(x, y, correlation) == pytest.approx(law.cdf([x, y]), abs=1e-7)


def test_how_often_one_alone_is_wrong():
    pair = BinormalPair(Binormal(1.0), Binormal(1.0, shift=2.0), 0.6)
    pc = np.array([0.2, 0.7])
    positives, negatives = pair.alone_wrong(pc)
    excess = pc * (positives[0] - positives[1]) + (1 - pc) * (negatives[0] - negatives[1])
    assert excess == pytest.approx(pair.difference(pc))
    y_true, scores = binormal(200_000, 200_000, 1.0, shift=2.0, correlation=0.6, rng=2)
    called = scores >= [pair.first.threshold(0.2), pair.second.threshold(0.2)]
    wrong = called != (y_true == 1)[:, np.newaxis]
    alone = wrong[:, 0] & ~wrong[:, 1], wrong[:, 1] & ~wrong[:, 0]
    for label, shares in ((1, positives), (0, negatives)):
        found = [each[y_true == label].mean() for each in alone]
        assert found == pytest.approx(shares[:, 0], abs=0.003)


def test_bad_input_is_named():
    with pytest.raises(InputError, match="theta, shift: expected positives that score higher"):
        Binormal(-1.0)
    with pytest.raises(InputError, match="scale: expected a positive number, got 0"):
        Binormal(1.0, scale=0)
    with pytest.raises(InputError, match="correlation: expected a number above -1 and below 1"):
        binormal(10, 10, correlation=1.0)
    with pytest.raises(InputError, match="n_positives: expected a whole number"):
        binormal(2.5, 10)
