"""What all interval methods work on: the possible costs of one decision, and how often each came.

An estimate and a difference, a confusion matrix and a sample of costs all come down to this. Cells
with equal costs are one atom. With known class priors each class is a stratum of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Labels, listing
from stakes._core.typing import Floats
from stakes.counts import Confusion, CostSample, GroupedConfusion, PairedConfusion
from stakes.counts._labelled import effective_size
from stakes.errors import DesignError, InputError, LabelError

ROUNDING = 1e-15
SMALLEST_COST = 1e-100
"""The fourth moments of larger costs do not fit into a number."""

MOST_ATOMS = 2048
"""More different costs than this are condensed where a method's time grows with their number."""


@dataclass(frozen=True)
class Stratum:
    """Draws from one population: distinct possible costs, lowest first, and their counts.

    Attributes
    ----------
    costs : ndarray, shape (atoms,)
        The possible costs; those never observed too.
    counts : ndarray, shape (tables, atoms)
        How often each cost came, in each of the tables that are treated at once.
    cells : ndarray, shape (atoms,)
        How many possible cells of the table have that cost.
    place : ndarray of int, shape (all cells,)
        The atom of each cell of the table; -1 for an impossible cell.
    weight : float
        The share of the population that the stratum stands for.
    """

    costs: Floats
    counts: Floats
    cells: Floats
    place: NDArray[np.intp]
    weight: float = 1.0

    @cached_property
    def n(self) -> Floats:
        """The number of draws, in each table."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def mean(self) -> Floats:
        """The average cost, in each table."""
        return np.asarray(self.counts @ self.costs / self.n)

    def moment(self, order: int) -> Floats:
        """Return the central moment of the observed costs, in each table."""
        centred = self.costs - self.mean[:, np.newaxis]
        return np.asarray((self.counts * centred**order).sum(axis=1) / self.n)

    def condensed(self) -> Stratum:
        """Return the stratum with at most some thousand atoms.

        Costs between two that are kept are split between them, keeping their mean: the spread grows
        a little, so an interval gets a little wider, never narrower. Half of the atoms kept are
        equally frequent, the other half contribute equally to the variance.
        """
        if len(self.costs) <= MOST_ATOMS:
            return self
        weight = self.counts.sum(axis=0)
        centred = self.costs - float(weight @ self.costs) / weight.sum()
        levels = np.linspace(0, 1, MOST_ATOMS // 2)
        picked = [
            np.searchsorted(np.cumsum(share) / share.sum(), levels)
            for share in (weight, weight * centred**2)
        ]
        last = len(self.costs) - 1
        knots = self.costs[np.unique(np.clip(np.concatenate([*picked, [0, last]]), 0, last))]
        right = np.clip(np.searchsorted(knots, self.costs), 1, len(knots) - 1)
        share = (self.costs - knots[right - 1]) / (knots[right] - knots[right - 1])
        counts = [
            np.bincount(right - 1, row * (1 - share), len(knots))
            + np.bincount(right, row * share, len(knots))
            for row in self.counts
        ]
        return replace(self, costs=knots, counts=np.array(counts))

    def with_counts(self, counts: Floats) -> Stratum:
        """Return the stratum with other counts."""
        return replace(self, counts=counts)


@dataclass(frozen=True)
class Outcomes:
    """Independent strata whose weighted means add up to the expected cost.

    Attributes
    ----------
    strata : tuple of Stratum
        One, unless class priors are known.
    design : str
        How the examples came: "simple", "priors", "weighted", "grouped" or "examples".
    variance : ndarray or None
        The variance of the mean where it is not that of independent draws (weights, groups).
    effective : ndarray or None
        How many independent draws would be as informative, in those designs.
    groups : tuple of two arrays or None
        Each group's total cost and number of examples.
    """

    strata: tuple[Stratum, ...]
    design: str = "simple"
    variance: Floats | None = None
    effective: Floats | None = None
    groups: tuple[Floats, Floats] | None = None

    @property
    def tables(self) -> int:
        """How many tables are treated at once."""
        return len(self.strata[0].counts)

    @property
    def only(self) -> Stratum:
        """The stratum, where there is one only."""
        return self.strata[0]

    @property
    def mean(self) -> Floats:
        """The estimate, in each table."""
        return np.asarray(sum(stratum.weight * stratum.mean for stratum in self.strata))

    @property
    def lowest(self) -> float:
        """The least that a decision can cost on average."""
        return float(sum(stratum.weight * stratum.costs[0] for stratum in self.strata))

    @property
    def highest(self) -> float:
        """The most that a decision can cost on average."""
        return float(sum(stratum.weight * stratum.costs[-1] for stratum in self.strata))

    def times(self, factors: Any) -> Outcomes:
        """Return tables with the same shares, of so many times as many independent examples."""
        column = np.atleast_1d(factors)[:, np.newaxis]
        strata = tuple(each.with_counts(each.counts * column) for each in self.strata)
        return Outcomes(strata, self.design)

    def as_independent(self) -> Outcomes:
        """Scale weighted or grouped counts to as many independent draws as they are worth."""
        if self.effective is None:
            return self
        stratum = self.only
        scaled = stratum.counts * (self.effective / stratum.n)[:, np.newaxis]
        return Outcomes((stratum.with_counts(scaled),), self.design)


def make_stratum(
    costs: Any,
    counts: Any,
    *,
    possible: NDArray[np.bool_] | None = None,
    weight: float = 1.0,
    scale: float = 0.0,
) -> Stratum:
    """Merge cells with equal costs; `counts` may have a leading axis of tables.

    `scale` is the size of the numbers that the costs were computed from, if it is larger.
    """
    flat = np.asarray(costs, dtype=np.float64).ravel()
    table = np.asarray(counts, dtype=np.float64).reshape(-1, flat.size)
    allowed = np.ones(flat.size, dtype=bool) if possible is None else possible.ravel()
    atoms, place = np.unique(flat[allowed], return_inverse=True)
    size = max(scale, abs(atoms[0]), abs(atoms[-1]))
    validate.not_too_large(size, "costs")
    if 0 < size < SMALLEST_COST:
        raise InputError(
            "costs",
            f"expected a cost of at least {SMALLEST_COST:.0e}, or none; the largest is {size:g}.",
            "Count them in a smaller unit.",
        )
    # Costs that differ by the rounding of arithmetic only are one cost.
    sizes = np.maximum(scale, np.maximum(np.abs(atoms[1:]), np.abs(atoms[:-1])))
    starts = np.append(True, np.diff(atoms) > ROUNDING * sizes)
    atoms, place = atoms[starts], (np.cumsum(starts) - 1)[place]
    merged = np.zeros((len(atoms), len(table)))
    np.add.at(merged, place, table[:, allowed].T)
    where = np.full(flat.size, -1, dtype=np.intp)
    where[allowed] = place
    cells = np.bincount(place, minlength=len(atoms)).astype(np.float64)
    return Stratum(atoms, np.ascontiguousarray(merged.T), cells, where, weight)


def pseudo_counts(outcomes: Outcomes, laplace: Any, alpha: float, end: int = -1) -> list[Floats]:
    """Return what a Laplace correction adds to each atom, for each stratum.

    Parameters
    ----------
    outcomes : Outcomes
        What is corrected.
    laplace : float, array_like or "auto"
        λ for every possible cell, or one for each cell of the table; "auto" puts
        `principled_laplace` on the costliest cell alone.
    alpha : float
        One minus the confidence, which "auto" depends on.
    end : {-1, 0}
        With "auto": -1 for the costliest cell (an upper limit), 0 for the cheapest (a lower one).
    """
    if isinstance(laplace, str):
        if laplace != "auto":
            raise InputError("laplace", f"expected a number, an array or 'auto', got {laplace!r}.")
        added = []
        for stratum in outcomes.strata:
            extra = np.zeros(len(stratum.costs))
            extra[end] = principled_laplace(alpha)
            added.append(extra)
        return added
    try:
        values = np.asarray(laplace)
    except ValueError:  # rows of different lengths
        values = np.asarray("ragged")
    if values.dtype.kind not in "biuf" or not np.isfinite(values).all() or (values < 0).any():
        raise InputError(
            "laplace", f"expected numbers that are not negative, or 'auto'; got {laplace!r}."
        )
    if values.ndim == 0:
        return [float(values) * stratum.cells for stratum in outcomes.strata]
    cells = sum(len(stratum.place) for stratum in outcomes.strata)
    if values.size != cells:
        raise InputError(
            "laplace",
            f"expected a number or one for each of the {cells} cells of the table, got an array "
            f"of shape {values.shape}.",
        )
    columns = values.reshape(-1, len(outcomes.strata)).T
    return [
        np.bincount(
            stratum.place[stratum.place >= 0],
            weights=column[stratum.place >= 0].astype(np.float64),
            minlength=len(stratum.costs),
        ).astype(np.float64)
        for stratum, column in zip(outcomes.strata, columns, strict=True)
    ]


def principled_laplace(alpha: float) -> float:
    """Return the λ that keeps the coverage when the costliest cell was never seen.

    If that cell has an expected number of m errors and none was seen, BCOST's upper limit contains
    the 1 - α/2 quantile q of Poisson(λ) of them, so it misses m > q, which happens with
    probability e^-q at most. A miss of at most α/2 needs q = ⌈ln(2/α)⌉, which the quantile reaches
    for λ just above λ* = ½ χ²(α/2; 2q); at λ* itself it is still q - 1.
    """
    from scipy.stats import chi2

    errors = np.ceil(np.log(2 / alpha))
    return float(chi2.ppf(alpha / 2, 2 * errors) / 2) * (1 + 1e-6)


# From a table of counts and its costs to the outcomes that the methods work on.

NEARLY = 0.9
"""Costs nearly as far from the mean as the farthest count as extreme."""

ENOUGH_GROUPS = 3
"""So many groups must depart from the usual cost before their correlation is estimated."""

CountTable = Confusion | PairedConfusion | GroupedConfusion | CostSample


@dataclass(frozen=True)
class Design:
    """What is known of how the examples came, besides their counts.

    Attributes
    ----------
    class_priors : mapping, sequence or None
        The share of each class where the classifier is used.
    strata : "class" or None
        "class" when the numbers of examples of each class were fixed beforehand.
    impossible : sequence of (decision, class), or None
        Cells that cannot occur.

    Notes
    -----
    With class priors π the expected cost is Σ_j π_j Σ_i M(i, j) C(i, j)/n_j, n_j being the number
    of examples of class j, and each class varies by itself.

    Examples
    --------
    >>> from stakes import Confusion, CostEstimate, CostMatrix, Design
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> table = Confusion([[50, 2], [8, 40]], labels=[0, 1])
    >>> CostEstimate(table, costs).cost
    0.28
    >>> round(CostEstimate(table, costs, Design(class_priors={0: 0.99, 1: 0.01})).cost, 4)
    0.1413
    """

    class_priors: Any = None
    strata: str | None = None
    impossible: Any = None

    def __post_init__(self) -> None:
        if self.impossible is not None:  # which may be an iterator
            object.__setattr__(self, "impossible", tuple(self.impossible))


SIMPLE = Design()


def outcomes_of(table: CountTable, cell_costs: Any, design: Design, scale: float = 0.0) -> Outcomes:
    """Combine counts, the cost of each cell, and the design.

    `scale` is the size of the costs that differences were taken of.
    """
    stratified = design.class_priors is not None or design.strata is not None
    if isinstance(table, CostSample):
        if stratified or design.impossible is not None:
            raise DesignError(
                "class_priors, strata, impossible",
                "costs of single examples have no classes.",
                "Give the bounds of CostSample instead.",
            )
        values = np.concatenate([table.values, [table.low, table.high]])
        counts = np.concatenate([np.ones(table.n), [0.0, 0.0]])
        return Outcomes((make_stratum(values, counts),), "examples")
    pooled = table.pooled if isinstance(table, GroupedConfusion) else table
    if not pooled.weighted and (pooled.counts != np.rint(pooled.counts)).any():
        raise InputError(
            "counts",
            "intervals need whole numbers of examples.",
            "For weighted examples count with sample_weight=, which keeps the squared weights too.",
        )
    possible = _possible(pooled, design.impossible)
    if stratified:
        if isinstance(table, GroupedConfusion) or pooled.weighted:
            raise DesignError(
                "class_priors, strata", "they cannot be combined with groups or sample weights."
            )
        return _stratified(pooled, cell_costs, possible, design, scale)
    stratum = make_stratum(cell_costs, pooled.counts, possible=possible, scale=scale)
    if isinstance(table, GroupedConfusion):
        return _grouped(table, cell_costs, stratum)
    if pooled.squares is not None:
        return _weighted(pooled, cell_costs, stratum)
    return Outcomes((stratum,))


def _weighted(table: Confusion | PairedConfusion, cell_costs: Any, stratum: Stratum) -> Outcomes:
    """Linearise the weighted mean; count as many draws as its variance is worth.

    But no more than there would be if all examples weighed as much as those of the classes in which
    the extreme costs can occur: what was not seen there may come with that weight.
    """
    squares = np.asarray(table.squares)
    costs = np.asarray(cell_costs)
    n = float(stratum.n[0])
    kish = effective_size(n, squares.sum())
    variance = float((squares * (costs - stratum.mean[0]) ** 2).sum()) / n**2
    variance *= kish / max(kish - 1, 0.5)  # as with n - 1 in a sample variance
    spread = float(stratum.moment(2)[0])
    effective = spread / variance if variance > 0 else kish
    axes = tuple(range(costs.ndim - 1))
    distance = np.abs(costs - stratum.mean[0]) * (stratum.place >= 0).reshape(costs.shape)
    extreme = (distance > NEARLY * distance.max()).any(axis=axes)
    heaviness = squares.sum(axis=axes) / np.maximum(table.class_counts, 1e-300)
    if (heavy := heaviness[extreme & (table.class_counts > 0)]).size:
        effective = min(effective, n / float(heavy.max()))
    return Outcomes((stratum,), "weighted", np.array([variance]), np.array([max(effective, 1.0)]))


def _grouped(table: GroupedConfusion, cell_costs: Any, stratum: Stratum) -> Outcomes:
    n_groups = len(table.counts)
    if n_groups < 2:  # noqa: PLR2004 - one group tells nothing about others
        raise InputError("groups", "at least two groups are needed, got 1.")
    cells = table.counts.reshape(n_groups, -1).astype(np.float64)
    totals = cells @ np.asarray(cell_costs, dtype=np.float64).ravel()
    sizes = cells.sum(axis=1)
    residuals = totals - stratum.mean[0] * sizes
    n = sizes.sum()
    variance = np.array([residuals @ residuals * n_groups / (n_groups - 1) / n**2])
    alone = stratum.moment(2)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = np.where(variance > 0, alone / variance, n)
    # Where hardly any group departs from the commonest cost (or, of two classifiers, difference),
    # nothing is known of the correlation within groups: count no more draws than groups, and fewer
    # the more unequal they are.
    usual = float(stratum.costs[stratum.counts[0].argmax()])
    departing = np.abs(totals - usual * sizes) > 1e-9 * float(np.abs(cell_costs).max())
    if departing.sum() < ENOUGH_GROUPS:
        effective = np.minimum(effective, n**2 / (sizes @ sizes))
    effective = np.clip(effective, 1.0, n)
    return Outcomes((stratum,), "grouped", variance, effective, (totals, sizes))


def _stratified(
    table: Confusion | PairedConfusion,
    cell_costs: Any,
    possible: Any,
    design: Design,
    scale: float,
) -> Outcomes:
    sizes = table.class_counts
    if design.strata not in (None, "class"):
        raise InputError("strata", f"expected 'class' or None, got {design.strata!r}.")
    if design.class_priors is None:
        priors = sizes / sizes.sum()
    else:
        priors = priors_of_examples(design.class_priors, table.labels, sizes)
    strata = []
    costs = np.asarray(cell_costs)
    for j in np.flatnonzero(priors):
        mask = None if possible is None else possible[..., j]
        strata.append(
            make_stratum(
                costs[..., j],
                table.counts[..., j],
                possible=mask,
                weight=float(priors[j]),
                scale=scale,
            )
        )
    return Outcomes(tuple(strata), "priors")


def cell_shares(table: Confusion | PairedConfusion, design: Design) -> Floats:
    """Return the share of each cell in the population that the design describes."""
    if design.class_priors is None:
        return np.asarray(table.counts / table.n)
    sizes = np.maximum(table.class_counts, 1)
    return np.asarray(table.counts / sizes * checked_priors(design.class_priors, table.labels))


def where_used(table: Confusion, design: Design) -> Confusion:
    """Return the shares of the cells where a classifier is used, if not as in the examples."""
    if design.class_priors is None:
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
    return np.asarray(priors / priors.sum())


def _by_name(class_priors: Any) -> Any:
    """Return what a pandas Series says by name as a mapping; one that only counts has no names."""
    if not hasattr(class_priors, "index") or not hasattr(class_priors, "to_dict"):
        return class_priors
    named = class_priors.to_dict()
    return class_priors if list(named) == list(range(len(named))) else named


def _possible(table: Confusion | PairedConfusion, impossible: Any) -> NDArray[np.bool_] | None:
    """Return which cells can occur; for two classifiers, those in which both their cells can."""
    if impossible is None:
        return None
    single = np.ones((len(table.decisions), len(table.labels)), dtype=bool)
    for cell in impossible:
        match cell:
            case (decision, label) if decision in table.decisions and label in table.labels:
                single[table.decisions.index(decision), table.labels.index(label)] = False
            case _:
                raise LabelError(
                    "impossible",
                    "expected pairs (decision, class) of the decisions "
                    f"{listing(table.decisions)} and the classes {listing(table.labels)}; got "
                    f"{cell!r}.",
                )
    possible = single
    if isinstance(table, PairedConfusion):
        possible = single[:, np.newaxis, :] & single[np.newaxis, :, :]
    if (table.counts[~possible] > 0).any():
        place = np.argwhere((table.counts > 0) & ~possible)[0]
        raise InputError(
            "impossible",
            f"predicting {table.decisions[place[0]]!r} when it was {table.labels[place[-1]]!r} "
            f"was called impossible, but was observed {table.counts[tuple(place)]} times.",
        )
    return possible


# Differences of costs: of all pairs of decisions, and the extreme ones that came too rarely.

ENOUGH = 5
"""So often the outcomes of largest and smallest difference must have come for BDELTACOST."""

MOST_DECIMALS = 12


def cost_differences(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Δ(i1, i2, j) = C(i1, j) - C(i2, j) (Margineantu & Dietterich 2000, section 3.2).

    Costs with few decimals have differences with as few: 0.3 - 0.1 is 0.2.
    """
    _check_digits(values)
    reduced = values - values.min(axis=0)  # a large constant of a class must not cost digits
    delta = reduced[:, np.newaxis, :] - reduced[np.newaxis, :, :]
    for decimals in range(MOST_DECIMALS):
        if np.array_equal(np.round(values, decimals), values):
            return np.asarray(np.round(delta, decimals)) + 0.0
    return np.asarray(delta)


