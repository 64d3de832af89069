"""The assignment of rows to folds."""

import numpy as np
import pytest

from stakes import CostMatrix
from stakes.counts._parts import Parts
from stakes.infer._outcomes import Design
from stakes.policies._choose import Choosing, choose
from stakes.policies._rows import FOLDS, Rows, turns
from stakes.predictions.scores import JointScores

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=20)
PLACES = np.array([1, 0])


def rows(n=403, seed=0, steps=None):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.2
    scores = rng.standard_normal(n) + 1.5 * positive
    return positive, scores if steps is None else np.round(scores * steps) / steps


def dealt(positive, scores, **given):
    """Return the fold of each row for the first model; `scores` may be of several."""
    columns = scores if isinstance(scores, dict) else {"m": scores}
    joint = JointScores.from_columns(positive, columns, neg_label=0, pos_label=1, **given)
    weights = given.get("sample_weight")
    return Rows.of(joint).dealt(0, PLACES, weights, None)[0]


def in_groups(positive, scores, group, **given):
    parts = Parts(groups=tuple(range(int(group.max()) + 1)))
    return dealt(positive, scores, parts=parts, part=group, **given)


def test_the_sequence_of_folds_is_the_one_that_numpy_keeps():
    expected = np.random.RandomState(0).permutation(np.arange(1003) % 20)
    assert (turns(1003) == expected).all()
    assert turns(12).tolist() == np.random.RandomState(0).permutation(12).tolist()


def test_rows_stand_from_the_ends_of_the_scores():
    positive, scores = rows()
    folds = dealt(positive, scores)
    assert (folds[positive][np.argsort(-scores[positive])] == turns(positive.sum())).all()
    assert (folds[~positive][np.argsort(scores[~positive])] == turns((~positive).sum())).all()


def test_ties_stand_by_weight_and_then_by_the_other_columns_of_the_file():
    positive = np.ones(60, dtype=bool)
    weight = np.tile([2.0, 1.0, 1.0], 20)
    other = np.random.default_rng(0).permutation(60).astype(float)
    folds = dealt(positive, {"m": np.zeros(60), "o": other}, sample_weight=weight)
    order = np.lexsort([-other, weight])
    assert (folds[order] == turns(60)).all()


def test_rows_without_weight_are_not_dealt():
    positive, scores = rows(steps=2)
    weight = np.random.default_rng(0).integers(0, 3, len(scores)).astype(float)
    there = weight > 0
    alone = dealt(positive[there], scores[there], sample_weight=weight[there])
    assert (dealt(positive, scores, sample_weight=weight)[there] == alone).all()


@pytest.mark.parametrize("steps", [None, 1])
@pytest.mark.parametrize("n", [60, 61, 403])
def test_every_class_is_dealt_evenly(steps, n):
    positive, scores = rows(n, steps=steps)
    folds = dealt(positive, scores)
    for side in (positive, ~positive):
        assert np.ptp(np.bincount(folds[side], minlength=FOLDS)) <= 1


def test_of_tied_rows_as_many_of_each_kind_are_in_each_fold_in_any_order():
    positive, scores = rows(steps=1)
    order = np.random.default_rng(1).permutation(len(scores))
    first, second = dealt(positive, scores), dealt(positive[order], scores[order])
    kinds, at = np.unique(np.column_stack([positive, scores]), axis=0, return_inverse=True)
    tables = np.zeros((2, len(kinds), FOLDS), dtype=int)
    np.add.at(tables[0], (at.ravel(), first), 1)
    np.add.at(tables[1], (at.ravel()[order], second), 1)
    assert (tables[0] == tables[1]).all()


def test_ties_are_spread_over_folds():
    """Identical rows must not share a fold: their threshold would never have seen them."""
    positive, scores = rows(n=8000, steps=0.5)
    folds = dealt(positive, scores)
    for value in np.unique(scores):
        for side in (positive, ~positive):
            found = np.bincount(folds[side & (scores == value)], minlength=FOLDS)
            total = found.sum()
            if total >= 100:
                expected = total / FOLDS
                assert ((found - expected) ** 2 / expected).sum() < 57  # χ² of 19: 10⁻⁵


