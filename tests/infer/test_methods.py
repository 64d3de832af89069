"""Properties of all interval methods, and the definition of each."""

import itertools

import numpy as np
import pytest
from _helpers.strategies import confusions, cost_matrices
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from stakes import Confusion, CostDifference, CostEstimate, CostMatrix, CostSample, PairedConfusion
from stakes.errors import ConstantCostWarning, DesignError, InputError, InputTypeError
from stakes.infer._outcomes import principled_laplace
from stakes.infer.methods import names_of_intervals
from stakes.infer.methods.bcost import order
from stakes.infer.methods.extremal import pearson3_isf, pearson3_sf

COSTS = CostMatrix([[0, 30, 2.5], [1, 0, 7], [4, 0.5, 0]], rows="predicted", labels=list("abc"))
TABLE = Confusion([[40, 2, 3], [5, 30, 1], [0, 4, 25]], list("abc"))
ESTIMATE = CostEstimate(TABLE, COSTS)
every_method = pytest.mark.parametrize("method", names_of_intervals())


def seeded(method):
    return {"rng": 0} if method == "bcost" else {}


@every_method
@settings(max_examples=settings.default.max_examples // 3)  # some methods are slow
@given(data=st.data())
def test_limits_lie_in_the_range_of_costs_and_in_order(method, data):
    costs = data.draw(cost_matrices(labels=[0, 1, 2]))
    if np.ptp(costs.values) < 1e-3:
        return
    confusion = data.draw(confusions(costs))
    if confusion.n < 2:
        return
    estimate = CostEstimate(confusion, costs)
    low, high = estimate.interval(method=method, **seeded(method))
    assert np.isfinite([low, high]).all()
    assert low <= high
    if method not in ("normal", "t"):
        slack = 1e-6 * np.ptp(costs.values)
        assert costs.values.min() - slack <= low
        assert high <= costs.values.max() + slack


@every_method
def test_a_higher_confidence_never_narrows(method):
    levels = [0.5, 0.8, 0.9, 0.95, 0.99]
    found = [ESTIMATE.interval(level, method, **seeded(method)) for level in levels]
    for narrow, wide in itertools.pairwise(found):
        assert wide.low <= narrow.low + 1e-12
        assert wide.high >= narrow.high - 1e-12


@every_method
@pytest.mark.parametrize("shift", [-3.0, 100.0])
def test_a_constant_on_all_costs_shifts_the_interval(method, shift):
    moved = CostMatrix(COSTS.values + shift, rows="predicted", labels=COSTS.labels)
    one = ESTIMATE.interval(method=method, **seeded(method))
    other = CostEstimate(TABLE, moved).interval(method=method, **seeded(method))
    assert list(other) == pytest.approx([one.low + shift, one.high + shift], rel=1e-7, abs=1e-6)


@every_method
@pytest.mark.parametrize("scale", [1e-9, 1e12])
def test_scaling_the_costs_scales_the_interval(method, scale):
    scaled = CostMatrix(COSTS.values * scale, rows="predicted", labels=COSTS.labels)
    one = ESTIMATE.interval(method=method, **seeded(method))
    other = CostEstimate(TABLE, scaled).interval(method=method, **seeded(method))
    assert list(other) == pytest.approx([one.low * scale, one.high * scale], rel=1e-6)


@every_method
@pytest.mark.parametrize("n", [2, 10, 10**7])
def test_any_n(method, n):
    table = Confusion([[n - n // 2, 0], [n // 2, 0]], [0, 1])
    costs = CostMatrix.from_errors(false_positive=3, false_negative=1000, true_negative=-1)
    low, high = CostEstimate(table, costs).interval(method=method, **seeded(method))
    assert low <= CostEstimate(table, costs).cost <= high


@pytest.mark.parametrize(
    "method", ["extremal", "exact", "bcost", "guaranteed", "dirichlet", "likelihood"]
)
def test_one_example(method):
    table = Confusion([[1, 0], [0, 0]], [0, 1])
    costs = CostMatrix.from_errors(false_positive=1, false_negative=9)
    low, high = CostEstimate(table, costs).interval(method=method, **seeded(method))
    assert 0 <= low <= high <= 9


@pytest.mark.parametrize("size", [2, 10, 50])
def test_any_number_of_classes(size):
    rng = np.random.default_rng(size)
    costs = CostMatrix(
        rng.integers(1, 99, (size, size)) * (1 - np.eye(size)), rows="predicted", labels=range(size)
    )
    table = Confusion(rng.integers(0, 5, (size, size)) + 20 * np.eye(size, dtype=int), range(size))
    estimate = CostEstimate(table, costs)
    for method in ("extremal", "exact"):
        assert estimate.cost in estimate.interval(method=method)


def test_all_equal_costs_have_no_width_and_a_warning():
    flat = CostMatrix([[4, 4], [4, 4]], rows="predicted", labels=[0, 1])
    estimate = CostEstimate(Confusion([[3, 1], [2, 1]], [0, 1]), flat)
    with pytest.warns(ConstantCostWarning, match="all possible outcomes cost the same, 4"):
        assert list(estimate.interval()) == [4, 4]


def test_conservative_never_narrows():
    one, other = ESTIMATE.interval(), ESTIMATE.interval(conservative=True)
    assert other.low <= one.low
    assert other.high >= one.high
    assert list(ESTIMATE.interval(method="extremal", weight=1)) == list(other)


@pytest.mark.parametrize(("errors", "n"), [(0, 1000), (3, 50), (50, 50)])
def test_extremal_of_two_outcomes_with_weight_one_is_clopper_and_pearson(errors, n):
    table = Confusion([[n - errors, 0], [errors, 0]], [0, 1])
    costs = CostMatrix.from_errors(false_positive=1, false_negative=1)
    low, high = CostEstimate(table, costs).interval(conservative=True)
    theirs = stats.binomtest(errors, n).proportion_ci(0.95, method="exact")
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_no_errors_in_a_thousand():
    costs = CostMatrix.from_errors(false_positive=1, false_negative=1)
    estimate = CostEstimate(Confusion([[1000, 0], [0, 0]], [0, 1]), costs)
    assert estimate.interval(conservative=True).high == pytest.approx(0.00368208390, abs=1e-10)


def test_extremal_is_what_sampling_its_definition_gives():
    rng = np.random.default_rng(0)
    counts, costs = TABLE.counts.ravel().astype(float), COSTS.values.ravel()
    interval = ESTIMATE.interval()
    for cell, level, limit in (
        (costs.argmax(), 0.975, interval.high),
        (costs.argmin(), 0.025, interval.low),
    ):
        alpha = counts.copy()
        alpha[cell] += 0.7
        drawn = rng.standard_gamma(alpha, (100_000, 9))
        below = int(((drawn @ costs) / drawn.sum(axis=1) <= limit).sum())
        assert stats.binomtest(below, 100_000, level).pvalue > 1e-4


def test_impossible_cells_narrow_the_interval():
    without = ESTIMATE.interval(impossible=[("c", "a")])
    assert without.high == ESTIMATE.interval().high  # not the costliest cell
    rare = Confusion([[40, 0, 3], [5, 30, 1], [0, 4, 25]], list("abc"))
    estimate = CostEstimate(rare, COSTS)
    assert estimate.interval(impossible=[("a", "b")]).high < estimate.interval().high


def test_bcost_is_table_2_with_its_order_statistics():
    assert order(0.05, 1000) == 26
    assert order(0.1, 1000) == 51  # 49.999… in floating point
    found = ESTIMATE.interval(method="bcost", rng=3)
    rng = np.random.default_rng(3)
    counts = TABLE.counts.ravel()
    probabilities = (counts + 0.1) / (counts.sum() + 0.9)
    # The same samples by distinct costs: cells of equal cost are merged before sampling.
    atoms, place = np.unique(COSTS.values.ravel(), return_inverse=True)
    merged = np.bincount(place, weights=probabilities)
    drawn = np.sort(rng.multinomial(110, merged, 1000) @ atoms / 110)
    assert list(found) == pytest.approx([drawn[25], drawn[974]])


def test_bcost_tends_to_exact():
    exact = ESTIMATE.interval(method="exact")
    many = ESTIMATE.interval(method="bcost", n_resamples=200_000, rng=0)
    assert list(many) == pytest.approx(list(exact), abs=0.02)


def test_normal_and_t_are_those_of_the_costs_of_the_examples():
    each = np.repeat(COSTS.values.ravel(), TABLE.counts.ravel())
    error = each.std(ddof=1) / np.sqrt(len(each))
    z, t = stats.norm.ppf(0.975), stats.t.ppf(0.975, len(each) - 1)
    low, high = ESTIMATE.interval(method="normal")
    assert (low, high) == pytest.approx((each.mean() - z * error, each.mean() + z * error))
    low, high = ESTIMATE.interval(method="t")
    assert (low, high) == pytest.approx((each.mean() - t * error, each.mean() + t * error))


def test_bca_is_close_to_scipys():
    each = np.repeat(COSTS.values.ravel(), TABLE.counts.ravel())
    theirs = stats.bootstrap(
        (each,), np.mean, n_resamples=20_000, method="BCa", rng=np.random.default_rng(0)
    ).confidence_interval
    low, high = ESTIMATE.interval(method="bca")
    assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=0.03)


def test_dirichlet_is_the_posterior():
    rng = np.random.default_rng(0)
    drawn = rng.dirichlet(TABLE.counts.ravel() + 1 / 9, 100_000) @ COSTS.values.ravel()
    low, high = ESTIMATE.interval(method="dirichlet")
    assert stats.binomtest(int((drawn <= low).sum()), 100_000, 0.025).pvalue > 1e-4
    assert stats.binomtest(int((drawn <= high).sum()), 100_000, 0.975).pvalue > 1e-4


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")
def test_likelihood_is_maximised_over_the_extended_support():
    """The profile likelihood at the limits, by a general optimiser."""
    from scipy.optimize import minimize

    costs, place = np.unique(COSTS.values.ravel(), return_inverse=True)
    counts = np.bincount(place, weights=TABLE.counts.ravel())
    low, high = ESTIMATE.interval(method="likelihood")
    n = counts.sum()
    top = (counts[counts > 0] * np.log(counts[counts > 0] / n)).sum()
    for limit in (low, high):
        start = np.full(len(costs), 1 / len(costs))
        best = minimize(
            lambda p: -(counts * np.log(np.maximum(p, 1e-12))).sum(),
            start,
            bounds=[(1e-12, 1)] * len(costs),
            constraints=[
                {"type": "eq", "fun": lambda p: p.sum() - 1},
                {"type": "eq", "fun": lambda p, limit=limit: p @ costs - limit},
            ],
            options={"maxiter": 1000, "ftol": 1e-12},
        )
        assert 2 * (top + best.fun) == pytest.approx(stats.chi2.ppf(0.95, 1), abs=0.02)


def test_guaranteed_bets_are_fair():
    """Against the true mean the expected fortune is one, by enumerating all samples of five."""
    from stakes.infer._probability.betting import mixture_wealth

    costs, p = np.array([0.0, 0.4, 1.0]), np.array([0.5, 0.3, 0.2])
    expected = 0.0
    for sample in itertools.product(range(3), repeat=5):
        counts = np.bincount(sample, minlength=3).astype(float)[np.newaxis]
        wealth = np.exp(mixture_wealth(costs, counts, np.array([p @ costs]))[0])
        expected += wealth * np.prod(p[list(sample)])
    assert expected == pytest.approx(1)


def test_principled_laplace_steps_over_the_jump():
    value = principled_laplace(0.05)
    assert stats.poisson(value).ppf(0.975) == np.ceil(np.log(40))
    assert stats.poisson(value * (1 - 1e-3)).ppf(0.975) == np.ceil(np.log(40)) - 1
    unseen = CostEstimate(
        Confusion([[1000, 0], [5, 10]], [0, 1]),
        CostMatrix.from_errors(false_positive=1, false_negative=100),
    )
    auto = unseen.interval(method="exact", laplace="auto")
    assert auto.high > unseen.interval(method="exact").high


def test_laplace_may_differ_from_cell_to_cell():
    even = ESTIMATE.distribution(laplace=np.full((3, 3), 0.1))
    assert even.mean == pytest.approx(ESTIMATE.distribution(laplace=0.1).mean)
    uneven = np.zeros((3, 3))
    uneven[0, 1] = 2.0
    by_hand = (TABLE.counts + uneven) / (110 + 2)
    assert ESTIMATE.distribution(laplace=uneven).mean == pytest.approx(
        (by_hand * COSTS.values).sum()
    )
    with_priors = ESTIMATE.distribution(laplace=uneven, class_priors=[0.2, 0.3, 0.5])
    shares = (TABLE.counts + uneven) / (TABLE.counts + uneven).sum(axis=0)
    assert with_priors.mean == pytest.approx((shares * COSTS.values * [0.2, 0.3, 0.5]).sum())


def test_the_same_seed_gives_the_same_interval():
    assert ESTIMATE.interval(method="bcost", rng=5) == ESTIMATE.interval(method="bcost", rng=5)
    assert ESTIMATE.interval(method="bcost", rng=5) != ESTIMATE.interval(method="bcost", rng=6)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: ESTIMATE.interval(1.5),
            InputError,
            "confidence: expected a number between 0 and 1",
        ),
        (lambda: ESTIMATE.interval(0), InputError, "confidence: .*got 0"),
        (lambda: ESTIMATE.interval("95"), InputError, "confidence: .*got '95'"),
        (
            lambda: ESTIMATE.interval(method="magic"),
            InputError,
            "method: expected one of 'anytime'",
        ),
        (
            lambda: ESTIMATE.interval(method="bcost", n_resamples=10),
            InputError,
            "n_resamples: 10 resamples are too few .*at least 40 are needed",
        ),
        (lambda: ESTIMATE.interval(method="bcost", n_resamples=10.5), InputError, "whole number"),
        (
            lambda: ESTIMATE.interval(method="exact", laplace=-1),
            InputError,
            "laplace: expected numbers that are not negative",
        ),
        (
            lambda: ESTIMATE.interval(method="exact", laplace="some"),
            InputError,
            "laplace: .*'some'",
        ),
        (
            lambda: ESTIMATE.interval(method="exact", laplace=[1, 2]),
            InputError,
            "laplace: expected a number or one for each of the 9 cells",
        ),
        (
            lambda: ESTIMATE.interval(method="normal", laplace=1),
            InputTypeError,
            "laplace: the method 'normal' has no such option; it takes none",
        ),
        (lambda: ESTIMATE.interval(weight=-1), InputError, "weight: expected a positive number"),
        (
            lambda: ESTIMATE.interval(class_priors=[0.5, 0.5, 0.5]),
            InputError,
            "class_priors: expected shares that .*sum to 1.5",
        ),
        (
            lambda: ESTIMATE.interval(class_priors={"a": 0.5, "b": 0.5}),
            InputError,
            "class_priors: .*it misses 'c'",
        ),
        (lambda: ESTIMATE.interval(class_priors=[0.5, 0.5]), InputError, "expected 3 shares"),
        (lambda: ESTIMATE.interval(strata="group"), InputError, "strata: expected 'class'"),
        (
            lambda: ESTIMATE.interval(impossible=[("a", "b")]),
            InputError,
            "impossible: predicting 'a' when it was 'b' was called impossible, but was observed 2",
        ),
        (
            lambda: ESTIMATE.interval(impossible=[("a", "z")]),
            InputError,
            "impossible: expected pairs",
        ),
        (
            lambda: ESTIMATE.interval(method="anytime", strata="class"),
            DesignError,
            "'anytime' cannot treat the design 'stratified'; these can: 'bcost', 'exact'",
        ),
        (
            lambda: CostEstimate(CostSample([1, 2, 3])).interval(class_priors=[1]),
            DesignError,
            "class_priors, strata: they need the class of each example",
        ),
        (
            lambda: ESTIMATE.distribution(rng=1),
            InputTypeError,
            "rng: distribution has no such option",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_class_without_examples_has_no_prior():
    estimate = CostEstimate(Confusion([[5, 0], [1, 0]], [0, 1]), CostMatrix.zero_one([0, 1]))
    with pytest.raises(InputError, match=r"the class 1 has a prior of 0\.5 but no examples"):
        estimate.interval(class_priors=[0.5, 0.5])
    assert estimate.interval(class_priors=[1, 0]).low >= 0


def test_column_constants_leave_every_difference_unchanged():
    rng = np.random.default_rng(0)
    paired = PairedConfusion(rng.integers(5, 30, (3, 3, 3)), list("abc"))
    moved = CostMatrix(
        COSTS.values + np.array([5.0, -20.0, 0.25]), rows="predicted", labels=list("abc")
    )
    one, other = CostDifference(paired, COSTS), CostDifference(paired, moved)
    assert other.difference == pytest.approx(one.difference)
    for method in ("exact", "extremal", "normal"):
        assert list(other.interval(method=method)) == pytest.approx(
            list(one.interval(method=method))
        )
        assert other.test(method).p_value == pytest.approx(one.test(method).p_value)


def test_many_different_costs_are_condensed_without_narrowing(monkeypatch):
    rng = np.random.default_rng(0)
    values = rng.lognormal(0, 1, 3000)
    estimate = CostEstimate(CostSample(values, 0, 200))
    for method in ("extremal", "likelihood", "guaranteed"):
        condensed = estimate.interval(method=method)
        with monkeypatch.context() as patch:
            patch.setattr("stakes.infer._outcomes.MOST_ATOMS", 10**6)
            full = estimate.interval(method=method)
        assert condensed.low <= full.low + 1e-9
        assert condensed.high >= full.high - 1e-9
        assert condensed.width == pytest.approx(full.width, rel=1e-3)


def test_the_docstring_of_interval_names_every_method():
    for kind in (CostEstimate, CostDifference):
        assert [
            name for name in names_of_intervals() if f'"{name}"' not in kind.interval.__doc__
        ] == []


def test_gamma_variables_of_any_skewness_against_scipy():
    skewness = np.array([-3.0, -0.5, -1e-3, 0.0, 1e-6, 2e-4, 0.7, 4.0])
    for level in (0.001, 0.025, 0.6):
        np.testing.assert_allclose(
            pearson3_isf(level, skewness), stats.pearson3.isf(level, skewness), atol=1e-6
        )
    for x in (-1.5, 0.2, 3.0):
        found = pearson3_sf(np.full(len(skewness), x), skewness)
        np.testing.assert_allclose(found, stats.pearson3.sf(x, skewness), atol=1e-6)
    assert np.isnan(pearson3_isf(0.025, np.array([np.nan]))).all()
