"""Coverage of bands around cost curves: enumerated where possible, else over simulated test sets.

At a fixed threshold a test set is a number of misses and a number of false alarms, so the coverage
at one operating condition is a sum over all such pairs. The limits of a rate depend only on its
count, and are computed once for each count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtr
from scipy.stats import binom

from stakes._core.typing import Floats
from stakes.curves._sampling import Mistakes, Multinomial, Sample, drawn
from stakes.curves.bands import METHODS
from stakes.curves.bands.mover import WEIGHT, beta_limits, combined
from stakes.curves.bands.wilson import wilson_limits

UNLIKELY = 1e-10
"""Probability of the test sets that are left out at either end of a distribution."""

NEARLY, ROUNDING = 1e-9, 1e-11
"""Rounding errors allowed in sums of counts, and in distribution functions."""

EQUAL = 1e-15
"""Rounding error allowed between equal heights."""

REACH = 8.5
"""Standard deviations beyond which a distribution has negligible probability."""


@dataclass(frozen=True)
class Tables:
    """Test sets at one operating condition.

    Attributes
    ----------
    pc : float
        The operating condition PC(+).
    n : int
        The number of examples in each class, or half of the total where class sizes vary.
    positives, negatives : ndarray, shape (kinds, tables)
        The mistakes in each class; for two classifiers, those that only one of them makes.
    truth : float or ndarray, shape (tables,)
        The true height of the curve.
    full : bool
        Whether bands allow for varying numbers of positives and negatives.
    """

    pc: float
    n: int
    positives: Floats
    negatives: Floats
    truth: float | Floats
    full: bool = False

    def sample(self, some: slice = slice(None)) -> Sample:
        """Return the multinomials whose sum is the curve's height, for each table."""
        sides = [Mistakes(self.n, side[:, some]) for side in (self.positives, self.negatives)]
        where = np.full(sides[0].counts.shape[1], self.pc)
        return drawn(where, *sides, full=self.full)

    def limits(self, method: str, alpha: float, some: slice = slice(None)) -> tuple[Floats, Floats]:
        """Return the band in each table, clipped to the range of possible costs."""
        if method in ("mover", "wilson"):
            low, high = combined(self.sample(some), _looked_up(method, alpha))
        else:
            low, high = METHODS[method].limits(self.sample(some), alpha)
        return np.maximum(low, 1.0 - len(self.positives)), np.minimum(high, 1.0)

    def covered(self, method: str, alpha: float) -> NDArray[np.bool_]:
        """Tell in which tables the band contains the truth."""
        low, high = self.limits(method, alpha)
        slack = NEARLY * (high - low) + EQUAL
        return (low <= self.truth + slack) & (self.truth <= high + slack)


def _looked_up(method: str, alpha: float) -> Any:
    def limits(part: Multinomial) -> tuple[Floats, Floats]:
        low, high = _rate_limits(method, part.size, alpha)
        index = part.counts.astype(np.intp)
        return low[index], high[index]

    return limits


@lru_cache(maxsize=64)
def _rate_limits(method: str, n: int, alpha: float) -> tuple[Floats, Floats]:
    """Return the limits of a rate for each count 0, 1, …, n out of n."""
    counts = np.arange(n + 1.0)
    if method == "mover":
        return beta_limits(counts, n, alpha=alpha, weight=WEIGHT)
    return wilson_limits(counts, n, alpha=alpha)


def enumerated(
    pc: float, rates: Sequence[float], n: int, *, full: bool = False, whole: bool = False
) -> tuple[Tables, Floats]:
    """Return all but the least probable test sets of one classifier, with their probabilities.

    Parameters
    ----------
    pc : float
        The operating condition.
    rates : pair of float
        The false negative rate and the false positive rate.
    n : int
        The number of examples of each class.
    full : bool
        Whether the bands allow for varying numbers of positives and negatives.
    whole : bool
        Whether these numbers do vary: 2n examples, each a positive with probability 1/2.
    """
    missed, alarmed = rates
    if whole:
        k, p = _likely(2 * n, missed / 2)
        m = _likely(2 * n, alarmed / 2)[0]
        left = (2 * n - k)[:, np.newaxis]
        chances = p[:, np.newaxis] * binom.pmf(m, left, alarmed / (2 - missed))
    else:
        (k, p), (m, q) = _likely(n, missed), _likely(n, alarmed)
        chances = np.outer(p, q)
    pairs = [each.reshape(1, -1) for each in np.meshgrid(k, m, indexing="ij")]
    truth = pc * missed + (1 - pc) * alarmed
    return Tables(pc, n, pairs[0], pairs[1], truth, full), chances.ravel()


def _likely(n: int, rate: float) -> tuple[Floats, Floats]:
    low, high = binom.ppf(UNLIKELY, n, rate), binom.isf(UNLIKELY, n, rate)
    counts = np.arange(max(low, 0.0), high + 1)
    return counts, np.asarray(binom.pmf(counts, n, rate))


