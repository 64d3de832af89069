"""The choice of a threshold: the cheapest, or the best that keeps a limit."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, overload

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label
from stakes._core.text import flag_words, html_table, matrix_table, number, percent
from stakes._core.values import Result
from stakes.costs import CostMatrix, ExampleCosts
from stakes.counts import Confusion, GroupedConfusion, ScoreCounts
from stakes.curves._limits import Cuts, Limits, Places, index_of
from stakes.curves._rates import represented
from stakes.curves.curve import check_both_classes
from stakes.curves.example_threshold import ExampleThresholdChoice, choose_for_examples
from stakes.errors import InputTypeError, LabelError
from stakes.infer._inference import Interval
from stakes.infer._outcomes import Design
from stakes.infer._shares import cell_shares, checked_priors
from stakes.infer.estimate import CostEstimate
from stakes.infer.rates import RateEstimates

ROUNDING = 1e-13
"""Difference, relative to the largest cost, up to which costs are equal."""


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdChoice(Result):
    """A threshold, and its results on the examples it was chosen on, or on others.

    Made by `choose_threshold`.

    Attributes
    ----------
    threshold : float
        Examples that score at least this are called positive; infinite if none should be, minus
        infinite if all should be.
    confusion : Confusion or GroupedConfusion
        Its decisions on the examples, for each group and stratum if there are any.
    costs : CostMatrix or None
        The costs of decisions, if given.
    rule : str
        The criterion of the choice, in words.
    design : Design
        The class priors and the population, if they differ from those of the examples.
    confidence : float
        Confidence level of `interval`.
    chosen_on : str
        The examples of the results: "the same examples", which makes them too optimistic, or
        "other examples".

    Examples
    --------
    >>> from stakes import CostMatrix, ScoreCounts, choose_threshold
    >>> counts = ScoreCounts.from_scores(
    ...     [0, 1, 0, 0, 0, 1, 1, 0, 1, 1],
    ...     [0.01, 0.07, 0.30, 0.45, 0.60, 0.70, 0.75, 0.90, 0.92, 0.95])
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> choice = choose_threshold(counts, costs)
    >>> choice.threshold, choice.cost, choice.recall, choice.fpr
    (0.07, 0.4, 1.0, 0.8)
    """

    threshold: float
    confusion: Confusion | GroupedConfusion
    costs: CostMatrix | None
    rule: str
    design: Design
    confidence: float
    chosen_on: str = "the same examples"

    @property
    def cost(self) -> float | None:
        """The expected cost per decision; None if no costs were given."""
        estimate = self.estimate()
        return None if estimate is None else estimate.cost

    @property
    def interval(self) -> Interval | None:
        """The confidence interval of the cost; None if no costs were given."""
        estimate = self.estimate()
        return None if estimate is None else estimate.interval(self.confidence)

    def estimate(self) -> CostEstimate | None:
        """Return the cost of the decisions, if costs were given.

        Returns
        -------
        CostEstimate or None
            The cost with its interval; None if no costs were given.

        Examples
        --------
        >>> from stakes import CostMatrix, ScoreCounts, choose_threshold
        >>> counts = ScoreCounts.from_scores(
        ...     [0, 1, 0, 0, 0, 1, 1, 0, 1, 1],
        ...     [0.01, 0.07, 0.30, 0.45, 0.60, 0.70, 0.75, 0.90, 0.92, 0.95])
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> choice = choose_threshold(counts, costs)
        >>> choice.estimate()
        CostEstimate(cost=0.4, total=4, n=10)
        """
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

    def rates(self) -> RateEstimates:
        """Return recall, precision, F1 and the other usual rates, with confidence intervals.

        If the threshold was chosen on the same examples, the rates are too optimistic; `on`
        evaluates it on others.

        Returns
        -------
        RateEstimates
            The rates, by name.

        Examples
        --------
        >>> from stakes import ScoreCounts, choose_threshold
        >>> counts = ScoreCounts.from_scores(
        ...     [0, 1, 0, 0, 0, 1, 1, 0, 1, 1],
        ...     [0.01, 0.07, 0.30, 0.45, 0.60, 0.70, 0.75, 0.90, 0.92, 0.95])
        >>> recall = choose_threshold(counts, max_fpr=0.2).rates().recall
        >>> recall.value, round(recall.low, 3), round(recall.high, 3)
        (0.8, 0.31, 0.995)
        """
        return RateEstimates(self.confusion, self.confusion.labels[1], self.design)

    def _share(self, actual: int) -> float:
        column = self.pooled.counts[:, actual]
        return float(column[1] / column.sum()) if column.sum() else 0.0

    @property
    def pooled(self) -> Confusion:
        """The decisions in all groups and strata together, weighted as in the population."""
        table = self.confusion
        if isinstance(table, Confusion):
            return table
        reweighted = self.design.population is not None or self.design.class_priors is not None
        if table.strata is None or not reweighted:
            return Confusion(table.counts.sum(axis=0), table.labels)
        return Confusion(cell_shares(table, self.design) * table.n, table.labels)

    @property
    def alarms(self) -> float:
        """The share of examples that are called positive, at the class priors if given."""
        return float(cell_shares(self.confusion, self.design)[1].sum())

    def on(self, counts: ScoreCounts) -> ThresholdChoice:
        """Return the same threshold with its results on other examples, which avoids optimism.

        Parameters
        ----------
        counts : ScoreCounts
            The same scorer's scores of other examples.

        Returns
        -------
        ThresholdChoice
            The same threshold, evaluated on those examples.

        Examples
        --------
        >>> from stakes import CostMatrix, ScoreCounts, choose_threshold
        >>> counts = ScoreCounts.from_scores(
        ...     [0, 1, 0, 0, 0, 1, 1, 0, 1, 1],
        ...     [0.01, 0.07, 0.30, 0.45, 0.60, 0.70, 0.75, 0.90, 0.92, 0.95])
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> choice = choose_threshold(counts, costs)
        >>> other = ScoreCounts.from_scores([0, 0, 1, 0, 1, 1], [0.05, 0.4, 0.06, 0.5, 0.6, 0.8])
        >>> round(choice.on(other).cost, 4)
        2.0
        """
        validate.expect(counts, ScoreCounts, "counts", "ScoreCounts.from_scores(y_true, y_score)")
        confusion = counts.confusion_at(self.threshold)
        if confusion.labels != self.confusion.labels:
            raise LabelError(
                "counts",
                f"its classes are {confusion.labels}, the threshold was chosen for "
                f"{self.confusion.labels}.",
            )
        return replace(self, confusion=confusion, chosen_on="other examples")

    def summary(self) -> str:
        """Summarise which scores to flag, and the results.

        Returns
        -------
        str
            Three sentences.
        """
        positive = self.confusion.labels[1]
        text = (
            f"{flag_words(self.threshold)} ({self.rule}). This catches "
            f"{percent(round(self.recall, 6))} of {positive!r}, flags "
            f"{percent(round(self.fpr, 6))} of the others and {percent(round(self.alarms, 6))} of "
            "all"
        )
        chosen = f"The threshold was chosen on {self.chosen_on}."
        if self.interval is None:
            return f"{text}. {chosen}"
        low, high = map(number, self.interval)
        return (
            f"{text}, and costs {number(self.cost or 0.0)} per decision "
            f"({low} to {high}, {percent(self.confidence)} CI). {chosen}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain values.

        Returns
        -------
        dict
            The threshold and its results.
        """
        return {
            "threshold": self.threshold,
            "rule": self.rule,
            "cost": self.cost,
            "interval": None if self.interval is None else self.interval.to_dict(),
            "recall": self.recall,
            "fpr": self.fpr,
            "alarms": self.alarms,
            "confusion": self.pooled.to_dict(),
            "chosen_on": self.chosen_on,
        }

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        pooled = self.pooled
        cells = [[number(count) for count in row] for row in pooled.counts.tolist()]
        table = matrix_table(pooled.decisions, pooled.labels, cells)
        return html_table(*table, caption=self.summary())


