"""The sections of the report in their order, and the charts of each.

A chart draws a part of the findings, which are stored once in the page: it names its data by their
place in the findings, such as ``curves.models``, and the page passes them to it. Data whose names
begin with ``@`` are computed by the page. Colours are variables of the style sheet, so that the
same chart fits dark screens and print.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes._core.optional import altair
from stakes._core.text import listed, number, percent, rounded, with_unit
from stakes.findings.calibration import ScoreDistribution
from stakes.findings.curves import Curves
from stakes.findings.policies import PolicyResult
from stakes.findings.report import Findings
from stakes.findings.sample_size import SampleSize
from stakes.findings.sensitivity import CostPath
from stakes.infer.family import Pair
from stakes.show.report._theme import (
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
"""Charts by their names, each with a description in words."""

# The charts.

LOG_FROM = 10
"""Ratio of the largest score to a chosen threshold above which the axis is logarithmic."""

RATIO_SPAN = 15
"""Ratio of the cost of a miss at the ends of a chart to the stated cost, and its inverse."""


def _curve_charts(found: Findings) -> Drawn:
    curves = found.curves
    if curves is None:
        return {}
    drawn: Drawn = {"roc": _roc(found)}
    if any(np.isfinite(model.thresholds).any() for model in curves.models):
        drawn["threshold"] = _by_threshold(found, curves)
    if curves.condition.pc is None:
        return drawn
    drawn["ratio"] = _by_ratio(found)
    drawn["prevalence"] = _by_prevalence(found)
    if any(piece.cheaper for pair in curves.pairs for piece in pair.ranges or ()):
        drawn["ranges"] = _ranges(found, curves)
    return drawn


def _lines(found: Findings, x: Any, y: Any, tips: Sequence[Any], log: bool = False) -> list[Any]:
    """Return a line for each model, and the points of its tooltips."""
    colours, dashes = scales(model_names(found))
    rows = altair().Chart(altair().NamedData(name="@rows"))
    if log:
        rows = rows.transform_filter("datum.threshold > 0")
    return [
        rows.mark_line(clip=True, strokeWidth=2).encode(x=x, y=y, color=colours, strokeDash=dashes),
        rows.mark_point(opacity=0, size=90, clip=True).encode(x=x, y=y, tooltip=list(tips)),
    ]


def _tips(found: Findings, field: str, title: str) -> list[Any]:
    alt = altair()
    return [
        alt.Tooltip("name:N", title="model"),
        alt.Tooltip(f"{field}:Q", title=title, format=".4~g"),
        alt.Tooltip("cost:Q", title=cost_title(found), format=",.4~g"),
    ]


def _by_threshold(found: Findings, curves: Curves) -> tuple[Any, str]:
    """Draw the cost of each model at each threshold; the page has the rows."""
    alt = altair()
    scores = np.concatenate([model.thresholds for model in curves.models])
    scores = scores[np.isfinite(scores)]
    chosen = [each.threshold for each in found.policies if each.threshold is not None]
    least = min([each for each in chosen if each > 0], default=math.inf)
    top = float(scores.max())
    wide = top > LOG_FROM * least and float(np.median(scores)) > 0
    scale = {"type": "log", "domain": [least / LOG_FROM, top]} if wide else {"type": "linear"}
    axis = number_axis(f"threshold{' (log scale)' if wide else ''}")
    x = alt.X("threshold:Q", axis=axis).scale(nice=False, **scale)
    y = alt.Y("cost:Q", axis=number_axis(cost_title(found)))
    y = y.scale(zero=False, domainMax=alt.ExprRef("top"))
    colours, _ = scales(model_names(found))
    at = alt.Chart(alt.NamedData(name="@at"))
    marks = [
        *_lines(found, x, y, _tips(found, "threshold", "threshold"), wide),
        at.mark_point(filled=True, size=70, opacity=1, clip=True).encode(x=x, y=y, color=colours),
    ]
    words = (
        "Cost per decision against the threshold, a line for each model; dots are the thresholds "
        "in the table."
    )
    return layers("@rows", marks, 280) | {"params": [{"name": "top", "value": 1.0}]}, words


PC = "datum.value * odds / (datum.value * odds + 1)"


def _by_condition(found: Findings, x: Any, field: str, title: str) -> Any:
    """Draw the cost of each model as costs or prevalence change; the page has the rows."""
    alt = altair()
    top = alt.ExprRef("top")
    y = alt.Y("cost:Q", axis=number_axis(cost_title(found))).scale(zero=True, domainMax=top)
    constants = alt.Chart(alt.NamedData(name="@constants"))
    decided = alt.Chart(alt.NamedData(name="@decided"))
    at = alt.Chart(alt.NamedData(name="@at"))
    marks = [
        constants.mark_line(
            clip=True, color="var(--edge)", strokeDash=[2, 3], strokeWidth=1.5
        ).encode(x=x, y=y),
        decided.mark_line(color="var(--soft)", strokeWidth=1, clip=True).encode(x=x, y=y),
        *_lines(found, x, y, _tips(found, field, title)),
        at.mark_rule(color="var(--ink)", strokeDash=[4, 3]).encode(x=alt.X(f"{field}:Q")),
    ]
    params = [{"name": name, "value": 1.0} for name in ("odds", "top")]
    return layers("@rows", marks, 240) | {"params": params}


def _by_ratio(found: Findings) -> tuple[Any, str]:
    alt = altair()
    axis = alt.Axis(
        title="a miss is worth n false alarms · PC(+)",
        labelExpr=f"[format(datum.value, '~r'), format({PC}, '.2f')]",
        labelSeparation=16,
        grid=False,
    )
    x = alt.X("ratio:Q", axis=axis).scale(type="log", nice=False)
    words = "Cost per decision of each model, and of constants, as misses get more expensive."
    return _by_condition(found, x, "ratio", "a miss is worth"), words


def _by_prevalence(found: Findings) -> tuple[Any, str]:
    alt = altair()
    share = "datum.value / (1 - datum.value) * odds"
    axis = alt.Axis(
        title="prevalence · PC(+)",
        labelExpr=f"[format(datum.value, '.2~%'), format({share} / ({share} + 1), '.2f')]",
        labelSeparation=16,
        grid=False,
    )
    x = alt.X("prevalence:Q", axis=axis).scale(type="log", nice=False)
    words = "Cost per decision of each model, and of constants, as the prevalence changes."
    return _by_condition(found, x, "prevalence", "prevalence"), words


def _roc(found: Findings) -> tuple[Any, str]:
    alt = altair()
    colours, dashes = scales(model_names(found))
    points = alt.Chart().transform_flatten(["roc.fpr", "roc.tpr"], ["fpr", "tpr"])
    x = alt.X("fpr:Q", sort=None, axis=number_axis("false positive rate")).scale(domain=[0, 1])
    y = alt.Y("tpr:Q", axis=number_axis("sensitivity")).scale(domain=[0, 1])
    chart = layers(
        "curves.models",
        [
            dotted([{"fpr": 0, "tpr": 0}, {"fpr": 1, "tpr": 1}]).encode(x=x, y=y),
            points.mark_line(strokeWidth=2).encode(x=x, y=y, color=colours, strokeDash=dashes),
            alt.Chart(alt.NamedData(name="@at"))
            .mark_point(filled=True, size=70, opacity=1)
            .encode(x=alt.X("fpr:Q"), y=alt.Y("tpr:Q"), color=colours),
        ],
        260,
    )
    return chart, "ROC curves: sensitivity against the false positive rate; dots are thresholds."


def _ranges(found: Findings, curves: Curves) -> tuple[Any, str]:
    """Draw where one model of a pair is shown to be cheaper, by the relative cost of a miss."""
    alt = altair()
    shown = curves.pairs[:MOST_ROWS]
    names = model_names(found)
    scale = alt.Scale(domain=names, range=[colour(place) for place in range(len(names))])
    odds = curves.condition.prevalence / (1 - curves.condition.prevalence)
    now = curves.condition.false_negative / curves.condition.false_positive
    ends = [now / RATIO_SPAN, now * RATIO_SPAN]
    base = (
        alt.Chart()
        .transform_window(row="row_number()")
        .transform_calculate(row="datum.row - 1", pair="datum.first + ' or ' + datum.second")
        .transform_filter(f"datum.row < {len(shown)}")
        .encode(y=alt.Y("row:O", axis=None).scale(domain=list(range(len(shown))), paddingOuter=0.4))
    )

    def worth(pc: str) -> str:
        return f"clamp({pc} / max(1 - {pc}, 1e-12) / {odds!r}, {ends[0]!r}, {ends[1]!r})"

    axis = number_axis("a miss is worth n false alarms")
    x = alt.X("from:Q", axis=axis).scale(type="log", domain=ends, nice=False)
    pieces = base.transform_flatten(["ranges"], ["range"]).transform_calculate(
        **{"from": worth("datum.range.low"), "to": worth("datum.range.high")}
    )
    chart = layers(
        "curves.pairs",
        [
            base.mark_bar(height=8, color="var(--grid)").encode(
                x=alt.datum(ends[0]), x2=alt.datum(ends[1])
            ),
            pieces.transform_filter("isValid(datum.range.cheaper)")
            .mark_bar(height=8)
            .encode(
                x=x, x2=alt.X2("to:Q"), color=alt.Color("range.cheaper:N", scale=scale, legend=None)
            ),
            base.mark_text(align="left", baseline="bottom", dy=-7, limit=WHOLE).encode(
                x=alt.value(0), text=alt.Text("pair:N")
            ),
        ],
        38 * len(shown) + 8,
    )
    words = (
        "What a miss is worth, in false alarms, where one model of a pair is shown to be cheaper, "
        "in its colour; grey where that is undecided. The sentences below say the same."
    )
    return chart, words


MOST_NAMED = 3
"""Maximum number of periods named in a sentence."""

MOST_PANELS = 6
"""Maximum number of policies with their own chart."""

MOST_CELLS = 400
"""Maximum number of costs that people can edit on the page."""

WHOLE = {"expr": "width"}
"""Maximum length of the text above a row: the whole width."""

ROW = 46
EXTENT = 46
"""Height of a row, and least width of an axis, so that charts above each other align."""


FARTHEST = 3
"""Ratio of a constant's cost to the highest limit of a model above which it is not drawn."""


