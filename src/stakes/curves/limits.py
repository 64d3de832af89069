"""Which thresholds keep a limit on false alarms, on misses or on all alarms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes import _validate
from stakes._labels import Label
from stakes._table import number
from stakes.counts import ScoreCounts
from stakes.curves.bands.mover import beta_limits, combined
from stakes.curves.sampling import Multinomial
from stakes.curves.sizes import effective_size
from stakes.errors import InputError, InputTypeError
from stakes.infer.interval import percent

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]

ROUNDING = 1e-12
"""By how much a rate may miss a limit and still keep it."""


@dataclass(frozen=True)
class Cuts:
    """The rates at each threshold, from calling nothing positive to calling everything.

    Attributes
    ----------
    thresholds, fpr, recall : ndarray
        The thresholds, highest first, and the rates of negatives and positives called positive.
    sizes : pair of float
        How many negatives and positives there are, or what weighted ones are worth.
    nothing, everything : ndarray of bool
        Where nothing, and everything, is called positive, whatever it scores.
    n : float
        The number of examples.
    """

    thresholds: Floats
    fpr: Floats
    recall: Floats
    sizes: tuple[float, float]
    nothing: Booleans
    everything: Booleans
    n: float

    @classmethod
    def of(cls, counts: ScoreCounts) -> Self:
        """Return the rates at every threshold of a score table, and at those beyond it."""
        first = bool(counts.thresholds[0] < np.inf)
        last = bool(counts.thresholds[-1] > -np.inf)
        ends = [np.inf] * first, [-np.inf] * last
        thresholds = np.concatenate([ends[0], counts.thresholds, ends[1]])
        rates, sizes = [], []
        squares = (None, None) if counts.squares is None else counts.squares.sum(axis=1)[::-1]
        for side, square in zip((counts.negatives, counts.positives), squares, strict=True):
            sums = np.concatenate([[0.0] * first, np.cumsum(side, dtype=np.float64)])
            rates.append(np.append(sums, sums[-1:] if last else []) / sums[-1])
            sizes.append(effective_size(sums[-1], square))
        nothing, everything = (np.zeros(len(thresholds), dtype=bool) for _ in range(2))
        nothing[0], everything[-1] = first, last or thresholds[-1] == -np.inf
        return cls(
            thresholds, rates[0], rates[1], (sizes[0], sizes[1]), nothing, everything, counts.n
        )


class Limits:
    """What is asked of a threshold, besides to be cheap."""

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
            raise InputTypeError("volume: it is what a capacity is for; give capacity too.")
        self.volume = float(cuts.n) if volume is None else _positive(volume, "volume")
        self.capacity = None if capacity is None else _validate.one_number(capacity, "capacity")
        if self.capacity is not None and self.capacity < 0:
            raise InputError(
                f"capacity: expected a number of alarms, 0 or more; got {self.capacity:g}."
            )
        self.assurance = None if assurance is None else _assurance(assurance)
        if self.assurance is not None and not self.rules():
            raise InputTypeError(
                "assurance: it is that a limit is kept; give max_fpr, min_recall or capacity too."
            )

    def allowed(self) -> Booleans:
        """Return which thresholds keep all limits."""
        cuts = self.cuts
        allowed = np.ones(len(cuts.thresholds), dtype=bool)
        if self.max_fpr is not None:
            allowed &= self._at_most(self.max_fpr, [(cuts.sizes[0], cuts.fpr, 1.0)], cuts.nothing)
        if self.min_recall is not None:
            missed = [(cuts.sizes[1], 1 - cuts.recall, 1.0)]
            allowed &= self._at_most(1 - self.min_recall, missed, cuts.everything)
        if self.capacity is not None:
            rates = zip(cuts.sizes, (cuts.fpr, cuts.recall), self.priors, strict=True)
            allowed &= self._at_most(self.capacity / self.volume, list(rates), cuts.nothing)
        return allowed

    def _at_most(
        self, limit: float, rates: list[tuple[float, Floats, float]], surely: Booleans
    ) -> Booleans:
        """Tell where a weighted sum of rates keeps a limit; or does with assurance.

        The upper limit of one rate is Clopper & Pearson's, that of a sum of two the combination of
        theirs.
        """
        if self.assurance is None:
            total: Any = sum(weight * rate for _, rate, weight in rates)
            return np.asarray(total <= limit + ROUNDING)
        sample = [
            Multinomial(n, (rate * n)[np.newaxis], np.full((1, len(rate)), weight / n))
            for n, rate, weight in rates
        ]
        limits = partial(beta_limits, alpha=2 * (1 - self.assurance), weight=1.0)
        _, upper = combined(sample, limits)
        return np.asarray((upper <= limit + ROUNDING) | surely | (limit >= 1))

    def names(self) -> str:
        """Name the arguments that set limits."""
        names = ("max_fpr", "min_recall", "capacity")
        return ", ".join(name for name in names if getattr(self, name) is not None)

    def rules(self) -> list[str]:
        """Say what limits there are."""
        said = []
        if self.max_fpr is not None:
            said.append(f"false positive rate of at most {percent(self.max_fpr)}")
        if self.min_recall is not None:
            said.append(f"recall of at least {percent(self.min_recall)}")
        if self.capacity is not None:
            said.append(f"load of at most {number(self.capacity)} alarms in {number(self.volume)}")
        if said and self.assurance is not None:
            said[-1] += f" with {percent(self.assurance)} assurance"
        return said


def _rate(value: Any, name: str) -> float:
    rate = _validate.one_number(value, name)
    if not 0 <= rate <= 1:
        raise InputError(f"{name}: expected a rate from 0 to 1, got {rate:g}.")
    return rate


def _positive(value: Any, name: str) -> float:
    size = _validate.one_number(value, name)
    if size <= 0:
        raise InputError(f"{name}: expected a positive number of decisions, got {size:g}.")
    return size


def _assurance(value: Any) -> float:
    assurance = _validate.one_number(value, "assurance")
    if not 0.5 <= assurance < 1:  # noqa: PLR2004 - less would loosen the limit
        raise InputError(
            f"assurance: expected a number from 0.5 to below 1, such as 0.95; got {assurance:g}."
        )
    return assurance
