"""Files that were written when their formats were fixed; every later version must read them."""

from pathlib import Path

import pytest

from stakes import Accumulator, CostMatrix, PairedAccumulator
from stakes.predictions.count_file import read_count_file
from stakes.study import Study

FIXTURES = Path(__file__).parents[1] / "fixtures"
COSTS = CostMatrix([[0, 100], [10, 1]], rows="predicted", labels=["ok", "fraud"])


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_count_files(kind):
    counts = read_count_file(str(FIXTURES / f"counts.{kind}"))
    assert counts.joint.n == 60
    tables = {name: counts.joint.single(name).counts.tolist() for name in counts.joint.names}
    assert tables == {"a": [[34, 3], [9, 14]], "b": [[36, 3], [7, 14]]}


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
