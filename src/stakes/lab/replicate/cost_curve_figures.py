"""Holte & Drummond (2005), Figures 1 to 15: what cost curves show and ROC curves do not."""

# ruff: noqa: N806 - scikit-learn calls the features X

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from stakes.counts import Confusion, PairedConfusion
from stakes.curves import (
    CostCurve,
    CostCurveDifference,
    CostLine,
    average_curves,
    best_of,
    isoperformance_line,
    roc_average,
    roc_points,
)
from stakes.lab.domains.uci import read_uci
from stakes.lab.experiment import Experiment, Results, Row, Trial, Value, average
from stakes.lab.replicate.cost_curve_claims import FINDINGS, STAND_INS, claims, printed
from stakes.lab.replicate.shared.criterion_trees import CRITERIA, tree_scores

Floats = NDArray[np.float64]

GRID = np.linspace(0, 1, 101).round(4)
FOLDS = 10
VISIBLE = 0.005
"""How much cheaper than the trivial classifiers a curve must be for one to see it."""

NEAR = 1.1
"""Up to so many times the lowest cost is near it."""

EVALUATIONS = (CostLine(0.04, 0.4, name="first"), CostLine(0.3, 0.8, name="second"))
FIGURE_11 = [[16, 4], [4, 6]]
"""Rows are the actual classes, whatever its heading says: 20 positives, of which 16 are found."""

CORRELATIONS = {"13": ("high", 0, 0), "14": ("low", 20, 30), "15": ("medium", 10, 22)}
"""How many mistakes the second classifier makes alone, among positives and among negatives."""


def measure(trial: Trial, *, figures: str) -> Iterator[Row]:
    """Return the points of one or more figures, and the numbers that are read off them."""
    yield from MEASURES[figures](trial)


def _row(measure: str, value: Any, **keys: Value) -> Row:
    """Return a number that no chance is in, or none that is looked at."""
    return {**keys, "measure": measure, "value": float(value), "error": 0.0, "repeats": 1}


def _points(series: str, x: ArrayLike, y: ArrayLike, **keys: Value) -> Iterator[Row]:
    for one, other in zip(np.ravel(np.asarray(x)), np.ravel(np.asarray(y)), strict=True):
        yield _row("y", other, series=series, x=float(one), **keys)


def _lines_and_points(lines: Sequence[CostLine], first: int) -> Iterator[Row]:
    """Return classifiers as points of ROC space and as lines of cost space."""
    for line in lines:
        yield from _points(line.name, [line.fpr], [line.tpr], figure=first)
        yield from _points(line.name, [0, 1], [line.fpr, 1 - line.tpr], figure=first + 1)


@lru_cache(maxsize=4)
def examples(folder: Path | None) -> tuple[str, Floats, NDArray[np.int64]]:
    """Return the sonar data, mines being positive, or a made-up problem of the same size."""
    if folder is not None:
        sonar = read_uci(folder, "sonar")
        return "sonar", sonar.X, (sonar.y == sonar.classes[0]).astype(np.int64)
    from sklearn.datasets import make_classification

    X, y = make_classification(
        208, n_features=60, n_informative=8, n_redundant=20, flip_y=0.1, class_sep=0.9,
        random_state=4,
    )  # fmt: skip
    return "made up", X, y


def cross_validated(
    criterion: str, data: tuple[str, Floats, NDArray[np.int64]], folds: int, max_depth: int = 100
) -> Floats:
    """Return scores by ten-fold cross-validation; `folds` numbers the ways to cut the data."""
    from sklearn.model_selection import StratifiedKFold

    _, X, y = data
    scores = np.empty(len(y))
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=folds).split(X, y):
        scores[test] = tree_scores(criterion, X[train], y[train], X[test], max_depth=max_depth)
    return scores


def _figures_1_2(trial: Trial) -> Iterator[Row]:
    data = examples(trial.data)
    lines = []
    for name, depth in (("stump", 1), ("tree", 100)):
        decided = cross_validated("ENT", data, _cuts(trial)[0], depth) > 0.5  # noqa: PLR2004
        confusion = Confusion.from_labels(data[2], decided.astype(int))
        lines.append(CostLine.from_counts(confusion, name=name))
    yield from _lines_and_points(lines, 1)


def _cuts(trial: Trial) -> list[int]:
    """Return the numbers of the ways to cut the folds, the first of which is drawn."""
    return [1000 * trial.seed + number for number in range(trial.repeats)]


