"""BDELTACOST: the test that inverts BCOST's interval (Margineantu & Dietterich 2000, 3.2)."""

from __future__ import annotations

from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes
from stakes.infer.methods import IntervalMethod
from stakes.infer.methods.bcost import METHOD as BCOST
from stakes.infer.methods.bcost import order, resampled


def tails(
    outcomes: Outcomes,
    margin: float,
    alpha: float,
    *,
    laplace: Any = 0.0,
    n_resamples: int = 1000,
    rng: np.random.Generator | int | None = None,
) -> tuple[Floats, Floats]:
    """Return the shares of the resamples that are at most, and at least, the margin.

    The interval at error rate α starts behind ⌊α/2·N⌋ resamples, so it excludes the margin exactly
    when at most α/2·N of them are on its other side. No p-value is smaller than 1/N.
    """
    order(alpha, n_resamples)  # raises when they are too few
    generator = validate.generator(rng)
    drawn = resampled(outcomes, alpha, laplace, n_resamples, generator)
    # Sums of the same costs in another order differ by rounding; a tie counts on both sides.
    slack = 1e-9 * np.maximum(np.abs(drawn).max(axis=1, keepdims=True), 1e-300)
    below = np.sum(drawn <= margin + slack, axis=1)
    above = np.sum(drawn >= margin - slack, axis=1)
    return np.maximum(below, 0.5) / n_resamples, np.maximum(above, 0.5) / n_resamples


METHOD = IntervalMethod(name="bdeltacost", designs=BCOST.designs, tails=tails)
