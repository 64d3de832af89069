"""stakes lab: runs are kept, go on, and are set beside what was published."""

import json
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from toy_experiment import TOY

from stakes.errors import FileError
from stakes.lab import run
from stakes.lab.kept import kept_runs
from stakes.lab.store import cell_file, folder_of, read, write

RUN = ["lab", "run", "toy", "--jobs", "1"]
CELLS = folder_of(Path("stakes-lab"), "toy", 0.1, 0)


def use(monkeypatch, **changes):
    """Change the toy."""
    module = SimpleNamespace(EXPERIMENT=replace(TOY, **changes))
    monkeypatch.setitem(sys.modules, "stakes.lab.replicate.toy", module)


@pytest.mark.usefixtures("toy")
def test_a_run_is_what_the_library_measures(stakes, folder):
    said = stakes(*RUN, "--scale", "0.3", "--seed", "5", "--json", "run.json")
    assert said.code == 0
    content = json.loads((folder / "run.json").read_text())
    found = run(TOY, scale=0.3, seed=5)
    rows = [dict(zip(content["columns"], row, strict=True)) for row in content["rows"]]
    assert [{k: v for k, v in row.items() if v is not None} for row in rows] == list(found.rows)
    first = content["published"][0]
    assert rows[first["row"]]["value"] == found.value(chance=0.5, sides=1)
    assert stakes("lab", "compare", "toy", "--json", "-").out == (folder / "run.json").read_text()


@pytest.mark.usefixtures("toy")
def test_the_run_of_the_largest_scale_is_compared_unless_another_is_asked_for(stakes, folder):
    for scale, seed in (("0.1", "0"), ("0.4", "2"), ("0.4", "1")):
        assert stakes(*RUN, "--scale", scale, "--seed", seed, "--folder", "runs").code == 0
    where = ["lab", "compare", "toy", "--folder", "runs"]
    assert "scale 0.4 and seed 1" in stakes(*where).out
    assert "scale 0.4 and seed 2" in stakes(*where, "--seed", "2").out
    assert "scale 0.1 and seed 0" in stakes(*where, "--scale", "0.1").out
    (folder / "runs" / "toy" / "notes").mkdir()
    assert len(kept_runs(TOY, folder / "runs")) == 3


def test_an_unfinished_run_says_how_to_go_on(stakes, toy):
    assert stakes(*RUN, "--scale", "0.1").code == 0
    whole = stakes("lab", "compare", "toy").out
    cell_file(CELLS, 3).unlink()
    said = stakes("lab", "compare", "toy")
    assert (said.code, said.out) == (2, "")
    assert said.err == (
        "stakes: stakes-lab: the run of toy with scale 0.1 and seed 0 has 5 of 6 cells. To go on, "
        "run 'stakes lab run toy --scale 0.1'.\n"
    )
    assert stakes(*RUN, "--scale", "0.1").code == 0
    assert stakes("lab", "compare", "toy").out == whole
    assert toy.findings[0] in whole


@pytest.mark.usefixtures("toy")
def test_a_run_that_is_interrupted_says_that_it_can_go_on(stakes, monkeypatch):
    def measure(trial, *, chance, sides):
        if chance == 0.5:
            raise KeyboardInterrupt
        return TOY.measure(trial, chance=chance, sides=sides)

    use(monkeypatch, measure=measure)
    said = stakes(*RUN)
    assert (said.code, said.out) == (130, "")
    assert said.err == (
        "stakes-lab keeps 2 of 6 cells. Run the same command to go on.\nstakes: interrupted.\n"
    )
    use(monkeypatch)
    assert stakes(*RUN).code == 0


