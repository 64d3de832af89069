"""Costs of decisions that vary from row to row, and the decisions counted with them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Label, Labels
from stakes._core.typing import Floats
from stakes._core.values import ByValue, readonly
from stakes.costs import CostMatrix, ExampleCosts
from stakes.counts import CostSample
from stakes.counts._parts import Parts
from stakes.counts.sample import with_assumed
from stakes.errors import InputError
from stakes.predictions.table import Batch, Codes

IN_SAMPLE = " on all rows"
"""Name suffix of decisions by thresholds that were chosen on all rows."""

MISTAKES = {"false_positive": "cost of a false alarm", "false_negative": "cost of a miss"}


class RowCosts(Protocol):
    """The cost of each decision for each row of a batch."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The required columns."""

    def of(self, batch: Batch, actual: Codes, costs: CostMatrix) -> Floats:
        """Return the cost of each decision for each row, of shape (rows, decisions).

        Parameters
        ----------
        batch : Batch
            The rows.
        actual : ndarray of int
            The position of each row's class among the labels of the costs.
        costs : CostMatrix
            The matrix with the labels and the decisions.
        """

    def chosen(self, batch: Batch, probability: Floats) -> NDArray[np.bool_]:
        """Return a mask of rows where the positive decision costs less, given P(positive)."""

    @property
    def high(self) -> float | None:
        """The highest possible cost of a row, if known."""

    @property
    def for_both_classes(self) -> bool:
        """Whether the cost of each decision is also known for the class that did not occur."""


