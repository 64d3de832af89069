"""How the models compare, pair by pair."""

from __future__ import annotations

from typing import Any

from stakes._core.text import seen
from stakes.infer.difference import CostDifference
from stakes.study import Study

TWO = 2


def pairs_of(study: Study) -> list[dict[str, Any]]:
    """Return the comparison of every pair of models; none if there is only one model."""
    if len(study.names) < TWO:
        return []
    ranking = study.ranking()
    found = []
    for pair in ranking.pairwise(confidence=study.confidence):
        difference = ranking.difference(pair.first, pair.second)
        found.append(
            {
                "first": pair.first,
                "second": pair.second,
                "difference": pair.difference,
                "low": pair.low,
                "high": pair.high,
                "p_value": pair.p_value,
                "adjusted": pair.adjusted,
                "rejected": pair.rejected,
                "method": difference.choice.name,
                "warning": _warning(difference),
            }
        )
    return found


def _warning(difference: CostDifference) -> str | None:
    """Say that the outcome that matters most was seen too rarely, where it was."""
    rare = difference.rare_outcome()
    if rare is None or rare[2] is None:
        return None
    what, count, _ = rare
    return (
        f"What matters most, {what}, was {seen(count)}: too rarely for the usual test, so a more "
        "careful one is used."
    )
