"""stakes lab: run the experiments of the papers again, and set the numbers side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from stakes.cli import _options as options
from stakes.cli._options import add
from stakes.errors import FileError, InputError

if TYPE_CHECKING:
    from stakes.lab.experiment import Experiment, Results

EXAMPLES = {
    "list": ("stakes lab list",),
    "run": (
        "stakes lab run bcost-coverage --scale 0.01",
        "stakes lab run bcost-coverage --scale 0.01 --seed 1 --jobs 1",
    ),
    "compare": (
        "stakes lab compare bcost-coverage",
        "stakes lab compare bcost-coverage --scale 0.01 --json numbers.json",
    ),
    "draw": ("stakes lab draw bcost-coverage --out . --format svg",),
}
SCHEMA = "stakes-lab/1"

Name = Annotated[str, typer.Argument(metavar="NAME", help="The experiment; see stakes lab list.")]
Scale = Annotated[
    float, typer.Option("--scale", metavar="SHARE", help="Of the replicates: 0.01 to look quickly.")
]
KeptScale = Annotated[
    float | None, typer.Option("--scale", metavar="SHARE", help="Of the run; the largest there is.")
]
KeptSeed = Annotated[int | None, typer.Option("--seed", metavar="N", help="Of the run.")]
Jobs = Annotated[
    int,
    typer.Option("--jobs", "-j", metavar="N", help="Processes at a time; -1: one a processor."),
]
Folder = Annotated[
    Path, typer.Option("--folder", metavar="FOLDER", help="Where runs are kept and go on from.")
]
Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="FOLDER", help="The data sets, for experiments that need them."),
]
Out = Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where to write them.")]
Kind = Annotated[str, typer.Option("--format", metavar="KIND", help="png, svg or pdf.")]

RUNS = Path("stakes-lab")


def list(context: typer.Context) -> None:  # noqa: A001 - the name of the command
    """List the experiments."""
    from stakes.lab.catalogue import experiments
    from stakes.lab.comparison import duration
    from stakes.lab.shipped import shipped

    output = context.obj
    for each in experiments():
        cells = sum(1 for _ in each.cells())
        size = "1 cell" if cells == 1 else f"{cells} cells"
        full = shipped(each.name)
        if full is not None and full.scale == 1:
            size += f", at full scale about {duration(full.seconds)} on one processor"
        output.text(each.name, "bold")
        output.text(f"{each.title}. {each.source}. {size}.", indent=2)


def run(
    context: typer.Context,
    *,
    name: Name,
    scale: Scale = 1.0,
    seed: options.Seed = 0,
    jobs: Jobs = -1,
    folder: Folder = RUNS,
    data: Data = None,
    json: options.Json = None,
) -> None:
    """Run an experiment, or what is left of a run that was stopped."""
    from stakes.cli._output import Progress
    from stakes.lab.catalogue import find
    from stakes.lab.comparison import duration, tally
    from stakes.lab.engine import run as run_experiment
    from stakes.lab.kept import command

    output, experiment = context.obj, find(name)
    if data is not None and not data.is_dir():
        raise FileError(f"--data: {data}: there is no such folder.")
    if jobs == 0:
        raise InputError("--jobs: expected 1 or more, or -1 for one a processor; got 0.")
    output.will_write(json)
    output.only_json(json)
    reached = (0, 1)

    def tell(done: int, cells: int, left: float) -> None:
        nonlocal reached
        reached = done, cells
        time = f", {duration(left)} left" if left > 0 else ""
        progress.reach(done, cells, f"{name}: {done} of {cells} cells{time}")

    try:
        with Progress(shown=not output.quiet) as progress:
            results = run_experiment(
                experiment,
                scale=scale,
                seed=seed,
                folder=folder,
                data=data,
                n_jobs=jobs,
                progress=tell,
            )
    except KeyboardInterrupt as stop:
        _end_quietly(stop)
        output.remark(
            f"{folder} keeps {reached[0]} of {reached[1]} cells. Run the same command to go on."
        )
        raise
    output.text(f"{experiment.name}: {experiment.title}.", "bold")
    output.text(
        f"{reached[1]} cells, scale {scale:g}, seed {seed}, {duration(results.seconds)} of "
        f"computing. {tally(experiment, results)}"
    )
    compare_with = command(experiment, folder, scale, seed).replace(" run ", " compare ")
    output.text(f"Side by side: {compare_with.removesuffix(' --data FOLDER')}")
    output.results(_plain(experiment, results))


def compare(
    context: typer.Context,
    *,
    name: Name,
    scale: KeptScale = None,
    seed: KeptSeed = None,
    folder: Folder = RUNS,
    json: options.Json = None,
) -> None:
    """Set the numbers of a run beside those that were published."""
    from stakes._core.text import text_table
    from stakes.lab.comparison import HEADER, duration, nearness, reasons, tables, tally

    output = context.obj
    output.will_write(json)
    output.only_json(json)
    experiment, results = _kept(name, folder, scale, seed)
    output.text(f"{experiment.name}: {experiment.title}.", "bold")
    output.text(
        f"{experiment.source}. Run with scale {results.scale:g} and seed {results.seed}, "
        f"{duration(results.seconds)} of computing."
    )
    for source, rows in tables(experiment, results).items():
        output.text()
        output.table(text_table([source, *HEADER], rows))
    output.text()
    output.text(f"{tally(experiment, results)} {nearness(experiment)}".strip())
    for reason in reasons(experiment, results):
        output.text(reason, indent=2)
    for title, sentences in (
        ("Found besides", experiment.findings),
        ("Stand-ins", experiment.stand_ins),
    ):
        if sentences:
            output.text()
            output.text(f"{title}:")
        for sentence in sentences:
            output.text(sentence, indent=2)
    output.results(_plain(experiment, results))


def draw(
    context: typer.Context,
    *,
    name: Name,
    scale: KeptScale = None,
    seed: KeptSeed = None,
    folder: Folder = RUNS,
    out: Out = Path(),
    kind: Kind = "png",
) -> None:
    """Draw the figures of a run as the paper has them."""
    from stakes.lab.figures import KINDS, figures

    output = context.obj
    if kind not in KINDS:
        raise InputError(f"--format: expected one of {', '.join(KINDS)}; got {kind!r}.")
    experiment, results = _kept(name, folder, scale, seed)
    if experiment.draw is None:
        raise InputError(f"{name}: the paper has no figure of it; see stakes lab compare {name}.")
    if not out.is_dir():
        raise FileError(f"--out: {out}: there is no such folder.")
    for figure, picture in figures(experiment, results, kind).items():
        output.write_binary(out / f"{name}-{figure}.{kind}", picture)


def _end_quietly(stop: KeyboardInterrupt) -> None:
    """Let go of what was being measured; joblib would warn that it is lost."""
    import threading
    import traceback
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traceback.clear_frames(stop.__traceback__)
    # joblib's threads hold locks; one cut off by the end of the process leaves a warning of a leak.
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(timeout=5)


def _kept(
    name: str, folder: Path, scale: float | None, seed: int | None
) -> tuple[Experiment, Results]:
    from stakes.lab.catalogue import find
    from stakes.lab.kept import kept_run

    experiment = find(name)
    return experiment, kept_run(experiment, folder, scale, seed).results()


def _plain(experiment: Experiment, results: Results) -> dict[str, Any]:
    """Return all there is to say of a run, for JSON."""
    from stakes.lab.experiment import MEASURED
    from stakes.lab.verdict import verdicts

    rows = [*results.rows]
    names = [name for name in dict.fromkeys(n for row in rows for n in row) if name not in MEASURED]
    columns = [*names, *MEASURED]
    return {
        "schema": SCHEMA,
        "experiment": experiment.name,
        "title": experiment.title,
        "paper": experiment.source,
        "scale": results.scale,
        "seed": results.seed,
        "seconds": results.seconds,
        "columns": columns,
        "rows": [[row.get(column) for column in columns] for row in rows],
        "published": [
            {
                "row": rows.index(each.row),
                "table": each.printed.source,
                "value": each.printed.value,
                "within": each.printed.within,
                "verdict": each.word,
                "why": each.printed.why,
            }
            for each in verdicts(experiment, results)
        ],
        "findings": [*experiment.findings],
        "stand_ins": [*experiment.stand_ins],
    }


app = typer.Typer(
    help="Run the papers' experiments, and compare with what they print.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
for each in ("list", "run", "compare", "draw"):
    add(app, sys.modules[__name__], each)
