"""Thresholds for the scores of several models, and their decisions on the rows.

The threshold to deploy is chosen on all rows. Its cost is estimated by cross-fitting: each fold is
decided by the threshold that the other folds choose. Both tables of decisions are returned.

Where each row has costs of its own, the cost of a threshold is a sum over rows. It is chosen by the
same rule: the smooth estimate takes the average cost of each mistake, and is replaced where the
rows contradict it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label
from stakes._core.typing import Booleans, Floats
from stakes._core.validate import applicable
from stakes.costs import CostMatrix
from stakes.counts import JointConfusion
from stakes.errors import InputError
from stakes.infer._outcomes import SIMPLE, Design
from stakes.policies._limits import Limits, flagged_sums, impossible, in_population, within
from stakes.policies._rows import (
    FOLDS,
    Folds,
    Rows,
    Steps,
    above,
    check_scales,
    ends_of,
    places_of,
    same_rows,
    short,
)
from stakes.policies._rule import ScoreTables, cheapest_cuts, expected_thresholds, running
from stakes.predictions.examples import IN_SAMPLE, JointExamples
from stakes.predictions.scores import JointScores

TWO_ERRORS = 1.96
"""Standard errors by which a threshold must cost more for the difference to be shown."""

CLEARLY = 4.0
"""Standard errors by which the AUC must be below one half for scores to be reported as reversed."""

IMPOSSIBLE = "no threshold keeps within"

Codes = NDArray[np.signedinteger]


class ImpossibleLimitsError(InputError):
    """No threshold of a model keeps within the limits, on all rows or on those without a fold."""


@dataclass(frozen=True, eq=False)
class Choosing(Limits):
    """Settings of the choice of thresholds: those of `Limits`, and these.

    Attributes
    ----------
    fixed : tuple of (str, float)
        Models with a stated threshold, which competes in addition to the chosen one.
    validation : JointScores, JointExamples or None
        Other rows to choose thresholds on; with costs of their own if the rows to judge by have.

    Examples
    --------
    >>> from stakes.policies import Choosing
    >>> Choosing(min_recall=0.9).min_recall
    0.9
    """

    fixed: tuple[tuple[str, float], ...] = ()
    validation: JointScores | JointExamples | None = None


@dataclass(frozen=True)
class Threshold:
    """The threshold of one model, or its thresholds where there are more than two decisions.

    Attributes
    ----------
    model : str
        The model.
    cuts : tuple of (decision, float)
        Each decision with the lowest score that leads to it, highest first; still lower scores lead
        to `below`.
    below : label
        The decision for all lower scores.
    cross_fitted : bool
        Whether the cost is judged on folds that did not choose it.
    range_ : pair of float, or None
        The lowest and the highest threshold not shown to cost more on these rows.
    reason : str
        Why it was not chosen on the rows; empty where it was.
    reversed_ : float or None
        The area under the ROC curve, where it is clearly below one half.
    """

    model: str
    cuts: tuple[tuple[Label, float], ...]
    below: Label
    cross_fitted: bool
    range_: tuple[float, float] | None = None
    reason: str = ""
    reversed_: float | None = None


@dataclass(frozen=True)
class Chosen:
    """Thresholds, and the decisions that they lead to.

    Attributes
    ----------
    thresholds : mapping of str to Threshold
        By the name of their column in the tables.
    held_out, in_sample : JointConfusion
        The decisions of models as given, in columns of their names, and those by thresholds: on
        folds that did not choose them, and on all rows.
    undecided : mapping of str to str
        Models for which no threshold could be chosen, and why.
    """

    thresholds: Mapping[str, Threshold]
    held_out: JointConfusion
    in_sample: JointConfusion
    undecided: Mapping[str, str]


def choose(scores: JointScores, costs: CostMatrix, design: Design, choosing: Choosing) -> Chosen:
    """Choose a threshold for each model that has scores.

    Parameters
    ----------
    scores : JointScores
        The scores and decisions of the models, row by row.
    costs : CostMatrix
        The costs of decisions.
    design : Design
        The class priors, and the population of the strata.
    choosing : Choosing
        The settings of the choice.
    """
    task = task_of(scores, costs, design, choosing)
    rows, made = task.rows, task.decided()
    given = dict(zip(scores.deciding, rows.decided, strict=True))
    return Chosen(
        made.thresholds,
        _joint(rows, {**given, **made.held_out}, costs),
        _joint(rows, {**given, **made.in_sample}, costs),
        made.undecided,
    )


def task_of(scores: JointScores, costs: CostMatrix, design: Design, choosing: Choosing) -> Task:
    """Return the task of choosing for each model; parameters are those of `choose`."""
    rows = Rows.of(scores)
    values = costs.values_for((scores.neg_label, scores.pos_label), costs.decisions)
    order = np.argsort(values[:, 1] - values[:, 0], kind="stable")  # from the highest scores
    other = None
    if choosing.validation is not None:
        if not isinstance(choosing.validation, JointScores):
            raise InputError("validation", "its rows have costs of their own, and these have not.")
        other = Rows.of(choosing.validation)
    check_others(rows, other)
    each, by_class = (other or rows).class_weights(design)
    weighted = values[order] * by_class
    named = costs.labels, costs.decisions
    return Task(rows, other, *named, order, weighted, each, choosing, by_class, design)


def check_others(rows: Rows, other: Rows | None) -> None:
    """Raise an error if most of the rows to judge by are among those to choose on.

    The scores of both must be on the same scale.
    """
    if other is None:
        return
    check_scales(rows.scores, other.scores)
    if same_rows(rows, other):
        raise InputError(
            "validation",
            "most of the rows that thresholds are to be judged by are among them.",
            "Give other rows, or none: then thresholds are judged on folds.",
        )


def _joint(rows: Rows, columns: Mapping[str, Codes], costs: CostMatrix) -> JointConfusion:
    scores = rows.scores
    places = [costs.labels.index(label) for label in (scores.neg_label, scores.pos_label)]
    return JointConfusion.from_codes(
        np.array(places)[rows.positive.astype(np.intp)],
        columns,
        labels=costs.labels,
        decisions=costs.decisions,
        amounts=rows.weights,
        part=rows.part,
        parts=scores.parts,
    )


@dataclass(frozen=True, eq=False)
class Made:
    """Thresholds and their decisions, row by row; columns are named as those of `Chosen`."""

    thresholds: dict[str, Threshold]
    held_out: dict[str, Codes]
    in_sample: dict[str, Codes]
    undecided: dict[str, str]


@dataclass(frozen=True, eq=False)
class Training:
    """The rows on which the threshold of a model is chosen, without each fold, and all of them.

    Attributes
    ----------
    steps : Steps
        The possible cuts.
    folds : ndarray of int
        The fold of each row.
    tables : ScoreTables
        A table without each fold, and one of all rows.
    allowed : ndarray of bool, or None
        The cuts that keep within the limits.
    """

    steps: Steps
    folds: Folds
    tables: ScoreTables
    allowed: Booleans | None

    @cached_property
    def used(self) -> list[NDArray[np.intp]]:
        """The steps that have rows, in each table."""
        return [np.flatnonzero(each) for each in self.tables.negatives + self.tables.positives]

    def ends(self, cuts: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return after how many distinct scores each fold's decisions end.

        Where no cut keeps within the limits without a fold, the cut to deploy is used there.
        """
        found = [ends_of(self.steps, *each) for each in zip(cuts[:-1], self.used, strict=False)]
        if self.allowed is not None:
            for fold in np.flatnonzero(~self.allowed[:-1].any(axis=1)):
                found[fold] = self.steps.bounds[cuts[-1]]
        return np.stack(found)


