"""How the examples came, and what that makes of their counts: the outcomes that methods work on.

Every design is reduced to draws. A draw is a row, a row with its weight, or a group of rows that
vary together; draws of one stratum are independent. Where groups have rows in several strata or
classes, what a group contributes to the estimate beyond its share (its residual) is one draw.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.alike import distinct_rows
from stakes._core.labels import Labels, in_order, listing
from stakes._core.text import percent
from stakes._core.typing import Floats
from stakes.counts import Confusion, CostSample, GroupedConfusion, JointConfusion
from stakes.counts._labelled import effective_size
from stakes.counts._parts import Parts
from stakes.errors import DesignError, InputError, InputTypeError, LabelError
from stakes.infer._outcomes import (
    CountTable,
    Design,
    Outcomes,
    Stratum,
    Units,
    called_impossible,
    is_simple,
    make_stratum,
    observed_differences,
    possible_cells,
    possible_decisions,
    simple_outcomes,
)

Places = NDArray[np.intp]

NEARLY = 0.9
"""Costs nearly as far from the mean as the farthest count as extreme."""

LEAST_PRIOR = 1e-100
"""Smaller priors of a class, if not 0, have squares that floats cannot hold."""

FADING = 0.9
"""Each group that holds an extreme cost lets the room for a whole group of them shrink to this."""

LEAST_ROOM = 0.75
"""But not below this share of it: that single rows are missed does not exclude whole groups."""

FEW_GROUPS = 5
"""Fewer groups with rows of a class do not tell how many rows of it a group has."""

FEWEST_DRAWS = 20.0
LARGEST_SHARE = 0.1
"""With fewer draws by Kish's number, or a larger share in one, the confidence is not claimed."""

MOST_RAKING = 1000

UNEQUAL = (
    "few examples carry most of what could be lost, and larger amounts than those seen are not "
    "allowed for, so the confidence is not claimed"
)


def outcomes_of(table: CountTable, cell_costs: Any, design: Design, scale: float = 0.0) -> Outcomes:
    """Combine counts, the cost of each cell, and the design.

    `scale` is the size of the costs that differences were taken of.
    """
    simple = simple_outcomes(table, cell_costs, design, scale)
    if simple is not None:
        return simple
    rows = _listed(table, cell_costs, design)
    shares = _Shares.of(rows, design)
    found = _linearised(rows, shares) if shares.linear else _stratified(rows, shares, scale)
    if isinstance(table, CostSample):
        caution = found.caution or (UNEQUAL if table.unequal else "")
        return replace(found, bounded=not table.assumed, caution=caution)
    return found


# One list of what was counted, whatever it was counted into.


@dataclass(frozen=True)
class _Rows:
    """What was counted, an entry for each cell of each part, or for each example.

    `squares` are the sums of squared weights, and None where the groups are the draws. `kinds`,
    `decided` and `strata` are the places of the class, the decisions and the stratum; `ends` the
    least and the most that a row of each class can cost. Groups that are alike are one, and `times`
    says how many each stands for.
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
    table: _Cells | None
    weighted: bool
    times: Floats | None = None

    @property
    def repeats(self) -> Floats:
        """For how many groups each one stands."""
        assert self.groups is not None  # noqa: S101 - who asks has groups
        return np.ones(int(self.groups.max()) + 1) if self.times is None else self.times

    def by_group(self, values: Floats, chosen: Any = slice(None)) -> Floats:
        """Add up what the chosen entries have, for each group that an entry's group stands for."""
        assert self.groups is not None  # noqa: S101 - who asks has groups
        repeats = self.repeats
        return np.asarray(np.bincount(self.groups[chosen], values[chosen], len(repeats)) / repeats)

    @property
    def design(self) -> str:
        """What the draws are."""
        if self.groups is not None:
            return "grouped"
        return "weighted" if self.weighted else "stratified"


@dataclass(frozen=True)
class _Cells:
    """The cells of a table: their costs, classes and decisions, and whether they can occur."""

    costs: Floats
    kinds: Places
    decided: Places
    allowed: NDArray[np.bool_]


