"""Search for the most expensive slices on one half of the rows, and judge them on the other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import is_missing
from stakes._core.optional import data_frame
from stakes._core.text import html_table, number, percent, text_table
from stakes._core.typing import Floats
from stakes._core.values import Result
from stakes.costs import CostMatrix, ExampleCosts
from stakes.counts import CostSample
from stakes.errors import InputError
from stakes.infer._sliced import MISSING, named_columns, rows_in_order, slice_codes
from stakes.infer.estimate import CostEstimate
from stakes.infer.evaluation import check_costs
from stakes.infer.slices import apart

Rows = NDArray[np.bool_]

BEAM = 20
"""The number of best slices that are divided further."""

LEVELS = 12
"""The number of a column's most frequent values that become conditions."""

QUARTERS = (0.25, 0.5, 0.75)
FEW_VALUES = 10
"""The largest number of distinct values for which a numeric column is not cut into quarters."""

ALIKE = 0.8
"""The share of common rows (Jaccard index) from which on only the better of two slices is kept."""


@dataclass(frozen=True, eq=False)
class FoundSlice(Result):
    """A slice that the search proposed, judged on rows that it was not searched on.

    Attributes
    ----------
    conditions : tuple of str
        The conditions that its rows meet.
    n : int
        The number of its rows in the judging half.
    cost, rest : float
        The cost per decision in the slice, and on all other rows, in the judging half.
    difference, low, high : float
        The cost of the slice minus that of all other rows, with limits that hold for all proposed
        slices at once.
    shown : bool
        Whether it is shown to cost more than the rest.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes import CostMatrix, find_slices
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true, site = np.tile([0, 1], 200), np.repeat(["a", "b"], 200)
    >>> found = find_slices({"site": site}, y_true, np.where(site == "b", 0, y_true), costs)
    >>> found.slices[0].conditions, found.slices[0].cost > 4, found.slices[0].shown
    (('site = b',), True, True)
    """

    conditions: tuple[str, ...]
    n: int
    cost: float
    rest: float
    difference: float
    low: float
    high: float
    shown: bool


@dataclass(frozen=True, eq=False, repr=False)
class FoundSlices(Result):
    """The slices that a search proposed, judged on the other half of the rows.

    Made by `find_slices`.

    Attributes
    ----------
    slices : tuple of FoundSlice
        The proposed slices, the largest difference first.
    searched : int
        The number of slices that were searched.
    n_search, n_judge : int
        The numbers of rows in the searched and in the judging half.
    confidence : float
        The confidence that all limits hold at once.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes import CostMatrix, find_slices
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true, site = np.tile([0, 1], 200), np.repeat(["a", "b"], 200)
    >>> found = find_slices({"site": site}, y_true, np.where(site == "b", 0, y_true), costs)
    >>> found.searched, found.n_search, found.n_judge, len(found.shown)
    (2, 200, 200, 1)
    """

    slices: tuple[FoundSlice, ...]
    searched: int
    n_search: int
    n_judge: int
    confidence: float

    @property
    def shown(self) -> list[FoundSlice]:
        """The slices that are shown to cost more than the rest."""
        return [each for each in self.slices if each.shown]

    def to_frame(self) -> Any:
        """Return the slices as a pandas data frame.

        Returns
        -------
        DataFrame
            With the columns slice, n, cost, rest, difference, low, high and shown.
        """
        return data_frame(
            [
                {"slice": " and ".join(each.conditions), **_numbers(each), "shown": each.shown}
                for each in self.slices
            ]
        )

    def summary(self) -> str:
        """Summarise what was searched and what is shown.

        Returns
        -------
        str
            A table and a sentence.
        """
        searched = f"{self.searched:,} slices were searched on {self.n_search:,} rows"
        if not self.slices:
            return f"{searched}; none stands out enough to be judged on the others."
        note = (
            f"{searched}; the {len(self.slices)} proposed are judged on {self.n_judge:,} others. "
            f"{len(self.shown) or 'None'} of them {'are' if len(self.shown) > 1 else 'is'} shown "
            f"to cost more than the rest ({percent(self.confidence)} confidence for all at once)."
        )
        return f"{text_table(*self._lines())}\n{note}"

    def _lines(self) -> tuple[list[str], list[list[str]]]:
        header = ["slice", "rows", "cost", "rest", "difference", "CI from", "to", "shown"]
        rows = [
            [
                " and ".join(each.conditions),
                *map(number, _numbers(each).values()),
                "yes" if each.shown else "no",
            ]
            for each in self.slices
        ]
        return header, rows

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return html_table(*self._lines(), caption=self.summary().rsplit("\n", 1)[-1])


