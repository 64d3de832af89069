"""Dugas & Gadoury (2008), section 6: thresholds that were chosen on a finite validation set.

It measures the true costs of such thresholds, their costs by the curve of the examples that they
were chosen on, and the coverage of bands on these and on other examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from replications.domains.binormal import SCALE, Binormal, binormal
from replications.experiment import Experiment, Printed, Results, Row, Trial, Value, average, share
from replications.experiments.shared.band_coverage import Tables, enumerated
from stakes._core.typing import Floats
from stakes.curves import CostCurve
from stakes.policies import choose_threshold
from stakes.show._drawing import CONDITION, GREY, MARKERS, line_look, pyplot

NOMINAL, ALPHA = 0.9, 0.1
ENDS = np.array([0.005, 0.01, 0.02, 0.05])
CONDITIONS = np.concatenate([ENDS, np.linspace(0.1, 0.9, 17), 1 - ENDS[::-1]]).round(4)
MIDDLE = (CONDITIONS >= 0.1) & (CONDITIONS <= 0.9)  # noqa: PLR2004 - without the ends
WHOLE_CURVE = np.linspace(0.05, 0.95, 91)
SPREADS = (0.75, 1.5, 3.0, 5.0)
SIZES = (25, 100, 250, 1000, 2500)
TEST_SIZE = 1000
"""Number of test examples of each class, as in the paper's Figure 2."""

METHODS = ("gaussian", "mover")
NO_WIDTH = 1e-9
"""Width below which a band has no width except for rounding."""

MAX_FPR, ASSURANCE = 0.05, 0.9


@dataclass(frozen=True)
class Chosen:
    """Thresholds chosen on many sets, with costs and mistakes: arrays (sets, conditions)."""

    thresholds: Floats
    costs: Floats
    missed: Floats
    alarmed: Floats


def measure(trial: Trial, *, theta: float, n: int) -> Iterator[Row]:
    """Choose thresholds on n examples of each class, many times."""
    truth = Binormal(theta)
    few: list[CostCurve] = []
    chosen = _chosen(trial, theta, n, few)
    best = truth.cost(CONDITIONS)
    true_costs = truth.cost(CONDITIONS, chosen.thresholds)
    for i, pc in enumerate(CONDITIONS.tolist()):
        cuts, costs = chosen.thresholds[:, i], true_costs[:, i]
        yield average("excess", costs / best[i] - 1, pc=pc)
        above = int((cuts > truth.threshold(pc)).sum())
        yield share("above the best", above, trial.repeats, pc=pc)
        yield average("optimism", _optimism(chosen.costs[:, i], costs), pc=pc)
        tested = [
            trial.rng.binomial(TEST_SIZE, rate).astype(float)[np.newaxis]
            for rate in (truth.fnr(cuts), truth.fpr(cuts))
        ]
        own = chosen.missed[np.newaxis, :, i], chosen.alarmed[np.newaxis, :, i]
        judged = {
            "validation": Tables(pc, TEST_SIZE, tested[0], tested[1], costs),
            "same": Tables(pc, n, own[0], own[1], costs),
        }
        for method in METHODS:
            for judged_on, tables in judged.items():
                hits = int(tables.covered(method, ALPHA).sum())
                keys: dict[str, Value] = {"pc": pc, "method": method, "judged": judged_on}
                yield share("coverage", hits, trial.repeats, **keys)
    yield from _whole_curves(few, truth)
    yield from _within_a_limit(few, truth)


