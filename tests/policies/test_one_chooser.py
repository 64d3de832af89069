"""The threshold of one model is that of a study of the same rows, with the same cost and limits."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

from stakes import CostEstimate, CostMatrix, ExampleCosts, ScoreCounts, choose_threshold, study_of
from stakes.errors import InputError, InputTypeError
from stakes.policies import Choosing, threshold
from stakes.policies._limits import LIMIT_ROUNDING, broken

pytestmark = pytest.mark.filterwarnings("ignore::stakes.errors.NotClaimedWarning")

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=8)
DETAILED = CostMatrix([[0.5, 40], [3, 2]], rows="predicted", labels=[0, 1])
LIMITS = ({}, {"max_fpr": 0.2}, {"min_recall": 0.8}, {"capacity": 0.3})
WHERE = ({}, {"class_priors": {0: 0.9, 1: 0.1}})


def rows(seed, n=120, *, ties):
    """Return classes, scores, and parts; of tied rows of a class the weights are equal."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < 0.3).astype(int)
    score = rng.normal(size=n) + 1.2 * y
    score = np.round(score, 1) if ties else score
    weight = np.where(y == 1, 2.0, 5.0) if ties else rng.choice([1.0, 3.0], n)
    strata = np.where(rng.random(n) < 0.5, "n", "s")
    return y, score, {"sample_weight": weight, "groups": rng.integers(0, 30, n), "strata": strata}


def is_that_of(study, choice, **limits):
    """Check a choice against the policy of the only model of a study."""
    policies = replace(study, choosing=Choosing(**limits)).policies
    name = policies.chosen_for("m")
    policy = next(one for one in (policies[name], *policies[name].alike) if one.name == name)
    assert choice.threshold == policy.cuts[0][1] or policies[name].always is not None
    assert choice.cost == pytest.approx(policies.estimate(name).cost, abs=1e-12)
    assert tuple(choice.interval) == pytest.approx(tuple(policies.interval(name)), abs=1e-12)
    assert choice.in_sample_cost == pytest.approx(policies.in_sample_cost(name), abs=1e-12)
    assert choice.estimate().cost == choice.cost
    assert tuple(choice.estimate().interval()) == tuple(choice.interval)


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("parts", list(product([False, True], repeat=3)))
def test_counts_have_the_threshold_of_the_rows(parts, ties):
    for seed, (where, limits) in enumerate(product(WHERE, LIMITS)):
        y, score, every = rows(seed, ties=ties)
        given = {name: every[name] for name, used in zip(every, parts, strict=True) if used}
        more = dict(where)
        if "strata" in given and seed % 2:
            more["population"] = {"n": 0.8, "s": 0.2}
        costs = (COSTS, DETAILED)[seed % 2]
        counts = ScoreCounts.from_scores(y, score, **given)
        asked = {**limits, **({"volume": 1} if "capacity" in limits else {})}
        choice = choose_threshold(counts, costs, **asked, **more)
        study = study_of(y, {}, costs, y_score={"m": score}, **given, **more)
        is_that_of(study, choice, **limits)


@pytest.mark.parametrize("used", [(), ("sample_weight",), ("groups",), ("strata",)])
@pytest.mark.parametrize("known", [True, False])
def test_single_examples_have_the_threshold_of_the_rows(used, known):
    for seed, where in enumerate(WHERE):
        y, score, every = rows(seed, 200, ties=seed == 1)
        amounts = np.exp(np.random.default_rng(seed).normal(2, 1, len(y)))
        values = np.column_stack([np.where(y == 1, amounts, 0), np.where(y == 1, 0, 3.0)])
        costs = ExampleCosts(values, decisions=[0, 1])
        given = {name: every[name] for name in used}
        study = study_of(y, {"m": (score > 1) * 1}, costs, y_score={"m": score}, **given, **where)
        # Where every mistake costs, the cheaper decision is the class.
        actual = {"y_true": y} if known else {}
        if not known and where:
            with pytest.raises(InputTypeError, match="y_true: class priors need"):
                choose_threshold(score, costs, **given, **where)
            continue
        choice = choose_threshold(score, costs, **actual, **given, **where)
        is_that_of(study, choice)
        assert (choice.confusion is None) == (not known)
        assert (choice.recall is None, choice.precision is None) == (not known, not known)


def test_only_the_cost_is_corrected():
    y, score, _ = rows(5, 400, ties=False)
    counts = ScoreCounts.from_scores(y, score)
    choice = choose_threshold(counts, COSTS)
    flags = score >= choice.threshold
    assert choice.corrected
    assert choice.confusion == counts.confusion_at(choice.threshold)
    assert (choice.recall, choice.fpr) == (flags[y == 1].mean(), flags[y == 0].mean())
    assert choice.precision == pytest.approx(y[flags].mean())
    assert choice.alarms == flags.mean()
    direct = CostEstimate(choice.confusion, COSTS)
    assert choice.in_sample_cost == direct.cost
    assert choice.cost != direct.cost
    assert choice.interval.low <= min(direct.interval().low, choice.cost)
    assert choice.summary().endswith("the cost and its interval are corrected for that.")
    content = choice.to_dict()
    assert content["corrected"]
    assert content["precision"] == choice.precision
    other = choice.on(counts)  # as if they were others
    assert not other.corrected
    assert (other.cost, other.threshold) == (direct.cost, choice.threshold)
    assert tuple(other.interval) == tuple(direct.interval())


