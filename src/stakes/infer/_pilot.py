"""Pilot data for sample size planning, under any sampling design.

A plan is made for independent examples of equal weight. A pilot with weights, groups or strata is
worth more or fewer such examples than it has. Its counts are divided by this design effect before
the plan is made, and the plan is multiplied by it afterwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import gammaincinv

from stakes._core import validate
from stakes._core.text import listed, number
from stakes._core.typing import Floats
from stakes.counts import CostSample, GroupedConfusion, PairedConfusion
from stakes.errors import DesignError, InputTypeError
from stakes.infer._inference import outcomes_behind
from stakes.infer._outcomes import (
    CountTable,
    Outcomes,
    cost_differences,
    make_stratum,
    possible_cells,
)
from stakes.infer._shares import cell_shares, shares_of
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.methods import extremal
from stakes.infer.methods.normal import standard_error

MOST_COSTS = 64
"""Largest number of distinct costs of single examples: test sets are sampled thousands of times."""


@dataclass(frozen=True, eq=False)
class Pilot:
    """Outcomes of a pilot, with its effective size and its design effect.

    Attributes
    ----------
    outcomes : Outcomes
        The observed outcomes, as of the equivalent number of independent examples of equal weight.
    size : float
        That number of examples.
    effect : float
        The design effect: how many times as many examples are needed as independent ones.
    drawn : str
        How the examples were sampled, in words; empty for independent ones of equal weight.
    """

    outcomes: Outcomes
    size: float
    effect: float = 1.0
    drawn: str = ""

    def in_words(self) -> str:
        """Return a clause on how test sets are sampled and the design effect; empty if simple."""
        if not self.drawn:
            return ""
        text = f"They {self.drawn} like the pilot's"
        if self.effect != 1:
            effect = number(float(f"{self.effect:.2g}"))
            text += f", which takes {effect} times as many as independent ones of equal weight"
        return text


def pilot_of(
    result: CostEstimate | CostDifference,
    rows: Any,
    alpha: float,
    assurance: float,
    *,
    two: bool,
) -> Pilot:
    """Return the pilot behind a result, in terms of independent examples of equal weight.

    Parameters
    ----------
    result : CostEstimate or CostDifference
        The result of the pilot.
    rows : int or None
        The number of examples, needed where the counts are sums of weights.
    alpha, assurance : float
        One minus the confidence of the interval or test, and the assurance of the plan.
    two : bool
        Whether the result is a difference, for which both limits matter.
    """
    table = result.confusion if isinstance(result, CostEstimate) else result.paired
    n, found = _rows_of(table, rows), outcomes_behind(result)
    plain = _draws_are_rows(table)
    if isinstance(table, CostSample):
        found = _lean(found)
    alike = found.only.units is None and math.isclose(found.only.n[0], n)
    if len(found.strata) == 1 and alike:
        alone = replace(found.only, labelled=0.0, left=math.inf)
        return Pilot(Outcomes((alone,), found.design), n)
    drawn = _drawn(table, result)
    if plain and not two:  # each stratum has its part of the test set, sampled independently
        strata = found.changed(lambda each: replace(each, labelled=0.0, left=math.inf))
        return Pilot(Outcomes(strata, "stratified"), n, 1.0, drawn)
    simple = _lean(Outcomes((make_stratum(*_as_one(result, table, n)),), "examples"))
    effect = _effect(result, found, simple, alpha, assurance, two=two)
    return Pilot(simple.times(1 / effect), n / effect, effect, drawn)


def _lean(outcomes: Outcomes) -> Outcomes:
    """Return the outcomes with few enough distinct costs to sample test sets from."""
    most = max(MOST_COSTS // len(outcomes.strata), 8)
    return replace(outcomes, strata=outcomes.changed(lambda each: each.condensed(most)))


def _rows_of(table: CountTable, rows: Any) -> float:
    """Return the number of examples of a pilot."""
    if rows is not None:
        return float(validate.as_size(rows, "pilot_rows", 2, validate.MOST_ROWS))
    if isinstance(table, CostSample) or not table.weighted:
        return float(table.n)
    raise DesignError(
        "pilot_rows",
        "sums of weights do not tell how many examples the pilot has.",
        "Give their number.",
    )


def _drawn(table: CountTable, result: CostEstimate | CostDifference) -> str:
    """Describe how the examples of a pilot were sampled; empty for a simple random sample."""
    if isinstance(table, CostSample):
        groups, strata, weighted = table.groups, table.strata, table.weights is not None
    else:
        parts = table.parts if isinstance(table, GroupedConfusion) else None
        groups = None if parts is None else parts.groups
        strata = None if parts is None else parts.strata
        weighted = table.weighted
    by_strata = strata is not None or result.design.strata is not None
    words = {
        "come in groups": groups is not None,
        "have weights": weighted,
        "are drawn by strata": by_strata,
    }
    there = [each for each, is_so in words.items() if is_so]
    return listed(there) if there else ""


def _as_one(
    result: CostEstimate | CostDifference, table: CountTable, n: float
) -> tuple[Floats, Floats]:
    """Return all costs, and the expected count of each in `n` independent examples."""
    if isinstance(table, CostSample):
        shares = shares_of(table, result.design)
        values = np.append(table.values, [table.low, table.high])
        return values, np.append(n * shares, [0.0, 0.0])
    assert result.costs is not None  # noqa: S101 - counts have costs
    values = result.costs.values_for(table.labels, table.decisions)
    if isinstance(result, CostDifference):
        values = cost_differences(values)
    shares = cell_shares(table, result.design)
    pooled: Any = table.pooled if isinstance(table, GroupedConfusion) else table
    possible = possible_cells(pooled, result.design.impossible)
    inside = np.ones(values.shape, dtype=bool) if possible is None else possible
    return values[inside], n * shares[inside]


def _effect(
    result: CostEstimate | CostDifference,
    found: Outcomes,
    simple: Outcomes,
    alpha: float,
    assurance: float,
    *,
    two: bool,
) -> float:
    """Return the design effect: how many examples are worth one independent one of equal weight.

    It is the ratio of the variances. With groups or weighted rows, only those with a cost inform
    that ratio, so its upper limit at the given assurance is used. The ratio of the arms of the
    intervals is used if it is larger, as where whole groups, or heavy rows, may fail and none has.
    """
    errors = [float(standard_error(each)[0]) for each in (found, simple)]
    arms = [_arm(each, alpha, two=two) for each in (found, simple)]
    table = result.confusion if isinstance(result, CostEstimate) else result.paired
    unsure = 1.0
    if not _draws_are_rows(table):
        known = max(1, int(_happened(result, table)))
        unsure = known / float(2 * gammaincinv(known / 2, 1 - assurance))
    least = 1.0 if _groups(table) is not None else 0.0
    ratios = [
        unsure * (errors[0] / errors[1]) ** 2 if errors[1] > 0 else 1.0,
        arms[0] / arms[1] if arms[1] > 0 else 1.0,
    ]
    return max(least, *ratios)


def _arm(outcomes: Outcomes, alpha: float, *, two: bool) -> float:
    """Return the upper limit's distance from the estimate; with `two`, the farther limit's."""
    low, high = (float(each[0]) for each in extremal.limits(outcomes, alpha))
    mean = float(outcomes.mean[0])
    return max(high - mean, mean - low) if two else high - mean


def _draws_are_rows(table: CountTable) -> bool:
    """Tell whether rows are independent and of equal weight, at least within strata."""
    if isinstance(table, CostSample):
        return table.groups is None and table.weights is None
    return _groups(table) is None and not table.weighted


def _groups(table: CountTable) -> Any:
    """Return the group of each part, or of each example; None where there are none."""
    if isinstance(table, CostSample):
        return table.groups
    return table.parts.group_codes() if isinstance(table, GroupedConfusion) else None


def _happened(result: CostEstimate | CostDifference, table: CountTable) -> float:
    """Return the number of draws with a cost: groups, or the effective number of rows (Kish)."""
    groups = _groups(table)
    if isinstance(table, CostSample):
        lost = np.flatnonzero(table.values)
        if groups is not None:
            return len({groups[row] for row in lost.tolist()})
        weights = np.ones(len(lost)) if table.weights is None else table.weights[lost]
        return _kish(weights.sum(), (weights**2).sum())
    assert result.costs is not None  # noqa: S101 - counts have costs
    values = result.costs.values_for(table.labels, table.decisions)
    if isinstance(result, CostDifference):
        values = cost_differences(values)
    counts = table.counts.reshape(-1, values.size)[:, values.ravel() != 0]
    if groups is not None:
        return len(np.unique(groups[counts.any(axis=1)]))
    if table.squares is None:
        return float(counts.sum())
    squares = table.squares.reshape(-1, values.size)[:, values.ravel() != 0]
    return _kish(counts.sum(), squares.sum())


def _kish(total: float, squares: float) -> float:
    return float(total**2 / squares) if squares else 0.0


def check_kind(table: Any, *, two: bool) -> None:
    """Raise if a difference is planned from counts of one classifier, or an interval from two."""
    if isinstance(table, CostSample):
        return
    pooled = table.pooled if isinstance(table, GroupedConfusion) else table
    if two != isinstance(pooled, PairedConfusion):
        raise InputTypeError(
            "pilot",
            "a difference needs the counts of two classifiers."
            if two
            else "an interval for one classifier needs its Confusion.",
        )
