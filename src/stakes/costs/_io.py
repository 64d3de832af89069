"""Cost matrices as text: CSV, TSV, JSON and Weka's ``.cost``.

Each parser names the file, row and column of what it cannot read; rows and columns count from one,
as a spreadsheet shows them.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from stakes._core.labels import Label, LabelMatcher, Labels, as_axes, as_labels
from stakes._core.text import cell_text, csv_text, exact
from stakes._core.validate import Orientation, orientation
from stakes.costs._axes import (
    MatrixTable,
    agreed_orientation,
    check_same,
    corner_orientation,
    label_meanings,
    misspelt,
    positions,
    unknown,
)
from stakes.errors import FileError, InputError, InputTypeError, RefusedInputError
from stakes.read import as_path, read_text, write_text

Matrix = TypeVar("Matrix")

Line = tuple[int, str]
"""A line's number, from one, and its text without comments."""

SIZES = 2
"""Number of sizes in the first line of the usual format."""


# The first cell, in quotes or not, and the character after it.
_FIRST_CELL = re.compile(r'\s*(?:"(?:[^"]|"")*"|[^",;\r\n]*)[ \t]*([,;])')

Row = tuple[int, list[str]]
"""The line in which a row begins, from one, and its cells."""


def read_matrix(
    path: Any, make: Callable[[MatrixTable], Matrix], *, rows: str | None, labels: Any
) -> Matrix:
    """Read a cost matrix in the format given by the suffix of the file's name.

    `make` validates the table and makes the matrix; its errors are raised with the file's name.
    """
    parse = _PARSERS.get(_suffix(as_path(path)))
    source = str(path)
    if parse is None:
        raise FileError(source, "expected a name ending in .csv, .tsv, .json or .cost (Weka).")
    if rows is not None:
        orientation(rows)
    known = None if labels is None else as_labels(labels, "labels")
    text = read_text(path)
    if not text.strip():
        raise FileError(source, "the file is empty; expected a cost matrix.")
    try:
        return make(parse(text, rows, known, source))
    except FileError:
        raise
    except RefusedInputError as error:
        place = ", ".join(filter(None, (source, error.argument)))
        raise FileError(place, error.problem, error.remedy) from error
    except (RecursionError, OverflowError) as error:
        raise FileError(
            source, f"nested too deeply, or with numbers too large, for a cost matrix: {error}."
        ) from error


def write_matrix(costs: MatrixTable, path: Any) -> None:
    """Write a cost matrix in the format given by the suffix of the file's name."""
    render = _RENDERERS.get(_suffix(as_path(path)))
    if render is None:
        raise InputError(
            "path", f"expected a name ending in .csv, .tsv, .json or .cost; got {path}."
        )
    write_text(path, render(costs))


def _suffix(path: str | os.PathLike[str]) -> str:
    return Path(path).suffix.lower()


def _file_orientation(rows: str | None, stated: Orientation | None, place: str) -> Orientation:
    """Return the orientation from the caller's `rows` and the file; `place` names the file."""
    if rows is not None and stated is not None and orientation(rows) != stated:
        raise FileError(
            place,
            f"its rows are {stated}, got rows={rows!r}.",
            "Leave out rows=, or correct the file.",
        )
    try:
        return agreed_orientation(rows, stated, place)
    except InputTypeError as error:
        raise FileError(error.argument, error.problem, error.remedy) from error


def numbers(cells: Sequence[str], size: int, row: str, first_column: int) -> list[float]:
    """Read a row of costs; `row` names the file and the row, for messages."""
    if len(cells) != size:
        raise FileError(
            f"{row}, column {first_column + min(len(cells), size)}",
            f"expected {size} costs in this row, got {len(cells)}.",
        )
    values = []
    for column, cell in enumerate(cells, first_column):
        value = _number(cell)
        if value is None or not math.isfinite(value):
            raise FileError(
                f"{row}, column {column}", f"expected a finite number as the cost, got {cell!r}."
            )
        values.append(value)
    return values


def _number(cell: str) -> float | None:
    try:
        return float(cell)
    except ValueError:
        return None


# -- CSV and TSV


