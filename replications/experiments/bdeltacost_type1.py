"""Type I error of BDELTACOST: Table 6 and the thesis's Table 6.4.

Also its dependence on a Laplace correction (section 4.2), and the type I error under an asymmetric
null hypothesis: the papers' two classifiers have the same confusion matrix, so a difference is as
often above zero as below. This need not hold for classifiers with equal costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from replications.experiment import Experiment, Printed, Results, Row, Trial, Value, share
from replications.experiments.shared.classifier import (
    PAPER_MODELS,
    STAND_INS,
    TEST,
    THESIS_LABELS,
    THESIS_NAMES,
    draw_tables,
    matrices,
    over_matrices,
    permuted,
    unpublished,
)
from replications.experiments.shared.resampling import (
    ALPHA,
    AVERAGED,
    chances,
    outside,
)
from stakes.infer._outcomes import Outcomes, make_stratum
from stakes.infer.batch import batch_outcomes, batch_p_values
from stakes.show._drawing import GREY, MARKERS, line_look, pyplot

DOMAINS = ("expf5", "expf5-bands", "waveform", "asymmetric")
LOPSIDED = "+100 or -1"
RESAMPLES = (1000, 500)
CORRECTIONS = (0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5)

LOPSIDED_SIZE = 10_000
LOPSIDED_COSTS = np.array([-1.0, 0.0, 100.0])
EXPECTED = (0.1, 0.3, 0.6, 1.2, 3.0, 6.0, 12.0, 20.0)
"""Expected numbers of the costly difference in a test set."""


def measure(trial: Trial, *, domain: str, model: str) -> Iterator[Row]:
    """Measure how often tests reject equal costs."""
    if domain == "asymmetric":
        yield from _lopsided(trial)
        return
    kept: dict[tuple[str, int], list[float]] = {}
    corrected: dict[float, list[float]] = {each: [] for each in CORRECTIONS}
    for each in matrices(domain, model, trial.seed, TEST * trial.repeats):
        tables = draw_tables(permuted(each.shares), trial.repeats, trial.rng)
        outcomes = batch_outcomes(tables, each.costs)
        for correction in CORRECTIONS:
            sides = chances(outcomes, 0.0, laplace=correction)
            corrected[correction].append(float(outside(*sides, RESAMPLES[0]).mean()))
            if correction == 0:
                for number in RESAMPLES:
                    misses = float(outside(*sides, number).mean())
                    kept.setdefault(("bdeltacost", number), []).append(1 - misses)
        for method in ("extremal", "normal"):
            accepted = batch_p_values(outcomes, method) > ALPHA
            kept.setdefault((method, 0), []).append(float(accepted.mean()))
    for (method, number), values in kept.items():
        keys = {"method": method} | ({"resamples": number} if number else {})
        yield over_matrices("not rejected", values, trial.repeats, **keys)
    for correction, values in corrected.items():
        yield over_matrices("rejected", values, trial.repeats, laplace=correction)


def _lopsided(trial: Trial) -> Iterator[Row]:
    """Measure tests of equal costs where the difference is rarely +100 and often -1."""
    tables = 10 * trial.repeats
    for often in EXPECTED:
        rare = often / LOPSIDED_SIZE
        chance = np.array([100 * rare, 1 - 101 * rare, rare])
        counts = trial.rng.multinomial(LOPSIDED_SIZE, chance, tables)
        outcomes = Outcomes((make_stratum(LOPSIDED_COSTS, counts, scale=100.0),))
        sides = chances(outcomes, 0.0, spacing=1.0)
        for method, rejected in {
            "bdeltacost": outside(*sides, RESAMPLES[0]),
            "normal": batch_p_values(outcomes, "normal") <= ALPHA,
            "extremal": batch_p_values(outcomes, "extremal") <= ALPHA,
        }.items():
            yield share("rejected", float(rejected.sum()), tables, method=method, expected=often)


def derive(rows: Sequence[Row]) -> Iterator[Row]:
    """Return the highest rejection rate with any λ above 0, and with λ of 0.1 or more."""
    for domain in DOMAINS[:-1]:
        for model in PAPER_MODELS:
            curve = [
                row
                for row in rows
                if (row["domain"], row["model"]) == (domain, model) and "laplace" in row
            ]
            for least, name in ((0.001, "λ above 0"), (0.1, "λ of 0.1 or more")):
                some = [row for row in curve if float(row["laplace"]) >= least]
                if some:
                    most = max(some, key=lambda row: float(row["value"]))
                    yield {
                        "domain": domain, "model": model,
                        "measure": f"rejected at most with {name}", "value": most["value"],
                        "error": most["error"], "repeats": most["repeats"],
                    }  # fmt: skip


def draw(results: Results) -> Mapping[str, Any]:
    """Draw the table, the effect of λ, and the asymmetric null hypothesis."""
    return {
        "table-6": _table(results),
        "laplace": _laplace(results),
        "asymmetric": _asymmetric(results),
    }


def _table(results: Results) -> Any:
    figure, axes = pyplot().subplots(1, 3, figsize=(10, 4), sharey=True, layout="constrained")
    shown = ("bdeltacost", "normal", "extremal")
    shown_of = {"expf5": RESAMPLES[0], "expf5-bands": 0, "waveform": RESAMPLES[1]}
    for ax, domain in zip(axes, DOMAINS, strict=False):
        for number, method in enumerate(shown):
            keys = {"resamples": RESAMPLES[0]} if method == "bdeltacost" else {}
            rows = results.select(domain=domain, method=method, measure="not rejected", **keys)
            ax.errorbar(
                np.arange(len(rows)) + 0.2 * (number - 1), [row["value"] for row in rows],
                [2 * float(row["error"]) for row in rows], fmt=MARKERS[number],
                color=line_look(number)["color"], label=method, markersize=5,
            )  # fmt: skip
        ax.set_xticks(range(len(rows)), [str(row["model"]) for row in rows])
        ax.axhline(0.95, color=GREY, linewidth=1)
        ax.set(title=domain, xlabel="cost model")
        for printed in EXPERIMENT.printed:
            where = printed.where
            if where["domain"] == domain and where.get("resamples") == shown_of[domain]:
                place = list(PAPER_MODELS).index(str(where["model"]))
                ax.plot(place - 0.2, printed.value, "_", color="black", markersize=14)
    axes[-1].plot([], [], "_", color="black", markersize=14, label="printed (BDELTACOST)")
    axes[0].set_ylabel("not rejected (bars: 2 standard errors)")
    axes[-1].legend(loc="upper left")
    return figure


def _laplace(results: Results) -> Any:
    figure, axes = pyplot().subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
    groups = (("M1", "M2", "M3", "M4", "M5"), ("M6", "M7", "M8", "M9"))
    for ax, models in zip(axes, groups, strict=True):
        for number, model in enumerate(models):
            rows = [
                row for row in results.select(domain="expf5", model=model, measure="rejected")
                if "laplace" in row
            ]  # fmt: skip
            ax.plot(
                [row["laplace"] for row in rows], [row["value"] for row in rows], label=model,
                marker=MARKERS[number], markersize=4, **line_look(number),
            )  # fmt: skip
        ax.set_xscale("symlog", linthresh=0.001, linscale=0.5)
        ax.axhline(ALPHA, color=GREY, linewidth=1)
        ax.set(xlabel="λ", title="expf5")
        ax.legend()
    axes[0].set_ylabel("rejected though equal")
    return figure


def _asymmetric(results: Results) -> Any:
    figure, ax = pyplot().subplots(figsize=(6, 4), layout="constrained")
    for number, method in enumerate(("bdeltacost", "normal", "extremal")):
        rows = results.select(domain="asymmetric", method=method, measure="rejected")
        ax.plot(
            [row["expected"] for row in rows], [row["value"] for row in rows], label=method,
            marker=MARKERS[number], markersize=5, **line_look(number),
        )  # fmt: skip
    ax.axhline(ALPHA, color=GREY, linewidth=1)
    ax.set(
        xscale="log", xlabel="n·p of the costly difference",
        ylabel="rejected though equal", title="+100 rarely, -1 a hundred times as often",
    )  # fmt: skip
    ax.legend()
    return figure


TABLE_6 = (0.94883, 0.95050, 0.94826, 0.95046, 0.95116, 0.93403, 0.94376, 0.94996, 0.93206)
TABLE_6_4 = {
    "M1": (0.94860, 0.94780), "M2": (0.95016, 0.94926), "M3": (0.94970, 0.94710),
    "M4": (0.94853, 0.94570), "M5": (0.93044, 0.94710), "M6": (0.94620, 0.94710),
    "M7": (0.94996, 0.94410), "M8": (0.94592, 0.94648),
}  # fmt: skip


def _printed() -> Iterator[Printed]:
    table = {"method": "bdeltacost", "measure": "not rejected"}
    where: dict[str, Value]
    for model, value in zip(PAPER_MODELS, TABLE_6, strict=True):
        where = {"domain": "expf5", "model": model, "resamples": 1000, **table}
        yield Printed(where, value, "Table 6")
    for model, name in THESIS_NAMES.items():
        for domain, value in zip(("expf5", "waveform"), TABLE_6_4[name], strict=True):
            where = {"domain": domain, "model": model, "resamples": 500, **table}
            label = f"{domain} {THESIS_LABELS[model]}"
            yield Printed(where, value, "thesis, Table 6.4", name=label)
    for model in ("M6", "M7", "M9"):
        where = {"domain": "expf5", "model": model}
        yield Printed(
            {**where, "measure": "rejected at most with λ above 0"},
            0.0, "section 4.2", 0.005, shown="below 0.005", why=
            "As λ goes to 0 the test becomes that of λ = 0; the paper does not name the λ it took.",
        )  # fmt: skip
        yield Printed(
            {**where, "measure": "rejected at most with λ of 0.1 or more"},
            0.0, "section 4.2", 0.005, shown="below 0.005",
        )  # fmt: skip


EXPERIMENT = Experiment(
    name="bdeltacost-type1",
    title="How often BDELTACOST rejects though the costs are equal",
    source="Margineantu & Dietterich (2000), Table 6, section 4.2; Margineantu (2001), Table 6.4",
    varies={"domain": DOMAINS, "model": (*PAPER_MODELS, LOPSIDED)},
    measure=measure,
    repeats=1000,
    least=20,
    printed=tuple(_printed()),
    derive=derive,
    draw=draw,
    skip=lambda domain, model: (
        (domain == "asymmetric") != (model == LOPSIDED)
        or unpublished(domain, model)
    ),
    stand_ins=(
        *STAND_INS,
        AVERAGED,
        ("Not in the papers is the asymmetric null hypothesis: 10000 examples, on which the costs "
        "differ by +100 rarely, and by -1 a hundred times as often."),
    ),
)  # fmt: skip
