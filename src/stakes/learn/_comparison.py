"""What one learning algorithm's classifiers cost more than another's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtrc, stdtr, stdtrit

from stakes._core import validate
from stakes._core.text import dearer, html_table, number, p_value, percent
from stakes._core.typing import Floats
from stakes._core.values import readonly_copy
from stakes.costs import CostMatrix
from stakes.counts import PairedConfusion
from stakes.errors import InputError
from stakes.infer._inference import Interval
from stakes.infer._outcomes import cost_differences
from stakes.infer.difference import CostDifference

# Tests for the differences of two learners over several splits of the same examples.

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


ROUNDING = 1e-12
"""Differences below this share of the largest cost are sums that did not quite cancel."""


@dataclass(frozen=True, repr=False, eq=False)
class LearnerDifference:
    r"""What one learner's classifiers cost more than another's, over splits of the same examples.

    Made by `LearnerComparison.difference`.

    Attributes
    ----------
    names : pair of str
        The learners.
    tables : tuple of PairedConfusion
        What the two decided on the test part of each split.
    test_share : float
        The size of a test part relative to its training part, n_test/n_train, on average.
    costs : CostMatrix
        What it costs.
    kind : {"corrected", "5x2cv"}
        How the differences are tested.
    confidence : float
        How sure intervals and verdicts are to be, unless said otherwise.
    unit : str
        The unit of the costs.

    Notes
    -----
    `compare_learners` has the t tests. With the ten differences :math:`d` of 5×2cv and the sums
    :math:`s_r^2` of squares about the mean of each repetition, the combined test takes
    :math:`\sum d^2 \big/ \left(2 \sum_r s_r^2\right)` as F with 10 and 5 degrees of freedom.

    References
    ----------
    Nadeau & Bengio (2003).

    Dietterich (1998).

    Alpaydin (1999).

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from stakes import CostMatrix
    >>> from stakes.learn import compare_learners
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=5)
    >>> X, y = make_classification(1000, class_sep=0.5, random_state=1)
    >>> learners = {"bayes": GaussianNB(), "nearest": KNeighborsClassifier(1)}
    >>> compared = compare_learners(learners, X, y, costs, random_state=0)
    >>> difference = compared.difference("bayes", "nearest")
    >>> round(difference.difference, 2), round(difference.p_value, 2)
    (-0.41, 0.0)
    >>> difference.wins, difference.ties, difference.losses
    (19, 6, 0)
    """

    names: tuple[str, str]
    tables: tuple[PairedConfusion, ...]
    test_share: float
    costs: CostMatrix
    kind: str = "corrected"
    confidence: float = 0.95
    unit: str = ""

    @cached_property
    def differences(self) -> NDArray[np.float64]:
        """The cost of the first minus that of the second per decision, in each split."""
        delta = cost_differences(self.costs.values)
        found = np.array([float((each.counts * delta).sum()) / each.n for each in self.tables])
        largest = float(np.abs(delta).max())
        return readonly_copy(np.where(np.abs(found) <= ROUNDING * largest, 0.0, found))

    @property
    def difference(self) -> float:
        """The mean difference; every split counts alike."""
        return float(self.differences.mean())

    @property
    def statistic(self) -> float:
        """The t statistic."""
        return self._test().statistic

    @property
    def p_value(self) -> float:
        """The two-sided p-value of the t test; 1 where the two never differ."""
        return self._test().p_value

    @property
    def combined_p_value(self) -> float:
        """The p-value of the combined 5×2cv F test (Alpaydin 1999); only for that design."""
        if self.kind != "5x2cv":
            raise InputError(
                "combined_p_value",
                "the combined F test is for five repetitions of two halves. Compare the learners "
                "with test='5x2cv'.",
            )
        return five_by_two_f(self.differences)[1]

    def interval(self, confidence: float | None = None) -> Interval:
        """Return the interval that belongs to the t test.

        That of the 5×2cv test is around the difference in the first half of the first repetition,
        which is the one it tests, and not around the mean.

        Parameters
        ----------
        confidence : float, optional
            By default that of the comparison.

        Returns
        -------
        Interval
        """
        sure = self.confidence if confidence is None else confidence
        low, high = self._test().limits(validate.alpha(sure))
        return Interval(low, high, sure, f"{self.kind} t")

    def cheaper(self, confidence: float | None = None) -> str | None:
        """Return the learner that the t test shows to be cheaper, or None for a tie.

        Parameters
        ----------
        confidence : float, optional
            By default that of the comparison.

        Returns
        -------
        str or None
        """
        sure = self.confidence if confidence is None else confidence
        if self.p_value > validate.alpha(sure):
            return None
        return self.names[1] if self.statistic > 0 else self.names[0]

    @cached_property
    def verdicts(self) -> tuple[str, ...]:
        """What BDELTACOST says of the two classifiers of each split, for the first learner.

        "win" where the first one's classifier is cheaper, "loss" where the second one's is, else
        "tie"; each split by itself, by the exact bootstrap distribution, as the thesis counts them
        (section 6.3). These are verdicts on classifiers, and those of overlapping training parts
        are not independent: no p-value follows from their number.
        """
        return tuple(map(self._verdict, self.tables))

    @property
    def wins(self) -> int:
        """In how many splits the first learner's classifier is cheaper, by BDELTACOST."""
        return self.verdicts.count("win")

    @property
    def ties(self) -> int:
        """In how many splits BDELTACOST cannot tell."""
        return self.verdicts.count("tie")

    @property
    def losses(self) -> int:
        """In how many splits the second learner's classifier is cheaper, by BDELTACOST."""
        return self.verdicts.count("loss")

    def summary(self, confidence: float | None = None) -> str:
        """Say which learner is cheaper, by how much, and how sure that is.

        Parameters
        ----------
        confidence : float, optional
            By default that of the comparison.

        Returns
        -------
        str
        """
        interval = self.interval(confidence)
        cheaper = self.cheaper(confidence)
        written = p_value(self.p_value)
        sure = f"p {written}" if written.startswith("<") else f"p = {written}"
        verdict = f"{cheaper} is the cheaper learner" if cheaper else "a tie"
        return (
            f"Over {len(self.tables)} splits {dearer(self.names, self.difference, self.unit)} "
            f"({number(interval.low)} to {number(interval.high)} with "
            f"{percent(interval.confidence)} confidence): {verdict} ({sure}). "
            f"Split by split, {self.names[0]} wins {self.wins}, ties {self.ties} and loses "
            f"{self.losses}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the comparison as plain numbers and lists.

        Returns
        -------
        dict
        """
        result = {
            "names": list(self.names),
            "test": self.kind,
            "difference": self.difference,
            "unit": self.unit,
            "interval": self.interval().to_dict(),
            "statistic": self.statistic,
            "p_value": self.p_value,
            "differences": self.differences.tolist(),
            "verdicts": list(self.verdicts),
        }
        if self.kind == "5x2cv":
            result["combined_p_value"] = self.combined_p_value
        return result

    def _test(self) -> StudentTest:
        if self.kind == "5x2cv":
            return five_by_two_t(self.differences)
        return corrected_t(self.differences, self.test_share)

    def _verdict(self, table: PairedConfusion) -> str:
        found = CostDifference(table, self.costs, self.names)
        if not found.difference or not found.test("exact", confidence=self.confidence).rejected:
            return "tie"
        return "win" if found.difference < 0 else "loss"

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return html_table(["comparison"], [[self.summary()]])
