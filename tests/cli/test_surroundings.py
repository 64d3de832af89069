"""Every command with limited memory, streams, encodings, permissions and start-up time."""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from stakes.cli._app import command

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a shell")

P = "predictions.csv -c costs.csv"
COMMANDS = {
    "report": f"{P} --out out.html",
    "evaluate": f"{P} --unit € --json out.json",
    "compare": f"{P} --baseline old --gate",
    "curve": f"{P} --out out.svg --csv out.csv",
    "threshold": P,
    "plan": f"{P} --half-width 2",
    "audit plan": "rows.csv -c costs.csv -m a --labels 40 --out out.csv --json out.json",
    "audit read": "labels.csv --report out.html --json out.json",
    "audit more": "labels.csv rows.csv --labels 20 --out out.csv --json out.json",
    "count": f"{P} --out out.parquet",
    "merge": "one.json two.json --out out.json",
    "costs check": "costs.csv",
    "costs template": "predictions.csv --out out.csv",
    "simulate coverage": f"{P} -m tree --n 50 --repeats 20",
    "simulate type-one": f"{P} -m old -m tree --n 50 --repeats 20",
    "simulate power": f"{P} -m old -m tree --n 50 --repeats 20",
    "demo": "--out out.html",
}
NOBODY = 65534
PLAIN = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "HOME": "/dev/null/home"}


def test_every_command_is_among_them():
    found = []
    for name, each in command().commands.items():
        found += [f"{name} {inner}" for inner in getattr(each, "commands", {})] or [name]
    assert found == list(COMMANDS)


@pytest.fixture(scope="module")
def as_nobody():
    """Return how a command is run without the rights of root; nothing if it has none anyway.

    The right to read all files stays, since Python itself may be in the home of root.
    """
    if os.geteuid() != 0:
        return ""
    rights = "--inh-caps=+dac_read_search --ambient-caps=+dac_read_search"
    prefix = f"setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups {rights}"
    tried = subprocess.run(
        ["/bin/bash", "-c", f"{prefix} {sys.executable} -c pass"], capture_output=True, check=False
    )
    if tried.returncode:
        pytest.skip("the tests run as root, and nobody else can run this Python")
    return prefix


@pytest.fixture
def open_folder(folder, label_file, stakes):
    """Return a folder that everyone may write to, with files that only root may."""
    for name, seed in (("one", 3), ("two", 4)):
        rows = (folder / "predictions.csv").read_text().splitlines(keepends=True)
        (folder / "part.csv").write_text("".join([rows[0], *rows[seed::7]]))
        assert (
            stakes("-q", "count", "part.csv", "-c", "costs.csv", "--out", f"{name}.json").code == 0
        )
    label_file(900, "labels.csv")
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o777)
        for each in folder.iterdir():
            shutil.copy(each, place)
        yield place


def run(line, folder, streams="", **options):
    """Run a line of shell."""
    return subprocess.run(
        ["/bin/bash", "-c", f"{line} {streams}"],
        cwd=folder,
        capture_output=True,
        check=False,
        timeout=600,
        text=True,
        **options,
    )


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_needs_little(name, open_folder, as_nobody):
    """It works with closed streams, in a plain locale, as nobody, within some memory."""
    line = f"ulimit -v {4 << 20}; exec {as_nobody} {sys.executable} -m stakes.cli.main {name}"
    line = f"{line} {COMMANDS[name]}"
    env = {**os.environ, **PLAIN}
    before = set(open_folder.iterdir())
    done = run(line, open_folder, "<&- 2>&-", env=env)
    said = done.stdout if done.returncode == 0 else run(line, open_folder, env=env).stderr
    assert done.returncode == 0, said
    assert done.stderr == ""
    made = {each.suffix for each in set(open_folder.iterdir()) - before}
    assert made == {each[3:] for each in COMMANDS[name].split() if each.startswith("out.")}


@pytest.mark.parametrize("name", ["report", "demo"])
def test_charts_that_would_end_the_process_are_refused(name, open_folder):
    line = f"ulimit -v {2 << 20}; exec {sys.executable} -m stakes.cli.main {name} {COMMANDS[name]}"
    done = run(line, open_folder, env={**os.environ, **PLAIN})
    assert done.returncode == 2
    assert "needs 4 GB of addresses" in " ".join(done.stderr.split())


