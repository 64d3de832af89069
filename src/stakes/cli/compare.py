"""stakes compare: cost differences between models, and a gate that stops a costlier one."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from stakes.cli import _options as options
from stakes.cli._inputs import (
    check_volume,
    read_study,
    sampling_note,
    show_notes,
    show_verdict,
)
from stakes.errors import InputTypeError

if TYPE_CHECKING:
    from stakes.cli._output import Output
    from stakes.findings.data import Costs, Data, RunSettings
    from stakes.findings.models import Model
    from stakes.findings.policies import GateResult, PolicyResult
    from stakes.infer._inference import TestResult
    from stakes.infer.family import Pair
    from stakes.infer.gate import Gate, Volume
    from stakes.policies.verdict import Verdict
    from stakes.study import Study

EXAMPLES = (
    "stakes compare predictions.csv --costs costs.csv",
    "stakes compare predictions.csv -c costs.csv --baseline logistic",
    "stakes compare predictions.csv -c costs.csv --baseline old --margin 2 --gate",
    "stakes compare predictions.csv -c costs.csv --groups patient --weight weight",
)
SCHEMA = "stakes-compare/3"
COULD_NOT_JUDGE = 2


@dataclass(frozen=True)
class Comparison:
    """Findings of `stakes compare`.

    Attributes
    ----------
    schema : str
        The name and version of this layout.
    data : Data
        The examples.
    costs : Costs
        The cost matrix.
    settings : RunSettings
        Settings of the command.
    verdict : Verdict
        Which policy to use.
    policies : tuple of PolicyResult
        The cost of each policy, the cheapest first.
    models : tuple of Model
        The cost of each model at its cheapest policy.
    pairs : tuple of Pair
        The cheapest policy against each of the others that compete.
    baseline : str
        The policy that others are compared with.
    against_baseline : tuple of Pair
        Where a baseline was named, each candidate minus the baseline, judged alone.
    margin : float or None
        The most that a candidate may cost above the baseline, as given.
    tests : tuple of TestResult
        With a margin, for each candidate the test that it costs less than that much more.
    gate : GateResult or None
        Which candidates pass, and which fail; null where no gate was asked for.
    """

    schema: str
    data: Data
    costs: Costs
    settings: RunSettings
    verdict: Verdict
    policies: tuple[PolicyResult, ...]
    models: tuple[Model, ...]
    pairs: tuple[Pair, ...]
    baseline: str
    against_baseline: tuple[Pair, ...]
    margin: float | None
    tests: tuple[TestResult, ...]
    gate: GateResult | None


Margin = Annotated[
    float | None,
    typer.Option(
        "--margin",
        metavar="COST",
        help="How much more per decision than the baseline a model may cost.",
    ),
]
AskGate = Annotated[
    bool,
    typer.Option(
        "--gate",
        help="Exit with 1 if a candidate is shown to cost more than the baseline. With --margin: "
        "exit with 1 unless each is shown to cost less than the margin more. Exit with 2 if one "
        "cannot be judged.",
    ),
]

Junit = Annotated[
    Path | None,
    typer.Option("--junit", metavar="FILE", help="Write the gate's result as JUnit XML."),
    options.FileUse.WRITTEN,
]
Markdown = Annotated[
    Path | None,
    typer.Option(
        "--markdown",
        metavar="FILE",
        help="Append the gate's result to a Markdown file, such as $GITHUB_STEP_SUMMARY.",
    ),
    options.FileUse.WRITTEN,
]


@dataclass(frozen=True)
class BuildOptions:
    """Options for the files from which a build reads the result of a gate."""

    junit: Junit = None
    markdown: Markdown = None


def compare(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    amounts: options.AmountOptions,
    columns: options.ColumnOptions,
    sampling: options.SamplingOptions,
    policy: options.PolicyOptions,
    margin: Margin = None,
    gate: AskGate = False,
    build: BuildOptions,
    confidence: options.Confidence = 0.95,
    class_priors: options.ClassPriors = None,
    unit: options.Unit = "",
    volume: options.Volume = None,
    per: options.Per = None,
    json: options.Json = None,
) -> int:
    """Compare models by cost; --gate fails a build if one costs more."""
    from stakes.infer.gate import Volume, checked_margin

    output = context.obj
    check_volume(volume, per)
    named = policy.baseline is not None
    _check_gate(build, gate=gate, margin=margin is not None, named=named)
    margin = None if margin is None else checked_margin(margin)
    output.only_json(json)
    study = read_study(
        output,
        predictions,
        prices,
        columns,
        amounts=amounts,
        sampling=sampling,
        policy=policy,
        volume=volume,
        confidence=confidence,
        class_priors=class_priors,
        with_scores="if they fit",
        gated=gate,
    )
    over = None if volume is None else Volume(volume, per or "")
    judged = study.policies.gate(margin=margin, unit=unit, volume=over) if named else None
    found = _found(study, judged, unit, over, gate=gate, models=json is not None)
    _show(output, found, judged)
    output.results(found)
    if judged is None or not gate:
        return 0
    _for_build(output, judged, build)
    return _exit_code(output, judged)


def _check_gate(build: BuildOptions, *, gate: bool, margin: bool, named: bool) -> None:
    """Raise if a gate or margin has no baseline, or a file for the gate's result has no gate."""
    if (gate or margin) and not named:
        raise InputTypeError(
            "--gate" if gate else "--margin",
            "which model are the others compared with?",
            "Name it with --baseline.",
        )
    for option, given in (("--junit", build.junit), ("--markdown", build.markdown)):
        if given is not None and not gate:
            raise InputTypeError(option, "it is about a gate.", "Give --gate.")


