"""Thresholds and minimum expected cost with costs of single rows."""

from dataclasses import replace

import numpy as np
import pytest

from stakes import CostMatrix, ExampleCosts, study_of
from stakes.errors import InputError
from stakes.findings import findings
from stakes.policies import Choosing

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


def every(policies):
    """Return all policies, those that decide every row alike one by one."""
    return [one for each in policies.policies for one in (each, *each.alike)]


def test_scores_compete_by_minimum_expected_cost_and_at_thresholds():
    policies = study().policies
    kinds = {"a": [], "b": []}
    for each in every(policies):
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


def deployed(policies, model="a"):
    wanted = ("threshold", model)
    return next(each for each in every(policies) if (each.kind, each.model) == wanted)


@pytest.mark.parametrize("design", DESIGNS)
def test_the_threshold_costs_no_more_than_the_cheapest_and_what_chance_explains(design):
    more, shares = DESIGNS[design]
    policies = study(**more).policies
    policy = deployed(policies)
    assert policy.cross_fitted
    every = [cost_of((cut <= SCORE) * 1, shares) for cut in [*SCORE, np.inf]]
    mine = (policy.threshold <= SCORE) * 1
    assert policies.in_sample_cost(policy.name) == pytest.approx(cost_of(mine, shares))
    least = ([*SCORE, np.inf][int(np.argmin(every))] <= SCORE) * 1
    weight = np.ones(N) / N if shares is None else shares / shares.sum()
    differing = (mine != least) * np.where(Y == 1, AMOUNTS, 5.0)
    one = [(weight * (y == Y) * np.where(y, AMOUNTS, 5.0) ** 2).sum() / weight[y == Y].sum()
           for y in (0, 1)]  # fmt: skip
    unit = (weight**2).sum()
    chance = np.sqrt(unit * (weight * differing**2).sum() + unit**2 * sum(one))
    assert cost_of(mine, shares) - min(every) <= chance + 1e-9
    interval = policies.interval(policy.name)
    assert interval.low <= policies.in_sample_cost(policy.name) <= interval.high


CONSTANT = {"false_positive": np.full(N, 5.0), "false_negative": np.full(N, 20.0)}
MATRIX = {"false_positive": 5.0, "false_negative": 20.0}
TIED = np.round(SCORE, 1)


@pytest.mark.parametrize("score", [SCORE, TIED], ids=["distinct", "tied"])
@pytest.mark.parametrize("design", [*DESIGNS, "priors"])
def test_constant_amounts_are_a_cost_matrix(design, score):
    more = DESIGNS.get(design, ({"class_priors": {0: 0.9, 1: 0.1}}, None))[0]
    models = {"a": (SCORE > 0.5) * 1}, {"a": score, "b": np.round(OTHER, 2)}
    costs = CostMatrix.from_errors(**MATRIX)
    by_row = study_of(Y, models[0], CONSTANT, y_score=models[1], **more).policies
    by_class = study_of(Y, models[0], costs, y_score=models[1], **more).policies
    for model in ("a", "b"):
        one, other = deployed(by_row, model), deployed(by_class, model)
        assert one.name == other.name
        first, second = (p.estimate(one.name).cost for p in (by_row, by_class))
        assert first == pytest.approx(second)
        first, second = (p.in_sample_cost(one.name) for p in (by_row, by_class))
        assert first == pytest.approx(second)


def test_amounts_that_go_with_scores_are_followed():
    """Were the averages of amounts alone to tell, large misses with low scores would be missed."""
    rng = np.random.default_rng(5)
    y = (rng.random(4000) < 0.3) * 1
    score = rng.normal(size=4000) + 1.5 * y
    miss = np.where(score < 0.5, 100.0, 1.0)
    costs = {"false_positive": np.ones(4000), "false_negative": miss}
    policies = study_of(y, {}, costs, y_score={"a": score}).policies
    assert deployed(policies).threshold < 0
    least = min(
        np.where(y == 1, miss * (score < cut), 1.0 * (score >= cut)).mean() for cut in score
    )
    assert policies.in_sample_cost(deployed(policies).name) < 1.1 * least


def test_other_rows_with_amounts_of_their_own_choose_the_threshold():
    half = np.arange(N) % 2 == 0

    def examples(rows):
        costs = {"false_positive": 5.0, "false_negative": AMOUNTS[rows]}
        return study_of(Y[rows], {}, costs, y_score={"a": SCORE[rows]})

    test, other = examples(half), examples(~half)
    judged = replace(test, choosing=Choosing(validation=other.examples)).policies
    policy = deployed(judged)
    assert not policy.cross_fitted
    alone = deployed(other.policies)
    assert policy.threshold == pytest.approx(alone.threshold, abs=0.02)
    decided = (SCORE[half] >= policy.threshold) * 1
    each = np.where(Y[half] == 1, (1 - decided) * AMOUNTS[half], decided * 5.0)
    assert judged.estimate(policy.name).cost == pytest.approx(each.mean())
    assert "300 validation rows" in " ".join(judged.remarks)
    with pytest.raises(InputError, match="most of the rows"):
        replace(test, choosing=Choosing(validation=test.examples)).policies  # noqa: B018
    scores = study_of(Y, {}, CostMatrix.from_errors(**MATRIX), y_score={"a": SCORE}).joint_scores
    with pytest.raises(InputError, match="costs of their own"):
        replace(test, choosing=Choosing(validation=scores)).policies  # noqa: B018


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
