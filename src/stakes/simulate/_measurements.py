"""How methods do on many drawn test sets, for `coverage`, `type_one_error` and `power_curve`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.frames import data_frame
from stakes._core.text import html_table
from stakes._core.typing import Floats
from stakes.counts import PairedConfusion
from stakes.errors import InputError, InputTypeError
from stakes.infer._inference import takes
from stakes.infer.batch import batch_intervals
from stakes.infer.difference import CostDifference
from stakes.infer.methods import names_of_intervals
from stakes.simulate._truth import Counts, Truth

INTERVALS = ("auto", *names_of_intervals())
ONE_BY_ONE = ("mcnemar", "signflip")
"""Tests that are no inverted interval, and are asked table by table."""

TESTS = ("auto", "bdeltacost", *ONE_BY_ONE, *names_of_intervals())
AT_A_TIME = 1000
"""Tables treated at once: resampling keeps all resampled costs of these."""

ROUNDING = 1e-9
"""A limit that is so near to the truth, as a share of the largest cost, is at it."""


@dataclass(frozen=True)
class Measurements:
    """What was measured of several methods, on the same test sets.

    Attributes
    ----------
    results : tuple
        A result of each method, in the order asked for; ``measured["bcost"]`` is that of BCOST.

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
        """Say what was found of each method, a line each.

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
    """Measure one method, or several: then the results are one `Measurements`."""
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
    name = "bcost" if method == "bdeltacost" else method
    if takes(name, "rng"):
        options = {"rng": np.random.default_rng(seed)} | options
        different, place = drawn, np.arange(len(drawn))
    else:  # the same counts have the same limits
        different, place = np.unique(drawn, axis=0, return_inverse=True)
    low, high = np.empty(len(different)), np.empty(len(different))
    for start in range(0, len(different), AT_A_TIME):
        part = slice(start, start + AT_A_TIME)
        low[part], high[part] = batch_intervals(
            truth.tables(different[part]),
            truth.costs,
            confidence=confidence,
            method=name,
            **options,
        )
    return low[place.ravel()], high[place.ravel()]


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
    settings: dict[str, Any] = {"confidence": confidence, "options": options, "seed": seed}
    if method in ONE_BY_ONE:
        return _one_by_one(truth, drawn, method, **settings)
    low, high = limits(truth, drawn, method, **settings)
    slack = ROUNDING * float(np.abs(truth.atoms.costs).max())
    return np.asarray((low > slack) | (high < -slack))


def _one_by_one(
    truth: Truth,
    drawn: Counts,
    method: str,
    *,
    confidence: float,
    options: dict[str, Any],
    seed: int,
) -> NDArray[np.bool_]:
    if method == "signflip":
        options = {"rng": np.random.default_rng(seed)} | options
    different, place = np.unique(drawn, axis=0, return_inverse=True)
    names = truth.costs.labels, truth.costs.decisions
    results = [
        CostDifference(PairedConfusion(table, *names), truth.costs).test(
            method, confidence=confidence, **options
        )
        for table in truth.tables(different)
    ]
    return np.array([result.rejected for result in results])[place.ravel()]


def rate(hits: NDArray[np.bool_]) -> tuple[float, float]:
    """Return a share and its standard error."""
    found = int(hits.sum())
    return found / len(hits), share_error(found, len(hits))


def share_error(hits: float, of: int) -> float:
    """Return the standard error of a share, that of (hits + 2)/(of + 4): never 0 by chance."""
    nearer = (hits + 2) / (of + 4)
    return math.sqrt(nearer * (1 - nearer) / (of + 4))


def seeds(rng: np.random.Generator) -> Callable[[str], int]:
    """Return the seed of each method, the same whichever other methods are asked."""
    start = int(rng.integers(2**32))
    return lambda method: start + INTERVALS.index("bcost" if method not in INTERVALS else method)
