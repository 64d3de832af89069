"""The cost curve of a scorer: area, ranges, costs in money, and selected thresholds."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from sklearn.isotonic import IsotonicRegression

from stakes import CostCurve, CostLine, CostMatrix, ScoreCounts, expected_cost
from stakes.curves import operating_condition, roc_hull
from stakes.errors import InputError, InputTypeError, LabelError

GRID = (np.arange(1000) + 1 / np.pi) / 1000  # contains no breakpoint of a curve
seeds = st.integers(0, 10**6)


def drawn(seed, n=40, digits=0, skill=1.0, prevalence=0.4):
    """Return labels of both classes, and scores that tie often and are infinite at times."""
    rng = np.random.default_rng(seed)
    y_true = (rng.random(n) < prevalence).astype(int)
    y_true[:2] = [0, 1]
    y_score = np.round(skill * y_true + rng.normal(0, 1, n), digits)
    y_score[rng.random(n) < 0.03] = np.inf
    y_score[rng.random(n) < 0.03] = -np.inf
    return y_true, y_score


def curve_of(seed, name="", **options):
    return CostCurve.from_scores(*drawn(seed, **options), name=name)


def inside(ranges, pc):
    return np.any([(low < pc) & (pc < high) for low, high in ranges], axis=0)


def test_the_seven_questions_have_answers_for_one_scorer():
    y_true = [0, 0, 0, 1, 0, 1, 1, 0, 1, 1]
    y_score = [0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    curve = CostCurve.from_scores(y_true, y_score, name="model")
    # Thresholds that matter, by hand: 0.8 (no alarm, three misses), 0.5 and 0.35.
    assert curve.cost(0.1) == pytest.approx(0.1 * 3 / 5)
    assert curve.threshold(0.1) == 0.8
    assert curve.cost(0.4) == pytest.approx(0.4 * 1 / 5 + 0.6 * 1 / 5)
    assert curve.threshold(0.4) == 0.5
    assert curve.cost(0.9) == pytest.approx(0.1 * 2 / 5)
    assert curve.threshold([0.1, 0.9]).tolist() == [0.8, 0.35]
    assert type(curve.cost(0.4)) is type(curve.threshold(0.4)) is float
    assert curve.chosen_on == "the same examples"


def test_nothing_can_be_called_positive_whatever_the_scores():
    """A score of infinity took the place of the threshold that does so: the cost was .91."""
    curve = CostCurve.from_scores([0, 1], [np.inf, 0.5])
    assert curve.cost(0.09) == pytest.approx(0.09)
    assert curve.threshold(0.09) == np.inf
    assert curve.line(np.inf).cost(0.09) == pytest.approx(0.09)
    assert "calling nothing positive" in curve.at(0.09).summary()
    fpr, tpr, thresholds = curve.points()
    assert (fpr.tolist(), tpr.tolist(), thresholds[0]) == ([0, 1, 1], [0, 0, 1], np.inf)
    assert roc_hull(curve).fpr[0] == 0
    everything = CostCurve.from_scores([0, 1], [0.5, -np.inf])
    assert everything.cost(0.91) == pytest.approx(0.09)


@given(seeds)
def test_the_area_is_the_integral_of_the_costs(seed):
    curve = curve_of(seed)
    breaks = np.unique(curve.pieces.breaks)
    total = sum(quad(curve.cost, low, high)[0] for low, high in pairwise(breaks))
    assert curve.area() == pytest.approx(total, abs=1e-10)


@given(seeds)
def test_the_area_is_the_brier_score_of_calibrated_scores(seed):
    """If both classes weigh the same: Hernández-Orallo, Flach & Ferri (2012)."""
    y_true, y_score = drawn(seed)
    y_score = np.clip(y_score, -99, 99)
    weight = np.where(y_true, 0.5 / y_true.sum(), 0.5 / (1 - y_true).sum())
    fit = IsotonicRegression().fit(y_score, y_true, sample_weight=weight)
    brier = weight @ (y_true - fit.predict(y_score)) ** 2
    assert CostCurve.from_scores(y_true, y_score).area() == pytest.approx(brier, abs=1e-12)


@given(seeds)
def test_an_envelope_is_concave_and_under_the_constant_predictions(seed):
    y_true, y_score = drawn(seed)
    curve = CostCurve.from_scores(y_true, np.clip(y_score, -99, 99))
    cost = curve.cost(np.linspace(0, 1, 301))
    assert (np.diff(cost, 2) < 1e-12).all()
    assert (cost <= np.minimum(np.linspace(0, 1, 301), np.linspace(1, 0, 301)) + 1e-15).all()
    assert cost[[0, -1]].tolist() == [0, 0]


@given(seeds, st.floats(-1, 1))
def test_the_operating_range_is_where_it_beats_both_constant_predictions(seed, skill):
    for curve in (curve_of(seed, skill=skill), curve_of(seed).select(curve_of(seed + 1).counts)):
        beats = curve.cost(GRID) < np.minimum(GRID, 1 - GRID) - 1e-12
        assert (beats == inside(curve.operating_range(), GRID)).all()


def test_constant_scores_have_no_operating_range():
    curve = CostCurve.from_scores([0, 1, 1, 0, 1], [7] * 5)
    assert curve.operating_range() == ()
    assert curve.area() == 0.25
    assert "the curve is nowhere below the constant predictions" in curve.summary()
    assert curve.threshold([0.2, 0.8]).tolist() == [np.inf, 7]


@given(seeds)
def test_ranges_and_crossovers_are_those_of_a_dense_grid(seed):
    one, other = curve_of(seed, name="one", digits=1), curve_of(seed + 1, name="other", digits=1)
    found = one.cheaper_ranges(other)
    gap = one.cost(GRID) - other.cost(GRID)
    assert (inside(found.where("one"), GRID) == (gap < -1e-13)).all()
    assert (inside(found.where("other"), GRID) == (gap > 1e-13)).all()
    winners = [each.cheaper for each in found.ranges if each.cheaper]
    assert sum(a != b for a, b in pairwise(winners)) <= len(one.crossovers(other))
    for place in one.crossovers(other):
        assert one.cost(place) == pytest.approx(other.cost(place), abs=1e-12)
    back = other.cheaper_ranges(one)
    assert [each.cheaper for each in back.ranges] == [each.cheaper for each in found.ranges]


def test_all_crossovers_are_found_and_not_only_one():
    # Good at the top, bad at the bottom; and the reverse.
    one = CostLine(0.1, 0.5, name="one")
    several = CostCurve(ScoreCounts([3, 2, 1], [40, 50, 10], [0, 50, 50]), name="several")
    grid = np.linspace(0, 1, 10**5)
    gap = one.cost(grid) - several.cost(grid)
    changes = grid[1:][np.sign(gap[1:]) * np.sign(gap[:-1]) < 0]
    assert len(changes) == len(one.crossovers(several))
    assert one.crossovers(several) == pytest.approx(changes, abs=2e-5)


def test_curves_that_part_and_meet_again_do_not_cross():
    """Both begin and end as the constant predictions do; in between one is always cheaper."""
    good = CostCurve(ScoreCounts([3, 2, 1], [10, 80, 10], [0, 10, 90]), name="good")
    bad = CostCurve(ScoreCounts([3, 2, 1], [10, 60, 30], [0, 30, 70]), name="bad")
    assert {each.cheaper for each in good.cheaper_ranges(bad).ranges} == {None, "good"}
    assert good.crossovers(bad) == []


def test_a_curve_is_never_cheaper_than_itself():
    curve = curve_of(3, name="model")
    found = curve.cheaper_ranges(curve)
    assert [tuple(each) for each in found.ranges] == [(0, 1, None)]
    assert found.names == ("model (1)", "model (2)")
    assert curve.crossovers(curve) == []


@given(seeds, st.floats(0.01, 0.99), st.floats(0.1, 50), st.floats(0.1, 50))
def test_money_is_what_the_best_threshold_costs(seed, prevalence, alarm, miss):
    """By `expected_cost` of each threshold's decisions, reweighted to the prevalence."""
    curve = curve_of(seed)
    given_ = {"prevalence": prevalence, "false_positive": alarm, "false_negative": miss}
    costs = CostMatrix.from_errors(false_positive=alarm, false_negative=miss)
    cheapest = np.inf
    for threshold in (*curve.counts.thresholds, np.inf):
        confusion = curve.counts.confusion_at(threshold)
        shares = confusion.counts / confusion.class_counts * [1 - prevalence, prevalence]
        cheapest = min(cheapest, expected_cost(type(confusion)(shares, [0, 1]), costs))
    assert curve.money(**given_, volume=1000) == pytest.approx(1000 * cheapest)
    answer = curve.at(**given_, volume=1000)
    assert answer.cost == pytest.approx(1000 * cheapest)
    assert answer.pc == operating_condition(**given_)
    assert answer.threshold == curve.threshold(answer.pc)
    band = curve.band(pc=[answer.pc])
    assert answer.limits == pytest.approx((band.low[0] * answer.scale, band.high[0] * answer.scale))
    constant = min(prevalence * miss, (1 - prevalence) * alarm)
    assert answer.constant == pytest.approx(1000 * constant)


