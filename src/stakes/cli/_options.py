"""Registration of commands, and the options that several of them share."""

from __future__ import annotations

import inspect
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from stakes.errors import InputError

if TYPE_CHECKING:
    pass


# Commands and their options. Options that belong together are one parameter, a dataclass.


class FileUse(Enum):
    """Whether a command reads or writes the files of an option; no output may be an input."""

    READ = "read"
    WRITTEN = "written"


def add(app: typer.Typer, module: ModuleType, name: str | None = None) -> None:
    """Add a command of a module to an app; by default, the command with the module's name."""
    function = getattr(module, name or module.__name__.rpartition(".")[2])
    examples = module.EXAMPLES if name is None else module.EXAMPLES[name]
    lines = "\n".join(f"  {each}" for each in examples)
    # \b keeps typer from rewrapping the lines.
    app.command(cls=_Once, epilog=f"\b\nExamples:\n{lines}")(expanded(function))


class _Quick(TyperCommand if TYPE_CHECKING else object):  # type: ignore[misc]
    """Command whose parameters convert plain values without pydantic.

    Since version 0.29, typer converts all values with pydantic, which takes longer to load than a
    small file takes to read.
    """

    def get_params(self, ctx: Any) -> Any:
        """Return the parameters, including the help option."""
        parameters: list[Any] = super().get_params(ctx)
        for each in parameters:
            if hasattr(each, "get_runtime_param") and "get_runtime_param" not in vars(each):
                plain = _Plain(each.type_descriptor.annotation, each.get_runtime_param)
                each.get_runtime_param = lambda plain=plain: plain
        return parameters


class QuickGroup(_Quick, TyperGroup):
    """Group of commands whose own parameters convert plain values without pydantic."""


class _Plain:
    """Converter of text, numbers and paths, which leaves other values and errors to typer.

    Parameters
    ----------
    annotation : type
        The type of the parameter, such as ``float`` or ``list[str]``.
    by_typer : callable
        Returns typer's own converter.
    """

    def __init__(self, annotation: Any, by_typer: Callable[[], Any]) -> None:
        self._kind = next(iter(get_args(annotation)), annotation)
        self._by_typer = by_typer

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Convert the given value, or the default."""
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        given = value if several else [value]
        if not all(_is_plain(each, self._kind) for each in given):
            return self._by_typer().coerce(value, param=param, ctx=ctx)
        found = [self._kind(each) for each in given]
        return found if several else found[0]


def _is_plain(value: Any, kind: Any) -> bool:
    """Return whether the type itself converts a value as typer would."""
    if type(value) is kind:
        return True
    if kind is Path:  # typer refuses a file that cannot be read
        return os.access(value, os.R_OK) or not os.path.exists(value)  # noqa: PTH110 - long names
    if kind not in {int, float} or not isinstance(value, str) or not value.isascii():
        return False
    try:
        kind(value)
    except ValueError:
        return False
    return True


class _Once(_Quick, TyperCommand):
    """Command that refuses a second value for an option that takes one.

    Typer silently takes the last of several values, and the results would be for that one alone.
    """

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if ctx.resilient_parsing:  # for shell completion
            return super().parse_args(ctx, args)
        _, _, order = self.make_parser(ctx).parse_args(args=list(args))
        for option, times in Counter(order).items():
            once = isinstance(option, TyperOption) and not (option.multiple or option.is_flag)
            if once and times > 1:
                ctx.fail(f"{option.opts[0]} is given {times} times; give it once.")
        return super().parse_args(ctx, args)


def expanded(command: Callable[..., Any]) -> Callable[..., Any]:
    """Return a command in which the fields of each dataclass parameter are options.

    The names of its files are checked before it runs. Its output is printed when it is done.
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

    read, written = (_names_of(parameters, use) for use in (FileUse.READ, FileUse.WRITTEN))

    def run(**given: Any) -> Any:
        output = given["context"].obj
        output.will_write(*(path for name in written for path in _each(given[name])))
        output.will_read(*(path for name in read for path in _each(given[name])))
        for name, bundle in bundles.items():
            given[name] = bundle(**{each.name: given.pop(each.name) for each in fields(bundle)})
        result = command(**given)
        output.finish()
        return result

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return run


def _names_of(parameters: Sequence[inspect.Parameter], use: FileUse) -> list[str]:
    return [each.name for each in parameters if use in getattr(each.annotation, "__metadata__", ())]


