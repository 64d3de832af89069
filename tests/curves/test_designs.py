"""Thresholds, curves, lines and bands of examples with weights, in groups and in strata."""

import pickle
from itertools import product

import numpy as np
import pytest

from stakes import (
    BinnedScoreCounts,
    CostCurve,
    CostCurveDifference,
    CostLine,
    CostMatrix,
    GroupedConfusion,
    PairedScoreCounts,
    ScoreCounts,
    choose_threshold,
    evaluate,
)
from stakes.curves._rates import discordant, mistakes_at, paired_scores_of, scores_of
from stakes.errors import DesignError, InputError
from stakes.infer._design import FADING

COSTS = CostMatrix.from_errors(false_positive=1, false_negative=15)
PC = np.linspace(0, 1, 23)


def rows(seed=0, n=400, digits=2):
    """Return classes, scores, groups, strata and weights that have to do with each other."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 40, n)
    lean = rng.normal(size=40)[groups]
    y_true = rng.random(n) < 0.3
    score = np.round(1.5 * y_true + 0.7 * lean + rng.normal(size=n), digits)
    strata = np.where(groups % 3 == 0, "north", "south")
    weight = rng.choice([1.0, 5.0], n)
    return y_true.astype(int), score, groups, strata, weight


def same(one, other):
    for name in ("cost", "low", "high"):
        np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-12)


NO_EFFECT = {
    "equal weights": {"sample_weight": np.full(400, 3.0)},
    "weights of one": {"sample_weight": np.ones(400)},
    "groups of one row": {"groups": np.arange(400)},
    "one stratum": {"strata": np.zeros(400, dtype=int)},
    "strata as they came": {"strata": np.arange(400) % 4},
    "groups of one row in a stratum": {"groups": np.arange(400), "strata": np.ones(400, int)},
}


@pytest.mark.parametrize("design", NO_EFFECT)
@pytest.mark.parametrize("simultaneous", [False, True])
def test_a_design_that_changes_nothing_changes_no_band(design, simultaneous):
    y_true, score, *_ = rows()
    options = NO_EFFECT[design]
    plain = CostCurve.from_scores(y_true, score)
    designed = CostCurve.from_scores(y_true, score, **options)
    for method in ("mover",) if simultaneous else ("mover", "wilson", "gaussian"):
        same(*(c.band(method=method, pc=PC, simultaneous=simultaneous) for c in (plain, designed)))
    decided = score >= 1
    lines = [CostLine.from_labels(y_true, decided, **given) for given in ({}, options)]
    same(*(line.band(pc=PC, simultaneous=simultaneous) for line in lines))
    assert lines[0].positives == pytest.approx(lines[1].positives, rel=1e-12)


@pytest.mark.parametrize("design", NO_EFFECT)
def test_a_design_that_changes_nothing_changes_no_band_of_a_difference(design):
    y_true, score, *_ = rows()
    other = np.round(score + np.random.default_rng(1).normal(size=len(score)), 1)
    options = NO_EFFECT[design]
    for make, one, two in (
        (CostCurveDifference.from_scores, score, other),
        (CostCurveDifference.from_labels, (score > 1) * 1, (other > 1) * 1),
    ):
        plain, designed = (make(y_true, one, two, **given) for given in ({}, options))
        for simultaneous in (False, True):
            same(*(each.band(pc=PC, simultaneous=simultaneous) for each in (plain, designed)))


def differing_by_hand(y_true, wrong, groups, kind):
    """Return draws and the rooms inside of one class, computed group by group."""
    of_class = y_true == kind
    names = np.unique(groups[of_class])
    size = np.array([(of_class & (groups == g)).sum() for g in names])
    alone = [wrong[0] & ~wrong[1], wrong[1] & ~wrong[0]]
    held = np.array([[(of_class & each & (groups == g)).sum() for g in names] for each in alone])
    apart, n = held[0] - held[1], size.sum()
    mean = apart.sum() / n
    variance = ((apart - mean * size) ** 2).sum() / n**2
    spread = held.sum() / n - mean**2
    kish = n**2 / (size**2).sum()
    draws = min(spread / variance if variance > 1e-12 and spread > 1e-12 else kish, n)
    rooms = []
    for each in held:
        largest = (each / size).max()
        rooms.append(kish_room(size) * (largest + (1 - largest) * FADING ** (each > 0).sum()))
    return held.sum(axis=1), draws, rooms


def kish_room(size):
    return (size**2).sum() / size.sum()


@pytest.mark.parametrize("seed", range(5))
def test_draws_of_a_difference_are_those_computed_group_by_group(seed):
    y_true, score, groups, _, _ = rows(seed, n=150, digits=1)
    other = score + np.random.default_rng(seed).normal(size=150)
    cuts = 0.8, 1.1
    decided = [(each >= cut) * 1 for each, cut in zip((score, other), cuts, strict=True)]
    wrong = [each != y_true for each in decided]
    table = GroupedConfusion.from_labels(y_true, decided[0], groups, y_pred_2=decided[1])
    found = discordant(paired_scores_of(table, 1), (np.array([1]), np.array([1])))
    for kind, mistakes in zip((1, 0), found, strict=True):
        counts, draws, rooms = differing_by_hand(y_true, wrong, groups, kind)
        assert mistakes.counts[:, 0].tolist() == counts.tolist()
        assert mistakes.draws[0] == pytest.approx(draws)
        assert mistakes.rooms[1][:, 0] == pytest.approx(rooms)
    # Counting from the scores at these cuts gives the same.
    paired = PairedScoreCounts.from_scores(y_true, score, other, groups=groups)
    at = [
        np.array([(each.thresholds >= cut).sum()])
        for each, cut in zip((paired.first, paired.second), cuts, strict=True)
    ]
    for mine, theirs in zip(found, discordant(paired, tuple(at)), strict=True):
        assert mine.draws == pytest.approx(theirs.draws)
        assert mine.rooms[1] == pytest.approx(theirs.rooms[1])
        if mine.shared is not None:
            assert mine.shared == pytest.approx(theirs.shared)


def test_a_difference_of_scores_at_every_piece_is_that_of_its_decisions():
    y_true, score, groups, _, _ = rows(3, n=200, digits=1)
    other = np.round(score + np.random.default_rng(5).normal(size=200), 1)
    difference = CostCurveDifference.from_scores(y_true, score, other, groups=groups)
    for pc in (0.1, 0.3, 0.5, 0.9):
        decided = [
            (each >= curve.threshold(pc)) * 1
            for each, curve in zip(
                (score, other), (difference.first, difference.second), strict=True
            )
        ]
        lines = CostCurveDifference.from_labels(y_true, *decided, groups=groups)
        (mean, variance), (own_mean, own_variance) = (
            each.moments([pc]) for each in (difference, lines)
        )
        assert mean == pytest.approx(own_mean)
        assert variance == pytest.approx(own_variance)


def test_two_that_are_wrong_for_the_same_groups_vary_together():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(50), 10)
    y_true = np.tile([0, 1], 250)
    bad = (rng.random(50) < 0.3)[groups]
    decided = np.where(bad, 1 - y_true, y_true)
    difference = CostCurveDifference.from_labels(y_true, decided, y_true, groups=groups)
    together = difference.band(pc=[0.5])
    line = CostLine.from_labels(y_true, decided, groups=groups).band(pc=[0.5])
    assert together.cost == pytest.approx(line.cost)
    assert together.high - together.low == pytest.approx(line.high - line.low, rel=0.1)
    alone = CostCurveDifference.from_labels(y_true, decided, y_true).band(pc=[0.5])
    assert together.high - together.low > 2 * (alone.high - alone.low)


def test_a_population_weighs_the_strata_of_a_difference():
    y_true, score, groups, strata, _ = rows(4)
    other = score + np.random.default_rng(2).normal(size=len(score))
    population = {"north": 0.9, "south": 0.1}
    share = {name: population[name] / (strata == name).sum() for name in population}
    weight = np.array([share[name] for name in strata])
    for make, one, two in (
        (CostCurveDifference.from_scores, score, other),
        (CostCurveDifference.from_labels, (score > 1) * 1, (other > 1) * 1),
    ):
        direct = make(y_true, one, two, sample_weight=weight)
        for grouped in (None, groups):
            found = make(y_true, one, two, strata=strata, population=population, groups=grouped)
            assert found.difference(PC) == pytest.approx(direct.difference(PC))
            band = found.band(pc=PC)
            assert (band.low <= band.cost + 1e-12).all()
            assert (band.high >= band.cost - 1e-12).all()


def test_paired_scores_with_parts_are_merged_and_saved():
    y_true, score, groups, strata, weight = rows(6)
    other = score + np.random.default_rng(2).normal(size=len(score)).round(1)
    for given in ({"groups": groups}, {"groups": groups, "strata": strata}, {"strata": strata}):
        for options in (given, given | {"sample_weight": weight}):

            def counted(chosen, options=options):
                part = {name: values[chosen] for name, values in options.items()}
                return PairedScoreCounts.from_scores(
                    y_true[chosen], score[chosen], other[chosen], neg_label=0, **part
                )

            whole = counted(np.arange(400))
            assert counted(np.arange(150)) + counted(np.arange(150, 400)) == whole
            assert PairedScoreCounts(**whole.to_dict()) == whole
            assert pickle.loads(pickle.dumps(whole)) == whole  # noqa: S301 - our own
            assert whole.first == ScoreCounts.from_scores(y_true, score, **options)
    plain = PairedScoreCounts.from_scores(y_true, score, other)
    with pytest.raises(DesignError, match="merged"):
        _ = plain + PairedScoreCounts.from_scores(y_true, score, other, groups=groups)


def test_equal_weights_change_no_band_of_a_difference():
    y_true, score, *_ = rows()
    other = score + np.random.default_rng(1).normal(size=len(score))
    same(
        *(
            CostCurveDifference.from_scores(y_true, score, other, sample_weight=weight).band(pc=PC)
            for weight in (None, np.full(len(score), 7.0))
        )
    )


@pytest.mark.parametrize("design", NO_EFFECT)
@pytest.mark.parametrize(
    "limit", [{"max_fpr": 0.2}, {"min_recall": 0.7}, {"capacity": 30, "volume": 100}]
)
def test_a_design_that_changes_nothing_changes_no_threshold(design, limit):
    y_true, score, *_ = rows(3)
    counts = [ScoreCounts.from_scores(y_true, score, **given) for given in ({}, NO_EFFECT[design])]
    plain, designed = (choose_threshold(each, COSTS, **limit, assurance=0.9) for each in counts)
    assert plain.threshold == designed.threshold
    assert plain.cost == pytest.approx(designed.cost, abs=1e-12)
    if design != "strata as they came":  # a design with narrower limits
        assert tuple(plain.interval) == pytest.approx(tuple(designed.interval), abs=1e-9)


def by_hand(y_true, score, groups, weight, cut):
    """Return draws and rooms of the misses and of the false alarms, computed group by group."""
    found = {}
    for kind in (1, 0):
        of_class = y_true == kind
        wrong = (score < cut) if kind else (score >= cut)
        names = np.unique(groups[of_class])
        size = np.array([weight[of_class & (groups == g)].sum() for g in names])
        bad = np.array([weight[of_class & wrong & (groups == g)].sum() for g in names])
        rate = bad.sum() / size.sum()
        variance = ((bad - rate * size) ** 2).sum() / size.sum() ** 2
        kish = size.sum() ** 2 / (size**2).sum()
        draws = rate * (1 - rate) / variance if variance > 1e-12 else kish
        alone = weight[of_class]
        draws = min(draws, alone.sum() ** 2 / (alone**2).sum())
        rooms = []
        for inside, held in ((~wrong, size - bad), (wrong, bad)):
            holding = held > 1e-12
            largest = (held / size)[holding].max() if holding.any() else 0.0
            fading = largest + (1 - largest) * FADING ** holding.sum()
            alike = [of_class, of_class & inside]
            decided = (score < cut) if (kind == 1) == (inside is wrong) else (score >= cut)
            alike.append(decided)
            heavy = max((weight[a] ** 2).sum() / weight[a].sum() for a in alike if a.any())
            row = (alone**2).sum() / alone.sum()
            rooms.append((size**2).sum() / size.sum() * fading * max(heavy / row, 1.0))
        found[kind] = bad.sum(), draws, rooms
    return found


@pytest.mark.parametrize("weighted", [False, True])
def test_draws_and_rooms_at_every_cut_are_those_computed_group_by_group(weighted):
    y_true, score, groups, _, weight = rows(5, n=150, digits=1)
    given = weight if weighted else np.ones(150)
    counts = ScoreCounts.from_scores(
        y_true, score, groups=groups, sample_weight=weight if weighted else None
    )
    cuts = np.arange(len(counts.thresholds) + 1)
    positives, negatives = mistakes_at(counts, cuts)
    for cut in cuts:
        threshold = counts.thresholds[cut - 1] if cut else np.inf
        expected = by_hand(y_true, score, groups, given, threshold)
        for kind, mistakes in ((1, positives), (0, negatives)):
            amount, draws, rooms = expected[kind]
            assert mistakes.counts[0, cut] == pytest.approx(amount)
            assert mistakes.draws[cut] == pytest.approx(draws)
            assert [room[0, cut] for room in mistakes.rooms] == pytest.approx(rooms)


def test_misses_and_false_alarms_of_the_same_groups_vary_together():
    rng = np.random.default_rng(1)
    groups = np.repeat(np.arange(50), 10)
    y_true = np.tile([0, 1], 250)
    bad = (rng.random(50) < 0.3)[groups]
    decided = np.where(bad, 1 - y_true, y_true)
    counts = scores_of(GroupedConfusion.from_labels(y_true, decided, groups), 1)
    _, negatives = mistakes_at(counts, np.array([1]))
    assert negatives.shared[0] == pytest.approx(1.0)
    together = CostLine.from_labels(y_true, decided, groups=groups).band(pc=[0.5])
    # Mistakes are shared by all rows of a group, so there are as many draws as groups.
    rate = bad[::10].mean()
    apart = CostLine(fpr=rate, tpr=1 - rate, positives=50, negatives=50).band(pc=[0.0])
    assert together.high - together.low == pytest.approx(apart.high - apart.low, rel=1e-6)
    _, none = mistakes_at(
        scores_of(GroupedConfusion.from_labels(y_true, y_true, groups), 1), np.array([1])
    )
    assert none.shared[0] == 0


DESIGNS = [names for names in product([False, True], repeat=5) if any(names)]


@pytest.mark.parametrize("design", DESIGNS)
def test_what_a_threshold_costs_is_what_evaluate_says_of_its_decisions(design):
    weighted, grouped, stratified, populated, with_priors = design
    if populated and not stratified:
        pytest.skip("a population is one of strata")
    y_true, score, groups, strata, weight = rows(2)
    parts = {
        "sample_weight": weight if weighted else None,
        "groups": groups if grouped else None,
        "strata": strata if stratified else None,
    }
    where = {
        "population": {"north": 0.2, "south": 0.8} if populated else None,
        "class_priors": {0: 0.9, 1: 0.1} if with_priors else None,
    }
    choice = choose_threshold(
        ScoreCounts.from_scores(y_true, score, **parts), COSTS, rule="minimum", **where
    )

    def cost(threshold):
        decided = (score >= threshold).astype(int)
        return evaluate(y_true, decided, COSTS, **parts, **where)

    expected = cost(choice.threshold)
    assert choice.cost == pytest.approx(expected.cost)
    assert tuple(choice.interval) == pytest.approx(tuple(expected.interval()))
    others = np.linspace(score.min(), score.max() + 1, 6)
    assert choice.cost <= min(cost(each).cost for each in others) + 1e-12


def test_a_population_weighs_the_strata():
    y_true, score, groups, strata, _ = rows(4)
    population = {"north": 0.9, "south": 0.1}
    share = {name: population[name] / (strata == name).sum() for name in population}
    weight = np.array([share[name] for name in strata])
    direct = CostCurve.from_scores(y_true, score, sample_weight=weight)
    for grouped in (None, groups):
        curve = CostCurve.from_scores(
            y_true, score, strata=strata, population=population, groups=grouped
        )
        assert curve.cost(PC) == pytest.approx(direct.cost(PC))
        assert curve.thresholds.tolist() == direct.thresholds.tolist()
        band = curve.band(pc=PC)
        assert (band.low <= band.cost + 1e-12).all()
        assert (band.high >= band.cost - 1e-12).all()
        assert curve.line(1.0).tpr == pytest.approx(direct.line(1.0).tpr)
    choice = choose_threshold(
        ScoreCounts.from_scores(y_true, score, strata=strata), max_fpr=0.2, population=population
    )
    expected = choose_threshold(direct.counts, max_fpr=0.2)
    assert choice.threshold == expected.threshold
    assert (choice.recall, choice.fpr) == pytest.approx((expected.recall, expected.fpr))
    assert choice.alarms == pytest.approx(expected.alarms)


def test_a_miss_that_was_not_seen_weighs_what_non_alarms_weigh():
    """All 1,450 alarms were checked, and 985 of the rest: the rule of three is for the latter."""
    y_true = np.array([1] * 450 + [0] * 1000 + [0] * 985)
    decided = np.array([1] * 1450 + [0] * 985)
    weight = np.where(decided == 1, 1.0, 100.0)
    line = CostLine.from_labels(y_true, decided, sample_weight=weight)
    high = line.band(pc=[1.0]).high[0]
    assert high == pytest.approx(3.02 * 100 / (450 + 3.02 * 100), rel=0.03)
    y_score = np.where(decided == 1, 2.0, 1.0) + np.linspace(0, 0.5, len(decided))
    counts = ScoreCounts.from_scores(y_true, y_score, sample_weight=weight)
    choice = choose_threshold(counts, min_recall=0.9, assurance=0.95)
    assert choice.threshold == -np.inf  # no finite threshold is assured
    assert choose_threshold(counts, min_recall=0.9).recall >= 0.9


def test_the_more_groups_are_missed_the_higher_is_the_limit():
    groups = np.repeat(np.arange(60), 10)
    y_true = np.repeat(np.arange(60) < 30, 10).astype(int)
    limits = []
    for missed in range(8):
        decided = np.where(groups < missed, 0, y_true)
        limits.append(CostLine.from_labels(y_true, decided, groups=groups).band(pc=[1.0]).high[0])
    assert (np.diff(limits) > 0).all()
    rows_alone = CostLine.from_labels(y_true, y_true).band(pc=[1.0]).high[0]
    assert limits[0] > 8 * rows_alone


def test_parts_counted_apart_and_merged_are_the_whole():
    y_true, score, groups, strata, weight = rows(6)
    for given in ({"groups": groups}, {"groups": groups, "strata": strata}, {"strata": strata}):
        for weights in (None, weight):
            options = given | ({} if weights is None else {"sample_weight": weights})

            def counted(chosen, options=options):
                part = {name: values[chosen] for name, values in options.items()}
                return ScoreCounts.from_scores(y_true[chosen], score[chosen], neg_label=0, **part)

            whole = counted(np.arange(400))
            assert counted(np.arange(150)) + counted(np.arange(150, 400)) == whole
            assert ScoreCounts(**whole.to_dict()) == whole
            assert pickle.loads(pickle.dumps(whole)) == whole  # noqa: S301 - our own
            table = GroupedConfusion.from_labels(y_true, (score >= 0.5) * 1, **options)
            assert whole.confusion_at(0.5) == table
    with pytest.raises(DesignError, match="merged"):
        ScoreCounts.from_scores(y_true, score, groups=groups) + ScoreCounts.from_scores(
            y_true, score
        )


@pytest.mark.parametrize("lazy", [False, True])
def test_frames_have_columns_of_groups_and_strata(lazy):
    pl = pytest.importorskip("polars")
    y_true, score, groups, strata, weight = rows(7)
    frame = pl.DataFrame({"y": y_true, "s": score, "g": groups, "h": strata, "w": weight})
    counts = ScoreCounts.from_frame(
        frame.lazy() if lazy else frame,
        actual="y",
        score="s",
        groups="g",
        strata="h",
        sample_weight="w",
    )
    paired = PairedScoreCounts.from_frame(
        frame.lazy() if lazy else frame, actual="y", score=("s", "w"), groups="g", strata="h"
    )
    assert paired == PairedScoreCounts.from_scores(
        y_true, score, weight, groups=groups, strata=strata
    )
    assert counts == ScoreCounts.from_scores(
        y_true, score, groups=groups, strata=strata, sample_weight=weight
    )


def test_what_has_no_valid_band_is_refused():
    y_true, score, groups, _, _ = rows(8)
    curve = CostCurve.from_scores(y_true, score, groups=groups)
    with pytest.raises(DesignError, match=r"groups.*Use 'stratified'"):
        curve.band(sampling="full")
    for method in ("exact", "bootstrap"):
        with pytest.raises(DesignError, match="Use 'mover'"):
            curve.band(method=method)
    with pytest.raises(DesignError, match="bins do not keep groups"):
        BinnedScoreCounts.from_counts(curve.counts)
    with pytest.raises(DesignError, match="population"):
        CostCurve.from_scores(y_true, score, population={"north": 1.0})
    with pytest.raises(InputError, match="population"):
        CostCurve.from_scores(y_true, score, strata=groups % 2, population={0: 1.0})
