"""Percentiles of the exact bootstrap distribution, without a Gaussian or resampling.

Dugas & Gadoury (2008) call their two moments exact; they left out the distribution as too slow.
With stratified sampling, the height is a X + b Y with X and Y independent sums of whole numbers,
so its distribution function at t is Σ_x P(X = x) P(Y ≤ (t - a x) / b): a sum of about √n terms.
With full sampling, X and Y are dependent, and their joint distribution is computed from the power
of a two-dimensional Fourier transform. Averages, and very large test sets with full sampling, use
the convolution of `CostDistribution`, which may be on a fine lattice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.special import ndtri

from stakes._core.typing import Floats
from stakes.curves._sampling import Multinomial, Sample, distinct, whole_numbers
from stakes.infer._probability.convolution import Draws
from stakes.infer._probability.distribution import CostDistribution

ROUNDING = 1e-11
"""Rounding error by which a distribution function may fall short of a level."""

HALVINGS = 55
MOST_TOGETHER = 5_000
"""Largest number of examples for the two-dimensional transform under full sampling."""

REACH = 8.5
"""Standard deviations beyond which probabilities are negligible, with a margin for skewness."""

LISTED = 2_000
"""Number of sums that are sorted; among more, bisection narrows down the quantile first."""

CLOSE = 0.01
"""Standard deviations by which a guess of a quantile is rarely wrong."""

NEARLY = 1e-9
"""Rounding error of a position on the lattice, in steps."""


def limits(sample: Sample, alpha: float) -> tuple[Floats, Floats]:
    """Return the α/2 and 1 - α/2 quantiles of a curve's height at each condition."""
    whole_numbers(sample, "exact")
    levels = np.array([alpha / 2, 1 - alpha / 2])
    result = np.empty((2, sample[0].counts.shape[1]))
    for columns in distinct(sample):
        quantiles = _for(sample, columns, levels)
        for column in columns:
            result[:, column] = quantiles(column)
    return result[0], result[1]


def _for(sample: Sample, columns: NDArray[np.intp], levels: Floats) -> Callable[[int], Floats]:
    """Return a function for the quantiles at each of the conditions, which share all counts."""
    sizes = [np.abs(part.values) for part in sample]
    if len(sample) == 2 and all((size == size[0]).all() for size in sizes):  # noqa: PLR2004 - classes
        distributions = [_sum_distribution(part, columns[0]) for part in sample]
        return lambda column: _quantiles(
            distributions, [float(size[0, column]) for size in sizes], levels
        )
    if len(sample) == 1 and sample[0].size <= MOST_TOGETHER:
        distribution = _joint_distribution(sample[0], columns[0])
        half = len(sizes[0]) // 2  # the positives' kinds of mistakes come first
        return lambda column: _joint_quantiles(
            distribution, (sizes[0][0, column], sizes[0][half, column]), levels
        )
    return lambda column: _outer_quantiles(
        CostDistribution([_draws(part, column) for part in sample]), levels
    )


def _outer_quantiles(distribution: CostDistribution, levels: Floats) -> Floats:
    """Return the quantiles, moved outwards by the error bound of the distribution."""
    return np.asarray(distribution.quantile(levels) + distribution.error * np.array([-1, 1]))


def _draws(part: Multinomial, column: int) -> Draws:
    counts = part.counts[:, column]
    shares = np.append(counts, max(part.n - counts.sum(), 0.0)) / part.n
    values, where = np.unique(np.append(part.values[:, column], 0.0), return_inverse=True)
    probabilities = np.bincount(where, weights=shares / shares.sum()).astype(np.float64)
    return Draws(values * part.n, probabilities, part.size, 1.0)


@dataclass(frozen=True)
class _Lattice:
    """A sum of draws from -1, 0 and 1: its evenly spaced values and their probabilities."""

    values: Floats
    shares: Floats

    @cached_property
    def reached(self) -> Floats:
        """The cumulative probabilities, from 0."""
        return np.append(0.0, np.cumsum(self.shares))

    @cached_property
    def moments(self) -> Floats:
        """The mean, and the second and the third central moment."""
        mean = self.values @ self.shares
        about = self.values - mean
        weighted = about * about * self.shares
        return np.array([mean, weighted.sum(), about @ weighted])