def _each(given: Any) -> list[Any]:
    return [given] if given is None or isinstance(given, str | Path) else [*given]


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


# Options that several commands share.

READABLE = (
    "CSV, TSV, JSON lines, Parquet, Arrow or Excel, or a count file. A folder or a quoted pattern, "
    "such as 'part-*.csv', is read as one table. Also s3://, postgresql://, and - for standard "
    "input."
)

Predictions = Annotated[
    list[str],
    typer.Argument(metavar="PREDICTIONS", help=f"{READABLE} Several files are joined on --id."),
    FileUse.READ,
]
Pilot = Annotated[
    list[str] | None,
    typer.Argument(metavar="PREDICTIONS", help=f"A first, small test set (pilot): {READABLE}"),
    FileUse.READ,
]
CostFile = Annotated[
    Path | None,
    typer.Option(
        "--costs", "-c", metavar="FILE", help="Cost matrix: a CSV, TSV, JSON or Weka .cost file."
    ),
    FileUse.READ,
]
FalsePositive = Annotated[
    float | None,
    typer.Option("--fp", metavar="COST", help="Cost of a false alarm, instead of --costs."),
]
FalseNegative = Annotated[
    float | None,
    typer.Option("--fn", metavar="COST", help="Cost of a miss, instead of --costs."),
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
        "--classes", metavar="CLASSES", help="Classes in order, for a Weka .cost file: good,bad."
    ),
]
Actual = Annotated[
    str | None,
    typer.Option("--actual", metavar="COLUMN", help="Column with the actual classes."),
]
Models = Annotated[
    list[str] | None,
    typer.Option(
        "--model",
        "-m",
        metavar="COLUMN",
        help="Column with a model's decisions, or NAME=COLUMN; repeatable. Cost curves of six "
        "models or fewer are compared in all pairs.",
    ),
]
Scores = Annotated[
    list[str] | None,
    typer.Option(
        "--score",
        "-s",
        metavar="COLUMN",
        help="Column with a model's scores, or NAME=COLUMN with the name of its decisions; "
        "repeatable.",
    ),
]
Id = Annotated[
    str | None,
    typer.Option(
        "--id", metavar="COLUMN", help="Column that identifies an example, to join files on."
    ),
]
ModelColumn = Annotated[
    str | None,
    typer.Option(
        "--model-column",
        metavar="COLUMN",
        help="Column that names the model, if there is a row for each example and model.",
    ),
]
IgnoreCase = Annotated[
    bool,
    typer.Option(
        "--ignore-case", help="Ignore case, spaces and punctuation when comparing labels."
    ),
]
DropMissing = Annotated[
    bool,
    typer.Option("--drop-missing", help="Leave out rows with missing values in the columns used."),
]
LowerIsPositive = Annotated[
    list[str] | None,
    typer.Option(
        "--lower-is-positive",
        metavar="COLUMN",
        help="Score column in which low values mean the positive class; repeatable.",
    ),
]
TableName = Annotated[
    str | None,
    typer.Option(
        "--table",
        metavar="NAME",
        help="Database table to read. PREDICTIONS is then its address, postgresql://user@host/db.",
    ),
]
Query = Annotated[
    str | None,
    typer.Option("--query", metavar="SQL", help="Query that selects rows of the database."),
]
ClassNames = Annotated[
    str | None,
    typer.Option(
        "--names", metavar="NAMES", help="Names of classes in results: 0=repaid,1=default."
    ),
]
Confidence = Annotated[
    float,
    typer.Option("--confidence", metavar="SHARE", help="Confidence level of intervals and tests."),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="COLUMN",
        help="Column of groups, such as patients, whose rows are not independent.",
    ),
]
SampleWeight = Annotated[
    str | None,
    typer.Option(
        "--weight",
        metavar="COLUMN",
        help="Column of weights: 1 / the probability that a row is in the sample.",
    ),
]
Strata = Annotated[
    str | None,
    typer.Option(
        "--strata",
        metavar="COLUMN",
        help="Column of strata that were sampled separately. If the number of rows of each class "
        "was fixed: the column of the actual classes.",
    ),
]
Population = Annotated[
    str | None,
    typer.Option(
        "--population",
        metavar="ROWS",
        help="Size, or share, of each stratum in the population: north=8000,south=2000, or a CSV "
        "or JSON file. Without strata: the number of rows in the population.",
    ),
    FileUse.READ,
]
FalsePositiveColumn = Annotated[
    str | None,
    typer.Option(
        "--fp-column",
        metavar="COLUMN",
        help="Column with the cost of a false alarm in each row, instead of --fp.",
    ),
]
FalseNegativeColumn = Annotated[
    str | None,
    typer.Option(
        "--fn-column",
        metavar="COLUMN",
        help="Column with the cost of a miss in each row, instead of --fn.",
    ),
]
ClassPriors = Annotated[
    str | None,
    typer.Option(
        "--class-priors",
        metavar="SHARES",
        help="Class frequencies in production: fraud=0.01,ok=0.99. Of two classes, one is enough.",
    ),
]
Unit = Annotated[
    str, typer.Option("--unit", metavar="UNIT", help="Unit of the costs, such as USD.")
]
Volume = Annotated[
    float | None,
    typer.Option("--volume", metavar="N", help="Number of decisions to report the total cost of."),
]
Per = Annotated[
    str | None, typer.Option("--per", metavar="TIME", help="Period of --volume, such as year.")
]
Json = Annotated[
    Path | None,
    typer.Option(
        "--json", metavar="FILE", help="Write the results as JSON; - prints only the JSON."
    ),
    FileUse.WRITTEN,
]


