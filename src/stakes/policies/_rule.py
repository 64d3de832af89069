"""The rule that cuts scores: a smooth estimate of the cheapest cut, unless the rows contradict it.

The cut of least cost on some rows overfits them: with few errors it costs far more on other rows. A
logistic curve on the normal scores of mid-ranks is more stable. Its cut is used unless it costs
more on the rows than the cheapest cut by more than chance explains, as where the logistic curve
does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri

from stakes._core.typing import Booleans, Floats

Cuts = NDArray[np.intp]

STEPS = 30
"""Maximum number of Newton steps; fewer than ten are needed unless scores separate the classes."""

LONGEST = 3.0
"""Longest Newton step of a coefficient, so that separated classes do not make it diverge."""

CLOSE = 1e-6
"""Newton's method converges quadratically: after a step this short the error is negligible."""

RIDGE = 0.01
"""Penalty that keeps the slope finite where scores separate the classes; negligible otherwise."""

ROUNDING = 1e-12
TWO = 2

BLOCK = 1 << 14
"""Number of cuts evaluated together, so that their costs stay in the processor's cache."""


@dataclass(frozen=True, eq=False)
class ScoreTables:
    """Counts of rows by class and step of scores, highest scores first.

    Attributes
    ----------
    positives, negatives : ndarray, shape (tables, steps)
        The rows, or the sums of their weights.
    weight : float
        The weight of one row: 1, or the sum of squared weights over that of weights.
    gains, squares : ndarray, shape (2, tables, steps), or None
        Where rows have costs of their own: the sums, over negatives and over positives, of the
        extra cost of the first of two decisions over the second, and of its square.
    """

    positives: Floats
    negatives: Floats
    weight: float = 1.0
    gains: Floats | None = None
    squares: Floats | None = None

    @property
    def loss(self) -> Floats:
        """The mean extra cost of the first decision, shape (2, tables): by class and table."""
        assert self.gains is not None  # noqa: S101 - asked only where there are
        return np.asarray(self.gains.sum(axis=2) / np.maximum(self.class_sizes, 1e-300))

    @property
    def class_sizes(self) -> Floats:
        """The number of rows of each class in each table, shape (2, tables)."""
        return np.stack([self.negatives.sum(axis=1), self.positives.sum(axis=1)])


def cheapest_cuts(
    tables: ScoreTables,
    costs: Floats,
    allowed: Booleans | None = None,
    log_odds: Floats | None = None,
) -> Cuts:
    """Return the cuts: after how many steps, from the highest, each decision but the last ends.

    Parameters
    ----------
    tables : ScoreTables
        A table for each set of rows to choose on.
    costs : ndarray, shape (decisions, 2)
        The cost of each decision for a negative and for a positive row. The decisions are in their
        order from the highest scores to the lowest.
    allowed : ndarray of bool, shape (tables, steps + 1), optional
        Between two decisions, the cuts that keep within limits.
    log_odds : ndarray, shape (tables, steps), optional
        The result of `fitted_odds`, to reuse it for the same tables at several costs.

    Returns
    -------
    ndarray of int, shape (tables, decisions - 1)
    """
    odds = fitted_odds(tables) if log_odds is None else log_odds
    if tables.gains is None:
        fitted = _fitted_cuts(odds, costs)
    else:
        each = zip(odds, tables.loss.T, strict=True)
        pairs = [(line[np.newaxis], np.stack([loss, np.zeros(2)])) for line, loss in each]
        fitted = np.concatenate([_fitted_cuts(*pair) for pair in pairs])
    if len(costs) == TWO:
        return _guarded(tables, costs, allowed, fitted[:, 0])[:, np.newaxis]
    found = np.empty_like(fitted)
    for at, (positives, negatives) in enumerate(
        zip(tables.positives, tables.negatives, strict=True)
    ):
        one = _Steps(positives, negatives, costs)
        least = one.least()
        more = one.cost(fitted[at]) - one.cost(least)
        keep = more <= one.chance(fitted[at], least, tables.weight)
        found[at] = fitted[at] if keep else least
    return found


