"""How often a model is wrongly called the cheapest, if its expensive mistake is rare."""

import numpy as np
import pytest
from _helpers.judge import at_most
from scipy.special import betaincc

from stakes import CostMatrix, CostRanges, JointConfusion
from stakes.infer._outcomes import Design
from stakes.infer.cheapest import find_cheapest
from stakes.infer.sensitivity import _probabilities, find_path

pytestmark = pytest.mark.statistical

N, POSITIVES, MISS, TRIALS = 5000, 250, 100, 2000
EXPECTED = [0.3, 0.5, 1, 3, 10]
"""Expected numbers of misses of the model."""

# Decisions of the model, of its rival and of a third model, and the class.
ROWS = np.array(
    [
        [0, 1, 1, 1],  # a miss of the model alone
        [1, 1, 0, 1],  # a miss of the third alone
        [0, 1, 0, 0],  # a false alarm of the rival alone
        [0, 0, 1, 0],  # a false alarm of the third alone
        [0, 0, 0, 0],
        [1, 1, 1, 1],
    ]
)


def test_sets(expected, excess, models, seed):
    """Draw test sets in which the model costs `excess` times as much as its rival.

    Returns the distinct ones, and how often each came.
    """
    alarms = MISS * expected / excess
    third = [expected, 0.2 * alarms] if models > 2 else [0, 0]
    misses = np.array([expected, third[0]]) / POSITIVES
    raised = np.array([alarms, third[1]]) / (N - POSITIVES)
    rng = np.random.default_rng([21, seed])
    missed = rng.multinomial(POSITIVES, [*misses, 1 - misses.sum()], TRIALS)
    alarmed = rng.multinomial(N - POSITIVES, [*raised, 1 - raised.sum()], TRIALS)
    tables = np.column_stack([missed[:, :2], alarmed, missed[:, 2]])
    return np.unique(tables, axis=0, return_counts=True)


test_sets.__test__ = False


def joint_of(table, models):
    came = table > 0
    return JointConfusion(
        [*"abc"][:models],
        decided=ROWS[came, :models],
        actual=ROWS[came, 3],
        counts=table[came],
        labels=[0, 1],
    )


def known(miss=MISS, factor=1.0):
    cells = {(0, 1): (miss / factor, miss * factor), (1, 0): (1 / factor, factor)}
    return CostRanges.from_cells(cells, labels=[0, 1], scale="log")


@pytest.mark.parametrize("excess", [1.1, 1.0])
@pytest.mark.parametrize("expected", EXPECTED)
@pytest.mark.parametrize(
    ("models", "factor", "priors"),
    [(2, 1.0, None), (2, 1.5, None), (3, 1.0, None), (2, 1.0, [0.95, 0.05])],
)
def test_a_model_that_is_not_the_cheapest(models, factor, priors, expected, excess):
    tables, times = test_sets(expected, excess, models, int(10 * expected))
    rng = np.random.default_rng(0)
    low = np.array(
        [
            find_cheapest(
                joint_of(table, models), known(factor=factor), Design(priors), 1000, rng
            ).probability_low[0]
            for table in tables
        ]
    )
    assert at_most(times[low >= 0.99].sum(), TRIALS, 0.01)
    assert at_most(times[low >= 0.95].sum(), TRIALS, 0.05)
    if models == 2 and factor == 1 and priors is None:
        misses, alarms = tables[:, 0], tables[:, 2]
        exactly = betaincc(np.maximum(alarms, 1e-9), misses + 1, MISS / (1 + MISS))
        assert low == pytest.approx(exactly, abs=0.08)  # five standard errors
        if expected < 1:  # the plain Dirichlet gives 100% there
            assert times[misses == 0].sum() > 0.5 * TRIALS


@pytest.mark.parametrize("expected", EXPECTED)
def test_what_is_shown_along_a_path(expected):
    """Both cost the same where a miss costs 100: neither is to be shown beyond that."""
    tables, times = test_sets(expected, 1.0, 2, int(10 * expected))
    cheap, dear = (
        CostMatrix.from_errors(false_positive=1, false_negative=miss) for miss in (20, 180)
    )
    rng = np.random.default_rng(0)
    wrong = 0
    for table, often in zip(tables, times, strict=True):
        joint = joint_of(table, 2)
        population, path = find_path(joint, cheap, dear, cell=None, design=Design(), steps=9)
        low, _ = _probabilities(population, cheap, path, 1000, rng)
        shown = low >= 0.975
        wrong += often * bool(shown[0, 4:].any() or shown[1, :5].any())
    assert at_most(wrong, TRIALS, 0.05)
