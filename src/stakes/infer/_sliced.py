"""Rows divided into slices: the slice of each row, and the counts of every slice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Column, Labels, as_column, has_entries, is_missing, listing, plain
from stakes._core.values import ByValue
from stakes.costs import CostMatrix, ExampleCosts
from stakes.counts import Confusion, CostSample, GroupedConfusion, PairedConfusion
from stakes.counts._parts import Parts
from stakes.counts.engines import group
from stakes.counts.grouped import grouped_of_parts
from stakes.counts.sample import with_assumed
from stakes.errors import InputError, InputTypeError
from stakes.infer._outcomes import CountTable, Design
from stakes.infer._shares import shares_of
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.evaluation import Sampling, count_decisions

Codes = NDArray[np.intp]

MISSING = "(missing)"
"""The slice of the rows without a value."""

OTHER = "(other)"
"""The slice of all values but the most frequent ones."""

MOST = 100
"""Largest number of slices of a column, unless the number to keep is given."""


@dataclass(frozen=True, eq=False)
class Part(ByValue):
    """The counts of a slice and of all other rows, with what their cost estimates need."""

    column: str
    name: str
    mine: CountTable
    others: CountTable | None
    costs: CostMatrix | None
    designs: tuple[Design, Design]
    unit: str
    least: float
    most: float

    @property
    def n(self) -> Any:
        """The number of rows of the slice, or the sum of their weights."""
        return self.mine.n

    @cached_property
    def estimate(self) -> CostEstimate | None:
        """The cost estimate of the slice; None where it cannot be estimated."""
        return estimate_of(self.mine, self.costs, self.designs[0], self.unit)

    @cached_property
    def rest(self) -> CostEstimate | None:
        """The cost estimate of all other rows; None where it cannot be estimated."""
        return estimate_of(self.others, self.costs, self.designs[1], self.unit)


def estimate_of(
    table: CountTable | None, costs: CostMatrix | None, design: Design, unit: str
) -> CostEstimate | None:
    """Return the cost of rows; None without rows, a class with a prior, or enough groups."""
    if table is None:
        return None
    try:
        return CostEstimate(table, costs, design, unit)
    except InputError as error:
        if "class_priors" in str(error) or "groups" in str(error):
            return None
        raise


@dataclass(frozen=True)
class SlicedRows:
    """Decisions of one model or of two, from which slices are counted."""

    y_true: Any
    predictions: list[Any]
    costs: CostMatrix | ExampleCosts
    sample_weight: Any
    groups: Any
    design: Design
    unit: str

    def total(self) -> CostEstimate:
        """Return the cost estimate of all rows."""
        table = self._table(Sampling(self.sample_weight, self.groups))
        return CostEstimate(table, self.matrix, self.design_of(table), self.unit)

    @property
    def matrix(self) -> CostMatrix | None:
        """The cost matrix; None if rows have costs of their own."""
        return self.costs if isinstance(self.costs, CostMatrix) else None

    def design_of(self, table: Any) -> Design:
        """Return the design for the counts, or costs, of some of the rows."""
        return (
            replace(self.design, impossible=None) if isinstance(table, CostSample) else self.design
        )

    def _table(self, sampling: Sampling) -> CountTable:
        if isinstance(self.costs, ExampleCosts):
            return CostSample.from_labels(
                self.costs,
                *self.predictions,
                y_true=self.y_true,
                impossible=self.design.impossible,
                sample_weight=sampling.sample_weight,
                groups=sampling.groups,
            )
        return count_decisions(self.costs, self.y_true, self.predictions, sampling)

    def estimate(self, table: CountTable | None) -> CostEstimate | None:
        """Return the cost of rows; None without rows, a class with a prior, or enough groups."""
        return estimate_of(table, self.matrix, self.design_of(table), self.unit)

    def difference(self, table: CountTable, names: tuple[str, str]) -> CostDifference | None:
        """Return the cost difference; None without a class with a prior, or enough groups."""
        try:
            return CostDifference(table, self.matrix, names, self.design_of(table), self.unit)
        except InputError as error:
            if "class_priors" in str(error) or "groups" in str(error):
                return None
            raise

    def pieces(self, codes: Codes) -> Pieces:
        """Count the rows once, in pieces from which the counts of any slice can be taken."""
        if isinstance(self.costs, ExampleCosts):
            sample = self._table(Sampling(self.sample_weight, self.groups))
            assert isinstance(sample, CostSample)  # noqa: S101 - for the type checker
            return Pieces(sample, codes)
        table = self._table(Sampling(self.sample_weight, self.groups, codes))
        assert isinstance(table, GroupedConfusion)  # noqa: S101 - for the type checker
        return Pieces(table, np.asarray(table.strata, dtype=np.intp))


@dataclass(frozen=True, eq=False)
class Pieces:
    """Counts by part, or costs by row, with the slice of each part or row.

    Attributes
    ----------
    table : GroupedConfusion or CostSample
        The counts by part, or the costs of the rows.
    place : ndarray
        The index of the slice of each part or row.
    """

    table: GroupedConfusion | CostSample
    place: Codes

    def each(self, size: int) -> list[tuple[CountTable | None, CountTable | None]]:
        """Return the counts of each slice, and of all other rows; None where there are no rows."""
        return [
            (self.some(self.place == place), self.some(self.place != place))
            for place in range(size)
        ]

    def some(self, chosen: NDArray[np.bool_]) -> CountTable | None:
        """Return the counts of the chosen parts or rows; None where there are no rows."""
        if isinstance(self.table, CostSample):
            return _some(self.table, chosen)
        return counts_of(self.table, chosen, self._groups)

    @cached_property
    def _groups(self) -> tuple[Codes, Labels] | None:
        return None if isinstance(self.table, CostSample) else _group_places(self.table)


def _some(sample: CostSample, rows: NDArray[np.bool_]) -> CostSample | None:
    """Return the chosen rows of a sample of costs."""
    if not rows.any():
        return None

    def taken(values: Any) -> Any:
        return None if values is None else list(compress(values, rows))

    found = CostSample(
        sample.values[rows],
        low=sample.low,
        high=sample.high,
        sample_weight=None if sample.weights is None else sample.weights[rows],
        groups=taken(sample.groups),
        classes=taken(sample.classes),
    )
    # The largest cost observed on all rows is not a known bound for some of them, either.
    return with_assumed(found, assumed=sample.assumed)


def _group_places(table: GroupedConfusion) -> tuple[Codes, Labels] | None:
    """Return the index of each part's group, and the names of the groups."""
    if table.groups is None:
        return None
    names = {name: place for place, name in enumerate(dict.fromkeys(table.groups))}
    return np.array([names[name] for name in table.groups], dtype=np.intp), tuple(names)


