import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _helpers.strategies import cost_matrices
from hypothesis import given
from hypothesis import strategies as st

from stakes import CostMatrix, ExampleCosts
from stakes.errors import InputError, InputTypeError, LabelError

COSTS = CostMatrix.from_errors(
    false_positive=5, false_negative=1, true_positive=-2, pos_label="fraud", neg_label="ok"
)


@given(st.data())
def test_from_matrix_is_table_2_3(data):
    costs = data.draw(cost_matrices())
    y_true = data.draw(st.lists(st.sampled_from(costs.labels), min_size=1, max_size=20))
    factor = data.draw(
        st.lists(
            st.lists(
                st.floats(-10, 10), min_size=len(costs.decisions), max_size=len(costs.decisions)
            ),
            min_size=len(y_true),
            max_size=len(y_true),
        )
    )
    examples = ExampleCosts.from_matrix(costs, y_true, factor)
    for row, label in enumerate(y_true):
        for i, decision in enumerate(costs.decisions):
            expected = costs.values[i, costs.labels.index(label)] * factor[row][i]
            assert examples.values[row, i] == pytest.approx(expected)
            assert ExampleCosts(examples.values[[row]], decisions=costs.decisions).of([decision])[
                0
            ] == pytest.approx(expected)


def test_one_factor_for_each_example_or_for_all():
    y_true = ["ok", "fraud"]
    assert ExampleCosts.from_matrix(COSTS, y_true, [2, 30]).values.tolist() == [[0, 10], [30, -60]]
    assert ExampleCosts.from_matrix(COSTS, y_true, 10).values.tolist() == [[0, 50], [10, -20]]
    assert ExampleCosts.from_matrix(COSTS, y_true).values.tolist() == [[0, 5], [1, -2]]


def test_of_picks_the_cost_of_what_was_decided():
    examples = ExampleCosts([[1, 2, 3], [4, 5, 6]])
    assert examples.decisions == (0, 1, 2)
    assert examples.of([2, 0]).tolist() == [3, 4]
    assert len(examples) == 2
    assert examples == ExampleCosts(np.array([[1, 2, 3], [4, 5, 6]]))
    assert "2 examples" in repr(examples)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_columns_of_a_frame_are_the_decisions(frame):
    table = frame({"ok": [0, 120], "fraud": [5, 7]})
    assert ExampleCosts(table) == ExampleCosts([[0, 5], [120, 7]], decisions=["ok", "fraud"])
    assert ExampleCosts(table, decisions=["fraud", "ok"]).values.tolist() == [[5, 0], [7, 120]]
    with pytest.raises(LabelError, match="values: expected columns named 'ok', 'no'"):
        ExampleCosts(table, decisions=["ok", "no"])


def test_numbered_columns_of_pandas_have_no_names():
    table = pd.DataFrame([[0, 5], [120, 7]])
    assert ExampleCosts(table).decisions == (0, 1)
    assert ExampleCosts(table, decisions=["ok", "fraud"]).decisions == ("ok", "fraud")


def test_as_plain_lists_and_for_a_notebook():
    examples = ExampleCosts([[0, 5], [120, 7.5]], decisions=["ok", "<b>"])
    assert json.loads(json.dumps(examples.to_dict())) == {
        "decisions": ["ok", "<b>"],
        "values": [[0, 5], [120, 7.5]],
    }
    html = examples._repr_html_()
    assert "2 examples" in html
    assert "<td>7.5</td>" in html
    assert "&lt;b&gt;" in html
    many = ExampleCosts(np.arange(40).reshape(20, 2))._repr_html_()
    assert "the first 10 of them" in many
    assert many.count("<tr>") == 11


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: ExampleCosts([[1, np.nan]]),
            InputError,
            "values: expected finite numbers, got nan at position .0, 1",
        ),
        (
            lambda: ExampleCosts(np.empty((0, 2))),
            InputError,
            "values: expected at least one example",
        ),
        (lambda: ExampleCosts([1, 2]), InputError, "values: expected a two-dimensional"),
        (
            lambda: ExampleCosts([[1, 2]], decisions=["a"]),
            InputError,
            "values: expected 1 columns, one for each decision, got 2",
        ),
        (
            lambda: ExampleCosts([[1, 2]]).of([3]),
            LabelError,
            "y_pred: the label 3 at position 0 .*not among the decisions of the costs: 0, 1",
        ),
        (
            lambda: ExampleCosts([[1, 2]]).of([0, 1]),
            InputError,
            "costs has 1 rows, y_pred has 2 rows; they must describe the same examples",
        ),
        (
            lambda: ExampleCosts.from_matrix(COSTS, ["ok", "no"]),
            LabelError,
            "y_true: the label 'no' at position 1 .*classes of the costs",
        ),
        (
            lambda: ExampleCosts.from_matrix(COSTS, ["ok"], [1, 2]),
            InputError,
            r"factor: expected a number or an array of shape \(1,\) or \(1, 2\), got shape \(2,\)",
        ),
        (
            lambda: ExampleCosts.from_matrix(COSTS, ["ok"], ["x"]),
            InputError,
            "factor: expected numbers, got 'x'",
        ),
        (
            lambda: ExampleCosts.from_matrix(COSTS, ["ok", "ok"], [[1, 2], [3]]),
            InputError,
            "factor: .*rows of different lengths",
        ),
        (
            lambda: ExampleCosts.from_matrix(COSTS, ["ok"], pd.DataFrame([[1, 2]])),
            InputTypeError,
            "factor: .*got a data frame",
        ),
        (
            lambda: ExampleCosts.from_matrix([[0, 5], [1, 0]], ["ok"]),
            InputTypeError,
            "costs: expected a CostMatrix, got a list",
        ),
    ],
)
def test_bad_input(make, error, message):
    with pytest.raises(error, match=message):
        make()


def test_costs_are_paired_with_predictions_by_index():
    costs = ExampleCosts(pd.DataFrame({"ok": [0, 120], "fraud": [5, 6]}, index=["a", "b"]))
    turned = pd.Series(["ok", "fraud"], index=["b", "a"])
    assert costs.of(turned).tolist() == [120, 5]
    assert costs.of(turned.to_numpy()).tolist() == [0, 6]
    with pytest.raises(InputError, match="y_pred: its index differs from that of costs"):
        costs.of(pd.Series(["ok", "fraud"], index=["b", "c"]))
    with pytest.raises(InputError, match="y_pred has 1 rows"):
        costs.of(turned[:1])


def test_an_order_of_entries_that_occur_twice_is_refused():
    index = pd.Index(["a", "b", "b"])
    costs = ExampleCosts(pd.DataFrame({"ok": [0, 120, 7], "fraud": [5, 6, 8]}, index=index))
    assert costs.reindex(index.copy()) == costs
    with pytest.raises(InputError, match="index: the costs have several rows with the entry 'b'"):
        costs.reindex(pd.Index(["b", "a", "b"]))
