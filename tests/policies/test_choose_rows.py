"""Thresholds and minimum expected cost where each row has costs of its own."""

import numpy as np
import pytest

from stakes import ExampleCosts, study_of
from stakes.errors import InputError
from stakes.findings import findings

RNG = np.random.default_rng(3)
N = 600
Y = (RNG.random(N) < 0.3) * 1
AMOUNTS = np.round(RNG.lognormal(3, 0.8, N), 2)
SCORE = 1 / (1 + np.exp(-(3 * Y - 1.5 + RNG.normal(size=N))))
OTHER = RNG.random(N)
COSTS = {"false_positive": 5.0, "false_negative": AMOUNTS}
WEIGHTS = RNG.choice([1.0, 4.0], N)
GROUPS = np.arange(N) // 4
STRATA = np.where(np.arange(N) % 3 == 0, "n", "s")


def cost_of(decided, shares=None):
    each = np.where(Y == 1, np.where(decided == 1, 0.0, AMOUNTS), np.where(decided == 1, 5.0, 0.0))
    return np.average(each, weights=shares)


def study(**more):
    return study_of(Y, {"a": (SCORE > 0.5) * 1}, COSTS, y_score={"a": SCORE, "b": OTHER}, **more)


def test_scores_compete_by_minimum_expected_cost_and_at_thresholds():
    policies = study().policies
    kinds = {each.name.partition("@")[0]: [] for each in policies.policies if each.model}
    for each in policies.policies:
        if each.model is not None:
            kinds[each.model].append(each.kind)
    assert sorted(kinds["a"]) == ["decisions", "minimum_cost", "threshold"]
    assert sorted(kinds["b"]) == ["minimum_cost", "threshold"]
    least = (SCORE * AMOUNTS >= (1 - SCORE) * 5.0) * 1
    found = policies.estimate("a@minimum-cost")
    assert found.cost == pytest.approx(cost_of(least))
    assert not policies["a@minimum-cost"].cross_fitted
    assert "no thresholds" not in " ".join(policies.notes)


DESIGNS = {
    "plain": ({}, None),
    "weights": ({"sample_weight": WEIGHTS}, WEIGHTS),
    "groups": ({"groups": GROUPS}, None),
    "strata": (
        {"strata": STRATA, "population": {"n": 0.8, "s": 0.2}},
        np.where(STRATA == "n", 0.8 / (STRATA == "n").sum(), 0.2 / (STRATA == "s").sum()),
    ),
}


@pytest.mark.parametrize("design", DESIGNS)
def test_the_threshold_to_deploy_is_the_cheapest_of_all(design):
    more, shares = DESIGNS[design]
    policies = study(**more).policies
    policy = next(each for each in policies.policies if each.kind == "threshold")
    assert policy.cross_fitted
    every = [cost_of((cut <= SCORE) * 1, shares) for cut in [*SCORE, np.inf]]
    assert policies.in_sample_cost(policy.name) == pytest.approx(min(every))
    deployed = cost_of((policy.threshold <= SCORE) * 1, shares)
    assert deployed == pytest.approx(min(every))
    # The folds that did not choose it cost at least as much, give or take what chance does.
    assert policies.estimate(policy.name).cost > min(every) - 1e-12
    interval = policies.interval(policy.name)
    assert interval.low <= policies.in_sample_cost(policy.name) <= interval.high


def test_a_stated_threshold_and_limits():
    found = study(baseline="a@0.31").policies
    assert found.estimate("a@0.31").cost == pytest.approx(cost_of((SCORE >= 0.31) * 1))
    with pytest.raises(InputError, match="no scores to apply a threshold to"):
        study_of(Y, {"a": Y}, COSTS, baseline="a@0.31").policies  # noqa: B018


def test_costs_of_the_actual_class_alone_are_enough_for_a_threshold():
    values = np.column_stack([np.where(Y == 1, AMOUNTS, 0.0), np.where(Y == 0, 5.0, 0.0)])
    each = ExampleCosts(values, decisions=[0, 1], high=float(AMOUNTS.max()))
    policies = study_of(Y, {}, each, y_score={"a": SCORE - 3}).policies
    kinds = {each.kind for each in policies.policies}
    assert kinds == {"threshold", "constant"}
    other = study().policies
    costs = [
        next(
            p.in_sample_cost(x.name) for x in p.policies if (x.kind, x.model) == ("threshold", "a")
        )
        for p in (policies, other)
    ]
    assert costs[0] == pytest.approx(costs[1])


def test_a_constant_knows_which_costs_it_can_incur():
    """Calling everything positive costs 5 for each negative, and no miss can happen."""
    policies = study().policies
    interval = policies.interval("always 1")
    assert interval.high < 5
    never = policies.interval("always 0")
    assert never.low < np.where(Y == 1, AMOUNTS, 0).mean() < never.high
    assert never.high > interval.high


def test_too_few_rows_leave_minimum_expected_cost():
    rare = np.zeros(N, dtype=int)
    rare[:3] = 1
    policies = study_of(rare, {}, COSTS, y_score={"a": SCORE}).policies
    assert "there are only 3 rows of the class 1" in " ".join(policies.notes)
    assert "it competes by minimum expected cost" in " ".join(policies.notes)


def test_the_report_says_what_is_left_out():
    found = findings(study(groups=GROUPS))
    assert len(found.left_out) == 2
    assert found.curves is None
    assert found.sensitivity is None
    assert found.sample_size[0].plan.n > N
    assert found.calibration
