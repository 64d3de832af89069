"""python -m replications: runs are stored, resumed, and compared with published numbers."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from _helpers.toy_experiment import TOY

from replications import run
from replications.engine import kept_runs
from replications.store import cell_file, folder_of, read, read_results, write
from stakes.errors import FileError

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "replications"
PROGRAM = "python -m replications"
COMMANDS = {
    "list": "list",
    "run": "run toy --scale 0.5 --jobs 1",
    "compare": "compare toy",
    "draw": "draw toy --format svg",
}
BEFORE = {
    "compare": "run toy --scale 0.2 --seed 3 --jobs 1",
    "draw": "run toy --scale 0.1 --jobs 1",
}
"""Commands that must run before another command, by that command."""

RUN = ["run", "toy", "--jobs", "1"]
CELLS = folder_of(Path("replication-runs"), "toy", 0.1, 0)


def use(monkeypatch, **changes):
    """Change the toy."""
    module = SimpleNamespace(EXPERIMENT=replace(TOY, **changes))
    monkeypatch.setitem(sys.modules, "replications.experiments.toy", module)


@pytest.mark.usefixtures("toy")
@pytest.mark.parametrize("name", COMMANDS)
def test_commands_say_what_they_always_said(name, replications):
    if name in BEFORE:
        assert replications(*BEFORE[name].split()).code == 0
    said = replications(*shlex.split(COMMANDS[name]))
    text = f"$ {PROGRAM} {COMMANDS[name]}\n{said.out}"
    text += f"--- standard error\n{said.err}" if said.err else ""
    path = GOLDEN / f"{name}.txt"
    if os.environ.get("STAKES_WRITE_GOLDEN"):
        path.write_text(text, encoding="utf-8")
    assert said.code == 0
    assert text == path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["run", "bcost-coverge"], "none called 'bcost-coverge'. Did you mean 'bcost-coverage'"),
        (["compare", "xyzzy"], "NAME: there is none called 'xyzzy'. There are: bcost-coverage, "),
        (
            ["run", "z-claim", "--scale", "0"],
            "--scale: expected a share above 0 and up to 1, got '0'",
        ),
        (["run", "z-claim", "--scale", "5"], "--scale: expected a share .* got '5'"),
        (["run", "z-claim", "--scale", "all"], "--scale: expected a share .* got 'all'"),
        (
            ["run", "z-claim", "--seed", "-1"],
            "--seed: expected a whole number, 0 or more, got '-1'",
        ),
        (["run", "z-claim", "--seed", "x"], "--seed: expected a whole number, 0 or more, got 'x'"),
        (["run", "z-claim", "--scale", "x"], "--scale: expected a share above 0 and up to 1"),
        (["run", "z-claim", "--jobs", "-5"], "--jobs/-j: expected 1 or more, or -1 for one per"),
        (["run", "z-claim", "--jobs", "x"], "--jobs/-j: expected 1 or more, or -1 for one per"),
        (
            ["run", "bdeltacost"],
            "NAME: there is none called 'bdeltacost'. Did you mean 'bdeltacost-",
        ),
        (["run", "z-claim", "--jobs", "0"], "--jobs/-j: expected 1 or more, or -1"),
        (["run", "weighting-uci", "--data", "uci"], "--data: uci: there is no such folder"),
        (["run", "weighting-uci"], "weighting-uci reads data sets from a folder, and none was"),
        (["run", "z-claim", "--folder", "file"], "file/z-claim/scale-1-seed-0: the folder cannot"),
        (["compare", "z-claim"], f"it has no such run of z-claim. Run '{PROGRAM} run z-claim --sc"),
        (["draw", "z-claim", "--seed", "3"], "run z-claim --scale 0.05 --seed 3' first"),
        (["draw", "z-claim", "--format", "gif"], "--format: invalid choice: 'gif'"),
        (["run", "z-claim", "--json", "no/a.json"], "no/a.json: cannot be written"),
        ([], "COMMAND"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, says, replications, folder):
    (folder / "file").write_text("in the way")
    said = replications(*arguments)
    assert (said.code, said.out) == (2, "")
    assert re.search(says, said.err), said.err


@pytest.mark.usefixtures("toy")
def test_every_key_of_the_results_is_documented(replications):
    content = json.loads(replications(*RUN, "--scale", "0.1", "--json", "-").out)
    assert content["schema"] == "replications/1"
    page = (ROOT / "docs" / "howto" / "reproduce.md").read_text(encoding="utf-8")
    documented = set(re.findall(r"`(\w+)`", page.split("`replications/1`")[1]))
    assert set(content) - {"schema"} <= documented
    assert set(content["published"][0]) <= documented


@pytest.mark.usefixtures("toy")
def test_results_can_be_kept_for_the_documents(replications, monkeypatch, folder):
    monkeypatch.setattr("replications.__main__.RESULTS", folder)
    said = replications(*RUN, "--scale", "0.1", "--keep")
    assert said.err == f"Wrote {folder / 'toy.parquet'}.\n"
    assert read_results(folder / "toy.parquet") == run(TOY, scale=0.1)


@pytest.mark.usefixtures("toy")
def test_a_run_is_what_the_library_measures(replications, folder):
    said = replications(*RUN, "--scale", "0.3", "--seed", "5", "--json", "run.json")
    assert said.code == 0
    content = json.loads((folder / "run.json").read_text())
    found = run(TOY, scale=0.3, seed=5)
    rows = [dict(zip(content["columns"], row, strict=True)) for row in content["rows"]]
    assert [{k: v for k, v in row.items() if v is not None} for row in rows] == list(found.rows)
    first = content["published"][0]
    assert rows[first["row"]]["value"] == found.value(chance=0.5, sides=1)
    assert replications("compare", "toy", "--json", "-").out == (folder / "run.json").read_text()


@pytest.mark.usefixtures("toy")
def test_the_run_of_the_largest_scale_is_compared_unless_another_is_asked_for(replications, folder):
    for scale, seed in (("0.1", "0"), ("0.4", "2"), ("0.4", "1")):
        assert replications(*RUN, "--scale", scale, "--seed", seed, "--folder", "runs").code == 0
    where = ["compare", "toy", "--folder", "runs"]
    assert "scale 0.4 and seed 1" in replications(*where).out
    assert "scale 0.4 and seed 2" in replications(*where, "--seed", "2").out
    assert "scale 0.1 and seed 0" in replications(*where, "--scale", "0.1").out
    (folder / "runs" / "toy" / "notes").mkdir()
    assert len(kept_runs(TOY, folder / "runs")) == 3


def test_an_unfinished_run_says_how_to_go_on(replications, toy):
    assert replications(*RUN, "--scale", "0.1").code == 0
    whole = replications("compare", "toy").out
    cell_file(CELLS, 3).unlink()
    said = replications("compare", "toy")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "replications: replication-runs: the run of toy with scale 0.1 and seed 0 has 5 of 6 "
        "cells. To go on, run 'python -m replications run toy --scale 0.1'.\n"
    )
    assert replications(*RUN, "--scale", "0.1").code == 0
    assert replications("compare", "toy").out == whole
    assert "Two *sides* are both up a quarter of the time.\n" in whole
    assert toy.stand_ins[0] in whole


@pytest.mark.usefixtures("toy")
def test_a_run_that_is_interrupted_says_that_it_can_go_on(replications, monkeypatch):
    def measure(trial, *, chance, sides):
        if chance == 0.5:
            raise KeyboardInterrupt
        return TOY.measure(trial, chance=chance, sides=sides)

    use(monkeypatch, measure=measure)
    said = replications(*RUN)
    assert (said.code, said.out) == (130, "")
    assert said.err == (
        "replication-runs keeps 2 of 6 cells. Run the same command to go on.\n"
        "replications: interrupted.\n"
    )
    use(monkeypatch)
    assert replications(*RUN).code == 0


PATIENCE = 600  # seconds: a busy machine takes long to start Python

CONTROL_C = f"""
import sys
sys.path[:0] = [{str(ROOT)!r}, {str(ROOT / "tests")!r}]
from dataclasses import replace
from types import SimpleNamespace
from _helpers.toy_experiment import TOY
from replications import catalogue
catalogue.NAMES = ("toy",)
slow = replace(TOY, varies={{"chance": tuple(i / 2000 for i in range(2000)), "sides": (1,)}})
sys.modules["replications.experiments.toy"] = SimpleNamespace(EXPERIMENT=slow)
from replications.__main__ import main
sys.exit(main(["run", "toy", "--jobs", sys.argv[1]]))
"""


KILLED = CONTROL_C.replace("sys.argv[1]", '"1"').replace(
    "EXPERIMENT=slow", "EXPERIMENT=stops_after(2)"
)
KILLED = KILLED.replace("import TOY", "import TOY, stops_after")


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_control_c_in_the_middle_of_a_run(jobs, folder):
    running = subprocess.Popen(
        [sys.executable, "-c", CONTROL_C, jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        # Tests that run in the background ignore Ctrl-C, which child processes inherit.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # noqa: PLW1509
    )
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and not list(folder.rglob("cell-*")):
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=PATIENCE)
    assert (running.returncode, out) == (130, "")
    first, *others = err.splitlines()
    assert first.startswith("replication-runs keeps ")
    assert first.endswith(" of 2000 cells. Run the same command to go on.")
    assert others == ["replications: interrupted."]
    kept = list(folder.rglob("cell-*"))
    assert all(read(path) for path in kept)
    assert int(first.split()[2]) <= len(kept) <= int(first.split()[2]) + 1
    assert not list(folder.rglob(".cell-*"))


def alive(process):
    """Tell whether a process runs; one that has ended may wait to be collected."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such signal")
