import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from stakes import CostMatrix, Design, JointConfusion, PairedConfusion, Ranking, compare_many
from stakes.errors import InputError, InputTypeError, LabelError, RareCostWarning
from stakes.infer.gate import holm

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=4)
rare_is_fine = pytest.mark.filterwarnings("ignore::stakes.errors.RareCostWarning")


def classifiers(rates, n=2000, seed=0):
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, n)
    shared = rng.random(n)
    return y_true, {
        f"c{k}": np.where(0.7 * shared + 0.3 * rng.random(n) < rate, 1 - y_true, y_true)
        for k, rate in enumerate(rates)
    }


@rare_is_fine
def test_a_clear_winner_and_its_summary():
    y_true, predictions = classifiers([0.3, 0.2, 0.4])
    ranking = compare_many(y_true, predictions, COSTS, unit="EUR")
    assert ranking.best_set() == ["c1"]
    assert list(ranking.estimates()) == ["c1", "c0", "c2"]
    assert ranking.summary().startswith("c1 is the cheapest of 3")
    assert "EUR" in ranking.summary()
    assert "first cheaper" in repr(ranking)
    assert "<table>" in ranking._repr_html_()
    assert len(ranking.to_frame()) == 3
    assert ranking.to_dict()["best_set"] == ["c1"]


def test_a_tie_is_called_a_tie():
    y_true, predictions = classifiers([0.3, 0.3, 0.301], n=300)
    ranking = compare_many(y_true, predictions, COSTS)
    assert set(ranking.best_set()) == {"c0", "c1", "c2"}
    assert ranking.summary().endswith("cannot be told apart at 95% confidence (3 of 3).")


def test_pairs_are_ordered_adjusted_and_consistent_with_single_comparisons():
    y_true, predictions = classifiers([0.3, 0.28, 0.35, 0.2])
    ranking = compare_many(y_true, predictions, COSTS)
    pairs = ranking.pairwise()
    assert len(pairs) == 6
    raw = [pair.p_value for pair in pairs]
    assert [pair.adjusted for pair in pairs] == pytest.approx(holm(np.array(raw)))
    assert [pair.adjusted for pair in ranking.pairwise(adjust="none")] == raw
    for pair in pairs:
        assert pair.difference <= 0  # the cheaper model is the first
        single = ranking.difference(pair.first, pair.second).interval()
        assert pair.low <= single.low + 0.01  # simultaneous intervals are wider
        assert pair.high >= single.high - 0.01
        turned = ranking.difference(pair.second, pair.first)
        assert turned.difference == pytest.approx(-pair.difference)


def test_max_t_intervals_of_two_classifiers_are_the_t_interval():
    y_true, predictions = classifiers([0.3, 0.2])
    ranking = compare_many(y_true, predictions, COSTS)
    [pair] = ranking.pairwise()
    low, high = ranking.difference(pair.first, pair.second).interval(method="t")
    assert (pair.low, pair.high) == pytest.approx((low, high), abs=2e-3)


@pytest.mark.statistical
def test_simultaneous_intervals_are_right_together():
    hits, trials = 0, 400
    truth = {"c0": 0.25, "c1": 0.25, "c2": 0.3}
    for seed in range(trials):
        rng = np.random.default_rng(seed)
        y_true = rng.integers(0, 2, 800)
        predictions = {
            name: np.where(rng.random(800) < rate, 1 - y_true, y_true)
            for name, rate in truth.items()
        }
        pairs = compare_many(y_true, predictions, COSTS).pairwise()
        hits += all(
            pair.low <= 2.5 * (truth[pair.first] - truth[pair.second]) <= pair.high
            for pair in pairs
        )
    assert stats.binomtest(hits, trials, 0.93, alternative="less").pvalue > 1e-3


@rare_is_fine
def test_against_one_is_each_comparison_with_it_adjusted_for_their_number():
    y_true, predictions = classifiers([0.3, 0.28, 0.35, 0.2])
    ranking = compare_many(y_true, predictions, COSTS)
    pairs = ranking.against("c0", confidence=0.9)
    assert [pair.first for pair in pairs] == ["c3", "c1", "c2"]
    alone = [ranking.difference(pair.first, "c0") for pair in pairs]
    p_values = np.array([each.test().p_value for each in alone])
    for pair, each, p, adjusted in zip(pairs, alone, p_values, holm(p_values), strict=True):
        assert pair.second == "c0"
        assert (pair.difference, pair.p_value, pair.adjusted) == (each.difference, p, adjusted)
        assert (pair.low, pair.high) == tuple(each.interval(1 - 0.1 / 3))
        assert pair.rejected == (adjusted <= 0.1)
    [one] = compare_many(y_true, {k: predictions[k] for k in ("c0", "c3")}, COSTS).against("c0")
    assert (one.low, one.high) == tuple(ranking.difference("c3", "c0").interval())
    assert one.adjusted == one.p_value
    with pytest.raises(InputError, match="baseline: there is no model 'x'; there are 'c0',"):
        ranking.against("x")
    with pytest.raises(InputError, match="second: there is no model 'x'; there are 'c0',"):
        ranking.difference("c0", "x")
    with pytest.raises(InputError, match="names: expected two different names"):
        ranking.difference("c0", "c0")


