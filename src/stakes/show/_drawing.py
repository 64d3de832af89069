"""Drawing functions of the displays in cost space: curves, bands, second axes and the legend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np

from stakes._core import optional, validate
from stakes._core.labels import Label
from stakes._core.text import number, percent
from stakes._core.typing import Floats
from stakes.curves._base import Curve
from stakes.curves.band import Band
from stakes.curves.binned import BinnedCostCurve
from stakes.curves.combine import AverageCurve, BestCurve, roc_points
from stakes.curves.condition import (
    BEST_CONSTANT,
    Pieces,
    cost_ratio,
    operating_condition,
    prevalence_at,
)
from stakes.curves.difference import CostCurveDifference
from stakes.errors import InputError, InputTypeError, LabelError

# -- axes, colours and line styles, and the scores of an estimator

pyplot = optional.pyplot
"""Function that imports matplotlib; if it is missing, the error states what to install."""

COLOURS = ("#0d47a1", "#c44e00", "#008073", "#8e2a6b", "#4e3c00", "#84817a", "#000000")
"""The report's five model colours, which colour-blind people can distinguish; grey; black."""

GREYS_FROM = 5
"""Index from which curves are grey, as in the report, and differ only by their line styles."""

STYLES = ("-", "--", "-.", (0, (1, 1.2)), (0, (9, 2)), (0, (4, 1, 1, 1, 1, 1)))
"""The line styles of the curves, for print in black and white."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "//")

GREY = "0.4"
WIDTH = 1.8

RESPONSES = ("predict_proba", "decision_function")
"""The methods of a classifier that return scores, in order of preference."""


def one_axes(ax: Any) -> Any:
    """Return the axes to draw on; new ones, if none are given."""
    plt = pyplot()
    return plt.subplots(layout="constrained")[1] if ax is None else drawable(ax, "ax")


def drawable(ax: Any, name: str) -> Any:
    """Check that an argument is matplotlib axes."""
    if not hasattr(ax, "get_figure"):
        raise InputTypeError(name, f"expected axes of matplotlib, got a {type(ax).__name__}.")
    return ax


def several_axes(axes: Any, count: int, **options: Any) -> Any:
    """Return an array of `count` axes; new ones, made with the options, if none are given."""
    plt = pyplot()
    if axes is None:
        return np.ravel(plt.subplots(layout="constrained", **options)[1])
    given = np.ravel(np.asarray(axes, dtype=object))
    if len(given) != count:
        raise InputError("axes", f"expected {count} axes to draw on, got {len(given)}.")
    for each in given:
        drawable(each, "axes")
    return given


def line_look(index: int) -> dict[str, Any]:
    """Return the colour and the line style of the curve with that number."""
    return {
        "color": COLOURS[min(index, GREYS_FROM)],
        "linestyle": STYLES[index % len(STYLES)],
        "linewidth": WIDTH,
    }


def line_options(index: int, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the options of matplotlib for a curve: its default look, updated by those given."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    if given is not None and not isinstance(given, Mapping):
        raise InputTypeError(
            "curve_kwargs",
            'expected a mapping of matplotlib\'s options, such as {"color": "red"}; got a '
            f"{type(given).__name__}.",
        )
    return line_look(index) | normalize_kwargs(dict(given or {}), Line2D)


def tinted(colour: Any, alpha: float) -> Any:
    """Return a transparent version of a colour."""
    from matplotlib.colors import to_rgba

    return to_rgba(colour, alpha)


def positive_scores(
    estimator: Any, examples: Any, *, pos_label: Label | None, response_method: str
) -> tuple[Any, Label]:
    """Return the scores of the positive class, and the label of that class."""
    validate.choice(response_method, "response_method", ("auto", *RESPONSES))
    classes = np.asarray(_classes(estimator)).tolist()
    if len(classes) != 2:  # noqa: PLR2004 - a cost curve is for two classes
        raise InputError(
            "estimator",
            f"a cost curve needs a classifier of two classes, this one has {classes}.",
            "CostCurve.one_versus_rest makes a curve for each of several classes.",
        )
    positive = classes[1] if pos_label is None else pos_label
    if positive not in classes:
        raise LabelError("pos_label", f"expected one of {classes}, got {pos_label!r}.")
    wanted = RESPONSES if response_method == "auto" else (response_method,)
    method = next((each for each in wanted if hasattr(estimator, each)), None)
    if method is None:
        raise InputTypeError(
            "estimator",
            f"{type(estimator).__name__} has no {' or '.join(wanted)}, so it gives no scores.",
            "Draw its decisions: CostLine.from_labels(y, estimator.predict(X)).",
        )
    response = np.asarray(getattr(estimator, method)(examples))
    at = classes.index(positive)
    if method == "predict_proba":
        return response[:, at], positive
    return (response if at == 1 else -response), positive


def estimator_name(estimator: Any) -> str:
    """Return the class name of an estimator, or of a pipeline's last step."""
    steps = getattr(estimator, "steps", None)
    return type(steps[-1][1] if steps else estimator).__name__


