"""The default interval for stratified samples: one extra draw for all strata together.

Let S be the sum of the strata's means, each drawn from its own Dirichlet distribution, and Top the
mean cost if everything unknown had the highest cost. The upper limit is a quantile of
S + E·(Top - S), E ~ Beta(w, v). With one stratum that is the extremal interval: adding w to the
costliest cell of a Dirichlet distribution moves its mean by the same beta share towards it. An
extra draw in every stratum would be valid too, but wider the more strata there are.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, repeat
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, betaln, expit, ndtr, ndtri

from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes, Stratum
from stakes.infer._probability import dirichlet_mean, gamma_ratio

LATTICE = 1 << 13
SCORES = np.linspace(-6.0, 6.0, 33)
"""The normal scores near which each stratum's distribution is computed."""

NODES, WIDEST = 4096, 7.1
"""The number of points of the sum of the strata, equally spaced on the normal scale, and their
largest normal score."""

FEW_DRAWS, SMALLEST_DRAWS, LEAST_SHARE = 3.0, 1e-6, 0.05
"""With fewer draws than the first, much of a stratum's distribution is near single outcomes; with
fewer than the second, all of it. Of three outcomes or more, one with a smaller share of a draw than
the third has quantiles beyond the smallest numbers."""

MIDDLE, LEAST_LOG = 4.0, 20.0
FEW_PLACES = np.concatenate([np.linspace(-MIDDLE, MIDDLE, 65), np.linspace(MIDDLE, 34.0, 25)[1:]])
"""The logits at which the distribution of few draws is computed. Further ones are near the cheapest
outcome, down to a probability of exp(-LEAST_LOG), and beside the outcomes between the ends, where
the distribution is steep."""

BESIDE = np.concatenate([-(0.5 ** np.arange(3, 15)), 0.5 ** np.arange(14, 2, -1)])

FEW_LEFT, FEW_ROWS, SMALL_POOL = 2000, 6000, 50
"""The numbers of rows without a label (in a stratum, and in a pool) below which they are counted
singly, and the size of a population below which the extra weight is 1."""

NOTHING, TINY, CLOSE, LARGEST_LOGIT = 1e-16, 1e-300, 1e-9, 700.0

SMALL_TAIL, FEW_STEPS = 1e-6, 6

EQUAL, ROUNDING = 1e-8, 1e-12
"""Values that differ by less are equal: as shares of the range of costs, and of the costs."""

MOST_ATOMS = 1 << 16
"""The largest number of sums of strata with single outcomes that are listed one by one."""

FEW_STRATA, BATCH, SHORT = 64, 1024, 32
"""The number of strata up to which each is computed by itself, that of strata whose distributions
are computed in one call, and that of lattice points up to which a direct convolution is faster than
a transform."""

NEAR, OFFSETS = 4.0, (np.arange(16) + 0.5) / 16 - 0.5

HERMITE_NODES, HERMITE_WEIGHTS = np.polynomial.hermite_e.hermegauss(32)
"""Quadrature of the mean of a function of a normal variable, once the weights are normalised."""

Distribution = tuple[Floats, Floats, Floats]
"""Points, the probability of each, and the width of the cell that each represents."""


@dataclass(frozen=True, eq=False)
class Part:
    """The data of one stratum for the upper limit; for the lower limit, with its costs negated.

    Attributes
    ----------
    costs, counts, sizes : ndarray
        The draws; sizes is None where they are single rows.
    top : float
        The highest possible cost of a draw.
    weight : float
        The share of the population that is in the stratum and has no label.
    known : float
        The contribution of the rows with labels, which is certain.
    room : float
        The size of a draw that was not observed, as a share of the stratum.
    left : float
        The number of rows without a label; infinite in an infinite population.
    """

    costs: Floats
    counts: Floats
    sizes: Floats | None
    top: float
    bottom: float
    weight: float
    known: float
    room: float
    left: float = math.inf

    @cached_property
    def n(self) -> float:
        """The number of draws."""
        return float(self.counts.sum())

    @property
    def pairs(self) -> bool:
        """Whether few rows are left, each with one of two outcomes."""
        few = self.sizes is None and self.left < FEW_LEFT
        return few and len(np.unique(self.costs[self.counts > 0])) == 2  # noqa: PLR2004

    @property
    def observed(self) -> tuple[float, float]:
        """The lowest and the highest contribution by the costs observed in it."""
        seen = self.costs[self.counts > 0]
        return self.weight * float(seen.min()), self.weight * float(seen.max())

    @property
    def rows(self) -> float:
        """The number of rows of the stratum in a finite population."""
        return self.left + self.n

    @cached_property
    def uncertain(self) -> bool:
        """Whether its contribution is uncertain."""
        return self.top > self.bottom and self.weight > 0

    @cached_property
    def mean(self) -> float:
        """The mean of the draws; without any, the highest cost, which leaves no room above."""
        if not self.n:
            return self.top
        amounts = self.counts if self.sizes is None else self.counts * self.sizes
        return float(amounts @ self.costs / amounts.sum())


