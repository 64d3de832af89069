"""Display of ROC space and cost space side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label
from stakes._core.optional import data_frame
from stakes.curves._base import Curve
from stakes.curves.combine import (
    RocPoints,
    best_of,
    checked_curves,
    isoperformance_line,
    roc_hull,
    roc_points,
)
from stakes.curves.condition import Pieces, conditions
from stakes.curves.curve import CostCurve
from stakes.curves.line import CostLine
from stakes.errors import InputTypeError
from stakes.show._drawing import (
    CONDITION,
    COST,
    GREY,
    MARKERS,
    corners,
    cost_lines,
    draw_constants,
    line_look,
    several_axes,
    tinted,
)

MOST_MARKED = 200
"""Number of ROC points up to which each has a marker."""


MARGIN = 0.02


class Dual(NamedTuple):
    """A classifier in ROC space and in cost space.

    Attributes
    ----------
    name : str
        The classifier's name.
    points, hull : RocPoints
        The ROC points, and the corners of their convex hull.
    envelope : Pieces
        The lower envelope of their cost lines.
    touching : tuple of (float, float)
        The points of the envelope, PC(+) and cost, whose ROC lines touch the hull.
    """

    name: str
    points: RocPoints
    hull: RocPoints
    envelope: Pieces
    touching: tuple[tuple[float, float], ...]


class RocCostDisplay:
    """Classifiers in ROC space and in cost space, side by side.

    A point of ROC space is a line of cost space, and the convex hull is the lower envelope; both
    contain the constant predictions (Holte & Drummond 2005, section 2).

    Parameters
    ----------
    duals : sequence of Dual
        The classifiers in both spaces; made by `from_curves`.

    Attributes
    ----------
    axes_, figure_
        The axes and the figure of the last plot.

    Notes
    -----
    The point (FPR, TPR) is the line w(1 - TPR) + (1 - w)FPR over w = PC(+), from FPR at 0 to
    1 - TPR at 1. The point (w, c) of an envelope is the line TPR = 1 - c/w + FPR(1 - w)/w.

    References
    ----------
    Drummond & Holte (2006).

    Holte & Drummond (2005), section 2.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from stakes import CostLine
    >>> from stakes.show import RocCostDisplay
    >>> display = RocCostDisplay.from_curves(
    ...     [CostLine(0.04, 0.4, name="shy"), CostLine(0.3, 0.8, name="eager")])
    >>> display.to_frame()[["left", "right"]].iloc[1].tolist()
    [0.04, 0.6]
    >>> plt.close(display.figure_)
    """

    def __init__(self, duals: Iterable[Dual]) -> None:
        self.duals = tuple(duals)

    @classmethod
    def from_curves(
        cls,
        curves: Iterable[CostCurve | CostLine],
        *,
        at: Any = (),
        axes: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Draw curves in both spaces.

        Parameters
        ----------
        curves : sequence of CostCurve or CostLine
            The classifiers. The hull and the envelope of a scorer are those of its own examples,
            even if thresholds were selected on others.
        at : float or array_like, optional
            Operating conditions PC(+), above 0, at which to draw points of the envelopes in cost
            space, and their lines of equal cost in ROC space.
        axes : pair of matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        **plot_options
            As in `plot`.

        Returns
        -------
        RocCostDisplay
        """
        found: tuple[Any, ...] = checked_curves(curves)
        where = np.atleast_1d(conditions(at)).tolist()
        duals = []
        for i, curve in enumerate(found):
            points, hull = roc_points(curve), roc_hull(curve)  # raise for averages and others
            scorer = isinstance(curve, CostCurve)
            best: Curve = CostCurve(curve.counts) if scorer else best_of([curve])
            name = curve.name or (f"classifier {i + 1}" if len(found) > 1 else curve.title())
            touching = tuple((pc, best.cost(pc)) for pc in where)
            for point in touching:
                isoperformance_line(*point)  # raises if there is none
            duals.append(Dual(name, points, hull, best.pieces, touching))
        return cls(duals).plot(axes, **plot_options)

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        y_scores: Any,
        *,
        pos_label: Label = 1,
        sample_weight: Any = None,
        axes: Any = None,
        **options: Any,
    ) -> Self:
        """Draw scorers in both spaces.

        Parameters
        ----------
        y_true : array_like, shape (n,)
            The actual class of each example; two classes.
        y_scores : mapping
            From the name of each scorer to its scores of the examples.
        pos_label : default 1
            Which class is the positive one.
        sample_weight : array_like, shape (n,), optional
            The weight of each example.
        axes : pair of matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        **options
            As in `from_curves` and in `plot`.

        Returns
        -------
        RocCostDisplay

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from stakes.show import RocCostDisplay
        >>> display = RocCostDisplay.from_scores([0, 1, 0, 1], {"model": [0.1, 0.8, 0.3, 0.3]})
        >>> [dual.name for dual in display.duals]
        ['model']
        >>> plt.close(display.figure_)
        """
        if not isinstance(y_scores, Mapping) or not y_scores:
            raise InputTypeError(
                "y_scores",
                "expected a mapping from each classifier's name to its scores, got "
                f"{type(y_scores).__name__}.",
            )
        curves = [
            CostCurve.from_scores(
                y_true, y_score, pos_label=pos_label, sample_weight=sample_weight, name=str(name)
            )
            for name, y_score in y_scores.items()
        ]
        return cls.from_curves(curves, axes=axes, **options)

    def plot(
        self,
        axes: Any = None,
        *,
        points: bool | None = None,
        hull: bool = True,
        legend: bool = True,
    ) -> Self:
        """Draw both spaces.

        Parameters
        ----------
        axes : pair of matplotlib axes, optional
            The axes to draw on, ROC space first; by default those of a new figure.
        points : bool, optional
            Whether to draw the points of ROC space and their lines in cost space, at most a hundred
            lines for each scorer; by default True unless there are several scorers.
        hull : bool, default True
            Whether to draw the convex hull in ROC space. The lower envelope of a scorer is always
            drawn; that of a hard classifier only together with the hull.
        legend : bool, default True
            Whether to draw a legend, in the lower right corner of ROC space.

        Returns
        -------
        RocCostDisplay
        """
        roc, cost = both = several_axes(axes, 2, ncols=2, figsize=(9.6, 5.0))
        scorers = sum(dual.points.thresholds is not None for dual in self.duals)
        shown = scorers <= 1 if points is None else points
        for i, dual in enumerate(self.duals):
            hard = dual.points.thresholds is None
            _draw_roc(roc, dual, i, points=shown or hard, hull=hull)
            _draw_cost(cost, dual, i, lines=shown or hard, envelope=hull or not hard)
        roc.plot([0, 1], [0, 1], color=GREY, linewidth=1.1, linestyle=(0, (2, 1.5)), zorder=1)
        draw_constants(cost)
        inside = (-MARGIN, 1 + MARGIN)
        roc.set(xlabel="false positive rate", ylabel="true positive rate", box_aspect=1)
        roc.set(xlim=inside, ylim=inside)
        high = 1.0 if shown or scorers < len(self.duals) else 0.5  # a line may go up to 1
        cost.set(xlabel=CONDITION, ylabel=COST, box_aspect=1)
        cost.set(xlim=(0, 1), ylim=(0, high * (1 + MARGIN)))
        self._set_titles(roc, cost, points=shown or not scorers, hull=hull)
        if legend:
            below = any((dual.points.tpr < dual.points.fpr).any() for dual in self.duals)
            place = "best" if below else "lower right"
            roc.legend(loc=place, frameon=False, handlelength=3.0, fontsize="small")
        self.axes_, self.figure_ = both, roc.figure
        return self

    def _set_titles(self, roc: Any, cost: Any, *, points: bool, hull: bool) -> None:
        scorers = [dual for dual in self.duals if dual.points.thresholds is not None]
        marked = points and all(len(dual.points.fpr) <= MOST_MARKED for dual in scorers)
        plural = "s" if len(self.duals) > 1 else ""
        there = ["points" if marked else f"curve{plural}"]
        here = ["lines"] if points else []
        if hull:
            there.append(f"convex hull{plural}")
        if hull or scorers:
            here.append(f"lower envelope{plural}")
        roc.set_title(f"ROC space: {' and '.join(there)}", fontsize="medium")
        title = f"cost space: {' and '.join(here)}"
        if scorers:
            title += "\n(thresholds chosen on the same examples: optimistic)"
        cost.set_title(title, fontsize="medium")

    def to_frame(self) -> Any:
        """Return the points of ROC space, and their cost lines, as a pandas data frame.

        A line goes from `left` at PC(+) = 0 to `right` at PC(+) = 1.

        Returns
        -------
        pandas.DataFrame
        """
        names = [np.full(len(dual.points.fpr), dual.name, dtype=object) for dual in self.duals]
        fpr, tpr = (
            np.concatenate([getattr(dual.points, rate) for dual in self.duals])
            for rate in ("fpr", "tpr")
        )
        columns = {
            "classifier": np.concatenate(names),
            "fpr": fpr,
            "tpr": tpr,
            "left": fpr,
            "right": 1 - tpr,
            "on_hull": np.concatenate([_on_hull(dual) for dual in self.duals]),
        }
        return data_frame(columns)


