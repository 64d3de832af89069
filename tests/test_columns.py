"""Columns of labels: every kind of input gives the codes that a plain loop would."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import LABEL_SETS, label_columns

from stakes import _columns
from stakes._columns import as_column, label_codes
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
    ],
)
def test_a_missing_label_is_named_by_its_row(values, row):
    with pytest.raises(LabelError, match=rf"y_true: the label at row {row} is missing .*Leave out"):
        as_column(values, "y_true")


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        (None, InputTypeError, "y: expected one label an example"),
        ("text", InputTypeError, "y: expected one label an example.*'text'"),
        (5, InputTypeError, "y: expected one label an example.*5"),
        ({0: 1}, InputTypeError, "y: expected one label an example"),
        ([], InputError, "y is empty"),
        (pd.Series([], dtype="category"), InputError, "y is empty"),
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
        match=r"y_pred: the label 'frud' at row 2 \(the first of 3 such rows\) is not among the "
        r"decisions: 'ok', 'fraud'\. Did you mean 'fraud'\?",
    ):
        label_codes(["ok", "ok", "frud", "frud", "a"], "y_pred", ("ok", "fraud"), "decisions")


def test_a_label_of_another_type_gets_a_remedy():
    with pytest.raises(LabelError, match=r"The str '0' is known, the int 0 is not.*relabel\(int\)"):
        label_codes([0, 1, 1], "y_true", ("0", "1"), "classes")
