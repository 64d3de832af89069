"""stakes demo: what three classifiers of breast tumours cost."""

from __future__ import annotations

from pathlib import Path

import typer

EXAMPLES = ("stakes demo",)
DATA = Path(__file__).parent / "example"
CURRENCY = "USD"


def demo(context: typer.Context) -> None:
    """Show what three classifiers of breast tumours cost."""
    from stakes.costs import CostMatrix
    from stakes.read.tables import read_table
    from stakes.show import cost_table
    from stakes.study import Study
    from stakes.study.columns import Table

    output = context.obj
    predictions = DATA / "breast_cancer.csv"
    costs = CostMatrix.read(DATA / "breast_cancer_costs.csv")
    study = Study.from_table(Table(read_table(predictions), predictions.name), costs)
    output.text(
        f"{study.n} breast tumours that three classifiers had not seen. What mistakes cost:"
    )
    for decision, label, cost in costs.cells():
        if cost:
            output.text(f"  calling a {label} tumour {decision}: {cost:,.0f} {CURRENCY}")
    output.text()
    output.table(cost_table(study.estimates(CURRENCY)))
    output.text()
    output.text(study.ranking(CURRENCY).summary(), "bold")
    output.text()
    output.text(f"The data: {predictions}")
    output.text("For your own: stakes evaluate predictions.csv --costs costs.csv")
