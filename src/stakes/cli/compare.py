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
    from stakes.policies import PolicyPair, Verdict
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
    pairs : tuple of PolicyPair
        The cheapest policy against each of the others that compete.
    baseline : str
        The policy that others are compared with.
    against_baseline : tuple of PolicyPair
        Where a baseline was named, each candidate minus the baseline; limits and adjusted p-values
        allow for the number of candidates.
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
    pairs: tuple[PolicyPair, ...]
    baseline: str
    against_baseline: tuple[PolicyPair, ...]
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
    seed: options.Seed = 0,
    json: options.Json = None,
) -> int:
    """Compare models by cost; --gate fails a build if one costs more."""
    from stakes.infer.gate import checked_margin

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
        seed=seed,
        confidence=confidence,
        class_priors=class_priors,
        with_scores="if they fit",
        gated=gate,
    )
    period = _Period(volume, per)
    found = _found(
        study, unit, seed, period, margin, gate=gate, named=named, models=json is not None
    )
    _show(output, found, study.confidence, named=named)
    output.results(found)
    if found.gate is None:
        return 0
    _for_build(output, found, build, study.confidence)
    return _exit_code(output, found.gate)


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


def _for_build(output: Output, found: Comparison, build: BuildOptions, confidence: float) -> None:
    """Write the gate's result for a build; in GitHub Actions, also the lines that it displays."""
    from stakes.cli._output import complain
    from stakes.show.text import github_lines, junit_text, markdown_text

    if found.gate is None:
        return
    gate, pairs, unit = found.gate, found.against_baseline, found.settings.unit
    tests = found.tests
    if build.junit is not None:
        text = junit_text(gate, pairs, baseline=found.baseline, unit=unit, tests=tests)
        output.write_text(build.junit, text)
    if build.markdown is not None:
        text = markdown_text(gate, pairs, confidence=confidence, unit=unit, tests=tests)
        output.append_text(build.markdown, text)
    if os.environ.get("GITHUB_ACTIONS") == "true":
        for line in github_lines(gate, pairs, unit, tests):
            complain(line)


def _show(output: Output, found: Comparison, confidence: float, *, named: bool) -> None:
    """Print the comparison, first the outcome of the gate or, without one, which policy to use."""
    from stakes.show.text import policy_pair_table, policy_pair_title

    if found.gate is not None:
        lead = "Gate not passed." if found.gate.unjudged else f"Gate {found.gate.outcome}."
        output.text(f"{lead} {found.gate.summary}", _style(found.gate))
        output.text(f"{found.gate.rule[0].upper()}{found.gate.rule[1:]}")
        output.text()
    else:
        show_verdict(output, found.verdict)
    if drawn := sampling_note(found.data).strip():
        output.text(drawn)
        output.text()
    unit = found.settings.unit
    pairs = found.against_baseline if named else found.pairs
    if pairs:
        output.text(policy_pair_title(pairs, unit))
        output.table(policy_pair_table(pairs, confidence))
    for warning in dict.fromkeys(each.warning for each in pairs if each.warning):
        output.text()
        output.text(warning)
    for sentence in [each.summary() for each in found.tests]:
        output.text()
        output.text(sentence)
    show_notes(output, found.verdict)


def _style(gate: GateResult) -> str:
    return "bold green" if gate.passed else "bold red"


def _exit_code(output: Output, gate: GateResult) -> int:
    """Return the exit code of the gate; print what it could not judge on standard error."""
    if not gate.unjudged:
        return 0 if gate.passed else 1
    for name, reason in gate.unjudged.items():
        output.complain(f"the gate could not judge {name!r}: {reason}.")
    output.complain("name what the gate must judge with --candidate, or correct the column.")
    return COULD_NOT_JUDGE


@dataclass(frozen=True)
class _Period:
    """Number of decisions and their period, if given."""

    volume: float | None
    per: str | None


def _found(
    study: Study,
    unit: str,
    seed: int,
    period: _Period,
    margin: float | None,
    *,
    gate: bool,
    named: bool,
    models: bool,
) -> Comparison:
    """Compare the cheapest policy with the others, and candidates with a baseline if named.

    The models are optional: their rates take long under a sampling design, and only JSON has them.
    """
    from stakes.findings.data import costs_of_study, data_of, run_settings_of
    from stakes.findings.models import models_of
    from stakes.findings.policies import gate_of, policies_found

    checked = study.policies.gate(margin=margin, unit=unit) if named else None
    volume, per = period.volume, period.per
    return Comparison(
        schema=SCHEMA,
        data=data_of(study),
        costs=costs_of_study(study),
        settings=run_settings_of(study, unit, volume=volume, per=per, seed=seed),
        verdict=study.verdict(unit=unit, volume=volume, per=per or "", seed=seed),
        policies=policies_found(study, volume),
        models=models_of(study, unit, volume) if models else (),
        pairs=study.policies.pairs,
        baseline=study.policies.reference,
        against_baseline=tuple(
            study.policies.described(each) for each in (() if checked is None else checked.pairs)
        ),
        margin=margin,
        tests=() if checked is None else checked.tests,
        gate=gate_of(checked) if gate and checked is not None else None,
    )
