"""One method by default, for all counts: STATISTICS §11 with its numbers, and §13's regret.

The extremal interval and test are checked against closed forms (beta distributions), quadrature
and enumeration, which share no code with them.
"""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import beta, binom, gamma, poisson

from stakes import (
    Confusion,
    CostDifference,
    CostEstimate,
    CostMatrix,
    CostSample,
    ExampleCosts,
    PairedConfusion,
    compare,
    compare_many,
    evaluate,
)
from stakes.infer import batch_intervals
from stakes.infer._inference import DEFAULT
from stakes.infer._outcomes import Outcomes, make_stratum
from stakes.infer.batch import batch_p_values
from stakes.infer.estimate import against_constant

ALIKE = CostMatrix.zero_one([0, 1])
COSTS = CostMatrix.from_errors(false_positive=1, false_negative=10)


def discordant(b, c, n=300):
    """Return the difference of two models of which the first alone is wrong b times, and c."""
    table = np.zeros((2, 2, 2), dtype=int)
    table[1, 0, 0], table[0, 1, 0], table[0, 0, 0] = b, c, n - b - c
    return CostDifference(PairedConfusion(table, labels=[0, 1]), ALIKE)


# The numbers.


@pytest.mark.parametrize(
    ("b", "c", "p"), [(20, 10, 0.0861991656), (6, 0, 0.0163842667), (22, 8, 0.0132524388)]
)
def test_equal_costs(b, c, p):
    """The p-value is 2·min(P(Beta(b + w, c) ≥ ½), P(Beta(b, c + w) ≤ ½))."""
    assert discordant(b, c).test().p_value == pytest.approx(p, abs=1e-10)
    below = beta.cdf(0.5, b, c + 0.7)
    above = beta.sf(0.5, b + 0.7, c) if c else 1.0
    assert 2 * min(below, above) == pytest.approx(p, abs=1e-10)


@pytest.mark.parametrize("counts", [(20, 10), (6, 0), (22, 8), (1, 0), (3, 3), (40, 61)])
def test_with_the_full_weight_it_is_mcnemars_exact_test(counts):
    difference = discordant(*counts)
    full = difference.test(conservative=True).p_value
    assert full == pytest.approx(difference.test("mcnemar").p_value, rel=1e-7)
    if counts == (20, 10):
        assert full == pytest.approx(0.0987371467, abs=5e-11)


def test_five_outcomes():
    sample = CostSample(np.repeat([-5, -1, 0, 1, 5], [4, 14, 267, 12, 3]))
    estimate = CostEstimate(sample)
    limits = {"abs": 5e-8}
    assert tuple(estimate.interval()) == pytest.approx((-0.1354763, 0.0859908), **limits)
    assert tuple(estimate.interval(conservative=True)) == pytest.approx(
        (-0.1422527, 0.0929905), **limits
    )
    one_sided = [estimate.interval(1 - 2 * a, conservative=True).high for a in (0.05, 0.05 / 3)]
    assert one_sided == pytest.approx([0.0750433, 0.1029712], **limits)


def test_one_sided_claims_use_the_full_weight():
    """Zero errors at w = .7 have a one-sided 95% limit of Gamma(.7), which covers too little."""
    limits = [gamma.isf(0.05, weight) for weight in (0.7, 1)]
    assert limits == pytest.approx([2.3826, 2.9957], abs=5e-5)
    assert [1 - np.exp(-each) for each in limits] == pytest.approx([0.908, 0.95], abs=5e-4)
    difference = discordant(12, 20)
    one, given = (
        difference.test(alternative="less", margin=0.01, **options).p_value
        for options in ({}, {"conservative": True})
    )
    assert one == given > difference.test(alternative="less", margin=0.01, weight=0.7).p_value


