"""The cost line of a hard classifier, which is a point in ROC space."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label
from stakes._core.typing import Floats
from stakes._core.values import check_fields
from stakes.counts import Confusion, GroupedConfusion
from stakes.curves._base import Curve
from stakes.curves._rates import mistakes_at, scores_of
from stakes.curves._sampling import Mistakes, Sample, drawn, mistakes
from stakes.curves.condition import Pieces
from stakes.errors import DesignError, InputError
from stakes.measures.agreement import rates


@dataclass(frozen=True, repr=False)
class CostLine(Curve):
    """The cost line of a classifier that decides without a threshold to choose.

    The point (fpr, tpr) of ROC space is, in cost space, the line from fpr at PC(+) = 0 to 1 - tpr
    at PC(+) = 1 (Holte & Drummond 2005, section 2).

    Parameters
    ----------
    fpr, tpr : float
        The false and the true positive rate.
    positives, negatives : float, optional
        The numbers of examples of each class; a band needs them.
    name : str, optional
        The classifier's name.
    drawn_from : optional
        The mistakes in each class, if the examples have weights, groups or strata; set by
        `from_counts`.

    Notes
    -----
    The normalised expected cost at PC(+) = x is fpr (1 - x) + (1 - tpr) x.

    References
    ----------
    Holte & Drummond (2005), section 2.

    Drummond & Holte (2006).

    Examples
    --------
    >>> from stakes import CostLine
    >>> line = CostLine(fpr=0.4, tpr=0.8, positives=20, negatives=10)
    >>> round(line.cost(0.5), 3)
    0.3
    >>> [(round(low, 3), round(high, 3)) for low, high in line.operating_range()]
    [(0.333, 0.75)]
    >>> band = line.band(0.90, method="exact", pc=[0.5])
    >>> band.low.round(3).tolist(), band.high.round(3).tolist()
    ([0.15], [0.45])
    """

    fpr: float
    tpr: float
    positives: float | None = None
    negatives: float | None = None
    name: str = ""
    drawn_from: tuple[Mistakes, Mistakes] | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        for each in ("fpr", "tpr"):
            rate = validate.one_number(getattr(self, each), each)
            if not 0 <= rate <= 1:
                raise InputError(each, f"expected a rate from 0 to 1, got {rate}.")
            object.__setattr__(self, each, rate)
        if (self.positives is None) != (self.negatives is None):
            raise InputError("positives, negatives", "give both numbers of examples, or neither.")
        for each in ("positives", "negatives"):
            if getattr(self, each) is None:
                continue
            size = validate.one_number(getattr(self, each), each)
            if size <= 0:
                raise InputError(each, f"expected a positive number of examples, got {size:g}.")
        check_fields(self)

    @classmethod
    def from_counts(
        cls, confusion: Confusion | GroupedConfusion, *, pos_label: Label = 1, name: str = ""
    ) -> Self:
        """Return the line of a two-class confusion matrix.

        Parameters
        ----------
        confusion : Confusion or GroupedConfusion
            The confusion matrix of two classes. Weighted and grouped examples count with their
            effective number.
        pos_label : default 1
            Which class is the positive one.
        name : str, optional
            The classifier's name.

        Returns
        -------
        CostLine
            The line.

        Examples
        --------
        >>> from stakes import Confusion, CostLine
        >>> line = CostLine.from_counts(Confusion([[50, 2], [10, 38]], labels=[0, 1]))
        >>> round(line.fpr, 4), line.tpr, line.positives
        (0.1667, 0.95, 40.0)
        """
        pooled: Any = confusion.pooled if isinstance(confusion, GroupedConfusion) else confusion
        found = rates(pooled, pos_label=pos_label)
        at = pooled.labels.index(pos_label)
        positives, negatives = (float(pooled.class_counts[j]) for j in (at, 1 - at))
        wrong = None
        if isinstance(confusion, GroupedConfusion) or confusion.weighted:
            wrong = mistakes_at(scores_of(confusion, pos_label), np.array([1]))
            parts = drawn(np.full(1, 0.5), *wrong, full=False)
            positives, negatives = (float(np.ravel(part.n)[0]) for part in parts)
        return cls(found.false_positive, found.true_positive, positives, negatives, name, wrong)

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        y_pred: Any,
        *,
        pos_label: Label = 1,
        sample_weight: Any = None,
        groups: Any = None,
        strata: Any = None,
        name: str = "",
    ) -> Self:
        """Return the cost line of decisions; see `Confusion.from_labels`.

        Parameters
        ----------
        y_true, y_pred : array_like, shape (n,)
            The actual class of each example, and the decision.
        pos_label : default 1
            Which class is the positive one.
        sample_weight : array_like, shape (n,), optional
            The sampling weight of each example: one over its inclusion probability.
        groups, strata : array_like, shape (n,), optional
            The group of each example, whose members are not independent, and the stratum it was
            sampled from.
        name : str, optional
            The classifier's name.

        Returns
        -------
        CostLine
            The line.

        Examples
        --------
        >>> from stakes import CostLine
        >>> CostLine.from_labels([0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 1, 1]).point
        (0.25, 1.0)
        """
        confusion: Confusion | GroupedConfusion
        if groups is None and strata is None:
            confusion = Confusion.from_labels(y_true, y_pred, sample_weight=sample_weight)
        else:
            confusion = GroupedConfusion.from_labels(
                y_true, y_pred, groups, strata=strata, sample_weight=sample_weight
            )
        return cls.from_counts(confusion, pos_label=pos_label, name=name)

    @property
    def point(self) -> tuple[float, float]:
        """The point (fpr, tpr) in ROC space."""
        return self.fpr, self.tpr

    @cached_property
    def pieces(self) -> Pieces:
        """The line as a curve of one segment."""
        rates = np.array([self.fpr]), np.array([1 - self.tpr])
        if self.positives is not None and self.negatives is not None:
            sizes = float(self.negatives), float(self.positives)
            rates = tuple(
                mistakes(n, rate).counts[0] / n for n, rate in zip(sizes, rates, strict=True)
            )
        return Pieces(np.array([0.0, 1.0]), *rates)

    @property
    def sized(self) -> bool:
        """Whether the numbers of examples are known."""
        return self.positives is not None

    def _sample(self, pc: Floats, full: bool) -> Sample:
        if self.positives is None or self.negatives is None:
            raise DesignError(
                "positives, negatives",
                "without the numbers of examples there is no band.",
                "Give them, as in CostLine(0.04, 0.4, positives=200, negatives=800).",
            )
        index = np.zeros(len(pc), dtype=np.intp)
        if self.drawn_from is not None:
            found = [each.at(index) for each in self.drawn_from]
            return drawn(pc, found[0], found[1], full=full)
        if full and not (float(self.positives).is_integer() and float(self.negatives).is_integer()):
            raise DesignError(
                "sampling",
                "'full' needs numbers of examples, and the sizes of this line are what weighted "
                "examples are worth.",
                "Use 'stratified'.",
            )
        positives = mistakes(float(self.positives), self.pieces.right[index])
        negatives = mistakes(float(self.negatives), self.pieces.left[index])
        return drawn(pc, positives, negatives, full=full)
