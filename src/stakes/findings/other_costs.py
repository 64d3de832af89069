"""What the policies decide at other costs, from which the page computes everything again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.labels import Label
from stakes.counts import JointConfusion
from stakes.findings._encode import Finding
from stakes.policies._assemble import with_stated
from stakes.policies._choose import Chosen
from stakes.policies._path import chosen_at, loss_ratio, with_thresholds
from stakes.policies.policies import Policies
from stakes.study import Study

FACTORS = (0.0, *np.round(np.logspace(-2, 2, 21), 12).tolist(), np.inf)
"""Ratios of the costs of the two mistakes, for that of the stated costs: 0 and ∞ are the ends."""

THINNED = (1, 2, 5, 10)
"""Of the ratios between, each one, every second, …, where the tables are large."""

MOST_COUNTS = 20_000
"""How many counts all tables together may have, so that the page does not grow by 300 kB."""

LARGEST_CODE = 2**53
"""Larger whole numbers lose digits in the page."""


@dataclass(frozen=True, eq=False)
class LivePolicy(Finding):
    """A policy as the page computes with it.

    Attributes
    ----------
    model : str or None
        The model; null for constants.
    kind : str
        As in the policies: "threshold", "decisions" or "constant".
    decision : label or None
        The decision of a constant prediction.
    column : int or None
        Its place among the decisions of the tables; null for constants.
    cross_fitted : bool
        Whether the two tables differ in it.
    rechosen : bool
        Whether its threshold is chosen again at other costs.
    """

    model: str | None
    kind: str
    decision: Label | None
    column: int | None
    cross_fitted: bool
    rechosen: bool


@dataclass(frozen=True, eq=False)
class Tables(Finding):
    """What the policies decide at one ratio of the costs of the two mistakes.

    A combination of decisions and a class is one number: the class plus, for each column in turn,
    the decision times the number of classes and of decisions in all columns before it.

    Attributes
    ----------
    factor : float
        The ratio for that of the stated costs: what a false alarm costs more than a correct
        decision, divided by what a miss does. "inf" where misses cost nothing.
    names : tuple of str
        The names of the policies there.
    cuts : tuple of (tuple of float)
        Their thresholds.
    held_out, held_out_counts : ndarray
        The combinations on folds that did not choose the thresholds, and how often each occurred.
    in_sample, in_sample_counts : ndarray
        The same on all rows with the thresholds to deploy; empty where that is no difference.
    """

    factor: float
    names: tuple[str, ...]
    cuts: tuple[tuple[float, ...], ...]
    held_out: NDArray[Any]
    held_out_counts: NDArray[Any]
    in_sample: NDArray[Any]
    in_sample_counts: NDArray[Any]


@dataclass(frozen=True, eq=False)
class OtherCosts(Finding):
    """What the page needs to judge the policies at other costs.

    Attributes
    ----------
    ratio : float or None
        What a false alarm costs more than a correct decision, divided by what a miss does, at the
        stated costs; null where thresholds are not chosen again.
    decisions : tuple of int
        The places of the decisions for high and for low scores.
    classes : tuple of int
        The places of the negative and of the positive class.
    policies : tuple of LivePolicy
        The policies.
    columns : int
        How many columns of decisions the tables have.
    baseline : int or None
        The place of the baseline; null where none was named.
    asked : tuple of int
        The places of policies that were named to compete.
    tables : tuple of Tables
        The decisions at each ratio, the lowest first.
    """

    ratio: float | None
    decisions: tuple[int, ...]
    classes: tuple[int, ...]
    policies: tuple[LivePolicy, ...]
    columns: int
    baseline: int | None
    asked: tuple[int, ...]
    tables: tuple[Tables, ...]


def other_costs_of(study: Study) -> OtherCosts | None:
    """Return what the policies decide at other costs.

    None where the page cannot compute: it knows only independent rows of equal weight and the
    class frequencies of the examples.
    """
    if not study.plain or study.design.class_priors is not None:
        return None
    policies, scores = study.policies, study.joint_scores
    stated = policies.held_out
    if len(stated.labels) * len(stated.decisions) ** len(stated.names) >= LARGEST_CODE:
        return None
    ratio: float | None = None
    decisions: tuple[int, ...] = ()
    classes: tuple[int, ...] = ()
    found = [(1.0, policies)]
    if scores is not None and any(each.kind == "threshold" for each in policies.policies):
        ratio = loss_ratio(scores, study.costs, study.design)
    if scores is not None and ratio is not None:
        given = with_stated(study.choosing, study.asked, study.roles.models)
        chosen = chosen_at(scores, study.costs, study.design, given, FACTORS)
        found = [
            (factor, with_thresholds(policies, each, study.costs)) for factor, each in _fit(chosen)
        ]
        values = study.costs.values_for((scores.neg_label, scores.pos_label), stated.decisions)
        order = np.argsort(values[:, 1] - values[:, 0], kind="stable").tolist()
        decisions = tuple(order)
        classes = tuple(study.costs.labels.index(x) for x in (scores.neg_label, scores.pos_label))
    place = {each.name: at for at, each in enumerate(policies.policies)}
    named = policies.baseline
    return OtherCosts(
        ratio=ratio,
        decisions=decisions,
        classes=classes,
        policies=_live_policies(policies, again=ratio is not None),
        columns=len(stated.names),
        baseline=None if named is None else place[named],
        asked=tuple(place[each] for each in policies.asked),
        tables=tuple(_tables(*each) for each in found),
    )


def _fit(chosen: list[Chosen]) -> list[tuple[float, Chosen]]:
    """Return as many of the ratios as the page has room for, the stated one always."""
    first, *between, last = zip(FACTORS, chosen, strict=True)
    middle = len(between) // 2
    for every in THINNED:
        found = [first, *between[middle % every :: every], last]
        size = sum(len(each.held_out.counts) + len(each.in_sample.counts) for _, each in found)
        if size <= MOST_COUNTS:
            return found
    return [between[middle]]


def _live_policies(policies: Policies, *, again: bool) -> tuple[LivePolicy, ...]:
    names = policies.held_out.names
    return tuple(
        LivePolicy(
            each.model,
            each.kind,
            each.decision,
            None if each.kind == "constant" else names.index(each.column),
            each.cross_fitted,
            again and each.kind == "threshold" and each.column.endswith("@"),
        )
        for each in policies.policies
    )


def _tables(factor: float, policies: Policies) -> Tables:
    chosen = any(each.cross_fitted for each in policies.policies)
    nothing = np.zeros(0, dtype=int)
    in_sample = _coded(policies.in_sample) if chosen else (nothing, nothing)
    return Tables(
        factor,
        tuple(each.name for each in policies.policies),
        tuple(tuple(cut for _, cut in each.cuts) for each in policies.policies),
        *_coded(policies.held_out),
        *in_sample,
    )


def _coded(joint: JointConfusion) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return each combination of decisions and class as a number, and the counts."""
    codes, radix = joint.actual.astype(np.int64), len(joint.labels)
    for decided in joint.decided.T:
        codes = codes + radix * decided.astype(np.int64)
        radix *= len(joint.decisions)
    return codes, joint.counts
