"""Counts of any kind as one flat table, and the population share of each of its entries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.alike import distinct_rows
from stakes._core.labels import Label, Labels, in_order, listing
from stakes._core.typing import Floats
from stakes.counts import Confusion, CostSample, GroupedConfusion, JointConfusion
from stakes.counts._labelled import effective_size
from stakes.counts._parts import Parts
from stakes.errors import DesignError, InputError, InputTypeError, LabelError
from stakes.infer._outcomes import (
    CountTable,
    Design,
    called_impossible,
    is_simple,
    observed_differences,
    possible_cells,
    possible_decisions,
)

Places = NDArray[np.intp]

LEAST_PRIOR = 1e-100
"""Smallest nonzero prior of a class, so that its square does not underflow."""

MOST_RAKING = 1000


# Counted data as one flat table.


@dataclass(frozen=True, eq=False)
class Rows:
    """Counted data, with an entry for each cell of each part, or for each example.

    `squares` are the sums of squared weights, and None where the groups are the draws. `kinds`,
    `decided` and `strata` are the indices of the class, the decisions and the stratum; `ends` the
    least and the largest possible cost of a row of each class. Identical groups are merged into
    one, and `times` is the number that each stands for. Where strata differ in the possible cells,
    `possible` are those of each, and `bounds` the least and the largest possible cost of its rows.
    """

    costs: Floats
    amounts: Floats
    squares: Floats | None
    kinds: Places
    decided: Places
    strata: Places
    groups: Places | None
    cells: Places
    labels: Labels
    names: Labels
    ends: Floats
    table: Cells | None
    weighted: bool
    times: Floats | None = None
    possible: NDArray[np.bool_] | None = None
    bounds: Floats | None = None

    def within(self, stratum: int) -> Rows:
        """Return the rows with only the cells and the costs that are possible in a stratum."""
        if self.bounds is None:
            return self
        table = self.table
        if table is not None and self.possible is not None:
            table = replace(table, allowed=self.possible[stratum])
        ends = np.tile(self.bounds[stratum], (len(self.labels), 1))
        return replace(self, table=table, ends=ends)

    def counted(self) -> Rows:
        """Return the entries with weight: rows of no weight were not sampled."""
        used = self.amounts > 0
        if used.all():
            return self
        return self._some(used)

    def chosen(self, places: Places) -> Rows:
        """Return some of the entries, with only the groups that are among them."""
        found = self._some(places)
        if found.groups is None:
            return found
        among, groups = np.unique(found.groups, return_inverse=True)
        return replace(
            found, groups=groups, times=None if self.times is None else self.times[among]
        )

    def _some(self, places: Places | NDArray[np.bool_]) -> Rows:
        names = ("costs", "amounts", "squares", "kinds", "decided", "strata", "groups", "cells")
        listed = {name: getattr(self, name) for name in names}
        return replace(
            self, **{name: each[places] for name, each in listed.items() if each is not None}
        )

    @property
    def repeats(self) -> Floats:
        """The number of groups that each merged group stands for."""
        assert self.groups is not None  # noqa: S101 - callers have groups
        return np.ones(int(self.groups.max()) + 1) if self.times is None else self.times

    def by_group(self, values: Floats, chosen: Any = slice(None)) -> Floats:
        """Sum values of the chosen entries by group, for a single one of the merged groups."""
        assert self.groups is not None  # noqa: S101 - callers have groups
        repeats = self.repeats
        return np.asarray(np.bincount(self.groups[chosen], values[chosen], len(repeats)) / repeats)

    @property
    def design(self) -> str:
        """The design by the kind of draws: "grouped", "weighted" or "stratified"."""
        if self.groups is not None:
            return "grouped"
        return "weighted" if self.weighted else "stratified"


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a table: their costs, classes and decisions, and whether they can occur."""

    costs: Floats
    kinds: Places
    decided: Places
    allowed: NDArray[np.bool_]


