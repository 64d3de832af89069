"""Costs by slice, such as a region or a channel, with limits that hold for all slices at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.labels import listing
from stakes._core.optional import data_frame
from stakes._core.text import html_table, number, percent, text_table
from stakes._core.values import Result
from stakes.costs import CostMatrix, ExampleCosts
from stakes.errors import DesignError, InputError, InputTypeError
from stakes.infer._inference import quiet_interval
from stakes.infer._outcomes import Design
from stakes.infer._sliced import (
    Part,
    SlicedRows,
    counts_of,
    grouped_rows,
    listed_parts,
    parts_of,
    possible_costs,
    rows_in_order,
    slice_columns,
    weights_of_strata,
)
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.evaluation import check_costs

VERDICTS = {1: "more expensive than the rest", -1: "cheaper than the rest", 0: "not shown"}


@dataclass(frozen=True, eq=False)
class Slice(Result):
    """The cost of the decisions in one slice of the rows.

    Attributes
    ----------
    column : str
        The column that the rows are divided by.
    slice_ : str
        The value of these rows in the column.
    n : float
        The number of rows, or the sum of their weights.
    cost : float or None
        The cost per decision; None where it is not known, because a class that has a prior does
        not occur.
    low, high : float
        Limits of the cost, which hold for all slices at once.
    share : float or None
        The share of the total cost that these rows cause. None if the total is not positive, and
        with class priors, because the sizes of the slices in the population are then not known.
    difference, difference_low, difference_high : float or None
        The cost minus that of all other rows, with limits that hold for all slices at once.
    verdict : str
        "more expensive than the rest", "cheaper than the rest" or "not shown".

    Examples
    --------
    >>> from stakes import CostMatrix, evaluate_by
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true, y_pred = [0, 1] * 50, [0, 1] * 25 + [0, 0] * 25
    >>> found = evaluate_by(y_true, y_pred, costs, by=["a"] * 50 + ["b"] * 50)
    >>> worst = found.slices()[0]
    >>> worst.slice_, worst.cost, worst.share, worst.verdict
    ('b', 5.0, 1.0, 'more expensive than the rest')
    """

    column: str
    slice_: str
    n: float
    cost: float | None
    low: float
    high: float
    share: float | None
    difference: float | None
    difference_low: float | None
    difference_high: float | None
    verdict: str

    def to_dict(self) -> dict[str, Any]:
        """Return the slice as plain values.

        Returns
        -------
        dict
            The attributes by name, without the underscore of `slice_`.
        """
        return {name.removesuffix("_"): value for name, value in self._values().items()}


@dataclass(frozen=True, eq=False, repr=False)
class SliceEstimates(Result):
    """The cost of decisions in each slice of the rows.

    Made by `evaluate_by`.

    Parameters
    ----------
    parts : tuple
        The slices, with their counts.
    total : CostEstimate
        The cost of all rows.
    unit : str
        The unit of the costs.

    Examples
    --------
    >>> from stakes import CostMatrix, evaluate_by
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true, y_pred = [0, 1] * 50, [0, 1] * 25 + [0, 0] * 25
    >>> found = evaluate_by(y_true, y_pred, costs, by=["a"] * 50 + ["b"] * 50)
    >>> found.columns, found.total.cost
    (('slice',), 2.5)
    >>> found.difference("b", "a")[0]
    5.0
    """

    parts: tuple[Part, ...]
    total: CostEstimate
    unit: str = ""

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        costs: CostMatrix,
        *,
        actual: str,
        predicted: str,
        by: Sequence[str],
        sample_weight: str | None = None,
        most: int | None = None,
        class_priors: Any = None,
        unit: str = "",
    ) -> SliceEstimates:
        """Count the slices where the data is: pandas, polars, pyarrow, DuckDB, Dask, Spark or Ibis.

        Parameters
        ----------
        frame : data frame
            The rows, in memory or lazy.
        costs : CostMatrix
            The cost of each decision for each class.
        actual, predicted : str
            The columns of the actual classes and of the decisions.
        by : sequence of str
            The columns to slice by; ``"region:channel"`` crosses two or more. Each is one query.
        sample_weight : str, optional
            The column of the weights.
        most, class_priors, unit
            As in `evaluate_by`.

        Returns
        -------
        SliceEstimates
            The cost of each slice.

        Examples
        --------
        >>> import polars as pl
        >>> from stakes import CostMatrix
        >>> from stakes.infer import SliceEstimates
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> frame = pl.LazyFrame(
        ...     {"y": [0, 1, 1, 0], "p": [0, 1, 0, 0], "site": ["a", "a", "b", None]})
        >>> found = SliceEstimates.from_frame(frame, costs, actual="y", predicted="p", by=["site"])
        >>> [(each.slice_, each.cost) for each in found.slices()]
        [('b', 10.0), ('a', 0.0), ('(missing)', 0.0)]
        """
        validate.expect(costs, CostMatrix, "costs", "CostMatrix.from_errors(…)")
        if isinstance(by, str) or not len(by):
            raise InputTypeError("by", "expected a list of columns, at least one.")
        if most is not None:
            validate.as_size(most, "most", 1)
        design, parts, total = Design(class_priors), [], None
        for name in dict.fromkeys(by):
            table, names = grouped_rows(
                frame, costs, (actual, predicted), name, weight=sample_weight, most=most
            )
            whole = SlicedRows(None, [], costs, None, None, design, unit)
            chosen = [
                (
                    counts_of(table, np.arange(len(names)) == place),
                    counts_of(table, np.arange(len(names)) != place),
                )
                for place in range(len(names))
            ]
            parts += listed_parts(whole, name, names, chosen)
            total = CostEstimate(table.pooled, costs, design, unit)
        assert total is not None  # noqa: S101 - there is a column
        return cls(tuple(parts), total, unit)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that the rows are divided by."""
        return tuple(dict.fromkeys(each.column for each in self.parts))

    def slices(self, confidence: float = 0.95) -> list[Slice]:
        """Return the slices of each column, the most expensive first.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence that all limits hold at once.

        Returns
        -------
        list of Slice
            The slices.

        Notes
        -----
        The limits of the costs have the level 1 - (1 - α/c)^(1/s) in a column of s slices, c being
        the number of columns: rows of different slices are independent. Differences from the rest
        have limits of their own, by the method of variance estimates recovery, at the same level.

        References
        ----------
        Zou & Donner (2008).
        """
        levels = levels_of([each.column for each in self.parts], validate.alpha(confidence))
        shared = self.total.design.class_priors is None  # each slice is taken to have the priors
        whole = self.total.cost * float(self.total.n) if shared else 0.0
        found = [_judged(each, levels[each.column], whole) for each in self.parts]
        order = {column: place for place, column in enumerate(self.columns)}
        return sorted(
            found,
            key=lambda each: (order[each.column], -math.inf if each.cost is None else -each.cost),
        )

    def difference(
        self, first: str, second: str, column: str | None = None, confidence: float = 0.95
    ) -> tuple[float, float, float]:
        """Return by how much one slice costs more than another, with limits.

        Parameters
        ----------
        first, second : str
            The slices.
        column : str, optional
            Their column; by default the first.
        confidence : float, default 0.95
            The confidence that the limits of all pairs of the column's slices hold at once.

        Returns
        -------
        difference, low, high : float
            The cost of the first minus that of the second.

        Examples
        --------
        >>> from stakes import CostMatrix, evaluate_by
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> found = evaluate_by(
        ...     [0, 0, 0, 1] * 50, [0, 1, 0, 1] * 50, costs, by={"region": ["n", "s"] * 100})
        >>> round(found.difference("s", "n")[0], 2)
        0.5
        """
        name = self.columns[0] if column is None else column
        mine = {each.name: each for each in self.parts if each.column == name}
        validate.choice(name, "column", self.columns)
        if first == second:
            raise InputError("first, second", f"expected two slices, got {first!r} twice.")
        estimates = []
        for each in (first, second):
            if each not in mine:
                raise InputError(
                    "first, second", f"expected one of {listing([*mine])}, got {each!r}."
                )
            estimate = mine[each].estimate
            if estimate is None:
                raise DesignError("first, second", f"the cost of {each!r} is not known.")
            estimates.append(estimate)
        pairs = len(mine) * (len(mine) - 1) / 2
        return apart(estimates[0], estimates[1], validate.alpha(confidence) / pairs)

    def to_frame(self, confidence: float = 0.95) -> Any:
        """Return the slices as a pandas data frame, the most expensive first.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence that all limits hold at once.

        Returns
        -------
        DataFrame
            With the columns column, slice, n, cost, low, high, share, difference, difference_low,
            difference_high and verdict.
        """
        return data_frame([each.to_dict() for each in self.slices(confidence)])

    def to_dict(self) -> dict[str, Any]:
        """Return the slices as plain values.

        Returns
        -------
        dict
            The cost of all rows, and the slices.
        """
        return {"cost": self.total.cost, "slices": [each.to_dict() for each in self.slices()]}

    def summary(self, confidence: float = 0.95) -> str:
        """Return the slices as a table of text, with a sentence on those that are more expensive.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence that all limits hold at once.

        Returns
        -------
        str
            A table and a sentence.
        """
        found = self.slices(confidence)
        worse = [each for each in found if each.verdict == VERDICTS[1]]
        names = ", ".join(f"{each.column} {each.slice_}" for each in worse[:5])
        note = (
            f"Shown to cost more than the rest: {names}."
            if worse
            else "No slice is shown to cost more than the rest."
        )
        sure = f" All {len(found)} intervals hold together with {percent(confidence)} confidence."
        table = text_table(*self._lines(found, confidence))
        return f"{table}\n{note}{sure if len(found) > 1 else ''}"

    def _lines(self, found: list[Slice], confidence: float) -> tuple[list[str], list[list[str]]]:
        title = f"cost per decision{f' ({self.unit})' if self.unit else ''}"
        header = [
            "slice",
            _amount([each.estimate for each in self.parts]),
            title,
            f"{percent(confidence)} CI from",
            "to",
            "share",
            "verdict",
        ]
        rows = [
            [
                f"{each.column}: {each.slice_}",
                number(each.n),
                "not known" if each.cost is None else number(each.cost),
                number(each.low),
                number(each.high),
                "" if each.share is None else f"{100 * each.share:.1f}%",
                each.verdict,
            ]
            for each in found
        ]
        return header, rows

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return html_table(*self._lines(self.slices(), 0.95))