Alike = tuple[Part, float, int]
"""A part, its concentration, and how many strata have it."""


def part_of(stratum: Stratum, table: int, sign: int, *, full: bool) -> Part:
    """Return a stratum for the upper limit (`sign` 1), or negated for the lower one (-1)."""
    end = -1 if sign > 0 else 0
    unknown = stratum.weight * (1 - stratum.labelled)
    mean = float(stratum.mean[table])
    return Part(
        costs=sign * stratum.costs,
        counts=stratum.counts[table],
        sizes=None if stratum.units is None else stratum.units.sizes,
        top=sign * stratum.end(end),
        bottom=sign * stratum.end(-1 - end),
        weight=unknown,
        known=sign * stratum.weight * stratum.labelled * mean,
        room=float(stratum.room(end, full=full)[table]),
        left=stratum.left,
    )


class Limit:
    """The variable whose quantile is the upper limit; for the lower limit, negated."""

    def __init__(
        self, parts: Sequence[Part], share: float, distribution: Distribution | None = None
    ) -> None:
        uncertain = [part for part in parts if part.uncertain]
        # A single draw shows little of its stratum, so the stratum gets an extra draw of its own.
        several = [part for part in uncertain if part.n >= 2]  # noqa: PLR2004
        self.known = sum(part.known for part in parts)
        self.known += sum(part.weight * part.mean for part in parts if not part.uncertain)
        self.top = self.known + sum(part.weight * part.top for part in uncertain)
        first, second = _extra(uncertain, several)
        distinct, times = _counted(several)
        self.draws = tuple(_draws(part, first) for part in distinct)
        if distribution is None:
            lone, times_of_lone = _counted([part for part in uncertain if part.n < 2])  # noqa: PLR2004
            found = _contributions(distinct, self.draws, times)
            found += _contributions([_with_extra(part) for part in lone], None, times_of_lone)
            distribution = _convolved(found, self.known)
        self.distribution = distribution
        rows = sum(part.rows for part in parts)
        self.extra = None if second is None else (1.0 if rows < SMALL_POOL else share, second)
        self.pools = _pools(uncertain, distinct, self.extra)

    def upper_tail(self, value: float) -> float:
        """Return the probability of exceeding `value`."""
        return self._tail(value, self.distribution)

    def tail_from(self, value: float) -> float:
        """Return the probability of `value` or more, allowing for the rounding of sums of costs."""
        low = float(self.distribution[0][0])
        close = EQUAL * (self.top - low) + ROUNDING * max(abs(self.top), abs(low))
        # Where all rows are known nothing is added up, and `close` may be 0.
        below = float(np.nextafter(value - close, -np.inf))
        return self._tail(below, self.distribution)

    def quantile(self, upper: float) -> float:
        """Return the value exceeded with probability `upper`, at most the highest possible one."""
        return min(self._quantile(upper), self.top)

    def _quantile(self, upper: float) -> float:
        from scipy.optimize import brentq

        points = self.distribution[0]
        low, high = float(points[0]), max(self.top, float(points[-1]))
        if low == high or self.upper_tail(low) <= upper:
            return low
        wanted = -ndtri(upper)

        def missing(value: float, distribution: Distribution) -> float:
            return float(-ndtri(np.clip(self._tail(value, distribution), TINY, 1 - TINY)) - wanted)

        # Most steps use few points, the last ones all of them.
        few = _coarse(self.distribution)
        near = self._between(upper, low, high)
        if not missing(near[0], few) < 0 < missing(near[1], few):
            near = low, high
        rough = float(brentq(missing, *near, (few,), xtol=1e-6 * (high - low)))
        room = 1e-5 * (high - low)
        below, above = max(rough - room, low), min(rough + room, high)
        ends = missing(below, self.distribution), missing(above, self.distribution)
        for _ in range(FEW_STEPS):
            if not ends[0] < 0 < ends[1]:
                break
            value = below - ends[0] * (above - below) / (ends[1] - ends[0])
            left = missing(value, self.distribution)
            if abs(left) < CLOSE:
                return value
            below, above = (value, above) if left < 0 else (below, value)
            ends = (left, ends[1]) if left < 0 else (ends[0], left)
        # Where the probability jumps, the limit is the value of the jump, which may be the true
        # mean. The search ends next to it, on either side.
        close = ROUNDING * (high - low)
        beyond = 2 * close + 2 * CLOSE * max((pool.row for pool in self.pools), default=0.0)
        return float(brentq(missing, low, high, (self.distribution,), xtol=close)) + beyond

    def _between(self, upper: float, low: float, high: float) -> tuple[float, float]:
        """Return values below and above the quantile: without the extra, and by a union bound."""
        if self.extra is None or self.pools:
            return low, high
        points, mass, _ = self.distribution
        above = np.cumsum(mass[::-1])[::-1]
        least, most = (float(points[max((above > p).sum() - 1, 0)]) for p in (upper, upper / 2))
        extra = float(betaincinv(*self.extra[::-1], upper / 2))
        return least, high - extra * (high - most)

    def _tail(self, value: float, distribution: Distribution) -> float:
        points, mass, widths = distribution
        if self.extra is None:
            return float(mass[points > value].sum())
        # The probability has a kink where S equals the value, so the mass there is spread over its
        # cell.
        near = (np.abs(points - value) < NEAR * widths) & (widths > 0)
        spread = points[near, np.newaxis] + widths[near, np.newaxis] * OFFSETS
        spread = np.minimum(spread, max(self.top, float(points[-1])))  # nothing is beyond the end
        found = float(mass[~near] @ self._exceeds(value, points[~near]))
        return found + float(mass[near] @ self._exceeds(value, spread).mean(axis=1))

    def _exceeds(self, value: float, points: Floats) -> Floats:
        """Return the probability of exceeding the value, given S."""
        if self.extra is None:
            return np.asarray(points > value, dtype=np.float64)
        room = self.top - points
        if self.pools:
            # The largest tail among the pools: the rows may be those of any stratum.
            found = [pool.exceeds((value - points) / pool.row) for pool in self.pools]
            return np.where(value < self.top, np.max(found, axis=0), 0.0)
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = np.where(room > 0, (value - points) / room, np.where(points > value, 0.0, 1.0))
        return _beta_above(*self.extra, np.clip(needed, 0.0, 1.0))


