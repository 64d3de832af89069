"""Compare bagged lazy option trees with a single tree, by tests in each fold and by total cost.

    python -m replications.bag_or_tree FOLDER [DATASET...]

The folder has the UCI data sets. Each line has a data set; wins and losses of the bags by
BDELTACOST in the folds; the number of these losses in which the tree paid more on no row; wins and
losses on all rows of the set; the numbers of cost matrices for which the bags cost less and more
over all folds; and the geometric mean of their costs, as multiples of the tree's.
"""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from replications.domains.uci import DataSet, read_uci
from replications.experiments.shared.contest import cost_of, decisions, folds, matrices, verdicts
from stakes.learn import BaggedLazyOptionTreesClassifier, LazyOptionTreeClassifier

SETS = "lung iris hepatitis zoo wine lympho bcy voting liver audio glass sonar soybean vehicle"
MATRICES, SEED, EQUAL = 25, 0, 1e-12
Rows = NDArray[np.intp]


def costs_of_fold(
    data: DataSet, train: Rows, test: Rows, costs: NDArray[np.float64], seed: int
) -> list[NDArray[np.float64]]:
    """Return the costs of a bag and of a tree in a fold, for each matrix and row."""
    paid = []
    for trees in (
        BaggedLazyOptionTreesClassifier(random_state=seed, categorical_features=data.discrete),
        LazyOptionTreeClassifier(categorical_features=data.discrete),
    ):
        trees.fit(data.X[train], data.codes[train])
        proba = np.zeros((len(test), len(data.classes)))
        proba[:, trees.classes_] = trees.predict_proba(data.X[test])
        paid.append(cost_of(decisions(proba, costs), data.codes[test], costs))
    return paid


def contest(data: DataSet, rng: np.random.Generator) -> tuple[list[int], float]:
    """Return the counts of a data set, and the mean logarithm of the ratio of costs."""
    costs = np.concatenate(matrices(data, SEED, MATRICES))
    paid, wins, losses, unpunished = [], 0, 0, 0
    for fold, (train, test) in enumerate(folds(data, SEED)):
        paid.append(costs_of_fold(data, train, test, costs, fold))
        more = paid[-1][0] - paid[-1][1]
        verdict = verdicts(more, rng)
        wins, losses = wins + int((verdict == 1).sum()), losses + int((verdict == -1).sum())
        unpunished += int((more[verdict == -1] >= 0).all(axis=1).sum())
    bag, tree = np.concatenate(paid, axis=2)
    verdict, ratio = verdicts(bag - tree, rng), bag.mean(axis=1) / tree.mean(axis=1)
    on_all = (verdict == 1, verdict == -1, ratio < 1 - EQUAL, ratio > 1 + EQUAL)
    numbers = [wins, losses, unpunished, *(int(each.sum()) for each in on_all)]
    return numbers, float(np.log(ratio).mean())


def main() -> None:
    """Print a line for each data set, and one for all."""
    folder, *names = sys.argv[1:]
    rng, total, ratios = np.random.default_rng(SEED), np.zeros(7, dtype=int), []
    for name in names or SETS.split():
        numbers, ratio = contest(read_uci(folder, name), rng)
        total += numbers
        ratios.append(ratio)
        print(name, *numbers, f"{np.exp(ratio):.3f}", flush=True)
    print("all", *total, f"{np.exp(np.mean(ratios)):.3f}")


if __name__ == "__main__":
    main()
