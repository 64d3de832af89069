"""A height at every operating condition, made of straight lines, and the band around it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes import _validate
from stakes.curves.band import Band, is_full, make_band
from stakes.curves.condition import (
    condition_list,
    conditions,
    operating_condition,
    worst_cost,
)
from stakes.curves.pieces import NO_LENGTH, Pieces
from stakes.curves.sampling import Sample, mean, variance
from stakes.errors import DesignError, InputError

Floats = NDArray[np.float64]


class Height(ABC):
    """What a cost curve and the difference of two have in common."""

    _within = (0.0, 1.0)

    @property
    @abstractmethod
    def pieces(self) -> Pieces:
        """The lines of which the curve is made."""

    @abstractmethod
    def _sample(self, pc: Floats, *, full: bool) -> Sample:
        """Return the counts that the curve's height is made of."""

    @property
    def chosen_on(self) -> str:
        """Where the thresholds were chosen; empty where there is nothing to choose."""
        return ""

    def area(self) -> float:
        """Return the area under the curve: the expected cost if all conditions are as likely."""
        return self.pieces.area()

    def _height(self, pc: Any) -> Any:
        condition = conditions(pc)
        heights = self.pieces.at(condition)
        return float(heights) if condition.ndim == 0 else heights

    def money(
        self, *, prevalence: Any, false_positive: Any, false_negative: Any, volume: float = 1
    ) -> Any:
        """Return the expected cost (or difference) of `volume` decisions, in the unit of the costs.

        Parameters
        ----------
        prevalence, false_positive, false_negative
            As in `operating_condition`.
        volume : float, default 1
            The number of decisions.
        """
        given = {
            "prevalence": prevalence,
            "false_positive": false_positive,
            "false_negative": false_negative,
        }
        pc, worst = operating_condition(**given), worst_cost(**given)
        return self._height(pc) * worst * checked_volume(volume)

    def band(
        self,
        confidence: float = 0.95,
        method: str = "mover",
        *,
        sampling: str = "stratified",
        simultaneous: bool = False,
        pc: Any = None,
        **options: Any,
    ) -> Band:
        """Return limits for the curve at each operating condition.

        Parameters
        ----------
        confidence : float, default 0.95
            How sure the limits are to be.
        method : {"mover", "wilson", "gaussian", "exact", "bootstrap"}
            "mover" combines intervals of the two rates of mistakes and holds everywhere; "wilson"
            is the same with Wilson's limits; "gaussian" is Dugas & Gadoury's, "exact" the bootstrap
            distribution itself, and "bootstrap" Holte & Drummond's; these three have no width
            where no mistake was seen.
        sampling : {"stratified", "full"}
            Whether the numbers of positives and of negatives are given, as at a deployment whose
            prevalence is known, or vary as they do in a test set drawn as a whole.
        simultaneous : bool, default False
            Whether the limits are to hold at all operating conditions at once.
        pc : array_like, optional
            The conditions; by default 201 from 0 to 1.
        **options
            What the method takes: ``weight`` (mover), ``n_resamples`` and ``rng`` (bootstrap).
        """
        where = condition_list(pc)
        return make_band(
            where,
            self._sample(where, full=is_full(sampling)),
            lines=self._lines(),
            within=self._within,
            chosen_on=self.chosen_on,
            confidence=confidence,
            method=method,
            sampling=sampling,
            simultaneous=simultaneous,
            options=options,
        )

    def moments(self, pc: Any = None, *, sampling: str = "stratified") -> tuple[Floats, Floats]:
        """Return the mean and the variance of the bootstrap distribution at each condition.

        Dugas & Gadoury's (2008) equations 4 and 5 for one classifier, 7 and 8 for a difference;
        with full sampling 9 and 10, 12 and 13. The latter are here in the unit of the former: the
        paper's costs are (n⁺ c_fn + n⁻ c_fp) / (n c_max) times these.

        Parameters
        ----------
        pc, sampling
            As in `band`.
        """
        where = condition_list(pc)
        sample = self._sample(where, full=is_full(sampling))
        return mean(sample), variance(sample)

    def _lines(self) -> int:
        """Return how many lines are followed over some range."""
        return int((np.diff(self.pieces.breaks) > NO_LENGTH).sum())


def checked_volume(volume: Any) -> float:
    """Check a number of decisions."""
    decisions = _validate.one_number(volume, "volume")
    if decisions <= 0:
        raise InputError(f"volume: expected a positive number of decisions, got {decisions:g}.")
    return decisions


def no_sizes() -> DesignError:
    """Say that a band needs to know how many examples there were."""
    return DesignError(
        "positives, negatives: without the numbers of examples there is no band; give them, as in "
        "CostLine(0.04, 0.4, positives=200, negatives=800)."
    )
