"""Classifiers with known confusion matrices, and pairs with known differences."""

import numpy as np
import pytest

from replications.domains.cost_models import PAPER, THESIS
from replications.experiments.shared.classifier import (
    PAPER_MODELS,
    THESIS_NAMES,
    judged,
    matrices,
    over_matrices,
    permuted,
    relabelled,
)

SHARES = np.array([[0.30, 0.02, 0.01], [0.04, 0.40, 0.03], [0.05, 0.00, 0.15]])


def test_models_of_the_thesis_are_those_of_the_paper():
    assert all(PAPER[model] == THESIS[name] for model, name in THESIS_NAMES.items())
    assert set(PAPER_MODELS) - set(THESIS_NAMES) == {"M9"}
    assert THESIS_NAMES["M3"] == "M8"


@pytest.mark.parametrize(("domain", "size"), [("expf5", 5), ("expf5-bands", 5), ("waveform", 3)])
def test_a_trained_tree_is_better_than_chance_and_repeatable(domain, size):
    first = judged(domain, "M4", 0, 7, 20_000)
    assert first.shares.shape == (size, size)
    assert first.shares.sum() == pytest.approx(1)
    assert np.trace(first.shares) > (0.65 if size == 3 else 0.9)
    judged.cache_clear()
    again = judged(domain, "M4", 0, 7, 20_000)
    assert (again.shares == first.shares).all()
    assert (again.costs.values == first.costs.values).all()
    assert first.cost == pytest.approx((first.shares * first.costs.values).sum())


def test_each_matrix_has_its_own_costs_and_classifier():
    ten = matrices("expf5", "M6", 0, 5000)
    assert len({each.costs.values[0, 1] for each in ten}) == 10
    assert len({each.shares[0, 1] for each in ten}) > 3
    rare = [each.costs.values[1, 3] for each in ten]
    assert max(rare) > 1000 * max(each.costs.values[3, 1] for each in ten)


def test_weak_trees_ignore_costs_and_are_weak():
    weak, strong = (judged("waveform", "M5", 1, 0, 20_000, weak=each) for each in (True, False))
    assert np.trace(weak.shares) < np.trace(strong.shares)
    assert (weak.costs.values == strong.costs.values).all()


def test_test_sets_are_drawn_from_the_shares():
    each = judged("expf5", "M1", 0, 0, 20_000)
    tables = each.draw(500, np.random.default_rng(0))
    assert tables.shape == (500, 5, 5)
    assert (tables.sum(axis=(1, 2)) == 1000).all()
    np.testing.assert_allclose(tables.mean(axis=0) / 1000, each.shares, atol=0.003)


def test_permuting_within_classes_keeps_the_confusion_matrix():
    joint = permuted(SHARES)
    np.testing.assert_allclose(joint.sum(axis=1), SHARES)
    np.testing.assert_allclose(joint.sum(axis=0), SHARES)
    # By shuffling the labels of real examples, within each true class:
    rng = np.random.default_rng(0)
    cells = rng.choice(9, 200_000, p=SHARES.ravel())
    first, actual = np.divmod(cells, 3)
    second = first.copy()
    for each in range(3):
        second[actual == each] = rng.permutation(first[actual == each])
    counted = np.zeros((3, 3, 3))
    np.add.at(counted, (first, second, actual), 1 / len(cells))
    np.testing.assert_allclose(counted, joint, atol=0.003)


def test_changed_labels_become_another():
    joint = permuted(SHARES)
    assert (relabelled(joint, 0) == joint).all()
    some = relabelled(joint, 0.3)
    np.testing.assert_allclose(some.sum(axis=1), SHARES)
    rng = np.random.default_rng(1)
    cells = rng.choice(27, 300_000, p=joint.ravel())
    first, second, actual = np.unravel_index(cells, joint.shape)
    changed = rng.random(len(cells)) < 0.3
    second = np.where(changed, (second + rng.integers(1, 3, len(cells))) % 3, second)
    counted = np.zeros(joint.shape)
    np.add.at(counted, (first, second, actual), 1 / len(cells))
    np.testing.assert_allclose(counted, some, atol=0.003)


def test_the_error_over_matrices_is_never_nothing():
    row = over_matrices("coverage", [1.0] * 10, 100, model="M1")
    assert row["value"] == 1
    assert row["error"] == pytest.approx(np.sqrt(2 * 1002) / 1004**1.5)
    spread = over_matrices("coverage", [0.5, 0.9], 100)
    assert spread["error"] == pytest.approx(0.2)
