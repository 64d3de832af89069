"""Plans from a pilot with groups, sampling weights, strata or costs of single examples."""

import numpy as np
import pytest
from scipy import stats

from stakes import (
    Confusion,
    CostMatrix,
    CostSample,
    ExampleCosts,
    GroupedConfusion,
    PairedConfusion,
    evaluate,
    plan_test_size,
    power,
)
from stakes.errors import DesignError, InputTypeError
from stakes.infer._outcomes import Outcomes, make_stratum
from stakes.infer.methods import extremal

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=20)


def pilot(groups, size, whole, seed=0):
    """Draw groups of which some fail wholly, or in single rows."""
    rng = np.random.default_rng(seed)
    actual = np.repeat(rng.random(groups) < 0.3, size).astype(int)
    bad = np.repeat(rng.random(groups) < 0.15, size)
    wrong = bad & (rng.random(groups * size) < whole)
    wrong |= rng.random(groups * size) < 0.02
    return actual, np.where(wrong, 1 - actual, actual), np.repeat(np.arange(groups), size)


def noisy(n, seed=0):
    """Draw independent rows with errors of both kinds, and weights that do not tell of them."""
    rng = np.random.default_rng(seed)
    actual = (rng.random(n) < 0.3).astype(int)
    wrong = rng.random(n) < 0.1
    return actual, np.where(wrong, 1 - actual, actual), rng.lognormal(0, 1, n)


def test_groups_of_one_and_equal_weights_change_nothing():
    actual, decided, _ = pilot(300, 1, 0.5)
    simple = plan_test_size(COSTS, Confusion.from_labels(actual, decided), half_width=0.5, rng=0)
    grouped = GroupedConfusion.from_labels(actual, decided, np.arange(300))
    assert plan_test_size(COSTS, grouped, half_width=0.5, rng=0) == simple
    weighted = Confusion.from_labels(actual, decided, sample_weight=np.full(300, 4.0))
    plan = plan_test_size(COSTS, weighted, half_width=0.5, pilot_rows=300, rng=0)
    assert plan == simple


def test_groups_that_fail_together_need_more():
    sizes = {}
    for whole in (0.0, 1.0):
        actual, decided, groups = pilot(80, 10, whole)
        grouped = GroupedConfusion.from_labels(actual, decided, groups)
        plan = plan_test_size(COSTS, grouped, half_width=0.4, rng=0)
        simple = plan_test_size(COSTS, grouped.pooled, half_width=0.4, rng=0)
        assert plan.design_effect > 1
        assert plan.n > simple.n
        assert "They come in groups like the pilot's, which takes" in plan.summary()
        sizes[whole] = plan.n
    assert sizes[1.0] > 2 * sizes[0.0]


def test_a_comparison_in_groups():
    actual, one, groups = pilot(80, 10, 1.0)
    _, other, _ = pilot(80, 10, 1.0, seed=1)
    other = np.where(np.random.default_rng(2).random(800) < 0.4, 1 - actual, other)
    grouped = GroupedConfusion.from_labels(actual, one, groups, y_pred_2=other)
    plan = plan_test_size(COSTS, grouped, difference=1.5, rng=0)
    assert plan.n > plan_test_size(COSTS, grouped.pooled, difference=1.5, rng=0).n
    size = {"difference": 1.5, "rng": 0}
    assert power(grouped, COSTS, plan.n, **size).simulated > 0.8
    assert (
        power(grouped, COSTS, 800, **size).simulated
        < power(grouped.pooled, COSTS, 800, **size).simulated
    )


