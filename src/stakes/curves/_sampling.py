"""Multinomial counts and their values, which add up to a curve's height at each condition.

A test set is sampled either class by class (stratified: two multinomials) or as a whole (full:
one). In both cases the height is a sum of counts times values, and all of Dugas & Gadoury's (2008)
moments are those of such sums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label
from stakes._core.typing import Floats
from stakes.counts import PairedConfusion, PairedScoreCounts
from stakes.counts._labelled import effective_size
from stakes.counts.paired_scores import left_out
from stakes.errors import DesignError

ROWS_TOGETHER = 2**16
"""Number of rows processed together, so that temporary arrays fit in the processor's cache."""

NEARLY_WHOLE = 1e-9
"""Relative rounding error within which a number of examples is taken as a whole number."""


@dataclass(frozen=True)
class Multinomial:
    """Examples that fall independently into cells.

    Attributes
    ----------
    n : float or ndarray, shape (conditions,)
        The number of examples; those outside of all cells add nothing to the height.
    counts : ndarray, shape (cells, conditions)
        The number of examples in each cell.
    values : ndarray, shape (cells, conditions)
        The amount that one example in the cell adds to the height.
    rooms : pair of ndarray, shape (cells, conditions), or None
        The size assumed of an unobserved example, relative to the examples: outside of the cell
        (which makes its rate lower), and in it. None if all examples have the same size.
    shared : ndarray, shape (conditions,), or None
        The correlation with the previous multinomial, if they are not independent.
    """

    n: float | Floats
    counts: Floats
    values: Floats
    rooms: tuple[Floats, Floats] | None = None
    shared: Floats | None = None

    @property
    def size(self) -> int:
        """The number of examples, if they have no weights."""
        return round(float(self.n))

    def mean(self) -> Floats:
        """Return the amount that the examples add to the height."""
        return np.asarray((self.counts * self.values).sum(axis=0))

    def variance(self) -> Floats:
        """Return the variance of that amount over new samples."""
        squares = (self.counts * self.values**2).sum(axis=0)
        return np.asarray(np.maximum(squares - self.mean() ** 2 / self.n, 0.0))

    def scaled(self, factor: float) -> Multinomial:
        """Return the multinomial with all values multiplied by `factor`."""
        return replace(self, values=factor * self.values)

    def capped(self) -> Multinomial:
        """Return the multinomial with n reduced as if all had the size of an unobserved example."""
        if self.rooms is None:
            return self
        n = self.n / np.maximum(np.maximum(*self.rooms).max(axis=0), 1.0)
        share = n / self.n
        return replace(self, n=n, counts=self.counts * share, values=self.values / share)


Sample = Sequence[Multinomial]
"""Multinomials whose sum is the height, independent except for `shared`."""

SampleAt = Callable[[Floats, bool], Sample]
"""Function that returns the sample at operating conditions; True stands for full sampling."""


def mean(sample: Sample) -> Floats:
    """Return the height: equations 4 and 7 (stratified), 9 and 12 (full sampling)."""
    return np.asarray(sum(part.mean() for part in sample))


def variance(sample: Sample) -> Floats:
    """Return the bootstrap variance of the height: equations 5 and 8, 10 and 13."""
    return joined(sample, [part.variance() for part in sample])


def joined(sample: Sample, squares: Sequence[Floats]) -> Floats:
    """Add up variances, or squared distances, and twice the covariances of correlated parts."""
    total = np.asarray(sum(squares))
    for place, part in enumerate(sample):
        if part.shared is not None:
            total = total + 2 * part.shared * np.sqrt(squares[place - 1] * squares[place])
    return np.asarray(total)


@dataclass(frozen=True)
class Mistakes:
    """The mistakes in one class, at each operating condition.

    Attributes
    ----------
    n : float
        The number of examples of the class, or the sum of their weights.
    counts : ndarray, shape (kinds, conditions)
        For one classifier, its mistakes; for two, those of the first alone and of the second alone.
    squares : ndarray, shape (kinds, conditions), or None
        The sums of their squared weights.
    all_squares : float or None
        The sum of the squared weights of all examples of the class.
    rooms : pair of ndarray, shape (kinds, conditions), or None
        The weight assumed of an unobserved correct example, and of an unobserved mistake; with
        groups, the size of a whole group of them.
    draws : ndarray, shape (conditions,), or None
        The effective number of independent examples, if it does not follow from `squares`.
    shared : ndarray, shape (conditions,), or None
        The correlation with the mistakes in the other class.
    """

    n: float
    counts: Floats
    squares: Floats | None = None
    all_squares: float | None = None
    rooms: tuple[Floats, Floats] | None = None
    draws: Floats | None = None
    shared: Floats | None = None

    def at(self, index: NDArray[np.intp]) -> Mistakes:
        """Return the mistakes at other conditions, given the index of the piece of each."""
        rooms = self.rooms
        return replace(
            self,
            counts=self.counts[:, index],
            squares=None if self.squares is None else self.squares[:, index],
            rooms=None if rooms is None else (rooms[0][:, index], rooms[1][:, index]),
            draws=None if self.draws is None else self.draws[index],
            shared=None if self.shared is None else self.shared[index],
        )