def _beta_above(a: float, b: float, x: Floats) -> Floats:
    """Return P(B > x), B ~ Beta(a, b); SciPy's own complement takes ten times as long."""
    result = 1 - betainc(a, b, x)
    small = result < SMALL_TAIL  # whose digits were lost
    result[small] = betainc(b, a, 1 - x[small])
    return np.asarray(result)


def upper_limit(outcomes: Outcomes, table: int, share: float, *, full: bool) -> Limit:
    """Return the variable of the upper limit only."""
    return Limit(_parts(outcomes, table, 1, full=full), share)


def limit_pair(outcomes: Outcomes, table: int, share: float, *, full: bool) -> tuple[Limit, Limit]:
    """Return the variables of the lower limit, negated, and of the upper limit."""
    parts = {sign: _parts(outcomes, table, sign, full=full) for sign in (-1, 1)}
    upper = Limit(parts[1], share)
    points, mass, widths = upper.distribution
    mirrored = -points[::-1], mass[::-1], widths[::-1]
    lower = Limit(parts[-1], share, mirrored)
    several = all(part.n >= 2 for part in parts[1] if part.uncertain)  # noqa: PLR2004
    if not several or lower.draws != upper.draws:
        lower = Limit(parts[-1], share)
    return lower, upper


def _parts(outcomes: Outcomes, table: int, sign: int, *, full: bool) -> list[Part]:
    """Return the part of each stratum; strata that are the same object have the same part."""
    found: dict[Stratum, Part] = {}
    for each in outcomes.strata:
        if each not in found:
            found[each] = part_of(each, table, sign, full=full)
    return [found[each] for each in outcomes.strata]


def _counted(parts: list[Part]) -> tuple[list[Part], list[int]]:
    """Return the distinct parts, and how many strata have each; of few strata, each by itself."""
    if len(parts) <= FEW_STRATA:
        return parts, [1] * len(parts)
    times = Counter(parts)
    return list(times), list(times.values())


