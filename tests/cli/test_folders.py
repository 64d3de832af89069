"""Folders and patterns of files, read as one table with few rows in memory at a time."""

import csv
import gzip
import io
import json
import os
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import feather, parquet

from stakes.predictions import tally
from stakes.read import shards as parts

INLINE = ["--fp", "1", "--fn", "5", "--pos-label", "fraud"]


def as_jsonl(table, path):
    path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))


def as_gzip(table, path):
    buffer = io.BytesIO()
    arrow_csv.write_csv(table, buffer)
    path.write_bytes(gzip.compress(buffer.getvalue()))


def as_jsonl_gzip(table, path):
    as_jsonl(table, path)
    path.write_bytes(gzip.compress(path.read_bytes()))


WRITERS = {
    "csv": lambda table, path: arrow_csv.write_csv(table, str(path)),
    "csv.gz": as_gzip,
    "jsonl": as_jsonl,
    "jsonl.gz": as_jsonl_gzip,
    "parquet": lambda table, path: parquet.write_table(table, path, row_group_size=50),
    "arrow": lambda table, path: feather.write_feather(table, str(path)),
}
kinds = pytest.mark.parametrize("kind", WRITERS)


@pytest.fixture
def table(payments):
    """Return predictions as a table of numbers and text."""
    rows = list(csv.DictReader(io.StringIO(payments(400, seed=3))))
    columns = {}
    for name in rows[0]:
        read = float if name.endswith("_score") else str
        columns[name] = [read(row[name]) for row in rows]
    return pa.table(columns)


@pytest.fixture
def write(folder, table, monkeypatch):
    """Return a function that writes the table as one file and as parts, and names both."""
    monkeypatch.setattr(parts, "BATCH", 64)  # so that a part has several batches
    monkeypatch.setattr(parts, "BLOCK", 1 << 12)

    def written(kind, cuts=(0, 130, 131, 400), rows=table):
        WRITERS[kind](rows, folder / f"whole.{kind}")
        place = folder / "parts"
        place.mkdir(exist_ok=True)
        for number, (low, high) in enumerate(pairwise(cuts)):
            WRITERS[kind](rows.slice(low, high - low), place / f"part-{number}.{kind}")
        return f"whole.{kind}", "parts", f"parts/part-*.{kind}"

    return written


def results(said, name):
    assert (said.code, said.err.count("error")) == (0, 0), said.err
    return said.out.replace(name, "the table")


COMMANDS = {
    "evaluate": ["evaluate", "-c", "costs.csv"],
    "evaluate, costs of mistakes": ["evaluate", *INLINE],
    "evaluate, columns named": ["evaluate", *INLINE, "--actual", "actual", "-m", "old"],
    "evaluate, by scores": ["evaluate", *INLINE, "-s", "tree_score"],
    "compare": ["compare", "-c", "costs.csv", "--baseline", "old"],
    "threshold": ["threshold", *INLINE],
    "curve": ["curve", *INLINE],
}


# Every command on a text format and a binary format; every format with and without scores.
PAIRS = [
    (kind, command)
    for kind in WRITERS
    for command in COMMANDS
    if kind in {"csv", "parquet"} or command in {"evaluate, columns named", "threshold"}
]


@pytest.mark.parametrize(("kind", "command"), PAIRS)
def test_parts_say_what_one_file_says(stakes, write, kind, command):
    whole, *apart = write(kind)
    name, *options = COMMANDS[command]
    expected = results(stakes(name, whole, *options, "--json", "-"), whole)
    for source in apart:
        assert results(stakes(name, source, *options, "--json", "-"), source) == expected


@kinds
def test_parts_are_counted_into_the_same_file(stakes, write, folder, kind):
    whole, parted, _ = write(kind)
    for source, out in ((whole, "one.json"), (parted, "other.json")):
        assert stakes("count", source, *INLINE, "--out", out).code == 0
    assert (folder / "one.json").read_text() == (folder / "other.json").read_text()


def test_a_template_of_costs_has_the_classes_of_all_parts(stakes, write, folder, table):
    order = np.argsort(table.column("actual").to_pylist())
    write("csv", rows=table.take(order))
    assert stakes("costs", "template", "parts", "--out", "new.csv").code == 0
    assert (folder / "new.csv").read_text().splitlines()[0] == "predicted\\actual,fraud,ok"


