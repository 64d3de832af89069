"""The cost models of the papers: distributions of random cost matrices.

Margineantu and Dietterich (2000), Table 4, have nine, M1 to M9. Margineantu's thesis (2001),
Table 6.2, has eight of them, and renumbers them: its M3, M4, M5, M6, M7 and M8 are M4, M5, M6, M7,
M8 and M3 of the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from stakes.costs import CostMatrix
from stakes.errors import InputError


@dataclass(frozen=True)
class CostModel:
    """Cost model with costs uniform from 0 to a maximum.

    Parameters
    ----------
    highest : float
        The highest cost of a mistake.
    power : int
        The power of P(i)/P(j) that multiplies `highest`, for predicting i where j is true.
    correct : float
        The highest cost of a correct decision.
    """

    highest: float
    power: int = 0
    correct: float = 0.0


PAPER = {
    "M1": CostModel(10),
    "M2": CostModel(100),
    "M3": CostModel(100, correct=10),
    "M4": CostModel(1000),
    "M5": CostModel(10_000),
    "M6": CostModel(1000, power=1),
    "M7": CostModel(1000, power=-1),
    "M8": CostModel(10_000, correct=1000),
    "M9": CostModel(2000, power=1, correct=1000),
}
THESIS = {
    "M1": PAPER["M1"],
    "M2": PAPER["M2"],
    "M3": PAPER["M4"],
    "M4": PAPER["M5"],
    "M5": PAPER["M6"],
    "M6": PAPER["M7"],
    "M7": PAPER["M8"],
    "M8": PAPER["M3"],
}
MODELS = {"paper": PAPER, "thesis": THESIS}


def draw_costs(
    model: str,
    priors: ArrayLike,
    *,
    source: str = "paper",
    labels: Sequence[Any] | None = None,
    rng: Any = None,
) -> CostMatrix:
    """Draw a cost matrix from a cost model of the papers.

    The cost of predicting i where j is true is uniform from 0 to a maximum. In M1 to M5 and M8 the
    maximum is the same for all mistakes; in M6 and M9 it is h·P(i)/P(j), in M7 h·P(j)/P(i), where h
    is 1000 (2000 in M9). Correct decisions are free except in M3, M8 and M9.

    Parameters
    ----------
    model : str
        "M1" to "M9".
    priors : array_like
        The class frequencies.
    source : {"paper", "thesis"}
        The source whose numbering of the models is used.
    labels : sequence, optional
        The classes; by default numbers from 0.
    rng : int or numpy.random.Generator, optional
        The random generator or its seed.

    Returns
    -------
    CostMatrix

    References
    ----------
    Margineantu & Dietterich (2000), Table 4.

    Margineantu (2001), Table 6.2.

    Examples
    --------
    >>> from replications.domains.cost_models import draw_costs
    >>> costs = draw_costs("M6", [0.9, 0.1], rng=0)
    >>> costs.values.round().tolist()  # [predicted, actual]
    [[0.0, 2428.0], [5.0, 0.0]]
    """
    if source not in MODELS or model not in MODELS[source]:
        known = ", ".join(MODELS.get(source, PAPER))
        raise InputError(
            "model, source",
            f'expected {known} and "paper" or "thesis", got {model!r} of {source!r}.',
        )
    shares = np.asarray(priors, dtype=float)
    if shares.ndim != 1 or not (np.isfinite(shares) & (shares > 0)).all():
        raise InputError("priors", f"expected a share above 0 for each class, got {priors!r}.")
    chosen, random = MODELS[source][model], np.random.default_rng(rng)
    highest = chosen.highest * (shares[:, np.newaxis] / shares) ** chosen.power
    values = random.uniform(0, 1, highest.shape) * highest
    np.fill_diagonal(values, random.uniform(0, 1, len(shares)) * chosen.correct)
    names = list(range(len(shares))) if labels is None else list(labels)
    return CostMatrix(values, rows="predicted", labels=names)
