"""Count files in both formats: same content, merging in any order, and detection of damage."""

import io
import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from stakes import CostMatrix
from stakes.errors import FileError
from stakes.predictions import ArrowTable, Reading, merged
from stakes.predictions.count_file import (
    counts_bytes,
    counts_checksum,
    counts_from_parquet,
    counts_from_text,
    counts_text,
)
from stakes.predictions.tally import lacking_reason
from stakes.study import Study

COSTS = CostMatrix([[0, 100], [10, 1]], rows="predicted", labels=["ok", "fraud"])


def columns(n=60, seed=0, scores=True):
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < 0.3
    made = {"actual": np.where(fraud, "fraud", "ok")}
    for name in ("a", "b"):
        score = np.clip(0.3 + 0.4 * fraud + rng.normal(0, 0.2, n), 0, 1).round(2)
        made |= {name: np.where(score > 0.5, "fraud", "ok")}
        made |= {f"{name}_score": score} if scores else {}
    return made


def counted(made=None, costs=COSTS, **options):
    table = ArrowTable(pa.table(columns() if made is None else made), "a.csv")
    return Study.from_table(table, costs, **options).counts()


def by_parquet(counts, folder, name="a.parquet"):
    (folder / name).write_bytes(counts_bytes(counts))
    return counts_from_parquet(folder / name)


@pytest.fixture(scope="module")
def shelf(tmp_path_factory):
    """Return a folder that all examples of a property may write into."""
    return tmp_path_factory.mktemp("counts")


@given(
    st.integers(0, 5),
    st.lists(st.integers(1, 59), max_size=4, unique=True),
    st.booleans(),
    st.data(),
)
def test_merging_is_associative_free_of_order_and_of_format(shelf, seed, cuts, scores, data):
    made = columns(60, seed, scores)
    edges = [0, *sorted(cuts), 60]
    parts = []
    for i, (a, b) in enumerate(pairwise(edges)):
        part = counted({k: v[a:b] for k, v in made.items()})
        as_table = data.draw(st.booleans())
        back = by_parquet(part, shelf) if as_table else counts_from_text(counts_text(part), "")
        parts.append((f"{i}", back))
    order = data.draw(st.permutations(parts))
    cut = data.draw(st.integers(0, len(order)))
    halves = [("half", merged(half)) for half in (order[:cut], order[cut:]) if half]
    whole = counted(made)
    for total in (merged(order), merged(halves), merged(halves[::-1])):
        assert counts_text(total) == counts_text(whole)
        assert counts_bytes(total) == counts_bytes(whole)
        assert counts_checksum(total) == counts_checksum(whole)


def with_gaps(rows, *gaps, **more):
    """Return the counts of rows of which some lack a value, those being left out."""
    made = columns(rows, **more)
    for name, lacks in zip(("a", "b"), gaps, strict=False):
        made[name] = [None if row < lacks else each for row, each in enumerate(made[name])]
    table = ArrowTable(pa.table(made), "a.csv", reading=Reading(drop_missing=True))
    return Study.from_table(table, COSTS, with_scores=False).counts()


def test_reasons_not_to_judge_a_model_are_those_of_the_whole():
    given = {"p": with_gaps(200, 50), "q": with_gaps(200, 4), "r": with_gaps(60, 0, 7)}
    parts = list(given.items())
    rest = ", which are left out; write what is decided there into its cells"
    found = merged(parts[:2]).doubtful
    assert found == {"a": f"it lacks a value in 54 of 400 rows{rest}"}
    found = merged(parts).doubtful
    assert found == {
        "a": f"it lacks a value in 54 of 460 rows{rest}",
        "b": f"it lacks a value in 7 of 460 rows{rest}",
    }
    for first, *others in (parts, parts[::-1]):
        again = merged([("some", merged(others)), first])
        assert counts_text(again) == counts_text(merged(parts))


def test_rows_that_are_left_out_are_counted_in_files_and_added():
    one, other, whole = with_gaps(200, 50, 7), with_gaps(60, 4), with_gaps(60)
    assert (one.left_out, whole.left_out) == ({"another missing value": 50}, {})
    for counts in (one, whole):
        assert counts_from_text(counts_text(counts), "c.json").left_out == counts.left_out
        assert ("left_out" in counts_text(counts)) == bool(counts.left_out)
    assert merged([("p", one), ("q", other), ("r", whole)]).left_out == {
        "another missing value": 54
    }


