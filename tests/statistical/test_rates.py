"""Coverage of the intervals of rates, down to three expected events, beside those of peers.

Proportions are enumerated; F1, balanced accuracy, kappa and MCC are simulated, all tables at once
(and a sample of them by the library itself, which must agree).
"""

import warnings

import numpy as np
import pytest
from scipy.stats import binom

from stakes import Confusion, evaluate_rates
from stakes.infer import RateEstimates, compare_rates
from stakes.infer._outcomes import Design
from stakes.infer._ratios import beta_limits
from stakes.infer.methods.extremal import limits_at
from stakes.infer.rates import _overall

pytestmark = pytest.mark.statistical

LEAST = 0.93
SETTINGS = [  # rows, prevalence, recall, specificity: three expected positives, misses or alarms
    (100, 0.03, 0.7, 0.98),
    (300, 0.01, 0.5, 0.99),
    (1000, 0.003, 0.9, 0.997),
    (200, 0.5, 0.97, 0.97),
    (400, 0.1, 0.925, 0.99),
    (60, 0.05, 0.9, 0.9),
    (1000, 0.3, 0.99, 0.995),
]
REPEATS = 4000


def tables(setting, repeats=REPEATS, seed=0):
    """Return the distinct tables that were drawn, their shares, and the true shares of cells."""
    n, prevalence, recall, specificity = setting
    truth = np.array(
        [
            [(1 - prevalence) * specificity, prevalence * (1 - recall)],
            [(1 - prevalence) * (1 - specificity), prevalence * recall],
        ]
    )
    drawn = np.random.default_rng(seed).multinomial(n, truth.ravel(), repeats)
    found, counts = np.unique(drawn, axis=0, return_counts=True)
    return found.reshape(-1, 2, 2), counts / repeats, truth


def limits_of(name, found, alpha=0.05):
    """Return the limits of kappa or MCC of many tables, by secant steps on all of them at once."""
    ratios = [_overall(name, table / table.sum()) for table in found]
    part, whole = (
        np.stack([getattr(each, side).ravel() for each in ratios]) for side in ("part", "whole")
    )
    counts = found.reshape(len(found), -1).astype(float)
    shares = counts / counts.sum(axis=1, keepdims=True)
    slope = (whole * shares).sum(axis=1)
    value = (part * shares).sum(axis=1) / slope
    ends = []
    for end, last in ((0, -1.0), (1, 1.0)):
        rate = value.copy()
        for _ in range(60):
            reach = limits_at(part - rate[:, np.newaxis] * whole, counts, alpha)[end]
            moved = np.clip(rate + reach / slope, -1, 1)
            if np.abs(moved - rate).max() < 1e-7:
                break
            rate = moved
        ends.append(np.where(np.abs(rate - last) < 1e-6, last, rate))
    return ends


@pytest.mark.parametrize("n", [3, 6, 10, 30, 100, 1000])
def test_proportions_are_covered_by_enumeration(n):
    """Recall, specificity, precision, NPV and accuracy, given the rows they are shares of."""
    hits = np.arange(n + 1)
    low, high = beta_limits(hits, n - hits, 0.05)
    events = np.geomspace(min(3, n / 2), n / 2, 200)
    for share in np.concatenate([events / n, 1 - events / n]):
        inside = (low <= share) & (share <= high)
        assert binom.pmf(hits, n, share)[inside].sum() >= LEAST


@pytest.mark.parametrize("name", ["kappa", "mcc"])
@pytest.mark.parametrize("setting", SETTINGS)
def test_kappa_and_mcc_are_covered(name, setting):
    found, shares, truth = tables(setting)
    known = (found.sum(axis=1) > 0).all(axis=1) & (found.sum(axis=2) > 0).all(axis=1)
    expected = RateEstimates(Confusion(np.rint(truth * 1e9).astype(int), labels=[0, 1]), 1)
    value = expected.rate(name).value
    low, high = limits_of(name, found[known])
    for place in np.linspace(0, known.sum() - 1, 5).astype(int):
        one = RateEstimates(Confusion(found[known][place], labels=[0, 1]), 1).rate(name)
        assert (one.low, one.high) == pytest.approx((low[place], high[place]), abs=1e-5)
    missed = shares[known][(value < low - 1e-6) | (value > high + 1e-6)].sum()
    print(f"{name} {setting}: {1 - missed:.3f}")  # noqa: T201 - what the run is for
    assert 1 - missed >= LEAST