def _amount(found: Sequence[CostEstimate | CostDifference | None]) -> str:
    """Return the heading of the column of sizes: numbers of rows, or sums of weights."""
    tables = [
        each.confusion if isinstance(each, CostEstimate) else each.paired for each in found if each
    ]
    weighted = any(getattr(each, "weighted", False) for each in tables)
    return "weight" if weighted else "rows"


def levels_of(columns: Sequence[str], alpha: float) -> dict[str, float]:
    """Return the level of each column's limits for which all limits hold at once."""
    sizes = {column: columns.count(column) for column in dict.fromkeys(columns)}
    return {
        column: -math.expm1(math.log1p(-alpha / len(sizes)) / size)
        for column, size in sizes.items()
    }


def _judged(part: Part, alpha: float, whole: float) -> Slice:
    """Return a slice with its limits and its verdict."""
    estimate = part.estimate
    if estimate is None:
        return Slice(
            part.column,
            part.name,
            part.n,
            None,
            part.least,
            part.most,
            None,
            None,
            None,
            None,
            VERDICTS[0],
        )
    low, high = quiet_interval(estimate, 1 - alpha)
    share = estimate.cost * part.n / whole if whole > 0 else None
    gap: tuple[float | None, float | None, float | None] = (None, None, None)
    verdict = 0
    if part.rest is not None:
        difference, below, above = apart(estimate, part.rest, alpha)
        gap, verdict = (difference, below, above), int(below > 0) - int(above < 0)
    return Slice(
        part.column, part.name, part.n, estimate.cost, low, high, share, *gap, VERDICTS[verdict]
    )


