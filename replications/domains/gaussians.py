"""Two overlapping normal classes, as in Figure 6.25 of Margineantu's thesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from scipy.stats import norm

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.errors import InputError


@dataclass(frozen=True)
class Gaussians:
    r"""Two classes, each a normal distribution of one feature, with known probabilities.

    Only the caption of the thesis's figure is left, and the text gives no numbers. Here class 0 is
    N(0, 1), and class 1 has the mean `shift` and the standard deviation `spread`. With these
    :math:`\mu` and :math:`\sigma`, the `prevalence` :math:`\pi` and the standard normal density
    :math:`\varphi`,

    .. math:: P(1 | x) = \frac{\pi\, \varphi((x - \mu)/\sigma)/\sigma}
              {\pi\, \varphi((x - \mu)/\sigma)/\sigma + (1 - \pi)\, \varphi(x)}.

    Parameters
    ----------
    shift : float, default 2
        The distance between the class means.
    spread : float, default 1
        The standard deviation of class 1.
    prevalence : float, default 0.5
        The prevalence of class 1.
    noise : int, default 0
        The number of additional features, which carry no information.

    References
    ----------
    Margineantu (2001), Figure 6.25.

    Examples
    --------
    >>> from replications.domains.gaussians import Gaussians
    >>> domain = Gaussians()
    >>> X, y = domain.draw(1000, rng=0)
    >>> X.shape, y.mean().item()
    ((1000, 1), 0.473)
    >>> domain.probability([[0.0], [1.0], [3.0]]).round(3).tolist()
    [0.119, 0.5, 0.982]
    """

    shift: float = 2.0
    spread: float = 1.0
    prevalence: float = 0.5
    noise: int = 0

    def __post_init__(self) -> None:
        for name in ("shift", "spread", "prevalence"):
            validate.one_number(getattr(self, name), name)
        if self.spread <= 0:
            raise InputError("spread", f"expected a number above 0, got {self.spread!r}.")
        if not 0 < self.prevalence < 1:
            raise InputError(
                "prevalence", f"expected a share between 0 and 1, got {self.prevalence!r}."
            )
        validate.as_size(self.noise, "noise")

    def draw(self, n: int, rng: Any = None) -> tuple[Floats, NDArray[np.int64]]:
        """Draw examples: the features, and the classes 0 and 1.

        Parameters
        ----------
        n : int
            The number of examples.
        rng : int or numpy.random.Generator, optional
            The random generator or its seed.

        Returns
        -------
        X : ndarray, shape (n, 1 + noise)
            The features.
        y : ndarray of int, shape (n,)
            The classes.
        """
        generator = validate.generator(rng)
        y = (generator.random(validate.as_size(n, "n")) < self.prevalence).astype(np.int64)
        features = generator.normal(size=(len(y), 1 + self.noise))
        features[:, 0] = np.where(y == 1, self.shift + self.spread * features[:, 0], features[:, 0])
        return features, y

    def probability(self, features: ArrayLike) -> Floats:
        """Return the probability of class 1 given the first feature.

        Parameters
        ----------
        features : array_like, shape (n, 1 + noise)
            The features.

        Returns
        -------
        ndarray, shape (n,)
        """
        x = np.asarray(features, dtype=np.float64)[:, 0]
        prior = np.log(self.prevalence) - np.log1p(-self.prevalence)
        ratio = norm.logpdf(x, self.shift, self.spread) - norm.logpdf(x)
        return np.asarray(expit(prior + ratio))
