"""Count label combinations where a data frame lives; only the table of counts is collected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stakes._columns import Column, as_column
from stakes._labels import is_missing, plain
from stakes.errors import InputError, InputTypeError, LabelError


def as_frame(frame: Any, columns: Sequence[Any]) -> Any:
    """Wrap a native frame, eager or lazy, and check that it has the columns asked for."""
    import narwhals as nw

    try:
        wrapped = nw.from_native(frame)
    except TypeError as error:
        raise InputTypeError(
            f"frame: expected a data frame (pandas, polars, pyarrow …), got "
            f"{type(frame).__name__}. For arrays use from_labels or from_scores."
        ) from error
    known = wrapped.collect_schema().names()
    for column in columns:
        if column not in known:
            raise InputError(
                f"frame: there is no column {column!r}. It has: {', '.join(map(repr, known))}."
            )
    return wrapped


def group(
    frame: Any, columns: Sequence[str], weight: str | None
) -> tuple[list[Column], list[NDArray[Any]]]:
    """Group a frame by label columns.

    Returns the labels of each group, and its amounts: the number of rows or, with a weight, the
    sum of the weights and the sum of their squares.
    """
    import narwhals as nw

    wrapped = as_frame(frame, [*columns, *([] if weight is None else [weight])])
    keys = [f"key_{i}" for i in range(len(columns))]  # one column may play two parts
    parts = [nw.col(column).alias(key) for column, key in zip(columns, keys, strict=True)]
    sums = [nw.len().alias("rows")]
    if weight is not None:
        w = nw.col(weight).cast(nw.Float64)
        parts += [w.alias("weight"), (w * w).alias("square")]
        sums += [
            nw.col("weight").sum().alias("sum"),
            nw.col("square").sum().alias("squares"),
            nw.col("weight").min().alias("least"),
            nw.col("weight").count().alias("known"),
        ]
    table = wrapped.select(parts).group_by(keys).agg(sums)
    if isinstance(table, nw.LazyFrame):
        table = table.collect()
    if not len(table):
        raise InputError("frame is empty: at least one example is needed.")

    rows = table["rows"].to_numpy()
    labels = [
        _column(table[key].to_list(), f"column {column!r}", rows)
        for column, key in zip(columns, keys, strict=True)
    ]
    if weight is None:
        return labels, [rows]
    _check_weights(table, weight)
    return labels, [table["sum"].to_numpy(), table["squares"].to_numpy()]


def _column(values: list[Any], name: str, rows: NDArray[Any]) -> Column:
    missing = np.array([is_missing(value) for value in values])
    if missing.any():
        raise LabelError(
            f"{name}: {rows[missing].sum()} rows have no label. "
            "Leave out the examples that have no label, or give them one."
        )
    return replace(as_column([plain(value) for value in values], name), repeats=rows)


def _check_weights(table: Any, weight: str) -> None:
    least, total = table["least"].to_numpy(), table["sum"].to_numpy()
    if table["known"].sum() < table["rows"].sum() or not np.isfinite(total).all():
        raise InputError(
            f"column {weight!r}: expected finite weights, got missing or infinite ones."
        )
    if (least < 0).any():
        raise InputError(f"column {weight!r}: weights cannot be negative, got {least.min()}.")
    if not total.any():
        raise InputError(f"column {weight!r}: all weights are zero; at least one must be positive.")


def columns_of(frame: Any, names: Sequence[str]) -> list[Any]:
    """Return columns of a frame, collected if it is lazy."""
    import narwhals as nw

    wrapped = as_frame(frame, names)
    selected = wrapped.select(list(dict.fromkeys(names)))
    if isinstance(selected, nw.LazyFrame):
        selected = selected.collect()
    return [selected[name].to_native() for name in names]
