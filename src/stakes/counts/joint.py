"""Joint confusion table of any number of classifiers on the same examples."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import (
    CHUNK,
    Column,
    Labels,
    as_axes,
    as_column,
    as_labels,
    is_missing,
    label_codes,
    listing,
    occurring,
    union,
)
from stakes._core.optional import data_frame
from stakes._core.text import html_table, number
from stakes._core.values import ByValue, readonly, readonly_copy
from stakes.counts._labelled import MOST_CELLS, check_cells
from stakes.counts._parts import Parts
from stakes.counts.confusion import Confusion, PairedConfusion
from stakes.counts.engines import group
from stakes.counts.grouped import GroupedConfusion, grouped_of_parts
from stakes.errors import DesignError, InputError, InputTypeError, LabelError

EXACT = 2.0**53
"""Bound below which double precision holds every whole number exactly."""

COUNTED_CELLS = 1 << 22
"""Largest number of combinations to count in a full table; with more, rows are sorted."""

"""Largest number of decisions for which a matrix product counts all pairs fastest."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class JointConfusion(ByValue):
    """Counts of each combination of several classifiers' decisions and the actual class.

    The table is sparse: it has a row for each combination that occurs, not a cell for each that is
    possible.

    Attributes
    ----------
    names : tuple
        The classifiers.
    decided : ndarray of int, shape (rows, classifiers)
        The position of each classifier's decision in `decisions`.
    actual : ndarray of int, shape (rows,)
        The position of the class in `labels`.
    counts : ndarray of int or float, shape (rows,)
        How often the combination occurred, or the sum of its weights.
    labels, decisions : tuple
        The classes and the decisions.
    parts : Parts or None
        The groups and strata by which rows are counted separately.
    part : ndarray of int, shape (rows,), or None
        The position of the row's part in `parts`.
    squares : ndarray, shape (rows,), or None
        The sums of squared weights, where `counts` are sums of weights of independent rows.

    Examples
    --------
    >>> from stakes import JointConfusion
    >>> JointConfusion.from_labels([0, 1, 1], {"a": [0, 1, 0], "b": [0, 1, 1], "c": [1, 1, 1]})
    JointConfusion: 3 examples, 3 classifiers, 3 combinations
    """

    names: Labels
    decided: NDArray[np.intp]
    actual: NDArray[np.intp]
    counts: NDArray[Any]
    labels: Labels
    decisions: Labels
    parts: Parts | None
    part: NDArray[np.intp] | None
    squares: NDArray[np.float64] | None

    def __init__(
        self,
        names: Any,
        *,
        decided: Any,
        actual: Any,
        counts: Any,
        labels: Any,
        decisions: Any = None,
        groups: Any = None,
        strata: Any = None,
        part: Any = None,
        squares: Any = None,
    ) -> None:
        classes, choices = as_axes(labels, decisions)
        parts = None
        if groups is not None or strata is not None:
            given = {"groups": groups} if groups is not None else {"strata": strata}
            [(name, values)] = given.items()
            parts = Parts.of(len(as_column(values, name)), groups, strata)
        if (parts is None) != (part is None):
            raise InputError("part", "expected the part of each row where there are groups, only.")
        called = () if isinstance(names, tuple) and not names else as_labels(names, "names")
        amounts = validate.plain_array(counts, "counts")
        if amounts.ndim != 1 or amounts.dtype.kind not in "iuf":
            raise InputError("counts", "expected a number for each row.")
        validate.amounts(amounts, "counts", ndim=1)
        rows = len(amounts)
        table = validate.plain_array(decided, "decided")
        if table.shape != (rows, len(called)):
            raise InputError(
                "decided", f"expected a table of shape {(rows, len(called))}, got {table.shape}."
            )
        if called:
            _check_codes(table.ravel(), "decided", len(choices))
        _check_codes(actual, "actual", len(classes), rows)
        if parts is not None:
            _check_codes(part, "part", len(parts), rows)
        if squares is not None:
            validate.amounts(squares, "squares", ndim=1)
            validate.same_length({"counts": rows, "squares": len(squares)})
        self._set(
            names=called,
            decided=readonly_copy(table),
            actual=readonly_copy(actual),
            counts=readonly_copy(amounts),
            labels=classes,
            decisions=choices,
            parts=parts,
            part=None if part is None else readonly_copy(part),
            squares=None if squares is None else readonly_copy(squares),
        )

    @classmethod
    def from_labels(
        cls,
        y_true: Any,
        predictions: Any,
        *,
        labels: Any = None,
        decisions: Any = None,
        sample_weight: Any = None,
        groups: Any = None,
        strata: Any = None,
    ) -> Self:
        """Count the decisions of several classifiers on the same examples.

        Parameters
        ----------
        y_true : array_like, shape (n,)
            The actual class of each example.
        predictions : mapping
            From the name of each classifier to its decisions.
        labels, decisions, sample_weight
            As in `Confusion.from_labels`.
        groups, strata : array_like, shape (n,), optional
            The group, and the stratum, of each example, as in `GroupedConfusion.from_labels`.

        Returns
        -------
        JointConfusion
            The counts.

        Examples
        --------
        >>> from stakes import JointConfusion
        >>> joint = JointConfusion.from_labels([0, 1, 1], {"a": [0, 1, 0], "b": [0, 1, 1]})
        >>> joint.names, joint.n
        (('a', 'b'), 3)
        >>> JointConfusion.from_labels(
        ...     [0, 1, 1], {"a": [0, 1, 0], "b": [0, 1, 1]}, groups=["p1", "p2", "p2"])
        JointConfusion: 3 examples in 2 groups, 2 classifiers, 3 combinations
        """
        if not isinstance(predictions, Mapping) or not predictions:
            got = "an empty one" if isinstance(predictions, Mapping) else type(predictions).__name__
            raise InputTypeError(
                "predictions",
                f"expected a mapping from each classifier's name to its decisions, got {got}.",
            )
        columns = {f"predictions[{name!r}]": values for name, values in predictions.items()}
        y_true, *rows, sample_weight, groups, strata = validate.aligned(
            y_true=y_true, **columns, sample_weight=sample_weight, groups=groups, strata=strata
        )
        columns = dict(zip(columns, rows, strict=True))
        if labels is None:
            classes_from = {"y_true": y_true} | ({} if decisions is not None else columns)
            every = [as_column(values, what) for what, values in classes_from.items()]
            labels = _classes_in(every, decisions)
        classes, choices = as_axes(labels, decisions)
        actual = label_codes(y_true, "y_true", classes, "classes")
        decided = [
            label_codes(values, what, choices, "decisions") for what, values in columns.items()
        ]
        validate.same_length(
            {"y_true": len(actual)} | dict(zip(columns, map(len, decided), strict=True))
        )
        amounts, *squares = validate.weight_amounts(sample_weight, len(actual))
        part, parts = None, None
        if groups is not None or strata is not None:
            column, parts = Parts.of_rows(groups, strata)
            part = column.codes
            given = "strata" if groups is None else "groups"
            validate.same_length({"y_true": len(actual), given: len(part)})
        return cls.from_codes(
            actual,
            dict(zip(predictions, decided, strict=True)),
            labels=classes,
            decisions=choices,
            amounts=amounts,
            squares=squares[0] if squares else None,
            part=part,
            parts=parts,
        )

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        actual: str,
        predicted: Any,
        labels: Any = None,
        decisions: Any = None,
        sample_weight: str | None = None,
        groups: str | None = None,
        strata: str | None = None,
    ) -> Self:
        """Count the rows of a data frame in its own engine, in one pass for all classifiers.

        The engine returns one row for each combination of decisions and class that occurs.

        Parameters
        ----------
        frame, actual, labels, decisions, sample_weight
            As in `Confusion.from_frame`.
        predicted : mapping, or sequence of str
            From the name of each classifier to its column; or the columns, whose names are then
            those of the classifiers.
        groups, strata : str, optional
            The names of the columns of groups and of strata.

        Returns
        -------
        JointConfusion
            The counts.

        Examples
        --------
        >>> import polars as pl
        >>> from stakes import JointConfusion
        >>> frame = pl.LazyFrame({"truth": [0, 1, 1], "a": [0, 1, 0], "b": [0, 1, 1]})
        >>> joint = JointConfusion.from_frame(frame, actual="truth", predicted=["a", "b"])
        >>> joint.pair("a", "b").counts[0, 1].tolist()  # a said 0, b said 1
        [0, 1]
        """
        models = _model_columns(predicted)
        apart = [name for name in (groups, strata) if name is not None]
        columns, (amounts, *squares) = group(
            frame, [*apart, actual, *models.values()], sample_weight, any_number=apart
        )
        keys = dict(zip(apart, columns, strict=False))
        columns = columns[len(apart) :]
        if labels is None:
            every = columns if decisions is None else columns[:1]
            labels = _classes_in(every, decisions)
        classes, choices = as_axes(labels, decisions)
        axes = [(classes, "classes"), *[(choices, "decisions")] * len(models)]
        codes = [
            each.looked_up(each.positions(each.used(), allowed, what))
            for each, (allowed, what) in zip(columns, axes, strict=True)
        ]
        part, parts = None, None
        if apart:
            column, parts = Parts.of_columns(
                *(None if name is None else keys[name] for name in (groups, strata))
            )
            part = column.codes
        return cls.from_codes(
            codes[0],
            dict(zip(models, codes[1:], strict=True)),
            labels=classes,
            decisions=choices,
            amounts=amounts,
            squares=squares[0] if squares else None,
            part=part,
            parts=parts,
        )

    @classmethod
    def from_codes(
        cls,
        actual: NDArray[Any],
        decided: Mapping[Any, NDArray[Any]],
        *,
        labels: Any,
        decisions: Any,
        amounts: NDArray[Any] | None = None,
        squares: NDArray[np.float64] | None = None,
        part: NDArray[Any] | None = None,
        parts: Parts | None = None,
    ) -> Self:
        """Count classes and decisions given by their positions in `labels` and `decisions`.

        Parameters
        ----------
        actual : ndarray of int, shape (n,)
            The position of each example's class in `labels`.
        decided : mapping
            From the name of each classifier to the positions of its decisions in `decisions`.
        labels, decisions : sequence
            The classes and the decisions.
        amounts : ndarray, shape (n,), optional
            The number of examples that each row stands for, by default one; or, as floats, its
            weight.
        squares : ndarray of float, shape (n,), optional
            The sums of squared weights of the rows; by default the squares of their weights.
        part : ndarray of int, shape (n,), optional
            The position of the row's part in `parts`.
        parts : Parts, optional
            The groups and strata of the parts.

        Returns
        -------
        JointConfusion
            The counts.

        Examples
        --------
        >>> import numpy as np
        >>> from stakes import JointConfusion
        >>> joint = JointConfusion.from_codes(
        ...     np.array([0, 1]), {"a": np.array([0, 0])}, labels=["ok", "fraud"],
        ...     decisions=["ok", "fraud"], amounts=np.array([90, 10]))
        >>> joint.single("a").counts.tolist()
        [[90, 10], [0, 0]]
        """
        labels, decisions = as_axes(labels, decisions)
        for name, codes, names in [
            ("actual", actual, labels),
            *(("decided", each, decisions) for each in decided.values()),
        ]:
            _check_codes(codes, name, len(names), None if name == "actual" else len(actual))
        if amounts is not None:
            validate.same_length({"actual": len(actual), "amounts": len(amounts)})
        apart = [] if part is None or parts is None else [np.asarray(part)]
        columns = [*apart, *(np.asarray(codes) for codes in (actual, *decided.values()))]
        shape = (len(labels), *[len(decisions)] * len(decided))
        if parts is not None:
            shape = (len(parts), *shape)
        sums = [amounts]
        if amounts is not None and amounts.dtype.kind == "f" and not _has_groups(parts):
            sums.append(amounts * amounts if squares is None else squares)
        count = _counted if math.prod(shape) <= COUNTED_CELLS else _sorted
        rows, (counts, *squared) = count(columns, shape, sums)
        table = np.stack(rows, axis=1)
        made = cls(
            tuple(decided),
            decided=table[:, len(apart) + 1 :],
            actual=table[:, len(apart)],
            counts=counts,
            labels=labels,
            decisions=decisions,
            squares=squared[0] if squared else None,
        )
        # Set the parts without checking them again, which is slow with many groups.
        return made._changed(parts=parts, part=readonly_copy(table[:, 0])) if apart else made

    @property
    def n(self) -> Any:
        """The number of examples, or the sum of their weights."""
        return self.counts.sum().item()

    @property
    def weighted(self) -> bool:
        """Whether the counts are sums of weights."""
        return self.counts.dtype.kind == "f"

    def class_counts(self) -> NDArray[Any]:
        """Return the number of examples of each actual class, in the order of `labels`.

        Returns
        -------
        ndarray, shape (classes,)
            The numbers of examples, or the sums of their weights.

        Examples
        --------
        >>> from stakes import JointConfusion
        >>> joint = JointConfusion.from_labels([0, 1, 1], {"a": [0, 1, 0], "b": [0, 1, 1]})
        >>> joint.class_counts().tolist()
        [1, 2]
        """
        return self._summed(self.counts, (self.actual,), (len(self.labels),))

    def __add__(self, other: object) -> Self:
        """Merge the counts of two sets of examples, of the same classifiers.

        The labels may differ: then the result has those of both, sorted. Groups and strata of the
        same name are the same. Merging equals counting both sets at once.
        """
        if not isinstance(other, type(self)):
            return NotImplemented
        if set(self.names) != set(other.names):
            raise LabelError(
                "",
                f"counts of the models {listing(self.names)} cannot be merged with those of "
                f"{listing(other.names)}.",
            )
        if self.weighted != other.weighted:
            raise DesignError(
                "sample_weight",
                "counts with them cannot be merged with counts without.",
                "Count all parts with sample_weight=, or none.",
            )
        labels = union(self.labels, other.labels)
        decisions = union(self.decisions, other.decisions)
        codes = [_codes(each, labels, decisions, self.names) for each in (self, other)]
        actual, decided = (np.concatenate(each) for each in zip(*codes, strict=True))
        parts, part = _merged_parts(self, other)
        squares = None
        if self.squares is not None and other.squares is not None:
            squares = np.concatenate([self.squares, other.squares])
        return type(self).from_codes(
            actual,
            dict(zip(self.names, decided.T, strict=True)),
            labels=labels,
            decisions=decisions,
            amounts=np.concatenate([self.counts, other.counts]),
            squares=squares,
            part=part,
            parts=parts,
        )

    def __radd__(self, other: object) -> Self:
        """Return the table itself when added to zero, so that `sum` works."""
        return self if other == 0 else NotImplemented

    def single(self, name: Any) -> Confusion | GroupedConfusion:
        """Return the confusion matrix of one classifier, by groups and strata if there are any.

        Parameters
        ----------
        name : label
            The classifier.

        Returns
        -------
        Confusion or, with groups or strata, GroupedConfusion
            The counts.

        Examples
        --------
        >>> from stakes import JointConfusion
        >>> joint = JointConfusion.from_labels([0, 1, 1], {"a": [0, 1, 0], "b": [0, 1, 1]})
        >>> joint.single("a").counts.tolist()
        [[1, 1], [0, 1]]
        """
        table: Confusion | GroupedConfusion = self._tabulated(Confusion, [name])
        return table

    def pair(self, first: Any, second: Any) -> PairedConfusion | GroupedConfusion | Self:
        """Return the joint confusion of two of the classifiers, by groups and strata if any.

        With hundreds of classes most cells are empty. The result is then a `JointConfusion` of
        these two classifiers.

        Parameters
        ----------
        first, second : label
            The classifiers.

        Returns
        -------
        PairedConfusion, GroupedConfusion (with groups or strata) or JointConfusion
            The counts.

        Examples
        --------
        >>> from stakes import JointConfusion
        >>> joint = JointConfusion.from_labels([0, 1, 1], {"a": [0, 1, 0], "b": [0, 1, 1]})
        >>> joint.pair("a", "b").counts[0, 1].tolist()  # a said 0, b said 1
        [0, 1]
        """
        cells = len(self.decisions) ** 2 * len(self.labels)
        if cells * (1 if self.parts is None else len(self.parts)) > MOST_CELLS:
            return self._chosen([self._column(first), self._column(second)])
        table: PairedConfusion | GroupedConfusion = self._tabulated(
            PairedConfusion, [first, second]
        )
        return table

    @property
    def first(self) -> Confusion | GroupedConfusion:
        """The counts of the first of two classifiers."""
        return self.single(self._two()[0])

    @property
    def second(self) -> Confusion | GroupedConfusion:
        """The counts of the second of two classifiers."""
        return self.single(self._two()[1])

    def _two(self) -> Labels:
        if len(self.names) != 2:  # noqa: PLR2004 - of two classifiers
            raise InputTypeError("names", f"expected two classifiers, got {len(self.names)}.")
        return self.names

    def swapped(self) -> Self:
        """Return the counts with the classifiers in the opposite order.

        Returns
        -------
        JointConfusion
            The counts.

        Examples
        --------
        >>> from stakes import JointConfusion
        >>> joint = JointConfusion.from_labels([0, 1, 1], {"a": [0, 1, 0], "b": [0, 1, 1]})
        >>> joint.swapped().names
        ('b', 'a')
        """
        return self._chosen(range(len(self.names))[::-1])

    def _chosen(self, columns: Sequence[int]) -> Self:
        """Return the counts of the chosen classifiers, in the given order."""
        return self._changed(
            names=tuple(self.names[column] for column in columns),
            decided=readonly(np.ascontiguousarray(self.decided[:, columns])),
        )

    def _tabulated(self, kind: Any, names: Sequence[Any]) -> Any:
        """Return a full table of some of the classifiers."""
        places: list[Any] = [*(self.decided[:, self._column(name)] for name in names), self.actual]
        shape = [*[len(self.decisions)] * len(names), len(self.labels)]
        if self.parts is not None:
            places, shape = [self.part, *places], [len(self.parts), *shape]
        check_cells(shape, "decisions" if self.parts is None else "groups")
        counts = self._summed(self.counts, places, shape)
        squares = None if self.squares is None else self._summed(self.squares, places, shape)
        if self.parts is None:
            return kind(counts, self.labels, self.decisions, squares=squares)
        return grouped_of_parts(self.parts, counts, (self.labels, self.decisions), squares)

    @staticmethod
    def _summed(amounts: NDArray[Any], places: Sequence[Any], shape: Sequence[int]) -> NDArray[Any]:
        if not _exact(amounts):
            table = np.zeros(tuple(shape), dtype=amounts.dtype)
            np.add.at(table, tuple(places), amounts)
            return table
        cells = np.ravel_multi_index(tuple(places), tuple(shape))
        table = np.bincount(cells, amounts, math.prod(shape)).astype(amounts.dtype)
        return table.reshape(tuple(shape))

    def to_dict(self) -> dict[str, Any]:
        """Return the rows as plain lists.

        Returns
        -------
        dict
            The arguments of the constructor, as plain values.
        """
        result: dict[str, Any] = {
            "names": list(self.names),
            "decided": self.decided.tolist(),
            "actual": self.actual.tolist(),
            "counts": self.counts.tolist(),
            "labels": list(self.labels),
            "decisions": list(self.decisions),
        }
        if self.parts is not None and self.part is not None:
            named = {"groups": self.parts.groups, "strata": self.parts.strata}
            result |= {what: list(names) for what, names in named.items() if names is not None}
            result["part"] = self.part.tolist()
        if self.squares is not None:
            result["squares"] = self.squares.tolist()
        return result

    def _column(self, name: Any) -> int:
        if not isinstance(name, Hashable) or is_missing(name) or name not in self.names:
            raise LabelError("name", f"there is no model {name!r}; there are {self.names}.")
        return self.names.index(name)

    def to_frame(self) -> Any:
        """Return the counts as a pandas data frame, a row for each combination that occurs.

        Returns
        -------
        DataFrame
            The group or stratum if there are any, the actual class, the decision of each model,
            and the count or weight.

        Examples
        --------
        >>> from stakes import JointConfusion
        >>> JointConfusion.from_labels([0, 1, 1], {"a": [0, 1, 0], "b": [0, 1, 0]}).to_frame()
           actual  a  b  count
        0       0  0  0      1
        1       1  0  0      1
        2       1  1  1      1
        """
        columns: dict[Any, Any] = {}
        if self.parts is not None and self.part is not None:
            named = {"group": self.parts.groups, "stratum": self.parts.strata}
            columns |= {
                what: [names[at] for at in self.part.tolist()]
                for what, names in named.items()
                if names is not None
            }
        columns["actual"] = [self.labels[at] for at in self.actual.tolist()]
        for name, decided in zip(self.names, self.decided.T.tolist(), strict=True):
            columns[name] = [self.decisions[at] for at in decided]
        frame = data_frame({**columns, "count": self.counts})
        return frame.sort_values([*columns], kind="stable", ignore_index=True)

    def _repr_html_(self) -> str:
        rows = [[str(name), number(self.single(name).n)] for name in self.names]
        return html_table(["classifier", "examples"], rows, caption=repr(self))

    def __repr__(self) -> str:
        apart = "" if self.parts is None else f" in {self.parts.extent()}"
        return (
            f"JointConfusion: {number(self.n)} examples{apart}, "
            f"{len(self.names)} classifiers, {len(self.counts)} combinations"
        )


