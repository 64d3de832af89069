"""Bands around curves, and the ranges in which one of two classifiers is cheaper.

A band has limits at each operating condition, or at all at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from stakes._core import validate
from stakes._core.optional import data_frame
from stakes._core.text import html_table, number, percent
from stakes._core.typing import Floats
from stakes._core.values import Result, readonly_copy
from stakes.curves._sampling import Sample, SampleAt, mean, variance
from stakes.curves.bands import METHODS
from stakes.curves.condition import Pieces, conditions, merged
from stakes.errors import InputError

CURVE_POINTS = 201
"""Number of operating conditions at which a curve is shown."""

WIDEST = 38.0
"""Quantile at which the tail of the normal distribution underflows in double precision."""

SAMPLINGS = ("stratified", "full")
SIMULTANEOUS = ("mover",)
"""Methods whose limits are valid far out in the tails, which simultaneous bands need.

With Wilson's limits, simultaneous 90% bands covered only 86% in simulations.
"""


@dataclass(frozen=True, eq=False, repr=False)
class Band(Result):
    """A cost curve, or the difference of two, between limits.

    Made by the ``band`` methods of curves.

    Attributes
    ----------
    pc : ndarray
        The operating conditions PC(+).
    cost, low, high : ndarray
        The normalised expected cost, or the difference of two, and its limits at each condition.
    confidence : float
        The confidence level of the limits: at each condition or, if `simultaneous`, at all of them
        at once.
    method, sampling : str
        The method and the model of sampling.
    simultaneous : bool
        Whether the confidence level is that of the whole curve.
    chosen_on : str
        Where the thresholds come from: "the same examples", which flatters the curve, "validation
        examples", or "" if there is nothing to choose.

    Examples
    --------
    >>> from stakes import CostLine
    >>> line = CostLine(fpr=0.1, tpr=0.8, positives=200, negatives=800, name="model")
    >>> band = line.band(pc=[0.2, 0.8])
    >>> band.cost.round(3).tolist()
    [0.12, 0.18]
    >>> band.low.round(3).tolist(), band.high.round(3).tolist()
    ([0.101, 0.138], [0.142, 0.229])
    """

    pc: Floats
    cost: Floats
    low: Floats
    high: Floats
    confidence: float
    method: str
    sampling: str
    simultaneous: bool
    chosen_on: str = ""

    def times(self, scale: Any) -> Band:
        """Return the band in other units: `scale` is the cost of always being wrong, at each pc.

        Parameters
        ----------
        scale : float or array_like
            The cost of always being wrong, one for each condition or one for all.

        Returns
        -------
        Band
            The band in these units.

        Examples
        --------
        >>> from stakes import CostLine
        >>> line = CostLine(fpr=0.1, tpr=0.8, positives=200, negatives=800, name="model")
        >>> line.band(pc=[0.2, 0.8]).times(50).cost.round(2).tolist()
        [6.0, 9.0]
        """
        factor = validate.numeric(scale, "scale", ndim=None)
        validate.finite(factor, "scale", "Give what being always wrong would cost.")
        if factor.shape not in ((), self.pc.shape):
            raise InputError(
                "scale",
                f"expected one number, or one for each of the {len(self.pc)} conditions; got an "
                f"array of shape {factor.shape}.",
            )
        if (factor < 0).any():
            raise InputError("scale", f"expected what being always wrong costs, got {scale!r}.")
        scaled: dict[str, Any] = {
            name: readonly_copy(getattr(self, name) * factor) for name in ("cost", "low", "high")
        }
        return replace(self, **scaled)

    def to_frame(self) -> Any:
        """Return the band as a pandas data frame with a row for each condition.

        Returns
        -------
        DataFrame
            With the columns pc, cost, low and high.
        """
        return data_frame({name: getattr(self, name) for name in ("pc", "cost", "low", "high")})

    def to_dict(self) -> dict[str, Any]:
        """Return the band as plain values and lists.

        Returns
        -------
        dict
            The attributes by name.
        """
        return {
            name: value.tolist() if isinstance(value, np.ndarray) else value
            for name, value in self._values().items()
        }

    def summary(self) -> str:
        """Summarise the band and its largest width.

        Returns
        -------
        str
            A sentence.
        """
        width = self.high - self.low
        widest = int(width.argmax())
        return (
            f"A {percent(self.confidence)} band ({self.kind()}) at "
            f"{len(self.pc)} operating conditions; at its widest, at PC(+) = "
            f"{number(self.pc[widest])}, from {number(self.low[widest])} to "
            f"{number(self.high[widest])}"
            + (f"; thresholds chosen on {self.chosen_on}." if self.chosen_on else ".")
        )

    def kind(self) -> str:
        """Describe how the band was computed.

        Returns
        -------
        str
            A short phrase.
        """
        reach = "simultaneous" if self.simultaneous else "pointwise"
        full = ", full sampling" if self.sampling == "full" else ""
        return f"{reach}, {self.method}{full}"

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        shown = np.linspace(0, len(self.pc) - 1, min(len(self.pc), 11)).round().astype(int)
        rows = [
            [number(getattr(self, name)[i]) for name in ("pc", "cost", "low", "high")]
            for i in shown
        ]
        return html_table(["PC(+)", "cost", "low", "high"], rows, caption=self.summary())


def make_band(
    sample_at: SampleAt,
    pieces: Pieces,
    *,
    within: tuple[float, float],
    confidence: float,
    method: str,
    sampling: str,
    simultaneous: bool,
    pc: Any,
    options: dict[str, Any],
    chosen_on: str,
) -> Band:
    """Return the limits of a curve's height at each condition, cut off at its possible range."""
    where = condition_list(pc)
    sample = sample_at(where, is_full(sampling))
    low, high = band_limits(
        sample,
        lines=pieces.count(),
        confidence=confidence,
        method=method,
        simultaneous=simultaneous,
        options=options,
    )
    arrays = {
        "pc": where,
        "cost": mean(sample),
        "low": np.maximum(low, within[0]),
        "high": np.minimum(high, within[1]),
    }
    return Band(
        **{name: readonly_copy(values) for name, values in arrays.items()},
        confidence=float(confidence),
        method=method,
        sampling=sampling,
        simultaneous=bool(simultaneous),
        chosen_on=chosen_on,
    )