def editable(found: Findings) -> bool:
    """Return whether the page can recompute all results at other costs."""
    return found.other_costs is not None and found.costs.values.size <= MOST_CELLS


def _pair_charts(found: Findings) -> Drawn:
    if not found.pairs:
        return {}
    alt = altair()
    shown = _near_pairs(found)[:MOST_ROWS]
    base = alt.Chart().encode(
        y=alt.Y("row:O", axis=None).scale(domain=list(range(len(shown))), paddingOuter=0.4)
    )
    sure = alt.condition("datum.shown", alt.value("var(--accent)"), alt.value("var(--edge)"))
    x = alt.X("low:Q", axis=number_axis(f"difference of {cost_title(found)}")).scale(nice=True)
    tips = [
        alt.Tooltip("words:N", title="compared with"),
        *(alt.Tooltip(f"{each}:Q", format=",.4~g") for each in ("difference", "low", "high")),
    ]
    chart = layers(
        "@pairs",
        [
            alt.Chart(alt.InlineData([{}])).mark_rule(strokeDash=[4, 3]).encode(x=alt.datum(0)),
            base.mark_rule(strokeWidth=3, opacity=0.6).encode(
                x=x, x2=alt.X2("high:Q"), color=sure, tooltip=tips
            ),
            base.mark_point(filled=True, size=80, opacity=1).encode(
                x=alt.X("difference:Q"), color=sure, tooltip=tips
            ),
            base.mark_text(align="left", baseline="bottom", dy=-9, limit=WHOLE).encode(
                x=alt.value(0), text=alt.Text("words:N")
            ),
        ],
        ROW * len(shown) + 10,
    )
    words = (
        f"Differences between the best policy and {len(shown)} others with their limits; the "
        "dashed line is no difference. The table has the numbers."
    )
    return {"pairs": (chart, words)}