def listed(table: CountTable, cell_costs: Any, design: Design, *, apart: bool = False) -> Rows:
    """Return counted data as entries; with `apart`, identical groups are not merged."""
    if isinstance(table, CostSample):
        return _listed_sample(table, design)
    if isinstance(table, JointConfusion):
        return _listed_pairs(table, cell_costs, design)
    pooled = table.pooled if isinstance(table, GroupedConfusion) else table
    parts = table.parts if isinstance(table, GroupedConfusion) else Parts(None, ("",))
    shape = pooled.counts.shape
    costs = np.asarray(cell_costs, dtype=np.float64).ravel()
    kinds = np.arange(costs.size) % shape[-1]
    decided = np.arange(costs.size) // shape[-1]
    mask = possible_cells(pooled, design.impossible)
    allowed = np.ones(costs.size, dtype=bool) if mask is None else mask.ravel()
    flat = table.counts.reshape(len(parts), costs.size).astype(np.float64)
    squares = None if table.squares is None else table.squares.reshape(flat.shape)
    if squares is not None:
        effective_size(flat.sum(), squares.sum())  # raises for weights too small to square
    stratum, names = parts.stratum_codes()
    groups, times = parts.group_codes(), None
    if groups is None and squares is None:
        squares = flat
    if groups is not None and parts.strata is None and not apart:
        first, kinds_of_groups = distinct_rows(flat)
        times = np.bincount(kinds_of_groups).astype(np.float64)
        flat, groups = flat[first] * times[:, np.newaxis], np.arange(len(first))
    part, cell = np.nonzero(flat)
    places = _decided(design, names, pooled.decisions, len(shape) - 1)
    possible = bounds = None
    if places is not None:
        possible = allowed & ((places[:, np.newaxis] == decided) | (places[:, np.newaxis] < 0))
        _check_decided(possible[stratum[part], cell], stratum[part], names)
        bounds = np.array([_ends(costs[each]) for each in possible])
    return Rows(
        costs=costs[cell],
        amounts=flat[part, cell],
        squares=None if groups is not None else np.asarray(squares)[part, cell],
        kinds=kinds[cell],
        decided=decided[cell],
        strata=stratum[part],
        groups=None if groups is None else groups[part],
        cells=cell,
        labels=pooled.labels,
        names=names,
        ends=np.array([_ends(costs[allowed & (kinds == kind)]) for kind in range(shape[-1])]),
        table=Cells(costs, kinds, decided, allowed),
        weighted=table.weighted,
        times=times,
        possible=possible,
        bounds=bounds,
    )


def _decided(design: Design, names: Labels, decisions: Labels, models: int) -> Places | None:
    """Return the index of the decisions of each stratum; -1 where they are not known."""
    if design.decided is None:
        return None
    known = set(names)
    strange = [name for name in design.decided if name not in known]
    if strange:
        raise LabelError(
            "decided", f"the stratum {strange[0]!r} is not among the strata {listing(names)}."
        )
    found = np.full(len(names), -1, dtype=np.intp)
    for index, name in enumerate(names):
        if name not in design.decided:
            continue
        given = design.decided[name]
        taken = given if models > 1 else (given,)
        if not isinstance(taken, tuple | list) or len(taken) != models:
            raise InputTypeError(
                "decided", f"expected the decisions of two models for {name!r}, got {given!r}."
            )
        for each in taken:
            if each not in decisions:
                raise LabelError(
                    "decided", f"{each!r} is not among the decisions: {listing(decisions)}."
                )
        places = [decisions.index(each) for each in taken]
        found[index] = int(np.ravel_multi_index(places, (len(decisions),) * models))
    return found


def _check_decided(fits: NDArray[np.bool_], strata: Places, names: Labels) -> None:
    """Raise if rows of a stratum have decisions other than the declared ones."""
    if not fits.all():
        name = names[int(strata[~fits][0])]
        raise InputError(
            "decided", f"the stratum {name!r} has rows with other decisions than that."
        )


