"""How many resamples BDELTACOST needs: the thesis's Figures 6.11 to 6.14."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from replications.experiment import Experiment, Printed, Results, Row, Trial, average
from replications.experiments.shared.classifier import STAND_INS, THESIS_NAMES
from replications.experiments.shared.relabelling import draw_power, measure_power, thesis_panels
from replications.experiments.shared.resampling import AVERAGED

CHANGED = (0, 1000, 2000, 3000, 4000, 5000, 6000, 8000, 10_000)
RESAMPLES = (100, 300, 500)
DOMAINS = ("expf5", "waveform")


def measure(trial: Trial, *, domain: str, model: str) -> Iterator[Row]:
    """Measure the first part of the power curves, for each number of resamples."""
    yield from measure_power(trial, domain, model, changed=CHANGED, resamples=(*RESAMPLES, 1000))


def derive(rows: Sequence[Row]) -> Iterator[Row]:
    """Return how much more is rejected with fewer resamples, averaged over models and q."""
    for domain in DOMAINS:
        rejected = {
            (row["model"], row["q"], row["resamples"]): row
            for row in rows
            if row["domain"] == domain and row["measure"] == "rejected" and "resamples" in row
        }
        for number in RESAMPLES:
            more = [
                float(rejected[model, q, number]["value"]) - float(row["value"])
                for (model, q, count), row in rejected.items()
                if count == 1000  # noqa: PLR2004 - the paper's number
            ]
            if more:
                name = "rejected above that of 1000 resamples"
                yield average(name, more, domain=domain, resamples=number)


def draw(results: Results) -> Mapping[str, Any]:
    """Draw the power curves of the three numbers of resamples, with a panel for each model."""
    groups = {
        "figure-6.11": ("expf5", "1234"),
        "figure-6.12": ("expf5", "5678"),
        "figure-6.13": ("waveform", "1234"),
        "figure-6.14": ("waveform", "78"),
    }
    return {
        name: draw_power(
            results, thesis_panels(*models), domain=domain, resamples=RESAMPLES, highest=CHANGED[-1]
        )
        for name, (domain, models) in groups.items()
    }


EXPERIMENT = Experiment(
    name="bdeltacost-resamples",
    title="How many resamples BDELTACOST needs",
    source="Margineantu (2001), Figures 6.11 to 6.14",
    varies={"domain": DOMAINS, "model": tuple(THESIS_NAMES)},
    measure=measure,
    repeats=1000,
    least=20,
    printed=tuple(
        Printed(
            {
                "domain": domain, "resamples": number,
                "measure": "rejected above that of 1000 resamples",
            },
            float("nan"),
            "thesis, section 6.2.2: 100 resamples give narrower intervals than 300 or 500",
        )
        for domain in DOMAINS
        for number in RESAMPLES
    ),
    derive=derive,
    draw=draw,
    stand_ins=(
        *STAND_INS,
        "The curves of all numbers of resamples are of the same test sets.",
        AVERAGED,
    ),
)  # fmt: skip
