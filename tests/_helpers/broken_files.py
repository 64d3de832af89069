"""Test files of all kinds, and a strategy that breaks them.

For any content, counting a file must either fail with an error of stakes (exit code 2, one line) or
give the counts of a plain reader; `tests._helpers.broken_checks` compares the two.
"""

import bz2
import csv
import gzip
import io
import json
import zipfile
from functools import cache
from typing import Any, NamedTuple

import openpyxl
import pyarrow as pa
from hypothesis import strategies as st
from pyarrow import feather, parquet

PAIRS = [("ok", "ok"), ("fraud", "fraud"), ("ok", "fraud"), ("fraud", "ok"), ("ok", "ok")] * 3
ROWS = len(PAIRS)
COLUMNS = {
    "id": list(range(101, 101 + ROWS)),
    "model": ["a", "b"] * ROWS,
    "actual": [actual for actual, _ in PAIRS],
    "m": [decided for _, decided in PAIRS],
    "other": [decided for _, decided in PAIRS[::-1]],
    "s": [0.25, 0.9, 0.5, 0.125, 0.0625] * 3,
    "w": [1.0, 2.5, 0.5, 1.0, 4.0] * 3,
    "note": ["", "fine", "a b", "é", "5 in"] * 3,
}
MISSING = {"m": (1, 6), "s": (2, 6)}
"""Rows with a missing value, by column, in the files whose missing values are dropped."""

SHORT = 6
"""Maximum number of rows of a workbook, as each row takes many bytes."""

LINES = 'of "two"\nlines; and, more'
"""A column name that needs quotes."""


class Question(NamedTuple):
    """What to count in a file: its columns, their roles, and whether to drop missing values."""

    columns: tuple[str, ...]
    models: tuple[str, ...] = ()
    scores: tuple[str, ...] = ()
    weight: str | None = None
    drop: bool = False

    @property
    def needed(self):
        """The columns that a reader needs for the question."""
        named = ("actual", *self.models, *self.scores, self.weight, *self.columns[:-1])
        return list(dict.fromkeys(each for each in named if each is not None))

    @property
    def options(self):
        """The options of the command for the question."""
        one = "m=" if self.models and self.scores else ""  # decisions and scores of one model
        named = [("--actual", "actual"), *(("-m", f"{one}{each}") for each in self.models)]
        named += [("-s", f"{one}{each}") for each in self.scores]
        named += [("--weight", self.weight)] if self.weight else []
        named += [("--id", "id")] if "id" in self.columns else []
        named += [("--model-column", "model")] if "model" in self.columns else []
        alone = ["--drop-missing"] if self.drop else []
        alone += [] if self.scores else ["--without-scores"]
        return [*(word for pair in named for word in pair), *alone]


QUESTIONS = {
    "decisions": Question(("actual", "m", "note"), ("m",)),
    "scores": Question(("actual", "s", "note"), (), ("s",)),
    "weights": Question(("actual", "m", "s", "w", "note"), ("m",), ("s",), "w"),
    "missing": Question(("actual", "m", "s", "note"), ("m",), ("s",), drop=True),
    "names": Question(("actual", LINES, "note"), (LINES,)),
    "long": Question(("id", "model", "actual", "m", "note"), ("m",)),
    "join": Question(("id", "actual", "m", "note"), ("m", "other")),
}
SECOND = ("id", "actual", "other", "note")
"""The columns of the second of two files that are joined."""

ENDINGS = {
    "csv": ".csv",
    "quoted": ".csv",
    "tsv": ".tsv",
    "comma": ".csv",
    "gz": ".csv.gz",
    "bz2": ".csv.bz2",
    "jsonl": ".jsonl",
    "parquet": ".parquet",
    "arrow": ".arrow",
    "xlsx": ".xlsx",
    "sheet": ".xlsx",
}
DIALECTS: dict[str, Any] = {
    "csv": {},
    "quoted": {"quoting": csv.QUOTE_ALL},
    "tsv": {"delimiter": "\t"},
    "comma": {"delimiter": ";"},
}
SHEET = "xl/worksheets/sheet1.xml"


class Case(NamedTuple):
    """A file, or two to be joined (`kind` joins theirs by a plus), and the way it is passed."""

    kind: str
    content: Any
    way: str = "file"
    asked: str = "decisions"


@cache
def good(kind, step=1, asked="decisions", names=None):
    """Return the bytes of an intact file."""
    names = names or QUESTIONS[asked].columns
    columns = {name: COLUMNS["m" if name == LINES else name] for name in names}
    if asked == "long":
        columns = {name: [value for value in columns[name][:ROWS] for _ in "ab"] for name in names}
        columns["model"] = COLUMNS["model"]
        columns["m"] = [*COLUMNS["m"], *COLUMNS["other"]]
    if asked == "missing":
        columns |= {
            name: [None if at in lacking else each for at, each in enumerate(columns[name])]
            for name, lacking in MISSING.items()
        }
    most = SHORT if kind in ("xlsx", "sheet") else None
    return written(kind, {name: values[::step][:most] for name, values in columns.items()})


