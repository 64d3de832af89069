"""The cost of each policy, the result of a gate, and the policies and models that are shown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from stakes._core.labels import Label
from stakes.counts import Confusion
from stakes.errors import LabelError
from stakes.findings.data import Finding
from stakes.infer._inference import DEFAULT, Interval
from stakes.infer._shares import where_used
from stakes.infer.family import Pair
from stakes.infer.gate import Gate
from stakes.measures import error_rate
from stakes.policies.policies import Policies, Policy
from stakes.policies.verdict import in_words
from stakes.study import Study


@dataclass(frozen=True, eq=False)
class GateCandidate(Finding):
    """A policy that a gate judged.

    Attributes
    ----------
    name : str
        The policy.
    limit : float
        The limit of the difference that decides: with a margin the one-sided upper limit, which
        must be below the margin; without one the lower limit, which must not exceed 0.
    detectable : float
        The smallest observed extra cost that these rows would have shown; with a margin, how far
        below the margin a difference must be.
    reason : str
        Why it passes or fails, in sentences.
    """

    name: str
    limit: float
    detectable: float
    reason: str


@dataclass(frozen=True, eq=False)
class GateResult(Finding):
    """Result of a gate: which candidates pass, which fail, and which could not be judged.

    It has only the conclusions of a `Gate`; the findings have its comparisons and tests separately.

    Attributes
    ----------
    rule : str
        The condition that a candidate must meet to pass, in words.
    outcome : str
        "passed", "failed", or "could not judge" where a candidate could not be judged.
    judged : tuple of str
        The policies that were judged.
    failures : tuple of str
        The policies that fail.
    unjudged : mapping of str
        By model or column, why it could not be judged.
    passed : bool
        Whether all were judged and none fails.
    candidates : tuple of GateCandidate
        Each policy that was judged, with the limit that decides.
    summary : str
        The result in sentences.
    """

    rule: str
    outcome: str
    judged: tuple[str, ...]
    failures: tuple[str, ...]
    unjudged: Mapping[str, str]
    passed: bool
    candidates: tuple[GateCandidate, ...]
    summary: str


def gate_of(gate: Gate) -> GateResult:
    """Return a gate of the library as a finding."""
    outcome = "passed" if gate.passed else "failed"
    names = tuple(pair.first for pair in gate.pairs)
    return GateResult(
        rule=gate.rule,
        outcome="could not judge" if gate.unjudged else outcome,
        judged=names,
        failures=gate.failures,
        unjudged=gate.unjudged,
        passed=gate.passed,
        candidates=tuple(
            GateCandidate(*each)
            for each in zip(
                names, gate.limits, gate.detectable, gate.reasons().values(), strict=True
            )
        ),
        summary=gate.summary(),
    )


@dataclass(frozen=True, eq=False)
class OverVolume(Finding):
    """Cost of the stated number of decisions.

    Attributes
    ----------
    cost, low, high : float
        The cost of all decisions, and its limits.
    """

    cost: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Cut(Finding):
    """A decision, and the lowest score that leads to it.

    Attributes
    ----------
    decision : label
        The decision.
    from_ : float
        The lowest score that leads to it; "inf" where none does, "-inf" where all do.
    """

    decision: Label
    from_: float


@dataclass(frozen=True, eq=False)
class PolicyResult(Finding):
    """A policy and its cost.

    Attributes
    ----------
    name : str
        The unique name of the policy, such as ``hgb@0.043``, ``lgbm`` or ``always malignant``.
    words : str
        The policy in words; its threshold has the digits that matter, `threshold` has all.
    model : str or None
        The model; null for constant predictions.
    models : tuple of str
        All models that decide so: several where they decide every row alike.
    kind : str
        "threshold" for a model at a threshold, "decisions" for a column of decisions as it stands,
        "minimum_cost" for the decision of least expected cost in each row, or "constant".
    threshold : float or None
        The threshold to deploy, chosen on all rows; null for other kinds, and where there are
        several.
    cuts : tuple of Cut
        Each decision with the lowest score that leads to it, highest first.
    threshold_range : tuple of float, or None
        The lowest and the highest threshold not shown to cost more than the chosen one; "-inf" or
        "inf" where flagging every row, or none, is not shown to cost more.
    decision : label or None
        The decision of a constant prediction.
    cost, low, high : float
        The expected cost per decision, and its limits.
    cross_fitted : bool
        Whether the threshold was chosen on these rows, so that the cost is that on folds which did
        not choose it.
    in_sample_cost : float
        The cost on the rows that chose the threshold, which is too low; for other policies, the
        cost.
    method : str
        The method of the interval.
    total : float
        The cost of as many decisions as there are examples.
    over_volume : OverVolume or None
        The cost of the stated number of decisions; null where none was stated.
    error_rate : float or None
        The share of decisions for a wrong class; a review is not an error. Null where no decision
        is a class. Like the rates below, it is of the policy that is deployed, on all rows: only
        the cost and its limits are corrected for the choice of a threshold.
    flagged, recall, precision, fpr : float or None
        The share of rows that it decides to be positive, its recall, precision and false positive
        rate; null unless there are two classes and two decisions, and where not defined.
    alike : tuple of str
        Other names of the policy: policies that decide every row in the same way.
    pinned : bool
        Whether its threshold was stated rather than chosen.
    competes : bool
        Whether it may be recommended: each model's cheapest policy, the baseline and the constant
        predictions may, unless they break a limit or always decide as another of them does.
    """

    name: str
    words: str
    model: str | None
    models: tuple[str, ...]
    kind: str
    threshold: float | None
    cuts: tuple[Cut, ...]
    threshold_range: tuple[float, float] | None
    decision: Label | None
    cost: float
    low: float
    high: float
    cross_fitted: bool
    in_sample_cost: float
    method: str
    total: float
    over_volume: OverVolume | None
    error_rate: float | None
    flagged: float | None
    recall: float | None
    precision: float | None
    fpr: float | None
    alike: tuple[str, ...]
    pinned: bool
    competes: bool


@dataclass(frozen=True)
class IntervalBy:
    """The method of intervals, and its options.

    Attributes
    ----------
    method : str
        The name of the method.
    options : tuple of (str, value)
        The options of the method, such as its seed.
    """

    method: str = DEFAULT
    options: tuple[tuple[str, Any], ...] = ()


BY_DEFAULT = IntervalBy()


def policies_found(
    study: Study, volume: float | None = None, by: IntervalBy = BY_DEFAULT
) -> tuple[PolicyResult, ...]:
    """Return the cost of each policy, the cheapest first; of very many constants, the cheapest."""
    policies = study.policies
    shown = {*policies.constants, *policies.competitors, policies.reference}
    kept = (each for each in policies.policies if each.kind != "constant" or each.name in shown)
    found = [_result(policies, each, study.pos_label, volume, by) for each in kept]
    order = {name: place for place, name in enumerate(policies.competitors)}
    return tuple(sorted(found, key=lambda each: (each.cost, order.get(each.name, len(order)))))


def _result(
    policies: Policies,
    policy: Policy,
    pos_label: Label | None,
    volume: float | None,
    by: IntervalBy,
) -> PolicyResult:
    estimate = policies.estimate(policy.name)
    cost = estimate.cost
    interval = policies.interval(policy.name, by.method, **dict(by.options))
    deployed = where_used(policies.deployed(policy.name), policies.design)
    return PolicyResult(
        name=policy.name,
        words=in_words(policy),
        model=policy.model,
        models=policy.models,
        kind=policy.kind,
        threshold=policy.threshold,
        cuts=tuple(Cut(*each) for each in policy.cuts),
        threshold_range=policy.range_,
        decision=policy.decision,
        cost=cost,
        low=interval.low,
        high=interval.high,
        cross_fitted=policy.cross_fitted,
        in_sample_cost=policies.in_sample_cost(policy.name),
        method=interval.method,
        total=estimate.total,
        error_rate=error_rate_of(deployed),
        **_rates(deployed, pos_label),
        alike=policy.names[1:],
        pinned=policy.pinned,
        over_volume=over_volume(cost, interval, volume),
        competes=policy.name == policies.best or policy.name in policies.others,
    )


def _rates(deployed: Confusion, pos_label: Label | None) -> dict[str, float | None]:
    """Return the share flagged, recall, precision and false positive rate."""
    names = ("flagged", "recall", "precision", "fpr")
    two = len(deployed.labels) == len(deployed.decisions) == 2  # noqa: PLR2004
    if pos_label is None or not two or pos_label not in deployed.decisions:
        return dict.fromkeys(names)
    place = deployed.labels.index(pos_label)
    flags = deployed.counts[deployed.decisions.index(pos_label)]
    totals = deployed.counts.sum(axis=0)
    pairs = (
        (flags.sum(), totals.sum()),
        (flags[place], totals[place]),
        (flags[place], flags.sum()),
        (flags[1 - place], totals[1 - place]),
    )
    return {
        name: float(part / whole) if whole else None
        for name, (part, whole) in zip(names, pairs, strict=True)
    }


def error_rate_of(confusion: Confusion) -> float | None:
    """Return the share of decisions for a wrong class; None where no decision is a class."""
    try:
        return error_rate(confusion)
    except LabelError:
        return None


def over_volume(cost: float, interval: Interval, volume: float | None) -> OverVolume | None:
    """Return the cost of the stated number of decisions; None where none was stated."""
    if volume is None:
        return None
    over = interval.times(volume)
    return OverVolume(cost * volume, over.low, over.high)


MOST_MODELS = 20
"""Maximum number of models, not counting the baseline, with curves and the sections after them."""


def shown_policies(study: Study) -> tuple[str, ...]:
    """Return the competing policies that are shown, the cheapest first.

    These are the policies of the models that are shown, and the constant predictions.
    """
    policies = study.policies
    models = shown_models(study)
    return tuple(
        name
        for name in policies.competitors
        if not policies[name].models or set(policies[name].models) & {*models}
    )


def shown_models(study: Study) -> tuple[str, ...]:
    """Return the `MOST_MODELS` cheapest models and the baseline, the cheapest first."""
    policies = study.policies
    models = [*dict.fromkeys(one for name in policies.competitors for one in policies[name].models)]
    baseline = policies[policies.reference].model
    chosen = models[:MOST_MODELS]
    return tuple(each for each in models if each in chosen or each == baseline)


def other_models(study: Study) -> str:
    """State how many models have no curves and later sections; empty where all have."""
    shown = shown_models(study)
    others = len({one for each in study.policies.policies for one in each.models} - {*shown})
    if not others:
        return ""
    what = "other has" if others == 1 else "others have"
    return (
        f"Curves, sensitivity, sample sizes and calibration are of the {MOST_MODELS} cheapest "
        f"models and the baseline; {others:,} {what} a higher estimated cost."
    )


def moved_found(study: Study) -> tuple[Pair, ...]:
    """Return the comparison of each threshold with the same model's decisions as they stand.

    It shows what moving the threshold saves. Each is judged alone.
    """
    policies = study.policies
    models = dict.fromkeys(model for each in policies.policies for model in each.models)
    return tuple(
        policies.family.pair(chosen, decided)
        for model in models
        if (chosen := policies.chosen_for(model)) and (decided := policies.decided_for(model))
    )
