import numpy as np
import polars as pl
import pytest
from _helpers.strategies import weights
from hypothesis import given
from hypothesis import strategies as st

from stakes import (
    BinnedCostCurve,
    BinnedScoreCounts,
    CostCurve,
    CostMatrix,
    ScoreCounts,
    choose_threshold,
)
from stakes.curves import average_curves, worst_cost
from stakes.errors import InputError, InputTypeError

ROUNDING = 1e-12
may_miss = pytest.mark.filterwarnings("ignore::stakes.errors.ToleranceWarning")
scores = (
    st.sampled_from([0.0, 1e-5, 2e-5, 0.1, 0.10001, 0.5, 0.50001, 17.0, 18.0, -20.0])
    | st.sampled_from([np.inf, -np.inf])
    | st.floats(-1, 1)
)


@st.composite
def scored(draw):
    n = draw(st.integers(2, 60))
    y_true = draw(st.lists(st.sampled_from([0, 1]), min_size=n, max_size=n))
    y_true[:2] = [0, 1]
    return y_true, draw(st.lists(scores, min_size=n, max_size=n))


def assert_contains(curve, exact):
    """Check the bracket wherever one of the three curves bends, and in between."""
    every = (curve.pieces, curve.lower_pieces, exact.pieces)
    pc = np.unique(np.concatenate([np.linspace(0, 1, 101), *(each.breaks for each in every)]))
    cost = exact.cost(pc)
    assert (curve.lower(pc) <= cost + ROUNDING).all()
    assert (cost <= curve.upper(pc) + ROUNDING).all()
    assert (curve.upper(pc) - curve.lower(pc) <= curve.width + ROUNDING).all()
    lower, upper = curve.areas()
    assert lower - ROUNDING <= exact.area() <= upper + ROUNDING


@may_miss
@given(scored(), st.sampled_from([1.0, 0.1, 1e-3]))
def test_the_exact_curve_lies_in_the_bracket(drawn, tolerance):
    y_true, y_score = drawn
    binned = BinnedScoreCounts.from_scores(y_true, y_score, tolerance=tolerance)
    curve = BinnedCostCurve(binned)
    assert_contains(curve, CostCurve(ScoreCounts.from_scores(y_true, y_score)))
    assert curve.width == pytest.approx(binned.width, abs=ROUNDING)


@given(scored(), st.data())
def test_the_exact_curve_of_weighted_examples_lies_in_the_bracket(drawn, data):
    y_true, y_score = drawn
    weight = [w + 0.5 for w in data.draw(weights(len(y_true)))]
    binned = BinnedScoreCounts.from_scores(y_true, y_score, sample_weight=weight, tolerance=1)
    exact = ScoreCounts.from_scores(y_true, y_score, sample_weight=weight)
    assert_contains(BinnedCostCurve(binned), CostCurve(exact))


@may_miss
@given(scored(), st.integers(2, 5))
def test_the_exact_curve_lies_in_the_bracket_of_merged_parts(drawn, parts):
    y_true, y_score = drawn
    names = {"pos_label": 1, "neg_label": 0, "tolerance": 0.2}
    merged = sum(
        BinnedScoreCounts.from_scores(y_true[i::parts], y_score[i::parts], **names)
        for i in range(min(parts, len(y_true)))
    )
    assert_contains(BinnedCostCurve(merged), CostCurve(ScoreCounts.from_scores(y_true, y_score)))


def test_bins_that_hide_nothing_give_the_exact_curve():
    y_true, y_score = [0, 1, 0, 1, 1, 0], [0.1, 0.2, 0.3, 0.4, 0.4, 0.5]
    curve = BinnedCostCurve(BinnedScoreCounts.from_scores(y_true, y_score), name="model")
    exact = CostCurve(ScoreCounts.from_scores(y_true, y_score), name="model")
    assert curve.width == 0
    assert curve.pieces == exact.pieces == curve.lower_pieces
    pc = np.linspace(0, 1, 11)
    assert curve.threshold(pc).tolist() == exact.threshold(pc).tolist()
    assert curve.at(0.4).to_dict() == exact.at(0.4).to_dict()


@pytest.fixture(scope="module")
def large():
    rng = np.random.default_rng(3)
    y_true = (rng.random(100_000) < 0.1).astype(int)
    y_score = rng.normal(1.5 * y_true, 1)
    frame = pl.LazyFrame({"t": y_true, "s": y_score})
    binned = BinnedScoreCounts.from_frame(frame, actual="t", score="s", tolerance=1e-3)
    return binned, ScoreCounts.from_scores(y_true, y_score)


def test_many_scores_in_little_room(large):
    binned, exact = large
    curve = BinnedCostCurve(binned, name="model")
    assert curve.width <= 1e-3
    assert_contains(curve, CostCurve(exact))


def test_a_threshold_costs_what_the_curve_says(large):
    binned, exact = large
    curve = BinnedCostCurve(binned)
    for pc in (0.1, 0.35, 0.8):
        line = CostCurve(exact).line(curve.threshold(pc))
        assert line.cost(pc) == pytest.approx(curve.cost(pc), abs=1e-12)


def test_a_chosen_threshold_is_dearer_than_the_best_by_no_more_than_the_width(large):
    binned, exact = large
    costs = CostMatrix.from_errors(false_positive=3, false_negative=40)
    counts = binned.score_counts(), exact
    chosen, best = (choose_threshold(each, costs, rule="minimum") for each in counts)
    prevalence = exact.n_positives / exact.n
    unit = worst_cost(prevalence=prevalence, false_positive=3, false_negative=40)
    assert best.cost <= chosen.cost <= best.cost + binned.width * unit
    assert exact.confusion_at(chosen.threshold) == chosen.confusion


def test_the_band_is_that_of_the_thresholds_between_bins(large):
    binned, exact = large
    curve, whole = BinnedCostCurve(binned), CostCurve(exact)
    band, expected = curve.band(), whole.band()
    assert np.allclose(band.low, expected.low, atol=2 * curve.width)
    assert band.chosen_on == "the same examples"


def test_it_is_a_curve_like_others(large):
    binned, _ = large
    curve = BinnedCostCurve(binned, name="model")
    assert "in bins" not in curve.summary()
    assert f"{len(binned.lowest):,} bins: the exact curve is nowhere more than" in curve.summary()
    assert curve.crossovers(curve) == []
    assert average_curves([curve, curve]).area() == pytest.approx(curve.area())
    frame = curve.to_frame()
    assert (frame["lower"] <= frame["upper"]).all()
    content = curve.to_dict()
    assert content["width"] == curve.width
    assert len(content["lower"]["breaks"]) == len(content["lower"]["fpr"]) + 1


def test_bad_input():
    with pytest.raises(InputTypeError, match="counts: expected a BinnedScoreCounts, got a list"):
        BinnedCostCurve([1, 2])
    with pytest.raises(InputError, match="counts: a cost curve needs examples of both classes"):
        BinnedCostCurve(BinnedScoreCounts([1], [2], [1], [0]))
