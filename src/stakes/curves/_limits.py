"""Thresholds that keep limits on the false positive rate, the recall or all alarms."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial, reduce
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
"""Rounding error by which a rate may exceed a limit."""

MOST_TRIED = 1024
"""Maximum number of thresholds that are tested at once."""

BLOCK = 2**12
"""Number of counts that are summed into one block."""

Places = NDArray[np.intp]


class Running:
    """The share of a class that scores at least each threshold, from counts of whole numbers.

    Counts are summed block by block, and inside of a block only on request. So a search among
    very many thresholds reads the counts once, and allocates no second array of that length.
    """

    def __init__(self, counts: NDArray[np.int64]) -> None:
        self.counts = counts
        sums = np.add.reduceat(counts, np.arange(0, len(counts), BLOCK))
        self.before = np.append(0, np.cumsum(sums))

    def __getitem__(self, places: Any) -> Any:
        """Return the share at one or several indices, or at a slice."""
        if isinstance(places, slice):
            return _shares(self.counts)[places]
        if np.ndim(places):
            return np.array([self[place] for place in places])
        end = min(places, len(self.counts))  # the last index calls everything positive
        block = end // BLOCK
        above = self.before[block] + self.counts[block * BLOCK : end].sum()
        return above / self.before[-1]


def _shares(values: NDArray[Any]) -> Floats:
    """Return the share of a class that scores at least each threshold, for all thresholds."""
    sums = np.zeros(len(values) + 2)
    sums[1:-1] = np.cumsum(values)  # sums of whole numbers are faster
    sums[-1] = sums[-2]
    return np.asarray(np.divide(sums, sums[-1], out=sums))


@dataclass(frozen=True, eq=False)
class Cuts:
    """Rates at each threshold, from calling nothing positive to calling everything positive.

    Attributes
    ----------
    scores : ndarray
        The finite thresholds, highest first.
    fpr, recall : ndarray or Running
        The shares of negatives and of positives called positive, which rise with the index.
    sizes : pair of ndarray
        The numbers of negatives and of positives; with weights or groups, the effective numbers at
        each threshold.
    rooms : pair of pair of ndarray, or None
        The relative size assumed of an unobserved negative (then of an unobserved positive): one
        not called positive, and one called positive. None if examples are independent and of equal
        weight.
    n : float
        The number of examples.
    """

    scores: Floats
    fpr: Floats | Running
    recall: Floats | Running
    sizes: tuple[Floats, Floats]
    rooms: tuple[tuple[Floats, Floats], tuple[Floats, Floats]] | None
    n: float

    @classmethod
    def of(cls, counts: ScoreCounts, *, assured: bool) -> Self:
        """Return the rates at every threshold of a score table, and at the two infinite ones.

        Effective numbers take time to compute, and matter only if limits need assurance.
        """
        n, rooms = len(counts.thresholds), None
        sides = (counts.negatives, counts.positives)
        whole = not designed(counts) and all(side.dtype.kind == "i" for side in sides)
        rates = [Running(side) if whole else _shares(side) for side in sides]
        totals = (counts.n_negatives, counts.n_positives)
        sizes = [np.broadcast_to(float(total), n + 2) for total in totals]  # one number each
        if assured and designed(counts):
            at = np.append(np.arange(n + 1), n)
            parts = drawn(np.full(len(at), 0.5), *mistakes_at(counts, at), full=False)[::-1]
            sizes = [np.asarray(part.n) for part in parts]
            of_parts = [part.rooms for part in parts if part.rooms is not None]
            (kept, called), (found, missed) = of_parts
            rooms = ((kept[0], called[0]), (missed[0], found[0]))
        return cls(counts.thresholds, rates[0], rates[1], (sizes[0], sizes[1]), rooms, counts.n)

    def __len__(self) -> int:
        return len(self.scores) + 2

    def threshold(self, place: int) -> float:
        """Return the threshold at an index; the first and the last are infinite."""
        if 0 < place <= len(self.scores):
            return validate.applicable(self.scores[place - 1])
        return np.inf if place == 0 else -np.inf


@dataclass(frozen=True, eq=False)
class _Rate:
    """The rate of alarms, or of non-alarms, at each threshold, with its weight in a sum.

    `n` is the denominator, and `room` the relative size assumed of an unobserved example.
    """

    n: Floats
    share: Floats | Running
    alarms: bool
    weight: float
    room: Floats | None

    def at(self, places: Any) -> Any:
        """Return the rate at one or several thresholds, or at a slice."""
        share = self.share[places]
        return share if self.alarms else 1 - share

    def sample(self, places: Places) -> Multinomial:
        """Return the multinomial of the rate at some thresholds."""
        n, rooms = self.n[places], None
        if self.room is not None:
            room = self.room[places][np.newaxis]
            rooms = (np.ones_like(room), room)
        counts = self.at(places) * n
        return Multinomial(n, counts[np.newaxis], (self.weight / n)[np.newaxis], rooms)


@dataclass(frozen=True)
class _Limit:
    """An upper bound for a weighted sum of rates, on these examples or with assurance on others.

    The upper confidence limit of one rate is Clopper & Pearson's; for a sum of two, theirs are
    combined. The share of alarms among `new` decisions also varies around its expected value.
    """

    most: float
    rates: tuple[_Rate, ...]
    assurance: float | None
    new: float | None = None

    def total(self, places: Any) -> Any:
        """Return the sum at one or several thresholds, or at a slice."""
        return sum(each.weight * each.at(places) for each in self.rates)

    def keeps(self, places: Places) -> Booleans:
        """Return whether the limit is kept with assurance at each threshold."""
        total, sample = self.total(places), [each.sample(places) for each in self.rates]
        limits = partial(room_limits, alpha=2 * (1 - float(self.assurance or 0)), weight=1.0)
        arm = combined(sample, limits)[1] - total
        spread = 0.0 if self.new is None else total * (1 - total) / self.new
        upper = total + np.sqrt(arm**2 + ndtri(self.assurance) ** 2 * spread)
        return np.asarray(upper <= self.most + LIMIT_ROUNDING)

    @property
    def assured(self) -> bool:
        """Whether the limit must be kept with assurance, not only on these examples."""
        return self.assurance is not None and self.most < 1

    def range_of(self, n: int) -> range:
        """Return which of n thresholds keep the limit, for independent examples of equal weight.

        The upper limit then rises with the rate, and the rate from threshold to threshold. The
        first always keeps the limit, because it calls nothing positive, or nothing negative.
        """
        places = range(n)[:: 1 if self.rates[0].alarms else -1]
        kept = places[: bisect_right(places, self.most + LIMIT_ROUNDING, key=self.total)]
        if self.assured:
            passed = bisect_left(kept, 1, key=lambda place: not self.keeps(np.array([place]))[0])
            kept = places[: max(passed, 1)]
        return kept[:: places.step]

    def places_of(self, n: int) -> Places:
        """Return which of n thresholds keep the limit, where `room` differs between thresholds.

        The one that calls nothing positive, or nothing negative, always keeps it.
        """
        total = self.total(slice(None))
        order = np.argsort(total, kind="stable")
        order = order[: np.searchsorted(total[order], self.most + LIMIT_ROUNDING, side="right")]
        if self.assured:
            order = order[: _first_failure(order, self.keeps)]
        return np.union1d(order, [0 if self.rates[0].alarms else n - 1])


def _first_failure(order: Places, keeps: Callable[[Places], Booleans]) -> int:
    """Return the number of thresholds before the first that does not keep a limit.

    Stopping at the first failure is what allows many thresholds to be tested. If there are very
    many, some are tested first, and then those after the last that keeps the limit.
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

    `shared` is the correlation of the two rates, if groups have rows of both classes.
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


