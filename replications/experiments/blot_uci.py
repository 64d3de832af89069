"""Thesis 6.36-6.43: lazy option trees against bagged probability trees and weighted trees.

Each learner estimates probabilities once per fold, and decides by minimum risk for 25 random cost
matrices of each of the eight models. Powell's method grows trees for each matrix instead, and takes
most of the time: the scale is the share of the tests that it takes part in. The other learners
have all of them at any scale from 0.04 up, except for the folds: below full scale only the five
smallest data sets have all ten, the next eight have five, and the largest one or two. Abalone also
has fewer bags then. Below 0.04 there are fewer folds, and 5 bags and matrices. The rows "matrices",
"bags" and "left out" record what a cell had. Costs are relative to the cost of the best constant
prediction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from replications.domains.uci import SOURCES, DataSet
from replications.experiment import Experiment, Printed, Results, Row, Trial, average
from replications.experiments.shared.contest import (
    FEWER_FOLDS,
    FOLDS,
    QUICK_FIRST,
    SLOW,
    ahead,
    clearly_ahead,
    cost_of,
    count_row,
    decisions,
    draw_bars,
    folds,
    left_out,
    matrices,
    standing,
    tally,
    totals,
    verdicts,
)
from replications.experiments.shared.trees import MIN_LEAF, FoldTrees
from replications.experiments.weighting_uci import loaded
from stakes._core.typing import Floats
from stakes.learn import (
    BaggedLazyOptionTreesClassifier,
    BaggedLazyTreesClassifier,
    BaggedPETClassifier,
    LazyOptionTreeClassifier,
    LazyTreeClassifier,
)

BLOT, LITERAL, BLT, LOT, LT = "B-LOT", "B-LOT literal", "B-LT", "LOT", "LT"
PET, PET_K, CLASSFREQ, POWELL = "B-PET", "B-PET 1/K", "ClassFreq", "Powell20"

FIGURES = {
    "6.36": (BLOT, PET),
    "6.37": (BLT, PET),
    "6.38": (LOT, PET),
    "6.39": (LT, PET),
    "6.40": (BLOT, CLASSFREQ),
    "6.41": (PET, CLASSFREQ),
    "6.42": (BLOT, POWELL),
    "6.43": (PET, POWELL),
}
VARIANTS: dict[str, dict[str, Any]] = {
    "maxT=5": {"max_tests": 5},
    "maxT=7": {"max_tests": 7},
    "maxT=10": {"max_tests": 10},
    "g=0.5": {"gain_ratio": 0.5},
    "g=0.8": {"gain_ratio": 0.8},
}
"""Options that are tried in addition to maxT = 3 and g = 0.2."""

PAIRS = (
    *FIGURES.values(),
    (BLOT, PET_K),
    (LITERAL, PET),
    (LITERAL, PET_K),
    (PET_K, PET),
    (BLT, PET_K),
    (LOT, PET_K),
    (LT, PET_K),
    (PET_K, CLASSFREQ),
    (PET_K, POWELL),
    (BLOT, BLT),
    (BLOT, LOT),
    (LOT, BLT),
    *((f"{tree} {name}", tree) for tree in (BLOT, LOT) for name in VARIANTS),
)

CLEAR = ("audio", "abalone", "iris", "lympho", "segment", "soybean", "voting", "wine", "zoo")
LT_AHEAD = ("audio", "iris", "lympho", "segment", "soybean", "wine", "zoo")


def called(first: str, second: str) -> str:
    """Return the name of a pair in the results."""
    return f"{first} : {second}"


def derive(rows: Sequence[Row]) -> Iterator[Row]:
    """Return the totals for each data set, and the numbers to check the text's statements."""
    summed = totals(rows)
    yield from summed
    scores = {pair: standing(summed, called(*pair)) for pair in PAIRS}
    for pair, each in scores.items():
        found = np.array(list(each.values())).sum(axis=0)
        for name, value in zip(("all wins", "all ties", "all losses"), found, strict=True):
            yield count_row(name, int(value), pair=called(*pair))
        for name, sign in (("sets ahead", 1), ("sets behind", -1)):
            here = sum(ahead(score) == sign for score in each.values())
            yield count_row(name, here, pair=called(*pair))
    first = scores[BLOT, PET]
    but_lung = [name for name in first if name != "lung"]
    for name, names in (("but lung", but_lung), ("of nine", CLEAR)):
        clear = sum(clearly_ahead(first[each]) == 1 for each in names if each in first)
        yield count_row(f"sets clearly won, {name}", clear, pair=called(BLOT, PET))
    lazy = scores[LT, PET]
    same = sum((ahead(score) == 1) == (name in LT_AHEAD) for name, score in lazy.items())
    yield count_row("sets as the text says", same, pair=called(LT, PET))
    yield from _losses(rows)
    yield from _ratios(rows)


