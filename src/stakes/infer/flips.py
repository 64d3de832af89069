"""Find how far a cost can change before the other classifier becomes the cheaper one."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from stakes._core.labels import Label
from stakes._core.optional import data_frame
from stakes._core.text import html_values, number
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.counts import GroupedConfusion, JointConfusion
from stakes.errors import DesignError, InputError
from stakes.infer._shares import cell_shares
from stakes.infer.difference import CostDifference


@dataclass(frozen=True, eq=False)
class Flip(Result):
    """At which cost of one cell, all others as they are, the verdict changes.

    Attributes
    ----------
    decision, label : label
        The cell.
    cost : float
        The current cost of the cell.
    at : float or None
        The cost at which both classifiers cost the same; None if there is none.
    holds : {"above", "below", "always"}
        On which side of `at` the verdict holds.

    Examples
    --------
    >>> from stakes import CostMatrix, compare, flip_region
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> found = flip_region(compare(
    ...     [0] * 60 + [1] * 40, [0] * 40 + [1] * 60, [0] * 63 + [1] * 37, costs,
    ...     names=("eager", "shy")))
    >>> miss = next(flip for flip in found.flips if (flip.decision, flip.label) == (0, 1))
    >>> miss.cost, round(miss.at, 3), miss.holds
    (10.0, 6.667, 'above')
    """

    decision: Label
    label: Label
    cost: float
    at: float | None
    holds: str


@dataclass(frozen=True, eq=False, repr=False)
class FlipRegion(Result):
    """The region of costs in which the cheaper classifier stays the cheaper one.

    The difference is linear in the costs: Σ gradient · C. The verdict holds on one side of the
    plane where that is zero.

    Attributes
    ----------
    cheaper, other : str
        The classifier that is cheaper at the costs given, and the other.
    gradient : ndarray, shape (decisions, classes)
        The change of the difference when a cell's cost rises by one.
    flips : tuple of Flip
        For each cell, the cost at which the verdict changes.
    ratio : float or None
        For two classes with free correct decisions: the ratio of the two mistakes' costs at which
        the verdict changes, that of predicting the first label when it was the second to the other.
    ratio_now : float or None
        That ratio of the costs given.
    labels : tuple
        The classes.

    Examples
    --------
    >>> from stakes import CostMatrix, compare, flip_region
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> found = flip_region(compare(
    ...     [0] * 60 + [1] * 40, [0] * 40 + [1] * 60, [0] * 63 + [1] * 37, costs,
    ...     names=("eager", "shy")))
    >>> found.cheaper, round(found.ratio, 3), found.ratio_now
    ('eager', 6.667, 10.0)
    >>> found.gradient.tolist()
    [[-0.2, -0.03], [0.2, 0.03]]
    """

    cheaper: str
    other: str
    gradient: Floats
    flips: tuple[Flip, ...]
    ratio: float | None
    ratio_now: float | None
    labels: tuple[Label, ...]

    def summary(self, *, shown: bool = True) -> str:
        """Summarise how far the costs can change before the verdict does.

        Parameters
        ----------
        shown : bool, default True
            Whether the difference is shown by a test; otherwise the sentence is about averages.

        Returns
        -------
        str
            A sentence.
        """
        lead = f"{self.cheaper} stays cheaper than {self.other}"
        if not shown:
            lead = (
                f"{self.cheaper} is not shown to be cheaper than {self.other}; its average cost "
                "stays lower"
            )
        if self.ratio is not None and self.ratio_now is not None:
            side = "more" if self.ratio_now > self.ratio else "less"
            first, second = self.labels
            return (
                f"{lead} as long as predicting {first!r} when it was {second!r} costs {side} than "
                f"{number(self.ratio)} × the opposite mistake (now {number(self.ratio_now)} ×)."
            )
        lines = [
            f"predicting {flip.decision!r} when it was {flip.label!r} costs "
            f"{'more' if flip.holds == 'above' else 'less'} than {number(flip.at)} "
            f"(now {number(flip.cost)})"
            for flip in self.flips
            if flip.at is not None
        ]
        if not lines:
            return f"{lead} whatever any one cell costs."
        return f"{lead}, changing one cost at a time, as long as {'; '.join(lines)}."

    def to_dict(self) -> dict[str, Any]:
        """Return the region as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return {
            "cheaper": self.cheaper,
            "other": self.other,
            "gradient": self.gradient.tolist(),
            "ratio": self.ratio,
            "ratio_now": self.ratio_now,
            "flips": [asdict(flip) for flip in self.flips],
        }

    def to_frame(self) -> Any:
        """Return the cost of each cell at which the verdict changes, as a pandas data frame.

        Returns
        -------
        DataFrame
            With a row for each cell, and the attributes of `Flip` as columns.

        Examples
        --------
        >>> from stakes import CostMatrix, compare, flip_region
        >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
        >>> found = flip_region(compare(
        ...     [0] * 60 + [1] * 40, [0] * 40 + [1] * 60, [0] * 63 + [1] * 37, costs))
        >>> [*found.to_frame().columns]
        ['decision', 'label', 'cost', 'at', 'holds']
        """
        return data_frame([asdict(flip) for flip in self.flips])

    def _repr_html_(self) -> str:
        values = {
            "cheaper": self.cheaper,
            "other": self.other,
            "costs of the two mistakes, ratio now": self.ratio_now,
            "ratio at which the other is as cheap": self.ratio,
        }
        return html_values(values, self.summary())

    def __repr__(self) -> str:
        return self.summary()


