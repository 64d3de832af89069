"""Evaluate and compare the costs, or the rates, of classifiers from labels and decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stakes._core import validate
from stakes.costs import CostMatrix, ExampleCosts
from stakes.counts import Confusion, CostSample, GroupedConfusion, PairedConfusion
from stakes.counts.joint import JointConfusion
from stakes.errors import DesignError, InputError, InputTypeError, LabelError
from stakes.infer._outcomes import CountTable, Design
from stakes.infer._unlabelled import (
    Known,
    check_matrix,
    missing_for_a_reason,
    partly_labelled,
)
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.ranking import Ranking
from stakes.infer.rates import RateDifferences, RateEstimates, positive_of, priors_with

MOST_LISTED = 1 << 15
"""The largest number of cells of a dense table of two models' decisions."""


def evaluate(
    y_true: Any,
    y_pred: Any,
    costs: CostMatrix | ExampleCosts,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    class_priors: Any = None,
    strata: Any = None,
    population: Any = None,
    impossible: Any = None,
    judge: Any = None,
    verified: Any = None,
    unlabelled: str | None = None,
    unit: str = "",
) -> CostEstimate:
    """Return what a classifier's decisions cost.

    Parameters
    ----------
    y_true : array_like, shape (n,)
        The actual class of each example; with ExampleCosts it may be None.
    y_pred : array_like, shape (n,)
        The decision for each example.
    costs : CostMatrix or ExampleCosts
        The cost of each decision for each class, or for each example.
    sample_weight : array_like, shape (n,), optional
        The sampling weight of each example: the inverse of the probability that it is in the test
        set. Not a number of repeats.
    groups : array_like, shape (n,), optional
        The group of each example, such as the patient, where those of a group are not independent.
    class_priors : mapping or sequence, optional
        The prevalence of each class in the target population, if it differs from the test set's.
    strata : array_like, shape (n,), or "class", optional
        The stratum of each example, such as a region or a range of scores, where each stratum was
        sampled separately; "class" when the numbers of examples of each class were fixed.
    population : mapping or number, optional
        From each stratum to its share of the target population, or to its number of rows, of which
        the examples are a part; without strata, the number of rows. By default a stratum's share
        is that of the examples, or of their weights.
    impossible : sequence of (decision, class), optional
        Cells that cannot occur; a costly one among them would widen the interval.
    judge : array_like, shape (n,), or mapping, optional
        Where only a random sample of the rows has labels (`y_true` is None or NaN elsewhere): the
        verdict of a judge, or of another model, on every row; a mapping for several judges. The
        estimate is post-stratified by decision and verdict, verdicts being merged until five rows
        of each have labels. The rows are the population; with ``population="infinite"``, a sample
        of it.
    verified : mapping, optional
        Where rows were labelled at random with a probability that depends on the decision: from
        each decision to that share. Refused where the share with labels differs by more than
        chance.
    unlabelled : "bounds", optional
        For labels that are missing for unknown reasons: the lower limit takes the lowest cost of
        each row without a label, the upper limit the highest.
    unit : str, optional
        The unit of the costs, such as "USD".

    Returns
    -------
    CostEstimate
        The cost per decision and in total, with methods for intervals and summaries.

    Notes
    -----
    The cost per decision is Σ P(i, j) C(i, j) (thesis, equation 2.4), with P(i, j) the share of the
    examples that are of class j and for which i was decided; with class priors π, P(i, j) = π_j
    M(i, j)/n_j. Intervals are BCOST's and others: see ``CostEstimate.interval``.

    References
    ----------
    Margineantu & Dietterich (2000), section 3.1.

    Margineantu (2001), equation 2.4.

    Examples
    --------
    >>> from stakes import CostMatrix, evaluate
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10,
    ...                                pos_label="fraud", neg_label="ok")
    >>> evaluate(["ok", "ok", "fraud", "ok"], ["ok", "fraud", "ok", "ok"], costs).cost
    2.75

    With labels on 50 of 200 rows, and another model's verdict on each:

    >>> y_true = ["ok"] * 44 + ["fraud"] * 6 + [None] * 150
    >>> y_pred = ["ok"] * 46 + ["fraud"] * 4 + ["ok"] * 140 + ["fraud"] * 10
    >>> verdicts = ["ok"] * 40 + ["fraud"] * 10 + ["ok"] * 120 + ["fraud"] * 30
    >>> estimate = evaluate(y_true, y_pred, costs, judge=verdicts)
    >>> round(estimate.cost, 4), [round(each, 4) for each in estimate.interval()]
    (0.4333, [0.1, 1.15])
    >>> print(estimate.worth.summary())
    As good as 56 labels at random; 50 were given.
    """
    known = _known(judge, verified, unlabelled)
    sampling = Sampling(sample_weight, groups, strata)
    matter: Any = costs
    predictions = {"y_pred": y_pred}
    table: CountTable
    if known is not None:
        _check_sampling(costs, sampling, class_priors)
        table, design = partly_labelled(
            matter,
            y_true,
            predictions,
            known,
            groups=groups,
            strata=strata,
            population=population,
            impossible=impossible,
        )
        return CostEstimate(table, matter, design, unit)
    design = _design(strata, class_priors, impossible, population)
    table, matrix, design = _inferred(costs, y_true, predictions, sampling, design)
    return CostEstimate(table, matrix, design, unit)


