import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import label_columns, weights

from stakes import Confusion, PairedConfusion, ScoreCounts
from stakes.errors import InputError, InputTypeError, LabelError

FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
}
frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


@frames
@given(data=st.data())
def test_frames_count_like_arrays(frame, data):
    _, (y_true, first, second) = data.draw(label_columns(columns=3))
    weight = data.draw(weights(len(y_true)))
    table = frame({"t": y_true, "a": first, "b": second, "w": weight})
    counted = Confusion.from_frame(table, actual="t", predicted="a")
    assert counted == Confusion.from_labels(y_true, first)
    assert counted.counts.dtype == np.int64
    assert PairedConfusion.from_frame(
        table, actual="t", predicted=("a", "b")
    ) == PairedConfusion.from_labels(y_true, first, second)
    weighted = Confusion.from_frame(table, actual="t", predicted="a", sample_weight="w")
    expected = Confusion.from_labels(y_true, first, sample_weight=weight)
    for name in ("counts", "squares"):
        assert np.allclose(getattr(weighted, name).sum(), getattr(expected, name).sum())


@frames
def test_scores_of_frames(frame):
    y_true, y_score, weight = ["a", "b", "b"], [0.5, 0.25, 0.5], [1.0, 2.0, 0.5]
    table = frame({"t": y_true, "s": y_score, "w": weight})
    for options, column in ({}, {}), ({"sample_weight": weight}, {"sample_weight": "w"}):
        assert ScoreCounts.from_frame(
            table, actual="t", score="s", pos_label="b", **column
        ) == ScoreCounts.from_scores(y_true, y_score, pos_label="b", **options)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(
            {"t": pd.Categorical(["a", "b"], categories=["b", "a", "c"]), "p": ["a", "a"]}
        ),
        pl.DataFrame(
            {"t": ["a", "b"], "p": ["a", "a"]}, schema={"t": pl.Categorical, "p": pl.String}
        ),
        pl.DataFrame(
            {"t": ["a", "b"], "p": ["a", "a"]},
            schema={"t": pl.Enum(["b", "a", "c"]), "p": pl.String},
        ),
        pa.table({"t": pa.array(["a", "b"]).dictionary_encode(), "p": ["a", "a"]}),
    ],
    ids=["pandas", "polars", "polars enum", "pyarrow"],
)
def test_categories(frame):
    confusion = Confusion.from_frame(frame, actual="t", predicted="p", labels=["c", "a", "b"])
    assert confusion.counts.tolist() == [[0, 0, 0], [0, 1, 1], [0, 0, 0]]


@frames
def test_a_column_may_be_compared_with_itself(frame):
    confusion = Confusion.from_frame(frame({"t": [0, 1, 1]}), actual="t", predicted="t")
    assert confusion.counts.tolist() == [[1, 0], [0, 2]]


@frames
def test_bad_frames(frame):
    table = frame({"t": ["a", None, None], "p": ["a", "b", "b"], "w": [1.0, -1.0, 1.0]})
    with pytest.raises(InputError, match=r"frame: there is no column 'q'. It has: 't', 'p', 'w'"):
        Confusion.from_frame(table, actual="t", predicted="q")
    with pytest.raises(LabelError, match=r"column 't': 2 rows have no label. Leave out"):
        Confusion.from_frame(table, actual="t", predicted="p")
    with pytest.raises(
        LabelError, match=r"column 'p': the label 'b' \(2 such rows\) is not among the decisions"
    ):
        Confusion.from_frame(table, actual="p", predicted="p", labels=["a"])
    with pytest.raises(InputError, match="column 'w': weights cannot be negative, got -1"):
        Confusion.from_frame(table, actual="p", predicted="p", sample_weight="w")
    with pytest.raises(InputTypeError, match="predicted: expected two column names, got 'p'"):
        PairedConfusion.from_frame(table, actual="p", predicted="p")
    zero = frame({"t": ["a", "b"], "w": [0.0, 0.0]})
    with pytest.raises(InputError, match="column 'w': all weights are zero"):
        Confusion.from_frame(zero, actual="t", predicted="t", sample_weight="w")
    hole = frame({"t": ["a", "b"], "w": [1.0, None]})
    with pytest.raises(InputError, match="column 'w': expected finite weights"):
        Confusion.from_frame(hole, actual="t", predicted="t", sample_weight="w")


def test_what_is_no_frame():
    with pytest.raises(InputTypeError, match=r"frame: expected a data frame .* got dict"):
        Confusion.from_frame({"t": [1]}, actual="t", predicted="t")
    with pytest.raises(InputError, match="frame is empty"):
        Confusion.from_frame(pl.DataFrame({"t": []}), actual="t", predicted="t")
    with pytest.raises(InputError, match="y_true is empty"):
        ScoreCounts.from_frame(pl.DataFrame({"t": [], "s": []}), actual="t", score="s")