def counts_of(
    table: GroupedConfusion,
    parts: NDArray[np.bool_],
    groups: tuple[Codes, Labels] | None = None,
) -> CountTable | None:
    """Return the counts of the chosen parts: by group where there are groups, otherwise pooled."""
    counts = table.counts[parts]
    if not counts.sum():
        return None
    axes = table.labels, table.decisions
    if groups is not None:
        codes, names = groups
        used, places = np.unique(codes[parts], return_inverse=True)
        merged = np.zeros((len(used), *counts.shape[1:]), dtype=counts.dtype)
        np.add.at(merged, places, counts)
        kept = Parts.known(tuple(names[place] for place in used.tolist()), None)
        return grouped_of_parts(kept, merged, axes)
    kind = Confusion if counts.ndim == 3 else PairedConfusion  # noqa: PLR2004 - one model
    squares = None if table.squares is None else table.squares[parts].sum(axis=0)
    return kind(counts.sum(axis=0), *axes, squares=squares)


def grouped_rows(
    frame: Any,
    costs: CostMatrix,
    labels: tuple[str, str],
    column: str,
    *,
    weight: str | None,
    most: int | None,
) -> tuple[GroupedConfusion, tuple[str, ...]]:
    """Count decisions by class and slice, in the engine of the frame."""
    crossed = column.split(":")
    texts = dict.fromkeys(crossed, MISSING)
    found, amounts = group(
        frame, [*crossed, labels[1], labels[0]], weight, any_number=crossed, texts=texts
    )
    codes, names = _coded(found[0])
    for other in found[1:-2]:
        codes, names = _crossed((codes, names), _coded(other))
    codes, names = _kept(codes, names, column, most, np.asarray(amounts[0]))
    decided, actual = (
        each.looked_up(each.positions(each.used(), known, what))
        for each, known, what in (
            (found[-2], costs.decisions, "decisions"),
            (found[-1], costs.labels, "classes"),
        )
    )
    shape = (len(names), len(costs.decisions), len(costs.labels))
    tables = []
    for amount in map(np.asarray, amounts):
        table = np.zeros(shape, dtype=amount.dtype)
        np.add.at(table, (codes, decided, actual), amount)
        tables.append(table)
    squares = tables[1] if len(tables) > 1 else None
    counted = GroupedConfusion(
        tables[0], costs.labels, costs.decisions, strata=list(names), squares=squares
    )
    return counted, names


