"""The nearest value of a cost or of the prevalence at which another policy is the cheapest.

Which policy is the cheapest is a step function of the costs that may change back and forth. So it
is evaluated at factors close to 1 first, and the first change is narrowed down by bisection.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass

import numpy as np

from stakes._core.typing import Floats

FARTHEST = 100.0
"""Largest factor by which a cost, or the odds of the positive class, is changed."""

FACTORS = np.concatenate([10 ** (np.arange(1, 21) / 40), 10 ** (np.arange(6, 21) / 10)])
"""Factors at which the cheapest policy is found until it is another one, closer together near 1."""

FEWEST_DIGITS, MOST_DIGITS = 3, 9
NEAR = 1e-3
"""Relative distance from a stated turning point at which the cheapest policies are as stated."""


@dataclass(frozen=True, eq=False)
class Quantity:
    """A cost or the prevalence, and what it changes.

    Attributes
    ----------
    now : float
        The stated value.
    cells : ndarray of bool, shape (decisions, classes)
        The costs that are multiplied: one of them, or the column of the positive class.
    share : bool
        Whether it is the prevalence, whose odds are multiplied.
    """

    now: float
    cells: Floats
    share: bool = False

    def at(self, factor: float) -> float:
        """Return the value at a factor."""
        if not self.share:
            return self.now * factor
        odds = factor * self.now / (1 - self.now)
        return odds / (1 + odds)

    def factor(self, value: float) -> float:
        """Return the factor of a value."""
        if not self.share:
            return value / self.now
        return value / (1 - value) * (1 - self.now) / self.now


def turn(
    quantity: Quantity,
    usual: Hashable,
    cheapest: Callable[[float], Hashable],
    *,
    up: bool,
) -> tuple[float, float] | None:
    """Return the nearest value at which another policy is the cheapest, and a factor beyond it.

    The value has as few digits as state it to within `NEAR`: just before it the cheapest policy is
    the usual one, and just beyond it the one at the factor that is returned.

    Parameters
    ----------
    quantity : Quantity
        The cost or the prevalence.
    usual : hashable
        The cheapest policy at the stated value.
    cheapest : callable
        Returns which policy is the cheapest at a factor.
    up : bool
        Whether factors above 1 are tried, instead of those below.
    """
    sign = 1 if up else -1
    before, after = 0.0, 0.0  # logarithms
    for after in sign * np.log(FACTORS):
        if cheapest(np.exp(after)) != usual:
            break
        before = after
    else:
        return None
    for digits in range(FEWEST_DIGITS, MOST_DIGITS + 1):
        while abs(after - before) > 10.0 ** -(digits + 1):
            middle = (before + after) / 2
            if cheapest(np.exp(middle)) == usual:
                before = middle
            else:
                after = middle
        value = float(f"{quantity.at(np.exp((before + after) / 2)):.{digits}g}")
        room, there = sign * min(NEAR, 10.0 ** (1 - digits)), quantity.factor(value)
        beyond = there * np.exp(room)
        just = cheapest(there * np.exp(-room)), cheapest(beyond)
        if just == (usual, cheapest(np.exp(after))):
            break
    return value, beyond
