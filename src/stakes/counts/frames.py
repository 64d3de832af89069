"""Count label combinations where a data frame lives; only the table of counts is collected."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes import _validate
from stakes._columns import MOST_LABELS, Column, as_column
from stakes._labels import is_missing, listing, plain
from stakes.counts.arrays import MOST_CELLS
from stakes.counts.damage import kinds_of_partitions
from stakes.counts.engines import as_frame, collected, column
from stakes.counts.labelled import weight_amounts
from stakes.errors import InputError, LabelError

Amounts = list[NDArray[Any] | None]


def group(
    frame: Any, columns: Sequence[str], weight: str | None = None, *, any_number: Sequence[str] = ()
) -> tuple[list[Column], Amounts]:
    """Group a frame by label columns.

    Returns the labels of each group, and its amounts: the number of rows or, with a weight, the
    sum of the weights and the sum of their squares. Columns named in `any_number` may have more
    different labels than a class has.
    """
    wrapped = as_frame(frame, columns, [] if weight is None else [weight])
    keys = _keys(columns)
    parts = {key: column(wrapped, name) for key, name in zip(keys, columns, strict=True)}
    table = _grouped(wrapped, parts, columns, weight, most=MOST_CELLS)
    rows = table["rows"].to_numpy()
    labels = []
    for name, key in zip(columns, keys, strict=True):
        values = table[key].to_list()
        if wrapped.implementation.is_dask():
            check_one_kind(wrapped.to_native(), name, values, rows)
        most = None if name in any_number else MOST_LABELS
        labels.append(label_column(values, f"column {name!r}", rows, most))
    return labels, amounts_in(table, weight)


def scored(
    frame: Any, actual: str, score: Sequence[str], weight: str | None
) -> tuple[Column, list[NDArray[np.float64]], Amounts]:
    """Return the labels, the scores of each scorer, and the amounts of a frame.

    Those of the rows, if the frame is in memory anyway; of a lazy frame those of the distinct
    combinations of label and scores.
    """
    import narwhals as nw

    wrapped = as_frame(frame, [actual], [*score, *([] if weight is None else [weight])])
    label_name, weight_name = (f"column {name!r}" for name in (actual, weight))
    if not isinstance(wrapped, nw.LazyFrame):
        labels = as_column(wrapped[actual].to_native(), label_name)
        found = [_validate.scores(wrapped[name].to_native(), f"column {name!r}") for name in score]
        weights = None if weight is None else wrapped[weight].to_native()
        return labels, found, weight_amounts(weights, len(labels), weight_name, label_name)

    label_key, *score_keys = _keys([actual, *score])
    parts = {label_key: column(wrapped, actual)}
    for key, name in zip(score_keys, score, strict=True):
        parts[key] = column(wrapped, name).cast(nw.Float64)
    table = _grouped(wrapped, parts, [actual, *score], weight)
    rows = table["rows"].to_numpy()
    found = []
    for key, name in zip(score_keys, score, strict=True):
        scores = table[key].to_numpy().astype(np.float64, copy=False)
        check_scored(scores, rows, name)
        found.append(scores)
    return (
        label_column(table[label_key].to_list(), label_name, rows),
        found,
        amounts_in(table, weight),
    )


def _keys(columns: Sequence[str]) -> list[str]:
    return [f"key_{i}" for i in range(len(columns))]  # one column may play two parts


def _grouped(
    wrapped: Any,
    parts: dict[str, Any],
    columns: Sequence[str],
    weight: str | None,
    most: int | None = None,
) -> Any:
    """Group where the frame lives, and collect a row for each group, at most so many."""
    selected = [part.alias(key) for key, part in parts.items()]
    selected += weight_columns(wrapped, weight)

    def groups() -> Any:
        table = wrapped.select(selected).group_by(list(parts)).agg(sums_of(weight))
        return table if most is None else table.head(most + 1)

    table = collected_groups(wrapped, columns, groups)
    if most is not None and len(table) > most:
        raise InputError(
            f"columns {', '.join(map(repr, columns))}: more than {most} different combinations are "
            "too many to tabulate. Are there scores or identifiers among the labels? Pass the "
            "decided classes, and no more groups than are needed."
        )
    return table


def weight_columns(wrapped: Any, weight: str | None) -> list[Any]:
    """Return the columns that weights are added up from; none without a weight."""
    import narwhals as nw

    if weight is None:
        return []
    each = column(wrapped, weight).cast(nw.Float64)
    return [each.alias("weight"), (each * each).alias("square")]


def sums_of(weight: str | None) -> list[Any]:
    """Return what is counted and added up in each group, of which `amounts_in` makes amounts."""
    import narwhals as nw

    rows, each = nw.len().alias("rows"), nw.col("weight")
    if weight is None:
        return [rows]
    return [
        rows,
        each.sum().alias("sum"),
        nw.col("square").sum().alias("squares"),
        each.min().alias("least"),
        each.max().alias("most"),
        each.count().alias("known"),
    ]


def collected_groups(wrapped: Any, columns: Sequence[str], groups: Callable[[], Any]) -> Any:
    """Collect a row for each group; a frame without rows is an error."""
    table = collected(wrapped, columns, groups)
    if not len(table):
        raise InputError("frame is empty: at least one example is needed.")
    return table


def check_scored(scores: NDArray[np.float64], rows: NDArray[Any], name: str) -> None:
    """Refuse a column in which rows have no score."""
    missing = np.isnan(scores)
    if missing.any():
        raise InputError(
            f"column {name!r}: expected numbers, {rows[missing].sum()} rows have no score. "
            "Leave out the examples that have no score."
        )


def check_one_kind(frame: Any, name: str, values: list[Any], rows: NDArray[Any]) -> None:
    """Refuse a column whose partitions disagree on whether labels are text or numbers."""
    known = [(value, n) for value, n in zip(values, rows, strict=True) if not is_missing(value)]
    text = sum(int(n) for value, n in known if isinstance(value, str))
    others = sum(int(n) for value, n in known if not isinstance(value, str))
    if not (text and others):
        return
    kinds = kinds_of_partitions(frame, name)
    raise LabelError(
        f"column {name!r}: {text} rows have text as labels (in the partitions "
        f"{listing(kinds['text'])}) and {others} rows have numbers (in the partitions "
        f"{listing(kinds['numbers'])}). Convert all to one type, e.g. with astype(str)."
    )


def label_column(
    values: list[Any], name: str, rows: NDArray[Any], most: int | None = MOST_LABELS
) -> Column:
    """Return the labels of groups that stand for so many rows, none of them missing."""
    missing = np.array([is_missing(value) for value in values])
    if missing.any():
        raise LabelError(
            f"{name}: {rows[missing].sum()} rows have no label. "
            "Leave out the examples that have no label, or give them one."
        )
    return replace(as_column([plain(value) for value in values], name, most), repeats=rows)


def amounts_in(table: Any, weight: str | None) -> Amounts:
    """Return the numbers of rows or, with a weight, its sums and those of its squares, checked."""
    if weight is None:
        return [table["rows"].to_numpy()]
    name = f"column {weight!r}"
    least, most, total, squares = (
        table[key].to_numpy() for key in ("least", "most", "sum", "squares")
    )
    # Some engines leave NaN out of the largest, but all have it in the sum.
    absent = table["known"].sum() < table["rows"].sum() or np.isnan(total).any()
    if absent or np.isinf(most).any() or np.isinf(least).any():
        raise InputError(f"{name}: expected finite weights, got missing or infinite ones.")
    if (least < 0).any():
        raise InputError(f"{name}: weights cannot be negative, got {least.min()}.")
    if not total.any():
        raise InputError(f"{name}: all weights are zero; at least one must be positive.")
    if not np.isfinite(squares).all() or most.max() > np.sqrt(np.finfo(float).max / len(table)):
        raise _validate.too_heavy(name, most.max())
    return [total, squares]
