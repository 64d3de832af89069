"""Joint score tables: the scores of several models on the same examples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label, listing
from stakes._core.typing import Floats
from stakes._core.values import ByValue, readonly
from stakes.counts import PairedScoreCounts, ScoreCounts
from stakes.counts._parts import Parts
from stakes.counts._two_classes import amounts_of, merged, ranked, sides
from stakes.counts.scores import ScoreRows
from stakes.errors import LabelError

DEVIATIONS = 3
"""Standard deviations; an uninformative score is that far below chance once in 700 times."""

NO_DECISIONS: NDArray[np.signedinteger] = np.empty((0, 0), dtype=np.int8)


@dataclass(frozen=True, eq=False)
class JointScores(ByValue):
    """The joint distribution of the scores of several models, by class.

    There is a row for each example, or for each combination of class and scores that occurs.

    Attributes
    ----------
    names : tuple of str
        The models.
    thresholds : tuple of ndarray
        The distinct scores of each model, highest first.
    ranks : ndarray of int, shape (models, rows)
        The position of each row's scores in `thresholds`.
    positive : ndarray of bool, shape (rows,)
        Whether each row is of the positive class.
    amounts : ndarray, shape (rows,), or None
        The number of examples in each row, or their total weight; None if each is one example.
    pos_label, neg_label : label
        The classes; a higher score makes the positive one more likely.
    squares : ndarray, shape (rows,), or None
        The sums of squared weights, where `amounts` are sums of weights.
    parts : Parts or None
        The groups and strata.
    part : ndarray of int, shape (rows,), or None
        The position of each row's part in `parts`.
    deciding : tuple of str
        The models that have decisions, with or without scores.
    decided : ndarray of int, shape (deciding models, rows)
        The positions of their decisions.
    """

    names: tuple[str, ...]
    thresholds: tuple[Floats, ...]
    ranks: NDArray[np.int32]
    positive: NDArray[np.bool_]
    amounts: NDArray[Any] | None
    pos_label: Label
    neg_label: Label
    squares: Floats | None = None
    parts: Parts | None = None
    part: NDArray[np.intp] | None = None
    deciding: tuple[str, ...] = ()
    decided: NDArray[np.signedinteger] = field(default_factory=lambda: NO_DECISIONS)

    def __post_init__(self) -> None:
        if not self.deciding:
            nothing = np.empty((0, len(self.positive)), dtype=np.int8)
            object.__setattr__(self, "decided", readonly(nothing))

    @classmethod
    def from_columns(
        cls,
        positive: NDArray[np.bool_],
        columns: Mapping[str, Floats],
        *,
        pos_label: Label,
        neg_label: Label,
        sample_weight: Floats | None = None,
        parts: Parts | None = None,
        part: NDArray[np.intp] | None = None,
        decided: Mapping[str, NDArray[Any]] | None = None,
    ) -> Self:
        """Return the joint table of scores, ranked for each model.

        Parameters
        ----------
        positive : ndarray of bool, shape (n,)
            Whether each example is of the positive class.
        columns : mapping
            The scores of each model, by name.
        pos_label, neg_label : label
            The names of the classes.
        sample_weight : ndarray, shape (n,), optional
            The weight of each example.
        parts, part : Parts and ndarray of int, shape (n,), optional
            The groups and strata, and the position of each example's part in them.
        decided : mapping, optional
            The positions of the decisions of each model that has decisions, by name.
        """
        given = decided or {}
        tables = [ranked(values) for values in columns.values()]
        return cls(
            tuple(columns),
            tuple(readonly(thresholds) for thresholds, _ in tables),
            readonly(np.array([ranks for _, ranks in tables], dtype=np.int32)),
            readonly(positive),
            sample_weight,
            pos_label,
            neg_label,
            None if sample_weight is None else readonly(sample_weight**2),
            parts,
            part,
            tuple(given),
            readonly(np.stack([*given.values()])) if given else NO_DECISIONS,
        )

    @classmethod
    def of(cls, name: str, counts: ScoreCounts) -> Self:
        """Return the score table of one model as a joint table: the reverse of `single`.

        Of weighted rows with the same score, class and part only the sums of weights and of their
        squares are known. They are taken as rows of equal weight.
        """
        n, rows = len(counts.thresholds), counts.rows
        found: list[Any] = [np.tile(np.arange(n), 2), np.arange(2 * n) < n, None]
        found += [np.concatenate([counts.positives, counts.negatives]), counts.squares]
        if rows is not None:
            found = [rows.place, rows.positive, rows.part, rows.amounts, rows.squares]
        place, positive, part, amounts, squares = found
        if squares is None and not (amounts == np.rint(amounts)).all():
            squares = amounts  # shares of rows, which cannot be in several folds
        there = np.flatnonzero(amounts > 0)
        if squares is None:
            each: NDArray[Any] = amounts[there].astype(np.int64)
        else:
            times = np.maximum(np.rint(amounts[there] ** 2 / squares.ravel()[there]), 1).astype(
                np.intp
            )
            each = np.repeat(amounts[there] / times, times)
            there = np.repeat(there, times)
        return cls(
            (name,),
            (counts.thresholds,),
            readonly(place[there][np.newaxis].astype(np.int32)),
            readonly(positive[there]),
            readonly(each),
            counts.pos_label,
            counts.neg_label,
            None if squares is None else readonly(each**2),
            counts.parts,
            None if part is None else readonly(part[there].astype(np.intp)),
        )

    @property
    def both_classes(self) -> bool:
        """Whether there are positives and negatives."""
        return bool(self.positive.any() and not self.positive.all())

    def single(self, name: str) -> ScoreCounts:
        """Return the score table of one model."""
        at = self.names.index(name)
        cuts = self.thresholds[at]
        if self.parts is not None and self.part is not None:
            amounts = [self.amounts] + ([] if self.squares is None else [self.squares])
            rows = ScoreRows.of(self.parts, self.ranks[at], self.part, self.positive, amounts)
            (positives, negatives), *squared = rows.tables(len(cuts))
            named = {"squares": squared[0] if squared else None, "rows": rows, **self._labels()}
            return ScoreCounts(cuts, positives, negatives, **named)
        tables = sides(self.ranks[at], len(cuts), self.positive, self.amounts)
        squares = None
        if self.squares is not None:
            squares = sides(self.ranks[at], len(cuts), self.positive, self.squares)
        return ScoreCounts(cuts, *tables, squares=squares, **self._labels())

    def worse_than_chance(self, name: str) -> float | None:
        """Return the AUC of a model's scores if it is below 0.5 by more than chance, else None.

        The limit is `DEVIATIONS` standard deviations of the AUC of uninformative scores (that of
        the rank-sum statistic).
        """
        at = self.names.index(name)
        tables = sides(self.ranks[at], len(self.thresholds[at]), self.positive, self.amounts)
        positives, negatives = (np.asarray(each, dtype=float) for each in tables)
        many, few = positives.sum(), negatives.sum()
        if not many or not few:
            return None
        above = np.cumsum(positives) - positives / 2
        auc = float((negatives * above).sum() / (many * few))
        rows = (len(self.positive), int(self.positive.sum()))
        deviation = np.sqrt((rows[0] + 1) / (12 * rows[1] * (rows[0] - rows[1])))
        return auc if auc < 1 / 2 - DEVIATIONS * deviation else None

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
            squares=self.squares,
            parts=self.parts,
            part=self.part,
            **self._labels(),
        )

    def compressed(self) -> Self:
        """Return the table with a sorted row for each combination that occurs."""
        keys = [*self.decided[::-1], *self.ranks[::-1], ~self.positive]  # the last sorts first
        keys += [] if self.part is None else [self.part]
        order = np.lexsort(keys)
        new = np.zeros(len(order), dtype=bool)
        new[0] = True
        for key in keys:
            ordered = key[order]
            new[1:] |= ordered[1:] != ordered[:-1]
        rows, place = order[new], np.cumsum(new) - 1
        each = amounts_of(self.amounts, len(order))
        amounts = _added(each, order, place)
        plain = self.squares is None and (amounts == 1).all()
        return replace(
            self,
            ranks=readonly(self.ranks[:, rows]),
            positive=readonly(self.positive[rows]),
            amounts=None if plain else readonly(amounts),
            squares=None if self.squares is None else readonly(_added(self.squares, order, place)),
            part=None if self.part is None else readonly(self.part[rows]),
            decided=readonly(self.decided[:, rows]),
        )

    def __add__(self, other: object) -> Self:
        """Merge the scores of the same models on two sets of examples."""
        if not isinstance(other, type(self)):
            return NotImplemented
        same = (self.names, self.deciding) == (other.names, other.deciding)
        if not same or self._labels() != other._labels():
            raise LabelError(
                "",
                f"scores of {listing(self.names)} for {self.pos_label!r} cannot be merged with "
                f"those of {listing(other.names)} for {other.pos_label!r}.",
            )
        both = (self, other)
        tables = [
            merged([each.thresholds[at] for each in both], [each.ranks[at] for each in both])
            for at in range(len(self.names))
        ]
        parts, part, squares = None, None, None
        if self.parts is not None and other.parts is not None:
            parts, *places = self.parts.merged(other.parts)
            rows = zip(places, both, strict=True)
            part = readonly(np.concatenate([place[each.part] for place, each in rows]))
        if self.squares is not None and other.squares is not None:
            squares = readonly(np.concatenate([self.squares, other.squares]))
        return type(self)(
            self.names,
            tuple(readonly(thresholds) for thresholds, _ in tables),
            readonly(np.array([ranks for _, ranks in tables], dtype=np.int32)),
            readonly(np.concatenate([each.positive for each in both])),
            readonly(
                np.concatenate([amounts_of(each.amounts, len(each.positive)) for each in both])
            ),
            self.pos_label,
            self.neg_label,
            squares,
            parts,
            part,
            self.deciding,
            readonly(np.concatenate([each.decided for each in both], axis=1)),
        ).compressed()

    def _labels(self) -> dict[str, Any]:
        return {"pos_label": self.pos_label, "neg_label": self.neg_label}

    def _comparable(self) -> dict[str, Any]:
        """Return the values to compare: those of merged, sorted rows, with an array per model."""
        same = self.compressed()
        arrays = {
            f"thresholds of {name}": values
            for name, values in zip(same.names, same.thresholds, strict=True)
        }
        return {k: v for k, v in same._values().items() if k != "thresholds"} | arrays  # noqa: SLF001


def _added(values: NDArray[Any], order: NDArray[Any], place: NDArray[Any]) -> NDArray[Any]:
    """Return sums of values, with the position of each ordered row's sum in `place`."""
    sums = np.zeros(int(place[-1]) + 1, dtype=values.dtype)
    np.add.at(sums, place, values[order])
    return sums
