"""stakes costs: check a cost matrix, or write one to fill in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stakes.cli import _options as options
from stakes.cli._inputs import check_name, read_matrix, read_rows
from stakes.cli._options import QuickGroup, add
from stakes.errors import FileError

if TYPE_CHECKING:
    from stakes.costs import CostMatrix

EXAMPLES = {
    "check": (
        "stakes costs check costs.csv",
        "stakes costs check matrix.csv --rows actual",
        "stakes costs check german.cost --classes good,bad",
    ),
    "template": ("stakes costs template predictions.csv --out new_costs.csv",),
}
SEPARATORS = {".csv": ",", ".tsv": "\t"}

Matrix = Annotated[
    Path,
    typer.Argument(metavar="COSTS", help="Cost matrix: a CSV, TSV, JSON or Weka .cost file."),
    options.FileUse.READ,
]
Out = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FILE", help="File to write: .csv or .tsv."),
    options.FileUse.WRITTEN,
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite the file if it exists.")]


def check(
    context: typer.Context,
    matrix: Matrix,
    rows: options.Rows = None,
    classes: options.Classes = None,
) -> None:
    """Print a cost matrix in words, to check it."""
    output = context.obj
    found = read_matrix(matrix, rows, classes)
    for sentence in found.in_words():
        output.text(f"{sentence}.")
    for sentence in _consequences(found):
        output.text()
        output.text(sentence)


def _consequences(costs: CostMatrix) -> list[str]:
    """Return sentences on what follows from the costs, or on what looks wrong."""
    import numpy as np

    from stakes._core.text import number
    from stakes.predictions.classes import TWO, positive_class

    sentences = []
    if np.ptp(costs.values) == 0:
        sentences.append(
            "All decisions cost the same, whatever the class: there is nothing to compare."
        )
        return sentences
    if set(costs.labels) == set(costs.decisions):
        own = costs.values_for(costs.labels, costs.labels)
        for j, label in enumerate(costs.labels):
            cheapest = costs.labels[int(own[:, j].argmin())]
            if own[j, j] > own[:, j].min():
                sentences.append(
                    f"Is that meant? When it was {label!r}, predicting {cheapest!r} costs less "
                    f"than predicting {label!r}. Perhaps rows and columns are swapped: --rows."
                )
        if sentences:
            return sentences
    positive = positive_class(costs, None)
    if len(costs.labels) == TWO and positive is not None:
        wrong = costs.mistake_costs(pos_label=positive)
        share = wrong["false_positive"] / sum(wrong.values())
        sentences.append(
            f"So a missed {positive!r} is as bad as "
            f"{number(wrong['false_negative'] / wrong['false_positive'])} false alarms, and "
            f"{positive!r} is the cheaper decision from a probability of {number(share)} on."
            if wrong["false_positive"] > 0
            else f"So false alarms of {positive!r} cost nothing: always deciding {positive!r} is "
            "the cheapest."
        )
    return sentences


def template(
    context: typer.Context,
    predictions: options.Predictions,
    out: Out,
    columns: options.ColumnOptions,
    force: Force = False,
) -> None:
    """Write a cost matrix to fill in, for the classes of a file."""
    from stakes._core.labels import LabelMatcher, as_meant
    from stakes._core.text import csv_text
    from stakes.predictions.classes import classes_of
    from stakes.predictions.roles import actual_column
    from stakes.predictions.table import Columns, check_columns
    from stakes.read import write_text

    output = context.obj
    check_name(out, tuple(SEPARATORS))
    if out.exists() and not force:
        raise FileError(f"{out}", "it exists already; to overwrite it, use --force.")
    table = read_rows(output, predictions, columns)
    models = Columns(models=columns.models or ()).resolved(table.columns)[0].models
    check_columns(table, [columns.actual, *models])
    actual = actual_column(table, columns.actual)
    labels = classes_of(table, actual)
    decided = as_meant([label for name in models for label in table.labels(name)])
    known = LabelMatcher(labels, "text")
    more = [label for label in decided if not known.knows(label)]
    rows = [
        [decision, *("0" if decision == label else "" for label in labels)]
        for decision in (*labels, *more)
    ]
    text = csv_text(["predicted\\actual", *labels], rows, SEPARATORS[out.suffix.lower()])
    write_text(out, text)
    output.remark(
        f"Wrote {out} with the {len(labels)} classes of {table.source}, column {actual!r}. Fill in "
        "what each decision costs; rows are predicted, columns actual."
    )


app = typer.Typer(
    cls=QuickGroup,
    help="Check a cost matrix, or write one to fill in.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
add(app, sys.modules[__name__], "check")
add(app, sys.modules[__name__], "template")
