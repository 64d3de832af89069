"""Rankings from rows, from counts and of costs of single examples; the family is `test_family`."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import stakes.infer.family
from stakes import (
    CostMatrix,
    CostSample,
    Design,
    ExampleCosts,
    JointConfusion,
    PairedConfusion,
    Ranking,
    compare,
    compare_many,
)
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.infer.family import ALONE, IN_FAMILY

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=4)
family_of = Ranking._family  # noqa: SLF001 - the comparisons behind what is public


def classifiers(rates, n=2000, seed=0):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, n)
    shared = rng.random(n)
    return y_true, {
        f"c{k}": np.where(0.7 * shared + 0.3 * rng.random(n) < rate, 1 - y_true, y_true)
        for k, rate in enumerate(rates)
    }


def test_a_clear_winner_and_its_summary():
    y_true, predictions = classifiers([0.1, 0.05, 0.2])
    ranking = compare_many(y_true, predictions, COSTS, unit="EUR")
    assert ranking.best_set() == ["c1"]
    assert list(ranking.estimates()) == ["c1", "c0", "c2"]
    cost = ranking.estimates()["c1"].cost
    assert ranking.summary() == (
        f"c1 is the cheapest of 5 (3 models, 2 constant predictions): {cost:.4g} EUR each, with "
        "95% confidence. Choosing c1 costs no more per decision than the best of the 5 (95% "
        "confidence)."
    )
    assert "first cheaper" in repr(ranking)
    assert "< 0.0001" in repr(ranking)
    assert "<table>" in ranking._repr_html_()
    assert len(ranking.to_frame()) == 4
    plain = ranking.to_dict()
    assert plain["best_set"] == ["c1"]
    assert plain["regret"] == 0
    assert list(plain["constants"]) == ["always 1", "always 0"]


def test_what_cannot_be_told_apart_is_listed():
    y_true, predictions = classifiers([0.1, 0.1, 0.101], n=300)
    ranking = compare_many(y_true, predictions, COSTS)
    assert {*ranking.best_set()} == {"c0", "c1", "c2"}
    text = ranking.summary()
    sure = "cannot be told apart at 95% confidence: 3 of 5 (3 models, 2 constant predictions)."
    assert f"each) {sure} Choosing {ranking.best_set()[0]} costs at most " in text
    assert ranking.regret() > 0
    assert ranking.regret(0.99) > ranking.regret() > ranking.regret(0.5) >= 0


def test_a_constant_may_be_the_best():
    y_true, predictions = classifiers([0.3, 0.4])
    ranking = compare_many(y_true, predictions, COSTS)
    assert ranking.best_set() == ["always 1"]
    assert ranking.summary().startswith("always 1 is the cheapest of 4 (2 models, 2 constant")
    assert [each.first for each in ranking.comparisons()] == ["always 1"] * 3


def test_against_one_is_each_comparison_with_it_alone():
    y_true, predictions = classifiers([0.1, 0.09, 0.14, 0.05])
    ranking = compare_many(y_true, predictions, COSTS)
    pairs = ranking.against("c0", confidence=0.9)
    assert [pair.first for pair in pairs] == ["c3", "c1", "c2"]
    for pair in pairs:
        alone = compare(y_true, predictions[pair.first], predictions["c0"], COSTS)
        assert pair.second == "c0"
        assert (pair.difference, pair.p_value) == (alone.difference, alone.test().p_value)
        assert (pair.low, pair.high) == tuple(alone.interval(0.9))
        assert pair.shown == (pair.p_value <= 0.1)
        assert pair.by == ALONE
    assert {pair.by for pair in ranking.comparisons()} == {IN_FAMILY}
    with pytest.raises(InputError, match="baseline: there is no model 'x'; there are 'c0',"):
        ranking.against("x")
    with pytest.raises(InputError, match="second: there is no model 'x'; there are 'c0',"):
        ranking.difference("c0", "x")
    with pytest.raises(InputError, match="first: there is no model 'always 0'"):
        ranking.difference("always 0", "c0")
    with pytest.raises(InputError, match="names: expected two different names"):
        ranking.difference("c0", "c0")


def test_a_pair_turned_is_the_difference_turned():
    y_true, predictions = classifiers([0.1, 0.08, 0.15])
    ranking = compare_many(y_true, predictions, COSTS)
    for first, second in itertools.permutations(predictions, 2):
        one, other = ranking.difference(first, second), ranking.difference(second, first)
        assert other.difference == -one.difference
        low, high = one.interval()
        assert tuple(other.interval()) == pytest.approx((-high, -low), rel=1e-8)


def test_from_joint_is_the_same_ranking():
    y_true, predictions = classifiers([0.1, 0.05, 0.2])
    joint = JointConfusion.from_labels(y_true, predictions, labels=COSTS.labels)
    for priors in (None, [0.8, 0.2]):
        one = Ranking.from_joint(joint, COSTS, "EUR", Design(priors))
        other = compare_many(y_true, predictions, COSTS, class_priors=priors, unit="EUR")
        assert one == other
        assert one.comparisons() == other.comparisons()
        assert one.summary() == other.summary()


def test_from_pairs_is_the_same_ranking():
    y_true, predictions = classifiers([0.1, 0.05, 0.2])
    pairs = {
        (b, a): PairedConfusion.from_labels(y_true, predictions[b], predictions[a])
        for a, b in itertools.combinations(predictions, 2)
    }
    one, other = Ranking.from_pairs(pairs, COSTS), compare_many(y_true, predictions, COSTS)
    assert one.names == ("c1", "c0", "c2")
    assert {**one.estimates()} == {**other.estimates()}
    assert one.summary() == other.summary()
    for mine, theirs in zip(one.comparisons(), other.comparisons(), strict=True):
        assert (mine.first, mine.second) == (theirs.first, theirs.second)
        assert (mine.low, mine.high, mine.p_value) == (theirs.low, theirs.high, theirs.p_value)


@given(st.integers(0, 1000))
def test_joint_counts_have_the_right_marginals(seed):
    y_true, predictions = classifiers([0.3, 0.2, 0.4], n=50, seed=seed)
    joint = JointConfusion.from_labels(y_true, predictions, labels=[0, 1])
    assert joint.n == 50
    for a, b in itertools.permutations(predictions, 2):
        expected = PairedConfusion.from_labels(
            y_true, predictions[a], predictions[b], labels=[0, 1]
        )
        assert joint.pair(a, b) == expected
        assert joint.single(a) == expected.first


def test_bad_input():
    with pytest.raises(InputError, match="predictions: expected at least two classifiers, got 1"):
        compare_many([0, 1], {"a": [0, 1]}, COSTS)
    with pytest.raises(InputTypeError, match="predictions: expected a mapping"):
        compare_many([0, 1], [[0, 1]], COSTS)
    with pytest.raises(LabelError, match=r"predictions\['b'\]: the label 7 at position 0"):
        compare_many([0, 1], {"a": [0, 1], "b": [7, 1]}, COSTS)
    with pytest.raises(InputError, match=r"predictions\['b'\] has 1 rows"):
        compare_many([0, 1], {"a": [0, 1], "b": [1]}, COSTS)
    y_true, predictions = classifiers([0.3, 0.2, 0.4], n=50)
    joint = JointConfusion.from_labels(y_true, predictions)
    pairs = {("c0", "c1"): joint.pair("c0", "c1")}
    pairs["c1", "c2"] = pairs["c0", "c1"]
    with pytest.raises(InputError, match=r"the pair \('c0', 'c2'\) is missing"):
        Ranking.from_pairs(pairs, COSTS)
    with pytest.raises(InputTypeError, match="pairs: expected counts by pairs of names, got None"):
        Ranking.from_pairs({("a", "b"): None}, COSTS)
    with pytest.raises(InputError, match="tables: expected at least two classifiers, got 0"):
        Ranking.from_pairs({}, COSTS)
    with pytest.raises(InputError, match="tables: expected at least two classifiers, got 1"):
        Ranking.from_samples({"a": CostSample([1, 2])})
    with pytest.raises(InputError, match=r"confidence: expected a number between 0 and 1, .*95"):
        Ranking.from_joint(joint, COSTS).comparisons(confidence=95)
    with pytest.raises(LabelError, match="there is no model 'x'"):
        joint.single("x")
    other = JointConfusion.from_labels(*classifiers([0.3, 0.2, 0.4], n=60)).pair("c0", "c1")
    with pytest.raises(InputError, match="all pairs must be counted on the same examples"):
        Ranking.from_pairs(
            {("a", "b"): other, ("b", "c"): other, ("a", "c"): pairs["c0", "c1"]}, COSTS
        )
    with pytest.raises(InputTypeError, match=r"costs: expected a CostMatrix or .*, got list"):
        compare_many(y_true, predictions, [[0, 1], [5, 0]])


def test_weights_may_add_up_to_one():
    y_true, predictions = classifiers([0.1, 0.05], n=300)
    weight = np.random.default_rng(0).uniform(0.1, 3, 300)
    tables = [
        PairedConfusion.from_labels(y_true, *predictions.values(), sample_weight=each)
        for each in (weight, weight / weight.sum())
    ]
    found = [Ranking.from_pairs({("c0", "c1"): each}, COSTS).comparisons() for each in tables]
    for one, other in zip(*found, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high))
        assert one.p_value == pytest.approx(other.p_value)


def test_turning_a_weighted_pair_keeps_its_weights():
    y_true, predictions = classifiers([0.1, 0.05], n=300)
    weight = np.random.default_rng(0).uniform(0.1, 3, 300)
    table = PairedConfusion.from_labels(
        y_true, predictions["c0"], predictions["c1"], sample_weight=weight
    )
    one = Ranking.from_pairs({("c0", "c1"): table}, COSTS).comparisons()
    other = Ranking.from_pairs({("c1", "c0"): table.swapped()}, COSTS).comparisons()
    assert one == other


def test_priors_change_the_ranking():
    y_true = np.array([0] * 500 + [1] * 500)
    eager, shy = np.array([0] * 450 + [1] * 550), np.array([0] * 490 + [1] * 510)
    shy[-100:] = 0
    names = {"eager": eager, "shy": shy}
    assert compare_many(y_true, names, COSTS).best_set() == ["eager"]
    rare = compare_many(y_true, names, COSTS, class_priors=[0.99, 0.01])
    assert rare.best_set() == ["shy", "always 0"]


def test_impossible_decisions_bound_pairs_of_models_and_not_constants():
    """A constant prediction may take the decision that the models never take."""
    values = np.tile([0.0, 5.0, 9.0], (40, 1))
    values[0] = [0.0, 800.0, 9.0]
    costs = ExampleCosts(values, decisions=["no", "refer", "yes"])
    y_true = ["no"] + ["yes"] * 39
    decided = {"x": ["no"] * 39 + ["yes"], "y": ["yes"] * 39 + ["no"]}
    ranking = compare_many(y_true, decided, costs, impossible=[("refer", "no")])
    assert ranking.difference("x", "y").paired.high == 9
    pair = family_of(ranking).pair("always refer", "x")
    assert pair.difference == pytest.approx(values[:, 1].mean() - 9 / 40)
    assert pair.high > 100


def test_hundreds_of_models_are_compared_together(monkeypatch):
    """Only the cheapest is compared with the others, and all of those by one call."""
    tables = []
    real = stakes.infer.family.limits

    def counting(outcomes, *arguments):
        tables.append(outcomes.tables)
        return real(outcomes, *arguments)

    monkeypatch.setattr(stakes.infer.family, "limits", counting)
    y_true, predictions = classifiers(np.linspace(0.02, 0.2, 300).tolist(), n=1000)
    ranking = compare_many(y_true, predictions, COSTS)
    assert len(ranking.comparisons()) == 301
    assert sorted(tables) == [1, 1, 299]  # the constants have outcomes of their own
    assert ranking.summary()
    ranking.gate("c7")
    assert sorted(tables) == [1, 1, 298, 299]
