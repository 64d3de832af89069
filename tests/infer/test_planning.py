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
from stakes.errors import DesignError, InputError, InputTypeError, PlanError
from stakes.infer import batch_intervals
from stakes.infer.batch import batch_outcomes, batch_p_values

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=10)
PILOT = PairedConfusion([[[60, 2], [7, 9]], [[3, 2], [3, 20]]], labels=[0, 1])


FRAUD = CostMatrix.from_errors(false_positive=1, false_negative=100)
RATES = np.array([[0.9, 0.001], [0.09, 0.009]])


def arms(tables, costs, **options):
    """The distance of the upper limit from the estimate, in each table."""
    _, high = batch_intervals(tables.reshape(-1, *costs.values.shape), costs, **options)
    return high - (tables * costs.values.ravel()).sum(axis=1) / tables.sum(axis=1)


def test_the_formula_for_an_interval():
    pilot = Confusion([[50, 2], [8, 40]], labels=[0, 1])
    each = np.repeat(COSTS.values.ravel(), pilot.counts.ravel())
    plan = plan_test_size(COSTS, pilot, half_width=0.1, rng=0)
    assert plan.spread == np.ceil(stats.norm.ppf(0.975) ** 2 * each.var() / 0.01)
    assert plan.range_of_costs == np.ceil(stats.gamma(0.7).ppf(0.975) * 100)
    assert plan.n > max(plan.spread, plan.range_of_costs)
    assert plan.trustworthy_from == np.ceil(25 * stats.skew(each) ** 2)


def test_the_quantiles_of_the_range_term():
    assert stats.gamma(0.7).ppf(0.975) == pytest.approx(3.020, abs=5e-4)
    assert stats.gamma(1).ppf(0.975) == pytest.approx(3.689, abs=5e-4)


@pytest.mark.parametrize("conservative", [False, True])
def test_a_planned_interval_has_its_width_when_nothing_expensive_can_come(conservative):
    """The range term is the arm of the interval without any error of the costliest kind."""
    weight = 1.0 if conservative else 0.7
    costs = CostMatrix.from_errors(false_positive=0.001, false_negative=1000)
    rates = np.array([[0.97, 0.0], [0.01, 0.02]])
    plan = plan_test_size(costs, rates=rates, half_width=2.0, weight=weight, rng=0)
    assert plan.n == pytest.approx(plan.range_of_costs, rel=0.02)
    table = Confusion((rates * plan.n).round().astype(int), [0, 1])
    estimate = CostEstimate(table, costs)
    arm = estimate.interval(conservative=conservative).high - estimate.cost
    assert arm == pytest.approx(2.0, rel=0.02)
    assert "the rarest, most expensive mistake asks for most" in plan.summary()


@pytest.mark.parametrize("assurance", [0.5, 0.8, 0.95])
def test_with_known_rates_the_promised_share_of_test_sets_keeps_the_arm(assurance):
    plan = plan_test_size(FRAUD, rates=RATES, half_width=0.02, assurance=assurance, rng=0)
    tables = np.random.default_rng(1).multinomial(plan.n, RATES.ravel(), 2000)
    kept = (arms(tables, FRAUD) <= 0.02).mean()
    assert kept == pytest.approx(assurance, abs=0.03)
    assert plan.arm == pytest.approx(0.02, rel=0.01)
    assert f"in {100 * assurance:g}% of test sets, if the rates are as given" in plan.summary()


def test_a_pilot_costs_more_than_known_rates_and_a_large_one_hardly_any():
    known = plan_test_size(FRAUD, rates=RATES, half_width=0.1, rng=0).n
    pilots = [Confusion((RATES * n).astype(int), labels=[0, 1]) for n in (1000, 10**7)]
    small, large = (plan_test_size(FRAUD, pilot, half_width=0.1, rng=0) for pilot in pilots)
    assert small.n > 1.2 * known
    assert large.n == pytest.approx(known, rel=0.03)
    assert "in 80% of test sets, the pilot's uncertainty included" in small.summary()
    assert small == plan_test_size(FRAUD, pilots[0], half_width=0.1, rng=0)


