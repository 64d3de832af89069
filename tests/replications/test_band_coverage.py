"""Coverage of bands, by two routes."""

import numpy as np
import pytest
from scipy.stats import binom

from replications.domains.binormal import Binormal, BinormalPair
from replications.experiments.shared.band_coverage import (
    Tables,
    enumerated,
    enumerated_percentiles,
    percentiles_cover,
)
from stakes.curves.bands import METHODS

ALPHA = 0.1


def rates_at(theta, pc):
    truth = Binormal(theta)
    cut = truth.threshold(pc)
    return float(truth.fnr(cut)), float(truth.fpr(cut))


def drawn_pair(shift, pc, size, *, n=300):
    pair = BinormalPair(Binormal(1.0), Binormal(1.0, shift), 0.6)
    rng = np.random.default_rng(5)
    sides = [
        rng.multinomial(n, [*each[:, 0], 1 - each.sum()], size)[:, :2].T.astype(float)
        for each in pair.alone_wrong([pc])
    ]
    return Tables(pc, n, *sides, float(pair.difference(pc)))


@pytest.mark.parametrize("whole", [False, True])
def test_all_test_sets_are_enumerated(whole):
    rates = (0.2, 0.07)
    tables, chances = enumerated(0.3, rates, 40, whole=whole, full=whole)
    assert chances.sum() == pytest.approx(1, abs=1e-8)
    assert chances @ tables.positives[0] == pytest.approx(8)
    assert chances @ tables.negatives[0] == pytest.approx(2.8)
    together = chances @ (tables.positives[0] * tables.negatives[0]) - 8 * 2.8
    assert together == pytest.approx(-80 * 0.1 * 0.035 if whole else 0, abs=1e-6)
    assert tables.truth == pytest.approx(0.3 * 0.2 + 0.7 * 0.07)


@pytest.mark.parametrize("method", ["mover", "wilson", "gaussian"])
@pytest.mark.parametrize("full", [False, True])
def test_limits_that_are_looked_up_are_the_methods_own(method, full):
    tables, _ = enumerated(0.2, (0.3, 0.05), 30, full=full)
    low, high = METHODS[method].limits(tables.sample(), ALPHA)
    found = tables.limits(method, ALPHA)
    assert found[0] == pytest.approx(np.maximum(low, 0))
    assert found[1] == pytest.approx(np.minimum(high, 1))


def test_limits_of_a_difference_may_be_negative():
    tables = drawn_pair(0.0, 0.5, 50)
    low, _ = tables.limits("mover", ALPHA)
    assert low.min() < 0


@pytest.mark.parametrize(("pc", "gaussian"), [(0.005, 0.128), (0.01, 0.384), (0.02, 0.793)])
def test_the_papers_band_collapses_at_the_ends(pc, gaussian):
    tables, chances = enumerated(pc, rates_at(3.0, pc), 1000)
    assert chances @ tables.covered("gaussian", ALPHA) == pytest.approx(gaussian, abs=0.001)
    assert chances @ tables.covered("mover", ALPHA) > 0.95
    exact = enumerated_percentiles(pc, rates_at(3.0, pc), 1000, ALPHA)
    assert exact == pytest.approx(gaussian, abs=0.02)


@pytest.mark.parametrize("pc", [0.02, 0.3, 0.5])
def test_percentiles_are_enumerated_as_they_are_found_one_by_one(pc):
    rates, n = rates_at(1.5, pc), 9
    tables, chances = enumerated(pc, rates, n)
    one_by_one = chances @ tables.covered("exact", ALPHA)
    assert enumerated_percentiles(pc, rates, n, ALPHA) == pytest.approx(one_by_one, abs=1e-8)
    assert np.array_equal(percentiles_cover(tables, ALPHA), tables.covered("exact", ALPHA))


def test_percentiles_cover_where_the_band_does_under_full_sampling():
    rng = np.random.default_rng(0)
    rates = rates_at(3.0, 0.1)
    counts = [rng.binomial(200, rate / 2, (1, 100)).astype(float) for rate in rates]
    tables = Tables(0.1, 100, *counts, 0.1 * rates[0] + 0.9 * rates[1], full=True)
    assert np.array_equal(percentiles_cover(tables, ALPHA), tables.covered("exact", ALPHA))


@pytest.mark.parametrize("shift", [0.0, 2.0])
@pytest.mark.parametrize("pc", [0.02, 0.5])
def test_percentiles_cover_where_the_band_of_a_difference_does(shift, pc):
    tables = drawn_pair(shift, pc, 80)
    assert np.array_equal(percentiles_cover(tables, ALPHA), tables.covered("exact", ALPHA))


def test_coverage_of_one_rate_by_hand():
    """At PC(+) near 1 only misses count, and the band is that of one binomial."""
    tables, chances = enumerated(1 - 1e-9, (0.1, 0.4), 20)
    k = np.arange(21)
    half = 1.6448536269514722 * np.sqrt(k / 20 * (1 - k / 20) / 20)
    inside = np.abs(k / 20 - 0.1) <= half
    expected = binom.pmf(k, 20, 0.1)[inside].sum()
    assert chances @ tables.covered("gaussian", ALPHA) == pytest.approx(expected, abs=1e-6)
