"""Display of the difference of two cost curves."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import wrap
from typing import Any, Self

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label
from stakes._core.optional import data_frame
from stakes.curves.band import Band, Verdicts, condition_list
from stakes.curves.difference import CostCurveDifference
from stakes.show._drawing import (
    COLOURS,
    CONDITION,
    COST,
    HATCHES,
    Role,
    band_note,
    choice_note,
    corners,
    draw_band,
    draw_legend,
    estimator_name,
    line_look,
    line_options,
    one_axes,
    positive_scores,
    second_axis_of,
    tinted,
)

ROOM = 0.16
"""Share of the axes' height that is kept for text above and below the band."""

TITLE_WIDTH = 66
"""Maximum number of characters in one line of a title."""


class CostDifferenceDisplay:
    """The difference of two classifiers' costs, with its band and the significant ranges.

    Above zero the first classifier costs more. Ranges in which the difference is significant are
    shaded in the colour of the cheaper classifier.

    Parameters
    ----------
    difference : CostCurveDifference
        The difference.
    band : Band, optional
        The band around it, such as ``difference.band()``.
    verdicts : Verdicts, optional
        The cheaper classifier by range, such as ``difference.significant_ranges()``.

    Attributes
    ----------
    ax_, figure_
        The axes and the figure of the last plot.

    Notes
    -----
    The curve is w(TPR₂ - TPR₁) + (1 - w)(FPR₁ - FPR₂) at PC(+) = w, each at its own threshold.

    References
    ----------
    Drummond & Holte (2006).

    Dugas & Gadoury (2008), equation 7.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import numpy as np
    >>> from stakes.show import CostDifferenceDisplay
    >>> rng = np.random.default_rng(0)
    >>> y_true = rng.random(2000) < 0.3
    >>> sharp, dull = (y_true + rng.normal(0, scale, 2000) for scale in (0.4, 0.6))
    >>> display = CostDifferenceDisplay.from_scores(
    ...     y_true, sharp, dull, names=("sharp", "dull"))
    >>> print(display.verdicts.summary())
    With 95% confidence for all PC(+) at once, sharp is cheaper for PC(+) from 0.02535 to 0.971,
    undecided elsewhere.
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        difference: CostCurveDifference,
        band: Band | None = None,
        verdicts: Verdicts | None = None,
    ) -> None:
        example = "CostCurveDifference.from_scores(y_true, y_score_1, y_score_2)"
        validate.expect(difference, CostCurveDifference, "difference", example)
        if band is not None:
            validate.expect(band, Band, "band", "difference.band()")
        if verdicts is not None:
            validate.expect(verdicts, Verdicts, "verdicts", "difference.significant_ranges()")
        self.difference = difference
        self.band = band
        self.verdicts = verdicts

    @classmethod
    def from_difference(
        cls,
        difference: CostCurveDifference,
        *,
        confidence: float = 0.95,
        method: str = "mover",
        sampling: str = "stratified",
        simultaneous: bool = True,
        ax: Any = None,
        **plot_options: Any,
    ) -> Self:
        """Draw a difference, its band and its verdicts.

        Parameters
        ----------
        difference : CostCurveDifference
            The difference.
        confidence : float, default 0.95
            Confidence level of the band and of the verdicts.
        method, sampling, simultaneous
            As in ``CostCurveDifference.significant_ranges``: by default for all conditions at once.
            To use a method's own options, compute the band and the verdicts first.
        ax : matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        **plot_options
            As in `plot`.

        Returns
        -------
        CostDifferenceDisplay
        """
        example = "CostCurveDifference.from_scores(y_true, y_score_1, y_score_2)"
        validate.expect(difference, CostCurveDifference, "difference", example)
        options: dict[str, Any] = {"sampling": sampling, "simultaneous": simultaneous}
        band = difference.band(confidence, method, **options)
        verdicts = difference.significant_ranges(confidence, method, **options)
        return cls(difference, band, verdicts).plot(ax, **plot_options)

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        y_score_1: Any,
        y_score_2: Any,
        *,
        pos_label: Label = 1,
        sample_weight: Any = None,
        names: tuple[str, str] = ("the first", "the second"),
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the difference of two classifiers' scores of the same examples.

        Parameters
        ----------
        y_true : array_like, shape (n,)
            The actual class of each example; two classes.
        y_score_1, y_score_2 : array_like, shape (n,)
            The classifiers' scores; the higher, the more likely positive.
        pos_label : default 1
            Which class is the positive one.
        sample_weight : array_like, shape (n,), optional
            The weight of each example.
        names : pair of str
            The classifiers' names.
        ax : matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        **options
            As in `from_difference` and in `plot`.

        Returns
        -------
        CostDifferenceDisplay
        """
        difference = CostCurveDifference.from_scores(
            y_true,
            y_score_1,
            y_score_2,
            pos_label=pos_label,
            sample_weight=sample_weight,
            names=names,
        )
        return cls.from_difference(difference, ax=ax, **options)

    @classmethod
    def from_estimators(
        cls,
        estimator_1: Any,
        estimator_2: Any,
        X: Any,  # noqa: N803 - scikit-learn's name
        y: Any,
        *,
        pos_label: Label | None = None,
        response_method: str = "auto",
        sample_weight: Any = None,
        names: tuple[str, str] | None = None,
        ax: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the difference of two fitted classifiers.

        Parameters
        ----------
        estimator_1, estimator_2 : estimator
            Fitted classifiers of the same two classes with scikit-learn's interface.
        X : array_like
            The examples.
        y : array_like, shape (n,)
            Their actual classes.
        pos_label : optional
            Which class is the positive one; by default the second of ``classes_``.
        response_method : {"auto", "predict_proba", "decision_function"}
            The method that returns the scores; "auto" uses the first of the two that exists.
        sample_weight : array_like, shape (n,), optional
            The weight of each example.
        names : pair of str, optional
            The classifiers' names; by default the class names of the estimators.
        ax : matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        **options
            As in `from_difference` and in `plot`.

        Returns
        -------
        CostDifferenceDisplay

        Examples
        --------
        >>> import matplotlib.pyplot as plt
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.naive_bayes import GaussianNB
        >>> from stakes.show import CostDifferenceDisplay
        >>> X, y = [[0.1], [0.8], [0.3], [0.6], [0.7], [0.9]], [0, 1, 0, 1, 0, 1]
        >>> models = LogisticRegression().fit(X, y), GaussianNB().fit(X, y)
        >>> display = CostDifferenceDisplay.from_estimators(*models, X, y)
        >>> display.difference.names
        ('LogisticRegression', 'GaussianNB')
        >>> plt.close(display.figure_)
        """
        y_score_1, positive = positive_scores(
            estimator_1, X, pos_label=pos_label, response_method=response_method
        )
        y_score_2, _ = positive_scores(
            estimator_2, X, pos_label=positive, response_method=response_method
        )
        if names is None:
            names = estimator_name(estimator_1), estimator_name(estimator_2)
            if names[0] == names[1]:
                names = f"{names[0]} (1)", f"{names[1]} (2)"
        return cls.from_scores(
            y,
            y_score_1,
            y_score_2,
            pos_label=positive,
            sample_weight=sample_weight,
            names=names,
            ax=ax,
            **options,
        )

    def plot(
        self,
        ax: Any = None,
        *,
        band: bool = True,
        ranges: bool = True,
        curves: bool = False,
        second_axis: str | None = None,
        false_positive: float | None = None,
        false_negative: float | None = None,
        prevalence: float | None = None,
        legend: bool = True,
        curve_kwargs: Mapping[str, Any] | None = None,
    ) -> Self:
        """Draw the difference.

        Parameters
        ----------
        ax : matplotlib axes, optional
            The axes to draw on; by default those of a new figure.
        band : bool, default True
            Whether to draw the band, if there is one.
        ranges : bool, default True
            Whether to shade where the difference is significant, and to state it in the title.
        curves : bool, default False
            Whether to draw the cost curves of both classifiers as well.
        second_axis, false_positive, false_negative, prevalence
            As in ``CostCurveDisplay.plot``.
        legend : bool, default True
            Whether to draw a legend.
        curve_kwargs : mapping, optional
            Options of matplotlib for the line, such as ``{"color": "black"}``.

        Returns
        -------
        CostDifferenceDisplay
        """
        upper = second_axis_of(
            second_axis,
            false_positive=false_positive,
            false_negative=false_negative,
            prevalence=prevalence,
        )
        axes = one_axes(ax)
        first, second = self.difference.names
        axes.axhline(0, color="black", linewidth=0.9, zorder=2)
        x, y = corners(self.difference.pieces)
        look = line_options(0, {"color": "black"} | dict(curve_kwargs or {}))
        (line,) = axes.plot(x, y, **{"label": f"{first} minus {second}", "zorder": 3} | look)
        line.stakes = Role("curve", choice_note(self.difference))
        heights = [y, np.zeros(1)]
        if band and self.band is not None:
            draw_band(
                axes,
                self.band,
                band_note(self.band),
                facecolor="0.85",
                edgecolor="0.5",
                linewidth=0.6,
            )
            heights += [self.band.low, self.band.high]
        if ranges and self.verdicts is not None:
            self._shade(axes, self.verdicts)
        if curves:
            heights += self._draw_curves(axes)
        if upper is not None:
            upper.draw(axes)
        lowest, top = (float(pick(np.concatenate(heights))) for pick in (np.min, np.max))
        room = ROOM * (top - lowest) if top > lowest else 0.1
        axes.set(
            xlim=(0, 1),
            ylim=(lowest - room, top + room),
            xlabel=CONDITION,
            ylabel=COST if curves else f"difference of {COST}s",
        )
        if legend:
            draw_legend(axes)
        self._name_sides(axes, top + room / 2, lowest - room / 2)
        self.ax_, self.figure_ = axes, axes.figure
        return self

    def _shade(self, ax: Any, verdicts: Verdicts) -> None:
        sure = f" ({verdicts.how_sure})" if verdicts.how_sure else ""
        for i, name in enumerate(self.difference.names):
            text = f"{name} cheaper{sure}"
            for low, high in verdicts.where(name):
                ax.axvspan(
                    low,
                    high,
                    facecolor=tinted(COLOURS[i], 0.14),
                    edgecolor=tinted(COLOURS[i], 0.35),
                    hatch=HATCHES[i],
                    linewidth=0,
                    zorder=0.5,
                    label=text,
                )
                text = "_"
        ax.set_title(_wrapped(verdicts.in_words()), fontsize="medium")

    def _draw_curves(self, ax: Any) -> list[Any]:
        heights = []
        for i, curve in enumerate((self.difference.first, self.difference.second)):
            x, y = corners(curve.pieces)
            look = line_look(i) | {"linewidth": 1.2, "linestyle": ("--", ":")[i]}
            ax.plot(x, y, label=f"cost of {curve.title()}", zorder=2.5, **look)
            heights.append(y)
        return heights

    def _name_sides(self, ax: Any, above: float, below: float) -> None:
        """Write which classifier is cheaper above zero, and which below."""
        from matplotlib.patheffects import withStroke

        low, high = ax.get_ylim()
        for i, height, arrow in ((1, above, "▲"), (0, below, "▼")):
            ax.text(
                0.02,
                (height - low) / (high - low),  # in axes coordinates, so that zooming keeps it
                f"{arrow} {self.difference.names[i]} cheaper",
                transform=ax.transAxes,
                color=COLOURS[i],
                va="center",
                zorder=4,
                path_effects=[withStroke(linewidth=3, foreground="white")],
            )

    def to_frame(self) -> Any:
        """Return the difference as a pandas data frame, with a row for each operating condition.

        The conditions are those of the band; without a band, 201 of them from 0 to 1.

        Returns
        -------
        pandas.DataFrame
        """
        pc = condition_list(None) if self.band is None else self.band.pc
        columns = {"pc": pc, "difference": self.difference.difference(pc)}
        if self.band is not None:
            columns |= {"low": self.band.low, "high": self.band.high}
        if self.verdicts is not None:
            ranges, otherwise = self.verdicts.ranges, self.verdicts.otherwise
            at = np.searchsorted([each.high for each in ranges[:-1]], pc, side="right")
            columns["cheaper"] = [ranges[i].cheaper or otherwise for i in at.tolist()]
        return data_frame(columns)


def _wrapped(sentence: str) -> str:
    """Break a sentence into lines of about the same length."""
    text = sentence.removesuffix(".")
    lines = len(wrap(text, TITLE_WIDTH))
    width = next(
        w for w in range(len(text) // lines, TITLE_WIDTH + 1) if len(wrap(text, w)) <= lines
    )
    return "\n".join(wrap(text, width))
