"""The threshold to use: the cheapest, or the best that keeps within a limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from stakes import _validate
from stakes._table import html_table, matrix_table, number
from stakes.costs import CostMatrix
from stakes.counts import Confusion, ScoreCounts
from stakes.curves.sizes import check_both_classes
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.infer.designs import Design, checked_priors
from stakes.infer.estimate import CostEstimate
from stakes.infer.interval import Interval, percent
from stakes.infer.run import checked_confidence

Floats = NDArray[np.float64]


@dataclass(frozen=True, repr=False)
class ThresholdChoice:
    """A threshold, and what it does on the examples it was chosen on, or on others.

    Made by `choose_threshold`.

    Attributes
    ----------
    threshold : float
        Examples that score at least this are called positive: infinite if none, minus infinite if
        all should be.
    confusion : Confusion
        What it decides on the examples.
    costs : CostMatrix or None
        What decisions cost, where that was given.
    rule : str
        What was asked for.
    design : Design
        The class priors, where the prevalence differs from that of the examples.
    confidence : float
        Of `interval`.
    chosen_on : str
        "the same examples", which flatters what it does, or "other examples".
    """

    threshold: float
    confusion: Confusion
    costs: CostMatrix | None
    rule: str
    design: Design
    confidence: float
    chosen_on: str = "the same examples"

    @property
    def cost(self) -> float | None:
        """The expected cost of a decision; None where no costs were given."""
        estimate = self.estimate()
        return None if estimate is None else estimate.cost

    @property
    def interval(self) -> Interval | None:
        """The confidence interval of the cost; None where no costs were given."""
        estimate = self.estimate()
        return None if estimate is None else estimate.interval(self.confidence)

    def estimate(self) -> CostEstimate | None:
        """Return what the decisions cost, where costs were given."""
        if self.costs is None:
            return None
        return CostEstimate(self.confusion, self.costs, self.design)

    @property
    def recall(self) -> float:
        """The share of positives that are called positive."""
        return self._share(1)

    @property
    def fpr(self) -> float:
        """The share of negatives that are called positive."""
        return self._share(0)

    def _share(self, actual: int) -> float:
        column = self.confusion.counts[:, actual]
        return float(column[1] / column.sum()) if column.sum() else 0.0

    @property
    def alarms(self) -> float:
        """The share of all examples that are called positive."""
        return float(self.confusion.counts[1].sum() / self.confusion.n)

    def on(self, counts: ScoreCounts) -> ThresholdChoice:
        """Return what the same threshold does on other examples, where it has no hindsight.

        Parameters
        ----------
        counts : ScoreCounts
            The same scorer's scores of other examples.
        """
        _validate.expect(counts, ScoreCounts, "counts", "ScoreCounts.from_scores(y_true, y_score)")
        confusion = counts.confusion_at(self.threshold)
        if confusion.labels != self.confusion.labels:
            raise LabelError(
                f"counts: its classes are {confusion.labels}, the threshold was chosen for "
                f"{self.confusion.labels}."
            )
        return replace(self, confusion=confusion, chosen_on="other examples")

    def summary(self) -> str:
        """Say what to do, and what it leads to."""
        positive = self.confusion.labels[1]
        if np.isinf(self.threshold):
            text = f"Call {'nothing' if self.threshold > 0 else 'everything'} {positive!r}"
        else:
            text = f"Call {positive!r} what scores {self.threshold:.6g} or more"
        text += (
            f" ({self.rule}): that finds {percent(round(self.recall, 6))} of them, raises an alarm "
            f"for {percent(round(self.alarms, 6))} of all and for {percent(round(self.fpr, 6))} of "
            "the others"
        )
        if self.interval is None:
            return f"{text}."
        low, high = map(number, self.interval)
        return (
            f"{text}, and costs {number(self.cost or 0.0)} a decision "
            f"({low} to {high} with {percent(self.confidence)} confidence, chosen on "
            f"{self.chosen_on})."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain values."""
        return {
            "threshold": self.threshold,
            "rule": self.rule,
            "cost": self.cost,
            "interval": None if self.interval is None else self.interval.to_dict(),
            "recall": self.recall,
            "fpr": self.fpr,
            "alarms": self.alarms,
            "confusion": self.confusion.to_dict(),
            "chosen_on": self.chosen_on,
        }

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        cells = [[number(count) for count in row] for row in self.confusion.counts.tolist()]
        table = matrix_table(self.confusion.decisions, self.confusion.labels, cells)
        return html_table(*table, caption=self.summary())


