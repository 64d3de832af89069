"""Effective sample sizes of the error rates at every threshold, with weights, groups or strata.

Rates of weighted or grouped rows have a larger variance than their number of rows suggests. The
effective sample size is the number of independent draws whose rate has the same variance. Errors
that were not observed give no variance, so an unobserved error is assumed to have the weight of
rows in which it could occur, and with groups the size of a whole group. Strata are treated as
weights: bands are as wide as if the number of rows from each stratum were random.

The same holds for discordant examples, on which only one of two classifiers is wrong: the variance
between groups gives the effective sample size of the difference.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label
from stakes._core.typing import Booleans, Floats
from stakes.counts import (
    Confusion,
    GroupedConfusion,
    PairedConfusion,
    PairedScoreCounts,
    ScoreCounts,
)
from stakes.counts._parts import Parts
from stakes.counts._two_classes import amounts_of
from stakes.counts.scores import ScoreRows
from stakes.curves._sampling import Mistakes, discordant_scores, drawn
from stakes.curves.bands.mover import WEIGHT, room_limits
from stakes.errors import DesignError, InputTypeError
from stakes.infer._design import FADING
from stakes.infer._outcomes import Design
from stakes.infer._shares import shares_per_row

Places = NDArray[np.intp]
NEARLY_NOTHING = 1e-13


def designed(counts: ScoreCounts) -> bool:
    """Return whether the examples have weights, groups or strata."""
    return counts.squares is not None or counts.rows is not None


def mistakes_at(counts: ScoreCounts, cuts: Places) -> tuple[Mistakes, Mistakes]:
    """Return the misses and the false alarms at cuts: numbers of highest scores that are alarms."""
    rooms = _row_rooms(counts)
    sides = [_sides(counts, index) for index in (0, 1)]
    rows = counts.rows
    if rows is None or rows.parts.groups is None:
        return _of_rows(sides[0], rooms[0], cuts, 0), _of_rows(sides[1], rooms[1], cuts, 1)
    both = _Groups.of(rows, len(counts.thresholds))
    found = []
    for index in (0, 1):
        side, run = sides[index], both[index]
        lone = float(side.squares[-1] / side.total)
        ratio = [np.maximum(each / lone, 1.0) for each in rooms[index]]
        draws = np.minimum(run.draws(), side.total**2 / side.squares[-1])
        sizes = [run.room(end) * ratio[end] for end in (0, 1)]
        wrong = side.below if index == 0 else side.above
        ends = (sizes[1], sizes[0]) if index == 0 else (sizes[0], sizes[1])
        found.append(
            Mistakes(
                side.total,
                wrong[cuts][np.newaxis],
                rooms=(ends[0][cuts][np.newaxis], ends[1][cuts][np.newaxis]),
                draws=draws[cuts],
            )
        )
    shared = _correlation(rows, len(counts.thresholds), both)
    return found[0], replace(found[1], shared=None if shared is None else shared[cuts])


def rate_limits(counts: ScoreCounts, thresholds: Floats, alpha: float) -> dict[str, Any]:
    """Return the limits of the false positive and the false negative rate at thresholds.

    `shared` is the correlation of the two rates, if groups have rows of both classes.
    """
    below = np.searchsorted(counts.thresholds[::-1], thresholds, side="left")
    cuts = len(counts.thresholds) - below
    if designed(counts):
        positives, negatives = mistakes_at(counts, cuts)
    else:
        missed, alarmed = _below(counts.positives)[cuts], _above(counts.negatives)[cuts]
        positives = Mistakes(float(counts.n_positives), missed[np.newaxis])
        negatives = Mistakes(float(counts.n_negatives), alarmed[np.newaxis])
    parts = drawn(np.full(len(cuts), 0.5), positives, negatives, full=False)
    found: dict[str, Any] = {"shared": negatives.shared}
    for name, part in zip(("fnr", "fpr"), parts, strict=True):
        low, high = room_limits(part, alpha=alpha, weight=WEIGHT)
        found |= {f"{name}_low": low[0], f"{name}_high": high[0]}
    return found


def represented(counts: ScoreCounts, design: Design) -> ScoreCounts:
    """Return the scores, weighted by the population shares of their strata.

    Without a population, and without class priors that must agree with the strata, they are
    returned unchanged.
    """
    if counts.rows is None or counts.rows.parts.strata is None:
        if design.population is not None:
            raise DesignError(
                "population",
                "it says how large the strata are, and the scores were counted without strata.",
                "Give strata= when counting them.",
            )
        return counts
    if design.population is None and design.class_priors is None:
        return counts
    table = counts.confusion_at(np.inf)
    assert isinstance(table, GroupedConfusion)  # noqa: S101 - for the type checker
    factors = shares_per_row(table, design) * float(counts.n)
    return counts.reweighted(factors)


def represented_table(table: GroupedConfusion, design: Design) -> GroupedConfusion:
    """Return decisions, weighted by the population shares of their strata."""
    if table.parts.strata is None or (design.population is None and design.class_priors is None):
        return table
    single = table if isinstance(table.pooled, Confusion) else table.first
    factors = shares_per_row(single, design) * float(table.n)
    between = (1,) * (table.counts.ndim - 2)
    each = factors.reshape(len(factors), *between, factors.shape[1])
    squares = None
    if table.parts.groups is None:
        squares = (table.counts if table.squares is None else table.squares) * each**2
    return table.with_counts(table.counts * each, table.decisions, squares)


def scores_of(table: Confusion | GroupedConfusion, pos_label: Label) -> ScoreCounts:
    """Return decisions as scores 1 and 0, so that the only cut between them is the decision."""
    at = table.labels.index(pos_label)
    names: dict[str, Any] = {"pos_label": pos_label, "neg_label": table.labels[1 - at]}
    decided = [table.decisions.index(table.labels[j]) for j in (at, 1 - at)]
    if isinstance(table, Confusion):
        cells = np.ix_(decided, [at, 1 - at])
        squares = None if table.squares is None else table.squares[cells].T
        return ScoreCounts([1.0, 0.0], *table.counts[cells].T, squares=squares, **names)
    part, place, actual = np.indices((len(table.counts), 2, 2)).reshape(3, -1)
    amounts = [
        each[:, decided][..., [at, 1 - at]].ravel()
        for each in (table.counts, table.squares)
        if each is not None
    ]
    rows = ScoreRows.of(table.parts, place, part, actual == 0, amounts)
    sides = rows.tables(2)
    kept = sides[1] if len(sides) > 1 else None
    return ScoreCounts([1.0, 0.0], *sides[0], squares=kept, rows=rows, **names)


# Sums over the rows above and below every cut. Those below are summed from below, because
# subtraction from a large total would lose precision.


@dataclass(frozen=True)
class _Side:
    """Amounts, and sums of squared weights, of one class above and below each cut."""

    above: Floats
    below: Floats
    squares: Floats
    squares_below: Floats

    @property
    def total(self) -> float:
        return float(self.above[-1])


def _sides(counts: ScoreCounts, index: int) -> _Side:
    values = (counts.positives, counts.negatives)[index]
    squares = values if counts.squares is None else counts.squares[index]
    return _Side(_above(values), _below(values), _above(squares), _below(squares))


def _above(values: NDArray[Any]) -> Floats:
    return np.append(0.0, np.cumsum(values, dtype=np.float64))


def _below(values: NDArray[Any]) -> Floats:
    return np.append(np.cumsum(values[::-1], dtype=np.float64)[::-1], 0.0)


def _of_rows(side: _Side, rooms: tuple[Floats, Floats], cuts: Places, index: int) -> Mistakes:
    """Return the mistakes of weighted rows; positives (index 0) are wrong below the cut."""
    wrong = (side.below, side.squares_below) if index == 0 else (side.above, side.squares)
    ends = (rooms[1], rooms[0]) if index == 0 else (rooms[0], rooms[1])
    return Mistakes(
        side.total,
        wrong[0][cuts][np.newaxis],
        wrong[1][cuts][np.newaxis],
        float(side.squares[-1]),
        rooms=(ends[0][cuts][np.newaxis], ends[1][cuts][np.newaxis]),
    )


def _row_rooms(counts: ScoreCounts) -> list[tuple[Floats, Floats]]:
    """Return for each class the weight assumed of an unobserved row below and above each cut.

    It is the largest `heaviness` of the rows of its class, of the rows with the same decision, and
    of those with both; with strata, the largest of any stratum.
    """
    n = len(counts.thresholds)
    rooms = [(np.zeros(n + 1), np.zeros(n + 1)) for _ in range(2)]
    for amounts, squares in _by_stratum(counts):
        running = [
            (heaviness(side(squares[j]), side(amounts[j])), side(squares[j]), side(amounts[j]))
            for side in (_below, _above)
            for j in (0, 1)
        ]
        for end in (0, 1):
            mine, other = running[2 * end], running[2 * end + 1]
            decided = heaviness(mine[1] + other[1], mine[2] + other[2])
            for j in (0, 1):
                own = running[2 * end + j][0]
                whole = heaviness(squares[j].sum(), amounts[j].sum())
                largest = np.maximum(np.maximum(decided, own), whole)
                np.maximum(rooms[j][end], largest, out=rooms[j][end])
    return rooms


def _by_stratum(counts: ScoreCounts) -> list[tuple[Floats, Floats]]:
    """Return for each stratum the amounts and squares of positives and negatives at each score."""
    whole = np.stack([counts.positives, counts.negatives]).astype(np.float64)
    rows = counts.rows
    if rows is None or rows.parts.strata is None or counts.squares is None:
        return [(whole, whole if counts.squares is None else counts.squares)]
    of_part, names = rows.parts.stratum_codes()
    n = len(counts.thresholds)
    codes = np.where(rows.positive, rows.place, rows.place + n)
    found = []
    for stratum in range(len(names)):
        inside = of_part[rows.part] == stratum
        tables: list[Floats] = [
            np.asarray(np.bincount(codes[inside], each[inside], 2 * n), np.float64).reshape(2, n)
            for each in (rows.amounts, rows.amounts if rows.squares is None else rows.squares)
        ]
        found.append((tables[0], tables[1]))
    return found


def heaviness(squares: Floats, amounts: Floats) -> Floats:
    """Return Σw²/Σw, or 0 where there are no amounts."""
    some = np.asarray(amounts) > 0
    return np.asarray(np.where(some, squares / np.where(some, amounts, 1.0), 0.0))


@dataclass(frozen=True)
class _Groups:
    """Sums over the groups of one class at each cut; a group has s rows, a of them above the cut.

    `squares` is Σa², `product` Σa·s, `all_squares` Σs². `holding` counts the groups with rows below
    (first) and above the cut, and `largest` is the largest share of a group's rows there.
    """

    alarmed: Floats
    squares: Floats
    product: Floats
    all_squares: float
    holding: tuple[Floats, Floats]
    largest: tuple[Floats, Floats]

    @classmethod
    def of(cls, rows: ScoreRows, n: int) -> tuple[_Groups, _Groups]:
        """Return the sums of the positives and of the negatives."""
        found = []
        for chosen in (rows.positive, ~rows.positive):
            used = chosen & (rows.amounts > 0)
            group = np.asarray(rows.parts.group_codes())[rows.part[used]]
            place, amount = rows.place[used], rows.amounts[used].astype(np.float64)
            sizes = np.asarray(np.bincount(group, amount), dtype=np.float64)
            squares, holding, largest = _running(place, group, amount, sizes, n)
            _, beneath, most = _running(n - 1 - place, group, amount, sizes, n)
            found.append(
                cls(
                    _above(np.bincount(place, amount, n)),
                    squares,
                    _above(np.bincount(place, amount * sizes[group], n)),
                    float(sizes @ sizes),
                    (beneath[::-1], holding),
                    (most[::-1], largest),
                )
            )
        return found[0], found[1]

    @property
    def total(self) -> float:
        return float(self.alarmed[-1])

    def variance(self) -> Floats:
        """Return the variance of the rate of alarms at each cut."""
        rate = self.alarmed / self.total
        spread = self.squares - 2 * rate * self.product + rate**2 * self.all_squares
        return np.asarray(np.maximum(spread, 0.0) / self.total**2)

    def draws(self) -> Floats:
        """Return the number of independent draws with that variance; if it is 0, Kish's number.

        See Kish (1965).
        """
        rate, variance = self.alarmed / self.total, self.variance()
        kish = self.total**2 / self.all_squares
        usable = variance > NEARLY_NOTHING / kish
        return np.where(usable, rate * (1 - rate) / np.where(usable, variance, 1.0), kish)

    def room(self, end: int) -> Floats:
        """Return the size assumed of an unobserved group below (0), or above (1), each cut.

        The more groups have only a part of their rows there, the smaller this size.
        """
        largest = self.largest[end]
        fading = largest + (1 - largest) * FADING ** self.holding[end]
        return np.asarray(self.all_squares / self.total * fading)


def _running(
    place: NDArray[np.int32], group: Places, amount: Floats, sizes: Floats, n: int
) -> tuple[Floats, Floats, Floats]:
    """Return at each cut Σa² over groups, the number of groups with any, and the largest share."""
    order, before = _before(place, group, amount)
    place, group, amount = place[order], group[order], amount[order]
    squares = _above(np.bincount(place, amount * (2 * before + amount), n))
    first = np.append(True, group[1:] != group[:-1])
    holding = _above(np.bincount(place[first], minlength=n))
    most = np.zeros(n)
    np.maximum.at(most, place, (before + amount) / sizes[group])
    return squares, holding, np.append(0.0, np.maximum.accumulate(np.minimum(most, 1.0)))


def _before(place: NDArray[np.int32], group: Places, *amounts: Floats) -> tuple[Places, Floats]:
    """Return the order by group and place, and the group's sum of amounts before each row."""
    order = np.lexsort((place, group))
    found = []
    start = np.flatnonzero(np.append(True, np.diff(group[order]) != 0))
    lengths = np.diff(np.append(start, len(order)))
    for each in amounts:
        ordered = each[order]
        before = np.cumsum(ordered) - ordered
        found.append(before - np.repeat(before[start], lengths))
    return order, found[0] if len(found) == 1 else np.stack(found)