def _classes(estimator: Any) -> Any:
    from sklearn.utils.validation import check_is_fitted

    if not hasattr(estimator, "fit"):
        raise InputTypeError(
            "estimator", f"expected a classifier, got a {type(estimator).__name__}."
        )
    check_is_fitted(estimator)
    classes = getattr(estimator, "classes_", None)
    if classes is None:
        raise InputTypeError(
            "estimator",
            f"expected a fitted classifier, got a {type(estimator).__name__}, which has no "
            "classes_.",
        )
    return classes


CONDITION = "operating condition PC(+)"
COST = "normalised expected cost"

MOST_LINES = 100
"""Maximum number of a scorer's cost lines that are drawn; more could not be distinguished."""

SET_OFF = 6
"""Distance of a label from its line in points, to the side and upwards."""

APART, LETTER = 0.02, 0.014
"""Space between labels of a second axis, and width of a letter, as shares of the axis."""

SECOND_AXES = ("prevalence", "cost_ratio")

MOST_COLUMNS = 4
GAP = 4.0
"""Distance of the legend from its surroundings in points."""


@dataclass(frozen=True)
class Role:
    """The role of an artist, which later displays on the same axes need to know.

    Attributes
    ----------
    kind : str
        "curve", "band", "constants" or "second axis".
    note : str
        For a curve, the origin of its thresholds; for a band, how it was computed.
    top : float
        The height that the axes need to show the artist.
    """

    kind: str
    note: str = ""
    top: float = 0.0


def roles(ax: Any, kind: str) -> list[Role]:
    """Return the roles of one kind that displays have drawn on these axes."""
    found = [getattr(artist, "stakes", None) for artist in ax.get_children()]
    return [role for role in found if role is not None and role.kind == kind]


def choice_note(curve: Curve | CostCurveDifference) -> str:
    """Return on which examples the thresholds were chosen; empty if there are none to choose."""
    if not curve.chosen_on:
        return ""
    parts = curve.curves if isinstance(curve, AverageCurve) else (curve,)
    best = all(isinstance(part, BestCurve) for part in parts)
    what = "classifiers" if best else "thresholds"
    flattered = ": optimistic" if "the same examples" in curve.chosen_on else ""
    return f"{what} chosen on {curve.chosen_on}{flattered}"


def band_note(band: Band) -> str:
    """Describe the kind of band."""
    return f"{percent(band.confidence)} band ({band.kind()})"


def corners(pieces: Pieces) -> tuple[Floats, Floats]:
    """Return the points to connect, with both ends of each jump of the curve."""
    heights = np.column_stack(pieces.ends()).ravel()
    return np.column_stack([pieces.breaks[:-1], pieces.breaks[1:]]).ravel(), heights


def highest(pieces: Pieces, band: Band | None) -> float:
    """Return the height of axes that show a curve, its band and the constant predictions."""
    tops = [float(BEST_CONSTANT.at(np.array(0.5))), float(np.max(pieces.ends()))]
    return max(tops if band is None else [*tops, float(band.high.max())])


def set_cost_space(ax: Any) -> None:
    """Label the axes, and make them high enough for every curve on them."""
    top = max(role.top for role in roles(ax, "curve"))
    ax.set(xlim=(0, 1), ylim=(0, 1.04 * top), xlabel=CONDITION, ylabel=COST)


def draw_constants(ax: Any) -> None:
    """Draw the cost of the cheaper constant prediction, once on the same axes."""
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import offset_copy

    if roles(ax, "constants"):
        return
    drawn = ax.plot(
        *corners(BEST_CONSTANT), color=GREY, linewidth=1.1, linestyle=(0, (2, 1.5)), zorder=2
    )
    drawn[0].stakes = Role("constants")
    for text, place, angle in (("all negative", 0.25, 45), ("all positive", 0.75, -45)):
        side = -SET_OFF if angle > 0 else SET_OFF
        ax.text(
            place,
            float(BEST_CONSTANT.at(np.array(place))),
            text,
            transform=offset_copy(ax.transData, ax.figure, x=side, y=SET_OFF, units="points"),
            rotation=angle,
            rotation_mode="anchor",
            transform_rotates_text=True,
            ha="center",
            va="center",
            fontsize="small",
            color=GREY,
            clip_on=True,
            zorder=4,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
        )


def draw_band(ax: Any, band: Band, note: str, **look: Any) -> None:
    """Draw a band."""
    drawn = ax.fill_between(band.pc, band.low, band.high, zorder=1.5, **look)
    drawn.stakes = Role("band", note)