def _parse_delimited(text: str, rows: str | None, known: Labels | None, source: str) -> MatrixTable:
    (top, header), *body = _table(text, source)
    oriented = _file_orientation(
        rows, corner_orientation(header[0]), f"{source}, line {top}, column 1"
    )
    if not body or len(header) == 1:
        raise FileError(
            source,
            "expected labels in the first row and the first column, and a row of costs for each "
            f"label, got {len(body)} rows of {len(header) - 1} costs.",
        )
    values = [
        numbers(row[1:], len(header) - 1, f"{source}, line {number}", first_column=2)
        for number, row in body
    ]
    across = [
        (cell_text(cell), f"line {top}, column {column}")
        for column, cell in enumerate(header[1:], 2)
    ]
    down = [(cell_text(row[0]), f"line {number}, column 1") for number, row in body]
    actual, decided = (across, down) if oriented == "predicted" else (down, across)
    labels, decisions = _axis_labels(actual, decided, known, source)
    return MatrixTable(values, oriented, labels, decisions)


def _table(text: str, source: str) -> list[Row]:
    """Split a text into its rows, without blank lines and without empty rows at its ends."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, source))
    table, begun = [], 1
    try:
        for row in reader:  # a cell in quotes may continue on the next line
            table.append((begun, [cell.strip() for cell in row]))
            begun = reader.line_num + 1
    except csv.Error as error:
        raise FileError(f"{source}, line {reader.line_num}", f"not a table: {error}.") from error
    table = [(line, row) for line, row in table if len(row) > 1 or any(row)]
    filled = [position for position, (_, row) in enumerate(table) if any(row)]
    if not filled:
        raise FileError(source, "all cells are empty; expected a cost matrix.")
    return table[filled[0] : filled[-1] + 1]


def _delimiter(text: str, source: str) -> str:
    if _suffix(source) == ".tsv":
        return "\t"
    found = _FIRST_CELL.match(text)
    return found[1] if found else ","


def _axis_labels(
    actual: Sequence[tuple[str, str]],
    decided: Sequence[tuple[str, str]],
    known: Labels | None,
    source: str,
) -> tuple[list[Label], list[Label]]:
    """Convert the texts of both axes to labels; each text comes with its place in the file."""
    for text, place in [*actual, *decided]:
        if not text:
            raise FileError(f"{source}, {place}", "a label is missing.")
    texts = [text for text, _ in actual]
    matcher = LabelMatcher(known or (), "text")
    for text, place in actual:
        if known is not None and not matcher.knows(text):
            error = unknown(text, known)
            raise FileError(f"{source}, {place}", error.problem, error.remedy)
    labels, decisions = label_meanings(texts, [text for text, _ in decided], known)
    for found, places in ((labels, actual), (decisions, decided)):
        _check_once(found, [place for _, place in places], source)
    check_same(labels, known)
    slip = misspelt(labels, decisions)
    if slip is not None:
        raise FileError(f"{source}, {actual[slip[0]][1]}", slip[1])
    return labels, decisions


def _check_once(labels: Sequence[Label], places: Sequence[str], source: str) -> None:
    """Check that no label of an axis occurs twice; the places are those of the labels."""
    seen: dict[Label, str] = {}
    for label, place in zip(labels, places, strict=True):
        if label in seen:
            raise FileError(
                f"{source}, {place}",
                f"the label {label!r} occurs twice (first in {seen[label]}).",
                "Give each label once.",
            )
        seen[label] = place


def _render_delimited(costs: MatrixTable, delimiter: str) -> str:
    cells = zip(costs.decisions, costs.values.tolist(), strict=True)
    rows = [[decision, *map(exact, row)] for decision, row in cells]
    return csv_text(["predicted\\actual", *costs.labels], rows, delimiter)


# -- JSON


def _parse_json(text: str, rows: str | None, known: Labels | None, source: str) -> MatrixTable:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise FileError(
            f"{source}, line {error.lineno}, column {error.colno}", f"not JSON: {error.msg}."
        ) from error
    except ValueError as error:  # a number of thousands of digits
        raise FileError(source, f"cannot be read as JSON: {error}.") from error
    if not isinstance(content, dict) or not {"labels", "values"} <= set(content):
        raise FileError(
            source,
            'expected an object such as {"rows": "predicted", "labels": ["no", '
            '"yes"], "values": [[0, 10], [1, 0]]}.',
        )
    stated = content.get("rows")
    oriented = _file_orientation(rows, None if stated is None else orientation(stated), source)
    labels, decisions = as_axes(content["labels"], content.get("decisions"))
    check_same(labels, known)
    return MatrixTable(content["values"], oriented, labels, decisions)


def _render_json(costs: MatrixTable) -> str:
    content = {
        "rows": costs.rows,
        "labels": list(costs.labels),
        "decisions": list(costs.decisions),
        "values": costs.values.tolist(),
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


# -- Weka: the rows of a ``.cost`` file are the actual class, and it has no labels


def _parse_weka(text: str, rows: str | None, known: Labels | None, source: str) -> MatrixTable:
    _file_orientation(rows, "actual", f"{source}, a Weka file")
    return matrix_from_weka(text, known, source)


def matrix_from_weka(text: Any, labels: Any, source: str) -> MatrixTable:
    """Parse Weka's cost matrix: rows are the actual class, ``%`` starts a comment."""
    if not isinstance(text, str):
        raise InputTypeError(
            "text",
            f"expected the text of a Weka cost file, got {text!r} ({type(text).__name__}).",
            "To read a file use CostMatrix.read(path, labels=...).",
        )
    if labels is None:
        raise InputTypeError(
            "labels",
            "a Weka file has no labels.",
            "Pass them in the order of its class attribute, e.g. labels=['good', 'bad'].",
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
    return MatrixTable(values, "actual", classes, classes)


def weka_text(costs: MatrixTable) -> str:
    """Return the matrix in Weka's usual format, with the labels in a comment."""
    if set(costs.decisions) != set(costs.labels):
        raise InputError(
            "costs",
            "a Weka file has the same decisions and classes, here they differ.",
            "Use .csv or .json.",
        )
    size = len(costs.labels)
    order = positions(costs.labels, tuple(costs.decisions), "decision")
    rows = ["\t".join(map(exact, row)) for row in costs.values[order].T.tolist()]
    names = " ".join(", ".join(map(str, costs.labels)).split())
    return "\n".join([f"% rows: actual, columns: predicted; {names}", f"{size}\t{size}", *rows, ""])


def _bracketed(lines: Sequence[Line], source: str) -> list[Line]:
    """Split the one-line form ``[0 1; 5 0]`` into its rows."""
    number = lines[0][0]
    body = " ".join(line for _, line in lines)
    if not body.endswith("]"):
        raise FileError(f"{source}, line {lines[-1][0]}", "expected ']' at the end of the matrix.")
    rows = body[1:-1].replace(",", " ").split(";")
    if not rows[-1].strip():  # the last row may end with a semicolon
        rows.pop()
    return [(number, row) for row in rows]


def _check_sizes(line: Line, classes: Labels, source: str) -> None:
    number, text = line
    size = len(classes)
    sizes = text.split()
    if len(sizes) != SIZES or any(part != str(size) for part in sizes):
        raise FileError(
            f"{source}, line {number}",
            f"expected the numbers of rows and columns, {size} {size} for {size} labels, got "
            f"{text!r}.",
            "Pass one label for each class of the file.",
        )


def _rows(lines: Sequence[Line], classes: Labels, source: str) -> list[list[float]]:
    size = len(classes)
    if len(lines) != size:
        raise FileError(
            source, f"expected {size} rows of costs, one for each label, got {len(lines)}."
        )
    return [_costs(line.split(), size, f"{source}, line {number}") for number, line in lines]


def _costs(cells: Sequence[str], size: int, row: str, first_column: int = 1) -> list[float]:
    """Read a row of costs; an expression may hold blanks, so it is refused before counting."""
    for column, cell in enumerate(cells, first_column):
        if _number(cell) is None:
            raise FileError(
                f"{row}, column {column}",
                f"expected a number as the cost, got {cell!r}; Weka's expressions are not "
                "supported.",
                "Compute the costs of each example and use ExampleCosts.",
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
                row,
                "expected three numbers, the actual class, the predicted class and the cost, got "
                f"{line!r}.",
            )
        for column, cell in enumerate(cells[:SIZES], 1):
            if cell not in map(str, range(size)):
                raise FileError(
                    f"{row}, column {column}",
                    f"expected the index of a class, from 0 to {size - 1}, got {cell!r}.",
                    "Pass one label for each class.",
                )
        place = int(cells[0]), int(cells[1])
        if place in seen:
            raise FileError(row, f"the cost of {cells[0]} {cells[1]} occurs twice.")
        seen.add(place)
        values[place] = _costs(cells[SIZES:], 1, row, first_column=3)[0]
    return values


_PARSERS: dict[str, Callable[[str, str | None, Labels | None, str], MatrixTable]] = {
    ".csv": _parse_delimited,
    ".tsv": _parse_delimited,
    ".json": _parse_json,
    ".cost": _parse_weka,
}
_RENDERERS: dict[str, Callable[[MatrixTable], str]] = {
    ".csv": lambda costs: _render_delimited(costs, ","),
    ".tsv": lambda costs: _render_delimited(costs, "\t"),
    ".json": _render_json,
    ".cost": weka_text,
}