def _listed_pairs(table: JointConfusion, costs: Any, design: Design) -> Rows:
    """Return the observed decisions of two models as entries, where all possible are too many.

    `costs` are those of each decision. For pairs of decisions that were not observed, only the
    least and the largest possible difference for a row of each class are known.
    """
    if len(table.names) != 2:  # noqa: PLR2004 - of two models
        raise InputTypeError("paired", "expected the counts of two classifiers.")
    values = np.asarray(costs, dtype=np.float64)
    allowed = possible_decisions(table.labels, table.decisions, design.impossible)
    taken = ~allowed[table.decided, table.actual[:, np.newaxis]]
    if taken.any():
        row, model = np.argwhere(taken)[0]
        decision, label = (
            table.decisions[table.decided[row, model]],
            table.labels[table.actual[row]],
        )
        raise called_impossible(decision, label, table.counts[row])
    spread = np.where(allowed, values, -np.inf).max(axis=0)
    spread = spread - np.where(allowed, values, np.inf).min(axis=0)
    parts = Parts(None, ("",)) if table.parts is None else table.parts
    part = np.zeros(len(table.actual), dtype=np.intp) if table.part is None else table.part
    stratum, names = parts.stratum_codes()
    groups, amounts = parts.group_codes(), table.counts.astype(np.float64)
    squares = amounts if table.squares is None else table.squares
    effective_size(amounts.sum(), squares.sum())
    first, second = table.decided.T
    both = first * len(table.decisions) + second
    places, bounds = _decided(design, names, table.decisions, 2), None
    if places is not None:
        known = places[strata := stratum[part]]
        _check_decided((known == both) | (known < 0), strata, names)
        bounds = np.array([_pair_ends(values, allowed, place) for place in places.tolist()])
    return Rows(
        costs=observed_differences(values, first, second, table.actual),
        amounts=amounts,
        squares=squares if groups is None else None,
        kinds=table.actual,
        decided=both,
        strata=stratum[part],
        groups=None if groups is None else groups[part],
        cells=np.zeros(len(amounts), dtype=np.intp),
        labels=table.labels,
        names=names,
        ends=np.stack([-spread, spread], axis=1),
        table=None,
        weighted=table.weighted,
        bounds=bounds,
    )


def _pair_ends(values: Floats, allowed: NDArray[np.bool_], place: int) -> tuple[float, float]:
    """Return the least and the largest difference of two decisions; of any two if `place` is -1."""
    if place < 0:
        spread = np.where(allowed, values, -np.inf).max(axis=0)
        spread = spread - np.where(allowed, values, np.inf).min(axis=0)
        return -float(spread.max()), float(spread.max())
    first, second = divmod(place, len(values))
    both = np.flatnonzero(allowed[first] & allowed[second])
    chosen = np.full(len(both), first), np.full(len(both), second), both
    return _ends(observed_differences(values, *chosen))


def _ends(costs: Floats) -> tuple[float, float]:
    return (float(costs.min()), float(costs.max())) if costs.size else (math.nan, math.nan)


def _listed_sample(table: CostSample, design: Design) -> Rows:
    if design.impossible is not None:
        raise DesignError(
            "impossible",
            "costs of single examples have no cells.",
            "Give the bounds of CostSample instead.",
        )
    if table.classes is None and (design.class_priors is not None or design.strata is not None):
        raise DesignError(
            "class_priors, strata",
            "they need the class of each example, which this sample of costs does not have.",
            "Give y_true (or classes=).",
        )
    n = table.n
    kinds, labels = _coded(table.classes, n)
    strata, names = _coded(table.strata, n, table.bounds or ())
    weights = np.ones(n) if table.weights is None else table.weights
    effective_size(weights.sum(), (weights**2).sum())
    return Rows(
        costs=table.values,
        amounts=weights,
        squares=None if table.groups is not None else weights**2,
        kinds=kinds,
        decided=np.zeros(n, dtype=np.intp),
        strata=strata,
        groups=None if table.groups is None else _coded(table.groups, n)[0],
        cells=np.zeros(n, dtype=np.intp),
        labels=labels,
        names=names,
        ends=np.tile((table.low, table.high), (len(labels), 1)),
        table=None,
        weighted=table.weights is not None,
        bounds=None if table.bounds is None else np.array([table.bounds[name] for name in names]),
    )


def _coded(names: Labels | None, n: int, others: Iterable[Label] = ()) -> tuple[Places, Labels]:
    """Return the index of each name, and the distinct names; `others` may have no example."""
    if names is None:
        return np.zeros(n, dtype=np.intp), ("",)
    distinct = in_order({*names, *others})
    place = {name: index for index, name in enumerate(distinct)}
    return np.array([place[name] for name in names], dtype=np.intp), distinct


