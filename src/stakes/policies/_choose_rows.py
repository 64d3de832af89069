"""Thresholds for scores where each row has costs of its own, judged as those of `_choose`.

What a threshold costs is then a sum over rows, and the cheapest on some rows is found by sorting
them. Each fold is judged at the threshold that the others choose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label
from stakes._core.typing import Floats
from stakes.counts import JointConfusion
from stakes.errors import InputError
from stakes.infer._design import shares_of
from stakes.infer._outcomes import Design
from stakes.policies._choose import (
    Choosing,
    Threshold,
    _above,
    _allowed,
    _ends,
    _midway,
    _Rows,
    _short,
    _Steps,
)
from stakes.policies._rule import ScoreTables
from stakes.predictions.examples import IN_SAMPLE, JointExamples
from stakes.predictions.scores import JointScores

ROUNDING = 1e-13
"""Costs that differ by so little of all are the same."""


@dataclass(frozen=True)
class ChosenRows:
    """Thresholds, and the rows with the decisions that they lead to.

    Attributes
    ----------
    thresholds : mapping of str to Threshold
        By the name of their column.
    examples : JointExamples
        The rows; held-out decisions are in those columns, those on all rows in columns of their
        own.
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
    examples: JointExamples, positive: Label, design: Design, choosing: Choosing
) -> ChosenRows:
    """Choose a threshold for each model that has scores.

    Parameters
    ----------
    examples : JointExamples
        The rows, with the scores of models.
    positive : label
        The positive class, which high scores lead to.
    design : Design
        The class priors and the population.
    choosing : Choosing
        How.
    """
    task = _Task(examples, positive, design, choosing)
    found: dict[str, Threshold] = {}
    held_out: dict[str, NDArray[Any]] = {}
    in_sample: dict[str, NDArray[Any]] = {}
    for name in examples.scores or {}:
        if not task.lacking:
            column = f"{name}@"
            found[column], in_sample[column], held_out[column] = task.cross_fitted(name)
    for name, value in choosing.fixed:
        column = f"{name}@{value!r}"
        found[column], in_sample[column] = task.stated(name, value)
        held_out[column] = in_sample[column]
    undecided = dict.fromkeys(examples.scores or {}, task.lacking) if task.lacking else {}
    rows = examples.with_columns(
        {**held_out, **{f"{column}{IN_SAMPLE}": each for column, each in in_sample.items()}}
    )
    return ChosenRows(
        found, rows, _joint(examples, held_out), _joint(examples, in_sample), undecided
    )


def _joint(examples: JointExamples, columns: Mapping[str, NDArray[Any]]) -> JointConfusion:
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


class _Task:
    """The choice for one model after the other on the same rows."""

    def __init__(
        self, examples: JointExamples, positive: Label, design: Design, choosing: Choosing
    ) -> None:
        self.examples, self.positive, self.choosing = examples, positive, choosing
        self.scores = JointScores.from_columns(
            examples.actual == examples.labels.index(positive),
            dict(examples.scores or {}),
            pos_label=positive,
            neg_label=next(label for label in examples.labels if label != positive),
            sample_weight=examples.weights,
            parts=examples.parts,
            part=examples.part,
        )
        self.rows = _Rows.of(self.scores)
        self.lacking = self.rows.too_few()
        if choosing.validation is not None:
            raise InputError(
                "validation",
                "each row has costs of its own, and thresholds for such costs are chosen on folds.",
                "Leave it out.",
            )
        self.place = examples.decisions.index(positive)
        # What calling a row positive costs more, where the models are used.
        gain = examples.costs[:, self.place] - examples.costs[:, 1 - self.place]
        self.shares = shares_of(examples.always(positive), design)
        self.gain = gain * self.shares
        self._folds: NDArray[Any] | None = None

    @property
    def folds(self) -> NDArray[Any]:
        """The fold of each row."""
        if self._folds is None:
            examples = self.examples
            self._folds = self.rows.folds(self.choosing, examples.labels, len(examples.decisions))
        return self._folds

    def cross_fitted(self, name: str) -> tuple[Threshold, NDArray[Any], NDArray[Any]]:
        """Return the threshold of a model and what it decides, in sample and held out."""
        at = self.scores.names.index(name)
        values, ranks = self.scores.thresholds[at], self.rows.ranks[at]
        steps = _Steps(values, np.arange(len(values) + 1))
        folds, count = self.folds, self.choosing.folds_of(len(ranks))
        of_folds = folds.astype(np.intp) * len(values) + ranks
        size = count * len(values)
        gains = np.bincount(of_folds, self.gain, size).reshape(count, -1)
        there = np.bincount(of_folds, minlength=size).reshape(count, -1)
        # Without each fold, and of all rows.
        others = _without(gains.astype(np.float64))
        seen = _without(there.astype(np.float64))
        *by_fold, deployed = _cheapest(others, self._keeping(steps, ranks, folds, count))
        ends = np.array(
            [
                _ends(steps, np.array([cut]), table)[0]
                for cut, table in zip(by_fold, seen, strict=False)
            ]
        )
        threshold = self._threshold(name, _short(_midway(values, int(deployed)), values))
        decided = [self._codes(ranks < end) for end in (deployed, ends[folds])]
        return replace(threshold, cross_fitted=True), decided[0], decided[1]

    def stated(self, name: str, value: float) -> tuple[Threshold, NDArray[Any]]:
        """Return a threshold that was stated, and what it decides."""
        if name not in self.scores.names:
            raise InputError(
                f"{name}@{value:g}", f"the model {name!r} has no scores to apply it to."
            )
        at = self.scores.names.index(name)
        end = _above(self.scores.thresholds[at], value)
        return self._threshold(name, value), self._codes(self.rows.ranks[at] < end)

    def _keeping(
        self, steps: _Steps, ranks: NDArray[Any], folds: NDArray[Any], count: int
    ) -> NDArray[np.bool_] | None:
        """Return the cuts that keep within the limits on the other folds, and on all rows."""
        if not self.choosing.limits:
            return None
        tables = steps.tables(ranks, self.rows.positive, folds, count, self.shares)
        total = tables.sum(axis=1, keepdims=True)
        both = np.concatenate([np.maximum(total - tables, 0), total], axis=1)
        return _allowed(ScoreTables(both[1], both[0]), self.choosing, np.zeros((2, 2)))

    def _threshold(self, name: str, value: float) -> Threshold:
        below = self.examples.decisions[1 - self.place]
        return Threshold(name, ((self.positive, float(value)),), below, cross_fitted=False)

    def _codes(self, called: NDArray[np.bool_]) -> NDArray[np.intp]:
        return np.where(called, self.place, 1 - self.place)


def _without(folds: Floats) -> Floats:
    """Return the sums of all folds but one, for each of them, and the sum of all."""
    total = folds.sum(axis=0, keepdims=True)
    return np.concatenate([total - folds, total])


def _cheapest(gains: Floats, keeping: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    """Return how many of the highest scores to call positive: the fewest of those that cost least.

    `gains` are what calling the rows of each score positive costs more.
    """
    totals = np.concatenate([np.zeros((len(gains), 1)), np.cumsum(gains, axis=1)], axis=1)
    if keeping is not None:
        totals = np.where(keeping, totals, np.inf)
    room = ROUNDING * np.abs(gains).sum(axis=1, keepdims=True)
    return np.asarray((totals <= totals.min(axis=1, keepdims=True) + room).argmax(axis=1))
