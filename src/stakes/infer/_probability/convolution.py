"""Convolutions of costs: the lattice of a mean cost, and its probabilities on the lattice."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import lcm, prod
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from stakes._core.typing import Floats
from stakes.errors import InputError

# The lattice.

LARGEST_DENOMINATOR = 10**5
LARGEST_POSITION = 2**40
CLOSENESS = 1e-13
"""A ratio this close to a fraction counts as that fraction: random ones are 1000 times further."""


def common_step(costs: NDArray[np.float64]) -> float | None:
    """Return the largest step of which all differences of `costs` are multiples, or None.

    It is searched for in the ratios of the differences, so scaling the costs scales the step.
    """
    gaps = np.unique(costs - costs[0])[1:] if len(costs) else costs
    if not len(gaps):
        return None
    unit = gaps[0]
    denominator = 1
    for ratio in (gaps / unit).tolist():
        fraction = near_fraction(ratio)
        if fraction is None:
            return None
        denominator = lcm(denominator, fraction.denominator)
        if denominator > LARGEST_DENOMINATOR:
            return None
    # The largest difference has the smallest relative rounding.
    return float(gaps[-1] / np.rint(gaps[-1] / (unit / denominator)))


def near_fraction(ratio: float) -> Fraction | None:
    """Return the fraction that equals a ratio of at least 1 up to rounding, or None."""
    if ratio > LARGEST_POSITION:
        return None
    fraction = Fraction(ratio).limit_denominator(LARGEST_DENOMINATOR)
    return fraction if abs(float(fraction) - ratio) <= CLOSENESS * ratio else None


# Distributions on a lattice: listed position by position, or by their Fourier coefficients.

LONG, FEW_COEFFICIENTS = 1 << 15, 2000
"""On shorter lattices, or with more coefficients, running sums of the listed probabilities are
faster."""


class ListedDistribution:
    """Probabilities of the positions 0, 1, …, one by one."""

    def __init__(self, probabilities: Floats) -> None:
        self._listed = probabilities
        self.size = len(probabilities)

    def pmf(self) -> Floats:
        """Return the probability of each position."""
        return self._listed

    @cached_property
    def _sums(self) -> Floats:
        # Rounding makes some probabilities negative; without them the sums would be too large.
        return np.concatenate([[0.0], np.clip(np.cumsum(self._listed), 0.0, 1.0)])

    def cumulative(self, position: NDArray[Any]) -> Floats:
        """Return the probability of each position and all before it."""
        return np.asarray(self._sums[np.clip(position, -1, self.size - 1).astype(np.int64) + 1])


class SpectralDistribution(ListedDistribution):
    """Probabilities given by the few Fourier coefficients that are not zero.

    ``p[j] = Σ_k c_k e^(iθ_k (j + offset)) / length``, so a running sum is a geometric series for
    each coefficient; the probabilities themselves are only computed when they are needed.
    """

    def __init__(
        self, index: NDArray[np.int64], powers: NDArray[Any], length: int, offset: int, size: int
    ) -> None:
        self._index, self._powers, self._length, self._offset = index, powers, length, offset
        self.size = size

    def pmf(self) -> Floats:
        """Return the probability of each position."""
        return np.maximum(self._listed, 0.0)

    @cached_property
    def _listed(self) -> Floats:  # type: ignore[override]
        spectrum = np.zeros(self._length // 2 + 1, dtype=np.complex128)
        spectrum[self._index] = self._powers
        folded = np.fft.irfft(spectrum, n=self._length)
        begin = self._offset % self._length
        return np.concatenate([folded[begin:], folded[:begin]])[: self.size]

    def cumulative(self, position: NDArray[Any]) -> Floats:
        """Return the probability of each position and all before it."""
        if self._length < LONG or len(self._index) > FEW_COEFFICIENTS:
            return super().cumulative(position)
        count = np.clip(position, -1, self.size - 1) + 1.0
        index, powers = self._index[1:], self._powers[1:]
        if 2 * self._index[-1] == self._length:  # the middle coefficient has no mirror image
            powers = np.append(powers[:-1], powers[-1] / 2)
        theta = 2 * np.pi / self._length * index
        # Σ_{j < count} e^(iθ (j + offset)), summed symmetrically about its middle.
        middle = self._offset + (count[..., np.newaxis] - 1) / 2
        series = np.sin(theta * count[..., np.newaxis] / 2) / np.sin(theta / 2)
        waves = powers.real * np.cos(theta * middle) - powers.imag * np.sin(theta * middle)
        total = count + 2 * (series * waves).sum(axis=-1)
        return np.asarray(np.clip(total / self._length, 0.0, 1.0))


LARGEST_LATTICE = 1 << 22

ROUNDING = 1e-11
"""The largest change of a probability by the accumulated rounding of a transform."""

IMPOSSIBLE = 1e-16
"""The largest value that rounding makes of a probability of zero."""

DIGITS = 64 * float(np.finfo(np.float64).eps)
"""The relative change of a number by the rounding of a few operations."""

NEARLY = 1e-9
"""The tolerance, in steps, when a value is compared with a place on the lattice."""


class Layers:
    """A distribution by rows: the sums on all other lattices, and steps along one lattice.

    ``P(S ≤ x) = Σ_o Σ_i shares[o] · P(row i, steps ≤ (x - outer[o] - inner[i]) / step)``, with
    `outer` the sums that do not depend on the table, such as those of other strata. Values
    that differ by `nearly` are equal.
    """

    def __init__(
        self,
        outer: tuple[Floats, Floats],
        rows: tuple[Floats, Floats],
        step: float,
        nearly: float,
        error: float = 0.0,
    ) -> None:
        values, self._shares = outer
        inner, table = rows
        self._nearly = nearly
        self._starts = values[:, np.newaxis] + inner
        self._table, self._step, self.error = table, step, error
        self._sums = np.concatenate([np.zeros((len(table), 1)), np.cumsum(table, axis=1)], axis=1)

    def _count(self, x: float, *, before: bool) -> NDArray[np.intp]:
        """Return how many values of each row are at most x, or less than x."""
        lost = DIGITS * (np.abs(self._starts) + abs(x))
        room = np.minimum((self._nearly + lost) / self._step, 0.25)
        places = (x - self._starts) / self._step
        count = np.ceil(places - room) if before else np.floor(places + room) + 1
        return np.asarray(np.clip(count, 0, self._table.shape[1]), dtype=np.intp)

    def _reached(self, x: float, *, before: bool = False) -> float:
        count = self._count(x, before=before)
        rows = self._sums[np.arange(len(self._sums)), count].sum(axis=1)
        return float(np.clip(self._shares @ rows, 0, 1))

    def cumulative(self, x: ArrayLike, *, before: bool) -> Any:
        """Return the probability of at most, or of less than, each x."""
        at = np.asarray(x, dtype=np.float64)
        result = [self._reached(each, before=before) for each in at.ravel().tolist()]
        return result[0] if at.ndim == 0 else np.reshape(result, at.shape)

    def quantile(self, q: Floats) -> Any:
        """Return the least values whose cumulative probabilities are at least q."""
        result = _tidy(np.array([self._least(each) for each in q.ravel().tolist()]))
        return result.item() if q.ndim == 0 else result.reshape(q.shape)

    def _least(self, q: float) -> float:
        low = float(self._starts.min()) - self._step
        high = float(self._starts.max()) + self._step * (self._table.shape[1] - 1)
        while low < (middle := (low + high) / 2) < high:
            if self._reached(middle) >= q - ROUNDING:
                high = middle
            else:
                low = middle
        count = self._count(high, before=False)
        rows = np.broadcast_to(np.arange(len(self._sums)), count.shape)
        likely = (count > 0) & (self._table[rows, np.maximum(count, 1) - 1] > IMPOSSIBLE)
        values = np.where(likely, self._starts + self._step * (count - 1), -np.inf)
        return float(values.max()) if likely.any() else high

    def pmf(self) -> tuple[Floats, Floats]:
        """Return the values and their probabilities, one by one."""
        if self._starts.shape[0] * self._table.size > LARGEST_LATTICE:
            raise InputError(
                "", "there are too many possible means to list.", "Use cdf or quantile."
            )
        steps = self._step * np.arange(self._table.shape[1])
        values = (self._starts[..., np.newaxis] + steps).ravel()
        probabilities = (self._shares[:, np.newaxis, np.newaxis] * self._table).ravel()
        order = np.argsort(values)
        order = order[probabilities[order] > IMPOSSIBLE]
        values, probabilities = values[order], probabilities[order]
        new = np.diff(values, prepend=-np.inf) > self._nearly
        return _tidy(values[new]), np.add.reduceat(probabilities, np.flatnonzero(new))


def _tidy(values: Floats) -> Floats:
    """Return values without the rounding errors of sums in their last digits."""
    size = 10.0 ** (15 - np.ceil(np.log10(np.where(values == 0, 1, np.abs(values)))))
    return np.asarray(np.where(np.isfinite(size), np.round(values * size) / size, values) + 0.0)


TAIL = 1e-13
"""The probability that may be left out, or folded over, at either end."""

FEW_ATOMS = 64
"""The number of costs that are processed at a time."""

NEGLIGIBLE = -40.0
"""The logarithm below which powers are zero to double precision."""

WORTH_PICKING = 30.0
"""The number of angles of a transform that take as long as one that is computed by itself."""

CAREFUL = -8.0
"""The logarithm above which powers are computed to full precision."""


@dataclass(frozen=True, eq=False)
class Draws:
    """Independent draws whose average, times `weight`, is one part of the mean cost."""

    costs: Floats
    probabilities: Floats
    n: int
    weight: float

    @property
    def scale(self) -> float:
        """The weight of one draw in the mean."""
        return self.weight / self.n

    @cached_property
    def commonest(self) -> float:
        """The most probable cost of one draw."""
        return float(self.costs[self.probabilities.argmax()])

    @cached_property
    def reference(self) -> float:
        """A common cost that is as small as possible: differences from it lose few digits."""
        common = self.probabilities >= self.probabilities.max() / 10
        return float(min(self.costs[common], key=abs))

    @cached_property
    def mean(self) -> float:
        """The expected value of one draw."""
        return float(self.probabilities @ self.costs)

    @cached_property
    def var(self) -> float:
        """The variance of one draw."""
        return float(self.probabilities @ (self.costs - self.mean) ** 2)


def lattice_step(parts: Sequence[Draws]) -> float | None:
    """Return the step of the lattice that the mean lies on, or None if there is none."""
    if len(parts) > 1:
        steps = [common_step(part.costs * part.scale) for part in parts]
        known = sorted({step for step in steps if step is not None})
        return None if None in steps else common_step(np.array([0.0, *known]))
    step = common_step(parts[0].costs)
    return None if step is None else step * parts[0].scale


def window(parts: Sequence[Draws]) -> tuple[float, float]:
    """Return limits that the mean passes with a probability of at most TAIL each (Chernoff)."""
    goal = -np.log(TAIL)
    least = sum(part.weight * part.costs.min() for part in parts)
    most = sum(part.weight * part.costs.max() for part in parts)
    sd = float(np.sqrt(sum(part.scale**2 * part.n * part.var for part in parts)))

    def tilted(t: float) -> tuple[float, float]:
        """Return the mean under the tilt t, and the exponent of its Chernoff bound."""
        mean = exponent = 0.0
        for part in parts:
            lift = t * part.scale * part.costs
            top = lift.max()
            weights = part.probabilities * np.exp(lift - top)
            total = weights.sum()
            mean += part.weight * float(weights @ part.costs) / total
            exponent -= part.n * (float(np.log(total)) + top)
        return mean, exponent + t * mean

    def limit(sign: float) -> float:
        low, high = 0.0, 1 / sd
        while tilted(sign * high)[1] < goal and high < 1e300 / max(abs(least), abs(most), 1):
            low, high = high, 2 * high
            if high * sd > 1e12:  # noqa: PLR2004 - the end of the support is reached
                return float(most if sign > 0 else least)
        for _ in range(40):
            middle = (low + high) / 2
            if tilted(sign * middle)[1] < goal:
                low = middle
            else:
                high = middle
        return float(tilted(sign * high)[0])

    return max(limit(-1.0), least), min(limit(1.0), most)


def binomial(part: Draws) -> tuple[float, ListedDistribution]:
    """Return the first mean and the probabilities of a binomial number of the larger cost."""
    from scipy.stats import binom  # imported here because it is slow to load

    given = (part.n, part.probabilities[1])
    first, last = int(binom.ppf(TAIL, *given)), int(binom.isf(TAIL, *given))
    first, last = max(first - 1, 0), min(last + 1, part.n)
    low, high = part.costs
    origin = part.weight * low + part.scale * (high - low) * first
    return float(origin), ListedDistribution(binom.pmf(np.arange(first, last + 1), *given))


def fast_length(size: int) -> int:
    """Return the least whole number of at least `size` whose prime factors are 2, 3 and 5.

    Transforms of such lengths are fast. `scipy.fft.next_fast_len` returns the same, but scipy's
    transforms take longer to load than most distributions take to compute.
    """
    found, five = 1 << (size - 1).bit_length(), 1
    while five < found:
        odd = five
        while odd < found:
            halves = -(-size // odd) - 1
            found = min(found, odd << halves.bit_length())
            odd *= 3
        five *= 5
    return found


def convolve(
    parts: Sequence[Draws], low: float, high: float, step: float
) -> tuple[float, SpectralDistribution]:
    """Return the first mean and the probabilities on a lattice, by a power of the transform.

    Most of the powers are zero to double precision and are left out. Powers that are not small are
    those of the centred transform, from 1 - φ and in polar form, so that n = 10⁷ is as accurate as
    n = 10².
    """
    size = int(np.ceil((high - low) / step)) + 2
    length = fast_length(size)
    start = sum(part.weight * part.commonest for part in parts)
    placed = [_on_lattice(part, step) for part in parts]
    centre = sum(
        part.n * float(probabilities @ positions)
        for part, (positions, probabilities) in zip(parts, placed, strict=True)
    )
    reference = round(centre)
    first = int(np.floor((low - start) / step + 1e-6))
    shift = centre - reference
    few = _candidates(parts[0].n, *placed[0], length) if len(parts) == 1 else None
    if few is None:
        angles, powers = _powers_everywhere(parts, placed, length, reference, shift)
    else:
        powers = _centred_power(parts, placed, np.asarray(2 * np.pi / length * few), shift)
        large = np.abs(powers) > np.exp(NEGLIGIBLE)
        angles, powers = few[large], powers[large]
    return start + step * first, SpectralDistribution(
        angles, powers, length, first - reference, size
    )


def _powers_everywhere(
    parts: Sequence[Draws],
    placed: Sequence[tuple[Floats, Floats]],
    length: int,
    reference: int,
    shift: float,
) -> tuple[NDArray[np.int64], NDArray[np.complex128]]:
    """Return the angles at which the power of the transform is not negligible, and the powers."""
    transforms = [np.conj(np.fft.rfft(_on_circle(*each, length))) for each in placed]
    log_size = np.zeros(length // 2 + 1)
    kept = np.arange(len(log_size))
    for part, transform in zip(parts, transforms, strict=True):
        square = transform.real[kept] ** 2 + transform.imag[kept] ** 2
        large = square > np.exp(2 * NEGLIGIBLE / part.n)
        kept, square = kept[large], square[large]
        log_size[kept] += part.n * 0.5 * np.log(square)
    kept = kept[log_size[kept] > NEGLIGIBLE]
    # k · reference modulo the length, in whole numbers: no rounding however large n is.
    angle = -2 * np.pi / length * ((kept * (reference % length)) % length)
    for part, transform in zip(parts, transforms, strict=True):
        angle += part.n * np.angle(transform[kept])
    powers = np.exp(log_size[kept] - 1j * angle)
    careful = log_size[kept] > CAREFUL
    theta = np.asarray(2 * np.pi / length * kept[careful])
    powers[careful] = _centred_power(parts, placed, theta, shift)
    return kept, powers


def _candidates(
    n: int, positions: Floats, probabilities: Floats, length: int
) -> NDArray[np.int64] | None:
    """Return the few angles at which a power of the transform can be more than negligible.

    With p and q the two largest probabilities and d the distance of their positions,
    |φ(θ)|² ≤ 1 - 2pq (1 - cos θd), so θd must be close to a multiple of 2π. Their number hardly
    depends on n. Return None where transforming all angles at once is faster.
    """
    top = np.argsort(probabilities)[-2:]
    distance = abs(float(np.diff(positions[top])[0]))
    slack = -np.expm1(2 * NEGLIGIBLE / n) / (2 * float(np.prod(probabilities[top])))
    if slack >= 1 or distance == 0:
        return None
    width = float(np.arccos(1 - slack)) / (2 * np.pi)
    expected = width * length + distance
    if expected * len(positions) > length * np.log2(length) / WORTH_PICKING:
        return None
    centres = np.arange(int(distance / 2) + 2)
    begins = np.ceil((centres - width) * length / distance).astype(np.int64)
    ends = np.floor((centres + width) * length / distance).astype(np.int64)
    picked = begins[:, np.newaxis] + np.arange(int((ends - begins).max()) + 1)
    inside = (picked >= 0) & (picked <= np.minimum(ends, length // 2)[:, np.newaxis])
    return np.unique(picked[inside])


def _centred_power(
    parts: Sequence[Draws],
    placed: Sequence[tuple[Floats, Floats]],
    theta: Floats,
    shift: float,
) -> NDArray[np.complex128]:
    """Return the powers at a few angles, of the transforms of the centred positions."""
    log_size, angle = np.zeros(len(theta)), theta * shift
    for part, (positions, probabilities) in zip(parts, placed, strict=True):
        mean = float(probabilities @ positions)
        real, imaginary = np.zeros(len(theta)), np.zeros(len(theta))
        for batch in range(0, len(positions), FEW_ATOMS):
            some = slice(batch, batch + FEW_ATOMS)
            half = np.multiply.outer((positions[some] - mean) / 2, theta)
            sine = np.sin(half)
            real -= 2 * probabilities[some] @ (sine * sine)
            imaginary += 2 * probabilities[some] @ (sine * np.cos(half))
        with np.errstate(divide="ignore"):  # a transform of exactly zero stays zero
            log_size += part.n * 0.5 * np.log1p(2 * real + real**2 + imaginary**2)
        angle += part.n * np.arctan2(imaginary, 1 + real)
    return np.asarray(np.exp(log_size - 1j * angle))


def _on_circle(positions: Floats, probabilities: Floats, length: int) -> Floats:
    """Return the probabilities on a circular lattice."""
    circle = np.zeros(length)
    np.add.at(circle, np.mod(positions, length).astype(np.int64), probabilities)
    return circle


def _on_lattice(part: Draws, step: float) -> tuple[Floats, Floats]:
    """Place costs on the lattice.

    Positions are counted from the commonest cost, so that the n-fold sums stay small whole numbers
    even where n is large, and lose no digits.
    """
    return np.rint((part.costs - part.commonest) * (part.scale / step)), part.probabilities


# Costs without a lattice: the total, not each draw, is rounded to a fine one by a narrow Gaussian.

KERNEL = 2.85
"""The standard deviation of the Gaussian, in steps: its transform ends where the lattice's does."""

