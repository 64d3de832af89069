"""How often thresholds with assurance, and bands of lines and curves, hold in sampling designs."""

import numpy as np
import pytest
from _helpers.judge import at_least
from scipy.stats import norm

from stakes import CostCurve, CostCurveDifference, CostLine, ScoreCounts, choose_threshold

pytestmark = pytest.mark.statistical

TRIALS = 1000
PC = np.array([0, 0.01, 0.05, 0.2, 0.5, 0.8, 0.95, 0.99, 1])


def champion(rng, sizes, cut, shift):
    """Return rows of which all alarms of a model are kept, and one in 100 of the others.

    The first scores are those of the model, the second those of another; both are normal, and
    positives have more by `shift`.
    """
    y_true = np.arange(sum(sizes)) < sizes[0]
    first, noise = rng.normal(size=(2, len(y_true)))
    second = 0.7 * first + np.sqrt(0.51) * noise
    first, second = first + shift * y_true, second + shift * y_true
    alarm = first >= cut
    kept = alarm | (rng.random(len(y_true)) < 0.01)
    weight = np.where(alarm, 1.0, 100.0)
    return y_true[kept], first[kept], second[kept], weight[kept]


def covers(band, truth):
    return (band.low <= truth + 1e-12) & (truth <= band.high + 1e-12)


@pytest.mark.parametrize("cut", [2.0, 2.5])
@pytest.mark.parametrize(
    ("limit", "kept"),
    [
        ({"min_recall": 0.9}, lambda threshold: norm.sf(threshold - 2.5) >= 0.9),
        ({"max_fpr": 0.02}, lambda threshold: norm.sf(threshold) <= 0.02),
    ],
)
def test_a_weighted_promise_is_kept(cut, limit, kept):
    rng = np.random.default_rng([1, round(10 * cut), len(limit)])
    hits = constant = 0
    for _ in range(TRIALS):
        y_true, _, score, weight = champion(rng, (5000, 20_000), cut, 2.5)
        counts = ScoreCounts.from_scores(y_true, score, sample_weight=weight)
        threshold = choose_threshold(counts, **limit, assurance=0.95).threshold
        hits += kept(threshold)
        constant += np.isinf(threshold)
    assert at_least(hits, TRIALS, 0.95), hits / TRIALS
    assert constant < 0.1 * TRIALS  # and seldom by a constant prediction


@pytest.mark.parametrize("expected", [0.5, 1, 3, 10])
def test_the_band_of_a_weighted_line_covers(expected):
    """So many misses are expected among the rows, each of which stands for 100."""
    missed, cut = expected / 15, 1.0
    truth = PC * missed + (1 - PC) * norm.sf(cut)
    rng = np.random.default_rng([2, round(10 * expected)])
    hits, together = np.zeros(len(PC)), 0
    for _ in range(TRIALS):
        y_true, score, _, weight = champion(rng, (1500, 5000), cut, cut - norm.ppf(missed))
        line = CostLine.from_labels(y_true, score >= cut, sample_weight=weight)
        hits += covers(line.band(pc=PC), truth)
        together += covers(line.band(pc=PC, simultaneous=True), truth).all()
    assert at_least(hits.min(), TRIALS, 0.94), hits / TRIALS
    assert at_least(together, TRIALS, 0.94), together / TRIALS


@pytest.mark.parametrize("shift", [2.6, 1.5])
def test_the_band_of_a_weighted_difference_covers(shift):
    """Two models that cost the same; the misses of the first weigh 100, of the other mostly 1."""
    rng = np.random.default_rng([3, round(10 * shift)])
    hits = np.zeros(len(PC))
    for _ in range(TRIALS):
        y_true, first, second, weight = champion(rng, (1500, 5000), 1.0, shift)
        difference = CostCurveDifference.from_labels(
            y_true, first >= 1.0, second >= 1.0, sample_weight=weight
        )
        hits += covers(difference.band(pc=PC), 0.0)
    assert at_least(hits.min(), TRIALS, 0.94), hits / TRIALS


KINDS = ("whole", "in part", "with both classes")


@pytest.mark.parametrize(
    ("expected", "kind"),
    [(expected, "whole") for expected in (0.5, 1, 1.5, 3, 5)]
    + [(expected, kind) for expected in (1, 3) for kind in KINDS[1:]],
)
def test_the_band_of_groups_covers(expected, kind):
    """100 patients with 20 rows, 20 of them ill; so many of these are expected to be missed."""
    groups = np.repeat(np.arange(100), 20)
    y_true = groups < 20
    if kind == "with both classes":
        y_true = y_true & (np.arange(2000) % 2 == 0)
    share = 0.7 if kind == "in part" else 1.0
    truth = PC * share * expected / 20 + (1 - PC) * 0.05
    rng = np.random.default_rng([4, round(10 * expected), KINDS.index(kind)])
    hits, together = np.zeros(len(PC)), 0
    for _ in range(TRIALS):
        missed = (rng.random(100) < expected / 20)[groups] & (rng.random(2000) < share)
        decided = np.where(y_true, ~missed, rng.random(2000) < 0.05)
        line = CostLine.from_labels(y_true, decided, groups=groups)
        hits += covers(line.band(pc=PC), truth)
        together += covers(line.band(pc=PC, simultaneous=True), truth).all()
    assert at_least(hits.min(), TRIALS, 0.935), hits / TRIALS
    assert at_least(together, TRIALS, 0.935), together / TRIALS


