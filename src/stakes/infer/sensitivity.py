"""Expected costs and the cheapest classifier along a path of costs, for any number of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label
from stakes._core.optional import data_frame
from stakes._core.text import html_table, number, percent, percent_range
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.costs import CostMatrix, CostRanges
from stakes.costs._axes import positions
from stakes.costs.ranges import find_cell
from stakes.counts.joint import JointConfusion
from stakes.errors import InputError, InputTypeError
from stakes.infer._inference import quiet_interval
from stakes.infer._outcomes import Design, is_simple
from stakes.infer._probability.sampling import batch_sizes
from stakes.infer.cheapest import (
    FEWEST_DRAWS,
    Populations,
    expected_costs,
    joint_counts,
    warn_of_rare,
    wins,
)
from stakes.infer.estimate import CostEstimate
from stakes.infer.methods.extremal import limits_at


@dataclass(frozen=True, eq=False)
class Path:
    """A straight path of cost matrices: its places, the matrices at both ends, and its axis."""

    axis: str
    position: Floats
    start: CostMatrix
    stop: CostMatrix
    scale: str = "linear"
    cell: tuple[int, int] | None = None

    def shares(self) -> Floats:
        """Return the share of the path up to each place, from 0 to 1."""
        first, last = self.position[0], self.position[-1]
        return np.asarray((self.position - first) / (last - first))

    def values(self, start: Floats, stop: Floats) -> Floats:
        """Interpolate values that are linear in the costs; the first axis is the places."""
        share = self.shares().reshape(-1, *(1 for _ in start.shape))
        return np.asarray((1 - share) * start + share * stop)


def straight_path(costs: CostMatrix, to: Any, steps: int) -> Path:
    """Return the path from one matrix to another."""
    position = np.linspace(0.0, 1.0, steps)
    values = to.values_for(costs.labels, costs.decisions)  # raises where labels are missing
    stop = CostMatrix(values, rows="predicted", labels=costs.labels, decisions=costs.decisions)
    return Path("share of the way from the first costs to the second", position, costs, stop)


def cell_path(population: Populations, costs: CostRanges, cell: Any, steps: int) -> Path:
    """Return the path of one cell through its range, with all others at their means."""
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
    """Return the ends of each cell's range; of a distribution, its central 95%."""
    bounds = np.stack([costs.low, costs.high])
    for (decision, label), distribution in costs.distributions:
        i, j = costs.decisions.index(decision), costs.labels.index(label)
        bounds[:, i, j] = distribution.ppf([0.025, 0.975])
    return bounds


def _most_telling(population: Populations, costs: CostRanges, bounds: Floats) -> tuple[int, int]:
    """Return the cell whose range changes the classifiers' costs most differently."""
    joint = population.joint
    width = bounds[1] - bounds[0]
    if not width.any():
        raise InputError("costs", "all costs are certain, so there is no range to go through.")
    rows = positions(joint.decisions, costs.decisions, "decision")
    columns = positions(joint.labels, costs.labels, "class")
    cells = np.zeros((len(joint.names), *width.shape))
    cells[:, np.array(rows)[:, np.newaxis], columns] = population.shares().reshape(
        -1, len(rows), len(columns)
    )
    telling = np.ptp(cells, axis=0) * width
    if not telling.any():
        telling = width
    i, j = np.unravel_index(telling.argmax(), telling.shape)
    return int(i), int(j)


Cell = tuple[Label, Label]

FEWEST, MOST_STEPS = 2, 10_000


