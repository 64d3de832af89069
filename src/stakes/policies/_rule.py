"""The rule that cuts scores: a smooth estimate of the cheapest cut, unless the rows contradict it.

The cut of least cost on some rows overfits them: with few errors it costs far more on other rows. A
logistic curve on the normal scores of mid-ranks is more stable. Its cut is used unless it costs
more on the rows than the cheapest cut by more than chance explains, as where the logistic curve
does not fit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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
ON_PLACE = 1e-9
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

    @cached_property
    def above(self) -> Floats:
        """The sums of negatives and of positives above each cut, shape (2, tables, steps + 1)."""
        return np.stack([running(side) for side in (self.negatives, self.positives)])

    @cached_property
    def corners(self) -> Cuts:
        """The cuts that can cost least where both mistakes cost something, shape (tables, most).

        They are on the hull of each ROC curve, which is the isotonic regression of the classes on
        the scores: its corners, and the cuts on its edges, which may cost as little. Where an edge
        has one class only, its ends suffice. Shorter rows repeat their last cut.
        """
        from scipy.optimize import isotonic_regression

        found = []
        for positives, rows, total in zip(
            self.positives, self.positives + self.negatives, self.above[1], strict=True
        ):
            there = np.flatnonzero(rows)
            share = positives[there] / rows[there]
            fit = isotonic_regression(share, weights=rows[there], increasing=False).x
            hull = np.zeros(len(total))
            hull[there + 1] = fit * rows[there]
            slopes = np.concatenate([[2.0], fit, [-1.0]])  # the first and the last cut are corners
            step = np.searchsorted(there, np.arange(len(total)))
            turns = slopes[step] - slopes[step + 1] > ON_PLACE
            mixed = (slopes[step] > ON_PLACE) & (slopes[step] < 1 - ON_PLACE)
            on_hull = np.cumsum(hull) - total <= ON_PLACE * total[-1]
            found.append(np.flatnonzero(on_hull & (turns | mixed)))
        most = max(map(len, found))
        return np.stack([np.pad(each, (0, most - len(each)), mode="edge") for each in found])


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
        The result of `fitted_odds`, where the same tables are cut at many costs: then only the
        corners of their ROC curves are compared.

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
        often = log_odds is not None and allowed is None and (costs[0] != costs[1]).all()
        return _guarded(tables, costs, allowed, fitted[:, 0], often=often)[:, np.newaxis]
    if log_odds is None:
        return _Steps(tables.above, costs, tables.weight).guarded(fitted)
    cuts = np.sort(np.column_stack([tables.corners, fitted]), axis=1)
    above = np.take_along_axis(tables.above, cuts[np.newaxis], axis=2)
    own = (cuts[:, :, np.newaxis] < fitted[:, np.newaxis]).sum(axis=1)
    found = _Steps(above, costs, tables.weight).guarded(own)
    return np.take_along_axis(cuts, found, axis=1)


def _guarded(
    tables: ScoreTables,
    costs: Floats,
    allowed: Booleans | None,
    fitted: Cuts,
    *,
    often: bool,
) -> Cuts:
    """Return each table's fitted cut between two decisions, or the nearest of least cost."""
    found, steps = fitted.copy(), tables.positives.shape[1]
    size = len(fitted) if often else max(1, BLOCK // (steps + 1))
    for start in range(0, len(fitted), size):
        rows = slice(start, start + size)
        near, each = fitted[rows], np.arange(len(fitted[rows]))
        if often:
            cuts = np.column_stack([tables.corners, near])
            own = np.full(len(near), cuts.shape[1] - 1)
            sums = np.take_along_axis(tables.above, cuts[np.newaxis], axis=2)
            loss = costs[0] - costs[1]
            one = (loss**2).sum()
            cost, squares = (a * sums[0] + b * sums[1] for a, b in (loss, loss**2))
            total = loss**2 @ tables.above[:, :, -1]
        else:
            cuts, own = np.arange(steps + 1)[np.newaxis], near
            cost, squares, one = _summed(tables, costs, rows)
            total = squares[:, -1]
        within = cost if allowed is None else np.where(allowed[rows], cost, np.inf)
        room = ROUNDING * np.sqrt(total * (steps + 1))[:, np.newaxis]
        best = within <= within.min(axis=1, keepdims=True) + room
        apart = np.abs(cuts - near[:, np.newaxis])
        least = np.where(best, apart, steps + 1).argmin(axis=1)
        # How much the two may differ by chance: a standard error, and one row of each class.
        variance = np.abs(squares[each, own] - squares[each, least]) + tables.weight * one
        chance = np.sqrt(variance * tables.weight)
        keep = within[each, own] - cost[each, least] <= chance
        found[rows] = np.where(keep, near, np.broadcast_to(cuts, cost.shape)[each, least])
    return found


def _summed(tables: ScoreTables, costs: Floats, rows: slice) -> tuple[Floats, Floats, Any]:
    """Return the extra cost of the first decision above each cut, and two sums of squares.

    The sums are of all rows above each cut, and of one negative and one positive row.
    """
    if tables.gains is None or tables.squares is None:
        loss = costs[0] - costs[1]
        sums = [running(side[rows]) for side in (tables.negatives, tables.positives)]
        cost, squares = (weight[0] * sums[0] + weight[1] * sums[1] for weight in (loss, loss**2))
        return cost, squares, (loss**2).sum()
    squared = tables.squares[:, rows]
    one = squared.sum(axis=2) / np.maximum(tables.class_sizes[:, rows], 1e-300)
    return running(tables.gains[:, rows].sum(axis=0)), running(squared.sum(axis=0)), one.sum(0)


def running(side: Floats) -> Floats:
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
    """Return the cuts at which each decision is expected to cost least; log odds fall."""
    # Symmetric tables give log odds of ±1e-17, on either side of a place at 0.
    places = logit(np.clip(expected_thresholds(costs), 0.0, 1.0)) - ON_PLACE
    size = log_odds.shape[1]
    rising = np.arange(size)[::-1].copy()
    below = [np.searchsorted(line, places, sorter=rising) for line in log_odds]
    return np.asarray(size - np.stack(below))


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
    """The costs of cuts between more than two decisions, in several tables.

    `above` has the sums of negatives and of positives above each cut, shape (2, tables, cuts).
    """

    def __init__(self, above: Floats, costs: Floats, weight: float) -> None:
        self.above, self.costs, self.weight = above, costs, weight
        # The cost of taking a decision from the highest score down to each cut.
        self.running = np.tensordot(costs, above, axes=1)

    def guarded(self, fitted: Cuts) -> Cuts:
        """Return each table's fitted cuts, or those of least cost where they cost clearly less."""
        least = self.least()
        keep = self.cost(fitted) - self.cost(least) <= self.chance(fitted, least)
        return np.asarray(np.where(keep[:, np.newaxis], fitted, least))

    def _ends(self, *cuts: Cuts) -> Cuts:
        """Return cuts between the first and the last possible one."""
        last = self.above.shape[2] - 1
        return np.pad(np.hstack(cuts), ((0, 0), (1, 1)), constant_values=(0, last))

    def cost(self, cuts: Cuts) -> Floats:
        """Return the sum of the costs of all rows, for each table."""
        ends = self._ends(cuts)
        decision, table = np.arange(len(self.costs)), np.arange(len(cuts))[:, np.newaxis]
        each = (
            self.running[decision, table, ends[:, 1:]]
            - (self.running[decision, table, ends[:, :-1]])
        )
        return np.asarray(each.sum(axis=1))

    def least(self) -> Cuts:
        """Return the cuts of least cost.

        By dynamic programming: for each decision in order, find its best start for each end.
        """
        best, begun = self.running[0], []
        place = np.arange(best.shape[1])
        for line in self.running[1:]:
            gain = best - line
            lowest = np.minimum.accumulate(gain, axis=1)
            new = np.ones(gain.shape, dtype=bool)
            new[:, 1:] = gain[:, 1:] < lowest[:, :-1]
            begun.append(np.maximum.accumulate(np.where(new, place, 0), axis=1))
            best = lowest + line
        tables, end = np.arange(len(best)), np.full(len(best), best.shape[1] - 1)
        cuts = []
        for start in reversed(begun):
            end = start[tables, end]
            cuts.append(end)
        return np.stack(cuts[::-1], axis=1)

    def chance(self, cuts: Cuts, others: Cuts) -> Floats:
        """Return how much two sets of cuts may differ by chance: a standard error and one row.

        The one row, of each class and with its largest difference in cost, is added because cuts
        that differ in no row or in one are weak evidence.
        """
        ends = np.sort(self._ends(cuts, others), axis=1)
        starts = ends[:, :-1, np.newaxis]
        decided = ((each[:, np.newaxis] <= starts).sum(axis=2) for each in (cuts, others))
        first, second = (self.costs[each] for each in decided)
        rows = np.diff(np.take_along_axis(self.above, ends[np.newaxis], axis=2), axis=2)
        apart = np.moveaxis((first - second) ** 2, 2, 0)
        variance = (rows * apart).sum(axis=(0, 2)) * self.weight
        one = (np.ptp(self.costs, axis=0) ** 2).sum() * self.weight**2
        return np.asarray(np.sqrt(variance + one))