Rows = tuple[Sequence[NDArray[np.intp]], list[NDArray[Any]]]
"""Columns of the distinct combinations of codes, in sorted order, and their sums of amounts."""

Amounts = Sequence[NDArray[Any] | None]
"""Arrays to sum over the rows: None to count rows, whole numbers, or weights and their squares."""


def _exact(amounts: NDArray[Any]) -> bool:
    """Tell whether sums in double precision are as exact as sums in the amounts' own type."""
    return amounts.dtype.kind == "f" or float(amounts.sum(dtype=np.float64)) < EXACT


def _has_groups(parts: Parts | None) -> bool:
    return parts is not None and parts.groups is not None


def _model_columns(predicted: Any) -> Mapping[Any, str]:
    """Return the column of each classifier."""
    if isinstance(predicted, str) or not isinstance(predicted, Mapping | Sequence):
        raise InputTypeError(
            "predicted",
            "expected a mapping from each classifier's name to its column, or a list of "
            f"columns; got {predicted!r}.",
        )
    if not isinstance(predicted, Mapping) and len(predicted):
        predicted = {name: name for name in as_labels(predicted, "predicted")}
    models: Mapping[Any, str] = predicted
    if not len(models):
        raise InputTypeError("predicted", "expected at least one column, got none.")
    return models


