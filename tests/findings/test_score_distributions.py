"""Histograms by class, gains at capacities, calibration with limits, and rates of each class."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, log_loss

from stakes import CostMatrix, evaluate_rates, study_of
from stakes.findings import findings
from stakes.infer._ratios import beta_limits

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=10)


@pytest.fixture(scope="module")
def found():
    rng = np.random.default_rng(0)
    risk = rng.beta(1, 3, 300).round(3).clip(0.001, 0.999)
    y = rng.binomial(1, risk)
    study = study_of(y, {}, COSTS, y_score={"risk": risk})
    return y, risk, findings(study)


def test_histograms_hold_all_rows(found):
    y, risk, report = found
    (each,) = report.score_distributions
    assert each.name == "risk"
    np.testing.assert_array_equal(each.positives, np.histogram(risk[y == 1], each.edges)[0])
    np.testing.assert_array_equal(each.negatives, np.histogram(risk[y == 0], each.edges)[0])
    assert each.threshold == report.policies[0].threshold or each.threshold is not None


def test_gains_are_the_rates_of_the_highest_scores(found):
    y, risk, report = found
    for gain in report.score_distributions[0].gains:
        flagged = risk >= gain.threshold
        assert gain.flagged == pytest.approx(flagged.mean())
        assert flagged.mean() <= gain.capacity + 1e-12
        rates = evaluate_rates(y, flagged.astype(int))
        for name in ("recall", "precision"):
            assert getattr(gain, name).to_dict() == pytest.approx(rates.rate(name).to_dict())
        if gain.lift is not None:
            assert gain.lift == pytest.approx(gain.precision.value / y.mean())


def test_calibration_has_limits_and_the_usual_losses(found):
    y, risk, report = found
    (each,) = report.calibration
    assert each.brier_score == pytest.approx(brier_score_loss(y, risk), abs=1e-12)
    assert each.log_loss == pytest.approx(log_loss(y, risk), abs=1e-12)
    assert sum(one.n for one in each.bins) == 300
    for one in each.bins:
        low, high = beta_limits(one.share * one.n, (1 - one.share) * one.n, 0.05)
        assert (one.low, one.high) == pytest.approx((float(low), float(high)))
        assert one.low <= one.share <= one.high


def test_many_classes_have_rates_by_class():
    rng = np.random.default_rng(1)
    y = rng.choice(["a", "b", "c"], 200)
    p = np.where(rng.random(200) < 0.8, y, "a")
    costs = CostMatrix([[0, 1, 5], [2, 0, 1], [9, 1, 0]], labels=["a", "b", "c"], rows="predicted")
    (model,) = findings(study_of(y, {"m": p}, costs)).models
    assert model.rates is not None
    assert model.rates.recall is None
    direct = evaluate_rates(y, p)
    assert model.rates.macro_f1.to_dict() == pytest.approx(direct.rate("macro_f1").to_dict())
    for each in model.rates.by_class:
        assert each.precision.to_dict() == pytest.approx(direct.of(each.label).precision.to_dict())


def test_histograms_hold_scores_whose_differences_are_no_numbers():
    y = [1, 0, 0] * 20
    study = study_of(y, {}, COSTS, y_score={"large": [1e308, -1e308, 0.5] * 20})
    (each,) = findings(study).score_distributions
    assert np.isfinite(each.edges).all()
    assert (each.positives[-1], each.positives.sum()) == (20, 20)
    assert (each.negatives[0], each.negatives.sum()) == (20, 40)
    study = study_of(y, {}, COSTS, y_score={"same": [3e16] * 60})
    assert (np.diff(findings(study).score_distributions[0].edges) > 0).all()


def test_rows_that_weigh_nothing_have_no_bin():
    rng = np.random.default_rng(4)
    y, risk = rng.integers(0, 2, 200), rng.choice([0.2, 0.5, 0.8], 200)
    weights = np.where(risk == 0.2, 0.0, 1.0 + y)
    study = study_of(y, {}, COSTS, y_score={"risk": risk}, sample_weight=weights)
    some = weights > 0
    without = study_of(
        y[some], {}, COSTS, y_score={"risk": risk[some]}, sample_weight=weights[some]
    )
    assert findings(study).calibration == findings(without).calibration
