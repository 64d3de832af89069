"""Base classes of all cost curves: single lines, envelopes and averages."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.optional import data_frame
from stakes._core.text import html_values, number
from stakes._core.typing import Floats
from stakes.curves._sampling import Sample
from stakes.curves.band import Band, Verdicts, bootstrap_moments, make_band, verdicts
from stakes.curves.condition import BEST_CONSTANT, CostAt, Pieces, operating_condition, worst_cost
from stakes.errors import InputTypeError


class OverConditions(ABC):
    """A function of the operating condition PC(+): a cost, or a difference of two costs."""

    @property
    @abstractmethod
    def pieces(self) -> Pieces:
        """The line segments that make up the curve."""

    @abstractmethod
    def _sample(self, pc: Floats, full: bool) -> Sample:
        """Return the counts from which the curve's height and its band are computed."""

    def money(
        self, *, prevalence: Any, false_positive: Any, false_negative: Any, volume: float = 1
    ) -> Any:
        """Return the expected cost of `volume` decisions, in the unit of the costs.

        For a difference of two curves, this is the extra cost of the first classifier.

        Parameters
        ----------
        prevalence, false_positive, false_negative
            As in `operating_condition`.
        volume : float, default 1
            The number of decisions.

        Returns
        -------
        float or ndarray
            The cost, or the difference of the costs.

        Notes
        -----
        The cost is volume · NE(x) · [p c_fn + (1 - p) c_fp] with x = p c_fn/[p c_fn + (1 - p)
        c_fp], p being the prevalence and NE(x) the height at PC(+) = x.

        References
        ----------
        Holte & Drummond (2005), equation 1.

        Examples
        --------
        >>> from stakes import CostLine
        >>> line = CostLine(fpr=0.1, tpr=0.8, positives=200, negatives=800, name="model")
        >>> round(line.money(prevalence=0.05, false_positive=1, false_negative=30, volume=1000), 2)
        395.0
        """
        return self.pieces.money(
            prevalence=prevalence,
            false_positive=false_positive,
            false_negative=false_negative,
            volume=volume,
        )

    def moments(self, pc: Any = None, *, sampling: str = "stratified") -> tuple[Floats, Floats]:
        """Return the mean and the variance of the bootstrap distribution at each condition.

        Dugas & Gadoury's (2008) equations 4 and 5, for a difference of two curves 7 and 8; with
        full sampling 9 and 10, or 12 and 13. Moments of full sampling have the unit of those of
        stratified sampling: the paper's costs are (n⁺ c_fn + n⁻ c_fp) / (n c_max) times these.

        Parameters
        ----------
        pc, sampling
            As in `band`.

        Returns
        -------
        mean, variance : ndarray
            The two moments at each condition.

        Notes
        -----
        For one curve with stratified sampling, mean = x(1 - p) + (1 - x) q and variance = x² p(1 -
        p)/n⁺ + (1 - x)² q(1 - q)/n⁻, x being PC(+), p the true and q the false positive rate.

        References
        ----------
        Dugas & Gadoury (2008), equations 4 to 13.

        Examples
        --------
        Holte & Drummond's Figure 11, 16 of 20 positives and 4 of 10 negatives called positive:

        >>> from stakes import CostLine
        >>> mean, variance = CostLine(0.4, 0.8, positives=20, negatives=10).moments([0.5])
        >>> mean.round(4).tolist(), variance.round(4).tolist()
        ([0.3], [0.008])
        """
        return bootstrap_moments(self._sample, pc, sampling)


