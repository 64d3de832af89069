"""The Bayesian interval: quantiles of Σ D·C for D ~ Dirichlet(M + 1/cells)."""

from __future__ import annotations

import numpy as np

from stakes._core.typing import Floats
from stakes.infer._outcomes import Outcomes
from stakes.infer._probability.dirichlet_mean import quantile
from stakes.infer.methods import IntervalMethod


def limits(outcomes: Outcomes, alpha: float) -> tuple[Floats, Floats]:
    """Return the posterior quantiles; each possible cell gets a prior count of 1/cells."""
    stratum = outcomes.only
    posterior = stratum.counts + stratum.cells / stratum.cells.sum()
    level = np.full(outcomes.tables, alpha / 2)
    return (
        quantile(stratum.costs, posterior, 1 - level),
        quantile(stratum.costs, posterior, level),
    )


METHOD = IntervalMethod(name="dirichlet", designs=frozenset({"simple"}), limits=limits)
