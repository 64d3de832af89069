"""The sections of the report, in their order, and the charts of each.

A chart draws a part of the findings, which the page holds once: it names its data by their place
in the findings, such as ``curves.models``, and the page hands them over. Names that begin with
``@`` are filled by the page itself. Colours are the variables of the style sheet, so that a dark
screen and paper need no other chart.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from stakes._core.optional import altair
from stakes.findings import Findings
from stakes.findings.curves import Curves
from stakes.findings.policies import ComparedPolicies
from stakes.findings.sample_size import SampleSize
from stakes.findings.sensitivity import CostPath
from stakes.show.report._theme import (
    CONFIG,
    CONSTANT,
    MOST_ROWS,
    NUMBER,
    colour,
    cost_title,
    dotted,
    layers,
    model_names,
    number_axis,
    policy_colours,
    policy_scales,
    scales,
)

Drawn = dict[str, tuple[Any, str]]
"""Charts by their names, each with what it shows in words."""

# The charts.

CROWD = 5
"""With more models than this, bands get paler."""


def _curve_charts(found: Findings) -> Drawn:
    curves = found.curves
    if curves is None:
        return {}
    drawn = {"curves": _cost_curves(found, curves), "roc": _roc(found)}
    if any(piece.cheaper for pair in curves.pairs for piece in pair.ranges or ()):
        drawn["ranges"] = _ranges(found, curves)
    if curves.pairs:
        drawn["difference"] = _difference()
    return drawn


def _condition_axis() -> Any:
    alt = altair()
    axis = number_axis("operating condition PC(+)")
    return alt.X("pc:Q", axis=axis).scale(domain=[0, 1], nice=False)


def _cost_curves(found: Findings, curves: Curves) -> tuple[Any, str]:
    alt = altair()
    colours, dashes = scales(model_names(found))
    top = max(float(model.band.high.max()) for model in curves.models)
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
            band.mark_area(clip=True, opacity=0.16 if len(found.models) <= CROWD else 0.06).encode(
                x=x, y=low, y2="high:Q", color=colours
            ),
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
        "PC(+). Dotted, the constant predictions; triangles, crossovers; upright, the condition "
        "that is chosen, whose numbers are in the table."
    )
    return chart, words


def _roc(found: Findings) -> tuple[Any, str]:
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


def _ranges(found: Findings, curves: Curves) -> tuple[Any, str]:
    alt = altair()
    shown = curves.pairs[:MOST_ROWS]
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
"""How many policies have a chart of their own."""

MOST_CELLS = 400
"""How many costs, at most, the page lets people edit."""

ROW = 46
EXTENT = 46
"""The height of a row, and the least width of an axis, so that charts above each other align."""


FARTHEST = 3
"""Constants that cost more than so many times the highest limit of a model are not drawn."""


def _intervals(found: Findings, rows: int) -> Any:
    """Draw what each policy costs, with its interval; the page has the rows.

    A row has its place, the place of its model among the models (-1 for constants), and numbers.
    """
    alt = altair()
    models = len(found.models)
    colours = alt.Color("look:N", legend=None).scale(
        domain=[*range(models), -1], range=[*map(colour, range(models)), CONSTANT]
    )
    base = alt.Chart().encode(
        y=alt.Y("row:O", axis=None).scale(
            domain=list(range(rows)), paddingInner=0.2, paddingOuter=0.4
        )
    )
    x = alt.X("low:Q", axis=number_axis(cost_title(found))).scale(zero=True, nice=True)
    tips = [alt.Tooltip("name:N"), *(alt.Tooltip(f"{each}:Q") for each in ("cost", "low", "high"))]
    return layers(
        "@policies",
        [
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
        ROW * rows + 10,
    )


def _model_charts(found: Findings) -> Drawn:
    words = (
        f"Expected cost per decision of {len(found.policies)} policies, each with its interval. "
        "The table has the numbers."
    )
    reach = max(each.high for each in found.policies if each.model is not None)
    near = [
        each
        for each in found.policies
        if each.model is not None or each.cost <= FARTHEST * reach or reach <= 0
    ]
    return {"costs": (_intervals(found, min(len(near), MOST_ROWS)), words)}


def _cost_charts(found: Findings) -> Drawn:
    if not editable(found):
        return {}
    words = "Expected cost of each policy with its interval, for the costs in the table above."
    return {"live": (_intervals(found, min(len(found.policies), MOST_ROWS)), words)}


def editable(found: Findings) -> bool:
    """Tell whether the page can compute all again at other costs."""
    return found.other_costs is not None and found.costs.values.size <= MOST_CELLS


def _pair_charts(found: Findings) -> Drawn:
    if not found.pairs:
        return {}
    alt = altair()
    shown = _near_pairs(found)[:MOST_ROWS]
    order = list(range(len(shown)))
    base = (
        alt.Chart()
        .transform_filter(alt.FieldOneOfPredicate("second", [each.second for each in shown]))
        .transform_window(row="row_number()")
        .transform_calculate(row="datum.row - 1", pair="datum.first + ' minus ' + datum.second")
        .encode(y=alt.Y("row:O", axis=None).scale(domain=order, paddingOuter=0.4))
    )
    sure = alt.condition("datum.shown", alt.value("var(--c0)"), alt.value("var(--soft)"))
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
        f"Differences between the cheapest policy and {len(shown)} others with their limits; the "
        "dashed line is no difference. The table has the numbers."
    )
    return {"pairs": (chart, words)}


def _near_pairs(found: Findings) -> list[ComparedPolicies]:
    """Return the pairs but those with constants that cost far more than every model."""
    models = {each.name for each in found.policies if each.model is not None}
    ends = [max(abs(p.low), abs(p.high)) for p in found.pairs if p.second in models]
    reach = FARTHEST * max(ends, default=math.inf)
    near = [p for p in found.pairs if p.second in models or abs(p.difference) <= reach]
    return near or list(found.pairs)


def _sensitivity_charts(found: Findings) -> Drawn:
    drawn: Drawn = {}
    for place, path in enumerate(() if found.sensitivity is None else found.sensitivity.paths):
        drawn[f"path-{place}"] = _path(found, place, path)
        drawn[f"odds-{place}"] = _odds(found, place, path)
    return drawn


def _along(found: Findings, path: CostPath) -> tuple[Any, Any, Any]:
    """Return a path's rows, one for each policy and position, its axis, and the cost as stated."""
    alt = altair()
    each = ["cost", "low", "high", "probability_low"]
    rows = (
        alt.Chart()
        .transform_flatten(["names", *each], ["name", *each])
        .transform_flatten(["position", *each])
    )
    row, column = path.cell
    costs = found.costs
    now = float(costs.values[costs.decisions.index(row), costs.labels.index(column)])
    ends = [float(path.position[0]), float(path.position[-1])]
    kind = "log" if path.scale == "log" and min(ends) > 0 else "linear"
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