def _correlation(rows: ScoreRows, n: int, both: tuple[_Groups, _Groups]) -> Floats | None:
    """Return the correlation of misses and false alarms at each cut, if groups have both classes.

    Negative correlations are set to 0, because they would make bands narrower on the evidence of
    few groups.
    """
    group = np.asarray(rows.parts.group_codes())[rows.part]
    amounts = [rows.amounts * (rows.positive == side).astype(np.float64) for side in (True, False)]
    sizes = [np.bincount(group, each) for each in amounts]
    mixed = float(sizes[0] @ sizes[1])
    if not mixed:
        return None
    order, before = _before(rows.place, group, *amounts)
    place = rows.place[order]
    ordered = [each[order] for each in amounts]
    joint = _above(np.bincount(place, ordered[0] * before[1] + ordered[1] * before[0], n))
    crossed = [_above(np.bincount(rows.place, amounts[j] * sizes[1 - j][group], n)) for j in (0, 1)]
    rates = [each.alarmed / each.total for each in both]
    spread = joint - rates[1] * crossed[0] - rates[0] * crossed[1] + rates[0] * rates[1] * mixed
    noise = np.sqrt(both[0].variance() * both[1].variance()) * both[0].total * both[1].total
    usable = noise > NEARLY_NOTHING * mixed
    together = -spread / np.where(usable, noise, 1.0)  # a positive is missed below the cut
    return np.where(usable, np.clip(together, 0.0, 1.0), 0.0)


