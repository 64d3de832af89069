"""The measured table of audits: its pools, the methods compared, and the copy in the docs."""

from pathlib import Path

import numpy as np
import pytest

from replications.experiments.audit_coverage import (
    EXPERIMENT,
    LABELS,
    ROWS,
    answers,
    draw_pool,
    limits_table,
    stratified_z,
    table,
    weighted_z,
)
from replications.store import kept_results

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "audits.md"


def test_the_explanation_has_the_measured_table():
    kept = kept_results(EXPERIMENT.name)
    assert kept is not None
    page = PAGE.read_text(encoding="utf-8")
    assert table(kept) in page
    assert limits_table(kept) in page


def test_pools_have_the_misses_that_they_are_said_to_have():
    rng = np.random.default_rng(1)
    pools = [draw_pool(0.01, "good", rng) for _ in range(20)]
    missed = np.mean([((pool.actual == 1) & (pool.decided == 0)).mean() for pool in pools])
    assert missed == pytest.approx(0.01, rel=0.1)


def test_all_methods_answer_and_are_near_the_truth():
    rng = np.random.default_rng(2)
    pool = draw_pool(0.05, "good", rng)
    limits, estimates = answers(pool, 10, rng)
    truth = pool.costs(10).mean()
    for low, high in limits.values():
        assert low < 2 * truth
        assert high > truth / 2
    assert {name: each.n for name, each in estimates.items()} == {"audit": LABELS, "judge": LABELS}


def test_textbook_intervals_of_all_rows_are_the_truth():
    values, strata = np.arange(ROWS) % 3.0, np.arange(ROWS) % 4
    low, high = stratified_z(values, np.arange(ROWS), strata)
    assert low == pytest.approx(values.mean()) == pytest.approx(high)
    low, high = weighted_z(values, np.arange(ROWS), strata)
    assert low < values.mean() < high
