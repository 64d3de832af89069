"""Measured proportions of test sets that keep the promise of a plan."""

import numpy as np
import pytest
from _helpers.judge import at_least, at_most

from stakes import (
    Confusion,
    CostEstimate,
    CostMatrix,
    Design,
    GroupedConfusion,
    PairedConfusion,
    plan_test_size,
)
from stakes.errors import PlanError
from stakes.infer import batch_intervals
from stakes.infer._inference import quiet_interval
from stakes.infer.batch import batch_outcomes, batch_p_values

pytestmark = pytest.mark.statistical
SIZE_OF_PILOT = 500

ONE = {  # costs of a false positive and a false negative; rates of tn, fn, fp, tp; half-widths
    "common": ((1, 10), (0.86, 0.03, 0.04, 0.07), (0.05, 0.2)),
    "rare": ((1, 100), (0.9, 0.002, 0.088, 0.01), (0.03, 0.3)),
    "very rare": ((10, 5000), (0.97, 0.0003, 0.02, 0.0097), (0.3, 3)),
}
TWO = {  # and of the eight outcomes of two classifiers
    "common": ((1, 10), (0.62, 0.02, 0.08, 0.03, 0.04, 0.01, 0.05, 0.15)),
    "fraud": ((10, 500), (0.93, 0.001, 0.02, 0.004, 0.01, 0.002, 0.023, 0.01)),
    "rare": ((1, 100), (0.9, 0.001, 0.02, 0.003, 0.03, 0.001, 0.025, 0.02)),
    "equal": ((1, 1), (0.62, 0.02, 0.06, 0.04, 0.04, 0.03, 0.04, 0.15)),
}


def setting(which, name):
    errors, rates, *rest = which[name]
    costs = CostMatrix.from_errors(false_positive=errors[0], false_negative=errors[1])
    return costs, np.array(rates) / sum(rates), *rest


def kept(costs, rates, plan, arm, *, rng, sets):
    """Tell in which of the test sets of the planned size the upper limit is near enough."""
    tables = rng.multinomial(plan.n, rates, sets)
    _, high = batch_intervals(tables.reshape(-1, 2, 2), costs)
    return high - tables @ costs.values.ravel() / plan.n <= arm


def shown(costs, rates, plan, sign, *, rng, sets):
    """Tell which of the test sets of the planned size show a difference of that sign."""
    tables = rng.multinomial(plan.n, rates, sets).reshape(-1, 2, 2, 2)
    outcomes = batch_outcomes(tables, costs)
    return (batch_p_values(outcomes) <= 0.05) & (sign * outcomes.mean > 0)


@pytest.mark.parametrize("assurance", [0.5, 0.8, 0.95])
@pytest.mark.parametrize("name", ONE)
def test_an_arm_with_known_rates(name, assurance):
    costs, rates, arms = setting(ONE, name)
    rng = np.random.default_rng([1, list(ONE).index(name), int(100 * assurance)])
    for place, arm in enumerate(arms):
        hits, plans, sets = 0, 6, 1000
        for _ in range(plans):
            plan = plan_test_size(
                costs, rates=rates.reshape(2, 2), half_width=arm, assurance=assurance, rng=rng
            )
            hits += int(kept(costs, rates, plan, arm, rng=rng, sets=sets).sum())
        assert at_least(hits, plans * sets, assurance - 0.02), hits / plans / sets
        if place == 0:  # with few expensive mistakes, the proportion jumps from one n to the next
            assert at_most(hits, plans * sets, assurance + 0.02), hits / plans / sets


@pytest.mark.parametrize("name", ONE)
def test_an_arm_from_a_pilot(name):
    costs, rates, arms = setting(ONE, name)
    rng = np.random.default_rng([2, list(ONE).index(name)])
    for arm in arms:
        hits, pilots, sets = 0, 150, 20
        for _ in range(pilots):
            pilot = Confusion(rng.multinomial(SIZE_OF_PILOT, rates).reshape(2, 2), labels=[0, 1])
            plan = plan_test_size(costs, pilot, half_width=arm, rng=rng)
            hits += int(kept(costs, rates, plan, arm, rng=rng, sets=sets).sum())
        # The test sets of one plan are correlated, so the plans are the trials.
        assert at_least(hits / sets, pilots, 0.8), hits / pilots / sets


