"""The policies at other costs are those of a study with these costs."""

from dataclasses import replace

import numpy as np
import pytest

from stakes import CostMatrix, study_of
from stakes.findings.sensitivity import repriced
from stakes.policies._choose import Choosing
from stakes.policies._path import identity
from stakes.policies._rule import fitted_odds

FREE, GAIN = [[0, 20.0], [3, 0]], [[1, 30.0], [4, -2]]
REVIEW = [[0, 50.0], [2, 5.0], [10, 0]]
FACTORS = [0.01, 0.1, 1 / 3, 1.0, 2.0, 7.0, 100.0]


def rows(n, seed, tied=False, prevalence=0.2):
    """Return classes, decisions and scores of three models, which may tie."""
    rng = np.random.default_rng([n, seed])
    actual = (rng.random(n) < prevalence).astype(int)
    scores = {
        name: 1 / (1 + np.exp(-(rng.normal(size=n) + lead * actual - 1)))
        for name, lead in (("a", 1.2), ("b", 1.4), ("c", 1.6))
    }
    if tied:
        scores = {name: np.round(each, 1) for name, each in scores.items()}
    return actual, {name: (each > 0.5).astype(int) for name, each in scores.items()}, scores


def made(costs=FREE, decisions=(0, 1), *, n=400, seed=0, tied=False, **design):
    actual, decided, scores = rows(n, seed, tied)
    matrix = CostMatrix(costs, rows="predicted", labels=[0, 1], decisions=list(decisions))
    if len(decisions) > 2:
        decided = {name: each.astype(object) for name, each in decided.items()}
    return study_of(actual, decided, matrix, y_score=scores, **design)


def check_same(study, values):
    """Check the policies at some costs against those of a study with them."""
    again, costs = repriced(study), study.costs
    for each in values:
        axes = {"labels": costs.labels, "decisions": costs.decisions}
        fresh = replace(study, costs=CostMatrix(each, rows="predicted", **axes)).policies
        found = again.policies(again.matrix(np.asarray(each, dtype=float)))
        assert found.held_out == fresh.held_out
        assert found.in_sample == fresh.in_sample
        assert [one.names for one in found.policies] == [one.names for one in fresh.policies]
        assert found.best == fresh.best
        direct = {identity(one): fresh.estimate(one.name).cost for one in fresh.policies}
        same = {identity(one): found.estimate(one.name).cost for one in found.policies}
        assert same == pytest.approx(direct, rel=1e-12, abs=1e-12)
        if not study.choosing.limits:
            lines = again.lines(np.asarray(each, dtype=float))
            quick = {one.identity: (one.judged * each).sum() for one in lines}
            assert quick == pytest.approx(direct, rel=1e-12, abs=1e-12)
        least = again.cheapest(np.asarray(each, dtype=float)).identity
        assert direct[least] == pytest.approx(direct[identity(fresh[fresh.best])], abs=1e-12)


def varied(costs, cells):
    """Return costs with one of them, or a column, multiplied."""
    for cell in cells:
        for factor in FACTORS:
            values = np.array(costs, dtype=float)
            values[cell] *= factor
            yield values


PLACES = [(1, 0), (0, 1), (slice(None), 1)]
N = 400
GROUPS = np.arange(N) // 3
STRATA = np.where(np.arange(N) % 5 < 2, "north", "south")
SHARES = {"north": 0.3, "south": 0.7}
DESIGNS = {
    "plain": {},
    "priors": {"class_priors": {0: 0.95, 1: 0.05}},
    "weights": {"sample_weight": np.resize([1.0, 2.0, 0.5], N)},
    "groups": {"groups": GROUPS},
    "strata": {"strata": STRATA, "population": SHARES},
    "everything": {
        "groups": GROUPS,
        "sample_weight": np.resize([1.0, 2.0, 0.5], N),
        "strata": STRATA,
        "population": SHARES,
        "class_priors": {0: 0.9, 1: 0.1},
    },
    "pinned": {"baseline": "b@0.41"},
}


@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("costs", [FREE, GAIN])
@pytest.mark.parametrize("design", DESIGNS)
def test_as_a_study_with_these_costs(design, costs, tied):
    check_same(made(costs, tied=tied, **DESIGNS[design]), varied(costs, PLACES))


def test_more_scores_than_cuts_are_kept():
    check_same(made(n=12_000), varied(FREE, PLACES[:1]))


def test_too_few_rows_to_choose_on():
    actual, decided, scores = rows(60, 0)
    actual[np.flatnonzero(actual)[6:]] = 0
    costs = CostMatrix(FREE, rows="predicted", labels=[0, 1])
    study = study_of(actual, decided, costs, y_score=scores)
    assert not any(each.cross_fitted for each in study.policies.policies)
    check_same(study, varied(FREE, PLACES))


def test_three_decisions_have_two_thresholds():
    study = made(REVIEW, (0, "review", 1))
    assert any(len(each.cuts) == 2 for each in study.policies.policies)
    check_same(study, varied(REVIEW, [(0, 1), (1, 0), (1, 1), (2, 0)]))


def test_thresholds_of_validation_rows():
    study = replace(made(), choosing=Choosing(validation=made(seed=1).joint_scores))
    assert not any(each.cross_fitted for each in study.policies.policies)
    check_same(study, varied(FREE, PLACES))


@pytest.mark.parametrize(
    "limits", [{"min_recall": 0.6}, {"max_fpr": 0.1}, {"capacity": 0.3}], ids=str
)
def test_thresholds_within_limits(limits):
    check_same(replace(made(), choosing=Choosing(**limits)), varied(FREE, PLACES[:2]))


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("design", ["plain", "groups", "weights", "strata"])
def test_as_a_study_with_these_class_priors(design, share):
    priors = {0: 1 - share, 1: share}
    fresh = made(**DESIGNS[design], class_priors=priors).policies
    found = repriced(made(**DESIGNS[design])).policies(class_priors=priors)
    assert found.best == fresh.best
    for each in fresh.policies:
        same, direct = (one.estimate(each.name).cost for one in (found, fresh))
        assert same == pytest.approx(direct, rel=1e-12)


def test_policies_that_decide_alike_at_some_costs_are_one_there():
    actual, _, scores = rows(600, 0, tied=True)
    costs = CostMatrix.from_errors(false_positive=1, false_negative=3)
    score = {"a": scores["a"]}
    (chosen,) = (
        each for each in study_of(actual, {}, costs, y_score=score).policies.policies if each.chosen
    )
    decided = {"a": (score["a"] >= chosen.threshold) * 1}
    study = study_of(actual, decided, costs, y_score=score)
    again = repriced(study)
    found = [
        {one.identity[0] for one in again.lines(study.costs.values * [[1, factor], [1, 1]])}
        for factor in (1, 3, 1000)
    ]
    assert found[0] == found[2] == {"constant", "decisions"}  # as decided; always 1
    assert found[1] == {"constant", "decisions", "threshold"}
    check_same(study, varied(study.costs.values, [(0, 1)]))


def test_rows_are_dealt_and_fits_are_made_once(monkeypatch):
    fits = []
    monkeypatch.setattr(
        "stakes.policies._path.fitted_odds", lambda x: fits.append(x) or fitted_odds(x)
    )
    again = repriced(made())
    for values in varied(FREE, PLACES):
        again.cheapest(values)
        again.policies(again.matrix(values))
    again.at_ratios([0.0, 0.5, 1.0, np.inf])
    assert len(fits) == 3