def _figures_3_4(trial: Trial) -> Iterator[Row]:
    data = examples(trial.data)
    curves = [
        CostCurve.from_scores(data[2], cross_validated("ENT", data, cut)) for cut in _cuts(trial)
    ]
    fpr, tpr, _ = roc_points(curves[0])
    yield from _points("thresholds", fpr, tpr, figure=3)
    yield _row("points above chance", (tpr[1:-1] > fpr[1:-1]).mean(), figure=3)
    costs = [curve.cost(GRID) for curve in curves]
    yield average("highest cost", [cost.max() for cost in costs], figure=4)
    low, high = zip(*map(_visible_range, costs), strict=True)
    yield average("operating range from", low, figure=4)
    yield average("operating range to", high, figure=4)
    low, high = zip(*(curve.operating_range()[0] for curve in curves), strict=True)
    yield average("cheaper at all from", low, figure=4)
    yield average("cheaper at all to", high, figure=4)
    near = (fpr + 1 - tpr) / 2 <= NEAR * curves[0].cost(0.5)
    yield _row("thresholds near the best at 0.5", near.sum(), figure=4)


def _visible_range(costs: Floats) -> tuple[float, float]:
    """Return where a curve can be seen to be cheaper than the trivial classifiers."""
    cheaper = GRID[np.minimum(GRID, 1 - GRID) - costs > VISIBLE]
    return (float(cheaper[0]), float(cheaper[-1])) if len(cheaper) else (0.5, 0.5)


def _figures_5_6(_: Trial) -> Iterator[Row]:
    evenly = ndtri((np.arange(500) + 0.5) / 500)
    y_true = np.repeat([1, 0], 500)
    dotted = CostCurve.from_scores(y_true, np.concatenate([1.5 + 2.0 * evenly, evenly]))
    dashed = CostCurve.from_scores(y_true, np.concatenate([evenly, -1.5 + 2.0 * evenly]))
    for name, curve in (("dotted", dotted), ("dashed", dashed)):
        points = roc_average([curve], steps=101)
        yield from _points(name, [0, *points.fpr], [0, *points.tpr], figure=5)
        yield from _points(name, GRID, curve.cost(GRID), figure=6)
    (crossover,) = dotted.crossovers(dashed)
    yield _row("crossover", crossover, figure=6)
    yield _row("cost at the crossover", dotted.cost(crossover), figure=6)
    yield _row("dotted cheaper below", dotted.cost(0.25) < dashed.cost(0.25), figure=6)
    gap = [np.interp(GRID, *roc_points(each)[:2]) for each in (dotted, dashed)]
    crosses = GRID[1:-1][np.diff(np.sign(gap[0] - gap[1])[1:]) != 0]
    yield _row("ROC curves cross at a false positive rate of", crosses[0], figure=5)


def _figures_7_8(trial: Trial) -> Iterator[Row]:
    data = examples(trial.data)
    costs = {}
    for name in CRITERIA:
        curves = [
            CostCurve.from_scores(data[2], cross_validated(name, data, cut)) for cut in _cuts(trial)
        ]
        points = roc_average(curves, steps=101)
        yield from _points(name, points.fpr, points.tpr, figure=7)
        mean = average_curves([best_of([curve]) for curve in curves])
        yield from _points(name, GRID, mean.cost(GRID), figure=8)
        costs[name] = np.array([best_of([curve]).cost(GRID) for curve in curves])
        low, high = _visible_range(mean.cost(GRID))
        yield _row("operating range from", low, series=name, figure=8)
        yield _row("operating range to", high, series=name, figure=8)
        yield average("area", [curve.area() for curve in curves], series=name, figure=8)
    within = (GRID > 0.3) & (GRID < 0.6)  # noqa: PLR2004 - the range that the paper names
    gap = np.abs((costs["DKM"] - costs["ENT"]).mean(axis=0))[within]
    yield _row("DKM and ENT apart, at most, from 0.3 to 0.6", gap.max(), figure=8)
    low, high = _visible_range(np.mean(list(costs.values()), axis=(0, 1)))
    inside = (low <= GRID) & (high >= GRID)
    for one, other in (("DKM", "ENT"), ("DKM", "GINI"), ("DKM", "ACC"), ("GINI", "ACC")):
        cheaper = (costs[one] - costs[other]).mean(axis=0)[inside] <= 0
        yield _row("cheaper on this share", cheaper.mean(), series=f"{one} than {other}", figure=8)


def _figures_9_10(_: Trial) -> Iterator[Row]:
    for line in EVALUATIONS:
        yield from _points(line.name, [0, line.fpr, 1], [0, line.tpr, 1], figure=9)
        yield from _points(line.name, GRID, best_of([line]).cost(GRID), figure=10)
    (pc,) = EVALUATIONS[0].crossovers(EVALUATIONS[1])
    cost = EVALUATIONS[0].cost(pc)
    slope, intercept = isoperformance_line(pc, cost)
    reach = np.array([0.0, (1 - intercept) / slope])
    yield from _points("equal cost", reach, intercept + slope * reach, figure=9)
    mean = average_curves([best_of([line]) for line in EVALUATIONS])
    yield from _points("average", GRID, mean.cost(GRID), figure=10)
    yield _row("equal cost at", pc, figure=9)
    yield _row("cost there", cost, series="both", figure=9)
    yield _row("cost there", mean.cost(pc), series="average", figure=10)
    for direction in ("vertical", "horizontal"):
        points = roc_average(EVALUATIONS, direction)
        yield from _points(direction, points.fpr, points.tpr, figure=9)
        costs = (1 - pc) * points.fpr + pc * (1 - points.tpr)
        yield _row("cost there", costs.min(), series=direction, figure=9)