def test_a_large_file_is_read_in_batches(stakes, write, monkeypatch):
    whole, *_ = write("parquet")
    expected = stakes("evaluate", whole, *INLINE)
    monkeypatch.setattr(parts, "LARGE", 1)
    monkeypatch.setattr("stakes.read.tables.read_table", None)
    assert stakes("evaluate", whole, *INLINE) == expected


def test_notes_of_engines_and_empty_parts_are_left_out(stakes, write, folder, table):
    _, parted, _ = write("parquet", cuts=(0, 200, 200, 400))
    (folder / "parts/_SUCCESS").write_text("")
    (folder / "parts/.part-0.parquet.crc").write_bytes(b"crc")
    (folder / "parts/deeper").mkdir()
    WRITERS["parquet"](table, folder / "parts/deeper/part-9.parquet")
    said = stakes("evaluate", parted, *INLINE)
    assert "800 examples of parts." in said.out


def refused(said):
    assert (said.code, said.out) == (2, "")
    return " ".join(said.err.split())


PLACES = ("parts", "parts/**/*.csv")


@pytest.mark.parametrize("source", [*PLACES, "parts/*.csv"])
def test_a_link_that_leads_nowhere_is_refused(stakes, write, folder, source):
    write("csv")
    (folder / "parts/part-9.csv").symlink_to("gone.csv")
    said = refused(stakes("evaluate", source, *INLINE))
    assert "parts/part-9.csv: expected a file or a folder, got a link that leads to neither" in said


def test_a_link_to_no_folder_is_refused(stakes, write, folder):
    write("csv")
    (folder / "all").mkdir()
    (folder / "all/day=1").symlink_to(folder / "parts")
    assert "400 examples" in stakes("evaluate", "all/day=*/*.csv", *INLINE).out
    (folder / "all/day=2").symlink_to("gone")
    said = refused(stakes("evaluate", "all/day=*/*.csv", *INLINE))
    assert "all/day=2: expected a file or a folder" in said


def test_a_pipe_is_refused(stakes, write, folder):
    write("csv")
    os.mkfifo(folder / "parts/part-9.csv")
    said = refused(stakes("evaluate", "parts", *INLINE))
    assert "parts/part-9.csv: expected a file or a folder, got something else" in said


@pytest.mark.parametrize("source", PLACES)
def test_linked_folders_count_once(stakes, write, folder, table, source):
    write("csv")
    (folder / "elsewhere").mkdir()
    WRITERS["csv"](table, folder / "elsewhere/more.csv")
    (folder / "parts/linked").symlink_to(folder / "elsewhere")
    assert "800 examples" in stakes("evaluate", source, *INLINE).out
    (folder / "parts/loop").symlink_to(folder / "parts")
    said = refused(stakes("evaluate", source, *INLINE))
    assert "parts/loop: it is the same folder as parts, through a link" in said


@pytest.mark.parametrize("source", PLACES)
def test_a_folder_that_cannot_be_looked_into_is_refused(stakes, write, folder, monkeypatch, source):
    write("csv")
    (folder / "parts/locked").mkdir()
    scan = os.scandir

    def locked(path):
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scan(path)

    monkeypatch.setattr(os, "scandir", locked)
    said = refused(stakes("evaluate", source, *INLINE))
    assert "parts/locked: the folder cannot be read: Permission denied." in said


def test_a_folder_of_a_pattern_that_cannot_be_looked_into_is_refused(stakes, write, monkeypatch):
    write("csv")
    monkeypatch.setattr(os, "access", lambda *_: False)
    said = refused(stakes("evaluate", "part[s]/*.csv", *INLINE))
    assert "parts: the folder cannot be read: Permission denied." in said


