"""Averages and lower envelopes of cost curves, and conversions between ROC and cost space.

The two spaces are dual: points of ROC space are lines of cost space, and lines of ROC space are
points of cost space.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.curves._base import Curve
from stakes.curves._sampling import Sample
from stakes.curves.condition import Pieces, average, conditions
from stakes.curves.curve import CostCurve, cumulative, envelope_cuts, thresholds_of
from stakes.curves.line import CostLine
from stakes.errors import DesignError, InputError, InputTypeError

CONSTANT_LINES = (
    CostLine(0.0, 0.0, name="all negative"),
    CostLine(1.0, 1.0, name="all positive"),
)
"""The cost lines of the two constant predictions."""


@dataclass(frozen=True, repr=False)
class AverageCurve(Curve):
    """The average of several cost curves; made by `average_curves`.

    Attributes
    ----------
    curves : tuple
        The averaged curves.
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
        """The average at each condition, which again consists of line segments."""
        return average([curve.pieces for curve in self.curves])

    @property
    def chosen_on(self) -> str:
        """The examples on which the thresholds of the curves were chosen."""
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
            for part in curve._sample(pc, full)  # noqa: SLF001 - also a curve
        ]


def average_curves(curves: Iterable[Curve], *, name: str = "") -> AverageCurve:
    """Return the average of several evaluations of a classifier, such as cross-validation folds.

    The mean of the costs at each operating condition (Holte & Drummond 2005, section 7) is the
    expected cost; averages of ROC curves are not. A band around it treats the evaluations as
    independent test sets; it does not include the variance between training sets.

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
        The name of the envelope.

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
        """The breaks, and the index of the cheapest curve between them."""
        pieces = [curve.pieces for curve in self.curves]
        crossings = [
            low for one, other in combinations(pieces, 2) for low, _, _ in one.minus(other).signs()
        ]
        breaks = np.unique(np.concatenate([*(each.breaks for each in pieces), crossings]))
        middle = (breaks[:-1] + breaks[1:]) / 2
        return breaks, np.argmin([each.at(middle) for each in pieces], axis=0)

    @cached_property
    def pieces(self) -> Pieces:
        """The line segments that make up the curve."""
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
            The name at each condition.

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
        """The examples on which the classifiers, and their thresholds, were chosen."""
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


def best_of(curves: Iterable[Curve], *, constants: bool = True, name: str = "") -> BestCurve:
    """Return the cheapest of several classifiers at each operating condition.

    cost(x) = min_k cost_k(x) at each condition x: the lower envelope, the counterpart of the ROC
    convex hull of several classifiers.

    Parameters
    ----------
    curves : sequence of CostCurve or CostLine
        The classifiers.
    constants : bool, default True
        Whether the constant predictions, all negative and all positive, are among the choices.
    name : str, optional
        The name of the envelope.

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
    return BestCurve((*found, *(CONSTANT_LINES if constants else ())), name)


def checked_curves(curves: Any) -> tuple[Curve, ...]:
    """Check a sequence of cost curves, at least one."""
    several = isinstance(curves, Iterable) and getattr(curves, "ndim", 1) != 0
    found = tuple(curves) if several else (curves,)
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


@dataclass(frozen=True, eq=False)
class RocPoints(Result):
    """Points of ROC space, from (0, 0) to (1, 1); ``fpr, tpr, thresholds = points`` unpacks them.

    Attributes
    ----------
    fpr, tpr : ndarray
        The false and the true positive rates.
    thresholds : ndarray or None
        The thresholds: examples that score at least this are called positive. None without scores.

    Examples
    --------
    >>> from stakes import CostLine
    >>> from stakes.curves import roc_points
    >>> points = roc_points(CostLine(fpr=0.3, tpr=0.8))
    >>> points.fpr.tolist(), points.tpr.tolist(), points.thresholds
    ([0.0, 0.3, 1.0], [0.0, 0.8, 1.0], None)
    """

    fpr: Floats
    tpr: Floats
    thresholds: Floats | None = None

    def __iter__(self) -> Iterator[Floats | None]:
        return iter((self.fpr, self.tpr, self.thresholds))

    def __getitem__(self, place: Any) -> Any:
        return tuple(self)[place]


