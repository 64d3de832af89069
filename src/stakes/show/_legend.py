"""One legend for all that is drawn on some axes, where it hides nothing."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Any

from stakes._table import percent
from stakes.curves.average import AverageCurve
from stakes.curves.band import Band
from stakes.curves.base import Curve
from stakes.curves.best import BestCurve
from stakes.curves.difference import CostCurveDifference

MOST_COLUMNS = 4
GAP = 4.0
"""Points between the legend and what is next to it."""


@dataclass(frozen=True)
class Role:
    """What an artist stands for, so that later displays on the same axes know what is there.

    Attributes
    ----------
    kind : str
        "curve", "band", "trivial" or "second axis".
    note : str
        Where a curve's thresholds come from; how a band was computed.
    top : float
        The height that the axes need to show it.
    """

    kind: str
    note: str = ""
    top: float = 0.0


def roles(ax: Any, kind: str) -> list[Role]:
    """Return what displays have drawn of a kind on these axes."""
    found = [getattr(artist, "stakes", None) for artist in ax.get_children()]
    return [role for role in found if role is not None and role.kind == kind]


def choice_note(curve: Curve | CostCurveDifference) -> str:
    """Say where the thresholds were chosen; nothing where there is nothing to choose."""
    if not curve.chosen_on:
        return ""
    parts = curve.curves if isinstance(curve, AverageCurve) else (curve,)
    best = all(isinstance(part, BestCurve) for part in parts)
    what = "classifiers" if best else "thresholds"
    flattered = ": optimistic" if "the same examples" in curve.chosen_on else ""
    return f"{what} chosen on {curve.chosen_on}{flattered}"


def band_note(band: Band) -> str:
    """Say what kind of band it is."""
    return f"{percent(band.confidence)} band ({band.kind()})"


def draw_legend(ax: Any) -> None:
    """Draw one legend for all curves and bands on these axes.

    What all curves have in common is its title. With a layout engine it stands below the axes;
    without one, which would cut it off there, inside, and the axes are made higher.
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
    pale = options | {"frameon": True, "framealpha": 0.85, "edgecolor": "none"}  # over shading
    place = (0.5, 1 - _gap(ax))
    return ax.legend(handles, labels, loc="upper center", bbox_to_anchor=place, **pale)


def _make_room(ax: Any, legend: Any) -> None:
    """Make the axes higher by the legend's height."""
    share = legend.get_window_extent().height / ax.bbox.height + 3 * _gap(ax)
    low, high = ax.get_ylim()
    ax.set_ylim(low, low + (high - low) / max(1 - share, 0.2))


def _gap(ax: Any) -> float:
    return float(GAP / 72 * ax.figure.dpi / ax.bbox.height)
