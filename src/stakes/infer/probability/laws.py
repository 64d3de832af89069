"""Distributions on a lattice: listed position by position, or by their Fourier coefficients."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import fft

from stakes._core.typing import Floats

LONG, FEW_COEFFICIENTS = 1 << 15, 2000
"""Shorter lattices, or more coefficients, are listed: running sums are faster then."""


class ListedLaw:
    """Probabilities of the positions 0, 1, …, one by one."""

    def __init__(self, probabilities: Floats) -> None:
        self._probabilities = probabilities
        self.size = len(probabilities)

    def pmf(self) -> Floats:
        """Return the probability of each position."""
        return self._probabilities

    @cached_property
    def _sums(self) -> Floats:
        return np.concatenate([[0.0], np.minimum(np.cumsum(self.pmf()), 1.0)])

    def cumulative(self, position: NDArray[Any]) -> Floats:
        """Return the probability of each position and all before it."""
        return np.asarray(self._sums[np.clip(position, -1, self.size - 1).astype(np.int64) + 1])


class SpectralLaw(ListedLaw):
    """Probabilities given by the few Fourier coefficients that are not zero.

    ``p[j] = Σ_k c_k e^(iθ_k (j + offset)) / length``, so a running sum is a geometric series for
    each coefficient; the probabilities themselves are only computed when they are asked for.
    """

    def __init__(
        self, index: NDArray[np.int64], powers: NDArray[Any], length: int, offset: int, size: int
    ) -> None:
        self._index, self._powers, self._length, self._offset = index, powers, length, offset
        self.size = size

    def pmf(self) -> Floats:
        """Return the probability of each position."""
        return self._listed

    @cached_property
    def _listed(self) -> Floats:
        spectrum = np.zeros(self._length // 2 + 1, dtype=np.complex128)
        spectrum[self._index] = self._powers
        folded = fft.irfft(spectrum, n=self._length)
        begin = self._offset % self._length
        window = np.concatenate([folded[begin:], folded[:begin]])[: self.size]
        return np.asarray(np.maximum(window, 0.0))

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