def _near_pairs(found: Findings) -> list[Pair]:
    """Return the pairs, without those with constants that cost far more than every model."""
    models = {each.name for each in found.policies if each.model is not None}
    ends = [max(abs(p.low), abs(p.high)) for p in found.pairs if p.second in models]
    reach = FARTHEST * max(ends, default=math.inf)
    near = [p for p in found.pairs if p.second in models or abs(p.difference) <= reach]
    return near or list(found.pairs)


def _sensitivity_charts(found: Findings) -> Drawn:
    drawn: Drawn = {}
    for place, path in enumerate(() if found.sensitivity is None else found.sensitivity.paths):
        drawn[f"path-{place}"] = _path(found, place, path)
        drawn[f"cheapest-{place}"] = _cheapest(found, place, path)
    return drawn


def _along(found: Findings, path: CostPath) -> tuple[Any, Any]:
    """Return the axis of a path, and a rule at the stated cost."""
    alt = altair()
    row, column = path.cell
    costs = found.costs
    now = float(costs.values[costs.decisions.index(row), costs.labels.index(column)])
    ends = [float(path.position[0]), float(path.position[-1])]
    axis = alt.Axis(
        title=None,  # the page has the title, which may need several lines
        format=NUMBER,
        values=[ends[0], now, ends[1]],
        grid=False,
    )
    kind = "log" if min(ends) > 0 else "linear"
    x = alt.X("position:Q", axis=axis).scale(type=kind, domain=ends, nice=False)
    stated = (
        alt.Chart(alt.InlineData([{"now": now}]))
        .mark_rule(color="var(--ink)", strokeDash=[4, 3])
        .encode(x=alt.X("now:Q"))
    )
    return x, stated