Both = tuple[Mistakes, Mistakes]


def paired_scores_of(table: GroupedConfusion, pos_label: Label) -> PairedScoreCounts:
    """Return the decisions of two classifiers as scores 1 and 0."""
    if not isinstance(table.pooled, PairedConfusion):
        raise InputTypeError("counts", "expected the decisions of two classifiers.")
    at = table.labels.index(pos_label)
    decided = [table.decisions.index(table.labels[j]) for j in (at, 1 - at)]
    by_score = np.array(decided)
    cells = np.ix_(np.arange(len(table.counts)), by_score, by_score, np.array([at, 1 - at]))
    part, one, other, actual = np.indices(table.counts[cells].shape).reshape(4, -1)
    amounts = table.counts[cells].ravel()
    squares = None if table.squares is None else table.squares[cells].ravel()
    some = amounts > 0
    return PairedScoreCounts(
        [1.0, 0.0],
        [1.0, 0.0],
        ranks_1=one[some],
        ranks_2=other[some],
        positive=actual[some] == 0,
        amounts=amounts[some],
        squares=None if squares is None else squares[some],
        pos_label=pos_label,
        neg_label=table.labels[1 - at],
        parts=table.parts,
        part=part[some],
    )


def represented_pair(counts: PairedScoreCounts, design: Design) -> PairedScoreCounts:
    """Return the scores, weighted by the population shares of their strata."""
    stratified = counts.parts is not None and counts.parts.strata is not None
    if not stratified or (design.population is None and design.class_priors is None):
        return counts
    table = counts.first.confusion_at(np.inf)
    assert isinstance(table, GroupedConfusion)  # noqa: S101 - there are parts
    return counts.reweighted(shares_per_row(table, design) * float(counts.n))