def _chosen(trial: Trial, theta: float, n: int, few: list[CostCurve]) -> Chosen:
    """Choose thresholds on many sets, and keep a few of their curves for slower measurements."""
    found = []
    for _ in range(trial.repeats):
        curve = CostCurve.from_scores(*binormal(n, n, theta, rng=trial.rng))
        if len(few) < max(trial.repeats // 4, 1):
            few.append(curve)
        pieces = curve.pieces
        at = pieces.index(CONDITIONS)
        rates = np.array([pieces.right[at], pieces.left[at]])
        found.append((curve.thresholds[at], curve.cost(CONDITIONS), *np.round(n * rates)))
    return Chosen(*np.moveaxis(np.array(found), 1, 0))


def _optimism(said: Floats, true: Floats) -> Floats:
    """Return values whose mean is 1 - mean(said) / mean(true), with its linearised variance."""
    ratio = said.mean() / true.mean()
    return np.asarray(1 - ratio - (said - ratio * true) / true.mean())


def _whole_curves(curves: Sequence[CostCurve], truth: Binormal) -> Iterator[Row]:
    """Measure how often bands on the same examples contain the truth at all conditions."""
    for simultaneous in (False, True):
        hits = 0
        for curve in curves:
            band = curve.band(NOMINAL, pc=WHOLE_CURVE, simultaneous=simultaneous)
            true = truth.cost(WHOLE_CURVE, curve.threshold(WHOLE_CURVE))
            hits += bool(((band.low <= true) & (true <= band.high)).all())
        kind = "simultaneous" if simultaneous else "pointwise"
        yield share("whole curve", hits, len(curves), band=kind)


def _within_a_limit(curves: Sequence[CostCurve], truth: Binormal) -> Iterator[Row]:
    """Measure how often a requested false positive rate is kept, with and without assurance.

    Also measure the recall, and that of the best threshold at that rate.
    """
    for assurance in (None, ASSURANCE):
        cuts = np.array([
            choose_threshold(curve.counts, max_fpr=MAX_FPR, assurance=assurance).threshold
            for curve in curves
        ])  # fmt: skip
        rule = "plain" if assurance is None else "assured"
        kept = int((truth.fpr(cuts) <= MAX_FPR).sum())
        yield share("limit kept", kept, len(curves), rule=rule)
        yield average("recall", truth.tpr(cuts), rule=rule)
    best = ndtr(ndtri(MAX_FPR) + (truth.locations[0] - truth.locations[1]) / SCALE)
    yield {"rule": "best", "measure": "recall", "value": float(best), "error": 0.0, "repeats": 1}


@lru_cache
def best_thresholds(theta: float, method: str) -> Floats:
    """Return the enumerated coverage at the best thresholds in theory, for each condition."""
    truth = Binormal(theta)
    found = []
    for pc in CONDITIONS.tolist():
        cut = truth.threshold(pc)
        rates = float(truth.fnr(cut)), float(truth.fpr(cut))
        tables, chances = enumerated(pc, rates, TEST_SIZE)
        low, high = tables.limits(method, ALPHA)
        found.append(float(chances @ (tables.covered(method, ALPHA) & (high - low > NO_WIDTH))))
    return np.array(found)


def summarised(rows: Sequence[Row]) -> Iterator[Row]:
    """Return the ranges over all spreads, and whether the paper's statements hold."""
    every = Results("", rows, 1.0, 0)
    middle = CONDITIONS[MIDDLE].tolist()
    for theta in SPREADS:
        for method in METHODS:
            for pc, value in zip(CONDITIONS.tolist(), best_thresholds(theta, method), strict=True):
                yield {"theta": theta, "pc": pc, "method": method, "judged": "best in theory",
                       "measure": "coverage", "value": value, "error": 0.0,
                       "repeats": 1}  # fmt: skip
    said: list[tuple[str, Mapping[str, Value]]] = [
        ("excess", {"measure": "excess"}),
        ("optimism", {"measure": "optimism"}),
        ("coverage on the same", {"measure": "coverage", "judged": "same", "method": "mover"}),
        ("coverage on others", {"measure": "coverage", "judged": "validation", "method": "mover"}),
        ("pointwise, whole curve", {"measure": "whole curve", "band": "pointwise"}),
        ("simultaneous, whole curve", {"measure": "whole curve", "band": "simultaneous"}),
    ]
    for n in SIZES:
        for name, where in said:
            found = [row for row in every.select(n=n, **where) if row.get("pc", 0.5) in middle]
            lowest = min(found, key=lambda row: float(row["value"]))
            highest = max(found, key=lambda row: float(row["value"]))
            for end, row in (("lowest", lowest), ("highest", highest)):
                kept = {key: row[key] for key in ("value", "error", "repeats")}
                yield {"n": n, "range_of": name, "measure": end, **kept}
    yield from _claims(every)


def _claims(every: Results) -> Iterator[Row]:
    def coverage(**where: Value) -> Floats:
        rows = every.select(measure="coverage", method="gaussian", **where)
        return np.array([row["value"] for row in rows])

    breaks, smoothed = [], []
    for theta in SPREADS:
        ideal = best_thresholds(theta, "gaussian")
        breaks.append((ideal.min(), np.abs(np.diff(ideal)).max()))
        for n in SIZES:
            found = coverage(theta=theta, n=n, judged="validation")
            smoothed.append(
                found.min() > breaks[-1][0] and np.abs(np.diff(found)).max() < breaks[-1][1]
            )
    middle = CONDITIONS[MIDDLE].tolist()
    above = [
        float(row["value"]) for row in every.select(measure="above the best")
        if row["pc"] in middle
    ]  # fmt: skip
    excess = [float(row["value"]) for row in every.select(measure="excess")]
    said = {
        "chosen thresholds cost more than the best": min(excess) > 0,
        "chosen thresholds are centred around the best": max(abs(a - 0.5) for a in above) < 0.05,  # noqa: PLR2004
        "chosen thresholds smooth the breaks in coverage": all(smoothed),
    }
    for claim, holds in said.items():
        yield {"claim": claim, "measure": "holds", "value": float(holds), "error": 0.0,
               "repeats": 1}  # fmt: skip


SHOWN = (25, 100, 1000)


def draw(results: Results) -> Mapping[str, Any]:
    """Return the figures by name."""
    return {
        "excess": _excess(results),
        "coverage": _coverage(results, "validation"),
        "coverage-same-examples": _coverage(results, "same"),
        "optimism": _optimism_figure(results),
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


def _optimism_figure(results: Results) -> Any:
    figure, axes = _grid("envelope below the truth, %")
    for ax, theta in zip(axes, SPREADS, strict=True):
        for i, n in enumerate(SIZES):
            pc, optimism = _curve(results, measure="optimism", theta=theta, n=n)
            ax.plot(pc, 100 * optimism, label=f"{n:,} of each class", **line_look(i))
        ax.set_ylim(0, 100)
    return _legend(figure, axes[0])


def _assurance(results: Results) -> Any:
    """Draw how often a limit is kept, and the recall with it."""
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


SECTION_6 = "Section 6"
OUTERMOST = (
    "A finite set has no scores far out, so its best thresholds lie nearer to the middle wherever "
    "the best in theory are far out."
)
EXPERIMENT = Experiment(
    name="finite-validation",
    title="Thresholds chosen on finite validation sets, and on the test set itself",
    source="Dugas & Gadoury (2008), section 6",
    varies={"theta": SPREADS, "n": SIZES},
    measure=measure,
    repeats=2000,
    least=20,
    printed=tuple(
        Printed({"claim": claim, "measure": "holds"}, 1.0, SECTION_6, 0.0, why)
        for claim, why in (
            ("chosen thresholds cost more than the best", ""),
            ("chosen thresholds are centred around the best", OUTERMOST),
            ("chosen thresholds smooth the breaks in coverage", ""),
        )
    ),
    derive=summarised,
    draw=draw,
)
