"""Plain readers of files: the standard library, openpyxl, and polars in its own process.

They return the rows of a file, `REFUSED` if it must be refused, or `UNKNOWN` if they cannot tell.
"""

import bz2
import csv
import gzip
import io
import json
import math
import multiprocessing
import os
import re
import sys
import zipfile
from collections import Counter

import openpyxl

from tests._helpers.broken_files import QUESTIONS, SHEET, book_of

REFUSED, UNKNOWN = "refused", "unknown"
NUMBER = re.compile(r"(?ai)[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?|[+-]?inf(inity)?")
NO_VALUE = ("", "na", "n/a", "nan", "null", "<na>", "#n/a")
PATIENCE = 30
"""Time limit of polars in seconds, because it never returns for some broken files."""


def expected(case):
    """Return the counts that a plain reader finds, `REFUSED` or `UNKNOWN`."""
    question = QUESTIONS[case.asked]
    if case.asked == "join":
        return _counted(_joined(case), question)
    rows = rows_of(case.kind, case.content, question.needed)
    if case.asked == "long" and isinstance(rows, list):
        rows = _side_by_side(rows)
        if isinstance(rows, list) and rows:
            models = tuple(name for name in rows[0] if name != "actual")
            question = question._replace(models=models)
    return _counted(rows, question)


def rows_of(kind, content, columns):
    """Return rows with these columns, of a file that may have others."""
    if kind in ("parquet", "arrow"):
        rows = in_polars(kind, content, columns)
        return rows if rows == UNKNOWN else [dict(zip(columns, row, strict=True)) for row in rows]
    return READERS.get(kind, _csv)(content, columns)


def _counted(rows, question):
    """Count rows as count files do: by class and decisions, and by these and the scores."""
    if not isinstance(rows, list):
        return rows
    total = Counter()
    for row in rows:
        if question.drop and any(_missing(row[each]) for each in question.needed):
            continue
        labels = [_stripped(row[each]) for each in ("actual", *question.models)]
        scores = [_number(row[each]) for each in question.scores]
        weight = 1 if question.weight is None else _number(row[question.weight])
        if None in (*labels, *scores, weight) or not 0 <= weight < math.inf:
            return REFUSED
        if question.models:
            total["decisions", *labels] += weight
        if scores:
            total["scores", *labels, *scores] += weight
    return +total


def _missing(value):
    if isinstance(value, str):
        return value.strip().lower() in NO_VALUE
    return value is None or value != value  # noqa: PLR0124 - not a number