def bootstrap_moments(sample_at: SampleAt, pc: Any, sampling: str) -> tuple[Floats, Floats]:
    """Return the mean and the variance of the bootstrap distribution at each condition."""
    sample = sample_at(condition_list(pc), is_full(sampling))
    return mean(sample), variance(sample)


def condition_list(pc: Any) -> Floats:
    """Check the operating conditions of a band; by default there are 201 of them."""
    if pc is None:
        return np.linspace(0.0, 1.0, CURVE_POINTS)
    array = np.atleast_1d(conditions(pc))
    if array.ndim != 1 or not len(array):
        raise InputError(
            "pc", f"expected a list of conditions, got an array of shape {array.shape}."
        )
    return array


def band_limits(
    sample: Sample,
    *,
    lines: int,
    confidence: float,
    method: str,
    simultaneous: bool,
    options: dict[str, Any],
) -> tuple[Floats, Floats]:
    """Check the options of a band, and compute its limits by the method."""
    alpha = validate.alpha(confidence)
    module = METHODS[validate.choice(method, "method", tuple(METHODS))]
    validate.options(options, f"the method {method!r}", validate.keywords(module.limits))
    if simultaneous:
        if method not in SIMULTANEOUS:
            raise InputError(
                "simultaneous",
                f"bands by {method!r} are for one operating condition at a time.",
                f"For all at once use {' or '.join(map(repr, SIMULTANEOUS))}, or say "
                "simultaneous=False.",
            )
        alpha = pointwise_alpha(alpha, lines)
    low, high = module.limits(sample, alpha, **options)
    return low, high


def is_full(sampling: Any) -> bool:
    """Check the kind of sampling, and return whether it is full."""
    return validate.choice(sampling, "sampling", SAMPLINGS) == "full"


def pointwise_alpha(alpha: float, lines: int) -> float:
    """Return the pointwise α at which all points of `lines` lines together have level `alpha`."""
    from scipy.optimize import brentq

    each = -np.expm1(np.log1p(-alpha) / lines)

    def excess(c: float) -> float:
        outside = 2 * ndtr(-c)
        return float(0.5 * np.exp(-c * c / 2) + 0.5 * outside * (2 - outside) - each)

    return float(2 * ndtr(-brentq(excess, 0.0, WIDEST)))


Verdict = Callable[[Floats], NDArray[np.int64]]

SEARCHED = 401
"""Number of conditions at which significance is computed, in addition to all breaks."""

HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Range(Result):
    """A range of operating conditions, and the classifier that is cheaper in it, if any.

    Examples
    --------
    >>> from stakes import CostLine
    >>> shy, eager = CostLine(0.04, 0.4, name="shy"), CostLine(0.3, 0.8, name="eager")
    >>> found = shy.cheaper_ranges(eager)
    >>> first = found.ranges[0]
    >>> first.low, round(first.high, 4), first.cheaper
    (0.0, 0.3939, 'shy')
    """

    low: float
    high: float
    cheaper: str | None

    def __iter__(self) -> Iterator[Any]:
        return iter((self.low, self.high, self.cheaper))


