"""stakes threshold: choose the score threshold of each model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stakes.cli import _options as options
from stakes.cli._inputs import (
    check_capacity,
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
    from stakes.study import Study

TWO = 2
EXAMPLES = (
    "stakes threshold predictions.csv --costs costs.csv",
    "stakes threshold test.csv -c costs.csv --validation validation.csv",
    "stakes threshold predictions.csv --pos-label fraud --max-fpr 0.05",
    "stakes threshold predictions.csv -c costs.csv --capacity 50 --volume 1000",
    "stakes threshold audit.csv --fp 5 --fn-column amount --pos-label fraud",
)
SCHEMA = "stakes-threshold/2"
SAME_EXAMPLES = (
    "A threshold costs least on the examples it was chosen on, and more on others. `stakes "
    "evaluate` judges thresholds on folds that did not choose them"
)
STEADIER = "its own follow a smooth estimate, which varies less from sample to sample"


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


MaxFpr = Annotated[
    float | None,
    typer.Option("--max-fpr", metavar="SHARE", help="Highest false positive rate allowed."),
]
MinRecall = Annotated[
    float | None,
    typer.Option("--min-recall", metavar="SHARE", help="Lowest recall allowed."),
]
Capacity = Annotated[
    float | None,
    typer.Option(
        "--capacity",
        metavar="N",
        help="Highest number of cases flagged positive in --volume decisions.",
    ),
]
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
Validation = Annotated[
    str | None,
    typer.Option(
        "--validation",
        metavar="FILE",
        help="Other predictions to choose thresholds on. PREDICTIONS then only evaluates them.",
    ),
    options.FileUse.READ,
]


def threshold(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    amounts: options.AmountOptions,
    columns: options.ColumnOptions,
    sampling: options.SamplingOptions,
    max_fpr: MaxFpr = None,
    min_recall: MinRecall = None,
    capacity: Capacity = None,
    volume: Volume = None,
    assurance: Assurance = None,
    validation: Validation = None,
    class_priors: options.ClassPriors = None,
    confidence: options.Confidence = 0.95,
    unit: options.Unit = "",
    json: options.Json = None,
) -> None:
    """Choose the threshold that costs least, or that keeps a limit."""
    from stakes.cli.curve import NO_COSTS
    from stakes.findings.data import costs_of_study, data_of, run_settings_of

    output = context.obj
    output.only_json(json)
    costs = costs_if_given(prices, amounts)
    if capacity is not None:
        check_capacity(capacity)
    limits = {"max_fpr": max_fpr, "min_recall": min_recall, "capacity": capacity}
    if costs is None and all(limit is None for limit in limits.values()):
        raise _no_goal()
    limits |= {"volume": volume, "assurance": assurance}
    asked: dict[str, Any] = {
        "confidence": confidence,
        "class_priors": class_priors,
        "undecided": True,
        "sampling": sampling,
        "amounts": amounts,
    }
    study = read_study(output, predictions, prices, columns, costs=costs or NO_COSTS, **asked)
    chosen_on = study
    if validation is not None:
        again = costs if study.examples is not None else study.costs
        chosen_on = read_study(output, [validation], prices, columns, costs=again, **asked)
    choices = _choices(study, chosen_on, None if costs is None else study.costs, limits)
    data = data_of(study)
    _show(output, study, choices, unit, data)
    if chosen_on is study and costs is not None:
        output.text()
        output.text(_origin(study, choices, limits))
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


def _origin(study: Study, choices: dict[str, Choice], limits: dict[str, float | None]) -> str:
    """Return a note that the examples judge their own choice, and what `evaluate` would use."""
    from dataclasses import replace

    from stakes._core.text import listed
    from stakes.policies import Choosing

    capacity, volume = limits["capacity"], limits["volume"]
    share = None if capacity is None else capacity / (volume or study.n)
    choosing = Choosing(min_recall=limits["min_recall"], max_fpr=limits["max_fpr"], capacity=share)
    try:
        policies = replace(study, choosing=choosing).policies.policies
    except InputError:  # `evaluate` would refuse the options
        return f"{SAME_EXAMPLES}."
    used = {each.model: each for each in policies if each.kind == "threshold"}
    others = [
        used[name].name.replace("@", " at ")
        for name, choice in choices.items()
        if name in used and used[name].threshold != choice.threshold
    ]
    if not others:
        return f"{SAME_EXAMPLES}."
    return f"{SAME_EXAMPLES}, and uses {listed(others)}: {STEADIER}."


def _no_goal() -> InputTypeError:
    return InputTypeError(
        "",
        "costs or a limit must be given.",
        "Give costs with --costs or --fp and --fn; a limit with --max-fpr, --min-recall or "
        "--capacity; or both.",
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
    study: Study, chosen_on: Study, costs: CostMatrix | None, limits: dict[str, float | None]
) -> dict[str, Choice]:
    """Choose a threshold for each model on one set of predictions, and judge it on another."""
    from stakes.curves.threshold import choose_threshold
    from stakes.findings.curves import choice_of
    from stakes.policies._rows import check_scales

    choices, names = {}, _names(study, chosen_on)
    if study.joint_scores is not None and chosen_on.joint_scores is not None:
        check_scales(study.joint_scores, chosen_on.joint_scores)
    for name in names:
        if study.examples is not None and chosen_on.examples is not None:
            choices[name] = _choice_of_rows(study, chosen_on, name, limits)
            continue
        choice = choose_threshold(
            chosen_on.scores[name],
            costs,
            **study.where_thresholds_are_used(),
            confidence=study.confidence,
            **limits,
        )
        judged = choice if chosen_on is study else choice.on(study.scores[name])
        choices[name] = choice_of(judged)
    return choices


def _choice_of_rows(
    study: Study, chosen_on: Study, name: str, limits: dict[str, float | None]
) -> Choice:
    """Choose a threshold where each row has costs of its own."""
    from stakes.curves.threshold import choose_threshold
    from stakes.findings.curves import example_choice_of

    rows = []
    for each in (chosen_on, study):
        examples = each.examples
        scores = None if examples is None else (examples.scores or {}).get(name)
        if examples is None or scores is None:
            raise InputError(
                each.source,
                f"a threshold where each row has its own costs needs the score of each row, and "
                f"those of {name!r} are not kept.",
                "Give the predictions themselves.",
            )
        rows.append((scores, examples.example_costs, examples.as_arguments()))
    given = {"pos_label": study.pos_label, "confidence": study.confidence, **limits}
    used = study.where_thresholds_are_used()
    choice = choose_threshold(rows[0][0], rows[0][1], **rows[0][2], **given, **used)
    if chosen_on is not study:
        choice = choice.on(rows[1][0], rows[1][1], **rows[1][2])
    return example_choice_of(choice, study.scores_where_used(name))


def _names(study: Study, chosen_on: Study) -> list[str]:
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
    for each in (study, chosen_on):
        if not each.both_classes:
            raise one_class(each)
    for name in names:
        if name not in chosen_on.scores:
            there = ", ".join(map(repr, chosen_on.scores)) or "none"
            raise InputError(
                chosen_on.source, f"there are no scores of the model {name!r}, only of: {there}."
            )
    return names
