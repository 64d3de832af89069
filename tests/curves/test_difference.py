"""The difference of two classifiers' cost curves on the same examples."""

import pickle

import numpy as np
import pytest
from _helpers.paired_examples import GRID, NAMES, PLACES, difference_of, drawn, seeds
from hypothesis import given
from hypothesis import strategies as st

from stakes import (
    Confusion,
    CostCurve,
    CostCurveDifference,
    CostLine,
    PairedConfusion,
    PairedScoreCounts,
    ScoreCounts,
)
from stakes.errors import InputError, InputTypeError, LabelError, StakesError


@given(seeds)
def test_swapping_the_two_negates_everything(seed):
    paired = PairedScoreCounts.from_scores(*drawn(seed))
    one, other = CostCurveDifference(paired), CostCurveDifference(paired.swapped())
    assert (one.difference(GRID) == -other.difference(GRID)).all()
    assert one.area() == pytest.approx(-other.area(), abs=1e-15)
    for method in ("mover", "wilson", "gaussian"):
        band, swapped = (each.band(method=method, pc=PLACES) for each in (one, other))
        assert band.cost == pytest.approx(-swapped.cost, abs=1e-14)
        assert band.low == pytest.approx(-swapped.high, abs=1e-10)
        assert band.high == pytest.approx(-swapped.low, abs=1e-10)
    for mine, theirs in zip(one.moments(PLACES), other.moments(PLACES), strict=True):
        assert np.abs(mine) == pytest.approx(np.abs(theirs), abs=1e-14)


@given(seeds, st.booleans())
def test_identical_scorers_differ_by_exactly_nothing(seed, weighted):
    y_true, scores, _ = drawn(seed)
    weight = np.random.default_rng(seed).random(len(y_true)) + 0.1 if weighted else None
    difference = CostCurveDifference.from_scores(y_true, scores, scores, sample_weight=weight)
    assert (difference.difference(GRID) == 0).all()
    mean, variance = difference.moments()
    assert (mean == 0).all()
    assert (variance == 0).all()
    band = difference.band()
    assert (band.cost == 0).all()
    assert ((band.low < 0) & (band.high > 0)).all()
    assert difference.crossovers() == []
    assert difference.significant_ranges().in_words() == (
        "the first and the second are undecided everywhere."
    )
    assert difference.area() == 0


def test_scores_on_other_scales_make_no_difference():
    y_true, one, other = drawn(8, digits=1)
    plain = CostCurveDifference.from_scores(y_true, one, other)
    scaled = CostCurveDifference.from_scores(y_true, one, np.exp(np.clip(other, -20, 20)))
    assert plain.band().low == pytest.approx(scaled.band().low)


def paired_decisions(first_alone, second_alone, both_wrong, n=200):
    """Return decisions with so many mistakes among n positives and among n negatives."""
    counts = np.zeros((2, 2, 2), dtype=int)
    for actual in (0, 1):
        wrong = 1 - actual
        counts[wrong, actual, actual] = first_alone
        counts[actual, wrong, actual] = second_alone
        counts[wrong, wrong, actual] = both_wrong
        counts[actual, actual, actual] = n - first_alone - second_alone - both_wrong
    return CostCurveDifference(PairedConfusion(counts, labels=[0, 1]), NAMES)


def test_the_more_alike_two_classifiers_decide_the_narrower_the_band():
    """Figures 13 and 14: the same two confusion matrices, more and less correlated."""
    alike, unlike = paired_decisions(2, 12, 40), paired_decisions(42, 52, 0)
    assert alike.first == unlike.first
    assert alike.second == unlike.second
    assert (alike.difference(GRID) == unlike.difference(GRID)).all()
    for method in ("mover", "wilson", "gaussian"):
        narrow, wide = (each.band(0.9, method=method) for each in (alike, unlike))
        assert (narrow.high - narrow.low < wide.high - wide.low).all()
        assert alike.significant_ranges(0.9, method, simultaneous=False).where("one") == ((0, 1),)
        assert unlike.significant_ranges(0.9, method, simultaneous=False).where("one") == ()
    assert unlike.significant_ranges(0.9).summary() == (
        "With 90% confidence for all PC(+) at once, one and other are undecided everywhere."
    )


def one_sided():
    """Return decisions that differ in the positives, and in the negatives hardly."""
    counts = np.zeros((2, 2, 2), dtype=int)
    counts[..., 1] = [[30, 5], [40, 125]]  # positives: the second alone misses 40, the first 5
    counts[..., 0] = [[130, 30], [30, 10]]
    return CostCurveDifference(PairedConfusion(counts, labels=[0, 1]), NAMES)