def choose_threshold(
    counts: ScoreCounts,
    costs: CostMatrix | None = None,
    *,
    max_fpr: float | None = None,
    min_recall: float | None = None,
    capacity: float | None = None,
    volume: float | None = None,
    assurance: float | None = None,
    class_priors: Any = None,
    confidence: float = 0.95,
) -> ThresholdChoice:
    """Return the threshold that is cheapest, or best within a limit.

    With costs, the cheapest threshold among those allowed. Without, the Neyman-Pearson choice
    (thesis, section 2.3.4.2): the most positives found under `max_fpr` or `capacity`, the fewest
    false alarms under `min_recall`.

    Parameters
    ----------
    counts : ScoreCounts
        The score table.
    costs : CostMatrix, optional
        What decisions cost.
    max_fpr : float, optional
        The largest false positive rate allowed.
    min_recall : float, optional
        The least share of positives that must be found; 1 means all (thesis, Table 6.9).
    capacity : float, optional
        How many examples may be called positive, out of `volume`.
    volume : float, optional
        The number of decisions that `capacity` is for; by default as many as were counted.
    assurance : float, optional
        How sure to be that a limit is kept on new examples, such as 0.95. By default it is kept on
        these, and on new ones about every other time.
    class_priors : mapping or sequence, optional
        The share of each class where the threshold is used, if it differs from that of the counts.
    confidence : float, default 0.95
        Of the interval of the cost.

    Examples
    --------
    Table 2.4 of the thesis with the costs of Table 2.5: the cheapest threshold calls all but the
    first example positive.

    >>> from stakes import CostMatrix, ScoreCounts, choose_threshold
    >>> counts = ScoreCounts.from_scores(
    ...     [0, 1, 0, 0, 0, 1, 1, 0, 1, 1],
    ...     [0.01, 0.07, 0.30, 0.45, 0.60, 0.70, 0.75, 0.90, 0.92, 0.95])
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> choice = choose_threshold(counts, costs)
    >>> choice.threshold, choice.cost
    (0.07, 0.4)
    >>> choose_threshold(counts, max_fpr=0.2).threshold
    0.7
    """
    _validate.expect(counts, ScoreCounts, "counts", "ScoreCounts.from_scores(y_true, y_score)")
    check_both_classes(counts, "counts")
    if costs is not None:
        _validate.expect(costs, CostMatrix, "costs", "CostMatrix.from_errors(…)")
    checked_confidence(confidence)
    limits = _Limits(
        counts,
        max_fpr=max_fpr,
        min_recall=min_recall,
        capacity=capacity,
        volume=volume,
        assurance=assurance,
    )
    allowed, rules = limits.allowed(), limits.rules()
    if costs is None and not rules:
        raise InputTypeError(
            "costs: give the costs, or a limit: max_fpr, min_recall or capacity (or both)."
        )
    if not allowed.any():
        raise InputError(
            f"{', '.join(rules)}: no threshold keeps {'this limit' if len(rules) == 1 else 'all'}. "
            "Loosen a limit, or lower the assurance."
        )
    design = Design(class_priors)
    if costs is not None:
        height = _costs_at(limits, costs, design)
        rules = ["cheapest", *rules]
    elif min_recall is not None:
        height = limits.alarmed
    else:
        height = -limits.found
    best = int(np.where(allowed, height, np.inf).argmin())  # of equals, the highest threshold
    threshold = float(limits.thresholds[best])
    return ThresholdChoice(
        threshold, counts.confusion_at(threshold), costs, ", ".join(rules), design, confidence
    )


