"""BCOST and BDELTACOST without sampling noise: their limit of infinitely many resamples.

Tables of one sample with the same costs share a lattice, so that the transforms of all of them are
products of matrices. Tables that cannot share one are computed one by one, by `CostDistribution`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes, pseudo_counts
from stakes.infer._probability.convolution import (
    FEW_COEFFICIENTS,
    LARGEST_LATTICE,
    NEGLIGIBLE,
    ROUNDING,
    TAIL,
    WORTH_PICKING,
    Draws,
    common_step,
    fast_length,
)
from stakes.infer._probability.distribution import CostDistribution
from stakes.infer.methods import Bounds, IntervalMethod

ROOM = 1 << 18
"""Numbers that are computed at a time, so that memory does not grow with the tables."""

BLOCK, MOSTLY = 1 << 14, 0.125
"""The same for steps that are many and short; and the share of powers that may be large, above
which all are computed."""

MOST_TOGETHER = 512
"""Tables that are computed at a time: what is large for one of them is computed for all."""

WORTH_SHARING = 8
"""Least number of tables for which a shared lattice pays: fewer are as fast one by one."""

FEW_DRAWS = 1000
"""Largest exponent for which powers by repeated squaring lose no digit that matters."""

TWO = 2
"""Number of outcomes for which counts are binomial."""

END = 1e12
"""Product of tilt and standard deviation from which the mean counts as at the end of its range."""

Ints = NDArray[np.int64]


def limits(outcomes: Outcomes, alpha: float, *, laplace: Any = 0.1) -> tuple[Floats, Floats]:
    """Return the α/2 and 1 - α/2 quantiles of the exact bootstrap distribution.

    With ``laplace="auto"`` each limit has the correction at its own end. Where the distribution is
    not exact, the limits are moved outwards by as much as it can be off.
    """
    upper, lower = _both(outcomes, laplace, alpha)
    levels = np.array([alpha / 2, 1 - alpha / 2])
    if lower is upper:
        low, high = upper.quantile(np.tile(levels, (outcomes.tables, 1))).T
    else:
        low, high = (
            each.quantile(np.full((outcomes.tables, 1), level))[:, 0]
            for each, level in zip((lower, upper), levels, strict=True)
        )
    error = float(max(lower.error.max(), upper.error.max()))
    return Bounds.of(low - lower.error, high + upper.error, error)


def tails(
    outcomes: Outcomes, margin: float, alpha: float, *, laplace: Any = 0.0
) -> tuple[Floats, Floats]:
    """Return BDELTACOST's bootstrap probabilities of at most, and of at least, the margin.

    Where the distribution is not exact, these are upper bounds.
    """
    upper, lower = _both(outcomes, laplace, alpha)
    error = float(max(lower.error.max(), upper.error.max()))
    return Bounds.of(lower.cdf(margin + lower.error), upper.sf(margin - upper.error), error)


def _both(outcomes: Outcomes, laplace: Any, alpha: float) -> tuple[Distributions, Distributions]:
    """Return the distributions for the upper and for the lower limit: mostly the same."""
    upper = distributions(outcomes, laplace, alpha)
    if not isinstance(laplace, str):
        return upper, upper
    return upper, distributions(outcomes, laplace, alpha, 0)


def distributions(outcomes: Outcomes, laplace: Any, alpha: float, end: int = -1) -> Distributions:
    """Return the exact bootstrap distributions of the mean, one for each table."""
    corrected = [
        (stratum.counts + extra) / (stratum.n + extra.sum())[:, np.newaxis]
        for stratum, extra in zip(
            outcomes.strata, pseudo_counts(outcomes, laplace, alpha, end), strict=True
        )
    ]
    sizes = [np.rint(stratum.n).astype(np.int64) for stratum in outcomes.strata]
    samples = [
        Samples(stratum.costs, shares, n, stratum.weight)
        for stratum, shares, n in zip(outcomes.strata, corrected, sizes, strict=True)
    ]
    return Distributions(samples)


# The distributions of many tables at once.


@dataclass(frozen=True, eq=False)
class Samples:
    """Tables of draws from the same costs, with the probabilities and number of draws of each."""

    costs: Floats
    shares: Floats
    n: Ints
    weight: float

    def of(self, rows: NDArray[np.intp]) -> Samples:
        """Return some of the tables, without the costs that none of them can have."""
        shares = self.shares[rows]
        possible = shares.any(axis=0)
        return Samples(self.costs[possible], shares[:, possible], self.n[rows], self.weight)

    def draws(self, table: int) -> Draws:
        """Return the draws of one table."""
        return Draws(self.costs, self.shares[table], int(self.n[table]), self.weight)


class _Group(Protocol):
    """Distributions on lattices, one per row, each from position 0 to its last."""

    last: Ints

    def cumulative(self, position: Ints) -> Floats:
        """Return the cumulative probability at each position, a column each."""


class Distributions:
    """The exact bootstrap distribution of the mean of each table.

    Attributes
    ----------
    error : ndarray, shape (tables,)
        The largest rounding error of each mean; 0 where its distribution is exact.
    """

    def __init__(self, strata: Sequence[Samples]) -> None:
        self._strata = strata
        tables = len(strata[0].n)
        self._together = list(_lattices(strata[0])) if len(strata) == 1 and tables > 1 else []
        shared = [rows.tolist() for rows, _ in self._together]
        self._alone = {
            table: CostDistribution([each.draws(table) for each in strata])
            for table in sorted(set(range(tables)).difference(*shared))
        }
        self.error = np.zeros(tables)
        for table, each in self._alone.items():
            self.error[table] = each.error

    def one(self, table: int) -> CostDistribution:
        """Return the distribution of one table."""
        found = self._alone.get(table)
        return found or CostDistribution([each.draws(table) for each in self._strata])

    def cdf(self, x: Floats) -> Floats:
        """Return the probability of a mean cost of at most `x`, with an entry for each table."""
        return self._of_each(x, Lattices.cdf, CostDistribution.cdf)

    def sf(self, x: Floats) -> Floats:
        """Return the probability of a mean cost of at least `x`."""
        return self._of_each(x, Lattices.sf, CostDistribution.sf)

    def quantile(self, q: Floats) -> Floats:
        """Return the least values whose `cdf` is at least `q`, which has a row for each table."""
        return self._of_each(q, Lattices.quantile, CostDistribution.quantile)

    def _of_each(
        self,
        given: Floats,
        many: Callable[[Lattices, Floats], Floats],
        one: Callable[[CostDistribution, Floats], Floats],
    ) -> Floats:
        result = np.empty(given.shape)
        for rows, lattices in self._together:
            result[rows] = many(lattices, given[rows])
        for table, distribution in self._alone.items():
            result[table] = one(distribution, given[table])
        return result


@dataclass(frozen=True, eq=False)
class Lattices:
    """Mean costs on lattices, one for each table, with the methods of `CostDistribution`."""

    origin: Floats
    step: Floats
    group: _Group

    def cdf(self, x: Floats) -> Floats:
        """Return the probability of at most `x`."""
        return self._up_to(np.floor((x - self.origin) / self.step + 1e-6))

    def sf(self, x: Floats) -> Floats:
        """Return the probability of at least `x`."""
        return 1 - self._up_to(np.ceil((x - self.origin) / self.step - 1e-6) - 1)

    def _up_to(self, position: Floats) -> Floats:
        inside = np.clip(position, -1, self.group.last).astype(np.int64)
        return self.group.cumulative(inside[:, np.newaxis])[:, 0]

    def quantile(self, q: Floats) -> Floats:
        """Return the least values with a cumulative probability of at least `q`."""
        low = np.full(q.shape, -1)
        high = np.broadcast_to(self.group.last[:, np.newaxis], q.shape)
        while (high - low > 1).any():
            middle = (low + high + 1) // 2  # never before the first position
            reached = self.group.cumulative(middle) >= q - ROUNDING
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        values = self.origin[:, np.newaxis] + self.step[:, np.newaxis] * high
        # Remove the rounding error of adding up steps.
        size = np.maximum(
            np.abs(self.origin), np.abs(self.origin + self.step * (self.group.last + 1))
        )
        decimals = 13 - np.ceil(np.log10(np.where(size > 0, size, 1e13))).astype(np.int64)
        for each in np.unique(decimals):
            rows = decimals == each
            values[rows] = np.round(values[rows], int(each))
        return values + 0.0


class _Listed:
    """The cumulative probabilities of each table."""

    def __init__(self, probabilities: Floats, last: Ints) -> None:
        # Rounding makes some probabilities negative; without them the sums would be too large.
        self._sums = np.zeros((len(probabilities), probabilities.shape[1] + 1))
        np.cumsum(probabilities, axis=1, out=self._sums[:, 1:])
        np.clip(self._sums, 0.0, 1.0, out=self._sums)
        self.last = last

    def cumulative(self, position: Ints) -> Floats:
        return np.take_along_axis(self._sums, position + 1, axis=1)


class _Spectral:
    """The nonzero Fourier coefficients of each table, with angles of its own.

    A running sum is a geometric series for each coefficient c at an angle θ > 0. With its mirror
    image, ``Σ_{j < m} 2 Re(c e^(iθj)) = Re(w) sin(θm) - Im(w) (1 - cos(θm))``, where
    ``w = c e^(-iθ/2) / sin(θ/2)``.
    """

    def __init__(
        self, theta: Floats, powers: NDArray[np.complex128], length: int, last: Ints
    ) -> None:
        self._theta, self._length, self.last = theta[:, np.newaxis], length, last
        waves = powers * np.exp(-0.5j * theta) / np.sin(theta / 2)
        self._real, self._imaginary = waves.real[:, np.newaxis], waves.imag[:, np.newaxis]

    def cumulative(self, position: Ints) -> Floats:
        count = position + 1.0
        turned = count[..., np.newaxis] * self._theta
        sums = self._real * np.sin(turned) + self._imaginary * (np.cos(turned) - 1)
        return np.asarray(np.clip((count + sums.sum(axis=-1)) / self._length, 0.0, 1.0))


# Tables that share a lattice.


def _lattices(samples: Samples) -> Iterator[tuple[NDArray[np.intp], Lattices]]:
    """Yield the tables that are computed together, and their distributions."""
    possible, pattern = np.unique(samples.shares > 0, axis=0, return_inverse=True)
    pattern = pattern.ravel()
    steps = [common_step(samples.costs[each]) for each in possible]
    whole = common_step(samples.costs)
    # A table that lacks some outcome may have a coarser lattice of its own, which is shorter.
    finest = np.array([step == whole for step in steps]) & (possible.sum(axis=1) > TWO)
    groups = [(whole, finest[pattern])] if finest.any() else []
    groups += [(steps[each], pattern == each) for each in np.flatnonzero(~finest)]
    for step, chosen in groups:
        rows = np.flatnonzero(chosen)
        for some in _pieces(rows, MOST_TOGETHER):
            here = samples.of(some)
            if len(here.costs) == 1:
                yield some, _constants(here)
            elif len(here.costs) == TWO:
                yield some, _binomials(here)
            elif step is not None:
                for inner, found in _convolved(here, step):
                    yield some[inner], found


def _constants(samples: Samples) -> Lattices:
    tables = len(samples.n)
    mean = samples.weight * (samples.shares @ samples.costs)
    return Lattices(mean, np.ones(tables), _Listed(np.ones((tables, 1)), np.zeros(tables, int)))


def _binomials(samples: Samples) -> Lattices:
    """Return the distributions of means whose count of the larger cost is binomial."""
    from scipy.stats import binom  # loaded only here, because it takes longer than all the rest

    given = (samples.n, samples.shares[:, 1])
    first = np.maximum(binom.ppf(TAIL, *given).astype(np.int64) - 1, 0)
    last = np.minimum(binom.isf(TAIL, *given).astype(np.int64) + 1, samples.n) - first
    low, high = samples.costs
    scale = samples.weight / samples.n
    numbers = first + np.arange(int(last.max()) + 1)[:, np.newaxis]
    listed = _Listed(binom.pmf(numbers, *given).T, last)
    origin = samples.weight * low + scale * (high - low) * first
    return Lattices(origin, scale * (high - low), listed)


def _convolved(samples: Samples, step: float) -> Iterator[tuple[NDArray[np.intp], Lattices]]:
    """Yield tables whose lattices are not too long, grouped by similar length."""
    low, high = _windows(samples)
    steps = step * samples.weight / samples.n
    sizes = np.ceil((high - low) / steps).astype(np.int64) + 2
    start = samples.weight * samples.costs[samples.shares.argmax(axis=1)]
    first = np.floor((low - start) / steps + 1e-6).astype(np.int64)
    lengths = np.ceil(np.log2(sizes))
    for each in np.unique(lengths):
        here = np.flatnonzero((lengths == each) & ((high - low) <= LARGEST_LATTICE * steps))
        if len(here) >= WORTH_SHARING:
            length = fast_length(int(sizes[here].max()))
            circle = _Circle(samples.of(here), step, length)
            for rows, group in circle.distributions(first[here], sizes[here] - 1):
                some = here[rows]
                yield some, Lattices((start + steps * first)[some], steps[some], group)


def _windows(samples: Samples) -> tuple[Floats, Floats]:
    """Return the range that each mean leaves with a probability ≤ TAIL at either end (Chernoff)."""
    goal = -np.log(TAIL)
    costs, shares, weight = samples.costs, samples.shares, samples.weight
    scale = weight / samples.n
    least, most = (
        weight * end(np.where(shares > 0, costs, never), axis=1)
        for end, never in ((np.min, np.inf), (np.max, -np.inf))
    )
    centred = costs - (shares @ costs)[:, np.newaxis]
    sd = scale * np.sqrt(samples.n * (shares * centred**2).sum(axis=1))
    signs = np.array([[-1.0], [1.0]])
    moves = np.where(shares > 0, scale[:, np.newaxis] * costs, np.nan)

    def tilted(t: Floats) -> tuple[Floats, Floats]:
        """Return the means under the tilts t, and the exponents of their Chernoff bounds."""
        lift = (signs * t)[..., np.newaxis] * moves
        top = np.nanmax(lift, axis=-1)
        weights = shares * np.exp(np.where(shares > 0, lift, -np.inf) - top[..., np.newaxis])
        total = weights.sum(axis=-1)
        mean = weight * (weights @ costs) / total
        return mean, signs * t * mean - samples.n * (np.log(total) + top)

    low, high = np.zeros((2, len(sd))), np.tile(1 / sd, (2, 1))
    largest = 1e300 / np.maximum(np.maximum(np.abs(least), np.abs(most)), 1)
    while (short := (tilted(high)[1] < goal) & (high < largest) & (high * sd <= END)).any():
        low, high = np.where(short, high, low), np.where(short, 2 * high, high)
    ended = high * sd > END
    for _ in range(40):
        middle = (low + high) / 2
        short = tilted(middle)[1] < goal
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    found = np.where(ended, [least, most], tilted(high)[0])
    return np.maximum(found[0], least), np.minimum(found[1], most)


# The transforms of all tables on one circle.


class _Circle:
    """A lattice closed to a circle, with totals counted from each table's most frequent cost."""

    def __init__(self, samples: Samples, step: float, length: int) -> None:
        self._shares, self._n, self._length = samples.shares, samples.n, length
        places = np.rint((samples.costs - samples.costs[0]) / step)
        # Counted from a whole number near the means, so that waves lose few digits.
        self._places = places - np.rint((self._shares @ places).mean())
        self._commonest = self._places[self._shares.argmax(axis=1)]
        self._means = self._shares @ self._places
        self._vars = (self._shares * (self._places - self._means[:, np.newaxis]) ** 2).sum(axis=1)
        self._limits = np.exp(2 * NEGLIGIBLE / self._n) * (1 - ROUNDING)  # of |φ|²

    def distributions(self, first: Ints, last: Ints) -> Iterator[tuple[Ints, _Group]]:
        """Yield tables and their distributions, from their first positions on.

        Tables with so many large powers that a transform of each alone is faster are left out.
        """
        level, tables, blocks = self._coarse()
        everywhere = len(blocks) * 3**level > MOSTLY * len(self._n) * self._length
        if everywhere and self._n.max() <= FEW_DRAWS:
            yield from self._everywhere(first, last)
            return
        tables, angles = self._refined(level, tables, blocks)
        most = max(self._length * np.log2(self._length) / WORTH_PICKING, FEW_COEFFICIENTS)
        number = np.bincount(tables, minlength=len(self._n))
        few = number * len(self._places) <= most
        widest = int(number[few].max(initial=1))
        for rows in _pieces(np.flatnonzero(few), ROOM // widest):
            chosen = np.isin(tables, rows)
            place = np.searchsorted(rows, tables[chosen])
            column = np.arange(len(place)) - np.searchsorted(place, place)
            powers = np.zeros((len(rows), int(number[rows].max())), dtype=np.complex128)
            theta = np.ones(powers.shape)
            powers[place, column] = self._at(tables[chosen], angles[chosen], first)
            theta[place, column] = 2 * np.pi / self._length * angles[chosen]
            yield rows, _Spectral(theta, powers, self._length, last[rows])

    def _coarse(self) -> tuple[int, Ints, Ints]:
        """Return the tables and blocks of angles where a power may be more than negligible.

        A block's width is a power of 3, near the width over which a transform changes.
        """
        width = self._length / (2 * np.pi) / np.sqrt(self._vars.max())
        level = round(np.log(max(width, 1.0)) / np.log(3))
        middles = np.arange(3**level // 2, (self._length + 3**level) // 2 + 1, 3**level)
        moving, reach = self._shares * self._places, np.pi / self._length * (3**level - 1)
        found = []
        for some in _pieces(middles, BLOCK // len(self._n)):
            turned = np.multiply.outer(self._places, 2 * np.pi / self._length * some)
            cosine, sine = np.cos(turned), np.sin(turned)
            real, imaginary = self._shares @ cosine, self._shares @ sine
            slope = 2 * np.abs(imaginary * (moving @ cosine) - real * (moving @ sine))
            # With g = |φ|², |g''| ≤ 2·variance, so g and g' in the middle of a block bound it.
            bound = real**2 + imaginary**2 + slope * reach + self._vars[:, np.newaxis] * reach**2
            found.append(bound > self._limits[:, np.newaxis])
        tables, blocks = np.nonzero(np.concatenate(found, axis=1))
        return level, tables, middles[blocks]

    def _refined(self, level: int, tables: Ints, blocks: Ints) -> tuple[Ints, Ints]:
        """Return the tables and angles where a power may be large, except at the angle 0.

        Blocks are split in three, or left out, until they are single angles.
        """
        for finer in range(level - 1, -1, -1):
            thirds = 3**finer * np.array([-1, 0, 1])
            tables, blocks = np.repeat(tables, 3), (blocks[:, np.newaxis] + thirds).ravel()
            reach = np.pi / self._length * (3**finer - 1)
            pieces = _pieces(np.arange(len(tables)), BLOCK // len(self._places))
            large = np.concatenate(
                [self._may_be_large(tables[some], blocks[some], reach) for some in pieces]
            )
            tables, blocks = tables[large], blocks[large]
        inside = (blocks > 0) & (blocks <= self._length // 2)
        return tables[inside], blocks[inside]

    def _may_be_large(self, tables: Ints, blocks: Ints, reach: float) -> NDArray[np.bool_]:
        """Tell in which blocks a table's power may be more than negligible, like `_coarse`."""
        centred = self._places - self._means[tables, np.newaxis]
        turned = centred * (2 * np.pi / self._length * blocks)[:, np.newaxis]
        cosine, sine = self._shares[tables] * np.cos(turned), self._shares[tables] * np.sin(turned)
        real, imaginary = cosine.sum(axis=1), sine.sum(axis=1)
        moving = imaginary * (centred * cosine).sum(axis=1) - real * (centred * sine).sum(axis=1)
        bound = real**2 + imaginary**2 + 2 * np.abs(moving) * reach + self._vars[tables] * reach**2
        return np.asarray(bound > self._limits[tables])

    def _at(self, tables: Ints, angles: Ints, first: Ints) -> NDArray[np.complex128]:
        """Return powers of the transforms of totals that are counted from the first position.

        They are computed from 1 - φ of the centred costs and in polar form, so that many draws lose
        no digits.
        """
        log_size, angle = np.empty((2, len(tables)))
        theta, means = 2 * np.pi / self._length * angles, self._means
        for some in _pieces(np.arange(len(tables)), BLOCK // len(self._places)):
            shares = self._shares[tables[some]]
            half = (self._places - means[tables[some], np.newaxis]) * theta[some, np.newaxis] / 2
            sine = np.sin(half)
            real = -2 * (shares * sine * sine).sum(axis=1)
            imaginary = 2 * (shares * sine * np.cos(half)).sum(axis=1)
            log_size[some] = 0.5 * np.log1p(2 * real + real**2 + imaginary**2)
            angle[some] = np.arctan2(imaginary, 1 + real)
        totals = self._n * (means - self._commonest)
        whole = np.rint(totals)
        angle = self._n[tables] * angle + theta * (totals - whole)[tables]
        powers = np.exp(self._n[tables] * log_size - 1j * angle)
        # The middle coefficient has no mirror image.
        powers[2 * angles == self._length] /= 2
        return np.asarray(powers * self._turned((whole - first)[tables], angles))

    def _turned(self, steps: Floats, angles: Ints) -> NDArray[np.complex128]:
        """Return the waves at whole steps, by integer parts of a turn: no rounding adds up."""
        turns = np.mod(steps, self._length).astype(np.int64) * angles % self._length
        return np.asarray(np.exp(-2j * np.pi / self._length * turns))

    def _everywhere(self, first: Ints, last: Ints) -> Iterator[tuple[Ints, _Group]]:
        """Yield tables and their distributions where most powers are large, as with few draws."""
        angles = np.arange(self._length // 2 + 1)
        waves = self._turned(np.mod(self._places, self._length)[:, np.newaxis], angles)
        roots = self._turned(np.ones(1), np.arange(self._length))
        for rows in _pieces(np.arange(len(self._n)), ROOM // self._length):
            transforms = self._shares[rows] @ waves.view(np.float64)
            powers = _power(transforms.view(np.complex128), self._n[rows])
            steps = -self._n[rows] * self._commonest[rows] - first[rows]
            turns = np.mod(steps, self._length).astype(np.int64)[:, np.newaxis] * angles
            powers *= roots[turns % self._length]
            yield rows, _Listed(scipy.fft.irfft(powers, n=self._length, axis=1), last[rows])


def _power(base: NDArray[np.complex128], n: Ints) -> NDArray[np.complex128]:
    """Return each row to its power by repeated squaring, which is faster than the polar form."""
    result = np.ones_like(base)
    for bit in range(int(n.max()).bit_length()):
        chosen = (n >> bit) & 1 == 1
        if chosen.all():
            result *= base
        else:
            result[chosen] *= base[chosen]
        base = base * base
    return result


def _pieces(rows: Ints, most: int) -> list[Ints]:
    """Return the rows in pieces of `most`, or of 1 if that is less; no pieces without rows."""
    return [rows[begin : begin + max(most, 1)] for begin in range(0, len(rows), max(most, 1))]


METHOD = IntervalMethod(
    name="exact",
    designs=frozenset({"simple", "stratified", "examples"}),
    limits=limits,
    tails=tails,
)
