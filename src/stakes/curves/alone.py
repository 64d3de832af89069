"""The examples on which one of two classifiers alone is wrong: what their difference is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.typing import Floats
from stakes._labels import Label
from stakes.counts import PairedConfusion, PairedScoreCounts
from stakes.curves.curve import CostCurve
from stakes.curves.sampling import Mistakes


def alone_of_decisions(counts: PairedConfusion, pos_label: Label) -> tuple[Mistakes, Mistakes]:
    """Count the positives, and the negatives, that one of two alone decides wrongly."""
    at = counts.labels.index(pos_label)
    squares = counts.squares
    found = []
    for actual in (at, 1 - at):
        right, wrong = (counts.decisions.index(counts.labels[j]) for j in (actual, 1 - actual))
        found.append(
            Mistakes(
                float(counts.counts[..., actual].sum()),
                _cells_alone(counts.counts[..., actual], right, wrong),
                None if squares is None else _cells_alone(squares[..., actual], right, wrong),
                None if squares is None else float(squares[..., actual].sum()),
            )
        )
    return found[0], found[1]


def _cells_alone(table: NDArray[Any], right: int, wrong: int) -> Floats:
    """Take, of a table by both decisions, where the first alone is wrong and where the second."""
    return np.array([[table[wrong, right]], [table[right, wrong]]], dtype=np.float64)


def alone_of_scores(
    counts: PairedScoreCounts, curves: tuple[CostCurve, CostCurve], starts: Floats
) -> tuple[Mistakes, Mistakes]:
    """Count the positives, and the negatives, that one of two scorers alone decides wrongly.

    They are counted for each piece of the two curves' difference, given where it starts. One pass
    will do: each of the two calls an example positive from one piece on. Between those two pieces
    one of them alone is wrong, so the counts are running sums of how many examples begin and cease
    to be such.
    """
    entries = []
    for curve, ranks in zip(curves, (counts.ranks_1, counts.ranks_2), strict=True):
        cuts = curve.cuts[curve.pieces.index(starts)]
        entry = np.cumsum(np.bincount(cuts, minlength=len(curve.counts.thresholds) + 1))
        entries.append(entry.astype(np.int32)[ranks])
    differ = entries[0] != entries[1]
    first, second = (entry[differ] for entry in entries)
    positive = counts.positive[differ]
    second_is_wrong = positive == (first < second)  # where the first alone calls it positive
    shape = 2, 2, len(starts) + 1  # by class, by who is wrong, by piece
    row = (2 * positive.astype(np.int32) + second_is_wrong) * shape[2]
    begin, end = row + np.minimum(first, second), row + np.maximum(first, second)

    def alone(amounts: NDArray[Any] | None) -> Floats:
        part = None if amounts is None else amounts[differ]
        begun, ended = (
            np.bincount(at, weights=part, minlength=int(np.prod(shape))) for at in (begin, end)
        )
        sums = np.cumsum((begun - ended).reshape(shape), axis=2)[..., :-1]
        return np.asarray(np.maximum(sums, 0.0))

    sums = alone(counts.amounts)
    squares = None if counts.squares is None else alone(counts.squares)
    found = []
    for actual, rows in ((1, counts.positive), (0, ~counts.positive)):
        total = rows.sum() if counts.amounts is None else counts.amounts[rows].sum()
        found.append(
            Mistakes(
                float(total),
                sums[actual],
                None if squares is None else squares[actual],
                None if counts.squares is None else float(counts.squares[rows].sum()),
            )
        )
    return found[0], found[1]
