"""Which thresholds keep a limit on false alarms, on misses or on all alarms."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from stakes import _validate
from stakes._core.typing import Booleans, Floats
from stakes._labels import Label
from stakes._table import number, percent
from stakes.counts import ScoreCounts
from stakes.curves.bands.mover import beta_limits, combined
from stakes.curves.sampling import Mistakes, Multinomial, drawn
from stakes.errors import InputError, InputTypeError

ROUNDING = 1e-12
"""By how much a rate may miss a limit and still keep it."""


@dataclass(frozen=True)
class Cuts:
    """The rates at each threshold, from calling nothing positive to calling everything.

    Attributes
    ----------
    thresholds, fpr, recall : ndarray
        The thresholds, highest first, and the rates of negatives and positives called positive.
    sizes : pair of ndarray
        How many negatives and positives there are at each threshold: all of them, or what weighted
        ones are worth there.
    nothing, everything : ndarray of bool
        Where nothing, and everything, is called positive, whatever it scores.
    n : float
        The number of examples.
    """

    thresholds: Floats
    fpr: Floats
    recall: Floats
    sizes: tuple[Floats, Floats]
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
        squares = (None, None) if counts.squares is None else counts.squares[::-1]
        for side, square in zip((counts.negatives, counts.positives), squares, strict=True):
            sums = _running(side, first=first, last=last)
            rates.append(sums / sums[-1])
            if square is None:
                sizes.append(np.full(len(sums), sums[-1]))
                continue
            found = Mistakes(
                sums[-1],
                sums[np.newaxis],
                _running(square, first=first, last=last)[np.newaxis],
                float(square.sum()),
            )
            sizes.append(np.asarray(drawn(np.ones(len(sums)), found, found, full=False)[0].n))
        nothing, everything = (np.zeros(len(thresholds), dtype=bool) for _ in range(2))
        nothing[0], everything[-1] = first, last or thresholds[-1] == -np.inf
        return cls(
            thresholds, rates[0], rates[1], (sizes[0], sizes[1]), nothing, everything, counts.n
        )


def _running(values: Any, *, first: bool, last: bool) -> Floats:
    """Return running sums, with those of thresholds beyond the scores, where there are such."""
    sums = np.concatenate([[0.0] * first, np.cumsum(values, dtype=np.float64)])
    return np.append(sums, sums[-1:] if last else [])


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
        self.volume = float(cuts.n) if volume is None else _validate.positive(volume, "volume")
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
            rates = [(cuts.sizes[0], cuts.fpr, 1.0)]
            allowed &= self._at_most(self.max_fpr, rates) | self._sure(cuts.nothing)
        if self.min_recall is not None:
            rates = [(cuts.sizes[1], 1 - cuts.recall, 1.0)]
            allowed &= self._at_most(1 - self.min_recall, rates) | self._sure(cuts.everything)
        if self.capacity is not None:
            rates = list(zip(cuts.sizes, (cuts.fpr, cuts.recall), self.priors, strict=True))
            most = self.capacity / self.volume
            allowed &= self._at_most(most, rates, new=self.volume) | self._sure(cuts.nothing)
        return allowed

    def _sure(self, cut: Booleans) -> Booleans:
        """Return the threshold that keeps a limit whatever comes, which matters with assurance."""
        return cut if self.assurance is not None else np.zeros_like(cut)

    def _at_most(
        self, limit: float, rates: list[tuple[Floats, Floats, float]], new: float | None = None
    ) -> Booleans:
        """Tell where a weighted sum of rates keeps a limit; or does with assurance.

        The upper limit of one rate is Clopper & Pearson's, that of a sum of two the combination of
        theirs. The share of alarms among `new` decisions varies about its rate besides.
        """
        total = np.asarray(sum(weight * rate for _, rate, weight in rates))
        if self.assurance is None or limit >= 1:
            return np.asarray(total <= limit + ROUNDING)

        def keeps(i: NDArray[np.intp]) -> Booleans:
            sample = [
                Multinomial(n[i], (rate[i] * n[i])[np.newaxis], (weight / n[i])[np.newaxis])
                for n, rate, weight in rates
            ]
            limits = partial(beta_limits, alpha=2 * (1 - float(self.assurance or 0)), weight=1.0)
            arm = combined(sample, limits)[1] - total[i]
            spread = 0.0 if new is None else total[i] * (1 - total[i]) / new
            upper = total[i] + np.sqrt(arm**2 + ndtri(self.assurance) ** 2 * spread)
            return np.asarray(upper <= limit + ROUNDING)

        kept = np.zeros(len(total), dtype=bool)
        order = np.argsort(total, kind="stable")
        if all((n == n[0]).all() for n, _, _ in rates):
            order = order[: bisect_left(order, 1, key=lambda i: not keeps(np.array([i]))[0])]
            kept[order] = True
        else:  # weights: the limit does not rise with the rate alone
            kept[order] = keeps(order)
        return kept

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


def _assurance(value: Any) -> float:
    assurance = _validate.one_number(value, "assurance")
    if not 0.5 <= assurance < 1:  # noqa: PLR2004 - less would loosen the limit
        raise InputError(
            f"assurance: expected a number from 0.5 to below 1, such as 0.95; got {assurance:g}."
        )
    return assurance