def _numbers(each: FoundSlice) -> dict[str, float]:
    names = ("n", "cost", "rest", "difference", "low", "high")
    return {name: getattr(each, name) for name in names}


def find_slices(
    frame: Any,
    y_true: Any,
    y_pred: Any,
    costs: CostMatrix | ExampleCosts,
    *,
    conditions: int = 3,
    top: int = 5,
    least: int = 50,
    groups: Any = None,
    confidence: float = 0.95,
    rng: Any = 0,
) -> FoundSlices:
    """Search for the slices in which decisions cost most, and judge them on other rows.

    Parameters
    ----------
    frame : data frame or mapping
        The columns that define slices: text and few distinct numbers by their values, other numbers
        by quarters. Rows without a value are a slice of their own.
    y_true, y_pred : array_like, shape (n,)
        The actual class of each example, and the decision.
    costs : CostMatrix or ExampleCosts
        The cost of each decision for each class, or for each example.
    conditions : {1, 2, 3}, default 3
        The largest number of conditions of a slice.
    top : int, default 5
        The number of slices that are proposed and judged.
    least : int, default 50
        The smallest number of rows that a slice must have in the searched half.
    groups : array_like, shape (n,), optional
        The group of each example; each group is in one of the halves as a whole.
    confidence : float, default 0.95
        The confidence that the limits of all proposed slices hold at once.
    rng : int or Generator, default 0
        The source of randomness for dividing the rows into halves.

    Returns
    -------
    FoundSlices
        The proposed slices, with their costs in the judging half, and how many were searched.

    Notes
    -----
    A beam search takes, among all slices of one condition and then of one more, those whose cost
    is the most standard errors above that of the other rows. Their limits come from rows that the
    search did not see, so the search does not bias them.

    Examples
    --------
    >>> import numpy as np
    >>> from stakes import CostMatrix, find_slices
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> generator = np.random.default_rng(0)
    >>> region, age = generator.choice(["n", "s"], 4000), generator.integers(18, 90, 4000)
    >>> y_true = generator.integers(0, 2, 4000)
    >>> bad = (region == "s") & (age >= 72)
    >>> y_pred = np.where(bad, 0, y_true)
    >>> found = find_slices({"region": region, "age": age}, y_true, y_pred, costs)
    >>> found.slices[0].conditions, found.slices[0].shown
    (('region = s', 'age >= 71'), True)
    """
    check_costs(costs)
    depth = validate.as_size(conditions, "conditions", 1, 3)
    many = validate.as_size(top, "top", 1)
    alpha = validate.alpha(confidence)
    rows = rows_in_order(y_true=y_true, y_pred=y_pred, costs=costs, groups=groups, frame=frame)
    sample = CostSample.from_labels(
        rows["costs"] if isinstance(costs, ExampleCosts) else _each(costs, rows["y_true"]),
        rows["y_pred"],
        y_true=rows["y_true"],
        groups=rows["groups"],
    )
    values = sample.values
    searching = _half(sample, validate.generator(rng))
    names, masks = _conditions(
        rows["frame"], len(values), searching, validate.as_size(least, "least", 1)
    )
    found, looked = _search(
        masks[:, searching], values[searching], names, depth=depth, top=many, least=least
    )
    judged = []
    for places in found:
        inside = masks[list(places)].all(axis=0)
        mine, others = (_estimate(sample, rows & ~searching) for rows in (inside, ~inside))
        if mine is None or others is None:
            continue
        difference, low, high = apart(mine, others, alpha / many)
        texts = tuple(names[place][1] for place in places)
        judged.append(
            FoundSlice(texts, int(mine.n), mine.cost, others.cost, difference, low, high, low > 0)
        )
    judged.sort(key=lambda each: -each.difference)
    sizes = int(searching.sum()), int((~searching).sum())
    return FoundSlices(tuple(judged), looked, *sizes, float(confidence))


