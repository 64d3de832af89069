"""BCOST and BDELTACOST without sampling noise: their limit of infinitely many resamples."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes, pseudo_counts
from stakes.infer._probability.convolution import Draws
from stakes.infer._probability.distribution import CostDistribution
from stakes.infer._probability.sampling import all_tilted
from stakes.infer.methods import Bounds, IntervalMethod


def limits(outcomes: Outcomes, alpha: float, *, laplace: Any = 0.1) -> tuple[Floats, Floats]:
    """Return the α/2 and 1 - α/2 quantiles of the exact bootstrap distribution.

    With ``laplace="auto"`` each limit has the correction at its own end. Where the distribution is
    not exact, the limits are moved outwards by as much as it can be off.
    """
    upper = distributions(outcomes, laplace, alpha)
    lower = distributions(outcomes, laplace, alpha, 0) if isinstance(laplace, str) else upper
    return Bounds.of(
        np.array([each.quantile(alpha / 2) - each.error for each in lower]),
        np.array([each.quantile(1 - alpha / 2) + each.error for each in upper]),
        max(each.error for each in (*lower, *upper)),
    )


def tails(
    outcomes: Outcomes, margin: float, alpha: float, *, laplace: Any = 0.0
) -> tuple[Floats, Floats]:
    """Return the bootstrap probabilities of at most, and of at least, the margin: BDELTACOST's.

    Where the distribution is not exact, these are the largest that they can be.
    """
    upper = distributions(outcomes, laplace, alpha)
    lower = distributions(outcomes, laplace, alpha, 0) if isinstance(laplace, str) else upper
    return Bounds.of(
        np.array([each.cdf(margin + each.error) for each in lower]),
        np.array([each.sf(margin - each.error) for each in upper]),
        max(each.error for each in (*lower, *upper)),
    )


def quick_tails(outcomes: Outcomes) -> tuple[Floats, Floats]:
    """Approximate the tails at a margin of 0 by Lugannani and Rice's saddlepoint formula.

    They are wrong by some percent where the extreme outcomes occurred often enough for this test;
    planning tests thousands of test sets by it.
    """
    stratum, n = outcomes.only, outcomes.only.n
    shares = stratum.counts / n[:, np.newaxis]
    unit = float(np.abs(stratum.costs).max())
    values = stratum.costs / unit
    there, t = all_tilted(shares, values, 0.0)
    generating = np.log((shares * np.exp(values * t[:, np.newaxis])).sum(axis=1))
    root = np.sign(t) * np.sqrt(np.maximum(-2 * n * generating, 1e-12))
    spread = np.sqrt(n * (there @ values**2))
    density = np.exp(-(root**2) / 2) / np.sqrt(2 * np.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        above = ndtr(-root) + density * (1 / (t * spread) - 1 / root)
    above = np.where(np.abs(root) > 1e-3, above, 0.5)  # noqa: PLR2004 - 0/0 lies between
    step = float(np.abs(values[values != 0]).min())
    tie = density * step / spread / 2  # half of the probability of the margin itself
    return np.asarray(1 - above + tie), np.asarray(above + tie)


def distributions(
    outcomes: Outcomes, laplace: Any, alpha: float, end: int = -1
) -> list[CostDistribution]:
    """Return the exact bootstrap distribution of the mean, for each table."""
    added = pseudo_counts(outcomes, laplace, alpha, end)
    return [
        CostDistribution(
            [
                Draws(
                    stratum.costs,
                    (stratum.counts[table] + extra) / (stratum.n[table] + extra.sum()),
                    round(stratum.n[table]),
                    stratum.weight,
                )
                for stratum, extra in zip(outcomes.strata, added, strict=True)
            ]
        )
        for table in range(outcomes.tables)
    ]


METHOD = IntervalMethod(
    name="exact",
    designs=frozenset({"simple", "stratified", "examples"}),
    limits=limits,
    tails=tails,
)