def discordant(counts: PairedScoreCounts, cuts: tuple[Places, Places]) -> Both:
    """Count the positives, and the negatives, that only one of two scorers decides wrongly.

    `cuts` are the numbers of highest scores that each of the two calls positive, at each piece.
    """
    whole = discordant_scores(counts, cuts)
    if counts.parts is None or counts.part is None:
        return whole
    if counts.squares is not None and counts.parts.strata is not None:
        whole = _with_rooms_of_strata(counts, counts.parts, cuts, whole)
    codes = counts.parts.group_codes()
    if codes is None:
        return whole
    events = _Events.of(counts, cuts, np.asarray(codes)[counts.part])
    runs = [events.of_class(actual) for actual in (True, False)]
    found = [_in_groups(mine, run) for mine, run in zip(whole, runs, strict=True)]
    return found[0], replace(found[1], shared=events.shared(runs[0], runs[1]))


def _with_rooms_of_strata(
    counts: PairedScoreCounts, parts: Parts, cuts: tuple[Places, Places], whole: Both
) -> Both:
    """Raise the weight assumed of an unobserved mistake to its maximum over the strata."""
    of_part, names = parts.stratum_codes()
    stratum = of_part[np.asarray(counts.part)]
    rooms = [list(each.rooms or ()) for each in whole]
    for place in range(len(names)):
        inside = stratum == place
        for side, mine in enumerate(discordant_scores(_chosen(counts, inside), cuts)):
            if mine.n and mine.rooms is not None:
                rooms[side] = [
                    np.maximum(*both) for both in zip(rooms[side], mine.rooms, strict=True)
                ]
    found = [
        replace(each, rooms=(room[0], room[1])) for each, room in zip(whole, rooms, strict=True)
    ]
    return found[0], found[1]