def compare(
    y_true: Any,
    y_pred_1: Any,
    y_pred_2: Any,
    costs: CostMatrix | ExampleCosts,
    *,
    names: tuple[str, str] = ("first", "second"),
    sample_weight: Any = None,
    groups: Any = None,
    class_priors: Any = None,
    strata: Any = None,
    population: Any = None,
    impossible: Any = None,
    judge: Any = None,
    verified: Any = None,
    unlabelled: str | None = None,
    ids: tuple[Any, Any] | None = None,
    unit: str = "",
) -> CostDifference:
    """Compare what two classifiers cost on the same examples.

    Parameters
    ----------
    y_true, y_pred_1, y_pred_2 : array_like, shape (n,)
        The actual class of each example, and each classifier's decision.
    costs : CostMatrix or ExampleCosts
        The cost of each decision for each class, or for each example.
    names : pair of str
        The names of the classifiers.
    sample_weight, groups, class_priors, strata, population, impossible, unit
        As in `evaluate`.
    judge, verified, unlabelled
        As in `evaluate`, for rows without labels; the shares in `verified` are those of pairs of
        decisions. Rows for which both decided the same need no label.
    ids : pair of array_like, optional
        The identifiers of the examples of `y_pred_1` and of `y_pred_2`, to check that both are for
        the same examples in the same order.

    Returns
    -------
    CostDifference
        The first's cost per decision minus the second's, with methods for tests and intervals.

    Notes
    -----
    The difference per decision is Σ M(i1, i2, j) [C(i1, j) - C(i2, j)]/n, with M(i1, i2, j) the
    number of examples of class j for which the first decided i1 and the second i2 (section 3.2 of
    the paper). Its tests and intervals are BDELTACOST's and others: see ``CostDifference.test``.

    References
    ----------
    Margineantu & Dietterich (2000), section 3.2.

    Margineantu (2001), Table 5.2.

    Examples
    --------
    >>> from stakes import CostMatrix, compare
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true = [0] * 60 + [1] * 40
    >>> first = [0] * 50 + [1] * 50
    >>> second = [0] * 80 + [1] * 20
    >>> print(compare(y_true, first, second, costs, names=("eager", "shy")).summary())
    eager costs 1.9 less per decision than shy (-2.806 to -1.06 with 95% confidence): eager is
    cheaper (p = 2.1e-06).
    """
    if ids is not None:
        _check_same_examples(ids, len(y_pred_1))
    known = _known(judge, verified, unlabelled)
    sampling = Sampling(sample_weight, groups, strata)
    matter: Any = costs
    predictions = {"y_pred_1": y_pred_1, "y_pred_2": y_pred_2}
    table: CountTable
    if known is not None:
        _check_sampling(costs, sampling, class_priors)
        table, design = partly_labelled(
            matter,
            y_true,
            predictions,
            known,
            groups=groups,
            strata=strata,
            population=population,
            impossible=impossible,
        )
        return CostDifference(table, matter, names, design, unit)
    design = _design(strata, class_priors, impossible, population)
    table, matrix, design = _inferred(costs, y_true, predictions, sampling, design)
    return CostDifference(table, matrix, names, design, unit)


