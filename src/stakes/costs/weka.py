"""Weka's ``.cost`` text: the costs of a matrix whose rows are the actual class, without labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from stakes._labels import Labels, as_labels
from stakes._table import exact
from stakes.costs.axes import is_whole
from stakes.costs.matrix import CostMatrix
from stakes.errors import FileError, InputError, InputTypeError

Line = tuple[int, str]
"""A line's number, from one, and its text without comments."""

SIZES = 2
"""How many numbers the first line of the usual format has."""


def matrix_from_weka(text: Any, labels: Any, source: str) -> CostMatrix:
    """Parse Weka's cost matrix: rows are the actual class, ``%`` starts a comment."""
    if not isinstance(text, str):
        raise InputTypeError(
            f"text: expected the text of a Weka cost file, got {text!r} ({type(text).__name__}). "
            "To read a file use CostMatrix.read(path, labels=...)."
        )
    if labels is None:
        raise InputTypeError(
            "labels: a Weka file has no labels. Pass them in the order of its class attribute, "
            "e.g. labels=['good', 'bad']."
        )
    classes = as_labels(labels, "labels")
    lines = [
        (number, line.split("%")[0].strip()) for number, line in enumerate(text.splitlines(), 1)
    ]
    lines = [(number, line) for number, line in lines if line]
    if lines and lines[0][1].startswith("["):
        values = _rows(_bracketed(lines, source), classes, source)
    elif lines and len(lines[0][1].split()) == SIZES + 1:
        values = _entries(lines, classes, source)
    else:
        if lines:
            _check_sizes(lines[0], classes, source)
        values = _rows(lines[1:], classes, source)
    return CostMatrix(values, rows="actual", labels=classes)


def weka_text(costs: CostMatrix) -> str:
    """Write the matrix in the usual format; the labels stand in a comment."""
    if set(costs.decisions) != set(costs.labels):
        raise InputError(
            "costs: a Weka file has the same decisions and classes, here they differ. "
            "Use .csv or .json."
        )
    size = len(costs.labels)
    values = costs.values_for(costs.labels, costs.labels)
    rows = ["\t".join(map(exact, row)) for row in values.T.tolist()]
    names = " ".join(", ".join(map(str, costs.labels)).split())
    return "\n".join([f"% rows: actual, columns: predicted; {names}", f"{size}\t{size}", *rows, ""])


def numbers(cells: Sequence[str], size: int, row: str, first_column: int) -> list[float]:
    """Read a row of costs; `row` names the file and the row, for messages."""
    if len(cells) != size:
        raise FileError(
            f"{row}, column {first_column + min(len(cells), size)}: "
            f"expected {size} costs in this row, got {len(cells)}."
        )
    values = []
    for column, cell in enumerate(cells, first_column):
        value = _number(cell)
        if value is None or not math.isfinite(value):
            raise FileError(
                f"{row}, column {column}: expected a finite number as the cost, got {cell!r}."
            )
        values.append(value)
    return values


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


def _bracketed(lines: Sequence[Line], source: str) -> list[Line]:
    """Split the one-line form ``[0 1; 5 0]`` into its rows."""
    number = lines[0][0]
    body = " ".join(line for _, line in lines)
    if not body.endswith("]"):
        raise FileError(f"{source}, line {lines[-1][0]}: expected ']' at the end of the matrix.")
    rows = body[1:-1].replace(",", " ").split(";")
    if not rows[-1].strip():  # a semicolon may end the last row, too
        rows.pop()
    return [(number, row) for row in rows]


def _check_sizes(line: Line, classes: Labels, source: str) -> None:
    number, text = line
    size = len(classes)
    sizes = text.split()
    if len(sizes) != SIZES or any(part != str(size) for part in sizes):
        raise FileError(
            f"{source}, line {number}: expected the numbers of rows and columns, {size} {size} for "
            f"{size} labels, got {text!r}. Pass one label for each class of the file."
        )


def _rows(lines: Sequence[Line], classes: Labels, source: str) -> list[list[float]]:
    size = len(classes)
    if len(lines) != size:
        raise FileError(
            f"{source}: expected {size} rows of costs, one for each label, got {len(lines)}."
        )
    return [_costs(line.split(), size, f"{source}, line {number}") for number, line in lines]


def _costs(cells: Sequence[str], size: int, row: str, first_column: int = 1) -> list[float]:
    """Read a row of costs; an expression may hold blanks, so it is looked for before counting."""
    for column, cell in enumerate(cells, first_column):
        if _number(cell) is None:
            raise FileError(
                f"{row}, column {column}: expected a number as the cost, got {cell!r}. Weka's "
                "expressions are not supported: compute the costs of each example and use "
                "ExampleCosts."
            )
    return numbers(cells, size, row, first_column)


def _entries(lines: Sequence[Line], classes: Labels, source: str) -> Any:
    """Read the old format: a line ``actual predicted cost`` for each cost that is not 1."""
    size = len(classes)
    values = 1.0 - np.eye(size)
    seen = set()
    for number, line in lines:
        row = f"{source}, line {number}"
        cells = line.split()
        if len(cells) != SIZES + 1:
            raise FileError(
                f"{row}: expected three numbers, the actual class, the predicted class and the "
                f"cost, got {line!r}."
            )
        for column, cell in enumerate(cells[:SIZES], 1):
            if not is_whole(cell) or not 0 <= int(cell) < size:
                raise FileError(
                    f"{row}, column {column}: expected the index of a class, from 0 to {size - 1}, "
                    f"got {cell!r}. Pass one label for each class."
                )
        place = int(cells[0]), int(cells[1])
        if place in seen:
            raise FileError(f"{row}: the cost of {cells[0]} {cells[1]} stands twice.")
        seen.add(place)
        values[place] = _costs(cells[SIZES:], 1, row, first_column=3)[0]
    return values