@pytest.mark.parametrize("steps", [20, None])
def test_calling_the_other_class_positive_changes_no_fold(steps):
    positive, scores = rows(steps=steps)
    assert (dealt(positive, scores) == dealt(~positive, -scores)).all()


def test_another_model_changes_no_fold_unless_scores_tie():
    positive, scores = rows()
    other = np.random.default_rng(3).standard_normal(len(scores))
    assert (dealt(positive, {"m": scores, "o": other}) == dealt(positive, scores)).all()


def test_groups_stay_whole_and_those_with_rare_rows_are_dealt_evenly():
    positive, scores = rows(n=1000)
    group = np.random.default_rng(2).integers(0, 90, 1000)
    folds = in_groups(positive, scores, group)
    of_group = np.array([np.unique(folds[group == each]) for each in range(90)])
    assert of_group.shape == (90, 1)
    with_rare = np.array([positive[group == each].any() for each in range(90)])
    for side in (with_rare, ~with_rare):
        assert np.ptp(np.bincount(of_group[side, 0], minlength=FOLDS)) <= 1
    names = np.random.default_rng(3).permutation(90)  # other numbers for the groups
    assert (in_groups(positive, scores, names[group]) == folds).all()
    assert (in_groups(~positive, -scores, group) == folds).all()


@pytest.mark.parametrize("steps", [None, 2])
def test_groups_of_one_row_are_dealt_as_rows(steps):
    positive, scores = rows(steps=steps)
    weight = np.random.default_rng(0).integers(1, 4, len(scores)).astype(float)
    given = {"sample_weight": weight}
    alone = in_groups(positive, scores, np.arange(len(scores)), **given)
    assert (alone == dealt(positive, scores, **given)).all()


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_mirrored_groups_are_not_confused(share):
    """As many positives as negatives, and each row beside its mirror image."""
    positive = np.tile(np.arange(10) < 10 * share, 40)
    scores = np.random.default_rng(1).permutation(400).astype(float)
    group = np.arange(400) // 4
    folds = in_groups(positive, scores, group)
    order = np.random.default_rng(2).permutation(400)
    assert (in_groups(positive[order], scores[order], group[order]) == folds[order]).all()


