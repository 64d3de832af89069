"""BCOST: percentiles of resampled, Laplace-corrected counts (Margineantu & Dietterich 2000, 3.1).

Applied to the joint counts of two classifiers, for their difference, it is BDELTACOST (3.2). Counts
are resampled, never examples. With groups, whole groups are resampled.
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.errors import InputError
from stakes.infer._outcomes import Outcomes, pseudo_counts
from stakes.infer._probability.sampling import batch_sizes
from stakes.infer.methods import IntervalMethod


def limits(
    outcomes: Outcomes,
    alpha: float,
    *,
    laplace: Any = 0.1,
    n_resamples: int = 1000,
    rng: np.random.Generator | int | None = None,
) -> tuple[Floats, Floats]:
    """Return the limits of Table 2: the costs of rank lb and ub among the sorted resamples."""
    rank = order(alpha, n_resamples)
    generator = validate.generator(rng)
    upper = np.sort(resampled(outcomes, alpha, laplace, n_resamples, generator), axis=1)
    lower = upper
    if isinstance(laplace, str):  # "auto": each limit has the correction at its own end
        lower = np.sort(resampled(outcomes, alpha, laplace, n_resamples, generator, end=0), axis=1)
    return lower[:, rank - 1], upper[:, n_resamples - rank]


def order(alpha: float, n_resamples: int) -> int:
    """Return lb = ⌊(1 - ρ)/2 · N⌋ + 1, in exact arithmetic: 0.05 of 1000 must give 51, not 50."""
    share = Fraction(alpha).limit_denominator(10**9) / 2
    drawn = validate.as_size(n_resamples, "n_resamples")
    if share * drawn < 1:
        raise InputError(
            "n_resamples",
            f"{drawn} resamples are too few for a confidence of {1 - alpha:.6g}; at least "
            f"{ceil(2 / alpha)} are needed.",
        )
    return int(share * drawn) + 1


def resampled(
    outcomes: Outcomes,
    alpha: float,
    laplace: Any,
    n_resamples: int,
    generator: np.random.Generator,
    *,
    end: int = -1,
) -> Floats:
    """Return resampled mean costs, shape (tables, n_resamples)."""
    if outcomes.design == "grouped":
        return _resampled_groups(outcomes, n_resamples, generator)
    means = np.zeros((outcomes.tables, n_resamples))
    for stratum, added in zip(
        outcomes.strata, pseudo_counts(outcomes, laplace, alpha, end), strict=True
    ):
        corrected = stratum.counts + added
        shares = corrected / corrected.sum(axis=1, keepdims=True)
        n = np.rint(stratum.n).astype(np.int64)
        drawn = []
        for size in batch_sizes(n_resamples, stratum.costs.size * outcomes.tables):
            counts = generator.multinomial(
                n[:, np.newaxis], shares[:, np.newaxis], size=(outcomes.tables, size)
            )
            drawn.append(stratum.weight * (counts @ stratum.costs) / n[:, np.newaxis])
        means += np.concatenate(drawn, axis=1)
    return means


def _resampled_groups(
    outcomes: Outcomes, n_resamples: int, generator: np.random.Generator
) -> Floats:
    """Return ratios of the total cost to the total size of resampled groups."""
    means = np.zeros(n_resamples)
    for stratum in outcomes.strata:
        amounts, n = stratum.amounts[0], round(stratum.n[0])
        sizes = np.divide(
            amounts, stratum.counts[0], where=stratum.counts[0] > 0, out=np.zeros_like(amounts)
        )
        drawn = []
        for size in batch_sizes(n_resamples, len(amounts)):
            counts = generator.multinomial(n, stratum.counts[0] / n, size=size)
            drawn.append(counts @ (sizes * stratum.costs) / (counts @ sizes))
        means += stratum.weight * np.concatenate(drawn)
    return means[np.newaxis]


METHOD = IntervalMethod(
    name="bcost",
    designs=frozenset({"simple", "stratified", "grouped", "examples"}),
    limits=limits,
)
