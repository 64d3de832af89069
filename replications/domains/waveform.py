"""Breiman's waveforms: 21 noisy attributes, three balanced classes, known class probabilities.

An example of a class is a random mixture of two of three triangular waves, sampled at 21 points,
with standard normal noise (Breiman and others 1984, section 2.6.2). The waves have their peaks, of
height 6, at points 11, 15 and 7; Margineantu's thesis (2001, section 6.2.1) has 9 for the last,
which would not be Breiman's domain.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_ndtr

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.errors import InputError

ATTRIBUTES = 21
HEIGHT = 6
PEAKS = (11, 15, 7)
WAVES = np.maximum(
    HEIGHT - np.abs(np.arange(1, ATTRIBUTES + 1) - np.array(PEAKS)[:, np.newaxis]), 0
)
MIXED = ((0, 1), (0, 2), (1, 2))
"""The two waves of each class."""


def waveform(
    n: int, *, rng: np.random.Generator | int | None = None
) -> tuple[Floats, NDArray[np.int64]]:
    """Draw examples of three equally frequent waveforms.

    At the points i from 1 to 21, x(i) = u·h(i) + (1 - u)·k(i) + e(i), with u uniform on [0, 1], e
    standard normal, and h and k two of the waves max(6 - abs(i - p), 0), whose peaks p are 11, 15
    and 7: the first and second wave for class 1, first and third for 2, second and third for 3.

    Parameters
    ----------
    n : int
        The number of examples; class sizes differ by one at most.
    rng : int or numpy.random.Generator, optional
        The random generator or its seed.

    Returns
    -------
    X : ndarray, shape (n, 21)
        The attributes.
    y : ndarray, shape (n,)
        The classes, 1 to 3, in random order.

    See Also
    --------
    waveform_probabilities : returns the true probability of each class.

    References
    ----------
    Breiman et al. (1984), section 2.6.2.

    Examples
    --------
    >>> import numpy as np
    >>> from replications.domains.waveform import waveform, waveform_probabilities
    >>> X, y = waveform(3000, rng=0)
    >>> X.shape, np.bincount(y)[1:].tolist()
    ((3000, 21), [1000, 1000, 1000])

    The best possible classifier is wrong for one example in seven:

    >>> best = 1 + waveform_probabilities(X).argmax(axis=1)
    >>> round(float((best != y).mean()), 2)
    0.14
    """
    size, random = validate.as_size(n, "n"), validate.generator(rng)
    classes = random.permutation(np.arange(size) % len(MIXED))
    first, second = WAVES[np.array(MIXED)[classes].T]
    share = random.random((size, 1))
    attributes = random.standard_normal((size, ATTRIBUTES))
    attributes += share * first
    attributes += (1 - share) * second
    return attributes, classes + 1


def waveform_probabilities(X: ArrayLike) -> Floats:
    r"""Return the true probabilities of the three waveforms.

    Parameters
    ----------
    X : array_like, shape (n, 21)
        The attributes.

    Returns
    -------
    ndarray, shape (n, 3)
        The probabilities of classes 1 to 3.

    Notes
    -----
    The density of a class is that of normal noise about a point of the line between its two waves,
    averaged over the line. Along the line this is an integral of a normal density; across it, a
    normal density of the distance. With the waves :math:`h` and :math:`k` of a class, the length
    :math:`\ell = |h - k|`, and the distances :math:`a` along the line from :math:`k` to :math:`x`
    and :math:`d` of :math:`x` from the line, the density is proportional to

    .. math:: e^{-d^2/2}\, \frac{\Phi(\ell - a) - \Phi(-a)}{\ell},

    and the probabilities are the densities over their sum.

    References
    ----------
    Breiman et al. (1984), section 2.6.2.

    Examples
    --------
    A low peak in the middle belongs to one of the two classes with the first wave:

    >>> from replications.domains.waveform import waveform_probabilities
    >>> waveform_probabilities([[0] * 8 + [3] * 5 + [0] * 8]).round(3).tolist()
    [[0.5, 0.5, 0.0]]
    """
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != ATTRIBUTES:  # noqa: PLR2004 - examples, attributes
        raise InputError(
            "X", f"expected an array of shape (n, {ATTRIBUTES}), got the shape {points.shape}."
        )
    logs = np.empty((len(points), len(MIXED)))
    for number, (one, other) in enumerate(MIXED):
        line = WAVES[one] - WAVES[other]
        length = float(np.linalg.norm(line))
        beyond = points - WAVES[other]
        along = beyond @ line / length
        across = (beyond**2).sum(axis=1) - along**2
        logs[:, number] = -across / 2 + _log_mass(-along, length - along) - np.log(length)
    logs -= logs.max(axis=1, keepdims=True)
    densities = np.exp(logs)
    return np.asarray(densities / densities.sum(axis=1, keepdims=True))


def _log_mass(low: Floats, high: Floats) -> Floats:
    """Return the logarithm of the standard normal probability between two numbers."""
    flip = low > 0  # both in the upper tail: use the lower tail, which is more precise
    low, high = np.where(flip, -high, low), np.where(flip, -low, high)
    return np.asarray(log_ndtr(high) + np.log1p(-_ratio(low, high)))


def _ratio(low: Floats, high: Floats) -> Floats:
    """Return Φ(low) / Φ(high), also where both underflow."""
    return np.asarray(np.exp(log_ndtr(low) - log_ndtr(high)))