@overload
def choose_threshold(
    counts: ScoreCounts, costs: CostMatrix | None = None, **options: Any
) -> ThresholdChoice: ...


@overload
def choose_threshold(
    counts: Any, costs: ExampleCosts, **options: Any
) -> ExampleThresholdChoice: ...


def choose_threshold(
    counts: Any,
    costs: CostMatrix | ExampleCosts | None = None,
    *,
    max_fpr: float | None = None,
    min_recall: float | None = None,
    capacity: float | None = None,
    volume: float | None = None,
    assurance: float | None = None,
    class_priors: Any = None,
    population: Any = None,
    confidence: float = 0.95,
    **examples: Any,
) -> ThresholdChoice | ExampleThresholdChoice:
    """Return the threshold that is cheapest, or best within limits.

    With costs, it is the cheapest of the thresholds that keep all limits. Without, it is the
    Neyman-Pearson choice (thesis, section 2.3.4.2): the highest recall under `max_fpr` or
    `capacity`, the lowest false positive rate under `min_recall`.

    Parameters
    ----------
    counts : ScoreCounts or array_like, shape (n,)
        The score table; with costs of single examples, the score of each.
    costs : CostMatrix or ExampleCosts, optional
        The costs of decisions.
    max_fpr : float, optional
        The largest false positive rate allowed.
    min_recall : float, optional
        The smallest recall allowed; 1 means all positives (thesis, Table 6.9).
    capacity : float, optional
        The largest number of examples that may be called positive, out of `volume`.
    volume : float, optional
        The number of decisions that `capacity` is for; by default the number of counted examples.
    assurance : float, optional
        The confidence that a limit is kept on new examples, such as 0.95. By default limits are
        kept on these examples, and on new ones only about half of the time. It is about the
        expected rate, or for a capacity about the number of alarms among `volume` new decisions.
    class_priors : mapping or sequence, optional
        The prevalence of each class in the target population, if it differs from the counts.
    population : mapping, optional
        From each stratum to its share of the population, or to its number of rows, if the scores
        were counted with strata.
    confidence : float, default 0.95
        Confidence level of the interval of the cost.
    **examples
        With costs of single examples: `pos_label` (default 1), the decision for scores at or above
        the threshold; `y_true`, which limits on rates and class priors need; `sample_weight`,
        `groups` and `strata`; `low` and `high`, the bounds of the cost of one example.

    Returns
    -------
    ThresholdChoice or ExampleThresholdChoice
        The threshold, its decisions and their cost.

    Notes
    -----
    The cheapest threshold t minimises cost(t) = π⁻ [C(-, -) (1 - fpr_t) + C(+, -) fpr_t] + π⁺
    [C(-, +) (1 - tpr_t) + C(+, +) tpr_t], π being the prevalence of each class and C(i, j) the cost
    of deciding i for class j. Of thresholds with equal costs, the highest is returned.

    References
    ----------
    Margineantu (2001), section 2.3.4.2 and Table 2.5.

    Holte & Drummond (2005), section 2.

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
    asked = {
        "max_fpr": max_fpr,
        "min_recall": min_recall,
        "capacity": capacity,
        "volume": volume,
        "assurance": assurance,
    }
    design = Design(class_priors, population=population)
    if isinstance(costs, ExampleCosts):
        return choose_for_examples(
            counts, costs, asked, design=design, confidence=confidence, **examples
        )
    if examples:
        raise InputTypeError(
            ", ".join(examples), "only for costs of single examples; counts have what they need."
        )
    validate.expect(counts, ScoreCounts, "counts", "ScoreCounts.from_scores(y_true, y_score)")
    check_both_classes(counts, "counts")
    if costs is not None:
        validate.expect(costs, CostMatrix, "costs", "CostMatrix.from_errors(…)")
    validate.alpha(confidence)
    if class_priors is not None:
        design = replace(design, class_priors=_priors(counts, class_priors))
    whole = represented(counts, design)
    priors = _priors(whole, class_priors)
    cuts = Cuts.of(whole, assured=assurance is not None)
    limits = Limits(cuts, priors, **asked)
    rules = limits.rules()
    if costs is None and not rules:
        raise InputTypeError(
            "costs", "give the costs, or a limit: max_fpr=, min_recall= or capacity= (or both)."
        )
    allowed = limits.checked()
    if costs is not None:
        rules = ["cheapest", *rules]
    threshold = cuts.threshold(_best(cuts, costs, priors, allowed, fewest=min_recall is not None))
    choice = ThresholdChoice(
        threshold=threshold,
        confusion=counts.confusion_at(threshold),
        costs=costs,
        rule=", ".join(rules),
        design=design,
        confidence=float(confidence),
    )
    choice.estimate()  # raises when the costs or the design do not fit
    return choice


def _priors(counts: ScoreCounts, class_priors: Any) -> dict[Label, float]:
    """Return the prevalence of each class in the target population."""
    labels = (counts.neg_label, counts.pos_label)
    if class_priors is None:
        sizes = float(counts.n_negatives), float(counts.n_positives)
        return {label: size / sum(sizes) for label, size in zip(labels, sizes, strict=True)}
    shares = checked_priors(class_priors, labels)
    return dict(zip(labels, shares.tolist(), strict=True))


def _best(
    cuts: Cuts,
    costs: CostMatrix | None,
    priors: Mapping[Label, float],
    allowed: range | Places,
    *,
    fewest: bool,
) -> int:
    """Return the best threshold; of equal ones, the highest, which has the fewest alarms."""
    if costs is None:
        return _most_found(cuts, allowed, fewest=fewest)
    labels = tuple(priors)
    cell = costs.values_for(labels, labels)
    negative, positive = (
        cell[0, j] * (1 - rate) + cell[1, j] * rate
        for j, rate in enumerate((cuts.fpr[:], cuts.recall[:]))
    )
    cost = priors[labels[0]] * negative + priors[labels[1]] * positive
    candidates = cost[index_of(allowed)]
    least = candidates.min() + ROUNDING * max(cost.max(), -cost.min())
    return int(allowed[np.argmax(candidates <= least)])


def _most_found(cuts: Cuts, allowed: range | Places, *, fewest: bool) -> int:
    """Return the threshold of highest recall; if `fewest`, of those with fewest false alarms.

    Of equal ones, it is the highest. Both rates rise with the index, so bisection finds it.
    """
    last = -1
    if fewest:
        least = cuts.fpr[allowed[0]] + ROUNDING
        last += bisect_right(allowed, least, key=cuts.fpr.__getitem__)
    most = cuts.recall[allowed[last]] - ROUNDING
    return int(allowed[bisect_left(allowed, most, key=cuts.recall.__getitem__)])
