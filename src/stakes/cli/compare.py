"""stakes compare: how models differ in cost, and a gate that stops a costlier one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from stakes.cli import _inputs as options
from stakes.cli._inputs import read_study, sampling_note, show_caution
from stakes.errors import InputTypeError

if TYPE_CHECKING:
    from stakes.findings.data import Costs, Data, RunSettings
    from stakes.findings.pairs import ComparedPair, GateResult
    from stakes.infer import TestResult
    from stakes.study import Study

EXAMPLES = (
    "stakes compare predictions.csv --costs costs.csv",
    "stakes compare predictions.csv -c costs.csv --baseline logistic",
    "stakes compare predictions.csv -c costs.csv --baseline old --margin 2 --gate",
    "stakes compare predictions.csv -c costs.csv --groups patient --weight weight",
)
SCHEMA = "stakes-compare/2"


@dataclass(frozen=True)
class Comparison:
    """What `stakes compare` finds.

    Attributes
    ----------
    schema : str
        The name and version of this layout.
    data : Data
        The examples.
    costs : Costs
        The cost matrix.
    settings : RunSettings
        What the command was told.
    baseline : str or None
        The model that the others are compared with, as given.
    margin : float or None
        How much more than the baseline a model may cost, as given.
    pairs : tuple of ComparedPair
        Each pair of models, or each model with the baseline.
    tests : tuple of TestResult
        With a margin, for each pair the test that the first costs less than that much more.
    summary : str
        The answer in a sentence; empty with a baseline.
    gate : GateResult or None
        Which models pass, and which fail; null where no gate was asked for.
    """

    schema: str
    data: Data
    costs: Costs
    settings: RunSettings
    baseline: str | None
    margin: float | None
    pairs: tuple[ComparedPair, ...]
    tests: tuple[TestResult, ...]
    summary: str
    gate: GateResult | None


Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline", metavar="MODEL", help="The model that the others are compared with."
    ),
]
Margin = Annotated[
    float | None,
    typer.Option(
        "--margin",
        metavar="COST",
        help="How much more than the baseline a model may cost, per decision.",
    ),
]
AskGate = Annotated[
    bool,
    typer.Option(
        "--gate",
        help="Exit with 1 if a model is shown to cost more than the baseline; with --margin, "
        "unless all are shown to cost less than that much more.",
    ),
]


def compare(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    amounts: options.AmountOptions,
    columns: options.ColumnOptions,
    sampling: options.SamplingOptions,
    baseline: Baseline = None,
    margin: Margin = None,
    gate: AskGate = False,
    confidence: options.Confidence = 0.95,
    class_priors: options.ClassPriors = None,
    unit: options.Unit = "",
    seed: options.Seed = 0,
    json: options.Json = None,
) -> int:
    """Say how models differ in cost; --gate stops a costlier one."""
    from stakes.infer.gate import checked_margin
    from stakes.show.text import pair_table

    output = context.obj
    if baseline is None and (gate or margin is not None):
        raise InputTypeError(
            "--gate" if gate else "--margin",
            "which model are the others compared with?",
            "Name it with --baseline.",
        )
    margin = None if margin is None else checked_margin(margin)
    output.will_write(json, inputs=[*predictions, prices.costs])
    output.only_json(json)
    study = read_study(
        output,
        predictions,
        prices,
        columns,
        amounts=amounts,
        sampling=sampling,
        confidence=confidence,
        class_priors=class_priors,
        with_scores=False,
    )
    found = _found(study, unit, seed, baseline, margin, gate=gate)
    if drawn := sampling_note(found.data).strip():
        output.text(drawn)
        output.text()
    output.table(pair_table(found.pairs, unit, study.confidence))
    for sentence in [found.summary] if found.summary else [each.summary() for each in found.tests]:
        output.text()
        output.text(sentence, "bold")
    if found.gate is not None:
        output.text()
        output.text(f"Gate: {found.gate.rule}")
        output.text(found.gate.summary, "bold green" if found.gate.passed else "bold red")
    show_caution(output, found.data)
    output.results(found)
    return 0 if found.gate is None or found.gate.passed else 1


def _found(
    study: Study,
    unit: str,
    seed: int,
    baseline: str | None,
    margin: float | None,
    *,
    gate: bool,
) -> Comparison:
    """Compare every pair of models, or each model with the baseline."""
    from stakes.findings.data import costs_of_study, data_of, run_settings_of
    from stakes.findings.pairs import compared_pairs, gate_of

    ranking, sure = study.ranking(unit), study.confidence
    checked = None
    if baseline is None:
        pairs = ranking.pairwise(confidence=sure, rng=seed)
        summary = ranking.summary(sure)
    else:
        checked = ranking.gate(baseline, margin=margin, confidence=sure)
        pairs, summary = list(checked.pairs), ""
    return Comparison(
        schema=SCHEMA,
        data=data_of(study),
        costs=costs_of_study(study),
        settings=run_settings_of(study, unit, seed=seed),
        baseline=baseline,
        margin=margin,
        pairs=compared_pairs(ranking, pairs),
        tests=() if checked is None else checked.tests,
        summary=summary,
        gate=gate_of(checked) if gate and checked is not None else None,
    )
