"""The replications of the bootstrap experiments run, have the published numbers, and draw."""

from dataclasses import replace
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from replications import run
from replications.catalogue import find
from replications.comparison import verdicts
from replications.experiments import bcost_coverage, z_claim
from replications.experiments.shared.classifier import judged
from replications.experiments.shared.relabelling import half_power
from replications.store import read_results
from stakes.infer.batch import batch_outcomes

mpl.use("agg")
RESULTS = Path(__file__).parents[2] / "replications" / "results"

SMALL = {
    "bcost-coverage": {"domain": ("expf5", "waveform"), "model": ("M6",)},
    "bcost-laplace": {"domain": ("expf5",), "model": ("M1",)},
    "bdeltacost-type1": {"domain": ("expf5", "asymmetric"), "model": ("M6", "+100 or -1")},
    "bdeltacost-power": {"domain": ("expf5",), "model": ("M6",)},
    "bdeltacost-resamples": {"domain": ("waveform",), "model": ("M1",)},
    "bdeltacost-weak-tree": {"domain": ("expf5",), "model": ("M7",)},
    "z-claim": {"domain": ("expf5",), "model": ("M1",)},
    "loss-distribution": {"model": ("M6",)},
}


def small(name):
    """Return an experiment with few of its cells, and what is printed about them."""
    whole = find(name)
    varies = SMALL[name]
    printed = [
        each
        for each in whole.printed
        if all(each.where.get(key) in values for key, values in varies.items())
    ]
    return replace(whole, varies=varies, printed=printed, repeats=20)


@pytest.mark.parametrize("name", SMALL)
def test_an_experiment_runs(name):
    experiment = small(name)
    results = run(experiment)
    assert all({"measure", "value", "error", "repeats"} <= set(row) for row in results.rows)
    assert len(verdicts(experiment, results)) == len(experiment.printed)
    if name not in {"loss-distribution", "bcost-coverage"}:
        shares = [row for row in results.rows if row["measure"] in {"rejected", "coverage"}]
        assert all(0 <= row["value"] <= 1 and row["error"] > 0 for row in shares)


@pytest.mark.parametrize("name", SMALL)
def test_the_kept_results_are_of_full_scale(name):
    results = read_results(RESULTS / f"{name}.parquet")
    assert (results.experiment, results.scale, results.seed) == (name, 1.0, 0)


def test_the_tables_agree_with_print():
    for name, tolerated in (("bcost-coverage", 0), ("bdeltacost-type1", 3)):
        found = verdicts(find(name), read_results(RESULTS / f"{name}.parquet"))
        assert sum(each.word == "differs" for each in found) == tolerated


def test_losses_of_all_test_sets_are_in_the_histogram():
    bars = run(small("loss-distribution")).select(measure="test sets")
    assert sum(row["value"] for row in bars) == pytest.approx(1)


def test_every_number_of_the_tables_is_compared():
    assert [len(find(name).printed) for name in SMALL] == [17, 25, 31, 3, 6, 8, 102, 1]
    sources = {each.source for each in find("bdeltacost-type1").printed}
    assert {"Table 6", "thesis, Table 6.4"} <= sources
    for name in SMALL:
        experiment = find(name)
        cells = list(experiment.cells())
        for each in experiment.printed:
            where = {key: each.where[key] for key in experiment.varies if key in each.where}
            assert any(where.items() <= cell.items() for cell in cells)


def test_one_costly_mistake_is_covered_or_not_by_how_often_it_is_expected():
    often = np.array([0.5, 0.99, 1.01, 2.0, 12.0])
    bcost, extremal = bcost_coverage.one_mistake_coverage(often)
    assert bcost[1] > 0.95
    assert bcost[2] == pytest.approx(1 - np.exp(-1.01), abs=0.03)
    assert (extremal > 0.935).all()
    # By simulating test sets with one kind of costly mistake, and BCOST's resamples of each:
    rng = np.random.default_rng(0)
    seen = rng.poisson(1.5, 3000)
    drawn = np.sort(rng.poisson(seen[:, np.newaxis] + 0.1, (3000, 1000)), axis=1)
    covered = ((drawn[:, 25] <= 1.5) & (drawn[:, 974] >= 1.5)).mean()
    computed = bcost_coverage.one_mistake_coverage(np.array([1.5]))[0][0]
    assert computed == pytest.approx(covered, abs=0.03)


def test_what_lambda_allows_for():
    each = judged("expf5", "M6", 1, 0, 20_000)
    doubled = replace(each, shares=np.where(each.shares * 1000 < 1.5, 2, 1) * each.shares)
    assert 0 < bcost_coverage.rare_cost(each) <= bcost_coverage.rare_cost(doubled)
    common = replace(each, shares=np.full((5, 5), 0.04))
    assert bcost_coverage.rare_cost(common) == 0


def test_the_z_arms_differ_by_the_root_of_n_and_by_the_variance():
    each = judged("expf5", "M2", 0, 0, 20_000)
    tables = each.draw(3, np.random.default_rng(0))
    arms = z_claim.arms(batch_outcomes(tables, each.costs))
    costs = np.repeat(each.costs.values.ravel(), tables[0].ravel())
    deviation = costs.std(ddof=1)
    assert arms["z"][0] == pytest.approx(1.959964 * deviation / np.sqrt(1000))
    assert arms["z with s"][0] == pytest.approx(1.959964 * deviation)
    assert arms["z with s²"][0] == pytest.approx(1.959964 * deviation**2)


def test_where_power_comes_to_one_half():
    curve = [
        {"q": q, "value": value, "error": 0.01} for q, value in ((0, 0.05), (10, 0.3), (20, 0.7))
    ]
    where, error = half_power(curve, {0: 0.0, 10: 1.0, 20: 2.0})
    assert where == pytest.approx(1.5)
    assert error == pytest.approx(0.025)
    assert np.isnan(half_power(curve[:2], {0: 0.0, 10: 1.0})).all()