def _figures_11_12(trial: Trial) -> Iterator[Row]:
    counts = np.array(FIGURE_11).T  # [predicted, actual], positives first
    confusion = Confusion(counts, labels=["pos", "neg"])
    line = CostLine.from_counts(confusion, pos_label="pos")
    for name, value in (("P1", line.tpr), ("P2", line.fpr), ("m", line.positives),
                        ("n", line.negatives)):  # fmt: skip
        yield _row(name, value, figure=11)
    for i, row in enumerate(FIGURE_11):
        yield from _points(f"row {i + 1}", [0, 1], row, figure=11)
    drawn = [trial.rng.binomial(size, rate, 100) / size for size, rate in ((20, 0.2), (10, 0.4))]
    yield from _points("ends of drawn lines", drawn[1], drawn[0], figure=12)
    heights = np.sort(np.outer(drawn[0], GRID) + np.outer(drawn[1], 1 - GRID), axis=0)
    yield from _points("line", GRID, line.cost(GRID), figure=12)
    yield from _points("low, 100 lines", GRID, heights[4], figure=12)
    yield from _points("high, 100 lines", GRID, heights[-5], figure=12)
    for method in ("exact", "mover"):
        band = line.band(0.9, method=method, pc=GRID)
        yield from _points(f"low, {method}", GRID, band.low, figure=12)
        yield from _points(f"high, {method}", GRID, band.high, figure=12)


def paired(positives: int, negatives: int) -> PairedConfusion:
    """Count two classifiers of which the second makes so many mistakes alone.

    The first misses 30 of 200 positives and raises 34 false alarms in 100 negatives, the second
    misses 20 and raises 30.
    """
    counts = np.zeros((2, 2, 2), dtype=int)  # [predicted by the first, by the second, actual]
    both, first, second = 20 - positives, 10 + positives, positives
    counts[0, 0, 1], counts[0, 1, 1], counts[1, 0, 1] = both, first, second
    counts[1, 1, 1] = 200 - both - first - second
    both, first, second = 30 - negatives, 4 + negatives, negatives
    counts[1, 1, 0], counts[1, 0, 0], counts[0, 1, 0] = both, first, second
    counts[0, 0, 0] = 100 - both - first - second
    return PairedConfusion(counts, labels=[0, 1])


def _figures_13_15(trial: Trial) -> Iterator[Row]:
    for number, (_, positives, negatives) in CORRELATIONS.items():
        figure = int(number)
        difference = CostCurveDifference(paired(positives, negatives))
        yield from _points("first", GRID, difference.first.cost(GRID), figure=figure)
        yield from _points("second", GRID, difference.second.cost(GRID), figure=figure)
        yield from _points("difference", GRID, difference.difference(GRID), figure=figure)
        drawn = {
            "n_resamples": max(100 * trial.repeats, 1000),
            "rng": int(trial.rng.integers(2**31)),
        }
        every: dict[str, Any] = {"bootstrap": drawn, "exact": {}, "mover": {}}
        for method, options in every.items():
            band = difference.band(0.9, method=method, pc=GRID, **options)
            yield from _points(f"low, {method}", GRID, band.low, figure=figure)
            yield from _points(f"high, {method}", GRID, band.high, figure=figure)
            found = band.low > 0
            yield _row("significant on this share", found.mean(), method=method, figure=figure)
            yield _row("significant from", _lasting(found), method=method, figure=figure)


def _lasting(found: NDArray[np.bool_]) -> float:
    """Return the condition from which on all are significant; 1 if none is."""
    short = np.flatnonzero(~found)
    return float(GRID[min(short[-1] + 1, len(GRID) - 1)]) if len(short) else 0.0


MEASURES: Mapping[str, Any] = {
    "1 and 2": _figures_1_2,
    "3 and 4": _figures_3_4,
    "5 and 6": _figures_5_6,
    "7 and 8": _figures_7_8,
    "9 and 10": _figures_9_10,
    "11 and 12": _figures_11_12,
    "13 to 15": _figures_13_15,
}


def draw(results: Results) -> Mapping[str, Any]:
    """Draw the figures in the paper's layout."""
    from stakes.lab.replicate.cost_curve_drawings import figures

    return figures(results)


EXPERIMENT = Experiment(
    name="cost-curve-figures",
    title="Cost curves beside ROC curves",
    source="Holte & Drummond (2005), Figures 1 to 15",
    varies={"figures": tuple(MEASURES)},
    measure=measure,
    repeats=20,
    least=2,
    printed=tuple(printed()),
    derive=claims,
    draw=draw,
    stand_ins=STAND_INS,
    findings=FINDINGS,
    uses_data=True,
)