@dataclass(frozen=True, eq=False, repr=False)
class Verdicts(Result):
    """Ranges of PC(+) from 0 to 1, with the classifier that is cheaper in each.

    Made by ``cheaper_ranges`` of a curve and ``significant_ranges`` of a difference.

    Attributes
    ----------
    ranges : tuple of Range
        The ranges with `low`, `high` and `cheaper`, in order; `cheaper` is None where there is no
        verdict.
    names : pair of str
        The names of the two classifiers.
    otherwise : str
        The verdict where neither is cheaper: "undecided", or "equal".
    how_sure : str
        The confidence of the verdicts, in words; empty if the difference was not tested.

    Examples
    --------
    >>> from stakes import CostLine
    >>> shy, eager = CostLine(0.04, 0.4, name="shy"), CostLine(0.3, 0.8, name="eager")
    >>> print(shy.cheaper_ranges(eager).summary())
    shy is cheaper for PC(+) < 0.3939, eager for PC(+) > 0.3939.
    """

    ranges: tuple[Range, ...]
    names: tuple[str, str]
    otherwise: str
    how_sure: str = ""

    def where(self, name: str) -> tuple[tuple[float, float], ...]:
        """Return the ranges in which a classifier is cheaper.

        Parameters
        ----------
        name : str
            The classifier's name.

        Returns
        -------
        tuple of (low, high)
            The ranges.

        Examples
        --------
        >>> from stakes import CostLine
        >>> shy, eager = CostLine(0.04, 0.4, name="shy"), CostLine(0.3, 0.8, name="eager")
        >>> found = shy.cheaper_ranges(eager)
        >>> [(round(low, 3), round(high, 3)) for low, high in found.where("eager")]
        [(0.394, 1.0)]
        """
        if name not in self.names:
            raise InputError(
                "name", f"expected {self.names[0]!r} or {self.names[1]!r}, got {name!r}."
            )
        return tuple((low, high) for low, high, cheaper in self.ranges if cheaper == name)

    def summary(self) -> str:
        """Summarise which classifier is cheaper in which ranges, and how sure that is.

        Returns
        -------
        str
            A sentence.
        """
        words = self.in_words()
        return f"With {self.how_sure}, {words}" if self.how_sure else words

    def in_words(self) -> str:
        """Summarise which classifier is cheaper in which ranges.

        Returns
        -------
        str
            A sentence.
        """
        found = [(name, self.where(name)) for name in self.names]
        cheaper = [(name, _conditions(ranges)) for name, ranges in found if ranges]
        if not cheaper:
            return f"{self.names[0]} and {self.names[1]} are {self.otherwise} everywhere."
        text = [f"{name} for {where}" for name, where in cheaper]
        text[0] = f"{cheaper[0][0]} is cheaper for {cheaper[0][1]}"
        if any(each.cheaper is None for each in self.ranges):
            text.append(f"{self.otherwise} elsewhere")
        return f"{', '.join(text)}."

    def to_frame(self) -> Any:
        """Return the ranges as a pandas data frame.

        Returns
        -------
        DataFrame
            With the columns low, high and cheaper.
        """
        return data_frame([asdict(each) for each in self.ranges])

    def to_dict(self) -> dict[str, Any]:
        """Return the ranges as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return {
            "names": list(self.names),
            "ranges": [asdict(each) for each in self.ranges],
            "otherwise": self.otherwise,
            "how_sure": self.how_sure,
        }

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        rows = [
            [f"{number(low)} to {number(high)}", cheaper or self.otherwise]
            for low, high, cheaper in self.ranges
        ]
        return html_table(["PC(+)", "cheaper"], rows, caption=self.summary())


def verdicts(
    signs: Sequence[tuple[float, float, int]],
    names: tuple[str, str],
    otherwise: str,
    how_sure: str = "",
) -> Verdicts:
    """Turn the signs of a difference into verdicts: below zero, the first is cheaper."""
    who = {-1: names[0], 1: names[1], 0: None}
    return Verdicts(
        tuple(Range(low, high, who[sign]) for low, high, sign in signs),
        names,
        otherwise,
        how_sure,
    )


def _conditions(ranges: Sequence[tuple[float, float]]) -> str:
    """Return ranges of conditions as text: "PC(+) < 0.1, from 0.3 to 0.4 and > 0.7"."""
    if list(ranges) == [(0.0, 1.0)]:
        return "all PC(+)"
    *others, last = [_condition(low, high) for low, high in ranges]
    return "PC(+) " + " and ".join([*([", ".join(others)] if others else []), last])


def _condition(low: float, high: float) -> str:
    if low <= 0:
        return f"< {number(high)}"
    return f"> {number(low)}" if high >= 1 else f"from {number(low)} to {number(high)}"


def signs_of(verdict: Verdict, breaks: Floats) -> list[tuple[float, float, int]]:
    """Return the ranges of PC(+) with the same verdict; limits may jump only at breaks."""
    edges = np.unique(np.concatenate([np.linspace(0, 1, SEARCHED), breaks]))
    begin, end = edges[:-1], edges[1:]
    tiny = np.minimum(1e-9, (end - begin) / 4)
    first, last = verdict(begin + tiny), verdict(end - tiny)
    change = _changes(verdict, begin + tiny, end - tiny, first, last)
    lows = np.column_stack([begin, change]).ravel()
    highs = np.column_stack([change, end]).ravel()
    return merged(lows, highs, np.column_stack([first, last]).ravel())


def _changes(
    verdict: Verdict,
    begin: Floats,
    end: Floats,
    first: NDArray[np.int64],
    last: NDArray[np.int64],
) -> Floats:
    """Find by bisection where the verdict changes, in ranges whose two ends differ in it."""
    result = end.copy()
    open_ = np.flatnonzero(first != last)
    low, high = begin[open_], end[open_]
    for _ in range(HALVINGS if len(open_) else 0):
        middle = (low + high) / 2
        same = verdict(middle) == first[open_]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    result[open_] = high
    return result
