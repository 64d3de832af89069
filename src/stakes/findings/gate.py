"""Which candidates may replace a baseline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from stakes.findings._encode import Finding
from stakes.infer.gate import Gate


@dataclass(frozen=True, eq=False)
class GateResult(Finding):
    """Which candidates pass, which fail, and which could not be judged.

    A `Gate` holds the comparisons and tests, which the findings have beside this; here is only what
    follows from them.

    Attributes
    ----------
    rule : str
        What a candidate must meet to pass, in words.
    outcome : str
        "passed", "failed", or "could not judge" where there is a candidate that could not be.
    judged : tuple of str
        The policies that were judged.
    failures : tuple of str
        Those that fail.
    unjudged : mapping of str
        By model or column, why it could not be judged.
    passed : bool
        Whether all were judged and none fails.
    summary : str
        The same in sentences.
    """

    rule: str
    outcome: str
    judged: tuple[str, ...]
    failures: tuple[str, ...]
    unjudged: Mapping[str, str]
    passed: bool
    summary: str


def gate_of(gate: Gate) -> GateResult:
    """Return a gate of the library as a finding."""
    outcome = "passed" if gate.passed else "failed"
    return GateResult(
        rule=gate.rule,
        outcome="could not judge" if gate.unjudged else outcome,
        judged=tuple(pair.first for pair in gate.pairs),
        failures=gate.failures,
        unjudged=gate.unjudged,
        passed=gate.passed,
        summary=gate.summary(),
    )