def _sum_distribution(part: Multinomial, column: int) -> _Lattice:
    """Return the distribution of a sum of draws."""
    if len(part.counts) == 1:
        return _Lattice(*_binomial(part.size, round(float(part.counts[0, column]))))
    signs = np.sign(part.values.sum(axis=1, keepdims=True))  # values may be 0 at PC(+) = 0, 1
    draws = _draws(Multinomial(part.n, part.counts[:, [column]], signs / part.n), 0)
    return _Lattice(*CostDistribution([replace(draws, weight=float(draws.n))]).pmf())


def _binomial(n: int, count: int) -> tuple[Floats, Floats]:
    """Return the numbers of mistakes in n draws at the rate `count` / n, and their probabilities.

    Probabilities are products of simple ratios of neighbours, from the mode outwards, so that
    their absolute errors shrink with them: n = 10⁷ is as accurate as n = 10².
    """
    room = int(np.ceil(REACH * np.sqrt(count * (1 - count / n)) + REACH**2)) + 1
    numbers = np.arange(max(count - room, 0), min(count + room, n) + 1, dtype=np.float64)
    if count in (0, n):
        return np.array([float(count)]), np.ones(1)
    ratios = (n - numbers[:-1]) / numbers[1:] * (count / (n - count))
    most = count - int(numbers[0])  # the mean is a whole number, so it is the mode
    shares = np.ones(len(numbers))
    np.cumprod(ratios[most:], out=shares[most + 1 :])
    np.cumprod(1 / ratios[:most][::-1], out=shares[:most][::-1])
    return numbers, shares / shares.sum()


def _quantiles(lattices: Sequence[_Lattice], steps: Sequence[float], levels: Floats) -> Floats:
    """Return the quantiles of a X + b Y, the least values whose cumulative probability suffices."""
    scaled = [(step * each.values, each) for each, step in zip(lattices, steps, strict=True)]
    scaled.sort(key=lambda pair: pair[0][-1] - pair[0][0])  # sum over the smaller range
    (x, first), (y, second) = scaled
    if y[-1] == y[0]:
        return np.full(len(levels), x[0] + y[0])
    step, starts = float(y[1] - y[0]), x + y[0]
    p, q, reached = first.shares, second.shares, second.reached

    def fitting(t: Floats) -> tuple[NDArray[np.intp], Floats]:
        count = _fitting(t, starts, step, len(y))
        return count, reached[count] @ p

    ends = (starts[0] - step, x[-1] + y[-1])
    guesses = _guesses(lattices, steps, levels, LISTED / 2 * step / len(x))
    sizes = (len(x), len(y))
    under, over = _bracket(levels, ends, sizes, fitting, guesses, left=LISTED)
    found = np.empty(len(levels))
    for i, level in enumerate(levels):
        of_row = np.repeat(np.arange(len(x)), over[i] - under[i])
        before = np.cumsum(over[i] - under[i]) - over[i]
        places = np.arange(len(of_row)) - before[of_row]
        sums = x[of_row] + y[places]
        order = np.argsort(sums)
        total = reached[under[i]] @ p + np.cumsum((p[of_row] * q[places])[order])
        at = min(int(np.searchsorted(total, level - ROUNDING)), len(order) - 1)
        found[i] = sums[order[at]]
    return found


def _guesses(
    lattices: Sequence[_Lattice], steps: Sequence[float], levels: Floats, width: float
) -> list[Floats]:
    """Return guesses that probably enclose the quantiles of a sum, the closest first.

    Quantiles of a normal distribution, corrected for skewness (Cornish & Fisher 1938), are mostly
    so close that the sums between the first two guesses, `width` apart, can be sorted.
    """
    moments = [
        each.moments * step ** np.arange(1, 4) for each, step in zip(lattices, steps, strict=True)
    ]
    mean, square, cube = np.sum(moments, axis=0)
    z, spread = ndtri(levels), np.sqrt(square)
    skewness = cube / spread**3 if spread**3 > 0 else 0.0  # steps may be tiny
    middle = mean + spread * (z + (z**2 - 1) * skewness / 6)
    rooms = (width / 2, CLOSE * spread)
    return [middle + sign * room for room in rooms for sign in (-1, 1)]


def _fitting(t: Floats, starts: Floats, step: float, size: int) -> NDArray[np.intp]:
    """Return how many of `size` values, `step` apart from each start, are at most each t."""
    places = t[:, np.newaxis] - starts
    places /= step
    places += 1 + NEARLY
    np.clip(places, 0, size, out=places)
    return places.astype(np.intp)