def _listed(table: CountTable, cell_costs: Any, design: Design, *, apart: bool = False) -> _Rows:
    """List what was counted; `apart` if groups that are alike shall stay apart."""
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
        effective_size(flat.sum(), squares.sum())  # which refuses weights too small to square
    stratum, names = parts.stratum_codes()
    groups, times = parts.group_codes(), None
    if groups is None and squares is None:
        squares = flat
    if groups is not None and parts.strata is None and not apart:
        first, kinds_of_groups = distinct_rows(flat)
        times = np.bincount(kinds_of_groups).astype(np.float64)
        flat, groups = flat[first] * times[:, np.newaxis], np.arange(len(first))
    part, cell = np.nonzero(flat)
    return _Rows(
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
        table=_Cells(costs, kinds, decided, allowed),
        weighted=table.weighted,
        times=times,
    )


def _listed_pairs(table: JointConfusion, costs: Any, design: Design) -> _Rows:
    """List the decisions of two models that occurred, of too many that could; `costs` by decision.

    Of what did not occur, only the least and the most that a row of each class can cost are known.
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
    first, second = table.decided.T
    return _Rows(
        costs=observed_differences(values, first, second, table.actual),
        amounts=amounts,
        squares=squares if groups is None else None,
        kinds=table.actual,
        decided=first * len(table.decisions) + second,
        strata=stratum[part],
        groups=None if groups is None else groups[part],
        cells=np.zeros(len(amounts), dtype=np.intp),
        labels=table.labels,
        names=names,
        ends=np.stack([-spread, spread], axis=1),
        table=None,
        weighted=table.weighted,
    )


def _ends(costs: Floats) -> tuple[float, float]:
    return (float(costs.min()), float(costs.max())) if costs.size else (math.nan, math.nan)


def _listed_sample(table: CostSample, design: Design) -> _Rows:
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
    strata, names = _coded(table.strata, n)
    weights = np.ones(n) if table.weights is None else table.weights
    return _Rows(
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
    )


def _coded(names: Labels | None, n: int) -> tuple[Places, Labels]:
    if names is None:
        return np.zeros(n, dtype=np.intp), ("",)
    distinct = in_order(set(names))
    place = {name: index for index, name in enumerate(distinct)}
    return np.array([place[name] for name in names], dtype=np.intp), distinct


# What share of the population each entry stands for.


@dataclass(frozen=True)
class _Shares:
    """The share of each entry, and what its cost is compared with.

    `blocks` are the strata (or classes) that vary by themselves, with their shares, names, and the
    numbers of their rows in a finite population (infinite otherwise). `linear` tells that the draws
    are in several of them, so that residuals are what varies.
    """

    each: Floats
    blocks: Places
    weights: Floats
    sizes: Floats
    fitted: Floats
    linear: bool

    @classmethod
    def of(cls, rows: _Rows, design: Design) -> _Shares:
        by_class = design.class_priors is not None or design.strata == "class"
        several = len(rows.names) > 1
        if not by_class:
            weights, sizes = _stratum_weights(rows, rows.strata, rows.names, design.population)
            each = rows.amounts * _per(weights, rows.strata, rows.amounts)
            fitted = _means(rows.costs, each, rows.strata, len(weights))[rows.strata]
            crossing = rows.groups is not None and _crosses(rows.groups, rows.strata)
            return cls(each, rows.strata, weights, sizes, fitted, crossing)
        priors, sizes = _class_weights(rows, design)
        if not several:
            each = rows.amounts * _per(priors, rows.kinds, rows.amounts)
            fitted = _means(rows.costs, each, rows.kinds, len(priors))[rows.kinds]
            crossing = rows.groups is not None and _crosses(rows.groups, rows.kinds)
            return cls(each, rows.kinds, priors, sizes, fitted, crossing)
        population = None if design.strata == "class" else design.population
        weights, _ = _stratum_weights(rows, rows.strata, rows.names, population)
        each = _raked(rows, weights, priors)
        fitted = _two_way(rows, each)
        whole = np.array([math.inf])
        return cls(each, np.zeros_like(rows.strata), np.ones(1), whole, fitted, linear=True)


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
    rows: _Rows, blocks: Places, names: Labels, population: Any
) -> tuple[Floats, Floats]:
    """Return each stratum's share, and its number of rows where that is known."""
    n = len(names)
    seen = np.bincount(blocks, rows.amounts, n)
    endless = np.full(n, math.inf)
    if population is None:
        return seen / seen.sum(), endless
    values = _population(population, names)
    shares = abs(values.sum() - 1) < 1e-6  # noqa: PLR2004 - shares
    drawn = _draws(rows, blocks, n)
    for name, value, rows_seen in zip(names, values, drawn, strict=True):
        if value > 0 and not rows_seen:
            raise InputError(
                "population",
                f"the stratum {name!r} has no examples, so nothing is known of its costs.",
            )
        if not shares and value < rows_seen - 1e-9:
            raise InputError(
                "population",
                f"the stratum {name!r} has {rows_seen:g} examples, more than the {value:g} rows "
                "that it is said to have.",
                "Give rows, or shares that sum to 1.",
            )
    return values / values.sum(), endless if shares else values