def _path(found: Findings, place: int, path: CostPath) -> tuple[Any, str]:
    alt = altair()
    x, stated = _along(found, path)
    colours, dashes = policy_scales(found, path.names)
    each = ["cost", "low", "high"]
    rows = (
        alt.Chart()
        .transform_flatten(["names", *each], ["name", *each])
        .transform_flatten(["position", *each])
        .transform_filter(alt.FieldOneOfPredicate("name", _near(found, path)))
    )
    axis = number_axis(cost_title(found), minExtent=EXTENT)
    marks = [
        rows.mark_area(opacity=0.14).encode(
            x=x, y=alt.Y("low:Q", axis=axis), y2=alt.Y2("high:Q"), color=colours
        ),
        rows.mark_line(strokeWidth=2).encode(
            x=x, y=alt.Y("cost:Q", axis=axis), color=colours, strokeDash=dashes
        ),
        stated,
    ]
    words = f"Expected cost of each policy, with bands, against the {path.axis}."
    return layers(f"sensitivity.paths.{place}", marks, 220), words


def _near(found: Findings, path: CostPath) -> list[str]:
    """Return the policies of a path, without constants that cost far more than every model."""
    models = {each.name for each in found.policies if each.model is not None}
    mine = [name in models for name in path.names]
    reach = path.high[mine].max(axis=0) if any(mine) else np.zeros(len(path.position))
    return [
        name
        for name, cost, of_model in zip(path.names, path.cost, mine, strict=True)
        if of_model or (cost <= FARTHEST * reach).any() or (reach <= 0).all()
    ]


def _cheapest(found: Findings, place: int, path: CostPath) -> tuple[Any, str]:
    """Draw which policy is the cheapest at each value: filled where that is shown."""
    alt = altair()
    x, stated = _along(found, path)
    colours, _ = policy_scales(found, path.names)
    lost = alt.Axis(title="cheapest", labels=False, ticks=False, minExtent=EXTENT)
    values = alt.Chart().transform_flatten(["position", "cheapest", "shown"])
    values = values.transform_calculate(name="datum.cheapest")
    filled = alt.condition("datum.shown", alt.value(1), alt.value(0.25))
    marks = [
        values.mark_square(size=160).encode(
            x=x, y=alt.Y("axis:N", axis=lost), color=colours, opacity=filled
        ),
        stated,
    ]
    words = (
        f"The cheapest policy at each value of the {path.axis}; pale where it is not shown to be "
        "the cheapest."
    )
    return layers(f"sensitivity.paths.{place}", marks, 40), words