def test_patterns_leave_out_what_folders_leave_out(stakes, write, folder, table):
    write("csv")
    (folder / "parts/_old").mkdir()
    for name in ("_old/part-0.csv", "_x.csv"):
        WRITERS["csv"](table.slice(0, 7), folder / "parts" / name)
    for source in ("parts", "parts/*.csv", "parts/**/*.csv"):
        assert "400 examples" in stakes("evaluate", source, *INLINE).out
    for source in ("parts/_*.csv", "parts/_old", "parts/_old/*.csv", "parts/_o*/../_x*.csv"):
        assert "7 examples" in stakes("evaluate", source, *INLINE).out
    said = refused(stakes("evaluate", "parts/?x.csv", *INLINE))
    assert "it names only files that are left out, such as parts/_x.csv" in said


@pytest.mark.parametrize("source", [*PLACES, "parts/*.csv"])
def test_a_folder_that_is_being_written_is_refused(stakes, write, folder, source):
    write("csv")
    (folder / "parts/_temporary").mkdir()
    said = refused(stakes("evaluate", source, *INLINE))
    assert "parts/_temporary: expected a folder that is written to its end" in said


def test_a_folder_above_that_is_being_written_is_refused(stakes, write, folder):
    write("csv")
    (folder / "parts").rename(folder / "day=1")
    (folder / "all/_temporary").mkdir(parents=True)
    (folder / "day=1").rename(folder / "all/day=1")
    said = refused(stakes("evaluate", "all/*/*.csv", *INLINE))
    assert "all/_temporary: expected a folder that is written to its end" in said


@pytest.mark.parametrize("kind", ["csv.gz", "jsonl.gz"])
@pytest.mark.parametrize("kept", [30, -20], ids=["at its beginning", "at its end"])
def test_a_packed_part_cut_short_is_named(stakes, write, folder, kind, kept):
    write(kind)
    place = folder / f"parts/part-2.{kind}"
    place.write_bytes(place.read_bytes()[:kept])
    said = refused(stakes("evaluate", "parts", *INLINE))
    assert f"parts/part-2.{kind}: cannot be read as a table: Truncated compressed" in said


def test_progress_names_the_part(write, monkeypatch):
    from stakes.cli._inputs import read_study
    from stakes.cli._options import ColumnOptions, CostOptions
    from stakes.cli._output import Output, Progress

    _, parted, _ = write("csv")
    seen = []
    monkeypatch.setattr(Progress, "reach", lambda _, *told: seen.append(told))
    prices = CostOptions(false_positive=1, false_negative=5, pos_label="fraud")
    read_study(Output(quiet=True), [parted], prices, ColumnOptions(), with_scores=False)
    assert seen[-1] == (2, 3, "reading parts/part-2.csv")


def test_scores_that_do_not_fit_are_refused(stakes, write, monkeypatch):
    whole, parted, _ = write("parquet")
    monkeypatch.setattr(tally, "MOST_SCORES", 500)
    assert stakes("threshold", whole, *INLINE).code == 0  # a single file is read as a whole
    said = stakes("threshold", parted, *INLINE)
    assert said.code == 2
    assert "more than 500 scores, which do not fit here" in said.err.replace("\n", " ")
    assert "'stakes count --without-scores'" in said.err.replace("\n", " ")
    assert stakes("count", parted, *INLINE, "--without-scores", "--out", "n.json").code == 0


def cut_short(place):
    place.write_bytes(place.read_bytes()[:-20])


def damaged_inside(place):
    content = bytearray(place.read_bytes())
    content[4:400] = bytes(396)
    place.write_bytes(content)


def replaced(name, values):
    def change(place):
        table = parquet.read_table(place)
        at = table.column_names.index(name)
        column = pa.array(values) if isinstance(values, list) else values(table.column(name))
        parquet.write_table(table.set_column(at, name, column), place)

    return change


def with_null(column):
    values = column.to_pylist()
    values[30] = None
    return pa.array(values, column.type)


def without(name):
    def change(place):
        parquet.write_table(parquet.read_table(place).drop_columns([name]), place)

    return change


def with_more(place):
    table = parquet.read_table(place)
    parquet.write_table(table.append_column("extra", table.column("id")), place)