def mistakes(n: float, rates: Floats) -> Mistakes:
    """Return the numbers of one classifier's mistakes, without the rounding errors of rates."""
    counts = rates * n
    whole = np.round(counts)
    near = np.abs(counts - whole) <= NEARLY_WHOLE * np.maximum(whole, 1.0)
    return Mistakes(n, np.where(near, whole, counts)[np.newaxis])


def discordant_decisions(counts: PairedConfusion, pos_label: Label) -> tuple[Mistakes, Mistakes]:
    """Count the positives, and the negatives, that only one of two classifiers decides wrongly."""
    at = counts.labels.index(pos_label)
    squares = counts.squares
    found = []
    for actual in (at, 1 - at):
        right, wrong = (counts.decisions.index(counts.labels[j]) for j in (actual, 1 - actual))
        found.append(
            Mistakes(
                float(counts.counts[..., actual].sum()),
                _discordant_cells(counts.counts[..., actual], right, wrong),
                None if squares is None else _discordant_cells(squares[..., actual], right, wrong),
                None if squares is None else float(squares[..., actual].sum()),
            )
        )
    return _with_rooms(found[0], found[1])


def _with_rooms(positives: Mistakes, negatives: Mistakes) -> tuple[Mistakes, Mistakes]:
    """Return the mistakes with the weight assumed of an unobserved mistake of only one of two.

    It is the largest `_heaviness` of its class, of such mistakes in its class, and of all examples
    with the same two decisions: a positive that only the first misses is decided like a negative
    that only the second calls positive.
    """
    found = []
    for mine, other in ((positives, negatives), (negatives, positives)):
        if mine.squares is None or other.squares is None:
            return positives, negatives
        lone = [_heaviness(mine.squares, mine.counts)]
        lone.append(
            _heaviness(mine.squares + other.squares[::-1], mine.counts + other.counts[::-1])
        )
        whole = (mine.all_squares or 0.0) / mine.n if mine.n else 0.0
        inside = np.maximum(np.maximum(*lone), whole)
        rest = _heaviness((mine.all_squares or 0.0) - mine.squares, mine.n - mine.counts)
        found.append(replace(mine, rooms=(np.maximum(rest, whole), inside)))
    return found[0], found[1]


def _heaviness(squares: Floats, amounts: Floats) -> Floats:
    """Return Σw²/Σw, or 0 where there are no amounts."""
    some = amounts > 0
    return np.where(some, squares / np.where(some, amounts, 1.0), 0.0)


def _discordant_cells(table: NDArray[Any], right: int, wrong: int) -> Floats:
    """Return the cells of a table by both decisions where only the first, only the second errs."""
    return np.array([[table[wrong, right]], [table[right, wrong]]], dtype=np.float64)


def discordant_scores(
    counts: PairedScoreCounts, cuts: tuple[NDArray[np.intp], NDArray[np.intp]]
) -> tuple[Mistakes, Mistakes]:
    """Count the positives, and the negatives, that only one of two scorers decides wrongly.

    They are counted for each piece of the two curves' difference; `cuts` are the numbers of highest
    scores that each of the two calls positive there. One pass is enough: each of the two calls an
    example positive from one piece on. Between those two pieces only one of them is wrong, so the
    counts are cumulative sums of the examples that begin and cease to be such.
    """
    entries = [left_out(counts, place, cut) for place, cut in zip((1, 2), cuts, strict=True)]
    shape = 2, 2, len(cuts[0]) + 1  # by class, by who is wrong, by piece
    size, n = int(np.prod(shape)), len(counts.positive)
    given = [counts.amounts] if counts.squares is None else [counts.amounts, counts.squares]
    changes = np.zeros((len(given), size))
    # Sums of weights depend on their order, so only examples without weights are taken in parts.
    together = max(ROWS_TOGETHER, size) if counts.amounts is None else n
    for start in range(0, n, together):
        taken = slice(start, start + together)
        first, second = (entry(taken) for entry in entries)
        differ = np.flatnonzero(first != second)
        first, second, positive = first[differ], second[differ], counts.positive[taken][differ]
        second_is_wrong = positive == (first < second)  # where the first alone calls it positive
        row = (2 * positive.astype(np.int32) + second_is_wrong) * np.int32(shape[2])
        begin, end = row + np.minimum(first, second), row + np.maximum(first, second)
        for kind, each in enumerate(given):
            weights = None if each is None else each[taken][differ]
            begun, ended = (np.bincount(at, weights, size) for at in (begin, end))
            changes[kind] += begun - ended
    running = np.cumsum(changes.reshape(-1, *shape), axis=3)[..., :-1]
    sums, *more = np.maximum(running, 0.0)
    squares = more[0] if more else None
    found = []
    for actual, rows in ((1, counts.positive), (0, ~counts.positive)):
        total = rows.sum() if counts.amounts is None else counts.amounts[rows].sum()
        found.append(
            Mistakes(
                float(total),
                sums[actual],
                None if squares is None else squares[actual],
                None if counts.squares is None else float(counts.squares[rows].sum()),
            )
        )
    return _with_rooms(found[0], found[1])


