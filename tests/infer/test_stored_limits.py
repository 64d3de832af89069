"""Stored limits, which must not change unnoticed when their computation changes.

Other tests check that limits are right, within their precision. These check that limits are the
same as before, except for the last four digits. If limits are meant to change, rewrite them with
``python -m tests.infer.test_stored_limits``, and state in the changelog by how much they moved.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from stakes import Confusion, CostCurve, CostCurveDifference, CostMatrix, PairedConfusion
from stakes.counts import ScoreCounts
from stakes.curves.bands import METHODS as BANDS
from stakes.infer import CostDifference, CostEstimate
from stakes.infer.methods import METHODS
from stakes.policies import choose_threshold

STORED = Path(__file__).parents[1] / "fixtures" / "limits.json"

COSTS = CostMatrix([[0, 7, 30], [1, -2, 11], [2.5, 4, 0]], rows="predicted", labels=["a", "b", "c"])
COUNTED = CostMatrix(1 - np.eye(3), rows="predicted", labels=["a", "b", "c"])
TABLE = Confusion([[61, 4, 1], [9, 23, 2], [5, 3, 12]], rows="predicted", labels=["a", "b", "c"])
PAIRED = PairedConfusion(
    [
        [[50, 2, 1], [6, 2, 0], [3, 0, 1]],
        [[7, 1, 0], [4, 18, 1], [1, 2, 1]],
        [[2, 0, 1], [1, 1, 2], [1, 3, 9]],
    ],
    labels=["a", "b", "c"],
)
DRAWN = {"n_resamples": 500, "rng": 0}
CONFIDENCE = (0.9, 0.95)
PLACES = (0.07, 0.25, 1 / 3, 0.61803, 0.9)

LABELS = np.array([0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1] * 3)
SCORES = (np.arange(60) * 37 % 61 + 20 * LABELS) // 3 / 10
OTHERS = (np.arange(60) * 23 % 61 + 12 * LABELS) // 2 / 10


def options_of(known):
    """Return what makes the draws of a method the same each time."""
    return {name: value for name, value in DRAWN.items() if name in known}


def intervals():
    """Return the limits of all methods, of one model's costs and of the difference of two."""
    found = {}
    of_tables = {
        "cost": CostEstimate(TABLE, COSTS),
        "difference": CostDifference(PAIRED, COSTS),
    }
    for what, inference in of_tables.items():
        for name, method in METHODS.items():
            if method.limits is None:
                continue
            for confidence in CONFIDENCE:
                options = options_of(method.options)
                made = inference.interval(confidence, name, **options)
                found[f"{what}, {name}, {confidence}"] = [made.low, made.high]
    return found


def p_values():
    """Return the p-values of all tests of the difference, against a margin that favours one."""
    found = {}
    for name, method in METHODS.items():
        if method.tails is None:
            continue
        alone = name == "mcnemar"  # only for costs that count mistakes, without a margin
        difference = CostDifference(PAIRED, COUNTED if alone else COSTS)
        asked = options_of(method.test_options) | ({} if alone else {"margin": 0.5})
        for alternative in ("two-sided", "less", "greater"):
            made = difference.test(alternative=alternative, method=name, **asked)
            found[f"{name}, {alternative}"] = [made.p_value]
    return found


def bands():
    """Return the bands of a curve, of a line and of the difference of two curves."""
    made = {
        "curve": CostCurve.from_scores(LABELS, SCORES),
        "line": CostCurve.from_scores(LABELS, SCORES).line(1.4),
        "curve difference": CostCurveDifference.from_scores(LABELS, SCORES, OTHERS),
    }
    found = {}
    for what, curve in made.items():
        for name in BANDS:
            for sampling in ("stratified", "full"):
                options = DRAWN if name == "bootstrap" else {}
                band = curve.band(0.95, name, sampling=sampling, pc=PLACES, **options)
                found[f"{what}, {name}, {sampling}"] = [*band.low, *band.high]
        band = curve.band(simultaneous=True, pc=PLACES)
        found[f"{what}, simultaneous"] = [*band.low, *band.high]
    return found


def thresholds():
    """Return thresholds that are within a limit with an assurance, and what they cost."""
    counts = ScoreCounts.from_scores(LABELS, SCORES)
    costs = CostMatrix.from_errors(false_positive=1, false_negative=6)
    found = {}
    for name, limit in (("max_fpr", 0.6), ("min_recall", 0.6)):
        choice = choose_threshold(counts, costs, rule="minimum", assurance=0.9, **{name: limit})
        found[f"threshold, {name}"] = [choice.threshold, choice.recall, choice.fpr, choice.cost]
        found[f"threshold, {name}, cost"] = [choice.interval.low, choice.interval.high]
    return found


MADE = (intervals, p_values, bands, thresholds)


@pytest.mark.parametrize("make", MADE)
def test_limits_are_those_that_were_stored(make):
    stored = json.loads(STORED.read_text(encoding="utf-8"))[make.__name__]
    found = make()
    assert found.keys() == stored.keys()
    for name, limits in found.items():
        assert limits == pytest.approx(stored[name], rel=1e-12, abs=1e-300), name


if __name__ == "__main__":
    content = {make.__name__: make() for make in MADE}
    lines = [
        f" {json.dumps(kind)}: {{\n"
        + ",\n".join(f"  {json.dumps(name)}: {json.dumps(each)}" for name, each in made.items())
        + "\n }"
        for kind, made in content.items()
    ]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
