"""Thesis 6.36-6.43: lazy option trees against bagged probability trees and weighted trees.

Each learner tells its probabilities once a fold, and decides by minimum risk for 25 random cost
matrices of each of the eight models. Powell's method grows trees for each matrix instead, and takes
most of the time: the scale is the share of the tests that it takes part in. The other learners
have all of them at any scale from 0.04 on, but for the folds: below full scale only the five
smallest sets have all ten, the next eight have five, and the largest one or two. Abalone also has
fewer bags then. Below 0.04 there are fewer folds, and 5 bags and matrices. The rows "matrices",
"bags" and "left out" tell what a cell had. Costs are shares of what the best decision for all
examples would cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes.lab.domains.uci import DataSet
from stakes.lab.experiment import Experiment, Results, Row, Trial, average
from stakes.lab.replicate.blot_uci_claims import (
    BLOT,
    BLT,
    CLASSFREQ,
    FIGURES,
    FINDINGS,
    LITERAL,
    LOT,
    LT,
    PAIRS,
    PET,
    PET_K,
    POWELL,
    PRINTED,
    STAND_INS,
    VARIANTS,
    called,
    derive,
)
from stakes.lab.replicate.shared.contest import (
    FEWER_FOLDS,
    FOLDS,
    QUICK_FIRST,
    SLOW,
    cost_of,
    count_row,
    decisions,
    draw_bars,
    folds,
    left_out,
    matrices,
    tally,
    verdicts,
)
from stakes.lab.replicate.shared.weighted_trees import MIN_LEAF, FoldTrees
from stakes.lab.replicate.weighting_uci import loaded
from stakes.learn import (
    BaggedLazyOptionTreesClassifier,
    BaggedLazyTreesClassifier,
    BaggedPETClassifier,
    LazyOptionTreeClassifier,
    LazyTreeClassifier,
)

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

MATRICES = 25
BAGS = 50
TESTS = MATRICES * FOLDS
"""How many tests of each cost model a data set has at full scale."""

FEWEST = 5
OPTION_SETS = ("lung", "iris", "zoo", "wine", "hepatitis", "lympho", "bcy", "voting", "liver")
"""Where more options and a higher gain ratio are tried: the thesis tried "some of" the sets."""


def effort(dataset: str, tests: int) -> tuple[int, int, int, int]:
    """Return how many folds, bags, matrices a model, and of these for Powell, a data set has."""
    if tests == TESTS:
        return FOLDS, BAGS, MATRICES, MATRICES
    for_powell = -(-tests // FOLDS)
    if tests < FOLDS:
        return min(tests, FEWER_FOLDS.get(dataset, FOLDS)), FEWEST, FEWEST, 1
    if dataset == "abalone":
        return SLOW[dataset], max(FEWEST, BAGS * tests // TESTS), MATRICES, 1
    fewer = -(-for_powell // 2) if dataset in SLOW else for_powell
    return FEWER_FOLDS.get(dataset, FOLDS), BAGS, MATRICES, fewer


def measure(trial: Trial, *, dataset: str, fold: int) -> Iterator[Row]:
    """Count how often each of a pair is cheaper in a fold, over all models and matrices."""
    count, bags, every, for_powell = effort(dataset, trial.repeats)
    if fold >= count:
        yield left_out()
        return
    data = loaded(trial.data, dataset)
    train, test = folds(data, trial.seed)[fold]
    actual, seed = data.codes[test], trial.seed + fold
    drawn = matrices(data, trial.seed, every)
    costs = drawn.reshape(-1, *drawn.shape[2:])
    told = probabilities(data, train, test, bags, seed)
    paid = {name: cost_of(decisions(proba, costs), actual, costs) for name, proba in told.items()}
    trees = FoldTrees(data, train, test, seed)
    paid[CLASSFREQ] = cost_of(np.tile(trees.class_freq(), (len(costs), 1)), actual, costs)
    # Powell's method has the first matrices of each model only.
    some = np.arange(len(costs)).reshape(drawn.shape[:2])[:, :for_powell].ravel()
    found = np.array([trees.powell(each, 0.2) for each in costs[some]])
    paid[POWELL] = cost_of(found, actual, costs[some])
    pairs = [pair for pair in PAIRS if pair[0] in paid]
    differences = [
        paid[first][some] - paid[POWELL] if second == POWELL else paid[first] - paid[second]
        for first, second in pairs
    ]
    verdict = verdicts(np.concatenate(differences), trial.rng)
    ends = np.cumsum([len(each) for each in differences])
    for pair, each in zip(pairs, np.split(verdict, ends[:-1]), strict=True):
        yield from tally(each, pair=called(*pair))
    blind = (costs @ data.shares).min(axis=1)  # what the best decision for all rows would cost
    for name, costs_of_rows in paid.items():
        if name != POWELL:
            shares = costs_of_rows / blind[:, np.newaxis]
            yield average("cost", shares.mean(axis=0), learner=name)
    for name, proba in told.items():
        missed = proba - (actual[:, np.newaxis] == np.arange(proba.shape[1]))
        yield average("quadratic loss", (missed**2).sum(axis=1), learner=name)
    yield count_row("matrices", every)
    yield count_row("bags", bags)


def probabilities(
    data: DataSet, train: Places, test: Places, bags: int, seed: int
) -> dict[str, Floats]:
    """Return what each learner tells about the test rows."""
    shared: dict[str, Any] = {"n_estimators": bags, "random_state": seed}
    lazy: dict[str, Any] = {"min_leaf": MIN_LEAF, "categorical_features": data.discrete}
    literal: dict[str, Any] = {"entropy": "plain", "thresholds": "query"}
    pet: dict[str, Any] = shared | {"min_samples_leaf": MIN_LEAF}
    smooth = 1 / len(data.classes)
    learners: dict[str, Any] = {
        BLOT: BaggedLazyOptionTreesClassifier(**shared, **lazy),
        LITERAL: BaggedLazyOptionTreesClassifier(**shared, **lazy, **literal),
        BLT: BaggedLazyTreesClassifier(**shared, **lazy),
        LOT: LazyOptionTreeClassifier(**lazy),
        LT: LazyTreeClassifier(**lazy),
        PET: BaggedPETClassifier(**pet),
        PET_K: BaggedPETClassifier(**pet, laplace=smooth),
    }
    if data.name in OPTION_SETS:
        for name, options in VARIANTS.items():
            learners[f"{BLOT} {name}"] = BaggedLazyOptionTreesClassifier(
                **shared, **lazy, **options
            )
            learners[f"{LOT} {name}"] = LazyOptionTreeClassifier(**lazy, **options)
    told = {}
    for name, learner in learners.items():
        features = data.one_hot if name in {PET, PET_K} else data.X
        learner.fit(features[train], data.codes[train])
        told[name] = np.zeros((len(test), len(data.classes)))
        told[name][:, learner.classes_] = learner.predict_proba(features[test])
    return told


def draw(results: Results) -> Mapping[str, Any]:
    """Draw Figures 6.36 to 6.43, and 6.36 again with the other correction of B-PET."""
    figures = {}
    for number, pair in FIGURES.items():
        title = f"Figure {number}: {pair[0]} against {pair[1]}"
        black = 0 if pair[1] in {CLASSFREQ, POWELL} else 1
        figures[f"figure-{number}"] = draw_bars(
            results.rows, called(*pair), pair, title, black=black
        )
    again = (BLOT, PET_K)
    figures["figure-6.36-small-laplace"] = draw_bars(
        results.rows, called(*again), again, "As Figure 6.36, with λ = 1/K in the leaves of B-PET"
    )
    return figures


EXPERIMENT = Experiment(
    name="blot-uci",
    title="Lazy option trees, bagged trees and weighted trees, on sixteen UCI data sets",
    source="thesis, section 6.4: Figures 6.36-6.43, and its remarks on maxT and g",
    varies={"dataset": QUICK_FIRST, "fold": tuple(range(FOLDS))},
    measure=measure,
    repeats=TESTS,
    least=2,
    printed=PRINTED,
    derive=derive,
    draw=draw,
    stand_ins=STAND_INS,
    findings=FINDINGS,
    needs_data=True,
)