def apart(one: CostEstimate, other: CostEstimate, alpha: float) -> tuple[float, float, float]:
    """Return the difference of two costs on different rows, with limits."""
    first, second = quiet_interval(one, 1 - alpha), quiet_interval(other, 1 - alpha)
    down = math.hypot(one.cost - first.low, second.high - other.cost)
    up = math.hypot(first.high - one.cost, other.cost - second.low)
    difference = one.cost - other.cost
    return difference, difference - down, difference + up


def evaluate_by(
    y_true: Any,
    y_pred: Any,
    costs: CostMatrix | ExampleCosts,
    *,
    by: Any,
    columns: Sequence[str] | None = None,
    most: int | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    class_priors: Any = None,
    strata: Any = None,
    population: Any = None,
    impossible: Any = None,
    unit: str = "",
) -> SliceEstimates:
    """Return the cost of a model's decisions in each slice of the rows.

    Parameters
    ----------
    y_true, y_pred : array_like, shape (n,)
        The actual class of each example, and the decision.
    costs : CostMatrix or ExampleCosts
        The cost of each decision for each class, or for each example.
    by : array_like, shape (n,), mapping or data frame
        The slice of each example; or several columns of slices, each evaluated separately. Rows
        without a value are a slice of their own.
    columns : sequence of str, optional
        The columns of `by` to use; ``"region:channel"`` crosses two or more.
    most : int, optional
        The number of slices of a column to keep, the largest; the others are merged into one. By
        default all, up to a hundred.
    sample_weight, groups, class_priors, strata, population, impossible, unit
        As in `evaluate`. Strata count as weights inside a slice.

    Returns
    -------
    SliceEstimates
        The cost of each slice, with limits that hold for all of them at once.

    Notes
    -----
    Each slice has the default interval of costs, which allows for errors that were not observed:
    small slices have wide intervals. The level of each is such that all hold at once.

    References
    ----------
    Zou & Donner (2008).

    Examples
    --------
    >>> from stakes import CostMatrix, evaluate_by
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true = [0, 0, 0, 1] * 100
    >>> y_pred = [0, 0, 0, 1] * 50 + [0, 0, 0, 0] * 50
    >>> region = ["north"] * 200 + ["south"] * 200
    >>> evaluate_by(y_true, y_pred, costs, by={"region": region}).to_frame()[
    ...     ["slice", "n", "cost", "share", "verdict"]]
       slice    n  cost  share                       verdict
    0  south  200   2.5    1.0  more expensive than the rest
    1  north  200   0.0    0.0         cheaper than the rest
    """
    check_costs(costs)
    n = validate.size_of(y_pred, "y_pred")
    sampling = {"sample_weight": sample_weight, "groups": groups, "strata": strata}
    rows = rows_in_order(y_pred=y_pred, y_true=y_true, costs=costs, **sampling, by=by)
    taken = slice_columns(rows["by"], columns, n, most)
    weight = weights_of_strata(rows["strata"], population, rows["sample_weight"], n)
    whole = SlicedRows(
        rows["y_true"],
        [rows["y_pred"]],
        rows["costs"],
        weight,
        rows["groups"],
        Design(class_priors, None, impossible),
        unit,
    )
    parts = []
    for column, (codes, names) in taken.items():
        parts += parts_of(whole, column, codes, names)
    return SliceEstimates(tuple(parts), whole.total(), unit)


