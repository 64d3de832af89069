"""Holte & Drummond's (2005) Figures 1 to 15, drawn from what was measured."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.lab.experiment import Results
from stakes.lab.replicate.cost_curve_figures import CORRELATIONS, FIGURE_11
from stakes.lab.replicate.shared.criterion_trees import CRITERIA
from stakes.show._drawing import CONDITION, COST, draw_trivial
from stakes.show._matplotlib import COLOURS, GREY, MARKERS, line_look, pyplot

SIZE = (4.6, 4.2)
TWO = ("dotted", "dashed")
LEGEND: dict[str, Any] = {"frameon": False, "fontsize": "small", "handlelength": 3.0}


def figures(results: Results) -> dict[str, Any]:
    """Return the figures by name."""
    drawn = {
        1: _points_and_chance(results, 1, ("stump", "tree")),
        2: _two_lines(results),
        3: _points_and_chance(results, 3, ("thresholds",)),
        4: _many_lines(results),
        5: _figure_5(results),
        6: _costs(results, 6, TWO, top=0.5),
        7: _roc(results, 7, CRITERIA),
        8: _costs(results, 8, CRITERIA, top=0.5),
        9: _figure_9(results),
        10: _figure_10(results),
        11: _figure_11(),
        12: _figure_12(results),
        **{int(number): _difference(results, int(number)) for number in CORRELATIONS},
    }
    return {f"figure-{number}": figure for number, figure in sorted(drawn.items())}


def _series(results: Results, figure: int, series: str) -> NDArray[np.float64]:
    rows = results.select(figure=figure, series=series, measure="y")
    return np.array([[row["x"], row["value"]] for row in rows]).T


def _axes(kind: str, top: float = 1.0) -> tuple[Any, Any]:
    figure, ax = pyplot().subplots(figsize=SIZE, layout="constrained")
    if kind == "roc":
        ax.set(xlabel="false positive rate", ylabel="true positive rate", box_aspect=1)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=1.1, linestyle=(0, (2, 1.5)), zorder=1)
    else:
        ax.set(xlabel=CONDITION, ylabel=COST, xlim=(0, 1), ylim=(0, top))
    return figure, ax


def _roc(results: Results, number: int, names: Iterable[str]) -> Any:
    figure, ax = _axes("roc")
    for i, name in enumerate(names):
        ax.plot(*_series(results, number, name), label=name, **_look(i, name))
    ax.legend(loc="lower right", **LEGEND)
    return figure


def _look(index: int, name: str) -> dict[str, Any]:
    """Return the look of a curve; what the paper calls dotted is dotted."""
    styles = {"dotted": (0, (1, 1.2)), "dashed": "--"}
    look = line_look(index)
    return look | {"linestyle": styles.get(name, look["linestyle"])}


def _costs(results: Results, number: int, names: Iterable[str], top: float) -> Any:
    figure, ax = _axes("cost", top)
    for i, name in enumerate(names):
        ax.plot(*_series(results, number, name), label=name, **_look(i, name))
    draw_trivial(ax)
    ax.legend(loc="lower center", **LEGEND)
    return figure


def _points_and_chance(results: Results, number: int, names: Iterable[str]) -> Any:
    figure, ax = _axes("roc")
    for i, name in enumerate(names):
        look = {"color": COLOURS[i], "marker": MARKERS[i], "linestyle": "none"}
        ax.plot(*_series(results, number, name), markersize=7, label=name, **look)
    ax.legend(loc="lower right", **LEGEND)
    return figure


def _two_lines(results: Results) -> Any:
    figure, ax = _axes("cost")
    for i, name in enumerate(("stump", "tree")):
        ax.plot(*_series(results, 2, name), label=name, **line_look(i))
    draw_trivial(ax)
    ax.legend(loc="upper center", **LEGEND)
    return figure


def _many_lines(results: Results) -> Any:
    figure, ax = _axes("cost")
    fpr, tpr = _series(results, 3, "thresholds")
    pc = np.linspace(0, 1, 401)
    lines = np.outer(fpr, 1 - pc) + np.outer(1 - tpr, pc)
    ax.plot(pc, lines.T, color=COLOURS[0], alpha=0.5, linewidth=0.7)
    ax.plot(pc, lines.min(axis=0), color="black", linewidth=1.8, label="lower envelope")
    draw_trivial(ax)
    ax.legend(loc="upper center", **LEGEND)
    return figure


def _figure_5(results: Results) -> Any:
    figure = _roc(results, 5, TWO)
    ax = figure.axes[0]
    pc = results.value(figure=6, measure="crossover")
    cost = results.value(figure=6, measure="cost at the crossover")
    ax.axline((0, 1 - cost / pc), slope=(1 - pc) / pc, color="black", linewidth=0.9,
              label="equal cost")  # fmt: skip
    ax.legend(loc="lower right", **LEGEND)
    return figure


def _figure_9(results: Results) -> Any:
    figure, ax = _axes("roc")
    for i, name in enumerate(("first", "second")):
        ax.plot(*_series(results, 9, name), color="black", marker="o", markersize=4,
                label="the two evaluations" if i == 0 else None)  # fmt: skip
    for i, name in enumerate(("vertical", "horizontal"), start=2):
        look = line_look(i) | {"linestyle": ("--", "-.")[i - 2]}
        ax.plot(*_series(results, 9, name), label=f"{name} average", **look)
    ax.plot(*_series(results, 9, "equal cost"), color=COLOURS[1], linewidth=1.0, linestyle=":",
            label="equal cost")  # fmt: skip
    ax.legend(loc="lower right", **LEGEND)
    return figure


def _figure_10(results: Results) -> Any:
    figure, ax = _axes("cost", 0.5)
    for i, name in enumerate(("first", "second")):
        ax.plot(*_series(results, 10, name), color="black", linewidth=1.1,
                label="the two evaluations" if i == 0 else None)  # fmt: skip
    ax.plot(*_series(results, 10, "average"), color=COLOURS[0], linewidth=2.2,
            linestyle=(0, (1, 1.2)), label="average of the costs")  # fmt: skip
    ax.legend(loc="upper left", **LEGEND)
    return figure


def _figure_11() -> Any:
    figure, ax = pyplot().subplots(figsize=(5.6, 1.5), layout="constrained")
    ax.set_axis_off()
    cells = [
        [f"{found}", f"{missed}", f"{found + missed}", f"{found / (found + missed):g}"]
        for found, missed in FIGURE_11
    ]
    table = ax.table(
        cells, loc="center", cellLoc="center", rowLabels=["actually positive", "actually negative"],
        colLabels=["called\npositive", "called\nnegative", "all", "share"],
    )  # fmt: skip
    table.auto_set_font_size(False)
    table.set_fontsize(9)
    table.scale(1, 1.8)
    return figure


def _figure_12(results: Results) -> Any:
    figure, ax = _axes("cost", 0.8)
    ends = _series(results, 12, "ends of drawn lines")
    ax.plot([0, 1], ends, color="0.7", linewidth=0.4, zorder=1)
    ax.plot(*_series(results, 12, "line"), color="black", linewidth=2.0)
    looks = {
        "100 lines": ("black", "-", "fifth lowest and highest of 100"),
        "exact": (COLOURS[1], (0, (1, 1.2)), "all resamples (exact)"),
        "mover": (COLOURS[0], (0, (9, 2)), "default band"),
    }
    for name, (colour, style, text) in looks.items():
        for i, end in enumerate(("low", "high")):
            ax.plot(*_series(results, 12, f"{end}, {name}"), color=colour, linestyle=style,
                    linewidth=1.5, label=text if i == 0 else None)  # fmt: skip
    ax.legend(loc="upper center", **LEGEND)
    return figure


def _difference(results: Results, number: int) -> Any:
    figure, ax = _axes("cost")
    pc, low = _series(results, number, "low, bootstrap")
    high = _series(results, number, "high, bootstrap")[1]
    ax.fill_between(pc, low, high, color="0.8", label="90 % band (bootstrap)")
    ax.plot(*_series(results, number, "difference"), color="black", linewidth=2.2,
            label="difference")  # fmt: skip
    for end in ("low", "high"):
        ax.plot(*_series(results, number, f"{end}, mover"), color=COLOURS[0], linewidth=1.2,
                linestyle=(0, (9, 2)), label="default band" if end == "low" else None)  # fmt: skip
    for i, name in enumerate(("first", "second")):
        ax.plot(*_series(results, number, name), color=COLOURS[1 + i], linewidth=1.8,
                linestyle=("--", "-.")[i], label=f"{name} classifier")  # fmt: skip
    ax.axhline(0, color=GREY, linewidth=0.9)
    ax.set_ylim(-0.2, 0.55)
    ax.set_title(f"{CORRELATIONS[str(number)][0]} correlation", fontsize="medium")
    ax.legend(loc="upper right", **{**LEGEND, "fontsize": "x-small"})
    return figure
