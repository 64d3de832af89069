"""stakes report: everything about some models, as one page to open, print or send."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stakes.cli import _inputs as options
from stakes.cli._inputs import (
    check_name,
    check_volume,
    read_study,
    sampling_note,
    show_notes,
    show_verdict,
)

if TYPE_CHECKING:
    from stakes.cli._output import Output
    from stakes.findings import Settings
    from stakes.study import Study

EXAMPLES = (
    "stakes report predictions.csv --costs costs.csv",
    "stakes report predictions.csv --fp 10 --fn 100 --pos-label fraud",
    "stakes report predictions.csv -c costs.csv --volume 1e6 --unit USD",
)

Out = Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The page to write.")]
Factor = Annotated[
    float,
    typer.Option(
        "--factor", metavar="TIMES", help="How wrong each cost may be: twice or half, say."
    ),
]
Target = Annotated[
    float | None,
    typer.Option(
        "--target",
        metavar="COST",
        help="How far above the cost its upper limit may be; by default a tenth of it.",
    ),
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
    seed: options.Seed = 0,
    json: options.Json = None,
) -> None:
    """Write a report on what each model costs, and say which to use."""
    from stakes.findings import Settings

    output = context.obj
    check_volume(volume, per)
    check_name(out, (".html", ".htm"))
    output.will_write(out, json, inputs=[*predictions, prices.costs])
    output.only_json(json)
    settings = Settings(
        unit=unit,
        volume=volume,
        per=per or "",
        factor=factor,
        target=target,
        seed=seed,
        command=_command(locals()),
    )
    study = read_study(
        output,
        predictions,
        prices,
        columns,
        amounts=amounts,
        sampling=sampling,
        policy=policy,
        volume=volume,
        seed=seed,
        confidence=confidence,
        class_priors=class_priors,
    )
    write(output, study, settings, out)


def write(output: Output, study: Study, settings: Settings, out: Path) -> None:
    """Find everything, write the page, and say the verdict."""
    from stakes.cli._output import Progress
    from stakes.findings import findings
    from stakes.show.report import write_report
    from stakes.show.text import policy_table

    with Progress(shown=not output.quiet) as progress:
        progress.expect(2)
        progress.step("computing")
        found = findings(study, settings)
        progress.step("writing the report")
        write_report(found, out)
    show_verdict(output, found.verdict)
    output.table(policy_table(found.policies, study.confidence))
    show_notes(output, found.verdict)
    output.text()
    if drawn := sampling_note(found.data).strip():
        output.text(drawn)
        output.text()
    output.text(f"The report is in {out}.")
    output.results(found)


def _command(given: dict[str, Any]) -> str:
    """Return the command that makes the same report again."""
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
        "--actual": columns.actual,
        "--id": columns.key,
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
    }
    usual = {"--confidence": 0.95, "--factor": 2.0, "--seed": 0}
    changed = {name: given[name[2:]] for name, value in usual.items() if given[name[2:]] != value}
    words = ["stakes", "report", *given["predictions"]]
    for name, value in (valued | changed).items():
        if value is not None:
            words += [name, f"{value:g}" if isinstance(value, float) else str(value)]
    repeated = {"--model": columns.models, "--score": columns.scores}
    for name, several in (repeated | {"--candidate": policy.candidates}).items():
        for each in several or ():
            words += [name, each]
    return shlex.join(words)
