"""Normal scores of two classes: Dugas & Gadoury's (2008) domain, with known true costs.

Positives score N(theta + shift, scale²) and negatives N(-theta, scale²), with a scale of 3. A
second scorer of the same examples is correlated with the first within each class.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, owens_t

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.errors import InputError

SCALE = 3.0


@dataclass(frozen=True)
class Binormal:
    r"""True error rates and costs of a scorer with normal scores.

    Positives score :math:`N(\theta + s, \sigma^2)` and negatives :math:`N(-\theta, \sigma^2)`, with
    the `shift` :math:`s` and the `scale` :math:`\sigma`. At the operating condition PC(+), here
    :math:`w`, a threshold :math:`t` costs

    .. math:: w\, \Phi\Bigl(\frac{t - \theta - s}{\sigma}\Bigr)
              + (1 - w)\, \Phi\Bigl(\frac{-\theta - t}{\sigma}\Bigr),

    and the best threshold is :math:`\frac{s}{2} + \frac{\sigma^2}{2\theta + s} \ln\frac{1 - w}{w}`.

    Parameters
    ----------
    theta : float, default 3
        The class separation: positives score about `theta`, negatives about -`theta`.
    shift : float, default 0
        The increase of the positives' mean score above `theta`.
    scale : float, default 3
        The standard deviation of the scores in each class.

    References
    ----------
    Dugas & Gadoury (2008), section 5.

    Examples
    --------
    >>> from replications.domains.binormal import Binormal
    >>> truth = Binormal(theta=3.0)
    >>> round(float(truth.threshold(0.2)), 3)
    2.079
    >>> round(float(truth.cost(0.2)), 4)
    0.1121
    >>> bool(truth.cost(0.2, threshold=0.0) > truth.cost(0.2))
    True
    """

    theta: float = 3.0
    shift: float = 0.0
    scale: float = SCALE

    def __post_init__(self) -> None:
        for name in ("theta", "shift", "scale"):
            validate.one_number(getattr(self, name), name)
        if self.scale <= 0:
            raise InputError("scale", f"expected a positive number, got {self.scale!r}.")
        if self.locations[0] <= self.locations[1]:
            raise InputError(
                "theta, shift",
                f"expected positives that score higher than negatives, got {self.locations[0]:g} "
                f"against {self.locations[1]:g}.",
            )

    @property
    def locations(self) -> tuple[float, float]:
        """The mean scores of positives and of negatives."""
        return self.theta + self.shift, -self.theta

    def tpr(self, threshold: Any) -> Any:
        """Return the share of positives that score at least the threshold.

        Parameters
        ----------
        threshold : float or array_like
            The threshold.

        Returns
        -------
        float or ndarray
        """
        return ndtr((self.locations[0] - np.asarray(threshold)) / self.scale)

    def fpr(self, threshold: Any) -> Any:
        """Return the share of negatives that score at least the threshold.

        Parameters
        ----------
        threshold : float or array_like
            The threshold.

        Returns
        -------
        float or ndarray
        """
        return ndtr((self.locations[1] - np.asarray(threshold)) / self.scale)

    def fnr(self, threshold: Any) -> Any:
        """Return the share of positives that score less than the threshold.

        Parameters
        ----------
        threshold : float or array_like
            The threshold.

        Returns
        -------
        float or ndarray
        """
        return ndtr((np.asarray(threshold) - self.locations[0]) / self.scale)

    def threshold(self, pc: Any) -> Any:
        """Return the best threshold at operating conditions PC(+).

        There the density of the positives times PC(+) equals that of the negatives times
        1 - PC(+).

        Parameters
        ----------
        pc : float or array_like
            The operating conditions PC(+).

        Returns
        -------
        float or ndarray
        """
        high, low = self.locations
        where = np.asarray(pc, dtype=float)
        with np.errstate(divide="ignore"):
            odds = np.log1p(-where) - np.log(where)
        return (high + low) / 2 + self.scale**2 / (high - low) * odds

    def cost(self, pc: Any, threshold: Any = None) -> Any:
        """Return the normalised expected cost of a threshold, by default of the best one.

        Parameters
        ----------
        pc : float or array_like
            The operating conditions PC(+).
        threshold : float or array_like, optional
            The threshold.

        Returns
        -------
        float or ndarray
        """
        cut = self.threshold(pc) if threshold is None else threshold
        where = np.asarray(pc, dtype=float)
        return where * self.fnr(cut) + (1 - where) * self.fpr(cut)


@dataclass(frozen=True)
class BinormalPair:
    """True costs of two scorers of the same examples.

    Within each class their scores are normal with the given correlation. The difference at PC(+) is
    that of their costs, each at its own best threshold; see `Binormal`.

    Parameters
    ----------
    first, second : Binormal
        The scorers.
    correlation : float
        The correlation of their scores within each class.

    References
    ----------
    Dugas & Gadoury (2008), section 5.

    Owen (1956), for the probability that both are wrong.

    Examples
    --------
    >>> from replications.domains.binormal import Binormal, BinormalPair
    >>> pair = BinormalPair(Binormal(1.0), Binormal(1.0, shift=2.0), correlation=0.6)
    >>> round(float(pair.difference(0.5)), 4)
    0.1169
    """

    first: Binormal
    second: Binormal
    correlation: float

    def __post_init__(self) -> None:
        checked_correlation(self.correlation)

    def difference(self, pc: Any) -> Any:
        """Return the cost of the first minus that of the second, at their best thresholds.

        Parameters
        ----------
        pc : float or array_like
            The operating conditions PC(+).

        Returns
        -------
        float or ndarray
        """
        return self.first.cost(pc) - self.second.cost(pc)

    def alone_wrong(self, pc: Any) -> tuple[Floats, Floats]:
        """Return the rates at which only one of the two is wrong, at their best thresholds.

        Parameters
        ----------
        pc : array_like
            The operating conditions PC(+).

        Returns
        -------
        positives, negatives : ndarray, shape (2, conditions)
            The shares of a class on which only the first, and only the second, is wrong.
        """
        both = (self.first, self.second)
        cuts = [np.atleast_1d(each.threshold(pc)) for each in both]
        found = []
        for side, sign in ((0, 1.0), (1, -1.0)):  # positives below, negatives above a cut
            reach = [
                sign * (cut - each.locations[side]) / each.scale
                for cut, each in zip(cuts, both, strict=True)
            ]
            together = both_below(reach[0], reach[1], self.correlation)
            found.append(np.array([np.maximum(ndtr(each) - together, 0.0) for each in reach]))
        return found[0], found[1]


def binormal(
    n_positives: int,
    n_negatives: int,
    theta: float = 3.0,
    *,
    shift: float = 0.0,
    correlation: float | None = None,
    rng: Any = None,
) -> tuple[NDArray[np.int64], Floats]:
    """Draw examples with normal scores, negatives first.

    Parameters
    ----------
    n_positives, n_negatives : int
        The number of examples of each class.
    theta : float, default 3
        Positives score N(theta, 3²), negatives N(-theta, 3²).
    shift : float, default 0
        The increase of the mean score of the (second) scorer's positives.
    correlation : float, optional
        The correlation of two scorers within each class, the first without `shift`, the second
        with it. By default there is one scorer.
    rng : int or numpy.random.Generator, optional
        The random generator or its seed.

    Returns
    -------
    y_true : ndarray, shape (n,)
        The classes, 0 and 1.
    y_score : ndarray, shape (n,) or (n, 2)
        The scores, in two columns if there is a correlation.

    References
    ----------
    Dugas & Gadoury (2008), section 5.

    Examples
    --------
    >>> from replications.domains.binormal import binormal
    >>> y_true, y_score = binormal(2, 3, theta=5.0, rng=0)
    >>> y_true.tolist(), (y_score > 0).tolist()
    ([0, 0, 0, 1, 1], [False, False, False, True, True])
    >>> binormal(200, 100, correlation=0.9, rng=0)[1].shape
    (300, 2)
    """
    random = validate.generator(rng)
    sizes = [
        validate.as_size(n_negatives, "n_negatives"),
        validate.as_size(n_positives, "n_positives"),
    ]
    y_true = np.repeat([0, 1], sizes)
    truths = [Binormal(theta, shift)]
    noise = random.standard_normal((sum(sizes), 1 if correlation is None else 2))
    if correlation is not None:
        rho = checked_correlation(correlation)
        truths = [Binormal(theta), Binormal(theta, shift)]
        noise[:, 1] = rho * noise[:, 0] + np.sqrt(1 - rho**2) * noise[:, 1]
    means = np.array([each.locations[::-1] for each in truths]).T[y_true]
    scores = means + SCALE * noise
    return y_true, scores[:, 0] if correlation is None else scores


def both_below(x: Any, y: Any, correlation: float) -> Floats:
    """Return P(X < x, Y < y) of standard normal X and Y with a correlation.

    Owen's (1956) function takes all pairs at once.
    """
    h, k = np.broadcast_arrays(np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    root = np.sqrt(1 - correlation**2)
    with np.errstate(divide="ignore", invalid="ignore"):
        slopes = [
            np.where(a == 0, np.copysign(np.inf, b), (b / a - correlation) / root)
            for a, b in ((h, k), (k, h))
        ]
    apart = (h * k < 0) | ((h * k == 0) & (h + k < 0))
    chance = (ndtr(h) + ndtr(k)) / 2 - owens_t(h, slopes[0]) - owens_t(k, slopes[1]) - apart / 2
    quarter = 0.25 + np.arcsin(correlation) / (2 * np.pi)
    return np.asarray(np.where((h == 0) & (k == 0), quarter, np.clip(chance, 0.0, 1.0)))


def checked_correlation(correlation: Any) -> float:
    """Check a correlation: between -1 and 1, where one score would determine the other."""
    rho = validate.one_number(correlation, "correlation")
    if not -1 < rho < 1:
        raise InputError("correlation", f"expected a number above -1 and below 1, got {rho:g}.")
    return rho
