"""Axes of cost space: the operating condition against the normalised expected cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes import _validate
from stakes._core.typing import Floats
from stakes._table import number
from stakes.curves.band import Band
from stakes.curves.base import Curve
from stakes.curves.bracket import BinnedCostCurve
from stakes.curves.condition import cost_ratio, operating_condition, prevalence_at
from stakes.curves.pieces import TRIVIAL, Pieces
from stakes.curves.roc import roc_points
from stakes.errors import InputTypeError
from stakes.show._legend import Role, roles
from stakes.show._matplotlib import GREY

CONDITION = "operating condition PC(+)"
COST = "normalised expected cost"

MOST_LINES = 100
"""How many of a scorer's cost lines are drawn; more only make a smear."""

SET_OFF = 6
"""Points by which text is set off from the line that it names, to the side and upwards."""

APART, LETTER = 0.02, 0.014
"""The space between labels of a second axis, and what a letter takes, as shares of the axis."""

SECOND_AXES = ("prevalence", "cost_ratio")


def corners(pieces: Pieces) -> tuple[Floats, Floats]:
    """Return the points to connect; where a curve jumps, both ends of the jump."""
    heights = np.column_stack(pieces.ends()).ravel()
    return np.column_stack([pieces.breaks[:-1], pieces.breaks[1:]]).ravel(), heights


def highest(pieces: Pieces, band: Band | None) -> float:
    """Return the height of axes that show a curve, its band and the trivial classifiers."""
    tops = [float(TRIVIAL.at(np.array(0.5))), float(np.max(pieces.ends()))]
    return max(tops if band is None else [*tops, float(band.high.max())])


def set_cost_space(ax: Any) -> None:
    """Label the axes, and make them high enough for every curve on them."""
    top = max(role.top for role in roles(ax, "curve"))
    ax.set(xlim=(0, 1), ylim=(0, 1.04 * top), xlabel=CONDITION, ylabel=COST)


def draw_trivial(ax: Any) -> None:
    """Draw what the cheaper trivial classifier costs, once on the same axes."""
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import offset_copy

    if roles(ax, "trivial"):
        return
    drawn = ax.plot(*corners(TRIVIAL), color=GREY, linewidth=1.1, linestyle=(0, (2, 1.5)), zorder=2)
    drawn[0].stakes = Role("trivial")
    for text, place, angle in (("all negative", 0.25, 45), ("all positive", 0.75, -45)):
        side = -SET_OFF if angle > 0 else SET_OFF
        ax.text(
            place,
            float(TRIVIAL.at(np.array(place))),
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
    """Shade what a curve lies below the trivial classifiers."""
    ends = [low for low, _, _ in pieces.minus(TRIVIAL).signs()]
    breaks = np.unique(np.concatenate([pieces.breaks, TRIVIAL.breaks, ends]))
    middle = (breaks[:-1] + breaks[1:]) / 2
    below = np.repeat(pieces.at(middle) < TRIVIAL.at(middle), 2)
    x, y = corners(pieces.over(breaks))
    trivial = corners(TRIVIAL.over(breaks))[1]
    ax.fill_between(x, y, trivial, where=below, zorder=0.5, **look)


def draw_bracket(ax: Any, curve: BinnedCostCurve, **look: Any) -> None:
    """Shade where the exact curve of binned scores can be."""
    breaks = np.union1d(curve.pieces.breaks, curve.lower_pieces.breaks)
    ax.fill_between(breaks, curve.lower(breaks), curve.upper(breaks), zorder=2, **look)


def draw_lines(ax: Any, curve: Curve, **look: Any) -> None:
    """Draw what a curve is made of: a scorer's cost lines, or the curves of an average."""
    from matplotlib.collections import LineCollection

    if hasattr(curve, "curves"):
        segments = [np.column_stack(corners(part.pieces)) for part in curve.curves]
    else:
        scorer = curve.attained if isinstance(curve, BinnedCostCurve) else curve
        segments = cost_lines(*roc_points(scorer)[:2])  # type: ignore[arg-type]
    ax.add_collection(LineCollection(segments, zorder=1, **look), autolim=False)


def cost_lines(fpr: Floats, tpr: Floats) -> list[Floats]:
    """Return the two ends of the cost lines of ROC points, of at most a hundred of them."""
    size = min(len(fpr), MOST_LINES)
    picked = np.unique(np.linspace(0, len(fpr) - 1, size).round().astype(int))
    return [np.array([[0.0, fpr[i]], [1.0, 1 - tpr[i]]]) for i in picked.tolist()]


@dataclass(frozen=True)
class SecondAxis:
    """Ticks on the upper axis, with what they say, and its title."""

    ticks: tuple[tuple[float, str], ...]
    title: str

    def draw(self, ax: Any) -> None:
        """Draw it, in place of the one that may be there."""
        for old in [each for each in ax.child_axes if hasattr(each, "stakes")]:
            old.remove()
        top = ax.secondary_xaxis("top")
        top.stakes = Role("second axis")
        top.set_xticks(*zip(*self.ticks, strict=True))
        top.set_xlabel(self.title)


def second_axis_of(
    kind: str | None, *, false_positive: Any, false_negative: Any, prevalence: Any
) -> SecondAxis | None:
    """Return what the operating condition means at given costs, or at a given prevalence."""
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
        _validate.choice(kind, "second_axis", SECOND_AXES)
    if named != wanted[kind]:
        raise InputTypeError(
            "second_axis: 'prevalence' needs false_positive= and false_negative=, 'cost_ratio' "
            f"needs prevalence=; got second_axis={kind!r} with {', '.join(named) or 'neither'}."
        )
    if kind is None:
        return None
    if kind == "prevalence":
        costs = {"false_positive": false_positive, "false_negative": false_negative}
        prevalence_at(0.5, **costs)  # raises where a mistake costs nothing
        labels = [
            (operating_condition(prevalence=share, **costs), f"{100 * share:.6g} %")
            for share in SHARES
        ]
        miss, alarm = number(false_negative), number(false_positive)
        return SecondAxis(
            _spread(labels), f"prevalence, where a miss costs {miss} and a false alarm {alarm}"
        )
    cost_ratio(0.5, prevalence=prevalence)  # raises where there is one class only
    share = {"prevalence": prevalence, "false_positive": 1}
    labels = [(operating_condition(false_negative=each, **share), _ratio(each)) for each in RATIOS]
    title = f"cost of a miss, in false alarms, at a prevalence of {100 * prevalence:.4g} %"
    return SecondAxis(_spread([(0.0, "0"), (1.0, "∞"), *labels]), title)


def _spread(ticks: list[tuple[float, str]]) -> tuple[tuple[float, str], ...]:
    """Keep ticks that do not crowd each other, the first ones first."""
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
    """Return round shares, the ends and the roundest first."""
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