def test_an_expensive_mistake_that_the_pilot_does_not_contain_may_come():
    pilot = Confusion([[900, 0], [90, 10]], labels=[0, 1])
    plan = plan_test_size(FRAUD, pilot, half_width=0.1, rng=0)
    rng = np.random.default_rng(2)
    # Clopper and Pearson's distribution of a rate with no event observed among 1,000.
    missed = rng.binomial(plan.n, rng.beta(0.7, 1000, 2000))
    alarms = rng.binomial(plan.n - missed, 0.09)
    tables = np.column_stack([plan.n - missed - alarms, missed, alarms, 0 * missed])
    assert (arms(tables, FRAUD) <= 0.1).mean() == pytest.approx(0.8, abs=0.03)


def test_without_a_pilot_no_test_set_has_a_longer_arm():
    plan = plan_test_size(COSTS, half_width=0.5)
    assert plan.spread == np.ceil(stats.norm.ppf(0.975) ** 2 * 25 / 0.25)
    rng = np.random.default_rng(0)
    tables = rng.multinomial(plan.n, rng.dirichlet([0.3] * 4, 2000))
    expensive = rng.integers(0, plan.n + 1, 1000)
    extreme = np.column_stack([plan.n - expensive, expensive, 0 * expensive, 0 * expensive])
    found = arms(np.concatenate([tables, extreme]), COSTS)
    assert 0.49 < found.max() <= 0.5
    assert plan.assurance == 1
    assert "in every test set, whatever the rates" in plan.summary()
    assert plan_test_size(COSTS, difference=0.5).n > plan_test_size(COSTS, difference=1.0).n


def test_without_a_pilot_two_classifiers_have_the_most_spread():
    plan = plan_test_size(COSTS, difference=1.0, rng=0)
    factor = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2
    assert plan.n == pytest.approx(factor * (10**2 - 1), rel=0.1)


def test_power_by_formula_and_by_simulation_agree_where_costs_are_not_rare():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=2)
    large = PairedConfusion(PILOT.counts * 1000, labels=[0, 1])
    found = power(large, costs, 800, rng=0)
    assert found.simulated == pytest.approx(found.formula, abs=0.06)
    assert "the pilot's uncertainty included" in found.summary()
    assert found.n == 800


def test_the_power_is_that_of_the_default_test():
    """Most test sets are judged by approximations; all of them by the test itself here."""
    rates = PILOT.counts / PILOT.n
    plan = plan_test_size(COSTS, rates=rates, power=0.8, rng=0)
    drawn = np.random.default_rng(3).multinomial(plan.n, rates.ravel(), 1000)
    outcomes = batch_outcomes(drawn.reshape(-1, 2, 2, 2), COSTS)
    shown = (batch_p_values(outcomes) <= 0.05) & (outcomes.mean > 0)
    assert shown.mean() == pytest.approx(0.8, abs=0.045)


def test_a_planned_comparison_reaches_its_power():
    plan = plan_test_size(COSTS, PILOT, difference=0.3, power=0.8, rng=0)
    again = power(PILOT, COSTS, plan.n, difference=0.3, rng=1)
    assert again.simulated > 0.74
    assert plan.power is not None
    assert plan.power.simulated >= 0.8
    assert "with a power of 80%, the pilot's uncertainty included" in plan.summary()


def test_more_examples_mean_more_power():
    found = [power(PILOT, COSTS, n, rng=0).simulated for n in (100, 400, 1600)]
    assert found == sorted(found)
    none = power(PILOT, COSTS, 200, difference=0.0, rng=0)
    assert none.simulated < 0.05
    assert none.reachable == 1