def compare_many(
    y_true: Any,
    predictions: Mapping[str, Any],
    costs: CostMatrix | ExampleCosts,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    class_priors: Any = None,
    strata: Any = None,
    population: Any = None,
    impossible: Any = None,
    unit: str = "",
) -> Ranking:
    """Compare what several classifiers cost on the same examples.

    Parameters
    ----------
    y_true : array_like, shape (n,)
        The actual class of each example; with ExampleCosts it may be None.
    predictions : mapping
        From the name of each classifier to its decisions.
    costs : CostMatrix or ExampleCosts
        The cost of each decision for each class, or for each example.
    sample_weight, groups, class_priors, strata, population, impossible, unit
        As in `evaluate`.

    Returns
    -------
    Ranking
        The cost of each classifier, the cheapest compared with the others, and those that it was
        not shown to cost less than.

    Notes
    -----
    Each pair is compared as by `compare`, by Σ M(i1, i2, j) [C(i1, j) - C(i2, j)]/n. Constant
    predictions compete, too. The data pick the cheapest, so p-values are adjusted for the range of
    all costs: see ``Ranking.comparisons``.

    References
    ----------
    Margineantu & Dietterich (2000), section 3.2.

    Tukey (1953).

    Examples
    --------
    >>> from stakes import CostMatrix, compare_many
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true = [0] * 600 + [1] * 400
    >>> print(compare_many(y_true, {
    ...     "eager": [0] * 500 + [1] * 500, "shy": [0] * 800 + [1] * 200,
    ... }, costs).summary())
    eager is the cheapest of 4 (2 models, 2 constant predictions): 0.1 each, with 95% confidence.
    Choosing eager costs no more per decision than the best of the 4 (95% confidence).
    """
    check_costs(costs)
    if not isinstance(predictions, Mapping):
        raise InputTypeError(
            "predictions",
            "expected a mapping from each classifier's name to its decisions, got "
            f"{type(predictions).__name__}.",
        )
    if len(predictions) < 2:  # noqa: PLR2004 - nothing to compare
        raise InputError(
            "predictions", f"expected at least two classifiers, got {len(predictions)}."
        )
    sampling = Sampling(sample_weight, groups, strata)
    design = _design(strata, class_priors, impossible, population)
    if isinstance(costs, ExampleCosts):
        samples, spread = CostSample.of_models(
            costs, predictions, y_true=y_true, impossible=design.impossible, **sampling.arrays
        )
        every = {f"always {each}": [each] * len(costs) for each in costs.decisions}
        constants, _ = CostSample.of_models(costs, every, y_true=y_true, **sampling.arrays)
        design = replace(design, impossible=None)
        return Ranking.from_samples(samples, spread, unit, design, constants)
    joint = JointConfusion.from_labels(
        y_true, predictions, labels=costs.labels, decisions=costs.decisions, **sampling.arrays
    )
    return Ranking.from_joint(joint, costs, unit, design)


def evaluate_rates(
    y_true: Any,
    y_pred: Any,
    *,
    pos_label: Any = None,
    labels: Any = None,
    prevalence: float | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    class_priors: Any = None,
    strata: Any = None,
    population: Any = None,
) -> RateEstimates:
    """Return recall, precision, F1 and the other usual rates, with confidence intervals.

    Parameters
    ----------
    y_true, y_pred : array_like, shape (n,)
        The actual class of each example, and the decision.
    pos_label : label, optional
        The positive class; by default 1 where the classes are 0 and 1. With more than two classes
        it may be left out: ``of(label)`` then has the rates of a class against the rest.
    labels : sequence, optional
        All classes, including those that do not occur; by default those that occur.
    prevalence : float, optional
        The share of the positive class in the target population, if it differs from the test
        set's; it changes precision, NPV, F1, accuracy, MCC and kappa.
    sample_weight, groups, class_priors, strata, population
        As in `evaluate`.

    Returns
    -------
    RateEstimates
        The rates, by name, with their intervals.

    Notes
    -----
    Recall is TP/(TP + FN), specificity TN/(TN + FP), precision TP/(TP + FP), NPV TN/(TN + FN), F1
    2 TP/(2 TP + FP + FN). The intervals are those of `RateEstimates`.

    References
    ----------
    Clopper & Pearson (1934).

    Zou & Donner (2008).

    Examples
    --------
    >>> from stakes import evaluate_rates
    >>> rates = evaluate_rates([0] * 60 + [1] * 40, [0] * 52 + [1] * 46 + [0] * 2)
    >>> print(rates.summary())
    rate                  value  95% CI from     to
    recall (sensitivity)  95.0%         84.1%  99.4%
    specificity           86.7%         75.9%  94.0%
    false positive rate   13.3%          6.0%  24.1%
    false negative rate    5.0%          0.6%  15.9%
    precision (PPV)       82.6%         69.2%  92.1%
    NPV                   96.3%         88.0%  99.5%
    F1                    88.4%         79.2%  94.4%
    accuracy              90.0%         82.7%  95.1%
    balanced accuracy     90.8%         83.2%  95.1%
    MCC                   0.803         0.658  0.900
    Cohen's kappa         0.797         0.649  0.900

    With a prevalence of 1%:

    >>> evaluate_rates([0] * 60 + [1] * 40, [0] * 52 + [1] * 46 + [0] * 2,
    ...                prevalence=0.01).precision.value
    0.067...
    """
    sampling = Sampling(sample_weight, groups, strata)
    table: Any = _listed(y_true, [y_pred], sampling, {"labels": labels})
    positive = positive_of(table.labels, pos_label)
    priors = priors_with(table.labels, positive, prevalence, class_priors)
    return RateEstimates(table, positive, _design(strata, priors, None, population))


