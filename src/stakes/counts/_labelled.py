"""What the labelled tables of counts have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.columns import Column
from stakes._core.labels import Labels, as_axes, as_labels, union
from stakes._core.values import ByValue, readonly_copy
from stakes.counts._arrays import Axis, check_cells, count_columns
from stakes.errors import InputError


@dataclass(frozen=True, init=False, eq=False, repr=False)
class LabelledCounts(ByValue):
    """A table of counts: one or more axes of decisions, then the axis of actual classes.

    Counts are whole numbers, or sums of example weights; then `squares` keeps the sums of squared
    weights, from which the precision of a weighted estimate follows.
    """

    counts: NDArray[Any]
    labels: Labels
    decisions: Labels
    squares: NDArray[np.float64] | None

    _deciders = 1

    def __init__(
        self, counts: Any, labels: Any, decisions: Any = None, *, squares: Any = None
    ) -> None:
        classes, choices = as_axes(labels, decisions)
        table = validate.counts(counts, "counts", ndim=self._deciders + 1)
        shape = (len(choices),) * self._deciders + (len(classes),)
        if table.shape != shape:
            raise InputError(
                f"counts: with {len(choices)} decisions and {len(classes)} classes, expected an "
                f"array of shape {shape}, [predicted, actual]; got {table.shape}."
            )
        if squares is not None:
            squares = validate.amounts(squares, "squares", ndim=table.ndim)
            if squares.shape != shape:
                raise InputError(f"squares: expected the shape of counts, {shape}.")
            table = table.astype(np.float64)
            squares = readonly_copy(squares)
        self._set(counts=readonly_copy(table), labels=classes, decisions=choices, squares=squares)

    @classmethod
    def _from_columns(
        cls,
        columns: Sequence[Column],
        labels: Any,
        decisions: Any,
        amounts: Sequence[NDArray[Any] | None] = (None,),
    ) -> Self:
        """Count columns of labels: those of the decisions first, then that of the classes."""
        tables, names = count_columns(columns, axes_of(labels, decisions, cls._deciders), amounts)
        squares = tables[1] if len(tables) > 1 else None
        counts = tables[0] if squares is not None else tables[0].astype(np.int64)
        return cls(counts, names[-1], names[0], squares=squares)

    @property
    def n(self) -> Any:
        """The number of examples, or the sum of their weights."""
        return self.counts.sum().item()

    @property
    def class_counts(self) -> NDArray[Any]:
        """How many examples each actual class has, in the order of `labels`."""
        return np.asarray(self.counts.sum(axis=tuple(range(self._deciders))))

    @property
    def weighted(self) -> bool:
        """Whether the counts are sums of weights."""
        return self.squares is not None

    def __add__(self, other: object) -> Self:
        """Merge the counts of two sets of examples.

        The labels may differ: then the result has those of both, sorted. Merging is associative
        and does not depend on the order.
        """
        if not isinstance(other, type(self)):
            return NotImplemented
        if self.weighted != other.weighted:
            raise InputError(
                "counts with sample weights cannot be merged with counts without: the sums of "
                "squared weights would be lost. Count all parts with sample_weight, or none."
            )
        labels = union(self.labels, other.labels)
        decisions = union(self.decisions, other.decisions)
        check_cells([*[len(decisions)] * self._deciders, len(labels)], "labels of both parts")
        parts = [part._spread(labels, decisions) for part in (self, other)]  # noqa: SLF001
        squares = parts[0][1] + parts[1][1] if self.weighted else None
        return type(self)(parts[0][0] + parts[1][0], labels, decisions, squares=squares)

    def __radd__(self, other: object) -> Self:
        """Start from nothing, as `sum` does."""
        return self if other == 0 else NotImplemented

    def _spread(self, labels: Labels, decisions: Labels) -> list[NDArray[Any]]:
        """Return counts and squares on larger axes."""
        shape = (len(decisions),) * self._deciders + (len(labels),)
        place = np.ix_(
            *[_positions(self.decisions, decisions)] * self._deciders,
            _positions(self.labels, labels),
        )
        spread = []
        for table in (self.counts, self.squares):
            if table is not None:
                larger = np.zeros(shape, dtype=table.dtype)
                larger[place] = table
                spread.append(larger)
        return spread

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain lists.

        Returns
        -------
        dict
            What the constructor takes, as plain values.
        """
        result: dict[str, Any] = {
            "labels": list(self.labels),
            "decisions": list(self.decisions),
            "counts": self.counts.tolist(),
        }
        if self.squares is not None:
            result["squares"] = self.squares.tolist()
        return result


def axes_of(labels: Any, decisions: Any, deciders: int) -> list[Axis]:
    """Check the labels and decisions asked for, and return the axes of a table.

    Without either, all labels that occur are both classes and decisions; with decisions alone, the
    classes are those that actually occur.
    """
    classes = None if labels is None else as_labels(labels, "labels")
    choices = classes if decisions is None else as_labels(decisions, "decisions")
    return [(choices, "decisions")] * deciders + [(classes, "classes")]


def _positions(labels: Labels, among: Labels) -> list[int]:
    places = {label: place for place, label in enumerate(among)}
    return [places[label] for label in labels]
