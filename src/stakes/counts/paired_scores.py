"""Joint score table of two scorers on the same examples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Column, Label, as_column
from stakes._core.text import html_table, number
from stakes._core.typing import Floats
from stakes._core.values import readonly, readonly_copy
from stakes.counts._parts import Parts, check_factors, part_column
from stakes.counts._two_classes import (
    Ranks,
    TwoClassCounts,
    amounts_of,
    both_classes_weigh,
    checked_names,
    merged,
    places_among,
    ranked,
    sides,
    two_classes,
)
from stakes.counts.engines import in_memory, scored
from stakes.counts.scores import ScoreCounts, ScoreRows, count_scores
from stakes.errors import DesignError, InputError, InputTypeError

_RANKED = ("thresholds_1", "ranks_1", "thresholds_2", "ranks_2")


@dataclass(frozen=True, init=False, eq=False, repr=False)
class PairedScoreCounts(TwoClassCounts):
    """Pairs of scores that two scorers give the same positives and negatives.

    Two separate score tables describe each scorer; this table also keeps on which examples they
    differ, which the variance of a difference depends on. It has a row for each example, or for
    each combination of scores and class that occurs.

    Parameters
    ----------
    thresholds_1, thresholds_2 : array_like
        The distinct scores of each scorer, highest first.
    ranks_1, ranks_2 : array_like of int, shape (rows,)
        The position of each row's scores in `thresholds_1` and `thresholds_2`.
    positive : array_like of bool, shape (rows,)
        Whether the row is of the positive class.
    amounts : array_like, shape (rows,), optional
        The number of examples that the row stands for, or their weight; by default one.
    squares : array_like, shape (rows,), optional
        The sums of squared weights, where `amounts` are sums of weights.
    pos_label, neg_label : default 1 and 0
        The names of the classes.
    parts : Parts, optional
        The groups and strata, if the examples have any.
    part : array_like of int, shape (rows,), optional
        The position of the row's part in `parts`.

    Examples
    --------
    >>> from stakes import PairedScoreCounts
    >>> paired = PairedScoreCounts.from_scores([0, 1, 0], [0.1, 0.8, 0.3], [2.0, 3.0, 2.0])
    >>> paired
    PairedScoreCounts: 1 × 1, 2 × 0, 3 and 2 distinct scores
    >>> paired.second.negatives.tolist()
    [0, 2]
    >>> PairedScoreCounts(
    ...     [0.8, 0.3], [3.0, 2.0], ranks_1=[0, 1], ranks_2=[0, 1], positive=[True, False],
    ...     amounts=[50, 150])
    PairedScoreCounts: 50 × 1, 150 × 0, 2 and 2 distinct scores
    """

    thresholds_1: NDArray[np.float64]
    thresholds_2: NDArray[np.float64]
    ranks_1: Ranks
    ranks_2: Ranks
    positive: NDArray[np.bool_]
    amounts: NDArray[Any] | None
    parts: Parts | None
    part: NDArray[np.int32] | None

    def __init__(
        self,
        thresholds_1: Any,
        thresholds_2: Any,
        *,
        ranks_1: Any,
        ranks_2: Any,
        positive: Any,
        amounts: Any = None,
        squares: Any = None,
        pos_label: Label = 1,
        neg_label: Label = 0,
        parts: Parts | Mapping[str, Any] | None = None,
        part: Any = None,
    ) -> None:
        cuts = {"thresholds_1": thresholds_1, "thresholds_2": thresholds_2}
        codes = {"ranks_1": ranks_1, "ranks_2": ranks_2}
        is_positive = validate.plain_array(positive, "positive")
        if is_positive.dtype != np.bool_ or is_positive.ndim != 1 or not len(is_positive):
            raise InputError("positive", "expected a boolean for each row, at least one.")
        for (name, ranks), (cut_name, given) in zip(codes.items(), cuts.items(), strict=True):
            cuts[cut_name] = validate.thresholds(given, cut_name)
            codes[name] = _ranks(ranks, name, len(cuts[cut_name]), cut_name)
        rows: dict[str, Any] = {"amounts": amounts, "squares": squares}
        if squares is not None and amounts is None:
            raise InputError(
                "squares", "they belong to sums of weights; give those as amounts too."
            )
        for name, values in rows.items():
            if values is not None:
                rows[name] = readonly_copy(validate.counts(values, name, ndim=1))
        if (parts is None) != (part is None):
            raise InputError("parts, part", "give both, or neither.")
        if isinstance(parts, Mapping):
            names = [parts.get(name) for name in ("groups", "strata")]
            parts = Parts(*(None if each is None else tuple(each) for each in names))
        if parts is not None:
            rows["part"] = readonly_copy(_ranks(part, "part", len(parts), "parts"))
        lengths = {**codes, "positive": is_positive, **rows}
        validate.same_length({k: len(v) for k, v in lengths.items() if v is not None})
        self._set(
            **{name: readonly_copy(values) for name, values in (cuts | codes).items()},
            positive=readonly_copy(is_positive),
            parts=parts,
            **({"part": None} | rows),
            **checked_names(pos_label, neg_label),
        )

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        y_score_1: Any,
        y_score_2: Any,
        *,
        pos_label: Label = 1,
        neg_label: Label | None = None,
        sample_weight: Any = None,
        groups: Any = None,
        strata: Any = None,
    ) -> Self:
        """Count the scores that two scorers give the same examples.

        Parameters
        ----------
        y_true : array_like, shape (n,)
            The actual class of each example; two classes.
        y_score_1, y_score_2 : array_like, shape (n,)
            The scores of each example; the higher, the more likely positive. The two scorers may
            have different scales.
        pos_label, neg_label, sample_weight, groups, strata
            As in `ScoreCounts.from_scores`.

        Returns
        -------
        PairedScoreCounts
            The table.

        Examples
        --------
        >>> from stakes import PairedScoreCounts
        >>> paired = PairedScoreCounts.from_scores([0, 1, 0], [0.1, 0.8, 0.3], [2.0, 3.0, 2.0])
        >>> paired.first.thresholds.tolist(), paired.second.thresholds.tolist()
        ([0.8, 0.3, 0.1], [3.0, 2.0])
        """
        y_true, y_score_1, y_score_2, sample_weight, groups, strata = validate.aligned(
            y_true=y_true,
            y_score_1=y_score_1,
            y_score_2=y_score_2,
            sample_weight=sample_weight,
            groups=groups,
            strata=strata,
        )
        column = as_column(y_true, "y_true")
        scores = [
            validate.scores(y_score_1, "y_score_1"),
            validate.scores(y_score_2, "y_score_2"),
        ]
        validate.same_length(
            {"y_true": len(column), "y_score_1": len(scores[0]), "y_score_2": len(scores[1])}
        )
        amounts = validate.weight_amounts(sample_weight, len(column))
        parts = None
        if groups is not None or strata is not None:
            parts = Parts.of_rows(groups, strata)
        return cls._from_rows(column, scores, amounts, (pos_label, neg_label), parts)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        actual: str,
        score: tuple[str, str],
        pos_label: Label = 1,
        neg_label: Label | None = None,
        sample_weight: str | None = None,
        groups: str | None = None,
        strata: str | None = None,
    ) -> Self:
        """Count the scores in a data frame; `score` names two columns.

        From a lazy frame, one row for each distinct combination of label and scores is collected;
        with groups or strata, the columns themselves.

        Parameters
        ----------
        frame, actual, pos_label, neg_label, sample_weight, groups, strata
            As in `ScoreCounts.from_frame`.
        score : pair of str
            The names of the two scorers' columns.

        Returns
        -------
        PairedScoreCounts
            The table.

        Examples
        --------
        >>> import polars as pl
        >>> from stakes import PairedScoreCounts
        >>> frame = pl.LazyFrame({"truth": [0, 1, 0], "a": [0.1, 0.8, 0.3], "b": [2.0, 3.0, 2.0]})
        >>> PairedScoreCounts.from_frame(frame, actual="truth", score=("a", "b")).n
        3
        """
        pair: Any = score
        if not isinstance(pair, list | tuple) or len(pair) != 2:  # noqa: PLR2004 - a pair
            raise InputTypeError(
                "score",
                "expected two column names, one for each scorer, such as ('a', 'b'); got "
                f"{score!r}.",
            )
        parts = None
        if groups is not None or strata is not None:
            kept = [name for name in (groups, strata) if name is not None]
            frame = in_memory(frame, [actual, *kept], list(pair), sample_weight)
            given = [
                None if name is None else part_column(frame[name].to_native(), f"column {name!r}")
                for name in (groups, strata)
            ]
            parts = Parts.of_columns(*given)
            frame = frame.to_native()
        column, scores, amounts = scored(frame, actual, list(pair), sample_weight)
        return cls._from_rows(column, scores, amounts, (pos_label, neg_label), parts)

    @classmethod
    def _from_rows(
        cls,
        column: Column,
        scores: Sequence[NDArray[np.float64]],
        amounts: Sequence[NDArray[Any] | None],
        names: tuple[Label, Label | None],
        parts: tuple[Column, Parts] | None,
    ) -> Self:
        positive, labels = two_classes(column, *names)
        if parts is not None:
            validate.same_length({column.name: len(column), parts[0].name: len(parts[0])})
        result = cls.__new__(cls)
        if amounts[0] is None and parts is None:
            result._set(_scores=tuple(map(readonly_copy, scores)))  # noqa: SLF001 - ranked on use
        else:
            result._rank(scores)  # noqa: SLF001 - of the new instance
        result._set(  # noqa: SLF001 - all values are made here and need no checks
            positive=readonly(positive),
            amounts=None if amounts[0] is None else readonly_copy(amounts[0]),
            squares=readonly(amounts[1]) if len(amounts) > 1 and amounts[1] is not None else None,
            pos_label=labels[0],
            neg_label=labels[1],
            parts=None if parts is None else parts[1],
            part=None if parts is None else readonly_copy(parts[0].codes.astype(np.int32)),
        )
        if names[1] is None:
            both_classes_weigh(result, column.name)
        return result

    def __getattr__(self, name: str) -> Any:
        """Rank scores on first use of the ranks, because ranking takes longer than counting."""
        if "_scores" not in vars(self) or name not in _RANKED:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self._rank(vars(self)["_scores"])
        return vars(self)[name]

    def _rank(self, scores: Sequence[NDArray[np.float64]]) -> None:
        made = [readonly(each) for column in scores for each in ranked(column)]
        for name, each in zip(_RANKED, made, strict=True):
            vars(self).setdefault(name, each)

    @property
    def first(self) -> ScoreCounts:
        """The score table of the first scorer."""
        return self._marginal(1)

    @property
    def second(self) -> ScoreCounts:
        """The score table of the second scorer."""
        return self._marginal(2)

    def _marginal(self, place: int) -> ScoreCounts:
        names = (self.pos_label, self.neg_label)
        if "ranks_1" not in vars(self):
            made = count_scores(vars(self)["_scores"][place - 1], self.positive, [None])
            vars(self).setdefault(f"thresholds_{place}", readonly(made[0]))
            return ScoreCounts._made(*made, *names)  # noqa: SLF001 - made by its own function
        thresholds, ranks = (getattr(self, f"{name}_{place}") for name in ("thresholds", "ranks"))
        if self.parts is not None and self.part is not None:
            amounts = [self.amounts] + ([] if self.squares is None else [self.squares])
            rows = ScoreRows.of(self.parts, ranks, self.part, self.positive, amounts)
            return ScoreCounts._made(thresholds, rows.tables(len(thresholds)), *names, rows)  # noqa: SLF001
        tables = [
            sides(ranks, len(thresholds), self.positive, each)
            for each in (self.amounts, *([] if self.squares is None else [self.squares]))
        ]
        return ScoreCounts._made(thresholds, tables, *names)  # noqa: SLF001

    @property
    def n_positives(self) -> Any:
        """The number of positive examples."""
        return self._sum(self.positive)

    @property
    def n_negatives(self) -> Any:
        """The number of negative examples."""
        return self._sum(~self.positive)

    def _sum(self, rows: NDArray[np.bool_]) -> Any:
        return int(rows.sum()) if self.amounts is None else self.amounts[rows].sum().item()

    def swapped(self) -> Self:
        """Return the counts with the second scorer first.

        Returns
        -------
        PairedScoreCounts
            The table.

        Examples
        --------
        >>> from stakes import PairedScoreCounts
        >>> paired = PairedScoreCounts.from_scores([0, 1, 0], [0.1, 0.8, 0.3], [2.0, 3.0, 2.0])
        >>> paired.swapped().first == paired.second
        True
        """
        return self._changed(
            thresholds_1=self.thresholds_2,
            thresholds_2=self.thresholds_1,
            ranks_1=self.ranks_2,
            ranks_2=self.ranks_1,
        )

    def reweighted(self, factors: Floats) -> Self:
        """Return the table with the weights of each part and class multiplied by a factor.

        Parameters
        ----------
        factors : ndarray, shape (parts, 2)
            The factors for the weights of each part's negatives and positives.

        Returns
        -------
        PairedScoreCounts
            The table.

        Examples
        --------
        >>> import numpy as np
        >>> from stakes import PairedScoreCounts
        >>> counts = PairedScoreCounts.from_scores(
        ...     [0, 1, 0, 1], [0.1, 0.9, 0.4, 0.6], [0.2, 0.7, 0.3, 0.8], strata=[*"aabb"])
        >>> float(counts.reweighted(np.array([[1.0, 1.0], [3.0, 3.0]])).n)
        8.0
        """
        if self.part is None:
            raise DesignError("strata", "the scores were counted without groups or strata.")
        check_factors(factors, self.parts)
        factor = factors[self.part, self.positive.astype(np.intp)]
        amounts = amounts_of(self.amounts, len(self.positive))
        squares = amounts if self.squares is None else self.squares
        return self._changed(
            amounts=readonly(amounts * factor), squares=readonly(squares * factor**2)
        )

    def __add__(self, other: object) -> Self:
        """Merge the tables of two sets of examples; parts with equal names are the same part."""
        if not isinstance(other, type(self)):
            return NotImplemented
        self._check_mergeable(other)
        parts = (self, other)
        together, part = None, None
        if self.parts is not None and other.parts is not None:
            together, *places = self.parts.merged(other.parts)
            rows = zip(places, parts, strict=True)
            part = np.concatenate([place[each.part] for place, each in rows])
        elif self.parts is not None or other.parts is not None:
            raise DesignError(
                "groups, strata",
                "scores with them cannot be merged with scores without.",
                "Count all parts with them, or none.",
            )
        amounts = None
        if self.amounts is not None or other.amounts is not None:
            amounts = np.concatenate(
                [amounts_of(part.amounts, len(part.positive)) for part in parts]
            )
        squares = None
        if self.squares is not None and other.squares is not None:
            squares = np.concatenate([self.squares, other.squares])
        first = merged([part.thresholds_1 for part in parts], [part.ranks_1 for part in parts])
        second = merged([part.thresholds_2 for part in parts], [part.ranks_2 for part in parts])
        return type(self)(
            first[0],
            second[0],
            ranks_1=first[1],
            ranks_2=second[1],
            positive=np.concatenate([part.positive for part in parts]),
            amounts=amounts,
            squares=squares,
            pos_label=self.pos_label,
            neg_label=self.neg_label,
            parts=together,
            part=part,
        )

    def _comparable(self) -> dict[str, Any]:
        """Return the rows sorted, and summed where equal: tables are equal in any order of rows."""
        part = np.zeros(len(self.positive), dtype=np.int32) if self.part is None else self.part
        keys = np.stack([self.ranks_1, self.ranks_2, self.positive.astype(np.int32), part])
        rows, where = np.unique(keys, axis=1, return_inverse=True)
        where = where.ravel()  # numpy 2.0 returns it with as many dimensions as the keys
        amounts = np.bincount(where, weights=amounts_of(self.amounts, len(self.positive)))
        squares = None if self.squares is None else np.bincount(where, weights=self.squares)
        rest = {"rows": rows, "amounts": amounts, "squares": squares}
        names = ("thresholds_1", "thresholds_2", "pos_label", "neg_label", "parts")
        return {name: getattr(self, name) for name in names} | rest

    def __repr__(self) -> str:
        sizes = f"{len(self.thresholds_1)} and {len(self.thresholds_2)} distinct scores"
        return f"{self._title()}, {sizes}"

    def _repr_html_(self) -> str:
        rows = [
            *self._class_rows(),
            ["distinct scores of the first", number(len(self.thresholds_1))],
            ["distinct scores of the second", number(len(self.thresholds_2))],
        ]
        return html_table(["", "value"], rows, caption="Joint score table")


def left_out(
    counts: PairedScoreCounts, place: int, cuts: NDArray[np.intp]
) -> Callable[[slice], NDArray[np.int32]]:
    """Return a function from a slice of rows to the number of cuts that call each row negative.

    A cut is the number of one scorer's distinct scores, highest first, that are called positive.
    `place` is 1 or 2, for the first or the second scorer; `cuts` are ascending. The function does
    not need the ranks of the scores.
    """
    thresholds = getattr(counts, f"thresholds_{place}")
    ranks = vars(counts).get(f"ranks_{place}")
    if ranks is None:
        lowest = np.where(cuts > 0, thresholds[cuts - 1], np.inf)  # lowest score called positive
        scores, called = vars(counts)["_scores"][place - 1], places_among(lowest[::-1])
        return lambda rows: len(cuts) - called(scores[rows])
    passed = np.cumsum(np.bincount(cuts, minlength=len(thresholds) + 1)).astype(np.int32)
    return lambda rows: passed[ranks[rows]]


def _ranks(ranks: Any, name: str, size: int, of: str) -> NDArray[Any]:
    codes = validate.plain_array(ranks, name)
    if codes.ndim != 1 or codes.dtype.kind not in "iu":
        raise InputError(name, "expected whole numbers, one for each row.")
    if len(codes) and not 0 <= codes.min() <= codes.max() < size:
        raise InputError(name, f"expected positions among the {size} {of}, from 0 up.")
    return codes.astype(np.int32)
