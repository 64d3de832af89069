"""Intervals and tests of many tables of counts at once, for simulations."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.costs import CostMatrix
from stakes.errors import InputError
from stakes.infer._inference import (
    DEFAULT,
    limits,
    p_values,
    warn_if_constant,
    with_laplace,
)
from stakes.infer._outcomes import Outcomes, cost_differences, make_stratum

__all__ = ["Outcomes", "batch_intervals", "batch_outcomes", "batch_p_values", "make_stratum"]


def batch_intervals(
    counts: ArrayLike,
    costs: CostMatrix,
    *,
    confidence: float = 0.95,
    method: str = DEFAULT,
    **options: Any,
) -> tuple[Floats, Floats]:
    """Return the intervals of many confusion matrices with the same costs.

    Parameters
    ----------
    counts : array_like, shape (tables, decisions, classes)
        Confusion matrices in the order of the costs' labels; or joint ones of two classifiers,
        with the shape (tables, decisions, decisions, classes).
    costs : CostMatrix
        The costs.
    confidence, method, **options
        As in ``CostEstimate.interval``.

    Returns
    -------
    low, high : ndarray, shape (tables,)

    Notes
    -----
    The equations are those of ``CostEstimate.interval``, for all tables at once: by default the
    quantiles of Σ D·C with D ~ Dirichlet(M + 0.7 e), e being the costliest or the cheapest cell.

    References
    ----------
    Margineantu & Dietterich (2000), Table 2.

    Learned-Miller & Thomas (2019).

    Examples
    --------
    >>> import numpy as np
    >>> from stakes import CostMatrix
    >>> from stakes.infer import batch_intervals
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> tables = np.array([[[50, 2], [8, 40]], [[50, 1], [8, 41]]])
    >>> low, high = batch_intervals(tables, costs)
    >>> high.round(3).tolist()
    [0.739, 0.575]
    """
    counts = validate.plain_array(counts, "counts")
    outcomes = batch_outcomes(counts, costs)
    paired = np.ndim(counts) > 3  # noqa: PLR2004 - tables, two decisions, a class
    laplace = 0.0 if paired else 0.1
    warn_if_constant(outcomes)
    return limits(outcomes, confidence, method, with_laplace(method, options, laplace))


def batch_outcomes(counts: ArrayLike, costs: CostMatrix) -> Outcomes:
    """Return the outcomes of many tables at once."""
    tables = np.asarray(counts)
    cells = costs.values if tables.ndim == 3 else cost_differences(costs.values)  # noqa: PLR2004
    if tables.shape[1:] != cells.shape or not len(tables):
        raise InputError(
            "counts",
            f"expected tables of shape {costs.values.shape}, or "
            f"{(len(costs.decisions), *costs.values.shape)} for two classifiers; got an array of "
            f"shape {tables.shape}.",
        )
    if not np.isfinite(tables).all() or (tables < 0).any() or not tables.any(axis=None):
        raise InputError("counts", "expected finite counts that are not negative.")
    empty = ~tables.reshape(len(tables), -1).any(axis=1)
    if empty.any():
        raise InputError("counts", f"table {int(np.argmax(empty))} has no examples.")
    return Outcomes((make_stratum(cells, tables, scale=float(np.abs(costs.values).max())),))


def batch_p_values(
    outcomes: Outcomes,
    method: str = DEFAULT,
    margin: float = 0.0,
    *,
    confidence: float = 0.95,
    **options: Any,
) -> Floats:
    """Return the two-sided p-values of many tables, by a method that gives tests.

    The p-values are those of ``CostDifference.test``. Only methods whose tails depend on the
    confidence use it.
    """
    found, _ = p_values(outcomes, method, margin=margin, confidence=confidence, options=options)
    return found