def index_of(places: range | Places) -> slice | Places:
    """Return an array index for places: a slice for a range, because slices are faster."""
    return slice(places.start, places.stop) if isinstance(places, range) else places


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

    def allowed(self) -> range | Places:
        """Return the indices of the thresholds that keep all limits, in order."""
        n, limits = len(self.cuts), self._limits()
        if self.cuts.rooms is not None:
            return reduce(np.intersect1d, [each.places_of(n) for each in limits])
        kept = [range(n), *(each.range_of(n) for each in limits)]
        return range(max(each.start for each in kept), min(each.stop for each in kept))

    def _limits(self) -> list[_Limit]:
        limits = []
        if self.max_fpr is not None:
            limits.append(_Limit(self.max_fpr, (self._rate(0, alarms=True),), self.assurance))
        if self.min_recall is not None:
            misses = self._rate(1, alarms=False)
            limits.append(_Limit(1 - self.min_recall, (misses,), self.assurance))
        if self.capacity is not None:
            rates = [self._rate(side, alarms=True, weight=self.priors[side]) for side in (0, 1)]
            most = self.capacity / self.volume
            limits.append(_Limit(most, tuple(rates), self.assurance, self.volume))
        return limits

    def _rate(self, side: int, *, alarms: bool, weight: float = 1.0) -> _Rate:
        """Return the rate of alarms, or of non-alarms, among negatives (0) or positives (1)."""
        cuts = self.cuts
        room = None if cuts.rooms is None else cuts.rooms[side][int(alarms)]
        return _Rate(cuts.sizes[side], (cuts.fpr, cuts.recall)[side], alarms, weight, room)

    def checked(self) -> range | Places:
        """Return the indices of the thresholds that keep all limits; raise if there are none."""
        allowed, rules = self.allowed(), self.rules()
        if not len(allowed):
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
        """Describe each limit in words."""
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
