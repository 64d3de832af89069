import numpy as np
import pytest
from scipy import stats

from stakes import (
    Confusion,
    CostEstimate,
    CostMatrix,
    Design,
    PairedConfusion,
    plan_test_size,
    power,
)
from stakes.errors import DesignError, InputError, InputTypeError
from stakes.infer import batch_intervals

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=10)
PILOT = PairedConfusion([[[60, 2], [7, 9]], [[3, 2], [3, 20]]], labels=[0, 1])


def test_the_formula_for_an_interval():
    pilot = Confusion([[50, 2], [8, 40]], labels=[0, 1])
    each = np.repeat(COSTS.values.ravel(), pilot.counts.ravel())
    plan = plan_test_size(COSTS, pilot, half_width=0.1)
    assert plan.spread == np.ceil(stats.norm.ppf(0.975) ** 2 * each.var() / 0.01)
    assert plan.range_of_costs == np.ceil(3.020 * 10 / 0.1) or plan.range_of_costs == np.ceil(
        stats.gamma(0.7).ppf(0.975) * 100
    )
    assert plan.n >= max(plan.spread, plan.range_of_costs)
    assert plan.trustworthy_from == np.ceil(25 * stats.skew(each) ** 2)


def test_the_quantiles_of_the_range_term():
    assert stats.gamma(0.7).ppf(0.975) == pytest.approx(3.020, abs=5e-4)
    assert stats.gamma(1).ppf(0.975) == pytest.approx(3.689, abs=5e-4)


@pytest.mark.parametrize("conservative", [False, True])
def test_a_planned_interval_has_its_width_when_nothing_expensive_was_seen(conservative):
    """The range term is the arm of the interval without any error of the costliest kind."""
    weight = 1.0 if conservative else 0.7
    costs = CostMatrix.from_errors(false_positive=0.001, false_negative=1000)
    pilot = Confusion([[97, 0], [1, 2]], labels=[0, 1])
    plan = plan_test_size(costs, pilot, half_width=2.0, weight=weight)
    scale = plan.n / 100
    table = Confusion((pilot.counts * scale).round().astype(int), [0, 1])
    estimate = CostEstimate(table, costs)
    arm = estimate.interval(conservative=conservative).high - estimate.cost
    assert arm == pytest.approx(2.0, rel=0.02)
    assert "the rarest, most expensive mistake asks for most" in plan.summary()


def test_half_of_the_test_sets_of_the_planned_size_have_the_arm():
    """Where the spread and the range both matter their maximum is not enough."""
    pilot = Confusion([[9000, 10], [990, 0]], labels=[0, 1])
    costs = CostMatrix.from_errors(false_positive=1, false_negative=100)
    plan = plan_test_size(costs, pilot, half_width=0.1, rng=0)
    assert plan.n > 1.2 * max(plan.spread, plan.range_of_costs)
    tables = np.random.default_rng(1).multinomial(plan.n, pilot.counts.ravel() / pilot.n, 1000)
    _, high = batch_intervals(tables.reshape(-1, 2, 2), costs)
    arms = high - (tables * costs.values.ravel()).sum(axis=1) / plan.n
    assert np.median(arms) == pytest.approx(0.1, rel=0.06)
    assert plan.to_dict()["arm"] <= 0.1


def test_without_a_pilot_the_worst_is_assumed():
    plan = plan_test_size(COSTS, half_width=0.5)
    assert plan.spread == np.ceil(stats.norm.ppf(0.975) ** 2 * 25 / 0.25)
    assert plan_test_size(COSTS, difference=0.5).n > plan_test_size(COSTS, difference=1.0).n


def test_power_by_formula_and_by_simulation_agree_where_costs_are_not_rare():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=2)
    found = power(PILOT, costs, 800, rng=0)
    assert found.simulated == pytest.approx(found.formula, abs=0.06)
    assert "by simulation" in found.summary()
    assert found.n == 800


def test_a_planned_comparison_reaches_its_power():
    plan = plan_test_size(COSTS, PILOT, difference=0.3, power=0.8, rng=0)
    again = power(PILOT, COSTS, plan.n, difference=0.3, rng=1)
    assert again.simulated > 0.74
    assert plan.power is not None
    assert "with a power of 80 %" in plan.summary()


def test_more_examples_mean_more_power():
    found = [power(PILOT, COSTS, n, rng=0).simulated for n in (100, 400, 1600)]
    assert found == sorted(found)
    none = power(PILOT, COSTS, 200, difference=0.0, rng=0)
    assert none.simulated < 0.08


