import numpy as np
import pytest
from _helpers.strategies import cost_matrices, label_columns
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from stakes import (
    Confusion,
    CostDifference,
    CostMatrix,
    CostSample,
    ExampleCosts,
    PairedConfusion,
    compare,
)
from stakes.errors import DesignError, InputError, InputTypeError
from stakes.infer._inference import outcomes_behind
from stakes.infer._outcomes import cost_differences
from stakes.infer.methods import names_of_tests

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=10)
PAIRED = PairedConfusion([[[60, 2], [7, 9]], [[3, 8], [3, 20]]], labels=[0, 1])
PAPER = PairedConfusion([[[60, 2], [7, 4]], [[3, 1], [3, 20]]], labels=[0, 1])
seeds = {"bdeltacost": {"rng": 0}, "signflip": {"rng": 0}}


@given(st.data())
def test_the_difference_is_that_of_the_two_estimates(data):
    labels, (y_true, first, second) = data.draw(label_columns(columns=3))
    costs = data.draw(cost_matrices(labels=labels, extra_decisions=False))
    difference = compare(y_true, first, second, costs)
    one, other = difference.estimates()
    assert difference.difference == pytest.approx(one.cost - other.cost, abs=1e-6)
    reverse = compare(y_true, second, first, costs)
    assert reverse.difference == pytest.approx(-difference.difference, abs=1e-6)


def test_differences_of_decimal_costs_are_decimal():
    delta = cost_differences(np.array([[0.3, 1.1], [0.1, 0.2]]))
    assert delta[0, 1].tolist() == [0.2, 0.9]


@pytest.mark.parametrize("method", ["exact", "extremal", "normal"])
def test_a_p_value_is_where_the_interval_ends_at_zero(method):
    difference = CostDifference(PAPER, COSTS)
    p_value = difference.test(method).p_value
    if method != "exact":  # the exact distribution is discrete
        for change, inside in ((1.02, False), (0.98, True)):
            interval = difference.interval(1 - p_value * change, method)
            assert (0 in interval) == inside
    assert difference.test(method, confidence=1 - p_value * 1.01).rejected
    assert not difference.test(method, confidence=1 - p_value * 0.99).rejected


def test_bdeltacost_rejects_when_zero_lies_outside_its_interval():
    rng = np.random.default_rng(0)
    for seed in range(20):
        counts = rng.multinomial(100, rng.dirichlet(np.ones(8))).reshape(2, 2, 2)
        difference = CostDifference(PairedConfusion(counts, [0, 1]), COSTS)
        low, high = difference.interval(method="bcost", rng=seed)
        result = difference.test("bdeltacost", rng=seed)
        assert result.rejected == (not low <= 1e-12 or not high >= -1e-12)


def test_bdeltacost_tends_to_its_exact_form():
    difference = CostDifference(PAPER, COSTS)
    many = difference.test("bdeltacost", n_resamples=100_000, rng=0)
    assert many.p_value == pytest.approx(difference.test("exact").p_value, abs=0.01)
    assert difference.test("exact").p_value == pytest.approx(2 * 0.122411938486)


def test_the_z_test_is_that_of_paired_differences():
    each = np.repeat(cost_differences(COSTS.values).ravel(), PAIRED.counts.ravel())
    theirs = stats.ttest_1samp(each, 0)
    z = theirs.statistic
    assert CostDifference(PAIRED, COSTS).test("normal").p_value == pytest.approx(
        2 * stats.norm.sf(abs(z))
    )


def test_signflip_is_scipys_permutation_test():
    each = np.repeat(cost_differences(COSTS.values).ravel(), PAIRED.counts.ravel())
    theirs = stats.permutation_test(
        (each,),
        np.mean,
        permutation_type="samples",
        n_resamples=20_000,
        rng=np.random.default_rng(0),
    )
    ours = CostDifference(PAIRED, COSTS).test("signflip", n_resamples=20_000, rng=1)
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=0.015)


def test_mcnemar_is_the_binomial_test_of_the_disagreements():
    difference = CostDifference(PAIRED, CostMatrix.zero_one([0, 1]))
    # The first is wrong alone 3 + 9 times, the second alone 7 + 8 times.
    assert difference.test("mcnemar").p_value == pytest.approx(stats.binomtest(12, 27).pvalue)
    with pytest.raises(InputError, match="McNemar's test is for mistakes that all cost the same"):
        CostDifference(PAIRED, COSTS).test("mcnemar")


