"""The measured table of designs: its test sets, the methods compared, and its copy in the guide."""

import math
import os
import re
from pathlib import Path

import numpy as np
import pytest

from replications.experiment import Results
from replications.experiments.designs import (
    EXPERIMENT,
    PROBLEMS,
    difference_of,
    estimate_of,
    first_decisions,
    judged,
    rival,
    table,
)
from replications.store import kept_results

pytestmark = pytest.mark.filterwarnings("ignore::stakes.errors.NotClaimedWarning")
GUIDE = Path(__file__).parents[2] / "docs" / "howto" / "designs.md"
DRAWS = 40


@pytest.mark.parametrize("name", PROBLEMS)
def test_what_is_called_true_is_what_estimates_tend_to(name):
    """Both the cost and the null difference, within chance."""
    problem, rng = PROBLEMS[name], np.random.default_rng(5)
    if "Pareto(1.2)" in name or "σ 2" in name:
        pytest.skip("means of so heavy tails do not settle")
    costs, differences = [], []
    for _ in range(DRAWS):
        drawn = problem.draw(rng)
        decided = first_decisions(drawn, rng)
        truth = problem.cost if drawn.truth is None else drawn.truth
        costs.append(estimate_of(problem, drawn, decided).cost - truth)
        if drawn.truth is None:
            differences.append(difference_of(problem, drawn, decided, rng).difference)
    for values in filter(None, (costs, differences)):
        assert abs(np.mean(values)) < 4.5 * np.std(values, ddof=1) / math.sqrt(DRAWS)


@pytest.mark.parametrize(
    "name", [next(n for n, p in PROBLEMS.items() if p.rival == each) for each in
             dict.fromkeys(p.rival for p in PROBLEMS.values()) if each]
)  # fmt: skip
def test_rivals_contain_the_estimate(name):
    problem, rng = PROBLEMS[name], np.random.default_rng(6)
    drawn = problem.draw(rng)
    decided = first_decisions(drawn, rng)
    low, high = rival(problem, drawn, decided)
    assert low <= estimate_of(problem, drawn, decided).cost <= high


@pytest.mark.parametrize(
    "name",
    [
        "groups: 100 × 20, 1 missed whole",
        "groups: 100 of Pareto(3) sizes, 3 missed whole",
        "weights: all alarms, 1% of the rest, 3 missed",
        "strata: 4, drawn equally, shares known, 3 missed",
        "strata: 4, rows counted, 3 missed",
        "groups × strata × weights: 120 × 10, in 4 strata, 1 missed",
    ],
)
def test_judged_together_as_one_by_one(name):
    """Tails of many test sets say whether the interval of each contains the truth, and its test."""
    problem, rng = PROBLEMS[name], np.random.default_rng(1)
    for found in judged(problem, np.random.default_rng(1), 5):
        drawn = problem.draw(rng)
        decided = first_decisions(drawn, rng)
        truth = problem.cost if drawn.truth is None else drawn.truth
        estimate = estimate_of(problem, drawn, decided)
        for method, options in (("auto", {}), ("conservative", {"conservative": True})):
            low, high = estimate.interval(**options)
            assert found.missed(method) == (truth < low, truth > high)
        if drawn.truth is None:
            difference = difference_of(problem, drawn, decided, rng)
            assert found.rejected == difference.test().rejected


def test_the_table_has_a_line_for_each_setting():
    name = next(iter(PROBLEMS))
    trial = EXPERIMENT.trial({"setting": name}, scale=0.005, seed=0, data=None)
    rows = [{"setting": name, **row} for row in EXPERIMENT.measure(trial, setting=name)]
    lines = table(Results("designs", rows, 0.005, 0)).splitlines()
    assert len(lines) == 3
    assert lines[2].startswith("| groups | 100 × 20, 0.3 missed whole | 5 | 100.0 |")


def test_the_guide_has_the_table_of_the_kept_run():
    """STAKES_WRITE_GOLDEN=1 writes it anew."""
    kept = kept_results(EXPERIMENT.name)
    assert kept is not None
    guide = GUIDE.read_text(encoding="utf-8")
    if os.environ.get("STAKES_WRITE_GOLDEN"):
        written = r"\| design \| test set \|.*?\n(?=\n)"
        guide = re.sub(written, lambda _: f"{table(kept)}\n", guide, count=1, flags=re.DOTALL)
        GUIDE.write_text(guide, encoding="utf-8")
    assert table(kept) in guide