def roc_points(curve: CostCurve | CostLine) -> RocPoints:
    """Return the ROC curve: a point for each cost line.

    At the threshold t, fpr = fp/(fp + tn) and tpr = tp/(tp + fn). In cost space this point is the
    line fpr (1 - x) + (1 - tpr) x.

    Parameters
    ----------
    curve : CostCurve or CostLine
        A scorer, with a point for each threshold; or a hard classifier, with one point between
        those of the constant predictions.

    Returns
    -------
    RocPoints
        The points, from (0, 0) to (1, 1).

    References
    ----------
    Holte & Drummond (2005), section 2.

    Margineantu (2001), equations 2.13 and 2.14.

    Examples
    --------
    >>> from stakes import CostCurve
    >>> from stakes.curves import roc_points
    >>> points = roc_points(CostCurve.from_scores([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.3]))
    >>> points.fpr.tolist(), points.tpr.tolist()
    ([0.0, 0.0, 0.5, 1.0], [0.0, 0.5, 1.0, 1.0])
    """
    if isinstance(curve, CostLine):
        return RocPoints(np.array([0.0, curve.fpr, 1.0]), np.array([0.0, curve.tpr, 1.0]))
    if isinstance(curve, CostCurve):
        return RocPoints(*curve.points())
    raise InputTypeError("curve", f"expected a CostCurve or a CostLine, got a {_kind(curve)}.")


def roc_hull(curve: CostCurve | CostLine) -> RocPoints:
    """Return the corners of the ROC convex hull, the dual of the lower envelope.

    A side of the hull with slope m is the point PC(+) = 1/(1 + m) of the cost curve, at which the
    best threshold changes.

    Parameters
    ----------
    curve : CostCurve or CostLine
        As in `roc_points`.

    Returns
    -------
    RocPoints
        The corners, from (0, 0) to (1, 1).

    References
    ----------
    Holte & Drummond (2005), section 2.

    Provost & Fawcett (2001).

    Examples
    --------
    >>> from stakes import CostCurve
    >>> from stakes.curves import roc_hull
    >>> hull = roc_hull(CostCurve.from_scores([0, 0, 1, 0, 1], [0.1, 0.3, 0.2, 0.4, 0.5]))
    >>> hull.tpr.round(3).tolist(), hull.thresholds.tolist()
    ([0.0, 0.5, 1.0, 1.0], [inf, 0.5, 0.2, 0.1])
    """
    if isinstance(curve, CostLine):
        points = roc_points(curve)
        above = curve.tpr > curve.fpr
        kept = np.unique(np.array([0, 1, 2] if above else [0, 2]))
        return RocPoints(points.fpr[kept], points.tpr[kept])
    if isinstance(curve, CostCurve):
        counts = curve.counts
        cuts = envelope_cuts(counts)
        fpr, tpr = (
            cumulative(side, cuts) / side.sum() for side in (counts.negatives, counts.positives)
        )
        return RocPoints(fpr, tpr, thresholds_of(counts)[cuts])
    raise InputTypeError("curve", f"expected a CostCurve or a CostLine, got a {_kind(curve)}.")


