"""Measured coverage of the default intervals, and size of the default test, in every design."""

import numpy as np
import pytest
from _helpers.judge import SURE, at_least, at_most
from scipy.stats import binomtest

from replications.experiments.designs import PROBLEMS, judged

pytestmark = pytest.mark.statistical

TRIALS, BATCH = 4000, 250
"""With so many trials, a shortfall of two points fails in nine of ten runs. A clearly good result
stops early, after a batch."""

COVERAGE = {"auto": 0.93, "conservative": 0.95}
MOST_REJECTED = 0.06
HARD = [name for name in PROBLEMS if name.startswith(("groups: 100 × 20", "weights: all alarms"))]
TYPICAL = [
    "groups: 300 × 20, 1 missed whole",
    "groups: 100 of Pareto(3) sizes, 3 missed whole",
    "groups: 100, larger ones harder",
    "weights: lognormal σ 1, heavy rows harder",
    "strata: 4, drawn equally, shares known, 1 missed",
    "strata: 4, drawn equally, missed in the largest, 3 missed",
    "strata: 20, drawn as they are, 3 missed",
    "class priors: 500 of each class, 1% in use, 1 missed",
    "class strata: 200 and 1,800 of the classes, 1 missed",
    "strata × priors: 4 strata, 2% in use, 1 missed",
    "groups × strata: 120 × 10, in 4 strata, 1 missed",
    "groups × strata: 120 × 10, across 4 strata, 1 missed",
    "groups × priors: 100 × 10 of one class, 5% in use, 1 missed",
    "groups × priors: 100 × 10 of both classes, 5% in use, 1 missed",
    "groups × weights: 100, weights 1 and 10, 1 missed whole",
    "groups × weights: 100, all alarms, 10% of the rest, 1 missed whole",
    "strata × weights: 4 strata, weights 1 and 10, 1 missed",
    "weights × priors: 500 of each class, weights 1 and 10, 1 missed",
    "examples: 10 misses in 100 of lognormal σ 1, at most 1,004",
    "examples × weights: lognormal σ 1, 1 missed in 200",
    "examples × groups × weights: lognormal σ 1, 1 missed whole, 100 × 10",
    "examples × strata × priors: lognormal σ 1, 1 missed in 200",
    "groups × strata × weights: 120 × 10, across 4 strata, 1 missed",
    "groups × strata × priors: 120 × 10 in 4 strata, 5% in use, 1 missed",
    "strata × weights × priors: 4 strata, 2% in use, 1 missed",
]


def clearly(hits, trials, share, alternative):
    """Tell whether a share beyond the promised one is all that is compatible with the trials."""
    return binomtest(hits, trials, share, alternative=alternative).pvalue < SURE


@pytest.mark.parametrize("problem", [PROBLEMS[n] for n in (*HARD, *TYPICAL)], ids=lambda p: p.name)
def test_promises(problem):
    rng = np.random.default_rng([19, list(PROBLEMS).index(problem.name)])
    covered, rejected, trials = dict.fromkeys(COVERAGE, 0), 0, 0
    while trials < TRIALS:
        for found in judged(problem, rng, BATCH):
            for method in COVERAGE:
                covered[method] += not any(found.missed(method))
            rejected += bool(found.rejected)
        trials += BATCH
        good = all(clearly(covered[m], trials, share, "greater") for m, share in COVERAGE.items())
        if good and clearly(rejected, trials, MOST_REJECTED, "less"):
            break
    for method, share in COVERAGE.items():
        assert at_least(covered[method], trials, share), (method, covered, trials)
    assert at_most(rejected, trials, MOST_REJECTED), (rejected, trials)


def test_the_judge_sees_two_points():
    rng = np.random.default_rng(0)
    short = rng.binomial(TRIALS, [[0.91], [0.93]], (2, 1000))
    failed = [
        np.mean([not at_least(hits, TRIALS, s) for hits in row])
        for row, s in zip(short, COVERAGE.values(), strict=True)
    ]
    assert min(failed) > 0.85
