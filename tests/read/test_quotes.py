"""Quotes in CSV files: pyarrow reads the rest of a file into a cell with an unclosed quote."""

import bz2
import contextlib
import csv
import gc
import gzip
import io
import os
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stakes.errors import FileError
from stakes.read import _diagnose, csv_file, shards, sources
from stakes.read._diagnose import (
    LONGEST_CELL,
    PIECE,
    MisplacedQuoteError,
    QuoteCheck,
    WholeRows,
    cells_of_any_length,
)
from stakes.read.csv_file import CsvFile, csv_header
from stakes.read.shards import Shard
from stakes.read.tables import read_table

HEADER = "id,actual,note\n"
ROWS = [f"{i},ok,fine\n" for i in range(1000)]
OPEN = HEADER + "".join([*ROWS[:9], '9,ok,"fine\n', *ROWS[10:]])
TWO = HEADER + "".join([*ROWS[:9], '9,ok,"fine\n', *ROWS[10:500], '500,ok,"fine\n', *ROWS[501:]])


def batches(path):
    return [rows.table for rows in Shard(path).batches(["id", "actual"])]


def zstd(content):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(content)
    return sink.getvalue().to_pybytes()


PACKINGS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstd}


@pytest.mark.parametrize("ending", PACKINGS)
@pytest.mark.parametrize("read", [read_table, batches], ids=["whole", "batches"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OPEN, r", line 11, column 'note': the quote that opens the cell is not closed"),
        (TWO, r", line 11, column 'note': the quote that ends the cell in line 502 is followed by"),
    ],
    ids=["open", "two"],
)
def test_a_quote_that_swallows_rows_is_refused(text, said, read, ending, tmp_path):
    path = tmp_path / f"a.csv{ending}"
    path.write_bytes(PACKINGS[ending](text.encode()))
    with pytest.raises(FileError, match=said):
        read(path)


@pytest.mark.parametrize("pack", PACKINGS.values(), ids=list(PACKINGS))
def test_standard_input_is_looked_at_too(pack):
    content = pack(OPEN.encode())
    with pytest.raises(FileError, match=r"standard input, line 11, column 'note'"):
        read_table("-", content if pack is bytes else unpacked(content))


