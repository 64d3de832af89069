"""Run an experiment: its cells side by side, each kept as soon as it is done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed

from stakes.errors import InputError
from stakes.lab import store
from stakes.lab.catalogue import find
from stakes.lab.experiment import Experiment, Results, Row, Trial, Value

Told = Callable[[int, int, float], None]


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
    """Run an experiment, or what is left of one.

    Parameters
    ----------
    experiment : str or Experiment
        Its name, or an experiment of your own.
    scale : float
        The share of the replicates to draw: 0.01 for a quick look.
    seed : int
        The seed: the same numbers for the same seed, whatever `n_jobs` and in whatever order.
    folder : path, optional
        Where to keep each cell as soon as it is done. A run that was stopped, even killed, goes on
        from there, with the same data. Without a folder nothing is kept.
    data : path, optional
        The folder with the data sets, for experiments that need one.
    n_jobs : int, optional
        How many cells to run side by side, by joblib; ``joblib.parallel_config`` chooses where,
        such as on a Dask cluster.
    progress : callable, optional
        Called with the cells that are done, those that there are, and the seconds left.

    Returns
    -------
    Results

    Examples
    --------
    >>> from stakes.lab import run
    >>> results = run("loss-distribution", scale=0.01)
    >>> sorted({row["model"] for row in results.rows})
    ['M1', 'M6', 'M9']
    >>> results == run("loss-distribution", scale=0.01)
    True
    """
    chosen = find(experiment) if isinstance(experiment, str) else experiment
    if chosen.needs_data and data is None:
        raise InputError(
            f"data: {chosen.name} reads data sets from a folder, and none was named "
            "(on the command line: --data FOLDER)."
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
    # One cell a task: a run that is killed loses only what was being measured.
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
    """Return the cells that an earlier run has left."""
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
    begun = time.process_time()  # which others on the machine do not change
    named: dict[str, Any] = dict(cell)
    rows = [{**cell, **row} for row in measure(trial, **named)]
    return number, rows, time.process_time() - begun
