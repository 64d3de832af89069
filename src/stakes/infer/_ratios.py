"""Rates as ratios of two means over the cells of a table, under any design, with intervals.

A rate is E[N]/E[D] for two tables of numbers, one for each cell: recall has N = 1 where a positive
was predicted positive and D = 1 for all positives. It is at most θ exactly when the mean of N - θD
is at most 0. So the limits of a rate are the θ at which a limit of that mean is 0. The mean is
treated as a cost: with the extra weight of the extremal interval on the costliest cell, and with
the groups, weights, strata and class priors of the design. For independent rows, where each cell of
D is a success or a failure, a limit is a quantile of a beta distribution with the parameters
k + 0.7 and m.

Sums of rates, such as macro averages and differences, recover their variance from the limits of
their terms (Zou & Donner 2008), with the correlations of the terms' linear parts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainccinv, betaincinv, ndtri

from stakes._core.typing import Floats
from stakes.infer._design import outcomes_of
from stakes.infer._outcomes import CountTable, Design, Outcomes, is_simple
from stakes.infer.methods.extremal import WEIGHT, high_of_one, tails_at, tails_of

CLOSE = 1e-7
"""Tolerance of a limit, on the scale of the rate."""

NOTHING = 1e-14

MOST_SECANTS = 8
NARROW = 0.004
"""Half-width, as with 10⁶ rows, below which scores are so nearly linear that one secant may do."""

ROUGHNESS, STUCK = 1e-3, 0.2
"""Tolerance on the normal scale of a limit whose secants stall, and the ratio of successive scores
above which they do."""

FAR = 40.0
LEAST_TAIL, BELOW_ONE = 1e-300, 1 - 1e-16
"""Range of tail probabilities with finite normal scores."""


@dataclass(frozen=True, eq=False)
class Ratio:
    """Ratio of the means of two numbers that are given for every cell.

    Attributes
    ----------
    part, whole : ndarray
        The two numbers, in the shape of the table.
    least, most : float
        The bounds of the ratio.
    """

    part: Floats
    whole: Floats
    least: float = 0.0
    most: float = 1.0

    def value(self, shares: Floats) -> float | None:
        """Return the ratio, or None where there is nothing to divide by."""
        whole = float((self.whole * shares).sum())
        if whole <= NOTHING * float(np.abs(self.whole).max()):
            return None
        return float((self.part * shares).sum()) / whole

    def linear(self, shares: Floats) -> Floats:
        """Return the contribution of a row of each cell to the ratio's deviation from its value."""
        value, whole = self.value(shares), float((self.whole * shares).sum())
        return (
            np.zeros_like(self.part) if value is None else (self.part - value * self.whole) / whole
        )

    def limits(
        self, table: CountTable, design: Design, shares: Floats, alpha: float
    ) -> tuple[float, float]:
        """Return the limits; if the ratio is not defined, its bounds."""
        if self.value(shares) is None:
            return self.least, self.most
        # Class priors do not affect rates within a class.
        inside = (self.whole != 0).any(axis=tuple(range(self.whole.ndim - 1))).sum() == 1
        if is_simple(table, replace(design, class_priors=None, strata=None) if inside else design):
            found = self._beta(np.asarray(table.counts), alpha)  # type: ignore[union-attr]
            if found is not None:
                return found
        return self._inverted(table, design, shares, alpha)

    def _beta(self, counts: Floats, alpha: float) -> tuple[float, float] | None:
        """Return the limits if all successes have one weight and all failures one; else None."""
        hits = self.part > 0
        fails = ~hits & (self.whole > 0)
        of_hits, of_fails = np.unique(self.whole[hits]), np.unique(self.whole[fails])
        plain = (self.part[hits] == self.whole[hits]).all() and not (self.part[~hits] != 0).any()
        if not plain or len(of_hits) != 1 or len(of_fails) > 1 or (self.whole < 0).any():
            return None
        odds = float(of_fails[0] / of_hits[0]) if len(of_fails) else 1.0
        low, high = beta_limits(counts[hits].sum(), counts[fails].sum(), alpha)
        return float(low / (low + odds * (1 - low))), float(high / (high + odds * (1 - high)))

    def _inverted(
        self, table: CountTable, design: Design, shares: Floats, alpha: float
    ) -> tuple[float, float]:
        """Return the two rates at which a limit of the mean of N - θD is 0."""
        value = self.value(shares) or 0.0
        wanted = -float(ndtri(alpha / 2))
        sign, last = np.array([-1.0, 1.0]), np.array([self.least, self.most])
        room = np.maximum(sign * (last - value), 0.0)
        scale = float(np.abs(self.whole).max() + np.abs(self.part).max())

        def lack(ends: NDArray[np.intp], steps: Floats) -> Floats:
            """Return how far limits exceed 0, on the normal scale, at steps from the value."""
            costs = np.stack(
                [
                    way * (self.part - (value + way * step) * self.whole)
                    for way, step in zip(sign[ends], steps, strict=True)
                ]
            )
            if is_simple(table, design) and not design.impossible:
                return wanted - _scores(np.asarray(table.counts), costs)  # type: ignore[union-attr]
            found = [outcomes_of(table, each, design, scale) for each in costs]
            return wanted - _designed_scores(found, alpha)

        arm = wanted * math.sqrt(variance(table, self.linear(shares), design))
        found = _secants(lack, wanted, arm, room)
        for end in np.flatnonzero(np.isnan(found)).tolist():
            # Near a bound, or with hardly any rows, the score is far from linear.
            found[end] = _bracketed(partial(_alone, lack, end), room[end])
        low, high = np.where(found == room, last, value + sign * found).tolist()
        return low, high


