"""Stratification of a pool, and allocation of labels to the strata.

The labels of stratum h depend on what its rows could cost, a_h = W_h·range_h, and on how likely
mistakes are: n_h ∝ max(mix·a_h/Σa, (1 - mix)·a_h√(p̃q̃)/Σ a√(p̃q̃)), where p̃ is the guessed rate. The
first part keeps the limit small whatever the true rate. The mix is the one with the smallest
expected limit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from stakes._core.labels import Label, LabelMatcher
from stakes._core.text import number
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.audit._draw import Cells, PoolColumns
from stakes.costs import CostMatrix
from stakes.errors import PlanError
from stakes.infer._design import LEAST_LEFT
from stakes.infer._outcomes import Outcomes, cost_differences, make_stratum
from stakes.infer.methods import guaranteed
from stakes.infer.methods.extremal import WEIGHT, pearson3_isf

LABELS_PER_STRATUM, MOST_STRATA = 20, 40
"""Minimum labels per stratum, and maximum strata: with more, the interval was not measured."""

LEAST = 2
MIXES = (0.1, 0.25, 0.4, 0.55, 0.7, 0.85, 1.0)
RIGHT = 0.5
"""Assumed probability, before any label, that a judge is right who calls a row expensive."""

MIDDLE = 0.3
"""Weight of what is at stake, against that of how likely mistakes are, when strata are formed."""

LEAST_RATE, TINY, CLOSE, STEPS = 1e-6, 1e-12, 1e-9, 100
MOST_LABELS = 1 << 22


@dataclass(frozen=True, eq=False)
class Stratum(Result):
    """Stratum of similar rows, with the number of rows to label.

    Attributes
    ----------
    name : str
        The name of the stratum.
    decided : tuple of labels
        The decision for its rows, by one model or by two.
    verdicts : tuple of tuple of labels
        The judges' verdicts on its rows; empty where there are no judges.
    scores, amounts : pair of float
        The ranges of the scores and of the amounts of its rows, without the upper ends.
    rows : int
        The number of its rows; in a later stage, without those that already have labels.
    low, high : float
        The lowest and the highest cost that one of its rows can have.
    rate : float
        The guessed probability that a row has the highest rather than the lowest cost.
    labels : int
        The number of its rows to label.

    Examples
    --------
    >>> from stakes.audit import Stratum
    >>> scores, amounts = (0.0, 0.1), (0.0, float("inf"))
    >>> Stratum("ok", ("ok",), (), scores, amounts, 200, 0, 500, 0.01, 20).at_stake
    100000
    """

    name: str
    decided: tuple[Label, ...]
    verdicts: tuple[tuple[Label, ...], ...]
    scores: tuple[float, float]
    amounts: tuple[float, float]
    rows: int
    low: float
    high: float
    rate: float
    labels: int = 0

    @property
    def at_stake(self) -> float:
        """The highest possible cost of all its rows minus the lowest."""
        return self.rows * (self.high - self.low)

    @property
    def whole(self) -> bool:
        """Whether all of its rows are labelled."""
        return self.labels >= self.rows


@dataclass(frozen=True)
class Prices:
    """Costs of rows: a matrix, and the classes whose costs are multiplied by the amount.

    Attributes
    ----------
    costs : CostMatrix
        The cost of each decision for each class.
    positive : label or None
        The class that scores are the probability of; None where there are more than two.
    by_amount : tuple of labels
        The classes whose costs are per unit of the amount.
    """

    costs: CostMatrix
    positive: Label | None = None
    by_amount: tuple[Label, ...] = ()

    def of(self, decided: tuple[Label, ...]) -> Floats:
        """Return the cost of a decision, or the difference of two, for each class."""
        values = self.costs.values
        places = [self.costs.decisions.index(each) for each in decided]
        if len(places) == 1:
            return np.asarray(values[places[0]])
        return np.asarray(cost_differences(values)[places[0], places[1]])

    def factors(self, amount: float) -> Floats:
        """Return the factor of the costs of each class."""
        return np.array([amount if each in self.by_amount else 1.0 for each in self.costs.labels])

    def ends(self, decided: tuple[Label, ...], least: float, most: float) -> tuple[float, float]:
        """Return the lowest and the highest cost of a row whose amount is in a range."""
        each = self.of(decided)
        values = np.concatenate([each * self.factors(least), each * self.factors(most)])
        return float(values.min()) + 0.0, float(values.max()) + 0.0

    def rates(
        self,
        decided: tuple[Label, ...],
        verdicts: tuple[Label, ...],
        scores: Floats,
        base: float,
    ) -> Floats:
        """Return the guessed probability of the highest cost, from scores, judges, or `base`.

        Scores that are missing, or not probabilities, are not used.
        """
        each, labels = self.of(decided), list(self.costs.labels)
        if not np.ptp(each):
            return np.zeros(len(scores))
        share = (each - each.min()) / np.ptp(each)
        guess = np.full(len(scores), base)
        usable = (scores >= 0) & (scores <= 1)
        if self.positive is not None:
            place = labels.index(self.positive)
            guess[usable] = share[1 - place] + scores[usable] * (share[place] - share[1 - place])
        elif len(decided) == 1:
            guess[usable] = 1 - scores[usable]
        matcher = LabelMatcher(labels, "text")
        for verdict in verdicts:
            place = matcher.find(verdict)
            if place >= 0:
                guess = np.maximum(guess, RIGHT * float(share[place]))
        return np.asarray(np.clip(guess, LEAST_RATE, 1 - LEAST_RATE))


@dataclass(frozen=True)
class Options:
    """Options of a plan.

    Attributes
    ----------
    columns : PoolColumns
        The columns of the pool.
    prices : Prices
        The costs of rows.
    confidence : float
        Confidence level of the results.
    looks : int
        The number of times that labels will be read.
    anytime : bool
        Whether labels may be read after every batch.
    unit : str
        The unit of the costs.
    seed : int
        Random seed of the draw.
    rows : int
        The number of rows of the pool.
    checksum : str
        Checksum of the pool.
    """

    columns: PoolColumns
    prices: Prices
    confidence: float = 0.95
    looks: int = 1
    anytime: bool = False
    unit: str = ""
    seed: int = 0
    rows: int = 0
    checksum: str = ""

    @property
    def id_name(self) -> str:
        """The name of the column of identifiers."""
        return self.columns.key or "row"

    @property
    def look_confidence(self) -> float:
        """The confidence level of each look."""
        return 1 - (1 - self.confidence) / self.looks


# From cells to strata.


@dataclass(eq=False)
class _Block:
    """Cells that form one stratum, or several that are divided by scores."""

    decided: tuple[Label, ...]
    verdicts: tuple[tuple[Label, ...], ...]
    places: list[int]
    ends: tuple[float, float]
    powers: tuple[float, float]

    def weight(self, rows: Floats, rates: Floats) -> float:
        """Return the weight of its costs: what is at stake, times a measure of variability."""
        inside = rows[self.places]
        rate = float(inside @ rates[self.places] / inside.sum())
        spread = MIDDLE + math.sqrt(rate * (1 - rate))
        return float(inside.sum()) * (self.ends[1] - self.ends[0]) * spread


def make_strata(cells: Cells, prices: Prices, most: int, base: float) -> list[Stratum]:
    """Divide a pool into at most `most` strata, but at least one for each kind of decision."""
    rates = _rates(cells, prices, base)
    blocks = _merged(_blocks(cells, prices), cells.rows, rates, most)
    open_blocks = [each for each in blocks if each.ends[1] > each.ends[0]]
    weights = [_spread(each, cells, rates) for each in open_blocks]
    spare, total = max(most - len(blocks), 0), sum(map(float, map(np.sum, weights)))
    found = []
    for block in blocks:
        pieces = [sorted(block.places)]
        if block.ends[1] > block.ends[0] and total > 0:
            weight = weights[next(k for k, each in enumerate(open_blocks) if each is block)]
            pieces = _cut(block, cells, weight, 1 + int(spare * weight.sum() / total))
        cut = len(pieces) > 1
        found += [_stratum(block, piece, cells, rates, cut=cut) for piece in pieces]
    return found


def _rates(cells: Cells, prices: Prices, base: float) -> Floats:
    known = np.asarray(np.isfinite(cells.scores).all(axis=1))
    middles = np.full(len(known), np.nan)
    middles[known] = cells.scores[known].mean(axis=1)
    found = np.empty(len(middles))
    kinds: dict[object, list[int]] = {}
    for place, kind in enumerate(zip(cells.decided, cells.verdicts, strict=True)):
        kinds.setdefault(kind, []).append(place)
    for places in kinds.values():
        first = places[0]
        found[places] = prices.rates(
            cells.decided[first], cells.verdicts[first], middles[places], base
        )
    return found


def _blocks(cells: Cells, prices: Prices) -> list[_Block]:
    """Return blocks by decisions, verdicts and amounts; by decisions alone if costs are certain."""
    found: dict[tuple[object, ...], _Block] = {}
    for place, decided in enumerate(cells.decided):
        least, most = cells.amounts[place, :2].tolist()
        ends = prices.ends(decided, least, most)
        certain = ends[1] == ends[0]
        low, high = cells.powers[place].tolist()
        key = (decided,) if certain else (decided, cells.verdicts[place], low)
        if key not in found:
            found[key] = _Block(decided, (), [], ends, (low, high))
        block = found[key]
        block.places.append(place)
        block.ends = min(block.ends[0], ends[0]), max(block.ends[1], ends[1])
        block.powers = min(block.powers[0], low), max(block.powers[1], high)
        if cells.verdicts[place] not in block.verdicts:
            block.verdicts = (*block.verdicts, cells.verdicts[place])
    return sorted(
        found.values(),
        key=lambda block: (repr(block.decided), repr(block.verdicts), block.powers[0]),
    )


def _merged(blocks: list[_Block], rows: Floats, rates: Floats, most: int) -> list[_Block]:
    """Merge blocks of the same decisions, those with the least loss first, down to `most` blocks.

    Each block has a set of verdicts and a range of amounts; no two blocks may overlap.
    """
    blocks = list(blocks)
    while len(blocks) > most:
        pairs = []
        for k, one in enumerate(blocks):
            for other in blocks[k + 1 :]:
                if one.decided != other.decided:
                    continue
                both = _joined(one, other)
                if any(_overlap(both, each) for each in blocks if each not in (one, other)):
                    continue
                weights = [each.weight(rows, rates) for each in (one, other, both)]
                loss = weights[2] - weights[0] - weights[1]
                pairs.append((loss, min(weights[:2]), k, blocks.index(other)))
        if not pairs:
            break
        *_, first, second = min(pairs)
        blocks[first] = _joined(blocks[first], blocks[second])
        del blocks[second]
    return blocks


def _overlap(one: _Block, other: _Block) -> bool:
    """Tell whether two blocks have decisions, verdicts and amounts in common."""
    return (
        one.decided == other.decided
        and bool(set(one.verdicts) & set(other.verdicts))
        and one.powers[0] < other.powers[1]
        and other.powers[0] < one.powers[1]
    )


def _joined(one: _Block, other: _Block) -> _Block:
    return _Block(
        one.decided,
        tuple(dict.fromkeys([*one.verdicts, *other.verdicts])),
        one.places + other.places,
        (min(one.ends[0], other.ends[0]), max(one.ends[1], other.ends[1])),
        (min(one.powers[0], other.powers[0]), max(one.powers[1], other.powers[1])),
    )


def _spread(block: _Block, cells: Cells, rates: Floats) -> Floats:
    """Return the contribution of each cell of a block to the standard deviation of its costs."""
    places = sorted(block.places, key=lambda place: float(cells.scores[place, 0]))
    block.places = places
    p = rates[places]
    return np.asarray(cells.rows[places] * np.sqrt(p * (1 - p)) * (block.ends[1] - block.ends[0]))


def _cut(block: _Block, cells: Cells, weight: Floats, pieces: int) -> list[list[int]]:
    """Cut a block by scores into pieces of equal weight (Dalenius & Hodges 1959)."""
    places = block.places
    low = cells.scores[places, 0]
    if pieces < 2 or low[0] == low[-1]:  # noqa: PLR2004 - nothing to cut
        return [places]
    part = np.minimum(np.cumsum(weight) / weight.sum() * pieces, pieces - 1e-9).astype(int)
    part = np.maximum.accumulate(part)
    first = np.append(True, np.diff(low) > 0)  # cells of the same scores stay together
    part = part[np.maximum.accumulate(np.where(first, np.arange(len(part)), 0))]
    return [[places[k] for k in np.flatnonzero(part == each).tolist()] for each in np.unique(part)]


def _stratum(
    block: _Block, places: list[int], cells: Cells, rates: Floats, *, cut: bool
) -> Stratum:
    rows = cells.rows[places]
    scores = (float(cells.scores[places, 0].min()), float(cells.scores[places, 1].max()))
    if not cut:
        scores = (-math.inf, math.inf)
    amounts = block.powers
    verdicts = block.verdicts if any(block.verdicts) else ()
    return Stratum(
        name=_name(block.decided, verdicts, scores, amounts),
        decided=block.decided,
        verdicts=verdicts,
        scores=scores,
        amounts=amounts,
        rows=int(rows.sum()),
        low=block.ends[0],
        high=block.ends[1],
        rate=float(rows @ rates[places] / rows.sum()),
    )


def _name(
    decided: tuple[Label, ...],
    verdicts: tuple[tuple[Label, ...], ...],
    scores: tuple[float, float],
    amounts: tuple[float, float],
) -> str:
    """Name a stratum by what its rows have in common."""
    first = decided[0] if len(decided) == 1 else f"{decided[0]} → {decided[1]}"
    if len(set(decided)) == 1 and len(decided) > 1:
        first = f"both {decided[0]}"
    words = [f"{first}"]
    if verdicts:
        words.append("judge " + " or ".join("+".join(map(str, each)) for each in verdicts))
    for what, (low, high), least in (("score", scores, -math.inf), ("amount", amounts, 0.0)):
        if low > least and high < math.inf:
            words.append(f"{what} {number(low)} to {number(high)}")
        elif low > least:
            words.append(f"{what} {number(low)} and more")
        elif high < math.inf:
            words.append(f"{what} below {number(high)}")
    return ", ".join(words)


# Allocation of labels to strata.


def share_out(strata: Sequence[Stratum], n_labels: int, mix: float) -> list[Stratum]:
    """Allocate labels to strata; a stratum of which few rows would be left is labelled whole."""
    stakes = np.array([each.at_stake for each in strata])
    rates = np.array([each.rate for each in strata])
    spread = stakes * np.sqrt(rates * (1 - rates))
    wanted = mix * stakes / stakes.sum()
    if spread.sum() > 0:
        wanted = np.maximum(wanted, (1 - mix) * spread / spread.sum())
    rows = np.array([each.rows for each in strata], dtype=np.float64)
    open_ones = (stakes > 0) & (rows > 0)
    least = np.where(open_ones, np.minimum(LEAST, rows), 0.0)
    most = np.where(open_ones, rows, 0.0)
    worth = np.where(open_ones, stakes / np.maximum(rows, 1), -1.0)
    settled = np.zeros(len(strata), dtype=bool)
    for _ in strata:
        labels = _rounded(wanted, least, most, n_labels)
        short = open_ones & ~settled & (rows - labels < LEAST_LEFT)
        if not short.any():
            break
        # One at a time, first where a label is worth most, because the others then get fewer.
        place = int(np.argmax(np.where(short, worth, -np.inf)))
        settled[place] = True
        others = np.delete(most, place).sum()
        if rows[place] + np.delete(least, place).sum() <= n_labels:
            least[place] = rows[place]
        else:  # leave some of its rows, unless the others cannot take the labels
            most[place] = max(rows[place] - LEAST_LEFT, least[place], n_labels - others)
    return [replace(each, labels=int(n)) for each, n in zip(strata, labels, strict=True)]


def _rounded(wanted: Floats, least: Floats, most: Floats, n: int) -> Floats:
    """Return whole numbers in proportion to `wanted`, within bounds, that add up to n."""
    low, high = 0.0, n / max(float(wanted[most > 0].min(initial=1.0)), TINY)
    for _ in range(STEPS):
        middle = (low + high) / 2
        exact = np.clip(middle * wanted, least, most)
        low, high = (middle, high) if exact.sum() < n else (low, middle)
    exact = np.clip(high * wanted, least, most)
    labels = np.maximum(np.floor(exact + CLOSE), least)
    order = np.argsort(-(exact - labels), kind="stable")
    while labels.sum() < n:
        before = labels.sum()
        for place in order:
            if labels.sum() < n and labels[place] < most[place]:
                labels[place] += 1
        if labels.sum() == before:
            break
    return np.asarray(labels)


@dataclass(frozen=True, eq=False)
class Expected(Result):
    """Expected result of a plan, if the guessed rates are right.

    Attributes
    ----------
    cost, low, high : float
        The estimate and its limits, per decision.
    high_if_triple : float
        The upper limit if expensive outcomes are three times as frequent.
    confidence : float
        Confidence level of the interval.

    Examples
    --------
    >>> from stakes.audit import Expected
    >>> Expected(cost=1.0, low=0.5, high=2.0, high_if_triple=4.0, confidence=0.95).half_width
    0.75
    """

    cost: float
    low: float
    high: float
    high_if_triple: float
    confidence: float

    @property
    def half_width(self) -> float:
        """Half the distance between the limits."""
        return (self.high - self.low) / 2


def expect(
    strata: Sequence[Stratum], confidence: float, times: float = 1.0, *, anytime: bool = False
) -> Expected:
    """Return the expected result of a plan, if rates are `times` as high as guessed.

    The limits are those of S + E·(Top - S) as in the interval of strata, with a gamma distribution
    of the same mean, variance and skewness. They are within some percent, closer than the guesses.
    Where labels are read at any time, they are the guaranteed limits of the expected counts.
    """
    total = sum(each.rows for each in strata)
    rows, n, p, span, low = np.array(
        [[each.rows, each.labels, each.rate, each.high - each.low, each.low] for each in strata],
        dtype=np.float64,
    ).T
    p = np.minimum(times * p, 1.0)
    cost = float((rows * (low + p * span)).sum()) / total
    left = (rows - n) / total * span
    kept = left > 0
    arms = [0.0, 0.0]
    if kept.any() and anytime:
        found = _guaranteed(strata, p, total, 1 - confidence)
        arms = [cost - found[0], found[1] - cost]
    elif kept.any():
        arms = [
            _expected_arm(rates[kept], n[kept], left[kept], 1 - confidence) for rates in (1 - p, p)
        ]
    ends = [float((rows * end).sum()) / total for end in (low, low + span)]
    triple = cost if times != 1 else expect(strata, confidence, 3.0, anytime=anytime).high
    low_limit, high_limit = max(cost - arms[0], ends[0]), min(cost + arms[1], ends[1])
    return Expected(cost, float(low_limit), float(high_limit), float(triple), confidence)


def allocate(strata: Sequence[Stratum], n_labels: int, confidence: float) -> list[Stratum]:
    """Allocate labels to strata by the mix with the smallest expected limit."""
    open_ones = [each for each in strata if each.at_stake > 0]
    rows = sum(each.rows for each in open_ones)
    if not open_ones:
        raise PlanError(
            "n_labels",
            "nothing is left to know: every row costs the same, whatever its class.",
            "Two models that decide alike everywhere cost the same.",
        )
    if n_labels > rows:
        raise PlanError(
            "n_labels", f"{number(n_labels)} labels are more than the {number(rows)} rows at stake."
        )
    least = sum(min(LEAST, each.rows) for each in open_ones)
    if n_labels < least:
        raise PlanError(
            "n_labels",
            f"there are {len(open_ones)} kinds of rows whose costs differ; at least {least} labels "
            f"are needed, got {n_labels}.",
        )
    two = len(open_ones[0].decided) > 1

    def goal(made: Sequence[Stratum]) -> float:
        found = expect(made, confidence, times=1.0 + TINY)
        return found.half_width if two else found.high

    return min((share_out(strata, n_labels, mix) for mix in MIXES), key=goal)


def _guaranteed(
    strata: Sequence[Stratum], rates: Floats, total: int, alpha: float
) -> tuple[float, float]:
    """Return the guaranteed limits, if as many labels are expensive as expected."""
    made = []
    for each, rate in zip(strata, rates.tolist(), strict=True):
        if not each.rows:
            continue
        counts = each.labels * np.array([1 - rate, rate])
        costs = [each.low, each.high]
        if each.high == each.low:
            costs, counts = costs[:1], np.array([each.rows])
        part = make_stratum(costs, counts, weight=each.rows / total)
        known = float(counts.sum()) / each.rows
        made.append(replace(part, labelled=known, left=each.rows - float(counts.sum())))
    low, high = guaranteed.limits(Outcomes(tuple(made), "finite"), alpha)
    return float(low[0]), float(high[0])


def _expected_arm(p: Floats, n: Floats, left: Floats, alpha: float) -> float:
    """Return the distance of the limit from the mean, on the side of the end that has rate p."""
    several = n >= LEAST
    q = 1 - p
    n = np.maximum(n, 1.0)  # nothing is known of a stratum without labels
    v = float(left.sum() / (left / n)[several].max()) if several.any() else 1.0
    gain = float((left * q).sum())
    steps = (left * q / n)[several]
    v = min(v, gain / steps.max()) if steps.size and steps.max() > 0 else v
    first = WEIGHT / (WEIGHT + v)
    second = WEIGHT * v / ((WEIGHT + v) ** 2 * (WEIGHT + v + 1))
    third = 2 * (v - WEIGHT) * second / ((WEIGHT + v) * (WEIGHT + v + 2))
    variance = float((left**2 * p * q / (n + 1)).sum()) + second * gain**2
    skewed = float((left**3 * 2 * (q - p) * p * q / ((n + 1) * (n + 2))).sum()) + third * gain**3
    if variance <= 0:
        return first * gain
    skewness = skewed / variance**1.5
    return first * gain + math.sqrt(variance) * float(pearson3_isf(alpha / 2, skewness))
