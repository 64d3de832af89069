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

Floats = NDArray[np.float64]

NEARLY_WHOLE = 1e-9
"""By how much, relatively, a number of examples may miss a whole one by rounding."""


@dataclass(frozen=True)
class Multinomial:
    """Examples that fall independently into cells.

    Attributes
    ----------
    n : float
        The number of examples; the cells need not make up all of it, the rest counts for nothing.
    counts : ndarray, shape (cells, conditions)
        How many examples fell into each cell.
    values : ndarray, shape (cells, conditions)
        What one example in the cell adds to the height.
    """

    n: float
    counts: Floats
    values: Floats

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
        The number of examples of the class.
    counts : ndarray, shape (kinds, conditions)
        One classifier: its mistakes. Two: the mistakes of the first alone, and of the second alone.
    """

    n: float
    counts: Floats

    def at(self, index: NDArray[np.intp]) -> Mistakes:
        """Return the mistakes at other conditions, each with the index of its piece."""
        return Mistakes(self.n, self.counts[:, index])


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
    parts = []
    for mistakes, weight in ((positives, pc), (negatives, 1 - pc)):
        signs = np.array([[1.0], [-1.0]])[: len(mistakes.counts)]
        parts.append(Multinomial(mistakes.n, mistakes.counts, signs * weight / mistakes.n))
    if not full:
        return parts
    return [
        Multinomial(
            positives.n + negatives.n,
            np.concatenate([part.counts for part in parts]),
            np.concatenate([part.values for part in parts]),
        )
    ]
