"""Columns of labels: every kind of input gives the same codes as a plain loop."""

from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _helpers.strategies import LABEL_SETS, label_columns
from hypothesis import given
from hypothesis import strategies as st

from stakes import Confusion
from stakes._core import labels as _columns
from stakes._core.labels import CHUNK, MOST_LABELS, as_column, as_labels, label_codes
from stakes.errors import InputError, InputTypeError, LabelError

CONTAINERS = {
    "list": list,
    "tuple": tuple,
    "object array": lambda values: np.array(values, dtype=object),
    "typed array": np.array,
    "pandas series": pd.Series,
    "pandas categorical": pd.Categorical,
    "pandas categorical series": lambda values: pd.Series(pd.Categorical(values)),
    "polars series": pl.Series,
    "pyarrow array": pa.array,
    "pyarrow chunks": lambda values: pa.chunked_array([values]),
}


@pytest.mark.parametrize("container", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("labels", LABEL_SETS, ids=str)
def test_every_container_of_every_kind_of_label_gives_the_same_codes(container, labels):
    rows = labels * 3 + labels[::-1]
    codes = label_codes(container(rows), "y", tuple(labels), "classes")
    assert codes.tolist() == [labels.index(row) for row in rows]


@given(label_columns(columns=1), st.sampled_from([1, 3, 1 << 16]), st.sampled_from([1, 256]))
def test_codes_do_not_depend_on_chunks_or_on_how_ranges_are_coded(drawn, chunk, small):
    labels, [rows] = drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_columns, "CHUNK", chunk)
        patch.setattr(_columns, "SMALL_RANGE", small)
        for values in (rows, np.array(rows)):
            codes = label_codes(values, "y", tuple(labels), "classes")
            assert [labels[code] for code in codes] == rows


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint64, np.float32, np.float64])
def test_numbers_of_any_width_are_the_same_labels(kind):
    codes = label_codes(np.array([0, 100, 100], dtype=kind), "y", (100, 0), "classes")
    assert codes.tolist() == [1, 0, 0]


def test_the_narrowest_integers_do_not_overflow():
    rows = np.array([-128, 127, -128], dtype=np.int8)
    assert label_codes(rows, "y", (-128, 127), "classes").tolist() == [0, 1, 0]


def test_a_list_that_mixes_text_and_numbers_keeps_both():
    assert label_codes(["a", 1], "y", (1, "a"), "classes").tolist() == [1, 0]


@pytest.mark.parametrize(
    ("values", "row"),
    [
        (["a", None, None], 1),
        (["a", float("nan")], 1),
        ([1.0, float("nan")], 1),
        (np.array([0.0, 1.0, np.nan]), 2),
        (pd.Series(["a", pd.NA]), 1),
        (pd.Series([1, None], dtype="Int64"), 1),
        (pd.Series(pd.Categorical(["a", None])), 1),
        (pd.Categorical([None, "a"]), 0),
        (pl.Series(["a", None]), 1),
        (pa.array([1, None]), 1),
        (np.ma.array([1, 2], mask=[False, True]), 1),
        (pd.Series([pd.Timestamp("2020-01-01"), pd.NaT]), 1),
        (np.array(["2020-01-01", "NaT"], dtype="datetime64[D]"), 1),
        ([pa.scalar("a"), pa.scalar(None, pa.string())], 1),
    ],
)
def test_a_missing_label_is_named_by_its_row(values, row):
    with pytest.raises(
        LabelError, match=rf"y_true: the label at position {row} is missing .*Leave"
    ):
        as_column(values, "y_true")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (None, InputTypeError, "y: expected one label an example"),
        ("text", InputTypeError, "y: expected one label an example.*'text'"),
        (5, InputTypeError, "y: expected one label an example.*5"),
        ({0: 1}, InputTypeError, "y: expected one label an example"),
        ({0, 1}, InputTypeError, "y: expected one label an example"),
        (np.array(1), InputError, r"y: .*one-dimensional.*shape \(\)"),
        (pd.DataFrame({"y": [0, 1]}), InputError, r"y: .*one-dimensional.*shape \(2, 1\)"),
        (
            pd.MultiIndex.from_tuples([("a", 1), ("b", 2)]),
            InputError,
            "y: expected one label an example, got 2. Choose a level",
        ),
        ([["a", "b"], ["c", "d"]], InputError, r"y: .*one-dimensional.*shape \(2, 2\)"),
        ([], InputError, "y: expected at least one example"),
        (pd.Series([], dtype="category"), InputError, "y: expected at least one example"),
        (np.zeros((3, 2)), InputError, r"y: .*one-dimensional.*shape \(3, 2\).*costs.decide"),
        ([[1], [1, 2]], InputError, "y: .*different lengths"),
        ([{1}, {2}], InputTypeError, "y: expected text or numbers"),
    ],
)
def test_what_is_no_column_of_labels_is_refused(values, error, message):
    with pytest.raises(error, match=message):
        as_column(values, "y")


