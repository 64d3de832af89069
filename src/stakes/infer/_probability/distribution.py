"""The exact bootstrap distribution of a mean cost: all resamples at once, none drawn.

A bootstrap total is a sum of n independent draws from the observed (and Laplace-corrected) costs,
so its distribution is an n-fold convolution, which a Fourier transform turns into an n-th power.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes._core.typing import Floats
from stakes.errors import InputError
from stakes.infer._probability.convolution import (
    Draws,
    ListedDistribution,
    binomial,
    convolve,
    lattice_step,
    split_to_lattice,
    window,
)

LARGEST_LATTICE = 1 << 22

FINE_LATTICE = 1 << 17

ROUNDING = 1e-11
"""What the accumulated rounding of a transform may change a probability by."""

BRACKET_PROBABILITY = 1e-9
"""The probability with which a bracket off the lattice leaves room for rounding costs."""


class CostDistribution:
    """The bootstrap distribution of the mean cost, in the limit of infinitely many resamples.

    Made by ``CostEstimate.distribution`` and ``CostDifference.distribution``. Where the costs lie
    on a common lattice (cents, tenths, …) it is exact up to rounding. Otherwise each cost is split
    between two neighbours on a fine lattice, keeping its mean, and `bracket` tells how far a
    quantile can be off at most.

    Attributes
    ----------
    mean, var : float
        The mean and the variance of the mean cost.
    exact : bool
        Whether the costs lie on a lattice.

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
        self._fixed = sum(part.weight * part.mean for part in draws if part.var == 0)
        parts = [_without_impossible(part) for part in draws if part.var > 0]
        self.mean = float(sum(part.weight * part.mean for part in draws))
        self.var = float(sum(part.scale**2 * part.n * part.var for part in parts))
        self._draws = sum(part.n for part in parts)
        self.exact = True
        if not parts:
            self._origin, self._step = self.mean, 1.0
            self._distribution = ListedDistribution(np.ones(1))
            return
        if len(parts) == 1 and len(parts[0].costs) == 2:  # noqa: PLR2004 - two outcomes
            self._step = parts[0].scale * float(np.ptp(parts[0].costs))
            self._origin, self._distribution = binomial(parts[0])
        else:
            low, high = window(parts)
            step = lattice_step(parts)
            if step is None or (high - low) / step > LARGEST_LATTICE:
                self.exact = False
                # Splitting costs between lattice points adds n·step²/4 to the variance at most.
                finer = int(np.ceil(np.log2(max(self._draws / 10**5, 1)) / 2))
                step = (high - low) / min(FINE_LATTICE << finer, LARGEST_LATTICE)
                # What was split spreads further than what it was made of.
                parts = [split_to_lattice(part, step) for part in parts]
                low, high = window(parts)
            self._step = step
            self._origin, self._distribution = convolve(parts, low, high, step)
        self._origin += self._fixed

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
        position = np.floor((np.asarray(x) - self._origin) / self._step + 1e-6)
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
        position = np.ceil((np.asarray(x) - self._origin) / self._step - 1e-6)
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
        probability = np.asarray(q, dtype=np.float64)
        if not ((probability >= 0) & (probability <= 1)).all():
            raise InputError("q", f"expected probabilities between 0 and 1, got {q!r}.")
        low, high = (
            np.full(probability.shape, -1),
            np.full(probability.shape, self._distribution.size - 1),
        )
        while (high - low > 1).any():
            middle = (low + high) // 2
            reached = self._distribution.cumulative(middle) >= probability - ROUNDING
            low, high = np.where(reached, low, middle), np.where(reached, middle, high)
        result = self._values(high)
        return result.item() if np.ndim(q) == 0 else result

    def _values(self, position: NDArray[Any]) -> Floats:
        """Return lattice points without the rounding of adding up steps."""
        values = self._origin + self._step * position
        size = max(abs(self._origin), abs(self._origin + self._step * self._distribution.size))
        decimals = 13 - int(np.ceil(np.log10(size))) if size > 0 else 0
        return np.round(values, decimals) + 0.0 if self.exact else np.asarray(values)

    def bracket(self, q: float) -> tuple[float, float]:
        """Return limits between which the exact quantile certainly lies.

        On a lattice they leave room for the rounding of arithmetic only. Off it, by Hoeffding's
        inequality for the rounding of each draw to the fine lattice of step h, the quantile is
        within δ = h √(m ln(2/η)/2) of those of the lattice at q - η and q + η, m being the number
        of draws; and never more than m h away.

        Parameters
        ----------
        q : float
            A probability.

        Returns
        -------
        low, high : float
            The limits.

        References
        ----------
        Hoeffding (1963).

        Examples
        --------
        >>> from stakes import Confusion, CostEstimate, CostMatrix
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> table = Confusion([[50, 2], [8, 40]], labels=[0, 1])
        >>> distribution = CostEstimate(table, costs).distribution(laplace=0)
        >>> distribution.bracket(0.975)
        (0.59, 0.59)
        """
        if self.exact:
            ends = np.clip([q - 2 * ROUNDING, q + 2 * ROUNDING], 0, 1)
            low, high = self.quantile(ends)
            return float(low), float(high)
        ends = np.clip([q - BRACKET_PROBABILITY, q + BRACKET_PROBABILITY], 0, 1)
        low, high = self.quantile(ends)
        spread = np.sqrt(self._draws * np.log(2 / BRACKET_PROBABILITY) / 2)
        room = self._step * (1 + min(float(spread), float(self._draws)))
        return float(low - room), float(high + room)

    def pmf(self) -> tuple[Floats, Floats]:
        """Return the possible mean costs and their probabilities, where they lie on a lattice.

        Returns
        -------
        values, probabilities : ndarray
            The possible mean costs and how probable each is.

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
                "these costs lie on no common lattice, so the possible means cannot be listed.",
                "Use cdf or quantile.",
            )
        return self._values(np.arange(self._distribution.size)), self._distribution.pmf().copy()

    def __repr__(self) -> str:
        kind = "exact" if self.exact else "on a fine lattice"
        return f"CostDistribution(mean={self.mean:.6g}, sd={self.var**0.5:.6g}, {kind})"


def _without_impossible(part: Draws) -> Draws:
    possible = part.probabilities > 0
    return Draws(part.costs[possible], part.probabilities[possible], part.n, part.weight)
