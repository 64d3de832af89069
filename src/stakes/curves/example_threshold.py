"""The choice of a threshold if each example has its own costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from stakes._core import validate
from stakes._core.labels import Label
from stakes._core.text import flag_words, number, percent
from stakes._core.typing import Booleans, Floats
from stakes._core.values import Result
from stakes.costs import ExampleCosts
from stakes.counts import CostSample, ScoreCounts
from stakes.curves._limits import Cuts, Limits, index_of
from stakes.curves._rates import represented
from stakes.errors import InputTypeError, LabelError
from stakes.infer._inference import Interval
from stakes.infer._outcomes import Design
from stakes.infer._shares import checked_priors, shares_of
from stakes.infer.estimate import CostEstimate

ROUNDING = 1e-13
"""Difference, relative to the largest cost, up to which costs are equal."""


@dataclass(frozen=True, eq=False, repr=False)
class ExampleThresholdChoice(Result):
    """A threshold for examples with their own costs, and the results of using it.

    Made by `choose_threshold`.

    Attributes
    ----------
    threshold : float
        Examples that score at least this are called positive; infinite if none should be, minus
        infinite if all should be.
    sample : CostSample
        The cost of the decision for each example.
    alarms : float
        The share of the examples that are called positive.
    pos_label : label
        The decision for examples at or above the threshold.
    rule : str
        The criterion of the choice, in words.
    design : Design
        The class priors and the population, if they differ from those of the examples.
    confidence : float
        Confidence level of `interval`.
    chosen_on : str
        The examples of the results: "the same examples", which makes them too optimistic, or
        "other examples".

    Examples
    --------
    >>> from stakes import ExampleCosts, choose_threshold
    >>> costs = ExampleCosts([[0, 5], [120, 5], [3, 5], [0, 5]], decisions=["ok", "fraud"])
    >>> choice = choose_threshold([0.2, 0.9, 0.7, 0.1], costs, pos_label="fraud")
    >>> choice.threshold, choice.cost
    (0.9, 2.0)
    """

    threshold: float
    sample: CostSample
    alarms: float
    pos_label: Label
    rule: str
    design: Design
    confidence: float
    chosen_on: str = "the same examples"

    @property
    def cost(self) -> float:
        """The expected cost per decision."""
        return self.estimate().cost

    @property
    def interval(self) -> Interval:
        """The confidence interval of the cost."""
        return self.estimate().interval(self.confidence)

    def estimate(self) -> CostEstimate:
        """Return the cost of the decisions.

        Returns
        -------
        CostEstimate
            The cost, with its interval.
        """
        return CostEstimate(self.sample, None, self.design)

    def on(self, y_score: Any, costs: ExampleCosts, **examples: Any) -> ExampleThresholdChoice:
        """Return the same threshold with its results on other examples, which avoids optimism.

        Parameters
        ----------
        y_score : array_like, shape (n,)
            The same scorer's scores of other examples.
        costs : ExampleCosts
            The costs of decisions for those examples.
        **examples
            Their `y_true`, `sample_weight`, `groups` and `strata`, and bounds, as in
            `choose_threshold`.

        Returns
        -------
        ExampleThresholdChoice
            The same threshold, evaluated on those examples.

        Examples
        --------
        >>> from stakes import ExampleCosts, choose_threshold
        >>> costs = ExampleCosts([[0, 5], [90, 5], [0, 5], [30, 5]], decisions=[0, 1])
        >>> choice = choose_threshold([0.1, 0.9, 0.4, 0.7], costs)
        >>> choice.threshold, choice.cost
        (0.7, 2.5)
        >>> choice.on([0.8, 0.2, 0.3, 0.6], costs).cost
        31.25
        """
        rows = _Examples.of(y_score, costs, self.design, pos_label=self.pos_label, **examples)
        sample, alarms = rows.at(self.threshold)
        return replace(self, sample=sample, alarms=alarms, chosen_on="other examples")

    def summary(self) -> str:
        """Summarise which scores to flag, and the results.

        Returns
        -------
        str
            Three sentences.
        """
        low, high = map(number, self.interval)
        return (
            f"{flag_words(self.threshold)} as {self.pos_label!r} ({self.rule}). This flags "
            f"{percent(round(self.alarms, 6))} of all, and costs {number(self.cost)} per decision "
            f"({low} to {high}, {percent(self.confidence)} CI). The threshold was chosen on "
            f"{self.chosen_on}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the choice as plain values.

        Returns
        -------
        dict
            The threshold and its results.
        """
        return {
            "threshold": self.threshold,
            "rule": self.rule,
            "cost": self.cost,
            "interval": self.interval.to_dict(),
            "alarms": self.alarms,
            "chosen_on": self.chosen_on,
        }

    def __repr__(self) -> str:
        return self.summary()