def _chosen(counts: PairedScoreCounts, rows: Booleans) -> PairedScoreCounts:
    names = ("ranks_1", "ranks_2", "positive", "amounts", "squares", "part")
    given = {name: getattr(counts, name) for name in names}
    kept = {name: None if each is None else each[rows] for name, each in given.items()}
    return counts._changed(**kept)  # noqa: SLF001 - some of its own rows


def _in_groups(mine: Mistakes, run: _Run) -> Mistakes:
    """Return the mistakes of one class with the `draws` and `rooms` of its groups."""
    alone = mine.n if mine.all_squares is None else mine.n**2 / mine.all_squares
    lone = 1.0 if mine.all_squares is None else mine.all_squares / mine.n
    full = run.squares / mine.n
    heavy = [np.ones_like(mine.counts)] * 2
    if mine.rooms is not None:
        heavy = [np.maximum(room / lone, 1.0) for room in mine.rooms]
    inside = full * (run.largest + (1 - run.largest) * FADING**run.holding)
    draws = np.minimum(run.draws(mine), alone)
    rooms = (full * heavy[0], inside * heavy[1])
    return Mistakes(mine.n, mine.counts, rooms=rooms, draws=draws)


@dataclass(frozen=True)
class _Run:
    """Sums over the groups of one class at each piece.

    A group has s rows, and d mistakes of the first alone minus those of the second alone. `spread`
    is Σd², `product` Σd·s, `squares` Σs². `holding` counts the groups that have mistakes of the
    first alone, and of the second alone; `largest` is their largest share of a group's rows.
    """

    difference: Floats
    spread: Floats
    product: Floats
    squares: float
    total: float
    holding: Floats
    largest: Floats

    def variance(self) -> Floats:
        """Return the variance of the difference of the two rates."""
        mean = self.difference / self.total
        spread = self.spread - 2 * mean * self.product + mean**2 * self.squares
        return np.asarray(np.maximum(spread, 0.0) / self.total**2)

    def draws(self, mine: Mistakes) -> Floats:
        """Return the number of independent draws with that variance; if it is 0, Kish's number."""
        rates = mine.counts / mine.n
        alone = rates.sum(axis=0) - (rates[0] - rates[1]) ** 2
        kish, variance = self.total**2 / self.squares, self.variance()
        usable = (variance > NEARLY_NOTHING / kish) & (alone > NEARLY_NOTHING)
        return np.where(usable, alone / np.where(usable, variance, 1.0), kish)


