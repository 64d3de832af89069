"""Judge measured shares by a binomial test, not by eye."""

from scipy.stats import binomtest

SURE = 1e-3
"""How unlikely a result must be before it counts against the claim."""


def at_least(hits, trials, share):
    """Tell whether a share of at least `share` is compatible with what was measured."""
    return binomtest(int(hits), int(trials), share, alternative="less").pvalue > SURE


def at_most(hits, trials, share):
    """Tell whether a share of at most `share` is compatible with what was measured."""
    return binomtest(int(hits), int(trials), share, alternative="greater").pvalue > SURE
