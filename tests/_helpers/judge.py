"""Binomial tests of claims about measured proportions."""

from scipy.stats import binomtest

SURE = 1e-3
"""Significance level: a claim is rejected at this p-value or below."""


def at_least(hits, trials, share):
    """Return whether the hits are compatible with a proportion of at least `share`."""
    return binomtest(int(hits), int(trials), share, alternative="less").pvalue > SURE


def at_most(hits, trials, share):
    """Return whether the hits are compatible with a proportion of at most `share`."""
    return binomtest(int(hits), int(trials), share, alternative="greater").pvalue > SURE