def compare_rates(
    y_true: Any,
    y_pred_1: Any,
    y_pred_2: Any,
    *,
    names: tuple[str, str] = ("first", "second"),
    pos_label: Any = None,
    labels: Any = None,
    prevalence: float | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    class_priors: Any = None,
    strata: Any = None,
    population: Any = None,
) -> RateDifferences:
    """Compare the usual rates of two models on the same examples.

    Parameters
    ----------
    y_true, y_pred_1, y_pred_2 : array_like, shape (n,)
        The actual class of each example, and each model's decision.
    names : pair of str
        The names of the models.
    pos_label, labels, prevalence, sample_weight, groups, class_priors, strata, population
        As in `evaluate_rates`.

    Returns
    -------
    RateDifferences
        The rates of both, and their differences, with intervals.

    Notes
    -----
    The examples are the same, so the difference of two rates varies less than with two independent
    test sets. The intervals are those of `RateDifferences`.

    References
    ----------
    Zou & Donner (2008).

    Examples
    --------
    >>> from stakes.infer import compare_rates
    >>> y_true = [0] * 60 + [1] * 40
    >>> eager, shy = [0] * 50 + [1] * 50, [0] * 80 + [1] * 20
    >>> found = compare_rates(y_true, eager, shy, names=("eager", "shy")).rate("recall")
    >>> found.difference, round(found.low, 3), round(found.high, 3), found.shown
    (0.5, 0.311, 0.659, True)
    """
    sampling = Sampling(sample_weight, groups, strata)
    many = Confusion.from_labels(y_true, y_pred_1, labels=labels).labels
    if len(many) ** 3 > MOST_LISTED:
        raise InputError(
            "y_true",
            f"differences of rates are for up to {int(MOST_LISTED ** (1 / 3))} classes, there are "
            f"{len(many)}.",
            "Merge the rare classes, or compare costs.",
        )
    table: Any = _listed(y_true, [y_pred_1, y_pred_2], sampling, {"labels": labels})
    positive = positive_of(table.labels, pos_label)
    priors = priors_with(table.labels, positive, prevalence, class_priors)
    design = _design(strata, priors, None, population)
    return RateDifferences(table, positive, names, design)


@dataclass(frozen=True)
class Sampling:
    """The sampling design of the rows, as arrays with an entry for each row.

    Attributes
    ----------
    sample_weight, groups : array_like or None
        The weight and the group of each row.
    strata : array_like, "class" or None
        The stratum of each row.
    """

    sample_weight: Any = None
    groups: Any = None
    strata: Any = None

    @property
    def apart(self) -> bool:
        """Whether rows are counted separately by group or stratum."""
        return self.groups is not None or not (self.strata is None or self.by_class)

    @property
    def by_class(self) -> bool:
        """Whether the strata are the classes, which the counts contain anyway."""
        return isinstance(self.strata, str)

    @property
    def arrays(self) -> dict[str, Any]:
        """The keyword arguments that the rows are counted with."""
        return {
            "sample_weight": self.sample_weight,
            "groups": self.groups,
            "strata": None if self.by_class else self.strata,
        }


