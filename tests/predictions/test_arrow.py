from decimal import Decimal
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest

from stakes._core.labels import LabelMatcher
from stakes.errors import InputError, LabelError
from stakes.predictions import ArrowTable, Reading
from stakes.predictions.roles import has_decisions, has_flawed_decisions
from stakes.predictions.table import check_columns
from stakes.read.tables import FileRows, read_table

LABELS = ("ok", "fraud")


def table(**columns):
    return ArrowTable(pa.table(columns), "a.parquet")


def codes(found, labels):
    return found.codes("a", LabelMatcher(labels, found.cells), "classes")


KINDS = {
    "text": pa.array(["fraud", "ok", "fraud"]),
    "large text": pa.array(["fraud", "ok", "fraud"], pa.large_string()),
    "dictionary": pa.array(["fraud", "ok", "fraud"]).dictionary_encode(),
    "unused values": pa.DictionaryArray.from_arrays(
        pa.array([2, 0, 2], pa.int8()), pa.array(["ok", "x", "fraud"])
    ),
    "chunks": pa.chunked_array([["fraud"], ["ok", "fraud"]]),
    "chunks of dictionaries": pa.chunked_array(
        [pa.array(["fraud"]).dictionary_encode(), pa.array(["ok", "fraud"]).dictionary_encode()]
    ),
    "spaces": pa.array(["fraud", " ok", "fraud "]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_any_kind_become_codes(kind):
    found = table(a=KINDS[kind])
    assert codes(found, LABELS).tolist() == [1, 0, 1]
    assert has_decisions(found, "a", LABELS)
    assert not has_decisions(found, "a", ("ok", "theft"))
    assert {str(label).strip() for label in found.labels("a")} == {"ok", "fraud"}


@pytest.mark.parametrize(
    "values",
    [[1, 0], [1.0, 0.0], [True, False], ["1", "0"], ["1.0", "0.00"], pa.array([1, 0], pa.int8())],
    ids=["int", "float", "bool", "text", "text of floats", "int8"],
)
def test_numbers_stand_for_numbers_in_text(values):
    for labels in ((0, 1), ("0", "1")):
        if isinstance(values[0], bool) and labels[0] == "0":
            continue  # True equals the number 1, but not the text "1"
        found = table(a=values)
        assert has_decisions(found, "a", labels)
        assert codes(found, labels).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("values", "says"),
    [
        (["ok", None], "row 2, column 'a': there is no label"),
        (["ok", " "], "row 2, column 'a': there is no label"),
        (pa.array(["ok", None]).dictionary_encode(), "row 2, column 'a': there is no label"),
        ([1.0, float("nan")], "row 1, column 'a': 1.0 is not one of the classes"),
        (
            ["ok", "frau", "frau"],
            r"row 2, .*'frau' .* Did you mean 'fraud'\? 1 more row is like it\.",
        ),
        ([[1], [2]], "column 'a': expected one value per row, got list"),
    ],
)
def test_bad_labels_are_named_by_row(values, says):
    found = table(a=values)
    assert not has_decisions(found, "a", LABELS)
    with pytest.raises(InputError, match=rf"^a\.parquet, .*{says}"):
        codes(found, LABELS)


def test_rows_are_counted_as_people_do(tmp_path):
    (tmp_path / "a.csv").write_text("a\nok\nx\n")
    with pytest.raises(LabelError, match=r"^a\.csv, line 3, column 'a'"):
        codes(ArrowTable.of_file(read_table(tmp_path / "a.csv"), "a.csv"), LABELS)
    files = [FileRows(pa.table({"id": [7, 8]}), "a"), FileRows(pa.table({"id": [7, 8]}), "b")]
    named = ArrowTable.of_joined(files, pa.table({"id": [7, 8], "a": ["ok", "x"]}), "id")
    with pytest.raises(LabelError, match=r"^a \+ b, id 8, column 'a'"):
        codes(named, LABELS)


def test_many_labels_need_wider_codes():
    labels = tuple(f"c{i}" for i in range(300))
    found = table(a=labels)
    assert codes(found, labels).tolist() == list(range(300))
    with pytest.raises(LabelError, match="5,000 different values are too many"):
        table(a=list(range(5000))).labels("a")


@pytest.mark.parametrize(
    "values",
    [
        [0.5, 1.0],
        ["0.5", " 1 "],
        pa.array(["0.5", "1"]).dictionary_encode(),
        pa.array(np.array([0.5, 1.0], dtype=np.float16)),
        pa.chunked_array([[0.5], [1.0]]),
    ],
)
def test_scores_are_numbers_in_any_form(values):
    found = table(a=values)
    assert found.numeric("a")
    assert found.scores("a").tolist() == [0.5, 1.0]
    assert found.scores("a").dtype == np.float64


@pytest.mark.parametrize(
    ("values", "says"),
    [
        ([0.5, None], "row 2, column 'a': there is no score"),
        ([0.5, float("nan")], "row 2, column 'a': (nan is not a number|there is no score)"),
        (["0.5", "much"], "row 2, column 'a': 'much' is not a number"),
        (
            [2**53 + 1, 2**53 + 2],
            r"column 'a': it has numbers that cannot be told apart .* 2\*\*53",
        ),
        (
            [Decimal("0.12345678901234567891"), Decimal("0.12345678901234567892")],
            "column 'a': it has numbers that cannot be told apart .* decimals of more than 15",
        ),
        ([[0.5], [1.0]], "expected one value per row"),
    ],
)
def test_bad_scores_are_named_by_row(values, says):
    found = table(a=values)
    with pytest.raises(InputError, match=says):
        found.scores("a")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([0.5, None], True),
        ([0.5, float("nan")], True),
        ([None, None], False),
        ([float("nan")], False),
        (["0.5", "", " "], True),
        (["0.5", "much"], True),
        (["0.5", "much", "more"], False),
        (["-.5", "1e-3", "inf", "nan", "x", "y"], True),
        (["", " "], False),
        ([True, None], False),
        ([[0.5], [1.0]], False),
    ],
)
def test_a_column_has_numbers_where_half_of_what_is_there_is_some(values, expected):
    assert table(a=values).numeric("a") == expected
    if not isinstance(values[0], list):
        coded = pa.table({"a": pa.array(values).dictionary_encode()})
        assert ArrowTable(coded, "a.csv").numeric("a") == expected


