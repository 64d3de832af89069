"""The power of the default test: its measurement, its promise, and its table in the documents."""

from pathlib import Path

import numpy as np
import pytest
from _helpers import oracle_extremal

from replications.experiments.default_power import (
    ALL,
    APART,
    BEFORE,
    EXACT,
    EXAMPLES,
    EXPECTED,
    EXPENSIVE,
    EXPERIMENT,
    NOW,
    RATIOS,
    THRESHOLDS,
    differences,
    gain,
    loss,
    of_models,
    of_thresholds,
    powers,
    table,
    table_of_thresholds,
)
from replications.store import kept_results

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "differences.md"
MOST = {2: 0.01, 5: 0.01, 10: 0.08, 20: 0.08, 50: 0.08, 200: 0.04, 1000: 0.015}
"""The largest loss of power that is promised."""


@pytest.mark.parametrize("kind", [EXPENSIVE, ALL, THRESHOLDS])
@pytest.mark.parametrize("ratio", RATIOS[1:])
def test_differences_are_as_large_as_they_are_called(kind, ratio):
    for apart, possible, often in differences(kind, ratio, 20):
        deviation = np.sqrt(possible**2 @ often)
        assert abs(possible @ often) == pytest.approx(apart * deviation, abs=1e-6 * deviation)
        assert often.sum() < EXAMPLES / 10
        worse, better = often[-1], often[0]
        assert (better if kind == THRESHOLDS else worse) == 20
        assert apart in APART


@pytest.mark.parametrize("ratio", [1, 5])
def test_each_test_is_the_one_that_is_meant(ratio):
    """The exact bootstrap where both ends occurred five times; the oracle for the other one."""
    possible = np.unique([-ratio, -1.0, 0.0, 1.0, ratio])
    rng = np.random.default_rng(1)
    counts = rng.multinomial(1000, [0.006, *[(1 - 0.012) / (len(possible) - 2)] *
                                    (len(possible) - 2), 0.006], 60)  # fmt: skip
    found = of_models(possible, counts)
    often = counts[:, [0, -1]].min(axis=1) >= 5
    assert 5 < often.sum() < 55
    assert (found[BEFORE] == np.where(often, found[EXACT], found[NOW])).all()
    for row, p in list(zip(counts, found[NOW], strict=True))[:10]:
        assert p == pytest.approx(oracle_extremal.p_value(possible, row), rel=1e-6)


def test_of_two_thresholds_two_outcomes_are_impossible():
    possible = np.array([-20.0, -1.0, 0.0, 1.0, 20.0])
    counts = np.array([[6, 0, 950, 44, 0], [12, 0, 900, 88, 0]])
    found = of_thresholds(possible, counts)
    for at, row in enumerate(counts):
        before = oracle_extremal.p_value(possible, row)
        now = oracle_extremal.p_value(possible[[0, 2, 3]], row[[0, 2, 3]])
        assert (found[BEFORE][at], found[NOW][at]) == pytest.approx((before, now), rel=1e-6)
        assert now < before


def test_a_cell_has_rows_for_each_test():
    cell = {"kind": EXPENSIVE, "ratio": 5, "expected": 50}
    trial = EXPERIMENT.trial(cell, scale=0.01, seed=0, data=None)
    rows = list(EXPERIMENT.measure(trial, **cell))
    assert {row["method"] for row in rows} == {BEFORE, NOW, EXACT}
    assert {row["apart"] for row in rows} == {*APART}
    assert all(row["repeats"] == 200 for row in rows)


# The stored results.


@pytest.fixture(scope="module")
def kept():
    found = kept_results(EXPERIMENT.name)
    assert found is not None
    return found


@pytest.mark.parametrize("expected", EXPECTED)
@pytest.mark.parametrize("ratio", RATIOS)
def test_the_loss_of_power_is_as_small_as_promised(kept, ratio, expected):
    of_two_models = powers(kept, (EXPENSIVE, ALL), ratio, expected)
    assert max(before - now for before, now in of_two_models) <= MOST[expected]
    before, now = loss(kept, ratio, expected)
    assert before - now == pytest.approx(max(b - n for b, n in of_two_models), abs=0.01)
    if ratio > 1:
        every = powers(kept, (THRESHOLDS,), ratio, expected)
        assert all(now >= before for before, now in every)
        before, now = gain(kept, ratio, expected)
        assert now > before


def test_the_page_has_the_tables_of_the_stored_results(kept):
    text = PAGE.read_text(encoding="utf-8")
    assert table(kept) in text
    assert table_of_thresholds(kept) in text