def enumerated_percentiles(pc: float, rates: Sequence[float], n: int, alpha: float) -> float:
    """Return the coverage of percentile intervals of the exact bootstrap distribution, enumerated.

    A percentile interval contains the truth where the bootstrap's distribution function at the
    truth lies between the two levels, so the quantiles are not needed. With k misses and m false
    alarms the function is Σ P(X = x | k) P(Y ≤ (truth - a x) / b | m): for all k and m this is a
    product of matrices.
    """
    (k, p), (m, q) = (_likely(n, rate) for rate in rates)
    truth = pc * rates[0] + (1 - pc) * rates[1]
    x, y = (_reachable(n, each) for each in (k, m))
    chance = binom.pmf(x, n, k[:, np.newaxis] / n)
    reached = np.cumsum(binom.pmf(y, n, m[:, np.newaxis] / n), axis=1)
    reached = np.concatenate([np.zeros((len(m), 1)), reached], axis=1)
    last = np.floor((n * truth - pc * x) / (1 - pc) + NEARLY) - y[0] + 1
    below = chance @ reached[:, np.clip(last, 0, len(y)).astype(np.intp)].T
    return float(p @ _between(below, alpha) @ q)


def _reachable(n: int, counts: Floats) -> Floats:
    """Return the numbers of mistakes in resamples of these test sets, but for improbable ones."""
    low = binom.ppf(UNLIKELY / 100, n, counts[0] / n) if counts[0] > 0 else 0.0
    high = binom.isf(UNLIKELY / 100, n, counts[-1] / n) if counts[-1] < n else n
    return np.arange(low, high + 1)


def _between(below: Floats, alpha: float, up_to: Floats | None = None) -> NDArray[np.bool_]:
    """Tell where the truth lies between percentiles, by the share of resamples below it.

    `up_to` is the share at or below the truth. Two classifiers need it, since their true costs may
    be equal; the true cost of one is not a sum of whole numbers of mistakes, so no resample equals
    it.
    """
    reached = below if up_to is None else up_to
    return (reached >= alpha / 2 - ROUNDING) & (below < 1 - alpha / 2 - ROUNDING)


def percentiles_cover(tables: Tables, alpha: float) -> NDArray[np.bool_]:
    """Tell in which tables the exact percentile band contains the truth.

    This is for one classifier, and for two whose test set is sampled class by class.
    """
    if len(tables.positives) == 1 and tables.full:
        return _between(_below_together(tables), alpha)
    laws = [_sum_laws(side, tables.n) for side in (tables.positives, tables.negatives)]
    (x, chance), (y, law) = laws
    reached = np.concatenate([np.zeros((len(law), 1)), np.cumsum(law, axis=1)], axis=1)
    most = (tables.n * tables.truth - tables.pc * x) / (1 - tables.pc) - y[:, :1]

    def share(counted: Floats) -> Floats:
        """Return the share of resamples whose y is among its first `counted` values, over all x."""
        last = np.clip(counted, 0, law.shape[1]).astype(np.intp)
        return np.asarray((chance * np.take_along_axis(reached, last, axis=1)).sum(axis=1))

    up_to = share(np.floor(most + NEARLY) + 1)
    if len(tables.positives) == 1:
        return _between(up_to, alpha)
    return _between(share(np.ceil(most - NEARLY)), alpha, up_to)


def _sum_laws(counts: Floats, n: int) -> tuple[Floats, Floats]:
    """Return the values and the distribution of the sum of a resample, for each table.

    A resampled example adds 1, -1 or 0. The distribution of the sum of n examples is the inverse
    Fourier transform of the n-th power of the characteristic function of one.
    """
    up = counts[0] / n
    down = counts[1] / n if len(counts) > 1 else np.zeros_like(up)
    spread = np.sqrt(n * np.max(up + down - (up - down) ** 2))
    length = 2 ** int(np.ceil(np.log2(2 * (REACH * spread + REACH**2))))
    start = np.round(n * (up - down)) - length // 2
    angle = 2 * np.pi * np.arange(length // 2 + 1) / length
    turn = np.exp(1j * angle)
    one = 1 + up[:, np.newaxis] * (turn - 1) + down[:, np.newaxis] * (1 / turn - 1)
    power = np.exp(n * np.log(np.abs(one)) + 1j * n * np.angle(one))
    shifted = power * np.exp(-1j * start[:, np.newaxis] * angle)
    law = np.fft.irfft(np.conj(shifted), n=length, axis=1)
    return start[:, np.newaxis] + np.arange(length), np.maximum(law, 0.0)


def _below_together(tables: Tables) -> Floats:
    """Return the share of resamples at or below the truth, where classes are resampled together.

    Given x misses, the false alarms are binomial among the 2n - x other examples.
    """
    n = 2 * tables.n
    pairs = np.stack([tables.positives[0], tables.negatives[0]])
    (k, m), back = np.unique(pairs, axis=1, return_inverse=True)
    reach = np.ceil(REACH * np.sqrt(k.max()) + REACH)
    x = np.clip(k[:, np.newaxis] + np.arange(-reach, reach + 1), -1, n + 1)
    chance = binom.pmf(x, n, k[:, np.newaxis] / n)
    most = np.floor((tables.n * tables.truth - tables.pc * x) / (1 - tables.pc) + NEARLY)
    left = np.clip(n - x, 0, n)
    rate = np.broadcast_to((m / (n - k))[:, np.newaxis], x.shape)
    used = (chance > 0) & (most >= 0)
    share = np.zeros_like(chance)
    full = most >= left
    share[used & full] = 1.0
    some = used & ~full
    share[some] = bdtr(most[some], left[some].astype(np.int64), rate[some])
    return np.asarray((chance * share).sum(axis=1)[np.ravel(back)])
