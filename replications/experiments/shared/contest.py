"""Comparison of learners on the folds of a data set: wins, ties and losses by BDELTACOST."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest
from sklearn.model_selection import StratifiedKFold

from replications.domains.cost_models import THESIS, draw_costs
from replications.domains.uci import DataSet
from replications.experiment import Row, average, share
from stakes._core.typing import Floats
from stakes.costs._axes import least_risk
from stakes.infer._probability.convolution import Draws
from stakes.infer._probability.distribution import CostDistribution

Places = NDArray[np.intp]

FOLDS = 10
QUICK_FIRST = (
    *("lung", "iris", "hepatitis", "zoo", "wine", "lympho", "bcy", "voting", "liver", "audio"),
    *("glass", "sonar", "soybean", "vehicle", "segment", "abalone"),
)
SLOW = {"vehicle": 2, "segment": 2, "abalone": 1}
FEWER_FOLDS = SLOW | dict.fromkeys(QUICK_FIRST[5:13], 5)
"""Number of the ten folds that slow data sets use below full scale."""

LEVEL = 0.025
"""Largest bootstrap probability of a difference at or beyond 0 that counts as a win."""

RESAMPLES = 5000
MOST_RESAMPLES = 200_000
AT_ONCE = 512
CERTAIN = 5.0
"""Distance from the level, in standard errors, at which a sample of resamples settles a test."""

ROUNDING = 1e-10
OUTCOMES = ("wins", "ties", "losses")


def folds(data: DataSet, seed: int) -> list[tuple[Places, Places]]:
    """Return the training rows and the test rows of each of ten stratified folds."""
    splitter = StratifiedKFold(FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # classes with fewer rows than folds
        return list(splitter.split(data.X, data.y))


def matrices(data: DataSet, seed: int, count: int) -> Floats:
    """Draw cost matrices, shape (8 models, count, predicted, actual); the same for all folds.

    The first matrices of a model are the same for any `count`.
    """
    drawn = []
    for model in THESIS:
        key = (crc32(data.name.encode()), crc32(model.encode()))
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
        drawn.append(
            [draw_costs(model, data.shares, source="thesis", rng=rng).values for _ in range(count)]
        )
    return np.array(drawn)


def decisions(proba: Floats, costs: Floats) -> Places:
    """Return the cheapest decision for each matrix and row, shape (matrices, rows)."""
    return np.array([least_risk(proba, values) for values in costs])


def cost_of(decided: Places, actual: Places, costs: Floats) -> Floats:
    """Return the cost of each decision, shape (matrices, rows)."""
    return np.asarray(costs[np.arange(len(costs))[:, np.newaxis], decided, actual])


def verdicts(differences: Floats, rng: np.random.Generator) -> NDArray[np.int64]:
    """Tell by BDELTACOST (λ = 0, 95%) which of two was cheaper on the rows of a test set.

    With λ = 0, resampling the table of counts is the same as resampling the rows. So the same
    resamples of the rows serve all cost matrices, by one matrix product, and more are drawn only
    for tests that are not settled. Where even many resamples do not settle whether the interval of
    infinitely many contains 0, the exact distribution does.

    Parameters
    ----------
    differences : ndarray, shape (tests, rows)
        The cost of the first minus that of the second, for each row of the test set.
    rng : numpy.random.Generator
        The random generator of the resamples.

    Returns
    -------
    ndarray of int, shape (tests,)
        1 where the first was cheaper, -1 where the second was, 0 where neither was.
    """
    tests, rows = differences.shape
    largest = np.abs(differences).max(axis=1)
    result, beyond = np.zeros(tests, dtype=np.int64), np.zeros((tests, 2))
    unsure = np.flatnonzero(largest)
    for drawn in range(RESAMPLES, MOST_RESAMPLES + 1, RESAMPLES):
        if not len(unsure):
            return result
        times = rng.multinomial(rows, np.full(rows, 1 / rows), size=RESAMPLES).T.astype(np.float64)
        for start in range(0, len(unsure), AT_ONCE):
            some = unsure[start : start + AT_ONCE]
            total = (differences[some] / largest[some, np.newaxis]) @ times
            beyond[some, 0] += (total >= -ROUNDING).sum(axis=1)
            beyond[some, 1] += (total <= ROUNDING).sum(axis=1)
        off = beyond[unsure] / drawn - LEVEL
        certain = (np.abs(off) > CERTAIN * np.sqrt(LEVEL * (1 - LEVEL) / drawn)).all(axis=1)
        result[unsure[certain]] = _cheaper(off[certain])
        unsure = unsure[~certain]
    exact = [[_at_least_0(each), _at_least_0(-each)] for each in differences[unsure]]
    result[unsure] = _cheaper(np.reshape(exact, (-1, 2)) - LEVEL)
    return result


def _cheaper(off: Floats) -> NDArray[np.int64]:
    return np.where(off[:, 0] < 0, 1, np.where(off[:, 1] < 0, -1, 0))


def _at_least_0(differences: Floats) -> float:
    """Return the probability that a bootstrap total is 0 or above."""
    values, counts = np.unique(differences, return_counts=True)
    rows = len(differences)
    return float(CostDistribution([Draws(values, counts / rows, rows, 1.0)]).sf(0.0))


def tally(found: NDArray[np.int64], **keys: Any) -> Iterator[Row]:
    """Return the shares of wins, ties and losses of the first of two learners in a fold."""
    for name, outcome in zip(OUTCOMES, (1, 0, -1), strict=True):
        yield share(f"{name} in a fold", int((found == outcome).sum()), found.size, **keys)


def totals(rows: Sequence[Row], of: str = "pair") -> list[Row]:
    """Return wins, ties and losses over all folds of a data set, as shares of all tests.

    The standard error is that of the mean over folds. The tests of a fold are not independent,
    because they have rows and learners in common.
    """
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        name = str(row["measure"])
        if name.endswith(" in a fold"):
            groups.setdefault((row["dataset"], row[of], name.split(maxsplit=1)[0]), []).append(row)
    found = []
    for (dataset, pair, name), members in groups.items():
        tests = sum(int(row["repeats"]) for row in members)
        row = average(name, [row["value"] for row in members], dataset=dataset, **{of: pair})
        found.append(row | {"repeats": tests})
    return found


def standing(rows: Sequence[Row], pair: str) -> dict[str, tuple[int, int, int]]:
    """Return the numbers of wins, ties and losses of a pair, for each data set."""
    found: dict[str, tuple[int, int, int]] = {}
    for dataset in sorted({str(row["dataset"]) for row in rows if "dataset" in row}):
        shares = {
            str(row["measure"]): row
            for row in rows
            if row.get("dataset") == dataset and row.get("pair") == pair
            and row["measure"] in OUTCOMES
        }  # fmt: skip
        if len(shares) == len(OUTCOMES):
            wins, ties, losses = (
                round(float(shares[name]["value"]) * int(shares[name]["repeats"]))
                for name in OUTCOMES
            )
            found[dataset] = wins, ties, losses
    return found


def ahead(score: tuple[int, int, int]) -> int:
    """Tell which learner won more often: 1 for the first, -1 for the second, 0 for neither."""
    return int(np.sign(score[0] - score[2]))


def clearly_ahead(score: tuple[int, int, int]) -> int:
    """Tell which learner won significantly more often, by a sign test of all wins and losses."""
    wins, _, losses = score
    if wins + losses == 0 or binomtest(wins, wins + losses).pvalue >= 2 * LEVEL:
        return 0
    return ahead(score)


def left_out() -> Row:
    """Return the row of a cell that a smaller scale leaves out."""
    return count_row("left out", 1)


def count_row(measure: str, value: float, **keys: Any) -> Row:
    """Return the row of a count, which has no standard error of its own."""
    return {**keys, "measure": measure, "value": float(value), "error": 0.0, "repeats": 1}


def draw_bars(
    rows: Sequence[Row], pair: str, names: tuple[str, str], title: str, *, black: int = 1
) -> Any:
    """Draw the thesis's bar plots: the ties, and the wins of either learner, for each data set.

    White bars are ties, as in the thesis; `black` is the index of the learner with black bars.
    """
    from stakes.show._drawing import COLOURS, pyplot

    scores = standing(rows, pair)
    figure, ax = pyplot().subplots(figsize=(9, 3.4), layout="constrained")
    places = np.arange(len(scores))
    tests = np.array([sum(score) for score in scores.values()])
    wins = (0, 2)
    bars: tuple[tuple[int, str, dict[str, Any]], ...] = (
        (1, "ties", {"facecolor": "white"}),
        (wins[black], f"wins of {names[black]}", {"facecolor": "black"}),
        (wins[1 - black], f"wins of {names[1 - black]}", {"facecolor": COLOURS[0]}),
    )
    for offset, (outcome, label, look) in enumerate(bars):
        heights = np.array([score[outcome] for score in scores.values()]) / tests
        ax.bar(places + 0.27 * (offset - 1), heights, 0.27, label=label, edgecolor="black", **look)
    labels = [f"{name}\n{number:,}" for name, number in zip(scores, tests, strict=True)]
    ax.set_xticks(places, labels, fontsize=7)
    ax.set_xlabel("data set, and how many tests", fontsize=8)
    ax.set_ylabel("share of the tests")
    ax.set_ylim(0, 1.02)
    ax.set_title(title, fontsize=10)
    figure.legend(ncols=3, fontsize=8, loc="outside lower center")
    return figure