def roc_average(curves: Any, direction: str = "vertical", *, steps: Any = 201) -> RocPoints:
    """Return an average of ROC curves, which is not a curve of average performance.

    It is provided for comparison (Holte & Drummond 2005, Figure 9): its points cost more than the
    curves do on average. Use `average_curves` instead.

    At each fpr, tpr = Σ_k tpr_k(fpr)/K; or the reverse.

    Parameters
    ----------
    curves : sequence of CostCurve or CostLine
        The evaluations.
    direction : {"vertical", "horizontal"}
        Whether true positive rates are averaged at each false positive rate, or the reverse.
    steps : int, default 201
        The number of rates, in addition to those of the curves.

    Returns
    -------
    RocPoints
        The average, without thresholds.

    References
    ----------
    Holte & Drummond (2005), section 7 and Figure 9.

    Examples
    --------
    >>> from stakes import CostLine
    >>> from stakes.curves import roc_average
    >>> average = roc_average([CostLine(0.04, 0.4), CostLine(0.3, 0.8)])
    >>> round(float(average.tpr[average.fpr == 0.3][0]), 4)
    0.6813
    """
    validate.choice(direction, "direction", ("vertical", "horizontal"))
    size = validate.as_size(steps, "steps")
    points = [roc_points(curve) for curve in checked_curves(curves)]  # type: ignore[arg-type]
    along = "fpr" if direction == "vertical" else "tpr"
    grid = np.unique(
        np.concatenate([np.linspace(0, 1, size), *(getattr(each, along) for each in points)])
    )
    mean = np.mean([_followed(grid, each, direction) for each in points], axis=0)
    return RocPoints(grid, mean) if direction == "vertical" else RocPoints(mean, grid)


def _followed(grid: Floats, points: RocPoints, direction: str) -> Floats:
    """Return the other rate at each rate of the grid; if there are several, the best."""
    fpr, tpr = np.append(0.0, points.fpr), np.append(0.0, points.tpr)
    if direction == "vertical":
        return np.asarray(
            np.interp(grid, fpr, tpr)
        )  # of equal rates numpy takes the last, the top of a step
    return np.asarray(np.interp(-grid, -tpr[::-1], fpr[::-1]))


def isoperformance_line(pc: float, cost: float) -> tuple[float, float]:
    """Return the slope and the intercept of the ROC line of a point of cost space.

    All classifiers whose ROC points lie on this line have that cost at that operating condition.

    At PC(+) = x and the cost y, y = fpr (1 - x) + (1 - tpr) x, so tpr = [(1 - x)/x] fpr + 1 - y/x.

    Parameters
    ----------
    pc, cost : float
        The operating condition PC(+), above 0, and the normalised expected cost.

    Returns
    -------
    slope, intercept : float
        Slope and intercept of the line.

    References
    ----------
    Holte & Drummond (2005), section 2.

    Provost & Fawcett (2001).

    Examples
    --------
    >>> from stakes.curves import isoperformance_line
    >>> isoperformance_line(0.5, 0.25)
    (1.0, 0.5)
    """
    condition = float(conditions(validate.one_number(pc, "pc")))
    height = validate.one_number(cost, "cost")
    if condition == 0:
        raise InputError(
            "pc",
            "at PC(+) = 0 only false alarms cost, so the line is upright and has no slope: all "
            f"points with a false positive rate of {height:g}.",
        )
    return (1 - condition) / condition, 1 - height / condition


def cost_point(slope: float, intercept: float) -> tuple[float, float]:
    """Return the point of cost space, PC(+) and cost, of a line of ROC space.

    PC(+) = 1/(1 + slope) and cost = PC(+) (1 - intercept): the inverse of `isoperformance_line`.

    Parameters
    ----------
    slope, intercept : float
        Slope and intercept of the line tpr = slope · fpr + intercept; the slope is 0 or more.

    Returns
    -------
    pc, cost : float
        The point.

    References
    ----------
    Holte & Drummond (2005), section 2.

    Provost & Fawcett (2001).

    Examples
    --------
    >>> from stakes.curves import cost_point
    >>> cost_point(1.0, 0.5)
    (0.5, 0.25)
    """
    rise, start = validate.one_number(slope, "slope"), validate.one_number(intercept, "intercept")
    if rise < 0:
        raise InputError(
            "slope", f"lines of equal cost rise, or are level; expected 0 or more, got {rise:g}."
        )
    pc = 1 / (1 + rise)
    return pc, pc * (1 - start)


def _kind(value: Any) -> str:
    return type(value).__name__