def _path(found: Findings, place: int, path: CostPath) -> tuple[Any, str]:
    alt = altair()
    rows, x, stated = _along(found, path)
    colours, dashes = policy_scales(found, path.names)
    rows = rows.transform_filter(altair().FieldOneOfPredicate("name", _near(found, path)))
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
    words = f"Expected cost of each policy, with bands, against the {path.axis}."
    return layers(f"sensitivity.paths.{place}", marks, 220), words


def _near(found: Findings, path: CostPath) -> list[str]:
    """Return the policies of a path but constants that cost far more than every model."""
    models = {each.name for each in found.policies if each.model is not None}
    mine = [name in models for name in path.names]
    reach = float(path.high[mine].max()) if any(mine) else 0.0
    return [
        name
        for name, cost, of_model in zip(path.names, path.cost, mine, strict=True)
        if of_model or reach <= 0 or float(cost.min()) <= FARTHEST * reach
    ]


def _odds(found: Findings, place: int, path: CostPath) -> tuple[Any, str]:
    alt = altair()
    rows, x, stated = _along(found, path)
    colours, _ = policy_scales(found, path.names)
    axis = alt.Axis(title="cheapest", format="%", values=[0, 0.5, 1], minExtent=EXTENT)
    y = alt.Y("probability_low:Q", axis=axis).stack("zero").scale(domain=[0, 1])
    edge = {"stroke": "var(--paper)", "strokeWidth": 1}  # between two policies of one model
    marks = [rows.mark_area(opacity=0.8, **edge).encode(x=x, y=y, color=colours), stated]
    words = (
        "Lower bounds of the probability of being the cheapest policy against the "
        f"{path.axis}; what is left blank cannot be told."
    )
    return layers(f"sensitivity.paths.{place}", marks, 70), words


