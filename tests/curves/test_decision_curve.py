"""Decision curves against dcurves' reference tables and the cost curve, and their bands.

The package dcurves uses the same tables and 750 simulated patients to check itself against its R
original (Sjoberg and others, `tests/benchmark_data` of MSKCC-Epi-Bio/dcurves).
"""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.stats import CensoredData, ecdf

from stakes import CostCurve, CostMatrix, DecisionCurve, ScoreCounts, evaluate
from stakes.curves import DecisionCurveDifference, operating_condition
from stakes.errors import DesignError, InputError

FIXTURES = Path(__file__).parents[1] / "fixtures" / "dcurves"
PATIENTS = pd.read_csv(FIXTURES / "patients.csv")
TABLES = pd.read_csv(FIXTURES / "reference.csv")
CANCER = PATIENTS["cancer"]


def logistic(values):
    """Return the risks that a logistic regression on one column gives, fitted to the last digit."""
    x = np.column_stack([np.ones(len(values)), (values - values.mean()) / values.std()])
    beta = np.zeros(2)
    for _ in range(30):
        p = 1 / (1 + np.exp(-x @ beta))
        beta = beta + np.linalg.solve((x.T * (p * (1 - p))) @ x, x.T @ (CANCER - p))
    return 1 / (1 + np.exp(-x @ beta))


def survival(column, at):
    return DecisionCurve.from_survival(PATIENTS["ttcancer"], CANCER, PATIENTS[column], at=at)


CURVES = {
    "family history": lambda: DecisionCurve.from_scores(CANCER, PATIENTS["famhistory"]),
    "predicted risk": lambda: DecisionCurve.from_scores(CANCER, PATIENTS["cancerpredmarker"]),
    "age, prevalence 0.5": lambda: DecisionCurve.from_scores(
        CANCER, logistic(PATIENTS["age"]), prevalence=0.5
    ),
    "marker, harm 0.0333": lambda: DecisionCurve.from_scores(
        CANCER, logistic(PATIENTS["marker"]), harm=0.0333
    ),
    "predicted risk by 1 year": lambda: survival("cancerpredmarker", 1),
    "family history by 1.5 years": lambda: survival("famhistory", 1.5),
}


@pytest.mark.parametrize("table", CURVES)
def test_dcurves_reference_tables(table):
    """All of their rows; there a risk of 0 is below a threshold of 0, here it is at it."""
    curve = CURVES[table]()
    rows = TABLES[TABLES["table"] == table]
    for who, found in (("model", curve.net_benefit), ("all", curve.treat_all)):
        each = rows[rows["who"] == who]
        assert len(each) > 30
        at = np.maximum(each["threshold"].to_numpy(), 1e-300)
        np.testing.assert_allclose(found(at), each["net_benefit"], rtol=0, atol=1e-12)
    rows = rows[rows["threshold"] > 1e-6]
    each = rows[(rows["who"] == "model") & rows["net_intervention_avoided"].notna()]
    if len(each):
        frame = curve.to_frame(each["threshold"].to_numpy())
        expected = 100 * each["net_intervention_avoided"]
        np.testing.assert_allclose(frame["interventions_avoided"], expected, rtol=0, atol=1e-9)


def drawn(n=800, prevalence=0.1, seed=0):
    """Return classes and calibrated risks."""
    rng = np.random.default_rng(seed)
    risk = rng.beta(prevalence * 2, (1 - prevalence) * 2, n)
    return (rng.random(n) < risk).astype(int), risk


def test_net_benefit_is_the_prevalence_minus_the_cost():
    y, risk = drawn()
    curve = DecisionCurve.from_scores(y, risk)
    for at in (0.02, 0.1, 0.35):
        costs = CostMatrix.from_errors(false_positive=at / (1 - at), false_negative=1)
        cost = evaluate(y, (risk >= at) * 1, costs).cost
        assert curve.net_benefit(at) == pytest.approx(y.mean() - cost, abs=1e-12)
        pc = operating_condition(prevalence=y.mean(), false_positive=at, false_negative=1 - at)
        best = CostCurve(ScoreCounts.from_scores(y, risk)).cost(pc)
        assert curve.net_benefit(at) <= y.mean() * (1 - best / pc) + 1e-12


def test_limits_are_those_of_the_costs_of_the_same_decisions():
    y, risk = drawn()
    band = DecisionCurve.from_scores(y, risk).band([0.05, 0.2, 0.6])
    for at, low, high in zip(band.thresholds, band.low, band.high, strict=True):
        odds = at / (1 - at)
        gains = CostMatrix([[0, 0], [odds, -1]], labels=[0, 1], rows="predicted")
        estimate = evaluate(y, (risk >= at) * 1, gains)
        limits = estimate.interval(method="extremal")
        assert (-high, -low) == pytest.approx((limits.low, limits.high), abs=1e-7)
    known = DecisionCurve.from_scores(y, risk, prevalence=0.02).band([0.2])
    line = CostCurve(ScoreCounts.from_scores(y, risk)).line(0.2)
    pc = operating_condition(prevalence=0.02, false_positive=0.2, false_negative=0.8)
    cost = line.band(pc=[pc])
    assert known.low[0] == pytest.approx(0.02 * (1 - cost.high[0] / pc), abs=1e-12)
    assert known.high[0] == pytest.approx(0.02 * (1 - cost.low[0] / pc), abs=1e-12)


