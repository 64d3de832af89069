"""Straight paths through costs: from one matrix to another, or one cell through its range."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes._core.typing import Floats
from stakes._table import number
from stakes.costs import CostMatrix, CostRanges
from stakes.costs.ranges import find_cell
from stakes.errors import InputError
from stakes.infer.what_if.populations import Populations


@dataclass(frozen=True)
class Path:
    """Cost matrices along a straight path: places, the matrix at both ends, and their axis."""

    axis: str
    position: Floats
    start: CostMatrix
    stop: CostMatrix
    scale: str = "linear"
    cell: tuple[int, int] | None = None

    def shares(self) -> Floats:
        """Return how far along the way each place is, from 0 to 1."""
        first, last = self.position[0], self.position[-1]
        return np.asarray((self.position - first) / (last - first))

    def values(self, start: Floats, stop: Floats) -> Floats:
        """Interpolate what is linear in the costs; the places come first."""
        share = self.shares().reshape(-1, *(1 for _ in start.shape))
        return np.asarray((1 - share) * start + share * stop)


def straight_path(costs: CostMatrix, to: Any, steps: int) -> Path:
    """Return the path from one matrix to another."""
    position = np.linspace(0.0, 1.0, steps)
    values = to.values_for(costs.labels, costs.decisions)  # raises where labels are missing
    stop = CostMatrix(values, rows="predicted", labels=costs.labels, decisions=costs.decisions)
    return Path("share of the way from the first costs to the second", position, costs, stop)


def cell_path(population: Populations, costs: CostRanges, cell: Any, steps: int) -> Path:
    """Return the path of one cell through its range, all others at their means."""
    mean = costs.mean()
    bounds = _bounds(costs)
    if cell is None:
        i, j = _most_telling(population, costs, bounds)
    else:
        i, j = find_cell(cell, costs.decisions, costs.labels, "cell")
    low, high = bounds[:, i, j]
    if low == high:
        raise InputError(
            f"cell: predicting {costs.decisions[i]!r} when it was {costs.labels[j]!r} costs "
            f"{number(low)} for certain; choose a cell with a range."
        )
    known = {tuple(each) for each, _ in costs.distributions}
    log = costs.scale == "log" and (costs.decisions[i], costs.labels[j]) not in known
    position = np.geomspace(low, high, steps) if log else np.linspace(low, high, steps)
    position[[0, -1]] = low, high
    ends = []
    for value in (low, high):
        values = mean.values.copy()
        values[i, j] = value
        ends.append(
            CostMatrix(values, rows="predicted", labels=mean.labels, decisions=mean.decisions)
        )
    axis = f"cost of predicting {costs.decisions[i]!r} when it was {costs.labels[j]!r}"
    return Path(axis, position, ends[0], ends[1], "log" if log else "linear", (i, j))


def _bounds(costs: CostRanges) -> Floats:
    """Return the ends of each cell's range; of a distribution, its central 95 %."""
    bounds = np.stack([costs.low, costs.high])
    for (decision, label), distribution in costs.distributions:
        i, j = costs.decisions.index(decision), costs.labels.index(label)
        bounds[:, i, j] = distribution.ppf([0.025, 0.975])
    return bounds


def _most_telling(population: Populations, costs: CostRanges, bounds: Floats) -> tuple[int, int]:
    """Return the cell through whose range the classifiers' costs change most differently."""
    joint, shares = population.joint, population.shares()
    width = bounds[1] - bounds[0]
    if not width.any():
        raise InputError("costs: all costs are certain, so there is no range to go through.")
    cells = np.zeros((len(joint.names), *width.shape))
    rows = np.array([costs.decisions.index(decision) for decision in joint.decisions])
    columns = np.array([costs.labels.index(label) for label in joint.labels])
    for who, decided in enumerate(joint.decided.T):
        np.add.at(cells[who], (rows[decided], columns[joint.actual]), shares)
    telling = np.ptp(cells, axis=0) * width
    if not telling.any():
        telling = width
    i, j = np.unravel_index(telling.argmax(), telling.shape)
    return int(i), int(j)