@dataclass(frozen=True)
class _Events:
    """The pieces at which rows begin, and cease, to be decided wrongly by only one of the two.

    Sorted by group and piece. `change` is the weight of the row, negative where it ceases, `second`
    whether the second is the wrong one, and `positive` whether the row is positive.
    """

    piece: Places
    group: Places
    change: Floats
    second: Booleans
    positive: Booleans
    pieces: int
    sizes: tuple[Floats, Floats]

    @classmethod
    def of(cls, counts: PairedScoreCounts, cuts: tuple[Places, Places], groups: Places) -> _Events:
        entries = []
        sizes = len(counts.thresholds_1), len(counts.thresholds_2)
        for cut, size, ranks in zip(cuts, sizes, (counts.ranks_1, counts.ranks_2), strict=True):
            entries.append(np.cumsum(np.bincount(cut, minlength=size + 1))[ranks])
        weight = amounts_of(counts.amounts, len(counts.positive)).astype(np.float64)
        differ = (entries[0] != entries[1]) & (weight > 0)
        first, second = (entry[differ] for entry in entries)
        positive, group = counts.positive[differ], groups[differ]
        wrong = positive == (first < second)  # the second, if only the first calls it positive
        piece = np.concatenate([np.minimum(first, second), np.maximum(first, second)])
        both = np.tile(group, 2)
        order = np.lexsort((piece, both))
        change = np.concatenate([weight[differ], -weight[differ]])
        n = int(groups.max()) + 1
        of_class = [counts.positive, ~counts.positive]
        totals = [np.bincount(groups, weight * side, n) for side in of_class]
        return cls(
            piece[order],
            both[order],
            change[order],
            np.tile(wrong, 2)[order],
            np.tile(positive, 2)[order],
            len(cuts[0]),
            (np.asarray(totals[0]), np.asarray(totals[1])),
        )

    def summed(self, values: Floats) -> Floats:
        """Return the sum of the changes up to each piece."""
        sums = np.bincount(self.piece, values, self.pieces + 1).astype(np.float64)
        return np.asarray(np.cumsum(sums))[:-1]

    def running(self, values: Floats) -> Floats:
        """Return the sum of the values of each event's group before the event."""
        before = np.cumsum(values) - values
        if not len(before):
            return before
        start = np.flatnonzero(np.append(True, np.diff(self.group) != 0))
        lengths = np.diff(np.append(start, len(before)))
        return np.asarray(before - np.repeat(before[start], lengths))

    def signed(self, actual: bool) -> Floats:
        """Return the change of the difference in one class."""
        return np.where(self.positive == actual, np.where(self.second, -1.0, 1.0), 0) * self.change

    def of_class(self, actual: bool) -> _Run:
        """Return the sums over groups of one class."""
        sizes, moved = self.sizes[0 if actual else 1], self.signed(actual)
        before = self.running(moved)
        holding, largest = np.zeros((2, self.pieces)), np.zeros((2, 1))
        for kind in (0, 1):
            mine = (self.positive == actual) & (self.second == bool(kind))
            rows = np.where(mine, np.sign(self.change), 0.0)
            had = self.running(rows)
            holding[kind] = self.summed(1.0 * (had + rows > 0) - 1.0 * (had > 0))
            held = self.running(np.where(mine, self.change, 0.0)) + np.where(mine, self.change, 0)
            if mine.any():
                largest[kind] = min(float((held / np.maximum(sizes, 1e-300)[self.group]).max()), 1)
        return _Run(
            self.summed(moved),
            self.summed(moved * (2 * before + moved)),
            self.summed(moved * sizes[self.group]),
            float(sizes @ sizes),
            float(sizes.sum()),
            holding,
            largest,
        )

    def shared(self, positives: _Run, negatives: _Run) -> Floats | None:
        """Return the correlation of the differences in the two classes, if groups have both.

        Negative correlations are set to 0, because they would make bands narrower on the evidence
        of few groups.
        """
        mixed = float(self.sizes[0] @ self.sizes[1])
        if not mixed:
            return None
        moved = [self.signed(actual) for actual in (True, False)]
        before = [self.running(each) for each in moved]
        joint = self.summed(moved[0] * before[1] + moved[1] * before[0])
        crossed = [self.summed(moved[j] * self.sizes[1 - j][self.group]) for j in (0, 1)]
        means = [each.difference / each.total for each in (positives, negatives)]
        spread = joint - means[1] * crossed[0] - means[0] * crossed[1] + means[0] * means[1] * mixed
        noise = np.sqrt(positives.variance() * negatives.variance())
        noise *= positives.total * negatives.total
        usable = noise > NEARLY_NOTHING * mixed
        together = spread / np.where(usable, noise, 1.0)
        return np.where(usable, np.clip(together, 0.0, 1.0), 0.0)
