"""Expected costs and the cheapest classifier along a path of costs, for any number of classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label
from stakes._core.optional import data_frame
from stakes._core.text import html_table, number
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.costs import CostMatrix, CostRanges
from stakes.costs._axes import positions
from stakes.costs.ranges import find_cell
from stakes.counts.joint import JointConfusion
from stakes.errors import InputError, InputTypeError
from stakes.infer._inference import (
    DEFAULT,
    SMALLEST,
    Inference,
    outcomes_behind,
    quiet_interval,
    run_test,
)
from stakes.infer._outcomes import Design, Outcomes
from stakes.infer._shares import cell_shares
from stakes.infer.estimate import CostEstimate
from stakes.infer.methods.extremal import limits_at, tails_at


@dataclass(frozen=True, eq=False)
class Path:
    """A straight path of cost matrices: its places, the matrices at both ends, and its axis."""

    axis: str
    position: Floats
    start: CostMatrix
    stop: CostMatrix
    scale: str = "linear"

    def matrices(self) -> list[CostMatrix]:
        """Return the matrix at each place."""
        first, last = self.position[0], self.position[-1]
        shares = (self.position - first) / (last - first)
        axes: dict[str, Any] = {"labels": self.start.labels, "decisions": self.start.decisions}
        values = ((1 - share) * self.start.values + share * self.stop.values for share in shares)
        return [CostMatrix(each, rows="predicted", **axes) for each in values]


def straight_path(costs: CostMatrix, to: Any, steps: int) -> Path:
    """Return the path from one matrix to another."""
    position = np.linspace(0.0, 1.0, steps)
    values = to.values_for(costs.labels, costs.decisions)  # raises where labels are missing
    stop = CostMatrix(values, rows="predicted", labels=costs.labels, decisions=costs.decisions)
    return Path("share of the way from the first costs to the second", position, costs, stop)


def cell_path(
    joint: JointConfusion, design: Design, costs: CostRanges, cell: Any, steps: int
) -> Path:
    """Return the path of one cell through its range, with all others at their means."""
    mean = costs.mean()
    bounds = _bounds(costs)
    if cell is None:
        i, j = _most_telling(joint, design, costs, bounds)
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
    return Path(axis, position, ends[0], ends[1], "log" if log else "linear")


def _bounds(costs: CostRanges) -> Floats:
    """Return the ends of each cell's range; of a distribution, its central 95%."""
    bounds = np.stack([costs.low, costs.high])
    for (decision, label), distribution in costs.distributions:
        i, j = costs.decisions.index(decision), costs.labels.index(label)
        bounds[:, i, j] = distribution.ppf([0.025, 0.975])
    return bounds


def _most_telling(
    joint: JointConfusion, design: Design, costs: CostRanges, bounds: Floats
) -> tuple[int, int]:
    """Return the cell whose range changes the classifiers' costs most differently."""
    width = bounds[1] - bounds[0]
    if not width.any():
        raise InputError("costs", "all costs are certain, so there is no range to go through.")
    rows = positions(joint.decisions, costs.decisions, "decision")
    columns = positions(joint.labels, costs.labels, "class")
    cells = np.zeros((len(joint.names), *width.shape))
    shares = np.stack([cell_shares(joint.single(name), design) for name in joint.names])
    cells[:, np.array(rows)[:, np.newaxis], columns] = shares
    telling = np.ptp(cells, axis=0) * width
    if not telling.any():
        telling = width
    i, j = np.unravel_index(telling.argmax(), telling.shape)
    return int(i), int(j)


Cell = tuple[Label, Label]

FEWEST, MOST_STEPS = 2, 10_000


