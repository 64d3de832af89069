"""stakes evaluate: what each model costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from stakes.cli import _inputs as options
from stakes.cli._inputs import (
    check_volume,
    examples_of,
    read_study,
    sampling_note,
    show_caution,
    volume_words,
)

if TYPE_CHECKING:
    from stakes.cli._output import Output
    from stakes.findings.data import Costs, Data, RunSettings
    from stakes.findings.models import Model, Trivial
    from stakes.study import Study

EXAMPLES = (
    "stakes evaluate predictions.csv --costs costs.csv",
    "stakes evaluate predictions.csv --fp 10 --fn 100 --pos-label fraud",
    "stakes evaluate predictions.csv -c costs.csv --volume 1e6 --per year",
    "stakes evaluate predictions.csv -c costs.csv --groups patient",
    "stakes evaluate audit.csv --fp 5 --fn-column amount --pos-label fraud",
)
SCHEMA = "stakes-evaluate/2"


@dataclass(frozen=True)
class Evaluation:
    """What `stakes evaluate` finds.

    Attributes
    ----------
    schema : str
        The name and version of this layout.
    data : Data
        The examples.
    costs : Costs
        The cost matrix.
    settings : RunSettings
        What the command was told.
    models : tuple of Model
        What each model costs, the cheapest first.
    best_set : tuple of str
        The models that no other was shown to beat.
    summary : str
        The answer in a sentence.
    """

    schema: str
    data: Data
    costs: Costs
    settings: RunSettings
    models: tuple[Model, ...]
    best_set: tuple[str, ...]
    summary: str


Method = Annotated[
    str,
    typer.Option(
        "--method",
        metavar="NAME",
        help="Of intervals: auto, extremal, bcost, exact, normal, t, bca, dirichlet, likelihood, "
        "guaranteed or anytime.",
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
    method: Method = "auto",
    confidence: options.Confidence = 0.95,
    class_priors: options.ClassPriors = None,
    unit: options.Unit = "",
    volume: options.Volume = None,
    per: options.Per = None,
    seed: options.Seed = 0,
    json: options.Json = None,
) -> None:
    """Say what each model costs, and how sure that is."""
    from stakes.findings.data import costs_of_study, data_of, run_settings_of
    from stakes.findings.models import IntervalBy, best_trivial_of, models_of
    from stakes.infer._inference import takes

    output = context.obj
    check_volume(volume, per)
    output.will_write(json, inputs=[*predictions, prices.costs])
    output.only_json(json)
    study = read_study(
        output,
        predictions,
        prices,
        columns,
        amounts=amounts,
        sampling=sampling,
        confidence=confidence,
        class_priors=class_priors,
        with_scores=False,
    )
    by = IntervalBy(method, {"rng": seed} if takes(method, "rng") else {})
    models = models_of(study, unit, volume, by)
    best, summary = _answer(study, models, unit)
    data = data_of(study)
    output.text(f"{examples_of(study)}{f'; costs in {unit}' if unit else ''}.{sampling_note(data)}")
    title = ""
    if volume is not None:
        title = f"cost of {volume_words(volume, per)}{f' ({unit})' if unit else ''}"
    _show_tables(output, models, best_trivial_of(study, by), study.confidence, title)
    output.text()
    output.text(summary, "bold")
    show_caution(output, data, summary)
    output.results(
        Evaluation(
            schema=SCHEMA,
            data=data,
            costs=costs_of_study(study),
            settings=run_settings_of(study, unit, volume=volume, per=per, seed=seed),
            models=models,
            best_set=best,
            summary=summary,
        )
    )


def _show_tables(
    output: Output, models: tuple[Model, ...], trivial: Trivial, confidence: float, title: str
) -> None:
    """Show what each model costs and, under a title, what many decisions do."""
    from stakes.show.text import model_table, volume_table

    output.text()
    output.table(model_table(models, trivial, confidence))
    if title:
        output.text()
        output.table(volume_table(models, title, confidence))


def _answer(study: Study, models: tuple[Model, ...], unit: str) -> tuple[tuple[str, ...], str]:
    """Return the models that no other was shown to beat, and the answer in a sentence."""
    if len(models) == 1:
        return (models[0].name,), f"{models[0].name}: {models[0].summary}"
    ranking = study.ranking(unit)
    return tuple(ranking.best_set(study.confidence)), ranking.summary(study.confidence)