def _alone(lack: Callable[[NDArray[np.intp], Floats], Floats], end: int, step: float) -> float:
    return float(lack(np.array([end]), np.array([step]))[0])


def _secants(
    lack: Callable[[NDArray[np.intp], Floats], Floats], wanted: float, arm: float, room: Floats
) -> Floats:
    """Return the roots of decreasing functions, or NaN where secants do not converge soon.

    The functions are nearly linear, with the value `wanted` at 0 and a root near `arm`.
    """
    found = np.full(len(room), np.nan)
    left = np.flatnonzero((arm > 0) & (arm < room))
    before, at_before = np.zeros(len(left)), np.full(len(left), wanted)
    step = np.full(len(left), arm)
    # If a function deviates from a line by δ over the arm, the first secant is off by about δ²/arm.
    # With many rows that is negligible, and the next secant would take as long again.
    enough = math.sqrt(CLOSE * arm) if 0 < arm < NARROW else 0.0
    for _ in range(MOST_SECANTS):
        if not len(left):
            break
        here = lack(left, step)
        with np.errstate(invalid="ignore", divide="ignore"):
            slope = (here - at_before) / (step - before)
            following = step - here / slope
        # Functions that do not decrease, or have their root beyond the room, are not followed.
        sound = (slope < 0) & (following > 0) & (following < room[left])
        close = sound & (np.abs(following - step) <= max(CLOSE, enough))
        enough = 0.0
        found[left[close]] = following[close]
        # Limits of strata come from grids: near 0 their scores are rough, and secants stall that
        # otherwise converge fast.
        stuck = (np.abs(here) > STUCK * np.abs(at_before)) | ~sound
        better = np.abs(here) < np.abs(at_before)
        least = np.where(better, here, at_before)
        settled = ~close & stuck & (np.abs(least) < ROUGHNESS)
        found[left[settled]] = np.where(better, step, before)[settled]
        more = sound & ~close & ~settled
        left, before, at_before, step = left[more], step[more], here[more], following[more]
    return found


def _bracketed(lack: Callable[[float], float], room: float) -> float:
    """Return the root of a decreasing function between 0 and `room`, or the nearer end."""
    from scipy.optimize import brentq

    if room <= CLOSE:
        return room
    if lack(0.0) <= 0:
        return 0.0
    if lack(room) >= 0:
        return room
    return float(brentq(lack, 0.0, room, xtol=CLOSE))


def _scores(counts: Floats, costs: Floats) -> Floats:
    """Return the scores of `_designed_scores` for independent rows, each table with own costs."""
    costs = costs.reshape(len(costs), -1)
    tails = tails_at(costs, np.broadcast_to(counts.ravel(), costs.shape))
    return np.asarray(-ndtri(np.clip(tails, LEAST_TAIL, BELOW_ONE)))


