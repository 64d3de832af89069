"""Outcomes of counts, costs and a sampling design, in the form that interval methods work on.

Every design is reduced to draws, its sampling units. A draw is a row, a row with its weight, or a
group of correlated rows; draws of one stratum are independent. Where groups have rows in several
strata or classes, a draw is a group's residual: its contribution to the estimate beyond its share.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.text import number, percent
from stakes._core.typing import Floats
from stakes.counts import CostSample
from stakes.errors import InputError
from stakes.infer._outcomes import (
    CountTable,
    Design,
    Outcomes,
    Stratum,
    Units,
    make_stratum,
    simple_outcomes,
)
from stakes.infer._shares import Places, Rows, Shares, drawn_rows, listed

NEARLY = 0.9
"""Costs count as extreme from this share of the largest distance from the mean."""

FADING = 0.9
"""Factor by which each group with an extreme cost shrinks the allowance for a whole group of it."""

LEAST_ROOM = 0.75
"""Lower bound of that allowance, as a share: errors in single rows do not rule out whole groups."""

FEW_GROUPS = 20
"""With a smaller effective number of groups, rows of a class do not show how many of them a group
may have: where sizes have a heavy tail, the largest groups are likely to be of the other class."""

FEWEST_DRAWS = 20.0
LARGEST_SHARE = 0.1
"""With a smaller effective number of draws (Kish), or a larger share of the weight in one draw, the
confidence is not claimed."""

LEAST_LEFT = 10
"""With fewer unlabelled rows in a stratum, the interval of a finite population was measured to
undercover, so the confidence is not claimed. Such strata are better labelled completely."""

NEGLIGIBLE = 0.01
"""Share of the possible cost of all unlabelled rows below which such strata are ignored."""

UNEQUAL = (
    "few examples carry most of what could be lost, and larger amounts than those seen are not "
    "allowed for, so the confidence is not claimed"
)


def outcomes_of(table: CountTable, cell_costs: Any, design: Design, scale: float = 0.0) -> Outcomes:
    """Combine counts, the cost of each cell, and the design.

    `scale` is the magnitude of the costs from which differences were computed.
    """
    simple = simple_outcomes(table, cell_costs, design, scale)
    if simple is not None:
        return simple
    rows = listed(table, cell_costs, design).counted()
    shares = Shares.of(rows, design)
    found = _linearised(rows, shares) if shares.linear else _stratified(rows, shares, scale)
    if design.rows_counted is not None:
        found = replace(found, strata=(*found.strata, _between(found, design.rows_counted)))
    if isinstance(table, CostSample):
        caution = found.caution or (UNEQUAL if table.unequal else "")
        return replace(found, bounded=not table.assumed, caution=caution)
    return found


# Conversion of entries to draws.


def _stratified(rows: Rows, shares: Shares, scale: float) -> Outcomes:
    """Return the outcomes with each stratum, or class, sampled independently."""
    by_class = shares.by_class
    drawn = drawn_rows(rows, shares.blocks, len(shares.weights)).tolist()
    weights, sizes = shares.weights.tolist(), shares.sizes.tolist()
    content = _contents(rows, shares)
    # Strata of the same content are the same object: what is computed of one holds for all of them.
    alike: dict[Any, Stratum] = {}
    strata = []
    for block in np.flatnonzero(shares.weights > 0).tolist():
        inside, key = content[block]
        size = sizes[block], drawn[block], weights[block]
        if (stratum := alike.get((key, size))) is None:
            if key not in alike:
                alike[key] = _of_block(rows, inside, block, scale, by_class=by_class)
            stratum = alike[key, size] = replace(
                alike[key],
                weight=weights[block],
                labelled=drawn[block] / sizes[block] if math.isfinite(sizes[block]) else 0.0,
                left=sizes[block] - drawn[block],
            )
        strata.append(stratum)
    finite = np.isfinite(shares.sizes).any()
    plain = rows.design == "stratified"
    if plain and len(shares.weights) == 1 and not finite:
        return Outcomes(tuple(strata), "examples" if rows.table is None else "simple")
    design = "finite" if finite and plain else rows.design
    return Outcomes(tuple(strata), design, _caution(rows) or _few_left(strata))


def _contents(rows: Rows, shares: Shares) -> list[tuple[Places, Any]]:
    """Return the entries of each block, and a key that is the same for blocks of equal content."""
    found: list[tuple[Places, Any]] = _by_block(rows, shares.blocks, len(shares.weights))
    if shares.by_class:  # what a class can cost does not depend on what was observed
        return [(inside, kind) for kind, (inside, _) in enumerate(found)]
    if rows.bounds is None:
        return found
    bounds, possible = rows.bounds.tolist(), rows.possible
    return [
        (inside, (key, *bounds[k], None if possible is None else possible[k].tobytes()))
        for k, (inside, key) in enumerate(found)
    ]


def _by_block(
    rows: Rows, blocks: Places, n: int, others: Sequence[NDArray[Any]] = ()
) -> list[tuple[Places, bytes]]:
    """Return the entries of each block, and a key that is the same for blocks of equal content."""
    columns = [rows.costs, rows.amounts, rows.kinds, rows.decided, rows.cells, *others]
    columns += [] if rows.squares is None else [rows.squares]
    columns += [] if rows.groups is None else [_numbered_within(rows.groups, blocks)]
    order = np.argsort(blocks, kind="stable")
    table = np.stack([each[order].astype(np.float64) for each in columns], axis=1)
    ends = np.cumsum(np.bincount(blocks, minlength=n)).tolist()
    return [
        (order[start:end], table[start:end].tobytes())
        for start, end in zip([0, *ends[:-1]], ends, strict=True)
    ]


def _numbered_within(groups: Places, blocks: Places) -> Places:
    """Return groups numbered from 0 in each block."""
    every = int(groups.max(initial=0)) + 1
    found, place = np.unique(blocks * every + groups, return_inverse=True)
    return np.asarray(place - np.searchsorted(found, blocks * every))


def _of_block(rows: Rows, inside: Places, block: int, scale: float, *, by_class: bool) -> Stratum:
    """Return one stratum, or class; its share is not set yet."""
    here = rows if by_class else rows.within(block)
    if rows.design == "stratified" or not len(inside):
        return _plain(here, inside, block if by_class else None, scale)
    low, high = rows.ends[block] if by_class else _all_ends(here)
    if not by_class and len(inside) < len(rows.amounts):
        here, inside = here.chosen(inside), np.arange(len(inside))
    chosen = np.zeros(len(here.amounts), dtype=bool)
    chosen[inside] = True
    within = np.ones_like(chosen) if by_class else chosen
    return _block(here, chosen, within, (float(low), float(high)))


def _between(outcomes: Outcomes, rows: int) -> Stratum:
    """Return a stratum for the sampling error of the strata's shares.

    Its draws are the means of the strata, for as many `rows` as the shares were counted in. They
    are centred, so that the estimate does not change.
    """
    weights = np.array([each.weight for each in outcomes.strata])
    means = np.array([float(each.mean[0]) for each in outcomes.strata])
    return make_stratum(means - weights @ means / weights.sum(), rows * weights / weights.sum())


def _few_left(strata: list[Stratum]) -> str:
    """Return a caution if strata have too few unlabelled rows for the interval to be reliable."""
    open_ranges = [
        each.weight * (1 - each.labelled) * (each.end(-1) - each.end(0)) for each in strata
    ]
    few = [0 < each.left < LEAST_LEFT and not each.certain for each in strata]
    at_stake = sum(span for span, is_few in zip(open_ranges, few, strict=True) if is_few)
    if at_stake <= NEGLIGIBLE * sum(open_ranges):
        return ""
    left = sum(each.left for each, is_few in zip(strata, few, strict=True) if is_few)
    rows = "row without a label is" if left == 1 else "rows without a label are"
    return (
        f"{number(left)} {rows} all that is left of a stratum: the interval was not measured "
        f"there, so the confidence is not claimed (label whole what keeps fewer than {LEAST_LEFT})"
    )


def _all_ends(rows: Rows) -> tuple[float, float]:
    return float(np.nanmin(rows.ends[:, 0])), float(np.nanmax(rows.ends[:, 1]))


def _plain(rows: Rows, inside: Places, kind: int | None, scale: float) -> Stratum:
    """Return one stratum, or class, of single rows; its share is not set yet."""
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


def _block(
    rows: Rows,
    inside: NDArray[np.bool_],
    within: NDArray[np.bool_],
    ends: tuple[float, float],
) -> Stratum:
    """Return one stratum of groups, or of weighted rows; its share is not set yet."""
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
    rooms = [_room(rows, inside, within, mean, end) for end in ends]
    return _merged_units(costs, counts, sizes, ends, rooms)


def _merged_units(
    costs: Floats,
    counts: Floats,
    sizes: Floats,
    ends: tuple[float, float],
    rooms: list[tuple[float, float]],
    *,
    bounds: tuple[float, float] | None = None,
) -> Stratum:
    """Return draws as a stratum, with equal draws merged into one atom.

    `bounds` are the bounds of the mean where draws are residuals: then the ends need not be the
    extremes.
    """
    if bounds is None:
        costs, counts = np.append(costs, ends), np.append(counts, [0.0, 0.0])
        sizes = np.append(sizes, [1.0, 1.0])
    drawn = sizes[counts > 0]
    size, alike = float(drawn[0]), (drawn == drawn[0]).all()
    if alike and bounds is None and all(room == (size, size) for room in rooms):
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
        bounds=bounds,
    )
    nothing = np.zeros(0, dtype=np.intp)
    return Stratum(costs, merged[np.newaxis], np.ones(len(costs)), nothing, units=units)


def _room(
    rows: Rows,
    inside: NDArray[np.bool_],
    within: NDArray[np.bool_],
    mean: float,
    end: float,
) -> tuple[float, float]:
    """Return the size of an unobserved draw of the extreme cost, given the groups, and at most.

    `inside` are the rows like it, `within` those of all classes that were sampled as these were. An
    unobserved draw is given the weight of rows like it: of its class, or with its decisions; and
    with groups, it is a whole group. The more groups hold the extreme cost in only a part of their
    rows, the smaller the draw is assumed to be.
    """
    if end == mean:  # all rows have the extreme cost, so their own size is used
        return (_heaviness(rows, inside),) * 2
    reach = NEARLY * abs(end - mean)
    towards = np.sign(end - mean)
    extreme = ((rows.costs - mean) * towards >= reach) & inside
    alike = [extreme]
    if rows.table is None:
        alike.append(inside)
    else:
        cells = rows.table
        can = ((cells.costs - mean) * towards >= reach) & cells.allowed
        can &= (np.bincount(rows.kinds[inside], minlength=len(rows.labels)) > 0)[cells.kinds]
        by_class = [(rows.kinds == kind) & inside for kind in np.unique(cells.kinds[can])]
        alike += by_class
        # Sampling depends on the decisions, if on anything. Without weights the class is enough,
        # once enough groups have rows of it.
        if (
            rows.weighted
            or min(map(partial(_groups_among, rows), by_class), default=0) < FEW_GROUPS
        ):
            decisions = np.unique(cells.decided[can])
            alike += [(rows.decided == decided) & within for decided in decisions]
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


def _groups_among(rows: Rows, chosen: NDArray[np.bool_]) -> float:
    """Return Kish's effective number of groups of the chosen rows."""
    if rows.groups is None or not chosen.any():
        return 0.0
    sizes = rows.by_group(rows.amounts, chosen)
    return float((rows.repeats @ sizes) ** 2 / (rows.repeats @ sizes**2))


