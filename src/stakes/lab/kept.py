"""Runs that a folder keeps: which there are, how far they are, and their results."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from stakes.errors import FileError
from stakes.lab.engine import run
from stakes.lab.experiment import Experiment, Results
from stakes.lab.store import cell_file, folder_of, read


@dataclass(frozen=True)
class Kept:
    """A run in a folder."""

    experiment: Experiment
    folder: Path
    scale: float
    seed: int

    @property
    def files(self) -> list[Path]:
        """The cells that were measured."""
        where = folder_of(self.folder, self.experiment.name, self.scale, self.seed)
        files = [cell_file(where, number) for number in range(self.cells)]
        return [path for path in files if path.exists()]

    @property
    def done(self) -> int:
        """How many of its cells were measured."""
        return len(self.files)

    @property
    def cells(self) -> int:
        """How many cells it has."""
        return sum(1 for _ in self.experiment.cells())

    @property
    def finished(self) -> bool:
        """Whether all cells were measured."""
        return self.done == self.cells

    @property
    def data(self) -> Path | None:
        """The folder with the data sets that it was measured with."""
        for path in self.files:
            named = read(path)[1].get("data")
            return None if named is None else Path(named)
        return None

    @property
    def command(self) -> str:
        """What goes on with it."""
        return command(self.experiment, self.folder, self.scale, self.seed, self.data)

    def results(self) -> Results:
        """Return the results of a finished run, measuring nothing."""
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
    """Return the finished run with that scale and seed; by default the one of the largest scale."""
    found = [
        kept
        for kept in kept_runs(experiment, folder)
        if scale in {None, kept.scale} and seed in {None, kept.seed}
    ]
    if not found:
        asked = command(experiment, folder, 0.05 if scale is None else scale, seed or 0)
        raise FileError(f"{folder}: it has no such run of {experiment.name}. Run '{asked}' first.")
    finished = [kept for kept in found if kept.finished]
    if not finished:
        last = found[0]
        raise FileError(
            f"{folder}: the run of {experiment.name} with scale {last.scale:g} and seed "
            f"{last.seed} has {last.done} of {last.cells} cells. To go on, run '{last.command}'."
        )
    return finished[0]


def kept_runs(experiment: Experiment, folder: Path) -> list[Kept]:
    """Return the runs of an experiment in a folder, the one of the largest scale first."""
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
    parts = [f"stakes lab run {experiment.name}"]
    parts += [f"--scale {scale:g}"] if scale != 1 else []
    parts += [f"--seed {seed}"] if seed else []
    parts += [f"--folder {folder}"] if folder != Path(DEFAULT_FOLDER) else []
    parts += [f"--data {named}"] if named is not None else []
    return " ".join(parts)


NO_DATA = Path("FOLDER")
"""What stands for a folder that nobody has named."""

DEFAULT_FOLDER = "stakes-lab"
