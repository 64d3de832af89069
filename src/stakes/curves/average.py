"""The average of several evaluations, condition by condition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from stakes._core.typing import Floats
from stakes.curves.base import Curve
from stakes.curves.best import checked_curves
from stakes.curves.pieces import Pieces, average
from stakes.curves.sampling import Sample


@dataclass(frozen=True, repr=False)
class AverageCurve(Curve):
    """The average of several cost curves; made by `average_curves`.

    Attributes
    ----------
    curves : tuple
        The curves that were averaged.
    name : str
        The classifier's name.

    Examples
    --------
    >>> from stakes import CostLine, average_curves
    >>> average = average_curves([CostLine(0.04, 0.4), CostLine(0.3, 0.8)], name="folds")
    >>> round(average.cost(0.8), 3), round(average.area(), 3)
    (0.354, 0.285)
    """

    curves: tuple[Curve, ...]
    name: str = ""

    @cached_property
    def pieces(self) -> Pieces:
        """The average at each condition, which again is made of straight lines."""
        return average([curve.pieces for curve in self.curves])

    @property
    def chosen_on(self) -> str:
        """Where the thresholds of the curves were chosen."""
        return ", ".join(dict.fromkeys(each.chosen_on for each in self.curves if each.chosen_on))

    @property
    def sized(self) -> bool:
        """Whether the numbers of examples are known."""
        return all(curve.sized for curve in self.curves)

    def _sample(self, pc: Floats, *, full: bool) -> Sample:
        share = 1 / len(self.curves)
        return [
            part.scaled(share)
            for curve in self.curves
            for part in curve._sample(pc, full=full)  # noqa: SLF001 - of the same kind
        ]


def average_curves(curves: Iterable[Curve], *, name: str = "") -> AverageCurve:
    """Return the average of several evaluations of a classifier, such as cross-validation folds.

    The mean of the costs at each operating condition (Holte & Drummond 2005, section 7), which is
    the expected cost; averages of ROC curves are not. A band around it treats the evaluations as
    independent test sets; that other training sets would give other classifiers is not in it.

    cost(x) = Σ_k cost_k(x)/K at each condition x.

    Parameters
    ----------
    curves : sequence of CostCurve or CostLine
        The evaluations.
    name : str, optional
        The classifier's name.

    Returns
    -------
    AverageCurve
        The average, which is a cost curve itself.

    References
    ----------
    Holte, R. C. & Drummond, C. (2005). Cost-sensitive classifier evaluation. *UBDM 2005*, section 7
    and Figure 10.

    Drummond, C. & Holte, R. C. (2006). Cost curves: an improved method for visualizing classifier
    performance. *Machine Learning* 65, 95-130.

    Examples
    --------
    >>> from stakes import CostLine, average_curves
    >>> average = average_curves([CostLine(0.04, 0.4), CostLine(0.3, 0.8)])
    >>> round(average.cost(0.5), 4)
    0.285
    """
    return AverageCurve(checked_curves(curves), name)