def drawn(pc: Floats, positives: Mistakes, negatives: Mistakes, *, full: bool) -> Sample:
    """Return the multinomials whose sum is a curve's height at each condition.

    The height is PC(+) times the error rate of the positives plus 1 - PC(+) times that of the
    negatives; mistakes of a second classifier are subtracted. Under full sampling the numbers of
    positives and negatives vary too, and so does the sum of their mistakes.
    """
    values = []
    for found, weight in ((positives, pc), (negatives, 1 - pc)):
        signs = np.array([[1.0], [-1.0]])[: len(found.counts)]
        values.append(signs * weight / found.n)
    if not full:
        return [_multinomial(positives, values[0]), _multinomial(negatives, values[1])]
    both = (positives, negatives)
    if any(found.draws is not None for found in both):
        raise DesignError(
            "sampling",
            "'full' needs independent examples, and these are in groups.",
            "Use 'stratified'.",
        )
    squares = all_squares = rooms = None
    if positives.squares is not None and negatives.squares is not None:
        squares = np.concatenate([positives.squares, negatives.squares])
        all_squares = (positives.all_squares or 0.0) + (negatives.all_squares or 0.0)
    if positives.rooms is not None and negatives.rooms is not None:
        low, high = zip(positives.rooms, negatives.rooms, strict=True)
        rooms = (np.concatenate(low), np.concatenate(high))
    counts = np.concatenate([found.counts for found in both])
    whole = Mistakes(positives.n + negatives.n, counts, squares, all_squares, rooms)
    return [_multinomial(whole, np.concatenate(values))]


def _multinomial(found: Mistakes, values: Floats) -> Multinomial:
    """Return a multinomial with the effective number of examples, which weights reduce.

    It is the number of unweighted examples with the variance Σ w² (v - mean)² / (Σ w)² of the
    weighted mean; where either variance is zero, (Σ w)² / Σ w² (Kish 1965).
    """
    if found.squares is None and found.draws is None:
        return Multinomial(found.n, found.counts, values)
    shares, effect = found.counts / found.n, values * found.n
    n = _worth(found, shares, effect) if found.draws is None else found.draws
    rooms = None
    if found.rooms is not None:
        low, high = (room * n / found.n for room in found.rooms)
        rooms = (low, high)
    return Multinomial(n, shares * n, effect / n, rooms, found.shared)


def _worth(found: Mistakes, shares: Floats, effect: Floats) -> Floats:
    """Return the number of examples without weights that would have the same variance."""
    squares = np.asarray(found.squares)
    mean = (shares * effect).sum(axis=0)
    spread = (shares * effect**2).sum(axis=0) - mean**2
    others = np.maximum((found.all_squares or 0.0) - squares.sum(axis=0), 0.0)
    noise = (squares * (effect - mean) ** 2).sum(axis=0) + others * mean**2
    usable = (spread > 0) & (noise > 0)
    kish = effective_size(found.n, found.all_squares)
    return np.where(usable, spread * found.n**2 / np.where(usable, noise, 1.0), kish)


def whole_numbers(sample: Sample, method: str) -> None:
    """Raise when counts are not whole numbers of examples, which resampling needs."""
    for part in sample:
        sizes = (np.asarray(part.n), part.counts)
        if np.ndim(part.n) or any((each != np.round(each)).any() for each in sizes):
            raise DesignError(
                "method",
                f"{method!r} draws whole examples, not groups, weights or rates.",
                "Use 'mover', 'wilson' or 'gaussian'.",
            )


def distinct(sample: Sample) -> Iterator[NDArray[np.intp]]:
    """Iterate over the groups of conditions that share all counts."""
    counts = np.concatenate([part.counts for part in sample])
    _, inverse = np.unique(counts, axis=1, return_inverse=True)
    inverse = inverse.ravel()  # numpy 2.0 returns it with as many dimensions as the counts
    order = np.argsort(inverse, kind="stable")
    cuts = np.flatnonzero(np.diff(inverse[order])) + 1
    yield from np.split(order, cuts)