def test_significance_may_hold_on_one_side_only():
    """As in Figure 15."""
    difference = one_sided()
    found = difference.significant_ranges(0.9, simultaneous=False)
    ((place, end),) = found.where("one")
    assert end == 1
    assert 0.1 < place < 0.6
    assert found.where("other") == ()
    before, after = difference.band(0.9, pc=[place - 1e-6, place + 1e-6]).high
    assert before > 0 > after
    assert found.summary() == (
        "With 90% confidence at each PC(+) by itself, one is cheaper for PC(+) > "
        f"{place:.4g}, undecided elsewhere."
    )


def test_drawing_with_a_generator_gives_one_verdict_for_each_condition():
    difference = paired_decisions(10, 24, 30)
    one, other = (
        difference.significant_ranges(
            method="bootstrap", simultaneous=False, rng=np.random.default_rng(5)
        )
        for _ in range(2)
    )
    assert one == other


@pytest.mark.parametrize("rng", [None, 3])
def test_drawing_without_a_generator_does_not_break_ranges_into_splinters(rng):
    for _ in range(3):
        found = one_sided().significant_ranges(0.9, "bootstrap", simultaneous=False, rng=rng)
        assert len(found.ranges) <= 3
        assert found.ranges[-1].cheaper == "one"


def test_who_is_cheaper_and_where_they_cross_is_as_of_the_two_curves():
    difference = difference_of(11)
    assert difference.cheaper_ranges() == difference.first.cheaper_ranges(difference.second)
    assert difference.crossovers() == difference.first.crossovers(difference.second)
    assert (difference.first.name, difference.second.name) == NAMES
    y_true, one, other = drawn(11)
    assert difference.first == CostCurve.from_scores(y_true, one, name="one")
    assert difference.second == CostCurve.from_scores(y_true, other, name="other")


def test_equal_weights_change_nothing():
    y_true, one, other = drawn(4)
    plain = CostCurveDifference.from_scores(y_true, one, other)
    for weight in (1.0, 3.0):
        weighted = CostCurveDifference.from_scores(
            y_true, one, other, sample_weight=np.full(len(y_true), weight)
        )
        for method in ("mover", "gaussian", "wilson"):
            mine, theirs = plain.band(method=method), weighted.band(method=method)
            assert mine.low == pytest.approx(theirs.low, abs=1e-12)
            assert mine.high == pytest.approx(theirs.high, abs=1e-12)


def test_pickling_equality_and_what_is_shown():
    difference = difference_of(6)
    difference.band()
    copy = pickle.loads(pickle.dumps(difference))  # noqa: S301 - made here
    assert copy == difference
    assert copy.band() == difference.band()
    assert difference != difference_of(7)
    content = difference.to_dict()
    assert content["names"] == list(NAMES)
    assert content["area"] == difference.area()
    assert content["band"]["low"] == difference.band().low.tolist()
    assert content["crossovers"] == difference.crossovers()
    assert "nan" not in repr(content)
    text = difference.summary(0.9)
    assert text.startswith("With 90% confidence for all PC(+) at once, ")
    assert text.endswith(" Thresholds were chosen on the same examples.")
    assert repr(difference) == f"CostCurveDifference: {difference.summary()}"
    html = difference._repr_html_()
    assert html.count("<tr>") == 12
    assert "nan" not in html
    assert not difference.band().to_frame().isna().any().any()


def test_type_of_a_difference_at_one_or_several_conditions():
    difference = difference_of(6)
    assert type(difference.difference(0.5)) is float
    assert difference.difference([0.5, 0.6]).shape == (2,)