BROKEN = {
    "cut short": (cut_short, "parts/part-2.parquet: cannot be read as a Parquet file"),
    "damaged": (damaged_inside, "parts/part-2.parquet: cannot be read as a Parquet file"),
    "empty": (lambda place: place.write_bytes(b""), "parts/part-2.parquet: the file is empty"),
    "a column less": (
        without("tree"),
        "parts/part-2.parquet: there is no column 'tree', which parts/part-0.parquet has",
    ),
    "a column more": (
        with_more,
        "parts/part-2.parquet: there is a column 'extra', which parts/part-0.parquet has not",
    ),
    "labels of another kind": (
        replaced("actual", [0, 1] * 134 + [1]),
        "parts/part-2.parquet, column 'actual': it has numbers, but parts/part-0.parquet has text",
    ),
    "a label missing": (
        replaced("actual", with_null),
        "parts/part-2.parquet, row 31, column 'actual': there is no label.",
    ),
    "a decision missing": (
        replaced("tree", with_null),
        "parts/part-2.parquet, row 31, column 'tree': there is no label.",
    ),
    "a decision unknown": (
        replaced("tree", lambda column: pa.array(["fruad", *column.to_pylist()[1:]])),
        "parts/part-2.parquet, row 1, column 'tree': 'fruad' is not one of the decisions",
    ),
}
NAMED = ["--actual", "actual", "-m", "tree"]


@pytest.mark.parametrize(("change", "says"), BROKEN.values(), ids=BROKEN)
def test_what_is_wrong_with_a_part_is_said_with_its_name(stakes, write, folder, change, says):
    write("parquet")
    change(folder / "parts/part-2.parquet")
    said = stakes("evaluate", "parts", *INLINE, *NAMED)
    assert (said.code, said.out) == (2, "")
    assert says in " ".join(said.err.split())


def test_a_score_missing_is_found_where_it_is(stakes, write, folder):
    write("parquet")
    replaced("tree_score", with_null)(folder / "parts/part-2.parquet")
    said = stakes("threshold", "parts", *INLINE, "-s", "tree_score")
    expected = "parts/part-2.parquet, row 31, column 'tree_score': there is no score."
    assert (said.code, said.out) == (2, "")
    assert expected in " ".join(said.err.split())


TEXTS = {
    "a line too short": (
        "csv",
        lambda text: text.replace("\n", "\nonly one cell\n", 1),
        "parts/part-2.csv, line 2: expected 8 cells, as in the header, got 1",
    ),
    "other columns": (
        "csv",
        lambda text: text.replace("actual", "truth", 1),
        "parts/part-2.csv: there is no column 'actual'",
    ),
    "a line that is no object": (
        "jsonl",
        lambda text: text + "[1]\n",
        "parts/part-2.jsonl, line 270: expected an object",
    ),
    "kinds that change": (
        "jsonl",
        lambda text: (
            text[: text.rindex('{"id"')]
            + text[text.rindex('{"id"') :].replace('"actual": "', '"actual": 1, "was": "')
        ),
        "parts/part-2.jsonl",
    ),
}


@pytest.mark.parametrize("case", TEXTS.values(), ids=TEXTS)
def test_lines_of_a_part_are_named(stakes, write, folder, case):
    kind, change, says = case
    write(kind)
    place = folder / f"parts/part-2.{kind}"
    place.write_text(change(place.read_text()))
    said = stakes("evaluate", "parts", *INLINE)
    assert (said.code, said.out) == (2, "")
    assert says in " ".join(said.err.split())


def test_what_cannot_be_read_as_one_table(stakes, write, folder):
    (folder / "nothing").mkdir()
    cases = {
        ("nothing",): "nothing: the folder has no files of predictions.",
        ("no-*.csv",): "no-*.csv: no file has such a name.",
        ("parts", "predictions.csv", "--id", "id"): "parts: a table in many files cannot be joined",
    }
    write("csv")
    for arguments, says in cases.items():
        said = stakes("evaluate", *arguments, *INLINE)
        assert says in " ".join(said.err.split())
        assert (said.code, said.out) == (2, "")
    (folder / "parts/notes.md").write_text("x")
    said = stakes("evaluate", "parts", *INLINE)
    assert "parts/notes.md: the files of parts are read as one table" in " ".join(said.err.split())
    only = folder / "headers"
    only.mkdir()
    (only / "a.csv").write_text("actual,tree\n")
    said = stakes("evaluate", "headers", *INLINE)
    assert "headers: its files have columns (actual, tree) but no rows" in said.err
