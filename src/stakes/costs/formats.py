"""The cost matrix as text: CSV, TSV, JSON and Weka's ``.cost``.

Each parser names the file, row and column of what it cannot read; rows and columns count from one,
as a spreadsheet shows them.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from stakes._labels import Label, Labels, as_labels, hint, listing
from stakes._table import exact
from stakes._validate import Orientation, orientation
from stakes.costs.matrix import CostMatrix
from stakes.errors import FileError, InputError, InputTypeError, LabelError, StakesError
from stakes.read import read_text, write_text

CORNERS: dict[str, Orientation] = {"predicted\\actual": "predicted", "actual\\predicted": "actual"}


def read_matrix(path: str | os.PathLike[str], *, rows: str | None, labels: Any) -> CostMatrix:
    """Read a cost matrix in the format that the file's name ends with."""
    source = os.fspath(path)
    parse = _PARSERS.get(_suffix(source))
    if parse is None:
        raise FileError(f"{source}: expected a file named .csv, .tsv, .json or .cost (Weka).")
    text = read_text(path)
    if not text.strip():
        raise FileError(f"{source}: the file is empty; expected a cost matrix.")
    known = None if labels is None else as_labels(labels, "labels")
    try:
        return parse(text, rows, known, source)
    except FileError:
        raise
    except StakesError as error:
        raise FileError(f"{source}: {error}") from error


def write_matrix(costs: CostMatrix, path: str | os.PathLike[str]) -> None:
    """Write a cost matrix in the format that the file's name ends with."""
    render = _RENDERERS.get(_suffix(path))
    if render is None:
        raise InputError(f"path: expected a name ending in .csv, .tsv, .json or .cost; got {path}.")
    write_text(path, render(costs))


def corner_orientation(cell: str) -> Orientation | None:
    r"""Read ``predicted\actual`` or ``actual\predicted`` out of a table's corner cell."""
    return CORNERS.get("".join(cell.lower().split()).replace("/", "\\"))


def agreed_orientation(rows: str | None, said: Orientation | None, place: str) -> Orientation:
    """Combine what the caller says of the rows with what the table itself says."""
    if rows is None and said is None:
        raise InputTypeError(
            f"{place}: it does not say what its rows stand for. Write predicted\\actual or "
            "actual\\predicted into its corner cell (rows first), or pass rows='predicted' or "
            "rows='actual'."
        )
    if rows is not None and said is not None and orientation(rows) != said:
        raise InputError(f"rows: got {rows!r}, but {place} says that its rows are {said}.")
    return orientation(said if rows is None else rows)


def matrix_from_weka(text: str, labels: Any, source: str) -> CostMatrix:
    """Parse Weka's cost matrix: rows are the actual class, ``%`` starts a comment."""
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
        number = lines[0][0]
        body = " ".join(line for _, line in lines).strip("[] ")
        lines = [(number, row.replace(",", " ")) for row in body.split(";")]
    elif lines:
        lines = lines[1:]  # the sizes, which the labels already say
    size = len(classes)
    if len(lines) != size:
        raise FileError(
            f"{source}: expected {size} rows of costs, one for each label, got {len(lines)}."
        )
    values = [
        _numbers(line.split(), size, f"{source}, line {number}", first_column=1)
        for number, line in lines
    ]
    return CostMatrix(values, rows="actual", labels=classes)


def _parse_delimited(text: str, rows: str | None, known: Labels | None, source: str) -> CostMatrix:
    table = [
        [cell.strip() for cell in row]
        for row in csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text, source))
    ]
    while table and not any(table[-1]):  # blank lines at the end
        table.pop()
    header, *body = table
    oriented = agreed_orientation(rows, corner_orientation(header[0]), f"{source}, row 1, column 1")
    values = [
        _numbers(row[1:], len(header) - 1, f"{source}, row {number}", first_column=2)
        for number, row in enumerate(body, 2)
    ]
    across = [(cell, f"row 1, column {column}") for column, cell in enumerate(header[1:], 2)]
    down = [(row[0], f"row {number}, column 1") for number, row in enumerate(body, 2)]
    if oriented == "predicted":
        decisions, classes = _axis_labels(down, across, known, source)
    else:
        decisions, classes = _axis_labels(across, down, known, source)
    matrix = CostMatrix(values, rows=oriented, labels=classes, decisions=decisions)
    return in_class_order(matrix)


def in_class_order(matrix: CostMatrix) -> CostMatrix:
    """Put the decisions in the order of the classes when they are the same."""
    if set(matrix.decisions) != set(matrix.labels):
        return matrix
    order = [matrix.decisions.index(label) for label in matrix.labels]
    return CostMatrix(matrix.values[order], rows="predicted", labels=matrix.labels)