def _size_charts(found: Findings) -> Drawn:
    shown = enumerate(found.sample_size[:MOST_PANELS])
    return {f"sample_size-{place}": _size(found, place, each) for place, each in shown}


def _size(found: Findings, place: int, each: SampleSize) -> tuple[Any, str]:
    alt = altair()
    shade = policy_colours(found)[each.name]
    rows = alt.Chart().transform_flatten(["sizes", "low", "high"], ["size", "low", "high"])
    sizes = alt.Axis(title=f"test {found.settings.noun}", format=NUMBER, tickCount=3, grid=False)
    x = alt.X("size:Q", axis=sizes).scale(type="log", nice=False)
    y = alt.Y("low:Q", axis=number_axis(cost_title(found))).scale(zero=True)
    marks: list[Any] = [
        rows.mark_area(opacity=0.2, color=shade).encode(x=x, y=y, y2=alt.Y2("high:Q")),
        alt.Chart().mark_rule(color=shade, strokeWidth=2).encode(y=alt.Y("cost:Q")),
        alt.Chart(alt.InlineData([{"n": found.data.n}]))
        .mark_rule(color="var(--ink)", strokeDash=[4, 3])
        .encode(x=alt.X("n:Q")),
    ]
    chart = layers(f"sample_size.{place}", marks, 180)
    words = f"The interval of the cost of {each.name} against the size of the test set."
    return chart, words


def _slice_charts(found: Findings) -> Drawn:
    if not found.slices:
        return {}
    shown = min(len(found.slices), MOST_ROWS)
    base = _rows_of(
        shown, "datum.column + ': ' + datum.slice + ' (n = ' + format(datum.n, ',') + ')'"
    )
    words = (
        f"Cost per decision in {shown} slices, each with its interval. The table has the numbers."
    )
    return {"slices": (_cost_rows(found, "slices", base, shown), words)}


def _period_charts(found: Findings) -> Drawn:
    if not found.periods:
        return {}
    base = _rows_of(len(found.periods), "datum.period + (datum.complete ? '' : ' (incomplete)')")
    words = "Cost per decision in each period, with its interval. The table has the numbers."
    return {"periods": (_cost_rows(found, "periods", base, len(found.periods)), words)}


def _rows_of(shown: int, name: str) -> Any:
    """Return a chart with a row for each of the first entries, named by an expression."""
    alt = altair()
    return (
        alt.Chart()
        .transform_window(row="row_number()")
        .transform_calculate(row="datum.row - 1", name=name)
        .transform_filter(f"datum.row < {shown}")
        .encode(y=alt.Y("row:O", axis=None).scale(domain=list(range(shown)), paddingOuter=0.4))
    )


def _cost_rows(found: Findings, data: str, base: Any, shown: int) -> Any:
    """Draw costs with their limits, one row each."""
    alt = altair()
    x = alt.X("low:Q", axis=number_axis(cost_title(found))).scale(zero=True, nice=True)
    sure = alt.condition(
        "datum.verdict != 'not shown'", alt.value("var(--accent)"), alt.value("var(--edge)")
    )
    return layers(
        data,
        [
            base.mark_rule(strokeWidth=3, opacity=0.6).encode(x=x, x2=alt.X2("high:Q"), color=sure),
            base.transform_filter("isValid(datum.cost)")
            .mark_point(filled=True, size=80, opacity=1)
            .encode(x=alt.X("cost:Q"), color=sure),
            base.mark_text(align="left", baseline="bottom", dy=-9, limit=WHOLE).encode(
                x=alt.value(0), text=alt.Text("name:N")
            ),
        ],
        ROW * shown + 10,
    )


