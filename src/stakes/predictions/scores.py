"""The scores that any number of models give the same examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label, listing
from stakes._core.typing import Floats
from stakes._core.values import ByValue, readonly
from stakes.counts import PairedScoreCounts, ScoreCounts
from stakes.counts._two_classes import amounts_of, merged, ranked, sides
from stakes.errors import LabelError


@dataclass(frozen=True, eq=False)
class JointScores(ByValue):
    """Which scores the positives and the negatives have from each model.

    It has a row for each example, or for each combination of class and scores that occurs.

    Attributes
    ----------
    names : tuple of str
        The models.
    thresholds : tuple of ndarray
        The distinct scores of each model, highest first.
    ranks : ndarray of int, shape (models, rows)
        The position of each row's scores among them.
    positive : ndarray of bool, shape (rows,)
        Whether the row is of the positive class.
    amounts : ndarray of int, shape (rows,), or None
        How many examples the row stands for; None if each for one.
    pos_label, neg_label : label
        The classes; the higher a score, the more likely the positive one.
    """

    names: tuple[str, ...]
    thresholds: tuple[Floats, ...]
    ranks: NDArray[np.int32]
    positive: NDArray[np.bool_]
    amounts: NDArray[np.int64] | None
    pos_label: Label
    neg_label: Label

    @classmethod
    def from_columns(
        cls,
        positive: NDArray[np.bool_],
        columns: Mapping[str, Floats],
        *,
        pos_label: Label,
        neg_label: Label,
    ) -> Self:
        """Rank the scores of each model.

        Parameters
        ----------
        positive : ndarray of bool, shape (n,)
            Whether each example is of the positive class.
        columns : mapping
            From each model's name to its scores.
        pos_label, neg_label : label
            The names of the classes.
        """
        tables = [ranked(values) for values in columns.values()]
        return cls(
            tuple(columns),
            tuple(readonly(thresholds) for thresholds, _ in tables),
            readonly(np.array([ranks for _, ranks in tables], dtype=np.int32)),
            readonly(positive),
            None,
            pos_label,
            neg_label,
        )

    @property
    def both_classes(self) -> bool:
        """Whether there are positives and negatives."""
        return bool(self.positive.any() and not self.positive.all())

    def single(self, name: str) -> ScoreCounts:
        """Return the score table of one model."""
        at = self.names.index(name)
        cuts = self.thresholds[at]
        tables = sides(self.ranks[at], len(cuts), self.positive, self.amounts)
        return ScoreCounts(cuts, *tables, **self._labels())

    def pair(self, first: str, second: str) -> PairedScoreCounts:
        """Return the joint score table of two of the models."""
        one, other = self.names.index(first), self.names.index(second)
        return PairedScoreCounts(
            self.thresholds[one],
            self.thresholds[other],
            ranks_1=self.ranks[one],
            ranks_2=self.ranks[other],
            positive=self.positive,
            amounts=self.amounts,
            **self._labels(),
        )

    def compressed(self) -> Self:
        """Return a row for each combination that occurs, in one and the same order."""
        keys = [*self.ranks[::-1], ~self.positive]  # the last one sorts first
        order = np.lexsort(keys)
        new = np.zeros(len(order), dtype=bool)
        new[0] = True
        for key in keys:
            ordered = key[order]
            new[1:] |= ordered[1:] != ordered[:-1]
        rows, place = order[new], np.cumsum(new) - 1
        amounts = np.zeros(len(rows), dtype=np.int64)
        np.add.at(amounts, place, 1 if self.amounts is None else self.amounts[order])
        return type(self)(
            self.names,
            self.thresholds,
            readonly(self.ranks[:, rows]),
            readonly(self.positive[rows]),
            None if (amounts == 1).all() else readonly(amounts),
            self.pos_label,
            self.neg_label,
        )

    def __add__(self, other: object) -> Self:
        """Merge the scores of two sets of examples, by the same models."""
        if not isinstance(other, type(self)):
            return NotImplemented
        if self.names != other.names or self._labels() != other._labels():
            raise LabelError(
                "",
                f"scores of {listing(self.names)} for {self.pos_label!r} cannot be merged with "
                f"those of {listing(other.names)} for {other.pos_label!r}.",
            )
        parts = (self, other)
        tables = [
            merged([part.thresholds[at] for part in parts], [part.ranks[at] for part in parts])
            for at in range(len(self.names))
        ]
        return type(self)(
            self.names,
            tuple(readonly(thresholds) for thresholds, _ in tables),
            readonly(np.array([ranks for _, ranks in tables], dtype=np.int32)),
            readonly(np.concatenate([part.positive for part in parts])),
            readonly(
                np.concatenate([amounts_of(part.amounts, len(part.positive)) for part in parts])
            ),
            self.pos_label,
            self.neg_label,
        ).compressed()

    def _labels(self) -> dict[str, Any]:
        return {"pos_label": self.pos_label, "neg_label": self.neg_label}

    def _comparable(self) -> dict[str, Any]:
        """Compare rows added up and in order, each model's scores as an array of its own."""
        same = self.compressed()
        arrays = {
            f"thresholds of {name}": values
            for name, values in zip(same.names, same.thresholds, strict=True)
        }
        return {k: v for k, v in same._values().items() if k != "thresholds"} | arrays  # noqa: SLF001
