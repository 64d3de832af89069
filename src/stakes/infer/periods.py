"""Costs over time: by period with simultaneous limits, and cumulative with anytime limits."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import is_missing, label_codes
from stakes._core.optional import data_frame
from stakes._core.text import html_table, number, percent, text_table
from stakes._core.values import ByValue, Result
from stakes.costs import CostMatrix, ExampleCosts
from stakes.errors import DesignError, InputError
from stakes.infer._inference import limits, outcomes_behind, quiet_interval
from stakes.infer._outcomes import Design
from stakes.infer._sliced import SlicedRows, rows_in_order, weights_of_strata
from stakes.infer.estimate import CostEstimate
from stakes.infer.evaluation import check_costs
from stakes.infer.methods import METHODS
from stakes.infer.slices import apart, levels_of

Times = NDArray[np.datetime64]
Codes = NDArray[np.intp]
Three = tuple[float | None, float | None, float | None]

EVERY = ("day", "week", "month", "quarter", "year")
MOST = 400
"""The largest number of periods that is accepted."""

CHANGES = {1: "higher than at first", -1: "lower than at first", 0: "not shown"}


@dataclass(frozen=True, eq=False)
class Period(Result):
    """The cost of the decisions in one period.

    Attributes
    ----------
    period : str
        Its ISO name, such as 2026-03, 2026-W11 or 2026-03-14.
    n : float
        The number of its decisions, or the sum of their weights.
    labelled : float
        The number of those with a label.
    complete : bool
        Whether all have a label. If not, the limits allow for every label that has not arrived.
    cost : float or None
        The cost per decision of those with a label; None where there are none.
    low, high : float
        Limits of the cost, which hold for all periods at once.
    change, change_low, change_high : float or None
        The cost minus that of the first complete period, with limits that hold for all periods at
        once; None for that period and for incomplete ones.
    verdict : str
        "higher than at first", "lower than at first" or "not shown".
    running, running_low, running_high : float or None
        The cost of all decisions so far, with limits that hold at all times at once; None from the
        first incomplete period on.

    Examples
    --------
    >>> from stakes import CostMatrix, evaluate_over
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> when = ["2026-03-05"] * 2 + ["2026-05-02"] * 2
    >>> found = evaluate_over([0, 1, 0, 1], [0, 1, 0, 0], costs, time=when)
    >>> [(each.period, each.n, each.cost) for each in found.periods()]
    [('2026-03', 2, 0.0), ('2026-04', 0, None), ('2026-05', 2, 5.0)]
    """

    period: str
    n: float
    labelled: float
    complete: bool
    cost: float | None
    low: float
    high: float
    change: float | None
    change_low: float | None
    change_high: float | None
    verdict: str
    running: float | None
    running_low: float | None
    running_high: float | None

    def to_dict(self) -> dict[str, Any]:
        """Return the period as plain values.

        Returns
        -------
        dict
            The attributes by name.
        """
        return self._values()


@dataclass(frozen=True, eq=False)
class _Part(ByValue):
    """The estimates of a period: labelled rows only, all rows at best and at worst, and so far."""

    name: str
    n: float
    labelled: float
    estimate: CostEstimate | None
    best: CostEstimate | None
    worst: CostEstimate | None
    so_far: CostEstimate | None


@dataclass(frozen=True, eq=False, repr=False)
class PeriodEstimates(Result):
    """The cost of decisions in each period, and so far.

    Made by `evaluate_over`.

    Parameters
    ----------
    parts : tuple
        The periods, with their counts.
    least, most : float
        The lowest and the highest possible cost of a decision.
    unit : str
        The unit of the costs.
    note : str
        How times of several zones were read; empty otherwise.

    Examples
    --------
    >>> from stakes import CostMatrix, evaluate_over
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> when = ["2026-03-05"] * 2 + ["2026-05-02"] * 2
    >>> found = evaluate_over([0, 1, 0, 1], [0, 1, 0, 0], costs, time=when)
    >>> found.to_dict()["periods"][0]["period"]
    '2026-03'
    """

    parts: tuple[_Part, ...]
    least: float
    most: float
    unit: str = ""
    note: str = ""

    def periods(self, confidence: float = 0.95) -> list[Period]:
        """Return the periods in their order.

        Parameters
        ----------
        confidence : float, default 0.95
            The confidence that the limits of all periods hold at once; separately, that of the
            changes, and of the running cost.

        Returns
        -------
        list of Period
            The periods.

        Notes
        -----
        Each of s periods has limits at the level 1 - (1 - α)^(1/s); changes have Bonferroni's. The
        running cost has the limits of the method "anytime", which hold at all times at once.

        References
        ----------
        Waudby-Smith & Ramdas (2024).

        Zou & Donner (2008).
        """
        alpha = validate.alpha(confidence)
        known = [each for each in self.parts if each.n]
        level = levels_of(["period"] * len(known), alpha)["period"]
        first = next((each for each in self.parts if each.n and each.labelled == each.n), None)
        others = max(len(known) - 1, 1)
        return [self._period(each, first, level, alpha / others, alpha) for each in self.parts]

    def _period(
        self, part: _Part, first: _Part | None, level: float, by_change: float, alpha: float
    ) -> Period:
        low, high = self.least, self.most
        complete = part.labelled == part.n
        if part.best is not None and part.worst is not None:
            low = quiet_interval(part.best, 1 - level).low
            high = quiet_interval(part.worst, 1 - level).high
        change: Three = (None, None, None)
        verdict = 0
        base = None if first is None or part is first else first.estimate
        if complete and part.estimate is not None and base is not None:
            found = apart(part.estimate, base, by_change)
            change, verdict = found, int(found[1] > 0) - int(found[2] < 0)
        running: Three = (None, None, None)
        if part.so_far is not None:
            running = (part.so_far.cost, *_anytime(part.so_far, 1 - alpha))
        cost = None if part.estimate is None else part.estimate.cost
        return Period(
            part.name,
            part.n,
            part.labelled,
            complete,
            cost,
            low,
            high,
            *change,
            CHANGES[verdict],
            *running,
        )

    def to_frame(self, confidence: float = 0.95) -> Any:
        """Return the periods as a pandas data frame.

        Parameters
        ----------
        confidence : float, default 0.95
            As in `periods`.

        Returns
        -------
        DataFrame
            A row for each period, with the attributes of `Period` as columns.
        """
        return data_frame([each.to_dict() for each in self.periods(confidence)])

    def to_dict(self) -> dict[str, Any]:
        """Return the periods as plain values.

        Returns
        -------
        dict
            The periods, and how times were read.
        """
        return {"periods": [each.to_dict() for each in self.periods()], "note": self.note}

    def summary(self, confidence: float = 0.95) -> str:
        """Return the periods as a table of text.

        Parameters
        ----------
        confidence : float, default 0.95
            As in `periods`.

        Returns
        -------
        str
            A line for each period, and notes.
        """
        found = self.periods(confidence)
        notes = [self.note] if self.note else []
        if any(not each.complete for each in found):
            notes.append(
                "Incomplete periods lack labels; their limits allow for every missing label."
            )
        table = text_table(*self._lines(found, confidence))
        return "\n".join([table, *notes])

    def _lines(self, found: list[Period], confidence: float) -> tuple[list[str], list[list[str]]]:
        title = f"cost per decision{f' ({self.unit})' if self.unit else ''}"
        header = ["period", "rows", title, f"{percent(confidence)} CI from", "to", "change"]
        rows = [
            [
                each.period,
                number(each.n),
                "" if each.cost is None else number(each.cost),
                number(each.low),
                number(each.high),
                each.verdict if each.complete else f"incomplete: {number(each.labelled)} labelled",
            ]
            for each in found
        ]
        return header, rows

    def __repr__(self) -> str:
        return self.summary()

    def _repr_html_(self) -> str:
        return html_table(*self._lines(self.periods(), 0.95), caption=self.note)


def _anytime(estimate: CostEstimate, confidence: float) -> tuple[float | None, float | None]:
    """Return limits that hold at all times, or None where the design has no such limits."""
    outcomes = outcomes_behind(estimate)
    if outcomes.design not in METHODS["anytime"].designs or not outcomes.bounded:
        return None, None
    low, high = limits(outcomes, confidence, "anytime", {})
    return float(low[0]), float(high[0])


def evaluate_over(
    y_true: Any,
    y_pred: Any,
    costs: CostMatrix | ExampleCosts,
    *,
    time: Any,
    every: str = "month",
    labelled_at: Any = None,
    as_of: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    class_priors: Any = None,
    strata: Any = None,
    population: Any = None,
    unit: str = "",
) -> PeriodEstimates:
    """Return the cost of a model's decisions in each period, and so far.

    Parameters
    ----------
    y_true, y_pred : array_like, shape (n,)
        The actual class of each example, and the decision. Labels that have not arrived yet are
        missing.
    costs : CostMatrix or ExampleCosts
        The cost of each decision for each class, or for each example.
    time : array_like, shape (n,)
        When each decision was taken, in any order: dates, times or ISO text.
    every : {"day", "week", "month", "quarter", "year"}, default "month"
        The length of a period.
    labelled_at : array_like, shape (n,), optional
        When each label arrived; missing where it has not. Periods whose labels have not all arrived
        are marked as incomplete, and their limits allow for every missing label.
    as_of : optional
        Labels that arrived after this time do not count; by default all labels count.
    sample_weight, groups, class_priors, strata, population, unit
        As in `evaluate`. Strata count as weights inside a period.

    Returns
    -------
    PeriodEstimates
        The cost of each period with limits that hold for all of them at once, changes against the
        first complete period, and the running cost with limits that hold at all times.

    Notes
    -----
    Each period has the default interval of costs. A decision whose label has not arrived counts
    with its lowest possible cost in the lower limit, and with its highest in the upper limit.

    References
    ----------
    Waudby-Smith & Ramdas (2024).

    Examples
    --------
    >>> from stakes import CostMatrix, evaluate_over
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> y_true = [0, 0, 0, 1] * 100
    >>> y_pred = [0, 0, 0, 1] * 50 + [0, 0, 0, 0] * 50
    >>> when = ["2026-03-05"] * 200 + ["2026-04-02"] * 200
    >>> found = evaluate_over(y_true, y_pred, costs, time=when)
    >>> [(each.period, each.cost, each.verdict) for each in found.periods()]
    [('2026-03', 0.0, 'not shown'), ('2026-04', 2.5, 'higher than at first')]
    """
    check_costs(costs)
    validate.choice(every, "every", EVERY)
    n = validate.size_of(y_pred, "y_pred")
    given = rows_in_order(
        y_true=y_true,
        y_pred=y_pred,
        time=time,
        labelled_at=labelled_at,
        costs=costs,
        sample_weight=sample_weight,
        groups=groups,
        strata=strata,
    )
    y_true, y_pred, time, labelled_at, costs, sample_weight, groups, strata = given.values()
    times = as_times(time, "time")
    validate.same_length({"y_pred": n, "time": len(times.clock)})
    codes, names = period_codes(times.clock, every)
    arrived = _arrived(y_true, labelled_at, as_of, n)
    weight = weights_of_strata(strata, population, sample_weight, n)
    if isinstance(costs, ExampleCosts) and not arrived.all():
        raise DesignError(
            "labelled_at", "with costs of single rows, missing labels cannot be allowed for."
        )
    ends = _filled(y_true, y_pred, costs, arrived)
    rows = {
        name: SlicedRows(each, [y_pred], costs, weight, groups, Design(class_priors), unit)
        for name, each in ends.items()
    }
    parts = _parts(rows, codes, names, arrived)
    least, most = _ends(costs, parts)
    return PeriodEstimates(tuple(parts), least, most, unit, times.note)


def _parts(
    rows: dict[str, SlicedRows], codes: Codes, names: list[str], arrived: NDArray[np.bool_]
) -> list[_Part]:
    """Count each period, and all periods up to it."""
    size = len(names)
    best, worst = (rows[name].pieces(codes) for name in ("best", "worst"))
    known = np.where(arrived, codes, size)  # rows without a label are in no period
    labelled = rows["best"].pieces(known)
    closed = int(codes[~arrived].min()) if not arrived.all() else size
    found = []
    for place, name in enumerate(names):
        mine, seen = best.some(best.place == place), labelled.some(labelled.place == place)
        so_far = best.some(best.place <= place) if place < closed and mine is not None else None
        found.append(
            _Part(
                name,
                0 if mine is None else mine.n,
                0 if seen is None else seen.n,
                rows["best"].estimate(seen),
                rows["best"].estimate(mine),
                rows["worst"].estimate(worst.some(worst.place == place)),
                rows["best"].estimate(so_far),
            )
        )
    return found


def _ends(costs: CostMatrix | ExampleCosts, parts: list[_Part]) -> tuple[float, float]:
    """Return the least and the most that a decision can cost."""
    if isinstance(costs, CostMatrix):
        return float(costs.values.min()), float(costs.values.max())
    samples = [each.estimate.confusion for each in parts if each.estimate is not None]
    return min(each.low for each in samples), max(each.high for each in samples)  # type: ignore[union-attr]


def _arrived(y_true: Any, labelled_at: Any, as_of: Any, n: int) -> NDArray[np.bool_]:
    """Tell which rows have their label."""
    if y_true is None:
        return np.ones(n, dtype=bool)
    validate.same_length({"y_pred": n, "y_true": validate.size_of(y_true, "y_true")})
    labels = np.asarray(list(y_true), dtype=object)
    here = np.fromiter((not is_missing(each) for each in labels), dtype=bool, count=n)
    if labelled_at is None:
        if as_of is not None:
            raise InputError("as_of", "it needs to be known when labels arrived: labelled_at=.")
        if not here.all():
            raise InputError(
                "y_true",
                f"{(~here).sum()} labels are missing.",
                "If they have not arrived yet, say when those that have did: labelled_at=.",
            )
        return here
    when = as_times(labelled_at, "labelled_at", missing=True)
    validate.same_length({"y_pred": n, "labelled_at": len(when.clock)})
    known = ~np.isnat(when.clock)
    if as_of is not None:
        limit = as_times([as_of], "as_of")
        if known.any() and limit.zoned != when.zoned:
            which = ("has", "have") if limit.zoned else ("lacks", "lack")
            raise InputError(
                "as_of",
                f"it {which[0]} a time zone and the times of labelled_at do not {which[1]} one.",
                "Give both a zone, or neither.",
            )
        known[known] = when.instants[known] <= limit.instants[0]
    lost = known & ~here
    if lost.any():
        raise InputError(
            "y_true", f"{lost.sum()} labels are missing although they have arrived by labelled_at."
        )
    return known


def _filled(
    y_true: Any, y_pred: Any, costs: CostMatrix | ExampleCosts, arrived: NDArray[np.bool_]
) -> dict[str, Any]:
    """Return the labels, with missing ones filled by the cheapest and by the costliest label."""
    if arrived.all():
        return {"best": y_true, "worst": y_true}
    assert isinstance(costs, CostMatrix)  # noqa: S101 - checked by the caller
    labels, late = np.asarray(list(y_true), dtype=object), ~arrived
    places = label_codes(y_pred, "y_pred", costs.decisions, "decisions")[late]
    found = {}
    for name, choose in (("best", np.argmin), ("worst", np.argmax)):
        ends = np.empty(len(costs.decisions), dtype=object)
        ends[:] = [costs.labels[place] for place in choose(costs.values, axis=1)]
        filled = labels.copy()
        filled[late] = ends[places]
        found[name] = filled.tolist()
    return found


@dataclass(frozen=True, eq=False)
class Moments:
    """Times by the local clock, and as instants that can be compared across zones.

    Attributes
    ----------
    clock : ndarray
        The times without a zone: local times if all have the same zone, otherwise in UTC.
    instants : ndarray
        The times in UTC, or as given where they have no zone.
    zoned : bool
        Whether the times have a zone.
    note : str
        How times of several zones were read; empty otherwise.
    """

    clock: Times
    instants: Times
    zoned: bool = False
    note: str = ""


def as_times(values: Any, name: str, *, missing: bool = False) -> Moments:
    """Read times of any form; periods go by the local clock of their zone."""
    validate.size_of(values, name)
    try:
        array = np.asarray(values if _is_dates(values) else _listed(values))
    except ValueError:
        raise InputError(name, "expected one time for each example.") from None
    if array.ndim != 1 or not len(array):
        raise InputError(name, "expected a time for each example.")
    if array.dtype.kind == "M":
        plain = array.astype("datetime64[us]")
        found = Moments(plain, plain)
    else:
        found = _read_times(array, name)
    absent = np.isnat(found.clock)
    if absent.any() and not missing:
        raise InputError(
            name, f"{absent.sum()} times are missing.", "Leave out the rows without a time."
        )
    return found


def _is_dates(values: Any) -> bool:
    """Tell whether values are times of numpy, which have no zone."""
    return getattr(getattr(values, "dtype", None), "kind", "") == "M" and not hasattr(
        values.dtype, "tz"
    )


def _listed(values: Any) -> Any:
    return values.to_list() if hasattr(values, "to_list") else values


def _read_times(array: NDArray[Any], name: str) -> Moments:
    """Read dates, times and ISO text, with or without a zone."""
    nothing = np.full(len(array), np.datetime64("NaT", "us"))
    clock, instants = nothing, nothing.copy()
    zones: set[Any] = set()
    known: dict[str, tuple[datetime, datetime]] = {}  # texts repeat, and parsing is slow
    for place, value in enumerate(array.tolist()):
        if is_missing(value) or value == "":
            continue
        both = known.get(value) if isinstance(value, str) else None
        if both is None:
            moment = _moment(value, name, place)
            zones.add(_zone(moment))
            shown = moment.replace(tzinfo=None)
            both = shown, shown
            if moment.tzinfo is not None:
                both = shown, moment.astimezone(UTC).replace(tzinfo=None)
            if isinstance(value, str):
                known[value] = both
        clock[place], instants[place] = both
    if None in zones and len(zones) > 1:
        raise InputError(
            name,
            "some times have a time zone and some have none.",
            "Give all of them a zone, or none.",
        )
    if len(zones) > 1:
        return Moments(
            instants, instants, zoned=True, note="Times of several zones are compared in UTC."
        )
    return Moments(clock, instants, zoned=bool(zones - {None}))


def _zone(moment: datetime) -> Any:
    """Return the name of a time's zone, or its offset from UTC; None where it has no zone."""
    names = (getattr(moment.tzinfo, each, None) for each in ("key", "zone"))
    return next((each for each in names if each is not None), moment.utcoffset())