@pytest.mark.parametrize("given", [["rows"], "rows", {"rows": -1}, {"rows": 0.5}, {"rows": True}])
def test_damaged_numbers_of_rows_that_are_left_out_are_refused(given):
    content = json.loads(counts_text(with_gaps(60, 4)))
    with pytest.raises(FileError, match="the count file is damaged"):
        counts_from_text(json.dumps({**content, "left_out": given}), "c.json")


def test_rows_of_a_part_that_may_have_left_out_more_are_at_least_so_many():
    parts = [("p", with_gaps(200, 50)), ("q", with_gaps(300)), ("r", with_gaps(200, 4))]
    found = merged(parts).doubtful["a"]
    assert found.startswith("it lacks a value in 54 of at least 700 rows, ")
    assert merged([("some", merged(parts[:2])), parts[2]]).doubtful["a"] == found
    assert merged([parts[2], ("some", merged(parts[1::-1]))]).doubtful["a"] == found


def test_other_reasons_not_to_judge_a_model_name_their_files():
    whole, why = with_gaps(60), "most of its values are not numbers"
    doubted = replace(whole, doubtful={"late": why})
    assert merged([("p", doubted), ("q", doubted)]).doubtful == {"late": why}
    assert merged([("p", whole), ("q", doubted)]).doubtful == {"late": f"in q, {why}"}
    many = [("p", whole), *((name, doubted) for name in "qrstu")]
    assert merged(many).doubtful == {"late": f"in q, r, s and 2 other files, {why}"}
    gaps = replace(whole, doubtful={"late": lacking_reason(1000, 2000)})
    found = merged([("p", doubted), ("q", gaps)]).doubtful["late"]
    assert found.startswith(f"in p, {why}; in q, it lacks a value in 1,000 of 2,000 rows")


@pytest.mark.parametrize(
    ("made", "costs"),
    [
        (columns(), COSTS),
        (columns(scores=False), COSTS),
        (
            {"actual": [0, 1, 1], "m": [0, 1, 0], "m_score": [0.1, np.inf, -np.inf]},
            CostMatrix.from_errors(false_positive=1, false_negative=5),
        ),
        (
            {"actual": [True, False], "m": [True, True], "m_score": [-0.0, 2.5]},
            CostMatrix([[0, 7], [1, 0]], rows="predicted", labels=[False, True]),
        ),
        (
            {"actual": ["a", "b", "c"], "naïve model": ["a", "ask", "c"]},
            CostMatrix(
                np.arange(12).reshape(4, 3), rows="predicted", labels=list("abc"),
                decisions=["ask", *"abc"],
            ),
        ),
        ({"actual": ["ok", "fraud"], "a_score": [-3.0, 4.0]}, COSTS),  # no decisions
        ({"actual": ["ok", "fraud"], "a_score": [0.01, 0.4]}, COSTS),  # decided from scores
    ],
)  # fmt: skip
def test_both_formats_hold_the_same(tmp_path, made, costs):
    counts = counted(made, costs, undecided=True)
    again = by_parquet(counts, tmp_path)
    assert again.joint == counts.joint
    assert again.scores == counts.scores
    assert (again.actual, again.models) == (counts.actual, counts.models)
    assert dict(again.decided_from) == dict(counts.decided_from)
    assert counts_text(again) == counts_text(counts)
    assert counts_text(counts_from_text(counts_text(counts), "")) == counts_text(counts)
    assert [type(label) for label in again.joint.labels] == [type(each) for each in costs.labels]


def test_a_parquet_count_file_is_a_table_that_others_can_read(tmp_path):
    counts = counted()
    (tmp_path / "a.parquet").write_bytes(counts_bytes(counts))
    table = parquet.read_table(tmp_path / "a.parquet").to_pandas()
    assert list(table) == [
        "table", "actual", "decided: a", "decided: b", "score: a", "score: b", "count",
    ]  # fmt: skip
    for part in ("decisions", "scores"):
        assert table[table["table"] == part]["count"].sum() == 60
    misses = (table["table"] == "decisions") & (table["actual"] == 1) & (table["decided: a"] == 0)
    assert table[misses]["count"].sum() == counts.joint.single("a").counts[0, 1]


# -- damage


def json_places(text):
    """Return the positions of all digits."""
    return [i for i, character in enumerate(text) if character.isdigit()]