def test_the_processes_of_a_killed_run_end_with_it(folder):
    running = subprocess.Popen([sys.executable, "-c", CONTROL_C, "2"], cwd=folder)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and len(list(folder.rglob("cell-*"))) < 10:
        time.sleep(0.02)
    tasks = Path(f"/proc/{running.pid}/task").glob("*/children")
    workers = [each for path in tasks for each in path.read_text().split()]
    workers = [
        each for each in workers if b"popen_loky" in Path(f"/proc/{each}/cmdline").read_bytes()
    ]
    running.kill()
    running.wait(timeout=PATIENCE)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and any(map(alive, workers)):
        time.sleep(0.05)
    assert workers
    assert not any(map(alive, workers))


@pytest.mark.usefixtures("toy")
def test_a_killed_run_and_a_second_one_give_the_same_table(replications, folder):
    assert replications(*RUN, "--folder", "whole").code == 0
    whole = replications("compare", "toy", "--folder", "whole").out
    running = subprocess.Popen([sys.executable, "-c", KILLED], cwd=folder)
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline and len(list(folder.glob("replication-runs/**/cell-*"))) < 2:
        time.sleep(0.005)
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    kept = {path: path.stat().st_mtime_ns for path in folder.glob("replication-runs/**/cell-*")}
    assert len(kept) == 2
    assert replications(*RUN).code == 0
    assert all(path.stat().st_mtime_ns == when for path, when in kept.items())
    assert replications("compare", "toy").out == whole


