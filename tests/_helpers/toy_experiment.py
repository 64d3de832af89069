"""A small experiment for the tests, in a module that other processes can import."""

import os
import signal
import time
from dataclasses import replace

from replications import Experiment, Printed
from replications.experiment import share


def measure(trial, *, chance, sides):
    time.sleep(0.05)
    hits = int((trial.rng.random((trial.repeats, sides)) < chance).all(axis=1).sum())
    yield share("hits", hits, trial.repeats)


def total(rows):
    hits = sum(row["value"] for row in rows)
    yield {"measure": "total", "value": hits, "error": 0.0, "repeats": 1}


TOY = Experiment(
    name="toy",
    title="Hits of a coin",
    source="nobody",
    varies={"chance": (0.1, 0.5, 0.9), "sides": (1, 2)},
    measure=measure,
    repeats=1000,
    least=20,
    printed=(
        Printed({"chance": 0.5, "sides": 1, "measure": "hits"}, 0.5, "Table 1"),
        Printed({"chance": 0.5, "sides": 2, "measure": "hits"}, 0.5, "Table 1", why="not halved"),
    ),
    derive=total,
)


def stops_after(cells):
    """Return the toy experiment, changed to measure some cells and then wait to be killed."""
    left = [cells]

    def waiting(trial, **cell):
        left[0] -= 1
        if left[0] < 0:
            time.sleep(3600)
        return TOY.measure(trial, **cell)

    return replace(TOY, measure=waiting)


def dies_once(trial, *, chance, sides):
    """Measure a cell, but kill the worker the first time that it measures the cell (0.5, 1)."""
    tombstone = trial.data / "died"
    if (chance, sides) == (0.5, 1) and not tombstone.exists():
        tombstone.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return list(TOY.measure(trial, chance=chance, sides=sides))
