"""Run experiments, and resume runs that were stopped.

Cells run in parallel, and each is saved as soon as it is done. A folder may hold several runs, with
different scales and seeds.
"""

from __future__ import annotations

import ctypes
import re
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from multiprocessing import current_process
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from replications import store
from replications.catalogue import find
from replications.experiment import Experiment, Results, Row, Trial, Value
from stakes.errors import FileError, InputError

Told = Callable[[int, int, float], None]
DEFAULT_FOLDER = Path("replication-runs")
NO_DATA = Path("FOLDER")
"""Placeholder for a data folder that was not given."""
PR_SET_PDEATHSIG = 1
"""Linux's name for the signal that a process gets when its parent ends."""


def run(
    experiment: str | Experiment,
    *,
    scale: float = 1.0,
    seed: int = 0,
    folder: str | Path | None = None,
    data: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Told | None = None,
) -> Results:
    """Run an experiment, or the remaining cells of a run that was stopped.

    Parameters
    ----------
    experiment : str or Experiment
        The name of an experiment, or an experiment of your own.
    scale : float
        The share of the replicates to draw: 0.01 for a quick look.
    seed : int
        The random seed. The numbers depend on it, but not on `n_jobs` or the order of the cells.
    folder : path, optional
        Where to save each cell as soon as it is done. A run that was stopped, even killed, resumes
        from there, with the same data. Without a folder nothing is saved.
    data : path, optional
        The folder with the data sets, for experiments that need one.
    n_jobs : int, optional
        The number of cells to run in parallel, with joblib; ``joblib.parallel_config`` chooses
        where, such as on a Dask cluster.
    progress : callable, optional
        Called with the number of finished cells, the number of all cells, and the seconds left.

    Returns
    -------
    Results

    Examples
    --------
    >>> from replications import run
    >>> results = run("loss-distribution", scale=0.01)
    >>> sorted({row["model"] for row in results.rows})
    ['M1', 'M6', 'M9']
    >>> results == run("loss-distribution", scale=0.01)
    True
    """
    chosen = find(experiment) if isinstance(experiment, str) else experiment
    if chosen.needs_data and data is None:
        raise InputError(
            "data",
            f"{chosen.name} reads data sets from a folder, and none was named (on the command "
            "line: --data FOLDER).",
        )
    source = None if data is None else Path(data)
    known_as = None if source is None or not chosen.reads_data else str(source.resolve())
    cells = list(chosen.cells())
    trials = [chosen.trial(cell, scale, seed, source) for cell in cells]
    where = None if folder is None else store.folder_of(Path(folder), chosen.name, scale, seed)
    done: dict[int, tuple[list[Row], float]] = {}
    if where is not None:
        store.make_folder(where)
        done = _kept(where, cells, trials, known_as)
    tell = progress or (lambda *_: None)
    begun, before = time.monotonic(), len(done)
    left = [number for number in range(len(cells)) if number not in done]
    tell(len(done), len(cells), float("nan"))
    # One cell per task: a run that is killed loses only the cells in progress.
    tasks = Parallel(n_jobs=n_jobs, batch_size=1, return_as="generator_unordered")(
        delayed(_measure)(chosen.measure, number, cells[number], trials[number]) for number in left
    )
    for number, rows, seconds in tasks:
        if where is not None:
            about = {
                "cell": cells[number], "repeats": trials[number].repeats, "data": known_as,
                "seconds": seconds,
            }  # fmt: skip
            store.write(store.cell_file(where, number), rows, about)
        done[number] = rows, seconds
        each = (time.monotonic() - begun) / (len(done) - before)
        tell(len(done), len(cells), each * (len(cells) - len(done)))
    measured = [row for number in range(len(cells)) for row in done[number][0]]
    if chosen.derive is not None:
        measured += list(chosen.derive(measured))
    seconds = sum(seconds for _, seconds in done.values())
    return Results(chosen.name, measured, scale, seed, seconds)


def _kept(
    where: Path, cells: list[dict[str, Value]], trials: list[Trial], data: str | None
) -> dict[int, tuple[list[Row], float]]:
    """Return the cells that an earlier run has saved."""
    done = {}
    for number, cell in enumerate(cells):
        path = store.cell_file(where, number)
        if path.exists():
            rows, about = store.read(path)
            store.check(path, about, cell, repeats=trials[number].repeats, data=data)
            done[number] = rows, float(about["seconds"])
    return done


