"""Sign-flip test: how often random signs of the examples' differences give as large a total."""

from __future__ import annotations

from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes
from stakes.infer._probability.sampling import batch_sizes
from stakes.infer.methods import ONE_SAMPLE, IntervalMethod


def tails(
    outcomes: Outcomes,
    margin: float,
    _alpha: float,
    *,
    n_resamples: Any = 9999,
    rng: np.random.Generator | int | None = None,
) -> tuple[Floats, Floats]:
    """Flip the sign of each example's difference at random, by counts.

    The test is valid if the differences are symmetric about the margin under the null hypothesis;
    with costs they often are not.
    """
    n_resamples = validate.as_size(n_resamples, "n_resamples", least=1)
    generator = validate.generator(rng)
    stratum = outcomes.only
    shifted = stratum.costs - margin
    both = [_of_table(row, shifted, n_resamples, generator) for row in stratum.counts]
    above, below = np.array(both).T
    return above, below


def _of_table(
    row: Floats, shifted: Floats, n_resamples: int, generator: np.random.Generator
) -> tuple[float, float]:
    """Return the shares of the flips whose total is at least, and at most, the observed one."""
    seen = row > 0
    counts, sizes = np.rint(row[seen]).astype(np.int64), np.abs(shifted[seen])
    # Of k examples with the same difference, Binomial(k, 1/2) keep their sign: no rows are needed.
    observed, slack = float(counts @ shifted[seen]), 1e-9 * float(counts @ sizes)
    above = below = 0
    for size in batch_sizes(n_resamples, len(counts)):
        heads = generator.binomial(counts, 0.5, (size, len(counts)))
        totals = (2 * heads - counts) @ sizes
        above += int(np.sum(totals >= observed - slack))
        below += int(np.sum(totals <= observed + slack))
    return (1 + above) / (n_resamples + 1), (1 + below) / (n_resamples + 1)


METHOD = IntervalMethod(name="signflip", designs=ONE_SAMPLE, tails=tails)
