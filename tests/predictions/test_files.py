"""Files of predictions give the same study, whatever their format and layout."""

import gzip
import io
import json
import sys
from dataclasses import fields
from datetime import date
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from stakes.errors import FileError, InputError, InputTypeError, StakesError
from stakes.predictions import ArrowTable, Columns, DesignColumns, Reading, ShardedTable
from stakes.predictions.count_file import counts_bytes, counts_text, read_count_file
from stakes.predictions.files import table_of_files
from stakes.read import shards, write_binary, write_text
from stakes.study import study_of, study_of_files

COSTS = {"false_positive": 1, "false_negative": 5}
ROWS = ["a,no,no,0.2,no", "b,yes,yes,0.9,no", "c,no,yes,0.6,no", "d,yes,no,0.4,yes"]
NAMES = ["id", "actual", "tree", "tree_score", "rule_pred"]


class Told:
    """Keeps what it is told of the progress."""

    def __init__(self):
        self.all = []

    def expect(self, steps):
        self.all.append(steps)

    def step(self, text):
        self.all.append(text)

    def reach(self, done, total, text):
        self.all.append((done, total, text))


def csv(rows, columns=range(5)):
    table = [NAMES, *(row.split(",") for row in rows)]
    return "\n".join(",".join(row[i] for i in columns) for row in table) + "\n"


