"""Measured error rates of the tests for two classifiers."""

import numpy as np
import pytest
from _helpers.judge import at_least, at_most
from statistical.test_coverage import FREQUENCIES, expf5_classifier

from stakes import CostMatrix
from stakes.infer._inference import run_test
from stakes.infer._outcomes import Outcomes, make_stratum
from stakes.infer.batch import batch_outcomes, batch_p_values

pytestmark = pytest.mark.statistical
TRIALS = 1000


def cost_model(model, rng):
    """Draw a cost matrix of the papers' Table 4."""
    ratio = FREQUENCIES[:, np.newaxis] / FREQUENCIES
    flat = np.ones((5, 5))
    top, diagonal = {
        "M1": (10 * flat, 0),
        "M2": (100 * flat, 0),
        "M3": (100 * flat, 10),
        "M4": (1000 * flat, 0),
        "M5": (10000 * flat, 0),
        "M6": (1000 * ratio, 0),
        "M7": (1000 / ratio, 0),
        "M8": (10000 * flat, 1000),
        "M9": (2000 * ratio, 1000),
    }[model]
    values = rng.uniform(0, top)
    np.fill_diagonal(values, rng.uniform(0, diagonal, 5) if diagonal else 0)
    return CostMatrix(values.round(2), rows="predicted", labels=range(5))


@pytest.mark.parametrize("model", [f"M{k}" for k in range(1, 10)])
def test_the_symmetric_null_of_the_papers(model):
    """The second classifier has the first one's labels, permuted within each class."""
    rng = np.random.default_rng([11, int(model[1])])
    rejected, matrices = 0, 3
    for _ in range(matrices):
        given = expf5_classifier(rng) / FREQUENCIES
        joint = np.einsum("aj,bj,j->abj", given, given, FREQUENCIES)
        tables = rng.multinomial(1000, joint.ravel() / joint.sum(), TRIALS)
        outcomes = batch_outcomes(tables.reshape(-1, 5, 5, 5), cost_model(model, rng))
        rejected += int((batch_p_values(outcomes) <= 0.05).sum())
    trials = matrices * TRIALS
    assert at_most(rejected, trials, 0.065), rejected
    if model in ("M1", "M2", "M3", "M4", "M5", "M8"):
        assert at_least(rejected, trials, 0.025), rejected


@pytest.mark.parametrize("expected", [0.3, 0.6, 1.2, 2, 3, 5, 8, 12])
def test_the_asymmetric_null(expected):
    """Rarely +100, often -1: where BDELTACOST, z and sign flips reject far too often."""
    rng = np.random.default_rng([12, int(10 * expected)])
    n, trials = 5000, 3000
    rare = expected / n
    tables = rng.multinomial(n, [rare, 100 * rare, 1 - 101 * rare], trials)
    outcomes = Outcomes((make_stratum([100.0, -1.0, 0.0], tables),))
    rejected = int((batch_p_values(outcomes) <= 0.05).sum())
    assert at_most(rejected, trials, 0.08), rejected
    if expected < 1:
        naive = (batch_p_values(outcomes, "normal") <= 0.05).mean()
        assert naive > 0.4


@pytest.mark.parametrize("expected", [0.5, 1, 1.8, 2.4, 2.9, 3.5, 5])
def test_non_inferiority(expected):
    """The true difference is the margin: a rare outcome of +100 is the first one's only extra."""
    rng = np.random.default_rng([13, int(10 * expected)])
    n, trials, rejected = 1000, 3000, 0
    rare = expected / n
    for outcome, times in zip(
        *np.unique(rng.binomial(n, rare, trials), return_counts=True), strict=True
    ):
        counts = np.array([[outcome, 20, n - 20 - outcome]])
        outcomes = Outcomes((make_stratum([100.0, -1.0, 0.0], counts),))
        result = run_test(
            outcomes,
            "extremal",
            alternative="less",
            margin=100 * rare - 0.02,
            confidence=0.95,
            names=("a", "b"),
            options={},
        )
        rejected += times * result.rejected
    assert at_most(rejected, trials, 0.055), rejected
