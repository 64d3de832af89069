"""Class weights by trying the learner on held-out rows: EvalCount and Powell's method."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, minimize

from stakes._core.typing import Floats
from stakes.errors import InputError

ROOMS = tuple(np.log([100.0, 10.0, 3.0]).tolist())
"""How far around the best weights so far their logarithms are searched, one after the other."""

STEP = float(np.log(1.05))
"""The finest step: a change of a weight by less is seldom seen in predictions."""


@dataclass(frozen=True)
class Trial:
    """What weights cost on held-out rows."""

    predict: Callable[[Floats], NDArray[Any]]
    """From class weights to the predicted classes of the held-out rows, as positions."""
    actual: NDArray[Any]
    rows: Floats
    """How much each held-out row weighs."""
    costs: Floats
    """``[predicted class, actual class]``."""

    def mean_cost(self, weights: Floats) -> float:
        """Return the mean cost of the held-out rows."""
        each = self.costs[self.predict(weights), self.actual]
        return float(np.average(each, weights=self.rows))


@dataclass(frozen=True)
class WeightSearch:
    """How a search for weights went: the `search_` of a WeightedClassifier.

    Attributes
    ----------
    fits : int
        How many fits the search took.
    start_cost, cost : float
        The mean cost of the held-out rows with the weights that the search began with, and with
        those that it found.
    n_validation : int
        How many rows were held out.
    """

    fits: int
    start_cost: float
    cost: float
    n_validation: int


def held_out(
    codes: NDArray[Any], rows: Floats, share: float, random: np.random.RandomState
) -> NDArray[np.bool_]:
    """Choose the rows to hold out: a share of each class, of those that weigh something.

    A class keeps at least one row for training, and gives at least one if it has two.
    """
    order = random.permutation(np.flatnonzero(rows > 0))
    order = order[np.argsort(codes[order], kind="stable")]
    sizes = np.bincount(codes[order], minlength=codes.max() + 1)
    given = np.minimum(np.maximum(np.rint(share * sizes), 1), np.maximum(sizes - 1, 0))
    if not given.any():
        raise InputError(
            "validation: rows cannot be held out, as no class has two. Give more rows, or choose "
            "a weighting that needs no validation, such as 'avg_cost'."
        )
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    chosen = np.zeros(len(codes), dtype=bool)
    chosen[order[place < given[codes[order]]]] = True
    return chosen


def eval_count(trial: Trial) -> Floats:
    """Return 1 plus what the mistakes about each class cost a learner without weights."""
    classes = len(trial.costs)
    extra = trial.costs - np.diag(trial.costs)
    each = extra[trial.predict(np.ones(classes)), trial.actual] * trial.rows
    return np.asarray(1 + np.bincount(trial.actual, each, minlength=classes))


class _BudgetSpentError(Exception):
    """Ends a search."""


@dataclass
class _Objective:
    """The cost of weights, by the logarithms of their ratios to the first class's weight."""

    trial: Trial
    max_fits: int
    verbose: int
    seen: dict[bytes, float] = field(default_factory=dict)
    best: tuple[float, Floats] = (np.inf, np.empty(0))

    def __call__(self, logs: Floats) -> float:
        key = np.round(logs, 9).tobytes()
        if key not in self.seen:
            if len(self.seen) == self.max_fits:
                raise _BudgetSpentError
            cost = self.trial.mean_cost(np.exp(np.append(0.0, logs)))
            self.seen[key] = cost
            if cost < self.best[0]:
                self.best = (cost, np.array(logs))
            self._report(cost)
        return self.seen[key]

    def _report(self, cost: float) -> None:
        fits = len(self.seen)
        if self.verbose and (self.verbose > 1 or fits % 10 == 0):
            print(  # noqa: T201 - what verbose asks for
                f"[powell] fit {fits} of at most {self.max_fits}: cost {cost:.6g}, "
                f"least {self.best[0]:.6g}"
            )


def _minimize(objective: _Objective, start: Floats, bounds: Bounds) -> None:
    try:
        minimize(objective, start, method="Powell", bounds=bounds, options={"xtol": STEP})
    except ValueError as error:
        # SciPy stumbles over a round that ends where it began; what was tried before counts.
        if "zero-size array" not in str(error):
            raise


def powell(
    trial: Trial, starts: Sequence[Floats], *, max_fits: int, verbose: int = 0
) -> tuple[Floats, WeightSearch]:
    """Search for the weights of least cost (Table 3.4), from the best of some starting points.

    Cost changes in jumps, wherever a prediction does. So each line is searched by golden
    sections over all of its length, and not by small steps, which would see no change. Such a
    search may lose its way between several valleys: the next ones begin at the best weights so
    far and stay closer to them. The best of all weights tried is returned; the starting points
    are the first that are.
    """
    objective = _Objective(trial, max_fits, verbose)
    points = [np.log(start[1:]) - np.log(start[0]) for start in starts]
    for point in points[:max_fits]:
        objective(point)
    start_cost = objective.best[0]
    low, high = np.minimum.reduce(points), np.maximum.reduce(points)
    try:
        for room in ROOMS:
            start = objective.best[1]
            bounds = Bounds(low - room, high + room)
            _minimize(objective, start, bounds)
            low = high = objective.best[1]
    except _BudgetSpentError:
        pass
    cost, logs = objective.best
    weights = np.exp(np.append(0.0, logs))
    return weights, WeightSearch(len(objective.seen), start_cost, cost, len(trial.actual))
