"""Cuts of the scores, against an independent fit and against every possible cut."""

import itertools

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from stakes.policies._rule import RIDGE, ScoreTables, cheapest_cuts, expected_thresholds

ERRORS = np.array([[1.0, 0.0], [0.0, 20.0]])  # rows: alarm, no alarm; columns: negative, positive
REVIEW = np.array([[10.0, 0.0], [3.0, 4.0], [0.0, 100.0]])


def tables(seed, *, apart=1.5, rows=5):
    """Return counts by step of several sets of rows, the highest scores first."""
    rng, steps, sets, prevalence = np.random.default_rng(seed), 40, 3, 0.3
    middle = norm.isf((np.arange(steps) + 0.5) / steps)
    size = rng.poisson(rows, (sets, steps)) + (rng.random((sets, steps)) < 0.5)
    odds = prevalence / (1 - prevalence) * np.exp(apart * middle - apart**2 / 2)
    positives = rng.binomial(size, odds / (1 + odds)).astype(float)
    return ScoreTables(positives, size - positives)


def total_cost(positives, negatives, cuts, costs):
    """Return what cuts cost, step by step."""
    total = 0.0
    for step, (yes, no) in enumerate(zip(positives, negatives, strict=True)):
        decision = sum(step >= cut for cut in cuts)
        total += costs[decision] @ [no, yes]
    return total


def mid_ranks(positives, negatives):
    """Return the normal score of each step, counted row by row."""
    rows = positives + negatives
    n = rows.sum()
    below = np.array([rows[at + 1 :].sum() + rows[at] / 2 for at in range(len(rows))])
    return norm.ppf(np.clip(below / n, 0.5 / n, 1 - 0.5 / n))


def fitted_cuts(positives, negatives, costs):
    """Return the cuts of an independent logistic fit."""
    z = mid_ranks(positives, negatives)
    fit = LogisticRegression(C=1 / RIDGE, tol=1e-10, max_iter=1000)
    labels = np.repeat([1, 0], len(z))
    fit.fit(np.tile(z, 2)[:, None], labels, sample_weight=np.concatenate([positives, negatives]))
    chance = fit.predict_proba(z[:, None])
    best = (chance @ costs.T).argmin(axis=1)
    return [int((best <= at).sum()) for at in range(len(costs) - 1)]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("costs", [ERRORS, REVIEW, ERRORS[:, ::-1] + [[0, 0], [19, 0]]])
def test_the_smooth_cut_is_kept_or_the_least_cost_taken(seed, costs):
    costs = costs[np.argsort(costs[:, 1] - costs[:, 0])]
    given = tables(seed, apart=(0.5, 1.5, 3.0)[seed % 3])
    found = cheapest_cuts(given, costs)
    for cuts, positives, negatives in zip(found, given.positives, given.negatives, strict=True):
        smooth = fitted_cuts(positives, negatives, costs)
        every = itertools.combinations_with_replacement(range(len(positives) + 1), len(costs) - 1)
        spent = {each: total_cost(positives, negatives, each, costs) for each in every}
        least = min(spent.values())
        if list(cuts) != smooth:
            assert spent[tuple(cuts)] == pytest.approx(least, rel=1e-12)
        # The smooth cut may cost at most what chance explains: a standard error and one row each.
        other = min((each for each in spent if spent[each] <= least * (1 + 1e-12)),
                    key=lambda each: abs(each[0] - smooth[0]))  # fmt: skip
        between = range(min(smooth[0], other[0]), max(smooth[0], other[0]))
        if len(costs) == 2:
            apart = (costs[0] - costs[1]) ** 2
            rows = np.array([negatives[between].sum(), positives[between].sum()])
            room = np.sqrt(((rows + 1) * apart).sum())
            kept = spent[tuple(smooth)] - least <= room
            assert list(cuts) == (smooth if kept else list(other))


@pytest.mark.parametrize("seed", range(10))
def test_review_decisions_cost_the_least_of_all_pairs_of_cuts(seed):
    """Where positives are in the middle a logistic curve is wrong, and the least cost is taken."""
    rng = np.random.default_rng(seed)
    positives = np.zeros((1, 24))
    positives[0, 8:16] = rng.integers(5, 30, 8)
    negatives = rng.integers(10, 60, (1, 24)).astype(float)
    (cuts,) = cheapest_cuts(ScoreTables(positives, negatives), REVIEW)
    pairs = itertools.combinations_with_replacement(range(25), 2)
    spent = {each: total_cost(positives[0], negatives[0], each, REVIEW) for each in pairs}
    smooth = tuple(fitted_cuts(positives[0], negatives[0], REVIEW))
    assert tuple(cuts) == smooth or spent[tuple(cuts)] == pytest.approx(min(spent.values()))


def test_a_hopeless_curve_is_not_used():
    """All positives have one score in the middle; the curve expects them at the top."""
    positives, negatives = np.zeros((1, 100)), np.full((1, 100), 10.0)
    positives[0, 30] = 100
    (cut,) = cheapest_cuts(ScoreTables(positives, negatives), np.array([[1.0, 0.0], [0.0, 10.0]]))
    assert cut == [31]


def test_scores_upside_down_decide_alike_for_all():
    given = tables(1, apart=-2.0, rows=20)
    assert set(cheapest_cuts(given, ERRORS).ravel()) == {40}
    cheap = np.array([[20.0, 0.0], [0.0, 1.0]])
    assert set(cheapest_cuts(given, cheap).ravel()) == {0}


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_scale_of_costs_and_empty_steps_make_no_difference(factor):
    given = tables(3)
    assert (cheapest_cuts(given, factor * ERRORS) == cheapest_cuts(given, ERRORS)).all()
    wider = [
        np.repeat(each, 2, axis=1) * [[1, 0] * 40] for each in (given.positives, given.negatives)
    ]
    plain = [np.repeat(each, 1, axis=1) for each in (given.positives, given.negatives)]
    padded = cheapest_cuts(ScoreTables(*wider), ERRORS)
    for at, cuts in enumerate(cheapest_cuts(ScoreTables(*plain), ERRORS)):
        taken = [each[at].reshape(-1)[: padded[at, 0]].sum() for each in wider]
        assert taken == [each[at, : cuts[0]].sum() for each in plain]


def test_separated_classes_are_cut_between():
    positives = np.array([[1.0] * 20 + [0.0] * 30])
    (cut,) = cheapest_cuts(ScoreTables(positives, 1 - positives), ERRORS)
    assert 20 <= cut[0] <= 25


def test_limits_are_kept():
    given = tables(5)
    allowed = np.zeros((3, 41), dtype=bool)
    allowed[:, [2, 7]] = True
    for at, (cut,) in enumerate(cheapest_cuts(given, ERRORS, allowed)):
        spent = {
            k: total_cost(given.positives[at], given.negatives[at], [k], ERRORS) for k in (2, 7)
        }
        assert spent[cut] == min(spent.values())


@pytest.mark.parametrize("seed", range(200))
def test_expected_thresholds_are_where_the_cheapest_decision_changes(seed):
    """With equal slopes, dominated decisions and ties among them."""
    rng = np.random.default_rng(seed)
    costs = rng.integers(0, 9, (rng.integers(2, 6), 2)).astype(float)
    costs = costs[np.argsort(costs[:, 1] - costs[:, 0], kind="stable")]
    found = expected_thresholds(costs)
    for p in (np.arange(400) + 0.5) / 400:
        decision = sum(p < threshold for threshold in found)
        spent = costs @ [1 - p, p]
        assert spent[decision] == pytest.approx(spent.min(), abs=1e-9)
