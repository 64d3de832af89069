"""How expected costs, and who is the cheapest, change as costs do: for any number of classes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.frames import data_frame
from stakes._core.labels import Label
from stakes._core.text import html_table, number
from stakes._core.typing import Floats
from stakes._core.values import ByValue
from stakes.costs import CostMatrix, CostRanges
from stakes.costs._axes import positions
from stakes.costs.ranges import find_cell
from stakes.counts.joint import JointConfusion
from stakes.errors import InputError, InputTypeError
from stakes.infer._design import Design
from stakes.infer._probability.sampling import batch_sizes
from stakes.infer.batch import batch_intervals
from stakes.infer.estimate import CostEstimate
from stakes.infer.what_if.cheapest import (
    FEWEST_DRAWS,
    Populations,
    expected_costs,
    joint_counts,
    shares_of_minimum,
)


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
            "cell",
            f"predicting {costs.decisions[i]!r} when it was {costs.labels[j]!r} costs "
            f"{number(low)} for certain.",
            "Choose a cell with a range.",
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
        raise InputError("costs", "all costs are certain, so there is no range to go through.")
    cells = np.zeros((len(joint.names), *width.shape))
    rows = np.array(positions(joint.decisions, costs.decisions, "decision"))
    columns = np.array(positions(joint.labels, costs.labels, "class"))
    for who, decided in enumerate(joint.decided.T):
        np.add.at(cells[who], (rows[decided], columns[joint.actual]), shares)
    telling = np.ptp(cells, axis=0) * width
    if not telling.any():
        telling = width
    i, j = np.unravel_index(telling.argmax(), telling.shape)
    return int(i), int(j)


Cell = tuple[Label, Label]

FEWEST = 2


@dataclass(frozen=True, eq=False, repr=False)
class CostSensitivity(ByValue):
    """What each classifier costs along a path of costs, and how likely it is the cheapest there.

    Made by `cost_sensitivity`.

    Attributes
    ----------
    names : tuple of str
        The classifiers.
    axis : str
        What changes along the path.
    position : ndarray, shape (steps,)
        The places on the path: a share of the way, or what a cell costs.
    cost, low, high : ndarray, shape (classifiers, steps)
        The expected cost per decision of each classifier, and its interval.
    probability : ndarray, shape (classifiers, steps)
        That each is the cheapest, given the place on the path.
    confidence : float
        Of the intervals.
    scale : str
        "linear", or "log" where the places are spaced by their ratio.

    Examples
    --------
    >>> from stakes import CostMatrix, cost_sensitivity
    >>> mild = CostMatrix.from_errors(false_positive=1, false_negative=2)
    >>> harsh = CostMatrix.from_errors(false_positive=1, false_negative=20)
    >>> found = cost_sensitivity(
    ...     [0] * 60 + [1] * 40,
    ...     {"eager": [0] * 40 + [1] * 60, "shy": [0] * 63 + [1] * 37}, mild, harsh, steps=3, rng=0)
    >>> found.position.tolist(), found.cost.round(2).tolist()
    ([0.0, 0.5, 1.0], [[0.2, 0.2, 0.2], [0.06, 0.33, 0.6]])
    >>> [(round(low, 3), round(high, 3), name) for low, high, name in found.cheapest_ranges()]
    [(0.0, 0.259, 'shy'), (0.259, 1.0, 'eager')]
    """

    names: tuple[str, ...]
    axis: str
    position: Floats
    cost: Floats
    low: Floats
    high: Floats
    probability: Floats
    confidence: float
    scale: str = "linear"

    def cheapest_ranges(self) -> list[tuple[float, float, str]]:
        """Return the ranges of the path, and who is the cheapest in each.

        The costs are straight lines along the path, so they change places where two lines meet.

        Returns
        -------
        list of (low, high, name)
            The ranges one after the other.

        Examples
        --------
        >>> from stakes import CostMatrix, cost_sensitivity
        >>> mild = CostMatrix.from_errors(false_positive=1, false_negative=2)
        >>> harsh = CostMatrix.from_errors(false_positive=1, false_negative=20)
        >>> found = cost_sensitivity(
        ...     [0] * 60 + [1] * 40,
        ...     {"eager": [0] * 40 + [1] * 60, "shy": [0] * 63 + [1] * 37}, mild, harsh, rng=0)
        >>> [name for low, high, name in found.cheapest_ranges()]
        ['shy', 'eager']
        """
        first, last = float(self.position[0]), float(self.position[-1])
        start, rise = self.cost[:, 0], self.cost[:, -1] - self.cost[:, 0]
        share, result = 0.0, []
        best = int(np.lexsort((rise, start))[0])
        while True:
            slower = rise < rise[best]
            meets = np.full(len(rise), np.inf)
            meets[slower] = (start[slower] - start[best]) / (rise[best] - rise[slower])
            following = int(np.lexsort((rise, np.maximum(meets, share)))[0])
            end = min(max(float(meets[following]), share), 1.0)
            if end > share:
                low, high = (first + each * (last - first) for each in (share, end))
                result.append((low, high, self.names[best]))
            if end >= 1:
                return result
            best, share = following, end

    def summary(self) -> str:
        """Say who is the cheapest where on the path.

        Returns
        -------
        str
            Two sentences.
        """
        ranges = [
            f"{name} from {number(low)} to {number(high)}"
            for low, high, name in self.cheapest_ranges()
        ]
        chances = ", ".join(
            f"{name} {100 * each[0]:.0f} % to {100 * each[-1]:.0f} %"
            for name, each in zip(self.names, self.probability, strict=True)
        )
        return (
            f"Along the path ({self.axis}) the cheapest is {', then '.join(ranges)}. "
            f"The probability of being the cheapest goes from its start to its end: {chances}."
        )

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each classifier and place.

        Returns
        -------
        DataFrame
            With the columns classifier, position, cost, low, high and probability.
        """
        steps = len(self.position)
        return data_frame(
            {
                "classifier": np.repeat(np.array(self.names, dtype=object), steps),
                "position": np.tile(self.position, len(self.names)),
                **{
                    name: getattr(self, name).ravel()
                    for name in ("cost", "low", "high", "probability")
                },
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the path as plain values and lists.

        Returns
        -------
        dict
            The attributes by name.
        """
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in self._values().items()
        } | {"names": list(self.names)}

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        rows = [
            [f"{number(low)} to {number(high)}", name] for low, high, name in self.cheapest_ranges()
        ]
        return html_table([self.axis, "cheapest"], rows, caption=self.summary())


def cost_sensitivity(
    y_true: Any,
    predictions: Mapping[str, Any] | None,
    costs: CostMatrix | CostRanges,
    to: CostMatrix | None = None,
    *,
    cell: Cell | None = None,
    class_priors: Any = None,
    steps: Any = 51,
    confidence: float = 0.95,
    n_draws: Any = 4000,
    rng: np.random.Generator | int | None = None,
) -> CostSensitivity:
    """Return what classifiers cost as the costs change, and how likely each is the cheapest.

    For two classes a cost curve shows all of it. For more, and for costs that are not symmetric in
    any way, this follows one path through the costs.

    Parameters
    ----------
    y_true : array_like, shape (n,), or JointConfusion
        The actual class of each example; or the counts, and then no `predictions`.
    predictions : mapping or None
        From the name of each classifier to its decisions.
    costs : CostMatrix or CostRanges
        Where the path begins; or what is known of the costs, and then one cell's cost goes through
        its range while those of the others are drawn from theirs.
    to : CostMatrix, optional
        Where the path ends, if `costs` is a matrix.
    cell : pair of decision and class, optional
        With ranges, whose cost goes through its range; by default the one that the classifiers
        differ most by.
    class_priors : mapping or sequence, optional
        The share of each class where the classifiers are used, if it differs from the test set's.
        Intervals then take longer.
    steps : int, default 51
        How many places on the path there are.
    confidence : float, default 0.95
        Of the intervals.
    n_draws : int, default 4000
        How many populations (and costs, with ranges) are drawn for the probabilities.
    rng : Generator or seed
        The source of randomness.

    Returns
    -------
    CostSensitivity
        Costs, intervals and probabilities at each place of the path.

    Notes
    -----
    At the share s of the way the costs are C_s = (1 - s) C_0 + s C_1, and a classifier's expected
    cost Σ P(i, j) C_s(i, j) is a straight line in s. Probabilities of being the cheapest are those
    of `cheapest_probability`: over the Bayesian bootstrap of the population.

    References
    ----------
    Rubin (1981).

    Examples
    --------
    >>> from stakes import CostMatrix, cost_sensitivity
    >>> y_true = ["a"] * 50 + ["b"] * 30 + ["c"] * 20
    >>> predictions = {"left": ["a"] * 60 + ["b"] * 20 + ["c"] * 20,
    ...                "right": ["a"] * 50 + ["b"] * 20 + ["c"] * 30}
    >>> mild = CostMatrix([[0, 1, 2], [1, 0, 1], [1, 3, 0]], rows="predicted", labels=[*"abc"])
    >>> harsh = CostMatrix([[0, 9, 2], [1, 0, 1], [1, 3, 0]], rows="predicted", labels=[*"abc"])
    >>> found = cost_sensitivity(y_true, predictions, mild, harsh, rng=0)
    >>> [(round(low, 3), round(high, 3), name) for low, high, name in found.cheapest_ranges()]
    [(0.0, 0.25, 'left'), (0.25, 1.0, 'right')]
    """
    size = validate.as_size(steps, "steps")
    if size < FEWEST:
        raise InputError("steps", f"a path has at least a beginning and an end, got {steps!r}.")
    draws = validate.as_size(n_draws, "n_draws", least=FEWEST_DRAWS)
    validate.alpha(confidence)
    _check_ends(costs, to, cell)
    joint = joint_counts(y_true, predictions, costs)
    known = costs.mean() if isinstance(costs, CostRanges) else costs
    known.values_for(joint.labels, joint.decisions)  # raises where labels are missing
    population = Populations(joint, class_priors)
    path = (
        cell_path(population, costs, cell, size)
        if isinstance(costs, CostRanges)
        else straight_path(costs, to, size)
    )
    generator = validate.generator(rng)
    ends = [_matrix(joint, end) for end in (path.start, path.stop)]
    totals = path.values(*_drawn_costs(population, costs, path, draws, generator))
    probability = np.array([shares_of_minimum(each) for each in totals])
    shares = population.shares()
    cost = path.values(*(expected_costs(joint, each, shares)[0] for each in ends))
    low, high = _intervals(joint, path, confidence, class_priors)
    return CostSensitivity(
        names=tuple(map(str, joint.names)),
        axis=path.axis,
        position=path.position,
        cost=cost.T,
        low=low,
        high=high,
        probability=probability.T,
        confidence=float(confidence),
        scale=path.scale,
    )


def _check_ends(costs: Any, to: Any, cell: Any) -> None:
    if isinstance(costs, CostRanges):
        if to is not None:
            raise InputTypeError(
                "to", "ranges need no second matrix.", "Give one only with a matrix."
            )
        return
    validate.expect(costs, CostMatrix, "costs", "CostMatrix(values, rows=, labels=)")
    if cell is not None:
        raise InputTypeError(
            "cell", "only ranges have a cell to follow.", "With a matrix, give to=."
        )
    if not isinstance(to, CostMatrix):
        raise InputTypeError(
            "to",
            "a path leads from one CostMatrix to another, got "
            f"{'nothing' if to is None else type(to).__name__}.",
            "Give the second matrix, or CostRanges as costs=.",
        )


def _matrix(joint: JointConfusion, costs: CostMatrix) -> Floats:
    return costs.values_for(joint.labels, joint.decisions)


def _drawn_costs(
    population: Populations,
    costs: CostMatrix | CostRanges,
    path: Path,
    draws: int,
    generator: np.random.Generator,
) -> list[Floats]:
    """Return each classifier's cost at both ends of the path, for drawn populations and costs."""
    joint = population.joint
    parts: list[list[Floats]] = [[], []]
    for size in batch_sizes(draws, len(joint.counts)):
        populations = population.drawn(size, generator)
        sampled = None
        if isinstance(costs, CostRanges) and path.cell is not None:
            sampled = costs.sample(size, rng=generator)
        for part, end in zip(parts, (path.start, path.stop), strict=True):
            matrix = _matrix(joint, end)
            if isinstance(costs, CostRanges) and sampled is not None and path.cell is not None:
                matrix = _with_cell(joint, costs, sampled, path.cell, end)
            part.append(expected_costs(joint, matrix, populations))
    return [np.concatenate(part) for part in parts]


def _with_cell(
    joint: JointConfusion,
    costs: CostRanges,
    sampled: Floats,
    cell: tuple[int, int],
    end: CostMatrix,
) -> Floats:
    """Return drawn costs with that of one cell fixed, in the order of the counts."""
    fixed = sampled.copy()
    fixed[:, cell[0], cell[1]] = end.values[cell]
    rows = positions(joint.decisions, costs.decisions, "decision")
    columns = positions(joint.labels, costs.labels, "class")
    return np.asarray(fixed[:, rows][:, :, columns])


def _intervals(
    joint: JointConfusion, path: Path, confidence: float, class_priors: Any
) -> tuple[Floats, Floats]:
    """Return the default intervals of each classifier's cost at each place."""
    axes: dict[str, Any] = {"labels": joint.labels, "decisions": joint.decisions}
    ends = [_matrix(joint, end) for end in (path.start, path.stop)]
    places = [CostMatrix(values, rows="predicted", **axes) for values in path.values(*ends)]
    tables = [joint.single(name) for name in joint.names]
    if class_priors is None:
        counts = np.stack([table.counts for table in tables])
        both = np.array([batch_intervals(counts, at, confidence=confidence) for at in places])
        return both[:, 0].T, both[:, 1].T
    design = Design(class_priors)
    limits = np.array(
        [[tuple(CostEstimate(t, at, design).interval(confidence)) for at in places] for t in tables]
    )
    return limits[..., 0], limits[..., 1]
