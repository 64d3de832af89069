"""Plans from a pilot whose examples come in groups."""

import numpy as np
import pytest

from stakes import Confusion, CostMatrix, GroupedConfusion, plan_test_size
from stakes.errors import DesignError

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=20)


def pilot(groups, size, whole, seed=0):
    """Draw groups of which some fail wholly, or in single rows."""
    rng = np.random.default_rng(seed)
    actual = np.repeat(rng.random(groups) < 0.3, size).astype(int)
    bad = np.repeat(rng.random(groups) < 0.15, size)
    wrong = bad & (rng.random(groups * size) < whole)
    wrong |= rng.random(groups * size) < 0.02
    return actual, np.where(wrong, 1 - actual, actual), np.repeat(np.arange(groups), size)


def test_groups_of_one_change_nothing():
    actual, decided, _ = pilot(300, 1, 0.5)
    grouped = GroupedConfusion.from_labels(actual, decided, np.arange(300))
    simple = Confusion.from_labels(actual, decided)
    plans = [plan_test_size(COSTS, each, half_width=0.5, rng=0) for each in (grouped, simple)]
    assert plans[0] == plans[1]


def test_groups_that_fail_together_need_more():
    sizes = {}
    for whole in (0.0, 1.0):
        actual, decided, groups = pilot(80, 10, whole)
        grouped = GroupedConfusion.from_labels(actual, decided, groups)
        plan = plan_test_size(COSTS, grouped, half_width=0.4, rng=0)
        simple = plan_test_size(COSTS, grouped.pooled, half_width=0.4, rng=0)
        assert plan.design_effect > 1
        assert plan.n > simple.n
        assert "groups like the pilot's" in plan.summary()
        sizes[whole] = plan.n
    assert sizes[1.0] > 2 * sizes[0.0]


def test_a_comparison_in_groups():
    actual, one, groups = pilot(80, 10, 1.0)
    _, other, _ = pilot(80, 10, 1.0, seed=1)
    other = np.where(np.random.default_rng(2).random(800) < 0.4, 1 - actual, other)
    grouped = GroupedConfusion.from_labels(actual, one, groups, y_pred_2=other)
    plan = plan_test_size(COSTS, grouped, difference=1.5, rng=0)
    assert plan.n > plan_test_size(COSTS, grouped.pooled, difference=1.5, rng=0).n


@pytest.mark.parametrize("given", ["strata", "sample_weight"])
def test_strata_and_weights_are_refused(given):
    actual, decided, groups = pilot(30, 4, 0.5)
    values = {"strata": groups % 2, "sample_weight": 1.0 + groups % 2}[given]
    grouped = GroupedConfusion.from_labels(actual, decided, groups, **{given: values})
    with pytest.raises(DesignError, match="pilot"):
        plan_test_size(COSTS, grouped, half_width=0.5)
