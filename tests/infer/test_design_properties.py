"""In every design nothing is lost where nothing is wrong, and errors raise the upper limit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from stakes import CostMatrix, ExampleCosts, compare, evaluate

pytestmark = pytest.mark.filterwarnings("ignore::stakes.errors.NotClaimedWarning")

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=100)
# Some of the random designs are too unequal for the confidence to be claimed.
pytestmark = pytest.mark.filterwarnings("ignore::stakes.errors.NotClaimedWarning")
seeds = st.integers(0, 10_000)
few = settings(max_examples=3)

SIMPLE = {
    "equal weights": lambda n: {"sample_weight": np.full(n, 3.0)},
    "groups of one row": lambda n: {"groups": np.arange(n)},
    "one stratum": lambda n: {"strata": np.zeros(n, dtype=int)},
    "one stratum of known share": lambda n: {"strata": np.full(n, "all"), "population": {"all": 1}},
    "all three": lambda n: {
        "strata": np.zeros(n, dtype=int),
        "groups": np.arange(n),
        "sample_weight": np.full(n, 0.5),
    },
}


def drawn(rng, n=300, errors=0.05):
    """Draw classes, and the decisions of two models."""
    actual = (rng.random(n) < 0.3).astype(int)
    models = [np.where(rng.random(n) < errors, 1 - actual, actual) for _ in range(2)]
    return actual, *models


@pytest.mark.parametrize("name", SIMPLE)
@pytest.mark.parametrize("options", [{}, {"conservative": True}])
def test_nothing_is_lost_where_nothing_is_wrong(name, options):
    actual, first, second = drawn(np.random.default_rng(1))
    told = SIMPLE[name](len(actual))
    plain, same = (
        evaluate(actual, first, COSTS, **each).interval(**options) for each in ({}, told)
    )
    assert (same.low, same.high) == pytest.approx((plain.low, plain.high), rel=1e-12)
    plain, same = (
        compare(actual, first, second, COSTS, **each).test("extremal", **options)
        for each in ({}, told)
    )
    assert same.p_value == pytest.approx(plain.p_value, rel=1e-12)


@pytest.mark.parametrize("name", [None, *SIMPLE])
def test_equal_amounts_are_a_cost_matrix(name):
    actual, first, second = drawn(np.random.default_rng(2))
    told = {} if name is None else SIMPLE[name](len(actual))
    amounts = ExampleCosts.from_matrix(COSTS, actual)
    found = evaluate(actual, first, amounts, **told).interval()
    plain = evaluate(actual, first, COSTS).interval()
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high), rel=1e-12)
    one = compare(actual, first, second, amounts, **told).interval(method="extremal")
    other = compare(actual, first, second, COSTS).interval(method="extremal")
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-12)


def priors(_rng, _n):
    return {"class_priors": [0.95, 0.05]}


def strata(_rng, n):
    return {"strata": np.arange(n) % 4, "population": {0: 0.6, 1: 0.2, 2: 0.15, 3: 0.05}}


def finite(_rng, n):
    return {"strata": np.arange(n) % 4, "population": {0: 900, 1: 300, 2: 300, 3: 200}}


def grouped(_rng, n):
    return {"groups": np.arange(n) // 10}


def unequal(rng, n):
    return {"groups": np.searchsorted(np.cumsum(np.ceil(rng.pareto(2, n)) + 1), np.arange(n))}


def weighted(rng, n):
    return {"sample_weight": np.where(rng.random(n) < 0.5, 1.0, 5.0)}


def crossing(rng, n):
    return {**strata(rng, n), **grouped(rng, n)}


def weighted_groups(rng, n):
    return {**weighted(rng, n), **grouped(rng, n)}


def simple(_rng, _n):
    return {}


EXACT, NEARLY = (simple, priors, strata, finite), (grouped, unequal, weighted, crossing)


def limits(actual, decided, told, costs=COSTS):
    return evaluate(actual, decided, costs, **told).interval().high


@pytest.mark.parametrize("design", [*EXACT, *NEARLY, weighted_groups])
@few
@given(seed=seeds)
def test_an_error_more_does_not_lower_the_limit(design, seed):
    rng = np.random.default_rng(seed)
    actual, decided, _ = drawn(rng, 200, float(rng.choice([0.0, 0.01, 0.05, 0.3])))
    told = design(rng, len(actual))
    before = limits(actual, decided, told)
    right = np.flatnonzero(actual == decided)
    chosen = rng.permutation(right)[: int(rng.choice([1, 1, 5]))]
    wrong = decided.copy()
    wrong[chosen] = 1 - actual[chosen]
    fall = 1e-6 if design in EXACT else 0.1
    assert limits(actual, wrong, told) >= before * (1 - fall)


@pytest.mark.parametrize("design", [*EXACT, *NEARLY, weighted_groups])
@few
@given(seed=seeds, times=st.sampled_from([1.01, 2.0, 50.0]))
def test_a_higher_cost_does_not_lower_the_limit(design, seed, times):
    rng = np.random.default_rng(seed)
    actual, decided, _ = drawn(rng, 200, 0.05)
    told = design(rng, len(actual))
    before = limits(actual, decided, told)
    fall = 1e-6 if design in EXACT else 0.1
    for alarm, miss in ((times, 100), (1, 100 * times)):
        costs = CostMatrix.from_errors(false_positive=alarm, false_negative=miss)
        assert limits(actual, decided, told, costs) >= before * (1 - fall)


def test_room_for_a_whole_group():
    """Cheap errors of single rows say nothing of whether a patient can be missed."""
    group = np.repeat(np.arange(100), 20)
    actual = (group < 20).astype(int)
    assert limits(actual, actual, {"groups": group}) > 1.9
    alarms = np.where((np.arange(2000) % 20 == 0) & (actual == 0), 1, actual)
    assert limits(actual, alarms, {"groups": group}) > 1.9


def test_room_for_a_heavy_row():
    """All alarms were checked, and 1 % of the rest: a miss weighs as much as those."""
    weights = np.repeat([1.0, 100.0], [1450, 985])
    decided = (weights == 1).astype(int)
    actual = decided * (np.arange(len(decided)) % 3 == 0)
    assert 0.29 < limits(actual, decided, {"sample_weight": weights}) < 0.4


def test_statsmodels_has_the_same_cluster_robust_error():
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(3)
    actual, decided, _ = drawn(rng, 300, 0.2)
    group, weight = rng.integers(0, 25, 300), rng.lognormal(size=300)
    costs = np.where(actual > decided, 100.0, np.where(decided > actual, 1.0, 0.0))
    model = api.WLS(costs, np.ones(300), weights=weight)
    fitted = model.fit(cov_type="cluster", cov_kwds={"groups": group})
    found = evaluate(actual, decided, COSTS, groups=group, sample_weight=weight)
    interval = found.interval(method="normal")
    assert found.cost == pytest.approx(fitted.params[0], rel=1e-9)
    error = (interval.high - interval.low) / (2 * ndtri(0.975))
    assert error == pytest.approx(fitted.bse[0], rel=1e-9)


def test_statsmodels_has_the_same_conservative_limits():
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    actual = np.zeros(500, dtype=int)
    decided = (np.arange(500) < 7).astype(int)
    low, high = proportion.proportion_confint(7, 500, method="beta")
    told = {"groups": np.arange(500), "sample_weight": np.full(500, 2.0)}
    costs = CostMatrix.from_errors(false_positive=1, false_negative=1)
    interval = evaluate(actual, decided, costs, **told).interval(conservative=True)
    assert (interval.low, interval.high) == pytest.approx((low, high), rel=1e-9)