@pytest.mark.parametrize("setting", SETTINGS)
def test_f1_and_balanced_accuracy_are_covered(setting):
    found, shares, truth = tables(setting)
    for name, value in (
        ("f1", 2 * truth[1, 1] / (truth[1].sum() + truth[:, 1].sum())),
        ("balanced_accuracy", (setting[2] + setting[3]) / 2),
    ):
        covered = 0.0
        for table, share in zip(found, shares, strict=True):
            rate = RateEstimates(Confusion(table, labels=[0, 1]), 1).rate(name)
            covered += share * (rate.low - 1e-9 <= value <= rate.high + 1e-9)
        print(f"{name} {setting}: {covered:.3f} (peers: {peers(name, found, shares, value)})")  # noqa: T201
        assert covered >= LEAST


def peers(name, found, shares, value):
    """Return the coverage of a peer's default interval, and of the bootstrap percentiles."""
    from confidenceinterval import f1_score

    rng = np.random.default_rng(1)
    chosen = rng.choice(len(found), 200, p=shares / shares.sum())
    said = {"confidenceinterval": 0, "bootstrap": 0}
    for table in found[chosen]:
        drawn = rng.multinomial(table.sum(), table.ravel() / table.sum(), 500).reshape(-1, 2, 2)
        with np.errstate(all="ignore"):
            if name == "f1":
                stat = 2 * drawn[:, 1, 1] / (drawn[:, 1].sum(axis=1) + drawn[:, :, 1].sum(axis=1))
            else:
                stat = (
                    drawn[:, 1, 1] / drawn[:, :, 1].sum(axis=1)
                    + drawn[:, 0, 0] / drawn[:, :, 0].sum(axis=1)
                ) / 2
        low, high = np.nanquantile(stat, [0.025, 0.975]) if np.isfinite(stat).any() else (0, 0)
        said["bootstrap"] += low <= value <= high
        if name == "f1":
            y_pred, y_true = np.indices((2, 2)).reshape(2, -1).repeat(table.ravel(), axis=1)
            with warnings.catch_warnings():  # a peer warns of divisions by zero
                warnings.simplefilter("ignore")
                try:
                    low, high = f1_score(y_true, y_pred, average="binary")[1]
                except IndexError:  # it does not support tables of one class
                    low = high = np.nan
            said["confidenceinterval"] += low <= value <= high
    if name != "f1":
        del said["confidenceinterval"]
    return {peer: count / len(chosen) for peer, count in said.items()}


@pytest.mark.parametrize("name", ["recall", "precision", "f1", "balanced_accuracy", "mcc"])
def test_differences_of_equal_models_are_rarely_shown(name):
    """Two models of the same quality, on 300 rows with 15 positives: an asymmetric case."""
    rng, shown, repeats = np.random.default_rng(3), 0, 300
    for _ in range(repeats):
        y_true = (rng.random(300) < 0.05).astype(int)
        y_true[:2] = 0, 1
        hard = rng.random(300)
        both = [
            np.where(
                hard + rng.normal(0, 0.1, 300) < np.where(y_true, 0.8, 0.97), y_true, 1 - y_true
            )
            for _ in range(2)
        ]
        shown += compare_rates(y_true, *both).rate(name).shown
    print(f"{name}: {shown / repeats:.3f}")  # noqa: T201 - what the run is for
    assert shown / repeats <= 0.07