@rare_is_fine
def test_from_joint_is_the_same_ranking():
    y_true, predictions = classifiers([0.3, 0.2, 0.4])
    joint = JointConfusion.from_labels(y_true, predictions, labels=COSTS.labels)
    for priors in (None, [0.8, 0.2]):
        one = Ranking.from_joint(joint, COSTS, "EUR", Design(priors))
        other = compare_many(y_true, predictions, COSTS, class_priors=priors, unit="EUR")
        assert one.pairwise() == other.pairwise()
        assert one.summary() == other.summary()


@rare_is_fine
def test_from_pairs_is_the_same_ranking():
    y_true, predictions = classifiers([0.3, 0.2, 0.4])
    pairs = {
        (b, a): PairedConfusion.from_labels(y_true, predictions[b], predictions[a])
        for a, b in itertools.combinations(predictions, 2)
    }
    one = Ranking.from_pairs(pairs, COSTS).pairwise()
    other = compare_many(y_true, predictions, COSTS).pairwise()
    assert [(p.first, p.second, p.p_value) for p in one] == [
        (p.first, p.second, pytest.approx(p.p_value)) for p in other
    ]


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


def test_rare_costs_fall_back_to_bonferroni():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=500)
    y_true = np.array([0] * 200 + [1] * 3)
    predictions = {"a": y_true, "b": 1 - y_true, "c": np.zeros(203, dtype=int)}
    with pytest.warns(RareCostWarning, match="in 3 of 3 comparisons"):
        pairs = compare_many(y_true, predictions, costs).pairwise()
    assert all(np.isfinite([pair.low, pair.high]).all() for pair in pairs)


@rare_is_fine
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
    pairs = {("c0", "c1"): JointConfusion.from_labels(y_true, predictions).pair("c0", "c1")}
    pairs["c1", "c2"] = pairs["c0", "c1"]
    with pytest.raises(InputError, match=r"the pair \('c0', 'c2'\) is missing"):
        Ranking.from_pairs(pairs, COSTS)
    with pytest.raises(InputError, match="adjust: expected one of"):
        compare_many(y_true, predictions, COSTS).pairwise(adjust="magic")
    with pytest.raises(LabelError, match="there is no model 'x'"):
        JointConfusion.from_labels(y_true, predictions).single("x")
    other = JointConfusion.from_labels(*classifiers([0.3, 0.2, 0.4], n=60)).pair("c0", "c1")
    with pytest.raises(InputError, match="all pairs must be counted on the same examples"):
        Ranking.from_pairs(
            {("a", "b"): other, ("b", "c"): other, ("a", "c"): pairs["c0", "c1"]}, COSTS
        )
    with pytest.raises(InputTypeError, match=r"costs: expected a CostMatrix or .*, got list"):
        compare_many(y_true, predictions, [[0, 1], [5, 0]])


@rare_is_fine
def test_weights_may_add_up_to_one():
    y_true, predictions = classifiers([0.3, 0.2], n=300)
    weight = np.random.default_rng(0).uniform(0.1, 3, 300)
    tables = [
        PairedConfusion.from_labels(y_true, *predictions.values(), sample_weight=each)
        for each in (weight, weight / weight.sum())
    ]
    [one], [other] = (Ranking.from_pairs({("c0", "c1"): t}, COSTS).pairwise() for t in tables)
    assert (one.low, one.high) == pytest.approx((other.low, other.high))
    assert one.p_value == pytest.approx(other.p_value)


@rare_is_fine
def test_turning_a_weighted_pair_keeps_its_weights():
    y_true, predictions = classifiers([0.3, 0.2], n=300)
    weight = np.random.default_rng(0).uniform(0.1, 3, 300)
    table = PairedConfusion.from_labels(
        y_true, predictions["c0"], predictions["c1"], sample_weight=weight
    )
    one = Ranking.from_pairs({("c0", "c1"): table}, COSTS).pairwise()
    other = Ranking.from_pairs({("c1", "c0"): table.swapped()}, COSTS).pairwise()
    assert one == other


def test_priors_change_the_ranking():
    y_true = np.array([0] * 500 + [1] * 500)
    eager, shy = np.array([0] * 300 + [1] * 700), np.array([0] * 600 + [1] * 400)
    costs = CostMatrix.from_errors(false_positive=1, false_negative=4)
    names = {"eager": eager, "shy": shy}
    assert compare_many(y_true, names, costs).best_set() == ["eager"]
    assert compare_many(y_true, names, costs, class_priors=[0.99, 0.01]).best_set() == ["shy"]


def test_many_models_are_shown_without_their_pairs():
    y_true, predictions = classifiers(np.linspace(0.1, 0.4, 14).tolist())
    ranking = compare_many(y_true, predictions, COSTS)
    text = repr(ranking)
    assert text.startswith("14 models, 91 pairs.")
    assert len(text.splitlines()) > 14
    assert "c13" in ranking._repr_html_()
    assert "_p_values" not in vars(ranking)  # its display runs no test