@dataclass(frozen=True, eq=False)
class SliceDifference(Result):
    """The difference of two models' costs in one slice.

    Attributes
    ----------
    column, slice_ : str
        The column that the rows are divided by, and the value of these rows in it.
    n : float
        The number of rows, or the sum of their weights.
    difference : float or None
        The cost of the first model minus that of the second, per decision.
    low, high : float
        Limits of the difference, which hold for all slices at once.
    cheaper : str or None
        The model that is shown to be cheaper in this slice, if one is.

    Examples
    --------
    >>> from stakes import CostMatrix, compare_by
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true, by = [0, 1] * 50, ["a"] * 50 + ["b"] * 50
    >>> found = compare_by(y_true, y_true, [0, 1] * 25 + [0, 0] * 25, costs, by=by)
    >>> last = found.slices()[-1]
    >>> last.slice_, last.difference, last.cheaper
    ('b', -5.0, 'first')
    """

    column: str
    slice_: str
    n: float
    difference: float | None
    low: float
    high: float
    cheaper: str | None

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain values.

        Returns
        -------
        dict
            The attributes by name, without the underscore of `slice_`.
        """
        return {name.removesuffix("_"): value for name, value in self._values().items()}


@dataclass(frozen=True, eq=False, repr=False)
class SliceDifferences(Result):
    """The difference of two models' costs in each slice of the rows.

    Made by `compare_by`.

    Parameters
    ----------
    parts : tuple
        The column, the name and the number of rows of each slice, and the difference in it, where
        it is known.
    names : pair of str
        The names of the models.
    most : float
        The largest possible difference in cost of two decisions.

    Examples
    --------
    >>> from stakes import CostMatrix, compare_by
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true, by = [0, 1] * 50, ["a"] * 50 + ["b"] * 50
    >>> found = compare_by(y_true, y_true, [0, 1] * 25 + [0, 0] * 25, costs, by=by)
    >>> [each.slice_ for each in found.slices()]
    ['a', 'b']
    """

    parts: tuple[tuple[str, str, float, CostDifference | None], ...]
    names: tuple[str, str]
    most: float

    def slices(self, confidence: float = 0.95) -> list[SliceDifference]:
        """Return the difference in each slice.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence that all limits hold at once.

        Returns
        -------
        list of SliceDifference
            The differences, the largest first in each column.
        """
        levels = levels_of([each[0] for each in self.parts], validate.alpha(confidence))
        found = []
        for column, name, n, difference in self.parts:
            if difference is None:
                found.append(SliceDifference(column, name, n, None, -self.most, self.most, None))
                continue
            low, high = quiet_interval(difference, 1 - levels[column])
            cheaper = self.names[0] if high < 0 else self.names[1] if low > 0 else None
            found.append(
                SliceDifference(column, name, n, difference.difference, low, high, cheaper)
            )
        order = {column: place for place, column in enumerate(levels)}
        return sorted(found, key=lambda each: (order[each.column], -(each.difference or 0.0)))

    def to_frame(self, confidence: float = 0.95) -> Any:
        """Return the differences as a pandas data frame.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence that all limits hold at once.

        Returns
        -------
        DataFrame
            With the columns column, slice, n, difference, low, high and cheaper.
        """
        return data_frame([each.to_dict() for each in self.slices(confidence)])

    def to_dict(self) -> dict[str, Any]:
        """Return the differences as plain values.

        Returns
        -------
        dict
            The names, and the slices.
        """
        return {"names": list(self.names), "slices": [each.to_dict() for each in self.slices()]}

    def summary(self, confidence: float = 0.95) -> str:
        """Return the differences as a table of text.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence that all limits hold at once.

        Returns
        -------
        str
            A line for each slice.
        """
        return text_table(*self._lines(confidence))

    def _lines(self, confidence: float) -> tuple[list[str], list[list[str]]]:
        title = f"{self.names[0]} minus {self.names[1]}"
        amount = _amount([difference for *_, difference in self.parts])
        header = ["slice", amount, title, f"{percent(confidence)} CI from", "to", "cheaper"]
        rows = [
            [
                f"{each.column}: {each.slice_}",
                number(each.n),
                "not known" if each.difference is None else number(each.difference),
                number(each.low),
                number(each.high),
                each.cheaper or "not shown",
            ]
            for each in self.slices(confidence)
        ]
        return header, rows

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return html_table(*self._lines(0.95))


def compare_by(
    y_true: Any,
    y_pred_1: Any,
    y_pred_2: Any,
    costs: CostMatrix | ExampleCosts,
    *,
    by: Any,
    names: tuple[str, str] = ("first", "second"),
    columns: Sequence[str] | None = None,
    most: int | None = None,
    sample_weight: Any = None,
    groups: Any = None,
    class_priors: Any = None,
    strata: Any = None,
    population: Any = None,
    impossible: Any = None,
    unit: str = "",
) -> SliceDifferences:
    """Compare the costs of two models in each slice of the same rows.

    Parameters
    ----------
    y_true, y_pred_1, y_pred_2 : array_like, shape (n,)
        The actual class of each example, and each model's decision.
    costs : CostMatrix or ExampleCosts
        The cost of each decision for each class, or for each example.
    by, columns, most
        As in `evaluate_by`.
    names : pair of str
        The names of the models.
    sample_weight, groups, class_priors, strata, population, impossible, unit
        As in `evaluate`. Strata count as weights inside a slice.

    Returns
    -------
    SliceDifferences
        The difference in each slice, with limits that hold for all of them at once.

    Notes
    -----
    In each slice the models are compared as by `compare`, at the level for which all limits hold at
    once.

    References
    ----------
    Margineantu & Dietterich (2000), section 3.2.

    Examples
    --------
    >>> from stakes import CostMatrix, compare_by
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true = [0, 0, 0, 1] * 100
    >>> good, bad = y_true, [0, 0, 0, 1] * 50 + [0, 0, 0, 0] * 50
    >>> region = ["north"] * 200 + ["south"] * 200
    >>> found = compare_by(y_true, good, bad, costs, by=region, names=("new", "old"))
    >>> [(each.slice_, each.difference, each.cheaper) for each in found.slices()]
    [('north', 0.0, None), ('south', -2.5, 'new')]
    """
    check_costs(costs)
    n = validate.size_of(y_pred_1, "y_pred_1")
    predictions = {"y_pred_1": y_pred_1, "y_pred_2": y_pred_2}
    sampling = {"sample_weight": sample_weight, "groups": groups, "strata": strata}
    rows = rows_in_order(**predictions, y_true=y_true, costs=costs, **sampling, by=by)
    taken = slice_columns(rows["by"], columns, n, most)
    weight = weights_of_strata(rows["strata"], population, rows["sample_weight"], n)
    both = validate.two_names(names)
    whole = SlicedRows(
        rows["y_true"],
        [rows[name] for name in predictions],
        rows["costs"],
        weight,
        rows["groups"],
        Design(class_priors, None, impossible),
        unit,
    )
    parts, widest = [], 0.0
    for column, (codes, slices) in taken.items():
        for name, (table, _) in zip(slices, whole.pieces(codes).each(len(slices)), strict=True):
            if table is not None:
                low, high = possible_costs(costs, table)
                widest = max(widest, high - low, -low)
                parts.append((column, name, table.n, whole.difference(table, both)))
    return SliceDifferences(tuple(parts), both, widest)