@pytest.mark.parametrize("method", [name for name in names_of_tests() if name != "mcnemar"])
def test_one_sided_tests_and_margins(method):
    difference = CostDifference(PAIRED, COSTS)
    options = seeds.get(method, {})
    two = difference.test(method, **options).p_value
    less = difference.test(method, alternative="less", **options).p_value
    greater = difference.test(method, alternative="greater", **options).p_value
    assert two == pytest.approx(min(1, 2 * min(less, greater)))
    lenient = difference.test(method, alternative="less", margin=5.0, **options)
    assert lenient.rejected
    assert lenient.p_value <= less
    assert "less than 5 more than second: shown" in lenient.summary()


def test_margin_zero_and_a_shifted_difference_agree():
    """Testing a margin is testing zero on costs from which the margin was taken."""
    shifted = CostMatrix([[0, 10], [1, 0]], rows="predicted", labels=[0, 1])
    difference = CostDifference(PAIRED, shifted)
    for method in ("exact", "normal", "extremal"):
        low, high = difference.interval(0.9, method)
        assert difference.test(method, margin=low - 0.05, confidence=0.9).rejected
        assert difference.test(method, margin=high + 0.05, confidence=0.9).rejected
        assert not difference.test(method, margin=(low + high) / 2, confidence=0.9).rejected


def test_impossible_cells_narrow_the_interval():
    counts = np.zeros((3, 3, 2), dtype=int)
    counts[:2, :2] = PAIRED.counts
    costs = CostMatrix(
        [[0, 10], [1, 0], [0, 500]], rows="predicted", labels=[0, 1], decisions=[0, 1, 2]
    )
    difference = CostDifference(PairedConfusion(counts, [0, 1], [0, 1, 2]), costs)
    wide, narrow = difference.interval(), difference.interval(impossible=[(2, 1)])
    assert narrow.width < wide.width / 5
    assert tuple(narrow) == pytest.approx(tuple(CostDifference(PAIRED, COSTS).interval()))


def test_the_summary_calls_a_tie_a_tie():
    assert "they cannot be told apart on 112 examples" in CostDifference(PAIRED, COSTS).summary()
    clear = PairedConfusion([[[600, 200], [70, 90]], [[30, 8], [30, 20]]], labels=[0, 1])
    difference = CostDifference(clear, COSTS, names=("old", "new"), unit="USD")
    assert "USD more per decision than new" in difference.summary()
    assert "new is cheaper (p = " in difference.summary()
    assert difference.cheaper == "new"
    assert CostDifference(PAIRED, COSTS).cheaper is None
    assert difference.to_dict()["test"]["rejected"]
    assert "old - new" in repr(difference)
    assert "new is cheaper" in difference._repr_html_()


