"""Comparisons with the cheapest policy, against scipy's studentized range."""

import numpy as np
import pytest
from scipy.stats import norm, studentized_range

from stakes.policies._compared import adjusted, level

FREE = 1e7
"""Degrees of freedom, so many that the studentized range is that of normal variables."""


@pytest.mark.parametrize("members", [2, 3, 5, 8, 20])
@pytest.mark.parametrize("p", [0.9, 0.3, 0.05, 0.01, 1e-4])
def test_p_values_are_those_of_tukeys_range(members, p):
    width = np.sqrt(2) * norm.isf(p / 2)
    expected = studentized_range.sf(width, members, FREE)
    assert adjusted(p, members) == pytest.approx(expected, rel=1e-4, abs=1e-7)


@pytest.mark.parametrize("members", [2, 3, 5, 8, 20])
@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.001])
def test_levels_are_those_of_tukeys_range(members, alpha):
    width = studentized_range.isf(alpha, members, FREE)
    assert level(alpha, members) == pytest.approx(2 * norm.sf(width / np.sqrt(2)), rel=1e-3)
    assert adjusted(level(alpha, members), members) == pytest.approx(alpha, rel=1e-6)


def test_tiny_p_values_keep_their_digits():
    for members in (3, 7):
        pairs = members * (members - 1) / 2
        values = np.logspace(-30, -1, 200)
        found = np.array([adjusted(p, members) for p in values])
        assert (np.diff(found) >= 0).all()
        assert (found <= pairs * values * (1 + 1e-4)).all()
        assert found[0] == pytest.approx(pairs * 1e-30)
    assert adjusted(0.0, 4) == 0.0
    assert adjusted(1.0, 4) == pytest.approx(1.0)
    assert adjusted(0.2, 1) == adjusted(0.2, 2) == 0.2


@pytest.mark.parametrize("members", [21, 300, 4472, 5002, 20_000])
def test_levels_of_thousands_of_policies(members):
    """Where Bonferroni's level is as good, rounding must not leave the search without a bracket."""
    for alpha in (0.2, 0.05, 0.001):
        found = level(alpha, members)
        assert alpha / (members * (members - 1) / 2) * (1 - 1e-12) <= found < alpha
        assert adjusted(found, members) <= alpha * (1 + 1e-9)