def stratum_shares(names: Labels, seen: Floats, population: Any) -> Floats:
    """Return each stratum's share of the population; by default, that of what was seen."""
    values = seen if population is None else _population(population, names)
    return np.asarray(values / values.sum())


def _draws(rows: _Rows, blocks: Places, n: int) -> Floats:
    """Return how many rows each block has; of weighted ones, as many as they are worth."""
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
    strange = [name for name in population if name not in names]
    if missing or strange:
        problem = f"misses {missing[0]!r}" if missing else f"has the unknown {strange[0]!r}"
        raise LabelError(
            "population",
            f"expected rows or a share for each of the strata {listing(names)}; it {problem}.",
        )
    values = validate.numeric([population[name] for name in names], "population", ndim=1)
    if not np.isfinite(values).all() or (values < 0).any() or not values.any():
        raise InputError(
            "population", f"expected numbers that are not negative, got {values.tolist()}."
        )
    return np.asarray(values, dtype=np.float64)


def _class_weights(rows: _Rows, design: Design) -> tuple[Floats, Floats]:
    """Return each class's share, and its number of rows where that is known."""
    n = len(rows.labels)
    seen = np.bincount(rows.kinds, rows.amounts, n)
    if design.class_priors is not None:
        return priors_of_examples(design.class_priors, rows.labels, seen), np.full(n, math.inf)
    if design.population is not None and len(rows.names) == 1:
        return _stratum_weights(rows, rows.kinds, rows.labels, design.population)
    return seen / seen.sum(), np.full(n, math.inf)


def _raked(rows: _Rows, weights: Floats, priors: Floats) -> Floats:
    """Return shares that add up to those of the strata and of the classes (Deming & Stephan)."""
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


def _two_way(rows: _Rows, each: Floats) -> Floats:
    """Return what strata and classes together explain of the costs, by weighted least squares."""
    h, j = len(rows.names), len(rows.labels)
    columns = np.zeros((len(each), h + j))
    columns[np.arange(len(each)), rows.strata] = 1.0
    columns[np.arange(len(each)), h + rows.kinds] = 1.0
    root = np.sqrt(each)[:, np.newaxis]
    solution = np.linalg.lstsq(columns * root, rows.costs * root[:, 0], rcond=None)[0]
    return np.asarray(columns @ solution)


# From entries to draws.


def _stratified(rows: _Rows, shares: _Shares, scale: float) -> Outcomes:
    """Return the draws of each stratum, or class, by itself."""
    by_class = shares.blocks is rows.kinds
    strata = []
    for block in np.flatnonzero(shares.weights > 0):
        inside = shares.blocks == block
        ends = rows.ends[block] if by_class else _all_ends(rows)
        weight, size = float(shares.weights[block]), float(shares.sizes[block])
        if rows.design == "stratified":
            stratum = _plain(rows, inside, int(block) if by_class else None, scale)
        else:
            stratum = _block(rows, inside, (float(ends[0]), float(ends[1])))
        drawn = float(_draws(rows, shares.blocks, len(shares.weights))[block])
        strata.append(
            replace(
                stratum,
                weight=weight,
                labelled=drawn / size if math.isfinite(size) else 0.0,
                left=size - drawn,
            )
        )
    finite = np.isfinite(shares.sizes).any()
    plain = rows.design == "stratified"
    if plain and len(shares.weights) == 1 and not finite:
        return Outcomes(tuple(strata), "examples" if rows.table is None else "simple")
    design = "finite" if finite and plain else rows.design
    return Outcomes(tuple(strata), design, _caution(rows))