def _counted(columns: Sequence[NDArray[Any]], shape: tuple[int, ...], amounts: Amounts) -> Rows:
    """Count combinations in a full table, a chunk of rows at a time."""
    size = math.prod(shape)
    seen = np.zeros(size, dtype=np.int64)
    sums = [seen if each is None else np.zeros(size, dtype=each.dtype) for each in amounts]
    step = max(CHUNK, size)
    for start in range(0, len(columns[0]), step):
        part = slice(start, start + step)
        combined = columns[0][part].astype(np.intp)
        for codes, width in zip(columns[1:], shape[1:], strict=True):
            combined *= width
            combined += codes[part]
        seen += np.bincount(combined, minlength=size)
        for table, each in zip(sums, amounts, strict=True):
            if each is not None:
                np.add.at(table, combined, each[part])
    places = np.flatnonzero(seen)
    return np.unravel_index(places, shape), [table[places] for table in sums]


def _sorted(columns: Sequence[NDArray[Any]], shape: tuple[int, ...], amounts: Amounts) -> Rows:
    """Count combinations by sorting, where a full table would be too large.

    Combined codes are renumbered whenever they could become too large.
    """
    combined, size = columns[0].astype(np.int64), shape[0]
    for codes, width in zip(columns[1:], shape[1:], strict=True):
        if size > COUNTED_CELLS:
            combined = np.unique(combined, return_inverse=True)[1]
            size = int(combined.max()) + 1
        combined = combined * width + codes
        size *= width
    _, first, where = np.unique(combined, return_index=True, return_inverse=True)
    sums = []
    for each in amounts:
        table = np.zeros(len(first), dtype=np.int64 if each is None else each.dtype)
        np.add.at(table, where, 1 if each is None else each)
        sums.append(table)
    return [codes[first].astype(np.intp) for codes in columns], sums


