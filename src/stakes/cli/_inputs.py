"""Read what the options of commands name: costs, predictions, and the study of both."""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from stakes.cli._options import (
    NO_AMOUNTS,
    NO_POLICIES,
    NO_SAMPLING,
    AmountOptions,
    ColumnOptions,
    CostOptions,
    PolicyOptions,
    SamplingOptions,
)
from stakes.cli._output import Output, Progress
from stakes.errors import FileError, InputError, InputTypeError

if TYPE_CHECKING:
    from stakes.costs import CostMatrix
    from stakes.findings.data import Data
    from stakes.policies.verdict import Verdict
    from stakes.predictions import Columns, Table, Tally
    from stakes.predictions.arrow import ArrowTable
    from stakes.study import Study


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
    # Path.exists() raises an error for text that is too long for the name of a file.
    if "=" in text and not os.path.exists(text):  # noqa: PTH110
        return _numbers_by_name(text, "--population", "stratum", expected)
    return _by_name(_population_pairs(Path(text)), text, "stratum", expected)


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
    undecided: bool = False,
    with_scores: bool | Literal["if they fit"] = True,
    table: ArrowTable | None = None,
    divides: Sequence[str] = (),
    gated: bool = False,
) -> Study:
    """Read and count predictions, and print notes on what was guessed on standard error.

    Costs and a table can be passed if they are read already; of that table, rows without a label
    are left out.
    """
    from stakes.policies._assemble import Asked
    from stakes.study import study_of_files

    if costs is None:
        costs = costs_if_given(prices, amounts)
    if costs is None and not _may_have_costs(predictions):
        raise no_costs()
    priors, population = read_priors(class_priors), read_population(sampling.population)
    named = replace(_named(columns, sampling, gated=gated), divides=tuple(divides))
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
        study = _with_choosing(study, policy, other, volume=volume)
    read = study.roles.in_words(short=True) if study.roles.guessed else []
    for sentence in (" ".join(read), *study.notes[len(study.roles.in_words()) :]):
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
    if not study.scores:
        raise InputError(
            "--validation",
            f"no thresholds are chosen, because {study.source} has no scores.",
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
    study: Study, policy: PolicyOptions, validation: Any, *, volume: float | None
) -> Study:
    """Return the study with the options for the choice of thresholds."""
    from stakes.policies._choose import Choosing

    share = None
    if policy.capacity is not None:
        share = check_capacity(policy.capacity) / (study.n if volume is None else volume)
    choosing = Choosing(
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


def _named(
    columns: ColumnOptions, sampling: SamplingOptions = NO_SAMPLING, *, gated: bool = False
) -> Columns:
    from stakes.predictions import Columns, DesignColumns, Reading

    return Columns(
        columns.actual,
        columns.models or (),
        columns.scores or (),
        columns.key,
        DesignColumns(sampling.groups, sampling.sample_weight, sampling.strata),
        columns.model_column,
        Reading(
            columns.ignore_case,
            columns.drop_missing,
            tuple(columns.lower_is_positive or ()),
            gated,
        ),
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
    """Print the notes of the verdict, and where its remarks on the method are."""
    for note in verdict.notes:
        output.text()
        output.text(note)
    if verdict.remarks:
        remarks = "1 remark" if len(verdict.remarks) == 1 else f"{len(verdict.remarks)} remarks"
        output.text()
        output.text(f"Method: {remarks}, in the report and in the JSON file.")


def check_scores(study: Study) -> None:
    """Raise if counts have costs of single rows, which cost curves do not support."""
    if study.examples is not None:
        raise InputError(
            study.source,
            "it was counted with costs of single rows; cost curves take costs of the classes.",
        )
