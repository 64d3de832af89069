"""The report has all its sections for every design of the examples."""

import numpy as np
import pytest

from stakes import (
    CostEstimate,
    CostMatrix,
    CostRanges,
    ScoreCounts,
    choose_threshold,
    study_of,
)
from stakes.curves import CostCurve
from stakes.findings import findings
from stakes.show.report import write_report

RNG = np.random.default_rng(5)
N = 500
Y = (RNG.random(N) < 0.3) * 1
GROUPS = np.arange(N) // 5
WEIGHTS = RNG.choice([1.0, 3.0], N)
STRATA = np.where(GROUPS % 3 == 0, "north", "south")
SHARES = {"north": 0.7, "south": 0.3}
SCORES = {
    "a": np.round(1 / (1 + np.exp(-(2.5 * Y - 1 + RNG.normal(size=N)))), 3),
    "b": np.round(1 / (1 + np.exp(-(1.5 * Y - 1 + RNG.normal(size=N)))), 3),
}
COSTS = CostMatrix.from_errors(false_positive=1, false_negative=7)
DESIGNS = {
    "groups": {"groups": GROUPS},
    "weights": {"sample_weight": WEIGHTS},
    "strata": {"strata": STRATA, "population": SHARES},
    "finite": {"strata": STRATA, "population": {"north": 5000, "south": 9000}},
    "classes": {"strata": Y, "population": {0: 0.9, 1: 0.1}},
    "everything": {
        "groups": GROUPS,
        "sample_weight": WEIGHTS,
        "strata": STRATA,
        "population": SHARES,
        "class_priors": {0: 0.8, 1: 0.2},
    },
}


def shares_of_rows(design):
    """Return what share of the population each row stands for, by raking row by row."""
    weight = np.asarray(design.get("sample_weight", np.ones(N)), dtype=float).copy()
    margins = []
    if "population" in design:
        sizes = design["population"]
        total = sum(sizes.values())
        margins.append((design["strata"], {name: each / total for name, each in sizes.items()}))
    if "class_priors" in design:
        margins.append((Y, design["class_priors"]))
    for _ in range(200 if margins else 0):
        for names, wanted in margins:
            for name, share in wanted.items():
                weight[names == name] *= share / weight[names == name].sum()
    return weight / weight.sum()


@pytest.fixture(scope="module", params=DESIGNS)
def found(request):
    design = DESIGNS[request.param]
    given = design
    if request.param == "classes":  # sampled by class
        given = {"class_priors": design["population"]}
    study = study_of(Y, {}, COSTS, y_score=SCORES, **given)
    return findings(study), study, design


def test_every_section_is_there(found, tmp_path):
    each, _, _ = found
    assert each.curves is not None
    assert each.sensitivity is not None
    assert each.sample_size
    assert each.calibration
    assert each.left_out == ()
    write_report(each, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    for section in ("threshold", "rates", "sensitivity", "sample_size", "calibration"):
        assert f'id="{section}"' in page


def test_curves_are_those_of_the_rows_with_their_shares(found):
    each, _, design = found
    shares = shares_of_rows(design)
    for model in each.curves.models:
        direct = CostCurve.from_scores(Y, SCORES[model.name], sample_weight=shares)
        assert model.band.cost == pytest.approx(direct.cost(model.band.pc))
        assert model.area == pytest.approx(direct.area())
        counts = ScoreCounts.from_scores(Y, SCORES[model.name], sample_weight=shares)
        choice = choose_threshold(counts, COSTS)
        assert model.choice.threshold == choice.threshold
        assert model.choice.cost == pytest.approx(choice.cost)
        assert (model.choice.recall, model.choice.fpr) == pytest.approx((choice.recall, choice.fpr))
    assert each.curves.condition.prevalence == pytest.approx(shares[Y == 1].sum())
    assert each.curves.pairs[0].ranges is not None


def test_the_sizes_start_from_the_interval_there_is(found):
    each, study, _ = found
    for size in each.sample_size:
        at = int(np.flatnonzero(size.sizes == study.n)[0])
        now = study.policies.estimate(size.name).interval()
        assert (size.low[at], size.high[at]) == pytest.approx(tuple(now))
        assert size.high[-1] - size.cost < size.high[at] - size.cost
        assert size.plan is not None


def test_paths_are_those_of_each_cost_by_itself(found):
    each, study, _ = found
    mean = CostRanges.around(COSTS, 2.0).mean()
    for path in each.sensitivity.paths:
        cell = tuple(COSTS.labels.index(label) for label in path.cell)
        for at in (5, 8):
            values = np.array(mean.values)
            values[cell] = path.position[at]
            costs = CostMatrix(values, rows="predicted", labels=COSTS.labels)
            for place, name in enumerate(path.names[:2]):
                table = study.policies.table((name,)).single(name)
                direct = CostEstimate(table, costs, study.design)
                assert path.cost[place, at] == pytest.approx(direct.cost)
                limits = direct.interval()
                # Limits between computed places are interpolated linearly.
                near = 1e-9 if at % 5 == 0 else 0.01
                assert path.low[place, at] == pytest.approx(limits.low, rel=near)
                assert path.high[place, at] == pytest.approx(limits.high, rel=near)


def test_flips_are_at_the_difference_where_the_models_are_used(found):
    each, study, _ = found
    for flips in each.sensitivity.flips:
        costs = [study.policies.estimate(name).cost for name in (flips.cheaper, flips.other)]
        apart = abs(float((flips.gradient * COSTS.values).sum()))
        assert apart == pytest.approx(abs(costs[0] - costs[1]))