def test_groups_with_equal_sums_stand_by_their_rows():
    positive = np.tile([True, True, False], 60)
    scores = np.tile([4.0, 0.0, 1.0, 3.0, 1.0, 1.0], 30)  # the ranks of a pair have equal sums
    group = np.arange(180) // 3
    folds = in_groups(positive, scores, group)
    order = np.random.default_rng(2).permutation(60)
    shuffled = (3 * order[:, np.newaxis] + np.arange(3)).ravel()
    again = in_groups(positive[shuffled], scores[shuffled], np.arange(180) // 3)
    kinds = (np.arange(60) % 2)[order]
    for kind in (0, 1):
        of_kind = np.sort(folds[::3][np.arange(60) % 2 == kind])
        assert (np.sort(again[::3][kinds == kind]) == of_kind).all()


# The same, by the choice of a threshold.


def joint(positive, scores, *, labels=(0, 1), **parts):
    return JointScores.from_columns(
        positive, {"m": scores}, neg_label=labels[0], pos_label=labels[1], **parts
    )


def counts(chosen):
    return [each.single("m@").counts.tolist() for each in (chosen.held_out, chosen.in_sample)]


@pytest.mark.parametrize("steps", [None, 3])
def test_reordered_rows_choose_the_same(steps):
    positive, scores = rows(steps=steps)
    order = np.random.default_rng(4).permutation(len(scores))
    first = choose(joint(positive, scores), COSTS, Design(), Choosing())
    second = choose(joint(positive[order], scores[order]), COSTS, Design(), Choosing())
    assert first.thresholds == second.thresholds
    assert counts(first) == counts(second)


@pytest.mark.parametrize("steps", [None, 3])
def test_compressed_rows_choose_the_same(steps):
    positive, scores = rows(steps=steps)
    one = joint(positive, scores)
    first, second = (choose(each, COSTS, Design(), Choosing()) for each in (one, one.compressed()))
    assert first.thresholds == second.thresholds
    assert counts(first) == counts(second)


@pytest.mark.parametrize("steps", [None, 3])
def test_turning_the_classes_round_decides_the_same(steps):
    """The positive class is now 0, and costs are those of the same mistakes."""
    positive, scores = rows(steps=steps)
    first = choose(joint(positive, scores), COSTS, Design(), Choosing())
    turned = choose(joint(~positive, -scores, labels=(1, 0)), COSTS, Design(), Choosing())
    assert counts(first) == counts(turned)
    assert first.thresholds["m@"].cuts[0][1] == pytest.approx(-turned.thresholds["m@"].cuts[0][1])


def test_held_out_decisions_are_those_of_thresholds_from_other_folds():
    """Each fold's threshold is the one to deploy of the other folds' rows."""
    positive, scores = rows()
    folds = dealt(positive, scores)
    chosen = choose(joint(positive, scores), COSTS, Design(), Choosing())
    found = np.zeros((2, 2), dtype=int)
    for fold in range(FOLDS):
        inside = folds == fold
        other = choose(joint(positive[~inside], scores[~inside]), COSTS, Design(), Choosing())
        decided = scores[inside] >= other.thresholds["m@"].cuts[0][1]
        np.add.at(found, (decided.astype(int), positive[inside].astype(int)), 1)
    assert chosen.held_out.single("m@").counts.tolist() == found.tolist()


def test_groups_are_held_out_whole():
    positive, scores = rows(n=1000)
    group = np.arange(1000) // 10
    parts = Parts(groups=tuple(range(100)))
    given = joint(positive, scores, parts=parts, part=group)
    chosen = choose(given, COSTS, Design(), Choosing())
    folds = in_groups(positive, scores, group)
    cost = 0.0
    for fold in range(FOLDS):
        inside = folds == fold
        other = choose(joint(positive[~inside], scores[~inside]), COSTS, Design(), Choosing())
        decided = scores[inside] >= other.thresholds["m@"].cuts[0][1]
        cost += (decided & ~positive[inside]).sum() + 20 * (~decided & positive[inside]).sum()
    table = chosen.held_out.single("m@").counts
    assert (np.asarray(table).reshape(-1, 2, 2).sum(axis=0) * COSTS.values).sum() == cost


@pytest.mark.parametrize("flipped", [False, True])
def test_decisions_turn_with_the_classes_or_stay(flipped):
    """Two models with few scores and decisions that nobody takes in one of the classes."""
    positive, scores = rows(steps=2)
    decided = (scores > 1).astype(np.int8)
    given = {"decided": {"d": decided}}
    first = choose(joint(positive, scores, **given), COSTS, Design(), Choosing())
    labels = [1, 0] if flipped else [0, 1]
    values = COSTS.values[::-1, ::-1] if flipped else COSTS.values
    costs = CostMatrix(values, rows="predicted", labels=labels)
    given = {"decided": {"d": 1 - decided if flipped else decided}}
    turned = choose(joint(~positive, -scores, labels=(1, 0), **given), costs, Design(), Choosing())
    tables = [np.array(each) for each in counts(turned)]
    expected = [np.array(each) for each in counts(first)]
    if flipped:
        expected = [each[::-1, ::-1] for each in expected]
    assert [each.tolist() for each in tables] == [each.tolist() for each in expected]
    order = np.random.default_rng(5).permutation(len(scores))
    given = {"decided": {"d": decided[order]}}
    again = choose(joint(positive[order], scores[order], **given), COSTS, Design(), Choosing())
    assert counts(again) == counts(first)