def _size_charts(found: Findings) -> Drawn:
    shown = enumerate(found.sample_size[:MOST_PANELS])
    return {f"sample_size-{place}": _size(found, place, each) for place, each in shown}


def _size(found: Findings, place: int, each: SampleSize) -> tuple[Any, str]:
    alt = altair()
    shade = policy_colours(found)[each.name]
    rows = alt.Chart().transform_flatten(["sizes", "low", "high"], ["size", "low", "high"])
    sizes = alt.Axis(title="test examples", format=NUMBER, tickCount=3, grid=False)
    x = alt.X("size:Q", axis=sizes).scale(type="log", nice=False)
    y = alt.Y("low:Q", axis=number_axis(cost_title(found))).scale(zero=True)
    marks: list[Any] = [
        rows.mark_area(opacity=0.2, color=shade).encode(x=x, y=y, y2="high:Q"),
        alt.Chart().mark_rule(color=shade, strokeWidth=2).encode(y="cost:Q"),
        alt.Chart(alt.InlineData([{"n": found.data.n}]))
        .mark_rule(color="var(--ink)", strokeDash=[4, 3])
        .encode(x="n:Q"),
    ]
    chart = layers(f"sample_size.{place}", marks, 180)
    words = f"The interval of the cost of {each.name} against the number of test examples."
    return chart, words


def _calibration_charts(found: Findings) -> Drawn:
    if not found.calibration:
        return {}
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
    return {"calibration": (chart, words)}


# The sections.


def _no_charts(_: Findings) -> Drawn:
    return {}


def _always(_: Findings) -> bool:
    return True


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes
    ----------
    name : str
        Its id in the page, and the name of its template in `parts/`.
    title : str
        What the contents call it.
    charts : callable
        Returns its charts.
    shown : callable
        Tells whether some findings have it.
    """

    name: str
    title: str
    charts: Callable[[Findings], Drawn] = _no_charts
    shown: Callable[[Findings], bool] = _always


SECTIONS = (
    Section("models", "What each costs", _model_charts),
    Section("pairs", "Which is cheaper", _pair_charts, lambda found: bool(found.pairs)),
    Section("curves", "Other conditions", _curve_charts, lambda found: found.curves is not None),
    Section("threshold", "Which threshold", shown=lambda found: found.curves is not None),
    Section("costs", "Try other costs", _cost_charts),
    Section(
        "sensitivity",
        "If the costs are wrong",
        _sensitivity_charts,
        lambda found: found.sensitivity is not None,
    ),
    Section("sample_size", "Enough data?", _size_charts, lambda found: bool(found.sample_size)),
    Section(
        "calibration",
        "Scores as probabilities",
        _calibration_charts,
        lambda found: bool(found.calibration),
    ),
    Section("method", "How it was computed"),
)
"""All sections after the verdict, in the order of the page."""


@dataclass(frozen=True)
class Chart:
    """A chart that the page draws.

    Attributes
    ----------
    spec : dict
        What Vega draws.
    words : str
        What it shows, for those who cannot see it.
    """

    spec: dict[str, Any]
    words: str


def charts(found: Findings) -> dict[str, Chart]:
    """Return the Vega-Lite charts of a report by their names."""
    return {
        name: Chart(_spec(chart), words)
        for section in SECTIONS
        for name, (chart, words) in section.charts(found).items()
    }


def _spec(chart: Any) -> dict[str, Any]:
    """Return a chart as the page compiles it; the tests draw them all, so none is checked."""
    spec: dict[str, Any] = chart.to_dict(validate=False) | {"config": CONFIG}
    del spec["$schema"]
    return spec
