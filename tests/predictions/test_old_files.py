"""Files from when their formats were fixed, which every later version must read."""

import math
from pathlib import Path

import numpy as np
import pytest

from stakes import Accumulator, CostMatrix, PairedAccumulator
from stakes.infer import ExampleAccumulator
from stakes.predictions.count_file import read_count_file
from stakes.study import Study

FIXTURES = Path(__file__).parents[1] / "fixtures"
COSTS = CostMatrix([[0, 100], [10, 1]], rows="predicted", labels=["ok", "fraud"])
SCORED = {"a": (11, 14, pytest.approx(25.91)), "b": (7, 14, pytest.approx(24.19))}


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_count_files(kind):
    counts = read_count_file(str(FIXTURES / f"counts.{kind}"))
    assert counts.joint.n == 60
    tables = {name: counts.joint.single(name).counts.tolist() for name in counts.joint.names}
    assert tables == {"a": [[34, 3], [9, 14]], "b": [[36, 3], [7, 14]]}
    scores = counts.scores
    assert (scores.names, scores.pos_label, scores.neg_label) == (("a", "b"), "fraud", "ok")
    assert scored(scores) == SCORED


def scored(scores):
    """Return, for each model, how many of each class have scores from 0.5 on, and their sum."""
    amounts = np.ones(len(scores.positive)) if scores.amounts is None else scores.amounts
    found = {}
    for name, cuts, ranks in zip(scores.names, scores.thresholds, scores.ranks, strict=True):
        values = cuts[ranks]
        high = [amounts[(values >= 0.5) & (scores.positive == each)].sum() for each in (0, 1)]
        found[name] = (*high, float(values @ amounts))
    return found


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_count_files_that_were_merged_and_have_infinite_scores(kind):
    """Five rows of January and three of February, two of these like one of January."""
    counts = read_count_file(str(FIXTURES / f"counts_merged.{kind}"))
    assert counts.joint.single("m").counts.tolist() == [[4, 1], [1, 2]]
    (cuts,), (ranks,) = counts.scores.thresholds, counts.scores.ranks
    assert cuts.tolist() == [math.inf, 0.75, 0.5, 0.25, -math.inf]
    rows = zip(counts.scores.positive, cuts[ranks], counts.scores.amounts, strict=True)
    assert {(bool(label), score): int(n) for label, score, n in rows} == {
        (True, math.inf): 1, (True, 0.75): 1, (True, -math.inf): 1,
        (False, 0.5): 1, (False, 0.25): 3, (False, -math.inf): 1,
    }  # fmt: skip
    assert [each[:16] for each in counts.merged_from] == ["sha256:7f59a8a72", "sha256:9f9f4fc40"]


def test_count_files_with_columns_that_may_be_models():
    counts = read_count_file(str(FIXTURES / "counts_doubtful.json"))
    assert list(counts.doubtful) == ["late_score"]
    assert "most of its values are not numbers" in counts.doubtful["late_score"]
    assert counts.joint.single("a").counts.tolist() == [[2, 1], [1, 1]]


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_count_files_with_probabilities_of_three_classes(kind):
    counts = read_count_file(str(FIXTURES / f"counts_probabilities.{kind}"))
    (model,) = counts.models
    assert model.probabilities == ("p_a", "p_b", "p_c")
    tables = {name: counts.joint.single(name).counts.tolist() for name in counts.joint.names}
    assert tables == {
        "pred": [[1, 1, 0], [1, 1, 0], [0, 0, 2]],
        "pred@minimum-cost": [[0, 0, 0], [2, 2, 0], [0, 0, 2]],
    }


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_count_files_with_the_costs_and_scores_of_single_rows(kind):
    path = FIXTURES / f"counts_scored_examples.{kind}"
    counts = read_count_file(str(path))
    rows = counts.examples
    found = zip(rows.actual, rows.decided[:, 0], *rows.costs.T, rows.scores["m"], strict=True)
    assert sorted(tuple(map(float, row)) for row in found) == [
        (0, 0, 0, 2, -math.inf), (0, 0, 0, 2, 0.25), (0, 1, 0, 2, 0.5),
        (1, 0, 40, 0, 0.125), (1, 1, 100, 0, 0.75),
    ]  # fmt: skip
    study = Study.from_counts(counts, str(path), None)
    assert study.estimate("m").cost == pytest.approx((40 + 2) / 5)


def test_count_files_with_groups_strata_and_weights():
    counts = read_count_file(str(FIXTURES / "counts_design.json"))
    assert (counts.design.groups, counts.design.strata) == ("groups", "strata")
    study = Study.from_counts(counts, "counts_design.json", COSTS)
    costs = {name: study.estimate(name).cost for name in study.names}
    assert costs == pytest.approx({"a": 1337 / 150, "b": 400 / 150})


def test_count_files_with_the_costs_of_single_rows():
    counts = read_count_file(str(FIXTURES / "counts_examples.parquet"))
    study = Study.from_counts(counts, "counts_examples.parquet", None)
    costs = {name: study.estimate(name).cost for name in study.names}
    assert costs == pytest.approx({"a": 600 / 60, "b": 150 / 60})


def test_totals():
    totals = Accumulator.load(FIXTURES / "totals.json")
    assert (totals.n, totals.unit) == (60, "EUR")
    assert totals.cost == pytest.approx((3 * 100 + 9 * 10 + 14) / 60)


def test_totals_by_group():
    totals = Accumulator.load(FIXTURES / "totals_groups.json")
    assert totals.n == 60
    assert totals.cost == pytest.approx(614 / 60)


def test_totals_of_two_models():
    totals = PairedAccumulator.load(FIXTURES / "paired_totals.json")
    assert totals.n == 60
    assert totals.difference == pytest.approx(20 / 60)


def test_totals_of_decisions_with_costs_of_their_own():
    totals = ExampleAccumulator.load(FIXTURES / "totals_examples.json")
    assert (totals.n, totals.unit, totals.low, totals.high) == (4, "EUR", -5, 100)
    assert totals.cost == pytest.approx((5 - 2.5 + 0.1 + 80) / 4)
    assert totals.history()["n"].tolist() == [3, 4]
