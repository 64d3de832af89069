"""Power of BDELTACOST: Figures 3 to 5, and the thesis's 6.4 to 6.10."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from replications.experiment import Experiment, Printed, Results, Row, Trial
from replications.experiments.shared.classifier import (
    PAPER_MODELS,
    STAND_INS,
    THESIS_LABELS,
    unpublished,
)
from replications.experiments.shared.relabelling import (
    MILLION,
    draw_power,
    half_power,
    measure_power,
    thesis_panels,
)
from replications.experiments.shared.resampling import AVERAGED

CHANGED = (
    0, 1000, 2000, 5000, 10_000, 20_000, 30_000, 50_000, 100_000, 200_000, 500_000, MILLION,
)  # fmt: skip
DOMAINS = ("expf5", "waveform")
PAPER_RESAMPLES, THESIS_RESAMPLES = 1000, 500


def measure(trial: Trial, *, domain: str, model: str) -> Iterator[Row]:
    """Measure the power of BDELTACOST, of the z test and of the default test."""
    yield from measure_power(
        trial, domain, model, changed=CHANGED, default_at=CHANGED[::3] + CHANGED[-1:],
        resamples=(PAPER_RESAMPLES, THESIS_RESAMPLES),
    )  # fmt: skip


def derive(rows: Sequence[Row]) -> Iterator[Row]:
    """Return where power reaches one half, and the share not rejected when all labels change."""
    for domain in DOMAINS:
        halves = []
        for model in PAPER_MODELS:
            cell = [row for row in rows if (row["domain"], row["model"]) == (domain, model)]
            curve = [
                row
                for row in cell
                if row["measure"] == "rejected" and row.get("resamples") == PAPER_RESAMPLES
            ]
            if not curve:
                continue
            ratios = {int(r["q"]): float(r["value"]) for r in cell if r["measure"] == "cost ratio"}
            shares = {int(row["q"]): float(row["q"]) / MILLION for row in curve}
            last = next(row for row in curve if row["q"] == MILLION)
            halves.append(half_power(curve, shares)[0])
            for name, (value, error) in {
                "not rejected at q = 1000000": (1 - float(last["value"]), float(last["error"])),
                "share changed at half power": half_power(curve, shares),
                "cost ratio at half power": half_power(curve, ratios),
            }.items():
                yield {
                    "domain": domain, "model": model, "measure": name, "value": value,
                    "error": error, "repeats": int(last["repeats"]),
                }  # fmt: skip
        if not halves:
            continue
        spread = np.nanquantile(halves, [0.25, 0.5, 0.75])
        yield {
            "domain": domain, "measure": "share changed at half power, median of the models",
            "value": float(spread[1]), "error": float(spread[2] - spread[0]) / len(halves) ** 0.5,
            "repeats": len(halves),
        }  # fmt: skip


def draw(results: Results) -> Mapping[str, Any]:
    """Draw the curves of both papers in their layouts."""
    halves = {"M1 to M5": ["M1", "M2", "M3", "M4", "M5"], "M6 to M9": ["M6", "M7", "M8", "M9"]}
    bars = {"M1, M2 and M7": ["M1", "M2", "M7"], "M6 and M9": ["M6", "M9"]}
    late: dict[str, Any] = {"names": THESIS_LABELS, "resamples": (THESIS_RESAMPLES,)}
    expf5: dict[str, Any] = {"domain": "expf5"}
    waves: dict[str, Any] = {"domain": "waveform"}
    return {
        "figure-3": draw_power(results, halves, across="cost ratio", **expf5),
        "figure-4": draw_power(results, halves, **expf5),
        "figure-5": draw_power(results, bars, ranges=True, **expf5),
        "figure-6.4": draw_power(results, thesis_panels("1234", "5678"), **expf5, **late),
        "figure-6.5": draw_power(results, thesis_panels("123", "478"), **waves, **late),
        "figure-6.6": draw_power(
            results, thesis_panels("456", "18", "2", "3"), ranges=True, **expf5, **late
        ),
        "figure-6.7": draw_power(
            results, thesis_panels("1", "2", "3", "4"), ranges=True, **waves, **late
        ),
        "figure-6.8": draw_power(results, thesis_panels("7", "8"), ranges=True, **waves, **late),
        "figure-6.9": draw_power(
            results, thesis_panels("1234", "5678"), across="cost ratio", **expf5, **late
        ),
        "figure-6.10": draw_power(
            results, thesis_panels("123", "578"), across="cost ratio", **waves, **late
        ),
    }


LUCK = (
    "An average over three matrices in the paper. What is not rejected when all labels change is "
    "nearly all due to the rare class: see the range over matrices."
)
EXPERIMENT = Experiment(
    name="bdeltacost-power",
    title="How often BDELTACOST finds a difference of known size",
    source="Margineantu & Dietterich (2000), Figures 3 to 5; Margineantu (2001), 6.4 to 6.10",
    varies={"domain": DOMAINS, "model": PAPER_MODELS},
    measure=measure,
    repeats=1000,
    least=20,
    printed=(
        Printed(
            {"domain": "expf5", "model": "M9", "measure": "not rejected at q = 1000000"},
            0.427, "section 4.2", 0.01, LUCK,
        ),
        Printed(
            {"domain": "expf5", "model": "M6", "measure": "not rejected at q = 1000000"},
            0.092, "section 4.2; thesis, section 6.2.2", 0.01, LUCK,
        ),
        Printed(
            {"domain": "expf5", "measure": "share changed at half power, median of the models"},
            0.03, "section 5, of most matrices",
        ),
    ),
    derive=derive,
    draw=draw,
    skip=unpublished,
    stand_ins=(
        *STAND_INS,
        "Ten matrices a model instead of three, and 1000 test sets for each number of labels.",
        AVERAGED,
        "A changed label becomes any other label, all alike.",
    ),
)  # fmt: skip
