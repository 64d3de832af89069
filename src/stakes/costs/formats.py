"""The cost matrix as text: CSV, TSV, JSON and Weka's ``.cost``.

Each parser names the file, row and column of what it cannot read; rows and columns count from one,
as a spreadsheet shows them.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from stakes._labels import Label, Labels, as_axes, as_labels
from stakes._table import exact
from stakes._validate import Orientation, orientation
from stakes.costs.axes import (
    agreed_orientation,
    check_same,
    corner_orientation,
    label_meanings,
    misspelt,
    unknown,
)
from stakes.costs.matrix import CostMatrix
from stakes.costs.weka import matrix_from_weka, numbers, weka_text
from stakes.errors import FileError, InputError, LabelError, StakesError
from stakes.read import as_path, read_text, write_text

# The first cell, in quotes or not, and the character after it.
_FIRST_CELL = re.compile(r'\s*(?:"(?:[^"]|"")*"|[^",;\r\n]*)[ \t]*([,;])')

Row = tuple[int, list[str]]
"""A row's number, from one, and its cells."""


def read_matrix(path: Any, *, rows: str | None, labels: Any) -> CostMatrix:
    """Read a cost matrix in the format that the file's name ends with."""
    parse = _PARSERS.get(_suffix(as_path(path)))
    source = str(path)
    if parse is None:
        raise FileError(f"{source}: expected a file named .csv, .tsv, .json or .cost (Weka).")
    if rows is not None:
        orientation(rows)
    known = None if labels is None else as_labels(labels, "labels")
    text = read_text(path)
    if not text.strip():
        raise FileError(f"{source}: the file is empty; expected a cost matrix.")
    try:
        return parse(text, rows, known, source)
    except FileError:
        raise
    except StakesError as error:
        raise FileError(f"{source}: {error}") from error
    except (RecursionError, OverflowError) as error:
        raise FileError(
            f"{source}: nested too deeply, or with numbers too large, for a cost matrix: {error}."
        ) from error


def write_matrix(costs: CostMatrix, path: Any) -> None:
    """Write a cost matrix in the format that the file's name ends with."""
    render = _RENDERERS.get(_suffix(as_path(path)))
    if render is None:
        raise InputError(f"path: expected a name ending in .csv, .tsv, .json or .cost; got {path}.")
    write_text(path, render(costs))


def _suffix(path: str | os.PathLike[str]) -> str:
    return Path(path).suffix.lower()


def _file_orientation(rows: str | None, said: Orientation | None, place: str) -> Orientation:
    """Combine what the caller and the file say of the rows; `place` names the file."""
    try:
        return agreed_orientation(rows, said, place)
    except StakesError as error:
        raise FileError(str(error)) from error


# -- CSV and TSV


def _parse_delimited(text: str, rows: str | None, known: Labels | None, source: str) -> CostMatrix:
    (top, header), *body = _table(text, source)
    oriented = _file_orientation(
        rows, corner_orientation(header[0]), f"{source}, row {top}, column 1"
    )
    if not body or len(header) == 1:
        raise FileError(
            f"{source}: expected labels in the first row and the first column, and a row of costs "
            f"for each label, got {len(body)} rows of {len(header) - 1} costs."
        )
    values = [
        numbers(row[1:], len(header) - 1, f"{source}, row {number}", first_column=2)
        for number, row in body
    ]
    across = [(cell, f"row {top}, column {column}") for column, cell in enumerate(header[1:], 2)]
    down = [(row[0], f"row {number}, column 1") for number, row in body]
    actual, decided = (across, down) if oriented == "predicted" else (down, across)
    labels, decisions = _axis_labels(actual, decided, known, source)
    return CostMatrix(values, rows=oriented, labels=labels, decisions=decisions)


def _table(text: str, source: str) -> list[Row]:
    """Split a text into its rows, without the blank ones before and after."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, source))
    try:
        table = [(number, [cell.strip() for cell in row]) for number, row in enumerate(reader, 1)]
    except csv.Error as error:
        raise FileError(f"{source}, line {reader.line_num}: not a table: {error}.") from error
    filled = [position for position, (_, row) in enumerate(table) if any(row)]
    if not filled:
        raise FileError(f"{source}: all cells are empty; expected a cost matrix.")
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
    """Give the texts of both axes their meaning; each text comes with its place."""
    for text, place in [*actual, *decided]:
        if not text:
            raise FileError(f"{source}, {place}: a label is missing.")
    texts = [text for text, _ in actual]
    for text, place in actual:
        if known is not None and text not in map(str, known):
            raise FileError(f"{source}, {place}: {unknown(text, tuple(map(str, known)))}")
    labels, decisions = label_meanings(texts, [text for text, _ in decided], known)
    check_same(labels, known)
    slip = misspelt(labels, decisions)
    if slip is not None:
        raise FileError(f"{source}, {actual[slip[0]][1]}: {slip[1]}")
    return labels, decisions


def _render_delimited(costs: CostMatrix, delimiter: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["predicted\\actual", *costs.labels])
    for decision, row in zip(costs.decisions, costs.values.tolist(), strict=True):
        writer.writerow([decision, *map(exact, row)])
    return text.getvalue()


# -- JSON


def _parse_json(text: str, rows: str | None, known: Labels | None, source: str) -> CostMatrix:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise FileError(
            f"{source}, line {error.lineno}, column {error.colno}: not JSON: {error.msg}."
        ) from error
    except ValueError as error:  # a number of thousands of digits
        raise FileError(f"{source}: cannot be read as JSON: {error}.") from error
    if not isinstance(content, dict) or not {"labels", "values"} <= set(content):
        raise FileError(
            f'{source}: expected an object such as {{"rows": "predicted", "labels": ["no", "yes"], '
            '"values": [[0, 10], [1, 0]]}.'
        )
    said = content.get("rows")
    oriented = _file_orientation(rows, None if said is None else orientation(said), source)
    labels, decisions = as_axes(content["labels"], content.get("decisions"))
    check_same(labels, known)
    return CostMatrix(content["values"], rows=oriented, labels=labels, decisions=decisions)


def _render_json(costs: CostMatrix) -> str:
    for label in (*costs.labels, *costs.decisions):
        if not isinstance(label, str | int | float):
            raise LabelError(
                f"labels: JSON holds text and numbers only, got {label!r} "
                f"({type(label).__name__}). Use costs.relabel(str)."
            )
    return json.dumps(costs.to_dict(), indent=2, ensure_ascii=False) + "\n"


# -- Weka


def _parse_weka(text: str, rows: str | None, known: Labels | None, source: str) -> CostMatrix:
    _file_orientation(rows, "actual", f"{source}, being a Weka file,")
    return matrix_from_weka(text, known, source)


_PARSERS: dict[str, Callable[[str, str | None, Labels | None, str], CostMatrix]] = {
    ".csv": _parse_delimited,
    ".tsv": _parse_delimited,
    ".json": _parse_json,
    ".cost": _parse_weka,
}
_RENDERERS: dict[str, Callable[[CostMatrix], str]] = {
    ".csv": lambda costs: _render_delimited(costs, ","),
    ".tsv": lambda costs: _render_delimited(costs, "\t"),
    ".json": _render_json,
    ".cost": weka_text,
}
