"""Several comparisons at once: intervals that hold together, and adjusted p-values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes import _validate
from stakes.costs import CostMatrix
from stakes.counts import PairedConfusion
from stakes.infer.designs import SIMPLE
from stakes.infer.difference import CostDifference

Pairs = Mapping[tuple[str, str], PairedConfusion]

DRAWS = 100_000


def simultaneous_limits(
    compared: Sequence[CostDifference], costs: CostMatrix, pairs: Pairs, alpha: float, rng: Any
) -> list[tuple[float, float]]:
    """Return max-t intervals, or Bonferroni's where rare costs forbid normal theory."""
    if compared[0].design != SIMPLE or any(each.default_method() != "exact" for each in compared):
        level = 1 - alpha / len(compared)
        return [tuple(each.interval(level)) for each in compared]  # type: ignore[misc]
    spread = _difference_covariance(compared, costs, pairs)
    error = np.sqrt(np.diag(spread))
    scale = np.where(error > 0, error, 1)
    values, vectors = np.linalg.eigh(spread / np.outer(scale, scale))
    root = vectors * np.sqrt(np.maximum(values, 0))
    generator = _validate.generator(rng)
    freedom = compared[0].n - 1
    drawn = generator.standard_normal((DRAWS, len(values))) @ root.T
    drawn /= np.sqrt(generator.chisquare(freedom, (DRAWS, 1)) / freedom)
    factor = float(np.quantile(np.abs(drawn).max(axis=1), 1 - alpha))
    return [
        (each.difference - factor * e, each.difference + factor * e)
        for each, e in zip(compared, error.tolist(), strict=True)
    ]


def _difference_covariance(
    compared: Sequence[CostDifference], matrix: CostMatrix, pairs: Pairs
) -> NDArray[np.float64]:
    """Return the covariance of the differences, from the joint counts of pairs."""
    names = list(dict.fromkeys(name for pair in pairs for name in pair))
    moments = np.zeros((len(names), len(names)))
    for (first, second), table in pairs.items():
        costs = matrix.values_for(table.labels, table.decisions)
        mean = [float((each.counts * costs).sum() / each.n) for each in (table.first, table.second)]
        i, j = names.index(first), names.index(second)
        both = np.einsum("abj,aj,bj->", table.counts, costs - mean[0], costs - mean[1])
        moments[i, j] = moments[j, i] = both / table.n
        for k, each, m in ((i, table.first, mean[0]), (j, table.second, mean[1])):
            moments[k, k] = float((each.counts * (costs - m) ** 2).sum() / each.n)
    contrast = np.zeros((len(compared), len(names)))
    for row, pair in enumerate(compared):
        contrast[row, names.index(pair.names[0])] = 1
        contrast[row, names.index(pair.names[1])] = -1
    return np.asarray(contrast @ moments @ contrast.T / (compared[0].n - 1))


def holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values."""
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    stepped = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    adjusted = np.empty_like(stepped)
    adjusted[order] = stepped
    return adjusted