@pytest.mark.parametrize(("patients", "spread"), [(150, 1.0), (400, 2.0)])
def test_a_promise_for_groups_is_kept(patients, spread):
    rng = np.random.default_rng([5, patients, round(spread)])
    groups = np.repeat(np.arange(patients), 5)
    y_true = groups % 2 == 0
    hits = 0
    for _ in range(TRIALS):
        lean = spread * rng.normal(size=patients)[groups]
        score = rng.normal(size=len(groups)) + lean + 2.5 * y_true
        counts = ScoreCounts.from_scores(y_true, score, groups=groups)
        threshold = choose_threshold(counts, min_recall=0.9, assurance=0.95).threshold
        hits += norm.sf((threshold - 2.5) / np.hypot(1, spread)) >= 0.9
    assert at_least(hits, TRIALS, 0.95), hits / TRIALS


def test_the_band_of_a_curve_of_groups_covers():
    """At thresholds chosen on other examples, pointwise and at once."""
    rng = np.random.default_rng(6)
    spread = np.hypot(1, 1.2)

    def drawn(patients):
        groups = np.repeat(np.arange(patients), 6)
        y_true = groups % 3 == 0
        lean = 1.2 * rng.normal(size=patients)[groups]
        return y_true, np.round(rng.normal(size=len(groups)) + lean + 3 * y_true, 1), groups

    validation = ScoreCounts.from_scores(*drawn(400)[:2])
    hits, together = np.zeros(len(PC)), 0
    for _ in range(TRIALS // 2):
        y_true, score, groups = drawn(120)
        curve = CostCurve.from_scores(y_true, score, groups=groups).select(validation)
        cut = curve.threshold(PC) - 0.05
        truth = PC * norm.cdf((cut - 3) / spread) + (1 - PC) * norm.sf(cut / spread)
        hits += covers(curve.band(pc=PC), truth)
        together += covers(curve.band(pc=PC, simultaneous=True), truth).all()
    assert at_least(hits.min(), TRIALS // 2, 0.93), hits / (TRIALS // 2)
    assert at_least(together, TRIALS // 2, 0.95), together


@pytest.mark.parametrize("expected", [1, 5])
def test_the_band_of_strata_covers(expected):
    """400 rows of each of two strata, of which one stands for 20 times as many; it has misses."""
    rng = np.random.default_rng([7, round(10 * expected)])
    population = {"alarms": 2000, "others": 40_000}
    strata = np.repeat(list(population), 400)
    of_others = strata == "others"
    missed = expected / (400 * 0.02)
    positives = np.array([2000 * 0.5, 40_000 * 0.02])
    negatives = np.array([2000 * 0.5, 40_000 * 0.98])
    rates = positives[1] * missed / positives.sum(), negatives @ [0.6, 0.02] / negatives.sum()
    truth = PC * rates[0] + (1 - PC) * rates[1]
    hits = np.zeros(len(PC))
    for _ in range(TRIALS):
        y_true = rng.random(800) < np.where(of_others, 0.02, 0.5)
        found = ~of_others | (rng.random(800) >= missed)
        alarm = np.where(y_true, found, rng.random(800) < np.where(of_others, 0.02, 0.6))
        curve = CostCurve.from_scores(y_true, alarm * 1.0, strata=strata, population=population)
        hits += covers(curve.line(1.0).band(pc=PC), truth)
    assert at_least(hits.min(), TRIALS, 0.94), hits / TRIALS


PAIRS = 2000
"""Number of trials of a difference, enough to detect a shortfall of two points."""


@pytest.mark.parametrize(
    ("expected", "kind"),
    [(0.5, "whole"), (3, "whole"), (3, "in part"), (3, "with both classes")],
)
def test_the_band_of_a_difference_in_groups_covers(expected, kind):
    """Of 100 ill patients so many are missed wholly by the first; the second misses single rows."""
    groups = np.repeat(np.arange(200), 8)
    y_true = groups < 100
    if kind == "with both classes":
        y_true = np.arange(len(groups)) % 2 == 0
    ill = len(np.unique(groups[y_true]))
    share = 0.7 if kind == "in part" else 1.0
    truth = PC * (share * expected / ill - 0.02) + (1 - PC) * (0.1 - 0.1)
    rng = np.random.default_rng([8, round(10 * expected), len(kind)])
    hits = np.zeros(len(PC))
    for _ in range(PAIRS):
        alone = rng.random((4, len(groups)))
        whole = (rng.random(200) < expected / ill)[groups] & (alone[0] < share)
        first = np.where(y_true, ~whole, alone[1] < 0.1)
        second = np.where(y_true, alone[2] >= 0.02, alone[3] < 0.1)
        difference = CostCurveDifference.from_labels(y_true, first, second, groups=groups)
        hits += covers(difference.band(pc=PC), truth)
    assert at_least(hits.min(), PAIRS, 0.93), hits / PAIRS


@pytest.mark.parametrize("expected", [1, 5])
def test_the_band_of_a_difference_in_strata_covers(expected):
    """Each miss of the first in one stratum stands for a hundred rows; the second finds all."""
    rng = np.random.default_rng([9, expected])
    population = {"alarms": 2000, "others": 40_000}
    strata = np.repeat(list(population), 400)
    of_others = strata == "others"
    missed = expected / (400 * 0.05)
    positives = np.array([2000 * 0.5, 40_000 * 0.05])
    truth = PC * positives[1] * missed / positives.sum()
    hits = np.zeros(len(PC))
    for _ in range(PAIRS):
        y_true = rng.random(800) < np.where(of_others, 0.05, 0.5)
        alarm = rng.random((2, 800)) < 0.1
        first = np.where(y_true, ~of_others | (rng.random(800) >= missed), alarm[0])
        difference = CostCurveDifference.from_labels(
            y_true, first, y_true | alarm[1], strata=strata, population=population
        )
        hits += covers(difference.band(pc=PC), truth)
    assert at_least(hits.min(), PAIRS, 0.93), hits / PAIRS
