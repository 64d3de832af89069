"""A table that is taken as the truth, and test sets drawn from it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.typing import Floats
from stakes.costs import CostMatrix
from stakes.counts import Confusion, PairedConfusion
from stakes.errors import DesignError, InputError, InputTypeError
from stakes.infer._outcomes import Stratum
from stakes.infer._probability.sampling import tilted
from stakes.infer.batch import batch_outcomes

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Extreme:
    """An outcome at an end of the possible ones, which decides how well a method does.

    Attributes
    ----------
    what : str
        The outcome in words.
    value : float
        What it costs, or by how much it changes a difference.
    expected : float
        How often a test set has it on average, n·p.
    """

    what: str
    value: float
    expected: float


@dataclass(frozen=True, eq=False)
class Truth:
    """How likely each cell is.

    Attributes
    ----------
    shares : ndarray, shape (decisions, classes) or (decisions, decisions, classes)
        The probability of each cell, of one classifier or of two.
    costs : CostMatrix
        The costs in the order of the cells.
    """

    shares: Floats
    costs: CostMatrix

    @cached_property
    def atoms(self) -> Stratum:
        """The distinct costs, or differences, with their probabilities as counts."""
        return batch_outcomes(self.shares[np.newaxis], self.costs).only

    @property
    def mean(self) -> float:
        """The true cost per decision, or the true difference."""
        return float(self.atoms.mean[0])

    @property
    def values(self) -> Floats:
        """What each cell costs, or by how much it changes the difference."""
        return self.atoms.costs[self.atoms.place].reshape(self.shares.shape)

    def draw(self, n: int, repeats: int, rng: np.random.Generator) -> Counts:
        """Draw test sets of n examples: how often each atom came, shape (repeats, atoms)."""
        probabilities = self.atoms.counts[0] / self.atoms.counts.sum()
        return rng.multinomial(n, probabilities, repeats)

    def tables(self, drawn: Counts) -> Counts:
        """Return tables of counts with these atoms; cells of equal cost are as good as one."""
        first = np.unique(self.atoms.place, return_index=True)[1]
        tables = np.zeros((len(drawn), self.shares.size), dtype=np.int64)
        tables[:, first] = drawn
        return tables.reshape(-1, *self.shares.shape)

    def extreme(self, end: int, n: int) -> Extreme:
        """Return the outcome at an end: -1 for the costliest, 0 for the cheapest."""
        cells = np.flatnonzero(self.atoms.place == (end % len(self.atoms.costs)))
        likeliest = int(cells[self.shares.ravel()[cells].argmax()])
        *decided, actual = np.unravel_index(likeliest, self.shares.shape)
        names = [repr(self.costs.decisions[i]) for i in decided]
        what = f"{' and '.join(names)} when it was {self.costs.labels[actual]!r}"
        expected = n * float(self.atoms.counts[0, end])
        return Extreme(f"predicting {what}", float(self.atoms.costs[end]), expected)

    def tilted(self, mean: float) -> Truth:
        """Return the nearest probabilities of the same outcomes that have another mean."""
        shares = tilted(
            self.shares,
            self.values,
            mean,
            argument="paired",
            what="the outcomes that were seen",
            remedy="Outcomes that were not seen are made possible with smooth=, as smooth=0.1.",
        )
        return Truth(shares, self.costs)

    def exchanged(self) -> Truth:
        """Return the probabilities when a coin tells, for each example, which classifier is which.

        Both then cost the same, and their difference is symmetric.
        """
        return Truth((self.shares + self.shares.swapaxes(0, 1)) / 2, self.costs)


def truth_of(
    table: Any, costs: CostMatrix, smooth: float, *, name: str
) -> tuple[Truth, int | None]:
    """Take a table as the truth, and return how many examples it counts; None for shares.

    Parameters
    ----------
    table : Confusion, PairedConfusion or array_like
        Counts, or shares that sum to 1.
    costs : CostMatrix
        The costs.
    smooth : float
        What is added to the count of each cell.
    name : {"confusion", "paired"}
        What the table is called.
    """
    if not isinstance(costs, CostMatrix):
        raise InputTypeError("costs", f"expected a CostMatrix, got {type(costs).__name__}.")
    kind = Confusion if name == "confusion" else PairedConfusion
    if isinstance(table, kind):
        if table.weighted:
            raise DesignError(
                name,
                "expected counts of examples, got sums of weights.",
                "Pass the shares that they stand for, as an array, and n=.",
            )
        values = costs.values_for(table.labels, table.decisions)
        costs = CostMatrix(values, rows="predicted", labels=table.labels, decisions=table.decisions)
        counts = np.asarray(table.counts, dtype=np.float64)
    else:
        counts = _array(table, costs, name, kind.__name__)
    total = float(counts.sum())
    shares = abs(total - 1) < 1e-6  # noqa: PLR2004 - room for rounded shares
    smoothing = float(validate.numeric(smooth, "smooth", ndim=0))
    if not 0 <= smoothing < np.inf:
        raise InputError("smooth", f"expected a number that is not negative, got {smooth!r}.")
    if smoothing and shares:
        raise InputError("smooth", f"it is added to counts, and {name} has shares.", "Pass counts.")
    counts = counts + smoothing
    return Truth(counts / counts.sum(), costs), None if shares else round(total)


def _array(table: Any, costs: CostMatrix, name: str, kind: str) -> Floats:
    """Check an array of counts or shares in the order of the costs."""
    one = costs.values.shape
    shape = one if name == "confusion" else (one[0], *one)
    if isinstance(table, Confusion | PairedConfusion):
        raise InputTypeError(name, f"expected a {kind}, got a {type(table).__name__}.")
    counts = validate.amounts(table, name, ndim=len(shape))
    if counts.shape != shape:
        raise InputError(
            name,
            f"expected a {kind}, or counts or shares of the shape {shape} in the order of the "
            f"costs' labels; got an array of shape {counts.shape}.",
        )
    if not counts.any():
        raise InputError(name, "all counts are zero; at least one example is needed.")
    return counts.astype(np.float64)


def checked_size(n: Any, counted: int | None, name: str) -> int:
    """Return the size of the test sets: the one asked for, or that of the table."""
    if n is None and counted is None:
        raise InputError("n", f"{name} has shares, so say how many examples a test set has.")
    return validate.as_size(counted if n is None else n, "n", least=1)
