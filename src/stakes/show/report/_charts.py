"""The report's charts: each draws a part of the findings, which the page holds once.

A chart names its data by their place in the findings, such as ``curves.models``; the page hands
them over. Names that begin with ``@`` are filled by the page itself. Colours are the variables of
the style sheet, so that a dark screen and paper need no other chart.
"""

from __future__ import annotations

from typing import Any

from stakes._core.optional import altair, vl_convert
from stakes.show.report._theme import (
    CONFIG,
    MOST_ROWS,
    NUMBER,
    colour,
    cost_title,
    dotted,
    layers,
    model_names,
    number_axis,
    scales,
)

# The charts of models that have scores: cost curves, ROC curves, their differences.

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


MOST_PANELS = 6
"""How many models have a chart of their own."""

ROW = 46
EXTENT = 46
"""The height of a row, and the least width of an axis, so that charts above each other align."""


def charts(found: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the Vega charts of a report by their names, each with what it shows in words."""
    drawn = {"costs": _costs(found), "live": _live(found)}
    if found["pairs"]:
        drawn["pairs"] = _pairs(found)
    if found["curves"] is not None:
        drawn |= curve_charts(found)
    for place, path in enumerate((found["doubts"] or {}).get("paths", [])):
        drawn[f"path-{place}"] = _path(found, place, path)
        drawn[f"odds-{place}"] = _odds(found, place, path)
    for place, each in enumerate(found["enough"][:MOST_PANELS]):
        drawn[f"enough-{place}"] = _enough(found, place, each)
    if found["calibration"]:
        drawn["calibration"] = _calibration(found)
    return {name: {"spec": _vega(chart), "words": words} for name, (chart, words) in drawn.items()}


def _vega(chart: Any) -> dict[str, Any]:
    """Compile a chart, so that the page need not; the tests draw them all, so none is checked."""
    spec = chart.to_dict(validate=False) | {"config": CONFIG}
    version = "_".join(altair().SCHEMA_VERSION.lstrip("v").split(".")[:2])
    vega: dict[str, Any] = vl_convert().vegalite_to_vega(spec, vl_version=version)
    del vega["$schema"]
    return vega


def _intervals(found: dict[str, Any], data: str) -> Any:
    """Draw what each model costs, with its interval, and the best trivial decision."""
    alt = altair()
    names = model_names(found)
    colours, _ = scales(names)
    base = alt.Chart().encode(
        y=alt.Y("name:N", axis=None).scale(domain=names, paddingInner=0.2, paddingOuter=0.4)
    )
    x = alt.X("low:Q", axis=number_axis(cost_title(found))).scale(zero=True, nice=True)
    tips = [alt.Tooltip("name:N"), *(alt.Tooltip(f"{each}:Q") for each in ("cost", "low", "high"))]
    trivial = alt.Chart(alt.NamedData(name="@trivial"))
    return layers(
        data,
        [
            trivial.mark_rule(strokeDash=[4, 3], color="var(--soft)").encode(
                x="cost:Q", opacity=alt.condition("datum.far", alt.value(0), alt.value(1))
            ),
            base.mark_rule(strokeWidth=3, opacity=0.55).encode(
                x=x, x2="high:Q", color=colours, tooltip=tips
            ),
            base.mark_point(filled=True, size=90, opacity=1).encode(
                x="cost:Q", color=colours, tooltip=tips
            ),
            base.mark_text(align="left", baseline="bottom", dy=-9, limit=260).encode(
                x=alt.value(0), text="name:N"
            ),
        ],
        ROW * len(names) + 10,
    )


def _costs(found: dict[str, Any]) -> tuple[Any, str]:
    words = (
        f"Expected cost per decision of {len(found['models'])} models, each with its interval; the "
        "dashed line is the best trivial decision. The table has the numbers."
    )
    return _intervals(found, "models"), words


def _live(found: dict[str, Any]) -> tuple[Any, str]:
    words = "Expected cost of each model with its interval, for the costs in the table above."
    return _intervals(found, "@live"), words


def _pairs(found: dict[str, Any]) -> tuple[Any, str]:
    alt = altair()
    shown = found["pairs"][:MOST_ROWS]
    order = list(range(len(shown)))
    base = (
        alt.Chart()
        .transform_window(row="row_number()")
        .transform_calculate(row="datum.row - 1", pair="datum.first + ' minus ' + datum.second")
        .transform_filter(f"datum.row < {len(shown)}")
        .encode(y=alt.Y("row:O", axis=None).scale(domain=order, paddingOuter=0.4))
    )
    sure = alt.condition("datum.rejected", alt.value("var(--c0)"), alt.value("var(--soft)"))
    x = alt.X("low:Q", axis=number_axis(f"difference of {cost_title(found)}")).scale(nice=True)
    chart = layers(
        "pairs",
        [
            alt.Chart(alt.InlineData([{}])).mark_rule(strokeDash=[4, 3]).encode(x=alt.datum(0)),
            base.mark_rule(strokeWidth=3, opacity=0.6).encode(x=x, x2="high:Q", color=sure),
            base.mark_point(filled=True, size=80, opacity=1).encode(x="difference:Q", color=sure),
            base.mark_text(align="left", baseline="bottom", dy=-9, limit=300).encode(
                x=alt.value(0), text="pair:N"
            ),
        ],
        ROW * len(shown) + 10,
    )
    words = (
        f"Differences of {len(shown)} pairs of models with their simultaneous intervals; the "
        "dashed line is no difference. The table has the numbers."
    )
    return chart, words


def _along(found: dict[str, Any], path: dict[str, Any]) -> tuple[Any, Any, Any]:
    """Return a path's rows, one for each model and position, its axis, and the cost as stated."""
    alt = altair()
    each = ["cost", "low", "high", "probability"]
    rows = (
        alt.Chart()
        .transform_flatten(["names", *each], ["name", *each])
        .transform_flatten(["position", *each])
    )
    row, column = path["cell"]
    costs = found["costs"]
    now = costs["values"][costs["decisions"].index(row)][costs["labels"].index(column)]
    ends = [path["position"][0], path["position"][-1]]
    kind = "log" if path["scale"] == "log" and min(ends) > 0 else "linear"
    axis = alt.Axis(
        title=None,  # the page has it, where it can break into lines
        format=NUMBER,
        values=[ends[0], now, ends[1]],
        grid=False,
    )
    x = alt.X("position:Q", axis=axis).scale(type=kind, domain=ends, nice=False)
    stated = (
        alt.Chart(alt.InlineData([{"now": now}]))
        .mark_rule(color="var(--ink)", strokeDash=[4, 3])
        .encode(x="now:Q")
    )
    return rows, x, stated


def _path(found: dict[str, Any], place: int, path: dict[str, Any]) -> tuple[Any, str]:
    alt = altair()
    rows, x, stated = _along(found, path)
    colours, dashes = scales(model_names(found))
    axis = number_axis(cost_title(found), minExtent=EXTENT)
    marks = [
        rows.mark_area(opacity=0.14).encode(
            x=x, y=alt.Y("low:Q", axis=axis), y2="high:Q", color=colours
        ),
        rows.mark_line(strokeWidth=2).encode(
            x=x, y=alt.Y("cost:Q", axis=axis), color=colours, strokeDash=dashes
        ),
        stated,
    ]
    words = f"Expected cost of each model, with bands, against the {path['axis']}."
    return layers(f"doubts.paths.{place}", marks, 220), words


def _odds(found: dict[str, Any], place: int, path: dict[str, Any]) -> tuple[Any, str]:
    alt = altair()
    rows, x, stated = _along(found, path)
    colours, _ = scales(model_names(found))
    axis = alt.Axis(title="cheapest", format="%", values=[0, 0.5, 1], minExtent=EXTENT)
    y = alt.Y("probability:Q", axis=axis).stack("zero").scale(domain=[0, 1])
    marks = [rows.mark_area(opacity=0.8).encode(x=x, y=y, color=colours), stated]
    words = f"Probability of being the cheapest model against the {path['axis']}."
    return layers(f"doubts.paths.{place}", marks, 70), words


def _enough(found: dict[str, Any], place: int, each: dict[str, Any]) -> tuple[Any, str]:
    alt = altair()
    shade = colour(model_names(found).index(each["name"]))
    rows = alt.Chart().transform_flatten(["sizes", "low", "high"], ["size", "low", "high"])
    sizes = alt.Axis(title="test examples", format=NUMBER, tickCount=3, grid=False)
    x = alt.X("size:Q", axis=sizes).scale(type="log", nice=False)
    y = alt.Y("low:Q", axis=number_axis(cost_title(found))).scale(zero=True)
    marks: list[Any] = [
        rows.mark_area(opacity=0.2, color=shade).encode(x=x, y=y, y2="high:Q"),
        alt.Chart().mark_rule(color=shade, strokeWidth=2).encode(y="cost:Q"),
        alt.Chart(alt.InlineData([{"n": found["data"]["n"]}]))
        .mark_rule(color="var(--ink)", strokeDash=[4, 3])
        .encode(x="n:Q"),
    ]
    chart = layers(f"enough.{place}", marks, 180)
    words = f"The interval of the cost of {each['name']} against the number of test examples."
    return chart, words


def _calibration(found: dict[str, Any]) -> tuple[Any, str]:
    alt = altair()
    colours, dashes = scales(model_names(found))
    bins = (
        alt.Chart()
        .transform_flatten(["bins"], ["bin"])
        .transform_calculate(score="datum.bin.score", share="datum.bin.share", n="datum.bin.n")
    )
    x = alt.X("score:Q", axis=number_axis("mean score")).scale(domain=[0, 1])
    y = alt.Y("share:Q", axis=number_axis("share of positives")).scale(domain=[0, 1])
    chart = layers(
        "calibration",
        [
            dotted([{"score": 0, "share": 0}, {"score": 1, "share": 1}]).encode(x=x, y=y),
            bins.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=colours, strokeDash=dashes),
            bins.mark_point(filled=True, size=45, opacity=0.9).encode(
                x=x, y=y, color=colours, tooltip=["name:N", "score:Q", "share:Q", "n:Q"]
            ),
        ],
        300,
    )
    words = (
        "Reliability of scores taken as probabilities: the share of positives against the mean "
        "score, in bins of about as many examples. The dotted line is perfect."
    )
    return chart, words