# Population shares of the entries.


@dataclass(frozen=True, eq=False)
class Shares:
    """Population share of each entry, and the fitted cost from which its residual is measured.

    `blocks` are the strata (or classes) that vary independently, with their shares in `weights` and
    their `sizes` in rows of a finite population (infinite otherwise). With `linear`, draws are in
    several blocks, so that residuals vary; with `by_class`, the classes have shares of their own.
    """

    each: Floats
    blocks: Places
    weights: Floats
    sizes: Floats
    fitted: Floats
    linear: bool
    by_class: bool

    @classmethod
    def of(cls, rows: Rows, design: Design) -> Shares:
        by_class = design.class_priors is not None or design.strata == "class"
        several = len(rows.names) > 1
        if not by_class:
            weights, sizes = _stratum_weights(rows, rows.strata, rows.names, design.population)
            each = rows.amounts * _per(weights, rows.strata, rows.amounts)
            fitted = _means(rows.costs, each, rows.strata, len(weights))[rows.strata]
            crossing = rows.groups is not None and _crosses(rows.groups, rows.strata)
            return cls(each, rows.strata, weights, sizes, fitted, crossing, by_class)
        priors, sizes = _class_weights(rows, design)
        if not several:
            each = rows.amounts * _per(priors, rows.kinds, rows.amounts)
            fitted = _means(rows.costs, each, rows.kinds, len(priors))[rows.kinds]
            crossing = rows.groups is not None and _crosses(rows.groups, rows.kinds)
            return cls(each, rows.kinds, priors, sizes, fitted, crossing, by_class)
        population = None if design.strata == "class" else design.population
        weights, _ = _stratum_weights(rows, rows.strata, rows.names, population)
        each = _raked(rows, weights, priors)
        fitted = _two_way(rows, each)
        whole = np.array([math.inf])
        together = np.zeros_like(rows.strata)
        return cls(each, together, np.ones(1), whole, fitted, linear=True, by_class=True)


def _per(weights: Floats, blocks: Places, amounts: Floats) -> Floats:
    """Return the share of the population that one row of an entry's block stands for."""
    totals = np.bincount(blocks, amounts, len(weights))
    return np.asarray((weights / np.where(totals > 0, totals, 1.0))[blocks])


def _means(costs: Floats, shares: Floats, blocks: Places, n: int) -> Floats:
    totals = np.bincount(blocks, shares, n)
    sums = np.bincount(blocks, shares * costs, n)
    return np.asarray(sums / np.where(totals > 0, totals, 1.0))


def _crosses(groups: Places, blocks: Places) -> bool:
    """Tell whether a group has rows in several blocks."""
    if not blocks.any():
        return False
    pairs = np.unique(groups * (blocks.max() + 1) + blocks)
    return len(pairs) > len(np.unique(groups))


def _stratum_weights(
    rows: Rows, blocks: Places, names: Labels, population: Any
) -> tuple[Floats, Floats]:
    """Return each stratum's share, and its number of rows where that is known."""
    n = len(names)
    seen = np.bincount(blocks, rows.amounts, n)
    endless = np.full(n, math.inf)
    if population is None:
        return seen / seen.sum(), endless
    values = _population(population, names)
    shares = abs(values.sum() - 1) < 1e-6  # noqa: PLR2004 - shares
    drawn = drawn_rows(rows, blocks, n)
    for name, value, rows_seen in zip(names, values, drawn, strict=True):
        if value > 0 and not rows_seen and rows.bounds is None:
            raise InputError(
                "population",
                f"the stratum {name!r} has no examples, so nothing is known of its costs.",
            )
        if not shares and value < rows_seen - 1e-9:
            raise InputError(
                "population",
                f"{f'the stratum {name!r} has' if len(names) > 1 else 'there are'} {rows_seen:g} "
                f"examples, more than the {value:g} rows given for the population.",
                "Give rows, or shares that sum to 1.",
            )
    return values / values.sum(), endless if shares else values


