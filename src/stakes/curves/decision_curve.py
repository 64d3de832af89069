"""Decision curves: the net benefit of acting on a predicted risk, over threshold probabilities.

Net benefit is a linear function of cost, in units of one miss: π - cost/c_fn with
c_fp/c_fn = p_t/(1 - p_t). So its confidence limits are those of costs: from the cells of the
confusion matrix at each threshold or, at a known prevalence, from a cost curve's lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from stakes._core import validate
from stakes._core.labels import Label
from stakes._core.optional import data_frame
from stakes._core.text import html_table, listed, number, percent
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.counts import ScoreCounts
from stakes.curves._rates import represented
from stakes.curves._sampling import Multinomial, drawn, mistakes
from stakes.curves._survival import SurvivalRisks
from stakes.curves.bands import mover
from stakes.curves.condition import operating_condition
from stakes.curves.curve import check_both_classes
from stakes.errors import DesignError, InputError
from stakes.infer._design import outcomes_of
from stakes.infer._outcomes import SIMPLE, Design
from stakes.infer.methods.extremal import highs_of, limits_at

DRAWS = 10_000
"""Number of draws from which the level of a simultaneous band is computed."""

NOTHING = 1e-12

PER = 100
"""Number of persons to which interventions avoided refer."""


@dataclass(frozen=True, eq=False, repr=False)
class DecisionBand(Result):
    """A net benefit, or the difference of two, with confidence limits at each threshold.

    Attributes
    ----------
    thresholds : ndarray
        The threshold probabilities.
    net_benefit, low, high : ndarray
        The net benefit, or the difference of two, and its limits.
    confidence : float
        The confidence level: at each threshold, or at all of them at once if `simultaneous`.
    simultaneous : bool
        Whether the limits hold at all thresholds at once with that confidence.

    Examples
    --------
    >>> from stakes import DecisionCurve
    >>> band = DecisionCurve.from_scores([0, 1] * 50, [0.2, 0.6] * 50).band([0.3, 0.5])
    >>> band.net_benefit.tolist(), band.simultaneous
    ([0.5, 0.5], False)
    """

    thresholds: Floats
    net_benefit: Floats
    low: Floats
    high: Floats
    confidence: float
    simultaneous: bool

    def to_frame(self) -> Any:
        """Return the band as a pandas data frame.

        Returns
        -------
        DataFrame
            With the columns threshold, net_benefit, low and high.
        """
        names = ("net_benefit", "low", "high")
        columns = {name: getattr(self, name) for name in names}
        return data_frame({"threshold": self.thresholds, **columns})

    def __repr__(self) -> str:
        reach = "at all thresholds at once" if self.simultaneous else "at each threshold"
        return f"Net benefit with {percent(self.confidence)} limits {reach}."

    def _repr_html_(self) -> str:
        shown = np.linspace(0, len(self.thresholds) - 1, min(len(self.thresholds), 11))
        names = ("thresholds", "net_benefit", "low", "high")
        rows = [[number(getattr(self, name)[i]) for name in names] for i in shown.astype(int)]
        return html_table(["threshold", "net benefit", "low", "high"], rows, caption=repr(self))


LEAST_PREVALENCE = 1e-100
"""Smallest prevalence accepted, because results are divided by it."""


@dataclass(frozen=True, eq=False, repr=False)
class DecisionCurve(Result):
    """The net benefit of treating risks at or above a threshold (Vickers & Elkin 2006).

    Parameters
    ----------
    counts : ScoreCounts or SurvivalRisks
        The predicted risks, counted by class or given with times to an event.
    name : str, optional
        The model's name.
    prevalence : float, optional
        The share of positives in the target population, if it is known and not the sample's: in a
        case-control study, for example.
    harm : float, default 0
        The cost of applying the model to one person, in units of net benefit.
    design : Design, optional
        The population of the strata, if the risks were counted with strata.

    Notes
    -----
    NB(p_t) = π tpr - (1 - π) fpr p_t/(1 - p_t) - harm, at the threshold p_t itself. "Treat all" has
    π - (1 - π) p_t/(1 - p_t), "treat none" 0. With the cost NC at PC(+) = π (1 - p_t)/[π (1 - p_t)
    + (1 - π) p_t] it is π (1 - NC/PC(+)).

    References
    ----------
    Vickers & Elkin (2006).

    Vickers et al. (2008).

    Kerr et al. (2016).

    Examples
    --------
    >>> from stakes import DecisionCurve
    >>> curve = DecisionCurve.from_scores(
    ...     [0, 0, 0, 1, 0, 1, 1, 0, 1, 1],
    ...     [0.1, 0.2, 0.3, 0.35, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9])
    >>> curve.net_benefit([0.2, 0.5]).round(4).tolist()
    [0.4, 0.3]
    >>> curve.treat_all([0.2, 0.5]).round(4).tolist()
    [0.375, 0.0]
    """

    counts: ScoreCounts | SurvivalRisks
    name: str = ""
    prevalence: float | None = None
    harm: float = 0.0
    design: Design = SIMPLE

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.counts, ScoreCounts):
            check_both_classes(self.counts, "counts")
            if self.counts.thresholds[0] > 1 or self.counts.thresholds[-1] < 0:
                raise InputError(
                    "risk",
                    "expected predicted risks from 0 to 1, got "
                    f"{self.counts.thresholds[-1]:g} to {self.counts.thresholds[0]:g}.",
                    "Turn scores into probabilities first; cost curves take any scores.",
                )
        if self.prevalence is not None:
            share = validate.one_number(self.prevalence, "prevalence")
            if not 0 < share < 1:
                raise InputError("prevalence", f"expected a share between 0 and 1, got {share:g}.")
            if share < LEAST_PREVALENCE:
                raise InputError(
                    "prevalence",
                    f"expected a share of at least {LEAST_PREVALENCE:g}, got {share:g}.",
                )
        if validate.one_number(self.harm, "harm") < 0:
            raise InputError("harm", f"expected a number that is not negative, got {self.harm:g}.")
        validate.not_too_large(float(self.harm), "harm")

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        risk: Any,
        *,
        pos_label: Label = 1,
        prevalence: float | None = None,
        harm: float = 0.0,
        sample_weight: Any = None,
        groups: Any = None,
        strata: Any = None,
        population: Any = None,
        name: str = "",
    ) -> Self:
        """Return the decision curve of predicted risks.

        Parameters
        ----------
        y_true : array_like, shape (n,)
            The actual class of each example; two classes.
        risk : array_like, shape (n,)
            The predicted probability of the positive class, from 0 to 1.
        pos_label : default 1
            Which class is the positive one.
        prevalence : float, optional
            The share of positives in the target population, if it is known and not the sample's.
        harm : float, default 0
            The cost of applying the model to one person, in units of net benefit.
        sample_weight, groups, strata, population
            As in `evaluate`.
        name : str, optional
            The model's name.

        Returns
        -------
        DecisionCurve
            The curve.

        Examples
        --------
        >>> from stakes import DecisionCurve
        >>> curve = DecisionCurve.from_scores([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> curve.net_benefit(0.3)
        0.392...
        """
        counts = ScoreCounts.from_scores(
            y_true,
            risk,
            pos_label=pos_label,
            sample_weight=sample_weight,
            groups=groups,
            strata=strata,
        )
        return cls(counts, name, prevalence, harm, Design(population=population))

    @classmethod
    def from_survival(
        cls,
        time: Any,
        event: Any,
        risk: Any,
        *,
        at: float,
        prevalence: float | None = None,
        harm: float = 0.0,
        name: str = "",
    ) -> Self:
        """Return the decision curve of the risk of an event by a time, with censored times.

        Parameters
        ----------
        time : array_like, shape (n,)
            The time of the event, or of the end of observation.
        event : array_like, shape (n,)
            Whether the event occurred at that time (1 or True), or observation ended before it.
        risk : array_like, shape (n,)
            The predicted probability of the event by the time `at`, from 0 to 1.
        at : float
            The time horizon: events up to this time count.
        prevalence, harm, name
            As in `from_scores`.

        Returns
        -------
        DecisionCurve
            The curve.

        Notes
        -----
        The share of events among those at or above a threshold is Kaplan & Meier's estimate at the
        time `at`.

        References
        ----------
        Vickers et al. (2008).

        Examples
        --------
        >>> from stakes import DecisionCurve
        >>> curve = DecisionCurve.from_survival(
        ...     [2, 3, 1, 5, 4, 6], [1, 0, 1, 0, 1, 0], [0.7, 0.2, 0.9, 0.1, 0.4, 0.3], at=3)
        >>> curve.net_benefit([0.3, 0.5]).round(4).tolist()
        [0.1905, 0.3333]
        """
        return cls(SurvivalRisks.of(time, event, risk, at), name, prevalence, harm)

    @property
    def _plain(self) -> bool:
        """Whether rows are independent and of equal weight."""
        counts = self.counts
        if isinstance(counts, SurvivalRisks):
            return True
        return counts.squares is None and counts.rows is None and self.design.population is None

    def _rates(self, thresholds: Floats) -> tuple[Floats, Floats, float]:
        """Return the true and the false positive rate at thresholds, and the prevalence."""
        if isinstance(self.counts, SurvivalRisks):
            flagged, among = self.counts.at_thresholds(thresholds)[:2]
            share = self.counts.event_share
            rates = flagged * among / share, flagged * (1 - among) / (1 - share)
        else:
            counts = self._represented
            below = np.searchsorted(counts.thresholds[::-1], thresholds, side="left")
            cuts = len(counts.thresholds) - below
            sums = [
                np.append(0.0, np.cumsum(side, dtype=np.float64))
                for side in (counts.positives, counts.negatives)
            ]
            share = float(sums[0][-1] / (sums[0][-1] + sums[1][-1]))
            rates = sums[0][cuts] / sums[0][-1], sums[1][cuts] / sums[1][-1]
        return *rates, share if self.prevalence is None else self.prevalence

    @cached_property
    def _represented(self) -> ScoreCounts:
        assert isinstance(self.counts, ScoreCounts)  # noqa: S101 - callers check this
        return represented(self.counts, self.design)

    def net_benefit(self, thresholds: Any) -> Any:
        """Return the net benefit of treating risks at or above each threshold.

        Parameters
        ----------
        thresholds : float or array_like
            Threshold probabilities, from 0 to below 1.

        Returns
        -------
        float or ndarray
            The net benefit at each threshold.

        Examples
        --------
        >>> from stakes import DecisionCurve
        >>> curve = DecisionCurve.from_scores([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> curve.net_benefit([0.1, 0.5]).round(4).tolist()
        [0.4444, 0.25]
        """
        at = threshold_list(thresholds)
        true, false, share = self._rates(at)
        found = share * true - (1 - share) * false * odds_of(at) - self.harm
        return float(found[0]) if np.ndim(thresholds) == 0 else found

    def treat_all(self, thresholds: Any) -> Any:
        """Return the net benefit of treating everyone.

        Parameters
        ----------
        thresholds : float or array_like
            Threshold probabilities, from 0 to below 1.

        Returns
        -------
        float or ndarray
            The net benefit at each threshold; that of treating nobody is 0.

        Examples
        --------
        >>> from stakes import DecisionCurve
        >>> curve = DecisionCurve.from_scores([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> curve.treat_all([0.1, 0.5]).round(4).tolist()
        [0.4444, 0.0]
        """
        at = threshold_list(thresholds)
        share = self._rates(at)[2]
        found = share - (1 - share) * odds_of(at)
        return float(found[0]) if np.ndim(thresholds) == 0 else found

    def band(
        self, thresholds: Any = None, *, confidence: float = 0.95, simultaneous: bool = False
    ) -> DecisionBand:
        """Return the net benefit with confidence limits.

        Parameters
        ----------
        thresholds : array_like, optional
            Threshold probabilities; by default 0.01, 0.02, … 0.99.
        confidence : float, default 0.95
            The confidence level.
        simultaneous : bool, default False
            Whether the limits hold at all thresholds at once.

        Returns
        -------
        DecisionBand
            The limits at each threshold.

        Notes
        -----
        The net benefit is the mean of 1 for each true positive, -p_t/(1 - p_t) for each false
        positive and 0 for others; its limits are those of the default interval of costs, and at a
        known prevalence those of a cost curve's lines. Simultaneous limits are pointwise limits at
        a smaller α, from the quantile of the largest of the correlated errors; with weights, groups
        or strata, from Bonferroni's correction.

        References
        ----------
        Zou & Donner (2008).

        Examples
        --------
        >>> from stakes import DecisionCurve
        >>> curve = DecisionCurve.from_scores([0, 1] * 50, [0.2, 0.6] * 50)
        >>> band = curve.band([0.3, 0.5])
        >>> band.low.round(3).tolist(), band.high.round(3).tolist()
        ([0.396, 0.389], [0.6, 0.6])
        """
        at = threshold_list(thresholds)
        alpha = validate.alpha(confidence)
        if simultaneous:
            alpha = self._level(at, alpha)
        value = self.net_benefit(at)
        low, high = self._limits(at, alpha)
        within = (np.minimum(low, value + self.harm), np.maximum(high, value + self.harm))
        return DecisionBand(
            at, value, within[0] - self.harm, within[1] - self.harm, float(confidence), simultaneous
        )

    def _limits(self, at: Floats, alpha: float, *, below: bool = False) -> tuple[Floats, Floats]:
        """Return pointwise limits of the net benefit, without harm.

        `below` is for the difference from treating everyone: the odds for each negative below the
        threshold, minus 1 for each positive there.
        """
        if isinstance(self.counts, SurvivalRisks):
            return self._survival_limits(at, alpha, below=below)
        true, false, share = self._rates(at)
        counts, odds = self.counts, odds_of(at)
        sign = -1.0 if below else 1.0
        if below:
            true, false = 1 - true, 1 - false
        worth = np.stack([sign * np.ones_like(odds), -sign * odds, 0 * odds], axis=1)
        if self._plain and self.prevalence is None:
            n = float(counts.n)
            hits, alarms = share * true * n, (1 - share) * false * n
            cells = np.rint(np.stack([hits, alarms, n - hits - alarms], axis=1))
            return limits_at(worth, cells, alpha)
        if self._plain and below:
            sides = ((counts.n_positives, true, share), (counts.n_negatives, false, 1 - share))
            return mover.limits(
                [
                    Multinomial(float(n), (rate * float(n))[None], (each / float(n) * value)[None])
                    for (n, rate, each), value in zip(sides, worth.T[:2], strict=True)
                ],
                alpha,
            )
        if self._plain:
            sizes = float(counts.n_positives), float(counts.n_negatives)
            pc = operating_condition(prevalence=share, false_positive=at, false_negative=1 - at)
            sample = drawn(pc, mistakes(sizes[0], 1 - true), mistakes(sizes[1], false), full=False)
            low, high = mover.limits(sample, alpha)
            return share * (1 - high / pc), share * (1 - low / pc)
        tables = [counts.confusion_at(threshold) for threshold in at]
        priors = None if self.prevalence is None else self._priors(counts)
        design = replace(self.design, class_priors=priors)
        values = [np.array([[0.0, 0.0], [-each, 1.0]]) for each in odds]
        if below:
            values = [-each[::-1] for each in values]
        return designed_limits(tables, values, design, alpha)

    def _priors(self, counts: ScoreCounts) -> dict[Label, float]:
        share = self.prevalence or 0.0
        return {counts.neg_label: 1 - share, counts.pos_label: share}

    def _survival_limits(self, at: Floats, alpha: float, *, below: bool) -> tuple[Floats, Floats]:
        """Return limits from the effective number of uncensored rows, by Greenwood's variance."""
        assert isinstance(self.counts, SurvivalRisks)  # noqa: S101 - callers check this
        if self.prevalence is not None:
            raise DesignError(
                "prevalence", "with censored times, limits are for the prevalence of the sample."
            )
        flagged, among, worth = self.counts.at_thresholds(at, below=below)
        total = np.where(flagged > 0, worth / np.where(flagged > 0, flagged, 1.0), len(self.counts))
        shares = [flagged * among, flagged * (1 - among), 1 - flagged]
        odds = odds_of(at)
        costs = (-1 if below else 1) * np.stack([np.ones_like(odds), -odds, 0 * odds], axis=1)
        return limits_at(costs, total[:, np.newaxis] * np.stack(shares, axis=1), alpha)

    def _level(self, at: Floats, alpha: float, *, below: bool = False) -> float:
        """Return the α at which pointwise limits hold at all thresholds at once."""
        if not self._plain or isinstance(self.counts, SurvivalRisks):
            return alpha / len(np.unique(self._rates(at)[:2], axis=1).T)
        true, false, share = self._rates(at)
        odds = odds_of(at)
        # A risk above the higher of two thresholds is above both; one below the lower, below both.
        order = (np.minimum if below else np.maximum).outer(at, at) == at[:, np.newaxis]
        if below:
            true, false = 1 - true, 1 - false
        joint = [np.where(order, rate[:, np.newaxis], rate[np.newaxis]) for rate in (true, false)]
        both = np.outer(odds, odds)
        if self.prevalence is None:
            value = share * true - (1 - share) * false * odds
            moments = share * joint[0] + (1 - share) * both * joint[1]
            return joint_level(moments - np.outer(value, value), alpha)
        sizes = float(self.counts.n_positives), float(self.counts.n_negatives)
        within = [
            each - np.outer(rate, rate) for each, rate in zip(joint, (true, false), strict=True)
        ]
        spread = share**2 * within[0] / sizes[0] + (1 - share) ** 2 * both * within[1] / sizes[1]
        return joint_level(spread, alpha)

    def to_frame(self, thresholds: Any = None, confidence: float = 0.95) -> Any:
        """Return the curve as a pandas data frame.

        Parameters
        ----------
        thresholds : array_like, optional
            Threshold probabilities; by default 0.01, 0.02, … 0.99.
        confidence : float, default 0.95
            The confidence level of both bands.

        Returns
        -------
        DataFrame
            With the columns threshold, net_benefit, low and high (pointwise limits),
            simultaneous_low and simultaneous_high, treat_all, standardized (the net benefit over
            the prevalence) and interventions_avoided (net, per 100).
        """
        at = threshold_list(thresholds)
        point = self.band(at, confidence=confidence)
        whole = self.band(at, confidence=confidence, simultaneous=True)
        every, odds = self.treat_all(at), odds_of(at)
        with np.errstate(divide="ignore", invalid="ignore"):
            avoided = np.where(odds > 0, (point.net_benefit - every) / odds * PER, np.nan)
        return data_frame(
            {
                "threshold": at,
                "net_benefit": point.net_benefit,
                "low": point.low,
                "high": point.high,
                "simultaneous_low": whole.low,
                "simultaneous_high": whole.high,
                "treat_all": every,
                "standardized": point.net_benefit / self._rates(at)[2],
                "interventions_avoided": avoided,
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain values and lists.

        Returns
        -------
        dict
            The columns of `to_frame` as lists, the name and the prevalence.
        """
        frame = self.to_frame()
        columns = {name: frame[name].tolist() for name in frame}
        return {"name": self.name, "prevalence": self._rates(np.array([0.5]))[2], **columns}

    def summary(self) -> str:
        """Summarise where the model is shown to be better than treating all and treating none.

        Returns
        -------
        str
            A sentence.
        """
        return self.shown_better(self.band(simultaneous=True))

    def shown_better(self, band: DecisionBand) -> str:
        """Summarise where a band shows the model to be better than treating all and treating none.

        Parameters
        ----------
        band : DecisionBand
            Limits of the net benefit; simultaneous limits for a statement on all thresholds.

        Returns
        -------
        str
            A sentence.

        Examples
        --------
        >>> from stakes import DecisionCurve
        >>> curve = DecisionCurve.from_scores([0, 0, 1, 1] * 50, [0.1, 0.4, 0.35, 0.8] * 50)
        >>> curve.shown_better(curve.band()).startswith("the model is")
        True
        """
        at = band.thresholds
        alpha = validate.alpha(band.confidence) / 2  # two comparisons
        pointwise = not band.simultaneous
        none = self._limits(at, alpha if pointwise else self._level(at, alpha))[0]
        level = alpha if pointwise else self._level(at, alpha, below=True)
        better = np.minimum(none, self._limits(at, level, below=True)[0]) > self.harm
        title = self.name or "the model"
        if not better.any():
            return f"{title} is not shown to have a higher net benefit than treating all or none."
        ranges = ranges_text(runs_of(at, better))
        return (
            f"{title} is shown to have a higher net benefit than treating all and treating none at "
            f"threshold probabilities of {ranges} ({percent(band.confidence)} confidence)."
        )

    def __repr__(self) -> str:
        share = self._rates(np.array([0.5]))[2]
        return f"DecisionCurve(name={self.name!r}, prevalence={share:.4g})"

    def _repr_html_(self) -> str:
        return self.band(np.linspace(0.05, 0.95, 10))._repr_html_()


def designed_limits(
    tables: list[Any], values: list[Floats], design: Design, alpha: float
) -> tuple[Floats, Floats]:
    """Return the limits of the mean value of the cells of each table, under any design."""
    both = [
        outcomes_of(table, sign * worth, design, float(np.abs(worth).max()))
        for sign in (-1.0, 1.0)
        for table, worth in zip(tables, values, strict=True)
    ]
    found = np.array([float(outcomes.mean[0]) for outcomes in both])
    vary = [k for k, outcomes in enumerate(both) if outcomes.lowest < outcomes.highest]
    found[vary] = highs_of([both[k] for k in vary], alpha)
    return -found[: len(tables)], found[len(tables) :]


@lru_cache(maxsize=1)
def _normal_draws(size: int) -> Floats:
    """Return the same draws for every curve: a report needs them a dozen times."""
    return np.random.default_rng(0).standard_normal((DRAWS, size))


def joint_level(spread: Floats, alpha: float) -> float:
    """Return the α at which pointwise limits hold at all points at once with 1 - `alpha`.

    `spread` is the covariance matrix of the estimates, of which only correlations matter.
    """
    noise = np.sqrt(np.maximum(np.diag(spread), 0.0))
    kept = noise > NOTHING * max(float(noise.max()), NOTHING)
    if kept.sum() < 2:  # noqa: PLR2004 - one point needs no correction
        return alpha
    correlations = spread[np.ix_(kept, kept)] / np.outer(noise[kept], noise[kept])
    largest = _largest_departures(correlations.tobytes(), int(kept.sum()))
    return float(2 * ndtr(-np.quantile(largest, 1 - alpha)))


@lru_cache(maxsize=1)
def _largest_departures(correlations: bytes, size: int) -> Floats:
    """Return the largest correlated error of each draw: levels of one band share them."""
    values, vectors = np.linalg.eigh(np.frombuffer(correlations).reshape(size, size))
    draws = _normal_draws(size)
    return np.asarray(np.abs(draws * np.sqrt(np.maximum(values, 0.0)) @ vectors.T).max(axis=1))


def threshold_list(thresholds: Any) -> Floats:
    """Check threshold probabilities; by default there are 99 of them."""
    if thresholds is None:
        return np.round(np.arange(1, 100) / 100, 2)
    at = np.atleast_1d(validate.numeric(thresholds, "thresholds", ndim=None)).astype(np.float64)
    if at.ndim != 1 or not len(at):
        raise InputError(
            "thresholds", f"expected a list of them, got an array of shape {at.shape}."
        )
    if not ((at >= 0) & (at < 1)).all():
        bad = at[~((at >= 0) & (at < 1))][0]
        raise InputError("thresholds", f"expected probabilities from 0 to below 1, got {bad:g}.")
    if (np.diff(at) <= 0).any():
        raise InputError("thresholds", "expected each to be larger than the one before.")
    return at


def odds_of(thresholds: Floats) -> Floats:
    """Return p/(1 - p): the cost of a false positive in units of a miss."""
    return np.asarray(thresholds / (1 - thresholds))


def runs_of(at: Floats, chosen: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """Return the first and the last of each run of chosen thresholds."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], chosen.astype(int), [0]])))
    return [(float(at[a]), float(at[b - 1])) for a, b in zip(edges[::2], edges[1::2], strict=True)]


def ranges_text(ranges: Sequence[tuple[float, float]]) -> str:
    """Return ranges of thresholds as text, such as "0.06 and 0.1 to 0.3"."""
    return listed(
        [f"{low:.2f} to {high:.2f}" if high > low else f"{low:.2f}" for low, high in ranges]
    )