def test_an_unknown_label_names_row_value_and_what_is_known():
    with pytest.raises(
        LabelError,
        match=r"y_pred: the label 'frud' at position 2 \(the first of 3\) is not among "
        r"the decisions: 'ok', 'fraud'\. Did you mean 'fraud'\?",
    ):
        label_codes(["ok", "ok", "frud", "frud", "a"], "y_pred", ("ok", "fraud"), "decisions")


def test_an_unknown_label_that_occurs_once_is_not_called_the_first_of_many():
    with pytest.raises(LabelError, match=r"y: the label 'b' at position 1 is not among"):
        label_codes(["a", "b"], "y", ("a",), "decisions")


def test_a_suggestion_shows_the_label_as_labels_are_shown():
    with pytest.raises(LabelError, match=r"classes: 100, 7\. Did you mean 100\?"):
        label_codes(["1000"], "y", (100, 7), "classes")


def test_a_label_of_another_type_gets_a_remedy():
    with pytest.raises(LabelError, match=r"The str '0' is known, the int 0 is not.*relabel\(int\)"):
        label_codes([0, 1, 1], "y_true", ("0", "1"), "classes")


def test_booleans_are_not_recommended_where_they_would_all_be_true():
    remedy = r"costs.relabel\(\{'True': True, 'False': False\}\)"
    with pytest.raises(
        LabelError, match=f"The str 'False' is known, the bool False is not.*{remedy}"
    ):
        label_codes([False, True], "y_true", ("False", "True"), "classes")
    with pytest.raises(LabelError, match=r"costs.relabel\(str\)"):
        label_codes(["True"], "y_true", (False, True), "classes")


FAR_NUMBERS = {
    "close together": [2**62, 2**62 + 1, 2**62],
    "below zero": [-(2**63), -(2**63) + 2],
    "from end to end": [-(2**63), 2**63 - 1, 0],
    "unsigned, close together": [2**63 + 5, 2**63 + 7],
    "unsigned, far apart": [2**64 - 1, 0, 2**63],
    "of no one integer type": [2**63 + 1, 2**63 + 2, -1],
    "larger than any integer type": [2**70, 2**70 + 1],
    "with a float": [2**53 + 1, 2**53, 0.5],
}


@pytest.mark.parametrize("rows", FAR_NUMBERS.values(), ids=FAR_NUMBERS)
def test_large_whole_numbers_stay_what_they_are(rows):
    labels = tuple(dict.fromkeys(rows))
    assert label_codes(rows, "y", labels, "classes").tolist() == [labels.index(r) for r in rows]
    assert set(Confusion.from_labels(rows, rows).labels) == set(rows)