def drawn_rows(rows: Rows, blocks: Places, n: int) -> Floats:
    """Return the number of rows of each block; of weighted rows, the effective number (Kish)."""
    if not rows.weighted:
        return np.asarray(np.bincount(blocks, rows.amounts, n), dtype=np.float64)
    squares = rows.squares
    if squares is None:
        squares = rows.amounts**2 / rows.repeats[rows.groups]
    return np.asarray(
        np.bincount(blocks, rows.amounts, n) ** 2
        / np.maximum(np.bincount(blocks, squares, n), 1e-300)
    )


def _population(population: Any, names: Labels) -> Floats:
    if not isinstance(population, Mapping):
        if names != ("",):
            raise InputError(
                "population",
                f"expected a mapping from each of the strata {listing(names)} to its rows or "
                f"share, got {population!r}.",
            )
        population = {"": population}
    missing = [name for name in names if name not in population]
    known = set(names)
    strange = [name for name in population if name not in known]
    if missing or strange:
        problem = f"misses {missing[0]!r}" if missing else f"has the unknown {strange[0]!r}"
        raise LabelError(
            "population",
            f"expected rows or a share for each of the strata {listing(names)}; it {problem}.",
        )
    return validate.population_sizes([population[name] for name in names])


def _class_weights(rows: Rows, design: Design) -> tuple[Floats, Floats]:
    """Return each class's share, and its number of rows where that is known."""
    n = len(rows.labels)
    seen = np.bincount(rows.kinds, rows.amounts, n)
    if design.class_priors is not None:
        return priors_of_examples(design.class_priors, rows.labels, seen), np.full(n, math.inf)
    if design.population is not None and len(rows.names) == 1:
        return _stratum_weights(rows, rows.kinds, rows.labels, design.population)
    return seen / seen.sum(), np.full(n, math.inf)


def _raked(rows: Rows, weights: Floats, priors: Floats) -> Floats:
    """Return shares raked to the margins of the strata and of the classes (Deming & Stephan)."""
    each: Floats = np.asarray(rows.amounts / rows.amounts.sum())
    for _ in range(MOST_RAKING):
        each = each * _per(weights, rows.strata, each)
        before = each
        each = each * _per(priors, rows.kinds, each)
        if np.abs(each - before).sum() < 1e-13:  # noqa: PLR2004 - of a sum of 1
            return each
    raise DesignError(
        "class_priors, strata",
        "no weights have both the shares of the strata and those of the classes: some strata have "
        "too few classes among their examples.",
        "Merge strata.",
    )


def _two_way(rows: Rows, each: Floats) -> Floats:
    """Return the costs fitted by strata and classes together, by weighted least squares."""
    # With the strata's means taken from both sides, only the classes are left to be fitted: a
    # column for each stratum would take time and memory by the square of their number.
    n = len(rows.names)
    left = np.empty((len(each), len(rows.labels)))
    for kind in range(left.shape[1]):
        column = (rows.kinds == kind).astype(np.float64)
        left[:, kind] = column - _means(column, each, rows.strata, n)[rows.strata]
    centred = rows.costs - _means(rows.costs, each, rows.strata, n)[rows.strata]
    root = np.sqrt(each)
    solution = np.linalg.lstsq(left * root[:, np.newaxis], centred * root, rcond=None)[0]
    return np.asarray(rows.costs - centred + left @ solution)


# Population shares for other modules.


def cell_shares(table: CountTable, design: Design) -> Floats:
    """Return the share of each cell in the population that the design describes."""
    pooled = table.pooled if isinstance(table, GroupedConfusion) else table
    if isinstance(pooled, CostSample):
        raise DesignError("costs", "those of single examples have no cells.")
    if isinstance(pooled, JointConfusion):
        raise InputError("labels", "there are too many classes to list all cells.")
    if is_simple(table, design):
        return np.asarray(pooled.counts / pooled.n)
    rows = listed(table, np.zeros(pooled.counts.shape), replace(design, impossible=None))
    found = Shares.of(rows, design)
    shares = np.bincount(rows.cells, found.each, pooled.counts.size)
    if rows.possible is not None and found.blocks is rows.strata:
        mask = possible_cells(pooled, design.impossible)
        can = rows.possible if mask is None else rows.possible & mask.ravel()
        seen = np.bincount(rows.strata, rows.amounts, len(rows.names))
        for stratum in np.flatnonzero((seen == 0) & (found.weights > 0)):
            shares[can[stratum]] += found.weights[stratum] / can[stratum].sum()
    return np.asarray(shares, dtype=np.float64).reshape(pooled.counts.shape)


