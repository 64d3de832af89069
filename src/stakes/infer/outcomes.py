"""What all interval methods work on: the possible costs of one decision, and how often each came.

An estimate and a difference, a confusion matrix and a sample of costs all come down to this. Cells
with equal costs are one atom. With known class priors each class is a stratum of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.typing import Floats
from stakes.errors import InputError

ROUNDING = 1e-15
LARGEST_COST, SMALLEST_COST = 1e100, 1e-100
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
    if size > LARGEST_COST:
        raise InputError(
            f"costs: expected costs of at most {LARGEST_COST:.0e}, got {size:g}. Count them in a "
            "larger unit."
        )
    if 0 < size < SMALLEST_COST:
        raise InputError(
            f"costs: expected a cost of at least {SMALLEST_COST:.0e}, or none; the largest is "
            f"{size:g}. Count them in a smaller unit."
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
            raise InputError(f"laplace: expected a number, an array or 'auto', got {laplace!r}.")
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
            f"laplace: expected numbers that are not negative, or 'auto'; got {laplace!r}."
        )
    if values.ndim == 0:
        return [float(values) * stratum.cells for stratum in outcomes.strata]
    cells = sum(len(stratum.place) for stratum in outcomes.strata)
    if values.size != cells:
        raise InputError(
            f"laplace: expected a number or one for each of the {cells} cells of the table, got an "
            f"array of shape {values.shape}."
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
