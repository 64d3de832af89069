"""The choice of a threshold for one model: as a verdict chooses it, or the best on the examples."""

from __future__ import annotations

import warnings
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label, as_column
from stakes._core.text import flag_words, html_table, matrix_table, number, percent
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.costs import CostMatrix, ExampleCosts
from stakes.counts import Confusion, CostSample, GroupedConfusion, ScoreCounts
from stakes.counts._parts import Parts
from stakes.counts._two_classes import two_classes
from stakes.counts.sample import with_assumed
from stakes.curves.curve import check_both_classes
from stakes.errors import ConstantCostWarning, InputError, InputTypeError, LabelError
from stakes.infer._inference import Interval
from stakes.infer._outcomes import Design
from stakes.infer._shares import cell_shares, checked_priors, shares_of
from stakes.infer.estimate import CostEstimate, constant_cost
from stakes.infer.rates import RateEstimates
from stakes.policies._choose import (
    IMPOSSIBLE,
    Choosing,
    Chosen,
    ChosenRows,
    choose,
    choose_rows,
    joint_of_examples,
    rows_of_examples,
)
from stakes.policies._limits import (
    Sides,
    flagged_sums,
    impossible,
    in_population,
    limit_words,
    within,
)
from stakes.policies.policies import Policies
from stakes.predictions.examples import JointExamples
from stakes.predictions.scores import JointScores

GUARDED, MINIMUM = RULES = ("guarded", "minimum")
"""The rules: that of a verdict, and the least cost on the examples."""

ROUNDING = 1e-13
"""Difference, relative to the largest cost, up to which costs are equal."""

MOST_DEALT = 10**8
"""Maximum number of examples that are dealt into folds."""

CHEAPEST, LEAST = "cheapest", "lowest in-sample cost"
SAME, OTHER, NONE = "the same examples", "other examples", "no examples"
NAME = "the scores"
COLUMN = f"{NAME}@"


