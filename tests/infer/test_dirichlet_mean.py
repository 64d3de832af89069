"""The distribution of Dirichlet means, against closed forms, sampling and another integral."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import ndtr
from scipy.stats import beta, binomtest

from stakes.infer._probability.dirichlet_mean import quantile, upper_tail


def with_a_third(rows, levels):
    """Return rows on two atoms beside one on three, so that the general way has to do them."""
    wider = np.insert(rows, 1, 0.0, axis=1)
    return np.vstack([wider, [[1.0, 1.0, 1.0]]]), np.append(levels, 0.5)


def general_quantile(rows, upper):
    return quantile(np.array([0.0, 0.5, 1.0]), *with_a_third(rows, upper))[:-1]


@pytest.mark.parametrize(
    ("n", "errors", "weight"),
    [
        *product([1, 5, 100, 10**4, 10**7], [0, 1, 3, 50], [0.7]),
        *product([1, 10**4], [0, 3], [0.5, 1.0]),
    ],
)
def test_two_atoms_are_a_beta_distribution(n, errors, weight):
    alpha = np.array([[max(n - errors, 1), errors + weight]])
    law = beta(alpha[0, 1], alpha[0, 0])
    levels = np.array([0.0005, 0.025, 0.3, 0.5, 0.975, 0.9995])
    rows = np.repeat(alpha, len(levels), axis=0)
    found = quantile(np.array([0.0, 1.0]), rows, 1 - levels)
    assert law.cdf(found) == pytest.approx(levels, abs=1e-9)
    assert law.cdf(general_quantile(rows, 1 - levels)) == pytest.approx(levels, abs=1e-7)
    tails = upper_tail(np.array([0.0, 1.0]), rows, law.ppf(levels))
    assert tails == pytest.approx(1 - levels, abs=1e-7)


def by_vertical_integration(costs, alpha, u):
    """P(Σ a·D > u) by Imhof's formula, on the imaginary axis."""
    b = costs - u

    def integrand(t):
        angle = (alpha * np.arctan(b * t)).sum()
        size = np.exp(0.5 * (alpha * np.log1p((b * t) ** 2)).sum())
        return np.sin(angle) / (t * size)

    scale = 1 / np.sqrt((alpha * b**2).sum())
    pieces = [quad(integrand, k * scale, (k + 1) * scale, limit=200)[0] for k in range(60)]
    return 0.5 + sum(pieces) / np.pi


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 30)), min_size=2, max_size=8),
    st.floats(0.15, 0.85),
)
def test_many_atoms_agree_with_imhofs_integral(atoms, where):
    costs = np.unique(np.round([cost for cost, _ in atoms], 2))
    if len(costs) < 2:
        return
    alpha = np.array([float(count) for _, count in atoms[: len(costs)]])
    alpha[-1] += 3  # so that the integral in the test converges quickly
    u = costs[0] + where * (costs[-1] - costs[0])
    found = upper_tail(costs, alpha[np.newaxis], np.array([u]))[0]
    assert found == pytest.approx(by_vertical_integration(costs, alpha, u), abs=1e-5)


def test_agrees_with_sampling_over_many_scales():
    rng = np.random.default_rng(0)
    costs = np.array([0.0, 1e-6, 1e-3, 0.02, 1.0])
    alpha = np.array([900.0, 40.0, 30.0, 2.0, 0.7])
    drawn = rng.standard_gamma(alpha, (200_000, 5))
    means = drawn @ costs / drawn.sum(axis=1)
    for level in (0.025, 0.5, 0.975):
        u = quantile(costs, alpha[np.newaxis], np.array([1 - level]))[0]
        assert binomtest(int((means > u).sum()), len(means), 1 - level).pvalue > 1e-4


def test_rows_are_treated_independently_of_each_other():
    rng = np.random.default_rng(1)
    costs = np.sort(rng.random(9))
    alpha = rng.integers(0, 20, (50, 9)) + np.eye(9)[rng.integers(0, 9, 50)] * 0.7
    level = rng.uniform(0.01, 0.99, 50)
    together = quantile(costs, alpha, level)
    alone = [quantile(costs, alpha[[i]], level[[i]])[0] for i in range(50)]
    assert together == pytest.approx(alone, rel=1e-9)
    assert upper_tail(costs, alpha, together) == pytest.approx(level, abs=2e-8)


def test_a_single_atom_and_the_ends_of_the_support():
    costs = np.array([1.0, 2.0, 4.0])
    assert quantile(costs, np.array([[0.0, 3.0, 0.0]]), np.array([0.3])).tolist() == [2.0]
    alpha = np.array([[1.0, 1.0, 1.0]] * 4)
    ends = np.array([0.5, 1.0, 4.0, 9.0])
    assert upper_tail(costs, alpha, ends).tolist() == [1.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("small", [[0.5, 0.01], [0.1, 0.3], [0.01, 0.001]])
def test_atoms_with_tiny_weights(small):
    """Tails with a plateau: almost always nothing, rarely a lot."""
    rng = np.random.default_rng(2)
    costs, alpha = np.array([0.0, 1.0, 1e4]), np.array([50.0, *small])
    drawn = rng.standard_gamma(alpha, (100_000, 3))
    means = drawn @ costs / drawn.sum(axis=1)
    for level in (0.2, 0.05, 0.01):
        u = quantile(costs, alpha[np.newaxis], np.array([level]))[0]
        assert binomtest(int((means > u).sum()), len(means), level).pvalue > 1e-4


@pytest.mark.parametrize("n", [10, 2410, 10**6])
def test_quantiles_that_round_to_the_costliest_outcome(n):
    """As the strata of known class priors ask for, where a class was always decided wrongly."""
    levels = ndtr(np.linspace(-6, 6, 25))
    rows = np.tile([0.7, float(n)], (len(levels), 1))
    for found in (
        quantile(np.array([0.0, 1.0]), rows, 1 - levels),
        general_quantile(rows, 1 - levels),
    ):
        assert (np.diff(found) >= 0).all()
        assert found == pytest.approx(beta(n, 0.7).ppf(levels), abs=1e-9)


def test_rows_may_have_costs_of_their_own():
    rng = np.random.default_rng(8)
    costs, alpha = rng.gamma(1, size=(30, 4)) * 10, rng.gamma(2, 5, size=(30, 4))
    alpha[::3, 1], costs[5] = 0.0, 7.0
    upper = rng.uniform(0.01, 0.99, 30)
    found = quantile(costs, alpha, upper)
    for row in range(30):
        order = np.argsort(costs[row])
        alone = quantile(costs[row, order], alpha[row : row + 1, order], upper[row : row + 1])
        assert found[row] == pytest.approx(alone[0], rel=1e-9)
