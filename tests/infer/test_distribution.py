"""The exact bootstrap distribution, against enumeration, direct convolution and Monte Carlo."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import fft
from scipy.stats import binom, binomtest

from stakes import Confusion, CostDifference, CostEstimate, CostMatrix, PairedConfusion
from stakes.errors import InputError
from stakes.infer._probability.convolution import Draws, common_step, fast_length
from stakes.infer._probability.distribution import CostDistribution

# Table 1 of Margineantu & Dietterich (2000), and counts of its four classes.
TABLE_1 = CostMatrix(
    [[0, 3.2, 2.5, 12.7], [1, 0, 3, 100], [40.5, 2.2, 0, 5.5], [1, 0.1, 7.1, 0]],
    rows="predicted",
    labels=[1, 2, 3, 4],
)
COUNTS = [[240, 10, 5, 2], [8, 300, 12, 1], [3, 15, 200, 4], [6, 9, 5, 180]]


def direct_convolution(costs, probabilities, n):
    """Return {total: probability} by adding one draw at a time."""
    totals = {0.0: 1.0}
    for _ in range(n):
        following = {}
        for (total, p), (cost, q) in itertools.product(
            totals.items(), zip(costs, probabilities, strict=True)
        ):
            key = round(total + cost, 9)
            following[key] = following.get(key, 0) + p * q
        totals = following
    return totals


@given(st.data())
def test_small_n_is_the_direct_convolution(data):
    costs = data.draw(
        st.lists(
            st.sampled_from([-2.5, 0, 0.1, 1, 1.7, 3, 10]), min_size=2, max_size=4, unique=True
        )
    )
    costs = np.sort(costs)
    weights = np.array(
        data.draw(st.lists(st.integers(1, 9), min_size=len(costs), max_size=len(costs)))
    )
    n = data.draw(st.integers(1, 12))
    probabilities = weights / weights.sum()
    distribution = CostDistribution([Draws(costs, probabilities, n, 1.0)])
    expected = direct_convolution(costs.tolist(), probabilities.tolist(), n)
    assert distribution.exact
    values, mass = distribution.pmf()
    assert mass.sum() == pytest.approx(1, abs=1e-11)
    running = 0.0
    for total in sorted(expected):
        running += expected[total]
        assert distribution.cdf(total / n) == pytest.approx(running, abs=1e-11)
        assert distribution.sf(total / n) == pytest.approx(1 - running + expected[total], abs=1e-11)
    for level in (0.05, 0.5, 0.9):
        ordered = sorted(expected)
        reached = np.cumsum([expected[total] for total in ordered])
        if np.abs(reached - level).min() > 1e-9:
            assert distribution.quantile(level) == pytest.approx(
                ordered[int(np.searchsorted(reached, level))] / n
            )
    assert (values * mass).sum() == pytest.approx(distribution.mean, abs=1e-9)


def test_the_numbers_of_table_1():
    distribution = CostEstimate(Confusion(COUNTS, [1, 2, 3, 4]), TABLE_1).distribution(laplace=0.1)
    assert 1000 * distribution.mean == pytest.approx(449.9600638978, abs=1e-9)
    assert 1000 * distribution.var**0.5 == pytest.approx(130.0243664127, abs=1e-9)
    assert (1000 * distribution.quantile([0.025, 0.975])).tolist() == pytest.approx([235.4, 738.5])
    assert distribution.cdf(0.2354) == pytest.approx(0.02500811, abs=5e-9)
    assert distribution.cdf(0.7385) == pytest.approx(0.97501765, abs=5e-9)


def test_the_numbers_of_bdeltacost():
    paired = PairedConfusion([[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])
    costs = CostMatrix([[0, 10], [1, 0]], rows="predicted", labels=[0, 1])
    difference = CostDifference(paired, costs)
    distribution = difference.distribution()
    assert 100 * difference.difference == pytest.approx(26)
    assert 100**2 * distribution.var == pytest.approx(503.24)
    assert (100 * distribution.quantile([0.025, 0.975])).tolist() == pytest.approx([-15, 73])
    assert distribution.cdf(0) == pytest.approx(0.122411938486, abs=1e-12)


@pytest.mark.parametrize("costs", [[0, 1, 7, 50], [0, 1.37, np.pi, 50.0123456]])
def test_large_n_agrees_with_monte_carlo(costs):
    rng = np.random.default_rng(0)
    probabilities = np.array([0.9, 0.06, 0.03, 0.01])
    n = 20_000
    distribution = CostDistribution([Draws(np.array(costs, dtype=float), probabilities, n, 1.0)])
    drawn = rng.multinomial(n, probabilities, 100_000) @ np.array(costs) / n
    for level in (0.025, 0.5, 0.975):
        x = distribution.quantile(level)
        assert (
            binomtest(int((drawn <= x + 1e-12).sum()), len(drawn), distribution.cdf(x)).pvalue
            > 1e-4
        )


def test_one_costly_outcome_is_the_binomial_itself():
    distribution = CostDistribution([Draws(np.array([0.0, 3.0]), np.array([0.99, 0.01]), 500, 1.0)])
    for k in range(20):
        assert distribution.cdf(3 * k / 500) == pytest.approx(binom(500, 0.01).cdf(k), rel=1e-12)


@pytest.mark.parametrize("n", [1, 10, 10**4, 10**7])
def test_moments_and_mass_at_any_n(n):
    costs = np.array([0.0, 1.0, 2.5, 20.0])
    probabilities = np.array([0.9, 0.05, 0.04, 0.01])
    distribution = CostDistribution([Draws(costs, probabilities, n, 1.0)])
    values, mass = distribution.pmf()
    assert mass.sum() == pytest.approx(1, abs=1e-10)
    assert mass @ values == pytest.approx(distribution.mean, rel=1e-9)
    assert mass @ (values - distribution.mean) ** 2 == pytest.approx(distribution.var, rel=1e-6)


@pytest.mark.parametrize("scale", [1e-9, 0.3, np.pi, 1e12])
def test_scaling_the_costs_scales_the_distribution(scale):
    costs, probabilities = np.array([-1.0, 0.0, 0.5, 9.0]), np.array([0.1, 0.7, 0.15, 0.05])
    one = CostDistribution([Draws(costs, probabilities, 300, 1.0)])
    scaled = CostDistribution([Draws(costs * scale, probabilities, 300, 1.0)])
    for level in (0.025, 0.4, 0.975):
        assert scaled.quantile(level) == pytest.approx(scale * one.quantile(level), rel=1e-9)


def test_merging_cells_with_equal_costs_changes_nothing():
    equal = CostMatrix(
        [[0, 5], [5, 0], [5, 5]], rows="predicted", labels=[0, 1], decisions=[0, 1, 2]
    )
    split = Confusion([[50, 3], [2, 40], [4, 1]], [0, 1], [0, 1, 2])
    merged = Confusion([[90, 10], [0, 0]], [0, 1])
    costs = CostMatrix.from_errors(false_positive=7, false_negative=5)
    one = CostEstimate(split, equal).distribution(laplace=0)
    other = CostEstimate(merged, costs).distribution(laplace=0)
    for x in (0.2, 0.5, 0.8):
        assert one.cdf(x) == pytest.approx(other.cdf(x), abs=1e-12)


def test_off_the_lattice_the_bracket_holds_the_quantile():
    rng = np.random.default_rng(1)
    costs = np.sort(rng.random(6) * 100)
    probabilities = rng.dirichlet(np.ones(6))
    distribution = CostDistribution([Draws(costs, probabilities, 40, 1.0)])
    assert not distribution.exact
    drawn = np.sort(rng.multinomial(40, probabilities, 400_000) @ costs / 40)
    for level in (0.05, 0.5, 0.95):
        low, high = distribution.bracket(level)
        assert low <= distribution.quantile(level) <= high
        error = 4 * np.sqrt(level * (1 - level) / len(drawn))
        nearby = np.quantile(drawn, [level - error, level + error])
        assert nearby[0] <= high
        assert nearby[1] >= low
    with pytest.raises(InputError, match="the costs have no common step"):
        distribution.pmf()


def test_on_the_lattice_the_bracket_is_the_quantile():
    distribution = CostEstimate(Confusion(COUNTS, [1, 2, 3, 4]), TABLE_1).distribution()
    assert distribution.bracket(0.975) == pytest.approx((0.7385, 0.7385))


def test_strata_add_up():
    """Two strata, by enumerating both binomials."""
    parts = [
        Draws(np.array([0.0, 10.0]), np.array([0.8, 0.2]), 20, 0.3),
        Draws(np.array([0.0, 1.0]), np.array([0.6, 0.4]), 10, 0.7),
    ]
    distribution = CostDistribution(parts)
    x = 0.3 * 10 / 20 * np.arange(21)[:, None] + 0.7 * 1 / 10 * np.arange(11)
    mass = np.outer(binom(20, 0.2).pmf(np.arange(21)), binom(10, 0.4).pmf(np.arange(11)))
    for at in (0.3, 0.8, 1.0):
        assert distribution.cdf(at) == pytest.approx(mass[x <= at + 1e-9].sum(), abs=1e-11)
    assert distribution.mean == pytest.approx((mass * x).sum())
    assert distribution.var == pytest.approx((mass * (x - distribution.mean) ** 2).sum())


@pytest.mark.parametrize(
    ("costs", "step"),
    [
        ([0, 1, 3], 1),
        ([0, 0.1, 0.25], 0.05),
        ([-1.5, 0, 10], 0.5),
        ([5], None),
        ([0, 1, np.pi], None),
        ([0, 1e-9, 1e12], None),
    ],
)
def test_common_step(costs, step):
    found = common_step(np.array(costs, dtype=float))
    assert found is None if step is None else found == pytest.approx(step)


def test_bad_input():
    distribution = CostDistribution([Draws(np.array([0.0, 1.0]), np.array([0.5, 0.5]), 4, 1.0)])
    with pytest.raises(InputError, match="q: expected probabilities between 0 and 1"):
        distribution.quantile(1.5)
    assert "mean=0.5" in repr(distribution)


@pytest.mark.parametrize("n", [10**10, 10**12])
def test_the_binomial_of_a_huge_n(n):
    table = Confusion([[n // 2, 0], [n // 2, 0]], [0, 1])
    costs = CostMatrix.from_errors(false_positive=1, false_negative=3)
    low, high = CostEstimate(table, costs).interval(method="exact", laplace=0)
    arm = 1.959964 * 0.5 / np.sqrt(n)
    assert (low, high) == pytest.approx((0.5 - arm, 0.5 + arm), abs=0.01 * arm)


def test_off_the_lattice_the_variance_is_not_inflated():
    costs, probabilities = np.array([0.0, 1.0, np.pi * 100]), np.array([0.9, 0.09, 0.01])
    distribution = CostDistribution([Draws(costs, probabilities, 10**7, 1.0)])
    low, high = distribution.quantile([0.025, 0.975])
    assert high - low == pytest.approx(2 * 1.959964 * distribution.var**0.5, rel=2e-3)


@pytest.mark.parametrize("n", [10**5, 10**6])
@pytest.mark.parametrize("costs", [[0, 0.1, 2.5, 99.9], [0, 7, 14, 15], [-40, 0, 40, 80.5]])
def test_picking_angles_gives_what_transforming_all_gives(n, costs, monkeypatch):
    costs, probabilities = np.array(costs, dtype=float), np.array([0.5, 0.3, 0.15, 0.05])
    picked = CostDistribution([Draws(costs, probabilities, n, 1.0)])
    monkeypatch.setattr("stakes.infer._probability.convolution._candidates", lambda *_: None)
    whole = CostDistribution([Draws(costs, probabilities, n, 1.0)])
    for level in (0.001, 0.025, 0.5, 0.975):
        assert picked.quantile(level) == whole.quantile(level)
        x = whole.quantile(level)
        assert picked.cdf(x) == pytest.approx(whole.cdf(x), abs=1e-9)


@pytest.mark.parametrize("expensive", [1e5, 1e6, 1e8])
@pytest.mark.parametrize("misses", [0.4, 1.1, 3])
def test_no_probability_is_lost_where_one_cost_dwarfs_the_others(expensive, misses):
    n, alarms = 10_000, 500
    costs = np.array([0.0, 1.0, expensive])
    probabilities = np.array([n - alarms - misses, alarms, misses]) / n
    distribution = CostDistribution([Draws(costs, probabilities, n, 1.0)])
    assert distribution.cdf(expensive) == pytest.approx(1, abs=1e-9)
    for q in (0.5, 0.9, 0.975, 0.999):
        k = binom.ppf(q, n, misses / n)  # so many expensive ones, and some hundred cheap ones
        if np.abs(binom.cdf([k - 1, k], n, misses / n) - q).min() > 1e-3:
            found = distribution.quantile(q)
            assert found == pytest.approx(k * expensive / n + 0.05, abs=0.01 + 1e-3 * expensive / n)
            low, high = distribution.bracket(q)
            assert low <= found <= high


def test_fast_lengths_are_those_of_scipy():
    for size in (*range(1, 3000), 10**6 + 1, 2**20, 3**13, 5**9 + 1):
        assert fast_length(size) == fft.next_fast_len(size, real=True)
