"""ROC space, the dual of cost space, against scikit-learn, scipy's hull and plain geometry."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from sklearn.metrics import roc_auc_score, roc_curve

from stakes import CostCurve, CostLine, ScoreCounts
from stakes.curves import (
    average_curves,
    cost_point,
    isoperformance_line,
    roc_average,
    roc_hull,
    roc_points,
)
from stakes.errors import InputError, InputTypeError

seeds = st.integers(0, 10**6)
SHY, EAGER = CostLine(0.04, 0.4, name="shy"), CostLine(0.3, 0.8, name="eager")


def drawn(seed, n=40, skill=1.0):
    rng = np.random.default_rng(seed)
    y_true = np.append([0, 1], (rng.random(n) < 0.4).astype(int))
    return y_true, np.round(skill * y_true + rng.normal(0, 1, n + 2), 1)


@given(seeds)
def test_points_are_those_of_scikit_learn(seed):
    y_true, y_score = drawn(seed)
    points = roc_points(CostCurve.from_scores(y_true, y_score))
    fpr, tpr, thresholds = roc_curve(y_true, y_score, drop_intermediate=False)
    assert np.allclose(points.fpr, fpr)
    assert np.allclose(points.tpr, tpr)
    assert (points.thresholds == thresholds).all()
    assert np.trapezoid(points.tpr, points.fpr) == pytest.approx(roc_auc_score(y_true, y_score))


@given(seeds, st.sampled_from([0.0, 1.0, 3.0]))
def test_the_hull_has_the_corners_that_scipy_finds(seed, skill):
    curve = CostCurve.from_scores(*drawn(seed, skill=skill))
    points, hull = roc_points(curve), roc_hull(curve)
    mine = set(zip(hull.fpr.round(12).tolist(), hull.tpr.round(12).tolist(), strict=True))
    corners = np.vstack([np.column_stack(points[:2]), [1.0, 0.0]])
    theirs = {tuple(each) for each in corners[ConvexHull(corners).vertices].round(12).tolist()}
    assert mine == theirs - {(1.0, 0.0)}
    assert (np.diff(hull.thresholds) < 0).all()


@given(seeds)
def test_corners_are_pieces_of_the_envelope_and_touch_their_lines_of_equal_cost(seed):
    curve = CostCurve.from_scores(*drawn(seed))
    hull = roc_hull(curve)
    assert set(curve.pieces.left.tolist()) <= set(hull.fpr.tolist())
    for place in (0.1, 0.37, 0.9):
        slope, intercept = isoperformance_line(place, curve.cost(place))
        above = hull.tpr - (slope * hull.fpr + intercept)
        assert above.max() == pytest.approx(0, abs=1e-12)  # tangent: touched and never crossed
        corner = int(above.argmax())
        assert curve.threshold(place) in hull.thresholds[corner : corner + 2]


@given(st.floats(0.001, 1), st.floats(0, 1))
def test_a_point_of_cost_space_is_a_line_of_roc_space_and_back(pc, cost):
    slope, intercept = isoperformance_line(pc, cost)
    assert cost_point(slope, intercept) == pytest.approx((pc, cost), abs=1e-9)
    for fpr in (0.0, 0.3, 1.0):  # every classifier on this line has this cost at this condition
        tpr = slope * fpr + intercept
        assert (1 - pc) * fpr + pc * (1 - tpr) == pytest.approx(cost, abs=1e-9)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0.01, 0.99))
def test_a_line_of_cost_space_is_the_point_where_its_lines_of_equal_cost_meet(fpr, tpr, pc):
    line = CostLine(fpr, tpr)
    slope, intercept = isoperformance_line(pc, line.cost(pc))
    assert slope * fpr + intercept == pytest.approx(tpr, abs=1e-9)


def test_two_classifiers_cross_where_the_line_through_both_says():
    slope = (0.8 - 0.4) / (0.3 - 0.04)
    pc, cost = cost_point(slope, 0.4 - slope * 0.04)
    assert SHY.crossovers(EAGER) == pytest.approx([pc])
    assert SHY.cost(pc) == pytest.approx(cost)
    assert EAGER.cost(pc) == pytest.approx(cost)


def test_a_hard_classifier_has_one_point_between_the_constant_ones():
    points = roc_points(SHY)
    assert points.fpr.tolist() == [0, 0.04, 1]
    assert points.tpr.tolist() == [0, 0.4, 1]
    assert points.thresholds is None
    assert roc_hull(SHY).fpr.tolist() == [0, 0.04, 1]
    worse = roc_hull(CostLine(0.6, 0.4))
    assert (worse.fpr.tolist(), worse.tpr.tolist()) == ([0, 1], [0, 1])
    assert roc_hull(CostLine(0.5, 0.5)).fpr.tolist() == [0, 1]


def test_the_hull_is_that_of_the_examples_whatever_thresholds_were_selected():
    curve = CostCurve.from_scores(*drawn(0))
    selected = curve.select(ScoreCounts.from_scores(*drawn(1)))
    assert (roc_hull(selected).tpr == roc_hull(curve).tpr).all()


# Averages of ROC curves, which section 7 of the paper warns of


def test_averages_of_roc_curves_lie_under_the_line_between_the_two_classifiers():
    """The isoperformance line that joins the vertices, and what the average should attain."""
    slope = (0.8 - 0.4) / (0.3 - 0.04)
    intercept = 0.4 - slope * 0.04
    pc, cost = cost_point(slope, intercept)
    for direction in ("vertical", "horizontal"):
        found = roc_average([SHY, EAGER], direction)
        assert (slope * found.fpr + intercept - found.tpr).min() > 0.05
        cheapest = ((1 - pc) * found.fpr + pc * (1 - found.tpr)).min()
        assert cheapest > cost + 0.01
    assert average_curves([SHY, EAGER]).cost(pc) == pytest.approx(cost)


def test_averages_of_figure_9_are_those_of_the_two_broken_lines():
    vertical = roc_average([SHY, EAGER])
    by_hand = [np.interp(vertical.fpr, [0, x, 1], [0, y, 1]) for x, y in ((0.04, 0.4), (0.3, 0.8))]
    assert np.allclose(vertical.tpr, np.mean(by_hand, axis=0))
    assert {0.04, 0.3} <= set(vertical.fpr.tolist())
    horizontal = roc_average([SHY, EAGER], "horizontal")
    by_hand = [
        np.interp(horizontal.tpr, [0, y, 1], [0, x, 1]) for x, y in ((0.04, 0.4), (0.3, 0.8))
    ]
    assert np.allclose(horizontal.fpr, np.mean(by_hand, axis=0))


def on_the_curve(points, rate, direction):
    """Return the other coordinate of a ROC curve where a rate lies strictly between its points."""
    along, across = (0, 1) if direction == "vertical" else (1, 0)
    i = int(np.searchsorted(points[along], rate)) - 1
    (a, b), (c, d) = points[along][i : i + 2], points[across][i : i + 2]
    return c + (d - c) * (rate - a) / (b - a)


@given(seeds, st.sampled_from(["vertical", "horizontal"]))
def test_the_average_of_one_scorer_is_its_own_roc_curve(seed, direction):
    curve = CostCurve.from_scores(*drawn(seed, n=15))
    points = roc_points(curve)
    found = roc_average([curve], direction, steps=98)
    rates, others = (found.fpr, found.tpr) if direction == "vertical" else (found.tpr, found.fpr)
    known = points.fpr if direction == "vertical" else points.tpr
    for rate, other in zip(rates, others, strict=True):
        if np.abs(known - rate).min() > 1e-9:
            assert other == pytest.approx(on_the_curve(points, rate, direction), abs=1e-9)


def test_a_scorer_whose_negatives_score_infinite_is_not_perfect_on_average():
    """Between (0, 0) and the first point lies a straight line."""
    worst = CostCurve.from_scores([0, 0, 1, 1], [np.inf, np.inf, 1, 0])
    found = roc_average([worst], steps=3)
    assert (found.tpr[found.fpr < 1] <= found.fpr[found.fpr < 1]).all()


def test_no_nan_in_nasty_averages():
    inf = np.inf
    nasty = [
        CostCurve.from_scores([0, 1], [1, 1]),
        CostCurve.from_scores([0, 1], [inf, inf]),
        CostCurve.from_scores([0, 1], [-inf, inf]),
        CostCurve.from_scores([0, 1], [2, 1]),
        CostLine(0, 0),
        CostLine(1, 1),
        CostLine(0, 1),
    ]
    for direction in ("vertical", "horizontal"):
        for curves in ([each] for each in nasty), [nasty]:
            for some in curves:
                found = roc_average(some, direction)
                assert np.isfinite(found.fpr).all()
                assert np.isfinite(found.tpr).all()
                assert ((found.tpr >= 0) & (found.tpr <= 1)).all()


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: roc_points(average_curves([SHY])),
            InputTypeError,
            "curve: expected a CostCurve or a CostLine, got a AverageCurve",
        ),
        (lambda: roc_hull([0.1, 0.2]), InputTypeError, "expected a CostCurve or a CostLine"),
        (
            lambda: roc_average([SHY], "diagonal"),
            InputError,
            "direction: expected one of 'vertical', 'horizontal'; got 'diagonal'",
        ),
        (lambda: roc_average([]), InputError, "curves: expected at least one cost curve"),
        (lambda: roc_average([SHY], steps=1.5), InputError, "steps: expected a whole number"),
        (
            lambda: isoperformance_line(0, 0.3),
            InputError,
            r"pc: at PC\(\+\) = 0 .* all points with a false positive rate of 0\.3",
        ),
        (lambda: isoperformance_line(1.5, 0.3), InputError, "between 0 and 1; got 1.5"),
        (lambda: isoperformance_line(0.5, np.nan), InputError, "cost: expected finite numbers"),
        (
            lambda: cost_point(-1, 0.5),
            InputError,
            "slope: lines of equal cost rise, or are level; expected 0 or more, got -1",
        ),
        (lambda: cost_point(np.inf, 0.5), InputError, "slope: expected finite numbers"),
        (lambda: cost_point(1, None), InputTypeError, "intercept: expected numbers, got None"),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()
