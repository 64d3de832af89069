"""The policies of a study at other costs, with the thresholds that those costs choose.

Rows are dealt into folds once, and the smooth estimate is fitted once; only the cuts are chosen
again. Between two decisions they depend on the costs by one number: the cost of a false alarm
divided by that of a miss, weighted by class priors.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.typing import Floats
from stakes.costs import CostMatrix
from stakes.counts import GroupedConfusion
from stakes.infer._shares import cell_shares, checked_priors, shares_per_row
from stakes.policies._assemble import (
    PRECEDENCE,
    Asked,
    Counted,
    merged,
    policies_of,
    threshold_policy,
    with_stated,
)
from stakes.policies._choose import (
    Choosing,
    Chosen,
    ImpossibleLimitsError,
    Task,
    Threshold,
    Training,
    _joint,
    task_of,
)
from stakes.policies._rows import FOLDS, Rows, ends_of, places_of
from stakes.policies._rule import cheapest_cuts, fitted_odds
from stakes.policies.policies import Policies, Policy

TWO = 2
EQUAL = 1e-12
"""Difference of costs, relative to the larger one, up to which they are equal."""

ALIKE = 1e-9
"""Difference of shares of the population from which on two policies decide some rows otherwise."""


@dataclass(frozen=True, eq=False)
class Line:
    """A policy at some costs.

    Attributes
    ----------
    identity : tuple
        What the policy is apart from its threshold: its kind, and its column or its decision.
    judged, deployed : ndarray, shape (decisions, classes)
        The share of the population in each cell: as judged, and by the threshold to deploy.
    make : callable
        Returns the policy.
    """

    identity: tuple[str, Hashable]
    judged: Floats
    deployed: Floats
    make: Callable[[], Policy]


@dataclass(frozen=True, eq=False)
class _Column:
    """A threshold at some costs.

    Attributes
    ----------
    judged, deployed : ndarray, shape (decisions, classes)
        As those of `Line`.
    threshold : callable
        Returns the threshold to deploy.
    decided : callable
        Returns the decisions of the rows: held out, and by the threshold to deploy.
    """

    judged: Floats
    deployed: Floats
    threshold: Callable[[], Threshold]
    decided: Callable[[], tuple[NDArray[Any], NDArray[Any]]]


@dataclass(frozen=True, eq=False)
class _Trained:
    """What a model needs at all costs.

    Attributes
    ----------
    fitted : Training
        The rows to choose on.
    odds : ndarray
        The fitted log odds.
    ends : ndarray of int, shape (folds, steps + 1)
        After how many distinct scores the decisions of each fold end, for each cut.
    above : ndarray, shape (2, folds, steps + 1)
        The share of the population above each cut in each fold, by class.
    """

    fitted: Training
    odds: Floats
    ends: NDArray[np.intp]
    above: Floats

    def shares(self, ends: NDArray[np.intp]) -> Floats:
        """Return the population by place in the order of scores and by class.

        Parameters
        ----------
        ends : ndarray of int, shape (folds or 1, decisions - 1)
            After how many distinct scores the decisions end in each fold.
        """
        bounds, folds = self.fitted.steps.bounds, np.arange(self.above.shape[1])[:, np.newaxis]
        before = self.above[:, folds, np.searchsorted(bounds, ends)].sum(axis=1)
        total = self.above[:, :, -1].sum(axis=1, keepdims=True)
        return np.asarray(np.diff(before, axis=1, prepend=0.0, append=total).T)


def identity(policy: Policy) -> tuple[str, Hashable]:
    """Return what a policy is apart from its threshold: the same at all costs."""
    return policy.kind, policy.decision if policy.kind == "constant" else policy.column


class Repriced:
    """The policies of a study at other costs.

    Thresholds that were chosen are chosen again, as for a study with those costs. Thresholds that
    were stated, decisions as given and constant predictions stay.

    Parameters
    ----------
    counted : Counted
        The rows.
    choosing : Choosing
        How thresholds are chosen.
    asked : Asked
        Policies that were named.
    stated : Policies
        The policies at the stated costs.
    """

    def __init__(
        self, counted: Counted, choosing: Choosing, asked: Asked, stated: Policies
    ) -> None:
        self.counted, self.choosing, self.asked, self.stated = counted, choosing, asked, stated
        self.scores = None if counted.examples is not None else counted.scores
        self._tasks: dict[tuple[int, ...], Task] = {}
        self._trained: dict[tuple[int, ...], _Trained] = {}
        self._found: dict[Hashable, _Column | None] = {}
        self._lines: dict[Hashable, list[Line]] = {}
        self._tables: dict[Hashable, Chosen] = {}

    @property
    def rechosen(self) -> bool:
        """Whether thresholds are chosen at all."""
        return self.scores is not None

    # The policies.

    def policies(self, costs: CostMatrix | None = None, class_priors: Any = None) -> Policies:
        """Return the policies at other costs or class priors, or at both.

        Parameters
        ----------
        costs : CostMatrix, optional
            The costs; by default those stated.
        class_priors : mapping or sequence, optional
            The prevalence of each class; by default that of the study.
        """
        counted = replace(self.counted, costs=costs or self.counted.costs)
        values, chosen = counted.costs.values, None
        if class_priors is not None:
            counted = replace(counted, design=replace(counted.design, class_priors=class_priors))
            shares = self.stated.class_shares
            priors = checked_priors(class_priors, self.stated.held_out.labels)
            values = values * np.divide(priors, shares, out=np.ones(len(shares)), where=shares > 0)
        if self.rechosen and (class_priors is None or not self.stratified):
            chosen = self.chosen(values)
        return policies_of(counted, self.choosing, self.asked, self.stated.confidence, chosen)

    @property
    def stratified(self) -> bool:
        """Whether there are strata, so that class priors change the weights of the rows."""
        parts = self.stated.held_out.parts
        return parts is not None and parts.strata is not None

    def chosen(self, values: Floats) -> Chosen:
        """Return the thresholds at other costs ``[decision, class]``, and their decisions.

        The thresholds lack the ranges of others that do as well.
        """
        task, costs = self._task(values), self.counted.costs
        if (key := _key(task)) in self._tables:
            return self._tables[key]
        columns = {name: self._column(task, name) for name in self._names}
        found = {name: each for name, each in columns.items() if each is not None}
        given = dict(zip(task.rows.scores.deciding, task.rows.decided, strict=True))
        decided = {name: each.decided() for name, each in found.items()}
        held_out, in_sample = (
            {**given, **{name: each[at] for name, each in decided.items()}} for at in range(TWO)
        )
        self._tables[key] = Chosen(
            {name: each.threshold() for name, each in found.items()},
            _joint(task.rows, held_out, costs),
            _joint(task.rows, in_sample, costs),
            {},
        )
        return self._tables[key]

    def at_ratios(self, factors: Sequence[float]) -> list[Chosen]:
        """Return the thresholds with the costs of all rows of the negative class multiplied.

        Parameters
        ----------
        factors : sequence of float
            Multiples of the ratio of the stated costs: 0 if false alarms cost nothing, infinity if
            misses cost nothing.
        """
        places = self._places
        found = []
        for factor in factors:
            values = self.counted.costs.values.copy()
            values[:, places] *= [factor, 1.0] if np.isfinite(factor) else [1.0, 0.0]
            found.append(self.chosen(values))
        return found

    @property
    def ratio(self) -> float | None:
        """The cost of a false alarm over that of a miss, weighted by class priors if any.

        None if there are not two decisions, or if one is the cheaper for both classes.
        """
        return _ratio(self._task(self.counted.costs.values).costs)

    # The costs.

    def cheapest(self, values: Floats) -> Line:
        """Return the policy of least cost; of equal ones, the same as a study.

        Parameters
        ----------
        values : ndarray, shape (decisions, classes)
            The costs.
        """
        if self.choosing.limits:  # a threshold may keep them at some costs and not at others
            policies = self.policies(self.matrix(values))
            winner, nothing = policies[policies.best], np.zeros_like(values)
            return Line(identity(winner), nothing, nothing, partial(_same, winner))
        lines = self.lines(values)
        costs = np.array([(each.judged * values).sum() for each in lines])
        least = np.flatnonzero(costs <= costs.min() + EQUAL * np.abs(costs).max()).tolist()
        if len(least) == 1:
            return lines[least[0]]
        reference = self._reference(lines, costs)

        def rank(at: int) -> tuple[bool, bool, int]:
            one = lines[at].identity
            return at != reference, one[0] != "constant", self._standing[one]

        return lines[min(least, key=rank)]

    def _reference(self, lines: Sequence[Line], costs: Floats) -> int:
        """Return the place of the baseline, as `Policies.reference` finds it."""
        fixed = {place for place, each in enumerate(lines) if each.identity[0] != "threshold"}
        if self.stated.baseline is not None:
            named = identity(self.stated[self.stated.baseline])
            fixed = {place for place, each in enumerate(lines) if each.identity == named}
        return min(fixed, key=lambda place: float(costs[place]), default=-1)

    @cached_property
    def _standing(self) -> dict[tuple[str, Hashable], int]:
        """The place of each policy in the order of a study's policies."""
        models = [model.name for model in self.counted.models]
        kinds = ("decisions", "minimum_cost", "threshold", "constant")
        places = {
            each.identity: (len(models), kinds.index(each.identity[0]), place)
            for place, each in enumerate(self._fixed)
        }
        for each in self.stated.every:
            if each.model in models:
                own = models.index(each.model), kinds.index(each.kind), each.pinned
                places[identity(each)] = own
        places |= {
            ("threshold", name): (models.index(name[:-1]), kinds.index("threshold"), False)
            for name in self._chosen
        }
        return {key: at for at, key in enumerate(sorted(places, key=places.__getitem__))}

    def lines(self, values: Floats) -> list[Line]:
        """Return the policies at other costs, those that decide every row alike as one."""
        if not self.rechosen:
            return self._fixed
        task = self._task(values)
        key = _key(task)
        if key not in self._lines:
            columns = {name: self._column(task, name) for name in self._names if name[-1] == "@"}
            found = [
                Line(("threshold", name), each.judged, each.deployed, partial(_policy, each, name))
                for name, each in columns.items()
                if each is not None
            ]
            self._lines[key] = self._distinct(task, [*self._fixed, *found])
        return self._lines[key]

    def matrix(self, values: Floats) -> CostMatrix:
        """Return costs ``[decision, class]`` as a matrix."""
        costs = self.counted.costs
        return CostMatrix(values, rows="predicted", labels=costs.labels, decisions=costs.decisions)

    @cached_property
    def _fixed(self) -> list[Line]:
        """The policies that stay as they are."""
        found = []
        for leader in self.stated.policies:
            if leader.name in self.stated.barred:
                continue
            fixed = (each for each in (leader, *leader.alike) if each.column not in self._chosen)
            each = next(fixed, None)
            if each is not None:
                shares = self._shares(each)
                found.append(Line(identity(each), shares, shares, partial(_same, each)))
        return found

    def _shares(self, policy: Policy) -> Floats:
        """Return the share of the population in each cell, for a policy that stays as it is."""
        costs, table = self.counted.costs, self.stated.held_out
        columns = [costs.labels.index(label) for label in table.labels]
        shares = np.zeros(costs.values.shape)
        if policy.always is not None:
            shares[costs.decisions.index(policy.always), columns] = self.stated.class_shares
            return shares
        rows = [costs.decisions.index(each) for each in table.decisions]
        shares[np.ix_(rows, columns)] = cell_shares(
            table.single(policy.column), self.counted.design
        )
        return shares

    def _distinct(self, task: Task, lines: Sequence[Line]) -> list[Line]:
        """Return the policies that decide some row otherwise than those before them.

        They are merged as those of a study are: what needs no choice comes first.
        """
        order = sorted(lines, key=self._precedence)
        shares = np.stack([each.deployed.ravel() for each in order])
        apart = np.abs(shares[:, np.newaxis] - shares).max(axis=2) > ALIKE
        kept: list[int] = []
        for at, line in enumerate(order):
            near = [order[other] for other in kept if not apart[at, other]]
            if not any(self._alike(task, line, other) for other in near):
                kept.append(at)
        return [order[at] for at in kept]

    def _precedence(self, line: Line) -> tuple[int, bool]:
        kind, column = line.identity
        return PRECEDENCE.index(kind), kind == "threshold" and column not in self._chosen

    def _alike(self, task: Task, one: Line, other: Line) -> bool:
        """Tell whether policies with the same shares of the population decide all rows alike."""
        if (one.deployed.sum(axis=1) > ALIKE).sum() == 1:
            return True
        first, second = (self._decided(task, str(each.identity[1])) for each in (one, other))
        return np.array_equal(first, second)

    def _decided(self, task: Task, column: str) -> NDArray[Any]:
        """Return the decisions of a column on all rows."""
        if column in task.rows.scores.deciding:
            return np.asarray(task.rows.decided[task.rows.scores.deciding.index(column)])
        found = self._column(task, column)
        assert found is not None  # noqa: S101 - it is the column of a line
        return found.decided()[1]

    # Thresholds at other costs.

    @cached_property
    def _given(self) -> Choosing:
        return with_stated(self.choosing, self.asked, self.counted.models)

    @cached_property
    def _chosen(self) -> tuple[str, ...]:
        """The columns of thresholds that are chosen again."""
        scored = () if self.scores is None else self.scores.names
        models = [model.name for model in self.counted.models]
        return tuple(f"{name}@" for name in models if name in scored)

    @property
    def _names(self) -> tuple[str, ...]:
        """The columns of all thresholds."""
        return (*self._chosen, *(f"{name}@{value!r}" for name, value in self._given.fixed))

    @cached_property
    def _places(self) -> list[int]:
        """The positions of the negative and of the positive class."""
        assert self.scores is not None  # noqa: S101 - asked only where there are
        both = (self.scores.neg_label, self.scores.pos_label)
        return [self.counted.costs.labels.index(label) for label in both]

    def _task(self, values: Floats) -> Task:
        """Return the choice at other costs on the same rows."""
        assert self.scores is not None  # noqa: S101 - asked only where there are
        by_class = values[:, self._places]
        order = np.argsort(by_class[:, 1] - by_class[:, 0], kind="stable")
        key = tuple(order.tolist())
        if key not in self._tasks:
            design = self.counted.design
            self._tasks[key] = task_of(self.scores, self.matrix(values), design, self._given)
        task = copy(self._tasks[key])
        task.costs = by_class[task.order] * task.by_class
        return task

    def _column(self, task: Task, name: str) -> _Column | None:
        key = name, *_key(task)
        if key not in self._found:
            self._found[key] = self._new_column(task, name)
        return self._found[key]

    def _new_column(self, task: Task, name: str) -> _Column | None:
        model = next((each for each in self._given.fixed if name == f"{each[0]}@{each[1]!r}"), None)
        if model is not None:
            return self._as_made(task, partial(task.stated, *model))
        at = task.rows.scores.names.index(name[:-1])
        if task.lacking or task.other is not None:
            return self._as_made(task, partial(task.model, at, name[:-1]))
        try:
            trained = self._training(task, at)
        except ImpossibleLimitsError:
            return None
        fitted = trained.fitted
        cuts = cheapest_cuts(fitted.tables, task.costs, fitted.allowed, trained.odds)
        ends = np.take_along_axis(trained.ends, cuts[:-1], axis=1)
        if fitted.allowed is not None:
            ends = fitted.ends(cuts)
        deployed = fitted.steps.bounds[cuts[-1:]]

        def threshold() -> Threshold:
            values = [fitted.steps.threshold(cut) for cut in cuts[-1]]
            found = task._threshold(name[:-1], values)  # noqa: SLF001 - the same subpackage
            return replace(found, cross_fitted=True)

        def decided() -> tuple[NDArray[Any], NDArray[Any]]:
            ranks = task.rows.ranks[at]
            by_fold = [each[fitted.folds] for each in ends.T.astype(ranks.dtype)]
            held_out, in_sample = places_of(ranks, by_fold), places_of(ranks, deployed[0])
            return task.codes(held_out), task.codes(in_sample)

        judged, in_sample = (self._cells(task, trained.shares(each)) for each in (ends, deployed))
        return _Column(judged, in_sample, threshold, decided)

    def _as_made(self, task: Task, make: Callable[[], Any]) -> _Column | None:
        """Return a threshold that the rows did not choose."""
        made = make()
        if isinstance(made, str):
            return None
        rows, size = task.rows, len(task.order)
        codes = made[1].astype(np.intp) * TWO + rows.positive
        sums = np.bincount(codes, self._population, size * TWO).astype(np.float64)
        shares = self._cells(task, sums.reshape(size, TWO))

        def decided() -> tuple[NDArray[Any], NDArray[Any]]:
            _, deployed, held_out = make()
            return task.codes(held_out), task.codes(deployed)

        return _Column(shares, shares, lambda: made[0], decided)

    def _cells(self, task: Task, shares: Floats) -> Floats:
        """Return shares by place in the order of scores and by class as those of cells."""
        cells = np.zeros(self.counted.costs.values.shape)
        cells[task.order[:, np.newaxis], self._places] = shares
        return cells

    def _training(self, task: Task, at: int) -> _Trained:
        key = at, *task.order.tolist()
        if key not in self._trained:
            rows = task.rows
            fitted = task.training(at, rows.scores.thresholds[at], rows.ranks[at])
            each = fitted.steps.tables(
                rows.ranks[at], rows.positive, fitted.folds, FOLDS, self._population
            )
            above = np.zeros((*each.shape[:2], each.shape[2] + 1))
            np.cumsum(each, axis=2, out=above[:, :, 1:])
            cuts = np.arange(above.shape[2])
            ends = np.stack([ends_of(fitted.steps, cuts, used) for used in fitted.used[:-1]])
            self._trained[key] = _Trained(fitted, fitted_odds(fitted.tables), ends, above)
        return self._trained[key]

    @cached_property
    def _population(self) -> Floats:
        """The share of the population that each row stands for."""
        assert self.scores is not None  # noqa: S101 - asked only where there are
        rows = Rows.of(self.scores)
        weights = np.ones(len(rows.positive)) if rows.weights is None else rows.weights
        kind = rows.positive.astype(np.intp)
        if self.scores.parts is not None and rows.part is not None:
            table = self.scores.single(self.scores.names[0]).confusion_at(np.inf)
            assert isinstance(table, GroupedConfusion)  # noqa: S101 - there are parts
            return weights * shares_per_row(table, self.counted.design)[rows.part, kind]
        labels = self.stated.held_out.labels
        places = [labels.index(self.counted.costs.labels[at]) for at in self._places]
        sizes = np.bincount(kind, weights, TWO)
        each = self.stated.class_shares[places] / np.maximum(sizes, 1e-300)
        return np.asarray(weights * each[kind])


