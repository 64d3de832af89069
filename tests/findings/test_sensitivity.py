"""What would change the verdict, against studies with the costs that are stated to change it."""

import re
from dataclasses import replace

import numpy as np
import pytest

from stakes import CostMatrix, study_of
from stakes.findings import Settings, findings
from stakes.findings.sensitivity import sensitivity_of
from stakes.policies._choose import Choosing
from stakes.policies._path import identity
from stakes.show.report._answer import answer_of

ALONE = Settings(factor=1)


def rows(n, seed, tied=False):
    """Return classes, decisions and scores of three models."""
    rng = np.random.default_rng([n, seed])
    actual = (rng.random(n) < 0.25).astype(int)
    scores = {
        name: 1 / (1 + np.exp(-(rng.normal(size=n) + lead * actual - 1)))
        for name, lead in (("a", 1.3), ("b", 1.4), ("c", 1.5))
    }
    if tied:
        scores = {name: np.round(each, 1) for name, each in scores.items()}
    return actual, {name: (each > 0.5).astype(int) for name, each in scores.items()}, scores


def made(alarm=3.0, miss=20.0, *, n=300, seed=0, tied=False, decides=True, scored=True, **design):
    actual, decided, scores = rows(n, seed, tied)
    costs = CostMatrix.from_errors(false_positive=alarm, false_negative=miss)
    return study_of(
        actual, decided if decides else {}, costs, y_score=scores if scored else {}, **design
    )


def beyond(study, change, turn, sign):
    """Return the stated value, moved by a thousandth; of a prevalence, its odds."""
    if change.decision is not None:
        return turn.at * np.exp(1e-3 * sign)
    odds = turn.at / (1 - turn.at) * np.exp(1e-3 * sign)
    return odds / (1 + odds)


def check_turns(make, alarm, miss):
    """Check each turning point by studies with the costs just before and just beyond it."""
    study = make(alarm, miss)
    use, turned = identity(study.policies[study.policies.best]), 0
    found = sensitivity_of(study, ALONE)
    for change in found.changes:
        for turn, side in ((change.below, -1), (change.above, 1)):
            if turn is None:
                continue
            turned += 1
            for sign in (-side, side):
                value = beyond(study, change, turn, sign)
                if change.decision is None:
                    there = make(alarm, miss, class_priors={0: 1 - value, 1: value})
                else:
                    there = make(*((value, miss) if change.decision == 1 else (alarm, value)))
                best = there.policies[there.policies.best]
                if sign == side:
                    assert (best.name, best.model) == (turn.policy, turn.model)
                else:
                    assert identity(best) == use
    return turned


