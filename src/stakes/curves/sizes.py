"""How many examples a class is worth, where examples have weights."""

from __future__ import annotations

from typing import Any

from stakes.counts import PairedScoreCounts, ScoreCounts
from stakes.errors import InputError


def effective_size(total: Any, squares: Any) -> float:
    """Return the number of examples, or (Σw)²/Σw², what weighted ones are worth (Kish 1965)."""
    if squares is None:
        return float(total)
    if not squares:
        raise InputError(
            "sample_weight: weights this small cannot be squared and added up. Divide all weights "
            "by the largest."
        )
    return float(total) ** 2 / float(squares)


def check_both_classes(counts: ScoreCounts | PairedScoreCounts, name: str) -> None:
    """Raise when there are no examples of a class, whose rate of mistakes is then not known."""
    for size, label in (
        (counts.n_positives, counts.pos_label),
        (counts.n_negatives, counts.neg_label),
    ):
        if not size:
            raise InputError(
                f"{name}: a cost curve needs examples of both classes, there are none of {label!r}."
            )
