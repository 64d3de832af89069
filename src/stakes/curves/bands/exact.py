"""The exact bootstrap distribution itself: its percentiles, with no Gaussian and no resampling.

Dugas & Gadoury (2008) call their two moments exact; this is what they left as too slow. Drawn class
by class, the height is a X + b Y with X and Y independent sums of whole numbers, so its
distribution function at t is Σ_x P(X = x) P(Y ≤ (t - a x) / b): a sum over some √n terms.
Otherwise (full sampling, averages) it is the convolution of `CostDistribution`, on a fine lattice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from stakes.curves.bands.whole import distinct, whole_numbers
from stakes.curves.sampling import Multinomial, Sample
from stakes.infer.distribution import CostDistribution, Draws

Floats = NDArray[np.float64]

ROUNDING = 1e-11
"""Of a distribution function; as much less than asked for is enough."""

HALVINGS = 55
NEARLY = 1e-9
"""Steps by which a sum may miss the place it is rounded to."""


def limits(sample: Sample, alpha: float) -> tuple[Floats, Floats]:
    """Return the α/2 and 1 - α/2 quantiles of a curve's height at each condition."""
    whole_numbers(sample, "exact")
    levels = np.array([alpha / 2, 1 - alpha / 2])
    result = np.empty((2, sample[0].counts.shape[1]))
    sizes = [np.abs(part.values) for part in sample]
    of_two_lattices = len(sample) == 2 and all((size == size[0]).all() for size in sizes)  # noqa: PLR2004
    for columns in distinct(sample):
        if of_two_lattices:
            laws = [_sum_law(part, columns[0]) for part in sample]
        for column in columns:
            if of_two_lattices:
                steps = [float(size[0, column]) for size in sizes]
                result[:, column] = _quantiles(laws, steps, levels)
            else:
                draws = [_draws(part, column) for part in sample]
                result[:, column] = CostDistribution(draws).quantile(levels)
    return result[0], result[1]


def _draws(part: Multinomial, column: int) -> Draws:
    counts = part.counts[:, column]
    shares = np.append(counts, max(part.n - counts.sum(), 0.0)) / part.n
    values, where = np.unique(np.append(part.values[:, column], 0.0), return_inverse=True)
    probabilities = np.bincount(where, weights=shares / shares.sum()).astype(np.float64)
    return Draws(values * part.n, probabilities, round(part.n), 1.0)


def _sum_law(part: Multinomial, column: int) -> tuple[Floats, Floats]:
    """Return the values, evenly spaced, of a sum of draws from -1, 0 and 1, and their law."""
    signs = np.sign(part.values.sum(axis=1, keepdims=True))  # at PC(+) = 0 and 1 they do not show
    draws = _draws(Multinomial(part.n, part.counts[:, [column]], signs / part.n), 0)
    return CostDistribution([replace(draws, weight=float(draws.n))]).pmf()


def _quantiles(
    laws: Sequence[tuple[Floats, Floats]], steps: Sequence[float], levels: Floats
) -> Floats:
    """Return the quantiles of a X + b Y, the least values whose probability reaches the level."""
    (x, p), (y, q) = ((step * values, law) for (values, law), step in zip(laws, steps, strict=True))
    if np.ptp(y) < np.ptp(x):  # add up over the one that matters less
        (x, p), (y, q) = (y, q), (x, p)
    if np.ptp(y) == 0:
        return np.full(len(levels), x[0] + y[0])
    step = float(y[1] - y[0])
    reached = np.append(0.0, np.cumsum(q))
    low, high = np.full(len(levels), x[0] + y[0] - step), np.full(len(levels), x[-1] + y[-1])

    def fitting(t: Floats) -> NDArray[np.intp]:
        """Return how many y there are with x + y ≤ t, for each x."""
        places = np.floor((t[:, np.newaxis] - (x + y[0])) / step + NEARLY) + 1
        return np.asarray(np.clip(places, 0, len(y)), dtype=np.intp)

    for _ in range(HALVINGS):
        middle = (low + high) / 2
        enough = reached[fitting(middle)] @ p >= levels - ROUNDING
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    count = fitting(high)
    sums = np.where(count > 0, x + y[np.maximum(count, 1) - 1], -np.inf)
    return np.asarray(sums.max(axis=1))
