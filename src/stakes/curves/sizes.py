"""Whether there are examples of both classes, which a curve needs."""

from __future__ import annotations

from stakes.counts import PairedScoreCounts, ScoreCounts
from stakes.errors import InputError


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