@pytest.mark.usefixtures("toy")
def test_results_of_another_version_stop_a_run_and_stay(replications):
    assert replications(*RUN, "--scale", "0.1").code == 0
    path = cell_file(CELLS, 0)
    rows, about = read(path)
    write(path, rows, about | {"version": "0.0.1"})
    before = path.read_bytes()
    for command in (RUN, ["compare", "toy"], ["draw", "toy"]):
        said = replications(*command, "--scale", "0.1")
        assert (said.code, said.out) == (2, "")
        assert "cell-00000.parquet: expected stakes" in said.err
        assert "Name another folder, or delete this one." in said.err
    assert path.read_bytes() == before


@pytest.mark.usefixtures("toy")
def test_a_full_disk_stops_a_run_and_the_next_goes_on(replications, folder, monkeypatch):
    replace_file = Path.replace

    def fail(path, target):
        if "00002" in target.name:
            raise OSError(28, "No space left on device")
        return replace_file(path, target)

    monkeypatch.setattr("pathlib.Path.replace", fail)
    said = replications(*RUN, "--scale", "0.1")
    assert (said.code, said.out) == (2, "")
    assert said.err.endswith("cell-00002.parquet: cannot be written: No space left on device.\n")
    assert len(list(folder.rglob("*cell-*"))) == 2
    monkeypatch.setattr("pathlib.Path.replace", replace_file)
    assert replications(*RUN, "--scale", "0.1").code == 0


@pytest.mark.usefixtures("toy")
def test_a_folder_without_the_data_is_named(replications, monkeypatch, folder):
    def measure(trial, **_):
        raise FileError(f"{trial.data / 'iris.csv'}", "there is no such file.")

    use(monkeypatch, measure=measure, needs_data=True)
    said = replications(*RUN)
    assert said.code == 2
    assert "--data FOLDER" in said.err
    assert not (folder / "replication-runs").exists()
    said = replications(*RUN, "--data", "nowhere")
    assert said.err == "replications: --data: nowhere: there is no such folder.\n"
    (folder / "uci").mkdir()
    said = replications(*RUN, "--data", "uci")
    assert (said.code, said.err) == (2, "replications: uci/iris.csv: there is no such file.\n")
    said = replications("compare", "toy")
    assert "To go on, run 'python -m replications run toy --data FOLDER'.\n" in said.err


def test_figures(replications, folder, toy, monkeypatch):
    assert replications(*RUN, "--scale", "0.1").code == 0
    (folder / "figures").mkdir()
    pictures = []
    for _ in range(2):
        said = replications("draw", "toy", "--out", "figures")
        assert (said.code, said.err) == (0, "Wrote figures/toy-figure-1.png.\n")
        pictures.append((folder / "figures" / "toy-figure-1.png").read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0].startswith(b"\x89PNG")
    said = replications("draw", "toy", "--out", "nowhere")
    assert said.err == "replications: --out: nowhere: there is no such folder.\n"
    assert toy.draw is not None
    use(monkeypatch, draw=None)
    said = replications("draw", "toy")
    assert said.err.startswith("replications: toy: the paper has no figure of it")