N = 300
DESIGNS = {
    "plain": {},
    "tied": {"tied": True},
    "scores only": {"decides": False},
    "decisions only": {"scored": False},
    "groups": {"groups": np.arange(N) // 3},
    "weights": {"sample_weight": np.resize([1.0, 2.0, 0.5], N)},
    "priors": {"class_priors": {0: 0.93, 1: 0.07}},
    "pinned": {"baseline": "b@0.41"},
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("design", DESIGNS)
def test_a_study_beyond_a_turning_point_has_the_policy_that_is_stated(design, seed):
    def make(alarm, miss, **more):
        return made(alarm, miss, seed=seed, **{**DESIGNS[design], **more})

    assert sum(check_turns(make, *costs) for costs in ((3, 20), (44, 700), (5, 1))) >= 3


def test_with_three_decisions_too():
    actual, decided, scores = rows(400, 1)
    decided = {name: each.astype(object) for name, each in decided.items()}

    def make(values):
        costs = CostMatrix(values, rows="predicted", labels=[0, 1], decisions=[0, "review", 1])
        return study_of(actual, decided, costs, y_score=scores)

    stated = np.array([[0, 50.0], [2, 5], [10, 0]])
    study = make(stated)
    use = identity(study.policies[study.policies.best])
    turns = []
    for change in sensitivity_of(study, ALONE).changes:
        for turn, side in ((change.below, -1), (change.above, 1)):
            if turn is None or change.decision is None:
                continue
            turns.append(turn)
            cell = study.costs.decisions.index(change.decision), change.label
            for sign in (-side, side):
                values = stated.copy()
                values[cell] = beyond(study, change, turn, sign)
                policies = make(values).policies
                if sign == side:
                    assert policies.best == turn.policy
                else:
                    assert identity(policies[policies.best]) == use
    assert turns


def test_the_sentence_on_the_page_is_what_happens():
    """The costs as they are printed, a thousandth lower and higher."""
    study = made(44, 700, seed=1)
    found = findings(study, Settings(unit="USD"))
    (text,) = (each.text for each in answer_of(found).facts if each.name == "change")
    numbers = re.findall(
        r"(false alarm|miss|prevalence|or) (below|above) ([\d,.]+)( USD|%) \(then ([^)]+)\)",
        text[0].lower() + text[1:],
    )
    assert len(numbers) >= 2
    for what, side, value, _, then in numbers:
        sign = 1 if side == "above" else -1
        amount = float(value.replace(",", "")) * (1 + 1e-3 * sign)
        if what in ("prevalence", "or"):
            share = amount / 100
            there = made(44, 700, seed=1, class_priors={0: 1 - share, 1: share})
        else:
            there = made(*((amount, 700) if what == "false alarm" else (44, amount)), seed=1)
        assert findings(there).verdict.text.startswith(f"Use {then}") or then in (
            there.verdict().text
        )


def test_a_command_beyond_a_turning_point_says_so(tmp_path, capsys):
    import json

    import pandas as pd

    from stakes.cli.main import main

    actual, decided, scores = rows(300, 2)
    frame = pd.DataFrame({"y": actual})
    for name in scores:
        frame[f"{name}_pred"], frame[f"{name}_score"] = decided[name], scores[name]
    path = tmp_path / "rows.csv"
    frame.to_csv(path, index=False)

    def run(alarm, miss):
        main(["report", str(path), "--fp", repr(alarm), "--fn", repr(miss), "--json", "-q"])
        return json.loads(capsys.readouterr().out)

    found = run(3.0, 20.0)
    turns = 0
    for change in found["sensitivity"]["changes"]:
        for turn, side in ((change["below"], -1), (change["above"], 1)):
            if turn is None or change["decision"] is None:
                continue
            value = float(turn["at"] * np.exp(1e-3 * side))
            there = run(*((value, 20.0) if change["decision"] == 1 else (3.0, value)))
            assert there["verdict"]["use"] == turn["policy"]
            turns += 1
    assert turns


def test_where_nothing_changes_the_range_that_was_searched_is_stated():
    actual = np.repeat([0, 1], [150, 50])
    best = np.where(np.arange(200) % 50 == 0, 1 - actual, actual)
    study = study_of(
        actual, {"a": best}, CostMatrix.from_errors(false_positive=3, false_negative=4)
    )
    alarm = next(each for each in sensitivity_of(study, ALONE).changes if each.decision == 1)
    assert alarm.below is None or alarm.below.at < 0.3
    worse = {"a": best, "b": np.where(np.arange(200) % 25 == 0, 1 - actual, actual)}
    found = sensitivity_of(study_of(actual, worse, study.costs), ALONE)
    assert {
        each.model for change in found.changes for each in (change.below, change.above) if each
    } <= {None}
    for change in found.changes:
        for turn, end in ((change.below, change.low), (change.above, change.high)):
            if turn is not None:
                assert turn.at == end
    zero = study_of([0, 1] * 20, {"a": [0, 1] * 20}, study.costs)
    found = findings(zero, ALONE)
    for change in found.sensitivity.changes:
        assert (change.below, change.above) == (None, None)
        if change.decision is not None:
            assert (change.low, change.high) == pytest.approx((change.now / 100, change.now * 100))
        else:
            odds = [each / (1 - each) for each in (change.low, change.now, change.high)]
            assert np.divide(odds, odds[1]) == pytest.approx([0.01, 1, 100])
    (fact,) = (each for each in answer_of(found).facts if each.name == "change")
    assert fact.text == "No cost alone, from a hundredth to a hundred times as much."


def test_gains_turn_as_costs_do():
    """Lower and higher are those of the value, also where it is negative."""
    actual, decided, scores = rows(400, 4)

    def make(gain):
        values = [[0, 12.0], [3, gain]]
        costs = CostMatrix(values, rows="predicted", labels=[0, 1])
        return study_of(actual, decided, costs, y_score=scores)

    study = make(-6.0)
    change = next(
        each
        for each in sensitivity_of(study, ALONE).changes
        if (each.decision, each.label) == (1, 1)
    )
    assert change.low < change.now < change.high
    for turn, sign in ((change.below, -1), (change.above, 1)):
        if turn is not None:
            policies = make(turn.at + 1e-3 * sign * abs(turn.at)).policies
            assert policies.best == turn.policy


def test_of_many_costs_those_that_turn_first():
    rng = np.random.default_rng(0)
    actual = rng.integers(0, 6, 600)
    decided = {
        name: np.where(rng.random(600) < wrong, rng.integers(0, 6, 600), actual)
        for name, wrong in (("a", 0.2), ("b", 0.22), ("c", 0.3))
    }
    values = np.round(rng.uniform(1, 9, (6, 6)) * (1 - np.eye(6)), 1)
    study = study_of(actual, decided, CostMatrix(values, rows="predicted", labels=range(6)))
    found = sensitivity_of(study, ALONE)
    assert not found.rechosen
    assert len(found.changes) == 10
    turned = [
        abs(np.log(turn.at / change.now))
        for change in found.changes
        for turn in (change.below, change.above)
        if turn is not None
    ]
    shares = {
        name: np.array([[np.mean((each == i) & (actual == j)) for j in range(6)] for i in range(6)])
        for name, each in decided.items()
    }
    cost = {name: (each * values).sum() for name, each in shares.items()}
    best = min(cost, key=cost.get)
    assert study.policies.best == best
    exact = []  # the cost of each policy is a straight line
    for i, j in np.ndindex(6, 6):
        for name in shares:
            slope = (shares[name] - shares[best])[i, j]
            at = values[i, j] - (cost[name] - cost[best]) / slope if slope else -1
            if values[i, j] and values[i, j] / 100 < at < values[i, j] * 100:
                exact.append(abs(np.log(at / values[i, j])))
    assert min(turned) == pytest.approx(min(exact), rel=0.02)


@pytest.mark.parametrize("design", ["plain", "groups", "priors"])
def test_what_is_drawn_at_each_cost_is_what_a_study_finds(design):
    study = made(seed=3, **DESIGNS[design])
    found = sensitivity_of(study, Settings(factor=3))
    assert len(found.paths) == 2
    for path in found.paths:
        assert path.position[[0, -1]] == pytest.approx(
            np.array([1 / 3, 3]) * path.position[len(path.position) // 2]
        )
        for place, value in enumerate(path.position):
            costs = (value, 20) if path.cell == (1, 0) else (3, value)
            policies = made(*costs, seed=3, **DESIGNS[design]).policies
            by_identity = {
                identity(one): each for each in policies.policies for one in (each, *each.alike)
            }
            for row, name in enumerate(path.names):
                there = by_identity[identity(study.policies[name])].name
                assert path.cost[row, place] == pytest.approx(policies.estimate(there).cost)
                limits = path.low[row, place], path.high[row, place]
                assert limits == pytest.approx(tuple(policies.interval(there)), rel=1e-6)
            best = identity(study.policies[path.cheapest[place]])
            assert best == identity(policies[policies.best])
            assert path.shown[place] == (not policies.ties)
        for each in path.ranges:
            inside = (path.position >= each.low) & (path.position <= each.high)
            assert {*np.array(path.cheapest)[inside]} == {each.cheapest}
            assert {*np.array(path.shown)[inside].tolist()} == {each.shown}


def test_sentences_of_a_path():
    found = sensitivity_of(made(44, 700, seed=1), Settings())
    for path in found.paths:
        for each in path.ranges:
            assert each.cheapest.partition("@")[0] in path.summary
        assert ("None is shown" in path.summary) == (not any(path.shown))
    named = {name for path in found.paths for name in path.cheapest}
    use = made(44, 700, seed=1).policies.best
    assert ("keeps the lowest estimate" in found.summary) == (named == {use})


def test_without_uncertainty_no_path():
    found = sensitivity_of(made(), ALONE)
    assert (found.paths, found.summary) == ((), "")
    assert found.changes


def test_with_strata_the_prevalence_stays():
    strata = np.where(np.arange(N) % 3 == 0, "north", "south")
    found = sensitivity_of(made(strata=strata, population={"north": 0.3, "south": 0.7}), Settings())
    assert all(each.decision is not None for each in found.changes)
    assert found.notes == (
        "The prevalence is not varied: with strata, it changes the weights of the rows.",
    )


def test_with_a_capacity_the_prevalence_stays():
    study = replace(made(), choosing=Choosing(capacity=0.4))
    found = sensitivity_of(study, Settings())
    assert all(each.decision is not None for each in found.changes)
    assert "keep the capacity" in found.notes[0]


def test_limits_that_nothing_keeps_at_some_costs():
    actual, decided, scores = rows(60, 0)
    actual[np.flatnonzero(actual)[6:]] = 0  # too few rows: costs alone imply the thresholds
    costs = CostMatrix.from_errors(false_positive=3, false_negative=20)
    study = study_of(actual, {}, costs, y_score=scores)
    found = [
        sensitivity_of(replace(study, choosing=Choosing(max_fpr=limit)), Settings())
        for limit in (0.3, 1.0)
    ]
    assert found[0] is None or found[0].notes or found[0].changes
    assert found[1].changes


def test_decisions_by_minimum_expected_cost_stay_and_it_is_said():
    rng = np.random.default_rng(0)
    actual = rng.integers(0, 3, 300)
    chances = rng.dirichlet(np.ones(3), 300) + np.eye(3)[actual]
    chances /= chances.sum(axis=1, keepdims=True)
    costs = CostMatrix([[0, 2, 9], [1, 0, 4], [3, 1, 0]], rows="predicted", labels=range(3))
    study = study_of(actual, {}, costs, y_score={"a": chances})
    found = sensitivity_of(study, Settings())
    if any(each.kind == "minimum_cost" for each in study.policies.policies):
        assert found.notes == (
            "Decisions by minimum expected cost stay those at the stated costs.",
        )
    assert found.paths
