"""The report has all its sections for every design of the examples."""

import numpy as np
import pytest

from stakes import (
    CostMatrix,
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
    each, study, design = found
    shares = shares_of_rows(design)
    for model in each.curves.models:
        direct = CostCurve.from_scores(Y, SCORES[model.name], sample_weight=shares)
        assert model.band.cost == pytest.approx(direct.cost(model.band.pc))
        assert model.area == pytest.approx(direct.area())
        policies, choice = study.policies, model.choice
        policy = policies.chosen_for(model.name)
        assert f"{model.name}@{choice.threshold!r}" == policy
        assert choice.cost == policies.estimate(policy).cost
        assert tuple(choice.interval) == tuple(policies.interval(policy))
        flags = SCORES[model.name] >= choice.threshold
        rates = [np.average(flags[side], weights=shares[side]) for side in (Y == 1, Y == 0)]
        assert [choice.recall, choice.fpr] == pytest.approx(rates)
        assert choice.precision == pytest.approx(np.average(Y[flags], weights=shares[flags]))
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