class Curve(OverConditions):
    """The normalised expected cost as a function of the operating condition PC(+)."""

    name: str
    _nameless = "the classifier"
    _choice = "thresholds"

    @property
    def chosen_on(self) -> str:
        """The examples on which thresholds were chosen; empty if there are none to choose."""
        return ""

    def title(self) -> str:
        """Return the curve's name, or a generic title if it has none.

        Returns
        -------
        str
            The name or title.
        """
        return self.name or self._nameless

    def cost(self, pc: Any) -> Any:
        """Return the normalised expected cost, from 0 to 1, at operating conditions.

        Parameters
        ----------
        pc : float or array_like
            The operating conditions PC(+), from 0 to 1.

        Returns
        -------
        float or ndarray
            The cost at each condition.

        Notes
        -----
        The normalised expected cost at PC(+) = x is fpr (1 - x) + (1 - tpr) x, with the rates of
        the line that makes up the curve there.

        References
        ----------
        Holte & Drummond (2005), section 2.

        Examples
        --------
        >>> from stakes import CostLine
        >>> line = CostLine(fpr=0.1, tpr=0.8, positives=200, negatives=800, name="model")
        >>> round(line.cost(0.75), 3)
        0.175
        >>> line.cost([0, 0.75, 1]).round(3).tolist()
        [0.1, 0.175, 0.2]
        """
        return self.pieces.height(pc)

    def area(self) -> float:
        """Return the area under the curve: the expected cost if all conditions are equally likely.

        Returns
        -------
        float
            ∫ cost(x) dx over PC(+) from 0 to 1.

        References
        ----------
        Drummond & Holte (2006).

        Examples
        --------
        >>> from stakes import CostLine
        >>> line = CostLine(fpr=0.1, tpr=0.8, positives=200, negatives=800, name="model")
        >>> round(line.area(), 3)
        0.15
        """
        return self.pieces.area()

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
            Confidence level of the limits.
        method : {"mover", "wilson", "gaussian", "exact", "bootstrap"}
            "mover" combines intervals of the two error rates and is valid everywhere; "wilson"
            is the same with Wilson's limits; "gaussian" is Dugas & Gadoury's, "exact" the bootstrap
            distribution itself, and "bootstrap" Holte & Drummond's; these three have zero width
            where no mistake was observed.
        sampling : {"stratified", "full"}
            Whether the numbers of positives and of negatives are fixed, as for a deployment whose
            prevalence is known, or random, as in a test set sampled as a whole.
        simultaneous : bool, default False
            Whether the limits hold at all operating conditions at once.
        pc : array_like, optional
            The conditions; by default 201 from 0 to 1.
        **options
            Options of the method: ``weight`` (mover), ``n_resamples`` and ``rng`` (bootstrap).

        Returns
        -------
        Band
            The height and its limits at each condition.

        Notes
        -----
        The height is x q⁺ + (1 - x) q⁻ with x = PC(+) and q⁺, q⁻ the error rates of the positives
        and of the negatives. "mover" uses limits l and u of each rate, the quantiles of
        Beta(k, n - k + w) and Beta(k + w, n - k) for k mistakes in n, ``weight`` being w = 0.7.
        The lower limit of the height then is √(x² (q⁺ - l⁺)² + (1 - x)² (q⁻ - l⁻)²) below it, and
        the upper one √(x² (u⁺ - q⁺)² + (1 - x)² (u⁻ - q⁻)²) above. "gaussian" takes z standard
        deviations, √(x² q⁺(1 - q⁺)/n⁺ + (1 - x)² q⁻(1 - q⁻)/n⁻), on either side.

        References
        ----------
        Holte & Drummond (2005), section 8.

        Dugas & Gadoury (2008), equations 4 to 13.

        Zou & Donner (2008).

        Wilson (1927).

        Examples
        --------
        >>> from stakes import CostLine
        >>> line = CostLine(fpr=0.1, tpr=0.8, positives=200, negatives=800, name="model")
        >>> band = line.band(0.9, pc=[0.01, 0.75])
        >>> band.low.round(3).tolist(), band.high.round(3).tolist()
        ([0.084, 0.141], [0.12, 0.214])
        >>> print(line.band(simultaneous=True).summary())
        A 95% band (simultaneous, mover) at 201 operating conditions; at its widest, at PC(+) = 1,
        from 0.1379 to 0.2736.
        """
        return make_band(
            self._sample,
            self.pieces,
            within=(0.0, 1.0),
            confidence=confidence,
            method=method,
            sampling=sampling,
            simultaneous=simultaneous,
            pc=pc,
            options=options,
            chosen_on=self.chosen_on,
        )

    def at(
        self,
        pc: float | None = None,
        *,
        prevalence: float | None = None,
        false_positive: float | None = None,
        false_negative: float | None = None,
        volume: float = 1,
        confidence: float = 0.95,
        **options: Any,
    ) -> CostAt:
        """Return the cost at one operating condition, with its confidence interval.

        Parameters
        ----------
        pc : float, optional
            The condition PC(+). Or give the next three instead; costs are then in their unit.
        prevalence, false_positive, false_negative : float, optional
            As in `operating_condition`.
        volume : float, default 1
            The number of decisions that `cost` is for; only with these three.
        confidence : float, default 0.95
            Confidence level of the interval.
        **options
            As in `band`: ``method``, ``sampling`` and so on.

        Returns
        -------
        CostAt
            The cost, its interval, and the threshold to use.

        Notes
        -----
        In the unit of the costs, it is volume · NE(x) · [p c_fn + (1 - p) c_fp] with x = p c_fn/[p
        c_fn + (1 - p) c_fp], p being the prevalence.

        References
        ----------
        Holte & Drummond (2005), equation 1.

        Examples
        --------
        >>> from stakes import CostLine
        >>> line = CostLine(fpr=0.1, tpr=0.8, positives=200, negatives=800, name="model")
        >>> print(line.at(prevalence=0.05, false_positive=1, false_negative=30).summary())
        At PC(+) = 0.6122 model costs 0.395 (0.3135 to 0.4889 with 95% confidence); calling all
        positive costs 0.95.
        """
        parts = {
            "prevalence": prevalence,
            "false_positive": false_positive,
            "false_negative": false_negative,
        }
        missing = [name for name, value in parts.items() if value is None]
        scale, in_money = 1.0, False
        if pc is None and not missing:
            pc = operating_condition(**parts)
            scale, in_money = (
                worst_cost(**parts) * validate.positive(volume, "volume"),
                True,
            )
        elif pc is None or len(missing) < len(parts) or volume != 1:
            raise InputTypeError(
                "pc, prevalence, false_positive, false_negative",
                "give either pc=, or prevalence=, false_positive= and false_negative= together "
                "(and then volume=, if you like).",
            )
        where = validate.one_number(pc, "pc")
        validate.alpha(confidence)
        limits: tuple[float, float] | None = None
        if self.sized:
            band = self.band(confidence, pc=[where], **options)
            limits = float(band.low[0] * scale), float(band.high[0] * scale)
        return CostAt(
            name=self.title(),
            pc=where,
            cost=self.cost(where) * scale,
            limits=limits,
            confidence=confidence,
            threshold=self._threshold_at(where),
            rule=self._rule_at(where),
            constant=float(BEST_CONSTANT.at(np.asarray(where))) * scale,
            scale=scale,
            in_money=in_money,
            volume=float(volume),
            chosen_on=self.chosen_on,
        )

    @property
    def sized(self) -> bool:
        """Whether the numbers of examples are known, which a band needs."""
        return True

    def _threshold_at(self, pc: float) -> float | None:  # noqa: ARG002 - used by curves with thresholds
        return None

    def _rule_at(self, pc: float) -> str:  # noqa: ARG002 - used by curves with thresholds
        return ""

    def operating_range(self) -> tuple[tuple[float, float], ...]:
        """Return the ranges of PC(+) in which the curve is below the constant predictions.

        Outside of them, calling all examples negative, or all positive, costs no more. There is at
        most one range, or several if the thresholds were chosen on other examples.

        Returns
        -------
        tuple of (low, high)
            The ranges.

        Notes
        -----
        The ranges are where cost(x) < min(x, 1 - x), the cost of the better constant prediction.

        References
        ----------
        Holte & Drummond (2005), section 4.

        Examples
        --------
        >>> from stakes import CostLine
        >>> line = CostLine(fpr=0.1, tpr=0.8, positives=200, negatives=800, name="model")
        >>> [(round(low, 3), round(high, 3)) for low, high in line.operating_range()]
        [(0.111, 0.818)]
        """
        signs = self.pieces.minus(BEST_CONSTANT).signs()
        return tuple((low, high) for low, high, sign in signs if sign < 0)

    def cheaper_ranges(self, other: Curve) -> Verdicts:
        """Return the ranges in which this classifier is cheaper, and those in which the other is.

        The curves are compared without a test; ``CostCurveDifference`` tests the difference.

        Parameters
        ----------
        other : CostCurve, CostLine, …
            The other classifier's curve.

        Returns
        -------
        Verdicts
            The ranges, from PC(+) = 0 to 1.

        References
        ----------
        Holte & Drummond (2005), section 5.

        Examples
        --------
        >>> from stakes import CostLine
        >>> shy = CostLine(0.04, 0.4, positives=200, negatives=800, name="shy")
        >>> eager = CostLine(0.3, 0.8, positives=200, negatives=800, name="eager")
        >>> print(shy.cheaper_ranges(eager).summary())
        shy is cheaper for PC(+) < 0.3939, eager for PC(+) > 0.3939.
        """
        _check_curve(other, "other")
        names = (self.name or "the first", other.name or "the second")
        if names[0] == names[1]:
            names = (f"{names[0]} (1)", f"{names[1]} (2)")
        return verdicts(self.pieces.minus(other.pieces).signs(), names, "equal")

    def crossovers(self, other: Curve) -> list[float]:
        """Return all operating conditions at which another classifier becomes cheaper.

        Parameters
        ----------
        other : CostCurve, CostLine, …
            The other classifier's curve.

        Returns
        -------
        list of float
            The conditions PC(+).

        References
        ----------
        Holte & Drummond (2005), section 5.

        Examples
        --------
        >>> from stakes import CostLine
        >>> shy = CostLine(0.04, 0.4, positives=200, negatives=800, name="shy")
        >>> eager = CostLine(0.3, 0.8, positives=200, negatives=800, name="eager")
        >>> [round(each, 4) for each in shy.crossovers(eager)]
        [0.3939]
        """
        decided = [each for each in self.cheaper_ranges(other).ranges if each.cheaper]
        return [new.low for old, new in pairwise(decided) if new.cheaper != old.cheaper]

    def summary(self) -> str:
        """Summarise where the classifier costs less than the constant predictions.

        Returns
        -------
        str
            A sentence.
        """
        ranges = self.operating_range()
        area = f"The area under the cost curve of {self.title()} is {number(self.area())}"
        chosen = f" ({self._choice} chosen on {self.chosen_on})" if self.chosen_on else ""
        if not ranges:
            return f"{area}{chosen}; the curve is nowhere below the constant predictions."
        where = " and ".join(f"{number(low)} to {number(high)}" for low, high in ranges)
        below = "the curve is below the constant predictions for PC(+) from"
        return f"{area}{chosen}; {below} {where}."

    def _repr_html_(self) -> str:
        ranges = [f"{number(low)} to {number(high)}" for low, high in self.operating_range()]
        values = {
            "area under the curve": self.area(),
            "cheaper than constant predictions for PC(+)": " and ".join(ranges) or "nowhere",
            "lines of the curve": len(self.pieces.left),
            "thresholds chosen on": self.chosen_on,
        }
        return html_values(values, self.summary())

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.summary()}"

    def to_frame(self) -> Any:
        """Return a pandas data frame with a row for each line of the curve.

        Returns
        -------
        DataFrame
            With the columns low and high, the range of PC(+), and fpr and tpr; for an average curve
            the rates are averages.

        Examples
        --------
        >>> from stakes import CostLine
        >>> CostLine(0.04, 0.4, positives=200, negatives=800).to_frame()
           low  high   fpr  tpr
        0  0.0   1.0  0.04  0.4
        """
        pieces = self.pieces
        return data_frame(
            {
                "low": pieces.breaks[:-1],
                "high": pieces.breaks[1:],
                "fpr": pieces.left,
                "tpr": 1 - pieces.right,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain values and lists.

        Returns
        -------
        dict
            The area, the operating range and the lines.
        """
        pieces = self.pieces
        return {
            "name": self.name,
            "area": self.area(),
            "operating_range": [list(each) for each in self.operating_range()],
            "chosen_on": self.chosen_on,
            "breaks": pieces.breaks.tolist(),
            "fpr": pieces.left.tolist(),
            "tpr": (1 - pieces.right).tolist(),
        }


def _check_curve(value: Any, name: str) -> None:
    if not isinstance(value, Curve):
        raise InputTypeError(
            name,
            "expected a cost curve, such as CostCurve(counts) or CostLine(fpr, tpr); got a "
            f"{type(value).__name__}.",
        )
