"""The exact bootstrap distribution of a mean cost, without resampling.

A bootstrap total is a sum of n independent draws from the observed (and Laplace-corrected) costs,
so its distribution is an n-fold convolution, which a Fourier transform turns into an n-th power.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.errors import InputError, InputTypeError
from stakes.infer._probability.convolution import (
    CLOSENESS,
    DIGITS,
    LARGEST_LATTICE,
    NEARLY,
    REACH,
    ROUNDING,
    Draws,
    Layers,
    ListedDistribution,
    Placed,
    binomial,
    convolve,
    fast_length,
    joint_probabilities,
    lattice_step,
    near_fraction,
    smooth,
    window,
)

FINE_LATTICE, COARSER_LATTICE, FEW_OUTCOMES = 1 << 20, 1 << 17, 16
"""The sizes of a lattice for costs without one: with at most FEW_OUTCOMES outcomes, or more."""

LARGEST_TABLE, MOST_ROWS = 1 << 21, 1 << 17
"""The largest table of joint probabilities, and the largest number of its rows, that are fast."""


class CostDistribution:
    """The bootstrap distribution of the mean cost, in the limit of infinitely many resamples.

    Made by ``CostEstimate.distribution`` and ``CostDifference.distribution``. It is exact up to
    rounding if the costs have a common step (cents, tenths, …), or if the combinations of their
    counts are few enough for a table. Otherwise the mean is rounded to a fine lattice, and `error`
    bounds the rounding.

    Attributes
    ----------
    mean, var : float
        The mean and the variance of the mean cost.
    error : float
        The largest rounding of the mean: the exact ``P(mean ≤ x)`` lies between the `cdf` at
        ``x - error`` and at ``x + error``. 0 where the distribution is exact.

    Notes
    -----
    The total of a bootstrap sample is a sum of n independent draws from the costs c_k, with the
    probabilities p_k; so its distribution is the n-fold convolution of theirs, and its
    characteristic function (Σ p_k e^{i t c_k})ⁿ. It is what the percentiles of BCOST and BDELTACOST
    converge to.

    References
    ----------
    Margineantu & Dietterich (2000), section 3 and Table 2.

    Examples
    --------
    >>> from stakes import Confusion, CostEstimate, CostMatrix
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> estimate = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs)
    >>> distribution = estimate.distribution(laplace=0)
    >>> round(distribution.mean, 4), round(distribution.quantile(0.975), 4)
    (0.28, 0.59)
    >>> round(distribution.cdf(0.28), 4)
    0.5652
    """

    def __init__(self, draws: Sequence[Draws]) -> None:
        if not len(draws) or not all(isinstance(part, Draws) for part in draws):
            raise InputTypeError(
                "draws", "expected what an estimate makes; ask its distribution()."
            )
        self._fixed = sum(part.weight * part.mean for part in draws if part.var == 0)
        parts = [_without_impossible(part) for part in draws if part.var > 0]
        self.mean = float(sum(part.weight * part.mean for part in draws))
        self.var = float(sum(part.scale**2 * part.n * part.var for part in parts))
        self.error = 0.0
        self._layers: Layers | None = None
        if not parts:
            self._origin, self._step = self.mean, 1.0
            self._distribution: ListedDistribution = ListedDistribution(np.ones(1))
            return
        if len(parts) == 1 and len(parts[0].costs) == 2:  # noqa: PLR2004 - two outcomes
            self._step = parts[0].scale * float(np.ptp(parts[0].costs))
            self._origin, self._distribution = binomial(parts[0])
        else:
            low, high = window(parts)
            step = lattice_step(parts)
            if step is None or (high - low) / step > LARGEST_LATTICE:
                self._layers = layers_of(parts, self._fixed)
                if self._layers is not None:
                    self.error = self._layers.error
                    return
                few = max(len(part.costs) for part in parts) <= FEW_OUTCOMES
                size = FINE_LATTICE if few else COARSER_LATTICE
                self._origin, self._step, self._distribution = smooth(parts, low, high, size)
                self.error = (REACH + 1) * self._step
            else:
                self._step = step
                self._origin, self._distribution = convolve(parts, low, high, step)
        self._origin += self._fixed

    @property
    def exact(self) -> bool:
        """Whether the probabilities are exact, up to the rounding of arithmetic."""
        return self.error == 0

    def cdf(self, x: ArrayLike) -> Any:
        """Return the probability of a mean cost of at most `x`.

        Parameters
        ----------
        x : float or array_like
            Mean costs.

        Returns
        -------
        float or ndarray
            Probabilities.

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> table = Confusion([[50, 2], [8, 40]], labels=[0, 1])
        >>> distribution = CostEstimate(table, costs).distribution(laplace=0)
        >>> distribution.cdf([0.1, 0.28]).round(4).tolist()
        [0.1072, 0.5652]
        """
        if self._layers is not None:
            return self._layers.cumulative(x, before=False)
        position = np.floor((_places(x) - self._origin) / self._step + 1e-6)
        result = self._distribution.cumulative(position)
        return result.item() if np.ndim(x) == 0 else result

    def sf(self, x: ArrayLike) -> Any:
        """Return the probability of a mean cost of at least `x`.

        Parameters
        ----------
        x : float or array_like
            Mean costs.

        Returns
        -------
        float or ndarray
            Probabilities.

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> table = Confusion([[50, 2], [8, 40]], labels=[0, 1])
        >>> distribution = CostEstimate(table, costs).distribution(laplace=0)
        >>> round(distribution.sf(0.5), 4)
        0.074
        """
        if self._layers is not None:
            return 1 - self._layers.cumulative(x, before=True)
        position = np.ceil((_places(x) - self._origin) / self._step - 1e-6)
        result = 1 - self._distribution.cumulative(position - 1)
        return result.item() if np.ndim(x) == 0 else result

    def quantile(self, q: ArrayLike) -> Any:
        """Return the least value whose `cdf` is at least `q`.

        Parameters
        ----------
        q : float or array_like
            Probabilities.

        Returns
        -------
        float or ndarray
            Mean costs.

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> table = Confusion([[50, 2], [8, 40]], labels=[0, 1])
        >>> distribution = CostEstimate(table, costs).distribution(laplace=0)
        >>> distribution.quantile([0.025, 0.975]).tolist()
        [0.06, 0.59]
        """
        probability = validate.numeric(q, "q", ndim=None)
        if not ((probability >= 0) & (probability <= 1)).all():
            raise InputError("q", f"expected probabilities between 0 and 1, got {q!r}.")
        if self._layers is not None:
            return self._layers.quantile(probability)
        low, high = (
            np.full(probability.shape, -1),
            np.full(probability.shape, self._distribution.size - 1),
        )
        while (high - low > 1).any():
            middle = (low + high + 1) // 2  # never before the first position
            reached = self._distribution.cumulative(middle) >= probability - ROUNDING
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        result = self._values(high)
        return result.item() if np.ndim(q) == 0 else result

    def _values(self, position: NDArray[Any]) -> Floats:
        """Return lattice points without the rounding errors of adding up steps."""
        values = np.asarray(self._origin + self._step * position)
        if not self.exact:
            return values
        size = max(abs(self._origin), abs(self._origin + self._step * self._distribution.size))
        decimals = 13 - int(np.ceil(np.log10(size))) if size > 0 else 0
        return np.asarray(np.round(values, decimals) + 0.0)

    def bracket(self, q: float) -> tuple[float, float]:
        """Return limits between which the quantile of the exact distribution lies.

        They allow for the rounding of arithmetic and, where the distribution is not exact, for its
        `error`.

        Parameters
        ----------
        q : float
            A probability.

        Returns
        -------
        low, high : float
            The limits.

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> table = Confusion([[50, 2], [8, 40]], labels=[0, 1])
        >>> distribution = CostEstimate(table, costs).distribution(laplace=0)
        >>> distribution.bracket(0.975)
        (0.59, 0.59)
        """
        q = validate.one_number(q, "q")
        ends = np.clip([q - 2 * ROUNDING, q + 2 * ROUNDING], 0, 1)
        low, high = self.quantile(ends)
        return float(low - self.error), float(high + self.error)

    def pmf(self) -> tuple[Floats, Floats]:
        """Return the possible mean costs and their probabilities, where they are exact.

        Returns
        -------
        values, probabilities : ndarray
            The possible mean costs and the probability of each.

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> table = Confusion([[50, 2], [8, 40]], labels=[0, 1])
        >>> distribution = CostEstimate(table, costs).distribution(laplace=0)
        >>> values, probabilities = distribution.pmf()
        >>> values[:3].tolist(), round(float(probabilities.sum()), 6)
        ([0.0, 0.01, 0.02], 1.0)
        """
        if not self.exact:
            raise InputError(
                "",
                "the costs have no common step, and there are too many possible means to list.",
                "Use cdf or quantile.",
            )
        if self._layers is not None:
            return self._layers.pmf()
        return self._values(np.arange(self._distribution.size)), self._distribution.pmf().copy()

    def __repr__(self) -> str:
        kind = "exact" if self.exact else f"within ±{self.error:.2g}"
        return f"CostDistribution(mean={self.mean:.6g}, sd={self.var**0.5:.6g}, {kind})"


def _without_impossible(part: Draws) -> Draws:
    possible = part.probabilities > 0
    return Draws(part.costs[possible], part.probabilities[possible], part.n, part.weight)


# Costs without a common step, or with so small a one that the lattice is too long: the joint
# distribution of sums on several lattices.


@dataclass(frozen=True)
class _Outcomes:
    """The outcomes of all strata, except a common one of each, by how far each moves the mean."""

    moves: Floats
    probabilities: Floats
    stratum: NDArray[np.intp]
    n: tuple[int, ...]

    def spread(self, positions: Floats) -> float:
        """Return the approximate number of steps that the likely sums of the positions span."""
        n = np.array(self.n, dtype=np.float64)
        first = np.bincount(self.stratum, self.probabilities * positions, len(n))
        second = np.bincount(self.stratum, self.probabilities * positions**2, len(n))
        sd = float(np.sqrt(max(float(n @ (second - first**2)), 0.0)))
        largest, smallest = np.zeros(len(n)), np.zeros(len(n))
        np.maximum.at(largest, self.stratum, positions)
        np.minimum.at(smallest, self.stratum, positions)
        likely = 15 * sd + 12 * float(np.abs(positions).max(initial=0))
        return min(likely, float(n @ (largest - smallest)))

    def magnitudes(self, chosen: NDArray[np.bool_]) -> list[NDArray[np.intp]]:
        """Return the chosen outcomes, grouped by how far they move the mean; the least first."""
        sizes = np.where(chosen, np.abs(self.moves), np.inf)
        order = np.argsort(sizes, kind="stable")[: int(chosen.sum())]
        apart = np.diff(sizes[order]) > CLOSENESS * sizes[order][1:]
        return np.split(order, np.flatnonzero(apart) + 1)

    def window(self, positions: Floats) -> tuple[float, float]:
        """Return limits that the sum of the positions passes with a negligible probability."""
        parts = []
        for stratum, n in enumerate(self.n):
            here = (self.stratum == stratum) & (positions != 0)
            if here.any():
                shares = np.append(self.probabilities[here], 1 - self.probabilities[here].sum())
                parts.append(Draws(np.append(positions[here], 0.0), shares, n, float(n)))
        return window(parts)


@dataclass(frozen=True, eq=False)
class _Axis:
    """A lattice: its step, and how many steps each outcome moves along it."""

    step: float
    positions: Floats


MOST_AXES, MOST_MAGNITUDES = 6, 200
"""The largest numbers of lattices, and of distances, for which a table is small enough."""

CLOSE_BY, LARGEST_PART = 0.01, 1000
"""How near to whole steps of an axis (in steps) a move may be placed on it with the rest on another
axis, and the largest number of parts that the step of the other axis may be divided into."""

NEGLIGIBLE = 1e-20
"""The probability up to which a value is left out of a list."""


def layers_of(parts: Sequence[Draws], fixed: float) -> Layers | None:
    """Return the distribution by rows: the exact one if it is small enough, else an approximation.

    Return None if one fine lattice for all costs is as close.
    """
    moves, probabilities, strata = [], [], []
    for index, part in enumerate(parts):
        others = part.costs != part.reference
        moves.append((part.costs[others] - part.reference) * part.scale)
        probabilities.append(part.probabilities[others])
        strata.append(np.full(int(others.sum()), index))
    outcomes = _Outcomes(
        np.concatenate(moves),
        np.concatenate(probabilities),
        np.concatenate(strata),
        tuple(part.n for part in parts),
    )
    origin = fixed + sum(part.weight * part.reference for part in parts)
    found = _exact_layers(outcomes, origin)
    return _close_layers(outcomes, origin) if found is None else found


def _exact_layers(outcomes: _Outcomes, origin: float) -> Layers | None:
    axes = _axes(outcomes, np.ones(len(outcomes.moves), dtype=bool))
    if axes is None:
        return None
    blocks = _blocks(outcomes, axes)
    if any(_cells(outcomes, block) > 4 * LARGEST_TABLE for block in blocks):
        return None
    windows = [[_whole_window(outcomes, axis) for axis in block] for block in blocks]
    sizes = [[high - low + 1 for low, high in block] for block in windows]
    column = max(range(len(blocks)), key=lambda block: max(sizes[block]))
    rows = prod(prod(size) for size in sizes) // max(sizes[column])
    if rows > MOST_ROWS or max(map(prod, sizes)) > LARGEST_TABLE:
        return None
    values, shares = np.array([origin]), np.ones(1)
    for block, axes_here in enumerate(blocks):
        if block != column:
            table = _table(outcomes, axes_here, windows[block])
            more = _sums(axes_here, windows[block])
            likely = table.ravel() > NEGLIGIBLE
            values = np.add.outer(values, more[likely]).ravel()
            shares = np.multiply.outer(shares, table.ravel()[likely]).ravel()
    longest = int(np.argmax(sizes[column]))
    order = [axis for axis in range(len(blocks[column])) if axis != longest] + [longest]
    axes_here = [blocks[column][axis] for axis in order]
    places = [windows[column][axis] for axis in order]
    table = _table(outcomes, axes_here, places)
    inner = _sums(axes_here[:-1], places[:-1]) + axes_here[-1].step * places[-1][0]
    nearly = NEARLY * min(axis.step for axis in axes) + DIGITS * abs(origin)
    rows_here = (inner, table.reshape(len(inner), -1))
    return Layers((values, shares), rows_here, axes_here[-1].step, nearly)


def _close_layers(outcomes: _Outcomes, origin: float) -> Layers | None:
    """Return the distribution with the largest moves counted, and all others on a fine lattice."""
    every = np.ones(len(outcomes.moves), dtype=bool)
    groups = outcomes.magnitudes(every)[::-1]
    best, found = 0.5 * outcomes.spread(outcomes.moves) / FINE_LATTICE, None
    counted = np.zeros(len(every), dtype=bool)
    for group in groups[: MOST_AXES + 2]:
        counted[group] = True
        axes = _axes(outcomes, counted)
        cells = np.inf if axes is None else _cells(outcomes, axes)
        if axes is None or cells * 16 * REACH > LARGEST_TABLE or counted.all():
            break
        size = 1 << int(np.log2(LARGEST_TABLE / cells))
        step = outcomes.spread(np.where(counted, 0.0, outcomes.moves)) / size
        if step < best:
            best, found = step, (axes, counted.copy(), size)
    if found is None:
        return None
    axes, counted, size = found
    rest = np.where(counted, 0.0, outcomes.moves)
    low, high = outcomes.window(rest)
    step = (high - low) / (size - 2 * REACH - 4)
    first = int(np.floor(low / step)) - REACH - 1
    windows = [*(_whole_window(outcomes, axis) for axis in axes), (first, first + size - 1)]
    table = _table(outcomes, [*axes, _Axis(step, rest / step)], windows, smoothed=True)
    inner = _sums(axes, windows[:-1]) + step * first
    outer, rows = (np.array([origin]), np.ones(1)), (inner, table.reshape(len(inner), -1))
    return Layers(outer, rows, step, NEARLY * step, error=(REACH + 1) * step)


def _axes(outcomes: _Outcomes, chosen: NDArray[np.bool_]) -> list[_Axis] | None:
    """Return lattices that contain the chosen outcomes, spanning as few places as possible."""
    groups = outcomes.magnitudes(chosen)
    if len(groups) > MOST_MAGNITUDES:
        return None
    axes: list[_Axis] = []
    for group in groups:
        size = float(np.abs(outcomes.moves[group[0]]))
        signs = np.zeros(len(outcomes.moves))
        signs[group] = np.sign(outcomes.moves[group])
        axes = min(_with(axes, size, signs), key=lambda each: _cells(outcomes, each))
        if len(axes) > MOST_AXES:
            return None
    return axes


def _with(axes: list[_Axis], size: float, signs: Floats) -> Iterator[list[_Axis]]:
    """Yield the axes with places for moves of one more size: on a new axis, on one, or on two."""
    near = [axis for axis in axes if _apart(axis, size) < CLOSE_BY * axis.step]
    if not near:
        yield [*axes, _Axis(size, signs)]
    for index, axis in enumerate(axes):
        fraction = near_fraction(size / axis.step)
        if fraction is not None:
            finer = _refined(axis, fraction, signs)
            yield [*axes[:index], finer, *axes[index + 1 :]]
        for times in dict.fromkeys((1, round(size / axis.step))):
            rest = size - times * axis.step
            moved = replace(axis, positions=axis.positions + times * signs)
            others = [*axes[:index], moved, *axes[index + 1 :]]
            if axis in near and rest != 0:
                yield [*others, _Axis(abs(rest), np.sign(rest) * signs)]
            for other, small in enumerate(axes):
                room = DIGITS * size / small.step
                largest = int(min(np.sqrt(0.01 / room), LARGEST_PART))
                if other != index and largest > 0:
                    fraction = Fraction(rest / small.step).limit_denominator(largest)
                    if abs(rest / small.step - float(fraction)) <= room:
                        finer = _refined(small, fraction, signs)
                        yield [*others[:other], finer, *others[other + 1 :]]


def _apart(axis: _Axis, size: float) -> float:
    """Return how far a size is from a whole number of steps."""
    return abs(size - round(size / axis.step) * axis.step)


def _refined(axis: _Axis, fraction: Fraction, signs: Floats) -> _Axis:
    """Return the axis with places for moves by a fraction of its step."""
    positions = axis.positions * fraction.denominator + signs * fraction.numerator
    return _Axis(axis.step / fraction.denominator, positions)


def _cells(outcomes: _Outcomes, axes: Sequence[_Axis]) -> float:
    """Return the approximate size of a table of all likely places."""
    return prod(outcomes.spread(axis.positions) + 1 for axis in axes)


def _blocks(outcomes: _Outcomes, axes: Sequence[_Axis]) -> list[list[_Axis]]:
    """Return the axes in blocks that share strata, directly or through other axes."""
    blocks: list[tuple[set[int], list[_Axis]]] = []
    for axis in axes:
        touched = set(outcomes.stratum[axis.positions != 0].tolist())
        joined = [block for block in blocks if block[0] & touched]
        blocks = [block for block in blocks if not block[0] & touched]
        members = [each for block in joined for each in block[1]]
        blocks.append((touched.union(*(block[0] for block in joined)), [*members, axis]))
    return [members for _, members in blocks]


def _whole_window(outcomes: _Outcomes, axis: _Axis) -> tuple[int, int]:
    low, high = outcomes.window(axis.positions)
    return int(np.floor(low + NEARLY)), int(np.ceil(high - NEARLY))


def _sums(axes: Sequence[_Axis], windows: Sequence[tuple[int, int]]) -> Floats:
    """Return the sum of the moves at each place of a table, row by row."""
    values = np.zeros(1)
    for axis, (low, high) in zip(axes, windows, strict=True):
        values = np.add.outer(values, axis.step * np.arange(low, high + 1)).ravel()
    return values


def _table(
    outcomes: _Outcomes,
    axes: Sequence[_Axis],
    windows: Sequence[tuple[int, int]],
    *,
    smoothed: bool = False,
) -> Floats:
    """Return the joint probabilities of the places within the windows."""
    places = np.column_stack([axis.positions for axis in axes])
    strata = []
    for stratum, n in enumerate(outcomes.n):
        here = (outcomes.stratum == stratum) & places.any(axis=1)
        if here.any():
            strata.append(Placed(places[here], outcomes.probabilities[here], n))
    lengths = [fast_length(high - low + 1) for low, high in windows]
    table = joint_probabilities(strata, lengths, smoothed=smoothed)
    for axis, (low, high) in enumerate(windows):
        table = np.take(np.roll(table, -low, axis), np.arange(high - low + 1), axis)
    return table


def _places(x: Any) -> Floats:
    """Return the costs at which a distribution is evaluated, after checking them."""
    costs = validate.numeric(x, "x", ndim=None)
    if np.isnan(costs).any():
        raise InputError("x", "expected costs, got NaN.")
    return np.clip(costs, -validate.LARGEST_COST, validate.LARGEST_COST)