def test_bands_contain_the_curve_and_simultaneous_ones_are_wider():
    y, risk = drawn()
    for options in ({}, {"prevalence": 0.3}, {"harm": 0.01}):
        curve = DecisionCurve.from_scores(y, risk, **options)
        point, whole = curve.band(), curve.band(simultaneous=True)
        assert (point.low <= point.net_benefit).all()
        assert (point.net_benefit <= point.high).all()
        assert (whole.low <= point.low + 1e-12).all()
        assert (whole.high >= point.high - 1e-12).all()
        np.testing.assert_allclose(whole.net_benefit, curve.net_benefit(whole.thresholds))
    frame = curve.to_frame()
    np.testing.assert_allclose(frame["standardized"], frame["net_benefit"] / y.mean())
    assert set(frame) >= {"treat_all", "low", "high", "simultaneous_low", "interventions_avoided"}
    assert set(curve.to_dict()) >= {"name", "prevalence", "net_benefit"}
    assert "net benefit" in curve.summary()
    assert curve._repr_html_().count("<table>") == 1


def test_better_than_treating_everyone_is_a_comparison_on_the_same_rows():
    y, risk = drawn()
    for options in ({}, {"prevalence": 0.3}, {"sample_weight": np.ones(len(y)) * 2}):
        curve = DecisionCurve.from_scores(y, risk, **options)
        at = np.array([0.05, 0.2])
        low, high = curve._limits(at, 0.05, below=True)  # noqa: SLF001 - behind the sentence
        gain = curve.net_benefit(at) - curve.treat_all(at)
        assert (low < gain).all()
        assert (gain < high).all()
    time = np.where(y == 1, 1.0, 3.0)
    full = DecisionCurve.from_survival(time, y, risk, at=2)
    one, other = (
        each._limits(at, 0.05, below=True)[0]  # noqa: SLF001 - behind the sentence
        for each in (full, DecisionCurve.from_scores(y, risk))
    )
    np.testing.assert_allclose(one, other, atol=2e-3)
    none = DecisionCurve.from_scores(y, np.full(len(y), 0.5))
    assert "not shown" in none.summary()


def test_a_threshold_above_all_risks_keeps_room_for_what_was_not_seen():
    y, risk = drawn()
    band = DecisionCurve.from_scores(y, 0.5 * risk).band([0.6])
    assert band.net_benefit[0] == 0
    assert band.low[0] < 0 < band.high[0]


def test_groups_and_weights():
    y, risk = drawn(200)
    at = [0.05, 0.2]
    once = DecisionCurve.from_scores(y, risk).band(at)
    groups = np.repeat(np.arange(200), 3)
    thrice = DecisionCurve.from_scores(np.repeat(y, 3), np.repeat(risk, 3), groups=groups).band(at)
    np.testing.assert_allclose(thrice.net_benefit, once.net_benefit, atol=1e-12)
    assert (thrice.high - thrice.low > 0.95 * (once.high - once.low)).all()
    weighted = DecisionCurve.from_scores(y, risk, sample_weight=1.0 + y)
    flagged = risk >= 0.2
    total = (1.0 + y).sum()
    expected = (2 * (y & flagged).sum() - ((1 - y) & flagged).sum() * 0.25) / total
    assert weighted.net_benefit(0.2) == pytest.approx(expected, abs=1e-12)
    band = weighted.band(at, simultaneous=True)
    assert (band.low < band.net_benefit).all()
    strata = np.where(np.arange(200) < 100, "a", "b")
    moved = DecisionCurve.from_scores(
        y, risk, strata=strata, population={"a": 0.8, "b": 0.2}, prevalence=None
    )
    parts = [
        DecisionCurve.from_scores(y[s], risk[s]).net_benefit(0.2)
        for s in (slice(100), slice(100, 200))
    ]
    assert moved.net_benefit(0.2) == pytest.approx(0.8 * parts[0] + 0.2 * parts[1], abs=1e-12)
    assert moved.band([0.2]).low[0] < moved.net_benefit(0.2) < moved.band([0.2]).high[0]