def _decision_charts(found: Findings) -> Drawn:
    if not found.decision:
        return {}
    alt = altair()
    colours, dashes = scales(model_names(found))
    columns = ["threshold", "net_benefit", "low", "high", "treat_all"]
    rows = alt.Chart().transform_flatten(columns)
    top = max(float(each.high.max()) for each in found.decision)
    scale = {"domain": [-0.2 * top, 1.05 * top], "nice": False}
    x = alt.X("threshold:Q", axis=number_axis("threshold probability")).scale(domain=[0, 1])
    y = alt.Y("net_benefit:Q", axis=number_axis("net benefit")).scale(**scale)
    chart = layers(
        "decision",
        [
            dotted([{"threshold": 0, "net_benefit": 0}, {"threshold": 1, "net_benefit": 0}]).encode(
                x=x, y=y
            ),
            rows.mark_line(clip=True, color=CONSTANT, strokeDash=[4, 3]).encode(
                x=x, y=alt.Y("treat_all:Q").scale(**scale)
            ),
            rows.mark_area(clip=True, opacity=0.14).encode(
                x=x, y=alt.Y("low:Q").scale(**scale), y2=alt.Y2("high:Q"), color=colours
            ),
            rows.mark_line(clip=True, strokeWidth=2).encode(
                x=x, y=y, color=colours, strokeDash=dashes
            ),
        ],
        260,
    )
    words = (
        "Decision curves with their bands: net benefit against the threshold probability. Dashed, "
        "treating everyone; dotted, treating nobody."
    )
    return {"decision": (chart, words)}


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
    ends = bins.transform_calculate(low="datum.bin.low", high="datum.bin.high")
    # The line ends at the highest score: rare classes have no scores near 1.
    top = max(max(bin_.score, bin_.share) for each in found.calibration for bin_ in each.bins)
    x = alt.X("score:Q", axis=number_axis("mean score")).scale(zero=True)
    y = alt.Y("share:Q", axis=number_axis("observed frequency")).scale(zero=True)
    chart = layers(
        "calibration",
        [
            dotted([{"score": 0, "share": 0}, {"score": top, "share": top}]).encode(x=x, y=y),
            ends.transform_filter("isValid(datum.low)")
            .mark_rule(strokeWidth=2, opacity=0.35)
            .encode(x=x, y=alt.Y("low:Q"), y2=alt.Y2("high:Q"), color=colours),
            bins.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=colours, strokeDash=dashes),
            bins.mark_point(filled=True, size=45, opacity=0.9).encode(
                x=x,
                y=y,
                color=colours,
                tooltip=[alt.Tooltip(each) for each in ("name:N", "score:Q", "share:Q", "n:Q")],
            ),
        ],
        300,
    )
    words = (
        "Reliability of scores taken as probabilities: the share of positives against the mean "
        "score, in bins of about the same size. The dotted line is perfect."
    )
    return {"calibration": (chart, words)}


def _distribution_charts(found: Findings) -> Drawn:
    shown = enumerate(found.score_distributions[:MOST_PANELS])
    return {f"scores-{place}": _histogram(place, each) for place, each in shown}


def _histogram(place: int, each: ScoreDistribution) -> tuple[Any, str]:
    """Draw the histogram of scores of each class, with positives above the axis.

    Bars are percentages of each class, because counts of a rare class would not be visible.
    """
    alt = altair()
    rows = (
        alt.Chart()
        .transform_calculate(low="slice(datum.edges, 0, -1)", high="slice(datum.edges, 1)")
        .transform_flatten(["low", "high", "positives", "negatives"])
        .transform_calculate(
            up=f"datum.positives / {max(float(each.positives.sum()), 1.0)!r}",
            down=f"-datum.negatives / {max(float(each.negatives.sum()), 1.0)!r}",
        )
    )
    axis = alt.Axis(
        title="% of the class", labelExpr="format(abs(datum.value) * 100, '.2~r')", tickCount=5
    )
    x = alt.X("low:Q", axis=number_axis("score")).scale(
        domain=[float(each.edges[0]), float(each.edges[-1])], nice=False
    )
    zero = alt.datum(0)
    marks = [
        rows.mark_bar(color="var(--accent)", opacity=0.8).encode(
            x=x, x2=alt.X2("high:Q"), y=alt.Y("up:Q", axis=axis), y2=zero
        ),
        rows.mark_bar(color=CONSTANT, opacity=0.8).encode(
            x=x, x2=alt.X2("high:Q"), y=alt.Y("down:Q"), y2=zero
        ),
        alt.Chart()
        .transform_filter("isValid(datum.threshold)")
        .mark_rule(color="var(--ink)", strokeDash=[4, 3])
        .encode(x=alt.X("threshold:Q")),
    ]
    words = (
        f"Scores of {each.name}: positives above the axis, negatives below; dashed, the threshold."
    )
    return layers(f"score_distributions.{place}", marks, 160), words