REACH = 21
"""The most steps by which the Gaussian moves a total, except with a probability of 1e-12."""

CHUNK = 1 << 14
"""The number of angles that are processed at a time."""


def smooth(
    parts: Sequence[Draws], low: float, high: float, size: int
) -> tuple[float, float, SpectralDistribution]:
    """Return the first mean, the step and the probabilities of a mean that is rounded to a lattice.

    The transform of the mean itself is known at every angle, for any costs. Multiplied by that of a
    Gaussian it is negligible beyond `size` angles, and is the transform of a mean that was moved by
    at most REACH steps, for any number of draws.
    """
    step = (high - low) / (size - 2 * REACH - 4)
    placed = [
        ((part.costs - part.commonest) * (part.scale / step), part.probabilities) for part in parts
    ]
    start = sum(part.weight * part.commonest for part in parts)
    centre = sum(
        part.n * float(probabilities @ positions)
        for part, (positions, probabilities) in zip(parts, placed, strict=True)
    )
    reference = round(centre)
    first = int(np.floor((low - start) / step)) - REACH - 1
    kept, powers = [], []
    for index in _large_angles(parts, placed, size):
        theta = np.asarray(2 * np.pi / size * index)
        power = _centred_power(parts, placed, theta, centre - reference)
        power *= np.exp(-0.5 * (KERNEL * theta) ** 2)
        large = np.abs(power) > np.exp(NEGLIGIBLE)
        kept.append(index[large])
        powers.append(power[large])
    distribution = SpectralDistribution(
        np.concatenate(kept), np.concatenate(powers), size, first - reference, size
    )
    return start + step * first, step, distribution


