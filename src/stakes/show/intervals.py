"""Displays of classifiers' costs: intervals, paths of costs, and running totals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.optional import data_frame
from stakes._core.text import number, percent
from stakes._core.typing import Floats
from stakes.costs import CostMatrix, CostRanges, ExampleCosts
from stakes.errors import DesignError, InputError, InputTypeError
from stakes.infer._inference import Interval
from stakes.infer.estimate import CostEstimate
from stakes.infer.evaluation import evaluate
from stakes.infer.example_stream import ExampleAccumulator
from stakes.infer.sensitivity import CostSensitivity, cost_sensitivity
from stakes.infer.stream import Accumulator, PairedAccumulator
from stakes.show._drawing import (
    COLOURS,
    GREY,
    MARKERS,
    draw_legend,
    drawable,
    line_look,
    one_axes,
    pyplot,
    tinted,
)

ROW = 0.55
"""Height of a classifier's row in inches."""


class CostIntervalDisplay:
    """The costs of several classifiers with confidence intervals, the cheapest on top.

    Parameters
    ----------
    names : sequence of str
        The classifiers' names.
    costs : sequence of float
        The cost per decision of each classifier.
    intervals : sequence of Interval
        The confidence interval of each cost.
    constant : pair of str and float, optional
        The best constant prediction, and its cost.
    unit : str, optional
        The unit of the costs.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure of the last plot.

    Notes
    -----
    The cost per decision is Σ M(i, j)·C(i, j)/n, M(i, j) being the number of the n examples of
    class j decided as i (equation 5.1 of the thesis). Intervals are from ``CostEstimate.interval``.

    References
    ----------
    Margineantu (2001), section 5.2.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from stakes import CostMatrix
    >>> from stakes.show import CostIntervalDisplay
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> display = CostIntervalDisplay.from_labels([0, 0, 0, 1, 1], {
    ...     "careless": [0, 0, 0, 0, 1], "careful": [0, 1, 1, 1, 1]}, costs, unit="USD")
    >>> display.names
    ('careful', 'careless')
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        names: Sequence[Any],
        costs: Sequence[float] | NDArray[np.float64],
        intervals: Sequence[Interval],
        *,
        constant: tuple[Any, float] | None = None,
        unit: str = "",
    ) -> None:
        self.names = tuple(map(str, names))
        self.costs = validate.numeric(costs, "costs", ndim=1).copy()
        self.intervals = tuple(intervals)
        validate.same_length(
            {"names": len(self.names), "costs": len(self.costs), "intervals": len(self.intervals)}
        )
        if not self.names:
            raise InputError("names", "expected at least one classifier, got none.")
        self.constant = constant
        self.unit = unit

    @classmethod
    def from_estimates(
        cls,
        estimates: Mapping[Any, CostEstimate],
        *,
        confidence: float = 0.95,
        method: str = "extremal",
        unit: str | None = None,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Draw the costs of classifiers.

        Parameters
        ----------
        estimates : mapping
            From the classifiers' names to their estimates, on the same examples and costs.
        confidence : float, default 0.95
            Confidence level of the intervals.
        method : str, default "extremal"
            As in ``CostEstimate.interval``.
        unit : str, optional
            The unit of the costs; by default that of the estimates.
        ax : matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        **plot_options
            As in `plot`.

        Returns
        -------
        CostIntervalDisplay
        """
        if not isinstance(estimates, Mapping):
            raise InputTypeError(
                "estimates",
                f"expected a mapping from names to estimates, got a {type(estimates).__name__}.",
            )
        ranked = sorted(estimates.items(), key=lambda item: item[1].cost)
        constant = None
        if ranked:
            with suppress(DesignError):  # costs of single examples lack other decisions
                decision, best = ranked[0][1].best_constant()
                constant = decision, best.cost
        return cls(
            [name for name, _ in ranked],
            [estimate.cost for _, estimate in ranked],
            [estimate.interval(confidence, method) for _, estimate in ranked],
            constant=constant,
            unit=(ranked[0][1].unit if ranked else "") if unit is None else unit,
        ).plot(ax, **plot_options)

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        predictions: Mapping[Any, Any],
        costs: CostMatrix | ExampleCosts,
        *,
        sample_weight: Any = None,
        groups: Any = None,
        unit: str = "",
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the costs of classifiers' decisions.

        Parameters
        ----------
        y_true : array_like, shape (n,)
            The actual class of each example.
        predictions : mapping
            From the name of each classifier to its decisions.
        costs : CostMatrix or ExampleCosts
            The cost of each decision for each class, or for each example.
        sample_weight, groups, unit
            As in `evaluate`.
        ax : matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        **options
            As in `from_estimates` and in `plot`.

        Returns
        -------
        CostIntervalDisplay
        """
        if not isinstance(predictions, Mapping):
            raise InputTypeError(
                "predictions",
                "expected a mapping from each classifier's name to its decisions, got a "
                f"{type(predictions).__name__}.",
            )
        estimates = {
            name: evaluate(
                y_true, y_pred, costs, sample_weight=sample_weight, groups=groups, unit=unit
            )
            for name, y_pred in predictions.items()
        }
        return cls.from_estimates(estimates, ax=ax, **options)

    def plot(self, ax: Any = None, *, constants: bool = True, values: bool = True) -> Self:
        """Draw the intervals.

        Parameters
        ----------
        ax : matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        constants : bool, default True
            Whether to draw the cost of the best constant prediction.
        values : bool, default True
            Whether to write the costs above the points.

        Returns
        -------
        CostIntervalDisplay
        """
        plt = pyplot()
        rows = np.arange(len(self.names))
        if ax is None:
            size = (6.4, 1.5 + ROW * len(rows))
            ax = plt.subplots(figsize=size, layout="constrained")[1]
        drawable(ax, "ax")
        low, high = np.array([tuple(each) for each in self.intervals]).T
        ax.hlines(rows, low, high, color=COLOURS[0], linewidth=1.8, zorder=3)
        ends = {"color": COLOURS[0], "linestyle": "none", "zorder": 3}
        for limit in (low, high):
            ax.plot(limit, rows, marker="|", markersize=10, markeredgewidth=1.8, **ends)
        ax.plot(self.costs, rows, marker=MARKERS[0], markersize=7, **ends)
        if values:
            for row, cost in zip(rows.tolist(), self.costs.tolist(), strict=True):
                ax.annotate(
                    number(cost),
                    (cost, row),
                    xytext=(0, 6),
                    textcoords="offset points",
                    ha="center",
                    va="bottom",
                    fontsize="small",
                )
        ax.margins(x=0.08)
        if constants and self.constant is not None:
            self._draw_constants(ax, *self.constant)
        unit = f" ({self.unit})" if self.unit else ""
        ax.set(ylim=(len(rows) - 0.5, -0.65), xlabel=f"cost per decision{unit}, {self._sure()}")
        ax.set_yticks(rows, self.names)
        ax.tick_params(axis="y", length=0)
        ax.grid(axis="x", color="0.9", zorder=0)
        ax.set_axisbelow(True)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_constants(self, ax: Any, decision: Any, cost: float) -> None:
        ax.axvline(cost, color=GREY, linewidth=1.2, linestyle="--", zorder=2)
        ax.annotate(
            f"always {decision}: {number(cost)}",
            (cost, 1),
            xycoords=ax.get_xaxis_transform(),
            xytext=(0, 4),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize="small",
            color=GREY,
        )

    def _sure(self) -> str:
        """Describe the intervals by confidence level, and by method if all have the same."""
        kinds = {(each.confidence, each.method) for each in self.intervals}
        levels = sorted({percent(confidence) for confidence, _ in kinds})
        method = f" ({next(iter(kinds))[1]})" if len(kinds) == 1 else ""
        return f"with {' and '.join(levels)} intervals{method}"

    def to_frame(self) -> Any:
        """Return the costs as a pandas data frame with a row for each classifier.

        Returns
        -------
        pandas.DataFrame
        """
        return data_frame(
            {
                "classifier": list(self.names),
                "cost": self.costs,
                "low": [each.low for each in self.intervals],
                "high": [each.high for each in self.intervals],
            }
        )


EARLY, MARGIN = 0.05, 0.1
"""Share of first outcomes whose intervals may be cut off, and the margin around the others."""

SEVERAL_DECADES = 5000
"""Ratio of the axis limits from which only powers of ten have ticks."""


class CostSensitivityDisplay:
    r"""The costs of classifiers along a path of costs, with their intervals.

    Parameters
    ----------
    sensitivity : CostSensitivity
        The result of `cost_sensitivity`.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure of the last plot.

    See Also
    --------
    stakes.cost_sensitivity : the computation, with its equations.

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
    >>> display = CostSensitivityDisplay.from_labels(y_true, predictions, mild, harsh, steps=11)
    >>> display.ax_.get_ylabel()
    'cost per decision'
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
        ax: Any = None,
        unit: str = "",
        **options: Any,
    ) -> Self:
        """Compute the costs of classifiers' decisions along a path, and draw them.

        Parameters
        ----------
        y_true, predictions, costs, to, **options
            As in `cost_sensitivity`.
        ax : matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        unit : str, optional
            The unit of the costs.

        Returns
        -------
        CostSensitivityDisplay
        """
        found = cost_sensitivity(y_true, predictions, costs, to, **options)
        return cls(found).plot(ax, unit=unit)

    def plot(
        self, ax: Any = None, *, intervals: bool = True, unit: str = "", legend: bool = True
    ) -> Self:
        """Draw the costs.

        Parameters
        ----------
        ax : matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
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
        ax, path = one_axes(ax), self.sensitivity
        for i, name in enumerate(path.names):
            look = line_look(i)
            ax.plot(path.position, path.cost[i], label=name, zorder=3, **look)
            if intervals:
                _shade(ax, path.position, path.low[i], path.high[i], look)
        ax.set(
            xlim=(path.position[0], path.position[-1]),
            xlabel=path.axis,
            ylabel=f"cost per decision ({unit})" if unit else "cost per decision",
        )
        if intervals:
            ax.set_title(
                f"expected costs with {percent(path.confidence)} intervals", fontsize="medium"
            )
        if path.scale == "log" and path.position[0] > 0:  # gains, below zero, have no logarithm
            _use_logarithms(ax, path.position[-1] / path.position[0])
        if legend:
            draw_legend(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each classifier and place on the path.

        Returns
        -------
        pandas.DataFrame
        """
        return self.sensitivity.to_frame()