def _ratios(rows: Sequence[Row]) -> Iterator[Row]:
    """Return the cost of the first of a pair over all folds, as a multiple of the second's."""
    paid: dict[tuple[str, str], float] = {}
    for row in rows:
        if row["measure"] == "cost":
            key = str(row["learner"]), str(row["dataset"])
            paid[key] = paid.get(key, 0.0) + float(row["value"]) * int(row["repeats"])
    for first, second in PAIRS:
        ratios, pair = [], called(first, second)
        for learner, dataset in paid:
            theirs = paid.get((second, dataset), 0.0)
            if learner == first and theirs and paid[first, dataset]:
                ratios.append(paid[first, dataset] / theirs)
                yield count_row("cost ratio", ratios[-1], dataset=dataset, pair=pair)
        if ratios:
            mean = float(np.exp(np.log(ratios).mean()))
            yield count_row("mean cost ratio", mean, pair=pair)


def _losses(rows: Sequence[Row]) -> Iterator[Row]:
    """Return the mean quadratic loss of each learner over its data sets."""
    found: dict[str, dict[str, list[float]]] = {}
    for row in rows:
        if row["measure"] == "quadratic loss":
            here = found.setdefault(str(row["learner"]), {})
            here.setdefault(str(row["dataset"]), []).append(float(row["value"]))
    for learner, sets in found.items():
        means = [float(np.mean(values)) for values in sets.values()]
        yield average("mean quadratic loss", means, learner=learner)


def _printed() -> Iterator[Printed]:
    sets = len(SOURCES)
    where: dict[str, Any] = {"pair": called(BLOT, PET)}
    laplace = "B-PET's Laplace correction and the trees behind it decide this; see the findings."
    yield Printed(
        where | {"measure": "sets clearly won, but lung"}, sets - 1, "text of 6.4, Figure 6.36",
        within=0, why=laplace,
    )  # fmt: skip
    yield Printed(
        where | {"measure": "sets clearly won, of nine"}, len(CLEAR), "text of 6.4, Figure 6.36",
        within=0, why=laplace,
    )  # fmt: skip
    where = {"pair": called(LT, PET)}
    yield Printed(
        where | {"measure": "sets ahead"}, len(LT_AHEAD), "text of 6.4, Figure 6.39",
        within=0, why=laplace,
    )  # fmt: skip
    yield Printed(
        where | {"measure": "sets as the text says"}, sets, "text of 6.4, Figure 6.39",
        within=0, why=laplace,
    )  # fmt: skip


PRINTED = tuple(_printed())

STAND_INS = (
    (
        "B-PETs and weighted trees are scikit-learn trees with the entropy criterion and a column "
        "for each value of a discrete attribute; ClassFreq and Powell20 are not pruned, in place "
        "of C4.5."
    ),
    "All trees have at least two examples in a leaf. The thesis does not say how many it had here.",
    (
        "B-LOT is this package's reading of what the thesis leaves open (entropy of balanced "
        "classes, thresholds judged by both sides); 'B-LOT literal' is the literal one."
    ),
    "The folds are stratified; the thesis does not say how it drew them.",
)


Places = NDArray[np.intp]

MATRICES = 25
BAGS = 50
TESTS = MATRICES * FOLDS
"""Number of tests of each cost model on a data set at full scale."""

FEWEST = 5
OPTION_SETS = ("lung", "iris", "zoo", "wine", "hepatitis", "lympho", "bcy", "voting", "liver")
"""Data sets on which `VARIANTS` are tried; the thesis tried them on "some of" the sets."""


def effort(dataset: str, tests: int) -> tuple[int, int, int, int]:
    """Return a data set's numbers of folds, bags, matrices per model, and matrices for Powell."""
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
    """Count how often each learner of a pair is cheaper in a fold, over all models and matrices."""
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
    # Powell's method gets only the first matrices of each model, because it is slow.
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
    blind = (costs @ data.shares).min(axis=1)  # the cost of the best constant prediction
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
    """Return each learner's class probabilities for the test rows."""
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
    needs_data=True,
)
