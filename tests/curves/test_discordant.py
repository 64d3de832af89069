"""Discordant examples (only one of two classifiers is wrong), against counting them one by one."""

from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from _helpers.paired_examples import NAMES, PLACES, drawn, seeds
from hypothesis import given
from hypothesis import strategies as st

from stakes import CostCurve, CostCurveDifference, CostLine, PairedConfusion, PairedScoreCounts
from stakes.curves import _sampling


def discordant(difference, examples, pc, weight=None):
    """Count, in each class, the examples on which one of the two alone is wrong at a condition.

    Returns the number of examples and the two counts, for the positives and for the negatives.
    """
    y_true, one, other = examples
    weight = np.ones(len(y_true)) if weight is None else weight
    first, second = (
        # Infinite scores become the largest number: an infinite threshold flags no example.
        (np.nan_to_num(scores) >= curve.threshold(pc)) != (y_true == 1)
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
    apart = np.diff(breaks) > 1e-12  # more than the rounding error of equal numbers
    places = np.concatenate([places, breaks[1:-1][apart[:-1] & apart[1:]]])
    for sampling in ("stratified", "full"):
        mean, variance = difference.moments(places, sampling=sampling)
        for i, w in enumerate(places):
            expected = equations(discordant(difference, examples, w, weight), w)[sampling]
            assert (mean[i], variance[i]) == pytest.approx(expected, abs=1e-12)
    costs = difference.first.cost(places) - difference.second.cost(places)
    assert difference.difference(places) == pytest.approx(costs, abs=1e-14)
    mean, _ = difference.moments(places)
    assert mean == pytest.approx(costs, abs=1e-12)


@given(seeds)
def test_moments_are_equations_7_8_12_and_13_of_examples_counted_one_by_one(seed):
    examples = drawn(seed)
    check_moments(CostCurveDifference.from_scores(*examples, names=NAMES), examples)


KINDS = {
    "float64": np.float64,
    "float32": np.float32,
    "float16": np.float16,
    "int64": np.int64,
    "bool": np.bool_,
    "decimal": lambda values: np.array([Decimal(str(each)) for each in values.tolist()]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("decimals", [0, 1, 9])
def test_scores_that_were_not_ranked_give_the_counts_of_ranks(kind, decimals, monkeypatch):
    monkeypatch.setattr(_sampling, "ROWS_TOGETHER", 64)  # so that there are several parts
    rng = np.random.default_rng(decimals)
    y_true = rng.random(900) < 0.3
    made = [np.round(2 * rng.normal(size=900) + y_true, decimals) for _ in range(2)]
    made[1][:4] = [-0.0, 0.0, np.inf, -np.inf]
    if not kind.startswith("float"):
        made[1] = np.clip(made[1], -9, 9)
    make = KINDS[kind]
    scores = [make(each) if kind == "decimal" else each.astype(make) for each in made]
    unranked, counts = (PairedScoreCounts.from_scores(y_true, *scores) for _ in range(2))
    again = PairedScoreCounts(**counts.to_dict())
    found = CostCurveDifference(unranked)
    assert "ranks_1" not in vars(found.counts)
    expected = CostCurveDifference(again)
    assert found.band() == expected.band()
    for mine, theirs in zip(found.moments(PLACES), expected.moments(PLACES), strict=True):
        assert mine.tolist() == theirs.tolist()
    assert "ranks_1" not in vars(found.counts)
    assert unranked == again


def weighted_variances(difference, examples, weight, pc):
    """Return the variances of the weighted means, example by example: stratified and full."""
    y_true, *scores = map(np.asarray, examples)
    wrong = [
        (np.nan_to_num(score) >= curve.threshold(pc)) != (y_true == 1)
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


@given(seeds)
def test_frames_of_any_kind_are_counted_alike(seed):
    y_true, one, other = drawn(seed)
    table = {"actual": y_true, "one": one, "other": other}
    columns = {"actual": "actual", "score": ("one", "other")}
    for frame in (pd.DataFrame(table), pl.DataFrame(table), pl.LazyFrame(table)):
        difference = CostCurveDifference(PairedScoreCounts.from_frame(frame, **columns))
        check_moments(difference, (y_true, one, other))


@given(seeds)
def test_at_thresholds_selected_on_other_examples_too(seed):
    examples = drawn(seed)
    validation = PairedScoreCounts.from_scores(*drawn(seed + 1))
    difference = CostCurveDifference.from_scores(*examples).select(validation)
    assert difference.chosen_on == "validation examples"
    assert (difference.first.thresholds == CostCurve(validation.first).thresholds).all()
    check_moments(difference, examples, places=PLACES[:-1])


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
    # By weight: the first alone misses 3 of 4 positives. The first alone has false alarms for 2 of
    # 6 negatives, the second alone for 3 of 6.
    positives = (1**2 * (0 - 0.75) ** 2 + 3**2 * (1 - 0.75) ** 2) / 16
    negatives = (1**2 * (1 / 6) ** 2 + 2**2 * (7 / 6) ** 2 + 3**2 * (-5 / 6) ** 2) / 36
    assert mean[0] == pytest.approx(0.3 * 0.75 - 0.7 / 6)
    assert variance[0] == pytest.approx(0.09 * positives + 0.49 * negatives)
