"""Comparisons of models, and what a gate makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from stakes._labels import listing
from stakes._table import number, percent, text_table
from stakes.errors import InputError
from stakes.infer.multiplicity import Pair
from stakes.infer.significance import TestResult
from stakes.study import Study


@dataclass(frozen=True)
class Comparisons:
    """Comparisons of pairs of models, or of models with a baseline.

    Attributes
    ----------
    study : Study
        The models and costs.
    pairs : sequence of Pair
        The comparisons; with a baseline, it is the second of each pair.
    summary : str
        What they come to; empty with a baseline.
    currency : str
        The unit of the costs.
    baseline : str or None
        The model that the others are compared with.
    margin : float or None
        How much more than the baseline a model may cost.
    tests : sequence of TestResult
        Where there is a margin, the tests that each model costs less than that much more.
    """

    study: Study
    pairs: Sequence[Pair]
    summary: str
    currency: str
    baseline: str | None = None
    margin: float | None = None
    tests: Sequence[TestResult] = ()

    def table(self) -> str:
        """Write the comparisons as a table."""
        several = "simultaneous " if len(self.pairs) > 1 else ""
        unit = f" ({self.currency})" if self.currency else ""
        header = [
            "pair",
            f"difference{unit}",
            f"{several}{percent(self.study.confidence)} interval",
            "p",
            "adjusted p",
            "verdict",
        ]
        rows = [
            [
                f"{pair.first} - {pair.second}",
                number(pair.difference),
                f"{number(pair.low)} … {number(pair.high)}",
                f"{pair.p_value:.2g}",
                f"{pair.adjusted:.2g}",
                _verdict(pair),
            ]
            for pair in self.pairs
        ]
        return text_table(header, rows)

    def said(self) -> list[str]:
        """Say what the comparisons come to."""
        return [self.summary] if self.summary else [test.summary() for test in self.tests]

    def failed(self) -> list[str]:
        """Return the models that the gate stops."""
        if self.tests:
            return [test.names[0] for test in self.tests if not test.rejected]
        return [pair.first for pair in self.pairs if pair.rejected and pair.difference > 0]

    def rule(self) -> str:
        """Say what the gate asks of a model."""
        sure = percent(self.study.confidence)
        if self.margin is not None:
            return (
                f"a model passes if it is shown, with {sure} confidence, that it costs less than "
                f"{number(self.margin)}{self._unit()} more per decision than {self.baseline}."
            )
        adjusted = f", p-values adjusted for {len(self.pairs)} models" if self.pairs[1:] else ""
        return (
            f"a model fails if it is shown, with {sure} confidence{adjusted}, that it costs more "
            f"than {self.baseline}."
        )

    def outcome(self) -> str:
        """Say who passes the gate and who fails."""
        failed = self.failed()
        passed = [pair.first for pair in self.pairs if pair.first not in failed]
        parts = [(failed, "failed"), (passed, "passed")]
        return "; ".join(f"{', '.join(names)} {what}" for names, what in parts if names) + "."

    def gate(self) -> dict[str, Any]:
        """Return what the gate asked and found."""
        return {"rule": self.rule(), "failed": self.failed(), "passed": not self.failed()}

    def to_dict(self) -> dict[str, Any]:
        """Return the comparisons as plain values."""
        study = self.study
        return {
            "source": study.source,
            "n": study.n,
            "confidence": study.confidence,
            "currency": self.currency,
            "costs": study.costs.to_dict(),
            "class_priors": study.design.class_priors,
            "baseline": self.baseline,
            "margin": self.margin,
            "pairs": [asdict(pair) for pair in self.pairs],
            "tests": [test.to_dict() for test in self.tests],
            "summary": self.summary,
        }

    def _unit(self) -> str:
        return f" {self.currency}" if self.currency else ""


def every_pair(study: Study, currency: str, seed: int) -> Comparisons:
    """Compare every pair of models."""
    ranking = study.ranking(currency)
    pairs = ranking.pairwise(confidence=study.confidence, rng=seed)
    return Comparisons(study, pairs, ranking.summary(study.confidence), currency)


def against(study: Study, baseline: str, currency: str, margin: float | None) -> Comparisons:
    """Compare each model with a baseline."""
    ranking = study.ranking(currency)
    if baseline not in study.names:
        raise InputError(
            f"--baseline: there is no model {baseline!r}; there are {listing(study.names)}."
        )
    sure = study.confidence
    pairs = ranking.against(baseline, confidence=sure)
    tests = []
    if margin is not None:
        compared = [ranking.difference(pair.first, baseline) for pair in pairs]
        tests = [each.test(alternative="less", margin=margin, confidence=sure) for each in compared]
    return Comparisons(study, pairs, "", currency, baseline, margin, tests)


def _verdict(pair: Pair) -> str:
    if not pair.rejected:
        return "a tie"
    return f"{pair.first} is {'costlier' if pair.difference > 0 else 'cheaper'}"
