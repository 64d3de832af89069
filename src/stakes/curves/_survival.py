"""Predicted risks of an event by a time, where some rows were observed for a shorter time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.typing import Floats
from stakes._core.values import ByValue, readonly_copy
from stakes.errors import InputError


@dataclass(frozen=True, eq=False)
class SurvivalRisks(ByValue):
    """Predicted risks with times to an event, in the order of the times.

    Attributes
    ----------
    time : ndarray
        The time of the event, or of the end of observation.
    event : ndarray of bool
        Whether the event occurred at that time.
    risk : ndarray
        The predicted probability of the event by the time `at`.
    at : float
        The time by which the event counts.
    """

    time: Floats
    event: NDArray[np.bool_]
    risk: Floats
    at: float

    @classmethod
    def of(cls, time: Any, event: Any, risk: Any, at: Any) -> Self:
        """Check times, events and risks, and sort them by time."""
        validate.same_index(time=time, event=event, risk=risk)
        times = validate.numeric(time, "time", ndim=1)
        validate.finite(times, "time", "Leave out rows without a time.")
        happened = validate.numeric(event, "event", ndim=1)
        risks = validate.scores(risk, "risk")
        validate.same_length({"time": len(times), "event": len(happened), "risk": len(risks)})
        horizon = validate.one_number(at, "at")
        if not np.isin(happened, (0, 1)).all():
            raise InputError("event", "expected 1 or True for an event, 0 or False for none.")
        if (times < 0).any():
            raise InputError("time", f"expected times from 0 on, got {times.min():g}.")
        if (risks < 0).any() or (risks > 1).any():
            raise InputError(
                "risk", f"expected risks from 0 to 1, got {risks.min():g} to {risks.max():g}."
            )
        if horizon > times.max():
            raise InputError(
                "at", f"no row was observed until {horizon:g}; the longest is {times.max():g}."
            )
        order = np.lexsort((-happened, times))
        found = cls(
            readonly_copy(times[order]),
            readonly_copy(happened[order] > 0),
            readonly_copy(risks[order]),
            horizon,
        )
        if not 0 < found.event_share < 1:
            raise InputError("event", f"expected some events by {horizon:g}, and not only events.")
        return found

    def __len__(self) -> int:
        return len(self.time)

    @cached_property
    def event_share(self) -> float:
        """The Kaplan-Meier estimate of the share of rows with an event by the time `at`."""
        return self._risk(np.ones(len(self), dtype=bool))[0]

    def at_thresholds(
        self, thresholds: Floats, *, below: bool = False
    ) -> tuple[Floats, Floats, Floats]:
        """Return the share of rows at or above each threshold, their risk, its effective size."""
        found = []
        for threshold in thresholds:
            chosen = (self.risk >= threshold) != below
            found.append((chosen.mean(), *(self._risk(chosen) if chosen.any() else (0.0, 0.0))))
        columns = np.array(found, dtype=np.float64).T
        return columns[0], columns[1], columns[2]

    def _risk(self, chosen: NDArray[np.bool_]) -> tuple[float, float]:
        """Return the share with an event by the time `at`, and the effective number of rows.

        The share without an event is the product of 1 - d/r over the times of events, d of them
        among the r rows still observed. Its variance is Greenwood's.
        """
        times, events = self.time[chosen], self.event[chosen]
        starts = np.flatnonzero(np.append(True, np.diff(times) > 0))
        left = len(times) - starts
        died = np.add.reduceat(events.astype(np.int64), starts)
        early = (times[starts] <= self.at) & (died > 0)
        left, died = left[early], died[early]
        alive = float(np.prod(1 - died / left))
        known = float((events & (times <= self.at)).sum() + (times > self.at).sum())
        if alive in (0.0, 1.0):
            return 1 - alive, max(known, 1.0)
        noise = alive**2 * float((died / (left * (left - died))).sum())
        return 1 - alive, alive * (1 - alive) / noise