def _parse_json(text: str, rows: str | None, known: Labels | None, source: str) -> CostMatrix:
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise FileError(
            f"{source}, line {error.lineno}, column {error.colno}: not JSON: {error.msg}."
        ) from error
    if not isinstance(content, dict) or not {"labels", "values"} <= set(content):
        raise FileError(
            f'{source}: expected an object such as {{"rows": "predicted", "labels": ["no", "yes"], '
            '"values": [[0, 10], [1, 0]]}.'
        )
    said = content.get("rows")
    oriented = agreed_orientation(rows, None if said is None else orientation(said), source)
    classes = as_labels(content["labels"], "labels")
    decisions = as_labels(content.get("decisions", classes), "decisions")
    for label in classes:
        if known is not None and label not in known:
            raise LabelError(_unknown(label, known, "labels"))
    matrix = CostMatrix(content["values"], rows=oriented, labels=classes, decisions=decisions)
    return in_class_order(matrix)


def _parse_weka(text: str, rows: str | None, known: Labels | None, source: str) -> CostMatrix:
    agreed_orientation(rows, "actual", f"{source}, being a Weka file,")
    return matrix_from_weka(text, known, source)


def _delimiter(text: str, source: str) -> str:
    first = text.lstrip("\r\n").partition("\n")[0]
    if _suffix(source) == ".tsv":
        return "\t"
    return ";" if ";" in first and "," not in first else ","


def _axis_labels(
    decided: Sequence[tuple[str, str]],
    actual: Sequence[tuple[str, str]],
    known: Labels | None,
    source: str,
) -> tuple[list[Label], list[Label]]:
    """Give the texts of both axes their meaning: the classes', then the decisions'.

    Classes that all look like whole numbers are numbers, unless the caller's labels say otherwise.
    A decision need not be a class, but a class that no decision names is most likely misspelt.
    """
    texts = [text for text, _ in actual]
    if known is not None:
        meaning: dict[str, Label] = {str(label): label for label in known}
    elif all(_is_whole(text) for text in texts):
        meaning = {text: int(text) for text in texts}
    else:
        meaning = {text: text for text in texts}
    for text, place in [*actual, *decided]:
        if not text:
            raise FileError(f"{source}, {place}: a label is missing.")
    choices = {text for text, _ in decided}
    for text, place in actual:
        if text not in meaning:
            raise FileError(f"{source}, {place}: {_unknown(text, tuple(meaning), 'labels')}")
        if text not in choices and choices & set(texts):
            named = [decision for decision, _ in decided]
            raise FileError(f"{source}, {place}: {_unknown(text, named, 'decisions')}")
    return [meaning.get(text, text) for text, _ in decided], [meaning[text] for text in texts]


def _is_whole(text: str) -> bool:
    return text.removeprefix("-").isdecimal() and str(int(text)) == text


def _unknown(label: Label, known: Sequence[Label], what: str) -> str:
    return (
        f"the class {label!r} is not among the {what}: {listing(known)}.{hint(label, known)} "
        "Correct the spelling, or add it."
    )


def _numbers(cells: Sequence[str], size: int, row: str, first_column: int) -> list[float]:
    """Read a row of costs; `row` names the file and the row, for messages."""
    if len(cells) != size:
        raise FileError(
            f"{row}, column {first_column + min(len(cells), size)}: "
            f"expected {size} costs in this row, got {len(cells)}."
        )
    values = []
    for column, cell in enumerate(cells, first_column):
        try:
            value = float(cell)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise FileError(
                f"{row}, column {column}: expected a finite number as the cost, got {cell!r}."
            )
        values.append(value)
    return values


def _suffix(path: str | os.PathLike[str]) -> str:
    return Path(path).suffix.lower()


def _render_delimited(costs: CostMatrix, delimiter: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["predicted\\actual", *costs.labels])
    for decision, row in zip(costs.decisions, costs.values.tolist(), strict=True):
        writer.writerow([decision, *map(exact, row)])
    return text.getvalue()


def _render_json(costs: CostMatrix) -> str:
    try:
        return json.dumps(costs.to_dict(), indent=2, ensure_ascii=False) + "\n"
    except TypeError as error:
        raise LabelError(f"labels: JSON holds text and numbers only: {error}.") from error


def _render_weka(costs: CostMatrix) -> str:
    if costs.decisions != costs.labels:
        raise InputError(
            "costs: a Weka file has the same decisions and classes, here they differ. "
            "Use .csv or .json."
        )
    size = len(costs.labels)
    rows = ["\t".join(map(exact, row)) for row in costs.values.T.tolist()]
    names = ", ".join(map(str, costs.labels))
    return "\n".join([f"% rows: actual, columns: predicted; {names}", f"{size}\t{size}", *rows, ""])


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
    ".cost": _render_weka,
}