def _on_hull(dual: Dual) -> NDArray[np.bool_]:
    """Return which points are corners of the hull, by their thresholds, which are not rounded."""
    if dual.points.thresholds is None or dual.hull.thresholds is None:
        return np.isin(dual.points.fpr, dual.hull.fpr) & np.isin(dual.points.tpr, dual.hull.tpr)
    return np.isin(dual.points.thresholds, dual.hull.thresholds)


def _draw_roc(ax: Any, dual: Dual, index: int, *, points: bool, hull: bool) -> None:
    """Draw the points and the hull, and for a scorer its curve."""
    look = line_look(index)
    thin = look | {"linewidth": 0.9}
    fpr, tpr = dual.points.fpr, dual.points.tpr
    hard = dual.points.thresholds is None
    marks = {"marker": MARKERS[index % len(MARKERS)], "linestyle": "none", "color": look["color"]}
    if hull:
        own = look | ({"label": dual.name} if not hard else {})
        ax.plot(dual.hull.fpr, dual.hull.tpr, zorder=2.5, **(own if not hard else thin))
    if not hard:
        ax.plot(fpr, tpr, zorder=2, **(thin if hull else look | {"label": dual.name}))
    if hard:
        ax.plot(fpr[1:-1], tpr[1:-1], markersize=8, zorder=3, label=dual.name, **marks)
    elif points and len(fpr) <= MOST_MARKED:
        ax.plot(fpr, tpr, markersize=3.5, zorder=3, **marks)
    for point in dual.touching:
        slope, intercept = isoperformance_line(*point)
        ax.axline((0, intercept), slope=slope, color="black", linewidth=0.9, zorder=2)


def _draw_cost(ax: Any, dual: Dual, index: int, *, lines: bool, envelope: bool) -> None:
    """Draw the lines and their lower envelope."""
    from matplotlib.collections import LineCollection

    look = line_look(index)
    fpr, tpr = dual.points.fpr, dual.points.tpr
    if dual.points.thresholds is None:
        ends = {"marker": MARKERS[index % len(MARKERS)], "markersize": 8, "clip_on": False}
        width = {"linewidth": 0.9} if envelope else {}
        ax.plot([0, 1], [fpr[1], 1 - tpr[1]], zorder=3, **ends, **look | width)
    elif lines:
        thin = {"color": tinted(look["color"], 0.4), "linewidth": 0.6}
        ax.add_collection(LineCollection(cost_lines(fpr, tpr), zorder=1, **thin), autolim=False)
    if envelope:
        ax.plot(*corners(dual.envelope), zorder=2.5, **look)
    for pc, height in dual.touching:
        ax.plot([pc], [height], marker="o", color="black", markersize=5, zorder=4)
