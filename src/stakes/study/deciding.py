"""Decisions by scores that are probabilities: what is expected to cost less."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label
from stakes.costs import CostMatrix
from stakes.study.columns import Table
from stakes.study.parts import PartedTable
from stakes.study.roles import Model


def why_undecidable(
    model: Model, table: Table | PartedTable, costs: CostMatrix, positive: Label | None
) -> str | None:
    """Say why scores do not tell decisions; nothing if they do."""
    if positive is None:
        return (
            f"{table.source}, column {model.scores!r}: scores alone tell decisions only for two "
            "classes; name a column of decisions with --model."
        )
    lowest, highest = table.score_range(str(model.scores))
    if lowest < 0 or highest > 1:
        return (
            f"{table.source}, column {model.scores!r}: the model {model.name!r} has scores and no "
            f"decisions, and the scores are no probabilities (from {lowest:.4g} to "
            f"{highest:.4g}). Name a column of decisions with --model, or choose a threshold "
            "with 'stakes threshold'."
        )
    if sum(costs.mistake_costs(pos_label=positive).values()) <= 0:
        return "costs: mistakes must cost more than correct decisions to decide by them."
    return None


def least_cost_threshold(costs: CostMatrix, positive: Label | None) -> float:
    """Return the probability from which on the positive decision is expected to cost less."""
    wrong = costs.mistake_costs(pos_label=positive)
    return wrong["false_positive"] / sum(wrong.values())


def decisions_of(
    chosen: NDArray[np.bool_], costs: CostMatrix, positive: Label | None
) -> NDArray[np.int64]:
    """Return the decisions as positions among those of the costs; `chosen` are the positive."""
    negative = next(label for label in costs.labels if label != positive)
    places = [costs.decisions.index(label) for label in (positive, negative)]
    return np.where(chosen, *places)
