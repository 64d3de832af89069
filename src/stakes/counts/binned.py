"""Score counts in bins, for more distinct scores than fit in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Label
from stakes._core.optional import data_frame
from stakes._core.text import html_table, number
from stakes._core.typing import Floats
from stakes._core.values import readonly_copy
from stakes.counts._bins import (
    bin_of,
    count_bins,
    lazy_scores,
    reaches,
    run_starts,
    split_where_it_matters,
)
from stakes.counts._two_classes import (
    TwoClassCounts,
    both_classes_weigh,
    checked_names,
    checked_sides,
)
from stakes.counts.scores import ScoreCounts
from stakes.errors import DesignError, InputError, ToleranceWarning, warn


@dataclass(frozen=True, init=False, eq=False, repr=False)
class BinnedScoreCounts(TwoClassCounts):
    """Numbers of positives and negatives with scores in each bin.

    The table is small for any number of examples, and yet brackets the exact cost curve: see
    `BinnedCostCurve`. `width` is the largest width of the bracket. A bin whose scores are all the
    same is exact.

    Parameters
    ----------
    lowest, highest : array_like, shape (bins,)
        The range of scores in each bin, highest bin first; no two bins overlap.
    positives, negatives : array_like, shape (bins,)
        The number of examples of each class in that range (or the sum of their weights).
    pos_label, neg_label : default 1 and 0
        The names of the classes.
    squares : array_like, shape (2, bins), optional
        The sums of squared weights of the positives and of the negatives, where the counts are sums
        of weights.

    Examples
    --------
    >>> import polars as pl
    >>> from stakes import BinnedScoreCounts
    >>> frame = pl.LazyFrame({"truth": [0, 1, 0, 1], "score": [0.1, 0.8, 0.3, 0.30001]})
    >>> binned = BinnedScoreCounts.from_frame(frame, actual="truth", score="score")
    >>> binned
    BinnedScoreCounts: 2 × 1, 2 × 0, 4 bins, within 0 of the exact cost curve
    >>> binned.score_counts().confusion_at(0.3).counts.tolist()
    [[1, 0], [1, 2]]

    With a single pass, which splits no bin, two of the scores share a bin:

    >>> BinnedScoreCounts.from_frame(frame, actual="truth", score="score", tolerance=1)
    BinnedScoreCounts: 2 × 1, 2 × 0, 3 bins, within 0.25 of the exact cost curve
    """

    positives: NDArray[Any]
    negatives: NDArray[Any]
    lowest: Floats
    highest: Floats

    def __init__(
        self,
        lowest: Any,
        highest: Any,
        positives: Any,
        negatives: Any,
        *,
        pos_label: Label = 1,
        neg_label: Label = 0,
        squares: Any = None,
    ) -> None:
        edges = validate.thresholds(lowest, "lowest")
        self._set(
            lowest=readonly_copy(edges),
            **checked_sides({"lowest": len(edges)}, positives, negatives, squares),
            **checked_names(pos_label, neg_label),
            highest=readonly_copy(_checked_ranges(edges, highest)),
        )

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Label = 1,
        neg_label: Label | None = None,
        sample_weight: Any = None,
        tolerance: float = 1e-4,
    ) -> Self:
        """Count scores in bins.

        Parameters
        ----------
        y_true, y_score, pos_label, neg_label, sample_weight
            As in `ScoreCounts.from_scores`.
        tolerance : float, default 1e-4
            As in `from_frame`.

        Returns
        -------
        BinnedScoreCounts
            The table.

        Examples
        --------
        >>> from stakes import BinnedScoreCounts
        >>> binned = BinnedScoreCounts.from_scores(
        ...     [0, 1, 0, 1], [0.1, 0.8, 0.3, 0.30001], tolerance=1)
        >>> binned.positives.tolist(), binned.negatives.tolist()
        ([1, 1, 0], [0, 1, 1])
        """
        counts = ScoreCounts.from_scores(
            y_true, y_score, pos_label=pos_label, neg_label=neg_label, sample_weight=sample_weight
        )
        return cls.from_counts(counts, tolerance=tolerance)

    @classmethod
    def from_counts(cls, counts: ScoreCounts, *, tolerance: float = 1e-4) -> Self:
        """Put the scores of an exact table into bins.

        Parameters
        ----------
        counts : ScoreCounts
            The exact table.
        tolerance : float, default 1e-4
            As in `from_frame`.

        Returns
        -------
        BinnedScoreCounts
            The table.

        Examples
        --------
        >>> from stakes import BinnedScoreCounts, ScoreCounts
        >>> counts = ScoreCounts.from_scores([0, 1, 0, 1], [0.1, 0.8, 0.3, 0.30001])
        >>> len(BinnedScoreCounts.from_counts(counts, tolerance=1).lowest)
        3
        """
        validate.expect(counts, ScoreCounts, "counts", "ScoreCounts.from_scores(y_true, y_score)")
        if counts.rows is not None:
            raise DesignError(
                "counts",
                "bins do not keep groups or strata.",
                "Use the score table itself, or count without groups and strata.",
            )
        allowed = _checked_tolerance(tolerance)
        keys = bin_of(counts.thresholds)
        starts = run_starts(keys)
        whole = cls._of_runs(counts, starts)
        split = split_where_it_matters(whole.lowest, whole.highest, whole.reaches(), allowed)
        if split:
            cells = split.cell_of(counts.thresholds)
            starts = run_starts(keys, np.where(np.isnan(cells), 0.5, cells))
            whole = cls._of_runs(counts, starts)
        _warn_if_wider(whole.width, allowed)
        return whole

    @classmethod
    def _of_runs(cls, counts: ScoreCounts, starts: NDArray[np.intp]) -> Self:
        ends = np.append(starts[1:], len(counts.thresholds)) - 1
        squares = counts.squares
        return cls(
            counts.thresholds[ends],
            counts.thresholds[starts],
            np.add.reduceat(counts.positives, starts),
            np.add.reduceat(counts.negatives, starts),
            pos_label=counts.pos_label,
            neg_label=counts.neg_label,
            squares=None if squares is None else np.add.reduceat(squares, starts, axis=1),
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        actual: str,
        score: str,
        pos_label: Label = 1,
        neg_label: Label | None = None,
        sample_weight: str | None = None,
        tolerance: float = 1e-4,
    ) -> Self:
        """Count the scores in a data frame; the engine of a lazy frame does the counting.

        The first pass over the rows counts bins of a fixed length, 1/8192 for scores between -16
        and 16. If these bracket the exact cost curve less tightly than `tolerance`, a second pass
        splits the bins responsible into smaller ones. Scores too close together for these leave a
        wider bracket: `width` is its width, and there is a warning.

        Parameters
        ----------
        frame : data frame
            Eager or lazy, of any library that narwhals knows.
        actual, score, sample_weight : str
            The names of the columns.
        pos_label, neg_label
            As in `ScoreCounts.from_scores`.
        tolerance : float, default 1e-4
            The largest allowed width of the bracket around the normalised expected cost, from 0 to
            1. With 1 there is only one pass.

        Returns
        -------
        BinnedScoreCounts
            The table.

        Examples
        --------
        >>> import polars as pl
        >>> from stakes import BinnedScoreCounts
        >>> frame = pl.LazyFrame({"truth": [0, 1, 0, 1], "score": [0.1, 0.8, 0.3, 0.30001]})
        >>> BinnedScoreCounts.from_frame(frame, actual="truth", score="score").width
        0.0
        """
        allowed = _checked_tolerance(tolerance)
        rows = lazy_scores(frame, actual, score, sample_weight)
        if rows is not None:
            result = cls(**count_bins(rows, pos_label, neg_label, allowed))
            if neg_label is None:
                both_classes_weigh(result, f"column {actual!r}")
            _warn_if_wider(result.width, allowed)
            return result
        counts = ScoreCounts.from_frame(
            frame,
            actual=actual,
            score=score,
            pos_label=pos_label,
            neg_label=neg_label,
            sample_weight=sample_weight,
        )
        return cls.from_counts(counts, tolerance=tolerance)

    @property
    def n_positives(self) -> Any:
        """The number of positive examples."""
        return self.positives.sum().item()

    @property
    def n_negatives(self) -> Any:
        """The number of negative examples."""
        return self.negatives.sum().item()

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Whether each bin has one score only, so that it is exact."""
        return np.asarray(self.lowest == self.highest)

    @property
    def width(self) -> float:
        """The largest width of the bracket, over all operating conditions."""
        return float(self.reaches().max())

    def reaches(self) -> Floats:
        """Return the largest distance of the exact curve below that of the bins, for each bin.

        Returns
        -------
        ndarray, shape (bins,)
            The maximum over all operating conditions.

        Examples
        --------
        >>> from stakes import BinnedScoreCounts
        >>> binned = BinnedScoreCounts.from_scores(
        ...     [0, 1, 0, 1], [0.1, 0.8, 0.3, 0.30001], tolerance=1)
        >>> binned.reaches().tolist()
        [0.0, 0.25, 0.0]
        """
        return reaches(self.positives, self.negatives, self.exact)

    def score_counts(self) -> ScoreCounts:
        """Return the score table that gives all examples of a bin its lowest score.

        It is exact for thresholds that are the lowest score of a bin. Curves, bands and
        `choose_threshold` made from it consider only these thresholds.

        Returns
        -------
        ScoreCounts
            The table.

        Examples
        --------
        >>> from stakes import BinnedScoreCounts
        >>> binned = BinnedScoreCounts.from_scores(
        ...     [0, 1, 0, 1], [0.1, 0.8, 0.3, 0.30001], tolerance=1)
        >>> binned.score_counts().thresholds.tolist()
        [0.8, 0.3, 0.1]
        """
        return ScoreCounts(
            self.lowest,
            self.positives,
            self.negatives,
            pos_label=self.pos_label,
            neg_label=self.neg_label,
            squares=self.squares,
        )

    def __add__(self, other: object) -> Self:
        """Merge the bins of two sets of examples; bins that overlap become one.

        Merging is associative and does not depend on the order.
        """
        if not isinstance(other, type(self)):
            return NotImplemented
        self._check_mergeable(other)
        lowest, highest = (
            np.concatenate([getattr(part, name) for part in (self, other)])
            for name in ("lowest", "highest")
        )
        order = np.lexsort([lowest, highest])[::-1]
        lowest, highest = lowest[order], highest[order]
        reached = np.minimum.accumulate(lowest)
        starts = np.flatnonzero(np.append(True, highest[1:] < reached[:-1]))

        def merged(name: str) -> NDArray[Any]:
            sides = [getattr(part, name) for part in (self, other)]
            return np.add.reduceat(np.concatenate(sides, axis=-1)[..., order], starts, axis=-1)

        return type(self)(
            np.minimum.reduceat(lowest, starts),
            highest[starts],
            merged("positives"),
            merged("negatives"),
            pos_label=self.pos_label,
            neg_label=self.neg_label,
            squares=merged("squares") if self.weighted else None,
        )

    def to_frame(self) -> Any:
        """Return the counts as a pandas data frame, a row for each bin, the highest first.

        Returns
        -------
        DataFrame
            The lowest and the highest score of each bin, and its numbers of positives and
            negatives.

        Examples
        --------
        >>> from stakes import BinnedScoreCounts
        >>> BinnedScoreCounts.from_scores([1, 0, 1], [0.8, 0.3, 0.3]).to_frame()
           lowest  highest  positives  negatives
        0     0.8      0.8          1          0
        1     0.3      0.3          1          1
        """
        return data_frame(
            {
                "lowest": self.lowest,
                "highest": self.highest,
                "positives": self.positives,
                "negatives": self.negatives,
            }
        )

    def __repr__(self) -> str:
        return (
            f"{self._title()}, {len(self.lowest)} bins, within {number(self.width)} of the exact "
            "cost curve"
        )

    def _repr_html_(self) -> str:
        cells = [
            *self._class_rows(),
            ["bins", number(len(self.lowest))],
            ["highest score", f"{self.highest[0]:.4g}"],
            ["lowest score", f"{self.lowest[-1]:.4g}"],
            ["width of the bracket", number(self.width)],
        ]
        return html_table(["", "value"], cells, caption="Score table in bins")


def _checked_ranges(lowest: Floats, highest: Any) -> Floats:
    """Check that bins are ranges that do not overlap."""
    high = validate.bounded(validate.numeric(highest, "highest", ndim=1))
    validate.same_length({"lowest": len(lowest), "highest": len(high)})
    if not (high >= lowest).all() or not (high[1:] < lowest[:-1]).all():
        raise InputError(
            "lowest, highest",
            "expected the ranges of scores in bins that do not overlap, highest first, without "
            "NaN.",
        )
    return high


def _checked_tolerance(tolerance: Any) -> float:
    allowed = validate.one_number(tolerance, "tolerance")
    if not 0 < allowed <= 1:
        raise InputError(
            "tolerance",
            f"expected a normalised expected cost, above 0 and up to 1, got {allowed:g}.",
        )
    return allowed


def _warn_if_wider(width: float, tolerance: float) -> None:
    if width > tolerance:
        warn(
            f"tolerance: {number(tolerance)} was asked for, but the bracket is {number(width)} "
            "wide: the second pass could not split all bins far enough. Use ScoreCounts, which is "
            "exact, or a scale on which the scores are spread more evenly, such as their "
            "logarithms; or allow a larger tolerance.",
            ToleranceWarning,
        )