def _large_angles(
    parts: Sequence[Draws], placed: Sequence[tuple[Floats, Floats]], length: int
) -> Iterator[NDArray[np.int64]]:
    """Yield the angles at which the power may be more than negligible, in chunks.

    Blocks of angles are left out, or split in three, until they are three angles wide.
    """
    spread = max(
        part.n * float(probabilities @ (positions - probabilities @ positions) ** 2)
        for part, (positions, probabilities) in zip(parts, placed, strict=True)
    )
    most = max(part.n for part in parts)
    width = length / (2 * np.pi) / max(np.sqrt(spread / most), 1e-300)  # where g may have changed
    levels = int(np.clip(np.log(max(width, 3)) / np.log(3), 1, np.log(length) / np.log(3)))
    middles = np.arange(3**levels // 2, length // 2 + 1 + 3**levels // 2, 3**levels)
    for level in range(levels, 0, -1):
        half = 3**level // 2
        middles = np.concatenate(
            [
                middles[begin : begin + CHUNK][
                    _may_be_large(parts, placed, length, middles[begin : begin + CHUNK], half)
                ]
                for begin in range(0, len(middles), CHUNK)
            ]
        )
        middles = (middles[:, np.newaxis] + 3 ** (level - 1) * np.array([-1, 0, 1])).ravel()
    middles = middles[middles <= length // 2]
    for begin in range(0, len(middles), CHUNK):
        yield middles[begin : begin + CHUNK]


def _may_be_large(
    parts: Sequence[Draws],
    placed: Sequence[tuple[Floats, Floats]],
    length: int,
    middles: NDArray[np.int64],
    half: int,
) -> NDArray[np.bool_]:
    """Tell in which blocks of angles the power may be more than negligible.

    With g = |φ|², |g''| ≤ 2·variance, so g and g' in the middle of a block bound g on it.
    """
    theta, reach = np.asarray(2 * np.pi / length * middles), 2 * np.pi / length * half
    bound = -0.5 * (KERNEL * np.maximum(theta - reach, 0)) ** 2
    for part, (positions, probabilities) in zip(parts, placed, strict=True):
        var = float(probabilities @ (positions - probabilities @ positions) ** 2)
        size, slope = _size_and_slope(positions, probabilities, theta)
        highest = size + np.abs(slope) * reach + var * reach**2
        bound += part.n * 0.5 * np.log(np.clip(highest, 1e-300, 1))
    return np.asarray(bound > NEGLIGIBLE)


def _size_and_slope(
    positions: Floats, probabilities: Floats, theta: Floats
) -> tuple[Floats, Floats]:
    """Return the squared size of a transform, and its derivative."""
    value = np.zeros(len(theta), dtype=np.complex128)
    slope = np.zeros(len(theta), dtype=np.complex128)
    centred = positions - float(probabilities @ positions)
    for batch in range(0, len(positions), FEW_ATOMS):
        some = slice(batch, batch + FEW_ATOMS)
        wave = np.exp(1j * np.multiply.outer(centred[some], theta))
        value += probabilities[some] @ wave
        slope += (probabilities[some] * centred[some]) @ wave * 1j
    return np.abs(value) ** 2, 2 * np.real(np.conj(value) * slope)


# Several lattices at once.


@dataclass(frozen=True)
class Placed:
    """The draws of one stratum, each outcome with its coordinates along several axes.

    The outcome whose coordinates are all zero is left out.
    """

    coordinates: Floats
    probabilities: Floats
    n: int


def joint_probabilities(
    strata: Sequence[Placed], lengths: Sequence[int], *, smoothed: bool
) -> Floats:
    """Return the joint probabilities of the sums along all axes, each of which is circular.

    Coordinates are whole numbers, except on the last axis if it is `smoothed`. Rounding makes some
    probabilities negative; they are kept, because without them sums of many would be too large.
    """
    shape = (*lengths[:-1], lengths[-1] // 2 + 1)
    log_size = np.zeros(shape)
    if smoothed:
        log_size -= 0.5 * (KERNEL * 2 * np.pi / lengths[-1] * np.arange(shape[-1])) ** 2
    kept, log_size, angle = np.arange(log_size.size), log_size.ravel(), np.zeros(log_size.size)
    for stratum in strata:
        transform = _joint_transform(stratum, lengths, shape).ravel()[kept]
        excess = 2 * transform.real + transform.real**2 + transform.imag**2
        large = excess > np.expm1(2 * (NEGLIGIBLE - log_size) / stratum.n)
        kept, transform, excess = kept[large], transform[large], excess[large]
        log_size = log_size[large] + stratum.n * 0.5 * np.log1p(excess)
        angle = angle[large] + stratum.n * np.arctan2(transform.imag, 1 + transform.real)
    powers = np.zeros(prod(shape), dtype=np.complex128)
    powers[kept] = np.exp(log_size - 1j * angle)
    return np.asarray(scipy.fft.irfftn(powers.reshape(shape), s=tuple(lengths)))


def _joint_transform(
    stratum: Placed, lengths: Sequence[int], shape: tuple[int, ...]
) -> NDArray[np.complex128]:
    """Return Σ p (e^(iθ·x) - 1) at all angles θ, without losing the digits of small angles."""
    totals: dict[tuple[int, ...], Any] = {}
    for position, probability in zip(stratum.coordinates, stratum.probabilities, strict=True):
        wave: Any = np.zeros((1,) * len(shape), dtype=np.complex128)
        moving = tuple(np.flatnonzero(position).tolist())
        for axis in moving:
            turns = np.mod(np.arange(shape[axis]) * position[axis], lengths[axis]) / lengths[axis]
            half = np.pi * (turns - np.rint(turns))
            along = 2j * np.sin(half) * np.exp(1j * half)
            along = along.reshape([-1 if other == axis else 1 for other in range(len(shape))])
            wave = wave + along + wave * along
        totals[moving] = totals.get(moving, 0) + probability * wave
    result = np.zeros(shape, dtype=np.complex128)
    for total in totals.values():
        result += total
    return result
