"""The bootstrap distribution of costs on two scales or with no common step, by other routes."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, multinomial

from stakes import Confusion, CostDifference, CostEstimate, CostMatrix, PairedConfusion
from stakes.errors import InputError
from stakes.infer._probability import distribution as module
from stakes.infer._probability.convolution import Draws
from stakes.infer._probability.distribution import CostDistribution


def every_mean(part):
    """Return all possible means of one stratum, by listing all counts, and their probabilities."""
    k = len(part.costs)
    bars = np.array(list(itertools.combinations(range(part.n + k - 1), k - 1)))
    edges = np.column_stack([np.full(len(bars), -1), bars, np.full(len(bars), part.n + k - 1)])
    counts = np.diff(edges, axis=1) - 1
    return part.scale * (counts @ part.costs), multinomial(part.n, part.probabilities).pmf(counts)


def every_sum(parts):
    values, mass = np.zeros(1), np.ones(1)
    for part in parts:
        more, probabilities = every_mean(part)
        values = np.add.outer(values, more).ravel()
        mass = np.multiply.outer(mass, probabilities).ravel()
    return values, mass


def check_against(distribution, values, mass):
    """Compare with listed values: exactly, or within the error that is stated."""
    room = distribution.error
    tiny = 1e-14 * np.abs(values).max()
    for x in np.quantile(values, [0.03, 0.2, 0.5, 0.8, 0.97], method="nearest"):
        at_most, at_least = mass[values <= x + tiny].sum(), mass[values >= x - tiny].sum()
        if distribution.exact:
            assert distribution.cdf(x) == pytest.approx(at_most, abs=1e-10)
            assert distribution.sf(x) == pytest.approx(at_least, abs=1e-10)
        assert distribution.cdf(x - room) - 1e-10 <= at_most <= distribution.cdf(x + room) + 1e-10
        assert distribution.sf(x + room) - 1e-10 <= at_least <= distribution.sf(x - room) + 1e-10
    order = np.argsort(values)
    reached = np.cumsum(mass[order])
    for level in (0.025, 0.5, 0.975):
        if np.abs(reached - level).min() > 1e-9:
            least = values[order][np.searchsorted(reached, level)]
            low, high = distribution.bracket(level)
            assert low - 100 * tiny <= least <= high + 100 * tiny
            if distribution.exact:
                assert distribution.quantile(level) == pytest.approx(least, rel=1e-9, abs=tiny)


SIZES = st.sampled_from(
    [1.0, 2.0, 0.1, 7.3, math.pi, math.sqrt(2), math.e / 7, 137.0359, 1e4 / 3, 1e6, 1e6 + 3, 1e9]
)


@st.composite
def strata(draw, most_atoms=6, most_draws=6):
    sizes = draw(st.lists(SIZES, min_size=2, max_size=most_atoms - 1, unique=True))
    signs = draw(st.lists(st.sampled_from([1, 1, -1]), min_size=len(sizes), max_size=len(sizes)))
    costs = np.sort([0.0, *np.multiply(sizes, signs)])
    weights = draw(st.lists(st.integers(1, 20), min_size=len(costs), max_size=len(costs)))
    return Draws(costs, np.array(weights) / sum(weights), draw(st.integers(1, most_draws)), 1.0)


@given(strata())
def test_few_draws_are_those_of_enumeration(part):
    check_against(CostDistribution([part]), *every_mean(part))


@settings(deadline=None, max_examples=20)
@given(st.lists(strata(most_atoms=3, most_draws=4), min_size=2, max_size=3), st.floats(0.01, 1.0))
def test_strata_with_weights_on_no_lattice(parts, share):
    weights = [share, 1.0, math.sqrt(share)][: len(parts)]
    parts = [
        Draws(part.costs, part.probabilities, part.n, weight)
        for part, weight in zip(parts, weights, strict=True)
    ]
    check_against(CostDistribution(parts), *every_sum(parts))


@settings(deadline=None, max_examples=15)
@given(strata(most_draws=5))
def test_what_is_too_much_for_a_table_is_bracketed(part):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LARGEST_LATTICE", 0)
        patch.setattr(module, "layers_of", lambda *_: None)
        patch.setattr(module, "FINE_LATTICE", 1 << 14)
        distribution = CostDistribution([part])
    if len(part.costs) > 2:
        assert not distribution.exact
    check_against(distribution, *every_mean(part))


@settings(deadline=None, max_examples=15)
@given(strata(most_draws=5))
def test_counting_the_largest_costs_only_is_bracketed(part):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "LARGEST_LATTICE", 0)
        patch.setattr(module, "_exact_layers", lambda *_: None)
        distribution = CostDistribution([part])
    check_against(distribution, *every_mean(part))


def test_two_irrational_costs():
    costs = CostMatrix([[0, 137.0359], [math.pi / 3, 0]], rows="predicted", labels=[0, 1])
    estimate = CostEstimate(Confusion([[960, 3], [30, 7]], rows="predicted", labels=[0, 1]), costs)
    distribution = estimate.distribution(laplace=0.1)
    assert distribution.exact
    totals = 1000 * distribution.quantile([0.025, 0.975])
    assert totals.tolist() == pytest.approx([32.463124, 991.714424], abs=5e-7)
    interval = estimate.interval(method="exact", laplace=0.1)
    assert list(interval.times(1000)) == pytest.approx(totals.tolist())
    assert interval.error == 0
    # Other route: the number of misses is binomial, and so are the false alarms, given the misses.
    misses, alarms, n, all_cells = 3.1, 30.1, 1000, 1000.4
    for total in (32.463124, 500.0, 991.714424):
        reached = 0.0
        for k in range(40):
            left = math.floor((total - k * 137.0359) / (math.pi / 3) + 1e-6)
            share = alarms / (all_cells - misses)
            reached += binom.pmf(k, n, misses / all_cells) * binom.cdf(left, n - k, share)
        assert distribution.cdf((total + 1e-6) / n) == pytest.approx(reached, abs=1e-11)


def test_a_million_to_one():
    """The expensive mistakes differ +15/-6; where they are equal, the cheap ones decide."""
    n, large, small = 10_000, (6, 15), (50, 5)
    paired = np.zeros((2, 2, 2), dtype=int)
    paired[1, 0, 1], paired[0, 1, 1] = large
    paired[0, 1, 0], paired[1, 0, 0] = small
    paired[0, 0, 0], paired[1, 1, 1] = n - 1000 - sum(small), 1000 - sum(large)
    costs = CostMatrix([[0, 1e6], [1, 0]], rows="predicted", labels=[0, 1])
    difference = CostDifference(PairedConfusion(paired, labels=[0, 1]), costs)
    result = difference.test(method="exact")
    less, more = np.meshgrid(np.arange(60), np.arange(60), indexing="ij")
    mass = multinomial(n, [6 / n, 15 / n, 1 - 21 / n]).pmf(
        np.stack([less, more, n - less - more], axis=-1)
    )
    equal = np.flatnonzero(less == more)
    rest, tie = n - (less + more).ravel()[equal], 0.0
    cheaper, dearer = np.meshgrid(np.arange(130), np.arange(40), indexing="ij")
    for left, p in zip(rest.tolist(), mass.ravel()[equal].tolist(), strict=True):
        shares = np.array([50, 5, n - 21 - 55]) / (n - 21)
        counts = np.stack([cheaper, dearer, left - cheaper - dearer], axis=-1)
        tie += p * multinomial(left, shares).pmf(counts)[dearer <= cheaper].sum()
    expected = 2 * (mass[more < less].sum() + tie)
    assert round(expected, 4) == 0.0576
    assert result.p_value == pytest.approx(expected, abs=1e-10)
    assert not result.rejected
    assert difference.distribution().exact


def test_many_differences_on_two_scales_are_few_places():
    """Two million cells of counts, but only some hundred multiples of either scale."""
    costs = np.array([-1e6, -1e6 + 12.5, -12.5, -1.0, 0.0, 1.0, 12.5, 1e6 - 12.5, 1e6])
    probabilities = np.array([4, 3, 40, 60, 9782, 55, 45, 5, 6]) / 10_000
    distribution = CostDistribution([Draws(costs, probabilities, 10_000, 1.0)])
    assert distribution.exact
    drawn = np.random.default_rng(0).multinomial(10_000, probabilities, 100_000) @ costs / 10_000
    for x in (-200.0, 0.0, 0.05, 200.0):
        assert distribution.cdf(x) == pytest.approx((drawn <= x).mean(), abs=0.006)
    values, mass = distribution.pmf()
    assert mass.sum() == pytest.approx(1, abs=1e-10)
    assert mass @ values == pytest.approx(distribution.mean, rel=1e-9)
    assert (np.diff(values) > 0).all()


@pytest.mark.parametrize("n", [10**4, 10**6])
def test_large_n_is_the_sum_of_conditional_binomials(n):
    rates, costs = np.array([2e-3, 4e-4]) * (10**4 / n) ** 0.5, np.array([1.0, 50 * math.sqrt(2)])
    distribution = CostDistribution(
        [Draws(np.array([0, *costs]), np.array([1 - rates.sum(), *rates]), n, 1.0)]
    )
    assert distribution.exact
    large = np.arange(int(n * rates[1] + 40 * math.sqrt(n * rates[1]) + 40))
    mass = binom.pmf(large, n, rates[1])
    for level in (0.025, 0.975):
        x = distribution.quantile(level)
        left = np.floor((n * x - large * costs[1]) / costs[0] + 1e-6)
        reached = mass @ binom.cdf(left, n - large, rates[0] / (1 - rates[1]))
        assert distribution.cdf(x) == pytest.approx(reached, abs=1e-10)
        assert reached >= level - 1e-10


def test_class_priors_of_a_million_examples():
    """Two classes with a binomial each, whose steps have no common one."""
    parts = [
        Draws(np.array([0.0, 1.0]), np.array([0.8, 0.2]), 990_000, 0.317),
        Draws(np.array([0.0, 10.0]), np.array([0.7, 0.3]), 10_000, 0.683),
    ]
    distribution = CostDistribution(parts)
    assert distribution.exact
    k = np.arange(10_001)
    for x in (2.05, 2.1124, 2.17):
        left = np.floor((x - 0.683 * 10 / 10_000 * k) / (0.317 / 990_000))
        reached = binom.pmf(k, 10_000, 0.3) @ binom.cdf(left, 990_000, 0.2)
        assert distribution.cdf(x) == pytest.approx(reached, abs=1e-10)


MANY = np.array([0, 1, math.pi, math.sqrt(7), 1e6, 1e6 * math.sqrt(2)])


def test_two_scales_that_are_too_much_for_a_table():
    """The large costs are counted, and the error is small against what the small ones differ by."""
    probabilities = np.array([0.95, 0.02, 0.0198, 0.01, 0.0001, 0.0001])
    distribution = CostDistribution([Draws(MANY, probabilities, 10_000, 1.0)])
    assert not distribution.exact
    assert 0 < distribution.error < 2e-3
    assert "within ±" in repr(distribution)
    drawn = np.random.default_rng(1).multinomial(10_000, probabilities, 200_000) @ MANY / 10_000
    for x in (0.105, 0.11, 100.11, 300.0):
        assert distribution.cdf(x) == pytest.approx((drawn <= x).mean(), abs=0.005)
    with pytest.raises(InputError, match="the costs have no common step"):
        distribution.pmf()


def test_what_is_not_exact_is_not_called_so():
    rng = np.random.default_rng(2)
    costs = CostMatrix(
        rng.gamma(0.5, 10, (3, 3)) * (1 - np.eye(3)), rows="predicted", labels=[0, 1, 2]
    )
    counts = rng.poisson(40, (3, 3, 3)) + 900 * (np.ptp(np.indices((3, 3, 3)), axis=0) == 0)
    difference = CostDifference(PairedConfusion(counts, labels=[0, 1, 2]), costs)
    distribution = difference.distribution()
    assert not distribution.exact
    margin = float(distribution.quantile(0.03))
    result = difference.test(method="exact", margin=margin)
    assert result.error == distribution.error
    assert result.p_value == 2 * distribution.cdf(margin + distribution.error)
    assert result.p_value > 2 * distribution.cdf(margin)
    assert "p at most" in result.summary()
    assert "exact" not in result.summary()
    assert result.to_dict()["error"] == result.error
    interval = difference.interval(method="exact")
    low, high = distribution.quantile([0.025, 0.975])
    assert tuple(interval) == (low - distribution.error, high + distribution.error)
    assert interval.times(10).error == 10 * distribution.error
    assert "computed to within ±" in interval.summary()
    assert interval.to_dict()["error"] == distribution.error
