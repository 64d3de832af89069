"""The papers' claim that normal intervals always cover and never reject, and its origin.

They find the true cost in all normal 95% intervals, and no rejection by the paired z test, for any
cost model and any q. The correct interval does not do this. With the standard deviation s of single
costs in place of its standard error s/√n, the coverage agrees, but not all that is stated about the
test; with their variance s², the whole claim does. The papers write of "a variance of σ/√n, where σ
is the variance" of the costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import ndtri

from replications.experiment import Experiment, Printed, Results, Row, Trial
from replications.experiments.shared.classifier import (
    PAPER_MODELS,
    STAND_INS,
    TEST,
    draw_tables,
    matrices,
    over_matrices,
    permuted,
    relabelled,
    unpublished,
)
from replications.experiments.shared.relabelling import MILLION
from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes
from stakes.infer.batch import batch_outcomes
from stakes.infer.methods.normal import standard_error
from stakes.show._drawing import COLOURS, GREY, MARKERS, pyplot

CHANGED = (0, 1000, 5000, 10_000, 50_000, 100_000, 500_000, MILLION)
METHODS = ("z", "z with s", "z with s²")
DOMAINS = ("expf5", "waveform")
Z = -float(ndtri(0.025))


def arms(outcomes: Outcomes) -> dict[str, Floats]:
    """Return the half-widths of the correct interval, and of two without √n."""
    error = standard_error(outcomes)
    deviation = error * np.sqrt(outcomes.only.n)
    return {"z": Z * error, "z with s": Z * deviation, "z with s²": Z * deviation**2}


def measure(trial: Trial, *, domain: str, model: str) -> Iterator[Row]:
    """Measure coverage, and rejections for each number of changed labels."""
    judged = matrices(domain, model, trial.seed, TEST * trial.repeats)
    covered: dict[str, list[float]] = {method: [] for method in METHODS}
    rejected: dict[tuple[int, str], list[float]] = {}
    for each in judged:
        outcomes = batch_outcomes(each.draw(trial.repeats, trial.rng), each.costs)
        for method, arm in arms(outcomes).items():
            inside = np.abs(outcomes.mean - each.cost) <= arm
            covered[method].append(float(inside.mean()))
        for q in CHANGED:
            joint = relabelled(permuted(each.shares), q / MILLION)
            pair = batch_outcomes(draw_tables(joint, trial.repeats, trial.rng), each.costs)
            for method, arm in arms(pair).items():
                outside = np.abs(pair.mean) > arm
                rejected.setdefault((q, method), []).append(float(outside.mean()))
    for method, values in covered.items():
        yield over_matrices("coverage", values, trial.repeats, method=method)
    for (q, method), values in rejected.items():
        yield over_matrices("rejected", values, trial.repeats, method=method, q=q)


def derive(rows: Sequence[Row]) -> Iterator[Row]:
    """Return the highest rejection rate of each test over all q."""
    for domain in DOMAINS:
        for model in PAPER_MODELS:
            for method in METHODS:
                curve = [
                    row
                    for row in rows
                    if (row["domain"], row["model"], row["method"]) == (domain, model, method)
                    and row["measure"] == "rejected"
                ]
                if curve:
                    most = max(curve, key=lambda row: float(row["value"]))
                    yield {
                        "domain": domain, "model": model, "method": method,
                        "measure": "rejected at most", "value": most["value"],
                        "error": most["error"], "repeats": most["repeats"],
                    }  # fmt: skip


def draw(results: Results) -> Mapping[str, Any]:
    """Draw coverage, and the highest rejection rate, for each model."""
    figure, axes = pyplot().subplots(
        2, 2, figsize=(9, 6), sharex="col", sharey=True, layout="constrained"
    )
    for line, (name, label) in zip(
        axes, (("coverage", "coverage (bars: 2 standard errors)"),
               ("rejected at most", "rejected, at most over q")),
        strict=True,
    ):  # fmt: skip
        for ax, domain in zip(line, DOMAINS, strict=True):
            for number, method in enumerate(METHODS):
                rows = results.select(domain=domain, method=method, measure=name)
                ax.errorbar(
                    np.arange(len(rows)) + 0.15 * (number - 1), [row["value"] for row in rows],
                    [2 * float(row["error"]) for row in rows], fmt=MARKERS[number],
                    color=COLOURS[number], label=method,
                )  # fmt: skip
            ax.set_xticks(range(len(rows)), [str(row["model"]) for row in rows])
            ax.axhline(0.95 if name == "coverage" else 0.05, color=GREY, linewidth=1)
            ax.set(ylim=(-0.04, 1.04), title=domain)
        line[0].set_ylabel(label)
    axes[0, 0].legend(loc="lower left")
    return {"z-claim": figure}


NOT_SO = "The correct interval is too narrow where a rare mistake costs most; its test has power."
FEW = "For a few cost matrices, when all labels are changed, s is small enough to reject."


def _printed() -> Iterator[Printed]:
    for domain in DOMAINS:
        for model in PAPER_MODELS:
            if unpublished(domain, model):
                continue
            for method in METHODS:
                why = NOT_SO if method == "z" else FEW
                source = "section 4; thesis, section 6.2"
                where = {"domain": domain, "model": model, "method": method}
                for measured, value in (("coverage", 1.0), ("rejected at most", 0.0)):
                    yield Printed(
                        {**where, "measure": measured}, value, source, 0.0005, why, always=True
                    )


EXPERIMENT = Experiment(
    name="z-claim",
    title="Whether normal intervals always cover, and never reject",
    source="Margineantu & Dietterich (2000), section 4; Margineantu (2001), section 6.2",
    varies={"domain": DOMAINS, "model": PAPER_MODELS},
    measure=measure,
    repeats=1000,
    least=20,
    printed=tuple(_printed()),
    derive=derive,
    draw=draw,
    skip=unpublished,
    stand_ins=STAND_INS,
)