def choose_for_examples(
    y_score: Any,
    costs: ExampleCosts,
    asked: Mapping[str, Any],
    *,
    design: Design,
    confidence: float,
    **examples: Any,
) -> ExampleThresholdChoice:
    """Return the cheapest of the thresholds that keep the given limits."""
    validate.alpha(confidence)
    rows = _Examples.of(y_score, costs, design, **examples)
    thresholds, totals = rows.totals()
    rules, candidates = ["cheapest"], np.arange(len(thresholds))
    if any(each is not None for each in asked.values()):
        limits = rows.limits(design, asked)
        candidates = candidates[index_of(limits.checked())]
        rules += limits.rules()
    least = totals[candidates].min() + ROUNDING * np.abs(totals).max()
    threshold = validate.applicable(thresholds[candidates[totals[candidates] <= least][0]])
    sample, alarms = rows.at(threshold)
    choice = ExampleThresholdChoice(
        threshold=threshold,
        sample=sample,
        alarms=alarms,
        pos_label=rows.pos_label,
        rule=", ".join(rules),
        design=design,
        confidence=float(confidence),
    )
    choice.estimate()  # raises when the design does not fit
    return choice


@dataclass(frozen=True, eq=False)
class _Examples:
    """Scores and costs of examples, and the share of the population that each represents."""

    scores: Floats
    costs: ExampleCosts
    pos_label: Label
    shares: Floats
    given: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        y_score: Any,
        costs: ExampleCosts,
        design: Design,
        *,
        pos_label: Label = 1,
        **given: Any,
    ) -> _Examples:
        allowed = ("y_true", "sample_weight", "groups", "strata", "low", "high")
        validate.options(given, "choosing a threshold for examples", allowed)
        if isinstance(y_score, ScoreCounts):
            raise InputTypeError(
                "counts",
                "costs of single examples need the score of each of them, and counts have none.",
                "Give y_score, and pos_label= for the decision that high scores lead to.",
            )
        names = [name for name in given if name not in ("low", "high")]
        y_score, costs, *rows = validate.aligned(
            y_score=y_score, costs=costs, **{name: given[name] for name in names}
        )
        given |= dict(zip(names, rows, strict=True))
        scores = validate.scores(y_score)
        validate.same_length({"y_score": len(scores), "costs": len(costs)})
        if len(costs.decisions) != 2 or pos_label not in costs.decisions:  # noqa: PLR2004 - one cut
            raise LabelError(
                "pos_label",
                "expected one of the two decisions that a threshold chooses between; the costs "
                f"have {costs.decisions}, and pos_label is {pos_label!r}.",
            )
        sample = CostSample.from_labels(costs, [pos_label] * len(costs), **given)
        return cls(scores, costs, pos_label, shares_of(sample, design), given)

    def at(self, threshold: float) -> tuple[CostSample, float]:
        """Return the cost of each example at a threshold, and the share of alarms."""
        alarm: Booleans = np.asarray(self.scores >= threshold)
        names = np.empty(2, dtype=object)
        at = self.costs.decisions.index(self.pos_label)
        names[:] = [self.costs.decisions[1 - at], self.pos_label]
        sample = CostSample.from_labels(self.costs, names[alarm.astype(np.intp)], **self.given)
        return sample, float(self.shares[alarm].sum())

    def totals(self) -> tuple[Floats, Floats]:
        """Return all thresholds, highest first, and their costs, from one sort and running sums."""
        at = self.costs.decisions.index(self.pos_label)
        order = np.argsort(-self.scores, kind="stable")
        gain = ((self.costs.values[:, at] - self.costs.values[:, 1 - at]) * self.shares)[order]
        scores = self.scores[order]
        last = np.append(scores[1:] != scores[:-1], True)
        sums = np.cumsum(gain)[last]
        thresholds, nothing = scores[last], float(self.costs.values[:, 1 - at] @ self.shares)
        thresholds = np.concatenate([[np.inf], thresholds, [-np.inf]])
        return thresholds, nothing + np.concatenate([[0.0], sums, sums[-1:]])

    def limits(self, design: Design, asked: Mapping[str, Any]) -> Limits:
        """Return the limits on rates, which need the actual classes."""
        if self.given.get("y_true") is None:
            raise InputTypeError("y_true", "limits need the actual class of each example.")
        parts = {name: self.given.get(name) for name in ("sample_weight", "groups", "strata")}
        counts = ScoreCounts.from_scores(
            self.given["y_true"], self.scores, pos_label=self.pos_label, **parts
        )
        whole = represented(counts, design)
        labels = (counts.neg_label, counts.pos_label)
        shares = np.array([whole.n_negatives, whole.n_positives]) / float(whole.n)
        if design.class_priors is not None:
            shares = checked_priors(design.class_priors, labels)
        cuts = Cuts.of(whole, assured=asked.get("assurance") is not None)
        return Limits(cuts, dict(zip(labels, shares.tolist(), strict=True)), **asked)