def _check_digits(values: NDArray[np.float64]) -> None:
    """Raise where a difference of costs of one class would be lost in the rounding of others."""
    ordered = np.sort(values, axis=0)
    gaps, sizes = np.diff(ordered, axis=0), np.abs(ordered[1:])
    rounding = ROUNDING * np.abs(values).max()
    lost = (gaps > ROUNDING * np.maximum(sizes, np.abs(ordered[:-1]))) & (gaps <= rounding)
    if lost.any():
        raise InputError(
            "costs",
            f"a difference of {gaps[lost].max():g} cannot be told beside a cost of "
            f"{np.abs(values).max():g}, which has 16 digits.",
            "Make the largest costs smaller; for what must not happen, a thousand times the "
            "others is large enough.",
        )


def rarest_end(outcomes: Outcomes) -> tuple[int, int] | None:
    """Return the stratum and the end of the extreme that matters most and came too rarely."""
    rare = [
        (abs(stratum.weight * stratum.costs[end]), -stratum.counts[0, end], k, end)
        for k, stratum in enumerate(outcomes.strata)
        for end in (-1, 0)
        if len(stratum.costs) > 1 and stratum.counts[0, end] < ENOUGH
    ]
    if not rare:
        return None
    _, _, k, end = max(rare)
    return k, end


def often_enough(outcomes: Outcomes) -> NDArray[np.bool_]:
    """Tell in which tables both extreme outcomes came often enough for BDELTACOST."""
    counts = outcomes.only.counts
    return np.asarray((counts[:, 0] >= ENOUGH) & (counts[:, -1] >= ENOUGH))
