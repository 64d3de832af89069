"""Which models may replace a baseline."""

from __future__ import annotations

from dataclasses import dataclass

from stakes.findings._encode import Finding
from stakes.infer.gate import Gate


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
