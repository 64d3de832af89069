"""Which of two classifiers is cheaper, range by range of operating conditions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core.frames import data_frame
from stakes._core.text import html_table, number
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.curves._pieces import merged
from stakes.errors import InputError

Verdict = Callable[[Floats], NDArray[np.int64]]

SEARCHED = 401
"""At how many conditions significance is looked for, besides where thresholds change."""

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
    """Who is cheaper where, from PC(+) = 0 to PC(+) = 1.

    Made by ``cheaper_ranges`` of a curve and ``significant_ranges`` of a difference.

    Attributes
    ----------
    ranges : tuple of Range
        The ranges with `low`, `high` and `cheaper`, one after the other; `cheaper` is None where
        there is no verdict.
    names : pair of str
        The two classifiers.
    otherwise : str
        What there is where neither is cheaper: "undecided", or "equal".
    how_sure : str
        How sure the verdicts are, in words; empty where chance was not considered.

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
        """Return the ranges in which a classifier is the cheaper one.

        Parameters
        ----------
        name : str
            The classifier.

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
        """Say who is cheaper where, and how sure that is.

        Returns
        -------
        str
            A sentence.
        """
        words = self.in_words()
        return f"With {self.how_sure}, {words}" if self.how_sure else words

    def in_words(self) -> str:
        """Say who is cheaper where.

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
    """Write ranges of conditions as a person would: "PC(+) < 0.1, from 0.3 to 0.4 and > 0.7"."""
    if list(ranges) == [(0.0, 1.0)]:
        return "all PC(+)"
    *others, last = [_condition(low, high) for low, high in ranges]
    return "PC(+) " + " and ".join([*([", ".join(others)] if others else []), last])


def _condition(low: float, high: float) -> str:
    if low <= 0:
        return f"< {number(high)}"
    return f"> {number(low)}" if high >= 1 else f"from {number(low)} to {number(high)}"


def signs_of(verdict: Verdict, breaks: Floats) -> list[tuple[float, float, int]]:
    """Return the ranges of PC(+) with the same verdict, which may jump at breaks only."""
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
    """Return where the verdict changes within ranges at whose ends it differs, by halving."""
    result = end.copy()
    open_ = np.flatnonzero(first != last)
    low, high = begin[open_], end[open_]
    for _ in range(HALVINGS if len(open_) else 0):
        middle = (low + high) / 2
        same = verdict(middle) == first[open_]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    result[open_] = high
    return result
