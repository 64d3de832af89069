"""A height at every operating condition, made of straight lines, and the band around it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

from stakes import _validate
from stakes._core.typing import Floats
from stakes.curves.band import Band, is_full, make_band
from stakes.curves.condition import (
    condition_list,
    conditions,
    operating_condition,
    worst_cost,
)
from stakes.curves.pieces import NO_LENGTH, Pieces
from stakes.curves.sampling import Sample, mean, variance
from stakes.errors import DesignError


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
        """Return the area under the curve: the expected cost if all conditions are as likely.

        Returns
        -------
        float
            ∫ cost(x) dx over PC(+) from 0 to 1.

        References
        ----------
        Drummond, C. & Holte, R. C. (2006). Cost curves: an improved method for visualizing
        classifier performance. *Machine Learning* 65, 95-130.

        Examples
        --------
        >>> from stakes import CostLine
        >>> line = CostLine(fpr=0.1, tpr=0.8, positives=200, negatives=800, name="model")
        >>> round(line.area(), 3)
        0.15
        """
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

        Returns
        -------
        float or ndarray
            The cost, or the difference.

        Notes
        -----
        volume · NE(x) · [p c_fn + (1 - p) c_fp] with x = p c_fn/[p c_fn + (1 - p) c_fp], p being
        the prevalence.

        References
        ----------
        Holte, R. C. & Drummond, C. (2005). Cost-sensitive classifier evaluation. *UBDM 2005*,
        equation 1.

        Examples
        --------
        >>> from stakes import CostLine
        >>> line = CostLine(fpr=0.1, tpr=0.8, positives=200, negatives=800, name="model")
        >>> round(line.money(prevalence=0.05, false_positive=1, false_negative=30, volume=1000), 2)
        395.0
        """
        given = {
            "prevalence": prevalence,
            "false_positive": false_positive,
            "false_negative": false_negative,
        }
        pc, worst = operating_condition(**given), worst_cost(**given)
        return self._height(pc) * worst * _validate.positive(volume, "volume")

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

        Returns
        -------
        Band
            The height and its limits at each condition.

        Notes
        -----
        The height is x q⁺ + (1 - x) q⁻ with x = PC(+) and q⁺, q⁻ the shares of mistakes in the
        positives and in the negatives; for a difference, of the mistakes that the first alone
        makes, less those of the second. "mover" takes limits l and u of each share, the quantiles
        of Beta(k, n - k + w) and Beta(k + w, n - k) for k mistakes in n, ``weight`` being w = 0.7.
        The lower limit of the height then is √(x² (q⁺ - l⁺)² + (1 - x)² (q⁻ - l⁻)²) below it, and
        the upper one √(x² (u⁺ - q⁺)² + (1 - x)² (u⁻ - q⁻)²) above. "gaussian" takes z standard
        deviations, √(x² q⁺(1 - q⁺)/n⁺ + (1 - x)² q⁻(1 - q⁻)/n⁻), on either side.

        References
        ----------
        Holte, R. C. & Drummond, C. (2005). Cost-sensitive classifier evaluation. *UBDM 2005*,
        section 8.

        Dugas, C. & Gadoury, D. (2008). Pointwise exact bootstrap distributions of cost curves.
        *ICML 2008*, equations 4 to 13.

        Zou, G. Y. & Donner, A. (2008). Construction of confidence limits about effect measures: a
        general approach. *Statistics in Medicine* 27.

        Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference.
        *Journal of the American Statistical Association* 22, 209-212.

        Examples
        --------
        >>> from stakes import CostLine
        >>> line = CostLine(fpr=0.1, tpr=0.8, positives=200, negatives=800, name="model")
        >>> band = line.band(0.9, pc=[0.01, 0.75])
        >>> band.low.round(3).tolist(), band.high.round(3).tolist()
        ([0.084, 0.141], [0.12, 0.214])
        >>> print(line.band(simultaneous=True).summary())
        A 95 % band (simultaneous, mover) at 201 operating conditions; at its widest, at PC(+) = 1,
        from 0.1379 to 0.2736.
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

        Returns
        -------
        mean, variance : ndarray
            One for each condition.

        Notes
        -----
        With stratified sampling, mean = x(1 - p) + (1 - x) q and variance = x² p(1 - p)/n⁺ +
        (1 - x)² q(1 - q)/n⁻, x being PC(+), p the true and q the false positive rate.

        References
        ----------
        Dugas, C. & Gadoury, D. (2008). Pointwise exact bootstrap distributions of cost curves.
        *ICML 2008*, equations 4 to 13.

        Examples
        --------
        Holte & Drummond's Figure 11, 16 of 20 positives and 4 of 10 negatives called positive:

        >>> from stakes import CostLine
        >>> mean, variance = CostLine(0.4, 0.8, positives=20, negatives=10).moments([0.5])
        >>> mean.round(4).tolist(), variance.round(4).tolist()
        ([0.3], [0.008])
        """
        where = condition_list(pc)
        sample = self._sample(where, full=is_full(sampling))
        return mean(sample), variance(sample)

    def _lines(self) -> int:
        """Return how many lines are followed over some range."""
        return int((np.diff(self.pieces.breaks) > NO_LENGTH).sum())


def no_sizes() -> DesignError:
    """Say that a band needs to know how many examples there were."""
    return DesignError(
        "positives, negatives: without the numbers of examples there is no band; give them, as in "
        "CostLine(0.04, 0.4, positives=200, negatives=800)."
    )
