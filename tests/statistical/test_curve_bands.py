"""Measured and enumerated coverage of the bands around cost curves."""

from itertools import pairwise

import numpy as np
import pytest
from _helpers.judge import at_least, at_most
from scipy.stats import binom, multivariate_normal, norm

from stakes import (
    CostCurve,
    CostCurveDifference,
    CostLine,
    PairedScoreCounts,
    ScoreCounts,
    choose_threshold,
)
from stakes.curves._sampling import Mistakes, drawn
from stakes.curves.band import pointwise_alpha
from stakes.curves.bands import METHODS

pytestmark = pytest.mark.statistical

# Dugas & Gadoury's (2008) domain: scores are N(±θ, 3²), with the theoretically best thresholds.
SD = 3.0
ENDS = np.array([0.005, 0.0075, 0.01, 0.015, 0.02, 0.03, 0.04, 0.05, 0.07])
CONDITIONS = np.concatenate([ENDS, np.linspace(0.1, 0.9, 17), 1 - ENDS[::-1]])
HALF = np.concatenate([np.geomspace(0.005, 0.1, 60), np.linspace(0.11, 0.5, 14)])  # symmetric
SPREADS = [0.75, 1.5, 3.0, 5.0]
NOMINAL, ALPHA, TWO_POINTS = 0.9, 0.1, 0.02


def best_threshold(positive, negative, pc):
    odds = np.log((1 - pc) / pc)
    return (positive + negative) / 2 + SD**2 / (positive - negative) * odds


def error_rates(theta, pc):
    threshold = best_threshold(theta, -theta, pc)
    return norm.cdf((threshold - theta) / SD), norm.sf((threshold + theta) / SD)


def likely(n, rate):
    """All numbers of mistakes that are not next to impossible, with their probabilities."""
    counts = np.arange(n + 1)
    law = binom.pmf(counts, n, rate)
    kept = law > 1e-9
    return counts[kept].astype(float), law[kept]


def enumerated_coverage(method, theta, n, pc, *, full=False):
    missed, alarmed = error_rates(theta, pc)
    (k, p), (m, q) = likely(n, missed), likely(n, alarmed)
    pairs = [each.ravel() for each in np.meshgrid(k, m, indexing="ij")]
    where = np.full(len(pairs[0]), pc)
    sample = drawn(where, *(Mistakes(n, each[np.newaxis]) for each in pairs), full=full)
    low, high = METHODS[method].limits(sample, ALPHA)
    truth = pc * missed + (1 - pc) * alarmed
    inside = (low <= truth + 1e-12) & (truth <= high + 1e-12)
    return float(inside @ np.outer(p, q).ravel())


@pytest.mark.parametrize("theta", SPREADS)
def test_the_default_band_is_never_two_points_short_by_enumeration(theta):
    found = [enumerated_coverage("mover", theta, 1000, pc) for pc in HALF]
    assert min(found) >= NOMINAL - TWO_POINTS
    assert min(found) >= 0.9  # as stated in the documentation


@pytest.mark.parametrize("n", [25, 250])
@pytest.mark.parametrize("theta", SPREADS)
def test_the_default_band_holds_in_small_test_sets(theta, n):
    found = [enumerated_coverage("mover", theta, n, pc) for pc in CONDITIONS]
    assert min(found) >= NOMINAL - TWO_POINTS


@pytest.mark.parametrize(("pc", "share"), [(0.005, 0.12), (0.01, 0.38), (0.02, 0.81)])
@pytest.mark.parametrize("method", ["gaussian", "exact"])
def test_the_papers_band_collapses_at_the_ends(method, pc, share):
    if method == "exact":  # slow, one table at a time: few conditions, by simulation
        rng = np.random.default_rng(7)
        missed, alarmed = error_rates(3.0, pc)
        counts = [rng.binomial(1000, rate, 1000).astype(float) for rate in (missed, alarmed)]
        sample = drawn(
            np.full(1000, pc), *(Mistakes(1000, each[np.newaxis]) for each in counts), full=False
        )
        low, high = METHODS["exact"].limits(sample, ALPHA)
        truth = pc * missed + (1 - pc) * alarmed
        found = ((low <= truth) & (truth <= high)).mean()
    else:
        found = enumerated_coverage(method, 3.0, 1000, pc)
    assert found == pytest.approx(share, abs=0.05)


