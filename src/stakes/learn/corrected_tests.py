"""Tests for the differences of two learners over several splits of the same examples.

The training parts of the splits overlap, and in repeated splits the test parts do too. So the
differences are not independent, and the usual t test takes them for far more than they are worth.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc, stdtr, stdtrit

from stakes._core.typing import Floats

REPETITIONS, HALVES = 5, 2


@dataclass(frozen=True)
class StudentTest:
    """A t test, and the interval that belongs to it.

    Attributes
    ----------
    centre, error : float
        The middle of the interval and its standard error.
    freedom : int
        The degrees of freedom.
    """

    centre: float
    error: float
    freedom: int

    @property
    def statistic(self) -> float:
        """The centre in standard errors; 0 where there is no difference at all."""
        return _ratio(self.centre, self.error)

    @property
    def p_value(self) -> float:
        """The two-sided p-value."""
        return min(1.0, 2 * float(stdtr(self.freedom, -abs(self.statistic))))

    def limits(self, alpha: float) -> tuple[float, float]:
        """Return the limits that exclude zero exactly when the p-value is below alpha."""
        arm = float(stdtrit(self.freedom, 1 - alpha / 2)) * self.error
        return self.centre - arm, self.centre + arm


def corrected_t(differences: Floats, test_share: float) -> StudentTest:
    """Return the corrected resampled t test (Nadeau & Bengio 2003, section 3).

    The variance of the mean of J differences is taken to be (1/J + n_test/n_train)·S² and not S²/J.

    Parameters
    ----------
    differences : ndarray, shape (J,)
        The difference in each split.
    test_share : float
        n_test/n_train, the size of a test part relative to its training part.
    """
    count = len(differences)
    variance = (1 / count + test_share) * float(differences.var(ddof=1))
    return StudentTest(float(differences.mean()), float(np.sqrt(variance)), count - 1)


def five_by_two_t(differences: Floats) -> StudentTest:
    """Return Dietterich's 5×2cv t test (1998, section 3.5).

    Its numerator is the difference in the first half of the first repetition alone; the variance
    is the average over the repetitions of that of their two halves.

    Parameters
    ----------
    differences : ndarray, shape (10,)
        The differences: both halves of the first repetition, then those of the second, …
    """
    error = float(np.sqrt(_half_variances(differences).mean()))
    return StudentTest(float(differences[0]), error, REPETITIONS)


def five_by_two_f(differences: Floats) -> tuple[float, float]:
    """Return the statistic and the p-value of Alpaydin's combined 5×2cv F test (1999).

    Parameters
    ----------
    differences : ndarray, shape (10,)
        As in `five_by_two_t`.
    """
    statistic = _ratio(float((differences**2).sum()), 2 * float(_half_variances(differences).sum()))
    return statistic, float(fdtrc(REPETITIONS * HALVES, REPETITIONS, statistic))


def _half_variances(differences: Floats) -> Floats:
    """Return the variance of the two halves of each repetition."""
    pairs = differences.reshape(REPETITIONS, HALVES)
    return np.asarray(((pairs - pairs.mean(axis=1, keepdims=True)) ** 2).sum(axis=1))


def _ratio(value: float, error: float) -> float:
    """Divide; without any error, what is not zero is infinitely far from it."""
    if error == 0:
        return float(np.sign(value) * np.inf) if value else 0.0
    return value / error
