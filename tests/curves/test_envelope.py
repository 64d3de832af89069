"""The lower envelope, against the cost of every threshold."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stakes import CostCurve, ScoreCounts
from stakes.curves.curve import cumulative, envelope_cuts

GRID = np.concatenate([np.linspace(0, 1, 41), [1e-6, 1 / 3, 0.999999]])
scores = st.integers(-3, 3).map(float) | st.sampled_from([np.inf, -np.inf, 0.25])


@st.composite
def scored(draw, most=30):
    """Labels of both classes, and scores with many ties, some infinite."""
    n = draw(st.integers(2, most))
    y_true = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    y_true[:2] = [0, 1]
    return np.array(y_true), np.array(draw(st.lists(scores, min_size=n, max_size=n)))


def cost_of(threshold, y_true, y_score, pc, weight=None):
    """Return the normalised cost of one threshold by looking at each example."""
    weight = np.ones(len(y_true)) if weight is None else np.asarray(weight)
    called, positive = np.nan_to_num(y_score) >= threshold, y_true == 1
    missed = weight[positive & ~called].sum() / weight[positive].sum()
    alarmed = weight[~positive & called].sum() / weight[~positive].sum()
    return pc * missed + (1 - pc) * alarmed


def cheapest(y_true, y_score, pc, weight=None):
    """Return the least cost that any threshold has, the infinite ones included."""
    tried = {*np.nan_to_num(y_score).tolist(), np.inf}  # infinite scores are the largest numbers
    return min(cost_of(each, y_true, y_score, pc, weight) for each in tried)


def corners_turn(counts, cuts):
    """Tell whether all slopes of the ROC hull fall strictly, in whole numbers or nearly so."""
    steps = [
        np.diff(cumulative(side, cuts)).tolist() for side in (counts.positives, counts.negatives)
    ]
    pairs = list(zip(*steps, strict=True))
    return all(before[0] * after[1] > after[0] * before[1] for before, after in pairwise(pairs))


@given(scored())
def test_no_threshold_is_cheaper_anywhere(drawn):
    y_true, y_score = drawn
    curve = CostCurve.from_scores(y_true, y_score)
    for pc, cost, threshold in zip(GRID, curve.cost(GRID), curve.threshold(GRID), strict=True):
        assert cost == pytest.approx(cheapest(y_true, y_score, pc), abs=1e-14)
        assert cost_of(threshold, y_true, y_score, pc) == pytest.approx(cost, abs=1e-14)


@given(scored())
def test_a_point_of_the_envelope_is_exactly_the_cost_of_the_threshold_it_names(drawn):
    curve = CostCurve.from_scores(*drawn)
    for pc in (*GRID, *curve.pieces.breaks):
        assert curve.cost(pc) == curve.line(curve.threshold(pc)).cost(pc)


@given(scored(), st.data())
def test_with_weights_too(drawn, data):
    y_true, y_score = drawn
    weight = data.draw(
        st.lists(
            st.sampled_from([0.1, 0.3, 1.0, 2.7, 40.0]), min_size=len(y_true), max_size=len(y_true)
        )
    )
    curve = CostCurve.from_scores(y_true, y_score, sample_weight=weight)
    for pc, cost, threshold in zip(GRID, curve.cost(GRID), curve.threshold(GRID), strict=True):
        assert cost == pytest.approx(cheapest(y_true, y_score, pc, weight), abs=1e-12)
        assert curve.line(threshold).cost(pc) == pytest.approx(cost, abs=1e-12)


@given(scored())
def test_corners_turn_and_thresholds_fall(drawn):
    curve = CostCurve.from_scores(*drawn)
    assert corners_turn(curve.counts, envelope_cuts(curve.counts))
    assert (np.diff(curve.pieces.breaks) >= 0).all()
    assert (curve.thresholds[1:] < curve.thresholds[:-1]).all()
    inner = curve.pieces.breaks[1:-1]
    assert (np.diff(inner) > 0).all()
    assert len(curve.thresholds) == len(curve.pieces.left)


@given(scored())
def test_where_two_thresholds_cost_the_same_the_lower_one_is_named(drawn):
    y_true, y_score = drawn
    curve = CostCurve.from_scores(y_true, y_score)
    for place, named in zip(curve.pieces.breaks[1:-1], curve.thresholds[1:], strict=True):
        if 0 < place < 1:
            assert curve.threshold(place) == named


@pytest.mark.parametrize(
    ("positives", "negatives"),
    [
        ([0, 2, 0, 1], [0, 0, 0, 3]),  # rows of zeros first and within
        ([1, 0, 2, 0], [2, 0, 1, 0]),  # and last
        ([0, 0, 5, 0], [0, 4, 0, 0]),
    ],
)
def test_scores_that_no_example_has_change_nothing(positives, negatives):
    sparse = ScoreCounts([4, 3, 2, 1], positives, negatives)
    used = [i for i in range(4) if positives[i] + negatives[i]]
    dense = ScoreCounts(
        [4 - i for i in used], [positives[i] for i in used], [negatives[i] for i in used]
    )
    one, other = CostCurve(sparse), CostCurve(dense)
    assert one.pieces == other.pieces
    for pc in GRID:
        assert one.line(one.threshold(pc)).cost(pc) == pytest.approx(other.cost(pc), abs=1e-15)


def test_an_infinite_score_that_no_example_has_changes_nothing():
    counts = ScoreCounts([np.inf, 1, 0], [0, 2, 1], [0, 1, 3])
    assert CostCurve(counts).pieces == CostCurve(ScoreCounts([1, 0], [2, 1], [1, 3])).pieces


def test_large_counts_keep_their_corners():
    """Slopes that differ in the ninth digit only."""
    n = 10**9
    counts = ScoreCounts([3, 2, 1], [n + 1, n, n - 1], [n, n, n])
    assert envelope_cuts(counts).tolist() == [0, 1, 2, 3]
    level = ScoreCounts([3, 2, 1], [n, n, n], [n, n, n])
    assert envelope_cuts(level).tolist() == [0, 3]


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_many_equal_slopes_leave_no_collinear_corners(seed):
    rng = np.random.default_rng(seed)
    size = 200
    shares = rng.integers(1, 4, size)
    times = rng.integers(1, 50, size)
    counts = ScoreCounts(np.arange(size, 0, -1), shares * times, (4 - shares) * times)
    assert corners_turn(counts, envelope_cuts(counts))


@pytest.mark.parametrize("scale", [1e-170, 1e-120, 1e100])
def test_the_size_of_the_weights_does_not_matter(scale):
    y_true, y_score = [1, 0, 1, 0, 0, 1], [6, 5, 4, 3, 2, 1]
    plain = CostCurve.from_scores(y_true, y_score)
    scaled = CostCurve.from_scores(y_true, y_score, sample_weight=[scale] * 6)
    assert np.allclose(scaled.cost(GRID), plain.cost(GRID))