def test_weights_take_as_many_times_more_as_the_variance_says():
    """The design effect is computed on the rows: Σw²(c - mean)² against that of equal weights."""
    actual, decided, weights = noisy(2000)
    table = Confusion.from_labels(actual, decided, sample_weight=weights)
    plan = plan_test_size(COSTS, table, half_width=0.3, pilot_rows=2000, rng=0)
    costs = COSTS.values[decided, actual]
    mean = np.average(costs, weights=weights)
    spread = (weights**2 * (costs - mean) ** 2).sum() / weights.sum() ** 2
    alone = np.average((costs - mean) ** 2, weights=weights) / 2000
    lost = weights[costs > 0]
    known = int(lost.sum() ** 2 / (lost**2).sum())
    unsure = known / stats.chi2.ppf(0.2, known)
    assert plan.design_effect == pytest.approx(unsure * spread / alone, rel=0.01)
    assert "They have weights like the pilot's, which takes" in plan.summary()


def test_heavy_rows_without_a_miss_need_their_room():
    """All alarms and 1% of the rest were checked: an unseen miss weighs a hundred."""
    actual = np.repeat([0, 1, 0], [1300, 150, 985])
    decided = np.repeat([1, 1, 0], [1300, 150, 985])
    weights = np.repeat([1.0, 1.0, 100.0], [1300, 150, 985])
    table = Confusion.from_labels(actual, decided, sample_weight=weights)
    plan = plan_test_size(COSTS, table, half_width=0.05, pilot_rows=2435, rng=0)
    assert plan.design_effect == pytest.approx(2435 / 985, rel=0.1)


def test_weights_need_the_number_of_rows():
    actual, decided, weights = noisy(200)
    table = Confusion.from_labels(actual, decided, sample_weight=weights)
    with pytest.raises(DesignError, match="pilot_rows: sums of weights do not tell"):
        plan_test_size(COSTS, table, half_width=0.5)


def test_strata_are_drawn_as_in_the_pilot():
    actual, decided, _ = noisy(1200)
    strata = np.where(np.arange(1200) < 900, "common", "rare")
    table = GroupedConfusion.from_labels(actual, decided, strata=strata)
    asked = {"half_width": 0.3, "rng": 0}
    as_drawn = plan_test_size(COSTS, table, **asked)
    assert as_drawn.n == pytest.approx(plan_test_size(COSTS, table.pooled, **asked).n, rel=0.1)
    assert "They are drawn by strata like the pilot's." in as_drawn.summary()
    # Three quarters of the rows are from a stratum with a tenth of the population: too many.
    shares = plan_test_size(COSTS, table, population={"common": 0.1, "rare": 0.9}, **asked)
    rows = plan_test_size(COSTS, table, population={"common": 10_000, "rare": 90_000}, **asked)
    assert rows == shares
    assert shares.n > 2 * as_drawn.n
    # The formula by hand: σ² = Σ W² σ²/s.
    costs, spread = COSTS.values[decided, actual], 0.0
    for name, weight, part in (("common", 0.1, 0.75), ("rare", 0.9, 0.25)):
        spread += weight**2 * costs[strata == name].var() / part
    assert shares.spread == np.ceil(stats.norm.ppf(0.975) ** 2 * spread / 0.09)


def test_a_comparison_by_strata_with_priors_and_in_groups():
    actual, one, groups = pilot(80, 10, 0.5)
    other = np.where(np.random.default_rng(2).random(800) < 0.3, 1 - actual, one)
    paired = PairedConfusion.from_labels(actual, one, other)
    simple = plan_test_size(COSTS, paired, difference=1.0, rng=0)
    # Positives are rare in the population and frequent in the test set, which is efficient.
    rare = plan_test_size(COSTS, paired, difference=0.3, class_priors={0: 0.99, 1: 0.01}, rng=0)
    assert rare.design_effect < 1
    strata = np.where(groups % 2, "a", "b")
    table = GroupedConfusion.from_labels(actual, one, groups, strata=strata, y_pred_2=other)
    plan = plan_test_size(COSTS, table, difference=1.0, population={"a": 0.5, "b": 0.5}, rng=0)
    assert plan.n > simple.n
    assert "come in groups and are drawn by strata like the pilot's" in plan.summary()


