"""What decisions cost for each row, where that is not a matter of the class alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label, Labels, listing
from stakes._core.typing import Floats
from stakes._core.values import ByValue, readonly
from stakes.costs import CostMatrix, ExampleCosts
from stakes.counts import CostSample
from stakes.counts._parts import Parts
from stakes.errors import InputError, LabelError
from stakes.predictions.table import Batch, Codes

MISTAKES = {"false_positive": "cost of a false alarm", "false_negative": "cost of a miss"}


class RowCosts(Protocol):
    """What each decision costs for each row of a batch."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are needed."""

    def of(self, batch: Batch, actual: Codes, costs: CostMatrix) -> Floats:
        """Return a row for each row of the batch, with a column for each decision.

        Parameters
        ----------
        batch : Batch
            The rows.
        actual : ndarray of int
            The position of each row's class among the labels of the costs.
        costs : CostMatrix
            Has the labels and the decisions.
        """

    def chosen(self, batch: Batch, probability: Floats) -> NDArray[np.bool_]:
        """Tell where the positive decision is expected to cost less, given its probability."""


@dataclass(frozen=True)
class MistakeCosts:
    """The cost of a false alarm and that of a miss: a number, or the column that has it.

    Attributes
    ----------
    false_positive, false_negative : float or str
        The cost, or the name of its column.
    positive : label
        The positive class.
    """

    false_positive: float | str
    false_negative: float | str
    positive: Label

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are needed."""
        both = (self.false_positive, self.false_negative)
        return tuple(dict.fromkeys(each for each in both if isinstance(each, str)))

    def of(self, batch: Batch, actual: Codes, costs: CostMatrix) -> Floats:
        """Return what each decision costs; see `RowCosts`."""
        positive = actual == costs.labels.index(self.positive)
        table = np.zeros((len(positive), len(costs.decisions)))
        place = costs.decisions.index(self.positive)
        alarms, misses = (self._amounts(batch, name) for name in MISTAKES)
        table[:, place] = np.where(positive, 0.0, alarms)
        table[:, 1 - place] = np.where(positive, misses, 0.0)
        return table

    def chosen(self, batch: Batch, probability: Floats) -> NDArray[np.bool_]:
        """Tell where the positive decision is expected to cost less; see `RowCosts`."""
        alarms, misses = (self._amounts(batch, name) for name in MISTAKES)
        return np.asarray(probability * misses >= (1 - probability) * alarms)

    def _amounts(self, batch: Batch, name: str) -> Any:
        given = getattr(self, name)
        if not isinstance(given, str):
            return float(given)
        amounts = batch.scores(given, MISTAKES[name])
        wrong = ~np.isfinite(amounts) | (amounts < 0)
        if wrong.any():
            raise InputError(
                f"{batch.source}, column {given!r}",
                f"expected costs of 0 or more, got {amounts[wrong][0]:g} in row "
                f"{int(np.argmax(wrong)) + 1}.",
            )
        return amounts


@dataclass(frozen=True)
class GivenCosts:
    """What each decision costs for each row of a table that is one batch."""

    costs: ExampleCosts

    @property
    def columns(self) -> tuple[str, ...]:
        """No column is needed."""
        return ()

    def of(self, batch: Batch, actual: Codes, costs: CostMatrix) -> Floats:
        """Return what each decision costs; see `RowCosts`."""
        del batch, costs
        if len(actual) != len(self.costs):
            raise InputError(
                "costs",
                f"expected those of {len(actual)} examples, got {len(self.costs)}.",
            )
        return np.asarray(self.costs.values)

    def chosen(self, batch: Batch, probability: Floats) -> NDArray[np.bool_]:
        """Raise: what a decision would cost for the other class is not known."""
        del batch, probability
        raise InputError(
            "y_pred",
            "with ExampleCosts a model needs decisions: what its decision would cost if the class "
            "were another is not known.",
        )


@dataclass(frozen=True, eq=False)
class JointExamples(ByValue):
    """The decisions of several models on the same rows, and what each would cost there.

    Attributes
    ----------
    names : tuple of str
        The models.
    actual : ndarray of int, shape (rows,)
        The position of each row's class among `labels`.
    decided : ndarray of int, shape (rows, models)
        The position of each decision among `decisions`.
    costs : ndarray, shape (rows, decisions)
        What each decision would cost.
    labels, decisions : tuple
        The classes and the decisions.
    weights : ndarray, shape (rows,), or None
        The weight of each row.
    parts : Parts or None
        The groups and strata.
    part : ndarray of int, shape (rows,), or None
        The position of each row's part among them.
    possible : ndarray of bool, shape (decisions, classes), or None
        Which decisions can be taken for which class; None for all.
    """

    names: tuple[str, ...]
    actual: NDArray[np.intp]
    decided: NDArray[np.intp]
    costs: Floats
    labels: Labels
    decisions: Labels
    weights: Floats | None = None
    parts: Parts | None = None
    part: NDArray[np.intp] | None = None
    possible: NDArray[np.bool_] | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.actual)

    @cached_property
    def _possible_costs(self) -> Floats:
        """What each decision would cost, NaN where it cannot be taken."""
        if self.possible is None:
            return self.costs
        return np.where(self.possible.T[self.actual], self.costs, np.nan)

    @property
    def spread(self) -> float:
        """The most that two decisions on one row can differ in cost."""
        possible = self._possible_costs
        return float((np.nanmax(possible, axis=1) - np.nanmin(possible, axis=1)).max())

    def without(self, impossible: Sequence[tuple[Label, Label]]) -> Self:
        """Return the same where some cells, pairs (decision, class), cannot occur.

        Parameters
        ----------
        impossible : sequence of (decision, class)
            The cells; none of them may have been observed.
        """
        possible = np.ones((len(self.decisions), len(self.labels)), dtype=bool)
        for cell in impossible:
            match cell:
                case (decision, label) if decision in self.decisions and label in self.labels:
                    place = self.decisions.index(decision), self.labels.index(label)
                case _:
                    raise LabelError(
                        "impossible",
                        "expected pairs (decision, class) of the decisions "
                        f"{listing(self.decisions)} and the classes {listing(self.labels)}; got "
                        f"{cell!r}.",
                    )
            taken = (self.decided == place[0]).any(axis=1) & (self.actual == place[1])
            if taken.any():
                raise InputError(
                    "impossible",
                    f"predicting {decision!r} when it was {label!r} was called impossible, but "
                    f"was observed {int(taken.sum())} times.",
                )
            possible[place] = False
        return replace(self, possible=possible)

    def single(self, name: str) -> CostSample:
        """Return what a model's decisions cost."""
        possible = self._possible_costs
        ends = float(np.nanmin(possible)), float(np.nanmax(possible))
        return self._sample(self._cost_of(name), ends)

    def always(self, decision: Label) -> CostSample:
        """Return what taking one decision for all rows would cost."""
        return self._sample(self.costs[:, self.decisions.index(decision)])

    def ideal(self) -> CostSample:
        """Return what the cheapest decision for each row would cost."""
        return self._sample(self.costs.min(axis=1))

    def cell(self, name: str, decision: int, label: int) -> CostSample:
        """Return what a model's decisions cost in one cell, and nothing in others."""
        column = self.decided[:, self.names.index(name)]
        inside = (column == decision) & (self.actual == label)
        ends = min(0.0, float(self.costs.min())), max(0.0, float(self.costs.max()))
        return self._sample(np.where(inside, self._cost_of(name), 0.0), ends)

    def mean_costs(self) -> Floats:
        """Return what each decision costs on average, for each class ``[decision, class]``."""
        weights = np.ones(self.n) if self.weights is None else self.weights
        table = np.empty((len(self.decisions), len(self.labels)))
        for place in range(len(self.labels)):
            own = weights * (self.actual == place)
            table[:, place] = own @ self.costs / own.sum() if own.sum() else 0.0
        return table

    def _cost_of(self, name: str) -> Floats:
        chosen = self.decided[:, self.names.index(name), np.newaxis]
        return np.asarray(np.take_along_axis(self.costs, chosen, axis=1)[:, 0])

    def _sample(self, values: Floats, ends: tuple[float, float] | None = None) -> CostSample:
        low, high = ends or (float(self.costs.min()), float(self.costs.max()))
        return CostSample(
            values,
            low,
            high,
            sample_weight=self.weights,
            groups=self._named("groups"),
            strata=self._named("strata"),
            classes=[self.labels[place] for place in self.actual.tolist()],
        )

    def _named(self, what: str) -> list[Label] | None:
        """Return the group, or the stratum, of each row."""
        names = None if self.parts is None else getattr(self.parts, what)
        if names is None or self.part is None:
            return None
        return [names[place] for place in self.part.tolist()]

    def renamed(self, classes: NDArray[Any], decisions: NDArray[Any], costs: CostMatrix) -> Self:
        """Return the same with the classes and decisions of a cost matrix, by their places in it.

        Parameters
        ----------
        classes, decisions : ndarray of int
            The place of each class and of each decision in the cost matrix.
        costs : CostMatrix
            The cost matrix.
        """
        table = np.zeros((self.n, len(costs.decisions)))
        table[:, decisions] = self.costs
        return replace(
            self,
            actual=readonly(classes[self.actual]),
            decided=readonly(decisions[self.decided]),
            costs=readonly(table),
            labels=costs.labels,
            decisions=costs.decisions,
        )

    def __add__(self, other: object) -> Self:
        """Put the rows of two sets together; groups and strata of the same name are the same."""
        if not isinstance(other, type(self)):
            return NotImplemented
        parts, part = self.parts, self.part
        if self.parts is not None and other.parts is not None:
            parts, *places = self.parts.merged(other.parts)
            rows = zip(places, (self.part, other.part), strict=True)
            part = np.concatenate([place[codes] for place, codes in rows])

        def both(name: str) -> Any:
            mine, theirs = getattr(self, name), getattr(other, name)
            return None if mine is None else np.concatenate([mine, theirs])

        arrays = {name: both(name) for name in ("actual", "decided", "costs", "weights")}
        return replace(self, **arrays, parts=parts, part=part)

    def ordered(self) -> Self:
        """Return the rows in one order, in which equal sets of rows are equal."""
        keys = [*self.costs.T[::-1]]
        keys += [] if self.weights is None else [self.weights]
        keys += [*self.decided.T[::-1], self.actual]
        keys += [] if self.part is None else [self.part]
        order = np.lexsort(keys)
        arrays: dict[str, Any] = {
            name: readonly(getattr(self, name)[order])
            for name in ("actual", "decided", "costs", "weights", "part")
            if getattr(self, name) is not None
        }
        return replace(self, **arrays)

    def _comparable(self) -> dict[str, Any]:
        return self.ordered()._values()  # noqa: SLF001


def row_costs(given: Mapping[str, Any], positive: Label) -> MistakeCosts | None:
    """Return the costs of single rows, where one of those given is the name of a column."""
    if not any(isinstance(each, str) for each in given.values()):
        return None
    if set(given) != set(MISTAKES):
        raise InputError(
            "costs",
            "expected the costs of both mistakes, false_positive and false_negative, got "
            f"{sorted(given)}.",
        )
    return MistakeCosts(given["false_positive"], given["false_negative"], positive)


def joined(parts: Sequence[JointExamples]) -> JointExamples:
    """Put the rows of batches together."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
