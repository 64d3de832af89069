"""What do three classifiers of breast tumours cost? Run by ``make demo``."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stakes import CostMatrix, compare_many, evaluate
from stakes.show import cost_table

HERE = Path(__file__).parent


def main() -> None:
    """Read the predictions and the costs, and print what each classifier costs."""
    table = np.genfromtxt(
        HERE / "breast_cancer.csv", delimiter=",", names=True, dtype=None, encoding="utf-8"
    )
    costs = CostMatrix.read(HERE / "breast_cancer_costs.csv")
    estimates = {
        name: evaluate(table["actual"], table[name], costs)
        for name in ("logistic", "tree", "discriminant")
    }
    print(f"{len(table)} breast tumours that the classifiers had not seen. What mistakes cost:")
    for decision, label, cost in costs.cells():
        if cost:
            print(f"  calling a {label} tumour {decision}: ${cost:,.0f}")
    print(f"\n{cost_table(estimates)}\n")

    predictions = {name: table[name] for name in estimates}
    print(compare_many(table["actual"], predictions, costs, unit="dollars").summary())
    cheapest = min(estimates, key=lambda name: estimates[name].cost)
    decision, always = estimates[cheapest].best_trivial()
    for name, estimate in estimates.items():
        if estimate.cost > always.cost:
            print(f"{name} costs more than calling every tumour {decision} without looking.")


if __name__ == "__main__":
    main()
