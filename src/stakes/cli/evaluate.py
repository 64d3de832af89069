"""stakes evaluate: the cost of each model, with its confidence interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from stakes.cli import _options as options
from stakes.cli._inputs import (
    check_volume,
    examples_of,
    read_study,
    sampling_note,
    show_notes,
    show_verdict,
    volume_words,
)

if TYPE_CHECKING:
    from stakes.cli._output import Output
    from stakes.findings.data import Costs, Data, RunSettings
    from stakes.findings.models import Model
    from stakes.findings.policies import PolicyResult
    from stakes.infer.family import Pair
    from stakes.policies.verdict import Verdict
    from stakes.study import Study

EXAMPLES = (
    "stakes evaluate predictions.csv --costs costs.csv",
    "stakes evaluate predictions.csv --fp 10 --fn 100 --pos-label fraud",
    "stakes evaluate predictions.csv -c costs.csv --volume 1e6 --per year",
    "stakes evaluate predictions.csv -c costs.csv --groups patient",
    "stakes evaluate audit.csv --fp 5 --fn-column amount --pos-label fraud",
)
SCHEMA = "stakes-evaluate/3"


@dataclass(frozen=True)
class Evaluation:
    """Findings of `stakes evaluate`.

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
    moved : tuple of Pair
        Each threshold against the same model's decisions as they stand: what moving the threshold
        saves. Each is compared alone, unless it is one of the pairs.
    """

    schema: str
    data: Data
    costs: Costs
    settings: RunSettings
    verdict: Verdict
    policies: tuple[PolicyResult, ...]
    models: tuple[Model, ...]
    pairs: tuple[Pair, ...]
    moved: tuple[Pair, ...]


Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Interval method: extremal, bcost, exact, normal, t, bca, dirichlet, "
        "likelihood, guaranteed or anytime.",
    ),
]


def evaluate(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    amounts: options.AmountOptions,
    columns: options.ColumnOptions,
    sampling: options.SamplingOptions,
    policy: options.PolicyOptions,
    method: Method = "extremal",
    confidence: options.Confidence = 0.95,
    class_priors: options.ClassPriors = None,
    unit: options.Unit = "",
    volume: options.Volume = None,
    per: options.Per = None,
    seed: options.Seed = 0,
    json: options.Json = None,
) -> None:
    """Print what each model costs, with its confidence interval."""
    from stakes.findings.data import costs_of_study, data_of, run_settings_of
    from stakes.findings.policies import IntervalBy, policies_found
    from stakes.infer._inference import takes

    output = context.obj
    check_volume(volume, per)
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
    )
    by = IntervalBy(method, (("rng", seed),) if takes(method, "rng") else ())
    found = policies_found(study, volume, by)
    verdict = study.verdict(unit=unit, volume=volume, per=per or "", rng=seed, method=method)
    data = data_of(study)
    show_verdict(output, verdict)
    output.text(f"{examples_of(study)}{f'; costs in {unit}' if unit else ''}.{sampling_note(data)}")
    output.text()
    _show_tables(output, found, study.confidence, unit, _title(volume, per))
    moved = _show_moved(output, study, unit)
    show_notes(output, verdict)
    if json is None:  # rates under a sampling design take long
        return
    from stakes.findings.models import models_of

    settings = run_settings_of(study, unit, volume=volume, per=per, seed=seed)
    models, pairs = models_of(study, unit, volume, by), study.policies.pairs
    costs = costs_of_study(study)
    output.results(Evaluation(SCHEMA, data, costs, settings, verdict, found, models, pairs, moved))


def _title(volume: float | None, per: str | None) -> str:
    """Return the title of the table of total costs; empty if no number of decisions was given."""
    return "" if volume is None else f"Cost of {volume_words(volume, per)}:"


def _show_tables(
    output: Output,
    policies: tuple[PolicyResult, ...],
    confidence: float,
    unit: str,
    title: str,
) -> None:
    """Print the cost of each policy and, if there is a title, the total cost of many decisions."""
    from stakes.show.text import policy_table, volume_table

    output.table(policy_table(policies, confidence, unit))
    if title:
        output.text()
        output.text(title)
        output.table(volume_table(policies, unit, confidence))


def _show_moved(output: Output, study: Study, unit: str) -> tuple[Pair, ...]:
    """Print and return what thresholds save compared with the decisions of the same models."""
    from stakes.findings.policies import moved_found
    from stakes.show.text import moved_table

    moved = moved_found(study)
    if moved:
        output.text()
        output.table(moved_table(moved, unit, study.confidence))
    return moved