CONTROL_C = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from dataclasses import replace
from types import SimpleNamespace
from toy_experiment import TOY
from stakes.lab import catalogue
catalogue.NAMES = ("toy",)
slow = replace(TOY, varies={{"chance": tuple(i / 2000 for i in range(2000)), "sides": (1,)}})
sys.modules["stakes.lab.replicate.toy"] = SimpleNamespace(EXPERIMENT=slow)
from stakes.cli.main import main
sys.exit(main(["lab", "run", "toy", "--jobs", sys.argv[1]]))
"""


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_control_c_in_the_middle_of_a_run(jobs, folder):
    running = subprocess.Popen(
        [sys.executable, "-c", CONTROL_C, jobs],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
    )
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not list(folder.rglob("cell-*")):
        time.sleep(0.02)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, out) == (130, "")
    first, *others = err.splitlines()
    assert first.startswith("stakes-lab keeps ")
    assert first.endswith(" of 2000 cells. Run the same command to go on.")
    assert others == ["stakes: interrupted."]
    kept = list(folder.rglob("cell-*"))
    assert all(read(path) for path in kept)
    assert int(first.split()[2]) <= len(kept) <= int(first.split()[2]) + 1
    assert not list(folder.rglob(".cell-*"))


@pytest.mark.usefixtures("toy")
def test_results_of_another_version_stop_a_run_and_stay(stakes):
    assert stakes(*RUN, "--scale", "0.1").code == 0
    path = cell_file(CELLS, 0)
    rows, about = read(path)
    write(path, rows, about | {"version": "0.0.1"})
    before = path.read_bytes()
    for command in (RUN, ["lab", "compare", "toy"], ["lab", "draw", "toy"]):
        said = stakes(*command, "--scale", "0.1")
        assert (said.code, said.out) == (2, "")
        assert "cell-00000.parquet: expected stakes" in said.err
        assert "Name another folder, or delete this one." in said.err
    assert path.read_bytes() == before


@pytest.mark.usefixtures("toy")
def test_a_full_disk_stops_a_run_and_the_next_goes_on(stakes, folder, monkeypatch):
    replace_file = Path.replace

    def fail(path, target):
        if "00002" in path.name:
            raise OSError(28, "No space left on device")
        return replace_file(path, target)

    monkeypatch.setattr("pathlib.Path.replace", fail)
    said = stakes(*RUN, "--scale", "0.1")
    assert (said.code, said.out) == (2, "")
    assert said.err.endswith("cell-00002.parquet: cannot be written: No space left on device.\n")
    assert len(list(folder.rglob("*cell-*"))) == 2
    monkeypatch.setattr("pathlib.Path.replace", replace_file)
    assert stakes(*RUN, "--scale", "0.1").code == 0


@pytest.mark.usefixtures("toy")
def test_a_folder_without_the_data_is_named(stakes, monkeypatch, folder):
    def measure(trial, **_):
        raise FileError(f"{trial.data / 'iris.csv'}: there is no such file.")

    use(monkeypatch, measure=measure, needs_data=True)
    said = stakes(*RUN)
    assert said.code == 2
    assert "--data FOLDER" in said.err
    assert not (folder / "stakes-lab").exists()
    said = stakes(*RUN, "--data", "nowhere")
    assert said.err == "stakes: --data: nowhere: there is no such folder.\n"
    (folder / "uci").mkdir()
    said = stakes(*RUN, "--data", "uci")
    assert (said.code, said.err) == (2, "stakes: uci/iris.csv: there is no such file.\n")
    said = stakes("lab", "compare", "toy")
    assert "To go on, run 'stakes lab run toy --data FOLDER'.\n" in said.err


def test_figures(stakes, folder, toy, monkeypatch):
    assert stakes(*RUN, "--scale", "0.1").code == 0
    (folder / "figures").mkdir()
    pictures = []
    for _ in range(2):
        said = stakes("lab", "draw", "toy", "--out", "figures")
        assert (said.code, said.err) == (0, "Wrote figures/toy-figure-1.png.\n")
        pictures.append((folder / "figures" / "toy-figure-1.png").read_bytes())
    assert pictures[0] == pictures[1]
    assert pictures[0].startswith(b"\x89PNG")
    said = stakes("lab", "draw", "toy", "--out", "nowhere")
    assert said.err == "stakes: --out: nowhere: there is no such folder.\n"
    said = stakes("lab", "draw", "toy", "--format", "gif")
    assert said.err == "stakes: --format: expected one of png, svg, pdf; got 'gif'.\n"
    assert toy.draw is not None
    use(monkeypatch, draw=None)
    said = stakes("lab", "draw", "toy")
    assert said.err.startswith("stakes: toy: the paper has no figure of it")
