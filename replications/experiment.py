"""Experiments: what varies, what is measured, and the published numbers to compare with."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from stakes.errors import InputError
from stakes.simulate._measurements import share_error

Value = str | int | float
Row = dict[str, Value]
"""A measured number: the values that identify it, then `measure`, `value`, `error`, `repeats`."""

MEASURED = ("measure", "value", "error", "repeats")
HOLDS = "holds"
"""Measure of a statement: 1 if it holds, 0 if not."""


@dataclass(frozen=True)
class Trial:
    """Inputs for measuring a cell.

    Parameters
    ----------
    repeats : int
        The number of replicates to draw.
    rng : numpy.random.Generator
        The cell's own random generator: the same for the same seed, in any process and order.
    seed : int
        The seed for what all cells share, such as one classifier that all of them evaluate.
    data : Path or None
        The folder with data sets, for experiments that need one.

    Examples
    --------
    >>> from replications import all_experiments
    >>> laplace = all_experiments()[1]
    >>> cell = next(laplace.cells())
    >>> trial = laplace.trial(cell, scale=0.1, seed=7, data=None)
    >>> trial.repeats, trial.seed
    (100, 7)
    >>> again = laplace.trial(cell, scale=0.1, seed=7, data=None)
    >>> bool(trial.rng.random() == again.rng.random())
    True
    """

    repeats: int
    rng: np.random.Generator
    seed: int
    data: Path | None = None


@dataclass(frozen=True)
class Printed:
    """A number in a paper, and the measured row to compare it with.

    Parameters
    ----------
    where : mapping
        The values that identify the measured row, with its `measure`.
    value : float
        The printed number; NaN where the paper describes it only in words.
    source : str
        Where it is printed, such as "Table 5".
    within : float
        The largest difference that agrees. Up to three of our standard errors more are noise.
    why : str
        Why ours differs, where it does.
    name : str
        Its label in the table; by default, the values that vary there.
    shown : str
        Text to show in place of the number, such as "below 0.005".
    always : bool
        Whether the statement is about every test set, so that a difference is never noise.

    Examples
    --------
    >>> from replications import Printed
    >>> number = Printed({"model": "M1", "measure": "coverage"}, 0.9561, "Table 5")
    >>> number.in_words
    False
    >>> Printed({"measure": "holds"}, 1.0, "section 4").in_words
    True
    """

    where: Mapping[str, Value]
    value: float
    source: str
    within: float = 0.01
    why: str = ""
    name: str = ""
    shown: str = ""
    always: bool = False

    @property
    def in_words(self) -> bool:
        """Whether the paper says it in words, without a number."""
        return math.isnan(self.value) or self.where.get("measure") == HOLDS


@dataclass(frozen=True)
class Experiment:
    """An experiment, with the published numbers to compare with.

    Parameters
    ----------
    name : str
        Its name on the command line.
    title : str
        What it shows, in one line.
    source : str
        The paper, tables and figures that it repeats.
    varies : mapping of str to sequence
        The values of each factor that varies; a cell is one combination.
    measure : callable
        ``measure(trial, **cell)`` returns the rows of a cell; a function of a module, so that
        other processes and machines find it.
    repeats : int
        The number of replicates of a cell at full scale.
    least : int
        The fewest replicates at any scale.
    printed : sequence of Printed
        The published numbers.
    derive : callable, optional
        ``derive(rows)`` returns further rows, of all cells together.
    draw : callable, optional
        ``draw(results)`` returns the matplotlib figures in the papers' layout, by name.
    skip : callable, optional
        ``skip(**cell)`` tells which combinations to leave out.
    stand_ins : sequence of str
        Descriptions of what replaces something that is not available.
    needs_data : bool
        Whether it requires a folder with data sets.
    uses_data : bool
        Whether it reads data sets if a folder is given, and runs without them otherwise.

    Examples
    --------
    The cost of a threshold where a miss costs as much as ten false alarms:

    >>> from replications import Experiment, run
    >>> def measure(trial, *, threshold):
    ...     misses = (trial.rng.normal(1, 1, trial.repeats) < threshold).sum()
    ...     alarms = (trial.rng.normal(-1, 1, trial.repeats) >= threshold).sum()
    ...     cost = float(10 * misses + alarms) / (2 * trial.repeats)
    ...     yield {"measure": "cost", "value": cost, "error": 0.0, "repeats": trial.repeats}
    >>> mine = Experiment(
    ...     name="mine", title="Thresholds", source="", varies={"threshold": (-1, 0)},
    ...     measure=measure, repeats=1000)
    >>> list(mine.cells())
    [{'threshold': -1}, {'threshold': 0}]
    >>> [round(row["value"], 2) for row in run(mine).rows]
    [0.33, 0.95]
    """

    name: str
    title: str
    source: str
    varies: Mapping[str, Sequence[Value]]
    measure: Callable[..., Iterable[Row]]
    repeats: int
    least: int = 1
    printed: Sequence[Printed] = ()
    derive: Callable[[Sequence[Row]], Iterable[Row]] | None = None
    draw: Callable[[Any], Mapping[str, Any]] | None = None
    skip: Callable[..., bool] | None = None
    stand_ins: Sequence[str] = ()
    needs_data: bool = False
    uses_data: bool = False

    @property
    def reads_data(self) -> bool:
        """Whether its numbers depend on a folder with data sets."""
        return self.needs_data or self.uses_data

    def cells(self) -> Iterator[dict[str, Value]]:
        """Return every combination of the factors that vary.

        Returns
        -------
        iterator of dict
            The cells, without those that `skip` leaves out.
        """
        for values in product(*self.varies.values()):
            cell = dict(zip(self.varies, values, strict=True))
            if self.skip is None or not self.skip(**cell):
                yield cell

    def trial(self, cell: Mapping[str, Value], scale: float, seed: int, data: Path | None) -> Trial:
        """Return the inputs for measuring a cell.

        Parameters
        ----------
        cell : mapping
            One of `cells`.
        scale, seed, data
            As in `run`.

        Returns
        -------
        Trial
        """
        if not 0 < scale <= 1:
            raise InputError("scale", f"expected a share above 0 and up to 1, got {scale!r}.")
        repeats = max(math.ceil(self.repeats * scale), min(self.least, self.repeats))
        key = (crc32(self.name.encode()), crc32(json.dumps(cell).encode()))
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
        return Trial(repeats, rng, seed, data)


@dataclass(frozen=True)
class Results:
    """The numbers that a run measured.

    Parameters
    ----------
    experiment : str
        The name of the experiment.
    rows : sequence of dict
        The measured numbers; each has its cell, its `measure`, `value`, standard `error` and
        `repeats`.
    scale : float
        The share of the replicates that was drawn.
    seed : int
        The seed.
    seconds : float
        The processor time that all cells took together.

    Examples
    --------
    >>> from replications import Results
    >>> row = {"measure": "coverage", "error": 0.01, "repeats": 500}
    >>> results = Results("mine", [
    ...     {"method": "bcost", **row, "value": 0.87},
    ...     {"method": "extremal", **row, "value": 0.95}], scale=1.0, seed=0)
    >>> results.value(method="extremal")
    0.95
    >>> [row["method"] for row in results.select(measure="coverage")]
    ['bcost', 'extremal']
    """

    experiment: str
    rows: Sequence[Row]
    scale: float
    seed: int
    seconds: float = field(default=0.0, compare=False)

    def select(self, **where: Value) -> list[Row]:
        """Return the rows with these values.

        Parameters
        ----------
        **where
            The values, by the names in the rows.

        Returns
        -------
        list of dict
        """
        return [row for row in self.rows if all(row.get(k) == v for k, v in where.items())]

    def only(self, **where: Value) -> Row:
        """Return the one row with these values.

        Parameters
        ----------
        **where
            The values, by the names in the rows.

        Returns
        -------
        dict
        """
        found = self.select(**where)
        if len(found) != 1:
            raise InputError(self.experiment, f"{len(found)} results are called {where!r}.")
        return found[0]

    def value(self, **where: Value) -> float:
        """Return the number of the one row with these values.

        Parameters
        ----------
        **where
            The values, by the names in the rows.

        Returns
        -------
        float
        """
        return float(self.only(**where)["value"])

    def to_frame(self) -> Any:
        """Return the rows as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
        """
        from stakes._core.optional import data_frame

        return data_frame(list(self.rows))


def average(measure: str, values: Any, **keys: Value) -> Row:
    """Return the row of a mean over independent replicates, with its standard error."""
    sample = np.asarray(values, dtype=float)
    error = sample.std(ddof=1) / math.sqrt(len(sample)) if len(sample) > 1 else math.nan
    return {
        **keys, "measure": measure, "value": float(sample.mean()), "error": float(error),
        "repeats": len(sample),
    }  # fmt: skip


def share(measure: str, hits: float, of: int, **keys: Value) -> Row:
    """Return the row of a share of independent replicates, with its standard error.

    The error is that of (hits + 2) / (of + 4), so that it is not 0 for a share of 0 or 1.
    """
    error = share_error(hits, of)
    return {**keys, "measure": measure, "value": hits / of, "error": error, "repeats": of}
