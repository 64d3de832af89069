from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from _helpers.strategies import label_columns, weights
from hypothesis import given, settings
from hypothesis import strategies as st

from stakes import Confusion, JointConfusion, PairedConfusion, ScoreCounts
from stakes.errors import InputError, InputTypeError, LabelError

FRAMES = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pyarrow": pa.table,
}
frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


@frames
@settings(deadline=None)  # the first example loads the frame's library
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
    assert weighted.labels == expected.labels
    for name in ("counts", "squares"):
        assert np.allclose(getattr(weighted, name), getattr(expected, name))
    pair = PairedConfusion.from_frame(table, actual="t", predicted=["a", "b"], sample_weight="w")
    both = PairedConfusion.from_labels(y_true, first, second, sample_weight=weight)
    assert pair.labels == both.labels
    assert np.allclose(pair.counts, both.counts)
    assert np.allclose(pair.squares, both.squares)


@settings(deadline=None)
@given(st.data())
def test_mixed_labels_in_a_frame_are_those_of_a_list(data):
    labels = [1, "1", "a", 2.5, True, "b"]
    rows = st.lists(st.sampled_from(labels), min_size=5, max_size=5)
    y_true, y_pred = data.draw(rows), data.draw(rows)
    names = list(dict.fromkeys(labels))
    frame = pd.DataFrame(
        {"t": pd.Series(y_true, dtype=object), "p": pd.Series(y_pred, dtype=object)}
    )
    counted = Confusion.from_frame(frame, actual="t", predicted="p", labels=names)
    by_hand = [
        [sum((p, t) == (i, j) for t, p in zip(y_true, y_pred, strict=True)) for j in names]
        for i in names
    ]
    assert counted.counts.tolist() == by_hand


@frames
def test_columns_of_text_and_of_the_same_numbers_are_refused(frame):
    table = frame({"t": [0, 1, 1], "p": ["0", "1", "1"]})
    message = "column 'p', column 't': the str '0' of column 'p' and the int 0"
    with pytest.raises(LabelError, match=message):
        Confusion.from_frame(table, actual="t", predicted="p")
    with pytest.raises(LabelError, match="the str '0' of column 'p'"):
        JointConfusion.from_frame(table, actual="t", predicted=["p"])


@frames
@pytest.mark.parametrize("labels", [[0, 1], [True, False], [2**62, 2**62 + 1], ["b", "a"]], ids=str)
def test_labels_of_every_kind_keep_their_order(frame, labels):
    table = frame({"t": [labels[0], labels[1], labels[1]], "p": [labels[0]] * 3})
    counted = Confusion.from_frame(table, actual="t", predicted="p", labels=labels)
    assert counted.counts.tolist() == [[1, 2], [0, 0]]


@frames
def test_rows_of_weight_zero_are_rows(frame):
    table = frame({"t": ["a", "b"], "p": ["a", "typo"], "w": [1, 0]})
    options = {"actual": "t", "predicted": "p", "sample_weight": "w"}
    assert Confusion.from_frame(table, **options).labels == ("a", "b", "typo")
    with pytest.raises(LabelError, match="column 'p': the label 'typo'"):
        Confusion.from_frame(table, **options, labels=["a", "b"])


@frames
def test_decisions_alone_leave_the_classes_to_what_actually_occurs(frame):
    table = frame({"t": ["a", "b"], "p": ["ask", "b"]})
    counted = Confusion.from_frame(table, actual="t", predicted="p", decisions=["a", "b", "ask"])
    assert counted == Confusion.from_labels(["a", "b"], ["ask", "b"], decisions=["a", "b", "ask"])
    assert counted.labels == ("a", "b")


@frames
def test_dates_are_refused_like_those_of_arrays(frame):
    table = frame({"t": [datetime(2020, 1, 1), datetime(2020, 1, 2)]})  # noqa: DTZ001
    with pytest.raises(InputTypeError, match=r"column 't': .*dates or times.*Convert them to text"):
        Confusion.from_frame(table, actual="t", predicted="t")


@frames
@settings(deadline=None)  # the first example loads the frame's library
@given(data=st.data())
def test_scores_of_frames_count_like_arrays(frame, data):
    n = data.draw(st.integers(2, 30))
    y_true = [0, 1, *data.draw(st.lists(st.sampled_from([0, 1]), min_size=n - 2, max_size=n - 2))]
    score = st.sampled_from([0.0, -0.0, 0.25, 1.0, float("inf")])
    y_score = data.draw(st.lists(score, min_size=n, max_size=n))
    weight = data.draw(weights(n).map(lambda drawn: [w + 0.5 for w in drawn]))
    table = frame({"t": y_true, "s": y_score, "w": weight})
    plain = ScoreCounts.from_frame(table, actual="t", score="s")
    assert plain == ScoreCounts.from_scores(y_true, y_score)
    assert plain.positives.dtype == np.int64
    weighted = ScoreCounts.from_frame(table, actual="t", score="s", sample_weight="w")
    expected = ScoreCounts.from_scores(y_true, y_score, sample_weight=weight)
    for name in ("thresholds", "positives", "negatives", "squares"):
        assert np.allclose(getattr(weighted, name), getattr(expected, name))


