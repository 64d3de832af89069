"""How many independent draws stand behind the rates of every threshold, and room for one unseen.

Rows with weights and rows in groups vary more than their number says. What was seen tells how much:
as many draws have the variance of the rate. What was not seen says nothing, so an error that did
not occur is taken to come with the weight of rows that could hold it, and with groups as a whole
group. Strata count as weights: bands are as wide as if rows had come from all of them by chance.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label
from stakes._core.typing import Floats
from stakes.counts import Confusion, GroupedConfusion, ScoreCounts
from stakes.counts.scores import ScoreRows
from stakes.curves._sampling import Mistakes
from stakes.errors import DesignError
from stakes.infer._design import FADING, shares_per_row
from stakes.infer._outcomes import Design

Places = NDArray[np.intp]
NEARLY_NOTHING = 1e-13


def designed(counts: ScoreCounts) -> bool:
    """Tell whether the examples have weights, groups or strata."""
    return counts.squares is not None or counts.rows is not None


def mistakes_at(counts: ScoreCounts, cuts: Places) -> tuple[Mistakes, Mistakes]:
    """Return the misses and the false alarms when so many of the highest scores are alarms."""
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


def represented(counts: ScoreCounts, design: Design) -> ScoreCounts:
    """Return the scores with the weights that the population gives to their strata.

    Without a population, and without class priors that must agree with the strata, as they are.
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
    """Return decisions with the weights that the population gives to their strata."""
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
    """Return decisions as scores of two values: the only cut between them is the decision."""
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


# Sums over the rows above, and below, every cut: those below are added up from below, because what
# is left of a large sum has lost its digits.


@dataclass(frozen=True)
class _Side:
    """Of one class, the amounts above and below each cut, and the squared weights above."""

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
    """Return the mistakes of rows with weights; positives are wrong below the cut."""
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
    """Return for each class how heavy a row below, and above, each cut may be that was not seen.

    It may weigh as much as others of its class, as others that are decided alike, or as those seen
    of both; with strata, as much as those of any stratum.
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
    """Return amounts and squares, positives and negatives at each score, of each stratum."""
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
    """Return Σw²/Σw, and nothing of nothing."""
    some = np.asarray(amounts) > 0
    return np.asarray(np.where(some, squares / np.where(some, amounts, 1.0), 0.0))


@dataclass(frozen=True)
class _Groups:
    """Of one class, sums over its groups at each cut: of a group, s rows and a above the cut.

    `squares` is Σa², `product` Σa·s, `all_squares` Σs². `holding` counts the groups with rows below
    (first) and above the cut, and `largest` is the largest share that one has there.
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
        """Return how many independent draws have that variance; with none, what groups are worth.

        See Kish (1965).
        """
        rate, variance = self.alarmed / self.total, self.variance()
        kish = self.total**2 / self.all_squares
        usable = variance > NEARLY_NOTHING / kish
        return np.where(usable, rate * (1 - rate) / np.where(usable, variance, 1.0), kish)

    def room(self, end: int) -> Floats:
        """Return how large a group that was not seen below (0), or above (1), each cut may be.

        The more groups have only a part of their rows there, the less is assumed of a whole one.
        """
        largest = self.largest[end]
        fading = largest + (1 - largest) * FADING ** self.holding[end]
        return np.asarray(self.all_squares / self.total * fading)


def _running(
    place: NDArray[np.int32], group: Places, amount: Floats, sizes: Floats, n: int
) -> tuple[Floats, Floats, Floats]:
    """Return Σa² over groups, how many have any, and the largest share of one, at each cut."""
    order, before = _before(place, group, amount)
    place, group, amount = place[order], group[order], amount[order]
    squares = _above(np.bincount(place, amount * (2 * before + amount), n))
    first = np.append(True, group[1:] != group[:-1])
    holding = _above(np.bincount(place[first], minlength=n))
    most = np.zeros(n)
    np.maximum.at(most, place, (before + amount) / sizes[group])
    return squares, holding, np.append(0.0, np.maximum.accumulate(np.minimum(most, 1.0)))


def _before(place: NDArray[np.int32], group: Places, *amounts: Floats) -> tuple[Places, Floats]:
    """Return the order by group and place, and what each group has before each row in it."""
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
    """Return how misses and false alarms vary together at each cut, where groups have both classes.

    Only where one group has more of both: less of one where there is more of the other would make
    bands narrower, on the word of few groups.
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
