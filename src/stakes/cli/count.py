"""stakes count: count predictions into a small file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stakes.cli import _options as options
from stakes.cli._inputs import read_study

EXAMPLES = (
    "stakes count predictions.csv --costs costs.csv --out counts.json",
    "stakes count january.csv -c costs.csv --out january.json --without-scores",
    "stakes count january.csv -c costs.csv --out january.parquet",
    "stakes count january.csv -c costs.csv --groups customer --out january.json",
    "stakes count postgresql://me@host/db --table rows -c costs.csv -o rows.json",
)

Out = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FILE", help="Count file to write: .json or .parquet."),
    options.FileUse.WRITTEN,
]
WithoutScores = Annotated[
    bool, typer.Option("--without-scores", help="Count decisions only. The file is much smaller.")
]


def count(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    amounts: options.AmountOptions,
    columns: options.ColumnOptions,
    groups: options.Groups = None,
    sample_weight: options.SampleWeight = None,
    strata: options.Strata = None,
    out: Out,
    without_scores: WithoutScores = False,
) -> None:
    """Count predictions into a small file to use instead of the rows."""
    from stakes._core.text import number
    from stakes.cli._inputs import check_counts_name, write_counts

    output = context.obj
    check_counts_name(out)
    study = read_study(
        output,
        predictions,
        prices,
        columns,
        amounts=amounts,
        sampling=options.SamplingOptions(groups, sample_weight, strata),
        undecided=not without_scores,
        with_scores=not without_scores,
        gated=True,
    )
    write_counts(out, study.counts())
    output.remark(f"Wrote the counts of {number(study.n)} examples to {out}.")
