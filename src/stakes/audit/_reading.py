"""Results from the labels of a plan: overall, by stratum, and what to label next."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from stakes._core import validate
from stakes._core.labels import Label, LabelMatcher, in_order, is_blank, listing, plain
from stakes._core.text import cell_text, number
from stakes._core.values import Result
from stakes.audit._allocation import LEAST, Options, Stratum
from stakes.audit._draw import Drawn, rank_of, written_key
from stakes.costs import CostMatrix
from stakes.counts import GroupedConfusion
from stakes.errors import InputError, InputTypeError, LabelError
from stakes.infer._design import LEAST_LEFT
from stakes.infer._inference import Interval, outcomes_behind
from stakes.infer._outcomes import Outcomes
from stakes.infer.difference import CostDifference
from stakes.infer.estimate import CostEstimate
from stakes.infer.methods import extremal, guaranteed

WHOLE = re.compile(r"(?<=\d)\.0+$")

BATCHES = 10
"""Maximum number of batches with the same shares of strata, if labels are read at any time."""

MOST_TIMES, STEPS, CLOSE = 4096.0, 40, 1.01
"""Search for more labels: largest multiple that is tried, number of steps, and precision."""


@dataclass(frozen=True)
class Labelled:
    """A row with its label: its identifier, stratum, decisions, amount and class."""

    key: Any
    stratum: str
    decided: tuple[Label, ...]
    amount: float
    actual: Label


@dataclass(frozen=True, eq=False)
class StratumFound(Result):
    """Results from the labels of a stratum.

    Attributes
    ----------
    name : str
        The stratum.
    rows, labels : int
        The number of its rows, and of those with labels.
    costly : int
        The number of labelled rows that cost more than the least possible.
    cost : float or None
        The mean cost of labelled rows; None without labels.
    width : float
        The share of the interval's width that the stratum is responsible for.
    next : int
        The number of further labels it should get, if as many labels are added as were read.

    Examples
    --------
    >>> from stakes.audit import StratumFound
    >>> found = StratumFound("ok", rows=900, labels=30, costly=1, cost=16.7, width=0.8, next=24)
    >>> found.rows - found.labels
    870
    """

    name: str
    rows: int
    labels: int
    costly: int
    cost: float | None
    width: float
    next: int


@dataclass(frozen=True, eq=False)
class Reading(Result):
    """Results from the labels of a plan.

    Attributes
    ----------
    result : CostEstimate or CostDifference
        The estimate.
    interval : Interval
        The interval, at the confidence level and by the method of the plan.
    labels : int
        The number of labels that were read.
    drawn : int
        The number of rows that were drawn.
    strata : tuple of StratumFound
        The results of each stratum.
    more : int or None
        How many more labels are expected to settle which of two models costs less; None for one
        model, where it is settled, and where no number would settle it.
    note : str
        A note on missing labels; empty where every row has one.

    Examples
    --------
    >>> import pandas as pd
    >>> from stakes import CostMatrix, Pool
    >>> costs = CostMatrix.from_errors(false_positive=1, false_negative=10)
    >>> rows = pd.DataFrame({"id": range(200), "decided": [0, 0, 0, 1] * 50})
    >>> plan = Pool.from_frame(rows, decision="decided", id="id").plan(costs, n_labels=40)
    >>> reading = plan.reading({key: 0 for key in plan.rows["id"]})
    >>> reading.labels, [each.costly for each in reading.strata]
    (40, [0, 2])
    """

    result: CostEstimate | CostDifference
    interval: Interval
    labels: int
    drawn: int
    strata: tuple[StratumFound, ...]
    more: int | None
    note: str = ""


def plural(n: int, one: str, several: str = "") -> str:
    """Write a number with its noun."""
    return f"{number(n)} {one}" if n == 1 else f"{number(n)} {several or one + 's'}"


# Labels by identifier.


def labels_by_key(labels: Any, id_name: str) -> dict[Any, Any]:
    """Return labels by identifier, from a mapping or a frame; no identifier may occur twice."""
    if isinstance(labels, Mapping):
        return {plain(key): plain(value) for key, value in labels.items()}
    import narwhals as nw

    try:
        frame = nw.from_native(labels)
    except TypeError as error:
        raise InputTypeError(
            "labels",
            "expected a mapping from identifiers to classes, or a frame with both; got "
            f"{type(labels).__name__}.",
        ) from error
    if isinstance(frame, nw.LazyFrame):
        frame = frame.collect()
    for name in (id_name, "actual"):
        if name not in frame.columns:
            raise InputError(
                "labels",
                f"there is no column {name!r}. It has: {', '.join(map(repr, frame.columns))}.",
            )
    keys = [plain(each) for each in frame[id_name].to_list()]
    if len(set(map(written_key, keys))) < len(keys):
        seen: set[Any] = set()
        twice = next(key for key in keys if written_key(key) in seen or seen.add(written_key(key)))  # type: ignore[func-returns-value]
        raise LabelError("labels", f"the row {twice!r} occurs twice.")
    return dict(zip(keys, map(plain, frame["actual"].to_list()), strict=True))


def drawn_key(value: Any, keys: Mapping[str, Any]) -> Any:
    """Return the drawn row that an identifier refers to, or None.

    Spreadsheets write 7 as 7.0, and text that begins like a formula is marked by an apostrophe.
    """
    text = written_key(value)
    found = (each for each in (text, cell_text(text), WHOLE.sub("", text)) if each in keys)
    return keys.get(next(found, ""))


# Labels of the rows that were drawn.


def checked_labels(
    labels: Any,
    drawn: Sequence[Drawn],
    strata: Sequence[Stratum],
    options: Options,
    *,
    text: bool,
    skipped: str | None,
) -> tuple[dict[Any, Label], str]:
    """Return the labels of drawn rows, which must be a random part of them, and a note.

    `text` states whether text may stand for numbers, as in a CSV file.
    """
    if skipped is not None:
        validate.choice(skipped, "skipped", ("random",))
    given = labels_by_key(labels, options.id_name)
    classes = options.prices.costs.labels
    keys = {written_key(each.key): each.key for each in drawn}
    meant = {key: drawn_key(key, keys) for key in given}
    strange = [key for key, found in meant.items() if found is None]
    if strange:
        raise LabelError(
            "labels",
            f"the row {strange[0]!r} was not drawn ({plural(len(strange), 'such row')}).",
            "Read the labels with the plan that they belong to, and add no rows. Spreadsheets "
            "may change identifiers: leading zeros and long numbers.",
        )
    if len(set(meant.values())) < len(meant):
        times = Counter(meant.values())
        twice = next(key for key, found in meant.items() if times[found] > 1)
        raise LabelError("labels", f"the row {twice!r} occurs twice.")
    matcher = LabelMatcher(classes, "text" if text else "values")
    found: dict[Any, Label] = {}
    for key, value in given.items():
        if is_blank(value):
            continue
        place = matcher.find(value)
        if place < 0:
            raise LabelError(
                "labels",
                f"the label {value!r} of row {key!r} is not among the classes: {listing(classes)}.",
                "Leave the label empty where it is not known yet.",
            )
        found[meant[key]] = classes[place]
    return _in_order(found, [each.key for each in drawn], strata, options, skipped)


def _in_order(
    found: dict[Any, Label],
    order: Sequence[Any],
    strata: Sequence[Stratum],
    options: Options,
    skipped: str | None,
) -> tuple[dict[Any, Label], str]:
    """Return the labels and a note; raise an error unless labelled rows are a random part."""
    has = [key in found for key in order]
    first = has.index(False) if False in has else len(has)
    if options.anytime:
        sizes = np.cumsum(batch_sizes(strata))
        whole = int(sizes[sizes <= first].max(initial=0))
        if not whole:
            raise InputError(
                "labels", f"the first batch of {sizes[0]} rows is not labelled whole yet."
            )
        note = "" if whole == len(order) else f"{whole} labels, in whole batches, were read."
        return {key: found[key] for key in order[:whole]}, note
    if all(has):
        return found, ""
    blank = len(has) - sum(has)
    if any(has[first:]) and skipped is None:
        raise LabelError(
            "labels",
            f"the row {order[first]!r} has no label, and later ones have "
            f"({plural(blank, 'row')} without).",
            "Label them, or leave all rows after it blank: rows are in random order, so the "
            "first ones are a smaller audit. Where rows were left out at random, give "
            "skipped='random'.",
        )
    how = "left out at random" if any(has[first:]) else "not labelled yet"
    return found, f"{plural(blank, 'row')} of {len(has)} {how}: a smaller audit."


def count_labelled(
    costs: CostMatrix,
    strata: Sequence[Label],
    names: Sequence[str],
    rows: Sequence[Labelled],
    *,
    models: int,
) -> GroupedConfusion:
    """Count labelled rows by stratum; strata without labels have counts of zero."""
    counts = np.zeros(
        (len(strata), *(len(costs.decisions),) * models, len(costs.labels)), dtype=np.int64
    )
    place = {name: index for index, name in enumerate(strata)}
    for name, row in zip(names, rows, strict=True):
        decided = (costs.decisions.index(each) for each in row.decided)
        counts[(place[name], *decided, costs.labels.index(row.actual))] += 1
    return GroupedConfusion(counts, costs.labels, costs.decisions, strata=list(strata))


# Shares of the interval's width, and the number of further labels.


def width_shares(result: CostEstimate | CostDifference, interval: Interval) -> dict[str, float]:
    """Return the approximate share of the interval's width that each stratum is responsible for.

    The distance of a limit from the mean has two sources: the variance of the labels, and the extra
    cost that rows without labels could have. Their squares add up to the square of the distance.
    """
    outcomes = outcomes_behind(result)
    names = [str(name) for name in in_order(list(result.design.population))]
    if interval.width <= 0 or len(names) != len(outcomes.strata):
        return {}
    mean, z = float(outcomes.mean[0]), -float(ndtri((1 - interval.confidence) / 2))
    variances, rooms = [], []
    for each in outcomes.strata:
        n = float(each.n[0])
        known = each.certain or n < LEAST
        variances.append(0.0 if known else (z * each.weight) ** 2 * float(each.variance[0]))
        left = 0.0 if each.certain else each.weight * (1 - each.labelled)
        rooms.append([left * abs(each.end(end) - float(each.mean[0])) for end in (0, -1)])
    shares = np.zeros(len(names))
    for end, arm in enumerate((mean - interval.low, interval.high - mean)):
        room = np.array([each[end] for each in rooms])
        parts = np.array(variances)
        if room.sum() > 0:
            parts = parts + max(arm**2 - parts.sum(), 0.0) * room / room.sum()
        if parts.sum() > 0:
            shares += arm / interval.width * parts / parts.sum()
    return dict(zip(names, shares.tolist(), strict=True))


def more_labels(result: CostEstimate | CostDifference, interval: Interval) -> int | None:
    """Return how many more labels would settle which costs less, at the same rates as before.

    The number is for the method of the interval; other methods may need another number.
    """
    if not isinstance(result, CostDifference) or interval.low > 0 or interval.high < 0:
        return None
    outcomes = outcomes_behind(result)
    alpha = 1 - interval.confidence
    limits = guaranteed.limits if interval.method == "guaranteed" else extremal.limits
    n = sum(float(each.n[0]) for each in outcomes.strata if not each.certain)

    def settled(times: float) -> bool:
        made = []
        for each in outcomes.strata:
            if each.certain or not float(each.n[0]):
                made.append(each)
                continue
            rows = each.left + float(each.n[0])
            labels = min(round(times * float(each.n[0])), round(rows))
            counts = each.counts * (labels / float(each.n[0]))
            made.append(replace(each, counts=counts, labelled=labels / rows, left=rows - labels))
        low, high = limits(Outcomes(tuple(made), outcomes.design), alpha)
        return bool(low[0] > 0 or high[0] < 0)

    if not n or not settled(MOST_TIMES):
        return None
    low, high = 1.0, MOST_TIMES
    for _ in range(STEPS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if settled(middle) else (middle, high)
        if high < CLOSE * low:
            break
    extra = 0.0
    for each in outcomes.strata:
        labels = float(each.n[0])
        if not each.certain and labels:
            extra += min((high - 1) * labels, each.left)
    return math.ceil(extra)


# The order in which rows are labelled.


def batches_of(strata: Sequence[Stratum]) -> int:
    """Return the number of batches, with the same shares of strata, that the labels allow."""
    common = math.gcd(*(each.labels for each in strata if each.labels and not each.whole))
    return max((each for each in range(1, BATCHES + 1) if common % each == 0), default=1)


def in_batches(strata: Sequence[Stratum]) -> list[Stratum]:
    """Return strata whose labels can be divided into batches with the same shares of strata."""
    found = []
    for each in strata:
        labels = max(round(each.labels / BATCHES), 1) * BATCHES
        if not each.labels or each.whole:
            labels = each.labels
        elif each.rows - labels < LEAST_LEFT:
            labels = each.rows
        found.append(replace(each, labels=labels))
    return found


def batch_sizes(strata: Sequence[Stratum]) -> list[int]:
    """Return the number of rows of each batch; strata labelled whole are in the first."""
    batches = batches_of(strata)
    each = sum(one.labels for one in strata if not one.whole) // batches
    whole = sum(one.labels for one in strata if one.whole)
    return [whole + each, *([each] * (batches - 1))]


def ordered(rows: Sequence[Drawn], strata: Sequence[Stratum], options: Options) -> list[Drawn]:
    """Return the rows in random order, within batches if labels are read at any time."""
    batches = batches_of(strata) if options.anytime else 1
    met = [0] * len(strata)
    found = []
    for row in sorted(rows, key=lambda row: rank_of(row.key, options.seed, "batch")):
        stratum = strata[row.stratum]
        size = max(stratum.labels // batches, 1)
        batch = 0 if batches == 1 or stratum.whole else met[row.stratum] // size
        met[row.stratum] += 1
        found.append((batch, rank_of(row.key, options.seed, "order"), row))
    return [row for *_, row in sorted(found, key=lambda each: each[:2])]
