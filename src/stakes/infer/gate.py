"""A gate: may a model replace the one in production, at its cost per decision."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from stakes._core import validate
from stakes._core.text import html_table, number, percent
from stakes._core.values import Result
from stakes.errors import InputError
from stakes.infer._inference import TestResult
from stakes.infer._multiplicity import Pair


def checked_margin(margin: Any) -> float:
    """Check how much more than a baseline a model may cost."""
    most = float(validate.numeric(margin, "margin", ndim=0))
    if not math.isfinite(most):
        raise InputError("margin", f"expected how much more a model may cost, got {most:g}.")
    if most < 0:
        raise InputError(
            "margin", f"expected how much more a model may cost, 0 or more; got {most:g}."
        )
    return most


@dataclass(frozen=True, eq=False, repr=False)
class Gate(Result):
    """Which models pass and which fail when they are compared with a baseline.

    Made by `Ranking.gate`.

    Attributes
    ----------
    baseline : str
        The model that the others are compared with.
    confidence : float
        Confidence level of the intervals and tests.
    pairs : tuple of Pair
        The comparisons, the cheapest model first; the baseline is the second of each pair.
    margin : float or None
        How much more than the baseline a model may cost per decision.
    tests : tuple of TestResult
        With a margin, the tests that each model costs less than that much more.
    unit : str
        The unit of the costs.
    unjudged : mapping of str to str
        Models that could not be judged, and why. Where there are any, the gate does not pass.

    Notes
    -----
    Without a margin a model fails if it is shown to cost more than the baseline, p-values adjusted
    by Holm's method for the number of models. With a margin it passes if it is shown to cost less
    than the margin more (a test of non-inferiority).

    Examples
    --------
    >>> from stakes import CostMatrix, compare_many
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> ranking = compare_many([0] * 600 + [1] * 400, {
    ...     "old": [0] * 550 + [1] * 350 + [0] * 100,
    ...     "new": [0] * 500 + [1] * 50 + [0] * 70 + [1] * 380,
    ...     "bad": [0] * 550 + [1] * 250 + [0] * 190 + [1] * 10}, costs)
    >>> gate = ranking.gate("old")
    >>> gate.passed, gate.failures, gate.passes
    (False, ('bad',), ('new',))
    >>> gate
    Gate against old: failed (bad failed; new passed)
    >>> print(gate.summary())
    bad failed; new passed.
    """

    baseline: str
    confidence: float
    pairs: tuple[Pair, ...]
    margin: float | None = None
    tests: tuple[TestResult, ...] = ()
    unit: str = ""
    unjudged: Mapping[str, str] = field(default_factory=dict)

    @property
    def failures(self) -> tuple[str, ...]:
        """The models that fail."""
        if self.margin is not None:
            return tuple(test.names[0] for test in self.tests if not test.rejected)
        return tuple(pair.first for pair in self.pairs if pair.rejected and pair.difference > 0)

    @property
    def passes(self) -> tuple[str, ...]:
        """The models that pass."""
        failures = self.failures
        return tuple(pair.first for pair in self.pairs if pair.first not in failures)

    @property
    def passed(self) -> bool:
        """Whether all models were judged and none fails."""
        return not self.failures and not self.unjudged

    @property
    def rule(self) -> str:
        """What a model must meet to pass, in words."""
        sure = percent(self.confidence)
        if self.margin is not None:
            unit = f" {self.unit}" if self.unit else ""
            return (
                f"a model passes if it is shown, with {sure} confidence, that it costs less than "
                f"{number(self.margin)}{unit} more per decision than {self.baseline}."
            )
        adjusted = f", p-values adjusted for {len(self.pairs)} models" if self.pairs[1:] else ""
        return (
            f"a model fails if it is shown, with {sure} confidence{adjusted}, that it costs more "
            f"than {self.baseline}."
        )

    def summary(self) -> str:
        """Say which models fail, which pass, and which could not be judged.

        Returns
        -------
        str
            A sentence for each part.
        """
        parts = [(self.failures, "failed"), (self.passes, "passed")]
        found = "; ".join(f"{', '.join(names)} {what}" for names, what in parts if names)
        sentences = [f"{found}."] if found else []
        sentences += [f"Could not judge {name}: {why}." for name, why in self.unjudged.items()]
        return " ".join(sentences)

    def __repr__(self) -> str:
        answer = "passed" if self.passed else "failed"
        if self.unjudged:
            answer = "could not judge"
        return f"Gate against {self.baseline}: {answer} ({self.summary()[:-1]})"

    def to_dict(self) -> dict[str, Any]:
        """Return the gate as plain values.

        Returns
        -------
        dict
            The rule, the models that fail, whether all passed, and the comparisons behind it.
        """
        return {
            "rule": self.rule,
            "failures": list(self.failures),
            "passed": self.passed,
            "judged": [pair.first for pair in self.pairs],
            "unjudged": dict(self.unjudged),
            "baseline": self.baseline,
            "margin": self.margin,
            "confidence": self.confidence,
            "unit": self.unit,
            "pairs": [asdict(pair) for pair in self.pairs],
            "tests": [test.to_dict() for test in self.tests],
        }

    def _repr_html_(self) -> str:
        rows = [
            [
                pair.first,
                number(pair.difference),
                "failed" if pair.first in self.failures else "passed",
            ]
            for pair in self.pairs
        ]
        header = ["model", f"cost minus that of {self.baseline}", "gate"]
        return html_table(header, rows, caption=f"Gate: {self.rule}")
