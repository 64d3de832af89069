"""Holte & Drummond's (2005, section 8) bootstrap: confusion matrices resampled by class."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.curves._sampling import Multinomial, Sample, distinct, whole_numbers
from stakes.errors import InputError


def limits(
    sample: Sample, alpha: float, *, n_resamples: Any = 1000, rng: Any = None
) -> tuple[Floats, Floats]:
    """Return percentiles of the heights of resampled curves at each condition.

    A resample of a line is used at all conditions. The limits are the heights with ranks α N / 2
    from below and from above among N: for 90%, the fifth lowest and highest of 100.
    """
    size = validate.as_size(n_resamples, "n_resamples")
    rank = int(np.floor(round(alpha / 2 * size, 9)))
    if rank < 1:
        needed = int(np.ceil(round(2 / alpha, 9)))
        raise InputError(
            "n_resamples",
            f"{size} are too few for limits at this confidence; at least {needed} are needed, "
            "1000 are usual.",
        )
    whole_numbers(sample, "bootstrap")
    generator = validate.generator(rng)
    low, high = (np.empty(sample[0].counts.shape[1]) for _ in range(2))
    for columns in distinct(sample):
        heights: Any = sum(
            _resampled(part, columns, size, generator) for part in sample
        )  # (resamples, conditions)
        heights.sort(axis=0)
        low[columns], high[columns] = heights[rank - 1], heights[size - rank]
    return low, high


def _resampled(
    part: Multinomial, columns: NDArray[np.intp], size: int, generator: np.random.Generator
) -> Floats:
    """Return what each resample adds to the height, at conditions that share their counts."""
    counts = part.counts[:, columns[0]]
    shares = np.append(counts, max(part.n - counts.sum(), 0.0)) / part.n
    resampled = generator.multinomial(part.size, shares / shares.sum(), size)[:, :-1]
    return np.asarray(resampled @ part.values[:, columns])
