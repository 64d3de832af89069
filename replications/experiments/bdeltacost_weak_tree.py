"""BDELTACOST with trees of depth two: the thesis's Figures 6.15 and 6.16."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from replications.experiment import Experiment, Printed, Results, Row, Trial
from replications.experiments.shared.classifier import (
    PAPER_MODELS,
    STAND_INS,
    THESIS_LABELS,
    THESIS_NAMES,
)
from replications.experiments.shared.relabelling import (
    MILLION,
    draw_power,
    half_power,
    measure_power,
    thesis_panels,
)
from replications.experiments.shared.resampling import AVERAGED

CHANGED = (0, 1000, 2000, 5000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000, MILLION)
DOMAINS = ("expf5", "waveform")
RESAMPLES = 500


def measure(trial: Trial, *, domain: str, model: str) -> Iterator[Row]:
    """Measure the power with weak trees."""
    yield from measure_power(
        trial, domain, model, changed=CHANGED, resamples=(RESAMPLES,), weak=True
    )


def derive(rows: Sequence[Row]) -> Iterator[Row]:
    """Return where the power reaches one half."""
    for domain in DOMAINS:
        for model in THESIS_NAMES:
            curve = [
                row
                for row in rows
                if (row["domain"], row["model"]) == (domain, model)
                and row["measure"] == "rejected"
                and row["method"] == "bdeltacost"
            ]
            if not curve:
                continue
            shares = {int(row["q"]): float(row["q"]) / MILLION for row in curve}
            half, error = half_power(curve, shares)
            yield {
                "domain": domain, "model": model, "measure": "share changed at half power",
                "value": half, "error": error, "repeats": int(curve[0]["repeats"]),
            }  # fmt: skip


def draw(results: Results) -> Mapping[str, Any]:
    """Draw the curves in the thesis's layout."""
    late: dict[str, Any] = {"names": THESIS_LABELS, "resamples": (RESAMPLES,)}
    return {
        "figure-6.15": draw_power(results, thesis_panels("1234", "5678"), domain="expf5", **late),
        "figure-6.16": draw_power(results, thesis_panels("123", "478"), domain="waveform", **late),
    }


EXPERIMENT = Experiment(
    name="bdeltacost-weak-tree",
    title="BDELTACOST on classifiers little better than guessing",
    source="Margineantu (2001), Figures 6.15 and 6.16",
    varies={"domain": DOMAINS, "model": tuple(m for m in PAPER_MODELS if m in THESIS_NAMES)},
    measure=measure,
    repeats=1000,
    least=20,
    printed=tuple(
        Printed(
            {
                "domain": "expf5", "model": model, "measure": "rejected", "q": 0,
                "method": "bdeltacost",
            },
            float("nan"),
            "thesis, section 6.2.2: rejects falsely with high costs, most of all in M6",
            name=THESIS_LABELS[model],
        )
        for model in THESIS_NAMES
    ),
    derive=derive,
    draw=draw,
    stand_ins=(
        *STAND_INS,
        AVERAGED,
        "The trees of depth two ignore the costs, as in the thesis; at least two examples a leaf.",
    ),
)  # fmt: skip