@pytest.mark.parametrize("kind", [np.int64, np.uint64, ">i8", ">u8"])
def test_arrays_of_large_whole_numbers(kind):
    rows = np.array([2**62 + 1, 2**62, 2**62 + 1], dtype=kind)
    assert Confusion.from_labels(rows, rows[::-1]).counts.tolist() == [[1, 0], [0, 2]]
    assert label_codes(rows, "y", (2**62, 2**62 + 1), "classes").tolist() == [1, 0, 1]
    spread = np.array([2**62, 3, 3], dtype=kind)
    assert label_codes(spread, "y", (3, 2**62), "classes").tolist() == [1, 0, 0]


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_floats_from_end_to_end(kind):
    rows = np.array([np.finfo(kind).max, np.finfo(kind).min, 0, 0.5], dtype=kind)
    column = as_column(rows, "y")
    assert [column.values[code] for code in column.codes] == rows.tolist()
    whole = np.array([60000, 60032, -60000, 60000], dtype=kind)
    column = as_column(whole, "y")
    assert [column.values[code] for code in column.codes] == whole.tolist()
    assert all(type(value) is int for value in column.values)
    near = as_column(whole[[0, 1, 0]], "y")
    assert [near.values[code] for code in near.codes] == [60000, 60032, 60000]


ODD = {
    "bytes": np.array([b"a", b"b"]),
    "objects of bytes": [b"a", "b"],
    "decimals": [Decimal("0.5"), Decimal(1)],
    "fractions": [Fraction(1, 3), 1],
    "periods": pd.period_range("2020-01", periods=2, freq="M"),
    "intervals": pd.cut([1, 2], 2),
    "tuples": pd.Series([(1, 2), "x"]),
    "complex": np.array([1j, 0]),
    "infinite": [1.0, float("inf")],
    "infinite objects": ["a", -float("inf")],
}


@pytest.mark.parametrize("values", ODD.values(), ids=ODD)
def test_what_json_cannot_hold_is_no_label(values):
    said = "y: expected text or finite numbers as labels, got .*Convert them to text"
    with pytest.raises(InputError, match=said):
        as_column(values, "y")
    with pytest.raises(InputError, match=said):
        as_labels(list(values), "y")


def test_whole_decimals_are_whole_numbers():
    column = as_column([Decimal(3), Decimal("4.00")], "y")
    assert [type(each) for each in column.values] == [int, int]
    assert as_labels([Decimal("1E+2"), 2], "labels") == (100, 2)


@pytest.mark.parametrize("call", [as_labels, as_column])
def test_numbers_of_very_many_digits_are_no_labels(call):
    for value in (Decimal("1E+1000000"), Decimal("-1E+50"), 10**5000, -(10**5000)):
        with pytest.raises(
            LabelError, match=r"y: expected .* got (Decimal\('.*E|a number of 16610)"
        ):
            call([value, 2], "y")


def test_scalars_are_the_values_they_hold():
    scalars = list(pa.array(["a", "b", "long"]))
    for mixed in ([*scalars, "a"], np.array([*scalars, None], dtype=object)):
        mixed[-1] = "a"
        assert label_codes(mixed, "y", ("a", "b", "long"), "classes").tolist() == [0, 1, 2, 0]
    numbers = np.array([np.int64(3), 3, 3.0, pa.scalar(4)], dtype=object)
    column = as_column(numbers, "y")
    assert list(column.values) == [3, 4]
    assert type(column.values[0]) is int


DATES = {
    "numpy": np.array(["2020-01-01"], dtype="datetime64[D]"),
    "nanoseconds": np.array(["2020-01-01"], dtype="datetime64[ns]"),
    "spans": np.array([5], dtype="timedelta64[s]"),
    "pandas": pd.Series([pd.Timestamp("2020-01-01")]),
    "pandas with a zone": pd.Series([pd.Timestamp("2020-01-01", tz="UTC")]),
    "pandas categorical": pd.Categorical([pd.Timestamp("2020-01-01")]),
    "polars": pl.Series([date(2020, 1, 1)]),
    "pyarrow": pa.array([date(2020, 1, 1)]),
    "list": [date(2020, 1, 1)],
    "list of numpy": [np.datetime64("2020-01-01")],
    "objects": np.array([np.datetime64("2020-01-01", "ns")], dtype=object),
}


@pytest.mark.parametrize("values", DATES.values(), ids=DATES)
def test_dates_are_refused_in_every_container(values):
    with pytest.raises(InputTypeError, match=r"y: .*dates or times such as .*Convert them to text"):
        as_column(values, "y")


