"""The band of "mover" with Wilson's limits for each rate: a little too narrow near the ends."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy.special import ndtri

from stakes._core.typing import Floats
from stakes.curves._sampling import Multinomial, Sample
from stakes.curves.bands.mover import combined


def limits(sample: Sample, alpha: float) -> tuple[Floats, Floats]:
    """Return the limits of a curve's height at each condition."""
    return combined([part.capped() for part in sample], partial(_rate_limits, alpha=alpha))


def _rate_limits(part: Multinomial, alpha: float) -> tuple[Floats, Floats]:
    return wilson_limits(part.counts, part.n, alpha=alpha)


def wilson_limits(counts: Floats, n: Any, *, alpha: float) -> tuple[Floats, Floats]:
    """Return the limits of the rate of k in n."""
    square = float(ndtri(1 - alpha / 2)) ** 2
    rate = counts / n
    centre = (counts + square / 2) / (n + square)
    half = np.sqrt(square * (rate * (1 - rate) * n + square / 4)) / (n + square)
    return np.where(counts > 0, centre - half, 0.0), np.where(counts < n, centre + half, 1.0)
