"""The verdict does not depend on how costs, classes and rows are written."""

import numpy as np
import pytest

from stakes import CostMatrix, study_of

N = 240
RNG = np.random.default_rng(8)
Y = RNG.random(N) < 0.3
SCORES = {
    "a": (1.4 * Y + RNG.normal(0, 1, N)).round(6),
    "b": (0.6 * Y + RNG.normal(0, 1, N)).round(6),
}
DECIDED = {name: each > 0.5 for name, each in SCORES.items()}


def study(names=("ok", "bad"), factor=1.0, order=slice(None), *, swapped=False, priors=None):
    """Return the same study, written otherwise."""
    negative, positive = names
    actual = np.where(Y, positive, negative)[order]
    decided = {each: np.where(made, positive, negative)[order] for each, made in DECIDED.items()}
    costs = CostMatrix(
        factor * np.array([[0, 12.0], [1.5, 0]]), rows="predicted", labels=[negative, positive]
    )
    scores = {each: (-made if swapped else made)[order] for each, made in SCORES.items()}
    return study_of(
        actual,
        decided,
        costs,
        y_score=scores,
        pos_label=negative if swapped else positive,
        class_priors=None if priors is None else dict(zip(names, priors, strict=True)),
    )


def summary(made, factor=1.0, sign=1.0):
    """Return what must be the same: policies in order, their costs, pairs and the verdict."""
    policies = made.policies
    kinds = {each.name: (each.model, each.kind) for each in policies.policies}
    verdict = made.verdict()
    thresholds = [each.threshold * sign for each in policies.policies if each.threshold is not None]
    costs = [policies.estimate(name).cost / factor for name in policies.competitors]
    limits = [value / factor for name in policies.competitors for value in policies.interval(name)]
    pairs = [
        value
        for each in policies.pairs
        for value in (
            each.difference / factor,
            each.low / factor,
            each.high / factor,
            each.p_adjusted,
        )
    ]
    return (
        [kinds[name] for name in policies.competitors],
        [kinds[name] for name in (verdict.use, verdict.baseline, *verdict.ties)],
        verdict.shown,
        verdict.saving.shown,
        thresholds,
        costs,
        limits,
        pairs,
    )


def check(found, expected):
    """Check that two summaries are the same, numbers up to rounding."""
    assert found[:4] == expected[:4]
    for one, other, near in zip(found[4:], expected[4:], (1e-6, 1e-9, 1e-5, 1e-4), strict=True):
        assert one == pytest.approx(other, rel=near, abs=1e-6)


@pytest.mark.parametrize("priors", [None, (0.9, 0.1)])
def test_the_same_study_has_the_same_verdict(priors):
    expected = summary(study(priors=priors))
    check(summary(study(factor=10, priors=priors), factor=10), expected)
    check(summary(study(("0", "1"), priors=priors)), expected)
    check(summary(study(("z", "a"), priors=priors)), expected)
    order = np.random.default_rng(1).permutation(N)
    check(summary(study(order=order, priors=priors)), expected)


@pytest.mark.parametrize("priors", [None, (0.9, 0.1)])
def test_either_class_may_be_the_positive_one(priors):
    """Where no two scores are the same, up to which side of a threshold it belongs to."""
    expected = summary(study(priors=priors))
    check(summary(study(swapped=True, priors=priors), sign=-1.0), expected)