@pytest.mark.parametrize(("theta", "least"), [(3.0, 0.005), (5.0, 0.0005)])
def test_wilsons_limits_dip_a_little(theta, least):
    conditions = np.geomspace(least, 0.1, 60)
    found = min(enumerated_coverage("wilson", theta, 1000, pc) for pc in conditions)
    assert 0.83 < found < NOMINAL - TWO_POINTS


def rates_of_disagreement(means, thresholds, correlation):
    """The chances that one of two scores alone reaches its threshold."""
    reach = [(mean - cut) / SD for mean, cut in zip(means, thresholds, strict=True)]
    law = multivariate_normal(cov=[[1, correlation], [correlation, 1]])
    both = np.array([law.cdf(pair) for pair in np.column_stack(reach)])
    return [np.maximum(norm.cdf(each) - both, 0.0) for each in reach]


@pytest.mark.parametrize("correlation", [0.3, 0.6, 0.9])
@pytest.mark.parametrize("shift", [0.0, 2.0, 4.0])
@pytest.mark.parametrize("theta", [1.0, 3.0])
@pytest.mark.parametrize("sampling", ["stratified", "full"])
def test_the_default_band_of_a_difference_is_never_two_points_short(
    theta, shift, correlation, sampling
):
    rng = np.random.default_rng([int(theta), int(shift), int(10 * correlation)])
    trials, n = 3000, 1000
    full = sampling == "full"
    cuts = [best_threshold(theta + extra, -theta, CONDITIONS) for extra in (0.0, shift)]
    found = rates_of_disagreement((theta, theta + shift), cuts, correlation)
    alarms = rates_of_disagreement((-theta, -theta), cuts, correlation)
    wrong = (found[::-1], alarms)  # on positives, the one below its threshold is wrong
    excess = [first - second for first, second in wrong]
    truth = CONDITIONS * excess[0] + (1 - CONDITIONS) * excess[1]
    hits = np.zeros(len(CONDITIONS), dtype=int)
    for i, pc in enumerate(CONDITIONS):
        if full:  # the numbers of positives and negatives vary, the costs of mistakes are fixed
            shares = [[side[0][i] / 2, side[1][i] / 2] for side in wrong]
            flat = [*shares[0], *shares[1]]
            tables = rng.multinomial(2 * n, [*flat, 1 - sum(flat)], trials)[:, :4].T.astype(float)
            counts = [tables[:2], tables[2:]]
        else:
            counts = [
                rng.multinomial(n, [side[0][i], side[1][i], 1 - side[0][i] - side[1][i]], trials)[
                    :, :2
                ].T.astype(float)
                for side in wrong
            ]
        sample = drawn(np.full(trials, pc), *(Mistakes(n, each) for each in counts), full=full)
        low, high = METHODS["mover"].limits(sample, ALPHA)
        hits[i] = ((low <= truth[i] + 1e-12) & (truth[i] <= high + 1e-12)).sum()
    assert at_least(hits.min(), trials, NOMINAL - TWO_POINTS)


@pytest.mark.parametrize("lines", [1, 5, 30])
@pytest.mark.parametrize("theta", SPREADS)
@pytest.mark.parametrize("n", [100, 1000])
def test_the_simultaneous_band_holds_everywhere_at_once(theta, n, lines):
    rng = np.random.default_rng([int(100 * theta), n, lines])
    edges = np.linspace(0, 1, lines + 1)
    cuts = best_threshold(theta, -theta, (edges[:-1] + edges[1:]) / 2)
    grid = np.concatenate([np.linspace(a, b, 15) for a, b in pairwise(edges)])
    index = np.repeat(np.arange(lines), 15)
    rates = norm.cdf((cuts - theta) / SD), norm.sf((cuts + theta) / SD)
    truth = grid * rates[0][index] + (1 - grid) * rates[1][index]
    alpha, trials, hits = pointwise_alpha(ALPHA, lines), 1000, 0
    for _ in range(trials):
        positives, negatives = (np.sort(rng.normal(mean, SD, n)) for mean in (theta, -theta))
        missed = np.searchsorted(positives, cuts)[index]
        alarmed = n - np.searchsorted(negatives, cuts)[index]
        counts = (Mistakes(n, each[np.newaxis].astype(float)) for each in (missed, alarmed))
        low, high = METHODS["mover"].limits(drawn(grid, *counts, full=False), alpha)
        hits += ((low <= truth + 1e-12) & (truth <= high + 1e-12)).all()
    assert at_least(hits, trials, NOMINAL - 0.005)
    if lines > 1:
        assert hits / trials > NOMINAL + 0.03  # lines are correlated, so Šidák is conservative