def test_any_changed_digit_of_a_json_file_is_seen():
    text = counts_text(counted(columns(12)))
    same = counts_from_text(text, "a.json")
    for place in json_places(text):
        digit = "7" if text[place] != "7" else "8"
        with pytest.raises(FileError, match=r"^a\.json"):
            counts_from_text(text[:place] + digit + text[place + 1 :], "a.json")
    spaced = json.dumps(json.loads(text), indent=3)
    assert counts_text(counts_from_text(spaced, "a.json")) == counts_text(same)


def test_a_json_file_cut_short_anywhere_is_refused():
    text = counts_text(counted(columns(12)))
    for size in range(len(text.rstrip())):
        with pytest.raises(FileError, match=r"^a\.json, line \d+.*Was it cut short\?"):
            counts_from_text(text[:size], "a.json")


def test_a_changed_count_is_named_as_what_it_is():
    text = counts_text(counted(columns(12)))
    content = json.loads(text)
    content["joint"]["counts"][0] += 1
    content["scores"] = None
    with pytest.raises(FileError, match=r"a\.json: the count file was changed after it was writ.*"):
        counts_from_text(json.dumps(content), "a.json")
    for without in (
        {**content, "checksum": None},
        {k: content[k] for k in content.keys() - {"checksum"}},
    ):
        with pytest.raises(FileError, match=r"a\.json: the count file has no 'checksum'"):
            counts_from_text(json.dumps(without), "a.json")


def test_a_parquet_file_cut_short_anywhere_is_refused(tmp_path):
    content = counts_bytes(counted(columns(12)))
    path = tmp_path / "a.parquet"
    for size in range(0, len(content), 37):
        path.write_bytes(content[:size])
        with pytest.raises(FileError, match=r"a\.parquet: not a count file.*Was it cut short\?"):
            counts_from_parquet(path)


@given(st.data())
def test_a_changed_byte_of_a_parquet_file_gives_an_error_or_the_same_counts(shelf, data):
    counts = counted(columns(12))
    content = bytearray(counts_bytes(counts))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= data.draw(st.integers(1, 255))
    (shelf / "changed.parquet").write_bytes(content)
    try:
        found = counts_from_parquet(shelf / "changed.parquet")
    except FileError as error:
        said = str(error)
    else:
        said = "changed.parquet" if counts_text(found) == counts_text(counts) else "other counts"
    assert "changed.parquet" in said


def changed_table(change):
    """Return a Parquet count file with its table changed, and what is said of it kept."""
    table = parquet.read_table(io.BytesIO(counts_bytes(counted(columns(12)))))
    file = io.BytesIO()
    parquet.write_table(change(table).replace_schema_metadata(table.schema.metadata), file)
    return file.getvalue()


def with_counts(values):
    return lambda table: table.set_column(
        table.schema.get_field_index("count"), "count", pa.array(values(table["count"].to_pylist()))
    )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "not a count file, because it cannot be read as a Parquet file"),
        (b"PAR1PAR1", "not a count file, because it cannot be read as a Parquet file"),
        (changed_table(lambda table: table.slice(1)), "damaged|changed after"),
        (changed_table(lambda table: table.drop_columns(["count"])), "damaged|has no"),
        (changed_table(lambda table: table.drop_columns(["table"])), "damaged|has no"),
        (
            changed_table(with_counts(lambda c: [c[0] + 1, c[1] - 1, *c[2:]])),
            "the count file was changed after it was written",
        ),
        (changed_table(with_counts(lambda c: [-1, *c[1:]])), "damaged: counts: expected numbers"),
        (changed_table(with_counts(lambda c: [None, *c[1:]])), "damaged: counts: expected whole"),
        (changed_table(with_counts(lambda c: [0.5, *c[1:]])), "damaged: counts: expected whole"),
        (
            changed_table(lambda table: table.replace_schema_metadata({})),
            "changed|this is another Parquet file",
        ),
    ],
)
def test_a_damaged_parquet_file_is_named_with_what_is_wrong(tmp_path, content, message):
    path = tmp_path / "counts.parquet"
    path.write_bytes(content)
    if message.startswith("changed|"):
        parquet.write_table(pa.table({"actual": [1]}), path)
    with pytest.raises(FileError, match=rf"counts\.parquet: .*({message})"):
        counts_from_parquet(path)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileError, match=r"nope\.parquet: cannot be read: "):
        counts_from_parquet(tmp_path / "nope.parquet")
