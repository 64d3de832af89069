"""Results of methods on simulated test sets: `coverage`, `type_one_error` and `power_curve`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.optional import data_frame
from stakes._core.text import html_table
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.costs import CostMatrix
from stakes.counts import Confusion, PairedConfusion
from stakes.errors import DesignError, InputError, InputTypeError
from stakes.infer._outcomes import Stratum
from stakes.infer._probability.sampling import tilted
from stakes.infer.batch import batch_intervals, batch_outcomes, batch_p_values
from stakes.infer.methods import METHODS

# A table taken as the population, and test sets sampled from it.

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Extreme:
    """The cheapest or the costliest possible outcome, on which the quality of a method depends.

    Attributes
    ----------
    what : str
        The outcome in words.
    value : float
        The cost of the outcome, or its difference in cost.
    expected : float
        The expected count of the outcome in a test set, n·p.
    """

    what: str
    value: float
    expected: float


@dataclass(frozen=True, eq=False)
class Truth:
    """Probabilities of the cells.

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
        """The cost of each cell, or the difference in cost."""
        return self.atoms.costs[self.atoms.place].reshape(self.shares.shape)

    def draw(self, n: int, repeats: int, rng: np.random.Generator) -> Counts:
        """Draw test sets of n examples: how often each atom occurred, shape (repeats, atoms)."""
        probabilities = self.atoms.counts[0] / self.atoms.counts.sum()
        return rng.multinomial(n, probabilities, repeats)

    def tables(self, drawn: Counts) -> Counts:
        """Return tables of counts with these atoms; of cells with equal cost, one has them all."""
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
            what="the outcomes that were observed",
            remedy="Other outcomes become possible with smooth=, such as smooth=0.1.",
        )
        return Truth(shares, self.costs)

    def exchanged(self) -> Truth:
        """Return the probabilities if the classifiers are exchanged at random in each example.

        Both then cost the same, and their difference is symmetric.
        """
        return Truth((self.shares + self.shares.swapaxes(0, 1)) / 2, self.costs)