def _codes(
    part: JointConfusion, labels: Labels, decisions: Labels, names: Labels
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the classes and decisions of a table as positions in `labels` and `decisions`."""
    classes = np.array([labels.index(label) for label in part.labels], dtype=np.intp)
    choices = np.array([decisions.index(label) for label in part.decisions], dtype=np.intp)
    columns = [part.names.index(name) for name in names]
    return classes[part.actual], choices[part.decided[:, columns]]


def _merged_parts(
    one: JointConfusion, other: JointConfusion
) -> tuple[Parts | None, NDArray[np.intp] | None]:
    """Return the parts of both tables, and the position of each row's part in them."""
    mine, theirs = (Parts() if each.parts is None else each.parts for each in (one, other))
    if mine == theirs == Parts():
        return None, None
    parts, *places = mine.merged(theirs)
    rows = [place[each.part] for place, each in zip(places, (one, other), strict=True)]
    return parts, np.concatenate(rows)


def _classes_in(columns: Sequence[Column], decisions: Any) -> Labels:
    """Return the classes that occur in columns; `decisions` are those that the user states."""
    stated = () if decisions is None else as_labels(decisions, "decisions")
    return occurring({each.name: each.present(each.used()) for each in columns}, stated)


def _check_codes(codes: Any, name: str, size: int, rows: int | None = None) -> None:
    """Check an array of positions in a list of `size` labels, one for each row."""
    array = validate.plain_array(codes, name)
    if array.ndim != 1 or array.dtype.kind not in "biu":
        raise InputTypeError(name, f"expected a list of positions, got {codes!r}.")
    if rows is not None:
        validate.same_length({"rows": rows, name: len(array)})
    if not len(array) or array.min() < 0 or array.max() >= size:
        raise InputError(name, f"expected positions from 0 to {size - 1}, at least one.")
