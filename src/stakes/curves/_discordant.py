"""The examples on which one of two classifiers alone is wrong, in groups and in strata.

As for the rates of one classifier: what was seen tells how many independent draws stand behind the
difference of two, by the variance between groups; and what was not seen may weigh as much as rows
like it, and with groups come as a whole group.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label
from stakes._core.typing import Booleans, Floats
from stakes.counts import GroupedConfusion, PairedConfusion, PairedScoreCounts
from stakes.counts._parts import Parts
from stakes.counts._two_classes import amounts_of
from stakes.curves._rates import NEARLY_NOTHING
from stakes.curves._sampling import Mistakes, discordant_scores
from stakes.errors import InputTypeError
from stakes.infer._design import FADING, shares_per_row
from stakes.infer._outcomes import Design

Places = NDArray[np.intp]
Both = tuple[Mistakes, Mistakes]


def paired_scores_of(table: GroupedConfusion, pos_label: Label) -> PairedScoreCounts:
    """Return the decisions of two classifiers as scores of two values each."""
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
    """Return the scores with the weights that the population gives to their strata."""
    stratified = counts.parts is not None and counts.parts.strata is not None
    if not stratified or (design.population is None and design.class_priors is None):
        return counts
    table = counts.first.confusion_at(np.inf)
    assert isinstance(table, GroupedConfusion)  # noqa: S101 - there are parts
    return counts.reweighted(shares_per_row(table, design) * float(counts.n))


def discordant(counts: PairedScoreCounts, cuts: tuple[Places, Places]) -> Both:
    """Count the positives, and the negatives, that one of two scorers alone decides wrongly.

    `cuts` are how many of its highest scores each of the two calls positive, at each piece.
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
    """Let a mistake that was not seen weigh as much as it may in any stratum."""
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
    """Return the mistakes of one class with the draws and the rooms of its groups."""
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
    """Of one class, sums over its groups at each piece.

    Of a group, s are the rows, and d the first's mistakes alone minus the second's. `spread` is
    Σd², `product` Σd·s, `squares` Σs². `holding` counts the groups that have mistakes of the first
    alone, and of the second alone; `largest` is the largest share that a group has of them.
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
        """Return how many independent draws have that variance; with none, Kish's number."""
        rates = mine.counts / mine.n
        alone = rates.sum(axis=0) - (rates[0] - rates[1]) ** 2
        kish, variance = self.total**2 / self.squares, self.variance()
        usable = (variance > NEARLY_NOTHING / kish) & (alone > NEARLY_NOTHING)
        return np.where(usable, alone / np.where(usable, variance, 1.0), kish)


@dataclass(frozen=True)
class _Events:
    """Where rows begin, and cease, to be decided wrongly by one of the two alone.

    Sorted by group and piece. `change` is the weight that begins (or, negative, ceases), `second`
    tells that the second is wrong, and `positive` the class.
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
        wrong = positive == (first < second)  # the second, where the first alone calls it positive
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
        """Return what has changed up to each piece."""
        sums = np.bincount(self.piece, values, self.pieces + 1).astype(np.float64)
        return np.asarray(np.cumsum(sums))[:-1]

    def running(self, values: Floats) -> Floats:
        """Return what each event's group has of it before the event."""
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
        """Return how the differences in the two classes vary together, where groups have both.

        Only where both are larger in the same groups: otherwise bands would be narrower on the word
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
