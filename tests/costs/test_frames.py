import io

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from stakes import CostMatrix
from stakes.errors import InputError, InputTypeError, LabelError, MissingExtraError

COSTS = CostMatrix([[0, 100], [10, -1.5]], rows="predicted", labels=["ok", "fraud"])


def test_pandas_axes_name_the_labels():
    frame = pd.DataFrame([[0, 10], [100, -1.5]], index=["ok", "fraud"], columns=["ok", "fraud"])
    assert CostMatrix.from_frame(frame, rows="actual") == COSTS


def test_pandas_axis_names_say_the_orientation():
    frame = COSTS.to_frame()
    assert CostMatrix.from_frame(frame) == COSTS
    assert CostMatrix.from_frame(frame.T) == COSTS
    turned = CostMatrix.from_frame(frame.loc[["fraud", "ok"]])
    assert turned.decisions == ("fraud", "ok")
    assert turned.values_for(COSTS.labels, COSTS.decisions).tolist() == COSTS.values.tolist()
    with pytest.raises(InputError, match=r"rows: got 'actual', but frame says .* predicted"):
        CostMatrix.from_frame(frame, rows="actual")


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_there_and_back(backend):
    assert CostMatrix.from_frame(COSTS.to_frame(backend)) == COSTS
    odd = CostMatrix(
        [[0, 5], [9, 0], [1, 2]], rows="predicted", labels=["a", "b"], decisions=["a", "b", "ask"]
    )
    assert CostMatrix.from_frame(odd.to_frame(backend)) == odd


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize(
    ("labels", "decisions"),
    [
        ([0, 1], None),
        ([1, 0], [0, 1]),
        ([True, False], None),
        ([0, 1], [0, 1, "ask"]),
        ([0, 1], [2, 1, 0]),
        ([False, True], [True, "ask"]),
        ([1, 0], ["lend", "refuse"]),
        (["a", "b", "c"], ["b", "a"]),
        (["ok", "fraud"], ["ask", "fraud", "ok"]),
    ],
)
def test_labels_of_all_kinds_there_and_back(backend, labels, decisions):
    size = len(labels if decisions is None else decisions)
    values = [[i + 10 * j for j in range(len(labels))] for i in range(size)]
    costs = CostMatrix(values, rows="predicted", labels=labels, decisions=decisions)
    again = CostMatrix.from_frame(costs.to_frame(backend))
    assert again == costs
    for mine, theirs in ((costs.labels, again.labels), (costs.decisions, again.decisions)):
        assert [type(label) for label in mine] == [type(label) for label in theirs]


@pytest.mark.parametrize("labels", [["0", "1"], [0.5, 1.5]])
def test_pandas_keeps_labels_that_only_look_like_others(labels):
    costs = CostMatrix([[0, 5], [1, 0]], rows="predicted", labels=labels)
    assert CostMatrix.from_frame(costs.to_frame()) == costs
    choices = CostMatrix([[0, 5], [1, 0]], rows="predicted", labels=labels, decisions=["x", "y"])
    assert CostMatrix.from_frame(choices.to_frame()) == choices


def test_a_file_read_by_a_library_has_its_labels_in_the_first_column():
    text = ",0,1\n0,0,5\n1,1,0\n"
    costs = CostMatrix([[0, 5], [1, 0]], rows="predicted", labels=[0, 1])
    for frame in (
        pd.read_csv(io.StringIO(text)),
        pd.read_csv(io.StringIO(text), index_col=0),
        pl.read_csv(io.StringIO(text)),
    ):
        assert CostMatrix.from_frame(frame, rows="predicted") == costs


@pytest.mark.parametrize(
    ("down", "across"), [("actual", None), (None, "predicted"), ("Actual", "choice")]
)
def test_one_named_axis_of_pandas_says_the_orientation(down, across):
    frame = pd.DataFrame(
        [[0, 10], [100, -1.5]],
        index=pd.Index(["ok", "fraud"], name=down),
        columns=pd.Index(["ok", "fraud"], name=across),
    )
    assert CostMatrix.from_frame(frame) == CostMatrix.from_frame(frame, rows="actual") == COSTS
    assert CostMatrix.from_frame(frame.T) == COSTS
    with pytest.raises(InputError, match=r"rows: got 'predicted', but frame says .* actual"):
        CostMatrix.from_frame(frame, rows="predicted")


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
    with pytest.raises(InputTypeError, match="frame: it does not state what its rows stand for"):
        CostMatrix.from_frame(frame)
    with pytest.raises(InputTypeError, match=r"frame: expected a data frame .* got list"):
        CostMatrix.from_frame([[0, 1], [5, 0]], rows="actual")
    with pytest.raises(InputError, match=r"frame: expected a cost matrix, got .* shape"):
        CostMatrix.from_frame(pd.DataFrame(), rows="actual")
    with pytest.raises(InputError, match="values: expected numbers, got 'x'"):
        CostMatrix.from_frame(pd.DataFrame({"a": [0, 9], "b": ["x", "y"]}), rows="actual")
    with pytest.raises(InputError, match="values: expected finite costs, got nan for predicting"):
        CostMatrix.from_frame(frame.replace(10, float("nan")), rows="actual")
    with pytest.raises(InputError, match="rows and its columns are both named 'actual'"):
        CostMatrix.from_frame(frame.rename_axis("actual").rename_axis("actual", axis=1))
    with pytest.raises(LabelError, match=r"frame: .*unique column names"):
        CostMatrix.from_frame(pd.DataFrame([[0, 1], [1, 0]], columns=["a", "a"]), rows="actual")
    with pytest.raises(LabelError, match=r"frame: the class 'A' .*Did you mean 'a'"):
        CostMatrix.from_frame(frame.rename(index=str.upper), rows="actual")
    with pytest.raises(InputError, match=r"backend: expected one of 'pandas'.*got 'nonsense'"):
        COSTS.to_frame("nonsense")


def test_a_library_that_is_not_installed_is_named():
    with pytest.raises(MissingExtraError, match="pip install modin"):
        COSTS.to_frame("modin")