def _bracket(
    levels: Floats,
    ends: tuple[float, float],
    sizes: tuple[int, int],
    fitting: Callable[[Floats], tuple[NDArray[np.intp], Floats]],
    guesses: Sequence[Floats] = (),
    *,
    left: int = 1,
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return how many values lie below, and up to, a t whose probability reaches each level.

    `sizes` are the number of rows of values and the length of each row; no value lies below the
    first end, and all lie up to the second. The interval between the ends is cut at the guesses,
    and then halved until at most `left` values are in it. `fitting` returns how many values lie up
    to t, and their probability.
    """
    below, above = (np.full(len(levels), end) for end in ends)
    under, over = (np.full((len(levels), sizes[0]), each) for each in (0, sizes[1]))
    for tried in range(HALVINGS + len(guesses)):
        if ((over - under).sum(axis=1) <= left).all():
            break
        middle = (below + above) / 2
        if tried < len(guesses):
            middle = np.clip(guesses[tried], below, above)
        count, probability = fitting(middle)
        enough = probability >= levels - ROUNDING
        below, above = np.where(enough, below, middle), np.where(enough, middle, above)
        under[~enough], over[enough] = count[~enough], count[enough]
    return under, over


@dataclass(frozen=True)
class _JointDistribution:
    """Joint distribution of two sums: ``[x, y]``, its cumulative sums along y, first x and y."""

    reached: Floats
    probabilities: Floats
    x: int
    y: int


def _joint_distribution(part: Multinomial, column: int) -> _JointDistribution:
    """Return the joint distribution of the positives' and of the negatives' signed mistakes.

    Each example adds one of a few steps to the two sums, so the n-fold convolution is the n-th
    power of one example's transform, on a window outside of which probabilities are negligible.
    """
    counts = part.counts[:, column]
    half = len(counts) // 2
    signs = np.array([1, -1])[:half]
    steps = np.zeros((2, len(counts) + 1), dtype=np.int64)  # the last kind adds nothing
    steps[0, :half], steps[1, half:-1] = signs, signs
    shares = np.append(counts, max(part.n - counts.sum(), 0.0)) / part.n
    starts, lengths = [], []
    for step in steps:
        mean = float(shares @ step) * part.size
        spread = np.sqrt(part.size * max(float(shares @ step**2) - float(shares @ step) ** 2, 0.0))
        room = int(np.ceil(REACH * spread + REACH**2)) + 1
        low = max(int(np.floor(mean)) - room, part.size * int(step.min()))
        high = min(int(np.ceil(mean)) + room, part.size * int(step.max()))
        starts.append(low)
        lengths.append(fft.next_fast_len(high - low + 1))
    one = np.zeros(lengths)
    np.add.at(one, (steps[0] % lengths[0], steps[1] % lengths[1]), shares)
    transform = fft.fft2(one)
    power = np.abs(transform) ** part.size * np.exp(1j * part.size * np.angle(transform))
    distribution = np.maximum(np.real(fft.ifft2(power)), 0.0)
    distribution = np.roll(distribution, (-starts[0], -starts[1]), axis=(0, 1))
    reached = np.concatenate([np.zeros((lengths[0], 1)), np.cumsum(distribution, axis=1)], axis=1)
    return _JointDistribution(reached, distribution, starts[0], starts[1])


def _joint_quantiles(
    distribution: _JointDistribution, steps: tuple[Any, Any], levels: Floats
) -> Floats:
    """Return the quantiles of a X + b Y for dependent X and Y."""
    a, b = map(float, steps)
    rows, columns = distribution.probabilities.shape
    x = a * (distribution.x + np.arange(rows, dtype=np.float64))
    if b == 0:
        reached = np.cumsum(distribution.reached[:, -1])
        return np.asarray(x[np.searchsorted(reached, levels - ROUNDING)])
    starts, every = x + b * distribution.y, np.arange(rows)

    def fitting(t: Floats) -> tuple[NDArray[np.intp], Floats]:
        count = _fitting(t, starts, b, columns)
        return count, distribution.reached[every, count].sum(axis=1)

    ends = (starts[0] - b, starts[-1] + b * (columns - 1))
    _, count = _bracket(levels, ends, (rows, columns), fitting)
    likely = (count > 0) & (distribution.probabilities[every, np.maximum(count, 1) - 1] > 0)
    sums = np.where(likely, starts + b * (count - 1), -np.inf)
    return np.asarray(sums.max(axis=1))