def _all_ends(rows: _Rows) -> tuple[float, float]:
    return float(np.nanmin(rows.ends[:, 0])), float(np.nanmax(rows.ends[:, 1]))


def _plain(rows: _Rows, inside: NDArray[np.bool_], kind: int | None, scale: float) -> Stratum:
    """Return the single rows of one stratum, or class; its share is not set yet."""
    if rows.table is None:
        ends = _all_ends(rows) if kind is None else rows.ends[kind]
        values = [*rows.costs[inside], *ends]
        return make_stratum(values, [*rows.amounts[inside], 0.0, 0.0], scale=scale)
    cells = rows.table
    chosen = np.ones(len(cells.costs), dtype=bool) if kind is None else cells.kinds == kind
    counts = np.bincount(rows.cells[inside], rows.amounts[inside], len(cells.costs))
    return make_stratum(
        cells.costs[chosen], counts[chosen], possible=cells.allowed[chosen], scale=scale
    )


def _block(rows: _Rows, inside: NDArray[np.bool_], ends: tuple[float, float]) -> Stratum:
    """Return the groups, or the weighted rows, of one stratum; its share is not set yet."""
    costs, amounts = rows.costs[inside], rows.amounts[inside]
    if rows.groups is None:
        squares = np.asarray(rows.squares)[inside]
        sizes, counts = squares / amounts, amounts**2 / squares
    else:
        every = rows.by_group(rows.amounts, inside)
        present = every > 0
        sizes = every[present]
        costs = rows.by_group(rows.amounts * rows.costs, inside)[present] / sizes
        counts = rows.repeats[present]
        if counts.sum() < 2:  # noqa: PLR2004 - one group tells nothing about others
            raise InputError("groups", "at least two groups are needed (of each stratum), got 1.")
    mean = float((sizes * counts * costs).sum() / (sizes * counts).sum())
    rooms = [_room(rows, inside, mean, end) for end in ends]
    return _merged_units(costs, counts, sizes, ends, rooms)


def _merged_units(
    costs: Floats,
    counts: Floats,
    sizes: Floats,
    ends: tuple[float, float],
    rooms: list[tuple[float, float]],
    *,
    fixed: bool = False,
) -> Stratum:
    """Return draws as a stratum, equal ones as one atom; `fixed` ends need not be the extremes."""
    if not fixed:
        costs, counts = np.append(costs, ends), np.append(counts, [0.0, 0.0])
        sizes = np.append(sizes, [1.0, 1.0])
    drawn = sizes[counts > 0]
    size, alike = float(drawn[0]), (drawn == drawn[0]).all()
    if alike and not fixed and all(room == (size, size) for room in rooms):
        return make_stratum(costs, counts)  # as single rows
    # Equal draws are one atom: sorted by cost, then by size.
    order = np.lexsort([sizes, costs])
    costs, sizes, counts = costs[order], sizes[order], counts[order]
    first = np.append(True, (np.diff(costs) != 0) | (np.diff(sizes) != 0))
    merged = np.add.reduceat(counts, np.flatnonzero(first))
    costs, sizes = costs[first], sizes[first]
    units = Units(
        sizes=sizes,
        rooms=(rooms[0][0], rooms[1][0]),
        full=(rooms[0][1], rooms[1][1]),
        ends=ends,
    )
    nothing = np.zeros(0, dtype=np.intp)
    return Stratum(costs, merged[np.newaxis], np.ones(len(costs)), nothing, units=units)


