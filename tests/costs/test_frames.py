import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from stakes import CostMatrix
from stakes.errors import InputError, InputTypeError, MissingExtraError

COSTS = CostMatrix([[0, 100], [10, -1.5]], rows="predicted", labels=["ok", "fraud"])


def test_pandas_axes_name_the_labels():
    frame = pd.DataFrame([[0, 10], [100, -1.5]], index=["ok", "fraud"], columns=["ok", "fraud"])
    assert CostMatrix.from_frame(frame, rows="actual") == COSTS


def test_pandas_axis_names_say_the_orientation():
    frame = COSTS.to_frame()
    assert CostMatrix.from_frame(frame) == COSTS
    assert CostMatrix.from_frame(frame.T) == COSTS
    assert CostMatrix.from_frame(frame.loc[["fraud", "ok"]]) == COSTS
    with pytest.raises(InputError, match=r"rows: got 'actual', but frame says .* predicted"):
        CostMatrix.from_frame(frame, rows="actual")


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_there_and_back(backend):
    assert CostMatrix.from_frame(COSTS.to_frame(backend)) == COSTS
    odd = CostMatrix(
        [[0, 5], [9, 0], [1, 2]], rows="predicted", labels=["a", "b"], decisions=["a", "b", "ask"]
    )
    assert CostMatrix.from_frame(odd.to_frame(backend)) == odd


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table])
def test_the_first_column_may_hold_the_labels(frame):
    data = {"actual\\predicted": ["ok", "fraud"], "ok": [0.0, 100.0], "fraud": [10.0, -1.5]}
    assert CostMatrix.from_frame(frame(data)) == COSTS


def test_without_an_index_the_first_column_is_the_labels():
    frame = pl.DataFrame({"": ["ok", "fraud"], "ok": [0.0, 10.0], "fraud": [100.0, -1.5]})
    assert CostMatrix.from_frame(frame, rows="predicted") == COSTS


def test_integer_labels_of_pandas_axes():
    frame = pd.DataFrame([[0, 5], [1, 0]])
    assert CostMatrix.from_frame(frame, rows="predicted").labels == (0, 1)


def test_bad_frames():
    frame = pd.DataFrame([[0, 10], [100, 0]], index=["a", "b"], columns=["a", "b"])
    with pytest.raises(InputTypeError, match="frame: it does not say what its rows stand for"):
        CostMatrix.from_frame(frame)
    with pytest.raises(InputTypeError, match=r"frame: expected a data frame .* got list"):
        CostMatrix.from_frame([[0, 1], [5, 0]], rows="actual")
    with pytest.raises(InputError, match=r"frame: expected a cost matrix, got .* shape"):
        CostMatrix.from_frame(pd.DataFrame(), rows="actual")
    with pytest.raises(InputError, match="values: expected numbers, got 'x'"):
        CostMatrix.from_frame(pd.DataFrame({"a": [0, 9], "b": ["x", "y"]}), rows="actual")
    with pytest.raises(InputError, match="values: expected finite costs, got nan for predicting"):
        CostMatrix.from_frame(frame.replace(10, float("nan")), rows="actual")
    with pytest.raises(InputError, match=r"backend: expected one of 'pandas'.*got 'nonsense'"):
        COSTS.to_frame("nonsense")


def test_a_library_that_is_not_installed_is_named():
    with pytest.raises(MissingExtraError, match="pip install modin"):
        COSTS.to_frame("modin")