@dataclass(eq=False)
class Task:
    """The choice of thresholds for several models on the same rows.

    Attributes
    ----------
    rows, other : Rows
        The rows to judge by, and other rows to choose on, if any.
    labels, decisions : sequence
        The classes and the decisions.
    order : ndarray of int
        The decisions from the highest scores to the lowest.
    costs : ndarray, shape (decisions, 2)
        The cost of each for a negative and a positive row in the target population, in that order.
    each : ndarray or None
        The weight of each row to choose on.
    choosing : Choosing
        The settings of the choice.
    by_class : ndarray, shape (2,)
        The frequency of each class in the target population, relative to that in the rows.
    design : Design
        The class priors and the population.
    gains : ndarray or None
        The extra cost of the first of two decisions over the second, where each row to choose on
        has costs of its own.
    prices : ndarray or None
        The costs of the rows to judge by, by decision from the highest scores to the lowest, where
        they have costs of their own.
    """

    rows: Rows
    other: Rows | None
    labels: Sequence[Label]
    decisions: Sequence[Label]
    order: NDArray[np.intp]
    costs: Floats
    each: Floats | None
    choosing: Choosing
    by_class: Floats
    design: Design = SIMPLE
    gains: Floats | None = None
    prices: Floats | None = None

    def __post_init__(self) -> None:
        self.chosen_on = self.rows if self.other is None else self.other
        self.lacking = self.chosen_on.too_few(self.each)
        self.weight = 1.0
        if self.each is not None:
            ordered = np.sort(self.each)  # so that the order of rows changes no digit
            self.weight = float((ordered**2).sum() / ordered.sum())

    def decided(self) -> Made:
        """Choose for all models, and add the thresholds that were stated."""
        made = Made({}, {}, {}, {})

        def add(column: str, result: tuple[Threshold, Any, Any]) -> None:
            made.thresholds[column], deployed, fitted = result
            made.in_sample[column], made.held_out[column] = map(self.codes, (deployed, fitted))

        for at, name in enumerate(self.rows.scores.names):
            chosen = self.model(at, name)
            if isinstance(chosen, str):
                made.undecided[name] = chosen
            else:
                add(f"{name}@", chosen)
        for name, value in self.choosing.fixed:
            add(f"{name}@{value!r}", self.stated(name, value))
        return made

    def codes(self, places: NDArray[Any]) -> Codes:
        """Convert positions in the order of scores to positions among the decisions."""
        if len(self.order) == 2:  # noqa: PLR2004 - looking them up takes thirty times as long
            return np.asarray(1 - places if self.order[0] else places)
        return np.asarray(self.order.astype(np.int16)[places])

    def model(self, at: int, name: str) -> Any:
        """Return a model's threshold with its in-sample and held-out decisions; or why not.

        Decisions are positions in the order of scores.
        """
        values, ranks = self.rows.scores.thresholds[at], self.rows.ranks[at]
        if self.lacking:
            if self.gains is not None:  # with costs of its own, each row implies another threshold
                return self.lacking
            return self._by_costs(name, values, ranks)
        try:
            if self.other is not None:
                return self._on_others(name, values, ranks)
            return self._cross_fitted(at, name, values, ranks)
        except ImpossibleLimitsError:
            return f"{IMPOSSIBLE} the limits"

    def stated(self, name: str, threshold: float) -> tuple[Threshold, Any, Any]:
        """Return a threshold that was stated, and its decisions."""
        scores = self.rows.scores
        if name not in scores.names:
            raise InputError(
                f"{name}@{threshold:g}", f"the model {name!r} has no scores to apply it to."
            )
        if len(self.costs) != 2:  # noqa: PLR2004
            raise InputError(f"{name}@{threshold:g}", "one threshold is for two decisions.")
        at = scores.names.index(name)
        ends = np.array([above(scores.thresholds[at], threshold)])
        return self._same(name, ends, [threshold], self.rows.ranks[at], "")

    def _cross_fitted(self, at: int, name: str, values: Floats, ranks: NDArray[Any]) -> Any:
        fitted = self.training(at, values, ranks)
        steps, training = fitted.steps, fitted.tables
        cuts = cheapest_cuts(training, self.costs, fitted.allowed)
        deployed, ends = cuts[-1], fitted.ends(cuts)
        held_out = places_of(ranks, [each[fitted.folds] for each in ends.T.astype(ranks.dtype)])
        threshold = self._threshold(name, [steps.threshold(cut) for cut in deployed])
        total = np.stack([training.negatives[-1], training.positives[-1]])
        within = None
        if self.gains is None:
            within = _equally_good(steps, deployed, total, self.costs, self.weight)
        wrong = _reversed(total, self.weight)
        threshold = replace(threshold, cross_fitted=True, range_=within, reversed_=wrong)
        places = places_of(ranks, steps.bounds[deployed])
        return threshold, places, held_out

    def training(self, at: int, values: Floats, ranks: NDArray[Any]) -> Training:
        """Return the rows to choose on without each fold, and all of them."""
        rows = self.rows
        places = np.empty(len(self.order), dtype=np.int64)
        places[self.order] = np.arange(len(self.order))
        folds, order = rows.dealt(at, places, self.each, self.prices)
        steps = Steps.of(values, ranks, rows.positive)
        tables = self.tables(steps, ranks, folds, FOLDS, order)
        return Training(steps, folds, tables, self.allowed(at, steps, tables))

    def tables(
        self,
        steps: Steps,
        ranks: NDArray[Any],
        folds: Folds,
        count: int,
        order: NDArray[np.intp] | None = None,
    ) -> ScoreTables:
        """Return tables of the rows to choose on, without each fold and all; for one fold, all.

        With an order, sums of weights are taken in it, so that no order of rows changes a digit.
        """
        rows = self.chosen_on
        weighted = order is not None and (self.each is not None or self.gains is not None)
        at: Any = order if weighted else slice(None)

        def without(each: Floats | None) -> Floats:
            chosen = None if each is None else each[at]
            tables = steps.tables(ranks[at], rows.positive[at], folds[at], count, chosen)
            total = tables.sum(axis=1, keepdims=True)
            return total if count == 1 else np.concatenate([total - tables, total], axis=1)

        training = np.maximum(without(self.each), 0)
        gains = squares = None
        if self.gains is not None:
            weights = 1.0 if self.each is None else self.each
            gains = without(weights * self.gains)
            squares = np.maximum(without(weights * self.gains**2), 0)
        return ScoreTables(training[1], training[0], self.weight, gains, squares)

    def allowed(self, at: int, steps: Steps, tables: ScoreTables) -> Booleans | None:
        """Return the cuts that keep within the limits in the target population.

        Limits with assurance are those of all rows, also for the folds.
        """
        if not self.choosing.limits:
            return None
        if len(self.costs) != 2:  # noqa: PLR2004
            names = ", ".join(self.choosing.limits)
            raise InputError(names, "limits are for two decisions, the costs have more.")
        cuts = np.arange(len(steps.bounds))
        if self.choosing.assurance is not None:
            kept = [self._assured(at)]
            cuts = steps.bounds + (cuts == cuts[-1])  # the last flags every score, on all rows
        else:
            sums = zip(running(tables.negatives), running(tables.positives), strict=True)
            kept = [within(self.choosing, each, self.by_class) for each in sums]
        if not kept[-1]:
            raise ImpossibleLimitsError(*impossible(self.choosing).args)
        keep = np.stack([(cuts >= each.start) & (cuts < each.stop) for each in kept])
        return np.broadcast_to(keep, (len(tables.positives), len(cuts)))

    def _assured(self, at: int) -> range:
        """Return the thresholds of a model that keep the limits with assurance."""
        scores = self.chosen_on.scores
        counts = in_population(scores.single(scores.names[at]), self.design)
        return within(self.choosing, flagged_sums(counts), self.by_class, counts)

    def _on_others(self, name: str, values: Floats, ranks: NDArray[Any]) -> Any:
        """Choose the threshold on the rows of another file."""
        other = self.other
        if other is None or name not in other.scores.names:
            return "the validation rows have no scores of it"
        place = other.scores.names.index(name)
        own, theirs = other.scores.thresholds[place], other.ranks[place]
        steps = Steps.of(own, theirs, other.positive)
        one_fold = np.zeros(len(theirs), dtype=np.int8)
        tables = self.tables(steps, theirs, one_fold, 1)
        cuts = cheapest_cuts(tables, self.costs, self.allowed(place, steps, tables))[0]
        thresholds = [steps.threshold(cut) for cut in cuts]
        ends = np.array([above(values, each) for each in thresholds])
        return self._same(name, ends, thresholds, ranks, "")

    def _by_costs(self, name: str, values: Floats, ranks: NDArray[Any]) -> Any:
        """Use the thresholds that costs imply for probabilities: there are too few rows."""
        if values[0] > 1 or values[-1] < 0:
            return f"{self.lacking} to choose a threshold on, and its scores are not probabilities"
        thresholds = [short(each, values) for each in expected_thresholds(self.costs)]
        ends = np.array([above(values, each) for each in thresholds])
        reason = f"its scores are taken as probabilities, because {self.lacking}"
        return self._same(name, ends, thresholds, ranks, reason)

    def _same(
        self,
        name: str,
        ends: NDArray[Any],
        thresholds: Sequence[float],
        ranks: NDArray[Any],
        reason: str,
    ) -> tuple[Threshold, Any, Any]:
        """Return a threshold that the rows did not choose."""
        places = places_of(ranks, ends)
        return replace(self._threshold(name, thresholds), reason=reason), places, places

    def _threshold(self, name: str, thresholds: Sequence[float]) -> Threshold:
        *by_score, below = [self.decisions[place] for place in self.order]
        cuts, last = [], np.inf
        for decision, value in zip(by_score, thresholds, strict=True):
            if value < last:
                cuts.append((decision, applicable(value)))
            last = value
        if not cuts:
            cuts = [(by_score[0], np.inf)]
        elif len(cuts) > 1 and cuts[-1][1] == -np.inf:  # no score is low enough for the last one
            below = cuts.pop()[0]
        return Threshold(name, tuple(cuts), below, cross_fitted=False)