def _extra(uncertain: list[Part], several: list[Part]) -> tuple[float, float | None]:
    """Return v₀ and v, the draws that the extra one is among: by possible and by observed costs."""
    if not several:
        return np.inf, None
    ranges = [part.weight * (part.top - part.bottom) for part in uncertain]
    units = [part.weight * (part.top - part.bottom) * part.room for part in several]
    first = sum(ranges) / max(units)
    gains = [part.weight * (part.top - part.mean) for part in uncertain]
    steps = [part.weight * (part.top - part.mean) * part.room for part in several]
    if max(steps) <= 0:
        return first, None
    return first, min(first, sum(gains) / max(steps))


@dataclass(frozen=True)
class Pool:
    """The number of unlabelled rows that have the highest cost, counted in rows of one stratum."""

    row: float
    above: Floats

    def exceeds(self, rows: Floats) -> Floats:
        """Return the probability of more rows than `rows`, which is 1 for negative numbers."""
        place = np.floor(rows + CLOSE).astype(np.intp)
        inside = np.clip(place, 0, len(self.above) - 1)
        return np.where(place < 0, 1.0, np.where(place < len(self.above), self.above[inside], 0.0))


def _pools(
    uncertain: list[Part], several: list[Part], extra: tuple[float, float] | None
) -> list[Pool]:
    """Return beta-binomial numbers of rows, where so few are unlabelled that they count singly."""
    if extra is None or any(math.isinf(part.left) for part in uncertain):
        return []
    gains = sum(part.weight * (part.top - part.mean) for part in uncertain)
    found: list[Pool] = []
    for part in several:
        row = part.weight * (part.top - part.bottom) / part.left
        if any(math.isclose(row, pool.row, rel_tol=1e-12) for pool in found):
            continue  # strata whose rows weigh the same share a pool
        if part.top > part.mean and gains / row < FEW_ROWS:
            rows = max(round(gains / row), 1)
            exactly = _beta_binomial(np.arange(rows + 1), rows, *extra)
            found.append(Pool(row, np.append(np.cumsum(exactly[:0:-1])[::-1], 0.0)))
    return found


def _draws(part: Part, first: float) -> float:
    """Return the concentration of a stratum's Dirichlet distribution.

    It is less than the number of draws, such that the variance is that of n - 1; with one stratum
    it is that number.
    """
    if first <= 1:
        draws = part.n
    else:
        draws = min(part.n, max(0.0, (part.n - 1) * (first + 1) / (first - 1) - 1))
    if math.isinf(part.left) or part.pairs:
        return draws
    # The unlabelled rows are a sample themselves: with m of them the variance is that of a
    # Dirichlet distribution with this smaller concentration.
    return max(part.left * (draws + 1) / (draws + part.left) - 1, 0.0)


def _with_extra(part: Part) -> Part:
    sizes = None if part.sizes is None else np.append(part.sizes, part.sizes.max())
    return replace(
        part,
        costs=np.append(part.costs, part.top),
        counts=np.append(part.counts, 1.0),
        sizes=sizes,
    )