@dataclass(frozen=True)
class MistakeCosts:
    """The costs of a false alarm and of a miss, each a number or the name of a column.

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
    def high(self) -> float | None:
        """None: the highest possible cost of a row is not known."""
        return None

    @property
    def for_both_classes(self) -> bool:
        """True: both mistakes have a cost for each row."""
        return True

    @property
    def columns(self) -> tuple[str, ...]:
        """The required columns."""
        both = (self.false_positive, self.false_negative)
        return tuple(dict.fromkeys(each for each in both if isinstance(each, str)))

    def of(self, batch: Batch, actual: Codes, costs: CostMatrix) -> Floats:
        """Return the cost of each decision; see `RowCosts`."""
        positive = actual == costs.labels.index(self.positive)
        table = np.zeros((len(positive), len(costs.decisions)))
        place = costs.decisions.index(self.positive)
        alarms, misses = (self._amounts(batch, name) for name in MISTAKES)
        table[:, place] = np.where(positive, 0.0, alarms)
        table[:, 1 - place] = np.where(positive, misses, 0.0)
        return table

    def chosen(self, batch: Batch, probability: Floats) -> NDArray[np.bool_]:
        """Return a mask of rows where the positive decision costs less; see `RowCosts`."""
        alarms, misses = (self._amounts(batch, name) for name in MISTAKES)
        return np.asarray(probability * misses >= (1 - probability) * alarms)

    def _amounts(self, batch: Batch, name: str) -> Any:
        given = getattr(self, name)
        if not isinstance(given, str):
            return float(given)
        amounts = batch.scores(given, MISTAKES[name])
        most = validate.LARGEST_COST
        wrong = ~((amounts >= 0) & (amounts <= most))
        if wrong.any():
            found = float(amounts[wrong][0])
            large = most < found < math.inf
            wanted = f"costs of at most {most:.0e}" if large else "finite costs of 0 or more"
            raise InputError(
                f"{batch.source}, column {given!r}",
                f"expected {wanted}, got {found:g} in row {int(np.argmax(wrong)) + 1}.",
                "Use a larger unit." if large else "",
            )
        return amounts


@dataclass(frozen=True)
class GivenCosts:
    """Given costs of each decision for each row of a table that is one batch."""

    costs: ExampleCosts

    @property
    def high(self) -> float | None:
        """The highest possible cost of a row, if known."""
        return None if self.costs.assumed else self.costs.high

    @property
    def for_both_classes(self) -> bool:
        """False: the costs are known for the actual class only."""
        return False

    @property
    def columns(self) -> tuple[str, ...]:
        """An empty tuple: no column is required."""
        return ()

    def of(self, batch: Batch, actual: Codes, costs: CostMatrix) -> Floats:
        """Return the cost of each decision; see `RowCosts`."""
        del batch, costs
        if len(actual) != len(self.costs):
            raise InputError(
                "costs",
                f"expected those of {len(actual)} examples, got {len(self.costs)}.",
            )
        return np.asarray(self.costs.values)

    def chosen(self, batch: Batch, probability: Floats) -> NDArray[np.bool_]:
        """Raise an error, because costs for the other class are not known."""
        del batch, probability
        raise InputError(
            "y_pred",
            "with ExampleCosts a model needs decisions: what its decision would cost if the class "
            "were another is not known.",
        )


@dataclass(frozen=True, eq=False)
class JointExamples(ByValue):
    """The decisions of several models on the same rows, and the cost of each decision per row.

    Attributes
    ----------
    names : tuple of str
        The models.
    actual : ndarray of int, shape (rows,)
        The position of each row's class among `labels`.
    decided : ndarray of int, shape (rows, models)
        The position of each decision among `decisions`.
    costs : ndarray, shape (rows, decisions)
        The cost of each decision for each row.
    labels, decisions : tuple
        The classes and the decisions.
    weights : ndarray, shape (rows,), or None
        The weight of each row.
    parts : Parts or None
        The groups and strata.
    part : ndarray of int, shape (rows,), or None
        The position of each row's part in `parts`.
    high : float or None
        The highest possible cost of a row, if known.
    impossible : tuple of (decision, class), or None
        The cells that cannot occur.
    scores : mapping of str to ndarray, or None
        The scores of the models that have scores.
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
    high: float | None = None
    impossible: tuple[tuple[Label, Label], ...] | None = None
    scores: Mapping[str, Floats] | None = None

    @property
    def n(self) -> int:
        """The number of rows."""
        return len(self.actual)

    @cached_property
    def example_costs(self) -> ExampleCosts:
        """The cost of each decision for each row."""
        return ExampleCosts(self.costs, decisions=self.decisions, high=self.high)

    @cached_property
    def samples(self) -> tuple[dict[str, CostSample], float]:
        """The costs of each model's decisions, and the largest possible difference within a row."""
        decided = {
            name: [self.decisions[place] for place in self.decided[:, at].tolist()]
            for at, name in enumerate(self.names)
        }
        return CostSample.of_models(
            self.example_costs,
            decided,
            y_true=self._classes,
            impossible=self.impossible,
            **self._sampling,
        )

    def single(self, name: str) -> CostSample:
        """Return the costs of a model's decisions."""
        return self.samples[0][name]

    def always(self, decision: Label) -> CostSample:
        """Return the costs of a constant prediction."""
        possible = self.costs[:, self.decisions.index(decision)]
        most = float(possible.max()) if self.high is None else self.high
        sample = CostSample(
            possible, float(possible.min()), most, classes=self._classes, **self._sampling
        )
        return with_assumed(sample, assumed=self.example_costs.assumed)

    def with_columns(self, columns: Mapping[str, NDArray[Any]]) -> Self:
        """Return the rows with columns of decisions added, given by their positions."""
        given = [self.decided, *(each[:, np.newaxis] for each in columns.values())]
        return replace(
            self,
            names=(*self.names, *columns),
            decided=readonly(np.concatenate(given, axis=1).astype(np.intp)),
        )

    def ideal(self) -> CostSample:
        """Return the cost of the cheapest decision for each row."""
        return self._sample(self.costs.min(axis=1))

    def cell(self, name: str, decision: int, label: int) -> CostSample:
        """Return the costs of a model's decisions in one cell, and 0 elsewhere."""
        column = self.decided[:, self.names.index(name)]
        inside = (column == decision) & (self.actual == label)
        return self._sample(np.where(inside, self._cost_of(name), 0.0))

    def mean_costs(self) -> Floats:
        """Return the mean cost of each decision for each class, as ``[decision, class]``."""
        weights = np.ones(self.n) if self.weights is None else self.weights
        table = np.empty((len(self.decisions), len(self.labels)))
        for place in range(len(self.labels)):
            own = weights * (self.actual == place)
            table[:, place] = own @ self.costs / own.sum() if own.sum() else 0.0
        return table

    def _cost_of(self, name: str) -> Floats:
        chosen = self.decided[:, self.names.index(name), np.newaxis]
        return np.asarray(np.take_along_axis(self.costs, chosen, axis=1)[:, 0])

    def _sample(self, values: Floats) -> CostSample:
        return CostSample(values, classes=self._classes, **self._sampling)

    def as_arguments(self) -> dict[str, Any]:
        """Return the classes, weights, groups and strata as keyword arguments."""
        return {"y_true": self._classes, **self._sampling}

    @cached_property
    def _classes(self) -> list[Label]:
        return [self.labels[place] for place in self.actual.tolist()]

    @cached_property
    def _sampling(self) -> dict[str, Any]:
        return {
            "sample_weight": self.weights,
            "groups": self._named("groups"),
            "strata": self._named("strata"),
        }

    def _named(self, what: str) -> list[Label] | None:
        """Return the group or the stratum of each row; None if there are none."""
        names = None if self.parts is None else getattr(self.parts, what)
        if names is None or self.part is None:
            return None
        return [names[place] for place in self.part.tolist()]

    def renamed(self, classes: NDArray[Any], decisions: NDArray[Any], costs: CostMatrix) -> Self:
        """Return the rows with the classes and decisions of a cost matrix.

        Parameters
        ----------
        classes, decisions : ndarray of int
            The position of each class and of each decision in the cost matrix.
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
        """Concatenate two sets of rows; groups and strata of the same name are the same."""
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
        known = self.high is not None and other.high is not None
        high = max(self.high, other.high) if known else None  # type: ignore[type-var]
        scores = None
        if self.scores is not None and other.scores is not None:
            scores = {
                name: np.concatenate([self.scores[name], other.scores[name]])
                for name in self.scores
            }
        return replace(self, **arrays, parts=parts, part=part, high=high, scores=scores)

    def ordered(self) -> Self:
        """Return the rows in sorted order, so that equal sets of rows compare equal."""
        keys = [*(self.scores or {}).values(), *self.costs.T[::-1]]
        keys += [] if self.weights is None else [self.weights]
        keys += [*self.decided.T[::-1], self.actual]
        keys += [] if self.part is None else [self.part]
        order = np.lexsort(keys)
        arrays: dict[str, Any] = {
            name: readonly(getattr(self, name)[order])
            for name in ("actual", "decided", "costs", "weights", "part")
            if getattr(self, name) is not None
        }
        scores = None
        if self.scores is not None:
            scores = {name: readonly(each[order]) for name, each in self.scores.items()}
        return replace(self, **arrays, scores=scores)

    def _comparable(self) -> dict[str, Any]:
        same = self.ordered()
        scores = {f"score of {name}": each for name, each in (same.scores or {}).items()}
        return {k: v for k, v in same._values().items() if k != "scores"} | scores  # noqa: SLF001


def row_costs(given: Mapping[str, Any], positive: Label) -> MistakeCosts | None:
    """Return the per-row costs if a cost is given as a column name, otherwise None."""
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
    """Concatenate the rows of batches."""
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total
