"""Limits on the false positive rate, the recall and the share of rows that a threshold flags."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from stakes._core import validate
from stakes._core.text import number, percent
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.counts import ScoreCounts
from stakes.errors import InputError, InputTypeError
from stakes.infer._outcomes import Design

LIMIT_ROUNDING = 1e-12
"""Rounding error by which a rate may exceed a limit."""

MOST_TRIED = 1024
"""Maximum number of thresholds that are tested at once."""

Places = NDArray[np.intp]
Sides = tuple[NDArray[Any], NDArray[Any]]
"""The negatives and the positives at or above each threshold, from flagging none to all."""


@dataclass(frozen=True, eq=False)
class Limits(Result):
    """Limits that a threshold must keep.

    Attributes
    ----------
    min_recall, max_fpr : float or None
        The lowest recall and the highest false positive rate allowed.
    capacity : float or None
        The largest share of rows that may be called positive.
    volume : float or None
        The number of decisions that the capacity is for.
    assurance : float or None
        The confidence that each limit is kept on new rows; by default limits are kept on the rows
        that choose.
    """

    min_recall: float | None = None
    max_fpr: float | None = None
    capacity: float | None = None
    volume: float | None = None
    assurance: float | None = None

    def __post_init__(self) -> None:
        for name in ("min_recall", "max_fpr"):
            rate = getattr(self, name)
            if rate is not None and not 0 <= validate.one_number(rate, name) <= 1:
                raise InputError(name, f"expected a rate from 0 to 1, got {rate:g}.")
        sure = self.assurance
        if sure is not None and not 0.5 <= validate.one_number(sure, "assurance") < 1:  # noqa: PLR2004 - less would loosen the limit
            raise InputError(
                "assurance", f"expected a number from 0.5 to below 1, such as 0.95; got {sure:g}."
            )
        if sure is not None and not self.limits:
            raise InputTypeError(
                "assurance",
                "it is the confidence that a limit is kept; give max_fpr=, min_recall= or capacity="
                " too.",
            )
        super().__post_init__()

    @property
    def limits(self) -> dict[str, float]:
        """The limits that are set, by name."""
        names = ("max_fpr", "min_recall", "capacity")
        return {name: float(v) for name in names if (v := getattr(self, name)) is not None}


def limit_words(limits: Limits) -> list[str]:
    """Describe each limit in words."""
    share = limits.limits.get("capacity", 0.0)
    load = f"share flagged of at most {percent(share)}"
    if limits.volume is not None:
        load = f"load of at most {number(share * limits.volume)} alarms in {number(limits.volume)}"
    every = {
        "max_fpr": f"false positive rate of at most {percent(limits.max_fpr or 0.0)}",
        "min_recall": f"recall of at least {percent(limits.min_recall or 0.0)}",
        "capacity": load,
    }
    found = [every[name] for name in limits.limits]
    if limits.assurance is not None:
        found[-1] += f" with {percent(limits.assurance)} assurance"
    return found


def broken(limits: Limits, recall: float, fpr: float, flagged: float) -> bool:
    """Tell whether rates break a limit."""
    over = {"max_fpr": fpr, "min_recall": -recall, "capacity": flagged}
    for name, given in limits.limits.items():
        over[name] -= -given if name == "min_recall" else given
    return any(over[name] > LIMIT_ROUNDING for name in limits.limits)


def impossible(limits: Limits, what: str = "threshold") -> InputError:
    """Return the error for limits that no threshold, or no policy, keeps."""
    return InputError(
        ", ".join(limits.limits),
        f"no {what} has a {' and a '.join(limit_words(limits))}.",
        f"Loosen {'the limit' if len(limits.limits) == 1 else 'a limit'}"
        + ("." if limits.assurance is None else ", or lower assurance=."),
    )


def within(
    limits: Limits, sides: Sides, by_class: Floats, counts: ScoreCounts | None = None
) -> range:
    """Return which thresholds keep all limits.

    Limits are tried from the safest threshold on, which flags none, or for a recall all. With
    assurance, the first that fails ends the trials: so many thresholds can be tested without a
    loss of confidence.

    Parameters
    ----------
    limits : Limits
        The limits.
    sides : pair of ndarray
        The sums of the weights that each threshold flags.
    by_class : ndarray, shape (2,)
        The frequency of each class in the target population, relative to that in the sums.
    counts : ScoreCounts, optional
        The scores behind the sums. With it, limits are kept with assurance, if any is stated.
    """
    size, start, stop = len(sides[0]), 0, len(sides[0])
    totals = np.maximum([float(side[-1]) for side in sides], 1e-300)
    frequency = by_class * totals / (by_class * totals).sum()
    weights = {"max_fpr": (1.0, 0.0), "min_recall": (0.0, -1.0), "capacity": (*frequency,)}
    for name, given in limits.limits.items():
        most = (-given if name == "min_recall" else given) + LIMIT_ROUNDING
        rates = _Flagged(sides, totals, weights[name])
        order = range(size) if name != "min_recall" else range(size)[::-1]
        order = order[: bisect_right(order, most, key=rates.at)]
        if limits.assurance is not None and counts is not None and most < rates.highest:
            new = limits.volume if name == "capacity" else None
            upper = partial(rates.upper, counts=counts, assurance=limits.assurance, new=new)
            order = order[: max(_kept_at_first(order, upper, most), 1)]
        if not order:
            return order
        start, stop = max(start, min(order[0], order[-1])), min(stop, max(order[0], order[-1]) + 1)
    return range(start, stop)


@dataclass(frozen=True, eq=False)
class _Flagged:
    """The flagged shares of the negatives and of the positives, with their weights in a sum."""

    sides: Sides
    totals: Floats
    weights: Sequence[float]

    @property
    def highest(self) -> float:
        """The highest possible sum."""
        return sum(max(each, 0.0) for each in self.weights)

    def at(self, places: Any) -> Any:
        """Return the sum at one or several thresholds."""
        each = zip(self.weights, self.sides, self.totals, strict=True)
        return sum(weight * side[places] / total for weight, side, total in each)

    def upper(
        self, places: Places, *, counts: ScoreCounts, assurance: float, new: float | None
    ) -> Floats:
        """Return the upper confidence limit of the expected sum at thresholds.

        That of one rate is Clopper & Pearson's; for a sum of two, theirs are combined. The share of
        alarms among `new` decisions also varies around its expected value.
        """
        from stakes.curves._rates import designed, mistakes_at
        from stakes.curves._sampling import Mistakes, drawn, mean
        from stakes.curves.bands.mover import combined, room_limits

        alarms, hits = (side[places] * 1.0 for side in self.sides)
        found = (
            Mistakes(self.totals[1], (self.totals[1] - hits)[np.newaxis]),
            Mistakes(self.totals[0], alarms[np.newaxis]),
        )
        if designed(counts):  # below the lowest score rows weigh what those with that score do
            found = mistakes_at(counts, np.minimum(places, len(counts.thresholds) - 1))
        parts = zip(
            drawn(np.full(len(places), 0.5), *found, full=False),
            (-2 * self.weights[1], 2 * self.weights[0]),
            strict=True,
        )
        sample = [replace(part.scaled(by), shared=None) for part, by in parts if by]
        limits = partial(room_limits, alpha=2 * (1 - assurance), weight=1.0)
        arm, total = combined(sample, limits)[1] - mean(sample), self.at(places)
        spread = 0.0 if new is None else total * (1 - total) / new
        return np.asarray(total + np.sqrt(arm**2 + ndtri(assurance) ** 2 * spread))


def _kept_at_first(order: range, upper: Callable[[Places], Floats], most: float) -> int:
    """Return the number of thresholds before the first whose upper limit is too high.

    If there are very many, some are tested first, and then those after the last that is not.
    """
    start, end = 0, len(order)
    while end > start:
        step = -(-(end - start) // MOST_TRIED)
        tried = np.arange(start, end, step)
        failed = np.flatnonzero(upper(order.start + order.step * tried) > most)
        if step == 1:
            return int(tried[failed[0]]) if len(failed) else end
        if len(failed):
            if failed[0] == 0:
                return start
            start, end = int(tried[failed[0] - 1]) + 1, int(tried[failed[0]])
        else:
            start = int(tried[-1]) + 1
    return end


def in_population(counts: ScoreCounts, design: Design) -> ScoreCounts:
    """Return scores, weighted by the population shares of their strata if there are any."""
    from stakes.curves._rates import represented

    stratified = counts.parts is not None and counts.parts.strata is not None
    return represented(counts, design) if stratified else counts


def flagged_sums(counts: ScoreCounts) -> Sides:
    """Return the sums that each threshold flags: infinity, each score, and minus infinity."""
    return _sums(counts.negatives), _sums(counts.positives)


def _sums(side: NDArray[Any]) -> NDArray[Any]:
    sums = np.zeros(len(side) + 2, dtype=side.dtype)
    np.cumsum(side, out=sums[1:-1])
    sums[-1] = sums[-2]
    return sums