def beside_one_cell(n, cost=10_000.0):
    """Return the upper limit where a tenth of n rows cost 1 and one unobserved cell costs more.

    It is the quantile of cost·E + (1 - E)·S with E ~ Beta(.7, n) and S ~ Beta(n/10, 9n/10).
    """
    extra, observed = beta(0.7, n), beta(n / 10, n - n / 10)

    def beyond(limit):
        def part(share):
            return observed.sf((limit - cost * share) / (1 - share)) * extra.pdf(share)

        ends = max(limit - 1, 0) / cost, limit / cost
        return extra.sf(ends[1]) + quad(part, *ends, epsabs=1e-13, limit=400)[0]

    start = cost * extra.isf(0.025)
    return brentq(lambda limit: beyond(limit) - 0.025, 0.9 * start, 1.2 * start)


def ten_classes(n, unseen=10_000):
    """Return an accuracy of .9 with ten classes, errors that cost 1, and one unobserved cell."""
    counts = np.diag(np.full(10, round(0.9 * n) // 10))
    errors = itertools.cycle((i, j) for i in range(10) for j in range(10) if i not in (j, 0))
    for cell in itertools.islice(errors, n - counts.sum()):
        counts[cell] += 1
    values = 1.0 - np.eye(10)
    values[0, 1] = unseen
    costs = CostMatrix(values, rows="predicted", labels=range(10))
    return CostEstimate(Confusion(counts, labels=range(10)), costs)


@pytest.mark.parametrize(
    ("n", "limit", "without"), [(300, 100.3, 0.139), (2000, 15.19, 0.114), (20_000, 1.61, 0.104)]
)
def test_one_cell_that_was_never_observed_makes_the_limit(n, limit, without):
    """STATISTICS §11 states 100.3, 15.17 and 1.62: quadrature gives 100.32, 15.191 and 1.610."""
    estimate = ten_classes(n)
    assert (estimate.n, estimate.cost) == (n, pytest.approx(0.1))
    high = estimate.interval().high
    assert high == pytest.approx(beside_one_cell(n), rel=1e-7)
    assert high == pytest.approx(limit, rel=3e-4)
    rest = estimate.interval(impossible=[(0, 1)]).high
    assert rest == pytest.approx(without, abs=5e-4)
    assert rest == pytest.approx(beta.ppf(0.975, n / 10 + 0.7, 0.9 * n), rel=1e-9)
    found = estimate.unobserved()
    assert (found.decision, found.label, found.cost) == (0, 1, 10_000)
    assert (found.limit, found.without) == (high, rest)
    assert found.rows == round(gamma.isf(0.025, 0.7) * 10_000 / (high / 2))


def test_two_thousand_rows_without_the_cell():
    estimate = ten_classes(2000)
    assert estimate.interval(impossible=[(0, 1)]).high == pytest.approx(0.113848, abs=5e-7)


def test_the_sentence_about_a_cell_that_was_never_observed():
    assert ten_classes(2000).unobserved().summary("EUR") == (
        "15.1 EUR of the upper limit 15.2 EUR is one cell that was never observed (predicted 0, "
        "actual 1, cost 10,000 EUR). If it cannot occur, mark it impossible: the limit is then "
        "0.114 EUR. Otherwise a limit of 7.60 EUR needs about 3,980 rows."
    )


def test_nothing_is_said_where_the_cell_makes_less_than_half_of_the_arm():
    for unseen, said in ((5.0, False), (30.0, True)):
        costs = CostMatrix([[0, unseen], [1, 0]], rows="predicted", labels=[0, 1])
        estimate = CostEstimate(Confusion([[60, 0], [40, 100]], labels=[0, 1]), costs)
        high, rest = estimate.interval().high, estimate.interval(impossible=[(0, 1)]).high
        assert (high - rest > (high - estimate.cost) / 2) == said
        assert (estimate.unobserved() is not None) == said
    once = CostEstimate(Confusion([[900, 1], [200, 900]], labels=[0, 1]), COSTS)
    assert once.unobserved() is None  # it was observed
    three = CostMatrix([[0, 9, 9], [1, 0, 1], [1, 1, 0]], rows="predicted", labels=range(3))
    table = Confusion([[50, 0, 0], [1, 50, 1], [0, 1, 50]], labels=range(3))
    assert CostEstimate(table, three).unobserved() is None  # two cells, and each keeps the limit
    assert CostEstimate(CostSample([0, 1, 5], high=900)).unobserved() is None


@pytest.mark.filterwarnings("ignore::stakes.errors.NotClaimedWarning")
@pytest.mark.parametrize(
    "options",
    [
        {"groups": np.repeat(range(40), 5)},
        {"sample_weight": np.tile([0.5, 3.0], 100)},
        {"class_priors": [0.9, 0.1]},
        {"strata": np.repeat(["a", "b"], 100), "population": {"a": 500, "b": 700}},
        {"population": 900},
    ],
    ids="+".join,
)
def test_the_sentence_in_other_designs_gives_no_number_of_rows(options):
    y_true = np.tile([0, 0, 1, 1], 50)
    estimate = evaluate(y_true, np.tile([0, 1, 1, 1], 50), COSTS, **options)
    steep = CostMatrix.from_errors(false_positive=1, false_negative=10_000)
    found = evaluate(y_true, np.tile([0, 1, 1, 1], 50), steep, **options).unobserved()
    assert found.rows is None
    assert found.summary().endswith(" Otherwise only more rows lower it.")
    assert found.limit > 20 * estimate.interval().high
    for always in estimate.constants().values():
        assert always.unobserved() is None


# Size and power, by enumeration.


def sizes(gain, expected, weight, n=10**6):
    """Return the size where +gain is expected so often and -1 `gain` times that, of n rows."""
    rare = np.arange(int(poisson.isf(1e-7, expected)) + 1)
    often = np.arange(*poisson.ppf([1e-6, 1 - 1e-6], expected * gain))
    often = often[:: max(1, len(often) // 120)]
    counts = np.stack(np.meshgrid(rare, often, indexing="ij"), axis=-1).reshape(-1, 2)
    tables = np.column_stack([counts[:, 1], n - counts.sum(axis=1), counts[:, 0]])
    outcomes = Outcomes((make_stratum([-1.0, 0.0, gain], tables),))
    shares = poisson.pmf(counts[:, 0], expected) * poisson.pmf(counts[:, 1], expected * gain)
    shown = batch_p_values(outcomes, weight=weight) <= 0.05
    return shares @ shown / shares.sum(), shares @ (shown & (outcomes.mean > 0)) / shares.sum()


@pytest.mark.parametrize(
    ("gain", "weight", "most"),
    [(1, 0.7, 0.045), (20, 0.7, 0.045), (100, 0.7, 0.0495), (1000, 0.7, 0.058), (1000, 1, 0.043)],
)
def test_the_size_where_one_rarely_loses_much(gain, weight, most):
    """The larger of the two sides errs in 2.5% of test sets at most; the excess is the other."""
    found = np.array([sizes(gain, each, weight) for each in (0.3, 1.2, 2.6, 3.2, 3.4, 3.7, 6, 12)])
    assert found[:, 0].max() <= most
    assert found[:, 0].max() >= 0.8 * most
    assert found[:, 1].max() <= 0.025


def test_size_and_power_at_equal_costs_lie_between_mcnemars_exact_and_mid_p():
    """At 30 discordant rows expected: the size is .038, the power 1 to 3 points below mid-p's."""
    b, c = (each.ravel() for each in np.mgrid[0:80, 0:80])
    few = np.minimum(b, c)
    mid = 2 * binom.cdf(few, b + c, 0.5) - binom.pmf(few, b + c, 0.5)
    with np.errstate(invalid="ignore"):
        below = np.where(b > 0, beta.cdf(0.5, b, c + 0.7), 1.0)
        above = np.where(c > 0, beta.sf(0.5, b + 0.7, c), 1.0)
    tests = {
        "extremal": 2 * np.minimum(below, above),
        "exact": 2 * binom.cdf(few, b + c, 0.5),
        "mid": mid,
    }
    for at in (10, 345, 2000):
        if b[at] + c[at]:
            found = discordant(int(b[at]), int(c[at])).test().p_value
            assert found == pytest.approx(min(1, tests["extremal"][at]), abs=1e-9)
    for share in (0.5, 0.7, 0.75):
        chances = poisson.pmf(b, 30 * share) * poisson.pmf(c, 30 * (1 - share))
        power = {name: chances @ (p <= 0.05) for name, p in tests.items()}
        assert power["exact"] < power["extremal"] < power["mid"]
        if share == 0.5:
            assert power["extremal"] == pytest.approx(0.038, abs=5e-4)
        else:
            assert 0.01 < power["mid"] - power["extremal"] < 0.03


# One method.


def test_one_more_row_never_changes_the_method():
    """The costliest disagreement is observed 0 to 12 times: no jump where a rule would switch."""
    widths = []
    for often in range(13):
        table = np.zeros((2, 2, 2), dtype=int)
        table[0, 1, 1], table[1, 0, 1], table[1, 0, 0], table[0, 0, 0] = often, 6, 20, 900
        difference = CostDifference(PairedConfusion(table, labels=[0, 1]), COSTS)
        interval, test = difference.interval(), difference.test()
        assert interval.method == test.method == DEFAULT == "extremal"
        widths.append(interval.width)
    steps = np.diff(widths)
    assert (steps > 0).all()
    assert (np.diff(steps) < 0).all()  # each further one adds less


@pytest.mark.filterwarnings("ignore::stakes.errors.NotClaimedWarning")
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"groups": np.repeat(range(40), 5)},
        {"sample_weight": np.tile([1, 2.0], 100)},
        {"class_priors": [0.9, 0.1]},
        {"strata": np.repeat(["a", "b"], 100)},
        {"strata": np.repeat(["a", "b"], 100), "population": {"a": 100, "b": 700}},
        {"population": 200},
        {"groups": np.repeat(range(40), 5), "strata": np.tile(["a", "b"], 100)},
    ],
    ids="+".join,
)
@pytest.mark.parametrize("kind", ["matrix", "examples"])
def test_intervals_and_tests_agree_in_every_design(options, kind):
    """0 lies outside the interval at the confidence 1 - α exactly when p is at most α."""
    rng = np.random.default_rng(3)
    y_true = rng.integers(0, 2, 200)
    first = np.where(rng.random(200) < 0.05, 1 - y_true, y_true)
    single = ExampleCosts.from_matrix(COSTS, y_true, rng.uniform(1, 2, 200))
    costs = COSTS if kind == "matrix" else single
    for rate in (0.0, 0.1, 0.3):
        second = np.where(rng.random(200) < rate, 1 - y_true, y_true)
        difference = compare(y_true, first, second, costs, **options)
        assert difference.interval().method == difference.test().method == "extremal"
        p = difference.test().p_value
        assert (0 in difference.interval()) == (p > 0.05)
        if 1e-6 < p < 0.99:
            assert 0 in difference.interval(1 - p * 0.999)
            assert 0 not in difference.interval(1 - p * 1.001)
    same = compare(y_true, first, first, costs, **options)
    assert same.test().p_value == same.test(alternative="less").p_value == 1
    assert 0 in same.interval()


@given(st.lists(st.integers(0, 8), min_size=7, max_size=7), st.sampled_from([0.5, 0.9, 0.95]))
def test_margins_outside_the_one_sided_limit_are_those_shown(counts, confidence):
    table = np.array([40, *counts]).reshape(2, 2, 2)
    difference = CostDifference(PairedConfusion(table, labels=[0, 1]), COSTS)
    alpha = 1 - confidence
    if alpha < 0.5:
        high = difference.interval(1 - 2 * alpha, conservative=True).high
        for margin, shown in ((high + 1e-6, True), (high - 1e-6, False)):
            found = difference.test(alternative="less", margin=margin, confidence=confidence)
            assert found.rejected == shown


def test_batches_and_single_tables_use_the_same_method():
    tables = np.random.default_rng(0).multinomial(90, np.full(8, 0.125), 6).reshape(-1, 2, 2, 2)
    for (low, high), table in zip(
        np.transpose(batch_intervals(tables, COSTS)), tables, strict=True
    ):
        alone = CostDifference(PairedConfusion(table, labels=[0, 1]), COSTS).interval()
        assert (low, high) == pytest.approx(tuple(alone), rel=1e-9)


# Only outcomes that are possible for the pair are its extremes.


def test_a_constant_against_a_model_has_only_the_outcomes_that_can_occur():
    rng = np.random.default_rng(1)
    y_true = (rng.random(1000) < 0.2).astype(int)
    decided = np.where(rng.random(1000) < 0.02, 1 - y_true, y_true)
    always = np.ones(1000, dtype=int)
    table = Confusion.from_labels(y_true, decided)
    nested = against_constant(table, COSTS, [1, None], evaluate(y_true, decided, COSTS).design)
    column = compare(y_true, always, decided, COSTS)
    assert nested.cost == pytest.approx(column.difference)
    assert nested.interval().high < column.interval().high
    # "Always 1" never misses, and costs 1 more where the model finds a negative: exact limits.
    errors, misses = table.counts[0, 0], table.counts[0, 1]
    atoms = CostSample(
        np.repeat([-10.0, 0.0, 1.0], [misses, 1000 - errors - misses, errors]), low=-10, high=1
    )
    assert tuple(nested.interval()) == pytest.approx(tuple(CostEstimate(atoms).interval()))


# What a choice can cost (§13).


def test_regret_is_the_largest_one_sided_limit_at_a_share_of_the_error_rate():
    """R = max(0, max over k of the upper limit of cost(A) - cost(k) at α/(m - 1)), w = 1."""
    rng = np.random.default_rng(7)
    y_true = rng.integers(0, 2, 600)
    decided = {
        name: np.where(rng.random(600) < rate, 1 - y_true, y_true)
        for name, rate in (("a", 0.02), ("b", 0.02), ("c", 0.04))
    }
    for costs in (ALIKE, COSTS):
        ranking = compare_many(y_true, decided, costs)
        best, *others = ranking.competitors
        assert len(others) == 4  # both constants compete
        uppers = []
        for name in others:
            if name in decided:
                difference = compare(y_true, decided[best], decided[name], costs)
                uppers.append(difference.interval(1 - 2 * 0.05 / 4, conservative=True).high)
        assert ranking.regret() == pytest.approx(max(0.0, *uppers), rel=1e-12)
        assert ranking.regret() > 0
    pair = compare(y_true, decided["a"], decided["b"], ALIKE)
    wrong = [
        int(((decided[one] != y_true) & (decided[other] == y_true)).sum())
        for one, other in (("a", "b"), ("b", "a"))
    ]
    found = pair.interval(1 - 2 * 0.0125, conservative=True).high
    alone = CostEstimate(
        CostSample(np.repeat([-1, 0, 1], [wrong[1], 600 - sum(wrong), wrong[0]]), low=-1, high=1)
    )
    assert found == pytest.approx(alone.interval(0.975, conservative=True).high, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.05, 0.05 / 3])
def test_the_limit_behind_the_regret_without_any_loss(alpha):
    """Where the other was never cheaper, the limit is that of an unobserved loss: Beta(1, n)."""
    difference = discordant(0, 0, n=200)
    high = difference.interval(1 - 2 * alpha, conservative=True).high
    assert high == pytest.approx(beta.isf(alpha, 1, 200), rel=1e-9)
