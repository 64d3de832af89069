"""Thresholds and decisions at other ratios of the costs of the two mistakes.

The best threshold depends on the costs by one number: the cost of a false alarm divided by that of
a miss, weighted by class priors. The rows are sorted into folds once, the smooth estimate is fitted
once, and for each ratio only the cuts are chosen again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.typing import Floats
from stakes.costs import CostMatrix
from stakes.counts import JointConfusion
from stakes.infer._outcomes import Design
from stakes.policies._assemble import threshold_policy
from stakes.policies._choose import (
    Choosing,
    Chosen,
    ImpossibleLimitsError,
    Task,
    Threshold,
    task_of,
)
from stakes.policies._rows import Rows, Steps, above, ends_of
from stakes.policies._rule import cheapest_cuts, fitted_odds
from stakes.policies.policies import Policies
from stakes.predictions.scores import JointScores

TWO = 2
DENSE = 1 << 20
"""Maximum number of possible combinations of decisions that are counted in a dense array."""


@dataclass(frozen=True, eq=False)
class _Column:
    """A model's threshold at each ratio, and where its decisions end among the distinct scores.

    Attributes
    ----------
    thresholds : list of Threshold
        The thresholds to deploy.
    deployed : ndarray of int, shape (ratios,)
        The number of distinct scores above each.
    held_out : ndarray of int, shape (ratios, folds)
        The same for each fold.
    ranks : ndarray of int, shape (rows,)
        The rank of each row's score.
    """

    thresholds: list[Threshold]
    deployed: NDArray[np.intp]
    held_out: NDArray[np.intp]
    ranks: NDArray[Any]


def loss_ratio(scores: JointScores, costs: CostMatrix, design: Design) -> float | None:
    """Return the cost of a false alarm over that of a miss, weighted by class priors if any.

    Return None if there are not two decisions, or if one is the cheaper for both classes.
    """
    found = task_of(scores, costs, design, Choosing()).costs
    if len(found) != TWO:
        return None
    alarm, miss = found[0, 0] - found[1, 0], found[1, 1] - found[0, 1]
    return float(alarm / miss) if alarm > 0 and miss > 0 else None


def chosen_at(
    scores: JointScores,
    costs: CostMatrix,
    design: Design,
    choosing: Choosing,
    factors: Sequence[float],
) -> list[Chosen]:
    """Choose thresholds as `choose` does, with the cost of false alarms multiplied by factors.

    Parameters
    ----------
    scores : JointScores
        The scores and decisions of rows of equal weight.
    costs : CostMatrix
        The costs of two decisions, each the cheaper one for its class.
    design : Design
        The class priors.
    choosing : Choosing
        The settings of the choice.
    factors : sequence of float
        Multiples of the ratio of the stated costs: 0 if false alarms cost nothing, infinity if
        misses cost nothing.

    Returns
    -------
    list of Chosen
        One for each factor, without the ranges of thresholds.
    """
    task = task_of(scores, costs, design, choosing)
    rows, order = task.rows, task.order
    tasks = [replace(task, costs=_times(task.costs, factor)) for factor in factors]
    columns = {}
    for at, name in enumerate(scores.names):
        column = _column(tasks, at, name)
        if column is not None:
            columns[f"{name}@"] = column
    for name, value in choosing.fixed:
        made = [task.stated(name, value)[0] for task in tasks]
        columns[f"{name}@{value!r}"] = _same(made, rows, scores.names.index(name))
    folds = tasks[0].dealt
    tables = _Tables(rows, costs, order, columns, None if folds is None else np.asarray(folds))
    return [
        Chosen(
            {name: column.thresholds[place] for name, column in columns.items()},
            tables.held_out(place),
            tables.in_sample(place),
            {},
        )
        for place in range(len(factors))
    ]


def _times(values: Floats, factor: float) -> Floats:
    """Return costs with the ratio of the two mistakes multiplied by a factor."""
    scale = [factor, 1.0] if np.isfinite(factor) else [1.0, 0.0]
    return np.asarray(values * scale)


def _column(tasks: Sequence[Task], at: int, name: str) -> _Column | None:
    task = tasks[0]
    if task.lacking or task.other is not None:
        found = [each.model(at, name) for each in tasks]
        if any(isinstance(each, str) for each in found):
            return None
        return _same([each[0] for each in found], task.rows, at)
    try:
        return _cross_fitted(tasks, at, name)
    except ImpossibleLimitsError:
        return None


def _same(thresholds: list[Threshold], rows: Rows, at: int) -> _Column:
    """Return thresholds that the rows did not choose: they are the same in each fold."""
    values = rows.scores.thresholds[at]
    ends = np.array([above(values, each.cuts[0][1]) for each in thresholds])
    return _Column(thresholds, ends, ends[:, np.newaxis], rows.ranks[at])


def _cross_fitted(tasks: Sequence[Task], at: int, name: str) -> _Column:
    task = tasks[0]
    rows, choosing = task.rows, task.choosing
    count = choosing.folds_of(len(rows.positive))
    if task.dealt is None:
        task.dealt = rows.folds(count, choosing.seed, task.labels, len(task.decisions))
    ranks = rows.ranks[at]
    steps = Steps.of(rows.scores.thresholds[at], ranks, rows.positive)
    given = task.tables(steps, ranks, task.dealt, count)
    odds, sums = fitted_odds(given), given.negatives + given.positives
    allowed = task.allowed(given)
    thresholds, deployed, held_out = [], [], []
    for each in tasks:
        *by_fold, last = cheapest_cuts(given, each.costs, allowed, odds)
        found = each._threshold(name, [steps.threshold(cut) for cut in last])  # noqa: SLF001
        thresholds.append(replace(found, cross_fitted=True))
        deployed.append(steps.bounds[last[0]])
        held_out.append(
            [ends_of(steps, cuts, table)[0] for cuts, table in zip(by_fold, sums, strict=False)]
        )
    return _Column(thresholds, np.array(deployed), np.array(held_out), ranks)


class _Tables:
    """The rows in the order of their folds, so that a cut is a comparison of whole slices."""

    def __init__(
        self,
        rows: Rows,
        costs: CostMatrix,
        order: NDArray[np.intp],
        columns: Mapping[str, _Column],
        folds: NDArray[Any] | None,
    ) -> None:
        self.costs, self.columns, self.high = costs, columns, int(order[0])
        self.given = list(rows.scores.deciding)
        n = len(rows.positive)
        place = np.arange(n) if folds is None else np.argsort(folds, kind="stable")
        sizes = [n] if folds is None else np.bincount(folds)
        self.bounds = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        self.ranks = {name: each.ranks[place] for name, each in columns.items()}
        # A combination of decisions and a class is one number: its digits are the decisions.
        labels = (rows.scores.neg_label, rows.scores.pos_label)
        classes = np.array([costs.labels.index(label) for label in labels])
        self.codes = classes[rows.positive[place].astype(np.intp)].astype(np.int64)
        self.radix = len(costs.labels)
        for decided in rows.decided:
            self.codes += self.radix * decided[place].astype(np.int64)
            self.radix *= len(costs.decisions)
        self.largest = self.radix * TWO ** len(columns)

    def in_sample(self, place: int) -> JointConfusion:
        """Return the decisions by the thresholds to deploy."""
        cut = {name: self.ranks[name] < each.deployed[place] for name, each in self.columns.items()}
        return self._joint(cut)

    def held_out(self, place: int) -> JointConfusion:
        """Return the decisions of each fold by the thresholds that the others choose."""
        return self._joint(
            {name: self._by_fold(name, each, place) for name, each in self.columns.items()}
        )

    def _by_fold(self, name: str, column: _Column, place: int) -> NDArray[np.bool_]:
        ranks, ends = self.ranks[name], column.held_out[place]
        if len(ends) == 1:
            return np.asarray(ranks < ends[0])
        found = np.empty(len(ranks), dtype=bool)
        for fold, end in enumerate(ends):
            here = slice(self.bounds[fold], self.bounds[fold + 1])
            np.less(ranks[here], end, out=found[here])
        return found

    def _joint(self, columns: Mapping[str, NDArray[np.bool_]]) -> JointConfusion:
        codes, radix = self.codes.copy(), self.radix
        for called in columns.values():
            codes += radix * (called if self.high == 1 else ~called)
            radix *= TWO
        if self.largest <= DENSE:
            every = np.bincount(codes, minlength=self.largest)
            cells = np.flatnonzero(every)
            counts = every[cells]
        else:
            cells, counts = np.unique(codes, return_counts=True)
        actual, decided, rest = cells % len(self.costs.labels), {}, cells // len(self.costs.labels)
        for name in (*self.given, *columns):
            decided[name] = rest % len(self.costs.decisions)
            rest //= len(self.costs.decisions)
        return JointConfusion.from_codes(
            actual,
            decided,
            labels=self.costs.labels,
            decisions=self.costs.decisions,
            amounts=counts,
        )


def with_thresholds(policies: Policies, chosen: Chosen, costs: CostMatrix) -> Policies:
    """Return the same policies at other thresholds and costs.

    Parameters
    ----------
    policies : Policies
        The policies at the stated costs.
    chosen : Chosen
        Thresholds and decisions, as `chosen_at` returns them.
    costs : CostMatrix
        The other costs.
    """
    names: dict[str, str] = {}
    found = []
    for each in policies.policies:
        threshold = chosen.thresholds.get(each.column) if each.kind == "threshold" else None
        new = each
        if threshold is not None and threshold.cuts != each.cuts:
            new = threshold_policy(threshold, each.column)
        while new.name in names.values():
            new = replace(new, name=f"{new.name}'")
        names[each.name] = new.name
        found.append(new)
    return Policies(
        tuple(found),
        chosen.held_out,
        chosen.in_sample,
        costs,
        policies.design,
        policies.confidence,
        None,
        None if policies.baseline is None else names[policies.baseline],
        tuple(names[each] for each in policies.asked),
        policies.notes,
    )
