"""stakes curve: which model is cheapest under which conditions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stakes.cli import options
from stakes.cli.files import check_name
from stakes.cli.inputs import costs_if_given, read_study

EXAMPLES = (
    "stakes curve predictions.csv --costs costs.csv",
    "stakes curve predictions.csv --fp 1 --fn 50 --pos-label fraud",
    "stakes curve predictions.csv -c costs.csv --prevalence 0.01",
    "stakes curve predictions.csv -c costs.csv --out curve.svg --csv curve.csv",
)
SCHEMA = "stakes-curve/1"
PICTURES = (".png", ".svg", ".pdf")

Prevalence = Annotated[
    float | None,
    typer.Option(
        "--prevalence",
        metavar="SHARE",
        help="The share of positives in use; by default that of the examples.",
    ),
]
Simultaneous = Annotated[
    bool, typer.Option("--simultaneous", help="Have bands hold at all conditions at once.")
]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", metavar="FILE", help="Draw the curves: .png, .svg or .pdf."),
]
Csv = Annotated[
    Path | None,
    typer.Option("--csv", metavar="FILE", help="Write the curves and bands as a table."),
]


def curve(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    columns: options.ColumnOptions,
    prevalence: Prevalence = None,
    confidence: options.Confidence = 0.95,
    simultaneous: Simultaneous = False,
    currency: options.Currency = "",
    out: Out = None,
    csv: Csv = None,
    json: options.Json = None,
) -> None:
    """Say which model is cheapest under which prevalence and costs."""
    from stakes.cli.curves import NO_COSTS, Curves, drawn
    from stakes.cli.output import csv_text
    from stakes.cli.progress import Progress

    output = context.obj
    check_name(out, PICTURES)
    output.will_write(out, csv, json, inputs=[*predictions, prices.costs])
    output.only_json(json)
    costs = costs_if_given(prices)
    study = read_study(
        output,
        predictions,
        prices,
        columns,
        costs=costs or NO_COSTS,
        confidence=confidence,
        undecided=True,
    )
    with Progress(shown=not output.quiet) as progress:
        found = Curves.of(
            study,
            prevalence=prevalence,
            priced=costs is not None,
            simultaneous=simultaneous,
            progress=progress,
        )
    for part in found.said(currency):
        if part.startswith("|"):
            output.table(part[1:])
        else:
            output.text(part)
    if out is not None:
        output.write_binary(out, drawn(found, out.suffix.lower()[1:]))
    if csv is not None:
        output.write_text(csv, csv_text(*found.rows()))
    output.results({"schema": SCHEMA, **found.to_dict()})