@pytest.mark.parametrize("megabytes", [150, 500, 900])
def test_too_little_memory_is_said(megabytes, folder):
    """Libraries end the process themselves then, with the exit code of a failed gate."""
    line = f"ulimit -v {megabytes << 10}; exec {sys.executable} -m stakes.cli.main -q compare"
    done = run(f"{line} predictions.csv -c costs.csv --baseline old --gate", folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("stakes: there is not enough memory: 'ulimit -v' allows less")


@pytest.mark.parametrize("kilobytes", [1_000_000, 1_500_000, 1_520_000, 1_660_000])
def test_little_memory_does_not_end_the_process(kilobytes, folder):
    """Of these, some just let pyarrow reserve all that there is, its threads aside."""
    command = f"exec {sys.executable} -m stakes.cli.main -q compare predictions.csv -c costs.csv"
    done = run(f"ulimit -v {kilobytes}; {command} --baseline old --gate", folder)
    if done.returncode == 2:
        assert (done.stdout, done.stderr[:8]) == ("", "stakes: ")
    else:
        usual = run(f"{command} --baseline old --gate", folder)
        assert (done.returncode, done.stdout) == (usual.returncode, usual.stdout)
        assert "Gate passed" in done.stdout


def test_a_folder_that_was_deleted_is_said(folder):
    gone = folder / "gone"
    gone.mkdir()
    line = f"rmdir ../gone; {sys.executable} -m stakes.cli.main -q report {folder}/predictions.csv"
    done = run(f"{line} -c {folder}/costs.csv", gone)
    assert (done.returncode, done.stdout) == (2, "")
    assert "the current folder: it does not exist any more." in done.stderr


SCRIPT = """
import os, signal, sys
left = int(os.environ["STOP_AT"])
class Hook:
    def find_spec(self, *_):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Hook())
signal.signal(signal.SIGINT, signal.default_int_handler)
from stakes.cli.main import main
code = main()
if left > 0:
    print("imports:", int(os.environ["STOP_AT"]) - left, file=sys.stderr)
sys.exit(code)
"""


def test_an_interrupt_while_modules_load_is_no_traceback(folder):
    """It comes in the first milliseconds, at one import or another."""
    (folder / "stakes").write_text(SCRIPT)

    def started(stop_at):
        return subprocess.run(
            [sys.executable, "stakes", "-q", "evaluate", "predictions.csv", "-c", "costs.csv"],
            cwd=folder,
            capture_output=True,
            check=False,
            text=True,
            timeout=600,
            env={**os.environ, "STOP_AT": str(stop_at)},
        )

    imports = int(started(10**6).stderr.split("imports:")[1])
    for stop_at in (2, 5, 10, 20, 40, 80, imports // 2, imports - 5):
        done = started(stop_at)
        assert done.returncode in (130, -signal.SIGINT), (stop_at, done)
        assert (done.stdout, done.stderr) in (("", ""), ("", "stakes: interrupted.\n"))


EARLY = """
import os, signal, sys
class Hook:
    def find_spec(self, name, *_):
        if name == os.environ["STOP_AT"]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Hook())
signal.signal(signal.SIGINT, signal.default_int_handler)
"""


@pytest.mark.parametrize("module", ["stakes", "stakes.cli.main"])
@pytest.mark.parametrize("stop_at", ["stakes._core.optional", "stakes.cli", "stakes.errors"])
def test_an_interrupt_of_the_module_is_no_traceback(module, stop_at, folder):
    (folder / "sitecustomize.py").write_text(EARLY)
    paths = os.pathsep.join([str(folder), *filter(None, sys.path)])
    done = subprocess.run(
        [sys.executable, "-m", module, "-q", "evaluate", "predictions.csv", "-c", "costs.csv"],
        cwd=folder,
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": paths, "STOP_AT": stop_at},
    )
    assert done.returncode in (130, -signal.SIGINT), done
    assert (done.stdout, done.stderr) in (("", ""), ("", "stakes: interrupted.\n"))