def test_differences():
    y, risk = drawn(2000)
    noise = np.random.default_rng(5).permutation(risk)
    found = DecisionCurveDifference.from_scores(y, risk, noise, names=("good", "noise"))
    curves = [DecisionCurve.from_scores(y, each) for each in (risk, noise)]
    at = found.thresholds
    expected = curves[0].net_benefit(at) - curves[1].net_benefit(at)
    np.testing.assert_allclose(found.net_benefit, expected, atol=1e-12)
    ranges = found.better_ranges()
    assert {name for *_, name in ranges} == {"good"}
    assert "good is shown to have the higher net benefit" in found.summary()
    frame = found.to_frame()
    assert (frame["simultaneous_low"] <= frame["low"] + 1e-12).all()
    assert set(frame["better"].dropna()) == {"good"}
    swapped = DecisionCurveDifference.from_scores(y, noise, risk)
    np.testing.assert_allclose(swapped.band().low, -found.band().high, atol=1e-7)
    known = DecisionCurveDifference.from_scores(y, risk, noise, prevalence=0.3)
    exact = [DecisionCurve.from_scores(y, each, prevalence=0.3) for each in (risk, noise)]
    difference = exact[0].net_benefit(at) - exact[1].net_benefit(at)
    np.testing.assert_allclose(known.net_benefit, difference, atol=1e-12)
    band = known.band(simultaneous=True)
    assert (band.low <= difference).all()
    assert (difference <= band.high).all()


def test_differences_with_groups_harm_and_no_difference():
    y, risk = drawn(150)
    same = DecisionCurveDifference.from_scores(y, risk, risk)
    assert same.better_ranges() == []
    assert (same.band().high > 0).all()
    assert "Neither" in same.summary()
    at = [0.1, 0.3]
    harmed = DecisionCurveDifference.from_scores(y, risk, risk, thresholds=at, harm=(0.5, 0.0))
    assert harmed.better_ranges() == [(0.1, 0.3, "second")]
    grouped = DecisionCurveDifference.from_scores(
        y, risk, np.sqrt(risk), thresholds=at, groups=np.arange(150) // 2
    )
    plain = DecisionCurveDifference.from_scores(y, risk, np.sqrt(risk), thresholds=at)
    np.testing.assert_allclose(grouped.net_benefit, plain.net_benefit, atol=1e-12)
    band = grouped.band()
    assert (band.low < band.net_benefit).all()


def test_kaplan_meier_is_scipys():
    curve = survival("cancerpredmarker", 1.5)
    for at in (0.1, 0.3):
        chosen = PATIENTS["cancerpredmarker"] >= at
        times, events = PATIENTS["ttcancer"][chosen], CANCER[chosen] == 1
        alive = ecdf(CensoredData(uncensored=times[events], right=times[~events])).sf.evaluate(1.5)
        flagged = chosen.mean()
        expected = flagged * (1 - alive) - flagged * alive * at / (1 - at)
        assert curve.net_benefit(at) == pytest.approx(expected, abs=1e-12)
    band = curve.band([0.1, 0.3, 0.9])
    assert (band.low < band.high).all()
    assert (band.low <= band.net_benefit).all()
    # Without censoring, limits are those of the classes.
    time = np.where(CANCER == 1, 1.0, 3.0)
    full = DecisionCurve.from_survival(time, CANCER, PATIENTS["cancerpredmarker"], at=2)
    plain = DecisionCurve.from_scores(CANCER, PATIENTS["cancerpredmarker"])
    one, other = (each.band([0.1, 0.3]) for each in (full, plain))
    np.testing.assert_allclose(one.net_benefit, other.net_benefit, atol=1e-12)
    np.testing.assert_allclose(one.low, other.low, atol=2e-3)


def test_bad_input_names_the_argument():
    with pytest.raises(InputError, match="risk"):
        DecisionCurve.from_scores([0, 1, 0], [0.1, 3.0, 0.2])
    with pytest.raises(InputError, match="pos_label"):
        DecisionCurve.from_scores([0, 0, 0], [0.1, 0.3, 0.2])
    with pytest.raises(InputError, match="prevalence"):
        DecisionCurve.from_scores([0, 1], [0.1, 0.3], prevalence=0.0)
    with pytest.raises(InputError, match="harm"):
        DecisionCurve.from_scores([0, 1], [0.1, 0.3], harm=-1)
    curve = DecisionCurve.from_scores([0, 1], [0.1, 0.3])
    for thresholds in ([1.0], [-0.1], [0.3, 0.2], [[0.1, 0.2]]):
        with pytest.raises(InputError, match="thresholds"):
            curve.net_benefit(thresholds)
    with pytest.raises(InputError, match="event"):
        DecisionCurve.from_survival([1, 2], [0, 2], [0.1, 0.2], at=1)
    with pytest.raises(InputError, match="at"):
        DecisionCurve.from_survival([1, 2], [0, 1], [0.1, 0.2], at=9)
    with pytest.raises(InputError, match="time"):
        DecisionCurve.from_survival([-1, 2], [0, 1], [0.1, 0.2], at=1)
    with pytest.raises(DesignError, match="prevalence"):
        DecisionCurve.from_survival(
            [1, 2, 3], [1, 0, 1], [0.1, 0.2, 0.9], at=1, prevalence=0.2
        ).band()