def count_decisions(
    costs: CostMatrix, y_true: Any, predictions: Sequence[Any], sampling: Sampling
) -> Confusion | PairedConfusion | GroupedConfusion | JointConfusion:
    """Return the table of one or two models' decisions, with the labels of the costs."""
    names = {"labels": costs.labels, "decisions": costs.decisions}
    if len(predictions) > 1 and len(costs.labels) * len(costs.decisions) ** 2 > MOST_LISTED:
        both = dict(zip(("y_pred_1", "y_pred_2"), predictions, strict=True))
        return JointConfusion.from_labels(y_true, both, **sampling.arrays, **names).pair(*both)
    return _listed(y_true, predictions, sampling, names)


def _listed(
    y_true: Any, predictions: Sequence[Any], sampling: Sampling, names: Mapping[str, Any]
) -> Confusion | PairedConfusion | GroupedConfusion:
    """Return the dense table of one or two models' decisions."""
    if sampling.apart:
        second = predictions[1] if len(predictions) > 1 else None
        return GroupedConfusion.from_labels(
            y_true, predictions[0], y_pred_2=second, **sampling.arrays, **names
        )
    kind = Confusion if len(predictions) == 1 else PairedConfusion
    return kind.from_labels(y_true, *predictions, sample_weight=sampling.sample_weight, **names)


def _inferred(
    costs: Any,
    y_true: Any,
    predictions: Mapping[str, Any],
    sampling: Sampling,
    design: Design,
) -> tuple[CountTable, CostMatrix | None, Design]:
    """Return the table of one or two models' decisions, the cost matrix if any, and the design."""
    check_costs(costs)
    decided = list(predictions.values())
    if isinstance(costs, ExampleCosts):
        table = _sample(costs, y_true, decided, sampling, design.impossible)
        return table, None, replace(design, impossible=None)
    try:
        return count_decisions(costs, y_true, decided, sampling), costs, design
    except LabelError as error:
        raise missing_for_a_reason(error) from None


def _known(*stated: Any) -> Known | None:
    """Return the assumptions about rows without labels, or None without any."""
    return Known(*stated) if any(each is not None for each in stated) else None


def _check_sampling(costs: Any, sampling: Sampling, class_priors: Any) -> None:
    """Raise if the costs or the sampling cannot be combined with rows without a label."""
    check_costs(costs)
    check_matrix(costs)
    for name, value in (("sample_weight", sampling.sample_weight), ("class_priors", class_priors)):
        if value is not None:
            raise DesignError(
                name, "with rows that have no label, the rows that are given are the population."
            )
    if sampling.by_class:
        raise DesignError("strata", "rows without a label have no known class to be drawn by.")


def _sample(
    costs: ExampleCosts,
    y_true: Any,
    predictions: Sequence[Any],
    sampling: Sampling,
    impossible: Any,
) -> CostSample:
    """Return the costs of single examples, or the differences of two models' costs."""
    if y_true is not None:
        validate.same_length({"y_true": validate.size_of(y_true, "y_true"), "costs": len(costs)})
    return CostSample.from_labels(
        costs, *predictions, y_true=y_true, impossible=impossible, **sampling.arrays
    )


def check_costs(costs: Any) -> None:
    """Raise if costs are neither a CostMatrix nor ExampleCosts."""
    if not isinstance(costs, CostMatrix | ExampleCosts):
        raise InputTypeError(
            "costs",
            f"expected a CostMatrix or ExampleCosts, got {type(costs).__name__}.",
            "For an array use CostMatrix(values, rows=, labels=); for CostRanges, their mean() "
            "or cost_sensitivity.",
        )


def _design(strata: Any, class_priors: Any, impossible: Any, population: Any) -> Design:
    """Return the part of the design that is not kept with the counts."""
    return Design(class_priors, strata if isinstance(strata, str) else None, impossible, population)


def _check_same_examples(ids: Any, n: int) -> None:
    if not isinstance(ids, tuple | list) or len(ids) != 2:  # noqa: PLR2004 - a pair
        raise InputTypeError("ids", "expected a pair of arrays, one for each classifier.")
    one, other = (np.atleast_1d(validate.plain_array(each, "ids")) for each in ids)
    validate.same_length({"y_pred_1": n, "ids[0]": len(one), "ids[1]": len(other)})
    differ = one != other
    if differ.any():
        row = int(np.argmax(differ))
        raise InputError(
            "ids",
            f"position {row} is {one[row]!r} for y_pred_1 and {other[row]!r} for y_pred_2: the "
            "predictions are not of the same examples in the same order.",
            "Join them on the id.",
        )