def truth_of(
    table: Any, costs: CostMatrix, smooth: float, *, name: str
) -> tuple[Truth, int | None]:
    """Return a table as the truth, and the number of examples it counts; None for shares.

    Parameters
    ----------
    table : Confusion, PairedConfusion or array_like
        Counts, or shares that sum to 1.
    costs : CostMatrix
        The costs.
    smooth : float
        A number to add to the count of each cell.
    name : {"confusion", "paired"}
        The name of the table in errors.
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
    if not 0 <= smoothing <= validate.MOST_ROWS:
        raise InputError(
            "smooth", f"expected a number from 0 to {validate.MOST_ROWS:.0e}, got {smooth!r}."
        )
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
    return validate.as_size(counted if n is None else n, "n", least=1, most=validate.MOST_ROWS)


AT_A_TIME = 1000
"""Number of tables treated at once: resampling keeps all their resampled costs."""

ROUNDING = 1e-9
"""A limit closer to the truth than this share of the largest cost counts as equal to it."""


@dataclass(frozen=True, eq=False)
class Measurements(Result):
    """Results of several methods on the same test sets.

    Attributes
    ----------
    results : tuple
        The result of each method, in the order given; ``measured["bcost"]`` is that of BCOST.

    Examples
    --------
    >>> from stakes import CostMatrix
    >>> from stakes.simulate import coverage
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=100)
    >>> measured = coverage(["bcost", "extremal"], [[950, 2], [38, 10]], costs, rng=0)
    >>> measured["extremal"].coverage > measured["bcost"].coverage
    True
    >>> len(measured.to_frame())
    2
    """

    results: tuple[Any, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(isinstance(each, Result) for each in self.results):
            raise InputTypeError("results", "expected what was measured of each method.")

    def __iter__(self) -> Iterator[Any]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    def __getitem__(self, method: str) -> Any:
        for result in self.results:
            if result.method == method:
                return result
        known = ", ".join(repr(result.method) for result in self.results)
        raise InputError("method", f"expected one of {known}; got {method!r}.")

    def summary(self) -> str:
        """Describe the result of each method, a line each.

        Returns
        -------
        str
        """
        return "\n".join(result.summary() for result in self.results)

    def to_dict(self) -> dict[str, Any]:
        """Return the results as plain values.

        Returns
        -------
        dict
        """
        return {"results": [result.to_dict() for result in self.results]}

    def to_frame(self) -> Any:
        """Return the numbers as a pandas data frame.

        Returns
        -------
        pandas.DataFrame
        """
        return data_frame([row for result in self.results for row in result._rows()])  # noqa: SLF001

    def _repr_html_(self) -> str:
        rows = [row for result in self.results for row in result._rows()]  # noqa: SLF001
        cells = [[_shown(value) for value in row.values()] for row in rows]
        return html_table(list(rows[0]), cells)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.4g}"


def for_each(method: Any, allowed: Sequence[str], measured: Callable[[str], Any]) -> Any:
    """Measure one method, or several, whose results are returned as `Measurements`."""
    if isinstance(method, str):
        return measured(validate.choice(method, "method", allowed))
    if not isinstance(method, Sequence) or not method:
        raise InputTypeError(
            "method", f"expected the name of a method or a list of some, got {method!r}."
        )
    names = [validate.choice(name, "method", allowed) for name in method]
    return Measurements(tuple(measured(name) for name in names))


def limits(
    truth: Truth,
    drawn: Counts,
    method: str,
    *,
    confidence: float,
    options: dict[str, Any],
    seed: int,
) -> tuple[Floats, Floats]:
    """Return the limits that a method gives for each test set."""
    _check_variance(drawn, method)
    random = "rng" in METHODS[method].options
    low, high = [], []
    parts, place = _parts(drawn, random=random)
    given = _seeded(options, seed) if random else options
    for part in parts:
        found = batch_intervals(
            truth.tables(part), truth.costs, confidence=confidence, method=method, **given
        )
        low.append(found[0])
        high.append(found[1])
    return np.concatenate(low)[place], np.concatenate(high)[place]


def rejections(
    truth: Truth,
    drawn: Counts,
    method: str,
    *,
    confidence: float,
    options: dict[str, Any],
    seed: int,
) -> NDArray[np.bool_]:
    """Tell for which test sets a test rejects that both classifiers cost the same."""
    _check_variance(drawn, method)
    random = "rng" in METHODS[method].test_options
    parts, place = _parts(drawn, random=random)
    given = _seeded(options, seed) if random else options
    found = [
        batch_p_values(
            batch_outcomes(truth.tables(part), truth.costs),
            method,
            confidence=confidence,
            **given,
        )
        for part in parts
    ]
    return np.asarray(np.concatenate(found) <= validate.alpha(confidence))[place]


def _check_variance(drawn: Counts, method: str) -> None:
    """Refuse test sets of one example for methods that need a variance."""
    if method in ("normal", "t") and drawn[0].sum() == 1:
        raise InputError(
            "n", f"test sets of at least two examples are needed for method={method!r}, got 1."
        )


def _seeded(options: dict[str, Any], seed: int) -> dict[str, Any]:
    return {"rng": np.random.default_rng(seed)} | options


def _parts(drawn: Counts, *, random: bool) -> tuple[list[Counts], NDArray[np.intp]]:
    """Return batches of test sets, and the position of each test set among all of these.

    Equal counts are treated once, unless the method itself is random.
    """
    if random:
        different, place = drawn, np.arange(len(drawn))
    else:
        different, place = np.unique(drawn, axis=0, return_inverse=True)
    starts = range(0, len(different), AT_A_TIME)
    return [different[start : start + AT_A_TIME] for start in starts], place.ravel()


def rate(hits: NDArray[np.bool_]) -> tuple[float, float]:
    """Return a share and its standard error."""
    found = int(hits.sum())
    return found / len(hits), share_error(found, len(hits))


def share_error(hits: float, of: int) -> float:
    """Return the standard error of a share, that of (hits + 2)/(of + 4): never 0 by chance."""
    nearer = (hits + 2) / (of + 4)
    return math.sqrt(nearer * (1 - nearer) / (of + 4))


def seeds(rng: np.random.Generator) -> Callable[[str], int]:
    """Return the seed of each method, which does not depend on the other methods."""
    start = int(rng.integers(2**32))
    return lambda method: start + crc32(method.encode())