def _moment(value: Any, name: str, place: int) -> datetime:
    if isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001 - dates have no zone
    try:
        return datetime.fromisoformat(str(value))
    except ValueError:
        raise InputError(
            name,
            f"expected dates or times such as 2026-03-14 or 2026-03-14T09:30, got {value!r} at "
            f"position {place}.",
        ) from None


def period_codes(times: Times, every: str) -> tuple[Codes, list[str]]:
    """Return the index of each time's period, and the ISO names of all periods."""
    unit = {"day": "D", "week": "D", "month": "M", "quarter": "M", "year": "Y"}[every]
    whole = times.astype(f"datetime64[{unit}]").astype(np.int64)
    if every == "week":
        whole = (whole + 3) // 7  # weeks begin on Mondays; 1970 began on a Thursday
    elif every == "quarter":
        whole = whole // 3
    first, last = int(whole.min()), int(whole.max())
    if last - first >= MOST:
        raise InputError(
            "every",
            f"there are {last - first + 1:,} periods from the first to the last; up to {MOST} are "
            "evaluated.",
            "Take longer periods.",
        )
    names = [_name(period, every) for period in range(first, last + 1)]
    return (whole - first).astype(np.intp), names


def _name(period: int, every: str) -> str:
    if every == "year":
        return str(1970 + period)
    if every == "quarter":
        return f"{1970 + period // 4}-Q{period % 4 + 1}"
    if every == "month":
        return f"{1970 + period // 12}-{period % 12 + 1:02d}"
    days = period * 7 - 3 if every == "week" else period
    day = date.fromordinal(date(1970, 1, 1).toordinal() + days)
    if every == "day":
        return day.isoformat()
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02d}"
