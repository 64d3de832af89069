"""The theme of all charts of the report: colours, line styles and axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from stakes._core.optional import altair
from stakes.findings.report import Findings

COLOURS = 5
"""Number of model colours, which colour-blind people can distinguish; further ones are grey."""

DASHES = ([1, 0], [6, 3], [6, 3, 1.5, 3], [1.5, 2.5], [11, 3], [5, 2, 1.5, 2, 1.5, 2])
"""The line styles of models, for print in black and white."""

MOST_ROWS = 20
"""Maximum number of policies or pairs in a chart."""

NUMBER = ",~r"
CONFIG = {
    "aria": False,  # the page describes each chart in words
    "background": None,
    "padding": {"left": 1, "right": 1, "top": 5, "bottom": 6},
    "font": "system-ui, sans-serif",
    "view": {"stroke": None},
    "axis": {
        "domainColor": "var(--line)",
        "gridColor": "var(--grid)",
        "tickColor": "var(--line)",
        "labelColor": "var(--soft)",
        "titleColor": "var(--soft)",
        "titleFontWeight": "normal",
        "labelFontSize": 12,
        "titleFontSize": 12,
        "titlePadding": 8,
        "labelOverlap": "greedy",
    },
    "text": {"color": "var(--ink)", "fontSize": 12},
    "rule": {"color": "var(--soft)"},
}


def colour(index: int) -> str:
    """Return the colour of the model with that number."""
    return f"var(--m{index + 1})" if index < COLOURS else CONSTANT


def dash(index: int) -> str:
    """Return the line style of the model with that number, in the notation of SVG."""
    return " ".join(f"{length:g}" for length in DASHES[index % len(DASHES)])


def layers(found_at: str, marks: Sequence[Any], height: int) -> dict[str, Any]:
    """Return a layered chart of marks on the data at `found_at` in the findings.

    Layers are not made by Altair, because it copies and checks charts many times, and Vega-Lite
    needs only their list.
    """
    alt = altair()
    datasets: dict[str, Any] = {}
    inside = {"top_level": False, "data": alt.NamedData(name=found_at), "datasets": datasets}
    spec: dict[str, Any] = {
        "config": CONFIG,
        "layer": [mark.to_dict(validate=False, context=inside) for mark in marks],
        "autosize": {"type": "fit-x", "contains": "padding"},
        "data": {"name": found_at},
        "height": height,
        "width": "container",
    }
    return spec | {"datasets": datasets} if datasets else spec


def scales(names: Sequence[str]) -> tuple[Any, Any]:
    """Return the colour and line style scales of models, the same in every chart."""
    alt = altair()
    places = range(len(names))
    colours = alt.Color("name:N", legend=None).scale(
        domain=list(names), range=[colour(place) for place in places]
    )
    dashes = alt.StrokeDash("name:N", legend=None).scale(
        domain=list(names), range=[DASHES[place % len(DASHES)] for place in places]
    )
    return colours, dashes


CONSTANT = "var(--edge)"
"""The colour of constant predictions."""


def policy_colours(found: Findings) -> dict[str, str]:
    """Return the colour of each policy: that of its model, or that of constant predictions."""
    places = {model.name: place for place, model in enumerate(found.models)}
    return {
        name: CONSTANT if each.model is None else colour(places[each.model])
        for each in found.policies
        for name in (each.name, *each.alike)
    }


def policy_scales(found: Findings, names: Sequence[str]) -> tuple[Any, Any]:
    """Return the colour and line style scales of policies; those of a model differ in style."""
    alt = altair()
    colours = policy_colours(found)
    shades = alt.Color("name:N", legend=None).scale(
        domain=list(names), range=[colours[name] for name in names]
    )
    dashes = alt.StrokeDash("name:N", legend=None).scale(
        domain=list(names), range=[DASHES[place % len(DASHES)] for place in range(len(names))]
    )
    return shades, dashes


def model_names(found: Findings) -> list[str]:
    """Return the names of models in the order of their colours."""
    return [model.name for model in found.models]


def cost_title(found: Findings) -> str:
    """Return the title of an axis of costs."""
    unit = found.settings.unit
    return f"cost per decision, {unit}" if unit else "cost per decision"


def number_axis(title: str, **options: Any) -> Any:
    """Return an axis of numbers without abbreviations."""
    return altair().Axis(title=title, format=NUMBER, tickCount=5, **options)


def dotted(rows: Sequence[dict[str, float]]) -> Any:
    """Draw a dotted reference line."""
    alt = altair()
    return alt.Chart(alt.InlineData(list(rows))).mark_line(
        clip=True, color="var(--soft)", strokeDash=[2, 3], strokeWidth=1.5
    )