def _heaviness(rows: Rows, chosen: NDArray[np.bool_]) -> float:
    """Return Σs²/Σs over the draws of the chosen rows: the mean size of the draw of such a row."""
    total = float(rows.amounts[chosen].sum())
    if not total:
        return 0.0
    if rows.groups is None:
        return float(np.asarray(rows.squares)[chosen].sum()) / total
    sizes = rows.by_group(rows.amounts, chosen)
    return float(rows.repeats @ sizes**2) / total


def _linearised(rows: Rows, shares: Shares) -> Outcomes:
    """Return draws whose totals are residuals, where draws span several strata or classes."""
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
    bounds = _all_ends(rows)
    if shares.by_class:  # only then the class frequencies, and so those of their costs, are known
        low, high = shares.each @ rows.ends[rows.kinds]
        bounds = float(low), float(high)
    stratum = _merged_units(
        costs, counts[kept], sizes[kept], (ends[0], ends[1]), rooms, bounds=bounds
    )
    return Outcomes(
        (stratum,), rows.design if rows.groups is not None else "weighted", _caution(rows)
    )


def _linear_end(
    rows: Rows, shares: Shares, estimate: float, end: int
) -> tuple[float, tuple[float, float]]:
    """Return the cost and the sizes of the unobserved draw that would move the estimate most.

    It is in one stratum or, like a group, in several. It is of one class or, where the class does
    not determine what a row can cost, of several.
    """
    gains = (rows.ends[rows.kinds, end] - shares.fitted) * (1 if end else -1)
    best: tuple[float, float, tuple[float, float]] = (0.0, estimate, (0.0, 0.0))
    for kind in _each_and_all(rows.kinds, every=rows.table is None):
        of_kind = (rows.kinds == kind) if kind is not None else np.ones(len(gains), dtype=bool)
        scaled = _as_shares(rows, shares, of_kind)
        used = of_kind & (scaled.amounts > 0)
        for places in _each_stratum_and_all(scaled, [used, shares.each, gains]):
            inside = used[places]
            if not inside.any():
                continue
            here = scaled.chosen(places)
            each = here.amounts[inside] / here.amounts[inside].sum()
            cost = float(here.ends[here.kinds[inside][0], end])
            mean = float(each @ here.costs[inside])
            room, full = _room(here, inside, np.ones_like(inside), mean, cost)
            gain = float(each @ gains[places][inside])
            # However many of them are added, their weight is at most their share.
            share = shares.each[places]
            most = float((share[inside] if shares.by_class else share).sum())
            least = 1 / (1 + full * (1 / most - 1))
            if full * least * gain > best[0]:
                sizes = room * least, full * least
                best = (full * least * gain, estimate + (gain if end else -gain), sizes)
    return best[1], best[2]


