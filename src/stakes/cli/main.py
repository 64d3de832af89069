"""The entry point: runs a command, and turns what goes wrong into a line and an exit code."""

from __future__ import annotations

import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any

from stakes.errors import StakesError, StakesWarning

USER_ERROR, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
ANYWHERE = ("--quiet", "-q", "--debug")
"""Options of all commands, which may stand before a command's name or after it."""

ARGUMENTS = (
    "assurance|capacity|class_priors|confidence|data|difference|false_negative|false_positive|"
    "half_width|margin|max_fpr|method|min_recall|pos_label|power|prevalence|rows|scale|volume"
)
"""Arguments that are options of commands under the same names."""

SHORT = {"false_positive": "fp", "false_negative": "fn"}
LONG_ARGUMENTS = "class_priors|half_width|max_fpr|min_recall|pos_label"
"""Those that can be no other words."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return its exit code: 0, or 1 for a failed gate, 2 for an error."""
    given = _ordered(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", StakesWarning)
            warnings.showwarning = _Warnings()
            result = _run(given)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _complain("interrupted.", INTERRUPTED)
    except BrokenPipeError:  # whoever read our output has seen enough
        return _without_output(BROKEN_PIPE)
    except OSError as error:
        if error.filename is None and not sys.stdout.closed:
            _complain(f"standard output: cannot be written: {error.strerror or error}.")
            return _without_output(USER_ERROR)
        return _explained(error, given)
    except Exception as error:
        if "--debug" in given and not hasattr(error, "exit_code"):
            raise
        return _explained(error, given)
    return result if isinstance(result, int) else 0


def _without_output(code: int) -> int:
    """Give up what standard output still holds, lest Python complains of it at the end."""
    from stakes.read import discard

    discard(sys.stdout)
    return code


def _ordered(given: Sequence[str]) -> list[str]:
    """Put the options that may stand anywhere where they are looked for."""
    end = list(given).index("--") if "--" in given else len(given)
    first = [each for each in given[:end] if each in ANYWHERE]
    return [*first, *(each for each in given[:end] if each not in ANYWHERE), *given[end:]]


def _run(given: list[str]) -> Any:
    """Run a command, and let all that is raised through."""
    try:
        from stakes.cli._app import command
    except ImportError as error:
        if error.name not in {"typer", "rich", "click"}:
            raise
        return _complain(
            f"the command line needs typer and rich: pip install 'stakes[cli]' ({error})"
        )
    for stream in (sys.stdout, sys.stderr):  # a terminal that lacks a character shows another
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if "_STAKES_COMPLETE" in os.environ:  # the shell asks how to go on
        return command()(given, prog_name="stakes")
    made = command()
    with made.make_context("stakes", list(given)) as context:  # which empties the list
        return made.invoke(context)


def _explained(error: Exception, given: Sequence[str]) -> int:
    """Say what went wrong in a line or two."""
    code = getattr(error, "exit_code", None)
    if code is not None and not hasattr(error, "format_message"):  # a command ended itself
        return int(code)
    if type(error).__name__ == "Abort":  # typer's Ctrl-C, at a prompt
        return _complain("interrupted.", INTERRUPTED)
    if type(error).__name__ == "NoArgsIsHelpError":
        print(_usage(error, given), file=sys.stderr)
        return USER_ERROR
    return _complain(_in_words(error, given))


def _in_words(error: Exception, given: Sequence[str]) -> str:
    if isinstance(error, StakesError):
        return _by_options(str(error))
    if hasattr(error, "format_message"):  # typer's, or click's own
        context = getattr(error, "ctx", None)
        hint = f" Try '{context.command_path} --help'." if context is not None else ""
        said = _usage(error, given)
        return f"{said}{'' if said.endswith(('.', '?')) else '.'}{hint}"
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror or error}."
    if isinstance(error, MemoryError):
        return "there is not enough memory for this file."
    return (
        f"unexpected {type(error).__name__}: {error}. That is a fault in stakes; run the same "
        "command with --debug and report what it prints."
    )


def _usage(error: Any, given: Sequence[str]) -> str:
    """Say how a command was misused; typer does not say what came in place of a number."""
    text = str(error.format_message())
    wanted = re.search("valid (number|float|integer)", text)
    names = getattr(getattr(error, "param", None), "opts", [])
    came = None
    for word, following in zip(given, [*given[1:], ""], strict=True):
        name, equals, value = word.partition("=")
        if name in names:
            came = value if equals else following
    if wanted is None or came is None:
        return text
    kind = "whole number" if wanted[1] == "integer" else "number"
    return f"{max(names, key=len)}: expected a {kind}, got {came!r}."


def _by_options(text: str) -> str:
    """Call arguments by the names of their options."""

    def option(match: re.Match[str]) -> str:
        return "--" + SHORT.get(match[0], match[0].replace("_", "-"))

    head, colon, rest = text.partition(": ")
    if re.fullmatch(rf"(?:(?:{ARGUMENTS})(?:, )?)+", head):
        text = f"{re.sub(ARGUMENTS, option, head)}{colon}{rest}"
    text = re.sub(r"\brows='(\w+)'", r"--rows \1", text)
    text = re.sub(r"\bsmooth=(?=[\d.])", "--smooth ", text).replace("smooth=", "--smooth")
    text = text.replace("Name cells that cannot occur with impossible=, or collect", "Collect")
    return re.sub(rf"(?<![\w'-])(?:{LONG_ARGUMENTS})\b", option, text)


def _complain(text: str, code: int = USER_ERROR) -> int:
    print(f"stakes: {text}", file=sys.stderr)
    return code


class _Warnings:
    """Shows each warning once."""

    def __init__(self) -> None:
        self._shown: set[str] = set()

    def __call__(self, message: Any, *_: Any, **__: Any) -> None:
        text = _by_options(str(message))
        if text not in self._shown:
            self._shown.add(text)
            print(f"warning: {text}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
