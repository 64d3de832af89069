"""Entry point of the command line: runs a command, and turns errors into text and exit codes."""

from __future__ import annotations

import errno
import gc
import io
import os
import re
import shlex
import signal
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self

from stakes._core.optional import address_limit
from stakes.cli._output import complain
from stakes.errors import (
    Code,
    NotClaimedWarning,
    RefusedInputError,
    StakesError,
    StakesWarning,
    spelled,
)

USER_ERROR, INTERRUPTED, BROKEN_PIPE = 2, 130, 141
ANYWHERE = ("--quiet", "-q", "--debug")
"""Options of all commands, allowed before a command's name or after it."""

ADVICE: dict[Code, str] = {
    "count_file_not_alone": "The command 'stakes merge' adds up count files.",
    "not_probabilities": "The command 'stakes threshold' chooses one.",
    "too_many_scores": "The commands 'stakes evaluate', 'stakes compare' and 'stakes count "
    "--without-scores' count decisions alone.",
}
"""Which command helps with a problem; errors of the library do not name commands."""

ENDING = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]
"""Signals that ask a process to end."""

LEAST_ADDRESSES = 10**9
TOO_FEW_ADDRESSES = "there is not enough memory: 'ulimit -v' allows less than 1 GB of addresses."
"""With fewer than `LEAST_ADDRESSES` bytes of address space, libraries end the process themselves,
with the exit code of a failed gate."""

FEW_ADDRESSES = 8 * 10**9
"""With fewer bytes of address space, pyarrow must not reserve 1 GB at once: if that just fits,
nothing is left for its threads, and it ends the process."""

GARBAGE = 200_000
"""Number of new objects after which Python looks for garbage; by default 700."""

PATIENCE = 1.0
"""Time in which further signals count as the same Ctrl-C, in seconds."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line, and return its exit code: 0, or 1 for a failed gate, 2 for an error."""
    if arguments is not None:
        return _main(arguments, ends=False)
    # The classes and functions that libraries define are never garbage. Looking for it while they
    # load, and again when Python ends, takes a tenth of the time of a small file.
    gc.set_threshold(GARBAGE)
    try:
        return _main(sys.argv[1:], ends=True)
    finally:
        gc.freeze()


def _main(arguments: Sequence[str], *, ends: bool) -> int:
    given = _ordered(arguments) or ["--help"]
    with _Signals(ends=ends) as signals:
        try:
            try:
                return _started(given, signals)
            except KeyboardInterrupt as error:
                return _interrupted(error, signals)
        except KeyboardInterrupt as error:  # a later signal of the same Ctrl-C, on a busy machine
            return _interrupted(error, signals)


def _started(given: list[str], signals: _Signals) -> int:
    _keep_streams()
    if address_limit() < LEAST_ADDRESSES:
        return _complain(TOO_FEW_ADDRESSES)
    if address_limit() < FEW_ADDRESSES:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    return _guarded(given, signals)


def _interrupted(error: KeyboardInterrupt, signals: _Signals) -> int:
    signals.ignore()
    if isinstance(error, _TerminatedError):
        return _complain("terminated.", error.code)
    return _complain("interrupted.", INTERRUPTED)


class _TerminatedError(KeyboardInterrupt):
    """A signal other than Ctrl-C asked the process to end."""

    def __init__(self, code: int) -> None:
        super().__init__()
        self.code = code


class _Signals:
    """Signal handler that raises one KeyboardInterrupt for each Ctrl-C or other request to end.

    A terminal, a shell or an impatient user sends several. A signal that arrives while the first
    is handled, or while Python ends, would kill the process and hide its exit code. A process that
    ends by this KeyboardInterrupt removes its unfinished files.

    Parameters
    ----------
    ends : bool
        Whether the process ends with the command; signals then stay ignored.
    """

    def __init__(self, *, ends: bool) -> None:
        self._ends = ends
        self._last = -PATIENCE
        self._before: dict[int, Any] = {}

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            for number in ENDING:
                if signal.getsignal(number) in (signal.default_int_handler, signal.SIG_DFL):
                    self._before[number] = signal.signal(number, self._raise)
        return self

    def __exit__(self, *_: object) -> None:
        for number, before in self._before.items():
            signal.signal(number, signal.SIG_IGN if self._ends else before)

    @property
    def came(self) -> bool:
        """Whether a signal was received."""
        return self._last > -PATIENCE

    def ignore(self) -> None:
        """Ignore further signals, because the first one is being handled."""
        for number in self._before:
            signal.signal(number, signal.SIG_IGN)

    def _raise(self, number: int, _: object) -> None:
        now = time.monotonic()
        if now - self._last >= PATIENCE:  # later ones may be needed: libraries can lose the first
            self._last = now
            raise KeyboardInterrupt if number == signal.SIGINT else _TerminatedError(128 + number)


class _ClosedOutput(io.TextIOBase):
    """Standard output that was closed at the start; writing to it is an error."""

    def write(self, _: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))


def _keep_streams() -> None:
    """Replace standard streams that were closed at the start."""
    if None not in (sys.stdin, sys.stdout, sys.stderr):
        return
    from stakes.read import keep_numbers

    keep_numbers()
    if sys.stdout is None:
        sys.stdout = _ClosedOutput()
    if sys.stderr is None:
        sys.stderr = io.StringIO()