def _coded(column: Column) -> tuple[Codes, tuple[str, ...]]:
    """Return the index of each row's value, and the values as text; 1 and "1" are one slice."""
    dense = column.compressed()
    codes = np.subtract(dense.codes, dense.offset, dtype=np.intp)
    places: dict[str, int] = {}
    where = [places.setdefault(str(value), len(places)) for value in dense.values]
    if len(places) < len(where):
        codes = np.array(where, dtype=np.intp)[codes]
    return codes, tuple(places)


def parts_of(whole: SlicedRows, column: str, codes: Codes, names: Sequence[str]) -> list[Part]:
    return listed_parts(whole, column, names, whole.pieces(codes).each(len(names)))


def listed_parts(
    whole: SlicedRows,
    column: str,
    names: Sequence[str],
    tables: Sequence[tuple[CountTable | None, CountTable | None]],
) -> list[Part]:
    found = []
    for name, (mine, others) in zip(names, tables, strict=True):
        if mine is None:
            continue
        ends = possible_costs(whole.costs, mine)
        designs = (whole.design_of(mine), whole.design_of(others))
        found.append(Part(column, name, mine, others, whole.matrix, designs, whole.unit, *ends))
    return found


def possible_costs(costs: CostMatrix | ExampleCosts, table: CountTable) -> tuple[float, float]:
    """Return the least and the largest possible cost of a decision."""
    if isinstance(table, CostSample):
        return float(table.low), float(table.high)
    values = costs.values
    return float(values.min()), float(values.max())


def weights_of_strata(strata: Any, population: Any, sample_weight: Any, n: int) -> Any:
    """Return sample weights that give the strata their shares of the population."""
    if strata is None or population is None:
        if population is not None:
            raise InputError("population", "it says how large the strata are; give strata=.")
        return sample_weight
    sample = CostSample(np.zeros(n), low=0.0, high=1.0, sample_weight=sample_weight, strata=strata)
    return shares_of(sample, Design(population=population)) * n


def rows_in_order(**given: Any) -> dict[str, Any]:
    """Return arguments with rows in the order of their first pandas index, as `evaluate` does.

    The columns of a mapping may each have an index. Arguments without rows stay as they are.
    """
    several = {name: each for name, each in given.items() if isinstance(each, Mapping)}
    rows = {name: each for name, each in given.items() if name not in several}
    for name, columns in several.items():
        rows |= {f"{name}[{column!r}]": each for column, each in columns.items()}
    rows = {
        name: each
        for name, each in rows.items()
        if has_entries(each) and not isinstance(each, str | CostMatrix)
    }
    found = dict(zip(rows, validate.aligned(**rows), strict=True))
    for name, columns in several.items():
        keys = {column: f"{name}[{column!r}]" for column in columns}
        found[name] = {column: found.get(key, columns[column]) for column, key in keys.items()}
    return {name: found.get(name, each) for name, each in given.items()}


