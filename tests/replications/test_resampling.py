"""Verdicts averaged over resampling agree with simulated resamples."""

from itertools import product
from math import factorial, prod

import numpy as np
import pytest
from scipy.stats import binom

from replications.domains.cost_models import draw_costs
from replications.experiments.shared.classifier import draw_tables, permuted
from replications.experiments.shared.resampling import chances, outside
from stakes.infer._outcomes import Outcomes, make_stratum
from stakes.infer.batch import batch_outcomes
from stakes.infer.methods.bcost import order, resampled
from stakes.infer.methods.exact import distributions

PRIORS = np.array([0.5, 0.45, 0.05])
SHARES = np.array([[0.45, 0.02, 0.01], [0.03, 0.42, 0.02], [0.02, 0.01, 0.02]])


def outcomes_of(costs, counts):
    return Outcomes((make_stratum(np.array(costs), np.array(counts), scale=1.0),))


def enumerate_chances(costs, counts, value):
    n, shares = sum(counts), np.array(counts) / sum(counts)
    at_most = at_least = 0.0
    for drawn in product(range(n + 1), repeat=len(costs)):
        if sum(drawn) != n:
            continue
        ways = factorial(n) / prod(map(factorial, drawn))
        chance = ways * prod(share**each for share, each in zip(shares, drawn, strict=True))
        mean = np.dot(drawn, costs) / n
        at_most += chance * (mean <= value + 1e-9)
        at_least += chance * (mean >= value - 1e-9)
    return at_most, at_least


@pytest.mark.parametrize("counts", [[6, 1, 3], [1, 8, 1], [2, 2, 6], [0, 9, 1]])
def test_a_lattice_by_enumeration(counts):
    found = chances(outcomes_of([-1.0, 0.0, 3.0], [counts]), 0.0, spacing=1.0)
    expected = enumerate_chances([-1, 0, 3], counts, 0)
    np.testing.assert_allclose(np.ravel(found), expected, atol=2e-3)


def test_binomial():
    n, seen = 400, np.array([0, 1, 3, 10, 40])
    counts = np.column_stack([n - seen, seen])
    at_most, at_least = chances(outcomes_of([0.0, 7.0], counts), 7 * 4 / n, spacing=7.0)
    np.testing.assert_allclose(at_most, binom.cdf(4, n, seen / n), atol=2e-4)
    np.testing.assert_allclose(at_least, binom.sf(3, n, seen / n), atol=2e-4)


@pytest.mark.parametrize("model", ["M1", "M6", "M9"])
@pytest.mark.parametrize("laplace", [0.0, 0.1, 0.5])
def test_costs_of_any_size_by_the_exact_distribution(model, laplace):
    costs = draw_costs(model, PRIORS, rng=2)
    tables = draw_tables(SHARES, 8, np.random.default_rng(0))
    outcomes = batch_outcomes(tables, costs)
    value = float((SHARES * costs.values).sum())
    at_most, at_least = chances(outcomes, value, laplace=laplace)
    found = distributions(outcomes, laplace, 0.05)
    laws = [found.one(table) for table in range(len(tables))]
    np.testing.assert_allclose(at_most, [law.cdf(value) for law in laws], atol=2e-3)
    np.testing.assert_allclose(at_least, [law.sf(value) for law in laws], atol=2e-3)


def test_differences_by_drawn_resamples():
    costs = draw_costs("M6", PRIORS, rng=4)
    tables = draw_tables(permuted(SHARES), 20, np.random.default_rng(3))
    outcomes = batch_outcomes(tables, costs)
    drawn = resampled(outcomes, 0.05, 0.0, 20_000, np.random.default_rng(0))
    at_most, at_least = chances(outcomes, 0.0)
    np.testing.assert_allclose(at_most, (drawn <= 1e-9).mean(axis=1), atol=0.015)
    np.testing.assert_allclose(at_least, (drawn >= -1e-9).mean(axis=1), atol=0.015)


def test_certain_and_constant_tables():
    outcomes = outcomes_of([-1.0, 0.0, 2.0], [[500, 500, 0], [0, 500, 500], [0, 1000, 0]])
    at_most, at_least = chances(outcomes, 0.0, spacing=1.0)
    assert at_most.tolist() == [1, 0, 1]
    assert at_least.tolist() == [0, 1, 1]


@pytest.mark.parametrize("n_resamples", [100, 300, 1000])
def test_the_chance_that_a_value_lies_outside(n_resamples):
    rng = np.random.default_rng(0)
    rank = order(0.05, n_resamples)
    for chance in (0.01, 0.025, 0.04, 0.5, 0.98):
        below = rng.random((4000, n_resamples)) < chance  # whether a resample is below the value
        ranked = np.sort(np.where(below, -1, 1), axis=1)
        missed = (ranked[:, rank - 1] > 0) | (ranked[:, n_resamples - rank] < 0)
        found = outside(np.array([chance]), np.array([1 - chance]), n_resamples)[0]
        assert found == pytest.approx(missed.mean(), abs=0.03)


def test_infinitely_many_resamples():
    sides = np.array([0.02, 0.03, 0.98]), np.array([0.98, 0.97, 0.02])
    assert outside(*sides, 0).tolist() == [1, 0, 1]