def test_designs():
    rng = np.random.default_rng(0)
    y_true = rng.integers(0, 2, 300)
    first = np.where(rng.random(300) < 0.1, 1 - y_true, y_true)
    second = np.where(rng.random(300) < 0.3, 1 - y_true, y_true)
    groups = np.repeat(range(60), 5)
    difference = compare(y_true, first, second, COSTS, groups=groups)
    assert difference.interval().method == "extremal"
    assert difference.test("normal").rejected
    assert (
        compare(y_true, first, second, COSTS, sample_weight=rng.random(300)).test("normal").rejected
    )
    priors = compare(y_true, first, second, COSTS, class_priors=[0.9, 0.1])
    by_hand = sum(
        share * np.mean(COSTS.values[first[y_true == j], j] - COSTS.values[second[y_true == j], j])
        for j, share in enumerate([0.9, 0.1])
    )
    assert priors.difference == pytest.approx(by_hand)
    assert priors.test("exact").rejected
    costs = ExampleCosts.from_matrix(COSTS, y_true, rng.uniform(1, 5, 300))
    sample = compare(y_true, first, second, costs)
    assert isinstance(sample.paired, CostSample)
    assert sample.difference == pytest.approx(float((costs.of(first) - costs.of(second)).mean()))
    assert sample.test("normal").rejected
    assert 0 not in sample.interval(method="likelihood")


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: compare([0, 1], [0, 1], [0], COSTS),
            InputError,
            "y_pred_2 has 1 rows.*same examples",
        ),
        (
            lambda: CostDifference(Confusion([[1, 2], [3, 4]], [0, 1]), COSTS),
            InputTypeError,
            "paired: expected the counts of two classifiers",
        ),
        (
            lambda: compare([0, 1], [0, 1], [1, 1], COSTS, ids=(["a", "b"], ["a", "c"])),
            InputError,
            "ids: position 1 is .*'b'.* for y_pred_1 and .*'c'.* for y_pred_2",
        ),
        (
            lambda: compare([0, 1], [0, 1], [1, 1], [[0, 1], [5, 0]]),
            InputTypeError,
            "costs: expected a CostMatrix or ExampleCosts, got list",
        ),
        (lambda: CostDifference(PAIRED), InputTypeError, "costs: expected a CostMatrix"),
        (
            lambda: CostDifference(PAIRED, COSTS).test("magic"),
            InputError,
            "method: expected one of",
        ),
        (
            lambda: CostDifference(PAIRED, COSTS).test(alternative="more"),
            InputError,
            "alternative: expected one of 'two-sided', 'less', 'greater'",
        ),
        (lambda: CostDifference(PAIRED, COSTS).test(margin=np.nan), InputError, "margin: .*finite"),
        (
            lambda: CostDifference(PAIRED, COSTS).test("normal", rng=1),
            InputTypeError,
            "rng: the test 'normal' has no such option; it takes none",
        ),
        (
            lambda: CostDifference(PAIRED, COSTS).test("signflip", strata="class"),
            DesignError,
            "'signflip' cannot treat the design 'stratified'; these can: 'bdeltacost', 'exact'",
        ),
    ],
)
def test_bad_input(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_options_of_the_default_method():
    difference = CostDifference(PAIRED, COSTS)
    for call, what in ((difference.interval, "method"), (difference.test, "test")):
        with pytest.raises(InputTypeError, match=f"wieght: the {what} 'extremal' has no such"):
            call(wieght=3)
        assert call(conservative=True) == call(weight=1.0)


def test_too_few_resamples_for_a_test():
    with pytest.raises(InputError, match="n_resamples: 10 resamples are too few"):
        CostDifference(PAIRED, COSTS).test("bdeltacost", n_resamples=10)
    with pytest.raises(InputError, match="n_resamples: expected a whole number, 1 or more"):
        CostDifference(PAIRED, COSTS).test("signflip", n_resamples=0)


def test_no_p_value_is_zero():
    clear = PairedConfusion([[[900, 0], [0, 900]], [[5, 5], [9, 0]]], labels=[0, 1])
    for method in ("exact", "extremal", "normal"):
        assert 0 < CostDifference(clear, COSTS).test(method).p_value < 1e-9


def test_identical_classifiers_cost_the_same():
    same = compare([0, 1] * 20, [0, 1] * 20, [0, 1] * 20, COSTS)
    assert "first costs the same per decision as second" in same.summary()


def test_column_constants_that_cost_digits_change_nothing():
    costs = CostMatrix([[0, 0.3], [0.3, 0]], rows="predicted", labels=[0, 1])
    moved = CostMatrix(costs.values + np.array([1 / 3, 1e9]), rows="predicted", labels=[0, 1])
    one, other = CostDifference(PAIRED, costs), CostDifference(PAIRED, moved)
    assert list(other.interval()) == pytest.approx(list(one.interval()), abs=1e-5)


def test_groups_stay_groups_in_each_estimate():
    y_true = np.tile([0, 1], 30)
    difference = compare(y_true, y_true, 1 - y_true, COSTS, groups=np.repeat(range(12), 5))
    assert [outcomes_behind(each).design for each in difference.estimates()] == ["grouped"] * 2


@pytest.mark.filterwarnings("ignore::stakes.errors.NotClaimedWarning")
def test_groups_without_any_disagreement_are_worth_few_draws():
    """Nothing is known of the correlation then, for a difference as for a cost."""
    y_true = np.tile([0, 1], 50)
    groups = np.repeat(range(10), 10)
    same = compare(y_true, y_true, y_true, COSTS, groups=groups)
    ten = compare(y_true[:10], y_true[:10], y_true[:10], COSTS).interval(method="extremal")
    # Half of the rows of a group have the class in which the largest difference is possible.
    assert 0.4 * ten.high < same.interval().high < ten.high


def test_differences_that_a_huge_cost_hides_are_refused():
    costs = CostMatrix(
        [[0, 1, 1e16], [1, 0, 1e16], [5, 7, 0]], rows="predicted", labels=["a", "b", "c"]
    )
    actual = ["a"] * 50 + ["b"] * 50
    with pytest.raises(InputError, match="costs: a difference of 6 cannot be told beside a cost"):
        compare(actual, ["b"] * 50 + ["c"] * 50, ["a"] * 100, costs)
    smaller = CostMatrix(np.minimum(costs.values, 1e12), rows="predicted", labels=costs.labels)
    found = compare(actual, ["b"] * 50 + ["c"] * 50, ["a"] * 100, smaller)
    assert found.difference == pytest.approx((50 + 350 - 50) / 100)


@pytest.mark.parametrize("names", [None, ("a",), ("a", "b", "c"), ("a", "a"), "ab"])
def test_names_of_two(names):
    with pytest.raises(InputError, match="names: expected two different names, got"):
        CostDifference(PAIRED, COSTS, names)
