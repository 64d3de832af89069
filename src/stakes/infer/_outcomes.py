"""Possible costs of a decision and their counts: the data that all interval methods work on.

Estimates and differences, confusion matrices and samples of costs are all reduced to this form.
Cells with equal costs are one atom. With known class priors each class is a stratum of its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincinv

from stakes._core import validate
from stakes._core.labels import Label, Labels, listing
from stakes._core.typing import Floats
from stakes._core.values import ByValue
from stakes.counts import (
    Confusion,
    CostSample,
    GroupedConfusion,
    JointConfusion,
    PairedConfusion,
)
from stakes.errors import InputError, InputTypeError, LabelError

ROUNDING = 1e-15
SMALLEST_COST = 1e-100
"""Least magnitude of the largest cost, so that higher moments of the costs do not underflow."""

MOST_ATOMS, MOST_TOGETHER, LEAST_ATOMS = 2048, 1024, 32
"""Numbers of atoms that are kept where a method's time grows with them: in a stratum, in all strata
together for draws of unequal sizes, and at least in each stratum of those."""


@dataclass(frozen=True)
class Units:
    """Sizes of draws that are not single rows: groups, or rows with weights.

    Attributes
    ----------
    sizes : ndarray, shape (atoms,)
        The number of rows, or the weight, of each draw with that cost.
    rooms : pair of float
        The size of an unobserved draw at the cheap, and at the costly end.
    full : pair of float
        The same without the evidence of the observed groups.
    ends : pair of float or None
        The costs of such draws, where they are not the smallest and the largest of the costs.
    bounds : pair of float or None
        The least and the largest possible mean, where draws are residuals: those can cost less.
    """

    sizes: Floats
    rooms: tuple[float, float]
    full: tuple[float, float]
    ends: tuple[float, float] | None = None
    bounds: tuple[float, float] | None = None

    def room(self, end: int, *, full: bool) -> float:
        """Return the size of an unobserved draw."""
        return (self.full if full else self.rooms)[end]


@dataclass(frozen=True, eq=False)
class Stratum:
    """Draws from one population: distinct possible costs, lowest first, and their counts.

    Attributes
    ----------
    costs : ndarray, shape (atoms,)
        The possible costs, including those not observed.
    counts : ndarray, shape (tables, atoms)
        How often each cost occurred, in each of the tables that are treated at once.
    cells : ndarray, shape (atoms,)
        The number of possible cells of the table with that cost.
    place : ndarray of int, shape (all cells,)
        The atom of each cell of the table; -1 for an impossible cell.
    weight : float
        The share of the population that the stratum stands for.
    units : Units or None
        The sizes of draws that are groups, or rows with weights; None for single rows.
    labelled : float
        The sampling fraction of the stratum; zero in an infinite population.
    left : float
        The number of rows of the stratum that were not sampled; infinite in an infinite population.
    """

    costs: Floats
    counts: Floats
    cells: Floats
    place: NDArray[np.intp]
    weight: float = 1.0
    units: Units | None = None
    labelled: float = 0.0
    left: float = math.inf

    @cached_property
    def n(self) -> Floats:
        """The number of draws, in each table."""
        return np.asarray(self.counts.sum(axis=1))

    @cached_property
    def amounts(self) -> Floats:
        """The number of rows, or the weight, of the draws with each cost, in each table."""
        return self.counts if self.units is None else self.counts * self.units.sizes

    @cached_property
    def mean(self) -> Floats:
        """The average cost, in each table; without draws, that of equally frequent cells."""
        amounts = self.amounts
        empty = np.asarray(~amounts.any(axis=1))
        if empty.any():
            amounts = np.where(empty[:, np.newaxis], self.cells, amounts)
        return np.asarray(amounts @ self.costs / amounts.sum(axis=1))

    @cached_property
    def variance(self) -> Floats:
        """The variance of the mean, estimated from the draws' deviations from it, in each table.

        It includes the finite population correction, for sampling without replacement.
        """
        if self.certain:
            return np.zeros(len(self.counts))
        amounts = self.amounts
        sizes = 1.0 if self.units is None else self.units.sizes
        centred = self.costs - self.mean[:, np.newaxis]
        squares = (amounts * sizes * centred**2).sum(axis=1) / amounts.sum(axis=1) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(squares * self.n / (self.n - 1) * (1 - self.labelled))

    @property
    def certain(self) -> bool:
        """Whether nothing is uncertain: all rows have labels, or all outcomes cost the same."""
        return self.labelled >= 1 or len(self.costs) == 1

    def end(self, end: int) -> float:
        """Return the cost of an unobserved draw: -1 for the costliest, 0 for the cheapest."""
        if self.units is not None and self.units.ends is not None:
            return self.units.ends[end]
        return float(self.costs[end])

    def bound(self, end: int) -> float:
        """Return the least (0), or the largest (-1), possible mean."""
        if self.units is not None and self.units.bounds is not None:
            return self.units.bounds[end]
        return self.end(end)

    def room(self, end: int, *, full: bool = False) -> Floats:
        """Return the size of an unobserved draw, relative to all draws, in each table.

        `end` is -1 for the costliest, 0 for the cheapest; with `full`, the observed draws do not
        count as evidence that such draws are smaller.
        """
        size = 1.0 if self.units is None else self.units.room(end, full=full)
        with np.errstate(divide="ignore"):
            return np.asarray(size / self.amounts.sum(axis=1))

    def moment(self, order: int) -> Floats:
        """Return the central moment of the observed costs, in each table."""
        centred = self.costs - self.mean[:, np.newaxis]
        return np.asarray((self.counts * centred**order).sum(axis=1) / self.n)

    def condensed(self, most: int = MOST_ATOMS) -> Stratum:
        """Return the stratum with at most `most` atoms, some thousand by default.

        Costs between two that are kept are split between them, which keeps their mean. The variance
        grows a little, so an interval gets a little wider, never narrower. Half of the atoms kept
        are equally frequent, the other half contribute equally to the variance.
        """
        if len(self.costs) <= most:
            return self
        if self.units is not None:
            return _condensed_units(self, self.units, most)
        weight = self.counts.sum(axis=0)
        centred = self.costs - float(weight @ self.costs) / max(weight.sum(), 1e-300)
        levels = np.linspace(0, 1, most // 2)
        picked = [
            np.searchsorted(np.cumsum(share) / max(share.sum(), 1e-300), levels)
            for share in (weight, weight * centred**2)
        ]
        last = len(self.costs) - 1
        knots = np.unique(self.costs[np.clip(np.concatenate([*picked, [0, last]]), 0, last)])
        if len(knots) == 1:
            return replace(self, costs=knots, counts=self.n[:, np.newaxis])
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


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Independent strata whose weighted means add up to the expected cost.

    Attributes
    ----------
    strata : tuple of Stratum
        One, unless class priors are known or rows were sampled from several strata.
    design : str
        How the examples were sampled: "simple", "examples", "stratified" (also classes with
        priors), "weighted", "grouped", or "finite" for a finite population.
    caution : str
        Why the confidence is not claimed; empty if it is.
    bounded : bool
        Whether the bounds of the costs are known, not just the least and largest observed cost.
    """

    strata: tuple[Stratum, ...]
    design: str = "simple"
    caution: str = ""
    bounded: bool = True

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """Results of a method that its interval and its test share, such as distributions."""
        return {}

    @property
    def tables(self) -> int:
        """The number of tables that are treated at once."""
        return len(self.strata[0].counts)

    @property
    def only(self) -> Stratum:
        """The only stratum; the first, where there are several."""
        return self.strata[0]

    @property
    def rows(self) -> float | None:
        """The number of rows of a finite population; None for an infinite one."""
        if not all(math.isfinite(each.left) for each in self.strata):
            return None
        return round(sum(each.left + float(each.n[0]) for each in self.strata))

    @property
    def mean(self) -> Floats:
        """The estimate, in each table."""
        return np.asarray(sum(stratum.weight * stratum.mean for stratum in self.strata))

    @property
    def lowest(self) -> float:
        """The least possible mean cost of a decision."""
        return float(sum(stratum.weight * stratum.bound(0) for stratum in self.strata))

    @property
    def highest(self) -> float:
        """The largest possible mean cost of a decision."""
        return float(sum(stratum.weight * stratum.bound(-1) for stratum in self.strata))

    def times(self, factors: Any) -> Outcomes:
        """Return tables with the same shares and `factors` times as many independent examples."""
        column = np.atleast_1d(factors)[:, np.newaxis]
        strata = self.changed(lambda each: each.with_counts(each.counts * column))
        return Outcomes(strata, self.design)

    def changed(self, change: Callable[[Stratum], Stratum]) -> tuple[Stratum, ...]:
        """Return the strata after a change; those that are the same object stay the same object."""
        found: dict[Stratum, Stratum] = {}
        for each in self.strata:
            if each not in found:
                found[each] = change(each)
        return tuple(found[each] for each in self.strata)