def _measure(
    measure: Callable[..., Iterable[Row]], number: int, cell: Mapping[str, Value], trial: Trial
) -> tuple[int, list[Row], float]:
    _end_with_parent()
    begun = time.process_time()  # unaffected by other processes on the machine
    named: dict[str, Any] = dict(cell)
    rows = [{**cell, **row} for row in measure(trial, **named)]
    return number, rows, time.process_time() - begun


@cache
def _end_with_parent() -> None:
    """Have Linux end a joblib worker when the run is killed; it would live on for minutes."""
    if sys.platform == "linux" and "loky" in type(current_process()).__module__:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


@dataclass(frozen=True)
class Kept:
    """A run saved in a folder."""

    experiment: Experiment
    folder: Path
    scale: float
    seed: int

    @property
    def files(self) -> list[Path]:
        """The files of the measured cells."""
        where = store.folder_of(self.folder, self.experiment.name, self.scale, self.seed)
        files = [store.cell_file(where, number) for number in range(self.cells)]
        return [path for path in files if path.exists()]

    @property
    def done(self) -> int:
        """The number of measured cells."""
        return len(self.files)

    @property
    def cells(self) -> int:
        """The number of cells."""
        return sum(1 for _ in self.experiment.cells())

    @property
    def finished(self) -> bool:
        """Whether all cells were measured."""
        return self.done == self.cells

    @property
    def data(self) -> Path | None:
        """The folder of the data sets that the run used."""
        for path in self.files:
            named = store.read(path)[1].get("data")
            return None if named is None else Path(named)
        return None

    @property
    def command(self) -> str:
        """The command that continues the run."""
        return command(self.experiment, self.folder, self.scale, self.seed, self.data)

    def results(self) -> Results:
        """Return the results of a finished run, without measuring anything."""
        return run(
            self.experiment,
            scale=self.scale,
            seed=self.seed,
            folder=self.folder,
            data=self.data or (self.folder if self.experiment.needs_data else None),
        )


def kept_run(
    experiment: Experiment, folder: Path, scale: float | None = None, seed: int | None = None
) -> Kept:
    """Return the finished run with that scale and seed; by default that with the largest scale."""
    found = [
        kept
        for kept in kept_runs(experiment, folder)
        if scale in {None, kept.scale} and seed in {None, kept.seed}
    ]
    if not found:
        asked = command(experiment, folder, 0.05 if scale is None else scale, seed or 0)
        raise FileError(
            f"{folder}", f"it has no such run of {experiment.name}. Run '{asked}' first."
        )
    finished = [kept for kept in found if kept.finished]
    if not finished:
        last = found[0]
        raise FileError(
            f"{folder}",
            f"the run of {experiment.name} with scale {last.scale:g} and seed {last.seed} has "
            f"{last.done} of {last.cells} cells. To go on, run '{last.command}'.",
        )
    return finished[0]


def kept_runs(experiment: Experiment, folder: Path) -> list[Kept]:
    """Return the runs of an experiment in a folder, largest scale first."""
    found = []
    for path in sorted((folder / experiment.name).glob("scale-*-seed-*")):
        named = re.fullmatch(r"scale-([\d.e+-]+)-seed-(\d+)", path.name)
        if named is not None:
            found.append(Kept(experiment, folder, float(named[1]), int(named[2])))
    return sorted(found, key=lambda kept: (-kept.scale, kept.seed))


def command(
    experiment: Experiment, folder: Path, scale: float, seed: int, data: Path | None = None
) -> str:
    """Return the command that runs an experiment."""
    named = NO_DATA if data is None and experiment.needs_data else data
    parts = [f"python -m replications run {experiment.name}"]
    parts += [f"--scale {scale:g}"] if scale != 1 else []
    parts += [f"--seed {seed}"] if seed else []
    parts += [f"--folder {folder}"] if folder != DEFAULT_FOLDER else []
    parts += [f"--data {named}"] if named is not None else []
    return " ".join(parts)
