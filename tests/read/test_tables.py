import bz2
import io
import json
import re
import sys
import zipfile

import openpyxl
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather
from pyarrow import json as arrow_json

from stakes.errors import FileError, MissingExtraError
from stakes.read import csv_file, formats, shards
from stakes.read.csv_file import CsvFile
from stakes.read.shards import Shard
from stakes.read.tables import read_table

whole = CsvFile.table


def test_cells_of_csv_files_stay_text(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('a,b,c\n01,NA,"x,\ny"\n,null,"say ""so"""\n')
    assert read_table(path).table.to_pydict() == {
        "a": ["01", ""],
        "b": ["NA", "null"],
        "c": ["x,\ny", 'say "so"'],
    }
    assert [read_table(path).place(row) for row in (0, 1, 2)] == ["line 2", "line 4", "row 3"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("start", [b"", b"\xef\xbb\xbf", b"\n\n"], ids=["", "BOM", "blank lines"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_the_separator_is_found(separator, start, end, tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(start + f"a{separator}b{end}1{separator}2{end}".encode())
    assert read_table(path).table.to_pydict() == {"a": ["1"], "b": ["2"]}


def test_one_column_needs_no_separator(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("actual\nok\nfraud\n")
    assert read_table(path).table.to_pydict() == {"actual": ["ok", "fraud"]}


def test_formats_that_know_types(tmp_path):
    table = pa.table({"a": ["ok", "fraud"], "b": [0.5, None], "c": [True, False]})
    pq.write_table(table, tmp_path / "a.PARQUET")
    feather.write_feather(table, tmp_path / "a.arrow")
    (tmp_path / "a.ndjson").write_text(
        '{"a": "ok", "b": 0.5, "c": true}\n\n{"a": "fraud", "c": false}\n'
    )
    for name in ("a.PARQUET", "a.arrow", "a.ndjson"):
        found = read_table(tmp_path / name)
        assert found.table.to_pydict() == table.to_pydict()
        assert found.place(1) == ("line 3" if name == "a.ndjson" else "row 2")


def test_text_as_polars_writes_it_can_be_counted(tmp_path):
    """Its Arrow files have string views, which pyarrow cannot count, nor take from."""
    labels = ["ok", "fraud"] * 3
    frame = pl.DataFrame(
        {"a": labels, "b": pl.Series(labels, dtype=pl.Categorical), "c": [b"x", b"y"] * 3}
    )
    frame.write_ipc(tmp_path / "a.arrow")
    expected = {name: frame[name].to_list() for name in frame.columns}
    read = [read_table(tmp_path / "a.arrow").table]
    read += [rows.table for rows in Shard(tmp_path / "a.arrow").batches(["a", "b", "c"])]
    for table in read:
        assert table.to_pydict() == expected
        assert [len(column.unique()) for column in table.columns] == [2, 2, 2]
        assert table.take([0]).num_rows == 1


@pytest.mark.parametrize("blank", [b"  \n", b"\n \t\n"])
def test_a_first_line_of_spaces_is_refused(blank, tmp_path):
    """pyarrow takes it for the header, and guessed the types of the columns of another name."""
    path = tmp_path / "a.csv"
    path.write_bytes(blank + b"actual\n01\n")
    for read in (read_table, Shard.schema):
        with pytest.raises(FileError, match=r"line [12]: expected the names of columns"):
            read(path if read is read_table else Shard(path))


def test_repetitive_text_of_parquet_files_stays_a_dictionary(tmp_path):
    names = [f"example {i}" for i in range(3000)]
    table = pa.table({"id": names, "a": ["ok", "fraud", "ok"] * 1000, "x": [[1]] * 3000})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=1000)
    found = read_table(tmp_path / "a.parquet")
    assert pa.types.is_dictionary(found.table.schema.field("a").type)
    assert not pa.types.is_dictionary(found.table.schema.field("id").type)
    assert found.table.to_pydict() == table.to_pydict()


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
def test_text_of_parquet_files_in_any_encoding_is_read(encoding, tmp_path):
    path, values = tmp_path / "a.parquet", ["ok", "fraud"] * 500
    options = {"use_dictionary": False, "column_encoding": encoding}
    pq.write_table(pa.table({"a": values}), path, **options)
    assert read_table(path).table.to_pydict() == {"a": values}
    assert [rows.table["a"].to_pylist() for rows in Shard(path).batches(["a"])] == [values]


def test_columns_are_read_when_they_are_asked_for(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text('a,b,c\n1,"x\ny",3\n4,5,6\n')
    read = []
    monkeypatch.setattr(CsvFile, "table", lambda *given: read.append(given[1:]) or whole(*given))
    rows = read_table(path, first=lambda name: name == "b").table
    assert (rows.column_names, rows.num_rows) == (["a", "b", "c"], 2)
    assert rows.schema == read_table(path).table.schema
    assert rows.column("b").to_pylist() == ["x\ny", "5"]
    assert read[:1] == [(["b"],)]
    del read[:]
    assert rows.column("a").to_pylist() == ["1", "4"]
    assert rows.take([1]).to_pydict() == {"a": ["4"], "b": ["5"], "c": ["6"]}
    assert read == [()]
    with pytest.raises(AttributeError):
        rows.nothing  # noqa: B018 - a name that tables do not have


@pytest.mark.parametrize("quoted", [False, True])
def test_a_header_may_be_longer_than_what_is_looked_at_first(quoted, tmp_path, monkeypatch):
    monkeypatch.setattr(csv_file, "HEADER", 16)
    names = [f"column {i}" for i in range(9)]
    path = tmp_path / "a.csv"
    cells = [f'"{name}"' if quoted else name for name in names]
    path.write_text(",".join(cells) + "\n" + ",".join("012345678") + "\n")
    rows = read_table(path, first=lambda name: name == "column 8").table
    assert rows.column_names == names
    assert rows.column("column 8").to_pylist() == ["8"]
    assert read_table(path).table.to_pydict() == {name: [name[-1]] for name in names}


@pytest.mark.parametrize("later", ["1,2\n3,4\n5,6\n", "3,4\n1,2\n", "b\n"])
def test_a_file_that_changes_before_all_columns_are_read_is_refused(later, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n3,4\n")
    rows = read_table(path, first=lambda name: name == "a").table
    path.write_text(later if later.startswith("b") else f"a,b\n{later}")
    with pytest.raises(FileError, match="it changed while it was read"):
        rows.column("b")
    path.unlink()
    with pytest.raises(FileError, match="cannot be read"):
        rows.column("b")


@pytest.mark.parametrize(
    ("number", "other"),
    [("18446744073709551617", "1"), ("9007199254740993", "0.5"), ("-9007199254740993", "1e3")],
)
def test_large_numbers_that_would_be_rounded_are_refused(number, other, tmp_path, monkeypatch):
    """Labels and ids that differ would be the same."""
    monkeypatch.setattr(shards, "BLOCK", 20)
    path = tmp_path / "a.jsonl"
    path.write_text(f'{{"a": {other}}}\n\n{{"a": {number}}} {{"a": {other}}}\n')
    with pytest.raises(FileError, match=rf"line 3, column 'a': the number {number} has too many"):
        read_table(path)
    with pytest.raises(FileError, match=rf"line 3, column 'a': the number {number} has too many"):
        list(Shard(path).batches(["a"]))
    path.write_text('{"a": 9007199254740992, "b": 1e300}\n{"a": 0.5, "b": 1}\n')
    assert read_table(path).table["a"].to_pylist() == [2.0**53, 0.5]


@pytest.mark.parametrize("first", [10, 150, 1 << 16])
def test_text_of_json_lines_that_is_like_a_date_stays_text(first, tmp_path, monkeypatch):
    """pyarrow makes dates of it, of which differently written ones are equal."""
    monkeypatch.setattr(formats, "FIRST_LINES", first)
    monkeypatch.setattr(shards, "BLOCK", 200)
    path, dates = tmp_path / "a.jsonl", ["2020-01-01", "2020-01-01 00:00:00", None]
    rows = [
        {"a": date, "in": {"day": date, "x": x}, "all": [date], "no": None, "x": x}
        for date, x in zip(dates, (1, 0.5, None), strict=True)
    ]
    rows.append({"a": "2020-01-01T00:00:00Z", "late": "2020-01-02"})
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    found = read_table(path).table
    assert found.column_names == ["a", "in", "all", "no", "x", "late"]
    assert found.to_pylist() == [dict.fromkeys(found.column_names) | row for row in rows]
    read = [rows.table for rows in Shard(path).batches(["a"])]
    assert len(read) > 1
    assert [each for table in read for each in table["a"].to_pylist()] == [*dates, rows[-1]["a"]]


@pytest.mark.parametrize(("late", "times"), [("b", 1), ("2020-01-02", 2)])
def test_json_lines_with_dates_are_parsed_twice_only_if_new_ones_come_late(
    late, times, tmp_path, monkeypatch
):
    parsed, read = [], arrow_json.read_json
    monkeypatch.setattr(formats, "FIRST_LINES", 200)
    monkeypatch.setattr(
        arrow_json, "read_json", lambda file, **kw: parsed.append(file.size()) or read(file, **kw)
    )
    path = tmp_path / "a.jsonl"
    row = {"n": 1, "day": "2020-01-01", "in": {"x": 1, "day": "2020-01-01"}, "all": ["2020-01-01"]}
    rows = [row] * 9 + [{**row, "n": 0.5, "in": {"x": 0.5, "late": late}}]
    path.write_text("".join(f"{json.dumps(each)}\n" for each in rows))
    table = read_table(path).table
    assert table.column_names == ["n", "day", "in", "all"]
    assert table.to_pylist() == [
        {**each, "in": dict.fromkeys(("x", "day", "late")) | each["in"]} for each in rows
    ]
    assert parsed.count(path.stat().st_size) == times


def test_a_file_whose_name_does_not_tell_its_packing_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(bz2.compress(b"a,b\n1,2\n"))
    with pytest.raises(FileError, match=r"it is compressed with bz2\. Let its name end in \.bz2"):
        read_table(path)


def test_lines_of_json_end_where_those_of_an_editor_do(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": "x\u2028y"}\n{"a": 1}\n', encoding="utf-8")
    with pytest.raises(FileError, match="line 2, column 'a': got a number, but text in line 1"):
        read_table(path)


def test_packed_files(tmp_path):
    (tmp_path / "a.csv.bz2").write_bytes(bz2.compress(b"a,b\n1,2\n"))
    assert read_table(tmp_path / "a.csv.bz2").table.to_pydict() == {"a": ["1"], "b": ["2"]}


def test_standard_input_shows_its_format(monkeypatch):
    sink = io.BytesIO()
    pq.write_table(pa.table({"a": ["1"]}), sink)
    for content in (b"a\n1\n", b'{"a": "1"}\n', sink.getvalue()):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))
        assert read_table("-").table.to_pydict() == {"a": ["1"]}
        assert read_table("-", content).table.to_pydict() == {"a": ["1"]}


def workbook(path, **sheets):
    book = openpyxl.Workbook()
    book.remove(book.active)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    book.save(path)


def with_sheet(path, change):
    """Write a workbook again, with the XML of its first sheet changed."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, change(part) if name.endswith("sheet1.xml") else part)


@pytest.mark.parametrize("stated", ["A1", "A1:B2", "A1:A9", "A3:B3", "A1:ZZ99", None])
def test_a_workbook_is_read_whatever_it_states_its_size_to_be(stated, tmp_path):
    path, rows = tmp_path / "a.xlsx", [["a", "b"], [1, "x"], [2, None], [], [None, "y"], [4, "z"]]
    workbook(path, one=rows, none=[], blank=[[None]])
    new = b"" if stated is None else f'<dimension ref="{stated}" />'.encode()
    with_sheet(path, lambda part: re.sub(rb"<dimension [^>]*>", new, part))
    expected = {"a": [1, 2, None, 4], "b": ["x", None, "y", "z"]}
    for name in (path, f"{path}#one"):
        assert read_table(name).table.to_pydict() == expected


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        (b'<row r="3"></row>', "row 3 twice"),
        (b"<row spans=\"1:2\" r='9'/>", "rows out of order: row 3 is after row 9"),
    ],
)
def test_a_sheet_whose_rows_are_out_of_order_is_refused(extra, said, tmp_path):
    """openpyxl leaves out rows whose number was there before."""
    path = tmp_path / "a.xlsx"
    workbook(path, one=[["a", "b"], [1, "x"], [2, "y"], [4, "z"]])
    with_sheet(path, lambda part: part.replace(b'<row r="3"', extra + b'<row r="3"'))
    with pytest.raises(FileError, match=rf"its sheet 'one' has {said}\. Save it anew"):
        read_table(path)


def test_workbooks_without_a_table_are_refused(tmp_path):
    path = tmp_path / "a.xlsx"
    workbook(path, one=[], two=[[None]])
    with pytest.raises(FileError, match="its sheets are empty; expected a table of predictions"):
        read_table(path)
    with pytest.raises(FileError, match="its first row is empty"):
        read_table(f"{path}#two")
    workbook(path, one=[["a"], [1]])
    with_sheet(path, lambda part: part[:-30])
    with pytest.raises(FileError, match="cannot be read as a workbook"):
        read_table(path)


def test_a_large_file_names_the_line_that_is_wrong(tmp_path):
    path = tmp_path / "a.csv"
    lines = ["a,b,c", *(f"row {i},{'x' * 60},2" for i in range(40_000))]
    path.write_text("\n".join([*lines, "one,two"]))
    with pytest.raises(FileError, match="line 40002: expected 3 cells"):
        read_table(path)
    path.write_bytes("\n".join(lines).encode() + b"\n\xff,2,3\n")
    with pytest.raises(FileError, match="line 40002: expected UTF-8 text, got the byte 0xff"):
        read_table(path)


def test_pyarrow_is_asked_for(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'stakes\[cli\]'"):
        read_table("-", b"a\n1\n")
