"""What a curve's height is made of at each operating condition: counts, and what each counts for.

A test set is drawn either class by class (stratified: two multinomials) or as a whole (full: one).
In both cases the height is a sum of counts times values, and all of Dugas & Gadoury's (2008)
moments are those of such sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stakes._core.typing import Floats
from stakes.counts._arrays import effective_size

NEARLY_WHOLE = 1e-9
"""By how much, relatively, a number of examples may miss a whole one by rounding."""


@dataclass(frozen=True)
class Multinomial:
    """Examples that fall independently into cells.

    Attributes
    ----------
    n : float or ndarray, shape (conditions,)
        The number of examples; the cells need not make up all of it, the rest counts for nothing.
    counts : ndarray, shape (cells, conditions)
        How many examples fell into each cell.
    values : ndarray, shape (cells, conditions)
        What one example in the cell adds to the height.
    """

    n: float | Floats
    counts: Floats
    values: Floats

    @property
    def size(self) -> int:
        """The number of examples, where they have no weights."""
        return round(float(self.n))

    def mean(self) -> Floats:
        """Return what the examples add to the height."""
        return np.asarray((self.counts * self.values).sum(axis=0))

    def variance(self) -> Floats:
        """Return its variance when the examples are drawn anew."""
        squares = (self.counts * self.values**2).sum(axis=0)
        return np.asarray(np.maximum(squares - self.mean() ** 2 / self.n, 0.0))

    def scaled(self, factor: float) -> Multinomial:
        """Return the same with every example counting `factor` times as much."""
        return Multinomial(self.n, self.counts, factor * self.values)


Sample = Sequence[Multinomial]
"""Independent multinomials that make up a height together."""


def mean(sample: Sample) -> Floats:
    """Return the height: equations 4 and 7 for two classes, 9 and 12 for one draw of both."""
    return np.asarray(sum(part.mean() for part in sample))


def variance(sample: Sample) -> Floats:
    """Return its bootstrap variance: equations 5 and 8, 10 and 13."""
    return np.asarray(sum(part.variance() for part in sample))


@dataclass(frozen=True)
class Mistakes:
    """The mistakes in one class, at each operating condition.

    Attributes
    ----------
    n : float
        The number of examples of the class, or the sum of their weights.
    counts : ndarray, shape (kinds, conditions)
        One classifier: its mistakes. Two: the mistakes of the first alone, and of the second alone.
    squares : ndarray, shape (kinds, conditions), or None
        The sums of their squared weights.
    all_squares : float or None
        The sum of the squared weights of all examples of the class.
    """

    n: float
    counts: Floats
    squares: Floats | None = None
    all_squares: float | None = None

    def at(self, index: NDArray[np.intp]) -> Mistakes:
        """Return the mistakes at other conditions, each with the index of its piece."""
        squares = None if self.squares is None else self.squares[:, index]
        return Mistakes(self.n, self.counts[:, index], squares, self.all_squares)


def mistakes(n: float, rates: Floats) -> Mistakes:
    """Return the numbers of one classifier's mistakes, without the rounding of their rates."""
    counts = rates * n
    whole = np.round(counts)
    near = np.abs(counts - whole) <= NEARLY_WHOLE * np.maximum(whole, 1.0)
    return Mistakes(n, np.where(near, whole, counts)[np.newaxis])


def drawn(pc: Floats, positives: Mistakes, negatives: Mistakes, *, full: bool) -> Sample:
    """Return the sample that a curve's height is made of at each condition.

    The height is PC(+) times the positives' rate of mistakes plus 1 - PC(+) times the negatives';
    mistakes of a second classifier count against the first's. Under full sampling the numbers of
    positives and negatives vary too, and with them what their mistakes add up to.
    """
    values = []
    for found, weight in ((positives, pc), (negatives, 1 - pc)):
        signs = np.array([[1.0], [-1.0]])[: len(found.counts)]
        values.append(signs * weight / found.n)
    if not full:
        return [_multinomial(positives, values[0]), _multinomial(negatives, values[1])]
    both = (positives, negatives)
    squares = all_squares = None
    if positives.squares is not None and negatives.squares is not None:
        squares = np.concatenate([positives.squares, negatives.squares])
        all_squares = (positives.all_squares or 0.0) + (negatives.all_squares or 0.0)
    counts = np.concatenate([found.counts for found in both])
    joined = Mistakes(positives.n + negatives.n, counts, squares, all_squares)
    return [_multinomial(joined, np.concatenate(values))]


def _multinomial(found: Mistakes, values: Floats) -> Multinomial:
    """Return a multinomial as precise as the examples are, which weights make less so.

    As many examples without weights would have the variance Σ w² (v - mean)² / (Σ w)² of the
    weighted mean; where that or theirs is zero, (Σ w)² / Σ w² (Kish 1965).
    """
    if found.squares is None:
        return Multinomial(found.n, found.counts, values)
    shares, effect = found.counts / found.n, values * found.n
    mean = (shares * effect).sum(axis=0)
    spread = (shares * effect**2).sum(axis=0) - mean**2
    others = np.maximum((found.all_squares or 0.0) - found.squares.sum(axis=0), 0.0)
    noise = (found.squares * (effect - mean) ** 2).sum(axis=0) + others * mean**2
    usable = (spread > 0) & (noise > 0)
    kish = effective_size(found.n, found.all_squares)
    n = np.where(usable, spread * found.n**2 / np.where(usable, noise, 1.0), kish)
    return Multinomial(n, shares * n, effect / n)
