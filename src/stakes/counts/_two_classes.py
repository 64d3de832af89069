"""Base class and helpers of the score tables of two classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Column, Label, Labels, as_labels, hint, occurring
from stakes._core.text import number
from stakes._core.typing import Floats
from stakes._core.values import ByValue, readonly_copy
from stakes.errors import InputError, LabelError

Ranks = NDArray[np.int32]
"""Position of each score in the distinct scores, highest first."""

CELLS = 2**14
"""Number of cells that divide the range of a curve's thresholds; they fit into a fast cache."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class TwoClassCounts(ByValue, ABC):
    """Counts of positives and negatives, or sums of their weights and of the squared weights."""

    pos_label: Label
    neg_label: Label
    squares: NDArray[np.float64] | None

    @property
    @abstractmethod
    def n_positives(self) -> Any:
        """The number of positive examples."""

    @property
    @abstractmethod
    def n_negatives(self) -> Any:
        """The number of negative examples."""

    @property
    def n(self) -> Any:
        """The number of examples."""
        return self.n_positives + self.n_negatives

    @property
    def weighted(self) -> bool:
        """Whether the counts are sums of weights."""
        return self.squares is not None

    def relabel(self, *, pos_label: Label, neg_label: Label) -> Self:
        """Return the same counts with other names of the classes.

        Parameters
        ----------
        pos_label, neg_label : label
            The new names.

        Returns
        -------
        the same kind of table
            The table with these names.
        """
        return self._changed(**checked_names(pos_label, neg_label))

    def to_dict(self) -> dict[str, Any]:
        """Return the table as plain lists.

        Returns
        -------
        dict
            The arguments of the constructor, as plain values.
        """
        return {name: _plain(value) for name, value in self._values().items() if value is not None}

    def __radd__(self, other: object) -> Self:
        """Return the table itself when added to zero, so that `sum` works."""
        return self if other == 0 else NotImplemented

    def _check_mergeable(self, other: TwoClassCounts) -> None:
        """Raise when the tables differ in their classes, or only one of them is weighted."""
        if (self.neg_label, self.pos_label) != (other.neg_label, other.pos_label):
            raise LabelError(
                "",
                f"score tables of the classes {self.neg_label!r} and {self.pos_label!r} cannot be "
                f"merged with one of {other.neg_label!r} and {other.pos_label!r}.",
            )
        if self.weighted != other.weighted:
            raise InputError(
                "",
                "scores with sample weights cannot be merged with scores without.",
                "Count all parts with sample_weight=, or none.",
            )

    def _title(self) -> str:
        """Return the kind of table and the number of examples of each class, as text."""
        return (
            f"{type(self).__name__}: {number(self.n_positives)} × {self.pos_label!r}, "
            f"{number(self.n_negatives)} × {self.neg_label!r}"
        )

    def _class_rows(self) -> list[list[str]]:
        """Return the rows of a display table with the number of examples of each class."""
        return [
            [f"positives ({self.pos_label})", number(self.n_positives)],
            [f"negatives ({self.neg_label})", number(self.n_negatives)],
        ]


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return value.to_dict() if hasattr(value, "to_dict") else value


def checked_sides(
    rows: dict[str, int], positives: Any, negatives: Any, squares: Any
) -> dict[str, Any]:
    """Check positives, negatives and squares, whose length `rows` gives by argument name."""
    given = {"positives": positives, "negatives": negatives}
    lengths = {name: len(validate.amounts(each, name, ndim=1)) for name, each in given.items()}
    validate.same_length(rows | lengths)
    both = validate.counts(
        [np.asarray(each) for each in given.values()], "positives, negatives", ndim=2
    )
    if squares is not None:
        squares = validate.amounts(squares, "squares", ndim=2)
        if squares.shape != both.shape:
            raise InputError(
                "squares",
                f"expected an array of shape {both.shape}, positives and negatives; got "
                f"{squares.shape}.",
            )
        both, squares = both.astype(np.float64), readonly_copy(squares)
    return {
        "positives": readonly_copy(both[0]),
        "negatives": readonly_copy(both[1]),
        "squares": squares,
    }


def checked_names(pos_label: Any, neg_label: Any) -> dict[str, Label]:
    """Check the names of the classes."""
    negative, positive = as_labels([neg_label, pos_label], "neg_label, pos_label")
    return {"pos_label": positive, "neg_label": negative}


def both_classes_weigh(table: TwoClassCounts, name: str) -> None:
    """Raise when all examples of a class have weight zero."""
    for label, total in (
        (table.pos_label, table.n_positives),
        (table.neg_label, table.n_negatives),
    ):
        if not total:
            raise InputError(
                name,
                f"two classes are needed, all examples of {label!r} have weight zero.",
                "To count a part in which one class is absent, name both: pos_label=, neg_label=.",
            )