def test_a_pilot_limits_the_power_that_can_be_promised():
    """With no end of examples the power is the probability that there is the difference."""
    found = power(PILOT, COSTS, 10**8, rng=0)
    values = (COSTS.values[:, np.newaxis] - COSTS.values).ravel()
    counts = PILOT.counts.ravel() + 0.7 * (values == -10) / (values == -10).sum()
    draws = np.random.default_rng(1).dirichlet(counts, 20_000)
    assert found.reachable == pytest.approx((draws @ values > 0).mean(), abs=0.05)
    assert found.simulated == pytest.approx(found.reachable, abs=0.01)
    assert f"no number of examples reaches more than {100 * found.reachable:.0f}%" in (
        found.summary()
    )
    least = plan_test_size(COSTS, PILOT, power=found.reachable - 0.2, rng=0)
    assert "to show which of the two costs less with a power of" in least.summary()
    message = rf"power: 99% cannot be promised: .* probability of {100 * found.reachable:.0f}%"
    with pytest.raises(PlanError, match=message):
        plan_test_size(COSTS, PILOT, power=0.99, rng=0)


def test_a_rare_outcome_that_the_pilot_does_not_contain_costs_power():
    seldom = PairedConfusion([[[900, 0], [20, 0]], [[60, 0], [10, 10]]], labels=[0, 1])
    sure = plan_test_size(FRAUD, rates=seldom.counts / seldom.n, power=0.8, rng=0)
    assert power(seldom, FRAUD, sure.n, rng=0).simulated < 0.6


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
        (lambda: plan_test_size(COSTS), InputTypeError, "half_width, difference, power: give"),
        (
            lambda: plan_test_size(COSTS, half_width=1, power=0.8),
            InputTypeError,
            "half_width, difference, power: give",
        ),
        (lambda: plan_test_size(COSTS, power=0.8), InputTypeError, "power: .* pilot or rates are"),
        (
            lambda: plan_test_size(COSTS, half_width=1, rates=[[1, 2], [3, 4]]),
            InputError,
            r"rates: expected probabilities of shape \(2, 2\) that sum to 1; .* sums to 10",
        ),
        (
            lambda: plan_test_size(COSTS, PILOT, difference=1, rates=[[1, 0], [0, 0]]),
            InputTypeError,
            "rates: they take the place of a pilot",
        ),
        (
            lambda: plan_test_size(
                COSTS, Confusion([[1, 2], [3, 4]], [0, 1]), half_width=1, assurance=1
            ),
            InputError,
            "assurance: expected a number between 0 and 1",
        ),
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
            "difference: two models cannot differ by more than 10",
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
    plan = plan_test_size(COSTS, pilot, half_width=0.2, class_priors=priors, rng=0)
    assert plan.arm <= 0.2
    by_hand = sum(
        priors[j] ** 2 * each.var() / (len(each) / 200)
        for j in (0, 1)
        for each in [np.repeat(COSTS.values[:, j], pilot.counts[:, j])]
    )
    assert plan.spread == np.ceil(stats.norm.ppf(0.975) ** 2 * by_hand / 0.04)
    rng = np.random.default_rng(0)
    sizes = np.floor(plan.n * pilot.class_counts / pilot.n).astype(int)
    extra = 0.7 * np.array([[0, 1], [1, 0]])  # on the costliest decision of each class
    found = []
    for _ in range(60):
        drawn = [
            rng.multinomial(sizes[j], rng.dirichlet(pilot.counts[:, j] + extra[:, j]))
            for j in (0, 1)
        ]
        table = Confusion(np.column_stack(drawn), labels=[0, 1])
        estimate = CostEstimate(table, COSTS, Design(priors))
        found.append(estimate.interval().high - estimate.cost)
    assert np.quantile(found, 0.8) == pytest.approx(plan.arm, rel=0.15)


def test_class_priors_need_a_pilot():
    for options in ({"half_width": 1}, {"difference": 1}):
        with pytest.raises(DesignError, match="class_priors, population: they need a pilot"):
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
    with pytest.raises(
        InputTypeError, match="pilot: expected a Confusion, a PairedConfusion, a Gr"
    ):
        plan_test_size(COSTS, [[50, 2], [8, 40]], half_width=1)
    with pytest.raises(InputError, match="power: expected numbers, got 'x'"):
        plan_test_size(COSTS, difference=1, power="x")