def written(kind, columns):
    """Return the bytes of a file with these columns."""
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if kind in DIALECTS:
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n", **DIALECTS[kind])
        cells = [[_cell(value, kind) for value in row.values()] for row in rows]
        writer.writerows([columns, *cells])
        return text.getvalue().encode()
    if kind in PACKERS:
        return PACKERS[kind](written("csv", columns))
    if kind == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    file = io.BytesIO()
    if kind in ("xlsx", "sheet"):
        book = openpyxl.Workbook()
        for row in [list(columns), *(list(each.values()) for each in rows)]:
            book.active.append(row)
        book.save(file)
        if kind == "sheet":
            return zipfile.ZipFile(file).read(SHEET)
    elif kind == "parquet":
        parquet.write_table(pa.table(columns), file, compression="none")
    else:
        feather.write_feather(pa.table(columns), file, compression="uncompressed")
    return file.getvalue()


def book_of(sheet):
    """Return a workbook whose only sheet has this XML."""
    old, file = zipfile.ZipFile(io.BytesIO(good("xlsx"))), io.BytesIO()
    with zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            new.writestr(name, sheet if name == SHEET else old.read(name))
    return file.getvalue()


def _cell(value, kind):
    return str(value).replace(".", ",") if kind == "comma" and isinstance(value, float) else value


PACKERS = {
    "gz": lambda content: gzip.compress(content, 1, mtime=0),
    "bz2": bz2.compress,
    "zst": lambda content: pa.Codec("zstd").compress(content, asbytes=True),
}

BITS = [b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"\0", b"\xff", b"\xef\xbb\xbf", b" ", b"\t"]
BITS += [b";", b"{", b"}", b":", b"[", b"1", b"-", b"ok", b"fraud", b"null", b"\\", b"\xc3"]
BITS += [b'",', b"\n\n", b".", b"e5", b"0,5", b"nan", b"inf", b"NA", b"</c>", b"<v>"]


HOW = ["insert"] * 3 + ["replace"] * 2 + ["copy"] * 2 + ["lines"] * 3
HOW += ["change", "delete", "repeat", "cut"]


@st.composite
def broken(draw, content):
    """Change a file in a few places: insert, replace, copy, repeat or delete parts, or cut it off.

    Most changes keep text readable. Most places are near the start or the end of the file, half of
    them near the end, so that many files keep their header and are counted.
    """
    for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
        at = draw(st.integers(0, len(content)))
        at = at if draw(st.booleans()) else len(content) - at
        how = draw(st.sampled_from(HOW))
        end = at + draw(st.integers(1, 20))
        if how == "lines":
            content = draw(_other_lines(content))
        elif how == "copy":
            there = draw(st.integers(0, len(content)))
            content = content[:at] + content[there : there + end - at] + content[end:]
        elif how in ("insert", "replace"):
            bit = draw(st.sampled_from(BITS))
            content = content[:at] + bit + content[at + len(bit) * (how == "replace") :]
        elif how == "change":
            content = content[:at] + draw(st.binary(min_size=1, max_size=2)) + content[at + 1 :]
        elif how == "cut":
            content = content[:at]
        else:
            again = content[at:end] if how == "repeat" else b""
            content = content[:at] + 2 * again + content[end:]
    return content


@st.composite
def _other_lines(draw, content):
    """Delete, repeat or move a line."""
    lines = content.splitlines(keepends=True)
    if not lines:
        return content
    place = st.integers(0, len(lines) - 1)
    line = lines[at := draw(place)]
    how = draw(st.sampled_from(["repeat", "delete", "move"]))
    if how != "repeat":
        del lines[at]
    if how != "delete":
        lines.insert(draw(place), line)
    return b"".join(lines)


TEXT = ("csv", "quoted", "tsv", "comma", "jsonl")
WAYS = ("file", "gz", "bz2", "zst", "stdin", "folder")
FOLDERS = ("folder", "packed folder")
"""Ways that pass the file in a folder, beside an intact file."""

COUNT_FILES = ("json counts", "parquet counts")


def ways_of(kind, asked="decisions"):
    """Return the ways in which a file of a kind may be passed."""
    if asked in ("long", "join") or kind in ("gz", "bz2", "xlsx", "sheet"):
        return ("file",)
    if kind == "arrow":
        return ("file", "folder")
    return (*WAYS, "packed folder") if kind in TEXT else ("file", "gz", "stdin", "folder")