def _guarded(tables: ScoreTables, costs: Floats, allowed: Booleans | None, fitted: Cuts) -> Cuts:
    """Return each table's fitted cut between two decisions, or the nearest of least cost."""
    found = fitted.copy()
    size = max(1, BLOCK // (tables.positives.shape[1] + 1))
    for start in range(0, len(fitted), size):
        rows = slice(start, start + size)
        near, each = fitted[rows], np.arange(len(fitted[rows]))
        cost, squares, one = _summed(tables, costs, rows)
        within = cost if allowed is None else np.where(allowed[rows], cost, np.inf)
        room = ROUNDING * np.sqrt(squares[:, -1:] * squares.shape[1])
        best = within <= within.min(axis=1, keepdims=True) + room
        apart = np.abs(np.arange(cost.shape[1]) - near[:, np.newaxis])
        least = np.where(best, apart, cost.shape[1]).argmin(axis=1)
        # How much the two may differ by chance: a standard error, and one row of each class.
        variance = np.abs(squares[each, near] - squares[each, least]) + tables.weight * one
        chance = np.sqrt(variance * tables.weight)
        found[rows] = np.where(within[each, near] - cost[each, least] <= chance, near, least)
    return found


def _summed(tables: ScoreTables, costs: Floats, rows: slice) -> tuple[Floats, Floats, Any]:
    """Return the extra cost of the first decision above each cut, and two sums of squares.

    The sums are of all rows above each cut, and of one negative and one positive row.
    """
    if tables.gains is None or tables.squares is None:
        loss = costs[0] - costs[1]
        sums = [_running(side[rows]) for side in (tables.negatives, tables.positives)]
        cost, squares = (weight[0] * sums[0] + weight[1] * sums[1] for weight in (loss, loss**2))
        return cost, squares, (loss**2).sum()
    squared = tables.squares[:, rows]
    one = squared.sum(axis=2) / np.maximum(tables.class_sizes[:, rows], 1e-300)
    return _running(tables.gains[:, rows].sum(axis=0)), _running(squared.sum(axis=0)), one.sum(0)


def _running(side: Floats) -> Floats:
    """Return the sum above each cut."""
    return np.concatenate([np.zeros((len(side), 1)), np.cumsum(side, axis=1)], axis=1)


def fitted_odds(tables: ScoreTables) -> Floats:
    """Return the log odds of a positive in each step.

    They are those of a logistic curve on the normal scores of mid-ranks.
    """
    rows = tables.positives + tables.negatives
    total = rows.sum(axis=1, keepdims=True)
    above = np.cumsum(rows, axis=1) - rows / 2
    least = tables.weight / (2 * total)
    scores = ndtri(np.clip(1 - above / total, least, 1 - least))
    constant, slope = _logistic(tables.positives, rows, scores)
    return np.asarray(constant[:, np.newaxis] + slope[:, np.newaxis] * scores)


def _fitted_cuts(log_odds: Floats, costs: Floats) -> Cuts:
    """Return the cuts at which each decision is expected to cost least."""
    places = logit(np.clip(expected_thresholds(costs), 0.0, 1.0))
    return np.stack([(log_odds >= place).sum(axis=1) for place in places], axis=1)


def _logistic(positives: Floats, rows: Floats, scores: Floats) -> tuple[Floats, Floats]:
    """Return the constant and the slope of maximum likelihood for each table.

    A slope below 0 would reverse the order of the scores, so it is set to 0.
    """
    share = positives.sum(axis=1) / rows.sum(axis=1)
    base = logit(np.clip(share, ROUNDING, 1 - ROUNDING))
    most = [int(rows.sum(axis=1).argmax())]  # a good start for tables of parts of its rows
    begin = _newton(positives[most], rows[most], scores[most], (base[most], np.ones(1)))
    constant, slope = _newton(
        positives, rows, scores, (base - base[most] + begin[0], np.repeat(begin[1], len(base)))
    )
    falling = ~(slope > 0)
    return np.where(falling, base, constant), np.where(falling, 0.0, slope)


def _newton(
    positives: Floats, rows: Floats, scores: Floats, begin: tuple[Floats, Floats]
) -> tuple[Floats, Floats]:
    """Return the constant and the slope of maximum likelihood, by Newton's method from `begin`."""
    constant, slope = begin
    squared = scores**2
    for _ in range(STEPS):
        chance = expit(constant[:, np.newaxis] + slope[:, np.newaxis] * scores)
        expected = rows * chance
        rest, spread = positives - expected, expected * (1 - chance)
        gradient = rest.sum(axis=1), (rest * scores).sum(axis=1) - RIDGE * slope
        corner = spread.sum(axis=1) + ROUNDING
        side = (spread * scores).sum(axis=1)
        other = (spread * squared).sum(axis=1) + RIDGE
        scale = corner * other - side**2
        moves = np.stack(
            [
                (other * gradient[0] - side * gradient[1]) / scale,
                (corner * gradient[1] - side * gradient[0]) / scale,
            ]
        )
        longest = np.abs(moves).max(axis=0)
        moves *= np.minimum(1.0, LONGEST / np.maximum(longest, ROUNDING))
        constant, slope = constant + moves[0], slope + moves[1]
        if longest.max() < CLOSE:
            break
    return constant, slope


def expected_thresholds(costs: Floats) -> list[float]:
    """Return the probabilities from which on each decision but the last costs least on average.

    They are the corners of the lower envelope of the lines c₀(1 - p) + c₁ p, taken in the order of
    their slopes.
    """
    hull: list[tuple[int, float]] = [(len(costs) - 1, 0.0)]  # each decision and where it begins
    for at in range(len(costs) - 2, -1, -1):
        while True:
            other, begins = hull[-1]
            loss = float(costs[at, 0] - costs[other, 0])
            gain = float(costs[other, 1] - costs[at, 1])
            if gain <= 0:
                start = np.inf
            else:  # of parallel lines the lower one is below everywhere
                start = max(loss / (loss + gain), 0.0) if gain + loss > 0 else 0.0
            if start > begins or len(hull) == 1:
                break
            hull.pop()
        if start <= 1:
            hull.append((at, start))
    starts = dict(hull)
    found, last = [], np.inf
    for at in range(len(costs) - 1):
        last = min(last, starts.get(at, last))
        found.append(last)
    return found


class _Steps:
    """The costs of cuts on one set of rows."""

    def __init__(self, positives: Floats, negatives: Floats, costs: Floats) -> None:
        self.costs = costs
        sums = [np.concatenate([[0.0], np.cumsum(side)]) for side in (negatives, positives)]
        self.negatives, self.positives = sums
        # The cost of taking a decision from the highest score down to each cut.
        self.running = costs[:, :1] * self.negatives + costs[:, 1:] * self.positives

    def cost(self, cuts: NDArray[Any]) -> float:
        """Return the sum of the costs of all rows."""
        ends = np.concatenate([[0], cuts, [self.running.shape[1] - 1]])
        each = zip(self.running, ends[:-1], ends[1:], strict=True)
        return float(sum(line[end] - line[start] for line, start, end in each))

    def least(self) -> NDArray[np.intp]:
        """Return the cuts of least cost.

        By dynamic programming: for each decision in order, find its best start for each end.
        """
        best, begun = self.running[0], []
        for line in self.running[1:]:
            gain = best - line
            place = np.arange(len(gain))
            lowest = np.minimum.accumulate(gain)
            new = np.concatenate([[True], gain[1:] < lowest[:-1]])
            begun.append(np.maximum.accumulate(np.where(new, place, 0)))
            best = lowest + line
        cuts, end = [], len(best) - 1
        for start in reversed(begun):
            end = int(start[end])
            cuts.append(end)
        return np.array(cuts[::-1], dtype=np.intp)

    def chance(self, cuts: NDArray[Any], others: NDArray[Any], weight: float) -> float:
        """Return how much two sets of cuts may differ by chance: a standard error and one row.

        The one row, of each class and with its largest difference in cost, is added because cuts
        that differ in no row or in one are weak evidence.
        """
        extremes = np.unique(np.concatenate([[0], cuts, others, [self.running.shape[1] - 1]]))
        middles = (extremes[:-1] + extremes[1:]) / 2
        decided = (np.searchsorted(each, middles) for each in (cuts, others))
        first, second = (self.costs[each] for each in decided)
        sums = np.stack([self.negatives, self.positives], axis=1)
        rows = np.diff(sums[extremes], axis=0)
        variance = (rows * (first - second) ** 2).sum() * weight
        one = (np.ptp(self.costs, axis=0) ** 2).sum() * weight**2
        return float(np.sqrt(variance + one))