PAIRED = PairedScoreCounts.from_scores([0, 1, 1, 0], [1, 2, 3, 4], [4, 3, 2, 1])
DECIDED = PairedConfusion(np.ones((2, 2, 2), dtype=int), labels=[0, 1])


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: CostCurveDifference(CostLine(0.1, 0.2), CostLine(0.2, 0.3)),
            InputTypeError,
            "counts: expected PairedScoreCounts, or a PairedConfusion, because .* got a CostLine",
        ),
        (
            lambda: CostCurveDifference((PAIRED.first, PAIRED.second)),
            InputTypeError,
            r"got a tuple\. Make one with PairedScoreCounts\.from_scores",
        ),
        (
            lambda: CostCurveDifference(Confusion([[1, 2], [3, 4]], labels=[0, 1])),
            InputTypeError,
            "counts: expected PairedScoreCounts.*got a Confusion",
        ),
        (
            lambda: CostCurveDifference(PAIRED, ("a", "a")),
            InputError,
            r"names: expected two different names, got \('a', 'a'\)",
        ),
        (lambda: CostCurveDifference(PAIRED, ("a",)), InputError, "names: expected two different"),
        (lambda: CostCurveDifference(PAIRED, None), InputError, "names: expected two different"),
        (lambda: CostCurveDifference(PAIRED, "ab"), InputError, "names: expected two different"),
        (
            lambda: CostCurveDifference(
                PairedScoreCounts.from_scores([1, 1], [1, 2], [3, 4], neg_label=0)
            ),
            InputError,
            "a cost curve needs examples of both classes, there are none of 0",
        ),
        (
            lambda: CostCurveDifference(PAIRED).select(PAIRED.first),
            InputTypeError,
            "validation_counts: expected a PairedScoreCounts, got a ScoreCounts",
        ),
        (
            lambda: CostCurveDifference(DECIDED).select(PAIRED),
            InputTypeError,
            "validation_counts: decisions have no thresholds to choose",
        ),
        (
            lambda: CostCurveDifference(PAIRED).select(
                PairedScoreCounts.from_scores(["a", "b"], [1, 2], [1, 2], pos_label="a")
            ),
            LabelError,
            "validation_counts: its classes are",
        ),
        (
            lambda: CostCurveDifference(
                PairedConfusion(np.ones((3, 3, 3), dtype=int), labels=[0, 1, 2])
            ),
            LabelError,
            "exactly two classes are needed, got 3",
        ),
        (
            lambda: CostCurveDifference(
                PairedConfusion([[[1, 0], [1, 0]], [[1, 0], [1, 0]]], labels=[0, 1])
            ),
            InputError,
            "no example is 1, so its rates are not defined",
        ),
        (
            lambda: CostCurveDifference(DECIDED, pos_label="yes"),
            LabelError,
            "pos_label: expected one of 0, 1, got 'yes'",
        ),
        (
            lambda: CostCurveDifference.from_scores([0, 1], [1, np.nan], [1, 2]),
            InputError,
            "y_score_1: expected numbers, got NaN at position 1",
        ),
        (
            lambda: CostCurveDifference(PAIRED).difference(1.5),
            InputError,
            r"between 0 and 1; got 1\.5",
        ),
        (
            lambda: CostCurveDifference(PAIRED).significant_ranges(95),
            InputError,
            "confidence: expected a number between 0 and 1",
        ),
        (
            lambda: CostCurveDifference(PAIRED).significant_ranges(method="magic"),
            InputError,
            "method: expected one of",
        ),
        (
            lambda: CostCurveDifference(PAIRED).significant_ranges(sampling="magic"),
            InputError,
            "sampling: expected one of",
        ),
        (
            lambda: CostCurveDifference(PAIRED).significant_ranges(weights=2),
            InputTypeError,
            "weights: the method 'mover' has no such option",
        ),
        (
            lambda: CostCurveDifference(PAIRED).band(method="exact", simultaneous=True),
            InputError,
            "simultaneous: bands by 'exact' are for one operating condition at a time",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_every_error_is_one_of_ours():
    with pytest.raises(StakesError, match="y_score_2"):
        CostCurveDifference.from_scores([0, 1], [1, 2], [1, "high"])
    assert isinstance(PAIRED.first, ScoreCounts)


@pytest.mark.parametrize("times", [1, 10**4, 10**7])
def test_between_two_opposite_verdicts_there_is_room_for_doubt(times):
    """However many examples there are, and however narrow the band."""
    counts = np.zeros((2, 2, 2), dtype=np.int64)
    counts[..., 1] = [[150, 500], [100, 250]]  # the first alone misses 500 of 1000, the second 100
    counts[..., 0] = [[690, 270], [10, 30]]  # alone, the first has 10 false alarms, the second 270
    difference = CostCurveDifference(PairedConfusion(times * counts, labels=[0, 1]), NAMES)
    (crossing,) = difference.crossovers()
    found = difference.significant_ranges()
    assert [each.cheaper for each in found.ranges] == ["one", None, "other"]
    assert found.ranges[1].low < crossing < found.ranges[1].high
