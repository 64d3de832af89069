"""Estimates and standard errors agree with R's survey package (tests/golden/survey)."""

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.special import ndtri

from stakes import CostMatrix, evaluate

pytestmark = pytest.mark.filterwarnings("ignore::stakes.errors.NotClaimedWarning")

GOLDEN = Path(__file__).parents[1] / "golden" / "survey"
COSTS = CostMatrix.from_errors(false_positive=1, false_negative=10)
SHARES, ROWS = {"a": 0.6, "b": 0.3, "c": 0.1}, {"a": 600, "b": 300, "c": 100}


def table(name):
    with (GOLDEN / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


DATA = {name: np.array([row[name] for row in table("rows.csv")]) for name in table("rows.csv")[0]}
ACTUAL, DECIDED = DATA["actual"].astype(int), DATA["decided"].astype(int)


def options(design):
    """Return what `evaluate` is told, for the name of a design in the R script."""
    words = design.split(", ")
    told = {}
    if "weights" in words:
        told["sample_weight"] = DATA["weight"].astype(float)
    if "groups" in words:
        told["groups"] = DATA["crossing"]
    if "nested" in words:
        told["groups"] = DATA["nested"]
    if "strata" in words:
        told |= {"strata": DATA["stratum"], "population": ROWS if "rows" in words else SHARES}
    if "priors" in words:
        told["class_priors"] = [0.9, 0.1]
    return told


@pytest.mark.parametrize("row", table("numbers.csv"), ids=lambda row: row["design"])
def test_as_survey(row):
    estimate = evaluate(ACTUAL, DECIDED, COSTS, **options(row["design"]))
    assert estimate.cost == pytest.approx(float(row["mean"]), rel=1e-9)
    interval = estimate.interval(method="normal")
    error = (interval.high - interval.low) / (2 * ndtri(0.975))
    # For weighted rows we keep the sums of weights and of squared weights in each cell, so that
    # n - 1 uses the effective number of rows.
    single = "groups" not in row["design"] and "nested" not in row["design"]
    near = 0.01 if "weights" in row["design"] and single else 1e-9
    assert error == pytest.approx(float(row["error"]), rel=near)