def _checked_seed(seed: int) -> int:
    if seed < 0:
        raise InputError("--seed", f"expected a whole number from 0 on, got {seed}.")
    return seed


Seed = Annotated[
    int,
    typer.Option("--seed", metavar="N", callback=_checked_seed, help="Random seed."),
]

Baseline = Annotated[
    str | None,
    typer.Option(
        "--baseline",
        metavar="POLICY",
        help="Policy to compute savings against: old, old@0.31 (at a threshold), old@best (at its "
        "best threshold) or 'always ok'. Default: the first model as decided.",
    ),
]
Candidates = Annotated[
    list[str] | None,
    typer.Option(
        "--candidate",
        metavar="POLICY",
        help="Policy that must be compared, named like the baseline: new, new@0.31, new@best; "
        "repeatable.",
    ),
]
Validation = Annotated[
    str | None,
    typer.Option(
        "--validation",
        metavar="FILE",
        help="Other predictions of the same models to choose thresholds on, instead of "
        "cross-fitting.",
    ),
    FileUse.READ,
]
MinRecall = Annotated[
    float | None,
    typer.Option("--min-recall", metavar="SHARE", help="Lowest recall of a chosen threshold."),
]
MaxFpr = Annotated[
    float | None,
    typer.Option(
        "--max-fpr", metavar="SHARE", help="Highest false positive rate of a chosen threshold."
    ),
]
Capacity = Annotated[
    float | None,
    typer.Option(
        "--capacity",
        metavar="N",
        help="Highest number of cases flagged positive in --volume decisions; without it, in the "
        "examples.",
    ),
]


@dataclass(frozen=True)
class PolicyOptions:
    """Options for the policies that compete and the choice of their thresholds."""

    baseline: Baseline = None
    candidates: Candidates = None
    validation: Validation = None
    min_recall: MinRecall = None
    max_fpr: MaxFpr = None
    capacity: Capacity = None


NO_POLICIES = PolicyOptions()


@dataclass(frozen=True)
class CostOptions:
    """Options for the costs of mistakes."""

    costs: CostFile = None
    false_positive: FalsePositive = None
    false_negative: FalseNegative = None
    pos_label: PosLabel = None
    rows: Rows = None
    classes: Classes = None
    class_names: ClassNames = None


@dataclass(frozen=True)
class ColumnOptions:
    """Options for the roles of columns and the reading of rows."""

    actual: Actual = None
    models: Models = None
    scores: Scores = None
    key: Id = None
    model_column: ModelColumn = None
    ignore_case: IgnoreCase = False
    drop_missing: DropMissing = False
    lower_is_positive: LowerIsPositive = None
    table: TableName = None
    query: Query = None


@dataclass(frozen=True)
class AmountOptions:
    """Options for the columns with the costs of single rows."""

    fp_column: FalsePositiveColumn = None
    fn_column: FalseNegativeColumn = None


NO_AMOUNTS = AmountOptions()


@dataclass(frozen=True)
class SamplingOptions:
    """Options for the sampling design of the rows."""

    groups: Groups = None
    sample_weight: SampleWeight = None
    strata: Strata = None
    population: Population = None


NO_SAMPLING = SamplingOptions()