def _reversed(table: Floats, weight: float) -> float | None:
    """Return the area under the ROC curve if it is significantly below one half."""
    negatives, positives = table
    sizes = table.sum(axis=1)
    higher = np.cumsum(positives) - positives / 2  # positives above, and half of the ties
    area = float(higher @ negatives) / float(sizes.prod())
    error = np.sqrt(weight * sizes.sum() / (12 * sizes.prod()))
    return area if area < 0.5 - CLEARLY * error else None


def _equally_good(
    steps: Steps, cuts: NDArray[Any], table: Floats, costs: Floats, weight: float
) -> tuple[float, float] | None:
    """Return the range of thresholds not shown to cost more on these rows than the chosen one.

    The test of a cut is the score test on the rows between it and the chosen one. If both cuts cost
    the same, the difference on r rows has the variance r c₀ c₁; one row of each class is added.
    """
    if len(cuts) != 1:
        return None
    sums = [np.concatenate([[0.0], np.cumsum(side)]) for side in table]
    loss = costs[0] - costs[1]  # of the first decision instead of the second, for each class
    moved = [each - each[cuts[0]] for each in sums]
    more = loss[0] * moved[0] + loss[1] * moved[1]
    rows = np.abs(moved[0]) + np.abs(moved[1])
    variance = weight * (rows * abs(loss[0] * loss[1]) + weight * (loss**2).sum())
    good = np.flatnonzero(more <= TWO_ERRORS * np.sqrt(variance))
    return steps.threshold(int(good[-1])), steps.threshold(int(good[0]))


