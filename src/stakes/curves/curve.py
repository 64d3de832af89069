"""The cost curve of a scorer: the lower envelope of the lines of all its thresholds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Label, as_labels, label_codes
from stakes._core.text import threshold_text
from stakes._core.typing import Floats
from stakes._core.values import readonly
from stakes.counts import PairedScoreCounts, ScoreCounts
from stakes.curves._base import Curve
from stakes.curves._rates import mistakes_at, represented
from stakes.curves._sampling import Mistakes, Sample, drawn, mistakes
from stakes.curves.condition import Pieces, conditions
from stakes.curves.line import CostLine
from stakes.errors import InputError, LabelError
from stakes.infer._outcomes import Design


@dataclass(frozen=True, repr=False)
class CostCurve(Curve):
    """The cost of a scorer at every operating condition, with the best threshold for each.

    Each threshold is a line; the curve is their lower envelope, the dual of the ROC convex hull
    (Holte & Drummond 2005). If the thresholds are chosen and evaluated on the same examples, the
    curve is too optimistic; `select` chooses them on other examples instead.

    Parameters
    ----------
    counts : ScoreCounts
        The score table.
    name : str, optional
        The classifier's name.
    validation : ScoreCounts, optional
        Other examples, on which the thresholds are chosen, as in `select`.

    Notes
    -----
    The threshold t has the line fpr_t (1 - x) + (1 - tpr_t) x, x being PC(+), and the curve is
    their minimum: cost(x) = min_t [fpr_t (1 - x) + (1 - tpr_t) x]. With `validation`, the threshold
    at x is the one whose line is lowest on those examples.

    References
    ----------
    Holte & Drummond (2005), section 2.

    Drummond & Holte (2006).

    Examples
    --------
    >>> from stakes import CostCurve, ScoreCounts
    >>> y_true = [0, 0, 0, 1, 0, 1, 1, 0, 1, 1]
    >>> y_score = [0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
    >>> curve = CostCurve(ScoreCounts.from_scores(y_true, y_score), name="model")
    >>> round(curve.cost(0.6), 3), curve.threshold(0.6)
    (0.16, 0.35)
    >>> print(curve.summary())
    The area under the cost curve of model is 0.1167 (thresholds chosen on the same examples); the
    curve is below the constant predictions for PC(+) from 0 to 1.
    """

    counts: ScoreCounts
    name: str = ""
    validation: ScoreCounts | None = None

    def __post_init__(self) -> None:
        validate.text(self.name, "name")
        example = "ScoreCounts.from_scores(y_true, y_score)"
        validate.expect(self.counts, ScoreCounts, "counts", example)
        check_both_classes(self.counts, "counts")
        if self.validation is None:
            return
        validate.expect(self.validation, ScoreCounts, "validation_counts", example)
        check_both_classes(self.validation, "validation_counts")
        mine, theirs = ((each.neg_label, each.pos_label) for each in (self.counts, self.validation))
        if mine != theirs:
            raise LabelError(
                "validation_counts",
                f"its classes are {theirs}, negative and positive, those of the curve {mine}.",
            )

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Label = 1,
        sample_weight: Any = None,
        groups: Any = None,
        strata: Any = None,
        population: Any = None,
        name: str = "",
    ) -> Self:
        """Return the cost curve of scores; see `ScoreCounts.from_scores`.

        Parameters
        ----------
        y_true : array_like, shape (n,)
            The actual class of each example; two classes.
        y_score : array_like, shape (n,)
            The score of each example; the higher, the more likely positive.
        pos_label : default 1
            Which class is the positive one.
        sample_weight : array_like, shape (n,), optional
            The sampling weight of each example: one over its inclusion probability.
        groups, strata : array_like, shape (n,), optional
            The group of each example, whose members are not independent, and the stratum it was
            sampled from.
        population : mapping, optional
            From each stratum to its share of the population, or to its number of rows.
        name : str, optional
            The classifier's name.

        Returns
        -------
        CostCurve
            The curve.

        Examples
        --------
        >>> from stakes import CostCurve
        >>> curve = CostCurve.from_scores(
        ...     [0, 0, 0, 1, 0, 1, 1, 0, 1, 1],
        ...     [0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
        >>> round(curve.cost(0.8), 3)
        0.08
        """
        counts = ScoreCounts.from_scores(
            y_true,
            y_score,
            pos_label=pos_label,
            sample_weight=sample_weight,
            groups=groups,
            strata=strata,
        )
        if population is not None:
            counts = represented(counts, Design(population=population))
        return cls(counts, name=name)

    @classmethod
    def one_versus_rest(
        cls, y_true: Any, proba: Any, *, labels: Any, sample_weight: Any = None
    ) -> dict[Label, Self]:
        """Return a cost curve for each class against all others.

        Parameters
        ----------
        y_true : array_like, shape (n,)
            The actual class of each example.
        proba : array_like, shape (n, classes)
            The scores or probabilities of the classes, one column each.
        labels : sequence
            The classes in the order of the columns, such as an estimator's ``classes_``.
        sample_weight : array_like, shape (n,), optional
            The weight of each example.

        Returns
        -------
        dict
            From each class to its CostCurve.

        Examples
        --------
        >>> from stakes import CostCurve
        >>> curves = CostCurve.one_versus_rest(
        ...     ["a", "b", "c", "b"], [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.3, 0.3, 0.4],
        ...     [0.4, 0.35, 0.25]], labels=["a", "b", "c"])
        >>> {label: round(curve.area(), 3) for label, curve in curves.items()}
        {'a': 0.0, 'b': 0.0, 'c': 0.0}
        """
        classes = as_labels(labels, "labels")
        y_true, proba, sample_weight = validate.aligned(
            y_true=y_true, proba=proba, sample_weight=sample_weight
        )
        scores = validate.numeric(proba, "proba", ndim=2)
        if scores.shape[1] != len(classes):
            raise InputError(
                "proba",
                f"expected a column for each of the {len(classes)} classes {classes}, got "
                f"{scores.shape[1]}.",
            )
        codes = label_codes(y_true, "y_true", classes, "classes")
        seen = np.bincount(codes, minlength=len(classes))
        for label, count in zip(classes, seen, strict=True):
            if count in (0, len(codes)):
                raise LabelError(
                    "y_true",
                    f"{'no' if count == 0 else 'every'} example is of the class {label!r}, so "
                    "there is no curve of it against the rest.",
                    "Leave it out, with its column.",
                )
        curves = {}
        for j, label in enumerate(classes):
            counts = ScoreCounts.from_scores(
                codes == j, scores[:, j], sample_weight=sample_weight
            ).relabel(pos_label=label, neg_label=f"not {label}")
            curves[label] = cls(counts, name=f"{label} against the rest")
        return curves

    def select(self, validation_counts: ScoreCounts) -> Self:
        """Return the curve at thresholds that are best on other examples.

        This is the cost to expect in practice: it is not optimistic from choosing thresholds on
        the same examples, and it may lie above the constant predictions.

        Parameters
        ----------
        validation_counts : ScoreCounts
            The same scorer's scores of other examples.

        Returns
        -------
        CostCurve
            The cost curve of the same examples, at those thresholds.

        Examples
        --------
        >>> from stakes import CostCurve
        >>> curve = CostCurve.from_scores(
        ...     [0, 0, 0, 1, 0, 1, 1, 0, 1, 1],
        ...     [0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
        >>> from stakes import ScoreCounts
        >>> other = ScoreCounts.from_scores([0, 0, 1, 0, 1, 1], [0.2, 0.4, 0.45, 0.55, 0.65, 0.8])
        >>> selected = curve.select(other)
        >>> round(curve.cost(0.8), 3), round(selected.cost(0.8), 3)
        (0.08, 0.2)
        """
        return replace(self, validation=validation_counts)

    @property
    def chosen_on(self) -> str:
        """The examples on which the thresholds were chosen."""
        return "the same examples" if self.validation is None else "validation examples"

    @property
    def thresholds(self) -> Floats:
        """The threshold of each piece; infinite where nothing is called positive."""
        return self._chosen[1]

    @cached_property
    def _chosen(self) -> tuple[Floats, Floats]:
        """The breaks between thresholds, and the thresholds that are used over some range."""
        counts = self.counts if self.validation is None else self.validation
        cuts = envelope_cuts(counts)
        found = (counts.positives, counts.negatives), (counts.n_positives, counts.n_negatives)
        gained = [np.diff(cumulative(side, cuts)) / n for side, n in zip(*found, strict=True)]
        inner = np.maximum.accumulate(gained[1] / (gained[0] + gained[1]))
        breaks = np.concatenate([[0.0], inner, [1.0]])
        used = np.diff(breaks) > 0
        thresholds = thresholds_of(counts)[cuts]
        return readonly(np.append(breaks[:-1][used], 1.0)), readonly(thresholds[used])

    @cached_property
    def cuts(self) -> NDArray[np.intp]:
        """The number of highest scores that are called positive at each piece."""
        ascending = self.counts.thresholds[::-1]
        below = np.searchsorted(ascending, self.thresholds, side="left")
        cuts = len(ascending) - below
        return readonly(cuts)

    @cached_property
    def pieces(self) -> Pieces:
        """The line segments that make up the curve."""
        counts = self.counts
        every = len(counts.thresholds)
        found, all_found = np.split(cumulative(counts.positives, np.append(self.cuts, every)), [-1])
        alarmed, alarms = np.split(cumulative(counts.negatives, np.append(self.cuts, every)), [-1])
        return Pieces(self._chosen[0], alarmed / alarms, (all_found - found) / all_found)

    def _sample(self, pc: Floats, full: bool) -> Sample:
        index = self.pieces.index(pc)
        positives, negatives = (each.at(index) for each in self._mistakes)
        return drawn(pc, positives, negatives, full=full)

    @cached_property
    def _mistakes(self) -> tuple[Mistakes, Mistakes]:
        """The mistakes among the positives and among the negatives, at each piece."""
        counts, pieces = self.counts, self.pieces
        sizes = float(counts.n_positives), float(counts.n_negatives)
        if counts.weighted or counts.rows is not None:
            return mistakes_at(counts, self.cuts)
        return mistakes(sizes[0], pieces.right), mistakes(sizes[1], pieces.left)

    def threshold(self, pc: Any) -> Any:
        """Return the best threshold: examples that score at least this are called positive.

        Where two thresholds cost the same, it is the lower one; it is infinite where nothing should
        be called positive. A finite threshold is the score of one of the examples on which it was
        chosen, not a midpoint between two scores.

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
        >>> from stakes import CostCurve
        >>> curve = CostCurve.from_scores(
        ...     [0, 0, 0, 1, 0, 1, 1, 0, 1, 1],
        ...     [0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
        >>> curve.threshold([0.2, 0.8]).tolist()
        [0.8, 0.35]
        """
        condition = conditions(pc)
        found = self.thresholds[self.pieces.index(condition)]
        return float(found) if condition.ndim == 0 else found

    def _threshold_at(self, pc: float) -> float:
        return float(self.threshold(pc))

    def _rule_at(self, pc: float) -> str:
        threshold = self._threshold_at(pc)
        if threshold == np.inf:
            return "calling nothing positive"
        return f"calling positive what scores {threshold_text(threshold)} or more"

    def line(self, threshold: float) -> CostLine:
        """Return the cost line of one threshold.

        Parameters
        ----------
        threshold : float
            Examples that score at least this are called positive.

        Returns
        -------
        CostLine
            The line, with the numbers of examples.

        Examples
        --------
        >>> from stakes import CostCurve
        >>> curve = CostCurve.from_scores(
        ...     [0, 0, 0, 1, 0, 1, 1, 0, 1, 1],
        ...     [0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
        >>> line = curve.line(0.5)
        >>> line.fpr, line.tpr
        (0.2, 0.8)
        """
        confusion = self.counts.confusion_at(threshold)
        return CostLine.from_counts(confusion, pos_label=self.counts.pos_label, name=self.name)

    def points(self) -> tuple[Floats, Floats, Floats]:
        """Return the false positive rate, true positive rate and threshold of every line.

        Returns
        -------
        fpr, tpr, thresholds : ndarray
            From the highest threshold to the lowest.

        Examples
        --------
        >>> from stakes import CostCurve
        >>> curve = CostCurve.from_scores(
        ...     [0, 0, 0, 1, 0, 1, 1, 0, 1, 1],
        ...     [0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
        >>> fpr, tpr, thresholds = curve.points()
        >>> fpr[:4].tolist(), tpr[:4].tolist(), thresholds[:4].tolist()
        ([0.0, 0.0, 0.0, 0.2], [0.0, 0.2, 0.4, 0.4], [inf, 0.9, 0.8, 0.7])
        """
        counts = self.counts
        false, true = (
            np.append(0.0, np.cumsum(side) / side.sum())
            for side in (counts.negatives, counts.positives)
        )
        return false, true, thresholds_of(counts)

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each range of PC(+) and its threshold.

        Returns
        -------
        DataFrame
            With the columns low, high, threshold, fpr and tpr.
        """
        found = super().to_frame()
        found.insert(2, "threshold", self.thresholds)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain values and lists.

        Returns
        -------
        dict
            The area, the operating range, the lines and their thresholds.
        """
        return super().to_dict() | {"thresholds": self.thresholds.tolist()}


def check_both_classes(counts: ScoreCounts | PairedScoreCounts, name: str) -> None:
    """Raise when there are no examples of a class, because its error rate is then unknown."""
    for size, label in (
        (counts.n_positives, counts.pos_label),
        (counts.n_negatives, counts.neg_label),
    ):
        if not size:
            raise InputError(
                name, f"a cost curve needs examples of both classes, there are none of {label!r}."
            )


def envelope_cuts(counts: ScoreCounts) -> NDArray[np.intp]:
    """Return the numbers of highest scores that are called positive at the corners of the ROC hull.

    The hull of a ROC curve is the isotonic regression of the labels on the scores: the share of
    positives may only fall from block to block. A linear map takes positives against all examples
    to true against false positive rates, so both have the same corners.

    The first cut is 0, at which nothing is called positive.
    """
    from scipy.optimize import isotonic_regression

    positives, negatives = counts.positives, counts.negatives
    both = positives + negatives
    used = None if both.all() else np.flatnonzero(both)
    if used is not None:
        positives, both = positives[used], both[used]
    # There is no corner where the share does not fall, so those scores are summed first.
    share = positives / both
    falls = np.append(0, np.flatnonzero(share[1:] < share[:-1]) + 1)
    weights = np.add.reduceat(both, falls).astype(np.float64)  # sums of whole numbers are faster
    share = np.add.reduceat(positives, falls) / weights
    fit = isotonic_regression(share, weights=weights, increasing=False)
    starts = falls[fit.blocks[1:-1]]
    cuts = np.concatenate([[0], starts if used is None else used[starts], [len(negatives)]])
    return _corners(cuts, counts)


def thresholds_of(counts: ScoreCounts) -> Floats:
    """Return the thresholds, from one that calls no row positive to one that calls all positive."""
    thresholds = np.append(np.inf, counts.thresholds)
    thresholds[-1] = validate.applicable(thresholds[-1])
    return thresholds


def _corners(cuts: NDArray[np.intp], counts: ScoreCounts) -> NDArray[np.intp]:
    """Drop points between corners that rounding errors in the regression may have left."""
    while len(cuts) > 2:  # noqa: PLR2004 - nothing lies between two ends
        positives, negatives = (
            np.add.reduceat(side, cuts[:-1])
            / side.sum()  # rates: products of weights may underflow
            for side in (counts.positives, counts.negatives)
        )
        turns = positives[:-1] * negatives[1:] > positives[1:] * negatives[:-1]
        if turns.all():
            break
        bent = np.flatnonzero(~turns)
        isolated = np.append(True, np.diff(bent) > 1)  # neighbours are checked again, one at a time
        cuts = np.delete(cuts, bent[isolated] + 1)
    return cuts


def cumulative(values: NDArray[Any], cuts: NDArray[np.intp]) -> NDArray[Any]:
    """Return for each cut the sum of that many first values."""
    return np.where(cuts > 0, np.cumsum(values)[cuts - 1], 0)
