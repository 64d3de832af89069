"""The experiments on cost curves at a small scale, and the figures of the stored results."""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest

from replications import run
from replications.catalogue import find
from replications.comparison import verdicts
from replications.domains.binormal import Binormal, binormal
from replications.experiments import cost_curve_figures, exact_band_coverage, finite_validation
from replications.store import read_results
from stakes import CostCurve, CostCurveDifference

KEPT = Path(__file__).parents[2] / "replications" / "results"
NAMES = ("cost-curve-figures", "exact-band-coverage", "finite-validation")


def trial_of(experiment, scale, **cell):
    return experiment.trial(cell, scale, 0, None)


@pytest.fixture(scope="module")
def curves():
    return run("cost-curve-figures", scale=0.05)


def test_the_numbers_of_figures_without_data_are_the_papers(curves):
    found = verdicts(find("cost-curve-figures"), curves)
    trees = ("Figure 3", "Figure 4", "Figure 8")
    wrong = [
        each.printed.where for each in found
        if each.word == "differs" and each.printed.where.get("figure") not in (4, 8)
        and not str(each.printed.where.get("claim")).startswith(trees)
    ]  # fmt: skip
    wider = {"figure": 15, "method": "mover", "measure": "significant from"}
    assert [where for where in wrong if where != wider] == []


def test_all_figures_are_drawn(curves):
    drawn = find("cost-curve-figures").draw(curves)
    assert list(drawn) == [f"figure-{number}" for number in range(1, 16)]
    plt.close("all")


def test_the_two_confusion_matrices_are_the_same_at_any_correlation():
    for _, positives, negatives in cost_curve_figures.CORRELATIONS.values():
        difference = CostCurveDifference(cost_curve_figures.paired(positives, negatives))
        assert difference.first.point == pytest.approx((0.34, 0.85))
        assert difference.second.point == pytest.approx((0.30, 0.90))


@pytest.mark.parametrize("name", NAMES)
def test_kept_results_are_small_and_of_full_scale(name):
    path = KEPT / f"{name}.parquet"
    assert path.stat().st_size < 200_000
    results = read_results(path)
    assert (results.scale, results.seed) == (1.0, 0)


@pytest.mark.parametrize(
    "panel",
    [
        "figure 2, theta 5.0, n 1000",
        "figure 4, theta 1.0, n 1000, shift 0.0, correlation 0.9",
        "figure 5, theta 3.0, n 1000, drawn as a whole",
        "figure 6, theta 3.0, n 1000, shift 4.0, correlation 0.3",
    ],
)
def test_the_default_band_holds_where_the_papers_falls_short(panel, monkeypatch):
    monkeypatch.setattr(exact_band_coverage, "CONDITIONS", np.array([0.005, 0.2, 0.5]))
    monkeypatch.setattr(exact_band_coverage, "FINE", np.array([0.01, 0.5]))
    trial = trial_of(exact_band_coverage.EXPERIMENT, 0.1, panel=panel)
    rows = list(exact_band_coverage.measure(trial, panel=panel))
    found = {
        (row["method"], row["pc"]): row["value"] for row in rows if row["measure"] == "coverage"
    }
    assert min(value for (method, _), value in found.items() if method == "mover") > 0.86
    assert found["gaussian", 0.5] == pytest.approx(0.9, abs=0.05)
    if "shift 0.0" not in panel:
        assert found["gaussian", 0.005] < 0.8
    widths = {row["method"]: row["value"] for row in rows if row["measure"] == "width"}
    assert widths["mover"] == pytest.approx(widths["gaussian"], rel=0.1)


def test_the_lowest_coverage_is_that_of_the_documentation():
    panel = "figure 2, theta 3.0, n 1000"
    results = read_results(KEPT / "exact-band-coverage.parquet")
    assert results.value(panel=panel, method="mover", measure="lowest coverage") > 0.904
    assert results.value(panel=panel, method="wilson", measure="lowest coverage") < 0.862


def test_thresholds_of_a_finite_set_are_those_of_its_curve():
    trial = trial_of(finite_validation.EXPERIMENT, 0.01, theta=3.0, n=25)
    rows = list(finite_validation.measure(trial, theta=3.0, n=25))
    again = np.random.default_rng(trial_of(finite_validation.EXPERIMENT, 0.01, theta=3.0, n=25).rng)
    truth, excess, inside = Binormal(3.0), [], []
    for _ in range(trial.repeats):
        curve = CostCurve.from_scores(*binormal(25, 25, 3.0, rng=again))
        true = truth.cost(0.3, curve.threshold(0.3))
        excess.append(true / truth.cost(0.3) - 1)
        band = curve.band(0.9, pc=[0.3])
        inside.append(band.low[0] <= true <= band.high[0])
    by_name = {
        (row["measure"], row.get("judged"), row.get("method")): row["value"]
        for row in rows if row.get("pc") == 0.3
    }  # fmt: skip
    assert by_name["excess", None, None] == pytest.approx(np.mean(excess))
    assert by_name["coverage", "same", "mover"] == pytest.approx(np.mean(inside))


def test_finite_validation_measures_what_choosing_costs():
    results = run("finite-validation", scale=0.01)
    for theta in finite_validation.SPREADS:
        excess = [
            results.value(theta=theta, n=n, pc=0.5, measure="excess") for n in (25, 250, 2500)
        ]
        assert excess[0] > excess[1] > excess[2] > 0
        assert results.value(theta=theta, n=25, rule="assured", measure="recall") == 0
        assert results.value(theta=theta, n=100, pc=0.5, measure="optimism") > 0
    assert len(verdicts(find("finite-validation"), results)) == 3