def unpacked(content):
    from stakes.read.sources import unpacked_bytes

    return unpacked_bytes(content, "standard input")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('a,b\n1,"2"x\n', "line 2, column 'b': the quote that ends the cell is followed by 'x'"),
        ('a,b\n1,""x\n', "line 2, column 'b': the quote that ends the cell is followed by 'x'"),
        ('a,b\n"x\ny","2" \n', "line 3, column 'b': .* followed by ' '"),
        ('a,b\n1,"x\\"y"\n', r"line 2, column 'b': .* followed by 'y'"),
        ('a,"b\n1,2\n', "line 1, cell 2: the quote that opens the cell is not closed"),
        (f'a,b\n1,"{"x" * 200_000}\n3,4\n', "line 2, column 'b': .* not closed"),
        ('a,b\r\n1,2\r\n3,"4\r\n', "line 3, column 'b': .* not closed"),
    ],
)
def test_a_misplaced_quote_is_refused(text, said, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(text.encode())
    for read in (read_table, lambda path: list(Shard(path).batches(["a"]))):
        with pytest.raises(FileError, match=said):
            read(path)


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ('a,b\n1,"x\n2,y"\n', [["1", "x\n2,y"]]),
        ('a,b\n1,5" pipe\n2,"5"" pipe"\n', [["1", '5" pipe'], ["2", '5" pipe']]),
        ('a,b\n1, "2"\n', [["1", ' "2"']]),
        ('"a","b"\n"","""x"""\n', [["", '"x"']]),
        ('\ufeff"a",b\n1,2', [["1", "2"]]),
        ('"a,x";b\n1;2\n', [["1", "2"]]),
    ],
)
def test_legal_quotes_are_read(text, cells, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(text, encoding="utf-8")
    assert list(map(list, zip(*read_table(path).table.to_pydict().values(), strict=True))) == cells


pieces = st.sampled_from(['"', '""', ",", "\n", "\r\n", "x", "y z", '","', "é"])


@given(st.lists(pieces, max_size=12).map("".join), st.integers(1, 9))
def test_what_is_regular_every_parser_reads_alike(text, step):
    """Where the check has no doubt, the strict reader finds nothing wrong; fed whole or not."""
    content = text.encode()
    whole, stepwise = QuoteCheck(","), QuoteCheck(",")
    whole.feed(content)
    for start in range(0, len(content), step):
        stepwise.feed(content[start : start + step])
    assert whole.regular == stepwise.regular
    if whole.regular:
        list(csv.reader(io.StringIO(text, newline=""), strict=True))


cells = st.lists(st.sampled_from(['"', "\n", "\r", "\r\n", "x", "é", ","]), max_size=4).map("".join)


@given(
    st.lists(st.tuples(cells, cells), min_size=1, max_size=9),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.integers(1, 60),
    st.booleans(),
)
def test_blocks_of_whole_rows_are_read_as_the_file_is(rows, end, every, block, batched):
    """pyarrow does not look for line breaks in cells, and needs not where no block ends in one."""

    def written(cell):  # csv.writer leaves breaks of another kind than `end` without quotes
        needs = every or set(cell) & set('"\n\r,')
        return '"{}"'.format(cell.replace('"', '""')) if needs else cell

    text = "".join(",".join(map(written, row)) + end for row in [("a", "b"), *rows])
    content = text.encode()
    file = CsvFile(lambda: pa.BufferReader(content), "a.csv")
    found = file.tables(["a", "b"], block) if batched else [_blockwise(file, block)]
    read = [tuple(row.values()) for table in found for row in table.to_pylist()]
    assert read == rows == [*map(tuple, csv.reader(io.StringIO(text, newline="")))][1:]


def _blockwise(file, block):
    with mock.patch.multiple(csv_file, LEAST_BLOCK=block, OF_A_COLUMN=1):
        return file.table()


heads = st.lists(
    st.sampled_from(['"', "\n", "\r", "\r\n", "x", "é", "𝔘", ",", " "]), max_size=6
).map("".join)


@given(
    st.lists(heads, min_size=2, max_size=5, unique=True),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.sampled_from(["", "\ufeff", "\n\n", "\ufeff\r\n"]),
    st.tuples(st.booleans(), st.booleans(), st.booleans(), st.sampled_from(sorted(PACKINGS))),
    st.integers(1, 20),
)
def test_a_header_is_read_whole_wherever_it_is_cut(names, end, start, how, size):
    every, pipe, closed, packing = how

    def written(name):
        needs = every or set(name) & set('"\n\r, ')
        return '"{}"'.format(name.replace('"', '""')) if needs else name

    last = '5" pipe' if pipe else "last"
    rows = [",".join([*map(written, names), last]), *[",".join("1" * len(names) + "2")] * 2]
    text = end.join(rows) + (end if closed else "")
    content = (start + text).encode()
    expected = next(csv.reader(io.StringIO(text, newline="")))

    def opened():
        packed = pa.BufferReader(PACKINGS[packing](content))
        kind = sources.PACKED.get(packing)
        return packed if kind is None else pa.CompressedInputStream(packed, kind)

    with mock.patch.multiple(csv_file, HEADER=size):
        file = CsvFile(opened, "a.csv")
        read = [file.table(), *file.tables(file.names, 64)]
    assert file.names == expected == [*names, last]
    assert all(each.column_names == expected for each in read)
    assert [each[last].to_pylist() for each in read if each.num_rows][:1] == [["2", "2"]]


@pytest.mark.parametrize("how", ["whole", "later", "batches"])
def test_all_columns_of_a_long_header_with_a_quote_in_a_name_are_read(how, tmp_path):
    path, names = (
        tmp_path / "a.csv",
        ['5" pipe', *(f"feature_number_{i}" for i in range(5000)), "m"],
    )
    path.write_text(",".join(names) + "\n" + ",".join(["x", *["1"] * 5000, "01"]) + "\n")
    if how == "batches":
        assert Shard(path).schema().names == names
        table = next(Shard(path).batches(["m"])).table
    else:
        table = read_table(path, first="m".__eq__ if how == "later" else None).table
        assert table.column_names == names
    assert table.column("m").to_pylist() == ["01"]


def test_a_refused_file_is_not_kept_in_memory(tmp_path):
    """pyarrow holds what it calls for a wrong row, so no traceback may hold that in turn."""
    path = tmp_path / "a.csv.gz"
    path.write_bytes(gzip.compress(b"a,b\n1,2,3\n" + b"9" * 10**6 + b",1\n"))
    tracemalloc.start()
    for _ in range(5):
        with pytest.raises(FileError, match="expected 2 cells"):
            read_table(path)
    gc.collect()
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 2 * 10**6


def test_a_header_without_end_is_refused(monkeypatch):
    for module in (_diagnose, csv_file):
        monkeypatch.setattr(module, "MOST_OF_A_ROW", 40)
    monkeypatch.setattr(csv_file, "HEADER", 16)
    with pytest.raises(FileError, match=r"a\.csv: its header does not end in the first .* quote"):
        CsvFile(lambda: pa.BufferReader(b'a,"b\n' + b"1,2\n" * 200), "a.csv")


def test_a_quote_that_is_left_open_in_a_header_ends_its_reading(monkeypatch):
    """Otherwise, the rest of the file is read and parsed many times."""
    monkeypatch.setattr(csv_file, "HEADER", 64)
    monkeypatch.setattr(csv_file, "MOST_OF_A_NAME", 300)
    stream = pa.BufferReader(b'\na,"b\n' + b"1,2\n" * 10_000)
    with pytest.raises(FileError, match=r"a\.csv, line 2: its header does not end in .* quote"):
        csv_header(stream, "a.csv")
    assert stream.tell() < 2000
    names = [f"{number:0100}\n" for number in range(50)]
    header = ",".join(f'"{name}"' for name in names).encode()
    assert csv_header(pa.BufferReader(header + b"\n1,2\n"), "a.csv")[0] == names


@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf"])
def test_bytes_that_are_no_text_are_named_behind_a_byte_order_mark(start, monkeypatch):
    """In the header, and in what is not looked at for it."""
    for size in (1, 1 << 16):
        monkeypatch.setattr(csv_file, "HEADER", size)
        for content in (b"a,b\xe4c\n1,2\n", b"a,b\n1,\xe4c\n"):
            with pytest.raises(FileError, match=r"line [12]: expected UTF-8 .* the byte 0xe4"):
                CsvFile(lambda read=start + content: pa.BufferReader(read), "a.csv").table()


def test_a_row_without_end_is_not_waited_for(monkeypatch):
    monkeypatch.setattr(_diagnose, "MOST_OF_A_ROW", 40)
    content = b'a,b\n"' + b"x" * 200 + b'",y\n'
    stream = WholeRows(pa.BufferReader(content), ",")
    assert bytes(stream.next_rows(8)) == b"a,b\n"
    with pytest.raises(MisplacedQuoteError):
        stream.next_rows(8)
    file = CsvFile(lambda: pa.BufferReader(content), "a.csv")  # which is read the slow way
    assert file.table().to_pydict() == {"a": ["x" * 200], "b": ["y"]}


WRONG = {
    "a short row": b"1,2\n" * 400 + b"3\n" + b"1,2\n" * 400,
    "an open quote": b"1,2\n" * 400 + b'3,"x\n' + b"1,2\n" * 400,
    "no UTF-8": b"1,2\n" * 400 + b"3,\xff\n" + b"1,2\n" * 400,
}


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("problem", WRONG)
def test_no_thread_of_pyarrow_keeps_a_file_that_is_wrong(problem, whole, monkeypatch):
    """A thread that asks Python for more while Python ends keeps the process from ending."""
    content, lent, lend = b"a,b\n" + WRONG[problem], [], WholeRows.lend
    monkeypatch.setattr(WholeRows, "lend", lambda rows: lent.append(rows) or lend(rows))
    monkeypatch.setattr(csv_file, "HEADER", 64)
    monkeypatch.setattr(csv_file, "LEAST_BLOCK", 100)
    file = CsvFile(lambda: pa.BufferReader(content), "a.csv")
    with pytest.raises(FileError, match="line 402"):
        file.table() if whole else list(file.tables(["a"], 100))
    assert lent
    assert all(each() is None for rows in lent for each in rows._lent)  # noqa: SLF001


@pytest.mark.parametrize("length", [140_000, 300_000])
def test_cells_may_be_long(length, tmp_path):
    """Python's reader of CSV, which looks closer, takes 131,072 characters unless it is told."""
    path, long = tmp_path / "a.csv", "x" * length
    path.write_text(f'a,"{long}"\n5" pipe,"{long}"\n')
    assert read_table(path).table.to_pydict() == {"a": ['5" pipe'], long: [long]}
    path.write_text(f'a,b\n5" pipe,"{long}"\n1,"{long}\n')
    with pytest.raises(FileError, match="line 3, column 'b': the quote that opens"):
        read_table(path)
    assert csv.field_size_limit() == 131_072


def test_cells_may_be_long_for_several_at_once():
    """The limit is of the process: whoever is done first must not set it for the others."""
    before = csv.field_size_limit()
    one, other = cells_of_any_length(), cells_of_any_length()
    with one:
        other.__enter__()
    assert csv.field_size_limit() == LONGEST_CELL
    other.__exit__(None, None, None)
    assert csv.field_size_limit() == before


def test_long_cells_are_read_by_threads_at_once(tmp_path):
    before, path = csv.field_size_limit(), tmp_path / "a.csv"
    path.write_text(f'a,b\n5" pipe,"{"x" * 300_000}"\n')
    with ThreadPoolExecutor(4) as pool:
        read = list(pool.map(lambda _: read_table(path).table.num_rows, range(60)))
    assert read == [1] * 60
    assert csv.field_size_limit() == before


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("cell", ["x" * 500, "x" * 50 + "\r\n" + "x" * 50])
@pytest.mark.parametrize("before", range(8))
def test_cells_at_the_border_of_blocks_stay_as_they_are(cell, before, whole, monkeypatch):
    """With a quote inside of a cell, too: pyarrow refused long cells, and lost a line feed."""
    monkeypatch.setattr(csv_file, "LEAST_BLOCK", 64)
    monkeypatch.setattr(csv_file, "OF_A_COLUMN", 1)
    notes = ['5" pipe', "y" * before, cell, "z"]
    content = "a,b\n" + "".join(
        f'1,"{note}"\n' if note is cell else f"1,{note}\n" for note in notes
    )
    file = CsvFile(lambda: pa.BufferReader(content.encode()), "a.csv")
    read = [file.table()] if whole else file.tables(["b"], 64)
    assert [note for table in read for note in table.column("b").to_pylist()] == notes


def test_bytes_that_are_no_text_are_named_beside_a_quote(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b'a,b\n5" pipe,1\n2,\xff\n')
    with pytest.raises(FileError, match=r"line 3: expected UTF-8 text, got the byte 0xff"):
        read_table(path)


@given(st.lists(pieces, max_size=12).map("".join), st.integers(1, 9))
def test_blocks_end_with_rows_or_a_quote_is_misplaced(text, size):
    content = text.encode()
    stream, blocks = WholeRows(pa.BufferReader(content), ","), []
    try:
        while block := bytes(stream.next_rows(size)):
            blocks.append(block)
    except MisplacedQuoteError:
        check = QuoteCheck(",")
        check.feed(content)
        assert not check.regular
    else:
        assert b"".join(blocks) == content
    for block, after in pairwise(blocks):
        assert block.count(b'"') % 2 == 0
        assert block.endswith((b"\n", b"\r"))
        assert not (block.endswith(b"\r") and after.startswith(b"\n"))


@pytest.mark.parametrize("late", ['"x\ny"', '"x\ry"', '5" pipe'])
@pytest.mark.parametrize("at", [0, 3, 500, 999])
def test_batches_before_the_first_line_break_in_a_cell_are_not_read_twice(
    late, at, tmp_path, monkeypatch
):
    monkeypatch.setattr(shards, "BLOCK", 1000)
    lines = [*ROWS[:at], f"{at},ok,{late}\n", *ROWS[at + 1 :]]
    path = tmp_path / "a.csv"
    path.write_text(HEADER + "".join(lines), newline="")
    read = [rows for rows in Shard(path).batches(["id", "note"]) if rows.table.num_rows]
    assert len(read) > 3
    assert [rows.before for rows in read] == [int(rows.table["id"][0].as_py()) for rows in read]
    table = pa.concat_tables([rows.table for rows in read])
    assert table["id"].to_pylist() == [str(i) for i in range(1000)]
    assert table["note"][at].as_py() == late.strip('"')


def test_pieces_are_joined_where_a_quote_ends_one():
    for text, regular in (('"' + "x" * (PIECE - 2) + '"', True), ('"' + "x" * PIECE, False)):
        check = QuoteCheck(",")
        check.feed(text.encode() + b",y")
        assert check.regular == regular
    check = QuoteCheck(",")
    check.feed(b'"' + b"x" * (PIECE - 2) + b'"y')
    assert not check.regular


def test_a_wrong_row_is_an_error_though_pyarrow_ends_as_if_the_file_did(monkeypatch):
    content, read = b"a,b\n" + b"1,2\n" * 20 + b"3\n4,5\n", vars(CsvFile)["_tables"]

    def quiet(*given):
        with contextlib.suppress(pa.ArrowInvalid):
            yield from read(*given)

    monkeypatch.setattr(CsvFile, "_tables", quiet)
    file = CsvFile(lambda: pa.BufferReader(content), "x.csv")
    with pytest.raises(FileError, match="expected 2 cells, as in the header, got 1"):
        list(file.tables(file.names, 30))


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="descriptors are counted there")
def test_a_file_that_is_refused_is_closed_though_its_error_is_kept(tmp_path):
    path, kept = tmp_path / "a.csv", []
    for content in [*WRONG.values(), b'1,"2"x\n'] * 3:
        path.write_bytes(b"a,b\n" + content)
        with pytest.raises(FileError) as caught:
            read_table(path)
        kept.append(caught.value)
    assert len(kept) > 10
    descriptors = [os.path.realpath(each) for each in Path("/proc/self/fd").iterdir()]
    assert os.path.realpath(path) not in descriptors
