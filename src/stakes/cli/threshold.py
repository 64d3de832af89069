"""stakes threshold: choose the score threshold of each model."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stakes.cli import _options as options
from stakes.cli._inputs import (
    check_volume,
    costs_if_given,
    examples_of,
    read_study,
    sampling_note,
    show_caution,
)
from stakes.errors import InputError, InputTypeError

if TYPE_CHECKING:
    from stakes.costs import CostMatrix
    from stakes.findings.curves import Choice
    from stakes.findings.data import Costs, Data, RunSettings
    from stakes.policies.threshold import ThresholdChoice
    from stakes.study import Study

TWO = 2
EXAMPLES = (
    "stakes threshold predictions.csv --costs costs.csv",
    "stakes threshold test.csv -c costs.csv --validation validation.csv",
    "stakes threshold predictions.csv --pos-label fraud --max-fpr 0.05",
    "stakes threshold predictions.csv -c costs.csv --capacity 50 --volume 1000",
    "stakes threshold audit.csv --fp 5 --fn-column amount --pos-label fraud",
)
SCHEMA = "stakes-threshold/3"
GOALS = (
    "Give costs with --costs or --fp and --fn; a limit with --max-fpr, --min-recall or --capacity; "
    "or both."
)
OTHERWISE = "Give more rows, or --rule minimum."


@dataclass(frozen=True)
class ModelThreshold:
    """The threshold of a model.

    Attributes
    ----------
    name : str
        The model.
    choice : Choice
        Its threshold, and what that does.
    """

    name: str
    choice: Choice


@dataclass(frozen=True)
class Thresholds:
    """Findings of `stakes threshold`.

    Attributes
    ----------
    schema : str
        The name and version of this layout.
    data : Data
        The examples that thresholds are judged by.
    costs : Costs or None
        The cost matrix; null where none was given.
    settings : RunSettings
        Settings of the command.
    validation : str or None
        The file that thresholds were chosen on, if it is another.
    models : tuple of ModelThreshold
        The threshold of each model.
    """

    schema: str
    data: Data
    costs: Costs | None
    settings: RunSettings
    validation: str | None
    models: tuple[ModelThreshold, ...]


Volume = Annotated[
    float | None,
    typer.Option("--volume", metavar="N", help="Number of decisions that --capacity is for."),
]
Assurance = Annotated[
    float | None,
    typer.Option(
        "--assurance",
        metavar="SHARE",
        help="Confidence that a limit is kept on new examples, such as 0.95.",
    ),
]
Rule = Annotated[
    str,
    typer.Option(
        "--rule",
        metavar="NAME",
        help="guarded, as stakes evaluate chooses; or minimum, the least cost on the examples.",
    ),
]


def threshold(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    amounts: options.AmountOptions,
    columns: options.ColumnOptions,
    sampling: options.SamplingOptions,
    rule: Rule = "guarded",
    max_fpr: options.MaxFpr = None,
    min_recall: options.MinRecall = None,
    capacity: options.Capacity = None,
    volume: Volume = None,
    assurance: Assurance = None,
    validation: options.Validation = None,
    class_priors: options.ClassPriors = None,
    confidence: options.Confidence = 0.95,
    unit: options.Unit = "",
    json: options.Json = None,
) -> None:
    """Choose the threshold that costs least, or that keeps a limit."""
    from stakes.cli.curve import NO_COSTS
    from stakes.findings.curves import choice_found
    from stakes.findings.data import costs_of_study, data_of, run_settings_of

    output = context.obj
    output.only_json(json)
    costs = costs_if_given(prices, amounts)
    check_volume(volume, None)
    policy = options.PolicyOptions(None, None, validation, min_recall, max_fpr, capacity)
    if costs is None and policy == options.PolicyOptions(validation=validation):
        raise InputTypeError("", "costs or a limit must be given.", GOALS)
    study = read_study(
        output,
        predictions,
        prices,
        columns,
        costs=costs or NO_COSTS,
        confidence=confidence,
        class_priors=class_priors,
        undecided=True,
        sampling=sampling,
        amounts=amounts,
        policy=policy,
        volume=volume,
    )
    limits = {"capacity": capacity, "volume": volume, "assurance": assurance}
    chosen = _choices(study, None if costs is None else study.costs, rule, limits)
    choices = {name: choice_found(each) for name, each in chosen.items()}
    data = data_of(study)
    _show(output, study, choices, unit, data)
    output.results(
        Thresholds(
            schema=SCHEMA,
            data=data,
            costs=None if costs is None else costs_of_study(study),
            settings=run_settings_of(study, unit, volume=volume),
            validation=validation,
            models=tuple(ModelThreshold(*each) for each in choices.items()),
        )
    )


def _show(output: Any, study: Study, choices: dict[str, Choice], unit: str, data: Data) -> None:
    from stakes.show.text import threshold_table

    drawn = sampling_note(data)
    output.text(f"{examples_of(study)}; {study.pos_label!r} is positive.{drawn}")
    output.text()
    output.table(threshold_table(choices, unit, study.confidence))
    for name, each in choices.items():
        output.text()
        output.text(f"{name}: {each.summary}")
    show_caution(output, data)


def _choices(
    study: Study, costs: CostMatrix | None, rule: str, limits: dict[str, float | None]
) -> dict[str, ThresholdChoice]:
    """Return the threshold of each model: that of the verdict, or the best on the examples."""
    from stakes._core import validate
    from stakes.findings.curves import choices_of
    from stakes.policies.threshold import GUARDED, RULES

    validate.choice(rule, "rule", RULES)
    names = _names(study)
    if costs is None or rule != GUARDED:
        return {name: _plain(study, name, costs, rule, limits) for name in names}
    sure, volume = limits["assurance"], limits["volume"]
    if limits["capacity"] is None and volume is not None:
        raise InputTypeError("--volume", "it is used only with a capacity; give --capacity too.")
    choosing = replace(study.choosing, assurance=sure, volume=volume or float(study.n))
    study = replace(study, choosing=choosing)
    try:
        found = choices_of(study)
    except InputError as error:
        if error.argument:
            raise
        raise InputError("", error.problem, OTHERWISE) from None  # no model can be judged
    missing = [name for name in names if name not in found]
    if missing:
        notes = " ".join(study.policies.notes)
        raise InputError(
            study.source, f"no threshold of {missing[0]!r} is chosen. {notes}", OTHERWISE
        )
    return found


def _plain(
    study: Study, name: str, costs: CostMatrix | None, rule: str, limits: dict[str, float | None]
) -> ThresholdChoice:
    """Return the best threshold of a model on the examples, or on the validation rows."""
    from stakes.policies._rows import check_scales
    from stakes.policies.threshold import choose_threshold

    own: Any = study.examples or study.joint_scores
    other: Any = study.choosing.validation
    rates = {"min_recall": study.choosing.min_recall, "max_fpr": study.choosing.max_fpr}
    given = {**limits, **rates, **study.where_thresholds_are_used(), "rule": rule}
    (mine, parts), (theirs, more) = _rows_of(own, name, costs), _rows_of(other or own, name, costs)
    if study.examples is not None:
        given["pos_label"] = study.pos_label
    elif other is not None:
        check_scales(own, other)
    choice = choose_threshold(*theirs, **more, **given, confidence=study.confidence)  # type: ignore[misc]
    return choice if other is None else choice.on(*mine, **parts)


def _rows_of(rows: Any, name: str, costs: CostMatrix | None) -> tuple[list[Any], dict[str, Any]]:
    """Return the scores of a model with their costs, and the classes of single rows."""
    from stakes.predictions.examples import JointExamples

    if isinstance(rows, JointExamples):
        return [(rows.scores or {})[name], rows.example_costs], rows.as_arguments()
    return [rows.single(name), costs], {}


def _names(study: Study) -> list[str]:
    """Return the models whose thresholds can be chosen and judged."""
    from stakes.cli.curve import one_class

    if study.pos_label is None or len(study.costs.decisions) != TWO:
        raise InputError(
            "--costs",
            "a threshold needs two classes that are also the decisions; the costs have "
            f"{len(study.costs.labels)} classes and {len(study.costs.decisions)} decisions.",
        )
    names = list(study.scores)
    if not names:
        raise InputError(study.source, "no model has scores; name a column of them with --score.")
    if not study.both_classes:
        raise one_class(study)
    other: Any = study.choosing.validation
    known = names if other is None else getattr(other, "scores", None) or other.names
    for name in names:
        if name not in known:
            there = ", ".join(map(repr, known))
            raise InputError(
                "--validation", f"there are no scores of the model {name!r}, only of: {there}."
            )
    return names
