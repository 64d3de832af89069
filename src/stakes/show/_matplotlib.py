"""The only door to matplotlib, and the looks that all displays share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from stakes.errors import InputError, InputTypeError, MissingExtraError

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's colours, which colour-blind people can tell apart; without yellow, which is too
pale for a line."""

STYLES = ("-", "--", "-.", (0, (1, 1.2)), (0, (9, 2)), (0, (4, 1, 1, 1, 1, 1)))
"""The line styles that go with them, for print in black and white."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "//")

GREY = "0.4"
WIDTH = 1.8


def pyplot() -> Any:
    """Return matplotlib's pyplot, or say how to get it."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise MissingExtraError(
            "a display needs matplotlib, which is not installed: pip install 'stakes[plot]'"
        ) from error
    return plt


def one_axes(ax: Any) -> Any:
    """Return the axes to draw on; new ones, if none are given."""
    plt = pyplot()
    return plt.subplots(layout="constrained")[1] if ax is None else ax


def several_axes(axes: Any, count: int, **options: Any) -> Any:
    """Return an array of as many axes; new ones, made with the options, if none are given."""
    plt = pyplot()
    if axes is None:
        return np.ravel(plt.subplots(layout="constrained", **options)[1])
    given = np.ravel(np.asarray(axes, dtype=object))
    if len(given) != count:
        raise InputError(f"axes: expected {count} axes to draw on, got {len(given)}.")
    return given


def line_look(index: int) -> dict[str, Any]:
    """Return the colour and the line style of the curve with that number."""
    return {
        "color": COLOURS[index % len(COLOURS)],
        "linestyle": STYLES[index % len(STYLES)],
        "linewidth": WIDTH,
    }


def line_options(index: int, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what matplotlib is told about a curve: the look of its number, and what is given."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    if given is not None and not isinstance(given, Mapping):
        raise InputTypeError(
            'curve_kwargs: expected a mapping of matplotlib\'s options, such as {"color": "red"}; '
            f"got a {type(given).__name__}."
        )
    return line_look(index) | normalize_kwargs(dict(given or {}), Line2D)


def tinted(colour: Any, alpha: float) -> Any:
    """Return a colour that shows what is behind it."""
    from matplotlib.colors import to_rgba

    return to_rgba(colour, alpha)
