"""Partly labelled rows: what is known of rows without labels, and the resulting sampling design.

Three cases are distinguished. Labels are on a random sample, and a judge's verdict on every row
shows which rows are alike; or labels are on a known share of the rows of each decision; or the
reason is unknown, and every row without a label may be of any class. In all three, the given rows
are divided into strata with a known decision and labels on a part of their rows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._core import validate
from stakes._core.labels import Label, Labels, as_column, label_codes, listing
from stakes._core.text import number, percent
from stakes.costs import CostMatrix
from stakes.counts import GroupedConfusion
from stakes.counts._parts import ordered_codes, part_column
from stakes.errors import DesignError, InputError, InputTypeError, LabelError
from stakes.infer._outcomes import Design

LEAST_LABELS = 5
"""Least number of labelled rows of a stratum; strata with fewer are merged across verdicts."""

MOST_VERDICTS, BINS = 20, 10
"""Numeric verdicts with more than `MOST_VERDICTS` distinct values are cut into `BINS` bins."""

BEYOND_CHANCE = 0.001
"""p-value below which the labelled share of rows contradicts the stated share."""

INFINITE = "infinite"

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Known:
    """What is known of rows without labels.

    Attributes
    ----------
    judge : array_like, mapping or None
        A verdict on each row, or those of several judges by name.
    verified : mapping or None
        Mapping from each decision (or pair of two models' decisions) to the share of its rows that
        were labelled at random.
    unlabelled : "bounds" or None
        "bounds" if every row without a label may be of any class.
    """

    judge: Any = None
    verified: Any = None
    unlabelled: Any = None

    def __post_init__(self) -> None:
        if self.unlabelled is not None:
            validate.choice(self.unlabelled, "unlabelled", ("bounds",))
            if self.judge is not None or self.verified is not None:
                raise InputTypeError(
                    "unlabelled",
                    "it needs nothing to be known of the rows without labels, judge= and verified= "
                    "say what is known; give one.",
                )
        if self.verified is not None and not isinstance(self.verified, Mapping):
            raise InputTypeError(
                "verified",
                "expected a mapping from each decision to the share of its rows that were "
                f"labelled, got {self.verified!r}.",
            )


def partly_labelled(
    costs: CostMatrix,
    y_true: Any,
    predictions: Mapping[str, Any],
    known: Known,
    *,
    groups: Any = None,
    strata: Any = None,
    population: Any = None,
    impossible: Any = None,
) -> tuple[GroupedConfusion, Design]:
    """Count the labelled rows by strata, and return the counts and the sampling design.

    The given rows are the population; with ``population="infinite"`` they are a sample of one.
    """
    judges = _judges(known.judge)
    validate.same_index(
        y_true=y_true, **predictions, **{f"judge {name}": each for name, each in judges.items()}
    )
    _check_population(population)
    decided = [
        label_codes(each, name, costs.decisions, "decisions of the costs")
        for name, each in predictions.items()
    ]
    absent = missing(y_true)
    validate.same_length(
        {"y_true": len(absent)}
        | {name: len(each) for name, each in zip(predictions, decided, strict=True)}
    )
    if absent.all():
        raise InputError("y_true", "no row has a label, so nothing is known of the costs.")
    actual = label_codes(
        _filled(y_true, absent, costs.labels[0]), "y_true", costs.labels, "classes of the costs"
    )
    blocks = _blocks(costs.decisions, decided, strata)
    if known.verified is not None:
        _check_verified(known.verified, blocks, absent)
    if known.unlabelled is not None:
        cells = _with_verdicts(blocks, absent.astype(np.intp), ("labelled", "not labelled"))
    else:
        verdicts = _verdicts(judges, len(absent))
        cells = _merged(_with_verdicts(blocks, *verdicts), ~absent)
    table = _counted(costs, cells, decided, actual, ~absent, groups=groups)
    sizes = np.bincount(cells.codes, minlength=len(cells.names))
    rows: dict[Label, float] = dict(zip(cells.names, sizes.tolist(), strict=True))
    endless = population == INFINITE if isinstance(population, str) else False
    if endless:
        rows = {name: size / len(absent) for name, size in rows.items()}
    taken: dict[Label, Any] = {
        name: each if len(predictions) > 1 else each[0]
        for name, each in zip(cells.names, cells.decided, strict=True)
    }
    design = Design(
        impossible=impossible,
        population=rows,
        decided=taken,
        rows_counted=len(absent) if endless else None,
    )
    return table, design


# Kinds of rows, by stratum, decisions and verdicts.


@dataclass(frozen=True, eq=False)
class _Cells:
    """The kind of each row, and the decisions, verdicts and name of each kind.

    `outer` is the kind before division by verdict; kinds of the same `outer` may be merged.
    """

    codes: Codes
    decided: tuple[tuple[Label, ...], ...]
    verdicts: tuple[tuple[int, ...], ...]
    outer: Codes
    names: tuple[str, ...]


def _blocks(decisions: Labels, decided: Sequence[Codes], strata: Any) -> _Cells:
    """Return the kinds of rows by decisions, and by strata if there are any."""
    columns, names = list(decided), [tuple(map(str, decisions))] * len(decided)
    if strata is not None:
        codes, values = ordered_codes(part_column(strata, "strata"))
        validate.same_length({"y_pred": len(decided[0]), "strata": len(codes)})
        columns, names = [codes, *columns], [tuple(map(str, values)), *names]
    shape = tuple(map(len, names))
    keys, codes = np.unique(np.ravel_multi_index(columns, shape), return_inverse=True)
    places = np.stack(np.unravel_index(keys, shape), axis=1)
    first = len(columns) - len(decided)
    texts = [
        ", ".join(each[place] for each, place in zip(names, row, strict=True))
        for row in places.tolist()
    ]
    taken = tuple(tuple(decisions[place] for place in row[first:]) for row in places.tolist())
    outer = np.arange(len(keys))
    return _Cells(codes.astype(np.intp), taken, ((),) * len(keys), outer, tuple(texts))


def _with_verdicts(
    blocks: _Cells, verdicts: Codes, texts: Sequence[str], parts: Sequence[tuple[int, ...]] = ()
) -> _Cells:
    """Return the kinds divided by verdict; `parts` are the verdicts of each judge."""
    pairs, codes = np.unique(blocks.codes * len(texts) + verdicts, return_inverse=True)
    outer, inner = np.divmod(pairs, len(texts))
    told = [texts[place] for place in inner.tolist()]
    names = tuple(
        f"{blocks.names[block]}: {text}" if text else blocks.names[block]
        for block, text in zip(outer.tolist(), told, strict=True)
    )
    split = list(parts) or [(place,) for place in range(len(texts))]
    return _Cells(
        codes.astype(np.intp),
        tuple(blocks.decided[block] for block in outer.tolist()),
        tuple(split[place] for place in inner.tolist()),
        outer.astype(np.intp),
        names,
    )


def _judges(judge: Any) -> dict[str, Any]:
    if judge is None:
        return {}
    if isinstance(judge, Mapping):
        if not judge:
            raise InputError("judge", "expected verdicts of at least one judge, got none.")
        return {str(name): each for name, each in judge.items()}
    try:
        np.asarray(judge)
    except ValueError:
        raise InputError("judge", "expected a verdict for each row, got rows of rows.") from None
    return {"judge": judge}


def _verdicts(
    judges: Mapping[str, Any], n: int
) -> tuple[Codes, tuple[str, ...], tuple[tuple[int, ...], ...]]:
    """Return each row's combination of verdicts, with the combinations' names and verdicts."""
    if not judges:
        return np.zeros(n, dtype=np.intp), ("",), ((0,),)
    columns, texts = [], []
    for name, given in judges.items():
        codes, labels = _verdict(given, name)
        validate.same_length({"y_true": n, name: len(codes)})
        columns.append(codes)
        texts.append(labels)
    shape = tuple(map(len, texts))
    keys, codes = np.unique(np.ravel_multi_index(columns, shape), return_inverse=True)
    places = [tuple(row) for row in np.stack(np.unravel_index(keys, shape), axis=1).tolist()]
    several = len(judges) > 1
    names = tuple(
        ", ".join(
            f"{name} {labels[place]}" if several or name == "judge" else str(labels[place])
            for name, labels, place in zip(judges, texts, row, strict=True)
        )
        for row in places
    )
    return codes.astype(np.intp), names, tuple(places)


def _verdict(given: Any, name: str) -> tuple[Codes, Labels]:
    """Return a judge's verdicts as codes; many distinct numbers are cut at quantiles."""
    array = np.asarray(given)
    if array.dtype.kind == "f" and len(np.unique(array)) > MOST_VERDICTS:
        values = validate.numeric(given, name, ndim=1)
        validate.finite(values, name, "Give a verdict on every row.")
        edges = np.unique(np.quantile(values, np.linspace(0, 1, BINS + 1)[1:-1]))
        codes = np.searchsorted(edges, values, side="right")
        ends = [-np.inf, *edges.tolist(), np.inf]
        texts = tuple(f"{number(low)} to {number(high)}" for low, high in pairwise(ends))
        return codes.astype(np.intp), texts
    return ordered_codes(as_column(given, name))


def _merged(cells: _Cells, labelled: NDArray[np.bool_]) -> _Cells:
    """Return kinds merged until each has enough labels, or all the verdicts on a decision."""
    counts = np.bincount(cells.codes, labelled, len(cells.names)).astype(int)
    groups: list[list[int]] = []
    for block in np.unique(cells.outer).tolist():
        inside = [[place] for place in np.flatnonzero(cells.outer == block).tolist()]
        while len(inside) > 1:
            sums = [int(counts[each].sum()) for each in inside]
            least = int(np.argmin(sums))
            if sums[least] >= LEAST_LABELS:
                break
            other = min(
                (each for each in range(len(inside)) if each != least),
                key=lambda each: (
                    -_alike(cells.verdicts[inside[least][0]], cells.verdicts[inside[each][0]]),
                    sums[each],
                ),
            )
            inside[other] += inside.pop(least) if least > other else inside[least]
            if least < other:
                inside.pop(least)
        groups += inside
    if len(groups) == len(cells.names):
        return cells
    place = np.empty(len(cells.names), dtype=np.intp)
    for index, each in enumerate(groups):
        place[each] = index
    first = [each[0] for each in groups]
    names = [
        cells.names[each[0]]
        if len(each) == 1
        else f"{cells.names[each[0]].partition(': ')[0]}: "
        + " or ".join(cells.names[one].partition(": ")[2] for one in sorted(each))
        for each in groups
    ]
    return _Cells(
        place[cells.codes],
        tuple(cells.decided[each] for each in first),
        tuple(cells.verdicts[each] for each in first),
        cells.outer[first],
        tuple(names),
    )


def _alike(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Return the number of leading judges whose verdicts agree in two combinations."""
    agree = [mine == theirs for mine, theirs in zip(one, other, strict=True)]
    return agree.index(False) if False in agree else len(agree)


def _counted(
    costs: CostMatrix,
    cells: _Cells,
    decided: Sequence[Codes],
    actual: Codes,
    labelled: NDArray[np.bool_],
    *,
    groups: Any,
) -> GroupedConfusion:
    """Count the labelled rows of each kind; kinds without labels have counts of zero."""
    names = dict.fromkeys(cells.names)
    if len(names) < len(cells.names):
        raise InputError("judge", "two different decisions or verdicts have the same name.")
    axes = (*(len(costs.decisions) for _ in decided), len(costs.labels))
    part, parts = cells.codes[labelled], len(cells.names)
    group_names: Labels | None = None
    strata: list[Label] = list(cells.names)
    if groups is not None:
        codes, values = ordered_codes(part_column(groups, "groups"))
        validate.same_length({"y_true": len(labelled), "groups": len(codes)})
        empty = np.setdiff1d(np.arange(parts), part) * len(values)
        keys = np.union1d(part * len(values) + codes[labelled], empty)
        part = np.searchsorted(keys, part * len(values) + codes[labelled])
        parts = len(keys)
        group_names = tuple(values[key % len(values)] for key in keys.tolist())
        strata = [cells.names[key // len(values)] for key in keys.tolist()]
    columns = [part, *(each[labelled] for each in decided), actual[labelled]]
    places = np.ravel_multi_index(columns, (parts, *axes))
    counts = np.bincount(places, minlength=parts * int(np.prod(axes))).reshape((parts, *axes))
    return GroupedConfusion(counts, costs.labels, costs.decisions, group_names, strata=strata)


# Missing labels, and the check of the stated shares of labelled rows.


def missing(values: Any) -> NDArray[np.bool_]:
    """Tell which rows have no label: None, NaN, or null in a frame."""
    for name in ("isna", "is_null"):
        if hasattr(values, name):
            found = np.asarray(getattr(values, name)(), dtype=bool)
            array = np.asarray(values)
            return np.asarray(found | np.isnan(array)) if array.dtype.kind == "f" else found
    if np.ma.isMaskedArray(values):
        return np.asarray(np.ma.getmaskarray(values))
    if values is None or isinstance(values, str | bytes) or not hasattr(values, "__len__"):
        raise InputTypeError("y_true", f"expected one label an example, got {values!r}.")
    array = np.asarray(values)
    if isinstance(values, list | tuple):  # numpy may have turned these into text
        array = np.empty(len(values), dtype=object)
        array[:] = values
    if array.dtype.kind == "f":
        return np.asarray(np.isnan(array))
    if array.dtype.kind != "O":
        return np.zeros(len(array), dtype=bool)
    return np.asarray((array == None) | (array != array), dtype=bool)  # noqa: E711, PLR0124


def _filled(values: Any, absent: NDArray[np.bool_], label: Label) -> Any:
    """Return labels with `label` in place of missing ones, so that the others can be parsed."""
    if not absent.any():
        return values
    array = np.asarray(values)
    if array.dtype.kind == "f" and not isinstance(label, str):
        return np.where(absent, np.float64(label), array)  # type: ignore[arg-type]
    filled = np.empty(len(absent), dtype=object)
    filled[:] = values if isinstance(values, list | tuple) else np.asarray(values, dtype=object)
    filled[absent] = label
    return filled


def _check_population(population: Any) -> None:
    if population is None or (isinstance(population, str) and population == INFINITE):
        return
    raise InputError(
        "population",
        f"expected {INFINITE!r} or nothing, got {population!r}: where labels are missing, the rows "
        "that are given are the population.",
    )


def _check_verified(verified: Mapping[Any, Any], blocks: _Cells, absent: NDArray[np.bool_]) -> None:
    """Raise if the labelled share of the rows of a decision contradicts the stated share."""
    from scipy.stats import binomtest

    for decided in dict.fromkeys(blocks.decided):
        key = decided if len(decided) > 1 else decided[0]
        inside = np.isin(blocks.codes, [k for k, d in enumerate(blocks.decided) if d == decided])
        rows, labelled = int(inside.sum()), int((inside & ~absent).sum())
        if key not in verified:
            raise LabelError(
                "verified",
                f"expected a share for each of the decisions, it misses {key!r} ({rows} rows).",
            )
        share = validate.one_number(verified[key], "verified")
        if not 0 <= share <= 1:
            raise InputError("verified", f"expected a share from 0 to 1 for {key!r}, got {share}.")
        if binomtest(labelled, rows, share).pvalue < BEYOND_CHANCE:
            raise InputError(
                "verified",
                f"{percent(labelled / rows)} of the {number(rows)} rows decided {key!r} have "
                f"labels ({number(labelled)}), which is not {percent(share)} by chance.",
                "Give the share that was labelled at random; if it was not at random, give "
                "unlabelled='bounds'.",
            )
    known = [each if len(each) > 1 else each[0] for each in blocks.decided]
    strange = [key for key in verified if key not in known]
    if strange:
        raise LabelError(
            "verified", f"{strange[0]!r} is not among the decisions: {listing(known)}."
        )


def missing_for_a_reason(error: LabelError) -> LabelError:
    """Return the error on missing labels, with the arguments that describe why they are missing."""
    if error.argument != "y_true" or " is missing " not in error.problem:
        return error
    return LabelError(
        error.argument,
        error.problem,
        f"{error.remedy} Or say why they are missing: with judge= where labels are on a random "
        "sample and every row has a verdict, verified= where the share labelled at random is known "
        "for each decision, unlabelled='bounds' where nothing is known.",
    )


def check_matrix(costs: Any) -> None:
    """Raise for costs of single examples, which are unknown without labels."""
    if not isinstance(costs, CostMatrix):
        raise DesignError(
            "costs",
            "costs of single examples need the label of each; where labels are missing, give a "
            "CostMatrix.",
            "For amounts, plan the labels with Pool.from_frame(amount=).",
        )