def test_a_lazy_frame_is_asked_for_groups_and_not_for_rows(monkeypatch):
    collected = []
    collect = pl.LazyFrame.collect

    def watched(self, *args, **options):
        result = collect(self, *args, **options)
        collected.append(len(result))
        return result

    monkeypatch.setattr(pl.LazyFrame, "collect", watched)
    frame = pl.LazyFrame({"t": [0, 1] * 500, "s": [0.25, 0.5] * 500})
    table = ScoreCounts.from_frame(frame, actual="t", score="s")
    assert (table.n, sum(collected)) == (1000, 2)


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
    for predicted in ("p", None, ("p", "p", "p"), 5):
        with pytest.raises(InputTypeError, match=r"predicted: expected two column names.*; got"):
            PairedConfusion.from_frame(table, actual="p", predicted=predicted)
    texts = frame({"t": ["a", "b"], "w": ["2", "3"], "s": ["0.5", "0.25"], "ok": [1, 2]})
    for options in ({"actual": "t", "predicted": "t"}, {"actual": "t", "score": "ok"}):
        kind = Confusion if "predicted" in options else ScoreCounts
        with pytest.raises(InputError, match="column 'w': expected numbers, got a column of type"):
            kind.from_frame(texts, **options, sample_weight="w")
    with pytest.raises(InputError, match="column 's': expected numbers, got a column of type"):
        ScoreCounts.from_frame(texts, actual="t", score="s")
    heavy = frame({"t": ["a", "b"], "w": [1e200, 1.0]})
    with pytest.raises(InputError, match=r"column 'w': weights as large as 1e\+200"):
        Confusion.from_frame(heavy, actual="t", predicted="t", sample_weight="w")
    zero = frame({"t": ["a", "b"], "w": [0.0, 0.0]})
    with pytest.raises(InputError, match="column 'w': all weights are zero"):
        Confusion.from_frame(zero, actual="t", predicted="t", sample_weight="w")
    hole = frame({"t": ["a", "b"], "w": [1.0, None]})
    with pytest.raises(InputError, match="column 'w': expected finite weights"):
        Confusion.from_frame(hole, actual="t", predicted="t", sample_weight="w")


@frames
def test_bad_scores_of_frames_name_their_columns(frame):
    table = frame(
        {
            "t": ["a", None, "b"],
            "u": ["a", "b", "b"],
            "s": [0.5, float("nan"), None],
            "ok": [0.5, 0.25, 1.0],
            "w": [1.0, -1.0, 1.0],
            "zero": [0.0, 1.0, 1.0],
        }
    )
    names = {"pos_label": "b"}
    with pytest.raises(LabelError, match=r"column 't': .*(missing|rows have no label)"):
        ScoreCounts.from_frame(table, actual="t", score="ok", **names)
    with pytest.raises(InputError, match=r"column 's': expected numbers, (2 rows|got NaN)"):
        ScoreCounts.from_frame(table, actual="u", score="s", **names)
    with pytest.raises(InputError, match="column 'w': weights cannot be negative"):
        ScoreCounts.from_frame(table, actual="u", score="ok", sample_weight="w", **names)
    with pytest.raises(
        InputError, match=r"column 'u': two classes are needed.*'a' have weight zero"
    ):
        ScoreCounts.from_frame(table, actual="u", score="ok", sample_weight="zero", **names)
    with pytest.raises(LabelError, match="pos_label: 1 does not occur in column 'u'"):
        ScoreCounts.from_frame(table, actual="u", score="ok")


def test_two_columns_of_one_name():
    frame = pd.DataFrame([[0, 1, 1]], columns=["t", "t", "p"])
    with pytest.raises(InputError, match=r"frame: .*'t' 2 times"):
        Confusion.from_frame(frame, actual="t", predicted="p")


def test_identifiers_in_a_frame():
    frame = pl.DataFrame({"t": [0] * 5000, "id": range(0, 15000, 3)})
    with pytest.raises(InputError, match="column 'id': 5000 different labels are too many"):
        Confusion.from_frame(frame, actual="t", predicted="id")


def test_what_is_no_frame():
    with pytest.raises(InputTypeError, match=r"frame: expected a data frame .* got dict"):
        Confusion.from_frame({"t": [1]}, actual="t", predicted="t")
    with pytest.raises(InputError, match="frame: expected at least one example"):
        Confusion.from_frame(pl.DataFrame({"t": []}), actual="t", predicted="t")
    with pytest.raises(InputError, match="column 't': expected at least one example"):
        ScoreCounts.from_frame(pl.DataFrame({"t": [], "s": np.array([])}), actual="t", score="s")
