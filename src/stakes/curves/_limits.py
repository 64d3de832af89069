"""Which thresholds keep limits on false alarms, on misses or on all alarms."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from stakes._core import validate
from stakes._core.labels import Label
from stakes._core.text import number, percent
from stakes._core.typing import Booleans, Floats
from stakes.counts import ScoreCounts
from stakes.curves._rates import designed, mistakes_at
from stakes.curves._sampling import Mistakes, Multinomial, drawn
from stakes.curves.bands.mover import WEIGHT, combined, room_limits
from stakes.errors import InputError, InputTypeError

LIMIT_ROUNDING = 1e-12
"""By how much a rate may miss a limit and still keep it."""

MOST_TRIED = 1024
"""So many thresholds are tried at once."""


@dataclass(frozen=True)
class Cuts:
    """The rates at each threshold, from calling nothing positive to calling everything.

    Attributes
    ----------
    thresholds, fpr, recall : ndarray
        The thresholds, highest first, and the rates of negatives and positives called positive.
    sizes : pair of ndarray
        How many negatives and positives there are at each threshold: all of them, or what weighted
        ones, or those in groups, are worth there.
    rooms : pair of pair of ndarray, or None
        How many times as large as one of them a negative (then a positive) may be that was not
        seen: not called positive, and called positive. None where all examples are alike.
    nothing, everything : ndarray of bool
        Where nothing, and everything, is called positive, whatever it scores.
    n : float
        The number of examples.
    """

    thresholds: Floats
    fpr: Floats
    recall: Floats
    sizes: tuple[Floats, Floats]
    rooms: tuple[tuple[Floats, Floats], tuple[Floats, Floats]] | None
    nothing: Booleans
    everything: Booleans
    n: float

    @classmethod
    def of(cls, counts: ScoreCounts, *, assured: bool) -> Self:
        """Return the rates at every threshold of a score table, and at those beyond it.

        How sure they are takes time, and matters only where limits are to be assured.
        """
        thresholds = np.concatenate([[np.inf], counts.thresholds, [-np.inf]])
        rates, sizes, rooms = [], [], None
        for side in (counts.negatives, counts.positives):
            sums = np.zeros(len(thresholds))
            sums[1:-1] = np.cumsum(side)  # added up as whole numbers if they are: that is faster
            size = sums[-1] = sums[-2]
            sizes.append(np.broadcast_to(size, len(sums)))  # one number, in the place of many
            rates.append(np.divide(sums, size, out=sums))
        if assured and designed(counts):
            n = len(counts.thresholds)
            at = np.append(np.arange(n + 1), n)
            parts = drawn(np.full(len(at), 0.5), *mistakes_at(counts, at), full=False)[::-1]
            sizes = [np.asarray(part.n) for part in parts]
            of_parts = [part.rooms for part in parts if part.rooms is not None]
            (kept, called), (found, missed) = of_parts
            rooms = ((kept[0], called[0]), (missed[0], found[0]))
        nothing, everything = (np.zeros(len(thresholds), dtype=bool) for _ in range(2))
        nothing[0] = everything[-1] = True
        return cls(
            thresholds,
            rates[0],
            rates[1],
            (sizes[0], sizes[1]),
            rooms,
            nothing,
            everything,
            counts.n,
        )


@dataclass(frozen=True)
class _Rate:
    """A rate at each threshold, of how many, what it counts for, and the room for one unseen."""

    n: Floats
    rate: Floats
    weight: float
    room: Floats | None

    def sample(self, i: NDArray[np.intp]) -> Multinomial:
        """Return the draws behind it at some thresholds."""
        n, rooms = self.n[i], None
        if self.room is not None:
            room = self.room[i][np.newaxis]
            rooms = (np.ones_like(room), room)
        return Multinomial(n, (self.rate[i] * n)[np.newaxis], (self.weight / n)[np.newaxis], rooms)


def _first_failure(order: NDArray[np.intp], keeps: Callable[[NDArray[np.intp]], Booleans]) -> int:
    """Return how many of the thresholds keep a limit before the first that does not.

    Stopping there is what makes trying many of them harmless. Of very many, some are tried first,
    and then those after the last that does.
    """
    start, end = 0, len(order)
    while end > start:
        step = -(-(end - start) // MOST_TRIED)
        tried = np.arange(start, end, step)
        failed = np.flatnonzero(~keeps(order[tried]))
        if step == 1:
            return int(tried[failed[0]]) if len(failed) else end
        if len(failed):
            if failed[0] == 0:
                return start
            start, end = int(tried[failed[0] - 1]) + 1, int(tried[failed[0]])
        else:
            start = int(tried[-1]) + 1
    return end


def rate_limits(counts: ScoreCounts, thresholds: Floats, alpha: float) -> dict[str, Any]:
    """Return the limits of the false positive and the false negative rate at thresholds.

    And how the two vary together, where groups have rows of both classes.
    """
    below = np.searchsorted(counts.thresholds[::-1], thresholds, side="left")
    cuts = len(counts.thresholds) - below
    if designed(counts):
        positives, negatives = mistakes_at(counts, cuts)
    else:
        sums = [np.append(0, np.cumsum(side)) for side in (counts.positives, counts.negatives)]
        positives = Mistakes(float(sums[0][-1]), (sums[0][-1] - sums[0][cuts])[np.newaxis] * 1.0)
        negatives = Mistakes(float(sums[1][-1]), sums[1][cuts][np.newaxis] * 1.0)
    parts = drawn(np.full(len(cuts), 0.5), positives, negatives, full=False)
    found: dict[str, Any] = {"shared": negatives.shared}
    for name, part in zip(("fnr", "fpr"), parts, strict=True):
        low, high = room_limits(part, alpha=alpha, weight=WEIGHT)
        found |= {f"{name}_low": low[0], f"{name}_high": high[0]}
    return found


class Limits:
    """The limits that a threshold must keep."""

    def __init__(
        self,
        cuts: Cuts,
        priors: Mapping[Label, float],
        *,
        max_fpr: Any,
        min_recall: Any,
        capacity: Any,
        volume: Any,
        assurance: Any,
    ) -> None:
        self.cuts, self.priors = cuts, tuple(priors.values())
        self.max_fpr = None if max_fpr is None else _rate(max_fpr, "max_fpr")
        self.min_recall = None if min_recall is None else _rate(min_recall, "min_recall")
        if volume is not None and capacity is None:
            raise InputTypeError("volume", "it is used only with a capacity; give capacity= too.")
        self.volume = float(cuts.n) if volume is None else validate.positive(volume, "volume")
        self.capacity = None if capacity is None else validate.one_number(capacity, "capacity")
        if self.capacity is not None and self.capacity < 0:
            raise InputError(
                "capacity", f"expected a number of alarms, 0 or more; got {self.capacity:g}."
            )
        self.assurance = None if assurance is None else _assurance(assurance)
        if self.assurance is not None and not self.rules():
            raise InputTypeError(
                "assurance",
                "it is the confidence that a limit is kept; give max_fpr=, min_recall= or capacity="
                " too.",
            )

    def allowed(self) -> Booleans:
        """Return which thresholds keep all limits."""
        cuts = self.cuts
        allowed = np.ones(len(cuts.thresholds), dtype=bool)
        if self.max_fpr is not None:
            rates = [self._rate(0, alarms=True)]
            allowed &= self._at_most(self.max_fpr, rates) | self._sure(cuts.nothing)
        if self.min_recall is not None:
            rates = [self._rate(1, alarms=False)]
            allowed &= self._at_most(1 - self.min_recall, rates) | self._sure(cuts.everything)
        if self.capacity is not None:
            rates = [self._rate(side, alarms=True, weight=self.priors[side]) for side in (0, 1)]
            most = self.capacity / self.volume
            allowed &= self._at_most(most, rates, new=self.volume) | self._sure(cuts.nothing)
        return allowed

    def _rate(self, side: int, *, alarms: bool, weight: float = 1.0) -> _Rate:
        """Return the rate of alarms among negatives (0) or positives (1), or of the others."""
        cuts = self.cuts
        rate = (cuts.fpr, cuts.recall)[side]
        room = None if cuts.rooms is None else cuts.rooms[side][int(alarms)]
        return _Rate(cuts.sizes[side], rate if alarms else 1 - rate, weight, room)

    def _sure(self, cut: Booleans) -> Booleans:
        """Return the threshold that keeps a limit whatever comes, which matters with assurance."""
        return cut if self.assurance is not None else np.zeros_like(cut)

    def _at_most(self, limit: float, rates: list[_Rate], new: float | None = None) -> Booleans:
        """Tell where a weighted sum of rates keeps a limit; or does with assurance.

        The upper limit of one rate is Clopper & Pearson's, that of a sum of two the combination of
        theirs. The share of alarms among `new` decisions varies about its rate besides.
        """
        total = rates[0].rate if rates[0].weight == 1 else rates[0].weight * rates[0].rate
        for each in rates[1:]:
            total = total + each.weight * each.rate
        if self.assurance is None or limit >= 1:
            return np.asarray(total <= limit + LIMIT_ROUNDING)

        def keeps(i: NDArray[np.intp]) -> Booleans:
            sample = [each.sample(i) for each in rates]
            limits = partial(room_limits, alpha=2 * (1 - float(self.assurance or 0)), weight=1.0)
            arm = combined(sample, limits)[1] - total[i]
            spread = 0.0 if new is None else total[i] * (1 - total[i]) / new
            upper = total[i] + np.sqrt(arm**2 + ndtri(self.assurance) ** 2 * spread)
            return np.asarray(upper <= limit + LIMIT_ROUNDING)

        kept = np.zeros(len(total), dtype=bool)
        if self.cuts.rooms is None:  # the limit rises with the rate, the rate with the threshold
            places = range(len(total))[:: 1 if total[0] <= total[-1] else -1]
            within = bisect_right(places, limit + LIMIT_ROUNDING, key=total.__getitem__)
            passed = bisect_left(places[:within], 1, key=lambda i: not keeps(np.array([i]))[0])
            kept[:: places.step][:passed] = True
            return kept
        order = np.argsort(total, kind="stable")
        order = order[: np.searchsorted(total[order], limit + LIMIT_ROUNDING, side="right")]
        kept[order[: _first_failure(order, keeps)]] = True
        return kept

    def checked(self) -> Booleans:
        """Return which thresholds keep all limits, of which there must be one."""
        allowed, rules = self.allowed(), self.rules()
        if not allowed.any():
            raise InputError(
                self.names(),
                f"no threshold has a {' and a '.join(rules)}.",
                f"Loosen {'the limit' if len(rules) == 1 else 'a limit'}"
                + ("." if self.assurance is None else ", or lower assurance=."),
            )
        return allowed

    def names(self) -> str:
        """Name the arguments that set limits."""
        names = ("max_fpr", "min_recall", "capacity")
        return ", ".join(name for name in names if getattr(self, name) is not None)

    def rules(self) -> list[str]:
        """Say what limits there are."""
        rules = []
        if self.max_fpr is not None:
            rules.append(f"false positive rate of at most {percent(self.max_fpr)}")
        if self.min_recall is not None:
            rules.append(f"recall of at least {percent(self.min_recall)}")
        if self.capacity is not None:
            rules.append(f"load of at most {number(self.capacity)} alarms in {number(self.volume)}")
        if rules and self.assurance is not None:
            rules[-1] += f" with {percent(self.assurance)} assurance"
        return rules


def _rate(value: Any, name: str) -> float:
    rate = validate.one_number(value, name)
    if not 0 <= rate <= 1:
        raise InputError(name, f"expected a rate from 0 to 1, got {rate:g}.")
    return rate


def _assurance(value: Any) -> float:
    assurance = validate.one_number(value, "assurance")
    if not 0.5 <= assurance < 1:  # noqa: PLR2004 - less would loosen the limit
        raise InputError(
            "assurance", f"expected a number from 0.5 to below 1, such as 0.95; got {assurance:g}."
        )
    return assurance
