"""Files that are broken in one way or another, and what a plain reader finds in them.

Whatever is in a file, counting it either fails with an error of ours (exit code 2, one line) or
gives the counts that the standard library, or polars, gives.
"""

import contextlib
import csv
import gzip
import io
import json
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from unittest import mock

import polars as pl
import pyarrow as pa
from hypothesis import strategies as st
from pyarrow import feather, parquet

from stakes.cli.main import main
from stakes.read import shards, tables

PAIRS = [("ok", "ok"), ("fraud", "fraud"), ("ok", "fraud"), ("fraud", "ok"), ("ok", "ok")] * 3
GOOD = Counter(PAIRS)
NOTES = ["", "fine", "a b", "é", "5 in"] * 3
COSTS = ["--fp", "1", "--fn", "5", "--pos-label", "fraud"]
COUNT = [*COSTS, "--without-scores", "--actual", "actual", "-m", "m"]
SMALL = 150
"""Bytes that are read at a time, so that even small files have several blocks."""

REFUSED, UNKNOWN = "refused", "unknown"


@cache
def good(kind, step=1):
    """Return the bytes of a file with nothing wrong."""
    columns = {
        "actual": [actual for actual, _ in PAIRS],
        "m": [decided for _, decided in PAIRS],
        "note": NOTES[::step],
    }
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    if kind in ("csv", "quoted"):
        text = io.StringIO()
        quoting = csv.QUOTE_ALL if kind == "quoted" else csv.QUOTE_MINIMAL
        writer = csv.writer(text, lineterminator="\n", quoting=quoting)
        writer.writerows([columns, *([*row.values()] for row in rows)])
        return text.getvalue().encode()
    if kind == "jsonl":
        return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
    file = io.BytesIO()
    if kind == "parquet":
        parquet.write_table(pa.table(columns), file, compression="none")
    else:
        feather.write_feather(pa.table(columns), file, compression="uncompressed")
    return file.getvalue()


ENDINGS = {
    "csv": ".csv",
    "quoted": ".csv",
    "jsonl": ".jsonl",
    "parquet": ".parquet",
    "arrow": ".arrow",
    "counts": ".json",
}
BITS = [
    b'"',
    b'""',
    b",",
    b"\n",
    b"\r",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xef\xbb\xbf",
    b" ",
    b"\t",
    b";",
]
BITS += [
    b"{",
    b"}",
    b":",
    b"[",
    b"1",
    b"-",
    b"ok",
    b"fraud",
    b"null",
    b"\\",
    b"\xc3",
    b'",',
    b"\n\n",
]


@st.composite
def broken(draw, content):
    """Change a few places of a file: put something in, take something out, cut it, repeat it."""
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(content)))
        how = draw(st.sampled_from(["insert", "insert", "replace", "delete", "cut", "repeat"]))
        if how == "insert":
            content = content[:at] + draw(st.sampled_from(BITS)) + content[at:]
        elif how == "replace":
            content = content[:at] + draw(st.binary(min_size=1, max_size=2)) + content[at + 1 :]
        elif how == "cut":
            content = content[:at]
        else:
            end = at + draw(st.integers(1, 20))
            again = content[at:end] if how == "repeat" else b""
            content = content[:at] + 2 * again + content[end:]
    return content


@st.composite
def csv_soup(draw):
    """A header and cells of anything, so that quotes and line ends meet in all ways."""
    cell = st.sampled_from(["ok", "fraud", '"ok"', '"fraud"', '"', 'ok"', '"ok', '""', "", "x\ny"])
    note = st.sampled_from(
        ["", "a", '"a\nb"', '"', 'a"', '"a', '"a""b"', 'a"b', '"a"b', "\r", '"\r\n"']
    )
    row = st.tuples(cell, cell, note).map(",".join)
    end = draw(st.sampled_from(["\n", "\r\n", "\r"]))
    rows = draw(st.lists(row, min_size=1, max_size=8))
    return (end.join(["actual,m,note", *rows]) + draw(st.sampled_from(["", end]))).encode()


WAYS = ("file", "gz", "stdin", "folder")
cases = st.one_of(
    st.tuples(st.just("csv"), csv_soup(), st.sampled_from(WAYS)),
    *(
        st.tuples(st.just(kind), broken(good(kind)), st.sampled_from(WAYS))
        for kind in ("csv", "quoted", "jsonl", "parquet")
    ),
    st.tuples(st.just("arrow"), broken(good("arrow")), st.sampled_from(("file", "folder"))),
)


