"""python -m replications: run the papers' experiments, and compare with the published numbers."""

from __future__ import annotations

import argparse
import sys
import threading
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from replications.catalogue import all_experiments, find
from replications.comparison import (
    HEADER,
    KINDS,
    duration,
    figures,
    nearness,
    reasons,
    tables,
    tally,
    verdicts,
)
from replications.engine import DEFAULT_FOLDER, command, kept_run, run
from replications.experiment import MEASURED, Experiment, Results
from replications.store import RESULTS, findings, kept_results, without_escapes, write_results
from stakes._core.text import text_table
from stakes.cli._output import Output, Progress
from stakes.errors import FileError, InputError, RefusedInputError, StakesError

PROGRAM = "python -m replications"
SCHEMA = "replications/1"
OPTIONS = {
    "experiment": "NAME",
    "scale": "--scale",
    "seed": "--seed",
    "folder": "--folder",
    "data": "--data",
    "n_jobs": "--jobs",
}
"""Command-line names of the arguments of `run`."""
Number = TypeVar("Number", int, float)
ERROR, INTERRUPTED, BROKEN_PIPE = 2, 130, 141


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command, and return its exit code: 0, or 2 for an error."""
    given = _parser().parse_args(arguments)
    output = Output(quiet=given.quiet)
    try:
        given.command(output, given)
        output.finish()
        sys.stdout.flush()
    except KeyboardInterrupt:
        print("replications: interrupted.", file=sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output has stopped
        from stakes.read import discard

        discard(sys.stdout)
        return BROKEN_PIPE
    except StakesError as error:
        print(f"replications: {_in_words(error)}", file=sys.stderr)
        return ERROR
    return 0


def _in_words(error: StakesError) -> str:
    """Return the message of an error, with the argument named as on the command line."""
    if isinstance(error, RefusedInputError):
        return error.message(OPTIONS.get)
    return str(error)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog=PROGRAM, description="Run the papers' experiments, and compare with what they print."
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    quiet = argparse.ArgumentParser(add_help=False)
    quiet.add_argument("-q", "--quiet", action="store_true", help="print results only, no notes")

    def add(name: str, function: Any, about: str) -> argparse.ArgumentParser:
        made = commands.add_parser(name, help=about, description=about, parents=[quiet])
        made.set_defaults(command=function)
        if name != "list":
            made.add_argument("name", metavar="NAME", help=f"the experiment; see {PROGRAM} list")
            made.add_argument(
                "--folder", type=Path, default=DEFAULT_FOLDER, metavar="FOLDER",
                help="where runs are kept and go on from (default: %(default)s)",
            )  # fmt: skip
        return made

    add("list", _list, "List the experiments.")
    running = add("run", _run, "Run an experiment, or what is left of a run that was stopped.")
    running.add_argument(
        "--scale", type=_share, default=1.0, metavar="SHARE",
        help="share of the replicates: 0.01 to look quickly",
    )  # fmt: skip
    running.add_argument("--seed", type=_seed, default=0, metavar="N", help="random seed")
    running.add_argument(
        "--jobs", "-j", type=_jobs, default=-1, metavar="N",
        help="processes at a time; -1: one per processor",
    )  # fmt: skip
    running.add_argument(
        "--data", type=Path, metavar="FOLDER", help="data sets, for experiments that need them"
    )
    running.add_argument(
        "--keep", action="store_true",
        help="keep the results in replications/results, from which the documentation is made",
    )  # fmt: skip
    comparing = add("compare", _compare, "Set the numbers of a run beside those published.")
    drawing = add("draw", _draw, "Draw the figures of a run as the paper has them.")
    for made in (comparing, drawing):
        made.add_argument("--scale", type=_share, metavar="SHARE", help="of the run; the largest")
        made.add_argument("--seed", type=_seed, metavar="N", help="of the run")
    for made in (running, comparing):
        made.add_argument(
            "--json", type=Path, metavar="FILE",
            help="write the results to this file; - prints them and nothing else",
        )  # fmt: skip
    drawing.add_argument(
        "--out", "-o", type=Path, default=Path(), metavar="FOLDER", help="where to write them"
    )
    drawing.add_argument("--format", choices=sorted(KINDS), default="png", help="kind of picture")
    return parser


def _share(text: str) -> float:
    share = _number(text, float)
    if share is None or not 0 < share <= 1:
        raise argparse.ArgumentTypeError(f"expected a share above 0 and up to 1, got {text!r}")
    return share


def _seed(text: str) -> int:
    seed = _number(text, int)
    if seed is None or seed < 0:
        raise argparse.ArgumentTypeError(f"expected a whole number, 0 or more, got {text!r}")
    return seed


def _jobs(text: str) -> int:
    jobs = _number(text, int)
    if jobs is None or (jobs < 1 and jobs != -1):
        raise argparse.ArgumentTypeError(
            f"expected 1 or more, or -1 for one per processor; got {text!r}"
        )
    return jobs


def _number(text: str, kind: type[Number]) -> Number | None:
    """Read a number, or return None; argparse's own error would name a function."""
    try:
        return kind(text)
    except ValueError:
        return None


