"""stakes compare: how models differ in cost, and a gate that stops a costlier one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from stakes._core.labels import listing
from stakes._core.text import number, percent, text_table
from stakes.cli import _options as options
from stakes.cli._inputs import read_study
from stakes.errors import InputError, InputTypeError
from stakes.infer import Pair, TestResult
from stakes.study import Study

# Comparisons of models, and what a gate makes of them.


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


EXAMPLES = (
    "stakes compare predictions.csv --costs costs.csv",
    "stakes compare predictions.csv -c costs.csv --baseline logistic",
    "stakes compare predictions.csv -c costs.csv --baseline old --margin 2 --gate",
)
SCHEMA = "stakes-compare/1"

Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline", metavar="MODEL", help="The model that the others are compared with."
    ),
]
Margin = Annotated[
    float | None,
    typer.Option(
        "--margin",
        metavar="COST",
        help="How much more than the baseline a model may cost, per decision.",
    ),
]
Gate = Annotated[
    bool,
    typer.Option(
        "--gate",
        help="Exit with 1 if a model is shown to cost more than the baseline; with --margin, "
        "unless all are shown to cost less than that much more.",
    ),
]


def compare(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    columns: options.ColumnOptions,
    baseline: Baseline = None,
    margin: Margin = None,
    gate: Gate = False,
    confidence: options.Confidence = 0.95,
    class_priors: options.ClassPriors = None,
    currency: options.Currency = "",
    seed: options.Seed = 0,
    json: options.Json = None,
) -> int:
    """Say how models differ in cost; --gate stops a costlier one."""
    from stakes.cli.compare import against, every_pair

    output = context.obj
    if baseline is None and (gate or margin is not None):
        raise InputTypeError(
            f"{'--gate' if gate else '--margin'}: which model are the others compared with? Name "
            "it with --baseline."
        )
    if margin is not None and not 0 <= margin < float("inf"):
        raise InputError(f"--margin: expected how much more a model may cost, got {margin:g}.")
    output.will_write(json, inputs=[*predictions, prices.costs])
    output.only_json(json)
    study = read_study(
        output,
        predictions,
        prices,
        columns,
        confidence=confidence,
        class_priors=class_priors,
        with_scores=False,
    )
    if baseline is None:
        found = every_pair(study, currency, seed)
    else:
        found = against(study, baseline, currency, margin)
    output.table(found.table())
    for sentence in found.said():
        output.text()
        output.text(sentence, "bold")
    failed = found.failed() if gate else []
    if gate:
        output.text()
        output.text(f"Gate: {found.rule()}")
        output.text(found.outcome(), "bold red" if failed else "bold green")
    output.results({"schema": SCHEMA, **found.to_dict(), "gate": found.gate() if gate else None})
    return 1 if failed else 0