def _policy(column: _Column, name: str) -> Policy:
    return threshold_policy(column.threshold(), name)


def _same(policy: Policy) -> Policy:
    return policy


def _ratio(costs: Floats) -> float | None:
    """Return the cost of a false alarm over that of a miss; None where there is no such number."""
    if len(costs) != TWO:
        return None
    alarm, miss = costs[0, 0] - costs[1, 0], costs[1, 1] - costs[0, 1]
    return float(alarm / miss) if alarm > 0 and miss > 0 else None


def _key(task: Task) -> tuple[Hashable, ...]:
    """Return what thresholds depend on: between two decisions only the ratio of the costs."""
    ratio = _ratio(task.costs)
    costs = task.costs.tobytes() if ratio is None else f"{ratio:.13g}"
    return (costs, *task.order.tolist())


def with_thresholds(policies: Policies, chosen: Chosen, costs: CostMatrix) -> Policies:
    """Return the same policies at other thresholds and costs.

    Policies that decide every row alike at some costs may not at others, so each is treated alone.

    Parameters
    ----------
    policies : Policies
        The policies at the stated costs.
    chosen : Chosen
        Thresholds and decisions, as `Repriced.chosen` returns them.
    costs : CostMatrix
        The other costs.
    """
    names: dict[str, str] = {}
    found = []
    for each in policies.every:
        threshold = chosen.thresholds.get(each.column) if each.kind == "threshold" else None
        new = replace(each, alike=())
        if threshold is not None and threshold.cuts != each.cuts:
            new = threshold_policy(threshold, each.column)
        while new.name in names.values():
            new = replace(new, name=f"{new.name}'")
        names[each.name] = new.name
        found.append(new)
    return Policies(
        tuple(merged(found, chosen.in_sample)),
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
