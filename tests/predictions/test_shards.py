import bz2
import gzip
import json
import os
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyarrow import csv as arrow_csv
from pyarrow import parquet

from stakes import CostMatrix
from stakes.errors import FileError, InputError, LabelError
from stakes.predictions import ArrowTable, ShardedTable
from stakes.predictions.roles import has_decisions, has_flawed_decisions
from stakes.predictions.table import check_columns
from stakes.read import shards as reading
from stakes.study import Study

COSTS = CostMatrix([[0, 100], [10, 1]], rows="predicted", labels=["ok", "fraud"])


def columns(n=200, seed=0):
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < 0.3
    score = np.clip(0.3 + 0.4 * fraud + rng.normal(0, 0.2, n), 0, 1)
    return pa.table(
        {
            "actual": np.where(fraud, "fraud", "ok"),
            "a": np.where(score > 0.5, "fraud", "ok"),
            "a_score": score,
            "b": np.where(rng.random(n) < 0.5, "fraud", "ok"),
            "amount": rng.normal(100, 20, n),
            "note": [str(i % 7) for i in range(n)],
        }
    )


def sharded(folder, table, cuts):
    paths = []
    for number, (low, high) in enumerate(pairwise(cuts)):
        paths.append(folder / f"{number}.parquet")
        parquet.write_table(table.slice(low, high - low), paths[-1])
    return ShardedTable(paths, "shards")


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    inner=st.lists(st.integers(0, 200), max_size=4), batch=st.integers(1, 80), scored=st.booleans()
)
def test_however_rows_are_cut_the_counts_are_the_same(tmp_path, monkeypatch, inner, batch, scored):
    monkeypatch.setattr(reading, "BATCH", batch)
    whole = columns()
    expected = Study.from_table(ArrowTable(whole, "shards"), COSTS, with_scores=scored)
    table = sharded(tmp_path, whole, [0, *sorted(inner), 200])
    found = Study.from_table(table, COSTS, with_scores=scored)
    assert found.joint == expected.joint
    assert found.joint_scores == expected.joint_scores
    assert found.notes == expected.notes
    assert (found.joint_scores is not None) == scored


def test_only_the_columns_that_are_needed_are_read(tmp_path, monkeypatch):
    read = []
    batches = reading.Shard.batches
    monkeypatch.setattr(
        reading.Shard, "batches", lambda shard, names: read.append(names) or batches(shard, names)
    )
    table = sharded(tmp_path, columns(), [0, 100, 200])
    named = {"actual": "actual", "models": ["a"], "with_scores": False}
    Study.from_table(table, COSTS, **named)
    assert read == [["actual", "a"]] * 2


def test_columns_answer_as_those_of_one_table(tmp_path):
    whole = columns()
    table, one = sharded(tmp_path, whole, [0, 60, 200]), ArrowTable(whole, "shards")
    assert table.columns == one.columns
    assert set(table.labels("b")) == set(one.labels("b"))
    for name in whole.column_names:
        assert table.numeric(name) == one.numeric(name), name
        answers = [has_decisions(each, name, ("ok", "fraud")) for each in (table, one)]
        answers += [
            has_flawed_decisions(each, name, ("ok", "frau"), named=False) for each in (table, one)
        ]
        assert answers[::2] == answers[1::2], name
    assert table.score_range("a_score") == one.score_range("a_score")
    with pytest.raises(InputError, match="shards: there is no column 'c'"):
        check_columns(table, ["a", "c"])


def test_a_column_with_too_many_labels(tmp_path):
    table = sharded(tmp_path, pa.table({"actual": range(9000)}), [0, 5000, 9000])
    with pytest.raises(LabelError, match=r"0.parquet, column 'actual': 5,000 different values"):
        table.labels("actual")
    table = sharded(tmp_path, pa.table({"actual": range(6000)}), [0, 3000, 6000])
    with pytest.raises(LabelError, match="shards, column 'actual': more than 4,096 different"):
        table.labels("actual")


def test_lists_are_no_labels(tmp_path):
    table = sharded(tmp_path, pa.table({"actual": ["a"], "proba": [[0.5, 0.5]]}), [0, 1])
    assert not has_decisions(table, "proba", ("a", "b"))
    assert not table.numeric("proba")


def test_files_without_rows(tmp_path):
    table = sharded(tmp_path, columns(), [0, 0])
    with pytest.raises(FileError, match=r"shards: its files have columns \(actual, a.* no rows"):
        Study.from_table(table, COSTS, actual="actual", models=["a"])


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
def test_a_copy_of_a_file_is_refused(ending, tmp_path):
    write = {
        "csv": arrow_csv.write_csv,
        "parquet": parquet.write_table,
        "jsonl": lambda rows, path: path.write_text(
            "".join(json.dumps(row) + "\n" for row in rows.to_pylist())
        ),
    }
    paths = [tmp_path / f"{name}.{ending}" for name in "abc"]
    for path, rows in zip(paths, [columns(20), columns(20, seed=1), columns(20)], strict=True):
        write[ending](rows, path)
    with pytest.raises(
        FileError, match=rf"c\.{ending}: it is a copy of .*a\.{ending}, so .* merge the counts"
    ):
        ShardedTable(paths, "shards")
    assert ShardedTable(paths[:2], "shards").columns == columns().column_names