def _room(rows: _Rows, inside: NDArray[np.bool_], mean: float, end: float) -> tuple[float, float]:
    """Return how large a draw of the extreme cost may be: by what was seen, and at most.

    What was not seen would come with the weight of rows like it: of its class, or with its
    decisions; and with groups, as a whole group. The more groups hold the extreme cost in a part of
    their rows only, the less is assumed that a whole one can.
    """
    reach = NEARLY * abs(end - mean)
    towards = np.sign(end - mean)
    extreme = ((rows.costs - mean) * towards >= reach) & inside
    alike = [extreme]
    if rows.table is None:
        alike.append(inside)
    else:
        cells = rows.table
        can = ((cells.costs - mean) * towards >= reach) & cells.allowed
        by_class = [(rows.kinds == kind) & inside for kind in np.unique(cells.kinds[can])]
        alike += by_class
        # Rows are drawn by what was decided, if by anything: without weights their class tells all,
        # once enough groups have rows of it.
        if rows.weighted or min(_groups_among(rows, chosen) for chosen in by_class) < FEW_GROUPS:
            alike += [rows.decided == decided for decided in np.unique(cells.decided[can])]
    heaviest = max((_heaviness(rows, chosen) for chosen in alike), default=0.0)
    if not heaviest:
        heaviest = _heaviness(rows, inside)
    if rows.groups is None:
        return heaviest, heaviest
    held = rows.by_group(rows.amounts, extreme)
    like = (np.bincount(rows.kinds[extreme], minlength=len(rows.labels)) > 0)[rows.kinds] & inside
    could = rows.by_group(rows.amounts, like)
    holding = held > 0
    largest = float((held[holding] / could[holding]).max()) if holding.any() else 0.0
    least = max(largest, LEAST_ROOM)
    faded = FADING ** float(rows.repeats[holding].sum())
    return heaviest * (least + (1 - least) * faded), heaviest


def _groups_among(rows: _Rows, chosen: NDArray[np.bool_]) -> int:
    """Return how many groups have some of the chosen rows."""
    if rows.groups is None or not chosen.any():
        return 0
    return int(rows.repeats[rows.by_group(rows.amounts, chosen) > 0].sum())


def _heaviness(rows: _Rows, chosen: NDArray[np.bool_]) -> float:
    """Return Σs²/Σs over the draws, of the chosen rows: how large the draw of such a row is."""
    amounts = rows.amounts[chosen]
    if not amounts.size:
        return 0.0
    if rows.groups is None:
        return float(np.asarray(rows.squares)[chosen].sum() / amounts.sum())
    sizes = rows.by_group(rows.amounts, chosen)
    return float(rows.repeats @ sizes**2 / amounts.sum())


def _linearised(rows: _Rows, shares: _Shares) -> Outcomes:
    """Return draws whose totals are residuals, where draws are in several strata or classes."""
    estimate = float(shares.each @ rows.costs)
    residuals = shares.each * (rows.costs - shares.fitted)
    if rows.groups is None:
        counts = rows.amounts**2 / np.asarray(rows.squares)
        sizes, totals = shares.each / counts, residuals / counts
    else:
        sizes, totals = rows.by_group(shares.each), rows.by_group(residuals)
        counts = rows.repeats
        if counts[sizes > 0].sum() < 2:  # noqa: PLR2004 - one group tells nothing about others
            raise InputError("groups", "at least two groups are needed, got 1.")
    kept = sizes > 0
    costs = estimate + totals[kept] / sizes[kept]
    ends, rooms = [], []
    for end in (0, 1):
        end_cost, room = _linear_end(rows, shares, estimate, end)
        ends.append(end_cost)
        rooms.append(room)
    stratum = _merged_units(costs, counts[kept], sizes[kept], (ends[0], ends[1]), rooms, fixed=True)
    return Outcomes(
        (stratum,), rows.design if rows.groups is not None else "weighted", _caution(rows)
    )


