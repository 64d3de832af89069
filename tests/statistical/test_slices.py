"""Simultaneous coverage of all slices and periods; searches without an effect find nothing."""

import numpy as np
import pytest

from stakes import CostMatrix, DecisionCurve, evaluate_by, evaluate_over, find_slices
from stakes.curves import DecisionCurveDifference

pytestmark = pytest.mark.statistical

COSTS = CostMatrix.from_errors(false_positive=5, false_negative=500)


def test_twenty_slices_are_covered_at_once():
    """20 slices of 200 rows, 0.5% misses of cost 500 and 2% false alarms of cost 5."""
    rng, inside, repeats = np.random.default_rng(0), 0, 400
    by = np.repeat(np.arange(20), 200)
    truth = 500 * 0.005 + 5 * 0.02
    for _ in range(repeats):
        kind = rng.choice(4, 4000, p=[0.875, 0.02, 0.005, 0.1])  # right, alarm, miss, found
        y_true, y_pred = (np.array(each)[kind] for each in ([0, 0, 1, 1], [0, 1, 0, 1]))
        found = evaluate_by(y_true, y_pred, COSTS, by=by).slices()
        inside += all(each.low <= truth <= each.high for each in found)
    print(f"all of 20 slices: {inside / repeats:.3f}")  # noqa: T201 - what the run is for
    assert inside / repeats >= 0.93


def test_periods_are_covered_at_once_and_no_change_is_rarely_shown():
    rng, inside, shown, repeats = np.random.default_rng(1), 0, 0, 300
    time = np.repeat(np.arange("2026-01", "2027-01", dtype="datetime64[M]"), 150)
    truth = 500 * 0.005 + 5 * 0.02
    for _ in range(repeats):
        kind = rng.choice(4, len(time), p=[0.875, 0.02, 0.005, 0.1])
        y_true, y_pred = (np.array(each)[kind] for each in ([0, 0, 1, 1], [0, 1, 0, 1]))
        found = evaluate_over(y_true, y_pred, COSTS, time=time).periods()
        inside += all(each.low <= truth <= each.high for each in found)
        shown += any(each.verdict != "not shown" for each in found)
    print(f"all of 12 periods: {inside / repeats:.3f}; a change: {shown / repeats:.3f}")  # noqa: T201
    assert inside / repeats >= 0.93
    assert shown / repeats <= 0.05


@pytest.mark.parametrize("misses", [0.1, 0.01])
def test_a_search_without_a_bad_slice_names_one_rarely(misses):
    false, repeats = 0, 300
    for seed in range(repeats):
        rng = np.random.default_rng(seed)
        y_true = rng.binomial(1, 0.2, 1000)
        y_pred = np.where(rng.random(1000) < misses, 1 - y_true, y_true)
        frame = {
            "a": rng.choice(list("xyz"), 1000),
            "b": rng.normal(size=1000),
            "c": rng.integers(0, 5, 1000),
        }
        false += bool(find_slices(frame, y_true, y_pred, COSTS, rng=seed).shown)
    print(f"a slice named falsely at {misses}: {false / repeats:.3f}")  # noqa: T201
    assert false / repeats <= 0.05


def test_decision_curves_are_covered_at_all_thresholds_at_once():
    """Calibrated risks and 20 expected positives, few of them above the high thresholds."""
    rng, repeats = np.random.default_rng(2), 400
    at = np.array([0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6])
    draws = rng.beta(0.2, 3.8, 2_000_000)
    odds = at / (1 - at)
    truth = np.array(
        [
            (draws * (draws >= t)).mean() - ((1 - draws) * (draws >= t)).mean() * o
            for t, o in zip(at, odds, strict=True)
        ]
    )
    point, whole, shown = np.zeros(len(at)), 0, 0
    for _ in range(repeats):
        risk = rng.beta(0.2, 3.8, 400)
        y = rng.binomial(1, risk)
        if not y.any():
            continue
        curve = DecisionCurve.from_scores(y, risk)
        each = curve.band(at)
        point += (each.low <= truth) & (truth <= each.high)
        every = curve.band(at, simultaneous=True)
        whole += ((every.low <= truth) & (truth <= every.high)).all()
        alike = np.clip(risk * rng.lognormal(0, 1e-9, 400), 0, 1)
        shown += bool(
            DecisionCurveDifference.from_scores(y, risk, alike, thresholds=at).better_ranges()
        )
    print(f"pointwise {point / repeats}, at once {whole / repeats:.3f}, false {shown / repeats}")  # noqa: T201
    assert (point / repeats >= 0.93).all()
    assert whole / repeats >= 0.93
    assert shown / repeats <= 0.05
