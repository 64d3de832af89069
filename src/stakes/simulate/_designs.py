"""Simulated test sets with the user's design: whole groups, or rows, sampled in each stratum."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from stakes._core.typing import Floats
from stakes.costs import CostMatrix
from stakes.counts import Confusion, GroupedConfusion, PairedConfusion
from stakes.errors import DesignError, InputError, InputTypeError, StakesWarning
from stakes.infer._outcomes import Design
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.simulate._measurements import Extreme, Truth

CountTable = Confusion | PairedConfusion | GroupedConfusion
Places = NDArray[np.intp]
STEP, MOST_TILT, ROUNDING = 1e-6, 600.0, 1e-12
"""Step of numerical derivatives, as a share of the test set; largest tilt; and rounding error."""


def has_design(table: Any, design: Design | None) -> bool:
    """Tell whether test sets have a design other than independent rows."""
    if design is None:
        return isinstance(table, GroupedConfusion)
    if not isinstance(design, Design):
        raise InputTypeError("design", f"expected a Design, got {type(design).__name__}.")
    told = any(each is not None for each in vars(design).values())
    return told or isinstance(table, GroupedConfusion)


def drawing_of(
    table: Any, costs: CostMatrix, design: Design | None, smooth: float, *, models: int
) -> Drawing:
    """Return how to draw test sets like the one that was counted."""
    name = "confusion" if models == 1 else "paired"
    if not isinstance(table, Confusion | PairedConfusion | GroupedConfusion):
        raise InputTypeError(
            name, f"expected counts, which a design is of; got {type(table).__name__}."
        )
    cells = table.counts.shape[isinstance(table, GroupedConfusion) :]
    if len(cells) != models + 1:
        numbers = {1: "one classifier", 2: "two"}
        raise InputTypeError(
            name, f"expected the counts of {numbers[models]}, got {numbers[len(cells) - 1]}."
        )
    if smooth:
        raise DesignError(
            "smooth",
            "what was not observed has no group or stratum to be added to.",
            "Leave it out.",
        )
    groups = _groups_of(table) if isinstance(table, GroupedConfusion) else None
    if table.weighted and groups is None:
        raise DesignError(
            name,
            "sums of weights do not tell which rows had them, so rows cannot be drawn again.",
            "Count with groups=, each row a group of its own.",
        )
    about = Design() if design is None else design
    if about.rows_counted is not None:
        raise DesignError(
            "design", "rows_counted= is of one sample; test sets of two phases are not drawn."
        )
    units = groups or _rows_of(table, by_class=_fixes_classes(about))
    return Drawing(table, costs, _endless(table, about), units)


def _fixes_classes(design: Design) -> bool:
    """Tell whether the interval treats the numbers of rows of the classes as fixed."""
    return design.strata == "class" or design.class_priors is not None


def _endless(table: CountTable, design: Design) -> Design:
    """Return the design with shares of the strata, which test sets keep, not numbers of rows."""
    population = design.population
    if not isinstance(population, Mapping):
        population = None
        if isinstance(table, GroupedConfusion) and table.strata is not None:
            places, names = table.parts.stratum_codes()
            rows = np.bincount(places, _flat(table).sum(axis=1), len(names))
            population = dict(zip(names, rows.tolist(), strict=True))
    if population is not None:
        total = sum(population.values())
        population = {name: each / total for name, each in population.items()}
    return replace(design, population=population)


@dataclass(frozen=True)
class Units:
    """Sampling units: groups, or rows of one cell. Each has one or several entries.

    Attributes
    ----------
    home : ndarray, shape (units,)
        The index of the set of units that each is sampled from.
    shares : ndarray, shape (units,)
        The probability of each unit in its set.
    unit, part, cell, amount : ndarray, shape (entries,)
        The unit, the part of the table and the cell of each entry, and how much it adds there.
    sizes : ndarray
        The number of units sampled from each set.
    whole : bool
        Whether each sampled unit is a group by itself.
    """

    home: Places
    shares: Floats
    unit: Places
    part: Places
    cell: Places
    amount: Floats
    sizes: Places
    whole: bool

    def tilted(self, tilt: float, values: Floats) -> Units:
        """Return the units with shares times exp(tilt · value), divided by their sums."""
        exponent = tilt * values
        most = np.full(len(self.sizes), -np.inf)
        np.maximum.at(most, self.home, np.where(self.shares > 0, exponent, -np.inf))
        shares = self.shares * np.exp(np.minimum(exponent - most[self.home], 0.0))
        return replace(self, shares=shares / np.bincount(self.home, shares)[self.home])

    def exchanged(self, decisions: int, classes: int) -> Units:
        """Return each unit twice, once with the two models exchanged."""
        first, second, actual = np.unravel_index(self.cell, (decisions, decisions, classes))
        swapped = np.ravel_multi_index((second, first, actual), (decisions, decisions, classes))
        return replace(
            self,
            home=np.tile(self.home, 2),
            part=np.tile(self.part, 2),
            amount=np.tile(self.amount, 2),
            shares=np.tile(self.shares, 2) / 2,
            unit=np.concatenate([self.unit, self.unit + len(self.home)]),
            cell=np.concatenate([self.cell, swapped]),
        )


def _flat(table: CountTable) -> Floats:
    """Return the cells as an array with a row for each part; without parts, with one row."""
    parts = len(table.counts) if isinstance(table, GroupedConfusion) else 1
    return np.asarray(table.counts, dtype=np.float64).reshape(parts, -1)


def _rows_of(table: CountTable, *, by_class: bool) -> Units:
    """Return rows as units: one unit for all rows in a cell of a part, which are alike."""
    flat = _flat(table)
    part, cell = np.nonzero(flat)
    home = part * len(table.labels) + cell % len(table.labels) if by_class else part
    _, home = np.unique(home, return_inverse=True)
    amount = flat[part, cell]
    sizes = np.bincount(home, amount)
    ones = np.ones(len(part))
    each = np.arange(len(part))
    return Units(
        home, amount / sizes[home], each, part, cell, ones, np.rint(sizes).astype(np.intp), False
    )


def _groups_of(table: GroupedConfusion) -> Units | None:
    """Return groups as units, drawn from their stratum unless they have rows in several."""
    strata, _ = table.parts.stratum_codes()
    groups = table.parts.group_codes()
    if groups is None:
        return None
    home = np.zeros(groups.max() + 1, dtype=np.intp)
    home[groups] = strata
    if (home[groups] != strata).any():
        home[:] = 0
    _, home = np.unique(home, return_inverse=True)
    flat = _flat(table)
    part, cell = np.nonzero(flat)
    sizes = np.bincount(home)
    amounts = flat[part, cell]
    return Units(home, 1 / sizes[home], groups[part], part, cell, amounts, sizes, True)


@dataclass(frozen=True)
class Drawing:
    """A test set that is taken as the population, and how to sample others from it."""

    table: CountTable
    costs: CostMatrix
    design: Design
    units: Units

    @property
    def n(self) -> float:
        """The number of examples, or the sum of their weights."""
        return float(self.table.n)

    @cached_property
    def _strata(self) -> Places:
        """The stratum of each part."""
        if not isinstance(self.table, GroupedConfusion):
            return np.zeros(1, dtype=np.intp)
        return np.asarray(self.table.parts.stratum_codes()[0])

    @cached_property
    def _cells(self) -> tuple[int, ...]:
        grouped = isinstance(self.table, GroupedConfusion)
        return tuple(self.table.counts.shape[1:] if grouped else self.table.counts.shape)

    @property
    def truth(self) -> float:
        """The true cost, or the true difference."""
        return self._value(self._expected())

    def of(self, table: CountTable) -> CostEstimate | CostDifference:
        """Return the estimate of a test set."""
        if len(self._cells) > 2:  # noqa: PLR2004 - of two models
            return CostDifference(table, self.costs, design=self.design)
        return CostEstimate(table, self.costs, self.design)

    def _value(self, expected: Floats) -> float:
        found = self.of(self._tabulated(expected))
        return float(found.difference if isinstance(found, CostDifference) else found.cost)

    def _expected(self) -> Floats:
        """Return the expected count of each cell of each stratum."""
        units = self.units
        times = (units.sizes[units.home] * units.shares)[units.unit]
        return self._summed(times * units.amount)

    def _summed(self, amounts: Floats) -> Floats:
        """Add up entries by stratum and cell."""
        units, cells = self.units, int(np.prod(self._cells))
        strata = int(self._strata.max()) + 1
        place = self._strata[units.part] * cells + units.cell
        sums = np.bincount(place, amounts, strata * cells).astype(np.float64, copy=False)
        return sums.reshape(strata, cells)

    def _tabulated(self, sums: Floats, *, whole: bool = False) -> CountTable:
        """Return counts of independent rows by stratum."""
        counts = sums.reshape(-1, *self._cells)
        squares = None if whole else counts  # fractions of rows are weights
        counts = counts.astype(np.int64) if whole else counts
        axes = self.table.labels, self.table.decisions
        if not isinstance(self.table, GroupedConfusion) or self.table.strata is None:
            kind = Confusion if len(self._cells) == 2 else PairedConfusion  # noqa: PLR2004
            return kind(counts[0], *axes, squares=None if squares is None else squares[0])
        names = self.table.parts.stratum_codes()[1]
        return GroupedConfusion(counts, *axes, strata=names, squares=squares)

    def draw(self, n: int | None, repeats: int, rng: np.random.Generator) -> list[Any]:
        """Draw test sets of n examples, in expectation, or of as many units as were counted."""
        sizes = self.units.sizes
        if n is not None:
            least = 2 if self.units.whole else 1
            sizes = np.maximum(np.rint(sizes * (n / self.n)).astype(np.intp), least)
        return [self._checked(self._drawn(sizes, rng)) for _ in range(repeats)]

    def _checked(self, table: CountTable) -> Any:
        """Return the estimate of a test set, which may lack what a design must have."""
        try:
            return self.of(table)
        except InputError as error:
            raise DesignError(
                "n",
                "a simulated test set had no rows of a stratum, or of a class, whose share is "
                f"known ({error.problem.rstrip('.')}).",
                "Simulate larger test sets, or put rare strata together.",
            ) from error

    def _drawn(self, sizes: Places, rng: np.random.Generator) -> CountTable:
        units = self.units
        times = np.zeros(len(units.home), dtype=np.intp)
        for home, size in enumerate(sizes):
            inside = units.home == home
            times[inside] = rng.multinomial(size, units.shares[inside])
        if not units.whole:
            return self._tabulated(self._summed(times[units.unit] * units.amount), whole=True)
        return self._of_groups(np.repeat(np.arange(len(times)), times))

    def _of_groups(self, chosen: Places) -> GroupedConfusion:
        """Return the table of sampled groups, each as a group of its own."""
        units, cells = self.units, int(np.prod(self._cells))
        order = np.argsort(units.unit, kind="stable")
        ends = np.searchsorted(units.unit[order], [chosen, chosen + 1])
        many = ends[1] - ends[0]
        group = np.repeat(np.arange(len(chosen)), many)
        offset = np.arange(many.sum()) - np.repeat(np.cumsum(many) - many, many)
        entry = order[np.repeat(ends[0], many) + offset]
        strata = self._strata[units.part[entry]]
        keys, part = np.unique(group * (strata.max() + 1) + strata, return_inverse=True)
        place = part * cells + units.cell[entry]
        counts = np.bincount(place, units.amount[entry], len(keys) * cells)
        counts = counts.reshape(len(keys), *self._cells)
        of_group, of_stratum = np.divmod(keys, strata.max() + 1)
        table = self.table
        assert isinstance(table, GroupedConfusion)  # noqa: S101 - for the type checker
        names = None
        if table.strata is not None:
            known = table.parts.stratum_codes()[1]
            names = [known[index] for index in of_stratum]
        counts = counts if table.weighted else counts.astype(np.int64)
        axes = table.labels, table.decisions
        return GroupedConfusion(counts, *axes, of_group.tolist(), strata=names)

    def exchanged(self) -> Drawing:
        """Return a drawing in which the two models are exchanged in each unit at random."""
        decisions, _, classes = self._cells
        return replace(self, units=self.units.exchanged(decisions, classes))

    def tilted(self, target: float) -> Drawing:
        """Return a drawing whose shares are the nearest with another true difference.

        Each share is multiplied by exp(t · v), where v is the unit's influence on the difference.
        """
        values = self._influence()
        largest = float(np.abs(values).max()) or 1.0

        def left(tilt: float) -> float:
            tilted = replace(self, units=self.units.tilted(tilt / largest, values))
            return tilted.truth - target

        now = left(0.0)
        scale = max(abs(now + target), abs(target))
        if abs(now) <= ROUNDING * scale:
            return self
        reach = -np.sign(now)
        while left(reach) * now > 0:
            reach *= 2
            if abs(reach) > MOST_TILT:
                raise InputError(
                    "paired",
                    f"a true difference of {target:g} cannot come from the groups or rows that "
                    "were observed: hardly any of them has such a difference.",
                )
        tilt = float(brentq(left, *sorted((0.0, reach)), xtol=1e-10))
        return replace(self, units=self.units.tilted(tilt / largest, values))

    def _influence(self) -> Floats:
        """Return the influence of each unit: how much one more of it changes the difference."""
        units, expected = self.units, self._expected()
        step, start = STEP * expected.sum(), self._value(expected)
        slopes = np.zeros_like(expected)
        for place in zip(*np.nonzero(self._summed(np.ones(len(units.unit)))), strict=True):
            more = expected.copy()
            more[place] += step
            slopes[place] = (self._value(more) - start) / step
        entries = units.amount * slopes[self._strata[units.part], units.cell]
        found = np.bincount(units.unit, entries, len(units.home))
        return found.astype(np.float64, copy=False)

    def extreme(self, end: int, n: float) -> Extreme:
        """Return the outcome at an end, and its expected count in a test set."""
        shares = self._expected().sum(axis=0).reshape(self._cells)
        labels, decisions = self.table.labels, self.table.decisions
        values = self.costs.values_for(labels, decisions)
        costs = CostMatrix(values, rows="predicted", labels=labels, decisions=decisions)
        return Truth(shares / shares.sum(), costs).extreme(end, round(n))


def limits_of(
    drawn: Sequence[Any],
    method: str,
    *,
    confidence: float,
    options: dict[str, Any],
) -> tuple[Floats, Floats]:
    """Return the limits that a method gives for each test set."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StakesWarning)
        found = [each.interval(confidence, method, **options) for each in drawn]
    return np.array([each.low for each in found]), np.array([each.high for each in found])


def rejections_of(
    drawn: Sequence[Any], method: str, *, confidence: float, options: dict[str, Any]
) -> NDArray[np.bool_]:
    """Tell for which test sets a test rejects that both models cost the same."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StakesWarning)
        return np.array(
            [each.test(method, confidence=confidence, **options).rejected for each in drawn]
        )
