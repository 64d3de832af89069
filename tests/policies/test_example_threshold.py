"""The cheapest threshold with costs of single examples."""

from functools import partial
from itertools import product

import numpy as np
import pytest

from stakes import CostMatrix, ExampleCosts, ScoreCounts, evaluate
from stakes import choose_threshold as choose
from stakes.errors import InputError, InputTypeError, LabelError

choose_threshold = partial(choose, rule="minimum")  # the plain minimum, except where stated
pytestmark = pytest.mark.filterwarnings("ignore::stakes.errors.NotClaimedWarning")


def examples(seed=0, n=300):
    rng = np.random.default_rng(seed)
    y_true = np.where(rng.random(n) < 0.2, "fraud", "ok")
    score = np.round(rng.normal(size=n) + 1.5 * (y_true == "fraud"), 1)
    amount = np.exp(rng.normal(3, 1, n))
    costs = np.column_stack([np.where(y_true == "fraud", amount, 0), np.full(n, 6.0)])
    groups = rng.integers(0, 60, n)
    return (
        y_true,
        score,
        ExampleCosts(costs, decisions=["ok", "fraud"]),
        {"sample_weight": rng.choice([1.0, 4.0], n), "groups": groups, "strata": groups % 3},
    )


DESIGNS = list(product([False, True], repeat=5))


@pytest.mark.parametrize("design", DESIGNS)
def test_no_threshold_is_cheaper_and_the_interval_is_that_of_evaluate(design):
    y_true, score, costs, parts = examples()
    chosen = {name: parts[name] for name, used in zip(parts, design[:3], strict=True) if used}
    where = {}
    if design[3]:
        where["class_priors"] = {"ok": 0.95, "fraud": 0.05}
    if design[4]:
        if not design[2]:
            pytest.skip("a population is one of strata")
        where["population"] = {0: 0.6, 1: 0.3, 2: 0.1}
    choice = choose_threshold(score, costs, pos_label="fraud", y_true=y_true, **chosen, **where)

    def judged(threshold):
        decided = np.where(score >= threshold, "fraud", "ok")
        return evaluate(y_true, decided, costs, **chosen, **where)

    expected = judged(choice.threshold)
    assert choice.cost == pytest.approx(expected.cost)
    assert tuple(choice.interval) == pytest.approx(tuple(expected.interval()))
    every = [np.inf, *np.unique(score)]
    if not any(design):
        assert choice.cost == pytest.approx(min(judged(each).cost for each in every))
    assert choice.cost <= min(judged(each).cost for each in every[::7]) + 1e-9


def test_costs_that_are_the_same_for_all_are_those_of_a_matrix():
    y_true, score, _, _ = examples(1)
    matrix = CostMatrix.from_errors(
        false_positive=2, false_negative=9, pos_label="fraud", neg_label="ok"
    )
    counts = ScoreCounts.from_scores(y_true, score, pos_label="fraud")
    each = ExampleCosts.from_matrix(matrix, y_true)
    for limit in ({}, {"max_fpr": 0.05}, {"min_recall": 0.9, "assurance": 0.8}, {"capacity": 30}):
        one = choose_threshold(counts, matrix, **limit)
        other = choose_threshold(score, each, pos_label="fraud", y_true=y_true, **limit)
        assert other.threshold == one.threshold
        assert other.cost == pytest.approx(one.cost)
        assert other.alarms == pytest.approx(one.alarms)
        assert other.rule == one.rule


def test_other_examples_judge_the_same_threshold():
    _, score, costs, _ = examples(2)
    choice = choose_threshold(score, costs, pos_label="fraud")
    y_true, other, new, _ = examples(3)
    judged = choice.on(other, new)
    decided = np.where(other >= choice.threshold, "fraud", "ok")
    assert judged.cost == pytest.approx(evaluate(y_true, decided, new).cost)
    assert (judged.threshold, judged.chosen_on) == (choice.threshold, "other examples")
    assert judged.to_dict()["alarms"] == pytest.approx((decided == "fraud").mean())
    assert "other examples" in repr(judged)


def test_extremes_are_thresholds_too():
    cheap = ExampleCosts([[0, 5], [1, 5]], decisions=[0, 1])
    assert choose_threshold([0.2, 0.9], cheap).threshold == np.inf
    assert "Flag nothing as 1" in choose_threshold([0.2, 0.9], cheap).summary()
    dear = ExampleCosts([[9, 5], [9, 5]], decisions=[0, 1])
    assert choose_threshold([0.2, 0.9], dear).cost == 5


def test_what_is_missing_is_named():
    y_true, score, costs, _ = examples(4)
    with pytest.raises(InputTypeError, match="y_true"):
        choose_threshold(score, costs, pos_label="fraud", max_fpr=0.1)
    with pytest.raises(LabelError, match="pos_label"):
        choose_threshold(score, costs)
    with pytest.raises(InputTypeError, match="y_score"):
        choose_threshold(ScoreCounts.from_scores(y_true, score, pos_label="fraud"), costs)
    with pytest.raises(InputTypeError, match="no such option"):
        choose_threshold(score, costs, pos_label="fraud", colour=1)
    with pytest.raises(InputTypeError, match="groups"):
        choose_threshold(
            ScoreCounts.from_scores(y_true, score, pos_label="fraud"), groups=[1], max_fpr=0.1
        )
    with pytest.raises(InputError, match="y_score"):
        choose_threshold(score[:-1], costs, pos_label="fraud")
