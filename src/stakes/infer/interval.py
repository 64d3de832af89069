"""The interval that every method returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from stakes._table import number, percent


@dataclass(frozen=True)
class Interval:
    """A confidence interval for an expected cost or a difference of two.

    Attributes
    ----------
    low, high : float
        The limits.
    confidence : float
        How sure they are meant to be.
    method : str
        The method that gave them; for ``"auto"``, the one that was chosen.

    Examples
    --------
    >>> from stakes import Confusion, CostEstimate, CostMatrix
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> low, high = CostEstimate(Confusion([[50, 2], [8, 40]], labels=[0, 1]), costs).interval()
    >>> round(low, 3), round(high, 3)
    (0.093, 0.739)
    """

    low: float
    high: float
    confidence: float
    method: str

    def __iter__(self) -> Iterator[float]:
        return iter((self.low, self.high))

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def width(self) -> float:
        """The distance between the limits."""
        return self.high - self.low

    def times(self, volume: float) -> Interval:
        """Return the interval for the total of `volume` decisions.

        Parameters
        ----------
        volume : float
            The number of decisions.

        Returns
        -------
        Interval
            With both limits multiplied.

        Examples
        --------
        >>> from stakes import Interval
        >>> Interval(0.1, 0.75, confidence=0.95, method="extremal").times(1000)
        Interval(low=100.0, high=750.0, confidence=0.95, method='extremal')
        """
        low, high = sorted((self.low * volume, self.high * volume))
        return replace(self, low=low, high=high)

    def summary(self) -> str:
        """Write the interval out.

        Returns
        -------
        str
            The limits and the confidence.
        """
        return f"{number(self.low)} to {number(self.high)} ({percent(self.confidence)} confidence)"

    def to_dict(self) -> dict[str, Any]:
        """Return the interval as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return {
            "low": self.low,
            "high": self.high,
            "confidence": self.confidence,
            "method": self.method,
        }