class RunningCostDisplay:
    """The cost of decisions so far, with an interval that holds at all times as outcomes arrive.

    Parameters
    ----------
    running : Accumulator, ExampleAccumulator or PairedAccumulator
        The running totals. For a PairedAccumulator, the difference of both models and 0 are drawn.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure of the last plot.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from stakes import Accumulator, CostMatrix
    >>> from stakes.show import RunningCostDisplay
    >>> running = Accumulator(CostMatrix.from_errors(false_positive=1, false_negative=10))
    >>> for day in range(30):
    ...     running.update([0] * 90 + [1] * 10, [0] * 85 + [1] * 14 + [0])
    >>> display = RunningCostDisplay(running).plot()
    >>> display.ax_.get_ylabel()
    'cost per decision so far'
    >>> plt.close(display.figure_)
    """

    def __init__(self, running: Accumulator | ExampleAccumulator | PairedAccumulator) -> None:
        if not isinstance(running, Accumulator | ExampleAccumulator | PairedAccumulator):
            raise InputTypeError(
                "running", f"expected an Accumulator, got {type(running).__name__}."
            )
        self.running = running

    def plot(self, ax: Any = None, *, confidence: float = 0.95) -> Self:
        """Draw the cost so far and its interval.

        Parameters
        ----------
        ax : matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        confidence : float, default 0.95
            Simultaneous confidence level of the whole sequence of intervals.

        Returns
        -------
        RunningCostDisplay
        """
        past = self.running.history(confidence)
        if not len(past["n"]):
            raise InputError(
                "running",
                "there is nothing to draw: totals after each update are kept of plain outcomes, "
                "not of sums of accumulators, groups, strata, weights or class priors.",
                "Call update first, and draw each part of a sum.",
            )
        ax = one_axes(ax)
        look = line_look(0)
        ax.plot(past["n"], past["mean"], marker="." if len(past["n"]) == 1 else None, **look)
        _shade(ax, past["n"], past["low"], past["high"], look)
        what, unit = "cost per decision so far", self.running.unit
        if isinstance(self.running, PairedAccumulator):
            first, second = self.running.names
            what = f"cost of {first} minus {second}, so far"
            ax.axhline(0.0, color="0.4", linewidth=0.8, zorder=1)
        ax.set(xlabel="decisions", ylabel=f"{what} ({unit})" if unit else what)
        # The first intervals are so wide that the others would look flat.
        later = past["n"] >= EARLY * past["n"][-1]
        low, high = past["low"][later].min(), past["high"][later].max()
        ax.set_ylim(low - MARGIN * (high - low), high + MARGIN * (high - low))
        ax.set_title(f"{percent(confidence)} interval that holds at any time", fontsize="medium")
        self.ax_, self.figure_ = ax, ax.figure
        return self


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


def _use_logarithms(ax: Any, ratio: float) -> None:
    """Use a logarithmic axis, with ticks at round numbers."""
    from matplotlib.ticker import LogLocator, NullLocator

    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if ratio < SEVERAL_DECADES else (1,)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter("{x:,.10g}")