def test_money_takes_several_conditions():
    curve = curve_of(1)
    both = curve.money(prevalence=[0.1, 0.2], false_positive=1, false_negative=8)
    assert both.tolist() == [
        curve.money(prevalence=share, false_positive=1, false_negative=8) for share in (0.1, 0.2)
    ]


def test_the_answer_at_a_condition_reads_well():
    curve = CostCurve.from_scores([0, 1, 0, 1], [1, 4, 3, 2], name="model")
    text = curve.at(0.75, confidence=0.9).summary()
    assert text.startswith("At PC(+) = 0.75 model costs 0.125 of what being always wrong would (")
    assert "with 90% confidence), calling positive what scores 2 or more" in text
    assert text.endswith("; calling all positive costs 0.25.")
    money = curve.at(prevalence=0.25, false_positive=1, false_negative=9, volume=2000)
    assert " for 2,000 decisions" in money.summary()
    assert money.to_dict()["volume"] == 2000
    assert "<table>" in money._repr_html_()
    assert repr(money) == money.summary()
    exact = curve.at(0.75, method="exact", sampling="full")
    assert exact.limits != curve.at(0.75).limits


def test_where_nothing_is_called_positive_the_answer_does_not_speak_of_infinite_scores():
    curve = CostCurve.from_scores([1, 1, 0, 0], [1, 2, 3, 4])
    answer = curve.at(0.3)
    assert answer.threshold == np.inf
    assert "inf" not in answer.summary()


