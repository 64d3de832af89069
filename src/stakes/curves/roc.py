"""ROC space, the dual of cost space: points there are lines here, and lines there points here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.curves.combine import checked_curves
from stakes.curves.condition import conditions
from stakes.curves.curve import CostCurve, cumulative, envelope_cuts
from stakes.curves.line import CostLine
from stakes.errors import InputError, InputTypeError


@dataclass(frozen=True, eq=False)
class RocPoints(Result):
    """Points of ROC space, from (0, 0) to (1, 1); ``fpr, tpr, thresholds = points`` unpacks them.

    Attributes
    ----------
    fpr, tpr : ndarray
        The false and the true positive rates.
    thresholds : ndarray or None
        The score from which on examples are called positive; None where there are no scores.

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

    At the threshold t, fpr = fp/(fp + tn) and tpr = tp/(tp + fn); in cost space it is the line fpr
    (1 - x) + (1 - tpr) x.

    Parameters
    ----------
    curve : CostCurve or CostLine
        A scorer, with a point for each threshold; or a hard classifier, with one point between the
        trivial ones.

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

    Each side of the hull, of slope m, is the point PC(+) = 1/(1 + m) of the cost curve at which one
    threshold gives way to the next.

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
        return RocPoints(fpr, tpr, np.append(np.inf, counts.thresholds)[cuts])
    raise InputTypeError("curve", f"expected a CostCurve or a CostLine, got a {_kind(curve)}.")


def roc_average(curves: Any, direction: str = "vertical", *, steps: Any = 201) -> RocPoints:
    """Return an average of ROC curves, which is not a curve of average performance.

    Here to show the contrast (Holte & Drummond 2005, Figure 9): its points cost more than the
    curves do on average. `average_curves` is the average to use.

    At each fpr, tpr = Σ_k tpr_k(fpr)/K; or the reverse.

    Parameters
    ----------
    curves : sequence of CostCurve or CostLine
        The evaluations.
    direction : {"vertical", "horizontal"}
        Whether true positive rates are averaged at each false positive rate, or the reverse.
    steps : int, default 201
        At how many rates, besides those of the curves.

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
    """Return the other rate at each rate of the grid, the best one where there are several."""
    fpr, tpr = np.append(0.0, points.fpr), np.append(0.0, points.tpr)
    if direction == "vertical":
        return np.asarray(
            np.interp(grid, fpr, tpr)
        )  # of equal rates numpy takes the last, the top of a step
    return np.asarray(np.interp(-grid, -tpr[::-1], fpr[::-1]))


def isoperformance_line(pc: float, cost: float) -> tuple[float, float]:
    """Return the slope and the intercept of the ROC line that a point of cost space stands for.

    All classifiers whose ROC points lie on it have that cost at that operating condition.

    At PC(+) = x and the cost y, y = fpr (1 - x) + (1 - tpr) x, so tpr = [(1 - x)/x] fpr + 1 - y/x.

    Parameters
    ----------
    pc, cost : float
        The operating condition PC(+), above 0, and the normalised expected cost.

    Returns
    -------
    slope, intercept : float
        Of the line.

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
    """Return the point of cost space, PC(+) and cost, that a line of ROC space stands for.

    PC(+) = 1/(1 + slope) and cost = PC(+) (1 - intercept): the inverse of `isoperformance_line`.

    Parameters
    ----------
    slope, intercept : float
        Of the line tpr = slope · fpr + intercept; the slope is 0 or more.

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