def draw_gain(ax: Any, pieces: Pieces, **look: Any) -> None:
    """Shade the area between a curve and the constant predictions above it."""
    ends = [low for low, _, _ in pieces.minus(BEST_CONSTANT).signs()]
    breaks = np.unique(np.concatenate([pieces.breaks, BEST_CONSTANT.breaks, ends]))
    middle = (breaks[:-1] + breaks[1:]) / 2
    below = np.repeat(pieces.at(middle) < BEST_CONSTANT.at(middle), 2)
    x, y = corners(pieces.over(breaks))
    constants = corners(BEST_CONSTANT.over(breaks))[1]
    ax.fill_between(x, y, constants, where=below, zorder=0.5, **look)


def draw_bracket(ax: Any, curve: BinnedCostCurve, **look: Any) -> None:
    """Shade the bracket of the exact curve of binned scores."""
    breaks = np.union1d(curve.pieces.breaks, curve.lower_pieces.breaks)
    ax.fill_between(breaks, curve.lower(breaks), curve.upper(breaks), zorder=2, **look)


def draw_lines(ax: Any, curve: Curve, **look: Any) -> None:
    """Draw the components of a curve: a scorer's cost lines, or the curves of an average."""
    from matplotlib.collections import LineCollection

    if hasattr(curve, "curves"):
        segments = [np.column_stack(corners(part.pieces)) for part in curve.curves]
    else:
        scorer = curve.attained if isinstance(curve, BinnedCostCurve) else curve
        points = roc_points(scorer)  # type: ignore[arg-type]
        segments = cost_lines(points.fpr, points.tpr)
    ax.add_collection(LineCollection(segments, zorder=1, **look), autolim=False)


def cost_lines(fpr: Floats, tpr: Floats) -> list[Floats]:
    """Return the two ends of the cost lines of ROC points, for at most 100 of them."""
    size = min(len(fpr), MOST_LINES)
    picked = np.unique(np.linspace(0, len(fpr) - 1, size).round().astype(int))
    return [np.array([[0.0, fpr[i]], [1.0, 1 - tpr[i]]]) for i in picked.tolist()]


# -- the legend: one for all curves and bands on the same axes, placed where it hides nothing