# The sections.


def _no_charts(_: Findings) -> Drawn:
    return {}


def _always(_: Findings) -> bool:
    return True


# The finding of each section, in a sentence.


def _used(found: Findings) -> PolicyResult:
    """Return the policy to use."""
    return next(each for each in found.policies if each.name == found.verdict.use)


def _finds_matrices(found: Findings) -> str:
    use = _used(found)
    if use.error_rate is None:
        return "How often each decision occurred, and what it adds to the cost."
    wrong = percent(float(f"{use.error_rate:.3g}"))
    return f"{use.words} is wrong in {wrong} of the {found.settings.noun}."


def _finds_thresholds(found: Findings) -> str:
    use = _used(found)
    if use.threshold_range is None:
        return "What other thresholds, costs and prevalences would cost."
    low, high = use.threshold_range
    if math.isinf(low) and math.isinf(high):
        return f"No threshold of {use.model} is shown to cost more than the chosen one."
    ends = f"from {low:.3g} to {high:.3g}"
    if math.isinf(low) or math.isinf(high):
        ends = f"up to {high:.3g}" if math.isinf(low) else f"from {low:.3g}"
    return f"Thresholds {ends} of {use.model} are not shown to cost more than the chosen one."


def _finds_pairs(found: Findings) -> str:
    verdict = found.verdict
    words = _used(found).words
    if not verdict.ties:
        return f"{words} is shown to cost less than every other policy that competes."
    shown = len(found.pairs) - len(verdict.ties)
    return (
        f"{words} is shown to cost less than {number(shown) if shown else 'none'} of "
        f"{number(len(found.pairs))} others."
    )


def _finds_sensitivity(found: Findings) -> str:
    if found.sensitivity is None or not found.sensitivity.summary:
        return "How far costs may move before another policy has the lowest estimate."
    return found.sensitivity.summary


def _finds_size(found: Findings) -> str:
    first = found.sample_size[0]
    if first.plan is None or first.target is None:
        return (
            f"What fewer or more than {number(found.data.n)} test {found.settings.noun} would show."
        )
    within = with_unit(first.target, found.settings.unit, rounded)
    words = next(each.words for each in found.policies if each.name == first.name)
    return (
        f"{rounded(first.plan.n)} test {found.settings.noun} would put the upper limit of "
        f"{words} within {within} of its cost; this test has {number(found.data.n)}."
    )


def _finds_calibration(found: Findings) -> str:
    best = min(found.calibration, key=lambda each: each.brier_score)
    return f"{best.name} has the lowest Brier score, {number(best.brier_score)}."


def _finds_slices(found: Findings) -> str:
    known = [each for each in found.slices if each.cost is not None]
    shown = sum(each.verdict != "not shown" for each in found.slices)
    differ = (
        f"{number(shown) if shown else 'None'} of {number(len(found.slices))} slices "
        f"{'are' if shown > 1 else 'is'} shown to differ from the rest."
    )
    if len(known) < 2:  # noqa: PLR2004 - one slice has no comparison
        return differ
    worst = max(known, key=lambda each: each.cost or 0.0)
    return f"{differ} The highest observed cost is that of {worst.column} {worst.slice_}."


def _finds_periods(found: Findings) -> str:
    first, last = found.periods[0].period, found.periods[-1].period
    shown = [each.period for each in found.periods if each.verdict != "not shown"]
    changed = "no change is shown"
    if shown:
        many = f"{len(shown)} periods" if len(shown) > MOST_NAMED else listed(shown)
        changed = f"a change is shown in {many}"
    return f"Cost per decision from {first} to {last}; {changed}."