def _each_stratum_and_all(rows: Rows, others: list[NDArray[Any]]) -> list[Places]:
    """Return the entries of each stratum, alike ones once, and all entries if there are several."""
    inside = _by_block(rows, rows.strata, len(rows.names), others)
    distinct = list({key: places for places, key in inside if len(places)}.values())
    every = np.arange(len(rows.amounts))
    return [every] if len(np.unique(rows.strata)) == 1 else [*distinct, every]


def _each_and_all(places: Places, *, every: bool = True) -> list[int | None]:
    """Return each place and, if there are several, None for all of them together."""
    distinct = np.unique(places).tolist()
    return [*distinct, None] if every and len(distinct) > 1 else distinct


def _as_shares(rows: Rows, shares: Shares, of_kind: NDArray[np.bool_]) -> Rows:
    """Return the rows with amounts scaled to the population share of a row of a kind.

    Decisions determine how rows were sampled, but not their class. So for the size of an unobserved
    row of a class, other rows with its decision count as if they were of that class.
    """
    n = len(rows.names)
    totals = np.bincount(rows.strata[of_kind], rows.amounts[of_kind], n)
    held = np.bincount(rows.strata[of_kind], shares.each[of_kind], n)
    per = (held / np.where(totals > 0, totals, 1.0))[rows.strata]
    if of_kind.all():
        per = shares.each / np.where(rows.amounts > 0, rows.amounts, 1.0)
    squares = None if rows.squares is None else rows.squares * per**2
    return replace(rows, amounts=rows.amounts * per, squares=squares)


def _caution(rows: Rows) -> str:
    """Return a caution if few draws carry most of the weight, so the confidence is not claimed."""
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