def two_classes(
    column: Column, pos_label: Label, neg_label: Label | None
) -> tuple[NDArray[np.bool_], Labels]:
    """Return which rows are positive, and the labels of the positive and the negative class."""
    names = {"pos_label": pos_label} | ({} if neg_label is None else {"neg_label": neg_label})
    as_labels(list(names.values()), ", ".join(names))
    present = tuple(column.present(column.used()))
    if neg_label is None:
        occurring({column.name: present})
    expected = {pos_label} if neg_label is None else {pos_label, neg_label}
    classes = (*present, *(label for label in expected if label not in present))
    if neg_label is None and pos_label not in present:
        raise LabelError(
            "pos_label",
            f"{pos_label!r} does not occur in {column.name}, which has "
            f"{', '.join(map(repr, present[:10]))}.",
            f"{hint(pos_label, present)} Name the positive class, and both classes if one may be "
            "absent.".lstrip(),
        )
    if neg_label is None and len(present) == 1:
        raise LabelError(
            column.name,
            f"two classes are needed, got only {present[0]!r}.",
            "To count a part in which one class is absent, name both: pos_label=, neg_label=.",
        )
    validate.two_classes(classes, column.name)
    other = next(label for label in classes if label != pos_label)
    labels = as_labels([pos_label, other], "pos_label, neg_label")
    if pos_label not in column.values:
        return np.zeros(len(column), dtype=bool), labels
    return column.codes == column.values.index(pos_label) + column.offset, labels


def ranked(scores: Floats) -> tuple[Floats, Ranks]:
    """Return the distinct scores, highest first, and the position of each score in them."""
    order = np.argsort(scores)
    ordered = scores[order]
    new = np.append(True, ordered[1:] != ordered[:-1])
    place = np.cumsum(new, dtype=np.int32)
    ranks = np.empty(len(scores), dtype=np.int32)
    ranks[order] = place[-1] - place
    return ordered[new][::-1].copy(), ranks


def places_among(edges: Floats) -> Callable[[Floats], NDArray[np.int32]]:
    """Return a function that counts, for each score, the ascending edges that are at most it.

    The range of the edges is divided into cells, which preserve the order of scores whatever the
    rounding. A score is therefore above the edges in lower cells and below those in higher cells;
    it is compared with edges only where its own cell has any.
    """
    finite = edges[np.isfinite(edges)]
    with np.errstate(over="ignore", divide="ignore"):
        scale = CELLS / np.ptp(finite) if len(finite) else np.inf

    def cell(scores: Floats) -> NDArray[np.int32]:
        with np.errstate(over="ignore"):
            at = np.clip((scores - finite[0]) * scale, -1, CELLS)
        return np.asarray(at, dtype=np.int32)

    def places(scores: Floats) -> NDArray[np.int32]:
        at = cell(scores)
        found = before[at]
        unsure = np.flatnonzero(some[at])
        found[unsure] = np.searchsorted(edges, scores[unsure], side="right")
        return found

    if not 0 < scale < np.inf:  # all edges are equal, or too far apart
        return lambda scores: np.searchsorted(edges, scores, side="right").astype(np.int32)
    held = np.bincount(cell(finite), minlength=CELLS + 2)  # the last is cell -1, which has none
    before = (np.cumsum(held) - held).astype(np.int32)
    before[-1], some = 0, held > 0
    return places


def merged(thresholds: Sequence[Floats], ranks: Sequence[Ranks]) -> tuple[Floats, Ranks]:
    """Return the distinct scores of all parts, and the position of each part's rows in them."""
    every, places = ranked(np.concatenate(thresholds))
    ends = np.cumsum([len(each) for each in thresholds])
    of_parts = zip(np.split(places, ends[:-1]), ranks, strict=True)
    return every, np.concatenate([place[rows] for place, rows in of_parts])


def sides(
    ranks: Ranks, size: int, positive: NDArray[np.bool_], amounts: NDArray[Any] | None
) -> NDArray[Any]:
    """Sum rows into a table of two rows, positives and negatives, with a column for each score."""
    codes = np.where(positive, ranks, ranks + np.int32(size))
    sums = np.bincount(codes, weights=amounts, minlength=2 * size).reshape(2, size)
    whole = amounts is None or amounts.dtype.kind in "biu"
    return sums.astype(np.int64, copy=False) if whole else sums


def amounts_of(amounts: NDArray[Any] | None, rows: int) -> NDArray[Any]:
    """Return the number of examples that each row stands for, by default one."""
    return np.ones(rows, dtype=np.int64) if amounts is None else amounts
