"""The cost matrix as a data frame of any library that narwhals knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from stakes import _validate
from stakes.costs.formats import agreed_orientation, corner_orientation, in_class_order
from stakes.costs.matrix import CostMatrix
from stakes.errors import InputError, InputTypeError, MissingExtraError

CORNER = "predicted\\actual"
BACKENDS = ("pandas", "polars", "pyarrow", "modin", "cudf")


def matrix_from_frame(frame: Any, rows: str | None) -> CostMatrix:
    """Read the labels off a frame's axes, or off its first column where it has no index."""
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
    except TypeError as error:
        raise InputTypeError(
            f"frame: expected a data frame (pandas, polars, pyarrow …), got "
            f"{type(frame).__name__}. For an array use CostMatrix(values, rows=, labels=)."
        ) from error
    columns = list(table.columns)
    if not columns or not len(table):
        raise InputError(f"frame: expected a cost matrix, got a frame of shape {table.shape}.")
    index = nw.maybe_get_index(table)
    corner = corner_orientation(str(columns[0]))
    if corner is None and index is not None:
        names = (index.name, getattr(frame.columns, "name", None))
        corner = corner_orientation("\\".join(map(str, names)))
        down = list(index)
    else:
        down = table[columns[0]].to_list()
        table, columns = table.drop(columns[0]), columns[1:]
    oriented = agreed_orientation(rows, corner, "frame")
    decisions, labels = (down, columns) if oriented == "predicted" else (columns, down)
    matrix = CostMatrix(table.rows(), rows=oriented, labels=labels, decisions=decisions)
    return in_class_order(matrix)


def matrix_to_frame(costs: CostMatrix, backend: Any) -> Any:
    """Write the labels into pandas' axes, or into a first column elsewhere."""
    _validate.choice(backend, "backend", BACKENDS)
    try:
        if backend == "pandas":
            import pandas as pd

            return pd.DataFrame(
                costs.values,
                index=pd.Index(costs.decisions, name="predicted"),
                columns=pd.Index(costs.labels, name="actual"),
            )
        import narwhals as nw

        columns = dict(
            zip(map(str, costs.labels), np.transpose(costs.values).tolist(), strict=True)
        )
        data = {CORNER: list(costs.decisions), **columns}
        return nw.from_dict(data, backend=backend).to_native()
    except ImportError as error:
        raise MissingExtraError(
            f"to_frame needs {backend}, which is not installed: pip install {backend}"
        ) from error
