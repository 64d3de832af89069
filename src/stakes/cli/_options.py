"""The options that several commands have, written once."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, get_type_hints

import typer

from stakes.errors import InputError

# Commands and their options: those that belong together are one parameter.


def add(app: typer.Typer, module: ModuleType, name: str | None = None) -> None:
    """Add the command that a module defines under its own name, with the module's examples."""
    function = getattr(module, name or module.__name__.rpartition(".")[2])
    examples = module.EXAMPLES if name is None else module.EXAMPLES[name]
    lines = "\n".join(f"  {each}" for each in examples)
    # \b keeps typer from filling the lines.
    app.command(epilog=f"\b\nExamples:\n{lines}")(expanded(function))


def expanded(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the fields of a dataclass as options, for each parameter that is one.

    What the command says is shown when it is done.
    """
    hints = get_type_hints(command, include_extras=True)
    parameters: list[inspect.Parameter] = []
    bundles: dict[str, Any] = {}
    for name, parameter in inspect.signature(command).parameters.items():
        if is_dataclass(hints[name]):
            bundles[name] = hints[name]
            parameters += _options(hints[name])
        else:
            parameters.append(
                parameter.replace(annotation=hints[name], kind=parameter.KEYWORD_ONLY)
            )

    def run(**given: Any) -> Any:
        for name, bundle in bundles.items():
            given[name] = bundle(**{each.name: given.pop(each.name) for each in fields(bundle)})
        result = command(**given)
        given["context"].obj.finish()
        return result

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _options(bundle: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(bundle, include_extras=True)
    return [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=hints[each.name],
        )
        for each in fields(bundle)
    ]


READABLE = (
    "CSV, TSV, JSON lines, Parquet or Arrow; a folder of such files, or a quoted pattern such as "
    "'part-*.csv', as one table; a count file; - for standard input."
)

Predictions = Annotated[
    list[str],
    typer.Argument(metavar="PREDICTIONS", help=f"{READABLE} Several are joined on --id."),
]
Pilot = Annotated[
    list[str] | None,
    typer.Argument(metavar="PREDICTIONS", help=f"Of a first, small test: {READABLE}"),
]
CostFile = Annotated[
    Path | None,
    typer.Option(
        "--costs", "-c", metavar="FILE", help="The cost matrix: CSV, TSV, JSON or Weka's .cost."
    ),
]
FalsePositive = Annotated[
    float | None,
    typer.Option("--fp", metavar="COST", help="What a false alarm costs, instead of --costs."),
]
FalseNegative = Annotated[
    float | None,
    typer.Option("--fn", metavar="COST", help="What a miss costs, instead of --costs."),
]
PosLabel = Annotated[
    str | None,
    typer.Option("--pos-label", metavar="CLASS", help="The positive class, such as fraud."),
]
Rows = Annotated[
    str | None,
    typer.Option(
        "--rows", metavar="WHICH", help="What the rows of the cost matrix are: predicted or actual."
    ),
]
Classes = Annotated[
    str | None,
    typer.Option(
        "--classes", metavar="CLASSES", help="The classes in order, for Weka's .cost: good,bad."
    ),
]
Actual = Annotated[
    str | None,
    typer.Option("--actual", metavar="COLUMN", help="The column with the actual classes."),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model", "-m", metavar="COLUMN", help="A column with a model's decisions; repeatable."
    ),
]
Scores = Annotated[
    list[str] | None,
    typer.Option(
        "--score", "-s", metavar="COLUMN", help="A column with a model's scores; repeatable."
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="The column that names an example, to join files on."
    ),
]
Confidence = Annotated[
    float, typer.Option("--confidence", metavar="SHARE", help="Of intervals and tests.")
]
ClassPriors = Annotated[
    str | None,
    typer.Option(
        "--class-priors",
        metavar="SHARES",
        help="The share of each class where it is used: fraud=0.01,ok=0.99.",
    ),
]
Unit = Annotated[
    str, typer.Option("--unit", metavar="UNIT", help="The unit of the costs, such as USD.")
]
Volume = Annotated[
    float | None,
    typer.Option("--volume", metavar="N", help="How many decisions to say the cost of."),
]
Per = Annotated[
    str | None, typer.Option("--per", metavar="TIME", help="The time these are taken in: year.")
]
Json = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Write the results to this file; - for only that."),
]


def _checked_seed(seed: int) -> int:
    if seed < 0:
        raise InputError("--seed", f"expected a whole number from 0 on, got {seed}.")
    return seed


Seed = Annotated[
    int,
    typer.Option(
        "--seed", metavar="N", callback=_checked_seed, help="Of everything that is drawn."
    ),
]


@dataclass(frozen=True)
class CostOptions:
    """What mistakes cost."""

    costs: CostFile = None
    false_positive: FalsePositive = None
    false_negative: FalseNegative = None
    pos_label: PosLabel = None
    rows: Rows = None
    classes: Classes = None


@dataclass(frozen=True)
class ColumnOptions:
    """Which columns play which part."""

    actual: Actual = None
    models: Models = None
    scores: Scores = None
    key: Id = None
