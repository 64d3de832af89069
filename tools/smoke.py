"""Use the installed package as a newcomer would, with its required dependencies only."""

import importlib.util
from pathlib import Path

import stakes

OPTIONAL = ["matplotlib", "pandas", "polars", "pyarrow"]


def main() -> None:
    """Evaluate two classifiers, and say where the package was found."""
    place = Path(stakes.__file__).parent
    if "site-packages" not in place.parts:
        raise SystemExit(f"stakes was imported from {place}, not from the wheel")
    if not (place / "py.typed").exists() or not (place / "__init__.pyi").exists():
        raise SystemExit("the wheel lacks py.typed or __init__.pyi")
    for name in stakes.__all__:
        getattr(stakes, name)

    costs = stakes.CostMatrix.from_errors(false_positive=1, false_negative=10)
    estimates = {
        name: stakes.evaluate([0, 0, 0, 1, 1], y_pred, costs)
        for name, y_pred in {"careful": [0, 1, 1, 1, 1], "careless": [0, 0, 0, 0, 1]}.items()
    }
    if [estimate.cost for estimate in estimates.values()] != [0.4, 2.0]:
        raise SystemExit(f"wrong costs: {estimates}")
    print(stakes.show.cost_table(estimates))
    extra = [name for name in OPTIONAL if importlib.util.find_spec(name)]
    if extra:
        raise SystemExit(f"installed without being required: {', '.join(extra)}")
    print(f"\nstakes {stakes.__version__} works from its wheel.")


if __name__ == "__main__":
    main()