@pytest.mark.parametrize("rows", [20, 5000])
@pytest.mark.parametrize("ending", ["csv", "jsonl"])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(b"\n", b"\r\n"),
        lambda text: b"\xef\xbb\xbf" + text,
        lambda text: text[:-1],
        lambda text: b"\xef\xbb\xbf" + text.replace(b"\n", b"\r\n")[:-2],
    ],
    ids=["CRLF", "BOM", "last line end", "all"],
)
def test_a_copy_with_other_line_ends_is_refused(change, ending, rows, tmp_path):
    first, second = tmp_path / f"a.{ending}", tmp_path / f"b.{ending}"
    table = columns(rows)
    if ending == "csv":
        arrow_csv.write_csv(table, first)
    else:
        first.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    text = first.read_bytes()
    second.write_bytes(change(text))
    with pytest.raises(FileError, match=rf"b\.{ending}: it is a copy of .* but for line ends or"):
        ShardedTable([first, second], "shards")
    lines = text.splitlines(keepends=True)
    middle = len(lines) // 2
    lines[middle], lines[middle + 1] = lines[middle + 1], lines[middle]
    second.write_bytes(change(b"".join(lines)))
    assert lines[middle] == lines[middle + 1] or ShardedTable([first, second], "shards")


@pytest.mark.parametrize(
    ("name", "content"), [("a.csv.gz", gzip.compress), ("a.csv.bz2", bz2.compress)]
)
def test_a_file_beside_itself_packed_is_refused(name, content, tmp_path):
    """As ``gzip --keep`` leaves it; its bytes are others, and its rows the same."""
    plain, packed = tmp_path / "a.csv", tmp_path / name
    arrow_csv.write_csv(columns(20), plain)
    packed.write_bytes(content(plain.read_bytes()))
    with pytest.raises(FileError, match=r"its name is that of .*a\.csv but for the packing"):
        ShardedTable([plain, packed], "shards")


@pytest.mark.parametrize("how", ["written to", "replaced", "replaced by one of its size and time"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_file_that_changes_between_two_passes_is_refused(kind, how, tmp_path):
    """Each pass is over all rows, and an answer must be about the same."""
    write = {"csv": arrow_csv.write_csv, "parquet": parquet.write_table}[kind]
    paths = [tmp_path / f"{number}.{kind}" for number in range(2)]
    for seed, path in enumerate(paths):
        write(columns(30, seed=seed), path)
    table, was = ShardedTable(paths, "shards"), paths[1].stat()
    assert sum(batch.n for batch in table.batches(["actual"])) == 60
    place = paths[1] if how == "written to" else tmp_path / "new"
    write(columns(29, seed=1), place)
    if how.endswith("time"):
        place.write_bytes(paths[1].read_bytes())
        os.utime(place, ns=(was.st_atime_ns, was.st_mtime_ns))
    place.replace(paths[1])
    with pytest.raises(FileError, match=rf"1\.{kind}: it changed while it was read\. Read it"):
        list(table.batches(["actual"]))


@pytest.mark.parametrize("at", range(1, 9))
def test_no_answer_is_mixed_of_two_versions_of_a_file(at, tmp_path, monkeypatch):
    """Whichever pass comes first after the change, the last one notices."""
    table, passes, batches = sharded(tmp_path, columns(), [0, 100, 200]), [], reading.Shard.batches
    other = columns(50, seed=1)

    def changing(shard, names):
        passes.append(names)
        if len(passes) == at:
            parquet.write_table(other, tmp_path / "1.parquet")
        return batches(shard, names)

    monkeypatch.setattr(reading.Shard, "batches", changing)
    with pytest.raises(FileError, match="it changed while it was read"):
        Study.from_table(table, COSTS)
    assert len(passes) >= at


def test_files_without_rows_may_be_alike(tmp_path):
    table = sharded(tmp_path, columns(20), [0, 0, 0, 20, 20])
    assert sum(batch.n for batch in table.batches(["actual"])) == 20


def test_files_are_read_for_copies_only_where_they_begin_and_end_alike(tmp_path, monkeypatch):
    read = []
    digest = lambda shard: read.append(shard.path.name) or shard.source  # noqa: E731
    monkeypatch.setattr(reading, "_text_digest", digest)
    monkeypatch.setattr(reading, "BEGINNING", 12)
    for number in range(4):
        (tmp_path / f"{number}.csv").write_text(f"actual,a\n{number % 3},1\n" + "0,0\n" * 9)
        (tmp_path / f"end{number}.csv").write_text("actual,a\n" + "0,0\n" * 9 + f"0,{number + 1}\n")
    ShardedTable(sorted(tmp_path.iterdir()), "shards")
    assert read == ["0.csv", "3.csv"]
