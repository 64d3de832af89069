"""Figures of what thresholds cost that were chosen on finite sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.lab.experiment import Results, Value
from stakes.lab.replicate.finite_validation import ASSURANCE, MAX_FPR, NOMINAL, SIZES, SPREADS
from stakes.show._drawing import CONDITION
from stakes.show._matplotlib import GREY, MARKERS, line_look, pyplot

SHOWN = (25, 100, 1000)


def figures(results: Results) -> dict[str, Any]:
    """Return the figures by name."""
    return {
        "excess": _excess(results),
        "coverage": _coverage(results, "validation"),
        "coverage-same-examples": _coverage(results, "same"),
        "optimism": _optimism(results),
        "assurance": _assurance(results),
    }


def _curve(results: Results, **where: Value) -> NDArray[np.float64]:
    return np.array([[row["pc"], row["value"]] for row in results.select(**where)]).T


def _grid(title: str) -> tuple[Any, Any]:
    plt = pyplot()
    figure, axes = plt.subplots(2, 2, figsize=(7.4, 6.2), sharex=True, sharey=True,
                                layout="constrained")  # fmt: skip
    for ax, theta in zip(axes.ravel(), SPREADS, strict=True):
        ax.set_title(f"θ = {theta:g}", fontsize="medium")
        ax.set_xlim(0, 1)
    for ax in axes[1]:
        ax.set_xlabel(CONDITION)
    for ax in axes[:, 0]:
        ax.set_ylabel(title)
    return figure, axes.ravel()


def _legend(figure: Any, ax: Any) -> Any:
    handles, names = ax.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=2, frameon=False,
                  fontsize="small", handlelength=3.5)  # fmt: skip
    return figure


def _excess(results: Results) -> Any:
    figure, axes = _grid("excess over the best threshold, %")
    for ax, theta in zip(axes, SPREADS, strict=True):
        for i, n in enumerate(SIZES):
            pc, excess = _curve(results, measure="excess", theta=theta, n=n)
            ax.plot(pc, 100 * excess, label=f"{n:,} of each class", **line_look(i))
        ax.set(yscale="log", ylim=(0.1, 1000))
        ax.set_yticks([0.1, 1, 10, 100, 1000], ["0.1", "1", "10", "100", "1000"])
    return _legend(figure, axes[0])


def _coverage(results: Results, judged: str) -> Any:
    figure, axes = _grid("coverage")
    for ax, theta in zip(axes, SPREADS, strict=True):
        if judged == "validation":
            ideal = _curve(results, measure="coverage", theta=theta, judged="best in theory",
                           method="gaussian")  # fmt: skip
            ax.plot(*ideal, color="black", linewidth=1.5,
                    label="the paper's band, best thresholds in theory")  # fmt: skip
        methods = ("gaussian", "mover") if judged == "validation" else ("mover",)
        for method in methods:
            for i, n in enumerate(SHOWN):
                found = _curve(results, measure="coverage", theta=theta, n=n, judged=judged,
                               method=method)  # fmt: skip
                look = line_look(i)
                if method == "mover" and judged == "validation":
                    look |= {"linewidth": 0.9, "marker": MARKERS[i], "markersize": 3}
                name = "the paper's band" if method == "gaussian" else "default band"
                ax.plot(*found, label=f"{name}, chosen on {n:,} of each class", **look)
        ax.axhline(NOMINAL, color=GREY, linewidth=0.9, linestyle=(0, (5, 3)), zorder=1)
        ax.set_ylim(0 if judged == "validation" else 0.6, 1.03)
    return _legend(figure, axes[0])


def _optimism(results: Results) -> Any:
    figure, axes = _grid("envelope below the truth, %")
    for ax, theta in zip(axes, SPREADS, strict=True):
        for i, n in enumerate(SIZES):
            pc, optimism = _curve(results, measure="optimism", theta=theta, n=n)
            ax.plot(pc, 100 * optimism, label=f"{n:,} of each class", **line_look(i))
        ax.set_ylim(0, 100)
    return _legend(figure, axes[0])


def _assurance(results: Results) -> Any:
    """Draw how often a limit is kept, and what that costs in positives found."""
    plt = pyplot()
    figure, (left, right) = plt.subplots(1, 2, figsize=(8.4, 4.0), layout="constrained")
    for i, theta in enumerate(SPREADS):
        look = {"color": line_look(i)["color"], "marker": MARKERS[i], "markersize": 5}
        for rule, style in (("plain", "--"), ("assured", "-")):
            for ax, measure in ((left, "limit kept"), (right, "recall")):
                values = [
                    results.value(measure=measure, theta=theta, n=n, rule=rule) for n in SIZES
                ]
                label = f"θ = {theta:g}" if rule == "assured" else None
                ax.plot(SIZES, values, linestyle=style, label=label, **look)
        best = results.value(measure="recall", theta=theta, n=SIZES[0], rule="best")
        right.axhline(best, color=look["color"], linewidth=0.8, linestyle=":")
    left.axhline(ASSURANCE, color=GREY, linewidth=0.9, linestyle=(0, (5, 3)))
    left.set(ylabel=f"false positive rate of {MAX_FPR:g} kept", ylim=(0, 1.03))
    right.set(ylabel="positives found; dotted: at best", ylim=(0, 1.03))
    for ax in (left, right):
        ax.set(xscale="log", xlabel="examples of each class to choose on")
        ax.set_xticks(SIZES, [f"{n:,}" for n in SIZES])
        ax.minorticks_off()
    left.plot([], [], color=GREY, linestyle="-", label=f"assurance of {ASSURANCE:.0%}")
    left.plot([], [], color=GREY, linestyle="--", label="no assurance")
    return _legend(figure, left)
