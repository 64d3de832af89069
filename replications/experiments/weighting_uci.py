"""Thesis 6.17-6.24: class weights by five methods, on sixteen UCI data sets.

The scale is the share of the hundred tests of each cost model: fewer matrices first, down to one,
then fewer folds, down to two. Below full scale only the five smallest data sets have all ten folds;
the next eight have five, and the largest, with half the matrices, one or two. The cells of other
folds are marked "left out".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from replications.domains.uci import SOURCES, DataSet, read_uci
from replications.experiment import Experiment, Printed, Results, Row, Trial, Value
from replications.experiments.shared.contest import (
    FEWER_FOLDS,
    FOLDS,
    QUICK_FIRST,
    SLOW,
    ahead,
    clearly_ahead,
    cost_of,
    count_row,
    draw_bars,
    folds,
    left_out,
    matrices,
    standing,
    tally,
    totals,
    verdicts,
)
from replications.experiments.shared.trees import FoldTrees

MATRICES = 10
TESTS = MATRICES * FOLDS
"""Number of tests of each cost model on a data set at full scale."""

PAIRS = {
    ("Powell10", "AvgCost"): "6.17",
    ("Powell10", "MaxCost"): "6.18",
    ("Powell10", "ClassFreq"): "6.19",
    ("Powell10", "EvalCount10"): "6.20",
    ("Powell20", "AvgCost"): "6.21",
    ("Powell20", "MaxCost"): "6.22",
    ("Powell20", "ClassFreq"): "6.23",
    ("Powell20", "EvalCount20"): "6.24",
    ("Powell20", "Powell10"): "",
    ("AvgCost", "MaxCost"): "",
    ("ClassFreq", "AvgCost"): "",
}
"""Figures by the pair that they compare; the last pairs are only mentioned in the text."""

CLASSFREQ_WINS = ("audio", "hepatitis", "lympho", "soybean", "voting", "wine", "zoo")
POWELL20_WINS = ("bcy", "liver", "sonar")
AVGCOST_BEATEN = ("liver", "wine")
EVALCOUNT_BEATEN = ("audio", "soybean", "wine")


TIES = "Nearly all tests are ties, and few wins are left to compare; see the findings."


def called(first: str, second: str) -> str:
    """Return the name of a pair in the results."""
    return f"{first} : {second}"


def effort(dataset: str, tests: int) -> tuple[int, int]:
    """Return a data set's numbers of folds and of matrices per model, for the tests per model."""
    if tests == TESTS:
        return FOLDS, MATRICES
    count, each = min(tests, FEWER_FOLDS.get(dataset, FOLDS)), -(-tests // FOLDS)
    return count, -(-each // 2) if dataset in SLOW else each


def measure(trial: Trial, *, dataset: str, fold: int) -> Iterator[Row]:
    """Count how often each method of a pair is cheaper in a fold, over all models and matrices."""
    count, each = effort(dataset, trial.repeats)
    if fold >= count:
        yield left_out()
        return
    data = loaded(trial.data, dataset)
    train, test = folds(data, trial.seed)[fold]
    trees = FoldTrees(data, train, test, trial.seed + fold)
    drawn = matrices(data, trial.seed, each)
    every = drawn.reshape(-1, *drawn.shape[2:])
    same = trees.class_freq()
    decided = {
        "AvgCost": [trees.avg_cost(costs) for costs in every],
        "MaxCost": [trees.max_cost(costs) for costs in every],
        "ClassFreq": [same for _ in every],
        "EvalCount10": [trees.eval_count(costs, 0.1) for costs in every],
        "EvalCount20": [trees.eval_count(costs, 0.2) for costs in every],
        "Powell10": [trees.powell(costs, 0.1) for costs in every],
        "Powell20": [trees.powell(costs, 0.2) for costs in every],
    }
    paid = {
        name: cost_of(np.array(each), data.codes[test], every) for name, each in decided.items()
    }
    for first, second in PAIRS:
        found = verdicts(paid[first] - paid[second], trial.rng)
        yield from tally(found, pair=called(first, second))


@lru_cache(maxsize=2)
def loaded(folder: Path | None, name: str) -> DataSet:
    """Return a data set, cached because the folds share it."""
    return read_uci(folder or Path(), name)


def derive(rows: Sequence[Row]) -> Iterator[Row]:
    """Return the totals for each data set, and the numbers to check the text's statements."""
    summed = totals(rows)
    yield from summed
    scores = {pair: standing(summed, called(*pair)) for pair in PAIRS}
    in_figures = [score for pair, each in scores.items() if PAIRS[pair] for score in each.values()]
    most = sum(score[1] > max(score[0], score[2]) for score in in_figures)
    yield count_row("bars where ties are most", most)
    for pair, each in scores.items():
        found = np.array(list(each.values())).sum(axis=0)
        for name, value in zip(("all wins", "all ties", "all losses"), found, strict=True):
            yield count_row(name, int(value), pair=called(*pair))
        for name, sign in (("sets clearly won", 1), ("sets clearly lost", -1)):
            clear = sum(clearly_ahead(score) == sign for score in each.values())
            yield count_row(name, clear, pair=called(*pair))
    yield from _named("Powell20", "ClassFreq", scores, CLASSFREQ_WINS, -1)
    yield from _named("Powell20", "ClassFreq", scores, POWELL20_WINS, 1)
    yield from _named("Powell20", "AvgCost", scores, AVGCOST_BEATEN, 1)
    yield from _named("Powell20", "EvalCount20", scores, EVALCOUNT_BEATEN, 1)


def _named(
    first: str, second: str, scores: Mapping[Any, Any], names: Sequence[str], sign: int
) -> Iterator[Row]:
    """Count the data sets that the text names on which its winner won more often here, too."""
    here = scores[first, second]
    same = sum(name in here and ahead(here[name]) == sign for name in names)
    winner = first if sign > 0 else second
    yield count_row(f"named sets won by {winner}", same, pair=called(first, second))


def draw(results: Results) -> Mapping[str, Any]:
    """Draw Figures 6.17 to 6.24."""
    return {
        f"figure-{number}": draw_bars(
            results.rows, called(*pair), pair, f"Figure {number}: {pair[0]} against {pair[1]}"
        )
        for pair, number in PAIRS.items()
        if number
    }


def _said() -> Iterator[Printed]:
    yield Printed(
        {"measure": "bars where ties are most"}, 8 * len(SOURCES), "text of 6.3", within=0,
    )  # fmt: skip
    for (first, second), names, winner, clear in (
        (("Powell20", "ClassFreq"), CLASSFREQ_WINS, "ClassFreq", "sets clearly lost"),
        (("Powell20", "ClassFreq"), POWELL20_WINS, "Powell20", "sets clearly won"),
        (("Powell20", "AvgCost"), AVGCOST_BEATEN, "Powell20", "sets clearly won"),
        (("Powell20", "EvalCount20"), EVALCOUNT_BEATEN, "Powell20", "sets clearly won"),
    ):
        pair = called(first, second)
        for what in (f"named sets won by {winner}", clear):
            where: dict[str, Value] = {"pair": pair, "measure": what}
            yield Printed(where, len(names), "text of 6.3", within=0, why=TIES)


EXPERIMENT = Experiment(
    name="weighting-uci",
    title="Five ways to weigh the classes, on sixteen UCI data sets",
    source="thesis, section 6.3: Figures 6.17-6.24",
    varies={"dataset": QUICK_FIRST, "fold": tuple(range(FOLDS))},
    measure=measure,
    repeats=TESTS,
    least=2,
    printed=tuple(_said()),
    derive=derive,
    draw=draw,
    stand_ins=(
        (
            "An unpruned scikit-learn tree with the entropy criterion and at least two examples "
            "in a leaf stands in for C4.5, with a column for each value of a discrete attribute."
        ),
        (
            "Powell's method begins with the better of equal and AvgCost weights, not at random, "
            "and tries at most 100 trees."
        ),
        "The folds are stratified; the thesis does not say how it drew them.",
        (
            "A data set counts as clearly won where a sign test of all its wins and losses rejects "
            "at 5 %. The tests of a fold are not independent, so this is a rule and no test; the "
            "thesis does not say by which rule it names winners."
        ),
    ),
    needs_data=True,
)
