"""stakes compare: how models differ in cost, and a gate that stops a costlier one."""

from __future__ import annotations

from typing import Annotated

import typer

from stakes.cli import options
from stakes.cli.inputs import read_study
from stakes.errors import InputError, InputTypeError

EXAMPLES = (
    "stakes compare predictions.csv --costs costs.csv",
    "stakes compare predictions.csv -c costs.csv --baseline logistic",
    "stakes compare predictions.csv -c costs.csv --baseline old --margin 2 --gate",
)
SCHEMA = "stakes-compare/1"

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
Gate = Annotated[
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
    columns: options.ColumnOptions,
    baseline: Baseline = None,
    margin: Margin = None,
    gate: Gate = False,
    confidence: options.Confidence = 0.95,
    class_priors: options.ClassPriors = None,
    currency: options.Currency = "",
    seed: options.Seed = 0,
    json: options.Json = None,
) -> int:
    """Say how models differ in cost; --gate stops a costlier one."""
    from stakes.cli.comparisons import against, every_pair

    output = context.obj
    if baseline is None and (gate or margin is not None):
        raise InputTypeError(
            f"{'--gate' if gate else '--margin'}: which model are the others compared with? Name "
            "it with --baseline."
        )
    if margin is not None and not 0 <= margin < float("inf"):
        raise InputError(f"--margin: expected how much more a model may cost, got {margin:g}.")
    output.will_write(json, inputs=[*predictions, prices.costs])
    output.only_json(json)
    study = read_study(
        output,
        predictions,
        prices,
        columns,
        confidence=confidence,
        class_priors=class_priors,
        with_scores=False,
    )
    if baseline is None:
        found = every_pair(study, currency, seed)
    else:
        found = against(study, baseline, currency, margin)
    output.table(found.table())
    for sentence in found.said():
        output.text()
        output.text(sentence, "bold")
    failed = found.failed() if gate else []
    if gate:
        output.text()
        output.text(f"Gate: {found.rule()}")
        output.text(found.outcome(), "bold red" if failed else "bold green")
    output.results({"schema": SCHEMA, **found.to_dict(), "gate": found.gate() if gate else None})
    return 1 if failed else 0