@pytest.mark.parametrize("n", [100, 1000])
@pytest.mark.parametrize("theta", SPREADS)
def test_thresholds_chosen_on_the_same_examples_flatter_and_selected_ones_do_not(theta, n):
    """The table of the explanation page, within what so many test sets can tell."""
    rng = np.random.default_rng([int(100 * theta), n])
    trials, pc = 300, np.linspace(0.1, 0.9, 17)
    y_true = np.repeat([0, 1], n)
    own, selected = np.zeros(len(pc)), np.zeros(len(pc))
    flattery, whole, whole_at_once = [], 0, 0

    def draw():
        return CostCurve.from_scores(y_true, rng.normal((2 * y_true - 1) * theta, SD))

    def truth(curve):
        cuts = curve.threshold(pc)
        return pc * norm.cdf((cuts - theta) / SD) + (1 - pc) * norm.sf((cuts + theta) / SD)

    def inside(curve, **options):
        band, true = curve.band(NOMINAL, pc=pc, **options), truth(curve)
        return (band.low <= true + 1e-12) & (true <= band.high + 1e-12)

    for _ in range(trials):
        curve = draw()
        found = inside(curve)
        own += found
        whole += found.all()
        whole_at_once += inside(curve, simultaneous=True).all()
        selected += inside(curve.select(draw().counts))
        flattery.append([curve.cost(pc), truth(curve)])
    found_cost, true_cost = np.mean(flattery, axis=0)
    assert (found_cost < true_cost).all()
    assert (1 - found_cost / true_cost).max() < (0.45 if n == 100 else 0.15)
    assert at_least(selected.min(), trials, NOMINAL - TWO_POINTS)
    assert at_most(own.min(), trials, NOMINAL)
    assert at_least(own.min(), trials, 0.77)
    assert at_most(whole, trials, 0.75)
    assert at_least(whole_at_once, trials, NOMINAL)


@pytest.mark.parametrize("theta", SPREADS)
def test_the_default_band_holds_under_full_sampling_too(theta):
    """The numbers of positives and negatives vary; what their mistakes cost does not."""
    rng = np.random.default_rng(int(100 * theta))
    trials, n = 4000, 1000
    missed, alarmed = error_rates(theta, CONDITIONS)
    truth = CONDITIONS * missed + (1 - CONDITIONS) * alarmed
    hits = []
    for i, pc in enumerate(CONDITIONS):
        shares = [missed[i] / 2, alarmed[i] / 2]
        tables = rng.multinomial(2 * n, [*shares, 1 - sum(shares)], trials)[:, :2].T.astype(float)
        counts = (Mistakes(n, each[np.newaxis]) for each in tables)
        low, high = METHODS["mover"].limits(drawn(np.full(trials, pc), *counts, full=True), ALPHA)
        hits.append(((low <= truth[i] + 1e-12) & (truth[i] <= high + 1e-12)).sum())
    assert at_least(min(hits), trials, NOMINAL - TWO_POINTS)


def test_significant_ranges_are_rarely_wrong_when_two_scorers_are_alike():
    rng = np.random.default_rng(5)
    n, trials, wrong = 300, 300, 0

    def draw():
        y_true = rng.permutation(np.repeat([0, 1], n))
        common = rng.normal(0, 1, 2 * n)
        scores = [1.5 * y_true + 0.7 * common + 0.7 * rng.normal(0, 1, 2 * n) for _ in range(2)]
        return PairedScoreCounts.from_scores(y_true, *scores)

    validation = PairedScoreCounts.from_scores(
        np.repeat([0, 1], 50_000),
        *(1.5 * np.repeat([0, 1], 50_000) + rng.normal(0, 0.98995, 100_000) for _ in range(2)),
    )
    for _ in range(trials):
        found = CostCurveDifference(draw()).select(validation)
        ranges = found.significant_ranges(NOMINAL, simultaneous=True)
        wrong += any(each.cheaper is not None for each in ranges.ranges)
    assert at_most(wrong, trials, 1 - NOMINAL)


