"""The examples on which one of two classifiers alone is wrong: what their difference is made of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._labels import Label
from stakes.counts import PairedConfusion, PairedScoreCounts
from stakes.curves.curve import CostCurve
from stakes.curves.sampling import Mistakes

Floats = NDArray[np.float64]


def alone_of_decisions(counts: PairedConfusion, pos_label: Label) -> tuple[Mistakes, Mistakes]:
    """Count the positives, and the negatives, that one of two alone decides wrongly."""
    at = counts.labels.index(pos_label)
    found = []
    for actual in (at, 1 - at):
        right, wrong = (counts.decisions.index(counts.labels[j]) for j in (actual, 1 - actual))
        alone = ([wrong, right], [right, wrong], actual)  # the first alone is wrong, the second

        def kinds(table: NDArray[Any], alone: Any = alone) -> Floats:
            return np.asarray(table[alone], dtype=np.float64)[:, np.newaxis]

        squares = counts.squares
        found.append(
            Mistakes(
                float(counts.counts[..., actual].sum()),
                kinds(counts.counts),
                None if squares is None else kinds(squares),
                None if squares is None else float(squares[..., actual].sum()),
            )
        )
    return found[0], found[1]


def alone_of_scores(
    counts: PairedScoreCounts, curves: tuple[CostCurve, CostCurve], starts: Floats
) -> tuple[Mistakes, Mistakes]:
    """Count the same for each piece of their curves, given where it starts.

    One pass will do: each example is called positive from one piece on by each of the two.

    Between those two pieces they differ on it, so the counts are running sums of how many
    examples begin and cease to be treated differently.
    """
    entries = []
    for curve, ranks in zip(curves, (counts.ranks_1, counts.ranks_2), strict=True):
        cuts = curve.cuts[curve.pieces.index(starts)]
        entry = np.cumsum(np.bincount(cuts, minlength=len(curve.counts.thresholds) + 1))
        entries.append(entry.astype(np.int32)[ranks])
    differ = entries[0] != entries[1]
    one, other = (entry[differ] for entry in entries)
    width = len(starts) + 1
    rows = (counts.positive[differ].astype(np.int32) * 2 + (one < other)) * width
    begin, end = rows + np.minimum(one, other), rows + np.maximum(one, other)

    def alone(amounts: NDArray[Any] | None) -> Floats:
        """Sum up, by piece: negatives where the second, the first alarms alone; positives."""
        part = None if amounts is None else amounts[differ]
        begins, ends = (np.bincount(at, weights=part, minlength=4 * width) for at in (begin, end))
        sums = np.cumsum((begins - ends).reshape(4, width), axis=1)[:, :-1]
        return np.asarray(np.maximum(sums, 0.0))

    sums = alone(counts.amounts)
    squares = None if counts.squares is None else alone(counts.squares)
    found = []
    for rows_of, kinds in ((counts.positive, [2, 3]), (~counts.positive, [1, 0])):
        total = rows_of.sum() if counts.amounts is None else counts.amounts[rows_of].sum()
        found.append(
            Mistakes(
                float(total),
                sums[kinds],
                None if squares is None else squares[kinds],
                None if counts.squares is None else float(counts.squares[rows_of].sum()),
            )
        )
    return found[0], found[1]
