"""Curves made of pieces of straight lines, which is all that a cost curve is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.typing import Floats
from stakes._core.values import ByValue
from stakes.curves.condition import conditions, operating_condition, worst_cost

NO_LENGTH = 1e-12
"""Ranges of operating conditions shorter than this are rounding."""

NO_DIFFERENCE = 1e-14
"""Costs closer than this are the same."""


@dataclass(frozen=True, eq=False)
class Pieces(ByValue):
    """Lines, each of which is followed over one range of operating conditions.

    Attributes
    ----------
    breaks : ndarray, shape (pieces + 1,)
        Where the pieces begin and end, from 0 to 1.
    left, right : ndarray, shape (pieces,)
        The cost of each piece's line at PC(+) = 0 and at PC(+) = 1.
    """

    breaks: Floats
    left: Floats
    right: Floats

    def index(self, pc: Floats) -> NDArray[np.intp]:
        """Return which piece each condition lies on; where two meet, the later one."""
        return np.searchsorted(self.breaks[1:-1], pc, side="right")

    def at(self, pc: Floats) -> Floats:
        """Return the height at each condition."""
        piece = self.index(pc)
        return np.asarray((1 - pc) * self.left[piece] + pc * self.right[piece])

    def height(self, pc: Any) -> Any:
        """Return the height at conditions as a user gives them: a float for one, else an array."""
        condition = conditions(pc)
        heights = self.at(condition)
        return float(heights) if condition.ndim == 0 else heights

    def money(
        self, *, prevalence: Any, false_positive: Any, false_negative: Any, volume: float
    ) -> Any:
        """Return the height in the unit of the costs, for `volume` decisions."""
        given = {
            "prevalence": prevalence,
            "false_positive": false_positive,
            "false_negative": false_negative,
        }
        pc, worst = operating_condition(**given), worst_cost(**given)
        return self.height(pc) * worst * validate.positive(volume, "volume")

    def count(self) -> int:
        """Return how many lines are followed over some range."""
        return int((np.diff(self.breaks) > NO_LENGTH).sum())

    def ends(self) -> tuple[Floats, Floats]:
        """Return the height of each piece at its beginning and at its end."""
        begin, end = self.breaks[:-1], self.breaks[1:]
        return (
            (1 - begin) * self.left + begin * self.right,
            (1 - end) * self.left + end * self.right,
        )

    def area(self) -> float:
        """Return the area under the curve."""
        first, last = self.ends()
        return float(np.diff(self.breaks) @ (first + last) / 2)

    def over(self, breaks: Floats) -> Pieces:
        """Return the same curve cut at more places."""
        piece = self.index(breaks[:-1])
        return Pieces(breaks, self.left[piece], self.right[piece])

    def minus(self, other: Pieces) -> Pieces:
        """Return the difference of two curves."""
        breaks = np.union1d(self.breaks, other.breaks)
        mine, theirs = self.over(breaks), other.over(breaks)
        return Pieces(breaks, mine.left - theirs.left, mine.right - theirs.right)

    def signs(self) -> list[tuple[float, float, int]]:
        """Return the ranges over which the curve is below, on and above zero: -1, 0 and 1."""
        first, last = self.ends()
        flat = np.maximum(np.abs(first), np.abs(last)) <= NO_DIFFERENCE
        crosses = ~flat & (np.sign(first) * np.sign(last) < 0)
        begin, end = self.breaks[:-1], self.breaks[1:]
        run = np.where(crosses, first - last, 1.0)
        root = np.where(crosses, begin + (end - begin) * first / run, end)
        before = np.where(flat, 0, np.sign(np.where(first == 0, last, first)))
        after = np.where(flat, 0, np.sign(np.where(last == 0, first, last)))
        lows = np.column_stack([begin, root]).ravel()
        highs = np.column_stack([root, end]).ravel()
        return merged(lows, highs, np.column_stack([before, after]).ravel().astype(int))


TRIVIAL = Pieces(np.array([0.0, 0.5, 1.0]), np.array([0.0, 1.0]), np.array([1.0, 0.0]))
"""The cheaper of calling all examples negative and calling all positive."""


def average(curves: list[Pieces]) -> Pieces:
    """Return the mean height of several curves at each condition."""
    breaks = np.unique(np.concatenate([each.breaks for each in curves]))
    cut = [each.over(breaks) for each in curves]
    left, right = (
        np.mean([getattr(each, end) for each in cut], axis=0) for end in ("left", "right")
    )
    return Pieces(breaks, left, right)


def merged(lows: Any, highs: Any, signs: Any) -> list[tuple[float, float, int]]:
    """Join neighbouring ranges of the same sign, and leave out those without a length."""
    result: list[tuple[float, float, int]] = []
    for low, high, sign in zip(lows.tolist(), highs.tolist(), signs.tolist(), strict=True):
        if high - low <= NO_LENGTH:
            continue
        if result and result[-1][2] == sign:
            result[-1] = (result[-1][0], high, sign)
        else:
            result.append((result[-1][1] if result else 0.0, high, sign))
    if result:
        result[-1] = (result[-1][0], 1.0, result[-1][2])
    return result
