"""Displays of cost curves and decision curves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from stakes._core import validate
from stakes._core.labels import Label
from stakes._core.optional import data_frame
from stakes._core.text import number, percent
from stakes.curves._base import Curve
from stakes.curves.band import Band, condition_list
from stakes.curves.binned import BinnedCostCurve
from stakes.curves.combine import checked_curves
from stakes.curves.curve import CostCurve
from stakes.curves.decision_curve import DecisionBand, DecisionCurve
from stakes.show._drawing import (
    Role,
    band_note,
    choice_note,
    corners,
    draw_band,
    draw_bracket,
    draw_constants,
    draw_gain,
    draw_legend,
    draw_lines,
    estimator_name,
    highest,
    line_options,
    one_axes,
    positive_scores,
    roles,
    second_axis_of,
    set_cost_space,
    tinted,
)


class CostCurveDisplay:
    """A cost curve with its band.

    The legend states on which examples the thresholds were chosen, because choosing them on the
    same examples makes the curve optimistic. Several displays can be drawn on the same axes.

    Parameters
    ----------
    curve : CostCurve, BinnedCostCurve, CostLine, AverageCurve or BestCurve
        The curve; for a binned one, the bracket of the exact curve is shaded.
    band : Band, optional
        The band around it, such as ``curve.band()``.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure of the last plot.

    Notes
    -----
    The curve shows, at the operating condition PC(+) = w, the normalised cost w(1 - TPR) +
    (1 - w)FPR of the threshold chosen for w. The constant predictions cost w and 1 - w.

    References
    ----------
    Drummond & Holte (2006).

    Holte & Drummond (2005), section 2.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from stakes.show import CostCurveDisplay
    >>> display = CostCurveDisplay.from_scores(
    ...     [0, 1, 0, 1, 0, 1], [0.1, 0.8, 0.3, 0.6, 0.7, 0.9], name="model")
    >>> display.ax_.get_xlabel()
    'operating condition PC(+)'
    >>> print(display.ax_.get_legend().get_title().get_text())
    thresholds chosen on the same examples: optimistic
    >>> plt.close(display.figure_)
    """

    def __init__(self, curve: Curve, band: Band | None = None) -> None:
        (self.curve,) = checked_curves([curve])
        if band is not None:
            validate.expect(band, Band, "band", "curve.band()")
        self.band = band

    @classmethod
    def from_curve(
        cls,
        curve: Curve,
        *,
        confidence: float | None = 0.95,
        method: str = "mover",
        sampling: str = "stratified",
        simultaneous: bool = False,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Draw a curve and its band.

        Parameters
        ----------
        curve : CostCurve, CostLine, AverageCurve or BestCurve
            The curve.
        confidence : float or None, default 0.95
            Confidence level of the band; None for no band. There is no band if the curve has no
            numbers of examples.
        method, sampling, simultaneous
            As in ``CostCurve.band``. To use a method's own options, compute the band first:
            ``CostCurveDisplay(curve, curve.band(method="bootstrap", rng=0)).plot()``.
        ax : matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        **plot_options
            As in `plot`.

        Returns
        -------
        CostCurveDisplay
        """
        (found,) = checked_curves([curve])
        band = None
        if confidence is not None and found.sized:
            band = found.band(confidence, method, sampling=sampling, simultaneous=simultaneous)
        return cls(found, band).plot(ax, **plot_options)

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Label = 1,
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the cost curve of scores.

        Parameters
        ----------
        y_true : array_like, shape (n,)
            The actual class of each example; two classes.
        y_score : array_like, shape (n,)
            The score of each example; the higher, the more likely positive. Decisions coded 0 and
            1 are valid scores.
        pos_label : default 1
            Which class is the positive one.
        sample_weight : array_like, shape (n,), optional
            The weight of each example.
        name : str, optional
            The classifier's name.
        ax : matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        **options
            As in `from_curve` and in `plot`.

        Returns
        -------
        CostCurveDisplay
        """
        curve = CostCurve.from_scores(
            y_true,
            y_score,
            pos_label=pos_label,
            sample_weight=sample_weight,
            name="" if name is None else name,
        )
        return cls.from_curve(curve, ax=ax, **options)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: Any,
        *,
        pos_label: Label | None = None,
        response_method: str = "auto",
        sample_weight: Any = None,
        name: str | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the cost curve of a fitted classifier.

        Parameters
        ----------
        estimator : estimator
            A fitted classifier of two classes with scikit-learn's interface.
        X : array_like
            The examples.
        y : array_like, shape (n,)
            Their actual classes.
        pos_label : optional
            Which class is the positive one; by default the second of ``estimator.classes_``.
        response_method : {"auto", "predict_proba", "decision_function"}
            The method that returns the scores; "auto" uses the first of the two that exists.
        sample_weight : array_like, shape (n,), optional
            The weight of each example.
        name : str, optional
            The classifier's name; by default the class name of the estimator.
        ax : matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        **options
            As in `from_curve` and in `plot`.

        Returns
        -------
        CostCurveDisplay

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from sklearn.linear_model import LogisticRegression
        >>> from stakes.show import CostCurveDisplay
        >>> X, y = [[0.1], [0.8], [0.3], [0.6], [0.7], [0.9]], [0, 1, 0, 1, 0, 1]
        >>> model = LogisticRegression().fit(X, y)
        >>> display = CostCurveDisplay.from_estimator(model, X, y)
        >>> display.curve.name
        'LogisticRegression'
        >>> plt.close(display.figure_)
        """
        y_score, positive = positive_scores(
            estimator, X, pos_label=pos_label, response_method=response_method
        )
        return cls.from_scores(
            y,
            y_score,
            pos_label=positive,
            sample_weight=sample_weight,
            name=estimator_name(estimator) if name is None else name,
            ax=ax,
            **options,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        name: str | None = None,
        band: bool = True,
        lines: bool = False,
        constants: bool = True,
        operating_range: bool = False,
        second_axis: str | None = None,
        false_positive: float | None = None,
        false_negative: float | None = None,
        prevalence: float | None = None,
        legend: bool = True,
        curve_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw the curve.

        Parameters
        ----------
        ax : matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        name : str, optional
            The label of the curve; by default its name.
        band : bool, default True
            Whether to draw the band, if there is one.
        lines : bool, default False
            Whether to draw the components of the curve: the cost lines of thresholds, at most a
            hundred of them; or the curves that were averaged or chosen from.
        constants : bool, default True
            Whether to draw the costs of calling all examples negative, or all positive.
        operating_range : bool, default False
            Whether to shade where the classifier is cheaper than the constant predictions.
        second_axis : {"prevalence", "cost_ratio"}, optional
            The quantity on the upper axis: the prevalence that corresponds to the operating
            condition at the costs `false_positive` and `false_negative`; or the cost of a miss in
            false alarms, at a `prevalence`.
        false_positive, false_negative, prevalence : float, optional
            The costs or the prevalence of the second axis.
        legend : bool, default True
            Whether to draw a legend.
        curve_kwargs : mapping, optional
            Options of matplotlib for the line, such as ``{"color": "black"}``.

        Returns
        -------
        CostCurveDisplay
        """
        upper = second_axis_of(
            second_axis,
            false_positive=false_positive,
            false_negative=false_negative,
            prevalence=prevalence,
        )
        axes = one_axes(ax)
        x, y = corners(self.curve.pieces)
        options = line_options(len(roles(axes, "curve")), curve_kwargs)
        label = self.curve.title() if name is None else name
        (line,) = axes.plot(x, y, **{"label": label, "zorder": 3} | options)
        shown = self.band if band else None
        line.stakes = Role("curve", choice_note(self.curve), highest(self.curve.pieces, shown))
        colour = line.get_color()
        self._draw_around(axes, label, line, shown)
        if lines:
            draw_lines(axes, self.curve, color=tinted(colour, 0.35), linewidth=0.6)
        if operating_range:
            self._shade(axes, label, colour)
        if constants:
            draw_constants(axes)
        if upper is not None:
            upper.draw(axes)
        set_cost_space(axes)
        if legend:
            draw_legend(axes)
        self.ax_, self.figure_ = axes, axes.figure
        return self

    def _draw_around(self, axes: Any, label: str, line: Any, band: Band | None) -> None:
        """Shade the band and, for binned scores, the bracket of the exact curve."""
        colour = line.get_color()
        if band is not None:
            draw_band(
                axes,
                band,
                band_note(band),
                facecolor=tinted(colour, 0.2),
                edgecolor=tinted(colour, 0.7),
                linewidth=0.6,
                linestyle=line.get_linestyle(),
            )
        if isinstance(self.curve, BinnedCostCurve):
            draw_bracket(
                axes,
                self.curve,
                facecolor=tinted(colour, 0.5),
                linewidth=0,
                label=f"the exact curve of {label}, at most {number(self.curve.width)} lower",
            )

    def _shade(self, ax: Any, label: str, colour: Any) -> None:
        ranges = self.curve.operating_range()
        where = " and ".join(f"{number(low)} to {number(high)}" for low, high in ranges)
        text = f"operating range of {label}: {where or 'none'}"
        draw_gain(ax, self.curve.pieces, facecolor=tinted(colour, 0.12), linewidth=0, label=text)
        for end in {end for each in ranges for end in each} - {0.0, 1.0}:
            ax.axvline(end, color=colour, linewidth=0.9, linestyle=":", zorder=0.6)

    def to_frame(self) -> Any:
        """Return the curve as a pandas data frame, with a row for each operating condition.

        The conditions are those of the band; without a band, 201 of them from 0 to 1. The exact
        corners of the curve are in ``curve.to_dict()``.

        Returns
        -------
        pandas.DataFrame
        """
        pc = condition_list(None) if self.band is None else self.band.pc
        columns = {"pc": pc, "cost": self.curve.cost(pc)}
        if self.band is not None:
            columns |= {"low": self.band.low, "high": self.band.high}
        if isinstance(self.curve, BinnedCostCurve):
            columns["lower"] = self.curve.lower(pc)
        if isinstance(self.curve, CostCurve | BinnedCostCurve):
            columns["threshold"] = self.curve.threshold(pc)
        return data_frame(columns)


class DecisionCurveDisplay:
    """A decision curve with its band, and with "treat all" and "treat none".

    Several displays can be drawn on the same axes.

    Parameters
    ----------
    curve : DecisionCurve
        The curve.
    band : DecisionBand
        The net benefit with limits, such as ``curve.band()``.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure of the last plot.

    Notes
    -----
    The curve shows the net benefit π tpr - (1 - π) fpr p_t/(1 - p_t) by threshold probability p_t.

    References
    ----------
    Vickers & Elkin (2006).

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from stakes import DecisionCurve
    >>> from stakes.show import DecisionCurveDisplay
    >>> curve = DecisionCurve.from_scores([0, 1, 0, 1, 0], [0.1, 0.8, 0.3, 0.6, 0.5], name="model")
    >>> display = DecisionCurveDisplay.from_curve(curve)
    >>> display.ax_.get_ylabel()
    'net benefit'
    >>> plt.close(display.figure_)
    """

    def __init__(self, curve: DecisionCurve, band: DecisionBand) -> None:
        validate.expect(curve, DecisionCurve, "curve", "DecisionCurve.from_scores(y_true, risk)")
        validate.expect(band, DecisionBand, "band", "curve.band()")
        self.curve, self.band = curve, band

    @classmethod
    def from_curve(
        cls,
        curve: DecisionCurve,
        *,
        thresholds: Any = None,
        confidence: float = 0.95,
        simultaneous: bool = False,
        ax: Any = None,
        **line_options: Any,
    ) -> Self:
        """Draw a curve and its band.

        Parameters
        ----------
        curve : DecisionCurve
            The curve.
        thresholds, confidence, simultaneous
            As in ``DecisionCurve.band``.
        ax : Axes, optional
            The axes of matplotlib to draw on; by default new ones.
        **line_options
            Options of matplotlib for the line, such as ``color``.

        Returns
        -------
        DecisionCurveDisplay
            The display, drawn.
        """
        validate.expect(curve, DecisionCurve, "curve", "DecisionCurve.from_scores(y_true, risk)")
        band = curve.band(thresholds, confidence=confidence, simultaneous=simultaneous)
        return cls(curve, band).plot(ax, **line_options)

    def plot(self, ax: Any = None, **line_options: Any) -> Self:
        """Draw the curve, its band, "treat all" and "treat none".

        Parameters
        ----------
        ax : Axes, optional
            The axes of matplotlib to draw on; by default new ones.
        **line_options
            Options of matplotlib for the line, such as ``color``.

        Returns
        -------
        DecisionCurveDisplay
            The display itself.
        """
        ax, band = one_axes(ax), self.band
        if not any(line.get_label() == "treat none" for line in ax.get_lines()):
            every = self.curve.treat_all(band.thresholds)
            ax.plot(band.thresholds, every, color="0.4", linestyle=":", label="treat all")
            ax.axhline(0, color="0.4", linewidth=1, label="treat none")
        (line,) = ax.plot(
            band.thresholds,
            band.net_benefit,
            **({"label": self.curve.name or "model"} | line_options),
        )
        ax.fill_between(band.thresholds, band.low, band.high, color=line.get_color(), alpha=0.18)
        top = max(float(band.high.max()), ax.get_ylim()[1] if len(ax.get_lines()) > 3 else 0.0)  # noqa: PLR2004
        ax.set(
            xlabel="threshold probability",
            ylabel="net benefit",
            xlim=(0, float(band.thresholds[-1])),
            ylim=(-0.2 * top, 1.05 * top),
        )
        reach = "simultaneous" if band.simultaneous else "pointwise"
        ax.legend(title=f"{percent(band.confidence)} bands, {reach}", frameon=False)
        self.ax_, self.figure_ = ax, ax.get_figure()
        return self
