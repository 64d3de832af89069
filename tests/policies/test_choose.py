"""The choice of a threshold: on other rows, at given class priors, within limits."""

import numpy as np
import pytest

from stakes import CostMatrix
from stakes.errors import InputError
from stakes.infer._outcomes import Design
from stakes.policies._choose import Choosing, choose
from stakes.predictions.scores import JointScores

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=20)
APART = 1.5


def rows(n, share, seed, **options):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < share
    scores = rng.standard_normal(n) + APART * positive
    return JointScores.from_columns(positive, {"m": scores}, pos_label=1, neg_label=0, **options)


def threshold(scores, design=None, **options):
    chosen = choose(scores, COSTS, design or Design(), Choosing(**options))
    return chosen.thresholds["m@"].cuts[0][1]


def best(share):
    """Return the score above which a miss is expected to cost more than a false alarm."""
    return (np.log((1 - share) / share / 20) + APART**2 / 2) / APART


@pytest.mark.parametrize("test_share", [0.05, 0.5])
@pytest.mark.parametrize("other_share", [0.05, 0.5])
def test_stated_shares_count_whatever_those_of_the_rows_are(test_share, other_share):
    """Of the rows that choose and of those that judge."""
    test, other = rows(4000, test_share, 1), rows(20_000, other_share, 2)
    design = Design(class_priors={0: 0.98, 1: 0.02})
    assert threshold(test, design) == pytest.approx(best(0.02), abs=0.25)
    assert threshold(test, design, validation=other) == pytest.approx(best(0.02), abs=0.15)
    assert threshold(test, validation=other) == pytest.approx(best(other_share), abs=0.15)


def test_weights_choose_as_copies_do():
    one = rows(3000, 0.1, 3)
    every = np.where(one.positive, 3, 1)
    values = one.thresholds[0][one.ranks[0]]
    copies = JointScores.from_columns(
        np.repeat(one.positive, every), {"m": np.repeat(values, every)}, pos_label=1, neg_label=0
    )
    weighted = rows(3000, 0.1, 3, sample_weight=every.astype(float))
    assert threshold(weighted) == pytest.approx(threshold(copies), abs=0.1)


@pytest.mark.parametrize("priors", [None, {0: 0.9, 1: 0.1}])
@pytest.mark.parametrize("share", [0.0, 1.0])
def test_one_class_alone_is_decided_by_probabilities(share, priors):
    rng = np.random.default_rng(4)
    positive = np.full(50, bool(share))
    scores = JointScores.from_columns(positive, {"m": rng.random(50)}, pos_label=1, neg_label=0)
    chosen = choose(scores, COSTS, Design(class_priors=priors), Choosing()).thresholds["m@"]
    assert not chosen.cross_fitted
    assert "because there are no rows of the class" in chosen.reason
    assert chosen.cuts == ((1, float(f"{1 / 21:.4g}")),)


def test_the_test_rows_are_no_validation_rows():
    test = rows(300, 0.3, 5)
    again = np.random.default_rng(6).permutation(300)
    values = test.thresholds[0][test.ranks[0]][again]
    shuffled = JointScores.from_columns(
        test.positive[again], {"m": values}, pos_label=1, neg_label=0
    )
    for same in (test, shuffled):
        with pytest.raises(InputError, match="are among them"):
            threshold(test, validation=same)
    part = JointScores.from_columns(
        test.positive[:200], {"m": values[np.argsort(again)][:200]}, pos_label=1, neg_label=0
    )
    with pytest.raises(InputError, match="are among them"):
        threshold(test, validation=part)
    assert threshold(test, validation=rows(300, 0.3, 7)) < np.inf


def scored(values, seed=3):
    positive = np.random.default_rng(seed).random(len(values)) < 0.3
    return JointScores.from_columns(positive, {"m": values}, pos_label=1, neg_label=0)


@pytest.mark.parametrize("other", [(100, 0), (0.01, 0), (1, 2), (1, -2)])
def test_validation_scores_are_on_the_scale_of_the_test_rows(other):
    times, plus = other
    test, rng = scored(np.random.default_rng(1).random(300)), np.random.default_rng(2)
    says = r"^validation: its scores of 'm' are from .* to .*, and those of the test rows from"
    with pytest.raises(InputError, match=says):
        threshold(test, validation=scored(rng.random(200) * times + plus, seed=4))
    assert threshold(test, validation=scored(rng.random(200) * 0.5 + 0.4, seed=4)) < np.inf


def test_heavy_tails_and_few_scores_are_no_other_scale():
    rng = np.random.default_rng(1)
    values = rng.pareto(0.7, 3000)
    test = scored(values)
    other = np.append(rng.pareto(0.7, 100), np.inf)
    assert np.ptp(values) > 100 * np.ptp(other[:-1])
    assert threshold(test, validation=scored(other, seed=4)) < np.inf
    for few in (np.full(50, 0.5), np.full(5, -0.5)):
        choose(test, COSTS, Design(), Choosing(validation=scored(few, seed=4)))


@pytest.mark.parametrize("share", [0.02, 0.5])
def test_a_capacity_is_for_the_classes_in_use(share):
    test = rows(4000, 0.2, 8)
    design = Design(class_priors={0: 1 - share, 1: share})
    cut = threshold(test, design, capacity=0.1)
    scores = test.thresholds[0][test.ranks[0]]
    rates = [(scores[test.positive == side] >= cut).mean() for side in (False, True)]
    alarms = (1 - share) * rates[0] + share * rates[1]
    assert alarms <= 0.1
    assert alarms > 0.05 or cut <= best(share) + 0.3