@pytest.mark.parametrize("name", TWO)
def test_the_power_to_show_a_given_difference(name):
    costs, rates = setting(TWO, name)
    rng = np.random.default_rng([3, list(TWO).index(name)])
    values = (costs.values[:, np.newaxis] - costs.values).ravel()
    difference = float(rates @ values)
    hits, pilots, sets = 0, 120, 15
    for _ in range(pilots):
        counts = rng.multinomial(SIZE_OF_PILOT, rates)
        pilot = PairedConfusion(counts.reshape(2, 2, 2), labels=[0, 1])
        plan = plan_test_size(costs, pilot, difference=difference, rng=rng)
        hits += int(shown(costs, rates, plan, np.sign(difference), rng=rng, sets=sets).sum())
    assert at_least(hits / sets, pilots, 0.8), hits / pilots / sets
    assert hits / pilots / sets > 0.75


@pytest.mark.parametrize("name", TWO)
def test_the_power_to_show_the_pilots_difference(name):
    """Of all pilots at most a fifth get a promise of 80% and then a test set that fails it."""
    costs, rates = setting(TWO, name)
    rng = np.random.default_rng([4, list(TWO).index(name)])
    values = (costs.values[:, np.newaxis] - costs.values).ravel()
    failed, pilots, sets = 0, 120, 15
    for _ in range(pilots):
        counts = rng.multinomial(SIZE_OF_PILOT, rates)
        pilot = PairedConfusion(counts.reshape(2, 2, 2), labels=[0, 1])
        try:
            plan = plan_test_size(costs, pilot, power=0.8, rng=rng)
        except PlanError:
            continue
        failed += int((~shown(costs, rates, plan, counts @ values, rng=rng, sets=sets)).sum())
    assert at_most(failed / sets, pilots, 0.2), failed / pilots / sets
    assert failed / pilots / sets < 0.25


def kept_by_weighted(costs, draw, plan, arm, *, rng, sets):
    """Tell in how many weighted test sets of the planned size the upper limit is near enough."""
    hits = 0
    for _ in range(sets):
        actual, decided, weights = draw(rng, plan.n)
        found = CostEstimate(
            Confusion.from_labels(actual, decided, labels=[0, 1], sample_weight=weights), costs
        )
        hits += quiet_interval(found, 0.95).high - found.cost <= arm
    return hits


def checked_alarms(rng, n):
    """Draw rows of which all alarms were checked and a fiftieth of the others."""
    rows = rng.choice(4, n, p=[0.25, 0.65, 0.098, 0.002])
    actual, decided = np.isin(rows, [0, 3]) * 1, (rows < 2) * 1
    return actual, decided, np.where(decided, 1.0, 50.0)


def unequal_weights(rng, n):
    """Draw rows whose weights have nothing to do with their errors."""
    actual = (rng.random(n) < 0.3) * 1
    wrong = rng.random(n) < 0.08
    return actual, np.where(wrong, 1 - actual, actual), rng.lognormal(0, 0.8, n)


@pytest.mark.parametrize(
    ("draw", "arm"), [(checked_alarms, 3.0), (unequal_weights, 0.4)], ids=["alarms", "lognormal"]
)
def test_an_arm_from_a_pilot_with_weights(draw, arm):
    costs = CostMatrix.from_errors(false_positive=1, false_negative=20)
    rng = np.random.default_rng(5)
    hits, pilots, sets = 0, 100, 20
    for _ in range(pilots):
        actual, decided, weights = draw(rng, SIZE_OF_PILOT)
        table = Confusion.from_labels(actual, decided, labels=[0, 1], sample_weight=weights)
        plan = plan_test_size(costs, table, half_width=arm, pilot_rows=SIZE_OF_PILOT, rng=rng)
        hits += kept_by_weighted(costs, draw, plan, arm, rng=rng, sets=sets)
    assert at_least(hits / sets, pilots, 0.8), hits / pilots / sets


def test_an_arm_from_a_pilot_by_strata():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=20)
    rng = np.random.default_rng(6)
    rates = {"a": [0.8, 0.01, 0.05, 0.14], "b": [0.5, 0.04, 0.2, 0.26]}
    shares, arm = {"a": 0.9, "b": 0.1}, 0.25
    design = Design(population=shares)

    def drawn(n):
        tables = [rng.multinomial(size, rates[name]) for name, size in (("a", n), ("b", n))]
        return GroupedConfusion(
            np.reshape(tables, (2, 2, 2)), labels=[0, 1], strata=["a", "b"], groups=None
        )

    hits, pilots, sets = 0, 60, 20
    for _ in range(pilots):
        plan = plan_test_size(costs, drawn(300), half_width=arm, population=shares, rng=rng)
        for _ in range(sets):
            found = CostEstimate(drawn(plan.n // 2), costs, design)
            hits += quiet_interval(found, 0.95).high - found.cost <= arm
    assert at_least(hits / sets, pilots, 0.8), hits / pilots / sets
