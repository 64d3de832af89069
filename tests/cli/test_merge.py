"""Count files in both formats, written and merged on the command line."""

import json
import re
import shutil

import pyarrow as pa
import pytest
from pyarrow import parquet

COSTS = ["-c", "costs.csv"]


@pytest.fixture
def parts(stakes, folder):
    """Count the predictions whole, and in three parts of both formats."""
    header, *lines = (folder / "predictions.csv").read_text().splitlines(keepends=True)
    names = ["0.json", "1.parquet", "2.json"]
    for name, part in zip(names, (lines[:20], lines[20:45], lines[45:]), strict=True):
        (folder / "part.csv").write_text(header + "".join(part))
        assert stakes("-q", "count", "part.csv", *COSTS, "--out", name).code == 0
    for name in ("all.json", "all.parquet"):
        assert stakes("-q", "count", "predictions.csv", *COSTS, "--out", name).code == 0
    return names


def counts_in(path):
    """Return what a count file says, but for the files that it was merged from."""
    if path.suffix == ".json":
        content, table = json.loads(path.read_text()), None
    else:
        table = parquet.read_table(path)
        content = json.loads(table.schema.metadata[b"stakes"])
    origin = content.pop("merged_from", [])
    del content["checksum"]
    return origin, content, None if table is None else table.replace_schema_metadata(None)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1], [1, 2, 0]])
@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_parts_of_both_formats_are_the_whole(stakes, folder, parts, order, ending):
    said = stakes("merge", *(parts[i] for i in order), "--out", f"merged.{ending}")
    assert said.err == f"Wrote the counts of 60 examples to merged.{ending}.\n"
    origin, *merged = counts_in(folder / f"merged.{ending}")
    assert [[], *merged] == list(counts_in(folder / f"all.{ending}"))
    checksums = [json.loads((folder / f"{i}.json").read_text())["checksum"] for i in (0, 2)]
    assert len(origin) == 3
    assert set(checksums) < set(origin)


@pytest.mark.usefixtures("parts")
def test_a_part_is_not_overwritten_by_the_sum(stakes, folder):
    before = (folder / "0.json").read_bytes()
    said = stakes("merge", "0.json", "1.parquet", "--out", "0.json")
    assert said.code == 2
    assert "0.json: this is an input; it would be overwritten." in said.err
    assert (folder / "0.json").read_bytes() == before


@pytest.mark.usefixtures("parts")
def test_sums_of_sums_are_the_sum(stakes, folder):
    assert stakes("-q", "merge", "1.parquet", "2.json", "--out", "later.parquet").code == 0
    assert stakes("-q", "merge", "later.parquet", "0.json", "--out", "merged.json").code == 0
    assert counts_in(folder / "merged.json")[1:] == counts_in(folder / "all.json")[1:]
    assert stakes("-q", "merge", "2.json", "0.json", "1.parquet", "--out", "at_once.json").code == 0
    assert (folder / "at_once.json").read_bytes() == (folder / "merged.json").read_bytes()


@pytest.mark.parametrize("ending", ["json", "parquet"])
def test_a_part_is_not_added_to_a_sum_that_has_it(stakes, folder, parts, ending):
    """Not even a copy of it, nor another sum that has it, nor the sum counted at once."""
    shutil.copy(folder / "0.json", folder / "copy.json")
    for out, given in {f"sum.{ending}": parts[:2], "other.json": parts[1:]}.items():
        assert stakes("-q", "merge", *given, "--out", out).code == 0
    assert stakes("-q", "merge", f"sum.{ending}", "2.json", "--out", f"whole.{ending}").code == 0
    for first, second in (
        (f"sum.{ending}", "copy.json"),
        ("1.parquet", f"sum.{ending}"),
        (f"sum.{ending}", "other.json"),
        (f"whole.{ending}", f"sum.{ending}"),
        (f"whole.{ending}", "all.json"),
    ):
        said = stakes("merge", first, second, "--out", "merged.json")
        assert said.code == 2
        assert re.search(f"stakes: {second}: (some of its counts are also in|it has)", said.err)
        assert not (folder / "merged.json").exists()
    assert stakes("merge", f"sum.{ending}", "2.json", "--out", "merged.json").code == 0
    allowed = ("--out", "merged.json", "--allow-copies")
    assert stakes("-q", "merge", f"sum.{ending}", "copy.json", *allowed).code == 0
    again = stakes("merge", "merged.json", "copy.json", "--out", "again.json")
    assert again.code == 2