def test_rates_of_groups_are_covered():
    """Groups of five rows that are decided alike, with three expected groups missed."""
    rng, inside, repeats = np.random.default_rng(4), {"recall": 0, "precision": 0, "f1": 0}, 300
    for _ in range(repeats):
        positive, wrong = rng.random(60) < 0.5, rng.random(60) < 0.1
        y_true, y_pred = np.repeat(positive, 5) * 1, np.repeat(positive ^ wrong, 5) * 1
        rates = evaluate_rates(y_true, y_pred, labels=[0, 1], groups=np.repeat(np.arange(60), 5))
        for name in inside:
            rate = rates.rate(name)
            inside[name] += rate.low <= 0.9 <= rate.high
    print(inside)  # noqa: T201 - what the run is for
    assert min(inside.values()) / repeats >= LEAST


CASE_CONTROL = [  # positives, negatives, recall, false positive rate, known prevalence
    (30, 300, 0.9, 0.01, 0.01),
    (30, 300, 0.1, 0.05, 0.2),
    (300, 300, 0.99, 0.01, 0.002),
    (60, 30, 0.95, 0.1, 0.5),
    (20, 2000, 0.85, 0.0015, 0.05),
]


@pytest.mark.parametrize("setting", CASE_CONTROL)
def test_predictive_values_at_a_known_prevalence_are_covered_by_enumeration(setting):
    """Classes drawn by themselves: three expected misses or false alarms."""
    positives, negatives, recall, fpr, prevalence = setting
    truth = {
        "precision": prevalence * recall / (prevalence * recall + (1 - prevalence) * fpr),
        "npv": (1 - prevalence)
        * (1 - fpr)
        / ((1 - prevalence) * (1 - fpr) + prevalence * (1 - recall)),
    }
    hits, alarms = np.arange(positives + 1), np.arange(negatives + 1)
    chance = np.outer(binom.pmf(hits, positives, recall), binom.pmf(alarms, negatives, fpr))
    design = Design(class_priors={0: 1 - prevalence, 1: prevalence})
    missed = dict.fromkeys(truth, 0.0)
    for tp, fp in np.argwhere(chance > 1e-5):
        table = [[negatives - fp, positives - tp], [fp, tp]]
        rates = RateEstimates(Confusion(table, labels=[0, 1]), 1, design)
        for name, value in truth.items():
            rate = rates.rate(name)
            missed[name] += chance[tp, fp] * (not rate.low - 1e-9 <= value <= rate.high + 1e-9)
    print(setting, {name: f"{1 - each:.3f}" for name, each in missed.items()})  # noqa: T201
    assert 1 - max(missed.values()) >= LEAST


@pytest.mark.parametrize("name", ["recall", "precision", "f1"])
def test_differences_of_unequal_models_are_covered(name):
    """400 rows with 40 positives; the second model errs twice as often, half of it on the same."""
    rng, inside, repeats = np.random.default_rng(5), 0, 1000
    misses, alarms = (0.1, 0.2), (0.01, 0.02)
    values = []
    for miss, alarm in zip(misses, alarms, strict=True):
        hit, false = 0.1 * (1 - miss), 0.9 * alarm
        precision, f1 = hit / (hit + false), 2 * hit / (0.1 + hit + false)
        values.append({"recall": 1 - miss, "precision": precision, "f1": f1}[name])
    truth = values[0] - values[1]
    for _ in range(repeats):
        y_true = (rng.random(400) < 0.1).astype(int)
        hard, alike = rng.random(400), rng.random(400) < 0.5
        both = [
            np.where(
                np.where(alike, hard, rng.random(400)) < np.where(y_true, miss, alarm),
                1 - y_true,
                y_true,
            )
            for miss, alarm in zip(misses, alarms, strict=True)
        ]
        rate = compare_rates(y_true, *both, pos_label=1).rate(name)
        inside += rate.low <= truth <= rate.high
    print(f"{name}: {inside / repeats:.3f}")  # noqa: T201 - what the run is for
    assert inside / repeats >= LEAST