def test_thresholds_that_flag_all_or_none_cost_what_constants_cost():
    y, score, _ = rows(0, 300, ties=False)
    counts = ScoreCounts.from_scores(y, score)
    for costs, decision in (
        (CostMatrix.from_errors(false_positive=1, false_negative=1e4), 1),
        (CostMatrix.from_errors(false_positive=1e4, false_negative=1), 0),
    ):
        choice = choose_threshold(counts, costs)
        assert choice.threshold == (-np.inf if decision else np.inf)
        study = study_of(y, {}, costs, y_score={"m": score})
        assert choice.cost == study.policies.estimate(f"always {decision}").cost
        assert tuple(choice.interval) == tuple(study.policies.interval(f"always {decision}"))
        assert not choice.corrected


@pytest.mark.parametrize("limit", [{"max_fpr": 0.3}, {"min_recall": 0.6}, {"capacity": 150}])
@pytest.mark.parametrize("weighted", [False, True])
def test_limits_with_assurance_are_those_of_all_rows(limit, weighted):
    """The thresholds that keep a limit are found once: every fold chooses among them."""
    y, score, parts = rows(3, 500, ties=False)
    given = {"sample_weight": parts["sample_weight"]} if weighted else {}
    counts = ScoreCounts.from_scores(y, score, **given)
    (name,) = limit
    extreme = {"min_recall": 1, "max_fpr": 500, "capacity": 500}[name]
    costs = CostMatrix.from_errors(
        false_positive=extreme if name == "min_recall" else 1,
        false_negative=1 if name == "min_recall" else extreme,
    )  # the cheapest threshold breaks the limit
    plain, sure = (
        choose_threshold(counts, costs, **limit, assurance=each) for each in (None, 0.95)
    )
    without = choose_threshold(counts, **limit, assurance=0.95)
    tighter = sure.threshold < plain.threshold, sure.threshold > plain.threshold
    assert tighter == (name == "min_recall", name != "min_recall")
    assert counts.confusion_at(sure.threshold) == counts.confusion_at(without.threshold)
    assert sure.corrected


def test_few_rows_are_cut_where_the_costs_say():
    rng = np.random.default_rng(0)
    y = np.array([1] * 6 + [0] * 30)
    risk = np.clip(0.3 * y + 0.6 * rng.random(36), 0, 1)
    counts = ScoreCounts.from_scores(y, risk)
    choice = choose_threshold(counts, COSTS)
    assert choice.threshold == pytest.approx(1 / 9, abs=0.01)
    assert (choice.chosen_on, choice.corrected) == ("no examples", False)
    assert "only 6 rows of the class 1" in choice.rule
    is_that_of(study_of(y, {}, COSTS, y_score={"m": risk}), choice)
    for each, given in ((risk * 9, {}), (risk, {"max_fpr": 0.1})):
        with pytest.raises(InputError, match=r"counts: no threshold is chosen: .*only 6 rows"):
            choose_threshold(ScoreCounts.from_scores(y, each), COSTS, **given)
    amounts = ExampleCosts(np.column_stack([5 * y, 1 - y]), decisions=[0, 1])
    with pytest.raises(InputError, match=r"only 6 rows of the class 1.*rule='minimum'"):
        choose_threshold(risk, amounts)
    assert choose_threshold(risk, amounts, rule="minimum").cost >= 0


def test_costs_must_make_mistakes_dear():
    y, score, _ = rows(1, 200, ties=False)
    swapped = CostMatrix([[8, 0], [0, 1]], rows="predicted", labels=[0, 1])
    with pytest.raises(InputError, match="costs: high scores would lead to 0"):
        choose_threshold(ScoreCounts.from_scores(y, score), swapped)
    three = CostMatrix(
        [[0, 8], [1, 0], [0.3, 0.3]], rows="predicted", labels=[0, 1], decisions=[0, 1, "ask"]
    )
    with pytest.raises(InputError, match="costs: one threshold is for two decisions"):
        choose_threshold(ScoreCounts.from_scores(y, score), three)


def test_more_examples_than_can_be_dealt_are_an_error(monkeypatch):
    y, score, _ = rows(1, 200, ties=True)
    monkeypatch.setattr(threshold, "MOST_DEALT", 199)
    with pytest.raises(InputError, match=r"200 examples, too many .*rule='minimum'"):
        choose_threshold(ScoreCounts.from_scores(y, score), COSTS)
    assert choose_threshold(ScoreCounts.from_scores(y, score), COSTS, rule="minimum").cost > 0


def test_an_unknown_rule_is_an_error():
    with pytest.raises(InputError, match="rule: expected one of 'guarded', 'minimum'; got 'best'"):
        choose_threshold(ScoreCounts.from_scores([0, 1], [1, 2]), COSTS, rule="best")


def test_bounds_of_single_examples():
    y, score, _ = rows(2, 200, ties=False)
    costs = ExampleCosts(np.column_stack([9.0 * y, 1.0 - y]), decisions=[0, 1])
    plain, wide = (choose_threshold(score, costs, **given) for given in ({}, {"high": 400}))
    assert wide.interval.high > plain.interval.high
    assert wide.cost == plain.cost
    with pytest.raises(InputError, match="low, high"):
        choose_threshold(score, costs, high=2)


def test_limits_allow_for_rounding():
    assert not broken(Choosing(min_recall=0.3), 0.1 + 0.2 - LIMIT_ROUNDING / 2, 0, 0)
    assert broken(Choosing(max_fpr=0.1), 1, 0.1001, 0.5)
    assert broken(Choosing(capacity=0.1), 1, 0, 0.2)