@pytest.mark.usefixtures("parts")
def test_a_parquet_count_file_stands_for_predictions(stakes):
    for command in (["evaluate"], ["curve"], ["threshold"], ["compare", "--baseline", "old"]):
        name, *options = command
        expected = stakes("-q", name, "all.json", *COSTS, *options)
        found = stakes("-q", name, "all.parquet", *COSTS, *options)
        assert (found.code, expected.code) == (0, 0)
        words = found.out.replace("all.parquet", "all.json").split()
        assert words == expected.out.split()


@pytest.mark.usefixtures("parts")
def test_a_parquet_count_file_stands_alone_and_has_no_rows(stakes):
    said = stakes("evaluate", "all.parquet", "0.json", *COSTS)
    assert (said.code, "all.parquet: a count file cannot be combined" in said.err) == (2, True)
    assert "'stakes merge'" in said.err
    said = stakes("evaluate", "all.parquet", *COSTS, "-m", "tree")
    assert "--model: all.parquet is a count file" in said.err
    said = stakes("costs", "template", "all.parquet", "--out", "new.csv")
    assert "all.parquet: a count file has no rows" in said.err


@pytest.mark.usefixtures("parts")
def test_scores_can_be_left_out_of_a_count_file(stakes, folder):
    assert stakes("count", "predictions.csv", *COSTS, "--without-scores", "-o", "a.json").code == 0
    assert stakes("count", "predictions.csv", *COSTS, "-o", "b.json").code == 0
    assert stakes("count", "b.json", *COSTS, "--without-scores", "-o", "c.json").code == 0
    assert (folder / "c.json").read_bytes() == (folder / "a.json").read_bytes()


def test_a_copy_under_another_name_is_refused_unless_allowed(stakes, folder, parts):
    shutil.copy(folder / parts[0], folder / "copy.json")
    said = stakes("merge", *parts, "copy.json", "--out", "merged.json")
    assert said.code == 2
    assert said.err.startswith("stakes: copy.json: it has the same counts as 0.json; ")
    assert said.err.endswith("add them with --allow-copies.\n")
    assert not (folder / "merged.json").exists()
    said = stakes("merge", *parts, "copy.json", "--out", "merged.json", "--allow-copies")
    assert said.code == 0
    assert "Wrote the counts of 80 examples" in said.err


def edited(path):
    content = json.loads(path.read_text())
    content["joint"]["counts"][0] += 1
    content["joint"]["counts"][1] -= 1
    path.write_text(json.dumps(content))


def cut(path):
    path.write_bytes(path.read_bytes()[:-40])


def newer(path):
    path.write_text(path.read_text().replace("stakes-counts/2", "stakes-counts/3"))


def predictions(path):
    parquet.write_table(pa.table({"actual": ["ok"], "tree": ["ok"]}), path)


@pytest.mark.parametrize(
    "case",
    [
        ("0.json", edited, "0.json: the count file was changed after it was written"),
        ("0.json", cut, "0.json, line"),
        ("0.json", newer, "0.json: expected a count file.*'stakes-counts/3'"),
        ("1.parquet", cut, "1.parquet: not a count file.*Was it cut short"),
        ("1.parquet", predictions, "1.parquet: expected a count file"),
        ("1.parquet", lambda path: path.unlink(), "1.parquet: cannot be read"),
    ],
)
def test_a_damaged_part_is_named_and_no_partial_sum_is_written(stakes, folder, parts, case):
    name, damage, says = case
    (folder / "merged.json").write_text("of yesterday")
    damage(folder / name)
    said = stakes("merge", *parts, "--out", "merged.json")
    assert said.code == 2
    assert re.search(says, said.err), said.err
    assert "a fault in stakes" not in said.err
    assert (folder / "merged.json").read_text() == "of yesterday"


def test_the_same_parquet_file_twice(stakes, parts):
    said = stakes("merge", parts[1], f"./{parts[1]}", "--out", "merged.json")
    assert (said.code, "1.parquet: given twice" in said.err) == (2, True)
