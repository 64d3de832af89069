"""stakes report: all findings about some models on one page, to open, print or send."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stakes.cli import _options as options
from stakes.cli._inputs import (
    check_name,
    check_volume,
    read_study,
    row_table,
    sampling_note,
    show_notes,
    show_verdict,
)
from stakes.errors import InputError, redacted

if TYPE_CHECKING:
    from stakes.cli._output import Output
    from stakes.findings.data import Settings
    from stakes.findings.report import Findings
    from stakes.findings.slices import Divided
    from stakes.study import Study

EXAMPLES = (
    "stakes report predictions.csv --costs costs.csv",
    "stakes report predictions.csv --fp 10 --fn 100 --pos-label fraud",
    "stakes report predictions.csv -c costs.csv --volume 1e6 --unit USD",
    "stakes report predictions.csv -c costs.csv --by region,region:channel",
    "stakes report predictions.csv -c costs.csv --time decided_at --every month",
)

Out = Annotated[
    Path,
    typer.Option("--out", "-o", metavar="FILE", help="Page to write."),
    options.FileUse.WRITTEN,
]
Factor = Annotated[
    float,
    typer.Option(
        "--factor", metavar="TIMES", help="Each cost may be wrong by this factor, up or down."
    ),
]
Full = Annotated[
    bool, typer.Option("--full", help="Open and print all sections, not only the main ones.")
]
Target = Annotated[
    float | None,
    typer.Option(
        "--target",
        metavar="COST",
        help="For sample sizes: how far the upper limit may be above the cost. Default: a tenth of"
        " it.",
    ),
]

By = Annotated[
    str | None,
    typer.Option(
        "--by",
        metavar="COLUMNS",
        help="Columns to break costs down by, separated by commas; a:b combines two.",
    ),
]
Most = Annotated[
    int | None,
    typer.Option(
        "--most-slices",
        metavar="N",
        help="Keep the N largest slices of a column and merge the rest.",
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="Column with the time of each decision, for costs by period.",
    ),
]
Every = Annotated[
    str,
    typer.Option("--every", metavar="PERIOD", help="Period: day, week, month, quarter or year."),
]
LabelledAt = Annotated[
    str | None,
    typer.Option(
        "--labelled-at",
        metavar="COLUMN",
        help="Column with the time each label arrived. Intervals allow for labels that are "
        "missing.",
    ),
]
Title = Annotated[str, typer.Option("--title", metavar="TEXT", help="Title of the report.")]
Noun = Annotated[
    str, typer.Option("--noun", metavar="WORD", help="What to call the rows, such as patients.")
]


def report(
    context: typer.Context,
    *,
    predictions: options.Predictions,
    prices: options.CostOptions,
    amounts: options.AmountOptions,
    columns: options.ColumnOptions,
    sampling: options.SamplingOptions,
    policy: options.PolicyOptions,
    out: Out = Path("report.html"),
    confidence: options.Confidence = 0.95,
    class_priors: options.ClassPriors = None,
    unit: options.Unit = "",
    volume: options.Volume = None,
    per: options.Per = None,
    factor: Factor = 2.0,
    target: Target = None,
    full: Full = False,
    by: By = None,
    most: Most = None,
    time: Time = None,
    every: Every = "month",
    labelled_at: LabelledAt = None,
    title: Title = "",
    noun: Noun = "examples",
    json: options.Json = None,
) -> None:
    """Write a report on what each model costs, and which to use."""
    output = context.obj
    check_volume(volume, per)
    check_name(out, (".html", ".htm"))
    output.only_json(json)
    settings = _settings(locals())
    divided = _divided(locals())
    study = read_study(
        output,
        predictions,
        prices,
        columns,
        table=None if divided is None or labelled_at is None else divided.table,
        divides=() if divided is None else divided.names,
        amounts=amounts,
        sampling=sampling,
        policy=policy,
        volume=volume,
        confidence=confidence,
        class_priors=class_priors,
    )
    write(output, study, settings, out, divided, full=full)


def write(
    output: Output,
    study: Study,
    settings: Settings,
    out: Path,
    divided: Divided | None = None,
    *,
    full: bool = False,
) -> None:
    """Compute the findings, write the page, and print the verdict."""
    from stakes.cli._output import Progress
    from stakes.findings.report import findings
    from stakes.show.report import write_report
    from stakes.show.text import policy_table

    with Progress(shown=not output.quiet) as progress:
        progress.expect(2)
        progress.step("computing")
        found = findings(study, settings, divided)
        progress.step("writing the report")
        write_report(found, out, full=full)
    show_verdict(output, found.verdict)
    output.table(policy_table(found.policies, study.confidence, found.settings.unit))
    show_notes(output, found.verdict)
    _show_divided(output, found)
    output.text()
    if drawn := sampling_note(found.data).strip():
        output.text(drawn)
        output.text()
    output.text(f"The report is in {out}.")
    output.results(found)


def _settings(given: dict[str, Any]) -> Settings:
    """Return the settings of the report, which are not predictions or costs."""
    from stakes.findings.data import Settings

    names = ("unit", "volume", "factor", "target", "title", "noun")
    told = {name: given[name] for name in names}
    return Settings(**told, per=given["per"] or "", command=_command(given))


def _divided(given: dict[str, Any]) -> Divided | None:
    """Return the rows and the columns that divide them into slices or periods, if any."""
    from stakes.findings.slices import Divided

    by, time, labelled_at = given["by"], given["time"], given["labelled_at"]
    if labelled_at is not None and time is None:
        raise InputError("--labelled-at", "it needs --time, the column of the decisions' times.")
    if by is None and time is None:
        return None
    columns = tuple(name.strip() for name in (by or "").split(",") if name.strip())
    table = row_table(given["output"], given["predictions"], given["columns"])
    found = Divided(table, columns, given["most"], time, given["every"], labelled_at)
    found.check()
    return found


def _show_divided(output: Output, found: Findings) -> None:
    """Print the cost of the recommended policy in slices and periods."""
    from stakes.show.text import period_notes, period_table, slice_notes, slice_table

    sure = found.settings.confidence
    if found.slices:
        output.text()
        output.table(slice_table(found.slices, sure, found.settings.unit))
        output.text(slice_notes(found.slices, sure))
    if found.periods:
        output.text()
        output.table(period_table(found.periods, sure, found.settings.unit))
        output.text(period_notes(found.periods, sure))
    for note in found.divided_notes:
        output.text(note)


def _command(given: dict[str, Any]) -> str:
    """Return the command that reproduces the report."""
    prices, columns, sampling = given["prices"], given["columns"], given["sampling"]
    policy = given["policy"]
    valued = {
        "--costs": prices.costs,
        "--fp": prices.false_positive,
        "--fn": prices.false_negative,
        "--fp-column": given["amounts"].fp_column,
        "--fn-column": given["amounts"].fn_column,
        "--pos-label": prices.pos_label,
        "--rows": prices.rows,
        "--classes": prices.classes,
        "--names": prices.class_names,
        "--actual": columns.actual,
        "--id": columns.key,
        "--model-column": columns.model_column,
        "--table": columns.table,
        "--query": columns.query,
        "--groups": sampling.groups,
        "--weight": sampling.sample_weight,
        "--strata": sampling.strata,
        "--population": sampling.population,
        "--baseline": policy.baseline,
        "--validation": policy.validation,
        "--min-recall": policy.min_recall,
        "--max-fpr": policy.max_fpr,
        "--capacity": policy.capacity,
        "--class-priors": given["class_priors"],
        "--unit": given["unit"] or None,
        "--volume": given["volume"],
        "--per": given["per"],
        "--target": given["target"],
        "--by": given["by"],
        "--most-slices": given["most"],
        "--time": given["time"],
        "--every": given["every"] if given["time"] else None,
        "--labelled-at": given["labelled_at"],
        "--title": given["title"] or None,
    }
    usual = {"--confidence": 0.95, "--factor": 2.0, "--noun": "examples"}
    changed = {name: given[name[2:]] for name, value in usual.items() if given[name[2:]] != value}
    words = ["stakes", "report", *given["predictions"], *(["--full"] if given["full"] else [])]
    for name, value in (valued | changed).items():
        if value is not None:
            words += [name, f"{value:g}" if isinstance(value, float) else str(value)]
    flags = {"--ignore-case": columns.ignore_case, "--drop-missing": columns.drop_missing}
    words += [name for name, given_so in flags.items() if given_so]
    repeated = {
        "--model": columns.models,
        "--score": columns.scores,
        "--lower-is-positive": columns.lower_is_positive,
    }
    for name, several in (repeated | {"--candidate": policy.candidates}).items():
        for each in several or ():
            words += [name, each]
    return shlex.join(map(redacted, words))
