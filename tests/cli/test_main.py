"""Exit codes, errors, interruptions, and the modules loaded at start-up."""

import io
import os
import re
import signal
import subprocess
import sys
import time
from importlib import import_module
from pathlib import Path

import pyarrow as pa
import pytest

import stakes as package
from stakes.cli.main import main

STAKES = [sys.executable, "-m", "stakes.cli.main"]
HEAVY = ["altair", "matplotlib", "numpy", "pandas", "pyarrow", "rich", "scipy", "sklearn"]
FULL = Path("/dev/full")
FULL_DISK = OSError(28, "No space left on device")
EVALUATE = ["evaluate", "predictions.csv", "-c", "costs.csv"]


def process(*arguments, **options):
    return subprocess.run([*STAKES, *arguments], check=False, text=True, **options)


def test_help_fits_a_screen_and_loads_nothing_heavy():
    code = (
        "import sys; from stakes.cli.main import main; code = main(['--help']); "
        f"print([name for name in {HEAVY} if name in sys.modules], code)"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    *lines, last = said.stdout.splitlines()
    assert last == "[] 0"
    assert len(lines) <= 25
    assert lines[3].startswith("  Start with: stakes report ")
    assert max(map(len, lines)) <= 80
    for command in ("report", "evaluate", "compare", "curve", "threshold", "plan", "demo"):
        assert any(line.startswith(f"  {command} ") for line in lines)


def test_nothing_asked_is_a_question(stakes):
    assert stakes().out == stakes("--help").out == stakes("-h").out
    said = stakes("costs")
    assert "Usage: stakes costs" in said.out + said.err


def test_the_version_is_told(stakes):
    assert stakes("--version").out == f"stakes {package.__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--confidence", "95%"], "--confidence: expected a number, got '95%'."),
        (["--confidence=x"], "--confidence: expected a number, got 'x'."),
        (["--seed", "1.5"], "--seed: expected a whole number, got '1.5'."),
    ],
)
def test_what_came_in_place_of_a_number_is_said(arguments, said, stakes):
    assert stakes(*EVALUATE, *arguments).err == f"stakes: {said} Try 'stakes evaluate --help'.\n"


def test_quiet_says_only_what_was_asked(stakes):
    loud, quiet = stakes(*EVALUATE), stakes(*EVALUATE, "--quiet")
    assert "The actual classes are in the column 'actual'." in loud.err
    assert quiet.err == ""
    assert quiet.out == loud.out == stakes("-q", *EVALUATE).out


def test_guesses_are_not_said_where_nothing_was_guessed(stakes):
    said = stakes(*EVALUATE, "--actual", "actual", "-m", "tree")
    assert said.err == "Scores are of the class 'fraud': the higher, the more likely.\n"