def _for_build(output: Output, gate: Gate, build: BuildOptions) -> None:
    """Write the gate's result for a build; in GitHub Actions, also the lines that it displays."""
    from stakes.cli._output import complain
    from stakes.show.text import github_lines, junit_text, markdown_text

    if build.junit is not None:
        output.write_text(build.junit, junit_text(gate))
    if build.markdown is not None:
        output.append_text(build.markdown, markdown_text(gate))
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in github_lines(gate):
            complain(line)


def _show(output: Output, found: Comparison, judged: Gate | None) -> None:
    """Print the comparison, first the outcome of the gate or, without one, which policy to use."""
    from stakes.show.text import gate_table, policy_pair_table, policy_pair_title

    if found.gate is not None:
        lead = "Gate not passed." if found.gate.unjudged else f"Gate {found.gate.outcome}."
        style = "bold green" if found.gate.passed else "bold red"
        output.text(f"{lead} {found.gate.summary}", style)
        output.text(f"{found.gate.rule[0].upper()}{found.gate.rule[1:]}")
        output.text()
    else:
        show_verdict(output, found.verdict)
    if drawn := sampling_note(found.data).strip():
        output.text(drawn)
        output.text()
    unit, confidence = found.settings.unit, found.settings.confidence
    pairs = found.pairs if judged is None else judged.pairs
    if pairs:
        output.text(policy_pair_title(pairs, unit))
        output.table(policy_pair_table(pairs, confidence) if judged is None else gate_table(judged))
    for reason in () if judged is None else judged.reasons().values():
        output.text()
        output.text(reason)
    show_notes(output, found.verdict)


def _exit_code(output: Output, gate: Gate) -> int:
    """Return the exit code of the gate; print what it could not judge on standard error."""
    if not gate.unjudged:
        return 0 if gate.passed else 1
    for name, reason in gate.unjudged.items():
        output.complain(f"the gate could not judge {name!r}: {reason}.")
    output.complain("name what the gate must judge with --candidate, or correct the column.")
    return COULD_NOT_JUDGE


def _found(
    study: Study, judged: Gate | None, unit: str, over: Volume | None, *, gate: bool, models: bool
) -> Comparison:
    """Compare the cheapest policy with the others, and candidates with a baseline if named.

    The models are optional: their rates take long under a sampling design, and only JSON has them.
    """
    from stakes.findings.data import costs_of_study, data_of, run_settings_of
    from stakes.findings.models import models_of
    from stakes.findings.policies import gate_of, policies_found

    volume, per = (None, None) if over is None else (over.decisions, over.per)
    return Comparison(
        schema=SCHEMA,
        data=data_of(study),
        costs=costs_of_study(study),
        settings=run_settings_of(study, unit, volume=volume, per=per or None),
        verdict=study.verdict(unit=unit, volume=volume, per=per or ""),
        policies=policies_found(study, volume),
        models=models_of(study, unit, volume) if models else (),
        pairs=study.policies.pairs,
        baseline=study.policies.reference,
        against_baseline=() if judged is None else judged.pairs,
        margin=None if judged is None else judged.margin,
        tests=() if judged is None else judged.tests,
        gate=gate_of(judged) if gate and judged is not None else None,
    )
