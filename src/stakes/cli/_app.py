"""The commands, in the order in which help lists them.

A new command needs a file in this folder with a function of the same name and ``EXAMPLES``, its
name in `COMMANDS`, a test, and its output in `tests/golden/cli/`. Its results are findings
(`stakes.findings`) in a dataclass with a ``schema`` and documented attributes: ``output.results``
writes them as JSON, and `python tools/json_reference.py` writes their reference. A file with its
own ``app`` is a group of commands.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.main import get_command

from stakes.cli._options import QuickGroup, add
from stakes.cli._output import Output


def _version(asked: bool) -> None:
    if asked:
        import stakes

        print(f"stakes {stakes.__version__}")
        raise typer.Exit


def common(
    context: typer.Context,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print results only, no notes.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,  # noqa: ARG001
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Store the options that all commands share."""
    context.obj = Output(quiet=quiet)


COMMANDS = (
    "report",
    "evaluate",
    "compare",
    "curve",
    "threshold",
    "plan",
    "audit",
    "count",
    "merge",
    "costs",
    "simulate",
    "demo",
)


@cache
def command(wanted: str | None = None) -> Any:
    """Return all commands or, because that is faster, only the one that is wanted.

    Help leaves out an option that few need, so that it fits a screen.
    """
    names = (wanted,) if wanted in COMMANDS else COMMANDS
    made = get_command(_app(names))
    for parameter in made.params:
        if parameter.name == "show_completion":
            parameter.hidden = True  # type: ignore[attr-defined]
    commands = made.commands  # type: ignore[attr-defined]
    for name in names:  # typer puts groups of commands last
        commands[name] = commands.pop(name)
    return made


def _app(names: Sequence[str]) -> typer.Typer:
    app = typer.Typer(
        name="stakes",
        cls=QuickGroup,
        # \b keeps typer from rewrapping the lines; help fits a screen of 24.
        help="\b\nWhat a model's mistakes cost, how sure that is, and which model to use.\n"
        "Start with: stakes report predictions.csv --costs costs.csv",
        no_args_is_help=True,
        rich_markup_mode=None,  # plain help starts in a third of the time
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 80},
    )
    app.callback()(common)
    for name in names:
        module = import_module(f"stakes.cli.{name}")
        if hasattr(module, "app"):
            app.add_typer(module.app, name=name)
        else:
            add(app, module)
    return app