@pytest.mark.parametrize(
    ("values", "labels", "named", "expected"),
    [
        (["ok", "fraud", "frad"], LABELS, False, True),
        (["ok", "fraud", ""], LABELS, False, True),
        (["ok", "", " ", None], LABELS, False, True),
        (["", " ", None], LABELS, True, False),
        (["ok", "okk"], LABELS, False, True),
        (["ok", "ok", "late", "lost"], LABELS, False, False),
        (["ok", "ok", "late", "lost"], LABELS, True, True),
        (["ok", "fraud", "x", "y", "z"], LABELS, True, False),
        (["0", "1", "O"], (0, 1), False, True),
        (["0", "1", "nan"], (0, 1), False, True),
        (["0", "1", "0", "1", "2"], (0, 1), False, False),
        (["0", "1", "0", "1", "2"], (0, 1), True, True),
        (["0", "1", "0", "1", "0.5"], ("0", "1"), False, False),
        (["01", "02", "01", "3"], ("01", "02"), False, False),
        (list(map(str, range(10))), (0, 1), True, False),
        ([0, 1, None], (0, 1), False, True),
        ([0, 1, 1, 2], (0, 1), False, False),
        ([0.0, 1.0, float("nan")], (0, 1), False, True),
        ([True, False, None], (False, True), False, True),
        ([[0], [1]], (0, 1), True, False),
        (list(range(9000)), tuple(range(8000)), True, False),
    ],
)
def test_decisions_but_for_some_are_told_from_features(values, labels, named, expected):
    assert has_flawed_decisions(table(a=values), "a", labels, named=named) == expected


def test_columns_are_announced_and_looked_at_once():
    seen = []
    found = ArrowTable(pa.table({"a": ["ok"]}), "a", on_column=seen.append)
    codes(found, LABELS)
    found.labels("a")
    assert seen == ["a"]
    check_columns(found, ["a", None])
    with pytest.raises(InputError, match="no column 'b'"):
        check_columns(found, ["b"])


def test_measurements_have_no_labels():
    """Columns that thousands of rows of features have are known by their first rows."""
    fractions = np.arange(200) / 8
    found = table(
        fractions=fractions,
        text=[str(each) for each in fractions],
        wholes=np.arange(200.0),
        few=np.tile([0.5, 1.5], 100),
    )
    assert found.values("fractions") is None
    assert found.values("text") is None
    assert len(found.values("wholes")) == 200
    assert len(found.values("few")) == 2
    assert len(found.labels("text")) == 200  # the labels of a column that is named


@pytest.mark.parametrize(
    "values", [["b", "a", "b"], ["b", None, "b", ""], [], [None], ["é", "e\u0301"], ["a"] * 30_000]
)
def test_short_text_is_encoded_as_pyarrow_does(values):
    text = table(a=pa.array(values, pa.string()))
    large = table(a=pa.array(values, pa.large_string()))
    assert text.values("a") == large.values("a")
    assert np.array_equal(text.texts("a")[0], large.texts("a")[0])


def test_the_names_of_a_wide_table_are_made_once():
    """pyarrow makes them anew each time, which of thousands of columns takes longer than a look."""
    wide = mock.Mock(wraps=pa.table({f"f{i}": ["a", "b"] for i in range(50)}), num_rows=2)
    names = mock.PropertyMock(return_value=[f"f{i}" for i in range(50)])
    type(wide).column_names = names
    table = ArrowTable(wide, "a.csv", cells="text")
    for name in table.columns:
        assert table.values(name) == ["a", "b"]
    assert names.call_count == 1


def test_leaving_out_rows_that_lack_a_value_does_not_change_the_table():
    given = table(actual=["ok", "ok", None, "fraud"], a=["ok", None, None, None])
    for _ in range(2):
        found = given.filled(["actual", "a"])
        assert (found.n, found.dropped, found.lacking["a"]) == (1, 3, 2)
        assert (given.n, given.dropped, given.lacking.total()) == (4, 0, 0)
    again = found.filled(["actual", "a"])
    assert (again.n, again.dropped, again.lacking["a"]) == (1, 3, 2)
    nothing = table(actual=["ok"], a=pa.array([None], pa.string()))
    assert (nothing.filled(["actual", "a"]).n, nothing.filled(["actual", "a"]).lacking["a"]) == (
        0,
        1,
    )
    with pytest.raises(InputError, match="every row lacks a value in 'actual', 'a'; none is left"):
        nothing.complete(["actual", "a"])


def test_rows_with_a_label_are_read_as_the_whole_table():
    rows = pa.table({"y": ["ok", None, "bad"], "score": [1.0, 2.0, 4.0]})
    table = ArrowTable(rows, "a.csv", reading=Reading(lower_is_positive=("score",)))
    here, found = table.labelled("y")
    assert here.tolist() == [True, False, True]
    assert (found.n, found.dropped, dict(found.lacking)) == (2, 1, {"y": 1})
    first, last = found.scores("score")
    assert first > last