def _finds_rates(found: Findings) -> str:
    best = next((each for each in found.models if each.policy == found.verdict.use), None)
    rates = None if best is None else best.rates
    if rates is None or rates.recall is None or rates.precision is None:
        return "Recall, precision and other rates, with intervals."
    phrases = [
        f"{name} {percent(float(f'{rate.value:.3g}'))}"
        for name, rate in (("recall", rates.recall), ("precision", rates.precision))
        if rate.value is not None
    ]
    words = _used(found).words
    return f"{words}: {', '.join(phrases)}." if phrases else "Rates with intervals."


def _finds_decision(_: Findings) -> str:
    return "Net benefit at every threshold probability, against acting on everyone or nobody."


def _finds_scores(_: Findings) -> str:
    return "Histograms by class, and what flagging the highest scores achieves."


def _finds_method(found: Findings) -> str:
    fitted = any(each.cross_fitted for each in found.policies)
    chosen = "Thresholds chosen by cross-fitting; " if fitted else ""
    sure = percent(found.settings.confidence)
    return f"{chosen}{sure} confidence intervals."


@dataclass(frozen=True)
class Section:
    """A section of the page.

    Attributes
    ----------
    name : str
        The id of the section in the page, and the name of its template in `parts/`.
    title : str
        The heading, which is also in the contents.
    finding : callable
        Function that returns the finding in a sentence.
    charts : callable
        Function that returns the charts.
    shown : callable
        Function that returns whether findings have the section.
    live : bool
        Whether the section is updated when readers change assumptions.
    printed : bool
        Whether the section is printed although it is folded.
    """

    name: str
    title: str
    finding: Callable[[Findings], str]
    charts: Callable[[Findings], Drawn] = _no_charts
    shown: Callable[[Findings], bool] = _always
    live: bool = False
    printed: bool = False


SECTIONS = (
    Section("matrices", "Confusion matrices", _finds_matrices, live=True),
    Section(
        "threshold",
        "Cost by threshold",
        _finds_thresholds,
        _curve_charts,
        lambda found: found.curves is not None,
        live=True,
        printed=True,
    ),
    Section(
        "pairs",
        "Pairwise comparisons",
        _finds_pairs,
        _pair_charts,
        lambda found: bool(found.pairs),
        live=True,
        printed=True,
    ),
    Section(
        "sensitivity",
        "Uncertain costs",
        _finds_sensitivity,
        _sensitivity_charts,
        lambda found: found.sensitivity is not None,
    ),
    Section(
        "sample_size",
        "Sample size",
        _finds_size,
        _size_charts,
        lambda found: bool(found.sample_size),
    ),
    Section("slices", "Slices", _finds_slices, _slice_charts, lambda found: bool(found.slices)),
    Section(
        "periods", "Over time", _finds_periods, _period_charts, lambda found: bool(found.periods)
    ),
    Section(
        "rates",
        "Rates",
        _finds_rates,
        shown=lambda found: any(each.rates is not None for each in found.models),
    ),
    Section(
        "decision",
        "Net benefit",
        _finds_decision,
        _decision_charts,
        lambda found: bool(found.decision),
    ),
    Section(
        "calibration",
        "Calibration",
        _finds_calibration,
        _calibration_charts,
        lambda found: bool(found.calibration),
    ),
    Section(
        "scores",
        "Scores by class",
        _finds_scores,
        _distribution_charts,
        lambda found: bool(found.score_distributions),
    ),
    Section("method", "Method and settings", _finds_method, printed=True),
)
"""All sections after the first screen, in the order of the page."""


@dataclass(frozen=True)
class Chart:
    """A chart that the page draws.

    Attributes
    ----------
    spec : dict
        The Vega-Lite specification.
    words : str
        The description of the chart, for those who cannot see it.
    """

    spec: dict[str, Any]
    words: str


def charts(found: Findings) -> dict[str, Chart]:
    """Return the Vega-Lite charts of a report by their names."""
    return {
        name: Chart(spec, words)
        for section in SECTIONS
        for name, (spec, words) in section.charts(found).items()
    }
