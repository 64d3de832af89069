"""Measured error rates of the comparisons with the cheapest of several, and of the regret."""

import numpy as np
import pytest
from _helpers.judge import at_most
from scipy.special import ndtr

from stakes import CostMatrix, compare_many
from stakes.infer.family import adjusted

pytestmark = pytest.mark.statistical
TRIALS = 800


def drawn(rng, n, misses, alarms, prevalence=0.3):
    """Return classes, and decisions of models with these error rates and correlated errors."""
    y_true = (rng.random(n) < prevalence).astype(int)
    shared = rng.standard_normal(n)
    found = {}
    for k, (miss, alarm) in enumerate(zip(misses, alarms, strict=True)):
        rank = np.argsort(np.argsort(0.6 * shared + 0.8 * rng.standard_normal(n))) / n
        wrong = rank < np.where(y_true == 1, miss, alarm)
        found[f"m{k}"] = np.where(wrong, 1 - y_true, y_true)
    return y_true, found


@pytest.mark.parametrize(
    ("ratio", "misses", "alarms"),
    [
        (1, [0.1] * 4, [0.1] * 4),
        (5, [0.05, 0.04, 0.06, 0.05], [0.1, 0.1 + 0.15 / 7, 0.1 - 0.15 / 7, 0.1]),
        (50, [0.01, 0.01, 0.02], [0.3, 0.3, 0.3]),
    ],
    ids=["1:1, equal", "5:1, equal costs of other mistakes", "50:1, one worse"],
)
def test_claims_about_the_cheapest_and_its_regret(ratio, misses, alarms):
    costs = CostMatrix.from_errors(false_positive=1, false_negative=ratio)
    truth = {
        f"m{k}": 0.3 * ratio * miss + 0.7 * alarm
        for k, (miss, alarm) in enumerate(zip(misses, alarms, strict=True))
    } | {"always 0": 0.3 * ratio, "always 1": 0.7}
    rng = np.random.default_rng([23, ratio])
    false_claims = too_small = 0
    for _ in range(TRIALS):
        ranking = compare_many(*drawn(rng, 400, misses, alarms), costs)
        best = ranking.competitors[0]
        false_claims += any(
            pair.shown and truth[pair.second] <= truth[best] + 1e-9
            for pair in ranking.comparisons()
        )
        too_small += truth[best] - min(truth.values()) > ranking.regret() + 1e-9
    assert at_most(false_claims, TRIALS, 0.05), false_claims
    assert at_most(too_small, TRIALS, 0.05), too_small


def test_stepping_down_keeps_the_error_rate_of_normal_differences():
    """Some policies are worse by 2 standard errors, so that steps are taken."""
    rng, trials = np.random.default_rng(24), 4000
    means = np.array([0.0, 0.0, 0.0, 2.0, 2.0, 4.0])
    errs = 0
    for _ in range(trials):
        costs = means + rng.standard_normal(6) / np.sqrt(2)
        best = costs.argmin()
        p = {k: 2 * float(ndtr(costs[best] - costs[k])) for k in range(6) if k != best}
        left = 6
        for k in sorted(p, key=p.get):
            if adjusted(p[k], left) > 0.05:
                break
            errs += means[k] <= means[best]
            left -= 1
            if means[k] <= means[best]:
                break
    assert at_most(errs, trials, 0.05), errs