@dataclass(frozen=True, repr=False)
class CorrectedEstimate(CostEstimate):
    """The cost of a threshold that the examples chose, corrected for the choice.

    It is that of decisions on folds which did not choose their thresholds. The lower limit is the
    smaller of theirs and the one on all examples: thresholds of folds cost more than the one to
    deploy.

    Parameters
    ----------
    confusion, costs, design, unit
        As in `CostEstimate`.
    in_sample : CostEstimate
        The cost of the threshold on all examples.
    """

    in_sample: CostEstimate | None = None

    @classmethod
    def of(cls, held_out: CostEstimate, in_sample: CostEstimate) -> Self:
        """Return the corrected cost, from that on folds and that on all examples."""
        return cls(held_out.confusion, held_out.costs, held_out.design, in_sample=in_sample)

    def _interval(self, confidence: float, method: str, options: Mapping[str, Any]) -> Interval:
        found = super()._interval(confidence, method, options)
        if self.in_sample is None:
            return found
        whole = replace(self.in_sample, design=self.design)
        other = whole._interval(confidence, method, options)  # noqa: SLF001 - of the base class
        return replace(found, low=min(found.low, other.low))


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdChoice(Result):
    """A threshold, and its results on the examples it was chosen on, or on others.

    Made by `choose_threshold`. Decisions, rates and flagged share are those of the threshold
    itself, on all examples; only the cost and its limits are corrected for the choice.

    Attributes
    ----------
    threshold : float
        Examples that score at least this are called positive; infinite if none should be, minus
        infinite if all should be.
    pos_label : label
        The positive class, and the decision for scores at or above the threshold.
    confusion : Confusion, GroupedConfusion or None
        Its decisions on the examples, for each group and stratum if there are any; None if the
        actual classes are not known.
    alarms : float
        The share of the examples that are called positive, at the class priors if given.
    costs : CostMatrix or None
        The costs of decisions, if given and the same for all examples of a class.
    rule : str
        The criterion of the choice, in words.
    design : Design
        The class priors and the population, if they differ from those of the examples.
    confidence : float
        Confidence level of `interval`.
    judged : CostEstimate or None
        The cost, corrected for the choice where that is needed; None if no costs were given.
    chosen_on : str
        The examples that chose the threshold: "the same examples", "other examples", or "no
        examples" if it follows from the costs alone.

    Examples
    --------
    >>> from stakes import CostMatrix, ScoreCounts, choose_threshold
    >>> counts = ScoreCounts.from_scores(
    ...     [0, 1, 0, 0, 0, 1, 1, 0, 1, 1],
    ...     [0.01, 0.07, 0.30, 0.45, 0.60, 0.70, 0.75, 0.90, 0.92, 0.95])
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> choice = choose_threshold(counts, costs, rule="minimum")
    >>> choice.threshold, choice.cost, choice.recall, choice.fpr
    (0.07, 0.4, 1.0, 0.8)
    """

    threshold: float
    pos_label: Label
    confusion: Confusion | GroupedConfusion | None
    alarms: float
    costs: CostMatrix | None
    rule: str
    design: Design
    confidence: float
    judged: CostEstimate | None = None
    chosen_on: str = SAME

    @property
    def corrected(self) -> bool:
        """Whether the cost and its limits are corrected for the choice, by cross-fitting."""
        return isinstance(self.judged, CorrectedEstimate)

    @property
    def cost(self) -> float | None:
        """The expected cost per decision, corrected for the choice; None without costs."""
        return None if self.judged is None else self.judged.cost

    @property
    def in_sample_cost(self) -> float | None:
        """The cost on the examples without a correction: too low if they chose the threshold."""
        in_sample = getattr(self.judged, "in_sample", self.judged)
        return None if in_sample is None else float(in_sample.cost)

    @cached_property
    def interval(self) -> Interval | None:
        """The confidence interval of the cost, corrected for the choice; None without costs."""
        if self.judged is None:
            return None
        with warnings.catch_warnings():  # a constant prediction may cost the same for all
            warnings.simplefilter("ignore", ConstantCostWarning)
            return self.judged.interval(self.confidence)

    def estimate(self) -> CostEstimate | None:
        """Return the cost, corrected for the choice, if costs were given.

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
        >>> choice = choose_threshold(counts, costs, rule="minimum")
        >>> choice.estimate()
        CostEstimate(cost=0.4, total=4, n=10)
        """
        return self.judged

    @property
    def recall(self) -> float | None:
        """The share of positives that are called positive; None without actual classes."""
        return self._share(positive=True)

    @property
    def fpr(self) -> float | None:
        """The share of negatives that are called positive; None without actual classes."""
        return self._share(positive=False)

    @property
    def precision(self) -> float | None:
        """The share of positives among those called positive; None if there are none."""
        if self.confusion is None or not self.alarms:
            return None
        flags = cell_shares(self.confusion, self.design)[self._place("decisions")]
        return float(flags[self._place("labels")] / flags.sum())

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
        if self.confusion is None:
            raise InputTypeError("y_true", "rates need the actual class of each example.")
        return RateEstimates(self.confusion, self.pos_label, self.design)

    def _share(self, *, positive: bool) -> float | None:
        if self.pooled is None:
            return None
        place = self._place("labels")
        column = self.pooled.counts[:, place if positive else 1 - place]
        return float(column[self._place("decisions")] / column.sum()) if column.sum() else 0.0

    def _place(self, axis: str) -> int:
        names: Any = getattr(self.confusion, axis)
        return int(names.index(self.pos_label))

    @cached_property
    def pooled(self) -> Confusion | None:
        """The decisions in all groups and strata together, weighted as in the population."""
        table = self.confusion
        if table is None or isinstance(table, Confusion):
            return table
        reweighted = self.design.population is not None or self.design.class_priors is not None
        counts = table.counts.sum(axis=0)
        if table.strata is not None and reweighted:
            counts = cell_shares(table, self.design) * table.n
        return Confusion(counts, table.labels, table.decisions)

    def on(
        self, counts: Any, costs: CostMatrix | ExampleCosts | None = None, **examples: Any
    ) -> Self:
        """Return the same threshold with its results on other examples, which avoids optimism.

        Parameters
        ----------
        counts : ScoreCounts or array_like, shape (n,)
            The same scorer's scores of other examples; with costs of single examples, the score of
            each.
        costs : CostMatrix or ExampleCosts, optional
            The costs of decisions for those examples; needed where they are costs of single ones.
        **examples
            With them, `y_true`, `sample_weight`, `groups`, `strata`, `low` and `high`, as in
            `choose_threshold`.

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
        >>> choice = choose_threshold(counts, costs, rule="minimum")
        >>> other = ScoreCounts.from_scores([0, 0, 1, 0, 1, 1], [0.05, 0.4, 0.06, 0.5, 0.6, 0.8])
        >>> round(choice.on(other).cost, 4)
        2.0
        """
        rows: _Counted | _Priced
        if isinstance(costs, ExampleCosts):
            rows = _priced(counts, costs, self.design, pos_label=self.pos_label, **examples)
        else:
            validate.expect(counts, ScoreCounts, "counts", "ScoreCounts.from_scores(…)")
            classes = (counts.neg_label, counts.pos_label)
            if self.confusion is None or {*classes} != {*self.confusion.labels}:
                known = self.pos_label if self.confusion is None else self.confusion.labels
                raise LabelError(
                    "counts", f"its classes are {classes}, the threshold was chosen for {known}."
                )
            rows = _counted(counts, costs or self.costs, self.design)
        return replace(self, **rows.at(self.threshold), costs=rows.costs, chosen_on=OTHER)

    def summary(self) -> str:
        """Summarise which scores to flag, and the results.

        Returns
        -------
        str
            Three sentences.
        """
        text, flags = flag_words(self.threshold), f"{percent(round(self.alarms, 6))} of all"
        if self.recall is None or self.fpr is None:
            text += f" as {self.pos_label!r} ({self.rule}). This flags {flags}"
        else:
            text += (
                f" ({self.rule}). This catches {percent(round(self.recall, 6))} of "
                f"{self.pos_label!r}, flags {percent(round(self.fpr, 6))} of the others and {flags}"
            )
        if self.interval is not None:
            low, high = map(number, self.interval)
            text += (
                f", and costs {number(self.cost or 0.0)} per decision ({low} to {high}, "
                f"{percent(self.confidence)} CI)"
            )
        chosen = f"The threshold was chosen on {self.chosen_on}"
        if self.corrected:
            chosen += "; the cost and its interval are corrected for that"
        elif self.chosen_on == SAME and self.rule.startswith(LEAST):
            chosen += ", so its cost is too low"
        return f"{text}. {chosen}."

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain values.

        Returns
        -------
        dict
            The threshold and its results.
        """
        names = ["threshold", "rule", "cost", "in_sample_cost", "corrected", "recall", "fpr"]
        names += ["precision", "alarms", "chosen_on"]
        tables = {"interval": self.interval, "confusion": self.pooled}
        return {name: getattr(self, name) for name in names} | {
            name: None if each is None else each.to_dict() for name, each in tables.items()
        }

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        pooled = self.pooled
        if pooled is None:
            return super()._repr_html_()
        cells = [[number(count) for count in row] for row in pooled.counts.tolist()]
        table = matrix_table(pooled.decisions, pooled.labels, cells)
        return html_table(*table, caption=self.summary())


def choose_threshold(
    counts: Any,
    costs: CostMatrix | ExampleCosts | None = None,
    *,
    rule: str = GUARDED,
    max_fpr: float | None = None,
    min_recall: float | None = None,
    capacity: float | None = None,
    volume: float | None = None,
    assurance: float | None = None,
    class_priors: Any = None,
    population: Any = None,
    confidence: float = 0.95,
    **examples: Any,
) -> ThresholdChoice:
    """Return the threshold that is cheapest, or best within limits.

    With costs, it is the threshold that a verdict recommends, with the same cost and interval: see
    the notes. Without, it is the Neyman-Pearson choice (thesis, section 2.3.4.2): the highest
    recall under `max_fpr` or `capacity`, the lowest false positive rate under `min_recall`.

    Parameters
    ----------
    counts : ScoreCounts or array_like, shape (n,)
        The score table; with costs of single examples, the score of each.
    costs : CostMatrix or ExampleCosts, optional
        The costs of decisions.
    rule : str, default "guarded"
        With costs, how to choose. "guarded": a smooth estimate of the cheapest threshold, unless
        the examples contradict it; the cost is corrected for the choice. "minimum": the plain
        minimum of the papers, the score of least cost on the examples, whose cost is too low there.
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
    ThresholdChoice
        The threshold, its decisions and their cost.

    Notes
    -----
    The cheapest threshold t minimises cost(t) = π⁻ [C(-, -) (1 - fpr_t) + C(+, -) fpr_t] + π⁺
    [C(-, +) (1 - tpr_t) + C(+, +) tpr_t], π being the prevalence of each class and C(i, j) the cost
    of deciding i for class j. The rule "minimum" does so on the examples; of thresholds with equal
    costs, it returns the highest.

    The rule "guarded" varies less from sample to sample. A logistic curve on the normal scores of
    mid-ranks estimates where a false alarm and a miss are expected to cost the same. Its cut is
    used unless it costs more on the examples than the cheapest by more than chance explains.
    Thresholds are midway between two scores. The cost is that of 20 folds, each judged at the
    threshold that the others choose; limits with assurance are found once, on all examples. At
    least ten examples of each class are needed; with fewer, scores from 0 to 1 are taken as
    probabilities, and the threshold follows from the costs.

    With costs of single examples and without `y_true`, the rule takes the examples for which the
    positive decision is the cheaper one as positives. Of weighted examples with the same score and
    class, a score table has only the sums: the rule takes them as equally heavy.

    References
    ----------
    Margineantu (2001), section 2.3.4.2 and Table 2.5.

    Holte & Drummond (2005), section 2.

    Examples
    --------
    >>> from stakes import CostMatrix, ScoreCounts, choose_threshold
    >>> from stakes.datasets import load_breast_cancer_predictions
    >>> tumours = load_breast_cancer_predictions(as_frame=True)
    >>> counts = ScoreCounts.from_scores(
    ...     tumours["actual"], tumours["logistic_score"], pos_label="malignant")
    >>> costs = CostMatrix.from_errors(
    ...     false_positive=2000, false_negative=40_000, pos_label="malignant", neg_label="benign")
    >>> choice = choose_threshold(counts, costs)
    >>> choice.threshold, round(choice.cost, 1), round(choice.in_sample_cost, 1)
    (0.07057, 505.3, 364.9)

    Table 2.4 of the thesis with the costs of Table 2.5: the threshold of least cost calls all but
    the first example positive.

    >>> counts = ScoreCounts.from_scores(
    ...     [0, 1, 0, 0, 0, 1, 1, 0, 1, 1],
    ...     [0.01, 0.07, 0.30, 0.45, 0.60, 0.70, 0.75, 0.90, 0.92, 0.95])
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> choice = choose_threshold(counts, costs, rule="minimum")
    >>> choice.threshold, choice.cost
    (0.07, 0.4)
    >>> choose_threshold(counts, max_fpr=0.2).threshold
    0.7
    """
    validate.alpha(confidence)
    validate.choice(rule, "rule", RULES)
    design = Design(class_priors, population=population)
    rows: _Counted | _Priced
    if isinstance(costs, ExampleCosts):
        rows = _priced(counts, costs, design, **examples)
    elif examples:
        raise InputTypeError(
            ", ".join(examples), "only for costs of single examples; counts have what they need."
        )
    else:
        rows = _counted(counts, costs, design)
    share, volume = _capacity(rows, capacity, volume)
    choosing = Choosing(min_recall, max_fpr, share, volume, assurance)
    if choosing.limits and isinstance(rows, _Priced) and not rows.known:
        raise InputTypeError("y_true", "limits need the actual class of each example.")
    if costs is None and not choosing.limits:
        raise InputTypeError(
            "costs", "give the costs, or a limit: max_fpr=, min_recall= or capacity= (or both)."
        )
    if costs is not None and rule == GUARDED:
        made = _guarded(rows, choosing)
    else:
        threshold = _plain(rows, choosing)
        made = {"threshold": threshold, "rule": LEAST, **rows.at(threshold)}
    criterion = [] if costs is None else [made["rule"]]
    return ThresholdChoice(
        **made | {"rule": ", ".join([*criterion, *limit_words(choosing)])},
        pos_label=rows.pos_label,
        costs=rows.costs,
        design=rows.design,
        confidence=float(confidence),
    )


def choice_of(
    policies: Policies, model: str, pos_label: Label, choosing: Choosing
) -> ThresholdChoice | None:
    """Return the threshold of a model in a study, with the results that its policy has there.

    Parameters
    ----------
    policies : Policies
        The policies.
    model : str
        The model.
    pos_label : label
        The positive class.
    choosing : Choosing
        How the thresholds were chosen.

    Returns
    -------
    ThresholdChoice or None
        The choice; None if there is none, or if high scores do not lead to the positive class.
    """
    name = policies.chosen_for(model)
    if name is None:
        return None
    judged = policies[name]
    policy = next(each for each in (judged, *judged.alike) if each.name == name)
    threshold = _above(pos_label, policy.cuts)
    if threshold is None:
        return None
    cost = policies.estimate(judged.name)
    if judged.cross_fitted:
        in_sample = policies._estimate(judged, policies.in_sample)  # noqa: SLF001 - of this folder
        cost = CorrectedEstimate.of(cost, in_sample)
    rule, chosen_on = CHEAPEST, SAME if choosing.validation is None else OTHER
    if judged.kind in {"decisions", "minimum_cost"}:
        rule = f"{rule}, the same as {judged.label}"
    if policy.reason:
        rule, chosen_on = _implied(policy.reason), NONE
    return ThresholdChoice(
        threshold=threshold,
        pos_label=pos_label,
        **_shown(policies.deployed(judged.name), pos_label, policies.design),
        costs=None if policies.examples is not None else policies.costs,
        rule=", ".join([rule, *limit_words(choosing)]),
        design=policies.design,
        confidence=policies.confidence,
        judged=cost,
        chosen_on=chosen_on,
    )


def _implied(reason: str) -> str:
    return f"as the costs imply: {reason}"


def _above(pos_label: Label, cuts: Sequence[tuple[Label, float]]) -> float | None:
    """Return the score from which on the positive class is decided; None if it is below a score."""
    ((decision, threshold),) = cuts
    if decision == pos_label:
        return threshold
    return -threshold if np.isinf(threshold) else None


def _shown(
    confusion: Confusion | GroupedConfusion, pos_label: Label, design: Design
) -> dict[str, Any]:
    """Return decisions, and the share of positive ones in the target population."""
    flagged = cell_shares(confusion, design)[confusion.decisions.index(pos_label)]
    return {"confusion": confusion, "alarms": float(flagged.sum())}


# The examples, counted or one by one.


@dataclass(frozen=True, eq=False)
class _Counted:
    """Counted scores, with the costs of the classes if there are any."""

    counts: ScoreCounts
    costs: CostMatrix | None
    design: Design

    @property
    def pos_label(self) -> Label:
        """The positive class."""
        return self.counts.pos_label

    def totals(self, sides: Sides, by_class: Floats) -> Floats | None:
        """Return what each threshold costs, from flagging none to all; None without costs."""
        if self.costs is None:
            return None
        no, yes = self.costs.values * by_class
        terms = (
            a * (side[-1] - side) + b * side for a, b, side in zip(no, yes, sides, strict=True)
        )
        return np.asarray(sum(terms))

    def at(self, threshold: float) -> dict[str, Any]:
        """Return the results of a threshold."""
        confusion = self.counts.confusion_at(threshold)
        found = _shown(confusion, self.pos_label, self.design)
        if self.costs is not None and np.isfinite(threshold):
            found["judged"] = CostEstimate(confusion, self.costs, self.design)
        elif self.costs is not None:
            values = self.costs.values[int(threshold < 0)]
            found["judged"] = constant_cost(confusion, values, self.costs.labels, self.design)
        return found

    def chosen(self, choosing: Choosing) -> Chosen:
        """Choose a threshold as a verdict does."""
        if not self.counts.weighted and self.counts.n > MOST_DEALT:
            raise InputError(
                "counts",
                f"there are {number(self.counts.n)} examples, too many to be divided into folds.",
                f"Use rule={MINIMUM!r}: with so many, its cost is hardly too low.",
            )
        assert self.costs is not None  # noqa: S101 - a verdict has costs
        return choose(JointScores.of(NAME, self.counts), self.costs, self.design, choosing)

    def held_out(self, chosen: Any) -> CostEstimate:
        """Return the cost of the decisions on folds."""
        return CostEstimate(chosen.held_out.single(COLUMN), self.costs, self.design)


def _counted(counts: Any, costs: Any, design: Design) -> _Counted:
    validate.expect(counts, ScoreCounts, "counts", "ScoreCounts.from_scores(y_true, y_score)")
    labels = (counts.neg_label, counts.pos_label)
    if costs is not None:
        validate.expect(costs, CostMatrix, "costs", "CostMatrix.from_errors(…)")
        values = costs.values_for(labels, labels)
        if len(costs.decisions) > len(labels):
            raise InputError("costs", "one threshold is for two decisions, the costs have more.")
        costs = CostMatrix(values, rows="predicted", labels=labels)
    if design.class_priors is not None:
        shares = checked_priors(design.class_priors, labels).tolist()
        design = replace(design, class_priors=dict(zip(labels, shares, strict=True)))
    return _Counted(counts, costs, design)


@dataclass(frozen=True, eq=False)
class _Priced:
    """Single scores, each with costs of its own."""

    examples: JointExamples
    pos_label: Label
    design: Design
    known: bool
    ends: tuple[float | None, float | None]
    costs: None = None

    @cached_property
    def rows(self) -> JointScores:
        """The scores and the classes."""
        return rows_of_examples(self.examples, self.pos_label).scores

    @cached_property
    def counts(self) -> ScoreCounts:
        """The score table."""
        return self.rows.single(NAME)

    @property
    def place(self) -> int:
        """The place of the positive decision."""
        return self.examples.decisions.index(self.pos_label)

    def totals(self, sides: Sides, by_class: Floats) -> Floats:
        """Return what each threshold costs, from flagging none to all."""
        del by_class
        costs, of_any = self.examples.costs, self.examples.always(self.pos_label)
        shares = shares_of(of_any, self.design)
        no, yes = (costs[:, each] * shares for each in (1 - self.place, self.place))
        sums = np.zeros(len(sides[0]))
        np.cumsum(np.bincount(self.rows.ranks[0], yes - no, len(sums) - 2), out=sums[1:-1])
        sums[-1] = sums[-2]
        return np.asarray(no.sum() + sums)

    def at(self, threshold: float) -> dict[str, Any]:
        """Return the results of a threshold."""
        scores: Any = self.examples.scores
        codes = np.where(scores[NAME] >= threshold, self.place, 1 - self.place)
        table = joint_of_examples(self.examples, {NAME: codes}).single(NAME)
        sample = self.examples.with_columns({NAME: codes}).single(NAME)
        if np.isinf(threshold):
            sample = self.examples.always(self.examples.decisions[codes[0]])
        found = _shown(table, self.pos_label, self.design) | {"judged": self._estimate(sample)}
        return found if self.known else {**found, "confusion": None}

    def chosen(self, choosing: Choosing) -> ChosenRows:
        """Choose a threshold as a verdict does."""
        return choose_rows(self.examples, self.pos_label, self.design, choosing)

    def held_out(self, chosen: Any) -> CostEstimate:
        """Return the cost of the decisions on folds."""
        return self._estimate(chosen.examples.single(COLUMN))

    def _estimate(self, sample: CostSample) -> CostEstimate:
        low, high = self.ends
        if self.ends != (None, None):
            parts: Any = {name: getattr(sample, name) for name in ("groups", "strata", "classes")}
            ends = sample.low if low is None else low, sample.high if high is None else high
            bounded = CostSample(sample.values, *ends, sample_weight=sample.weights, **parts)
            sample = with_assumed(bounded, assumed=sample.assumed and high is None)
        return CostEstimate(sample, None, self.design)


def _priced(
    y_score: Any, costs: ExampleCosts, design: Design, *, pos_label: Label = 1, **given: Any
) -> _Priced:
    allowed = ("y_true", "sample_weight", "groups", "strata", "low", "high")
    validate.options(given, "choosing a threshold for examples", allowed)
    if isinstance(y_score, ScoreCounts):
        raise InputTypeError(
            "counts",
            "costs of single examples need the score of each of them, and counts have none.",
            "Give y_score, and pos_label= for the decision that high scores lead to.",
        )
    low, high = (given.pop(name, None) for name in ("low", "high"))
    y_score, costs, *rows = validate.aligned(y_score=y_score, costs=costs, **given)
    given |= dict(zip(given, rows, strict=True))
    scores = validate.scores(y_score)
    validate.same_length({"y_score": len(scores), "costs": len(costs)})
    if len(costs.decisions) != 2 or pos_label not in costs.decisions:  # noqa: PLR2004 - one cut
        raise LabelError(
            "pos_label",
            "expected one of the two decisions that a threshold chooses between; the costs "
            f"have {costs.decisions}, and pos_label is {pos_label!r}.",
        )
    place = costs.decisions.index(pos_label)
    positive = costs.values[:, place] < costs.values[:, 1 - place]
    y_true, weights = given.get("y_true"), given.get("sample_weight")
    if y_true is not None:
        column = as_column(y_true, "y_true")
        validate.same_length({"y_true": len(column), "y_score": len(scores)})
        positive, _ = two_classes(column, pos_label, costs.decisions[1 - place])
    elif design.class_priors is not None:
        raise InputTypeError("y_true", "class priors need the actual class of each example.")
    part, parts = None, None
    if given.get("groups") is not None or given.get("strata") is not None:
        part, parts = Parts.of_rows(given.get("groups"), given.get("strata"))
        validate.same_length({part.name: len(part), "y_score": len(scores)})
    examples = JointExamples(
        (),
        np.where(positive, place, 1 - place),
        np.empty((len(scores), 0), dtype=np.intp),
        costs.values,
        costs.decisions,
        costs.decisions,
        None if weights is None else validate.weights(weights, len(scores), of="y_score"),
        parts,
        None if part is None else np.asarray(part.codes),
        high=None if costs.assumed else costs.high,
        scores={NAME: scores},
    )
    return _Priced(examples, pos_label, design, y_true is not None, (low, high))


# The two ways to choose.


def _capacity(
    rows: _Counted | _Priced, capacity: Any, volume: Any
) -> tuple[float | None, float | None]:
    """Return a capacity as a share of decisions, and their number."""
    if capacity is None:
        if volume is not None:
            raise InputTypeError("volume", "it is used only with a capacity; give capacity= too.")
        return None, None
    most = validate.one_number(capacity, "capacity")
    if most < 0:
        raise InputError("capacity", f"expected a number of alarms, 0 or more; got {most:g}.")
    volume = float(rows.counts.n) if volume is None else validate.positive(volume, "volume")
    return most / volume, volume


def _guarded(rows: _Counted | _Priced, choosing: Choosing) -> dict[str, Any]:
    """Choose a threshold as a verdict does, and judge its cost by cross-fitting."""
    chosen = rows.chosen(choosing)
    found = chosen.thresholds.get(COLUMN)
    reason = chosen.undecided[NAME] if found is None else found.reason
    if reason.startswith(IMPOSSIBLE):
        raise impossible(choosing)
    if found is None or (reason and choosing.limits):
        raise InputError(
            "counts", f"no threshold is chosen: {reason}.", f"Give more, or rule={MINIMUM!r}."
        )
    threshold = _above(rows.pos_label, found.cuts)
    if threshold is None:
        raise InputError(
            "costs",
            f"high scores would lead to {found.cuts[0][0]!r}: with these costs mistakes do not "
            "cost more than correct decisions.",
            "If the rows of the matrix are the actual classes, say so with rows=.",
        )
    results = rows.at(threshold)
    if reason:
        return {"threshold": threshold, "rule": _implied(reason), "chosen_on": NONE, **results}
    if found.cross_fitted and np.isfinite(threshold):
        results["judged"] = CorrectedEstimate.of(rows.held_out(chosen), results["judged"])
    return {"threshold": threshold, "rule": CHEAPEST, **results}


def _plain(rows: _Counted | _Priced, choosing: Choosing) -> float:
    """Return the threshold of least cost on the examples, or without costs the best in limits.

    Of equal ones it is the highest, which has the fewest alarms.
    """
    counts = in_population(rows.counts, rows.design)
    if choosing.limits or isinstance(rows, _Counted):
        check_both_classes(counts, "counts")
    sides, by_class = flagged_sums(counts), np.ones(2)
    if rows.design.class_priors is not None:
        priors = checked_priors(rows.design.class_priors, (counts.neg_label, counts.pos_label))
        by_class = priors / np.maximum([float(side[-1]) for side in sides], 1e-300)
    kept = within(choosing, sides, by_class, counts)
    if not kept:
        raise impossible(choosing)
    among, costs = slice(kept.start, kept.stop), rows.totals(sides, by_class)
    if costs is None:
        place = kept.start + _most_found(sides, among, fewest=choosing.min_recall is not None)
    else:
        least = costs[among].min() + ROUNDING * np.abs(costs).max()
        place = kept.start + int(np.argmax(costs[among] <= least))
    if 0 < place <= len(counts.thresholds):
        return validate.applicable(counts.thresholds[place - 1])
    return np.inf if place == 0 else -np.inf


def _most_found(sides: Sides, among: slice, *, fewest: bool) -> int:
    """Return the threshold of highest recall; if `fewest`, of those with fewest false alarms."""
    room = [ROUNDING * float(side[-1]) for side in sides]
    alarms, hits = (side[among] for side in sides)
    end = len(hits)
    if fewest:
        end = bisect_right(alarms, alarms[0] + room[0])
    return bisect_left(hits, hits[end - 1] - room[1], hi=end)
