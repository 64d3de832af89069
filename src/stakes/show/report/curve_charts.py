"""The charts of models that have scores: cost curves, ROC curves, their differences."""

from __future__ import annotations

from typing import Any

from stakes.show.report._extra import altair
from stakes.show.report.looks import (
    MOST_ROWS,
    colour,
    dotted,
    layers,
    model_names,
    number_axis,
    scales,
)

CROWD = 5
"""With more models than this, bands get paler."""


def curve_charts(found: dict[str, Any]) -> dict[str, tuple[Any, str]]:
    """Return the charts of curves by their names, each with what it shows in words."""
    drawn = {"curves": _cost_curves(found), "roc": _roc(found)}
    if any(piece["cheaper"] for pair in found["curves"]["pairs"] for piece in pair["ranges"]):
        drawn["ranges"] = _ranges(found)
    if found["curves"]["pairs"]:
        drawn["difference"] = _difference()
    return drawn


def _condition_axis() -> Any:
    alt = altair()
    axis = number_axis("operating condition PC(+)")
    return alt.X("pc:Q", axis=axis).scale(domain=[0, 1], nice=False)


def _cost_curves(found: dict[str, Any]) -> tuple[Any, str]:
    alt = altair()
    colours, dashes = scales(model_names(found))
    top = max(max(model["band"]["high"]) for model in found["curves"]["models"])
    band = alt.Chart().transform_flatten(
        ["band.pc", "band.cost", "band.low", "band.high"], ["pc", "cost", "low", "high"]
    )
    x = _condition_axis()
    y = alt.Y("cost:Q", axis=number_axis("normalised expected cost")).scale(
        domain=[0, min(0.5, 1.15 * top)], nice=False
    )
    low = alt.Y("low:Q").scale(domain=[0, min(0.5, 1.15 * top)], nice=False)
    trivial = dotted([{"pc": 0, "cost": 0}, {"pc": 0.5, "cost": 0.5}, {"pc": 1, "cost": 0}])
    crossings = alt.Chart(alt.NamedData(name="curves.pairs")).transform_flatten(["crossovers"])
    at = alt.Chart(alt.NamedData(name="@at"))
    chart = layers(
        "curves.models",
        [
            trivial.encode(x=x, y=y),
            band.mark_area(
                clip=True, opacity=0.16 if len(found["models"]) <= CROWD else 0.06
            ).encode(x=x, y=low, y2="high:Q", color=colours),
            band.mark_line(clip=True, strokeWidth=2).encode(
                x=x, y=y, color=colours, strokeDash=dashes
            ),
            crossings.mark_point(
                shape="triangle-up", filled=True, size=60, color="var(--ink)", yOffset=-4
            ).encode(x="crossovers:Q", y=alt.datum(0), tooltip=["first:N", "second:N"]),
            at.mark_rule(color="var(--ink)", strokeWidth=1, opacity=0.7).encode(x="pc:Q"),
            at.mark_point(filled=True, size=70, opacity=1, clip=True).encode(
                x="pc:Q", y="cost:Q", color=colours
            ),
        ],
        300,
    )
    words = (
        "Cost curves with their bands: normalised expected cost against the operating condition "
        "PC(+). Dotted, the trivial classifiers; triangles, crossovers; upright, the condition "
        "that is chosen, whose numbers are in the table."
    )
    return chart, words


def _roc(found: dict[str, Any]) -> tuple[Any, str]:
    alt = altair()
    colours, dashes = scales(model_names(found))
    points = alt.Chart().transform_flatten(["roc.fpr", "roc.tpr"], ["fpr", "tpr"])
    x = alt.X("fpr:Q", sort=None, axis=number_axis("false positive rate")).scale(domain=[0, 1])
    y = alt.Y("tpr:Q", axis=number_axis("true positive rate")).scale(domain=[0, 1])
    chart = layers(
        "curves.models",
        [
            dotted([{"fpr": 0, "tpr": 0}, {"fpr": 1, "tpr": 1}]).encode(x=x, y=y),
            points.mark_line(strokeWidth=2).encode(x=x, y=y, color=colours, strokeDash=dashes),
            alt.Chart(alt.NamedData(name="@at"))
            .mark_point(filled=True, size=70, opacity=1)
            .encode(x="fpr:Q", y="tpr:Q", color=colours),
        ],
        300,
    )
    words = "ROC curves; the points are the thresholds that are best at the condition chosen."
    return chart, words


def _ranges(found: dict[str, Any]) -> tuple[Any, str]:
    alt = altair()
    shown = found["curves"]["pairs"][:MOST_ROWS]
    names = model_names(found)
    scale = alt.Scale(domain=names, range=[colour(place) for place in range(len(names))])
    base = (
        alt.Chart()
        .transform_window(row="row_number()")
        .transform_calculate(row="datum.row - 1", pair="datum.first + ' or ' + datum.second")
        .transform_filter(f"datum.row < {len(shown)}")
        .encode(y=alt.Y("row:O", axis=None).scale(domain=list(range(len(shown))), paddingOuter=0.4))
    )
    x = alt.X("range.low:Q", axis=number_axis("operating condition PC(+)")).scale(domain=[0, 1])
    pieces = base.transform_flatten(["ranges"], ["range"])
    chart = layers(
        "curves.pairs",
        [
            base.mark_bar(height=8, color="var(--grid)").encode(x=alt.datum(0), x2=alt.datum(1)),
            pieces.transform_filter("isValid(datum.range.cheaper)")
            .mark_bar(height=8)
            .encode(
                x=x, x2="range.high:Q", color=alt.Color("range.cheaper:N", scale=scale, legend=None)
            ),
            base.mark_text(align="left", baseline="bottom", dy=-7, limit=300).encode(
                x=alt.value(0), text="pair:N"
            ),
        ],
        38 * len(shown) + 8,
    )
    words = (
        "Operating conditions at which one model of a pair was shown to be cheaper, in its colour; "
        "grey where that is undecided. The sentences below say the same."
    )
    return chart, words


def _difference() -> tuple[Any, str]:
    """Draw the difference of two cost curves; the page picks the pair."""
    alt = altair()
    rows = alt.Chart().transform_flatten(["pc", "cost", "low", "high"])
    x = _condition_axis()
    axis = number_axis("difference of normalised costs")
    chart = layers(
        "@pair",
        [
            rows.mark_area(color="var(--c0)", opacity=0.18).encode(
                x=x, y=alt.Y("low:Q", axis=axis), y2="high:Q"
            ),
            rows.mark_line(color="var(--c0)", strokeWidth=2).encode(
                x=x, y=alt.Y("cost:Q", axis=axis)
            ),
            dotted([{"pc": 0, "cost": 0}, {"pc": 1, "cost": 0}]).encode(x=x, y="cost:Q"),
        ],
        220,
    )
    return (
        chart,
        "The difference of two cost curves with its band; below zero the first is cheaper.",
    )
