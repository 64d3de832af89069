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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label
from stakes._core.typing import Booleans, Floats
from stakes._core.validate import applicable
from stakes._core.values import Result
from stakes.costs import CostMatrix
from stakes.counts import JointConfusion
from stakes.errors import InputError
from stakes.infer._outcomes import Design
from stakes.policies._rows import (
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
from stakes.policies._rule import ScoreTables, cheapest_cuts, expected_thresholds
from stakes.predictions.examples import IN_SAMPLE, JointExamples
from stakes.predictions.scores import JointScores

FOLDS = ((2_000, 20), (200_000, 10), (np.inf, 5))
"""Pairs of a limit on the number of rows, and the number of folds below it."""

MOST_FOLDS = 100

TWO_ERRORS = 1.96
"""Standard errors by which a threshold must cost more for the difference to be shown."""

CLEARLY = 4.0
"""Standard errors by which the AUC must be below one half for scores to be reported as reversed."""

IMPOSSIBLE = "no threshold keeps within"

Codes = NDArray[np.signedinteger]


class ImpossibleLimitsError(InputError):
    """No threshold of a model keeps within the limits, on all rows or on those without a fold."""


@dataclass(frozen=True, eq=False)
class Choosing(Result):
    """Settings of the choice of thresholds.

    Attributes
    ----------
    folds : int or None
        The number of folds; None for a number that is larger the fewer rows there are.
    seed : int
        The random seed of the folds.
    min_recall, max_fpr : float or None
        The lowest recall and the highest false positive rate allowed.
    capacity : float or None
        The largest share of rows that may be called positive.
    fixed : tuple of (str, float)
        Models with a stated threshold, which competes in addition to the chosen one.
    validation : JointScores, JointExamples or None
        Other rows to choose thresholds on; with costs of their own if the rows to judge by have.
    """

    folds: int | None = None
    seed: int = 0
    min_recall: float | None = None
    max_fpr: float | None = None
    capacity: float | None = None
    fixed: tuple[tuple[str, float], ...] = ()
    validation: JointScores | JointExamples | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.folds is not None and not 2 <= self.folds <= MOST_FOLDS:  # noqa: PLR2004
            raise InputError("folds", f"expected a number from 2 to {MOST_FOLDS}.")

    def folds_of(self, n: int) -> int:
        """Return the number of folds for so many rows.

        With few rows, the thresholds of five folds vary much, and so does the cost with the seed.

        Parameters
        ----------
        n : int
            The number of rows.

        Returns
        -------
        int
            The number of folds.

        Examples
        --------
        >>> from stakes.policies import Choosing
        >>> Choosing().folds_of(5000), Choosing(folds=3).folds_of(5000)
        (10, 3)
        """
        if self.folds is not None:
            return self.folds
        return next(folds for rows, folds in FOLDS if n < rows)

    @property
    def limits(self) -> dict[str, float]:
        """The limits that are set, by name."""
        names = ("min_recall", "max_fpr", "capacity")
        return {name: float(v) for name in names if (v := getattr(self, name)) is not None}


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
    return Task(rows, other, *named, order, weighted, each, choosing, by_class)


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
    gains : ndarray or None
        The extra cost of the first of two decisions over the second, where each row to choose on
        has costs of its own.
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
    gains: Floats | None = None

    def __post_init__(self) -> None:
        chosen_on = self.rows if self.other is None else self.other
        self.lacking = chosen_on.too_few(self.each)
        self.dealt: Folds | None = None
        self.weight = 1.0
        if self.each is not None:
            self.weight = float((self.each**2).sum() / self.each.sum())

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
            return self._cross_fitted(name, values, ranks)
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

    def _cross_fitted(self, name: str, values: Floats, ranks: NDArray[Any]) -> Any:
        rows, count = self.rows, self.choosing.folds_of(len(self.rows.positive))
        if self.dealt is None:
            self.dealt = rows.folds(count, self.choosing.seed, self.labels, len(self.decisions))
        steps = Steps.of(values, ranks, rows.positive)
        training = self.tables(steps, ranks, self.dealt, count)
        *by_fold, deployed = self._cuts(training)
        seen = training.negatives + training.positives
        ends = np.stack(
            [ends_of(steps, cuts, table) for cuts, table in zip(by_fold, seen, strict=False)]
        )
        held_out = places_of(ranks, [each[self.dealt] for each in ends.T.astype(ranks.dtype)])
        threshold = self._threshold(name, [steps.threshold(cut) for cut in deployed])
        total = np.stack([training.negatives[-1], training.positives[-1]])
        within = None
        if self.gains is None:
            within = _equally_good(steps, deployed, total, self.costs, self.weight)
        wrong = _reversed(total, self.weight)
        threshold = replace(threshold, cross_fitted=True, range_=within, reversed_=wrong)
        places = places_of(ranks, steps.bounds[deployed])
        return threshold, places, held_out

    def tables(self, steps: Steps, ranks: NDArray[Any], folds: Folds, count: int) -> ScoreTables:
        """Return tables of the rows to choose on, without each fold and all; for one fold, all."""
        rows = self.rows if self.other is None else self.other

        def without(each: Floats | None) -> Floats:
            tables = steps.tables(ranks, rows.positive, folds, count, each)
            total = tables.sum(axis=1, keepdims=True)
            return total if count == 1 else np.concatenate([total - tables, total], axis=1)

        training = np.maximum(without(self.each), 0)
        gains = squares = None
        if self.gains is not None:
            weights = 1.0 if self.each is None else self.each
            gains = without(weights * self.gains)
            squares = np.maximum(without(weights * self.gains**2), 0)
        return ScoreTables(training[1], training[0], self.weight, gains, squares)

    def _cuts(self, tables: ScoreTables) -> NDArray[np.intp]:
        return cheapest_cuts(tables, self.costs, self.allowed(tables))

    def allowed(self, tables: ScoreTables) -> Booleans | None:
        """Return the cuts that keep within the limits in the target population."""
        return _allowed(tables, self.choosing, self.costs, self.by_class)

    def _on_others(self, name: str, values: Floats, ranks: NDArray[Any]) -> Any:
        """Choose the threshold on the rows of another file."""
        other = self.other
        if other is None or name not in other.scores.names:
            return "the validation rows have no scores of it"
        place = other.scores.names.index(name)
        own, theirs = other.scores.thresholds[place], other.ranks[place]
        steps = Steps.of(own, theirs, other.positive)
        one_fold = np.zeros(len(theirs), dtype=np.int8)
        cuts = self._cuts(self.tables(steps, theirs, one_fold, 1))[0]
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


def _allowed(
    tables: ScoreTables, choosing: Choosing, costs: Floats, by_class: Floats
) -> Booleans | None:
    """Return the cuts that keep within the limits; `by_class` has the weights of the classes."""
    limits = choosing.limits
    if not limits:
        return None
    if len(costs) != 2:  # noqa: PLR2004
        raise InputError(", ".join(limits), "limits are for two decisions, the costs have more.")
    zero = np.zeros((len(tables.positives), 1))
    sums = [
        np.concatenate([zero, np.cumsum(side, axis=1)], axis=1)
        for side in (tables.negatives, tables.positives)
    ]
    fpr, recall = (each / np.maximum(each[:, -1:], 1e-300) for each in sums)
    room = 1e-12
    keep = np.ones_like(fpr, dtype=bool)
    if "min_recall" in limits:
        keep &= recall >= limits["min_recall"] - room
    if "max_fpr" in limits:
        keep &= fpr <= limits["max_fpr"] + room
    if "capacity" in limits:
        both = by_class[0] * sums[0] + by_class[1] * sums[1]
        alarms = both / both[:, -1:]
        keep &= alarms <= limits["capacity"] + room
    if not keep.any(axis=1).all():
        raise ImpossibleLimitsError(", ".join(limits), f"{IMPOSSIBLE} all of these limits.")
    return keep


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
        _joint_of_examples(examples, made.held_out),
        _joint_of_examples(examples, made.in_sample),
        made.undecided,
    )


def _task(
    examples: JointExamples,
    positive: Label,
    design: Design,
    choosing: Choosing,
    deciding: Sequence[str],
) -> Task:
    rows = _rows(examples, positive, deciding)
    other, chosen_on = None, examples
    if choosing.validation is not None:
        if not isinstance(choosing.validation, JointExamples):
            raise InputError("validation", "its rows must have costs of their own, as these have.")
        chosen_on = choosing.validation
        other = _rows(chosen_on, positive, ())
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
        gains * by_class[is_positive.astype(np.intp)],
    )


def _rows(examples: JointExamples, positive: Label, deciding: Sequence[str]) -> Rows:
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


def _joint_of_examples(
    examples: JointExamples, columns: Mapping[str, NDArray[Any]]
) -> JointConfusion:
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