def test_costs_of_examples_that_are_those_of_their_class_plan_the_same():
    actual, decided, _ = noisy(800)
    table = Confusion.from_labels(actual, decided)
    each = ExampleCosts(COSTS.values[:, actual].T, decisions=[0, 1], high=20)
    sample = CostSample.from_labels(each, decided, y_true=actual)
    plans = [
        plan_test_size(COSTS, table, half_width=0.4, rng=0),
        plan_test_size(None, sample, half_width=0.4, rng=0),
    ]
    assert plans[0] == plans[1]
    with pytest.raises(InputTypeError, match="costs: expected None"):
        plan_test_size(COSTS, sample, half_width=0.4)


def test_amounts_that_differ():
    rng = np.random.default_rng(0)
    actual, decided, weights = noisy(800)
    amounts = rng.lognormal(2, 1, 800)
    each = ExampleCosts(
        np.column_stack([np.where(actual == 1, amounts, 0), np.where(actual == 0, 5.0, 0)]),
        decisions=[0, 1],
        high=400,
    )
    one = CostSample.from_labels(each, decided)
    plan = plan_test_size(None, one, half_width=0.5, rng=0)
    interval = evaluate(actual, decided, each).interval()
    arm = interval.high - one.values.mean()
    assert plan.n == pytest.approx(800 * (arm / 0.5) ** 2, rel=0.6)
    heavy = CostSample.from_labels(each, decided, sample_weight=weights)
    assert plan_test_size(None, heavy, half_width=0.5, rng=0).n > plan.n
    difference = CostSample.from_labels(each, decided, 1 - decided)
    assert plan_test_size(None, difference, difference=3.0, rng=0).n > 1


@pytest.mark.parametrize("count", [1, 2, 4, 20])
@pytest.mark.parametrize("rows", [3, 40, 2000])
def test_the_approximate_arm_is_within_a_few_percent(count, rows):
    """By which sizes are told apart that are far from the goal; strata may have a single row."""
    rng = np.random.default_rng([count, rows])
    strata = []
    for _ in range(count):
        n = int(rng.integers(1, rows + 1)) + (rows if count == 1 else 0)
        counts = rng.multinomial(n, rng.dirichlet([20, 1, 0.3]), 30).astype(float)
        strata.append(make_stratum([0.0, 1.0, 100.0], counts, weight=1 / count))
    tables = Outcomes(tuple(strata))
    rough = extremal.quick_high(tables, 0.05) - tables.mean
    _, high = extremal.limits(tables, 0.05)
    assert (high - tables.mean) / rough == pytest.approx(
        np.ones(30), abs=0.15 if rows < 10 else 0.04
    )


@pytest.mark.parametrize("arm", [0.5, 2.0])
@pytest.mark.parametrize("design", ["priors", "strata"])
def test_the_planned_size_keeps_the_promise(design, arm):
    """Its arm, computed and not approximated, is within the goal; wider goals take fewer rows."""
    costs = CostMatrix.from_errors(false_positive=10, false_negative=500)
    pilot = Confusion([[1940, 1], [40, 19]], labels=[0, 1])
    told = {"class_priors": [0.999, 0.001]}
    if design == "strata":
        counts = [[[1000, 0], [20, 15]], [[940, 1], [20, 4]]]
        pilot = GroupedConfusion(counts, [0, 1], strata=["a", "b"])
        told = {"population": {"a": 0.2, "b": 0.8}}
    plan = plan_test_size(costs, pilot, half_width=arm, rng=0, **told)
    assert plan.arm <= arm
    fewer = [plan_test_size(costs, pilot, half_width=f * arm, rng=0, **told) for f in (1.1, 1.5, 3)]
    assert all(each.arm <= f * arm for each, f in zip(fewer, (1.1, 1.5, 3), strict=True))
    assert all(each.n <= 1.02 * plan.n for each in fewer)  # sizes are found to one percent