@dataclass(frozen=True, eq=False, repr=False)
class CostSensitivity(Result):
    """The cost of each classifier along a path of costs.

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
    confidence : float
        Confidence level of the intervals.
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
    ...     mild, harsh)
    >>> found.cost[:, [0, -1]].round(2).tolist()
    [[0.21, 0.3], [0.06, 0.6]]
    >>> [(round(low, 3), round(high, 3), name) for low, high, name in found.cheapest_ranges()]
    [(0.0, 0.333, 'shy'), (0.333, 1.0, 'eager')]
    """

    names: tuple[str, ...]
    axis: str
    position: Floats
    cost: Floats
    low: Floats
    high: Floats
    confidence: float
    scale: str = "linear"

    def cheapest_ranges(self) -> list[tuple[float, float, str]]:
        """Return the ranges of the path, and which classifier has the lowest cost in each.

        The costs are those of the test set, however uncertain: `compare` tests whether two differ
        at a given place. They are straight lines along the path, so the cheapest classifier changes
        where two lines meet.

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
        ...     mild, harsh)
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
        """Summarise which classifier has the lowest cost where on the path.

        Returns
        -------
        str
            A sentence.
        """
        ranges = ", then ".join(
            f"{name} from {number(low)} to {number(high)}"
            for low, high, name in self.cheapest_ranges()
        )
        return f"Along the path ({self.axis}) the lowest estimated cost is that of {ranges}."

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each classifier and place.

        Returns
        -------
        DataFrame
            With the columns classifier, position, cost, low and high.
        """
        steps = len(self.position)
        return data_frame(
            {
                "classifier": np.repeat(np.array(self.names, dtype=object), steps),
                "position": np.tile(self.position, len(self.names)),
                **{name: getattr(self, name).ravel() for name in ("cost", "low", "high")},
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
        return html_table([self.axis, "lowest cost"], rows, caption=self.summary())


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
) -> CostSensitivity:
    """Return the classifiers' costs along a path of costs.

    For two classes a cost curve shows all costs. For more classes, and for any cost matrix, this
    follows one path through the costs. The decisions of the classifiers stay as they are.

    Parameters
    ----------
    y_true : array_like, shape (n,), or JointConfusion
        The actual class of each example; or the counts, and then no `predictions`.
    predictions : mapping or None
        From the name of each classifier to its decisions.
    costs : CostMatrix or CostRanges
        The start of the path; or ranges of the costs: then one cell's cost goes through its range
        while the others are at their means.
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
        Confidence level of the intervals.

    Returns
    -------
    CostSensitivity
        Costs and intervals at each place of the path.

    Notes
    -----
    At the share s of the way the costs are C_s = (1 - s) C_0 + s C_1, and a classifier's expected
    cost Σ P(i, j) C_s(i, j) is a straight line in s.

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
    >>> found = cost_sensitivity(y_true, predictions, mild, harsh)
    >>> [(round(low, 3), round(high, 3), name) for low, high, name in found.cheapest_ranges()]
    [(0.0, 0.4, 'left'), (0.4, 1.0, 'right')]
    """
    size = validate.as_size(steps, "steps", most=MOST_STEPS)
    if size < FEWEST:
        raise InputError("steps", f"a path has at least a beginning and an end, got {steps!r}.")
    validate.alpha(confidence)
    _check_ends(costs, to, cell)
    joint = y_true
    if not isinstance(y_true, JointConfusion):
        axes: dict[str, Any] = {"labels": costs.labels, "decisions": costs.decisions}
        joint = JointConfusion.from_labels(y_true, predictions or {}, **axes)
    known = costs.mean() if isinstance(costs, CostRanges) else costs
    known.values_for(joint.labels, joint.decisions)  # raises where labels are missing
    design = Design(class_priors, impossible=impossible)
    if isinstance(costs, CostRanges):
        path = cell_path(joint, design, costs, cell, size)
    else:
        path = straight_path(costs, to, size)
    matrices = path.matrices()
    estimates = [
        CostEstimate(table, matrix, design)
        for table in map(joint.single, joint.names)
        for matrix in matrices
    ]
    shape = len(joint.names), size
    low, high = np.moveaxis(intervals_at(estimates, float(confidence)).reshape(*shape, 2), 2, 0)
    return CostSensitivity(
        names=tuple(map(str, joint.names)),
        axis=path.axis,
        position=path.position,
        cost=np.array([each.cost for each in estimates]).reshape(shape),
        low=low,
        high=high,
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


# Many results at once, each at costs of its own.


def intervals_at(results: Sequence[Inference], confidence: float) -> Floats:
    """Return the limits of each result by the default method, shape (results, 2)."""
    found = np.empty((len(results), 2))
    stacked = _stacked(results)
    for place in set(range(len(results))) - set(stacked.places):
        found[place] = tuple(quiet_interval(results[place], confidence))
    if stacked.places:
        found[stacked.places] = np.transpose(
            limits_at(stacked.costs, stacked.counts, 1 - confidence)
        )
    return found


def p_values_at(results: Sequence[Inference]) -> Floats:
    """Return the two-sided p-value by the default method that each mean is 0."""
    found = np.empty(len(results))
    stacked = _stacked(results)
    for place in set(range(len(results))) - set(stacked.places):
        found[place] = _p_value(outcomes_behind(results[place]))
    if stacked.places:
        tails = [tails_at(sign * stacked.costs, stacked.counts) for sign in (1, -1)]
        found[stacked.places] = np.clip(2 * np.minimum(*tails), SMALLEST, 1.0)
    return found


def _p_value(outcomes: Outcomes) -> float:
    if outcomes.lowest == outcomes.highest:  # nothing varies: the mean is known
        return float(outcomes.mean[0] == 0)
    named: dict[str, Any] = {"names": ("first", "second"), "options": {}}
    return run_test(
        outcomes, DEFAULT, alternative="two-sided", margin=0.0, confidence=0.95, **named
    ).p_value


@dataclass(frozen=True, eq=False)
class _Stacked:
    """The results of independent rows: their positions, possible costs and counts."""

    places: list[int]
    costs: Floats
    counts: Floats


def _stacked(results: Sequence[Inference]) -> _Stacked:
    """Return the results of independent rows together; limits need only the costs that occurred.

    The first and the last cost are the extreme ones that are possible. Shorter rows repeat it.
    """
    places, costs, counts = [], [], []
    for place, outcomes in enumerate(map(outcomes_behind, results)):
        alone = outcomes.design == "simple" and len(outcomes.strata) == 1
        if alone and outcomes.lowest < outcomes.highest:
            used = outcomes.only.counts[0] > 0
            used[[0, -1]] = True
            places.append(place)
            costs.append(outcomes.only.costs[used])
            counts.append(outcomes.only.counts[0, used])
    most = max(map(len, costs), default=0)
    return _Stacked(
        places,
        np.array([np.pad(each, (0, most - len(each)), mode="edge") for each in costs]),
        np.array([np.pad(each, (0, most - len(each))) for each in counts]),
    )
