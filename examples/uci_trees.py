"""B-LOT against B-PET on the sixteen UCI data sets of Margineantu's thesis, as in Figure 6.36.

The data sets are not part of this project. FOLDER has a file for each, such as iris.csv: a header,
the attributes, and the class in the last column; a missing value is an empty field. A column whose
filled fields are all numbers is continuous, every other one discrete.

Each learner tells its probabilities once for each fold. They decide by minimum risk for 25 random
cost matrices of each of the eight models of Table 6.2, and BDELTACOST says for each fold and matrix
which of two learners was cheaper, if any.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from stakes import CostDifference, CostMatrix, CostSample, informational_loss, quadratic_loss
from stakes.learn import BaggedLazyOptionTreesClassifier, BaggedPETClassifier

SETS = (  # those first that take little time
    *("lung", "iris", "zoo", "wine", "hepatitis", "lympho", "bcy", "voting", "audio", "glass"),
    *("liver", "soybean", "sonar", "vehicle", "segment", "abalone"),
)
SMALLEST_CLASS = {"abalone": 6, "audio": 5, "soybean": 20}
"""Classes with fewer rows are left out (Appendix A); for soybean these are the last four."""

MODELS = ("M1", "M2", "M3", "M4", "M5", "M6", "M7", "M8")
MATRICES = 25
LOT, LITERAL, PET, PET_K = "B-LOT", "B-LOT literal", "B-PET λ=1", "B-PET λ=1/K"
INFORMED = "B-LOT information"
PAIRS = ((LOT, PET), (LOT, PET_K), (LITERAL, PET), (LITERAL, PET_K), (PET_K, PET), (LOT, LITERAL))
INFORMED_PAIRS = ((INFORMED, PET), (INFORMED, PET_K), (INFORMED, LOT))


@dataclass(frozen=True)
class DataSet:
    """Attributes as numbers (discrete ones as codes, missing ones as NaN), and the classes."""

    name: str
    X: NDArray[np.float64]
    y: NDArray[np.str_]
    discrete: NDArray[np.bool_]

    def one_hot(self) -> NDArray[np.float64]:
        """Return the attributes for learners without discrete ones: a column for each value."""
        columns = []
        for values, discrete in zip(self.X.T, self.discrete, strict=True):
            known = np.unique(values[~np.isnan(values)])
            columns += [values == value for value in known] if discrete else [values]
        return np.column_stack([column.astype(float) for column in columns])


def read(folder: Path, name: str) -> DataSet:
    """Read a data set, and leave out the classes that the thesis leaves out."""
    with (folder / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    sizes = Counter(row[-1] for row in rows)
    rows = [row for row in rows if sizes[row[-1]] >= SMALLEST_CLASS.get(name, 1)]
    columns = [_column([row[a] for row in rows]) for a in range(len(rows[0]) - 1)]
    X = np.column_stack([values for values, _ in columns])  # noqa: N806 - as in scikit-learn
    discrete = np.array([is_discrete for _, is_discrete in columns])
    return DataSet(name, X, np.array([row[-1] for row in rows]), discrete)


def _column(fields: list[str]) -> tuple[NDArray[np.float64], bool]:
    try:
        return np.array([float(field) if field else np.nan for field in fields]), False
    except ValueError:
        codes = {value: code for code, value in enumerate(sorted({*fields} - {""}))}
        return np.array([codes.get(field, np.nan) for field in fields]), True


def cost_matrices(
    y: NDArray[np.str_], seed: int, matrices: int = MATRICES
) -> Iterator[tuple[str, CostMatrix]]:
    """Draw the cost matrices of Table 6.2, [predicted, actual]."""
    rng = np.random.default_rng(seed)
    labels, counts = np.unique(y, return_counts=True)
    ratio = counts[:, np.newaxis] / counts  # P(i)/P(j)
    highest: dict[str, Any] = {
        "M1": 10,
        "M2": 100,
        "M3": 1000,
        "M4": 10_000,
        "M5": 1000 * ratio,
        "M6": 1000 / ratio,
        "M7": 10_000,
        "M8": 100,
    }
    shape = (len(labels), len(labels))
    for model in MODELS:
        for _ in range(matrices):
            values = rng.uniform(0, 1, shape) * highest[model]
            correct = {"M7": 1000, "M8": 10}.get(model, 0)
            np.fill_diagonal(values, rng.uniform(0, 1, len(labels)) * correct)
            yield model, CostMatrix(values, rows="predicted", labels=labels.tolist())


def learners(data: DataSet, args: argparse.Namespace, seed: int) -> dict[str, tuple[Any, Any]]:
    """Return each learner with the attributes that it reads."""
    shared = {"n_estimators": args.bags, "random_state": seed, "n_jobs": args.jobs}
    lazy = shared | {"min_leaf": args.min_leaf, "categorical_features": data.discrete}
    pet = shared | {"min_samples_leaf": args.min_leaf}
    classes, one_hot = len(np.unique(data.y)), data.one_hot()
    literal: dict[str, Any] = {"entropy": "plain", "thresholds": "query"}
    found: dict[str, tuple[Any, Any]] = {
        LOT: (BaggedLazyOptionTreesClassifier(**lazy), data.X),
        LITERAL: (BaggedLazyOptionTreesClassifier(**lazy, **literal), data.X),
        PET: (BaggedPETClassifier(**pet), one_hot),
        PET_K: (BaggedPETClassifier(**pet, laplace=1 / classes), one_hot),
    }
    if args.information:
        lazy |= {"ranking": "information", "average": "nodes", "max_nodes": args.information}
        found[INFORMED] = BaggedLazyOptionTreesClassifier(**lazy), data.X
    return found


def probabilities(data: DataSet, args: argparse.Namespace) -> tuple[list[Any], dict[str, float]]:
    """Return, for each fold, the actual classes and what each learner tells; and the times."""
    labels = np.unique(data.y)
    folds, seconds = [], dict.fromkeys((LOT, LITERAL, PET, PET_K, INFORMED), 0.0)
    splitter = StratifiedKFold(args.folds, shuffle=True, random_state=args.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes with fewer rows than folds
        splits = list(splitter.split(data.X, data.y))
    for fold, (train, test) in enumerate(splits):
        told = {}
        for name, (learner, X) in learners(data, args, args.seed + fold).items():  # noqa: N806
            start = time.process_time()
            proba = learner.fit(X[train], data.y[train]).predict_proba(X[test])
            seconds[name] += time.process_time() - start
            told[name] = np.zeros((len(test), len(labels)))
            told[name][:, np.searchsorted(labels, learner.classes_)] = proba
        folds.append((data.y[test], told))
    return folds, seconds


def verdicts(folds: list[Any], data: DataSet, args: argparse.Namespace) -> dict[str, Any]:
    """Count wins, ties and losses of the first of each pair, in all and for each cost model."""
    pairs = (*PAIRS, *INFORMED_PAIRS) if args.information else PAIRS
    counts = {pair: {model: [0, 0, 0] for model in MODELS} for pair in pairs}
    labels = np.unique(data.y)
    rng, other_rng = np.random.default_rng(args.seed), np.random.default_rng(args.seed)
    for model, costs in cost_matrices(data.y, args.seed, args.matrices):
        for y, told in folds:
            actual = np.searchsorted(labels, y)
            decided = {
                name: np.searchsorted(labels, costs.decide(proba, labels=labels.tolist()))
                for name, proba in told.items()
            }
            for pair in pairs:
                one, other = (decided[name] for name in pair)
                source = rng if pair in PAIRS else other_rng
                counts[pair][model][1 + verdict(actual, one, other, costs, source)] += 1
    return {
        f"{first} / {second}": {
            "all": np.sum(list(counts[first, second].values()), axis=0).tolist(),
            **counts[first, second],
        }
        for first, second in pairs
    }


def verdict(actual: Any, one: Any, other: Any, costs: CostMatrix, rng: np.random.Generator) -> int:
    """Return -1 if the first is cheaper by BDELTACOST (λ = 0), 1 if the second is, else 0.

    Classes and decisions are places in the labels of the costs.
    """
    if np.array_equal(one, other):
        return 0
    # Of the differences that came, as `compare` would count; with many classes that is quicker.
    delta = costs.values[one, actual] - costs.values[other, actual]
    difference = CostDifference(CostSample(delta), None)
    if not difference.test("bdeltacost", rng=rng).rejected:
        return 0
    return -1 if difference.difference < 0 else 1


def losses(folds: list[Any], data: DataSet) -> dict[str, dict[str, float]]:
    """Return how good the probabilities are, over all folds (smaller is better)."""
    actual = np.concatenate([actual for actual, _ in folds])
    labels = np.unique(data.y).tolist()
    found = {}
    for name in folds[0][1]:
        proba = np.concatenate([told[name] for _, told in folds])
        floored = (proba + 1e-4) / (proba + 1e-4).sum(axis=1, keepdims=True)  # for the logarithm
        found[name] = {
            "quadratic": float(quadratic_loss(actual, proba, labels=labels)),
            "bits": float(informational_loss(actual, floored, labels=labels)),
        }
    return found


def study(data: DataSet, args: argparse.Namespace) -> dict[str, Any]:
    """Run everything for one data set."""
    folds, seconds = probabilities(data, args)
    return {
        "rows": len(data.y),
        "classes": len(np.unique(data.y)),
        "verdicts": verdicts(folds, data, args),
        "losses": losses(folds, data),
        "seconds": seconds,
    }


def show(results: dict[str, Any]) -> None:
    """Print a line for each data set: wins/ties/losses of the first of each pair."""
    pairs = list(next(iter(results.values()))["verdicts"])
    header = ["set", "rows", "K", *pairs]
    lines = [header]
    total = np.zeros((len(pairs), 3), int)
    for name, result in results.items():
        cells = [result["verdicts"][pair]["all"] for pair in pairs]
        total += np.array(cells)
        sizes = [str(result["rows"]), str(result["classes"])]
        lines.append([name, *sizes, *("/".join(map(str, cell)) for cell in cells)])
    lines.append(["all", "", "", *("/".join(map(str, cell)) for cell in total.tolist())])
    widths = [max(len(line[k]) for line in lines) for k in range(len(header))]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def main() -> None:
    """Read the data sets, run the study, print one table."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS, metavar="SET")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--bags", type=int, default=50)
    parser.add_argument("--min-leaf", type=int, default=2)
    parser.add_argument("--matrices", type=int, default=MATRICES, help="of each cost model")
    parser.add_argument(
        "--information",
        type=int,
        metavar="NODES",
        help='also B-LOT with ranking="information", average="nodes" and so many max_nodes',
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, help="a JSON file for all results")
    args = parser.parse_args()
    results = {}
    for name in args.sets:
        start = time.perf_counter()
        results[name] = study(read(args.folder, name), args)
        print(f"{name}: {time.perf_counter() - start:.0f} s", flush=True)
        if args.out:
            args.out.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    show(results)


if __name__ == "__main__":
    main()
