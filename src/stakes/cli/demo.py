"""stakes demo: a report on three models of breast tumours."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from stakes.cli._inputs import check_name
from stakes.cli._options import FileUse
from stakes.cli.report import write

EXAMPLES = ("stakes demo", "stakes demo --out tumours.html", "stakes demo --files")
DATA = Path(__file__).parents[1] / "datasets"
UNIT, VOLUME, PER = "USD", 10_000, "year"

Out = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FILE", help="Page to write."),
    FileUse.WRITTEN,
]
Files = Annotated[
    bool,
    typer.Option("--files", help="Also write the predictions and the costs, to try commands on."),
]


def demo(
    context: typer.Context, *, out: Out = Path("stakes-demo.html"), files: Files = False
) -> None:
    """Try stakes: write a report on three models of breast tumours."""
    from stakes.costs import CostMatrix
    from stakes.findings.data import Settings
    from stakes.predictions import ArrowTable
    from stakes.read import read_text, write_text
    from stakes.read.tables import read_table
    from stakes.study import Study

    output = context.obj
    predictions, prices = DATA / "breast_cancer.csv", DATA / "breast_cancer_costs.csv"
    copies = {each: out.parent / each.name for each in (predictions, prices) if files}
    check_name(out, (".html", ".htm"))
    output.will_write(*copies.values())
    costs = CostMatrix.read(prices)
    study = Study.from_table(ArrowTable.of_file(read_table(predictions), predictions.name), costs)
    command = (
        f"stakes report {predictions.name} --costs {prices.name} "
        f"--volume {VOLUME} --per {PER} --unit {UNIT}"
    )
    output.text(f"{study.n} breast tumours that three models had not seen. What mistakes cost:")
    for decision, label, cost in costs.cells():
        if cost:
            output.text(f"  calling a {label} tumour {decision}: {cost:,.0f} {UNIT}")
    output.text()
    settings = Settings(unit=UNIT, volume=VOLUME, per=PER, command=command)
    write(output, study, settings, out)
    for original, copy in copies.items():
        write_text(copy, read_text(original))
    output.text("Open it in a browser. For your own predictions and costs:")
    output.text("  stakes report predictions.csv --costs costs.csv")
    if files:
        output.text(f"Predictions and costs are in {' and '.join(map(str, copies.values()))}.")