def _number(value):
    """Return the number in a cell, with a decimal point or comma; None if it is not a number."""
    if isinstance(value, str):
        text = value.strip()
        return float(text.replace(",", ".")) if NUMBER.fullmatch(text) else None
    try:
        return None if _missing(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def _csv(content, columns):
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return REFUSED
    first = next((line for line in text.splitlines() if line.strip()), "")
    separator = max(",;\t|", key=re.sub('"[^"]*"', "", first).count)
    try:
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
        rows = [row for row in reader if row]
    except csv.Error:
        return REFUSED
    if any(len(row) != len(rows[0]) for row in rows):
        return REFUSED
    return _named(rows, columns)


def _named(rows, columns):
    """Return rows by column name; the first row has the names."""
    if not rows:
        return REFUSED
    header, *rows = rows
    if len(set(header)) < len(header) or not {*columns} <= {*header}:
        return REFUSED
    places = {name: header.index(name) for name in columns}
    return [{name: row[at] for name, at in places.items()} for row in rows]


def _jsonl(content, columns):
    try:
        text = content.decode("utf-8-sig")
        decoder, at, rows = json.JSONDecoder(object_pairs_hook=list), 0, []
        while at < len(text.rstrip()):
            at += len(text[at:]) - len(text[at:].lstrip())
            row, at = decoder.raw_decode(text, at)
            if len({name for name, _ in row}) < len(row):
                return REFUSED
            rows.append(dict(row))
    except (ValueError, TypeError, RecursionError):
        return UNKNOWN  # pyarrow accepts more than JSON, such as control characters in text
    return [{name: row.get(name) for name in columns} for row in rows]


def _packed(unpack):
    def read(content, columns):
        try:
            text = unpack(content)
        except Exception:  # noqa: BLE001 - zlib.error, EOFError, OSError, ValueError
            return REFUSED
        return _csv(text, columns)

    return read


def _misplaced(content):
    """Return whether a cell of a sheet refers to another row than the one that contains it."""
    try:
        sheet = zipfile.ZipFile(io.BytesIO(content)).read(SHEET).decode(errors="replace")
    except Exception:  # noqa: BLE001 - of all kinds
        return False
    rows = re.findall(r'<row r="(\d+)"[^>]*>(.*?)</row>', sheet, re.DOTALL)
    return any({*re.findall(r'<c r="[A-Z]+(\d+)"', cells)} - {row} for row, cells in rows)


def _xlsx(content, columns):
    """Read the cells of a workbook one by one, regardless of its stated size."""
    if _misplaced(content):
        return UNKNOWN
    try:
        (sheet,) = openpyxl.load_workbook(io.BytesIO(content), data_only=True).worksheets
        header, *rows = sheet.iter_rows(values_only=True)
    except Exception:  # noqa: BLE001 - of all kinds
        return UNKNOWN
    width = max((at for at, name in enumerate(header, 1) if name is not None), default=0)
    rows = [row[:width] for row in rows if any(cell is not None for cell in row[:width])]
    return _named([["" if name is None else str(name) for name in header[:width]], *rows], columns)


READERS = {
    "jsonl": _jsonl,
    "xlsx": _xlsx,
    "sheet": lambda content, columns: _xlsx(book_of(content), columns),
    "gz": _packed(gzip.decompress),
    "bz2": _packed(bz2.decompress),
}


def _key(value):
    """Return the identifier of an example as text, as another file may have it."""
    whole = isinstance(value, float) and value.is_integer()
    return None if value is None else str(int(value) if whole else value)


def _joined(case):
    """Put the rows of two files with the same examples side by side."""
    kinds, models = case.kind.split("+"), ("m", "other")
    tables = [
        _first_read(kind, content, ["id", model, "actual"], ["id", model])
        for kind, content, model in zip(kinds, case.content, models, strict=True)
    ]
    for verdict in (REFUSED, UNKNOWN):
        if verdict in tables:
            return verdict
    if any(_stripped(row["id"]) in (None, "") for rows in tables for row in rows):
        return REFUSED
    one, other = ({_key(row["id"]): row for row in rows} for rows in tables)
    if one.keys() != other.keys() or [len(one), len(other)] != [len(rows) for rows in tables]:
        return REFUSED
    pairs = [{**other[key], **row} for key, row in one.items()]
    agreed = all(_same("actual", one[key], other[key]) for key in one)
    return pairs if agreed and all("actual" in row for row in pairs) else REFUSED


def _first_read(kind, content, *choices):
    """Return the rows of a file with the first choice of columns that it has."""
    tries = [rows_of(kind, content, columns) for columns in choices]
    return next((rows for rows in tries if rows not in (REFUSED, UNKNOWN)), tries[-1])


def _same(name, one, other):
    """Tell whether two rows agree on a column, if both have it."""
    return name not in one or name not in other or _stripped(one[name]) == _stripped(other[name])


def _stripped(value):
    return None if value is None else str(value).strip()


def _side_by_side(rows):
    """Pivot rows of single models to rows of examples with the decisions of all models."""
    models = list(dict.fromkeys(row["model"] for row in rows))
    found = {}
    for row in rows:
        example = found.setdefault(_key(row["id"]), {"actual": row["actual"]})
        if row["model"] in example or not _same("actual", example, row):
            return REFUSED
        example[row["model"]] = row["m"]
    if any(_missing(each) for each in models) or "actual" in models or None in found:
        return REFUSED
    if any(len(example) != 1 + len(models) for example in found.values()):
        return REFUSED
    return [{name: example[name] for name in ("actual", *models)} for example in found.values()]


class InPolars:
    """File reader that runs polars in its own process, as a broken file may crash or hang it."""

    def __init__(self):
        self._process = self._pipe = None

    def __call__(self, kind, content, columns):
        """Return the rows, or `UNKNOWN` if polars fails, takes too long, or crashes."""
        if self._process is None or not self._process.is_alive():
            self._start()
        try:
            self._pipe.send((kind, content, columns))
            if self._pipe.poll(PATIENCE):
                return self._pipe.recv()
        except (EOFError, OSError):
            pass
        self._process.kill()
        self._process = None
        return UNKNOWN

    def _start(self):
        start = multiprocessing.get_context("spawn")
        self._pipe, theirs = start.Pipe()
        self._process = start.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()


in_polars = InPolars()


def _serve(pipe):
    """Answer requests with rows until the pipe closes; discard what polars prints to stderr."""
    import polars as pl

    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())
    while True:
        try:
            kind, content, columns = pipe.recv()
        except EOFError:
            return
        try:
            file = io.BytesIO(content)
            if kind == "parquet":
                rows = pl.read_parquet(file, columns=columns).rows()
            else:
                rows = pl.read_ipc(file, columns=columns).rows()
        except BaseException:  # noqa: BLE001 - polars panics at some
            rows = UNKNOWN
        pipe.send(rows)