def test_a_negative_volume_is_an_error():
    curve = curve_of(0)
    given_ = {"prevalence": 0.1, "false_positive": 1, "false_negative": 2}
    with pytest.raises(InputError, match="volume"):
        curve.money(**given_, volume=-3)
    with pytest.raises(InputError, match="volume"):
        curve.at(**given_, volume=-3)


# Thresholds chosen on other examples


@given(seeds)
def test_selected_thresholds_are_the_best_of_the_validation_examples(seed):
    """Costs are those of the test examples, by brute force over both."""
    y_true, y_score = drawn(seed)
    others, other_scores = drawn(seed + 1)
    validation = ScoreCounts.from_scores(others, other_scores)
    curve = CostCurve.from_scores(y_true, y_score).select(validation)
    y_score = np.nan_to_num(y_score)
    assert curve.chosen_on == "validation examples"
    for pc in GRID[::40]:
        threshold = curve.threshold(pc)
        missed = ((y_true == 1) & (y_score < threshold)).sum() / (y_true == 1).sum()
        alarmed = ((y_true == 0) & (y_score >= threshold)).sum() / (y_true == 0).sum()
        assert curve.cost(pc) == pytest.approx(pc * missed + (1 - pc) * alarmed, abs=1e-14)
        assert curve.cost(pc) == curve.line(threshold).cost(pc)
        best = CostCurve(validation)
        assert best.line(threshold).cost(pc) == pytest.approx(best.cost(pc), abs=1e-14)
    assert (curve.cost(GRID) >= CostCurve(curve.counts).cost(GRID) - 1e-14).all()