def shares_of(sample: CostSample, design: Design) -> Floats:
    """Return the share of the population that each example of a sample stands for."""
    return Shares.of(_listed_sample(sample, design), design).each


def shares_per_row(table: GroupedConfusion, design: Design) -> Floats:
    """Return the share of the population that a row of each part and class stands for.

    It is 0 for a part without rows of a class.
    """
    n = len(table.parts)
    pooled = table.counts.shape[1:]
    rows = listed(table, np.zeros(pooled), replace(design, impossible=None), apart=True)
    part = np.nonzero(table.counts.reshape(n, -1))[0]
    found = np.zeros((n, len(table.labels)))
    found[part, rows.kinds] = Shares.of(rows, design).each / rows.amounts
    return found


def where_used(table: Confusion | GroupedConfusion, design: Design) -> Confusion:
    """Return cell shares in the target population; the counts where they are representative."""
    if isinstance(table, Confusion) and design.class_priors is None and design.population is None:
        return table
    return Confusion(cell_shares(table, design), table.labels, table.decisions)


def priors_of_examples(class_priors: Any, labels: Labels, sizes: NDArray[Any]) -> Floats:
    """Return the prior of each class; raise if a class with a prior has no examples."""
    priors = checked_priors(class_priors, labels)
    for label, prior, size in zip(labels, priors, sizes, strict=True):
        if prior and not size:
            raise InputError(
                "class_priors",
                f"the class {label!r} has a prior of {prior:g} but no examples, so nothing is "
                "known of its costs.",
                "Add examples of it, or set its prior to 0.",
            )
    return priors


def filled_priors(class_priors: Any, labels: Labels) -> Any:
    """Return class priors in which a missing one of two classes is filled in."""
    if not isinstance(class_priors, Mapping) or len(labels) != 2 or len(class_priors) != 1:  # noqa: PLR2004
        return class_priors
    ((known, share),) = class_priors.items()
    if known not in labels:
        return class_priors
    part = float(validate.numeric(share, "class_priors", ndim=0))
    if not 0 <= part <= 1:
        raise InputError("class_priors", f"expected a share from 0 to 1, got {part:g}.")
    return {label: part if label == known else 1 - part for label in labels}


def checked_priors(class_priors: Any, labels: Labels) -> Floats:
    """Return the prior of each class in the order of `labels`."""
    class_priors = filled_priors(_by_name(class_priors), labels)
    if isinstance(class_priors, Mapping):
        missing = [label for label in labels if label not in class_priors]
        strange = [label for label in class_priors if label not in labels]
        if missing or strange:
            problem = f"misses {missing[0]!r}" if missing else f"has the unknown {strange[0]!r}"
            raise LabelError(
                "class_priors",
                f"expected a prior for each of the classes {listing(labels)}; it {problem}.",
            )
        class_priors = [class_priors[label] for label in labels]
    priors = validate.numeric(class_priors, "class_priors", ndim=1)
    if len(priors) != len(labels):
        raise InputError(
            "class_priors",
            f"expected {len(labels)} shares, one for each of the classes {listing(labels)}; got "
            f"{len(priors)}.",
        )
    if not np.isfinite(priors).all() or (priors < 0).any() or abs(priors.sum() - 1) > 1e-6:  # noqa: PLR2004
        raise InputError(
            "class_priors",
            f"expected shares that are not negative and sum to 1, got {priors.tolist()}, which "
            f"sum to {priors.sum():.6g}.",
        )
    tiny = priors[(priors > 0) & (priors < LEAST_PRIOR)]
    if len(tiny):
        raise InputError(
            "class_priors", f"expected 0 or at least {LEAST_PRIOR:g}, got {tiny[0]:g}."
        )
    return np.asarray(priors / priors.sum())


def _by_name(class_priors: Any) -> Any:
    """Return a pandas Series with names as a mapping; one with a default index stays as it is."""
    if not hasattr(class_priors, "index") or not hasattr(class_priors, "to_dict"):
        return class_priors
    named = class_priors.to_dict()
    return class_priors if list(named) == list(range(len(named))) else named