@pytest.mark.parametrize("least", [1e-5, 1e-300])
@pytest.mark.parametrize(
    ("name", "pilot"),
    [
        ("difference", None),
        ("difference", PILOT),
        ("half_width", None),
        ("half_width", Confusion([[90, 1], [3, 6]], [0, 1])),
    ],
)
def test_what_no_test_set_can_show_is_said_in_words(name, pilot, least):
    message = rf"{name}: 1e-\d+ is too small: .* more than 1,000,000,000 test examples .*Ask for"
    with pytest.raises(InputError, match=message):
        plan_test_size(COSTS, pilot, **{name: least}, rng=0)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: plan_test_size(COSTS), InputTypeError, "half_width, difference: give one"),
        (
            lambda: plan_test_size(COSTS, half_width=-1),
            InputError,
            "half_width: expected a positive",
        ),
        (
            lambda: plan_test_size(COSTS, difference=0),
            InputError,
            "difference: expected a positive",
        ),
        (lambda: plan_test_size(COSTS, difference=1, power=2), InputError, "power: expected"),
        (
            lambda: plan_test_size(COSTS, Confusion([[1, 2], [3, 4]], [0, 1]), difference=1),
            InputTypeError,
            "pilot: a difference needs the counts of two classifiers",
        ),
        (lambda: plan_test_size(COSTS, PILOT, half_width=1), InputTypeError, "pilot: an interval"),
        (lambda: power(PILOT, COSTS, 0), InputError, "n: expected a whole number, 1 or more"),
        (
            lambda: power(PILOT, COSTS, 10, difference=50),
            InputError,
            "difference: the pilot's outcomes differ by -10 to 10",
        ),
        (
            lambda: plan_test_size(COSTS, difference=20),
            InputError,
            "difference: two classifiers cannot differ by more than 10",
        ),
        (lambda: plan_test_size(COSTS, half_width=1, weight=-1), InputError, "weight: expected"),
        (
            lambda: power(PairedConfusion([[[0, 0], [9, 0]], [[0, 0], [0, 0]]], [0, 1]), COSTS, 9),
            InputError,
            "pilot: all its examples differ by the same cost",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("priors", [{0: 0.98, 1: 0.02}, {0: 0.3, 1: 0.7}, {0: 0.0, 1: 1.0}])
def test_class_priors_plan_for_where_the_classifier_is_used(priors):
    pilot = Confusion([[160, 6], [14, 20]], labels=[0, 1])
    plan = plan_test_size(COSTS, pilot, half_width=0.2, class_priors=priors)
    estimate = CostEstimate(pilot, COSTS, Design(priors))
    assert plan.n >= max(plan.spread, plan.range_of_costs)
    assert plan.arm <= 0.2
    by_hand = sum(
        priors[j] ** 2 * each.var() / (len(each) / 200)
        for j in (0, 1)
        for each in [np.repeat(COSTS.values[:, j], pilot.counts[:, j])]
    )
    assert plan.spread == np.ceil(stats.norm.ppf(0.975) ** 2 * by_hand / 0.04)
    rng = np.random.default_rng(0)
    arms = []
    for _ in range(60):  # test sets of the planned size, with the pilot's numbers of each class
        sizes = np.rint(plan.n * pilot.class_counts / pilot.n).astype(int)
        shares = pilot.counts / pilot.class_counts
        drawn = np.column_stack([rng.multinomial(sizes[j], shares[:, j]) for j in (0, 1)])
        found = CostEstimate(Confusion(drawn, labels=[0, 1]), COSTS, Design(priors))
        arms.append(found.interval().high - found.cost)
    assert np.median(arms) == pytest.approx(plan.arm, rel=0.15)
    assert estimate.interval().high - estimate.cost > plan.arm or plan.n <= 200


def test_class_priors_need_a_pilot_and_an_interval():
    for options in ({"half_width": 1}, {"difference": 1}):
        with pytest.raises(DesignError, match="class_priors: they need half_width=, and"):
            plan_test_size(COSTS, class_priors={0: 0.5, 1: 0.5}, **options)


@pytest.mark.parametrize("factor", [2.0**-200, 2.0**200])
def test_the_unit_of_the_costs_does_not_matter(factor):
    pilot = Confusion([[50, 2], [8, 40]], labels=[0, 1])
    plan = plan_test_size(COSTS, pilot, half_width=0.1, rng=0)
    scaled = CostMatrix(COSTS.values * factor, rows="predicted", labels=COSTS.labels)
    other = plan_test_size(scaled, pilot, half_width=0.1 * factor, rng=0)
    assert (other.n, other.trustworthy_from) == (plan.n, plan.trustworthy_from)


def test_wrong_kinds():
    with pytest.raises(InputTypeError, match="costs: expected a CostMatrix, got a list"):
        plan_test_size([[0, 1], [1, 0]], half_width=1)
    with pytest.raises(InputTypeError, match="pilot: expected a Confusion or a PairedConfusion"):
        plan_test_size(COSTS, [[50, 2], [8, 40]], half_width=1)
    with pytest.raises(InputError, match="power: expected numbers, got 'x'"):
        plan_test_size(COSTS, difference=1, power="x")
