"""Random samples: how many numbers to draw at a time, and shares tilted to another mean."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.optimize import brentq
from scipy.special import softmax

from stakes._core.typing import Floats
from stakes.errors import InputError

BATCH = 1 << 22
"""Numbers drawn at a time, so that memory does not grow with the number of draws."""

STEEPEST = 700
"""The logarithm of the largest ratio by which probabilities are tilted."""


def batch_sizes(draws: int, width: int) -> Iterator[int]:
    """Return how many rows of so many numbers to draw at a time, until there are enough."""
    step = max(1, BATCH // max(width, 1))
    for start in range(0, draws, step):
        yield min(step, draws - start)


def tilted(
    probabilities: Floats,
    values: Floats,
    mean: float,
    *,
    argument: str,
    what: str = "the outcomes",
    remedy: str = "",
) -> Floats:
    """Return the nearest probabilities of the same outcomes that have another mean.

    Those of least Kullback-Leibler divergence: each is multiplied by exp(t·value), and t is solved
    for. What cannot happen stays so.

    Parameters
    ----------
    probabilities, values : ndarray of the same shape
        Of each outcome.
    mean : float
        The mean that is wanted.
    argument, what, remedy : str
        For the error if the mean cannot come from these outcomes: the argument that is wrong, what
        the outcomes are called, and what to do.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.infer._probability.sampling import tilted
    >>> tilted(np.array([0.5, 0.5, 0.0]), np.array([0.0, 1.0, 5.0]), 0.2, argument="mean").round(3)
    array([0.8, 0.2, 0. ])
    """
    seen = probabilities > 0
    possible, logs = values[seen], np.log(probabilities[seen])
    scale = max(float(np.abs(possible).max()), abs(mean)) or 1.0
    if abs(float(probabilities[seen] @ possible) - mean) <= 1e-12 * scale:
        return probabilities
    if not possible.min() < mean < possible.max():
        raise InputError(
            argument,
            f"{what} differ by {possible.min():g} to {possible.max():g}, so a mean difference of "
            f"{mean:g} cannot come from them.",
            remedy,
        )

    def shares(t: float) -> Floats:
        return np.asarray(softmax(logs + t * possible / scale))

    root = brentq(
        lambda t: float(shares(t) @ (possible - mean)), -STEEPEST, STEEPEST, xtol=1e-14, rtol=1e-14
    )
    found = np.zeros_like(probabilities)
    found[seen] = shares(root)
    return found
