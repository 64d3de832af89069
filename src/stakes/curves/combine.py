"""Several cost curves combined into one: their average, and the cheapest at each condition."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.curves._base import Curve
from stakes.curves._pieces import Pieces, average
from stakes.curves._sampling import Sample
from stakes.curves.condition import conditions
from stakes.curves.line import CostLine
from stakes.errors import DesignError, InputError, InputTypeError

TRIVIAL_LINES = (
    CostLine(0.0, 0.0, name="all negative"),
    CostLine(1.0, 1.0, name="all positive"),
)
"""The classifiers that decide the same for all examples."""


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
    >>> from stakes import Confusion, CostLine
    >>> from stakes.curves import average_curves
    >>> folds = [CostLine.from_counts(Confusion(counts, labels=[0, 1]))
    ...          for counts in ([[48, 12], [2, 8]], [[35, 4], [15, 16]])]
    >>> average = average_curves(folds, name="folds")
    >>> round(average.cost(0.8), 3), round(average.area(), 3)
    (0.354, 0.285)
    """

    curves: tuple[Curve, ...]
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "curves", checked_curves(self.curves))
        validate.text(self.name, "name")

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

    def _sample(self, pc: Floats, full: bool) -> Sample:
        share = 1 / len(self.curves)
        return [
            part.scaled(share)
            for curve in self.curves
            for part in curve._sample(pc, full)  # noqa: SLF001 - of the same kind
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
    Holte & Drummond (2005), section 7 and Figure 10.

    Drummond & Holte (2006).

    Examples
    --------
    >>> from stakes import CostLine
    >>> from stakes.curves import average_curves
    >>> average = average_curves([CostLine(0.04, 0.4), CostLine(0.3, 0.8)])
    >>> round(average.cost(0.5), 4)
    0.285
    """
    return AverageCurve(checked_curves(curves), name)


@dataclass(frozen=True, repr=False)
class BestCurve(Curve):
    """The lower envelope of several classifiers' cost curves; made by `best_of`.

    Attributes
    ----------
    curves : tuple
        The curves to choose from.
    name : str
        What to call the choice.

    Examples
    --------
    >>> from stakes import CostLine
    >>> from stakes.curves import best_of
    >>> best = best_of([CostLine(0.04, 0.4, name="shy"), CostLine(0.3, 0.8, name="eager")])
    >>> round(best.cost(0.6), 3), best.classifier(0.6)
    (0.24, 'eager')
    """

    curves: tuple[Curve, ...]
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "curves", checked_curves(self.curves))
        validate.text(self.name, "name")

    _nameless = "the cheapest"
    _choice = "classifiers"

    @cached_property
    def _chosen(self) -> tuple[Floats, NDArray[np.intp]]:
        """The breaks, and which curve is the cheapest between them."""
        pieces = [curve.pieces for curve in self.curves]
        crossings = [
            low for one, other in combinations(pieces, 2) for low, _, _ in one.minus(other).signs()
        ]
        breaks = np.unique(np.concatenate([*(each.breaks for each in pieces), crossings]))
        middle = (breaks[:-1] + breaks[1:]) / 2
        return breaks, np.argmin([each.at(middle) for each in pieces], axis=0)

    @cached_property
    def pieces(self) -> Pieces:
        """The lines of which the curve is made."""
        breaks, chosen = self._chosen
        cut = [curve.pieces.over(breaks) for curve in self.curves]
        every = np.arange(len(chosen))
        left, right = (
            np.array([getattr(each, end) for each in cut])[chosen, every]
            for end in ("left", "right")
        )
        return Pieces(breaks, left, right)

    def classifier(self, pc: Any) -> Any:
        """Return the name of the cheapest classifier at operating conditions.

        Parameters
        ----------
        pc : float or array_like
            The operating conditions PC(+).

        Returns
        -------
        str or ndarray of str
            One for each condition.

        Examples
        --------
        >>> from stakes import CostLine
        >>> from stakes.curves import best_of
        >>> best = best_of([CostLine(0.04, 0.4, name="shy"), CostLine(0.3, 0.8, name="eager")])
        >>> best.classifier([0.3, 0.9]).tolist()
        ['shy', 'all positive']
        """
        condition = conditions(pc)
        names = np.array([curve.title() for curve in self.curves])
        found = names[self._chosen[1][self.pieces.index(condition)]]
        return str(found) if condition.ndim == 0 else found

    def _rule_at(self, pc: float) -> str:
        return f"with {self.classifier(pc)}"

    @property
    def chosen_on(self) -> str:
        """Where the classifiers, and their thresholds, were chosen."""
        return "the same examples"

    @property
    def sized(self) -> bool:
        """Whether a band can be computed."""
        return False

    def _sample(self, pc: Floats, full: bool) -> Sample:  # noqa: ARG002 - neither matters
        raise DesignError(
            "",
            "the cheapest of several classifiers was chosen with hindsight, which no band here "
            "allows for.",
            "Ask each of the curves for its own band.",
        )


def best_of(curves: Iterable[Curve], *, trivial: bool = True, name: str = "") -> BestCurve:
    """Return the cheapest of several classifiers at each operating condition.

    cost(x) = min_k cost_k(x) at each condition x: the lower envelope, as the ROC convex hull of
    several classifiers is the best of them in ROC space.

    Parameters
    ----------
    curves : sequence of CostCurve or CostLine
        The classifiers.
    trivial : bool, default True
        Whether calling all examples negative, or all positive, is among the choices.
    name : str, optional
        What to call the choice.

    Returns
    -------
    BestCurve
        The envelope, which is a cost curve itself.

    References
    ----------
    Holte & Drummond (2005), section 2.

    Drummond & Holte (2006).

    Provost & Fawcett (2001).

    Examples
    --------
    >>> from stakes import CostLine
    >>> from stakes.curves import best_of
    >>> best = best_of([CostLine(0.04, 0.4, name="shy"), CostLine(0.3, 0.8, name="eager")])
    >>> best.classifier([0.05, 0.3, 0.6, 0.9]).tolist()
    ['all negative', 'shy', 'eager', 'all positive']
    """
    found = checked_curves(curves)
    return BestCurve((*found, *(TRIVIAL_LINES if trivial else ())), name)


def checked_curves(curves: Any) -> tuple[Curve, ...]:
    """Check a sequence of cost curves, at least one."""
    found = tuple(curves) if isinstance(curves, Iterable) else (curves,)
    if not found:
        raise InputError("curves", "expected at least one cost curve, got none.")
    for i, curve in enumerate(found):
        if not isinstance(curve, Curve):
            raise InputTypeError(
                "curves",
                f"expected cost curves, such as CostCurve(counts); got a {type(curve).__name__} "
                f"at position {i}.",
            )
    return found