def _guarded(given: list[str], signals: _Signals) -> int:
    """Run a command, and explain its errors; only interrupts and SystemExit are raised."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", StakesWarning)
            warnings.simplefilter("ignore", NotClaimedWarning)  # results state it
            warnings.showwarning = _Warnings(given)
            result = _run(given)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader closed the pipe
        return _without_output(BROKEN_PIPE)
    except OSError as error:
        nameless = error.filename is None and not isinstance(error, FileNotFoundError)
        if nameless and not sys.stdout.closed:
            _complain(f"standard output: cannot be written: {error.strerror or error}.")
            return _without_output(USER_ERROR)
        return _explained(error, given)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # libraries in other languages raise more than Exception
        if signals.came:  # the signal made a library fail, for example during its import
            raise KeyboardInterrupt from error
        if "--debug" in given and not hasattr(error, "exit_code"):
            complain(traceback.format_exc().rstrip())
            return USER_ERROR
        return _explained(error, given)
    return result if isinstance(result, int) else 0


def _without_output(code: int) -> int:
    """Discard what standard output still holds, which would be an error when Python ends."""
    from stakes.read import discard

    discard(sys.stdout)
    return code


def _ordered(given: Sequence[str]) -> list[str]:
    """Move the options that are allowed anywhere to the front, where typer expects them."""
    end = list(given).index("--") if "--" in given else len(given)
    first = [each for each in given[:end] if each in ANYWHERE]
    return [*first, *(each for each in given[:end] if each not in ANYWHERE), *given[end:]]


def _run(given: list[str]) -> Any:
    """Run a command without catching its errors."""
    try:
        from stakes.cli._app import command
    except ImportError as error:
        if error.name not in {"typer", "rich", "click"}:
            raise
        return _complain(
            f"the command line needs typer and rich: pip install 'stakes[cli]' ({error})"
        )
    for stream in (sys.stdout, sys.stderr):  # for terminals that lack a character
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    if "_STAKES_COMPLETE" in os.environ:  # for shell completion
        return command()(given, prog_name="stakes")
    made = command(_first_word(given))
    with made.make_context("stakes", list(given)) as context:  # make_context empties the list
        try:
            return made.invoke(context)
        except Exception:
            if context.obj is not None:
                context.obj.print_remarks()
            raise


def _first_word(given: Sequence[str]) -> str | None:
    """Return the first word after options of all commands, which can be the command's name."""
    return next((word for word in given if word not in ANYWHERE), None)


def _explained(error: BaseException, given: Sequence[str]) -> int:
    """Print an error in a line or two, and return the exit code."""
    code = getattr(error, "exit_code", None)
    if code is not None and not hasattr(error, "format_message"):  # a command ended itself
        return int(code)
    if type(error).__name__ == "Abort":  # typer's Ctrl-C, at a prompt
        return _complain("interrupted.", INTERRUPTED)
    if type(error).__name__ == "NoArgsIsHelpError":
        complain(_usage(error, given))
        return USER_ERROR
    return _complain(_in_words(error, given))


def _in_words(error: BaseException, given: Sequence[str]) -> str:
    if isinstance(error, RefusedInputError):
        files = {str(Path(word)) for word in given}  # a folder may be called `scores`
        message = error.message(_options_of(given).get, files)
        if error.code is not None:
            message += f" {ADVICE[error.code]}"
        return f"{message}{_proposal(error, given)}"
    if isinstance(error, StakesError):
        return str(error)
    if hasattr(error, "format_message"):  # typer's, or click's own
        context = getattr(error, "ctx", None)
        hint = f" Try '{context.command_path} --help'." if context is not None else ""
        message = _usage(error, given)
        return f"{message}{'' if message.endswith(('.', '?')) else '.'}{hint}"
    if isinstance(error, OSError):
        if error.filename is None and isinstance(error, FileNotFoundError):
            error.filename, error.strerror = "the current folder", "it does not exist any more"
        return f"{error.filename}: {error.strerror or error}."
    if isinstance(error, MemoryError):
        return "there is not enough memory for this file."
    return (
        f"unexpected {type(error).__name__}: {error}. That is a fault in stakes; run the same "
        "command with --debug and report what it prints."
    )


def _proposal(error: RefusedInputError, given: Sequence[str]) -> str:
    """Return the command that would have worked, on its own line, if the error proposes one."""
    options = _options_of(given)
    if not error.proposal or not all(name in options for name in error.proposal):
        return ""
    words = [*given]
    for name, value in error.proposal.items():
        words += [options[name], value] if value else [options[name]]
    return f"\nTry: {shlex.join(['stakes', *words])}"


def _usage(error: Any, given: Sequence[str]) -> str:
    """Return a usage error in words, with what was given instead of a number, unlike typer."""
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


def _options_of(given: Sequence[str]) -> dict[str, str]:
    """Return the options of the given command, by the names of their Python arguments."""
    from stakes.cli._app import command

    made = command(_first_word(given))
    for word in given:
        if word in getattr(made, "commands", {}):
            made = made.commands[word]
        elif not word.startswith("-"):
            break
    names = {each.name: max(each.opts, key=len) for each in made.params if each.opts[0][0] == "-"}
    if "false_positive" in names:  # errors name the options by which costs were given
        if any(word.startswith(("--costs", "-c")) for word in given):
            names["false_positive"] = names["false_negative"] = names["costs"]
        elif any(word.startswith(("--fp", "--fn")) for word in given):
            names["costs"] = f"{names['false_positive']}, {names['false_negative']}"
    return names


def _complain(text: str, code: int = USER_ERROR) -> int:
    complain(f"stakes: {text}")
    return code


class _Warnings:
    """Handler that prints each warning once."""

    def __init__(self, given: Sequence[str]) -> None:
        self._given = given
        self._shown: set[str] = set()

    def __call__(self, message: Any, *_: Any, **__: Any) -> None:
        text = spelled(str(message), _options_of(self._given).get)
        if text not in self._shown:
            self._shown.add(text)
            complain(f"warning: {text}")


if __name__ == "__main__":
    sys.exit(main())