@dataclass(frozen=True, eq=False)
class Contribution:
    """The distribution of one stratum's contribution: the probability of at most each point.

    It is either smooth between the ends, and almost a line on the logistic and the normal scale
    unless it is steep near the ends; or all of it lies at the points. With two outcomes it may be a
    beta distribution from the first point to the last. As many strata as `times` says have it.
    """

    points: Floats
    below: Floats
    mean: float
    ends: tuple[float, float] = (0.0, 0.0)
    smooth: bool = True
    steep: bool = False
    beta: tuple[float, float] | None = None
    times: int = 1

    def expected(self) -> float:
        """Return the mean of a smooth distribution, by quadrature of its quantiles."""
        from scipy.interpolate import splev, splrep  # which only strata need

        low, high = self.ends
        logits, scores = self._scales()
        scores = scores + CLOSE * np.arange(len(scores))
        given = np.clip(HERMITE_NODES, scores[0], scores[-1])
        shares = expit(splev(given, splrep(scores, logits)))
        return low + (high - low) * float(HERMITE_WEIGHTS @ shares / HERMITE_WEIGHTS.sum())

    def _scales(self) -> tuple[Floats, Floats]:
        """Return the points on the logistic scale, and the distribution function as scores."""
        low, high = self.ends
        logits = np.maximum.accumulate(_logit((self.points - low) / (high - low)))  # rounding
        scores = np.maximum.accumulate(ndtri(np.clip(self.below, 1e-15, 1 - 1e-15)))
        # Mass at an end becomes a steep rise: each point moves a little to the right of the last.
        return logits + CLOSE * np.arange(len(logits)), scores

    def at(self, edges: Floats) -> Floats:
        """Return the distribution function."""
        if not self.smooth:
            found = np.searchsorted(self.points, edges, side="right")
            return np.asarray(np.append(0.0, self.below)[found])
        from scipy.interpolate import PchipInterpolator, splev, splrep

        low, high = self.ends
        logits, scores = self._scales()
        given = np.clip(_logit((edges - low) / (high - low)), logits[0], logits[-1])
        if self.steep:
            result = ndtr(PchipInterpolator(logits, scores)(given))
        else:
            result = ndtr(splev(given, splrep(logits, scores)))
        result[edges < low] = 0.0
        result[edges >= high] = 1.0
        return np.asarray(result)

    def masses(self, step: float, most: int) -> Floats:
        """Return the mass near each point of a lattice that begins at the first point.

        Points beyond the last one with mass are left out, and those beyond the number `most`.
        """
        last = max(float(self.points[-1]), self.ends[1]) if self.smooth else float(self.points[-1])
        n = min(math.floor((last - float(self.points[0])) / step) + 3, most)
        if self.beta is None:
            return np.diff(self.at_edges(step, n + 1))
        # Mass between two points is split between them such that its mean is kept: by the integral
        # of the distribution function.
        a, b = self.beta
        width = float(self.points[-1] - self.points[0])
        reached = np.arange(1, n + 1) * step / width
        inside = np.minimum(reached, 1.0)
        area = inside * betainc(a, b, inside) - a / (a + b) * betainc(a + 1, b, inside)
        average = np.diff(area + reached - inside, prepend=0.0) * width / step
        return np.diff(average, prepend=0.0)

    def at_edges(self, step: float, n: int) -> Floats:
        """Return the distribution function at the first `n` edges of cells around the points."""
        edges = self.points[0] + step * (np.arange(n) - 0.5)
        # Beyond the last point, where most edges are, there is only mass at the end.
        inside = min(int(np.searchsorted(edges, self.points[-1], side="right")) + 1, n)
        result = np.ones(n)
        result[:inside] = self.at(edges[:inside])
        if self.smooth:
            result[inside:][edges[inside:] < self.ends[1]] = result[inside - 1]
        return result


def _logit(share: Floats) -> Floats:
    """Return the logit of shares that may be rounded to 0 or 1, clipped to LARGEST_LOGIT."""
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.log(share) - np.log1p(-share)
    found = np.where(share <= 0, -LARGEST_LOGIT, np.where(share >= 1, LARGEST_LOGIT, found))
    return np.asarray(np.clip(found, -LARGEST_LOGIT, LARGEST_LOGIT))


def _contributions(
    parts: list[Part], draws: tuple[float, ...] | None, times: list[int]
) -> list[Contribution]:
    """Return the distribution of each stratum's contribution; similar strata in one call."""
    first: dict[int, Contribution] = {}
    few: dict[int, Alike] = {}
    plain, unequal = [], []
    for index, part in enumerate(parts):
        total = part.n if draws is None else draws[index]
        seen = part.counts > 0
        same = part, total, times[index]
        if part.pairs and total > 0:
            first[index] = _of_pool(*same)
        elif part.costs[seen].min() == part.costs[seen].max():
            value = part.weight * part.costs[seen][:1]
            only = Contribution(value, np.array([1.0]), float(value[0]), smooth=False)
            first[index] = replace(only, times=times[index])
        elif total < SMALLEST_DRAWS:
            first[index] = _one_outcome(part, times[index])
        elif total < FEW_DRAWS:
            few[index] = same
        elif part.sizes is not None:
            unequal.append(same)
        else:
            plain.append(same)
    size = BATCH if sum(times) > FEW_STRATA else 1
    first.update(zip(few, _in_batches(_of_few, list(few.values()), size), strict=True))
    rest = (_in_batches(_of_rows, plain, BATCH), _in_batches(_of_units, unequal, BATCH))
    return [*(first[index] for index in sorted(first)), *chain.from_iterable(rest)]


