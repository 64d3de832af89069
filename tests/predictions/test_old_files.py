"""Files that were written when their formats were fixed; every later version must read them."""

from pathlib import Path

import pytest

from stakes import Accumulator, PairedAccumulator
from stakes.predictions.count_file import counts_from_parquet, counts_from_text

FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.mark.parametrize("kind", ["json", "parquet"])
def test_count_files(kind):
    path = FIXTURES / f"counts.{kind}"
    if kind == "json":
        counts = counts_from_text(path.read_text(encoding="utf-8"), path.name)
    else:
        counts = counts_from_parquet(path)
    assert counts.joint.n == 60
    tables = {name: counts.joint.single(name).counts.tolist() for name in counts.joint.names}
    assert tables == {"a": [[34, 3], [9, 14]], "b": [[36, 3], [7, 14]]}


def test_totals():
    totals = Accumulator.load(FIXTURES / "totals.json")
    assert (totals.n, totals.unit) == (60, "EUR")
    assert totals.cost == pytest.approx((3 * 100 + 9 * 10 + 14) / 60)


def test_totals_of_two_models():
    totals = PairedAccumulator.load(FIXTURES / "paired_totals.json")
    assert totals.n == 60
    assert totals.difference == pytest.approx(20 / 60)
