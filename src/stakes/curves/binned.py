"""The cost curve of binned scores, with bounds on the exact curve."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.optional import data_frame
from stakes._core.text import number
from stakes._core.typing import Floats
from stakes.counts import BinnedScoreCounts, ScoreCounts
from stakes.curves._base import Curve
from stakes.curves._sampling import Sample
from stakes.curves.condition import Pieces
from stakes.curves.curve import CostCurve, check_both_classes


@dataclass(frozen=True, repr=False)
class BinnedCostCurve(Curve):
    """A cost curve from scores counted in bins, with a bracket that contains the exact curve.

    The curve itself is that of the thresholds between bins, for which the counts are exact: each
    of its costs is attained by a threshold that it returns. So it is the upper end of the bracket:
    the exact curve, with all scores as thresholds, is nowhere above it.

    The lower end is the curve that would result if in each bin all positives scored higher than
    all negatives. The exact curve is nowhere below it: a threshold inside a bin with p positives
    and m negatives calls a of the former and b of the latter positive, a ≤ p and b ≥ 0, in
    addition to the bins above. The rates of the bin's best corner, with a = p and b = 0, are at
    least as good for both classes, so it costs no more at any operating condition. A bin with a
    single score has no threshold inside.

    The band, the operating range and the thresholds are those of the upper end. The bracket has no
    confidence level: it bounds the exact curve of these examples. The band accounts for sampling
    variation between examples.

    Parameters
    ----------
    counts : BinnedScoreCounts
        The score table in bins.
    name : str, optional
        The classifier's name.

    References
    ----------
    Holte & Drummond (2005), section 2.

    Drummond & Holte (2006).

    Examples
    --------
    >>> from stakes import BinnedCostCurve, BinnedScoreCounts
    >>> counts = BinnedScoreCounts(
    ...     lowest=[0.5, 0.0], highest=[0.9, 0.4], positives=[40, 10], negatives=[20, 80])
    >>> curve = BinnedCostCurve(counts)
    >>> curve.cost(0.5), curve.threshold(0.5)
    (0.2, 0.5)
    >>> curve.lower(0.5), curve.upper(0.5)
    (0.1, 0.2)
    >>> round(curve.width, 4)
    0.16
    """

    counts: BinnedScoreCounts
    name: str = ""

    def __post_init__(self) -> None:
        validate.text(self.name, "name")
        example = "BinnedScoreCounts.from_frame(frame, actual=…, score=…)"
        validate.expect(self.counts, BinnedScoreCounts, "counts", example)
        check_both_classes(self.counts.score_counts(), "counts")

    @cached_property
    def attained(self) -> CostCurve:
        """The same curve, as the cost curve of the thresholds between bins."""
        return CostCurve(self.counts.score_counts(), name=self.name)

    @property
    def pieces(self) -> Pieces:
        """The line segments that make up the curve."""
        return self.attained.pieces

    @cached_property
    def lower_pieces(self) -> Pieces:
        """The line segments that make up the lower end of the bracket."""
        return CostCurve(_best_case(self.counts)).pieces

    def lower(self, pc: Any) -> Any:
        """Return the lower bound of the exact curve.

        Parameters
        ----------
        pc : float or array_like
            The operating conditions PC(+).

        Returns
        -------
        float or ndarray
            The bound at each condition.

        Examples
        --------
        >>> from stakes import BinnedCostCurve, BinnedScoreCounts
        >>> curve = BinnedCostCurve(BinnedScoreCounts(
        ...     lowest=[0.5, 0.0], highest=[0.9, 0.4], positives=[40, 10], negatives=[20, 80]))
        >>> round(curve.lower(0.75), 3)
        0.05
        """
        return self.lower_pieces.height(pc)

    def upper(self, pc: Any) -> Any:
        """Return the upper bound of the exact curve; the same as `cost`.

        Parameters
        ----------
        pc : float or array_like
            The operating conditions PC(+).

        Returns
        -------
        float or ndarray
            The bound at each condition.

        Examples
        --------
        >>> from stakes import BinnedCostCurve, BinnedScoreCounts
        >>> curve = BinnedCostCurve(BinnedScoreCounts(
        ...     lowest=[0.5, 0.0], highest=[0.9, 0.4], positives=[40, 10], negatives=[20, 80]))
        >>> round(curve.upper(0.75), 3)
        0.2
        """
        return self.cost(pc)

    @cached_property
    def width(self) -> float:
        """The largest width of the bracket over all operating conditions."""
        begin, end = self.pieces.minus(self.lower_pieces).ends()
        return float(max(begin.max(), end.max(), 0.0))

    def areas(self) -> tuple[float, float]:
        """Return the bounds of the area under the exact curve.

        Returns
        -------
        low, high : float
            The areas under the lower and the upper end of the bracket.

        Examples
        --------
        >>> from stakes import BinnedCostCurve, BinnedScoreCounts
        >>> curve = BinnedCostCurve(BinnedScoreCounts(
        ...     lowest=[0.5, 0.0], highest=[0.9, 0.4], positives=[40, 10], negatives=[20, 80]))
        >>> [round(area, 4) for area in curve.areas()]
        [0.05, 0.16]
        """
        return self.lower_pieces.area(), self.pieces.area()

    def threshold(self, pc: Any) -> Any:
        """Return the best threshold between bins.

        No threshold inside a bin is cheaper by more than the width of the bracket there.

        Parameters
        ----------
        pc : float or array_like
            The operating conditions PC(+).

        Returns
        -------
        float or ndarray
            The threshold at each condition.

        Examples
        --------
        >>> from stakes import BinnedCostCurve, BinnedScoreCounts
        >>> curve = BinnedCostCurve(BinnedScoreCounts(
        ...     lowest=[0.5, 0.0], highest=[0.9, 0.4], positives=[40, 10], negatives=[20, 80]))
        >>> curve.threshold([0.5, 0.95]).tolist()
        [0.5, 0.0]
        """
        return self.attained.threshold(pc)

    @property
    def chosen_on(self) -> str:
        """The examples on which the thresholds were chosen."""
        return self.attained.chosen_on

    def _sample(self, pc: Floats, full: bool) -> Sample:
        return self.attained._sample(pc, full)  # noqa: SLF001 - the same curve

    def _threshold_at(self, pc: float) -> float:
        return float(self.threshold(pc))

    def _rule_at(self, pc: float) -> str:
        return self.attained._rule_at(pc)  # noqa: SLF001 - the same curve

    def summary(self) -> str:
        """Summarise where the curve is below the constant predictions, and the bracket's width.

        Returns
        -------
        str
            Two sentences.
        """
        return (
            f"{super().summary()} Counted in {len(self.counts.lowest):,} bins: the exact curve is "
            f"nowhere more than {number(self.width)} below."
        )

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each range of PC(+) and its threshold.

        The columns ``lower`` and ``upper`` are the ends of the bracket at the start of the range.

        Returns
        -------
        DataFrame
            With the columns low, high, threshold, fpr, tpr, lower and upper.
        """
        pieces = self.pieces
        begin = pieces.breaks[:-1]
        return data_frame(
            {
                "low": begin,
                "high": pieces.breaks[1:],
                "threshold": self.attained.thresholds,
                "fpr": pieces.left,
                "tpr": 1 - pieces.right,
                "lower": self.lower(begin),
                "upper": self.upper(begin),
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the curve and the lower end of its bracket as plain values and lists.

        Returns
        -------
        dict
            The curve, the width of the bracket and its lower end.
        """
        lower = self.lower_pieces
        return super().to_dict() | {
            "thresholds": self.attained.thresholds.tolist(),
            "width": self.width,
            "lower": {
                "breaks": lower.breaks.tolist(),
                "fpr": lower.left.tolist(),
                "tpr": (1 - lower.right).tolist(),
            },
        }


def _best_case(counts: BinnedScoreCounts) -> ScoreCounts:
    """Return the table in which the positives of each bin score higher than its negatives."""
    exact = counts.exact
    first = np.arange(len(exact)) + np.append(
        0, np.cumsum(~exact)[:-1]
    )  # a bin of two has two rows
    last = first + ~exact
    positives, negatives = np.zeros((2, last[-1] + 1), dtype=counts.positives.dtype)
    positives[first], negatives[last] = counts.positives, counts.negatives
    ranks = np.arange(len(positives), 0, -1).astype(np.float64)
    return ScoreCounts(
        ranks, positives, negatives, pos_label=counts.pos_label, neg_label=counts.neg_label
    )