class _Limits:
    """What each threshold finds and alarms for, and which limits it keeps."""

    def __init__(
        self,
        counts: ScoreCounts,
        *,
        max_fpr: Any,
        min_recall: Any,
        capacity: Any,
        volume: Any,
        assurance: Any,
    ) -> None:
        self.counts = counts
        # Calling nothing positive, or everything, is certain to keep some limits on new examples.
        first = [np.inf] if counts.thresholds[0] < np.inf else []
        last = [-np.inf] if counts.thresholds[-1] > -np.inf else []
        self.thresholds = np.concatenate([first, counts.thresholds, last])
        self.found, self.alarmed = (
            np.cumsum([*(0.0 for _ in first), *side, *(0.0 for _ in last)])
            for side in (counts.positives, counts.negatives)
        )
        self.max_fpr = None if max_fpr is None else _rate(max_fpr, "max_fpr")
        self.min_recall = None if min_recall is None else _rate(min_recall, "min_recall")
        self.assurance = None if assurance is None else 1 - checked_confidence(assurance)
        if volume is not None and capacity is None:
            raise InputTypeError("volume: it is what a capacity is for; give capacity too.")
        self.most_alarms = None if capacity is None else self._capacity_share(capacity, volume)
        self.capacity, self.volume = capacity, volume

    def _capacity_share(self, capacity: Any, volume: Any) -> float:
        most = _validate.one_number(capacity, "capacity")
        if most < 0:
            raise InputError(f"capacity: expected a number of alarms, 0 or more; got {most:g}.")
        of = float(self.counts.n) if volume is None else _validate.one_number(volume, "volume")
        if of <= 0:
            raise InputError(f"volume: expected a positive number of decisions, got {of:g}.")
        return most / of

    def allowed(self) -> NDArray[np.bool_]:
        """Return which thresholds keep all limits."""
        n_pos, n_neg = float(self.counts.n_positives), float(self.counts.n_negatives)
        allowed = np.ones(len(self.thresholds), dtype=bool)
        if self.max_fpr is not None:
            allowed &= self._at_most(self.alarmed, n_neg, self.max_fpr, np.inf)
        if self.min_recall is not None:
            missed = n_pos - self.found
            allowed &= self._at_most(missed, n_pos, 1 - self.min_recall, -np.inf)
        if self.most_alarms is not None:
            alarms = self.alarmed + self.found
            allowed &= self._at_most(alarms, n_pos + n_neg, self.most_alarms, np.inf)
        return allowed

    def _at_most(self, counts: Floats, n: float, rate: float, sure: float) -> NDArray[np.bool_]:
        """Tell where k in n is at most a rate; or is with assurance, by Clopper & Pearson.

        The threshold `sure` keeps any limit.
        """
        if self.assurance is None:
            return np.asarray(counts <= rate * n + 1e-9)
        room = n - counts
        upper = np.ones(len(counts))
        some = room > 0
        upper[some] = betaincinv(counts[some] + 1, room[some], self.assurance)
        return np.asarray((upper <= rate) | (rate >= 1) | (self.thresholds == sure))

    def rules(self) -> list[str]:
        """Say what limits there are."""
        said = []
        if self.max_fpr is not None:
            said.append(f"false positive rate at most {percent(self.max_fpr)}")
        if self.min_recall is not None:
            said.append(f"recall at least {percent(self.min_recall)}")
        if self.most_alarms is not None:
            of = number(self.counts.n if self.volume is None else self.volume)
            said.append(f"at most {number(self.capacity)} alarms in {of}")
        if said and self.assurance is not None:
            said[-1] += f" with {percent(self.assurance)} assurance"
        return said


def _rate(value: Any, name: str) -> float:
    rate = _validate.one_number(value, name)
    if not 0 <= rate <= 1:
        raise InputError(f"{name}: expected a rate from 0 to 1, got {rate:g}.")
    return rate


def _costs_at(limits: _Limits, costs: CostMatrix, design: Design) -> Floats:
    """Return the expected cost of each threshold."""
    counts = limits.counts
    labels = (counts.neg_label, counts.pos_label)
    cell = costs.values_for(labels, labels)
    n_pos, n_neg = float(counts.n_positives), float(counts.n_negatives)
    shares = n_neg / (n_pos + n_neg), n_pos / (n_pos + n_neg)
    if design.class_priors is not None:
        shares = tuple(checked_priors(design.class_priors, labels))
    alarmed, found = limits.alarmed / n_neg, limits.found / n_pos
    return np.asarray(
        shares[0] * (cell[0, 0] * (1 - alarmed) + cell[1, 0] * alarmed)
        + shares[1] * (cell[0, 1] * (1 - found) + cell[1, 1] * found)
    )
