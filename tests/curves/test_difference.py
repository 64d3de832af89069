"""The difference of two classifiers on the same examples, against counting them one by one."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
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

GRID = (np.arange(1000) + 1 / np.pi) / 1000  # no break lies on it
PLACES = np.array([0.0, 0.01, 0.1, 0.25, 0.5, 0.613, 0.9, 0.995, 1.0])
NAMES = ("one", "other")
seeds = st.integers(0, 10**6)


def drawn(seed, n=30, digits=0):
    """Return labels of both classes and two correlated scores with ties, infinite at times."""
    rng = np.random.default_rng(seed)
    y_true = np.append([0, 1], (rng.random(n) < 0.4).astype(int))
    common = y_true + rng.normal(0, 0.7, n + 2)
    scores = [np.round(common + rng.normal(0, 0.7, n + 2), digits) for _ in range(2)]
    for each in scores:
        each[rng.random(n + 2) < 0.03] = np.inf
        each[rng.random(n + 2) < 0.03] = -np.inf
    return y_true, *scores


def difference_of(seed, **options):
    return CostCurveDifference(PairedScoreCounts.from_scores(*drawn(seed, **options)), NAMES)


def alone(difference, examples, pc, weight=None):
    """Count, in each class, the examples on which one of the two alone is wrong at a condition.

    Returns the number of examples and the two counts, for the positives and for the negatives.
    """
    y_true, one, other = examples
    weight = np.ones(len(y_true)) if weight is None else weight
    first, second = (
        (scores >= curve.threshold(pc)) != (y_true == 1)
        for scores, curve in ((one, difference.first), (other, difference.second))
    )
    found = []
    for actual in (1, 0):
        rows = y_true == actual
        n = weight[rows].sum() ** 2 / (weight[rows] ** 2).sum()
        counts = [weight[rows & wrong].sum() for wrong in (first & ~second, second & ~first)]
        found.append((n, *(each * n / weight[rows].sum() for each in counts)))
    return found


def equations(parts, w):
    """Return equations 7 and 8, 12 and 13: with costs such that n·c_max is one unit.

    The paper counts what one of the two alone calls positive: of the positives that is the mistake
    of the other.
    """
    (n_pos, first_missed, second_missed), (n_neg, n1_neg, n2_neg) = parts
    n1_pos, n2_pos = second_missed, first_missed
    seventh = w * (n2_pos - n1_pos) / n_pos + (1 - w) * (n1_neg - n2_neg) / n_neg
    spread_pos = n1_pos + n2_pos - (n1_pos - n2_pos) ** 2 / n_pos
    spread_neg = n1_neg + n2_neg - (n1_neg - n2_neg) ** 2 / n_neg
    eighth = w**2 * spread_pos / n_pos**2 + (1 - w) ** 2 * spread_neg / n_neg**2
    miss, alarm = w / n_pos, (1 - w) / n_neg
    twelfth = miss * (n2_pos - n1_pos) + alarm * (n1_neg - n2_neg)
    between = (miss * (n1_pos - n2_pos) / n_pos + alarm * (n1_neg - n2_neg) / n_neg) ** 2
    between *= n_pos * n_neg / (n_pos + n_neg)
    thirteenth = miss**2 * spread_pos + alarm**2 * spread_neg + between
    return {"stratified": (seventh, eighth), "full": (twelfth, thirteenth)}


def check_moments(difference, examples, weight=None, places=PLACES):
    breaks = difference.pieces.breaks
    apart = np.diff(breaks) > 1e-12  # not rounding of the same number
    places = np.concatenate([places, breaks[1:-1][apart[:-1] & apart[1:]]])
    for sampling in ("stratified", "full"):
        mean, variance = difference.moments(places, sampling=sampling)
        for i, w in enumerate(places):
            expected = equations(alone(difference, examples, w, weight), w)[sampling]
            assert (mean[i], variance[i]) == pytest.approx(expected, abs=1e-12)
    costs = difference.first.cost(places) - difference.second.cost(places)
    assert difference.difference(places) == pytest.approx(costs, abs=1e-14)
    mean, _ = difference.moments(places)
    assert mean == pytest.approx(costs, abs=1e-12)


@given(seeds)
def test_moments_are_equations_7_8_12_and_13_of_examples_counted_one_by_one(seed):
    examples = drawn(seed)
    check_moments(CostCurveDifference.from_scores(*examples, names=NAMES), examples)


def weighted_variances(difference, examples, weight, pc):
    """Return the variances of the weighted means, example by example: stratified and full."""
    y_true, *scores = map(np.asarray, examples)
    wrong = [
        (score >= curve.threshold(pc)) != (y_true == 1)
        for score, curve in zip(scores, (difference.first, difference.second), strict=True)
    ]
    effect = wrong[0].astype(float) - wrong[1]
    stratified = 0.0
    value = np.empty(len(effect))
    for rows, share in ((y_true == 1, pc), (y_true != 1, 1 - pc)):
        w = weight[rows]
        mean = np.average(effect[rows], weights=w)
        stratified += share**2 * (w**2 * (effect[rows] - mean) ** 2).sum() / w.sum() ** 2
        value[rows] = effect[rows] * share * weight.sum() / w.sum()
    mean = np.average(value, weights=weight)
    return stratified, (weight**2 * (value - mean) ** 2).sum() / weight.sum() ** 2


@settings(max_examples=50)
@given(seeds)
def test_with_weights_too(seed):
    """Each example with its own weight, as in the variance of any weighted mean."""
    examples = drawn(seed)
    weight = np.random.default_rng(seed).choice([0.1, 0.3, 1.0, 2.7], len(examples[0]))
    difference = CostCurveDifference.from_scores(*examples, sample_weight=weight)
    for i, sampling in enumerate(("stratified", "full")):
        mean, variance = difference.moments(PLACES, sampling=sampling)
        assert mean == pytest.approx(difference.difference(PLACES), abs=1e-12)
        expected = [weighted_variances(difference, examples, weight, pc)[i] for pc in PLACES]
        assert variance == pytest.approx(expected, abs=1e-12)


@settings(max_examples=25)
@given(seeds)
def test_frames_of_any_kind_are_counted_alike(seed):
    y_true, one, other = drawn(seed)
    table = {"actual": y_true, "one": one, "other": other}
    columns = {"actual": "actual", "score": ("one", "other")}
    for frame in (pd.DataFrame(table), pl.DataFrame(table), pl.LazyFrame(table)):
        difference = CostCurveDifference(PairedScoreCounts.from_frame(frame, **columns))
        check_moments(difference, (y_true, one, other))


@settings(max_examples=50)
@given(seeds)
def test_at_thresholds_selected_on_other_examples_too(seed):
    examples = drawn(seed)
    validation = PairedScoreCounts.from_scores(*drawn(seed + 1))
    difference = CostCurveDifference.from_scores(*examples).select(validation)
    assert difference.chosen_on == "validation examples"
    assert (difference.first.thresholds == CostCurve(validation.first).thresholds).all()
    check_moments(difference, examples, places=PLACES[:-1])


@settings(max_examples=25)
@given(seeds)
def test_selected_thresholds_are_those_of_the_curves_at_the_very_end_too(seed):
    """Where only misses cost, the piece on which all validation examples are called positive."""
    validation = PairedScoreCounts.from_scores(*drawn(seed + 1))
    difference = CostCurveDifference.from_scores(*drawn(seed)).select(validation)
    for pc in (0.0, 1.0):
        apart = difference.first.cost(pc) - difference.second.cost(pc)
        assert difference.difference(pc) == pytest.approx(apart, abs=1e-14)


@given(st.lists(st.integers(0, 50), min_size=8, max_size=8))
def test_moments_of_decisions_are_those_equations_too(cells):
    counts = np.array(cells).reshape(2, 2, 2)
    if not counts.sum(axis=(0, 1)).all():
        return
    difference = CostCurveDifference(PairedConfusion(counts, labels=[0, 1]))
    negatives, positives = counts.sum(axis=(0, 1)).astype(float)
    parts = [
        (positives, counts[0, 1, 1], counts[1, 0, 1]),
        (negatives, counts[1, 0, 0], counts[0, 1, 0]),
    ]
    parts = [tuple(map(float, part)) for part in parts]
    for sampling in ("stratified", "full"):
        mean, variance = difference.moments(PLACES, sampling=sampling)
        for i, w in enumerate(PLACES):
            expected = equations(parts, w)[sampling]
            assert (mean[i], variance[i]) == pytest.approx(expected, abs=1e-12)


def test_decisions_may_have_any_names_and_order():
    counts = np.array([[[30, 2], [3, 4]], [[5, 6], [1, 40]]])
    plain = CostCurveDifference(PairedConfusion(counts, labels=[0, 1]))
    named = CostCurveDifference(
        PairedConfusion(counts, labels=["no", "yes"]), NAMES, pos_label="yes"
    )
    turned = CostCurveDifference(
        PairedConfusion(counts[::-1, ::-1, ::-1], labels=["yes", "no"]), NAMES, pos_label="yes"
    )
    mixed = CostCurveDifference(
        PairedConfusion(counts[::-1, ::-1], labels=["no", "yes"], decisions=["yes", "no"]),
        NAMES,
        pos_label="yes",
    )
    for other in (named, turned, mixed):
        for mine, theirs in zip(plain.moments(PLACES), other.moments(PLACES), strict=True):
            assert mine == pytest.approx(theirs, abs=1e-15)
    assert isinstance(plain.first, CostLine)
    assert plain.chosen_on == ""
    assert (plain.first.positives, plain.first.negatives) == (52, 39)


def test_weighted_decisions():
    y_true, one, other = [0, 0, 0, 1, 1], [0, 1, 0, 1, 0], [0, 0, 1, 1, 1]
    weight = [1.0, 2.0, 3.0, 1.0, 3.0]
    paired = PairedConfusion.from_labels(y_true, one, other, sample_weight=weight)
    difference = CostCurveDifference(paired)
    mean, variance = difference.moments([0.3])
    # Of the positives the first alone misses 3 of 4; of the negatives it alarms alone for 2 of 6,
    # the second for 3 of 6.
    positives = (1**2 * (0 - 0.75) ** 2 + 3**2 * (1 - 0.75) ** 2) / 16
    negatives = (1**2 * (1 / 6) ** 2 + 2**2 * (7 / 6) ** 2 + 3**2 * (-5 / 6) ** 2) / 36
    assert mean[0] == pytest.approx(0.3 * 0.75 - 0.7 / 6)
    assert variance[0] == pytest.approx(0.09 * positives + 0.49 * negatives)


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


@settings(max_examples=40)
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
        "With 90 % confidence for all PC(+) at once, one and other are undecided everywhere."
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
        "With 90 % confidence at each PC(+) by itself, one is cheaper for PC(+) > "
        f"{place:.4g}, undecided elsewhere."
    )


def check_ranges(difference, method, **options):
    """Compare the verdicts with the band at many conditions."""
    options = {"simultaneous": False} | options
    found = difference.significant_ranges(0.8, method, **options)
    band = difference.band(0.8, method=method, pc=GRID, **options)
    edges = np.array([each.low for each in found.ranges[1:]])
    for low, high, cheaper in found.ranges:
        inside = (low + 1e-6 < GRID) & (high - 1e-6 > GRID)
        below, above = (band.high < 0)[inside], (band.low > 0)[inside]
        expected = {"one": below, "other": above, None: ~below & ~above}[cheaper]
        assert expected.mean() > 0.97 if expected.size else True  # the search may step over some
    assert (np.diff(edges) > 0).all()
    assert found.ranges[0].low == 0
    assert found.ranges[-1].high == 1


@settings(max_examples=10)
@given(seeds, st.sampled_from(["mover", "wilson", "gaussian"]))
def test_significant_ranges_are_where_the_band_leaves_out_zero(seed, method):
    check_ranges(difference_of(seed, n=80, digits=1), method)


def test_significant_ranges_take_all_options():
    difference = difference_of(3, n=200, digits=1)
    check_ranges(difference, "mover", sampling="full")
    check_ranges(difference, "mover", simultaneous=True)
    check_ranges(difference, "mover", weight=1)
    check_ranges(difference_of(2), "exact")
    strict, loose = (difference.significant_ranges(simultaneous=each) for each in (True, False))
    lengths = [
        sum(high - low for low, high, cheaper in each.ranges if cheaper) for each in (strict, loose)
    ]
    assert lengths[0] <= lengths[1]


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
    assert text.startswith("With 90 % confidence for all PC(+) at once, ")
    assert text.endswith(" Thresholds were chosen on the same examples.")
    assert repr(difference) == f"CostCurveDifference: {difference.summary()}"
    html = difference._repr_html_()
    assert html.count("<tr>") == 12
    assert "nan" not in html
    assert not difference.band().frame().isna().any().any()


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
            "y_score_1: expected numbers, got NaN at row 1",
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
    counts[..., 0] = [[690, 270], [10, 30]]  # and they alarm alone for 10 and for 270
    difference = CostCurveDifference(PairedConfusion(times * counts, labels=[0, 1]), NAMES)
    (crossing,) = difference.crossovers()
    found = difference.significant_ranges()
    assert [each.cheaper for each in found.ranges] == ["one", None, "other"]
    assert found.ranges[1].low < crossing < found.ranges[1].high
