"""A threshold applies to the scores as given, including infinite scores."""

import json
from pathlib import Path

import numpy as np

from stakes import CostCurve, CostMatrix, ScoreCounts, choose_threshold
from stakes.cli.main import main
from stakes.curves import roc_hull

Y = np.array([0, 1, 0, 1, 0, 1, 0, 1])
SCORE = np.array([-np.inf, 0.5, -np.inf, np.inf, 0.2, -np.inf, 0.1, 0.7])
COSTS = CostMatrix.from_errors(false_positive=1, false_negative=200)


def test_the_lowest_threshold_flags_scores_of_minus_infinity() -> None:
    choice = choose_threshold(ScoreCounts.from_scores(Y, SCORE), COSTS, rule="minimum")
    assert choice.threshold == -np.inf
    assert choice.confusion.counts.tolist() == [[0, 0], [4, 4]]
    assert (choice.threshold <= SCORE).all()
    assert choice.summary().startswith("Flag everything")


def test_so_do_the_thresholds_of_a_curve() -> None:
    curve = CostCurve.from_scores(Y, SCORE)
    assert curve.threshold(0.99) == -np.inf
    assert (curve.threshold(0.99) <= SCORE).all()


def test_the_json_of_the_command_has_a_threshold_that_flags_all(tmp_path: Path) -> None:
    lines = "".join(f"{y},{score}\n" for y, score in zip(Y, SCORE, strict=True))
    (tmp_path / "scores.csv").write_text(f"y,model\n{lines}")
    told = tmp_path / "told.json"
    command = [
        "--actual",
        "y",
        "--fp",
        "1",
        "--fn",
        "200",
        "--pos-label",
        "1",
        "--score",
        "model",
        "--rule",
        "minimum",
        "--quiet",
        "--json",
    ]
    assert main(["threshold", str(tmp_path / "scores.csv"), *command, str(told)]) == 0
    assert json.loads(told.read_text())["models"][0]["choice"]["threshold"] == "-inf"


def test_all_thresholds_of_a_curve_say_the_same_of_the_lowest_score() -> None:
    curve = CostCurve.from_scores(Y, SCORE)
    hull = roc_hull(curve)
    assert hull.thresholds is not None
    assert hull.thresholds[-1] == curve.points()[2][-1] == curve.thresholds[-1] == -np.inf


def test_infinite_thresholds_are_text_in_json():
    y, scores = [0, 1] * 10, np.linspace(0, 1, 20)
    counts = ScoreCounts.from_scores(y, scores)
    never = choose_threshold(counts, COSTS, capacity=0)
    assert never.cost == 100
    assert never.threshold == np.inf
    assert never.to_dict()["threshold"] == "inf"
    flat = CostCurve.from_scores(y, [-1.0] * 20).to_dict()
    assert flat["thresholds"][0] == "inf"
    for each in (
        never.to_dict(),
        flat,
        ScoreCounts.from_scores(y, [-np.inf, np.inf] * 10).to_dict(),
    ):
        json.dumps(each, allow_nan=False)
    found = ScoreCounts.from_scores(y, [-np.inf, np.inf] * 10)
    assert ScoreCounts(**json.loads(json.dumps(found.to_dict()))) == found