def slice_columns(
    by: Any, columns: Sequence[str] | None, n: int, most: int | None
) -> dict[str, tuple[Codes, tuple[str, ...]]]:
    """Return, for each column, the index of each row's slice and the names of the slices."""
    if most is not None:
        validate.as_size(most, "most", 1)
    given = named_columns(by, "by")
    if isinstance(columns, str) or not (columns is None or has_entries(columns)):
        raise InputTypeError("columns", f"expected a list of columns, got {columns!r}.")
    wanted = list(given) if columns is None else list(columns)
    if not wanted:
        raise InputError("by" if columns is None else "columns", "expected at least one column.")
    found = {}
    for column in wanted:
        crossed = [column] if column in given else column.split(":")
        unknown = [name for name in crossed if name not in given]
        if unknown:
            raise InputError(
                "columns", f"there is no column {unknown[0]!r}; there are {listing([*given])}."
            )
        codes, names = slice_codes(given[crossed[0]], crossed[0])
        for other in crossed[1:]:
            codes, names = _crossed((codes, names), slice_codes(given[other], other))
        validate.same_length({"y_pred": n, f"by[{column!r}]": len(codes)})
        found[column] = _kept(codes, names, column, most)
    return found


def named_columns(by: Any, argument: str) -> dict[str, Any]:
    """Return the columns of a mapping, a frame or one array, by name."""
    if isinstance(by, Mapping):
        return {str(name): values for name, values in by.items()}
    names = validate.column_names(by)
    if names is not None:
        return {str(name): by[name] for name in names}
    validate.size_of(by, argument)
    return {"slice": by}


def slice_codes(values: Any, name: str) -> tuple[Codes, tuple[str, ...]]:
    """Return the index of each row's value, and the values that occur, as text."""
    validate.size_of(values, name)
    try:
        column = as_column(values, name, None)
    except InputError:  # some are missing, or text and numbers are mixed
        return _mixed_codes(values, name)
    return _coded(column)


def _mixed_codes(values: Any, name: str) -> tuple[Codes, tuple[str, ...]]:
    """Return the same for values that are partly missing or of mixed types, one by one."""
    listed = values.to_list() if hasattr(values, "to_list") else list(values)
    array = np.empty(len(listed), dtype=object)
    array[:] = listed
    nested = [each for each in listed if np.ndim(each)]
    if nested:
        raise InputError(name, f"expected one value for each example, got {nested[0]!r}.")
    missing = np.fromiter((is_missing(each) for each in array), dtype=bool, count=len(array))
    texts = np.array([str(plain(each)) for each in array[~missing]], dtype=object)
    places: dict[str, int] = {}
    codes = np.empty(len(array), dtype=np.intp)
    codes[~missing] = [places.setdefault(text, len(places)) for text in texts]
    if missing.any():
        codes[missing] = places.setdefault(MISSING, len(places))
    return codes, tuple(places)


def _crossed(
    one: tuple[Codes, tuple[str, ...]], other: tuple[Codes, tuple[str, ...]]
) -> tuple[Codes, tuple[str, ...]]:
    """Return the observed combinations of two columns' slices."""
    both = one[0] * len(other[1]) + other[0]
    used, codes = np.unique(both, return_inverse=True)
    pairs = [(one[1][c // len(other[1])], other[1][c % len(other[1])]) for c in used]
    names = tuple(f"{first}:{second}" for first, second in pairs)
    if len(set(names)) < len(names):  # a:b with c reads as a with b:c
        names = tuple(f"{first!r}:{second!r}" for first, second in pairs)
    return codes.astype(np.intp), names


def _kept(
    codes: Codes, names: tuple[str, ...], column: str, most: int | None, sizes: Any = None
) -> tuple[Codes, tuple[str, ...]]:
    """Return the slices, with all but the `most` largest merged into one.

    `sizes` are the numbers of rows of the entries of `codes`, if these are not single rows.
    """
    if len(names) <= (MOST if most is None else most):
        return codes, names
    if most is None:
        raise InputError(
            "by",
            f"the column {column!r} has {len(names):,} different values; up to {MOST} slices are "
            "evaluated.",
            f"Give most=20, say, for the 20 largest slices and all others as one, {OTHER!r}.",
            proposal={"most": "20"},
        )
    totals = np.bincount(codes, sizes, minlength=len(names))
    ranked = [place for place in np.argsort(-totals, kind="stable") if names[place] != OTHER]
    largest = np.sort(ranked[:most])
    where = np.full(len(names), len(largest), dtype=np.intp)
    where[largest] = np.arange(len(largest))
    return where[codes], (*(names[place] for place in largest), OTHER)
