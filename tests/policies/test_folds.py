"""The assignment of rows to folds."""

import numpy as np
import pytest

from stakes import CostMatrix
from stakes.counts._parts import Parts
from stakes.infer._outcomes import Design
from stakes.policies._choose import Choosing, choose
from stakes.policies._rows import deal, deal_groups, deal_ranked, row_keys
from stakes.predictions.scores import JointScores

FOLDS = 5
COSTS = CostMatrix.from_errors(false_positive=1, false_negative=20)


def rows(n=403, seed=0, steps=None):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.2
    scores = rng.standard_normal(n) + 1.5 * positive
    return positive, scores if steps is None else np.round(scores * steps) / steps


def ranks_of(scores):
    values, ranks = np.unique(-scores, return_inverse=True)
    return ranks, len(values)


def keys_of(positive, scores):
    return row_keys(len(positive), [(*ranks_of(scores), positive)])


def dealt(positive, scores, seed=0):
    return deal(keys_of(positive, scores), positive, FOLDS, seed)


def dealt_ranked(positive, scores, seed=0):
    return deal_ranked(ranks_of(scores)[0], positive, FOLDS, seed)


@pytest.mark.parametrize(("how", "steps"), [(dealt, None), (dealt, 1), (dealt_ranked, None)])
@pytest.mark.parametrize("n", [60, 61, 403])
def test_every_class_is_dealt_evenly(how, steps, n):
    positive, scores = rows(n, steps=steps)
    folds = how(positive, scores)
    for side in (positive, ~positive):
        assert np.ptp(np.bincount(folds[side], minlength=FOLDS)) <= 1


@pytest.mark.parametrize("how", [dealt, dealt_ranked])
def test_the_order_of_rows_makes_no_difference(how):
    positive, scores = rows()
    order = np.random.default_rng(1).permutation(len(scores))
    assert (how(positive, scores)[order] == how(positive[order], scores[order])).all()
    assert (how(positive, scores) != how(positive, scores, seed=1)).any()


def test_of_tied_rows_as_many_of_each_kind_are_in_each_fold_in_any_order():
    positive, scores = rows(steps=1)
    order = np.random.default_rng(1).permutation(len(scores))
    for seed in range(3):
        first = dealt(positive, scores, seed)
        second = dealt(positive[order], scores[order], seed)
        kinds, at = np.unique(np.column_stack([positive, scores]), axis=0, return_inverse=True)
        tables = np.zeros((2, len(kinds), FOLDS), dtype=int)
        np.add.at(tables[0], (at.ravel(), first), 1)
        np.add.at(tables[1], (at.ravel()[order], second), 1)
        assert (tables[0] == tables[1]).all()


def test_ties_are_spread_over_folds():
    """Identical rows must not share a fold: their threshold would never have seen them."""
    positive, scores = rows(n=2000, steps=0.5)
    folds = dealt(positive, scores)
    for value in np.unique(scores):
        for side in (positive, ~positive):
            found = np.bincount(folds[side & (scores == value)], minlength=FOLDS)
            total = found.sum()
            if total >= 30:
                expected = total / FOLDS
                assert ((found - expected) ** 2 / expected).sum() < 25  # χ² of 4: 5 × 10⁻⁵


@pytest.mark.parametrize(("how", "steps"), [(dealt, 20), (dealt, None), (dealt_ranked, None)])
def test_calling_the_other_class_positive_changes_no_fold(how, steps):
    positive, scores = rows(steps=steps)
    assert (how(positive, scores) == how(~positive, -scores)).all()


def test_groups_stay_whole_and_those_with_rare_rows_are_dealt_evenly():
    positive, scores = rows(n=1000)
    group = np.random.default_rng(2).integers(0, 90, 1000)
    keys = keys_of(positive, scores)
    folds = deal_groups(keys, positive, group, FOLDS, 0)
    of_group = np.array([np.unique(folds[group == each]) for each in range(90)])
    assert of_group.shape == (90, 1)
    with_rare = np.array([positive[group == each].any() for each in range(90)])
    for side in (with_rare, ~with_rare):
        assert np.ptp(np.bincount(of_group[side, 0], minlength=FOLDS)) <= 1
    names = np.random.default_rng(3).permutation(90)  # other numbers for the groups
    again = deal_groups(keys, positive, names[group], FOLDS, 0)
    assert (again == folds).all()
    turned = keys_of(~positive, -scores)
    assert (deal_groups(turned, ~positive, group, FOLDS, 0) == folds).all()


@pytest.mark.parametrize("share", [0.2, 0.5])
def test_mirrored_groups_are_not_confused(share):
    """As many positives as negatives, and each row beside its mirror image."""
    positive = np.tile(np.arange(10) < 10 * share, 40)
    scores = np.random.default_rng(1).permutation(400).astype(float)
    group = np.arange(400) // 4
    folds = deal_groups(keys_of(positive, scores), positive, group, FOLDS, 0)
    turned = deal_groups(keys_of(~positive, -scores), ~positive, group, FOLDS, 0)
    assert (folds == turned).all()
    order = np.random.default_rng(2).permutation(400)
    again = deal_groups(
        keys_of(positive[order], scores[order]), positive[order], group[order], FOLDS, 0
    )
    assert (again == folds[order]).all()


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
    folds = dealt_ranked(positive, scores)
    chosen = choose(joint(positive, scores), COSTS, Design(), Choosing(folds=FOLDS))
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
    chosen = choose(given, COSTS, Design(), Choosing(folds=FOLDS))
    keys = keys_of(positive, scores)
    folds = deal_groups(keys, positive, group, FOLDS, 0)
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