@dataclass(frozen=True)
class ChosenRows:
    """Thresholds, and the rows with the decisions that they lead to.

    Attributes
    ----------
    thresholds : mapping of str to Threshold
        By the name of their column.
    examples : JointExamples
        The rows, with the held-out decisions in those columns and the in-sample decisions in
        columns of their own.
    held_out, in_sample : JointConfusion
        The decisions.
    undecided : mapping of str to str
        Models for which no threshold could be chosen, and why.
    """

    thresholds: Mapping[str, Threshold]
    examples: JointExamples
    held_out: JointConfusion
    in_sample: JointConfusion
    undecided: Mapping[str, str]


def choose_rows(
    examples: JointExamples,
    positive: Label,
    design: Design,
    choosing: Choosing,
    deciding: Sequence[str] = (),
) -> ChosenRows:
    """Choose a threshold for each model that has scores, where each row has costs of its own.

    Parameters
    ----------
    examples : JointExamples
        The rows, with the scores of models.
    positive : label
        The positive class, which is decided for high scores.
    design : Design
        The class priors and the population.
    choosing : Choosing
        The settings of the choice.
    deciding : sequence of str
        The models that have decisions of their own.
    """
    made = _task(examples, positive, design, choosing, deciding).decided()
    rows = examples.with_columns(
        {
            **made.held_out,
            **{f"{column}{IN_SAMPLE}": each for column, each in made.in_sample.items()},
        }
    )
    return ChosenRows(
        made.thresholds,
        rows,
        joint_of_examples(examples, made.held_out),
        joint_of_examples(examples, made.in_sample),
        made.undecided,
    )


