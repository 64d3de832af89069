"""Use the installed package as a new user would: python smoke.py [EXTRA].

Without an extra, no optional dependency may be installed.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import stakes

OPTIONAL = [
    *("altair", "duckdb", "matplotlib", "mlflow", "numba"),
    *("pandas", "polars", "pyarrow", "typer"),
]
ACTUAL = [0, 0, 0, 1, 1] * 8
DECIDED = {"careful": [0, 1, 1, 1, 1] * 8, "careless": [0, 0, 0, 0, 1] * 8}
SCORES = [0.1, 0.3, 0.6, 0.4, 0.9] * 8
COSTS = stakes.CostMatrix.from_errors(false_positive=1, false_negative=10)


def core() -> None:
    """Check the place, files and names of the package, and evaluate two classifiers."""
    place = Path(stakes.__file__).parent
    if "site-packages" not in place.parts:
        raise SystemExit(f"stakes was imported from {place}, not from the wheel")
    if not (place / "py.typed").exists() or not (place / "__init__.pyi").exists():
        raise SystemExit("the wheel lacks py.typed or __init__.pyi")
    for name in stakes.__all__:
        getattr(stakes, name)
    estimates = {name: stakes.evaluate(ACTUAL, decided, COSTS) for name, decided in DECIDED.items()}
    expect([estimate.cost for estimate in estimates.values()], [0.4, 2.0])
    print(stakes.show.cost_table(estimates))


def alone() -> None:
    """Check that no optional package is installed, and that the command names the missing extra."""
    extra = [name for name in OPTIONAL if importlib.util.find_spec(name)]
    if extra:
        raise SystemExit(f"installed without being required: {', '.join(extra)}")
    said = subprocess.run(  # noqa: S603
        [command(), "demo"], capture_output=True, text=True, check=False
    )
    expect((said.returncode, "pip install 'stakes[cli]'" in said.stderr), (2, True))


def plot() -> None:
    """Draw a cost curve."""
    from matplotlib import use

    use("agg")
    curve = stakes.CostCurve.from_scores(ACTUAL, SCORES, pos_label=1)
    display = stakes.show.CostCurveDisplay(curve).plot()
    display.figure_.savefig("curve.png")
    expect(Path("curve.png").read_bytes()[1:4], b"PNG")


def report() -> None:
    """Write a report."""
    from stakes import study_of
    from stakes.findings import findings

    found = findings(study_of(ACTUAL, DECIDED, COSTS))
    stakes.show.write_report(found, "report.html")
    expect("careless" in Path("report.html").read_text(encoding="utf-8"), right=True)


def cli() -> None:
    """Run commands."""
    Path("predictions.csv").write_text(_csv(), encoding="utf-8")
    given = ["predictions.csv", "--fp", "1", "--fn", "10", "--pos-label", "1"]
    expect("careless" in run("evaluate", *given), right=True)
    expect("bcost" in run("simulate", "coverage", *given, "--repeats", "50"), right=True)


def ci() -> None:
    """Write the result of a gate as JUnit XML."""
    Path("predictions.csv").write_text(_csv(), encoding="utf-8")
    given = ["predictions.csv", "--fp", "1", "--fn", "10", "--baseline", "careless", "--gate"]
    run("compare", *given, "--junit", "gate.xml")
    expect("<testcase" in Path("gate.xml").read_text(encoding="utf-8"), right=True)


def databases() -> None:
    """Check that the error for a missing server hides the password."""
    from stakes.errors import FileError
    from stakes.read.remote import read_remote

    try:
        read_remote("postgresql://me:secret@127.0.0.1:1/db", table="predictions")
    except FileError as error:
        expect("secret" not in str(error) and "me:***@" in str(error), right=True)
    else:
        raise SystemExit("expected an error, since there is no server")


def excel() -> None:
    """Evaluate a workbook."""
    import openpyxl

    book = openpyxl.Workbook()
    for line in _csv().splitlines():
        book.active.append([int(each) if each.isdigit() else each for each in line.split(",")])
    book.save("predictions.xlsx")
    expect("careless" in run("evaluate", "predictions.xlsx", "--fp", "1", "--fn", "10"), right=True)


def _csv() -> str:
    """Return the predictions as text."""
    columns = {"actual": ACTUAL, **DECIDED}
    rows = zip(*columns.values(), strict=True)
    return "\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]) + "\n"


def trees() -> None:
    """Grow trees."""
    from stakes.learn import LazyOptionTreeClassifier

    rows = [[score] for score in SCORES]
    proba = LazyOptionTreeClassifier().fit(rows, ACTUAL).predict_proba(rows)
    expect(proba.shape, (len(ACTUAL), 2))


def mlflow() -> None:
    """Log costs to a run."""
    import mlflow

    from stakes import study_of
    from stakes.track import log_to_mlflow

    mlflow.set_tracking_uri("sqlite:///mlflow.db")
    with mlflow.start_run() as started:
        log_to_mlflow(study_of(ACTUAL, DECIDED, COSTS), report=False)
    expect(mlflow.get_run(started.info.run_id).data.metrics["careful/cost"], 0.4)


def engines() -> None:
    """Count in a database and in a lazy frame."""
    import duckdb
    import polars as pl

    frame = pl.DataFrame({"actual": ACTUAL, "decided": DECIDED["careful"]})
    relation = duckdb.sql("SELECT * FROM frame")
    expected = stakes.Confusion.from_labels(ACTUAL, DECIDED["careful"])
    for each in (frame, frame.lazy(), relation):
        expect(stakes.Confusion.from_frame(each, actual="actual", predicted="decided"), expected)


def command() -> str:
    """Return the path of the installed command."""
    return str(Path(sys.executable).with_name("stakes"))


def run(*arguments: str) -> str:
    """Run the installed command."""
    said = subprocess.run(  # noqa: S603
        [command(), *arguments], check=False, capture_output=True, text=True
    )
    if said.returncode != 0:
        raise SystemExit(f"stakes {' '.join(arguments)} failed: {said.stderr}")
    return said.stdout


def expect(found: object, right: object) -> None:
    """Exit with a message if a value is not the expected one."""
    if found != right:
        raise SystemExit(f"expected {right}, got {found}")


EXTRAS: dict[str, Callable[[], None]] = {
    each.__name__: each
    for each in (plot, report, cli, trees, ci, databases, excel, mlflow, engines)
}


def main() -> None:
    """Try the package, and an extra if one is named."""
    core()
    (EXTRAS[sys.argv[1]] if sys.argv[1:] else alone)()
    what = f"with its extra {sys.argv[1]!r}" if sys.argv[1:] else "alone"
    print(f"\nstakes {stakes.__version__} works from its wheel, {what}.")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