def _each(costs: CostMatrix, y_true: Any) -> ExampleCosts:
    """Return the costs of a matrix as costs of single rows."""
    return ExampleCosts.from_matrix(costs, y_true)


def _half(sample: CostSample, rng: np.random.Generator) -> Rows:
    """Choose the half of the rows, or of the groups, that is searched."""
    if sample.groups is None:
        return np.asarray(rng.permutation(sample.n) < sample.n // 2)
    codes = slice_codes(sample.groups, "groups")[0]
    many = int(codes.max()) + 1
    return np.asarray((rng.permutation(many) < many // 2)[codes])


def _conditions(
    frame: Any, n: int, searching: Rows, least: int
) -> tuple[list[tuple[str, str]], NDArray[np.bool_]]:
    """Return the column and the text of each condition, and the rows that meet it."""
    names, masks = [], []
    for column, given in named_columns(frame, "frame").items():
        validate.same_length({"y_pred": n, f"frame[{column!r}]": validate.size_of(given, "frame")})
        numbers = _as_numbers(given)
        if numbers is not None and _many(numbers[searching]):
            found = _quarters(column, numbers, searching)
        else:
            found = _levels(column, given, searching)
        for text, rows in found:
            if least <= rows[searching].sum() <= searching.sum() - least:
                names.append((column, text))
                masks.append(rows)
    if not masks:
        raise InputError(
            "frame", f"no column divides the rows into slices of at least {least} rows."
        )
    return names, np.array(masks)


def _many(numbers: Floats) -> bool:
    """Tell whether a column has too many distinct numbers for each to be a slice."""
    return len(np.unique(numbers[~np.isnan(numbers)])) > FEW_VALUES


def _as_numbers(values: Any) -> Floats | None:
    """Return a numeric column, NaN where a value is missing; None if it is not numeric."""
    try:
        array = np.asarray(values)
    except ValueError:  # ragged rows, which are refused later
        return None
    if array.dtype.kind == "O" and array.ndim == 1:
        listed = [np.nan if is_missing(each) else each for each in array.tolist()]
        if not all(isinstance(each, Real) and not isinstance(each, bool) for each in listed):
            return None
        array = np.array(listed, dtype=np.float64)
    return array.astype(np.float64) if array.dtype.kind in "iuf" else None


def _quarters(column: str, numbers: Floats, searching: Rows) -> list[tuple[str, Rows]]:
    seen = numbers[searching & ~np.isnan(numbers)]
    known = np.unique(seen)
    cuts = [_short(known, cut) for cut in np.unique(np.quantile(seen, QUARTERS, method="lower"))]
    found = [(f"{column} < {cuts[0][0]}", numbers < cuts[0][1])]
    for (start, low), (end, high) in pairwise(cuts):
        rows = (low <= numbers) & (numbers < high)
        found.append((f"{start} <= {column} < {end}", rows))
    found.append((f"{column} >= {cuts[-1][0]}", numbers >= cuts[-1][1]))
    if len(seen) < searching.sum():
        found.append((f"{column} = {MISSING}", np.isnan(numbers)))
    return found


def _short(known: Floats, cut: float) -> tuple[str, float]:
    """Return the shortest number between a value and the one below it, as text and exactly."""
    place = int(np.searchsorted(known, cut))
    below = known[place - 1] if place else -np.inf
    for digits in range(3, 17):
        text = f"{cut:.{digits}g}"
        if below < float(text) <= cut and "e" not in text:
            return text, float(text)
    return repr(float(cut)), float(cut)


def _levels(column: str, values: Any, searching: Rows) -> list[tuple[str, Rows]]:
    codes, names = slice_codes(values, column)
    sizes = np.bincount(codes[searching], minlength=len(names))
    kept = np.argsort(-sizes, kind="stable")[:LEVELS]
    return [(f"{column} = {names[place]}", codes == place) for place in kept.tolist()]


def _search(
    masks: NDArray[np.bool_],
    values: Floats,
    names: Sequence[tuple[str, str]],
    *,
    depth: int,
    top: int,
    least: int,
) -> tuple[list[tuple[int, ...]], int]:
    """Return the conditions of the slices that stand out most, and how many were searched."""
    beams: list[tuple[int, ...]] = [()]
    scored: dict[tuple[int, ...], float] = {}
    looked = 0
    for _ in range(depth):
        following: dict[tuple[int, ...], float] = {}
        for beam in beams:
            inside = masks[list(beam)].all(axis=0) if beam else np.ones(masks.shape[1], dtype=bool)
            taken = {names[place][0] for place in beam}
            open_ = [place for place in range(len(masks)) if names[place][0] not in taken]
            fresh = [p for p in open_ if tuple(sorted((*beam, p))) not in following]
            scores = _scores(masks[fresh] & inside, values, least)
            looked += len(fresh)
            for place, score in zip(fresh, scores, strict=True):
                if np.isfinite(score):
                    following[tuple(sorted((*beam, place)))] = float(score)
        scored |= following
        beams = sorted(following, key=lambda each: -following[each])[:BEAM]
    chosen: list[tuple[int, ...]] = []
    for each in sorted(scored, key=lambda each: -scored[each]):
        rows = _meeting(masks, each)
        if len(chosen) < top and not any(_alike(rows, _meeting(masks, o)) for o in chosen):
            chosen.append(each)
    return chosen, looked


def _scores(inside: NDArray[np.bool_], values: Floats, least: int) -> Floats:
    """Return how many standard errors the cost of each slice is above that of the other rows."""
    sizes = inside.sum(axis=1).astype(np.float64)
    sums, squares = inside @ values, inside @ values**2
    n, rest = len(values), len(values) - sizes
    with np.errstate(all="ignore"):
        means, others = sums / sizes, (values.sum() - sums) / rest
        spread = np.maximum(squares / sizes - means**2, 0) / sizes
        spread += np.maximum(((values**2).sum() - squares) / rest - others**2, 0) / rest
        spread += values.var() / (n * sizes)  # else a slice without variance would always win
        found = (means - others) / np.sqrt(spread)
    return np.where((sizes >= least) & (rest >= least), found, -np.inf)


def _meeting(masks: NDArray[np.bool_], places: tuple[int, ...]) -> Rows:
    """Return which rows meet all of the conditions."""
    return np.asarray(masks[list(places)].all(axis=0))


def _alike(one: Rows, other: Rows) -> bool:
    return bool((one & other).sum() >= ALIKE * (one | other).sum())


def _estimate(sample: CostSample, rows: Rows) -> CostEstimate | None:
    """Return the estimate from the chosen rows; None with fewer than two rows or groups."""
    if rows.sum() < 2:  # noqa: PLR2004 - one row has no variance
        return None
    groups = None
    if sample.groups is not None:
        groups = [name for name, kept in zip(sample.groups, rows, strict=True) if kept]
        if len(set(groups)) < 2:  # noqa: PLR2004 - nor does one group
            return None
    chosen = CostSample(sample.values[rows], low=sample.low, high=sample.high, groups=groups)
    return CostEstimate(chosen)