@dataclass(frozen=True, eq=False, repr=False)
class CostSensitivity(Result):
    """The cost of each classifier along a path of costs, and where it is shown to be the cheapest.

    Made by `cost_sensitivity`.

    Attributes
    ----------
    names : tuple of str
        The classifiers.
    axis : str
        The quantity that changes along the path.
    position : ndarray, shape (steps,)
        The places on the path: shares of the way, or costs of a cell.
    cost, low, high : ndarray, shape (classifiers, steps)
        The expected cost per decision of each classifier, and its interval.
    probability_low, probability_high : ndarray, shape (classifiers, steps)
        Bounds of the probability that each is the cheapest at the place on the path.
    confidence : float
        Confidence level of the intervals, and of what is shown.
    scale : str
        "linear", or "log" where the places are spaced geometrically.

    Examples
    --------
    >>> from stakes import CostMatrix, cost_sensitivity
    >>> mild = CostMatrix.from_errors(false_positive=1, false_negative=2)
    >>> harsh = CostMatrix.from_errors(false_positive=1, false_negative=20)
    >>> found = cost_sensitivity(
    ...     [0] * 600 + [1] * 400,
    ...     {"eager": [0] * 400 + [1] * 595 + [0] * 5, "shy": [0] * 630 + [1] * 370},
    ...     mild, harsh, rng=0)
    >>> found.cost[:, [0, -1]].round(2).tolist()
    [[0.21, 0.3], [0.06, 0.6]]
    >>> [(round(low, 2), round(high, 2), name) for low, high, name in found.cheapest_ranges()]
    [(0.0, 0.16, 'shy'), (0.16, 0.78, None), (0.78, 1.0, 'eager')]
    """

    names: tuple[str, ...]
    axis: str
    position: Floats
    cost: Floats
    low: Floats
    high: Floats
    probability_low: Floats
    probability_high: Floats
    confidence: float
    scale: str = "linear"

    def cheapest_ranges(self) -> list[tuple[float, float, str | None]]:
        """Return the ranges of the path, and which classifier is shown to be the cheapest in each.

        Each range begins and ends at a place of the path, so more steps give finer ranges.

        Returns
        -------
        list of (low, high, name)
            The ranges one after the other; the name is None where none is shown to be the cheapest.

        Notes
        -----
        Of K classifiers one is shown to be the cheapest where the lower bound of its probability is
        at least 1 - (1 - confidence)/K. For two classifiers and a path between two matrices, that
        is where ``CostDifference.test("extremal", conservative=True)`` rejects.

        Examples
        --------
        >>> from stakes import CostMatrix, cost_sensitivity
        >>> mild = CostMatrix.from_errors(false_positive=1, false_negative=2)
        >>> harsh = CostMatrix.from_errors(false_positive=1, false_negative=20)
        >>> found = cost_sensitivity(
        ...     [0] * 600 + [1] * 400,
        ...     {"eager": [0] * 400 + [1] * 595 + [0] * 5, "shy": [0] * 630 + [1] * 370},
        ...     mild, harsh, rng=0)
        >>> [name for low, high, name in found.cheapest_ranges()]
        ['shy', None, 'eager']
        """
        needed = 1 - (1 - self.confidence) / len(self.names)
        shown = self.probability_low >= needed
        at = np.where(shown.any(axis=0), shown.argmax(axis=0), -1)
        between_two = np.where(at[:-1] == at[1:], at[:-1], -1)
        starts = np.flatnonzero(np.append(True, np.diff(between_two) != 0))
        stops = np.append(starts[1:], len(between_two))
        return [
            (
                float(self.position[start]),
                float(self.position[stop]),
                None if between_two[start] < 0 else self.names[between_two[start]],
            )
            for start, stop in zip(starts, stops, strict=True)
        ]

    def average_ranges(self) -> list[tuple[float, float, str]]:
        """Return the ranges of the path, and which classifier costs least on average in each.

        The averages are those of the test set, however uncertain. The costs are straight lines
        along the path, so the cheapest classifier changes where two lines meet.

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
        ...     [0] * 600 + [1] * 400,
        ...     {"eager": [0] * 400 + [1] * 595 + [0] * 5, "shy": [0] * 630 + [1] * 370},
        ...     mild, harsh, rng=0)
        >>> [(round(low, 3), round(high, 3), name) for low, high, name in found.average_ranges()]
        [(0.0, 0.333, 'shy'), (0.333, 1.0, 'eager')]
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
        """Summarise which classifier is shown to be the cheapest where on the path.

        Returns
        -------
        str
            Two or three sentences.
        """
        shown = shown_words(self.cheapest_ranges(), self.confidence)
        averages = ", then ".join(
            f"{name} from {number(low)} to {number(high)}"
            for low, high, name in self.average_ranges()
        )
        chances = "; ".join(
            f"{name} {percent_range(low[0], high[0])}, then {percent_range(low[-1], high[-1])}"
            for name, low, high in zip(
                self.names, self.probability_low, self.probability_high, strict=True
            )
        )
        return (
            f"Along the path ({self.axis}) {shown} On average the cheapest is {averages}. "
            f"The probability of being the cheapest at its start and its end: {chances}."
        )

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each classifier and place.

        Returns
        -------
        DataFrame
            With the columns classifier, position, cost, low, high, probability_low and
            probability_high.
        """
        steps = len(self.position)
        return data_frame(
            {
                "classifier": np.repeat(np.array(self.names, dtype=object), steps),
                "position": np.tile(self.position, len(self.names)),
                **{
                    name: getattr(self, name).ravel()
                    for name in ("cost", "low", "high", "probability_low", "probability_high")
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
            [f"{number(low)} to {number(high)}", name or "cannot be told"]
            for low, high, name in self.cheapest_ranges()
        ]
        return html_table([self.axis, "cheapest"], rows, caption=self.summary())


def shown_words(ranges: Sequence[tuple[float, float, str | None]], confidence: float) -> str:
    """Return in words which classifier is shown to be the cheapest where on a path."""
    sure = f"({percent(confidence)} confidence)"
    shown = [(name, f"from {number(low)} to {number(high)}") for low, high, name in ranges if name]
    if not shown:
        return f"no model is shown to be the cheapest {sure}."
    (first, where), *others = shown
    if len(ranges) == 1:
        where = "all the way"
    more = "".join(f", {name} {there}" for name, there in others)
    rest = "; elsewhere it cannot be told" if len(shown) < len(ranges) else ""
    return f"{first} is shown to be the cheapest {where}{more} {sure}{rest}."


def cost_sensitivity(
    y_true: Any,
    predictions: Mapping[str, Any] | None,
    costs: CostMatrix | CostRanges,
    to: CostMatrix | None = None,
    *,
    cell: Cell | None = None,
    class_priors: Any = None,
    impossible: Any = None,
    steps: Any = 51,
    confidence: float = 0.95,
    n_draws: Any = 4000,
    rng: np.random.Generator | int | None = None,
) -> CostSensitivity:
    """Return the classifiers' costs along a path of costs, and how likely each is the cheapest.

    For two classes a cost curve shows all costs. For more classes, and for any cost matrix, this
    follows one path through the costs.

    Parameters
    ----------
    y_true : array_like, shape (n,), or JointConfusion
        The actual class of each example; or the counts, and then no `predictions`.
    predictions : mapping or None
        From the name of each classifier to its decisions.
    costs : CostMatrix or CostRanges
        The start of the path; or ranges of the costs: then one cell's cost goes through its range
        while those of the others are drawn from theirs.
    to : CostMatrix, optional
        The end of the path, if `costs` is a matrix.
    cell : pair of decision and class, optional
        With ranges, the cell whose cost goes through its range; by default the one whose range
        changes the classifiers' costs most differently.
    class_priors : mapping or sequence, optional
        The prevalence of each class in the target population, if it differs from the test set's.
        Intervals then take longer.
    impossible : sequence of (decision, class), optional
        Cells that cannot occur, for which no room is needed.
    steps : int, default 51
        The number of places on the path.
    confidence : float, default 0.95
        Confidence level of the intervals, and of what is shown.
    n_draws : int, default 4000
        The number of populations (and costs, with ranges) that are drawn for the probabilities.
    rng : Generator or seed
        The source of randomness.

    Returns
    -------
    CostSensitivity
        Costs, intervals and probabilities at each place of the path.

    Warns
    -----
    RareCostWarning
        Where the outcome that matters most to a comparison was observed fewer than five times.

    Notes
    -----
    At the share s of the way the costs are C_s = (1 - s) C_0 + s C_1, and a classifier's expected
    cost Σ P(i, j) C_s(i, j) is a straight line in s. The bounds of the probability of being the
    cheapest are those of `cheapest_probability`: they leave room for an expensive mistake that was
    not observed.

    References
    ----------
    Rubin (1981).

    Learned-Miller & Thomas (2019).

    Examples
    --------
    >>> from stakes import CostMatrix, cost_sensitivity
    >>> y_true = ["a"] * 500 + ["b"] * 300 + ["c"] * 200
    >>> predictions = {
    ...     "left": ["a"] * 560 + ["b"] * 240 + ["c"] * 200,
    ...     "right": ["a"] * 500 + ["b"] * 10 + ["c"] * 100 + ["b"] * 180 + ["a"] * 10
    ...              + ["c"] * 200,
    ... }
    >>> mild = CostMatrix([[0, 4, 2], [1, 0, 1], [1, 3, 0]], rows="predicted", labels=[*"abc"])
    >>> harsh = CostMatrix([[0, 9, 2], [1, 0, 1], [1, 3, 0]], rows="predicted", labels=[*"abc"])
    >>> found = cost_sensitivity(y_true, predictions, mild, harsh, rng=0)
    >>> [(round(low, 3), round(high, 3), name) for low, high, name in found.cheapest_ranges()]
    [(0.0, 0.12, 'left'), (0.12, 0.92, None), (0.92, 1.0, 'right')]
    """
    size = validate.as_size(steps, "steps", most=MOST_STEPS)
    if size < FEWEST:
        raise InputError("steps", f"a path has at least a beginning and an end, got {steps!r}.")
    draws = validate.as_size(n_draws, "n_draws", least=FEWEST_DRAWS)
    validate.alpha(confidence)
    confidence = float(confidence)
    _check_ends(costs, to, cell)
    joint = joint_counts(y_true, predictions, costs)
    design = Design(class_priors, impossible=impossible)
    population, path = find_path(joint, costs, to, cell=cell, design=design, steps=size)
    found = follow(population, costs, path, confidence=confidence, draws=draws, rng=rng)
    warn_of_rare(joint, [path.start, path.stop], population.design)
    return found


def find_path(
    joint: JointConfusion,
    costs: CostMatrix | CostRanges,
    to: CostMatrix | None,
    *,
    cell: Any,
    design: Design,
    steps: int,
) -> tuple[Populations, Path]:
    """Return the distribution of the population given the counts, and the path of the costs."""
    known = costs.mean() if isinstance(costs, CostRanges) else costs
    known.values_for(joint.labels, joint.decisions)  # raises where labels are missing
    population = Populations(joint, design)
    if isinstance(costs, CostRanges):
        return population, cell_path(population, costs, cell, steps)
    return population, straight_path(costs, to, steps)


def follow(
    population: Populations,
    costs: CostMatrix | CostRanges,
    path: Path,
    *,
    confidence: float,
    draws: int,
    rng: Any,
    every: int = 1,
) -> CostSensitivity:
    """Return the costs, limits and probabilities along a path, without a warning.

    Slow limits, such as those of groups, may be computed at every few steps only, and interpolated
    linearly in between.
    """
    joint = population.joint
    low, high = _intervals(population, path, confidence, every)
    ends = [_matrix(joint, end) for end in (path.start, path.stop)]
    shares = population.shares()
    cost = path.values(*(expected_costs(shares, each)[0] for each in ends))
    bounds = _probabilities(population, costs, path, draws, validate.generator(rng))
    return CostSensitivity(
        names=tuple(map(str, joint.names)),
        axis=path.axis,
        position=path.position,
        cost=cost.T,
        low=low,
        high=high,
        probability_low=bounds[0],
        probability_high=bounds[1],
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


def _probabilities(
    population: Populations,
    costs: CostMatrix | CostRanges,
    path: Path,
    draws: int,
    generator: np.random.Generator,
) -> Floats:
    """Return the bounds of each classifier's probability to be the cheapest at each place."""
    joint = population.joint
    won = np.zeros((len(path.position), 2, len(joint.names)))
    for size in batch_sizes(draws, population.width):
        drawn = population.drawn(size, generator)
        ends = [_matrix(joint, end) for end in (path.start, path.stop)]
        if isinstance(costs, CostRanges) and path.cell is not None:
            sampled = costs.sample(size, rng=generator)
            ends = [
                _with_cell(joint, costs, sampled, path.cell, end) for end in (path.start, path.stop)
            ]
        start, stop = (expected_costs(drawn.tables, end) for end in ends)
        for place, share in enumerate(path.shares()):
            values = (1 - share) * ends[0] + share * ends[1]
            table = (1 - share) * start + share * stop
            won[place] += wins(table, population.room(drawn.extra, values))
    return np.asarray(np.moveaxis(won, 0, -1) / draws)


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
    population: Populations, path: Path, confidence: float, every: int
) -> tuple[Floats, Floats]:
    """Return the default intervals of each classifier's cost at each place."""
    joint, design = population.joint, population.design
    values = path.values(*(_matrix(joint, end) for end in (path.start, path.stop)))
    tables = [joint.single(name) for name in joint.names]
    if design.impossible is None and all(is_simple(table, design) for table in tables):
        return _all_limits(np.stack([table.counts for table in tables]), values, confidence)
    axes: dict[str, Any] = {"labels": joint.labels, "decisions": joint.decisions}
    places = [CostMatrix(each, rows="predicted", **axes) for each in values]
    shares = np.asarray(path.shares(), dtype=np.float64)
    knots = np.unique([*range(0, len(places), every), len(places) - 1])
    found = np.empty((2, len(tables), len(places)))
    for row, table in enumerate(tables):
        estimates = (CostEstimate(table, places[at], design) for at in knots)
        limits = np.array([tuple(quiet_interval(each, confidence)) for each in estimates])
        for side in (0, 1):
            found[side, row] = np.interp(shares, shares[knots], limits[:, side])
    return found[0], found[1]


def _all_limits(counts: Floats, costs: Floats, confidence: float) -> tuple[Floats, Floats]:
    """Return the limits of each classifier at each place in one call."""
    cells, places = counts.reshape(len(counts), -1), costs.reshape(len(costs), -1)
    # Most of many cells are empty. Limits add only to the costliest and the cheapest cell.
    used = (cells > 0).sum(axis=0) > 0
    used[places.argmin(axis=1)] = used[places.argmax(axis=1)] = True
    low, high = limits_at(
        np.tile(places[:, used], (len(cells), 1)),
        np.repeat(cells[:, used], len(places), axis=0),
        1 - confidence,
    )
    shape = len(cells), len(places)
    return low.reshape(shape), high.reshape(shape)