def _linear_end(
    rows: _Rows, shares: _Shares, estimate: float, end: int
) -> tuple[float, tuple[float, float]]:
    """Return the cost and the sizes of an unseen draw that would move the estimate most."""
    best: tuple[float, float, tuple[float, float]] = (0.0, estimate, (0.0, 0.0))
    for stratum in np.unique(rows.strata):
        for kind in np.unique(rows.kinds):
            inside = (rows.strata == stratum) & (rows.kinds == kind)
            if not inside.any() or not shares.each[inside].sum():
                continue
            per = float(shares.each[inside].sum() / rows.amounts[inside].sum())
            fitted = float(shares.fitted[inside][0])
            cost = float(rows.ends[kind, end])
            room, full = _room(rows, inside, float(_mean(rows, inside)), cost)
            moved = per * full * (cost - fitted) * (1 if end else -1)
            if moved > best[0]:
                best = (moved, estimate + cost - fitted, (per * room, per * full))
    return best[1], best[2]


def _mean(rows: _Rows, inside: NDArray[np.bool_]) -> float:
    return float(rows.amounts[inside] @ rows.costs[inside] / rows.amounts[inside].sum())


def _caution(rows: _Rows) -> str:
    """Say why the confidence is not claimed, where few draws carry most of what is known."""
    total = float(rows.amounts.sum())
    if rows.groups is not None:
        sizes = rows.by_group(rows.amounts)
        what, squares, largest = "group", float(rows.repeats @ sizes**2), float(sizes.max())
    elif rows.weighted:
        each = np.asarray(rows.squares)
        what, squares = "row", float(each.sum())
        largest = float((each / rows.amounts).max())
    else:
        return ""
    kish, largest = total**2 / squares, largest / total
    if largest > LARGEST_SHARE:
        return (
            f"one {what} holds {percent(largest)} of the weight, so the confidence is not claimed"
        )
    if kish < FEWEST_DRAWS:
        return (
            f"the {what}s are worth only {kish:.3g} independent ones, so the confidence is not "
            "claimed"
        )
    return ""


def cell_shares(table: CountTable, design: Design) -> Floats:
    """Return the share of each cell in the population that the design describes."""
    pooled = table.pooled if isinstance(table, GroupedConfusion) else table
    if isinstance(pooled, CostSample):
        raise DesignError("costs", "those of single examples have no cells.")
    if isinstance(pooled, JointConfusion):
        raise InputError("labels", "there are too many classes to list all cells.")
    if is_simple(table, design):
        return np.asarray(pooled.counts / pooled.n)
    rows = _listed(table, np.zeros(pooled.counts.shape), replace(design, impossible=None))
    each = _Shares.of(rows, design).each
    shares = np.bincount(rows.cells, each, pooled.counts.size)
    return np.asarray(shares, dtype=np.float64).reshape(pooled.counts.shape)


def shares_of(sample: CostSample, design: Design) -> Floats:
    """Return the share of the population that each example of a sample stands for."""
    return _Shares.of(_listed_sample(sample, design), design).each


def shares_per_row(table: GroupedConfusion, design: Design) -> Floats:
    """Return what share of the population a row of each part and class stands for.

    Of a part without rows of a class, nothing.
    """
    n = len(table.parts)
    pooled = table.counts.shape[1:]
    rows = _listed(table, np.zeros(pooled), replace(design, impossible=None), apart=True)
    part = np.nonzero(table.counts.reshape(n, -1))[0]
    found = np.zeros((n, len(table.labels)))
    found[part, rows.kinds] = _Shares.of(rows, design).each / rows.amounts
    return found


def where_used(table: Confusion | GroupedConfusion, design: Design) -> Confusion:
    """Return the shares of the cells where a model is used, if not as in the examples."""
    if isinstance(table, Confusion) and design.class_priors is None and design.population is None:
        return table
    return Confusion(cell_shares(table, design), table.labels, table.decisions)


def priors_of_examples(class_priors: Any, labels: Labels, sizes: NDArray[Any]) -> Floats:
    """Return the prior of each class; those that have one must have examples."""
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


def checked_priors(class_priors: Any, labels: Labels) -> Floats:
    """Return the prior of each class in the order of `labels`."""
    class_priors = _by_name(class_priors)
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
    """Return what a pandas Series says by name as a mapping; one that only counts has no names."""
    if not hasattr(class_priors, "index") or not hasattr(class_priors, "to_dict"):
        return class_priors
    named = class_priors.to_dict()
    return class_priors if list(named) == list(range(len(named))) else named
