"""Measured coverage of audits: planned labels, judges good and bad, amounts, and two models."""

from functools import cache

import numpy as np
import pytest
from _helpers.judge import at_least, at_most

from stakes import (
    CostDifference,
    CostEstimate,
    CostMatrix,
    Design,
    GroupedConfusion,
    PairedConfusion,
    evaluate,
)
from stakes.audit._allocation import Stratum, allocate
from stakes.counts import CostSample
from stakes.infer._inference import outcomes_behind
from stakes.infer.methods import extremal

pytestmark = [
    pytest.mark.statistical,
    pytest.mark.filterwarnings("ignore::stakes.errors.StakesWarning"),
]
TRIALS = 300
COSTS = CostMatrix.from_errors(false_positive=5, false_negative=500)
ALWAYS = (-np.inf, np.inf)
SPANS = (500.0, 5.0)
"""Costs of a miss and of a false alarm."""


def covered(estimate, truth, *, conservative):
    """Tell whether the default interval contains the truth, by its tails there."""
    tails = extremal.tails(outcomes_behind(estimate), truth, 0.05, conservative=conservative)
    return min(float(tail[0]) for tail in tails) >= 0.025


def kinds():
    """Return pools by name: sizes of strata, the wrong rows of each, and labels."""
    rng = np.random.default_rng(8)
    found = {}
    for n in (4, 12, 40):
        sizes = np.maximum((rng.dirichlet(np.full(n, 0.5)) * 30_000).astype(int), 60)
        found[f"{n} strata, rare"] = (sizes, rng.binomial(sizes, 0.0005), 400)
        # The judge is wrong: it calls bad rows good.
        adverse = np.where(sizes == sizes.max(), sizes // 200, 0)
        found[f"{n} strata, all in the largest"] = (sizes, adverse, 400)
        small = np.where(sizes == sizes.min(), sizes // 2, 0)
        found[f"{n} strata, all in the smallest"] = (sizes, small, 400)
    found["a small pool"] = (np.array([300, 150, 80]), np.array([2, 0, 5]), 90)
    found["common"] = (np.array([20_000, 4000, 900]), np.array([200, 400, 300]), 300)
    return found


def measured(sizes, wrong, labels):
    """Return which of many planned audits cover, by whether the weight is 1."""
    decided = np.arange(len(sizes)) % 2
    strata = [
        Stratum(str(k), (int(d),), (), ALWAYS, ALWAYS, int(size), 0.0, SPANS[d], 0.001)
        for k, (d, size) in enumerate(zip(decided, sizes, strict=True))
    ]
    plan = allocate(strata, labels, 0.95)
    assert all(each.whole or each.rows - each.labels >= 10 for each in plan)
    return measured_at(sizes, wrong, np.array([each.labels for each in plan]))


@cache
def _measured_at(sizes, wrong, drawn):
    sizes, wrong, drawn = map(np.array, (sizes, wrong, drawn))
    rng = np.random.default_rng(1)
    decided = np.arange(len(sizes)) % 2
    spans = np.array(SPANS)[decided]
    names = [f"{k:02d}" for k in range(len(sizes))]
    design = Design(
        population=dict(zip(names, sizes.tolist(), strict=True)),
        decided=dict(zip(names, decided.tolist(), strict=True)),
    )
    truth = float((wrong * spans).sum() / sizes.sum())
    hits = {False: [], True: []}
    for _ in range(TRIALS):
        seen = rng.hypergeometric(wrong, sizes - wrong, drawn)
        counts = np.zeros((len(sizes), 2, 2), dtype=int)
        counts[np.arange(len(sizes)), decided, 1 - decided] = seen
        counts[np.arange(len(sizes)), decided, decided] = drawn - seen
        estimate = CostEstimate(GroupedConfusion(counts, [0, 1], strata=names), COSTS, design)
        for conservative, each in hits.items():
            each.append(covered(estimate, truth, conservative=conservative))
    return hits


def measured_at(sizes, wrong, drawn):
    """Return which of many audits with so many labels cover; the same ones are measured once."""
    return _measured_at(*(tuple(each.tolist()) for each in (sizes, wrong, drawn)))


@pytest.mark.parametrize("name", kinds())
def test_planned_audits(name):
    """At least 95% with the weight 1, and 91% with 0.7, whatever the judge is worth."""
    hits = measured(*kinds()[name])
    assert at_least(sum(hits[True]), TRIALS, 0.95)
    assert at_least(sum(hits[False]), TRIALS, 0.91)


def test_planned_audits_on_average():
    """At least 93% with the weight 0.7, over all kinds of pools."""
    shares = [sum(measured(*pool)[False]) / TRIALS for pool in kinds().values()]
    assert at_least(np.mean(shares) * TRIALS * len(shares), TRIALS * len(shares), 0.93)


FEW = {
    "none, one and two labels": ([4000, 300, 200, 150], [0.001, 0.05, 0.1, 0.1], [150, 0, 1, 2]),
    "two labels in all but one": (
        [3000, 90, 80, 70, 60],
        [0.002, 0.3, 0, 0.5, 0],
        [80, 2, 2, 2, 2],
    ),
    "strata labelled whole": ([6000, 25, 12, 400], [0.001, 0.2, 0.5, 0.05], [200, 25, 12, 40]),
    "ten rows left": ([2000, 20, 15], [0.002, 0.2, 0.2], [100, 10, 5]),
    "everything in one label": ([500, 300, 300], [0, 0.01, 0.2], [60, 1, 40]),
}


@pytest.mark.parametrize("name", FEW)
def test_strata_with_few_labels(name):
    sizes, shares, drawn = map(np.array, FEW[name])
    hits = measured_at(sizes, np.round(sizes * shares).astype(int), drawn)
    assert at_least(sum(hits[True]), TRIALS, 0.95)
    assert at_least(sum(hits[False]), TRIALS, 0.91)


@pytest.mark.parametrize("rate", [0.003, 0.05])
def test_groups_inside_strata(rate):
    """Customers whose five rows are missed together, or not, in strata by verdict."""
    rng = np.random.default_rng(6)
    customers, rows, hits = 800, 5, {False: 0, True: 0}
    each = np.repeat(np.arange(customers), rows)
    process = 0.9 * rate * 500 + 0.1 * 0.5 * 5
    for _ in range(TRIALS):
        alarm = rng.random(customers) < 0.1
        positive = rng.random(customers) < np.where(alarm, 0.5, rate)
        verdict = rng.random(customers) < np.where(positive, 0.7, 0.1)
        truth = np.full(customers, np.nan)
        seen = rng.permutation(customers)[:200]
        truth[seen] = positive[seen]
        found = evaluate(
            truth[each],
            alarm[each].astype(int),
            COSTS,
            judge=verdict[each].astype(int),
            groups=each,
            population="infinite",
        )
        for conservative in hits:
            hits[conservative] += covered(found, process, conservative=conservative)
    assert at_least(hits[True], TRIALS, 0.95)
    assert at_least(hits[False], TRIALS, 0.91)


@pytest.mark.parametrize("judge", [(0.9, 0.02), (0.5, 0.2), (0.02, 0.05)])
@pytest.mark.parametrize("rate", [0.002, 0.02])
@pytest.mark.parametrize("population", [None, "infinite"])
def test_judges(judge, rate, population):
    """Post-stratified by verdicts, of the rows or of the process behind them."""
    rng = np.random.default_rng(2)
    rows, hits = 3000, {False: 0, True: 0}
    process = 0.95 * rate * 500 + 0.05 * 0.6 * 5
    for _ in range(TRIALS):
        decided = (rng.random(rows) < 0.05).astype(int)
        actual = (rng.random(rows) < np.where(decided == 1, 0.4, rate)).astype(int)
        verdict = (rng.random(rows) < np.where(actual == 1, *judge)).astype(int)
        truth = np.full(rows, np.nan)
        seen = rng.permutation(rows)[:300]
        truth[seen] = actual[seen]
        found = evaluate(truth, decided, COSTS, judge=verdict, population=population)
        missed = ((decided == 0) & (actual == 1)).mean()
        exact = 500 * missed + 5 * ((decided == 1) & (actual == 0)).mean()
        goal = process if population else exact
        for conservative in hits:
            hits[conservative] += covered(found, goal, conservative=conservative)
    assert at_least(hits[True], TRIALS, 0.95)
    assert at_least(hits[False], TRIALS, 0.91)


def test_amounts_that_differ_inside_a_stratum():
    """Strata by factors of two, in proportion to what is at stake."""
    rng = np.random.default_rng(3)
    amounts = rng.lognormal(3, 1.5, 20_000)
    power = np.floor(np.log2(amounts)).astype(int)
    wrong = rng.random(20_000) < 0.002
    truth = float((amounts * wrong).mean())
    strata = []
    for level in np.unique(power):
        inside = power == level
        most = float(amounts[inside].max())
        strata.append(
            Stratum(str(level), ("ok",), (), ALWAYS, ALWAYS, int(inside.sum()), 0.0, most, 0.001)
        )
    plan = allocate(strata, 500, 0.95)
    design = Design(population={each.name: each.rows for each in plan})
    bounds = {each.name: (0.0, each.high) for each in plan}
    hits = {False: 0, True: 0}
    for _ in range(TRIALS):
        values, names = [], []
        for each in plan:
            rows = rng.permutation(np.flatnonzero(power == int(each.name)))[: each.labels]
            values += (amounts[rows] * wrong[rows]).tolist()
            names += [each.name] * len(rows)
        found = CostEstimate(CostSample(values, strata=names, bounds=bounds), None, design)
        for conservative in hits:
            hits[conservative] += covered(found, truth, conservative=conservative)
    assert at_least(hits[True], TRIALS, 0.95)
    assert at_least(hits[False], TRIALS, 0.91)


def paired(rates, rng, labels=500):
    """Label disagreements of 200,000 rows; return by which test the models differ, and how.

    `rates` are the shares of positives among the rows that only the second, and only the first
    model calls positive.
    """
    sizes = np.array([2000, 1000])
    wrong = np.round(sizes * rates).astype(int)
    drawn = np.array([labels * 2 // 3, labels - labels * 2 // 3])
    seen = rng.hypergeometric(wrong, sizes - wrong, drawn)
    counts = np.zeros((3, 2, 2, 2), dtype=int)
    counts[0, 0, 1] = [drawn[0] - seen[0], seen[0]]
    counts[1, 1, 0] = [drawn[1] - seen[1], seen[1]]
    names = ["0 to 1", "1 to 0", "alike"]
    table = GroupedConfusion(counts, [0, 1], strata=names)
    design = Design(
        population=dict(zip(names, [2000, 1000, 197_000], strict=True)),
        decided=dict(zip(names, [(0, 1), (1, 0), (0, 0)], strict=True)),
    )
    costs = CostMatrix.from_errors(false_positive=1, false_negative=50)
    exact = (wrong[0] * 50 - (2000 - wrong[0]) - wrong[1] * 50 + (1000 - wrong[1])) / 200_000
    return CostDifference(table, costs, design=design), exact


def test_two_models_of_the_same_cost_are_rarely_told_apart():
    rng, rejected = np.random.default_rng(4), 0
    # 2,000 additional alarms cost 1 each, and save 50 for each positive among them.
    for _ in range(TRIALS):
        found, exact = paired(np.array([0.0296, 0.0394]), rng)
        assert abs(exact) < 0.002
        rejected += found.test().p_value <= 0.05
    assert at_most(rejected, TRIALS, 0.05)


def test_a_saving_is_shown_that_random_labels_do_not_show():
    rng, shown, at_random = np.random.default_rng(5), 0, 0
    for _ in range(TRIALS):
        found, exact = paired(np.array([0.22, 0.0196]), rng)
        assert exact == pytest.approx(0.102, abs=0.01)
        shown += found.test().p_value <= 0.05 and found.difference > 0
        # Of 500 random labels, about eight are of rows on which the models differ.
        few = rng.hypergeometric(3000, 197_000, 500)
        first = rng.binomial(few, 2 / 3)
        seen = rng.binomial([first, few - first], [0.22, 0.0196])
        counts = np.zeros((2, 2, 2), dtype=int)
        counts[0, 1] = [first - seen[0], seen[0]]
        counts[1, 0] = [few - first - seen[1], seen[1]]
        counts[0, 0, 0] = 500 - few
        costs = CostMatrix.from_errors(false_positive=1, false_negative=50)
        plain = CostDifference(PairedConfusion(counts, [0, 1]), costs)
        at_random += plain.test(method="extremal").p_value <= 0.05
    assert at_least(shown, TRIALS, 0.85)
    assert at_random <= 0.05 * TRIALS
