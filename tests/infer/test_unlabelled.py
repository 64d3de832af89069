"""Labels on some rows only: with a judge's verdicts, known shares, or no other information."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import binom, hypergeom

from stakes import CostMatrix, Design, GroupedConfusion, compare, evaluate
from stakes.counts import CostSample
from stakes.errors import DesignError, InputError, InputTypeError, LabelError, NotClaimedWarning
from stakes.infer import CostDifference, CostEstimate

COSTS = CostMatrix.from_errors(
    false_positive=5, false_negative=500, pos_label="fraud", neg_label="ok"
)


def pool(n=5000, labels=400, rng=0):
    """Return classes, decisions, verdicts and which rows have labels."""
    rng = np.random.default_rng(rng)
    actual = np.where(rng.random(n) < 0.02, "fraud", "ok").astype(object)
    decided = np.where(
        rng.random(n) < np.where(actual == "fraud", 0.8, 0.03), "fraud", "ok"
    ).astype(object)
    verdict = np.where(
        rng.random(n) < np.where(actual == "fraud", 0.9, 0.02), "fraud", "ok"
    ).astype(object)
    seen = np.zeros(n, dtype=bool)
    seen[rng.choice(n, labels, replace=False)] = True
    return actual, decided, verdict, seen


def partly(actual, seen):
    return np.where(seen, actual, None)


class TestJudge:
    """Post-stratification by decision and verdict."""

    def test_is_the_stratified_estimate_of_the_rows_given(self):
        actual, decided, verdict, seen = pool(labels=2000)
        found = evaluate(partly(actual, seen), decided, COSTS, judge=verdict)
        total = 0.0
        for d, v in itertools.product(("ok", "fraud"), repeat=2):
            rows = (decided == d) & (verdict == v)
            wrong = rows & seen & (actual != d)
            cost = 500 if d == "ok" else 5
            total += rows.sum() * cost * wrong.sum() / (rows & seen).sum()
        assert found.cost == pytest.approx(total / len(actual), rel=1e-12)
        assert found.n == 2000
        assert found.total == pytest.approx(found.cost * 5000)
        low, high = found.interval()
        assert low < found.cost < high

    def test_a_stratum_has_only_the_costs_of_its_decision(self):
        """The strata are those of a design that is written out by hand."""
        actual, decided, verdict, seen = pool(labels=2000)
        found = evaluate(partly(actual, seen), decided, COSTS, judge=verdict)
        names = [f"{d}: judge {v}" for d, v in zip(decided, verdict, strict=True)]
        sizes = {name: names.count(name) for name in set(names)}
        table = GroupedConfusion.from_labels(
            actual[seen],
            decided[seen],
            strata=np.array(names)[seen],
            labels=COSTS.labels,
            decisions=COSTS.decisions,
        )
        design = Design(population=sizes, decided={name: name.split(":")[0] for name in sizes})
        assert tuple(CostEstimate(table, COSTS, design).interval()) == tuple(found.interval())
        wide = CostEstimate(table, COSTS, Design(population=sizes)).interval()
        # Without `decided`, alarms could cost as much as misses. In so small a pool, limits lie on
        # a lattice.
        assert wide.high > found.interval().high * (1 - 1e-8)

    def test_verdicts_are_merged_until_five_have_labels(self):
        actual, decided, verdict, seen = pool(labels=60)
        found = evaluate(
            partly(actual, seen), decided, COSTS, judge={"llm": verdict, "old": actual}
        )
        labelled = found.confusion.counts.sum(axis=(1, 2))
        blocks = [name.partition(":")[0] for name in found.confusion.strata]
        for n, block in zip(labelled, blocks, strict=True):
            assert n >= 5 or blocks.count(block) == 1
        assert sum(found.design.population.values()) == len(actual)

    def test_numbers_are_cut_into_bins(self):
        actual, decided, _, seen = pool()
        score = np.random.default_rng(1).random(len(actual))
        found = evaluate(partly(actual, seen), decided, COSTS, judge=score)
        assert any(" to " in name for name in found.confusion.strata)

    @pytest.mark.parametrize("kind", [list, pd.Series, pl.Series])
    def test_every_kind_of_missing_label(self, kind):
        actual, decided, verdict, seen = pool()
        expected = evaluate(partly(actual, seen), decided, COSTS, judge=verdict)
        assert (
            evaluate(kind(partly(actual, seen)), kind(decided), COSTS, judge=kind(verdict))
            == expected
        )
        numbers = CostMatrix.from_errors(false_positive=5, false_negative=500)
        classes, floats = (actual == "fraud").astype(int), np.where(seen, actual == "fraud", np.nan)
        as_numbers = evaluate(floats, (decided == "fraud").astype(int), numbers, judge=verdict)
        assert as_numbers.cost == pytest.approx(expected.cost)
        nullable = pd.Series(classes, dtype="Int64").where(seen)
        assert (
            evaluate(nullable, (decided == "fraud").astype(int), numbers, judge=verdict)
            == as_numbers
        )

    def test_all_labels_leave_nothing_to_know(self):
        actual, decided, verdict, _ = pool(n=500)
        found = evaluate(actual, decided, COSTS, judge=verdict)
        low, high = found.interval()
        assert low == pytest.approx(found.cost) == pytest.approx(high)
        assert found.cost == pytest.approx(evaluate(actual, decided, COSTS).cost)

    def test_the_process_behind_the_rows_is_less_certain(self):
        actual, decided, verdict, seen = pool(n=1000)
        known = evaluate(partly(actual, seen), decided, COSTS, judge=verdict).interval()
        process = evaluate(
            partly(actual, seen), decided, COSTS, judge=verdict, population="infinite"
        )
        assert process.interval().width > known.width
        counted = process.design.rows_counted
        assert counted == 1000
        shares = Design(population=process.design.population, decided=process.design.decided)
        assert (
            process.interval().width
            > CostEstimate(process.confusion, COSTS, shares).interval().width
        )
        assert process.cost == pytest.approx(CostEstimate(process.confusion, COSTS, shares).cost)

    def test_worth(self):
        actual, decided, _, seen = pool(n=20_000, labels=800)
        truth = partly(actual, seen)
        good = evaluate(truth, decided, COSTS, judge=actual).worth
        useless = evaluate(truth, decided, COSTS, judge=np.arange(len(actual)) % 2).worth
        assert good.equal > 1.5 * useless.equal
        assert good.labels == 800
        assert "at random; 800 were given" in good.summary()
        with pytest.raises(DesignError, match="several strata"):
            _ = evaluate(actual, decided, COSTS).worth

    def test_what_ifs_work(self):
        actual, decided, verdict, seen = pool()
        found = evaluate(partly(actual, seen), decided, COSTS, judge=verdict)
        assert found.contributions().sum() == pytest.approx(found.cost)
        assert found.best_constant()[0] in COSTS.decisions
        assert 0 < found.error_rate < 1
        assert found.interval(method="guaranteed").width > found.interval().width
        assert "of them with labels" in found.summary()

    def test_groups_inside_strata(self):
        actual, decided, verdict, seen = pool()
        groups = np.arange(len(actual)) // 4
        found = evaluate(partly(actual, seen), decided, COSTS, judge=verdict, groups=groups)
        plain = evaluate(partly(actual, seen), decided, COSTS, judge=verdict)
        assert found.cost == pytest.approx(plain.cost)
        assert found.interval().high > 0

    def test_strata_are_kept_apart(self):
        actual, decided, verdict, seen = pool()
        region = np.where(np.arange(len(actual)) % 2, "north", "south")
        found = evaluate(partly(actual, seen), decided, COSTS, judge=verdict, strata=region)
        assert {name.split(",")[0] for name in found.confusion.strata} == {"north", "south"}


class TestCompare:
    """Two models, where rows on which they agree need no label."""

    def test_only_disagreements_are_labelled(self):
        actual, first, _, _ = pool(n=20_000)
        second = np.where(np.random.default_rng(5).random(len(first)) < 0.01, "ok", first)
        apart = first != second
        truth = np.where(apart, actual, None)
        found = compare(truth, first, second, COSTS, unlabelled="bounds")
        low, high = found.interval()
        exact = compare(actual, first, second, COSTS).difference
        assert low == pytest.approx(exact) == pytest.approx(high)
        assert found.difference == pytest.approx(exact)
        each = found.estimates()
        assert each[0].interval().width > 10  # rows that both decided alike have no labels

    def test_judge(self):
        actual, first, verdict, seen = pool(n=20_000, labels=3000)
        rng = np.random.default_rng(5)
        second = np.where(rng.random(len(first)) < 0.02, "ok", first).astype(object)
        found = compare(partly(actual, seen), first, second, COSTS, judge=verdict)
        exact = compare(actual, first, second, COSTS).difference
        assert found.interval().low <= exact <= found.interval().high
        assert found.test().p_value > 0
        assert found.worth.equal > 0
        assert (
            CostDifference(found.paired, COSTS, design=found.design).difference == found.difference
        )


class TestBounds:
    """Nothing is known of why labels are missing."""

    def test_every_row_at_its_lowest_and_highest_cost(self):
        actual, decided, _, _ = pool()
        seen = decided == "fraud"
        found = evaluate(partly(actual, seen), decided, COSTS, unlabelled="bounds")
        alarms = 5 * (seen & (actual == "ok")).sum()
        low, high = found.interval()
        assert low == pytest.approx(alarms / 5000)
        assert high == pytest.approx((alarms + 500 * (~seen).sum()) / 5000)
        assert low < found.cost < high


class TestVerified:
    """Shares that were labelled at random, by decision."""

    def test_is_stratified_by_decision(self):
        actual, decided, _, _ = pool()
        rng = np.random.default_rng(3)
        seen = (decided == "fraud") | (rng.random(len(actual)) < 0.05)
        found = evaluate(partly(actual, seen), decided, COSTS, verified={"fraud": 1.0, "ok": 0.05})
        passed = decided == "ok"
        misses = (passed & seen & (actual == "fraud")).sum() / (passed & seen).sum()
        expected = 500 * misses * passed.mean() + 5 * ((~passed) & (actual == "ok")).mean()
        assert found.cost == pytest.approx(expected)

    def test_another_share_is_refused(self):
        actual, decided, _, _ = pool()
        seen = (decided == "fraud") | (np.random.default_rng(3).random(len(actual)) < 0.05)
        truth = partly(actual, seen)
        with pytest.raises(InputError, match="not 1% by chance"):
            evaluate(truth, decided, COSTS, verified={"fraud": 1.0, "ok": 0.01})
        with pytest.raises(LabelError, match="misses 'ok'"):
            evaluate(truth, decided, COSTS, verified={"fraud": 1.0})
        with pytest.raises(LabelError, match="'maybe' is not among"):
            evaluate(truth, decided, COSTS, verified={"fraud": 1.0, "ok": 0.05, "maybe": 0})
        with pytest.raises(InputError, match="from 0 to 1"):
            evaluate(truth, decided, COSTS, verified={"fraud": 1.0, "ok": 5})

    def test_nothing_labelled_of_a_decision_is_its_worst_case(self):
        actual, decided, _, _ = pool()
        seen = decided == "fraud"
        found = evaluate(partly(actual, seen), decided, COSTS, verified={"fraud": 1, "ok": 0})
        bounds = evaluate(partly(actual, seen), decided, COSTS, unlabelled="bounds")
        assert found.interval().high == pytest.approx(bounds.interval().high)


def test_a_missing_label_is_an_error_that_names_the_three():
    actual, decided, _, seen = pool()
    with pytest.raises(LabelError, match="is missing") as raised:
        evaluate(partly(actual, seen), decided, COSTS)
    for name in ("judge=", "verified=", "unlabelled="):
        assert name in str(raised.value)
    with pytest.raises(LabelError, match="judge="):
        compare(partly(actual, seen), decided, decided, COSTS)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"judge": ["ok"] * 3}, InputError, "judge"),
        ({"judge": {}}, InputError, "at least one judge"),
        ({"unlabelled": "mean"}, InputError, "bounds"),
        ({"unlabelled": "bounds", "verified": {"ok": 1}}, InputTypeError, "give one"),
        ({"verified": 0.5}, InputTypeError, "mapping"),
        ({"verified": {"ok": 1}, "sample_weight": [1] * 5000}, DesignError, "are the population"),
        ({"verified": {"ok": 1}, "class_priors": [0.5, 0.5]}, DesignError, "are the population"),
        ({"verified": {"ok": 1}, "population": 7}, InputError, "infinite"),
        ({"verified": {"ok": 1}, "strata": "class"}, DesignError, "no known class"),
    ],
)
def test_bad_input(options, error, message):
    actual, decided, _, seen = pool()
    with pytest.raises(error, match=message):
        evaluate(partly(actual, seen), decided, COSTS, **options)


def test_no_label_at_all():
    with pytest.raises(InputError, match="no row has a label"):
        evaluate([None, None], ["ok", "ok"], COSTS, unlabelled="bounds")


def test_decided_must_be_true():
    table = GroupedConfusion.from_labels([0, 1, 1], [0, 1, 0], strata=["a", "a", "b"])
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    with pytest.raises(InputError, match="'a' has rows with other decisions"):
        CostEstimate(table, costs, Design(population={"a": 9, "b": 5}, decided={"a": 0, "b": 0}))
    with pytest.raises(LabelError, match="'c' is not among the strata"):
        CostEstimate(table, costs, Design(population={"a": 9, "b": 5}, decided={"c": 0}))
    with pytest.raises(LabelError, match="7 is not among the decisions"):
        CostEstimate(table, costs, Design(population={"a": 9, "b": 5}, decided={"b": 7}))
    with pytest.raises(InputTypeError, match="mapping"):
        Design(decided=[0])


def test_few_rows_left_are_said_to_be_unmeasured():
    table = GroupedConfusion([[[20, 1], [0, 0]], [[0, 0], [3, 6]]], [0, 1], strata=["a", "b"])
    costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    found = CostEstimate(
        table, costs, Design(population={"a": 25, "b": 9}, decided={"a": 0, "b": 1})
    )
    with pytest.warns(NotClaimedWarning, match="4 rows without a label"):
        found.interval()


# Exact enumeration of small designs, by the outcomes of every possible draw.


def two_strata(wrong, labels, sizes, **options):
    """Return the exact coverage of a pool with so many wrong rows in each of two strata."""
    costs = CostMatrix.from_errors(false_positive=3, false_negative=40)
    truth = (wrong[0] * 40 + wrong[1] * 3) / sum(sizes)
    covered = 0.0
    for x in range(labels[0] + 1):
        for y in range(labels[1] + 1):
            chance = hypergeom.pmf(x, sizes[0], wrong[0], labels[0])
            chance *= hypergeom.pmf(y, sizes[1], wrong[1], labels[1])
            if chance < 1e-12:
                continue
            counts = [[[labels[0] - x, x], [0, 0]], [[0, 0], [y, labels[1] - y]]]
            table = GroupedConfusion(counts, [0, 1], strata=["a", "b"])
            design = Design(
                population=dict(zip("ab", sizes, strict=True)), decided={"a": 0, "b": 1}
            )
            low, high = CostEstimate(table, costs, design).interval(**options)
            covered += chance * (low - 1e-9 <= truth <= high + 1e-9)
    return covered


@pytest.mark.parametrize("wrong", [(0, 0), (1, 5), (3, 10), (8, 2)])
@pytest.mark.parametrize("labels", [(12, 6), (8, 20), (2, 3)])
def test_enumerated_coverage_of_small_pools(wrong, labels):
    sizes = (50, 30)
    assert two_strata(wrong, labels, sizes, conservative=True) >= 0.95
    assert two_strata(wrong, labels, sizes) >= 0.91
    assert two_strata(wrong, labels, sizes, method="guaranteed") >= 0.95


@pytest.mark.parametrize("shares", [(0.02, 0.3), (0.2, 0.01), (0.5, 0.5)])
def test_the_guaranteed_form_of_strata_is_a_fair_bet(shares):
    """The fortune against the true mean has an expected value of 1 at most, and covers."""
    labels, weights, costs = (
        (9, 6),
        (0.7, 0.3),
        CostMatrix.from_errors(false_positive=3, false_negative=40),
    )
    truth = weights[0] * 40 * shares[0] + weights[1] * 3 * shares[1]
    missed = 0.0
    for x in range(labels[0] + 1):
        for y in range(labels[1] + 1):
            chance = binom.pmf(x, labels[0], shares[0]) * binom.pmf(y, labels[1], shares[1])
            counts = [[[labels[0] - x, x], [0, 0]], [[0, 0], [y, labels[1] - y]]]
            table = GroupedConfusion(counts, [0, 1], strata=["a", "b"])
            design = Design(population={"a": 0.7, "b": 0.3}, decided={"a": 0, "b": 1})
            low, high = CostEstimate(table, costs, design).interval(0.9, "guaranteed")
            missed += chance * (not low <= truth <= high)
    assert missed <= 0.1


def test_three_outcomes_against_draws():
    """The upper limit is a quantile of S + E (Top - S), drawn here as the formulas have it."""
    rng = np.random.default_rng(7)
    costs = CostMatrix(
        [[0, 7, 90], [2, 0, 30], [4, 1, 0]], rows="predicted", labels=["a", "b", "c"]
    )
    counts = np.zeros((3, 3, 3), dtype=int)
    counts[0, 0], counts[1, 1], counts[2, 2] = [60, 5, 1], [1, 40, 4], [3, 2, 20]
    rows = {"x": 70_000, "y": 50_000, "z": 30_000}
    table = GroupedConfusion(counts, costs.labels, strata=list(rows))
    decided = dict(zip(rows, costs.labels, strict=True))
    high = CostEstimate(table, costs, Design(population=rows, decided=decided)).interval().high
    values, total = costs.values, sum(rows.values())
    n = counts.sum(axis=(1, 2))
    x = np.array([counts[k, k] for k in range(3)])
    left = (np.array(list(rows.values())) - n) / total
    spans, tops = np.ptp(values, axis=1), values.max(axis=1)
    means = (x * values).sum(axis=1) / n
    ranges, gains = left * spans, left * (tops - means)
    first = ranges.sum() / (ranges / n).max()
    second = min(first, gains.sum() / (gains / n).max())
    draws = np.minimum(n, (n - 1) * (first + 1) / (first - 1) - 1)
    size, sums = 400_000, 0.0
    for k in range(3):
        sums = sums + left[k] * (rng.dirichlet(draws[k] * x[k] / n[k], size) @ values[k])
    extra = rng.beta(0.7, second, size)
    known = (x * values).sum() / total
    drawn = known + sums + extra * (left @ tops - sums)
    assert high == pytest.approx(np.quantile(drawn, 0.975), rel=4e-3)


def test_costs_that_differ_between_strata():
    """Bounds of a stratum are those of its own examples."""
    values = [0.0] * 50 + [8.0] + [0.0] * 20
    strata = ["small"] * 51 + ["large"] * 20
    bounds = {"small": (0, 10), "large": (0, 1000)}
    rows = {"small": 9000, "large": 20}
    sample = CostSample(values, strata=strata, bounds=bounds)
    found = CostEstimate(sample, None, Design(population=rows))
    everywhere = CostEstimate(
        CostSample(values, 0, 1000, strata=strata), None, Design(population=rows)
    )
    assert found.interval().high < everywhere.interval().high / 20
    assert (sample.low, sample.high) == (0, 1000)
    assert sample.swapped().bounds["small"] == (-10, 0)
    assert sample == CostSample(values, strata=strata, bounds=bounds)
    assert hash(sample) == hash(CostSample(values, strata=strata, bounds=bounds))
    assert CostSample(**sample.to_dict()) == sample
    assert (sample + sample).bounds == sample.bounds
    with pytest.raises(InputError, match="do not contain"):
        CostSample(values, strata=strata, bounds={"small": (0, 5), "large": (0, 1)})
    with pytest.raises(InputError, match="mapping"):
        CostSample(values, strata=strata, bounds=[0, 1])
    with pytest.raises(DesignError, match="bounds"):
        sample + CostSample(values, strata=strata)
