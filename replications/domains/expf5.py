"""Reconstruction of the Expf5 domain of the bootstrap experiments: two features, five classes.

Margineantu and Dietterich (2000) print the class frequencies (Table 3), but the figure with the
boundaries is lost. Examples are uniform on the unit square. Two geometries have the printed
frequencies to the last digit:

* "curves": exponential and cubic boundaries, as the name of the domain suggests. The rare class 3
  is a pocket at a corner inside class 2, which a tree can find with one or two examples.
* "bands": parallel diagonal bands. The rare class is a strip along a whole diagonal between
  classes 1 and 2, which no tree finds from a thousand examples.

A result that is the same with both does not depend on the lost figure.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.errors import InputError

Classes = NDArray[np.int64]

EXPF5_SHARES = (0.2102, 0.4473, 0.2568, 0.0016, 0.0841)
"""Frequencies of classes 0 to 4 (Table 3)."""

GEOMETRIES = ("curves", "bands")

CUBE = 4 * EXPF5_SHARES[4]
"""Class 4 lies below CUBE · x³, the area under which is CUBE / 4."""

TOP = 2 * (EXPF5_SHARES[2] + EXPF5_SHARES[3]) / (1 - np.exp(-2))
"""Classes 2 and 3 lie above 1 - TOP · exp(2(x - 1))."""

POCKET_DECAY = 25.0
POCKET = EXPF5_SHARES[3] * POCKET_DECAY / (1 - np.exp(-POCKET_DECAY))
"""Class 3 lies above 1 - POCKET · exp(-25x), inside class 2."""

LEFT_DECAY = 3.0
LEFT = 0.7868327751366612
"""Class 0 lies below LEFT · exp(-3x) and above class 4; solved numerically for its frequency."""

BAND_ORDER = (0, 1, 3, 2, 4)
"""The classes from the lower left to the upper right corner."""


def expf5(
    n: int, *, geometry: str = "curves", rng: np.random.Generator | int | None = None
) -> tuple[Floats, Classes]:
    """Draw examples of five classes, one of them very rare, from the unit square.

    Parameters
    ----------
    n : int
        The number of examples.
    geometry : {"curves", "bands"}
        The boundaries: curved, with a small pocket for the rare class, or straight and diagonal,
        with a thin strip for it.
    rng : int or numpy.random.Generator, optional
        The random generator or its seed.

    Returns
    -------
    X : ndarray, shape (n, 2)
        The features.
    y : ndarray, shape (n,)
        The classes, 0 to 4.

    See Also
    --------
    expf5_classes : returns the class of any point, since the classes do not overlap.

    References
    ----------
    Margineantu & Dietterich (2000), Figure 1 and Table 3.

    Examples
    --------
    >>> import numpy as np
    >>> from replications.domains.expf5 import expf5
    >>> X, y = expf5(1_000_000, rng=0)
    >>> (np.bincount(y) / len(y)).round(3).tolist()
    [0.21, 0.447, 0.257, 0.002, 0.084]
    """
    points = validate.generator(rng).random((validate.as_size(n, "n"), 2))
    return points, expf5_classes(points, geometry=geometry)


def expf5_classes(X: ArrayLike, *, geometry: str = "curves") -> Classes:
    """Return the true class of points of the unit square.

    Parameters
    ----------
    X : array_like, shape (n, 2)
        The points.
    geometry : {"curves", "bands"}
        The boundaries; see `expf5`.

    Returns
    -------
    ndarray, shape (n,)
        The classes, 0 to 4.

    Notes
    -----
    With "curves", the last of these rules that holds applies: 1 everywhere; 0 where
    y < a·exp(-3x); 2 where y > 1 - b·exp(2(x - 1)); 3 where y > 1 - c·exp(-25x); 4 where y < d·x³.
    The constants give the printed frequencies. With "bands", limits on the sum x + y do so.

    References
    ----------
    Margineantu & Dietterich (2000), Figure 1 and Table 3. The figure is lost: the boundaries are a
    reconstruction.

    Examples
    --------
    >>> from replications.domains.expf5 import expf5_classes
    >>> points = [[0, 0], [1, 0], [0, 1], [0.5, 0.9]]
    >>> expf5_classes(points).tolist(), expf5_classes(points, geometry="bands").tolist()
    ([0, 4, 3, 2], [0, 1, 1, 2])
    """
    validate.choice(geometry, "geometry", GEOMETRIES)
    points = np.asarray(X, dtype=float)
    if points.ndim != 2 or points.shape[1] != 2:  # noqa: PLR2004 - two features
        raise InputError("X", f"expected an array of shape (n, 2), got the shape {points.shape}.")
    x, y = points.T
    if geometry == "bands":
        band = np.searchsorted(_band_limits(), x + y, side="right")
        return np.asarray(np.array(BAND_ORDER)[band])
    found = np.ones(len(points), dtype=np.int64)
    found[y < LEFT * np.exp(-LEFT_DECAY * x)] = 0
    found[y > 1 - TOP * np.exp(2 * (x - 1))] = 2
    found[y > 1 - POCKET * np.exp(-POCKET_DECAY * x)] = 3
    found[y < CUBE * x**3] = 4
    return found


def _band_limits() -> Floats:
    """Return the limits between the bands: quantiles of x + y, which has a triangular law."""
    below = np.cumsum([EXPF5_SHARES[each] for each in BAND_ORDER])[:-1]
    limits = np.where(below <= 0.5, np.sqrt(2 * below), 2 - np.sqrt(2 * (1 - below)))  # noqa: PLR2004
    return np.asarray(limits)
