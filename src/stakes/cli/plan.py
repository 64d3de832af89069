"""stakes plan: the number of test examples needed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stakes.cli import _options as options
from stakes.cli._inputs import costs_if_given, no_costs, read_study
from stakes.errors import InputError, InputTypeError, PlanError

if TYPE_CHECKING:
    from stakes.costs import CostMatrix
    from stakes.findings.data import Costs, Data, RunSettings
    from stakes.findings.sample_size import NeededSize
    from stakes.study import Study

EXAMPLES = (
    "stakes plan --costs costs.csv --half-width 0.5",
    "stakes plan pilot.csv --costs costs.csv --half-width 0.5 --assurance 0.9",
    "stakes plan pilot.csv -c costs.csv --difference 1 --power 0.9",
    "stakes plan predictions.csv -c costs.csv --half-width 1 --groups patient",
)
SCHEMA = "stakes-plan/2"


@dataclass(frozen=True)
class Planned:
    """Number of test examples needed for a policy, or for a pair.

    Attributes
    ----------
    name : str or None
        The policy or pair; null where there is no pilot.
    plan : NeededSize or None
        The number of examples and the goal; null where no number is enough.
    problem : str or None
        Why no number is enough, where there are several policies or pairs.
    """

    name: str | None
    plan: NeededSize | None
    problem: str | None = None


@dataclass(frozen=True)
class Plans:
    """Findings of `stakes plan`.

    Attributes
    ----------
    schema : str
        The name and version of this layout.
    data : Data or None
        The examples of the pilot; null where there is none.
    costs : Costs
        The cost matrix.
    settings : RunSettings
        Settings of the command.
    plans : tuple of Planned
        The plan for each model at its cheapest policy and for the baseline, or for each pair.
    """

    schema: str
    data: Data | None
    costs: Costs
    settings: RunSettings
    plans: tuple[Planned, ...]


HalfWidth = Annotated[
    float | None,
    typer.Option(
        "--half-width", metavar="COST", help="How far the upper limit may be above the cost."
    ),
]
Assurance = Annotated[
    float | None,
    typer.Option(
        "--assurance",
        metavar="SHARE",
        help="Share of test sets that keep the half-width, such as 0.8.",
    ),
]
Difference = Annotated[
    float | None,
    typer.Option(
        "--difference",
        metavar="COST",
        help="Difference in cost per decision to detect.",
    ),
]
Power = Annotated[
    float | None,
    typer.Option(
        "--power",
        metavar="SHARE",
        help="Probability of showing the difference, such as 0.8. Without --difference: of showing "
        "which model costs less.",
    ),
]


def plan(
    context: typer.Context,
    *,
    prices: options.CostOptions,
    amounts: options.AmountOptions,
    columns: options.ColumnOptions,
    sampling: options.SamplingOptions,
    predictions: options.Pilot = None,
    half_width: HalfWidth = None,
    assurance: Assurance = None,
    difference: Difference = None,
    power: Power = None,
    confidence: options.Confidence = 0.95,
    class_priors: options.ClassPriors = None,
    seed: options.Seed = 0,
    json: options.Json = None,
) -> None:
    """Compute how many test examples are needed."""
    from stakes.findings.data import RunSettings, costs_of, data_of, run_settings_of
    from stakes.findings.sample_size import needed_size_of
    from stakes.infer.planning import plan_test_size

    output = context.obj
    _check_goal(half_width, assurance, difference, power)
    if not predictions:
        _check_without_pilot(class_priors, sampling, amounts)
    output.only_json(json)
    costs = costs_if_given(prices, amounts)
    if costs is None:
        raise no_costs()
    settings: dict[str, Any] = {"confidence": confidence, "rng": seed}
    goal = {
        "half_width": half_width,
        "assurance": assurance,
        "difference": difference,
        "power": power,
    }
    settings |= {name: value for name, value in goal.items() if value is not None}
    data, run_settings = None, RunSettings(confidence, None, seed=seed)
    if predictions:
        study = read_study(
            output,
            predictions,
            prices,
            columns,
            costs=costs,
            amounts=amounts,
            sampling=sampling,
            confidence=confidence,
            class_priors=class_priors,
            with_scores="if they fit",
        )
        plans, matrix = _from_pilot(output, study, settings), study.costs
        data, run_settings = data_of(study), run_settings_of(study, seed=seed)
    else:
        matrix = _matrix(costs, prices.pos_label)
        plans = (Planned(None, needed_size_of(plan_test_size(matrix, **settings))),)
    _show(output, plans)
    output.results(Plans(SCHEMA, data, costs_of(matrix), run_settings, plans))


def _check_goal(
    half_width: float | None,
    assurance: float | None,
    difference: float | None,
    power: float | None,
) -> None:
    """Raise unless exactly one goal is given."""
    if half_width is None and difference is None and power is None:
        raise InputTypeError(
            "",
            "a target is missing.",
            "Give --half-width, the precision of a cost; or --difference, the difference between "
            "two models to detect; or --power, to show which of two costs less.",
        )
    if half_width is not None and (difference is not None or power is not None):
        raise InputTypeError(
            "--half-width", "it is for one model, --difference and --power are for two; give one."
        )
    if assurance is not None and half_width is None:
        raise InputTypeError("--assurance", "it is for --half-width; give that too.")


def _check_without_pilot(
    class_priors: str | None, sampling: options.SamplingOptions, amounts: options.AmountOptions
) -> None:
    """Raise if an option about the rows of a pilot is given without a pilot."""
    given = {"--class-priors": class_priors}
    renamed = {"sample_weight": "weight"}
    given |= {f"--{renamed.get(name, name)}": each for name, each in vars(sampling).items()}
    given |= {f"--{name.replace('_', '-')}": each for name, each in vars(amounts).items()}
    for option, value in given.items():
        if value is not None:
            raise InputTypeError(option, "it is about the rows of a pilot; give that too.")


def _show(output: Any, plans: tuple[Planned, ...]) -> None:
    from stakes.show.text import plan_table

    sizes = [each.plan for each in plans if each.plan is not None]
    if len(plans) == 1:
        name = plans[0].name
        output.text(f"{name}: {sizes[0].summary}" if name else sizes[0].summary, "bold")
        return
    if sizes:
        output.text(f"Test examples needed {sizes[0].goal}:")
        output.text()
        output.table(plan_table({each.name or "": each.plan for each in plans if each.plan}))
        for each in plans:
            if each.plan is not None and each.plan.drawn:
                output.text()
                output.text(f"{each.name}: {each.plan.drawn}.")
    for each in plans:
        if each.problem is not None:
            output.text()
            output.text(f"{each.name}: {each.problem}")


def _matrix(costs: CostMatrix | dict[str, float], pos_label: str | None) -> CostMatrix:
    from stakes.costs import CostMatrix

    if isinstance(costs, CostMatrix):
        return costs
    names = {} if pos_label is None else {"pos_label": pos_label, "neg_label": f"not {pos_label}"}
    return CostMatrix.from_errors(**costs, **names)  # type: ignore[arg-type]


def _from_pilot(output: Any, study: Study, settings: dict[str, Any]) -> tuple[Planned, ...]:
    """Plan for each policy of a model, or for each pair of them."""
    from stakes.cli._output import Progress
    from stakes.findings.sample_size import needed_size_of
    from stakes.infer.planning import plan_from

    names, policies = study.policies.of_models, study.policies
    pilots: dict[str, Any] = {name: policies.estimate(name) for name in names}
    if "half_width" not in settings:
        pilots = {
            f"{one} - {other}": policies.apart(one, other) for one, other in combinations(names, 2)
        }
        if not pilots:
            raise InputError(
                study.source,
                f"a difference is between two models, there is only {names[0]!r}.",
            )
    plans = []
    with Progress(shown=not output.quiet) as progress:
        progress.expect(len(pilots))
        for name, pilot in pilots.items():
            progress.step(name)
            try:
                plan = plan_from(pilot, study.n, **settings)
            except InputError as error:
                told_nothing = error.argument == "pilot"  # for example, all examples cost the same
                if len(pilots) == 1 or not (isinstance(error, PlanError) or told_nothing):
                    raise
                plans.append(Planned(name, None, error.problem))
            else:
                plans.append(Planned(name, needed_size_of(plan)))
    if not any(each.plan for each in plans):
        raise PlanError("", "no test set is large enough.", str(plans[0].problem))
    return tuple(plans)