def test_debug_shows_where_it_went_wrong(folder, capsys):
    assert folder.is_dir()
    arguments = ["evaluate", "nope.csv", "-c", "costs.csv"]
    assert main(arguments) == 2
    assert "Traceback" not in capsys.readouterr().err
    assert main(["--debug", *arguments]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("Traceback")
    assert "FileError: nope.csv: cannot be read" in shown
    assert main(["--debug", "evaluate", "--nope"]) == 2
    assert "No such option" in capsys.readouterr().err


def test_typer_is_asked_for(stakes, monkeypatch):
    monkeypatch.setitem(sys.modules, "typer", None)
    for name in [name for name in sys.modules if re.match(r"stakes\.cli\.(?!main)", name)]:
        monkeypatch.delitem(sys.modules, name)
    said = stakes("--help")
    assert said.code == 2
    assert "the command line needs typer and rich: pip install 'stakes[cli]'" in said.err


def test_matplotlib_is_asked_for(stakes, folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    said = stakes("-q", "curve", "predictions.csv", "-c", "costs.csv", "--out", "a.png")
    assert said.code == 2
    assert "pip install 'stakes[plot]'" in said.err
    assert not (folder / "a.png").exists()


def test_a_fault_is_called_a_fault(stakes, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr("stakes.study.Study.from_table", fail)
    said = stakes(*EVALUATE)
    assert said.code == 2
    assert said.err == (
        "stakes: unexpected ZeroDivisionError: division by zero. That is a fault in stakes; run "
        "the same command with --debug and report what it prints.\n"
    )


@pytest.mark.parametrize(
    "place",
    [
        "stakes.predictions.files.read_table",
        "stakes.read.tables._read_csv",
        "stakes.predictions.arrow._text_encoded",
    ],
)
@pytest.mark.parametrize("error", [MemoryError, pa.lib.ArrowMemoryError])
def test_too_little_memory(place, error, stakes, monkeypatch):
    def fail(*_, **__):
        raise error("malloc of size 128 failed")

    monkeypatch.setattr(place, fail)
    said = stakes(*EVALUATE)
    assert said.code == 2
    assert said.err == "stakes: there is not enough memory for this file.\n"


def test_a_file_that_may_not_be_read(stakes, monkeypatch):
    def refuse(path, *_, **__):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr("pathlib.Path.open", refuse)
    said = stakes("evaluate", "predictions.csv", "--fp", "1", "--fn", "2")
    assert said.code == 2
    assert said.err == "stakes: predictions.csv: cannot be read: Permission denied.\n"


@pytest.mark.parametrize(
    "arguments",
    [
        [*EVALUATE, "--json", "out.json"],
        ["count", "predictions.csv", "-c", "costs.csv", "--out", "out.json"],
        ["curve", "predictions.csv", "-c", "costs.csv", "--out", "out.png"],
        ["curve", "predictions.csv", "-c", "costs.csv", "--csv", "out.csv"],
        ["costs", "template", "predictions.csv", "--out", "out.csv"],
    ],
    ids=["evaluate", "count", "picture", "table", "template"],
)
@pytest.mark.parametrize("failure", [FULL_DISK, KeyboardInterrupt()], ids=["full disk", "Ctrl-C"])
def test_a_failed_write_leaves_no_file(arguments, failure, stakes, folder, monkeypatch):
    before = sorted(folder.iterdir())

    def fail(*_):
        raise failure

    monkeypatch.setattr("pathlib.Path.replace", fail)
    said = stakes("-q", *arguments)
    if failure is FULL_DISK:
        assert said.code == 2
        assert said.err.endswith(": cannot be written: No space left on device.\n")
    else:
        assert (said.code, said.err) == (130, "stakes: interrupted.\n")
    assert said.out == ""
    assert sorted(folder.iterdir()) == before


def test_an_interrupted_command_says_so(stakes, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("stakes.predictions.files.read_table", interrupt)
    said = stakes(*EVALUATE)
    assert (said.code, said.out, said.err) == (130, "", "stakes: interrupted.\n")


@pytest.mark.parametrize("times", [1, 5])
def test_control_c(folder, times):
    """One signal or several in a row, of which the later ones come while the first is handled."""
    running = subprocess.Popen(
        [*STAKES, "evaluate", "-", "-c", "costs.csv"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        # Tests that run in the background ignore Ctrl-C, which child processes inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    deadline = time.monotonic() + 600  # a busy machine takes long to start Python
    while time.monotonic() < deadline and not _waits(running.pid):
        time.sleep(0.05)
    for _ in range(times):
        running.send_signal(signal.SIGINT)
        time.sleep(0.01)
    try:
        running.wait(timeout=300)
    except subprocess.TimeoutExpired:  # a library may lose a signal while it is being imported
        running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=300)
    assert (running.returncode, out, err) == (130, "", "stakes: interrupted.\n")


@pytest.mark.parametrize("place", ["stakes.cli.main._Signals.ignore", "stakes.cli.main.complain"])
def test_a_second_signal_while_the_first_is_dealt_with(place, stakes, monkeypatch):
    """On a busy machine it comes long after the first, when that was not yet said."""
    module, name = place.rsplit(".", 1)
    here = import_module("stakes.cli.main")
    owner = here if module == here.__name__ else here._Signals  # noqa: SLF001
    real, late = getattr(owner, name), []

    def again(*given):
        if not late:
            late.append(True)
            monkeypatch.setattr("stakes.cli.main.PATIENCE", 0.0)
            signal.raise_signal(signal.SIGINT)
        return real(*given)

    def first(*_, **__):
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        monkeypatch.setattr(owner, name, again)
        monkeypatch.setattr("stakes.predictions.files.read_table", first)
        said = stakes(*EVALUATE)
    finally:
        signal.signal(signal.SIGINT, before)
    assert late
    assert (said.code, said.out, said.err) == (130, "", "stakes: interrupted.\n")


def _waits(pid):
    """Tell whether a process waits for its standard input, where the system tells."""
    where = Path(f"/proc/{pid}/wchan")
    return where.exists() and "pipe" in where.read_text(encoding="utf-8")


def test_a_reader_who_has_seen_enough(folder):
    with subprocess.Popen(
        [*STAKES, "-q", *EVALUATE], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
    ) as running:
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 141


@pytest.mark.skipif(not FULL.exists(), reason="needs /dev/full")
def test_a_full_disk_behind_standard_output(folder):
    with FULL.open("w") as full:
        said = process("-q", *EVALUATE, stdout=full, stderr=subprocess.PIPE, cwd=folder)
    assert said.returncode == 2
    assert said.stderr == ("stakes: standard output: cannot be written: No space left on device.\n")


def test_a_terminal_without_our_characters(folder, monkeypatch):
    assert folder.is_dir()
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    assert main(["-q", *EVALUATE]) == 0
    assert rb"\u2026" in written.getvalue()


@pytest.mark.parametrize(
    ("terminal", "environment", "coloured"),
    [
        (True, {"TERM": "xterm"}, True),
        (True, {"TERM": "xterm", "NO_COLOR": "1"}, False),
        (True, {"TERM": "dumb"}, False),
        (False, {"TERM": "xterm"}, False),
    ],
)
def test_colours_show_in_a_terminal_only(terminal, environment, coloured, stakes, monkeypatch):
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    plain = stakes(*EVALUATE).out
    monkeypatch.setattr("sys.stdout.isatty", lambda: terminal)
    shown = stakes(*EVALUATE).out
    assert ("\x1b[1m" in shown) == coloured
    assert re.sub(r"\x1b\[\d*m", "", shown) == plain


def test_notes_and_errors_are_wrapped_in_a_terminal_only(stakes, folder, monkeypatch):
    text = (folder / "predictions.csv").read_text()
    (folder / "predictions.csv").write_text(text.replace("actual,", "first_label,", 1))
    commands = [EVALUATE, [*EVALUATE, "--actual", "first_label"]]
    plain = [stakes(*each).err for each in commands]
    assert max(len(line) for text in plain for line in text.splitlines()) > 80
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    shown = [stakes(*each).err for each in commands]
    lines = [line for text in shown for line in text.splitlines() if not line.startswith("Try: ")]
    assert max(map(len, lines)) <= 80
    assert [text.split() for text in shown] == [text.split() for text in plain]


def test_shells_can_complete(folder):
    environment = {
        **os.environ,
        "_STAKES_COMPLETE": "complete_bash",
        "COMP_WORDS": "stakes ev",
        "COMP_CWORD": "1",
    }
    said = process(capture_output=True, cwd=folder, env=environment)
    assert said.stdout.strip() == "evaluate"
    environment = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    said = process("--show-completion", "bash", capture_output=True, cwd=folder, env=environment)
    assert "complete -o default -F _stakes_completion stakes" in said.stdout
    home = {**environment, "HOME": str(folder)}
    said = process("--install-completion", "bash", capture_output=True, cwd=folder, env=home)
    assert said.returncode == 0
    assert "_stakes_completion" in "".join(path.read_text() for path in folder.rglob("*stakes.sh"))


def test_files_are_read_without_the_libraries_of_data_frames(folder):
    script = (
        "import sys; from stakes.cli.main import main; "
        f"main(['-q', *{EVALUATE!r}]); "
        "print([name for name in ('pandas', 'polars', 'sklearn') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


NUMBERS = [
    "1_000",
    " 5 ",
    "٣",
    "+5",
    "1__0",
    "_1",
    ".5",
    "5.",
    "1e5",
    "nan",
    "-inf",
    "0x10",
    "",
    "1,5",
]


def run(arguments):
    """Return what a command of typer's makes of a number and a path, or how it refuses them."""
    typer = pytest.importorskip("typer", "0.29")
    from typer.main import get_command

    from stakes.cli._options import QuickGroup

    def both(
        number: float = 1,
        whole: int = 2,
        file: Path | None = None,
        names: list[str] | None = None,
    ):
        return repr((number, whole, file, names))

    for kind in (QuickGroup, typer.core.TyperGroup):
        app = typer.Typer(cls=kind, rich_markup_mode=None, add_completion=False)
        app.callback(invoke_without_command=True)(both)
        app.command()(lambda: None)
        try:
            yield get_command(app)(arguments, standalone_mode=False)
        except Exception as error:  # noqa: BLE001 - of whatever kind
            yield type(error), error.format_message()


@pytest.mark.parametrize("option", ["--number", "--whole"])
@pytest.mark.parametrize("text", [*NUMBERS, "1.0", "１"])
def test_numbers_are_converted_as_typer_does(option, text):
    quick, by_typer = run([f"{option}={text}"])
    assert quick == by_typer


@pytest.mark.parametrize(
    "given", [[], ["--file", "a.csv"], ["--file="], ["--names", "a", "--names", "b"]]
)
def test_paths_and_lists_are_converted_as_typer_does(given):
    quick, by_typer = run(given)
    assert quick == by_typer