def _designed_scores(each: list[Outcomes], alpha: float) -> Floats:
    """Return the normal scores of the α/2 at which the upper limits would be 0.

    They are above the score of a given α/2 exactly where the limits at that α/2 are below 0.
    """
    scores = np.array([-FAR * np.sign(float(outcomes.mean[0])) for outcomes in each])
    vary = [k for k, outcomes in enumerate(each) if outcomes.lowest < outcomes.highest]
    with np.errstate(divide="ignore", invalid="ignore"):
        tails = tails_of([each[k] for k in vary])
    scores[vary] = -ndtri(np.clip(tails, LEAST_TAIL, BELOW_ONE))
    for k in np.flatnonzero(np.isnan(scores)).tolist():  # all draws are at an end
        scores[k] = -FAR * np.sign(high_of_one(each[k], alpha))
    return scores


def beta_limits(hits: Floats, fails: Floats, alpha: float | Floats) -> tuple[Floats, Floats]:
    """Return the limits of proportions: Clopper & Pearson's with a weight of 0.7 instead of 1."""
    hits, fails = np.asarray(hits, dtype=np.float64), np.asarray(fails, dtype=np.float64)
    with np.errstate(all="ignore"):
        low = np.where(hits > 0, betaincinv(hits, fails + WEIGHT, np.asarray(alpha) / 2), 0.0)
        high = np.where(fails > 0, betainccinv(hits + WEIGHT, fails, np.asarray(alpha) / 2), 1.0)
    return low, high


def variance(table: CountTable, costs: Floats, design: Design) -> float:
    """Return the variance of the mean of a number that is given for each cell."""
    if is_simple(table, design):
        counts = np.asarray(table.counts)  # type: ignore[union-attr]
        n = float(counts.sum())
        centred = costs - float((counts * costs).sum()) / n
        return float((counts * centred**2).sum()) / (n * max(n - 1, 1.0))
    outcomes = outcomes_of(table, costs, design, float(np.abs(costs).max()))
    found = sum(float(each.weight**2 * each.variance[0]) for each in outcomes.strata)
    return max(found, 0.0) if math.isfinite(found) else 0.0


@dataclass(frozen=True)
class Term:
    """A rate in a sum: its factor, its value and limits, and the contribution of each cell."""

    factor: float
    value: float
    low: float
    high: float
    linear: Floats


def sum_of(terms: Sequence[Term], table: CountTable, design: Design) -> tuple[float, float, float]:
    """Return a sum of rates and its limits."""
    total = sum(each.factor * each.value for each in terms)
    errors = [math.sqrt(variance(table, each.linear, design)) for each in terms]
    ends = []
    for sign in (-1.0, 1.0):
        joined, alone = np.zeros_like(terms[0].linear), 0.0
        for each, error in zip(terms, errors, strict=True):
            outer = each.high if sign * each.factor > 0 else each.low
            arm = abs(each.factor) * abs(outer - each.value)
            if error > NOTHING:
                joined += math.copysign(arm, each.factor) / error * each.linear
            else:  # no variation was observed, so correlations are unknown
                alone += arm**2
        ends.append(total + sign * math.sqrt(variance(table, joined, design) + alone))
    return total, ends[0], ends[1]


def linear_limits(
    value: float, linear: Floats, table: CountTable, design: Design, alpha: float
) -> tuple[float, float]:
    """Return the extremal limits of a value whose deviation is the mean of `linear`."""
    outcomes = outcomes_of(table, linear, design, float(np.abs(linear).max()))
    if outcomes.lowest == outcomes.highest:
        return value, value
    mirrored = outcomes_of(table, -linear, design, float(np.abs(linear).max()))
    return value - high_of_one(mirrored, alpha), value + high_of_one(outcomes, alpha)


def on_pairs(ratio: Ratio, model: int, decisions: int) -> Ratio:
    """Return a ratio over the cells of one of two models (0 or 1) as one over the joint cells."""
    axis = 1 - model

    def spread(values: Floats) -> Floats:
        return np.repeat(np.expand_dims(values, axis), decisions, axis=axis)

    return replace(ratio, part=spread(ratio.part), whole=spread(ratio.whole))
