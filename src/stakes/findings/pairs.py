"""How the models compare, pair by pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from stakes._core.text import seen
from stakes.findings._encode import Finding
from stakes.infer import Pair
from stakes.infer.difference import CostDifference
from stakes.infer.gate import Gate
from stakes.infer.ranking import Ranking
from stakes.study import Study

TWO = 2


@dataclass(frozen=True, eq=False)
class ComparedPair(Finding):
    """How two models differ in cost.

    Attributes
    ----------
    first, second : str
        The models.
    difference : float
        The cost of the first minus that of the second.
    low, high : float
        The limits of the difference, simultaneous for all pairs.
    p_value : float
        The p-value of this comparison alone.
    adjusted : float
        The p-value adjusted for the number of comparisons (Holm).
    rejected : bool
        Whether the two differ, by the adjusted p-value.
    method : str
        The method of the test.
    warning : str or None
        That the outcome that matters most was observed too rarely.
    """

    first: str
    second: str
    difference: float
    low: float
    high: float
    p_value: float
    adjusted: float
    rejected: bool
    method: str
    warning: str | None


def pairs_of(study: Study, seed: int = 0) -> tuple[ComparedPair, ...]:
    """Return the comparison of every pair of models; none if there is only one model."""
    if len(study.names) < TWO:
        return ()
    ranking = study.ranking()
    return compared_pairs(ranking, ranking.pairwise(confidence=study.confidence, rng=seed))


def compared_pairs(ranking: Ranking, pairs: Sequence[Pair]) -> tuple[ComparedPair, ...]:
    """Return comparisons with the method of each, and a warning where outcomes are rare."""
    return tuple(_compared(ranking.difference(pair.first, pair.second), pair) for pair in pairs)


def _compared(difference: CostDifference, pair: Pair) -> ComparedPair:
    return ComparedPair(
        pair.first,
        pair.second,
        pair.difference,
        pair.low,
        pair.high,
        pair.p_value,
        pair.adjusted,
        pair.rejected,
        difference.choice.name,
        _warning(difference),
    )


def _warning(difference: CostDifference) -> str | None:
    """Say that the outcome that matters most was seen too rarely, where it was."""
    rare = difference.rare_outcome()
    if rare is None or rare[2] is None:
        return None
    what, count, _ = rare
    return (
        f"What matters most, {what}, was {seen(count)}: too rarely for the usual test, so a more "
        "careful one is used."
    )


# Which models may replace a baseline.


@dataclass(frozen=True, eq=False)
class GateResult(Finding):
    """Which models pass, and which fail.

    A `Gate` holds the comparisons and tests, which the findings have beside this; here is only what
    follows from them.

    Attributes
    ----------
    rule : str
        What a model must meet to pass, in words.
    failures : tuple of str
        The models that fail.
    passed : bool
        Whether no model fails.
    summary : str
        Which models fail and which pass, in a sentence.
    """

    rule: str
    failures: tuple[str, ...]
    passed: bool
    summary: str


def gate_of(gate: Gate) -> GateResult:
    """Return a gate of the library as a finding."""
    return GateResult(gate.rule, gate.failures, gate.passed, gate.summary())
