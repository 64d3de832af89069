"""What was printed beside what was measured."""

from __future__ import annotations

import math
from dataclasses import dataclass

from stakes.lab.experiment import Experiment, Printed, Results, Row

AGREES, NOISE, DIFFERS, SAID = "agrees", "within noise", "differs", "see findings"
ERRORS = 3
"""How many standard errors a difference may have and still be noise."""

ROUNDING = 1e-9
"""A difference that is so near to what is allowed is allowed: 0.73 is within 0.03 of 0.7."""


@dataclass(frozen=True)
class Verdict:
    """A printed number beside a measured one."""

    printed: Printed
    row: Row
    word: str

    @property
    def difference(self) -> float:
        """What ours is above the printed number."""
        return float(self.row["value"]) - self.printed.value


def verdicts(experiment: Experiment, results: Results) -> list[Verdict]:
    """Set every printed number beside its own."""
    found = []
    for printed in experiment.printed:
        row = results.only(**printed.where)
        found.append(Verdict(printed, row, _word(printed, row)))
    return found


def _word(printed: Printed, row: Row) -> str:
    if math.isnan(printed.value):
        return SAID
    off = abs(float(row["value"]) - printed.value) - ROUNDING
    error = float(row["error"])
    if off <= printed.within:
        return AGREES
    if printed.always or off > printed.within + ERRORS * error:
        return DIFFERS
    return NOISE