@pytest.mark.parametrize("heavy", [1.0, 5.0, 10.0])
def test_bands_hold_where_heavy_examples_are_the_hard_ones(heavy):
    rng = np.random.default_rng(int(heavy))
    n, trials, hits = 1000, 1500, np.zeros(3, dtype=int)
    pc = np.array([0.1, 0.5, 0.9])
    rate = (0.1 * heavy * 0.4 + 0.9 * 0.02) / (0.1 * heavy + 0.9)  # error rate of both classes
    for _ in range(trials):
        hard = rng.random(2 * n) < 0.1
        y_true = np.repeat([0, 1], n)
        wrong = rng.random(2 * n) < np.where(hard, 0.4, 0.02)
        weight = np.where(hard, heavy, 1.0)
        counts = CostLine.from_labels(y_true, y_true ^ wrong, sample_weight=weight)
        band = counts.band(NOMINAL, pc=pc)
        hits += (band.low <= rate) & (rate <= band.high)
    assert at_least(hits.min(), trials, NOMINAL - TWO_POINTS)


def test_an_assured_capacity_is_kept_by_new_batches():
    rng = np.random.default_rng(11)
    trials, kept, volume, capacity = 1500, 0, 2000, 200
    for _ in range(trials):
        y_true = rng.random(4000) < 0.1
        counts = ScoreCounts.from_scores(y_true, rng.normal(y_true, 1.0))
        choice = choose_threshold(counts, capacity=capacity, volume=volume, assurance=0.9)
        new = rng.random(volume) < 0.1
        kept += (rng.normal(new, 1.0) >= choice.threshold).sum() <= capacity
    assert at_least(kept, trials, 0.9)


@pytest.mark.parametrize("sampling", ["stratified", "full"])
def test_a_simultaneous_band_of_a_difference_holds_everywhere_at_once(sampling):
    rng = np.random.default_rng(17)
    n, trials, hits = 500, 1000, 0
    pc = np.linspace(0, 1, 101)
    cells = {1: [0.06, 0.14, 0.80], 0: [0.10, 0.03, 0.87]}  # first alone wrong, second alone, same
    truth = pc * (0.06 - 0.14) + (1 - pc) * (0.10 - 0.03)
    alpha = pointwise_alpha(ALPHA, 1)
    for _ in range(trials):
        if sampling == "full":
            shares = [*(each / 2 for each in cells[1][:2]), *(each / 2 for each in cells[0][:2])]
            table = rng.multinomial(2 * n, [*shares, 1 - sum(shares)])[:4].astype(float)
            counts = table[:2], table[2:]
        else:
            counts = [rng.multinomial(n, cells[label])[:2].astype(float) for label in (1, 0)]
        parts = (Mistakes(n, np.repeat(each[:, np.newaxis], len(pc), axis=1)) for each in counts)
        low, high = METHODS["mover"].limits(drawn(pc, *parts, full=sampling == "full"), alpha)
        hits += ((low <= truth + 1e-12) & (truth <= high + 1e-12)).all()
    assert at_least(hits, trials, NOMINAL - 0.01)


@pytest.mark.parametrize("n", [100, 500])
def test_judging_each_condition_by_itself_often_finds_a_winner_among_equals(n):
    """What the guide says of verdicts at each condition, and of those for all at once."""
    rng = np.random.default_rng(n)
    trials, named = 200, {True: 0, False: 0}
    y_true = np.repeat([0, 1], n)
    for _ in range(trials):
        common = rng.normal(0, 0.7, 2 * n)
        scores = [1.5 * y_true + common + rng.normal(0, 0.7, 2 * n) for _ in range(2)]
        difference = CostCurveDifference.from_scores(y_true, *scores)
        for simultaneous in named:
            found = difference.significant_ranges(simultaneous=simultaneous)
            named[simultaneous] += any(each.cheaper is not None for each in found.ranges)
    assert at_least(named[False], trials, 0.1)
    assert at_most(named[True], trials, 0.05)
