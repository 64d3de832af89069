"""Rates as ratios of two means over the cells of a table, under any design, with intervals.

A rate is E[N]/E[D] for two tables of numbers, one for each cell: recall has N = 1 where a positive
was called positive and D = 1 for all positives. It is at most θ exactly when the mean of N - θD is
at most 0. So the limits of a rate are the θ at which a limit of that mean, a cost like any other,
is 0: with the extra weight of the extremal interval on the costliest cell, and with whatever is
known of groups, weights, strata and class priors. Of rows drawn one by one, where each cell of D is
a success or a failure, that is a quantile of a beta distribution with the parameters k + 0.7 and m.

Sums of rates, such as macro averages and differences, recover their variance from the limits of
their terms (Zou & Donner 2008), with the correlations of the terms' linear parts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainccinv, betaincinv

from stakes._core.typing import Floats
from stakes.infer._design import outcomes_of
from stakes.infer._outcomes import CountTable, Design, Outcomes, is_simple
from stakes.infer.methods.extremal import WEIGHT, high_of_one, tail_of_one

CLOSE = 1e-6
"""How exactly a limit is found, on the scale of the rate."""

NOTHING = 1e-14


@dataclass(frozen=True)
class Ratio:
    """The mean of one number over the mean of another, each given for every cell.

    Attributes
    ----------
    part, whole : ndarray
        The two numbers, in the shape of the table.
    least, most : float
        What the ratio is never below and never above.
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
        """Return what a row of each cell contributes to the ratio's departure from its value."""
        value, whole = self.value(shares), float((self.whole * shares).sum())
        return (
            np.zeros_like(self.part) if value is None else (self.part - value * self.whole) / whole
        )

    def limits(
        self, table: CountTable, design: Design, shares: Floats, alpha: float
    ) -> tuple[float, float]:
        """Return the limits; of a ratio that is not defined, all that is possible."""
        value = self.value(shares)
        if value is None:
            return self.least, self.most
        # The share of a class says nothing of the rates within it.
        inside = (self.whole != 0).any(axis=tuple(range(self.whole.ndim - 1))).sum() == 1
        if is_simple(table, replace(design, class_priors=None, strata=None) if inside else design):
            found = self._beta(np.asarray(table.counts), alpha)  # type: ignore[union-attr]
            if found is not None:
                return found
        low, high = (self._inverted(table, design, shares, alpha, end) for end in (0, 1))
        return low, high

    def _beta(self, counts: Floats, alpha: float) -> tuple[float, float] | None:
        """Return the limits where a cell is a success, a failure or neither, each of one weight."""
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
        self, table: CountTable, design: Design, shares: Floats, alpha: float, end: int
    ) -> float:
        """Return the rate at which a limit of the mean of N - θD is 0."""
        value = self.value(shares) or 0.0
        scale = float(np.abs(self.whole).max() + np.abs(self.part).max())
        sign = 1.0 if end else -1.0

        def at(rate: float) -> Outcomes:
            return outcomes_of(table, sign * (self.part - rate * self.whole), design, scale)

        def reach(rate: float) -> float:
            """Return whether the limit is beyond 0; it falls as the rate moves outwards.

            One tail tells that, where the limit itself would take several.
            """
            return _beyond(at(rate), alpha)

        last = self.most if end else self.least
        start = _high(at(value), alpha)
        if abs(last - value) <= CLOSE or start <= 0:
            return last if abs(last - value) <= CLOSE else value
        if reach(value) <= 0:
            return value
        # Nearly a line: a step along it, and half as much again, is nearly always far enough.
        guess = value + sign * 1.5 * start / float((self.whole * shares).sum())
        if (last - guess) * sign > 0 and reach(guess) < 0:
            last = guess
        elif reach(last) >= 0:
            return last
        return float(brentq(reach, value, last, xtol=CLOSE))


def _high(outcomes: Outcomes, alpha: float) -> float:
    """Return the upper limit of the default interval."""
    if outcomes.lowest == outcomes.highest:
        return float(outcomes.mean[0])
    return high_of_one(outcomes, alpha)


def _beyond(outcomes: Outcomes, alpha: float) -> float:
    """Return a number that is positive where the upper limit is, and negative where it is not."""
    if outcomes.lowest == outcomes.highest:
        return float(np.sign(outcomes.mean[0]))
    with np.errstate(divide="ignore", invalid="ignore"):
        tail = tail_of_one(outcomes)
    if math.isnan(tail):  # all draws are at an end
        return float(np.sign(_high(outcomes, alpha)))
    return math.log(max(tail, 1e-300) / (alpha / 2))


def beta_limits(hits: Floats, fails: Floats, alpha: float | Floats) -> tuple[Floats, Floats]:
    """Return the limits of proportions: Clopper & Pearson's with a weight of 0.7 instead of 1."""
    hits, fails = np.asarray(hits, dtype=np.float64), np.asarray(fails, dtype=np.float64)
    with np.errstate(all="ignore"):
        low = np.where(hits > 0, betaincinv(hits, fails + WEIGHT, np.asarray(alpha) / 2), 0.0)
        high = np.where(fails > 0, betainccinv(hits + WEIGHT, fails, np.asarray(alpha) / 2), 1.0)
    return low, high


def variance(table: CountTable, costs: Floats, design: Design) -> float:
    """Return the variance of the mean of a number that each cell has."""
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
    """A rate in a sum: its factor, its value and limits, and what each cell contributes to it."""

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
            else:  # nothing varied in what was seen, so nothing can be said of correlations
                alone += arm**2
        ends.append(total + sign * math.sqrt(variance(table, joined, design) + alone))
    return total, ends[0], ends[1]


def linear_limits(
    value: float, linear: Floats, table: CountTable, design: Design, alpha: float
) -> tuple[float, float]:
    """Return the extremal limits of what departs from its value as a mean of cells does."""
    outcomes = outcomes_of(table, linear, design, float(np.abs(linear).max()))
    if outcomes.lowest == outcomes.highest:
        return value, value
    mirrored = outcomes_of(table, -linear, design, float(np.abs(linear).max()))
    return value - high_of_one(mirrored, alpha), value + high_of_one(outcomes, alpha)


def on_pairs(ratio: Ratio, model: int, decisions: int) -> Ratio:
    """Return a ratio of the cells of one of two models (0 or 1) as one of the cells of both."""
    axis = 1 - model

    def spread(values: Floats) -> Floats:
        return np.repeat(np.expand_dims(values, axis), decisions, axis=axis)

    return replace(ratio, part=spread(ratio.part), whole=spread(ratio.whole))
