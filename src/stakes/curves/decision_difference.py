"""The difference of two decision curves on the same examples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label, label_codes
from stakes._core.optional import data_frame
from stakes._core.text import percent
from stakes._core.typing import Floats
from stakes._core.values import Result, readonly
from stakes.counts import GroupedConfusion, PairedConfusion, ScoreCounts
from stakes.curves._sampling import Multinomial
from stakes.curves.bands import mover
from stakes.curves.decision_curve import (
    DecisionBand,
    DecisionCurve,
    designed_limits,
    joint_level,
    odds_of,
    ranges_text,
    runs_of,
    threshold_list,
)
from stakes.infer._outcomes import SIMPLE, Design
from stakes.infer._shares import cell_shares
from stakes.infer.methods.extremal import limits_at


@dataclass(frozen=True, eq=False, repr=False)
class DecisionCurveDifference(Result):
    """The net benefit of one model minus that of another, on the same examples.

    Made by `from_scores`.

    Parameters
    ----------
    thresholds : ndarray
        The threshold probabilities.
    tables : tuple of PairedConfusion or GroupedConfusion
        The decisions of both models at each threshold.
    joint : ndarray or None
        The number of examples by how many thresholds their first and their second risk reach, and
        by class; None with weights, groups or strata.
    names : pair of str
        The names of the models.
    prevalence : float, optional
        The share of positives in the target population, if it is known and not the sample's.
    harm : float
        The harm of the first model minus that of the second.
    design : Design
        The population of the strata.

    Examples
    --------
    >>> from stakes.curves import DecisionCurveDifference
    >>> found = DecisionCurveDifference.from_scores(
    ...     [0, 1] * 100, [0.2, 0.7] * 100, [0.2, 0.7, 0.6, 0.1] * 50, names=("new", "old"))
    >>> found.better_ranges()
    [(0.11, 0.7, 'new')]
    """

    thresholds: Floats
    tables: tuple[PairedConfusion | GroupedConfusion, ...]
    joint: Floats | None
    names: tuple[str, str] = ("first", "second")
    prevalence: float | None = None
    harm: float = 0.0
    design: Design = SIMPLE

    @classmethod
    def from_scores(
        cls,
        y_true: Any,
        risk_1: Any,
        risk_2: Any,
        *,
        thresholds: Any = None,
        names: tuple[str, str] = ("first", "second"),
        pos_label: Label = 1,
        prevalence: float | None = None,
        harm: tuple[float, float] = (0.0, 0.0),
        sample_weight: Any = None,
        groups: Any = None,
        strata: Any = None,
        population: Any = None,
    ) -> Self:
        """Return the difference of two models from their predicted risks.

        Parameters
        ----------
        y_true : array_like, shape (n,)
            The actual class of each example; two classes.
        risk_1, risk_2 : array_like, shape (n,)
            The predicted probabilities of the positive class.
        thresholds : array_like, optional
            Threshold probabilities; by default 0.01, 0.02, … 0.99.
        names : pair of str
            The names of the models.
        pos_label : default 1
            Which class is the positive one.
        prevalence : float, optional
            The share of positives in the target population, if it is known and not the sample's.
        harm : pair of float
            The cost of applying each model to one person, in units of net benefit.
        sample_weight, groups, strata, population
            As in `evaluate`.

        Returns
        -------
        DecisionCurveDifference
            The difference.
        """
        at, design = threshold_list(thresholds), Design(population=population)
        for risk, each in zip((risk_1, risk_2), harm, strict=True):  # which checks the arguments
            curve = DecisionCurve.from_scores(
                y_true, risk, pos_label=pos_label, prevalence=prevalence, harm=each
            )
        counts = curve.counts
        assert isinstance(counts, ScoreCounts)  # noqa: S101 - for the type checker
        labels = (counts.neg_label, counts.pos_label)
        above = [np.searchsorted(at, validate.scores(each), "right") for each in (risk_1, risk_2)]
        actual = label_codes(y_true, "y_true", labels, "classes")
        names, lone = validate.two_names(names), harm[0] - harm[1]
        if sample_weight is None and groups is None and strata is None:
            m = len(at) + 1
            code = (above[0] * m + above[1]) * 2 + actual
            joint = np.bincount(code, minlength=2 * m * m).reshape(m, m, 2).astype(np.float64)
            tables = tuple(PairedConfusion(each, labels) for each in _tables(joint))
            return cls(at, tables, joint, names, prevalence, lone, design)
        apart = {"groups": groups, "strata": strata, "sample_weight": sample_weight}
        found = []
        for place in range(len(at)):
            called = [(each > place).astype(np.int64) for each in above]
            if groups is None and strata is None:
                table: Any = PairedConfusion.from_labels(
                    actual, *called, labels=[0, 1], sample_weight=sample_weight
                )
            else:
                table = GroupedConfusion.from_labels(
                    actual, called[0], y_pred_2=called[1], labels=[0, 1], **apart
                )
            found.append(table)
        return cls(at, tuple(found), None, names, prevalence, lone, design)

    def _worth(self) -> Floats:
        """Return the value of a row of each cell (first, second, actual) at each threshold."""
        worth = np.stack([-odds_of(self.thresholds), np.ones(len(self.thresholds))], axis=1)
        signs = np.array([[0.0, -1.0], [1.0, 0.0]])
        return np.asarray(signs[np.newaxis, :, :, np.newaxis] * worth[:, np.newaxis, np.newaxis])

    def _designed_as(self) -> Design:
        """Return the design, with the prevalence as class priors."""
        labels = self.tables[0].labels
        share = self.prevalence
        priors = None if share is None else {labels[0]: 1 - share, labels[1]: share}
        return replace(self.design, class_priors=priors)

    @cached_property
    def net_benefit(self) -> Floats:
        """The first model's net benefit minus the second's, at each threshold."""
        design = self._designed_as()
        shares = np.stack([cell_shares(each, design) for each in self.tables])
        return readonly((self._worth() * shares).sum(axis=(1, 2, 3)) - self.harm)

    def band(self, *, confidence: float = 0.95, simultaneous: bool = False) -> DecisionBand:
        """Return the difference with confidence limits at the thresholds.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence level.
        simultaneous : bool, default False
            Whether the limits hold at all thresholds at once.

        Returns
        -------
        DecisionBand
            The limits at each threshold.
        """
        alpha = validate.alpha(confidence)
        if simultaneous:
            alpha = self._level(alpha)
        low, high = self._limits(alpha)
        return DecisionBand(
            self.thresholds,
            self.net_benefit,
            low - self.harm,
            high - self.harm,
            float(confidence),
            simultaneous,
        )

    def _limits(self, alpha: float) -> tuple[Floats, Floats]:
        values = self._worth()
        if self.joint is None:
            return designed_limits(list(self.tables), list(values), self._designed_as(), alpha)
        counts = np.stack([each.counts for each in self.tables]).astype(np.float64)
        if self.prevalence is None:
            n = len(counts)
            return limits_at(values.reshape(n, -1), counts.reshape(n, -1), alpha)
        parts = []
        for actual, share in ((1, self.prevalence), (0, 1 - self.prevalence)):
            size = float(counts[0, :, :, actual].sum())
            alone = np.stack([counts[:, 1, 0, actual], counts[:, 0, 1, actual]])
            worth = np.stack([values[:, 1, 0, actual], values[:, 0, 1, actual]])
            parts.append(Multinomial(size, alone, share / size * worth))
        return mover.limits(parts, alpha)

    def _level(self, alpha: float) -> float:
        if self.joint is None:
            return alpha / len(self.thresholds)
        m = len(self.thresholds)
        above = np.arange(m + 1)[np.newaxis] > np.arange(m)[:, np.newaxis]
        worth = np.stack([-odds_of(self.thresholds), np.ones(m)], axis=1)
        signs = above[:, :, np.newaxis].astype(np.float64) - above[:, np.newaxis, :]
        spread = np.zeros((m, m))
        for actual in (0, 1):
            part = self.joint[:, :, actual]
            size = part.sum() if self.prevalence is not None else self.joint.sum()
            each = (signs * worth[:, actual, np.newaxis, np.newaxis]).reshape(m, -1)
            shares = part.ravel() / size
            mean = each @ shares
            if self.prevalence is None:
                spread += (each * shares) @ each.T
            else:
                share = self.prevalence if actual else 1 - self.prevalence
                spread += share**2 * ((each * shares) @ each.T - np.outer(mean, mean)) / size
        if self.prevalence is None:
            value = self.net_benefit + self.harm
            spread -= np.outer(value, value)
        return joint_level(spread, alpha)

    def better_ranges(self, confidence: float = 0.95) -> list[tuple[float, float, str]]:
        """Return the ranges of thresholds at which one model is shown to be better.

        Parameters
        ----------
        confidence : float, default 0.95
            The simultaneous confidence level of all ranges.

        Returns
        -------
        list of (float, float, str)
            The first and the last threshold of each range, and the model that is better there.
        """
        band = self.band(confidence=confidence, simultaneous=True)
        found = [
            (low, high, name)
            for name, shown in zip(self.names, (band.low > 0, band.high < 0), strict=True)
            for low, high in runs_of(self.thresholds, shown)
        ]
        return sorted(found)

    def to_frame(self, confidence: float = 0.95) -> Any:
        """Return the difference as a pandas data frame.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence level of both bands.

        Returns
        -------
        DataFrame
            With the columns threshold, difference, low, high, simultaneous_low, simultaneous_high
            and better, the model that is shown to be better there.
        """
        point = self.band(confidence=confidence)
        whole = self.band(confidence=confidence, simultaneous=True)
        names = np.array([*self.names, None], dtype=object)
        return data_frame(
            {
                "threshold": self.thresholds,
                "difference": self.net_benefit,
                "low": point.low,
                "high": point.high,
                "simultaneous_low": whole.low,
                "simultaneous_high": whole.high,
                "better": names[np.where(whole.low > 0, 0, np.where(whole.high < 0, 1, 2))],
            }
        )

    def summary(self, confidence: float = 0.95) -> str:
        """Summarise where one model is shown to be better.

        Parameters
        ----------
        confidence : float, default 0.95
            The simultaneous confidence level of all ranges.

        Returns
        -------
        str
            A sentence or more.
        """
        found = self.better_ranges(confidence)
        sure = f"({percent(confidence)} confidence)"
        if not found:
            first, second = self.names
            return f"Neither {first} nor {second} is shown to be better anywhere {sure}."
        better: dict[str, list[tuple[float, float]]] = {}
        for low, high, name in found:
            better.setdefault(name, []).append((low, high))
        return " ".join(
            f"{name} is shown to have the higher net benefit at thresholds of "
            f"{ranges_text(ranges)} {sure}."
            for name, ranges in better.items()
        )

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return self.band()._repr_html_()


def _tables(joint: Floats) -> Floats:
    """Return the table (first, second, actual) of decisions at each threshold from `joint`."""
    from_here = joint[::-1].cumsum(axis=0)[::-1][:, ::-1].cumsum(axis=1)[:, ::-1]
    m = len(joint) - 1
    place = np.arange(1, m + 1)
    both, total = from_here[place, place], from_here[0, 0]
    first, second = from_here[place, 0] - both, from_here[0, place] - both
    neither = total - both - first - second
    rows = [np.stack([neither, second], axis=1), np.stack([first, both], axis=1)]
    return np.stack(rows, axis=1)
