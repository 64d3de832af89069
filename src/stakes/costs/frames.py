"""The cost matrix as a data frame of any library that narwhals knows."""

from __future__ import annotations

from typing import Any

import numpy as np

from stakes import _validate
from stakes._labels import Label, plain
from stakes._validate import Orientation
from stakes.costs.axes import agreed_orientation, corner_orientation, label_meanings, misspelt
from stakes.costs.matrix import CostMatrix
from stakes.errors import InputError, InputTypeError, LabelError, MissingExtraError

CORNER = "predicted\\actual"
BACKENDS = ("pandas", "polars", "pyarrow", "modin", "cudf")

NO_NAME = ("", "Unnamed: 0")
"""What the first column is called when a table without a corner cell was read from a file."""


def matrix_from_frame(frame: Any, rows: str | None) -> CostMatrix:
    """Read the labels off a frame's axes, or off its first column where it has no index."""
    import narwhals as nw

    try:
        table = nw.from_native(frame, eager_only=True)
        columns = [plain(name) for name in table.columns]
        cells = table.rows()
    except TypeError as error:
        raise InputTypeError(
            f"frame: expected a data frame (pandas, polars, pyarrow …), got "
            f"{type(frame).__name__}. For an array use CostMatrix(values, rows=, labels=)."
        ) from error
    except ValueError as error:  # two columns of the same name
        raise LabelError(f"frame: cannot be read: {error}") from error
    if not columns or not cells:
        raise InputError(f"frame: expected a cost matrix, got a frame of shape {table.shape}.")
    index = nw.maybe_get_index(table)
    corner = corner_orientation(str(columns[0]))
    typed = corner is None and index is not None and not _holds_labels(index, columns[0])
    if typed:
        corner = _said_by_axes(frame.index.name, getattr(frame.columns, "name", None))
        down = [plain(label) for label in frame.index]
    else:
        down = [row[0] for row in cells]
        columns, cells = columns[1:], [row[1:] for row in cells]
    oriented = agreed_orientation(rows, corner, "frame")
    labels, decisions = (columns, down) if oriented == "predicted" else (down, columns)
    labels, decisions = _meanings(labels, decisions, typed=typed)
    slip = misspelt(labels, decisions)
    if slip is not None:
        raise LabelError(f"frame: {slip[1]}")
    return CostMatrix(cells, rows=oriented, labels=labels, decisions=decisions)


def matrix_to_frame(costs: CostMatrix, backend: Any) -> Any:
    """Write the labels into pandas' axes, or into a first column, as text, elsewhere."""
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
        data = {CORNER: [*map(str, costs.decisions)], **columns}
        return nw.from_dict(data, backend=backend).to_native()
    except ImportError as error:
        raise MissingExtraError(
            f"to_frame needs {backend}, which is not installed: pip install {backend}"
        ) from error


def _meanings(
    labels: list[Label], decisions: list[Label], *, typed: bool
) -> tuple[list[Label], list[Label]]:
    """Read the labels of text axes as those of a file; `typed` axes may be text on purpose.

    Most libraries have only text as the names of columns, whatever the labels were.
    """
    text = [all(isinstance(label, str) for label in axis) for axis in (labels, decisions)]
    if typed and all(text):
        return labels, decisions
    known = None if text[0] else tuple(labels)
    meant = label_meanings([*map(str, labels)], [*map(str, decisions)], known)
    return meant[0] if text[0] else labels, meant[1] if text[1] else decisions


def _holds_labels(index: Any, first: Any) -> bool:
    """Tell whether a frame with an index has its labels in the first column all the same."""
    return first in NO_NAME and index.name is None and list(index) == list(range(len(index)))


def _said_by_axes(down: Any, across: Any) -> Orientation | None:
    """Read the orientation off the names of pandas' axes, of which one is enough."""
    names = [str(name).strip().lower() for name in (down, across)]
    if names[0] == names[1] and names[0] in ("predicted", "actual"):
        raise InputError(
            f"frame: its rows and its columns are both named {names[0]!r}; one must be predicted, "
            "the other actual."
        )
    if "predicted" in names:
        return "predicted" if names[0] == "predicted" else "actual"
    if "actual" in names:
        return "actual" if names[0] == "actual" else "predicted"
    return None
