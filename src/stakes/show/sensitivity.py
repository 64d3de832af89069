"""How expected costs, and which model is the cheapest, change as costs do, drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from stakes._core import validate
from stakes._core.result import checked
from stakes._core.text import percent
from stakes._core.typing import Floats
from stakes.costs import CostMatrix, CostRanges
from stakes.infer.what_if.sensitivity import CostSensitivity, cost_sensitivity
from stakes.show._drawing import draw_legend, line_look, several_axes, tinted

SEVERAL_DECADES = 5000
"""From which ratio on only powers of ten have ticks."""


@checked
class CostSensitivityDisplay:
    r"""What classifiers cost along a path of costs, and how likely each is the cheapest.

    Two panels, one above the other: the expected costs with their intervals, and the bounds of the
    probabilities, the lower one as a line.

    Parameters
    ----------
    sensitivity : CostSensitivity
        What `cost_sensitivity` found.

    Attributes
    ----------
    axes_, figure_
        What it was last drawn on.

    See Also
    --------
    stakes.cost_sensitivity : computes what is drawn, by which equations and after whom.

    Notes
    -----
    Between two matrices C and C', the costs at the share t of the way are (1 - t)·C + t·C'.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from stakes import CostMatrix
    >>> from stakes.show import CostSensitivityDisplay
    >>> y_true = ["a"] * 500 + ["b"] * 300 + ["c"] * 200
    >>> predictions = {
    ...     "left": ["a"] * 560 + ["b"] * 240 + ["c"] * 200,
    ...     "right": ["a"] * 500 + ["b"] * 10 + ["c"] * 100 + ["b"] * 180 + ["a"] * 10
    ...              + ["c"] * 200,
    ... }
    >>> mild = CostMatrix([[0, 4, 2], [1, 0, 1], [1, 3, 0]], rows="predicted", labels=[*"abc"])
    >>> harsh = CostMatrix([[0, 9, 2], [1, 0, 1], [1, 3, 0]], rows="predicted", labels=[*"abc"])
    >>> display = CostSensitivityDisplay.from_labels(
    ...     y_true, predictions, mild, harsh, steps=11, rng=0)
    >>> [axes.get_ylabel() for axes in display.axes_]
    ['cost per decision', 'probability of\nbeing the cheapest']
    >>> plt.close(display.figure_)
    """

    def __init__(self, sensitivity: CostSensitivity) -> None:
        example = "cost_sensitivity(y_true, predictions, costs, to)"
        validate.expect(sensitivity, CostSensitivity, "sensitivity", example)
        self.sensitivity = sensitivity

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        predictions: Mapping[str, Any] | None,
        costs: CostMatrix | CostRanges,
        to: CostMatrix | None = None,
        *,
        axes: Any = None,
        unit: str = "",
        **options: Any,
    ) -> Self:
        """Follow what classifiers' decisions cost along a path, and draw it.

        Parameters
        ----------
        y_true, predictions, costs, to, **options
            As in `cost_sensitivity`.
        axes : pair of matplotlib axes, optional
            Where to draw; by default on a new figure.
        unit : str, optional
            The unit of the costs.

        Returns
        -------
        CostSensitivityDisplay
        """
        found = cost_sensitivity(y_true, predictions, costs, to, **options)
        return cls(found).plot(axes, unit=unit)

    def plot(
        self, axes: Any = None, *, intervals: bool = True, unit: str = "", legend: bool = True
    ) -> Self:
        """Draw costs and probabilities.

        Parameters
        ----------
        axes : pair of matplotlib axes, optional
            Where to draw, the costs first; by default on a new figure.
        intervals : bool, default True
            Whether to draw the intervals of the costs.
        unit : str, optional
            The unit of the costs.
        legend : bool, default True
            Whether to draw a legend.

        Returns
        -------
        CostSensitivityDisplay
        """
        upper, lower = both = several_axes(
            axes, 2, nrows=2, sharex=True, figsize=(6.4, 6.0), height_ratios=(3, 2)
        )
        path = self.sensitivity
        for i, name in enumerate(path.names):
            look = line_look(i)
            upper.plot(path.position, path.cost[i], zorder=3, **look)
            lower.plot(path.position, path.probability_low[i], label=name, zorder=3, **look)
            _shade(lower, path.position, path.probability_low[i], path.probability_high[i], look)
            if intervals:
                _shade(upper, path.position, path.low[i], path.high[i], look)
        inside = {"xlim": (path.position[0], path.position[-1])}
        amount = f" ({unit})" if unit else ""
        upper.set(ylabel=f"cost per decision{amount}", **inside)
        if intervals:
            upper.set_title(
                f"expected costs with {percent(path.confidence)} intervals", fontsize="medium"
            )
        lower.set(
            ylim=(-0.03, 1.03),
            ylabel="probability of\nbeing the cheapest",
            xlabel=path.axis,
            **inside,
        )
        lower.yaxis.set_major_formatter("{x:.0%}")
        if path.scale == "log" and path.position[0] > 0:  # gains, below zero, have no logarithm
            _use_logarithms(both, path.position[-1] / path.position[0])
        if legend:
            draw_legend(lower)
        self.axes_, self.figure_ = both, upper.figure
        return self

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each classifier and place on the path.

        Returns
        -------
        pandas.DataFrame
        """
        return self.sensitivity.to_frame()


def _shade(ax: Any, position: Floats, low: Floats, high: Floats, look: Mapping[str, Any]) -> None:
    """Draw a band in the colour of its line."""
    ax.fill_between(
        position,
        low,
        high,
        facecolor=tinted(look["color"], 0.15),
        edgecolor=tinted(look["color"], 0.7),
        linestyle=look["linestyle"],
        linewidth=0.6,
        zorder=1.5,
    )


def _use_logarithms(axes: Any, ratio: float) -> None:
    """Space costs by their ratio, and label round ones."""
    from matplotlib.ticker import LogLocator, NullLocator

    for ax in axes:
        ax.set_xscale("log")
        ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if ratio < SEVERAL_DECADES else (1,)))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter("{x:,.10g}")