MANY = {
    "floats": lambda n: np.linspace(0, 1, n),
    "integers": lambda n: np.arange(n) * 3,
    "text": lambda n: np.arange(n).astype(str),
    "objects": lambda n: np.arange(n).astype(str).astype(object),
    "categories": lambda n: pd.Categorical(np.arange(n).astype(str)),
}


@pytest.mark.parametrize("make", MANY.values(), ids=MANY)
def test_scores_and_identifiers_are_no_labels(make):
    few = as_column(make(MOST_LABELS), "y_pred")
    assert len(few.values) == MOST_LABELS
    with pytest.raises(
        InputError,
        match=r"y_pred: \d+ different labels .*so far, e\.g\. .*Are these scores or identifiers\? "
        "Pass the decided classes",
    ):
        as_column(make(MOST_LABELS + 1), "y_pred")
    groups = as_column(make(3 * MOST_LABELS), "groups", most=None)
    assert len(set(groups.present(groups.used()))) == 3 * MOST_LABELS


@pytest.mark.parametrize("make", MANY.values(), ids=MANY)
def test_groups_that_are_met_late_are_coded_like_the_others(make, monkeypatch):
    monkeypatch.setattr(_columns, "CHUNK", 1000)
    rows = make(2 * MOST_LABELS)
    column = as_column(rows, "groups", most=None)
    assert [column.values[code] for code in column.codes] == list(rows)


def test_giving_up_is_early():
    scores = np.random.default_rng(0).random(4 * CHUNK)
    for rows in (scores, scores.astype(object)):
        with pytest.raises(InputError, match=f"y_pred: {CHUNK} different labels are too many"):
            as_column(rows, "y_pred")


def test_unused_categories_are_not_too_many():
    many = pd.Categorical(["a", "b"], categories=["a", "b", *map(str, range(MOST_LABELS))])
    assert list(as_column(many, "y").values) == ["a", "b"]


@pytest.mark.parametrize("more", [0, MOST_LABELS])
@pytest.mark.parametrize("unused", [("a", "c"), date(2020, 1, 1), 1.5 + 2j])
def test_unused_categories_may_be_of_any_type(unused, more):
    kind = pd.CategoricalDtype([unused, "a", *map(str, range(more)), "b"])
    rows = pd.Series(["a", "b", "b"], dtype=kind)
    for most in (MOST_LABELS, None):
        column = as_column(rows, "y", most)
        assert column.present(column.used()) == ["a", "b"]
    error = InputTypeError if isinstance(unused, date) else LabelError
    with pytest.raises(error, match="y: expected text or"):
        as_column(pd.Categorical.from_codes([0, 1, 1], dtype=kind), "y")


@pytest.mark.parametrize(
    ("labels", "error", "message"),
    [
        ({"a", "b"}, InputTypeError, "labels: .*got a set, which has no order"),
        (frozenset("ab"), InputTypeError, "labels: .*got a frozenset"),
        ({"a": 1}, InputTypeError, "labels: .*got a dict"),
        (np.array("a"), InputTypeError, "labels: expected a sequence of labels"),
        (np.array(5), InputTypeError, "labels: expected a sequence of labels"),
        ([1, [2]], LabelError, r"labels: the label at position 1 is \[2\] \(list\)"),
        ([1, (2, [3])], LabelError, "labels: the label at position 1"),
        (np.array(["2020-01-01"], dtype="datetime64[ns]"), InputTypeError, "labels: .*dates"),
        ([date(2020, 1, 1)], InputTypeError, "labels: .*Convert them to text"),
        (pa.array(["a", None]), LabelError, "labels: the label at position 1 is missing"),
    ],
)
def test_what_is_no_sequence_of_labels_is_refused(labels, error, message):
    with pytest.raises(error, match=message):
        as_labels(labels, "labels")


def test_labels_of_any_library_are_plain_values():
    for labels in (pa.array(["a", "b"]), pl.Series(["a", "b"]), np.array(["a", "b"])):
        assert as_labels(labels, "labels") == ("a", "b")
        assert {type(label) for label in as_labels(labels, "labels")} == {str}