def _condensed_units(stratum: Stratum, units: Units, most: int) -> Stratum:
    """Return the stratum with draws of similar sizes merged into draws of one size.

    Draws that contribute most to the variance stay as they are. The number of the others is such
    that the sums of sizes and of squared sizes do not change; the costs of each size are condensed
    like those of rows.
    """
    seen = stratum.counts[0] > 0
    costs, sizes, counts = stratum.costs[seen], units.sizes[seen], stratum.counts[0][seen]
    spread = counts * (sizes * (costs - float(stratum.mean[0]))) ** 2
    kept, rest = np.split(np.argsort(-spread, kind="stable"), [most // 2])
    rest = rest[np.argsort(sizes[rest], kind="stable")]
    amounts = counts[rest] * sizes[rest]
    squared = amounts * sizes[rest]
    share = np.cumsum(squared) / squared.sum() + np.cumsum(counts[rest]) / counts[rest].sum()
    n_bins = math.isqrt(most // 4)
    bins = np.minimum(share / 2 * n_bins, n_bins - 1).astype(np.intp)
    found = [(costs[kept], counts[kept], sizes[kept])]
    for index in np.unique(bins):
        chosen = bins == index
        size = float(squared[chosen].sum() / amounts[chosen].sum())
        distinct, place = np.unique(costs[rest][chosen], return_inverse=True)
        merged: Floats = np.bincount(place, amounts[chosen] / size).astype(np.float64)
        lean = replace(stratum, costs=distinct, counts=merged[np.newaxis], units=None)
        lean = lean.condensed(most // 2 // n_bins)
        found.append((lean.costs, lean.counts[0], np.full(len(lean.costs), size)))
    costs, counts, sizes = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(costs, kind="stable")
    return replace(
        stratum,
        costs=costs[order],
        counts=counts[order][np.newaxis],
        units=replace(units, sizes=sizes[order]),
    )


def make_stratum(
    costs: Any,
    counts: Any,
    *,
    possible: NDArray[np.bool_] | None = None,
    weight: float = 1.0,
    scale: float = 0.0,
) -> Stratum:
    """Return a stratum in which cells with equal costs are merged.

    `counts` may have a leading axis of tables. `scale` is the magnitude of the numbers that the
    costs were computed from, if it is larger.
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
    least = np.abs(atoms[atoms != 0]).min(initial=np.inf)
    if least < np.finfo(np.float64).tiny:  # subnormal numbers lose digits
        raise InputError(
            "costs",
            f"expected a cost of at least {SMALLEST_COST:.0e}, or none; the smallest is {least:g}.",
            "Replace it by 0.",
        )
    # Costs that differ only by rounding are one cost.
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
    """Return the pseudo-counts that a Laplace correction adds to each atom, for each stratum.

    Parameters
    ----------
    outcomes : Outcomes
        The outcomes to correct.
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
    """Return the λ that keeps the coverage when the costliest cell was not observed.

    If that cell has an expected number of m errors and none was observed, BCOST's upper limit
    contains the 1 - α/2 quantile q of Poisson(λ) of them, so it misses m > q, which happens with
    probability e^-q at most. A miss of at most α/2 needs q = ⌈ln(2/α)⌉, which the quantile reaches
    for λ just above λ* = ½ χ²(α/2; 2q); at λ* itself it is still q - 1.
    """
    errors = np.ceil(np.log(2 / alpha))
    return float(gammaincinv(errors, alpha / 2)) * (1 + 1e-6)


# The sampling design, and the outcomes of independent rows.

CountTable = Confusion | PairedConfusion | GroupedConfusion | JointConfusion | CostSample


@dataclass(frozen=True)
class Design(ByValue):
    """The sampling design of the examples, in addition to their counts.

    Attributes
    ----------
    class_priors : mapping, sequence or None
        The prevalence of each class in the target population.
    strata : "class" or None
        "class" when the numbers of examples of each class were fixed in advance. Other strata, like
        groups and weights, are kept with the counts.
    impossible : sequence of (decision, class), or None
        Cells that cannot occur.
    population : mapping, number or None
        Mapping from each stratum to its share of the population, or to its number of rows; a single
        number of rows where there are no strata. With rows, the labelled ones count as known and
        only the others are uncertain. By default a stratum's share is that of the examples or their
        weights.
    decided : mapping or None
        Mapping from strata to the decision taken for all of their rows, or to the decisions of two
        models; no other decision is then possible in the stratum. Such a stratum may have no labels
        at all: its classes then count as equally frequent in the estimate, and the interval allows
        for each of them.
    rows_counted : int or None
        Number of rows in which the population shares were counted, where these rows are a sample
        themselves (two-phase sampling). The interval then allows for their sampling error, too.

    Notes
    -----
    In stratum h the mean cost is ȳ_h = Σ w·c/Σ w, and the expected cost Σ_h W_h ȳ_h with W_h from
    `population`. Class priors π are the shares of strata by class, Σ_j π_j Σ_i M(i, j) C(i, j)/n_j.
    With both, the weights are raked to both margins.

    References
    ----------
    Deming & Stephan (1940).

    Neyman (1938), for two-phase sampling.

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
    population: Any = None
    decided: Any = None
    rows_counted: int | None = None

    def __post_init__(self) -> None:
        priors, population = self.class_priors, self.population
        if priors is not None and not hasattr(priors, "__len__"):
            raise InputTypeError("class_priors", f"expected shares, got {priors!r}.")
        if isinstance(priors, list | tuple | np.ndarray):
            validate.amounts(priors, "class_priors", ndim=1)
        if isinstance(population, Mapping):
            validate.population_sizes(list(population.values()))
        elif population is not None:
            validate.population_sizes([validate.positive(population, "population")])
        if self.rows_counted is not None:
            validate.positive(self.rows_counted, "rows_counted")
        if not (self.decided is None or isinstance(self.decided, Mapping)):
            raise InputTypeError(
                "decided", f"expected a mapping from strata to decisions, got {self.decided!r}."
            )
        if self.impossible is not None:  # may be an iterator
            object.__setattr__(self, "impossible", tuple(validate.cells(self.impossible)))
        for name in ("class_priors", "population", "decided"):
            self._set(**{name: _own(getattr(self, name))})
        given: Any = self.strata
        if not (given is None or (isinstance(given, str) and given == "class")):
            raise InputError(
                "strata",
                f"expected 'class' or None, got {self.strata!r}.",
                "Other strata are kept with the counts: give each row's stratum when counting.",
            )


def _own(given: Any) -> Any:
    """Return a copy of what callers gave and may change, and other values unchanged."""
    if isinstance(given, Mapping):
        return dict(given)
    return tuple(given) if isinstance(given, list | np.ndarray) else given


SIMPLE = Design()


def simple_outcomes(
    table: CountTable, cell_costs: Any, design: Design, scale: float = 0.0
) -> Outcomes | None:
    """Return the outcomes of independent rows; None for all other designs.

    `scale` is the magnitude of the costs from which differences were computed.
    """
    if isinstance(table, Confusion | PairedConfusion):
        _check_whole(table)
    if not is_simple(table, design):
        return None
    counts: Any = table  # narrowed by the check
    possible = possible_cells(counts, design.impossible)
    return Outcomes((make_stratum(cell_costs, counts.counts, possible=possible, scale=scale),))


def is_simple(table: CountTable, design: Design) -> bool:
    """Tell whether the data are only counts of independent rows of equal weight."""
    return (
        isinstance(table, Confusion | PairedConfusion)
        and not table.weighted
        and design.class_priors is None
        and design.strata is None
        and design.population is None
    )


def _check_whole(table: Confusion | PairedConfusion) -> None:
    if not table.weighted and (table.counts != np.rint(table.counts)).any():
        raise InputError(
            "counts",
            "intervals need whole numbers of examples.",
            "For weighted examples count with sample_weight=, which keeps the squared weights too.",
        )


def possible_decisions(labels: Labels, decisions: Labels, impossible: Any) -> NDArray[np.bool_]:
    """Return a mask of the possible cells, by decision and class."""
    single = np.ones((len(decisions), len(labels)), dtype=bool)
    for cell in impossible or ():
        match cell:
            case (decision, label) if _among(decision, decisions) and _among(label, labels):
                single[decisions.index(decision), labels.index(label)] = False
            case _:
                raise LabelError(
                    "impossible",
                    f"expected pairs (decision, class) of the decisions {listing(decisions)} and "
                    f"the classes {listing(labels)}; got {cell!r}.",
                )
    return single


def _among(label: Any, labels: Labels) -> bool:
    return np.ndim(label) == 0 and bool(label in labels)


def possible_cells(table: Confusion | PairedConfusion, impossible: Any) -> NDArray[np.bool_] | None:
    """Return a mask of the cells that can occur; for two classifiers, both their cells must."""
    if impossible is None:
        return None
    single = possible_decisions(table.labels, table.decisions, impossible)
    possible = single
    if isinstance(table, PairedConfusion):
        possible = single[:, np.newaxis, :] & single[np.newaxis, :, :]
    if (table.counts[~possible] > 0).any():
        place = np.argwhere((table.counts > 0) & ~possible)[0]
        decision, label = table.decisions[place[0]], table.labels[place[-1]]
        raise called_impossible(decision, label, table.counts[tuple(place)])
    return possible


def called_impossible(decision: Label, label: Label, count: Any) -> InputError:
    """Return the error for a cell that was declared impossible but was observed."""
    return InputError(
        "impossible",
        f"predicting {decision!r} when it was {label!r} was called impossible, but was observed "
        f"{count} times.",
    )


# Differences of costs, of all pairs of decisions.

MOST_DECIMALS = 12


def cost_differences(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Δ(i1, i2, j) = C(i1, j) - C(i2, j) (Margineantu & Dietterich 2000, section 3.2).

    Costs with few decimals have differences with as few: 0.3 - 0.1 is 0.2.
    """
    reduced = _reduced(values)
    return _as_written(reduced[:, np.newaxis, :] - reduced[np.newaxis, :, :], values)


def observed_differences(
    values: NDArray[np.float64],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    actual: NDArray[np.intp],
) -> NDArray[np.float64]:
    """Return the differences of given decisions and classes, where all pairs are too many."""
    reduced = _reduced(values)
    return _as_written(reduced[first, actual] - reduced[second, actual], values)


def _reduced(values: NDArray[np.float64]) -> NDArray[np.float64]:
    _check_digits(values)
    return np.asarray(values - values.min(axis=0))  # a class's large constant must not cost digits


def _as_written(delta: NDArray[np.float64], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return differences with as few decimals as the costs have."""
    for decimals in range(MOST_DECIMALS):
        if np.array_equal(np.round(values, decimals), values):
            return np.asarray(np.round(delta, decimals)) + 0.0
    return np.asarray(delta)


def _check_digits(values: NDArray[np.float64]) -> None:
    """Raise if a difference of costs of one class would be lost in the rounding of others."""
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