def _in_batches(
    of: Callable[[list[Alike]], list[Contribution]], alike: list[Alike], size: int
) -> Iterator[Contribution]:
    """Yield the distributions of strata, so many at a time that they need little memory."""
    for start in range(0, len(alike), size):
        yield from of(alike[start : start + size])


def _one_outcome(part: Part, times: int) -> Contribution:
    amounts = part.counts if part.sizes is None else part.counts * part.sizes
    order = np.argsort(part.costs, kind="stable")
    below = np.cumsum(amounts[order]) / amounts.sum()
    centre = part.weight * part.mean
    points = part.weight * part.costs[order]
    return Contribution(points, below, centre, smooth=False, times=times)


def _beta_binomial(times: NDArray[Any], rows: int, costly: float, cheap: float) -> Floats:
    """Return the probabilities of beta-binomial numbers."""
    log_ways = -np.log(rows + 1) - betaln(rows - times + 1, times + 1)
    return np.asarray(
        np.exp(log_ways + betaln(times + costly, rows - times + cheap) - betaln(costly, cheap))
    )


def _of_pool(part: Part, total: float, count: int) -> Contribution:
    """Return the distribution of a contribution of few unlabelled rows, each of two outcomes."""
    seen = part.counts > 0
    costs, shares = part.costs[seen], part.counts[seen] / part.n * total
    order = np.argsort(costs)
    (low, high), (cheap, costly) = costs[order], shares[order]
    rows = max(round(part.left), 1)
    times = np.arange(rows + 1)
    below = np.cumsum(_beta_binomial(times, rows, costly, cheap))
    points = part.weight * (low + (high - low) * times / rows)
    centre = part.weight * part.mean
    return Contribution(points, below / below[-1], centre, smooth=False, times=count)


def _of_few(alike: list[Alike]) -> list[Contribution]:
    """Return the distributions of Dirichlet means with mass near their ends.

    Few draws of unequal sizes count by their sizes, and together as their effective number.
    """
    found: dict[int, Contribution] = {}
    several: dict[int, tuple[Part, int, Floats, Floats]] = {}
    for index, (part, total, times) in enumerate(alike):
        sizes = np.ones(len(part.costs)) if part.sizes is None else part.sizes
        amounts = part.counts * sizes
        worth = total * amounts.sum() ** 2 / (amounts @ sizes) / part.n
        costs, place = np.unique(part.costs, return_inverse=True)
        shares = np.bincount(place, amounts) / amounts.sum() * worth
        seen = shares > 0
        if seen.sum() == 2:  # noqa: PLR2004 - a beta distribution
            cheap, costly = shares[seen].tolist()
            ends, certain = np.array(part.observed), np.array([0.0, 1.0])
            beta, centre = (costly, cheap), part.weight * part.mean
            found[index] = Contribution(ends, certain, centre, beta=beta, times=times)
        elif part.sizes is not None and shares[seen].min() < LEAST_SHARE:
            found[index] = _one_outcome(part, times)
        else:
            several[index] = part, times, costs[seen], shares[seen]
    if several:
        found.update(zip(several, _of_several(list(several.values())), strict=True))
    return [found[index] for index in range(len(alike))]


def _of_several(rows: list[tuple[Part, int, Floats, Floats]]) -> list[Contribution]:
    """Return the distributions of few draws of three outcomes or more, all in one call."""
    most = max(len(costs) for _, _, costs, _ in rows)
    costs, alpha = np.zeros((len(rows), most)), np.zeros((len(rows), most))
    places = []
    for index, (_, _, values, shares) in enumerate(rows):
        outcomes = (values - values[0]) / (values[-1] - values[0])
        costs[index, : len(values)], alpha[index, : len(values)] = outcomes, shares
        # Near the cheapest outcome the distribution function is a power of the distance.
        first = LEAST_LOG / shares[0]
        near = (_logit(outcomes[1:-1])[:, np.newaxis] + BESIDE).ravel()
        logits = [np.linspace(-first, -MIDDLE, 25)[:-1], FEW_PLACES, near[np.abs(near) < MIDDLE]]
        places.append(expit(np.unique(np.concatenate(logits))))
    each = np.repeat(np.arange(len(rows)), [len(where) for where in places])
    # Costs that are the same in all rows, as those of a single stratum, need no copy for each.
    shared = costs[0] if len(rows) == 1 else costs[each]
    with np.errstate(all="ignore"):  # with hardly any draw it overflows, which is seen below
        tails = dirichlet_mean.upper_tail(shared, alpha[each], np.concatenate(places))
    below = np.split(1 - tails, np.cumsum([len(where) for where in places])[:-1])
    found = []
    for (part, times, values, _), where, at_most in zip(rows, places, below, strict=True):
        if not np.isfinite(at_most).all():  # so few draws that almost all of it is single outcomes
            found.append(_one_outcome(part, times))
            continue
        points = part.weight * (values[0] + (values[-1] - values[0]) * where)
        centre = part.weight * part.mean
        smooth = Contribution(points, at_most, centre, part.observed, steep=True, times=times)
        found.append(smooth)
    return found