def draw_legend(ax: Any) -> None:
    """Draw one legend for all curves and bands on these axes.

    A note that all curves share is its title. With a layout engine, the legend is below the axes.
    Without one it would be cut off there, so it is inside, and the y axis is extended.
    """
    from matplotlib.patches import Patch

    handles, labels = ax.get_legend_handles_labels()
    notes = {role.note for role in roles(ax, "curve")}
    shared = notes.pop() if len(notes) == 1 else None
    if shared is None:
        own = [getattr(handle, "stakes", None) for handle in handles]
        labels = [
            f"{label} ({role.note})" if role is not None and role.note else label
            for label, role in zip(labels, own, strict=True)
        ]
    for note in dict.fromkeys(role.note for role in roles(ax, "band")):
        handles.append(Patch(facecolor="0.8", edgecolor="0.5", linewidth=0.6))
        labels.append(note)
    if not handles:
        return
    options = {
        "title": shared or None,
        "frameon": False,
        "borderaxespad": 0.0,
        "handlelength": 3.0,
        "fontsize": "small",
        "title_fontsize": "small",
    }
    place = _below if _has_layout(ax.figure) else _inside
    for columns in range(min(len(labels), MOST_COLUMNS), 0, -1):
        legend = place(ax, handles, labels, {"ncols": columns} | options)
        title = legend.get_title()
        if title.get_window_extent().width > ax.bbox.width:
            title.set_text(fill(title.get_text(), len(title.get_text()) // 2 + 5))
        if legend.get_window_extent().width <= ax.bbox.width:
            break
    if place is _inside:
        _make_room(ax, legend)


def _has_layout(figure: Any) -> bool:
    from matplotlib.layout_engine import PlaceHolderLayoutEngine

    engine = figure.get_layout_engine()
    return engine is not None and not isinstance(engine, PlaceHolderLayoutEngine)


def _below(ax: Any, handles: Any, labels: Any, options: dict[str, Any]) -> Any:
    from matplotlib.transforms import ScaledTranslation

    dpi = ax.figure.dpi
    axis = ax.xaxis.get_tightbbox()
    taken = 0.0 if axis is None else max(ax.bbox.y0 - axis.y0, 0.0)
    down = ScaledTranslation(0, -taken / dpi - GAP / 72, ax.figure.dpi_scale_trans)
    return ax.legend(
        handles,
        labels,
        loc="upper center",
        bbox_to_anchor=(0.5, 0.0),
        bbox_transform=ax.transAxes + down,
        **options,
    )


def _inside(ax: Any, handles: Any, labels: Any, options: dict[str, Any]) -> Any:
    pale = options | {"frameon": True, "framealpha": 0.85, "edgecolor": "none"}  # may cover shading
    place = (0.5, 1 - _gap(ax))
    return ax.legend(handles, labels, loc="upper center", bbox_to_anchor=place, **pale)


def _make_room(ax: Any, legend: Any) -> None:
    """Extend the y axis by the legend's height."""
    share = legend.get_window_extent().height / ax.bbox.height + 3 * _gap(ax)
    low, high = ax.get_ylim()
    ax.set_ylim(low, low + (high - low) / max(1 - share, 0.2))


def _gap(ax: Any) -> float:
    return float(GAP / 72 * ax.figure.dpi / ax.bbox.height)


# -- the upper axis: operating conditions as prevalences or cost ratios


@dataclass(frozen=True)
class SecondAxis:
    """The ticks of the upper axis with their labels, and its title."""

    ticks: tuple[tuple[float, str], ...]
    title: str

    def draw(self, ax: Any) -> None:
        """Draw the axis, in place of an existing one."""
        for old in [each for each in ax.child_axes if hasattr(each, "stakes")]:
            old.remove()
        top = ax.secondary_xaxis("top")
        top.stakes = Role("second axis")
        top.set_xticks(*zip(*self.ticks, strict=True))
        top.set_xlabel(self.title)


def second_axis_of(
    kind: str | None, *, false_positive: Any, false_negative: Any, prevalence: Any
) -> SecondAxis | None:
    """Return the axis of prevalences at given costs, or of cost ratios at a given prevalence."""
    given = {
        "false_positive": false_positive,
        "false_negative": false_negative,
        "prevalence": prevalence,
    }
    named = [name for name, value in given.items() if value is not None]
    wanted = {
        None: [],
        "prevalence": ["false_positive", "false_negative"],
        "cost_ratio": ["prevalence"],
    }
    if kind is not None:
        validate.choice(kind, "second_axis", SECOND_AXES)
    if named != wanted[kind]:
        raise InputTypeError(
            "second_axis",
            "'prevalence' needs false_positive= and false_negative=, 'cost_ratio' needs "
            f"prevalence=; got second_axis={kind!r} with {', '.join(named) or 'neither'}.",
        )
    if kind is None:
        return None
    if kind == "prevalence":
        costs = {"false_positive": false_positive, "false_negative": false_negative}
        prevalence_at(0.5, **costs)  # raises if a mistake costs nothing
        labels = [
            (operating_condition(prevalence=share, **costs), f"{100 * share:.6g}%")
            for share in SHARES
        ]
        miss, alarm = number(false_negative), number(false_positive)
        return SecondAxis(
            _spread(labels), f"prevalence, where a miss costs {miss} and a false alarm {alarm}"
        )
    cost_ratio(0.5, prevalence=prevalence)  # raises if there is only one class
    share = {"prevalence": prevalence, "false_positive": 1}
    labels = [(operating_condition(false_negative=each, **share), _ratio(each)) for each in RATIOS]
    title = f"cost of a miss, in false alarms, at a prevalence of {100 * prevalence:.4g}%"
    return SecondAxis(_spread([(0.0, "0"), (1.0, "∞"), *labels]), title)


def _spread(ticks: list[tuple[float, str]]) -> tuple[tuple[float, str], ...]:
    """Return the ticks whose labels do not overlap; earlier ticks have priority."""
    kept: list[tuple[float, str]] = []
    for place, label in ticks:
        if all(
            abs(place - other) >= APART + LETTER * (len(label) + len(text)) / 2
            for other, text in kept
        ):
            kept.append((place, label))
    return tuple(sorted(kept))


def _ratio(ratio: float) -> str:
    return f"{ratio:,.10g}" if ratio >= 1 else f"1/{1 / ratio:,.10g}"


def _round_shares() -> list[float]:
    """Return round shares, with the ends and the roundest first."""
    tenths = [10.0**-power for power in range(1, 8)]
    small = [*tenths, *(2 * each for each in tenths), *(5 * each for each in tenths[1:])]
    both = [share for each in small for share in (each, 1 - each)]
    return [0.0, 1.0, 0.5, *(float(f"{share:.10g}") for share in both)]


def _round_ratios() -> list[float]:
    """Return round ratios, the roundest first."""
    powers = [10.0**power for power in range(7)]
    large = [*powers, *(2 * each for each in powers), *(5 * each for each in powers)]
    return list(dict.fromkeys(ratio for each in large for ratio in (each, 1 / each)))


SHARES = _round_shares()
RATIOS = _round_ratios()