def test_selecting_on_the_same_examples_changes_nothing_but_the_label():
    curve = curve_of(5)
    same = curve.select(curve.counts)
    assert same.pieces == curve.pieces
    assert (same.thresholds == curve.thresholds).all()
    assert same != curve
    assert "thresholds chosen on validation examples" in same.summary()


def test_a_selected_curve_may_be_worse_than_the_constant_predictions():
    good = ScoreCounts.from_scores([0, 0, 1, 1], [1, 2, 3, 4])
    reversed_ = CostCurve.from_scores([1, 1, 0, 0], [1, 2, 3, 4]).select(good)
    assert reversed_.cost(0.5) == 1
    assert reversed_.operating_range() == ()
    assert reversed_.band(pc=[0.5]).high[0] == 1


def test_a_selected_curve_may_have_several_operating_ranges():
    # On validation 3 is best for low PC(+), 2 in the middle, 1 for high; on test 2 is bad.
    validation = ScoreCounts([3, 2, 1, 0], [50, 40, 10, 0], [5, 15, 30, 50])
    test = ScoreCounts([3, 2, 1, 0], [50, 0, 50, 0], [5, 60, 0, 35])
    curve = CostCurve(test).select(validation)
    ranges = curve.operating_range()
    assert len(ranges) == 2
    assert (inside(ranges, GRID) == (curve.cost(GRID) < np.minimum(GRID, 1 - GRID))).all()
    assert " and " in curve.summary()


# Weights, classes, results


def test_weights_of_one_change_nothing():
    y_true, y_score = drawn(7)
    plain = CostCurve.from_scores(y_true, y_score)
    for weight in (1.0, 3.0):
        weighted = CostCurve.from_scores(y_true, y_score, sample_weight=[weight] * len(y_true))
        for method in ("mover", "wilson", "gaussian"):
            one, other = plain.band(method=method), weighted.band(method=method)
            assert np.allclose(one.low, other.low, atol=1e-12)
            assert np.allclose(one.high, other.high, atol=1e-12)


def test_unequal_weights_count_for_fewer_examples():
    y_true = np.array([0] * 50 + [1] * 50)
    y_score = np.arange(100.0) % 50
    weight = np.where(np.arange(100) % 2, 1.0, 3.0)
    curve = CostCurve.from_scores(y_true, y_score, sample_weight=weight)
    mean, variance = curve.moments([0.0, 0.3, 0.8])
    n = 100**2 / (25 * 1 + 25 * 9)  # Kish: (Σw)²/Σw² of each class
    missed, alarmed = (
        1 - np.array([curve.line(curve.threshold(pc)).tpr for pc in (0.0, 0.3, 0.8)]),
        np.array([curve.line(curve.threshold(pc)).fpr for pc in (0.0, 0.3, 0.8)]),
    )
    w = np.array([0.0, 0.3, 0.8])
    assert mean == pytest.approx(w * missed + (1 - w) * alarmed, abs=1e-12)
    expected = w**2 * missed * (1 - missed) / n + (1 - w) ** 2 * alarmed * (1 - alarmed) / n
    assert variance == pytest.approx(expected, abs=1e-12)


@given(seeds)
def test_where_everything_is_called_positive_no_weight_is_missed(seed):
    """Sums of weights in another order must not leave a trace of a missed example."""
    rng = np.random.default_rng(seed)
    y_true, y_score = drawn(seed, n=300, digits=1)
    weighted = CostCurve.from_scores(y_true, y_score, sample_weight=rng.random(300) + 0.1)
    assert weighted.cost(1) == 0
    assert (weighted.pieces.right >= 0).all()
    other = curve_of(seed, n=300, digits=1)
    assert all(high - low > 1e-9 for low, high, _ in weighted.cheaper_ranges(other).ranges)


