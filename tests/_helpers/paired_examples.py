"""Examples with the scores of two classifiers, and operating conditions to compare them at."""

import numpy as np
from hypothesis import strategies as st

from stakes import CostCurveDifference, PairedScoreCounts

GRID = (np.arange(1000) + 1 / np.pi) / 1000  # contains no breakpoint of a curve
PLACES = np.array([0.0, 0.01, 0.1, 0.25, 0.5, 0.613, 0.9, 0.995, 1.0])
NAMES = ("one", "other")
seeds = st.integers(0, 10**6)


def drawn(seed, n=30, digits=0):
    """Return labels of both classes and two correlated scores, with ties and infinite values."""
    rng = np.random.default_rng(seed)
    y_true = np.append([0, 1], (rng.random(n) < 0.4).astype(int))
    common = y_true + rng.normal(0, 0.7, n + 2)
    scores = [np.round(common + rng.normal(0, 0.7, n + 2), digits) for _ in range(2)]
    for each in scores:
        each[rng.random(n + 2) < 0.03] = np.inf
        each[rng.random(n + 2) < 0.03] = -np.inf
    return y_true, *scores


def difference_of(seed, **options):
    return CostCurveDifference(PairedScoreCounts.from_scores(*drawn(seed, **options)), NAMES)
