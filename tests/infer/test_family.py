"""One family of comparisons: Tukey's range by scipy, the steps by hand, and many as one by one."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, studentized_range

from stakes import (
    Confusion,
    CostDifference,
    CostEstimate,
    CostMatrix,
    CostSample,
    ExampleCosts,
    JointConfusion,
    PairedConfusion,
    Ranking,
    compare,
    compare_many,
    evaluate,
)
from stakes.infer import Interval
from stakes.infer.family import (
    ALONE,
    IN_FAMILY,
    Compared,
    Family,
    adjusted,
    find_together,
    intervals_of,
    p_values_of,
    regret_sentence,
    uppers_of,
)

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=10)
family_of = Ranking._family  # noqa: SLF001 - the comparisons behind what is public
FREE = 1e7
"""Degrees of freedom, so many that the studentized range is that of normal variables."""


def models(rates, n=500, seed=0):
    """Return classes, and models that are wrong at a quarter of these rates."""
    rng = np.random.default_rng(seed)
    y_true = rng.integers(0, 2, n)
    wrong = {f"m{k}": rng.random(n) < rate / 4 for k, rate in enumerate(rates)}
    return y_true, {name: np.where(each, 1 - y_true, y_true) for name, each in wrong.items()}


def paired(*counts):
    """Return a difference with these counts of outcomes -10, -1, 0, 1, 10."""
    table = np.zeros((2, 2, 2), dtype=int)
    (table[1, 0, 1], table[0, 1, 0], table[0, 0, 0], table[1, 0, 0], table[0, 1, 1]) = counts
    return CostDifference(PairedConfusion(table, labels=[0, 1]), COSTS)


# The range.


@pytest.mark.parametrize("members", [2, 3, 5, 8, 20])
@pytest.mark.parametrize("p", [0.9, 0.3, 0.05, 0.01, 1e-4])
def test_p_values_are_those_of_tukeys_range(members, p):
    width = np.sqrt(2) * norm.isf(p / 2)
    expected = studentized_range.sf(width, members, FREE)
    assert adjusted(p, members) == pytest.approx(expected, rel=1e-4, abs=1e-7)


def test_tiny_p_values_keep_their_digits():
    for members in (3, 7):
        pairs = members * (members - 1) / 2
        values = np.logspace(-30, -1, 200)
        found = np.array([adjusted(p, members) for p in values])
        assert (np.diff(found) >= 0).all()
        assert (found <= pairs * values * (1 + 1e-4)).all()
        assert found[0] == pytest.approx(pairs * 1e-30)
    assert adjusted(0.0, 4) == 0.0
    assert adjusted(1.0, 4) == pytest.approx(1.0)
    assert adjusted(0.2, 1) == adjusted(0.2, 2) == 0.2


@pytest.mark.parametrize(("members", "errs"), [(3, 0.064), (5, 0.091), (7, 0.115)])
def test_shares_of_the_error_rate_alone_err_more_often(members, errs):
    """STATISTICS §13: why a claim needs the range, where the bound of the regret does not."""
    assert adjusted(0.05 / (members - 1), members) == pytest.approx(errs, abs=5e-4)


# The steps.


def made_of(p_values, confidence=0.95, barred=()):
    """Return a family whose comparisons have these p-values."""
    names = ("best", *(f"k{place}" for place in range(len(p_values))))

    def compare_names(first, second):
        place = names.index(second) - 1
        compared = Compared((first, second), [paired(1, 2, 90, 3, 2)])
        compared.known[p_values_of, 0.0] = [p_values[place]]
        return compared

    members = tuple(name for name in names if name not in barred)
    return Family(members, compare_names, confidence, tuple(barred))


def test_each_comparison_is_adjusted_for_the_policies_that_are_left():
    p_values = [0.04, 1e-5, 0.02, 0.019]
    pairs = {each.second: each for each in made_of(p_values).pairs}
    assert list(pairs) == ["k0", "k1", "k2", "k3"]
    assert pairs["k1"].p_adjusted == adjusted(1e-5, 5)
    assert pairs["k3"].p_adjusted == adjusted(0.019, 4)  # k1 is out of the race
    assert pairs["k2"].p_adjusted == adjusted(0.02, 4)
    assert pairs["k0"].p_adjusted == adjusted(0.04, 4)
    assert [name for name, each in pairs.items() if each.shown] == ["k1"]
    assert {each.by for each in pairs.values()} == {IN_FAMILY}
    found = made_of([1e-5, 0.03])
    assert [each.p_adjusted for each in found.pairs] == [adjusted(1e-5, 3), 0.03]
    assert found.ties == ()


@given(st.lists(st.floats(1e-12, 1), min_size=1, max_size=7))
def test_adjusted_p_values_keep_the_order_and_never_fall_below_their_own(p_values):
    pairs = made_of(p_values).pairs
    by_own = sorted(pairs, key=lambda each: (each.p_value, each.p_adjusted))
    found = [each.p_adjusted for each in by_own]
    assert found == sorted(found)
    # By the trapezoidal rule the range of two is exact to 1e-13.
    assert all(each.p_adjusted >= each.p_value - 1e-12 for each in pairs)
    assert [each.p_value for each in pairs] == p_values


def test_a_barred_policy_is_compared_and_no_tie():
    family = made_of([0.5, 1e-6, 0.3], barred=("k0", "k1"))
    assert [each.second for each in family.pairs] == ["k2", "k0", "k1"]
    assert family.ties == ("k2",)
    assert family.pairs[2].p_adjusted == adjusted(1e-6, 4)
    assert len(family.known) == 3
    _ = family.regret
    assert ("best", "k0") in family.known  # compared, and not part of the regret
    assert [name for name, each in family.known.items() if len(each.known) > 2] == [("best", "k2")]


def test_a_policy_alone_is_shown_to_be_the_best_and_has_no_regret():
    family = Family(("only",), made_of([]).compare, 0.95)
    assert (family.best, family.pairs, family.ties, family.regret) == ("only", (), (), 0.0)


def test_a_named_pair_is_judged_alone_with_the_familys_adjustment():
    y_true, decided = models([0.1, 0.12, 0.2, 0.3])
    family = family_of(compare_many(y_true, decided, COSTS))
    for each in family.pairs:
        one, turned = family.pair(each.first, each.second), family.pair(each.second, each.first)
        for found, sign in ((one, 1), (turned, -1)):
            assert found.difference == pytest.approx(sign * each.difference, abs=1e-12)
            assert found.p_value == pytest.approx(each.p_value, rel=1e-9)
            assert found.p_adjusted == each.p_adjusted
            assert found.by == ALONE
            assert found.shown == (found.p_value <= 0.05)
        assert (one.low, one.high) == (each.low, each.high)
        assert (-turned.high, -turned.low) == pytest.approx((each.low, each.high), rel=1e-9)
    second, third = family.members[1:3]
    other = family.pair(second, third)
    assert other.p_adjusted == adjusted(other.p_value, len(family.members))
    assert family.against([second], third) == [other]


# Two tables: held out and in sample.


@given(st.lists(st.integers(0, 12), min_size=10, max_size=10), st.sampled_from([0.8, 0.95]))
def test_two_tables_are_judged_by_the_weaker_one(counts, confidence):
    """0 lies outside the limits exactly when p is at most one minus the confidence."""
    results = [paired(*counts[:2], 80, *counts[2:4]), paired(*counts[4:6], 80, *counts[6:8])]
    both, alone = Compared(("a", "b"), results), [Compared(("a", "b"), [each]) for each in results]
    low, high = both.limits(confidence)
    assert low == min(each.limits(confidence)[0] for each in alone)
    assert high == max(each.limits(confidence)[1] for each in alone)
    assert both.upper(0.05) == max(each.upper(0.05) for each in alone)
    assert both.difference == results[0].difference
    if both.agree:
        assert both.p_value == max(each.p_value for each in alone)
    else:
        assert both.p_value == 1
    for each in (both, *alone):
        low, high = each.limits(confidence)
        assert (low <= 0 <= high) == (each.p_value > 1 - confidence)


def test_tables_that_disagree_show_nothing():
    both = Compared(("a", "b"), [paired(0, 2, 900, 90, 8), paired(8, 90, 900, 2, 0)])
    assert not both.agree
    assert both.p_value == 1
    assert not both.pair(0.95, 1.0, ALONE).shown
    low, high = both.limits(0.95)
    assert low < 0 < high


# Many at once.


def designs():
    """Return results of every design, in twos that may be computed together."""
    y_true, decided = models([0.1, 0.2, 0.25], 300, seed=3)
    rng = np.random.default_rng(4)
    strata = rng.choice(["a", "b"], 300)
    options = [
        {},
        {"groups": np.repeat(range(60), 5)},
        {"sample_weight": rng.choice([0.5, 1.0, 3.0], 300)},
        {"class_priors": [0.9, 0.1]},
        {"strata": strata, "population": {"a": 500, "b": 4000}},
        {"groups": np.repeat(range(60), 5), "class_priors": [0.9, 0.1]},
        {"groups": np.repeat(range(60), 5), "strata": strata},
        {"population": 900},
    ]
    first, *others = decided.values()
    return [
        compare(y_true, first, other, COSTS, **each) for each in options for other in others
    ] + [evaluate(y_true, other, COSTS, **each) for each in options for other in others]


def many():
    """Return many results that stack, and a few of other costs between them."""
    rng = np.random.default_rng(6)
    tables = rng.multinomial(200, rng.dirichlet(np.full(8, 0.4)), 30).reshape(-1, 2, 2, 2)
    tables[3], tables[4:6] = 0, 0
    tables[3:6, 0, 0, 0] = 200  # without any disagreement
    found = [CostDifference(PairedConfusion(each, labels=[0, 1]), COSTS) for each in tables]
    found[10:10] = [CostEstimate(each.paired.first, COSTS) for each in found[:25]]
    found[7:7] = [replace(each, costs=CostMatrix.zero_one([0, 1])) for each in found[:2]]
    return found


@pytest.mark.filterwarnings("ignore::stakes.errors.NotClaimedWarning")
def test_what_is_found_together_is_found_one_by_one():
    """To the last digit where they are few."""
    for results, exact in ((designs(), True), (many(), False)):
        near = {"rel": 0, "abs": 0} if exact else {"rel": 1e-9, "abs": 1e-12}
        for level in (0.8, 0.95):
            for found, each in zip(intervals_of(results, level), results, strict=True):
                alone = each.interval(level)
                assert isinstance(found, Interval)
                assert tuple(found) == pytest.approx(tuple(alone), **near)
                assert (found.method, found.confidence, found.caution) == (
                    alone.method,
                    alone.confidence,
                    alone.caution,
                )
        differences = [each for each in results if isinstance(each, CostDifference)]
        for found, each in zip(p_values_of(differences, 0.0), differences, strict=True):
            assert found == pytest.approx(each.test().p_value, **near)
        for alpha in (0.01, 0.05):
            for found, each in zip(uppers_of(results, alpha), results, strict=True):
                high = each.interval(1 - 2 * alpha, conservative=True).high
                assert found == pytest.approx(high, rel=1e-9, abs=1e-12)


def test_one_sided_limits_at_large_error_rates():
    """2α may be 1 and more: a gate at 40% confidence has a limit, too."""
    found = [uppers_of([paired(5, 9, 200, 10, 6)], alpha)[0] for alpha in (0.1, 0.5, 0.6, 0.9)]
    assert found == sorted(found, reverse=True)
    compared = Compared(("a", "b"), [paired(5, 9, 200, 10, 6)])
    for alpha, high in zip((0.5, 0.6), found[1:3], strict=True):
        assert compared.no_more_than(high, 1 - alpha).p_value == pytest.approx(alpha, rel=1e-6)


@pytest.mark.parametrize("count", [3, 25])
def test_a_family_is_its_comparisons_one_by_one(count):
    y_true, decided = models(np.linspace(0.1, 0.3, count), 400, seed=1)
    family = family_of(compare_many(y_true, decided, COSTS))
    near = {"rel": 0, "abs": 0} if count == 3 else {"rel": 1e-9, "abs": 1e-12}
    for pair in family.pairs:
        if pair.second in decided:
            alone = compare(y_true, decided[pair.first], decided[pair.second], COSTS)
            assert pair.p_value == pytest.approx(alone.test().p_value, **near)
            assert (pair.low, pair.high) == pytest.approx(tuple(alone.interval()), **near)
            assert pair.difference == alone.difference
    alpha = (1 - 0.95) / (len(family.members) - 1)
    uppers = [family.known[family.best, name].upper(alpha) for name in family.members[1:]]
    assert len(family.pairs) == len(uppers) == count + 1
    assert family.regret == max(0, *uppers)


def test_what_was_found_is_kept(monkeypatch):
    compared = Compared(("a", "b"), [paired(5, 9, 200, 10, 6)])
    find_together([compared], p_values_of, 0.0)
    p_value = compared.p_value
    monkeypatch.setattr("stakes.infer.family.p_values", None)
    assert compared.p_value == p_value


def test_the_sentence():
    family = made_of([0.5, 1e-6])
    family.__dict__["regret"] = 0.12345
    assert regret_sentence(family, "hgb", "USD", "policies") == (
        "Choosing hgb costs at most 0.123 USD more per decision than the best of the 3 policies "
        "(95% confidence)."
    )
    family.__dict__["regret"] = 0.0
    assert regret_sentence(family, "hgb") == (
        "Choosing hgb costs no more per decision than the best of the 3 (95% confidence)."
    )


# Constants, and designs.


def test_constants_are_compared_by_the_outcomes_that_can_occur():
    """Against "always 1", which never misses, only two outcomes are possible for each class."""
    y_true, decided = models([0.1, 0.3], 400)
    ranking = compare_many(y_true, decided, COSTS)
    pair = next(each for each in ranking.comparisons() if each.second == "always 1")
    table = Confusion.from_labels(y_true, decided["m0"])
    relative = CostMatrix([[-1, 10], [0, 0]], rows="predicted", labels=[0, 1])
    assert (pair.low, pair.high) == tuple(CostEstimate(table, relative).interval())
    column = compare(y_true, decided["m0"], np.ones(400, dtype=int), COSTS)
    assert pair.difference == pytest.approx(column.difference)
    assert column.interval().low < pair.low
    both = family_of(ranking).pair("always 0", "always 1")
    assert both.difference == pytest.approx(10 * y_true.mean() - (1 - y_true).mean())


@pytest.mark.filterwarnings("ignore::stakes.errors.NotClaimedWarning")
@pytest.mark.parametrize("cell", [(0, 1), (1, 0)])
def test_constants_compete_where_a_cell_is_impossible_for_the_models(cell):
    y_true, decided = models([0.1, 0.3], 400)
    kept = {name: np.where(y_true == cell[1], y_true, each) for name, each in decided.items()}
    for groups in (None, np.repeat(range(80), 5)):
        options = {"impossible": [cell], "groups": groups}
        ranking = compare_many(y_true, kept, COSTS, **options)
        assert {"always 0", "always 1"} <= {*ranking.competitors}
        assert ranking.regret() >= 0
        constants = evaluate(y_true, kept["m0"], COSTS, **options).constants()
        assert constants[0].cost == pytest.approx(10 * y_true.mean())
        assert constants[1].cost == pytest.approx(1 - y_true.mean())


def test_constants_are_the_same_whatever_the_costs_are_kept_in():
    """Costs of single examples that are those of the matrix give the same members and costs."""
    y_true, decided = models([0.1, 0.3, 0.4], 400)
    matrix = compare_many(y_true, decided, COSTS)
    single = compare_many(
        y_true, decided, ExampleCosts.from_matrix(COSTS, y_true, np.ones(400), high=10)
    )
    assert single.competitors == matrix.competitors
    assert single.to_dict()["constants"] == pytest.approx(matrix.to_dict()["constants"])
    assert single.best_set() == matrix.best_set()
    for one, other in zip(single.comparisons(), matrix.comparisons(), strict=True):
        assert one.difference == pytest.approx(other.difference)


def test_a_model_that_always_decides_the_same_stands_for_the_constant():
    y_true, decided = models([0.1], 400)
    for costs in (COSTS, CostMatrix.zero_one([0, 1])):
        decided["never"] = np.zeros(400, dtype=int)
        found = compare_many(y_true, decided, costs).competitors
        assert "never" in found
        assert "always 0" not in found
        assert "always 1" in found
    named = compare_many(y_true, {"a": decided["m0"], "always 1": decided["never"]}, COSTS)
    assert sorted(named.competitors) == ["a", "always 1"]


def test_at_equal_cost_a_constant_goes_first():
    y_true = [0, 1] * 50
    flipped = {"a": [1, 0] * 50, "b": [1, 0] * 50}
    zero_one = CostMatrix([[0, 2], [2, 0]], rows="predicted", labels=[0, 1])
    free = CostMatrix([[0, 2], [0, 2]], rows="predicted", labels=[0, 1])
    assert compare_many(y_true, flipped, zero_one).competitors[0] == "always 0"
    assert compare_many(y_true, flipped, free).competitors[0] == "always 0"


def test_of_many_constants_the_cheapest_five_compete():
    rng = np.random.default_rng(0)
    y_true = rng.choice(9, 300, p=np.arange(1, 10) / 45)
    decided = {name: np.where(rng.random(300) < 0.3, 0, y_true) for name in "ab"}
    ranking = compare_many(y_true, decided, CostMatrix.zero_one(range(9)))
    constants = {name for name in ranking.competitors if name.startswith("always")}
    costs = {f"always {j}": np.mean(y_true != j) for j in range(9)}
    assert constants == {*sorted(costs, key=costs.get)[:5]}


@pytest.mark.filterwarnings("ignore::stakes.errors.NotClaimedWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"groups": np.repeat(range(80), 5)},
        {"sample_weight": np.tile([0.5, 1, 3, 1], 100)},
        {"class_priors": [0.9, 0.1]},
        {"strata": np.repeat(["a", "b"], 200), "population": {"a": 900, "b": 300}},
        {"groups": np.repeat(range(80), 5), "strata": np.tile(["a", "b"], 200)},
    ],
    ids="+".join,
)
def test_the_regret_of_any_design_is_the_largest_one_sided_limit(options):
    y_true, decided = models([0.12, 0.14, 0.2], 400, seed=2)
    ranking = compare_many(y_true, decided, COSTS, **options)
    family = family_of(ranking)
    alpha = 0.05 / (len(family.members) - 1)
    highs = [
        compare(y_true, decided[family.best], decided[name], COSTS, **options)
        .interval(1 - 2 * alpha, conservative=True)
        .high
        for name in family.members[1:]
        if name in decided
    ]
    assert ranking.regret() == pytest.approx(max(0, *highs), rel=1e-9)
    assert all(each.p_value <= each.p_adjusted + 1e-12 for each in family.pairs)
    first = family.pairs[0]
    alone = compare(y_true, decided[first.first], decided[first.second], COSTS, **options)
    assert (first.low, first.high) == tuple(alone.interval())
    assert first.p_value == alone.test().p_value


def test_hundreds_of_classes_and_costs_of_single_examples():
    rng = np.random.default_rng(5)
    y_true = rng.integers(0, 300, 400)
    decided = {k: np.where(rng.random(400) < 0.2, rng.integers(0, 300, 400), y_true) for k in "ab"}
    costs = CostMatrix.zero_one(range(300))
    joint = JointConfusion.from_labels(y_true, decided, labels=costs.labels)
    ranking = Ranking.from_joint(joint, costs)
    assert isinstance(ranking.difference("a", "b").paired, JointConfusion)
    assert len(ranking.competitors) == 7
    assert ranking.best_set()
    samples = {name: CostSample(costs.values[each, y_true]) for name, each in decided.items()}
    by_samples = Ranking.from_samples(samples)
    assert by_samples.competitors == tuple(
        name for name in ranking.competitors if not name.startswith("always")
    )
    one, other = by_samples.comparisons()[0], ranking.comparisons()[0]
    assert (one.low, one.high, one.p_value) == pytest.approx((other.low, other.high, other.p_value))
