"""The confidence level of each point for which a whole band holds simultaneously."""

import numpy as np
import pytest
from scipy.stats import norm

from stakes import CostLine, ScoreCounts
from stakes.curves.band import pointwise_alpha
from stakes.curves.curve import CostCurve


def constant(alpha, lines):
    """Return the number of standard deviations that a pointwise alpha stands for."""
    return -norm.ppf(pointwise_alpha(alpha, lines) / 2)


def test_the_constant_of_one_line_at_95_percent():
    assert constant(0.05, 1) == pytest.approx(2.3516, abs=5e-5)
    assert pointwise_alpha(0.05, 1) == pytest.approx(2 * (1 - norm.cdf(2.3516)), rel=1e-3)


@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.01])
def test_the_largest_projection_exceeds_it_with_that_probability(alpha):
    """Project points of a plane on all directions of the first quadrant."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(200_000, 2))
    angles = np.linspace(0, np.pi / 2, 91)
    largest = np.zeros(len(points))
    for angle in angles:
        direction = np.array([np.cos(angle), np.sin(angle)])
        np.maximum(largest, np.abs(points @ direction), out=largest)
    outside = (largest > constant(alpha, 1)).mean()
    assert outside == pytest.approx(alpha, abs=4 * np.sqrt(alpha / len(points)) + alpha * 0.002)


@pytest.mark.parametrize("lines", [2, 5, 100])
def test_lines_share_the_probability_as_sidak_has_it(lines):
    each = 1 - 0.95 ** (1 / lines)
    assert pointwise_alpha(0.05, lines) == pytest.approx(pointwise_alpha(each, 1), rel=1e-9)


def test_more_lines_and_more_confidence_need_more_room():
    by_lines = [constant(0.05, lines) for lines in (1, 2, 10, 1000, 10**6)]
    assert (np.diff(by_lines) > 0).all()
    by_alpha = [constant(alpha, 3) for alpha in (0.5, 0.1, 0.05, 0.001, 1e-9)]
    assert (np.diff(by_alpha) > 0).all()
    assert np.isfinite(by_lines + by_alpha).all()


def test_a_simultaneous_band_of_a_line_contains_the_pointwise_one():
    line = CostLine(0.2, 0.7, 50, 80)
    pointwise, at_once = line.band(), line.band(simultaneous=True)
    inner = slice(1, -1)
    assert (at_once.low <= pointwise.low)[inner].all()
    assert (at_once.high > pointwise.high)[inner].all()
    same = line.band(1 - pointwise_alpha(0.05, 1))
    assert np.allclose(at_once.low, same.low, atol=1e-9)
    assert np.allclose(at_once.high, same.high, atol=1e-9)
    assert at_once.simultaneous
    assert at_once.confidence == 0.95
    assert at_once.kind() == "simultaneous, mover"


def test_a_curve_of_more_lines_has_a_wider_band():
    """The same counts at PC(+) = 0.5, once with one threshold, once with many."""
    few = CostCurve(ScoreCounts([3, 1], [80, 20], [20, 80]))
    many = CostCurve(ScoreCounts([5, 4, 3, 2, 1], [20, 40, 20, 15, 5], [1, 7, 12, 30, 50]))
    assert few.line(few.threshold(0.5)).point == many.line(many.threshold(0.5)).point
    narrow, wide = (curve.band(simultaneous=True, pc=[0.5]) for curve in (few, many))
    assert narrow.cost == wide.cost
    assert wide.high[0] > narrow.high[0]
    assert wide.low[0] < narrow.low[0]


def test_a_simultaneous_band_holds_for_the_whole_line():
    """Coverage of one line over all conditions, by simulation with many examples."""
    rng = np.random.default_rng(1)
    n, fpr, miss = 400, 0.3, 0.2
    pc = np.linspace(0, 1, 41)
    truth = pc * miss + (1 - pc) * fpr
    pointwise = simultaneous = 0
    trials = 300
    for alarmed, missed in zip(
        rng.binomial(n, fpr, trials), rng.binomial(n, miss, trials), strict=True
    ):
        line = CostLine(alarmed / n, 1 - missed / n, n, n)
        for at_once in (False, True):
            band = line.band(0.9, pc=pc, simultaneous=at_once)
            held = ((band.low <= truth) & (truth <= band.high)).all()
            pointwise, simultaneous = (
                pointwise + (held and not at_once),
                simultaneous + (held and at_once),
            )
    assert simultaneous / trials > 0.86
    assert pointwise / trials < 0.88