def study(*paths, told=None, columns=None, **options):
    options = {"pos_label": "yes"} | options
    return study_of_files(paths, COSTS, columns or Columns(), told or Told(), **options)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Return the working folder, which has the same examples in many ways."""
    monkeypatch.chdir(tmp_path)
    write_text("all.csv", csv(ROWS))
    (tmp_path / "parts").mkdir()
    write_text("parts/1.csv", csv(ROWS[:1]))
    write_text("parts/2.csv", csv(ROWS[1:]))
    write_text("tree.csv", csv(ROWS[::-1], [0, 1, 2, 3]))
    write_text("rule.csv", csv(ROWS, [0, 1, 4]))
    counts = study("all.csv").counts()
    write_text("all.json", counts_text(counts))
    write_binary("all.parquet", counts_bytes(counts))
    return tmp_path


@pytest.mark.parametrize(
    "paths",
    [["parts"], ["parts/*.csv"], ["tree.csv", "rule.csv"], ["all.json"], ["all.parquet"], ["-"]],
    ids=" ".join,
)
@pytest.mark.parametrize("piped", ["all.csv", "all.json"])
def test_the_same_examples_in_any_files_are_the_same_study(folder, monkeypatch, paths, piped):
    content = io.BytesIO((folder / piped).read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
    columns = Columns(key="id") if len(paths) > 1 else Columns()
    assert study(*paths, columns=columns).counts() == study("all.csv").counts()


@pytest.mark.parametrize("name", ["one/a.parquet", "one/a.pq", "b.pq", "c.PARQUET"])
@pytest.mark.parametrize("how", ["itself", "pattern", "folder", "piped"])
def test_a_parquet_count_file_is_known_wherever_it_comes_from(folder, monkeypatch, name, how):
    (folder / "one").mkdir()
    write_binary(name, (folder / "all.parquet").read_bytes())
    content = io.BytesIO((folder / name).read_bytes())
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
    given = {"itself": name, "pattern": f"{name[:-2]}*", "folder": "one", "piped": "-"}[how]
    if how == "folder" and "/" not in name:
        write_binary("one/a.parquet", (folder / name).read_bytes())
    assert study(given).counts() == study("all.csv").counts()
    assert read_count_file(name) == read_count_file("all.json")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("other", ["parts/1.csv", "all.parquet", "all.json"])
def test_count_files_are_no_part_of_a_table(folder, other):
    (folder / "many").mkdir()
    for number, name in enumerate(["all.parquet", other]):
        write_binary(f"many/{number}{Path(name).suffix}", (folder / name).read_bytes())
    for given in ("many", "many/*"):
        with pytest.raises(FileError, match=r"many/[01]\.\w+: .*[Mm]erge .*count files"):
            study(given)
    packed = gzip.compress((folder / "all.parquet").read_bytes())
    write_binary("all.parquet.gz", packed)
    with pytest.raises(FileError, match=r"all\.parquet\.gz: .*A count file cannot be combined"):
        study("all.parquet.gz")
    with pytest.raises(InputError, match=r"all\.parquet: a count file cannot be combined"):
        study("all.parquet", "tree.csv", columns=Columns(key="id"))


@pytest.mark.parametrize("kind", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        (
            "tree",
            "yess",
            r"2\.\w+, \w+ [23], column 'tree': 'yess' is not .* name the models",
        ),
        ("tree", None, r"2\.\w+, \w+ [23], column 'tree': there is no label\. Correct it"),
        ("rule_pred", "", r"2\.\w+, \w+ [23], column 'rule_pred': there is no label\. Correct it"),
        (
            "tree_score",
            None,
            r"2\.\w+, \w+ [23], column 'tree_score': there is no score\.",
        ),
    ],
)
def test_a_wrong_cell_in_one_of_many_files_is_found(folder, kind, name, value, says):
    (folder / "flawed").mkdir()
    rows = [dict(zip(NAMES, row.split(","), strict=True)) for row in ROWS]
    for row in rows:
        row["tree_score"] = float(row["tree_score"])
    rows[2][name] = value
    for number, some in enumerate([rows[:1], rows[1:]], 1):
        table = pa.Table.from_pylist(some)
        path = folder / "flawed" / f"{number}.{kind}"
        if kind == "csv":
            arrow_csv.write_csv(table, str(path))
        elif kind == "parquet":
            parquet.write_table(table, path)
        else:
            path.write_text("".join(json.dumps(row) + "\n" for row in some))
    with pytest.raises(InputError, match=says):
        study("flawed")


@pytest.mark.usefixtures("folder")
def test_named_columns_are_used():
    columns = Columns(actual="tree", models=["rule_pred"])
    assert study("all.csv", columns=columns).names == ("rule",)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "given",
    [
        *({each.name: "z"} for each in fields(Columns) if each.name not in {"design", "reading"}),
        *({"design": DesignColumns(**{each.name: "z"})} for each in fields(DesignColumns)),
        *(
            {"reading": Reading(**{each.name: ("z",)})} for each in fields(Reading)[:-1]
        ),  # not gated
    ],
    ids=str,
)
def test_a_count_file_refuses_what_only_rows_can_follow(given):
    says = r"^\w+: (all\.json is a count file|it chooses rows of a database)"
    with pytest.raises(InputTypeError, match=says):
        study("all.json", columns=Columns(**given))


@pytest.mark.usefixtures("folder")
def test_days_are_classes_as_in_csv_files_and_times_are_none():
    days = [date(2020, 1, 1), date(2020, 1, 2)]
    for name, kind in (("days", pa.date32()), ("times", pa.timestamp("us"))):
        columns = {"actual": days * 2, "rule_pred": days + days[::-1]}
        table = pa.table({each: pa.array(values).cast(kind) for each, values in columns.items()})
        parquet.write_table(table, f"{name}.parquet")
        arrow_csv.write_csv(table, f"{name}.csv")
    found = study("days.parquet", pos_label="2020-01-02")
    assert found.counts() == study("days.csv", pos_label="2020-01-02").counts()
    says = (
        r"^times\.parquet, column 'actual': expected text .*, got '2020-01-01 00:00:00' "
        r"\(datetime\)\. Save the column as text in the file\.$"
    )
    with pytest.raises(InputTypeError, match=says):
        study("times.parquet", pos_label="2020-01-02 00:00:00")
    with pytest.raises(InputTypeError, match=r"column 'actual': .*, got dates .* astype\(str\)"):
        study_of({"actual": days * 2, "rule_pred": days * 2}, COSTS, actual="actual")


@pytest.mark.usefixtures("folder")
def test_progress_is_told():
    told = Told()
    study("tree.csv", "rule.csv", columns=Columns(key="id"), told=told, with_scores=False)
    assert told.all[:5] == [2, "reading tree.csv", "reading rule.csv", "joining", 5]
    assert "counting 'rule_pred'" in told.all[5:]
    told = Told()
    study("parts", told=told)
    assert told.all[0] == 1
    assert told.all[-1] == (1, 2, "reading parts/2.csv")


@pytest.mark.usefixtures("folder")
def test_a_large_file_is_read_in_batches_where_that_will_do(monkeypatch):
    monkeypatch.setattr(shards, "LARGE", 10)
    told = Told()
    study("all.csv", told=told, with_scores=False)
    assert told.all[-1] == (0, 1, "reading all.csv")
    told = Told()
    study("all.csv", told=told)
    assert "reading all.csv" in told.all


@pytest.mark.usefixtures("folder")
def test_rows_or_counts_where_they_are_needed():
    assert isinstance(table_of_files(["all.csv"], Columns(), Told()), ArrowTable)
    assert isinstance(table_of_files(["parts"], Columns(), Told()), ShardedTable)
    with pytest.raises(InputError, match=r"all\.json: a count file has no rows"):
        table_of_files(["all.json"], Columns(), Told())
    assert read_count_file("all.json") == read_count_file("all.parquet")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("paths", "message"),
    [
        (["tree.csv", "rule.csv"], "key: several files are joined"),
        (["all.json", "tree.csv"], r"all\.json: a count file cannot be combined"),
        (["tree.csv", "parts"], "parts: a table in many files cannot be joined"),
    ],
)
def test_files_that_do_not_go_together(paths, message):
    with pytest.raises(StakesError, match=message):
        study(*paths)