def test_classes_may_have_any_names():
    curve = CostCurve.from_scores(["ham", "spam", "ham"], [1, 2, 3], pos_label="spam")
    number = CostCurve.from_scores([0, 1, 0], [1, 2, 3])
    assert curve.pieces == number.pieces
    swapped = CostCurve.from_scores([1, 0, 1], [-1, -2, -3])
    assert np.allclose(swapped.cost(GRID), number.cost(1 - GRID))


def test_one_versus_rest_is_one_curve_for_each_class():
    rng = np.random.default_rng(0)
    labels = ["b", "a", "c"]
    y_true = rng.choice(labels, 60)
    proba = rng.dirichlet([1, 2, 3], 60)
    weight = rng.random(60)
    curves = CostCurve.one_versus_rest(y_true, proba, labels=labels, sample_weight=weight)
    assert list(curves) == labels
    for j, label in enumerate(labels):
        alone = CostCurve.from_scores(y_true == label, proba[:, j], sample_weight=weight)
        assert curves[label].pieces == alone.pieces
        assert curves[label].name == f"{label} against the rest"


def test_one_versus_rest_names_the_class_that_is_absent():
    with pytest.raises(LabelError, match="'c'"):
        CostCurve.one_versus_rest(
            ["a", "b"], [[0.5, 0.2, 0.3], [0.1, 0.2, 0.7]], labels=["a", "b", "c"]
        )


def test_pickling_equality_and_what_is_shown():
    curve = curve_of(2, name="<model>")
    curve.band()
    copy = pickle.loads(pickle.dumps(curve))  # noqa: S301 - made here
    assert copy == curve
    assert hash(copy) == hash(curve)
    assert copy.pieces == curve.pieces
    assert curve != curve_of(2)
    content = curve.to_dict()
    assert content["area"] == curve.area()
    assert [float(each) for each in content["thresholds"]] == curve.thresholds.tolist()
    assert np.isfinite([*content["breaks"], *content["fpr"], *content["tpr"]]).all()
    assert "&lt;model&gt;" in curve._repr_html_()
    assert repr(curve).startswith("CostCurve: The area under the cost curve of <model> is ")


def test_an_answer_and_a_band_can_be_pickled():
    curve = curve_of(2)
    for made in (curve.at(0.2), curve.band()):
        assert pickle.loads(pickle.dumps(made)) == made  # noqa: S301 - made here


