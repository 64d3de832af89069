"""Dugas & Gadoury's (2008) Figures 1 to 6, with the repaired bands beside theirs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from stakes.lab.domains.binormal import Binormal
from stakes.lab.experiment import Results, Value
from stakes.lab.replicate.exact_band_coverage import (
    BY_CLASS,
    FIGURE_1_PC,
    NOMINAL,
    SIZES,
    SPREADS,
    THRESHOLDS,
    WHOLE,
    WIDE,
)
from stakes.show._drawing import CONDITION, COST, draw_trivial
from stakes.show._matplotlib import COLOURS, GREY, STYLES, pyplot

LOOKS: Mapping[str, Mapping[str, Any]] = {
    "gaussian": {"color": "black", "linestyle": "-", "linewidth": 1.5},
    "exact": {"color": COLOURS[1], "linestyle": (0, (1, 1.2)), "linewidth": 1.8},
    "wilson": {"color": COLOURS[2], "linestyle": "-.", "linewidth": 1.3},
    "mover": {"color": COLOURS[0], "linestyle": (0, (9, 2)), "linewidth": 1.8},
}
NAMES = {
    "gaussian": "the paper's: two moments, Gaussian",
    "exact": "percentiles of the bootstrap itself",
    "wilson": "Wilson's limits combined",
    "mover": "default: Beta limits combined",
}
RHO_STYLES = {0.3: STYLES[3], 0.6: STYLES[2], 0.9: STYLES[0]}
COVERAGE = "coverage"


def figures(results: Results) -> dict[str, Any]:
    """Return the figures by name."""
    return {
        "figure-1": _figure_1(),
        "figure-2": _four(
            results, [({"figure": 2, "theta": each}, f"θ = {each:g}") for each in SPREADS]
        ),
        "figure-3": _four(
            results, [({"figure": 3, "n": n}, f"{n:,} of each class") for n in SIZES]
        ),
        "figure-4": _six(results, 4),
        "figure-5": _four(
            results,
            [({"figure": 5, "theta": t, "drawn": WHOLE}, f"θ = {t:g}") for t in SPREADS],
            beside=[{"figure": 5, "theta": t, "drawn": BY_CLASS} for t in SPREADS],
        ),
        "figure-6": _six(results, 6),
        "widths": _widths(results),
    }


def _curve(results: Results, **where: Value) -> NDArray[np.float64]:
    """Return the conditions and the coverage at each."""
    rows = results.select(measure=COVERAGE, **where)
    return np.array([[row["pc"], row["value"]] for row in rows]).reshape(-1, 2).T


def _target(ax: Any, title: str) -> None:
    ax.axhline(NOMINAL, color=GREY, linewidth=0.9, linestyle=(0, (5, 3)), zorder=1)
    ax.set(xlim=(0, 1), ylim=(0, 1.03))
    ax.set_title(title, fontsize="medium")


def _four(
    results: Results,
    panels: Sequence[tuple[Mapping[str, Value], str]],
    beside: Sequence[Mapping[str, Value]] = (),
) -> Any:
    plt = pyplot()
    figure, axes = plt.subplots(2, 2, figsize=(7.4, 6.2), sharex=True, sharey=True,
                                layout="constrained")  # fmt: skip
    for i, (ax, (where, title)) in enumerate(zip(axes.ravel(), panels, strict=True)):
        for method, look in LOOKS.items():
            ax.plot(*_curve(results, method=method, **where), label=NAMES[method], **look)
        if beside:
            other = _curve(results, method="gaussian", **beside[i])
            ax.plot(*other, color="0.55", linewidth=1.0,
                    label="the paper's, test sets drawn class by class")  # fmt: skip
        _target(ax, title)
    for ax in axes[1]:
        ax.set_xlabel(CONDITION)
    for ax in axes[:, 0]:
        ax.set_ylabel(COVERAGE)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False,
                  fontsize="small", handlelength=3.5)  # fmt: skip
    return figure


def _six(results: Results, number: int) -> Any:
    """Draw three shifts by two spreads; the paper's band and the default, three correlations."""
    plt = pyplot()
    figure, axes = plt.subplots(3, 2, figsize=(7.4, 8.2), sharex=True, sharey=True,
                                layout="constrained")  # fmt: skip
    for row, shift in zip(axes, (0.0, 2.0, 4.0), strict=True):
        for ax, theta in zip(row, (1.0, 3.0), strict=True):
            for method in ("gaussian", "mover"):
                for rho, style in RHO_STYLES.items():
                    where = {"figure": number, "theta": theta, "shift": shift, "correlation": rho}
                    look = {**LOOKS[method], "linestyle": style, "linewidth": 1.3}
                    label = f"{NAMES[method].split(':')[0]}, correlation {rho:g}"
                    ax.plot(*_curve(results, method=method, **where), label=label, **look)
            _target(ax, f"θ = {theta:g}, shift = {shift:g}")
        row[0].set_ylabel(COVERAGE)
    for ax in axes[-1]:
        ax.set_xlabel(CONDITION)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False,
                  fontsize="small", handlelength=3.5)  # fmt: skip
    return figure