def _of_rows(rows: list[Alike]) -> list[Contribution]:
    """Return the distributions of Dirichlet means, all strata at all scores in one call."""
    most = max(int((part.counts > 0).sum()) for part, _, _ in rows)
    costs, alpha = np.zeros((len(rows), most)), np.zeros((len(rows), most))
    lows, spans = np.empty(len(rows)), np.empty(len(rows))
    for index, (part, total, _) in enumerate(rows):
        seen = part.counts > 0
        values = part.costs[seen]
        order = np.argsort(values)
        lows[index], spans[index] = values.min(), np.ptp(values)
        costs[index, : len(values)] = (values[order] - lows[index]) / spans[index]
        alpha[index, : len(values)] = part.counts[seen][order] * total / part.n
    each = np.repeat(np.arange(len(rows)), len(SCORES))
    values, tails = dirichlet_mean.near_scores(costs[each], alpha[each], np.tile(SCORES, len(rows)))
    shape = (len(rows), len(SCORES))
    weights = np.array([part.weight for part, _, _ in rows])[:, np.newaxis]
    points = weights * (lows[:, np.newaxis] + spans[:, np.newaxis] * values.reshape(shape))
    below = 1 - tails.reshape(shape)
    return [
        Contribution(*distribution, part.weight * part.mean, part.observed, times=times)
        for distribution, (part, _, times) in zip(
            zip(points, below, strict=True), rows, strict=True
        )
    ]


def _of_units(rows: list[Alike]) -> list[Contribution]:
    """Return the distributions of ratios of gamma sums, all strata at all scores in one call."""
    most = max(int((part.counts > 0).sum()) for part, _, _ in rows)
    costs, sizes, alpha = np.zeros((3, len(rows), most))
    for index, (part, total, _) in enumerate(rows):
        seen = part.counts > 0
        used = slice(int(seen.sum()))
        costs[index, used], sizes[index, used] = part.costs[seen], np.asarray(part.sizes)[seen]
        alpha[index, used] = part.counts[seen] * total / part.n
    each = np.repeat(np.arange(len(rows)), len(SCORES))
    points, tails = gamma_ratio.near_scores(
        costs[each], sizes[each], alpha[each], np.tile(SCORES, len(rows))
    )
    shape = (len(rows), len(SCORES))
    points, below = points.reshape(shape), 1 - tails.reshape(shape)
    found = []
    for index, (part, _, times) in enumerate(rows):
        distribution = Contribution(part.weight * points[index], below[index], 0.0, part.observed)
        # The mean of a ratio is not quite the ratio of means: take it from the distribution.
        found.append(replace(distribution, mean=distribution.expected(), times=times))
    return found


def _convolved(contributions: list[Contribution], known: float) -> Distribution:
    """Return points and masses of the sum of independent contributions."""
    alone = [each for each in contributions if len(each.points) == 1]
    certain = known + sum(each.times * float(each.points[0]) for each in alone)
    spread = [each for each in contributions if len(each.points) > 1]
    if not spread:
        return np.array([certain]), np.array([1.0]), np.zeros(1)
    exactly = _atoms(spread)
    if exactly is not None:
        return certain + exactly[0], exactly[1], np.zeros(len(exactly[0]))
    # A smooth distribution starts and stops where it has almost no mass, maybe far within its ends.
    start = sum(each.times * float(each.points[0]) for each in spread)
    width = sum(each.times * float(each.points[-1] - each.points[0]) for each in spread)
    step = width / LATTICE
    strata = sum(each.times for each in spread)
    length = scipy.fft.next_fast_len(LATTICE + 2 * strata + 2, real=True)
    cells = []
    for each in spread:
        cell = each.masses(step, length)
        # The lattice may be coarse for the narrower ones, but must not move their means.
        moved = each.mean - float(each.points[0]) - step * float(cell @ np.arange(len(cell)))
        start += each.times * moved
        cells.append(cell if each.times == 1 else _repeated(cell, each.times, length))
    mass: Floats = np.maximum(_summed(cells, length), 0.0)
    lattice = np.arange(len(mass), dtype=np.float64)
    return _thinned(certain + start + step * lattice, mass, step)


