"""Registration of commands, the options they share, and the reading of their input files."""

from __future__ import annotations

import csv
import inspect
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from enum import Enum
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption

from stakes.cli._output import Output, Progress
from stakes.errors import FileError, InputError, InputTypeError

if TYPE_CHECKING:
    from stakes.costs import CostMatrix
    from stakes.findings.data import Data
    from stakes.policies import Verdict
    from stakes.predictions import Columns, Table, Tally
    from stakes.predictions.arrow import ArrowTable
    from stakes.study import Study

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
        help="Column with a model's decisions; repeatable. Cost curves of six models or fewer are "
        "compared in all pairs.",
    ),
]
Scores = Annotated[
    list[str] | None,
    typer.Option(
        "--score", "-s", metavar="COLUMN", help="Column with a model's scores; repeatable."
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


# Output files and their names.

COUNTS = (".json", ".parquet")
"""Extensions of count files."""


def check_counts_name(path: Path) -> None:
    """Raise unless a path has an extension of count files."""
    if path.suffix.lower() not in COUNTS:
        raise FileError(
            f"{path}",
            "expected a name ending in .json or .parquet, as all count files have.",
        )


def write_counts(path: Path, counts: Tally) -> None:
    """Write a count file in the format of its extension."""
    from stakes.predictions.count_file import counts_bytes, counts_text
    from stakes.read import write_binary, write_text

    if path.suffix.lower() == ".parquet":
        write_binary(path, counts_bytes(counts))
    else:
        write_text(path, counts_text(counts))


def check_name(path: Path | None, endings: tuple[str, ...]) -> None:
    """Raise unless a path has one of the extensions, or is None."""
    if path is not None and path.suffix.lower() not in endings:
        *some, last = endings
        known = f"{', '.join(some)} or {last}" if some else last
        raise FileError(f"{path}", f"expected a name ending in {known}.")


# Numbers of decisions, costs and other values of options.


def check_volume(volume: float | None, per: str | None) -> None:
    """Raise if a number of decisions is not positive and finite, or a period has no number."""
    if volume is None and per is not None:
        raise InputTypeError("--per", "it is the period of --volume; give both.")
    if volume is not None and not 0 < volume < float("inf"):
        raise InputError("--volume", f"expected a positive number of decisions, got {volume:g}.")


def check_capacity(capacity: float) -> float:
    """Return the highest number of positive decisions; raise if it is not a valid number."""
    if not 0 <= capacity < float("inf"):
        problem = f"expected a number of decisions, 0 or more; got {capacity:g}."
        raise InputError("--capacity", problem)
    if 0 < capacity < 1:
        problem = f"expected a number of decisions, not a share of them; got {capacity:g}."
        raise InputError("--capacity", problem)
    return capacity


def volume_words(volume: float, per: str | None) -> str:
    """Return the number of decisions and their period in words."""
    from stakes._core.text import number

    return f"{number(volume)} decisions" + (f" a {per}" if per else "")


def no_costs() -> InputTypeError:
    """Return the error for missing costs."""
    return InputTypeError(
        "",
        "costs are missing.",
        "Give a cost matrix with --costs ('stakes costs template' writes one to fill in), or "
        "the costs of a false alarm and of a miss with --fp and --fn.",
    )


def costs_if_given(
    given: CostOptions, amounts: AmountOptions = NO_AMOUNTS
) -> CostMatrix | dict[str, Any] | None:
    """Return the costs if any are given; for costs in columns, the names of the columns."""
    inline = {
        "false_positive": (given.false_positive, amounts.fp_column, "--fp"),
        "false_negative": (given.false_negative, amounts.fn_column, "--fn"),
    }
    mistakes: dict[str, Any] = {}
    for mistake, (cost, column, option) in inline.items():
        if cost is not None and column is not None:
            raise InputTypeError(
                f"{option}, {option}-column", "give one cost, or the column of costs, not both."
            )
        if cost is not None or column is not None:
            mistakes[mistake] = cost if column is None else column
    if given.costs is not None and mistakes:
        raise InputTypeError(
            "--costs, --fp, --fn", "give a cost matrix or the two costs, not both."
        )
    if given.costs is not None:
        return read_matrix(given.costs, given.rows, given.classes)
    if given.rows is not None or given.classes is not None:
        name = "--rows" if given.rows is not None else "--classes"
        raise InputTypeError(name, "it applies to a cost matrix; give one with --costs.")
    if len(mistakes) == 1:
        missing = "--fn" if "false_positive" in mistakes else "--fp"
        raise InputTypeError(missing, "give both costs, with --fp and --fn.")
    return mistakes or None


def read_matrix(path: Path, rows: str | None, classes: str | None) -> CostMatrix:
    """Read a cost matrix from a file."""
    from stakes._core.labels import in_words_or_numbers
    from stakes.costs import CostMatrix

    if classes is None and path.suffix.lower() == ".cost" and path.exists():
        raise FileError(
            f"{path}",
            "Weka's files have no labels; give the classes in their order, with --classes "
            "good,bad.",
        )
    named = None if classes is None else in_words_or_numbers(next(csv.reader([classes]), []))
    return CostMatrix.read(path, rows=rows, labels=named)


def read_priors(text: str | None) -> dict[str, float] | None:
    """Read class priors such as ``fraud=0.01,ok=0.99``."""
    if text is None:
        return None
    expected = "a share for each class, such as fraud=0.01,ok=0.99"
    return _numbers_by_name(text, "--class-priors", "class", expected)


def read_names(text: str | None) -> dict[str, str] | None:
    """Read display names of classes, such as ``0=repaid,1=default``."""
    if text is None:
        return None
    found: dict[str, str] = {}
    for part in next(csv.reader([text]), []):
        label, equals, name = (each.strip() for each in part.partition("="))
        if not equals or not label or not name:
            raise InputError(
                "--names", f"expected a name for each class, such as 0=repaid; got {part!r}."
            )
        if label in found:
            raise InputError("--names", f"the class {label!r} occurs twice.")
        found[label] = name
    return found


def _numbers_by_name(text: str, option: str, what: str, expected: str) -> dict[str, float]:
    pairs = []
    for part in next(csv.reader([text]), []):
        name, equals, value = part.rpartition("=")
        if not equals:
            raise InputError(option, f"expected {expected}; got {part!r}.")
        pairs.append((name, value))
    return _by_name(pairs, option, what, expected)


def _by_name(
    pairs: Sequence[tuple[str, Any]], where: str, what: str, expected: str
) -> dict[str, float]:
    """Return numbers by name; each name may occur once."""
    found: dict[str, float] = {}
    for name, value in pairs:
        try:
            number = float(value)
        except (TypeError, ValueError):
            number = float("nan")
        if number != number or not str(name).strip():  # noqa: PLR0124 - not a number
            raise InputError(where, f"expected {expected}; got {f'{name}={value}'!r}.")
        if str(name).strip() in found:
            raise InputError(where, f"the {what} {str(name).strip()!r} occurs twice.")
        found[str(name).strip()] = number
    return found


def read_population(text: str | None) -> dict[str, float] | float | None:
    """Read the population sizes of strata: a number, ``north=8000,south=2000``, or a file."""
    if text is None:
        return None
    expected = "rows or a share for each stratum, such as north=8000,south=2000"
    try:
        return float(text)
    except ValueError:
        pass
    path = Path(text)
    if "=" in text and not path.exists():
        return _numbers_by_name(text, "--population", "stratum", expected)
    return _by_name(_population_pairs(path), text, "stratum", expected)


def _population_pairs(path: Path) -> list[tuple[str, Any]]:
    """Return the strata of a file and their numbers: a JSON object, or a table of two columns."""
    import json

    from stakes.read import read_text
    from stakes.read.checksums import json_content
    from stakes.read.tables import read_table

    if path.suffix.lower() == ".json":
        content = json_content(read_text(path), f"{path}", "an object of strata")
        if not isinstance(content, dict):
            raise FileError(
                f"{path}", f"expected an object of strata, got {json.dumps(content)[:50]}."
            )
        return list(content.items())
    table = read_table(str(path), None).table
    if table.num_columns != 2:  # noqa: PLR2004 - names and numbers
        raise FileError(
            f"{path}",
            "expected two columns, the stratum and its rows or share; there are "
            f"{', '.join(map(repr, table.column_names[:10]))}.",
        )
    names, numbers = (column.to_pylist() for column in table.columns)
    return list(zip(map(str, names), numbers, strict=True))


def read_study(
    output: Output,
    predictions: Sequence[str],
    prices: CostOptions,
    columns: ColumnOptions,
    *,
    costs: CostMatrix | dict[str, float] | None = None,
    amounts: AmountOptions = NO_AMOUNTS,
    sampling: SamplingOptions = NO_SAMPLING,
    confidence: float = 0.95,
    class_priors: str | None = None,
    policy: PolicyOptions = NO_POLICIES,
    volume: float | None = None,
    seed: int = 0,
    undecided: bool = False,
    with_scores: bool | Literal["if they fit"] = True,
    table: ArrowTable | None = None,
    divides: Sequence[str] = (),
) -> Study:
    """Read and count predictions, and print notes on what was guessed on standard error.

    Costs and a table can be passed if they are read already; of that table, rows without a label
    are left out.
    """
    from stakes.policies import Asked
    from stakes.study import study_of_files

    if costs is None:
        costs = costs_if_given(prices, amounts)
    if costs is None and not _may_have_costs(predictions):
        raise no_costs()
    priors, population = read_priors(class_priors), read_population(sampling.population)
    named = replace(_named(columns, sampling), divides=tuple(divides))
    with Progress(shown=not output.quiet) as progress:
        stated: dict[str, Any] = {
            "with_scores": with_scores,
            "pos_label": prices.pos_label,
            "confidence": confidence,
            "class_priors": priors,
            "population": population,
            "undecided": undecided,
            "asked": Asked(policy.baseline, tuple(policy.candidates or ())),
            "class_names": read_names(prices.class_names),
        }
        if table is None:
            study = study_of_files(predictions, costs, named, progress, **stated)
        else:
            study = _study_of_labelled(table, costs, named, stated)
        again = costs if study.examples is not None and costs is not None else study.costs
        other = _validation(study, again, policy.validation, named, progress)
        study = _with_choosing(study, policy, other, volume=volume, seed=seed)
    known = 0 if study.roles.guessed else len(study.roles.in_words())
    for sentence in study.notes[known:]:
        output.remark(sentence)
    return study


def _validation(
    study: Study, costs: Any, file: str | None, columns: Columns, progress: Progress
) -> Any:
    """Return the validation rows to choose thresholds on, with their own costs if rows have any."""
    from stakes.study import study_of_files

    if file is None:
        return None
    if len(study.costs.labels) != 2:  # noqa: PLR2004
        raise InputError(
            "--validation",
            f"thresholds are for two classes, these are {len(study.costs.labels)}: with a "
            "probability per class nothing is chosen on rows.",
            "Leave it out.",
        )
    other = study_of_files([file], costs, columns, progress, pos_label=study.pos_label)
    rows = other.joint_scores if study.examples is None else other.examples
    if rows is None or (study.examples is not None and not other.scores):
        raise InputError("--validation", f"{file} has no scores.")
    return rows


def _study_of_labelled(table: ArrowTable, costs: Any, named: Columns, stated: Any) -> Study:
    """Count the rows of a table that have a label."""
    from stakes.predictions.roles import actual_column
    from stakes.study import Study

    if costs is None:
        raise no_costs()
    actual = actual_column(table, named.actual)
    return Study.from_table(
        table.labelled(actual)[1],
        costs,
        actual=actual,
        models=named.models,
        scores=named.scores,
        design=named.design,
        divides=named.divides,
        **stated,
    )


def _with_choosing(
    study: Study, policy: PolicyOptions, validation: Any, *, volume: float | None, seed: int
) -> Study:
    """Return the study with the options for the choice of thresholds."""
    from stakes.policies import Choosing

    share = None
    if policy.capacity is not None:
        share = check_capacity(policy.capacity) / (study.n if volume is None else volume)
    choosing = Choosing(
        seed=seed,
        min_recall=policy.min_recall,
        max_fpr=policy.max_fpr,
        capacity=share,
        validation=validation,
    )
    return replace(study, choosing=choosing)


def read_rows(output: Output, predictions: Sequence[str], columns: ColumnOptions) -> Table:
    """Read a table of predictions; a count file is an error."""
    from stakes.predictions.files import table_of_files

    with Progress(shown=not output.quiet) as progress:
        return table_of_files(predictions, _named(columns), progress)


def row_table(output: Output, predictions: Sequence[str], columns: ColumnOptions) -> ArrowTable:
    """Read a table of predictions with all rows in memory; other tables are an error."""
    from stakes.predictions.arrow import ArrowTable

    found = read_rows(output, predictions, columns)
    if not isinstance(found, ArrowTable):
        raise InputError(
            found.source,
            "slices and periods of the report need rows in one file, or files joined by an id.",
        )
    return found


def _may_have_costs(predictions: Sequence[str]) -> bool:
    """Return whether the predictions may be a count file that includes the costs of each row."""
    from stakes.predictions.count_file import is_count_file
    from stakes.read.remote import is_remote
    from stakes.read.sources import STANDARD_INPUT

    only, *others = predictions
    alone = not others and only != STANDARD_INPUT and not is_remote(only)
    return alone and is_count_file(only)


def _named(columns: ColumnOptions, sampling: SamplingOptions = NO_SAMPLING) -> Columns:
    from stakes.predictions import Columns, DesignColumns, Reading

    return Columns(
        columns.actual,
        columns.models or (),
        columns.scores or (),
        columns.key,
        DesignColumns(sampling.groups, sampling.sample_weight, sampling.strata),
        columns.model_column,
        Reading(columns.ignore_case, columns.drop_missing, tuple(columns.lower_is_positive or ())),
        columns.table,
        columns.query,
    )


def examples_of(study: Study) -> str:
    """Return the number of examples and their file in words."""
    return f"{study.n:,} example{'' if study.n == 1 else 's'} of {study.source}"


def sampling_note(data: Data) -> str:
    """Return the sampling design in words; empty for single rows of equal weight."""
    return "" if data.sampling is None else f" {data.sampling.text}".rstrip()


def show_caution(output: Output, data: Data) -> None:
    """Print why the confidence level is not claimed, if it is not."""
    if data.sampling is not None and data.sampling.caution:
        output.text()
        output.text(data.sampling.caution, "bold yellow")


def show_verdict(output: Output, verdict: Verdict) -> None:
    """Print which policy to use, before the numbers behind it."""
    output.text(verdict.text, "bold")
    output.text()


def show_notes(output: Output, verdict: Verdict) -> None:
    """Print the notes of the verdict."""
    for note in verdict.notes:
        output.text()
        output.text(note)


def policies_of_models(study: Study) -> list[str]:
    """Return the competing policies of models: the cheapest of each, and the baseline."""
    policies = study.policies
    return [
        each.name
        for each in policies.policies
        if each.model is not None and each.name in policies.competitors
    ]


def check_scores(study: Study) -> None:
    """Raise if counts have costs of single rows, which cost curves do not support."""
    if study.examples is not None:
        raise InputError(
            study.source,
            "it was counted with costs of single rows; cost curves take costs of the classes.",
        )
