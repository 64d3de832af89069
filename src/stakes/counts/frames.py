"""Count label combinations where a data frame lives; only the table of counts is collected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes import _validate
from stakes._columns import Column, as_column
from stakes._labels import is_missing, plain
from stakes.counts.labelled import weight_amounts
from stakes.errors import InputError, InputTypeError, LabelError

Amounts = list[NDArray[Any] | None]


def as_frame(frame: Any, columns: Sequence[Any], numbers: Sequence[Any] = ()) -> Any:
    """Wrap a native frame, eager or lazy, and check that it has the columns asked for."""
    import narwhals as nw

    try:
        wrapped = nw.from_native(frame)
        schema = wrapped.collect_schema()
    except TypeError as error:
        raise InputTypeError(
            f"frame: expected a data frame (pandas, polars, pyarrow …), got "
            f"{type(frame).__name__}. For arrays use from_labels or from_scores."
        ) from error
    except nw.exceptions.NarwhalsError as error:
        what = " ".join(str(error).split())
        raise InputError(f"frame: its columns cannot be told apart: {what}.") from error
    known = list(schema)
    for column in (*columns, *numbers):
        if column not in known:
            raise InputError(
                f"frame: there is no column {column!r}. It has: {', '.join(map(repr, known))}."
            )
    for column in numbers:
        kind = schema[column]
        if not (kind.is_numeric() or kind == nw.Boolean):
            raise InputError(
                f"column {column!r}: expected numbers, got a column of type {kind}. "
                "Convert it to numbers first."
            )
    return wrapped


def group(frame: Any, columns: Sequence[str], weight: str | None) -> tuple[list[Column], Amounts]:
    """Group a frame by label columns.

    Returns the labels of each group, and its amounts: the number of rows or, with a weight, the
    sum of the weights and the sum of their squares.
    """
    import narwhals as nw

    wrapped = as_frame(frame, columns, [] if weight is None else [weight])
    keys = _keys(columns)
    table = _grouped(
        wrapped, {key: nw.col(column) for key, column in zip(keys, columns, strict=True)}, weight
    )
    rows = table["rows"].to_numpy()
    labels = [
        _column(table[key].to_list(), f"column {column!r}", rows)
        for column, key in zip(columns, keys, strict=True)
    ]
    return labels, _amounts(table, weight)


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
        column = as_column(wrapped[actual].to_native(), label_name)
        found = [_validate.scores(wrapped[name].to_native(), f"column {name!r}") for name in score]
        weights = None if weight is None else wrapped[weight].to_native()
        return column, found, weight_amounts(weights, len(column), weight_name, label_name)

    label_key, *score_keys = _keys([actual, *score])
    casts = {
        key: nw.col(name).cast(nw.Float64) for key, name in zip(score_keys, score, strict=True)
    }
    table = _grouped(wrapped, {label_key: nw.col(actual), **casts}, weight)
    rows = table["rows"].to_numpy()
    found = []
    for key, name in zip(score_keys, score, strict=True):
        scores = table[key].to_numpy().astype(np.float64, copy=False)
        missing = np.isnan(scores)
        if missing.any():
            raise InputError(
                f"column {name!r}: expected numbers, {rows[missing].sum()} rows have no score. "
                "Leave out the examples that have no score."
            )
        found.append(scores)
    return _column(table[label_key].to_list(), label_name, rows), found, _amounts(table, weight)


def _keys(columns: Sequence[str]) -> list[str]:
    return [f"key_{i}" for i in range(len(columns))]  # one column may play two parts


def _grouped(wrapped: Any, parts: dict[str, Any], weight: str | None) -> Any:
    """Group where the frame lives, and collect a row for each group."""
    import narwhals as nw

    selected = [part.alias(key) for key, part in parts.items()]
    sums = [nw.len().alias("rows")]
    if weight is not None:
        w = nw.col(weight).cast(nw.Float64)
        selected += [w.alias("weight"), (w * w).alias("square")]
        sums += [
            nw.col("weight").sum().alias("sum"),
            nw.col("square").sum().alias("squares"),
            nw.col("weight").min().alias("least"),
            nw.col("weight").max().alias("most"),
            nw.col("weight").count().alias("known"),
        ]
    table = wrapped.select(selected).group_by(list(parts)).agg(sums)
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    if not len(table):
        raise InputError("frame is empty: at least one example is needed.")
    return table


def _column(values: list[Any], name: str, rows: NDArray[Any]) -> Column:
    missing = np.array([is_missing(value) for value in values])
    if missing.any():
        raise LabelError(
            f"{name}: {rows[missing].sum()} rows have no label. "
            "Leave out the examples that have no label, or give them one."
        )
    return replace(as_column([plain(value) for value in values], name), repeats=rows)


def _amounts(table: Any, weight: str | None) -> Amounts:
    """Return the numbers of rows or, with a weight, its sums and those of its squares, checked."""
    if weight is None:
        return [table["rows"].to_numpy()]
    name = f"column {weight!r}"
    least, most, total, squares = (
        table[key].to_numpy() for key in ("least", "most", "sum", "squares")
    )
    if table["known"].sum() < table["rows"].sum() or not np.isfinite(most).all():
        raise InputError(f"{name}: expected finite weights, got missing or infinite ones.")
    if (least < 0).any():
        raise InputError(f"{name}: weights cannot be negative, got {least.min()}.")
    if not total.any():
        raise InputError(f"{name}: all weights are zero; at least one must be positive.")
    if not np.isfinite(squares).all() or most.max() > np.sqrt(np.finfo(float).max / len(table)):
        raise _validate.too_heavy(name, most.max())
    return [total, squares]