def flip_region(difference: CostDifference) -> FlipRegion:
    """Return how far costs can move before the other classifier becomes the cheaper one.

    Parameters
    ----------
    difference : CostDifference
        The comparison, with a cost matrix.

    Returns
    -------
    FlipRegion
        The costs at which the verdict changes, and the side on which it holds.

    Notes
    -----
    The difference is linear in the costs, d = Σ g(i, j) C(i, j), with g(i, j) the share of examples
    of class j for which the first classifier decides i, minus that of the second. So both cost the
    same when the cost of one cell changes to C(i, j) - d/g(i, j); with two classes and free correct
    decisions, at the ratio C(0, 1)/C(1, 0) = -g(1, 0)/g(0, 1).

    Examples
    --------
    >>> from stakes import CostMatrix, compare, flip_region
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true = [0] * 60 + [1] * 40
    >>> found = flip_region(compare(
    ...     y_true, [0] * 40 + [1] * 60, [0] * 63 + [1] * 37, costs, names=("eager", "shy")))
    >>> print(found.summary())
    eager stays cheaper than shy as long as predicting 0 when it was 1 costs more than 6.667 × the
    opposite mistake (now 10 ×).
    """
    if difference.costs is None:
        raise DesignError(
            "difference", "costs of single examples have no cells whose cost could change."
        )
    paired = difference.paired
    sparse = isinstance(paired, JointConfusion)  # with very many classes
    table: Any = paired if sparse else difference._table()  # noqa: SLF001 - the same subpackage
    costs = difference.costs.values_for(table.labels, table.decisions)
    first, second = table.first, table.second
    if difference.design.class_priors is None and not isinstance(paired, GroupedConfusion):
        gradient = np.asarray((first.counts - second.counts) / table.n)
    else:
        pair = cell_shares(paired, difference.design)
        gradient = pair.sum(axis=1) - pair.sum(axis=0)
    now = float((gradient * costs).sum())
    if now == 0:
        raise InputError(
            "difference",
            "both classifiers cost exactly the same, so there is no verdict to change.",
        )
    sign = np.sign(now)
    flips = []
    for (i, j), slope in np.ndenumerate(gradient):
        at = None if slope == 0 else float(costs[i, j] - now / slope)
        holds = "always" if at is None else "above" if sign * slope > 0 else "below"
        flips.append(Flip(table.decisions[i], table.labels[j], float(costs[i, j]), at, holds))
    ratio = ratio_now = None
    plain = costs.shape == (2, 2) and table.decisions == table.labels and not np.diag(costs).any()
    if plain and costs[1, 0] > 0 and gradient[0, 1] != 0:
        ratio = float(-gradient[1, 0] / gradient[0, 1])
        ratio_now = float(costs[0, 1] / costs[1, 0])
        ratio = ratio if ratio > 0 else None
    names = difference.names if now < 0 else difference.names[::-1]
    return FlipRegion(names[0], names[1], gradient, tuple(flips), ratio, ratio_now, table.labels)