def _list(output: Output, _: argparse.Namespace) -> None:
    for each in all_experiments():
        cells = sum(1 for _ in each.cells())
        size = "1 cell" if cells == 1 else f"{cells} cells"
        full = kept_results(each.name)
        if full is not None and full.scale == 1:
            size += f", at full scale about {duration(full.seconds)} on one processor"
        output.text(each.name, "bold")
        output.text(f"{each.title}. {each.source}. {size}.", indent=2)


def _run(output: Output, given: argparse.Namespace) -> None:
    experiment, reached = find(given.name), (0, 1)
    if given.data is not None and not given.data.is_dir():
        raise FileError("--data", f"{given.data}: there is no such folder.")
    output.will_write(given.json)
    output.only_json(given.json)

    def tell(done: int, cells: int, left: float) -> None:
        nonlocal reached
        reached = done, cells
        time = f", {duration(left)} left" if left > 0 else ""
        progress.reach(done, cells, f"{given.name}: {done} of {cells} cells{time}")

    try:
        with Progress(shown=not output.quiet) as progress:
            results = run(
                experiment,
                scale=given.scale,
                seed=given.seed,
                folder=given.folder,
                data=given.data,
                n_jobs=given.jobs,
                progress=tell,
            )
    except KeyboardInterrupt as stop:
        _end_quietly(stop)
        output.remark(
            f"{given.folder} keeps {reached[0]} of {reached[1]} cells. Run the same command to go "
            "on."
        )
        raise
    output.text(f"{experiment.name}: {experiment.title}.", "bold")
    output.text(
        f"{reached[1]} cells, scale {given.scale:g}, seed {given.seed}, "
        f"{duration(results.seconds)} of computing. {tally(experiment, results)}"
    )
    ran = command(experiment, given.folder, given.scale, given.seed)
    output.text(f"Side by side: {ran.replace(' run ', ' compare ').removesuffix(' --data FOLDER')}")
    if given.keep:
        path = RESULTS / f"{experiment.name}.parquet"
        write_results(path, results)
        output.remark(f"Wrote {path}.")
    output.results(_plain(experiment, results))


def _compare(output: Output, given: argparse.Namespace) -> None:
    output.will_write(given.json)
    output.only_json(given.json)
    experiment, results = _kept(given)
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
        ("Found besides", [without_escapes(each) for each in findings(experiment.name)]),
        ("Stand-ins", experiment.stand_ins),
    ):
        if sentences:
            output.text()
            output.text(f"{title}:")
        for sentence in sentences:
            output.text(sentence, indent=2)
    output.results(_plain(experiment, results))


def _draw(output: Output, given: argparse.Namespace) -> None:
    experiment, results = _kept(given)
    if experiment.draw is None:
        raise InputError(
            given.name, f"the paper has no figure of it; see {PROGRAM} compare {given.name}."
        )
    if not given.out.is_dir():
        raise FileError("--out", f"{given.out}: there is no such folder.")
    for figure, picture in figures(experiment, results, given.format).items():
        output.write_binary(given.out / f"{given.name}-{figure}.{given.format}", picture)


def _end_quietly(stop: KeyboardInterrupt) -> None:
    """Release unfinished measurements silently; joblib would warn that they are lost."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traceback.clear_frames(stop.__traceback__)
    # joblib's threads hold locks; a thread cut off at exit causes a warning of a leak.
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join(timeout=5)


def _kept(given: argparse.Namespace) -> tuple[Experiment, Results]:
    experiment = find(given.name)
    return experiment, kept_run(experiment, given.folder, given.scale, given.seed).results()


def _plain(experiment: Experiment, results: Results) -> dict[str, Any]:
    """Return the results of a run and their comparison with the paper, for JSON."""
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
        "findings": [without_escapes(each) for each in findings(experiment.name)],
        "stand_ins": [*experiment.stand_ins],
    }


if __name__ == "__main__":
    sys.exit(main())