def _figure_1() -> Any:
    """Draw scores, ROC points and cost lines of a weak and of a strong scorer."""
    plt = pyplot()
    figure, axes = plt.subplots(3, 2, figsize=(7.0, 9.4), layout="constrained")
    colours = (COLOURS[1], COLOURS[2], COLOURS[0])
    for (scores, roc, cost), theta in zip(axes.T, (0.75, 3.0), strict=True):
        truth = Binormal(theta)
        grid = np.linspace(-12, 12, 400)
        for location, style, name in zip(truth.locations, ("--", "-"), ("positives", "negatives"),
                                         strict=True):  # fmt: skip
            density = norm.pdf(grid, location, truth.scale)
            scores.plot(grid, density, color="black", linestyle=style, label=name)
        roc.plot(truth.fpr(grid), truth.tpr(grid), color="black")
        roc.plot([0, 1], [0, 1], color=GREY, linewidth=1.1, linestyle=(0, (2, 1.5)))
        pc = np.linspace(1e-6, 1 - 1e-6, 400)
        cost.plot(pc, truth.cost(pc), color="black", label="best thresholds")
        draw_trivial(cost)
        for cut, colour, style in zip(THRESHOLDS, colours, ("-.", "-", "--"), strict=True):
            fpr, tpr = float(truth.fpr(cut)), float(truth.tpr(cut))
            scores.axvline(cut, color=colour, linestyle=style)
            roc.plot(fpr, tpr, "o", color=colour, markersize=8)
            cost.plot([0, 1], [fpr, 1 - tpr], color=colour, linestyle=style,
                      label=f"threshold {cut:g}")  # fmt: skip
        cost.axvline(FIGURE_1_PC, color=GREY, linewidth=0.9)
        scores.set(title=f"θ = {theta:g}", xlabel="score", ylabel="density", xlim=(-12, 12))
        roc.set(xlabel="false positive rate", ylabel="true positive rate", box_aspect=1)
        roc.set(xlim=(0, 1), ylim=(0, 1))
        cost.set(xlabel=CONDITION, ylabel=COST, xlim=(0, 1), ylim=(0, 1))
    axes[0, 0].legend(frameon=False, fontsize="small", loc="upper left")
    axes[2, 1].legend(frameon=False, fontsize="small", loc="upper center")
    return figure


def _widths(results: Results) -> Any:
    """Draw how wide the bands are, as multiples of the paper's."""
    plt = pyplot()
    figure, axes = plt.subplots(1, 3, figsize=(9.6, 3.9), sharex=True, layout="constrained")
    panels: Sequence[tuple[dict[str, Value], str]] = (
        ({"figure": 2, "theta": 3.0}, "one classifier, θ = 3"),
        ({"figure": 2, "theta": 5.0}, "one classifier, θ = 5"),
        ({"figure": 4, "theta": 3.0, "shift": 2.0, "correlation": 0.6}, "a difference, θ = 3"),
    )
    for ax, (where, title) in zip(axes, panels, strict=True):

        def widths(method: str, where: Mapping[str, Value] = where) -> NDArray[np.float64]:
            return np.array(
                [results.value(measure="width", method=method, pc=pc, **where) for pc in WIDE]
            )

        for method, look in LOOKS.items():
            ax.plot(WIDE, widths(method) / widths("gaussian"), label=NAMES[method], **look)
        ax.set(xscale="log", xlabel=CONDITION)
        ax.set_xticks(WIDE, [f"{pc:g}" if pc != 0.35 else "" for pc in WIDE], fontsize="small")  # noqa: PLR2004
        ax.minorticks_off()
        ax.set_title(title, fontsize="medium")
    axes[0].set_ylabel("mean width, as a multiple of the paper's")
    handles, names = axes[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False,
                  fontsize="small", handlelength=3.5)  # fmt: skip
    return figure