def _task(
    examples: JointExamples,
    positive: Label,
    design: Design,
    choosing: Choosing,
    deciding: Sequence[str],
) -> Task:
    rows = rows_of_examples(examples, positive, deciding)
    other, chosen_on = None, examples
    if choosing.validation is not None:
        if not isinstance(choosing.validation, JointExamples):
            raise InputError("validation", "its rows must have costs of their own, as these have.")
        chosen_on = choosing.validation
        other = rows_of_examples(chosen_on, positive)
        check_others(rows, other)
    each, by_class = (other or rows).class_weights(design)
    place = examples.decisions.index(positive)
    order = np.array([place, 1 - place])
    is_positive = chosen_on.actual == chosen_on.labels.index(positive)
    gains = chosen_on.costs[:, place] - chosen_on.costs[:, 1 - place]
    named = examples.labels, examples.decisions
    return Task(
        rows,
        other,
        *named,
        order,
        np.zeros((2, 2)),
        each,
        choosing,
        by_class,
        design,
        gains * by_class[is_positive.astype(np.intp)],
        examples.costs[:, order],
    )


def rows_of_examples(
    examples: JointExamples, positive: Label, deciding: Sequence[str] = ()
) -> Rows:
    """Return the rows with their scores, and the decisions of models that have any."""
    scores = JointScores.from_columns(
        examples.actual == examples.labels.index(positive),
        dict(examples.scores or {}),
        pos_label=positive,
        neg_label=next(label for label in examples.labels if label != positive),
        sample_weight=examples.weights,
        parts=examples.parts,
        part=examples.part,
        decided={name: examples.decided[:, examples.names.index(name)] for name in deciding},
    )
    return Rows.of(scores)


def joint_of_examples(
    examples: JointExamples, columns: Mapping[str, NDArray[Any]]
) -> JointConfusion:
    """Return the decisions of the models and those in columns, as a table."""
    given = dict(zip(examples.names, examples.decided.T, strict=True))
    return JointConfusion.from_codes(
        examples.actual,
        {**given, **columns},
        labels=examples.labels,
        decisions=examples.decisions,
        amounts=examples.weights,
        part=examples.part,
        parts=examples.parts,
    )
