"""Random sampling: batch sizes, future test sets, and probabilities tilted to a given mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from stakes._core.typing import Floats
from stakes.errors import InputError
from stakes.infer._outcomes import Outcomes

BATCH = 1 << 22
"""Numbers drawn at a time, so that memory does not grow with the number of draws."""

STEEPEST = 700.0
"""The logarithm of the largest ratio by which probabilities are tilted."""

MOST_STEPS, CLOSE = 80, 1e-14
"""The steps and the precision of the search for a tilt; bisection alone needs as many steps."""

ROUNDING = 16 * float(np.finfo(np.float64).eps)
"""The rounding error of a mean of zero, relative to the terms that cancel in it."""


def batch_sizes(draws: int, width: int) -> Iterator[int]:
    """Yield the numbers of rows of `width` values to draw at a time, `draws` in all."""
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

    They have the least Kullback-Leibler divergence: each is multiplied by exp(t·value), and t is
    solved for. Impossible outcomes stay impossible.

    Parameters
    ----------
    probabilities, values : ndarray of the same shape
        Probability and value of each outcome.
    mean : float
        The wanted mean.
    argument, what, remedy : str
        For the error if these outcomes cannot have the mean: the wrong argument, the name of the
        outcomes, and the remedy.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes.infer._probability.sampling import tilted
    >>> tilted(np.array([0.5, 0.5, 0.0]), np.array([0.0, 1.0, 5.0]), 0.2, argument="mean").round(3)
    array([0.8, 0.2, 0. ])
    """
    seen = probabilities > 0
    possible = values[seen]
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
    found = np.zeros_like(probabilities)
    found[seen] = all_tilted(probabilities[seen][np.newaxis], possible, mean)[0][0]
    return found


def all_tilted(probabilities: Floats, values: Floats, mean: float) -> tuple[Floats, Floats]:
    """Return many rows of probabilities, each tilted to the same mean, and each row's t."""
    scale = float(np.abs(values - mean).max()) or 1.0
    centred = (values - mean) / scale
    with np.errstate(divide="ignore"):
        logs = np.log(probabilities)
    found, tilts = np.empty_like(logs), np.empty(len(logs))
    rows, t = np.arange(len(logs)), np.zeros(len(logs))
    low, high = np.full(len(logs), -STEEPEST), np.full(len(logs), STEEPEST)
    for _ in range(MOST_STEPS):
        shares = np.asarray(softmax(logs + t[:, np.newaxis] * centred, axis=1))
        found[rows], tilts[rows] = shares, t
        distance = shares @ centred
        high, low = np.where(distance > 0, t, high), np.where(distance > 0, low, t)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = t - distance / (shares @ centred**2 - distance**2)
        inside = (newton > low) & (newton < high)
        following = np.where(inside, newton, (low + high) / 2)
        met = np.abs(distance) <= ROUNDING * (shares @ np.abs(centred))  # steps are noise then
        left = ~(met | (np.abs(following - t) <= CLOSE * (1 + np.abs(t))))
        if not left.any():
            break
        rows, logs, low, high, t = rows[left], logs[left], low[left], high[left], following[left]
    return found, tilts / scale


@dataclass(frozen=True, eq=False)
class FutureSets:
    """Future test sets, for simulation.

    Attributes
    ----------
    outcomes : Outcomes
        The possible costs of a decision, with their counts in the pilot or their rates.
    shares : tuple of ndarray, each of shape (test sets, atoms)
        For each stratum, the probabilities from which each of the test sets is drawn.
    parts : tuple of float
        The share of a test set that is in each stratum; the shares sum to less than 1 if some
        examples are in no stratum.
    seed : int
        Random seed of the test sets, so that those of two sizes differ in little else.
    """

    outcomes: Outcomes
    shares: tuple[Floats, ...]
    parts: tuple[float, ...]
    seed: int

    def drawn(self, n: int) -> Outcomes:
        """Return test sets of n examples, with the number in each stratum rounded down."""
        rng = np.random.default_rng(self.seed)
        strata = []
        for stratum, shares, part in zip(
            self.outcomes.strata, self.shares, self.parts, strict=True
        ):
            counts = rng.multinomial(max(1, int(part * n * (1 + 1e-12))), shares)
            strata.append(stratum.with_counts(counts.astype(np.float64)))
        return Outcomes(tuple(strata), self.outcomes.design)


def future_sets(
    outcomes: Outcomes,
    ends: dict[int, float] | None,
    draws: int,
    rng: np.random.Generator,
    *,
    size: float | None = None,
) -> FutureSets:
    """Return future test sets from known rates, or from rates drawn given the counts of a pilot.

    As in the extremal interval, the probabilities of each stratum have the Dirichlet distribution
    of its counts, with extra weight on the ends that matter. Outcomes without weight do not occur.

    Parameters
    ----------
    outcomes : Outcomes
        One table of counts, or of rates.
    ends : dict or None
        The extra weight of the cheapest outcome (0), the costliest (-1) or both; None if the rates
        are known.
    draws : int
        The number of test sets.
    rng : Generator
        For the probabilities, and for the seed of the test sets.
    size : float, optional
        The number of examples of the pilot, if some are in no stratum.
    """
    total = float(sum(stratum.n[0] for stratum in outcomes.strata)) if size is None else size
    parts = tuple(float(stratum.n[0]) / total for stratum in outcomes.strata)
    shares = []
    for stratum in outcomes.strata:
        counts = stratum.counts[0].copy()
        if ends is None:
            shares.append(np.tile(counts / counts.sum(), (draws, 1)))
            continue
        for end, weight in ends.items():
            counts[end] += weight
        gammas = rng.standard_gamma(counts, (draws, len(counts)))
        shares.append(gammas / gammas.sum(axis=1, keepdims=True))
    return FutureSets(outcomes, tuple(shares), parts, int(rng.integers(2**63)))