def _repeated(cell: Floats, times: int, length: int) -> Floats:
    """Return the masses of the sum of so many independent variables with the same masses."""
    size = min((len(cell) - 1) * times + 1, length)
    fast = length if size == length else scipy.fft.next_fast_len(size, real=True)
    return np.asarray(scipy.fft.irfft(scipy.fft.rfft(cell, fast) ** times, n=fast)[:size])


def _summed(cells: list[Floats], length: int) -> Floats:
    """Return the masses of the sum of independent variables, on a lattice of at most that length.

    The shortest ones are added first: transforms of the whole lattice for each of thousands of
    strata would take time by the square of their number.
    """
    if len(cells) <= FEW_STRATA:
        transform = 1.0
        for cell in cells:
            transform = transform * scipy.fft.rfft(cell, length)
        return np.asarray(scipy.fft.irfft(transform, n=length))
    heap = [(len(cell), index, cell) for index, cell in enumerate(cells)]
    heapq.heapify(heap)
    index = len(heap)
    while len(heap) > 1:
        one, other = heapq.heappop(heap)[2], heapq.heappop(heap)[2]
        both = _sum_of_two(one, other, length)
        heapq.heappush(heap, (len(both), index, both))
        index += 1
    return heap[0][2]


def _sum_of_two(one: Floats, other: Floats, length: int) -> Floats:
    size = len(one) + len(other) - 1
    if size <= length and min(len(one), len(other)) <= SHORT:
        return np.convolve(one, other)
    fast = length if size >= length else scipy.fft.next_fast_len(size, real=True)
    transform = scipy.fft.rfft(one, fast) * scipy.fft.rfft(other, fast)
    return np.asarray(scipy.fft.irfft(transform, n=fast)[: min(size, length)])


def _atoms(spread: list[Contribution]) -> tuple[Floats, Floats] | None:
    """Return the values and masses of a sum of few outcomes; None if many, or any, can occur.

    Rows that are counted singly sum to exact values, and the limit may be one of them. A lattice
    would move it a little, to either side.
    """
    if any(each.smooth for each in spread):
        return None
    points, mass = np.zeros(1), np.ones(1)
    for each in chain.from_iterable(repeat(each, each.times) for each in spread):
        if len(points) * len(each.points) > MOST_ATOMS:
            return None
        sums = np.add.outer(points, each.points).ravel()
        masses = np.outer(mass, np.diff(each.below, prepend=0.0)).ravel()
        order = np.argsort(sums, kind="stable")
        sums, masses = sums[order], masses[order]
        starts = np.append(True, np.diff(sums) > CLOSE * (sums[-1] - sums[0]))
        points = sums[starts]
        mass = np.asarray(np.bincount(np.cumsum(starts) - 1, masses), dtype=np.float64)
    kept = mass > NOTHING
    return points[kept], mass[kept] / mass[kept].sum()


def _thinned(points: Floats, mass: Floats, step: float) -> Distribution:
    """Return fewer points, each the mean of those that it represents, without empty ones."""
    kept = mass > NOTHING
    points, mass = points[kept], mass[kept] / mass[kept].sum()
    below = np.cumsum(mass)
    # Bins of normal scores have as many points in the tails as in the middle.
    scores = ndtri(np.clip(below, 1e-12, 1 - 1e-12))
    bins = np.floor((scores + WIDEST) / (2 * WIDEST) * NODES).astype(np.intp)
    total = np.asarray(np.bincount(bins, mass), dtype=np.float64)
    used = total > 0
    means = np.bincount(bins, mass * points)[used] / total[used]
    return means, total[used], np.asarray(step * np.bincount(bins)[used], dtype=np.float64)


def _coarse(distribution: Distribution) -> Distribution:
    """Return the distribution with an eighth of the points."""
    points, mass, widths = distribution
    bins = np.arange(len(points)) // 8
    total, sums, wide = (
        np.asarray(np.bincount(bins, each), dtype=np.float64)
        for each in (mass, mass * points, widths)
    )
    return sums / total, total, wide