def counted(kind, content, way, folder):
    """Count a file by the command; return its counts, or that they were refused."""
    name = f"a{ENDINGS[kind]}"
    extra = Counter()
    given = str(folder / name)
    stdin = b""
    if way == "gz":
        given += ".gz"
        Path(given).write_bytes(gzip.compress(content, 1))
    elif way == "stdin":
        given, stdin = "-", content
    elif way == "folder":
        inside = folder / "shards"
        inside.mkdir(exist_ok=True)
        for old in inside.iterdir():
            old.unlink()
        (inside / name).write_bytes(content)
        (inside / f"b{ENDINGS[kind]}").write_bytes(
            good(kind, -1)
        )  # whose notes are in another order
        given, extra = str(inside), GOOD
    else:
        Path(given).write_bytes(content)
    small = mock.patch.multiple(tables, LEAST_BLOCK=SMALL, OF_A_COLUMN=1)
    with mock.patch.object(shards, "BLOCK", SMALL), small:
        found = run(["count", given, *COUNT], folder, stdin)
    return found if found == REFUSED else found - extra


def run(arguments, folder, stdin=b""):
    """Run a command that writes a count file; check how it fails, or return what it counted."""
    out, err, target = io.StringIO(), io.StringIO(), folder / "out.json"
    target.unlink(missing_ok=True)
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(stdin))
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = main(["-q", *arguments, "--out", str(target)])
    finally:
        sys.stdin = before
    said = err.getvalue()
    assert code in (0, 2), said
    assert "fault in stakes" not in said, said
    assert "Traceback" not in said, said
    if code == 2:
        assert said.startswith("stakes: "), said
        assert not target.exists()
        return REFUSED
    content = json.loads(target.read_text(encoding="utf-8"))
    joint = content["joint"]
    labels, decisions = content["labels"], content["decisions"]
    rows = zip(joint["actual"], joint["decided"][0], joint["counts"], strict=True)
    return Counter({(str(labels[i]), str(decisions[j])): n for i, j, n in rows if n})


def expected(kind, content):
    """Return the counts that a plain reader finds, that it refuses the file, or no verdict."""
    try:
        reader = {"csv": _csv, "quoted": _csv, "jsonl": _jsonl, "parquet": _parquet}[kind]
    except KeyError:
        return UNKNOWN
    rows = reader(content)
    if not isinstance(rows, list):
        return rows
    return Counter((str(actual).strip(), str(decided).strip()) for actual, decided in rows)


def _csv(content):
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
    return _chosen(rows)


def _chosen(rows):
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        return REFUSED
    header, *rows = rows
    if len(set(header)) < len(header) or not {"actual", "m"} <= set(header):
        return REFUSED
    actual, decided = header.index("actual"), header.index("m")
    return [(row[actual], row[decided]) for row in rows]


def _jsonl(content):
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
        return UNKNOWN  # pyarrow takes more than JSON, such as control characters in text
    if not all({"actual", "m"} <= set(row) for row in rows):
        return REFUSED
    return [(row["actual"], row["m"]) for row in rows]


def _parquet(content):
    try:
        frame = pl.read_parquet(io.BytesIO(content), columns=["actual", "m"])
    except BaseException:  # noqa: BLE001 - polars panics at some
        return UNKNOWN
    return frame.rows()


def check(case, folder):
    """Raise when a file is counted other than a plain reader counts it."""
    kind, content, way = case
    if way == "stdin" and kind == "jsonl" and not content.lstrip().startswith(b"{"):
        return  # read as CSV
    found, right = counted(kind, content, way, folder), expected(kind, content)
    if REFUSED not in (found, right):
        assert right in (UNKNOWN, found), (kind, way, content, found, right)
    elif right == REFUSED:
        assert found == REFUSED or not found, (kind, way, content, found)


@cache
def good_counts(folder):
    """Return the text of a count file."""
    (folder / "good.csv").write_bytes(good("csv"))
    run(["count", str(folder / "good.csv"), *COUNT], folder)
    return (folder / "out.json").read_bytes()


def check_counts(content, folder):
    """Raise when a broken count file is read as other counts."""
    path = folder / "broken.json"
    path.write_bytes(content)
    (folder / "empty.json").write_bytes(good_counts(folder))
    found = run(["merge", str(path), str(folder / "empty.json"), "--allow-copies"], folder)
    if found != REFUSED:
        assert found == GOOD + GOOD, (content, found)
