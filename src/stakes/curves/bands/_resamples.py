"""What the methods that draw, or list, resamples have in common."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from stakes.curves._sampling import Sample
from stakes.errors import DesignError


def whole_numbers(sample: Sample, method: str) -> None:
    """Raise when counts are not numbers of examples, which cannot be drawn again one by one."""
    for part in sample:
        sizes = (np.asarray(part.n), part.counts)
        if np.ndim(part.n) or any((each != np.round(each)).any() for each in sizes):
            raise DesignError(
                f"method: {method!r} draws whole examples, and these counts are sums of weights or "
                "rates; use 'mover', 'wilson' or 'gaussian'."
            )


def distinct(sample: Sample) -> Iterator[NDArray[np.intp]]:
    """Return the conditions that share all counts, group by group."""
    counts = np.concatenate([part.counts for part in sample])
    _, inverse = np.unique(counts, axis=1, return_inverse=True)
    inverse = inverse.ravel()  # numpy 2.0 returns it with as many dimensions as the counts
    order = np.argsort(inverse, kind="stable")
    cuts = np.flatnonzero(np.diff(inverse[order])) + 1
    yield from np.split(order, cuts)