@given(seeds)
def test_moments_are_equations_4_5_9_and_10(seed):
    y_true, y_score = drawn(seed)
    curve = CostCurve.from_scores(y_true, y_score)
    w = np.array([0.0, 0.01, 0.3, 0.5, 0.77, 1.0])
    called = [np.nan_to_num(y_score) >= curve.threshold(each) for each in w]
    n_pos, n_neg = float((y_true == 1).sum()), float((y_true == 0).sum())
    found = np.array([(each & (y_true == 1)).sum() for each in called], dtype=float)
    alarmed = np.array([(each & (y_true == 0)).sum() for each in called], dtype=float)
    p, q = found / n_pos, alarmed / n_neg
    mean, variance = curve.moments(w)
    assert mean == pytest.approx(w * (1 - p) + (1 - w) * q, abs=1e-12)
    fifth = w**2 * p * (1 - p) / n_pos + (1 - w) ** 2 * q * (1 - q) / n_neg
    assert variance == pytest.approx(fifth, abs=1e-12)
    # Any two costs with this w; here their sum makes n·c_max one unit.
    miss, alarm = w / n_pos, (1 - w) / n_neg
    mean, variance = curve.moments(w, sampling="full")
    assert mean == pytest.approx(miss * (n_pos - found) + alarm * alarmed, abs=1e-12)
    spread = [k - k**2 / n for k, n in ((found, n_pos), (alarmed, n_neg))]
    between = (miss * (n_pos - found) / n_pos - alarm * alarmed / n_neg) ** 2
    between *= n_pos * n_neg / (n_pos + n_neg)
    tenth = miss**2 * spread[0] + alarm**2 * spread[1] + between
    assert variance == pytest.approx(tenth, abs=1e-12)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: CostCurve([1, 2]),
            InputTypeError,
            r"counts: expected a ScoreCounts, got a list. Make one with ScoreCounts\.from_scores",
        ),
        (
            lambda: CostCurve(ScoreCounts.from_scores([1, 1], [1, 2], neg_label=0)),
            InputError,
            "counts: a cost curve needs examples of both classes, there are none of 0",
        ),
        (
            lambda: CostCurve(ScoreCounts.from_scores([0, 0], [1, 2], neg_label=0)),
            InputError,
            "there are none of 1",
        ),
        (lambda: CostCurve.from_scores([1, 1], [1, 2]), LabelError, "two classes are needed"),
        (
            lambda: CostCurve.from_scores([1, 0], [1, np.nan]),
            InputError,
            "y_score: expected numbers, got NaN at position 1",
        ),
        (
            lambda: curve_of(0).select([1]),
            InputTypeError,
            "validation_counts: expected a ScoreCounts, got a list",
        ),
        (
            lambda: curve_of(0).select(ScoreCounts.from_scores([1], [1], neg_label=0)),
            InputError,
            "validation_counts: a cost curve needs examples of both classes",
        ),
        (
            lambda: curve_of(0).select(ScoreCounts.from_scores(["a", "b"], [1, 2], pos_label="a")),
            LabelError,
            r"validation_counts: its classes are \('b', 'a'\), negative and positive",
        ),
        (
            lambda: curve_of(0).cost(1.5),
            InputError,
            r"pc: an operating condition PC\(\+\) lies between 0 and 1; got 1\.5",
        ),
        (lambda: curve_of(0).cost(np.nan), InputError, "between 0 and 1; got nan"),
        (lambda: curve_of(0).threshold(-0.1), InputError, "between 0 and 1; got -0.1"),
        (lambda: curve_of(0).cost("half"), InputError, "pc: expected numbers, got 'half'"),
        (lambda: curve_of(0).cost(None), InputTypeError, "pc: expected numbers, got None"),
        (lambda: curve_of(0).line(np.nan), InputError, "threshold: expected a number, got NaN"),
        (
            lambda: curve_of(0).at(),
            InputTypeError,
            "pc, prevalence, .*: give either pc=, or prevalence=, false_positive= and",
        ),
        (lambda: curve_of(0).at(0.2, prevalence=0.3), InputTypeError, "give either pc=, or"),
        (lambda: curve_of(0).at(0.2, volume=10), InputTypeError, "give either pc=, or"),
        (lambda: curve_of(0).at([0.1, 0.2]), InputError, "pc: expected one number"),
        (lambda: curve_of(0).at(2), InputError, "between 0 and 1; got 2"),
        (lambda: curve_of(0).at(0.2, confidence=95), InputError, "confidence: .*got 95"),
        (
            lambda: curve_of(0).cheaper_ranges([1]),
            InputTypeError,
            "other: expected a cost curve, such as .*; got a list",
        ),
        (
            lambda: curve_of(0).crossovers(curve_of(0).counts),
            InputTypeError,
            "other: expected a cost curve, such as .*; got a ScoreCounts",
        ),
        (
            lambda: CostCurve.one_versus_rest([0, 1], [[0.5, 0.5], [1, 0]], labels=[0, 1, 2]),
            InputError,
            "proba: expected a column for each of the 3 classes",
        ),
        (
            lambda: CostCurve.one_versus_rest([0, 7], [[0.5, 0.5], [1, 0]], labels=[0, 1]),
            LabelError,
            "y_true: the label 7 at position 1",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_a_curve_as_a_table_has_a_row_for_each_range():
    y_true, y_score = drawn(3)
    curve = CostCurve.from_scores(y_true, y_score)
    frame = curve.to_frame()
    assert frame["low"].tolist() == curve.pieces.breaks[:-1].tolist()
    assert frame["high"].tolist() == curve.pieces.breaks[1:].tolist()
    assert frame["threshold"].tolist() == curve.thresholds.tolist()
    for row in frame.itertuples():
        line = curve.line(row.threshold)
        assert (line.fpr, line.tpr) == pytest.approx((row.fpr, row.tpr))
