"""Draws of unequal sizes and several strata: the distributions behind the default interval."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import betainc

from stakes import (
    Confusion,
    CostEstimate,
    CostMatrix,
    CostRanges,
    Design,
    GroupedConfusion,
    JointConfusion,
    cheapest_probability,
    evaluate,
)
from stakes.errors import NotClaimedWarning
from stakes.infer._inference import outcomes_behind
from stakes.infer._outcomes import Outcomes, make_stratum
from stakes.infer._probability import dirichlet_mean, gamma_ratio
from stakes.infer._probability.strata import Contribution, limit_pair
from stakes.infer.methods import METHODS

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=100)
extremal = METHODS["extremal"]


def test_draws_of_one_size_are_a_dirichlet_mean():
    rng = np.random.default_rng(1)
    for atoms in (2, 3, 7):
        costs = np.sort(rng.uniform(-3, 9, atoms))
        alpha, upper = rng.gamma(2, size=(20, atoms)), rng.uniform(0.001, 0.999, 20)
        sizes = np.full(alpha.shape, 2.5)
        found = gamma_ratio.quantile(np.tile(costs, (20, 1)), sizes, alpha, upper)
        assert found == pytest.approx(dirichlet_mean.quantile(costs, alpha, upper), abs=1e-8)


def test_ratios_of_gamma_sums_against_draws():
    rng = np.random.default_rng(2)
    for _ in range(6):
        atoms = int(rng.integers(2, 9))
        costs, sizes = rng.uniform(0, 5, atoms), rng.pareto(1.2, atoms) + 1
        alpha = rng.gamma(1, size=atoms) + 0.2
        weight = rng.gamma(alpha, size=(200_000, atoms)) * sizes
        drawn = weight @ costs / weight.sum(axis=1)
        upper = np.array([0.025, 0.3, 0.975])
        rows = [np.tile(each, (3, 1)) for each in (costs, sizes, alpha)]
        for limit, wanted in zip(gamma_ratio.quantile(*rows, upper), upper, strict=True):
            assert (drawn > limit).mean() == pytest.approx(wanted, abs=0.003)
        at = np.quantile(drawn, [0.1, 0.9])[:, np.newaxis]
        tails = gamma_ratio.upper_tail(sizes * (costs - at), np.tile(alpha, (2, 1)))
        assert tails == pytest.approx([0.9, 0.1], abs=0.004)


def test_what_cannot_happen_has_no_tail():
    b = np.array([[1.0, 2.0], [-1.0, -2.0], [0.0, 0.0], [-1.0, 3.0]])
    alpha = np.array([[1.0, 1.0], [1.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    assert gamma_ratio.upper_tail(b, alpha).tolist() == [1.0, 0.0, 0.0, 0.0]


def strata(*parts):
    made = (make_stratum(costs, counts, weight=weight) for weight, costs, counts in parts)
    return Outcomes(tuple(made), "stratified")


# Shares, costs and counts of each stratum, and the limits with the weights 0.7 and 1, computed
# independently of this code.
KNOWN = [
    ([(1.0, [0, 500], [493, 7])], (2.825081, 13.922233), (2.823381, 14.315808)),
    ([(0.9, [0, 500], [450, 0]), (0.1, [0, 500], [50, 0])], (0, 3.012053), (0, 3.675305)),
    (
        [
            (0.961, [0, 500], [474, 0]),
            (0.011, [0, 500], [19, 3]),
            (0.022, [0, 10], [1, 1]),
            (0.006, [0, 10], [2, 0]),
        ],
        (0.194279, 4.024995),
        (0.190398, 4.684817),
    ),
]


@pytest.mark.parametrize(("parts", "usual", "conservative"), KNOWN)
def test_known_limits_of_strata(parts, usual, conservative):
    outcomes = strata(*parts)
    for options, wanted in (({}, usual), ({"conservative": True}, conservative)):
        low, high = extremal.limits(outcomes, 0.05, **options)
        assert high[0] == pytest.approx(wanted[1], abs=1e-6)
        # Strata of two or more outcomes are summed on a lattice.
        assert low[0] == pytest.approx(wanted[0], rel=2e-5, abs=1e-6)


def test_known_limits_of_a_small_pool():
    """With all rows of 60 and of 12, of which 20 and 12 have labels."""
    parts = [(60, [0, 500], [20, 0]), (12, [0, 10], [9, 3])]
    made = tuple(
        replace(
            make_stratum(costs, counts, weight=rows / 72),
            labelled=sum(counts) / rows,
            left=rows - sum(counts),
        )
        for rows, costs, counts in parts
    )
    outcomes = Outcomes(made, "finite")
    for options, wanted in (({}, 49.027778), ({"conservative": True}, 55.972222)):
        low, high = extremal.limits(outcomes, 0.05, **options)
        assert [low[0], high[0]] == pytest.approx([0.416667, wanted], abs=1e-6)


def test_a_population_with_labels_on_all_rows_is_known():
    y_true = np.repeat([0, 1], [90, 10])
    decided = np.repeat([0, 1], [94, 6])
    known = evaluate(y_true, decided, COSTS, population=100)
    assert list(known.interval()) == pytest.approx([4.0, 4.0])
    widths = [
        evaluate(y_true, decided, COSTS, population=rows).interval().width
        for rows in (100, 150, 1000, 10**6)
    ]
    assert widths == sorted(widths)
    simple = evaluate(y_true, decided, COSTS).interval()
    assert widths[-1] == pytest.approx(simple.width, rel=1e-3)


def test_strata_against_draws():
    rng = np.random.default_rng(3)
    for _ in range(4):
        parts = []
        for share in rng.dirichlet(np.ones(3)):
            costs = np.sort(rng.uniform(0, 100, 3))
            parts.append((float(share), costs, rng.multinomial(60, [0.8, 0.15, 0.05])))
        outcomes = strata(*parts)
        lower, upper = limit_pair(outcomes, 0, 0.7, full=False)
        size = 200_000
        total = np.zeros(size)
        for (share, costs, counts), draws in zip(parts, upper.draws, strict=True):
            seen = counts > 0
            concentration = counts[seen] * draws / counts.sum()
            total += share * rng.dirichlet(concentration, size) @ costs[seen]
        moved = total + rng.beta(*upper.extra, size) * (upper.top - total)
        assert (moved > upper.quantile(0.025)).mean() == pytest.approx(0.025, abs=0.0015)
        assert upper.upper_tail(np.median(moved)) == pytest.approx(0.5, abs=0.005)
        moved = -total + rng.beta(*lower.extra, size) * (lower.top + total)
        assert (moved > lower.quantile(0.025)).mean() == pytest.approx(0.025, abs=0.0015)


def test_more_strata_do_not_widen_the_interval():
    """The room for what was not seen is one draw's, however many strata there are."""
    arms = []
    for number in (1, 4, 20, 40):
        outcomes = strata(*[(1 / number, [0, 500], [400 // number, 0])] * number)
        arms.append(float(extremal.limits(outcomes, 0.05)[1][0]))
    assert arms == pytest.approx([arms[0]] * 4, rel=1e-3)


# Two designs whose intervals used to ignore outcomes that were not observed.


def test_cheap_errors_in_every_group_do_not_hide_that_ill_groups_may_be_missed_whole():
    y_true = np.repeat([1] * 20 + [0] * 80, 20)
    groups = np.repeat(np.arange(100), 20)
    decided = y_true.copy()
    clean = evaluate(y_true, decided, COSTS, groups=groups).interval()
    decided[20 * 20 :: 20] = 1
    alarms = evaluate(y_true, decided, COSTS, groups=groups).interval()
    assert clean.high == pytest.approx(2.979, abs=1e-3)
    assert alarms.high > clean.high > 1.9


def test_a_miss_has_the_weight_of_the_rows_without_alarm():
    y_true = np.repeat([1, 0, 0], [290, 1160, 985])
    decided = np.repeat([1, 0], [1450, 985])
    weight = np.repeat([1.0, 100.0], [1450, 985])
    assert evaluate(y_true, decided, COSTS, sample_weight=weight).interval().high > 0.29


def test_one_group_with_most_rows_makes_the_confidence_unclaimed():
    groups = np.append(np.zeros(200, dtype=int), np.arange(1, 301))
    y_true = np.tile([0, 1], 250)
    estimate = evaluate(y_true, y_true, COSTS, groups=groups)
    with pytest.warns(NotClaimedWarning, match="one group holds 40% of the weight"):
        interval = estimate.interval()
    assert "not claimed" in interval.caution
    assert "not claimed" in estimate.summary()
    assert interval.to_dict()["caution"] == interval.caution


def test_what_ifs_know_what_the_draws_are():
    rng = np.random.default_rng(4)
    y_true = (rng.random(1000) < 0.3).astype(int)
    models = {name: np.where(rng.random(1000) < 0.1, 1 - y_true, y_true) for name in "ab"}
    ranges = CostRanges.around(COSTS, 1.2)

    def chances(**sampling):
        joint = JointConfusion.from_labels(y_true, models, labels=[0, 1], **sampling)
        return cheapest_probability(joint, None, ranges, rng=0).probability_low

    alone = chances()
    assert chances(sample_weight=np.full(1000, 3.0)) == pytest.approx(alone)
    assert chances(strata=np.zeros(1000, dtype=int)) == pytest.approx(alone)
    assert chances(groups=np.arange(1000)) == pytest.approx(alone, abs=0.03)
    assert (chances(groups=np.arange(1000) // 20) < alone).all()


@pytest.mark.parametrize("options", [{}, {"class_priors": [0.9, 0.1]}, {"sample_weight": True}])
def test_groups_that_are_alike_count_as_often_as_they_are(options, monkeypatch):
    """The same numbers as when each group is listed by itself."""
    rng = np.random.default_rng(3)
    groups = rng.integers(0, 400, 2000)
    actual = rng.integers(0, 2, 2000)
    decided = np.where(rng.random(2000) < 0.03, 1 - actual, actual)
    given = {"groups": groups} | options
    if "sample_weight" in given:
        given["sample_weight"] = rng.choice([1.0, 4.0], 400)[groups]

    def limits():
        estimate = evaluate(actual, decided, COSTS, **given)
        return [*estimate.interval(), *estimate.interval(conservative=True), estimate.cost]

    together = limits()
    monkeypatch.setattr(
        "stakes.infer._shares.distinct_rows", lambda rows: (np.arange(len(rows)),) * 2
    )
    assert limits() == pytest.approx(together, rel=1e-9)


def test_a_contribution_is_asked_only_where_it_has_mass():
    """The distribution function at all edges of a lattice is that of the edges one by one."""
    points = np.array([1.0, 1.5, 2.0, 4.0])
    smooth = Contribution(points, np.array([1e-9, 0.3, 0.8, 1 - 1e-9]), 1.8, (0.5, 7.0))
    for law in (smooth, replace(smooth, below=np.array([0.1, 0.3, 0.8, 1.0]), smooth=False)):
        edges = 1.0 + 0.01 * (np.arange(900) - 0.5)
        assert law.at_edges(0.01, 900) == pytest.approx(law.at(edges), abs=1e-15)


def test_few_draws_of_two_outcomes_keep_their_mean_and_their_ends():
    """Half of the mass or more lies at the ends, which need not be points of the lattice."""
    law = Contribution(np.array([1.0, 3.0]), np.array([0.0, 1.0]), 1.5, beta=(0.05, 0.15))
    for step in (0.01, 0.013):
        masses = law.masses(step, 400)
        points = 1.0 + step * np.arange(len(masses))
        assert masses.min() > -1e-12
        assert masses.sum() == pytest.approx(1, abs=1e-12)
        assert masses @ points == pytest.approx(1.5, abs=1e-12)
        assert masses[points <= 2].sum() == pytest.approx(betainc(0.05, 0.15, 0.5), abs=2e-3)


def test_the_limit_may_be_next_to_the_end():
    """Almost all rows cost the most that they can, so that the last cell holds the limit."""
    table = Confusion([[138, 1], [0, 19]], rows="predicted", labels=[0, 1])
    costs = CostMatrix([[0.0, 47.75], [4.4, 10.59]], rows="predicted", labels=[0, 1])
    estimate = CostEstimate(table, costs, Design([0.98, 0.02]))
    low, high = estimate.interval(0.999)
    assert 0.02 * 10.59 - 1e-12 < low < estimate.cost < high


def test_values_that_rows_can_sum_to_are_within_their_limits():
    """Of few rows with one of two costs: the limit is such a value, and the truth may be it."""
    costs = CostMatrix.from_errors(false_positive=5, false_negative=1000)
    for rows, labels, missed in ((277, 105, 1), (294, 108, 1), (180, 60, 2), (95, 30, 3)):
        counts = np.zeros((2, 2, 2), dtype=int)
        counts[0, 0] = [labels - missed, missed]
        counts[1, 1] = [3, 9]
        table = GroupedConfusion(counts, [0, 1], strata=["ok", "alarm"])
        design = Design(population={"ok": rows, "alarm": 12}, decided={"ok": 0, "alarm": 1})
        estimate = CostEstimate(table, costs, design)
        for conservative in (False, True):
            interval = estimate.interval(conservative=conservative)
            ends = [round((end * (rows + 12) - 15) / 1000) for end in interval]
            for end, limit in zip(ends, interval, strict=True):
                value = (1000 * end + 15) / (rows + 12)
                assert limit == pytest.approx(value, rel=1e-8)
                assert interval.low <= value + 1e-15
                assert interval.high >= value - 1e-15
                tails = extremal.tails(outcomes_behind(estimate), value, 0.05)
                assert conservative or min(float(tail[0]) for tail in tails) >= 0.025
        # If only the least cost was observed, it is the lower limit, apart from rounding.
        counts[0, 0] = [labels, 0]
        table = GroupedConfusion(counts, [0, 1], strata=["ok", "alarm"])
        estimate = CostEstimate(table, costs, design)
        tails = extremal.tails(outcomes_behind(estimate), 15 / (rows + 12), 0.05)
        assert min(float(tail[0]) for tail in tails) >= 0.025
